//! Tensors made from nothing.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::scalar::ScalarOp;
use crate::shape::Shape;

pub static OPS: &[OpDef] = &[
    op!("full", "SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None", "A tensor of one value.", |b, _, a| {
        let shape = size(b, a)?;
        let dtype = match (a.opt_dtype("dtype")?, a.get("fill_value")) {
            (Some(d), _) => d,
            (None, Some(Attr::Bool(_))) => DType::Bool,
            (None, Some(Attr::Int(_))) => DType::I32,
            _ => DType::F32,
        };
        Ok(vec![b.full(&shape, a.float("fill_value")?, dtype)?])
    }),
    op!("zeros", "SymInt[] size, *, ScalarType dtype=f32", "A tensor of zeros.", |b, _, a| {
        let shape = size(b, a)?;
        Ok(vec![b.full(&shape, 0.0, a.dtype("dtype")?)?])
    }),
    op!("ones", "SymInt[] size, *, ScalarType dtype=f32", "A tensor of ones.", |b, _, a| {
        let shape = size(b, a)?;
        Ok(vec![b.full(&shape, 1.0, a.dtype("dtype")?)?])
    }),
    op!(
        "full_like",
        "Tensor input, Scalar fill_value, *, ScalarType? dtype=None",
        "A tensor of one value with x's shape, and its type where none is named.",
        |b, x, a| like(b, x[0], a.float("fill_value")?, a)
    ),
    op!("zeros_like", "Tensor input, *, ScalarType? dtype=None", "Zeros of x's shape and type.", |b, x, a| like(b, x[0], 0.0, a)),
    op!("ones_like", "Tensor input, *, ScalarType? dtype=None", "Ones of x's shape and type.", |b, x, a| like(b, x[0], 1.0, a)),
    op!(
        "arange",
        "Scalar start=0, Scalar|SymInt end, Scalar step=1, *, ScalarType? dtype=None",
        "Numbers from start to before end; i32 when all are whole, else f32.",
        arange
    ),
    op!(
        "linspace",
        "Scalar start, Scalar end, int steps, *, ScalarType dtype=f32",
        "steps numbers from start to end, both included.",
        linspace
    ),
    op!("eye", "int n, int? m=None, *, ScalarType dtype=f32", "Ones on the diagonal.", |b, _, a| {
        let n = a.int("n")?;
        let shape = [Dim::Const(n), Dim::Const(a.opt_int("m")?.unwrap_or(n))];
        if shape.iter().any(|d| d.as_const() < Some(0)) {
            return Err(b.error("a size is negative", "use sizes of zero or more"));
        }
        let (row, column) = (b.iota(&shape, 0)?, b.iota(&shape, 1)?);
        let on = b.binary(ScalarOp::Eq, row, column)?;
        Ok(vec![b.cast(on, a.dtype("dtype")?)?])
    }),
];

/// The `size` argument; negative sizes are refused.
pub fn size(b: &Builder, a: &Attrs) -> Result<Shape> {
    let shape = a.dims("size")?;
    if shape.iter().any(|d| d.as_const().is_some_and(|d| d < 0)) {
        return Err(b.error(format!("size {} is negative", b.graph.env.show_shape(&shape)), "use sizes of zero or more"));
    }
    Ok(shape)
}

fn like(b: &mut Builder, x: ValueId, value: f64, a: &Attrs) -> Result<Vec<ValueId>> {
    let dtype = a.opt_dtype("dtype")?.unwrap_or(b.dtype(x));
    if dtype == b.dtype(x) {
        super::activation::whole_numbers(b, x, &[("fill_value", value)])?;
    }
    let shape = b.shape(x);
    Ok(vec![b.full(&shape, value, dtype)?])
}

fn arange(b: &mut Builder, _: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    // Up to a symbolic size: the positions of a sequence.
    if let Some(Attr::Dims(end)) = a.get("end")
        && let [end] = end.as_slice()
    {
        if a.int("start")? != 0 || a.int("step")? != 1 {
            return Err(b.error("a symbolic end needs start 0 and step 1", "scale the result instead"));
        }
        let i = b.iota(std::slice::from_ref(end), 0)?;
        return Ok(vec![b.cast(i, a.opt_dtype("dtype")?.unwrap_or(DType::I32))?]);
    }
    let (start, step) = (a.float("start")?, a.float("step")?);
    let end = a.float("end")?;
    let n = ((end - start) / step).ceil();
    if (end - start) * step < 0.0 {
        return Err(b.error(format!("no numbers from {start} to {end} in steps of {step}"), "give a step towards the end"));
    }
    if !(0.0..=i32::MAX as f64).contains(&n) {
        return Err(b.error(format!("no numbers from {start} to {end} in steps of {step}"), "give a step towards the end"));
    }
    let whole = ["start", "end", "step"].iter().all(|k| matches!(a.get(k), None | Some(Attr::Int(_))));
    let dtype = a.opt_dtype("dtype")?.unwrap_or(if whole { DType::I32 } else { DType::F32 });
    let i = b.iota(&[Dim::Const(n as i64)], 0)?;
    // An integer type counts by whole numbers, as PyTorch's does.
    let (start, step) = if dtype.is_float() { (start, step) } else { (start.trunc(), step.trunc()) };
    let whole = whole || !dtype.is_float();
    let i = b.cast(i, if whole { DType::I32 } else { DType::F32 })?;
    let i = b.mul_scalar(i, step)?;
    let i = b.add_scalar(i, start)?;
    Ok(vec![b.cast(i, dtype)?])
}

/// Numbers evenly from one end to the other by their places: from both ends towards the middle, as PyTorch does, so that the last is exact, each
/// with one rounding. The step is two parts, each of whose multiples is exact for up to 4,096 numbers.
pub(super) fn evenly(b: &mut Builder, i: ValueId, (start, end): (f64, f64), count: i64) -> Result<ValueId> {
    let step = if count > 1 { ((end - start) / (count - 1) as f64) as f32 } else { 0.0 };
    let high = f32::from_bits(step.to_bits() & !0xfff);
    let low = if step.is_finite() { step - high } else { 0.0 };
    let half = |b: &mut Builder, i: ValueId, from: f64| -> Result<ValueId> {
        let i = b.cast(i, DType::F32)?;
        let (far, near) = (b.mul_scalar(i, f64::from(high))?, b.mul_scalar(i, f64::from(low))?);
        let sum = b.add_scalar(far, from)?;
        b.add(sum, near)
    };
    let back = b.scalar(ScalarOp::Sub, i, (count - 1) as f64)?;
    let (first, last) = (half(b, i, start)?, half(b, back, end)?);
    let before = b.scalar(ScalarOp::Lt, i, (count / 2).max(1) as f64)?;
    b.select(before, first, last)
}

fn linspace(b: &mut Builder, _: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (Some(start), Some(end), Some(steps)) = (a.opt_float("start")?, a.opt_float("end")?, a.opt_int("steps")?) else {
        return Err(b.error("needs start, end and steps", ""));
    };
    if steps < 0 {
        return Err(b.error(format!("steps is {steps}"), "use zero or more"));
    }
    let i = b.iota(&[Dim::Const(steps)], 0)?;
    let y = evenly(b, i, (start, end), steps)?;
    Ok(vec![b.cast(y, a.dtype("dtype")?)?])
}
