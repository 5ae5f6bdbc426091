//! Recording: operators of a running program are written down instead of run, and run together as one compiled graph.
//!
//! Nothing is guarded and nothing can be missed: the program itself runs, each time, and says which operators it wants; a graph that was
//! compiled before is found again by being equal. A region of the program ends with [`close`]; what it computed runs when the next region
//! ends, or when somebody asks for a value ([`resolve`]). Waiting for the next region is what tells which values nobody wants: gradients
//! that the next step forgets, and the tensors of a step that its variables hold until they are assigned again. Only values that are held
//! by then are results of the graph.
//!
//! A value that replaced another ([`replaces`]) is written in its place, when nobody else holds the old one.

mod apart;
#[cfg(not(target_arch = "wasm32"))]
mod deduced;
mod derivatives;
mod general;
mod program;
mod sites;
mod template;
mod types;

use crate::device::Device;
use crate::tensor::{Data, Tensor};
use crate::trace::{self, Kind, Slot, SlotState, Source, TRACE, Trace};
use aludel_compiler::Options;
use aludel_ir::{Attrs, Graph, Op, OpDef, Result, ShapeEnv, TensorType, ValueId};
use derivatives::Derivatives;
use program::Programs;
use rustc_hash::FxHashMap;
use sites::Sites;

use std::collections::BTreeMap;
use std::sync::Arc;
use types::Types;

#[cfg(not(target_arch = "wasm32"))]
pub use deduced::{Deduced, deduce};
pub use program::Region;
pub use template::{Pin, Template, catch_up, identity as value_identity, pin, pin_settled, replay, set_aside, take_templates, watch};

/// A region with more operators than these ends by itself: a loop that reads nothing would be written down without end.
const MAX_NODES: usize = 4000;

type Operator = fn(&mut Trace, &'static OpDef, &[ValueId], &Attrs) -> Result<Vec<ValueId>>;

/// What was recorded so far and did not run.
pub(crate) struct Record {
    /// How an operator is written down, a region ends, what waits runs, and a derivative is found: by the recorder's word, so that a
    /// program without one does not carry them.
    operator: Operator,
    close: fn(&mut Trace) -> Result<()>,
    run_pending: fn(&mut Trace) -> Result<()>,
    derivative: fn(&mut Trace, &Op, &[TensorType], &[bool], &[bool]) -> Result<Arc<Graph>>,
    types: Types,
    derivatives: Derivatives,
    device: Device,
    programs: Programs,
    /// The region before the present one.
    pending: Option<Closed>,
    /// Inputs by the value that they are.
    places: FxHashMap<usize, Vec<Entry>>,
    /// For each slot whose value replaced another's: that one.
    replaced: FxHashMap<usize, Old>,
    /// Where in the program the next operator stands.
    pub location: Option<String>,
    sites: Sites,
    /// Regions that ended since [`watch`] was asked for.
    watched: Option<Vec<Arc<Template>>>,
    /// Regions that wait for [`catch_up`].
    behind: Vec<Closed>,
    /// Whether regions whose graphs are new wait so, for their kernels.
    waits: bool,
    /// How often values were read in the middle of a region, by the place in the program.
    breaks: BTreeMap<String, u64>,
}

/// An input of the graph.
struct Entry {
    /// The leaf of the tape that it is.
    leaf: Option<u64>,
    /// Whether it was read, as no leaf, by an operator that gradients flow through: then it cannot become a leaf.
    plain: bool,
    at: usize,
}

/// A value that was replaced.
#[derive(Clone, Copy)]
enum Old {
    Input(usize),
    Slot(usize),
}

/// A region that is recorded and waits to run.
struct Closed {
    graph: Arc<Graph>,
    sources: Vec<Source>,
    slots: Vec<Held>,
    /// What it was made from, where that is known: its programs are found without comparing graphs.
    template: Option<Arc<Template>>,
}

/// A value of a region that somebody may hold.
struct Held {
    slot: std::sync::Weak<Slot>,
    value: ValueId,
    /// The input whose place it takes.
    replaces: Option<usize>,
}

/// How often what was done, since the recorder was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Graphs compiled.
    pub compiled: u64,
    /// Graphs run as they were compiled.
    pub run: u64,
    /// Regions that ended because somebody asked for a value in the middle.
    pub forced: u64,
}

/// Records the operators of a program, while it is entered.
pub struct Recorder {
    /// While it is not entered.
    trace: Option<Trace>,
}

impl Recorder {
    /// A recorder for programs whose tensors are on one device.
    pub fn new(device: &Device, options: Options) -> Recorder {
        let record = Record {
            operator: Trace::operator_now,
            close: Trace::close_now,
            run_pending: Trace::run_pending_now,
            derivative: Trace::derivative_now,
            types: Types::default(),
            derivatives: Derivatives::default(),
            device: device.clone(),
            programs: Programs::new(options),
            pending: None,
            places: FxHashMap::default(),
            replaced: FxHashMap::default(),
            location: None,
            sites: Sites::default(),
            watched: None,
            behind: Vec::new(),
            waits: false,
            breaks: BTreeMap::new(),
        };
        Recorder { trace: Some(Trace::new("region", ShapeEnv::default(), Kind::Record(Box::new(record)))) }
    }

    /// Records what is done on this thread until the answer is dropped.
    pub fn enter(&mut self) -> Entered<'_> {
        if let Some(trace) = self.trace.take() {
            TRACE.with_borrow_mut(|t| t.push(trace));
        }
        Entered(self)
    }
}

/// A recorder at work.
pub struct Entered<'r>(&'r mut Recorder);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.trace = TRACE.with_borrow_mut(|t| {
            // Functions that a panic left behind lie above it.
            let at = t.iter().rposition(|t| matches!(t.kind, Kind::Record(_)))?;
            t.truncate(at + 1);
            t.pop()
        });
    }
}

fn with<R>(f: impl FnOnce(&mut Trace) -> Result<R>) -> Option<Result<R>> {
    TRACE.with_borrow_mut(|t| t.last_mut().filter(|t| matches!(t.kind, Kind::Record(_))).map(f))
}

/// Whether operators on this thread are recorded.
pub fn is_recording() -> bool {
    TRACE.with_borrow(|t| t.last().is_some_and(|t| matches!(t.kind, Kind::Record(_))))
}

/// Ends a region: the one before it runs, and this one when the next ends. Nothing happens where nothing is recorded.
///
/// # Errors
///
/// What compiling or running the region gives: a graph that the device's target cannot compile, or that takes more memory than it has; a
/// failed device.
pub fn close() -> Result<()> {
    with(Trace::close).unwrap_or(Ok(()))
}

/// Runs what some tensors need to have values.
///
/// # Errors
///
/// As [`close`].
pub fn resolve(tensors: &[&Tensor]) -> Result<()> {
    let unresolved = |t: &&&Tensor| matches!(&t.inner.data, Data::Traced(slot) if slot.resolved().is_none());
    if !tensors.iter().any(|t| unresolved(&t)) {
        return Ok(());
    }
    let run = |trace: &mut Trace| {
        let id = trace.id;
        let present = |t: &&Tensor| matches!(&t.inner.data, Data::Traced(slot) if slot.trace == id);
        if tensors.iter().any(present) {
            let record = trace.record()?;
            record.programs.counts.forced += 1;
            if let Some(at) = record.location.clone() {
                *record.breaks.entry(at).or_default() += 1;
            }
            trace.close()?;
        }
        trace.run_pending()
    };
    with(run).unwrap_or(Ok(()))
}

/// Runs everything that was recorded.
///
/// # Errors
///
/// As [`close`].
pub fn flush() -> Result<()> {
    with(|trace| {
        trace.close()?;
        trace.run_pending()
    })
    .unwrap_or(Ok(()))
}

/// Says that a value takes the place of another, which nobody needs any more unless somebody else holds it.
pub fn replaces(new: &Tensor, old: &Tensor) {
    let _ = with(|trace| {
        let Data::Traced(slot) = &new.inner.data else { return Ok(()) };
        if slot.trace != trace.id || slot.resolved().is_some() || new.ty() != old.ty() {
            return Ok(());
        }
        let id = trace.id;
        let record = trace.record()?;
        let place = match &old.inner.data {
            Data::Traced(o) if o.trace == id && o.resolved().is_none() => Some(Old::Slot(o.index)),
            _ => record.known(old).map(Old::Input),
        };
        if let Some(place) = place {
            record.replaced.insert(slot.index, place);
        }
        Ok(())
    });
}

/// Says that an operator comes next, whose numbers [`changes`] then asks for.
pub fn operator(name: &str) {
    let _ = with(|trace| {
        trace.record()?.sites.operator(name);
        Ok(())
    });
}

/// Whether a number of the program, given to the present operator under a name, has changed since a region like this one was recorded
/// first. Such a number should be an input of the graph: as a constant, each of its values would be a graph of its own.
pub fn changes(name: &str, value: f64) -> bool {
    with(|trace| Ok(trace.record()?.sites.changes(name, value))).and_then(Result::ok).unwrap_or(false)
}

/// Says where in the program the operators stand that are recorded from here on.
pub fn set_location(location: Option<String>) {
    let _ = with(|trace| {
        trace.record()?.location = location;
        Ok(())
    });
}

/// How many operators the present region has so far.
pub fn length() -> usize {
    with(|trace| Ok(trace.builder.graph.nodes.len())).and_then(Result::ok).unwrap_or_default()
}

/// Lets regions whose graphs are new wait until [`catch_up`] or the next region, so that whoever drives the program can wait for their
/// kernels first ([`is_behind`]).
pub fn let_wait(on: bool) {
    let _ = with(|trace| {
        trace.record()?.waits = on;
        Ok(())
    });
}

/// Whether regions wait for [`catch_up`].
pub fn is_behind() -> bool {
    with(|trace| Ok(!trace.record()?.behind.is_empty())).and_then(Result::ok).unwrap_or(false)
}

/// Whether a tensor is of a region that did not run.
pub fn is_pending(t: &Tensor) -> bool {
    match &t.inner.data {
        Data::Traced(slot) => slot.resolved().is_none_or(is_pending),
        _ => false,
    }
}

/// Where in the program values were read in the middle of a region, and how often.
pub fn breaks() -> Vec<(String, u64)> {
    let all = |trace: &mut Trace| Ok(trace.record()?.breaks.iter().map(|(at, n)| (at.clone(), *n)).collect());
    with(all).and_then(Result::ok).unwrap_or_default()
}

/// What was done so far.
pub fn counts() -> Counts {
    with(|trace| Ok(trace.record()?.programs.counts)).and_then(Result::ok).unwrap_or_default()
}

/// The graphs that were compiled, in the order in which they were first run.
pub fn regions() -> Vec<Region> {
    with(|trace| Ok(trace.record()?.programs.regions())).and_then(Result::ok).unwrap_or_default()
}

/// What tells one value from another, by what it has become.
pub fn settled_identity(t: &Tensor) -> usize {
    match &t.inner.data {
        Data::Host(h) => Arc::as_ptr(h).addr(),
        Data::Device { storage, .. } => Arc::as_ptr(storage).cast::<()>().addr(),
        Data::Traced(slot) => match slot.resolved() {
            Some(t) => settled_identity(t),
            None => Arc::as_ptr(slot).addr(),
        },
        Data::Freed => 0,
    }
}

impl Record {
    /// The input that a tensor from outside is, and whether it is a new one. A value is one input, but two leaves are two, so that each
    /// has a gradient of its own; and so are a leaf and its value cut off from the tape, where gradients flow through what reads that.
    pub fn place(&mut self, t: &Tensor, recording: bool, next: usize) -> (usize, bool) {
        let leaf = t.leaf_id();
        let list = self.places.entry(settled_identity(t)).or_default();
        let fits = |e: &&mut Entry| match leaf {
            Some(_) => e.leaf == leaf || (e.leaf.is_none() && !e.plain),
            None => !recording || e.leaf.is_none(),
        };
        if let Some(e) = list.iter_mut().find(fits) {
            e.leaf = e.leaf.or(leaf);
            e.plain |= leaf.is_none() && recording;
            return (e.at, false);
        }
        list.push(Entry { leaf, plain: leaf.is_none() && recording, at: next });
        (next, true)
    }

    fn known(&self, t: &Tensor) -> Option<usize> {
        let leaf = t.leaf_id();
        let list = self.places.get(&settled_identity(t))?;
        list.iter().find(|e| leaf.is_none() || e.leaf == leaf).or(list.first()).map(|e| e.at)
    }

    // Follows replacements back to the input whose place a slot's value takes.
    fn origins(&self, count: usize) -> FxHashMap<usize, usize> {
        let mut out = FxHashMap::default();
        for slot in self.replaced.keys() {
            let (mut at, mut steps) = (*slot, 0);
            while let Some(old) = self.replaced.get(&at)
                && steps <= count
            {
                steps += 1;
                match old {
                    Old::Input(i) => {
                        out.insert(*slot, *i);
                        break;
                    }
                    Old::Slot(earlier) => at = *earlier,
                }
            }
        }
        out
    }
}

impl Trace {
    fn record(&mut self) -> Result<&mut Record> {
        match &mut self.kind {
            Kind::Record(record) => Ok(record),
            _ => Err(aludel_ir::Error::invalid("record", "nothing is being recorded", "report this")),
        }
    }

    /// Ends the region when so much is recorded that it should run.
    pub(crate) fn close_when_full(&mut self) -> Result<()> {
        let full = matches!(self.kind, Kind::Record(_)) && self.builder.graph.nodes.len() >= MAX_NODES;
        if full { self.close() } else { Ok(()) }
    }

    /// Adds an operator's node.
    pub(crate) fn operator(&mut self, def: &'static OpDef, operands: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        match &self.kind {
            Kind::Record(record) => (record.operator)(self, def, operands, attrs),
            _ => self.builder.operator(def, operands, attrs),
        }
    }

    fn operator_now(&mut self, def: &'static OpDef, operands: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        match &mut self.kind {
            Kind::Record(record) => record.types.operator(&mut self.builder, def, operands, attrs),
            _ => self.builder.operator(def, operands, attrs),
        }
    }

    /// The derivative of an operator of the tape.
    pub(crate) fn derivative(&mut self, op: &Op, operands: &[TensorType], needs: &[bool], present: &[bool]) -> Result<Arc<Graph>> {
        match &self.kind {
            Kind::Record(record) => (record.derivative)(self, op, operands, needs, present),
            _ => Ok(Arc::new(aludel_compiler::autodiff::vjp_graph_in(&self.builder.graph.env, op, operands, needs, present)?)),
        }
    }

    fn derivative_now(&mut self, op: &Op, operands: &[TensorType], needs: &[bool], present: &[bool]) -> Result<Arc<Graph>> {
        self.record()?.derivatives.of(op, operands, needs, present)
    }

    pub(crate) fn close(&mut self) -> Result<()> {
        (self.record()?.close)(self)
    }

    fn run_pending(&mut self) -> Result<()> {
        (self.record()?.run_pending)(self)
    }

    fn close_now(&mut self) -> Result<()> {
        if self.builder.graph.nodes.is_empty() && self.sources.is_empty() {
            return Ok(());
        }
        let empty = Trace::new("region", ShapeEnv::default(), Kind::Function);
        let fresh = std::mem::replace(self, empty);
        self.kind = fresh.kind;
        let record = self.record()?;
        let replaced = record.origins(fresh.slots.len());
        record.replaced.clear();
        record.places.clear();
        record.sites.prefix = 0;
        let held = |(i, s): (usize, &SlotState)| Some(Held { slot: s.held.clone(), value: s.value?, replaces: replaced.get(&i).copied() });
        let graph = Arc::new(fresh.builder.graph);
        let template = record.watched.is_some().then(|| Template::of(fresh.id, &graph, &fresh.sources, &fresh.slots, &replaced));
        let closed = Closed { slots: fresh.slots.iter().enumerate().filter_map(held).collect(), graph, sources: fresh.sources, template };
        if let (Some(list), Some(made)) = (&mut record.watched, &closed.template) {
            list.push(made.clone());
        }
        record.catch_up()?;
        if let Some(before) = record.pending.replace(closed) {
            let waiting = record.programs.run(&record.device, before, record.waits)?;
            record.behind.extend(waiting);
        }
        Ok(())
    }

    fn run_pending_now(&mut self) -> Result<()> {
        let record = self.record()?;
        record.catch_up()?;
        if let Some(closed) = record.pending.take() {
            record.programs.run(&record.device, closed, false)?;
        }
        self.find_inputs_anew();
        Ok(())
    }

    // After regions ran in the middle of this one: its inputs are found by what their values have become. A leaf that was found no more
    // would be a second input, and its gradient zero.
    fn find_inputs_anew(&mut self) {
        let Kind::Record(record) = &mut self.kind else { return };
        let mut entries: Vec<Entry> = std::mem::take(&mut record.places).into_values().flatten().collect();
        entries.sort_by_key(|e| e.at);
        for entry in entries {
            if let Some(Source::Capture(t)) = self.sources.get(entry.at) {
                record.places.entry(settled_identity(t)).or_default().push(entry);
            }
        }
    }
}

// A recorded tensor's value, held by as few as possible, so that whoever else holds it is counted.
fn concrete(t: Tensor) -> Result<Tensor> {
    match &t.inner.data {
        Data::Traced(slot) => {
            let value = slot.resolved().cloned().ok_or_else(|| trace::escaped(&t))?;
            drop(t);
            concrete(value)
        }
        _ => Ok(t),
    }
}
