//! Reverse-mode transformations of a graph as a function of its inputs.

use super::reverse::gradients;
use super::{attribute, expand_grads, has_derivative};
use aludel_ir::graph::InputKind;
use aludel_ir::order::Order;
use aludel_ir::rewrite::{Rewriter, emit};
use aludel_ir::{Builder, Error, Graph, Node, Op, Origin, Phase, Prim, Result, ValueId};

pub(super) fn check_inputs(graph: &Graph, what: &str, wrt: &[usize]) -> Result<()> {
    for i in wrt {
        let Some(input) = graph.inputs.get(*i) else {
            return Err(Error::invalid(what, format!("no input {i} of {}", graph.inputs.len()), "name inputs of the graph"));
        };
        let ty = graph.ty(input.value);
        if !ty.dtype.is_float() {
            let operand = graph.env.show_type(ty);
            return Err(Error::op(what, operand, "only float tensors have derivatives", "differentiate with respect to float tensors"));
        }
    }
    Ok(())
}

/// The graph with, after its outputs, the gradient of the first of them, a float scalar, for each of the inputs `wrt`.
/// PyTorch: `torch.func.grad_and_value`, the other way round.
///
/// Errors: the first output is no float scalar; an input that does not exist or has no float elements.
pub fn value_and_grad(graph: &Graph, wrt: &[usize]) -> Result<Graph> {
    check_inputs(graph, "grad", wrt)?;
    let loss = graph.outputs.first().map(|o| o.value).ok_or_else(|| Error::invalid("grad", "no result", "return a scalar"))?;
    let ty = graph.ty(loss);
    if ty.rank() != 0 || !ty.dtype.is_float() {
        let show = graph.env.show_type(ty);
        return Err(Error::op("grad", show, "only a float scalar has a gradient", "reduce it with sum() or mean(), or use vjp"));
    }
    let mut g = graph.clone();
    let inputs: Vec<ValueId> = std::iter::once(loss).chain(wrt.iter().map(|i| graph.inputs[*i].value)).collect();
    let mut outputs = Vec::with_capacity(wrt.len());
    for i in wrt {
        let input = &graph.inputs[*i];
        let v = g.new_value(graph.ty(input.value).clone(), None);
        g.add_output(format!("{}_grad", input.name), v, None);
        outputs.push(v);
    }
    if outputs.is_empty() {
        return expand_grads(graph);
    }
    g.nodes.push(Node { op: Op::Grad, inputs, outputs, origin: Origin::default(), location: None });
    expand_grads(&g)
}

/// A graph split for a pullback that may be called many times.
pub struct Vjp {
    /// Gives, after the outputs, the values that `backward` reads.
    pub forward: Graph,
    /// Takes those values and the gradient of each float output; gives the gradient for each input asked for.
    pub backward: Graph,
    /// How many values go from one to the other.
    pub residuals: usize,
}

/// Splits a graph into one that computes and one that takes gradients of its float outputs, of the first `results` of them, to gradients of
/// its inputs `wrt`. PyTorch: `torch.func.vjp`.
///
/// Errors: an input that does not exist or has no float elements.
pub fn vjp(graph: &Graph, wrt: &[usize], results: usize) -> Result<Vjp> {
    check_inputs(graph, "vjp", wrt)?;
    let graph = expand_grads(graph)?;
    let mut r = Rewriter::new(&graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        attribute(&mut r, n, node);
        r.copy(node, &|op| !has_derivative(op))?;
    }
    let outputs = graph.outputs.iter().map(|o| r.value(o.value)).collect::<Result<Vec<_>>>()?;
    let inputs = wrt.iter().map(|i| r.value(graph.inputs[*i].value)).collect::<Result<Vec<_>>>()?;
    let own = r.b.graph.inputs.len();
    let mut seeds = Vec::new();
    for (o, y) in graph.outputs.iter().zip(&outputs).take(results) {
        let ty = r.b.ty(*y).clone();
        if ty.dtype.is_float() {
            seeds.push((*y, r.b.graph.add_input(format!("{}_grad", o.name), InputKind::Arg, ty)));
        }
    }
    r.b.origin = Origin { phase: Phase::Backward, ..Origin::default() };
    let found = gradients(&mut r.b, &seeds, &inputs)?;
    let found = found.into_iter().zip(&inputs).map(|(g, x)| g.map_or_else(|| r.b.zeros_like(*x), Ok)).collect::<Result<Vec<_>>>()?;
    let joint = r.b.graph;

    let cotangents: Vec<ValueId> = joint.inputs[own..].iter().map(|i| i.value).collect();
    let (wanted, mut residuals) = backward_part(&joint, &cotangents, &found);
    residuals.order();

    let mut forward = joint.clone();
    forward.inputs.truncate(own);
    for (o, v) in graph.outputs.iter().zip(&outputs) {
        forward.add_output(o.name.clone(), *v, o.updates);
    }
    for (k, v) in residuals.iter().enumerate() {
        forward.add_output(format!("residual{k}"), *v, None);
    }
    forward.eliminate_dead_code();

    let mut b = Builder::new(format!("{}_vjp", joint.name));
    b.graph.env = joint.env.clone();
    let mut map: Vec<Option<ValueId>> = vec![None; joint.types.len()];
    for (k, v) in residuals.iter().enumerate() {
        map[v.index()] = Some(b.graph.add_input(format!("residual{k}"), InputKind::Arg, joint.ty(*v).clone()));
    }
    for input in &joint.inputs[own..] {
        map[input.value.index()] = Some(b.graph.add_input(input.name.clone(), InputKind::Arg, joint.ty(input.value).clone()));
    }
    let lost = |v: &ValueId| Error::verify(format!("%{}", joint.value_name(*v)), "used before it is defined");
    for (n, node) in joint.nodes.iter().enumerate().filter(|(n, _)| wanted[*n]) {
        let args = node.inputs.iter().map(|v| map[v.index()].ok_or_else(|| lost(v))).collect::<Result<Vec<_>>>()?;
        b.origin = Origin { nodes: vec![n as u32], phase: Phase::Backward, checkpoint: None };
        b.location.clone_from(&node.location);
        let types = node.outputs.iter().map(|v| joint.ty(*v).clone()).collect();
        let results = emit(&mut b, &node.op, &args, types, &|_| false)?;
        node.outputs.iter().zip(results).for_each(|(v, r)| map[v.index()] = Some(r));
    }
    for (i, g) in wrt.iter().zip(&found) {
        let v = map[g.index()].ok_or_else(|| lost(g))?;
        b.graph.add_output(format!("{}_grad", joint.inputs[*i].name), v, None);
    }
    Ok(Vjp { forward: forward.compact(), backward: b.graph.compact(), residuals: residuals.len() })
}

// Which nodes compute the gradients once the cotangents are known, and the values that they need from before: what depends on a cotangent,
// views and constants, which are nothing to keep, and what is checkpointed.
fn backward_part(joint: &Graph, cotangents: &[ValueId], gradients: &[ValueId]) -> (Vec<bool>, Vec<ValueId>) {
    let mut depends = vec![false; joint.types.len()];
    cotangents.iter().for_each(|v| depends[v.index()] = true);
    for node in &joint.nodes {
        if node.inputs.iter().any(|v| depends[v.index()]) {
            node.outputs.iter().for_each(|v| depends[v.index()] = true);
        }
    }
    let definitions = joint.definitions();
    let light = |node: &Node| match &node.op {
        Op::Prim(p) if p.is_view() || matches!(p, Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. }) => true,
        _ => node.origin.checkpoint.is_some(),
    };
    let mut wanted = vec![false; joint.nodes.len()];
    let mut seen = vec![false; joint.types.len()];
    let mut residuals = Vec::new();
    let mut todo: Vec<ValueId> = gradients.to_vec();
    while let Some(v) = todo.pop() {
        if std::mem::replace(&mut seen[v.index()], true) || cotangents.contains(&v) {
            continue;
        }
        match definitions[v.index()] {
            Some((n, _)) if depends[v.index()] || light(&joint.nodes[n]) => {
                wanted[n] = true;
                todo.extend(&joint.nodes[n].inputs);
            }
            _ => residuals.push(v),
        }
    }
    (wanted, residuals)
}
