//! Complex numbers as pairs: a tensor of complex numbers is a real tensor whose last dimension has the real and the imaginary part, as
//! torch.view_as_real shows it. No prim and no target knows of them.
//!
//! Gradients are pairs too, of the derivatives by the two parts: PyTorch's convention, the conjugate of the Wirtinger derivative. For a
//! holomorphic function f that makes the gradient of the operand conj(f') times that of the result, which the derivatives here use.
//! Sums, shapes, and sums of pairs are the real operators'.

use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("complex", "Tensor real, Tensor imag", "The complex numbers of two tensors of parts.", |b, x, _| {
        parts_of_one_type(b, x)?;
        let xy = b.promote(x)?;
        Ok(vec![pair(b, Parts { re: xy[0], im: xy[1] })?])
    }),
    op!(
        "polar",
        "Tensor abs, Tensor angle",
        "The complex numbers of absolute values and angles.",
        |b, x, _| {
            parts_of_one_type(b, x)?;
            let xy = b.promote(x)?;
            let (cos, sin) = (b.unary(ScalarOp::Cos, xy[1])?, b.unary(ScalarOp::Sin, xy[1])?);
            let parts = Parts { re: b.mul(xy[0], cos)?, im: b.mul(xy[0], sin)? };
            Ok(vec![pair(b, parts)?])
        },
        |b, v| {
            // By the direction of the result, as PyTorch's: a negative abs points the other way.
            let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
            let (g, y) = (parts(b, dy)?, parts(b, v.outputs[0])?);
            let abs = b.unary(ScalarOp::Abs, v.inputs[0])?;
            let (p, q) = (b.mul(g.re, y.re)?, b.mul(g.im, y.im)?);
            let along = b.add(p, q)?;
            let safe = nonzero(b, abs)?;
            let (p, q) = (b.mul(g.im, y.re)?, b.mul(g.re, y.im)?);
            Ok(vec![Some(b.div(along, safe)?), Some(b.sub(p, q)?)])
        }
    ),
    op!("real", "Tensor input", "The real parts of complex numbers.", |b, x, _| Ok(vec![parts(b, x[0])?.re])),
    op!("imag", "Tensor input", "The imaginary parts of complex numbers.", |b, x, _| Ok(vec![parts(b, x[0])?.im])),
    op!("conj", "Tensor input", "Complex numbers with the imaginary part negated.", |b, x, _| Ok(vec![conj(b, x[0])?])),
    op!(
        "complex_abs",
        "Tensor input",
        "The absolute values of complex numbers. PyTorch: torch.abs.",
        |b, x, _| {
            let z = parts(b, x[0])?;
            Ok(vec![b.op("hypot", &[z.re, z.im], &Attrs::new())?[0]])
        },
        |b, v| {
            // z / |z|, zero at zero.
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let safe = nonzero(b, v.outputs[0])?;
            let scale = b.div(dy, safe)?;
            Ok(vec![Some(scaled(b, v.inputs[0], scale)?)])
        }
    ),
    op!(
        "angle",
        "Tensor input",
        "The angles of complex numbers in radians.",
        |b, x, _| {
            let z = parts(b, x[0])?;
            Ok(vec![b.binary(ScalarOp::Atan2, z.im, z.re)?])
        },
        |b, v| {
            // i z / |z|^2, zero at zero.
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let z = parts(b, v.inputs[0])?;
            let (a, c) = (b.mul(z.re, z.re)?, b.mul(z.im, z.im)?);
            let square = b.add(a, c)?;
            let safe = nonzero(b, square)?;
            let scale = b.div(dy, safe)?;
            let turned = Parts { re: b.neg(z.im)?, im: z.re };
            let turned = pair(b, turned)?;
            Ok(vec![Some(scaled(b, turned, scale)?)])
        }
    ),
    op!(
        "complex_mul",
        "Tensor input, Tensor other",
        "Products of complex numbers. PyTorch: torch.mul.",
        |b, x, _| Ok(vec![mul(b, x[0], x[1])?]),
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
            let (x, y) = (conj(b, v.inputs[0])?, conj(b, v.inputs[1])?);
            Ok(vec![Some(mul(b, dy, y)?), Some(mul(b, dy, x)?)])
        }
    ),
    op!(
        "complex_div",
        "Tensor input, Tensor other",
        "Quotients of complex numbers. PyTorch: torch.div.",
        |b, x, _| Ok(vec![div(b, x[0], x[1])?]),
        |b, v| {
            // dy / conj(y), and that times -conj(x / y).
            let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
            let y = conj(b, v.inputs[1])?;
            let left = div(b, dy, y)?;
            let q = conj(b, v.outputs[0])?;
            let right = mul(b, left, q)?;
            Ok(vec![Some(left), Some(b.neg(right)?)])
        }
    ),
    op!("complex_eq", "Tensor input, Tensor other", "Whether complex numbers are equal, both parts. PyTorch: torch.eq.", |b, x, _| {
        let xy = b.promote(x)?;
        let (x, y) = (parts(b, xy[0])?, parts(b, xy[1])?);
        let (re, im) = (b.binary(ScalarOp::Eq, x.re, y.re)?, b.binary(ScalarOp::Eq, x.im, y.im)?);
        Ok(vec![b.binary(ScalarOp::And, re, im)?])
    }),
    op!("complex_exp", "Tensor input", "e^x of complex numbers. PyTorch: torch.exp.", |b, x, _| Ok(vec![exp(b, x[0])?]), |b, v| {
        holomorphic(b, v, |_, _, y| Ok(y))
    }),
    op!(
        "complex_log",
        "Tensor input",
        "The principal logarithm of complex numbers. PyTorch: torch.log.",
        |b, x, _| Ok(vec![log(b, x[0])?]),
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let x = conj(b, v.inputs[0])?;
            Ok(vec![Some(div(b, dy, x)?)])
        }
    ),
    op!("complex_sqrt", "Tensor input", "The principal square root of complex numbers. PyTorch: torch.sqrt.", sqrt, |b, v| {
        let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
        let y = conj(b, v.outputs[0])?;
        let y = b.mul_scalar(y, 2.0)?;
        Ok(vec![Some(div(b, dy, y)?)])
    }),
    op!(
        "complex_pow",
        "Tensor input, Tensor other",
        "Powers of complex numbers, e^(y log x). PyTorch: torch.pow.",
        |b, x, _| Ok(vec![pow(b, x[0], x[1])?]),
        pow_vjp
    ),
    op!("complex_sin", "Tensor input", "Sine of complex numbers. PyTorch: torch.sin.", |b, x, _| Ok(vec![sin(b, x[0])?]), |b, v| {
        holomorphic(b, v, |b, x, _| cos(b, x))
    }),
    op!("complex_cos", "Tensor input", "Cosine of complex numbers. PyTorch: torch.cos.", |b, x, _| Ok(vec![cos(b, x[0])?]), |b, v| {
        holomorphic(b, v, |b, x, _| {
            let s = sin(b, x)?;
            b.neg(s)
        })
    }),
    op!(
        "complex_tan",
        "Tensor input",
        "Tangent of complex numbers. PyTorch: torch.tan.",
        |b, x, _| {
            // -i tanh(i x)
            let z = parts(b, x[0])?;
            let turned = Parts { re: b.neg(z.im)?, im: z.re };
            let t = tanh(b, turned)?;
            let y = Parts { re: t.im, im: b.neg(t.re)? };
            Ok(vec![pair(b, y)?])
        },
        |b, v| holomorphic(b, v, |b, _, y| {
            let y2 = mul(b, y, y)?;
            one_plus(b, y2)
        })
    ),
    op!(
        "complex_sinh",
        "Tensor input",
        "Hyperbolic sine of complex numbers. PyTorch: torch.sinh.",
        |b, x, _| Ok(vec![sinh(b, x[0])?]),
        |b, v| { holomorphic(b, v, |b, x, _| cosh(b, x)) }
    ),
    op!(
        "complex_cosh",
        "Tensor input",
        "Hyperbolic cosine of complex numbers. PyTorch: torch.cosh.",
        |b, x, _| Ok(vec![cosh(b, x[0])?]),
        |b, v| { holomorphic(b, v, |b, x, _| sinh(b, x)) }
    ),
    op!(
        "complex_tanh",
        "Tensor input",
        "Hyperbolic tangent of complex numbers. PyTorch: torch.tanh.",
        |b, x, _| {
            let z = parts(b, x[0])?;
            let y = tanh(b, z)?;
            Ok(vec![pair(b, y)?])
        },
        |b, v| holomorphic(b, v, |b, _, y| {
            let y2 = mul(b, y, y)?;
            let n = b.neg(y2)?;
            one_plus(b, n)
        })
    ),
    op!(
        "complex_matmul",
        "Tensor input, Tensor other",
        "Matrix products of complex numbers, one real product of twice the width. PyTorch: torch.matmul.",
        matmul
    ),
    op!(
        "complex_linear",
        "Tensor input, Tensor weight, Tensor? bias=None",
        "x @ weight^T + bias of complex numbers, without conjugation. PyTorch: torch.nn.functional.linear.",
        linear
    ),
    op!(
        "complex_einsum",
        "Tensor[] operands, str equation",
        "Einstein summation of one or two tensors of complex numbers. PyTorch: torch.einsum.",
        einsum
    ),
    op!(
        "complex_conv1d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1]|str padding=0, int[1] dilation=1, int groups=1",
        "conv1d of complex numbers, one real convolution of twice the channels.",
        |b, x, a| conv(b, x, a, 1)
    ),
    op!(
        "complex_conv2d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2]|str padding=0, int[2] dilation=1, int groups=1",
        "conv2d of complex numbers, one real convolution of twice the channels.",
        |b, x, a| conv(b, x, a, 2)
    ),
];

/// The two parts of complex numbers, each of their shape.
#[derive(Clone, Copy)]
pub struct Parts {
    pub re: ValueId,
    pub im: ValueId,
}

/// Refuses what is not a float tensor of pairs.
pub fn check(b: &Builder, x: ValueId) -> Result<()> {
    if b.dtype(x).is_float() && b.shape(x).last().is_some_and(|d| d.as_const() == Some(2)) {
        return Ok(());
    }
    let show = b.graph.env.show_type(b.ty(x));
    Err(b.error(
        format!("{show} is not a tensor of complex numbers"),
        "give float pairs along the last dimension, or make them with complex()",
    ))
}

pub fn parts(b: &mut Builder, x: ValueId) -> Result<Parts> {
    check(b, x)?;
    let last = b.rank(x) - 1;
    let shape = b.shape(x)[..last].to_vec();
    let mut part = |i: i64| {
        let v = b.narrow(x, last, Dim::Const(i), Dim::ONE)?;
        b.reshape(v, shape.clone())
    };
    Ok(Parts { re: part(0)?, im: part(1)? })
}

// Real and imaginary parts, or absolute values and angles: floats, both of one type.
fn parts_of_one_type(b: &Builder, x: &[ValueId]) -> Result<()> {
    if let Some(v) = x.iter().find(|v| !b.dtype(**v).is_float()) {
        return Err(b.error(format!("parts of {}", b.dtype(*v)), "convert them to a float type with to()"));
    }
    super::linalg::one_type(b, x)
}

pub fn pair(b: &mut Builder, z: Parts) -> Result<ValueId> {
    let both = b.broadcast(&[z.re, z.im])?;
    let last = b.rank(both[0]);
    let (re, im) = (b.unsqueeze(both[0], last)?, b.unsqueeze(both[1], last)?);
    b.cat(&[re, im], last)
}

pub fn conj(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let z = Parts { im: b.neg(z.im)?, ..z };
    pair(b, z)
}

// Complex numbers times real ones.
fn scaled(b: &mut Builder, x: ValueId, by: ValueId) -> Result<ValueId> {
    let by = b.unsqueeze(by, b.rank(by))?;
    b.mul(x, by)
}

fn nonzero(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let is0 = b.scalar(ScalarOp::Eq, x, 0.0)?;
    let one = b.full_like(x, 1.0)?;
    b.select(is0, one, x)
}

pub fn mul(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let xy = b.promote(&[x, y])?;
    let (x, y) = (parts(b, xy[0])?, parts(b, xy[1])?);
    let z = mul_parts(b, x, y)?;
    pair(b, z)
}

/// The product of complex numbers.
pub fn mul_parts(b: &mut Builder, x: Parts, y: Parts) -> Result<Parts> {
    let (rr, ii) = (b.mul(x.re, y.re)?, b.mul(x.im, y.im)?);
    let (ri, ir) = (b.mul(x.re, y.im)?, b.mul(x.im, y.re)?);
    Ok(Parts { re: b.sub(rr, ii)?, im: b.add(ri, ir)? })
}

// By y scaled to a largest part of one, so that its square neither overflows nor vanishes.
fn div(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let xy = b.promote(&[x, y])?;
    let (x, y) = (parts(b, xy[0])?, parts(b, xy[1])?);
    let (p, q) = (b.unary(ScalarOp::Abs, y.re)?, b.unary(ScalarOp::Abs, y.im)?);
    let s = b.binary(ScalarOp::Max, p, q)?;
    let (re, im) = (b.div(y.re, s)?, b.div(y.im, s)?);
    let (rr, ii) = (b.mul(re, re)?, b.mul(im, im)?);
    let square = b.add(rr, ii)?;
    let scale = b.mul(square, s)?;
    let y = Parts { re, im: b.neg(im)? };
    let z = mul_parts(b, x, y)?;
    let z = Parts { re: b.div(z.re, scale)?, im: b.div(z.im, scale)? };
    pair(b, z)
}

fn one_plus(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let z = Parts { re: b.add_scalar(z.re, 1.0)?, ..z };
    pair(b, z)
}

// The derivative of a holomorphic function from f'(x), which is given x and f(x).
fn holomorphic(
    b: &mut Builder,
    v: &VjpArgs,
    slope: impl Fn(&mut Builder, ValueId, ValueId) -> Result<ValueId>,
) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let d = slope(b, v.inputs[0], v.outputs[0])?;
    let d = conj(b, d)?;
    Ok(vec![Some(mul(b, dy, d)?)])
}

fn log(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let abs = b.op("hypot", &[z.re, z.im], &Attrs::new())?[0];
    let z = Parts { re: b.unary(ScalarOp::Log, abs)?, im: b.binary(ScalarOp::Atan2, z.im, z.re)? };
    pair(b, z)
}

// t = sqrt((|z| + |re|) / 2) loses no digits; the other part is im / 2t.
fn sqrt(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let z = parts(b, x[0])?;
    let abs = b.op("hypot", &[z.re, z.im], &Attrs::new())?[0];
    let a = b.unary(ScalarOp::Abs, z.re)?;
    let t = b.add(abs, a)?;
    let t = b.mul_scalar(t, 0.5)?;
    let t = b.unary(ScalarOp::Sqrt, t)?;
    let twice = b.mul_scalar(t, 2.0)?;
    let twice = nonzero(b, twice)?;
    let other = b.div(z.im, twice)?;
    let right = b.scalar(ScalarOp::Ge, z.re, 0.0)?;
    let positive = b.unary(ScalarOp::Abs, other)?;
    let signed = b.binary(ScalarOp::Copysign, t, z.im)?;
    let y = Parts { re: b.select(right, t, positive)?, im: b.select(right, other, signed)? };
    // An infinite part leaves of the other the sign, or a NaN (Annex G of the C standard).
    let inf = b.full_like(t, f64::INFINITY)?;
    let rest = b.mul_scalar(z.im, 0.0)?;
    let (wide, high) = (b.unary(ScalarOp::IsInf, z.re)?, b.unary(ScalarOp::IsInf, z.im)?);
    let up = b.binary(ScalarOp::Copysign, inf, z.im)?;
    let far = Parts { re: b.select(right, inf, rest)?, im: b.select(right, rest, up)? };
    let y = Parts { re: b.select(wide, far.re, y.re)?, im: b.select(wide, far.im, y.im)? };
    let y = Parts { re: b.select(high, inf, y.re)?, im: b.select(high, z.im, y.im)? };
    Ok(vec![pair(b, y)?])
}

// Zero to any power but zero is zero.
fn pow(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let xy = b.promote(&[x, y])?;
    let (base, none) = base_of_pow(b, xy[0])?;
    let l = log(b, base)?;
    let e = mul(b, xy[1], l)?;
    let r = b.op("complex_exp", &[e], &Attrs::new())?[0];
    let (r, exponent) = (parts(b, r)?, parts(b, xy[1])?);
    let (p, q) = (b.scalar(ScalarOp::Eq, exponent.re, 0.0)?, b.scalar(ScalarOp::Eq, exponent.im, 0.0)?);
    let to0 = b.binary(ScalarOp::And, p, q)?;
    let (zero, one) = (b.zeros_like(r.re)?, b.full_like(r.re, 1.0)?);
    let at0 = b.select(to0, one, zero)?;
    let z = Parts { re: b.select(none, at0, r.re)?, im: b.select(none, zero, r.im)? };
    pair(b, z)
}

// The base with ones in place of zeros, and where those are.
fn base_of_pow(b: &mut Builder, x: ValueId) -> Result<(ValueId, ValueId)> {
    let z = parts(b, x)?;
    let (p, q) = (b.scalar(ScalarOp::Eq, z.re, 0.0)?, b.scalar(ScalarOp::Eq, z.im, 0.0)?);
    let none = b.binary(ScalarOp::And, p, q)?;
    let one = b.full_like(z.re, 1.0)?;
    let z = Parts { re: b.select(none, one, z.re)?, ..z };
    Ok((pair(b, z)?, none))
}

fn pow_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None, None]) };
    let xy = b.promote(&[v.inputs[0], v.inputs[1]])?;
    let (base, none) = base_of_pow(b, xy[0])?;
    let one = b.full_like(xy[1], 0.0)?;
    let one = one_plus(b, one)?;
    let less = b.sub(xy[1], one)?;
    // y x^(y - 1), also at zero, and x^y log x, nothing at zero.
    let p = pow(b, xy[0], less)?;
    let dx = mul(b, xy[1], p)?;
    let l = log(b, base)?;
    let de = mul(b, v.outputs[0], l)?;
    let none = b.unsqueeze(none, b.rank(none))?;
    let zero = b.zeros_like(de)?;
    let de = b.select(none, zero, de)?;
    let (dx, de) = (conj(b, dx)?, conj(b, de)?);
    Ok(vec![Some(mul(b, dy, dx)?), Some(mul(b, dy, de)?)])
}

// What grows times what turns. Zero times infinity is zero, and where an infinite part is turned by nobody knows what, the leading part is
// infinite: Annex G of the C standard, which PyTorch follows.
fn turned(b: &mut Builder, size: ValueId, wave: ValueId, leading: bool) -> Result<ValueId> {
    let y = b.mul(size, wave)?;
    let none = b.scalar(ScalarOp::Eq, wave, 0.0)?;
    let y = b.select(none, wave, y)?;
    if !leading {
        return Ok(y);
    }
    let (unknown, infinite) = (b.unary(ScalarOp::IsNan, wave)?, b.unary(ScalarOp::IsInf, size)?);
    let both = b.binary(ScalarOp::And, unknown, infinite)?;
    let inf = b.full_like(y, f64::INFINITY)?;
    b.select(both, inf, y)
}

fn exp(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let (e, c, s) = (b.unary(ScalarOp::Exp, z.re)?, b.unary(ScalarOp::Cos, z.im)?, b.unary(ScalarOp::Sin, z.im)?);
    let y = Parts { re: turned(b, e, c, true)?, im: turned(b, e, s, false)? };
    let none = b.scalar(ScalarOp::Eq, e, 0.0)?;
    let y = Parts { re: b.select(none, e, y.re)?, im: b.select(none, e, y.im)? };
    pair(b, y)
}

fn sin(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let (s, c) = (b.unary(ScalarOp::Sin, z.re)?, b.unary(ScalarOp::Cos, z.re)?);
    let (sh, ch) = (b.unary(ScalarOp::Sinh, z.im)?, b.unary(ScalarOp::Cosh, z.im)?);
    let y = Parts { re: turned(b, ch, s, false)?, im: turned(b, sh, c, true)? };
    pair(b, y)
}

fn cos(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let (s, c) = (b.unary(ScalarOp::Sin, z.re)?, b.unary(ScalarOp::Cos, z.re)?);
    let (sh, ch) = (b.unary(ScalarOp::Sinh, z.im)?, b.unary(ScalarOp::Cosh, z.im)?);
    let im = turned(b, sh, s, false)?;
    let y = Parts { re: turned(b, ch, c, true)?, im: b.neg(im)? };
    pair(b, y)
}

fn sinh(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let (s, c) = (b.unary(ScalarOp::Sin, z.im)?, b.unary(ScalarOp::Cos, z.im)?);
    let (sh, ch) = (b.unary(ScalarOp::Sinh, z.re)?, b.unary(ScalarOp::Cosh, z.re)?);
    let y = Parts { re: turned(b, sh, c, true)?, im: turned(b, ch, s, false)? };
    pair(b, y)
}

fn cosh(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let (s, c) = (b.unary(ScalarOp::Sin, z.im)?, b.unary(ScalarOp::Cos, z.im)?);
    let (sh, ch) = (b.unary(ScalarOp::Sinh, z.re)?, b.unary(ScalarOp::Cosh, z.re)?);
    let y = Parts { re: turned(b, ch, c, true)?, im: turned(b, sh, s, false)? };
    pair(b, y)
}

// With t = tanh(re), s = sin(im), c = cos(im): (t + i s c (1 - t^2)) / (c^2 + t^2 s^2). Nothing overflows.
fn tanh(b: &mut Builder, z: Parts) -> Result<Parts> {
    let t = b.unary(ScalarOp::Tanh, z.re)?;
    let (s, c) = (b.unary(ScalarOp::Sin, z.im)?, b.unary(ScalarOp::Cos, z.im)?);
    let t2 = b.mul(t, t)?;
    let n = b.neg(t2)?;
    let rest = b.add_scalar(n, 1.0)?;
    let sc = b.mul(s, c)?;
    let im = b.mul(sc, rest)?;
    let (c2, s2) = (b.mul(c, c)?, b.mul(s, s)?);
    let ts = b.mul(t2, s2)?;
    let d = b.add(c2, ts)?;
    let y = Parts { re: b.div(t, d)?, im: b.div(im, d)? };
    // At infinity it is 1 or -1, whatever the other part.
    let far = b.unary(ScalarOp::IsInf, z.re)?;
    let zero = b.zeros_like(t)?;
    Ok(Parts { re: b.select(far, t, y.re)?, im: b.select(far, zero, y.im)? })
}

/// What multiplying by complex numbers does to pairs, as 2 by 2 matrices: `[.., p, q]` from part `p` of the other factor to part `q` of the
/// product. Bilinear operators become one real product that sums over `p`.
pub fn matrices(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let z = parts(b, x)?;
    let turned = Parts { re: b.neg(z.im)?, im: z.re };
    let turned = pair(b, turned)?;
    let dim = b.rank(x) - 1;
    let (x, turned) = (b.unsqueeze(x, dim)?, b.unsqueeze(turned, dim)?);
    b.cat(&[x, turned], dim)
}

// [.., K, N, 2] as [.., 2K, 2N], for a left operand of pairs of K.
fn matmul(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let xy = b.promote_dtype(x)?;
    check(b, xy[0])?;
    check(b, xy[1])?;
    let (mut l, mut r) = (xy[0], xy[1]);
    if b.rank(l) < 2 || b.rank(r) < 2 {
        return Err(b.error("a single number has no matrix product", "use complex_mul"));
    }
    let (row, column) = (b.rank(l) == 2, b.rank(r) == 2);
    if row {
        l = b.unsqueeze(l, 0)?;
    }
    if column {
        r = b.unsqueeze(r, 1)?;
    }
    let y = product(b, l, r)?;
    let mut shape = b.shape(y);
    let rank = shape.len();
    if column {
        shape.remove(rank - 2);
    }
    if row {
        shape.remove(rank - 3);
    }
    Ok(vec![b.reshape(y, shape)?])
}

fn product(b: &mut Builder, l: ValueId, r: ValueId) -> Result<ValueId> {
    let mut shape = b.shape(l);
    let k = shape.split_off(shape.len() - 2).swap_remove(0);
    shape.push(k.scale(2));
    let l = b.reshape(l, shape)?;
    // [.., K, N, p, q] to [.., K, p, N, q].
    let m = matrices(b, r)?;
    let rank = b.rank(m);
    let m = b.transpose(m, rank - 3, rank - 2)?;
    let mut shape = b.shape(m);
    let tail = shape.split_off(rank - 4);
    shape.extend([tail[0].scale(2), tail[2].scale(2)]);
    let m = b.reshape(m, shape)?;
    let y = super::linalg::matmul(b, l, m)?;
    let mut shape = b.shape(y);
    shape.pop();
    shape.extend([tail[2].clone(), Dim::Const(2)]);
    b.reshape(y, shape)
}

fn linear(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check(b, x[1])?;
    if b.rank(x[1]) == 2 {
        let y = matmul(b, &[x[0], x[1]], a)?[0];
        return Ok(vec![match x.get(2) {
            Some(bias) => b.add(y, *bias)?,
            None => y,
        }]);
    }
    if b.rank(x[1]) != 3 {
        return Err(b.error("the weight is no matrix", "give a weight of [out, in]"));
    }
    let w = b.transpose(x[1], 0, 1)?;
    let y = matmul(b, &[x[0], w], a)?[0];
    match x.get(2) {
        Some(bias) => {
            check(b, *bias)?;
            Ok(vec![b.add(y, *bias)?])
        }
        None => Ok(vec![y]),
    }
}

// Pairs along a letter of their own; of two operands the second is a matrix from one letter to another.
fn einsum(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let equation: String = a.str("equation")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((l, r)) => (l, r.to_string()),
        None => return Err(b.error(format!("the equation {equation:?} does not say its result"), "write it with ->")),
    };
    let terms: Vec<&str> = left.split(',').collect();
    let free: Vec<char> = ('A'..='Z').chain('a'..='z').filter(|c| !equation.contains(*c)).collect();
    let (Some(p), Some(q)) = (free.first(), free.get(1)) else {
        return Err(b.error("the equation uses every letter", "use fewer"));
    };
    if terms.len() != x.len() {
        return Err(b.error(format!("{} terms for {} operands", terms.len(), x.len()), "give one term for each operand"));
    }
    let (equation, operands) = match x {
        [only] => {
            check(b, *only)?;
            (format!("{left}{p}->{right}{p}"), vec![*only])
        }
        [l, r] => {
            let lr = b.promote_dtype(&[*l, *r])?;
            check(b, lr[0])?;
            (format!("{}{p},{}{p}{q}->{right}{q}", terms[0], terms[1]), vec![lr[0], matrices(b, lr[1])?])
        }
        _ => return Err(b.error(format!("{} operands", x.len()), "multiply two at a time")),
    };
    b.op("einsum", &operands, &Attrs::new().with("equation", equation))
}

// Channels of real and imaginary parts beside each other, so that groups of channels stay together.
fn conv(b: &mut Builder, x: &[ValueId], a: &Attrs, dims: usize) -> Result<Vec<ValueId>> {
    let xy = b.promote_dtype(&x[..2])?;
    check(b, xy[0])?;
    let batched = b.rank(xy[0]) == dims + 3;
    if !(batched || b.rank(xy[0]) == dims + 2) || b.rank(xy[1]) != dims + 3 {
        return Err(b.error("the input or the weight has the wrong rank", format!("give [N, C, ..{dims}] and [O, C / groups, ..{dims}]")));
    }
    // [.., C, spatial.., 2] to [.., 2C, spatial..].
    let channels = |b: &mut Builder, x: ValueId, at: usize| {
        let rank = b.rank(x);
        let mut perm: Vec<usize> = (0..rank - 1).collect();
        perm.insert(at + 1, rank - 1);
        let v = b.permute(x, &perm)?;
        let mut shape = b.shape(v);
        shape.remove(at + 1);
        shape[at] = shape[at].scale(2);
        b.reshape(v, shape)
    };
    let at = batched as usize;
    let input = channels(b, xy[0], at)?;
    // [O, C, spatial.., p, q] to [2O, 2C, spatial..]: (O, q), (C, p).
    let m = matrices(b, xy[1])?;
    let rank = b.rank(m);
    let perm: Vec<usize> = [0, rank - 1, 1, rank - 2].into_iter().chain(2..rank - 2).collect();
    let m = b.permute(m, &perm)?;
    let s = b.shape(m);
    let shape = [s[0].scale(2), s[2].scale(2)].into_iter().chain(s[4..].iter().cloned()).collect();
    let mut operands = vec![input, b.reshape(m, shape)?];
    if let Some(bias) = x.get(2) {
        check(b, *bias)?;
        let n = b.shape(*bias)[0].scale(2);
        operands.push(b.reshape(*bias, vec![n])?);
    }
    let y = b.op(if dims == 1 { "conv1d" } else { "conv2d" }, &operands, &a.arguments())?[0];
    let mut shape = b.shape(y);
    shape[at] = s[0].clone();
    shape.insert(at + 1, Dim::Const(2));
    let y = b.reshape(y, shape)?;
    let perm: Vec<usize> = (0..b.rank(y)).filter(|d| *d != at + 1).chain([at + 1]).collect();
    Ok(vec![b.permute(y, &perm)?])
}
