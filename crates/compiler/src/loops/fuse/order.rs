//! The order in which nests run: by their dependences, otherwise as the graph had them, but nothing takes memory before it has to.

use super::Edges;
use aludel_ir::kernel::element_bytes;
use aludel_ir::loops::{BufferId, BufferKind, LoopProgram, Nest};
use aludel_ir::order::InOrder;
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
    let mut missing: BTreeMap<usize, usize> = live.iter().map(|g| (*g, edges.before[*g].len())).in_order();
    let mut ready: BTreeSet<(usize, usize)> = missing.iter().filter(|(_, n)| **n == 0).map(|(g, _)| (key[*g], *g)).in_order();
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
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, g)| (*g, at)).in_order();
    let mut waited_for: BTreeMap<usize, usize> = order.iter().map(|g| (*g, edges.after[*g].len())).in_order();
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

/// The same groups with each gathering of parts where what was gathered before it is first read, which is one block ahead of its own use:
/// it runs beside that block's kernels. What it waits for comes along, where nothing else needs it and none of it is such a kernel.
pub(super) fn gather_ahead(mut order: Vec<usize>, edges: &Edges, gathers: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let all: Vec<usize> = order.iter().copied().filter(|g| gathers(*g)).collect();
    for (before, next) in all.iter().zip(all.iter().skip(1)) {
        let Some(at) = order.iter().position(|g| edges.before[*g].contains(before)) else { continue };
        let behind: BTreeSet<usize> = order[at..].iter().copied().in_order();
        let mut moved = BTreeSet::from([*next]);
        let mut open = vec![*next];
        while let Some(g) = open.pop() {
            open.extend(edges.before[g].iter().filter(|b| behind.contains(b) && moved.insert(**b)));
        }
        let own = moved.iter().all(|g| g == next || edges.after[*g].is_subset(&moved));
        if own && behind.contains(next) && !moved.iter().any(|g| edges.before[*g].contains(before)) {
            let (first, rest): (Vec<usize>, Vec<usize>) = order[at..].iter().partition(|g| moved.contains(g));
            order.splice(at.., first.into_iter().chain(rest));
        }
    }
    order
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_gathered_while_the_one_before_is_used() {
        // 0, 4 and 8 gather, 3 and 7 make what is gathered, 1 and 2, 5 and 6, and 9 compute with it.
        let mut edges = Edges::default();
        edges.grow(10);
        for (a, b) in [(0, 1), (1, 2), (3, 4), (4, 5), (2, 5), (5, 6), (7, 8), (8, 9), (6, 9)] {
            edges.add(a, b);
        }
        let gathers = |g: usize| [0, 4, 8].contains(&g);
        assert_eq!(gather_ahead((0..10).collect(), &edges, &gathers), [0, 3, 4, 1, 2, 7, 8, 5, 6, 9]);
        // What is gathered depends on the block before: it stays.
        edges.add(2, 3);
        assert_eq!(gather_ahead((0..10).collect(), &edges, &gathers), [0, 1, 2, 3, 4, 7, 8, 5, 6, 9]);
        // Something else needs what it waits for.
        edges.add(7, 9);
        assert_eq!(gather_ahead((0..10).collect(), &edges, &gathers), (0..10).collect::<Vec<_>>());
    }
}
