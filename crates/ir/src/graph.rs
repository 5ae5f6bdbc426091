//! The Graph IR: functional SSA over typed tensors.
//!
//! A graph holds operators (by PyTorch's names, what capture records) and prims (what decomposition leaves). Nodes are in
//! topological order. State is explicit: an updated parameter is an output that names the input it replaces.

use crate::op::{Attrs, OpDef};
use crate::prim::Prim;
use crate::shape::{ShapeEnv, TensorType};
use std::sync::Arc;

/// An SSA value of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);

impl ValueId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    Prim(Prim),
    /// An operator of the table.
    Call(&'static OpDef, Attrs),
    /// `(loss, wrt..)` to the gradient of the scalar loss for each of `wrt`; expanded by the autodiff pass.
    Grad,
    /// A graph used as one operator, for what it says about its derivative; inlined by decomposition.
    Function(Arc<Function>),
}

/// A graph with a derivative of its own, or one whose values the backward pass shall compute again.
///
/// The graphs hold operators and prims, no [`Op::Grad`] and no state. They have no symbols and guards of their own: sizes are over the
/// symbols of the graph that the node is in.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    pub name: String,
    /// Operands to results.
    pub body: Graph,
    /// The operands, the results, and the gradient of each float result, to the gradient of each float operand.
    pub vjp: Option<Graph>,
    /// The operands and the tangent of each float operand, to the tangent of each float result.
    pub jvp: Option<Graph>,
    /// Nothing but the operands is kept for the backward pass. PyTorch: `torch.utils.checkpoint`.
    pub checkpoint: bool,
}

impl Function {
    /// The graphs that there are, by their roles.
    pub fn graphs(&self) -> impl Iterator<Item = (&'static str, &Graph)> {
        let optional = [("vjp", &self.vjp), ("jvp", &self.jvp)];
        std::iter::once(("body", &self.body)).chain(optional.into_iter().filter_map(|(role, g)| Some((role, g.as_ref()?))))
    }
}

impl Op {
    pub fn name(&self) -> &str {
        match self {
            Op::Prim(p) => p.name(),
            Op::Call(d, _) => d.name,
            Op::Grad => "grad",
            Op::Function(_) => "function",
        }
    }
}

/// Which part of a step a node belongs to; kept so that a page can say where a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Phase {
    #[default]
    Forward,
    Backward,
    /// A forward value computed again for the backward pass instead of being kept.
    Recompute,
}

/// Where a node comes from: the captured operators it was made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// Indices of nodes of the captured graph, sorted.
    pub nodes: Vec<u32>,
    pub phase: Phase,
    /// The region whose values the backward pass computes again rather than keeps, by number.
    pub checkpoint: Option<u32>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<ValueId>,
    pub outputs: Vec<ValueId>,
    pub origin: Origin,
    /// Source location of the call in the user's program: `model.rs:12`.
    pub location: Option<String>,
}

/// Who gives an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputKind {
    /// Given on every call.
    Arg,
    /// Lives on the device between calls; an output may replace it.
    State,
    /// State that lies in the host's memory between calls, where the device reads and writes that ([`crate::program::Role::Offloaded`]);
    /// elsewhere it is state like any other.
    Offloaded,
}

impl InputKind {
    /// Whether it lives between calls.
    pub fn is_state(self) -> bool {
        self != InputKind::Arg
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    pub value: ValueId,
    pub kind: InputKind,
    pub name: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    pub value: ValueId,
    /// The index of the state input that the value replaces; `None` for a result given to the caller.
    pub updates: Option<usize>,
    pub name: String,
}

/// A captured function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    pub name: String,
    pub env: ShapeEnv,
    pub inputs: Vec<Input>,
    pub nodes: Vec<Node>,
    pub outputs: Vec<Output>,
    /// The type of each value.
    pub types: Vec<TensorType>,
    /// A readable name for a value, where capture knows one (`w0`, `loss`).
    pub names: Vec<Option<String>>,
}

impl Graph {
    /// Whether a node or a result is made from a value.
    pub fn reads(&self, value: ValueId) -> bool {
        self.nodes.iter().any(|n| n.inputs.contains(&value)) || self.outputs.iter().any(|o| o.value == value)
    }

    pub fn new(name: impl Into<String>) -> Self {
        Graph { name: name.into(), ..Graph::default() }
    }

    pub fn ty(&self, v: ValueId) -> &TensorType {
        &self.types[v.index()]
    }

    /// The name that text shows for a value: its own, or `%n`.
    pub fn value_name(&self, v: ValueId) -> String {
        match self.names.get(v.index()) {
            Some(Some(n)) => n.clone(),
            _ => v.0.to_string(),
        }
    }

    pub fn new_value(&mut self, ty: TensorType, name: Option<String>) -> ValueId {
        self.types.push(ty);
        self.names.push(name);
        ValueId(self.types.len() as u32 - 1)
    }

    pub fn add_input(&mut self, name: impl Into<String>, kind: InputKind, ty: TensorType) -> ValueId {
        let name = name.into();
        let value = self.new_value(ty, Some(name.clone()));
        self.inputs.push(Input { value, kind, name });
        value
    }

    pub fn add_output(&mut self, name: impl Into<String>, value: ValueId, updates: Option<usize>) {
        self.outputs.push(Output { value, updates, name: name.into() });
    }

    /// For each value, the node that defines it and which of its results it is; `None` for inputs.
    pub fn definitions(&self) -> Vec<Option<(usize, usize)>> {
        let mut defs = vec![None; self.types.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            for (k, v) in node.outputs.iter().enumerate() {
                defs[v.index()] = Some((n, k));
            }
        }
        defs
    }

    /// The values in the order in which they are defined: inputs, then the results of the nodes.
    pub fn definition_order(&self) -> Vec<ValueId> {
        self.inputs.iter().map(|i| i.value).chain(self.nodes.iter().flat_map(|n| n.outputs.iter().copied())).collect()
    }

    /// The same graph with values numbered in order of definition and without types of values that nothing defines: the
    /// form that parsing gives.
    pub fn compact(&self) -> Graph {
        let order = self.definition_order();
        let mut new = vec![None; self.types.len()];
        for (i, v) in order.iter().enumerate() {
            if let Some(slot) = new.get_mut(v.index()) {
                *slot = Some(ValueId(i as u32));
            }
        }
        // A use without a definition stays one, for the verifier to name.
        let map = |v: &ValueId| new.get(v.index()).copied().flatten().unwrap_or(ValueId(u32::MAX));
        let pick = |v: &ValueId| self.types.get(v.index()).cloned().unwrap_or(TensorType::scalar(crate::dtype::DType::F32));
        Graph {
            name: self.name.clone(),
            env: self.env.clone(),
            inputs: self.inputs.iter().map(|i| Input { value: map(&i.value), ..i.clone() }).collect(),
            nodes: self
                .nodes
                .iter()
                .map(|n| Node { inputs: n.inputs.iter().map(map).collect(), outputs: n.outputs.iter().map(map).collect(), ..n.clone() })
                .collect(),
            outputs: self.outputs.iter().map(|o| Output { value: map(&o.value), ..o.clone() }).collect(),
            types: order.iter().map(pick).collect(),
            names: order.iter().map(|v| self.names.get(v.index()).cloned().flatten()).collect(),
        }
    }

    /// How many nodes there are, those of functions included.
    pub fn total_nodes(&self) -> usize {
        self.nodes
            .iter()
            .map(|n| match &n.op {
                Op::Function(f) => f.graphs().fold(1usize, |sum, (_, g)| sum.saturating_add(g.total_nodes())),
                _ => 1,
            })
            .fold(0, usize::saturating_add)
    }

    /// For each value, the nodes that use it.
    pub fn users(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.types.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            for v in &node.inputs {
                if users[v.index()].last() != Some(&n) {
                    users[v.index()].push(n);
                }
            }
        }
        users
    }

    /// Removes nodes whose results nobody uses.
    pub fn eliminate_dead_code(&mut self) {
        let mut live = vec![false; self.types.len()];
        for o in &self.outputs {
            live[o.value.index()] = true;
        }
        let mut keep = vec![false; self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate().rev() {
            if node.outputs.iter().any(|v| live[v.index()]) {
                keep[n] = true;
                for v in &node.inputs {
                    live[v.index()] = true;
                }
            }
        }
        let mut it = keep.into_iter();
        self.nodes.retain(|_| it.next().unwrap_or(true));
    }
}
