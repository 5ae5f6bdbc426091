//! Parts of buffers as buffers: a nest that touches only the rows of a tensor from `t` on says so by its offset, and so does one for a CPU that
//! touches only some of the columns.
//!
//! The steps of an unrolled loop differ in which part of a sequence they read and write, and what joins tensors in where each of them goes,
//! by a constant in their indices. Moved into the buffer's offset, a launch parameter, they are one kernel.

use super::Scheduled;
use crate::device::Target;
use aludel_ir::DType;
use aludel_ir::expr::Expr;
use aludel_ir::loops::{Buffer, BufferId, LoopOp, LoopProgram, Nest};
use aludel_ir::order::Order;

/// Elements of 16 bits that fill the widest access of a thread, 16 bytes.
const WIDEST: i64 = 8;

/// Of how many elements a part's start is a multiple. CPUs load vectors from anywhere, but offsets count words.
fn alignment(dtype: DType, target: &Target) -> i64 {
    match target.element_bytes(dtype) {
        _ if target.has_workgroups() => WIDEST,
        2 => 2,
        _ => 1,
    }
}

/// The nest with such constants taken out of its indices, and for each buffer that it now touches under another name: that name, the
/// buffer, and where the part begins, in elements. The names are buffers of `table`.
pub(super) fn rebase(table: &mut LoopProgram, nest: &Nest, target: &Target) -> (Nest, Vec<(BufferId, BufferId, i64)>) {
    let mut parts = Vec::new();
    let mut touched = nest.reads();
    touched.extend(nest.writes());
    touched.order();
    touched.dedup();
    for b in touched {
        let Some((mut corner, last)) = corner(table, nest, b) else { continue };
        let Buffer { name, dtype, mut shape, kind } = table.buffer(b).clone();
        let align = alignment(dtype, target);
        let start = |corner: &[i64]| start(corner, &shape).filter(|s| s % align == 0);
        // GPUs read several neighbours at once from the beginning of a row, so rows stay whole.
        if target.has_workgroups() || start(&corner).is_none() {
            corner[1..].fill(0);
        }
        // The last row up to the first that is touched where a part may begin.
        let first = corner[0];
        let Some(start) = (0..align.min(first).max(1)).find_map(|back| {
            corner[0] = first - back;
            start(&corner)
        }) else {
            continue;
        };
        if corner.iter().all(|at| *at == 0) {
            continue;
        }
        if corner[0] > 0 {
            // As many rows as are touched: parts of other places are then the same nest.
            shape[0] = last.map_or_else(|| shape[0].sub(&Expr::Const(corner[0])), |last| Expr::Const(last - corner[0] + 1));
        }
        table.buffers.push(Buffer { name, dtype, shape, kind });
        parts.push((BufferId(table.buffers.len() as u32 - 1), b, start, corner));
    }
    let mut moved = nest.clone();
    let part = |b: &mut BufferId, index: &mut [Expr]| {
        if let Some((name, _, _, corner)) = parts.iter().find(|(_, of, _, _)| of == b) {
            *b = *name;
            index.iter_mut().zip(corner).for_each(|(e, at)| *e = e.sub(&Expr::Const(*at)));
        }
    };
    for (op, _) in &mut moved.ops {
        if let LoopOp::Load { buffer, index, .. } = op {
            part(buffer, index);
        }
    }
    for s in &mut moved.stores {
        part(&mut s.buffer, &mut s.index);
    }
    (moved, parts.into_iter().map(|(name, of, start, _)| (name, of, start)).collect())
}

/// The element at a place; none where that hangs on sizes that are not known.
fn start(corner: &[i64], shape: &[Expr]) -> Option<i64> {
    let offset = |d: usize| match corner[d] {
        0 => Some(0),
        at => Expr::product(&shape[d + 1..]).as_const()?.checked_mul(at),
    };
    (0..corner.len()).try_fold(0i64, |sum, d| sum.checked_add(offset(d)?))
}

/// The first place along each dimension that any access of the nest can name: the least constant in its indices, where what is added to it
/// counts up from zero, and 0 elsewhere; and the last row that one can name, where that is known.
fn corner(table: &LoopProgram, nest: &Nest, b: BufferId) -> Option<(Vec<i64>, Option<i64>)> {
    let loads = nest.ops.iter().filter_map(|(op, _)| match op {
        LoopOp::Load { buffer, index, mask } if *buffer == b => Some((index, mask.is_some())),
        _ => None,
    });
    let stores = nest.stores.iter().filter(|s| s.buffer == b).map(|s| (&s.index, false));
    let mut first: Option<Vec<i64>> = None;
    let mut last = Some(0);
    for (index, masked) in loads.chain(stores) {
        // Where a mask is false an index may lie before the buffer.
        if masked {
            return None;
        }
        let least: Vec<i64> = index.iter().map(least).collect();
        last = last.zip(index.first()?.bounds(table).1).map(|(l, most)| l.max(most));
        first = Some(match first {
            Some(first) => first.into_iter().zip(least).map(|(a, b)| a.min(b)).collect(),
            None => least,
        });
    }
    let first = first?;
    first.iter().any(|at| *at > 0).then_some((first, last))
}

/// The constant of an index to which nothing but axes is added, else 0.
fn least(index: &Expr) -> i64 {
    let counts = index.terms().all(|(atoms, c)| atoms.is_empty() || (c > 0 && atoms.iter().all(is_axis)));
    match index.terms().find(|(atoms, _)| atoms.is_empty()) {
        Some((_, constant)) if counts => constant.max(0),
        _ => 0,
    }
}

fn is_axis(a: &aludel_ir::expr::Atom) -> bool {
    matches!(a, aludel_ir::expr::Atom::Axis(_))
}

/// The buffers of a scheduled nest by their own names, and where in them its parts begin.
pub(super) fn restore(scheduled: &mut Scheduled, parts: &[(BufferId, BufferId, i64)]) {
    scheduled.starts = vec![0; scheduled.buffers.len()];
    for (b, start) in scheduled.buffers.iter_mut().zip(&mut scheduled.starts) {
        if let Some((_, of, at)) = parts.iter().find(|(name, _, _)| name == b) {
            (*b, *start) = (*of, *at);
        }
    }
}
