//! What the bindings of a program stand for in one run: arguments are brought to their places, results taken from theirs.

use crate::measure::Measure;
use crate::memory::{Allocation, Backing, Place, Pool, Range, aligned};
use crate::{Argument, Run, Storage, guard};
use aludel_ir::kernel::Access;
use aludel_ir::order::Order;
use aludel_ir::program::{Program, Role};
use aludel_ir::{Error, Result};
use std::sync::Arc;

/// What moves words on a device, in the order in which it is told.
pub(crate) trait Mover {
    type Device: Backing;

    /// Writes words from the host, which are free to change when this returns.
    fn write(&mut self, device: &Arc<Self::Device>, to: &Place<Self::Device>, words: &[u32]) -> Result<()>;

    /// Writes words from the host to several places of one allocation, in the order of their offsets; may write anything between them.
    fn write_all(&mut self, device: &Arc<Self::Device>, to: &Arc<Allocation<Self::Device>>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()>;

    /// Copies words from one place to another.
    fn copy(&mut self, device: &Arc<Self::Device>, from: &Place<Self::Device>, to: &Place<Self::Device>, words: u64) -> Result<()>;

    /// Memory for the temporaries of all programs, which run one after the other.
    fn arenas(&mut self) -> &mut Parts<Self::Device>;
}

/// Memory for the bindings of one role: of words, then of those of two bytes ([`aludel_ir::program::Binding::halves`]); of each,
/// the parts that a program has ([`Program::part`]).
pub(crate) struct Parts<D: Backing>([Vec<Option<Arc<Allocation<D>>>>; 2]);

impl<D: Backing> Default for Parts<D> {
    fn default() -> Self {
        Parts([Vec::new(), Vec::new()])
    }
}

impl<D: Backing> Parts<D> {
    /// Memory of at least `words` words for a binding of a program.
    fn keep(&mut self, device: &Arc<D>, program: &Program, binding: usize, words: u64) -> Result<Arc<Allocation<D>>> {
        let parts = &mut self.0[program.bindings[binding].halves as usize];
        let part = program.part(binding);
        parts.resize_with(parts.len().max(part + 1), || None);
        match &mut parts[part] {
            Some(a) if a.room() >= words => Ok(a.clone()),
            slot => {
                *slot = None;
                Ok(slot.insert(Pool::allocate(device, words)?).clone())
            }
        }
    }
}

/// A binding: memory from a place on.
pub(crate) struct Bound<D: Backing> {
    pub place: Place<D>,
    pub words: u64,
}

impl<D: Backing> Bound<D> {
    /// All that follows a place in its allocation.
    fn rest(place: Place<D>) -> Self {
        Bound { words: place.allocation.words().saturating_sub(place.offset), place }
    }

    fn meets(&self, other: &Bound<D>) -> bool {
        let (a, b) = (&self.place, &other.place);
        Arc::ptr_eq(&a.allocation, &b.allocation) && a.offset < b.offset + other.words && b.offset < a.offset + self.words
    }
}

/// A program's bindings in memory for one run, and what else the run needs.
pub(crate) struct Resolved<D: Backing> {
    pub bound: Vec<Bound<D>>,
    /// For each placement in the state binding, its offset where that differs from the measure's.
    pub moved: Vec<Option<u64>>,
    /// Storages of the results that have a binding to themselves.
    results: Vec<Option<Storage>>,
}

impl<D: Backing> Resolved<D> {
    /// Whether some binding lies in an allocation.
    fn holds(&self, allocation: &Arc<Allocation<D>>) -> bool {
        self.bound.iter().any(|b| Arc::ptr_eq(&b.place.allocation, allocation))
    }
}

/// Memory that an executable keeps between runs: of the inputs bindings, and of state that is not in a block.
pub(crate) struct Kept<D: Backing> {
    inputs: Parts<D>,
    state: Parts<D>,
    offloaded: Parts<D>,
}

impl<D: Backing> Default for Kept<D> {
    fn default() -> Self {
        Kept { inputs: Parts::default(), state: Parts::default(), offloaded: Parts::default() }
    }
}

/// The range behind a storage, if it is this device's.
pub(crate) fn range<'a, D: Backing>(device: &Arc<D>, storage: &'a Storage) -> Result<&'a Range<D>> {
    let range = storage.as_any().downcast_ref::<Range<D>>().filter(|r| r.is_of(device));
    range.ok_or_else(|| Error::invalid("tensor", "is on another device", format!("move it to {} first", device.name())))
}

/// Gives every binding of a program memory, with the arguments in it.
pub(crate) fn resolve<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    program: &Program,
    kept: &mut Kept<M::Device>,
    m: &Measure,
    inputs: &[Argument],
) -> Result<Resolved<M::Device>> {
    let mut out = Resolved {
        bound: Vec::with_capacity(program.bindings.len()),
        results: vec![None; program.outputs.len()],
        moved: vec![None; program.placements.len()],
    };
    for (k, b) in program.bindings.iter().enumerate() {
        let words = m.bindings[k];
        let bound = match b.role {
            Role::Arena => {
                let arena = stream.arenas().keep(device, program, k, words)?;
                if device.guards() {
                    guard::clear(stream, device, &arena)?;
                }
                Bound::rest(Place::start(arena))
            }
            Role::Inputs => {
                let to = kept.inputs.keep(device, program, k, words)?;
                gather(stream, device, program, m, inputs, k, &to)?;
                Bound::rest(Place::start(to))
            }
            // A block that was made for larger bindings holds several of them: the further ones are copied.
            Role::State | Role::Offloaded => match state_block(device, program, inputs, k)?.filter(|b| !out.holds(b)) {
                Some(block) => {
                    for (input, placement) in inputs.iter().zip(&program.inputs) {
                        if let (Argument::Device(s), true) = (input, program.placements[*placement].binding == k) {
                            let offset = range(device, s)?.place().offset - block.lead();
                            out.moved[*placement] = Some(launchable(program, *placement, offset, m.words[*placement])?);
                        }
                    }
                    Bound::rest(Place::start(block))
                }
                None => {
                    let parts = if b.role == Role::State { &mut kept.state } else { &mut kept.offloaded };
                    let to = parts.keep(device, program, k, words)?;
                    gather(stream, device, program, m, inputs, k, &to)?;
                    Bound::rest(Place::start(to))
                }
            },
            Role::Input(i) => resolve_input(stream, device, program, inputs, i, b.access)?,
            Role::Result(o) => {
                let place = Place::start(Pool::allocate(device, words)?);
                let count = program.outputs.get(o).map_or(0, |o| m.words[o.placement]);
                if let Some(slot) = out.results.get_mut(o) {
                    *slot = Some(Arc::new(Range::new(place.clone(), count as usize, false)));
                }
                Bound::rest(place)
            }
        };
        out.bound.push(bound);
    }
    separate(stream, device, program, m, &mut out.bound)?;
    Ok(out)
}

/// The offset of a placement, where all its words have one that a launch parameter holds.
fn launchable(program: &Program, placement: usize, offset: u64, words: u64) -> Result<u64> {
    match u32::try_from(offset + words) {
        Ok(_) => Ok(offset),
        Err(_) => Err(Error::Limit {
            what: format!("where {} of {} ends in its block, in words", program.placements[placement].name, program.name),
            value: (offset + words).to_string(),
            limit: u32::MAX.to_string(),
            remedy: "allocate state with allocate_state, which makes several blocks of it".into(),
        }),
    }
}

/// Brings the arguments of a binding to their places in it.
fn gather<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    program: &Program,
    m: &Measure,
    inputs: &[Argument],
    binding: usize,
    to: &Arc<Allocation<M::Device>>,
) -> Result<()> {
    let places = inputs.iter().zip(&program.inputs).filter(|(_, p)| program.placements[**p].binding == binding);
    fill(stream, device, to, places.map(|(input, p)| (to.lead() + m.offsets[*p], input)).collect())
}

/// Puts arguments at offsets of an allocation.
fn fill<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    to: &Arc<Allocation<M::Device>>,
    mut contents: Vec<(u64, &Argument)>,
) -> Result<()> {
    contents.order_by_key(|(offset, _)| *offset);
    let mut hosts: Vec<(u64, &Arc<[u32]>)> = Vec::new();
    for (offset, a) in &contents {
        if let Argument::Host(words) = a
            && !words.is_empty()
        {
            hosts.push((*offset, words));
        }
    }
    if !hosts.is_empty() {
        stream.write_all(device, to, &hosts)?;
    }
    // After the writes, which may have run over their places.
    for (offset, a) in contents {
        if let Argument::Device(s) = a {
            stream.copy(device, &range(device, s)?.place(), &Place { allocation: to.clone(), offset }, s.words() as u64)?;
        }
    }
    Ok(())
}

/// The block that holds all state inputs of a binding, where there is one.
fn state_block<D: Backing>(device: &Arc<D>, program: &Program, inputs: &[Argument], binding: usize) -> Result<Option<Arc<Allocation<D>>>> {
    let mut block: Option<Arc<Allocation<D>>> = None;
    for (input, placement) in inputs.iter().zip(&program.inputs) {
        if program.placements[*placement].binding != binding {
            continue;
        }
        let Argument::Device(s) = input else { return Ok(None) };
        let range = range(device, s)?;
        let allocation = range.place().allocation;
        let same = block.get_or_insert_with(|| allocation.clone());
        if !range.in_block() || !Arc::ptr_eq(same, &allocation) {
            return Ok(None);
        }
    }
    // A placement that is no input has a place in the planned layout only.
    let placements = program.placements.iter().enumerate();
    let planned = placements.filter(|(_, p)| p.binding == binding).any(|(i, _)| !program.inputs.contains(&i));
    Ok(block.filter(|_| !planned))
}

fn resolve_input<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    program: &Program,
    inputs: &[Argument],
    i: usize,
    access: Access,
) -> Result<Bound<M::Device>> {
    let missing = || Error::invalid(format!("input {i} of {}", program.name), "is bound and not given", "give every input");
    let input = inputs.get(i).ok_or_else(missing)?;
    if let Argument::Device(s) = input {
        let range = range(device, s)?;
        if range.in_block() {
            let band = if device.guards() { guard::BAND } else { 0 };
            return Ok(Bound { place: range.place(), words: aligned(s.words() as u64) + band });
        }
        // Only a state block is updated in place: whoever else holds the tensor keeps its value.
        if access == Access::Read {
            return Ok(Bound::rest(range.place()));
        }
    }
    let to = Pool::allocate(device, input.words() as u64)?;
    fill(stream, device, &to, vec![(to.lead(), input)])?;
    Ok(Bound::rest(Place::start(to)))
}

/// What one binding writes, no other names: launches are ordered by bindings, and kernels read without waiting for one another's
/// writes. The others get a copy.
fn separate<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    program: &Program,
    m: &Measure,
    bound: &mut [Bound<M::Device>],
) -> Result<()> {
    let writes = |k: usize| program.bindings[k].access == Access::ReadWrite;
    for k in 0..bound.len() {
        let whole = |j: usize| M::Device::WHOLE && !writes(k) && Arc::ptr_eq(&bound[j].place.allocation, &bound[k].place.allocation);
        let clash = |j: usize| writes(j) && (!writes(k) || j < k) && (bound[j].meets(&bound[k]) || whole(j));
        if (0..bound.len()).any(|j| j != k && clash(j)) {
            let words = bound[k].words.min(m.bindings[k]);
            let copy = Place::start(Pool::allocate(device, words)?);
            stream.copy(device, &bound[k].place, &copy, words)?;
            bound[k] = Bound::rest(copy);
        }
    }
    Ok(())
}

/// One storage for each output: in place where that was asked for and possible, else copied out of the program's memory.
pub(crate) fn deliver<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    program: &Program,
    m: &Measure,
    inputs: &[Argument],
    r: &mut Resolved<M::Device>,
) -> Result<Vec<Storage>> {
    let mut out: Vec<Storage> = Vec::with_capacity(program.outputs.len());
    for (o, output) in program.outputs.iter().enumerate() {
        let p = output.placement;
        let binding = program.placements[p].binding;
        let role = program.bindings[binding].role;
        let words = m.words[p];
        let from = r.bound[binding].place.after(r.moved[p].unwrap_or(m.offsets[p]));
        // The range of a block that this output updates.
        if let Some(Argument::Device(s)) = output.updates.map(|i| &inputs[i]) {
            let range = range(device, s)?;
            if range.in_block() {
                stream.copy(device, &from, &range.place(), words)?;
                out.push(s.clone());
                continue;
            }
        }
        // A result that has its binding to itself is in the right memory already.
        let own = (role == Role::Result(o) && from.offset == from.allocation.lead()).then(|| r.results[o].take()).flatten();
        out.push(match own {
            Some(result) => result,
            // The input was copied before the update: the copy is the result.
            None if matches!(role, Role::Input(i) if output.updates == Some(i)) => Arc::new(Range::new(from, words as usize, false)),
            None => {
                let to = Place::start(Pool::allocate(device, words)?);
                stream.copy(device, &from, &to, words)?;
                Arc::new(Range::new(to, words as usize, false))
            }
        });
    }
    Ok(out)
}

/// See [`crate::Executor::allocate_block`].
pub(crate) fn allocate_block<M: Mover>(stream: &mut M, device: &Arc<M::Device>, contents: &[Argument]) -> Result<Vec<Storage>> {
    allocate_in(stream, device, contents, Pool::allocate)
}

/// As [`allocate_block`], in memory that is made by `allocate`.
pub(crate) fn allocate_in<M: Mover>(
    stream: &mut M,
    device: &Arc<M::Device>,
    contents: &[Argument],
    allocate: fn(&Arc<M::Device>, u64) -> Result<Arc<Allocation<M::Device>>>,
) -> Result<Vec<Storage>> {
    let band = if device.guards() { guard::BAND } else { 0 };
    let mut end = band;
    let mut parts = Vec::with_capacity(contents.len());
    for c in contents {
        if let Argument::Device(s) = c {
            range(device, s)?;
        }
        parts.push((end, c));
        end += aligned(c.words() as u64) + band;
    }
    let allocation = allocate(device, end)?;
    parts.iter_mut().for_each(|(offset, _)| *offset += allocation.lead());
    let ranges = parts.iter().map(|(offset, c)| {
        let place = Place { allocation: allocation.clone(), offset: *offset };
        Arc::new(Range::new(place, c.words(), true)) as Storage
    });
    let out = ranges.collect();
    fill(stream, device, &allocation, parts)?;
    Ok(out)
}

/// See [`crate::Executor::evacuate`].
pub(crate) fn evacuate<M: Mover>(stream: &mut M, device: &Arc<M::Device>, storage: &Storage) -> Result<Storage> {
    let held = range(device, storage)?;
    if !held.in_block() {
        return Err(Error::invalid("tensor", "is no range of a state block", "evacuate only what `allocate_block` gave"));
    }
    let to = Place::start(Pool::allocate(device, storage.words() as u64)?);
    stream.copy(device, &held.place(), &to, storage.words() as u64)?;
    let freed = held.relocate(to);
    Ok(Arc::new(Range::new(freed, storage.words(), true)))
}

/// See [`crate::Executor::copy_runs`].
#[cfg_attr(
    not(any(feature = "cpu", feature = "cuda", feature = "wasmtime", all(feature = "wasm", target_arch = "wasm32"))),
    expect(dead_code, reason = "WebGPU copies no runs")
)]
pub(crate) fn copy_runs<M: Mover>(stream: &mut M, device: &Arc<M::Device>, into: &Storage, from: &Storage, runs: &[Run]) -> Result<()> {
    let (to, of) = (range(device, into)?.place(), range(device, from)?.place());
    let fits = |at: usize, words: usize, s: &Storage| at.checked_add(words).is_some_and(|end| end <= s.words());
    if runs.iter().any(|r| !fits(r.to, r.words, into) || !fits(r.from, r.words, from)) {
        return Err(Error::invalid("tensor", "a run leaves its storage", "report this"));
    }
    let part = |p: &Place<M::Device>, by: usize| Place { allocation: p.allocation.clone(), offset: p.offset + by as u64 };
    runs.iter().try_for_each(|r| stream.copy(device, &part(&of, r.from), &part(&to, r.to), r.words as u64))
}
