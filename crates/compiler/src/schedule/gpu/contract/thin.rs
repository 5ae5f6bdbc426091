//! Thin products: one side is a few rows, as of a classifier's last layer and in the gradient of its weight. Memory limits them, not
//! arithmetic. The threads of a workgroup share the sums along k, and a thread takes the whole thin side, so that the other operand is
//! read once, four neighbours by one access where it lies so. The shares are added in workgroup memory, in a fixed order.

use super::{Place, Results, Template, Tile};
use crate::device::Target;
use crate::nest::Contraction;
use crate::nest::access::contiguous_along;
use crate::schedule::Scheduled;
use crate::schedule::emit::quad::{self, Quad};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{Result, ScalarOp};
use rustc_hash::FxHashMap;

/// Rows of a thin side, at most: a thread has a sum of each in registers.
const THIN: i64 = 16;
/// Threads of a workgroup, as many as most small nests have: those run in one launch with them.
const THREADS: u32 = 64;

/// The side that is not thin.
#[derive(Clone, Copy, PartialEq)]
enum Wide {
    M,
    N,
}

/// Along what axis a thread reads four neighbours of the wide operand by one access.
#[derive(Clone, Copy, PartialEq)]
enum Four {
    Depth(AxisId),
    Side(AxisId),
    Neither,
}

/// How a thin product is spread over workgroups and threads.
#[derive(Clone, Copy)]
pub(in crate::schedule) struct Plan {
    tile: Tile,
    wide: Wide,
    four: Four,
    /// Threads that share the sum of a result.
    shares: u32,
}

/// The plan for a product of one thin side that is too small for matrix units or tiles to matter; `None` for all others.
pub(in crate::schedule) fn plan(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<Plan> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (b, m, n, kk) = (hint(&c.batch), hint(&c.m), hint(&c.n), hint(&c.k));
    if !target.has_fast_workgroups() || m.min(n) > THIN || kk < 128 || b * m.max(n) > 1 << 16 || b * m * n * kk > 1 << 26 {
        return None;
    }
    let (wide, operand, axes) = if m > n { (Wide::M, c.lhs, &c.m) } else { (Wide::N, c.rhs, &c.n) };
    let pays = |axis: AxisId| quad::reads_wide(nest, program, operand, axis).then_some(axis);
    let four = match (c.k.as_slice(), axes.last()) {
        ([only], _) if pays(*only).is_some() => Four::Depth(*only),
        (_, Some(last)) if pays(*last).is_some() => Four::Side(*last),
        _ => Four::Neither,
    };
    // Neighbouring threads read neighbouring elements: rows of 256 or 64 bytes along k, or of 32 along the side.
    let (threads, each) = match four {
        Four::Depth(_) => (4, 1),
        Four::Side(_) => (2, 4),
        Four::Neither if contiguous_along(nest, operand, &c.k) => (4, 1),
        Four::Neither => (8, 1),
    };
    let thin = (1, m.min(n) as u32);
    let ((threads_m, per_m), (threads_n, per_n)) = if wide == Wide::M { ((threads, each), thin) } else { (thin, (threads, each)) };
    let tile = Tile { threads_n, threads_m, per_m, per_n, depth: 0 };
    Some(Plan { tile, wide, four, shares: THREADS / threads })
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, plan: Plan, target: &Target) -> Result<Scheduled> {
    Template { program, nest, c, tile: plan.tile, target }.thin(plan)
}

/// How many workgroups compute a thin product; `None` for all others.
pub(crate) fn thin_groups(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<i64> {
    let tile = plan(program, nest, c, target)?.tile;
    let tiles = |axes: &[AxisId], each: u32| Some((program.volume(axes).as_const()? + each as i64 - 1) / each as i64);
    Some(program.volume(&c.batch).as_const()? * tiles(&c.m, tile.m())? * tiles(&c.n, tile.n())?)
}

/// A thread's part of the wide side: the axes at its element, or at the first of its four, whose axis is divided by four.
struct Part {
    axes: FxHashMap<AxisId, KExpr>,
    at: KExpr,
}

impl Template<'_> {
    pub(in crate::schedule) fn thin(&self, plan: Plan) -> Result<Scheduled> {
        let t = self.tile;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        // Which part of the sums, and which of those that have the same part.
        let shares = k::int(plan.shares as i64);
        let fellows = k::int((THREADS / plan.shares) as i64);
        let wide_operand = if plan.wide == Wide::M { self.c.lhs } else { self.c.rhs };
        let (share, thread) = if contiguous_along(self.nest, wide_operand, &self.c.k) {
            (k::rem(KExpr::LocalId(0), shares.clone()), k::div(KExpr::LocalId(0), shares))
        } else {
            (k::div(KExpr::LocalId(0), fellows.clone()), k::rem(KExpr::LocalId(0), fellows))
        };
        let (share, thread) = (kb.int(share), kb.int(thread));
        let place = self.place(&mut kb, &mut em, thread);
        let part = self.wide_part(&mut kb, plan, &place);
        let (rows, axes, base) = match plan.wide {
            Wide::M => (t.per_n, &self.c.n, &place.n0),
            Wide::N => (t.per_m, &self.c.m, &place.m0),
        };
        let exact = self.divides(axes, rows);
        let rows: Vec<_> = (0..rows).map(|r| self.side(&mut kb, axes, k::add(base.clone(), k::int(r as i64)), exact).1).collect();
        let dtype = self.nest.dtype(self.c.reduce);
        let accs: Vec<Var> = (0..t.per_m * t.per_n).map(|_| kb.mutable(zero(dtype), Ty::scalar(dtype))).collect();
        // Steps along k, of four columns or one. A thread has several on their way where they divide evenly.
        let (each, depth) = match plan.four {
            Four::Depth(_) => (4, self.extent(&self.c.k).exact_div(&Expr::Const(4))),
            _ => (1, None),
        };
        let end = kb.size(&depth.unwrap_or_else(|| self.extent(&self.c.k)));
        let most = if each == 4 { 4 } else { 8 };
        let turn = [8, 4, 2].into_iter().find(|turn| *turn <= most && self.divides(&self.c.k, turn * each * plan.shares)).unwrap_or(1);
        let var = kb.var(k::I32);
        kb.open();
        for u in 0..turn {
            em.enter();
            let at = kb.int(k::add(KExpr::Var(var), k::int((u * plan.shares) as i64)));
            self.thin_step(&mut kb, &mut em, plan, &part, &rows, at, &accs)?;
            em.leave();
        }
        let body = kb.close();
        kb.stmt(Stmt::For { var, start: share.clone(), end, step: k::int((turn * plan.shares) as i64), body });
        // Every share has a tile of its own.
        let width = t.n();
        let tile = kb.shared("tile", Ty::scalar(dtype), plan.shares * t.m() * width);
        let mine = kb.int(k::mul(share, k::int((t.m() * width) as i64)));
        let along = |thread: &KExpr, each: u32, i: u32| k::add(k::mul(thread.clone(), k::int(each as i64)), k::int(i as i64));
        for i in 0..t.per_m {
            let row = k::mul(along(&place.ty, t.per_m, i), k::int(width as i64));
            let row = kb.int(k::add(mine.clone(), row));
            for j in 0..t.per_n {
                let index = k::add(row.clone(), along(&place.tx, t.per_n, j));
                kb.stmt(Stmt::StoreShared { array: tile, index, value: KExpr::Var(accs[(i * t.per_n + j) as usize]) });
            }
        }
        kb.stmt(Stmt::Barrier);
        let all = Results { array: tile, lanes: 1, shares: plan.shares, threads: THREADS, run: t.m(), step: t.m(), first: 0 };
        self.finish_tile(&mut kb, &mut em, &place, all)?;
        Ok(kb.finish(self.program, THREADS, place.grid))
    }

    fn wide_part(&self, kb: &mut KernelBuilder, plan: Plan, place: &Place) -> Part {
        let (base, thread, axes, size) = match plan.wide {
            Wide::M => (&place.m0, &place.ty, &self.c.m, self.tile.m()),
            Wide::N => (&place.n0, &place.tx, &self.c.n, self.tile.n()),
        };
        let exact = self.divides(axes, size);
        match plan.four {
            Four::Side(_) => {
                let (at, axes) = self.wide_place(kb, axes, base, thread.clone(), exact);
                Part { axes, at }
            }
            _ => Part { axes: self.side(kb, axes, k::add(base.clone(), thread.clone()), exact).1, at: k::int(0) },
        }
    }

    /// What one step along k, from `at` on, adds to the sums of a thread.
    #[allow(clippy::too_many_arguments)]
    fn thin_step(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        plan: Plan,
        part: &Part,
        rows: &[FxHashMap<AxisId, KExpr>],
        at: KExpr,
        accs: &[Var],
    ) -> Result<()> {
        let (wide, narrow) = match plan.wide {
            Wide::M => (self.c.lhs, self.c.rhs),
            Wide::N => (self.c.rhs, self.c.lhs),
        };
        let mut at_k = FxHashMap::default();
        if !matches!(plan.four, Four::Depth(_)) {
            kb.unflatten(at.clone(), &self.c.k, self.program, &mut at_k);
        }
        // A value at one or four places: along an axis of which `at` is a quarter.
        let read = |kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, four: Option<(AxisId, &KExpr)>, env: &FxHashMap<AxisId, KExpr>| {
            let Some((axis, at)) = four else { return Ok(vec![self.operand(kb, em, v, &[&at_k, env])?]) };
            let axes = em.axes.iter().chain(&at_k).chain(env).map(|(a, e)| (*a, e.clone())).collect();
            let lanes = Quad::new(axis, 4, at.clone(), axes).value(kb, em, v)?;
            Ok::<_, aludel_ir::Error>((0..4).map(|l| quad::lane(&lanes, l)).collect())
        };
        let (of_wide, of_narrow) = match plan.four {
            Four::Depth(axis) => (Some((axis, &at)), Some((axis, &at))),
            Four::Side(axis) => (Some((axis, &part.at)), None),
            Four::Neither => (None, None),
        };
        let xs = read(kb, em, wide, of_wide, &part.axes)?;
        for (r, row) in rows.iter().enumerate() {
            let ys = read(kb, em, narrow, of_narrow, row)?;
            for (l, x) in xs.iter().enumerate() {
                // Four along k are terms of one sum, four along the side of four.
                let (y, l) = if matches!(plan.four, Four::Depth(_)) { (&ys[l], 0) } else { (&ys[0], l) };
                let (place, [lhs, rhs]) = match plan.wide {
                    Wide::M => (l * self.tile.per_n as usize + r, [x, y]),
                    Wide::N => (r * self.tile.per_n as usize + l, [y, x]),
                };
                let term = self.product(lhs.clone(), rhs.clone());
                kb.stmt(Stmt::Assign(accs[place], KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(accs[place]), term])));
            }
        }
        Ok(())
    }
}
