//! The forward walk: from the tangents of operands to the tangents of results, in one pass over the nodes.
//!
//! An operator that has a reverse-mode rule of its own needs no other: the rule is linear in the gradients that it is given, and
//! differentiating it by them gives its transpose, which is the forward-mode rule. Source of the trick: J. Townsend, "A new trick for
//! calculating Jacobian vector products", 2017.

use super::reverse::{conform, differentiate, gradients_since, stops};
use super::{attribute, expand_grads, forward_rules, has_derivative};
use aludel_ir::graph::InputKind;
use aludel_ir::rewrite::{Rewriter, splice};
use aludel_ir::{Builder, Error, Graph, Node, Op, Prim, Result, ValueId};

/// The graph with its derivative along a direction: takes, after its inputs, a tangent for each of the inputs `wrt`, and gives, after
/// its outputs, the tangent of each float output. PyTorch: `torch.func.jvp`.
///
/// Errors: an input that does not exist or has no float elements.
pub fn jvp(graph: &Graph, wrt: &[usize]) -> Result<Graph> {
    super::transform::check_inputs(graph, "jvp", wrt)?;
    let graph = expand_grads(graph)?;
    let mut r = Rewriter::new(&graph);
    let mut seeds = Vec::with_capacity(wrt.len());
    for i in wrt {
        let input = &graph.inputs[*i];
        let dx = r.b.graph.add_input(format!("{}_tangent", input.name), InputKind::Arg, graph.ty(input.value).clone());
        seeds.push((r.value(input.value)?, dx));
    }
    for (n, node) in graph.nodes.iter().enumerate() {
        attribute(&mut r, n, node);
        r.copy(node, &|op| !has_derivative(op) && own_jvp(op).is_none())?;
    }
    let outputs = graph.outputs.iter().map(|o| r.value(o.value)).collect::<Result<Vec<_>>>()?;
    let found = tangents(&mut r.b, &seeds, &outputs)?;
    for (o, v) in graph.outputs.iter().zip(&outputs) {
        r.b.graph.add_output(o.name.clone(), *v, o.updates);
    }
    for ((o, v), dy) in graph.outputs.iter().zip(&outputs).zip(found) {
        if r.b.dtype(*v).is_float() {
            let dy = dy.map_or_else(|| r.b.zeros_like(*v), Ok)?;
            r.b.graph.add_output(format!("{}_tangent", o.name), dy, None);
        }
    }
    let mut graph = r.b.graph;
    graph.eliminate_dead_code();
    Ok(graph.compact())
}

/// The tangents of some values, given that of each seed (value, tangent); `None` where it is zero everywhere.
///
/// The builder's graph holds prims, and operators and functions that have a derivative of their own.
fn tangents(b: &mut Builder, seeds: &[(ValueId, ValueId)], of: &[ValueId]) -> Result<Vec<Option<ValueId>>> {
    let (origin, location) = (b.origin.clone(), b.location.clone());
    let count = b.graph.nodes.len();
    let mut found: Vec<Option<ValueId>> = vec![None; b.graph.types.len()];
    seeds.iter().for_each(|(v, t)| found[v.index()] = Some(*t));
    for n in 0..count {
        let node = &b.graph.nodes[n];
        if stops(&node.op) || node.inputs.iter().all(|v| found[v.index()].is_none()) {
            continue;
        }
        let node = node.clone();
        let dx: Vec<Option<ValueId>> = node.inputs.iter().map(|v| found[v.index()]).collect();
        b.origin.clone_from(&node.origin);
        b.location.clone_from(&node.location);
        for (y, dy) in node.outputs.iter().zip(tangents_of(b, &node, &dx)?) {
            if let Some(dy) = dy
                && b.dtype(*y).is_float()
            {
                found[y.index()] = Some(conform(b, dy, *y)?);
            }
        }
    }
    (b.origin, b.location) = (origin, location);
    Ok(of.iter().map(|v| found[v.index()]).collect())
}

fn own_jvp(op: &Op) -> Option<&Graph> {
    match op {
        Op::Function(f) => f.jvp.as_ref(),
        _ => None,
    }
}

fn tangents_of(b: &mut Builder, node: &Node, dx: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    if let Some(jvp) = own_jvp(&node.op) {
        let mut operands = node.inputs.clone();
        for (x, dx) in node.inputs.iter().zip(dx) {
            if b.dtype(*x).is_float() {
                operands.push(dx.map_or_else(|| b.zeros_like(*x), Ok)?);
            }
        }
        let mut found = splice(b, jvp, &operands, &|_| true)?.into_iter();
        return Ok(node.outputs.iter().map(|y| if b.dtype(*y).is_float() { found.next() } else { None }).collect());
    }
    match &node.op {
        Op::Prim(prim) => forward_rules::jvp(b, prim, node, dx),
        op if has_derivative(op) => transpose(b, node, dx),
        op => Err(Error::verify(op.name(), "a node without a derivative is inlined before differentiation")),
    }
}

/// The tangents of a node's results by the transpose of its reverse-mode rule.
pub fn transpose(b: &mut Builder, node: &Node, dx: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    let first = b.graph.nodes.len();
    // Stand for the gradients of the results. Nothing that is kept depends on their values, since the rule is linear in them.
    let mut dy = Vec::with_capacity(node.outputs.len());
    for y in &node.outputs {
        let ty = b.ty(*y).clone();
        dy.push(if ty.dtype.is_float() { b.push(Op::Prim(Prim::Detach), &[*y], vec![ty]).pop() } else { None });
    }
    let mut seeds = Vec::new();
    for ((g, x), dx) in differentiate(b, node, &dy)?.into_iter().zip(&node.inputs).zip(dx) {
        if let (Some(g), Some(dx)) = (g, dx) {
            seeds.push((conform(b, g, *x)?, *dx));
        }
    }
    let wrt: Vec<ValueId> = dy.iter().flatten().copied().collect();
    let mut found = gradients_since(b, first, node.origin.phase, &seeds, &wrt)?.into_iter();
    Ok(dy.iter().map(|dy| dy.and_then(|_| found.next().flatten())).collect())
}
