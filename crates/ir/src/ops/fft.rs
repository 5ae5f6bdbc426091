//! Discrete Fourier transforms of complex numbers as pairs (see [`super::complex`]), of any length. PyTorch: torch.fft.
//!
//! Lengths of small primes are a prim, whose lowering has the stages. Another length n = r m, where r is a larger prime, is a transform of
//! length r over the elements m apart, a multiplication with roots of unity, and a transform of length m (J. Cooley, J. Tukey, "An
//! algorithm for the machine calculation of complex Fourier series", 1965). Of primes, the shorter ones are contractions with their
//! matrix, long ones convolutions with a chirp, by transforms of the next sufficient power of two (L. Bluestein, "A linear filtering
//! approach to the computation of discrete Fourier transform", 1970). The work is O(n log n) for every length.
//!
//! Real numbers of even length are transformed two at a time as the parts of complex ones, at half the length (H. Sorensen, D. Jones,
//! M. Heideman, C. Burrus, "Real-valued fast Fourier transform algorithms", 1987).
//!
//! Roots of unity are computed where they are used, from whole numbers: the angle is reduced exactly to an eighth of a turn, and a
//! polynomial gives sine and cosine to float32's precision whatever a target's own functions do.

use super::complex::{Parts, check, conj, matrices, mul, mul_parts, pair, parts};
use crate::build::Builder;
use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::{Prim, beyond_fft_primes};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "fft",
        "Tensor input, int? n=None, int dim=-1, str? norm=None",
        "The Fourier transform of complex numbers along dim.",
        |b, x, a| along(b, x, a, -1),
        |b, v| along_vjp(b, v, -1)
    ),
    op!(
        "ifft",
        "Tensor input, int? n=None, int dim=-1, str? norm=None",
        "The inverse Fourier transform of complex numbers along dim.",
        |b, x, a| along(b, x, a, 1),
        |b, v| along_vjp(b, v, 1)
    ),
    op!(
        "rfft",
        "Tensor input, int? n=None, int dim=-1, str? norm=None",
        "The first n / 2 + 1 complex numbers of the Fourier transform of real ones.",
        rfft
    ),
    op!(
        "irfft",
        "Tensor input, int? n=None, int dim=-1, str? norm=None",
        "The n real numbers whose rfft is x; n is 2 (length - 1) if not given.",
        irfft
    ),
    op!(
        "fft2",
        "Tensor input, int[]? s=None, int[] dim=[-2, -1], str? norm=None",
        "The Fourier transform of complex numbers along the dimensions named, two by default.",
        |b, x, a| { along_all(b, x, a, -1) }
    ),
    op!(
        "ifft2",
        "Tensor input, int[]? s=None, int[] dim=[-2, -1], str? norm=None",
        "The inverse Fourier transform along the dimensions named, two by default.",
        |b, x, a| along_all(b, x, a, 1)
    ),
];

/// Primes up to here are contractions, longer ones convolutions.
const LONGEST_PRIME: i64 = 61;
/// The multiplication of indices below stays within 32 bits up to here.
const LONGEST: i64 = 1 << 25;

/// The number that a length is: tracing becomes special to it.
fn constant(b: &mut Builder, d: &Dim) -> Result<i64> {
    let env = &mut b.graph.env;
    match d.as_const().or_else(|| env.hint(d)) {
        Some(n) if env.equal(d, &Dim::Const(n), "the length of a Fourier transform") => Ok(n),
        _ => Err(b.error("a length is not known", "transform along a dimension of known size")),
    }
}

// The dimension of complex numbers, which have one less than their pairs.
fn dimension(b: &Builder, x: ValueId, dim: i64, rank: usize) -> Result<usize> {
    let r = rank as i64;
    let d = if dim < 0 { dim + r } else { dim };
    if (0..r).contains(&d) {
        return Ok(d as usize);
    }
    let show = b.graph.env.show_type(b.ty(x));
    Err(b.error(format!("dimension {dim} is out of range for {show}"), format!("use a dimension from {} to {}", -r, r - 1)))
}

// Cut or filled with zeros to a length along a dimension.
fn fit(b: &mut Builder, x: ValueId, dim: usize, n: i64) -> Result<ValueId> {
    let size = b.shape(x)[dim].clone();
    let have = constant(b, &size)?;
    if n <= have {
        return b.narrow(x, dim, Dim::ZERO, Dim::Const(n));
    }
    let rank = b.rank(x);
    let (lo, mut hi) = (vec![Dim::ZERO; rank], vec![Dim::ZERO; rank]);
    hi[dim] = Dim::Const(n - have);
    let value = Literal::new(0.0, b.dtype(x));
    b.prim(Prim::Pad { lo, hi, value }, &[x])
}

// The length asked for, checked.
fn length(b: &Builder, n: Option<i64>, default: i64) -> Result<i64> {
    let n = n.unwrap_or(default);
    if n < 1 {
        return Err(b.error(format!("the length is {n}"), "transform at least one number"));
    }
    if n > LONGEST {
        return Err(Error::Limit {
            what: "the length of a Fourier transform".into(),
            value: n.to_string(),
            limit: LONGEST.to_string(),
            remedy: "transform along several dimensions".into(),
        });
    }
    Ok(n)
}

// What a transform of n numbers is multiplied with. `inverse`: whether it is one.
fn scale(b: &Builder, norm: Option<&str>, n: i64, inverse: bool) -> Result<f64> {
    let n = n as f64;
    match (norm.unwrap_or("backward"), inverse) {
        ("ortho", _) => Ok(1.0 / n.sqrt()),
        ("backward", true) | ("forward", false) => Ok(1.0 / n),
        ("backward" | "forward", _) => Ok(1.0),
        _ => Err(b.error(format!("norm is {:?}", norm.unwrap_or_default()), "use backward, ortho or forward")),
    }
}

fn scaled(b: &mut Builder, x: ValueId, by: f64) -> Result<ValueId> {
    if by == 1.0 { Ok(x) } else { b.mul_scalar(x, by) }
}

fn along(b: &mut Builder, x: &[ValueId], a: &Attrs, sign: i64) -> Result<Vec<ValueId>> {
    check(b, x[0])?;
    let dim = dimension(b, x[0], a.int("dim")?, b.rank(x[0]) - 1)?;
    let size = b.shape(x[0])[dim].clone();
    let have = constant(b, &size)?;
    let n = length(b, a.opt_int("n")?, have)?;
    let by = scale(b, a.opt_str("norm")?, n, sign > 0)?;
    let v = fit(b, x[0], dim, n)?;
    let v = scaled(b, v, by)?;
    Ok(vec![transform_dim(b, v, dim, n, sign)?])
}

// The transform the other way, by the same factor: the matrix is symmetric, and gradients are conjugated.
fn along_vjp(b: &mut Builder, v: &VjpArgs, sign: i64) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let (x, a) = (v.inputs[0], v.attrs);
    let dim = dimension(b, x, a.int("dim")?, b.rank(x) - 1)?;
    let (from, to) = (b.shape(x)[dim].clone(), b.shape(dy)[dim].clone());
    let (have, n) = (constant(b, &from)?, constant(b, &to)?);
    let by = scale(b, a.opt_str("norm")?, n, sign > 0)?;
    let g = scaled(b, dy, by)?;
    let g = transform_dim(b, g, dim, n, -sign)?;
    Ok(vec![Some(fit(b, g, dim, have)?)])
}

fn along_all(b: &mut Builder, x: &[ValueId], a: &Attrs, sign: i64) -> Result<Vec<ValueId>> {
    check(b, x[0])?;
    let rank = b.rank(x[0]) - 1;
    let dims = a.ints("dim")?;
    let dims = dims.iter().map(|d| dimension(b, x[0], *d, rank)).collect::<Result<Vec<_>>>()?;
    let sizes = a.opt_ints("s")?;
    let twice = (1..dims.len()).any(|i| dims[..i].contains(&dims[i]));
    if twice || sizes.as_ref().is_some_and(|s| s.len() != dims.len()) {
        return Err(b.error(
            "a dimension is named twice, or sizes are not as many as dimensions",
            "name each dimension once, and give as many sizes",
        ));
    }
    let mut v = x[0];
    for (i, dim) in dims.into_iter().enumerate() {
        let size = b.shape(v)[dim].clone();
        let have = constant(b, &size)?;
        let n = length(b, sizes.as_ref().map(|s| s[i]), have)?;
        let by = scale(b, a.opt_str("norm")?, n, sign > 0)?;
        v = fit(b, v, dim, n)?;
        v = scaled(b, v, by)?;
        v = transform_dim(b, v, dim, n, sign)?;
    }
    Ok(vec![v])
}

fn rfft(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let x = b.float(x[0])?;
    if b.rank(x) == 0 {
        return Err(b.error("a single number has no dimension", "give a tensor of at least one"));
    }
    let dim = dimension(b, x, a.int("dim")?, b.rank(x))?;
    let size = b.shape(x)[dim].clone();
    let have = constant(b, &size)?;
    let n = length(b, a.opt_int("n")?, have)?;
    let by = scale(b, a.opt_str("norm")?, n, false)?;
    let re = fit(b, x, dim, n)?;
    let re = scaled(b, re, by)?;
    if n % 2 == 0 {
        let last = b.rank(re) - 1;
        let re = b.transpose(re, dim, last)?;
        let y = forward_real(b, re, n)?;
        return Ok(vec![b.transpose(y, dim, last)?]);
    }
    let im = b.zeros_like(re)?;
    let z = pair(b, Parts { re, im })?;
    let y = transform_dim(b, z, dim, n, -1)?;
    Ok(vec![b.narrow(y, dim, Dim::ZERO, Dim::Const(n / 2 + 1))?])
}

/// The first n / 2 + 1 frequencies of real `[.., n]`, n even: with z[j] = x[2 j] + i x[2 j + 1] and Z its transform, those of the even
/// elements are (Z[k] + conj Z[n / 2 - k]) / 2 and those of the odd ones (Z[k] - conj Z[n / 2 - k]) / 2i.
fn forward_real(b: &mut Builder, x: ValueId, n: i64) -> Result<ValueId> {
    let half = n / 2;
    let mut shape = b.shape(x);
    let dim = shape.len() - 1;
    shape.splice(dim.., [Dim::Const(half), Dim::Const(2)]);
    // Halved here, once.
    let x = b.mul_scalar(x, 0.5)?;
    let z = b.reshape(x, shape)?;
    let z = transform(b, z, half, -1)?;
    let first = b.narrow(z, dim, Dim::ZERO, Dim::ONE)?;
    let z = b.cat(&[z, first], dim)?;
    let mirrored = b.prim(Prim::Flip(vec![dim]), &[z])?;
    let (z, m) = (parts(b, z)?, parts(b, mirrored)?);
    let even = Parts { re: b.add(z.re, m.re)?, im: b.sub(z.im, m.im)? };
    // Divided by i: the parts change places.
    let odd = Parts { re: b.add(z.im, m.im)?, im: b.sub(m.re, z.re)? };
    let k = b.iota(&[Dim::Const(half + 1)], 0)?;
    let w = unit_parts(b, k, n, -1)?;
    let turned = mul_parts(b, odd, w)?;
    let y = Parts { re: b.add(even.re, turned.re)?, im: b.add(even.im, turned.im)? };
    pair(b, y)
}

/// The n real numbers, n even, whose first n / 2 + 1 frequencies are `[.., n / 2 + 1, 2]`, times n: what [`forward_real`] does, backwards.
fn inverse_real(b: &mut Builder, x: ValueId, n: i64) -> Result<ValueId> {
    let half = n / 2;
    let mut shape = b.shape(x);
    let dim = shape.len() - 2;
    shape.splice(dim.., [Dim::Const(n)]);
    // The first and the last frequency of real numbers are real.
    let x = parts(b, x)?;
    let k = b.iota(&[Dim::Const(half + 1)], 0)?;
    let turns = b.scalar(ScalarOp::FloorDiv, k, half as f64)?;
    let (zero, edge) = (b.scalar(ScalarOp::Eq, k, 0.0)?, b.scalar(ScalarOp::Eq, turns, 1.0)?);
    let edge = b.binary(ScalarOp::Or, zero, edge)?;
    let none = b.zeros_like(x.im)?;
    let im = b.select(edge, none, x.im)?;
    let mirrored = |b: &mut Builder, v: ValueId| b.prim(Prim::Flip(vec![dim]), &[v]);
    let m = Parts { re: mirrored(b, x.re)?, im: mirrored(b, im)? };
    let even = Parts { re: b.add(x.re, m.re)?, im: b.sub(im, m.im)? };
    let odd = Parts { re: b.sub(x.re, m.re)?, im: b.add(im, m.im)? };
    let w = unit_parts(b, k, n, 1)?;
    let turned = mul_parts(b, odd, w)?;
    // Times i: the parts change places.
    let z = Parts { re: b.sub(even.re, turned.im)?, im: b.add(even.im, turned.re)? };
    let z = pair(b, z)?;
    let z = b.narrow(z, dim, Dim::ZERO, Dim::Const(half))?;
    let z = transform(b, z, half, 1)?;
    b.reshape(z, shape)
}

// The other half are conjugates in reverse order.
fn irfft(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check(b, x[0])?;
    let dim = dimension(b, x[0], a.int("dim")?, b.rank(x[0]) - 1)?;
    let size = b.shape(x[0])[dim].clone();
    let have = constant(b, &size)?;
    let n = length(b, a.opt_int("n")?, 2 * (have - 1))?;
    let by = scale(b, a.opt_str("norm")?, n, true)?;
    let half = n / 2 + 1;
    let first = fit(b, x[0], dim, half)?;
    let first = scaled(b, first, by)?;
    if n % 2 == 0 {
        let last = b.rank(first) - 2;
        let first = b.transpose(first, dim, last)?;
        let y = inverse_real(b, first, n)?;
        return Ok(vec![b.transpose(y, dim, last)?]);
    }
    let rest = b.narrow(first, dim, Dim::ONE, Dim::Const(n - half))?;
    let rest = b.prim(Prim::Flip(vec![dim]), &[rest])?;
    let rest = conj(b, rest)?;
    let z = b.cat(&[first, rest], dim)?;
    let y = transform_dim(b, z, dim, n, 1)?;
    Ok(vec![parts(b, y)?.re])
}

fn transform_dim(b: &mut Builder, x: ValueId, dim: usize, n: i64, sign: i64) -> Result<ValueId> {
    let last = b.rank(x) - 2;
    let x = b.transpose(x, dim, last)?;
    let y = transform(b, x, n, sign)?;
    b.transpose(y, dim, last)
}

/// The transform of `[.., n, 2]`, by e^(sign 2 pi i j k / n), without a factor.
fn transform(b: &mut Builder, x: ValueId, n: i64, sign: i64) -> Result<ValueId> {
    if n == 1 {
        return Ok(x);
    }
    let Some(r) = long_prime(n) else {
        let dtype = b.dtype(x);
        let x = b.cast(x, DType::F32)?;
        let y = b.prim(Prim::Fft { inverse: sign > 0 }, &[x])?;
        return b.cast(y, dtype);
    };
    let m = n / r;
    // Element m j1 + j2 is [j1, j2].
    let lead = b.rank(x) - 2;
    let mut shape = b.shape(x)[..lead].to_vec();
    let outer = shape.clone();
    shape.extend([Dim::Const(r), Dim::Const(m), Dim::Const(2)]);
    let v = b.reshape(x, shape)?;
    // Transforms over j1: [.., j2, k1].
    let v = if r > LONGEST_PRIME {
        let v = b.transpose(v, lead, lead + 1)?;
        chirp(b, v, r, sign)?
    } else {
        let w = roots(b, r, r, r, sign)?;
        // [j1, k1, p, q] to [j1, p, k1, q].
        let w = matrices(b, w)?;
        let w = b.transpose(w, 1, 2)?;
        b.contract(v, w, &[], &[(lead, 0), (lead + 2, 1)])?
    };
    if m == 1 {
        let shape = outer.into_iter().chain([Dim::Const(n), Dim::Const(2)]).collect();
        return b.reshape(v, shape);
    }
    let w = roots(b, m, r, n, sign)?;
    let v = mul(b, v, w)?;
    // Transforms over j2: [.., k1, k2], which is number k1 + r k2.
    let v = b.transpose(v, lead, lead + 1)?;
    let v = transform(b, v, m, sign)?;
    let v = b.transpose(v, lead, lead + 1)?;
    let shape = outer.into_iter().chain([Dim::Const(n), Dim::Const(2)]).collect();
    b.reshape(v, shape)
}

/// The smallest prime of a length that the prim does not transform.
fn long_prime(n: i64) -> Option<i64> {
    let rest = beyond_fft_primes(n);
    let mut p = 2;
    while p * p <= rest {
        if rest % p == 0 {
            return Some(p);
        }
        p += 1;
    }
    (rest > 1).then_some(rest)
}

/// e^(sign 2 pi i j k / n) for j below `rows` and k below `columns`, as pairs.
fn roots(b: &mut Builder, rows: i64, columns: i64, n: i64, sign: i64) -> Result<ValueId> {
    let shape = [Dim::Const(rows), Dim::Const(columns)];
    let (j, k) = (b.iota(&shape, 0)?, b.iota(&shape, 1)?);
    // Below n, as j < n / r and k < r, or both are below n = r and few.
    let jk = b.mul(j, k)?;
    let jk = modulo(b, jk, n)?;
    unit(b, jk, n, sign)
}

fn modulo(b: &mut Builder, x: ValueId, n: i64) -> Result<ValueId> {
    let q = b.scalar(ScalarOp::FloorDiv, x, n as f64)?;
    let q = b.scalar(ScalarOp::Mul, q, n as f64)?;
    b.sub(x, q)
}

/// e^(sign 2 pi i k / n) for whole numbers k from 0 to below n, as pairs.
fn unit(b: &mut Builder, k: ValueId, n: i64, sign: i64) -> Result<ValueId> {
    let z = unit_parts(b, k, n, sign)?;
    pair(b, z)
}

fn unit_parts(b: &mut Builder, k: ValueId, n: i64, sign: i64) -> Result<Parts> {
    // Quarters of a turn, to the nearest; the rest is at most an eighth.
    let t = b.scalar(ScalarOp::Mul, k, 4.0)?;
    let q = b.scalar(ScalarOp::Add, t, (n / 2) as f64)?;
    let q = b.scalar(ScalarOp::FloorDiv, q, n as f64)?;
    let whole = b.scalar(ScalarOp::Mul, q, n as f64)?;
    let rest = b.sub(t, whole)?;
    let rest = b.cast(rest, DType::F32)?;
    let x = b.mul_scalar(rest, std::f64::consts::FRAC_PI_2 / n as f64)?;
    let x2 = b.mul(x, x)?;
    // Taylor series, whose remainder is below 2e-9 here.
    let series = |b: &mut Builder, terms: &[f64]| {
        let mut v = b.full_like(x2, terms[0])?;
        for t in &terms[1..] {
            v = b.mul(v, x2)?;
            v = b.add_scalar(v, *t)?;
        }
        Ok::<ValueId, Error>(v)
    };
    let s = series(b, &[1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0])?;
    let s = b.mul(s, x)?;
    let c = series(b, &[-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0])?;
    let bit = |b: &mut Builder, v: ValueId, bit: f64| {
        let v = b.scalar(ScalarOp::And, v, bit)?;
        b.scalar(ScalarOp::Ne, v, 0.0)
    };
    let odd = bit(b, q, 1.0)?;
    let next = b.scalar(ScalarOp::Add, q, 1.0)?;
    let (flip_re, flip_im) = (bit(b, next, 2.0)?, bit(b, q, 2.0)?);
    let (re, im) = (b.select(odd, s, c)?, b.select(odd, c, s)?);
    let (nre, nim) = (b.neg(re)?, b.neg(im)?);
    let re = b.select(flip_re, nre, re)?;
    let im = if sign > 0 { b.select(flip_im, nim, im)? } else { b.select(flip_im, im, nim)? };
    Ok(Parts { re, im })
}

/// The transform of `[.., p, 2]` for a long prime p: j k = (j^2 + k^2 - (k - j)^2) / 2 makes it a convolution.
fn chirp(b: &mut Builder, x: ValueId, p: i64, sign: i64) -> Result<ValueId> {
    let dim = b.rank(x) - 2;
    let padded = (2 * p - 1).max(1) as u64;
    let padded = padded.next_power_of_two() as i64;
    let k = b.iota(&[Dim::Const(p)], 0)?;
    let square = square_modulo(b, k, p)?;
    let w = unit(b, square, 2 * p, sign)?;
    let v = mul(b, x, w)?;
    let v = fit(b, v, dim, padded)?;
    let v = transform(b, v, padded, -1)?;
    // The filter is conj(w) at distance k and, as it is even, at -k.
    let c = conj(b, w)?;
    let back = b.narrow(c, 0, Dim::ONE, Dim::Const(p - 1))?;
    let back = b.prim(Prim::Flip(vec![0]), &[back])?;
    let first = fit(b, c, 0, padded - p + 1)?;
    let filter = b.cat(&[first, back], 0)?;
    let filter = transform(b, filter, padded, -1)?;
    let v = mul(b, v, filter)?;
    let v = transform(b, v, padded, 1)?;
    let v = b.narrow(v, dim, Dim::ZERO, Dim::Const(p))?;
    let v = mul(b, v, w)?;
    b.mul_scalar(v, 1.0 / padded as f64)
}

// k^2 modulo 2p for k < p, within 32 bits: four bits of one factor at a time.
fn square_modulo(b: &mut Builder, k: ValueId, p: i64) -> Result<ValueId> {
    if p * p <= i32::MAX as i64 {
        let s = b.mul(k, k)?;
        return modulo(b, s, 2 * p);
    }
    let digits = (64 - (p as u64).leading_zeros() as i64).div_euclid(4) + 1;
    let mut sum = b.zeros_like(k)?;
    for d in (0..digits).rev() {
        let digit = b.scalar(ScalarOp::Shr, k, (4 * d) as f64)?;
        let digit = b.scalar(ScalarOp::And, digit, 15.0)?;
        let shifted = b.scalar(ScalarOp::Mul, sum, 16.0)?;
        let shifted = modulo(b, shifted, 2 * p)?;
        let part = b.mul(k, digit)?;
        let part = modulo(b, part, 2 * p)?;
        let next = b.add(shifted, part)?;
        sum = modulo(b, next, 2 * p)?;
    }
    Ok(sum)
}
