//! Pointwise operators: arithmetic, comparison, logic and the elementary functions, broadcast and promoted as in PyTorch.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef, VjpArgs};
use crate::prim::Prim;
use crate::scalar::ScalarOp;

macro_rules! unary {
    ($name:literal, $op:ident, $doc:literal) => {
        op!($name, "Tensor input", $doc, |b, x, _| Ok(vec![b.unary(ScalarOp::$op, x[0])?]))
    };
}

/// Rounding to whole numbers: integers are that already.
macro_rules! rounding {
    ($name:literal, $op:ident, $doc:literal) => {
        op!($name, "Tensor input", $doc, |b, x, _| {
            let whole = !b.dtype(x[0]).is_float();
            Ok(vec![if whole { x[0] } else { b.unary(ScalarOp::$op, x[0])? }])
        })
    };
}

macro_rules! compare {
    ($name:literal, $op:ident, $doc:literal) => {
        op!($name, "Tensor input, Tensor|Scalar other", $doc, |b, x, _| { Ok(vec![b.binary(ScalarOp::$op, x[0], x[1])?]) })
    };
}

macro_rules! logical {
    ($name:literal, $op:ident, $doc:literal) => {
        op!($name, "Tensor input, Tensor other", $doc, |b, x, _| {
            let (x, y) = (b.cast(x[0], DType::Bool)?, b.cast(x[1], DType::Bool)?);
            Ok(vec![b.binary(ScalarOp::$op, x, y)?])
        })
    };
}

macro_rules! bitwise {
    ($name:literal, $op:ident, $doc:literal) => {
        op!($name, "Tensor|Scalar input, Tensor|Scalar other", $doc, |b, x, _| Ok(vec![b.binary(ScalarOp::$op, x[0], x[1])?]))
    };
}

pub static OPS: &[OpDef] = &[
    // ---- elementary functions ----
    unary!("abs", Abs, "|x|"),
    unary!("neg", Neg, "-x"),
    unary!("sin", Sin, "Sine of radians."),
    unary!("cos", Cos, "Cosine of radians."),
    unary!("tan", Tan, "Tangent of radians.").full(),
    unary!("asin", Asin, "Inverse sine.").full(),
    unary!("acos", Acos, "Inverse cosine.").full(),
    unary!("atan", Atan, "Inverse tangent."),
    unary!("sinh", Sinh, "Hyperbolic sine.").full(),
    unary!("cosh", Cosh, "Hyperbolic cosine.").full(),
    unary!("tanh", Tanh, "Hyperbolic tangent."),
    unary!("asinh", Asinh, "Inverse hyperbolic sine."),
    unary!("acosh", Acosh, "Inverse hyperbolic cosine."),
    unary!("atanh", Atanh, "Inverse hyperbolic tangent."),
    unary!("exp", Exp, "e^x").full(),
    unary!("exp2", Exp2, "2^x"),
    unary!("expm1", Expm1, "e^x - 1, accurate near zero.").full(),
    unary!("log", Log, "Natural logarithm.").full(),
    unary!("log2", Log2, "Logarithm to base 2.").full(),
    unary!("log1p", Log1p, "log(1 + x), accurate near zero.").full(),
    op!("log10", "Tensor input", "Logarithm to base 10.", |b, x, _| {
        let l = b.unary(ScalarOp::Log, x[0])?;
        Ok(vec![b.mul_scalar(l, std::f64::consts::LOG10_E)?])
    })
    .full(),
    unary!("sqrt", Sqrt, "Square root."),
    unary!("rsqrt", Rsqrt, "1 / sqrt(x)").full(),
    unary!("reciprocal", Recip, "1 / x").full(),
    op!("square", "Tensor input", "x * x", |b, x, _| {
        let x = if b.dtype(x[0]) == DType::Bool { b.cast(x[0], DType::I32)? } else { x[0] };
        Ok(vec![b.mul(x, x)?])
    }),
    unary!("erf", Erf, "Error function."),
    op!("erfc", "Tensor input", "1 - erf(x), accurate where that vanishes.", erfc, |b, v| {
        let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
        let x = b.float(v.inputs[0])?;
        let t = b.mul(x, x)?;
        let t = b.neg(t)?;
        let t = b.unary(ScalarOp::Exp, t)?;
        let t = b.mul_scalar(t, -std::f64::consts::FRAC_2_SQRT_PI)?;
        Ok(vec![Some(b.mul(dy, t)?)])
    }),
    unary!("erfinv", Erfinv, "Inverse error function.").full(),
    unary!("lgamma", Lgamma, "Logarithm of |gamma(x)|."),
    op!(
        "digamma",
        "Tensor input",
        "Derivative of lgamma.",
        |b, x, _| {
            // Zero has a pole on either side.
            let x = b.float(x[0])?;
            let (y, pole) = (b.unary(ScalarOp::Digamma, x)?, b.unary(ScalarOp::Recip, x)?);
            let (pole, at0) = (b.neg(pole)?, b.scalar(ScalarOp::Eq, x, 0.0)?);
            Ok(vec![b.select(at0, pole, y)?])
        },
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let x = b.float(v.inputs[0])?;
            let t = b.trigamma(x)?;
            Ok(vec![Some(b.mul(dy, t)?)])
        }
    ),
    op!("sinc", "Tensor input", "sin(pi x) / (pi x), 1 at zero.", sinc),
    op!("logit", "Tensor input, float? eps=None", "log(x / (1 - x)); x is clamped to [eps, 1 - eps] first when eps is given.", logit),
    unary!("sigmoid", Sigmoid, "1 / (1 + e^-x)"),
    rounding!("floor", Floor, "Largest whole number not above x."),
    rounding!("ceil", Ceil, "Smallest whole number not below x."),
    rounding!("trunc", Trunc, "x without its fraction."),
    op!("round", "Tensor input, *, int decimals=0", "Nearest number of that many decimals, halves to even.", |b, x, a| {
        let decimals = a.int("decimals")?;
        if !b.dtype(x[0]).is_float() {
            return Ok(vec![x[0]]);
        }
        if decimals.abs() > 30 {
            return Err(b.error(format!("decimals is {decimals}"), "use a number from -30 to 30"));
        }
        // By a power of ten that is whole, as PyTorch does.
        let ten = 10f64.powi(decimals.unsigned_abs() as i32);
        let (to, from) = if decimals > 0 { (ScalarOp::Mul, ScalarOp::Div) } else { (ScalarOp::Div, ScalarOp::Mul) };
        let scaled = if decimals == 0 { x[0] } else { b.scalar(to, x[0], ten)? };
        let y = b.unary(ScalarOp::Round, scaled)?;
        Ok(vec![if decimals == 0 { y } else { b.scalar(from, y, ten)? }])
    }),
    op!("frac", "Tensor input", "x - trunc(x)", |b, x, _| {
        needs_float(b, x[0])?;
        let t = b.unary(ScalarOp::Trunc, x[0])?;
        Ok(vec![b.sub(x[0], t)?])
    }),
    op!("sign", "Tensor input", "-1, 0 or 1; 0 for NaN.", |b, x, _| Ok(vec![match b.dtype(x[0]) {
        DType::Bool => x[0],
        d if d.is_float() => {
            let (s, nan) = (b.unary(ScalarOp::Sign, x[0])?, b.unary(ScalarOp::IsNan, x[0])?);
            let zero = b.zeros_like(x[0])?;
            b.select(nan, zero, s)?
        }
        _ => b.unary(ScalarOp::Sign, x[0])?,
    }])),
    op!("isnan", "Tensor input", "Whether x is not a number.", |b, x, _| Ok(vec![test(b, ScalarOp::IsNan, x[0])?])),
    op!("isinf", "Tensor input", "Whether x is infinite.", |b, x, _| Ok(vec![test(b, ScalarOp::IsInf, x[0])?])),
    op!("isfinite", "Tensor input", "Whether x is neither infinite nor NaN.", |b, x, _| {
        let n = test(b, ScalarOp::IsNan, x[0])?;
        let i = test(b, ScalarOp::IsInf, x[0])?;
        let either = b.binary(ScalarOp::Or, n, i)?;
        Ok(vec![b.unary(ScalarOp::Not, either)?])
    }),
    op!(
        "nan_to_num",
        "Tensor input, float nan=0.0, float? posinf=None, float? neginf=None",
        "Replaces NaN and infinities; infinities by the type's largest finite values by default.",
        nan_to_num
    ),
    // ---- arithmetic ----
    op!("add", "Tensor|Scalar input, Tensor|Scalar other, *, Scalar alpha=1", "x + alpha * y", |b, x, a| scaled(b, ScalarOp::Add, x, a)),
    op!("sub", "Tensor|Scalar input, Tensor|Scalar other, *, Scalar alpha=1", "x - alpha * y", |b, x, a| scaled(b, ScalarOp::Sub, x, a)),
    op!("rsub", "Tensor input, Tensor|Scalar other, *, Scalar alpha=1", "other - alpha * x.", |b, x, a| {
        scaled(b, ScalarOp::Sub, &[x[1], x[0]], a)
    }),
    op!("mul", "Tensor|Scalar input, Tensor|Scalar other", "x * y", |b, x, _| { Ok(vec![b.mul(x[0], x[1])?]) }),
    op!(
        "div",
        "Tensor|Scalar input, Tensor|Scalar other, *, str? rounding_mode=None",
        "x / y; rounded down by rounding_mode \"floor\", towards zero by \"trunc\".",
        div
    ),
    op!("floor_divide", "Tensor|Scalar input, Tensor|Scalar other", "x / y rounded down.", |b, x, _| {
        Ok(vec![floor_divide(b, x[0], x[1])?])
    }),
    op!("fmod", "Tensor input, Tensor|Scalar other", "Remainder of x / y with the sign of x.", |b, x, _| {
        // A number is of the tensor's type, as in PyTorch's fmod alone.
        if let Some(v) = b.splat(x[1]).filter(|_| b.rank(x[1]) == 0) {
            super::activation::whole_numbers(b, x[0], &[("other", v)])?;
        }
        Ok(vec![b.binary(ScalarOp::Fmod, x[0], x[1])?])
    }),
    op!("remainder", "Tensor|Scalar input, Tensor|Scalar other", "Remainder of x / y with the sign of y.", |b, x, _| {
        Ok(vec![remainder(b, x[0], x[1])?])
    }),
    op!("pow", "Tensor|Scalar input, Tensor|Scalar exponent", "x to the power y.", pow).full(),
    op!("maximum", "Tensor input, Tensor other", "The larger; NaN when either is.", |b, x, _| Ok(vec![b.binary(
        ScalarOp::Max,
        x[0],
        x[1]
    )?])),
    op!("minimum", "Tensor input, Tensor other", "The smaller; NaN when either is.", |b, x, _| Ok(vec![b.binary(
        ScalarOp::Min,
        x[0],
        x[1]
    )?])),
    op!("atan2", "Tensor input, Tensor other", "Angle of the point (x, y) in radians.", |b, x, _| Ok(vec![b.binary(
        ScalarOp::Atan2,
        x[0],
        x[1]
    )?]))
    .widest(),
    op!("copysign", "Tensor input, Tensor|Scalar other", "|x| with the sign of y.", |b, x, _| Ok(vec![b.binary(
        ScalarOp::Copysign,
        x[0],
        x[1]
    )?])),
    op!("hypot", "Tensor input, Tensor other", "sqrt(x^2 + y^2) without overflow in between.", hypot, |b, v| {
        let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
        let t = b.div(dy, v.outputs[0])?;
        v.inputs.iter().map(|x| Ok(Some(b.mul(t, *x)?))).collect()
    }),
    op!("logaddexp", "Tensor input, Tensor other", "log(e^x + e^y)", logaddexp, |b, v| {
        let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
        // By the difference of the two: that to the result has lost its digits where they are large.
        let share = |b: &mut Builder, x, other| {
            let d = b.sub(other, x)?;
            let e = b.unary(ScalarOp::Exp, d)?;
            let e = b.add_scalar(e, 1.0)?;
            Ok(Some(b.div(dy, e)?))
        };
        let (x, y) = (v.inputs[0], v.inputs[1]);
        Ok(vec![share(b, x, y)?, share(b, y, x)?])
    }),
    op!("clamp", "Tensor input, Tensor|Scalar? min=None, Tensor|Scalar? max=None", "min(max(x, min), max)", clamp, clamp_vjp),
    op!("lerp", "Tensor input, Tensor end, Tensor|Scalar weight", "x + weight * (end - x)", |b, x, _| {
        if let Some(v) = x.iter().find(|v| !b.dtype(**v).is_float()) {
            return Err(b.error(format!("interpolates in {}", b.dtype(*v)), "convert the tensors to a float type with to()"));
        }
        super::linalg::one_type(b, x)?;
        let d = b.sub(x[1], x[0])?;
        let t = b.mul(x[2], d)?;
        Ok(vec![b.add(x[0], t)?])
    }),
    op!("addcmul", "Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1", "x + value * tensor1 * tensor2", |b, x, a| {
        let value = a.float("value")?;
        if !b.common_dtype(x).is_float() {
            super::activation::whole_numbers(b, x[0], &[("value", value)])?;
        }
        let t = b.mul(x[1], x[2])?;
        let t = b.mul_scalar(t, value)?;
        Ok(vec![b.add(x[0], t)?])
    })
    .widest(),
    op!("addcdiv", "Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1", "x + value * tensor1 / tensor2", |b, x, a| {
        if !b.common_dtype(&x[1..]).is_float() {
            return Err(b.error("divides integers", "convert a tensor to a float type with to()"));
        }
        let t = b.div(x[1], x[2])?;
        let t = b.mul_scalar(t, a.float("value")?)?;
        Ok(vec![b.add(x[0], t)?])
    })
    .widest(),
    // ---- comparison, choice and logic ----
    compare!("eq", Eq, "x == y"),
    compare!("ne", Ne, "x != y"),
    compare!("lt", Lt, "x < y"),
    compare!("le", Le, "x <= y"),
    compare!("gt", Gt, "x > y"),
    compare!("ge", Ge, "x >= y"),
    op!("where", "Tensor condition, Tensor|Scalar input, Tensor|Scalar other", "x where the condition holds, else y.", |b, x, _| {
        if b.dtype(x[0]) != DType::Bool {
            return Err(b.error(format!("a condition of {}", b.dtype(x[0])), "compare to make one of bool, or convert it with to()"));
        }
        Ok(vec![b.select(x[0], x[1], x[2])?])
    }),
    op!(
        "masked_fill",
        "Tensor input, Tensor mask, Tensor|Scalar value",
        "A number where the mask holds, else x. PyTorch: Tensor.masked_fill.",
        |b, x, _| {
            if b.dtype(x[1]) != DType::Bool || b.rank(x[2]) != 0 {
                return Err(b.error(
                    "needs a mask of bool and one value",
                    "compare to make a mask, and give a number or a tensor without dimensions",
                ));
            }
            if let Some(v) = b.splat(x[2]) {
                super::activation::whole_numbers(b, x[0], &[("value", v)])?;
            }
            let c = x[1];
            let v = b.cast(x[2], b.dtype(x[0]))?;
            Ok(vec![b.select(c, v, x[0])?])
        }
    ),
    logical!("logical_and", And, "x and y, as truth values."),
    logical!("logical_or", Or, "x or y, as truth values."),
    logical!("logical_xor", Xor, "Either x or y, as truth values."),
    op!("logical_not", "Tensor input", "Whether x is zero.", |b, x, _| {
        let c = b.cast(x[0], DType::Bool)?;
        Ok(vec![b.unary(ScalarOp::Not, c)?])
    }),
    bitwise!("bitwise_and", And, "Bits set in both."),
    bitwise!("bitwise_or", Or, "Bits set in either."),
    bitwise!("bitwise_xor", Xor, "Bits set in one of the two."),
    unary!("bitwise_not", Not, "All bits inverted."),
    op!("bitwise_left_shift", "Tensor|Scalar input, Tensor|Scalar other", "x * 2^y on bits; 0 where y is no place of a bit.", |b, x, _| {
        shift(b, ScalarOp::Shl, x)
    }),
    op!(
        "bitwise_right_shift",
        "Tensor|Scalar input, Tensor|Scalar other",
        "Bits of x moved down by y; where y is no place of a bit, all are the sign.",
        |b, x, _| shift(b, ScalarOp::Shr, x)
    ),
    // ---- types and derivatives ----
    op!("to", "Tensor input, ScalarType dtype", "The same values as another element type. PyTorch: Tensor.to.", |b, x, a| Ok(vec![
        b.cast(x[0], a.dtype("dtype")?)?
    ])),
    op!("detach", "Tensor input", "The same values, through which no gradient flows. PyTorch: Tensor.detach.", |b, x, _| {
        Ok(vec![b.prim(crate::prim::Prim::Detach, &[x[0]])?])
    }),
];

fn scaled(b: &mut Builder, op: ScalarOp, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (x, y) = (x[0], x[1]);
    let dtype = b.common_dtype(&[x, y]);
    if op == ScalarOp::Sub && [x, y].iter().any(|v| b.dtype(*v) == DType::Bool) {
        return Err(b.error("truth values have no difference", "use logical_xor() or logical_not(), or convert them to numbers with to()"));
    }
    if !dtype.is_float() && matches!(a.get("alpha"), Some(Attr::Float(_))) {
        let problem = format!("alpha = {} is no value of {dtype}", a.float("alpha")?);
        return Err(b.error(problem, "give a whole number, or convert a tensor to a float type with to()"));
    }
    let y = match a.float("alpha")? {
        1.0 => y,
        alpha => b.mul_scalar(y, alpha)?,
    };
    Ok(vec![b.binary(op, x, y)?])
}

/// By the exponential of a number that is never positive, so that nothing overflows.
pub fn sigmoid(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let x = b.float(x)?;
    b.unary(ScalarOp::Sigmoid, x)
}

/// Near zero by its Taylor series: the derivative of the quotient is a difference of nearly equal numbers there.
fn sinc(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    /// Of the squares of pi x, the highest first; the term after them is below half a unit in the last place of f32 up to [`NEAR`].
    const SERIES: [f64; 6] = [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0];
    const NEAR: f64 = 0.25;
    let x = b.float(x[0])?;
    let m = b.unary(ScalarOp::Abs, x)?;
    let near = b.scalar(ScalarOp::Lt, m, NEAR)?;
    let (zero, one) = (b.full_like(x, 0.0)?, b.full_like(x, 1.0)?);
    // Neither way leaves its range where the other one counts.
    let small = b.select(near, x, zero)?;
    let small = b.mul_scalar(small, std::f64::consts::PI)?;
    let square = b.mul(small, small)?;
    let mut series = b.full_like(x, SERIES[0])?;
    for c in &SERIES[1..] {
        series = b.mul(series, square)?;
        series = b.add_scalar(series, *c)?;
    }
    let large = b.select(near, one, x)?;
    let large = b.mul_scalar(large, std::f64::consts::PI)?;
    let sine = b.unary(ScalarOp::Sin, large)?;
    let quotient = b.div(sine, large)?;
    Ok(vec![b.select(near, series, quotient)?])
}

fn logit(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let mut x = b.float(x[0])?;
    if let Some(eps) = a.opt_float("eps")? {
        // The lower bound goes first, also where it is the larger.
        let (lo, hi) = (b.full_like(x, eps)?, b.full_like(x, 1.0 - eps)?);
        let (below, above) = (b.binary(ScalarOp::Lt, x, lo)?, b.binary(ScalarOp::Gt, x, hi)?);
        let upper = b.select(above, hi, x)?;
        x = b.select(below, lo, upper)?;
    }
    let n = b.neg(x)?;
    let n = b.add_scalar(n, 1.0)?;
    let q = b.div(x, n)?;
    Ok(vec![b.unary(ScalarOp::Log, q)?])
}

fn test(b: &mut Builder, op: ScalarOp, x: ValueId) -> Result<ValueId> {
    if b.dtype(x).is_float() {
        return b.unary(op, x);
    }
    let shape = b.shape(x);
    b.full(&shape, 0.0, DType::Bool)
}

// Scalar shifts take counts modulo 32; PyTorch's shift everything out by counts of 32 and more, and by negative ones.
fn shift(b: &mut Builder, op: ScalarOp, x: &[ValueId]) -> Result<Vec<ValueId>> {
    let xy = b.promote(&[x[0], x[1]])?;
    let dtype = b.dtype(xy[0]);
    if !dtype.is_int() {
        return Err(b.error(format!("shifts bits of {dtype}"), "convert the operands to an integer type with to()"));
    }
    let y = b.binary(op, xy[0], xy[1])?;
    // As an unsigned number a negative count is large.
    let count = b.prim(crate::prim::Prim::Bitcast(DType::U32), &[xy[1]])?;
    let inside = b.scalar(ScalarOp::Lt, count, 32.0)?;
    let out = match (op, dtype) {
        (ScalarOp::Shr, DType::I32) => b.scalar(ScalarOp::Shr, xy[0], 31.0)?,
        _ => b.zeros_like(y)?,
    };
    Ok(vec![b.select(inside, y, out)?])
}

fn needs_float(b: &Builder, x: ValueId) -> Result<()> {
    if b.dtype(x).is_float() {
        return Ok(());
    }
    Err(b.error(format!("is not defined for {}", b.dtype(x)), "convert the tensor to a float type with to()"))
}

// t e^(-x^2 + p(t)) for t = 1 / (1 + |x| / 2), whose relative error is below 1.2e-7 everywhere; mirrored below zero. Source: W. Press et al.,
// "Numerical Recipes in C", 2nd edition, section 6.2, `erfcc`.
fn erfc(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    const P: [f64; 10] =
        [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223];
    let x = b.float(x[0])?;
    let z = b.unary(ScalarOp::Abs, x)?;
    let t = b.mul_scalar(z, 0.5)?;
    let t = b.add_scalar(t, 1.0)?;
    let t = b.unary(ScalarOp::Recip, t)?;
    let mut p = b.full_like(t, P[0])?;
    for c in &P[1..] {
        p = b.mul(p, t)?;
        p = b.add_scalar(p, *c)?;
    }
    let square = b.mul(z, z)?;
    let e = b.sub(p, square)?;
    let e = b.unary(ScalarOp::Exp, e)?;
    let above = b.mul(t, e)?;
    let below = b.neg(above)?;
    let below = b.add_scalar(below, 2.0)?;
    let negative = b.scalar(ScalarOp::Lt, x, 0.0)?;
    Ok(vec![b.select(negative, below, above)?])
}

fn nan_to_num(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (x, dtype) = (x[0], b.dtype(x[0]));
    if !dtype.is_float() {
        return Ok(vec![x]);
    }
    let fill = |b: &mut Builder, y, condition, value: f64| {
        let v = b.full_like(x, value)?;
        b.select(condition, v, y)
    };
    let nan = b.unary(ScalarOp::IsNan, x)?;
    let y = fill(b, x, nan, a.float("nan")?)?;
    let inf = b.unary(ScalarOp::IsInf, x)?;
    let positive = b.scalar(ScalarOp::Gt, x, 0.0)?;
    let high = b.full_like(x, a.opt_float("posinf")?.unwrap_or(dtype.max_finite()))?;
    let low = b.full_like(x, a.opt_float("neginf")?.unwrap_or(dtype.min_finite()))?;
    let end = b.select(positive, high, low)?;
    Ok(vec![b.select(inf, end, y)?])
}

fn div(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let xy = b.promote(&[x[0], x[1]])?;
    let (x, y) = (xy[0], xy[1]);
    Ok(vec![match a.opt_str("rounding_mode")? {
        None => {
            let (x, y) = (b.float(x)?, b.float(y)?);
            b.div(x, y)?
        }
        Some("floor") => floor_divide(b, x, y)?,
        Some("trunc") if b.dtype(x).is_float() => {
            let q = b.div(x, y)?;
            b.unary(ScalarOp::Trunc, q)?
        }
        Some("trunc") => b.div(x, y)?,
        Some(mode) => return Err(b.error(format!("unknown rounding_mode {mode:?}"), "use \"floor\" or \"trunc\"")),
    }])
}

// For floats through the exact remainder, as PyTorch does: the rounded quotient may lie on the wrong side of a whole number.
fn floor_divide(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let xy = b.promote(&[x, y])?;
    let (x, y) = (xy[0], xy[1]);
    if !b.dtype(x).is_float() {
        return b.binary(ScalarOp::FloorDiv, x, y);
    }
    let (r, wrong) = truncated_remainder(b, x, y)?;
    let d = b.sub(x, r)?;
    let q = b.div(d, y)?;
    let q = b.unary(ScalarOp::Round, q)?;
    // One less where the remainder has the other sign, of an infinite divisor too.
    let less = b.add_scalar(q, -1.0)?;
    let q = b.select(wrong, less, q)?;
    // A quotient of zero has the sign of what was rounded; by zero there is no remainder, and the quotient is infinite. Like every quotient
    // here it has no slope.
    let (x, y) = (b.prim(Prim::Detach, &[x])?, b.prim(Prim::Detach, &[y])?);
    let quotient = b.div(x, y)?;
    let zero = b.zeros_like(q)?;
    let zero = b.binary(ScalarOp::Copysign, zero, quotient)?;
    let nothing = b.scalar(ScalarOp::Eq, q, 0.0)?;
    let q = b.select(nothing, zero, q)?;
    let none = b.scalar(ScalarOp::Eq, y, 0.0)?;
    b.select(none, quotient, q)
}

// The remainder of floats with the dividend's sign, and where a remainder with the divisor's is another.
fn truncated_remainder(b: &mut Builder, x: ValueId, y: ValueId) -> Result<(ValueId, ValueId)> {
    let r = b.binary(ScalarOp::Fmod, x, y)?;
    let rest = b.scalar(ScalarOp::Ne, r, 0.0)?;
    let (rn, yn) = (b.scalar(ScalarOp::Lt, r, 0.0)?, b.scalar(ScalarOp::Lt, y, 0.0)?);
    let differ = b.binary(ScalarOp::Xor, rn, yn)?;
    Ok((r, b.binary(ScalarOp::And, rest, differ)?))
}

fn remainder(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let xy = b.promote(&[x, y])?;
    let (x, y) = (xy[0], xy[1]);
    if !b.dtype(x).is_float() {
        let q = b.binary(ScalarOp::FloorDiv, x, y)?;
        let m = b.mul(q, y)?;
        return b.sub(x, m);
    }
    let (r, wrong) = truncated_remainder(b, x, y)?;
    let moved = b.add(r, y)?;
    b.select(wrong, moved, r)
}

fn pow(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let (base, e) = (x[0], x[1]);
    let whole = !b.dtype(base).is_float() && !b.dtype(e).is_float();
    if whole && b.splat(e).is_some_and(|e| e < 0.0) {
        return Err(b.error("integers have no negative powers among integers", "convert the base to a float type with to()"));
    }
    Ok(vec![if whole { whole_power(b, base, e)? } else { b.binary(ScalarOp::Pow, base, e)? }])
}

// A power of whole numbers is a product of squares, which wraps as they do: by way of f32 it would be exact to 2^24 only.
fn whole_power(b: &mut Builder, base: ValueId, e: ValueId) -> Result<ValueId> {
    const BITS: u32 = 8;
    let (x, e) = (b.cast(base, DType::I32)?, b.cast(e, DType::I32)?);
    let mut square = x;
    if let Some(known) = b.splat(e).filter(|n| (0.0..f64::from(1 << BITS)).contains(n)) {
        let mut left = known as u32;
        let both = b.broadcast(&[x, e])?;
        let mut made = b.full_like(both[0], 1.0)?;
        while left > 0 {
            if left & 1 == 1 {
                made = b.mul(made, square)?;
            }
            left >>= 1;
            if left > 0 {
                square = b.mul(square, square)?;
            }
        }
        return Ok(made);
    }
    // Beyond so many bits only the powers of 0, 1 and -1 fit, which the last bit decides.
    let size = b.unary(ScalarOp::Abs, e)?;
    let odd = b.scalar(ScalarOp::And, size, 1.0)?;
    let most = b.add_scalar(odd, f64::from((1 << BITS) - 2))?;
    let size = b.binary(ScalarOp::Min, size, most)?;
    let both = b.broadcast(&[x, e])?;
    let mut made = b.full_like(both[0], 1.0)?;
    for bit in 0..BITS {
        let there = b.scalar(ScalarOp::And, size, f64::from(1 << bit))?;
        let there = b.scalar(ScalarOp::Ne, there, 0.0)?;
        let more = b.mul(made, square)?;
        made = b.select(there, more, made)?;
        if bit + 1 < BITS {
            square = b.mul(square, square)?;
        }
    }
    // One by a whole number is zero, but for 1 and -1.
    let unit = b.unary(ScalarOp::Abs, x)?;
    let unit = b.scalar(ScalarOp::Eq, unit, 1.0)?;
    let up = b.scalar(ScalarOp::Ge, e, 0.0)?;
    let stays = b.binary(ScalarOp::Or, unit, up)?;
    let zero = b.zeros_like(made)?;
    b.select(stays, made, zero)
}

fn hypot(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    // To one type first: an integer takes the float's.
    let both = b.promote_dtype(x)?;
    let (x, y2) = (b.float(both[0])?, b.float(both[1])?);
    let (x, y2) = (b.unary(ScalarOp::Abs, x)?, b.unary(ScalarOp::Abs, y2)?);
    let big = b.binary(ScalarOp::Max, x, y2)?;
    let small = b.binary(ScalarOp::Min, x, y2)?;
    let is0 = b.scalar(ScalarOp::Eq, big, 0.0)?;
    let one = b.full_like(big, 1.0)?;
    let safe = b.select(is0, one, big)?;
    let q = b.div(small, safe)?;
    let q = b.mul(q, q)?;
    let q = b.add(q, one)?;
    let root = b.unary(ScalarOp::Sqrt, q)?;
    let y = b.mul(big, root)?;
    // An infinite side is infinite whatever the other is, a NaN included.
    let (p, q) = (b.unary(ScalarOp::IsInf, x)?, b.unary(ScalarOp::IsInf, y2)?);
    let infinite = b.binary(ScalarOp::Or, p, q)?;
    let inf = b.full_like(y, f64::INFINITY)?;
    Ok(vec![b.select(infinite, inf, y)?])
}

fn logaddexp(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let m = b.binary(ScalarOp::Max, x[0], x[1])?;
    let d = b.sub(x[0], x[1])?;
    let d = b.unary(ScalarOp::Abs, d)?;
    let n = b.neg(d)?;
    let e = b.unary(ScalarOp::Exp, n)?;
    let l = b.unary(ScalarOp::Log1p, e)?;
    // Equal infinities differ by NaN; their sum is the infinity itself.
    let same = b.binary(ScalarOp::Eq, x[0], x[1])?;
    let ln2 = b.full_like(l, std::f64::consts::LN_2)?;
    let l = b.select(same, ln2, l)?;
    Ok(vec![b.add(m, l)?])
}

fn clamp(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    if x.len() < 2 {
        return Err(b.error("has no bound", "give min, max or both"));
    }
    let mut y = x[0];
    for (name, op) in [("min", ScalarOp::Max), ("max", ScalarOp::Min)] {
        if let Some(bound) = a.tensor(x, name) {
            y = b.binary(op, y, bound)?;
        }
    }
    Ok(vec![y])
}

// A value at a bound that is a number has no gradient; a tensor of bounds shares it with the values that are equal, and has that of the
// values that it replaces.
fn clamp_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let (x, min, max) = (v.inputs[0], v.attrs.tensor(v.inputs, "min"), v.attrs.tensor(v.inputs, "max"));
    let zero = b.zeros_like(dy)?;
    let mut out = vec![Some(dy)];
    let crossed = match (min, max) {
        (Some(min), Some(max)) => Some(b.binary(ScalarOp::Gt, min, max)?),
        _ => None,
    };
    let half = b.mul_scalar(dy, 0.5)?;
    for (bound, inside, beyond) in [(min, ScalarOp::Gt, ScalarOp::Lt), (max, ScalarOp::Lt, ScalarOp::Gt)] {
        let Some(bound) = bound else { continue };
        let (ok, replaced) = (b.binary(inside, x, bound)?, b.binary(beyond, x, bound)?);
        let equal = if b.rank(bound) > 0 { Some(b.binary(ScalarOp::Eq, x, bound)?) } else { None };
        out[0] = match (out[0], equal) {
            (Some(dx), Some(equal)) => {
                let dx = b.select(ok, dx, zero)?;
                Some(b.select(equal, half, dx)?)
            }
            (dx, _) => dx.map(|dx| b.select(ok, dx, zero)).transpose()?,
        };
        // Where the bounds cross, every value is the upper one.
        let replaced = match crossed {
            Some(c) if beyond == ScalarOp::Lt => {
                let no = b.unary(ScalarOp::Not, c)?;
                b.binary(ScalarOp::And, replaced, no)?
            }
            Some(c) => b.binary(ScalarOp::Or, replaced, c)?,
            None => replaced,
        };
        let of_bound = match equal {
            Some(equal) => b.select(equal, half, zero)?,
            None => zero,
        };
        out.push(Some(b.select(replaced, dy, of_bound)?));
    }
    Ok(out)
}
