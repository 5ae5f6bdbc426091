//! Scans: a piece passes over its rows once. Where memory runs across rows, many of them take each step together, vectorised.

use super::loops::{Stretch, contiguous, each, grain, hint, hoist_constants, nested, span};
use crate::nest::Scan;
use crate::schedule::Scheduled;
use crate::schedule::emit::accumulate::identity;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{DType, Literal, Result};

/// Rows that take a step together, at most: their running values stay in the first cache.
const STRETCH: i64 = 1024;

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, scan: &Scan) -> Result<Scheduled> {
    let rows: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != scan.at).collect();
    let order: Vec<AxisId> = std::iter::once(scan.over).chain(rows.iter().rev().copied()).collect();
    let across = contiguous(program, nest, &order).filter(|a| *a != scan.over && hint(program, program.extent(*a)) >= 8);
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    // Every element that is looked at counts: the condition holds.
    em.define(scan.upto, KExpr::Lit(Literal::new(1.0, DType::Bool)));
    hoist_constants(&mut kb, &mut em)?;
    let t = Template { program, nest, scan, rows, dtype: nest.dtype(scan.reduce) };
    match across {
        Some(a) => t.across(kb, em, a),
        None => t.along(kb, em),
    }
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    scan: &'a Scan,
    /// The nest's axes but that of the results.
    rows: Vec<AxisId>,
    dtype: DType,
}

impl Template<'_> {
    fn combine(&self, a: KExpr, b: KExpr) -> KExpr {
        KExpr::Scalar(self.scan.op.combine(), vec![a, b])
    }

    fn along(&self, mut kb: KernelBuilder, mut em: Emitter) -> Result<Scheduled> {
        let program = self.program;
        let total = program.volume(&self.rows);
        let per = (grain(self.nest) / hint(program, program.extent(self.scan.over))).max(1);
        let (piece, grid) = kb.group(Grid::line(groups_of(&total, per, program)));
        let range = span(&mut kb, piece, &total, per);
        each(&mut kb, &mut em, range, |kb, em, row| {
            kb.unflatten(row, &self.rows, program, &mut em.axes);
            let running = kb.mutable(identity(self.scan.op, self.dtype), Ty::scalar(self.dtype));
            let end = kb.size(program.extent(self.scan.over));
            each(kb, em, (k::int(0), end), |kb, em, i| {
                em.axes.insert(self.scan.over, i.clone());
                em.axes.insert(self.scan.at, i);
                let v = em.value(kb, self.scan.value)?;
                kb.stmt(Stmt::Assign(running, self.combine(KExpr::Var(running), v)));
                em.define(self.scan.reduce, KExpr::Var(running));
                em.stores(kb, &|_| true)
            })
        })?;
        Ok(kb.finish(program, 1, grid))
    }

    fn across(&self, mut kb: KernelBuilder, mut em: Emitter, axis: AxisId) -> Result<Scheduled> {
        let program = self.program;
        let outer: Vec<AxisId> = self.rows.iter().copied().filter(|a| *a != axis).collect();
        let extent = program.extent(axis).clone();
        let length = hint(program, program.extent(self.scan.over));
        let wanted = (grain(self.nest) / length).clamp(32, STRETCH);
        let Stretch { size: stretch, start, count, grid } = Stretch::of(&mut kb, &mut em, &outer, &extent, wanted);
        let array = kb.shared("running", Ty::scalar(self.dtype), stretch as u32);
        let none = identity(self.scan.op, self.dtype);
        each(&mut kb, &mut em, (k::int(0), count.clone()), |kb, _, j| {
            kb.stmt(Stmt::StoreShared { array, index: j, value: none });
            Ok(())
        })?;
        nested(&mut kb, &mut em, program, &[self.scan.over], &mut |kb, em| {
            let i = em.axes.get(&self.scan.over).cloned().unwrap_or_else(|| k::int(0));
            em.axes.insert(self.scan.at, i);
            each(kb, em, (k::int(0), count.clone()), |kb, em, j| {
                em.axes.insert(axis, k::add(start.clone(), j.clone()));
                let so_far = KExpr::Shared { array, index: Box::new(j.clone()) };
                let v = em.value(kb, self.scan.value)?;
                let now = kb.bind(self.combine(so_far, v), Ty::scalar(self.dtype));
                kb.stmt(Stmt::StoreShared { array, index: j, value: now.clone() });
                em.define(self.scan.reduce, now);
                em.stores(kb, &|_| true)
            })
        })?;
        Ok(kb.finish(program, 1, grid))
    }
}
