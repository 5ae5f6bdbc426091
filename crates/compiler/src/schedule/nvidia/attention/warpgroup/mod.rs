//! Attention by warpgroups: the matrix units of NVIDIA Hopper take the tiles of columns from a ring in workgroup memory (`wgmma`), which
//! one more subgroup fills by bulk copies. (It comes with a warpgroup, which gives its registers to those that multiply.)
//!
//! Each of two or three warpgroups has 64 rows: its sums, and the weights of one tile of columns, in registers. The products of rows
//! and columns take both factors from workgroup memory; what they leave in a thread's registers is, rounded and packed by twos, the
//! first factor of the products with the values. A product is started as soon as its factors are there, and waited for where its
//! result is wanted: weights are computed while the units work, for this warpgroup or the other. Under a softmax, the products with
//! the values are made one tile late, while the next tile's weights are computed; warpgroups start products in turns.
//!
//! What follows from a column alone and is in memory (the logarithms of the backward pass) comes through the ring too: computed by the
//! producer's threads, in the order in which a thread's columns lie in its registers.
//!
//! Source of the scheme: J. Shah et al., "FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision", 2024.

mod consume;
mod produce;

use super::fragments::Fragments;
use super::operands::{Operand, Operands, operands};
use crate::device::Target;
use crate::nest::attention::Attention;
use crate::schedule::Scheduled;
use crate::schedule::emit::attention::{place, reached};
use crate::schedule::emit::{Emitter, KernelBuilder};
use crate::schedule::nvidia::bulk::{Matrix, equal};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::warpgroup::{Factors, ROW, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::program::TensorMap;
use aludel_ir::{DType, Result};

/// Rows of a warpgroup.
const ROWS: u32 = 64;
/// Workgroup memory that there is for one workgroup.
const SHARED: u32 = 227 << 10;
/// Bytes of a group, the element of a tile's array.
const GROUP: u32 = 16;
/// Tiles of the ring, at most: one is read while others come.
const STAGES: u32 = 4;

/// A shape of tiles, and the registers that sums and weights may take: what is left is for addresses and elements.
struct Shape {
    consumers: u32,
    columns: u32,
    registers: u32,
}

const SHAPES: [Shape; 3] = [
    Shape { consumers: 3, columns: 128, registers: 112 },
    Shape { consumers: 2, columns: 128, registers: 208 },
    Shape { consumers: 2, columns: 64, registers: 208 },
];

/// Registers of a thread that multiplies and of one of the producer, by the number of warpgroups that multiply: as many together as a
/// multiprocessor has.
const fn registers(consumers: u32) -> [u32; 2] {
    if consumers == 3 { [160, 32] } else { [240, 24] }
}

/// How a nest runs by warpgroups.
pub(in crate::schedule) struct Plan {
    operands: Operands,
    factors: Factors,
    /// Warpgroups that multiply.
    consumers: u32,
    /// Columns of a tile.
    columns: u32,
    stages: u32,
    /// What of a column comes through the ring.
    given: Vec<ValId>,
}

/// Whether and how warpgroups take a nest: operands of 16 bits that bulk copies can bring, in rows of 64 features and more.
pub(in crate::schedule) fn plan(program: &LoopProgram, nest: &Nest, a: &Attention, target: &Target) -> Option<Plan> {
    let hint = |x: AxisId| program.env.hint_or_one(program.extent(x));
    if hint(a.row) <= ROWS as i64 || (a.softmax.is_some() && !a.outer.is_empty()) {
        return None;
    }
    let operands = operands(program, nest, a, &[DType::F16, DType::BF16])?;
    let factors = if operands.dtype == DType::F16 { Factors::F16 } else { Factors::BF16 };
    let all = || operands.left.iter().map(|l| &l.0).chain(&operands.streams);
    if all().any(|o| o.features < factors.row()) {
        return None;
    }
    let features = program.extent(a.feature).as_const()? as u32;
    let (products, outputs) = (a.products.len() as u32, a.outputs.len() as u32);
    let given = given(program, nest, a)?;
    for s in &SHAPES {
        let weights = products * s.columns / 2 + (outputs - 1) * s.columns / 4;
        let block = (s.consumers * ROWS) as i64;
        // Three warpgroups only where their larger blocks leave few rows empty.
        let wasted = (hint(a.row) + block - 1) / block * block - hint(a.row);
        if outputs * features / 2 + weights > s.registers || (s.consumers > 2 && wasted * 32 > hint(a.row)) {
            continue;
        }
        let rows: u32 = operands.left.iter().map(|(o, _)| tile_groups(o, s.consumers * ROWS, factors)).sum();
        let stage: u32 = operands.streams.iter().map(|o| tile_groups(o, s.columns, factors)).sum();
        let other = |stages: u32| (1 + 2 * stages) * GROUP + stages * s.columns * 4 * given.len() as u32;
        let fits = |stages: &u32| (rows + stages * stage) * GROUP + other(*stages) <= SHARED;
        if let Some(stages) = (2..=STAGES).rev().find(fits) {
            let plan = Plan { operands, factors, consumers: s.consumers, columns: s.columns, stages, given };
            let w = Warpgroups::new(program, nest, a, &plan, target);
            let copied = w.rows_maps().is_some() && w.stream_maps().is_some();
            return copied.then_some(plan);
        }
    }
    None
}

/// Groups of 16 bytes that a tile of an operand takes: its features in blocks of a row's length.
fn tile_groups(o: &Operand, rows: u32, factors: Factors) -> u32 {
    o.features.div_ceil(factors.row()) * rows * ROW
}

/// What follows from a column alone and has to be read from memory; `None` where some is no f32.
fn given(program: &LoopProgram, nest: &Nest, a: &Attention) -> Option<Vec<ValId>> {
    let em = Emitter::new(nest, program);
    let others: Vec<AxisId> = [a.row, a.feature].into_iter().chain(a.products.iter().map(|p| p.axis)).collect();
    let mut found = Vec::new();
    for v in a.weights() {
        crate::schedule::emit::attention::settled(&em, v, &others, &mut found);
    }
    let loads = |v: &ValId| em.depends_on(*v, &[a.column]) && reached(nest, *v).iter().any(|x| matches!(nest.op(*x), LoopOp::Load { .. }));
    found.retain(loads);
    found.iter().all(|v| nest.dtype(*v) == DType::F32).then_some(found)
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, a: &Attention, plan: &Plan, target: &Target) -> Result<Scheduled> {
    Warpgroups::new(program, nest, a, plan, target).build()
}

struct Warpgroups<'a> {
    f: Fragments<'a>,
    plan: &'a Plan,
    target: &'a Target,
}

/// A map of which bulk copies bring tiles, and the axes that are its outer dimensions.
type Bulk = (TensorMap, Vec<AxisId>);

/// The arrays of the ring and of the rows' operands, and the thread's place in the ring.
struct Ring {
    tiles: u32,
    given: u32,
    /// Barriers: the rows are there; a stage is full, or empty.
    ready: u32,
    full: u32,
    empty: u32,
    stage: Var,
    /// Turns of the ring, of which the lowest bit is the phase.
    parity: Var,
}

impl<'a> Warpgroups<'a> {
    fn new(program: &'a LoopProgram, nest: &'a Nest, a: &'a Attention, plan: &'a Plan, target: &'a Target) -> Self {
        let subgroups = plan.consumers * WARPGROUP / 32;
        Warpgroups { f: Fragments { program, nest, a, subgroups, tiles: 1, columns: plan.columns }, plan, target }
    }

    /// Threads that multiply.
    fn consumers(&self) -> u32 {
        self.plan.consumers * WARPGROUP
    }

    fn map(&self, o: &Operand, outer: AxisId, rows: u32, batch: &[AxisId]) -> Option<Bulk> {
        let matrix = Matrix { buffer: o.buffer, dtype: o.dtype, index: &o.index, inner: o.axis, outer, batch };
        matrix.map([self.plan.factors.row(), rows], self.f.program)
    }

    fn rows_maps(&self) -> Option<Vec<Bulk>> {
        let a = self.f.a;
        self.plan.operands.left.iter().map(|(o, _)| self.map(o, a.row, self.f.rows(), &a.batch)).collect()
    }

    fn stream_maps(&self) -> Option<Vec<Bulk>> {
        let a = self.f.a;
        let batch: Vec<AxisId> = a.batch.iter().chain(&a.outer).copied().collect();
        self.plan.operands.streams.iter().map(|o| self.map(o, a.column, self.plan.columns, &batch)).collect()
    }

    /// Where the `i`-th rows' operand starts, in groups.
    fn rows_start(&self, i: usize) -> u32 {
        self.plan.operands.left[..i].iter().map(|(o, _)| tile_groups(o, self.f.rows(), self.plan.factors)).sum()
    }

    /// Where the `i`-th streamed operand starts in a stage; of their number, what a stage takes.
    fn stream_start(&self, i: usize) -> u32 {
        self.plan.operands.streams[..i].iter().map(|o| tile_groups(o, self.plan.columns, self.plan.factors)).sum()
    }

    /// Where a stage starts, in groups.
    fn stage_start(&self, kb: &mut KernelBuilder, stage: &KExpr) -> KExpr {
        let (first, each) = (self.rows_start(self.plan.operands.left.len()), self.stream_start(self.plan.operands.streams.len()));
        kb.int(k::add(k::mul(stage.clone(), k::int(each as i64)), k::int(first as i64)))
    }

    fn build(&self) -> Result<Scheduled> {
        let (f, plan) = (&self.f, self.plan);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(f.nest, f.program);
        let groups = self.rows_start(plan.operands.left.len()) + plan.stages * self.stream_start(plan.operands.streams.len());
        let barriers = Ty::vec4(DType::I32);
        let tiles = kb.shared("tiles", Ty::vec4(DType::F32), groups);
        let (ready, full, empty) =
            (kb.shared("ready", barriers, 1), kb.shared("full", barriers, plan.stages), kb.shared("empty", barriers, plan.stages));
        let given = match plan.given.len() as u32 {
            0 => tiles,
            n => kb.shared("given", Ty::scalar(DType::F32), plan.stages * n * plan.columns),
        };
        let (row0, grid) = place(&mut kb, &mut em, f.a, f.rows(), self.target);
        let (walks, end) = f.walks(&mut kb, &row0);
        // The barriers: of a full stage the thread that starts copies arrives, and all that give it something; of an empty one each
        // thread that read it.
        kb.open();
        let begin =
            |array: u32, index: u32, arrivals: u32| Stmt::Warpgroup(WarpgroupOp::Begin { array, index: k::int(index as i64), arrivals });
        kb.stmt(begin(ready, 0, 1));
        for s in 0..plan.stages {
            kb.stmt(begin(full, s, if plan.given.is_empty() { 1 } else { 33 }));
            kb.stmt(begin(empty, s, 32 * f.subgroups));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
        let then = kb.close();
        kb.stmt(Stmt::If { cond: equal(KExpr::LocalId(0), 0), then, otherwise: vec![] });
        kb.stmt(Stmt::Barrier);
        let ring = |kb: &mut KernelBuilder| {
            let (stage, parity) = (kb.mutable(k::int(0), k::I32), kb.mutable(k::int(0), k::I32));
            Ring { tiles, given, ready, full, empty, stage, parity }
        };
        let [more, fewer] = registers(plan.consumers);
        kb.open();
        em.enter();
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Registers { count: fewer, more: false }));
        let r = ring(&mut kb);
        self.produce(&mut kb, &mut em, &r, &row0, (&walks[0].0, &end))?;
        em.leave();
        let produce = kb.close();
        kb.open();
        em.enter();
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Registers { count: more, more: true }));
        let r = ring(&mut kb);
        self.consume(&mut kb, &mut em, &r, &row0, &walks)?;
        em.leave();
        let consume = kb.close();
        let warpgroup = k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64));
        kb.stmt(Stmt::If { cond: k::lt(warpgroup, k::int(plan.consumers as i64)), then: consume, otherwise: produce });
        Ok(kb.finish(f.program, self.consumers() + WARPGROUP, grid))
    }
}
