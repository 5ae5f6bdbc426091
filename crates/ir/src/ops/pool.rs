//! Pooling, over any number of trailing dimensions: reductions of windows, which are views.

use super::shape::constant;
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
        "Tensor input, int[1] kernel_size, int[]? stride=None, int[1] padding=0, int[1] dilation=1, bool ceil_mode=False, \
         bool return_indices=False",
        "The largest element of each window, and with return_indices its i32 position in the flat image; the gradient goes to the first of \
         equals.",
        |b, x, a| max_pool(b, x[0], a, 1),
        |b, v| max_pool_vjp(b, v, 1)
    ),
    op!(
        "max_pool2d",
        "Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, \
         bool return_indices=False",
        "The largest element of each window, and with return_indices its i32 position in the flat image; the gradient goes to the first of \
         equals.",
        |b, x, a| max_pool(b, x[0], a, 2),
        |b, v| max_pool_vjp(b, v, 2)
    ),
    op!(
        "max_pool3d",
        "Tensor input, int[3] kernel_size, int[]? stride=None, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False, \
         bool return_indices=False",
        "The largest element of each window, and with return_indices its i32 position in the flat image; the gradient goes to the first of \
         equals.",
        |b, x, a| max_pool(b, x[0], a, 3),
        |b, v| max_pool_vjp(b, v, 3)
    ),
    op!(
        "avg_pool1d",
        "Tensor input, int[1] kernel_size, int[]? stride=None, int[1] padding=0, bool ceil_mode=False, \
         bool count_include_pad=True, int? divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 1)
    ),
    op!(
        "avg_pool2d",
        "Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, bool ceil_mode=False, \
         bool count_include_pad=True, int? divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 2)
    ),
    op!(
        "avg_pool3d",
        "Tensor input, int[3] kernel_size, int[]? stride=None, int[3] padding=0, bool ceil_mode=False, \
         bool count_include_pad=True, int? divisor_override=None",
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
        |b, x, a| adaptive_avg_pool(b, x[0], a, 2)
    ),
    op!(
        "adaptive_avg_pool3d",
        "Tensor input, int[3] output_size",
        "Means of as many windows as asked, in each of the last three dimensions.",
        |b, x, a| adaptive_avg_pool(b, x[0], a, 3)
    ),
    op!(
        "adaptive_max_pool1d",
        "Tensor input, int[1] output_size, bool return_indices=False",
        "The largest elements of as many windows as asked, laid out as those of adaptive_avg_pool1d, and with return_indices their i32 \
         positions.",
        |b, x, a| adaptive_max_pool(b, x[0], a, 1)
    ),
    op!(
        "adaptive_max_pool2d",
        "Tensor input, int[2] output_size, bool return_indices=False",
        "The largest elements of as many windows as asked, in each of the last two dimensions, and with return_indices their i32 positions in \
         the flat image.",
        |b, x, a| adaptive_max_pool(b, x[0], a, 2)
    ),
    op!(
        "adaptive_max_pool3d",
        "Tensor input, int[3] output_size, bool return_indices=False",
        "The largest elements of as many windows as asked, in each of the last three dimensions, and with return_indices their i32 positions \
         in the flat volume.",
        |b, x, a| adaptive_max_pool(b, x[0], a, 3)
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
    if let Some(d) = (0..n).find(|d| padding[*d] * 2 > dilation[*d] * (kernel[*d] - 1) + 1) {
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
    let sizes = b.shape(x);
    let (x, at) = largest(b, x, &w)?;
    let last = b.rank(x) - 1;
    let y = b.prim(Prim::Gather { dim: last }, &[x, at])?;
    let shape = b.shape(y)[..last].to_vec();
    let y = b.reshape(y, shape.clone())?;
    let mut out = vec![unbatched(b, y, added)?];
    if a.bool("return_indices")? {
        // The place in the window, as digits to the base of the kernel's sizes, the last one first.
        let mut rest = b.reshape(at, shape.clone())?;
        let mut flat = None;
        let mut stride = Dim::ONE;
        for d in (0..n).rev() {
            let above = b.scalar(ScalarOp::Div, rest, w.kernel[d] as f64)?;
            let below = b.scalar(ScalarOp::Mul, above, w.kernel[d] as f64)?;
            let place = b.sub(rest, below)?;
            let place = b.scalar(ScalarOp::Mul, place, w.dilation[d] as f64)?;
            rest = above;
            let window = line(b, &shape, d + 2)?;
            let start = b.scalar(ScalarOp::Mul, window, w.stride[d] as f64)?;
            let at = b.add(start, place)?;
            let padding = b.size_of(std::slice::from_ref(&w.lo[d]), DType::I32)?;
            let at = b.sub(at, padding)?;
            let by = b.size_of(std::slice::from_ref(&stride), DType::I32)?;
            let at = b.mul(at, by)?;
            flat = Some(match flat {
                Some(f) => b.add(f, at)?,
                None => at,
            });
            stride = stride.mul(&sizes[d + 2]);
        }
        if let Some(flat) = flat {
            out.push(unbatched(b, flat, added)?);
        }
    }
    Ok(out)
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
    let x = if b.dtype(x) == DType::Bool { b.float(x)? } else { x };
    let (x, added) = batched(b, x, n)?;
    let (w, over) = pool_windows(b, x, a, n)?;
    let shape = b.shape(x);
    if n == 3 && (0..n).any(|d| shape[d + 2].as_const().is_some_and(|size| size < w.kernel[d])) {
        // PyTorch's own rule, for means of volumes alone.
        let problem = format!("windows of {:?} are larger than the input", w.kernel);
        return Err(b.error(problem, "use windows that fit the input without its padding"));
    }
    let whole: f64 = w.kernel.iter().map(|k| *k as f64).product();
    let counts_padding = a.bool("count_include_pad")?;
    let padded = w.lo.iter().any(|l| !l.is_zero());
    let ragged = over.iter().any(|o| *o > 0);
    let v = windows(b, x, &w, 0.0)?;
    let divisor = match a.opt_int("divisor_override")? {
        Some(0) => return Err(b.error("divisor_override is 0", "give another number")),
        Some(d) => Err(d as f64),
        None if ragged || (padded && !counts_padding) => Ok(window_counts(b, x, v, &w, counts_padding)?),
        None => Err(whole),
    };
    let rank = b.rank(v);
    let dims: Vec<usize> = (rank - n..rank).collect();
    let sum = b.sum(v, &dims, false)?;
    let dtype = b.dtype(sum);
    let y = match divisor {
        Ok(counts) => {
            let counts = b.cast(counts, dtype)?;
            b.div(sum, counts)?
        }
        // Means of whole numbers are whole, towards zero.
        Err(count) if !dtype.is_float() => b.scalar(ScalarOp::Div, sum, count)?,
        Err(count) => b.mul_scalar(sum, 1.0 / count)?,
    };
    Ok(vec![unbatched(b, y, added)?])
}

/// How many elements each window has: i32 `[1, 1, *windows]`. Padding counts where `counts_padding`, what rounding up adds never.
fn window_counts(b: &mut Builder, x: ValueId, v: ValueId, w: &Windows, counts_padding: bool) -> Result<ValueId> {
    let n = w.kernel.len();
    let (sizes, outs) = (b.shape(x), b.shape(v)[..n + 2].to_vec());
    let mut counts = b.constant(1.0, DType::I32)?;
    for d in 0..n {
        let padding = b.size_of(std::slice::from_ref(&w.lo[d]), DType::I32)?;
        let window = line(b, &outs, d + 2)?;
        let start = b.scalar(ScalarOp::Mul, window, w.stride[d] as f64)?;
        let start = b.sub(start, padding)?;
        let end = b.add_scalar(start, w.kernel[d] as f64)?;
        let most = if counts_padding { sizes[d + 2].add(&w.lo[d]) } else { sizes[d + 2].clone() };
        let most = b.size_of(std::slice::from_ref(&most), DType::I32)?;
        let end = b.binary(ScalarOp::Min, end, most)?;
        let start = if counts_padding { start } else { b.scalar(ScalarOp::Max, start, 0.0)? };
        let here = b.sub(end, start)?;
        counts = b.mul(counts, here)?;
    }
    Ok(counts)
}

/// The sizes asked for.
fn output_sizes(b: &Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<i64>> {
    if b.shape(x).iter().skip(1).any(Dim::is_zero) {
        return Err(b.error("the input has no elements to pool", "only the batch may be empty"));
    }
    each(b, a, "output_size", n, 0)
}

fn adaptive_max_pool(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let (x, added) = batched(b, x, n)?;
    let outs = output_sizes(b, x, a, n)?;
    let sizes = b.shape(x);
    let (batch, channels) = (sizes[0].clone(), sizes[1].clone());
    let mut flat = b.iota(&[&[Dim::ONE, Dim::ONE], &[Dim::product(&sizes[2..])][..]].concat(), 2)?;
    flat = b.reshape(flat, [&[Dim::ONE, Dim::ONE], &sizes[2..]].concat())?;
    let (mut v, mut place) = (x, flat);
    for (d, out) in outs.iter().enumerate() {
        // [.., windows, elements of each, ..] takes the place of each dimension in turn.
        let at = 2 + 2 * d;
        let (index, each) = window_elements(b, &sizes[d + 2], *out)?;
        for v in [&mut v, &mut place] {
            let taken = b.op("index_select", &[*v, index], &Attrs::new().with("dim", at))?[0];
            let mut shape = b.shape(taken);
            shape.splice(at..at + 1, [Dim::Const(*out), Dim::Const(each)]);
            *v = b.reshape(taken, shape)?;
        }
    }
    let order: Vec<usize> = [0, 1].into_iter().chain((0..n).map(|d| 2 + 2 * d)).chain((0..n).map(|d| 3 + 2 * d)).collect();
    let (v, place) = (b.permute(v, &order)?, b.permute(place, &order)?);
    let (v, place) = (flat_kernel(b, v, n)?, flat_kernel(b, place, n)?);
    let last = b.rank(v) - 1;
    let at = b.reduce(ReduceOp::ArgMax, v, &[last], true)?;
    let y = b.prim(Prim::Gather { dim: last }, &[v, at])?;
    let shape = [vec![batch, channels], outs.iter().map(|o| Dim::Const(*o)).collect()].concat();
    let y = b.reshape(y, shape.clone())?;
    let mut out = vec![unbatched(b, y, added)?];
    if a.bool("return_indices")? {
        let place = b.broadcast_to(place, &b.shape(v))?;
        let place = b.prim(Prim::Gather { dim: last }, &[place, at])?;
        let place = b.reshape(place, shape)?;
        out.push(unbatched(b, place, added)?);
    }
    Ok(out)
}

/// The elements of each of `out` windows over a dimension, as one vector of indices, and how many each has: the last one is repeated where
/// a window has fewer than the longest.
fn window_elements(b: &mut Builder, size: &Dim, out: i64) -> Result<(ValueId, i64)> {
    let n = constant(b, size)?;
    if n.saturating_mul(out) > MOST {
        return Err(b.error(format!("{out} windows over {n} elements are too many"), "use a smaller output size"));
    }
    let (start, end) = (|i: i64| i * n / out, |i: i64| ((i + 1) * n + out - 1) / out);
    let each = (0..out).map(|i| end(i) - start(i)).max().unwrap_or(1);
    let grid = [Dim::Const(out), Dim::Const(each)];
    let (i, k) = (b.iota(&grid, 0)?, b.iota(&grid, 1)?);
    let scaled = b.scalar(ScalarOp::Mul, i, n as f64)?;
    let first = b.scalar(ScalarOp::Div, scaled, out.max(1) as f64)?;
    let upto = b.scalar(ScalarOp::Add, scaled, (n + out - 1) as f64)?;
    let last = b.scalar(ScalarOp::Div, upto, out.max(1) as f64)?;
    let last = b.add_scalar(last, -1.0)?;
    let at = b.add(first, k)?;
    let at = b.binary(ScalarOp::Min, at, last)?;
    Ok((b.reshape(at, vec![Dim::Const(out * each)])?, each))
}

fn adaptive_avg_pool(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = b.float(x)?;
    let (x, added) = batched(b, x, n)?;
    let outs = output_sizes(b, x, a, n)?;
    let mut y = x;
    for (d, out) in outs.iter().enumerate() {
        y = adaptive_mean(b, y, d + 2, *out)?;
    }
    Ok(vec![unbatched(b, y, added)?])
}

/// Means of `out` windows along one dimension.
fn adaptive_mean(b: &mut Builder, x: ValueId, d: usize, out: i64) -> Result<ValueId> {
    let mut shape = b.shape(x);
    if out == 0 {
        return b.narrow(x, d, Dim::ZERO, Dim::ZERO);
    }
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
