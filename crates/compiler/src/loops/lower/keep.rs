//! Which values get a buffer. Storing costs a write and reads; pulling costs computing again in every reader. Compute
//! (reductions, contractions, sorts, scatters) is always kept; pointwise values are kept where several readers would repeat
//! real work, where a contraction would repeat it for every tile, and at the end of a chain that hangs on compute, so that
//! the chain becomes that kernel's epilogue.

use crate::device::Target;
use aludel_ir::graph::{Graph, Node, Op, ValueId};
use aludel_ir::kernel::element_bytes;
use aludel_ir::order::Order;
use aludel_ir::{DType, Expr, Prim};

/// Instructions that a reader may repeat rather than load: about what a load from memory costs on a GPU.
const CHEAP: u32 = 24;

/// Pieces of a concatenation that a reader may choose between; each of more would be loaded, or skipped, at every element.
const PIECES: usize = 8;

/// What pulling a value costs its reader.
#[derive(Clone, Default)]
struct Cost {
    instructions: u32,
    /// Those of `instructions` that asynchronous copies do: zeros around what they read.
    copied: u32,
    /// Kept or input values of at least half the size that are read.
    wide: Vec<ValueId>,
    /// Whether compute (a contraction, a reduction) of full size is among `wide`, read by nobody else.
    hangs_on_compute: bool,
}

/// For each value of a graph, whether it gets a buffer.
pub(super) fn decide(graph: &Graph, target: &Target) -> Vec<bool> {
    let users = graph.users();
    // Which views are written out, so that a product finds a matrix in memory.
    let defs = graph.definitions();
    let lands: Vec<bool> = match target.operand_instructions() {
        0 => (0..graph.nodes.len()).map(|n| becomes_matrix(graph, &users, &defs, n)).collect(),
        _ => vec![false; graph.nodes.len()],
    };
    let feeds =
        Feeds { graph, users: &users, lands: &lands, copies_pads: target.pads_while_copying(), once_is_free: target.tests_bounds_freely() };
    let mut is_output = vec![false; graph.types.len()];
    for o in &graph.outputs {
        is_output[o.value.index()] = true;
    }
    let mut d = Decision { feeds, operand: target.operand_instructions(), is_output, cost: vec![Cost::default(); graph.types.len()] };
    for input in &graph.inputs {
        d.cost[input.value.index()] = Cost { wide: vec![input.value], ..Cost::default() };
    }
    let mut keep = vec![false; graph.types.len()];
    for (n, node) in graph.nodes.iter().enumerate() {
        let Op::Prim(prim) = &node.op else { continue };
        for v in &node.outputs {
            let cost = d.pulled(node, prim, *v);
            let (output, stop) = (d.is_output[v.index()], d.stops(n, prim, *v, &cost));
            if stop || (output && !prim.is_view()) {
                keep[v.index()] = stop || !(is_free(prim) || widens(graph, node, prim));
            }
            d.cost[v.index()] = if keep[v.index()] {
                // What is exchanged has no epilogue: whoever reads a sum of the ranks divides it.
                let epilogue = prim.computes() && !matches!(prim, Prim::Collective(_));
                let one = epilogue && !output && computations(graph, &users, *v) == 1;
                Cost { wide: vec![*v], hangs_on_compute: one, ..Cost::default() }
            } else {
                cost
            };
        }
    }
    keep
}

/// What is known of the values so far, in the order of the nodes.
struct Decision<'a> {
    feeds: Feeds<'a>,
    /// Instructions for each element that a contraction may repeat.
    operand: u32,
    is_output: Vec<bool>,
    cost: Vec<Cost>,
}

impl Decision<'_> {
    fn numel(&self, v: ValueId) -> i64 {
        self.feeds.graph.env.hint_or_one(&self.feeds.graph.ty(v).numel())
    }

    /// What a value costs whoever pulls it.
    fn pulled(&self, node: &Node, prim: &Prim, v: ValueId) -> Cost {
        let copied = if self.feeds.copies_pads && is_zero_pad(prim) { own_cost(prim, 1) } else { 0 };
        let mut c = Cost { instructions: own_cost(prim, node.inputs.len() as u32), copied, ..Cost::default() };
        for x in &node.inputs {
            let cx = &self.cost[x.index()];
            c.instructions = c.instructions.saturating_add(cx.instructions);
            c.copied = c.copied.saturating_add(cx.copied);
            c.wide.extend(cx.wide.iter().filter(|w| self.numel(**w) * 2 >= self.numel(v)).copied());
            // Padding is no epilogue: it has elements that nothing computes.
            let follows = !matches!(prim, Prim::Pad { .. }) && self.numel(*x) * 2 >= self.numel(v);
            c.hangs_on_compute |= cx.hangs_on_compute && follows;
        }
        c.wide.order();
        c.wide.dedup();
        c
    }

    /// Whether pulling ends at a value of node `n`, whoever reads it.
    fn stops(&self, n: usize, prim: &Prim, v: ValueId, c: &Cost) -> bool {
        let Feeds { graph, users, lands, .. } = self.feeds;
        let node = &graph.nodes[n];
        // Each piece of what is exchanged is written where it belongs, by whoever computes it.
        let exchanged = |n: &usize| matches!(&graph.nodes[*n].op, Op::Prim(Prim::Collective(_)));
        let joined = |pieces: usize| pieces > PIECES || users[v.index()].iter().any(exchanged);
        if prim.computes() || lands[n] || matches!(prim, Prim::Cat { .. }) && joined(node.inputs.len()) {
            return true;
        }
        if prim.is_view() || is_free(prim) || widens(graph, node, prim) {
            return false;
        }
        let readers = &users[v.index()];
        // Masks and random numbers that follow from places alone cost attention less than reading them would.
        if c.wide.is_empty() && !readers.is_empty() && readers.iter().all(|n| masks_attention(graph, users, *n, v)) {
            return false;
        }
        let fan_out = readers.len() > 1 || (readers.len() == 1 && self.is_output[v.index()]);
        let repeated = fan_out && (c.hangs_on_compute || c.instructions > CHEAP || c.wide.len() > 2);
        let operand = readers.iter().any(|n| self.feeds.contract(*n, v))
            && (c.instructions - c.copied > self.operand || c.hangs_on_compute || c.wide.len() > 1);
        let grown = |op: &Op| matches!(op, Op::Prim(Prim::Expand(s)) if graph.env.hint_or_one(&Expr::product(s)) >= 8 * self.numel(v));
        let broadcast = c.instructions >= 4 && !c.wide.is_empty() && readers.iter().any(|n| grown(&graph.nodes[*n].op));
        // A pulled expression may not grow without bound, whoever reads it.
        let large = c.instructions > 400 || c.wide.len() > 6;
        repeated || operand || broadcast || large
    }
}

// Constants, counters and sizes: recomputing one costs nothing.
fn is_free(prim: &Prim) -> bool {
    matches!(prim, Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. } | Prim::Detach)
}

fn is_zero_pad(prim: &Prim) -> bool {
    matches!(prim, Prim::Pad { value, .. } if value.value() == 0.0)
}

// A narrow float as a wider one: what is in memory is read in half the bytes.
fn widens(graph: &Graph, node: &Node, prim: &Prim) -> bool {
    let narrow = |v: &ValueId| matches!(graph.ty(*v).dtype, DType::F16 | DType::BF16);
    matches!(prim, Prim::Cast(DType::F32)) && node.inputs.iter().all(narrow)
}

fn own_cost(prim: &Prim, operands: u32) -> u32 {
    match prim {
        Prim::Scalar(op) => op.def().cost,
        Prim::Cast(_) | Prim::Bitcast(_) => 1,
        Prim::Pad { .. } => 3,
        Prim::Cat { .. } => 3 * operands,
        Prim::Gather { .. } => 4,
        _ => 0,
    }
}

// How many nodes compute with a value or with a view of it.
fn computations(graph: &Graph, users: &[Vec<usize>], v: ValueId) -> usize {
    let through = |n: &usize| match &graph.nodes[*n].op {
        Op::Prim(p) if p.is_view() => graph.nodes[*n].outputs.iter().map(|v| computations(graph, users, *v)).sum(),
        _ => 1,
    };
    users[v.index()].iter().map(through).sum()
}

/// Which values are operands of contractions.
#[derive(Clone, Copy)]
struct Feeds<'a> {
    graph: &'a Graph,
    users: &'a [Vec<usize>],
    lands: &'a [bool],
    copies_pads: bool,
    /// Nothing is lost by computing an operand that a contraction reads once.
    once_is_free: bool,
}

impl Feeds<'_> {
    // Whether a node that reads `v` is a contraction that repeats what it reads, or a view or a change of type on the way to one.
    fn contract(&self, n: usize, v: ValueId) -> bool {
        let node = &self.graph.nodes[n];
        match &node.op {
            _ if self.lands[n] => false,
            Op::Prim(Prim::Contract { batch, contract }) => !(self.once_is_free && self.reads_once(node, v, [batch, contract])),
            Op::Prim(Prim::Attention(_) | Prim::AttentionBackward(_)) => true,
            // What a product reads in fewer bytes is kept in those.
            Op::Prim(Prim::Cast(d)) if element_bytes(*d) < element_bytes(self.graph.ty(node.inputs[0]).dtype) => false,
            Op::Prim(p) if p.is_view() || matches!(p, Prim::Cast(_)) || (self.copies_pads && is_zero_pad(p)) => {
                node.outputs.iter().any(|v| self.users[v.index()].iter().any(|m| self.contract(*m, *v)))
            }
            _ => false,
        }
    }

    // Whether the other operand of a contraction has no dimension of its own, so that each element of this one is read for one result:
    // depthwise convolutions.
    fn reads_once(&self, node: &Node, v: ValueId, pairs: [&Vec<(usize, usize)>; 2]) -> bool {
        let first = node.inputs[0] == v;
        let other = &self.graph.ty(node.inputs[first as usize]).shape;
        let paired = |d: usize| pairs.iter().any(|p| p.iter().any(|(a, b)| d == if first { *b } else { *a }));
        other.iter().enumerate().all(|(d, n)| paired(d) || n.as_const() == Some(1))
    }
}

// Whether a node is attention that reads the value as a mask or dropout's factors, or a view on the way to such.
fn masks_attention(graph: &Graph, users: &[Vec<usize>], n: usize, v: ValueId) -> bool {
    let node = &graph.nodes[n];
    match &node.op {
        Op::Prim(Prim::Attention(_)) => !node.inputs[..3].contains(&v),
        Op::Prim(Prim::AttentionBackward(_)) => !node.inputs[..6].contains(&v),
        Op::Prim(p) if p.is_view() => node
            .outputs
            .iter()
            .all(|o| !users[o.index()].is_empty() && users[o.index()].iter().all(|m| masks_attention(graph, users, *m, *o))),
        _ => false,
    }
}

// Whether a node joins dimensions that a permutation brought together, for a product that then reads a matrix: no two strides
// describe the same elements where they lay. (PyTorch copies there too.) Batched products have a stride for each dimension.
fn becomes_matrix(graph: &Graph, users: &[Vec<usize>], defs: &[Option<(usize, usize)>], n: usize) -> bool {
    let node = &graph.nodes[n];
    let Op::Prim(Prim::Reshape(_)) = &node.op else { return false };
    let permuted =
        defs[node.inputs[0].index()].is_some_and(|(m, _)| matches!(&graph.nodes[m].op, Op::Prim(Prim::Permute(order)) if order.len() > 2));
    let multiplied = |m: &usize| matches!(&graph.nodes[*m].op, Op::Prim(Prim::Contract { batch, .. }) if batch.is_empty());
    permuted && users[node.outputs[0].index()].iter().any(multiplied)
}
