//! Values that a nest stores twice, in two layouts.
//!
//! Attention's result is wanted as `[batch, heads, rows, features]` by its backward pass and, its heads side by side, by the product that
//! follows: once fused, one nest stores both. Where readers of the one find its rows of features in the other too, it is not written:
//! they read there.

use crate::nest::{Kind, classify, compact, rename};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use rustc_hash::FxHashMap;

/// Elements that have to lie side by side in both, so that reading is as fast: more than a sector of 32 bytes.
const RUN: i64 = 32;

/// Removes the second store of a value where its readers can do with the first.
pub(super) fn once(program: &mut LoopProgram) {
    for n in 0..program.nests.len() {
        while let Some((gone, kept)) = twice(program, n) {
            redirect(program, n, gone, kept);
        }
    }
}

/// Positions of two stores of the nest at a position, of which the first is not needed.
fn twice(program: &LoopProgram, n: usize) -> Option<(usize, usize)> {
    let nest = &program.nests[n];
    let stores = nest.stores.iter().enumerate();
    let pairs = stores.flat_map(|(i, _)| (0..nest.stores.len()).filter(move |j| *j != i).map(move |j| (i, j)));
    pairs.into_iter().find(|(i, j)| {
        let (gone, kept) = (&nest.stores[*i], &nest.stores[*j]);
        let temporary = |b: BufferId| program.buffer(b).kind == BufferKind::Temp && written_by(program, b) == [n];
        gone.value == kept.value
            && gone.buffer != kept.buffer
            && !gone.add
            && !kept.add
            && program.buffer(gone.buffer).dtype == program.buffer(kept.buffer).dtype
            && temporary(gone.buffer)
            && temporary(kept.buffer)
            && stores_whole(program, nest, gone)
            && places(program, nest, &gone.index).is_some()
            && same_runs(program, &gone.index, &kept.index)
            && readers_follow(program, n, gone.buffer)
    })
}

/// The nests that write a buffer.
pub(super) fn written_by(program: &LoopProgram, b: BufferId) -> Vec<usize> {
    (0..program.nests.len()).filter(|n| program.nests[*n].writes().contains(&b)).collect()
}

/// The dimension in which each axis of a nest stands alone, where all do and nothing else does.
pub(super) fn places(program: &LoopProgram, nest: &Nest, index: &[Expr]) -> Option<FxHashMap<AxisId, usize>> {
    let mut places = FxHashMap::default();
    for (d, e) in index.iter().enumerate() {
        match e.as_axis() {
            Some(a) => drop(places.insert(a, d)),
            None if e.is_zero() => {}
            None => return None,
        }
    }
    let all = nest.axes.iter().all(|a| places.contains_key(a) || program.extent(*a).is_one());
    (all && places.keys().all(|a| nest.axes.contains(a))).then_some(places)
}

/// Whether a store is all there is of its buffer: the parts of a concatenation are stored one by one.
fn stores_whole(program: &LoopProgram, nest: &Nest, store: &Store) -> bool {
    let extent = |e: &Expr| e.as_axis().map_or(Expr::ONE, |a| program.extent(a).clone());
    nest.stores.iter().filter(|s| s.buffer == store.buffer).count() == 1
        && program.buffer(store.buffer).shape.iter().zip(&store.index).all(|(n, e)| *n == extent(e))
}

/// Whether the last axis of one index runs along memory in the other, too.
fn same_runs(program: &LoopProgram, gone: &[Expr], kept: &[Expr]) -> bool {
    let last = gone.last().and_then(|e| e.as_axis());
    let long = |a: AxisId| program.extent(a).as_const().is_some_and(|n| n >= RUN);
    let along = |a: AxisId| kept.last().and_then(|e| e.coefficient(a)).is_some_and(|c| c.is_one());
    last.is_some_and(|a| long(a) && along(a))
}

/// Whether all that read a buffer come later and read it element by element: what products and attention read, copies bring in boxes.
fn readers_follow(program: &LoopProgram, n: usize, b: BufferId) -> bool {
    let handed_on = |nest: &Nest| nest.exchange.as_ref().is_some_and(|e| e.from == b || e.to == b);
    program.nests.iter().enumerate().all(|(m, nest)| {
        let reads = nest.reads().contains(&b);
        let plain = || m > n && nest.steps.is_empty() && matches!(classify(nest, program), Kind::Pointwise | Kind::Rows);
        !handed_on(nest) && (!reads || plain())
    })
}

/// Has the readers of one stored buffer read the other.
fn redirect(program: &mut LoopProgram, n: usize, gone: usize, kept: usize) {
    let (from, to) = (program.nests[n].stores[gone].clone(), program.nests[n].stores[kept].clone());
    let Some(places) = places(program, &program.nests[n], &from.index) else { return };
    for m in n + 1..program.nests.len() {
        let mut nest = std::mem::take(&mut program.nests[m]);
        for (op, _) in &mut nest.ops {
            if let LoopOp::Load { buffer, index, .. } = op
                && *buffer == from.buffer
            {
                let map: FxHashMap<AxisId, Expr> = places.iter().map(|(a, d)| (*a, index[*d].clone())).collect();
                *index = to.index.iter().map(|e| rename(e, &map, None, program)).collect();
                *buffer = to.buffer;
            }
        }
        program.nests[m] = nest;
    }
    program.nests[n].stores.remove(gone);
    compact(&mut program.nests[n]);
}
