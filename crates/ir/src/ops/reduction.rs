//! Reductions and scans. `dim` is one dimension or several (all when absent), `keepdim` keeps them with size 1.

use super::activation::{no_truth_values, shift};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("sum", "Tensor input, int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None", "Sum. Bool counts as i32.", |b, x, a| {
        let x = typed(b, x[0], a)?;
        let x = number(b, x)?;
        let y = over(b, x, a, |b, x, dims, keep| b.sum(x, dims, keep))?;
        retyped(b, &y, a)
    })
    .full(),
    op!("mean", "Tensor input, int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None", "Arithmetic mean.", |b, x, a| {
        let x = typed(b, x[0], a)?;
        if !b.dtype(x).is_float() {
            return Err(b.error(format!("a mean of {}", b.dtype(x)), "name a float type as dtype, or convert with to()"));
        }
        over(b, x, a, |b, x, dims, keep| b.mean(x, dims, keep))
    }),
    op!("prod", "Tensor input, int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None", "Product.", |b, x, a| {
        let x = typed(b, x[0], a)?;
        let x = number(b, x)?;
        let y = over(b, x, a, |b, x, dims, keep| b.reduce(ReduceOp::Prod, x, dims, keep))?;
        retyped(b, &y, a)
    })
    .full(),
    op!("amax", "Tensor input, int[]? dim=None, bool keepdim=False", "Largest value; ties share the gradient equally.", |b, x, a| {
        over(b, x[0], a, |b, x, dims, keep| largest(b, ReduceOp::Max, x, dims, keep))
    }),
    op!("amin", "Tensor input, int[]? dim=None, bool keepdim=False", "Smallest value; ties share the gradient equally.", |b, x, a| {
        over(b, x[0], a, |b, x, dims, keep| largest(b, ReduceOp::Min, x, dims, keep))
    }),
    op!(
        "max",
        "Tensor input, int? dim=None, bool keepdim=False",
        "Largest value; with dim also the i32 index of its first occurrence.",
        |b, x, a| { extremum(b, x[0], a, ReduceOp::Max, ReduceOp::ArgMax) }
    ),
    op!(
        "min",
        "Tensor input, int? dim=None, bool keepdim=False",
        "Smallest value; with dim also the i32 index of its first occurrence.",
        |b, x, a| { extremum(b, x[0], a, ReduceOp::Min, ReduceOp::ArgMin) }
    ),
    op!(
        "argmax",
        "Tensor input, int? dim=None, bool keepdim=False",
        "i32 index of the first largest value, of the flat tensor when dim is absent.",
        |b, x, a| {
            no_truth_values(b, x)?;
            arg(b, x[0], a, ReduceOp::ArgMax)
        }
    ),
    op!(
        "argmin",
        "Tensor input, int? dim=None, bool keepdim=False",
        "i32 index of the first smallest value, of the flat tensor when dim is absent.",
        |b, x, a| {
            no_truth_values(b, x)?;
            arg(b, x[0], a, ReduceOp::ArgMin)
        }
    ),
    op!("logsumexp", "Tensor input, int[]? dim=None, bool keepdim=False", "log(sum(e^x)) without overflow.", logsumexp, |b, v| {
        // e^(x - y)
        let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
        let (dy, y) = (restore(b, v, dy)?, restore(b, v, v.outputs[0])?);
        let d = b.sub(v.inputs[0], y)?;
        let e = b.unary(ScalarOp::Exp, d)?;
        Ok(vec![Some(b.mul(dy, e)?)])
    })
    .full(),
    op!(
        "var",
        "Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False",
        "Variance over n - correction, by two passes.",
        |b, x, a| { over(b, x[0], a, |b, x, dims, keep| variance(b, x, dims, keep, a)) },
        |b, v| {
            // 2 (x - mean) / (n - correction)
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let dy = b.mul_scalar(dy, 2.0)?;
            Ok(vec![Some(variance_vjp(b, v, dy)?)])
        }
    ),
    op!(
        "std",
        "Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False",
        "Square root of the variance.",
        |b, x, a| {
            over(b, x[0], a, |b, x, dims, keep| {
                let v = variance(b, x, dims, keep, a)?;
                b.unary(ScalarOp::Sqrt, v)
            })
        },
        |b, v| {
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let dy = b.div(dy, v.outputs[0])?;
            Ok(vec![Some(variance_vjp(b, v, dy)?)])
        }
    ),
    op!(
        "linalg_vector_norm",
        "Tensor input, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None",
        "(sum |x|^ord)^(1/ord); the largest |x| for inf, the smallest for -inf, the count of non-zeros for 0.",
        |b, x, a| {
            let p = a.float("ord")?;
            let x = typed(b, x[0], a)?;
            over(b, x, a, |b, x, dims, keep| vector_norm(b, x, p, dims, keep))
        }
    )
    .full(),
    op!("cumsum", "Tensor input, int dim, *, ScalarType? dtype=None", "Running sum.", |b, x, a| scan(b, x[0], a, ReduceOp::Sum)).full(),
    op!("cumprod", "Tensor input, int dim, *, ScalarType? dtype=None", "Running product.", |b, x, a| scan(b, x[0], a, ReduceOp::Prod))
        .full(),
    op!("all", "Tensor input, int[]? dim=None, bool keepdim=False", "Whether every element is non-zero.", |b, x, a| truth(
        b,
        x[0],
        a,
        ReduceOp::Min
    )),
    op!("any", "Tensor input, int[]? dim=None, bool keepdim=False", "Whether an element is non-zero.", |b, x, a| truth(
        b,
        x[0],
        a,
        ReduceOp::Max
    )),
];

fn over(
    b: &mut Builder,
    x: ValueId,
    a: &Attrs,
    f: impl Fn(&mut Builder, ValueId, &[usize], bool) -> Result<ValueId>,
) -> Result<Vec<ValueId>> {
    let dims = b.dims(x, a.opt_ints("dim")?.as_deref())?;
    Ok(vec![f(b, x, &dims, a.bool("keepdim")?)?])
}

fn number(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    if b.dtype(x) == DType::Bool { b.cast(x, DType::I32) } else { Ok(x) }
}

// The largest or smallest; of truth values by way of numbers.
fn largest(b: &mut Builder, op: ReduceOp, x: ValueId, dims: &[usize], keep: bool) -> Result<ValueId> {
    let dtype = b.dtype(x);
    let x = number(b, x)?;
    let y = b.reduce(op, x, dims, keep)?;
    b.cast(y, dtype)
}

// The operand as the type that is asked for, if one is.
fn typed(b: &mut Builder, x: ValueId, a: &Attrs) -> Result<ValueId> {
    match a.opt_dtype("dtype")? {
        Some(d) => b.cast(x, d),
        None => Ok(x),
    }
}

// What was reduced as numbers as the truth values that were asked for: whether it is not zero.
fn retyped(b: &mut Builder, y: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    y.iter().map(|v| typed(b, *v, a)).collect()
}

// A reduced value with the reduced dimensions of the first operand back at size 1.
fn restore(b: &mut Builder, v: &VjpArgs, y: ValueId) -> Result<ValueId> {
    let dims = b.dims(v.inputs[0], v.attrs.opt_ints("dim")?.as_deref())?;
    let shape = b.shape(v.inputs[0]).into_iter().enumerate().map(|(i, d)| if dims.contains(&i) { Dim::ONE } else { d }).collect();
    b.reshape(y, shape)
}

fn arg(b: &mut Builder, x: ValueId, a: &Attrs, op: ReduceOp) -> Result<Vec<ValueId>> {
    let (x, keep) = (number(b, x)?, a.bool("keepdim")?);
    let rank = b.rank(x);
    let Some(dim) = a.opt_int("dim")? else {
        let flat = b.ty(x).numel();
        let f = b.reshape(x, vec![flat])?;
        let i = b.reduce(op, f, &[0], false)?;
        return Ok(vec![if keep { b.reshape(i, vec![Dim::ONE; rank])? } else { i }]);
    };
    let dim = b.dim(x, dim)?;
    if rank == 0 {
        return Ok(vec![b.constant(0.0, DType::I32)?]);
    }
    Ok(vec![b.reduce(op, x, &[dim], keep)?])
}

fn extremum(b: &mut Builder, x: ValueId, a: &Attrs, value: ReduceOp, index: ReduceOp) -> Result<Vec<ValueId>> {
    let Some(dim) = a.opt_int("dim")? else { return over(b, x, a, |b, x, dims, keep| largest(b, value, x, dims, keep)) };
    let d = b.dim(x, dim)?;
    let i = arg(b, x, &Attrs::new().with("dim", dim).with("keepdim", true), index)?[0];
    if b.rank(x) == 0 {
        return Ok(vec![x, i]);
    }
    // Through the index, so that one element takes the gradient, as in PyTorch.
    let y = b.prim(Prim::Gather { dim: d }, &[x, i])?;
    if a.bool("keepdim")? {
        return Ok(vec![y, i]);
    }
    let mut shape = b.shape(y);
    shape.remove(d);
    Ok(vec![b.reshape(y, shape.clone())?, b.reshape(i, shape)?])
}

fn logsumexp(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let x = b.float(x[0])?;
    over(b, x, a, |b, x, dims, keep| {
        let m = shift(b, x, dims)?;
        // A row of infinities: subtract zero instead of making NaN.
        let inf = b.unary(ScalarOp::IsInf, m)?;
        let zero = b.zeros_like(m)?;
        let m = b.select(inf, zero, m)?;
        let d = b.sub(x, m)?;
        let e = b.unary(ScalarOp::Exp, d)?;
        let s = b.sum(e, dims, true)?;
        let l = b.unary(ScalarOp::Log, s)?;
        let y = b.add(l, m)?;
        if keep {
            return Ok(y);
        }
        let shape = b.shape(y).into_iter().enumerate().filter(|(i, _)| !dims.contains(i)).map(|(_, d)| d).collect();
        b.reshape(y, shape)
    })
}

// n - correction as a float scalar.
fn freedom(b: &mut Builder, x: ValueId, dims: &[usize], a: &Attrs) -> Result<ValueId> {
    let shape = b.shape(x);
    let sizes: Vec<Dim> = dims.iter().map(|d| shape[*d].clone()).collect();
    let n = b.size_of(&sizes, b.dtype(x))?;
    let n = b.add_scalar(n, -a.float("correction")?)?;
    b.scalar(ScalarOp::Max, n, 0.0)
}

fn centred(b: &mut Builder, x: ValueId, dims: &[usize]) -> Result<ValueId> {
    let m = b.mean(x, dims, true)?;
    b.sub(x, m)
}

fn variance(b: &mut Builder, x: ValueId, dims: &[usize], keep: bool, a: &Attrs) -> Result<ValueId> {
    if !b.dtype(x).is_float() {
        return Err(b.error(format!("a variance of {}", b.dtype(x)), "convert the tensor to a float type with to()"));
    }
    let d = centred(b, x, dims)?;
    let d2 = b.mul(d, d)?;
    let s = b.sum(d2, dims, keep)?;
    let n = freedom(b, x, dims, a)?;
    b.div(s, n)
}

fn variance_vjp(b: &mut Builder, v: &VjpArgs, dy: ValueId) -> Result<ValueId> {
    let x = v.inputs[0];
    let dims = b.dims(x, v.attrs.opt_ints("dim")?.as_deref())?;
    let n = freedom(b, x, &dims, v.attrs)?;
    let g = b.div(dy, n)?;
    let g = restore(b, v, g)?;
    let d = centred(b, x, &dims)?;
    b.mul(g, d)
}

/// A p-norm. The gradient of a zero vector is zero, as in PyTorch, not the 0/0 of the formula.
pub fn vector_norm(b: &mut Builder, x: ValueId, p: f64, dims: &[usize], keep: bool) -> Result<ValueId> {
    let x = b.float(x)?;
    let root = |b: &mut Builder, s: ValueId, f: &dyn Fn(&mut Builder, ValueId) -> Result<ValueId>| {
        let zero = b.zeros_like(s)?;
        let is0 = b.binary(ScalarOp::Eq, s, zero)?;
        let one = b.full_like(s, 1.0)?;
        let safe = b.select(is0, one, s)?;
        let y = f(b, safe)?;
        b.select(is0, zero, y)
    };
    if p == 2.0 {
        let x2 = b.mul(x, x)?;
        let s = b.sum(x2, dims, keep)?;
        return root(b, s, &|b, s| b.unary(ScalarOp::Sqrt, s));
    }
    let m = b.unary(ScalarOp::Abs, x)?;
    if p == f64::INFINITY {
        b.reduce(ReduceOp::Max, m, dims, keep)
    } else if p == f64::NEG_INFINITY {
        b.reduce(ReduceOp::Min, m, dims, keep)
    } else if p == 1.0 {
        b.sum(m, dims, keep)
    } else if p == 0.0 {
        let n = b.scalar(ScalarOp::Ne, m, 0.0)?;
        let n = b.cast(n, b.dtype(x))?;
        b.sum(n, dims, keep)
    } else {
        let e = b.scalar(ScalarOp::Pow, m, p)?;
        let s = b.sum(e, dims, keep)?;
        root(b, s, &|b, s| b.scalar(ScalarOp::Pow, s, 1.0 / p))
    }
}

fn scan(b: &mut Builder, x: ValueId, a: &Attrs, op: ReduceOp) -> Result<Vec<ValueId>> {
    let dim = a.int("dim")?;
    let x = typed(b, x, a)?;
    let x = number(b, x)?;
    let dim = b.dim(x, dim)?;
    Ok(vec![if b.rank(x) == 0 { x } else { b.prim(Prim::Scan { op, dim }, &[x])? }])
}

fn truth(b: &mut Builder, x: ValueId, a: &Attrs, op: ReduceOp) -> Result<Vec<ValueId>> {
    let t = b.cast(x, DType::Bool)?;
    let t = b.cast(t, DType::I32)?;
    over(b, t, a, |b, t, dims, keep| {
        // Of no elements a product is one and a sum zero, as all of none hold and none does.
        let none = dims.iter().any(|d| b.shape(t)[*d].is_zero());
        let op = match op {
            ReduceOp::Min if none => ReduceOp::Prod,
            ReduceOp::Max if none => ReduceOp::Sum,
            op => op,
        };
        let r = b.reduce(op, t, dims, keep)?;
        b.cast(r, DType::Bool)
    })
}
