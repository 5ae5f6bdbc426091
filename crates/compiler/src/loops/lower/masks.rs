//! What is the same for all that a nest reduces needs no mask that differs there, if it exists wherever the nest runs: padding around a
//! computation puts masks on all loads below it, such as those of a normalization's parameters below a pooling. Without one, what is
//! made of the load is computed once for a window. Other masks keep their loads from reading what nobody asks for.

use aludel_ir::expr::Expr;
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest};

/// Removes such masks.
pub(super) fn remove(program: &mut LoopProgram) {
    let mut nests = std::mem::take(&mut program.nests);
    for nest in &mut nests {
        let needless = needless(program, nest);
        for at in needless {
            if let (LoopOp::Load { mask, .. }, _) = &mut nest.ops[at] {
                *mask = None;
            }
        }
    }
    program.nests = nests;
}

/// The positions of loads whose masks say nothing of their places.
fn needless(program: &LoopProgram, nest: &Nest) -> Vec<usize> {
    let masked = nest.ops.iter().any(|(op, _)| matches!(op, LoopOp::Load { mask: Some(_), .. }));
    if !masked {
        return vec![];
    }
    let dependences = nest.dependences();
    let is_needless = |op: &LoopOp| match op {
        LoopOp::Load { buffer, index, mask: Some(m) } => {
            let deps = &dependences[m.0 as usize];
            let knows = |e: &Expr| deps.iter().chain(&nest.inner).any(|a| e.uses_axis(*a));
            deps.iter().any(|a| nest.inner.contains(a)) && !index.iter().any(knows) && exists(program, *buffer, index)
        }
        _ => false,
    };
    (0..nest.ops.len()).filter(|i| is_needless(&nest.ops[*i].0)).collect()
}

/// Whether an index lies within its buffer for every iteration.
fn exists(program: &LoopProgram, buffer: BufferId, index: &[Expr]) -> bool {
    let least = |e: &Expr| e.bounds(program).0;
    let inside = |e: &Expr, n: &Expr| least(e).is_some_and(|l| l >= 0) && least(&n.sub(e).sub(&Expr::ONE)).is_some_and(|l| l >= 0);
    index.iter().zip(&program.buffer(buffer).shape).all(|(e, n)| inside(e, n))
}
