//! The tracer: while a compiled function is captured, operators on this thread become nodes of a graph.
//!
//! A traced tensor is a *slot* of the trace. A slot has a value in the graph being built, or, after a graph break, a concrete tensor.
//! When a host value is read the graph so far (a *segment*) is compiled and run with every slot that is still held as a result, and a new
//! segment begins in which those slots are inputs.

use crate::autograd::{FREED, Grad, Gradients, Leaf};
use crate::compile::segment::Segments;
use crate::device::{Device, fresh_id};
use crate::dispatch::{Operand, literal};
use crate::record::Record;
use crate::tensor::{Data, Tensor};
use aludel_ir::graph::Op;
use aludel_ir::{Attrs, Builder, Dim, Error, Function, Graph, InputKind, OpDef, Origin, Prim, Result, ShapeEnv, TensorType, ValueId};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::{Arc, OnceLock, Weak};

/// A traced tensor's name. It lives as long as somebody holds the tensor.
pub(crate) struct Slot {
    pub trace: u64,
    pub index: usize,
    pub ty: TensorType,
    /// What it stands for after its function ran: a tensor that a function left behind, such as running statistics.
    resolved: OnceLock<Tensor>,
}

impl Slot {
    pub fn new(trace: u64, index: usize, ty: TensorType) -> Slot {
        Slot { trace, index, ty, resolved: OnceLock::new() }
    }

    /// What the slot stands for once its trace is over.
    pub fn resolved(&self) -> Option<&Tensor> {
        self.resolved.get()
    }
}

pub(crate) struct SlotState {
    pub held: Weak<Slot>,
    pub ty: TensorType,
    /// In the graph being built.
    pub value: Option<ValueId>,
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
    pub id: u64,
    pub segment: u64,
    name: String,
    env: ShapeEnv,
    pub builder: Builder,
    pub slots: Vec<SlotState>,
    /// For each input of the graph being built.
    pub sources: Vec<Source>,
    pub breaks: Vec<Break>,
    /// What the function's parts say of how they were captured.
    pub notes: Vec<Break>,
    pub kind: Kind,
    /// How many checkpointed regions were inlined.
    regions: u32,
}

/// What a trace is for.
pub(crate) enum Kind {
    /// A compiled function. `whole`: a read of a host value is an error.
    Compile { whole: bool, segments: Arc<Segments> },
    /// A function to be transformed, perhaps within another trace: what it takes from there are inputs.
    Function,
    /// Operators of a program that is not a function, to be run together later.
    Record(Box<Record>),
}

thread_local! {
    // Functions are traced within functions: the last one records.
    pub(crate) static TRACE: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn is_active() -> bool {
    // While something is being added to a trace, there is one.
    TRACE.with(|t| t.try_borrow().map_or(true, |t| !t.is_empty()))
}

/// The segment being recorded; 0 when nothing is.
pub(crate) fn segment() -> u64 {
    TRACE.with_borrow(|t| t.last().map_or(0, |t| t.segment))
}

/// The symbols of the sizes in the trace, and the guards so far; empty when nothing is traced.
pub(crate) fn env() -> ShapeEnv {
    TRACE.with_borrow(|t| t.last().map(|t| t.builder.graph.env.clone()).unwrap_or_default())
}

pub(crate) fn with<R>(f: impl FnOnce(&mut Trace) -> Result<R>) -> Result<R> {
    TRACE.with_borrow_mut(|t| match t.last_mut() {
        Some(t) => f(t),
        None => Err(Error::invalid("trace", "nothing is being traced", "use traced tensors inside the compiled function only")),
    })
}

/// Ends the trace when dropped, whatever the closure did.
pub(crate) struct Session {
    id: u64,
}

impl Session {
    /// Starts a trace on this thread. `env` has the symbols that the inputs' types use.
    pub fn start(name: &str, env: ShapeEnv, whole: bool, segments: Arc<Segments>) -> Session {
        Self::begin(name, env, Kind::Compile { whole, segments })
    }

    /// Starts a trace of a function to be transformed, within the present trace if there is one.
    pub fn function(name: &str) -> Session {
        Self::begin(name, env(), Kind::Function)
    }

    fn begin(name: &str, env: ShapeEnv, kind: Kind) -> Session {
        let trace = Trace::new(name, env, kind);
        let id = trace.id;
        TRACE.with_borrow_mut(|t| t.push(trace));
        Session { id }
    }

    /// A traced tensor that is an input of a function to be transformed. Float tensors are leaves, so that what the function detaches is
    /// seen.
    pub fn operand(&self, given: &Tensor) -> Result<Tensor> {
        let grad = given.dtype().is_float().then(|| Grad::Leaf(Leaf { id: fresh_id(), held: None }));
        with(|t| {
            let ty = given.ty().clone();
            // Not the tensor itself: what the function takes from around it is another thing, even where it is the same tensor.
            let v = t.input(Source::Leaf(t.sources.len()), ty.clone());
            Ok(t.slot(given.device(), ty, Some(v), None, None, grad))
        })
    }

    /// As [`Session::operand`], of another type than what is given: one sample of a batch.
    pub fn sample(&self, given: &Tensor, ty: TensorType) -> Result<Tensor> {
        self.operand(&Tensor::stand_in(given.device(), ty))
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
        self.end().ok_or_else(|| Error::invalid("trace", "the trace is gone", "report this"))
    }

    fn end(&self) -> Option<Trace> {
        TRACE.with_borrow_mut(|t| if t.last().is_some_and(|t| t.id == self.id) { t.pop() } else { None })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

impl Trace {
    pub fn new(name: &str, env: ShapeEnv, kind: Kind) -> Trace {
        let mut builder = Builder::new(name);
        builder.graph.env = env.clone();
        Trace {
            id: fresh_id(),
            segment: fresh_id(),
            name: name.to_string(),
            env,
            builder,
            slots: Vec::new(),
            sources: Vec::new(),
            breaks: Vec::new(),
            notes: Vec::new(),
            kind,
            regions: 0,
        }
    }

    fn slot(
        &mut self,
        device: &Device,
        ty: TensorType,
        value: Option<ValueId>,
        concrete: Option<Tensor>,
        leaf: Option<usize>,
        grad: Option<Grad>,
    ) -> Tensor {
        let slot = Arc::new(Slot { trace: self.id, index: self.slots.len(), ty: ty.clone(), resolved: OnceLock::new() });
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
            Data::Freed => Err(Error::op("backward", t.to_string(), FREED, "")),
            Data::Traced(slot) if slot.resolved().is_some() => {
                if matches!(self.kind, Kind::Record(_)) {
                    return self.outside(t, false);
                }
                let value = slot.resolved().cloned();
                value.map_or_else(|| Err(escaped(t)), |value| self.value(&value))
            }
            // Of an enclosing trace; if it is of none, that is found when this function goes into that trace. Or of an earlier part of
            // what is recorded, which has not run yet.
            Data::Traced(slot) if slot.trace != self.id && matches!(self.kind, Kind::Function | Kind::Record(_)) => self.captured(t),
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
            Data::Host(h) if h.len() == 1 && t.inner.grad.is_none() && matches!(self.kind, Kind::Compile { .. }) => {
                let value = aludel_runtime::decode(h.words(), t.dtype())[0];
                let shape = t.dims().to_vec();
                self.builder.full(&shape, value, t.dtype())
            }
            _ => self.captured(t),
        }
    }

    // A tensor from outside as an input. A function's derivatives go on into what it captures, so it keeps the place on the tape.
    fn captured(&mut self, t: &Tensor) -> Result<ValueId> {
        if matches!(self.kind, Kind::Record(_)) {
            return self.outside(t, false);
        }
        let function = matches!(self.kind, Kind::Function);
        let known = self.sources.iter().position(|s| matches!(s, Source::Capture(c) if same_value(c, t) && (!function || same_grad(c, t))));
        Ok(match known {
            Some(i) => self.builder.graph.inputs[i].value,
            None => self.input(Source::Capture(if function { t.clone() } else { t.detach() }), t.ty().clone()),
        })
    }

    /// The values that are still held by somebody though the function is over, but for some: tensors that it left behind.
    pub fn left_behind(&self, but: &[Tensor]) -> Vec<(Arc<Slot>, ValueId)> {
        let known: Vec<usize> = but
            .iter()
            .filter_map(|t| match &t.inner.data {
                Data::Traced(slot) if slot.trace == self.id => Some(slot.index),
                _ => None,
            })
            .collect();
        let held = self.slots.iter().filter_map(|s| Some((s.held.upgrade()?, s.value?)));
        held.filter(|(slot, _)| !known.contains(&slot.index)).collect()
    }

    fn at(&mut self, at: &'static Location<'static>) {
        self.builder.location = match &self.kind {
            // Where it stands in the program is said by whoever records.
            Kind::Record(record) => record.location.clone(),
            _ => Some(location(at)),
        };
    }

    /// The leaf that a traced tensor stands for, unchanged.
    pub fn leaf_of(&self, t: &Tensor) -> Option<usize> {
        match &t.inner.data {
            Data::Traced(slot) if slot.trace == self.id => self.slots.get(slot.index)?.leaf,
            Data::Traced(slot) => self.leaf_of(slot.resolved()?),
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
            let Kind::Compile { segments, .. } = &self.kind else {
                return Err(Error::invalid("trace", "a function to be transformed has no segments", "report this"));
            };
            let results = segments.run(&device, graph, &sizes, &inputs)?;
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
            Data::Traced(slot) => self.concrete(slot.resolved()?),
            _ => Some(t.detach()),
        }
    }
}

fn concrete_type(env: &ShapeEnv, ty: &TensorType) -> TensorType {
    let size = |d: &Dim| env.hint(d).map_or_else(|| d.clone(), Dim::Const);
    TensorType { dtype: ty.dtype, shape: ty.shape.iter().map(size).collect() }
}

pub(crate) fn same_value(a: &Tensor, b: &Tensor) -> bool {
    match (&a.inner.data, &b.inner.data) {
        (Data::Host(x), Data::Host(y)) => Arc::ptr_eq(x, y) && a.ty() == b.ty(),
        (Data::Device { storage: x, .. }, Data::Device { storage: y, .. }) => Arc::ptr_eq(x, y) && a.ty() == b.ty(),
        (Data::Traced(x), Data::Traced(y)) => Arc::ptr_eq(x, y),
        _ => false,
    }
}

// Whether two tensors are at the same place on the tape.
fn same_grad(a: &Tensor, b: &Tensor) -> bool {
    a.inner.cut == b.inner.cut
        && match (&a.inner.grad, &b.inner.grad) {
            (None, None) => true,
            (Some(Grad::Leaf(x)), Some(Grad::Leaf(y))) => x.id == y.id,
            (Some(Grad::Node(x, i)), Some(Grad::Node(y, j))) => Arc::ptr_eq(x, y) && i == j,
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
        let tensors = operands.iter().filter_map(|o| match o {
            Operand::Tensor(x) => Some(*x),
            _ => None,
        });
        t.leaves_come_from_outside(tensors, recording)?;
        t.at(at);
        let mut values = Vec::with_capacity(operands.len());
        for o in operands {
            values.push(match o {
                Operand::Tensor(x) => t.operand(x, recording)?,
                number => {
                    let l = literal(operands, number);
                    t.builder.constant(l.value(), l.dtype)?
                }
            });
        }
        let results = t.operator(def, &values, attrs)?;
        let tainted = |o: &Operand| matches!(o, Operand::Tensor(x) if x.inner.cut || x.inner.grad.is_some());
        let cut = !recording && operands.iter().any(tainted);
        let results = t.results(device, &results, cut);
        t.close_when_full()?;
        Ok(results)
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
            operands.push(t.operand(leaf, true)?);
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

/// Adds the nodes of a graph with its inputs bound to tensors; gives its outputs. `recording`: whether gradients are to flow through it.
pub(crate) fn inline(
    device: &Device,
    graph: &Graph,
    env: &ShapeEnv,
    inputs: &[&Tensor],
    recording: bool,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    with(|t| {
        t.leaves_come_from_outside(inputs.iter().copied(), recording)?;
        t.at(at);
        t.take_guards(env);
        let mut map: Vec<Option<ValueId>> = vec![None; graph.types.len()];
        for (i, x) in graph.inputs.iter().zip(inputs) {
            let v = i.value;
            if graph.reads(v) {
                map[v.index()] = Some(t.operand(x, recording)?);
            }
        }
        let lost = || Error::invalid("trace", "a value is used before it is made", "report this");
        let (base, call) = (t.regions, t.builder.location.clone());
        for node in &graph.nodes {
            let operands = node.inputs.iter().map(|v| map[v.index()].ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
            // Regions of one function are told from those of another.
            let region = node.origin.checkpoint.map(|r| base.saturating_add(r));
            t.regions = t.regions.max(region.map_or(0, |r| r.saturating_add(1)));
            t.builder.origin = Origin { nodes: Vec::new(), phase: node.origin.phase, checkpoint: region };
            t.builder.location = node.location.clone().or_else(|| call.clone());
            let types = node.outputs.iter().map(|v| graph.ty(*v).clone()).collect();
            let results = aludel_ir::rewrite::emit(&mut t.builder, &node.op, &operands, types, &|_| false)?;
            for (v, r) in node.outputs.iter().zip(results) {
                map[v.index()] = Some(r);
            }
        }
        t.builder.origin = Origin::default();
        let values = graph.outputs.iter().map(|o| map[o.value.index()].ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
        Ok(t.results(device, &values, !recording && inputs.iter().any(|x| x.inner.cut || x.inner.grad.is_some())))
    })
}

/// Adds a function as one node. `env` has the guards that its graphs assume. What was let go of and is not read is any value of its shape.
pub(crate) fn call_function(
    device: &Device,
    function: &Arc<Function>,
    env: &ShapeEnv,
    inputs: &[&Tensor],
    recording: bool,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    with(|t| {
        t.leaves_come_from_outside(inputs.iter().copied(), recording)?;
        t.at(at);
        t.take_guards(env);
        let values = function.body.inputs.iter().zip(inputs).map(|(i, x)| match &x.inner.data {
            Data::Freed if !function.body.reads(i.value) => t.builder.full(&x.ty().shape, 0.0, x.dtype()),
            _ => t.operand(x, recording),
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let types = function.body.outputs.iter().map(|o| function.body.ty(o.value).clone()).collect();
        let results = t.builder.push(Op::Function(function.clone()), &values, types);
        Ok(t.results(device, &results, !recording && inputs.iter().any(|x| x.inner.cut || x.inner.grad.is_some())))
    })
}

impl Trace {
    // Whether a tensor comes into what is recorded from before it.
    fn is_outside(&self, x: &Tensor) -> bool {
        matches!(self.kind, Kind::Record(_))
            && match &x.inner.data {
                Data::Traced(slot) => slot.trace != self.id || slot.resolved().is_some(),
                Data::Host(_) | Data::Device { .. } => true,
                Data::Freed => false,
            }
    }

    // Such a tensor as an input. `recording`: whether gradients are to flow through what reads it.
    fn outside(&mut self, t: &Tensor, recording: bool) -> Result<ValueId> {
        let next = self.sources.len();
        let Kind::Record(record) = &mut self.kind else { return Err(escaped(t)) };
        let (at, new) = record.place(t, recording, next);
        if new {
            self.input(Source::Capture(t.clone()), t.ty().clone());
        }
        Ok(self.builder.graph.inputs[at].value)
    }

    // Ends the region before an operator that reads a leaf which was made in it: equal values are one node of a graph, and two copies of a
    // weight have gradients of their own. As inputs they are two.
    fn leaves_come_from_outside<'t>(&mut self, mut operands: impl Iterator<Item = &'t Tensor>, recording: bool) -> Result<()> {
        let made_here = |x: &Tensor| x.leaf_id().is_some() && !self.is_outside(x);
        let ends = recording && matches!(self.kind, Kind::Record(_)) && operands.any(made_here);
        if ends { self.close() } else { Ok(()) }
    }

    // What a graph built on a copy of the environment found out.
    fn take_guards(&mut self, env: &ShapeEnv) {
        for g in &env.guards {
            if !self.builder.graph.env.guards.contains(g) {
                self.builder.graph.env.guards.push(g.clone());
            }
        }
    }

    // Gradients must not flow past what was computed without recording. Equal prims are one node.
    fn operand(&mut self, x: &Tensor, recording: bool) -> Result<ValueId> {
        if self.is_outside(x) {
            return self.outside(x, recording);
        }
        let v = self.value(x)?;
        if recording && x.inner.cut { self.builder.prim(Prim::Detach, &[v]) } else { Ok(v) }
    }

    /// The value of a function's result; what was computed without recording is cut off from derivatives.
    pub fn result(&mut self, t: &Tensor) -> Result<ValueId> {
        self.operand(t, true)
    }
}

/// Says what a tensor that a function left behind is.
pub(crate) fn resolve(slot: &Slot, value: Tensor) {
    let _ = slot.resolved.set(value);
}

/// Says something of how the function that is being captured was captured, for [`crate::Explanation`]: why a module did not take a
/// faster way. Outside of a capture nothing happens.
#[track_caller]
pub fn note(text: impl Into<String>) {
    let at = location(Location::caller());
    TRACE.with_borrow_mut(|traces| {
        // The outermost is the compiled function, whose explanation has the note.
        if let Some(t) = traces.first_mut() {
            let note = Break { location: at, reason: text.into() };
            if !t.notes.contains(&note) {
                t.notes.push(note);
            }
        }
    });
}

/// The value behind a traced tensor: runs the segment so far. This is a graph break.
pub(crate) fn read(x: &Tensor, reader: &str, at: &'static Location<'static>) -> Result<Tensor> {
    if crate::record::is_recording() {
        crate::record::resolve(&[x])?;
        let Data::Traced(slot) = &x.inner.data else { return Ok(x.detach()) };
        return slot.resolved().cloned().ok_or_else(|| escaped(x));
    }
    with(|t| {
        let reason = format!("{reader} reads the value of {} on the host", show_in(&t.builder.graph.env, x.ty()));
        let Kind::Compile { whole, .. } = &t.kind else {
            return Err(Error::unsupported(
                format!("a graph break at {}, inside a function that is transformed: {reason}", location(at)),
                "return the tensor and read it outside of grad, vjp, jvp, vmap, checkpoint or custom derivative",
            ));
        };
        if *whole {
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

/// Whether two sizes are equal; in a trace that may be assumed, and is guarded then.
pub(crate) fn sizes_agree(a: &Dim, b: &Dim) -> bool {
    a == b || with(|t| Ok(t.builder.graph.env.equal(a, b, "samples of several arguments agree in number"))).unwrap_or(false)
}

pub(crate) fn show_size(d: &Dim) -> String {
    env().show(d)
}

fn show_in(env: &ShapeEnv, ty: &TensorType) -> String {
    env.show_type(ty)
}

pub(crate) fn show_type(ty: &TensorType) -> String {
    TRACE.with(|t| match t.try_borrow() {
        Ok(t) => match t.last() {
            Some(t) => show_in(&t.builder.graph.env, ty),
            None => ty.to_string(),
        },
        Err(_) => ty.to_string(),
    })
}

pub(crate) fn escaped(t: &Tensor) -> Error {
    Error::op("read", t.to_string(), "a traced tensor left the compiled function and has no value", "return it from the function instead")
}
