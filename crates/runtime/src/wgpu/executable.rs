//! A program on the device: resolves each binding to memory, then records its launches.
//!
//! A whole step and a single operator take the same way; they differ in what their bindings stand for (see
//! [`aludel_ir::program::Role`]). A step owns its launch parameters and is submitted at once; an operator's go through the
//! stream's ring and wait for more operators.

use super::memory::{Allocation, Place};
use super::pipeline::{self, Layouts, Slot};
use super::shared::{OUT_OF_MEMORY, Shared};
use super::stream::{Dispatch, ROW, Stream};
use super::transfer::Read;
use crate::bind::{self, Kept, Mover};
use crate::guard::Watch;
use crate::measure::{Limits, Measure, Measures, SMALLER, check_program, gigabytes};
use crate::memory::lock;
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::program::{Program, Role};
use aludel_ir::{Error, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

/// Launches of a step that are handed to the device together: it begins with them while the host records the rest, which takes some 3 us
/// a launch.
const PIECE: usize = 128;

pub struct WgpuExecutable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    /// A step's in a browser only once it runs, or is asked for: see [`super::browser`].
    loaded: OnceLock<(Layouts, Vec<Slot>)>,
    /// A step has its own parameters and is submitted by itself.
    is_step: bool,
    own: Mutex<Own>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    kept: Kept<Shared>,
    parameters: Option<Parameters>,
}

/// A step's launch parameters on the device.
struct Parameters {
    buffer: Arc<Allocation>,
    rows: Vec<u32>,
}

/// The program's bindings in memory for one run.
type Resolved = bind::Resolved<Shared>;

/// A program that the device's memory does not hold.
fn missing_memory(shared: &Shared, program: &Program, m: &Measure, rest: String) -> Error {
    let all = shared.memory_bytes.map_or("what it has".into(), |b| format!("{} in all", gigabytes(b)));
    Error::Limit {
        what: format!("the memory that {} takes", program.name),
        value: m.needs(program),
        limit: format!("that of {}: {all}, {rest}", shared.info.name),
        remedy: SMALLER.into(),
    }
}

/// A program's measure for given sizes. Errors where the device cannot hold it.
fn measure(shared: &Shared, program: &Program, own: &mut Own, sizes: &[i64]) -> Result<Arc<Measure>> {
    let limits = Limits {
        device: &shared.info.name,
        binding_bytes: shared.target.max_binding_bytes,
        groups: shared.limits.max_compute_workgroups_per_dimension,
        row_align: ROW,
        guards: shared.guard,
    };
    let m = own.measures.get(program, sizes, &limits)?;
    let limit = shared.limits.max_uniform_buffer_binding_size;
    if m.row > limit {
        let remedy = "use a smaller batch or model".into();
        return Err(Error::Limit { what: "launch parameters".into(), value: m.row.to_string(), limit: limit.to_string(), remedy });
    }
    match shared.memory_bytes {
        Some(bytes) if m.bytes() > bytes => Err(missing_memory(shared, program, &m, "whatever else is there".into())),
        _ => Ok(m),
    }
}

impl WgpuExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        #[cfg(not(target_arch = "wasm32"))]
        crate::measure::refuse_collectives(&program, &shared.info.name)?;
        let mut own = Own::default();
        if program.env.symbols.is_empty() {
            // What is too large is refused before anything is compiled.
            measure(&shared, &program, &mut own, &[])?;
        }
        let is_step = program.bindings.iter().all(|b| matches!(b.role, Role::Arena | Role::State | Role::Inputs));
        let executable = WgpuExecutable { shared, program, loaded: OnceLock::new(), is_step, own: Mutex::new(own) };
        #[cfg(target_arch = "wasm32")]
        if is_step {
            lock(&executable.shared.unloaded).push(executable.program.clone());
            return Ok(executable);
        }
        executable.loaded()?;
        Ok(executable)
    }

    /// The layouts and pipelines, begun now if they were not.
    fn loaded(&self) -> Result<&(Layouts, Vec<Slot>)> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        #[cfg(target_arch = "wasm32")]
        lock(&self.shared.unloaded).retain(|p| !Arc::ptr_eq(p, &self.program));
        let loaded = pipeline::load(&self.shared, &self.program, self.is_step)?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// Where memory is missing, says how much a run takes and what there is.
    fn explain(&self, m: &Measure, e: Error) -> Error {
        match e {
            Error::Device { problem, .. } if problem == OUT_OF_MEMORY => {
                let held = self.shared.pool.bytes_in_use();
                missing_memory(&self.shared, &self.program, m, format!("{} are in use by its tensors", gigabytes(held)))
            }
            e => e,
        }
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
        if own.parameters.as_ref().is_none_or(|p| p.buffer.words() < rows.len() as u64) {
            let buffer = Allocation::uniform(&self.shared, rows.len() as u64)?;
            own.parameters = Some(Parameters { buffer, rows: Vec::new() });
        }
        let Some(p) = &mut own.parameters else { unreachable!("parameters were just made") };
        if p.rows != rows {
            stream.write(&self.shared, &Place::start(p.buffer.clone()), &rows)?;
            p.rows = rows;
        }
        Ok((p.buffer.buffer().clone(), p.buffer.id(), 0))
    }

    fn record(&self, stream: &mut Stream, own: &mut Own, m: &Measure, r: &Resolved, timer: Option<&wgpu::QuerySet>) -> Result<()> {
        let (layouts, pipelines) = self.loaded()?;
        let (uniform, id, base) = self.parameters(stream, own, m, r)?;
        // One serves all launches, but where a program has more bindings than a kernel may see.
        let groups = layouts.layouts.iter().map(|layout| stream.group(&self.shared, layout, (&uniform, id, m.row), &r.bound));
        let groups = groups.collect::<Result<Vec<_>>>()?;
        let mut touched: Vec<Arc<Allocation>> = r.bound.iter().map(|b| b.place.allocation.clone()).collect();
        if let (true, Some(p)) = (id != Stream::RING_ID, &own.parameters) {
            touched.push(p.buffer.clone());
        }
        let mut watch = match self.shared.guard {
            true => Some(Watch::start(&self.program, m, r, |a| stream.read_now(&self.shared, a))?),
            false => None,
        };
        for (l, ((launch, grid), start)) in self.program.launches.iter().zip(&m.grids).zip(&m.starts).enumerate() {
            let Some(grid) = *grid else { continue };
            if let Some(queries) = timer {
                stream.timed_pass(&self.shared, queries, l as u32 * 2);
            }
            let group = groups[layouts.of[launch.kernel]].clone();
            let pipeline = pipelines[launch.kernel].clone();
            stream.launch(&self.shared, Dispatch { pipeline, group, offset: base as u32 + start, grid });
            stream.dispatched(&touched);
            if self.is_step && (l + 1) % PIECE == 0 {
                stream.submit(&self.shared);
            }
            self.shared.counters.dispatches.fetch_add(1, Ordering::Relaxed);
            if let Some(watch) = &mut watch {
                watch.check(l, |a| stream.read_now(&self.shared, a))?;
            }
        }
        self.shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
        Ok(())
    }
}

impl WgpuExecutable {
    fn issue(&self, sizes: &[i64], inputs: &[Argument], timer: Option<&wgpu::QuerySet>) -> Result<(Vec<Storage>, Arc<Measure>)> {
        let shared = &self.shared;
        shared.faults.check()?;
        let mut own = lock(&self.own);
        let m = measure(shared, &self.program, &mut own, sizes)?;
        m.check_inputs(&self.program, inputs, |s| bind::range(shared, s).map(drop))?;
        let mut stream = lock(&shared.stream);
        let resolved = bind::resolve(&mut *stream, shared, &self.program, &mut own.kept, &m, inputs);
        let mut resolved = resolved.map_err(|e| self.explain(&m, e))?;
        self.record(&mut stream, &mut own, &m, &resolved, timer)?;
        let out = bind::deliver(&mut *stream, shared, &self.program, &m, inputs, &mut resolved).map_err(|e| self.explain(&m, e))?;
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
