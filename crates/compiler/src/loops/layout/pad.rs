//! Padding: rows of temporaries that products read begin where whole copies do.
//!
//! Rows of 650 or 65 elements of 16 bits are no multiple of 16 bytes, and no copy of 16 bytes finds its place among them: an LSTM of width
//! 650 would read its weights two elements at a time, and the classes of a small vocabulary keep a product from the bulk copies. Between
//! the rows of a temporary, which nobody outside sees, there is room for a few elements that nobody reads. (PyTorch's compiler pads the
//! strides of its intermediates alike, `comprehensive_padding`.)

use crate::nest::{Kind, classify};
use aludel_ir::expr::Expr;
use aludel_ir::kernel::element_bytes;
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram};
use std::collections::BTreeSet;

/// Bytes of a copy.
const COPY: i64 = 16;
/// Elements of a row for which a few more are no loss.
const LONG: i64 = 32;

/// Makes room behind the rows of temporaries that products read.
pub(super) fn pad(program: &mut LoopProgram) {
    let read: BTreeSet<BufferId> = program
        .nests
        .iter()
        .filter(|n| matches!(classify(n, program), Kind::Contract(_)))
        .flat_map(|n| n.ops.iter())
        .filter_map(|(op, _)| match op {
            LoopOp::Load { buffer, .. } => Some(*buffer),
            _ => None,
        })
        .collect();
    // Ranks hand on what lies one after another.
    let handed_on = |b: BufferId| program.nests.iter().filter_map(|n| n.exchange.as_ref()).any(|e| e.from == b || e.to == b);
    let free = |b: &BufferId| program.buffer(*b).kind == BufferKind::Temp && !handed_on(*b);
    for b in read.iter().copied().filter(free).collect::<Vec<_>>() {
        let each = COPY / element_bytes(program.buffer(b).dtype) as i64;
        let [outer @ .., last] = program.buffers[b.0 as usize].shape.as_mut_slice() else { continue };
        match last.as_const() {
            Some(n) if n >= LONG && n % each != 0 && !outer.iter().all(|e| e.is_one()) => *last = Expr::Const((n + each - 1) / each * each),
            _ => {}
        }
    }
}
