//! Reverse-mode differentiation ahead of time: graphs in, graphs out.
//!
//! [`expand_grads`] replaces the nodes that ask for gradients by the backward computation, [`decompose`] takes the joint
//! graph to prims, and [`vjp_graph`] gives the backward of one operator, which is what the eager tape runs.
//!
//! An operator's own derivative is used where it has one; otherwise the operator is inlined and its prims differentiated
//! ([`rules`]). Everything is built through [`Builder`], so backward values that equal forward ones are shared, and
//! gradients can be differentiated again.

mod reverse;
mod rules;

use aludel_ir::graph::InputKind;
use aludel_ir::op::VjpArgs;
use aludel_ir::rewrite::Rewriter;
use aludel_ir::{Attrs, Builder, Error, Graph, Op, OpDef, Origin, Phase, Prim, Result, ShapeEnv, TensorType};
use reverse::{conform, gradients};

/// Replaces every [`Op::Grad`] by the nodes that compute the gradients.
///
/// Backward nodes have phase [`Phase::Backward`] and the origin of the forward node that they differentiate. The result has
/// prims and operators; inputs, outputs, state updates, names, symbols and guards stay as they are. A value that does not
/// reach the loss has a gradient of zeros.
pub fn expand_grads(graph: &Graph) -> Result<Graph> {
    let mut r = Rewriter::new(graph);
    let upstream = upstream_of_losses(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        if node.op != Op::Grad {
            r.copy(node, &|def| upstream[n] && def.vjp.is_none())?;
            continue;
        }
        let args = r.operands(node)?;
        let (Some((loss, wrt)), true) = (args.split_first(), node.outputs.len() + 1 == args.len()) else {
            return Err(Error::verify(format!("node {n}"), "grad takes a loss and gives one gradient for each other operand"));
        };
        let origin = r.b.origin.clone();
        r.b.origin.phase = Phase::Backward;
        let one = r.b.full_like(*loss, 1.0)?;
        let found = gradients(&mut r.b, &[(*loss, one)], wrt)?;
        r.b.origin = Origin { phase: Phase::Backward, ..origin };
        for ((old, w), g) in node.outputs.iter().zip(wrt).zip(found) {
            let g = match g {
                Some(g) => g,
                None => r.b.zeros_like(*w)?,
            };
            r.define(*old, g);
        }
    }
    r.finish()
}

// The nodes that a loss is computed from.
fn upstream_of_losses(graph: &Graph) -> Vec<bool> {
    let mut wanted = vec![false; graph.types.len()];
    let mut upstream = vec![false; graph.nodes.len()];
    for (n, node) in graph.nodes.iter().enumerate().rev() {
        upstream[n] = node.outputs.iter().any(|v| wanted[v.index()]);
        if upstream[n] || node.op == Op::Grad {
            node.inputs.iter().for_each(|v| wanted[v.index()] = true);
        }
    }
    upstream
}

/// Takes a graph without gradient nodes to prims: operators are inlined, equal prims shared, dead ones removed. Nothing is
/// differentiated after this, so `detach` goes too.
pub fn decompose(graph: &Graph) -> Result<Graph> {
    let mut r = Rewriter::new(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        match &node.op {
            Op::Grad => return Err(Error::verify(format!("node {n}"), "gradients are expanded before decomposition")),
            Op::Prim(Prim::Detach) => {
                let x = r.operands(node)?[0];
                r.define(node.outputs[0], x);
            }
            _ => r.copy(node, &|_| true)?,
        }
    }
    let inlined = r.finish()?;
    if !inlined.nodes.iter().any(|n| n.op == Op::Prim(Prim::Detach)) {
        return Ok(inlined);
    }
    // Inlining brought new ones.
    decompose(&inlined)
}

/// The backward of one operator as a graph of prims.
///
/// Its inputs are, in this order: the operator's inputs (`x0`, `x1`..), its results (`y0`..), and the gradient (`dy0`..) of
/// each result for which `grad_present` holds. Its outputs are the gradients of the inputs for which `needs` holds. Inputs
/// that turn out not to matter are there all the same, unused.
pub fn vjp_graph(op: &'static OpDef, attrs: &Attrs, input_types: &[TensorType], needs: &[bool], grad_present: &[bool]) -> Result<Graph> {
    vjp_graph_in(&ShapeEnv::default(), op, attrs, input_types, needs, grad_present)
}

/// As [`vjp_graph`], for types with size symbols of an environment. The result's environment has the guards recorded on the way.
pub fn vjp_graph_in(
    env: &ShapeEnv,
    op: &'static OpDef,
    attrs: &Attrs,
    input_types: &[TensorType],
    needs: &[bool],
    grad_present: &[bool],
) -> Result<Graph> {
    let mut b = Builder::new(format!("{}_vjp", op.name));
    b.graph.env = env.clone();
    let arg = |b: &mut Builder, name: String, ty: &TensorType| b.graph.add_input(name, InputKind::Arg, ty.clone());
    let inputs: Vec<_> = input_types.iter().enumerate().map(|(i, t)| arg(&mut b, format!("x{i}"), t)).collect();
    let output_types = op.infer(&input_types.iter().collect::<Vec<_>>(), attrs, &mut b.graph.env)?;
    if needs.len() != inputs.len() || grad_present.len() != output_types.len() {
        let text =
            format!("{} inputs and {} results, asked about {} and {}", inputs.len(), output_types.len(), needs.len(), grad_present.len());
        return Err(Error::invalid(op.name, text, "say for each whether it takes part"));
    }
    let outputs: Vec<_> = output_types.iter().enumerate().map(|(i, t)| arg(&mut b, format!("y{i}"), t)).collect();
    let mut grads = Vec::new();
    for (i, ty) in output_types.iter().enumerate() {
        let present = grad_present[i] && ty.dtype.is_float();
        let g = grad_present[i].then(|| arg(&mut b, format!("dy{i}"), ty));
        grads.push(g.filter(|_| present));
    }
    b.origin = Origin { nodes: vec![0], phase: Phase::Backward };
    let found = match op.vjp {
        Some(vjp) => {
            let all = vjp(&mut b, &VjpArgs { inputs: &inputs, outputs: &outputs, grads: &grads, attrs })?;
            if all.len() != inputs.len() {
                return Err(Error::verify(op.name, "its derivative gives not one gradient for each input"));
            }
            all.into_iter().zip(&inputs).map(|(g, x)| g.map(|g| conform(&mut b, g, *x)).transpose()).collect::<Result<Vec<_>>>()?
        }
        None => {
            let computed = b.call(op, &inputs, attrs)?;
            let seeds: Vec<_> = computed.iter().zip(&grads).filter_map(|(y, g)| Some((*y, (*g)?))).collect();
            let found = gradients(&mut b, &seeds, &inputs)?;
            // The results are given: what the backward reads of them need not be computed again.
            let given = |v| computed.iter().position(|c| *c == v && !inputs.contains(&v)).map(|k| outputs[k]);
            for v in b.graph.nodes.iter_mut().flat_map(|n| &mut n.inputs) {
                *v = given(*v).unwrap_or(*v);
            }
            found.into_iter().map(|g| g.map(|g| given(g).unwrap_or(g))).collect()
        }
    };
    for (i, (g, x)) in found.into_iter().zip(&inputs).enumerate() {
        if needs[i] {
            let g = match g {
                Some(g) => g,
                None => b.zeros_like(*x)?,
            };
            b.graph.add_output(format!("dx{i}"), g, None);
        }
    }
    let mut graph = b.graph;
    graph.eliminate_dead_code();
    decompose(&graph.compact())
}
