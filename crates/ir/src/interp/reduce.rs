//! Reductions, scans and sorts. Sums are kept in `f64` and rounded once.

use super::Rounding;
use super::view::{Loops, View, dense_strides};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::prim::ReduceOp;
use std::cmp::Ordering;

/// Combines two numbers, without rounding.
pub(crate) fn combine_pair(op: ReduceOp, a: f64, b: f64) -> f64 {
    match op {
        ReduceOp::Sum => a + b,
        ReduceOp::Prod => a * b,
        // A NaN stays, as in PyTorch.
        ReduceOp::Max | ReduceOp::ArgMax => {
            if a.is_nan() || a > b {
                a
            } else {
                b
            }
        }
        ReduceOp::Min | ReduceOp::ArgMin => {
            if a.is_nan() || a < b {
                a
            } else {
                b
            }
        }
    }
}

/// Combines along `dims` and removes them.
pub fn reduce(op: ReduceOp, x: &View, dims: &[usize], rounding: Rounding) -> View {
    let shape: Vec<usize> = (0..x.shape.len()).filter(|d| !dims.contains(d)).map(|d| x.shape[d]).collect();
    let mut kept = dense_strides(&shape).into_iter();
    let strides: Vec<isize> = (0..x.shape.len()).map(|d| if dims.contains(&d) { 0 } else { kept.next().unwrap_or(0) }).collect();
    let mut out = vec![op.identity(x.dtype); shape.iter().product()];
    let data = x.data.as_slice();
    Loops::with_strides(&x.shape, [(x.offset as isize, &x.strides), (0, &strides)]).run(|[p, q], n, [s, t]| {
        let at = |i: usize| data[(p + i as isize * s) as usize];
        if t == 0 {
            let q = q as usize;
            out[q] = (0..n).fold(out[q], |acc, i| combine_pair(op, acc, at(i)));
        } else {
            for i in 0..n {
                let o = (q + i as isize * t) as usize;
                out[o] = combine_pair(op, out[o], at(i));
            }
        }
    });
    rounding.apply_all(&mut out);
    View::dense(x.dtype, shape, out)
}

/// The rows along one dimension: `(outer, length, inner)` and a dense copy; row `(o, i)` is at `o * length * inner + i`, step `inner`.
fn rows(x: &View, dim: usize) -> (usize, usize, usize, Vec<f64>) {
    if x.shape.is_empty() {
        return (1, 1, 1, x.to_vec());
    }
    let outer = x.shape[..dim].iter().product();
    let inner = x.shape[dim + 1..].iter().product();
    (outer, x.shape[dim], inner, x.to_vec())
}

/// Index of the first extremum along `dim`; a NaN counts as the extremum, as in PyTorch.
pub fn arg(op: ReduceOp, x: &View, dim: usize) -> Result<View> {
    let (outer, n, inner, data) = rows(x, dim);
    if n == 0 {
        return Err(Error::op(
            op.name(),
            format!("{:?}", x.shape),
            "no elements to choose from",
            "give a dimension of at least one element",
        ));
    }
    let better = |a: f64, b: f64| !b.is_nan() && (a.is_nan() || if op == ReduceOp::ArgMax { a > b } else { a < b });
    let mut out = Vec::with_capacity(outer * inner);
    for o in 0..outer {
        for i in 0..inner {
            let at = |k: usize| data[(o * n + k) * inner + i];
            out.push((1..n).fold(0, |best, k| if better(at(k), at(best)) { k } else { best }) as f64);
        }
    }
    let mut shape = x.shape.clone();
    shape.remove(dim);
    Ok(View::dense(DType::I32, shape, out))
}

/// Inclusive prefix combination.
pub fn scan(op: ReduceOp, x: &View, dim: usize, rounding: Rounding) -> View {
    let (outer, n, inner, mut data) = rows(x, dim);
    for o in 0..outer {
        for k in 1..n {
            for i in 0..inner {
                let at = (o * n + k) * inner + i;
                data[at] = combine_pair(op, data[at - inner], data[at]);
            }
        }
    }
    rounding.apply_all(&mut data);
    View::dense(x.dtype, x.shape.clone(), data)
}

/// Values and indices, stable; NaN is the greatest value, as in PyTorch.
pub fn sort(x: &View, dim: usize, descending: bool) -> Vec<View> {
    let (outer, n, inner, data) = rows(x, dim);
    let mut values = vec![0.0; data.len()];
    let mut indices = vec![0.0; data.len()];
    let greater = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    };
    let mut order: Vec<usize> = Vec::with_capacity(n);
    for o in 0..outer {
        for i in 0..inner {
            let at = |k: usize| (o * n + k) * inner + i;
            order.clear();
            order.extend(0..n);
            order.sort_by(|a, b| {
                let by = greater(data[at(*a)], data[at(*b)]);
                if descending { by.reverse() } else { by }
            });
            for (k, from) in order.iter().enumerate() {
                values[at(k)] = data[at(*from)];
                indices[at(k)] = *from as f64;
            }
        }
    }
    vec![View::dense(x.dtype, x.shape.clone(), values), View::dense(DType::I32, x.shape.clone(), indices)]
}
