//! The matrix unit on 16-bit floats: what PTX calls `ldmatrix`, `mma.m16n8k16` and `cvt.rn.bf16x2.f32`.
//!
//! A word is a u32 register with two neighbouring elements, the first in its lower half. Which thread of a subgroup holds which
//! elements of a fragment is as PTX has it.

use super::{KExpr, Kernel, Ty, Var};
use crate::dtype::DType;
use crate::error::{Error, Result};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MatrixOp {
    /// Two f32 rounded to f16 or bf16, in one word.
    Pack { to: Var, dtype: DType, low: KExpr, high: KExpr },
    /// Four 8 x 8 matrices from a workgroup array of 16-bit floats: thread `8 i + r` names the first element of row `r` of matrix
    /// `i`, at a multiple of eight. Thread `t` gets, of each matrix, the elements `2 (t % 4)` and the next of row `t / 4`, or of that
    /// column where `transposed`. Where the array is of f32, a row has four of them, and thread `t` gets element `t % 4` of row `t / 4`.
    Load { to: [Var; 4], array: u32, index: KExpr, transposed: bool },
    /// `acc += a * b`: 16 rows, 8 columns, 16 deep, sums in f32.
    Multiply { dtype: DType, acc: [Var; 4], a: [KExpr; 4], b: [KExpr; 2] },
}

impl MatrixOp {
    pub fn exprs(&self) -> Vec<&KExpr> {
        match self {
            MatrixOp::Pack { low, high, .. } => vec![low, high],
            MatrixOp::Load { index, .. } => vec![index],
            MatrixOp::Multiply { a, b, .. } => a.iter().chain(b).collect(),
        }
    }

    /// Registers that it gives their first value.
    pub fn defines(&self) -> &[Var] {
        match self {
            MatrixOp::Pack { to, .. } => std::slice::from_ref(to),
            MatrixOp::Load { to, .. } => to,
            MatrixOp::Multiply { .. } => &[],
        }
    }

    /// Registers that it changes.
    pub fn changes(&self) -> &[Var] {
        match self {
            MatrixOp::Multiply { acc, .. } => acc,
            _ => &[],
        }
    }

    /// Whether all threads of a subgroup take part.
    pub fn is_collective(&self) -> bool {
        !matches!(self, MatrixOp::Pack { .. })
    }

    /// The same with registers, arrays and expressions replaced.
    pub fn map(&self, var: &dyn Fn(Var) -> Var, array: &dyn Fn(u32) -> u32, expr: &dyn Fn(&KExpr) -> KExpr) -> MatrixOp {
        match self {
            MatrixOp::Pack { to, dtype, low, high } => MatrixOp::Pack { to: var(*to), dtype: *dtype, low: expr(low), high: expr(high) },
            MatrixOp::Load { to, array: a, index, transposed } => {
                MatrixOp::Load { to: to.map(var), array: array(*a), index: expr(index), transposed: *transposed }
            }
            MatrixOp::Multiply { dtype, acc, a, b } => {
                MatrixOp::Multiply { dtype: *dtype, acc: acc.map(var), a: a.each_ref().map(expr), b: b.each_ref().map(expr) }
            }
        }
    }

    /// Checks types; scopes are the kernel's business.
    pub(super) fn verify(&self, k: &Kernel) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("kernel {}", k.name), problem));
        let (word, float) = (Ty::scalar(DType::U32), Ty::scalar(DType::F32));
        let narrow = |d: DType| matches!(d, DType::F16 | DType::BF16);
        for v in self.defines() {
            if k.var_ty(*v)? != word {
                return fail(format!("register v{} is no word of two elements", v.0));
            }
        }
        for v in self.changes() {
            if k.var_ty(*v)? != float {
                return fail(format!("register v{} does not accumulate f32", v.0));
            }
        }
        let (wanted, dtype) = match self {
            MatrixOp::Pack { dtype, .. } => (float, *dtype),
            MatrixOp::Multiply { dtype, .. } => (word, *dtype),
            MatrixOp::Load { array, transposed, .. } => match k.shared.get(*array as usize) {
                // A row of 16 bytes has four f32, and a word one.
                Some(a) if a.ty == float && !transposed => (super::I32, DType::F16),
                Some(a) if a.ty.lanes == 1 => (super::I32, a.ty.dtype),
                _ => return fail(format!("workgroup array {array} is not one of scalars")),
            },
        };
        if !narrow(dtype) {
            return fail(format!("a matrix of {dtype} where one of 16 bits is wanted"));
        }
        for e in self.exprs() {
            if k.type_of(e)? != wanted {
                return fail(format!("an operand of the matrix unit is not {} of one lane", wanted.dtype));
            }
        }
        Ok(())
    }
}
