//! Sums over columns: what is reduced for neighbouring elements of the last axis that stays, four of which a thread takes at a time.
//!
//! The gradients of biases and of a norm's weights are such sums over all rows of a batch. A thread that read one element of 16 bits of each row
//! would ask memory for half a sector at a time, and for the row's own mean and deviation as often as for elements. A workgroup is
//! [`LANES`] lanes of four neighbours each, several times: these shares divide the rows and add what they have in workgroup memory.

use crate::device::Target;
use crate::nest::access::below;
use crate::nest::neighbours::is_wide;
use crate::parts::Part;
use crate::schedule::Scheduled;
use crate::schedule::emit::accumulate::identity;
use crate::schedule::emit::quad::{Quad, lane};
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::collective::IN_BROWSER;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::order::InOrder;
use aludel_ir::{DType, Result, ScalarOp};
use std::collections::BTreeSet;

/// Threads beside one another, each with four neighbours: a subgroup reads 256 or 512 bytes of a row.
const LANES: u32 = 32;
/// Threads that divide the rows of the same neighbours: as many as a device with few such workgroups has room for.
const SHARES: [u32; 3] = [32, 16, 8];
/// Bytes of workgroup memory, at most, for the sums of all threads.
const SHARED: u32 = 32 << 10;
/// Loads of four that a thread has under way.
const TOGETHER: i64 = 8;
/// Rows, at least: fewer are summed as fast one by one.
const ROWS: i64 = 64;
/// Elements, at least: the sums of fewer share launches with other small nests (`rows`). An MLP's step took two launches more, and 1.05
/// times as long, with its biases' sums over 1,024 rows by themselves.
const MUCH: i64 = 1 << 21;

/// The axis whose neighbours are taken four at a time; `None` for what another template sums better.
pub(in crate::schedule) fn plan(program: &LoopProgram, nest: &Nest, target: &Target) -> Option<AxisId> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (rows, neighbours) = (hint(&nest.inner), hint(&nest.axes));
    let takes = !IN_BROWSER && target.has_cheap_launches() && target.parts.has(Part::Quads);
    let [.., fewest] = SHARES;
    let little = rows < ROWS || neighbours < LANES as i64 || rows.saturating_mul(neighbours) < MUCH;
    if !takes || little || bytes(nest, fewest) > SHARED {
        return None;
    }
    // One phase of sums, and nothing that is stored for each element.
    let inner = |axes: &[AxisId]| axes.iter().any(|a| nest.inner.contains(a));
    let plain = |r: ValId| match nest.op(r) {
        LoopOp::Reduce { op, axes, value } => {
            let again = below(nest, *value).iter().any(|v| matches!(nest.op(*v), LoopOp::Reduce { .. }));
            !op.is_arg() && nest.dtype(r) == DType::F32 && axes.len() == nest.inner.len() && !again
        }
        _ => false,
    };
    let deps = nest.dependences();
    let stored = |s: &Store| s.add || s.operands().iter().any(|v| inner(&deps[v.0 as usize])) || s.index.iter().any(|e| inner(&e.axes()));
    if !nest.reduces().all(plain) || nest.stores.iter().any(stored) {
        return None;
    }
    // Everything that is summed lies along the axis, or does not know of it.
    let summed: BTreeSet<ValId> = nest.reduces().flat_map(|r| below(nest, r)).in_order();
    let loads: Vec<Expr> = summed.iter().filter_map(|v| address(program, nest, *v)).filter(|e| inner(&e.axes())).collect();
    let wide = |a: &AxisId| {
        let divides = program.extent(*a).as_const().is_some_and(|n| n % 4 == 0);
        let fits = loads.iter().all(|e| !e.uses_axis(*a) || is_wide(e, *a, 4));
        divides && fits && loads.iter().any(|e| e.uses_axis(*a))
    };
    nest.axes.iter().copied().find(wide)
}

/// Where a load reads, in elements.
fn address(program: &LoopProgram, nest: &Nest, v: ValId) -> Option<Expr> {
    match nest.op(v) {
        LoopOp::Load { index, .. } if index.len() == 1 => Some(index[0].clone()),
        LoopOp::Load { buffer, index, .. } => Some(program.buffer(*buffer).flatten(index)),
        _ => None,
    }
}

/// How many workgroups such sums take; `None` for all others.
pub(crate) fn column_groups(program: &LoopProgram, nest: &Nest, target: &Target) -> Option<i64> {
    plan(program, nest, target)?;
    let each = 4 * LANES as i64;
    Some((program.volume(&nest.axes).as_const()? + each - 1) / each)
}

/// Bytes of workgroup memory for the sums of so many shares.
fn bytes(nest: &Nest, shares: u32) -> u32 {
    nest.reduces().count() as u32 * shares * LANES * 16
}

/// How many threads divide the rows of the same neighbours.
fn shares(program: &LoopProgram, nest: &Nest, target: &Target) -> u32 {
    let groups = program.env.hint_or_one(&program.volume(&nest.axes)).max(1) / (4 * LANES as i64) + 1;
    let [.., fewest] = SHARES;
    let fits = |s: &u32| groups * *s as i64 <= 2 * target.busy_groups() * fewest as i64 && bytes(nest, *s) <= SHARED;
    SHARES.into_iter().find(fits).unwrap_or(fewest)
}

/// A sum for each of four neighbours.
struct Sums {
    reduce: ValId,
    value: ValId,
    combine: ScalarOp,
    totals: [Var; 4],
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, axis: AxisId, target: &Target) -> Result<Scheduled> {
    let (mut kb, mut em) = (KernelBuilder::new(), Emitter::new(nest, program));
    let outer: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != axis).collect();
    let row = program.extent(axis).floordiv(&Expr::Const(4), program);
    let units = program.volume(&outer).mul(&row);
    let (group, grid) = kb.group(Grid::new(groups_of(&units, LANES as i64, program), target));
    let thread = KExpr::LocalId(0);
    let (own, share) = (kb.int(k::rem(thread.clone(), k::int(LANES as i64))), kb.int(k::div(thread.clone(), k::int(LANES as i64))));
    let unit = kb.int(k::add(k::mul(group, k::int(LANES as i64)), own));
    // A thread past the end reads what the last one reads and stores nothing.
    let end = kb.size(&units);
    let inside = units.as_const().is_none_or(|n| n % LANES as i64 != 0).then(|| kb.bind(k::lt(unit.clone(), end.clone()), k::BOOL));
    let unit = if inside.is_some() { kb.int(k::bin(ScalarOp::Min, unit, k::sub(end, k::int(1)))) } else { unit };
    let row = kb.size(&row);
    let (at, rest) = (kb.int(k::rem(unit.clone(), row.clone())), kb.int(k::div(unit, row)));
    kb.unflatten(rest, &outer, program, &mut em.axes);
    let mut sums = Vec::new();
    for reduce in nest.reduces() {
        let LoopOp::Reduce { op, value, .. } = nest.op(reduce) else { continue };
        let totals = [(); 4].map(|()| kb.mutable(identity(*op, DType::F32), Ty::scalar(DType::F32)));
        sums.push(Sums { reduce, value: *value, combine: op.combine(), totals });
    }
    let shares = shares(program, nest, target);
    add_rows(&mut kb, &em, (axis, &at), (&share, shares), &sums)?;
    add_shares(&mut kb, &thread, (&share, shares), &sums);
    let mut quad = Quad::new(axis, 4, at, em.axes.clone());
    sums.iter().for_each(|s| quad.define(s.reduce, s.totals.map(KExpr::Var).to_vec()));
    kb.open();
    for s in quad.stores(&mut kb, &em, &|_| true)? {
        kb.stmt(s);
    }
    let then = kb.close();
    let first = KExpr::Scalar(ScalarOp::Eq, vec![share, k::int(0)]);
    let cond = inside.map_or(first.clone(), |inside| k::and(first, inside));
    kb.stmt(Stmt::If { cond, then, otherwise: vec![] });
    Ok(kb.finish(program, LANES * shares, grid))
}

/// Each of so many shares adds every row that comes after as many others.
fn add_rows(
    kb: &mut KernelBuilder,
    em: &Emitter,
    (axis, at): (AxisId, &KExpr),
    (share, shares): (&KExpr, u32),
    sums: &[Sums],
) -> Result<()> {
    let (nest, program) = (em.nest, em.program);
    let summed: BTreeSet<ValId> = sums.iter().flat_map(|s| below(nest, s.value)).in_order();
    let once = |v: ValId| !em.depends_on(v, &nest.inner);
    let is_load = |v: &ValId| matches!(nest.op(*v), LoopOp::Load { .. });
    // What is the same in every row.
    let mut base = Quad::new(axis, 4, at.clone(), em.axes.clone());
    for v in summed.iter().filter(|v| once(**v) && is_load(v)) {
        base.value(kb, em, *v)?;
    }
    let rows = program.volume(&nest.inner);
    let loads = summed.iter().filter(|v| !once(**v) && is_load(v) && em.depends_on(**v, &[axis])).count().max(1) as i64;
    // Whole turns of all shares, at least two.
    let whole = |n: &i64| rows.as_const().is_some_and(|r| r % (2 * n * shares as i64) == 0);
    let together = [8, 4, 2].into_iter().find(|n| n * loads <= TOGETHER && whole(n)).unwrap_or(1);
    let end = kb.size(&rows);
    let var = kb.var(k::I32);
    kb.open();
    for n in 0..together {
        let place = if n == 0 { KExpr::Var(var) } else { kb.int(k::add(KExpr::Var(var), k::int(n * shares as i64))) };
        let mut axes = em.axes.clone();
        kb.unflatten(place, &nest.inner, program, &mut axes);
        let mut quad = Quad::new(axis, 4, at.clone(), axes).with_values_of(&base, &once);
        for s in sums {
            let v = quad.value(kb, em, s.value)?;
            for (l, total) in s.totals.iter().enumerate() {
                kb.stmt(Stmt::Assign(*total, KExpr::Scalar(s.combine, vec![KExpr::Var(*total), lane(&v, l)])));
            }
        }
    }
    let body = kb.close();
    kb.stmt(Stmt::For { var, start: share.clone(), end, step: k::int(together * shares as i64), body });
    Ok(())
}

/// The first share of each lane adds what the others have.
fn add_shares(kb: &mut KernelBuilder, thread: &KExpr, (share, shares): (&KExpr, u32), sums: &[Sums]) {
    let threads = LANES * shares;
    let arrays: Vec<u32> = (0..sums.len()).map(|i| kb.shared(&format!("sums{i}"), Ty::scalar(DType::F32), 4 * threads)).collect();
    // Neighbouring threads lie in neighbouring banks.
    let place = |at: &KExpr, l: usize| k::add(at.clone(), k::int(l as i64 * threads as i64));
    let keep = |kb: &mut KernelBuilder| {
        for (s, array) in sums.iter().zip(&arrays) {
            for (l, total) in s.totals.iter().enumerate() {
                kb.stmt(Stmt::StoreShared { array: *array, index: place(thread, l), value: KExpr::Var(*total) });
            }
        }
    };
    keep(kb);
    let mut step = shares / 2;
    while step > 0 {
        kb.stmt(Stmt::Barrier);
        kb.open();
        let other = kb.int(k::add(thread.clone(), k::int((step * LANES) as i64)));
        for (s, array) in sums.iter().zip(&arrays) {
            for (l, total) in s.totals.iter().enumerate() {
                let more = KExpr::Shared { array: *array, index: Box::new(place(&other, l)) };
                kb.stmt(Stmt::Assign(*total, KExpr::Scalar(s.combine, vec![KExpr::Var(*total), more])));
            }
        }
        if step > 1 {
            keep(kb);
        }
        let then = kb.close();
        kb.stmt(Stmt::If { cond: k::lt(share.clone(), k::int(step as i64)), then, otherwise: vec![] });
        step /= 2;
    }
}
