//! Running reductions: `out[i] = op over k <= i of value(k)`. Lowering writes them as a reduction of `select(k <= i, value, identity)`,
//! which any template may run, at a quadratic price; those for scans see this form and pass over the elements once.

use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{ReduceOp, ScalarOp};

#[derive(Clone, PartialEq, Debug)]
pub struct Scan {
    pub reduce: ValId,
    pub op: ReduceOp,
    /// What is combined, and the condition that it is not past the element.
    pub value: ValId,
    pub upto: ValId,
    /// The axis of the results, among the nest's axes, and that of the elements, its only inner axis.
    pub at: AxisId,
    pub over: AxisId,
}

/// The scan that a nest of one reduction is.
pub fn scan(nest: &Nest, program: &LoopProgram, reduce: ValId) -> Option<Scan> {
    let LoopOp::Reduce { op, axes, value: selected } = nest.op(reduce) else { return None };
    let ([over], true) = (axes.as_slice(), *axes == nest.inner) else { return None };
    if op.is_arg() {
        return None;
    }
    let LoopOp::Scalar(ScalarOp::Select, parts) = nest.op(*selected) else { return None };
    let [upto, value, none] = parts[..] else { return None };
    match nest.op(none) {
        LoopOp::Const(l) if l.value() == op.identity(nest.dtype(none)) => {}
        _ => return None,
    }
    let LoopOp::Scalar(ScalarOp::Le, sides) = nest.op(upto) else { return None };
    let index = |v: ValId| match nest.op(v) {
        LoopOp::Index(e) => Some(e),
        _ => None,
    };
    let (k, i) = (index(sides[0])?, index(sides[1])?);
    let at = nest.axes.iter().copied().find(|a| *i == Expr::axis(*a))?;
    if *k != Expr::axis(*over) || program.extent(at) != program.extent(*over) {
        return None;
    }
    let deps = nest.dependences();
    let on = |v: ValId, a: AxisId| deps[v.0 as usize].contains(&a);
    let wide = |s: &aludel_ir::loops::Store| on(s.value, *over) || s.index.iter().any(|e| e.uses_axis(*over));
    if on(value, at) || nest.stores.iter().any(wide) {
        return None;
    }
    Some(Scan { reduce, op: *op, value, upto, at, over: *over })
}
