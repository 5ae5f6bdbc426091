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

/// For each nest of a program, the plain product that it is: `out[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]`, of f32, each
/// operand a strided matrix in memory, with at most a bias along `j` and a matrix added to it. Placements are positions of buffers of
/// the program.
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

fn describe(program: &LoopProgram, nest: &Nest, c: &Contraction) -> Option<MatrixProduct> {
    let one = |axes: &[AxisId]| if let [a] = axes { Some(*a) } else { None };
    let (m, n, k) = (one(&c.m)?, one(&c.n)?, one(&c.k)?);
    let batch = if c.batch.is_empty() { None } else { Some(one(&c.batch)?) };
    let [store] = &nest.stores[..] else { return None };
    let f32_only = nest.ops.iter().all(|(_, dtype)| *dtype == DType::F32);
    if c.product != Product::Multiply || store.add || !f32_only {
        return None;
    }
    let matrix = |buffer: BufferId, index: &[Expr], row: AxisId, column: AxisId| {
        let [flat] = index else { return None };
        let (strides, offset) = linear(flat, &[batch, Some(row), Some(column)])?;
        Some(Matrix { placement: buffer.0 as usize, offset, strides })
    };
    let load = |v: ValId, row: AxisId, column: AxisId| match nest.op(v) {
        LoopOp::Load { buffer, index, mask: None } => matrix(*buffer, index, row, column),
        _ => None,
    };
    let mut out = MatrixProduct {
        batch: batch.map_or(Expr::ONE, |b| program.extent(b).clone()),
        m: program.extent(m).clone(),
        n: program.extent(n).clone(),
        k: program.extent(k).clone(),
        lhs: load(c.lhs, m, k)?,
        rhs: load(c.rhs, k, n)?,
        out: matrix(store.buffer, &store.index, m, n)?,
        bias: None,
        add: None,
    };
    // Additions between the sum and the store.
    let mut value = store.value;
    while value != c.reduce {
        let LoopOp::Scalar(ScalarOp::Add, terms) = nest.op(value) else { return None };
        let (next, term) = match (nest.op(terms[0]), nest.op(terms[1])) {
            (_, LoopOp::Load { .. }) => (terms[0], terms[1]),
            (LoopOp::Load { .. }, _) => (terms[1], terms[0]),
            _ => return None,
        };
        let added = load(term, m, n)?;
        if added.strides[0].is_zero() && added.strides[1].is_zero() && added.strides[2].is_one() && out.bias.is_none() {
            out.bias = Some(added);
        } else if out.add.is_none() {
            out.add = Some(added);
        } else {
            return None;
        }
        value = next;
    }
    // Two loads, a multiplication and a sum, a load and an addition for each term: nothing else is computed.
    let terms = out.bias.is_some() as usize + out.add.is_some() as usize;
    (nest.ops.len() == 4 + 2 * terms).then_some(out)
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
