//! Prims that move elements: padding, joining, gathering and scattering.

use super::Rounding;
use super::view::{Loops, View, dense_strides};
use crate::error::{Error, Result};

// Writes `x` into a dense buffer of the given strides, from `start` on.
fn copy_into(out: &mut [f64], x: &View, start: usize, strides: &[isize]) {
    Loops::with_strides(&x.shape, [(x.offset as isize, &x.strides), (start as isize, strides)]).run(|[p, q], n, [s, t]| {
        for i in 0..n as isize {
            out[(q + i * t) as usize] = x.data[(p + i * s) as usize];
        }
    });
}

pub fn pad(x: &View, lo: &[usize], hi: &[usize], value: f64) -> View {
    let shape: Vec<usize> = (0..x.shape.len()).map(|d| lo[d] + x.shape[d] + hi[d]).collect();
    let strides = dense_strides(&shape);
    let start = lo.iter().zip(&strides).map(|(l, s)| l * *s as usize).sum();
    let mut out = vec![value; shape.iter().product()];
    copy_into(&mut out, x, start, &strides);
    View::dense(x.dtype, shape, out)
}

pub fn cat(xs: &[&View], dim: usize) -> View {
    let mut shape = xs[0].shape.clone();
    shape[dim] = xs.iter().map(|x| x.shape[dim]).sum();
    let strides = dense_strides(&shape);
    let mut out = vec![0.0; shape.iter().product()];
    let mut start = 0;
    for x in xs {
        copy_into(&mut out, x, start * strides[dim] as usize, &strides);
        start += x.shape[dim];
    }
    View::dense(xs[0].dtype, shape, out)
}

fn check(op: &str, index: f64, size: usize, dim: usize) -> Result<isize> {
    if index >= 0.0 && index < size as f64 {
        return Ok(index as isize);
    }
    Err(Error::op(op, "", format!("index {index} is out of range for dimension {dim} of size {size}"), "check the indices"))
}

/// `out[.., i, ..] = x[.., index[.., i, ..], ..]`.
pub fn gather(x: &View, index: &View, dim: usize) -> Result<View> {
    let (fixed, stride) = (x.without(dim), x.strides[dim]);
    let mut out = Vec::with_capacity(index.numel());
    let mut failed = None;
    let operands = [(index.offset as isize, index.strides.as_slice()), (x.offset as isize, &fixed)];
    Loops::with_strides(&index.shape, operands).run(|[p, q], n, [s, t]| {
        for i in 0..n as isize {
            match check("gather", index.data[(p + i * s) as usize], x.shape[dim], dim) {
                Ok(at) => out.push(x.data[(q + i * t + at * stride) as usize]),
                Err(e) => failed = Some(e),
            }
        }
    });
    match failed {
        Some(e) => Err(e),
        None => Ok(View::dense(x.dtype, index.shape.clone(), out)),
    }
}

/// `x` with `src` added at `index`.
pub fn scatter_add(x: &View, index: &View, src: &View, dim: usize, rounding: Rounding) -> Result<View> {
    let mut out = x.to_vec();
    let strides = dense_strides(&x.shape);
    let mut fixed = strides.clone();
    fixed[dim] = 0;
    let mut failed = None;
    let operands = [(index.offset as isize, index.strides.as_slice()), (src.offset as isize, &src.strides), (0, &fixed)];
    Loops::with_strides(&index.shape, operands).run(|[p, q, r], n, [s, t, u]| {
        for i in 0..n as isize {
            match check("scatter_add", index.data[(p + i * s) as usize], x.shape[dim], dim) {
                Ok(at) => out[(r + i * u + at * strides[dim]) as usize] += src.data[(q + i * t) as usize],
                Err(e) => failed = Some(e),
            }
        }
    });
    rounding.apply_all(&mut out);
    match failed {
        Some(e) => Err(e),
        None => Ok(View::dense(x.dtype, x.shape.clone(), out)),
    }
}
