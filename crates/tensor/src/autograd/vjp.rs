//! The derivative of one recorded operator: a program of its own, kept with the compiled operator.

use super::{Kept, Node, record_op};
use crate::device::Device;
use crate::dispatch::cache::Operator;
use crate::dispatch::on_tape;
use crate::tensor::Tensor;
use crate::{Mutex, lock, trace};
use aludel_ir::{Function, Graph, Op, Result, TensorType, ValueId};
use rustc_hash::FxHashSet;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

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
    derivative: Arc<Compiled>,
}

struct Compiled {
    program: Arc<Operator>,
    /// The same as a function, for second derivatives: made when one is asked for.
    function: OnceLock<Arc<Function>>,
}

/// Gradients of a node's operands for gradients of its results; with `create_graph` they are on the tape.
pub(crate) fn run(
    node: &Arc<Node>,
    grads: &[Option<Tensor>],
    create_graph: bool,
    at: &'static Location<'static>,
) -> Result<Vec<Option<Tensor>>> {
    let kept = node.kept();
    let Some(device) = kept.inputs.first().map(Tensor::device) else { return Ok(Vec::new()) };
    let present: Vec<bool> = grads.iter().map(Option::is_some).collect();
    let mut needs: Vec<bool> = kept.inputs.iter().map(|t| t.inner.grad.is_some()).collect();
    if let Op::Function(f) = &node.op
        && f.vjp.is_none()
        && !f.checkpoint
    {
        // The other results are of no use here: what only they are computed from has no gradient, not one of zeros.
        needs.iter_mut().zip(is_behind(&f.body, &present)).for_each(|(needs, behind)| *needs &= behind);
    }
    if !needs.contains(&true) {
        return Ok(vec![None; needs.len()]);
    }
    let given: Vec<&Tensor> = kept.inputs.iter().chain(&kept.outputs).chain(grads.iter().flatten()).collect();
    let results = match (&node.operator, &node.checkpoint) {
        (_, Some(checkpoint)) if !create_graph && !trace::is_active() => {
            let gradients: Vec<&Tensor> = grads.iter().flatten().collect();
            checkpoint.backward(&kept.inputs, &needs, &present, &gradients)?
        }
        (Some(op), _) if !trace::is_active() => {
            let known =
                lock(&op.derivatives.compiled).iter().find(|d| d.needs == needs && d.present == present).map(|d| d.derivative.clone());
            let derivative = match known {
                Some(d) => d,
                None => compile(device, &node.op, &kept, op, &needs, &present)?,
            };
            let results = derivative.program.run(device, &|i| given.get(i).copied())?;
            if create_graph {
                let function = derivative.function(|| graph(&node.op, &kept, &needs, &present))?;
                let inputs = operands(node, &kept, grads);
                record_again(function, inputs, results, Some(derivative.program.clone()))?
            } else {
                results
            }
        }
        _ => {
            let types: Vec<TensorType> = kept.inputs.iter().map(|t| t.ty().clone()).collect();
            let graph = trace::with(|t| t.derivative(&node.op, &types, &needs, &present))?;
            if create_graph {
                let mut graph = Arc::unwrap_or_clone(graph);
                let env = std::mem::take(&mut graph.env);
                let function = Arc::new(function(graph));
                let inputs = operands(node, &kept, grads);
                let results = trace::call_function(device, &function, &env, &inputs.iter().collect::<Vec<_>>(), true, at)?;
                record_again(function, inputs, results, None)?
            } else {
                trace::inline(device, &graph, &graph.env, &given, false, at)?
            }
        }
    };
    let mut results = results.into_iter();
    Ok(needs.iter().map(|needs| if *needs { results.next() } else { None }).collect())
}

// What a derivative that is differentiated again is called with: the node's operands, its results, which are on the tape too, and their
// gradients.
fn operands(node: &Arc<Node>, kept: &Kept, grads: &[Option<Tensor>]) -> Vec<Tensor> {
    let outputs = kept.outputs.iter().enumerate().map(|(k, t)| on_tape(t, node, k));
    kept.inputs.iter().cloned().chain(outputs).chain(grads.iter().flatten().cloned()).collect()
}

// It does not depend on what it does not read, the bias of a sum say. PyTorch has no gradient there; with one of zeros an optimizer would
// count a step and decay the parameter.
fn record_again(
    function: Arc<Function>,
    inputs: Vec<Tensor>,
    results: Vec<Tensor>,
    operator: Option<Arc<Operator>>,
) -> Result<Vec<Tensor>> {
    let body = &function.body;
    let inputs: Vec<Tensor> =
        inputs.into_iter().zip(&body.inputs).map(|(t, i)| if is_read(body, i.value) { t } else { t.detach() }).collect();
    if inputs.iter().all(|t| t.inner.grad.is_none()) {
        return Ok(results);
    }
    record_op(Op::Function(function), inputs, results, operator, None)
}

// Which inputs some of a graph's results are computed from.
fn is_behind(g: &Graph, results: &[bool]) -> Vec<bool> {
    let mut behind: FxHashSet<ValueId> = g.outputs.iter().zip(results).filter(|(_, r)| **r).map(|(o, _)| o.value).collect();
    for node in g.nodes.iter().rev() {
        if node.outputs.iter().any(|o| behind.contains(o)) {
            behind.extend(&node.inputs);
        }
    }
    g.inputs.iter().map(|i| behind.contains(&i.value)).collect()
}

fn is_read(g: &Graph, value: ValueId) -> bool {
    g.nodes.iter().any(|n| n.inputs.contains(&value)) || g.outputs.iter().any(|o| o.value == value)
}

impl Compiled {
    fn function(&self, graph: impl FnOnce() -> Result<Graph>) -> Result<Arc<Function>> {
        if let Some(known) = self.function.get() {
            return Ok(known.clone());
        }
        let function = Arc::new(function(graph()?));
        Ok(self.function.get_or_init(|| function).clone())
    }
}

fn function(body: Graph) -> Function {
    Function { name: body.name.clone(), body, vjp: None, jvp: None, checkpoint: false }
}

// Its operands are the node's operands, its results, and their gradients.
fn compile(device: &Device, op: &Op, kept: &Kept, operator: &Operator, needs: &[bool], present: &[bool]) -> Result<Arc<Compiled>> {
    let (program, known) = match operator.any.as_ref().and_then(|any| any.derivative(device, needs, present)) {
        Some(program) => (program, OnceLock::new()),
        None => {
            let graph = graph(op, kept, needs, present)?;
            let positions: Vec<usize> = (0..graph.inputs.len()).collect();
            (Operator::new(device, graph.clone(), &graph, &positions, operator.style)?, OnceLock::from(Arc::new(function(graph))))
        }
    };
    let compiled = Arc::new(Compiled { program: Arc::new(program), function: known });
    let derivative = Derivative { needs: needs.to_vec(), present: present.to_vec(), derivative: compiled.clone() };
    lock(&operator.derivatives.compiled).push(derivative);
    Ok(compiled)
}

fn graph(op: &Op, kept: &Kept, needs: &[bool], present: &[bool]) -> Result<Graph> {
    let types: Vec<TensorType> = kept.inputs.iter().map(|t| t.ty().clone()).collect();
    aludel_compiler::autodiff::vjp_graph_in(&trace::env(), op, &types, needs, present)
}

/// Lets go of the operands and results that the derivative does not read, so that their memory is free before the backward pass.
pub(crate) fn save_what_is_read(op: &Op, operator: Option<&Operator>, is_checkpoint: bool, kept: &mut Kept) -> Result<()> {
    if is_checkpoint {
        // Nothing but the operands.
        kept.outputs.iter_mut().for_each(|t| *t = t.without_value());
        return Ok(());
    }
    let Some(operator) = operator else { return Ok(()) };
    let needs: Vec<bool> = kept.inputs.iter().map(|t| t.inner.grad.is_some()).collect();
    let known = lock(&operator.derivatives.saved).iter().find(|(n, _)| *n == needs).map(|(_, s)| s.clone());
    let saved = match known {
        Some(s) => s,
        None => {
            let find = || -> Result<Arc<[bool]>> {
                // With a gradient for every result; fewer gradients read no more.
                let present: Vec<bool> = kept.outputs.iter().map(|t| t.dtype().is_float()).collect();
                let g = graph(op, kept, &needs, &present)?;
                Ok(g.inputs.iter().map(|i| is_read(&g, i.value)).collect())
            };
            let saved = match &operator.any {
                Some(any) => any.saved(&needs, &find)?,
                None => find()?,
            };
            lock(&operator.derivatives.saved).push((needs, saved.clone()));
            saved
        }
    };
    for (t, keep) in kept.inputs.iter_mut().chain(&mut kept.outputs).zip(saved.iter()) {
        if !keep {
            *t = t.without_value();
        }
    }
    Ok(())
}
