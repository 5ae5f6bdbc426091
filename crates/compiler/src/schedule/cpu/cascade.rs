//! Long sums of floats as sums of parts, each with an accumulator of its own: what rounding loses then grows with the length of a part
//! and the number of parts, not with their product (as NumPy's and PyTorch's sums; N. Higham, "The accuracy of floating point
//! summation", SIAM J. Sci. Comput. 14(4), 1993).

use super::loops::{each, hint};
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::loops::LoopProgram;
use aludel_ir::{DType, ReduceOp, Result, ScalarOp};

/// Whether parts are worth it: other reductions do not round, or keep what they lost in the result's own scale.
pub(super) fn rounds(op: ReduceOp, dtype: DType) -> bool {
    op == ReduceOp::Sum && dtype.is_float()
}

/// How long a sum over a size that is not known is taken to be, at least.
const UNKNOWN: i64 = 1 << 20;

/// One of the loops over the columns, or a place between two of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Turn {
    Axis(AxisId),
    /// Over an axis in steps of so many of its elements, and over those of one step.
    Steps(AxisId, i64),
    Within(AxisId),
    /// What is inside adds up to accumulators of its own.
    Part,
}

/// The loops over `axes`, the last one innermost, with parts of about `length` elements.
pub(super) fn turns(program: &LoopProgram, axes: &[AxisId], length: i64) -> Vec<Turn> {
    // From the inside outwards; what an accumulator was given so far.
    let mut out = Vec::new();
    let mut count = 1;
    for a in axes.iter().rev() {
        // What is not known now may be long when it is.
        let extent = program.extent(*a);
        let n = extent.as_const().unwrap_or_else(|| hint(program, extent).max(UNKNOWN));
        let long = |count: i64| n.saturating_mul(count) > length.saturating_mul(2);
        if long(count) && count >= length / 2 {
            out.push(Turn::Part);
            count = 1;
        }
        if long(count) {
            let step = length / count;
            out.extend([Turn::Within(*a), Turn::Part, Turn::Steps(*a, step)]);
            count = n / step;
        } else {
            out.push(Turn::Axis(*a));
            count = count.saturating_mul(n);
        }
    }
    out.reverse();
    out
}

/// What the accumulators are, how parts get theirs and give them up, and what is done at each place.
pub(super) trait Sums {
    type Accs;
    fn fresh(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Self::Accs) -> Result<Self::Accs>;
    fn merge(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Self::Accs, part: Self::Accs) -> Result<()>;
    fn place(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Self::Accs) -> Result<()>;
}

/// Goes through the loops; `within` is the step that [`Turn::Within`] goes through.
pub(super) fn walk<S: Sums>(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    turns: &[Turn],
    within: Option<(KExpr, KExpr)>,
    accs: &S::Accs,
    sums: &mut S,
) -> Result<()> {
    let Some((first, rest)) = turns.split_first() else { return sums.place(kb, em, accs) };
    let extent = |kb: &mut KernelBuilder, em: &Emitter, a: &AxisId| kb.size(em.program.extent(*a));
    match first {
        Turn::Part => {
            let part = sums.fresh(kb, em, accs)?;
            walk(kb, em, rest, within, &part, sums)?;
            sums.merge(kb, em, accs, part)
        }
        Turn::Axis(a) | Turn::Within(a) => {
            let whole = (k::int(0), extent(kb, em, a));
            let range = if matches!(first, Turn::Within(_)) { within.unwrap_or(whole) } else { whole };
            each(kb, em, range, |kb, em, i| {
                em.axes.insert(*a, i);
                walk(kb, em, rest, None, accs, sums)
            })
        }
        Turn::Steps(a, length) => {
            let n = extent(kb, em, a);
            let start = kb.var(k::I32);
            kb.open();
            em.enter();
            let up = k::add(KExpr::Var(start), k::int(*length));
            let even = em.program.extent(*a).as_const().is_some_and(|n| n % length == 0);
            let end = kb.int(if even { up } else { k::bin(ScalarOp::Min, up, n.clone()) });
            walk(kb, em, rest, Some((KExpr::Var(start), end)), accs, sums)?;
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: start, start: k::int(0), end: n, step: k::int(*length), body });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::ShapeEnv;
    use aludel_ir::expr::Expr;

    #[test]
    fn parts_are_short_and_few() {
        let extents = [1_000_000, 1000, 3].map(Expr::Const).to_vec();
        let p = LoopProgram { name: String::new(), env: ShapeEnv::default(), axes: extents, buffers: Vec::new(), nests: Vec::new() };
        let (long, some, few) = (AxisId(0), AxisId(1), AxisId(2));
        use Turn::*;
        let cut = |axes: &[AxisId]| turns(&p, axes, 1024);
        assert_eq!(cut(&[some]), [Axis(some)]);
        assert_eq!(cut(&[long]), [Steps(long, 1024), Part, Within(long)]);
        assert_eq!(cut(&[long, few]), [Steps(long, 341), Part, Within(long), Axis(few)]);
        assert_eq!(cut(&[long, some]), [Steps(long, 1024), Part, Within(long), Part, Axis(some)]);
        assert_eq!(cut(&[some, long]), [Axis(some), Part, Steps(long, 1024), Part, Within(long)]);
    }
}
