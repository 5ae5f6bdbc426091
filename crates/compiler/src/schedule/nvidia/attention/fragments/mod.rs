//! What a thread holds of a block of rows on matrix units: of each tile of 16 rows two, and of eight columns or features two
//! neighbours in either. What follows from rows, columns and both is computed in registers, element by element.

mod weights;

use crate::nest::attention::{Attention, Causal};
use crate::schedule::emit::attention::{Ends, hoist, store_row, stores_of};
use crate::schedule::emit::attention::{F32, Known};
use crate::schedule::emit::quad::Quad;
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use crate::schedule::nvidia::bulk::equal;
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};
pub(super) use weights::Tile;

/// A block of rows and the tiles of columns that it meets.
pub(super) struct Fragments<'a> {
    pub program: &'a LoopProgram,
    pub nest: &'a Nest,
    pub a: &'a Attention,
    pub subgroups: u32,
    /// Tiles of 16 rows of a subgroup.
    pub tiles: u32,
    /// Columns of a tile.
    pub columns: u32,
}

/// What one thread has at hand.
pub(super) struct Held {
    /// The block's first row.
    pub row0: KExpr,
    /// The subgroup, and the thread's row and pair of columns in a tile of 16 x 8.
    pub warp: KExpr,
    pub lane: KExpr,
    pub row: KExpr,
    pub pair: KExpr,
    /// Rows of the thread, two for each of its tiles: the place, and what follows from it.
    pub rows: Vec<(KExpr, Known)>,
    /// For each result: tile of rows, tile of features, and element.
    pub sums: Vec<Vec<[Var; 4]>>,
    /// Maximum and sum of each row.
    pub softmax: Vec<[Var; 2]>,
}

/// A column of a thread: its place, whether there is one where that is not known, and what follows from it.
pub(super) struct Column {
    pub at: KExpr,
    pub inside: Option<KExpr>,
    pub known: Known,
}

impl<'a> Fragments<'a> {
    /// Rows of a block.
    pub fn rows(&self) -> u32 {
        16 * self.tiles * self.subgroups
    }

    pub fn features(&self) -> u32 {
        self.program.extent(self.a.feature).as_const().unwrap_or(16) as u32
    }

    /// Eights of a tile's columns.
    pub fn eights(&self) -> usize {
        (self.columns / 8) as usize
    }

    pub fn divides(&self, axis: AxisId, each: u32) -> bool {
        self.program.extent(axis).as_const().is_some_and(|e| e % each as i64 == 0)
    }

    /// The thread's place in the block that begins at `row0`.
    pub fn thread(&self, kb: &mut KernelBuilder, row0: KExpr) -> Held {
        let warp = kb.int(k::div(KExpr::LocalId(0), k::int(32)));
        let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let row = kb.int(k::div(lane.clone(), k::int(4)));
        let pair = kb.int(k::mul(k::rem(lane.clone(), k::int(4)), k::int(2)));
        Held { row0, warp, lane, row, pair, rows: vec![], sums: vec![], softmax: vec![] }
    }

    /// Declares sums, maxima and sums of weights, and computes what follows from rows.
    pub fn begin(&self, kb: &mut KernelBuilder, em: &mut Emitter, h: &mut Held) -> Result<()> {
        h.rows = self.known_rows(kb, em, h)?;
        let float = |kb: &mut KernelBuilder| kb.mutable(zero(DType::F32), F32);
        for _ in &self.a.outputs {
            let sums = (0..self.tiles * self.features() / 8).map(|_| [(); 4].map(|_| float(kb))).collect();
            h.sums.push(sums);
        }
        if self.a.softmax.is_some() {
            h.softmax = (0..2 * self.tiles).map(|_| [kb.mutable(k::f32c(HIDDEN), F32), float(kb)]).collect();
        }
        Ok(())
    }

    /// The place of a thread's `i`-th row.
    fn row_at(&self, h: &Held, i: u32) -> KExpr {
        let first = k::add(h.row0.clone(), k::mul(h.warp.clone(), k::int(16 * self.tiles as i64)));
        k::add(k::add(first, h.row.clone()), k::int(8 * i as i64))
    }

    fn known_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, h: &Held) -> Result<Vec<(KExpr, Known)>> {
        let a = self.a;
        let extent = kb.size(self.program.extent(a.row));
        let all: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.row, a.feature]).collect();
        let inner: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.feature]).collect();
        for v in self.a.weights() {
            hoist(kb, em, v, &all)?;
        }
        let digits = self.digits(a.row);
        let mut rows = Vec::new();
        for i in 0..2 * self.tiles {
            let at = self.row_at(h, i);
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.row, at.clone());
            for v in (0..self.nest.ops.len() as u32).map(ValId) {
                self.define_digit(em, v, &digits, i as usize);
            }
            for v in self.a.weights() {
                hoist(kb, em, v, &inner)?;
            }
            rows.push((at, em.leave_with()));
        }
        Ok(rows)
    }

    /// The tiles of columns that the block's rows see: ranges of first columns, and whether each tile has to look at its columns one
    /// by one. The last number is where columns end.
    pub fn walks(&self, kb: &mut KernelBuilder, row0: &KExpr) -> (Vec<(KExpr, KExpr, bool)>, KExpr) {
        let (a, width) = (self.a, self.columns as i64);
        let whole = self.divides(a.column, self.columns);
        let size = kb.size(self.program.extent(a.column));
        let down = |kb: &mut KernelBuilder, e: KExpr| kb.int(k::mul(k::div(e, k::int(width)), k::int(width)));
        let rows = k::int(self.rows() as i64);
        let mut walks = Vec::new();
        let end = match a.causal {
            Causal::No => {
                let edge = if whole { size.clone() } else { down(kb, size.clone()) };
                walks.push((k::int(0), edge.clone(), false));
                if !whole {
                    walks.push((edge, size.clone(), true));
                }
                size
            }
            Causal::After => {
                let end = kb.int(k::bin(ScalarOp::Min, size.clone(), k::add(row0.clone(), rows)));
                let seen = k::bin(ScalarOp::Min, size, k::add(row0.clone(), k::int(1)));
                let edge = down(kb, seen);
                walks.extend([(k::int(0), edge.clone(), false), (edge, end.clone(), true)]);
                end
            }
            Causal::Before => {
                let start = down(kb, row0.clone());
                let free = down(kb, k::add(row0.clone(), k::int(self.rows() as i64 + width - 2)));
                let edge = if whole { size.clone() } else { down(kb, size.clone()) };
                let free = kb.int(k::bin(ScalarOp::Min, free, edge.clone()));
                let free = kb.int(k::bin(ScalarOp::Max, free, start.clone()));
                walks.extend([(start, free.clone(), true), (free.clone(), edge.clone(), false)]);
                if !whole {
                    let edge = kb.int(k::bin(ScalarOp::Max, edge, free));
                    walks.push((edge, size.clone(), true));
                }
                size
            }
        };
        (walks, end)
    }

    /// Stores the results and what follows them.
    pub fn finish(&self, kb: &mut KernelBuilder, em: &mut Emitter, h: &Held) -> Result<()> {
        let a = self.a;
        for [_, sum] in &h.softmax {
            for mask in [1, 2] {
                let other = KExpr::Shuffle(Box::new(KExpr::Var(*sum)), mask);
                kb.stmt(Stmt::Assign(*sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(*sum), other])));
            }
        }
        let (wide, narrow) = stores_of(self.nest, em, a);
        for row in 0..h.rows.len() {
            let ends = Ends {
                here: self.row_at(h, row as u32),
                at: h.rows[row].0.clone(),
                softmax: h.softmax.get(row).copied(),
                first: k::lt(h.pair.clone(), k::int(1)),
                wide: &wide,
                narrow: &narrow,
            };
            // All threads exchange, those of absent rows too.
            let quads = self.quads(kb, h, row);
            store_row(kb, em, a, ends, &mut |kb, em| {
                for (at, results) in &quads {
                    let mut quad = Quad::new(a.feature, 4, at.clone(), em.axes.clone());
                    for (o, lanes) in a.outputs.iter().zip(results) {
                        quad.define(o.reduce, lanes.clone());
                    }
                    quad.stores(kb, em, &|s| wide.contains(&s))?.into_iter().for_each(|s| kb.stmt(s));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// A row's results in groups of four neighbours, each with its first feature divided by four: of two eights a thread has two
    /// features each, and gives those of one to its neighbour for the neighbour's of the other. Stored by twos, each instruction would
    /// write half a sector of every row.
    fn quads(&self, kb: &mut KernelBuilder, h: &Held, row: usize) -> Vec<(KExpr, Vec<Vec<KExpr>>)> {
        let eights = (self.features() / 8) as usize;
        let place = kb.int(k::rem(h.lane.clone(), k::int(4)));
        let odd = kb.int(k::rem(place.clone(), k::int(2)));
        let is_odd = kb.bind(equal(odd.clone(), 1), k::BOOL);
        let own = kb.int(k::add(k::mul(odd, k::int(2)), k::div(place, k::int(2))));
        let mut quads = Vec::new();
        for first in (0..eights).step_by(2) {
            let mut results = Vec::new();
            for sums in &h.sums {
                let of = |f: usize, e: usize| KExpr::Var(sums[row / 2 * eights + f][2 * (row % 2) + e]);
                let [mut kept, mut given] = [vec![], vec![]];
                for e in 0..2 {
                    let (low, high) = (of(first, e), of(first + 1, e));
                    let give = kb.bind(k::select(is_odd.clone(), low.clone(), high.clone()), F32);
                    given.push(kb.bind(KExpr::Shuffle(Box::new(give), 1), F32));
                    kept.push(kb.bind(k::select(is_odd.clone(), high, low), F32));
                }
                let lanes = kept.iter().chain(&given).zip(given.iter().chain(&kept));
                results.push(lanes.map(|(even, odd)| kb.bind(k::select(is_odd.clone(), odd.clone(), even.clone()), F32)).collect());
            }
            quads.push((kb.int(k::add(own.clone(), k::int(2 * first as i64))), results));
        }
        quads
    }
}
