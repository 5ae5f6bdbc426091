//! Attention on NVIDIA's matrix units, operands of 16 bits or, where the precision allows it, of f32 as TF32; sums and softmax in f32.
//!
//! Four subgroups share a block of rows; each has 16 or 32 of them in registers: its part of the results, and of the weights of one
//! tile of columns. Operands come to workgroup memory by asynchronous copies, those of rows once, those of columns a tile ahead.
//! What the first products leave in a thread's registers is, rounded and packed by twos, the left operand of the second ones. (In
//! TF32 the unit wants columns t and t + 4 of a thread that has 2 t and the next: the other operand's rows are taken in that order.)
//! Tiles that lie inside the sizes and below the diagonal run without a comparison. Source of the scheme: T. Dao,
//! "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

use super::rows::{hoist, stores_of};
use super::{F32, Known};
use crate::fuse::attention::{Attention, Causal};
use crate::schedule::Scheduled;
use crate::schedule::build::{Emitter, KernelBuilder, groups_of, zero};
use crate::target::{Language, MatmulPrecision, Target};
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, MatrixOp, Stmt, Ty, Var, element_bytes};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Literal, Result, ScalarOp};
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
        let blocks = groups_of(p.extent(a.row), self.rows() as i64, p);
        let groups = p.volume(&a.batch).mul(&blocks);
        let group = kb.group(&groups, self.target.max_groups);
        let per = kb.size(&blocks);
        let batch = kb.int(k::div(group.clone(), per.clone()));
        // A folded grid may have a few workgroups too many: they repeat the last block.
        let last = kb.size(&p.volume(&a.batch).sub(&Expr::ONE));
        let batch = kb.int(k::bin(ScalarOp::Min, batch, last));
        kb.unflatten(batch, &a.batch, p, &mut em.axes);
        let block = kb.int(k::rem(group, per.clone()));
        // Rows that see the most columns first: the last workgroups to run are then short ones.
        let block = if a.causal == Causal::After { kb.int(k::sub(k::sub(per, k::int(1)), block)) } else { block };
        let row0 = kb.int(k::mul(block, k::int(self.rows() as i64)));
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
        self.outer(&mut kb, &mut em, &a.outer, &mut |kb, em| self.columns(kb, em, &t))?;
        self.finish(&mut kb, &mut em, &t)?;
        Ok(kb.finish(p, THREADS, groups))
    }

    fn outer(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        axes: &[AxisId],
        body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
    ) -> Result<()> {
        let Some((first, rest)) = axes.split_first() else { return body(kb, em) };
        let end = kb.size(self.program.extent(*first));
        let var = kb.var(k::I32);
        kb.open();
        em.enter();
        em.axes.insert(*first, KExpr::Var(var));
        self.outer(kb, em, rest, body)?;
        em.leave();
        let inner = kb.close();
        kb.stmt(Stmt::For { var, start: k::int(0), end, step: k::int(1), body: inner });
        Ok(())
    }

    fn divides(&self, axis: AxisId, each: u32) -> bool {
        self.program.extent(axis).as_const().is_some_and(|e| e % each as i64 == 0)
    }

    /// What a thread copies of an operand of so many rows: row, first feature, and whether there is such a piece.
    fn units(&self, kb: &mut KernelBuilder, o: &Operand, rows: u32) -> Vec<(KExpr, KExpr, Option<KExpr>)> {
        let per = o.features / o.lanes();
        let units = rows * per;
        (0..units.div_ceil(THREADS))
            .map(|f| {
                let unit = kb.int(k::add(KExpr::LocalId(0), k::int((f * THREADS) as i64)));
                let row = kb.int(k::div(unit.clone(), k::int(per as i64)));
                let feature = kb.int(k::mul(k::rem(unit.clone(), k::int(per as i64)), k::int(o.lanes() as i64)));
                let guard = ((f + 1) * THREADS > units).then(|| kb.bind(k::lt(unit, k::int(units as i64)), k::BOOL));
                (row, feature, guard)
            })
            .collect()
    }

    /// Starts the copies of the rows' operands.
    fn copy_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let extent = kb.size(self.program.extent(self.a.row));
        for ((o, _), array) in self.plan.left.iter().zip(&t.left) {
            for (row, feature, guard) in self.units(kb, o, self.rows()) {
                let at = kb.int(k::add(t.row0.clone(), row.clone()));
                let mut env = em.axes.clone();
                env.insert(self.a.row, kb.int(k::bin(ScalarOp::Min, at.clone(), k::sub(extent.clone(), k::int(1)))));
                env.insert(o.axis, feature.clone());
                let from = kb.expr(&o.index, &env, &|_| None, self.program)?;
                let from = kb.int(from);
                let to = k::add(k::mul(row, k::int(o.pitch() as i64)), feature);
                let valid = if self.divides(self.a.row, self.rows()) { None } else { Some(kb.bind(k::lt(at, extent.clone()), k::BOOL)) };
                let buffer = kb.buffer(o.buffer);
                self.guarded(kb, guard, Stmt::AsyncCopy { array: *array, index: to, buffer, from, lanes: o.lanes() as u8, valid });
            }
        }
        Ok(())
    }

    fn guarded(&self, kb: &mut KernelBuilder, guard: Option<KExpr>, s: Stmt) {
        kb.stmt(match guard {
            Some(cond) => Stmt::If { cond, then: vec![s], otherwise: vec![] },
            None => s,
        });
    }

    fn known_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<Vec<(KExpr, Known)>> {
        let a = self.a;
        let extent = kb.size(self.program.extent(a.row));
        let all: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.row, a.feature]).collect();
        let inner: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.feature]).collect();
        for v in self.weights() {
            hoist(kb, em, v, &all)?;
        }
        let mut rows = Vec::new();
        for i in 0..2 * self.plan.tiles {
            let at = self.row_at(t, i);
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.row, at.clone());
            for v in self.weights() {
                hoist(kb, em, v, &inner)?;
            }
            rows.push((at, em.leave_with()));
        }
        Ok(rows)
    }

    /// The place of a thread's `i`-th row.
    fn row_at(&self, t: &Thread, i: u32) -> KExpr {
        let first = k::add(t.row0.clone(), k::mul(t.warp.clone(), k::int(16 * self.plan.tiles as i64)));
        k::add(k::add(first, t.row.clone()), k::int(8 * i as i64))
    }

    fn weights(&self) -> Vec<ValId> {
        let a = self.a;
        a.softmax.iter().flat_map(|s| [s.score, s.weight]).chain(a.outputs.iter().map(|o| o.weight)).collect()
    }

    // ---- operands of the matrix unit ----

    /// Whether the matrix unit takes words of f32.
    fn tf32(&self) -> bool {
        self.plan.dtype == DType::F32
    }

    /// The product of a tile in TF32; see [`Units::product`].
    fn product_wide(&self, kb: &mut KernelBuilder, t: &Thread, i: usize, stage: &KExpr, accs: &[[Var; 4]]) {
        let plan = self.plan;
        let (o, stream) = &plan.left[i];
        let eights = (plan.columns / 8) as usize;
        let (left, right) = (o.pitch() as i64, plan.streams[*stream].pitch() as i64);
        let column = kb.int(k::div(t.pair.clone(), k::int(2)));
        let row = k::add(k::mul(t.warp.clone(), k::int(16 * plan.tiles as i64)), t.row.clone());
        let rows = kb.int(k::add(k::mul(row, k::int(left)), column.clone()));
        let start = self.tile_start(kb, stage, *stream);
        let columns = kb.int(k::add(k::add(k::mul(t.row.clone(), k::int(right)), column), start));
        for step in 0..o.features as i64 / 8 {
            let a: Vec<[KExpr; 4]> = (0..plan.tiles as i64)
                .map(|tile| {
                    [(0, 0), (8, 0), (0, 4), (8, 4)].map(|(r, c)| self.word(kb, t.left[i], &rows, (16 * tile + r) * left + 8 * step + c))
                })
                .collect();
            for n in 0..eights {
                let b = [0, 4].map(|c| self.word(kb, t.streams[*stream], &columns, 8 * n as i64 * right + 8 * step + c));
                for (tile, a) in a.iter().enumerate() {
                    kb.stmt(Stmt::Mma { acc: accs[tile * eights + n], a: a.clone(), b: b.clone() });
                }
            }
        }
    }

    fn word(&self, kb: &mut KernelBuilder, array: u32, base: &KExpr, at: i64) -> KExpr {
        kb.bind(KExpr::Shared { array, index: Box::new(k::add(base.clone(), k::int(at))) }, F32)
    }

    /// The weights' products with the tile's values in TF32; see [`Units::output`].
    fn output_wide(&self, kb: &mut KernelBuilder, t: &Thread, o: usize, weights: &[[KExpr; 4]], stage: &KExpr) {
        let plan = self.plan;
        let stream = plan.values[o];
        let pitch = plan.streams[stream].pitch() as i64;
        let (eights, features) = ((plan.columns / 8) as usize, (self.features() / 8) as usize);
        let start = self.tile_start(kb, stage, stream);
        let base = kb.int(k::add(k::add(k::mul(t.pair.clone(), k::int(pitch)), t.row.clone()), start));
        for step in 0..eights {
            for f in 0..features {
                let at = 8 * step as i64 * pitch + 8 * f as i64;
                let b = [0, pitch].map(|r| self.word(kb, t.streams[stream], &base, at + r));
                for tile in 0..plan.tiles as usize {
                    let [w0, w1, w2, w3] = weights[tile * eights + step].clone();
                    kb.stmt(Stmt::Mma { acc: t.sums[o][tile * features + f], a: [w0, w2, w1, w3], b: b.clone() });
                }
            }
        }
    }

    /// The left operand of a product for a step of the depth and one of the thread's tiles.
    fn left_fragment(&self, kb: &mut KernelBuilder, t: &Thread, product: usize, step: u32, tile: u32) -> [Var; 4] {
        let pitch = self.plan.left[product].0.pitch() as i64;
        let first = k::mul(t.warp.clone(), k::int(16 * self.plan.tiles as i64));
        let row = k::add(first, k::rem(t.lane.clone(), k::int(16)));
        let base = k::add(k::mul(row, k::int(pitch)), k::mul(k::div(t.lane.clone(), k::int(16)), k::int(8)));
        let base = kb.int(base);
        let index = k::add(base, k::int(16 * tile as i64 * pitch + 16 * step as i64));
        self.load(kb, t.left[product], index, false)
    }

    fn load(&self, kb: &mut KernelBuilder, array: u32, index: KExpr, transposed: bool) -> [Var; 4] {
        let to = [(); 4].map(|_| kb.var(WORD));
        kb.stmt(Stmt::Matrix(MatrixOp::Load { to, array, index, transposed }));
        to
    }

    fn multiply(&self, kb: &mut KernelBuilder, acc: [Var; 4], a: &[Var; 4], b: [Var; 2]) {
        kb.stmt(Stmt::Matrix(MatrixOp::Multiply { dtype: self.plan.dtype, acc, a: a.map(KExpr::Var), b: b.map(KExpr::Var) }));
    }

    /// Where the current tile of a streamed operand starts, in elements.
    fn tile_start(&self, kb: &mut KernelBuilder, stage: &KExpr, stream: usize) -> KExpr {
        let words = self.plan.columns * self.plan.streams[stream].pitch();
        kb.int(k::mul(stage.clone(), k::int(words as i64)))
    }

    // ---- the walk over the columns ----

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

    /// What a thread copies of every tile.
    fn copies(&self, kb: &mut KernelBuilder, em: &mut Emitter) -> Result<Vec<Copy>> {
        let mut out = Vec::new();
        for (stream, o) in self.plan.streams.iter().enumerate() {
            for (row, feature, guard) in self.units(kb, o, self.plan.columns) {
                let mut env = em.axes.clone();
                env.insert(self.a.column, row.clone());
                env.insert(o.axis, feature.clone());
                let from = kb.expr(&o.index, &env, &|_| None, self.program)?;
                let from = kb.int(from);
                let to = kb.int(k::add(k::mul(row.clone(), k::int(o.pitch() as i64)), feature));
                out.push(Copy { stream, from, to, row, guard });
            }
        }
        Ok(out)
    }

    /// Starts the copies of the tile at `c0`, if there is one.
    fn fetch(&self, kb: &mut KernelBuilder, t: &Thread, copies: &[Copy], c0: &KExpr, stage: KExpr, end: &KExpr) {
        kb.open();
        let size = kb.size(self.program.extent(self.a.column));
        let mut last: Option<(usize, KExpr, KExpr)> = None;
        for c in copies {
            let o = &self.plan.streams[c.stream];
            let (moved, start) = match &last {
                Some((s, moved, start)) if *s == c.stream => (moved.clone(), start.clone()),
                _ => {
                    let stride = o.index.coefficient(self.a.column).unwrap_or(Expr::ZERO);
                    let stride = kb.size(&stride);
                    let moved = kb.int(k::mul(c0.clone(), stride));
                    let start = self.tile_start(kb, &stage, c.stream);
                    last = Some((c.stream, moved.clone(), start.clone()));
                    (moved, start)
                }
            };
            let valid = if self.divides(self.a.column, self.plan.columns) {
                None
            } else {
                Some(kb.bind(k::lt(k::add(c0.clone(), c.row.clone()), size.clone()), k::BOOL))
            };
            let (index, from) = (k::add(start, c.to.clone()), k::add(c.from.clone(), moved));
            let buffer = kb.buffer(o.buffer);
            let copy = Stmt::AsyncCopy { array: t.streams[c.stream], index, buffer, from, lanes: o.lanes() as u8, valid };
            self.guarded(kb, c.guard.clone(), copy);
        }
        let then = kb.close();
        kb.stmt(Stmt::If { cond: k::lt(c0.clone(), end.clone()), then, otherwise: vec![] });
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

    /// A product for the tile: for each of the thread's tiles of rows, each eight columns.
    fn product(&self, kb: &mut KernelBuilder, t: &Thread, i: usize, stage: &KExpr) -> Vec<[Var; 4]> {
        let plan = self.plan;
        let (o, stream) = &plan.left[i];
        let eights = plan.columns / 8;
        let accs: Vec<[Var; 4]> = (0..plan.tiles * eights).map(|_| [(); 4].map(|_| kb.mutable(zero(DType::F32), F32))).collect();
        if self.tf32() {
            self.product_wide(kb, t, i, stage, &accs);
            return accs;
        }
        let pitch = plan.streams[*stream].pitch() as i64;
        // Columns lie in memory as rows: a thread names one of 16 columns, and the first or second eight of the step.
        let row = k::add(k::mul(k::div(t.lane.clone(), k::int(16)), k::int(8)), k::rem(t.lane.clone(), k::int(8)));
        let half = k::mul(k::rem(k::div(t.lane.clone(), k::int(8)), k::int(2)), k::int(8));
        let base = k::add(k::add(k::mul(row, k::int(pitch)), half), self.tile_start(kb, stage, *stream));
        let base = kb.int(base);
        for step in 0..o.features / 16 {
            let left: Vec<[Var; 4]> = (0..plan.tiles)
                .map(|tile| match t.held.get(i) {
                    Some(held) => held[(step * plan.tiles + tile) as usize],
                    None => self.left_fragment(kb, t, i, step, tile),
                })
                .collect();
            for n in 0..eights / 2 {
                let index = k::add(base.clone(), k::int(16 * n as i64 * pitch + 16 * step as i64));
                let [b0, b1, b2, b3] = self.load(kb, t.streams[*stream], index, false);
                for (tile, a) in left.iter().enumerate() {
                    let first = tile * eights as usize + 2 * n as usize;
                    self.multiply(kb, accs[first], a, [b0, b1]);
                    self.multiply(kb, accs[first + 1], a, [b2, b3]);
                }
            }
        }
        accs
    }

    /// The columns of a thread in a tile.
    fn known_columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread, c0: &KExpr, checked: bool) -> Result<Vec<Column>> {
        let (a, eights) = (self.a, (self.plan.columns / 8) as usize);
        let size = kb.size(self.program.extent(a.column));
        let ragged = checked && !self.divides(a.column, self.plan.columns);
        let others: Vec<AxisId> = [a.row, a.feature].into_iter().chain(a.products.iter().map(|p| p.axis)).collect();
        let mut columns: Vec<Column> = Vec::new();
        for j in 0..2 * eights {
            let at = kb.int(k::add(k::add(c0.clone(), t.pair.clone()), k::int((8 * (j / 2) + j % 2) as i64)));
            let inside = ragged.then(|| kb.bind(k::lt(at.clone(), size.clone()), k::BOOL));
            let at = if ragged { kb.int(k::bin(ScalarOp::Min, at, k::sub(size.clone(), k::int(1)))) } else { at };
            em.enter();
            em.axes.insert(a.column, at.clone());
            for v in self.weights() {
                hoist(kb, em, v, &others)?;
            }
            columns.push((at, inside, em.leave_with()));
        }
        Ok(columns)
    }

    /// The weights of every result: for each tile of rows and eight columns, the thread's four elements.
    fn tile_weights(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        products: &[Vec<[Var; 4]>],
        columns: &[Column],
        checked: bool,
    ) -> Result<Vec<Vec<[KExpr; 4]>>> {
        let (a, eights) = (self.a, (self.plan.columns / 8) as usize);
        let diagonal = self.diagonal();
        // The rows' and columns' knowledge at an element: `row` of the thread's, `j` of the tile's columns.
        let at = |em: &mut Emitter, row: usize, j: usize| {
            em.enter();
            em.axes.insert(a.row, t.rows[row].0.clone());
            em.axes.insert(a.column, columns[j].0.clone());
            em.resume(&t.rows[row].1);
            em.resume(&columns[j].2);
            if let (Some(v), false) = (diagonal, checked) {
                em.define(v, KExpr::Lit(Literal::new(1.0, DType::Bool)));
            }
            let (tile, half) = (row / 2, row % 2);
            for (p, values) in a.products.iter().zip(products) {
                em.define(p.reduce, KExpr::Var(values[tile * eights + j / 2][2 * half + j % 2]));
            }
        };
        let guarded = |j: usize, v: KExpr, other: f64| match &columns[j].1 {
            Some(c) => k::select(c.clone(), v, k::f32c(other)),
            None => v,
        };
        let nothing = || [(); 4].map(|_| k::f32c(0.0));
        let mut out: Vec<Vec<[KExpr; 4]>> = vec![vec![nothing(); t.rows.len() / 2 * eights]; a.outputs.len()];
        for row in 0..t.rows.len() {
            let place = |j: usize| (row / 2 * eights + j / 2, 2 * (row % 2) + j % 2);
            let Some(s) = &a.softmax else {
                for j in 0..columns.len() {
                    at(em, row, j);
                    for (o, list) in a.outputs.iter().zip(&mut out) {
                        let w = em.value(kb, o.weight)?;
                        let w = kb.bind(guarded(j, w, 0.0), F32);
                        let (n, e) = place(j);
                        list[n][e] = w;
                    }
                    em.leave();
                }
                continue;
            };
            let [max, sum] = t.softmax[row];
            let mut scores: Vec<(KExpr, Known)> = Vec::new();
            let old = kb.var(F32);
            kb.stmt(Stmt::Let(old, KExpr::Var(max)));
            let mut most = KExpr::Var(old);
            for j in 0..columns.len() {
                at(em, row, j);
                let v = em.value(kb, s.score)?;
                let v = kb.bind(guarded(j, v, HIDDEN), F32);
                scores.push((v.clone(), em.leave_with()));
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, v]), F32);
            }
            // The four threads of a row.
            for mask in [1, 2] {
                let other = KExpr::Shuffle(Box::new(most.clone()), mask);
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, other]), F32);
            }
            kb.stmt(Stmt::Assign(max, most.clone()));
            let drop = KExpr::Scalar(ScalarOp::Sub, vec![KExpr::Var(old), most.clone()]);
            let factor = kb.bind(KExpr::Scalar(ScalarOp::Exp2, vec![drop]), F32);
            let scaled = |v: Var| KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Var(v), factor.clone()]);
            for sums in &t.sums {
                let per = sums.len() / self.plan.tiles as usize;
                for acc in &sums[row / 2 * per..(row / 2 + 1) * per] {
                    for v in &acc[2 * (row % 2)..2 * (row % 2) + 2] {
                        kb.stmt(Stmt::Assign(*v, scaled(*v)));
                    }
                }
            }
            kb.stmt(Stmt::Assign(sum, scaled(sum)));
            for (j, (score, known)) in scores.iter().enumerate() {
                at(em, row, j);
                em.resume(known);
                em.define(s.score, score.clone());
                em.define(s.max, most.clone());
                let w = em.value(kb, s.weight)?;
                let w = kb.bind(guarded(j, w, 0.0), F32);
                em.define(s.weight, w.clone());
                kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(sum), w])));
                for (o, list) in a.outputs.iter().zip(&mut out) {
                    let (n, e) = place(j);
                    list[n][e] = em.value(kb, o.weight)?;
                }
                em.leave();
            }
        }
        Ok(out)
    }

    /// The comparison that hides columns beyond the diagonal.
    fn diagonal(&self) -> Option<ValId> {
        let a = self.a;
        let (first, second) = match a.causal {
            Causal::No => return None,
            Causal::After => (a.row, a.column),
            Causal::Before => (a.column, a.row),
        };
        let is = |v: ValId, x: AxisId| matches!(self.nest.op(v), LoopOp::Index(e) if *e == Expr::axis(x));
        let found = |(op, _): &(LoopOp, DType)| matches!(op, LoopOp::Scalar(ScalarOp::Ge, f) if is(f[0], first) && is(f[1], second));
        self.nest.ops.iter().position(found).map(|i| ValId(i as u32))
    }

    /// Adds the weights' products with the tile's values to a result.
    fn output(&self, kb: &mut KernelBuilder, t: &Thread, o: usize, weights: &[[KExpr; 4]], stage: &KExpr) {
        if self.tf32() {
            return self.output_wide(kb, t, o, weights, stage);
        }
        let plan = self.plan;
        let stream = plan.values[o];
        let pitch = plan.streams[stream].pitch() as i64;
        let (eights, features) = ((plan.columns / 8) as usize, self.features() / 8);
        // A thread names one of 16 columns, and the first or second eight features.
        let row = k::mul(k::rem(t.lane.clone(), k::int(16)), k::int(pitch));
        let base = k::add(k::add(row, k::mul(k::div(t.lane.clone(), k::int(16)), k::int(8))), self.tile_start(kb, stage, stream));
        let base = kb.int(base);
        for step in 0..eights / 2 {
            let mut left = Vec::new();
            for tile in 0..plan.tiles as usize {
                let mut words = [Var(0); 4];
                for (n, word) in words.iter_mut().enumerate() {
                    let four = &weights[tile * eights + 2 * step + n / 2];
                    let half = 2 * (n % 2);
                    *word = kb.var(WORD);
                    let (low, high) = (four[half].clone(), four[half + 1].clone());
                    kb.stmt(Stmt::Matrix(MatrixOp::Pack { to: *word, dtype: plan.dtype, low, high }));
                }
                left.push(words);
            }
            for f in 0..features / 2 {
                let index = k::add(base.clone(), k::int(16 * step as i64 * pitch + 16 * f as i64));
                let [b0, b1, b2, b3] = self.load(kb, t.streams[stream], index, true);
                for (tile, a) in left.iter().enumerate() {
                    let first = tile * features as usize + 2 * f as usize;
                    self.multiply(kb, t.sums[o][first], a, [b0, b1]);
                    self.multiply(kb, t.sums[o][first + 1], a, [b2, b3]);
                }
            }
        }
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
