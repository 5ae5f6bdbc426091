//! Parts of buffers as buffers: a nest that touches only the rows of a tensor from `t` on says so by its offset.
//!
//! The steps of an unrolled loop differ in which part of a sequence they read and write, by a constant in their indices. Moved into
//! the buffer's offset, a launch parameter, the steps are one kernel.

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
        let Some((first, last)) = rows(table, nest, b) else { continue };
        let Some(row) = Expr::product(&table.buffer(b).shape[1..]).as_const() else { continue };
        let Buffer { name, dtype, mut shape, kind } = table.buffer(b).clone();
        // The last row up to the first that is touched where a part may begin.
        let align = alignment(dtype, target);
        let Some((rows, start)) = (0..align.min(first)).find_map(|back| {
            let rows = first - back;
            Some((rows, rows.checked_mul(row).filter(|s| s % align == 0)?))
        }) else {
            continue;
        };
        // As many rows as are touched: parts of other places are then the same nest.
        shape[0] = last.map_or_else(|| shape[0].sub(&Expr::Const(rows)), |last| Expr::Const(last - rows + 1));
        table.buffers.push(Buffer { name, dtype, shape, kind });
        parts.push((BufferId(table.buffers.len() as u32 - 1), b, start, rows));
    }
    let mut moved = nest.clone();
    let part = |b: &mut BufferId, index: &mut [Expr]| {
        if let Some((name, _, _, rows)) = parts.iter().find(|(_, of, _, _)| of == b) {
            *b = *name;
            index[0] = index[0].sub(&Expr::Const(*rows));
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

/// The first row that any access of the nest can name: the least constant in its first indices, where that is known to be positive; and the
/// last one, where that is known.
fn rows(table: &LoopProgram, nest: &Nest, b: BufferId) -> Option<(i64, Option<i64>)> {
    let loads = nest.ops.iter().filter_map(|(op, _)| match op {
        LoopOp::Load { buffer, index, mask } if *buffer == b => Some((index, mask.is_some())),
        _ => None,
    });
    let stores = nest.stores.iter().filter(|s| s.buffer == b).map(|s| (&s.index, false));
    let mut first: Option<i64> = None;
    let mut last = Some(0);
    for (index, masked) in loads.chain(stores) {
        // Where a mask is false an index may lie before the buffer.
        if masked {
            return None;
        }
        let constant = index.first()?.terms().find(|(atoms, _)| atoms.is_empty()).map_or(0, |(_, c)| c);
        // What is added to the constant counts up from zero.
        let counts = index[0].terms().all(|(atoms, c)| atoms.is_empty() || (c > 0 && atoms.iter().all(is_axis)));
        if constant <= 0 || !counts {
            return None;
        }
        first = Some(first.map_or(constant, |f| f.min(constant)));
        last = last.zip(index[0].bounds(table).1).map(|(l, most)| l.max(most));
    }
    Some((first?, last))
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
