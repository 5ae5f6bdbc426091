//! Values that were written over in place after an operator kept them for its derivative: PyTorch's saved tensors and their versions.
//!
//! Values here are immutable, so the derivative of the old value would be right all the same. Scripts are held to PyTorch's rule because
//! the gradient that they would get is seldom the one they mean: the host of a language with in-place writes says what was written over.

use super::{Grad, Node};
use crate::device::fresh_id;
use crate::tensor::{Data, Tensor};
use aludel_ir::{DType, Error, Op, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What an error says of a value that a backward pass needs and that was written over in place: PyTorch's words.
pub const MODIFIED: &str = "one of the variables needed for gradient computation has been modified by an inplace operation";

/// That a value was written over, and when.
pub(crate) struct Overwritten {
    /// Operators recorded from here on read the value before it was written over: the write itself is one of them.
    since: u64,
    /// The version that it had, and the counter of its versions.
    expected: u64,
    version: Arc<AtomicU64>,
    /// The operator that the new value is a result of.
    by: Option<&'static str>,
}

/// A value that a backward pass needs and that was written over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modified {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The operator that it is a result of, where that is on the tape; of an operand, what it was written over with.
    pub by: Option<&'static str>,
    /// The operator whose derivative needs it, and which operand it is there.
    pub reader: (&'static str, Option<usize>),
    /// The number of writes that it has seen.
    pub version: u64,
    /// The number of writes that it had seen when it was kept.
    pub expected: u64,
}

/// A place in the order of recorded operators, for [`Tensor::overwritten`].
pub fn tape_position() -> u64 {
    fresh_id()
}

impl Tensor {
    /// Notes that an object with this value was written over in place by what was computed since a [`tape_position`]. `expected` is how
    /// often the object was written before, `version` counts on.
    pub fn overwritten(&self, new: &Tensor, since: u64, expected: u64, version: &Arc<AtomicU64>) {
        let note = || Box::new(Overwritten { since, expected, version: version.clone(), by: new.recorded_by().map(|(name, _)| name) });
        let _ = self.inner.overwritten.set(note());
        if let Some(Grad::Node(node, _)) = &self.inner.grad {
            let _ = node.overwritten.set(note());
        }
    }
}

/// Which operands, and whether the result, PyTorch's derivative of an operator keeps (derivatives.yaml). Of two factors each is kept for
/// the gradient of the other. What is not listed keeps nothing that a script can write over, or is not watched.
enum Keeps {
    Factors,
    Operands(&'static [usize]),
    Result,
}

fn keeps(name: &str) -> Option<Keeps> {
    Some(match name {
        "mul" | "matmul" | "mm" | "bmm" | "dot" | "mv" | "outer" | "linear" => Keeps::Factors,
        "exp" | "tanh" | "sigmoid" | "sqrt" | "rsqrt" | "reciprocal" | "softmax" | "log_softmax" | "relu" | "expm1" | "tan" => {
            Keeps::Result
        }
        "conv1d" | "conv2d" | "conv3d" | "layer_norm" | "div" | "mse_loss" | "atan2" => Keeps::Operands(&[0, 1]),
        "log" | "sin" | "cos" | "square" | "pow" | "abs" | "gelu" | "silu" | "softplus" | "leaky_relu" | "batch_norm" | "log1p"
        | "clamp" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "max_pool2d" | "avg_pool2d" | "mish" | "logsigmoid" | "hardtanh" => {
            Keeps::Operands(&[0])
        }
        _ => return None,
    })
}

/// The first value that an operator's derivative needs and that was written over.
fn find(node: &Node) -> Option<Modified> {
    let Op::Call(def, _) = &node.op else { return None };
    let keeps = keeps(def.name)?;
    let kept = node.kept();
    let describe = |t: &Tensor, at: Option<usize>, by: Option<&'static str>, o: &Overwritten| Modified {
        dtype: t.dtype(),
        shape: t.shape(),
        by,
        reader: (def.name, at),
        version: o.version.load(Ordering::Relaxed),
        expected: o.expected,
    };
    let operand = |i: usize| {
        let t = kept.inputs.get(i).filter(|t| !matches!(t.inner.data, Data::Freed))?;
        let o = t.inner.overwritten.get().filter(|o| o.since > node.seq)?;
        Some(describe(t, Some(i), o.by.or(t.recorded_by().map(|(name, _)| name)), o))
    };
    match keeps {
        Keeps::Factors => {
            let wanted = |i: usize| kept.inputs.get(i).is_some_and(|t| t.inner.grad.is_some());
            [0, 1].into_iter().filter(|i| wanted(1 - i)).find_map(operand)
        }
        Keeps::Operands(list) => list.iter().find_map(|i| operand(*i)),
        Keeps::Result => {
            let o = node.overwritten.get().filter(|o| o.since > node.seq)?;
            kept.outputs.first().map(|t| describe(t, None, Some(def.name), o))
        }
    }
}

/// What looks at each operator of a backward pass, where somebody asked for it: programs without in-place writes do not carry it.
static WATCH: OnceLock<fn(&Node) -> Result<()>> = OnceLock::new();

/// Has every backward pass of the program refuse values that were written over ([`Tensor::overwritten`]), and products that are gone
/// through twice, as PyTorch does: for hosts of languages with in-place writes.
pub fn watch_overwritten() {
    WATCH.get_or_init(|| refuse);
}

pub(super) fn check(node: &Node) -> Result<()> {
    WATCH.get().map_or(Ok(()), |refuse| refuse(node))
}

/// Refuses to go back through an operator whose values were written over, or let go of: also where the derivative here reads none.
fn refuse(node: &Node) -> Result<()> {
    if let Op::Call(def, _) = &node.op
        && matches!(def.name, "mul" | "div")
        && node.kept().freed
    {
        return Err(Error::op("backward", def.name, super::FREED, ""));
    }
    match find(node) {
        Some(_) => Err(Error::op("backward", "", MODIFIED, "")),
        None => Ok(()),
    }
}

/// What a [`MODIFIED`] error of a backward pass from `result` is about.
pub fn modified(result: &Tensor) -> Option<Modified> {
    let mut todo = std::collections::BTreeMap::new();
    if let Some(Grad::Node(n, _)) = &result.inner.grad {
        todo.insert(n.seq, n.clone());
    }
    while let Some((_, node)) = todo.pop_last() {
        if let Some(found) = find(&node) {
            return Some(found);
        }
        for t in &node.kept().inputs {
            if let Some(Grad::Node(n, _)) = &t.inner.grad {
                todo.insert(n.seq, n.clone());
            }
        }
    }
    None
}
