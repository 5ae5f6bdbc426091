//! Convolutions, over any number of trailing dimensions.
//!
//! A convolution is a contraction of the weights with the windows of the input; windows are views (pad, unfold), so nothing is
//! copied out: a target computes the products of an implicit matrix. The transposed convolution and both gradients with
//! respect to an input are convolutions too, with the roles of stride and spacing exchanged. Source: V. Dumoulin and F. Visin,
//! "A guide to convolution arithmetic for deep learning", arXiv:1603.07285.

use super::windows::{
    MOST, Windows, batched, each, grouped, grow, joined, neighbours, phases, seen_from_inside, spread, unbatched, windows,
};
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::Prim;

pub static OPS: &[OpDef] = &[
    op!(
        "conv1d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1]|str padding=0, int[1] dilation=1, int groups=1",
        "x [N, C, L] with weight [O, C / groups, K].",
        |b, x, a| conv(b, x, a, 1),
        |b, v| conv_vjp(b, v, 1)
    )
    .low(),
    op!(
        "conv2d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2]|str padding=0, int[2] dilation=1, int groups=1",
        "x [N, C, H, W] with weight [O, C / groups, KH, KW]; padding may be \"same\" or \"valid\".",
        |b, x, a| conv(b, x, a, 2),
        |b, v| conv_vjp(b, v, 2)
    )
    .low(),
    op!(
        "conv3d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3]|str padding=0, int[3] dilation=1, int groups=1",
        "x [N, C, D, H, W] with weight [O, C / groups, KD, KH, KW].",
        |b, x, a| conv(b, x, a, 3),
        |b, v| conv_vjp(b, v, 3)
    )
    .low(),
    op!(
        "conv_transpose1d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1",
        "The gradient of conv1d as an operator: x [N, C, L] with weight [C, O / groups, K].",
        |b, x, a| conv_transpose(b, x, a, 1),
        |b, v| conv_transpose_vjp(b, v, 1)
    )
    .low(),
    op!(
        "conv_transpose2d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1",
        "The gradient of conv2d as an operator: x [N, C, H, W] with weight [C, O / groups, KH, KW].",
        |b, x, a| conv_transpose(b, x, a, 2),
        |b, v| conv_transpose_vjp(b, v, 2)
    )
    .low(),
    op!(
        "conv_transpose3d",
        "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1",
        "The gradient of conv3d as an operator: x [N, C, D, H, W] with weight [C, O / groups, KD, KH, KW].",
        |b, x, a| conv_transpose(b, x, a, 3),
        |b, v| conv_transpose_vjp(b, v, 3)
    )
    .low(),
];

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
    if b.rank(*bias) != 1 || !b.graph.env.equal(&b.shape(*bias)[0].clone(), &shape[0], "one bias for each output channel") {
        let text = format!("a bias of {} for {} output channels", b.graph.env.show_shape(&b.shape(*bias)), b.graph.env.show(&shape[0]));
        return Err(b.error(text, "give one number for each output channel"));
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
    super::linalg::one_type(b, x)?;
    // Integers stay integers.
    if b.dtype(x[0]).is_int() { Ok(x.to_vec()) } else { x.iter().map(|v| b.float(*v)).collect() }
}

/// The windows of a plain convolution, and its groups.
fn forward_windows(b: &Builder, weight: ValueId, a: &Attrs, n: usize) -> Result<(Windows, i64)> {
    let kernel = kernel_of(b, weight, n)?;
    let (stride, dilation) = (each(b, a, "stride", n, 1)?, each(b, a, "dilation", n, 1)?);
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
            let p = each(b, a, "padding", n, 0)?;
            (p.clone(), p)
        }
    };
    let consts = |v: Vec<i64>| v.into_iter().map(Dim::Const).collect();
    Ok((Windows { kernel, stride, dilation, lo: consts(lo), hi: consts(hi) }, each(b, a, "groups", 1, 1)?[0]))
}

/// An input with a batch, which may be empty, and images, which may not.
fn images(b: &mut Builder, x: ValueId, n: usize) -> Result<(ValueId, bool)> {
    let (input, added) = batched(b, x, n)?;
    match b.shape(input)[2..].iter().position(Dim::is_zero) {
        None => Ok((input, added)),
        Some(d) => Err(b.error(format!("the input is empty in dimension {}", d + 2), "only the batch and the channels may be empty")),
    }
}

/// Refuses a weight that makes no channel: an input without any is a batch that ran out, such a layer is a mistake.
fn makes_channels(b: &Builder, weight: ValueId, dim: usize) -> Result<()> {
    match b.shape(weight).get(dim).is_some_and(Dim::is_zero) {
        true => Err(b.error(format!("the weight is empty in dimension {dim}"), "give it one output channel or more")),
        false => Ok(()),
    }
}

fn conv(b: &mut Builder, x: &[ValueId], a: &Attrs, n: usize) -> Result<Vec<ValueId>> {
    let x = operands(b, x)?;
    makes_channels(b, x[1], 0)?;
    let (w, groups) = forward_windows(b, x[1], a, n)?;
    let (input, added) = images(b, x[0], n)?;
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
    let (stride, dilation) = (each(b, a, "stride", n, 1)?, each(b, a, "dilation", n, 1)?);
    let (padding, extra) = (each(b, a, "padding", n, 0)?, each(b, a, "output_padding", n, 0)?);
    if let Some(d) = (0..n).find(|d| extra[*d] >= stride[*d].max(dilation[*d])) {
        let problem = format!("output_padding {} is not smaller than stride or dilation", extra[d]);
        return Err(b.error(problem, "it tells apart the inputs that one output size may come from: use less"));
    }
    let groups = each(b, a, "groups", 1, 1)?[0];
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
    makes_channels(b, x[1], 1)?;
    let (input, added) = images(b, x[0], n)?;
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
