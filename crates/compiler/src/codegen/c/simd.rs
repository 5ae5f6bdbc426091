//! What tells the compiler that a loop may run several turns at once ([`turns`]).

use crate::codegen::turns;
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Ty, Var, visit};
use aludel_ir::{DType, ScalarOp};
use std::collections::BTreeMap;

/// What follows `#pragma omp simd` for a loop over `var`; `None` where its turns have to come one after another.
pub(super) fn clauses(kernel: &Kernel, var: Var, body: &[Stmt]) -> Option<String> {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (v, op) in turns::independent(kernel, var, body)? {
        by_name.entry(reduction(op, kernel.var_ty(v).ok()?)?).or_default().push(format!("v{}", v.0));
    }
    Some(by_name.iter().map(|(name, vars)| format!(" reduction({name} : {})", vars.join(", "))).collect())
}

/// Whether GCC 12 makes wrong vectors of a loop: where two stores of a turn lie in one buffer and have values that masked loads give, it
/// takes the loads of one turn for neighbours (`max_pool1d` before `interpolate`: the second of each two results was another window's).
pub(super) fn is_fragile(body: &[Stmt]) -> bool {
    let mut stores: Vec<(bool, u32)> = Vec::new();
    let mut masked = false;
    for s in body {
        match s {
            Stmt::Store { buffer, .. } => stores.push((false, *buffer)),
            Stmt::StoreShared { array, .. } => stores.push((true, *array)),
            _ => {}
        }
        for e in s.exprs() {
            e.visit(&mut |e| {
                if let KExpr::Scalar(ScalarOp::Select, parts) = e {
                    masked |= parts[1..].iter().any(|p| matches!(p, KExpr::Load { .. }));
                }
            });
        }
    }
    let all = stores.len();
    stores.sort();
    stores.dedup();
    masked && stores.len() < all
}

/// Choices that hang on choices, at least, which GCC makes jumps of.
const CHOICES: usize = 3;

/// Whether a loop chooses so much that GCC follows each way through its choices, and then finds stores behind jumps that it cannot vectorise:
/// the gradient of a window's largest element took four times as long.
pub(super) fn chooses_much(body: &[Stmt]) -> bool {
    let mut choices = 0;
    visit(body, &mut |s| {
        for e in s.exprs() {
            e.visit(&mut |e| choices += usize::from(matches!(e, KExpr::Scalar(ScalarOp::Select, _))));
        }
    });
    choices >= CHOICES
}

/// Whether computing it costs nothing and touches no memory: a name, a number, or a choice of such.
pub(super) fn is_plain(e: &KExpr) -> bool {
    match e {
        KExpr::Var(_) | KExpr::Lit(_) => true,
        KExpr::Scalar(ScalarOp::Select, parts) => parts[1..].iter().all(is_plain) && touches_nothing(&parts[0]),
        _ => false,
    }
}

/// Whether it reads no memory.
pub(super) fn touches_nothing(e: &KExpr) -> bool {
    let mut reads = false;
    e.visit(&mut |e| reads |= matches!(e, KExpr::Load { .. } | KExpr::Shared { .. } | KExpr::SharedQuad { .. } | KExpr::ParamAt(_)));
    !reads
}

/// OpenMP's name of an accumulation, or that of `shaders/c.h`, where a NaN counts.
fn reduction(op: ScalarOp, ty: Ty) -> Option<&'static str> {
    use ScalarOp::*;
    match (op, ty.dtype) {
        (Add, _) => Some("+"),
        (Mul, _) => Some("*"),
        (Max, DType::F32) => Some("reduce_max_f32"),
        (Min, DType::F32) => Some("reduce_min_f32"),
        (Max, _) => Some("max"),
        (Min, _) => Some("min"),
        (And, _) => Some("&"),
        (Or, _) => Some("|"),
        _ => None,
    }
}
