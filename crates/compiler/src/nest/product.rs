//! Nests that are one plain matrix product: what a library computes in a kernel's stead, where a target has one.

use super::collapse::collapse;
use super::kind::{Contraction, Kind, Product, classify};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::program::{Matrix, MatrixProduct};
use aludel_ir::{DType, ScalarOp};
use std::collections::BTreeSet;

/// For each nest of a program, the plain product that it is: `out[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]`, summed in
/// f32, each operand a strided matrix in memory of f32, f16 or bf16, with at most a bias along `j` and a matrix added to it. Placements
/// are positions of buffers of the program.
pub(crate) fn products(program: &LoopProgram) -> Vec<Option<MatrixProduct>> {
    let mut table = LoopProgram { nests: Vec::new(), ..program.clone() };
    program.nests.iter().map(|n| product(&mut table, n)).collect()
}

/// The plain product that a nest is; axes that describing it makes go into the table.
pub(crate) fn product(table: &mut LoopProgram, nest: &Nest) -> Option<MatrixProduct> {
    let kind = classify(nest, table);
    let Kind::Contract(_) = &kind else { return None };
    let flat = collapse(table, nest, &kind);
    let Kind::Contract(c) = classify(&flat, table) else { return None };
    describe(table, &flat, &c)
}

/// Reads a product off a nest, operation by operation.
struct Reader<'a> {
    nest: &'a Nest,
    program: &'a LoopProgram,
    batch: Option<AxisId>,
    /// The operations that are part of the product.
    seen: BTreeSet<ValId>,
}

impl<'a> Reader<'a> {
    fn op(&mut self, v: ValId) -> &'a LoopOp {
        self.seen.insert(v);
        self.nest.op(v)
    }

    fn matrix(&self, buffer: BufferId, index: &[Expr], row: AxisId, column: AxisId) -> Option<Matrix> {
        let [flat] = index else { return None };
        let (strides, offset) = linear(flat, &[self.batch, Some(row), Some(column)])?;
        Some(Matrix { placement: buffer.0 as usize, offset, strides })
    }

    /// A matrix in memory, of f32 or widened to it; and its type.
    fn load(&mut self, v: ValId, row: AxisId, column: AxisId) -> Option<(Matrix, DType)> {
        let v = match self.op(v) {
            LoopOp::Cast(DType::F32, x) if self.nest.dtype(*x) != DType::F32 => *x,
            _ => v,
        };
        let dtype = self.nest.dtype(v);
        match self.op(v).clone() {
            LoopOp::Load { buffer, index, mask: None } if dtype.is_float() => Some((self.matrix(buffer, &index, row, column)?, dtype)),
            _ => None,
        }
    }

    /// What a value was before it was rounded to a narrow type and widened again: a product of the library rounds once.
    fn unrounded(&mut self, v: ValId) -> ValId {
        let LoopOp::Cast(DType::F32, narrow) = self.nest.op(v) else { return v };
        let LoopOp::Cast(_, x) = self.nest.op(*narrow) else { return v };
        if self.nest.dtype(*x) != DType::F32 {
            return v;
        }
        self.seen.extend([v, *narrow]);
        *x
    }
}

fn describe(program: &LoopProgram, nest: &Nest, c: &Contraction) -> Option<MatrixProduct> {
    let one = |axes: &[AxisId]| if let [a] = axes { Some(*a) } else { None };
    let (m, n, k) = (one(&c.m)?, one(&c.n)?, one(&c.k)?);
    let batch = if c.batch.is_empty() { None } else { Some(one(&c.batch)?) };
    let [store] = &nest.stores[..] else { return None };
    if c.product != Product::Multiply || store.add || nest.dtype(c.reduce) != DType::F32 {
        return None;
    }
    let mut r = Reader { nest, program, batch, seen: BTreeSet::new() };
    let ((lhs, left), (rhs, right)) = (r.load(c.lhs, m, k)?, r.load(c.rhs, k, n)?);
    if left != right {
        return None;
    }
    let result = r.program.buffer(store.buffer).dtype;
    let mut out = MatrixProduct {
        batch: batch.map_or(Expr::ONE, |b| program.extent(b).clone()),
        m: program.extent(m).clone(),
        n: program.extent(n).clone(),
        k: program.extent(k).clone(),
        lhs,
        rhs,
        out: r.matrix(store.buffer, &store.index, m, n)?,
        bias: None,
        add: None,
    };
    // The conversion to the result's type, then additions between the sum and the store.
    let mut value = match r.op(store.value) {
        LoopOp::Cast(d, x) if *d == result && nest.dtype(*x) == DType::F32 => *x,
        _ => store.value,
    };
    loop {
        value = r.unrounded(value);
        if value == c.reduce {
            break;
        }
        let LoopOp::Scalar(ScalarOp::Add, terms) = r.op(value).clone() else { return None };
        // Either side may be the one that is loaded.
        let [next, term] = match (r.load(terms[1], m, n), r.load(terms[0], m, n)) {
            (Some(_), None) => [terms[0], terms[1]],
            (None, Some(_)) => [terms[1], terms[0]],
            _ => return None,
        };
        let (added, dtype) = r.load(term, m, n)?;
        if dtype != result {
            return None;
        }
        if added.strides[0].is_zero() && added.strides[1].is_zero() && added.strides[2].is_one() && out.bias.is_none() {
            out.bias = Some(added);
        } else if out.add.is_none() {
            out.add = Some(added);
        } else {
            return None;
        }
        value = next;
    }
    let LoopOp::Reduce { value: product, .. } = r.op(c.reduce).clone() else { return None };
    r.seen.insert(product);
    // Nothing else is computed.
    (r.seen.len() == nest.ops.len()).then_some(out)
}

/// The coefficients of axes in an index that is linear in them, and what remains.
fn linear(index: &Expr, axes: &[Option<AxisId>; 3]) -> Option<([Expr; 3], Expr)> {
    let mut strides = [Expr::ZERO, Expr::ZERO, Expr::ZERO];
    let mut rest = index.clone();
    for (stride, axis) in strides.iter_mut().zip(axes) {
        if let Some(a) = axis {
            *stride = index.coefficient(*a)?;
            rest = rest.sub(&stride.mul(&Expr::axis(*a)));
        }
    }
    rest.axes().is_empty().then_some((strides, rest))
}
