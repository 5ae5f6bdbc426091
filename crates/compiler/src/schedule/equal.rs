//! Nests that are equal but for the names of axes and buffers: the layers of a network repeat, and are scheduled once.

use super::Scheduled;
use crate::nest::rename;
use aludel_ir::DType;
use aludel_ir::expr::{AxisId, Expr, NoRanges};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use rustc_hash::FxHashMap;

/// A nest whose axes and buffers are numbered in the order in which it names them; all that a schedule depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Canonical {
    /// How many axes are the nest's own, and how many its inner ones.
    pub outer: usize,
    pub inner: usize,
    /// The extents of all axes: those of the nest, its inner ones, then others that reductions run over.
    pub extents: Vec<Expr>,
    pub ops: Vec<(LoopOp, DType)>,
    pub stores: Vec<Store>,
    pub buffers: Vec<(DType, Vec<Expr>, BufferKind)>,
}

/// A nest's canonical form, and its buffers in the order of that form.
pub(super) fn canonical(table: &LoopProgram, nest: &Nest) -> (Canonical, Vec<BufferId>) {
    let mut axes: Vec<AxisId> = Vec::new();
    let reduced = nest.ops.iter().flat_map(|(op, _)| match op {
        LoopOp::Reduce { axes, .. } => axes.as_slice(),
        _ => &[],
    });
    for a in nest.axes.iter().chain(&nest.inner).chain(reduced) {
        if !axes.contains(a) {
            axes.push(*a);
        }
    }
    let place = |a: &AxisId| AxisId(axes.iter().position(|x| x == a).unwrap_or(axes.len()) as u32);
    let map: FxHashMap<AxisId, Expr> = axes.iter().map(|a| (*a, Expr::axis(place(a)))).collect();
    let index = |list: &[Expr]| -> Vec<Expr> { list.iter().map(|e| rename(e, &map, None, &NoRanges)).collect() };
    let mut buffers: Vec<BufferId> = Vec::new();
    let mut number = |b: BufferId| {
        let at = buffers.iter().position(|x| *x == b).unwrap_or_else(|| {
            buffers.push(b);
            buffers.len() - 1
        });
        BufferId(at as u32)
    };
    let mut ops = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let op = match op {
            LoopOp::Load { buffer, index: at, mask } => LoopOp::Load { buffer: number(*buffer), index: index(at), mask: *mask },
            LoopOp::Index(e) => LoopOp::Index(rename(e, &map, None, &NoRanges)),
            LoopOp::Reduce { op, axes, value } => LoopOp::Reduce { op: *op, axes: axes.iter().map(place).collect(), value: *value },
            other => other.clone(),
        };
        ops.push((op, *dtype));
    }
    let stores = nest.stores.iter().map(|s| Store { buffer: number(s.buffer), index: index(&s.index), ..s.clone() }).collect();
    // States by the order in which they are named: an update in place belongs to its input.
    let mut states: Vec<usize> = Vec::new();
    let mut state = |i: usize| {
        states.iter().position(|x| *x == i).unwrap_or_else(|| {
            states.push(i);
            states.len() - 1
        })
    };
    let facts = buffers
        .iter()
        .map(|b| {
            let b = table.buffer(*b);
            let kind = match b.kind {
                BufferKind::Input(i) => BufferKind::Input(state(i)),
                BufferKind::Update(i) => BufferKind::Update(state(i)),
                BufferKind::Result(_) => BufferKind::Result(0),
                BufferKind::Temp => BufferKind::Temp,
            };
            (b.dtype, b.shape.clone(), kind)
        })
        .collect();
    let extents = axes.iter().map(|a| table.extent(*a).clone()).collect();
    (Canonical { outer: nest.axes.len(), inner: nest.inner.len(), extents, ops, stores, buffers: facts }, buffers)
}

/// The schedule of a nest as that of its equal, by its own buffers.
pub(super) fn adopt(of: &Scheduled, theirs: &[BufferId], ours: &[BufferId]) -> Scheduled {
    let own = |b: BufferId| theirs.iter().position(|x| *x == b).map_or(b, |at| ours[at]);
    let mut s = of.clone();
    s.buffers.iter_mut().for_each(|b| *b = own(*b));
    s.maps.iter_mut().for_each(|m| m.placement = own(BufferId(m.placement as u32)).0 as usize);
    s
}
