//! Indexing by tensors of indices, several dimensions at once, as PyTorch and NumPy do ("advanced indexing"), and the indices of what is
//! not zero.

use super::index::{check_index, spread};
use super::scatter::{Placed, from_end};
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
        "index",
        "Tensor input, Tensor[] indices, int[]? dims=None",
        "The elements at index tensors, broadcast together, in the first dimensions (or in dims); negative indices count from the end. \
         The dimensions of the index come where the indexed ones were, or first where those were apart. PyTorch: input[indices].",
        |b, x, a| {
            let places = Places::new(b, x[0], &x[1..], a)?;
            let table = places.table(b, x[0])?;
            let mut row = b.shape(table);
            row[0] = b.shape(places.flat)[0].clone();
            let index = spread(b, places.flat, &row, 0)?;
            let y = b.prim(Prim::Gather { dim: 0 }, &[table, index])?;
            Ok(vec![places.unrows(b, x[0], y)?])
        }
    ),
    op!(
        "index_put",
        "Tensor input, Tensor values, Tensor[] indices, int[]? dims=None, bool accumulate=False",
        "The input with values at the places that index tensors name, as for index; added with accumulate. PyTorch: input[indices] = values.",
        index_put,
        index_put_vjp
    ),
    op!(
        "nonzero_static",
        "Tensor input, *, int size, int fill_value=-1",
        "The i32 indices of elements that are not zero, [size, dimensions] in row-major order: cut to size, or filled up with fill_value.",
        nonzero_static
    ),
];

/// What index tensors name: places in some dimensions of a tensor.
struct Places {
    /// The dimensions, ascending.
    dims: Vec<usize>,
    /// The shape of the index tensors together.
    shape: Vec<Dim>,
    /// Row-major positions in the dimensions, as a vector.
    flat: ValueId,
}

impl Places {
    fn new(b: &mut Builder, x: ValueId, indices: &[ValueId], a: &Attrs) -> Result<Places> {
        let dims = match a.opt_ints("dims")? {
            Some(list) => list.iter().map(|d| b.dim(x, *d)).collect::<Result<Vec<_>>>()?,
            None => (0..indices.len()).collect(),
        };
        let sizes = b.shape(x);
        if dims.len() != indices.len() || dims.iter().any(|d| *d >= sizes.len()) || !dims.is_sorted_by(|p, q| p < q) {
            let text = format!("{} indices in dimensions {dims:?} of {}", indices.len(), sizes.len());
            return Err(b.error(text, "give an index for each dimension that is indexed, in ascending order"));
        }
        let indices = indices.iter().zip(&dims).map(|(i, d)| {
            check_index(b, *i)?;
            from_end(b, *i, &sizes[*d])
        });
        let indices = indices.collect::<Result<Vec<_>>>()?;
        let indices = b.broadcast(&indices)?;
        let shape = b.shape(indices[0]);
        let mut flat = indices[0];
        for (i, d) in indices.iter().zip(&dims).skip(1) {
            let n = b.size_of(std::slice::from_ref(&sizes[*d]), DType::I32)?;
            let before = b.mul(flat, n)?;
            flat = b.add(before, *i)?;
        }
        let flat = b.reshape(flat, vec![Expr::product(&shape)])?;
        Ok(Places { dims, shape, flat })
    }

    /// Where the dimensions of the index come in the result.
    fn at(&self) -> usize {
        let together = self.dims.windows(2).all(|d| d[0] + 1 == d[1]);
        if together { self.dims[0] } else { 0 }
    }

    fn others(&self, rank: usize) -> Vec<usize> {
        (0..rank).filter(|d| !self.dims.contains(d)).collect()
    }

    /// `x` as a matrix: the indexed dimensions are rows, the others columns.
    fn table(&self, b: &mut Builder, x: ValueId) -> Result<ValueId> {
        let shape = b.shape(x);
        let others = self.others(shape.len());
        let y = b.permute(x, &[&self.dims[..], &others].concat())?;
        let product = |dims: &[usize]| Expr::product(dims.iter().map(|d| &shape[*d]));
        b.reshape(y, vec![product(&self.dims), product(&others)])
    }

    /// The inverse of [`Places::table`].
    fn untable(&self, b: &mut Builder, x: ValueId, table: ValueId) -> Result<ValueId> {
        let shape = b.shape(x);
        let order = [&self.dims[..], &self.others(shape.len())].concat();
        let y = b.reshape(table, order.iter().map(|d| shape[*d].clone()).collect())?;
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, d)| back[*d] = i);
        b.permute(y, &back)
    }

    /// The shape of what is indexed.
    fn result(&self, b: &Builder, x: ValueId) -> Vec<Dim> {
        let shape = b.shape(x);
        let mut out: Vec<Dim> = self.others(shape.len()).iter().map(|d| shape[*d].clone()).collect();
        out.splice(self.at()..self.at(), self.shape.iter().cloned());
        out
    }

    /// Rows of the table as the result.
    fn unrows(&self, b: &mut Builder, x: ValueId, rows: ValueId) -> Result<ValueId> {
        let shape = b.shape(x);
        let others = self.others(shape.len());
        let apart = [&self.shape[..], &others.iter().map(|d| shape[*d].clone()).collect::<Vec<_>>()].concat();
        let y = b.reshape(rows, apart)?;
        let (n, at) = (self.shape.len(), self.at());
        let order: Vec<usize> = (n..n + at).chain(0..n).chain(n + at..n + others.len()).collect();
        b.permute(y, &order)
    }

    /// A tensor of the result's shape as rows of the table.
    fn rows(&self, b: &mut Builder, values: ValueId, columns: Dim) -> Result<ValueId> {
        let (n, at, rank) = (self.shape.len(), self.at(), b.rank(values));
        let order: Vec<usize> = (at..at + n).chain(0..at).chain(at + n..rank).collect();
        let y = b.permute(values, &order)?;
        b.reshape(y, vec![Expr::product(&self.shape), columns])
    }
}

fn index_put(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (own, values) = (x[0], x[1]);
    if b.dtype(values) != b.dtype(own) {
        return Err(b.error(format!("values are {}, the input is {}", b.dtype(values), b.dtype(own)), "convert one with to()"));
    }
    let places = Places::new(b, own, &x[2..], a)?;
    let table = places.table(b, own)?;
    let shape = places.result(b, own);
    let values = b.broadcast_to(values, &shape)?;
    let columns = b.shape(table)[1].clone();
    let values = places.rows(b, values, columns)?;
    let row = b.shape(values);
    let index = spread(b, places.flat, &row, 0)?;
    let y = if a.bool("accumulate")? {
        let dtype = b.dtype(own);
        let number = if dtype == DType::Bool { DType::I32 } else { dtype };
        let (table, values) = (b.cast(table, number)?, b.cast(values, number)?);
        let y = b.prim(Prim::ScatterAdd { dim: 0 }, &[table, index, values])?;
        b.cast(y, dtype)?
    } else {
        let placed = Placed::new(b, table, index, values, 0)?;
        let last = placed.last(b)?;
        placed.over(b, table, last)?
    };
    Ok(vec![places.untable(b, own, y)?])
}

// As PyTorch's, every value of a place gets the gradient, though without accumulate one is kept.
fn index_put_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let (own, indices) = (v.inputs[0], &v.inputs[2..]);
    let places = Places::new(b, own, indices, v.attrs)?;
    let dx = if v.attrs.bool("accumulate")? {
        dy
    } else {
        let zero = b.full(&[], 0.0, b.dtype(dy))?;
        index_put(b, &[&[dy, zero], indices].concat(), v.attrs)?[0]
    };
    let table = places.table(b, dy)?;
    let mut row = b.shape(table);
    row[0] = b.shape(places.flat)[0].clone();
    let index = spread(b, places.flat, &row, 0)?;
    let dvalues = b.prim(Prim::Gather { dim: 0 }, &[table, index])?;
    let mut out = vec![Some(dx), Some(places.unrows(b, own, dvalues)?)];
    out.resize(v.inputs.len(), None);
    Ok(out)
}

fn nonzero_static(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let size = a.int("size")?;
    if size < 0 {
        return Err(b.error(format!("size is {size}"), "use zero or more"));
    }
    let shape = b.shape(x[0]);
    let n = Expr::product(&shape);
    let is = b.cast(x[0], DType::Bool)?;
    let is = b.cast(is, DType::I32)?;
    let flat = b.reshape(is, vec![n.clone()])?;
    let upto = b.prim(Prim::Scan { op: ReduceOp::Sum, dim: 0 }, &[flat])?;
    let total = b.sum(flat, &[0], false)?;
    // Each to its number among those that are not zero; what is zero, or beyond the size, to one more place, which is dropped.
    let at = b.add_scalar(upto, -1.0)?;
    let at = b.scalar(ScalarOp::Min, at, size as f64)?;
    let none = b.full_like(at, size as f64)?;
    let hit = b.cast(flat, DType::Bool)?;
    let at = b.select(hit, at, none)?;
    let place = b.iota(std::slice::from_ref(&n), 0)?;
    let start = b.full(&[Dim::Const(size + 1)], 0.0, DType::I32)?;
    let found = b.prim(Prim::ScatterAdd { dim: 0 }, &[start, at, place])?;
    let mut rest = b.narrow(found, 0, Dim::ZERO, Dim::Const(size))?;
    let number = b.iota(&[Dim::Const(size)], 0)?;
    let there = b.binary(ScalarOp::Lt, number, total)?;
    let fill = b.full(&[Dim::Const(size)], a.int("fill_value")? as f64, DType::I32)?;
    let mut columns = Vec::new();
    for d in shape.iter().rev() {
        let n = b.size_of(std::slice::from_ref(d), DType::I32)?;
        let n = b.scalar(ScalarOp::Max, n, 1.0)?;
        let above = b.binary(ScalarOp::Div, rest, n)?;
        let below = b.mul(above, n)?;
        let column = b.sub(rest, below)?;
        let column = b.select(there, column, fill)?;
        columns.push(b.unsqueeze(column, 1)?);
        rest = above;
    }
    columns.reverse();
    Ok(vec![if columns.is_empty() { b.full(&[Dim::Const(size), Dim::ZERO], 0.0, DType::I32)? } else { b.cat(&columns, 1)? }])
}
