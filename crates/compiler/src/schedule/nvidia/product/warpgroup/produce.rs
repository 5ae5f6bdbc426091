//! The producer: starts bulk copies, and computes what cannot be copied.

use super::{CONSUMERS, Factor, GROUP, Ring, Source, Warpgroups, equal, turn};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use crate::schedule::nvidia::product::fetch::{Fetch, Side};
use aludel_ir::expr::Expr;
use aludel_ir::kernel::warpgroup::{ATOM_ROWS, ROW, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::{DType, Result, ScalarOp};
use rustc_hash::FxHashMap;

/// Stages whose copies by threads are under way while the next one's begin: the consumers give a stage back one later, so that two
/// less than the ring has are safe.
const BEHIND: u32 = 2;

impl Warpgroups<'_> {
    /// What one thread of the producer computes of each tile, and where it puts it: units of four neighbours along k, of four rows
    /// where memory is read along the side.
    pub(super) fn places(&self, kb: &mut KernelBuilder, s: &Side) -> (Vec<Fetch>, Vec<KExpr>) {
        let t = &self.t;
        let thread = kb.int(k::sub(KExpr::LocalId(0), k::int(CONSUMERS as i64)));
        let lane = kb.int(k::rem(thread.clone(), k::int(32)));
        let warp = kb.int(k::div(thread, k::int(32)));
        let quads = !s.fetch_along_k && s.lanes == 4;
        // Chosen so that a warp reads whole lines and its stores meet different banks.
        let bits = |x: &KExpr, shift: i64, mask: i64| k::rem(k::div(x.clone(), k::int(1 << shift)), k::int(mask + 1));
        let int = |v: u32| k::int(v as i64);
        let (chunk, row, step) = match () {
            () if quads => {
                let chunk = k::add(bits(&lane, 1, 3), k::mul(bits(&warp, 0, 1), int(4)));
                let row =
                    k::add(k::add(bits(&lane, 0, 1), k::mul(k::div(lane.clone(), int(8)), int(2))), k::mul(bits(&warp, 1, 1), int(8)));
                (chunk, k::mul(row, int(4)), 64)
            }
            () if s.fetch_along_k => (bits(&lane, 0, 7), k::add(k::div(lane.clone(), int(8)), k::mul(warp, int(4))), 16),
            () => (warp, lane, 32),
        };
        let (chunk, row) = (kb.int(chunk), kb.int(row));
        // Its places in the stage's first rows; further units lie a constant away.
        let per_unit = if quads { 4 } else { 1 };
        // A warp that has one of the eight chunks takes two turns to cover a row.
        let halves: u32 = if quads || s.fetch_along_k { 1 } else { 2 };
        let mut firsts = Vec::new();
        for half in 0..halves {
            for i in 0..per_unit {
                let row = kb.int(k::add(row.clone(), int(i)));
                let chunk = k::add(chunk.clone(), int(4 * half));
                let turned = k::bin(ScalarOp::Xor, chunk, k::rem(row.clone(), int(ATOM_ROWS)));
                firsts.push(kb.int(k::add(k::mul(row, int(ROW)), turned)));
            }
        }
        let (mut fetches, mut slots) = (Vec::new(), Vec::new());
        for b in 0..s.size / step * halves {
            let (further, half) = (b / halves * step, b % halves);
            let chunk = k::add(chunk.clone(), int(4 * half));
            let place = k::add(row.clone(), int(further));
            let own = &firsts[(half * per_unit) as usize..((half + 1) * per_unit) as usize];
            slots.extend(own.iter().map(|first| k::add(first.clone(), int(further * ROW))));
            let wide = if s.fetch_along_k { 1 } else { s.lanes };
            let mut place = kb.int(k::add(s.base.clone(), place));
            if !t.divides(s.axes, s.size) {
                let last = kb.size(&t.extent(s.axes).sub(&Expr::Const(wide as i64)));
                place = kb.int(k::bin(ScalarOp::Min, place, last));
            }
            let mut axes = FxHashMap::default();
            let at = if wide == 4 {
                let quad = kb.int(k::div(place, int(4)));
                Some(t.unflatten_wide(kb, quad, s.axes, 4, &mut axes))
            } else {
                kb.unflatten(place, s.axes, t.program, &mut axes);
                None
            };
            let turns = if s.fetch_along_k && s.lanes == 4 { 1 } else { 4 };
            for j in 0..turns {
                let kk = k::add(k::mul(chunk.clone(), int(4)), int(j));
                let registers = (0..s.lanes).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect();
                fetches.push(Fetch { kk, slot: int(0), axes: axes.clone(), at: at.clone(), base: None, conditions: vec![], registers });
            }
        }
        (fetches, slots)
    }

    /// Stores what was computed into a stage.
    pub(super) fn put(&self, kb: &mut KernelBuilder, side: &Side, fetches: &[Fetch], slots: &[KExpr], array: u32, start: &KExpr) {
        let each = if side.fetch_along_k && side.lanes == 4 { 1 } else { 4 };
        let per_unit = if !side.fetch_along_k && side.lanes == 4 { 4 } else { 1 };
        for (unit, fetches) in fetches.chunks(each).enumerate() {
            for i in 0..per_unit {
                // Four along k: of one fetch's lanes, or of four fetches' lane for this row.
                let four: Vec<KExpr> = match fetches {
                    [one] => one.registers.iter().map(|r| KExpr::Var(*r)).collect(),
                    many => many.iter().map(|f| KExpr::Var(f.registers[i.min(f.registers.len() - 1)])).collect(),
                };
                let index = k::add(slots[unit * per_unit + i].clone(), start.clone());
                kb.stmt(Stmt::StoreShared { array, index, value: KExpr::Vec4(four) });
            }
        }
    }

    // Long: the producers' half of one kernel from top to bottom.
    pub(super) fn produce(&self, kb: &mut KernelBuilder, em: &Emitter, factors: &[Factor; 2], r: &Ring, end: &KExpr) -> Result<()> {
        let t = &self.t;
        // Whether all threads have a part in each stage, and whether they copy.
        let computed = factors.iter().any(|f| !matches!(f.source, Source::Bulk { .. }));
        let copied = factors.iter().any(|f| matches!(f.source, Source::Copied { .. }));
        let compute = |kb: &mut KernelBuilder, k0: KExpr| {
            factors.iter().try_for_each(|f| match &f.source {
                Source::Computed { side, fetches, .. } => t.compute(kb, em, side, fetches, k0.clone(), end),
                Source::Bulk { .. } | Source::Copied { .. } => Ok(()),
            })
        };
        compute(kb, k::int(0))?;
        let k0 = kb.var(k::I32);
        kb.open();
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        // Of a ring that was never used, all stages are empty: the phase before the first counts as over.
        let parity = k::sub(k::int(1), KExpr::Var(r.parity));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.empty, index: stage.clone(), parity }));
        let start = kb.int(k::mul(stage.clone(), k::int(((self.plan.rows + self.plan.columns) * ROW) as i64)));
        // Bulk copies, by one thread.
        kb.open();
        let bulk = |f: &&Factor| matches!(f.source, Source::Bulk { .. });
        let bytes: u32 = factors.iter().filter(bulk).map(|f| f.rows * ROW * GROUP).sum();
        if bytes > 0 {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index: stage.clone(), bytes }));
        }
        let mut place = em.axes.clone();
        if bytes > 0 {
            kb.unflatten(KExpr::Var(k0), &t.c.k, t.program, &mut place);
        }
        for f in factors {
            let Source::Bulk { map, bulk, places } = &f.source else { continue };
            for (block, side) in places.iter().enumerate() {
                place.extend(side.iter().map(|(a, e)| (*a, e.clone())));
                let mut at = Vec::with_capacity(bulk.at.len());
                let mut within = Vec::with_capacity(bulk.within.len());
                for (list, exprs) in [(&mut at, &bulk.at), (&mut within, &bulk.within)] {
                    for e in exprs {
                        list.push(kb.expr(e, &place, &|_| None, t.program)?);
                    }
                }
                let index = k::add(start.clone(), k::int((f.start + block as u32 * self.plan.factors.row() * ROW) as i64));
                let (array, map, barrier) = (r.tiles, *map, r.full);
                kb.stmt(Stmt::Warpgroup(WarpgroupOp::Copy { array, index, map, at, within, barrier, barrier_index: stage.clone() }));
            }
        }
        let copies = kb.close();
        match (computed, copies.is_empty()) {
            (_, true) => {}
            (true, false) => kb.stmt(Stmt::If { cond: equal(KExpr::LocalId(0), self.producer()), then: copies, otherwise: vec![] }),
            // The loop is one thread's.
            (false, false) => copies.into_iter().for_each(|s| kb.stmt(s)),
        }
        for f in factors {
            if let Source::Computed { side, fetches, slots } = &f.source {
                let start = kb.int(k::add(start.clone(), k::int(f.start as i64)));
                self.put(kb, side, fetches, slots, r.tiles, &start);
            }
        }
        for f in factors {
            if let Source::Copied { side, fetches } = &f.source {
                let stage = kb.int(k::mul(start.clone(), k::int(self.plan.factors.group() as i64)));
                t.copy(kb, em, side, fetches, KExpr::Var(k0), stage, r.elements, end)?;
            }
        }
        let row = self.plan.factors.row();
        let arrive = |index: KExpr| Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index, bytes: 0 });
        if copied {
            // Copies are under way while the next stages' begin: the stage that is complete lies some turns back.
            kb.stmt(Stmt::AsyncCommit);
            kb.stmt(Stmt::AsyncWait(BEHIND as u8));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
            let cond = KExpr::Scalar(ScalarOp::Ge, vec![KExpr::Var(k0), k::int((BEHIND * row) as i64)]);
            kb.stmt(Stmt::If { cond, then: vec![arrive(self.back(&stage, BEHIND))], otherwise: vec![] });
        } else if computed {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
            kb.stmt(arrive(stage.clone()));
        }
        // The next tile's loads are on their way while the ring is full.
        let next = kb.int(k::add(KExpr::Var(k0), k::int(self.plan.factors.row() as i64)));
        compute(kb, next)?;
        turn(kb, self.plan.stages, (r.stage, r.parity), &stage);
        let body = kb.close();
        let step = k::int(self.plan.factors.row() as i64);
        let all = Stmt::For { var: k0, start: k::int(0), end: end.clone(), step, body };
        kb.stmt(match computed {
            true => all,
            false => Stmt::If { cond: equal(KExpr::LocalId(0), self.producer()), then: vec![all], otherwise: vec![] },
        });
        if copied {
            kb.stmt(Stmt::AsyncWait(0));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
            // The last stages, the earlier one first; a short sum has fewer.
            let next = kb.bind_copy(KExpr::Var(r.stage));
            for back in (1..=BEHIND).rev() {
                let cond = k::lt(k::int(((back - 1) * row) as i64), end.clone());
                kb.stmt(Stmt::If { cond, then: vec![arrive(self.back(&next, back))], otherwise: vec![] });
            }
        }
        Ok(())
    }

    /// The stage so many turns before one.
    fn back(&self, stage: &KExpr, turns: u32) -> KExpr {
        let stages = k::int(self.plan.stages as i64);
        k::rem(k::add(stage.clone(), k::int((self.plan.stages - turns) as i64)), stages)
    }

    /// What one thread of the producer copies of each tile: a group of 16 bytes in every sixteenth row. Eight threads copy a row.
    pub(super) fn copies(&self, kb: &mut KernelBuilder, em: &Emitter, s: &Side, start: u32) -> Result<Vec<Fetch>> {
        let int = |v: u32| k::int(v as i64);
        let (group, row) = (self.plan.factors.group(), self.plan.factors.row());
        let thread = kb.int(k::sub(KExpr::LocalId(0), int(CONSUMERS)));
        let (chunk, first) = (kb.int(k::rem(thread.clone(), int(ROW))), kb.int(k::div(thread, int(ROW))));
        let turned = kb.int(k::bin(ScalarOp::Xor, chunk.clone(), k::rem(first.clone(), int(ATOM_ROWS))));
        let own = kb.int(k::add(k::mul(first.clone(), int(ROW)), turned));
        let along = kb.int(k::mul(chunk, int(group)));
        // Rows of a tile: those of the side, or of each block of the side as many as a stage has columns of k.
        let (rows, blocks) = if s.fetch_along_k { (s.size, 1) } else { (row, s.size / row) };
        let mut out = Vec::new();
        for block in 0..blocks {
            for further in (0..rows).step_by((WARPGROUP / ROW) as usize) {
                let at = k::add(first.clone(), int(further));
                let (kk, place) = if s.fetch_along_k { (along.clone(), at) } else { (kb.int(at), k::add(along.clone(), int(block * row))) };
                let slot = k::mul(k::add(own.clone(), int(start + (block * rows + further) * ROW)), int(group));
                let slot = kb.int(slot);
                out.push(self.t.fetch_at(kb, em, s, kk, place, slot)?);
            }
        }
        Ok(out)
    }
}
