//! What templates of warpgroups share: which parts of memory bulk copies take as boxes of a tensor, and the ring that they fill.

use crate::schedule::emit::KernelBuilder;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Var, element_bytes};
use aludel_ir::loops::{BufferId, LoopProgram};
use aludel_ir::program::TensorMap;
use aludel_ir::{DType, ScalarOp};

/// Bytes of which every stride and the first place are multiples.
pub(in crate::schedule) const GROUP: i64 = 16;

/// A matrix in memory, one for each place of the other axes.
pub(in crate::schedule) struct Matrix<'a> {
    pub buffer: BufferId,
    pub dtype: DType,
    pub index: &'a Expr,
    /// The axis of neighbours, and that of rows.
    pub inner: AxisId,
    pub outer: AxisId,
    /// Axes along which the matrix may be another one.
    pub batch: &'a [AxisId],
}

impl Matrix<'_> {
    /// The map of which a copy takes boxes of these sizes along the inner and the outer axis, and the axes of the batch that are its
    /// further dimensions; `None` where memory does not lie so.
    pub fn map(&self, sizes: [u32; 2], program: &LoopProgram) -> Option<(TensorMap, Vec<AxisId>)> {
        let extent = |a: AxisId| program.extent(a).clone();
        let mut map = TensorMap {
            placement: self.buffer.0 as usize,
            offset: self.index.sub(&Expr::axis(self.inner)),
            dtype: self.dtype,
            extents: vec![extent(self.inner)],
            strides: vec![],
            sizes: vec![sizes[0]],
            windows: None,
        };
        // Whole groups, forwards.
        let bytes = element_bytes(self.dtype) as i64;
        let whole = |e: &Expr| e.terms().all(|(_, c)| c > 0 && c * bytes % GROUP == 0);
        let mut batch = Vec::new();
        for a in [self.outer].iter().chain(self.batch) {
            let stride = self.index.coefficient(*a)?;
            map.offset = map.offset.sub(&stride.mul(&Expr::axis(*a)));
            if stride.is_zero() && *a != self.outer {
                continue;
            }
            if !whole(&stride) || stride.is_zero() {
                return None;
            }
            map.extents.push(extent(*a));
            map.strides.push(stride);
            match *a == self.outer {
                true => map.sizes.push(sizes[1]),
                false => {
                    map.sizes.push(1);
                    batch.push(*a);
                }
            }
        }
        let aligned = map.offset.axes().is_empty() && whole(&map.offset);
        (aligned && map.sizes.len() <= 5).then_some((map, batch))
    }
}

/// Moves on by so many stages, at most all, of a ring of so many, given the registers that count stages and turns.
pub(in crate::schedule) fn turn_by(kb: &mut KernelBuilder, by: u32, stages: u32, (counter, parity): (Var, Var), stage: &KExpr) {
    let next = kb.int(k::add(stage.clone(), k::int(by as i64)));
    let last = stages as i64;
    let (wraps, first) = match by {
        1 => (equal(next.clone(), stages), k::int(0)),
        _ => (KExpr::Scalar(ScalarOp::Ge, vec![next.clone(), k::int(last)]), k::sub(next.clone(), k::int(last))),
    };
    let wraps = kb.bind(wraps, k::BOOL);
    let other = k::sub(k::int(1), KExpr::Var(parity));
    kb.stmt(Stmt::Assign(parity, k::select(wraps.clone(), other, KExpr::Var(parity))));
    kb.stmt(Stmt::Assign(counter, k::select(wraps, first, next)));
}

/// Moves on to the next stage.
pub(in crate::schedule) fn turn(kb: &mut KernelBuilder, stages: u32, counters: (Var, Var), stage: &KExpr) {
    turn_by(kb, 1, stages, counters, stage);
}

pub(in crate::schedule) fn equal(a: KExpr, b: u32) -> KExpr {
    KExpr::Scalar(ScalarOp::Eq, vec![a, k::int(b as i64)])
}
