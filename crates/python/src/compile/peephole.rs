//! Instructions that are met often one after the other become one. No instruction moves: those after the first stay where they were
//! and are stepped over, and where the machine cannot do all at once it does the first alone and goes on with them.

use super::unit::target_of;
use crate::bytecode::Op;

/// Combines instructions of which nothing jumps to any but the first.
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
        let free = |count: usize| (1..count).all(|i| entered.get(at + i) == Some(&false));
        if free(3)
            && let Some(three) = ops.get(at..at + 3).and_then(triple)
        {
            // What the machine falls back to has its own pair.
            if let (Op::Compare(c), Some(Op::JumpIfFalse(t)), true) = (ops[at + 2], ops.get(at + 3), free(4)) {
                ops[at + 2] = Op::CompareJump(c, *t);
            }
            ops[at] = three;
            at += 3;
            continue;
        }
        let next = ops.get(at + 2).copied().unwrap_or(Op::None);
        match if free(2) { pair(ops[at], ops[at + 1], next) } else { None } {
            Some(op) => {
                ops[at] = op;
                at += 2;
            }
            None => at += 1,
        }
    }
}

fn triple(ops: &[Op]) -> Option<Op> {
    match *ops {
        [Op::Local(a), Op::Local(b), Op::Binary(op)] => Some(Op::BinaryLocals(op, small(a)?, small(b)?)),
        [Op::Local(a), Op::Const(b), Op::Binary(op)] => Some(Op::BinaryLocalConst(op, small(a)?, small(b)?)),
        [Op::Local(a), Op::Const(b), Op::Compare(op)] => Some(Op::CompareLocalConst(op, small(a)?, small(b)?)),
        _ => None,
    }
}

fn pair(first: Op, second: Op, next: Op) -> Option<Op> {
    Some(match (first, second) {
        (Op::Local(a), Op::Attr(site)) => Op::LocalAttr(small(a)?, small(site)?),
        (Op::Local(a), Op::LoadMethod(site)) => Op::LocalMethod(small(a)?, small(site)?),
        (Op::Local(a), Op::Binary(op)) => Op::BinaryLocal(op, small(a)?),
        (Op::Const(a), Op::Binary(op)) => Op::BinaryConst(op, small(a)?),
        // The second local is better combined with what follows.
        (Op::Local(_), Op::Local(_)) if matches!(next, Op::Attr(_) | Op::LoadMethod(_)) => return None,
        (Op::Local(a), Op::Local(b)) => Op::Locals(small(a)?, small(b)?),
        (Op::Local(a), Op::Const(b)) => Op::LocalConst(small(a)?, small(b)?),
        (Op::Compare(c), Op::JumpIfFalse(t)) => Op::CompareJump(c, t),
        (Op::For(t), Op::StoreLocal(s)) => Op::ForLocal(t, small(s)?),
        _ => return None,
    })
}

fn small(value: u32) -> Option<u16> {
    u16::try_from(value).ok()
}
