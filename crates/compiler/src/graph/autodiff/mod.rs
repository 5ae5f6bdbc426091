//! Differentiation and batching ahead of time: graphs in, graphs out.
//!
//! [`expand_grads`] replaces the nodes that ask for gradients by the backward computation, [`decompose`] takes the joint
//! graph to prims, and [`vjp_graph`] gives the backward of one operator, which is what the eager tape runs. [`value_and_grad`], [`vjp`],
//! [`jvp`] and [`vmap`] transform a graph as a function of its inputs; what they give can be transformed again.
//!
//! An operator's own derivative is used where it has one; otherwise the operator is inlined and its prims differentiated
//! ([`rules`]). Everything is built through [`Builder`], so backward values that equal forward ones are shared, and
//! gradients can be differentiated again.

mod batch;
mod batch_rules;
mod forward;
mod forward_rules;
mod reverse;
mod rules;
mod transform;

pub use batch::{Randomness, vmap};
pub use forward::jvp;
pub use transform::{Vjp, value_and_grad, vjp};

use crate::device::Target;
use crate::parts::Part;
use aludel_ir::graph::InputKind;
use aludel_ir::rewrite::{Rewriter, emit};
use aludel_ir::{Attrs, Builder, Error, Graph, Node, Op, OpDef, Origin, Phase, Prim, Result, ShapeEnv, TensorType};
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
        attribute(&mut r, n, node);
        if node.op != Op::Grad {
            r.copy(node, &|op| upstream[n] && !has_derivative(op))?;
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

// New nodes come from a node; those of a checkpointed function are told from others by its number.
fn attribute(r: &mut Rewriter, n: usize, node: &Node) {
    r.attribute(n);
    if let Op::Function(f) = &node.op
        && f.checkpoint
    {
        r.b.origin.checkpoint = Some(n as u32);
    }
}

/// Whether differentiation takes a node as it is.
fn has_derivative(op: &Op) -> bool {
    match op {
        Op::Prim(_) | Op::Grad => true,
        Op::Call(def, _) => def.vjp.is_some(),
        Op::Function(f) => f.vjp.is_some(),
    }
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
    decompose_sharing(graph, true)
}

/// As [`decompose`], with the parts of the compiler that a target's programs are made by.
pub(crate) fn decompose_for(graph: &Graph, target: &Target) -> Result<Graph> {
    decompose_sharing(graph, target.parts.has(Part::Sharing))
}

fn decompose_sharing(graph: &Graph, share: bool) -> Result<Graph> {
    let mut r = Rewriter::new(graph);
    r.b.share = share;
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
    decompose_sharing(&inlined, share)
}

/// The backward of one operator as a graph of prims.
///
/// Its inputs are, in this order: the operator's inputs (`x0`, `x1`..), its results (`y0`..), and the gradient (`dy0`..) of
/// each result for which `grad_present` holds. Its outputs are the gradients of the inputs for which `needs` holds. Inputs
/// that turn out not to matter are there all the same, unused.
pub fn vjp_graph(op: &'static OpDef, attrs: &Attrs, input_types: &[TensorType], needs: &[bool], grad_present: &[bool]) -> Result<Graph> {
    vjp_graph_in(&ShapeEnv::default(), &Op::Call(op, attrs.clone()), input_types, needs, grad_present)
}

/// As [`vjp_graph`], for an operator or a function, and for types with size symbols of an environment. The result's environment has the
/// guards recorded on the way.
pub fn vjp_graph_in(env: &ShapeEnv, op: &Op, input_types: &[TensorType], needs: &[bool], grad_present: &[bool]) -> Result<Graph> {
    let mut b = Builder::new(format!("{}_vjp", op.name()));
    b.graph.env = env.clone();
    let arg = |b: &mut Builder, name: String, ty: &TensorType| b.graph.add_input(name, InputKind::Arg, ty.clone());
    let inputs: Vec<_> = input_types.iter().enumerate().map(|(i, t)| arg(&mut b, format!("x{i}"), t)).collect();
    let output_types = aludel_ir::verify::infer(op, input_types, &mut b.graph.env)?;
    if needs.len() != inputs.len() || grad_present.len() != output_types.len() {
        let text =
            format!("{} inputs and {} results, asked about {} and {}", inputs.len(), output_types.len(), needs.len(), grad_present.len());
        return Err(Error::invalid(op.name(), text, "say for each whether it takes part"));
    }
    let outputs: Vec<_> = output_types.iter().enumerate().map(|(i, t)| arg(&mut b, format!("y{i}"), t)).collect();
    let mut grads = Vec::new();
    for (i, ty) in output_types.iter().enumerate() {
        let present = grad_present[i] && ty.dtype.is_float();
        let g = grad_present[i].then(|| arg(&mut b, format!("dy{i}"), ty));
        grads.push(g.filter(|_| present));
    }
    b.origin = Origin { nodes: vec![0], phase: Phase::Backward, checkpoint: None };
    let found = if has_derivative(op) {
        let node = Node { op: op.clone(), inputs: inputs.clone(), outputs, origin: b.origin.clone(), location: None };
        let all = reverse::differentiate(&mut b, &node, &grads)?;
        if all.len() != inputs.len() {
            return Err(Error::verify(op.name(), "its derivative gives not one gradient for each input"));
        }
        all.into_iter().zip(&inputs).map(|(g, x)| g.map(|g| conform(&mut b, g, *x)).transpose()).collect::<Result<Vec<_>>>()?
    } else {
        let computed = emit(&mut b, op, &inputs, output_types, &|op| !has_derivative(op))?;
        let seeds: Vec<_> = computed.iter().zip(&grads).filter_map(|(y, g)| Some((*y, (*g)?))).collect();
        let found = gradients(&mut b, &seeds, &inputs)?;
        // The results are given: what the backward reads of them need not be computed again.
        let given = |v| computed.iter().position(|c| *c == v && !inputs.contains(&v)).map(|k| outputs[k]);
        for v in b.graph.nodes.iter_mut().flat_map(|n| &mut n.inputs) {
            *v = given(*v).unwrap_or(*v);
        }
        found.into_iter().map(|g| g.map(|g| given(g).unwrap_or(g))).collect()
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
