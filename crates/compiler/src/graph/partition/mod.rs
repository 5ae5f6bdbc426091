//! Partition: which forward values the backward pass keeps, and which it computes again.
//!
//! Between the forward and the backward pass every value that both touch takes memory. Pointwise values that follow from others
//! are cheap to compute again inside the kernels that read them, so keeping fewer, smaller values saves memory and the time to
//! write it. The choice is a minimum cut, as AOTAutograd makes it (H. He, S. Yu, "Transcending runtime-memory tradeoffs in
//! checkpointing by being fusion aware", MLSys 2023). A memory budget below one releases dearer operations, contractions at
//! last, in the order of bytes saved for each operation computed again.
//!
//! Values computed again are copies of nodes with [`Phase::Recompute`], which [`aludel_ir::Builder`] does not merge with the
//! originals. Random numbers are drawn once.
//!
//! A checkpointed region ([`aludel_ir::Function`]) takes the choice away: none of its values is kept, except what later nodes read, its
//! results. Random numbers within it are drawn again under the same key, which gives the same numbers.

mod cost;
pub mod cut;
pub mod flow;

use aludel_ir::graph::{Graph, Node, Op, Phase, ValueId};
use aludel_ir::order::Order;
use aludel_ir::{Error, Result};
use cost::{Again, Model};
use std::collections::BTreeSet;

/// A forward value that stays in memory for the backward pass. Bytes are those of the hinted sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    pub value: ValueId,
    pub name: String,
    /// Zero for what is in memory anyway: a result of the graph.
    pub bytes: u64,
}

/// A forward value that is computed again in the backward pass.
#[derive(Clone, PartialEq, Debug)]
pub struct Recomputed {
    pub original: ValueId,
    pub copy: ValueId,
    pub operation: String,
    pub flops: u64,
}

/// What was decided, for the inspector. Values are those of the graph that the report comes with.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionReport {
    pub memory_budget: f64,
    pub kept: Vec<Kept>,
    pub recomputed: Vec<Recomputed>,
    pub kept_bytes: u64,
    /// What a budget of 1 keeps.
    pub default_kept_bytes: u64,
    pub recomputed_flops: u64,
}

/// Replaces uses of forward values in the backward pass by copies computed from fewer kept values.
///
/// `graph` is a joint graph of prims whose nodes know their phase. `memory_budget` from 0 to 1 is the share of the bytes that
/// the default keeps which may be kept; what cannot be computed again is kept whatever the budget. Results are the same.
///
/// Errors: a budget out of range; a node that is not a prim.
pub fn partition(graph: &Graph, memory_budget: f64) -> Result<(Graph, PartitionReport)> {
    if !(0.0..=1.0).contains(&memory_budget) {
        return Err(Error::invalid("memory_budget", format!("{memory_budget} is not from 0 to 1"), "1 is the default, less keeps less"));
    }
    if let Some((n, node)) = graph.nodes.iter().enumerate().find(|(_, n)| !matches!(n.op, Op::Prim(_))) {
        return Err(Error::verify(format!("node {n}"), format!("{} is not a prim: decompose before the partition", node.op.name())));
    }
    // Numbered in order of definition, so that what a value is computed from has a lower number.
    let graph = &graph.compact();
    let model = Model::new(graph);
    if !model.backward.contains(&true) {
        return Ok((graph.clone(), PartitionReport { memory_budget, ..PartitionReport::default() }));
    }
    let none = vec![false; graph.types.len()];
    let default = cut::solve(&model.problem(&model.default_weight, &none));
    let default_kept_bytes = model.kept_bytes(&default);
    let (kept, released) = match memory_budget {
        1.0 => (default, none),
        b => within_budget(&model, (b * default_kept_bytes as f64) as u64),
    };
    let again = cut::recomputed(&model.problem(&model.bytes, &released), &kept);
    let (new, copies) = emit(&model, &again);
    let mut report = PartitionReport { memory_budget, default_kept_bytes, ..PartitionReport::default() };
    for (v, _) in kept.iter().enumerate().filter(|(_, k)| **k) {
        let value = ValueId(v as u32);
        if model.definition[v].is_some() {
            report.kept.push(Kept { value, name: new.value_name(value), bytes: model.bytes[v] });
        }
    }
    for (original, copy) in copies {
        let flops = model.flops[original.index()];
        let operation = model.definition[original.index()].map_or(String::new(), |n| graph.nodes[n].op.name().to_string());
        report.recomputed_flops = report.recomputed_flops.saturating_add(flops);
        report.recomputed.push(Recomputed { original, copy, operation, flops });
    }
    report.kept_bytes = report.kept.iter().map(|k| k.bytes).sum();
    Ok((new, report))
}

/// Keeps at most `target` bytes if that can be done: releases values in the order of bytes saved for each operation that
/// computing them again takes, as many as needed, then takes back those that turned out not to be.
fn within_budget(m: &Model, target: u64) -> (Vec<bool>, Vec<bool>) {
    let solve = |released: &[bool]| cut::solve(&m.problem(&m.bytes, released));
    let mut order: Vec<usize> = (0..m.again.len()).filter(|v| m.again[*v] == Again::Budget).collect();
    // More bytes for each operation come first: a.bytes / a.flops > b.bytes / b.flops.
    let gain = |a: usize, b: usize| m.bytes[a] as u128 * (m.flops[b] as u128 + 1);
    order.order_by(|a, b| gain(*b, *a).cmp(&gain(*a, *b)).then(a.cmp(b)));
    let released = |count: usize| {
        let mut r = vec![false; m.again.len()];
        order[..count].iter().for_each(|v| r[*v] = true);
        r
    };
    // Releasing more never costs more memory: the fewest that suffice by bisection, all if none do.
    let (mut low, mut high) = (0, order.len());
    while low < high {
        let middle = (low + high) / 2;
        if m.kept_bytes(&solve(&released(middle))) <= target { high = middle } else { low = middle + 1 }
    }
    let mut released = released(low);
    let mut kept = solve(&released);
    let bound = target.max(m.kept_bytes(&kept));
    for v in order[..low].iter().rev() {
        released[*v] = false;
        let used = cut::recomputed(&m.problem(&m.bytes, &vec![true; m.again.len()]), &kept)[*v];
        if !used {
            continue;
        }
        let without = solve(&released);
        if m.kept_bytes(&without) <= bound { kept = without } else { released[*v] = true }
    }
    (kept, released)
}

/// The graph with copies of the nodes of the values to compute `again`, each before the first node of the backward pass that
/// reads it. Gives the copies with their originals.
fn emit(m: &Model, again: &[bool]) -> (Graph, Vec<(ValueId, ValueId)>) {
    let old = m.graph;
    // A view of what is there is there too.
    let mut copied = vec![false; again.len()];
    for (n, node) in old.nodes.iter().enumerate().filter(|(n, _)| !m.backward[*n]) {
        let follows = node.inputs.iter().any(|i| copied[i.index()]);
        for v in &node.outputs {
            copied[v.index()] = again[v.index()] && (follows || !m.is_view(v.index())) && m.definition[v.index()] == Some(n);
        }
    }
    let mut new = Graph { nodes: Vec::new(), ..old.clone() };
    let mut copy: Vec<Option<ValueId>> = vec![None; again.len()];
    let mut copies = Vec::new();
    for (n, node) in old.nodes.iter().enumerate() {
        if !m.backward[n] {
            new.nodes.push(node.clone());
            continue;
        }
        for k in missing(m, &node.inputs, &copied, &copy) {
            let original = &old.nodes[k];
            let outputs: Vec<ValueId> = original.outputs.iter().map(|v| new.new_value(old.ty(*v).clone(), None)).collect();
            for (v, c) in original.outputs.iter().zip(&outputs) {
                copy[v.index()] = Some(*c);
                copies.push((*v, *c));
            }
            let inputs = original.inputs.iter().map(|v| copy[v.index()].filter(|_| copied[v.index()]).unwrap_or(*v)).collect();
            let mut origin = original.origin.clone();
            origin.phase = Phase::Recompute;
            new.nodes.push(Node { inputs, outputs, origin, ..original.clone() });
        }
        let inputs = node.inputs.iter().map(|v| copy[v.index()].filter(|_| copied[v.index()]).unwrap_or(*v)).collect();
        new.nodes.push(Node { inputs, ..node.clone() });
    }
    new.eliminate_dead_code();
    // A copy whose original nobody reads any more is the original, moved.
    let definitions = new.definitions();
    copies.retain(|(original, copy)| {
        let Some((n, _)) = definitions[copy.index()] else { return false };
        let node = m.definition[original.index()].map(|d| &old.nodes[d]);
        let twice = node.is_some_and(|node| node.outputs.iter().any(|v| definitions[v.index()].is_some()));
        if !twice {
            new.nodes[n].origin.phase = Phase::Forward;
        }
        twice
    });
    (new, copies)
}

/// The nodes to copy so that `wanted` can be read, in order.
fn missing(m: &Model, wanted: &[ValueId], copied: &[bool], copy: &[Option<ValueId>]) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    let mut stack: Vec<ValueId> = wanted.to_vec();
    while let Some(v) = stack.pop() {
        if let Some(n) = m.definition[v.index()]
            && copied[v.index()]
            && copy[v.index()].is_none()
            && out.insert(n)
        {
            stack.extend(&m.graph.nodes[n].inputs);
        }
    }
    out
}
