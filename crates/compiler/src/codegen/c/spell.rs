//! How C spells the scalar operations that are no operators in it: functions of the compiler or of `shaders/c.h`.

use crate::codegen::spell::{Spelling, operator};
use aludel_ir::{DType, ScalarOp};

/// The spelling of `op` on operands of `dtype` (for `select`, its last two); `None` where the operation does not take the type.
pub(super) fn spell(op: ScalarOp, dtype: DType) -> Option<Spelling> {
    let own = match dtype {
        DType::F32 | DType::F16 | DType::BF16 => float(op).map(Spelling::Helper),
        DType::I32 | DType::U32 => integer(op, dtype == DType::I32),
        DType::Bool => boolean(op).map(Spelling::Infix),
    };
    own.or_else(|| operator(op, dtype))
}

fn float(op: ScalarOp) -> Option<&'static str> {
    use ScalarOp::*;
    Some(match op {
        Abs => "__builtin_fabsf",
        Sign => "sign_f32",
        Floor => "__builtin_floorf",
        Ceil => "__builtin_ceilf",
        Trunc => "__builtin_truncf",
        Round => "__builtin_rintf",
        Sqrt => "__builtin_sqrtf",
        Rsqrt => "rsqrt_f32",
        Exp => "exp_f32",
        Exp2 => "exp2_f32",
        Expm1 => "expm1_f32",
        Log => "log_f32",
        Log2 => "log2_f32",
        Log1p => "log1p_f32",
        Sin => "sin_f32",
        Cos => "cos_f32",
        Tan => "tan_f32",
        Asin => "__builtin_asinf",
        Acos => "__builtin_acosf",
        Atan => "__builtin_atanf",
        Sinh => "__builtin_sinhf",
        Cosh => "__builtin_coshf",
        Tanh => "tanh_f32",
        Sigmoid => "sigmoid_f32",
        Asinh => "__builtin_asinhf",
        Acosh => "__builtin_acoshf",
        Atanh => "__builtin_atanhf",
        Erf => "erf_f32",
        Erfinv => "erfinv_f32",
        Ndtr => "ndtr_f32",
        Lgamma => "lgamma_f32",
        Digamma => "digamma_f32",
        IsNan => "isnan_f32",
        IsInf => "isinf_f32",
        Max => "max_f32",
        Min => "min_f32",
        Pow => "__builtin_powf",
        Atan2 => "__builtin_atan2f",
        Fmod => "__builtin_fmodf",
        Copysign => "__builtin_copysignf",
        _ => return None,
    })
}

fn integer(op: ScalarOp, signed: bool) -> Option<Spelling> {
    use ScalarOp::*;
    let by_sign = |i, u| Spelling::Helper(if signed { i } else { u });
    Some(match op {
        Abs if signed => Spelling::Helper("abs_i32"),
        Abs => Spelling::Prefix("+"),
        Sign => by_sign("sign_i32", "sign_u32"),
        Max => by_sign("max_i32", "max_u32"),
        Min => by_sign("min_i32", "min_u32"),
        // A negative number shifted to the left is undefined in C.
        Shl if signed => Spelling::Helper("shl_i32"),
        _ => return None,
    })
}

/// What joins booleans, zero or one, where choices are made of bits: there nothing else has a jump either.
pub(super) fn bitwise(op: ScalarOp) -> Option<&'static str> {
    match op {
        ScalarOp::And => Some("&"),
        ScalarOp::Or => Some("|"),
        _ => None,
    }
}

/// Booleans are numbers in C. With `|` of comparisons between them GCC does not vectorize the loop; with `||`, which it evaluates as freely,
/// it does: a window's largest element was found six times as slowly.
fn boolean(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::And => "&&",
        ScalarOp::Or => "||",
        ScalarOp::Xor => "!=",
        ScalarOp::Lt => "<",
        ScalarOp::Le => "<=",
        ScalarOp::Gt => ">",
        ScalarOp::Ge => ">=",
        _ => return None,
    })
}
