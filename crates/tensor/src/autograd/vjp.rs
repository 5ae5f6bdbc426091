//! The derivative of one recorded operator: a program of its own, kept with the compiled operator.

use super::Node;
use crate::device::Device;
use crate::dispatch::cache::Operator;
use crate::tensor::Tensor;
use crate::{Mutex, lock, trace};
use aludel_ir::{Graph, Result, TensorType};
use std::panic::Location;
use std::sync::Arc;

/// The derivatives of a compiled operator.
#[derive(Default)]
pub(crate) struct Derivatives {
    compiled: Mutex<Vec<Derivative>>,
    saved: Mutex<Vec<(Vec<bool>, Arc<[bool]>)>>,
}

struct Derivative {
    /// Which operands want a gradient.
    needs: Vec<bool>,
    /// Which results have one.
    present: Vec<bool>,
    program: Arc<Operator>,
}

/// Gradients of a node's operands for gradients of its results.
pub(crate) fn run(node: &Node, grads: &[Option<Tensor>], at: &'static Location<'static>) -> Result<Vec<Option<Tensor>>> {
    let Some(device) = node.inputs.first().map(Tensor::device) else { return Ok(Vec::new()) };
    let needs: Vec<bool> = node.inputs.iter().map(|t| t.inner.grad.is_some()).collect();
    let present: Vec<bool> = grads.iter().map(Option::is_some).collect();
    let given: Vec<&Tensor> = node.inputs.iter().chain(&node.outputs).chain(grads.iter().flatten()).collect();
    let results = match &node.operator {
        Some(op) if !trace::is_active() => {
            let known = lock(&op.derivatives.compiled).iter().find(|d| d.needs == needs && d.present == present).map(|d| d.program.clone());
            let program = match known {
                Some(p) => p,
                None => compile(device, node, op, &needs, &present)?,
            };
            program.run(device, &|i| given.get(i).copied())?
        }
        _ => trace::inline(device, &graph(node, &needs, &present)?, &given, at)?,
    };
    let mut results = results.into_iter();
    Ok(needs.iter().map(|needs| if *needs { results.next() } else { None }).collect())
}

// Its operands are the node's operands, its results, and their gradients.
fn compile(device: &Device, node: &Node, op: &Operator, needs: &[bool], present: &[bool]) -> Result<Arc<Operator>> {
    let graph = graph(node, needs, present)?;
    let positions: Vec<usize> = (0..graph.inputs.len()).collect();
    let program = Arc::new(Operator::new(device, graph.clone(), &graph, &positions)?);
    let derivative = Derivative { needs: needs.to_vec(), present: present.to_vec(), program: program.clone() };
    lock(&op.derivatives.compiled).push(derivative);
    Ok(program)
}

fn graph(node: &Node, needs: &[bool], present: &[bool]) -> Result<Graph> {
    let types: Vec<TensorType> = node.inputs.iter().map(|t| t.ty().clone()).collect();
    aludel_compiler::autodiff::vjp_graph_in(&trace::env(), node.def, &node.attrs, &types, needs, present)
}

/// Lets go of the operands and results that the derivative does not read, so that their memory is free before the backward pass.
pub(crate) fn save_what_is_read(node: &mut Node) -> Result<()> {
    let Some(op) = node.operator.clone() else { return Ok(()) };
    let needs: Vec<bool> = node.inputs.iter().map(|t| t.inner.grad.is_some()).collect();
    let known = lock(&op.derivatives.saved).iter().find(|(n, _)| *n == needs).map(|(_, s)| s.clone());
    let saved = match known {
        Some(s) => s,
        None => {
            // With a gradient for every result; fewer gradients read no more.
            let present: Vec<bool> = node.outputs.iter().map(|t| t.dtype().is_float()).collect();
            let g = graph(node, &needs, &present)?;
            let read = |v| g.nodes.iter().any(|n| n.inputs.contains(&v)) || g.outputs.iter().any(|o| o.value == v);
            let saved: Arc<[bool]> = g.inputs.iter().map(|i| read(i.value)).collect();
            lock(&op.derivatives.saved).push((needs, saved.clone()));
            saved
        }
    };
    for (t, keep) in node.inputs.iter_mut().chain(&mut node.outputs).zip(saved.iter()) {
        if !keep {
            *t = t.without_value();
        }
    }
    Ok(())
}
