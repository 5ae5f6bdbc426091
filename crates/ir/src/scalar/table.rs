//! The rows: what an operation is called, takes, computes and costs, and its derivative.

use super::special::{digamma, erfinv};
use super::{Eval, Grad, ScalarDef, ScalarOp, Types, threefry2x32, threefry2x32_words};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;

const fn row(op: ScalarOp, name: &'static str, arity: usize, types: Types, cost: u32, eval: Eval, grad: Option<Grad>) -> ScalarDef {
    ScalarDef { op, name, arity, types, eval, grad, cost }
}

fn int_bits(v: f64) -> u32 {
    v as i64 as u32
}

fn from_bits(bits: u32, d: DType) -> f64 {
    match d {
        DType::U32 => bits as f64,
        DType::Bool => (bits & 1) as f64,
        _ => bits as i32 as f64,
    }
}

fn b(v: bool) -> f64 {
    v as u8 as f64
}

/// Every scalar operation, in the order of [`ScalarOp`].
pub static TABLE: [ScalarDef; 62] = {
    use ScalarOp::*;
    use Types::*;
    [
        row(Neg, "neg", 1, Numeric, 1, |x, _| -x[0], Some(|g, _, _, dy| Ok(vec![Some(g.neg(dy)?)]))),
        row(
            Abs,
            "abs",
            1,
            Numeric,
            1,
            |x, _| x[0].abs(),
            Some(|g, x, _, dy| {
                // Nothing passes at zero and at a NaN.
                let (zero, minus) = (g.zeros_like(dy)?, g.neg(dy)?);
                let (above, below) = (g.scalar(Gt, x[0], 0.0)?, g.scalar(Lt, x[0], 0.0)?);
                let d = g.select(below, minus, zero)?;
                Ok(vec![Some(g.select(above, dy, d)?)])
            }),
        ),
        row(
            Sign,
            "sign",
            1,
            Numeric,
            2,
            |x, _| {
                if x[0] > 0.0 {
                    1.0
                } else if x[0] < 0.0 {
                    -1.0
                } else {
                    x[0]
                }
            },
            None,
        ),
        row(Floor, "floor", 1, Float, 1, |x, _| x[0].floor(), None),
        row(Ceil, "ceil", 1, Float, 1, |x, _| x[0].ceil(), None),
        row(Trunc, "trunc", 1, Float, 1, |x, _| x[0].trunc(), None),
        row(Round, "round", 1, Float, 1, |x, _| x[0].round_ties_even(), None),
        row(
            Sqrt,
            "sqrt",
            1,
            Float,
            4,
            |x, _| x[0].sqrt(),
            Some(|g, _, y, dy| {
                let half = g.mul_scalar(dy, 0.5)?;
                Ok(vec![Some(g.div(half, y)?)])
            }),
        ),
        row(
            Rsqrt,
            "rsqrt",
            1,
            Float,
            2,
            |x, _| 1.0 / x[0].sqrt(),
            Some(|g, x, y, dy| {
                // -1/2 x^(-3/2) = -1/2 y / x
                let t = g.mul(dy, y)?;
                let t = g.mul_scalar(t, -0.5)?;
                Ok(vec![Some(g.div(t, x[0])?)])
            }),
        ),
        row(
            Recip,
            "reciprocal",
            1,
            Float,
            2,
            |x, _| 1.0 / x[0],
            Some(|g, _, y, dy| {
                let y2 = g.mul(y, y)?;
                let t = g.mul(dy, y2)?;
                Ok(vec![Some(g.neg(t)?)])
            }),
        ),
        row(Exp, "exp", 1, Float, 4, |x, _| x[0].exp(), Some(|g, _, y, dy| Ok(vec![Some(g.mul(dy, y)?)]))),
        row(
            Exp2,
            "exp2",
            1,
            Float,
            4,
            |x, _| x[0].exp2(),
            Some(|g, _, y, dy| {
                let t = g.mul(dy, y)?;
                Ok(vec![Some(g.mul_scalar(t, std::f64::consts::LN_2)?)])
            }),
        ),
        row(
            Expm1,
            "expm1",
            1,
            Float,
            8,
            |x, _| x[0].exp_m1(),
            Some(|g, _, y, dy| {
                let t = g.add_scalar(y, 1.0)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(Log, "log", 1, Float, 4, |x, _| x[0].ln(), Some(|g, x, _, dy| Ok(vec![Some(g.div(dy, x[0])?)]))),
        row(
            Log2,
            "log2",
            1,
            Float,
            4,
            |x, _| x[0].log2(),
            Some(|g, x, _, dy| {
                let t = g.div(dy, x[0])?;
                Ok(vec![Some(g.mul_scalar(t, std::f64::consts::LOG2_E)?)])
            }),
        ),
        row(
            Log1p,
            "log1p",
            1,
            Float,
            8,
            |x, _| x[0].ln_1p(),
            Some(|g, x, _, dy| {
                let t = g.add_scalar(x[0], 1.0)?;
                Ok(vec![Some(g.div(dy, t)?)])
            }),
        ),
        row(
            Sin,
            "sin",
            1,
            Float,
            8,
            |x, _| x[0].sin(),
            Some(|g, x, _, dy| {
                let c = g.unary(Cos, x[0])?;
                Ok(vec![Some(g.mul(dy, c)?)])
            }),
        ),
        row(
            Cos,
            "cos",
            1,
            Float,
            8,
            |x, _| x[0].cos(),
            Some(|g, x, _, dy| {
                let s = g.unary(Sin, x[0])?;
                let t = g.mul(dy, s)?;
                Ok(vec![Some(g.neg(t)?)])
            }),
        ),
        row(
            Tan,
            "tan",
            1,
            Float,
            10,
            |x, _| x[0].tan(),
            Some(|g, _, y, dy| {
                let t = g.mul(y, y)?;
                let t = g.add_scalar(t, 1.0)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Asin,
            "asin",
            1,
            Float,
            10,
            |x, _| x[0].asin(),
            Some(|g, x, _, dy| {
                let t = one_minus_square_factored(g, x[0])?;
                let t = g.unary(Rsqrt, t)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Acos,
            "acos",
            1,
            Float,
            10,
            |x, _| x[0].acos(),
            Some(|g, x, _, dy| {
                let t = one_minus_square_factored(g, x[0])?;
                let t = g.unary(Rsqrt, t)?;
                let t = g.mul(dy, t)?;
                Ok(vec![Some(g.neg(t)?)])
            }),
        ),
        row(
            Atan,
            "atan",
            1,
            Float,
            10,
            |x, _| x[0].atan(),
            Some(|g, x, _, dy| {
                let t = g.mul(x[0], x[0])?;
                let t = g.add_scalar(t, 1.0)?;
                Ok(vec![Some(g.div(dy, t)?)])
            }),
        ),
        row(
            Sinh,
            "sinh",
            1,
            Float,
            10,
            |x, _| x[0].sinh(),
            Some(|g, x, _, dy| {
                let c = g.unary(Cosh, x[0])?;
                Ok(vec![Some(g.mul(dy, c)?)])
            }),
        ),
        row(
            Cosh,
            "cosh",
            1,
            Float,
            10,
            |x, _| x[0].cosh(),
            Some(|g, x, _, dy| {
                let c = g.unary(Sinh, x[0])?;
                Ok(vec![Some(g.mul(dy, c)?)])
            }),
        ),
        row(
            Tanh,
            "tanh",
            1,
            Float,
            8,
            |x, _| x[0].tanh(),
            Some(|g, _, y, dy| {
                let t = one_minus_square(g, y)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Sigmoid,
            "sigmoid",
            1,
            Float,
            8,
            |x, _| 1.0 / (1.0 + (-x[0]).exp()),
            Some(|g, _, y, dy| {
                // y (1 - y)
                let t = g.neg(y)?;
                let t = g.add_scalar(t, 1.0)?;
                let t = g.mul(t, y)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Asinh,
            "asinh",
            1,
            Float,
            12,
            |x, _| x[0].asinh(),
            Some(|g, x, _, dy| {
                let t = g.mul(x[0], x[0])?;
                let t = g.add_scalar(t, 1.0)?;
                let t = g.unary(Rsqrt, t)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Acosh,
            "acosh",
            1,
            Float,
            12,
            |x, _| x[0].acosh(),
            Some(|g, x, _, dy| {
                let (below, above) = (g.add_scalar(x[0], -1.0)?, g.add_scalar(x[0], 1.0)?);
                let t = g.mul(below, above)?;
                let t = g.unary(Rsqrt, t)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Atanh,
            "atanh",
            1,
            Float,
            12,
            |x, _| x[0].atanh(),
            Some(|g, x, _, dy| {
                let t = one_minus_square_factored(g, x[0])?;
                Ok(vec![Some(g.div(dy, t)?)])
            }),
        ),
        row(
            Erf,
            "erf",
            1,
            Float,
            16,
            |x, _| libm::erf(x[0]),
            Some(|g, x, _, dy| {
                let t = g.mul(x[0], x[0])?;
                let t = g.neg(t)?;
                let t = g.unary(Exp, t)?;
                let t = g.mul_scalar(t, std::f64::consts::FRAC_2_SQRT_PI)?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Erfinv,
            "erfinv",
            1,
            Float,
            24,
            |x, _| erfinv(x[0]),
            Some(|g, _, y, dy| {
                let t = g.mul(y, y)?;
                let t = g.unary(Exp, t)?;
                let t = g.mul_scalar(t, 0.886_226_925_452_758)?; // sqrt(pi)/2
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Ndtr,
            "ndtr",
            1,
            Float,
            16,
            |x, _| 0.5 * libm::erfc(-x[0] * std::f64::consts::FRAC_1_SQRT_2),
            Some(|g, x, _, dy| {
                let t = normal_density(g, x[0])?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Lgamma,
            "lgamma",
            1,
            Float,
            32,
            |x, _| libm::lgamma(x[0]),
            Some(|g, x, _, dy| {
                let t = g.unary(Digamma, x[0])?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Digamma,
            "digamma",
            1,
            Float,
            32,
            |x, _| digamma(x[0]),
            Some(|g, x, _, dy| {
                let t = g.trigamma(x[0])?;
                Ok(vec![Some(g.mul(dy, t)?)])
            }),
        ),
        row(Not, "not", 1, Bits, 1, |x, d| from_bits(!int_bits(x[0]), d), None),
        row(IsNan, "isnan", 1, Test, 1, |x, _| b(x[0].is_nan()), None),
        row(IsInf, "isinf", 1, Test, 1, |x, _| b(x[0].is_infinite()), None),
        row(Add, "add", 2, Numeric, 1, |x, _| x[0] + x[1], Some(|_, _, _, dy| Ok(vec![Some(dy), Some(dy)]))),
        row(Sub, "sub", 2, Numeric, 1, |x, _| x[0] - x[1], Some(|g, _, _, dy| Ok(vec![Some(dy), Some(g.neg(dy)?)]))),
        row(
            Mul,
            "mul",
            2,
            Numeric,
            1,
            |x, d| match d {
                DType::I32 | DType::U32 => from_bits(int_bits(x[0]).wrapping_mul(int_bits(x[1])), d),
                _ => x[0] * x[1],
            },
            Some(|g, x, _, dy| Ok(vec![Some(g.mul(dy, x[1])?), Some(g.mul(dy, x[0])?)])),
        ),
        row(
            Div,
            "div",
            2,
            Numeric,
            4,
            |x, d| match d {
                // Integers truncate; division by zero gives zero, on every target.
                d if d.is_int() => {
                    if x[1] == 0.0 {
                        0.0
                    } else {
                        (x[0] / x[1]).trunc()
                    }
                }
                _ => x[0] / x[1],
            },
            Some(|g, x, y, dy| {
                let da = g.div(dy, x[1])?;
                let t = g.mul(da, y)?;
                Ok(vec![Some(da), Some(g.neg(t)?)])
            }),
        ),
        row(
            Max,
            "maximum",
            2,
            Numeric,
            1,
            |x, _| if x[0].is_nan() || x[0] > x[1] { x[0] } else { x[1] },
            Some(|g, x, _, dy| extremum_grad(g, Gt, x, dy)),
        ),
        row(
            Min,
            "minimum",
            2,
            Numeric,
            1,
            |x, _| if x[0].is_nan() || x[0] < x[1] { x[0] } else { x[1] },
            Some(|g, x, _, dy| extremum_grad(g, Lt, x, dy)),
        ),
        row(
            Pow,
            "pow",
            2,
            Float,
            16,
            |x, _| x[0].powf(x[1]),
            Some(|g, x, y, dy| {
                // d/da = b a^(b-1), zero where b is zero; d/db = y ln a, zero where a is zero and b is not negative.
                let less = g.add_scalar(x[1], -1.0)?;
                let p = g.binary(Pow, x[0], less)?;
                let p = g.mul(x[1], p)?;
                let zero = g.zeros_like(p)?;
                let is0 = g.binary(Eq, x[1], zero)?;
                let p = g.select(is0, zero, p)?;
                let (none, rises) = (g.binary(Eq, x[0], zero)?, g.binary(Ge, x[1], zero)?);
                let none = g.binary(And, none, rises)?;
                let one = g.add_scalar(zero, 1.0)?;
                let safe = g.select(none, one, x[0])?;
                let ln = g.unary(Log, safe)?;
                let t = g.mul(y, ln)?;
                Ok(vec![Some(g.mul(dy, p)?), Some(g.mul(dy, t)?)])
            }),
        ),
        row(
            Atan2,
            "atan2",
            2,
            Float,
            16,
            |x, _| x[0].atan2(x[1]),
            Some(|g, x, _, dy| {
                let a2 = g.mul(x[0], x[0])?;
                let b2 = g.mul(x[1], x[1])?;
                let r = g.add(a2, b2)?;
                // The origin has no angle, and no slope.
                let zero = g.full_like(r, 0.0)?;
                let (none, one) = (g.binary(Eq, r, zero)?, g.full_like(r, 1.0)?);
                let safe = g.select(none, one, r)?;
                let t = g.div(dy, safe)?;
                let da = g.mul(t, x[1])?;
                let db = g.mul(t, x[0])?;
                Ok(vec![Some(da), Some(g.neg(db)?)])
            }),
        ),
        row(
            Fmod,
            "fmod",
            2,
            Numeric,
            8,
            |x, d| if d.is_int() && x[1] == 0.0 { 0.0 } else { x[0] % x[1] },
            Some(|g, x, _, dy| {
                let q = g.div(x[0], x[1])?;
                let q = g.unary(Trunc, q)?;
                let t = g.mul(dy, q)?;
                Ok(vec![Some(dy), Some(g.neg(t)?)])
            }),
        ),
        row(FloorDiv, "floor_div", 2, Integer, 8, |x, _| if x[1] == 0.0 { 0.0 } else { (x[0] / x[1]).floor() }, None),
        row(
            Copysign,
            "copysign",
            2,
            Float,
            2,
            |x, _| x[0].copysign(x[1]),
            Some(|g, x, y, dy| {
                // y = |x| s: d/dx = sign(x) s = y / x, and zero at zero.
                let zero = g.zeros_like(x[0])?;
                let is0 = g.binary(Eq, x[0], zero)?;
                let q = g.div(y, x[0])?;
                let t = g.mul(dy, q)?;
                Ok(vec![Some(g.select(is0, zero, t)?), None])
            }),
        ),
        row(And, "and", 2, Bits, 1, |x, d| from_bits(int_bits(x[0]) & int_bits(x[1]), d), None),
        row(Or, "or", 2, Bits, 1, |x, d| from_bits(int_bits(x[0]) | int_bits(x[1]), d), None),
        row(Xor, "xor", 2, Bits, 1, |x, d| from_bits(int_bits(x[0]) ^ int_bits(x[1]), d), None),
        // Shift counts are taken modulo 32, as on every target.
        row(Shl, "shl", 2, Integer, 1, |x, d| from_bits(int_bits(x[0]) << (int_bits(x[1]) & 31), d), None),
        row(
            Shr,
            "shr",
            2,
            Integer,
            1,
            |x, d| match d {
                DType::U32 => (int_bits(x[0]) >> (int_bits(x[1]) & 31)) as f64,
                _ => (int_bits(x[0]) as i32 >> (int_bits(x[1]) & 31)) as f64,
            },
            None,
        ),
        row(Eq, "eq", 2, Compare, 1, |x, _| b(x[0] == x[1]), None),
        row(Ne, "ne", 2, Compare, 1, |x, _| b(x[0] != x[1]), None),
        row(Lt, "lt", 2, Compare, 1, |x, _| b(x[0] < x[1]), None),
        row(Le, "le", 2, Compare, 1, |x, _| b(x[0] <= x[1]), None),
        row(Gt, "gt", 2, Compare, 1, |x, _| b(x[0] > x[1]), None),
        row(Ge, "ge", 2, Compare, 1, |x, _| b(x[0] >= x[1]), None),
        row(
            ScalarOp::Select,
            "select",
            3,
            Types::Select,
            1,
            |x, _| if x[0] != 0.0 { x[1] } else { x[2] },
            Some(|g, x, _, dy| {
                let zero = g.zeros_like(dy)?;
                Ok(vec![None, Some(g.select(x[0], dy, zero)?), Some(g.select(x[0], zero, dy)?)])
            }),
        ),
        row(Threefry, "threefry", 4, Words, 80, |x, _| threefry2x32(x[0] as u32, x[1] as u32, x[2] as u32, x[3] as u32) as f64, None),
        // The lowest bit of the last operand says which of the two output words.
        row(
            ThreefryWord,
            "threefry_word",
            5,
            Words,
            80,
            |x, _| threefry2x32_words(x[0] as u32, x[1] as u32, x[2] as u32, x[3] as u32)[(x[4] as u32 & 1) as usize] as f64,
            None,
        ),
    ]
};

fn one_minus_square(g: &mut Builder, x: ValueId) -> Result<ValueId> {
    let t = g.mul(x, x)?;
    let t = g.neg(t)?;
    g.add_scalar(t, 1.0)
}

// (1 - x) (1 + x): near 1 the square itself would lose the difference.
fn one_minus_square_factored(g: &mut Builder, x: ValueId) -> Result<ValueId> {
    let n = g.neg(x)?;
    let (below, above) = (g.add_scalar(n, 1.0)?, g.add_scalar(x, 1.0)?);
    g.mul(below, above)
}

/// The standard normal distribution's density, e^(-x^2 / 2) / sqrt(2 pi), as one power of two.
pub(crate) fn normal_density(g: &mut Builder, x: ValueId) -> Result<ValueId> {
    let t = g.mul(x, x)?;
    let t = g.mul_scalar(t, -0.5 * std::f64::consts::LOG2_E)?;
    let t = g.add_scalar(t, -(2.0 * std::f64::consts::PI).log2() / 2.0)?;
    g.unary(ScalarOp::Exp2, t)
}

// The winner takes the gradient; a tie shares it equally, as PyTorch's maximum and minimum do.
fn extremum_grad(g: &mut Builder, wins: ScalarOp, x: &[ValueId], dy: ValueId) -> Result<Vec<Option<ValueId>>> {
    let zero = g.zeros_like(dy)?;
    let half = g.mul_scalar(dy, 0.5)?;
    let tie = g.binary(ScalarOp::Eq, x[0], x[1])?;
    // What does not lose takes the gradient: both, beside a NaN.
    let share = |g: &mut Builder, a, b| {
        let lost = g.binary(wins, b, a)?;
        let t = g.select(lost, zero, dy)?;
        g.select(tie, half, t)
    };
    let da = share(g, x[0], x[1])?;
    let db = share(g, x[1], x[0])?;
    Ok(vec![Some(da), Some(db)])
}
