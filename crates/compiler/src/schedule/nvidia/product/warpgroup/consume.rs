//! The warpgroups that multiply, and what follows the sums.

use super::{CONSUMERS, HEIGHT, ROWS, Ring, Slot, Warpgroups, equal, turn};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::kernel::warpgroup::{ROW, Rows, TileAt, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::{DType, Result, ScalarOp};

/// A thread that multiplies.
pub(super) struct Consumer {
    pub warpgroup: KExpr,
    /// Its place in the warpgroup, and in the subgroup.
    pub thread: KExpr,
    pub lane: KExpr,
    /// Columns of the tile that the first warpgroup has to itself: where a tile has the rows of one, each has half of its columns.
    pub beside: u32,
    /// Rows from where the first warpgroup's begin to where the second's do.
    pub down: u32,
    /// Sums of 64 rows; how often there are as many further down, and how far.
    pub each: u32,
    pub halves: u32,
    pub apart: u32,
}

impl Consumer {
    /// Of a sum in the thread's registers: which 64 rows of the warpgroup's, and the row and column in them from the thread's own place.
    pub fn place(&self, i: u32) -> (u32, [u32; 2]) {
        let (half, eight, lower, next) = (i / self.each, i % self.each / 4, i / 2 % 2, i % 2);
        (half, [lower * 8, 8 * eight + next])
    }

    /// The thread's own row of 64, and its first column.
    pub fn own(&self) -> [KExpr; 2] {
        let row = k::add(k::mul(k::div(self.thread.clone(), k::int(32)), k::int(16)), k::div(self.lane.clone(), k::int(4)));
        [row, k::mul(k::rem(self.lane.clone(), k::int(4)), k::int(2))]
    }
}

impl Warpgroups<'_> {
    pub(super) fn consumer(&self, kb: &mut KernelBuilder) -> Consumer {
        let warpgroup = kb.int(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        let thread = kb.int(k::rem(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        let lane = kb.int(k::rem(thread.clone(), k::int(32)));
        let plan = &self.plan;
        let beside = if plan.rows < ROWS { plan.columns / 2 } else { 0 };
        let down = if beside > 0 || plan.in_turns { 0 } else { HEIGHT };
        let apart = if plan.in_turns { HEIGHT } else { ROWS };
        Consumer { warpgroup, thread, lane, beside, down, each: (plan.columns - beside) / 2, halves: plan.rows.div_ceil(apart), apart }
    }

    /// The consumers' half of a kernel that computes one tile.
    pub(super) fn consume(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        slots: [Slot; 2],
        r: &Ring,
        end: &KExpr,
        place: (&KExpr, &KExpr),
    ) -> Result<()> {
        let t = &self.t;
        let c = self.consumer(kb);
        let acc = self.multiply(kb, &c, slots, r, end);
        // All products are done, so the ring's memory is free.
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        // Words from a row of the units' result to the next, and from a column.
        let (by_row, by_column) = if self.plan.flipped { (1, t.tile_stride()) } else { (t.tile_stride(), 1) };
        let [row, column] = c.own();
        let row = k::add(row, k::mul(c.warpgroup.clone(), k::int(c.down as i64)));
        let column = k::add(column, k::mul(c.warpgroup.clone(), k::int(c.beside as i64)));
        let base = kb.int(k::add(k::mul(row, k::int(by_row as i64)), k::mul(column, k::int(by_column as i64))));
        for (i, v) in acc.iter().enumerate() {
            let (half, [lower, column]) = c.place(i as u32);
            let at = (half * c.apart + lower) * by_row + column * by_column;
            kb.stmt(Stmt::StoreShared { array: r.words, index: k::add(base.clone(), k::int(at as i64)), value: KExpr::Var(*v) });
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        t.finish(kb, em, &t.whole(r.words), place)
    }

    /// The sums of a tile in the thread's registers: of 64 rows of the warpgroup, then of those that lie further down. The last stage is
    /// not given back.
    pub(super) fn multiply(&self, kb: &mut KernelBuilder, c: &Consumer, slots: [Slot; 2], r: &Ring, end: &KExpr) -> Vec<Var> {
        let Consumer { warpgroup, thread, lane, beside, down, each, halves, apart } = c;
        let (beside, each) = (*beside, *each);
        let acc: Vec<Var> = (0..each * halves).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect();
        let before = r.before;
        let in_registers = self.plan.in_registers;
        // A stage's barrier tells two of its turns apart, not three: the other warpgroup has to have waited for all of its stages.
        if self.plan.in_turns {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::TakeTurn(warpgroup.clone())));
        }
        let places = in_registers.then(|| self.row_places(kb, lane));
        let k0 = kb.var(k::I32);
        kb.open();
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        for array in [Some(r.full), r.turned].into_iter().flatten() {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array, index: stage.clone(), parity: KExpr::Var(r.parity) }));
        }
        let start = kb.int(k::mul(stage.clone(), k::int(((self.plan.rows + self.plan.columns) * ROW) as i64)));
        let own = |rows: u32, first: u32| {
            k::add(k::add(start.clone(), k::mul(warpgroup.clone(), k::int((rows * ROW) as i64))), k::int(first as i64))
        };
        let starts = [own(*down, 0), own(beside, slots[1].start)].map(|e| kb.int(e));
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
                let mut half_rows = |half: u32| {
                    let further = k::int(((step * self.plan.factors.depth() + half * apart) * ROW * 4) as i64);
                    let read = |p: &KExpr| KExpr::Shared { array: r.words, index: Box::new(k::add(p.clone(), further.clone())) };
                    places.each_ref().map(|p| kb.bind(read(p), Ty::scalar(DType::F32)))
                };
                rows.push((0..*halves).map(&mut half_rows).collect::<Vec<_>>());
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Fence));
        for step in 0..steps {
            let tile = |i: usize| {
                let across = slots[i].across;
                // 32 bytes along k, or as many rows.
                let next = if across { self.plan.factors.depth() * ROW } else { 2 };
                let index = k::add(starts[i].clone(), k::int((next * step) as i64));
                TileAt { array: r.tiles, index, across: across.then_some(self.plan.factors.row() * ROW) }
            };
            for (half, acc) in acc.chunks(each as usize).enumerate() {
                let further = |t: TileAt| TileAt { index: k::add(t.index, k::int((half as u32 * apart * ROW) as i64)), ..t };
                let a = rows.get(step as usize).map_or_else(|| Rows::Tile(further(tile(0))), |r| Rows::Registers(r[half].clone()));
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
        if self.plan.in_turns {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::GiveTurn(k::sub(k::int(1), warpgroup.clone()))));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(0)));
        acc
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
