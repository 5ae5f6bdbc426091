//! Random numbers: counter-based, so that they are the same on every target, eager or compiled.
//!
//! Bits are Threefry-2x32 of the flat index under a key of two u32, as JAX's partitionable generator; uniform, normal and
//! dropout follow JAX's `jax.random` from there. A key gives the same numbers each time: make a new one for each use.

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
            let u = uniform(b, x[1], &b.shape(v), 0.0, 1.0)?;
            let keep = b.scalar(ScalarOp::Lt, u, 1.0 - p)?;
            let scaled = b.mul_scalar(v, 1.0 / (1.0 - p))?;
            Ok(vec![b.select(keep, scaled, zero)?])
        }
    ),
];

/// What dropout multiplies by: zero with probability `p`, else 1 / (1 - p); the numbers are those of the operator.
pub(super) fn keep_mask(b: &mut Builder, key: ValueId, shape: &Shape, p: f64) -> Result<ValueId> {
    if p == 1.0 {
        return b.full(shape, 0.0, DType::F32);
    }
    let u = uniform(b, key, shape, 0.0, 1.0)?;
    let keep = b.scalar(ScalarOp::Lt, u, 1.0 - p)?;
    let (scaled, zero) = (b.full(shape, 1.0 / (1.0 - p), DType::F32)?, b.full(shape, 0.0, DType::F32)?);
    b.select(keep, scaled, zero)
}

fn bits(b: &mut Builder, key: ValueId, shape: &Shape) -> Result<ValueId> {
    if b.dtype(key) != DType::U32 || b.rank(key) != 1 || b.shape(key)[0].as_const() != Some(2) {
        return Err(b.error(format!("the key is {}", b.graph.env.show_type(b.ty(key))), "give a key of two u32"));
    }
    let n = Expr::product(shape);
    let word = |b: &mut Builder, i: i64| {
        let w = b.narrow(key, 0, Expr::Const(i), Expr::ONE)?;
        b.prim(Prim::Expand(vec![n.clone()]), &[w])
    };
    let (k0, k1) = (word(b, 0)?, word(b, 1)?);
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
