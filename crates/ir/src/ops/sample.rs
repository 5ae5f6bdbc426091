//! Sampling an image at any places. The conventions of edges and corners are those of PyTorch's `GridSampler.h`.

use super::creation::evenly;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::Prim;
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "grid_sample",
        "Tensor input, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool? align_corners=None",
        "The input [N, C, H, W] (or [N, C, D, H, W]) at the places of a grid [N, H', W', 2] (or [N, D', H', W', 3]) of x, y (and z) from -1 \
         to 1. Modes: bilinear, nearest, bicubic; beyond the edges: zeros, border, reflection.",
        grid_sample
    )
    .full(),
    op!(
        "affine_grid",
        "Tensor theta, int[] size, bool? align_corners=None",
        "The grid of grid_sample for affine maps [N, 2, 3] to images of size [N, C, H, W] (or [N, 3, 4] and [N, C, D, H, W]).",
        affine_grid
    )
    .full(),
];

/// What lies beyond the edges.
#[derive(Clone, Copy, PartialEq)]
enum Edge {
    Zeros,
    Border,
    Reflection,
}

/// One of the elements along one dimension that a sample is made of.
struct Tap {
    /// Within the dimension, i32.
    at: ValueId,
    weight: Option<ValueId>,
    /// Whether it is an element; what is not counts zero.
    inside: ValueId,
}

/// One dimension that is sampled.
struct Axis {
    size: Dim,
    edge: Edge,
    align: bool,
}

fn corners(b: &Builder, a: &Attrs) -> Result<bool> {
    match a.get("align_corners") {
        None => Ok(false),
        Some(_) => a.bool("align_corners").map_err(|_| b.error("align_corners is not a bool", "use true or false")),
    }
}

fn grid_sample(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (input, grid) = (x[0], x[1]);
    let (shape, places) = (b.shape(input), b.shape(grid));
    let n = shape.len().saturating_sub(2);
    let fits = (2..=3).contains(&n)
        && places.len() == n + 2
        && places[n + 1].as_const() == Some(n as i64)
        && b.graph.env.equal(&shape[0], &places[0], "a grid for each image");
    if !fits || b.dtype(input) != b.dtype(grid) || !b.dtype(input).is_float() {
        return Err(b.error(
            "the grid does not fit the input",
            "give floats [N, C, H, W] and [N, H', W', 2], or [N, C, D, H, W] and [N, D', H', W', 3]",
        ));
    }
    if shape[2..].iter().any(Expr::is_zero) {
        return Err(b.error("the input has no elements to sample", "give images of at least one element"));
    }
    let edge = match a.str("padding_mode")? {
        "zeros" => Edge::Zeros,
        "border" => Edge::Border,
        "reflection" => Edge::Reflection,
        other => return Err(b.error(format!("padding_mode is {other:?}"), "use zeros, border or reflection")),
    };
    let (mode, align) = (a.str("mode")?, corners(b, a)?);
    if !matches!(mode, "bilinear" | "nearest" | "bicubic") {
        return Err(b.error(format!("mode {mode:?}"), "use bilinear, nearest or bicubic"));
    }
    let count = Expr::product(&places[1..=n]);
    let mut taps = Vec::new();
    for d in 0..n {
        // x, the last dimension, comes first.
        let c = b.narrow(grid, n + 1, Dim::Const((n - 1 - d) as i64), Dim::ONE)?;
        let c = b.reshape(c, vec![places[0].clone(), Dim::ONE, count.clone()])?;
        let axis = Axis { size: shape[d + 2].clone(), edge, align };
        taps.push(axis.taps(b, c, mode)?);
    }
    let flat = b.reshape(input, vec![shape[0].clone(), shape[1].clone(), Expr::product(&shape[2..])])?;
    let y = gathered(b, flat, &shape, &count, &taps)?;
    Ok(vec![b.reshape(y, [&shape[..2], &places[1..=n]].concat())?])
}

/// The sum over all combinations of taps.
fn gathered(b: &mut Builder, flat: ValueId, shape: &[Dim], count: &Dim, taps: &[Vec<Tap>]) -> Result<ValueId> {
    let row = vec![shape[0].clone(), shape[1].clone(), count.clone()];
    let zero = b.constant(0.0, b.dtype(flat))?;
    let total = taps.iter().map(Vec::len).product::<usize>();
    let mut sum = None;
    for k in 0..total {
        let (mut rest, mut at, mut inside, mut weight) = (k, None, None, None);
        for (d, choices) in taps.iter().enumerate() {
            let tap = &choices[rest % choices.len()];
            rest /= choices.len();
            let size = b.size_of(std::slice::from_ref(&shape[d + 2]), DType::I32)?;
            at = Some(match at {
                Some(before) => {
                    let before = b.mul(before, size)?;
                    b.add(before, tap.at)?
                }
                None => tap.at,
            });
            inside = Some(match inside {
                Some(i) => b.binary(ScalarOp::And, i, tap.inside)?,
                None => tap.inside,
            });
            weight = match (weight, tap.weight) {
                (Some(p), Some(q)) => Some(b.mul(p, q)?),
                (p, q) => p.or(q),
            };
        }
        let (Some(at), Some(inside)) = (at, inside) else { continue };
        let at = b.prim(Prim::Expand(row.clone()), &[at])?;
        let mut v = b.prim(Prim::Gather { dim: 2 }, &[flat, at])?;
        // Chosen, not multiplied by zero: the element may be infinite.
        v = b.select(inside, v, zero)?;
        if let Some(w) = weight {
            v = b.mul(v, w)?;
        }
        sum = Some(match sum {
            Some(s) => b.add(s, v)?,
            None => v,
        });
    }
    sum.map_or_else(|| b.full(&row, 0.0, b.dtype(flat)), Ok)
}

impl Axis {
    /// `size` less one, or the like, as a float scalar.
    fn extent(&self, b: &mut Builder, like: ValueId, less: i64) -> Result<ValueId> {
        let n = self.size.sub(&Dim::Const(less));
        b.size_of(std::slice::from_ref(&n), b.dtype(like))
    }

    /// A coordinate from -1 to 1 as a position among the elements.
    fn position(&self, b: &mut Builder, c: ValueId) -> Result<ValueId> {
        let c = b.add_scalar(c, 1.0)?;
        let n = self.extent(b, c, self.align as i64)?;
        let product = b.mul(c, n)?;
        if self.align {
            return b.mul_scalar(product, 0.5);
        }
        // With one rounding, as PyTorch's fused multiplication and addition: a grid that meets the elements is no rare one, and its last bit says
        // which side's gradient counts. What the product lost is found from halves of the factor, whose products are exact (T. J. Dekker, "A
        // floating-point technique for extending the available precision", 1971).
        let split = b.mul_scalar(c, 4097.0)?;
        let above = b.sub(split, c)?;
        let high = b.sub(split, above)?;
        let low = b.sub(c, high)?;
        let (high, low) = (b.mul(high, n)?, b.mul(low, n)?);
        let lost = b.sub(high, product)?;
        let lost = b.add(lost, low)?;
        let lost = b.prim(Prim::Detach, &[lost])?;
        let c = b.add_scalar(product, -1.0)?;
        let c = b.add(c, lost)?;
        b.mul_scalar(c, 0.5)
    }

    /// A position brought back between the edges, as far as the mode does that.
    fn within(&self, b: &mut Builder, c: ValueId) -> Result<ValueId> {
        let mut c = c;
        if self.edge == Edge::Zeros {
            return Ok(c);
        }
        if self.edge == Edge::Reflection {
            let low = if self.align { 0.0 } else { -0.5 };
            let span = self.extent(b, c, self.align as i64)?;
            let away = b.add_scalar(c, -low)?;
            let away = b.unary(ScalarOp::Abs, away)?;
            let extra = b.binary(ScalarOp::Fmod, away, span)?;
            let flips = b.div(away, span)?;
            let flips = b.unary(ScalarOp::Floor, flips)?;
            let odd = b.scalar(ScalarOp::Fmod, flips, 2.0)?;
            let odd = b.scalar(ScalarOp::Ne, odd, 0.0)?;
            let back = b.sub(span, extra)?;
            let there = b.select(odd, back, extra)?;
            let there = b.add_scalar(there, low)?;
            // A single element with aligned corners: no span.
            let one = b.scalar(ScalarOp::Eq, span, 0.0)?;
            let zero = b.zeros_like(there)?;
            c = b.select(one, zero, there)?;
        }
        let last = self.extent(b, c, 1)?;
        let edge = b.scalar(ScalarOp::Max, c, 0.0)?;
        let edge = b.binary(ScalarOp::Min, edge, last)?;
        // Through the edges themselves no gradient flows.
        let edge = b.prim(Prim::Detach, &[edge])?;
        let (after, before) = (b.scalar(ScalarOp::Gt, c, 0.0)?, b.binary(ScalarOp::Lt, c, last)?);
        let between = b.binary(ScalarOp::And, after, before)?;
        b.select(between, c, edge)
    }

    /// The tap at a whole position.
    fn tap(&self, b: &mut Builder, whole: ValueId, weight: Option<ValueId>) -> Result<Tap> {
        let last = self.extent(b, whole, 1)?;
        let (after, before) = (b.scalar(ScalarOp::Ge, whole, 0.0)?, b.binary(ScalarOp::Le, whole, last)?);
        // False for NaN too.
        let inside = b.binary(ScalarOp::And, after, before)?;
        let zero = b.zeros_like(whole)?;
        let at = b.select(inside, whole, zero)?;
        Ok(Tap { at: b.cast(at, DType::I32)?, weight, inside })
    }

    fn taps(&self, b: &mut Builder, c: ValueId, mode: &str) -> Result<Vec<Tap>> {
        let c = self.position(b, c)?;
        if mode == "bicubic" {
            return self.cubic(b, c);
        }
        let c = self.within(b, c)?;
        if mode == "nearest" {
            let whole = b.unary(ScalarOp::Round, c)?;
            return Ok(vec![self.tap(b, whole, None)?]);
        }
        let low = b.unary(ScalarOp::Floor, c)?;
        let high = b.add_scalar(low, 1.0)?;
        let (upper, lower) = (b.sub(c, low)?, b.sub(high, c)?);
        Ok(vec![self.tap(b, low, Some(lower))?, self.tap(b, high, Some(upper))?])
    }

    /// Four neighbours, each brought within the edges on its own.
    fn cubic(&self, b: &mut Builder, c: ValueId) -> Result<Vec<Tap>> {
        let low = b.unary(ScalarOp::Floor, c)?;
        let t = b.sub(c, low)?;
        let weights = cubic_weights(b, t)?;
        let mut taps = Vec::new();
        for (i, w) in weights.into_iter().enumerate() {
            let at = b.add_scalar(low, i as f64 - 1.0)?;
            let at = self.within(b, at)?;
            taps.push(self.tap(b, at, Some(w))?);
        }
        Ok(taps)
    }
}

/// The weights of four neighbours at a fraction between the middle two: R. Keys, "Cubic convolution interpolation for digital image
/// processing", 1981, with PyTorch's a = -0.75.
pub(super) fn cubic_weights(b: &mut Builder, t: ValueId) -> Result<[ValueId; 4]> {
    const A: f64 = -0.75;
    let polynomial = |b: &mut Builder, x: ValueId, c: [f64; 4]| -> Result<ValueId> {
        let mut y = b.mul_scalar(x, c[0])?;
        for (i, k) in c[1..].iter().enumerate() {
            y = b.add_scalar(y, *k)?;
            if i < 2 {
                y = b.mul(y, x)?;
            }
        }
        Ok(y)
    };
    // At a distance below one, and from one to two.
    let near = |b: &mut Builder, x| polynomial(b, x, [A + 2.0, -(A + 3.0), 0.0, 1.0]);
    let far = |b: &mut Builder, x| polynomial(b, x, [A, -5.0 * A, 8.0 * A, -4.0 * A]);
    let back = b.neg(t)?;
    let (one, two, back) = (b.add_scalar(t, 1.0)?, b.add_scalar(back, 2.0)?, b.add_scalar(back, 1.0)?);
    Ok([far(b, one)?, near(b, t)?, near(b, back)?, far(b, two)?])
}

fn affine_grid(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (theta, size, align) = (x[0], a.ints("size")?, corners(b, a)?);
    let n = size.len().saturating_sub(2);
    let shape = b.shape(theta);
    let fits = (2..=3).contains(&n)
        && shape.len() == 3
        && shape[0].as_const() == Some(size[0])
        && shape[1].as_const() == Some(n as i64)
        && shape[2].as_const() == Some(n as i64 + 1);
    if !fits || !b.dtype(theta).is_float() || size.iter().any(|s| *s < 1) {
        return Err(b.error(
            format!("size {size:?} does not fit theta"),
            "give floats [N, 2, 3] and [N, C, H, W], or [N, 3, 4] and [N, C, D, H, W]",
        ));
    }
    let dtype = b.dtype(theta);
    let grid: Vec<Dim> = size[2..].iter().map(|s| Dim::Const(*s)).collect();
    let mut columns = Vec::new();
    for d in (0..n).rev() {
        // The ends of [-1, 1] and what lies evenly between, or the middles of as many intervals, rounded as PyTorch rounds them: where a
        // grid meets the elements that it samples, the last bit says which side's gradient counts.
        let count = size[d + 2];
        let i = b.iota(&grid, d)?;
        // A single element is in the middle.
        let ends = if count == 1 { (0.0, 0.0) } else { (-1.0, 1.0) };
        let mut c = evenly(b, i, ends, count)?;
        if !align {
            let whole = b.constant(count as f64, DType::F32)?;
            c = b.mul_scalar(c, (count - 1) as f64)?;
            c = b.div(c, whole)?;
        }
        let c = b.cast(c, dtype)?;
        columns.push(b.unsqueeze(c, n)?);
    }
    columns.push(b.full(&[&grid[..], &[Dim::ONE]].concat(), 1.0, dtype)?);
    let base = b.cat(&columns, n)?;
    // [N, n, n + 1] with [.., n + 1] to [N, n, ..]
    let y = b.contract(theta, base, &[], &[(2, n)])?;
    let order: Vec<usize> = [0].into_iter().chain(2..n + 2).chain([1]).collect();
    Ok(vec![b.permute(y, &order)?])
}
