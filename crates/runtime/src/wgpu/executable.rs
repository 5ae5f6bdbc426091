//! A program on the device: resolves each binding to memory, then records its launches.
//!
//! A whole step and a single operator take the same way; they differ in what their bindings stand for (see
//! [`aludel_ir::program::Role`]). A step owns its launch parameters and is submitted at once; an operator's go through the
//! stream's ring and wait for more operators.

use super::executor::WgpuExecutor;
use super::memory::{Allocation, Place, Range, aligned};
use super::pipeline::Layout;
use super::shared::{Shared, lock};
use super::stream::{Bound, ROW, Stream};
use super::transfer::Read;
use crate::measure::{Limits, Measure, Measures, check_program, state_block};
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::kernel::Access;
use aludel_ir::program::{Program, Role};
use aludel_ir::{Error, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

pub struct WgpuExecutable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    layout: Arc<Layout>,
    pipelines: Vec<wgpu::ComputePipeline>,
    /// A step has its own parameters and is submitted by itself.
    is_step: bool,
    own: Mutex<Own>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    /// Memory of the inputs binding, and of state that is not in a block.
    inputs: Option<Arc<Allocation>>,
    state: Option<Arc<Allocation>>,
    parameters: Option<Parameters>,
    /// Reused to gather host arguments.
    scratch: Vec<u32>,
}

/// A step's launch parameters on the device.
struct Parameters {
    buffer: Arc<Allocation>,
    rows: Vec<u32>,
}

/// The program's bindings in memory for one run, and what else the run needs.
struct Resolved {
    bound: Vec<Bound>,
    /// Places of the placements that are results.
    results: Vec<Option<Storage>>,
    /// For each placement in the state binding, its offset where that differs from the measure's.
    moved: Vec<Option<u64>>,
}

impl WgpuExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        let (layout, pipelines) = {
            let mut cache = lock(&shared.pipelines);
            let layout = cache.layout(&shared, &program)?;
            let pipelines = program.kernels.iter().map(|k| cache.pipeline(&shared, &layout, k)).collect::<Result<Vec<_>>>()?;
            (layout, pipelines)
        };
        let is_step = program.bindings.iter().all(|b| matches!(b.role, Role::Arena | Role::State | Role::Inputs));
        Ok(WgpuExecutable { shared, program, layout, pipelines, is_step, own: Mutex::default() })
    }

    fn measure(&self, own: &mut Own, sizes: &[i64]) -> Result<Arc<Measure>> {
        let limits = Limits {
            device: &self.shared.info.name,
            binding_bytes: self.shared.target.max_binding_bytes,
            groups: self.shared.limits.max_compute_workgroups_per_dimension,
            row_align: ROW,
        };
        let m = own.measures.get(&self.program, sizes, &limits)?;
        let limit = self.shared.limits.max_uniform_buffer_binding_size;
        if m.row > limit {
            let remedy = "use a smaller batch or model".into();
            return Err(Error::Limit { what: "launch parameters".into(), value: m.row.to_string(), limit: limit.to_string(), remedy });
        }
        Ok(m)
    }

    fn range<'a>(&self, storage: &'a Storage) -> Result<&'a Range> {
        WgpuExecutor::range(&self.shared, storage)
    }

    /// The state block that holds all state inputs, where there is one.
    fn block(&self, inputs: &[Argument], binding: usize) -> Result<Option<Arc<Allocation>>> {
        state_block(&self.program, inputs, binding, |s| self.range(s).map(|r| (r.place().allocation, r.in_block())))
    }

    /// Puts an argument at a place: host words are written, device words copied.
    fn place_argument(&self, stream: &mut Stream, input: &Argument, to: &Place) -> Result<()> {
        match input {
            Argument::Host(words) => {
                stream.write(&self.shared, to, words);
                Ok(())
            }
            Argument::Device(s) => stream.copy(&self.shared, &self.range(s)?.place(), to, s.words() as u64),
        }
    }

    /// Gathers the arguments of a step into its inputs binding: host arguments in one write, device arguments by copies.
    fn gather(
        &self,
        stream: &mut Stream,
        own: &mut Own,
        m: &Measure,
        inputs: &[Argument],
        binding: usize,
        to: &Arc<Allocation>,
    ) -> Result<()> {
        let here = |i: usize| self.program.placements[self.program.inputs[i]].binding == binding;
        let at = |i: usize| m.offsets[self.program.inputs[i]];
        let mut hosts: Vec<(u64, &Arc<[u32]>)> = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            if let (Argument::Host(words), true) = (input, here(i)) {
                hosts.push((at(i), words));
            }
        }
        hosts.sort_by_key(|(offset, _)| *offset);
        if let (Some(first), Some(last)) = (hosts.first(), hosts.last()) {
            let start = first.0;
            let span = (last.0 + last.1.len() as u64 - start) as usize;
            own.scratch.clear();
            own.scratch.resize(span, 0);
            for (offset, words) in &hosts {
                let o = (offset - start) as usize;
                own.scratch[o..o + words.len()].copy_from_slice(words);
            }
            stream.write(&self.shared, &Place { allocation: to.clone(), offset: start }, &own.scratch);
        }
        // After the write, which may have run over their places.
        for (i, input) in inputs.iter().enumerate() {
            if let (Argument::Device(_), true) = (input, here(i)) {
                self.place_argument(stream, input, &Place { allocation: to.clone(), offset: at(i) })?;
            }
        }
        Ok(())
    }

    /// Memory of at least `words` that an executable keeps.
    fn keep(shared: &Arc<Shared>, slot: &mut Option<Arc<Allocation>>, words: u64) -> Result<Arc<Allocation>> {
        match slot {
            Some(a) if a.raw().words >= words => Ok(a.clone()),
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
            let whole = |allocation: Arc<Allocation>| Bound { place: Place { allocation, offset: 0 }, words: None };
            let bound = match b.role {
                Role::Arena => whole(Self::keep(shared, &mut stream.arena, words)?),
                Role::Inputs => {
                    let to = Self::keep(shared, &mut own.inputs, words)?;
                    self.gather(stream, own, m, inputs, k, &to)?;
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
                        self.gather(stream, own, m, inputs, k, &to)?;
                        whole(to)
                    }
                },
                Role::Input(i) => self.resolve_input(stream, inputs, i, b.access)?,
                Role::Result(o) => {
                    let allocation = shared.pool.allocate(shared, words)?;
                    let count = program.outputs.get(o).map_or(0, |o| m.words[o.placement]);
                    if let Some(slot) = out.results.get_mut(o) {
                        *slot = Some(Arc::new(Range::new(Place { allocation: allocation.clone(), offset: 0 }, count as usize, false)));
                    }
                    whole(allocation)
                }
            };
            out.bound.push(bound);
        }
        self.separate(stream, m, &mut out.bound)?;
        Ok(out)
    }

    fn resolve_input(&self, stream: &mut Stream, inputs: &[Argument], i: usize, access: Access) -> Result<Bound> {
        let missing = || Error::invalid(format!("input {i} of {}", self.program.name), "is bound and not given", "give every input");
        let input = inputs.get(i).ok_or_else(missing)?;
        if let Argument::Device(s) = input {
            let range = self.range(s)?;
            let place = range.place();
            // Only a state block is updated in place: whoever else holds the tensor keeps its value.
            if access == Access::Read || range.in_block() {
                let words = range.in_block().then(|| aligned(s.words() as u64));
                return Ok(Bound { place, words });
            }
        }
        let place = Place { allocation: self.shared.pool.allocate(&self.shared, input.words() as u64)?, offset: 0 };
        self.place_argument(stream, input, &place)?;
        Ok(Bound { place, words: None })
    }

    /// WebGPU allows a buffer that one binding writes in no other binding: those others get a copy.
    fn separate(&self, stream: &mut Stream, m: &Measure, bound: &mut [Bound]) -> Result<()> {
        for k in 0..bound.len() {
            let writes = |j: usize| self.program.bindings[j].access == Access::ReadWrite;
            let shares = |j: usize| Arc::ptr_eq(&bound[j].place.allocation, &bound[k].place.allocation);
            let overlaps = |j: usize| bound[j].place.offset == bound[k].place.offset;
            let clash = (0..bound.len()).any(|j| j != k && writes(j) && shares(j) && (!writes(k) || (j < k && overlaps(j))));
            if clash {
                let words = bound[k].words.unwrap_or(m.bindings[k]).min(bound[k].place.allocation.raw().words);
                let copy = Place { allocation: self.shared.pool.allocate(&self.shared, words)?, offset: 0 };
                stream.copy(&self.shared, &bound[k].place, &copy, words)?;
                bound[k] = Bound { place: copy, words: None };
            }
        }
        Ok(())
    }

    /// The uniform buffer with this run's parameters: buffer, identity, and the offset of the first row.
    fn parameters(&self, stream: &mut Stream, own: &mut Own, m: &Measure, r: &Resolved) -> Result<(wgpu::Buffer, u64, u64)> {
        let unmoved = r.moved.iter().all(Option::is_none);
        if !self.is_step && Stream::fits_ring(m.rows.len() as u64 * 4) {
            let (buffer, at) =
                if unmoved { stream.ring(&self.shared, &m.rows)? } else { stream.ring(&self.shared, &m.rows(&self.program, &r.moved))? };
            return Ok((buffer, Stream::RING_ID, at));
        }
        let rows = m.rows(&self.program, &r.moved);
        if own.parameters.as_ref().is_none_or(|p| p.buffer.raw().words < rows.len() as u64) {
            let buffer = self.shared.pool.uniform(&self.shared, rows.len() as u64)?;
            own.parameters = Some(Parameters { buffer, rows: Vec::new() });
        }
        let Some(p) = &mut own.parameters else { unreachable!("parameters were just made") };
        if p.rows != rows {
            stream.write(&self.shared, &Place { allocation: p.buffer.clone(), offset: 0 }, &rows);
            p.rows = rows;
        }
        Ok((p.buffer.buffer().clone(), p.buffer.raw().id, 0))
    }

    fn record(&self, stream: &mut Stream, own: &mut Own, m: &Measure, r: &Resolved, timer: Option<&wgpu::QuerySet>) -> Result<()> {
        let (uniform, id, base) = self.parameters(stream, own, m, r)?;
        let group = stream.group(&self.shared, &self.layout, (&uniform, id, m.row), &r.bound)?;
        let mut touched: Vec<Arc<Allocation>> = r.bound.iter().map(|b| b.place.allocation.clone()).collect();
        if let (true, Some(p)) = (id != Stream::RING_ID, &own.parameters) {
            touched.push(p.buffer.clone());
        }
        let mut current = None;
        for (l, ((launch, grid), start)) in self.program.launches.iter().zip(&m.grids).zip(&m.starts).enumerate() {
            let Some([x, y, z]) = *grid else { continue };
            let pass = match timer {
                None => stream.pass(&self.shared),
                Some(queries) => {
                    current = None;
                    stream.timed_pass(&self.shared, queries, l as u32 * 2)
                }
            };
            if current != Some(launch.kernel) {
                pass.set_pipeline(&self.pipelines[launch.kernel]);
                current = Some(launch.kernel);
            }
            pass.set_bind_group(0, &group, &[base as u32 + start]);
            pass.dispatch_workgroups(x, y, z);
            stream.dispatched(&touched);
            self.shared.counters.dispatches.fetch_add(1, Ordering::Relaxed);
        }
        self.shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
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
            let target = match output.updates.map(|i| (&inputs[i], program.inputs[i])) {
                Some((Argument::Device(s), placement)) if self.range(s)?.in_block() => Some((s, placement)),
                _ => None,
            };
            // A result that has its binding to itself is in the right memory already.
            let own = (program.bindings[binding].role == Role::Result(o) && offset == 0).then(|| r.results[o].take()).flatten();
            out.push(match (target, own) {
                (Some((s, _)), _) => {
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
                        let to = Place { allocation: self.shared.pool.allocate(&self.shared, words)?, offset: 0 };
                        stream.copy(&self.shared, &from, &to, words)?;
                        Arc::new(Range::new(to, words as usize, false))
                    }
                }
            });
        }
        Ok(out)
    }
}

impl WgpuExecutable {
    fn issue(&self, sizes: &[i64], inputs: &[Argument], timer: Option<&wgpu::QuerySet>) -> Result<(Vec<Storage>, Arc<Measure>)> {
        let shared = &self.shared;
        shared.faults.check()?;
        let mut own = lock(&self.own);
        let m = self.measure(&mut own, sizes)?;
        m.check_inputs(&self.program, inputs, |s| self.range(s).map(|_| ()))?;
        let mut stream = lock(&shared.stream);
        let mut resolved = self.resolve(&mut stream, &mut own, &m, inputs)?;
        self.record(&mut stream, &mut own, &m, &resolved, timer)?;
        let out = self.deliver(&mut stream, &m, inputs, &mut resolved)?;
        if self.is_step {
            stream.submit(shared);
        } else {
            stream.submit_if_full(shared);
        }
        shared.faults.check()?;
        Ok((out, m))
    }

    fn time(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        let shared = &self.shared;
        let count = self.program.launches.len() as u32 * 2;
        if !shared.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) || count > wgpu::QUERY_SET_MAX_QUERIES {
            return Err(Error::unsupported(format!("timing kernels on {}", shared.info.name), "time many steps instead"));
        }
        if count == 0 {
            return Ok((self.run(sizes, inputs)?, Box::pin(std::future::ready(Ok(Vec::new())))));
        }
        let queries = shared.device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let between = shared.create_buffer("timestamps", count as u64 * 8, usage)?;
        let (out, m) = self.issue(sizes, inputs, Some(&queries))?;
        let mut stream = lock(&shared.stream);
        let staging = stream.staging(shared, count as u64 * 2)?;
        stream.copy_queries(shared, &queries, count, &between, &staging);
        stream.submit(shared);
        drop(stream);
        let read = Read::start(shared.clone(), staging, count as u64 * 2);
        let period = shared.queue.get_timestamp_period() as f64;
        let milliseconds = async move {
            let words = read.finish().await?;
            let ticks: Vec<u64> = words.chunks_exact(2).map(|w| w[0] as u64 | (w[1] as u64) << 32).collect();
            let time = |pair: &[u64]| pair[1].saturating_sub(pair[0]) as f64 * period / 1e6;
            // A launch without work wrote no time.
            Ok(ticks.chunks_exact(2).zip(&m.grids).map(|(pair, grid)| if grid.is_some() { time(pair) } else { 0.0 }).collect())
        };
        Ok((out, Box::pin(milliseconds)))
    }
}

impl Executable for WgpuExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        self.issue(sizes, inputs, None).map(|(out, _)| out)
    }

    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        self.time(sizes, inputs)
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.program)
    }
}
