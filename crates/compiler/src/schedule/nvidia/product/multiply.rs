//! Multiplying one stage into the accumulators.

use super::Template;
use super::fetch::Side;
use crate::schedule::emit::KernelBuilder;
use aludel_ir::kernel::matrix::MatrixOp;
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

    /// Where a thread's first elements of both operands lie in a stage: in elements on matrix units, else in groups of four.
    pub(super) fn places(&self, kb: &mut KernelBuilder, sides: &[Side; 2]) -> [KExpr; 2] {
        let t = self.tile;
        if !t.matrix_units {
            return self.quads(kb).1;
        }
        let (wm, wn, lane) = self.subgroup(kb);
        [(0, wm), (1, wn)].map(|(i, subgroup)| {
            let (row, column) =
                if self.by_matrices(&sides[i]) { self.matrix_row(kb, &sides[i], i, &lane) } else { self.element(kb, &lane) };
            let (by_side, by_k) = self.steps(&sides[i]);
            let place = k::add(k::mul(subgroup, k::int(t.part[i] as i64)), row);
            kb.int(k::add(k::mul(place, k::int(by_side as i64)), k::mul(column, k::int(by_k as i64))))
        })
    }

    /// Whether an operand comes to the units as matrices of eight rows of 16 bytes: words have to lie along k, halves of words may
    /// be transposed on the way.
    fn by_matrices(&self, s: &Side) -> bool {
        s.along_k || self.tile.element != DType::F32
    }

    /// The row and the column of k of a thread's own first element; both operands have them in the same places.
    fn element(&self, kb: &mut KernelBuilder, lane: &KExpr) -> (KExpr, KExpr) {
        (kb.int(k::div(lane.clone(), k::int(4))), kb.int(k::rem(lane.clone(), k::int(4))))
    }

    /// The row and the column of k where a thread's row of the first matrices starts. The four that come at once are, of the left
    /// operand, the upper and the lower eight rows at the first columns of k, then at the next; of the right one the first eight
    /// rows at both, then the next.
    fn matrix_row(&self, kb: &mut KernelBuilder, s: &Side, side: usize, lane: &KExpr) -> (KExpr, KExpr) {
        let within = kb.int(k::rem(lane.clone(), k::int(8)));
        let which = kb.int(k::div(lane.clone(), k::int(8)));
        let (low, high) = (kb.int(k::rem(which.clone(), k::int(2))), kb.int(k::div(which, k::int(2))));
        let (row, column) = if side == 0 { (low, high) } else { (high, low) };
        let (row, column) = (k::mul(row, k::int(8)), k::mul(column, k::int(self.columns() as i64)));
        // A matrix's rows lie along k, or along the side.
        if s.along_k { (k::add(row, within), column) } else { (row, k::add(column, within)) }
    }

    /// Columns of k of a matrix whose rows are 16 bytes.
    fn columns(&self) -> u32 {
        16 / k::element_bytes(self.tile.element)
    }

    /// Elements from one row of a side to the next, and from one column of k to the next.
    pub(super) fn steps(&self, s: &Side) -> (u32, u32) {
        if s.along_k { (self.row(), 1) } else { (1, self.stride(s.size)) }
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
            bases.push(kb.int(k::add(place.clone(), k::mul(stage.clone(), k::int(s.words as i64)))));
        }
        let columns = self.columns();
        // The four factors of 16 rows at two groups of columns: of the left operand rows first, of the right one columns.
        let read = |kb: &mut KernelBuilder, side: usize, row: u32, kk: u32| -> [KExpr; 4] {
            let (by_side, by_k) = self.steps(&sides[side]);
            let at = |row: u32, kk: u32| k::add(bases[side].clone(), k::int((sides[side].start + row * by_side + kk * by_k) as i64));
            if self.by_matrices(&sides[side]) {
                let to = [(); 4].map(|_| kb.var(Ty::scalar(DType::U32)));
                kb.stmt(Stmt::Matrix(MatrixOp::Load { to, array, index: at(row, kk), transposed: !sides[side].along_k }));
                return to.map(|v| match t.element {
                    DType::F32 => KExpr::Bitcast(DType::F32, Box::new(KExpr::Var(v))),
                    _ => KExpr::Var(v),
                });
            }
            let four = if side == 0 { [(0, 0), (8, 0), (0, columns), (8, columns)] } else { [(0, 0), (0, columns), (8, 0), (8, columns)] };
            four.map(|(r, x)| kb.bind(KExpr::Shared { array, index: Box::new(at(row + r, kk + x)) }, Ty::scalar(DType::F32)))
        };
        for kk in (0..t.depth).step_by(2 * columns as usize) {
            let b: Vec<[KExpr; 4]> = (0..t.part[1] / 16).map(|j| read(kb, 1, 16 * j, kk)).collect();
            for i in 0..t.part[0] / 16 {
                let a = read(kb, 0, 16 * i, kk);
                for j in 0..t.part[1] / 8 {
                    let first = ((i * t.part[1] / 8 + j) * 4) as usize;
                    let acc = [accs[first], accs[first + 1], accs[first + 2], accs[first + 3]];
                    let (pair, half) = (&b[(j / 2) as usize], 2 * (j as usize % 2));
                    let (a, b) = (a.clone(), [pair[half].clone(), pair[half + 1].clone()]);
                    kb.stmt(match t.element {
                        DType::F32 => Stmt::Mma { acc, a, b },
                        dtype => Stmt::Matrix(MatrixOp::Multiply { dtype, acc, a, b }),
                    });
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
