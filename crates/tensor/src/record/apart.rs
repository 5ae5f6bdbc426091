//! Graphs that do not come again, in pieces: compiled whole they would cost more than they save, so they are cut where they repeat
//! themselves, and the pieces that come again are compiled. A script whose every episode is as long as it happens to be writes down a new
//! graph each time, but the same steps in it.
//!
//! Compiling takes about as long as running operators one by one [`AGAIN`] times; a piece, or a whole graph, that took as many launches is
//! compiled, so that at most twice of what was needed is spent: the rule of renting skis (Karlin, Manasse, Rudolph and Sleator, 1988). A
//! graph whose pieces are compiled takes few launches in a run, and is compiled as much later. Only where a program shows that its graphs
//! change they are treated so: as long as no more than [`ONCE_HERE`] graphs of the same lines ([`LONG_ONCE_HERE`] where they are long), and
//! [`ONCE`] in all, were compiled and had run only once, the first run of a graph compiles it.

use super::program::{Found, Key, Live, Programs, Worth, report};
use crate::device::Device;
use crate::tensor::{Data, Tensor};
use aludel_compiler::autodiff;
use aludel_ir::graph::Op;
use aludel_ir::{Dim, Graph, InputKind, Node, Phase, Prim, Result, ValueId};
use aludel_runtime::Argument;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The first step of a loop makes its optimizer's state, the second brings it together; numbers that change become inputs, sizes that
/// change symbols after some forms.
pub(super) const ONCE_HERE: usize = 8;
/// The same of graphs of more operators or kernels than these, each of which costs seconds where a C compiler builds it: the two steps that make and bring
/// together an optimizer's state, and one before a number that changes is an input.
pub(super) const LONG_ONCE_HERE: (usize, usize) = (128, 3);
/// Preparing, several loops and evaluation are fewer.
pub(super) const ONCE: usize = 32;
/// Measured on the CPU target: 0.3 ms for each operator of a graph to compile it, 0.04 ms to run one.
const AGAIN: usize = 8;
/// Of so many nodes the derivative of one operator, as of a layer's many steps, is a piece that is compiled as eager mode does.
const DERIVATIVE: usize = 48;
/// So many pieces are counted; then all are forgotten.
const MAX_COUNTED: usize = 1 << 14;
/// The longest part that is looked for again behind itself, in nodes.
const MAX_PERIOD: usize = 256;
/// Shorter parts that repeat are taken several at a time.
const PIECE: usize = 32;
/// A graph of more operators than these may be a loop.
const LOOP: usize = 512;
/// An operator of more operands or results than these, as the one that joins the results of all turns, is taken apart.
const MANY: usize = 8;

/// What graphs and pieces that run as their parts may still take until they are compiled, in launches, by what they are found by.
#[derive(Default)]
pub(super) struct Sights(FxHashMap<u64, usize>);

impl Sights {
    /// Whether it is time to compile what ran as its parts so far.
    pub fn enough(&mut self, hash: u64) -> bool {
        let enough = self.0.get(&hash) == Some(&0);
        if enough {
            self.0.remove(&hash);
        }
        enough
    }

    /// What is worth `worth` launches took some.
    fn took(&mut self, hash: u64, worth: usize, launches: usize) {
        if self.0.len() >= MAX_COUNTED {
            self.0.clear();
        }
        let left = self.0.entry(hash).or_insert(worth);
        *left = left.saturating_sub(launches);
    }
}

/// The flow: gradients become nodes, the nodes are cut into pieces, each runs as a program that is found or made, or node by node. `hash` is
/// what the whole graph is found by.
pub(super) fn run(
    programs: &mut Programs,
    device: &Device,
    (hash, graph): (u64, &Graph),
    live: &[Live],
    values: Vec<Option<Tensor>>,
) -> Result<()> {
    let mut graph = graph.clone();
    for (k, l) in live.iter().enumerate() {
        graph.add_output(format!("out{k}"), l.value, None);
    }
    graph.eliminate_dead_code();
    if graph.nodes.iter().any(|n| matches!(n.op, Op::Grad)) {
        graph = autodiff::expand_grads(&graph)?;
    }
    graph = narrow(graph)?;
    let mut pieces = Pieces::new(&graph);
    let mut known: Vec<Option<Tensor>> = vec![None; graph.types.len()];
    for (input, value) in graph.inputs.iter().zip(values) {
        known[input.value.index()] = value;
    }
    let (mut nodes, mut launches) = (0, 0);
    for (piece, worth) in pieces.cut() {
        nodes += piece.len();
        launches += pieces.run(programs, device, (&piece, worth), &mut known)?;
    }
    programs.sights.took(hash, AGAIN * nodes, launches);
    for (l, o) in live.iter().zip(&graph.outputs) {
        let value = known[o.value.index()].clone().ok_or_else(|| report("a value is not made"))?;
        let data = match &value.inner.data {
            Data::Device { storage, .. } => Data::Device { storage: storage.clone(), place: None },
            other => other.clone(),
        };
        crate::trace::resolve(&l.slot, Tensor::make(device.clone(), l.slot.ty.clone(), data, None));
    }
    Ok(())
}

/// The graph with its wide operators in prims, and joined by a few at a time: what joins or takes apart as many values as there were turns
/// is another operator each time.
fn narrow(mut graph: Graph) -> Result<Graph> {
    let wide = |n: &Node| n.inputs.len() > MANY || n.outputs.len() > MANY;
    if !graph.nodes.iter().any(wide) {
        return Ok(graph);
    }
    let nodes = std::mem::take(&mut graph.nodes);
    let mut map: Vec<ValueId> = (0..graph.types.len()).map(|v| ValueId(v as u32)).collect();
    for mut node in nodes {
        node.inputs.iter_mut().for_each(|v| *v = map[v.index()]);
        if !wide(&node) {
            graph.nodes.push(node);
            continue;
        }
        let results = node.outputs.clone();
        for (old, new) in results.into_iter().zip(in_prims(&mut graph, node)?) {
            map[old.index()] = new;
        }
    }
    graph.outputs.iter_mut().for_each(|o| o.value = map[o.value.index()]);
    Ok(graph)
}

// Adds an operator's decomposition to a graph; gives its results.
fn in_prims(graph: &mut Graph, node: Node) -> Result<Vec<ValueId>> {
    let mut alone = Graph::new("wide");
    let inputs = node.inputs.iter().map(|v| alone.add_input("x", InputKind::Arg, graph.ty(*v).clone())).collect();
    let outputs: Vec<ValueId> = node.outputs.iter().map(|v| alone.new_value(graph.ty(*v).clone(), None)).collect();
    outputs.iter().for_each(|v| alone.add_output("y", *v, None));
    alone.nodes.push(Node { inputs, outputs, ..node.clone() });
    let prims = autodiff::decompose(&alone)?;
    let mut map: Vec<ValueId> = vec![ValueId(0); prims.types.len()];
    prims.inputs.iter().zip(&node.inputs).for_each(|(i, v)| map[i.value.index()] = *v);
    for prim in &prims.nodes {
        let mut inputs: Vec<ValueId> = prim.inputs.iter().map(|v| map[v.index()]).collect();
        let Op::Prim(Prim::Cat { dim }) = prim.op else {
            let outputs: Vec<ValueId> = prim.outputs.iter().map(|v| graph.new_value(prims.ty(*v).clone(), None)).collect();
            prim.outputs.iter().zip(&outputs).for_each(|(old, new)| map[old.index()] = *new);
            graph.nodes.push(Node { op: prim.op.clone(), inputs, outputs, origin: node.origin.clone(), location: node.location.clone() });
            continue;
        };
        while inputs.len() > 1 {
            inputs = inputs.chunks(MANY).map(|some| join(graph, some, dim, &node)).collect();
        }
        map[prim.outputs[0].index()] = inputs[0];
    }
    Ok(prims.outputs.iter().map(|o| map[o.value.index()]).collect())
}

fn join(graph: &mut Graph, some: &[ValueId], dim: usize, like: &Node) -> ValueId {
    if let [one] = some {
        return *one;
    }
    let mut ty = graph.ty(some[0]).clone();
    ty.shape[dim] = some.iter().fold(Dim::ZERO, |sum, v| sum.add(&graph.ty(*v).shape[dim]));
    let value = graph.new_value(ty, None);
    let (op, inputs) = (Op::Prim(Prim::Cat { dim }), some.to_vec());
    graph.nodes.push(Node { op, inputs, outputs: vec![value], origin: like.origin.clone(), location: like.location.clone() });
    value
}

/// A graph that is cut.
struct Pieces<'g> {
    graph: &'g Graph,
    definitions: Vec<Option<(usize, usize)>>,
    /// For each node, whether every piece that reads it has it: constants, and other views of what was computed.
    carried: Vec<bool>,
    /// For each value, the last node that reads it or something that is carried with it; nodes that do not exist read results.
    last: Vec<usize>,
}

impl<'g> Pieces<'g> {
    fn new(graph: &'g Graph) -> Pieces<'g> {
        let definitions = graph.definitions();
        let results: FxHashSet<ValueId> = graph.outputs.iter().map(|o| o.value).collect();
        let mut carried = vec![false; graph.nodes.len()];
        for (n, node) in graph.nodes.iter().enumerate() {
            let constant = |v: &ValueId| definitions[v.index()].is_some_and(|(at, _)| carried[at] && graph.nodes[at].inputs.is_empty());
            let light = match &node.op {
                Op::Prim(Prim::Const(_)) => true,
                Op::Prim(Prim::Cast(_)) => node.inputs.iter().all(constant),
                Op::Prim(p) => p.is_view(),
                _ => false,
            };
            carried[n] = light && !node.outputs.iter().any(|v| results.contains(v));
        }
        let mut last = vec![0; graph.types.len()];
        results.iter().for_each(|v| last[v.index()] = graph.nodes.len());
        for (n, node) in graph.nodes.iter().enumerate().rev() {
            let at = match carried[n] {
                true => node.outputs.iter().map(|v| last[v.index()]).max().unwrap_or(0),
                false => n,
            };
            node.inputs.iter().for_each(|v| last[v.index()] = last[v.index()].max(at));
        }
        Pieces { graph, definitions, carried, last }
    }

    /// The nodes of each piece, in order, and whether one that is new is compiled.
    fn cut(&self) -> Vec<(Vec<usize>, Worth)> {
        let nodes: Vec<usize> = (0..self.graph.nodes.len()).filter(|n| !self.carried[*n]).collect();
        let mut out = Vec::new();
        let mut plain = Vec::new();
        // Nodes of one operator's derivative follow one another.
        for run in nodes.chunk_by(|a, b| self.graph.nodes[*a].origin == self.graph.nodes[*b].origin) {
            match run.len() >= DERIVATIVE && self.graph.nodes[run[0]].origin.phase == Phase::Backward {
                false => plain.extend_from_slice(run),
                true => {
                    self.cut_plain(&std::mem::take(&mut plain), &mut out);
                    out.push((run.to_vec(), Worth::Compile));
                }
            }
        }
        self.cut_plain(&plain, &mut out);
        out
    }

    fn cut_plain(&self, nodes: &[usize], out: &mut Vec<(Vec<usize>, Worth)>) {
        let signs: Vec<u64> = nodes.iter().map(|n| self.sign(&self.graph.nodes[*n])).collect();
        let mut lengths = Vec::new();
        spans(&signs, &mut lengths);
        let mut rest = nodes;
        for length in lengths {
            let (piece, after) = rest.split_at(length.min(rest.len()));
            out.push((piece.to_vec(), if piece.len() == 1 { Worth::Compile } else { Worth::WhenSeen }));
            rest = after;
        }
    }

    // Nodes of one sign do the same to values of the same types.
    fn sign(&self, node: &Node) -> u64 {
        let mut h = FxHasher::default();
        super::program::hash_op(&node.op, &mut h);
        node.inputs.iter().chain(&node.outputs).for_each(|v| self.graph.ty(*v).hash(&mut h));
        h.finish()
    }

    // Gives the launches that it took.
    fn run(
        &mut self,
        programs: &mut Programs,
        device: &Device,
        (piece, worth): (&[usize], Worth),
        known: &mut [Option<Tensor>],
    ) -> Result<usize> {
        let (key, given, made) = self.extract(piece);
        let (executable, sizes, inputs) = match programs.piece(device, key, worth)? {
            Found::Program(found) => found,
            Found::Parts(hash) => {
                piece.iter().try_for_each(|n| self.run(programs, device, (&[*n], Worth::Compile), known).map(|_| ()))?;
                programs.sights.took(hash, AGAIN * piece.len(), piece.len());
                return Ok(piece.len());
            }
        };
        let argument = |at: &usize| -> Result<Argument> {
            let value = given.get(*at).and_then(|v| known[v.index()].as_ref());
            value.ok_or_else(|| report("a value was let go of"))?.argument()
        };
        let arguments = inputs.iter().map(argument).collect::<Result<Vec<_>>>()?;
        for (v, storage) in made.iter().zip(executable.run(&sizes, &arguments)?) {
            let data = Data::Device { storage, place: None };
            known[v.index()] = Some(Tensor::make(device.clone(), self.graph.ty(*v).clone(), data, None));
        }
        let end = piece.last().copied().unwrap_or(0);
        given.iter().filter(|v| self.last[v.index()] <= end).for_each(|v| known[v.index()] = None);
        Ok(1)
    }

    // A piece as a graph of its own; the values that it is given, and those that it makes for others.
    fn extract(&self, piece: &[usize]) -> (Key, Vec<ValueId>, Vec<ValueId>) {
        let mut e = Extract { of: self, graph: Graph::new("piece"), map: FxHashMap::default(), given: Vec::new() };
        piece.iter().for_each(|n| e.copy(*n));
        let end = piece.last().copied().unwrap_or(0);
        let made = piece.iter().flat_map(|n| &self.graph.nodes[*n].outputs).copied();
        let made: Vec<ValueId> = made.filter(|v| self.last[v.index()] > end).collect();
        let wanted = made.iter().map(|v| (e.map[v], None)).collect();
        let state = vec![false; e.given.len()];
        (Key { graph: Arc::new(e.graph), wanted, state }, e.given, made)
    }
}

struct Extract<'p> {
    of: &'p Pieces<'p>,
    graph: Graph,
    map: FxHashMap<ValueId, ValueId>,
    given: Vec<ValueId>,
}

impl Extract<'_> {
    fn copy(&mut self, n: usize) {
        let node = &self.of.graph.nodes[n];
        let inputs = node.inputs.iter().map(|v| self.value(*v)).collect();
        let types = node.outputs.iter().map(|v| self.of.graph.ty(*v).clone());
        let outputs: Vec<ValueId> = types.map(|ty| self.graph.new_value(ty, None)).collect();
        self.map.extend(node.outputs.iter().copied().zip(outputs.iter().copied()));
        self.graph.nodes.push(Node { op: node.op.clone(), inputs, outputs, origin: Default::default(), location: node.location.clone() });
    }

    fn value(&mut self, v: ValueId) -> ValueId {
        if let Some(known) = self.map.get(&v) {
            return *known;
        }
        if let Some((n, _)) = self.of.definitions[v.index()]
            && self.of.carried[n]
        {
            self.copy(n);
            return self.map[&v];
        }
        let new = self.graph.add_input(format!("x{}", self.given.len()), InputKind::Arg, self.of.graph.ty(v).clone());
        self.map.insert(v, new);
        self.given.push(v);
        new
    }
}

/// Cuts a text where it repeats itself: the lengths of its pieces, in order.
fn spans(signs: &[u64], out: &mut Vec<usize>) {
    let Some((start, length, period)) = longest_repeat(signs) else {
        out.extend(signs.chunks(PIECE).map(<[u64]>::len));
        return;
    };
    spans(&signs[..start], out);
    let several = period * PIECE.div_ceil(period).max(1);
    let turns = length / period * period;
    out.extend(std::iter::repeat_n(several, turns / several));
    out.extend(std::iter::repeat_n(period, turns % several / period));
    spans(&signs[start + turns..], out);
}

/// Where the longest part lies that repeats itself at least three times: its start, its length, and the length of what is repeated.
fn longest_repeat(signs: &[u64]) -> Option<(usize, usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    for period in 1..=MAX_PERIOD.min(signs.len() / 3) {
        let mut same = 0;
        for at in 0..signs.len() - period {
            same = if signs[at] == signs[at + period] { same + 1 } else { 0 };
            let length = same + period;
            if same >= 2 * period && best.is_none_or(|(_, longest, _)| length > longest) {
                best = Some((at + 1 - same, length, period));
            }
        }
    }
    best
}

/// Whether most of a graph is one part many times.
fn repeats_itself(graph: &Graph) -> bool {
    let pieces = Pieces::new(graph);
    let signs: Vec<u64> = graph.nodes.iter().map(|n| pieces.sign(n)).collect();
    longest_repeat(&signs).is_some_and(|(_, length, period)| 2 * length > signs.len() && length >= 16 * period)
}

impl Programs {
    /// Whether graphs such as this one do not come again: those of the same lines did not, or all, or it is a long loop written down that
    /// trains nothing, as one that draws a data set.
    pub(super) fn graphs_change(&mut self, graph: &Graph) -> bool {
        if graph.nodes.len() >= LOOP && !graph.nodes.iter().any(|n| matches!(n.op, Op::Grad)) && repeats_itself(graph) {
            return true;
        }
        let here = super::program::span(graph);
        if self.changing.contains(&here) {
            return true;
        }
        let once: Vec<_> = self.all().filter(|p| p.whole && p.runs.load(Ordering::Relaxed) <= 1).collect();
        let (long, few) = LONG_ONCE_HERE;
        let once_here: Vec<_> = once.iter().filter(|p| super::program::span(&p.key.graph) == here).collect();
        // An operator of many steps is one that becomes many kernels.
        let size = once_here.iter().map(|p| p.kernels()).fold(graph.nodes.len(), usize::max);
        let change_here = once_here.len() > if size > long { few } else { ONCE_HERE };
        let change = change_here || once.len() > ONCE;
        if change_here {
            // Sentences of one length come again, and are compiled when they did often enough: the next length is new all the same.
            self.changing.insert(here);
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_cut_out() {
        let text = |s: &str| -> Vec<u64> { s.bytes().map(u64::from).collect() };
        let cut = |s: &str| {
            let mut out = Vec::new();
            spans(&text(s), &mut out);
            out
        };
        let unit = "abcdefghijklmnopqrstuvwxyz0123456789";
        assert_eq!(cut(&format!("->{}!", unit.repeat(3))), [2, 36, 36, 36, 1]);
        assert_eq!(cut("abc"), [3]);
        assert_eq!(cut(""), [0; 0]);
        // Short ones are taken together.
        assert_eq!(cut(&"xy".repeat(35)), [32, 32, 2, 2, 2]);
        // Every node is in one piece.
        assert_eq!(cut(&format!("{}{}", unit.repeat(5), "q".repeat(100))).iter().sum::<usize>(), 36 * 5 + 100);
    }
}
