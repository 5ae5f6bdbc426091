//! How C spells each scalar operation: an operator, or a function of the compiler or of `shaders/c.h`.

use aludel_ir::{DType, ScalarOp};

/// One operation in C.
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
    /// `1 / sqrt(x)`
    ReciprocalRoot,
    /// `c ? a : b`
    Select,
    Function(&'static str),
}

/// The spelling of `op` on operands of `dtype` (for `select`, its last two); `None` where the operation does not take the type.
pub(super) fn spell(op: ScalarOp, dtype: DType) -> Option<Spelling> {
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
        Abs => Function("__builtin_fabsf"),
        Sign => Function("sign_f32"),
        Floor => Function("__builtin_floorf"),
        Ceil => Function("__builtin_ceilf"),
        Trunc => Function("__builtin_truncf"),
        Round => Function("__builtin_rintf"),
        Sqrt => Function("__builtin_sqrtf"),
        Rsqrt => ReciprocalRoot,
        Recip => Reciprocal,
        Exp => Function("exp_f32"),
        Exp2 => Function("exp2_f32"),
        Expm1 => Function("expm1_f32"),
        Log => Function("log_f32"),
        Log2 => Function("log2_f32"),
        Log1p => Function("log1p_f32"),
        Sin => Function("sin_f32"),
        Cos => Function("cos_f32"),
        Tan => Function("tan_f32"),
        Asin => Function("__builtin_asinf"),
        Acos => Function("__builtin_acosf"),
        Atan => Function("__builtin_atanf"),
        Sinh => Function("__builtin_sinhf"),
        Cosh => Function("__builtin_coshf"),
        Tanh => Function("tanh_f32"),
        Asinh => Function("__builtin_asinhf"),
        Acosh => Function("__builtin_acoshf"),
        Atanh => Function("__builtin_atanhf"),
        Erf => Function("erf_f32"),
        Erfinv => Function("erfinv_f32"),
        Lgamma => Function("lgamma_f32"),
        Digamma => Function("digamma_f32"),
        IsNan => Function("isnan_f32"),
        IsInf => Function("isinf_f32"),
        Add => Arithmetic("+"),
        Sub => Arithmetic("-"),
        Mul => Arithmetic("*"),
        Div => Arithmetic("/"),
        Max => Function("max_f32"),
        Min => Function("min_f32"),
        Pow => Function("__builtin_powf"),
        Atan2 => Function("__builtin_atan2f"),
        Fmod => Function("__builtin_fmodf"),
        Copysign => Function("__builtin_copysignf"),
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
    let by_sign = |i, u| Function(if signed { i } else { u });
    Some(match op {
        Neg => Prefix("-"),
        Abs if signed => Function("abs_i32"),
        Abs => Prefix("+"),
        Sign => by_sign("sign_i32", "sign_u32"),
        Not => Prefix("~"),
        Add => Arithmetic("+"),
        Sub => Arithmetic("-"),
        Mul => Arithmetic("*"),
        Div if signed => Divide("/", "div_i32"),
        Fmod if signed => Divide("%", "fmod_i32"),
        Fmod => Divide("%", "fmod_u32"),
        FloorDiv if signed => Function("floor_div_i32"),
        Div | FloorDiv => Divide("/", "div_u32"),
        Max => by_sign("max_i32", "max_u32"),
        Min => by_sign("min_i32", "min_u32"),
        And => Infix("&"),
        Or => Infix("|"),
        Xor => Infix("^"),
        // A negative number shifted to the left is undefined in C.
        Shl if signed => Function("shl_i32"),
        Shl => Shift("<<"),
        Shr => Shift(">>"),
        Eq => Infix("=="),
        Ne => Infix("!="),
        Lt => Infix("<"),
        Le => Infix("<="),
        Gt => Infix(">"),
        Ge => Infix(">="),
        ScalarOp::Select => Spelling::Select,
        Threefry if !signed => Function("threefry_u32"),
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
        Xor | Ne => Infix("!="),
        Eq => Infix("=="),
        Lt => Infix("<"),
        Le => Infix("<="),
        Gt => Infix(">"),
        Ge => Infix(">="),
        ScalarOp::Select => Spelling::Select,
        _ => return None,
    })
}
