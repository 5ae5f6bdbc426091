//! Random numbers: counter-based, so that they are the same on every target, eager or compiled.
//!
//! Bits are Threefry-2x32 of the flat index under a key of two u32, as JAX's partitionable generator; uniform and normal follow
//! JAX's `jax.random` from there. Dropout takes 16 bits an element, so that four elements share one evaluation (see `keep`). A key
//! gives the same numbers each time: make a new one for each use.

use super::creation::size;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Expr;
use crate::graph::ValueId;
use crate::op::OpDef;
use crate::prim::Prim;
use crate::scalar::ScalarOp;
use crate::shape::Shape;

pub static OPS: &[OpDef] = &[
    op!("rand_bits", "Tensor key, SymInt[] size", "u32 random bits under a key u32[2].", |b, x, a| {
        let shape = size(b, a)?;
        Ok(vec![bits(b, x[0], &shape)?])
    }),
    op!("uniform", "Tensor key, SymInt[] size, float low=0.0, float high=1.0", "Uniform f32 numbers from low to below high.", |b, x, a| {
        let shape = size(b, a)?;
        Ok(vec![uniform(b, x[0], &shape, a.float("low")?, a.float("high")?)?])
    }),
    op!("normal", "Tensor key, SymInt[] size, float mean=0.0, float std=1.0", "Normal f32 numbers.", |b, x, a| {
        let shape = size(b, a)?;
        // sqrt(2) erfinv(u) for u from the number after -1 to below 1.
        let u = uniform(b, x[0], &shape, -1.0 + f32::EPSILON as f64 / 2.0, 1.0)?;
        let n = b.unary(ScalarOp::Erfinv, u)?;
        let n = b.mul_scalar(n, std::f64::consts::SQRT_2)?;
        let n = b.mul_scalar(n, a.float("std")?)?;
        Ok(vec![b.add_scalar(n, a.float("mean")?)?])
    }),
    op!(
        "dropout",
        "Tensor input, Tensor key, float p=0.5, bool training=True",
        "Zero with probability p, else x / (1 - p), when training.",
        |b, x, a| {
            let p = a.float("p")?;
            if !(0.0..=1.0).contains(&p) {
                return Err(b.error(format!("p is {p}"), "use a probability from 0 to 1"));
            }
            if !a.bool("training")? || p == 0.0 {
                return Ok(vec![x[0]]);
            }
            let v = b.float(x[0])?;
            let zero = b.zeros_like(v)?;
            if p == 1.0 {
                return Ok(vec![zero]);
            }
            let keep = keep(b, x[1], &b.shape(v), p, Together::Neighbours)?;
            let scaled = b.mul_scalar(v, 1.0 / (1.0 - p))?;
            Ok(vec![b.select(keep, scaled, zero)?])
        }
    ),
];

/// What attention's dropout multiplies weights `[.., L, S]` by: zero with probability `p`, else 1 / (1 - p).
pub(super) fn keep_mask(b: &mut Builder, key: ValueId, shape: &Shape, p: f64) -> Result<ValueId> {
    if p == 1.0 {
        return b.full(shape, 0.0, DType::F32);
    }
    let keep = keep(b, key, shape, p, Together::Fragment)?;
    let (scaled, zero) = (b.full(shape, 1.0 / (1.0 - p), DType::F32)?, b.full(shape, 0.0, DType::F32)?);
    b.select(keep, scaled, zero)
}

/// Which four elements share the two words of a counter, 16 bits each.
#[derive(Clone, Copy)]
enum Together {
    /// Those of a multiple of four in a row: what a thread loads and stores as one.
    Neighbours,
    /// Of two rows and two columns, eight apart each: what a thread has of a matrix unit's result, and of a transposed one.
    Fragment,
}

/// Below this, the probability to drop or to keep an element is drawn with more than 16 bits: they would be off by 1 in 2,000.
const RARE: f64 = 1.0 / 64.0;

/// Whether dropout keeps each element: true with probability 1 - `p`.
///
/// An evaluation of Threefry costs as much as everything else that a memory-bound kernel does for an element, or attention for a weight.
/// 16 bits decide well enough (FlashAttention takes 8), so that four elements share one.
fn keep(b: &mut Builder, key: ValueId, shape: &Shape, p: f64, together: Together) -> Result<ValueId> {
    if p.min(1.0 - p) < RARE {
        let u = uniform(b, key, shape, 0.0, 1.0)?;
        return b.scalar(ScalarOp::Lt, u, 1.0 - p);
    }
    let n = Expr::product(shape);
    let flat = match (together, shape.split_last()) {
        (Together::Fragment, Some((columns, rows))) => vec![Expr::product(rows), columns.clone()],
        _ => vec![Expr::ONE, n],
    };
    let iota = |b: &mut Builder, dim| b.prim(Prim::Iota { shape: flat.clone(), dim, dtype: DType::U32 }, &[]);
    let (row, column) = (iota(b, 0)?, iota(b, 1)?);
    let digit = |b: &mut Builder, x: ValueId, place: f64| {
        let shifted = b.scalar(ScalarOp::Shr, x, place)?;
        b.scalar(ScalarOp::And, shifted, 1.0)
    };
    // A number without its digit of eights.
    let without = |b: &mut Builder, x: ValueId| {
        let sixteens = b.scalar(ScalarOp::Shr, x, 4.0)?;
        let moved = b.scalar(ScalarOp::Shl, sixteens, 3.0)?;
        let low = b.scalar(ScalarOp::And, x, 7.0)?;
        b.prim(Prim::Scalar(ScalarOp::Or), &[moved, low])
    };
    // The counter's two words, and which of the output's words and which half of it is the element's.
    let (high, low, word, half) = match together {
        Together::Neighbours => (row, b.scalar(ScalarOp::Shr, column, 2.0)?, digit(b, column, 1.0)?, digit(b, column, 0.0)?),
        Together::Fragment => (without(b, row)?, without(b, column)?, digit(b, row, 3.0)?, digit(b, column, 3.0)?),
    };
    let [k0, k1] = words(b, key, &flat)?;
    let output = |b: &mut Builder, which: f64| {
        let which = b.full(&flat, which, DType::U32)?;
        b.prim(Prim::Scalar(ScalarOp::ThreefryWord), &[k0, k1, high, low, which])
    };
    let (first, second) = (output(b, 0.0)?, output(b, 1.0)?);
    let is_second = b.scalar(ScalarOp::Ne, word, 0.0)?;
    let bits = b.select(is_second, second, first)?;
    let shift = b.scalar(ScalarOp::Shl, half, 4.0)?;
    let bits = b.prim(Prim::Scalar(ScalarOp::Shr), &[bits, shift])?;
    let bits = b.scalar(ScalarOp::And, bits, 0xFFFF as f64)?;
    let keep = b.scalar(ScalarOp::Lt, bits, ((1.0 - p) * 65536.0).round())?;
    b.reshape(keep, shape.clone())
}

/// The two words of a key, for every element of a shape.
fn words(b: &mut Builder, key: ValueId, shape: &[Expr]) -> Result<[ValueId; 2]> {
    if b.dtype(key) != DType::U32 || b.rank(key) != 1 || b.shape(key)[0].as_const() != Some(2) {
        return Err(b.error(format!("the key is {}", b.graph.env.show_type(b.ty(key))), "give a key of two u32"));
    }
    let mut word = |i: i64| {
        let w = b.narrow(key, 0, Expr::Const(i), Expr::ONE)?;
        let w = b.reshape(w, vec![Expr::ONE; shape.len()])?;
        b.prim(Prim::Expand(shape.to_vec()), &[w])
    };
    Ok([word(0)?, word(1)?])
}

fn bits(b: &mut Builder, key: ValueId, shape: &Shape) -> Result<ValueId> {
    let n = Expr::product(shape);
    let [k0, k1] = words(b, key, std::slice::from_ref(&n))?;
    let high = b.full(std::slice::from_ref(&n), 0.0, DType::U32)?;
    let low = b.prim(Prim::Iota { shape: vec![n.clone()], dim: 0, dtype: DType::U32 }, &[])?;
    let r = b.prim(Prim::Scalar(ScalarOp::Threefry), &[k0, k1, high, low])?;
    b.reshape(r, shape.clone())
}

// The upper 23 bits are the mantissa of a number from 1 to below 2.
fn uniform(b: &mut Builder, key: ValueId, shape: &Shape, low: f64, high: f64) -> Result<ValueId> {
    let r = bits(b, key, shape)?;
    let m = b.scalar(ScalarOp::Shr, r, 9.0)?;
    let m = b.scalar(ScalarOp::Or, m, 0x3F80_0000 as f64)?;
    let f = b.prim(Prim::Bitcast(DType::F32), &[m])?;
    let f = b.add_scalar(f, -1.0)?;
    if low == 0.0 && high == 1.0 {
        return Ok(f);
    }
    let f = b.mul_scalar(f, high - low)?;
    let f = b.add_scalar(f, low)?;
    b.scalar(ScalarOp::Max, f, low)
}
