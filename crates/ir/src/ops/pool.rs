//! Pooling, over any number of trailing dimensions: reductions of windows, which are views.

use super::windows::{MOST, Windows, batched, each, joined, neighbours, phases, seen_from_inside, spread, unbatched, windows};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "max_pool1d",
        "Tensor input, int[1] kernel_size, int[]? stride=None, int[1] padding=0, int[1] dilation=1, bool ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 1),
        |b, v| max_pool_vjp(b, v, 1)
    ),
    op!(
        "max_pool2d",
        "Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 2),
        |b, v| max_pool_vjp(b, v, 2)
    ),
    op!(
        "max_pool3d",
        "Tensor input, int[3] kernel_size, int[]? stride=None, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 3),
        |b, v| max_pool_vjp(b, v, 3)
    ),
    op!(
        "avg_pool1d",
        "Tensor input, int[1] kernel_size, int[]? stride=None, int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 1)
    ),
    op!(
        "avg_pool2d",
        "Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 2)
    ),
    op!(
        "avg_pool3d",
        "Tensor input, int[3] kernel_size, int[]? stride=None, int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 3)
    ),
    op!(
        "adaptive_avg_pool1d",
        "Tensor input, int[1] output_size",
        "Means of as many windows as asked: window i runs from floor(i L / O) to ceil((i + 1) L / O).",
        |b, x, a| adaptive_avg_pool(b, x[0], a, 1)
    ),
    op!(
        "adaptive_avg_pool2d",
        "Tensor input, int[2] output_size",
        "Means of as many windows as asked, in each of the last two dimensions.",
        |b, x, a| { adaptive_avg_pool(b, x[0], a, 2) }
    ),
];

/// The windows of a pooling operator, and the elements that rounding the output size up needs beyond the padding.
fn pool_windows(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<(Windows, Vec<i64>)> {
    let shape = b.shape(x);
    if shape.iter().rev().take(n + 1).any(|d| d.is_zero()) {
        let shown: Vec<String> = shape.iter().map(|d| b.graph.env.show(d)).collect();
        let problem = format!("an input of [{}] has channels or positions without elements", shown.join(", "));
        return Err(b.error(problem, "only the batch may be empty"));
    }
    let kernel = each(b, a, "kernel_size", n, 1)?;
    let stride = match a.opt_ints("stride")? {
        Some(s) if !s.is_empty() => each(b, a, "stride", n, 1)?,
        _ => kernel.clone(),
    };
    // Means have no dilation.
    let dilation = if a.get("dilation").is_some() { each(b, a, "dilation", n, 1)? } else { vec![1; n] };
    let padding = each(b, a, "padding", n, 0)?;
    if let Some(d) = (0..n).find(|d| padding[*d] * 2 > kernel[*d]) {
        return Err(b.error(format!("padding {} is more than half of the kernel", padding[d]), "pad by at most half of the kernel size"));
    }
    let mut over = vec![0; n];
    if a.bool("ceil_mode")? {
        let shape = b.shape(x);
        for d in 0..n {
            let Some(size) = shape[d + 2].as_const() else {
                return Err(b.error("ceil_mode with a size that is not known", "leave ceil_mode out, or give a static size"));
            };
            let free = size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
            let mut count = (free + stride[d] - 1).div_euclid(stride[d]) + 1;
            // The last window has to start inside the input or the padding before it.
            if (count - 1) * stride[d] >= size + padding[d] {
                count -= 1;
            }
            over[d] = ((count - 1) * stride[d] - free).max(0);
        }
    }
    let lo: Vec<Dim> = padding.iter().map(|p| Dim::Const(*p)).collect();
    let hi = padding.iter().zip(&over).map(|(p, o)| Dim::Const(p + o)).collect();
    Ok((Windows { kernel, stride, dilation, lo, hi }, over))
}

/// `[N, C, *windows, *kernel]` with the kernel as one last dimension.
fn flat_kernel(b: &mut Builder, x: ValueId, n: usize) -> Result<ValueId> {
    let mut x = x;
    for _ in 1..n {
        x = joined(b, x, b.rank(x) - 2)?;
    }
    Ok(x)
}

/// The windows with the kernel as one last dimension, and the position of the first largest element in each, that dimension kept.
fn largest(b: &mut Builder, x: ValueId, w: &Windows) -> Result<(ValueId, ValueId)> {
    let least = ReduceOp::Max.identity(b.dtype(x));
    let x = windows(b, x, w, least)?;
    let x = flat_kernel(b, x, w.kernel.len())?;
    let at = b.reduce(ReduceOp::ArgMax, x, &[b.rank(x) - 1], true)?;
    Ok((x, at))
}

fn max_pool(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let (x, added) = batched(b, x, n)?;
    let (w, _) = pool_windows(b, x, a, n)?;
    // By position: the gradient then goes to one element, as in PyTorch, and not to all equals.
    let (x, at) = largest(b, x, &w)?;
    let last = b.rank(x) - 1;
    let y = b.prim(Prim::Gather { dim: last }, &[x, at])?;
    let shape = b.shape(y)[..last].to_vec();
    let y = b.reshape(y, shape)?;
    Ok(vec![unbatched(b, y, added)?])
}

/// Each element gathers from the windows that it lies in: those that chose its position. Nothing is scattered.
fn max_pool_vjp(b: &mut Builder, v: &VjpArgs, n: usize) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
    let (x, added) = batched(b, v.inputs[0], n)?;
    let (dy, _) = batched(b, dy, n)?;
    let (w, _) = pool_windows(b, x, v.attrs, n)?;
    let (_, at) = largest(b, x, &w)?;
    let at = b.reshape(at, b.shape(dy))?;
    let (sizes, outs) = (b.shape(x), b.shape(dy));
    let zero = b.constant(0.0, b.dtype(dy))?;
    let dx = match phases(&w, &sizes, &outs) {
        Some(phases) => {
            // [N, C, (groups, phases).., taps..]: an element of a phase lies in one window for each tap.
            let grid: Vec<Dim> = phases.iter().flat_map(|p| [p.groups.clone(), Dim::Const(p.count)]).collect();
            let taps: Vec<Dim> = phases.iter().map(|p| Dim::Const(p.taps)).collect();
            let all = [&outs[..2], &grid, &taps].concat();
            let one = |d: usize| if (2..2 + 2 * n).contains(&d) && d % 2 == 1 { Dim::ONE } else { all[d].clone() };
            let one: Vec<Dim> = (0..all.len()).map(one).collect();
            let (dy, at) = (neighbours(b, dy, &phases)?, neighbours(b, at, &phases)?);
            let (dy, at) = (b.reshape(dy, one.clone())?, b.reshape(at, one)?);
            // Where the element lies in the window of each tap.
            let (mut here, mut hit) = (b.constant(0.0, DType::I32)?, None);
            for (d, p) in phases.iter().enumerate() {
                let (phase, tap) = (line(b, &all, 3 + 2 * d)?, line(b, &all, 2 + 2 * n + d)?);
                let back = b.scalar(ScalarOp::Mul, tap, -(p.count as f64))?;
                let place = b.add(phase, back)?;
                let place = b.scalar(ScalarOp::Add, place, (p.before - p.count * p.first) as f64)?;
                let before = b.scalar(ScalarOp::Mul, here, w.kernel[d] as f64)?;
                here = b.add(before, place)?;
                let (low, high) = (b.scalar(ScalarOp::Ge, place, 0.0)?, b.scalar(ScalarOp::Lt, place, w.kernel[d] as f64)?);
                let inside = b.binary(ScalarOp::And, low, high)?;
                hit = Some(match hit {
                    Some(h) => b.binary(ScalarOp::And, h, inside)?,
                    None => inside,
                });
            }
            let same = b.binary(ScalarOp::Eq, at, here)?;
            let hit = hit.map_or(Ok(same), |h| b.binary(ScalarOp::And, h, same))?;
            let g = b.select(hit, dy, zero)?;
            let g = b.sum(g, &(2 + 2 * n..2 + 3 * n).collect::<Vec<_>>(), false)?;
            b.reshape(g, sizes)?
        }
        None => {
            let back = seen_from_inside(&w, &sizes, &outs);
            let (dy, at) = (spread(b, dy, &w.stride)?, spread(b, at, &w.stride)?);
            // What lies between and beyond the windows adds nothing, wherever it points.
            let (dy, at) = (windows(b, dy, &back, 0.0)?, windows(b, at, &back, 0.0)?);
            let dims: Vec<usize> = (n + 2..2 * n + 2).collect();
            let here = position_from_end(b, &b.shape(at), &dims)?;
            let hit = b.binary(ScalarOp::Eq, at, here)?;
            let g = b.select(hit, dy, zero)?;
            b.sum(g, &dims, false)?
        }
    };
    Ok(vec![Some(unbatched(b, dx, added)?)])
}

/// Counts along one dimension of a shape; the others are of size one.
fn line(b: &mut Builder, shape: &[Dim], d: usize) -> Result<ValueId> {
    let sizes: Vec<Dim> = shape.iter().enumerate().map(|(i, s)| if i == d { s.clone() } else { Dim::ONE }).collect();
    b.iota(&sizes, d)
}

/// The position in a window: the row-major number of the place along `dims`, counted from the end.
fn position_from_end(b: &mut Builder, shape: &[Dim], dims: &[usize]) -> Result<ValueId> {
    let mut sum = b.constant(0.0, DType::I32)?;
    for d in dims {
        let size = shape[*d].as_const().unwrap_or(1);
        let at = line(b, shape, *d)?;
        let at = b.scalar(ScalarOp::Mul, at, -1.0)?;
        let at = b.scalar(ScalarOp::Add, at, (size - 1) as f64)?;
        let before = b.scalar(ScalarOp::Mul, sum, size as f64)?;
        sum = b.add(before, at)?;
    }
    Ok(sum)
}

fn avg_pool(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = b.float(x)?;
    let (x, added) = batched(b, x, n)?;
    let (w, over) = pool_windows(b, x, a, n)?;
    let whole: f64 = w.kernel.iter().map(|k| *k as f64).product();
    let counts_padding = a.bool("count_include_pad")?;
    let padded = w.lo.iter().any(|l| !l.is_zero());
    let ragged = over.iter().any(|o| *o > 0);
    let divisor = match a.opt_int("divisor_override")? {
        Some(0) => return Err(b.error("divisor_override is 0", "give another number")),
        Some(d) => Err(d as f64),
        None if ragged || (padded && !counts_padding) => Ok(window_counts(b, x, &w, &over, counts_padding)?),
        None => Err(whole),
    };
    let v = windows(b, x, &w, 0.0)?;
    let rank = b.rank(v);
    let dims: Vec<usize> = (rank - n..rank).collect();
    let sum = b.sum(v, &dims, false)?;
    let y = match divisor {
        Ok(counts) => b.div(sum, counts)?,
        Err(count) => b.mul_scalar(sum, 1.0 / count)?,
    };
    Ok(vec![unbatched(b, y, added)?])
}

/// How many elements each window has: `[1, 1, *windows]`. Padding counts where `counts_padding`, what rounding up adds never.
fn window_counts(b: &mut Builder, x: ValueId, w: &Windows, over: &[i64], counts_padding: bool) -> Result<ValueId> {
    let mut shape = b.shape(x);
    shape[..2].fill(Dim::ONE);
    let mut ones = b.full(&shape, 1.0, b.dtype(x))?;
    for d in 0..over.len() {
        let beyond = Dim::Const(over[d]);
        let hi = w.hi[d].sub(&beyond);
        ones = b.pad(ones, d + 2, w.lo[d].clone(), hi, counts_padding as u8 as f64)?;
        ones = b.pad(ones, d + 2, Dim::ZERO, beyond, 0.0)?;
    }
    let none = vec![Dim::ZERO; over.len()];
    let plain = Windows { lo: none.clone(), hi: none, kernel: w.kernel.clone(), stride: w.stride.clone(), dilation: w.dilation.clone() };
    let ones = windows(b, ones, &plain, 0.0)?;
    let rank = b.rank(ones);
    let dims: Vec<usize> = (rank - over.len()..rank).collect();
    b.sum(ones, &dims, false)
}

fn adaptive_avg_pool(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = b.float(x)?;
    let (x, added) = batched(b, x, n)?;
    let outs = each(b, a, "output_size", n, 1)?;
    let mut y = x;
    for (d, out) in outs.iter().enumerate() {
        y = adaptive_mean(b, y, d + 2, *out)?;
    }
    Ok(vec![unbatched(b, y, added)?])
}

/// Means of `out` windows along one dimension.
fn adaptive_mean(b: &mut Builder, x: ValueId, d: usize, out: i64) -> Result<ValueId> {
    let mut shape = b.shape(x);
    let size = shape[d].clone();
    if let Some(each) = size.exact_div(&Dim::Const(out)) {
        shape[d] = Dim::Const(out);
        shape.insert(d + 1, each);
        let v = b.reshape(x, shape)?;
        return b.mean(v, &[d + 1], false);
    }
    let Some(size) = size.as_const() else {
        return Err(b.error("a size that is not known does not divide into the windows", "give a static size"));
    };
    if size.saturating_mul(out) > MOST {
        return Err(b.error(format!("{out} windows over {size} elements are too many"), "use an output size that divides the input's"));
    }
    // Windows that overlap unevenly: a product with the matrix of their weights.
    let grid = [Dim::Const(out), Dim::Const(size)];
    let (i, at) = (b.iota(&grid, 0)?, b.iota(&grid, 1)?);
    let scaled = b.scalar(ScalarOp::Mul, i, size as f64)?;
    let start = b.scalar(ScalarOp::Div, scaled, out as f64)?;
    let upto = b.scalar(ScalarOp::Add, scaled, (size + out - 1) as f64)?;
    let end = b.scalar(ScalarOp::Div, upto, out as f64)?;
    let (after, before) = (b.binary(ScalarOp::Ge, at, start)?, b.binary(ScalarOp::Lt, at, end)?);
    let inside = b.binary(ScalarOp::And, after, before)?;
    let length = b.sub(end, start)?;
    let (inside, length) = (b.cast(inside, DType::F32)?, b.cast(length, DType::F32)?);
    let weights = b.div(inside, length)?;
    let weights = b.cast(weights, b.dtype(x))?;
    let y = b.contract(x, weights, &[], &[(d, 1)])?;
    // The new dimension is the last: back to its place.
    let rank = b.rank(y);
    let mut order: Vec<usize> = (0..rank - 1).collect();
    order.insert(d, rank - 1);
    b.permute(y, &order)
}
