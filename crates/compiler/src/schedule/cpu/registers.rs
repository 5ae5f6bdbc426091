//! The register tile of a product: rows of vectors that gather sums, with a place each in scratch.

use crate::schedule::emit::{KernelBuilder, zero};
use aludel_ir::ScalarOp;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};

pub(super) struct Registers {
    sums: Vec<Var>,
    vectors: usize,
    array: u32,
    first: KExpr,
    /// Whether scratch has the sum of earlier parts of the depth already. A part has an accumulator of its own: one for a depth of
    /// 10^5 and more would round too often.
    goes_on: bool,
}

impl Registers {
    /// Rows by vectors of zeros, whose places in scratch are from vector `first` on.
    pub fn start(kb: &mut KernelBuilder, (rows, vectors): (i64, i64), ty: Ty, (array, first): (u32, KExpr), goes_on: bool) -> Self {
        let sums = (0..rows * vectors).map(|_| kb.mutable(zero(ty.dtype), ty)).collect();
        Registers { sums, vectors: vectors as usize, array, first, goes_on }
    }

    fn place(&self, i: usize) -> KExpr {
        k::add(self.first.clone(), k::int(i as i64))
    }

    /// Adds the products of a number and the vectors of columns to a row.
    pub fn multiply_add(&self, kb: &mut KernelBuilder, row: usize, x: &KExpr, columns: &[KExpr]) {
        for (sum, y) in self.sums[row * self.vectors..].iter().zip(columns) {
            let product = KExpr::Scalar(ScalarOp::Mul, vec![x.clone(), y.clone()]);
            kb.stmt(Stmt::Assign(*sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(*sum), product])));
        }
    }

    /// Puts the sums in their places, or adds them to what is there.
    pub fn store(&self, kb: &mut KernelBuilder) {
        for (i, sum) in self.sums.iter().enumerate() {
            let earlier = || KExpr::Shared { array: self.array, index: Box::new(self.place(i)) };
            let sum = KExpr::Var(*sum);
            let value = if self.goes_on { KExpr::Scalar(ScalarOp::Add, vec![earlier(), sum]) } else { sum };
            kb.stmt(Stmt::StoreShared { array: self.array, index: self.place(i), value });
        }
    }
}
