//! Sums of parts that are read by slices: added where they are read.
//!
//! What follows a product joins it where both run over the same space. What takes its result apart runs over a slice of it: the gates of an
//! LSTM or GRU, the halves of a gated linear unit. No tile holds all of an element's slices, so that stays apart. Where the product is
//! split, though ([`super::split`]), a nest of its own adds the parts, element by element: that one needs no tiles, and every slice of it
//! can be added where it is read. A step of a recurrent layer is then two launches, not three.

use super::fuse::{Fused, MAX_OPS, updates};
use crate::nest::{Kind, NestBuilder, classify, compact, substitute_store};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use rustc_hash::FxHashMap;

/// Slices, at most: each is computed by the same thread.
const SLICES: usize = 8;

/// Joins each of the nests at `sums`, which add parts, with the one that reads it by slices.
pub(super) fn join(program: &mut LoopProgram, fused: &mut Fused, sums: &[usize]) {
    // From the last: joining removes a nest, and those before it keep their places.
    for &sum in sums.iter().rev() {
        if let Some((reader, nest)) = joined(program, sum) {
            program.nests[reader] = nest;
            program.nests.remove(sum);
            fused.absorb(sum, reader);
        }
    }
}

/// The first nest that reads what the one at `sum` stores, and what both become.
fn joined(program: &LoopProgram, sum: usize) -> Option<(usize, Nest)> {
    let producer = &program.nests[sum];
    let writes = producer.writes();
    let touches = |n: &Nest, b: &BufferId| n.reads().contains(b) || n.writes().contains(b);
    let reader = (sum + 1..program.nests.len()).find(|n| writes.iter().any(|b| touches(&program.nests[*n], b)))?;
    let consumer = &program.nests[reader];
    // What the sum reads stays as it is until the reader runs, and through it.
    let mut overwritten = updates(program).into_iter().filter(|(_, old, _)| producer.reads().contains(old)).map(|(.., new)| new);
    let kept = |b: &BufferId| program.nests[sum + 1..=reader].iter().all(|n| !n.writes().contains(b));
    if !producer.reads().iter().all(kept) || !overwritten.all(|new| kept(&new)) || consumer.exchange.is_some() {
        return None;
    }
    if classify(consumer, program) != Kind::Pointwise || !consumer.steps.is_empty() || producer.stores.iter().any(|s| s.add) {
        return None;
    }
    let (buffer, slices) = slices(program, producer, consumer)?;
    if producer.ops.len() * slices.len() + consumer.ops.len() > MAX_OPS {
        return None;
    }
    let later = |b: BufferId| program.nests[reader + 1..].iter().any(|n| n.reads().contains(&b));
    let mut nest = merge(program, producer, consumer, buffer, &slices)?;
    nest.stores.retain(|s| program.buffer(s.buffer).kind != BufferKind::Temp || s.buffer != buffer || later(buffer));
    compact(&mut nest);
    Some((reader, nest))
}

/// An axis of a sum, by those of its reader.
type Slice = FxHashMap<AxisId, Expr>;

/// The buffer that the consumer reads by slices, and the slices: together every element, each once.
fn slices(program: &LoopProgram, producer: &Nest, consumer: &Nest) -> Option<(BufferId, Vec<(Vec<Expr>, Slice)>)> {
    let read: Vec<BufferId> = producer.writes().into_iter().filter(|b| consumer.reads().contains(b)).collect();
    let [buffer] = read[..] else { return None };
    let store = producer.stores.iter().find(|s| s.buffer == buffer)?;
    let mut indices: Vec<&Vec<Expr>> = Vec::new();
    for (op, _) in &consumer.ops {
        match op {
            LoopOp::Load { buffer: b, index, mask } if *b == buffer => match mask {
                Some(_) => return None,
                None if indices.contains(&index) => {}
                None => indices.push(index),
            },
            _ => {}
        }
    }
    if !(2..=SLICES).contains(&indices.len()) {
        return None;
    }
    // Where each slice begins, in the one dimension that they take apart.
    let mut starts: Vec<i64> = Vec::new();
    let mut width = None;
    let mut found = Vec::new();
    for index in indices {
        let mut slice = Slice::default();
        let mut axes: Vec<AxisId> = Vec::new();
        for (at, e) in store.index.iter().zip(index) {
            let Some(axis) = at.as_axis() else {
                if at != e {
                    return None;
                }
                continue;
            };
            let [own] = e.axes()[..] else { return None };
            let start = e.sub(&Expr::axis(own)).as_const()?;
            let (whole, part) = (program.extent(axis), program.extent(own));
            if start != 0 || whole != part {
                let shape = (axis, own, part.as_const()?);
                if *width.get_or_insert(shape) != shape {
                    return None;
                }
                starts.push(start);
            }
            axes.push(own);
            slice.insert(axis, e.clone());
        }
        let all = |list: &[AxisId], of: &[AxisId]| list.len() == of.len() && of.iter().all(|a| list.contains(a));
        let given: Vec<AxisId> = slice.keys().copied().collect();
        if !all(&axes, &consumer.axes) || !all(&given, &producer.axes) {
            return None;
        }
        found.push((index.clone(), slice));
    }
    let (axis, _, width) = width?;
    starts.sort_unstable();
    let each = starts.iter().enumerate().all(|(i, start)| *start == i as i64 * width);
    let whole = starts.len() == found.len() && program.extent(axis).as_const() == Some(width * found.len() as i64);
    (each && whole).then_some((buffer, found))
}

/// One nest of all slices of a sum and what reads them.
fn merge(program: &LoopProgram, producer: &Nest, consumer: &Nest, buffer: BufferId, slices: &[(Vec<Expr>, Slice)]) -> Option<Nest> {
    let none = FxHashMap::default();
    let mut b = NestBuilder::default();
    let mut stores: Vec<Store> = Vec::new();
    let mut loaded = Vec::new();
    for (index, slice) in slices {
        let values = b.import_all(producer, slice, |_| None, program);
        stores.extend(producer.stores.iter().map(|s| substitute_store(s, slice, &values, program)));
        loaded.push((index, stores.iter().rfind(|s| s.buffer == buffer)?.value));
    }
    let stored = |op: &LoopOp| match op {
        LoopOp::Load { buffer: of, index, .. } if *of == buffer => loaded.iter().find(|(at, _)| *at == index).map(|(_, v)| *v),
        _ => None,
    };
    let values = b.import_all(consumer, &none, stored, program);
    stores.extend(consumer.stores.iter().map(|s| substitute_store(s, &none, &values, program)));
    let mut origins = producer.origins.clone();
    origins.extend(consumer.origins.iter().filter(|o| !producer.origins.contains(o)).cloned());
    Some(Nest { axes: consumer.axes.clone(), inner: producer.inner.clone(), stores, origins, ..b.nest })
}
