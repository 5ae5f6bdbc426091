//! Axes that some accesses step through as if they were one.
//!
//! Collapsing joins axes that *every* access of a nest steps through as one. The windows of a convolution keep its axes apart, while
//! its weights and its results do not care: here the accesses of one role get a joined axis, the others keep theirs.

use crate::device::Target;
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::Result;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, ScalarOp};

/// The axes of a side of a contraction as some accesses see them: the outer ones, and the last, which may stand for several.
pub(super) struct Side {
    pub outer: Vec<AxisId>,
    pub last: AxisId,
}

impl Side {
    /// Joins as many trailing axes as the loads among `values`, and the stores where asked, step through as one.
    pub fn merge(program: &mut LoopProgram, nest: &mut Nest, axes: &[AxisId], values: &[ValId], stores: bool) -> Side {
        let Some((last, outer)) = axes.split_last() else {
            // No axis is one of a single turn.
            return Side { outer: Vec::new(), last: program.new_axis(Expr::ONE) };
        };
        for first in 0..outer.len() {
            let joined = program.new_axis(program.volume(&axes[first..]));
            let mut out = nest.clone();
            let mut fits = true;
            let mut join = |e: &mut Expr| match replace(program, e, &axes[first..], joined) {
                Some(new) => *e = new,
                None => fits = false,
            };
            for v in values {
                match &mut out.ops[v.0 as usize].0 {
                    LoopOp::Load { index, .. } => index.iter_mut().for_each(&mut join),
                    LoopOp::Index(e) => join(e),
                    _ => {}
                }
            }
            if stores {
                out.stores.iter_mut().flat_map(|s| &mut s.index).for_each(&mut join);
            }
            if fits {
                *nest = out;
                return Side { outer: axes[..first].to_vec(), last: joined };
            }
            program.axes.pop();
        }
        Side { outer: outer.to_vec(), last: *last }
    }

    pub fn axes(&self) -> Vec<AxisId> {
        self.outer.iter().chain([&self.last]).copied().collect()
    }

    /// Sets the outer axes for the places from `start` on, where `each` of them surely have the same ones; gives the place of the first
    /// on the last axis.
    pub fn starts(&self, kb: &mut KernelBuilder, em: &mut Emitter, program: &LoopProgram, start: &KExpr, each: i64) -> Option<KExpr> {
        if self.outer.is_empty() {
            return Some(start.clone());
        }
        let run = program.extent(self.last).as_const().filter(|r| r % each == 0)?;
        Some(self.place(kb, em, program, start, run))
    }

    fn place(&self, kb: &mut KernelBuilder, em: &mut Emitter, program: &LoopProgram, start: &KExpr, run: i64) -> KExpr {
        let outer = kb.int(k::div(start.clone(), k::int(run)));
        kb.unflatten(outer, &self.outer, program, &mut em.axes);
        kb.int(k::rem(start.clone(), k::int(run)))
    }

    /// Calls `body` for the `count` places from `first` on (at most `most` of them), with the outer axes set and with a range of the
    /// places in which they stay so; it is given how to set the last axis for a place. The body is emitted once.
    pub fn stretches(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        program: &LoopProgram,
        (first, count, most): (KExpr, KExpr, i64),
        body: impl FnOnce(&mut KernelBuilder, &mut Emitter, &dyn Fn(&mut KernelBuilder, &mut Emitter, &KExpr), (KExpr, KExpr)) -> Result<()>,
    ) -> Result<()> {
        let whole = (k::int(0), count.clone());
        if let Some(start) = self.starts(kb, em, program, &first, most) {
            let at = |_: &mut KernelBuilder, em: &mut Emitter, r: &KExpr| drop(em.axes.insert(self.last, k::add(start.clone(), r.clone())));
            return body(kb, em, &at, whole);
        }
        let Some(run) = program.extent(self.last).as_const().filter(|r| *r >= most) else {
            let at = |kb: &mut KernelBuilder, em: &mut Emitter, r: &KExpr| {
                kb.unflatten(k::add(first.clone(), r.clone()), &self.axes(), program, &mut em.axes);
            };
            return body(kb, em, &at, whole);
        };
        // Two stretches at most: to the end of the last axis, and from its start.
        let left = k::sub(k::int(run), k::rem(first.clone(), k::int(run)));
        let split = kb.int(k::bin(ScalarOp::Min, count.clone(), left));
        super::loops::each(kb, em, (k::int(0), k::int(2)), |kb, em, half| {
            let low = kb.int(k::mul(half.clone(), split.clone()));
            let high = kb.int(k::add(split.clone(), k::mul(half, k::sub(count, split))));
            let here = kb.int(k::add(first, low.clone()));
            let start = self.place(kb, em, program, &here, run);
            let start = kb.int(k::sub(start, low.clone()));
            let at = |_: &mut KernelBuilder, em: &mut Emitter, r: &KExpr| drop(em.axes.insert(self.last, k::add(start.clone(), r.clone())));
            body(kb, em, &at, (low, high))
        })
    }
}

/// A last axis of fewer elements is joined with others, to about so many, and not to fewer than fill a vector. Of vectors of four, short
/// axes fill some: the fewer are joined, the more is the same for all of a loop.
const SHORT: i64 = 12;
/// The same where functions are computed.
const COSTLY: i64 = 32;
const LONG: i64 = 48;
const LEAST: i64 = 16;
const FOURS: (i64, i64) = (16, 8);

/// Trailing axes of a nest that became one.
pub(super) struct Long {
    inner: Vec<AxisId>,
}

impl Long {
    /// Joins the nest's last axes until a loop over them fills vectors, where the last alone does not. Accesses that step through them
    /// as one are given the joined axis, the others keep theirs.
    pub fn join(program: &mut LoopProgram, nest: &mut Nest, target: &Target) -> Option<Long> {
        let fours = target.vector_lanes <= 4;
        let (long, least) = if fours { FOURS } else { (LONG, LEAST) };
        let extent = |a: &AxisId| program.extent(*a).as_const();
        let mut first = nest.axes.len().checked_sub(1)?;
        let function = |(op, _): &(LoopOp, DType)| matches!(op, LoopOp::Scalar(f, _) if f.is_function());
        // What is left of a vector is computed element by element: of functions that takes longer than to divide the joined axis.
        let short = if !fours && nest.ops.iter().any(function) { COSTLY } else { SHORT };
        let fills = |e: i64| if fours { e % 4 == 0 } else { e >= SHORT && e % (LEAST / 2) == 0 };
        let mut length = extent(&nest.axes[first]).filter(|e| *e < short && !fills(*e))?;
        while first > 0
            && length < long
            && let Some(e) = extent(&nest.axes[first - 1])
        {
            length = length.checked_mul(e)?;
            first -= 1;
        }
        if length < least {
            return None;
        }
        let inner = nest.axes.split_off(first);
        let joined = program.new_axis(Expr::Const(length));
        nest.axes.push(joined);
        let join = |e: &mut Expr| {
            if let Some(new) = replace(program, e, &inner, joined) {
                *e = new;
            }
        };
        for (op, _) in &mut nest.ops {
            if let LoopOp::Load { index, .. } = op {
                index.iter_mut().for_each(join);
            }
        }
        nest.stores.iter_mut().flat_map(|s| &mut s.index).for_each(join);
        Some(Long { inner })
    }

    /// The axes that vary in a loop over the nest's last axis.
    pub fn vary(long: &Option<Long>, last: AxisId) -> Vec<AxisId> {
        long.iter().flat_map(|l| l.inner.iter().copied()).chain([last]).collect()
    }

    /// Sets the last axis, and those that it was joined from.
    pub fn set(long: &Option<Long>, kb: &mut KernelBuilder, em: &mut Emitter, last: AxisId, at: KExpr) {
        if let Some(l) = long {
            kb.unflatten(at.clone(), &l.inner, em.program, &mut em.axes);
        }
        em.axes.insert(last, at);
    }
}

/// An index in terms of one axis instead of several that it steps through as one; itself where it has none of them.
fn replace(program: &LoopProgram, e: &Expr, axes: &[AxisId], joined: AxisId) -> Option<Expr> {
    let mut out = e.clone();
    let mut stride = e.coefficient(*axes.last()?)?;
    let step = stride.clone();
    for (i, a) in axes.iter().enumerate().rev() {
        if e.coefficient(*a)? != stride {
            return None;
        }
        out = out.sub(&stride.mul(&Expr::axis(*a)));
        stride = stride.mul(program.extent(axes[i]));
    }
    Some(out.add(&step.mul(&Expr::axis(joined))))
}
