//! Attention on GPUs: a workgroup holds a block of rows and walks over the columns, tile after tile, without ever writing the
//! weights to memory. Source of the scheme: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
//! Partitioning", 2023.
//!
//! *Tiled* (here): threads form a square; each has four rows and four columns of a tile of weights, and for its rows four
//! features in every stretch of the results. Products are made in steps along the features, both operands in workgroup memory;
//! weights go through workgroup memory to be multiplied by the columns' values. A softmax keeps a maximum and a sum for each
//! row; a larger maximum scales down what was summed before. [`units`]: the same on matrix units.

use crate::device::Target;
use crate::nest::attention::{Attention, Causal, Softmax};
use crate::schedule::Scheduled;
use crate::schedule::emit::attention::{Ends, F32, Known, hoist, outer, place, store_row, stores_of};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, a: &Attention, target: &Target) -> Result<Scheduled> {
    let hint = |x: AxisId| program.env.hint_or_one(program.extent(x));
    // Threads along a side of the square. The larger one needs 40 KiB.
    let large = target.max_shared_bytes >= 41 << 10 && target.max_threads >= 256 && hint(a.row) > 32;
    // Rows and columns beyond the last tile are computed for nothing: where the larger tile has many of them, the smaller is faster.
    let padded = |tile: i64| [a.row, a.column].map(|x| (hint(x) + tile - 1) / tile * tile).iter().product::<i64>();
    let side = if large && padded(64) * 4 <= padded(32) * 5 { 16 } else { 8 };
    Tiled { program, nest, a, target, side }.build()
}

/// Features of one step of the products.
const STEP: u32 = 16;

struct Tiled<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    a: &'a Attention,
    target: &'a Target,
    side: u32,
}

/// Workgroup memory: two operands of a step, weights, a stretch of values, and a number for each row and thread of it.
struct Arrays {
    left: u32,
    right: u32,
    weights: u32,
    values: u32,
    numbers: u32,
}

/// What a thread has at hand: its places along the rows and the columns, and the first row of the workgroup.
struct Thread {
    y: KExpr,
    x: KExpr,
    row0: KExpr,
    arrays: Arrays,
    /// Its four rows: the place, and what follows from it.
    rows: Vec<(KExpr, Known)>,
    /// For each result: for each stretch of features and row, four features.
    sums: Vec<Vec<Var>>,
    /// Maximum and sum of each row.
    softmax: Vec<[Var; 2]>,
}

const VEC: Ty = Ty::vec4(DType::F32);
/// For each result, row and column of a thread.
type Weights = Vec<Vec<Vec<KExpr>>>;

/// A thread's part of a tile of weights.
struct Tile<'t> {
    a: &'t Attention,
    rows: &'t [(KExpr, Known)],
    /// The place, whether there is such a column, and what follows from it.
    columns: Vec<(KExpr, KExpr, Known)>,
    /// For each product, four columns of each row.
    products: Vec<Vec<Var>>,
}

impl Tile<'_> {
    /// Opens a scope with the values that hold at one place of the tile.
    fn enter(&self, em: &mut Emitter, i: usize, j: usize) {
        em.enter();
        em.axes.insert(self.a.row, self.rows[i].0.clone());
        em.axes.insert(self.a.column, self.columns[j].0.clone());
        em.resume(&self.rows[i].1);
        em.resume(&self.columns[j].2);
        for (p, values) in self.a.products.iter().zip(&self.products) {
            em.define(p.reduce, KExpr::Lane(Box::new(KExpr::Var(values[i])), j as u8));
        }
    }
}

impl Tiled<'_> {
    fn threads(&self) -> u32 {
        self.side * self.side
    }

    /// Rows and columns of a tile, and features of a stretch.
    fn tile(&self) -> u32 {
        4 * self.side
    }

    fn features(&self, axis: AxisId) -> u32 {
        self.program.extent(axis).as_const().unwrap_or(1) as u32
    }

    fn stretches(&self) -> u32 {
        self.features(self.a.feature).div_ceil(self.tile())
    }

    fn build(&self) -> Result<Scheduled> {
        let (p, a, tile) = (self.program, self.a, self.tile());
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, p);
        let arrays = Arrays {
            left: kb.shared("left", VEC, STEP * self.side),
            right: kb.shared("right", VEC, STEP * self.side),
            weights: kb.shared("weights", VEC, tile * self.side),
            values: kb.shared("values", VEC, tile * self.side),
            numbers: if a.softmax.is_some() { kb.shared("numbers", F32, tile * self.side) } else { 0 },
        };
        let (row0, grid) = place(&mut kb, &mut em, a, tile, self.target);
        let y = kb.int(k::div(KExpr::LocalId(0), k::int(self.side as i64)));
        let x = kb.int(k::rem(KExpr::LocalId(0), k::int(self.side as i64)));
        let mut t = Thread { y, x, row0, arrays, rows: vec![], sums: vec![], softmax: vec![] };
        // What follows from the batch alone, and from the row alone.
        let all: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.row, a.feature]).collect();
        for v in self.a.weights() {
            hoist(&mut kb, &mut em, v, &all)?;
        }
        let extent = kb.size(p.extent(a.row));
        let inner: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.feature]).collect();
        for i in 0..4 {
            let at = k::add(k::add(t.row0.clone(), k::mul(t.y.clone(), k::int(4))), k::int(i));
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.row, at.clone());
            for v in self.a.weights() {
                hoist(&mut kb, &mut em, v, &inner)?;
            }
            t.rows.push((at, em.leave_with()));
        }
        t.sums = (0..a.outputs.len())
            .map(|_| (0..4 * self.stretches()).map(|_| kb.mutable(KExpr::Vec4(vec![zero(DType::F32)]), VEC)).collect())
            .collect();
        t.softmax = match a.softmax {
            Some(_) => (0..4).map(|_| [kb.mutable(k::f32c(HIDDEN), F32), kb.mutable(zero(DType::F32), F32)]).collect(),
            None => vec![],
        };
        outer(&mut kb, &mut em, &a.outer, &mut |kb, em| {
            let (start, end) = self.range(kb, &t);
            let c0 = kb.var(k::I32);
            kb.open();
            em.enter();
            self.column_tile(kb, em, &t, &KExpr::Var(c0))?;
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: c0, start, end, step: k::int(tile as i64), body });
            Ok(())
        })?;
        self.finish(&mut kb, &mut em, &t)?;
        Ok(kb.finish(p, self.threads(), grid))
    }

    /// The columns that the block's rows see.
    fn range(&self, kb: &mut KernelBuilder, t: &Thread) -> (KExpr, KExpr) {
        let end = kb.size(self.program.extent(self.a.column));
        match self.a.causal {
            Causal::No => (k::int(0), end),
            Causal::After => (k::int(0), kb.int(k::bin(ScalarOp::Min, end, k::add(t.row0.clone(), k::int(self.tile() as i64))))),
            // Tiles of columns are as long as blocks of rows.
            Causal::Before => (t.row0.clone(), end),
        }
    }

    /// What a tile of columns adds to the sums.
    fn column_tile(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread, c0: &KExpr) -> Result<()> {
        let a = self.a;
        let mut products = Vec::new();
        for p in &a.products {
            products.push(self.product(kb, em, t, p.left, p.right, p.axis, c0)?);
        }
        let tile = Tile { a, rows: &t.rows, columns: self.columns(kb, em, t, c0)?, products };
        let weights = match &a.softmax {
            Some(s) => self.softmax_weights(kb, em, t, &tile, s)?,
            None => self.plain_weights(kb, em, &tile)?,
        };
        for ((o, list), sums) in a.outputs.iter().zip(&weights).zip(&t.sums) {
            for j in 0..4 {
                let index = k::add(k::mul(k::add(k::mul(t.x.clone(), k::int(4)), k::int(j)), k::int(self.side as i64)), t.y.clone());
                let value = KExpr::Vec4((0..4).map(|i| list[i][j as usize].clone()).collect());
                kb.stmt(Stmt::StoreShared { array: t.arrays.weights, index, value });
            }
            for stretch in 0..self.stretches() {
                self.values(kb, em, &t.arrays, o.value, c0, stretch)?;
                kb.stmt(Stmt::Barrier);
                let first = (stretch * 4) as usize;
                self.multiply(kb, self.tile(), (t.arrays.weights, &t.y), (t.arrays.values, &t.x), &sums[first..first + 4]);
                kb.stmt(Stmt::Barrier);
            }
        }
        Ok(())
    }

    /// The thread's columns: the place of each, whether there is one, and what follows from the column alone.
    fn columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread, c0: &KExpr) -> Result<Vec<(KExpr, KExpr, Known)>> {
        let a = self.a;
        let extent = kb.size(self.program.extent(a.column));
        let mut columns = Vec::new();
        for j in 0..4 {
            let at = kb.int(k::add(k::add(c0.clone(), k::mul(t.x.clone(), k::int(4))), k::int(j)));
            let inside = kb.bind(k::lt(at.clone(), extent.clone()), k::BOOL);
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.column, at.clone());
            let others: Vec<AxisId> = [a.row, a.feature].into_iter().chain(a.products.iter().map(|p| p.axis)).collect();
            for v in a.weights() {
                hoist(kb, em, v, &others)?;
            }
            columns.push((at, inside, em.leave_with()));
        }
        Ok(columns)
    }

    /// For each result, row and column its weight, where a softmax makes it; maxima and sums then are those with this tile.
    fn softmax_weights(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread, tile: &Tile, s: &Softmax) -> Result<Weights> {
        let mut weights: Weights = vec![vec![vec![]; 4]; self.a.outputs.len()];
        // Scores, and what the place knows by then.
        let mut scores: Vec<Vec<(KExpr, Known)>> = vec![vec![]; 4];
        for (i, row) in scores.iter_mut().enumerate() {
            let mut most: Option<KExpr> = None;
            for j in 0..4 {
                tile.enter(em, i, j);
                let v = em.value(kb, s.score)?;
                let v = kb.bind(k::select(tile.columns[j].1.clone(), v, k::f32c(HIDDEN)), F32);
                let known = em.leave_with();
                most = Some(match most {
                    None => v.clone(),
                    Some(m) => KExpr::Scalar(ScalarOp::Max, vec![m, v.clone()]),
                });
                row.push((v, known));
            }
            let index = self.number(t, i as i64);
            kb.stmt(Stmt::StoreShared { array: t.arrays.numbers, index, value: most.unwrap_or(k::f32c(HIDDEN)) });
        }
        kb.stmt(Stmt::Barrier);
        for (i, row) in scores.iter().enumerate() {
            let [max, sum] = t.softmax[i];
            self.raise_maximum(kb, t, i);
            for (j, (score, known)) in row.iter().enumerate() {
                tile.enter(em, i, j);
                em.resume(known);
                em.define(s.score, score.clone());
                em.define(s.max, KExpr::Var(max));
                let w = em.value(kb, s.weight)?;
                let w = kb.bind(k::select(tile.columns[j].1.clone(), w, zero(DType::F32)), F32);
                em.define(s.weight, w.clone());
                kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(sum), w])));
                for (o, list) in self.a.outputs.iter().zip(&mut weights) {
                    list[i].push(em.value(kb, o.weight)?);
                }
                em.leave();
            }
        }
        Ok(weights)
    }

    /// The maximum of a thread's row becomes that of all its threads' scores; what was summed is scaled down to it.
    fn raise_maximum(&self, kb: &mut KernelBuilder, t: &Thread, i: usize) {
        let [max, sum] = t.softmax[i];
        let old = kb.var(F32);
        kb.stmt(Stmt::Let(old, KExpr::Var(max)));
        self.each_number(kb, t, i as i64, &|kb, v| {
            kb.stmt(Stmt::Assign(max, KExpr::Scalar(ScalarOp::Max, vec![KExpr::Var(max), v])));
        });
        let drop = KExpr::Scalar(ScalarOp::Sub, vec![KExpr::Var(old), KExpr::Var(max)]);
        let factor = kb.bind(KExpr::Scalar(ScalarOp::Exp2, vec![drop]), F32);
        let scaled = |v: Var| KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Var(v), factor.clone()]);
        for outputs in &t.sums {
            for stretch in 0..self.stretches() {
                let v = outputs[(stretch * 4) as usize + i];
                kb.stmt(Stmt::Assign(v, scaled(v)));
            }
        }
        kb.stmt(Stmt::Assign(sum, scaled(sum)));
    }

    /// For each result, row and column its weight, where it follows from the products alone.
    fn plain_weights(&self, kb: &mut KernelBuilder, em: &mut Emitter, tile: &Tile) -> Result<Weights> {
        let mut weights: Weights = vec![vec![vec![]; 4]; self.a.outputs.len()];
        for i in 0..4 {
            for j in 0..4 {
                tile.enter(em, i, j);
                for (o, list) in self.a.outputs.iter().zip(&mut weights) {
                    let w = em.value(kb, o.weight)?;
                    list[i].push(kb.bind(k::select(tile.columns[j].1.clone(), w, zero(DType::F32)), F32));
                }
                em.leave();
            }
        }
        Ok(weights)
    }

    /// The place of a thread's number for its `i`-th row.
    fn number(&self, t: &Thread, i: i64) -> KExpr {
        let row = k::add(k::mul(t.y.clone(), k::int(4)), k::int(i));
        k::add(k::mul(row, k::int(self.side as i64)), t.x.clone())
    }

    /// The numbers of all threads that share a row.
    fn each_number(&self, kb: &mut KernelBuilder, t: &Thread, i: i64, f: &dyn Fn(&mut KernelBuilder, KExpr)) {
        let row = k::add(k::mul(t.y.clone(), k::int(4)), k::int(i));
        let first = kb.int(k::mul(row, k::int(self.side as i64)));
        let var = kb.var(k::I32);
        kb.open();
        let v = KExpr::Shared { array: t.arrays.numbers, index: Box::new(k::add(first, KExpr::Var(var))) };
        f(kb, v);
        let body = kb.close();
        kb.stmt(Stmt::For { var, start: k::int(0), end: k::int(self.side as i64), step: k::int(1), body });
    }

    /// One product for the tile: for each of the thread's rows, its four columns.
    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        left: ValId,
        right: ValId,
        axis: AxisId,
        c0: &KExpr,
    ) -> Result<Vec<Var>> {
        let accs: Vec<Var> = (0..4).map(|_| kb.mutable(KExpr::Vec4(vec![zero(DType::F32)]), VEC)).collect();
        let e0 = kb.var(k::I32);
        kb.open();
        em.enter();
        for (array, v, place, first) in [(t.arrays.left, left, self.a.row, &t.row0), (t.arrays.right, right, self.a.column, c0)] {
            self.fetch(kb, em, array, v, (place, first), (axis, &KExpr::Var(e0)))?;
        }
        em.leave();
        kb.stmt(Stmt::Barrier);
        let depth = self.features(axis).min(STEP);
        self.multiply(kb, depth, (t.arrays.left, &t.y), (t.arrays.right, &t.x), &accs);
        kb.stmt(Stmt::Barrier);
        let body = kb.close();
        let end = k::int(self.features(axis) as i64);
        kb.stmt(Stmt::For { var: e0, start: k::int(0), end, step: k::int(STEP as i64), body });
        Ok(accs)
    }

    /// Brings one step of an operand to workgroup memory, four places of a feature side by side.
    fn fetch(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        array: u32,
        v: ValId,
        (place, first): (AxisId, &KExpr),
        (axis, e0): (AxisId, &KExpr),
    ) -> Result<()> {
        let extent = kb.size(self.program.extent(place));
        let features = self.features(axis);
        for f in 0..(STEP * self.side).div_ceil(self.threads()) {
            let unit = kb.int(k::add(KExpr::LocalId(0), k::int((f * self.threads()) as i64)));
            let within = kb.int(k::rem(unit.clone(), k::int(STEP as i64)));
            let four = kb.int(k::div(unit, k::int(STEP as i64)));
            let e = kb.int(k::add(e0.clone(), within.clone()));
            let clamped = if features.is_multiple_of(STEP) {
                e.clone()
            } else {
                kb.int(k::bin(ScalarOp::Min, e.clone(), k::int(features as i64 - 1)))
            };
            let mut parts = Vec::new();
            for l in 0..4 {
                let at = k::add(k::add(first.clone(), k::mul(four.clone(), k::int(4))), k::int(l));
                let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
                em.enter();
                em.axes.insert(place, at);
                em.axes.insert(axis, clamped.clone());
                let x = em.value(kb, v)?;
                em.leave();
                parts.push(if features.is_multiple_of(STEP) {
                    x
                } else {
                    k::select(k::lt(e.clone(), k::int(features as i64)), x, zero(DType::F32))
                });
            }
            let index = k::add(k::mul(within, k::int(self.side as i64)), four);
            kb.stmt(Stmt::StoreShared { array, index, value: KExpr::Vec4(parts) });
        }
        Ok(())
    }

    /// Brings a stretch of the features of a tile's columns to workgroup memory.
    fn values(&self, kb: &mut KernelBuilder, em: &mut Emitter, arrays: &Arrays, v: ValId, c0: &KExpr, stretch: u32) -> Result<()> {
        let extent = kb.size(self.program.extent(self.a.column));
        let features = self.features(self.a.feature);
        for f in 0..(self.tile() * self.side).div_ceil(self.threads()) {
            let unit = kb.int(k::add(KExpr::LocalId(0), k::int((f * self.threads()) as i64)));
            let four = kb.int(k::rem(unit.clone(), k::int(self.side as i64)));
            let column = kb.int(k::add(c0.clone(), k::div(unit.clone(), k::int(self.side as i64))));
            let column = kb.int(k::bin(ScalarOp::Min, column, k::sub(extent.clone(), k::int(1))));
            let mut parts = Vec::new();
            for l in 0..4 {
                let e = k::add(k::mul(four.clone(), k::int(4)), k::int((stretch * self.tile() + l) as i64));
                let e = if features.is_multiple_of(self.tile()) { e } else { k::bin(ScalarOp::Min, e, k::int(features as i64 - 1)) };
                let e = kb.int(e);
                em.enter();
                em.axes.insert(self.a.column, column.clone());
                em.axes.insert(self.a.feature, e);
                parts.push(em.value(kb, v)?);
                em.leave();
            }
            kb.stmt(Stmt::StoreShared { array: arrays.values, index: unit, value: KExpr::Vec4(parts) });
        }
        Ok(())
    }

    /// `accs[i] += left[d][i] * right[d]` for `depth` steps.
    fn multiply(&self, kb: &mut KernelBuilder, depth: u32, left: (u32, &KExpr), right: (u32, &KExpr), accs: &[Var]) {
        let d = kb.var(k::I32);
        kb.open();
        let first = kb.int(k::mul(KExpr::Var(d), k::int(self.side as i64)));
        let read = |kb: &mut KernelBuilder, (array, at): (u32, &KExpr)| {
            kb.bind(KExpr::Shared { array, index: Box::new(k::add(first.clone(), at.clone())) }, VEC)
        };
        let (x, y) = (read(kb, left), read(kb, right));
        for (i, acc) in accs.iter().enumerate() {
            let product = KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Lane(Box::new(x.clone()), i as u8), y.clone()]);
            kb.stmt(Stmt::Assign(*acc, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(*acc), product])));
        }
        let body = kb.close();
        kb.stmt(Stmt::For { var: d, start: k::int(0), end: k::int(depth as i64), step: k::int(1), body });
    }

    /// Stores the results and what follows them.
    fn finish(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let a = self.a;
        if a.softmax.is_some() {
            kb.stmt(Stmt::Barrier);
            for i in 0..4 {
                let index = self.number(t, i as i64);
                kb.stmt(Stmt::StoreShared { array: t.arrays.numbers, index, value: KExpr::Var(t.softmax[i][1]) });
            }
            kb.stmt(Stmt::Barrier);
            for (i, [_, sum]) in t.softmax.iter().enumerate() {
                kb.stmt(Stmt::Assign(*sum, zero(DType::F32)));
                self.each_number(kb, t, i as i64, &|kb, v| {
                    kb.stmt(Stmt::Assign(*sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(*sum), v])));
                });
            }
        }
        let (wide, narrow) = stores_of(self.nest, em, a);
        let features = self.features(a.feature);
        for i in 0..4usize {
            let ends = Ends {
                here: k::add(k::add(t.row0.clone(), k::mul(t.y.clone(), k::int(4))), k::int(i as i64)),
                at: t.rows[i].0.clone(),
                softmax: t.softmax.get(i).copied(),
                first: k::lt(t.x.clone(), k::int(1)),
                wide: &wide,
                narrow: &narrow,
            };
            store_row(kb, em, a, ends, &mut |kb, em| {
                for stretch in 0..self.stretches() {
                    for l in 0..4u32 {
                        let e = k::add(k::mul(t.x.clone(), k::int(4)), k::int((stretch * self.tile() + l) as i64));
                        let e = kb.int(e);
                        kb.open();
                        em.enter();
                        em.axes.insert(a.feature, e.clone());
                        for (o, sums) in a.outputs.iter().zip(&t.sums) {
                            let v = KExpr::Lane(Box::new(KExpr::Var(sums[(stretch * 4) as usize + i])), l as u8);
                            em.define(o.reduce, v);
                        }
                        em.stores(kb, &|s| wide.contains(&s))?;
                        em.leave();
                        let body = kb.close();
                        kb.stmt(Stmt::If { cond: k::lt(e, k::int(features as i64)), then: body, otherwise: vec![] });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
