//! Matrix products of every layout and of the shapes that models have, checked on samples against sums in f64.

use super::time::{Ran, run_once};
use aludel_ir::graph::InputKind;
use aludel_ir::{Builder, DType, Result, TensorType};
use aludel_runtime::Executor;

/// `out[m, n]`, `k` terms each; which operands have `k` as their last dimension.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    m: i64,
    n: i64,
    k: i64,
    lhs_by_k: bool,
    rhs_by_k: bool,
}

const fn case(name: &'static str, m: i64, n: i64, k: i64, lhs_by_k: bool, rhs_by_k: bool) -> Case {
    Case { name, m, n, k, lhs_by_k, rhs_by_k }
}

/// A linear layer's three products: forward `x wᵀ`, the gradients of `x` (`g w`) and of `w` (`gᵀ x`).
const fn layer(name: &'static str, rows: i64, inputs: i64, outputs: i64) -> [Case; 3] {
    [
        case(name, rows, outputs, inputs, true, true),
        case(name, rows, inputs, outputs, true, false),
        case(name, outputs, inputs, rows, false, false),
    ]
}

fn cases() -> Vec<Case> {
    let small = [
        case("one tile", 128, 128, 64, true, true),
        case("ragged", 1000, 520, 200, true, true),
        case("ragged", 1000, 520, 200, true, false),
        case("ragged", 1000, 520, 200, false, true),
        case("ragged", 1000, 520, 200, false, false),
        case("odd", 333, 257, 129, true, true),
        case("odd", 333, 257, 129, false, false),
    ];
    let models = [
        layer("mlp 784-1024", 1024, 784, 1024),
        layer("mlp 1024-1024", 1024, 1024, 1024),
        layer("chargpt qkv", 16384, 384, 1152),
        layer("chargpt mlp", 16384, 384, 1536),
        layer("gpt2 out", 8192, 768, 768),
        layer("gpt2 qkv", 8192, 768, 2304),
        layer("gpt2 mlp", 8192, 768, 3072),
        layer("gpt2 mlp 2", 8192, 3072, 768),
    ];
    let squares = [512, 1024, 2048, 4096, 8192].map(|n| case("square", n, n, n, true, true));
    let transposed = [4096].into_iter().flat_map(|n| {
        [("square", true, false), ("square", false, true), ("square", false, false)].map(|(name, l, r)| case(name, n, n, n, l, r))
    });
    small.into_iter().chain(squares).chain(transposed).chain(models.into_iter().flatten()).collect()
}

/// Times and checks all products in one type of elements.
pub fn all(device: &dyn Executor, dtype: DType) {
    for c in cases() {
        let layout = |by_k: bool| if by_k { "k last" } else { "k first" };
        let name = format!("{} {}x{}x{} {dtype} ({}, {})", c.name, c.m, c.n, c.k, layout(c.lhs_by_k), layout(c.rhs_by_k));
        match one(device, c, dtype) {
            Ok((ms, error)) => {
                let rate = 2.0 * (c.m * c.n * c.k) as f64 / ms / 1e9;
                // Factors of 11 bits and sums in f32, or a result of 8 bits: what is wrong is wrong by far more.
                let wrong = if error.is_nan() || error > 4e-3 { "  WRONG" } else { "" };
                println!("{name}: {ms:.4} ms, {rate:.1} TFLOP/s, error {error:.1e} of the terms' sum{wrong}");
            }
            Err(e) => println!("{name}: {e}"),
        }
    }
}

fn one(device: &dyn Executor, c: Case, dtype: DType) -> Result<(f64, f64)> {
    let mut b = Builder::new("product");
    let shape = |side: i64, by_k: bool| if by_k { [side, c.k] } else { [c.k, side] };
    let lhs = b.graph.add_input("lhs", InputKind::Arg, TensorType::new(dtype, shape(c.m, c.lhs_by_k)));
    let rhs = b.graph.add_input("rhs", InputKind::Arg, TensorType::new(dtype, shape(c.n, c.rhs_by_k)));
    let out = b.contract(lhs, rhs, &[], &[(c.lhs_by_k as usize, c.rhs_by_k as usize)])?;
    b.graph.add_output("out", out, None);
    let Ran { ms, inputs, outputs } = run_once(device, &b.graph)?;
    let at =
        |words: &[f64], side: i64, extent: i64, by_k: bool, k: i64| words[if by_k { side * c.k + k } else { k * extent + side } as usize];
    let mut worst = 0f64;
    for s in 0..400i64 {
        // Corners too, where edges are.
        let (i, j) = match s {
            0 => (0, 0),
            1 => (c.m - 1, c.n - 1),
            2 => (0, c.n - 1),
            3 => (c.m - 1, 0),
            _ => (s * 7919 % c.m, s * 104_729 % c.n),
        };
        let (mut sum, mut size) = (0f64, 0f64);
        for k in 0..c.k {
            let term = at(&inputs[0], i, c.m, c.lhs_by_k, k) * at(&inputs[1], j, c.n, c.rhs_by_k, k);
            sum += term;
            size += term.abs();
        }
        let error = (outputs[0][(i * c.n + j) as usize] - sum).abs() / size;
        worst = if error.is_nan() { f64::NAN } else { worst.max(error) };
    }
    Ok((ms, worst))
}
