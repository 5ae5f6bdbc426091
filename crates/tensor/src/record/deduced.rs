//! Values that are recorded and not computed yet, as far as they follow from some that are there: an index is compared with the size that it
//! indexes when the operator is called, while the program can still be told. Not in a page, which carries no interpreter.

use super::with;
use crate::tensor::{Data, Tensor};
use crate::trace::{Slot, Source, Trace};
use aludel_ir::interp::{self, HostTensor, Precision};
use aludel_ir::{Graph, InputKind, Node, Op, ValueId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};

/// Nodes that are looked through, at most.
const MOST_NODES: usize = 64;
/// Elements of the tensors that something follows from, at most, where it is computed.
const MOST_ELEMENTS: usize = 1 << 20;

/// How elements of a result follow from those of operands.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// They are some of the first operand's.
    Moves,
    /// They are the operands'.
    Joins,
    /// They are cheap to compute.
    Computes,
}

const MOVES: &str = "reshape flatten squeeze unsqueeze permute transpose t flip flipud fliplr roll tile repeat repeat_interleave diagonal narrow \
    slice select unfold expand split chunk unbind unflatten movedim tensor_split gather take_along_dim index_select index detach";
const JOINS: &str = "cat stack hstack vstack dstack meshgrid";
const COMPUTES: &str = "add sub rsub mul neg abs div floor_divide remainder fmod floor ceil trunc round sign maximum minimum clamp where \
    masked_fill eq ne lt le gt ge logical_not logical_and logical_or bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift \
    bitwise_right_shift to tril triu pad cumsum sum amax amin zeros ones full zeros_like ones_like full_like arange";

/// By the operator's name.
static WAYS: LazyLock<FxHashMap<&str, Way>> = LazyLock::new(|| {
    let all = [(MOVES, Way::Moves), (JOINS, Way::Joins), (COMPUTES, Way::Computes)];
    all.into_iter().flat_map(|(names, way)| names.split_whitespace().map(move |name| (name, way))).collect()
});

/// A recorded tensor by the operators and tensors that it follows from.
pub struct Deduced {
    graph: Graph,
    /// For each input of the graph, and whether elements of it are elements of the tensor.
    leaves: Vec<(Tensor, bool)>,
    moved: bool,
}

/// What a tensor follows from, where it is recorded and little lies between.
pub fn deduce(t: &Tensor) -> Option<Deduced> {
    let Data::Traced(slot) = &t.inner.data else { return None };
    if let Some(known) = slot.resolved() {
        return deduce(known);
    }
    with(|trace| Ok(trace.deduce(slot)))?.ok()?
}

impl Deduced {
    /// Tensors among whose elements all of its own are, where no operator between computes.
    pub fn among(&self) -> Option<impl Iterator<Item = &Tensor>> {
        self.moved.then(|| self.leaves.iter().filter(|(_, elements)| *elements).map(|(t, _)| t))
    }

    /// Its values, in row-major order, where all that it follows from can be read without waiting.
    pub fn values(&self) -> Option<Vec<f64>> {
        if self.leaves.iter().map(|(t, _)| t.numel()).sum::<usize>() > MOST_ELEMENTS {
            return None;
        }
        let read = |(t, _): &(Tensor, bool)| {
            let data = t.values_at_once().or_else(|| deduce(t)?.values())?;
            HostTensor::new(t.dtype(), t.shape(), data).ok()
        };
        let inputs = self.leaves.iter().map(read).collect::<Option<Vec<_>>>()?;
        let made = interp::run(&self.graph, &[], &inputs, Precision::F32).ok()?;
        made.into_iter().next().map(|t| t.data)
    }
}

impl Trace {
    fn deduce(&mut self, slot: &Arc<Slot>) -> Option<Deduced> {
        let own = self.slots.get(slot.index).filter(|s| s.held.as_ptr() == Arc::as_ptr(slot));
        if let Some(value) = own.and_then(|s| s.value) {
            return cone(&self.builder.graph, &self.sources, value);
        }
        let record = self.record().ok()?;
        record.pending.iter().chain(&record.behind).find_map(|closed| {
            let held = closed.slots.iter().find(|h| h.slot.as_ptr() == Arc::as_ptr(slot))?;
            cone(&closed.graph, &closed.sources, held.value)
        })
    }
}

/// What a value of a graph follows from.
fn cone(graph: &Graph, sources: &[Source], value: ValueId) -> Option<Deduced> {
    // Values that are needed, and whether their elements are the result's.
    let mut needed: FxHashMap<ValueId, bool> = FxHashMap::from_iter([(value, true)]);
    let input = |v: ValueId| graph.inputs.iter().position(|i| i.value == v);
    let mut open = usize::from(input(value).is_none());
    let (mut nodes, mut moved): (Vec<&Node>, bool) = (Vec::new(), true);
    for node in graph.nodes.iter().rev() {
        if open == 0 {
            break;
        }
        let found: Vec<bool> = node.outputs.iter().filter_map(|v| needed.get(v).copied()).collect();
        if found.is_empty() {
            continue;
        }
        open -= found.len();
        let elements = found.contains(&true);
        let Op::Call(def, _) = &node.op else { return None };
        let (first, others) = match WAYS.get(def.name)? {
            Way::Moves => (elements, false),
            Way::Joins => (elements, elements),
            Way::Computes => {
                moved &= !elements;
                (false, false)
            }
        };
        for (k, v) in node.inputs.iter().enumerate() {
            let flag = if k == 0 { first } else { others };
            match needed.get_mut(v) {
                Some(known) => *known |= flag,
                None => {
                    open += usize::from(input(*v).is_none());
                    needed.insert(*v, flag);
                }
            }
        }
        nodes.push(node);
        if nodes.len() > MOST_NODES {
            return None;
        }
    }
    let (mut own, mut map, mut leaves) = (Graph::new("deduced"), FxHashMap::default(), Vec::new());
    for (slot, source) in graph.inputs.iter().zip(sources) {
        let Some(elements) = needed.get(&slot.value) else { continue };
        let Source::Capture(t) = source else { return None };
        map.insert(slot.value, own.add_input(format!("x{}", leaves.len()), InputKind::Arg, graph.ty(slot.value).clone()));
        leaves.push((t.clone(), *elements));
    }
    for node in nodes.into_iter().rev() {
        let inputs = node.inputs.iter().map(|v| map.get(v).copied()).collect::<Option<Vec<_>>>()?;
        let outputs: Vec<ValueId> = node.outputs.iter().map(|v| own.new_value(graph.ty(*v).clone(), None)).collect();
        map.extend(node.outputs.iter().copied().zip(outputs.iter().copied()));
        own.nodes.push(Node { op: node.op.clone(), inputs, outputs, origin: Default::default(), location: None });
    }
    own.add_output("y", *map.get(&value)?, None);
    Some(Deduced { graph: own, leaves, moved })
}
