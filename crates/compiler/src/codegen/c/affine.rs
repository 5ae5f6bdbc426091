//! How index expressions move with a loop.

use aludel_ir::ScalarOp;
use aludel_ir::kernel::{KExpr, Var};
use std::collections::BTreeMap;

/// By how much an index grows when a register grows by one; `lets` are the registers that depend on it. `None` where that is not the
/// same number on every turn, or not known.
pub(super) fn step(e: &KExpr, v: Var, lets: &BTreeMap<Var, &KExpr>) -> Option<i64> {
    let of = |e: &KExpr| step(e, v, lets);
    match e {
        KExpr::Var(x) if *x == v => Some(1),
        KExpr::Var(x) => lets.get(x).map_or(Some(0), |e| of(e)),
        KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) => Some(0),
        KExpr::Scalar(ScalarOp::Add, a) => of(&a[0])?.checked_add(of(&a[1])?),
        KExpr::Scalar(ScalarOp::Sub, a) => of(&a[0])?.checked_sub(of(&a[1])?),
        KExpr::Scalar(ScalarOp::Mul, a) => match (of(&a[0])?, of(&a[1])?, &a[0], &a[1]) {
            (0, 0, ..) => Some(0),
            (s, 0, _, KExpr::Lit(l)) | (0, s, KExpr::Lit(l), _) => s.checked_mul(l.value() as i64),
            _ => None,
        },
        // Anything else is the same on every turn when its parts are, and does not depend on memory.
        KExpr::Scalar(_, args) => args.iter().all(|a| of(a) == Some(0)).then_some(0),
        KExpr::Cast(_, x) | KExpr::Bitcast(_, x) => (of(x) == Some(0)).then_some(0),
        _ => None,
    }
}
