//! Pairs of instructions that are met often become one. No instruction moves: the second of a pair stays where it was, and is
//! stepped over.

use super::unit::target_of;
use crate::bytecode::Op;

/// Combines pairs whose second instruction nothing jumps to.
pub(super) fn combine(ops: &mut [Op]) {
    let mut entered = vec![false; ops.len() + 1];
    for op in ops.iter_mut() {
        if let Some(target) = target_of(op)
            && let Some(flag) = entered.get_mut(*target as usize)
        {
            *flag = true;
        }
    }
    let mut at = 0;
    while at + 1 < ops.len() {
        if entered[at + 1] {
            at += 1;
            continue;
        }
        let fused = match (ops[at], ops[at + 1]) {
            (Op::Local(a), Op::Local(b)) => small(a).zip(small(b)).map(|(a, b)| Op::Locals(a, b)),
            (Op::Local(a), Op::Const(b)) => small(a).zip(small(b)).map(|(a, b)| Op::LocalConst(a, b)),
            (Op::Compare(c), Op::JumpIfFalse(t)) => Some(Op::CompareJump(c, t)),
            (Op::For(t), Op::StoreLocal(s)) => small(s).map(|s| Op::ForLocal(t, s)),
            _ => None,
        };
        match fused {
            Some(op) => {
                ops[at] = op;
                at += 2;
            }
            None => at += 1,
        }
    }
}

fn small(value: u32) -> Option<u16> {
    u16::try_from(value).ok()
}
