//! A program on the device: resolves each binding to memory, then launches.
//!
//! A step is one graph, found by the memory and the sizes it was built for; a single operator is launched kernel by kernel.
//! They differ in what their bindings stand for (see [`aludel_ir::program::Role`]) and in that a step ends its submission.

use super::blas::{Bases, Call, Problem};
use super::graph::{self, Extent, Prepared, StepGraph, Work};
use super::handles::Event;
use super::kernels::{Kernel, dump};
use super::maps;
use super::nccl::Exchange;
use super::shared::Shared;
use super::stream::Stream;
use crate::bind::{self, Kept};
use crate::collective::{self, Format};
use crate::measure::{Limits, Measure, Measures, check_program};
use crate::memory::lock;
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::program::{Matrix, Param, Program, Role, TensorMap};
use aludel_ir::{Error, Result};
use cudarc::driver::sys::{CUdeviceptr, CUtensorMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Graphs that a step keeps: one for each memory and each sizes it runs with.
const GRAPHS: usize = 16;

/// The memory that the library's products share beside their operands: in no binding, so that only they wait for one another.
const WORKSPACE: Extent = Extent { binding: usize::MAX, start: 0, end: 1 };
/// What collectives share: all ranks run them in one order.
const WIRE: Extent = Extent { binding: usize::MAX, start: 1, end: 2 };

pub struct CudaExecutable {
    program: Arc<Program>,
    kernels: Vec<Arc<Kernel>>,
    /// Bindings are arena, state and inputs, as a whole training step has them.
    is_step: bool,
    /// Some launch is a plain matrix product.
    has_products: bool,
    /// Some launch is a collective.
    has_exchanges: bool,
    own: Mutex<Own>,
    shared: Arc<Shared>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    kept: Kept<Shared>,
    /// The last used last.
    graphs: Vec<(Key, StepGraph)>,
    /// Sizes for which all ranks have the same collectives.
    agreed: Vec<Vec<i64>>,
}

/// What a graph was built for.
#[derive(PartialEq)]
struct Key {
    sizes: Vec<i64>,
    addresses: Vec<CUdeviceptr>,
    moved: Vec<Option<u64>>,
}

/// The program's bindings in memory for one run.
type Resolved = bind::Resolved<Shared>;

fn addresses(r: &Resolved) -> Vec<CUdeviceptr> {
    r.bound.iter().map(|b| b.place.address()).collect()
}

impl CudaExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        check_parameters(&program)?;
        let kernels = shared.kernels.load(&shared, &program)?;
        let is_step = program.bindings.iter().all(|b| matches!(b.role, Role::Arena | Role::State | Role::Offloaded | Role::Inputs));
        let has_products = program.launches.iter().any(|l| l.product.is_some());
        let has_exchanges = program.launches.iter().any(|l| l.exchange.is_some());
        Ok(CudaExecutable { program, kernels, is_step, has_products, has_exchanges, own: Mutex::default(), shared })
    }

    fn measure(&self, own: &mut Own, sizes: &[i64]) -> Result<Arc<Measure>> {
        let target = &self.shared.target;
        let limits = Limits {
            device: &self.shared.info.name,
            binding_bytes: target.max_binding_bytes,
            groups: target.max_groups,
            row_align: 4,
            guards: false,
        };
        own.measures.get(&self.program, sizes, &limits)
    }

    /// The rows of launch parameters with the state's true offsets.
    fn rows(&self, m: &Measure, moved: &[Option<u64>]) -> Vec<u32> {
        if moved.iter().all(Option::is_none) { m.rows.clone() } else { m.rows(&self.program, moved) }
    }

    fn row<'a>(&self, m: &Measure, rows: &'a [u32], launch: usize) -> &'a [u32] {
        let start = m.starts[launch] as usize / 4;
        rows.get(start..start + self.program.launches[launch].params.len()).unwrap_or(&[])
    }

    /// A launch's tensor maps.
    fn maps(&self, m: &Measure, sizes: &[i64], r: &Resolved, launch: usize) -> Result<Vec<CUtensorMap>> {
        let encode = |map: &TensorMap| maps::encode(map, self.place(m, r, map.placement), &|e| self.program.eval(e, sizes));
        self.program.launches[launch].maps.iter().map(encode).collect()
    }

    /// Where a placement starts.
    fn place(&self, m: &Measure, r: &Resolved, placement: usize) -> CUdeviceptr {
        let bound = &r.bound[self.program.placements[placement].binding];
        bound.place.address() + r.moved[placement].unwrap_or(m.offsets[placement]) * 4
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
        let addresses = addresses(r);
        let mut out = Vec::with_capacity(self.program.launches.len());
        for (l, launch) in self.program.launches.iter().enumerate() {
            let (Some(product), Some(grid)) = (&launch.product, m.grids[l]) else {
                out.push(None);
                continue;
            };
            let place = |matrix: &Matrix| self.place(m, r, matrix.placement);
            let role = self.program.bindings[self.program.placements[product.out.placement].binding].role;
            let problem = Problem::new(product, &|p| self.program.placements[p].dtype, &|e| self.program.eval(e, sizes));
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
                let maps = self.maps(m, sizes, r, l)?;
                let launched = graph::launch(&stream.raw, kernel, grid, &addresses, self.row(m, rows, l), &maps);
                self.shared.done(&format!("timing {}", launch.label), launched)
            };
            out.push(self.shared.blas.choose(&self.shared, &stream.raw, &problem, bases, (kernel, &run))?);
        }
        Ok(out)
    }

    /// The collective that a launch is, as all ranks have to have it.
    fn call(&self, m: &Measure, launch: usize) -> Option<(collective::Call, usize, usize)> {
        let e = self.program.launches[launch].exchange.as_ref()?;
        let (dtype, elements) = (self.program.placements[e.from].dtype, m.elements[e.from] as usize);
        let (collective, program) = (e.collective.clone(), self.program.name.clone());
        Some((collective::Call { collective, dtype, format: Format::Plain, elements, program }, e.from, e.to))
    }

    /// Lets all ranks compare the collectives of the program, before it first runs for these sizes.
    fn agree(&self, own: &mut Own, m: &Measure, sizes: &[i64]) -> Result<()> {
        if own.agreed.iter().any(|s| s == sizes) {
            return Ok(());
        }
        let calls: Vec<collective::Call> = (0..self.program.launches.len()).filter_map(|l| Some(self.call(m, l)?.0)).collect();
        let mut groups: Vec<&collective::Call> = Vec::new();
        for call in &calls {
            if groups.iter().all(|g| g.collective.group != call.collective.group) {
                groups.push(call);
            }
        }
        for group in groups {
            let own: Vec<_> = calls.iter().filter(|c| c.collective.group == group.collective.group).cloned().collect();
            self.shared.communicators.find(group)?.agree(&self.program.name, &own)?;
        }
        own.agreed.push(sizes.to_vec());
        Ok(())
    }

    /// The collectives, by launch.
    fn exchanges(&self, m: &Measure, r: &Resolved) -> Result<Vec<Option<Exchange>>> {
        let exchange = |l: usize| {
            let Some((call, from, to)) = self.call(m, l) else { return Ok(None) };
            let element_bytes = self.program.placements[from].element_bytes;
            let (have, want) = (m.elements[to] as usize, call.collective.result_len(call.elements)?);
            if have != want || self.program.placements[to].element_bytes != element_bytes {
                let problem = format!("{} gives {want} elements, {have} are awaited", call.collective.op.name());
                return Err(Error::device(problem, "report this"));
            }
            let communicator = self.shared.communicators.find(&call)?;
            Exchange::new(communicator, &call, element_bytes, self.place(m, r, from), self.place(m, r, to)).map(Some)
        };
        (0..self.program.launches.len()).map(exchange).collect()
    }

    fn build(&self, stream: &Stream, m: &Measure, sizes: &[i64], r: &Resolved) -> Result<StepGraph> {
        let rows = self.rows(m, &r.moved);
        let (calls, exchanges) = (self.products(stream, m, sizes, r, &rows)?, self.exchanges(m, r)?);
        let mut prepared = Vec::with_capacity(self.program.launches.len());
        for (l, launch) in self.program.launches.iter().enumerate() {
            let Some(grid) = m.grids[l] else { continue };
            let mut writes = self.extents(m, &r.moved, &launch.writes);
            let work = match (&calls[l], &exchanges[l]) {
                (_, Some(exchange)) => {
                    writes.push(WIRE);
                    Work::Exchange(exchange)
                }
                (Some(call), _) => {
                    writes.push(WORKSPACE);
                    Work::Product(call)
                }
                (None, None) => {
                    let (kernel, maps) = (&self.kernels[launch.kernel], self.maps(m, sizes, r, l)?);
                    Work::Kernel { kernel, grid, row: self.row(m, &rows, l), maps }
                }
            };
            prepared.push(Prepared { work, reads: self.extents(m, &r.moved, &launch.reads), writes });
        }
        self.shared.counters.graphs.fetch_add(1, Ordering::Relaxed);
        StepGraph::new(&self.shared, &stream.raw, &addresses(r), &prepared)
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
                let key = Key { sizes: sizes.to_vec(), addresses: addresses(r), moved: r.moved.clone() };
                let graph = self.build(stream, m, sizes, r)?;
                if own.graphs.len() >= GRAPHS {
                    own.graphs.remove(0);
                }
                own.graphs.push((key, graph));
            }
        }
        let Some((_, graph)) = own.graphs.last() else { unreachable!("the step's graph was just put there") };
        stream.exchanges_in_graph |= self.has_exchanges;
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
        let (shared, addresses, rows) = (&self.shared, addresses(r), self.rows(m, &r.moved));
        let calls = if self.has_products { self.products(stream, m, sizes, r, &rows)? } else { Vec::new() };
        let exchanges = if self.has_exchanges { self.exchanges(m, r)? } else { Vec::new() };
        if self.has_exchanges {
            shared.done("waiting for collectives", stream.before_exchange())?;
        }
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
            let launched = match (calls.get(l).and_then(Option::as_ref), exchanges.get(l).and_then(Option::as_ref)) {
                (_, Some(exchange)) => exchange.enqueue(&stream.raw).map(Ok)?,
                (Some(call), _) => shared.blas.run(&stream.raw, call).map(Ok)?,
                (None, None) => {
                    let maps = self.maps(m, sizes, r, l)?;
                    graph::launch(&stream.raw, kernel, grid, &addresses, self.row(m, &rows, l), &maps)
                }
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

    fn issue(&self, sizes: &[i64], inputs: &[Argument], timer: Option<&mut Vec<Option<(Event, Event)>>>) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        shared.enter()?;
        let mut own = lock(&self.own);
        let m = self.measure(&mut own, sizes)?;
        m.check_inputs(&self.program, inputs, |s| bind::range(shared, s).map(drop))?;
        if self.has_exchanges {
            self.agree(&mut own, &m, sizes)?;
        }
        let mut stream = lock(&shared.stream);
        let mut resolved = bind::resolve(&mut *stream, shared, &self.program, &mut own.kept, &m, inputs)?;
        if self.is_step && timer.is_none() && !shared.blocking {
            self.replay(&mut stream, &mut own, &m, sizes, &resolved)?;
        } else {
            self.launch_all(&mut stream, &m, sizes, &resolved, timer)?;
        }
        shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
        let out = bind::deliver(&mut *stream, shared, &self.program, &m, inputs, &mut resolved)?;
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
