//! Products by warpgroups: the matrix units of NVIDIA Hopper read both factors from workgroup memory (`wgmma`), while others of the
//! workgroup's threads bring the next ones.
//!
//! A workgroup is two warpgroups that multiply, 64 rows each, and a producer. Tiles of both factors lie in a ring of stages; a stage
//! has a barrier that tells when it is full and one that tells when it is empty. Source of the scheme: CUTLASS 3,
//! `sm90_mma_tma_gmma_ss_warpspecialized`.
//!
//! A factor comes by *bulk copies* (one thread of the producer starts them, the copy engine does the rest) where it is a plain strided
//! matrix whose rows lie along k, at multiples of 16 bytes. Any other factor is *computed*: all threads of the producer evaluate its
//! prologue in registers, one tile ahead, and store it where the units expect it, so that rows along the side are transposed on
//! the way. Factors of TF32 have to lie along k: the units transpose 16 bits only.
//!
//! The results pass through the ring's memory, so that any epilogue runs over neighbouring elements.

use super::fetch::{Fetch, Side};
use super::{Template, Tile};
use crate::fuse::{Contraction, Product};
use crate::schedule::Scheduled;
use crate::schedule::build::{Emitter, KernelBuilder, zero};
use crate::target::{MatmulPrecision, Target};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::warpgroup::{ATOM_ROWS, Factors, ROW, TileAt, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::program::TensorMap;
use aludel_ir::{DType, Result, ScalarOp};
use std::collections::HashMap;

/// Rows of a workgroup's tile: two warpgroups' of 64.
const ROWS: u32 = 128;
/// Threads that multiply.
const CONSUMERS: u32 = 2 * WARPGROUP;
/// Bytes of a group, the element of a tile's array.
const GROUP: u32 = 16;

/// How a product is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::schedule) struct Plan {
    columns: u32,
    stages: u32,
    factors: Factors,
    /// How many of the factors bulk copies bring.
    copied: u32,
}

impl Plan {
    /// Whether no factor has to be computed on the way.
    pub fn copies_both(&self) -> bool {
        self.copied == 2
    }

    /// The tile as the other templates see it: subgroups of 16 rows.
    fn tile(&self) -> Tile {
        Tile::new([CONSUMERS / 32, 1], [16, self.columns], self.factors.row(), self.stages, true)
    }
}

/// A shape of tiles that a product may take.
struct Shape {
    columns: u32,
    stages: u32,
    /// Workgroups that a multiprocessor holds.
    resident: i64,
    /// The share of the largest tiles' speed that these reach, in percent: measured on an H200 with f32 and bf16.
    speed: i64,
}

const SHAPES: [Shape; 3] = [
    Shape { columns: 256, stages: 4, resident: 1, speed: 100 },
    Shape { columns: 128, stages: 4, resident: 1, speed: 84 },
    Shape { columns: 64, stages: 4, resident: 2, speed: 50 },
];
/// Of an H100 or H200.
const MULTIPROCESSORS: i64 = 132;

/// How the units read a product's factors; `None` where they may not.
fn factors(nest: &Nest, c: &Contraction, target: &Target) -> Option<Factors> {
    let narrow = |v: ValId| super::narrow_source(nest, v).map(|x| nest.dtype(x));
    match (narrow(c.lhs), narrow(c.rhs)) {
        (Some(DType::BF16), Some(DType::BF16)) => Some(Factors::BF16),
        (Some(DType::F16), Some(DType::F16)) => Some(Factors::F16),
        // Values of f16 and bf16 are values of TF32 too.
        (Some(_), Some(_)) => Some(Factors::Tf32),
        _ => (target.matmul_precision > MatmulPrecision::Highest).then_some(Factors::Tf32),
    }
}

/// The plan for a product; `None` where another template does better.
pub(in crate::schedule) fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<Plan> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (b, m, n, kk) = (hint(&c.batch), hint(&c.m), hint(&c.n), hint(&c.k));
    if !target.has_warpgroups() || c.product != Product::Multiply || nest.dtype(c.reduce) != DType::F32 || kk < 64 || m < 64 || n < 32 {
        return None;
    }
    let factors = factors(nest, c, target)?;
    let up = |x: i64, d: i64| (x + d - 1) / d;
    let cost = |s: &Shape| {
        let groups = b * up(m, ROWS as i64) * up(n, s.columns as i64);
        up(groups, MULTIPROCESSORS * s.resident) * s.resident * s.columns as i64 * 100 / s.speed
    };
    let shape = SHAPES.iter().min_by_key(|s| cost(s))?;
    let plan = Plan { columns: shape.columns, stages: shape.stages, factors, copied: 0 };
    let w = Warpgroups { t: Template { program, nest, c, tile: plan.tile(), target }, plan };
    let bulk = |operand: ValId, axes: &[AxisId]| w.map(operand, axes, ROWS).is_some();
    // What is computed has to come in vectors of f32.
    let computed = |operand: ValId, axes: &[AxisId]| factors == Factors::Tf32 && w.t.side(operand, axes, k::int(0), ROWS).lanes == 4;
    let sides = [(c.lhs, &c.m), (c.rhs, &c.n)];
    let copied = sides.iter().filter(|(v, axes)| bulk(*v, axes)).count() as u32;
    sides.iter().all(|(v, axes)| bulk(*v, axes) || computed(*v, axes)).then_some(Plan { copied, ..plan })
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, plan: Plan, target: &Target) -> Result<Scheduled> {
    Warpgroups { t: Template { program, nest, c, tile: plan.tile(), target }, plan }.build()
}

struct Warpgroups<'a> {
    t: Template<'a>,
    plan: Plan,
}

/// A factor that bulk copies bring.
struct Bulk {
    map: TensorMap,
    /// Whether rows of its tiles lie across k.
    across: bool,
    /// The axes of the batch that are its outer dimensions.
    batch: Vec<AxisId>,
}

/// Where a factor comes from.
enum Source<'a> {
    Bulk { map: u32, across: bool, batch: Vec<AxisId>, base: KExpr },
    Computed { side: Side<'a>, fetches: Vec<Fetch>, slots: Vec<KExpr> },
}

/// A factor, and where its tile starts in a stage, in groups.
struct Factor<'a> {
    source: Source<'a>,
    start: u32,
    rows: u32,
}

/// The ring's arrays, and the thread's place in it.
struct Ring {
    tiles: u32,
    full: u32,
    empty: u32,
    stage: Var,
    /// Turns of the ring, of which the lowest bit is the phase.
    parity: Var,
}

impl Warpgroups<'_> {
    fn build(&self) -> Result<Scheduled> {
        let t = &self.t;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(t.nest, t.program);
        let (m0, n0, groups) = t.place(&mut kb, &mut em);
        let stage_groups = (ROWS + self.plan.columns) * ROW;
        let tiles = kb.shared("tiles", Ty::vec4(DType::F32), self.plan.stages * stage_groups);
        let full = kb.shared("full", Ty::vec4(DType::I32), self.plan.stages);
        let empty = kb.shared("empty", Ty::vec4(DType::I32), self.plan.stages);
        let words = ROWS * t.tile_stride();
        kb.shared.push(SharedArray { name: "results".into(), ty: Ty::scalar(DType::F32), len: words, view: Some(tiles) });
        let results = kb.shared.len() as u32 - 1;
        let factors = [
            self.factor(&mut kb, t.c.lhs, &t.c.m, m0.clone(), ROWS, 0)?,
            self.factor(&mut kb, t.c.rhs, &t.c.n, n0.clone(), self.plan.columns, ROWS * ROW)?,
        ];
        let computed = factors.iter().any(|f| matches!(f.source, Source::Computed { .. }));
        let copied = factors.iter().any(|f| matches!(f.source, Source::Bulk { .. }));
        let producers = if computed { WARPGROUP } else { 32 };
        let end = kb.size(&t.extent(&t.c.k));
        // The barriers.
        kb.open();
        for s in 0..self.plan.stages {
            let index = k::int(s as i64);
            let arrivals = copied as u32 + if computed { WARPGROUP } else { 0 };
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Begin { array: full, index: index.clone(), arrivals }));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Begin { array: empty, index, arrivals: CONSUMERS / WARPGROUP }));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
        let then = kb.close();
        kb.stmt(Stmt::If { cond: equal(KExpr::LocalId(0), 0), then, otherwise: vec![] });
        kb.stmt(Stmt::Barrier);
        // The roles.
        let ring = |kb: &mut KernelBuilder| Ring {
            tiles,
            full,
            empty,
            stage: kb.mutable(k::int(0), k::I32),
            parity: kb.mutable(k::int(0), k::I32),
        };
        kb.open();
        let r = ring(&mut kb);
        self.produce(&mut kb, &em, &factors, &r, &end)?;
        let produce = kb.close();
        kb.open();
        let r = ring(&mut kb);
        self.consume(&mut kb, &em, &factors, &r, &end, results, (&m0, &n0))?;
        let consume = kb.close();
        let warpgroup = k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64));
        let cond = k::lt(warpgroup, k::int((CONSUMERS / WARPGROUP) as i64));
        kb.stmt(Stmt::If { cond, then: consume, otherwise: produce });
        Ok(kb.finish(t.program, CONSUMERS + producers, groups))
    }

    /// How bulk copies bring a factor, where they can.
    fn map(&self, operand: ValId, axes: &[AxisId], rows: u32) -> Option<Bulk> {
        let t = &self.t;
        let source = super::narrow_source(t.nest, operand).unwrap_or(operand);
        let LoopOp::Load { buffer, index, mask: None } = t.nest.op(source) else { return None };
        let ([along], [side], [index]) = (t.c.k.as_slice(), axes, index.as_slice()) else { return None };
        let (dtype, bytes) = match self.plan.factors {
            Factors::Tf32 => (DType::F32, 4),
            Factors::F16 => (DType::F16, 2),
            Factors::BF16 => (DType::BF16, 2),
        };
        if t.nest.dtype(source) != dtype || super::fetch::reads_values(index) {
            return None;
        }
        // The units transpose 16 bits only.
        let across = !index.coefficient(*along)?.is_one();
        if across && (bytes == 4 || !index.coefficient(*side)?.is_one()) {
            return None;
        }
        let row = self.plan.factors.row();
        let (inner, outer) = if across { (*side, *along) } else { (*along, *side) };
        let extent = |a: AxisId| t.program.extent(a).clone();
        let mut map = TensorMap {
            placement: buffer.0 as usize,
            offset: index.sub(&Expr::axis(inner)),
            dtype,
            extents: vec![extent(inner)],
            strides: vec![],
            sizes: vec![row],
        };
        // Whole groups of 16 bytes, forwards: what is not is for the other ways.
        let whole = |e: &Expr| e.terms().all(|(_, c)| c > 0 && c * bytes % GROUP as i64 == 0);
        let mut batch = Vec::new();
        for a in [outer].iter().chain(&t.c.batch) {
            let stride = index.coefficient(*a)?;
            map.offset = map.offset.sub(&stride.mul(&Expr::axis(*a)));
            if stride.is_zero() && *a != outer {
                continue;
            }
            if !whole(&stride) || stride.is_zero() {
                return None;
            }
            map.extents.push(extent(*a));
            map.strides.push(stride);
            match *a == outer {
                true => map.sizes.push(if across { row } else { rows }),
                false => {
                    map.sizes.push(1);
                    batch.push(*a);
                }
            }
        }
        let aligned = map.offset.axes().is_empty() && whole(&map.offset);
        (aligned && map.sizes.len() <= 5).then_some(Bulk { map, across, batch })
    }

    #[allow(clippy::too_many_arguments)]
    fn factor<'s>(
        &'s self,
        kb: &mut KernelBuilder,
        operand: ValId,
        axes: &'s [AxisId],
        base: KExpr,
        rows: u32,
        start: u32,
    ) -> Result<Factor<'s>> {
        let source = match self.map(operand, axes, rows) {
            Some(Bulk { map, across, batch }) => Source::Bulk { map: kb.map(map), across, batch, base },
            None => {
                let side = Side { plain: None, ..self.t.side(operand, axes, base, rows) };
                let (fetches, slots) = self.places(kb, &side);
                Source::Computed { side, fetches, slots }
            }
        };
        Ok(Factor { source, start, rows })
    }

    /// What one thread of the producer computes of each tile, and where it puts it: units of four neighbours along k, of four rows
    /// where memory is read along the side.
    fn places(&self, kb: &mut KernelBuilder, s: &Side) -> (Vec<Fetch>, Vec<KExpr>) {
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
            let mut axes = HashMap::new();
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
                fetches.push(Fetch { kk, slot: int(0), axes: axes.clone(), at: at.clone(), base: None, registers });
            }
        }
        (fetches, slots)
    }

    /// Stores what was computed into a stage.
    fn put(&self, kb: &mut KernelBuilder, side: &Side, fetches: &[Fetch], slots: &[KExpr], array: u32, start: &KExpr) {
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

    fn produce(&self, kb: &mut KernelBuilder, em: &Emitter, factors: &[Factor; 2], r: &Ring, end: &KExpr) -> Result<()> {
        let t = &self.t;
        let k0 = kb.var(k::I32);
        kb.open();
        let mut computed = false;
        for f in factors {
            if let Source::Computed { side, fetches, .. } = &f.source {
                t.compute(kb, em, side, fetches, KExpr::Var(k0), end)?;
                computed = true;
            }
        }
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        // Of a ring that was never used, all stages are empty: the phase before the first counts as over.
        let parity = k::sub(k::int(1), KExpr::Var(r.parity));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.empty, index: stage.clone(), parity }));
        let start = kb.int(k::mul(stage.clone(), k::int(((ROWS + self.plan.columns) * ROW) as i64)));
        // Bulk copies, by one thread.
        kb.open();
        let bulk = |f: &&Factor| matches!(f.source, Source::Bulk { .. });
        let bytes: u32 = factors.iter().filter(bulk).map(|f| f.rows * ROW * GROUP).sum();
        if bytes > 0 {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index: stage.clone(), bytes }));
        }
        for f in factors {
            let Source::Bulk { map, across, batch, base } = &f.source else { continue };
            let row = self.plan.factors.row();
            // Across k, each row's length of the side is a box of its own.
            for block in 0..if *across { f.rows / row } else { 1 } {
                let side = k::add(base.clone(), k::int((block * row) as i64));
                let mut at = if *across { vec![side, KExpr::Var(k0)] } else { vec![KExpr::Var(k0), side] };
                at.extend(batch.iter().map(|a| em.axes.get(a).cloned().unwrap_or_else(|| k::int(0))));
                let index = k::add(start.clone(), k::int((f.start + block * row * ROW) as i64));
                let op = WarpgroupOp::Copy { array: r.tiles, index, map: *map, at, barrier: r.full, barrier_index: stage.clone() };
                kb.stmt(Stmt::Warpgroup(op));
            }
        }
        let copies = kb.close();
        match (computed, copies.is_empty()) {
            (_, true) => {}
            (true, false) => kb.stmt(Stmt::If { cond: equal(KExpr::LocalId(0), CONSUMERS), then: copies, otherwise: vec![] }),
            // The loop is one thread's.
            (false, false) => copies.into_iter().for_each(|s| kb.stmt(s)),
        }
        for f in factors {
            if let Source::Computed { side, fetches, slots } = &f.source {
                let start = kb.int(k::add(start.clone(), k::int(f.start as i64)));
                self.put(kb, side, fetches, slots, r.tiles, &start);
            }
        }
        if computed {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.full, index: stage.clone(), bytes: 0 }));
        }
        self.turn(kb, r, &stage);
        let body = kb.close();
        let step = k::int(self.plan.factors.row() as i64);
        let all = Stmt::For { var: k0, start: k::int(0), end: end.clone(), step, body };
        kb.stmt(match computed {
            true => all,
            false => Stmt::If { cond: equal(KExpr::LocalId(0), CONSUMERS), then: vec![all], otherwise: vec![] },
        });
        Ok(())
    }

    /// Moves on to the next stage.
    fn turn(&self, kb: &mut KernelBuilder, r: &Ring, stage: &KExpr) {
        let next = kb.int(k::add(stage.clone(), k::int(1)));
        let wraps = kb.bind(equal(next.clone(), self.plan.stages), k::BOOL);
        let other = k::sub(k::int(1), KExpr::Var(r.parity));
        kb.stmt(Stmt::Assign(r.parity, k::select(wraps.clone(), other, KExpr::Var(r.parity))));
        kb.stmt(Stmt::Assign(r.stage, k::select(wraps, k::int(0), next)));
    }

    #[allow(clippy::too_many_arguments)]
    fn consume(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        factors: &[Factor; 2],
        r: &Ring,
        end: &KExpr,
        results: u32,
        (m0, n0): (&KExpr, &KExpr),
    ) -> Result<()> {
        let t = &self.t;
        let warpgroup = kb.int(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        let thread = kb.int(k::rem(KExpr::LocalId(0), k::int(WARPGROUP as i64)));
        let acc: Vec<Var> = (0..self.plan.columns / 2).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect();
        let before = kb.mutable(k::int(0), k::I32);
        let k0 = kb.var(k::I32);
        kb.open();
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.full, index: stage.clone(), parity: KExpr::Var(r.parity) }));
        let start = kb.int(k::mul(stage.clone(), k::int(((ROWS + self.plan.columns) * ROW) as i64)));
        let own = k::add(start.clone(), k::mul(warpgroup.clone(), k::int((ROWS / 2 * ROW) as i64)));
        let starts = [kb.int(k::add(own, k::int(factors[0].start as i64))), kb.int(k::add(start, k::int(factors[1].start as i64)))];
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Fence));
        for step in 0..self.plan.factors.row() / self.plan.factors.depth() {
            let tile = |i: usize| {
                let across = matches!(factors[i].source, Source::Bulk { across: true, .. });
                // 32 bytes along k, or as many rows.
                let next = if across { self.plan.factors.depth() * ROW } else { 2 };
                let index = k::add(starts[i].clone(), k::int((next * step) as i64));
                TileAt { array: r.tiles, index, across: across.then_some(self.plan.factors.row() * ROW) }
            };
            let (a, b) = (tile(0), tile(1));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Multiply { acc: acc.clone(), factors: self.plan.factors, a, b }));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Commit));
        // The products of the stage before are done: it is empty.
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(1)));
        let first = equal(thread.clone(), 0);
        let cond = k::and(k::lt(k::int(0), KExpr::Var(k0)), first);
        let release = Stmt::Warpgroup(WarpgroupOp::Arrive { array: r.empty, index: KExpr::Var(before), bytes: 0 });
        kb.stmt(Stmt::If { cond, then: vec![release], otherwise: vec![] });
        kb.stmt(Stmt::Assign(before, stage.clone()));
        self.turn(kb, r, &stage);
        let body = kb.close();
        let step = k::int(self.plan.factors.row() as i64);
        kb.stmt(Stmt::For { var: k0, start: k::int(0), end: end.clone(), step, body });
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(0)));
        // All products are done, so the ring's memory is free.
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        let stride = t.tile_stride();
        let lane = kb.int(k::rem(thread.clone(), k::int(32)));
        let row = k::add(k::mul(k::div(KExpr::LocalId(0), k::int(32)), k::int(16)), k::div(lane.clone(), k::int(4)));
        let column = k::mul(k::rem(lane, k::int(4)), k::int(2));
        let base = kb.int(k::add(k::mul(row, k::int(stride as i64)), column));
        for (i, v) in acc.iter().enumerate() {
            let (j, lower, next) = (i as u32 / 4, i as u32 / 2 % 2, i as u32 % 2);
            let at = lower * 8 * stride + 8 * j + next;
            kb.stmt(Stmt::StoreShared { array: results, index: k::add(base.clone(), k::int(at as i64)), value: KExpr::Var(*v) });
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Meet(CONSUMERS)));
        t.finish_tile(kb, em, results, m0, n0)
    }
}

fn equal(a: KExpr, b: u32) -> KExpr {
    KExpr::Scalar(ScalarOp::Eq, vec![a, k::int(b as i64)])
}
