//! What the attention templates share: those of CPUs what follows from rows and stores, those of GPUs their grid too.

use crate::fuse::attention::{Attention, Causal, hangs_on_reduction};
use crate::schedule::build::{Emitter, KernelBuilder, groups_of};
use crate::target::Target;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{Result, ScalarOp};

/// Computes, in the present scope, whatever `v` needs that varies over none of `axes` and waits for no sum.
pub(in crate::schedule) fn hoist(kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, axes: &[AxisId]) -> Result<()> {
    let hangs = hangs_on_reduction(em.nest);
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if em.known(v).is_some() {
            continue;
        }
        if hangs[v.0 as usize] || em.depends_on(v, axes) {
            if !matches!(em.nest.op(v), LoopOp::Reduce { .. }) {
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

/// Where a workgroup's block of `rows` rows starts, with the batch at hand; and how many workgroups there are.
pub(super) fn place(kb: &mut KernelBuilder, em: &mut Emitter, a: &Attention, rows: u32, target: &Target) -> (KExpr, Expr) {
    let p = em.program;
    let blocks = groups_of(p.extent(a.row), rows as i64, p);
    let groups = p.volume(&a.batch).mul(&blocks);
    let group = kb.group(&groups, target.max_groups);
    let per = kb.size(&blocks);
    let batch = kb.int(k::div(group.clone(), per.clone()));
    // A folded grid may have a few workgroups too many: they repeat the last block.
    let last = kb.size(&p.volume(&a.batch).sub(&Expr::ONE));
    let batch = kb.int(k::bin(ScalarOp::Min, batch, last));
    kb.unflatten(batch, &a.batch, p, &mut em.axes);
    let block = kb.int(k::rem(group, per.clone()));
    // Rows that see the most columns first: the last workgroups to run are then short ones.
    let block = if a.causal == Causal::After { kb.int(k::sub(k::sub(per, k::int(1)), block)) } else { block };
    (kb.int(k::mul(block, k::int(rows as i64))), groups)
}

/// Loops over the outer axes of the columns.
pub(super) fn outer(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    axes: &[AxisId],
    body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = axes.split_first() else { return body(kb, em) };
    let end = kb.size(em.program.extent(*first));
    let var = kb.var(k::I32);
    kb.open();
    em.enter();
    em.axes.insert(*first, KExpr::Var(var));
    outer(kb, em, rest, body)?;
    em.leave();
    let inner = kb.close();
    kb.stmt(Stmt::For { var, start: k::int(0), end, step: k::int(1), body: inner });
    Ok(())
}
