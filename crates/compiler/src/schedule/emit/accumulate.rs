//! Accumulators of running reductions, as the row templates of every target keep them.

use crate::schedule::emit::KernelBuilder;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{DType, Literal, ReduceOp, ScalarOp};

/// An accumulator of a running reduction.
#[derive(Clone, Copy)]
pub(in crate::schedule) struct Acc {
    pub value: ValId,
    pub op: ReduceOp,
    pub best: Var,
    pub dtype: DType,
    /// For the argument reductions: where the best was found.
    pub place: Option<Var>,
    pub reduce: ValId,
}

/// The value that a reduction starts from.
pub(in crate::schedule) fn identity(op: ReduceOp, dtype: DType) -> KExpr {
    KExpr::Lit(Literal::new(op.identity(dtype), dtype))
}

/// An accumulator for each reduction, at its identity.
pub(in crate::schedule) fn open(kb: &mut KernelBuilder, nest: &Nest, reduces: &[ValId]) -> Vec<Acc> {
    let mut accs = Vec::new();
    for r in reduces {
        let LoopOp::Reduce { op, value, .. } = nest.op(*r) else { continue };
        let dtype = nest.dtype(*value);
        let best = kb.mutable(identity(*op, dtype), Ty::scalar(dtype));
        let place = op.is_arg().then(|| kb.mutable(k::int(i32::MAX as i64), k::I32));
        accs.push(Acc { value: *value, op: *op, best, dtype, place, reduce: *r });
    }
    accs
}

/// One step of a reduction over named values: what was found so far and its place, and a later value and its place. A NaN beats every
/// number, the earlier place wins among equals, as in [`Acc::take_better`].
pub(in crate::schedule) fn better(
    kb: &mut KernelBuilder,
    op: ReduceOp,
    dtype: DType,
    best: (KExpr, KExpr),
    next: (KExpr, KExpr),
) -> (KExpr, KExpr) {
    let ((best, place), (v, at)) = (best, next);
    if !op.is_arg() {
        let both = KExpr::Scalar(op.combine(), vec![best, v]);
        return (kb.bind(both, Ty::scalar(dtype)), place);
    }
    let is = |op, x: Vec<KExpr>| KExpr::Scalar(op, x);
    let compare = if op == ReduceOp::ArgMax { ScalarOp::Gt } else { ScalarOp::Lt };
    let mut wins = is(compare, vec![v.clone(), best.clone()]);
    if dtype.is_float() {
        let number = is(ScalarOp::Not, vec![is(ScalarOp::IsNan, vec![best.clone()])]);
        wins = is(ScalarOp::Or, vec![wins, k::and(is(ScalarOp::IsNan, vec![v.clone()]), number)]);
    }
    let wins = kb.bind(wins, k::BOOL);
    let best = kb.bind(k::select(wins.clone(), v, best), Ty::scalar(dtype));
    (best, kb.bind(k::select(wins, at, place), k::I32))
}

impl Acc {
    /// Keeps the better value, the earlier place among equals; a NaN beats every number, as in PyTorch.
    pub fn take_better(&self, kb: &mut KernelBuilder, place: Var, v: KExpr, at: KExpr) {
        let better = if self.op == ReduceOp::ArgMax { ScalarOp::Gt } else { ScalarOp::Lt };
        let (best, here) = (KExpr::Var(self.best), KExpr::Var(place));
        let is = |op, x: &KExpr, y: &KExpr| KExpr::Scalar(op, vec![x.clone(), y.clone()]);
        let or = |x, y| KExpr::Scalar(ScalarOp::Or, vec![x, y]);
        let not = |x| KExpr::Scalar(ScalarOp::Not, vec![x]);
        let mut wins = is(better, &v, &best);
        let mut ties = is(ScalarOp::Eq, &v, &best);
        if self.dtype.is_float() {
            let nan = |x: &KExpr| KExpr::Scalar(ScalarOp::IsNan, vec![x.clone()]);
            wins = or(wins, k::and(nan(&v), not(nan(&best))));
            ties = or(ties, k::and(nan(&v), nan(&best)));
        }
        let take = or(wins, k::and(ties, is(ScalarOp::Lt, &at, &here)));
        let take = kb.bind(take, k::BOOL);
        let best_now = k::select(take.clone(), v, best);
        kb.stmt(Stmt::Assign(self.best, best_now));
        kb.stmt(Stmt::Assign(place, k::select(take, at, here)));
    }
}
