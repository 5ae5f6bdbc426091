//! Reverse-mode differentiation of eager operators: a tape of what ran, and the walk back over it.
//!
//! In a trace the same tape says which leaves a loss depends on; the graph then gets one `grad` node, which the compiler
//! differentiates ahead of time.

pub(crate) mod held;
pub(crate) mod modified;
pub(crate) mod vjp;
pub(crate) mod walk;

use crate::device::{Device, fresh_id};
use crate::dispatch::cache::Operator;
use crate::dispatch::{Operand, literal, on_tape};
use crate::func::Checkpoint;
use crate::tensor::Tensor;
use crate::{Mutex, lock, trace};
use aludel_ir::{Attrs, Error, Op, OpDef, Result, TensorType};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use walk::Walk;

/// How a tensor takes part in differentiation.
#[derive(Clone)]
pub(crate) enum Grad {
    /// A gradient is wanted for it.
    Leaf(Leaf),
    /// The given result of a recorded operator.
    Node(Arc<Node>, usize),
}

/// A value whose gradient is wanted.
#[derive(Clone)]
pub(crate) struct Leaf {
    /// Its name: all values of one name are this leaf.
    pub id: u64,
    /// What a [`held::HeldLeaf`] counts.
    pub held: Option<Arc<()>>,
}

/// A recorded operator or function.
pub(crate) struct Node {
    /// Later operators have larger numbers: the order of the walk back.
    pub seq: u64,
    pub op: Op,
    /// What the derivative may read; without values once [`free`] let go of them.
    kept: Mutex<Arc<Kept>>,
    /// The segment of a trace in which it was recorded; 0 outside.
    pub segment: u64,
    /// The compiled operator, which keeps its derivatives; `None` in a trace.
    pub operator: Option<Arc<Operator>>,
    /// For a checkpointed function: how it is run again.
    pub checkpoint: Option<Arc<Checkpoint>>,
    /// Set when its result was written over in place.
    pub overwritten: OnceLock<Box<modified::Overwritten>>,
}

/// Operands and results of a recorded operator.
#[derive(Default)]
pub(crate) struct Kept {
    /// Operands; numbers as scalar tensors.
    pub inputs: Vec<Tensor>,
    /// Results, not on the tape (else a node would own itself).
    pub outputs: Vec<Tensor>,
    /// Whether a backward pass let go of the values.
    pub freed: bool,
}

impl Node {
    pub fn kept(&self) -> Arc<Kept> {
        lock(&self.kept).clone()
    }

    fn take(&self) -> Vec<Tensor> {
        Arc::into_inner(std::mem::take(&mut *lock(&self.kept))).map_or_else(Vec::new, |kept| kept.inputs)
    }
}

impl Drop for Node {
    // A long chain of operators would otherwise be dropped by as deep a recursion.
    fn drop(&mut self) {
        let mut rest = self.take();
        while let Some(t) = rest.pop() {
            if let Some(mut inner) = Arc::into_inner(t.inner)
                && let Some(Grad::Node(node, _)) = inner.grad.take()
                && let Some(node) = Arc::into_inner(node)
            {
                rest.append(&mut node.take());
            }
        }
    }
}

/// Lets go of the values that the tape behind a tensor keeps for derivatives, as PyTorch does after a backward pass. Asking for them
/// again is an error that says [`FREED`].
pub fn free(result: &Tensor) {
    let mut todo: Vec<Arc<Node>> = match &result.inner.grad {
        Some(Grad::Node(node, _)) => vec![node.clone()],
        _ => Vec::new(),
    };
    while let Some(node) = todo.pop() {
        let kept = node.kept();
        if kept.freed {
            continue;
        }
        todo.extend(kept.inputs.iter().filter_map(|t| match &t.inner.grad {
            Some(Grad::Node(node, _)) => Some(node.clone()),
            _ => None,
        }));
        let without = |list: &[Tensor]| list.iter().map(Tensor::without_value).collect();
        *lock(&node.kept) = Arc::new(Kept { inputs: without(&kept.inputs), outputs: without(&kept.outputs), freed: true });
    }
}

/// What an error says of a value that a backward pass needs and an earlier one let go of: PyTorch's words.
pub const FREED: &str = "Trying to backward through the graph a second time (or directly access saved tensors after they have already \
                         been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). \
                         Specify retain_graph=True if you need to backward through the graph a second time or if you need to access \
                         saved tensors after calling backward.";

thread_local! {
    static GRAD_ENABLED: Cell<bool> = const { Cell::new(true) };
}

/// Whether operators on this thread are recorded for `backward()`.
pub fn is_grad_enabled() -> bool {
    GRAD_ENABLED.get()
}

/// Runs a closure without recording operators: for evaluation and for updates of parameters.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    with_grad_enabled(false, f)
}

/// Runs a closure with recording, also within [`no_grad`].
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    with_grad_enabled(true, f)
}

/// Turns recording on or off on this thread until it is turned again; gives what it was. For hosts of other languages, whose scopes are
/// not closures.
pub fn set_grad_enabled(enabled: bool) -> bool {
    GRAD_ENABLED.replace(enabled)
}

fn with_grad_enabled<R>(enabled: bool, f: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            GRAD_ENABLED.set(self.0);
        }
    }
    let _restore = Restore(GRAD_ENABLED.replace(enabled));
    f()
}

/// Writes an operator on the tape; gives its results with their place on it.
pub(crate) fn record(
    device: &Device,
    def: &'static OpDef,
    attrs: Attrs,
    operands: &[Operand],
    outputs: Vec<Tensor>,
    operator: Option<Arc<Operator>>,
) -> Result<Vec<Tensor>> {
    let inputs = operands
        .iter()
        .map(|o| match o {
            Operand::Tensor(t) => (*t).clone(),
            number => {
                let l = literal(operands, number);
                Tensor::host(device, TensorType::scalar(l.dtype), aludel_runtime::encode(&[l.value()], l.dtype))
            }
        })
        .collect();
    record_op(Op::Call(def, attrs), inputs, outputs, operator, None)
}

/// As [`record`], for any node with its operands as tensors.
pub(crate) fn record_op(
    op: Op,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    operator: Option<Arc<Operator>>,
    checkpoint: Option<Arc<Checkpoint>>,
) -> Result<Vec<Tensor>> {
    let segment = trace::segment();
    let mut kept = Kept { inputs, outputs: outputs.clone(), freed: false };
    vjp::save_what_is_read(&op, operator.as_deref(), checkpoint.is_some(), &mut kept)?;
    let node = Arc::new(Node {
        seq: fresh_id(),
        op,
        kept: Mutex::new(Arc::new(kept)),
        segment,
        operator,
        checkpoint,
        overwritten: OnceLock::new(),
    });
    Ok(outputs.iter().enumerate().map(|(i, t)| on_tape(t, &node, i)).collect())
}

/// Gradients by the tensor that they are of.
#[derive(Clone, Default)]
pub struct Gradients {
    by_leaf: FxHashMap<u64, usize>,
    /// In the order in which the walk back came upon the leaves.
    list: Vec<Tensor>,
}

impl Gradients {
    /// The gradient of a leaf.
    ///
    /// # Errors
    ///
    /// When the tensor does not require a gradient, or the loss does not depend on this very value.
    pub fn get(&self, leaf: &Tensor) -> Result<&Tensor> {
        self.find(leaf).ok_or_else(|| {
            let (problem, remedy) = match leaf.inner.grad {
                None => ("the tensor does not require a gradient", "call requires_grad() on it before it is used"),
                Some(_) => ("the loss does not depend on the tensor", "check that the forward pass uses it, and uses this very value"),
            };
            Error::op("gradient", leaf.to_string(), problem, remedy)
        })
    }

    /// The gradient of a leaf, where the loss depends on it.
    pub fn find(&self, leaf: &Tensor) -> Option<&Tensor> {
        self.by_leaf.get(&leaf.leaf_id()?).and_then(|i| self.list.get(*i))
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All gradients with the numbers of their leaves ([`Tensor::leaf_id`]).
    pub fn by_leaf(&self) -> impl Iterator<Item = (u64, &Tensor)> {
        self.by_leaf.iter().filter_map(|(id, i)| Some((*id, self.list.get(*i)?)))
    }

    /// All gradients, in an order that depends on the loss alone.
    pub fn iter(&self) -> impl Iterator<Item = &Tensor> {
        self.list.iter()
    }

    /// Other gradients for the same leaves, in the order of [`Gradients::iter`]: for clipping and scaling.
    ///
    /// # Errors
    ///
    /// When there are not as many as before, or one has another type or shape; the old ones stay then.
    pub fn replace(&mut self, gradients: Vec<Tensor>) -> Result<()> {
        if gradients.len() != self.list.len() || gradients.iter().zip(&self.list).any(|(new, old)| new.ty() != old.ty()) {
            return Err(Error::invalid("gradients", "the new gradients do not match the old ones", "keep number, order, type and shape"));
        }
        self.list = gradients;
        Ok(())
    }

    pub(crate) fn insert(&mut self, leaf: u64, gradient: Tensor) {
        self.by_leaf.insert(leaf, self.list.len());
        self.list.push(gradient);
    }
}

impl Tensor {
    /// The gradient of this scalar for every leaf that it depends on. The tape stays: a second call gives the same.
    ///
    /// # Errors
    ///
    /// When the tensor has more than one element or depends on nothing that requires a gradient, an operator on the way has no derivative,
    /// or one of the backward pass's fails, as [every operator](crate#when-an-operator-fails) may.
    #[track_caller]
    pub fn backward(&self) -> Result<Gradients> {
        let at = Location::caller();
        let fail = |problem: &str, remedy: &str| Err(Error::op("backward", self.to_string(), problem, remedy));
        if !self.dims().iter().all(aludel_ir::Dim::is_one) {
            return fail("only a scalar has a gradient", "reduce it with sum() or mean()");
        }
        let Some(grad) = &self.inner.grad else {
            return fail(
                "the tensor does not depend on anything that requires a gradient",
                "call requires_grad() on the parameters; a result of a compiled function carries no tape, so call backward() within",
            );
        };
        if trace::is_active() {
            let reached = reach(grad)?;
            if reached.whole && reached.segments.iter().all(|s| *s == trace::segment()) {
                return trace::grad(self, &reached.leaves, at);
            }
        }
        let mut walk = Walk::new(&[], false);
        walk.begin(self, self.detach().ones_like()?)?;
        Ok(walk.through()?.1)
    }

    /// As [`Tensor::backward`], of a tensor of any shape whose own gradient is given, in its shape.
    ///
    /// # Errors
    ///
    /// When the gradient has another shape, the tensor depends on nothing that requires a gradient, an operator on the way has no
    /// derivative, or one of the backward pass's fails.
    #[track_caller]
    pub fn backward_from(&self, gradient: &Tensor) -> Result<Gradients> {
        if trace::is_active() && !self.is_leaf() && self.is_requires_grad() && gradient.dims() == self.dims() {
            // The compiler differentiates scalars.
            return enable_grad(|| self.mul(&gradient.detach())?.sum(())?.backward());
        }
        let mut walk = Walk::new(&[], false);
        walk.begin(self, gradient.clone())?;
        Ok(walk.through()?.1)
    }
}

/// The gradient of a loss for each of some tensors: leaves of its tape, or results on it. `None` where the loss does not depend on one.
/// With `create_graph` the gradients are on the tape themselves, to be differentiated again.
///
/// # Errors
///
/// When an operator on the way has no derivative, or one of the backward pass's fails.
#[track_caller]
pub fn gradients(loss: &Tensor, wrt: &[Tensor], create_graph: bool) -> Result<Vec<Option<Tensor>>> {
    if loss.inner.grad.is_none() {
        return Ok(vec![None; wrt.len()]);
    }
    let mut walk = Walk::new(wrt, create_graph);
    walk.begin(loss, loss.detach().ones_like()?)?;
    Ok(walk.through()?.0)
}

/// What a value depends on.
struct Reached {
    leaves: Vec<(u64, Tensor)>,
    segments: Vec<u64>,
    /// Whether every value on the way is kept, and no leaf changed on the way.
    whole: bool,
}

// Leaves in the order of the walk back: latest operators first, operands in order.
fn reach(grad: &Grad) -> Result<Reached> {
    let mut out = Reached { leaves: Vec::new(), segments: Vec::new(), whole: true };
    let mut seen: FxHashMap<u64, usize> = FxHashMap::default();
    let mut todo: BTreeMap<u64, Arc<Node>> = BTreeMap::new();
    if let Grad::Node(n, _) = grad {
        todo.insert(n.seq, n.clone());
    }
    while let Some((_, node)) = todo.pop_last() {
        if !out.segments.contains(&node.segment) {
            out.segments.push(node.segment);
        }
        modified::check(&node)?;
        let kept = node.kept();
        out.whole &= !kept.freed;
        for t in &kept.inputs {
            match &t.inner.grad {
                Some(Grad::Leaf(Leaf { id, .. })) => match seen.get(id) {
                    Some(i) => out.whole &= trace::same_value(&out.leaves[*i].1, t),
                    None => {
                        seen.insert(*id, out.leaves.len());
                        out.leaves.push((*id, t.clone()));
                    }
                },
                Some(Grad::Node(n, _)) => {
                    todo.insert(n.seq, n.clone());
                }
                _ => {}
            }
        }
    }
    Ok(out)
}
