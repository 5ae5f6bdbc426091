//! Attention on NVIDIA's matrix units, operands of 16 bits or, where the precision allows it, of f32 as TF32; sums and softmax in f32.
//!
//! Four subgroups share a block of rows; each has 16 or 32 of them in registers: its part of the results, and of the weights of one
//! tile of columns. Operands come to workgroup memory by asynchronous copies, those of rows once, those of columns a tile ahead.
//! What the first products leave in a thread's registers is, rounded and packed by twos, the left operand of the second ones. (In
//! TF32 the unit wants columns t and t + 4 of a thread that has 2 t and the next: the other operand's rows are taken in that order.)
//! Tiles that lie inside the sizes and below the diagonal run without a comparison. Source of the scheme: T. Dao,
//! "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

mod copy;
mod multiply;
mod weights;

use super::rows::{outer, place, stores_of};
use super::{F32, Known};
use crate::fuse::attention::{Attention, Causal};
use crate::schedule::Scheduled;
use crate::schedule::build::{Emitter, KernelBuilder, zero};
use crate::target::{Language, MatmulPrecision, Target};
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var, element_bytes};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};
use std::collections::HashMap;

/// Subgroups of a workgroup.
const SUBGROUPS: u32 = 4;
const THREADS: u32 = 32 * SUBGROUPS;
/// Bytes that a copy takes at once, and between the rows of an operand in workgroup memory: what a subgroup reads at once then lies in
/// 32 banks.
const COPY: u32 = 16;
/// Workgroup memory with which two workgroups share a multiprocessor, and the most there is for one.
const SHARED: [u32; 2] = [112 << 10, 224 << 10];
/// Registers for sums and weights: the rest of 255 is for operands and addresses.
const REGISTERS: u32 = 200;
/// Registers for the rows' operands, where they stay in registers.
const HELD: u32 = 32;

const WORD: Ty = Ty::scalar(DType::U32);

/// An operand in memory: rows of features that lie side by side.
#[derive(Clone, PartialEq)]
struct Operand {
    buffer: BufferId,
    /// The element's place; the axis of the features is `axis`, and of rows or columns it strides over one.
    index: Expr,
    axis: AxisId,
    features: u32,
    dtype: DType,
}

impl Operand {
    /// Elements that a copy takes at once.
    fn lanes(&self) -> u32 {
        COPY / element_bytes(self.dtype)
    }

    /// Elements between rows in workgroup memory.
    fn pitch(&self) -> u32 {
        self.features + self.lanes()
    }
}

/// How a nest runs on matrix units.
pub(super) struct Plan {
    dtype: DType,
    /// For each product, its rows' operand and which streamed one it takes.
    left: Vec<(Operand, usize)>,
    /// Operands that come tile after tile.
    streams: Vec<Operand>,
    /// For each result, its values' place among the streamed operands.
    values: Vec<usize>,
    /// Tiles of 16 rows of a subgroup.
    tiles: u32,
    /// Columns of a tile.
    columns: u32,
}

/// Whether and how the matrix units take a nest: operands are plain loads along their features, whose number is a multiple of 16.
pub(super) fn plan(program: &LoopProgram, nest: &Nest, a: &Attention, target: &Target) -> Option<Plan> {
    if !target.speaks(Language::Ptx) || target.compute_capability < 80 {
        return None;
    }
    let types: &[DType] = match target.matmul_precision {
        MatmulPrecision::Highest => &[DType::F16, DType::BF16],
        _ => &[DType::F16, DType::BF16, DType::F32],
    };
    let operand = |v: ValId, place: AxisId, axis: AxisId| -> Option<Operand> {
        let source = match nest.op(v) {
            LoopOp::Cast(DType::F32, x) => *x,
            _ => v,
        };
        let LoopOp::Load { buffer, index, mask: None } = nest.op(source) else { return None };
        let dtype = program.buffer(*buffer).dtype;
        let features = program.extent(axis).as_const()? as u32;
        let o = Operand { buffer: *buffer, index: index[0].clone(), axis, features, dtype };
        let index = &o.index;
        let mut fits = types.contains(&dtype) && features.is_multiple_of(16) && features <= 256;
        fits &= index.coefficient(place).is_some() && index.coefficient(axis).is_some_and(|c| c.is_one());
        // Copies start at multiples of their size.
        let lanes = o.lanes() as i64;
        fits &= index.terms().all(|(m, c)| (m.len() == 1 && m[0] == Atom::Axis(axis)) || c % lanes == 0);
        index.visit(&mut |a| fits &= !matches!(a, Atom::Value(_)));
        fits.then_some(o)
    };
    let mut streams: Vec<Operand> = Vec::new();
    let mut stream = |o: Operand| {
        // The same elements under another name of the features are the same operand.
        let same = |s: &Operand| {
            let renamed = crate::nest::rename(&o.index, &HashMap::from([(o.axis, Expr::axis(s.axis))]), None, program);
            s.buffer == o.buffer && s.features == o.features && s.index == renamed
        };
        streams.iter().position(same).unwrap_or_else(|| {
            streams.push(o.clone());
            streams.len() - 1
        })
    };
    let mut left = Vec::new();
    for p in &a.products {
        let (rows, columns) = (operand(p.left, a.row, p.axis)?, operand(p.right, a.column, p.axis)?);
        left.push((rows, stream(columns)));
    }
    let mut values = Vec::new();
    for o in &a.outputs {
        values.push(stream(operand(o.value, a.column, a.feature)?));
    }
    let dtype = left.first()?.0.dtype;
    if left.iter().map(|l| &l.0).chain(&streams).any(|o| o.dtype != dtype) {
        return None;
    }
    let features = program.extent(a.feature).as_const()? as u32;
    let registers = |tiles: u32, columns: u32| {
        let sums = a.outputs.len() as u32 * tiles * features / 2;
        sums + a.products.len() as u32 * tiles * columns / 2
    };
    let shared = |tiles: u32, columns: u32| {
        let rows = left.iter().map(|(o, _)| 16 * SUBGROUPS * tiles * o.pitch()).sum::<u32>();
        let streamed = streams.iter().map(|o| 2 * columns * o.pitch()).sum::<u32>();
        (rows + streamed) * element_bytes(dtype)
    };
    let hint = |x: AxisId| program.env.hint_or_one(program.extent(x));
    let few = hint(a.row) <= 16 * SUBGROUPS as i64;
    let shapes = [(2, 64), (2, 32), (1, 64), (1, 32)];
    let fits = |most: u32, (t, c): (u32, u32)| registers(t, c) <= REGISTERS && shared(t, c) <= most && !(few && t > 1);
    let (tiles, columns) = SHARED.into_iter().find_map(|most| shapes.into_iter().find(|s| fits(most, *s)))?;
    Some(Plan { dtype, left, streams, values, tiles, columns })
}

pub(super) fn schedule(program: &LoopProgram, nest: &Nest, a: &Attention, plan: &Plan, target: &Target) -> Result<Scheduled> {
    Units { program, nest, a, plan, target }.build()
}

struct Units<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    a: &'a Attention,
    plan: &'a Plan,
    target: &'a Target,
}

/// What one thread has at hand.
struct Thread {
    /// The block's first row.
    row0: KExpr,
    /// The subgroup, and the thread's row and pair of columns in a tile of 16 x 8.
    warp: KExpr,
    lane: KExpr,
    row: KExpr,
    pair: KExpr,
    /// Rows of the thread, two for each of its tiles: the place, and what follows from it.
    rows: Vec<(KExpr, Known)>,
    /// Workgroup arrays of the rows' operands and of the streamed ones, two tiles each.
    left: Vec<u32>,
    streams: Vec<u32>,
    /// Which of the two tiles is current.
    stage: Var,
    /// For each result: tile of rows, tile of features, and element.
    sums: Vec<Vec<[Var; 4]>>,
    /// Maximum and sum of each row.
    softmax: Vec<[Var; 2]>,
    /// The rows' operands in registers, where they fit: for each product, step of the depth and tile.
    held: Vec<Vec<[Var; 4]>>,
}

/// A column of a thread: its place, whether there is one where that is not known, and what follows from it.
type Column = (KExpr, Option<KExpr>, Known);

/// A copy that a thread makes of every tile: where from in the first one, and where to.
struct Copy {
    stream: usize,
    from: KExpr,
    to: KExpr,
    row: KExpr,
    guard: Option<KExpr>,
}

impl Units<'_> {
    /// Rows of a block.
    fn rows(&self) -> u32 {
        16 * self.plan.tiles * SUBGROUPS
    }

    fn features(&self) -> u32 {
        self.program.extent(self.a.feature).as_const().unwrap_or(16) as u32
    }

    fn build(&self) -> Result<Scheduled> {
        let (p, a, plan) = (self.program, self.a, self.plan);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, p);
        let narrow = Ty::scalar(plan.dtype);
        let left: Vec<u32> = plan.left.iter().map(|(o, _)| kb.shared("rows", narrow, self.rows() * o.pitch())).collect();
        let streams: Vec<u32> = plan.streams.iter().map(|o| kb.shared("columns", narrow, 2 * plan.columns * o.pitch())).collect();
        let (row0, groups) = place(&mut kb, &mut em, a, self.rows(), self.target);
        let warp = kb.int(k::div(KExpr::LocalId(0), k::int(32)));
        let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let row = kb.int(k::div(lane.clone(), k::int(4)));
        let pair = kb.int(k::mul(k::rem(lane.clone(), k::int(4)), k::int(2)));
        let stage = kb.mutable(k::int(0), k::I32);
        let mut t = Thread { row0, warp, lane, row, pair, rows: vec![], left, streams, stage, sums: vec![], softmax: vec![], held: vec![] };
        self.copy_rows(&mut kb, &mut em, &t)?;
        kb.stmt(Stmt::AsyncCommit);
        t.rows = self.known_rows(&mut kb, &mut em, &t)?;
        let float = |kb: &mut KernelBuilder| kb.mutable(zero(DType::F32), F32);
        for _ in &a.outputs {
            let sums = (0..plan.tiles * self.features() / 8).map(|_| [(); 4].map(|_| float(&mut kb))).collect();
            t.sums.push(sums);
        }
        if a.softmax.is_some() {
            t.softmax = (0..2 * plan.tiles).map(|_| [kb.mutable(k::f32c(HIDDEN), F32), float(&mut kb)]).collect();
        }
        let words: u32 = plan.left.iter().map(|(o, _)| plan.tiles * o.features / 4).sum();
        if words <= HELD && !self.tf32() {
            kb.stmt(Stmt::AsyncWait(0));
            kb.stmt(Stmt::Barrier);
            for i in 0..plan.left.len() {
                let steps = plan.left[i].0.features / 16;
                let held = (0..steps * plan.tiles).map(|n| self.left_fragment(&mut kb, &t, i, n / plan.tiles, n % plan.tiles)).collect();
                t.held.push(held);
            }
        }
        outer(&mut kb, &mut em, &a.outer, &mut |kb, em| self.columns(kb, em, &t))?;
        self.finish(&mut kb, &mut em, &t)?;
        Ok(kb.finish(p, THREADS, groups))
    }

    fn divides(&self, axis: AxisId, each: u32) -> bool {
        self.program.extent(axis).as_const().is_some_and(|e| e % each as i64 == 0)
    }

    /// The place of a thread's `i`-th row.
    fn row_at(&self, t: &Thread, i: u32) -> KExpr {
        let first = k::add(t.row0.clone(), k::mul(t.warp.clone(), k::int(16 * self.plan.tiles as i64)));
        k::add(k::add(first, t.row.clone()), k::int(8 * i as i64))
    }

    fn columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let (a, width) = (self.a, self.plan.columns as i64);
        let whole = self.divides(a.column, self.plan.columns);
        let size = kb.size(self.program.extent(a.column));
        let down = |kb: &mut KernelBuilder, e: KExpr| kb.int(k::mul(k::div(e, k::int(width)), k::int(width)));
        let rows = k::int(self.rows() as i64);
        // Tiles from `start` to `free`, which may hide columns; to `edge`, which hide none; and to `end`.
        let (start, free, edge, end) = match a.causal {
            Causal::No => {
                let edge = if whole { size.clone() } else { down(kb, size.clone()) };
                (k::int(0), k::int(0), edge, size)
            }
            Causal::After => {
                let end = kb.int(k::bin(ScalarOp::Min, size.clone(), k::add(t.row0.clone(), rows)));
                let seen = k::bin(ScalarOp::Min, size, k::add(t.row0.clone(), k::int(1)));
                (k::int(0), k::int(0), down(kb, seen), end)
            }
            Causal::Before => {
                let start = down(kb, t.row0.clone());
                let free = down(kb, k::add(t.row0.clone(), k::int(self.rows() as i64 + width - 2)));
                let edge = if whole { size.clone() } else { down(kb, size.clone()) };
                let free = kb.int(k::bin(ScalarOp::Min, free, edge.clone()));
                let free = kb.int(k::bin(ScalarOp::Max, free, start.clone()));
                (start, free, edge, size)
            }
        };
        let copies = self.copies(kb, em)?;
        // Nobody reads the last columns of before any more.
        if !a.outer.is_empty() {
            kb.stmt(Stmt::Barrier);
        }
        kb.stmt(Stmt::Assign(t.stage, k::int(0)));
        self.fetch(kb, t, &copies, &start, k::int(0), &end);
        kb.stmt(Stmt::AsyncCommit);
        let walk = |kb: &mut KernelBuilder, em: &mut Emitter, start: KExpr, stop: KExpr, checked: bool| -> Result<()> {
            let c0 = kb.var(k::I32);
            kb.open();
            em.enter();
            self.tile(kb, em, t, &copies, &KExpr::Var(c0), &end, checked)?;
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: c0, start, end: stop, step: k::int(width), body });
            Ok(())
        };
        if a.causal == Causal::Before {
            walk(kb, em, start, free.clone(), true)?;
        }
        walk(kb, em, free.clone(), edge.clone(), false)?;
        if a.causal == Causal::After || !whole {
            let edge = if a.causal == Causal::Before { kb.int(k::bin(ScalarOp::Max, edge, free)) } else { edge };
            walk(kb, em, edge, end.clone(), true)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn tile(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        copies: &[Copy],
        c0: &KExpr,
        end: &KExpr,
        checked: bool,
    ) -> Result<()> {
        let (a, plan) = (self.a, self.plan);
        kb.stmt(Stmt::AsyncWait(0));
        kb.stmt(Stmt::Barrier);
        let stage = kb.bind_copy(KExpr::Var(t.stage));
        let other = kb.int(k::sub(k::int(1), stage.clone()));
        let next = kb.int(k::add(c0.clone(), k::int(plan.columns as i64)));
        self.fetch(kb, t, copies, &next, other.clone(), end);
        kb.stmt(Stmt::AsyncCommit);
        kb.stmt(Stmt::Assign(t.stage, other));
        // What comes from memory is on its way while the products are made.
        let columns = self.known_columns(kb, em, t, c0, checked)?;
        let products: Vec<Vec<[Var; 4]>> = (0..a.products.len()).map(|i| self.product(kb, t, i, &stage)).collect();
        let weights = self.tile_weights(kb, em, t, &products, &columns, checked)?;
        for (o, weights) in weights.iter().enumerate() {
            self.output(kb, t, o, weights, &stage);
        }
        Ok(())
    }

    /// Stores the results and what follows them.
    fn finish(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let (a, p) = (self.a, self.program);
        for [_, sum] in &t.softmax {
            for mask in [1, 2] {
                let other = KExpr::Shuffle(Box::new(KExpr::Var(*sum)), mask);
                kb.stmt(Stmt::Assign(*sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(*sum), other])));
            }
        }
        let (wide, narrow) = stores_of(self.nest, em, a);
        let extent = kb.size(p.extent(a.row));
        let eights = (self.features() / 8) as usize;
        for row in 0..t.rows.len() {
            let here = self.row_at(t, row as u32);
            kb.open();
            em.enter();
            em.axes.insert(a.row, t.rows[row].0.clone());
            if let Some(s) = &a.softmax {
                em.define(s.max, KExpr::Var(t.softmax[row][0]));
                em.define(s.sum, KExpr::Var(t.softmax[row][1]));
            }
            for f in 0..eights {
                for e in 0..2 {
                    em.enter();
                    let at = kb.int(k::add(t.pair.clone(), k::int((8 * f + e) as i64)));
                    em.axes.insert(a.feature, at);
                    for (o, sums) in a.outputs.iter().zip(&t.sums) {
                        em.define(o.reduce, KExpr::Var(sums[row / 2 * eights + f][2 * (row % 2) + e]));
                    }
                    em.stores(kb, &|s| wide.contains(&s))?;
                    em.leave();
                }
            }
            if !narrow.is_empty() {
                kb.open();
                em.enter();
                em.stores(kb, &|s| narrow.contains(&s))?;
                em.leave();
                let body = kb.close();
                kb.stmt(Stmt::If { cond: k::lt(t.pair.clone(), k::int(1)), then: body, otherwise: vec![] });
            }
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::If { cond: k::lt(here, extent.clone()), then: body, otherwise: vec![] });
        }
        Ok(())
    }
}
