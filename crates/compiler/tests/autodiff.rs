//! What differentiation keeps and refuses; that its numbers are right is checked in `derivatives.rs`.

use aludel_compiler::autodiff::{decompose, expand_grads, vjp_graph};
use aludel_ir::graph::InputKind;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_ir::{Attrs, Builder, DType, Dim, Expr, Graph, Op, Phase, Prim, TensorType, ValueId, ops};

fn f32(shape: &[i64]) -> TensorType {
    TensorType::new(DType::F32, shape.iter().copied())
}

fn op(b: &mut Builder, name: &str, x: &[ValueId], attrs: Attrs) -> ValueId {
    b.operator(ops::find(name).unwrap(), x, &attrs).unwrap()[0]
}

/// loss = mean((x w^T)^2), w <- w - lr dw, with a symbolic batch.
fn step() -> Graph {
    let mut b = Builder::new("step");
    let batch = Expr::sym(b.graph.env.symbol("B", 3, "arg 0 dim 0"));
    let x = b.graph.add_input("x", InputKind::Arg, TensorType { dtype: DType::F32, shape: vec![batch, Dim::Const(4)] });
    let lr = b.graph.add_input("lr", InputKind::Arg, f32(&[]));
    let w = b.graph.add_input("w", InputKind::State, f32(&[2, 4]));
    b.location = Some("model.rs:1".into());
    let h = op(&mut b, "linear", &[x, w], Attrs::new());
    let s = op(&mut b, "square", &[h], Attrs::new());
    let loss = op(&mut b, "mean", &[s], Attrs::new());
    let g = b.grad(loss, &[w]).unwrap()[0];
    let new = op(&mut b, "sgd_step", &[w, g, lr], Attrs::new());
    b.graph.add_output("loss", loss, None);
    b.graph.add_output("w'", new, Some(2));
    b.graph
}

#[test]
fn inputs_outputs_state_and_symbols_stay() {
    let captured = step();
    for graph in [expand_grads(&captured).unwrap(), decompose(&expand_grads(&captured).unwrap()).unwrap()] {
        let names = |g: &Graph| g.inputs.iter().map(|i| (i.name.clone(), i.kind, g.ty(i.value).clone())).collect::<Vec<_>>();
        assert_eq!(names(&graph), names(&captured));
        let outputs: Vec<_> = graph.outputs.iter().map(|o| (o.name.as_str(), o.updates)).collect();
        assert_eq!(outputs, [("loss", None), ("w'", Some(2))]);
        assert_eq!(graph.env.symbols, captured.env.symbols);
        assert!(graph.env.guards.is_empty(), "{:?}", graph.env.guards);
        assert!(graph.nodes.iter().all(|n| n.op != Op::Grad));
    }
}

#[test]
fn backward_nodes_say_what_they_differentiate() {
    let joint = expand_grads(&step()).unwrap();
    // Captured: 0 linear, 1 square, 2 mean, 3 grad, 4 sgd_step.
    let backward: Vec<_> = joint.nodes.iter().filter(|n| n.origin.phase == Phase::Backward).collect();
    let contract = backward.iter().find(|n| matches!(n.op, Op::Prim(Prim::Contract { .. }))).unwrap();
    assert_eq!(contract.origin.nodes, [0]);
    assert_eq!(contract.location.as_deref(), Some("model.rs:1"));
    assert!(joint.nodes.iter().all(|n| !n.origin.nodes.is_empty() && n.origin.nodes.iter().all(|i| *i < 5)));
    let update = joint.nodes.iter().find(|n| n.op.name() == "sgd_step").unwrap();
    assert_eq!((update.origin.nodes.as_slice(), update.origin.phase), (&[4][..], Phase::Forward));
}

#[test]
fn the_same_graph_serves_every_size() {
    let joint = expand_grads(&step()).unwrap();
    for n in [2usize, 5] {
        let x = HostTensor::new(DType::F32, [n, 4], vec![1.0; n * 4]).unwrap();
        let w = HostTensor::new(DType::F32, [2, 4], vec![0.5; 8]).unwrap();
        let out = run(&joint, &[n as i64], &[x, HostTensor::scalar(DType::F32, 0.1), w], Precision::F64).unwrap();
        // h = 2 everywhere: loss 4, dw = 2 h / 2 = 2 for each of its elements.
        assert_eq!(out[0].data, [4.0]);
        assert!(out[1].data.iter().all(|v| (v - 0.3).abs() < 1e-7), "{:?}", out[1].data);
    }
}

#[test]
fn what_does_not_reach_the_loss_has_a_gradient_of_zeros() {
    let mut b = Builder::new("zeros");
    let (x, y) = (b.graph.add_input("x", InputKind::Arg, f32(&[2])), b.graph.add_input("y", InputKind::Arg, f32(&[2])));
    let d = op(&mut b, "detach", &[x], Attrs::new());
    let p = op(&mut b, "mul", &[d, x], Attrs::new());
    let loss = op(&mut b, "sum", &[p], Attrs::new());
    for g in b.grad(loss, &[x, y]).unwrap() {
        b.graph.add_output("g", g, None);
    }
    let t = HostTensor::new(DType::F32, [2], vec![3.0, 4.0]).unwrap();
    let out = run(&expand_grads(&b.graph).unwrap(), &[], &[t.clone(), t], Precision::F32).unwrap();
    // Through the product only, not through the detached factor.
    assert_eq!((out[0].data.as_slice(), out[1].data.as_slice()), (&[3.0, 4.0][..], &[0.0, 0.0][..]));
}

#[test]
fn losses_and_parameters_are_checked() {
    let mut b = Builder::new("checks");
    let x = b.graph.add_input("x", InputKind::Arg, f32(&[2]));
    let i = b.graph.add_input("i", InputKind::Arg, TensorType::new(DType::I32, [2i64]));
    let loss = op(&mut b, "sum", &[x], Attrs::new());
    assert!(b.grad(x, &[x]).unwrap_err().to_string().contains("reduce it with mean() or sum()"));
    assert!(b.grad(loss, &[i]).unwrap_err().to_string().contains("only float tensors have gradients"));
    let g = b.grad(loss, &[x]).unwrap()[0];
    b.graph.add_output("g", g, None);
    assert!(decompose(&b.graph).is_err(), "gradients are expanded first");
}

/// relu's backward needs its result only: the eager tape need not keep the input.
#[test]
fn the_tape_reads_results_instead_of_computing_them_again() {
    for (name, reads) in [("relu", "y0"), ("tanh", "y0"), ("exp", "y0"), ("softmax", "y0"), ("sin", "x0")] {
        let g = vjp_graph(ops::find(name).unwrap(), &Attrs::new(), &[f32(&[3])], &[true], &[true]).unwrap();
        let names: Vec<&str> = g.inputs.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["x0", "y0", "dy0"]);
        let used = |name: &str| g.inputs.iter().any(|i| i.name == name && g.nodes.iter().any(|n| n.inputs.contains(&i.value)));
        assert_eq!(["x0", "y0"].into_iter().filter(|n| used(n)).collect::<Vec<_>>(), [reads], "{name}");
    }
}
