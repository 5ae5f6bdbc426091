//! Multiplying one stage into the accumulators.

use super::Template;
use super::fetch::Side;
use crate::schedule::build::KernelBuilder;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::{DType, ScalarOp};

impl Template<'_> {
    /// The subgroup's place along m and n, in parts, and the thread's place in the subgroup.
    pub(super) fn subgroup(&self, kb: &mut KernelBuilder) -> (KExpr, KExpr, KExpr) {
        let warp = kb.int(k::div(KExpr::LocalId(0), k::int(32)));
        let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let across = k::int(self.tile.subgroups[1] as i64);
        let (wm, wn) = (kb.int(k::div(warp.clone(), across.clone())), kb.int(k::rem(warp, across)));
        (wm, wn, lane)
    }

    /// Where a thread's first elements of both operands lie in a stage: in words on matrix units, else in groups of four.
    pub(super) fn places(&self, kb: &mut KernelBuilder, sides: &[Side; 2]) -> [KExpr; 2] {
        let t = self.tile;
        if !t.matrix_units {
            return self.quads(kb).1;
        }
        let (wm, wn, lane) = self.subgroup(kb);
        let row = kb.int(k::div(lane.clone(), k::int(4)));
        let column = kb.int(k::rem(lane, k::int(4)));
        // Both operands have the thread's row and column in the same places.
        [(0, wm), (1, wn)].map(|(i, subgroup)| {
            let (by_side, by_k) = self.steps(&sides[i]);
            let place = k::add(k::mul(subgroup, k::int(t.part[i] as i64)), row.clone());
            kb.int(k::add(k::mul(place, k::int(by_side as i64)), k::mul(column.clone(), k::int(by_k as i64))))
        })
    }

    /// Words from one row of a side to the next, and from one column of k to the next.
    pub(super) fn steps(&self, s: &Side) -> (u32, u32) {
        if s.along_k { (self.tile.depth + 4, 1) } else { (1, self.stride(s.size)) }
    }

    pub(super) fn multiply_units(
        &self,
        kb: &mut KernelBuilder,
        sides: &[Side; 2],
        accs: &[Var],
        stage: &KExpr,
        places: &[KExpr; 2],
        array: u32,
    ) {
        let t = self.tile;
        let mut bases = Vec::new();
        for (s, place) in sides.iter().zip(places) {
            let place = kb.int(k::add(place.clone(), k::mul(stage.clone(), k::int(s.words as i64))));
            bases.push((place, s.start));
        }
        let steps = [self.steps(&sides[0]), self.steps(&sides[1])];
        let read = |kb: &mut KernelBuilder, side: usize, row: u32, kk: u32| {
            let at = k::int((bases[side].1 + row * steps[side].0 + kk * steps[side].1) as i64);
            kb.bind(KExpr::Shared { array, index: Box::new(k::add(bases[side].0.clone(), at)) }, Ty::scalar(DType::F32))
        };
        for kk in (0..t.depth).step_by(8) {
            let b: Vec<[KExpr; 2]> = (0..t.part[1] / 8).map(|j| [0, 4].map(|x| read(kb, 1, 8 * j, kk + x))).collect();
            for i in 0..t.part[0] / 16 {
                let a = [(0, 0), (8, 0), (0, 4), (8, 4)].map(|(r, x)| read(kb, 0, 16 * i + r, kk + x));
                for (j, b) in b.iter().enumerate() {
                    let first = ((i * t.part[1] / 8 + j as u32) * 4) as usize;
                    let acc = [accs[first], accs[first + 1], accs[first + 2], accs[first + 3]];
                    kb.stmt(Stmt::Mma { acc, a: a.clone(), b: b.clone() });
                }
            }
        }
    }

    /// Groups of four rows and of four columns of one thread, and where each starts in the workgroup's tile.
    pub(super) fn quads(&self, kb: &mut KernelBuilder) -> ([u32; 2], [KExpr; 2]) {
        let t = self.tile;
        let (wm, wn, lane) = self.subgroup(kb);
        let y = kb.int(k::div(lane.clone(), k::int(8)));
        let x = kb.int(k::rem(lane, k::int(8)));
        let place_m = kb.int(k::add(k::mul(wm, k::int(4)), y));
        let place_n = kb.int(k::add(k::mul(wn, k::int(8)), x));
        ([t.part[0] / 16, t.part[1] / 32], [place_m, place_n])
    }

    pub(super) fn multiply_scalar(
        &self,
        kb: &mut KernelBuilder,
        sides: &[Side; 2],
        accs: &[Var],
        stage: &KExpr,
        places: &[KExpr; 2],
        array: u32,
    ) {
        let t = self.tile;
        let [rows, columns] = [t.part[0] / 16, t.part[1] / 32];
        // A thread's groups lie all threads apart: neighbouring threads read neighbouring groups.
        let step = [4 * t.subgroups[0], 8 * t.subgroups[1]];
        let bases: Vec<KExpr> =
            (0..2).map(|i| kb.int(k::add(places[i].clone(), k::mul(stage.clone(), k::int((sides[i].words / 4) as i64))))).collect();
        let vec = Ty::vec4(DType::F32);
        let read = |kb: &mut KernelBuilder, side: usize, group: u32, kk: u32| {
            let s = &sides[side];
            let at = (s.start + kk * self.stride(s.size)) / 4 + group * step[side];
            kb.bind(KExpr::SharedQuad { array, index: Box::new(k::add(bases[side].clone(), k::int(at as i64))) }, vec)
        };
        for kk in 0..t.depth {
            let a: Vec<KExpr> = (0..rows).map(|i| read(kb, 0, i, kk)).collect();
            let b: Vec<KExpr> = (0..columns).map(|j| read(kb, 1, j, kk)).collect();
            for i in 0..rows * 4 {
                let x = KExpr::Lane(Box::new(a[(i / 4) as usize].clone()), (i % 4) as u8);
                for j in 0..columns * 4 {
                    let y = KExpr::Lane(Box::new(b[(j / 4) as usize].clone()), (j % 4) as u8);
                    let acc = accs[(i * columns * 4 + j) as usize];
                    let product = KExpr::Scalar(ScalarOp::Mul, vec![x.clone(), y]);
                    kb.stmt(Stmt::Assign(acc, KExpr::Scalar(ScalarOp::Add, vec![product, KExpr::Var(acc)])));
                }
            }
        }
    }
}
