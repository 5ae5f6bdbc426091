//! Resizing the dimensions after the batch and the channels. PyTorch: torch.nn.functional.interpolate; the conventions are those of
//! `ATen/native/UpSample.h`.

use super::sample::cubic_weights;
use super::shape::{constant, interleaved};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[op!(
    "interpolate",
    "Tensor input, int|int[]? size=None, float|float[]? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, \
     bool? recompute_scale_factor=None, bool antialias=False",
    "Resizes the dimensions after the first two. Modes: nearest, nearest-exact, area; linear in one, bilinear and bicubic in two, trilinear \
     in three dimensions; antialias with bilinear and bicubic. Positions follow from the scale_factor as given, unless it is recomputed.",
    interpolate
)
.full()];

/// How one dimension is resized.
struct Axis {
    n: i64,
    out: i64,
    /// Input elements an output element.
    scale: f64,
    align: bool,
}

fn flag(b: &Builder, a: &Attrs, name: &str) -> Result<Option<bool>> {
    match a.get(name) {
        None => Ok(None),
        Some(_) => a.bool(name).map(Some).map_err(|_| b.error(format!("{name} is not a bool"), "use true or false")),
    }
}

/// The dimensions' sizes before and after.
fn axes(b: &mut Builder, x: ValueId, a: &Attrs, align: bool) -> Result<Vec<Axis>> {
    let shape = b.shape(x);
    let count = shape.len() - 2;
    // One number is for all dimensions, a list has one for each.
    let sizes = match a.get("size") {
        Some(Attr::Int(n)) => Some(vec![*n; count]),
        _ => a.opt_ints("size")?,
    };
    let factors = match a.get("scale_factor") {
        Some(Attr::Float(f)) => Some(vec![*f; count]),
        _ => a.opt_floats("scale_factor")?,
    };
    let given = match (&sizes, &factors) {
        (Some(s), None) => s.len(),
        (None, Some(f)) => f.len(),
        _ => return Err(b.error("needs a size or a scale_factor", "give one of them")),
    };
    if given != count {
        let problem = format!("a list of {given} for {count} dimensions");
        return Err(b.error(problem, "list one for each dimension after the first two, or give one number for all"));
    }
    let recompute = flag(b, a, "recompute_scale_factor")?.unwrap_or(false);
    if recompute && sizes.is_some() {
        return Err(b.error("recompute_scale_factor with a size", "give a scale_factor"));
    }
    let mut out = Vec::new();
    for d in 0..count {
        let n = constant(b, &shape[d + 2])?;
        let factor = factors.as_ref().map(|f| f[d]);
        let to = match (&sizes, factor) {
            (Some(s), _) => s[d],
            (_, Some(f)) => (n as f64 * f).floor() as i64,
            _ => n,
        };
        if n < 1 || !(1..=i32::MAX as i64).contains(&to) {
            return Err(b.error(format!("cannot resize {n} elements to {to}"), "use sizes of at least one"));
        }
        let scale = match factor.filter(|f| !recompute && *f > 0.0) {
            _ if align => (n - 1) as f64 / (to - 1).max(1) as f64,
            Some(f) => 1.0 / f,
            None => n as f64 / to as f64,
        };
        out.push(Axis { n, out: to, scale, align });
    }
    Ok(out)
}

fn interpolate(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (rank, mode) = (b.rank(x[0]), a.str("mode")?);
    let dims = match mode {
        "nearest" | "nearest-exact" | "area" => 3..=5,
        "linear" => 3..=3,
        "bilinear" | "bicubic" => 4..=4,
        "trilinear" => 5..=5,
        other => {
            let text = format!("unknown mode {other:?}");
            return Err(b.error(text, "use nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear"));
        }
    };
    if !dims.contains(&rank) {
        return Err(b.error(
            format!("mode {mode:?} for {rank} dimensions"),
            "linear takes [N, C, L], bilinear and bicubic [N, C, H, W], trilinear one more",
        ));
    }
    if b.shape(x[0]).iter().skip(1).any(Dim::is_zero) {
        return Err(b.error("the input has no elements to resize", "only the batch may be empty"));
    }
    let (align, antialias) = (flag(b, a, "align_corners")?, a.bool("antialias")?);
    let picks = matches!(mode, "nearest" | "nearest-exact" | "area");
    if (picks && align.is_some()) || (antialias && !matches!(mode, "bilinear" | "bicubic")) {
        return Err(b.error(
            format!("mode {mode:?} has neither corners to align nor antialias"),
            "leave the argument out, or use bilinear or bicubic",
        ));
    }
    let axes = axes(b, x[0], a, align.unwrap_or(false))?;
    if mode == "area" {
        let name = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"][axes.len() - 1];
        return b.op(name, x, &Attrs::new().with("output_size", axes.iter().map(|x| x.out).collect::<Vec<_>>()));
    }
    let mut y = if picks { x[0] } else { b.float(x[0])? };
    for (i, axis) in axes.iter().enumerate() {
        y = match mode {
            "nearest" => axis.nearest(b, y, i + 2, 0.0)?,
            "nearest-exact" => axis.nearest(b, y, i + 2, 0.5)?,
            "bicubic" if antialias => axis.filtered(b, y, i + 2, 4.0)?,
            _ if antialias => axis.filtered(b, y, i + 2, 2.0)?,
            "bicubic" => axis.cubic(b, y, i + 2)?,
            _ => axis.linear(b, y, i + 2)?,
        };
    }
    Ok(vec![y])
}

impl Axis {
    /// Each element of the output is the one of the input that its place (or with `middle` 1/2 its middle) lies in.
    fn nearest(&self, b: &mut Builder, x: ValueId, dim: usize, middle: f64) -> Result<ValueId> {
        let exact = self.scale == self.n as f64 / self.out as f64;
        if exact && self.out % self.n == 0 {
            return interleaved(b, x, dim, self.out / self.n);
        }
        let i = b.iota(&[Dim::Const(self.out)], 0)?;
        let i = if exact && (2 * self.out).saturating_mul(self.n) < i32::MAX as i64 {
            // floor((i + middle) n / out) in whole numbers.
            let i = b.scalar(ScalarOp::Mul, i, 2.0 * self.n as f64)?;
            let i = b.add_scalar(i, 2.0 * middle * self.n as f64)?;
            b.scalar(ScalarOp::FloorDiv, i, 2.0 * self.out as f64)?
        } else {
            let i = b.cast(i, DType::F32)?;
            let i = b.add_scalar(i, middle)?;
            let i = b.mul_scalar(i, self.scale)?;
            b.cast(i, DType::I32)?
        };
        let i = b.scalar(ScalarOp::Min, i, (self.n - 1) as f64)?;
        Ok(b.op("index_select", &[x, i], &Attrs::new().with("dim", dim))?[0])
    }

    /// The numbers of output and input elements over a matrix of weights, `[out, n]`.
    fn grid(&self, b: &mut Builder, dtype: DType) -> Result<(ValueId, ValueId)> {
        let shape = [Dim::Const(self.out), Dim::Const(self.n)];
        let (o, i) = (b.iota(&shape, 0)?, b.iota(&shape, 1)?);
        Ok((b.cast(o, dtype)?, b.cast(i, dtype)?))
    }

    /// Where an output element lies in the input.
    fn source(&self, b: &mut Builder, o: ValueId) -> Result<ValueId> {
        let s = b.mul_scalar(o, self.scale)?;
        if self.align { Ok(s) } else { b.add_scalar(s, 0.5 * self.scale - 0.5) }
    }

    /// Whether a matrix of weights would be larger than images are.
    fn is_long(&self) -> bool {
        self.n.saturating_mul(self.out) > 1 << 20
    }

    /// The sum of elements of the input, each times a weight: of `taps`, the place along the axis, clamped to its edges, and the weight,
    /// both for each output element.
    fn gathered(&self, b: &mut Builder, x: ValueId, dim: usize, taps: &[(ValueId, ValueId)]) -> Result<ValueId> {
        let mut sum = None;
        for (at, weight) in taps {
            let at = b.scalar(ScalarOp::Max, *at, 0.0)?;
            let at = b.scalar(ScalarOp::Min, at, (self.n - 1) as f64)?;
            let at = b.cast(at, DType::I32)?;
            let values = b.op("index_select", &[x, at], &Attrs::new().with("dim", dim))?[0];
            let mut weight = *weight;
            for _ in dim + 1..b.rank(x) {
                weight = b.unsqueeze(weight, b.rank(weight))?;
            }
            let term = b.mul(values, weight)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => b.add(sum, term)?,
            });
        }
        sum.ok_or_else(|| b.error("no taps", "report this"))
    }

    /// A product with a matrix of hat functions, max(0, 1 - |source - i|); along a long axis the two neighbours.
    fn linear(&self, b: &mut Builder, x: ValueId, dim: usize) -> Result<ValueId> {
        let within = |b: &mut Builder, o: ValueId| {
            let source = self.source(b, o)?;
            let source = b.scalar(ScalarOp::Max, source, 0.0)?;
            b.scalar(ScalarOp::Min, source, (self.n - 1) as f64)
        };
        if self.is_long() {
            let (low, t) = self.parts(b, b.dtype(x), &within)?;
            let (high, rest) = (b.add_scalar(low, 1.0)?, b.neg(t)?);
            let rest = b.add_scalar(rest, 1.0)?;
            return self.gathered(b, x, dim, &[(low, rest), (high, t)]);
        }
        let (o, i) = self.grid(b, b.dtype(x))?;
        let source = within(b, o)?;
        let distance = b.sub(source, i)?;
        let weights = hat(b, distance)?;
        apply(b, x, dim, weights)
    }

    /// Of the place of each output element in the input, the whole number below it and the rest.
    fn parts(
        &self,
        b: &mut Builder,
        dtype: DType,
        source: &dyn Fn(&mut Builder, ValueId) -> Result<ValueId>,
    ) -> Result<(ValueId, ValueId)> {
        let o = b.iota(&[Dim::Const(self.out)], 0)?;
        let o = b.cast(o, dtype)?;
        let source = source(b, o)?;
        let low = b.unary(ScalarOp::Floor, source)?;
        Ok((low, b.sub(source, low)?))
    }

    /// Four neighbours, those beyond the edges being the edges.
    fn cubic(&self, b: &mut Builder, x: ValueId, dim: usize) -> Result<ValueId> {
        if self.is_long() {
            let (low, t) = self.parts(b, b.dtype(x), &|b, o| self.source(b, o))?;
            let weights = cubic_weights(b, t)?;
            let place = |b: &mut Builder, k: usize| b.add_scalar(low, k as f64 - 1.0);
            let taps = (0..4).map(|k| Ok((place(b, k)?, weights[k]))).collect::<Result<Vec<_>>>()?;
            return self.gathered(b, x, dim, &taps);
        }
        let (o, i) = self.grid(b, b.dtype(x))?;
        let source = self.source(b, o)?;
        let low = b.unary(ScalarOp::Floor, source)?;
        let t = b.sub(source, low)?;
        let zero = b.zeros_like(t)?;
        let mut weights = zero;
        for (k, w) in cubic_weights(b, t)?.into_iter().enumerate() {
            let at = b.add_scalar(low, k as f64 - 1.0)?;
            let at = b.scalar(ScalarOp::Max, at, 0.0)?;
            let at = b.scalar(ScalarOp::Min, at, (self.n - 1) as f64)?;
            let here = b.binary(ScalarOp::Eq, at, i)?;
            let w = b.select(here, w, zero)?;
            weights = b.add(weights, w)?;
        }
        apply(b, x, dim, weights)
    }

    /// A filter as wide as the output's elements are: what PIL and PyTorch's antialias do. `width`: of the filter at scale 1.
    fn filtered(&self, b: &mut Builder, x: ValueId, dim: usize, width: f64) -> Result<ValueId> {
        let (o, i) = self.grid(b, b.dtype(x))?;
        let wide = self.scale.max(1.0);
        let support = 0.5 * width * wide;
        let centre = b.add_scalar(o, 0.5)?;
        let centre = b.mul_scalar(centre, self.scale)?;
        let edge = |b: &mut Builder, by: f64| {
            let e = b.add_scalar(centre, by + 0.5)?;
            b.unary(ScalarOp::Trunc, e)
        };
        let (first, last) = (edge(b, -support)?, edge(b, support)?);
        let (after, before) = (b.binary(ScalarOp::Ge, i, first)?, b.binary(ScalarOp::Lt, i, last)?);
        let inside = b.binary(ScalarOp::And, after, before)?;
        let d = b.sub(i, centre)?;
        let d = b.add_scalar(d, 0.5)?;
        let d = b.mul_scalar(d, 1.0 / wide)?;
        let w = if width == 2.0 { hat(b, d)? } else { keys(b, d)? };
        let zero = b.zeros_like(w)?;
        let w = b.select(inside, w, zero)?;
        let total = b.sum(w, &[1], true)?;
        let weights = b.div(w, total)?;
        apply(b, x, dim, weights)
    }
}

/// max(0, 1 - |x|)
fn hat(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let m = b.unary(ScalarOp::Abs, x)?;
    let m = b.neg(m)?;
    let m = b.add_scalar(m, 1.0)?;
    b.scalar(ScalarOp::Max, m, 0.0)
}

/// Keys's cubic with a = -1/2, as PIL has it.
fn keys(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    const A: f64 = -0.5;
    let m = b.unary(ScalarOp::Abs, x)?;
    let horner = |b: &mut Builder, c: [f64; 4]| -> Result<ValueId> {
        let mut y = b.full_like(m, c[0])?;
        for k in &c[1..] {
            y = b.mul(y, m)?;
            y = b.add_scalar(y, *k)?;
        }
        Ok(y)
    };
    let (near, far) = (horner(b, [A + 2.0, -(A + 3.0), 0.0, 1.0])?, horner(b, [A, -5.0 * A, 8.0 * A, -4.0 * A])?);
    let zero = b.zeros_like(m)?;
    let (one, two) = (b.scalar(ScalarOp::Lt, m, 1.0)?, b.scalar(ScalarOp::Lt, m, 2.0)?);
    let rest = b.select(two, far, zero)?;
    b.select(one, near, rest)
}

/// `x` times weights `[out, n]` along a dimension.
fn apply(b: &mut Builder, x: ValueId, dim: usize, weights: ValueId) -> Result<ValueId> {
    let y = b.contract(x, weights, &[], &[(dim, 1)])?;
    let rank = b.rank(y);
    let mut perm: Vec<usize> = (0..rank - 1).collect();
    perm.insert(dim, rank - 1);
    b.permute(y, &perm)
}
