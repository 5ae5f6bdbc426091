//! Gathering, scattering and sorting. An index out of range is an error on the interpreter and is clamped on devices.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::Prim;
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("gather", "Tensor input, int dim, Tensor index", "x at the index along dim; other dimensions go in step.", |b, x, a| {
        let d = b.dim(x[0], a.int("dim")?)?;
        check_index(b, x[1])?;
        let t = like_index(b, x[0], x[1], d)?;
        Ok(vec![b.prim(Prim::Gather { dim: d }, &[t, x[1]])?])
    }),
    op!(
        "index_select",
        "Tensor input, int dim, Tensor index",
        "Entries of a dimension, in the order of a vector of indices.",
        |b, x, a| {
            let d = b.dim(x[0], a.int("dim")?)?;
            Ok(vec![rows(b, x[0], x[1], d)?])
        }
    ),
    op!(
        "embedding",
        "Tensor weight, Tensor input, int? padding_idx=None",
        "Rows of the weight at the indices; the row padding_idx gets no gradient.",
        embedding
    ),
    op!("scatter_add", "Tensor input, int dim, Tensor index, Tensor src", "x with src added at the index along dim.", |b, x, a| {
        let d = b.dim(x[0], a.int("dim")?)?;
        check_index(b, x[1])?;
        let src = b.cast(x[2], b.dtype(x[0]))?;
        let (index, src) = fill_index(b, x[0], x[1], src, d)?;
        Ok(vec![b.prim(Prim::ScatterAdd { dim: d }, &[x[0], index, src])?])
    })
    .widest(),
    op!(
        "index_add",
        "Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1",
        "x with alpha * source added to the entries of dim that a vector of indices names.",
        |b, x, a| {
            let d = b.dim(x[0], a.int("dim")?)?;
            let src = b.cast(x[2], b.dtype(x[0]))?;
            let src = b.mul_scalar(src, a.float("alpha")?)?;
            let index = spread(b, x[1], &b.shape(src), d)?;
            Ok(vec![b.prim(Prim::ScatterAdd { dim: d }, &[x[0], index, src])?])
        }
    ),
    op!("one_hot", "Tensor input, int num_classes=-1", "i32 ones at the classes of a new last dimension.", |b, x, a| {
        check_index(b, x[0])?;
        let Some(classes) = a.opt_int("num_classes")?.filter(|n| *n > 0) else {
            return Err(b.error("needs num_classes", "a graph's sizes cannot depend on values"));
        };
        let mut shape = b.shape(x[0]);
        shape.push(Dim::Const(classes));
        let last = shape.len() - 1;
        let class = b.iota(&shape, last)?;
        let at = b.unsqueeze(x[0], last)?;
        let hot = b.binary(ScalarOp::Eq, class, at)?;
        Ok(vec![b.cast(hot, DType::I32)?])
    }),
    op!(
        "sort",
        "Tensor input, int dim=-1, bool descending=False, bool stable=True",
        "Sorted values and their i32 indices; always stable, NaN is the largest.",
        |b, x, a| { sorted(b, x[0], a.int("dim")?, a.bool("descending")?, None) }
    ),
    op!("argsort", "Tensor input, int dim=-1, bool descending=False, bool stable=True", "The i32 indices that sort.", |b, x, a| {
        Ok(vec![sorted(b, x[0], a.int("dim")?, a.bool("descending")?, None)?[1]])
    }),
    op!("topk", "Tensor input, int k, int dim=-1, bool largest=True", "The k largest values in order and their i32 indices.", |b, x, a| {
        let (largest, k) = (a.bool("largest")?, a.int("k")?);
        let dim = b.dim(x[0], a.int("dim")?)?;
        let size = b.shape(x[0]).get(dim).cloned().unwrap_or(Dim::ONE);
        if k < 0 || !b.graph.env.at_least(&size, &Dim::Const(k), "topk has enough elements") {
            return Err(b.error(format!("k is {k} for {} elements", b.graph.env.show(&size)), "use a k up to the size"));
        }
        sorted(b, x[0], dim as i64, largest, Some(k))
    }),
];

fn check_index(b: &Builder, index: ValueId) -> Result<()> {
    if b.dtype(index).is_int() {
        return Ok(());
    }
    Err(b.error(format!("the index is {}", b.dtype(index)), "convert it to i32 with to()"))
}

// PyTorch lets the index be smaller than x in the other dimensions: the rest of x is not looked at.
fn like_index(b: &mut Builder, x: ValueId, index: ValueId, dim: usize) -> Result<ValueId> {
    let (have, want) = (b.shape(x), b.shape(index));
    let mut x = x;
    if have.len() == want.len() {
        for d in (0..have.len()).filter(|d| *d != dim) {
            if have[d] != want[d] && !b.graph.env.equal(&have[d], &want[d], "the index covers the input") {
                x = b.narrow(x, d, Dim::ZERO, want[d].clone())?;
            }
        }
    }
    Ok(x)
}

// The index and the source brought to x's size in the other dimensions: what they do not cover adds zero to entry 0.
fn fill_index(b: &mut Builder, x: ValueId, index: ValueId, src: ValueId, dim: usize) -> Result<(ValueId, ValueId)> {
    let (have, mut index) = (b.shape(x), index);
    let want = b.shape(index);
    if have.len() != want.len() || b.rank(src) != want.len() {
        return Err(b.error("x, index and src differ in rank", "give tensors of as many dimensions"));
    }
    let mut src = src;
    for d in 0..want.len() {
        if b.shape(src)[d] != want[d] {
            src = b.narrow(src, d, Dim::ZERO, want[d].clone())?;
        }
    }
    for d in (0..have.len()).filter(|d| *d != dim) {
        if have[d] != want[d] && !b.graph.env.equal(&have[d], &want[d], "the index covers the input") {
            let more = have[d].sub(&want[d]);
            index = b.pad(index, d, Dim::ZERO, more.clone(), 0.0)?;
            src = b.pad(src, d, Dim::ZERO, more, 0.0)?;
        }
    }
    Ok((index, src))
}

// A vector of indices along `dim`, expanded to a tensor of `shape` (whose size along `dim` is the vector's).
fn spread(b: &mut Builder, index: ValueId, shape: &[Dim], dim: usize) -> Result<ValueId> {
    check_index(b, index)?;
    if b.rank(index) != 1 || shape.is_empty() {
        return Err(b.error("needs a vector of indices and a tensor with dimensions", "flatten the index"));
    }
    let n = b.shape(index)[0].clone();
    if !b.graph.env.equal(&n, &shape[dim].clone(), "one index for each entry") {
        let text = format!("{} indices for {} entries", b.graph.env.show(&n), b.graph.env.show(&shape[dim]));
        return Err(b.error(text, "give one index for each entry"));
    }
    let mut one = vec![Dim::ONE; shape.len()];
    one[dim] = n;
    let i = b.reshape(index, one)?;
    b.prim(Prim::Expand(shape.to_vec()), &[i])
}

fn rows(b: &mut Builder, x: ValueId, index: ValueId, dim: usize) -> Result<ValueId> {
    let mut shape = b.shape(x);
    if let (Some(d), [n]) = (shape.get_mut(dim), b.shape(index).as_slice()) {
        *d = n.clone();
    }
    let i = spread(b, index, &shape, dim)?;
    b.prim(Prim::Gather { dim }, &[x, i])
}

fn embedding(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (weight, input) = (x[0], x[1]);
    check_index(b, input)?;
    if b.rank(weight) != 2 {
        return Err(b.error("the weight is not a table of rows", "give a weight of [num_embeddings, embedding_dim]"));
    }
    let (mut shape, flat) = (b.shape(input), Expr::product(&b.shape(input)));
    let i = b.reshape(input, vec![flat])?;
    let mut y = rows(b, weight, i, 0)?;
    if let Some(p) = a.opt_int("padding_idx")? {
        let Some(n) = b.shape(weight)[0].as_const() else { return Err(b.error("padding_idx needs a table of known size", "")) };
        let p = if p < 0 { p + n } else { p };
        let fixed = b.prim(Prim::Detach, &[y])?;
        let at = b.unsqueeze(i, 1)?;
        let is = b.scalar(ScalarOp::Eq, at, p as f64)?;
        y = b.select(is, fixed, y)?;
    }
    shape.extend(b.shape(weight).pop());
    Ok(vec![b.reshape(y, shape)?])
}

fn sorted(b: &mut Builder, x: ValueId, dim: i64, descending: bool, first: Option<i64>) -> Result<Vec<ValueId>> {
    let dim = b.dim(x, dim)?;
    if b.rank(x) == 0 {
        return Ok(vec![x, b.constant(0.0, DType::I32)?]);
    }
    b.prims(Prim::Sort { dim, descending, first }, &[x])
}
