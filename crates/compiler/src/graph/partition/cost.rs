//! What keeping and computing again cost, and what is never worth computing again.
//!
//! The rules are AOTAutograd's (PyTorch, `torch/_functorch/partitioners.py`): values that fuse into their readers are free to
//! compute again; what reads a whole tensor to give one element, and what a reader would have to write to memory first, is not.

use super::cut::Problem;
use super::flow::UNBOUNDED;
use aludel_ir::graph::{Graph, Op, Phase, ValueId};
use aludel_ir::kernel::element_bytes;
use aludel_ir::{Collective, CollectiveOp, Dim, Prim, ScalarOp};

/// Scalar operations of at least so many instructions are not computed again by default.
const DEAR: u32 = 24;
/// No tensor weighs more: sums of weights stay far below [`UNBOUNDED`].
const HEAVIEST: u64 = 1 << 40;

/// How a value may be computed again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// By default.
    Free,
    /// Only when the memory budget asks for it.
    Budget,
    /// Never: inputs are there anyway, random numbers are drawn once (but within checkpointed regions, where the same key draws the
    /// same), and the results of checkpointed regions are kept.
    Never,
}

/// The forward part of a graph as values with costs.
pub struct Model<'g> {
    pub graph: &'g Graph,
    /// Nodes that depend on a gradient, or are one.
    pub backward: Vec<bool>,
    /// For each value of the forward part, the node that defines it.
    pub definition: Vec<Option<usize>>,
    pub again: Vec<Again>,
    /// Bytes that keeping a value takes beyond what is there anyway, on devices that keep narrow types narrow.
    pub bytes: Vec<u64>,
    /// Operations to compute a value again.
    pub flops: Vec<u64>,
    /// [`Model::bytes`], doubled where the forward pass would not have written the value to memory; nothing for a scalar.
    pub default_weight: Vec<u64>,
    pub needed: Vec<bool>,
    inputs: Vec<Vec<usize>>,
    view: Vec<bool>,
    /// Values within a checkpointed region: the program asks to compute them again.
    checkpointed: Vec<bool>,
}

impl<'g> Model<'g> {
    pub fn new(graph: &'g Graph) -> Self {
        let values = graph.types.len();
        let backward = backward_nodes(graph);
        let users = graph.users();
        let mut definition = vec![None; values];
        let mut inputs = vec![Vec::new(); values];
        let mut needed = vec![false; values];
        for (n, node) in graph.nodes.iter().enumerate() {
            for v in &node.outputs {
                if !backward[n] {
                    definition[v.index()] = Some(n);
                    inputs[v.index()] = node.inputs.iter().map(|i| i.index()).collect();
                }
            }
            if backward[n] {
                node.inputs.iter().for_each(|v| needed[v.index()] = true);
            }
        }
        let mut m = Model {
            graph,
            definition,
            again: vec![Again::Never; values],
            bytes: vec![0; values],
            flops: vec![0; values],
            default_weight: vec![0; values],
            needed,
            inputs,
            view: vec![false; values],
            checkpointed: vec![false; values],
            backward,
        };
        // Values of the backward part play no role.
        for v in 0..values {
            let Some(n) = m.definition[v] else {
                m.needed[v] &= graph.inputs.iter().any(|i| i.value.index() == v);
                continue;
            };
            let Op::Prim(prim) = &graph.nodes[n].op else { continue };
            let numel = |v: ValueId| graph.env.hint_or_one(&graph.ty(v).numel()).max(0) as u64;
            let id = ValueId(v as u32);
            let node = &graph.nodes[n];
            m.view[v] = prim.is_view() || is_free(prim);
            m.flops[v] = flops(graph, prim, &node.inputs, numel(id));
            m.bytes[v] = match graph.outputs.iter().any(|o| o.value == id) {
                true => 0,
                false => numel(id).saturating_mul(element_bytes(graph.ty(id).dtype) as u64).min(HEAVIEST),
            };
            let written = m.read_from_memory(id, &users, false);
            m.default_weight[v] = match (graph.ty(id).numel().is_one(), written) {
                // A scalar's copies would be more to read than to gain.
                (true, _) => 0,
                (false, true) => m.bytes[v],
                (false, false) => m.bytes[v] * 2,
            };
            let region = node.origin.checkpoint.is_some();
            let leaves = region && m.leaves_region(id, &users);
            m.checkpointed[v] = region && !leaves;
            m.again[v] = match (region, leaves) {
                (true, true) if !m.view[v] => Again::Never,
                (true, _) => Again::Free,
                _ => m.may_repeat(prim, id, &users),
            };
        }
        m
    }

    // Whether a value of a checkpointed region is read outside of it in the forward pass, by itself or by a view: the region's result, which
    // is kept. Else it would be computed again with the regions before it, back to the program's inputs.
    fn leaves_region(&self, v: ValueId, users: &[Vec<usize>]) -> bool {
        let region = |n: usize| self.graph.nodes[n].origin.checkpoint;
        let own = self.definition[v.index()].and_then(region);
        let mut look = vec![v];
        while let Some(v) = look.pop() {
            if self.graph.outputs.iter().any(|o| o.value == v) {
                return true;
            }
            for u in users[v.index()].iter().filter(|u| !self.backward[**u]) {
                if region(*u) != own {
                    return true;
                }
                if matches!(&self.graph.nodes[*u].op, Op::Prim(p) if p.is_view()) {
                    look.extend(&self.graph.nodes[*u].outputs);
                }
            }
        }
        false
    }

    fn may_repeat(&self, prim: &Prim, v: ValueId, users: &[Vec<usize>]) -> Again {
        match prim {
            Prim::Scalar(ScalarOp::Threefry | ScalarOp::ThreefryWord) => return Again::Never,
            Prim::Scalar(op) if op.def().cost >= DEAR => return Again::Budget,
            // What shards are gathered to is not kept; everything else is said once.
            Prim::Collective(Collective { op: CollectiveOp::AllGather { release: true }, .. }) => return Again::Free,
            Prim::Collective(_) => return Again::Never,
            Prim::Reduce { .. }
            | Prim::Scan { .. }
            | Prim::Sort { .. }
            | Prim::Fft { .. }
            | Prim::Gather { .. }
            | Prim::ScatterAdd { .. }
            | Prim::Contract { .. }
            | Prim::Attention(_)
            | Prim::AttentionBackward(_) => return Again::Budget,
            _ if self.view[v.index()] => return Again::Free,
            _ => {}
        }
        // A reader that cannot compute the value on the fly would have it written again.
        if self.read_from_memory(v, users, true) { Again::Budget } else { Again::Free }
    }

    /// Whether a node of one of the parts reads the value from memory. A view of the value is the value.
    fn read_from_memory(&self, v: ValueId, users: &[Vec<usize>], backward: bool) -> bool {
        let mut look = vec![v];
        while let Some(v) = look.pop() {
            for u in &users[v.index()] {
                if self.backward[*u] == backward && reads_memory(self.graph, *u, v) {
                    return true;
                }
                if matches!(&self.graph.nodes[*u].op, Op::Prim(p) if p.is_view()) {
                    look.extend(&self.graph.nodes[*u].outputs);
                }
            }
        }
        false
    }

    /// The minimum cut problem where values of `Again::Budget` are fixed unless `released`.
    pub fn problem(&self, weight: &[u64], released: &[bool]) -> Problem {
        let fixed = (0..self.again.len()).map(|v| match self.again[v] {
            Again::Free => false,
            Again::Budget => !released[v],
            Again::Never => true,
        });
        // Keeping a view keeps what it is a view of; nothing within a checkpointed region is kept.
        let weight = (0..weight.len()).map(|v| if self.view[v] || self.checkpointed[v] { UNBOUNDED } else { weight[v] }).collect();
        Problem { inputs: self.inputs.clone(), weight, fixed: fixed.collect(), needed: self.needed.clone() }
    }

    pub fn kept_bytes(&self, kept: &[bool]) -> u64 {
        kept.iter().zip(&self.bytes).filter(|(k, _)| **k).map(|(_, b)| b).sum()
    }

    /// Whether using the value where it is costs nothing: a view or a counter.
    pub fn is_view(&self, v: usize) -> bool {
        self.view[v]
    }
}

/// Nodes of the backward pass, and what follows from them (the optimizer).
fn backward_nodes(graph: &Graph) -> Vec<bool> {
    let mut after = vec![false; graph.types.len()];
    graph
        .nodes
        .iter()
        .map(|node| {
            let b = node.origin.phase != Phase::Forward || node.inputs.iter().any(|v| after[v.index()]);
            if b {
                node.outputs.iter().for_each(|v| after[v.index()] = true);
            }
            b
        })
        .collect()
}

// Constants, counters and sizes.
fn is_free(prim: &Prim) -> bool {
    matches!(prim, Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. })
}

/// Whether a node reads the value from memory: it loads elements many times or in an order that it finds out late.
fn reads_memory(graph: &Graph, node: usize, v: ValueId) -> bool {
    let node = &graph.nodes[node];
    match &node.op {
        Op::Prim(Prim::Contract { .. } | Prim::Sort { .. } | Prim::Fft { .. } | Prim::Scan { .. } | Prim::Collective(_)) => true,
        Op::Prim(Prim::Gather { .. }) => node.inputs.first() == Some(&v),
        // Masks and dropout are computed on the fly.
        Op::Prim(Prim::Attention(_)) => node.inputs[..3].contains(&v),
        Op::Prim(Prim::AttentionBackward(_)) => node.inputs[..6].contains(&v),
        _ => false,
    }
}

fn flops(graph: &Graph, prim: &Prim, inputs: &[ValueId], out: u64) -> u64 {
    let size = |d: &Dim| graph.env.hint_or_one(d).max(1) as u64;
    let shape = |i: usize| inputs.get(i).map_or(&[][..], |v| &graph.ty(*v).shape);
    let first = shape(0).iter().map(size).fold(1, u64::saturating_mul);
    match prim {
        p if p.is_view() || is_free(p) => 0,
        Prim::Scalar(op) => out.saturating_mul(op.def().cost as u64),
        // A multiplication and an addition for each product.
        Prim::Contract { contract, .. } => {
            let inner = contract.iter().filter_map(|(l, _)| shape(0).get(*l)).map(size).fold(2, u64::saturating_mul);
            out.saturating_mul(inner)
        }
        Prim::Attention(_) | Prim::AttentionBackward(_) => {
            // Two products forward, five backward.
            let rank = shape(1).len();
            let keys = shape(1).get(rank.wrapping_sub(2)).map_or(1, size);
            let width = shape(2).last().map_or(1, size);
            let features = shape(0).last().map_or(1, size);
            let products = if matches!(prim, Prim::Attention(_)) { features + width } else { 3 * features + 2 * width };
            (first / features).saturating_mul(keys).saturating_mul(2 * products)
        }
        Prim::Sort { .. } | Prim::Fft { .. } => first.saturating_mul(64 - first.leading_zeros() as u64),
        Prim::Reduce { .. } | Prim::Scan { .. } | Prim::ScatterAdd { .. } => first,
        _ => out,
    }
}
