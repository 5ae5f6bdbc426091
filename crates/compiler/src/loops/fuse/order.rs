//! The order in which nests run: by their dependences, otherwise as the graph had them, but nothing takes memory before it has to.

use super::Edges;
use aludel_ir::kernel::element_bytes;
use aludel_ir::loops::{BufferId, BufferKind, LoopProgram, Nest};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that are not worth leaving the graph's order for.
const LITTLE: i64 = 1 << 20;

/// The live groups in an order that keeps their dependences, those of the least `key` first, with all that they wait for: an update that
/// may run early takes the scalars of its optimizer along.
pub(super) fn topological(live: &[usize], edges: &Edges, key: &[usize]) -> Vec<usize> {
    let mut key = key.to_vec();
    for g in in_order(live, edges, &key).into_iter().rev() {
        for b in &edges.before[g] {
            key[*b] = key[*b].min(key[g]);
        }
    }
    in_order(live, edges, &key)
}

fn in_order(live: &[usize], edges: &Edges, key: &[usize]) -> Vec<usize> {
    let mut missing: BTreeMap<usize, usize> = live.iter().map(|g| (*g, edges.before[*g].len())).collect();
    let mut ready: BTreeSet<(usize, usize)> = missing.iter().filter(|(_, n)| **n == 0).map(|(g, _)| (key[*g], *g)).collect();
    let mut out = Vec::with_capacity(live.len());
    while let Some((_, g)) = ready.pop_first() {
        out.push(g);
        for s in &edges.after[g] {
            if let Some(n) = missing.get_mut(s) {
                *n -= 1;
                if *n == 0 {
                    ready.insert((key[*s], *s));
                }
            }
        }
    }
    out
}

/// What a group reads and writes.
pub(super) type Touches<'a> = (&'a [BufferId], &'a [BufferId]);

/// The same groups in an order that takes less memory, if there is one: what takes much waits until something needs it. What the
/// backward pass computes from forward values alone is ready long before the gradients that it is multiplied with.
pub(super) fn delay<'a>(order: Vec<usize>, program: &LoopProgram, edges: &Edges, touches: &dyn Fn(usize) -> Touches<'a>) -> Vec<usize> {
    let bytes = |b: &BufferId| match program.buffer(*b) {
        b if b.kind == BufferKind::Temp => program.env.hint_or_one(&b.numel()).saturating_mul(element_bytes(b.dtype) as i64),
        _ => 0,
    };
    let later = from_the_end(&order, edges, &bytes, touches);
    if most(&later, &bytes, touches) < most(&order, &bytes, touches) { later } else { order }
}

/// Orders from the last to the first: of those that nothing after them waits for, the one whose results take most more than what it
/// reads and nothing read so far; where none of them takes much, the last of the given order.
fn from_the_end<'a>(
    order: &[usize],
    edges: &Edges,
    bytes: &dyn Fn(&BufferId) -> i64,
    touches: &dyn Fn(usize) -> Touches<'a>,
) -> Vec<usize> {
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, g)| (*g, at)).collect();
    let mut waited_for: BTreeMap<usize, usize> = order.iter().map(|g| (*g, edges.after[*g].len())).collect();
    let mut writers: BTreeMap<BufferId, usize> = BTreeMap::new();
    order.iter().flat_map(|g| touches(*g).1).for_each(|b| *writers.entry(*b).or_default() += 1);
    let heavy = |g: usize| touches(g).1.iter().map(bytes).sum::<i64>() >= LITTLE;
    let mut read: BTreeSet<BufferId> = BTreeSet::new();
    // By their places: those that take much, and the others.
    let mut ready: [BTreeSet<usize>; 2] = Default::default();
    order.iter().filter(|g| waited_for[*g] == 0).for_each(|g| {
        ready[heavy(*g) as usize].insert(place[g]);
    });
    let mut out = Vec::with_capacity(order.len());
    loop {
        let saves = |at: &usize| {
            let (reads, writes) = touches(order[*at]);
            // Its place is free before it where no other writes there.
            let frees: i64 = writes.iter().filter(|b| writers[*b] == 1).map(bytes).sum();
            let holds: i64 = reads.iter().filter(|b| !read.contains(b) && !writes.contains(b)).map(bytes).sum();
            frees - holds
        };
        let best = ready[1].iter().map(|at| (saves(at), *at)).max().filter(|(saves, _)| *saves >= LITTLE).map(|(_, at)| at);
        let Some(at) = best.or_else(|| ready.iter().filter_map(|r| r.last().copied()).max()) else { break };
        ready.iter_mut().for_each(|r| {
            r.remove(&at);
        });
        let g = order[at];
        let (reads, writes) = touches(g);
        read.extend(reads);
        writes.iter().for_each(|b| *writers.entry(*b).or_default() -= 1);
        out.push(g);
        for b in &edges.before[g] {
            if let Some(n) = waited_for.get_mut(b) {
                *n -= 1;
                if *n == 0 {
                    ready[heavy(*b) as usize].insert(place[b]);
                }
            }
        }
    }
    out.reverse();
    out
}

/// The most bytes of temporaries at any time.
fn most<'a>(order: &[usize], bytes: &dyn Fn(&BufferId) -> i64, touches: &dyn Fn(usize) -> Touches<'a>) -> i64 {
    let mut lives: BTreeMap<BufferId, (usize, usize)> = BTreeMap::new();
    for (at, g) in order.iter().enumerate() {
        let (reads, writes) = touches(*g);
        reads.iter().chain(writes).for_each(|b| lives.entry(*b).or_insert((at, at)).1 = at);
    }
    let mut change = vec![0; order.len() + 1];
    for (b, (first, last)) in &lives {
        change[*first] += bytes(b);
        change[last + 1] -= bytes(b);
    }
    let mut alive = 0;
    let mut most = 0;
    for bytes in change {
        alive += bytes;
        most = most.max(alive);
    }
    most
}

/// Whether a nest only brings state up to date.
pub(super) fn is_update(nest: &Nest, program: &LoopProgram) -> bool {
    nest.exchange.is_none() && nest.stores.iter().all(|s| matches!(program.buffer(s.buffer).kind, BufferKind::Update(_)))
}
