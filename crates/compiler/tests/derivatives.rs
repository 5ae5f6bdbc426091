//! Derivatives against central differences, in float64 on the interpreter.
//!
//! For random v and w, `w . J v` by differences of the forward graph must equal `(J^T w) . v` by the backward graph; that
//! checks every entry of the Jacobian with probability one. All ways to a derivative are checked: the joint graph of
//! `expand_grads`, the per-operator graph of `vjp_graph` that the eager tape runs, the split graphs of `vjp`, and forward mode, `jvp`.
//! Second derivatives are checked reverse over reverse, forward over reverse and reverse over forward.

use aludel_compiler::autodiff::{decompose, expand_grads, jvp, value_and_grad, vjp, vjp_graph};
use aludel_ir::graph::InputKind;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_ir::{Attrs, Builder, DType, Dim, Graph, OpDef, Prim, ReduceOp, TensorType, ValueId, ops};
use std::collections::BTreeSet;

#[path = "derivatives/indexing.rs"]
mod indexing;
#[path = "derivatives/rows.rs"]
mod rows;

use rows::{FLAT, all_checks};

/// Numbers that are the same on every machine.
struct Lcg(u64);

impl Lcg {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn tensor(&mut self, shape: &[usize], lo: f64, hi: f64) -> HostTensor {
        let n = shape.iter().product();
        HostTensor::new(DType::F32, shape, (0..n).map(|_| DType::F32.round(lo + (hi - lo) * self.unit())).collect()).unwrap()
    }

    /// Elements that lie apart, in no order: which one is the largest does not change under a small step.
    fn distinct(&mut self, shape: &[usize]) -> HostTensor {
        let n: usize = shape.iter().product();
        let mut data: Vec<f64> = (0..n).map(|i| DType::F32.round(i as f64 / n as f64)).collect();
        (1..n).for_each(|i| data.swap(i, (self.unit() * (i + 1) as f64) as usize));
        HostTensor::new(DType::F32, shape, data).unwrap()
    }
}

/// One call to check: float operands drawn from a range, others fixed.
struct Check {
    op: &'static str,
    attrs: Attrs,
    inputs: Vec<HostTensor>,
    /// Inputs that a gradient is asked for.
    wrt: Vec<usize>,
}

fn ty(t: &HostTensor) -> TensorType {
    TensorType::new(t.dtype, t.shape.iter().copied())
}

fn ints(shape: &[usize], values: &[i64]) -> HostTensor {
    HostTensor::new(DType::I32, shape, values.iter().map(|v| *v as f64).collect()).unwrap()
}

fn bools(shape: &[usize], values: &[u8]) -> HostTensor {
    HostTensor::new(DType::Bool, shape, values.iter().map(|v| *v as f64).collect()).unwrap()
}

fn forward(c: &Check) -> (Builder, Vec<ValueId>, Vec<ValueId>) {
    let mut b = Builder::new(c.op);
    let x: Vec<ValueId> = c.inputs.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), InputKind::Arg, ty(t))).collect();
    let def = ops::find(c.op).unwrap_or_else(|| panic!("no operator {}", c.op));
    let y = b.operator(def, &x, &c.attrs).unwrap_or_else(|e| panic!("{e}"));
    (b, x, y)
}

fn eval(graph: &Graph, inputs: &[HostTensor]) -> Vec<HostTensor> {
    run(graph, &[], inputs, Precision::F64).unwrap_or_else(|e| panic!("{}: {e}", graph.name))
}

fn dot(a: &HostTensor, b: &HostTensor) -> f64 {
    assert_eq!(a.shape, b.shape);
    a.data.iter().zip(&b.data).map(|(a, b)| a * b).sum()
}

fn moved(x: &[HostTensor], wrt: &[usize], v: &[HostTensor], h: f64) -> Vec<HostTensor> {
    let mut x = x.to_vec();
    for (i, v) in wrt.iter().zip(v) {
        x[*i].data.iter_mut().zip(&v.data).for_each(|(x, v)| *x += h * v);
    }
    x
}

fn assert_close(what: &str, got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-6 + 2e-5 * want.abs().max(got.abs()), "{what}: {got} by the graph, {want} by differences");
}

/// Sum over the float results of their products with fixed weights: a scalar of the same derivative.
fn weighted_loss(b: &mut Builder, y: &[ValueId], w: &[HostTensor]) -> ValueId {
    let mut loss = b.constant(0.0, DType::F32).unwrap();
    let mut w = w.iter();
    for y in y.iter().filter(|y| b.dtype(**y).is_float()).copied().collect::<Vec<_>>() {
        let input = b.graph.add_input("w", InputKind::Arg, ty(w.next().unwrap()));
        let t = b.mul(y, input).unwrap();
        let all: Vec<usize> = (0..b.rank(t)).collect();
        let s = b.sum(t, &all, false).unwrap();
        loss = b.add(loss, s).unwrap();
    }
    loss
}

fn check(c: &Check, rng: &mut Lcg) {
    let (mut b, x, y) = forward(c);
    for (i, v) in y.iter().enumerate() {
        b.graph.add_output(format!("y{i}"), *v, None);
    }
    let plain = b.graph;
    let outs = eval(&plain, &c.inputs);
    let w: Vec<HostTensor> = outs.iter().filter(|t| t.dtype.is_float()).map(|t| rng.tensor(&t.shape, -1.0, 1.0)).collect();
    let v: Vec<HostTensor> = c.wrt.iter().map(|i| rng.tensor(&c.inputs[*i].shape, -1.0, 1.0)).collect();

    // w . J v by differences.
    let h = 1e-5;
    let value = |h: f64| -> f64 {
        let out = eval(&plain, &moved(&c.inputs, &c.wrt, &v, h));
        out.iter().filter(|t| t.dtype.is_float()).zip(&w).map(|(y, w)| dot(y, w)).sum()
    };
    let want = (value(h) - value(-h)) / (2.0 * h);

    // Through the joint graph.
    let (mut b, x2, y2) = forward(c);
    let loss = weighted_loss(&mut b, &y2, &w);
    let wrt: Vec<ValueId> = c.wrt.iter().map(|i| x2[*i]).collect();
    for g in b.grad(loss, &wrt).unwrap() {
        b.graph.add_output("g", g, None);
    }
    let joint = expand_grads(&b.graph).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let prims = decompose(&joint).unwrap();
    assert!(prims.nodes.iter().all(|n| matches!(n.op, aludel_ir::Op::Prim(_))), "{}", c.op);
    let inputs = [c.inputs.clone(), w.clone()].concat();
    let got = eval(&prims, &inputs);
    assert_close(c.op, got.iter().zip(&v).map(|(g, v)| dot(g, v)).sum(), want);

    // Through the eager tape's graph.
    let types: Vec<TensorType> = c.inputs.iter().map(ty).collect();
    let needs: Vec<bool> = (0..x.len()).map(|i| c.wrt.contains(&i)).collect();
    let present: Vec<bool> = outs.iter().map(|t| t.dtype.is_float()).collect();
    let def: &'static OpDef = ops::find(c.op).unwrap();
    let tape = vjp_graph(def, &c.attrs, &types, &needs, &present).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let got = eval(&tape, &[c.inputs.clone(), outs.clone(), w.clone()].concat());
    assert_close(&format!("{} on the tape", c.op), got.iter().zip(&v).map(|(g, v)| dot(g, v)).sum(), want);

    // Forward mode: w . (J v).
    let forward = jvp(&plain, &c.wrt).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let got = eval(&forward, &[c.inputs.clone(), v.clone()].concat());
    assert_close(&format!("{} forward", c.op), got[outs.len()..].iter().zip(&w).map(|(t, w)| dot(t, w)).sum(), want);

    // A pullback with what it reads computed before.
    let split = vjp(&plain, &c.wrt, plain.outputs.len()).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let mut residuals = eval(&split.forward, &c.inputs);
    assert_eq!(residuals.len(), outs.len() + split.residuals);
    let got = eval(&split.backward, &[residuals.split_off(outs.len()), w].concat());
    assert_close(&format!("{} split", c.op), got.iter().zip(&v).map(|(g, v)| dot(g, v)).sum(), want);
}

/// The derivative of `u . grad`, against differences of the gradient itself.
fn check_second(c: &Check, rng: &mut Lcg) {
    let (mut b, x, y) = forward(c);
    let w: Vec<HostTensor> = {
        let (mut b, _, y) = forward(c);
        y.iter().for_each(|v| b.graph.add_output("y", *v, None));
        eval(&b.graph, &c.inputs).iter().filter(|t| t.dtype.is_float()).map(|t| rng.tensor(&t.shape, -1.0, 1.0)).collect()
    };
    let u: Vec<HostTensor> = c.wrt.iter().map(|i| rng.tensor(&c.inputs[*i].shape, -1.0, 1.0)).collect();
    let v: Vec<HostTensor> = c.wrt.iter().map(|i| rng.tensor(&c.inputs[*i].shape, -1.0, 1.0)).collect();
    let loss = weighted_loss(&mut b, &y, &w);
    let wrt: Vec<ValueId> = c.wrt.iter().map(|i| x[*i]).collect();
    let first = b.grad(loss, &wrt).unwrap();
    let inner = weighted_loss(&mut b, &first, &u);
    b.graph.add_output("inner", inner, None);
    for g in b.grad(inner, &wrt).unwrap() {
        b.graph.add_output("h", g, None);
    }
    let graph = expand_grads(&b.graph).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let rest = [w, u.clone()].concat();
    let at = |h: f64| eval(&graph, &[moved(&c.inputs, &c.wrt, &v, h), rest.clone()].concat());
    let got: f64 = at(0.0)[1..].iter().zip(&v).map(|(g, v)| dot(g, v)).sum();
    let h = 1e-5;
    let want = (at(h)[0].data[0] - at(-h)[0].data[0]) / (2.0 * h);
    let close = |how: &str, got: f64| {
        let what = format!("second derivative of {}, {how}", c.op);
        assert!((got - want).abs() <= 1e-5 + 1e-4 * want.abs(), "{what}: {got} by the graph, {want} by differences");
    };
    close("reverse over reverse", got);

    // The gradient's own graph, along v.
    let (mut b, x, y) = forward(c);
    let loss = weighted_loss(&mut b, &y, &rest[..rest.len() - u.len()]);
    let wrt: Vec<ValueId> = c.wrt.iter().map(|i| x[*i]).collect();
    let first = b.grad(loss, &wrt).unwrap();
    let inner = weighted_loss(&mut b, &first, &u);
    b.graph.add_output("inner", inner, None);
    let graph = jvp(&b.graph, &c.wrt).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    close("forward over reverse", eval(&graph, &[c.inputs.clone(), rest.clone(), v.clone()].concat())[1].data[0]);

    // The gradient of w . (J u), along v: the second derivative is symmetric.
    let (mut b, _, y) = forward(c);
    let loss = weighted_loss(&mut b, &y, &rest[..rest.len() - u.len()]);
    b.graph.add_output("loss", loss, None);
    let mut graph = jvp(&b.graph, &c.wrt).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    graph.outputs.remove(0);
    let graph = value_and_grad(&graph, &c.wrt).unwrap_or_else(|e| panic!("{}: {e}", c.op));
    let out = eval(&graph, &[c.inputs.clone(), rest].concat());
    close("reverse over forward", out[1..].iter().zip(&v).map(|(g, v)| dot(g, v)).sum());
}

/// Reverse over forward over reverse, against differences of the second derivative.
fn check_third(c: &Check, rng: &mut Lcg) {
    let (mut b, x, y) = forward(c);
    let w: Vec<HostTensor> = {
        let (mut b, _, y) = forward(c);
        y.iter().for_each(|v| b.graph.add_output("y", *v, None));
        eval(&b.graph, &c.inputs).iter().filter(|t| t.dtype.is_float()).map(|t| rng.tensor(&t.shape, -1.0, 1.0)).collect()
    };
    let mut direction = || -> Vec<HostTensor> { c.wrt.iter().map(|i| rng.tensor(&c.inputs[*i].shape, -1.0, 1.0)).collect() };
    let (u, v, t) = (direction(), direction(), direction());
    let loss = weighted_loss(&mut b, &y, &w);
    let wrt: Vec<ValueId> = c.wrt.iter().map(|i| x[*i]).collect();
    let first = b.grad(loss, &wrt).unwrap();
    let inner = weighted_loss(&mut b, &first, &u);
    b.graph.add_output("inner", inner, None);
    let mut second = jvp(&b.graph, &c.wrt).unwrap();
    second.outputs.remove(0);
    let third = value_and_grad(&second, &c.wrt).unwrap();
    let rest = [w, u, v].concat();
    let at = |h: f64| eval(&third, &[moved(&c.inputs, &c.wrt, &t, h), rest.clone()].concat());
    let got: f64 = at(0.0)[1..].iter().zip(&t).map(|(g, t)| dot(g, t)).sum();
    let h = 1e-5;
    let want = (at(h)[0].data[0] - at(-h)[0].data[0]) / (2.0 * h);
    assert!((got - want).abs() <= 1e-4 + 1e-3 * want.abs(), "third derivative of {}: {got} by the graph, {want} by differences", c.op);
}

/// They need several ranks: `crates/runtime/tests/collectives.rs` checks their derivatives.
const COLLECTIVES: [&str; 5] = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"];

#[test]
fn first_derivatives_of_every_operator() {
    let mut rng = Lcg(1);
    let checks = all_checks(&mut rng);
    checks.iter().for_each(|c| check(c, &mut rng));
    let covered: BTreeSet<&str> =
        checks.iter().map(|c| c.op).chain(FLAT.iter().copied()).chain(indexing::FLAT.iter().copied()).chain(COLLECTIVES).collect();
    let missing: Vec<&str> = ops::all().map(|d| d.name).filter(|n| !covered.contains(n)).collect();
    assert!(missing.is_empty(), "no derivative check for {missing:?}");
}

#[test]
fn second_derivatives() {
    let mut rng = Lcg(2);
    let sample = [
        "tanh",
        "exp",
        "sigmoid",
        "gelu",
        "silu",
        "softplus",
        "mul",
        "div",
        "pow",
        "hypot",
        "sum",
        "mean",
        "prod",
        "var",
        "std",
        "logsumexp",
        "cumsum",
        "cumprod",
        "softmax",
        "log_softmax",
        "unfold",
        "slice",
        "pad",
        "gather",
        "embedding",
        "matmul",
        "linear",
        "einsum",
        "layer_norm",
        "rms_norm",
        "scaled_dot_product_attention",
        "_scaled_dot_product_flash_attention",
        "cross_entropy",
        "mse_loss",
        "binary_cross_entropy_with_logits",
        "lstm_cell",
        "lgamma",
        "erf",
        "clip_grad_norm",
        "complex_abs",
        "angle",
        "complex_sqrt",
        "complex_pow",
        "complex_div",
        "complex_tanh",
        "complex_matmul",
        "fft",
        "irfft",
    ];
    // Products are differentiable twice away from zeros only (see autodiff/rules.rs).
    let at_zero = |c: &Check| matches!(c.op, "prod" | "cumprod") && c.inputs[0].data.contains(&0.0);
    for c in all_checks(&mut rng).iter().filter(|c| sample.contains(&c.op) && !at_zero(c)) {
        check_second(c, &mut rng);
    }
    let thrice = ["tanh", "exp", "sigmoid", "softmax", "log_softmax", "layer_norm", "linear", "log", "mul", "div", "logsumexp", "gelu"];
    for c in all_checks(&mut rng).iter().filter(|c| thrice.contains(&c.op)) {
        check_third(c, &mut rng);
    }
}

/// Prims that no operator's decomposition reaches in every form.
#[test]
fn prims_with_steps_and_windows() {
    let mut rng = Lcg(3);
    let prims: Vec<(Prim, Vec<usize>)> = vec![
        (Prim::Unfold { dim: 0, size: 3, step: 2, dilation: 2 }, vec![11, 2]),
        (Prim::Slice { start: vec![Dim::Const(1), Dim::Const(0)], size: vec![Dim::Const(3), Dim::Const(2)], step: vec![3, 2] }, vec![9, 4]),
        (Prim::Reduce { op: ReduceOp::Min, dims: vec![0, 2] }, vec![2, 3, 4]),
        (Prim::Sort { dim: 0, descending: true, first: None }, vec![5, 2]),
        (Prim::Sort { dim: 0, descending: false, first: Some(3) }, vec![5, 2]),
        (Prim::Fft { inverse: false }, vec![2, 3, 2]),
    ];
    for (prim, shape) in prims {
        let mut b = Builder::new(prim.name());
        let t = rng.tensor(&shape, -1.0, 1.0);
        let x = b.graph.add_input("x", InputKind::Arg, ty(&t));
        let y = b.prims(prim.clone(), &[x]).unwrap()[0];
        let w: Vec<usize> = b.shape(y).iter().map(|d| d.as_const().unwrap() as usize).collect();
        let w = rng.tensor(&w, -1.0, 1.0);
        let loss = weighted_loss(&mut b, &[y], std::slice::from_ref(&w));
        b.graph.add_output("loss", loss, None);
        let g = b.grad(loss, &[x]).unwrap()[0];
        b.graph.add_output("g", g, None);
        let graph = expand_grads(&b.graph).unwrap();
        let v = rng.tensor(&shape, -1.0, 1.0);
        let at = |h: f64| eval(&graph, &[moved(std::slice::from_ref(&t), &[0], std::slice::from_ref(&v), h), vec![w.clone()]].concat());
        let want = (at(1e-5)[0].data[0] - at(-1e-5)[0].data[0]) / 2e-5;
        assert_close(prim.name(), dot(&at(0.0)[1], &v), want);
        let forward = jvp(&graph, &[0]).unwrap();
        assert_close(prim.name(), eval(&forward, &[t.clone(), w.clone(), v])[2].data[0], want);
    }
}

/// PyTorch's gradient of ctc_loss is right behind log_softmax, whose derivative takes out what it has too much.
#[test]
fn ctc_through_log_softmax() {
    let mut rng = Lcg(4);
    let x = rng.tensor(&[5, 2, 4], -1.0, 1.0);
    let others = [ints(&[2, 2], &[1, 1, 3, 0]), ints(&[2], &[5, 4]), ints(&[2], &[2, 1])];
    let mut b = Builder::new("ctc");
    let input = |b: &mut Builder, t: &HostTensor| b.graph.add_input("x", InputKind::Arg, ty(t));
    let scores = input(&mut b, &x);
    let rest: Vec<ValueId> = others.iter().map(|t| input(&mut b, t)).collect();
    let op = |b: &mut Builder, name, x: &[ValueId], attrs: Attrs| b.operator(ops::find(name).unwrap(), x, &attrs).unwrap()[0];
    let log_probs = op(&mut b, "log_softmax", &[scores], Attrs::new().with("dim", 2));
    let loss = op(&mut b, "ctc_loss", &[&[log_probs][..], &rest].concat(), Attrs::new());
    b.graph.add_output("loss", loss, None);
    let g = b.grad(loss, &[scores]).unwrap()[0];
    b.graph.add_output("g", g, None);
    let graph = expand_grads(&b.graph).unwrap();
    let v = rng.tensor(&[5, 2, 4], -1.0, 1.0);
    let at = |h: f64| eval(&graph, &[moved(std::slice::from_ref(&x), &[0], std::slice::from_ref(&v), h), others.to_vec()].concat());
    let want = (at(1e-5)[0].data[0] - at(-1e-5)[0].data[0]) / 2e-5;
    assert_close("ctc_loss", dot(&at(0.0)[1], &v), want);
}
