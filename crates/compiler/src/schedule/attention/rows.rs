//! What the attention templates of all targets share.

use crate::fuse::attention::{Attention, hangs_on_reduction};
use crate::schedule::build::{Emitter, KernelBuilder};
use aludel_ir::Result;
use aludel_ir::expr::AxisId;
use aludel_ir::loops::{Nest, ValId};

/// Computes, in the present scope, whatever `v` needs that varies over none of `axes` and waits for no sum.
pub(in crate::schedule) fn hoist(kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, axes: &[AxisId]) -> Result<()> {
    let hangs = hangs_on_reduction(em.nest);
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if em.known(v).is_some() {
            continue;
        }
        if hangs[v.0 as usize] || em.depends_on(v, axes) {
            if !matches!(em.nest.op(v), aludel_ir::loops::LoopOp::Reduce { .. }) {
                stack.extend(em.nest.op(v).operands());
            }
        } else {
            em.value(kb, v)?;
        }
    }
    Ok(())
}

/// The stores of every feature, and those of every row.
pub(in crate::schedule) fn stores_of(nest: &Nest, em: &Emitter, a: &Attention) -> (Vec<usize>, Vec<usize>) {
    (0..nest.stores.len()).partition(|s| {
        let s = &nest.stores[*s];
        em.depends_on(s.value, &[a.feature]) || s.index.iter().any(|e| e.uses_axis(a.feature))
    })
}
