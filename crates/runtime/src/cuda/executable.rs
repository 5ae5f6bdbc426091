//! A program on the device: resolves each binding to memory, then launches.
//!
//! A step is one graph, found by the memory and the sizes it was built for; a single operator is launched kernel by kernel.
//! They differ in what their bindings stand for (see [`aludel_ir::program::Role`]) and in that a step ends its submission.

use super::blas::{Bases, Call, Problem};
use super::executor::CudaExecutor;
use super::graph::{self, Extent, Prepared, StepGraph, Work};
use super::handles::Event;
use super::kernels::{Kernel, dump};
use super::memory::{Allocation, Place, Range, aligned};
use super::shared::{Shared, lock};
use super::stream::{PIECE, Stream};
use crate::measure::{Limits, Measure, Measures, check_program, state_block};
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::kernel::Access;
use aludel_ir::program::{Matrix, Param, Program, Role};
use aludel_ir::{Error, Result};
use cudarc::driver::sys::CUdeviceptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Graphs that a step keeps: one for each memory and each sizes it runs with.
const GRAPHS: usize = 16;

/// The memory that the library's products share beside their operands: in no binding, so that only they wait for one another.
const WORKSPACE: Extent = Extent { binding: usize::MAX, start: 0, end: 1 };

pub struct CudaExecutable {
    program: Arc<Program>,
    kernels: Vec<Arc<Kernel>>,
    /// Bindings are arena, state and inputs, as a whole training step has them.
    is_step: bool,
    /// Some launch is a plain matrix product.
    has_products: bool,
    own: Mutex<Own>,
    shared: Arc<Shared>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    /// Memory of the inputs binding, and of state that is not in a block.
    inputs: Option<Arc<Allocation>>,
    state: Option<Arc<Allocation>>,
    /// The last used last.
    graphs: Vec<(Key, StepGraph)>,
}

/// What a graph was built for.
#[derive(PartialEq)]
struct Key {
    sizes: Vec<i64>,
    addresses: Vec<CUdeviceptr>,
    moved: Vec<Option<u64>>,
}

/// A binding: memory from a place on.
struct Bound {
    place: Place,
    words: u64,
}

/// The program's bindings in memory for one run, and what else the run needs.
struct Resolved {
    bound: Vec<Bound>,
    /// Places of the placements that are results.
    results: Vec<Option<Storage>>,
    /// For each placement in the state binding, its offset where that differs from the measure's.
    moved: Vec<Option<u64>>,
}

impl Resolved {
    fn addresses(&self) -> Vec<CUdeviceptr> {
        self.bound.iter().map(|b| b.place.address()).collect()
    }
}

impl CudaExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        check_parameters(&program)?;
        let kernels = shared.kernels.load(&shared, &program)?;
        let is_step = program.bindings.iter().all(|b| matches!(b.role, Role::Arena | Role::State | Role::Inputs));
        let has_products = program.launches.iter().any(|l| l.product.is_some());
        Ok(CudaExecutable { program, kernels, is_step, has_products, own: Mutex::default(), shared })
    }

    fn measure(&self, own: &mut Own, sizes: &[i64]) -> Result<Arc<Measure>> {
        let target = &self.shared.target;
        let limits =
            Limits { device: &self.shared.info.name, binding_bytes: target.max_binding_bytes, groups: target.max_groups, row_align: 4 };
        own.measures.get(&self.program, sizes, &limits)
    }

    fn range<'a>(&self, storage: &'a Storage) -> Result<&'a Range> {
        CudaExecutor::range(&self.shared, storage)
    }

    /// The state block that holds all state inputs, where there is one.
    fn block(&self, inputs: &[Argument], binding: usize) -> Result<Option<Arc<Allocation>>> {
        state_block(&self.program, inputs, binding, |s| self.range(s).map(|r| (r.place().allocation, r.in_block())))
    }

    /// Puts an argument at a place: host words are uploaded, device words copied.
    fn place_argument(&self, stream: &mut Stream, input: &Argument, to: &Place) -> Result<()> {
        match input {
            Argument::Host(words) => stream.write(&self.shared, to, words),
            Argument::Device(s) => stream.copy(&self.shared, &self.range(s)?.place(), to, s.words() as u64),
        }
    }

    /// Gathers the arguments of a step into a binding: host arguments in one upload where they are small, device arguments by
    /// copies.
    fn gather(&self, stream: &mut Stream, m: &Measure, inputs: &[Argument], binding: usize, to: &Arc<Allocation>) -> Result<()> {
        let here = |i: usize| self.program.placements[self.program.inputs[i]].binding == binding;
        let at = |i: usize| m.offsets[self.program.inputs[i]];
        let mut hosts: Vec<(u64, &Arc<[u32]>)> = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            if let (Argument::Host(words), true) = (input, here(i)) {
                hosts.push((at(i), words));
            }
        }
        let start = hosts.iter().map(|(offset, _)| *offset).min().unwrap_or(0);
        let end = hosts.iter().map(|(offset, words)| offset + words.len() as u64).max().unwrap_or(0);
        let span = (end - start) as usize;
        let place = |offset: u64| Place { allocation: to.clone(), offset };
        if span <= PIECE {
            stream.upload(&self.shared, &place(start), span, |memory| {
                for (offset, words) in &hosts {
                    let o = (offset - start) as usize;
                    memory[o..o + words.len()].copy_from_slice(words);
                }
            })?;
        } else {
            for (offset, words) in &hosts {
                stream.write(&self.shared, &place(*offset), words)?;
            }
        }
        // After the upload, which may have run over their places.
        for (i, input) in inputs.iter().enumerate() {
            if let (Argument::Device(_), true) = (input, here(i)) {
                self.place_argument(stream, input, &place(at(i)))?;
            }
        }
        Ok(())
    }

    /// Memory of at least `words` that an executable keeps.
    fn keep(shared: &Arc<Shared>, slot: &mut Option<Arc<Allocation>>, words: u64) -> Result<Arc<Allocation>> {
        match slot {
            Some(a) if a.words() >= words => Ok(a.clone()),
            _ => {
                *slot = None;
                Ok(slot.insert(shared.pool.allocate(shared, words)?).clone())
            }
        }
    }

    fn resolve(&self, stream: &mut Stream, own: &mut Own, m: &Measure, inputs: &[Argument]) -> Result<Resolved> {
        let (program, shared) = (&self.program, &self.shared);
        let mut out = Resolved {
            bound: Vec::with_capacity(program.bindings.len()),
            results: vec![None; program.outputs.len()],
            moved: vec![None; program.placements.len()],
        };
        for (k, b) in program.bindings.iter().enumerate() {
            let words = m.bindings[k];
            let whole = |allocation: Arc<Allocation>| Bound { words: allocation.words(), place: Place::start(allocation) };
            let bound = match b.role {
                Role::Arena => whole(Self::keep(shared, &mut stream.arena, words)?),
                Role::Inputs => {
                    let to = Self::keep(shared, &mut own.inputs, words)?;
                    self.gather(stream, m, inputs, k, &to)?;
                    whole(to)
                }
                Role::State => match self.block(inputs, k)? {
                    Some(block) => {
                        for (input, placement) in inputs.iter().zip(&program.inputs) {
                            if let (Argument::Device(s), true) = (input, program.placements[*placement].binding == k) {
                                out.moved[*placement] = Some(self.range(s)?.place().offset);
                            }
                        }
                        whole(block)
                    }
                    None => {
                        let to = Self::keep(shared, &mut own.state, words)?;
                        self.gather(stream, m, inputs, k, &to)?;
                        whole(to)
                    }
                },
                Role::Input(i) => self.resolve_input(stream, inputs, i, b.access)?,
                Role::Result(o) => {
                    let allocation = shared.pool.allocate(shared, words)?;
                    let count = program.outputs.get(o).map_or(0, |o| m.words[o.placement]);
                    if let Some(slot) = out.results.get_mut(o) {
                        *slot = Some(Arc::new(Range::new(Place::start(allocation.clone()), count as usize, false)));
                    }
                    whole(allocation)
                }
            };
            out.bound.push(bound);
        }
        self.separate(stream, &mut out.bound)?;
        Ok(out)
    }

    fn resolve_input(&self, stream: &mut Stream, inputs: &[Argument], i: usize, access: Access) -> Result<Bound> {
        let missing = || Error::invalid(format!("input {i} of {}", self.program.name), "is bound and not given", "give every input");
        let input = inputs.get(i).ok_or_else(missing)?;
        if let Argument::Device(s) = input {
            let range = self.range(s)?;
            // Only a state block is updated in place: whoever else holds the tensor keeps its value.
            if access == Access::Read || range.in_block() {
                return Ok(Bound { place: range.place(), words: aligned(s.words() as u64) });
            }
        }
        let words = input.words() as u64;
        let place = Place::start(self.shared.pool.allocate(&self.shared, words)?);
        self.place_argument(stream, input, &place)?;
        Ok(Bound { place, words: aligned(words) })
    }

    /// A binding that is written shares no memory with another: kernels read without waiting for one another's writes. The
    /// others get a copy.
    fn separate(&self, stream: &mut Stream, bound: &mut [Bound]) -> Result<()> {
        for k in 0..bound.len() {
            let writes = |j: usize| self.program.bindings[j].access == Access::ReadWrite;
            let meets = |j: usize| {
                let (a, b) = (bound[j].place.address(), bound[k].place.address());
                a < b + bound[k].words * 4 && b < a + bound[j].words * 4
            };
            let clash = (0..bound.len()).any(|j| j != k && writes(j) && meets(j) && (!writes(k) || j < k));
            if clash {
                let words = bound[k].words;
                let copy = Place::start(self.shared.pool.allocate(&self.shared, words)?);
                stream.copy(&self.shared, &bound[k].place, &copy, words)?;
                bound[k] = Bound { place: copy, words };
            }
        }
        Ok(())
    }

    /// The rows of launch parameters with the state's true offsets.
    fn rows(&self, m: &Measure, moved: &[Option<u64>]) -> Vec<u32> {
        if moved.iter().all(Option::is_none) { m.rows.clone() } else { m.rows(&self.program, moved) }
    }

    fn row<'a>(&self, m: &Measure, rows: &'a [u32], launch: usize) -> &'a [u32] {
        let start = m.starts[launch] as usize / 4;
        rows.get(start..start + self.program.launches[launch].params.len()).unwrap_or(&[])
    }

    /// The memory that a launch reads or writes.
    fn extents(&self, m: &Measure, moved: &[Option<u64>], placements: &[usize]) -> Vec<Extent> {
        let extent = |p: &usize| {
            let start = moved[*p].unwrap_or(m.offsets[*p]);
            Extent { binding: self.program.placements[*p].binding, start, end: start + m.words[*p] }
        };
        placements.iter().map(extent).collect()
    }

    /// The calls of the library that take the place of kernels, by launch.
    fn products(&self, stream: &Stream, m: &Measure, sizes: &[i64], r: &Resolved, rows: &[u32]) -> Result<Vec<Option<Call>>> {
        let addresses = r.addresses();
        let mut out = Vec::with_capacity(self.program.launches.len());
        for (l, launch) in self.program.launches.iter().enumerate() {
            let (Some(product), Some(grid)) = (&launch.product, m.grids[l]) else {
                out.push(None);
                continue;
            };
            let place = |matrix: &Matrix| {
                let p = matrix.placement;
                addresses[self.program.placements[p].binding] + r.moved[p].unwrap_or(m.offsets[p]) * 4
            };
            let role = self.program.bindings[self.program.placements[product.out.placement].binding].role;
            let problem = Problem::new(product, &|e| self.program.eval(e, sizes));
            // Measuring writes the result: only where nobody holds it yet.
            let (Some(problem), Role::Arena | Role::Result(_)) = (problem, role) else {
                out.push(None);
                continue;
            };
            let bases = Bases {
                lhs: place(&product.lhs),
                rhs: place(&product.rhs),
                out: place(&product.out),
                add: product.add.as_ref().map_or(0, place),
                bias: product.bias.as_ref().map_or(0, place),
            };
            let kernel = &self.kernels[launch.kernel];
            let run = || {
                let launched = graph::launch(&stream.raw, kernel, grid, &addresses, self.row(m, rows, l));
                self.shared.done(&format!("timing {}", launch.label), launched)
            };
            out.push(self.shared.blas.choose(&self.shared, &stream.raw, &problem, bases, (kernel, &run))?);
        }
        Ok(out)
    }

    fn build(&self, stream: &Stream, m: &Measure, sizes: &[i64], r: &Resolved) -> Result<StepGraph> {
        let rows = self.rows(m, &r.moved);
        let calls = self.products(stream, m, sizes, r, &rows)?;
        let launches = self.program.launches.iter().enumerate();
        let prepared: Vec<Prepared> = launches
            .filter_map(|(l, launch)| {
                let grid = m.grids[l]?;
                let mut writes = self.extents(m, &r.moved, &launch.writes);
                let work = match &calls[l] {
                    Some(call) => {
                        writes.push(WORKSPACE);
                        Work::Product(call)
                    }
                    None => Work::Kernel { kernel: &self.kernels[launch.kernel], grid, row: self.row(m, &rows, l) },
                };
                Some(Prepared { work, reads: self.extents(m, &r.moved, &launch.reads), writes })
            })
            .collect();
        self.shared.counters.graphs.fetch_add(1, Ordering::Relaxed);
        StepGraph::new(&self.shared, &stream.raw, &r.addresses(), &prepared)
    }

    /// Runs a step as one graph.
    fn replay(&self, stream: &mut Stream, own: &mut Own, m: &Measure, sizes: &[i64], r: &Resolved) -> Result<()> {
        let matches = |key: &Key| {
            key.sizes == sizes && key.moved == r.moved && key.addresses.iter().copied().eq(r.bound.iter().map(|b| b.place.address()))
        };
        match own.graphs.iter().rposition(|(key, _)| matches(key)) {
            Some(i) if i + 1 == own.graphs.len() => {}
            Some(i) => {
                let used = own.graphs.remove(i);
                own.graphs.push(used);
            }
            None => {
                let key = Key { sizes: sizes.to_vec(), addresses: r.addresses(), moved: r.moved.clone() };
                let graph = self.build(stream, m, sizes, r)?;
                if own.graphs.len() >= GRAPHS {
                    own.graphs.remove(0);
                }
                own.graphs.push((key, graph));
            }
        }
        let Some((_, graph)) = own.graphs.last() else { unreachable!("the step's graph was just put there") };
        self.shared.done(&format!("running {}", self.program.name), graph.launch(&stream.raw))?;
        self.shared.counters.dispatches.fetch_add(graph.launches, Ordering::Relaxed);
        stream.issue();
        Ok(())
    }

    /// Launches kernel by kernel; with a timer, an event before and after each.
    fn launch_all(
        &self,
        stream: &mut Stream,
        m: &Measure,
        sizes: &[i64],
        r: &Resolved,
        mut timer: Option<&mut Vec<Option<(Event, Event)>>>,
    ) -> Result<()> {
        let (shared, addresses, rows) = (&self.shared, r.addresses(), self.rows(m, &r.moved));
        let calls = if self.has_products { self.products(stream, m, sizes, r, &rows)? } else { Vec::new() };
        for (l, launch) in self.program.launches.iter().enumerate() {
            let Some(grid) = m.grids[l] else {
                timer.iter_mut().for_each(|t| t.push(None));
                continue;
            };
            let event = |stream: &Stream| {
                let event = shared.done("creating an event", Event::new(true))?;
                shared.done("recording an event", event.record(&stream.raw))?;
                Ok::<Event, Error>(event)
            };
            let start = timer.as_ref().map(|_| event(stream)).transpose()?;
            let kernel = &self.kernels[launch.kernel];
            let launched = match calls.get(l).and_then(Option::as_ref) {
                Some(call) => shared.blas.run(&stream.raw, call).map(Ok)?,
                None => graph::launch(&stream.raw, kernel, grid, &addresses, self.row(m, &rows, l)),
            };
            let launched = match (launched, shared.blocking) {
                (Ok(()), true) => stream.wait_all(),
                (other, _) => other,
            };
            if let Err(e) = launched {
                dump(&self.program.kernels[launch.kernel]);
                let at = format!("kernel {} ({}, grid {grid:?}, block {:?})", launch.label, kernel.name, kernel.block);
                return shared.done(&at, Err(e));
            }
            if let (Some(start), Some(times)) = (start, &mut timer) {
                times.push(Some((start, event(stream)?)));
            }
            shared.counters.dispatches.fetch_add(1, Ordering::Relaxed);
            stream.issue();
        }
        Ok(())
    }

    /// One storage for each output: in place where that was asked for and possible, else copied out of the program's memory.
    fn deliver(&self, stream: &mut Stream, m: &Measure, inputs: &[Argument], r: &mut Resolved) -> Result<Vec<Storage>> {
        let program = &self.program;
        let mut out = Vec::with_capacity(program.outputs.len());
        for (o, output) in program.outputs.iter().enumerate() {
            let p = output.placement;
            let binding = program.placements[p].binding;
            let words = m.words[p];
            let bound = &r.bound[binding];
            let offset = bound.place.offset + r.moved[p].unwrap_or(m.offsets[p]);
            let from = Place { allocation: bound.place.allocation.clone(), offset };
            // The range of a block that this output updates.
            let target = match output.updates.map(|i| &inputs[i]) {
                Some(Argument::Device(s)) if self.range(s)?.in_block() => Some(s),
                _ => None,
            };
            // A result that has its binding to itself is in the right memory already.
            let own = (program.bindings[binding].role == Role::Result(o) && offset == 0).then(|| r.results[o].take()).flatten();
            out.push(match (target, own) {
                (Some(s), _) => {
                    let to = self.range(s)?.place();
                    stream.copy(&self.shared, &from, &to, words)?;
                    s.clone()
                }
                (None, Some(result)) => result,
                (None, None) => {
                    let private = matches!(program.bindings[binding].role, Role::Input(i) if output.updates == Some(i));
                    if private {
                        // The input was copied before the update: the copy is the result.
                        Arc::new(Range::new(from, words as usize, false))
                    } else {
                        let to = Place::start(self.shared.pool.allocate(&self.shared, words)?);
                        stream.copy(&self.shared, &from, &to, words)?;
                        Arc::new(Range::new(to, words as usize, false))
                    }
                }
            });
        }
        Ok(out)
    }

    fn issue(&self, sizes: &[i64], inputs: &[Argument], timer: Option<&mut Vec<Option<(Event, Event)>>>) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        shared.enter()?;
        let mut own = lock(&self.own);
        let m = self.measure(&mut own, sizes)?;
        m.check_inputs(&self.program, inputs, |s| self.range(s).map(|_| ()))?;
        let mut stream = lock(&shared.stream);
        let mut resolved = self.resolve(&mut stream, &mut own, &m, inputs)?;
        if self.is_step && timer.is_none() && !shared.blocking {
            self.replay(&mut stream, &mut own, &m, sizes, &resolved)?;
        } else {
            self.launch_all(&mut stream, &m, sizes, &resolved, timer)?;
        }
        shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
        let out = self.deliver(&mut stream, &m, inputs, &mut resolved)?;
        if self.is_step {
            stream.submit(shared)?;
        } else {
            stream.submit_if_full(shared)?;
        }
        Ok(out)
    }
}

impl Executable for CudaExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        self.issue(sizes, inputs, None)
    }

    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        let mut events = Vec::with_capacity(self.program.launches.len());
        let out = self.issue(sizes, inputs, Some(&mut events))?;
        let shared = self.shared.clone();
        let milliseconds = async move {
            shared.enter()?;
            let time = |pair: &Option<(Event, Event)>| match pair {
                // A launch without work took no time.
                None => Ok(0.0),
                Some((start, end)) => shared.done("timing a kernel", end.wait().and_then(|()| end.since(start))),
            };
            let times = events.iter().map(time).collect();
            drop(events);
            times
        };
        Ok((out, Box::pin(milliseconds)))
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.program)
    }
}

impl Drop for CudaExecutable {
    fn drop(&mut self) {
        // Graphs are freed in their context; a broken one frees all by itself.
        let _ = self.shared.context.enter();
        lock(&self.own).graphs.clear();
    }
}

/// Whether a program's parameters fit what a kernel can be given by value.
fn check_parameters(program: &Program) -> Result<()> {
    /// Bytes of parameters of one kernel on compute capability 7.0 and later.
    const MOST: usize = 32_764;
    let bytes = |params: &[Param]| program.bindings.len() * 8 + params.len() * 4;
    match program.launches.iter().find(|l| bytes(&l.params) > MOST) {
        Some(l) => Err(Error::Limit {
            what: format!("parameters of {}", l.label),
            value: format!("{} bytes", bytes(&l.params)),
            limit: format!("{MOST} bytes"),
            remedy: "report this".into(),
        }),
        None => Ok(()),
    }
}
