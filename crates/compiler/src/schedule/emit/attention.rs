//! What the attention templates share: those of CPUs what follows from rows and stores, those of GPUs their grid too.

use crate::device::Target;
use crate::nest::attention::{Attention, Causal, hangs_on_reduction};
use crate::schedule::emit::{Emitter, KernelBuilder, Placed, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{DType, Result};
use rustc_hash::FxHashMap;

pub(in crate::schedule) const F32: Ty = Ty::scalar(DType::F32);
/// Two neighbours of 16 bits.
pub(in crate::schedule) const WORD: Ty = Ty::scalar(DType::U32);

/// What is known at one row or column: the axis there, and values that follow.
pub(in crate::schedule) type Known = FxHashMap<ValId, KExpr>;

/// Computes, in the present scope, whatever `v` needs that varies over none of `axes` and waits for no sum.
pub(in crate::schedule) fn hoist(kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, axes: &[AxisId]) -> Result<()> {
    let mut found = Vec::new();
    settled(em, v, axes, &mut found);
    found.into_iter().try_for_each(|v| em.value(kb, v).map(drop))
}

/// Adds to `found` what `v` needs that is not known yet, varies over none of `axes` and waits for no sum.
pub(in crate::schedule) fn settled(em: &Emitter, v: ValId, axes: &[AxisId], found: &mut Vec<ValId>) {
    let hangs = hangs_on_reduction(em.nest);
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if em.known(v).is_some() || found.contains(&v) {
            continue;
        }
        if !hangs[v.0 as usize] && !em.depends_on(v, axes) {
            found.push(v);
        } else if !matches!(em.nest.op(v), LoopOp::Reduce { .. }) {
            stack.extend(em.nest.op(v).operands());
        }
    }
}

/// What a value is made of, itself among it, up to reductions.
pub(in crate::schedule) fn reached(nest: &Nest, v: ValId) -> Vec<ValId> {
    let mut found = vec![v];
    let mut next = 0;
    while let Some(v) = found.get(next) {
        next += 1;
        if !matches!(nest.op(*v), LoopOp::Reduce { .. }) {
            for x in nest.op(*v).operands() {
                if !found.contains(&x) {
                    found.push(x);
                }
            }
        }
    }
    found
}

/// The stores of every feature, and those of every row.
pub(in crate::schedule) fn stores_of(nest: &Nest, em: &Emitter, a: &Attention) -> (Vec<usize>, Vec<usize>) {
    (0..nest.stores.len()).partition(|s| {
        let s = &nest.stores[*s];
        em.depends_on(s.value, &[a.feature]) || s.index.iter().any(|e| e.uses_axis(a.feature))
    })
}

/// Where a workgroup's block of `rows` rows starts, with the batch at hand; and the grid.
pub(in crate::schedule) fn place(kb: &mut KernelBuilder, em: &mut Emitter, a: &Attention, rows: u32, target: &Target) -> (KExpr, Placed) {
    let p = em.program;
    let blocks = groups_of(p.extent(a.row), rows as i64, p);
    let groups = p.volume(&a.batch).mul(&blocks);
    let (group, grid) = kb.group(Grid::new(groups, target));
    let per = kb.size(&blocks);
    let batch = kb.int(k::div(group.clone(), per.clone()));
    kb.unflatten(batch, &a.batch, p, &mut em.axes);
    let block = kb.int(k::rem(group, per.clone()));
    // Rows that see the most columns first: the last workgroups to run are then short ones.
    let block = if a.causal == Causal::After { kb.int(k::sub(k::sub(per, k::int(1)), block)) } else { block };
    (kb.int(k::mul(block, k::int(rows as i64))), grid)
}

/// What is left to store of a row when its sums are complete.
pub(in crate::schedule) struct Ends<'a> {
    /// The row's place, and the same within the rows that there are.
    pub here: KExpr,
    pub at: KExpr,
    /// Its maximum and sum.
    pub softmax: Option<[Var; 2]>,
    /// Whether the thread is the row's first.
    pub first: KExpr,
    /// The stores of every feature, and those of the row itself.
    pub wide: &'a [usize],
    pub narrow: &'a [usize],
}

/// Stores a row where there is one: first what `wide` does, for every feature, with what follows from the row at hand, then what belongs to the row alone.
pub(in crate::schedule) fn store_row(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    a: &Attention,
    ends: Ends,
    wide: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
) -> Result<()> {
    let extent = kb.size(em.program.extent(a.row));
    kb.open();
    em.enter();
    em.axes.insert(a.row, ends.at);
    if let (Some(s), Some([max, sum])) = (&a.softmax, ends.softmax) {
        em.define(s.max, KExpr::Var(max));
        em.define(s.sum, KExpr::Var(sum));
    }
    for s in ends.wide {
        em.hoist(kb, em.nest.stores[*s].value, &[a.feature])?;
    }
    wide(kb, em)?;
    if !ends.narrow.is_empty() {
        kb.open();
        em.enter();
        em.stores(kb, &|s| ends.narrow.contains(&s))?;
        em.leave();
        let body = kb.close();
        kb.stmt(Stmt::If { cond: ends.first, then: body, otherwise: vec![] });
    }
    em.leave();
    let body = kb.close();
    kb.stmt(Stmt::If { cond: k::lt(ends.here, extent), then: body, otherwise: vec![] });
    Ok(())
}

/// Loops over the outer axes of the columns.
pub(in crate::schedule) fn outer(
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
