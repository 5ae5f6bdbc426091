//! Gathering, scattering and sorting. An index out of range is an error on the interpreter and is clamped on devices.

use super::scatter::{back, entries, from_end, lifted};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::prim::Prim;
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("gather", "Tensor input, int dim, Tensor index", "x at the index along dim; other dimensions go in step.", |b, x, a| {
        let d = b.dim(x[0], a.int("dim")?)?;
        check_index(b, x[1])?;
        let wanted = b.shape(x[1]);
        // An index without elements may have any rank.
        if wanted.len() != b.rank(x[0]) && wanted.iter().any(Expr::is_zero) {
            return Ok(vec![b.full(&wanted, 0.0, b.dtype(x[0]))?]);
        }
        let (v, index) = (lifted(b, x[0])?, lifted(b, x[1])?);
        check_entries(b, v, index, d)?;
        let t = like_index(b, v, index, d)?;
        let y = b.prim(Prim::Gather { dim: d }, &[t, index])?;
        Ok(vec![back(b, y, x[1])?])
    }),
    op!(
        "take_along_dim",
        "Tensor input, Tensor indices, int? dim=None",
        "As gather, with the other dimensions broadcast and negative indices counting from the end; of the flat tensor without dim.",
        take_along_dim
    ),
    op!(
        "index_select",
        "Tensor input, int dim, Tensor index",
        "Entries of a dimension, in the order of a vector of indices.",
        |b, x, a| {
            let d = b.dim(x[0], a.int("dim")?)?;
            let (v, index) = (lifted(b, x[0])?, lifted(b, x[1])?);
            check_index(b, index)?;
            check_entries(b, v, index, d)?;
            let y = rows(b, v, index, d)?;
            // A scalar's one entry is a scalar.
            Ok(vec![if b.rank(x[0]) == 0 { back(b, y, x[0])? } else { y }])
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
        let (v, index, src) = (lifted(b, x[0])?, lifted(b, x[1])?, lifted(b, x[2])?);
        check_entries(b, v, index, d)?;
        let (index, src) = fill_index(b, v, index, src, d)?;
        let y = added(b, v, index, src, d)?;
        Ok(vec![back(b, y, x[0])?])
    })
    .widest(),
    op!(
        "index_add",
        "Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1",
        "x with alpha * source added to the entries of dim that a vector of indices names.",
        |b, x, a| {
            let d = b.dim(x[0], a.int("dim")?)?;
            check_index(b, x[1])?;
            if !b.dtype(x[0]).is_float() && matches!(a.get("alpha"), Some(Attr::Float(_))) {
                return Err(b.error("alpha is a fraction of whole numbers", "use a whole number"));
            }
            if b.rank(x[0]) != b.rank(x[2]) {
                return Err(b.error("the source differs from the input in rank", "give as many dimensions"));
            }
            let v = lifted(b, x[0])?;
            let (src, index) = entries(b, v, x[1], x[2], d)?;
            check_entries(b, v, index, d)?;
            let alpha = a.float("alpha")?;
            let src = match b.dtype(src) {
                DType::Bool if alpha != 0.0 => src,
                DType::Bool => b.zeros_like(src)?,
                _ => b.mul_scalar(src, alpha)?,
            };
            let y = added(b, v, index, src, d)?;
            Ok(vec![back(b, y, x[0])?])
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
    op!(
        "topk",
        "Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True",
        "The k largest values in order and their i32 indices.",
        |b, x, a| {
            let (largest, k) = (a.bool("largest")?, a.int("k")?);
            let dim = b.dim(x[0], a.int("dim")?)?;
            let size = b.shape(x[0]).get(dim).cloned().unwrap_or(Dim::ONE);
            if k < 0 || !b.graph.env.at_least(&size, &Dim::Const(k), "topk has enough elements") {
                return Err(b.error(format!("k is {k} for {} elements", b.graph.env.show(&size)), "use a k up to the size"));
            }
            sorted(b, x[0], dim as i64, largest, Some(k))
        }
    ),
];

pub(super) fn check_index(b: &Builder, index: ValueId) -> Result<()> {
    if b.dtype(index).is_int() {
        return Ok(());
    }
    Err(b.error(format!("the index is {}", b.dtype(index)), "convert it to i32 with to()"))
}

fn take_along_dim(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check_index(b, x[1])?;
    let Some(dim) = a.opt_int("dim")? else {
        let flat = |b: &mut Builder, v: ValueId| {
            let n = Expr::product(&b.shape(v));
            b.reshape(v, vec![n])
        };
        let (v, index) = (flat(b, x[0])?, flat(b, x[1])?);
        return Ok(vec![b.prim(Prim::Gather { dim: 0 }, &[v, index])?]);
    };
    let d = b.dim(x[0], dim)?;
    if b.rank(x[0]) != b.rank(x[1]) || b.rank(x[0]) == 0 {
        return Err(b.error("the indices differ from the input in rank", "give as many dimensions"));
    }
    let (have, index) = (b.shape(x[0]), b.shape(x[1]));
    let (mut grown, mut wanted) = (have.clone(), index.clone());
    for i in (0..have.len()).filter(|i| *i != d) {
        if have[i].is_one() {
            grown[i] = index[i].clone();
        } else if index[i].is_one() {
            wanted[i] = have[i].clone();
        }
    }
    let (v, index) = (b.broadcast_to(x[0], &grown)?, b.broadcast_to(x[1], &wanted)?);
    // Along a dimension they count from the end too, of the flat tensor they do not, as PyTorch's.
    let index = from_end(b, index, &have[d])?;
    Ok(vec![b.prim(Prim::Gather { dim: d }, &[v, index])?])
}

// Nothing to gather from, or to add to.
fn check_entries(b: &Builder, x: ValueId, index: ValueId, dim: usize) -> Result<()> {
    let some = b.shape(index).iter().all(|d| d.as_const() != Some(0));
    if some && b.shape(x).get(dim).is_some_and(Expr::is_zero) {
        return Err(b.error(format!("dimension {dim} has no entries"), "index a dimension of at least one"));
    }
    Ok(())
}

// `x` with `src`, of its type and the index's shape, added at the index.
fn added(b: &mut Builder, x: ValueId, index: ValueId, src: ValueId, dim: usize) -> Result<ValueId> {
    let dtype = b.dtype(x);
    if b.dtype(src) != dtype {
        return Err(b.error(format!("the source is {}, the input is {dtype}", b.dtype(src)), "convert one with to()"));
    }
    let number = if dtype == DType::Bool { DType::I32 } else { dtype };
    let (x, src) = (b.cast(x, number)?, b.cast(src, number)?);
    let y = b.prim(Prim::ScatterAdd { dim }, &[x, index, src])?;
    b.cast(y, dtype)
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
pub(super) fn spread(b: &mut Builder, index: ValueId, shape: &[Dim], dim: usize) -> Result<ValueId> {
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
    check_entries(b, weight, i, 0)?;
    let mut y = rows(b, weight, i, 0)?;
    if let Some(p) = a.opt_int("padding_idx")? {
        let Some(n) = b.shape(weight)[0].as_const() else { return Err(b.error("padding_idx needs a table of known size", "")) };
        if !(-n..n).contains(&p) {
            return Err(b.error(format!("padding_idx is {p} of {n} rows"), "name a row of the weight"));
        }
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
