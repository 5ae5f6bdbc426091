//! A matrix product in numbers, as cuBLASLt sees it.
//!
//! The library's matrices are column-major; a row-major product is the product of the transposes in the other order:
//! `out = lhs * rhs` is, column-major, `outᵀ = rhsᵀ * lhsᵀ`. So the library's first factor is `rhs`, of `n` rows.

use aludel_ir::DType;
use aludel_ir::program::{Matrix, MatrixProduct};

/// A matrix of the library: column-major, or the transpose of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    pub transposed: bool,
    pub rows: u64,
    pub columns: u64,
    /// Elements from a column to the next, and from a matrix of the batch to the next.
    pub leading: i64,
    pub batch_stride: i64,
    /// The matrix's first element in its placement.
    pub offset: i64,
}

/// `d = op(a) * op(b) + bias + c`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Problem {
    pub batch: i32,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub a: Operand,
    pub b: Operand,
    pub d: Operand,
    pub c: Option<Operand>,
    /// The bias's first element in its placement.
    pub bias: Option<i64>,
    /// The type of both factors; that of the result and of what is added.
    pub factors: DType,
    pub result: DType,
}

impl Problem {
    /// The product under given sizes; `None` where a matrix has no stride of one, or a size is none. `dtype` gives the type of a
    /// placement.
    pub fn new(
        product: &MatrixProduct,
        dtype: &dyn Fn(usize) -> DType,
        eval: &dyn Fn(&aludel_ir::expr::Expr) -> Option<i64>,
    ) -> Option<Self> {
        let (factors, result) = (dtype(product.lhs.placement), dtype(product.out.placement));
        let size = |e| eval(e).filter(|v| (1..=i32::MAX as i64).contains(v));
        let (batch, m, n, k) = (size(&product.batch)?, size(&product.m)?, size(&product.n)?, size(&product.k)?);
        // A row-major matrix of so many rows and columns is, column-major, its transpose.
        let operand = |matrix: &Matrix, rows: i64, columns: i64| {
            let [per_batch, per_row, per_column] = [eval(&matrix.strides[0])?, eval(&matrix.strides[1])?, eval(&matrix.strides[2])?];
            let batch_stride = if batch == 1 { 0 } else { per_batch };
            let (transposed, stored_rows, stored_columns, leading) = match () {
                () if per_column == 1 && per_row >= columns => (false, columns, rows, per_row),
                () if per_row == 1 && per_column >= rows => (true, rows, columns, per_column),
                () => return None,
            };
            let (rows, columns) = (stored_rows as u64, stored_columns as u64);
            Some(Operand { transposed, rows, columns, leading, batch_stride, offset: eval(&matrix.offset)? })
        };
        let plain = |o: &Operand| !o.transposed && (batch == 1 || o.batch_stride != 0);
        let d = operand(&product.out, m, n).filter(plain)?;
        let c = match &product.add {
            Some(add) => Some(operand(add, m, n).filter(plain)?),
            None => None,
        };
        let bias = match &product.bias {
            Some(bias) => Some(eval(&bias.offset)?),
            None => None,
        };
        let (a, b) = (operand(&product.rhs, k, n)?, operand(&product.lhs, m, k)?);
        Some(Problem { batch: batch as i32, m, n, k, a, b, d, c, bias, factors, result })
    }

    /// Multiplications.
    pub fn work(&self) -> i64 {
        [self.m, self.n, self.k].iter().fold(self.batch as i64, |p, v| p.saturating_mul(*v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::expr::Expr;

    fn matrix(offset: i64, strides: [i64; 3]) -> Matrix {
        Matrix { placement: 0, offset: Expr::Const(offset), strides: strides.map(Expr::Const) }
    }

    fn product(rhs: [i64; 3], out: [i64; 3]) -> MatrixProduct {
        let [batch, m, n, k] = [1, 4, 6, 8].map(Expr::Const);
        MatrixProduct { batch, m, n, k, lhs: matrix(0, [0, 8, 1]), rhs: matrix(64, rhs), out: matrix(0, out), bias: None, add: None }
    }

    #[test]
    fn row_major_factors_change_places() {
        // `x * wᵀ`, the weight stored by outputs.
        let p = Problem::new(&product([0, 1, 8], [0, 6, 1]), &|_| DType::F32, &Expr::as_const).unwrap();
        let operand = |transposed, rows, columns, leading, offset| Operand { transposed, rows, columns, leading, batch_stride: 0, offset };
        assert_eq!(p.a, operand(true, 8, 6, 8, 64));
        assert_eq!(p.b, operand(false, 8, 4, 8, 0));
        assert_eq!(p.d, operand(false, 6, 4, 6, 0));
        assert_eq!(p.work(), 4 * 6 * 8);
        // Stored by inputs.
        assert_eq!(Problem::new(&product([0, 6, 1], [0, 6, 1]), &|_| DType::F32, &Expr::as_const).unwrap().a, operand(false, 6, 8, 6, 64));
    }

    #[test]
    fn matrices_without_a_stride_of_one_are_refused() {
        assert_eq!(Problem::new(&product([0, 12, 2], [0, 6, 1]), &|_| DType::F32, &Expr::as_const), None);
        assert_eq!(Problem::new(&product([0, 6, 1], [0, 1, 4]), &|_| DType::F32, &Expr::as_const), None, "a result by columns");
        assert_eq!(Problem::new(&product([0, 6, 1], [0, 3, 1]), &|_| DType::F32, &Expr::as_const), None, "rows that overlap");
    }
}
