//! The producer: one subgroup, whose first thread starts bulk copies.

use super::{Bulk, GROUP, Ring, Warpgroups};
use crate::schedule::emit::attention::outer;
use crate::schedule::emit::{Emitter, KernelBuilder};
use crate::schedule::nvidia::bulk::{equal, turn};
use aludel_ir::kernel::warpgroup::{ROW, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::{Error, Result, ScalarOp};

impl Warpgroups<'_> {
    pub(super) fn produce(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        r: &Ring,
        row0: &KExpr,
        (start, end): (&KExpr, &KExpr),
    ) -> Result<()> {
        let (a, plan) = (self.f.a, self.plan);
        let maps = self.rows_maps().zip(self.stream_maps());
        let (rows, streams) = maps.ok_or_else(|| Error::verify("attention", "has operands that bulk copies cannot bring"))?;
        let declare =
            |kb: &mut KernelBuilder, list: Vec<Bulk>| -> Vec<_> { list.into_iter().map(|(m, batch)| (kb.map(m), batch)).collect() };
        let (rows, streams) = (declare(kb, rows), declare(kb, streams));
        kb.open();
        em.enter();
        kb.open();
        let bytes = self.rows_start(rows.len()) * GROUP;
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.ready, index: k::int(0), bytes }));
        for (i, (map, batch)) in rows.iter().enumerate() {
            let to = k::int(self.rows_start(i) as i64);
            let o = &plan.operands.left[i].0;
            self.copy(kb, em, r, (*map, batch), (o.features, self.f.rows()), &to, row0, (r.ready, &k::int(0)));
        }
        let then = kb.close();
        kb.stmt(self.by_one(then));
        outer(kb, em, &a.outer, &mut |kb, em| {
            let c0 = kb.var(k::I32);
            kb.open();
            em.enter();
            // On their way while the ring is full.
            let given = self.given(kb, em, &KExpr::Var(c0))?;
            let stage = kb.bind_copy(KExpr::Var(r.stage));
            // Of a ring that was never used, all stages are empty: the phase before the first counts as over.
            let parity = k::sub(k::int(1), KExpr::Var(r.parity));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.empty, index: stage.clone(), parity }));
            let first = self.stage_start(kb, &stage);
            kb.open();
            let bytes = self.stream_start(streams.len()) * GROUP;
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index: stage.clone(), bytes }));
            for (i, (map, batch)) in streams.iter().enumerate() {
                let to = k::add(first.clone(), k::int(self.stream_start(i) as i64));
                let o = &plan.operands.streams[i];
                self.copy(kb, em, r, (*map, batch), (o.features, plan.columns), &to, &KExpr::Var(c0), (r.full, &stage));
            }
            let then = kb.close();
            kb.stmt(self.by_one(then));
            self.give(kb, r, &stage, given);
            turn(kb, plan.stages, (r.stage, r.parity), &stage);
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: c0, start: start.clone(), end: end.clone(), step: k::int(plan.columns as i64), body });
            Ok(())
        })?;
        em.leave();
        let then = kb.close();
        let first = equal(k::div(KExpr::LocalId(0), k::int(32)), self.f.subgroups);
        kb.stmt(Stmt::If { cond: first, then, otherwise: vec![] });
        Ok(())
    }

    /// What the first thread does.
    fn by_one(&self, then: Vec<Stmt>) -> Stmt {
        Stmt::If { cond: equal(KExpr::LocalId(0), self.consumers()), then, otherwise: vec![] }
    }

    /// Starts the copies of a tile of so many features and rows, whose first row is `at`, to `to`: one for each block of features.
    #[allow(clippy::too_many_arguments)]
    fn copy(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        r: &Ring,
        (map, batch): (u32, &[aludel_ir::expr::AxisId]),
        (features, rows): (u32, u32),
        to: &KExpr,
        at: &KExpr,
        (barrier, barrier_index): (u32, &KExpr),
    ) {
        let row = self.plan.factors.row();
        for block in 0..features.div_ceil(row) {
            let mut place = vec![k::int((block * row) as i64), at.clone()];
            place.extend(batch.iter().map(|a| em.axes.get(a).cloned().unwrap_or_else(|| k::int(0))));
            let index = k::add(to.clone(), k::int((block * rows * ROW) as i64));
            let barrier_index = barrier_index.clone();
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Copy { array: r.tiles, index, map, at: place, within: vec![], barrier, barrier_index }));
        }
    }

    /// What of the tile's columns goes through the ring: for each value, that of the thread's columns.
    fn given(&self, kb: &mut KernelBuilder, em: &mut Emitter, c0: &KExpr) -> Result<Vec<Vec<KExpr>>> {
        let a = self.f.a;
        let size = kb.size(self.f.program.extent(a.column));
        let mut out = vec![vec![]; self.plan.given.len()];
        for i in 0..self.plan.columns / 32 {
            let at = k::add(c0.clone(), k::add(k::rem(KExpr::LocalId(0), k::int(32)), k::int(32 * i as i64)));
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(size.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.column, at);
            for (list, v) in out.iter_mut().zip(&self.plan.given) {
                list.push(em.value(kb, *v)?);
            }
            em.leave();
        }
        Ok(out)
    }

    /// Puts that into a stage, so that a thread finds four of its columns side by side: two of eight columns and two of the next.
    fn give(&self, kb: &mut KernelBuilder, r: &Ring, stage: &KExpr, given: Vec<Vec<KExpr>>) {
        if given.is_empty() {
            return;
        }
        let columns = self.plan.columns as i64;
        let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let part = |x: &KExpr, by: i64, of: i64| k::rem(k::div(x.clone(), k::int(by)), k::int(of));
        // The lane's bits: two columns, four pairs, two eights, two sixteens.
        let place = k::add(k::mul(part(&lane, 16, 2), k::int(16)), k::mul(part(&lane, 2, 4), k::int(4)));
        let place = k::add(place, k::add(k::mul(part(&lane, 8, 2), k::int(2)), part(&lane, 1, 2)));
        let first = k::mul(stage.clone(), k::int(given.len() as i64 * columns));
        let first = kb.int(k::add(first, place));
        for (g, list) in given.into_iter().enumerate() {
            for (i, value) in list.into_iter().enumerate() {
                let index = k::add(first.clone(), k::int(g as i64 * columns + 32 * i as i64));
                kb.stmt(Stmt::StoreShared { array: r.given, index, value });
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index: stage.clone(), bytes: 0 }));
    }
}
