//! Convolutions and pooling, over any number of trailing dimensions.
//!
//! A convolution is a contraction of the weights with the windows of the input; windows are views (pad, unfold), so nothing is
//! copied out: a target computes the products of an implicit matrix. The transposed convolution and both gradients with
//! respect to an input are convolutions too, with the roles of stride and spacing exchanged. Source: V. Dumoulin and F. Visin,
//! "A guide to convolution arithmetic for deep learning", arXiv:1603.07285.

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
        "conv1d",
        "x, weight, [bias]; stride=1, padding=0, dilation=1, groups=1",
        "x [N, C, L] with weight [O, C / groups, K].",
        |b, x, a| conv(b, x, a, 1),
        |b, v| conv_vjp(b, v, 1)
    )
    .low(),
    op!(
        "conv2d",
        "x, weight, [bias]; stride=1, padding=0, dilation=1, groups=1",
        "x [N, C, H, W] with weight [O, C / groups, KH, KW]; padding may be \"same\" or \"valid\".",
        |b, x, a| conv(b, x, a, 2),
        |b, v| conv_vjp(b, v, 2)
    )
    .low(),
    op!(
        "conv3d",
        "x, weight, [bias]; stride=1, padding=0, dilation=1, groups=1",
        "x [N, C, D, H, W] with weight [O, C / groups, KD, KH, KW].",
        |b, x, a| conv(b, x, a, 3),
        |b, v| conv_vjp(b, v, 3)
    )
    .low(),
    op!(
        "conv_transpose1d",
        "x, weight, [bias]; stride=1, padding=0, output_padding=0, groups=1, dilation=1",
        "The gradient of conv1d as an operator: x [N, C, L] with weight [C, O / groups, K].",
        |b, x, a| conv_transpose(b, x, a, 1),
        |b, v| conv_transpose_vjp(b, v, 1)
    )
    .low(),
    op!(
        "conv_transpose2d",
        "x, weight, [bias]; stride=1, padding=0, output_padding=0, groups=1, dilation=1",
        "The gradient of conv2d as an operator: x [N, C, H, W] with weight [C, O / groups, KH, KW].",
        |b, x, a| conv_transpose(b, x, a, 2),
        |b, v| conv_transpose_vjp(b, v, 2)
    )
    .low(),
    op!(
        "conv_transpose3d",
        "x, weight, [bias]; stride=1, padding=0, output_padding=0, groups=1, dilation=1",
        "The gradient of conv3d as an operator: x [N, C, D, H, W] with weight [C, O / groups, KD, KH, KW].",
        |b, x, a| conv_transpose(b, x, a, 3),
        |b, v| conv_transpose_vjp(b, v, 3)
    )
    .low(),
    op!(
        "max_pool1d",
        "x; kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 1),
        |b, v| max_pool_vjp(b, v, 1)
    ),
    op!(
        "max_pool2d",
        "x; kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 2),
        |b, v| max_pool_vjp(b, v, 2)
    ),
    op!(
        "max_pool3d",
        "x; kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False",
        "The largest element of each window; the gradient goes to the first of equals.",
        |b, x, a| max_pool(b, x[0], a, 3),
        |b, v| max_pool_vjp(b, v, 3)
    ),
    op!(
        "avg_pool1d",
        "x; kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 1)
    ),
    op!(
        "avg_pool2d",
        "x; kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 2)
    ),
    op!(
        "avg_pool3d",
        "x; kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None",
        "The mean of each window.",
        |b, x, a| avg_pool(b, x[0], a, 3)
    ),
    op!(
        "adaptive_avg_pool1d",
        "x; output_size",
        "Means of as many windows as asked: window i runs from floor(i L / O) to ceil((i + 1) L / O).",
        |b, x, a| adaptive_avg_pool(b, x[0], a, 1)
    ),
    op!("adaptive_avg_pool2d", "x; output_size", "Means of as many windows as asked, in each of the last two dimensions.", |b, x, a| {
        adaptive_avg_pool(b, x[0], a, 2)
    }),
];

/// How windows lie, for each trailing dimension.
struct Windows {
    kernel: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    /// Elements added before and after; negative amounts remove.
    lo: Vec<Dim>,
    hi: Vec<Dim>,
}

/// The largest number that an argument may be: products of two stay within 64 bits.
const MOST: i64 = i32::MAX as i64;

/// One number for each of `n` dimensions, from a list or a single number; each at least `least`.
fn each(b: &Builder, a: &Attrs, name: &str, default: i64, n: usize, least: i64) -> Result<Vec<i64>> {
    let v = a.ints(name)?.unwrap_or(vec![default]);
    let v = if v.len() == 1 { vec![v[0]; n] } else { v };
    if v.len() != n || v.iter().any(|x| !(least..=MOST).contains(x)) {
        return Err(b.error(format!("{name} is {v:?}"), format!("give one number, or {n}, of at least {least}")));
    }
    Ok(v)
}

/// The operand with a batch dimension, and whether one was added.
fn batched(b: &mut Builder, x: ValueId, n: usize) -> Result<(ValueId, bool)> {
    match b.rank(x) {
        r if r == n + 2 => Ok((x, false)),
        r if r == n + 1 => Ok((b.unsqueeze(x, 0)?, true)),
        r => Err(b.error(format!("the input has {r} dimensions"), format!("give [batch, channels] and {n} more, or no batch"))),
    }
}

fn unbatched(b: &mut Builder, y: ValueId, added: bool) -> Result<ValueId> {
    if !added {
        return Ok(y);
    }
    let shape = b.shape(y)[1..].to_vec();
    b.reshape(y, shape)
}

fn kernel_of(b: &Builder, weight: ValueId, n: usize) -> Result<Vec<i64>> {
    let shape = b.shape(weight);
    let sizes = shape.get(2..).unwrap_or_default().iter().map(Dim::as_const).collect::<Option<Vec<_>>>();
    match sizes {
        Some(k) if k.len() == n && shape.len() == n + 2 && k.iter().all(|k| (1..=MOST).contains(k)) => Ok(k),
        _ => Err(
            b.error("the weight is not [channels, channels, kernel..] with known, positive sizes", format!("give it {} dimensions", n + 2))
        ),
    }
}

/// `x` grown by `lo` and `hi` of `value` in dimension `d`, or shrunk where they are negative.
fn grow(b: &mut Builder, x: ValueId, d: usize, lo: &Dim, hi: &Dim, value: f64) -> Result<ValueId> {
    let negative = |v: &Dim| v.as_const().is_some_and(|v| v < 0);
    let cut = |v: &Dim| if negative(v) { v.neg() } else { Dim::ZERO };
    let added = |v: &Dim| if negative(v) { Dim::ZERO } else { v.clone() };
    let (cut_lo, cut_hi) = (cut(lo), cut(hi));
    let mut x = x;
    if !cut_lo.is_zero() || !cut_hi.is_zero() {
        let size = b.shape(x)[d].sub(&cut_lo).sub(&cut_hi);
        x = b.narrow(x, d, cut_lo, size)?;
    }
    b.pad(x, d, added(lo), added(hi), value)
}

/// `[N, C, *S]` to its windows `[N, C, *windows, *kernel]`.
fn windows(b: &mut Builder, x: ValueId, w: &Windows, value: f64) -> Result<ValueId> {
    let mut x = x;
    for d in 0..w.kernel.len() {
        x = grow(b, x, d + 2, &w.lo[d], &w.hi[d], value)?;
    }
    for d in 0..w.kernel.len() {
        let span = w.dilation[d] * (w.kernel[d] - 1) + 1;
        if b.shape(x)[d + 2].as_const().is_some_and(|n| n < span) {
            let n = b.graph.env.show(&b.shape(x)[d + 2]);
            return Err(b.error(
                format!("a window of {span} does not fit into {n} elements, padding included"),
                "use a smaller kernel or more padding",
            ));
        }
        x = b.prim(Prim::Unfold { dim: d + 2, size: w.kernel[d], step: w.stride[d], dilation: w.dilation[d] }, &[x])?;
    }
    Ok(x)
}

/// `step - 1` zeros between neighbours in each trailing dimension.
fn spread(b: &mut Builder, x: ValueId, steps: &[i64]) -> Result<ValueId> {
    let mut x = x;
    for (i, step) in steps.iter().enumerate().filter(|(_, s)| **s > 1) {
        let (d, shape) = (i + 2, b.shape(x));
        let n = shape[d].clone();
        let mut wide = shape.clone();
        wide.insert(d + 1, Dim::ONE);
        x = b.reshape(x, wide)?;
        x = b.pad(x, d + 1, Dim::ZERO, Dim::Const(step - 1), 0.0)?;
        let mut flat = shape;
        flat[d] = n.scale(*step);
        x = b.reshape(x, flat)?;
        x = b.narrow(x, d, Dim::ZERO, n.sub(&Dim::ONE).scale(*step).add(&Dim::ONE))?;
    }
    Ok(x)
}

/// The channels of `[N, G * C, ..]` as two dimensions `[N, G, C, ..]`.
fn grouped(b: &mut Builder, x: ValueId, d: usize, groups: i64) -> Result<ValueId> {
    let mut shape = b.shape(x);
    let Some(each) = shape[d].exact_div(&Dim::Const(groups)) else {
        let n = b.graph.env.show(&shape[d]);
        return Err(b.error(format!("{n} channels do not divide into {groups} groups"), "use a number of channels that does"));
    };
    shape[d] = Dim::Const(groups);
    shape.insert(d + 1, each);
    b.reshape(x, shape)
}

/// Joins dimensions `d` and `d + 1`.
fn joined(b: &mut Builder, x: ValueId, d: usize) -> Result<ValueId> {
    let mut shape = b.shape(x);
    let second = shape.remove(d + 1);
    shape[d] = shape[d].mul(&second);
    b.reshape(x, shape)
}

/// `x [N, G * C, *S]` with `weight [G * O, C, *K]` to `[N, G * O, *windows]`.
fn convolve(b: &mut Builder, x: ValueId, weight: ValueId, groups: i64, w: &Windows) -> Result<ValueId> {
    let n = w.kernel.len();
    let x = grouped(b, x, 1, groups)?;
    let weight = grouped(b, weight, 0, groups)?;
    let (have, want) = (b.shape(x)[2].clone(), b.shape(weight)[2].clone());
    if have != want && !b.graph.env.equal(&have, &want, "input and weight have the same channels") {
        let (have, want) = (b.graph.env.show(&have), b.graph.env.show(&want));
        return Err(b.error(
            format!("a group of the input has {have} channels, the weight {want}"),
            "check the weight's second dimension and groups",
        ));
    }
    // The windows of [N, G, C, *S]: the group counts as a batch dimension.
    let x = joined(b, x, 1)?;
    let x = windows(b, x, w, 0.0)?;
    let x = grouped(b, x, 1, groups)?;
    let mut over = vec![(2, 2)];
    over.extend((0..n).map(|i| (3 + i, 3 + n + i)));
    // [G, O, N, *windows]
    let y = b.contract(weight, x, &[(0, 1)], &over)?;
    let mut order = vec![2, 0, 1];
    order.extend(3..3 + n);
    let y = b.permute(y, &order)?;
    joined(b, y, 1)
}

/// A weight seen from the other side: `[G * A, B, *K]` to `[G * B, A, *K]`, its windows turned around where `turn`.
fn turned(b: &mut Builder, weight: ValueId, groups: i64, turn: bool) -> Result<ValueId> {
    let w = grouped(b, weight, 0, groups)?;
    let w = b.transpose(w, 1, 2)?;
    let rank = b.rank(w);
    let w = if turn { b.prim(Prim::Flip((3..rank).collect()), &[w])? } else { w };
    joined(b, w, 0)
}

/// The gradient of a weight `[G * O, C, *K]`: `outer [N, G * O, *windows]` with the windows of `inner [N, G * C, *S]`.
fn weight_gradient(b: &mut Builder, outer: ValueId, inner: ValueId, groups: i64, w: &Windows) -> Result<ValueId> {
    let n = w.kernel.len();
    let outer = grouped(b, outer, 1, groups)?;
    let inner = windows(b, inner, w, 0.0)?;
    let inner = grouped(b, inner, 1, groups)?;
    let mut over = vec![(0, 0)];
    over.extend((0..n).map(|i| (3 + i, 3 + i)));
    let y = b.contract(outer, inner, &[(1, 1)], &over)?;
    joined(b, y, 0)
}

fn with_bias(b: &mut Builder, y: ValueId, bias: Option<&ValueId>) -> Result<ValueId> {
    let Some(bias) = bias else { return Ok(y) };
    let mut shape = vec![Dim::ONE; b.rank(y) - 1];
    shape[0] = b.shape(y)[1].clone();
    if b.rank(*bias) != 1 {
        return Err(b.error("the bias is no vector", "give one number for each output channel"));
    }
    let bias = b.reshape(*bias, shape)?;
    b.add(y, bias)
}

fn bias_gradient(b: &mut Builder, dy: ValueId, inputs: &[ValueId]) -> Result<Vec<Option<ValueId>>> {
    if inputs.len() < 3 {
        return Ok(vec![]);
    }
    let dims: Vec<usize> = (0..b.rank(dy)).filter(|d| *d != 1).collect();
    Ok(vec![Some(b.sum(dy, &dims, false)?)])
}

/// Operands of one type.
fn operands(b: &mut Builder, x: &[ValueId]) -> Result<Vec<ValueId>> {
    let floats = x.iter().map(|v| b.float(*v)).collect::<Result<Vec<_>>>()?;
    let common = floats.iter().map(|v| b.dtype(*v)).reduce(DType::promote).unwrap_or(DType::F32);
    floats.iter().map(|v| b.cast(*v, common)).collect()
}

/// The windows of a plain convolution, and its groups.
fn forward_windows(b: &Builder, weight: ValueId, a: &Attrs, n: usize) -> Result<(Windows, i64)> {
    let kernel = kernel_of(b, weight, n)?;
    let (stride, dilation) = (each(b, a, "stride", 1, n, 1)?, each(b, a, "dilation", 1, n, 1)?);
    let (lo, hi) = match a.get("padding") {
        Some(crate::op::Attr::Str(s)) if s == "valid" => (vec![0; n], vec![0; n]),
        Some(crate::op::Attr::Str(s)) if s == "same" => {
            if stride.iter().any(|s| *s != 1) {
                return Err(b.error("padding \"same\" with a stride", "use a stride of 1, or give the padding as numbers"));
            }
            let total = kernel.iter().zip(&dilation).map(|(k, d)| d * (k - 1));
            total.map(|t| (t / 2, t - t / 2)).unzip()
        }
        _ => {
            let p = each(b, a, "padding", 0, n, 0)?;
            (p.clone(), p)
        }
    };
    let consts = |v: Vec<i64>| v.into_iter().map(Dim::Const).collect();
    Ok((Windows { kernel, stride, dilation, lo: consts(lo), hi: consts(hi) }, each(b, a, "groups", 1, 1, 1)?[0]))
}

fn conv(b: &mut Builder, x: &[ValueId], a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = operands(b, x)?;
    let (w, groups) = forward_windows(b, x[1], a, n)?;
    let (input, added) = batched(b, x[0], n)?;
    let y = convolve(b, input, x[1], groups, &w)?;
    let y = with_bias(b, y, x.get(2))?;
    Ok(vec![unbatched(b, y, added)?])
}

fn conv_vjp(b: &mut Builder, v: &VjpArgs, n: usize) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let x = operands(b, v.inputs)?;
    let (w, groups) = forward_windows(b, x[1], v.attrs, n)?;
    let (input, added) = batched(b, x[0], n)?;
    let (dy, _) = batched(b, dy, n)?;
    let dx = transpose_of(b, dy, x[1], groups, &w, &b.shape(input))?;
    let dw = weight_gradient(b, dy, input, groups, &w)?;
    let dx = unbatched(b, dx, added)?;
    finish(b, v, vec![Some(dx), Some(dw)], dy)
}

/// The windows of the spread results that each element of an input `[N, C, *sizes]` lies in, in reverse: what a gradient with respect
/// to the input sums over.
fn seen_from_inside(w: &Windows, sizes: &[Dim], outs: &[Dim]) -> Windows {
    let n = w.kernel.len();
    let reach = |d: usize| Dim::Const(w.dilation[d] * (w.kernel[d] - 1));
    Windows {
        kernel: w.kernel.clone(),
        stride: vec![1; n],
        dilation: w.dilation.clone(),
        lo: (0..n).map(|d| reach(d).sub(&w.lo[d])).collect(),
        hi: (0..n).map(|d| sizes[d + 2].add(&w.lo[d]).sub(&Dim::ONE).sub(&outs[d + 2].sub(&Dim::ONE).scale(w.stride[d]))).collect(),
    }
}

/// The places of a strided dimension of an input, told apart by how they lie to the windows: element `groups * count` is `group *
/// count + phase`, and lies in the windows `group + first`, `group + first + 1`, .. (as many as `taps`), at place `phase + before -
/// count * (first + tap)` of window `first + tap`, where it is one.
struct Phase {
    groups: Dim,
    /// The stride.
    count: i64,
    taps: i64,
    first: i64,
    /// The padding before.
    before: i64,
    /// Windows missing before the first and after the last group's.
    lo: Dim,
    hi: Dim,
}

/// The phases of each dimension, where strides divide the sizes: sums over the windows of an element then have no holes. Strided
/// dimensions with dilation have none here.
fn phases(w: &Windows, sizes: &[Dim], outs: &[Dim]) -> Option<Vec<Phase>> {
    let each = |d: usize| {
        let (count, kernel, before) = (w.stride[d], w.kernel[d], w.lo[d].as_const()?);
        let groups = sizes[d + 2].exact_div(&Dim::Const(count))?;
        let (first, last) = (-(kernel - 1 - before).div_euclid(count), (count - 1 + before).div_euclid(count));
        let hi = groups.add(&Dim::Const(last)).sub(&outs[d + 2]);
        let taps = last - first + 1;
        (w.dilation[d] == 1 && taps > 0).then_some(Phase { groups, count, taps, first, before, lo: Dim::Const(-first), hi })
    };
    (0..w.kernel.len()).map(each).collect()
}

/// `[N, C, *windows]` to the windows of each group: `[N, C, *groups, *taps]`.
fn neighbours(b: &mut Builder, x: ValueId, phases: &[Phase]) -> Result<ValueId> {
    let one = vec![1; phases.len()];
    let w = Windows {
        kernel: phases.iter().map(|p| p.taps).collect(),
        stride: one.clone(),
        dilation: one,
        lo: phases.iter().map(|p| p.lo.clone()).collect(),
        hi: phases.iter().map(|p| p.hi.clone()).collect(),
    };
    windows(b, x, &w, 0.0)
}

/// The transpose of a convolution as a linear map of its input `[N, G * C, *sizes]`, with weight `[G * O, C, *K]`, applied to
/// `[N, G * O, *windows]`: its gradient with respect to the input, and the transposed convolution.
fn transpose_of(b: &mut Builder, y: ValueId, weight: ValueId, groups: i64, w: &Windows, sizes: &[Dim]) -> Result<ValueId> {
    let n = w.kernel.len();
    let outs = b.shape(y);
    let back = seen_from_inside(w, sizes, &outs);
    let strided = w.stride.iter().any(|s| *s > 1);
    if strided && w.kernel.iter().all(|k| *k == 1) {
        // One product for each window; what lies between them is zero.
        let one = Windows { lo: vec![Dim::ZERO; n], hi: vec![Dim::ZERO; n], stride: vec![1; n], ..seen_from_inside(w, sizes, &outs) };
        let other = turned(b, weight, groups, false)?;
        let x = convolve(b, y, other, groups, &one)?;
        let mut x = spread(b, x, &w.stride)?;
        for d in 0..n {
            x = grow(b, x, d + 2, &back.lo[d], &back.hi[d], 0.0)?;
        }
        return Ok(x);
    }
    let Some(phases) = phases(w, sizes, &outs).filter(|_| strided) else {
        // Every window meets the kernel turned around, windows as far apart as the stride.
        let apart = spread(b, y, &w.stride)?;
        let other = turned(b, weight, groups, true)?;
        return convolve(b, apart, other, groups, &back);
    };
    // [G, O, C, *K] to [G, O, *phases, C, *taps]: the place that each tap of each phase meets, zero where there is none.
    let mut k = grouped(b, weight, 0, groups)?;
    for (d, p) in phases.iter().enumerate() {
        let at = 3 + 2 * d;
        let lo = p.count * (p.first + p.taps - 1) - p.before;
        k = b.pad(k, at, Dim::Const(lo), Dim::Const(p.taps * p.count - w.kernel[d] - lo), 0.0)?;
        let mut shape = b.shape(k);
        shape[at] = Dim::Const(p.taps);
        shape.insert(at + 1, Dim::Const(p.count));
        k = b.reshape(k, shape)?;
    }
    let k = b.prim(Prim::Flip((0..n).map(|d| 3 + 2 * d).collect()), &[k])?;
    let mut order = vec![0, 1];
    order.extend((0..n).map(|d| 4 + 2 * d));
    order.push(2);
    order.extend((0..n).map(|d| 3 + 2 * d));
    let k = b.permute(k, &order)?;
    let y = neighbours(b, y, &phases)?;
    let y = grouped(b, y, 1, groups)?;
    let mut over = vec![(1, 2)];
    over.extend((0..n).map(|d| (3 + n + d, 3 + n + d)));
    // [G, *phases, C, N, *groups] to [N, G, C, (groups, phases)..]
    let x = b.contract(k, y, &[(0, 1)], &over)?;
    let mut order = vec![2 + n, 0, 1 + n];
    order.extend((0..n).flat_map(|d| [3 + n + d, 1 + d]));
    let x = b.permute(x, &order)?;
    b.reshape(x, sizes.to_vec())
}

/// Gradients in the types of their operands, the bias's added.
fn finish(b: &mut Builder, v: &VjpArgs, mut grads: Vec<Option<ValueId>>, dy: ValueId) -> Result<Vec<Option<ValueId>>> {
    grads.extend(bias_gradient(b, dy, v.inputs)?);
    grads.iter().zip(v.inputs).map(|(g, x)| g.map(|g| b.cast(g, b.dtype(*x))).transpose()).collect()
}

/// The convolution that a transposed one of `input` is the transpose of, its groups, and the sizes `[N, channels, *S]` of its input.
fn transposed_windows(b: &Builder, input: ValueId, weight: ValueId, a: &Attrs, n: usize) -> Result<(Windows, i64, Vec<Dim>)> {
    let kernel = kernel_of(b, weight, n)?;
    let (stride, dilation) = (each(b, a, "stride", 1, n, 1)?, each(b, a, "dilation", 1, n, 1)?);
    let (padding, extra) = (each(b, a, "padding", 0, n, 0)?, each(b, a, "output_padding", 0, n, 0)?);
    if let Some(d) = (0..n).find(|d| extra[*d] >= stride[*d].max(dilation[*d])) {
        let problem = format!("output_padding {} is not smaller than stride or dilation", extra[d]);
        return Err(b.error(problem, "it tells apart the inputs that one output size may come from: use less"));
    }
    let groups = each(b, a, "groups", 1, 1, 1)?[0];
    let have = b.shape(input);
    let mut sizes = vec![have[0].clone(), b.shape(weight)[1].scale(groups)];
    let span = |d: usize| have[d + 2].sub(&Dim::ONE).scale(stride[d]).add(&Dim::Const(dilation[d] * (kernel[d] - 1) + 1));
    sizes.extend((0..n).map(|d| span(d).add(&Dim::Const(extra[d] - 2 * padding[d]))));
    if let Some(d) = (0..n).find(|d| sizes[d + 2].as_const().is_some_and(|s| s < 1)) {
        let size = b.graph.env.show(&sizes[d + 2]);
        return Err(b.error(format!("the result would have {size} elements in dimension {}", d + 2), "use less padding or a larger kernel"));
    }
    let lo: Vec<Dim> = padding.iter().map(|p| Dim::Const(*p)).collect();
    // What output_padding adds lies beyond the last window.
    let hi = lo.iter().zip(&extra).map(|(l, e)| l.sub(&Dim::Const(*e))).collect();
    Ok((Windows { kernel, stride, dilation, lo, hi }, groups, sizes))
}

fn conv_transpose(b: &mut Builder, x: &[ValueId], a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = operands(b, x)?;
    let (input, added) = batched(b, x[0], n)?;
    let (w, groups, sizes) = transposed_windows(b, input, x[1], a, n)?;
    let y = transpose_of(b, input, x[1], groups, &w, &sizes)?;
    let y = with_bias(b, y, x.get(2))?;
    Ok(vec![unbatched(b, y, added)?])
}

fn conv_transpose_vjp(b: &mut Builder, v: &VjpArgs, n: usize) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let x = operands(b, v.inputs)?;
    let (input, added) = batched(b, x[0], n)?;
    let (dy, _) = batched(b, dy, n)?;
    // dx is a plain convolution of dy. The weight [G * C, O, *K] has the channels of one from O to C.
    let (plain, groups, _) = transposed_windows(b, input, x[1], v.attrs, n)?;
    let dx = convolve(b, dy, x[1], groups, &plain)?;
    let dw = weight_gradient(b, input, dy, groups, &plain)?;
    let dx = unbatched(b, dx, added)?;
    finish(b, v, vec![Some(dx), Some(dw)], dy)
}

/// The windows of a pooling operator, and the elements that rounding the output size up needs beyond the padding.
fn pool_windows(b: &mut Builder, x: ValueId, a: &Attrs, n: usize) -> Result<(Windows, Vec<i64>)> {
    let kernel = each(b, a, "kernel_size", 0, n, 1)?;
    let stride = match a.ints("stride")? {
        Some(s) if !s.is_empty() => each(b, a, "stride", 1, n, 1)?,
        _ => kernel.clone(),
    };
    let (padding, dilation) = (each(b, a, "padding", 0, n, 0)?, each(b, a, "dilation", 1, n, 1)?);
    if let Some(d) = (0..n).find(|d| padding[*d] * 2 > kernel[*d]) {
        return Err(b.error(format!("padding {} is more than half of the kernel", padding[d]), "pad by at most half of the kernel size"));
    }
    let mut over = vec![0; n];
    if a.bool("ceil_mode", false)? {
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
    let counts_padding = a.bool("count_include_pad", true)?;
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
    let outs = each(b, a, "output_size", 1, n, 1)?;
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
