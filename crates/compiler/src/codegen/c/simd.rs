//! What tells the compiler that a loop may run several turns at once ([`turns`]).

use crate::codegen::turns;
use aludel_ir::kernel::{Kernel, Stmt, Ty, Var};
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
