//! The register tile of a product: rows of vectors that gather sums, with a place each in scratch.

use crate::schedule::emit::{KernelBuilder, zero};
use aludel_ir::ScalarOp;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};

pub(super) struct Registers {
    sums: Vec<Var>,
    vectors: usize,
    array: u32,
    first: KExpr,
}

impl Registers {
    /// Rows by vectors of zeros, or, where a part of the depth was done before, what lies in scratch from vector `first` on.
    pub fn start(kb: &mut KernelBuilder, (rows, vectors): (i64, i64), ty: Ty, (array, first): (u32, KExpr), goes_on: bool) -> Self {
        let mut tile = Registers { sums: Vec::new(), vectors: vectors as usize, array, first };
        for i in 0..(rows * vectors) as usize {
            let start = if goes_on { KExpr::Shared { array, index: Box::new(tile.place(i)) } } else { zero(ty.dtype) };
            tile.sums.push(kb.mutable(start, ty));
        }
        tile
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

    /// Puts the sums in their places.
    pub fn store(&self, kb: &mut KernelBuilder) {
        for (i, sum) in self.sums.iter().enumerate() {
            kb.stmt(Stmt::StoreShared { array: self.array, index: self.place(i), value: KExpr::Var(*sum) });
        }
    }
}
