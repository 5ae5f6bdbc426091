//! Scans: one pass over each row, by as many lanes as its length keeps busy.
//!
//! Where neighbours in memory are neighbours along the row, a workgroup takes it in tiles: each lane combines a few neighbours, the
//! lanes combine what they have over a butterfly, and what the tile comes to is carried to the next. Where they are neighbours across
//! rows, each lane has a stretch of its row: it combines it, learns what comes before, and passes over it again.
//! (G. Blelloch, "Prefix Sums and Their Applications", 1990.)

use super::rows::{Place, Shape};
use crate::device::Target;
use crate::nest::Scan;
use crate::nest::access::contiguous_axis;
use crate::schedule::Scheduled;
use crate::schedule::emit::accumulate::identity;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{DType, Literal, Result, ScalarOp};

/// Neighbours that a lane combines by itself.
const EACH: i64 = 4;

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, scan: &Scan, target: &Target) -> Result<Scheduled> {
    let hint = |a: &[AxisId]| program.env.hint_or_one(&program.volume(a)).max(1);
    let mut rows: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != scan.at).collect();
    let across = contiguous_axis(program, nest, false).filter(|a| rows.contains(a));
    if let Some(a) = across {
        rows.retain(|x| *x != a);
        rows.push(a);
    }
    let n = hint(&[scan.over]);
    let pow2 = |n: i64| (n.max(1) as u64).next_power_of_two() as i64;
    let most = target.max_threads.min(256) as i64;
    let wide = if target.has_shuffles() { target.max_threads as i64 } else { most };
    // Threads run one after another in software: lanes only pay where rows are few.
    let few = target.has_fast_workgroups() || hint(&rows) < 32;
    let (lanes, group) = match across {
        Some(_) => (pow2(n / 16).min(wide / 32), 32),
        None => (pow2((n + EACH - 1) / EACH).min(most), 0),
    };
    let lanes = if few { lanes } else { 1 };
    let group = if group > 0 { group } else { (most.min(64).max(lanes) / lanes).max(1) };
    let shape = Shape { rows: group as u32, lanes: lanes as u32, rows_fastest: across.is_some() };
    let t = Template { program, nest, scan, target, shape, dtype: nest.dtype(scan.reduce), rows };
    if across.is_some() { t.across() } else { t.along() }
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    scan: &'a Scan,
    target: &'a Target,
    shape: Shape,
    dtype: DType,
    /// The nest's axes but that of the results.
    rows: Vec<AxisId>,
}

impl Template<'_> {
    fn ty(&self) -> Ty {
        Ty::scalar(self.dtype)
    }

    fn none(&self) -> KExpr {
        identity(self.scan.op, self.dtype)
    }

    fn combine(&self, a: KExpr, b: KExpr) -> KExpr {
        KExpr::Scalar(self.scan.op.combine(), vec![a, b])
    }

    /// A builder with every thread in its place, and what does not vary along the row computed.
    fn begin<'n>(&'n self) -> Result<(KernelBuilder, Emitter<'n>, Place)> {
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        let place = self.shape.place(&mut kb, &mut em, &self.rows, self.program, self.target);
        // Every element that is looked at counts: the condition holds.
        em.define(self.scan.upto, KExpr::Lit(Literal::new(1.0, DType::Bool)));
        let along = [self.scan.at, self.scan.over];
        em.hoist(&mut kb, self.scan.value, &along)?;
        for s in &self.nest.stores {
            em.hoist(&mut kb, s.value, &along)?;
        }
        Ok((kb, em, place))
    }

    /// The stores of one element, whose running value is `value`.
    fn store(&self, kb: &mut KernelBuilder, em: &mut Emitter, at: KExpr, value: KExpr, cond: Option<KExpr>) -> Result<()> {
        kb.open();
        em.enter();
        em.axes.insert(self.scan.at, at);
        let value = kb.bind(value, self.ty());
        em.define(self.scan.reduce, value);
        em.stores(kb, &|_| true)?;
        em.leave();
        let then = kb.close();
        kb.stmts_where(cond, then);
        Ok(())
    }

    fn along(&self) -> Result<Scheduled> {
        let (mut kb, mut em, place) = self.begin()?;
        let lanes = self.shape.lanes as i64;
        let threads = self.shape.lanes * self.shape.rows;
        let extent = self.program.extent(self.scan.over);
        let n = kb.size(extent);
        let exact = extent.as_const().is_some_and(|n| n % (lanes * EACH) == 0);
        let shared = (lanes > 1).then(|| kb.shared("lanes", self.ty(), threads));
        let carry = kb.mutable(self.none(), self.ty());
        let tile = kb.var(k::I32);
        kb.open();
        em.enter();
        let first = kb.int(k::add(KExpr::Var(tile), k::mul(place.lane.clone(), k::int(EACH))));
        let mut elements: Vec<(KExpr, Option<KExpr>, KExpr)> = Vec::new();
        for e in 0..EACH {
            let at = kb.int(k::add(first.clone(), k::int(e)));
            let (read, inside) = if exact {
                (at.clone(), None)
            } else {
                let inside = kb.bind(k::lt(at.clone(), n.clone()), k::BOOL);
                (kb.int(k::bin(ScalarOp::Min, at.clone(), k::sub(n.clone(), k::int(1)))), Some(inside))
            };
            em.enter();
            em.axes.insert(self.scan.over, read.clone());
            let mut v = em.value(&mut kb, self.scan.value)?;
            em.leave();
            if let Some(inside) = &inside {
                v = k::select(inside.clone(), v, self.none());
            }
            if let Some((_, _, before)) = elements.last() {
                v = self.combine(before.clone(), v);
            }
            let v = kb.bind(v, self.ty());
            elements.push((read, inside, v));
        }
        let total = elements.last().map_or_else(|| self.none(), |e| e.2.clone());
        let (before, total) = match shared {
            Some(array) => self.butterfly(&mut kb, array, total, &place.lane),
            None => (None, total),
        };
        let start = match before {
            Some(before) => self.combine(KExpr::Var(carry), before),
            None => KExpr::Var(carry),
        };
        // As it is before the carry changes.
        let held = kb.var(self.ty());
        kb.stmt(Stmt::Let(held, start));
        for (at, inside, v) in elements {
            let cond = match (place.valid.clone(), inside) {
                (Some(a), Some(b)) => Some(k::and(a, b)),
                (a, b) => a.or(b),
            };
            let value = self.combine(KExpr::Var(held), v);
            self.store(&mut kb, &mut em, at, value, cond)?;
        }
        let next = self.combine(KExpr::Var(carry), total);
        kb.stmt(Stmt::Assign(carry, next));
        em.leave();
        let body = kb.close();
        kb.stmt(Stmt::For { var: tile, start: k::int(0), end: n, step: k::int(lanes * EACH), body });
        Ok(kb.finish(self.program, threads, place.grid))
    }

    /// What the lanes of a row before this one come to, and what all of them do: in each round a lane learns what its opposite has, and
    /// so what a group twice as large comes to.
    fn butterfly(&self, kb: &mut KernelBuilder, array: u32, total: KExpr, lane: &KExpr) -> (Option<KExpr>, KExpr) {
        let lanes = self.shape.lanes as i64;
        let tid = KExpr::LocalId(0);
        let (mut before, mut total) = (self.none(), total);
        let mut apart = 1;
        while apart < lanes {
            let theirs = if self.target.has_shuffles() && apart < 32 {
                KExpr::Shuffle(Box::new(total.clone()), apart as u8)
            } else {
                kb.stmt(Stmt::StoreShared { array, index: tid.clone(), value: total.clone() });
                kb.stmt(Stmt::Barrier);
                let opposite = KExpr::Scalar(ScalarOp::Xor, vec![tid.clone(), k::int(apart)]);
                KExpr::Shared { array, index: Box::new(opposite) }
            };
            let theirs = kb.bind(theirs, self.ty());
            if !(self.target.has_shuffles() && apart < 32) {
                // Nobody writes before everybody has read.
                kb.stmt(Stmt::Barrier);
            }
            let bit = KExpr::Scalar(ScalarOp::And, vec![lane.clone(), k::int(apart)]);
            let upper = KExpr::Scalar(ScalarOp::Ne, vec![bit, k::int(0)]);
            let more = self.combine(theirs.clone(), before.clone());
            before = kb.bind(k::select(upper, more, before), self.ty());
            total = kb.bind(self.combine(total, theirs), self.ty());
            apart *= 2;
        }
        (Some(before), total)
    }

    fn across(&self) -> Result<Scheduled> {
        let (mut kb, mut em, place) = self.begin()?;
        let (rows, lanes) = (self.shape.rows, self.shape.lanes);
        let extent = self.program.extent(self.scan.over);
        let n = kb.size(extent);
        let stretch = kb.size(&groups_of(extent, lanes as i64, self.program));
        let first = kb.int(k::mul(place.lane.clone(), stretch.clone()));
        let end = kb.int(k::bin(ScalarOp::Min, k::add(first.clone(), stretch), n));
        let running = kb.mutable(self.none(), self.ty());
        if lanes > 1 {
            self.pass(&mut kb, &mut em, running, (&first, &end), |_, _, _| Ok(()))?;
            let array = kb.shared("lanes", self.ty(), rows * lanes);
            let at = |lane: KExpr| k::add(k::mul(lane, k::int(rows as i64)), place.within.clone());
            kb.stmt(Stmt::StoreShared { array, index: at(place.lane.clone()), value: KExpr::Var(running) });
            kb.stmt(Stmt::Barrier);
            kb.stmt(Stmt::Assign(running, self.none()));
            let other = kb.var(k::I32);
            let theirs = KExpr::Shared { array, index: Box::new(at(KExpr::Var(other))) };
            let body = vec![Stmt::Assign(running, self.combine(KExpr::Var(running), theirs))];
            kb.stmt(Stmt::For { var: other, start: k::int(0), end: place.lane.clone(), step: k::int(1), body });
        }
        self.pass(&mut kb, &mut em, running, (&first, &end), |kb, em, at| {
            self.store(kb, em, at, KExpr::Var(running), place.valid.clone())
        })?;
        Ok(kb.finish(self.program, rows * lanes, place.grid))
    }

    /// Runs over a stretch, combining into a register.
    fn pass(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        running: Var,
        (first, end): (&KExpr, &KExpr),
        then: impl FnOnce(&mut KernelBuilder, &mut Emitter, KExpr) -> Result<()>,
    ) -> Result<()> {
        let at = kb.var(k::I32);
        kb.open();
        em.enter();
        em.axes.insert(self.scan.over, KExpr::Var(at));
        let v = em.value(kb, self.scan.value)?;
        kb.stmt(Stmt::Assign(running, self.combine(KExpr::Var(running), v)));
        then(kb, em, KExpr::Var(at))?;
        em.leave();
        let body = kb.close();
        kb.stmt(Stmt::For { var: at, start: first.clone(), end: end.clone(), step: k::int(1), body });
        Ok(())
    }
}
