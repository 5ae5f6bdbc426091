//! Splitting reductions: where few results are reduced from much, parts of the sum are computed side by side and added in a
//! second nest. Both the products of a weight's gradient (few tiles, long k) and sums over columns need it to fill a device.
//!
//! The parts are added in a fixed order: the same result every time, unlike atomic addition. Those of a product are equal; of other sums the
//! last may be shorter, or some empty, so that sums over sizes that are not known, or that nothing divides, are split too.
//!
//! What follows the sums runs over the axes in the order of the memory that it writes. A product whose results lie in another order than what
//! follows writes, such as a convolution's weight with its channels innermost and an optimizer's state, leaves that to a second nest for this
//! alone: scattered stores cost more than a pass over the results.

use super::fuse::Fused;
use super::slices;
use crate::device::Target;
use crate::nest::access::{below, contiguous_within, wide_stores};
use crate::nest::{Kind, NestBuilder, classify, rename};
use crate::parts::Part;
use crate::schedule::library::is_for_library;
use crate::schedule::{STRETCH, column_groups, split_among_cores, split_parts, thin_groups};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::order::{InOrder, Order};
use aludel_ir::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Parts, at most: a second nest adds them.
const PARTS: i64 = 64;
/// Results of which there may be four times as many.
const FEW: i64 = 1 << 12;
/// So many times the equal parts that a sum has are worth parts of which the last one ends early, each element of so many asking whether it is there.
const UNEVEN: i64 = 4;
/// Scattered results of a product that are worth a pass of their own.
const SCATTERED: i64 = 1 << 15;

/// Splits what is worth it; nests, and what is known of them by position, are renumbered.
pub(crate) fn split(program: &mut LoopProgram, fused: &mut Fused, target: &Target) {
    if (!target.has_workgroups() && target.cores < 2) || !target.parts.has(Part::Splitting) {
        return;
    }
    let nests = std::mem::take(&mut program.nests);
    // For each old nest, the positions of its first and last part.
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(nests.len());
    let mut out: Vec<Nest> = Vec::with_capacity(nests.len());
    for nest in nests {
        let first = out.len();
        let library = is_for_library(program, &nest, target);
        let choice = if library { None } else { choose(program, &nest, target) };
        match choice.and_then(|(axis, parts)| apart(program, &nest, axis, parts)) {
            Some((partial, rest)) => out.extend([partial, rest]),
            None => out.push(nest),
        }
        places.push((first, out.len() - 1));
    }
    let mut before = vec![BTreeSet::new(); out.len()];
    for (old, waits) in fused.before.iter().enumerate() {
        let (first, last) = places[old];
        before[first] = waits.iter().map(|w| places[*w].1).collect();
        if last > first {
            before[last] = before[first].clone();
            before[last].insert(first);
        }
    }
    fused.before = before;
    for (a, b, _) in &mut fused.refusals {
        (*a, *b) = (places[*a].1, places[*b].0);
    }
    program.nests = out;
    if target.parts.has(Part::Slices) {
        let sums: Vec<usize> = places.iter().filter(|(first, last)| last > first).map(|(_, last)| *last).collect();
        slices::join(program, fused, &sums);
    }
}

/// The axis to split and into how many parts.
fn choose(program: &LoopProgram, nest: &Nest, target: &Target) -> Option<(AxisId, i64)> {
    let mut reduces = nest.reduces();
    let first = reduces.next()?;
    let LoopOp::Reduce { axes, .. } = nest.op(first) else { return None };
    let one_phase = nest.reduces().all(|r| {
        let LoopOp::Reduce { op, axes: a, value } = nest.op(r) else { return false };
        !op.is_arg() && a == axes && !below(nest, *value).iter().any(|v| matches!(nest.op(*v), LoopOp::Reduce { .. }))
    });
    if !one_phase || nest.stores.iter().any(|s| s.add) || !wide_stores_come_first(nest) {
        return None;
    }
    let kind = classify(nest, program);
    // Parts of a product have to be equal, so only sizes that are known; the last of the others' may be shorter.
    let may_be_uneven = matches!(kind, Kind::Rows) && !wide_stores(nest).contains(&true);
    let volume = |axes: &[AxisId]| {
        let volume = program.volume(axes);
        volume.as_const().or_else(|| may_be_uneven.then(|| program.env.hint(&volume)).flatten())
    };
    let (results, length) = (volume(&nest.axes)?.max(1), volume(axes)?);
    let scatters = || target.has_async_copies() && results >= SCATTERED && nest.stores.len() > 1 && by_memory(program, nest) != nest.axes;
    // Where a second launch costs something, what it is worth is longer.
    let cheap = target.has_cheap_launches();
    let (busy, reading) = (target.busy_groups(), target.reading_groups());
    // Parts of few results are added in no time.
    let most = if results <= FEW { 4 * PARTS } else { PARTS };
    let (wanted, shortest) = match kind {
        Kind::Rows if !target.has_workgroups() => among_cores(results, length, contiguous_within(program, nest), target),
        Kind::Contract(c) if !target.has_workgroups() => (split_among_cores(program, nest, &c, target, PARTS)?, 256),
        _ if !target.has_workgroups() => return None,
        Kind::Contract(c) if let Some(groups) = thin_groups(program, nest, &c, target) => {
            ((reading / groups).min(most), if results <= FEW { 512 } else { 2048 })
        }
        // Where one core plays the device, there is nobody to share with.
        Kind::Contract(_) if !target.has_fast_workgroups() => return None,
        // Tiles whose sums are shorter are written and read again for little.
        Kind::Contract(c) if !target.has_async_copies() => (split_parts(program, &c, target, PARTS, 256)?, 256),
        Kind::Contract(c) => {
            let (b, m, n) = (volume(&c.batch)?, volume(&c.m)?, volume(&c.n)?);
            let side = |n: i64| if n >= 96 { (n + 127) / 128 } else { (n + 63) / 64 };
            let groups = b * side(m) * side(n);
            // Full tiles that keep the device busy until they end have nothing to gain: their parts would be written and read again.
            // Measured on an H200: weights of GPT-2, `aludel bench --device cuda --amp bf16 --ablate gpt2 --parts splitting`.
            let (units, full) = (target.units as i64, m.min(n) >= 96);
            let rounds = (groups + units - 1) / units;
            if full && 4 * groups >= 3 * rounds * units {
                return scatters().then(|| (axes[0], 1));
            }
            // Others are worth splitting so far that the last round of workgroups is short; small ones so that they end soon.
            let (groups, shortest) = if full { ((groups + 2) / 3, 1024) } else { (groups, 256) };
            ((busy / groups).min(most), shortest)
        }
        // Four neighbours at a time, each thread has more rows: twice as many workgroups keep as many loads under way.
        Kind::Rows if let Some(groups) = column_groups(program, nest, target) => ((2 * busy / groups).min(2 * most), 64),
        Kind::Rows if contiguous_within(program, nest) => (reading / results, if cheap { 4096 } else { 8192 }),
        // The lanes of a workgroup share a sum there.
        Kind::Rows if !cheap => ((busy / ((results + 31) / 32)).min(PARTS), 2048),
        // Measured on an H200: sums over the columns of few channels are read faster by twice as many parts, and no sum by four times.
        Kind::Rows => ((busy / ((results + 31) / 32)).min(2 * PARTS), 128),
        _ => return None,
    };
    let most = wanted.min(length / shortest);
    // Of equals the outermost: what is left of the axes still lies in a row.
    let parts = axes
        .iter()
        .filter_map(|a| Some((*a, program.extent(*a).as_const()?)))
        .filter_map(|(a, e)| (2..=most).rev().find(|parts| e % parts == 0).map(|parts| (a, parts)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    let even = parts.map_or(1, |(_, parts)| parts);
    if may_be_uneven && most >= UNEVEN * even {
        let longest = axes.iter().map(|a| (*a, program.env.hint_or_one(program.extent(*a)))).rev().max_by_key(|(_, n)| *n)?;
        if longest.1 >= UNEVEN * most {
            return Some((longest.0, most));
        }
    }
    parts.or_else(|| scatters().then(|| (axes[0], 1)))
}

/// How many parts keep all cores of a CPU busy, and how long they are at least: as much work as pays a second launch.
fn among_cores(results: i64, length: i64, along: bool, target: &Target) -> (i64, i64) {
    // Rows across memory are summed side by side.
    let together = if along { 1 } else { results.min(STRETCH) };
    let pieces = results / together;
    if results.saturating_mul(length) < 1 << 19 {
        return (1, 1);
    }
    (4 * target.cores as i64 / pieces, (1 << 15) / together)
}

/// The axes of a nest in the order in which most of its stores step through memory, the longest steps first.
fn by_memory(program: &LoopProgram, nest: &Nest) -> Vec<AxisId> {
    let steps = |s: &Store| -> Option<Vec<i64>> {
        let at = program.buffer(s.buffer).flatten(&s.index);
        nest.axes.iter().map(|a| at.coefficient(*a)?.as_const().filter(|c| *c > 0)).collect()
    };
    let order = |steps: Vec<i64>| {
        let mut axes: Vec<(i64, AxisId)> = steps.into_iter().zip(nest.axes.iter().copied()).collect();
        axes.order_by_key(|(step, _)| std::cmp::Reverse(*step));
        axes.into_iter().map(|(_, a)| a).collect::<Vec<_>>()
    };
    let orders: Vec<Vec<AxisId>> = nest.stores.iter().filter_map(steps).map(order).collect();
    let most = orders.iter().find(|o| orders.iter().filter(|p| p == o).count() * 2 > nest.stores.len());
    most.cloned().unwrap_or_else(|| nest.axes.clone())
}

/// Whether what is stored of the elements waits for no sum, and nothing that comes after the sums reads where it is stored.
fn wide_stores_come_first(nest: &Nest) -> bool {
    let wide = wide_stores(nest);
    let needs = |s: &Store| s.operands().into_iter().flat_map(|v| below(nest, v)).in_order::<BTreeSet<ValId>>();
    let parts = |i: &usize| wide[*i];
    let (first, after): (Vec<usize>, Vec<usize>) = (0..nest.stores.len()).partition(parts);
    let reduces = |v: &ValId| matches!(nest.op(*v), LoopOp::Reduce { .. });
    let overwritten = |v: &ValId| match nest.op(*v) {
        LoopOp::Load { buffer, .. } => first.iter().any(|i| nest.stores[*i].buffer == *buffer),
        _ => false,
    };
    !first.iter().any(|i| needs(&nest.stores[*i]).iter().any(reduces))
        && !after.iter().any(|i| needs(&nest.stores[*i]).iter().any(overwritten))
}

/// The nest that computes the parts, and the one that adds them and does the rest.
fn apart(program: &mut LoopProgram, nest: &Nest, axis: AxisId, parts: i64) -> Option<(Nest, Nest)> {
    let (whole, count) = (program.extent(axis).clone(), Expr::Const(parts));
    let even = whole.exact_div(&count);
    let is_even = even.is_some();
    let each = even.unwrap_or_else(|| whole.add(&Expr::Const(parts - 1)).floordiv(&count, program));
    let (part, within) = (program.new_axis(Expr::Const(parts)), program.new_axis(each.clone()));
    let again = program.new_axis(Expr::Const(parts));
    let reduces: Vec<ValId> = nest.reduces().collect();
    let renamed = |a: &AxisId| if *a == axis { within } else { *a };
    // The parts.
    let place = Expr::axis(part).mul(&each).add(&Expr::axis(within));
    let map = FxHashMap::from_iter([(axis, place.clone())]);
    // Stores of elements that are reduced: the parts make them.
    let wide = wide_stores(nest);
    let of_parts = nest.stores.iter().zip(&wide).filter(|(_, w)| **w).flat_map(|(s, _)| s.operands());
    let wanted: BTreeSet<ValId> = reduces.iter().copied().chain(of_parts).flat_map(|r| below(nest, r)).in_order();
    let mut b = NestBuilder::default();
    let mut values = vec![ValId(0); nest.ops.len()];
    // Where the last part is shorter, what is beyond its end is not read, and changes nothing.
    let inside = (!is_even).then(|| {
        let (here, end) = (b.index(place), b.index(whole));
        b.scalar(ScalarOp::Lt, &[here, end])
    });
    for v in &wanted {
        let dtype = nest.dtype(*v);
        values[v.0 as usize] = match nest.op(*v) {
            LoopOp::Reduce { op, axes, value } => {
                let axes = axes.iter().map(renamed).collect();
                let of = nest.dtype(*value);
                let value = inside.map_or(values[value.0 as usize], |inside| {
                    let none = b.constant(op.identity(of), of);
                    b.scalar(ScalarOp::Select, &[inside, values[value.0 as usize], none])
                });
                b.push(LoopOp::Reduce { op: *op, axes, value }, dtype)
            }
            LoopOp::Load { buffer, index, mask }
                if let Some(inside) = inside
                    && index.iter().any(|e| e.uses_axis(axis)) =>
            {
                let index = index.iter().map(|e| rename(e, &map, Some(&values), program)).collect();
                let mask = mask.map_or(inside, |m| b.scalar(ScalarOp::And, &[values[m.0 as usize], inside]));
                b.push(LoopOp::Load { buffer: *buffer, index, mask: Some(mask) }, dtype)
            }
            op => b.import(op, dtype, &map, &values, program),
        };
    }
    let mut partial = b.nest;
    partial.axes = std::iter::once(part).chain(nest.axes.iter().copied()).collect();
    partial.inner = nest.inner.iter().map(renamed).collect();
    partial.origins = nest.origins.clone();
    for (s, _) in nest.stores.iter().zip(&wide).filter(|(_, w)| **w) {
        let index = s.index.iter().map(|e| rename(e, &map, Some(&values), program)).collect();
        partial.stores.push(Store { buffer: s.buffer, index, value: values[s.value.0 as usize], add: false });
    }
    let mut buffers = Vec::new();
    for r in &reduces {
        let shape = partial.axes.iter().map(|a| program.extent(*a).clone()).collect();
        let id = BufferId(program.buffers.len() as u32);
        program.buffers.push(Buffer { name: format!("parts{}", id.0), dtype: nest.dtype(*r), shape, kind: BufferKind::Temp });
        let index = partial.axes.iter().map(|a| Expr::axis(*a)).collect();
        partial.stores.push(Store { buffer: id, index, value: values[r.0 as usize], add: false });
        buffers.push(id);
    }
    // Their sum, and what was made of it.
    let mut b = NestBuilder::default();
    let mut values = vec![ValId(0); nest.ops.len()];
    for (r, buffer) in reduces.iter().zip(&buffers) {
        let LoopOp::Reduce { op, .. } = nest.op(*r) else { return None };
        let dtype = nest.dtype(*r);
        let index = std::iter::once(again).chain(nest.axes.iter().copied()).map(Expr::axis).collect();
        let load = b.push(LoopOp::Load { buffer: *buffer, index, mask: None }, dtype);
        values[r.0 as usize] = b.push(LoopOp::Reduce { op: *op, axes: vec![again], value: load }, dtype);
    }
    let mut wanted: BTreeSet<ValId> = BTreeSet::new();
    let after = || nest.stores.iter().zip(&wide).filter(|(_, w)| !**w).map(|(s, _)| s);
    let mut stack: Vec<ValId> = after().flat_map(Store::operands).collect();
    while let Some(v) = stack.pop() {
        if !reduces.contains(&v) && wanted.insert(v) {
            stack.extend(nest.op(v).operands());
        }
    }
    let none = FxHashMap::default();
    for v in wanted {
        values[v.0 as usize] = b.import(nest.op(v), nest.dtype(v), &none, &values, program);
    }
    let mut rest = b.nest;
    rest.axes = by_memory(program, nest);
    rest.inner = vec![again];
    rest.origins = nest.origins.clone();
    rest.stores = after()
        .map(|s| Store {
            buffer: s.buffer,
            index: s.index.iter().map(|e| rename(e, &none, Some(&values), program)).collect(),
            value: values[s.value.0 as usize],
            add: s.add,
        })
        .collect();
    Some((partial, rest))
}
