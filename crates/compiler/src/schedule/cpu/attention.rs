//! Attention on CPUs: a piece holds a block of rows in scratch and walks over the columns, tile after tile, without ever writing
//! the weights to memory (T. Dao, "FlashAttention-2", 2023).
//!
//! A tile's columns are packed twice: turned, as the products with the rows read them, and as they are, as the weights multiply
//! them. Both products run in registers, some rows by some vectors at a time; weights are computed row by row in loops that the C
//! compiler vectorises. What a larger maximum makes of earlier sums is done when a row's tile begins.

use super::loops::{each, hint, hoist_constants, round_up};
use crate::device::Target;
use crate::nest::attention::{Attention, Causal};
use crate::schedule::Scheduled;
use crate::schedule::emit::attention::{hoist, stores_of};
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of, zero};
use crate::schedule::grid::Grid;
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};

/// Rows of a register tile.
const ROWS: i64 = 4;
/// Rows of a block, and columns of a tile: operands of both products stay in the second cache, a tile's columns in the first.
const BLOCK: i64 = 32;
const TILE: i64 = 64;

const F32: Ty = Ty::scalar(DType::F32);

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, a: &Attention, target: &Target) -> Result<Scheduled> {
    let lanes = target.vector_lanes as i64;
    let rows = round_up(hint(program, program.extent(a.row)).min(BLOCK), ROWS);
    let columns = round_up(hint(program, program.extent(a.column)).min(TILE), lanes);
    Template { program, nest, a, lanes, rows, columns }.build()
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    a: &'a Attention,
    lanes: i64,
    rows: i64,
    columns: i64,
}

/// An array of vectors, and the same by elements.
#[derive(Clone, Copy)]
struct Both {
    wide: u32,
    each: u32,
}

struct Scratch {
    /// Rows and turned columns of each product, and the products; weights take the products' place.
    left: Vec<u32>,
    right: Vec<Both>,
    tiles: Vec<Both>,
    /// Columns' values and sums of each result.
    values: Vec<Both>,
    sums: Vec<Both>,
    /// Maximum and sum of each row.
    softmax: Option<[u32; 2]>,
}

impl Template<'_> {
    fn features(&self, axis: AxisId) -> i64 {
        self.program.extent(axis).as_const().unwrap_or(1)
    }

    /// Words of a row of results.
    fn width(&self) -> i64 {
        round_up(self.features(self.a.feature), self.lanes)
    }

    fn wide(&self) -> Ty {
        Ty { dtype: DType::F32, lanes: self.lanes as u8 }
    }

    fn scratch(&self, kb: &mut KernelBuilder) -> Scratch {
        let a = self.a;
        let both = |kb: &mut KernelBuilder, name: &str, words: i64| {
            let wide = kb.shared(name, self.wide(), (words / self.lanes) as u32);
            kb.shared.push(SharedArray { name: format!("{name}_each"), ty: F32, len: words as u32, view: Some(wide) });
            Both { wide, each: kb.shared.len() as u32 - 1 }
        };
        let tiles = a.products.len().max(a.outputs.len());
        Scratch {
            left: a.products.iter().map(|p| kb.shared("rows", F32, (self.rows * self.features(p.axis)) as u32)).collect(),
            right: a.products.iter().map(|p| both(kb, "columns", self.features(p.axis) * self.columns)).collect(),
            tiles: (0..tiles).map(|_| both(kb, "tile", self.rows * self.columns)).collect(),
            values: a.outputs.iter().map(|_| both(kb, "values", self.columns * self.width())).collect(),
            sums: a.outputs.iter().map(|_| both(kb, "sums", self.rows * self.width())).collect(),
            softmax: a.softmax.as_ref().map(|_| [kb.shared("most", F32, self.rows as u32), kb.shared("total", F32, self.rows as u32)]),
        }
    }

    fn divides(&self, axis: AxisId, each: i64) -> bool {
        self.program.extent(axis).as_const().is_some_and(|e| e % each == 0)
    }

    /// A place along an axis; past its end the last there is.
    fn clamp(&self, kb: &mut KernelBuilder, axis: AxisId, at: KExpr, each: i64) -> KExpr {
        if self.divides(axis, each) {
            return kb.int(at);
        }
        let last = kb.size(&self.program.extent(axis).sub(&Expr::ONE));
        kb.int(k::bin(ScalarOp::Min, at, last))
    }

    fn build(&self) -> Result<Scheduled> {
        let (p, a) = (self.program, self.a);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, p);
        em.lazy = true;
        hoist_constants(&mut kb, &mut em)?;
        let s = self.scratch(&mut kb);
        let blocks = groups_of(p.extent(a.row), self.rows, p);
        let groups = p.volume(&a.batch).mul(&blocks);
        let per = kb.size(&blocks);
        let (piece, grid) = kb.group(Grid::line(groups));
        let batch = kb.int(k::div(piece.clone(), per.clone()));
        kb.unflatten(batch, &a.batch, p, &mut em.axes);
        let row0 = kb.int(k::mul(k::rem(piece, per), k::int(self.rows)));
        for (product, array) in a.products.iter().zip(&s.left) {
            let features = self.features(product.axis);
            each(&mut kb, &mut em, (k::int(0), k::int(self.rows)), |kb, em, r| {
                let at = self.clamp(kb, a.row, k::add(row0.clone(), r.clone()), self.rows);
                em.axes.insert(a.row, at);
                let to = kb.int(k::mul(r, k::int(features)));
                self.copy(kb, em, product.left, product.axis, *array, to, features, features)
            })?;
        }
        self.clear(&mut kb, &mut em, &s)?;
        self.outer(&mut kb, &mut em, &a.outer, &mut |kb, em| {
            let end = kb.size(p.extent(a.column));
            let (start, end) = match a.causal {
                Causal::No => (k::int(0), end),
                Causal::After => (k::int(0), kb.int(k::bin(ScalarOp::Min, end, k::add(row0.clone(), k::int(self.rows))))),
                Causal::Before => (kb.int(k::mul(k::div(row0.clone(), k::int(self.columns)), k::int(self.columns))), end),
            };
            let c0 = kb.var(k::I32);
            kb.open();
            em.enter();
            self.tile(kb, em, &s, &row0, &KExpr::Var(c0))?;
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: c0, start, end, step: k::int(self.columns), body });
            Ok(())
        })?;
        self.finish(&mut kb, &mut em, &s, &row0)?;
        Ok(kb.finish(p, 1, grid))
    }

    fn outer(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        axes: &[AxisId],
        body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
    ) -> Result<()> {
        super::loops::nested(kb, em, self.program, axes, body)
    }

    /// Puts the elements of a value along its features into scratch, `count` of them and zeros up to `words`.
    #[allow(clippy::too_many_arguments)]
    fn copy(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        v: ValId,
        axis: AxisId,
        array: u32,
        to: KExpr,
        count: i64,
        words: i64,
    ) -> Result<()> {
        em.enter();
        hoist(kb, em, v, &[axis])?;
        each(kb, em, (k::int(0), k::int(count)), |kb, em, e| {
            em.axes.insert(axis, e.clone());
            let value = em.value(kb, v)?;
            kb.stmt(Stmt::StoreShared { array, index: k::add(to.clone(), e), value });
            Ok(())
        })?;
        em.leave();
        if words > count {
            each(kb, em, (k::int(count), k::int(words)), |kb, _, e| {
                kb.stmt(Stmt::StoreShared { array, index: k::add(to.clone(), e), value: zero(DType::F32) });
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Sums start at nothing.
    fn clear(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch) -> Result<()> {
        let nothing = kb.mutable(zero(DType::F32), self.wide());
        for sums in &s.sums {
            each(kb, em, (k::int(0), k::int(self.rows * self.width() / self.lanes)), |kb, _, i| {
                kb.stmt(Stmt::StoreShared { array: sums.wide, index: i, value: KExpr::Var(nothing) });
                Ok(())
            })?;
        }
        if let Some([most, total]) = s.softmax {
            each(kb, em, (k::int(0), k::int(self.rows)), |kb, _, i| {
                kb.stmt(Stmt::StoreShared { array: most, index: i.clone(), value: k::f32c(HIDDEN) });
                kb.stmt(Stmt::StoreShared { array: total, index: i, value: zero(DType::F32) });
                Ok(())
            })?;
        }
        Ok(())
    }

    fn tile(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, row0: &KExpr, c0: &KExpr) -> Result<()> {
        let a = self.a;
        for (i, product) in a.products.iter().enumerate() {
            let features = self.features(product.axis);
            each(kb, em, (k::int(0), k::int(features)), |kb, em, e| {
                em.axes.insert(product.axis, e.clone());
                let to = kb.int(k::mul(e, k::int(self.columns)));
                each(kb, em, (k::int(0), k::int(self.columns)), |kb, em, c| {
                    let at = self.clamp(kb, a.column, k::add(c0.clone(), c.clone()), self.columns);
                    em.axes.insert(a.column, at);
                    let value = em.value(kb, product.right)?;
                    kb.stmt(Stmt::StoreShared { array: s.right[i].each, index: k::add(to.clone(), c), value });
                    Ok(())
                })
            })?;
            self.multiply(kb, em, (s.left[i], features), (s.right[i].wide, self.columns), s.tiles[i].wide, false)?;
        }
        for (o, values) in a.outputs.iter().zip(&s.values) {
            each(kb, em, (k::int(0), k::int(self.columns)), |kb, em, c| {
                let at = self.clamp(kb, a.column, k::add(c0.clone(), c.clone()), self.columns);
                em.axes.insert(a.column, at);
                let to = kb.int(k::mul(c, k::int(self.width())));
                self.copy(kb, em, o.value, a.feature, values.each, to, self.features(a.feature), self.width())
            })?;
        }
        each(kb, em, (k::int(0), k::int(self.rows)), |kb, em, r| self.weights(kb, em, s, row0, c0, &r))?;
        for (i, (values, sums)) in s.values.iter().zip(&s.sums).enumerate() {
            self.multiply(kb, em, (s.tiles[i].each, self.columns), (values.wide, self.width()), sums.wide, true)?;
        }
        Ok(())
    }

    /// The weights of a row in a tile, in the place of its products.
    // Long: the loops over one row's columns, in the order in which they run.
    fn weights(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, row0: &KExpr, c0: &KExpr, r: &KExpr) -> Result<()> {
        let a = self.a;
        let at = self.clamp(kb, a.row, k::add(row0.clone(), r.clone()), self.rows);
        em.axes.insert(a.row, at);
        let inner: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.feature]).collect();
        let wanted = a.softmax.iter().flat_map(|s| [s.score, s.weight]).chain(a.outputs.iter().map(|o| o.weight));
        for v in wanted.collect::<Vec<_>>() {
            let varying: Vec<AxisId> = inner.iter().copied().filter(|x| !a.outer.contains(x)).collect();
            hoist(kb, em, v, &varying)?;
        }
        let first = kb.int(k::mul(r.clone(), k::int(self.columns)));
        let extent = kb.size(self.program.extent(a.column));
        let whole = self.divides(a.column, self.columns);
        // A column of the tile: its place in memory, whether there is one, and the products there.
        let column = |kb: &mut KernelBuilder, em: &mut Emitter, c: &KExpr, products: bool| {
            let here = kb.int(k::add(c0.clone(), c.clone()));
            let inside = (!whole).then(|| kb.bind(k::lt(here.clone(), extent.clone()), k::BOOL));
            let at = self.clamp(kb, a.column, here, self.columns);
            em.axes.insert(a.column, at);
            let index = kb.int(k::add(first.clone(), c.clone()));
            for (p, tile) in a.products.iter().zip(&s.tiles).filter(|_| products) {
                let v = kb.bind(KExpr::Shared { array: tile.each, index: Box::new(index.clone()) }, F32);
                em.define(p.reduce, v);
            }
            (index, inside)
        };
        let guarded = |inside: &Option<KExpr>, v: KExpr, other: KExpr| match inside {
            Some(c) => k::select(c.clone(), v, other),
            None => v,
        };
        let columns = (k::int(0), k::int(self.columns));
        let (Some(softmax), Some([most, total])) = (&a.softmax, s.softmax) else {
            return each(kb, em, columns, |kb, em, c| {
                let (index, inside) = column(kb, em, &c, true);
                let mut found = Vec::new();
                for o in &a.outputs {
                    let w = em.value(kb, o.weight)?;
                    found.push(kb.bind(guarded(&inside, w, zero(DType::F32)), F32));
                }
                for (value, tile) in found.into_iter().zip(&s.tiles) {
                    kb.stmt(Stmt::StoreShared { array: tile.each, index: index.clone(), value });
                }
                Ok(())
            });
        };
        let read = |array: u32| KExpr::Shared { array, index: Box::new(r.clone()) };
        let old = kb.bind(read(most), F32);
        let max = kb.mutable(old.clone(), F32);
        let tile = s.tiles[0].each;
        each(kb, em, columns.clone(), |kb, em, c| {
            let (index, inside) = column(kb, em, &c, true);
            let v = em.value(kb, softmax.score)?;
            let v = kb.bind(guarded(&inside, v, k::f32c(HIDDEN)), F32);
            kb.stmt(Stmt::StoreShared { array: tile, index, value: v.clone() });
            kb.stmt(Stmt::Assign(max, KExpr::Scalar(ScalarOp::Max, vec![KExpr::Var(max), v])));
            Ok(())
        })?;
        let sum = kb.mutable(zero(DType::F32), F32);
        each(kb, em, columns, |kb, em, c| {
            let (index, inside) = column(kb, em, &c, false);
            let v = kb.bind(KExpr::Shared { array: tile, index: Box::new(index.clone()) }, F32);
            em.define(softmax.score, v);
            em.define(softmax.max, KExpr::Var(max));
            let w = em.value(kb, softmax.weight)?;
            let w = kb.bind(guarded(&inside, w, zero(DType::F32)), F32);
            em.define(softmax.weight, w.clone());
            kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(sum), w])));
            for (o, tile) in a.outputs.iter().zip(&s.tiles) {
                let value = em.value(kb, o.weight)?;
                kb.stmt(Stmt::StoreShared { array: tile.each, index: index.clone(), value });
            }
            Ok(())
        })?;
        let drop = KExpr::Scalar(ScalarOp::Sub, vec![old, KExpr::Var(max)]);
        let factor = kb.bind(KExpr::Scalar(ScalarOp::Exp2, vec![drop]), F32);
        let sum = KExpr::Scalar(ScalarOp::Add, vec![KExpr::Scalar(ScalarOp::Mul, vec![read(total), factor.clone()]), KExpr::Var(sum)]);
        kb.stmt(Stmt::StoreShared { array: total, index: r.clone(), value: sum });
        kb.stmt(Stmt::StoreShared { array: most, index: r.clone(), value: KExpr::Var(max) });
        for sums in &s.sums {
            let from = kb.int(k::mul(r.clone(), k::int(self.width())));
            each(kb, em, (k::int(0), k::int(self.width())), |kb, _, f| {
                let index = kb.int(k::add(from.clone(), f));
                let v = KExpr::Shared { array: sums.each, index: Box::new(index.clone()) };
                let value = KExpr::Scalar(ScalarOp::Mul, vec![v, factor.clone()]);
                kb.stmt(Stmt::StoreShared { array: sums.each, index, value });
                Ok(())
            })?;
        }
        Ok(())
    }

    /// `to[r, n] (+)= sum over d of left[r, d] * right[d, n]` for the block's rows; `right` and `to` have rows of `width` words.
    #[allow(clippy::too_many_arguments)]
    fn multiply(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        (left, depth): (u32, i64),
        (right, width): (u32, i64),
        to: u32,
        accumulate: bool,
    ) -> Result<()> {
        let (wide, vectors) = (self.wide(), width / self.lanes);
        // Sums of a register tile, one row's number and the columns' vectors have to fit: 32 registers with AVX-512, else 16.
        let most = if self.lanes >= 16 { 4 } else { 2 };
        let step = (1..=most).rev().find(|s| vectors % s == 0).unwrap_or(1);
        each(kb, em, (k::int(0), k::int(self.rows / ROWS)), |kb, em, block| {
            each(kb, em, (k::int(0), k::int(vectors / step)), |kb, em, stretch| {
                let first = kb.int(k::mul(stretch, k::int(step)));
                let row = kb.int(k::mul(block.clone(), k::int(ROWS)));
                let place = |r: i64, v: i64| {
                    let row = k::add(row.clone(), k::int(r));
                    k::add(k::add(k::mul(row, k::int(vectors)), first.clone()), k::int(v))
                };
                let mut accs: Vec<Var> = Vec::new();
                for r in 0..ROWS {
                    for v in 0..step {
                        let start = if accumulate { KExpr::Shared { array: to, index: Box::new(place(r, v)) } } else { zero(DType::F32) };
                        accs.push(kb.mutable(start, wide));
                    }
                }
                each(kb, em, (k::int(0), k::int(depth)), |kb, _, d| {
                    let at = kb.int(k::add(k::mul(d.clone(), k::int(vectors)), first.clone()));
                    let mut columns = Vec::new();
                    for v in 0..step {
                        columns.push(kb.bind(KExpr::Shared { array: right, index: Box::new(k::add(at.clone(), k::int(v))) }, wide));
                    }
                    for r in 0..ROWS {
                        let index = k::add(k::mul(k::add(row.clone(), k::int(r)), k::int(depth)), d.clone());
                        let x = kb.bind(KExpr::Shared { array: left, index: Box::new(index) }, F32);
                        for (v, y) in columns.iter().enumerate() {
                            let acc = accs[(r * step) as usize + v];
                            let product = KExpr::Scalar(ScalarOp::Mul, vec![x.clone(), y.clone()]);
                            kb.stmt(Stmt::Assign(acc, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(acc), product])));
                        }
                    }
                    Ok(())
                })?;
                for (i, acc) in accs.iter().enumerate() {
                    let (r, v) = (i as i64 / step, i as i64 % step);
                    kb.stmt(Stmt::StoreShared { array: to, index: place(r, v), value: KExpr::Var(*acc) });
                }
                Ok(())
            })
        })
    }

    /// Stores the results and what follows them.
    fn finish(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, row0: &KExpr) -> Result<()> {
        let a = self.a;
        let (wide, narrow) = stores_of(self.nest, em, a);
        let left = k::sub(kb.size(self.program.extent(a.row)), row0.clone());
        let count = kb.int(k::bin(ScalarOp::Min, left, k::int(self.rows)));
        each(kb, em, (k::int(0), count), |kb, em, r| {
            let at = kb.int(k::add(row0.clone(), r.clone()));
            em.axes.insert(a.row, at);
            if let (Some(softmax), Some([most, total])) = (&a.softmax, s.softmax) {
                for (v, array) in [(softmax.max, most), (softmax.sum, total)] {
                    let e = kb.bind(KExpr::Shared { array, index: Box::new(r.clone()) }, F32);
                    em.define(v, e);
                }
            }
            em.stores(kb, &|s| narrow.contains(&s))?;
            let from = kb.int(k::mul(r, k::int(self.width())));
            each(kb, em, (k::int(0), k::int(self.features(a.feature))), |kb, em, f| {
                em.axes.insert(a.feature, f.clone());
                let index = kb.int(k::add(from.clone(), f));
                for (o, sums) in a.outputs.iter().zip(&s.sums) {
                    let v = kb.bind(KExpr::Shared { array: sums.each, index: Box::new(index.clone()) }, F32);
                    em.define(o.reduce, v);
                }
                em.stores(kb, &|s| wide.contains(&s))
            })
        })
    }
}
