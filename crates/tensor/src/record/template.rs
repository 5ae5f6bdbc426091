//! Templates: a region that was recorded once, to be run again on other values without recording it.

use super::{Closed, Held, with};
use crate::host::HostData;
use crate::tensor::{Data, Tensor};
use crate::trace::{Slot, SlotState, Source, Trace};
use crate::{Mutex, lock};
use aludel_ir::{Error, Graph, InputKind, Result, TensorType, ValueId};
use aludel_runtime::{Executable, Memory};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A recorded region.
pub struct Template {
    graph: Arc<Graph>,
    /// Of the trace that it was recorded in: tells its slots from others.
    trace: u64,
    slots: Vec<Entry>,
    /// The values that went in, until [`Template::take_sources`].
    sources: Mutex<Vec<Tensor>>,
    ready: Mutex<Vec<Arc<Ready>>>,
}

/// A value that was made.
struct Entry {
    value: Option<ValueId>,
    ty: TensorType,
    /// The input whose place it takes.
    replaces: Option<usize>,
}

/// Results, with the inputs whose places they take, and which inputs lie in a block.
type Form = (Vec<(ValueId, Option<usize>)>, Vec<bool>);

/// A program of the region's graph, for some of its values as results.
pub(super) struct Ready {
    pub form: Form,
    pub sizes: Vec<i64>,
    pub inputs: Vec<usize>,
    pub kinds: Vec<InputKind>,
    pub executable: Arc<dyn Executable>,
    pub runs: Arc<AtomicU64>,
}

/// So many programs of one template are kept.
const MAX_READY: usize = 16;

/// What tells one value from another, while both are alive. A recorded value and what became of it are two here.
pub fn identity(t: &Tensor) -> usize {
    match &t.inner.data {
        Data::Host(h) => Arc::as_ptr(h).addr(),
        Data::Device { storage, .. } => Arc::as_ptr(storage).cast::<()>().addr(),
        Data::Traced(slot) => Arc::as_ptr(slot).addr(),
        Data::Freed => 0,
    }
}

/// Keeps the place of a value taken, not the value: while it is there, no other value has its [`identity`].
pub struct Pin {
    _of: Pinned,
}

#[expect(dead_code, reason = "held, never read")]
enum Pinned {
    Host(std::sync::Weak<HostData>),
    Device(std::sync::Weak<dyn Memory>),
    Traced(std::sync::Weak<Slot>),
    Freed,
}

/// Pins a value.
pub fn pin(t: &Tensor) -> Pin {
    let of = match &t.inner.data {
        Data::Host(h) => Pinned::Host(Arc::downgrade(h)),
        Data::Device { storage, .. } => Pinned::Device(Arc::downgrade(storage)),
        Data::Traced(slot) => Pinned::Traced(Arc::downgrade(slot)),
        Data::Freed => Pinned::Freed,
    };
    Pin { _of: of }
}

/// Pins what a value has become.
pub fn pin_settled(t: &Tensor) -> Pin {
    match &t.inner.data {
        Data::Traced(slot) => slot.resolved().map_or_else(|| pin(t), pin_settled),
        _ => pin(t),
    }
}

/// Keeps templates of the regions that end from here on, or of none any more.
pub fn watch(on: bool) {
    let _ = with(|trace| {
        trace.record()?.watched = on.then(Vec::new);
        Ok(())
    });
}

/// The regions that ended since [`watch`] or the last call.
pub fn take_templates() -> Vec<Arc<Template>> {
    let taken = with(|trace| Ok(trace.record()?.watched.as_mut().map(std::mem::take).unwrap_or_default()));
    taken.and_then(Result::ok).unwrap_or_default()
}

/// Has a region run on other values: it waits as one does that was recorded and has ended, and the one before it for [`catch_up`]. Gives
/// the wanted ones of its values, by their places. `in_place` says whether values that replace others may be written where those lie:
/// nobody needs the old ones any more.
///
/// # Errors
///
/// When there is another number of values, or one has another type; as [`super::close`].
pub fn replay(template: &Arc<Template>, sources: Vec<Tensor>, wanted: &[usize], in_place: bool) -> Result<Vec<Tensor>> {
    let nothing = || Err(Error::invalid("replay", "nothing is being recorded", "report this"));
    with(|trace| {
        set_aside_now(trace)?;
        let t = &**template;
        let fits = |(s, i): (&Tensor, &aludel_ir::graph::Input)| s.ty() == t.graph.ty(i.value);
        if sources.len() != t.graph.inputs.len() || !sources.iter().zip(&t.graph.inputs).all(fits) {
            return Err(Error::invalid("replay", "the values do not fit the region", "report this"));
        }
        let record = trace.record()?;
        let mut slots = Vec::with_capacity(wanted.len());
        let mut made = Vec::with_capacity(wanted.len());
        for index in wanted {
            let entry = t.slots.get(*index).and_then(|e| Some((e, e.value?)));
            let (entry, value) = entry.ok_or_else(|| Error::invalid("replay", "a value is lost", "report this"))?;
            let slot = Arc::new(Slot::new(t.trace, *index, entry.ty.clone()));
            slots.push(Held { slot: Arc::downgrade(&slot), value, replaces: entry.replaces.filter(|_| in_place) });
            made.push(Tensor::make(record.device.clone(), entry.ty.clone(), Data::Traced(slot), None));
        }
        let sources = sources.into_iter().map(Source::Capture).collect();
        let closed = Closed { graph: t.graph.clone(), sources, slots, template: Some(template.clone()) };
        record.pending = Some(closed);
        Ok(made)
    })
    .unwrap_or_else(nothing)
}

/// Ends a region; it and the one before it wait for [`catch_up`], or for the next that ends.
///
/// # Errors
///
/// None where it only waits.
pub fn set_aside() -> Result<()> {
    with(set_aside_now).unwrap_or(Ok(()))
}

fn set_aside_now(trace: &mut crate::trace::Trace) -> Result<()> {
    let record = trace.record()?;
    record.behind.extend(record.pending.take());
    let behind = std::mem::take(&mut record.behind);
    trace.close()?;
    let record = trace.record()?;
    record.behind = behind;
    record.behind.extend(record.pending.take());
    Ok(())
}

/// Runs the regions that those from [`replay`] took the place of: once the values that they replace are let go of, so that only what is
/// still held becomes a result.
///
/// # Errors
///
/// As [`super::close`].
pub fn catch_up() -> Result<()> {
    let run = |trace: &mut Trace| {
        trace.record()?.catch_up()?;
        trace.find_inputs_anew();
        Ok(())
    };
    with(run).unwrap_or(Ok(()))
}

impl super::Record {
    pub(super) fn catch_up(&mut self) -> Result<()> {
        for closed in std::mem::take(&mut self.behind) {
            self.programs.run(&self.device, closed, false)?;
        }
        Ok(())
    }
}

impl Template {
    pub(super) fn of(
        trace: u64,
        graph: &Arc<Graph>,
        sources: &[Source],
        slots: &[SlotState],
        replaced: &FxHashMap<usize, usize>,
    ) -> Arc<Template> {
        let given = |s: &Source| match s {
            Source::Capture(t) => Some(t.clone()),
            Source::Leaf(_) => None,
        };
        let entry = |(i, s): (usize, &SlotState)| Entry { value: s.value, ty: s.ty.clone(), replaces: replaced.get(&i).copied() };
        Arc::new(Template {
            graph: graph.clone(),
            trace,
            slots: slots.iter().enumerate().map(entry).collect(),
            sources: Mutex::new(sources.iter().filter_map(given).collect()),
            ready: Mutex::default(),
        })
    }

    /// The values that went in, in the order in which [`replay`] wants others; once.
    pub fn take_sources(&self) -> Vec<Tensor> {
        std::mem::take(&mut *lock(&self.sources))
    }

    /// The types of the values that go in.
    pub fn input_types(&self) -> Vec<&TensorType> {
        self.graph.inputs.iter().map(|i| self.graph.ty(i.value)).collect()
    }

    /// The place of a value that was made in it.
    pub fn place_of(&self, t: &Tensor) -> Option<usize> {
        match &t.inner.data {
            Data::Traced(slot) if slot.trace == self.trace => self.slots.get(slot.index)?.value.map(|_| slot.index),
            _ => None,
        }
    }

    /// Whether values of it take the place of inputs.
    pub fn replaces_inputs(&self) -> bool {
        self.slots.iter().any(|s| s.replaces.is_some())
    }

    /// The place that a value has in the order of the region's results.
    pub(super) fn ready(&self, wanted: &[(ValueId, Option<usize>)], state: &[bool]) -> Option<Arc<Ready>> {
        lock(&self.ready).iter().find(|r| r.form.0 == wanted && r.form.1 == state).cloned()
    }

    pub(super) fn keep(&self, ready: Arc<Ready>) {
        let mut list = lock(&self.ready);
        if list.len() >= MAX_READY {
            list.clear();
        }
        list.push(ready);
    }

    pub(super) fn forget(&self) {
        lock(&self.ready).clear();
    }
}
