//! Fusion: nests that share a buffer become one, best pair first, until nothing changes.
//!
//! [`pair::try_fuse`] holds every rule; a refusal is data that `explain` and the page show. The order of profit: epilogues
//! into contractions, phases into row reductions, pointwise chains, then siblings that read the same buffer.

mod once;
mod order;
mod pair;
mod place;

pub use pair::Refusal;

use crate::device::Target;
use crate::nest::access::{contiguous_within, stores_after_sums, stores_within};
use crate::nest::{Kind, classify, compact};
use crate::parts::Part;
use crate::schedule::library::is_for_library;
use crate::schedule::pays_apart;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest};
use aludel_ir::order::{InOrder, Order};
use aludel_ir::{CollectiveOp, DType};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// So many operations a nest has at most: each fusion looks at all of them, and a loop that was written out would be one nest of thousands,
/// which no device has the registers for. PyTorch's compiler stops at 64 of its nodes (`max_fusion_size`), which are larger.
pub(super) const MAX_OPS: usize = 512;

/// What fusion leaves: the program's nests in launch order, which states are updated in place, and what stayed apart.
#[derive(Default)]
pub struct Fused {
    /// For each state input that an output updates: whether its new value may overwrite the old one.
    pub in_place: BTreeMap<usize, bool>,
    /// For each nest (by its position), the nests that must end before it starts.
    pub before: Vec<BTreeSet<usize>>,
    /// Pairs of neighbouring nests (by their position) that were not fused, and why.
    pub refusals: Vec<(usize, usize, Refusal)>,
}

impl Fused {
    /// Forgets the nest at one position, which the later one at another has taken in.
    pub(super) fn absorb(&mut self, gone: usize, into: usize) {
        let waits = self.before[gone].clone();
        self.before[into].extend(waits);
        self.replace(gone, &BTreeSet::from([into]));
    }

    /// Forgets the nest at one position: whoever waited for it waits for others.
    fn replace(&mut self, gone: usize, by: &BTreeSet<usize>) {
        let moved = |n: usize| n - usize::from(n > gone);
        self.before.remove(gone);
        for (at, before) in self.before.iter_mut().enumerate() {
            if before.remove(&gone) {
                before.extend(by);
            }
            *before = before.iter().map(|n| moved(*n)).filter(|n| *n != at).collect();
        }
        self.refusals.retain(|(a, b, _)| ![a, b].contains(&&gone));
        self.refusals.iter_mut().for_each(|(a, b, _)| (*a, *b) = (moved(*a), moved(*b)));
    }
}

/// Fuses the nests of a program for a target and orders them. With `enabled` false the nests are only ordered.
pub fn fuse(program: &mut LoopProgram, target: &Target, enabled: bool) -> Fused {
    let mut f = Fuser::new(program, target);
    if enabled {
        f.run();
    }
    let mut fused = f.finish();
    if enabled && target.parts.has(Part::Once) {
        once::once(program);
    }
    if enabled && target.parts.has(Part::Concatenation) {
        place::place(program, &mut fused);
    }
    fused
}

/// The state inputs' buffers and their updates: `(input position, old, new)`.
pub(super) fn updates(program: &LoopProgram) -> Vec<(usize, BufferId, BufferId)> {
    let find = |kind| program.buffers.iter().position(|b| b.kind == kind).map(|i| BufferId(i as u32));
    let mut out: Vec<_> = program
        .buffers
        .iter()
        .enumerate()
        .filter_map(|(n, b)| match b.kind {
            BufferKind::Update(i) => Some((i, find(BufferKind::Input(i))?, BufferId(n as u32))),
            _ => None,
        })
        .collect();
    out.order();
    out
}

struct Fuser<'p> {
    program: &'p mut LoopProgram,
    target: &'p Target,
    /// Groups by id; fused ones leave a hole. The first ids are the nests in their original order.
    groups: Vec<Option<Nest>>,
    facts: Vec<Facts>,
    /// Where a group's first and last member stand in the original order.
    order: Vec<(usize, usize)>,
    /// Old and new buffer of states that are updated in place.
    in_place: BTreeMap<usize, (BufferId, BufferId)>,
    decided: BTreeMap<usize, bool>,
    refused: FxHashMap<(usize, usize), Refusal>,
    edges: Edges,
    /// The live groups that touch each buffer.
    readers: BTreeMap<BufferId, Vec<usize>>,
    writers: BTreeMap<BufferId, Vec<usize>>,
    candidates: Candidates,
}

/// Pairs still to try, with what they promise: the class of the fusion, then the bytes that it saves.
#[derive(Default)]
struct Candidates {
    promises: BTreeMap<(usize, usize), (u32, i64)>,
    /// The best last, of equals the first pair.
    queue: BTreeSet<((u32, i64), Reverse<(usize, usize)>)>,
    /// The pairs that each group was ever proposed in.
    of: FxHashMap<usize, Vec<(usize, usize)>>,
}

impl Candidates {
    fn insert(&mut self, pair: (usize, usize), promise: (u32, i64)) {
        match self.promises.insert(pair, promise) {
            Some(old) => {
                self.queue.remove(&(old, Reverse(pair)));
            }
            None => {
                self.of.entry(pair.0).or_default().push(pair);
                self.of.entry(pair.1).or_default().push(pair);
            }
        }
        self.queue.insert((promise, Reverse(pair)));
    }

    fn pop_best(&mut self) -> Option<(usize, usize)> {
        let (_, Reverse(pair)) = self.queue.pop_last()?;
        self.promises.remove(&pair);
        Some(pair)
    }

    /// Forgets the pairs of a group.
    fn remove(&mut self, g: usize) {
        for pair in self.of.remove(&g).unwrap_or_default() {
            if let Some(promise) = self.promises.remove(&pair) {
                self.queue.remove(&(promise, Reverse(pair)));
            }
        }
    }
}

/// What candidates are chosen by, kept for each group.
#[derive(Default)]
struct Facts {
    reads: Vec<BufferId>,
    writes: Vec<BufferId>,
    kind: Option<Kind>,
    /// A product for a library of the target.
    library: bool,
}

/// The direct dependences between groups: `before[g]` must run before g.
#[derive(Default)]
struct Edges {
    before: Vec<BTreeSet<usize>>,
    after: Vec<BTreeSet<usize>>,
}

/// A set of groups, a bit for each.
struct Groups(Vec<u64>);

impl Groups {
    /// None of so many.
    fn of(count: usize) -> Self {
        Groups(vec![0; count.div_ceil(64)])
    }

    /// Whether it was not there yet.
    fn insert(&mut self, g: usize) -> bool {
        let (word, bit) = (&mut self.0[g / 64], 1 << (g % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn is_subset(&self, other: &Groups) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }
}

impl Edges {
    fn add(&mut self, a: usize, b: usize) {
        if a != b {
            self.after[a].insert(b);
            self.before[b].insert(a);
        }
    }

    fn grow(&mut self, n: usize) {
        self.before.resize(n, BTreeSet::new());
        self.after.resize(n, BTreeSet::new());
    }

    /// Whether a path of at least two edges (or one, with `direct`) leads from a to b.
    fn path(&self, a: usize, b: usize, direct: bool) -> bool {
        let mut seen = Groups::of(self.after.len());
        let mut stack: Vec<usize> = self.after[a].iter().copied().filter(|x| direct || *x != b).collect();
        while let Some(x) = stack.pop() {
            if x == b {
                return true;
            }
            if seen.insert(x) {
                stack.extend(self.after[x].iter().copied());
            }
        }
        false
    }

    /// Everything reachable along the given edges, the start left out.
    fn reach(&self, start: usize, along: &[BTreeSet<usize>]) -> Groups {
        let mut seen = Groups::of(along.len());
        let mut stack: Vec<usize> = along[start].iter().copied().collect();
        while let Some(x) = stack.pop() {
            if seen.insert(x) {
                stack.extend(along[x].iter().copied());
            }
        }
        seen
    }

    /// Moves all edges of `from` to `to`.
    fn merge(&mut self, from: usize, to: usize) {
        for a in std::mem::take(&mut self.before[from]) {
            self.after[a].remove(&from);
            self.add(a, to);
        }
        for b in std::mem::take(&mut self.after[from]) {
            self.before[b].remove(&from);
            self.add(to, b);
        }
    }
}

impl<'p> Fuser<'p> {
    fn new(program: &'p mut LoopProgram, target: &'p Target) -> Self {
        let nests = std::mem::take(&mut program.nests);
        let n = nests.len();
        let mut f = Fuser {
            program,
            target,
            facts: Vec::new(),
            groups: nests.into_iter().map(Some).collect(),
            order: (0..n).map(|g| (g, g)).collect(),
            in_place: BTreeMap::new(),
            decided: BTreeMap::new(),
            refused: FxHashMap::default(),
            edges: Edges::default(),
            readers: BTreeMap::new(),
            writers: BTreeMap::new(),
            candidates: Candidates::default(),
        };
        for g in 0..n {
            let facts = f.facts_of(g);
            f.facts.push(facts);
        }
        f.edges.grow(n);
        f.dependences();
        f
    }

    fn nest(&self, g: usize) -> &Nest {
        self.groups[g].as_ref().expect("live groups only are asked for")
    }

    fn live(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|g| self.groups[*g].is_some()).collect()
    }

    fn dependences(&mut self) {
        let n = self.groups.len();
        let mut writers: BTreeMap<BufferId, Vec<usize>> = BTreeMap::new();
        for b in 0..n {
            // Reading follows every write; an accumulating store reads what the store before it initialised.
            for x in self.facts[b].reads.clone() {
                for a in writers.get(&x).into_iter().flatten() {
                    self.edges.add(*a, b);
                }
            }
            for x in &self.facts[b].writes {
                writers.entry(*x).or_default().push(b);
            }
        }
        // In place: whoever reads the old value runs before the update. Where that is impossible the update gets a buffer,
        // and the runtime copies it after the last launch.
        for (i, old, new) in updates(self.program) {
            let writers: Vec<usize> = (0..n).filter(|g| self.facts[*g].writes.contains(&new)).collect();
            let readers: Vec<usize> = (0..n).filter(|g| self.facts[*g].reads.contains(&old)).collect();
            let possible = writers.iter().all(|w| {
                readers
                    .iter()
                    .all(|r| if r == w { pair::reads_where_it_writes(self.nest(*w), old, new) } else { !self.edges.path(*w, *r, true) })
            }) && writers.len() == 1;
            // A scalar that others read (a step count) is copied rather than waited for: the wait would cost a launch.
            let scalar = self.program.buffer(old).numel().is_one() && readers.iter().any(|r| !writers.contains(r));
            let possible = possible && !scalar;
            if possible {
                for w in &writers {
                    for r in &readers {
                        self.edges.add(*r, *w);
                    }
                }
                self.in_place.insert(i, (old, new));
            }
            self.decided.insert(i, possible);
        }
    }

    fn run(&mut self) {
        for g in self.live() {
            self.enlist(g);
        }
        for g in self.live() {
            self.propose(g);
        }
        // After a success the next best pair may be another one: what refused the parts may accept the whole.
        while let Some((a, b)) = self.candidates.pop_best() {
            self.fuse_pair(a, b);
        }
    }

    /// Notes which buffers a group touches.
    fn enlist(&mut self, g: usize) {
        for b in &self.facts[g].reads {
            self.readers.entry(*b).or_default().push(g);
        }
        for b in &self.facts[g].writes {
            self.writers.entry(*b).or_default().push(g);
        }
    }

    fn delist(&mut self, g: usize) {
        let facts = &self.facts[g];
        for (buffers, lists) in [(&facts.reads, &mut self.readers), (&facts.writes, &mut self.writers)] {
            for b in buffers {
                if let Some(list) = lists.get_mut(b) {
                    list.retain(|x| *x != g);
                }
            }
        }
        self.candidates.remove(g);
    }

    /// Adds the pairs of a group with those that it shares a buffer with: the writer first, else the earlier one.
    fn propose(&mut self, g: usize) {
        let mut found: BTreeMap<(usize, usize), (u32, i64)> = BTreeMap::new();
        let parts = self.target.parts;
        let part = |class: u32| match class {
            5 => Part::Epilogues,
            2..=4 => Part::Rows,
            1 => Part::Chains,
            _ => Part::Siblings,
        };
        let size = |g: usize| self.groups[g].as_ref().map_or(0, |n| n.ops.len());
        let mut add = |a: usize, b: usize, class: u32, bytes: i64| {
            if a != b && parts.has(part(class)) && size(a) + size(b) <= MAX_OPS {
                let s = found.entry((a, b)).or_insert((class, 0));
                s.0 = s.0.max(class);
                s.1 += bytes;
            }
        };
        let facts = &self.facts[g];
        let none = Vec::new();
        for b in facts.reads.iter().chain(&facts.writes) {
            let bytes = 4 * self.program.env.hint_or_one(&self.program.buffer(*b).numel());
            let (readers, writers) = (self.readers.get(b).unwrap_or(&none), self.writers.get(b).unwrap_or(&none));
            for w in writers {
                for r in readers.iter().filter(|r| **r == g || *w == g) {
                    let class = match (&self.facts[*w].kind, &self.facts[*r].kind) {
                        (Some(Kind::Contract(_) | Kind::Attention(_)), Some(Kind::Pointwise)) => 5,
                        (Some(Kind::Rows), Some(Kind::Rows)) => 4,
                        (Some(Kind::Rows), _) => 3,
                        (_, Some(Kind::Rows)) => 2,
                        _ => 1,
                    };
                    add(*w, *r, class, if readers.len() == 1 { 2 * bytes } else { bytes });
                }
            }
            // What everybody reads (a step count) makes nobody neighbours.
            if facts.reads.contains(b) && readers.len() <= 12 {
                for r in readers {
                    add(g.min(*r), g.max(*r), 0, bytes);
                }
            }
        }
        for (pair, promise) in found {
            self.candidates.insert(pair, promise);
        }
    }

    fn facts_of(&mut self, g: usize) -> Facts {
        let Some(nest) = &self.groups[g] else { return Facts::default() };
        Facts {
            reads: nest.reads(),
            writes: nest.writes(),
            kind: Some(classify(nest, self.program)),
            library: is_for_library(self.program, nest, self.target),
        }
    }

    fn fuse_pair(&mut self, a: usize, b: usize) {
        if self.refused.contains_key(&(a, b)) {
            return;
        }
        // Neighbours that only read together come in either order.
        let (a, b) = if self.edges.path(b, a, true) { (b, a) } else { (a, b) };
        let result = if self.edges.path(a, b, false) || self.edges.path(b, a, true) {
            Err(Refusal::Cycle)
        } else if self.would_wait(a, b) || self.would_wait(b, a) {
            Err(Refusal::Waits)
        } else {
            let (na, nb) = (self.nest(a).clone(), self.nest(b).clone());
            let fused = pair::try_fuse(self.program, &na, &nb, &self.in_place);
            fused.and_then(|fused| match self.columns_too_long(&fused) {
                _ if self.takes_from_library([a, b], &fused) => Err(Refusal::LibraryProduct),
                _ if self.loses_vectors(&fused) => Err(Refusal::Vectors),
                _ if self.crowds_tiles(&fused) => Err(Refusal::Epilogue),
                Some((rows, columns)) if ![&na, &nb].iter().any(|n| self.columns_too_long(n).is_some()) => {
                    Err(Refusal::TooFewRows { rows, columns })
                }
                _ => Ok(fused),
            })
        };
        match result {
            Ok(nest) => {
                // The fused group is a new one: what refused its parts may accept it.
                let id = self.groups.len();
                self.groups.push(Some(nest));
                self.edges.grow(id + 1);
                self.edges.merge(a, id);
                self.edges.merge(b, id);
                for g in [a, b] {
                    self.groups[g] = None;
                    self.delist(g);
                }
                self.drop_dead_stores(id);
                let ((a0, a1), (b0, b1)) = (self.order[a], self.order[b]);
                self.order.push((a0.min(b0), a1.max(b1)));
                let facts = self.facts_of(id);
                self.facts.push(facts);
                self.enlist(id);
                self.propose(id);
            }
            Err(r) => {
                self.refused.insert((b, a), r.clone());
                self.refused.insert((a, b), r);
            }
        }
    }

    /// Whether one of a pair is a product for a library of the target, and the nest they would become is none.
    fn takes_from_library(&mut self, pair: [usize; 2], fused: &Nest) -> bool {
        if !pair.iter().any(|g| self.facts[*g].library) {
            return false;
        }
        // As it will be, without the stores that only the pair reads.
        let (mut bare, reads) = (fused.clone(), fused.reads());
        let elsewhere = |b: &BufferId| self.readers.get(b).is_some_and(|r| r.iter().any(|g| !pair.contains(g)));
        bare.stores.retain(|s| self.program.buffer(s.buffer).kind != BufferKind::Temp || reads.contains(&s.buffer) || elsewhere(&s.buffer));
        compact(&mut bare);
        !is_for_library(self.program, &bare, self.target)
    }

    /// The rows and columns of a nest that sums long columns and stores their elements too: it cannot be split (see
    /// [`crate::loops::split`]), and side by side its columns are too few to fill a large GPU.
    fn columns_too_long(&self, nest: &Nest) -> Option<(i64, i64)> {
        let hint = |axes: &[AxisId]| self.program.env.hint_or_one(&self.program.volume(axes));
        let (rows, columns) = (hint(&nest.axes), hint(&nest.inner));
        let long = if self.target.has_cheap_launches() {
            columns >= 2048 && rows <= 4096 && !contiguous_within(self.program, nest)
        } else {
            // Each row has a workgroup: fewer than the device has places for, and what waits for the sums keeps them from being split.
            self.target.has_fast_workgroups() && columns >= 8192 && rows <= 128 && stores_after_sums(nest)
        };
        (long && classify(nest, self.program) == Kind::Rows && stores_within(nest)).then_some((rows, columns))
    }

    /// Whether functions follow a convolution on a CPU whose results lie in memory along its windows: its sums come in vectors along the
    /// channels, and what is made of them one by one. A kernel of its own computes them in vectors, and reads back what the caches hold.
    /// Measured: `aludel bench --device cpu --ablate autoenc --parts epilogues`.
    fn loses_vectors(&self, nest: &Nest) -> bool {
        let function = |(op, _): &(LoopOp, DType)| matches!(op, LoopOp::Scalar(f, _) if f.is_function());
        if self.target.has_workgroups() || !nest.ops.iter().any(function) {
            return false;
        }
        let Kind::Contract(c) = classify(nest, self.program) else { return false };
        let reach = |e: &Expr, a: AxisId| Some((e.coefficient(a)?.as_const()?, self.program.env.hint_or_one(self.program.extent(a))));
        // Steps shorter than the window, and a window that is no digit of the place.
        let overlap =
            |((step, count), (each, taps)): ((i64, i64), (i64, i64))| step > 0 && each > 0 && step < each * taps && each < step * count;
        let slides = |a: AxisId, e: &Expr| c.k.iter().any(|k| reach(e, a).zip(reach(e, *k)).is_some_and(overlap));
        let windows =
            |a: AxisId| nest.ops.iter().any(|(op, _)| matches!(op, LoopOp::Load { index, .. } if index.iter().any(|e| slides(a, e))));
        // Not those of an optimizer's step count, which are computed once.
        let varies = nest.dependences();
        let along = |a: AxisId| nest.ops.iter().zip(&varies).any(|(op, axes)| function(op) && axes.contains(&a));
        nest.stores.iter().filter_map(|s| s.index.last()).any(|last| last.axes().into_iter().any(|a| along(a) && windows(a)))
    }

    /// Whether what follows a product would cost it more than it costs by itself.
    fn crowds_tiles(&self, nest: &Nest) -> bool {
        matches!(classify(nest, self.program), Kind::Contract(c) if pays_apart(self.program, nest, &c, self.target))
    }

    /// Whether, fused with `b`, what follows `a` would wait for something that `b` needs and nothing of `a`'s does: only
    /// neighbours that exchange no value can come to that.
    fn would_wait(&self, a: usize, b: usize) -> bool {
        if self.edges.after[a].contains(&b) || self.edges.after[b].contains(&a) {
            return false;
        }
        let needs = |start: usize| self.edges.reach(start, &self.edges.before);
        let (na, nb) = (needs(a), needs(b));
        if nb.is_subset(&na) {
            return false;
        }
        let (fa, fb) = (self.edges.reach(a, &self.edges.after), self.edges.reach(b, &self.edges.after));
        !fa.is_subset(&fb)
    }

    /// Stores of temporaries that nobody else reads are removed: the value never leaves the kernel.
    fn drop_dead_stores(&mut self, g: usize) {
        let kept = |b: BufferId| self.readers.get(&b).is_some_and(|r| !r.is_empty()) || self.nest(g).reads().contains(&b);
        let dead = |s: &aludel_ir::loops::Store| self.program.buffer(s.buffer).kind == BufferKind::Temp && !kept(s.buffer);
        let Some(nest) = &self.groups[g] else { return };
        let keep: Vec<bool> = nest.stores.iter().map(|s| !dead(s)).collect();
        if let Some(nest) = &mut self.groups[g] {
            let mut it = keep.into_iter();
            nest.stores.retain(|_| it.next().unwrap_or(true));
            compact(nest);
        }
    }

    /// Orders the groups and hands the nests back.
    fn finish(mut self) -> Fused {
        // What only brings state up to date runs as soon as it can, so that what it reads may go, and so does what is summed over the
        // ranks, with what fills it: a bucket of gradients stands behind the whole backward pass. All else where its last member stood.
        let sums = |nest: &Nest| nest.exchange.as_ref().is_some_and(|e| e.collective.op.reduction().is_some());
        let summed: BTreeSet<BufferId> =
            self.groups.iter().flatten().filter(|n| sums(n)).filter_map(|n| n.exchange.as_ref().map(|e| e.from)).collect();
        let fills = |nest: &Nest| nest.exchange.is_none() && nest.stores.iter().any(|s| summed.contains(&s.buffer));
        let key = |g: usize, (first, last): (usize, usize)| match &self.groups[g] {
            Some(nest) if order::is_update(nest, self.program) || fills(nest) => first,
            _ => last,
        };
        let mut keys: Vec<usize> = self.order.iter().enumerate().map(|(g, at)| key(g, *at)).collect();
        let live = self.live();
        for g in live.iter().copied().filter(|g| self.groups[*g].as_ref().is_some_and(&sums)) {
            keys[g] = self.edges.before[g].iter().map(|b| keys[*b]).max().unwrap_or(keys[g]).min(keys[g]);
        }
        // What updates state by such a sum comes behind all else, in the order of the sums: its operand is not there before.
        let behind = self.groups.len();
        for g in live.iter().copied().filter(|g| self.groups[*g].as_ref().is_some_and(|n| order::is_update(n, self.program))) {
            let sum = self.edges.before[g].iter().filter(|b| self.groups[**b].as_ref().is_some_and(&sums)).map(|b| keys[*b]).max();
            keys[g] = sum.map_or(keys[g], |sum| behind + sum);
        }
        let order = order::topological(&live, &self.edges, &keys);
        let touches = |g: usize| (&self.facts[g].reads[..], &self.facts[g].writes[..]);
        let mut order = order::delay(order, self.program, &self.edges, &touches);
        if self.target.has_concurrent_launches() {
            let gathers = |nest: &Nest| nest.exchange.as_ref().is_some_and(|e| matches!(e.collective.op, CollectiveOp::AllGather { .. }));
            order = order::gather_ahead(order, &self.edges, &|g| self.groups[g].as_ref().is_some_and(gathers));
        }
        let position: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, g)| (*g, at)).in_order();
        let nests: Vec<Nest> = order.iter().filter_map(|g| self.groups[*g].take()).collect();
        let mut refusals: Vec<(usize, usize, Refusal)> =
            self.refused.iter().filter_map(|((a, b), r)| Some((*position.get(a)?, *position.get(b)?, r.clone()))).collect();
        refusals.order_by_key(|(a, b, _)| (*a, *b));
        let mut before = vec![BTreeSet::new(); nests.len()];
        for (g, at) in &position {
            before[*at] = self.edges.before[*g].iter().map(|b| position[b]).collect();
        }
        self.program.nests = nests;
        Fused { in_place: self.decided, before, refusals }
    }
}
