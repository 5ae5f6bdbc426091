//! Persistent workgroups: as many as the device holds, each of which computes one tile after another.
//!
//! The producer runs ahead into the next tile while those that multiply finish the one before, and nothing is begun anew: barriers, maps
//! and the first copies' way are paid for once. So the results of a tile have memory of their own, a few columns of 64 rows at a time, each
//! warpgroup for itself.
//!
//! *In turns*, each of the two warpgroups has tiles to itself: the stages of the ring are those of the one's tile, then those of the other's,
//! so that one finishes a tile while the other multiplies. Else both multiply the same tile, which is larger.
//!
//! Source of the schemes: CUTLASS 3, persistent tile schedulers, "cooperative" and "ping-pong".

use super::bulk::Bulk;
use super::consume::Consumer;
use super::shape::reads_more;
use super::{CONSUMERS, Factor, HEIGHT, ROWS, Ring, Slot, Source, Warpgroups, equal};
use crate::parts::Part;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use crate::schedule::nvidia::product::finish::Staged;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::warpgroup::{ROW, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty, Var};
use aludel_ir::{DType, Result};

/// Columns of a piece.
const COLUMNS: u32 = 64;
/// Loads of an epilogue that a thread has under way, beside the sums that wait.
const IN_FLIGHT: u32 = 8;
/// Bytes of workgroup memory for one of so many workgroups of a multiprocessor: of 228 KiB the device takes one for each.
const fn shared(resident: u32) -> u32 {
    (228 << 10) / resident - (1 << 10)
}

/// How workgroups persist.
pub(super) struct Pieces {
    /// Stages that leave room for pieces of the results.
    pub stages: u32,
    /// Workgroups.
    groups: i64,
}

/// Words from a row of a piece to the next.
const STRIDE: u32 = COLUMNS + 4;
/// Words of a warpgroup's piece.
const WORDS: u32 = HEIGHT * STRIDE;

impl Warpgroups<'_> {
    /// Whether workgroups persist, and with how many stages: where copies bring both factors of more tiles than the device holds, and nothing
    /// else is read for each result, which would be waited for piece by piece. One workgroup alone gains nothing but by turns.
    pub(super) fn persistent(&self) -> Option<Pieces> {
        let (t, plan) = (&self.t, &self.plan);
        let groups = t.target.units.max(1) as i64 * plan.resident as i64;
        let tiles = t.program.env.hint_or_one(&t.tiles());
        let bulk = plan.copied == 2 && !plan.in_registers && !plan.flipped && t.target.parts.has(Part::Persistence);
        if !bulk || tiles <= groups || reads_more(t.nest, t.c.reduce) || !plan.in_turns && plan.resident == 1 {
            return None;
        }
        let own = if plan.rows < ROWS { plan.columns / 2 } else { plan.columns };
        // Two barriers of 16 bytes a stage.
        let bytes = |stages: u32| stages * ((plan.rows + plan.columns) * ROW + 2) * 16 + 2 * WORDS * 4;
        let stages = (3..=plan.stages).rev().find(|s| bytes(*s) <= shared(plan.resident))?;
        own.is_multiple_of(COLUMNS).then_some(Pieces { stages, groups })
    }

    pub(super) fn build_persistent(&self, pieces: &Pieces) -> Result<Scheduled> {
        let t = &self.t;
        let mut kb = KernelBuilder::new();
        let (group, grid) = kb.group(Grid::new(Expr::Const(pieces.groups), t.target));
        let stage_groups = (self.plan.rows + self.plan.columns) * ROW;
        let array = kb.shared("tiles", Ty::vec4(DType::F32), self.plan.stages * stage_groups);
        let full = kb.shared("full", Ty::vec4(DType::I32), self.plan.stages);
        let empty = kb.shared("empty", Ty::vec4(DType::I32), self.plan.stages);
        kb.shared.push(SharedArray { name: "results".into(), ty: Ty::scalar(DType::F32), len: 2 * WORDS, view: None });
        let words = kb.shared.len() as u32 - 1;
        let sides = [(t.c.lhs, &t.c.m, self.plan.rows), (t.c.rhs, &t.c.n, self.plan.columns)];
        let bulk = |(i, (operand, axes, rows)): (usize, (_, &Vec<AxisId>, u32))| self.bulk(operand, axes, rows, i == 0);
        let Some(bulks) = sides.into_iter().enumerate().map(bulk).collect::<Option<Vec<Bulk>>>() else { return self.build() };
        let maps: Vec<u32> = bulks.iter().map(|b| kb.map(b.map.clone())).collect();
        let starts = [0, self.plan.rows * ROW];
        let slots = [0, 1].map(|i| Slot { start: starts[i], across: bulks[i].across });
        let (end, tiles) = (kb.size(&t.extent(&t.c.k)), kb.size(&t.tiles()));
        let in_turns = self.plan.in_turns;
        self.begin(&mut kb, &[(full, 1), (empty, if in_turns { 1 } else { CONSUMERS / WARPGROUP })]);
        let ring = |kb: &mut KernelBuilder| {
            let [stage, parity, before] = [(); 3].map(|()| kb.mutable(k::int(0), k::I32));
            Ring { tiles: array, elements: array, words, full, turned: None, empty, stage, parity, before }
        };
        // Tiles from the `first` of the workgroup's, every `step`-th.
        let each = |kb: &mut KernelBuilder, first: KExpr, step: i64, body: &mut dyn FnMut(&mut KernelBuilder, &KExpr) -> Result<()>| {
            let tile = kb.var(k::I32);
            kb.open();
            body(kb, &KExpr::Var(tile))?;
            let body = kb.close();
            let start = k::add(group.clone(), k::mul(first, k::int(pieces.groups)));
            kb.stmt(Stmt::For { var: tile, start, end: tiles.clone(), step: k::int(step * pieces.groups), body });
            Ok(())
        };
        kb.open();
        let r = ring(&mut kb);
        each(&mut kb, k::int(0), 1, &mut |kb, tile| {
            let mut em = Emitter::new(t.nest, t.program);
            let (m0, n0) = t.place_of(kb, &mut em, tile.clone());
            let mut factor = |i: usize, base: &KExpr| {
                let (_, axes, rows) = sides[i];
                let places = self.boxes_of(kb, bulks[i].across, axes, base, rows);
                Factor { source: Source::Bulk { map: maps[i], bulk: bulks[i].clone(), places }, start: starts[i], rows }
            };
            let factors = [factor(0, &m0), factor(1, &n0)];
            self.produce(kb, &em, &factors, &r, &end)
        })?;
        let produce = kb.close();
        kb.open();
        let r = ring(&mut kb);
        let c = self.consumer(&mut kb);
        if in_turns {
            // The first warpgroup begins.
            let then = vec![Stmt::Warpgroup(WarpgroupOp::GiveTurn(k::int(0)))];
            kb.stmt(Stmt::If { cond: equal(c.warpgroup.clone(), 0), then, otherwise: vec![] });
        }
        let (first, step) = if in_turns { (c.warpgroup.clone(), CONSUMERS / WARPGROUP) } else { (k::int(0), 1) };
        let steps = kb.size(&groups_of(&t.extent(&t.c.k), self.plan.factors.row() as i64, t.program));
        each(&mut kb, first, step as i64, &mut |kb, tile| {
            if in_turns {
                // The stages of all tiles before, the other warpgroup's too.
                let before = k::div(k::sub(tile.clone(), group.clone()), k::int(pieces.groups));
                let before = kb.int(k::mul(before, steps.clone()));
                let stages = k::int(self.plan.stages as i64);
                kb.stmt(Stmt::Assign(r.stage, k::rem(before.clone(), stages.clone())));
                kb.stmt(Stmt::Assign(r.parity, k::rem(k::div(before, stages), k::int(2))));
            }
            let acc = self.multiply(kb, &c, slots, &r, &end);
            // The last stage is free too.
            let cond = k::and(k::lt(k::int(0), end.clone()), equal(c.thread.clone(), 0));
            let arrive = Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.empty, index: KExpr::Var(r.before), bytes: 0 });
            kb.stmt(Stmt::If { cond, then: vec![arrive], otherwise: vec![] });
            let mut em = Emitter::new(t.nest, t.program);
            let (m0, n0) = t.place_of(kb, &mut em, tile.clone());
            self.finish_pieces(kb, &em, &c, &r, &acc, [&m0, &n0])
        })?;
        let consume = kb.close();
        let roles = self.role(CONSUMERS / WARPGROUP, consume, produce);
        kb.stmt(roles);
        Ok(kb.finish(t.program, CONSUMERS + 32, grid))
    }

    /// Brings a warpgroup's sums into rows, piece by piece, and runs what follows them.
    fn finish_pieces(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        c: &Consumer,
        r: &Ring,
        acc: &[Var],
        [m0, n0]: [&KExpr; 2],
    ) -> Result<()> {
        let start = kb.int(k::mul(c.warpgroup.clone(), k::int(WORDS as i64)));
        let [row, column] = c.own();
        let base = kb.int(k::add(k::add(start.clone(), k::mul(row, k::int(STRIDE as i64))), column));
        // Where the warpgroup's part of the tile begins.
        let m0 = kb.int(k::add(m0.clone(), k::mul(c.warpgroup.clone(), k::int(c.down as i64))));
        let n0 = kb.int(k::add(n0.clone(), k::mul(c.warpgroup.clone(), k::int(c.beside as i64))));
        let regroup = |kb: &mut KernelBuilder| kb.stmt(Stmt::Warpgroup(WarpgroupOp::Regroup(c.warpgroup.clone())));
        for half in 0..c.halves {
            for first in (0..2 * c.each).step_by(COLUMNS as usize) {
                // The piece before was read.
                regroup(kb);
                for (i, v) in acc.iter().enumerate() {
                    let (h, [lower, column]) = c.place(i as u32);
                    if h == half && (first..first + COLUMNS).contains(&column) {
                        let index = k::add(base.clone(), k::int((lower * STRIDE + column - first) as i64));
                        kb.stmt(Stmt::StoreShared { array: r.words, index, value: KExpr::Var(*v) });
                    }
                }
                regroup(kb);
                let staged = Staged {
                    array: r.words,
                    start: start.clone(),
                    stride: STRIDE,
                    rows: HEIGHT,
                    columns: COLUMNS,
                    thread: c.thread.clone(),
                    threads: WARPGROUP,
                    in_flight: IN_FLIGHT / self.plan.resident,
                };
                let m = kb.int(k::add(m0.clone(), k::int((half * c.apart) as i64)));
                let n = kb.int(k::add(n0.clone(), k::int(first as i64)));
                self.t.finish(kb, em, &staged, (&m, &n))?;
            }
        }
        Ok(())
    }
}
