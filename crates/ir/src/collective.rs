//! Collectives: what the ranks of a group compute together.
//!
//! Every rank runs the same graph on data of its own (SPMD). Where a graph comes to a collective, each rank of the group gives its operand
//! and gets its result; a collective is therefore a *meeting*: all ranks run the same ones in the same order. The same text stands in the
//! three IRs:
//!
//! 1. *Graph*: the operators `all_reduce`, `all_gather`, `reduce_scatter`, `broadcast` and `all_to_all` (`ops/collective.rs`) decompose to
//!    [`Prim::Collective`](crate::Prim::Collective), along the first dimension, which is how ranks' parts lie one after another in memory.
//!    In a group of one rank they are the identity and leave nothing.
//! 2. *Loop*: a nest without operations that hands one buffer to the group and receives another ([`Exchange`]).
//! 3. *Program*: a launch that is no kernel (`program::Launch::exchange`): executors give it to the engine that the group was made with.
//!
//! The whole flow, as the reference does it, is [`Collective::results`]: all operands to all results. Sums are taken in the order of
//! the ranks, whoever comes first, so that a result does not depend on time.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::interp::{HostTensor, combine_pair};
use crate::loops::BufferId;
use crate::prim::ReduceOp;

/// A program in a browser is alone: nothing makes a collective there, and its bundle has none of the code for them.
pub const IN_BROWSER: bool = cfg!(target_arch = "wasm32");

/// The ranks that take part, by name and number. The number is part of every shape that a collective gives.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Group {
    pub name: String,
    /// How many ranks; at least one.
    pub ranks: u32,
}

/// The most ranks that a group may have.
pub const MAX_RANKS: i64 = 1 << 16;

/// What the ranks do. PyTorch's names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CollectiveOp {
    /// Everybody gets the combination of all operands.
    AllReduce(ReduceOp),
    /// Everybody gets all operands, one after another along the first dimension.
    AllGather {
        /// The result is not kept for the backward pass but gathered again there: `reshard_after_forward` of PyTorch's `fully_shard`.
        release: bool,
    },
    /// Rank r gets the r-th part, along the first dimension, of the combination of all operands.
    ReduceScatter(ReduceOp),
    /// Everybody gets the operand of one rank.
    Broadcast { root: u32 },
    /// Rank r gets the r-th part of every operand, one after another.
    AllToAll,
}

impl CollectiveOp {
    pub fn name(self) -> &'static str {
        match self {
            CollectiveOp::AllReduce(_) => "all_reduce",
            CollectiveOp::AllGather { .. } => "all_gather",
            CollectiveOp::ReduceScatter(_) => "reduce_scatter",
            CollectiveOp::Broadcast { .. } => "broadcast",
            CollectiveOp::AllToAll => "all_to_all",
        }
    }

    /// How operands are combined, where they are.
    pub fn reduction(self) -> Option<ReduceOp> {
        match self {
            CollectiveOp::AllReduce(op) | CollectiveOp::ReduceScatter(op) => Some(op),
            _ => None,
        }
    }

    /// Whether the first dimension is divided among the ranks.
    pub fn divides(self) -> bool {
        matches!(self, CollectiveOp::ReduceScatter(_) | CollectiveOp::AllToAll)
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Collective {
    pub op: CollectiveOp,
    pub group: Group,
}

/// A collective of buffers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Exchange {
    pub collective: Collective,
    pub from: BufferId,
    pub to: BufferId,
}

/// Who runs the collectives of a graph that is interpreted: the place of one rank among the others.
pub trait Exchanger {
    /// The result of this rank, once all ranks have come.
    ///
    /// # Errors
    ///
    /// A group that is not known, ranks that disagree, are missing or have ended: see [`Error::Collective`].
    fn exchange(&self, collective: &Collective, operand: &HostTensor) -> Result<HostTensor>;
}

/// Combines numbers of a type, the first with the second, and so on, and rounds once.
pub fn combine(op: ReduceOp, dtype: DType, mut values: impl Iterator<Item = f64>) -> f64 {
    let first = values.next().unwrap_or(op.identity(dtype));
    // f32 as every engine adds them, one after another; narrower ones round once, at the end.
    let single = |v: f64| if dtype.is_float() { v as f32 as f64 } else { dtype.round(v) };
    let merged = values.fold(first, |a, b| single(combine_pair(op, a, b)));
    dtype.round(merged)
}

impl Collective {
    fn fail(&self, problem: String, remedy: &str) -> Error {
        Error::op(self.op.name(), format!("group {}", self.group.name), problem, remedy)
    }

    /// What the elements of a result are of an operand of so many, where they divide.
    ///
    /// # Errors
    ///
    /// Elements that the ranks do not divide.
    pub fn result_len(&self, operand: usize) -> Result<usize> {
        let n = self.group.ranks as usize;
        match self.op {
            CollectiveOp::AllReduce(_) | CollectiveOp::Broadcast { .. } => Ok(operand),
            CollectiveOp::AllGather { .. } => Ok(operand * n),
            op if operand.is_multiple_of(n) => Ok(if op == CollectiveOp::AllToAll { operand } else { operand / n }),
            _ => Err(self.fail(format!("{operand} elements for {n} ranks"), "give each rank as many")),
        }
    }

    /// Rank `rank`'s result, of all ranks' operands, in the order of the ranks: what a collective *is*.
    ///
    /// # Errors
    ///
    /// As many operands as ranks are wanted, all of one length, which the ranks divide where they divide it.
    pub fn result(&self, rank: usize, dtype: DType, operands: &[&[f64]]) -> Result<Vec<f64>> {
        let (n, len) = (self.group.ranks as usize, operands.first().map_or(0, |x| x.len()));
        if operands.len() != n || operands.iter().any(|x| x.len() != len) || rank >= n {
            return Err(self.fail(format!("{} operands for {n} ranks, or of several lengths", operands.len()), "give one of each rank"));
        }
        let all = self.result_len(len)?;
        let sum = |op, i: usize| combine(op, dtype, operands.iter().map(|x| x[i]));
        Ok(match self.op {
            CollectiveOp::AllReduce(op) => (0..len).map(|i| sum(op, i)).collect(),
            CollectiveOp::ReduceScatter(op) => (rank * all..(rank + 1) * all).map(|i| sum(op, i)).collect(),
            CollectiveOp::AllGather { .. } => operands.concat(),
            CollectiveOp::Broadcast { root } => operands.get(root as usize).map_or_else(Vec::new, |x| x.to_vec()),
            CollectiveOp::AllToAll => {
                let part = len / n;
                operands.iter().flat_map(|x| &x[rank * part..(rank + 1) * part]).copied().collect()
            }
        })
    }

    /// All ranks' results, of all ranks' operands.
    ///
    /// # Errors
    ///
    /// As [`Collective::result`].
    pub fn results(&self, dtype: DType, operands: &[&[f64]]) -> Result<Vec<Vec<f64>>> {
        (0..operands.len()).map(|rank| self.result(rank, dtype, operands)).collect()
    }
}
