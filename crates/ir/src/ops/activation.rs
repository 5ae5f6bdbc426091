//! Activation functions: torch.nn.functional's pointwise ones, softmax and log_softmax.
//!
//! Derivatives are given where the result or the input alone gives a shorter one than the decomposition, and where
//! PyTorch's value at a kink has to be kept.

use super::pointwise::sigmoid;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::{ScalarOp, normal_density};

pub static OPS: &[OpDef] = &[
    op!("relu", "Tensor input", "max(x, 0)", relu, |b, v| {
        // Masked by the result, so that the pre-activation need not be kept.
        let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
        let zero = b.zeros_like(dy)?;
        let off = b.scalar(ScalarOp::Le, v.outputs[0], 0.0)?;
        Ok(vec![Some(b.select(off, zero, dy)?)])
    }),
    op!("relu6", "Tensor input", "min(max(x, 0), 6)", |b, x, _| Ok(vec![bounded(b, x[0], 0.0, 6.0)?]), |b, v| bounded_vjp(b, v, 0.0, 6.0)),
    op!(
        "hardtanh",
        "Tensor input, float min_val=-1.0, float max_val=1.0",
        "min(max(x, min_val), max_val)",
        |b, x, a| {
            let (lo, hi) = (a.float("min_val")?, a.float("max_val")?);
            if lo > hi {
                return Err(b.error(format!("min_val {lo} is above max_val {hi}"), "give bounds in order"));
            }
            Ok(vec![bounded(b, x[0], lo, hi)?])
        },
        |b, v| bounded_vjp(b, v, v.attrs.float("min_val")?, v.attrs.float("max_val")?),
    ),
    op!("hardsigmoid", "Tensor input", "min(max(x + 3, 0), 6) / 6", |b, x, _| Ok(vec![hardsigmoid(b, x[0])?]), hardsigmoid_vjp),
    op!("hardswish", "Tensor input", "x * hardsigmoid(x)", hardswish, |b, v| {
        let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
        let x = v.inputs[0];
        let zero = b.zeros_like(dy)?;
        let slope = b.mul_scalar(x, 1.0 / 3.0)?;
        let slope = b.add_scalar(slope, 0.5)?;
        let middle = b.mul(dy, slope)?;
        let (high, low) = (b.scalar(ScalarOp::Ge, x, 3.0)?, b.scalar(ScalarOp::Le, x, -3.0)?);
        let d = b.select(high, dy, middle)?;
        Ok(vec![Some(b.select(low, zero, d)?)])
    }),
    op!("leaky_relu", "Tensor input, float negative_slope=0.01", "x where positive, else negative_slope * x.", |b, x, a| {
        let slope = a.float("negative_slope")?;
        whole_numbers(b, x[0], &[("negative_slope", slope)])?;
        let scaled = b.mul_scalar(x[0], slope)?;
        let pos = b.scalar(ScalarOp::Gt, x[0], 0.0)?;
        Ok(vec![b.select(pos, x[0], scaled)?])
    }),
    op!(
        "prelu",
        "Tensor input, Tensor weight",
        "x where positive, else weight * x; one weight, or one for each channel (dimension 1).",
        prelu
    )
    .low(),
    op!("threshold", "Tensor input, float threshold, float value", "x where above the threshold, else the value.", |b, x, a| {
        let (threshold, value) = (a.float("threshold")?, a.float("value")?);
        whole_numbers(b, x[0], &[("value", value)])?;
        // A NaN is not below and stays.
        let below = b.scalar(ScalarOp::Le, x[0], threshold)?;
        let v = b.full_like(x[0], value)?;
        Ok(vec![b.select(below, v, x[0])?])
    }),
    op!("elu", "Tensor input, float alpha=1.0", "x where positive, else alpha * (e^x - 1).", |b, x, a| {
        let alpha = a.float("alpha")?;
        Ok(vec![exponential_unit(b, x[0], alpha, 1.0)?])
    }),
    op!("celu", "Tensor input, float alpha=1.0", "x where positive, else alpha * (e^(x / alpha) - 1).", |b, x, a| {
        let alpha = a.float("alpha")?;
        if alpha == 0.0 {
            return Err(b.error("alpha cannot be 0", "use relu(), which celu() tends to"));
        }
        Ok(vec![exponential_unit(b, x[0], alpha, alpha)?])
    }),
    op!("selu", "Tensor input", "Scaled elu with the fixed point of self-normalising networks.", |b, x, _| {
        let y = exponential_unit(b, x[0], 1.673_263_242_354_377_2, 1.0)?;
        Ok(vec![b.mul_scalar(y, 1.050_700_987_355_480_5)?])
    }),
    op!(
        "silu",
        "Tensor input",
        "x * sigmoid(x)",
        |b, x, _| {
            let s = sigmoid(b, x[0])?;
            Ok(vec![b.mul(x[0], s)?])
        },
        |b, v| {
            // s (1 + x (1 - s))
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let s = sigmoid(b, v.inputs[0])?;
            let t = one_minus(b, s)?;
            let t = b.mul(v.inputs[0], t)?;
            let t = b.add_scalar(t, 1.0)?;
            let t = b.mul(s, t)?;
            Ok(vec![Some(b.mul(dy, t)?)])
        },
    ),
    op!("mish", "Tensor input", "x * tanh(softplus(x))", |b, x, _| {
        let s = b.op("softplus", x, &Attrs::new())?[0];
        let t = b.unary(ScalarOp::Tanh, s)?;
        Ok(vec![b.mul(x[0], t)?])
    }),
    op!("gelu", "Tensor input, *, str approximate=\"none\"", "x * Phi(x); by tanh when approximate is \"tanh\".", gelu, gelu_vjp),
    op!(
        "softplus",
        "Tensor input, float beta=1.0, float threshold=20.0",
        "log(1 + e^(beta x)) / beta, linear where beta x is above the threshold.",
        softplus,
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let bx = b.mul_scalar(v.inputs[0], v.attrs.float("beta")?)?;
            let s = sigmoid(b, bx)?;
            let d = b.mul(dy, s)?;
            let linear = b.scalar(ScalarOp::Gt, bx, v.attrs.float("threshold")?)?;
            Ok(vec![Some(b.select(linear, dy, d)?)])
        }
    )
    .full(),
    op!(
        "logsigmoid",
        "Tensor input",
        "log(sigmoid(x)). PyTorch: torch.nn.functional.logsigmoid.",
        |b, x, _| Ok(vec![logsigmoid(b, x[0])?]),
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let n = b.neg(v.inputs[0])?;
            let s = sigmoid(b, n)?;
            Ok(vec![Some(b.mul(dy, s)?)])
        }
    ),
    op!("softsign", "Tensor input", "x / (1 + |x|)", |b, x, _| {
        let x = b.float(x[0])?;
        let d = b.unary(ScalarOp::Abs, x)?;
        let d = b.add_scalar(d, 1.0)?;
        Ok(vec![b.div(x, d)?])
    }),
    op!("tanhshrink", "Tensor input", "x - tanh(x)", |b, x, _| {
        let t = b.unary(ScalarOp::Tanh, x[0])?;
        Ok(vec![b.sub(x[0], t)?])
    }),
    op!("glu", "Tensor input, int dim=-1", "a * sigmoid(b) of the two halves along dim.", glu),
    op!(
        "softmax",
        "Tensor input, int dim=-1, ScalarType? dtype=None",
        "e^x over its sum along dim.",
        |b, x, a| {
            let x = match a.opt_dtype("dtype")? {
                Some(d) => b.cast(x[0], d)?,
                None => x[0],
            };
            Ok(vec![softmax(b, x, a.int("dim")?)?])
        },
        |b, v| {
            // By the result: y (dy - sum(dy y)).
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let (y, dims) = (v.outputs[0], reduced(b, v.outputs[0], v.attrs)?);
            let t = b.mul(dy, y)?;
            let s = b.sum(t, &dims, true)?;
            let d = b.sub(dy, s)?;
            Ok(vec![Some(b.mul(y, d)?)])
        }
    )
    .full(),
    op!(
        "log_softmax",
        "Tensor input, int dim=-1, ScalarType? dtype=None",
        "log(softmax(x)) along dim.",
        |b, x, a| {
            let x = match a.opt_dtype("dtype")? {
                Some(d) => b.cast(x[0], d)?,
                None => x[0],
            };
            Ok(vec![log_softmax(b, x, a.int("dim")?)?])
        },
        |b, v| {
            // By the result: dy - e^y sum(dy).
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let dims = reduced(b, v.outputs[0], v.attrs)?;
            let e = b.unary(ScalarOp::Exp, v.outputs[0])?;
            let s = b.sum(dy, &dims, true)?;
            let t = b.mul(e, s)?;
            Ok(vec![Some(b.sub(dy, t)?)])
        },
    )
    .full(),
];

fn one_minus(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let n = b.neg(x)?;
    b.add_scalar(n, 1.0)
}

// The dimension that softmax normalises along; none for a scalar.
fn reduced(b: &Builder, x: ValueId, a: &Attrs) -> Result<Vec<usize>> {
    let dim = a.int("dim")?;
    b.dims(x, Some(&[dim]))
}

fn relu(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    no_truth_values(b, x)?;
    Ok(vec![b.scalar(ScalarOp::Max, x[0], 0.0)?])
}

/// Refuses operands of bool, which have no order, sign or difference.
pub(super) fn no_truth_values(b: &Builder, x: &[ValueId]) -> Result<()> {
    match x.iter().any(|v| b.dtype(*v) == DType::Bool) {
        false => Ok(()),
        true => Err(b.error("computes with truth values", "convert them to numbers with to()")),
    }
}

/// Refuses fractions beside a tensor of integers, which would have to round them.
pub(super) fn whole_numbers(b: &Builder, x: ValueId, numbers: &[(&str, f64)]) -> Result<()> {
    match numbers.iter().find(|(_, v)| !b.dtype(x).is_float() && v.fract() != 0.0) {
        None => Ok(()),
        Some((name, v)) => {
            let problem = format!("{name} = {v} is no value of {}", b.dtype(x));
            Err(b.error(problem, "give a whole number, or convert the tensor to a float type with to()"))
        }
    }
}

fn bounded(b: &mut Builder, x: ValueId, lo: f64, hi: f64) -> Result<ValueId> {
    no_truth_values(b, &[x])?;
    let y = b.scalar(ScalarOp::Max, x, lo)?;
    b.scalar(ScalarOp::Min, y, hi)
}

// Nothing passes at the bounds themselves; a NaN is not beyond them, as in PyTorch.
fn bounded_vjp(b: &mut Builder, v: &VjpArgs, lo: f64, hi: f64) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let zero = b.zeros_like(dy)?;
    let below = b.scalar(ScalarOp::Le, v.inputs[0], lo)?;
    let above = b.scalar(ScalarOp::Ge, v.inputs[0], hi)?;
    let beyond = b.binary(ScalarOp::Or, below, above)?;
    Ok(vec![Some(b.select(beyond, zero, dy)?)])
}

// Between the bounds alone: not at a NaN, as in PyTorch.
fn hardsigmoid_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let zero = b.zeros_like(dy)?;
    let d = b.mul_scalar(dy, 1.0 / 6.0)?;
    let above = b.scalar(ScalarOp::Gt, v.inputs[0], -3.0)?;
    let below = b.scalar(ScalarOp::Lt, v.inputs[0], 3.0)?;
    let inside = b.binary(ScalarOp::And, above, below)?;
    Ok(vec![Some(b.select(inside, d, zero)?)])
}

fn hardsigmoid(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let t = b.float(x)?;
    let t = b.add_scalar(t, 3.0)?;
    let t = bounded(b, t, 0.0, 6.0)?;
    b.mul_scalar(t, 1.0 / 6.0)
}

fn hardswish(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let s = hardsigmoid(b, x[0])?;
    Ok(vec![b.mul(x[0], s)?])
}

fn prelu(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let (x, mut w) = (x[0], x[1]);
    super::linalg::one_type(b, &[x, w])?;
    if b.rank(w) > 1 {
        return Err(b.error("the weight has several dimensions", "give one weight, or a vector of one for each channel"));
    }
    if b.rank(w) == 0 || b.shape(w)[0].is_one() {
        w = b.reshape(w, Vec::new())?;
    } else {
        let channels = b.shape(x).get(1).cloned().unwrap_or(crate::expr::Dim::ONE);
        let weights = b.shape(w)[0].clone();
        if !b.graph.env.equal(&channels, &weights, "one weight for each channel") {
            let text = format!("{} weights for {} channels", b.graph.env.show(&weights), b.graph.env.show(&channels));
            return Err(b.error(text, "give one weight, or one for each element of dimension 1"));
        }
        let mut shape = vec![crate::expr::Dim::ONE; b.rank(x)];
        shape[1] = weights;
        w = b.reshape(w, shape)?;
    }
    let scaled = b.mul(w, x)?;
    let pos = b.scalar(ScalarOp::Gt, x, 0.0)?;
    Ok(vec![b.select(pos, x, scaled)?])
}

// x where positive, else alpha (e^(x / width) - 1). The exponential never sees a positive number, so its unused half
// cannot overflow and spoil the gradient.
fn exponential_unit(b: &mut Builder, x: ValueId, alpha: f64, width: f64) -> Result<ValueId> {
    let x = b.float(x)?;
    let zero = b.zeros_like(x)?;
    // A NaN counts as positive, whose gradient is the result's, as in PyTorch.
    let below = b.binary(ScalarOp::Le, x, zero)?;
    let n = b.select(below, x, zero)?;
    let n = b.mul_scalar(n, 1.0 / width)?;
    let e = b.unary(ScalarOp::Expm1, n)?;
    let e = b.mul_scalar(e, alpha)?;
    b.select(below, e, x)
}

const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
const GELU_CUBIC: f64 = 0.044715;

fn gelu_cdf(b: &mut Builder, x: ValueId, a: &Attrs) -> Result<ValueId> {
    match a.str("approximate")? {
        "none" => b.unary(ScalarOp::Ndtr, x),
        "tanh" => {
            // (1 + tanh(u)) / 2 = sigmoid(2u), and 2u = 2 sqrt(2/pi) (x + 0.044715 x^3).
            let t = b.mul(x, x)?;
            let t = b.mul_scalar(t, 2.0 * SQRT_2_OVER_PI * GELU_CUBIC)?;
            let t = b.add_scalar(t, 2.0 * SQRT_2_OVER_PI)?;
            let t = b.mul(x, t)?;
            b.unary(ScalarOp::Sigmoid, t)
        }
        other => Err(b.error(format!("unknown approximation {other:?}"), "use \"none\" or \"tanh\"")),
    }
}

fn gelu(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let x = b.float(x[0])?;
    let c = gelu_cdf(b, x, a)?;
    Ok(vec![b.mul(x, c)?])
}

fn gelu_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let x = v.inputs[0];
    let cdf = gelu_cdf(b, x, v.attrs)?;
    let density = if v.attrs.str("approximate")? == "none" {
        normal_density(b, x)?
    } else {
        // Of sigmoid(2u): s (1 - s) d(2u)/dx.
        let t = one_minus(b, cdf)?;
        let t = b.mul(cdf, t)?;
        let x2 = b.mul(x, x)?;
        let u = b.mul_scalar(x2, 6.0 * SQRT_2_OVER_PI * GELU_CUBIC)?;
        let u = b.add_scalar(u, 2.0 * SQRT_2_OVER_PI)?;
        b.mul(t, u)?
    };
    let t = b.mul(x, density)?;
    let t = b.add(cdf, t)?;
    Ok(vec![Some(b.mul(dy, t)?)])
}

// max(z, 0) + log1p(e^-|z|)
fn log_one_plus_exp(b: &mut Builder, z: ValueId) -> Result<ValueId> {
    let m = b.unary(ScalarOp::Abs, z)?;
    let m = b.neg(m)?;
    let e = b.unary(ScalarOp::Exp, m)?;
    let l = b.unary(ScalarOp::Log1p, e)?;
    let p = b.scalar(ScalarOp::Max, z, 0.0)?;
    b.add(p, l)
}

fn softplus(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (beta, threshold) = (a.float("beta")?, a.float("threshold")?);
    let x = b.float(x[0])?;
    let bx = b.mul_scalar(x, beta)?;
    let l = log_one_plus_exp(b, bx)?;
    let l = b.mul_scalar(l, 1.0 / beta)?;
    let linear = b.scalar(ScalarOp::Gt, bx, threshold)?;
    Ok(vec![b.select(linear, x, l)?])
}

/// min(x, 0) - log1p(e^-|x|)
pub fn logsigmoid(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let x = b.float(x)?;
    let n = b.neg(x)?;
    let l = log_one_plus_exp(b, n)?;
    b.neg(l)
}

fn glu(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = b.dim(x[0], a.int("dim")?)?;
    let shape = b.shape(x[0]);
    let half = shape.get(dim).and_then(|n| n.exact_div(&2i64.into()));
    let Some(half) = half else { return Err(b.error(format!("dimension {dim} cannot be halved"), "use an even size")) };
    let left = b.narrow(x[0], dim, 0i64.into(), half.clone())?;
    let right = b.narrow(x[0], dim, half.clone(), half)?;
    let s = sigmoid(b, right)?;
    Ok(vec![b.mul(left, s)?])
}

/// The largest value along `dims`, through which no gradient flows: what is subtracted before an exponential.
pub fn shift(b: &mut Builder, x: ValueId, dims: &[usize]) -> Result<ValueId> {
    let mut shape = b.shape(x);
    if dims.iter().any(|d| shape[*d].is_zero()) {
        // Nothing is largest, and nothing is shifted.
        dims.iter().for_each(|d| shape[*d] = crate::expr::Dim::ONE);
        let dtype = b.dtype(x);
        return b.full(&shape, 0.0, dtype);
    }
    let m = b.reduce(ReduceOp::Max, x, dims, true)?;
    b.prim(Prim::Detach, &[m])
}

/// Three passes over a row that fuse into one kernel: maximum, sum of exponentials, quotient.
pub fn softmax(b: &mut Builder, x: ValueId, dim: i64) -> Result<ValueId> {
    let x = b.float(x)?;
    let dims = b.dim(x, dim).and_then(|_| b.dims(x, Some(&[dim])))?;
    let m = shift(b, x, &dims)?;
    let d = b.sub(x, m)?;
    let e = b.unary(ScalarOp::Exp, d)?;
    let s = b.sum(e, &dims, true)?;
    b.div(e, s)
}

pub fn log_softmax(b: &mut Builder, x: ValueId, dim: i64) -> Result<ValueId> {
    let x = b.float(x)?;
    let dims = b.dim(x, dim).and_then(|_| b.dims(x, Some(&[dim])))?;
    let m = shift(b, x, &dims)?;
    let d = b.sub(x, m)?;
    let e = b.unary(ScalarOp::Exp, d)?;
    let s = b.sum(e, &dims, true)?;
    let l = b.unary(ScalarOp::Log, s)?;
    b.sub(d, l)
}
