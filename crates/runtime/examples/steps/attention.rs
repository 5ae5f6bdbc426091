//! Fused attention at lengths from 1k to 16k, in bf16: the forward pass, and it with the backward pass.

use super::time::operator;
use aludel_compiler::autodiff::expand_grads;
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Attrs, Builder, DType, Result, TensorType};
use aludel_runtime::Executor;

/// Attention over `[batch, heads, length, features]`, with the gradients of query, key and value where `backward`.
fn graph([batch, heads, length, features]: [i64; 4], causal: bool, backward: bool) -> Result<Graph> {
    let mut b = Builder::new("attention");
    let ty = TensorType::new(DType::BF16, [batch, heads, length, features]);
    let arg = |b: &mut Builder, name: &str| b.graph.add_input(name, InputKind::Arg, ty.clone());
    let x = [arg(&mut b, "q"), arg(&mut b, "k"), arg(&mut b, "v")];
    let attrs = Attrs::new().with("is_causal", causal);
    let row =
        aludel_ir::ops::find("scaled_dot_product_attention").ok_or_else(|| aludel_ir::Error::invalid("attention", "is no operator", ""))?;
    let y = b.operator(row, &x, &attrs)?[0];
    if !backward {
        b.graph.add_output("y", y, None);
        return Ok(b.graph);
    }
    let dy = arg(&mut b, "dy");
    let (y, dy) = (b.cast(y, DType::F32)?, b.cast(dy, DType::F32)?);
    let product = b.mul(y, dy)?;
    let loss = b.sum(product, &[0, 1, 2, 3], false)?;
    for (g, name) in b.grad(loss, &x)?.into_iter().zip(["dq", "dk", "dv"]) {
        b.graph.add_output(name, g, None);
    }
    expand_grads(&b.graph)
}

/// Lengths that are timed.
pub const LENGTHS: [i64; 5] = [1024, 2048, 4096, 8192, 16384];

/// Prints times and rates: operations are those of two products forward and five backward, half of them where causal.
pub fn all(device: &dyn Executor, lengths: &[i64]) {
    for features in [64, 128] {
        for &length in lengths {
            for causal in [true, false] {
                // As many positions and features in all at every length.
                let shape = [(16384 / length).max(1), 2048 / features, length, features];
                let pairs = (shape[0] * shape[1] * length * length) as f64 / if causal { 2.0 } else { 1.0 };
                for (backward, products) in [(false, 2.0), (true, 7.0)] {
                    let name = if backward { "forward and backward" } else { "forward" };
                    let kind = if causal { "causal" } else { "full" };
                    let flops = products * 2.0 * pairs * features as f64;
                    match graph(shape, causal, backward).and_then(|g| operator(device, &g)) {
                        Ok(ms) => println!("attention {kind} {shape:?} {name}: {ms:.4} ms, {:.1} TFLOP/s", flops / ms / 1e9),
                        Err(e) => println!("attention {kind} {shape:?} {name}: {e}"),
                    }
                }
            }
        }
    }
}
