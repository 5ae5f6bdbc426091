//! How far rounding may move a graph's results: Monte Carlo arithmetic (Parker, "Monte Carlo Arithmetic", 1997). Each result of an operation that
//! rounds is moved by up to a step of its type at random, another way each time. What that does to the graph's results is what a device that rounds
//! otherwise may do: a tie decided the other way, a row that is constant but for rounding, a difference of equals.

use super::Rng;
use aludel_ir::dtype::DType;
use aludel_ir::graph::{Graph, InputKind, Node, Op, Origin, ValueId};
use aludel_ir::interp::HostTensor;
use aludel_ir::prim::{Prim, ReduceOp};
use aludel_ir::scalar::ScalarOp;
use std::collections::HashMap;

/// The decomposed graph with each rounded result multiplied by another input, which come after the graph's own.
pub fn noisy(prims: &Graph) -> Graph {
    let mut g = prims.clone();
    let nodes = std::mem::take(&mut g.nodes);
    let mut moved: HashMap<ValueId, ValueId> = HashMap::new();
    for mut node in nodes {
        node.inputs.iter_mut().for_each(|v| *v = *moved.get(v).unwrap_or(v));
        let outputs = node.outputs.clone();
        let rounds = rounds(&node.op);
        g.nodes.push(node);
        for v in outputs.into_iter().filter(|v| rounds && prims.ty(*v).dtype.is_float()) {
            let ty = prims.ty(v).clone();
            let noise = g.add_input(format!("noise{}", v.0), InputKind::Arg, ty.clone());
            let product = g.new_value(ty, None);
            let op = Op::Prim(Prim::Scalar(ScalarOp::Mul));
            g.nodes.push(Node { op, inputs: vec![v, noise], outputs: vec![product], origin: Origin::default(), location: None });
            moved.insert(v, product);
        }
    }
    g.outputs.iter_mut().for_each(|o| o.value = *moved.get(&o.value).unwrap_or(&o.value));
    g
}

/// What the inputs of a noisy graph become: those of the graph itself, the first `own`, are moved too, the others are factors near 1.
pub fn noise(mut inputs: Vec<HostTensor>, own: usize, seed: u64) -> Vec<HostTensor> {
    let mut rng = Rng::new(seed);
    for (k, t) in inputs.iter_mut().enumerate().filter(|(_, t)| t.dtype.is_float()) {
        let step = match t.dtype {
            DType::BF16 => -8,
            DType::F16 => -11,
            _ => -23,
        };
        let mut factor = || 1.0 + (rng.below(2001) as f64 / 1000.0 - 1.0) * (2f64).powi(step);
        t.data.iter_mut().for_each(|v| *v = if k < own { *v * factor() } else { factor() });
    }
    inputs
}

/// Whether an operation's result depends on how it rounds; one that moves, chooses or compares values gives them as they are.
fn rounds(op: &Op) -> bool {
    use ScalarOp::*;
    match op {
        Op::Prim(Prim::Scalar(op)) => !matches!(op, Neg | Abs | Sign | Floor | Ceil | Trunc | Round | Max | Min | Copysign | Select | Fmod),
        Op::Prim(Prim::Reduce { op, .. } | Prim::Scan { op, .. }) => matches!(op, ReduceOp::Sum | ReduceOp::Prod),
        Op::Prim(Prim::ScatterAdd { .. } | Prim::Fft { .. } | Prim::Contract { .. } | Prim::Attention(_) | Prim::AttentionBackward(_)) => {
            true
        }
        _ => false,
    }
}
