//! Nothing is computed where there is nothing: nests that run over an empty dimension vanish, and those that they alone read;
//! reductions over one are their identity, and a load of a buffer without elements, which no iteration asks for, is zero. What follows
//! (splitting, tiles, clamped loads) may then take every extent for one at least: a size of zero is always a constant, because a captured
//! function specialises on it.

use crate::nest::NestBuilder;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::order::InOrder;
use aludel_ir::{DType, Literal};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Leaves no nest that runs, or reduces, over an axis of extent zero.
pub(super) fn remove(program: &mut LoopProgram) {
    let nests = std::mem::take(&mut program.nests);
    let is_empty = |a: &AxisId| program.extent(*a).is_zero();
    let kept = nests.into_iter().filter(|n| !n.axes.iter().any(is_empty));
    let kept = kept.map(|n| simplify(program, n));
    // A collective of nothing is one for nobody: its shape is that of all ranks.
    let meets = |n: &Nest| n.exchange.as_ref().is_some_and(|e| !program.buffer(e.from).shape.iter().any(Expr::is_zero));
    let kept: Vec<Nest> = kept.filter(|n| !n.stores.is_empty() || meets(n)).collect();
    program.nests = kept;
    while drop_unread(program) {}
}

/// Leaves no nest that stores what nobody reads, since what would have read it vanished; whether there was one.
fn drop_unread(program: &mut LoopProgram) -> bool {
    let mut read: BTreeSet<BufferId> = program.nests.iter().flat_map(|n| n.reads()).in_order();
    read.extend(program.nests.iter().filter_map(|n| n.exchange.as_ref().map(|e| e.from)));
    let before = program.nests.len();
    let buffers = &program.buffers;
    let needed = |b: &BufferId| read.contains(b) || buffers[b.0 as usize].kind != BufferKind::Temp;
    program.nests.retain(|n| n.exchange.is_some() || n.stores.iter().any(|s| needed(&s.buffer)));
    program.nests.len() < before
}

/// A nest whose empty reductions and loads are constants, and which stores nothing along what is empty.
fn simplify(program: &LoopProgram, nest: Nest) -> Nest {
    let is_empty = |a: &AxisId| program.extent(*a).is_zero();
    let constant = |op: &LoopOp, dtype: DType| match op {
        LoopOp::Load { buffer, .. } if program.buffer(*buffer).shape.iter().any(Expr::is_zero) => Some(Literal::new(0.0, dtype)),
        LoopOp::Reduce { op, axes, value } if axes.iter().any(is_empty) => {
            // Positions in an empty row are refused where the graph is built.
            Some(Literal::new(op.identity(nest.dtype(*value)), dtype))
        }
        _ => None,
    };
    if nest.ops.iter().all(|(op, dtype)| constant(op, *dtype).is_none()) && !nest.inner.iter().any(is_empty) {
        return nest;
    }
    // What varies along an empty axis is needed by nobody.
    let varies: Vec<bool> = nest.dependences().iter().map(|d| d.iter().any(is_empty)).collect();
    let inner = nest.inner.iter().copied().filter(|a| !is_empty(a)).collect();
    let mut out = NestBuilder::resume(Nest { axes: nest.axes.clone(), inner, origins: nest.origins.clone(), ..Nest::default() });
    let mut values = vec![ValId(0); nest.ops.len()];
    for (i, (op, dtype)) in nest.ops.iter().enumerate() {
        values[i] = match constant(op, *dtype) {
            Some(literal) => out.push(LoopOp::Const(literal), literal.dtype),
            None if varies[i] => continue,
            None => out.import(op, *dtype, &FxHashMap::default(), &values, program),
        };
    }
    for s in &nest.stores {
        if varies[s.value.0 as usize] || s.index.iter().any(|e| e.axes().iter().any(is_empty)) {
            continue;
        }
        let index = s.index.iter().map(|e| crate::nest::rename(e, &FxHashMap::default(), Some(&values), program)).collect();
        out.nest.stores.push(Store { buffer: s.buffer, index, value: values[s.value.0 as usize], add: s.add });
    }
    out.nest
}
