//! Products by warpgroups: the matrix units of NVIDIA Hopper read both factors from workgroup memory (`wgmma`), while others of the
//! workgroup's threads bring the next ones.
//!
//! A workgroup is two warpgroups that multiply, 64 rows each or twice 64, or half the columns of the same 64, and a producer. Tiles of both
//! factors lie in a ring of stages; a stage has a barrier that tells when it is full and one that tells when it is empty. Source of the
//! scheme: CUTLASS 3, `sm90_mma_tma_gmma_ss_warpspecialized`.
//!
//! A factor comes by *bulk copies* (one thread of the producer starts them, the copy engine does the rest) where it is a plain strided
//! matrix with neighbours along k or along its side, at multiples of 16 bytes, or the windows of a convolution whose channels are as
//! many as whole rows of a tile ([`bulk`]). Any other factor is *computed*: all threads of the producer evaluate its prologue in
//! registers, one tile ahead, and store it where the units expect it, with rows along k. The windows of other convolutions are
//! *copied*: the producer's threads start asynchronous copies of 16 bytes, with zeros where a window reaches beyond the input.
//!
//! The units transpose factors of 16 bits only. Of TF32 the first may lie across k too: then the threads that multiply read it into
//! registers, which the units take as well. Where that factor is the right one, the product is computed *flipped*, as the transpose
//! of what is wanted. Where both lie across k, as in the gradient of a weight, a warpgroup between producer and consumers *turns over*
//! the second one in place ([`turn_over`]).
//!
//! The results pass through the ring's memory, so that any epilogue runs over neighbouring elements.

mod bulk;
mod consume;
mod persistent;
mod produce;
mod shape;
mod turn_over;

use bulk::Bulk;
use shape::{SHAPES, Shape, clocks, finishing, reads_more};

use super::fetch::{self, Fetch, Side};
use super::{Template, Tile};
use crate::device::{MatmulPrecision, Target};
use crate::nest::{Contraction, Product};
use crate::parts::Part;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder};
use crate::schedule::nvidia::bulk::{equal, turn};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::warpgroup::{Factors, ROW, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result};
use rustc_hash::FxHashMap;

/// Rows that the two warpgroups multiply at a time, 64 each: a workgroup's tile has so many, twice or half as many.
const ROWS: u32 = 128;
/// Rows of one of the units' products.
const HEIGHT: u32 = ROWS / 2;
/// Threads that multiply.
const CONSUMERS: u32 = 2 * WARPGROUP;
/// Registers of a thread that multiplies and of one of another warpgroup, where they are shared out, by how many warpgroups turn a factor over.
/// Asking for more than the workgroup began with waits without end.
const REGISTERS: [[u32; 2]; 3] = [[232, 40], [208, 48], [160, 48]];
/// Bytes of a group, the element of a tile's array.
const GROUP: u32 = 16;

/// How a product is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::schedule) struct Plan {
    rows: u32,
    columns: u32,
    stages: u32,
    factors: Factors,
    /// How many of the factors bulk copies bring.
    copied: u32,
    /// The right factor is the units' first: their rows are columns of the result.
    flipped: bool,
    /// The first factor is read into registers on its way to the units.
    in_registers: bool,
    /// The second factor lies across k, and is turned over on its way to the units.
    turned: bool,
    /// Workgroups that a multiprocessor holds.
    resident: u32,
    /// Each warpgroup has tiles to itself, and finishes one while the other multiplies ([`persistent`]).
    in_turns: bool,
    /// Multiplications, by the sizes' hints.
    work: i64,
}

/// Multiplications of a product that a library computes sooner where one factor passes through registers and the other is not turned over,
/// even though what follows is then a kernel of its own: measured on an H200. On an H100 the product of 4096 cubed takes 1.04 and 1.10
/// times the library's time, and 0.92 times where both factors lie across k (`steps -- cuda:high products`).
const TOO_LARGE_FOR_REGISTERS: i64 = 1 << 34;

impl Plan {
    /// Whether it is about as fast as a library's kernel: no factor is computed on the way.
    pub fn is_fast(&self) -> bool {
        self.copied == 2 && (self.turned || !self.in_registers || self.work < TOO_LARGE_FOR_REGISTERS)
    }

    /// The tile as the other templates see it: subgroups of 16 rows, 32 or 8.
    fn tile(&self) -> Tile {
        let (mut subgroups, mut part) = ([CONSUMERS / 32, 1], [16 * self.rows / ROWS, self.columns]);
        if self.flipped {
            subgroups.reverse();
            part.reverse();
        }
        Tile { element: self.factors.dtype(), ..Tile::new(subgroups, part, self.factors.row(), self.stages, true) }
    }
}

/// Multiplications of a product that takes a launch to itself: smaller ones share theirs with what is independent of them.
const SMALLEST: i64 = 1 << 21;

/// How the units read a product's factors; `None` where they may not.
fn factors(nest: &Nest, c: &Contraction, target: &Target) -> Option<Factors> {
    match (fetch::narrow(nest, c.lhs), fetch::narrow(nest, c.rhs)) {
        (Some(DType::BF16), Some(DType::BF16)) => Some(Factors::BF16),
        (Some(DType::F16), Some(DType::F16)) => Some(Factors::F16),
        // Values of f16 and bf16 are values of TF32 too.
        (Some(_), Some(_)) => Some(Factors::Tf32),
        _ => (target.matmul_precision > MatmulPrecision::Highest).then_some(Factors::Tf32),
    }
}

/// The plan for a product on a device with warpgroups; `None` where another template does better.
pub(in crate::schedule) fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<Plan> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (b, m, n, kk) = (hint(&c.batch), hint(&c.m), hint(&c.n), hint(&c.k));
    let work = [b, m, n, kk].into_iter().fold(1i64, i64::saturating_mul);
    if c.product != Product::Multiply || nest.dtype(c.reduce) != DType::F32 || kk < 64 || m < 64 || n < 32 || work < SMALLEST {
        return None;
    }
    let factors = factors(nest, c, target)?;
    let plan = |rows: u32, columns: u32, stages: u32, flipped: bool| Plan {
        rows,
        columns,
        stages,
        factors,
        copied: 0,
        flipped,
        in_registers: false,
        turned: false,
        resident: 1,
        in_turns: false,
        work: 0,
    };
    let with = |plan: Plan| Warpgroups { t: Template { program, nest, c, tile: plan.tile(), target }, plan };
    let any = with(plan(ROWS, ROWS, 4, false));
    let across = |operand: ValId, axes: &[AxisId]| any.bulk(operand, axes, ROWS, true).is_some_and(|b| b.across);
    // Of 16 bits either may lie either way.
    let tf32 = factors == Factors::Tf32;
    let (left, right) = (across(c.lhs, &c.m), across(c.rhs, &c.n));
    let turned = tf32 && left && right && target.parts.has(Part::Turning);
    let in_registers = tf32 && (left || right);
    let up = |x: i64, d: i64| (x + d - 1) / d;
    let (steps, after) = (up(kk, factors.row() as i64), finishing(nest, c.reduce));
    let order = |flipped: bool| {
        let mut sides = [(c.lhs, &c.m, m), (c.rhs, &c.n, n)];
        if flipped {
            sides.reverse();
        }
        let first = [true, turned];
        let bulk = [0, 1].map(|i| any.bulk(sides[i].0, sides[i].1, ROWS, first[i]).is_some());
        // What is computed has to come in vectors of f32. Windows are copied or left to another template.
        let windows = [0, 1].map(|i| !bulk[i] && any.is_copied(&any.t.side(sides[i].0, sides[i].1, k::int(0), ROWS)));
        let copies = windows.contains(&true);
        if copies && (tf32 && (left || right) || !bulk.iter().zip(&windows).all(|(b, w)| *b || *w)) {
            return None;
        }
        let vectors = |operand: ValId, axes: &[AxisId]| {
            let s = any.t.side(operand, axes, k::int(0), ROWS);
            tf32 && s.lanes == 4 && !s.plain.is_some_and(|p| c.k.len() > 1 || !p.conditions.is_empty())
        };
        if !copies && !sides.iter().zip(&bulk).all(|((v, axes, _), bulk)| *bulk || vectors(*v, axes)) {
            return None;
        }
        let [rows, columns] = sides.map(|(_, _, size)| size);
        let tiles = |s: &Shape| b * up(rows, s.rows as i64) * up(columns, s.columns as i64);
        let cost = |s: &Shape| clocks(s, tiles(s), steps, after, target.units.max(1) as i64);
        // The producer computes 128 rows of a tile about as fast as they are multiplied, and so many are turned over. A factor in registers
        // leaves too few of them for more columns beside a producer that computes: the assembler would then run the units' instructions one
        // after the other.
        let narrow = turned || !bulk[1] && !copies;
        // Copies bring tiles of these sizes too, where they bring any.
        let fits = |s: &Shape| {
            let sizes = [s.rows, s.columns];
            [0, 1].into_iter().all(|i| !bulk[i] || any.bulk(sides[i].0, sides[i].1, sizes[i], first[i]).is_some())
        };
        let all = bulk == [true, true];
        // Others want more registers, or threads, than large tiles or a second workgroup leave.
        let lean = all && !in_registers;
        let is_lean = |s: &Shape| !s.in_turns && (s.rows == ROWS || all && s.rows > ROWS) && (s.resident == 1 || s.columns < ROWS);
        let alone = target.parts.has(Part::Persistence) && !flipped && !reads_more(nest, c.reduce);
        let turns = |s: &Shape| !s.in_turns || alone && tiles(s) > target.units as i64;
        let shapes = SHAPES.iter().filter(|s| (!narrow || s.columns <= ROWS) && (lean || is_lean(s)) && turns(s) && fits(s));
        let shape = shapes.min_by_key(|s| cost(s))?;
        let copied = bulk.iter().filter(|b| **b).count() as u32;
        let (resident, in_turns) = (shape.resident as u32, shape.in_turns);
        let plan = plan(shape.rows, shape.columns, shape.stages, flipped);
        Some((cost(shape), Plan { copied, in_registers, turned, work, resident, in_turns, ..plan }))
    };
    let orders = if turned { vec![false, true] } else { vec![tf32 && right && !left] };
    let best = orders.into_iter().filter_map(order).min_by_key(|(cost, _)| *cost);
    best.map(|(_, plan)| plan)
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, plan: Plan, target: &Target) -> Result<Scheduled> {
    let mut w = Warpgroups { t: Template { program, nest, c, tile: plan.tile(), target }, plan };
    match w.persistent() {
        Some(pieces) => {
            w.plan.stages = pieces.stages;
            w.build_persistent(&pieces)
        }
        None => w.build(),
    }
}

struct Warpgroups<'a> {
    t: Template<'a>,
    plan: Plan,
}

/// Where a factor comes from.
enum Source<'a> {
    /// A map's position, where copies of it begin and within which pixel ([`Bulk`]), and the place along the side of each box.
    Bulk {
        map: u32,
        bulk: Bulk,
        places: Vec<FxHashMap<AxisId, KExpr>>,
    },
    Computed {
        side: Side<'a>,
        fetches: Vec<Fetch>,
        slots: Vec<KExpr>,
    },
    Copied {
        side: Side<'a>,
        fetches: Vec<Fetch>,
    },
}

impl Source<'_> {
    /// Whether rows of tiles lie along the side.
    fn across(&self) -> bool {
        match self {
            Source::Bulk { bulk, .. } => bulk.across,
            Source::Computed { .. } => false,
            Source::Copied { side, .. } => !side.fetch_along_k,
        }
    }
}

/// A factor, and where its tile starts in a stage, in groups.
struct Factor<'a> {
    source: Source<'a>,
    start: u32,
    rows: u32,
}

/// What those that multiply have to know of a factor: where its tile starts in a stage, and whether its rows lie along the side.
#[derive(Clone, Copy)]
struct Slot {
    start: u32,
    across: bool,
}

/// The ring's arrays, and the thread's place in it.
struct Ring {
    tiles: u32,
    /// The same memory by elements, where threads copy some, and by words.
    elements: u32,
    words: u32,
    full: u32,
    /// Tells when the second factor is turned over, where it is.
    turned: Option<u32>,
    empty: u32,
    stage: Var,
    /// Turns of the ring, of which the lowest bit is the phase.
    parity: Var,
    /// The stage before.
    before: Var,
}

impl Warpgroups<'_> {
    fn build(&self) -> Result<Scheduled> {
        let t = &self.t;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(t.nest, t.program);
        let (m0, n0, grid) = t.place(&mut kb, &mut em);
        let stage_groups = (self.plan.rows + self.plan.columns) * ROW;
        let tiles = kb.shared("tiles", Ty::vec4(DType::F32), self.plan.stages * stage_groups);
        let full = kb.shared("full", Ty::vec4(DType::I32), self.plan.stages);
        let empty = kb.shared("empty", Ty::vec4(DType::I32), self.plan.stages);
        let turned = self.plan.turned.then(|| kb.shared("turned", Ty::vec4(DType::I32), self.plan.stages));
        let len = 4 * self.plan.stages * stage_groups;
        kb.shared.push(SharedArray { name: "words".into(), ty: Ty::scalar(DType::F32), len, view: Some(tiles) });
        let words = kb.shared.len() as u32 - 1;
        let mut sides = [(t.c.lhs, &t.c.m, m0.clone()), (t.c.rhs, &t.c.n, n0.clone())];
        if self.plan.flipped {
            sides.reverse();
        }
        let [(first, rows, row0), (second, columns, column0)] = sides;
        let factors = [
            self.factor(&mut kb, &em, first, rows, row0, self.plan.rows, 0)?,
            self.factor(&mut kb, &em, second, columns, column0, self.plan.columns, self.plan.rows * ROW)?,
        ];
        let elements = if factors.iter().any(|f| matches!(f.source, Source::Copied { .. })) {
            let len = self.plan.stages * stage_groups * self.plan.factors.group();
            let ty = Ty::scalar(self.plan.factors.dtype());
            kb.shared.push(SharedArray { name: "elements".into(), ty, len, view: Some(tiles) });
            kb.shared.len() as u32 - 1
        } else {
            tiles
        };
        // Whether all threads of the producer have a part in each stage.
        let computed = factors.iter().any(|f| !matches!(f.source, Source::Bulk { .. }));
        let copied = factors.iter().any(|f| matches!(f.source, Source::Bulk { .. }));
        let registers = self.registers();
        let producers = if computed || registers.is_some() { WARPGROUP } else { 32 };
        let end = kb.size(&t.extent(&t.c.k));
        let mut barriers = vec![(full, copied as u32 + if computed { WARPGROUP } else { 0 }), (empty, CONSUMERS / WARPGROUP)];
        barriers.extend(turned.map(|t| (t, WARPGROUP)));
        self.begin(&mut kb, &barriers);
        // The roles.
        let ring = |kb: &mut KernelBuilder| Ring {
            tiles,
            elements,
            words,
            full,
            turned,
            empty,
            stage: kb.mutable(k::int(0), k::I32),
            parity: kb.mutable(k::int(0), k::I32),
            before: kb.mutable(k::int(0), k::I32),
        };
        let share = |kb: &mut KernelBuilder, more: bool| {
            if let Some([many, few]) = registers {
                kb.stmt(Stmt::Warpgroup(WarpgroupOp::Registers { count: if more { many } else { few }, more }));
            }
        };
        kb.open();
        share(&mut kb, false);
        let r = ring(&mut kb);
        self.produce(&mut kb, &em, &factors, &r, &end)?;
        let produce = kb.close();
        kb.open();
        share(&mut kb, true);
        let r = ring(&mut kb);
        self.consume(&mut kb, &em, self.slots(&factors), &r, &end, (&m0, &n0))?;
        let consume = kb.close();
        let produce = if turned.is_some() {
            kb.open();
            share(&mut kb, false);
            let r = ring(&mut kb);
            self.turn_over(&mut kb, &factors[1], &r, &end);
            let turn_over = kb.close();
            vec![self.role(self.producer() / WARPGROUP, turn_over, produce)]
        } else {
            produce
        };
        let roles = self.role(CONSUMERS / WARPGROUP, consume, produce);
        kb.stmt(roles);
        Ok(kb.finish(t.program, self.producer() + producers, grid))
    }

    /// Begins the barriers of the ring, one of each array for a stage, each of so many arrivals.
    fn begin(&self, kb: &mut KernelBuilder, barriers: &[(u32, u32)]) {
        kb.open();
        for s in 0..self.plan.stages {
            for &(array, arrivals) in barriers {
                kb.stmt(Stmt::Warpgroup(WarpgroupOp::Begin { array, index: k::int(s as i64), arrivals }));
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
        let then = kb.close();
        kb.stmt(Stmt::If { cond: equal(KExpr::LocalId(0), 0), then, otherwise: vec![] });
        kb.stmt(Stmt::Barrier);
    }

    /// What those that multiply find.
    fn slots(&self, factors: &[Factor; 2]) -> [Slot; 2] {
        let turned = [false, self.plan.turned];
        [0, 1].map(|i| Slot { start: factors[i].start, across: factors[i].source.across() && !turned[i] })
    }

    /// The first thread of the producer.
    fn producer(&self) -> u32 {
        CONSUMERS + self.turners() * WARPGROUP
    }

    /// Registers of a thread that multiplies and of one of another warpgroup, where they are shared out: where rows on their way to the units
    /// want more beside the sums than each of so many threads has.
    fn registers(&self) -> Option<[u32; 2]> {
        let turners = self.turners();
        let large = self.plan.in_registers && self.plan.rows * self.plan.columns > ROWS * ROWS;
        (large || turners > 1).then(|| REGISTERS[turners as usize])
    }

    /// What the first so many warpgroups do, and what the others do.
    fn role(&self, warpgroups: u32, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
        let warpgroup = k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64));
        Stmt::If { cond: k::lt(warpgroup, k::int(warpgroups as i64)), then, otherwise }
    }

    #[allow(clippy::too_many_arguments)]
    fn factor<'s>(
        &'s self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        operand: ValId,
        axes: &'s [AxisId],
        base: KExpr,
        rows: u32,
        start: u32,
    ) -> Result<Factor<'s>> {
        let source = match self.bulk(operand, axes, rows, start == 0 || self.plan.turned) {
            Some(bulk) => {
                let places = self.boxes_of(kb, bulk.across, axes, &base, rows);
                Source::Bulk { map: kb.map(bulk.map.clone()), bulk, places }
            }
            None => {
                let side = self.t.side(operand, axes, base, rows);
                if self.is_copied(&side) {
                    let fetches = self.copies(kb, em, &side, start)?;
                    Source::Copied { side, fetches }
                } else {
                    let side = Side { plain: None, ..side };
                    let (fetches, slots) = self.places(kb, &side);
                    Source::Computed { side, fetches, slots }
                }
            }
        };
        Ok(Factor { source, start, rows })
    }

    /// The place along the side of each box of a factor's tile: across k, each row's length of the side is a box of its own.
    fn boxes_of(&self, kb: &mut KernelBuilder, across: bool, axes: &[AxisId], base: &KExpr, rows: u32) -> Vec<FxHashMap<AxisId, KExpr>> {
        let row = self.plan.factors.row();
        let place = |block| {
            let mut place = FxHashMap::default();
            kb.unflatten(k::add(base.clone(), k::int((block * row) as i64)), axes, self.t.program, &mut place);
            place
        };
        (0..if across { rows / row } else { 1 }).map(place).collect()
    }

    /// Whether threads copy a factor: memory holds groups of 16 bytes of it, in the windows of a convolution or between other
    /// axes, and tiles lie evenly: where each copy has to find its own place along k, as in the gradient of a weight, one warpgroup
    /// is too few to do so.
    fn is_copied(&self, s: &Side) -> bool {
        let windows = |p: &fetch::Plain| (self.t.c.k.len() > 1 || !p.conditions.is_empty()) && self.t.even(s);
        let groups = s.lanes == self.plan.factors.group();
        // The units transpose 16 bits only.
        groups && s.plain.as_ref().is_some_and(windows) && (s.fetch_along_k || self.plan.factors != Factors::Tf32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_registers_are_shared_out_than_a_workgroup_has() {
        for (turners, [many, few]) in REGISTERS.into_iter().enumerate() {
            let others = turners as u32 + 1;
            let warpgroups = CONSUMERS / WARPGROUP + others;
            // What each thread begins with: its share of a multiprocessor's, in eights.
            let each = (64 << 10) / (warpgroups * WARPGROUP) / 8 * 8;
            assert!(2 * many + others * few <= warpgroups * each, "{turners} warpgroups that turn over");
        }
    }
}
