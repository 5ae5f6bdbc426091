//! Pointwise nests that read a tensor across the way they write: a workgroup takes a square tile, reads it as it lies in memory,
//! passes it through workgroup memory, and writes it as the result lies. Both sides then move whole lines.
//! Source: G. Ruetsch and P. Micikevicius, "Optimizing matrix transpose in CUDA", 2009.

use crate::device::Target;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result};

/// The side of a tile, and the rows of it that a workgroup moves at once.
const SIDE: i64 = 32;
const ROWS: i64 = 8;
/// Elements from which it pays: fewer stay in caches.
const MANY: i64 = 1 << 16;

/// A load that goes across the stores.
pub(in crate::schedule) struct Across {
    load: ValId,
    /// The axis along which results lie in memory, and that along which the load does.
    along: AxisId,
    across: AxisId,
}

/// The load of 32-bit elements that a nest should read in tiles, if one goes across all stores.
pub(in crate::schedule) fn find(program: &LoopProgram, nest: &Nest, target: &Target) -> Option<Across> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    if !target.has_fast_workgroups() || target.max_threads < (SIDE * ROWS) as u32 || hint(&nest.axes) < MANY {
        return None;
    }
    let unit = |index: &Expr| nest.axes.iter().copied().find(|a| index.coefficient(*a).is_some_and(|c| c.is_one()));
    let along = unit(&nest.stores.first()?.index[0])?;
    if nest.stores.iter().any(|s| s.add || unit(&s.index[0]) != Some(along)) {
        return None;
    }
    let mut found = None;
    for (i, (op, dtype)) in nest.ops.iter().enumerate() {
        let LoopOp::Load { index, mask, .. } = op else { continue };
        let mut plain = mask.is_none() && matches!(dtype, DType::F32 | DType::I32 | DType::U32);
        index[0].visit(&mut |a| plain &= !matches!(a, Atom::Value(_)));
        let Some(across) = unit(&index[0]).filter(|a| *a != along && plain && index[0].uses_axis(along)) else { continue };
        if hint(&[along]) < SIDE || hint(&[across]) < SIDE || found.is_some() {
            return None;
        }
        found = Some(Across { load: ValId(i as u32), along, across });
    }
    found
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, t: &Across, target: &Target) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    let others: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != t.along && *a != t.across).collect();
    let tiles = |a: AxisId| groups_of(program.extent(a), SIDE, program);
    let (tiles_along, tiles_across) = (tiles(t.along), tiles(t.across));
    let each = tiles_along.mul(&tiles_across);
    let groups = program.volume(&others).mul(&each);
    let (group, grid) = kb.group(Grid::new(groups, target));
    let (each, wide) = (kb.size(&each), kb.size(&tiles_along));
    let within = kb.int(k::rem(group.clone(), each.clone()));
    let rest = kb.int(k::div(group, each));
    kb.unflatten(rest, &others, program, &mut em.axes);
    let start = |kb: &mut KernelBuilder, tile: KExpr| kb.int(k::mul(tile, k::int(SIDE)));
    let along0 = start(&mut kb, k::rem(within.clone(), wide.clone()));
    let across0 = start(&mut kb, k::div(within, wide));
    let column = kb.int(k::rem(KExpr::LocalId(0), k::int(SIDE)));
    let row = kb.int(k::div(KExpr::LocalId(0), k::int(SIDE)));
    let (end_along, end_across) = (kb.size(program.extent(t.along)), kb.size(program.extent(t.across)));
    let dtype = nest.dtype(t.load);
    // A column more than the tile has: threads that read down a column then read from as many banks.
    let pitch = SIDE + 1;
    let tile = kb.shared("tile", Ty::scalar(dtype), (SIDE * pitch) as u32);
    // One place of the tile: `fast` runs over threads, `slow` over rows of them.
    let place = |kb: &mut KernelBuilder, em: &mut Emitter, step: i64, fast: (AxisId, &KExpr), slow: (AxisId, &KExpr)| {
        let slow_at = kb.int(k::add(row.clone(), k::int(step * ROWS)));
        let i = kb.int(k::add(fast.1.clone(), column.clone()));
        let j = kb.int(k::add(slow.1.clone(), slow_at.clone()));
        em.axes.insert(fast.0, i.clone());
        em.axes.insert(slow.0, j.clone());
        let end = |axis: AxisId| if axis == t.along { end_along.clone() } else { end_across.clone() };
        (slow_at, k::and(k::lt(i, end(fast.0)), k::lt(j, end(slow.0))))
    };
    for step in 0..SIDE / ROWS {
        em.enter();
        let (slow_at, inside) = place(&mut kb, &mut em, step, (t.across, &across0), (t.along, &along0));
        kb.open();
        let value = em.value(&mut kb, t.load)?;
        let index = k::add(k::mul(slow_at, k::int(pitch)), column.clone());
        kb.stmt(Stmt::StoreShared { array: tile, index, value });
        let then = kb.close();
        kb.stmt(Stmt::If { cond: inside, then, otherwise: vec![] });
        em.leave();
    }
    kb.stmt(Stmt::Barrier);
    for step in 0..SIDE / ROWS {
        em.enter();
        let (slow_at, inside) = place(&mut kb, &mut em, step, (t.along, &along0), (t.across, &across0));
        kb.open();
        let index = kb.int(k::add(k::mul(column.clone(), k::int(pitch)), slow_at));
        let value = kb.bind(KExpr::Shared { array: tile, index: Box::new(index) }, Ty::scalar(dtype));
        em.define(t.load, value);
        em.stores(&mut kb, &|_| true)?;
        let then = kb.close();
        kb.stmt(Stmt::If { cond: inside, then, otherwise: vec![] });
        em.leave();
    }
    Ok(kb.finish(program, (SIDE * ROWS) as u32, grid))
}
