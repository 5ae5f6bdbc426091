//! Nests that are one plain matrix product: what a library computes in a kernel's stead, where a target has one.

use super::collapse::collapse;
use super::staged;
use crate::fuse::{Contraction, Kind, Product, classify};
use crate::parts::Part;
use crate::target::Target;
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

/// Sums of fewer terms than this: reading the result again for what follows costs more than a faster product saves.
const LONG: i64 = 256;
/// Multiplications of a product that fills a device.
const LARGE: i64 = 1 << 28;

/// For each nest of a program, whether it is for a library of the target.
pub(crate) fn for_library(program: &LoopProgram, target: &Target) -> Vec<bool> {
    let mut table = LoopProgram { nests: Vec::new(), ..program.clone() };
    program.nests.iter().map(|n| is_for_library(&mut table, n, target)).collect()
}

/// Whether a nest is a plain product that a library of the target computes faster than a kernel would. The program is as before
/// when this returns.
pub(crate) fn is_for_library(program: &mut LoopProgram, nest: &Nest, target: &Target) -> bool {
    if !target.library_products {
        return false;
    }
    let Kind::Contract(c) = classify(nest, program) else { return false };
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    let (k, outputs) = (hint(&c.k), hint(&nest.axes));
    if k < LONG || k.saturating_mul(outputs) < LARGE {
        return false;
    }
    let by_units = target.has_warpgroups() && target.parts.has(Part::Warpgroups);
    // Describing a product makes axes.
    let axes = program.axes.len();
    let found = product(program, nest).is_some() && !(by_units && feeds_units(program, nest, target));
    program.axes.truncate(axes);
    found
}

/// Whether a kernel for the device's own units is about as fast as a library's: what follows the product then costs it little. A product that nothing follows is measured against the library all the same.
fn feeds_units(table: &mut LoopProgram, nest: &Nest, target: &Target) -> bool {
    let kind = classify(nest, table);
    let flat = collapse(table, nest, &kind);
    match classify(&flat, table) {
        Kind::Contract(c) => staged::warpgroup::choose(table, &flat, &c, target).is_some_and(|p| p.is_fast()),
        _ => false,
    }
}

fn product(table: &mut LoopProgram, nest: &Nest) -> Option<MatrixProduct> {
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
