//! How index expressions move with a loop.

use aludel_ir::ScalarOp;
use aludel_ir::kernel::{self as k, KExpr, Var};
use std::collections::BTreeMap;

/// By how much an index grows when a register grows by one; `lets` are the registers that depend on it. `None` where that is not the
/// same number on every turn, or not known.
pub(in crate::codegen) fn step(e: &KExpr, v: Var, lets: &BTreeMap<Var, &KExpr>) -> Option<i64> {
    Steps { v, lets, known: BTreeMap::new() }.of(e)
}

struct Steps<'a> {
    v: Var,
    lets: &'a BTreeMap<Var, &'a KExpr>,
    /// Registers that several others are made of are looked at once.
    known: BTreeMap<Var, Option<i64>>,
}

impl Steps<'_> {
    fn of(&mut self, e: &KExpr) -> Option<i64> {
        match e {
            KExpr::Var(x) if *x == self.v => Some(1),
            KExpr::Var(x) => {
                if let Some(known) = self.known.get(x) {
                    return *known;
                }
                let step = self.lets.get(x).map_or(Some(0), |e| self.of(e));
                self.known.insert(*x, step);
                step
            }
            KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) => Some(0),
            KExpr::Scalar(ScalarOp::Add, a) => self.of(&a[0])?.checked_add(self.of(&a[1])?),
            KExpr::Scalar(ScalarOp::Sub, a) => self.of(&a[0])?.checked_sub(self.of(&a[1])?),
            KExpr::Scalar(ScalarOp::Mul, a) => match (self.of(&a[0])?, self.of(&a[1])?, &a[0], &a[1]) {
                (0, 0, ..) => Some(0),
                (s, 0, _, KExpr::Lit(l)) | (0, s, KExpr::Lit(l), _) => s.checked_mul(l.value() as i64),
                _ => None,
            },
            // Anything else is the same on every turn when its parts are, and does not depend on memory.
            KExpr::Scalar(_, args) => args.iter().all(|a| self.of(a) == Some(0)).then_some(0),
            KExpr::Cast(_, x) | KExpr::Bitcast(_, x) => (self.of(x) == Some(0)).then_some(0),
            _ => None,
        }
    }
}

/// An index where some registers are zero; `lets` are the registers that depend on them. `None` where that takes more than sums and
/// products.
pub(super) fn at_zero(e: &KExpr, zero: &[Var], lets: &BTreeMap<Var, &KExpr>) -> Option<KExpr> {
    let mut depends = false;
    e.visit(&mut |e| depends |= matches!(e, KExpr::Var(v) if zero.contains(v) || lets.contains_key(v)));
    Some(match e {
        KExpr::Var(v) if zero.contains(v) => k::int(0),
        KExpr::Var(v) => match lets.get(v) {
            Some(e) => at_zero(e, zero, lets)?,
            None => e.clone(),
        },
        KExpr::Scalar(op @ (ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul), a) if depends => {
            k::bin(*op, at_zero(&a[0], zero, lets)?, at_zero(&a[1], zero, lets)?)
        }
        KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) | KExpr::Scalar(..) if !depends => e.clone(),
        _ => return None,
    })
}
