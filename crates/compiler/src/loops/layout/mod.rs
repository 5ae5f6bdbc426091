//! Layout: in which order the dimensions of a temporary lie in memory.
//!
//! Tensors are captured with channels before the spatial dimensions, as in PyTorch. A convolution whose windows slide along the
//! innermost dimension reads every element at its own, unaligned place; with the channels innermost (NHWC; weights OHWI) the
//! contracted index has runs of channels, which matrix units' operands are copied in, 16 bytes at a time, and a convolution of
//! 1x1 is a plain product. Source: NVIDIA, "Convolutional layers user's guide", tensor layouts.
//!
//! 1. *Seeds*: what a product reads through windows gets the dimensions of its windows before the one that both sides of the
//!    product leave alone. What a product reads with one axis across several dimensions (a flattened tensor) stays as it is.
//! 2. *Spread*: whatever shares a nest with a tensor whose layout is chosen follows it, dimension by dimension, so that no nest
//!    transposes without need.
//! 3. *Pack*: inputs of the graph (the images, the weights) keep their layout outside; those that a large product would read
//!    element by element are copied once a step into the layout that it wants.
//!
//! 4. *Stripes*: what a row of a window reads of an image of few channels becomes one run of neighbours ([`stripes`]).
//! 5. *Fill*: two or three channels become four ([`fill`]).
//! 6. *Pad*: rows that products read begin where whole copies do ([`pad`]).
//!
//! A layout is only the order of a buffer's dimensions: every load and store has one index for each, and is reordered alike.

mod fill;
mod pad;
mod stripes;

use crate::device::Target;
use crate::nest::access::is_mixed_radix;
use crate::nest::{Contraction, Kind, NestBuilder, classify};
use crate::parts::Part;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use aludel_ir::order::Order;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// Multiplications of a product for which copying an operand into another layout pays: as long as a few launches.
const LARGE: i64 = 1 << 28;

/// Chooses the layouts of temporaries and rewrites the program to them.
pub fn layout(program: &mut LoopProgram, target: &Target) {
    // A CPU's products pack their operands themselves, and WebGPU's templates load element by element.
    if !target.has_async_copies() {
        return;
    }
    if target.parts.has(Part::Layout) {
        reorder(program, target);
    }
    if target.parts.has(Part::Padding) {
        pad::pad(program);
    }
}

/// Chooses in which order dimensions lie.
fn reorder(program: &mut LoopProgram, target: &Target) {
    let mut c = Chooser { orders: vec![None; program.buffers.len()], queue: VecDeque::new(), program };
    c.seed();
    if c.orders.iter().flatten().all(|o| o.is_sorted()) {
        return;
    }
    c.spread();
    c.pack();
    if target.parts.has(Part::Stripes) {
        let changed = stripes::stripe(c.program, target);
        // Copies were made too.
        c.orders.resize(c.program.buffers.len(), None);
        changed.into_iter().for_each(|b| c.orders[b.0 as usize] = None);
    }
    c.fill();
    c.apply();
}

struct Chooser<'p> {
    program: &'p mut LoopProgram,
    /// For each buffer whose layout is chosen, its dimensions from the outermost.
    orders: Vec<Option<Vec<usize>>>,
    /// Chosen buffers whose neighbours have not been looked at.
    queue: VecDeque<BufferId>,
}

/// Every place where a nest touches a buffer.
fn accesses(nest: &Nest) -> impl Iterator<Item = (BufferId, &Vec<Expr>, bool)> {
    let loads = nest.ops.iter().filter_map(|(op, _)| match op {
        LoopOp::Load { buffer, index, .. } => Some((*buffer, index, false)),
        _ => None,
    });
    loads.chain(nest.stores.iter().map(|s| (s.buffer, &s.index, true)))
}

/// Whether a nest multiplies what it sums: a contraction, or a sum of products of its own for each channel.
fn multiplies(nest: &Nest) -> bool {
    let product = |v| matches!(nest.op(v), LoopOp::Scalar(aludel_ir::ScalarOp::Mul, _));
    nest.reduces().any(|r| matches!(nest.op(r), LoopOp::Reduce { value, .. } if product(*value)))
}

impl Chooser<'_> {
    fn is_free(&self, b: BufferId) -> bool {
        // Ranks hand on what lies one after another.
        let meets = |n: &Nest| n.exchange.as_ref().is_some_and(|e| e.from == b || e.to == b);
        self.program.buffer(b).kind == BufferKind::Temp && !self.program.nests.iter().any(meets) && self.orders[b.0 as usize].is_none()
    }

    fn choose(&mut self, b: BufferId, order: Vec<usize>) {
        self.orders[b.0 as usize] = Some(order);
        self.queue.push_back(b);
    }

    /// Whether windows overlap along a dimension: its index adds an axis that is summed over to one that is not, and the two do not
    /// enumerate it.
    fn is_window(&self, nest: &Nest, e: &Expr) -> bool {
        let axes = e.axes();
        let (summed, kept): (Vec<AxisId>, Vec<AxisId>) = axes.iter().partition(|a| nest.inner.contains(a));
        // Where the enumeration begins does not matter.
        let (_, start) = e.terms().find(|(m, _)| m.is_empty()).unwrap_or((&[], 0));
        let e = e.sub(&Expr::Const(start));
        !summed.is_empty() && !kept.is_empty() && !is_mixed_radix(&e, &self.program.volume(&axes), self.program)
    }

    fn seed(&mut self) {
        for n in 0..self.program.nests.len() {
            let nest = &self.program.nests[n];
            if !multiplies(nest) {
                continue;
            }
            let tiles = matches!(classify(nest, self.program), Kind::Contract(_));
            let touched: Vec<(BufferId, Vec<Expr>)> = accesses(nest).filter(|a| !a.2).map(|(b, i, _)| (b, i.clone())).collect();
            for (b, index) in touched {
                let input = matches!(self.program.buffer(b).kind, BufferKind::Input(_)) && self.orders[b.0 as usize].is_none();
                if !(self.is_free(b) || input) || index.len() < 3 {
                    continue;
                }
                if takes_apart(&index) {
                    if input || !tiles {
                        continue;
                    }
                    self.orders[b.0 as usize] = Some((0..index.len()).collect());
                } else if let Some(order) = self.windows_inside(&self.program.nests[n], &index) {
                    self.choose(b, order);
                }
            }
        }
    }

    /// Dimensions with windows before the last of those without: `[N, C, H, W]` becomes N, H, W, C.
    fn windows_inside(&self, nest: &Nest, index: &[Expr]) -> Option<Vec<usize>> {
        let (windows, others): (Vec<usize>, Vec<usize>) = (0..index.len()).partition(|d| self.is_window(nest, &index[*d]));
        let (ones, others): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|d| index[*d].axes().is_empty());
        if windows.is_empty() || others.is_empty() {
            return None;
        }
        // In front of a dimension of one element stands a batch: an image of one channel says nothing of where channels should lie.
        if let [batch] = others[..]
            && ones.iter().any(|d| *d > batch)
        {
            return None;
        }
        let (outer, channels) = others.split_at(usize::from(others.len() > 1));
        Some([&ones[..], outer, &windows, channels].concat())
    }

    fn spread(&mut self) {
        let mut touching: FxHashMap<BufferId, Vec<usize>> = FxHashMap::default();
        for (n, nest) in self.program.nests.iter().enumerate() {
            for (b, ..) in accesses(nest) {
                let list = touching.entry(b).or_default();
                if list.last() != Some(&n) {
                    list.push(n);
                }
            }
        }
        while let Some(leader) = self.queue.pop_front() {
            for n in touching.get(&leader).cloned().unwrap_or_default() {
                let nest = self.program.nests[n].clone();
                for (b, index, _) in accesses(&nest) {
                    if self.is_free(b)
                        && index.len() >= 3
                        && let Some(order) = self.follow(&nest, leader, index)
                    {
                        self.choose(b, order);
                    }
                }
            }
        }
        // Inputs lead, but stay: they are copied where that pays.
        for (order, buffer) in self.orders.iter_mut().zip(&self.program.buffers) {
            if buffer.kind != BufferKind::Temp {
                *order = None;
            }
        }
    }

    /// The dimensions of an index in the order in which a nest's access to `leader` has their axes.
    fn follow(&self, nest: &Nest, leader: BufferId, index: &[Expr]) -> Option<Vec<usize>> {
        let order = self.orders[leader.0 as usize].as_ref()?;
        let theirs = accesses(nest).find(|a| a.0 == leader)?.1;
        let place = |a: &AxisId| order.iter().position(|d| theirs[*d].uses_axis(*a));
        // Axes that the leader does not have take the place of those that it has alone: a product's result has its own channels
        // where an operand has the summed ones, the weights have theirs where the input has the batch.
        let has = |a: &AxisId| index.iter().any(|e| e.uses_axis(*a));
        let alone = |d: &usize| !theirs[*d].axes().is_empty() && !theirs[*d].axes().iter().any(has);
        let stranger = order.iter().position(alone).map_or(0, |p| p + 1);
        let keys: Vec<(bool, usize)> = index
            .iter()
            .map(|e| {
                let axes = e.axes();
                (!axes.is_empty(), axes.iter().filter_map(place).map(|p| p + 1).min().unwrap_or(if axes.is_empty() { 0 } else { stranger }))
            })
            .collect();
        let known = index.iter().filter(|e| e.axes().iter().any(|a| place(a).is_some())).count();
        if takes_apart(index) || known < 2 {
            return None;
        }
        let mut dims: Vec<usize> = (0..index.len()).collect();
        dims.order_by_key(|d| keys[*d]);
        Some(dims)
    }

    /// Copies inputs of the graph for the large products that read them through windows, or beside such an operand.
    fn pack(&mut self) {
        let mut packed: FxHashMap<(BufferId, Vec<usize>), BufferId> = FxHashMap::default();
        let mut wanted: Vec<(BufferId, BufferId, Vec<usize>, usize)> = Vec::new();
        for n in 0..self.program.nests.len() {
            let nest = self.program.nests[n].clone();
            let Kind::Contract(c) = classify(&nest, self.program) else { continue };
            if work(self.program, &c) < LARGE {
                continue;
            }
            let inputs: Vec<(BufferId, Vec<Expr>)> = accesses(&nest)
                .filter(|(b, index, stored)| !stored && index.len() >= 3 && matches!(self.program.buffer(*b).kind, BufferKind::Input(_)))
                .map(|(b, index, _)| (b, index.clone()))
                .collect();
            for (b, index) in inputs {
                let leader = accesses(&nest).map(|a| a.0).find(|l| *l != b && self.orders[l.0 as usize].is_some());
                let order = self.windows_inside(&nest, &index).or_else(|| self.follow(&nest, leader?, &index));
                let Some(order) = order.filter(|o| self.moves(b, o)) else { continue };
                let copy = match packed.get(&(b, order.clone())) {
                    Some(copy) => *copy,
                    None => {
                        let copy = BufferId(self.program.buffers.len() as u32);
                        let like = self.program.buffer(b);
                        let name = format!("{}, dimensions {order:?}", like.name);
                        let made = Buffer { name, dtype: like.dtype, shape: like.shape.clone(), kind: BufferKind::Temp };
                        self.program.buffers.push(made);
                        self.orders.push(Some(order.clone()));
                        packed.insert((b, order.clone()), copy);
                        wanted.push((b, copy, order, n));
                        copy
                    }
                };
                for (op, _) in &mut self.program.nests[n].ops {
                    if let LoopOp::Load { buffer, .. } = op
                        && *buffer == b
                    {
                        *buffer = copy;
                    }
                }
            }
        }
        // From the last, so that positions stay.
        for (from, to, order, before) in wanted.into_iter().rev() {
            let nest = copy(self.program, from, to, &order, before);
            self.program.nests.insert(before, nest);
        }
    }

    /// Makes room for whole copies where large products read windows of few channels.
    fn fill(&mut self) {
        let mut done = BTreeSet::new();
        for n in 0..self.program.nests.len() {
            let nest = &self.program.nests[n];
            let Kind::Contract(c) = classify(nest, self.program) else { continue };
            if work(self.program, &c) < LARGE {
                continue;
            }
            let windows = |(b, index, stored): (BufferId, &Vec<Expr>, bool)| {
                let last = *self.orders[b.0 as usize].as_ref()?.last()?;
                (!stored && index.iter().any(|e| self.is_window(nest, e))).then_some((b, last))
            };
            let found = accesses(nest).find_map(windows);
            if let Some(place) = found {
                fill::fill(self.program, &mut done, n, place);
            }
        }
    }

    /// Whether elements lie elsewhere in an order: dimensions of size one do not count.
    fn moves(&self, b: BufferId, order: &[usize]) -> bool {
        let shape = &self.program.buffer(b).shape;
        !order.iter().filter(|d| !shape[**d].is_one()).is_sorted()
    }

    /// Reorders shapes and indices, and the axes of the nests that they belong to.
    fn apply(&mut self) {
        for n in 0..self.program.nests.len() {
            let touches =
                accesses(&self.program.nests[n]).any(|(b, ..)| self.orders[b.0 as usize].as_ref().is_some_and(|o| !o.is_sorted()));
            if touches {
                let mut nest = std::mem::take(&mut self.program.nests[n]);
                self.reorder(&mut nest);
                self.program.nests[n] = nest;
            }
        }
        for (buffer, order) in self.program.buffers.iter_mut().zip(&self.orders) {
            if let Some(order) = order {
                buffer.shape = order.iter().map(|d| buffer.shape[*d].clone()).collect();
            }
        }
    }

    fn reorder(&self, nest: &mut Nest) {
        let kind = classify(nest, self.program);
        let permute = |buffer: BufferId, index: &mut Vec<Expr>| {
            if let Some(order) = &self.orders[buffer.0 as usize] {
                *index = order.iter().map(|d| index[*d].clone()).collect();
            }
        };
        for (op, _) in &mut nest.ops {
            if let LoopOp::Load { buffer, index, .. } = op {
                permute(*buffer, index);
            }
        }
        for s in &mut nest.stores {
            permute(s.buffer, &mut s.index);
        }
        // Attention is told by the order of its axes: rows and features come last, however its results lie.
        if matches!(kind, Kind::Attention(_)) {
            return;
        }
        // Axes as they lie in the buffer with most of them; of equals the result's, then what was chosen.
        let places = |axes: &[AxisId], loads: bool| -> Vec<AxisId> {
            let count = |index: &[Expr]| axes.iter().filter(|a| index.iter().any(|e| e.uses_axis(**a))).count();
            let chosen = |b: BufferId| self.orders[b.0 as usize].as_ref().is_some_and(|o| !o.is_sorted());
            let best = accesses(nest)
                .filter(|a| !(loads && a.2))
                .max_by_key(|(b, index, stored)| (count(index), loads && chosen(*b), *stored, chosen(*b)))
                .map(|a| a.1);
            let mut axes = axes.to_vec();
            axes.order_by_key(|a| best.and_then(|i| i.iter().position(|e| e.uses_axis(*a))));
            axes
        };
        let inner = places(&nest.inner, true);
        let axes = match &kind {
            Kind::Contract(c) => {
                let (m, n) = (places(&c.m, true), places(&c.n, true));
                // The side that the result has innermost comes last.
                let last = nest.stores.first().and_then(|s| s.index.iter().rev().find_map(|e| e.axes().first().copied()));
                let batch = places(&c.batch, true);
                if last.is_some_and(|a| m.contains(&a)) { [batch, n, m].concat() } else { [batch, m, n].concat() }
            }
            _ => places(&nest.axes, false),
        };
        let renamed = |list: &[AxisId]| if list.len() == nest.inner.len() { inner.clone() } else { list.to_vec() };
        let lists: Vec<(usize, Vec<AxisId>)> = nest
            .ops
            .iter()
            .enumerate()
            .filter_map(|(i, (op, _))| match op {
                LoopOp::Reduce { axes, .. } => Some((i, renamed(axes))),
                _ => None,
            })
            .collect();
        for (i, list) in lists {
            if let LoopOp::Reduce { axes, .. } = &mut nest.ops[i].0 {
                *axes = list;
            }
        }
        nest.axes = axes;
        nest.inner = inner;
    }
}

/// The nest that copies a buffer for a reader, in the order in which the copy lies.
fn copy(program: &mut LoopProgram, from: BufferId, to: BufferId, order: &[usize], reader: usize) -> Nest {
    let shape = program.buffer(from).shape.clone();
    let mut index = vec![Expr::ZERO; shape.len()];
    let mut b = NestBuilder::default();
    for d in order.iter().filter(|d| !shape[**d].is_one()) {
        let axis = program.new_axis(shape[*d].clone());
        b.nest.axes.push(axis);
        index[*d] = Expr::axis(axis);
    }
    let dtype = program.buffer(from).dtype;
    let value = b.push(LoopOp::Load { buffer: from, index: index.clone(), mask: None }, dtype);
    b.nest.stores.push(Store { buffer: to, index, value, add: false });
    b.nest.origins = program.nests[reader].origins.clone();
    b.nest
}

/// Multiplications of a product.
fn work(program: &LoopProgram, c: &Contraction) -> i64 {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    [&c.batch, &c.m, &c.n, &c.k].into_iter().fold(1i64, |w, a| w.saturating_mul(hint(a)))
}

/// Whether one axis is spread over several dimensions: a flattened tensor is read.
fn takes_apart(index: &[Expr]) -> bool {
    let mut divided: Vec<AxisId> = Vec::new();
    let mut twice = false;
    for e in index {
        let mut here = Vec::new();
        e.visit(&mut |a| {
            if let Atom::FloorDiv(x, _) | Atom::Mod(x, _) = a {
                here.extend(x.axes());
            }
        });
        twice |= here.iter().any(|a| divided.contains(a));
        divided.extend(here);
    }
    twice
}
