//! How WGSL spells each scalar operation: an operator, a built-in function, or a helper function of the prelude.

use aludel_ir::{DType, ScalarOp};

/// One operation in WGSL. Operators and built-ins work lane by lane; helpers take scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// `-x`, `!x`, `~x`
    Prefix(&'static str),
    /// `a + b`, with the usual precedence of arithmetic.
    Arithmetic(&'static str),
    /// `a < b`, `a & b`: always in parentheses inside a larger expression.
    Infix(&'static str),
    /// `a << (b & 31)`
    Shift(&'static str),
    /// The quotient or remainder of integers by the operator where the divisor is known to be positive, else by the helper.
    Divide(&'static str, &'static str),
    /// `1 / x`
    Reciprocal,
    /// `select(b, a, condition)`
    Select,
    Builtin(&'static str),
    /// A function of `shaders/wgsl.wgsl`.
    Helper(&'static str),
}

/// The spelling of `op` on operands of `dtype` (for `select`, its last two); `None` where the operation does not take the type.
pub fn spell(op: ScalarOp, dtype: DType) -> Option<Spelling> {
    match dtype {
        // Narrow floats are computed as f32; the printer rounds the result.
        DType::F32 | DType::F16 | DType::BF16 => float(op),
        DType::I32 | DType::U32 => integer(op, dtype == DType::I32),
        DType::Bool => boolean(op),
    }
}

fn float(op: ScalarOp) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::*;
    Some(match op {
        Neg => Prefix("-"),
        Abs => Builtin("abs"),
        Sign => Helper("sign_f32"),
        Floor => Builtin("floor"),
        Ceil => Builtin("ceil"),
        Trunc => Builtin("trunc"),
        Round => Builtin("round"),
        Sqrt => Builtin("sqrt"),
        Rsqrt => Builtin("inverseSqrt"),
        Recip => Reciprocal,
        Exp => Builtin("exp"),
        Exp2 => Builtin("exp2"),
        Expm1 => Helper("expm1_f32"),
        Log => Builtin("log"),
        Log2 => Builtin("log2"),
        Log1p => Helper("log1p_f32"),
        Sin => Helper("sin_f32"),
        Cos => Helper("cos_f32"),
        Tan => Helper("tan_f32"),
        Asin => Helper("asin_f32"),
        Acos => Helper("acos_f32"),
        Atan => Helper("atan_f32"),
        Sinh => Helper("sinh_f32"),
        Cosh => Helper("cosh_f32"),
        Tanh => Helper("tanh_f32"),
        Asinh => Helper("asinh_f32"),
        Acosh => Helper("acosh_f32"),
        Atanh => Helper("atanh_f32"),
        Erf => Helper("erf_f32"),
        Erfinv => Helper("erfinv_f32"),
        Lgamma => Helper("lgamma_f32"),
        Digamma => Helper("digamma_f32"),
        IsNan => Helper("isnan_f32"),
        IsInf => Helper("isinf_f32"),
        Add => Arithmetic("+"),
        Sub => Arithmetic("-"),
        Mul => Arithmetic("*"),
        Div => Arithmetic("/"),
        Max => Helper("max_f32"),
        Min => Helper("min_f32"),
        Pow => Helper("pow_f32"),
        Atan2 => Helper("atan2_f32"),
        Fmod => Helper("fmod_f32"),
        Copysign => Helper("copysign_f32"),
        Eq => Infix("=="),
        Ne => Infix("!="),
        Lt => Infix("<"),
        Le => Infix("<="),
        Gt => Infix(">"),
        Ge => Infix(">="),
        ScalarOp::Select => Spelling::Select,
        Not | And | Or | Xor | Shl | Shr | FloorDiv | Threefry => return None,
    })
}

fn integer(op: ScalarOp, signed: bool) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::*;
    Some(match op {
        Neg if signed => Prefix("-"),
        Neg => Helper("neg_u32"),
        Abs => Builtin("abs"),
        Sign if signed => Builtin("sign"),
        Sign => Helper("sign_u32"),
        Not => Prefix("~"),
        Add => Arithmetic("+"),
        Sub => Arithmetic("-"),
        Mul => Arithmetic("*"),
        Div if signed => Divide("/", "div_i32"),
        Div => Divide("/", "div_u32"),
        Fmod if signed => Divide("%", "fmod_i32"),
        Fmod => Divide("%", "fmod_u32"),
        FloorDiv if signed => Helper("floor_div_i32"),
        FloorDiv => Divide("/", "div_u32"),
        Max => Builtin("max"),
        Min => Builtin("min"),
        And => Infix("&"),
        Or => Infix("|"),
        Xor => Infix("^"),
        Shl => Shift("<<"),
        Shr => Shift(">>"),
        Eq => Infix("=="),
        Ne => Infix("!="),
        Lt => Infix("<"),
        Le => Infix("<="),
        Gt => Infix(">"),
        Ge => Infix(">="),
        ScalarOp::Select => Spelling::Select,
        Threefry if !signed => Helper("threefry_u32"),
        _ => return None,
    })
}

fn boolean(op: ScalarOp) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::*;
    Some(match op {
        Not => Prefix("!"),
        And => Infix("&"),
        Or => Infix("|"),
        Xor => Helper("xor_bool"),
        Eq => Infix("=="),
        Ne => Infix("!="),
        Lt => Helper("lt_bool"),
        Le => Helper("le_bool"),
        Gt => Helper("gt_bool"),
        Ge => Helper("ge_bool"),
        ScalarOp::Select => Spelling::Select,
        _ => return None,
    })
}
