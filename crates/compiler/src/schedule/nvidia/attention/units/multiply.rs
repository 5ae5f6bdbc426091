//! Products on the matrix unit: fragments of operands, and what they add to.

use super::{Thread, Units, pitch};
use crate::schedule::emit::attention::F32;
use crate::schedule::emit::{KernelBuilder, zero};
use aludel_ir::DType;
use aludel_ir::kernel::{self as k, KExpr, MatrixOp, Stmt, Var};

impl Units<'_> {
    /// Whether the matrix unit takes words of f32.
    pub(super) fn tf32(&self) -> bool {
        self.operands.dtype == DType::F32
    }

    /// The product of a tile in TF32; see [`Units::product`].
    pub(super) fn product_wide(&self, kb: &mut KernelBuilder, t: &Thread, i: usize, stage: &KExpr, accs: &[[Var; 4]]) {
        let (f, operands) = (&self.f, self.operands);
        let (o, stream) = &operands.left[i];
        let eights = (f.columns / 8) as usize;
        let (left, right) = (pitch(o) as i64, pitch(&operands.streams[*stream]) as i64);
        let column = kb.int(k::div(t.h.pair.clone(), k::int(2)));
        let row = k::add(k::mul(t.h.warp.clone(), k::int(16 * f.tiles as i64)), t.h.row.clone());
        let rows = kb.int(k::add(k::mul(row, k::int(left)), column.clone()));
        let start = self.tile_start(kb, stage, *stream);
        let columns = kb.int(k::add(k::add(k::mul(t.h.row.clone(), k::int(right)), column), start));
        for step in 0..o.features as i64 / 8 {
            let a: Vec<[KExpr; 4]> = (0..f.tiles as i64)
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

    pub(super) fn word(&self, kb: &mut KernelBuilder, array: u32, base: &KExpr, at: i64) -> KExpr {
        kb.bind(KExpr::Shared { array, index: Box::new(k::add(base.clone(), k::int(at))) }, F32)
    }

    /// The weights' products with the tile's values in TF32; see [`Units::output`].
    pub(super) fn output_wide(&self, kb: &mut KernelBuilder, t: &Thread, o: usize, weights: &[[KExpr; 4]], stage: &KExpr) {
        let (f, operands) = (&self.f, self.operands);
        let stream = operands.values[o];
        let pitch = pitch(&operands.streams[stream]) as i64;
        let (eights, features) = ((f.columns / 8) as usize, (self.f.features() / 8) as usize);
        let start = self.tile_start(kb, stage, stream);
        let base = kb.int(k::add(k::add(k::mul(t.h.pair.clone(), k::int(pitch)), t.h.row.clone()), start));
        for step in 0..eights {
            for part in 0..features {
                let at = 8 * step as i64 * pitch + 8 * part as i64;
                let b = [0, pitch].map(|r| self.word(kb, t.streams[stream], &base, at + r));
                for tile in 0..f.tiles as usize {
                    let [w0, w1, w2, w3] = weights[tile * eights + step].clone();
                    kb.stmt(Stmt::Mma { acc: t.h.sums[o][tile * features + part], a: [w0, w2, w1, w3], b: b.clone() });
                }
            }
        }
    }

    /// The left operand of a product for a step of the depth and one of the thread's tiles.
    pub(super) fn left_fragment(&self, kb: &mut KernelBuilder, t: &Thread, product: usize, step: u32, tile: u32) -> [Var; 4] {
        let pitch = pitch(&self.operands.left[product].0) as i64;
        let first = k::mul(t.h.warp.clone(), k::int(16 * self.f.tiles as i64));
        let row = k::add(first, k::rem(t.h.lane.clone(), k::int(16)));
        let base = k::add(k::mul(row, k::int(pitch)), k::mul(k::div(t.h.lane.clone(), k::int(16)), k::int(8)));
        let base = kb.int(base);
        let index = k::add(base, k::int(16 * tile as i64 * pitch + 16 * step as i64));
        self.load(kb, t.left[product], index, false)
    }

    pub(super) fn load(&self, kb: &mut KernelBuilder, array: u32, index: KExpr, transposed: bool) -> [Var; 4] {
        let to = [(); 4].map(|_| kb.var(super::WORD));
        kb.stmt(Stmt::Matrix(MatrixOp::Load { to, array, index, transposed }));
        to
    }

    pub(super) fn multiply(&self, kb: &mut KernelBuilder, acc: [Var; 4], a: &[Var; 4], b: [Var; 2]) {
        kb.stmt(Stmt::Matrix(MatrixOp::Multiply { dtype: self.operands.dtype, acc, a: a.map(KExpr::Var), b: b.map(KExpr::Var) }));
    }

    /// Where the current tile of a streamed operand starts, in elements.
    pub(super) fn tile_start(&self, kb: &mut KernelBuilder, stage: &KExpr, stream: usize) -> KExpr {
        let words = self.f.columns * pitch(&self.operands.streams[stream]);
        kb.int(k::mul(stage.clone(), k::int(words as i64)))
    }

    /// A product for the tile: for each of the thread's tiles of rows, each eight columns.
    pub(super) fn product(&self, kb: &mut KernelBuilder, t: &Thread, i: usize, stage: &KExpr) -> Vec<[Var; 4]> {
        let (f, operands) = (&self.f, self.operands);
        let (o, stream) = &operands.left[i];
        let eights = f.columns / 8;
        let accs: Vec<[Var; 4]> = (0..f.tiles * eights).map(|_| [(); 4].map(|_| kb.mutable(zero(DType::F32), F32))).collect();
        if self.tf32() {
            self.product_wide(kb, t, i, stage, &accs);
            return accs;
        }
        let pitch = pitch(&operands.streams[*stream]) as i64;
        // Columns lie in memory as rows: a thread names one of 16 columns, and the first or second eight of the step.
        let row = k::add(k::mul(k::div(t.h.lane.clone(), k::int(16)), k::int(8)), k::rem(t.h.lane.clone(), k::int(8)));
        let half = k::mul(k::rem(k::div(t.h.lane.clone(), k::int(8)), k::int(2)), k::int(8));
        let base = k::add(k::add(k::mul(row, k::int(pitch)), half), self.tile_start(kb, stage, *stream));
        let base = kb.int(base);
        for step in 0..o.features / 16 {
            let left: Vec<[Var; 4]> = (0..f.tiles)
                .map(|tile| match t.held.get(i) {
                    Some(held) => held[(step * f.tiles + tile) as usize],
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

    /// Adds the weights' products with the tile's values to a result.
    pub(super) fn output(&self, kb: &mut KernelBuilder, t: &Thread, o: usize, weights: &[[KExpr; 4]], stage: &KExpr) {
        if self.tf32() {
            return self.output_wide(kb, t, o, weights, stage);
        }
        let (f, operands) = (&self.f, self.operands);
        let stream = operands.values[o];
        let pitch = pitch(&operands.streams[stream]) as i64;
        let (eights, features) = ((f.columns / 8) as usize, self.f.features() / 8);
        // A thread names one of 16 columns, and the first or second eight features.
        let row = k::mul(k::rem(t.h.lane.clone(), k::int(16)), k::int(pitch));
        let base = k::add(k::add(row, k::mul(k::div(t.h.lane.clone(), k::int(16)), k::int(8))), self.tile_start(kb, stage, stream));
        let base = kb.int(base);
        for step in 0..eights / 2 {
            let left: Vec<[Var; 4]> =
                (0..f.tiles as usize).map(|tile| f.packed(kb, operands.dtype, &weights[tile * eights..], step)).collect();
            for part in 0..features / 2 {
                let index = k::add(base.clone(), k::int(16 * step as i64 * pitch + 16 * part as i64));
                let [b0, b1, b2, b3] = self.load(kb, t.streams[stream], index, true);
                for (tile, a) in left.iter().enumerate() {
                    let first = tile * features as usize + 2 * part as usize;
                    self.multiply(kb, t.h.sums[o][first], a, [b0, b1]);
                    self.multiply(kb, t.h.sums[o][first + 1], a, [b2, b3]);
                }
            }
        }
    }
}
