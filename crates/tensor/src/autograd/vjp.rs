//! The derivative of one recorded operator: a program of its own, cached by the operator's signature.

use super::Node;
use crate::device::Device;
use crate::dispatch::cache::Operator;
use crate::tensor::Tensor;
use crate::{lock, trace};
use aludel_ir::{Attrs, Graph, Result, TensorType};
use std::panic::Location;
use std::sync::Arc;

/// What a derivative is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    op: &'static str,
    attrs: Attrs,
    inputs: Vec<TensorType>,
    /// Which operands want a gradient.
    needs: Vec<bool>,
    /// Which results have one.
    present: Vec<bool>,
}

/// Gradients of a node's operands for gradients of its results.
pub(crate) fn run(node: &Node, grads: &[Option<Tensor>], at: &'static Location<'static>) -> Result<Vec<Option<Tensor>>> {
    let Some(device) = node.inputs.first().map(|t| t.device().clone()) else { return Ok(Vec::new()) };
    let key = Key {
        op: node.def.name,
        attrs: node.attrs.clone(),
        inputs: node.inputs.iter().map(|t| t.ty().clone()).collect(),
        needs: node.inputs.iter().map(|t| t.inner.grad.is_some()).collect(),
        present: grads.iter().map(Option::is_some).collect(),
    };
    let given: Vec<&Tensor> = node.inputs.iter().chain(&node.outputs).chain(grads.iter().flatten()).collect();
    let results = if trace::is_active() {
        trace::inline(&device, &graph(node, &key)?, &given, at)?
    } else {
        derivative(&device, node, &key)?.run(&device, &|i| given.get(i).copied())?
    };
    let mut results = results.into_iter();
    Ok(key.needs.iter().map(|needs| if *needs { results.next() } else { None }).collect())
}

// The program, from the cache if it was made before. Its operands are the node's operands, its results, and their gradients.
fn derivative(device: &Device, node: &Node, key: &Key) -> Result<Arc<Operator>> {
    let cache = &device.operators().derivatives;
    if let Some(d) = lock(cache).get(key) {
        return Ok(d.clone());
    }
    let graph = graph(node, key)?;
    let positions: Vec<usize> = (0..graph.inputs.len()).collect();
    let d = Arc::new(Operator::new(device, graph.clone(), &graph, &positions)?);
    lock(cache).insert(key.clone(), d.clone());
    Ok(d)
}

fn graph(node: &Node, key: &Key) -> Result<Graph> {
    aludel_compiler::autodiff::vjp_graph(node.def, &node.attrs, &key.inputs, &key.needs, &key.present)
}
