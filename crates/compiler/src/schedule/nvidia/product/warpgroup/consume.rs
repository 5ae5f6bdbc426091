//! The warpgroups that multiply, and what follows the sums.

use super::{CONSUMERS, Factor, ROWS, Ring, Warpgroups, equal, turn};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::kernel::warpgroup::{ROW, Rows, TileAt, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::{DType, Result, ScalarOp};

impl Warpgroups<'_> {
    // Long: the consumers' half of one kernel from top to bottom.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn consume(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        factors: &[Factor; 2],
        r: &Ring,
        end: &KExpr,
        words: u32,
        (m0, n0): (&KExpr, &KExpr),
    ) -> Result<()> {
        let t = &self.t;
        let warpgroup = kb.int(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        let thread = kb.int(k::rem(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        // Where a tile has the rows of one warpgroup, each has half of its columns.
        let beside = if self.plan.rows < ROWS { self.plan.columns / 2 } else { 0 };
        // Sums of 64 rows of the warpgroup, then of those that lie further down.
        let (each, halves) = ((self.plan.columns - beside) / 2, self.plan.rows.div_ceil(ROWS));
        let acc: Vec<Var> = (0..each * halves).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect();
        let before = kb.mutable(k::int(0), k::I32);
        let lane = kb.int(k::rem(thread.clone(), k::int(32)));
        let in_registers = self.plan.in_registers;
        let places = in_registers.then(|| self.row_places(kb, &lane));
        let k0 = kb.var(k::I32);
        kb.open();
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.full, index: stage.clone(), parity: KExpr::Var(r.parity) }));
        let start = kb.int(k::mul(stage.clone(), k::int(((self.plan.rows + self.plan.columns) * ROW) as i64)));
        let own = |rows: u32, first: u32| {
            k::add(k::add(start.clone(), k::mul(warpgroup.clone(), k::int((rows * ROW) as i64))), k::int(first as i64))
        };
        let starts = [own(if beside > 0 { 0 } else { ROWS / 2 }, 0), own(beside, factors[1].start)].map(|e| kb.int(e));
        // Gives back the stage before, whose products are done.
        let release = |kb: &mut KernelBuilder| {
            let cond = k::and(k::lt(k::int(0), KExpr::Var(k0)), equal(thread.clone(), 0));
            let arrive = Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.empty, index: KExpr::Var(before), bytes: 0 });
            kb.stmt(Stmt::If { cond, then: vec![arrive], otherwise: vec![] });
        };
        let steps = self.plan.factors.row() / self.plan.factors.depth();
        let mut rows = Vec::new();
        if let Some(places) = &places {
            // The units read the registers until then. The other warpgroup's products run meanwhile.
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(0)));
            release(kb);
            let first = kb.int(k::mul(start, k::int(4)));
            let places = places.each_ref().map(|p| kb.int(k::add(p.clone(), first.clone())));
            for step in 0..steps {
                let further = k::int((step * self.plan.factors.depth() * ROW * 4) as i64);
                let read = |p: &KExpr| KExpr::Shared { array: words, index: Box::new(k::add(p.clone(), further.clone())) };
                rows.push(places.each_ref().map(|p| kb.bind(read(p), Ty::scalar(DType::F32))));
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Fence));
        for step in 0..steps {
            let tile = |i: usize| {
                let across = factors[i].source.across();
                // 32 bytes along k, or as many rows.
                let next = if across { self.plan.factors.depth() * ROW } else { 2 };
                let index = k::add(starts[i].clone(), k::int((next * step) as i64));
                TileAt { array: r.tiles, index, across: across.then_some(self.plan.factors.row() * ROW) }
            };
            for (half, acc) in acc.chunks(each as usize).enumerate() {
                let further = |t: TileAt| TileAt { index: k::add(t.index, k::int((half as u32 * ROWS * ROW) as i64)), ..t };
                let a = rows.get(step as usize).map_or_else(|| Rows::Tile(further(tile(0))), |r| Rows::Registers(r.clone()));
                let (acc, b) = (acc.to_vec(), tile(1));
                kb.stmt(Stmt::Warpgroup(WarpgroupOp::Multiply { acc, clear: false, factors: self.plan.factors, a, b }));
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Commit));
        if !in_registers {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(1)));
            release(kb);
        }
        kb.stmt(Stmt::Assign(before, stage.clone()));
        turn(kb, self.plan.stages, (r.stage, r.parity), &stage);
        let body = kb.close();
        let step = k::int(self.plan.factors.row() as i64);
        kb.stmt(Stmt::For { var: k0, start: k::int(0), end: end.clone(), step, body });
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(0)));
        // All products are done, so the ring's memory is free.
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        // Words from a row of the units' result to the next, and from a column.
        let (by_row, by_column) = if self.plan.flipped { (1, t.tile_stride()) } else { (t.tile_stride(), 1) };
        let among = if beside > 0 { thread.clone() } else { KExpr::LocalId(0) };
        let row = k::add(k::mul(k::div(among, k::int(32)), k::int(16)), k::div(lane.clone(), k::int(4)));
        let column = k::add(k::mul(k::rem(lane, k::int(4)), k::int(2)), k::mul(warpgroup.clone(), k::int(beside as i64)));
        let base = kb.int(k::add(k::mul(row, k::int(by_row as i64)), k::mul(column, k::int(by_column as i64))));
        for (i, v) in acc.iter().enumerate() {
            let (half, j, lower, next) = (i as u32 / each, i as u32 % each / 4, i as u32 / 2 % 2, i as u32 % 2);
            let at = (half * ROWS + lower * 8) * by_row + (8 * j + next) * by_column;
            kb.stmt(Stmt::StoreShared { array: words, index: k::add(base.clone(), k::int(at as i64)), value: KExpr::Var(*v) });
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        t.finish_tile(kb, em, words, m0, n0)
    }

    /// Where the four elements of the first factor that a thread multiplies lie in a stage, in words: rows of the tile lie across k, 32
    /// of the side in each, and the next 32 rows take the next 32 of the side.
    pub(super) fn row_places(&self, kb: &mut KernelBuilder, lane: &KExpr) -> [KExpr; 4] {
        let int = |v: u32| k::int(v as i64);
        let warp = kb.int(k::div(KExpr::LocalId(0), int(32)));
        let (row, column) = (kb.int(k::div(lane.clone(), int(4))), kb.int(k::rem(lane.clone(), int(4))));
        // A warp has 16 of the side: one half of the 32.
        let block = k::mul(k::div(warp.clone(), int(2)), int(32 * ROW * 4));
        let half = k::add(k::mul(k::rem(warp, int(2)), int(4)), k::div(row.clone(), int(4)));
        let (block, half) = (kb.int(block), kb.int(half));
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(lower, further)| {
            let line = kb.int(k::add(column.clone(), int(4 * further)));
            let group = k::bin(ScalarOp::Xor, k::add(half.clone(), int(2 * lower)), line.clone());
            let at = k::add(k::mul(line, int(4 * ROW)), k::add(k::mul(group, int(4)), k::rem(row.clone(), int(4))));
            kb.int(k::add(block.clone(), at))
        })
    }
}
