//! Copying a graph into a new one node by node: the frame of every pass from graph to graph.
//!
//! Inputs, outputs, state updates, size symbols, guards and readable names come along; what a node becomes is the pass's
//! business. The builder behind it shares equal prims and simplifies as it goes.

use crate::build::Builder;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, Op, Origin, ValueId};
use crate::shape::TensorType;

/// A rewrite under way.
pub struct Rewriter<'a> {
    pub b: Builder,
    old: &'a Graph,
    map: Vec<Option<ValueId>>,
}

impl<'a> Rewriter<'a> {
    /// An empty copy: inputs, symbols and guards only.
    pub fn new(old: &'a Graph) -> Self {
        let mut b = Builder::new(old.name.clone());
        b.graph.env = old.env.clone();
        let mut map = vec![None; old.types.len()];
        for i in &old.inputs {
            map[i.value.index()] = Some(b.graph.add_input(i.name.clone(), i.kind, old.ty(i.value).clone()));
        }
        Rewriter { b, old, map }
    }

    /// The new value that stands for an old one.
    pub fn value(&self, old: ValueId) -> Result<ValueId> {
        self.map[old.index()].ok_or_else(|| Error::verify(format!("%{}", self.old.value_name(old)), "used before it is defined"))
    }

    pub fn operands(&self, node: &Node) -> Result<Vec<ValueId>> {
        node.inputs.iter().map(|v| self.value(*v)).collect()
    }

    /// Says that an old value is now `new`; a readable name moves along.
    pub fn define(&mut self, old: ValueId, new: ValueId) {
        self.map[old.index()] = Some(new);
        let name = &mut self.b.graph.names[new.index()];
        if name.is_none() {
            name.clone_from(&self.old.names[old.index()]);
        }
    }

    /// New nodes come from the `index`-th old one: its own origin where it has one already.
    pub fn attribute(&mut self, index: usize) {
        let node = &self.old.nodes[index];
        self.b.origin = node.origin.clone();
        if node.origin.nodes.is_empty() {
            self.b.origin = Origin { nodes: vec![index as u32], ..node.origin.clone() };
        }
        self.b.location.clone_from(&node.location);
    }

    /// Copies a node; operators that `inline` picks are replaced by their decompositions, functions by their bodies.
    pub fn copy(&mut self, node: &Node, inline: &dyn Fn(&Op) -> bool) -> Result<()> {
        let args = self.operands(node)?;
        let types = node.outputs.iter().map(|v| self.old.ty(*v).clone()).collect();
        let outs = emit(&mut self.b, &node.op, &args, types, inline)?;
        for (old, new) in node.outputs.iter().zip(outs) {
            self.define(*old, new);
        }
        Ok(())
    }

    /// Adds the outputs, drops dead nodes and numbers the values anew.
    pub fn finish(mut self) -> Result<Graph> {
        for o in &self.old.outputs {
            let v = self.value(o.value)?;
            self.b.graph.add_output(o.name.clone(), v, o.updates);
        }
        let mut graph = self.b.graph;
        graph.eliminate_dead_code();
        Ok(graph.compact())
    }
}

/// Adds a node, or what it decomposes to where `inline` picks it. `types` are those of its results.
pub fn emit(b: &mut Builder, op: &Op, args: &[ValueId], types: Vec<TensorType>, inline: &dyn Fn(&Op) -> bool) -> Result<Vec<ValueId>> {
    match op {
        Op::Prim(p) => b.prims(p.clone(), args),
        Op::Call(def, attrs) if inline(op) => b.call(def, args, attrs),
        Op::Function(f) if inline(op) => splice(b, &f.body, args, inline),
        op => Ok(b.push(op.clone(), args, types)),
    }
}

/// Adds the nodes of a graph with its inputs bound to values; gives its outputs. The nodes come from where the builder says.
pub fn splice(b: &mut Builder, graph: &Graph, args: &[ValueId], inline: &dyn Fn(&Op) -> bool) -> Result<Vec<ValueId>> {
    if args.len() != graph.inputs.len() {
        let problem = format!("takes {} operands, got {}", graph.inputs.len(), args.len());
        return Err(Error::verify(format!("function {}", graph.name), problem));
    }
    let mut map: Vec<Option<ValueId>> = vec![None; graph.types.len()];
    graph.inputs.iter().zip(args).for_each(|(i, v)| map[i.value.index()] = Some(*v));
    let of = |map: &[Option<ValueId>], v: ValueId| {
        map[v.index()].ok_or_else(|| Error::verify(format!("%{}", graph.value_name(v)), "used before it is defined"))
    };
    for node in &graph.nodes {
        let operands = node.inputs.iter().map(|v| of(&map, *v)).collect::<Result<Vec<_>>>()?;
        let types = node.outputs.iter().map(|v| graph.ty(*v).clone()).collect();
        let results = emit(b, &node.op, &operands, types, inline)?;
        node.outputs.iter().zip(results).for_each(|(v, r)| map[v.index()] = Some(r));
    }
    graph.outputs.iter().map(|o| of(&map, o.value)).collect()
}

/// The graph with every operator replaced by its decomposition.
pub fn inline_operators(graph: &Graph) -> Result<Graph> {
    let mut r = Rewriter::new(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        r.copy(node, &|_| true)?;
    }
    r.finish()
}
