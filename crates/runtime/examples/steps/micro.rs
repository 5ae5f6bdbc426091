//! Matrix products, and operators that move memory, beside a copy on the same device.

use super::graphs::Step;
use super::time::{copy, operator};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Attrs, Builder, DType, TensorType};
use aludel_runtime::Executor;

/// Times a product of two square matrices.
pub fn matmul(device: &dyn Executor, n: i64) {
    let mut b = Builder::new("matmul");
    let ty = TensorType::new(DType::F32, [n, n]);
    let a = b.graph.add_input("a", InputKind::Arg, ty.clone());
    let c = b.graph.add_input("b", InputKind::Arg, ty);
    let product = b.contract(a, c, &[], &[(1, 0)]);
    match product.map(|out| b.graph.add_output("out", out, None)).and_then(|()| operator(device, &b.graph)) {
        Ok(ms) => println!("matmul {n}: {ms:.4} ms, {:.2} TFLOP/s", 2.0 * (n as f64).powi(3) / ms / 1e9),
        Err(e) => println!("matmul {n}: {e}"),
    }
}

/// A graph of one operator on `n` by `n` elements; its name, and how often it reads or writes so many.
fn cases(n: i64) -> Vec<(&'static str, f64, Graph)> {
    let square = [n.into(), n.into()];
    let unary = |name: &str, build: &dyn Fn(&mut Step, aludel_ir::ValueId) -> aludel_ir::ValueId| {
        let mut s = Step::new(name);
        let x = s.arg("x", DType::F32, &square);
        let out = build(&mut s, x);
        s.forward(out)
    };
    let gelu = unary("gelu", &|s, x| {
        let (bias, residual) = (s.arg("bias", DType::F32, &[n.into()]), s.arg("residual", DType::F32, &[n.into(), n.into()]));
        let sum = s.op("add", &[x, bias], Attrs::new());
        let y = s.op("gelu", &[sum], Attrs::new().with("approximate", "tanh"));
        s.op("add", &[y, residual], Attrs::new())
    });
    let softmax = unary("softmax", &|s, x| s.op("softmax", &[x], Attrs::new().with("dim", -1i64)));
    let norm = unary("layer_norm", &|s, x| {
        let (w, b) = (s.arg("w", DType::F32, &[n.into()]), s.arg("b", DType::F32, &[n.into()]));
        s.op("layer_norm", &[x, w, b], Attrs::new().with("normalized_shape", vec![n]))
    });
    let sum = |dim: i64| unary("sum", &|s, x| s.op("sum", &[x], Attrs::new().with("dim", vec![dim])));
    let scale = unary("scale", &|s, x| s.op("mul", &[x, x], Attrs::new()));
    vec![
        ("square", 2.0, scale),
        ("gelu+bias+residual", 3.0, gelu),
        ("softmax", 2.0, softmax),
        ("layer_norm", 2.0, norm),
        ("sum over rows' elements", 1.0, sum(1)),
        ("sum over columns' elements", 1.0, sum(0)),
    ]
}

/// Times a copy, then each operator as a share of it.
pub fn all(device: &dyn Executor, n: i64) {
    let bytes = (n * n * 4) as f64;
    let bandwidth = match copy(device, (n * n) as usize) {
        Ok(ms) => 2.0 * bytes / ms / 1e6,
        Err(e) => return println!("copy: {e}"),
    };
    println!("copy of {n}x{n} f32: {bandwidth:.0} GB/s, read and written");
    for (name, times, graph) in cases(n) {
        match operator(device, &graph) {
            Ok(ms) => {
                let rate = times * bytes / ms / 1e6;
                println!("{name} on {n}x{n}: {ms:.4} ms, {rate:.0} GB/s, {:.0} % of the copy", 100.0 * rate / bandwidth);
            }
            Err(e) => println!("{name}: {e}"),
        }
    }
}
