//! Tensors taken apart, put together and looked at in other ways, by the operators of [`super::shape`].

use super::shape::{constant, same_type, slice_bounds, start_of};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("unbind", "Tensor input, int dim=0", "The slices of a dimension, which goes.", |b, x, a| {
        let dim = dimension(b, x[0], a.int("dim")?)?;
        let size = b.shape(x[0])[dim].clone();
        let slices = (0..constant(b, &size)?).map(|i| {
            let y = b.narrow(x[0], dim, Dim::Const(i), Dim::ONE)?;
            let mut shape = b.shape(y);
            shape.remove(dim);
            b.reshape(y, shape)
        });
        slices.collect()
    }),
    op!(
        "unflatten",
        "Tensor input, int dim, SymInt[] sizes",
        "A dimension as several of the given sizes; one of them may be -1.",
        unflatten
    ),
    op!(
        "movedim",
        "Tensor input, int[] source, int[] destination",
        "Dimensions moved to other places; the rest keep their order.",
        movedim
    ),
    op!(
        "tensor_split",
        "Tensor input, Scalar|int[] indices_or_sections, int dim=0",
        "A dimension in that many parts, the first ones larger by one where it does not divide; or cut before each of several indices.",
        tensor_split
    ),
    op!(
        "meshgrid",
        "Tensor[] tensors, *, str indexing=\"ij\"",
        "Of each vector its values along a dimension of its own, expanded over the others; with indexing \"xy\" the first two dimensions \
         are exchanged.",
        meshgrid
    ),
    op!(
        "select_scatter",
        "Tensor input, Tensor src, int dim, SymInt index",
        "The input with src at one index of a dimension: what select shows, replaced.",
        |b, x, a| {
            let dim = dimension(b, x[0], a.int("dim")?)?;
            let start = start_of(b, x[0], dim, a, "index")?;
            let (mut want, have) = (b.shape(x[0]), b.shape(x[1]));
            want.remove(dim);
            if have.len() != want.len() {
                return Err(b.error(format!("src has {} dimensions, a slice of the input {}", have.len(), want.len()), SLICE_SHAPE));
            }
            let source = b.unsqueeze(x[1], dim)?;
            Ok(vec![replaced(b, x[0], source, dim, start)?])
        }
    ),
    op!(
        "slice_scatter",
        "Tensor input, Tensor src, int dim=0, SymInt start=0, SymInt? end=None, int step=1",
        "The input with src from start to end along a dimension, at each step-th place: what slice shows, replaced.",
        slice_scatter
    ),
    op!("hstack", "Tensor[] tensors", "Tensors joined along the second dimension; vectors along the first.", |b, x, _| {
        let x = at_least(b, x, 1)?;
        let dim = i64::from(b.rank(x[0]) > 1);
        b.op("cat", &x, &Attrs::new().with("dim", dim))
    })
    .widest(),
    op!("vstack", "Tensor[] tensors", "Tensors of at least two dimensions, vectors as rows, joined along the first.", |b, x, _| {
        let x = at_least(b, x, 2)?;
        b.op("cat", &x, &Attrs::new().with("dim", 0i64))
    })
    .widest(),
    op!(
        "dstack",
        "Tensor[] tensors",
        "Tensors of at least three dimensions, joined along the third: vectors [n] are [1, n, 1], matrices [n, m, 1].",
        |b, x, _| {
            let x = at_least(b, x, 3)?;
            b.op("cat", &x, &Attrs::new().with("dim", 2i64))
        }
    )
    .widest(),
    op!(
        "diff",
        "Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None",
        "The differences of neighbours along dim, n times over; prepend and append are joined to it first.",
        diff
    ),
    op!("diag", "Tensor input, int diagonal=0", "A vector as the diagonal of a matrix, or the diagonal of a matrix.", diag),
    op!("trace", "Tensor input", "The sum of a matrix's diagonal.", |b, x, _| {
        if b.rank(x[0]) != 2 {
            return Err(b.error(format!("has {} dimensions", b.rank(x[0])), "give a matrix"));
        }
        let d = b.op("diagonal", x, &Attrs::new())?;
        b.op("sum", &d, &Attrs::new())
    }),
    op!(
        "pixel_unshuffle",
        "Tensor input, int downscale_factor",
        "[*, C, H r, W r] to [*, C r^2, H, W]: the inverse of pixel_shuffle.",
        pixel_unshuffle
    ),
];

/// A dimension of a tensor that has one.
fn dimension(b: &Builder, x: ValueId, dim: i64) -> Result<usize> {
    let d = b.dim(x, dim)?;
    if b.rank(x) == 0 {
        return Err(b.error("a scalar has no dimensions", "give a tensor of at least one"));
    }
    Ok(d)
}

fn unflatten(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = dimension(b, x[0], a.int("dim")?)?;
    let (mut sizes, mut shape) = (a.dims("sizes")?, b.shape(x[0]));
    if sizes.is_empty() {
        return Err(b.error("sizes are empty", "give at least one"));
    }
    let text = |b: &Builder, s: &[Dim]| {
        format!("size {} of dimension {dim} is not {}", b.graph.env.show(&b.shape(x[0])[dim]), b.graph.env.show_shape(s))
    };
    let unknown: Vec<usize> = (0..sizes.len()).filter(|i| sizes[*i].as_const() == Some(-1)).collect();
    if unknown.len() > 1 || sizes.iter().any(|s| s.as_const().is_some_and(|s| s < -1)) {
        return Err(b.error(text(b, &sizes), "sizes are not negative, and only one may be -1"));
    }
    if let [i] = unknown[..] {
        let known = Expr::product(sizes.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, d)| d));
        let Some(q) = shape[dim].exact_div(&known) else { return Err(b.error(text(b, &sizes), "give sizes that divide it")) };
        sizes[i] = q;
    }
    if !b.graph.env.equal(&shape[dim], &Expr::product(&sizes), "unflatten keeps the number of elements") {
        return Err(b.error(text(b, &sizes), "give sizes whose product is the dimension's"));
    }
    shape.splice(dim..dim + 1, sizes);
    Ok(vec![b.reshape(x[0], shape)?])
}

fn movedim(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let list = |b: &Builder, name| a.ints(name)?.iter().map(|d| b.dim(x[0], *d)).collect::<Result<Vec<_>>>();
    let (source, destination) = (list(b, "source")?, list(b, "destination")?);
    let twice = |d: &[usize]| d.iter().enumerate().any(|(i, v)| d[..i].contains(v));
    if source.len() != destination.len() || twice(&source) || twice(&destination) {
        let text = format!("dimensions {source:?} cannot move to {destination:?}");
        return Err(b.error(text, "name as many places as dimensions, each once"));
    }
    let rank = b.rank(x[0]);
    let mut rest = (0..rank).filter(|d| !source.contains(d));
    let order = (0..rank).filter_map(|to| destination.iter().position(|d| *d == to).map(|i| source[i]).or_else(|| rest.next()));
    let order: Vec<usize> = order.collect();
    Ok(vec![b.permute(x[0], &order)?])
}

fn tensor_split(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = dimension(b, x[0], a.int("dim")?)?;
    let size = b.shape(x[0])[dim].clone();
    let n = constant(b, &size)?;
    let cuts: Vec<i64> = match a.get("indices_or_sections") {
        Some(Attr::Int(sections)) if *sections > 0 && *sections <= i32::MAX as i64 => {
            let (each, more) = (n / sections, n % sections);
            (1..*sections).map(|i| i * each + i.min(more)).collect()
        }
        Some(Attr::Int(sections)) => return Err(b.error(format!("{sections} sections"), "use a number of at least 1")),
        _ => a.ints("indices_or_sections")?,
    };
    // As Python slices: negative ones count from the end, and what is out of range is cut.
    let at = |i: i64| if i < 0 { (i + n).max(0) } else { i.min(n) };
    let mut start = 0;
    let mut out = Vec::new();
    for end in cuts.into_iter().map(at).chain([n]) {
        out.push(b.narrow(x[0], dim, Dim::Const(start.min(end)), Dim::Const((end - start).max(0)))?);
        start = end;
    }
    Ok(out)
}

fn meshgrid(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let exchanged = match a.str("indexing")? {
        "ij" => false,
        "xy" => x.len() > 1,
        other => return Err(b.error(format!("indexing is {other:?}"), "use \"ij\" or \"xy\"")),
    };
    if x.iter().any(|v| b.rank(*v) > 1 || b.dtype(*v) != b.dtype(x[0])) {
        return Err(b.error("the tensors are not vectors of one type", "flatten and convert them"));
    }
    let place = |i: usize| if exchanged && i < 2 { 1 - i } else { i };
    let sizes: Vec<Dim> = x.iter().map(|v| Expr::product(&b.shape(*v))).collect();
    let shape: Vec<Dim> = (0..x.len()).map(|d| sizes[place(d)].clone()).collect();
    let grids = x.iter().enumerate().map(|(i, v)| {
        let mut one = vec![Dim::ONE; x.len()];
        one[place(i)] = sizes[i].clone();
        let y = b.reshape(*v, one)?;
        b.broadcast_to(y, &shape)
    });
    grids.collect()
}

/// Tensors of at least so many dimensions, as NumPy's atleast_1d, atleast_2d and atleast_3d make them, and of one type.
fn at_least(b: &mut Builder, x: &[ValueId], rank: usize) -> Result<Vec<ValueId>> {
    let x = same_type(b, x)?;
    let grown = x.iter().map(|v| {
        let mut shape = b.shape(*v);
        while shape.len() < rank {
            let at = if shape.len() == 2 { 2 } else { 0 };
            shape.insert(at, Dim::ONE);
        }
        b.reshape(*v, shape)
    });
    grown.collect()
}

fn diff(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (n, dim) = (a.int("n")?, dimension(b, x[0], a.int("dim")?)?);
    if n < 0 {
        return Err(b.error(format!("n is {n}"), "use zero or more"));
    }
    let parts: Vec<ValueId> = [a.tensor(x, "prepend"), Some(x[0]), a.tensor(x, "append")].into_iter().flatten().collect();
    if parts.iter().any(|v| b.rank(*v) != b.rank(x[0])) {
        return Err(b.error("prepend and append are of another rank", "give tensors of as many dimensions"));
    }
    // Without a difference there is nothing to join.
    if n == 0 {
        return Ok(vec![x[0]]);
    }
    let mut y = b.op("cat", &parts, &Attrs::new().with("dim", dim))?[0];
    let size = b.shape(y)[dim].clone();
    let size = constant(b, &size)?;
    for i in 0..n.min(size) {
        let left = Dim::Const(size - i - 1);
        let (next, own) = (b.narrow(y, dim, Dim::ONE, left.clone())?, b.narrow(y, dim, Dim::ZERO, left)?);
        y = if b.dtype(y) == DType::Bool { b.binary(ScalarOp::Ne, next, own)? } else { b.sub(next, own)? };
    }
    Ok(vec![y])
}

fn diag(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let offset = a.int("diagonal")?;
    match b.rank(x[0]) {
        2 => b.op("diagonal", x, &Attrs::new().with("offset", offset)),
        1 => {
            let n = b.shape(x[0])[0].clone();
            let (before, whole) = (Dim::Const(offset.max(0)), Dim::Const(offset.abs()).add(&n));
            // In column i + offset of row i: each row is the vector, moved, and zero but for one element.
            let shape = [whole.clone(), whole.clone()];
            let (row, column) = (b.iota(&shape, 0)?, b.iota(&shape, 1)?);
            let at = b.add_scalar(row, offset as f64)?;
            let on = b.binary(ScalarOp::Eq, at, column)?;
            let after = whole.sub(&before).sub(&n);
            let line = b.pad(x[0], 0, before, after, 0.0)?;
            let line = b.broadcast_to(line, &shape)?;
            let zero = b.zeros_like(line)?;
            Ok(vec![b.select(on, line, zero)?])
        }
        r => Err(b.error(format!("has {r} dimensions"), "give a vector or a matrix")),
    }
}

fn pixel_unshuffle(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (shape, rank, r) = (b.shape(x[0]), b.rank(x[0]), a.int("downscale_factor")?);
    let parts = (rank >= 3 && r > 0).then(|| [&shape[rank - 2], &shape[rank - 1]].map(|d| d.exact_div(&Dim::Const(r))));
    let Some([Some(h), Some(w)]) = parts else {
        return Err(b.error(format!("the image does not divide by {r}"), "give [*, C, H r, W r]"));
    };
    if r > 1 << 15 {
        return Err(b.error(format!("downscale_factor is {r}"), "use a smaller number"));
    }
    let (lead, c, r) = (&shape[..rank - 3], shape[rank - 3].clone(), Dim::Const(r));
    let n = lead.len();
    let y = b.reshape(x[0], [lead, &[c.clone(), h.clone(), r.clone(), w.clone(), r.clone()]].concat())?;
    let order: Vec<usize> = (0..n).chain([n, n + 2, n + 4, n + 1, n + 3]).collect();
    let y = b.permute(y, &order)?;
    Ok(vec![b.reshape(y, [lead, &[c.mul(&r).mul(&r), h, w]].concat())?])
}

const SLICE_SHAPE: &str = "give it the shape that the slice has";

fn slice_scatter(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = dimension(b, x[0], a.int("dim")?)?;
    let (start, length, step) = slice_bounds(b, x[0], dim, a)?;
    let mut want = b.shape(x[0]);
    let n = std::mem::replace(&mut want[dim], length.clone());
    let have = b.shape(x[1]);
    let fits = have.len() == want.len() && have.iter().zip(&want).all(|(h, w)| b.graph.env.equal(h, w, "src has the slice's shape"));
    if !fits {
        let (h, w) = (b.graph.env.show_shape(&have), b.graph.env.show_shape(&want));
        return Err(b.error(format!("src is {h}, the slice {w}"), SLICE_SHAPE));
    }
    if step == 1 || length.is_zero() {
        return Ok(vec![replaced(b, x[0], x[1], dim, start)?]);
    }
    // Each element of the source begins a run of `step`, whose others are the input's.
    let runs = |b: &mut Builder, v: ValueId| -> Result<ValueId> {
        let apart = b.unsqueeze(v, dim + 1)?;
        let apart = b.pad(apart, dim + 1, Dim::ZERO, Dim::Const(step - 1), 0.0)?;
        let mut shape = have.clone();
        shape[dim] = shape[dim].scale(step);
        let flat = b.reshape(apart, shape)?;
        // The last run may reach beyond the input.
        let longest = n.sub(&start);
        let env = &b.graph.env;
        let length = have[dim].scale(step).minimum(&longest, env);
        b.narrow(flat, dim, Dim::ZERO, length)
    };
    let ones = b.full(&have, 1.0, DType::Bool)?;
    let (source, shown) = (runs(b, x[1])?, runs(b, ones)?);
    Ok(vec![replaced_where(b, x[0], source, shown, dim, start)?])
}

/// `x` with `source` from `start` on along a dimension.
fn replaced(b: &mut Builder, x: ValueId, source: ValueId, dim: usize, start: Dim) -> Result<ValueId> {
    let shape = b.shape(source);
    let shown = b.full(&shape, 1.0, DType::Bool)?;
    replaced_where(b, x, source, shown, dim, start)
}

fn replaced_where(b: &mut Builder, x: ValueId, source: ValueId, shown: ValueId, dim: usize, start: Dim) -> Result<ValueId> {
    if b.dtype(source) != b.dtype(x) {
        return Err(b.error(format!("src is {}, the input is {}", b.dtype(source), b.dtype(x)), "convert one with to()"));
    }
    let (n, length) = (b.shape(x)[dim].clone(), b.shape(source)[dim].clone());
    let after = n.sub(&start).sub(&length);
    let (zero, reason) = (Dim::ZERO, "the slice lies in the input");
    if !b.graph.env.at_least(&start, &zero, reason) || !b.graph.env.at_least(&after, &zero, reason) {
        return Err(b.error(format!("{} elements from {} on reach beyond {}", length, start, n), "use a start within the input"));
    }
    let source = b.pad(source, dim, start.clone(), after.clone(), 0.0)?;
    let shown = b.pad(shown, dim, start, after, 0.0)?;
    b.select(shown, source, x)
}
