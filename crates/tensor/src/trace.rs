//! The tracer: while a compiled function is captured, operators on this thread become nodes of a graph.
//!
//! A traced tensor is a *slot* of the trace. A slot has a value in the graph being built, or, after a graph break, a concrete tensor.
//! When a host value is read the graph so far (a *segment*) is compiled and run with every slot that is still held as a result, and a new
//! segment begins in which those slots are inputs.

use crate::autograd::{Grad, Gradients};
use crate::compile::segment::Segments;
use crate::device::{Device, fresh_id};
use crate::dispatch::{Operand, literal};
use crate::tensor::{Data, Tensor};
use aludel_ir::graph::Op;
use aludel_ir::{Attrs, Builder, Dim, Error, Graph, InputKind, OpDef, Prim, Result, ShapeEnv, TensorType, ValueId};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// A traced tensor's name. It lives as long as somebody holds the tensor.
pub(crate) struct Slot {
    trace: u64,
    pub index: usize,
}

struct SlotState {
    held: Weak<Slot>,
    ty: TensorType,
    /// In the graph being built.
    value: Option<ValueId>,
    /// What it is, where that is known: an input, or a result of an earlier segment.
    concrete: Option<Tensor>,
    /// The input that it stands for.
    leaf: Option<usize>,
}

/// Where an input of a graph comes from.
#[derive(Clone)]
pub(crate) enum Source {
    /// A leaf of the arguments and state, by position.
    Leaf(usize),
    /// A tensor that the closure holds, or a result of an earlier segment.
    Capture(Tensor),
}

/// A place where the graph broke.
#[derive(Clone, PartialEq, Debug)]
pub struct Break {
    /// `model.rs:12`.
    pub location: String,
    pub reason: String,
}

/// What is captured on this thread.
pub(crate) struct Trace {
    id: u64,
    segment: u64,
    name: String,
    env: ShapeEnv,
    builder: Builder,
    slots: Vec<SlotState>,
    /// For each input of the graph being built.
    pub sources: Vec<Source>,
    pub breaks: Vec<Break>,
    /// A read of a host value is an error.
    whole: bool,
    segments: Arc<Segments>,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

pub(crate) fn is_active() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// The segment being recorded; 0 when nothing is.
pub(crate) fn segment() -> u64 {
    TRACE.with_borrow(|t| t.as_ref().map_or(0, |t| t.segment))
}

/// The symbols of the sizes in the trace, and the guards so far; empty when nothing is traced.
pub(crate) fn env() -> ShapeEnv {
    TRACE.with_borrow(|t| t.as_ref().map(|t| t.builder.graph.env.clone()).unwrap_or_default())
}

fn with<R>(f: impl FnOnce(&mut Trace) -> Result<R>) -> Result<R> {
    TRACE.with_borrow_mut(|t| match t {
        Some(t) => f(t),
        None => Err(Error::invalid("trace", "nothing is being traced", "use traced tensors inside the compiled function only")),
    })
}

/// Ends the trace when dropped, whatever the closure did.
pub(crate) struct Session(());

impl Session {
    /// Starts a trace on this thread. `env` has the symbols that the inputs' types use.
    pub fn start(name: &str, env: ShapeEnv, whole: bool, segments: Arc<Segments>) -> Session {
        let mut builder = Builder::new(name);
        builder.graph.env = env.clone();
        let trace = Trace {
            id: fresh_id(),
            segment: fresh_id(),
            name: name.to_string(),
            env,
            builder,
            slots: Vec::new(),
            sources: Vec::new(),
            breaks: Vec::new(),
            whole,
            segments,
        };
        TRACE.set(Some(trace));
        Session(())
    }

    /// A traced tensor in place of a leaf.
    pub fn placeholder(&self, leaf: usize, concrete: &Tensor, ty: TensorType) -> Result<Tensor> {
        let grad = match &concrete.inner.grad {
            Some(Grad::Node(..)) => {
                return Err(Error::op(
                    "compile",
                    concrete.to_string(),
                    "an argument or state carries the tape of eager operators, which cannot be followed into a compiled function",
                    "detach() it, or compute it inside",
                ));
            }
            g => g.clone(),
        };
        let value = concrete.detach();
        with(|t| Ok(t.slot(value.device(), ty, None, Some(value.clone()), Some(leaf), grad)))
    }

    /// Ends the trace and gives what it captured.
    pub fn finish(self) -> Result<Trace> {
        TRACE.take().ok_or_else(|| Error::invalid("trace", "the trace is gone", "report this"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        TRACE.set(None);
    }
}

impl Trace {
    fn slot(
        &mut self,
        device: &Device,
        ty: TensorType,
        value: Option<ValueId>,
        concrete: Option<Tensor>,
        leaf: Option<usize>,
        grad: Option<Grad>,
    ) -> Tensor {
        let slot = Arc::new(Slot { trace: self.id, index: self.slots.len() });
        self.slots.push(SlotState { held: Arc::downgrade(&slot), ty: ty.clone(), value, concrete, leaf });
        Tensor::make(device.clone(), ty, Data::Traced(slot), grad)
    }

    fn results(&mut self, device: &Device, values: &[ValueId], cut: bool) -> Vec<Tensor> {
        values
            .iter()
            .map(|v| {
                let ty = self.builder.ty(*v).clone();
                let mut t = self.slot(device, ty, Some(*v), None, None, None);
                if cut && let Some(inner) = Arc::get_mut(&mut t.inner) {
                    inner.cut = true;
                }
                t
            })
            .collect()
    }

    fn input(&mut self, source: Source, ty: TensorType) -> ValueId {
        let name = format!("in{}", self.sources.len());
        self.sources.push(source);
        self.builder.graph.add_input(name, InputKind::Arg, ty)
    }

    /// The value of a tensor in the graph being built; a tensor from outside becomes an input or, when it is one host number that wants
    /// no gradient, a constant.
    pub fn value(&mut self, t: &Tensor) -> Result<ValueId> {
        match &t.inner.data {
            Data::Traced(slot) => {
                let foreign = || {
                    Error::op(
                        "compile",
                        t.to_string(),
                        "a tensor of another trace is used",
                        "keep traced tensors inside the compiled function",
                    )
                };
                if slot.trace != self.id {
                    return Err(foreign());
                }
                let s = self.slots.get(slot.index).ok_or_else(foreign)?;
                if let Some(v) = s.value {
                    return Ok(v);
                }
                let source = match (s.leaf, &s.concrete) {
                    (Some(leaf), _) => Source::Leaf(leaf),
                    (None, Some(c)) => Source::Capture(c.clone()),
                    (None, None) => return Err(foreign()),
                };
                let v = self.input(source, s.ty.clone());
                self.slots[slot.index].value = Some(v);
                Ok(v)
            }
            Data::Host(h) if h.len() == 1 && t.inner.grad.is_none() => {
                let value = aludel_runtime::decode(h.words(), t.dtype())[0];
                let shape = t.dims().to_vec();
                self.builder.full(&shape, value, t.dtype())
            }
            _ => {
                let known = self.sources.iter().position(|s| matches!(s, Source::Capture(c) if same_value(c, t)));
                match known {
                    Some(i) => Ok(self.builder.graph.inputs[i].value),
                    None => Ok(self.input(Source::Capture(t.detach()), t.ty().clone())),
                }
            }
        }
    }

    fn at(&mut self, at: &'static Location<'static>) {
        self.builder.location = Some(location(at));
    }

    /// The leaf that a traced tensor stands for, unchanged.
    pub fn leaf_of(&self, t: &Tensor) -> Option<usize> {
        match &t.inner.data {
            Data::Traced(slot) if slot.trace == self.id => self.slots.get(slot.index)?.leaf,
            _ => None,
        }
    }

    /// The graph of the last segment, its inputs in the order in which they were used.
    pub fn into_graph(self) -> (Graph, Vec<Source>) {
        (self.builder.graph, self.sources)
    }

    /// Runs the segment recorded so far: every slot that is still held becomes concrete. `leaf` gives the sizes' values by hint.
    pub fn run_segment(&mut self) -> Result<()> {
        let wanted: Vec<(usize, ValueId)> = (0..self.slots.len())
            .filter(|i| self.slots[*i].concrete.is_none() && self.slots[*i].held.strong_count() > 0)
            .filter_map(|i| Some((i, self.slots[i].value?)))
            .collect();
        let mut builder = Builder::new(&self.name);
        builder.graph.env = self.env.clone();
        let mut graph = std::mem::replace(&mut self.builder, builder).graph;
        let sources = std::mem::take(&mut self.sources);
        for (k, (_, v)) in wanted.iter().enumerate() {
            graph.add_output(format!("out{k}"), *v, None);
        }
        let inputs = sources
            .iter()
            .map(|s| match s {
                Source::Capture(t) => Ok(t.clone()),
                Source::Leaf(leaf) => self
                    .slots
                    .iter()
                    .find(|s| s.leaf == Some(*leaf))
                    .and_then(|s| s.concrete.clone())
                    .ok_or_else(|| Error::invalid("trace", "an input has no value", "report this")),
            })
            .collect::<Result<Vec<Tensor>>>()?;
        if !wanted.is_empty() {
            let device = inputs.first().map(|t| t.device().clone()).or_else(|| self.any_device());
            let device = device.ok_or_else(|| Error::invalid("compile", "the function has no tensors", "give it one"))?;
            let sizes: Vec<i64> = graph.env.symbols.iter().map(|s| s.hint).collect();
            let types: Vec<TensorType> = wanted.iter().map(|(_, v)| concrete_type(&graph.env, graph.ty(*v))).collect();
            let results = self.segments.run(&device, graph, &sizes, &inputs)?;
            for ((i, _), (ty, storage)) in wanted.iter().zip(types.into_iter().zip(results)) {
                self.slots[*i].concrete = Some(Tensor::on_device(&device, ty, storage));
            }
        }
        for s in &mut self.slots {
            s.value = None;
        }
        self.segment = fresh_id();
        Ok(())
    }

    fn any_device(&self) -> Option<Device> {
        self.slots.iter().find_map(|s| s.concrete.as_ref().map(|t| t.device().clone()))
    }

    /// What a slot is after its segment ran.
    pub fn concrete(&self, t: &Tensor) -> Option<Tensor> {
        match &t.inner.data {
            Data::Traced(slot) if slot.trace == self.id => self.slots.get(slot.index)?.concrete.clone(),
            Data::Traced(_) => None,
            _ => Some(t.detach()),
        }
    }
}

fn concrete_type(env: &ShapeEnv, ty: &TensorType) -> TensorType {
    let size = |d: &Dim| env.hint(d).map_or_else(|| d.clone(), Dim::Const);
    TensorType { dtype: ty.dtype, shape: ty.shape.iter().map(size).collect() }
}

fn same_value(a: &Tensor, b: &Tensor) -> bool {
    match (&a.inner.data, &b.inner.data) {
        (Data::Host(x), Data::Host(y)) => Arc::ptr_eq(x, y) && a.ty() == b.ty(),
        (Data::Device { storage: x, .. }, Data::Device { storage: y, .. }) => Arc::ptr_eq(x, y) && a.ty() == b.ty(),
        _ => false,
    }
}

/// `model.rs:12`.
fn location(at: &Location) -> String {
    let file = at.file().rsplit(['/', '\\']).next().unwrap_or(at.file());
    format!("{file}:{}", at.line())
}

/// Adds an operator's node. `recording`: whether gradients are to flow through it.
pub(crate) fn record(
    device: &Device,
    def: &'static OpDef,
    operands: &[Operand],
    attrs: &Attrs,
    recording: bool,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    with(|t| {
        t.at(at);
        let mut values = Vec::with_capacity(operands.len());
        for o in operands {
            values.push(match o {
                Operand::Tensor(x) => {
                    let v = t.value(x)?;
                    // Gradients must not flow past what was computed without recording. Equal prims are one node.
                    if recording && x.inner.cut { t.builder.prim(Prim::Detach, &[v])? } else { v }
                }
                number => {
                    let l = literal(operands, number);
                    t.builder.constant(l.value(), l.dtype)?
                }
            });
        }
        let results = t.builder.operator(def, &values, attrs)?;
        let tainted = |o: &Operand| matches!(o, Operand::Tensor(x) if x.inner.cut || x.inner.grad.is_some());
        let cut = !recording && operands.iter().any(tainted);
        Ok(t.results(device, &results, cut))
    })
}

/// Adds the node that stands for the gradients of a loss.
pub(crate) fn grad(loss: &Tensor, leaves: &[(u64, Tensor)], at: &'static Location<'static>) -> Result<Gradients> {
    with(|t| {
        t.at(at);
        let mut operands = vec![t.value(loss)?];
        if loss.rank() > 0 {
            operands[0] = t.builder.reshape(operands[0], Vec::new())?;
        }
        for (_, leaf) in leaves {
            let v = t.value(leaf)?;
            operands.push(if leaf.inner.cut { t.builder.prim(Prim::Detach, &[v])? } else { v });
        }
        let types = operands[1..].iter().map(|v| t.builder.ty(*v).clone()).collect();
        let values = t.builder.push(Op::Grad, &operands, types);
        let mut out = Gradients::default();
        for ((id, _), g) in leaves.iter().zip(t.results(loss.device(), &values, true)) {
            out.insert(*id, g);
        }
        Ok(out)
    })
}

/// Adds the nodes of a graph with its inputs bound to tensors; gives its outputs.
pub(crate) fn inline(device: &Device, graph: &Graph, inputs: &[&Tensor], at: &'static Location<'static>) -> Result<Vec<Tensor>> {
    with(|t| {
        t.at(at);
        // The graph was built on a copy of the environment.
        for g in &graph.env.guards {
            if !t.builder.graph.env.guards.contains(g) {
                t.builder.graph.env.guards.push(g.clone());
            }
        }
        let mut map: Vec<Option<ValueId>> = vec![None; graph.types.len()];
        for (i, x) in graph.inputs.iter().zip(inputs) {
            let v = i.value;
            if graph.nodes.iter().any(|n| n.inputs.contains(&v)) || graph.outputs.iter().any(|o| o.value == v) {
                map[v.index()] = Some(t.value(x)?);
            }
        }
        let lost = || Error::invalid("trace", "a value is used before it is made", "report this");
        for node in &graph.nodes {
            let operands = node.inputs.iter().map(|v| map[v.index()].ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
            let results = match &node.op {
                Op::Prim(p) => t.builder.prims(p.clone(), &operands)?,
                op => t.builder.push(op.clone(), &operands, node.outputs.iter().map(|v| graph.ty(*v).clone()).collect()),
            };
            for (v, r) in node.outputs.iter().zip(results) {
                map[v.index()] = Some(r);
            }
        }
        let values = graph.outputs.iter().map(|o| map[o.value.index()].ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
        Ok(t.results(device, &values, true))
    })
}

/// The value behind a traced tensor: runs the segment so far. This is a graph break.
pub(crate) fn read(x: &Tensor, reader: &str, at: &'static Location<'static>) -> Result<Tensor> {
    with(|t| {
        let reason = format!("{reader} reads the value of {} on the host", show_in(&t.builder.graph.env, x.ty()));
        if t.whole {
            return Err(Error::unsupported(
                format!("a graph break at {}: {reason}", location(at)),
                "return the tensor and read it outside, or allow breaks with fullgraph(false)",
            ));
        }
        if let Some(c) = t.concrete(x) {
            // An input or a result of an earlier segment: known, but the function must still be traced on every call.
            t.breaks.push(Break { location: location(at), reason });
            return Ok(c);
        }
        t.breaks.push(Break { location: location(at), reason });
        t.value(x)?;
        t.run_segment()?;
        t.concrete(x).ok_or_else(|| escaped(x))
    })
}

/// A symbolic size read as a number: the trace becomes special to it.
pub(crate) fn specialize(d: &Dim) -> i64 {
    with(|t| {
        let env = &mut t.builder.graph.env;
        let hint = env.hint(d).unwrap_or(0);
        env.equal(d, &Dim::Const(hint), "a size was read as a number");
        Ok(hint)
    })
    .unwrap_or(0)
}

fn show_in(env: &ShapeEnv, ty: &TensorType) -> String {
    env.show_type(ty)
}

pub(crate) fn show_type(ty: &TensorType) -> String {
    TRACE.with(|t| match t.try_borrow() {
        Ok(t) => match t.as_ref() {
            Some(t) => show_in(&t.builder.graph.env, ty),
            None => ty.to_string(),
        },
        Err(_) => ty.to_string(),
    })
}

pub(crate) fn escaped(t: &Tensor) -> Error {
    Error::op("read", t.to_string(), "a traced tensor left the compiled function and has no value", "return it from the function instead")
}
