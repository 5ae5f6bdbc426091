//! How C-like languages spell scalar operations: the operators that they share. Each language has a table of its own for what
//! it writes otherwise (`c/spell.rs`, `wgsl/spell.rs`).

use super::text::{Binds, Text};
use aludel_ir::kernel::Ty;
use aludel_ir::{DType, ScalarOp};

/// One operation. Operators work lane by lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spelling {
    /// `-x`, `!x`, `~x`
    Prefix(&'static str),
    /// `a + b`, with the usual precedence of arithmetic.
    Arithmetic(&'static str),
    /// `a < b`, `a & b`: always in parentheses inside a larger expression.
    Infix(&'static str),
    /// `a >> (b & 31)`
    Shift(&'static str),
    /// The quotient or remainder of integers by the operator where the divisor is known to be positive, else by the helper.
    Divide(&'static str, &'static str),
    /// `1 / x`
    Reciprocal,
    /// One of two values by a condition.
    Select,
    /// A function of the language, which takes what an operator takes.
    Builtin(&'static str),
    /// A function of the language's prelude under `shaders`, which takes scalars.
    Helper(&'static str),
}

/// The operator for `op` on operands of `dtype` (for `select`, its last two); `None` where it takes more than an operator, or
/// the operation does not take the type.
pub(super) fn operator(op: ScalarOp, dtype: DType) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::{Arithmetic, Divide, Infix, Prefix, Reciprocal, Shift};
    let signed = dtype == DType::I32;
    Some(match op {
        Eq => Infix("=="),
        Ne => Infix("!="),
        Select => Spelling::Select,
        Not if dtype == DType::Bool => Prefix("!"),
        And if !dtype.is_float() => Infix("&"),
        Or if !dtype.is_float() => Infix("|"),
        _ if dtype == DType::Bool => return None,
        Lt => Infix("<"),
        Le => Infix("<="),
        Gt => Infix(">"),
        Ge => Infix(">="),
        Neg => Prefix("-"),
        Add => Arithmetic("+"),
        Sub => Arithmetic("-"),
        Mul => Arithmetic("*"),
        // Narrow floats are computed as f32; the printer rounds the result.
        Div if dtype.is_float() => Arithmetic("/"),
        Recip if dtype.is_float() => Reciprocal,
        _ if dtype.is_float() => return None,
        Not => Prefix("~"),
        Xor => Infix("^"),
        Shl => Shift("<<"),
        Shr => Shift(">>"),
        Div if signed => Divide("/", "div_i32"),
        Fmod if signed => Divide("%", "fmod_i32"),
        Fmod => Divide("%", "fmod_u32"),
        Div => Divide("/", "div_u32"),
        FloorDiv if signed => Spelling::Helper("floor_div_i32"),
        FloorDiv => Divide("/", "div_u32"),
        Threefry if !signed => Spelling::Helper("threefry_u32"),
        ThreefryWord if !signed => Spelling::Helper("threefry_word_u32"),
        _ => return None,
    })
}

/// `a + b` and its like, in no more parentheses than needed.
pub(super) fn arithmetic(operator: &str, args: &[Text], ty: Ty) -> Text {
    let (binds, next) = match operator {
        "+" | "-" => (Binds::Sum, Binds::Product),
        _ => (Binds::Product, Binds::Unary),
    };
    Text::new(format!("{} {operator} {}", args[0].at(binds), args[1].at(next)), ty, binds)
}
