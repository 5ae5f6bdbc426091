//! Writing at indices along a dimension. Where an index names an entry twice, the last source is
//! kept (PyTorch keeps any), so results are the same on every target. An index out of range is an error on the interpreter and is clamped
//! on devices.
//!
//! Sources of one entry are brought together by a stable sort of the index; the last of each run is scattered to its entry, the others to
//! one more entry, which is dropped.

use super::index::{check_index, spread};
use super::shape::constant;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "scatter",
        "Tensor input, int dim, Tensor index, Tensor? src=None, Scalar? value=None, *, str? reduce=None",
        "The input with src, or the number value, at the index along dim; added or multiplied where reduce is \"add\" or \"multiply\".",
        scatter,
        scatter_vjp
    ),
    op!(
        "scatter_reduce",
        "Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True",
        "The input with the sum, prod, mean, amax or amin of what src has for each entry of dim, its own value included or not. Ties of amax and \
         amin share the gradient equally.",
        scatter_reduce,
        scatter_reduce_vjp
    ),
    op!(
        "index_copy",
        "Tensor input, int dim, Tensor index, Tensor source",
        "The input with source at the entries of dim that a vector of indices names.",
        |b, x, a| {
            let dim = b.dim(x[0], a.int("dim")?)?;
            if b.dtype(x[2]) != b.dtype(x[0]) {
                return Err(b.error(format!("the source is {}, x is {}", b.dtype(x[2]), b.dtype(x[0])), "convert one with to()"));
            }
            let v = lifted(b, x[0])?;
            let (source, index) = entries(b, v, x[1], x[2], dim)?;
            let placed = Placed::new(b, v, index, source, dim)?;
            let last = placed.last(b)?;
            let y = placed.over(b, v, last)?;
            Ok(vec![back(b, y, x[0])?])
        },
        index_copy_vjp
    ),
    op!(
        "index_fill",
        "Tensor input, int dim, Tensor index, Tensor|Scalar value",
        "The input with one value, a number or a scalar tensor, at the entries of dim that a vector of indices names; negative ones count from the \
         end.",
        index_fill
    ),
    op!(
        "masked_scatter",
        "Tensor input, Tensor mask, Tensor source",
        "The input with the first elements of source, in order, where the mask holds. The source needs as many as the mask has.",
        masked_scatter
    ),
];

/// Sources for the entries of a dimension.
pub(super) struct Placed {
    dim: usize,
    /// As many as `x` has.
    entries: Dim,
    /// The shape of `x`.
    shape: Vec<Dim>,
    /// Of one shape, which agrees with `x` outside of `dim`. Sources that are not there have the index `entries`.
    index: ValueId,
    src: ValueId,
}

impl Placed {
    /// The index and the source brought to x's size outside of `dim`. `x` has at least one dimension, and index and source one shape.
    pub(super) fn new(b: &mut Builder, x: ValueId, index: ValueId, src: ValueId, dim: usize) -> Result<Placed> {
        let (mut index, mut src, shape) = (index, src, b.shape(x));
        let entries = shape[dim].clone();
        for d in (0..shape.len()).filter(|d| *d != dim) {
            let have = b.shape(index)[d].clone();
            if have != shape[d] && !b.graph.env.equal(&have, &shape[d], "the index covers x") {
                let more = shape[d].sub(&have);
                let beyond = constant(b, &entries)? as f64;
                index = b.pad(index, d, Dim::ZERO, more.clone(), beyond)?;
                src = b.pad(src, d, Dim::ZERO, more, 0.0)?;
            }
        }
        Ok(Placed { dim, entries, shape, index, src })
    }

    /// Sources added up for each entry, from zero.
    fn sum_at(&self, b: &mut Builder, index: ValueId, src: ValueId) -> Result<ValueId> {
        let dtype = b.dtype(src);
        let mut grown = self.shape.clone();
        grown[self.dim] = self.entries.add(&Dim::ONE);
        let number = if dtype == DType::Bool { DType::I32 } else { dtype };
        let (zero, src) = (b.full(&grown, 0.0, number)?, b.cast(src, number)?);
        let y = b.prim(Prim::ScatterAdd { dim: self.dim }, &[zero, index, src])?;
        let y = b.narrow(y, self.dim, Dim::ZERO, self.entries.clone())?;
        b.cast(y, dtype)
    }

    /// How many sources each entry has.
    fn count(&self, b: &mut Builder) -> Result<ValueId> {
        let ones = b.full(&b.shape(self.index), 1.0, DType::I32)?;
        self.sum_at(b, self.index, ones)
    }

    /// `new` for the entries that have a source, else `old`.
    pub(super) fn over(&self, b: &mut Builder, old: ValueId, new: ValueId) -> Result<ValueId> {
        let n = self.count(b)?;
        let written = b.scalar(ScalarOp::Gt, n, 0.0)?;
        b.select(written, new, old)
    }

    /// The sources in the order of their entries, those entries, and for the last of each entry the entry, else one that is none.
    fn sorted(&self, b: &mut Builder) -> Result<(ValueId, ValueId, ValueId)> {
        let n = b.shape(self.index)[self.dim].clone();
        let order = b.prims(Prim::Sort { dim: self.dim, descending: false, first: None }, &[self.index])?;
        let (entry, from) = (order[0], order[1]);
        let src = b.prim(Prim::Gather { dim: self.dim }, &[self.src, from])?;
        if n.is_zero() {
            return Ok((src, entry, entry));
        }
        let next = b.narrow(entry, self.dim, Dim::ONE, n.sub(&Dim::ONE))?;
        let next = b.pad(next, self.dim, Dim::ZERO, Dim::ONE, -1.0)?;
        let is_last = b.binary(ScalarOp::Ne, entry, next)?;
        let entries = b.size_of(std::slice::from_ref(&self.entries), DType::I32)?;
        let to = b.select(is_last, entry, entries)?;
        Ok((src, entry, to))
    }

    /// The last source of each entry; zero where there is none.
    pub(super) fn last(&self, b: &mut Builder) -> Result<ValueId> {
        let (src, _, to) = self.sorted(b)?;
        self.sum_at(b, to, src)
    }

    /// The sources of each entry combined; zero where there is none. In log2(n) rounds each takes in the one so far before it, as far as
    /// it is of the same entry (W. Hillis, G. Steele, "Data parallel algorithms", 1986).
    fn combined(&self, b: &mut Builder, op: ScalarOp) -> Result<ValueId> {
        let (mut src, entry, to) = self.sorted(b)?;
        let dim = self.dim;
        let size = b.shape(entry)[dim].clone();
        let n = constant(b, &size)?;
        let mut reach = 1;
        while reach < n {
            let before = |b: &mut Builder, v: ValueId, edge: f64| {
                let v = b.narrow(v, dim, Dim::ZERO, Dim::Const(n - reach))?;
                b.pad(v, dim, Dim::Const(reach), Dim::ZERO, edge)
            };
            let (p, q) = (before(b, src, 0.0)?, before(b, entry, -1.0)?);
            let same = b.binary(ScalarOp::Eq, entry, q)?;
            let both = b.binary(op, p, src)?;
            src = b.select(same, both, src)?;
            reach *= 2;
        }
        self.sum_at(b, to, src)
    }
}

/// A scalar as a vector of one.
pub(super) fn lifted(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    if b.rank(x) == 0 { b.reshape(x, vec![Dim::ONE]) } else { Ok(x) }
}

/// x, index and src as [`Placed`] takes them: of one dimension at least, the source cut to the index.
fn operands(b: &mut Builder, x: ValueId, index: ValueId, src: ValueId) -> Result<[ValueId; 3]> {
    check_index(b, index)?;
    if b.dtype(src) != b.dtype(x) {
        return Err(b.error(format!("the source is {}, x is {}", b.dtype(src), b.dtype(x)), "convert one with to()"));
    }
    let (x, index, mut src) = (lifted(b, x)?, lifted(b, index)?, lifted(b, src)?);
    let want = b.shape(index);
    if b.rank(x) != want.len() || b.rank(src) != want.len() {
        return Err(b.error("x, index and src differ in rank", "give tensors of as many dimensions"));
    }
    for d in 0..want.len() {
        let have = b.shape(src)[d].clone();
        if have != want[d] && !b.graph.env.equal(&have, &want[d], "the source has the index's shape") {
            src = b.narrow(src, d, Dim::ZERO, want[d].clone())?;
        }
    }
    Ok([x, index, src])
}

/// The result in x's own shape: scalars were vectors of one.
pub(super) fn back(b: &mut Builder, y: ValueId, x: ValueId) -> Result<ValueId> {
    b.reshape(y, b.shape(x))
}

/// Source and index of entries of `x`, of one dimension at least, named by a vector, the index spread over the source's shape.
pub(super) fn entries(b: &mut Builder, x: ValueId, index: ValueId, source: ValueId, dim: usize) -> Result<(ValueId, ValueId)> {
    let (index, source) = (lifted(b, index)?, lifted(b, source)?);
    let (want, shape) = (b.shape(x), b.shape(source));
    let fits = shape.len() == want.len()
        && (0..shape.len()).all(|d| d == dim || b.graph.env.equal(&shape[d], &want[d], "the source has x's size in other dimensions"));
    if !fits {
        let text = format!("the source is {} for {}", b.graph.env.show_shape(&shape), b.graph.env.show_shape(&want));
        return Err(b.error(text, format!("give x's sizes but for dimension {dim}, which has one for each index")));
    }
    let index = spread(b, index, &shape, dim)?;
    Ok((source, index))
}

/// The source of a call of `scatter`: a tensor, or one number for every index.
fn source_of(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<ValueId> {
    match (a.tensor(x, "src"), a.opt_float("value")?) {
        (Some(src), None) => Ok(src),
        (None, Some(value)) => {
            let shape = b.shape(x[1]);
            b.full(&shape, value, b.dtype(x[0]))
        }
        _ => Err(b.error("needs a src or a value", "give one of them")),
    }
}

fn scatter(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = b.dim(x[0], a.int("dim")?)?;
    let src = source_of(b, x, a)?;
    if let Some(reduce) = a.opt_str("reduce")? {
        return reduced(b, &[x[0], x[1], src], dim, reduction(b, reduce)?, true);
    }
    let [v, index, src] = operands(b, x[0], x[1], src)?;
    let placed = Placed::new(b, v, index, src, dim)?;
    // One value has no order.
    let new = match a.opt_float("value")? {
        Some(value) => b.full(&[], value, b.dtype(v))?,
        None => placed.last(b)?,
    };
    let y = placed.over(b, v, new)?;
    Ok(vec![back(b, y, x[0])?])
}

/// scatter's name of a reduction as scatter_reduce's.
fn reduction(b: &Builder, name: &str) -> Result<&'static str> {
    match name {
        "add" => Ok("sum"),
        "multiply" => Ok("prod"),
        other => Err(b.error(format!("reduce is {other:?}"), "use \"add\" or \"multiply\"")),
    }
}

fn scatter_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let dim = b.dim(v.inputs[0], v.attrs.int("dim")?)?;
    let attrs = Attrs::new().with("dim", dim);
    if let Some(reduce) = v.attrs.opt_str("reduce")? {
        let src = source_of(b, v.inputs, v.attrs)?;
        let all = [v.inputs[0], v.inputs[1], src];
        let mut grads = reduced_vjp(b, &all, v.outputs[0], dy, dim, reduction(b, reduce)?, true)?;
        grads.truncate(v.inputs.len());
        return Ok(grads);
    }
    let dx = b.op("scatter", &[dy, v.inputs[1]], &attrs.clone().with("value", 0.0))?[0];
    let mut out = vec![Some(dx), None];
    if let Some(src) = v.inputs.get(2) {
        out.push(Some(gathered(b, dy, v.inputs[1], *src, dim)?));
    }
    Ok(out)
}

// As PyTorch's, every source of an entry gets the gradient, though one is kept.
fn index_copy_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let attrs = Attrs::new().with("dim", v.attrs.int("dim")?);
    let zero = b.full(&[], 0.0, b.dtype(dy))?;
    let dx = b.op("index_fill", &[dy, v.inputs[1], zero], &attrs)?[0];
    let dsource = b.op("index_select", &[dy, v.inputs[1]], &attrs)?[0];
    Ok(vec![Some(dx), None, Some(back(b, dsource, v.inputs[2])?)])
}

/// What a gradient has for each source, in the source's shape.
fn gathered(b: &mut Builder, dy: ValueId, index: ValueId, src: ValueId, dim: usize) -> Result<ValueId> {
    let g = b.op("gather", &[dy, index], &Attrs::new().with("dim", dim))?[0];
    let (have, want) = (b.shape(g), b.shape(src));
    let mut g = g;
    for d in 0..want.len().min(have.len()) {
        if have[d] != want[d] {
            g = b.pad(g, d, Dim::ZERO, want[d].sub(&have[d]), 0.0)?;
        }
    }
    b.reshape(g, want)
}

fn scatter_reduce(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = b.dim(x[0], a.int("dim")?)?;
    let reduce = a.str("reduce")?.to_string();
    reduced(b, x, dim, &reduce, a.bool("include_self")?)
}

fn reduced(b: &mut Builder, x: &[ValueId], dim: usize, reduce: &str, include_self: bool) -> Result<Vec<ValueId>> {
    let [v, index, src] = operands(b, x[0], x[1], x[2])?;
    let dtype = b.dtype(v);
    let placed = Placed::new(b, v, index, src, dim)?;
    let op = match reduce {
        "sum" | "mean" => None,
        "prod" => Some(ScalarOp::Mul),
        "amax" => Some(ScalarOp::Max),
        "amin" => Some(ScalarOp::Min),
        other => return Err(b.error(format!("reduce is {other:?}"), "use sum, prod, mean, amax or amin")),
    };
    let new = match op {
        Some(op) => {
            let (own, sources) = if dtype == DType::Bool {
                let src = b.cast(placed.src, DType::I32)?;
                let sources = Placed::new(b, v, placed.index, src, dim)?.combined(b, op)?;
                (b.cast(v, DType::I32)?, sources)
            } else {
                (v, placed.combined(b, op)?)
            };
            let all = if include_self { b.binary(op, own, sources)? } else { sources };
            b.cast(all, dtype)?
        }
        None => {
            let sum = placed.sum_at(b, placed.index, placed.src)?;
            let sum = if include_self { b.add(sum, v)? } else { sum };
            if reduce == "mean" { mean_of(b, &placed, sum, include_self)? } else { b.cast(sum, dtype)? }
        }
    };
    let y = placed.over(b, v, new)?;
    Ok(vec![back(b, y, x[0])?])
}

/// A sum over how many it is of; whole numbers are rounded down.
fn mean_of(b: &mut Builder, placed: &Placed, sum: ValueId, include_self: bool) -> Result<ValueId> {
    let n = placed.count(b)?;
    let n = if include_self { b.add_scalar(n, 1.0)? } else { b.scalar(ScalarOp::Max, n, 1.0)? };
    let dtype = b.dtype(sum);
    if dtype.is_float() {
        let n = b.cast(n, dtype)?;
        return b.div(sum, n);
    }
    let y = b.binary(ScalarOp::FloorDiv, sum, n)?;
    b.cast(y, dtype)
}

fn scatter_reduce_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; 3]) };
    let dim = b.dim(v.inputs[0], v.attrs.int("dim")?)?;
    let reduce = v.attrs.str("reduce")?.to_string();
    reduced_vjp(b, v.inputs, v.outputs[0], dy, dim, &reduce, v.attrs.bool("include_self")?)
}

// PyTorch's: scatter_reduce_backward in torch/csrc/autograd/FunctionsManual.cpp.
fn reduced_vjp(
    b: &mut Builder,
    x: &[ValueId],
    y: ValueId,
    dy: ValueId,
    dim: usize,
    reduce: &str,
    include_self: bool,
) -> Result<Vec<Option<ValueId>>> {
    let (own, index, src) = (x[0], x[1], x[2]);
    let dtype = b.dtype(own);
    let at = Attrs::new().with("dim", dim);
    let (dx, dsrc) = match reduce {
        "sum" => (dy, gathered(b, dy, index, src, dim)?),
        "mean" => {
            let start = b.full_like(own, if include_self { 1.0 } else { 0.0 })?;
            let n = added(b, start, index, src, dim, None)?;
            let n = b.scalar(ScalarOp::Max, n, 1.0)?;
            let g = b.div(dy, n)?;
            (g, gathered(b, g, index, src, dim)?)
        }
        "amax" | "amin" => {
            let top = gathered(b, y, index, src, dim)?;
            let (mine, theirs) = (b.binary(ScalarOp::Eq, own, y)?, b.binary(ScalarOp::Eq, src, top)?);
            let (mine, theirs) = (b.cast(mine, dtype)?, b.cast(theirs, dtype)?);
            let n = added(b, mine, index, src, dim, Some(theirs))?;
            let n = b.scalar(ScalarOp::Max, n, 1.0)?;
            let g = b.div(dy, n)?;
            let there = gathered(b, g, index, src, dim)?;
            (b.mul(mine, g)?, b.mul(theirs, there)?)
        }
        _ => {
            // The product of the others: divided where there is no zero, computed again with a one for a single zero.
            let again = at.clone().with("reduce", "prod").with("include_self", include_self);
            let (is0, one) = (b.scalar(ScalarOp::Eq, own, 0.0)?, b.full_like(own, 1.0)?);
            let safe = b.select(is0, one, own)?;
            let others = b.op("scatter_reduce", &[safe, index, src], &again)?[0];
            let dx = b.mul(dy, others)?;
            let dx = b.div(dx, safe)?;
            let src0 = b.scalar(ScalarOp::Eq, src, 0.0)?;
            let zeros = b.cast(src0, dtype)?;
            let none = b.zeros_like(own)?;
            let total = added(b, none, index, src, dim, Some(zeros))?;
            let total = gathered(b, total, index, src, dim)?;
            let single = b.scalar(ScalarOp::Eq, total, 1.0)?;
            let single = b.binary(ScalarOp::And, src0, single)?;
            let one = b.full_like(src, 1.0)?;
            let filled = b.select(single, one, src)?;
            let rest = b.op("scatter_reduce", &[own, index, filled], &again)?[0];
            let (p, q) = (b.mul(dy, rest)?, b.mul(dy, y)?);
            let (p, q) = (gathered(b, p, index, src, dim)?, gathered(b, q, index, src, dim)?);
            let safe = b.select(src0, one, src)?;
            let q = b.div(q, safe)?;
            (dx, b.select(single, p, q)?)
        }
    };
    let dx = if include_self { dx } else { b.op("scatter", &[dx, index], &at.with("value", 0.0))?[0] };
    Ok(vec![Some(dx), None, Some(dsrc)])
}

/// `start` with values of the source's shape, or ones, added at the index.
fn added(b: &mut Builder, start: ValueId, index: ValueId, src: ValueId, dim: usize, values: Option<ValueId>) -> Result<ValueId> {
    let values = match values {
        Some(v) => v,
        None => b.full_like(src, 1.0)?,
    };
    Ok(b.op("scatter_reduce", &[start, index, values], &Attrs::new().with("dim", dim).with("reduce", "sum"))?[0])
}

fn index_fill(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let dim = b.dim(x[0], a.int("dim")?)?;
    check_index(b, x[1])?;
    let dtype = b.dtype(x[0]);
    if b.rank(x[2]) != 0 {
        return Err(b.error("the value is not a scalar", "give a tensor without dimensions, or a number"));
    }
    let value = b.cast(x[2], dtype)?;
    if b.rank(x[1]) > 1 {
        return Err(b.error("the index is not a vector", "flatten it"));
    }
    let shape = b.shape(x[0]);
    let entries = shape.get(dim).cloned().unwrap_or(Dim::ONE);
    let index = b.reshape(x[1], vec![Expr::product(&b.shape(x[1]))])?;
    let index = from_end(b, index, &entries)?;
    let (zero, one) = (b.full(std::slice::from_ref(&entries), 0.0, DType::I32)?, b.full(&b.shape(index), 1.0, DType::I32)?);
    let hits = b.prim(Prim::ScatterAdd { dim: 0 }, &[zero, index, one])?;
    let mut line = vec![Dim::ONE; shape.len()];
    if let Some(d) = line.get_mut(dim) {
        *d = entries;
    }
    let hits = b.reshape(hits, line)?;
    let hit = b.scalar(ScalarOp::Gt, hits, 0.0)?;
    Ok(vec![b.select(hit, value, x[0])?])
}

/// Negative indices counted from the end.
pub(super) fn from_end(b: &mut Builder, index: ValueId, size: &Dim) -> Result<ValueId> {
    let n = b.size_of(std::slice::from_ref(size), DType::I32)?;
    let index = b.cast(index, DType::I32)?;
    let (negative, wrapped) = (b.scalar(ScalarOp::Lt, index, 0.0)?, b.add(index, n)?);
    b.select(negative, wrapped, index)
}

fn masked_scatter(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    if b.dtype(x[1]) != DType::Bool {
        return Err(b.error(format!("the mask is {}", b.dtype(x[1])), "compare to get a bool mask"));
    }
    if b.dtype(x[2]) != b.dtype(x[0]) {
        return Err(b.error(format!("the source is {}, x is {}", b.dtype(x[2]), b.dtype(x[0])), "convert one with to()"));
    }
    let both = b.broadcast(&x[..2])?;
    let (own, mask) = (both[0], both[1]);
    let (shape, count) = (b.shape(own), Expr::product(&b.shape(x[2])));
    if count.is_zero() {
        return Ok(vec![own]);
    }
    let flat = b.reshape(mask, vec![Expr::product(&shape)])?;
    let ones = b.cast(flat, DType::I32)?;
    let upto = b.prim(Prim::Scan { op: ReduceOp::Sum, dim: 0 }, &[ones])?;
    let at = b.add_scalar(upto, -1.0)?;
    let at = b.scalar(ScalarOp::Max, at, 0.0)?;
    let most = b.size_of(std::slice::from_ref(&count.sub(&Dim::ONE)), DType::I32)?;
    let at = b.binary(ScalarOp::Min, at, most)?;
    let source = b.reshape(x[2], vec![count])?;
    let taken = b.prim(Prim::Gather { dim: 0 }, &[source, at])?;
    let taken = b.reshape(taken, shape)?;
    Ok(vec![b.select(mask, taken, own)?])
}
