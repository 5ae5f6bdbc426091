//! How indices and values change from one iteration to its neighbours along an axis.

use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{DType, ScalarOp};

/// How an index moves within so many iterations along an axis, the first of which is a multiple of as many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Not at all.
    Not,
    /// Element by element, from a multiple of as many.
    Wide,
    Otherwise,
}

/// How an index moves, see [`Moves`].
pub(crate) fn moves(e: &Expr, axis: AxisId, by: i64) -> Moves {
    let (mut wide, mut aligned) = (0, true);
    for (m, c) in e.terms() {
        match m.iter().map(|a| atom_moves(a, axis, by)).reduce(|a, b| if a == Moves::Not && b == Moves::Not { a } else { Moves::Otherwise })
        {
            // A product of several atoms moves when any of them does; one by itself moves as it does.
            _ if m.len() == 1 && c == 1 && atom_moves(&m[0], axis, by) == Moves::Wide => wide += 1,
            None | Some(Moves::Not) => aligned &= c % by == 0,
            Some(_) => return Moves::Otherwise,
        }
    }
    match (wide, aligned) {
        (0, _) => Moves::Not,
        (1, true) => Moves::Wide,
        _ => Moves::Otherwise,
    }
}

fn atom_moves(a: &Atom, axis: AxisId, by: i64) -> Moves {
    let uses = Expr::atom(a.clone()).uses_axis(axis);
    match a {
        Atom::Axis(x) if *x == axis => Moves::Wide,
        _ if !uses => Moves::Not,
        // As many neighbours lie in the same block of a multiple of so many, one after another.
        Atom::FloorDiv(x, d) | Atom::Mod(x, d) => {
            let blocks = d.as_const().is_some_and(|d| d % by == 0);
            match (moves(x, axis, by), a) {
                (Moves::Not, _) if !d.uses_axis(axis) => Moves::Not,
                (Moves::Wide, Atom::FloorDiv(..)) if blocks => Moves::Not,
                (Moves::Wide, Atom::Mod(..)) if blocks => Moves::Wide,
                _ => Moves::Otherwise,
            }
        }
        _ => Moves::Otherwise,
    }
}

/// Whether an index moves element by element within `by` iterations along an axis, from a multiple of `by`.
pub(crate) fn is_wide(e: &Expr, axis: AxisId, by: i64) -> bool {
    moves(e, axis, by) == Moves::Wide
}

/// Which binary digits of an axis a value hangs on, of those that count iterations within a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Digits {
    /// It is these digits: the axis shifted right, and masked.
    Are { shift: u32, mask: u32 },
    /// It is made of these, in some way.
    Of(u32),
}

impl Digits {
    /// The digits that the value hangs on.
    pub fn on(self) -> u32 {
        match self {
            Digits::Are { shift, mask } => mask << shift,
            Digits::Of(on) => on,
        }
    }

    /// The value at the iteration of this number in a block, where it hangs on nothing but these `known` digits of the number.
    pub fn number(self, iteration: u32, block: u32) -> Option<u32> {
        self.masked(iteration, block - 1)
    }

    /// The same where no more than the `known` digits of the iteration are known.
    pub fn masked(self, iteration: u32, known: u32) -> Option<u32> {
        match self {
            Digits::Are { shift, mask } if self.on() & !known == 0 => Some((iteration >> shift) & mask),
            _ => None,
        }
    }
}

/// For each value of a nest, the digits of an axis that it hangs on within a block of so many iterations (a power of two) from a multiple
/// of as many. Digits that count blocks mean nothing.
pub(crate) fn digits(nest: &Nest, axis: AxisId, block: u32) -> Vec<Digits> {
    let mut out: Vec<Digits> = Vec::with_capacity(nest.ops.len());
    let index = |out: &[Digits], e: &Expr| {
        let mut on = 0;
        e.visit(&mut |a| {
            if let Atom::Value(v) = a {
                on |= out[*v as usize].on();
            }
        });
        match moves(e, axis, block as i64) {
            Moves::Not => Digits::Of(on),
            Moves::Wide if on == 0 => Digits::Are { shift: 0, mask: u32::MAX },
            _ => Digits::Of(u32::MAX),
        }
    };
    let whole = |d: DType| matches!(d, DType::I32 | DType::U32);
    let constant = |v: ValId| match nest.op(v) {
        LoopOp::Const(l) if whole(l.dtype) => Some(l.value() as u32),
        _ => None,
    };
    for (op, _) in &nest.ops {
        let all = |out: &[Digits]| Digits::Of(op.operands().into_iter().fold(0, |on, v| on | out[v.0 as usize].on()));
        let next = match op {
            LoopOp::Const(_) => Digits::Of(0),
            LoopOp::Index(e) => index(&out, e),
            LoopOp::Load { index: at, .. } => Digits::Of(at.iter().fold(all(&out).on(), |on, e| on | index(&out, e).on())),
            LoopOp::Cast(d, x) | LoopOp::Bitcast(d, x) if whole(*d) && whole(nest.dtype(*x)) => out[x.0 as usize],
            LoopOp::Scalar(op @ (ScalarOp::Shr | ScalarOp::And), args) => match (out[args[0].0 as usize], constant(args[1])) {
                (Digits::Are { shift, mask }, Some(by)) if *op == ScalarOp::And => Digits::Are { shift, mask: mask & by },
                (Digits::Are { shift, mask }, Some(by)) if shift + by < 32 => Digits::Are { shift: shift + by, mask: mask >> by },
                _ => all(&out),
            },
            _ => all(&out),
        };
        out.push(next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Digits;

    #[test]
    fn digits_are_shifted_and_masked() {
        // Of 16 iterations, the digit that counts eights.
        let eight = Digits::Are { shift: 3, mask: 1 };
        assert_eq!((eight.on(), eight.number(11, 16), eight.number(5, 16)), (8, Some(1), Some(0)));
        assert_eq!((eight.masked(8, 9), eight.masked(8, 1)), (Some(1), None));
        let fours = Digits::Are { shift: 2, mask: u32::MAX >> 2 };
        assert_eq!((fours.on() & 3, fours.number(5, 4)), (0, None));
    }
}
