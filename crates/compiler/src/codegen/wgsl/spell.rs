//! How WGSL spells the scalar operations that are no operators in it: built-in functions, or functions of `shaders/wgsl.wgsl`.

use crate::codegen::spell::{Spelling, operator};
use aludel_ir::{DType, ScalarOp};

/// The spelling of `op` on operands of `dtype` (for `select`, its last two); `None` where the operation does not take the type.
pub(super) fn spell(op: ScalarOp, dtype: DType) -> Option<Spelling> {
    let own = match dtype {
        DType::F32 | DType::F16 | DType::BF16 => float(op),
        DType::I32 | DType::U32 => integer(op, dtype == DType::I32),
        DType::Bool => boolean(op).map(Spelling::Helper),
    };
    own.or_else(|| operator(op, dtype))
}

fn float(op: ScalarOp) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::{Builtin, Helper};
    Some(match op {
        Ne => Helper("ne_f32"),
        Abs => Builtin("abs"),
        Sign => Helper("sign_f32"),
        Floor => Builtin("floor"),
        Ceil => Builtin("ceil"),
        Trunc => Builtin("trunc"),
        Round => Builtin("round"),
        Sqrt => Builtin("sqrt"),
        Rsqrt => Builtin("inverseSqrt"),
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
        Sigmoid => Helper("sigmoid_f32"),
        Asinh => Helper("asinh_f32"),
        Acosh => Helper("acosh_f32"),
        Atanh => Helper("atanh_f32"),
        Erf => Helper("erf_f32"),
        Erfinv => Helper("erfinv_f32"),
        Ndtr => Helper("ndtr_f32"),
        Lgamma => Helper("lgamma_f32"),
        Digamma => Helper("digamma_f32"),
        IsNan => Helper("isnan_f32"),
        IsInf => Helper("isinf_f32"),
        Max => Helper("max_f32"),
        Min => Helper("min_f32"),
        Pow => Helper("pow_f32"),
        Atan2 => Helper("atan2_f32"),
        Fmod => Helper("fmod_f32"),
        Copysign => Helper("copysign_f32"),
        _ => return None,
    })
}

fn integer(op: ScalarOp, signed: bool) -> Option<Spelling> {
    use ScalarOp::*;
    use Spelling::{Builtin, Helper};
    Some(match op {
        Neg if !signed => Helper("neg_u32"),
        Abs => Builtin("abs"),
        Sign if signed => Builtin("sign"),
        Sign => Helper("sign_u32"),
        Max => Builtin("max"),
        Min => Builtin("min"),
        _ => return None,
    })
}

fn boolean(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::Xor => "xor_bool",
        ScalarOp::Lt => "lt_bool",
        ScalarOp::Le => "le_bool",
        ScalarOp::Gt => "gt_bool",
        ScalarOp::Ge => "ge_bool",
        _ => return None,
    })
}
