//! Filling: few channels become four.
//!
//! The three channels of an image are 12 bytes, and no copy of 16 finds a place among them. Where a large product reads windows of
//! two or three channels, both factors get zeros for the fourth; the products with them add nothing. A gradient has a fourth channel
//! that nobody reads.

use super::accesses;
use crate::nest::{NestBuilder, substitute};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use aludel_ir::{DType, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Channels that fit into a copy.
const FULL: i64 = 4;

/// A dimension of a buffer, by its position.
type Place = (BufferId, usize);

/// Fills the channels (given as buffer and dimension) that the nest at a position reads through windows.
pub(super) fn fill(program: &mut LoopProgram, done: &mut BTreeSet<Place>, nest: usize, (buffer, dim): Place) {
    let Some(index) = accesses(&program.nests[nest]).find(|a| a.0 == buffer).map(|a| a.1[dim].clone()) else { return };
    let Some(axis) = index.as_axis() else { return };
    let extent = match program.extent(axis).as_const() {
        Some(e @ 2..FULL) => e,
        _ => return,
    };
    // Everything that has the axis: the other factor where it is summed over, the result where it is not.
    let mut places = BTreeSet::new();
    for (b, index, stored) in accesses(&program.nests[nest]) {
        for (d, e) in index.iter().enumerate().filter(|(_, e)| e.uses_axis(axis)) {
            if e.as_axis() != Some(axis) {
                return;
            }
            places.insert((stored, (b, d)));
        }
    }
    let temporary = |b: BufferId| program.buffer(b).kind == BufferKind::Temp;
    let writers =
        |b: BufferId| program.nests.iter().enumerate().filter(|(_, n)| n.writes().contains(&b)).map(|(i, _)| i).collect::<Vec<_>>();
    let mut copies = Vec::new();
    for (stored, place) in &places {
        match (stored, writers(place.0).as_slice()) {
            _ if !temporary(place.0) => return,
            (true, [_]) => {}
            (false, _) if done.contains(place) => {}
            (false, [writer]) if is_copy(&program.nests[*writer], place) => copies.push((*writer, *place)),
            _ => return,
        }
    }
    for (writer, place) in copies {
        let axis = program.new_axis(Expr::Const(FULL));
        program.nests[writer] = filled(program, &program.nests[writer], place, axis, extent);
        done.insert(place);
    }
    for (_, (b, d)) in &places {
        program.buffers[b.0 as usize].shape[*d] = Expr::Const(FULL);
    }
    let whole = program.new_axis(Expr::Const(FULL));
    program.nests[nest] = substitute(&program.nests[nest], &FxHashMap::from_iter([(axis, Expr::axis(whole))]), program);
}

/// Whether a nest only copies a tensor, converted perhaps, and counts a dimension of it by one axis.
fn is_copy(nest: &Nest, place: &Place) -> bool {
    let plain = nest.ops.iter().all(|(op, dtype)| match op {
        LoopOp::Load { mask, .. } => mask.is_none() && *dtype == DType::F32,
        LoopOp::Cast(..) => true,
        _ => false,
    });
    let one = matches!(nest.stores.as_slice(), [s] if s.buffer == place.0 && !s.add && s.index[place.1].as_axis().is_some());
    plain && one && nest.inner.is_empty()
}

/// A copying nest over one more channel, which is zero.
fn filled(program: &LoopProgram, nest: &Nest, place: Place, axis: AxisId, extent: i64) -> Nest {
    let Some(old) = nest.stores.first().and_then(|s| s.index[place.1].as_axis()) else { return nest.clone() };
    let map = FxHashMap::from_iter([(old, Expr::axis(axis))]);
    let mut b = NestBuilder::default();
    let (here, end) = (b.index(Expr::axis(axis)), b.constant(extent as f64, DType::I32));
    let inside = b.scalar(ScalarOp::Lt, &[here, end]);
    let mut values = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let v = match op {
            LoopOp::Load { buffer, index, .. } => {
                let index = index.iter().map(|e| crate::nest::rename(e, &map, None, program)).collect();
                let load = b.push(LoopOp::Load { buffer: *buffer, index, mask: Some(inside) }, *dtype);
                let zero = b.constant(0.0, *dtype);
                b.scalar(ScalarOp::Select, &[inside, load, zero])
            }
            _ => b.import(op, *dtype, &map, &values, program),
        };
        values.push(v);
    }
    for s in &nest.stores {
        let value = values[s.value.0 as usize];
        let index = s.index.iter().map(|e| crate::nest::rename(e, &map, None, program)).collect();
        b.nest.stores.push(Store { buffer: s.buffer, index, value, add: false });
    }
    b.nest.axes = nest.axes.iter().map(|a| if *a == old { axis } else { *a }).collect();
    b.nest.origins = nest.origins.clone();
    b.nest
}
