//! How a nest touches memory: along which axes, and what is stored where.

use super::build::split_order;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use std::collections::BTreeSet;

/// Whether something is stored for each element that is reduced, or added to memory.
pub(crate) fn stores_within(nest: &Nest) -> bool {
    let deps = nest.dependences();
    nest.stores.iter().any(|s| {
        let moves = s.index.iter().any(|e| e.axes().iter().any(|a| nest.inner.contains(a)));
        moves || s.add || deps[s.value.0 as usize].iter().any(|a| nest.inner.contains(a))
    })
}

/// Whether the loads run along the reduced axes in memory.
pub(crate) fn contiguous_within(program: &LoopProgram, nest: &Nest) -> bool {
    let (mut inner, mut outer) = (0, 0);
    for (op, _) in &nest.ops {
        let LoopOp::Load { buffer, index, .. } = op else { continue };
        let flat = program.buffer(*buffer).flatten(index);
        let unit = |axes: &[AxisId]| axes.iter().any(|a| flat.coefficient(*a).is_some_and(|c| c.is_one()));
        inner += unit(&nest.inner) as usize;
        outer += unit(&nest.axes) as usize;
    }
    inner > 0 && inner >= outer
}

/// The operations that a value is made of, itself included.
pub(crate) fn below(nest: &Nest, v: ValId) -> BTreeSet<ValId> {
    let (mut out, mut stack) = (BTreeSet::new(), vec![v]);
    while let Some(v) = stack.pop() {
        if out.insert(v) {
            stack.extend(nest.op(v).operands());
        }
    }
    out
}

/// Whether an expression enumerates 0..extent exactly once: `i*6 + j*2 + k` with the right strides.
pub(crate) fn is_mixed_radix(e: &Expr, extent: &Expr, program: &LoopProgram) -> bool {
    let order = split_order(e);
    let mut stride = Expr::ONE;
    let mut sum = Expr::ZERO;
    for a in order.iter().rev() {
        if e.coefficient(*a).as_ref() != Some(&stride) {
            return false;
        }
        sum = sum.add(&Expr::axis(*a).mul(&stride));
        stride = stride.mul(program.extent(*a));
    }
    sum == *e && stride == *extent
}
