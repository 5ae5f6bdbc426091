//! Pointwise nests: one thread for each element, or, on GPUs where memory is the limit, for a few groups of four; and reductions of
//! short windows, of which a thread has four.

use crate::device::Target;
use crate::nest::access::wide_stores;
use crate::nest::neighbours;
use crate::parts::Part;
use crate::schedule::Scheduled;
use crate::schedule::emit::quad::{Quad, pays};
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest};
use aludel_ir::{Result, ScalarOp};

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let total = program.volume(&nest.axes);
    let hint = program.env.hint_or_one(&total);
    // Small spaces: several workgroups of fewer threads spread over the device's cores.
    let threads = target.max_threads.min(if hint <= 4096 { 64 } else { 256 });
    let groups = groups_of(&total, threads as i64, program);
    let mut kb = KernelBuilder::new();
    let (group, grid) = kb.group(Grid::new(groups, target));
    let i = kb.int(k::add(k::mul(group, k::int(threads as i64)), KExpr::LocalId(0)));
    let n = kb.size(&total);
    kb.open();
    let mut em = Emitter::new(nest, program);
    kb.unflatten(i.clone(), &nest.axes, program, &mut em.axes);
    em.stores(&mut kb, &|_| true)?;
    let body = kb.close();
    kb.stmt(Stmt::If { cond: k::lt(i, n), then: body, otherwise: vec![] });
    Ok(kb.finish(program, threads, grid))
}

/// Elements from which a thread does four at a time: fewer spread better one by one.
const WIDE: i64 = 1 << 17;

/// Whether a thread does four elements at a time.
pub(in crate::schedule) fn is_wide(program: &LoopProgram, nest: &Nest, target: &Target) -> bool {
    let hint = program.env.hint_or_one(&program.volume(&nest.axes));
    target.has_fast_workgroups()
        && target.parts.has(Part::Quads)
        && hint >= WIDE
        && nest.axes.last().is_some_and(|a| pays(nest, program, *a))
}

/// Points of a window, at most, for a thread to write out its reductions.
const WINDOW: i64 = 16;

/// Whether a nest that reduces short windows, such as pooling's, is done so too: a thread has the windows of four neighbours.
pub(in crate::schedule) fn has_windows(program: &LoopProgram, nest: &Nest, target: &Target) -> bool {
    let known = nest.inner.iter().all(|a| program.extent(*a).as_const().is_some());
    let points = program.volume(&nest.inner).as_const();
    // Threads of neighbours four apart read and write whole lines only where all that moves with them does so by fours.
    let together = |index: &[Expr]| nest.axes.last().is_some_and(|a| !index[0].uses_axis(*a) || neighbours::is_wide(&index[0], *a, 4));
    let loads = nest.ops.iter().all(|(op, _)| !matches!(op, LoopOp::Load { index, .. } if !together(index)));
    let all = loads && nest.stores.iter().all(|s| together(&s.index)) && !wide_stores(nest).contains(&true);
    known && points.is_some_and(|p| p <= WINDOW) && all && is_wide(program, nest, target)
}

/// Groups of four elements; a thread does several, a workgroup's width apart, and reads all before it writes: enough bytes are
/// on their way to fill the memory's pipe. Where that width is whole rows, a thread's groups have the same place in theirs, and what depends on
/// it alone, such as a normalization's parameters, is read and computed once.
pub(in crate::schedule) fn wide(program: &LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let total = program.volume(&nest.axes);
    let hint = program.env.hint_or_one(&total);
    let threads = 256i64;
    // Long expressions keep their registers to fewer elements.
    let each = if !nest.inner.is_empty() {
        1
    } else if hint >= 1 << 22 && nest.ops.len() <= 48 {
        4
    } else if hint >= 1 << 20 {
        2
    } else {
        1
    };
    let quads = total.floordiv(&Expr::Const(4), program);
    let groups = groups_of(&quads, threads * each, program);
    let mut kb = KernelBuilder::new();
    let (group, grid) = kb.group(Grid::new(groups, target));
    let first = kb.int(k::add(k::mul(group, k::int(threads * each)), KExpr::LocalId(0)));
    let end = kb.size(&quads);
    let exact = quads.as_const().is_some_and(|q| q % (threads * each) == 0);
    let em = Emitter::new(nest, program);
    let (axis, outer) = nest.axes.split_last().map_or((aludel_ir::expr::AxisId(0), &[][..]), |(a, o)| (*a, o));
    let row = kb.size(&program.extent(axis).floordiv(&Expr::Const(4), program));
    let groups_of_row = program.extent(axis).as_const().map(|n| n / 4);
    let rows_apart = groups_of_row.filter(|r| exact && !outer.is_empty() && threads % r == 0).map(|r| threads / r);
    let mut stores = Vec::new();
    // The first group's row, its place there, and the group.
    let mut began: Option<(KExpr, KExpr, Quad)> = None;
    for u in 0..each {
        if let (Some(apart), Some((rest, at, quad))) = (rows_apart, &began) {
            let mut axes = em.axes.clone();
            let rest = kb.int(k::add(rest.clone(), k::int(u * apart)));
            kb.unflatten(rest, outer, program, &mut axes);
            let mut quad = Quad::new(axis, 4, at.clone(), axes).unrolling().with_values_of(quad, &|v| !em.depends_on(v, outer));
            stores.push((None, quad.stores(&mut kb, &em, &|_| true)?));
            continue;
        }
        let at = kb.int(k::add(first.clone(), k::int(u * threads)));
        let (place, inside) = if exact {
            (at, None)
        } else {
            let last = k::sub(end.clone(), k::int(1));
            (kb.int(k::bin(ScalarOp::Min, at.clone(), last)), Some(k::lt(at, end.clone())))
        };
        let mut axes = em.axes.clone();
        let (rest, at) = if outer.is_empty() {
            (k::int(0), place)
        } else {
            let rest = kb.int(k::div(place.clone(), row.clone()));
            kb.unflatten(rest.clone(), outer, program, &mut axes);
            (rest, kb.int(k::rem(place, row.clone())))
        };
        let mut quad = Quad::new(axis, 4, at.clone(), axes).unrolling();
        stores.push((inside, quad.stores(&mut kb, &em, &|_| true)?));
        began = Some((rest, at, quad));
    }
    for (inside, then) in stores {
        kb.stmts_where(inside, then);
    }
    Ok(kb.finish(program, threads as u32, grid))
}
