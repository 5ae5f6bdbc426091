//! The scalar operations: the one set that Graph, Loop and Kernel IR share.
//!
//! A row of [`TABLE`] (`scalar/table.rs`) is all there is to an operation: name, arity, types, the evaluator that the interpreter and constant
//! folding use, and the derivative. Targets add a spelling; nothing else knows an operation by name.

mod special;
mod table;

pub use special::{threefry2x32, threefry2x32_words};
pub use table::TABLE;
pub(crate) use table::normal_density;

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;

/// A pure function of scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum ScalarOp {
    Neg,
    Abs,
    Sign,
    Floor,
    Ceil,
    Trunc,
    Round,
    Sqrt,
    Rsqrt,
    Recip,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Sigmoid,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfinv,
    Ndtr,
    Lgamma,
    Digamma,
    Not,
    IsNan,
    IsInf,
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    Pow,
    Atan2,
    Fmod,
    FloorDiv,
    Copysign,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Select,
    Threefry,
    ThreefryWord,
}

/// Which element types an operation takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Types {
    /// All operands of one float type; the result too.
    Float,
    /// All operands of one numeric type; the result too.
    Numeric,
    /// All operands of one integer type or bool; the result too.
    Bits,
    /// All operands of one integer type; the result too.
    Integer,
    /// Two operands of one type; the result is bool.
    Compare,
    /// One float operand; the result is bool.
    Test,
    /// `(bool, T, T) -> T`.
    Select,
    /// u32 throughout.
    Words,
}

type Eval = fn(&[f64], DType) -> f64;
/// `(builder, operands, result, d loss / d result)` to one gradient for each operand; `None` where it is zero everywhere.
type Grad = fn(&mut Builder, &[ValueId], ValueId, ValueId) -> Result<Vec<Option<ValueId>>>;

/// A row of the table.
pub struct ScalarDef {
    pub op: ScalarOp,
    pub name: &'static str,
    pub arity: usize,
    pub types: Types,
    /// The result before rounding to the type; the type given is the operands'.
    pub eval: Eval,
    pub grad: Option<Grad>,
    /// Rough cost in floating-point instructions: what recomputing weighs against storing.
    pub cost: u32,
}

impl ScalarOp {
    pub fn def(self) -> &'static ScalarDef {
        &TABLE[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.def().name
    }

    pub fn from_name(name: &str) -> Option<ScalarOp> {
        TABLE.iter().find(|d| d.name == name).map(|d| d.op)
    }

    pub fn all() -> impl Iterator<Item = &'static ScalarDef> {
        TABLE.iter()
    }

    /// Whether it costs as exponentials and the like do, not as additions.
    pub fn is_function(self) -> bool {
        self.def().cost >= 4
    }

    pub fn is_commutative(self) -> bool {
        use ScalarOp::*;
        matches!(self, Add | Mul | Max | Min | And | Or | Xor | Eq | Ne)
    }

    /// The result's type, or the reason why the operands do not fit.
    pub fn result_dtype(self, args: &[DType]) -> std::result::Result<DType, String> {
        let def = self.def();
        if args.len() != def.arity {
            return Err(format!("takes {} operands, got {}", def.arity, args.len()));
        }
        let same = args.iter().all(|d| *d == args[0]);
        let list = || args.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
        let need = |ok: bool, what: &str, out: DType| {
            if ok { Ok(out) } else { Err(format!("takes {what}, got ({})", list())) }
        };
        let d = args[0];
        match def.types {
            Types::Float => need(same && d.is_float(), "operands of one float type", d),
            Types::Numeric => need(same && d != DType::Bool, "operands of one numeric type", d),
            Types::Bits => need(same && !d.is_float(), "operands of one integer type or bool", d),
            Types::Integer => need(same && d.is_int(), "operands of one integer type", d),
            Types::Compare => need(same, "two operands of one type", DType::Bool),
            Types::Test => need(d.is_float(), "a float operand", DType::Bool),
            Types::Select => need(d == DType::Bool && args[1] == args[2], "a bool and two operands of one type", args[1]),
            Types::Words => need(same && d == DType::U32, "u32 operands", DType::U32),
        }
    }

    /// Whether the result on floats of any type is one of them without rounding.
    pub fn is_exact(self) -> bool {
        use ScalarOp::*;
        matches!(self, Neg | Abs | Sign | Floor | Ceil | Trunc | Round | Max | Min | Fmod | Copysign | Select)
    }

    /// Evaluates on host values and rounds to the result's type.
    pub fn eval(self, args: &[f64], dtype: DType, result: DType) -> f64 {
        result.round((self.def().eval)(args, dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_the_enum() {
        for (i, d) in TABLE.iter().enumerate() {
            assert_eq!(d.op as usize, i, "{}", d.name);
        }
    }

    /// The known-answer vectors of Random123 for Threefry-2x32-20: inputs all zero, all ones, and digits of pi.
    #[test]
    fn threefry_known_answers() {
        assert_eq!(threefry2x32_words(0, 0, 0, 0), [0x6b200159, 0x99ba4efe]);
        assert_eq!(threefry2x32_words(!0, !0, !0, !0), [0x1cb996fc, 0xbb002be7]);
        assert_eq!(threefry2x32_words(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3), [0xc4923a9c, 0x483df7a0]);
        assert_eq!(threefry2x32(0, 0, 0, 0), 0x6b200159 ^ 0x99ba4efe);
    }
}
