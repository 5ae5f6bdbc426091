//! Rows on NVIDIA GPUs: a row's elements are read once and stay in the registers of the threads that share the row, from the
//! first phase to the last store. Threads combine their parts by subgroup shuffles, subgroups through workgroup memory.
//!
//! For rows of known length that fit; the template of [`super::rows`] does the others.

use crate::device::Target;
use crate::nest::access::levels;
use crate::schedule::Scheduled;
use crate::schedule::emit::quad::{Quad, pays};
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::gpu::rows::LITTLE;
use crate::schedule::grid::Grid;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{BufferKind, LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::{DType, Literal, ReduceOp, Result, ScalarOp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::schedule) struct Shape {
    /// Threads that share a row: a power of two from 32.
    threads: u32,
    /// Rows of a workgroup.
    rows: u32,
    /// Elements of one access: one or four.
    width: u32,
    /// Accesses of one thread to each operand.
    each: u32,
}

/// Registers of one thread for a row's elements: more would leave too few threads to hide the memory's latency.
const REGISTERS: i64 = 64;

/// How a nest's rows are laid over threads; `None` where they do not fit.
pub(in crate::schedule) fn choose(program: &LoopProgram, nest: &Nest, target: &Target) -> Option<Shape> {
    let [axis] = nest.inner.as_slice() else { return None };
    let n = program.extent(*axis).as_const().filter(|n| *n >= 32)?;
    let fits = nest.reduces().all(|r| match nest.op(r) {
        LoopOp::Reduce { op, axes, value } => !op.is_arg() && axes == &nest.inner && nest.dtype(*value) != DType::Bool,
        _ => false,
    });
    if !target.has_shuffles() || !fits || nest.stores.iter().any(|s| s.add) {
        return None;
    }
    let width = if pays(nest, program, *axis) { 4 } else { 1 };
    let units = (n + width - 1) / width;
    let moves = |op: &LoopOp| matches!(op, LoopOp::Load { index, .. } if index[0].uses_axis(*axis));
    let loads = nest.ops.iter().filter(|(op, _)| moves(op)).count().max(1) as i64;
    let each = |threads: i64| (units + threads - 1) / threads;
    let light = |threads: &i64| each(*threads) * width * loads <= REGISTERS && each(*threads) <= if width == 4 { 4 } else { 8 };
    let heavy = |threads: &i64| each(*threads) * width * loads <= 2 * REGISTERS && *threads == 1024;
    let sizes = [32, 64, 128, 256, 512, 1024];
    let threads = sizes.iter().copied().find(light).or_else(|| sizes.iter().copied().find(heavy))?;
    let little = program.env.hint_or_one(&program.volume(&nest.axes)).max(1).saturating_mul(n) <= LITTLE;
    let (threads, most) = match threads {
        128 | 256 if little && each(64) * width * loads <= REGISTERS => (64, 64),
        _ if little => (threads, 64),
        _ => (threads, 128),
    };
    let rows = (most / threads).max(1);
    Some(Shape { threads: threads as u32, rows: rows as u32, width: width as u32, each: each(threads) as u32 })
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, shape: Shape, target: &Target) -> Result<Scheduled> {
    let Shape { threads, rows, width, each } = shape;
    let axis = nest.inner[0];
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    let count = program.volume(&nest.axes);
    let groups = groups_of(&count, rows as i64, program);
    let (group, grid) = kb.group(Grid::new(groups, target));
    let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(threads as i64)));
    let within = kb.int(k::div(KExpr::LocalId(0), k::int(threads as i64)));
    let row = kb.int(k::add(k::mul(group, k::int(rows as i64)), within.clone()));
    // A row past the end computes the last row again and stores nothing: shuffles need every thread.
    let exact = count.as_const().is_some_and(|r| r % rows as i64 == 0);
    let (place, valid) = if exact {
        (row, None)
    } else {
        let end = kb.size(&count);
        let valid = kb.bind(k::lt(row.clone(), end.clone()), k::BOOL);
        (kb.int(k::bin(ScalarOp::Min, row, k::sub(end, k::int(1)))), Some(valid))
    };
    kb.unflatten(place, &nest.axes, program, &mut em.axes);
    let mut quads = elements(&mut kb, &em, program, axis, shape, &lane);
    let levels = levels(nest);
    let phases = nest.reduces().map(|r| levels[r.0 as usize]).max().unwrap_or(0);
    for phase in 0..phases {
        let now: Vec<ValId> = nest.reduces().filter(|r| levels[r.0 as usize] == phase + 1).collect();
        let mut partial = Vec::new();
        for r in now {
            let LoopOp::Reduce { op, value, .. } = nest.op(r) else { continue };
            em.hoist(&mut kb, *value, &nest.inner)?;
            let dtype = nest.dtype(*value);
            partial.push((r, op.combine(), thread_part(&mut kb, &em, &mut quads, *op, *value)?, dtype));
        }
        combine(&mut kb, &mut em, partial, shape, &within);
        // Long rows fill the registers by themselves.
        if each * width > 32 {
            quads.iter_mut().for_each(|(quad, _)| quad.forget(nest));
        }
    }
    store(&mut kb, &mut em, &mut quads, lane, valid)?;
    Ok(kb.finish(program, rows * threads, grid))
}

/// The thread's own elements, and whether they are in the row.
fn elements(
    kb: &mut KernelBuilder,
    em: &Emitter,
    program: &LoopProgram,
    axis: AxisId,
    shape: Shape,
    lane: &KExpr,
) -> Vec<(Quad, Option<KExpr>)> {
    let Shape { threads, width, each, .. } = shape;
    let n = program.extent(axis).as_const().unwrap_or(1);
    let units = (n + width as i64 - 1) / width as i64;
    let mut quads = Vec::new();
    for u in 0..each {
        let unit = kb.int(k::add(lane.clone(), k::int((u * threads) as i64)));
        let full = (u as i64 + 1) * threads as i64 <= units;
        let inside = (!full).then(|| kb.bind(k::lt(unit.clone(), k::int(units)), k::BOOL));
        let at = if full { unit } else { kb.int(k::bin(ScalarOp::Min, unit, k::int(units - 1))) };
        quads.push((Quad::new(axis, width, at, em.axes.clone()), inside));
    }
    quads
}

/// The reduction of a thread's own elements.
fn thread_part(kb: &mut KernelBuilder, em: &Emitter, quads: &mut [(Quad, Option<KExpr>)], op: ReduceOp, value: ValId) -> Result<KExpr> {
    let dtype = em.nest.dtype(value);
    let identity = KExpr::Lit(Literal::new(op.identity(dtype), dtype));
    let mut acc: Option<KExpr> = None;
    for (quad, inside) in quads {
        for mut x in quad.value(kb, em, value)? {
            if let Some(c) = inside {
                x = k::select(c.clone(), x, identity.clone());
            }
            acc = Some(match acc {
                None => x,
                Some(a) => kb.bind(KExpr::Scalar(op.combine(), vec![a, x]), Ty::scalar(dtype)),
            });
        }
    }
    Ok(acc.unwrap_or(identity))
}

/// What varies along the row is stored by all threads, the rest by a row's first.
fn store(kb: &mut KernelBuilder, em: &mut Emitter, quads: &mut [(Quad, Option<KExpr>)], lane: KExpr, valid: Option<KExpr>) -> Result<()> {
    let nest = em.nest;
    let wide: Vec<bool> = nest
        .stores
        .iter()
        .map(|s| em.depends_on(s.value, &nest.inner) || s.index[0].axes().iter().any(|a| nest.inner.contains(a)))
        .collect();
    for (s, _) in nest.stores.iter().zip(&wide).filter(|(_, w)| **w) {
        em.hoist(kb, s.value, &nest.inner)?;
    }
    let mut ready = Vec::new();
    for (quad, inside) in quads {
        let stores = quad.stores(kb, em, &|s| wide[s])?;
        let condition = match (inside.clone(), valid.clone()) {
            (Some(a), Some(b)) => Some(k::and(a, b)),
            (a, b) => a.or(b),
        };
        ready.push((condition, stores));
    }
    for (condition, then) in ready.into_iter().filter(|(_, s)| !s.is_empty()) {
        kb.stmts_where(condition, then);
    }
    if wide.iter().any(|w| !w) {
        let in_place = |s: &Store| matches!(em.program.buffer(s.buffer).kind, BufferKind::Update(_));
        if wide.contains(&true) && nest.stores.iter().zip(&wide).any(|(s, w)| !w && in_place(s)) {
            // The row's other threads have read for their columns what its first overwrites.
            kb.stmt(Stmt::Barrier);
        }
        let first = KExpr::Scalar(ScalarOp::Eq, vec![lane, k::int(0)]);
        let cond = valid.map_or(first.clone(), |v| k::and(v, first));
        em.enter();
        kb.open();
        em.stores(kb, &|s| !wide[s])?;
        let then = kb.close();
        em.leave();
        kb.stmt(Stmt::If { cond, then, otherwise: vec![] });
    }
    Ok(())
}

/// The threads of a row combine what they have; each then knows the results.
fn combine(kb: &mut KernelBuilder, em: &mut Emitter, mut partial: Vec<(ValId, ScalarOp, KExpr, DType)>, shape: Shape, within: &KExpr) {
    let step = |kb: &mut KernelBuilder, op: ScalarOp, x: KExpr, mask: u8, dtype: DType| {
        let x = kb.bind(x, Ty::scalar(dtype));
        let other = KExpr::Shuffle(Box::new(x.clone()), mask);
        kb.bind(KExpr::Scalar(op, vec![x, other]), Ty::scalar(dtype))
    };
    for (_, op, x, dtype) in &mut partial {
        for mask in [16, 8, 4, 2, 1] {
            *x = step(kb, *op, x.clone(), mask, *dtype);
        }
    }
    let subgroups = shape.threads / 32;
    if subgroups > 1 {
        // Every reduction has memory of its own: nobody overwrites what another subgroup still reads.
        let place = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let subgroup = kb.int(k::div(KExpr::LocalId(0), k::int(32)));
        kb.open();
        let arrays: Vec<u32> = partial
            .iter()
            .map(|(_, _, x, dtype)| {
                let array = kb.shared(&format!("partial{}", kb.shared.len()), Ty::scalar(*dtype), shape.rows * subgroups);
                kb.stmt(Stmt::StoreShared { array, index: subgroup.clone(), value: x.clone() });
                array
            })
            .collect();
        let then = kb.close();
        let cond = KExpr::Scalar(ScalarOp::Eq, vec![place.clone(), k::int(0)]);
        kb.stmt(Stmt::If { cond, then, otherwise: vec![] });
        kb.stmt(Stmt::Barrier);
        let base = k::mul(within.clone(), k::int(subgroups as i64));
        let from = kb.int(k::add(base, k::rem(place, k::int(subgroups as i64))));
        for ((_, op, x, dtype), array) in partial.iter_mut().zip(arrays) {
            *x = KExpr::Shared { array, index: Box::new(from.clone()) };
            let mut mask = subgroups / 2;
            while mask > 0 {
                *x = step(kb, *op, x.clone(), mask as u8, *dtype);
                mask /= 2;
            }
        }
    }
    for (r, _, x, dtype) in partial {
        let x = kb.bind(x, Ty::scalar(dtype));
        em.define(r, x);
    }
}
