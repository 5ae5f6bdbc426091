//! Operators that rearrange elements. Most are views: they become index arithmetic and cost nothing.

use super::linalg::diagonal_of;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::order::Order;
use crate::prim::Prim;
use crate::scalar::ScalarOp;
use crate::shape::Shape;

pub static OPS: &[OpDef] = &[
    op!("reshape", "Tensor input, SymInt[] shape", "The same elements in another shape; one size may be -1.", |b, x, a| {
        let shape = whole_shape(b, x[0], a)?;
        Ok(vec![b.reshape(x[0], shape)?])
    }),
    op!("flatten", "Tensor input, int start_dim=0, int end_dim=-1", "Joins the dimensions from start_dim to end_dim into one.", flatten),
    op!("squeeze", "Tensor input, int[]? dim=None", "Drops dimensions of size 1, all or those named.", squeeze),
    op!("unsqueeze", "Tensor input, int dim", "Adds a dimension of size 1.", |b, x, a| {
        let rank = b.rank(x[0]) as i64 + 1;
        let dim = a.int("dim")?;
        let d = if dim < 0 { dim + rank } else { dim };
        if !(0..rank).contains(&d) {
            return Err(b.error(format!("dimension {dim} is out of range"), format!("use a dimension from {} to {}", -rank, rank - 1)));
        }
        Ok(vec![b.unsqueeze(x[0], d as usize)?])
    }),
    op!("permute", "Tensor input, int[] dims", "Dimensions in another order.", permute),
    op!("transpose", "Tensor input, int dim0, int dim1", "Two dimensions exchanged.", |b, x, a| {
        let (p, q) = (b.dim(x[0], a.int("dim0")?)?, b.dim(x[0], a.int("dim1")?)?);
        Ok(vec![if b.rank(x[0]) == 0 { x[0] } else { b.transpose(x[0], p, q)? }])
    }),
    op!("t", "Tensor input", "A matrix transposed; vectors stay.", |b, x, _| match b.rank(x[0]) {
        2 => Ok(vec![b.transpose(x[0], 0, 1)?]),
        0 | 1 => Ok(vec![x[0]]),
        r => Err(b.error(format!("has {r} dimensions"), "use transpose() for more than two")),
    }),
    op!("flip", "Tensor input, int[] dims", "Elements in reverse order along dims.", |b, x, a| {
        let list = a.ints("dims")?;
        if list.is_empty() {
            return Ok(vec![x[0]]);
        }
        let dims = distinct(b, x[0], Some(&list))?;
        Ok(vec![b.prim(Prim::Flip(dims), &[x[0]])?])
    }),
    op!("flipud", "Tensor input", "Rows in reverse order: the first dimension.", |b, x, _| flip_one(b, x[0], 0)),
    op!("fliplr", "Tensor input", "Columns in reverse order: the second dimension.", |b, x, _| flip_one(b, x[0], 1)),
    op!(
        "roll",
        "Tensor input, int[] shifts, int[]? dims=None",
        "Elements moved along dims, those that fall off come back at the other end.",
        roll
    ),
    op!("tile", "Tensor input, int[] dims", "The tensor repeated along each dimension. PyTorch: torch.tile, Tensor.repeat.", |b, x, a| {
        repeat(b, x[0], &a.ints("dims")?)
    }),
    op!("repeat", "Tensor input, int[] repeats", "The tensor repeated along each dimension.", |b, x, a| {
        let counts = a.ints("repeats")?;
        if counts.len() < b.rank(x[0]) {
            return Err(b.error(format!("{} counts for {} dimensions", counts.len(), b.rank(x[0])), "give one for each, or use tile()"));
        }
        repeat(b, x[0], &counts)
    }),
    op!(
        "repeat_interleave",
        "Tensor input, int repeats, int? dim=None",
        "Each element repeated, along dim or of the flat tensor.",
        repeat_interleave
    ),
    op!("tril", "Tensor input, int diagonal=0", "The lower triangle of the last two dimensions, zero above it.", |b, x, a| triangle(
        b,
        x[0],
        a,
        ScalarOp::Ge
    )),
    op!("triu", "Tensor input, int diagonal=0", "The upper triangle of the last two dimensions, zero below it.", |b, x, a| triangle(
        b,
        x[0],
        a,
        ScalarOp::Le
    )),
    op!("diagonal", "Tensor input, int offset=0, int dim1=0, int dim2=1", "A diagonal of two dimensions, as a last dimension.", diagonal),
    op!("narrow", "Tensor input, int dim, SymInt start, SymInt length", "length elements from start along dim.", narrow),
    op!(
        "slice",
        "Tensor input, int dim=0, SymInt start=0, SymInt? end=None, int step=1",
        "Elements from start to end along dim, each step-th. PyTorch: x[start:end:step].",
        slice
    ),
    op!("select", "Tensor input, int dim, SymInt index", "One index of a dimension, which goes. PyTorch: x[index].", |b, x, a| {
        let d = b.dim(x[0], a.int("dim")?)?;
        if b.rank(x[0]) == 0 {
            return Err(b.error("a scalar has no dimension to select from", "give a tensor of at least one dimension"));
        }
        let start = start_of(b, x[0], d, a, "index")?;
        let y = b.narrow(x[0], d, start, Dim::ONE)?;
        let mut shape = b.shape(y);
        shape.remove(d);
        Ok(vec![b.reshape(y, shape)?])
    }),
    op!(
        "unfold",
        "Tensor input, int dimension, int size, int step",
        "Sliding windows along a dimension, as a last dimension. PyTorch: Tensor.unfold.",
        |b, x, a| {
            let dim = b.dim(x[0], a.int("dimension")?)?;
            let (size, step) = (a.int("size")?, a.int("step")?);
            if b.rank(x[0]) == 0 {
                // A scalar has one window, of itself or of nothing.
                if !(0..=1).contains(&size) || step < 1 {
                    return Err(b.error(format!("a window of {size} does not fit a scalar"), "use a window of at most 1"));
                }
                let one = b.reshape(x[0], vec![Dim::ONE])?;
                return Ok(vec![b.narrow(one, 0, Dim::ZERO, Dim::Const(size))?]);
            }
            Ok(vec![b.prim(Prim::Unfold { dim, size, step, dilation: 1 }, &[x[0]])?])
        }
    ),
    op!("expand", "Tensor input, SymInt[] shape", "Sizes of 1 grown to the given ones; -1 keeps a size.", expand),
    op!(
        "pad",
        "Tensor input, SymInt[] pad, str mode=\"constant\", float value=0.0",
        "Elements added around the last dimensions: pad lists pairs from the last dimension on; negative amounts remove. Modes: constant, reflect, replicate, circular.",
        pad
    ),
    op!("pixel_shuffle", "Tensor input, int upscale_factor", "[*, C r^2, H, W] to [*, C, H r, W r].", pixel_shuffle),
    op!("cat", "Tensor[] tensors, int dim=0", "Tensors joined along a dimension.", |b, x, a| {
        let x = same_type(b, x)?;
        // Vectors of nothing join anything, as they always did in PyTorch.
        let nothing = |b: &Builder, v: ValueId| b.rank(v) == 1 && b.shape(v)[0].is_zero();
        let some: Vec<ValueId> = x.iter().copied().filter(|v| !nothing(b, *v)).collect();
        let parts = if some.is_empty() { &x } else { &some };
        if parts.iter().any(|v| b.rank(*v) == 0) {
            return Err(b.error("scalars have no dimension to join along", "use stack()"));
        }
        let d = b.dim(parts[0], a.int("dim")?)?;
        Ok(vec![b.cat(parts, d)?])
    })
    .widest(),
    op!("stack", "Tensor[] tensors, int dim=0", "Tensors of equal shape joined along a new dimension.", |b, x, a| {
        let x = same_type(b, x)?;
        let rank = b.rank(x[0]) as i64 + 1;
        let dim = a.int("dim")?;
        let d = if dim < 0 { dim + rank } else { dim };
        if !(0..rank).contains(&d) {
            return Err(b.error(format!("dimension {dim} is out of range"), format!("use a dimension from {} to {}", -rank, rank - 1)));
        }
        let x = x.iter().map(|v| {
            if b.rank(*v) as i64 + 1 == rank {
                b.unsqueeze(*v, d as usize)
            } else {
                Err(b.error("the tensors differ in rank", "stack tensors of one shape"))
            }
        });
        let x = x.collect::<Result<Vec<_>>>()?;
        Ok(vec![b.cat(&x, d as usize)?])
    })
    .widest(),
    op!(
        "split",
        "Tensor input, int|int[] split_size_or_sections, int dim=0",
        "Consecutive parts of a dimension: of one size (the last may be smaller) or of the sizes listed.",
        split
    ),
    op!(
        "chunk",
        "Tensor input, int chunks, int dim=0",
        "A dimension in that many parts of equal size (the last may be smaller).",
        |b, x, a| {
            let d = b.dim(x[0], a.int("dim")?)?;
            let (n, chunks) = (static_size(b, x[0], d)?, a.int("chunks")?);
            if chunks < 1 {
                return Err(b.error(format!("{chunks} chunks"), "use a number of at least 1"));
            }
            split(b, x, &Attrs::new().with("dim", d).with("split_size_or_sections", ((n + chunks - 1) / chunks).max(1)))
        }
    ),
];

pub(super) fn same_type(b: &mut Builder, x: &[ValueId]) -> Result<Vec<ValueId>> {
    let dtype = x.iter().map(|v| b.dtype(*v)).reduce(|p, q| p.promote(q)).unwrap_or(crate::DType::F32);
    x.iter().map(|v| b.cast(*v, dtype)).collect()
}

/// The number that a size is. A symbolic one is taken for what it is now: tracing becomes special to it.
pub(super) fn constant(b: &mut Builder, d: &Dim) -> Result<i64> {
    let env = &mut b.graph.env;
    match d.as_const().or_else(|| env.hint(d)) {
        Some(n) if env.equal(d, &Dim::Const(n), "a size that decides what is computed") => Ok(n),
        _ => Err(b.error("a size is not known", "use a dimension whose size does not change")),
    }
}

fn static_size(b: &mut Builder, x: ValueId, dim: usize) -> Result<i64> {
    match b.shape(x).get(dim) {
        Some(n) => constant(b, n),
        None => Err(b.error(format!("there is no dimension {dim}"), "name a dimension of the tensor")),
    }
}

fn whole_shape(b: &mut Builder, x: ValueId, a: &Attrs) -> Result<Shape> {
    let mut shape = a.dims("shape")?;
    let unknown: Vec<usize> = (0..shape.len()).filter(|i| shape[*i].as_const() == Some(-1)).collect();
    if unknown.len() > 1 || shape.iter().any(|d| d.as_const().is_some_and(|d| d < -1)) {
        return Err(b.error(format!("{} is no shape", b.graph.env.show_shape(&shape)), "sizes are not negative, and only one may be -1"));
    }
    if let [i] = unknown[..] {
        let n = b.ty(x).numel();
        let known = Expr::product(shape.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, d)| d));
        let quotient = n.exact_div(&known).or_else(|| {
            // Not a multiple term by term; the guard that reshape records decides.
            (n.as_const().is_none() || known.as_const().is_none()).then(|| n.floordiv(&known, &b.graph.env))
        });
        let Some(q) = quotient else {
            let text = format!("{} elements do not fill {}", b.graph.env.show(&n), b.graph.env.show_shape(&shape));
            return Err(b.error(text, "give a shape of as many elements"));
        };
        shape[i] = q;
    }
    Ok(shape)
}

fn flatten(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (s, e) = (b.dim(x[0], a.int("start_dim")?)?, b.dim(x[0], a.int("end_dim")?)?);
    let shape = b.shape(x[0]);
    if shape.is_empty() {
        return Ok(vec![b.reshape(x[0], vec![Dim::ONE])?]);
    }
    if s > e {
        return Err(b.error("start_dim is after end_dim", "exchange them"));
    }
    let mut out = shape[..s].to_vec();
    out.push(Expr::product(&shape[s..=e]));
    out.extend_from_slice(&shape[e + 1..]);
    Ok(vec![b.reshape(x[0], out)?])
}

/// Dimensions that are each named once; all of them when none are named.
fn distinct(b: &Builder, x: ValueId, dims: Option<&[i64]>) -> Result<Vec<usize>> {
    let found = b.dims(x, dims)?;
    if let Some(list) = dims.filter(|l| !l.is_empty() && b.rank(x) > 0 && l.len() != found.len()) {
        return Err(b.error(format!("dimensions {list:?} name one twice"), "name each dimension once"));
    }
    Ok(found)
}

fn squeeze(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let shape = b.shape(x[0]);
    let dims = match a.opt_ints("dim")? {
        // An empty list names no dimension.
        Some(list) if list.is_empty() => Vec::new(),
        list => distinct(b, x[0], list.as_deref())?,
    };
    let kept = shape.into_iter().enumerate().filter(|(i, d)| !(dims.contains(i) && d.is_one())).map(|(_, d)| d).collect();
    Ok(vec![b.reshape(x[0], kept)?])
}

fn permute(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let list = a.ints("dims")?;
    let perm = list.iter().map(|d| b.dim(x[0], *d)).collect::<Result<Vec<_>>>()?;
    let mut seen = perm.clone();
    seen.order();
    if !seen.iter().copied().eq(0..b.rank(x[0])) {
        return Err(b.error(format!("{list:?} is not an order of {} dimensions", b.rank(x[0])), "name each dimension once"));
    }
    Ok(vec![b.permute(x[0], &perm)?])
}

fn roll(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let shifts = a.ints("shifts")?;
    let shape = b.shape(x[0]);
    let Some(dims) = a.opt_ints("dims")?.filter(|d| !d.is_empty()) else {
        let [shift] = shifts[..] else {
            return Err(b.error(format!("{} shifts without dims", shifts.len()), "give one shift, or dims for each"));
        };
        let flat = b.reshape(x[0], vec![Expr::product(&shape)])?;
        let r = rolled(b, flat, 0, shift)?;
        return Ok(vec![b.reshape(r, shape)?]);
    };
    if dims.len() != shifts.len() {
        return Err(b.error(format!("{} shifts for {} dimensions", shifts.len(), dims.len()), "give one shift for each dimension"));
    }
    if shape.is_empty() {
        return Err(b.error("a scalar has no dimension to roll along", "leave dims out"));
    }
    let mut y = x[0];
    for (d, s) in dims.iter().zip(shifts) {
        let d = b.dim(y, *d)?;
        y = rolled(b, y, d, s)?;
    }
    Ok(vec![y])
}

fn rolled(b: &mut Builder, x: ValueId, dim: usize, shift: i64) -> Result<ValueId> {
    let Some(n) = b.shape(x).get(dim).cloned() else { return Ok(x) };
    // Where the first element of the result comes from.
    let start = match n.as_const() {
        Some(0) => return Ok(x),
        Some(c) => Dim::Const((-shift).rem_euclid(c)),
        None if shift > 0 => n.sub(&Dim::Const(shift)),
        None => Dim::Const(-shift),
    };
    if start.is_zero() {
        return Ok(x);
    }
    let tail = b.narrow(x, dim, start.clone(), n.sub(&start))?;
    let head = b.narrow(x, dim, Dim::ZERO, start)?;
    b.cat(&[tail, head], dim)
}

fn repeat(b: &mut Builder, x: ValueId, reps: &[i64]) -> Result<Vec<ValueId>> {
    if reps.iter().any(|r| *r < 0) {
        return Err(b.error(format!("{reps:?} repeats a negative number of times"), "use counts of zero or more"));
    }
    let mut shape = b.shape(x);
    let mut reps = reps.to_vec();
    while shape.len() < reps.len() {
        shape.insert(0, Dim::ONE);
    }
    while reps.len() < shape.len() {
        reps.insert(0, 1);
    }
    let pairs = |f: &dyn Fn(usize) -> [Dim; 2]| (0..shape.len()).flat_map(f).collect::<Shape>();
    let apart = b.reshape(x, pairs(&|d| [Dim::ONE, shape[d].clone()]))?;
    let grown = b.prim(Prim::Expand(pairs(&|d| [Dim::Const(reps[d]), shape[d].clone()])), &[apart])?;
    Ok(vec![b.reshape(grown, (0..shape.len()).map(|d| shape[d].scale(reps[d])).collect())?])
}

fn flip_one(b: &mut Builder, x: ValueId, d: usize) -> Result<Vec<ValueId>> {
    if b.rank(x) <= d {
        return Err(b.error(format!("has {} dimensions", b.rank(x)), format!("give it at least {}, or use flip()", d + 1)));
    }
    Ok(vec![b.prim(Prim::Flip(vec![d]), &[x])?])
}

fn repeat_interleave(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let n = a.int("repeats")?;
    if n < 0 {
        return Err(b.error(format!("repeats {n} times"), "use a count of zero or more"));
    }
    let (v, d) = match a.opt_int("dim")? {
        Some(d) if b.rank(x[0]) > 0 => (x[0], b.dim(x[0], d)?),
        _ => {
            let flat = b.ty(x[0]).numel();
            (b.reshape(x[0], vec![flat])?, 0)
        }
    };
    Ok(vec![interleaved(b, v, d, n)?])
}

pub(super) fn interleaved(b: &mut Builder, x: ValueId, dim: usize, n: i64) -> Result<ValueId> {
    let mut shape = b.shape(x);
    let apart = b.unsqueeze(x, dim + 1)?;
    let mut grown = shape.clone();
    grown.insert(dim + 1, Dim::Const(n));
    let grown = b.prim(Prim::Expand(grown), &[apart])?;
    shape[dim] = shape[dim].scale(n);
    b.reshape(grown, shape)
}

fn triangle(b: &mut Builder, x: ValueId, a: &Attrs, keeps: ScalarOp) -> Result<Vec<ValueId>> {
    let (shape, rank) = (b.shape(x), b.rank(x));
    if rank < 2 {
        return Err(b.error("needs two dimensions", "give a matrix or a batch of matrices"));
    }
    let square = &shape[rank - 2..];
    let (row, column) = (b.iota(square, 0)?, b.iota(square, 1)?);
    let row = b.add_scalar(row, a.int("diagonal")? as f64)?;
    let keep = b.binary(keeps, row, column)?;
    let zero = b.zeros_like(x)?;
    Ok(vec![b.select(keep, x, zero)?])
}

fn diagonal(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (d1, d2, offset) = (b.dim(x[0], a.int("dim1")?)?, b.dim(x[0], a.int("dim2")?)?, a.int("offset")?);
    if d1 == d2 || b.rank(x[0]) < 2 {
        return Err(b.error("needs two dimensions", "name two different dimensions"));
    }
    let (rows, columns) = (static_size(b, x[0], d1)?, static_size(b, x[0], d2)?);
    let (r, c) = ((-offset).max(0), offset.max(0));
    let n = (rows - r).min(columns - c).max(0);
    let y = b.narrow(x[0], d1, Dim::Const(r.min(rows)), Dim::Const(n))?;
    let y = b.narrow(y, d2, Dim::Const(c.min(columns)), Dim::Const(n))?;
    let y = diagonal_of(b, y, d1, d2)?;
    // The diagonal comes last.
    let at = d1 - (d2 < d1) as usize;
    let rank = b.rank(y);
    let perm: Vec<usize> = (0..rank).filter(|d| *d != at).chain([at]).collect();
    Ok(vec![b.permute(y, &perm)?])
}

// A position along `dim`, which may be symbolic, counted from the end when negative.
pub(super) fn start_of(b: &Builder, x: ValueId, dim: usize, a: &Attrs, name: &str) -> Result<Dim> {
    let s = match a.get(name) {
        Some(Attr::Dims(v)) if v.len() == 1 => v[0].clone(),
        _ => Dim::Const(a.int(name)?),
    };
    Ok(if s.as_const().is_some_and(|s| s < 0) { b.shape(x)[dim].add(&s) } else { s })
}

fn narrow(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let d = b.dim(x[0], a.int("dim")?)?;
    if b.rank(x[0]) == 0 {
        return Err(b.error("a scalar cannot be narrowed", "give a tensor of at least one dimension"));
    }
    let start = start_of(b, x[0], d, a, "start")?;
    let Some(length) = a.dims("length")?.into_iter().next() else { return Err(b.error("needs a length", "give one")) };
    let size = b.shape(x[0])[d].clone();
    if let (Some(s), Some(n)) = (start.as_const(), size.as_const())
        && !(0..=n).contains(&s)
    {
        return Err(b.error(format!("start {s} is out of range for {n} elements"), format!("use a start from {} to {n}", -n)));
    }
    Ok(vec![b.narrow(x[0], d, start, length)?])
}

fn slice(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let d = b.dim(x[0], a.int("dim")?)?;
    let (start, size, step) = slice_bounds(b, x[0], d, a)?;
    let shape = b.shape(x[0]);
    let mut starts = vec![Dim::ZERO; shape.len()];
    let (mut sizes, mut steps) = (shape.clone(), vec![1; shape.len()]);
    (starts[d], sizes[d], steps[d]) = (start, size, step);
    Ok(vec![b.prim(Prim::Slice { start: starts, size: sizes, step: steps }, &[x[0]])?])
}

/// Where a slice begins along a dimension, how many elements it has, and how far they are apart.
pub(super) fn slice_bounds(b: &Builder, x: ValueId, d: usize, a: &Attrs) -> Result<(Dim, Dim, i64)> {
    if b.rank(x) == 0 {
        return Err(b.error("a scalar cannot be sliced", "give a tensor of at least one dimension"));
    }
    let step = a.int("step")?;
    if step < 1 {
        return Err(b.error(format!("step {step} is not positive"), "use flip() to go backwards"));
    }
    let n = b.shape(x)[d].clone();
    let (start, end) = (start_of(b, x, d, a, "start")?, if a.get("end").is_some() { start_of(b, x, d, a, "end")? } else { n.clone() });
    // Out of range is cut to the tensor, as in Python.
    let env = &b.graph.env;
    let start = start.maximum(&Dim::ZERO, env).minimum(&n, env);
    let end = end.minimum(&n, env).maximum(&start, env);
    let size = end.sub(&start).add(&Dim::Const(step - 1)).floordiv(&Dim::Const(step), env);
    Ok((start, size, step))
}

fn expand(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let mut shape = a.dims("shape")?;
    let have = b.shape(x[0]);
    if shape.len() < have.len() {
        return Err(b.error("the shape has fewer dimensions than the tensor", "expand only adds dimensions in front"));
    }
    let new = shape.len() - have.len();
    for (i, d) in shape.iter_mut().enumerate() {
        if d.as_const() == Some(-1) && i >= new {
            *d = have[i - new].clone();
        }
        if d.as_const().is_some_and(|d| d < 0) {
            let text = format!("{} in dimension {i}", b.graph.env.show(d));
            return Err(b.error(text, "sizes are not negative, and -1 keeps that of a dimension that is there"));
        }
    }
    Ok(vec![b.broadcast_to(x[0], &shape)?])
}

fn pad(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let list = a.dims("pad")?;
    let (rank, mode) = (b.rank(x[0]), a.str("mode")?);
    if list.len() % 2 != 0 || list.len() > 2 * rank {
        let text = format!("pad {} is not a pair for each of the last dimensions", b.graph.env.show_shape(&list));
        return Err(b.error(text, "list pairs from the last dimension on"));
    }
    if mode != "constant" {
        // The batch alone may be empty.
        let batch = usize::from(rank > list.len() / 2 + 1);
        if b.shape(x[0]).iter().skip(batch).any(Dim::is_zero) {
            return Err(b.error(format!("mode {mode:?} of no elements"), "give sizes of at least one"));
        }
    }
    let mut y = x[0];
    for (i, p) in list.chunks_exact(2).enumerate() {
        let (d, n) = (rank - 1 - i, b.shape(y)[rank - 1 - i].clone());
        if mode == "constant" {
            // A size that is not known is no negative one.
            let cut = |v: &Dim| Dim::Const(v.as_const().map_or(0, |v| (-v).max(0)));
            let (from, to) = (cut(&p[0]), n.sub(&cut(&p[1])));
            if !from.is_zero() || to != n {
                y = b.narrow(y, d, from.clone(), to.sub(&from))?;
            }
            y = b.pad(y, d, p[0].add(&cut(&p[0])), p[1].add(&cut(&p[1])), a.float("value")?)?;
        } else {
            let (Some(lo), Some(hi)) = (p[0].as_const(), p[1].as_const()) else {
                return Err(b.error(format!("mode {mode:?} by sizes that are not known"), "give numbers"));
            };
            y = pad_by_copies(b, y, d, lo, hi, mode)?;
        }
    }
    Ok(vec![y])
}

// Padding whose elements are the tensor's own.
fn pad_by_copies(b: &mut Builder, x: ValueId, d: usize, lo: i64, hi: i64, mode: &str) -> Result<ValueId> {
    let n = b.shape(x)[d].clone();
    if lo < 0 || hi < 0 {
        let (cut_lo, cut_hi) = (Dim::Const((-lo).max(0)), Dim::Const((-hi).max(0)));
        if mode == "circular" {
            // What is left goes round.
            let y = b.narrow(x, d, cut_lo.clone(), n.sub(&cut_lo).sub(&cut_hi))?;
            return pad_by_copies(b, y, d, lo.max(0), hi.max(0), mode);
        }
        // What is cut off comes last: the other side still sees all.
        let y = pad_by_copies(b, x, d, lo.max(0), hi.max(0), mode)?;
        let have = b.shape(y)[d].clone();
        let left = have.sub(&cut_lo).sub(&cut_hi);
        if left.as_const().is_some_and(|n| n < 1) {
            return Err(b.error(format!("nothing is left of dimension {d}"), "remove fewer elements than there are"));
        }
        return b.narrow(y, d, cut_lo, left);
    }
    let at = |from: i64| Dim::Const(from);
    let edge = |b: &mut Builder, count: i64, low: bool| -> Result<Option<ValueId>> {
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(match mode {
            "reflect" => {
                let start = if low { at(1) } else { n.sub(&at(count + 1)) };
                let part = b.narrow(x, d, start, at(count))?;
                b.prim(Prim::Flip(vec![d]), &[part])?
            }
            "replicate" => {
                let part = b.narrow(x, d, if low { at(0) } else { n.sub(&at(1)) }, at(1))?;
                let mut shape = b.shape(part);
                shape[d] = at(count);
                b.prim(Prim::Expand(shape), &[part])?
            }
            "circular" => b.narrow(x, d, if low { n.sub(&at(count)) } else { at(0) }, at(count))?,
            other => return Err(b.error(format!("unknown mode {other:?}"), "use constant, reflect, replicate or circular")),
        }))
    };
    let (low, high) = (edge(b, lo, true)?, edge(b, hi, false)?);
    let parts: Vec<ValueId> = low.into_iter().chain([x]).chain(high).collect();
    b.cat(&parts, d)
}

fn pixel_shuffle(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (shape, rank, r) = (b.shape(x[0]), b.rank(x[0]), a.int("upscale_factor")?);
    let channels = (rank >= 3 && r > 0).then(|| shape[rank - 3].exact_div(&Dim::Const(r).scale(r))).flatten();
    let Some(c) = channels else {
        return Err(b.error(format!("channels do not divide by {r} squared"), "give [*, C r^2, H, W]"));
    };
    let lead = &shape[..rank - 3];
    let (h, w, r) = (shape[rank - 2].clone(), shape[rank - 1].clone(), Dim::Const(r));
    let n = lead.len();
    let y = b.reshape(x[0], [lead, &[c.clone(), r.clone(), r.clone(), h.clone(), w.clone()]].concat())?;
    let perm: Vec<usize> = (0..n).chain([n, n + 3, n + 1, n + 4, n + 2]).collect();
    let y = b.permute(y, &perm)?;
    Ok(vec![b.reshape(y, [lead, &[c, h.mul(&r), w.mul(&r)]].concat())?])
}

fn split(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let d = b.dim(x[0], a.int("dim")?)?;
    let Some(total) = b.shape(x[0]).get(d).cloned() else { return Err(b.error("a scalar cannot be split", "")) };
    let sections = match a.get("split_size_or_sections") {
        Some(Attr::Int(size)) if *size > 0 => {
            let n = static_size(b, x[0], d)?;
            (0..n).step_by(*size as usize).map(|s| (n - s).min(*size)).collect()
        }
        Some(Attr::Ints(v)) if v.iter().all(|s| *s >= 0) => v.clone(),
        _ => return Err(b.error("needs a positive size or a list of sizes", "give split_size_or_sections")),
    };
    let sum = Dim::Const(sections.iter().sum());
    if !b.graph.env.equal(&sum, &total, "sections add up to the dimension") {
        let text = format!("sections {sections:?} do not add up to {}", b.graph.env.show(&total));
        return Err(b.error(text, "give sizes that cover the dimension"));
    }
    let mut start = 0;
    let mut out = Vec::new();
    for s in sections {
        out.push(b.narrow(x[0], d, Dim::Const(start), Dim::Const(s))?);
        start += s;
    }
    if out.is_empty() {
        out.push(x[0]);
    }
    Ok(out)
}
