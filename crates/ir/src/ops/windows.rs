//! Windows over any number of trailing dimensions: how they lie, their views, and the same seen from the elements they cover.

use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::Attrs;
use crate::prim::Prim;

/// How windows lie, for each trailing dimension.
pub(super) struct Windows {
    pub(super) kernel: Vec<i64>,
    pub(super) stride: Vec<i64>,
    pub(super) dilation: Vec<i64>,
    /// Elements added before and after; negative amounts remove.
    pub(super) lo: Vec<Dim>,
    pub(super) hi: Vec<Dim>,
}

/// The largest number that an argument may be: products of two stay within 64 bits.
pub(super) const MOST: i64 = i32::MAX as i64;

/// One number for each of `n` dimensions, from a list or a single number; each at least `least`.
pub(super) fn each(b: &Builder, a: &Attrs, name: &str, n: usize, least: i64) -> Result<Vec<i64>> {
    let v = a.ints(name)?;
    let v = if v.len() == 1 { vec![v[0]; n] } else { v };
    if v.len() != n || v.iter().any(|x| !(least..=MOST).contains(x)) {
        return Err(b.error(format!("{name} is {v:?}"), format!("give one number, or {n}, of at least {least}")));
    }
    Ok(v)
}

/// The operand with a batch dimension, and whether one was added.
pub(super) fn batched(b: &mut Builder, x: ValueId, n: usize) -> Result<(ValueId, bool)> {
    match b.rank(x) {
        r if r == n + 2 => Ok((x, false)),
        r if r == n + 1 => Ok((b.unsqueeze(x, 0)?, true)),
        r => Err(b.error(format!("the input has {r} dimensions"), format!("give [batch, channels] and {n} more, or no batch"))),
    }
}

pub(super) fn unbatched(b: &mut Builder, y: ValueId, added: bool) -> Result<ValueId> {
    if !added {
        return Ok(y);
    }
    let shape = b.shape(y)[1..].to_vec();
    b.reshape(y, shape)
}

/// `x` grown by `lo` and `hi` of `value` in dimension `d`, or shrunk where they are negative.
pub(super) fn grow(b: &mut Builder, x: ValueId, d: usize, lo: &Dim, hi: &Dim, value: f64) -> Result<ValueId> {
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
pub(super) fn windows(b: &mut Builder, x: ValueId, w: &Windows, value: f64) -> Result<ValueId> {
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
pub(super) fn spread(b: &mut Builder, x: ValueId, steps: &[i64]) -> Result<ValueId> {
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
pub(super) fn grouped(b: &mut Builder, x: ValueId, d: usize, groups: i64) -> Result<ValueId> {
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
pub(super) fn joined(b: &mut Builder, x: ValueId, d: usize) -> Result<ValueId> {
    let mut shape = b.shape(x);
    let second = shape.remove(d + 1);
    shape[d] = shape[d].mul(&second);
    b.reshape(x, shape)
}

/// The windows of the spread results that each element of an input `[N, C, *sizes]` lies in, in reverse: what a gradient with respect
/// to the input sums over.
pub(super) fn seen_from_inside(w: &Windows, sizes: &[Dim], outs: &[Dim]) -> Windows {
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
pub(super) struct Phase {
    pub(super) groups: Dim,
    /// The stride.
    pub(super) count: i64,
    pub(super) taps: i64,
    pub(super) first: i64,
    /// The padding before.
    pub(super) before: i64,
    /// Windows missing before the first and after the last group's.
    pub(super) lo: Dim,
    pub(super) hi: Dim,
}

/// The phases of each dimension, where strides divide the sizes: sums over the windows of an element then have no holes. Strided
/// dimensions with dilation have none here.
pub(super) fn phases(w: &Windows, sizes: &[Dim], outs: &[Dim]) -> Option<Vec<Phase>> {
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
pub(super) fn neighbours(b: &mut Builder, x: ValueId, phases: &[Phase]) -> Result<ValueId> {
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
