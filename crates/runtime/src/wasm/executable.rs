//! A program through WebAssembly: resolves each binding to memory, then calls its kernels in order.

use super::engine::Kernel;
use super::executor::{Allocation, Place, Pool, Shared, Stream};
use super::{Call, trapped};
use crate::bind::{self, Kept};
use crate::guard::Watch;
use crate::measure::{Limits, Measure, Measures, check_program};
use crate::memory::{Backing, lock};
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::Result;
use aludel_ir::program::Program;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

pub(super) struct WasmExecutable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    kernels: Vec<Kernel>,
    scratch_words: u64,
    own: Mutex<Own>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    plan: Option<Arc<Plan>>,
    kept: Kept<Shared>,
    /// The rows of parameters and the table of bindings, and what it holds.
    control: Option<(Arc<Allocation>, Vec<u32>)>,
}

/// The launches for given sizes and a given place of the state.
struct Plan {
    measure: Arc<Measure>,
    moved: Vec<Option<u64>>,
    rows: Vec<u32>,
    /// For each launch how many pieces a thread takes at a time; `None` where one thread does all.
    shared: Vec<Option<u32>>,
}

/// Work that takes one thread less than this many nanoseconds, about, is not shared: waking others takes as long.
const SHARE_NANOSECONDS: f64 = 100_000.0;
/// How often a thread comes for more, about: what evens out that some are slower.
const TURNS: u32 = 4;

type Resolved = bind::Resolved<Shared>;

/// The pieces of work of a launch.
fn pieces(grid: &[u32]) -> u32 {
    grid.iter().fold(1u64, |n, g| n.saturating_mul(*g as u64)).min(u32::MAX as u64) as u32
}

impl WasmExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        #[cfg(not(target_arch = "wasm32"))]
        crate::measure::refuse_collectives(&program, &shared.info.name)?;
        let mut stream = lock(&shared.stream);
        let kernels = program.kernels.iter().map(|k| stream.kernel(&shared, &k.name, &k.binary)).collect::<Result<_>>()?;
        drop(stream);
        let scratch_words = program.kernels.iter().map(|k| k.shared_bytes as u64).max().unwrap_or(0).div_ceil(4);
        Ok(WasmExecutable { shared, program, kernels, scratch_words, own: Mutex::default() })
    }

    /// Which launches are worth sharing among threads.
    fn shared_launches(&self, m: &Measure, sizes: &[i64]) -> Vec<Option<u32>> {
        let threads = self.shared.target.cores;
        let share = |(l, launch): (usize, &aludel_ir::program::Launch)| {
            let pieces = m.grids[l].map_or(0, |grid| pieces(&grid));
            let eval = |e| self.program.eval(e, sizes).unwrap_or(0).max(0) as f64;
            let nanoseconds = eval(&launch.bytes) / 10.0 + eval(&launch.flops) / 20.0;
            let worth = threads > 1 && pieces > 1 && pieces < 1 << 30 && nanoseconds > SHARE_NANOSECONDS;
            worth.then(|| (pieces / (threads * TURNS)).max(1))
        };
        self.program.launches.iter().enumerate().map(share).collect()
    }

    fn plan(&self, own: &mut Own, m: &Arc<Measure>, moved: &[Option<u64>], sizes: &[i64]) -> Arc<Plan> {
        if let Some(p) = own.plan.as_ref().filter(|p| Arc::ptr_eq(&p.measure, m) && p.moved == moved) {
            return p.clone();
        }
        let shared = self.shared_launches(m, sizes);
        let plan = Plan { measure: m.clone(), moved: moved.to_vec(), rows: m.rows(&self.program, moved), shared };
        own.plan.insert(Arc::new(plan)).clone()
    }

    /// Every binding holds what the kernels were planned to touch: they check nothing. Addresses of the bindings.
    fn addresses(&self, m: &Measure, r: &Resolved) -> Result<Vec<u32>> {
        for (i, p) in self.program.placements.iter().enumerate() {
            Shared::address(&r.bound[p.binding].place.after(r.moved[i].unwrap_or(m.offsets[i])), m.words[i])?;
        }
        r.bound.iter().map(|b| Ok(Shared::address(&b.place, 0)? as u32)).collect()
    }

    /// Puts the rows and the table of bindings into memory, unless they are there; the address of each.
    fn control(&self, own: &mut Own, plan: &Plan, addresses: &[u32]) -> Result<(u64, u64)> {
        let words: Vec<u32> = plan.rows.iter().chain(addresses).copied().collect();
        let known = own.control.take().filter(|(a, _)| a.room() >= words.len() as u64);
        let (allocation, held) = match known {
            Some(known) => known,
            None => (Pool::allocate(&self.shared, words.len() as u64)?, Vec::new()),
        };
        let place = Place::start(allocation.clone());
        if held != words {
            self.shared.write(&place, &words)?;
        }
        let start = Shared::address(&place, words.len() as u64)?;
        own.control = Some((allocation, words));
        Ok((start, start + plan.rows.len() as u64 * 4))
    }

    /// The address of memory that kernels may use while they run, as much for each thread.
    fn scratch(&self, stream: &mut Stream) -> Result<u64> {
        let words = self.scratch_words * self.shared.target.cores as u64;
        let known = stream.scratch.take().filter(|a| a.room() >= words);
        let allocation = match known {
            Some(a) => a,
            None => Pool::allocate(&self.shared, words)?,
        };
        let at = Shared::address(&Place::start(allocation.clone()), words)?;
        stream.scratch = Some(allocation);
        Ok(at)
    }

    /// Runs; `timed` has each launch alone, in milliseconds.
    fn issue(&self, sizes: &[i64], inputs: &[Argument], mut timed: Option<&mut Vec<f64>>) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        let mut own = lock(&self.own);
        let limits = Limits {
            device: &shared.info.name,
            binding_bytes: shared.target.max_binding_bytes,
            groups: shared.target.max_groups,
            row_align: 4,
            guards: shared.guards(),
        };
        let m = own.measures.get(&self.program, sizes, &limits)?;
        m.check_inputs(&self.program, inputs, |s| bind::range(shared, s).map(drop))?;
        let mut stream = lock(&shared.stream);
        let mut resolved = bind::resolve(&mut *stream, shared, &self.program, &mut own.kept, &m, inputs)?;
        let addresses = self.addresses(&m, &resolved)?;
        let plan = self.plan(&mut own, &m, &resolved.moved, sizes);
        let (rows, bindings) = self.control(&mut own, &plan, &addresses)?;
        let scratch = self.scratch(&mut stream)? as u32;
        let read = |a: &Arc<Allocation>| shared.read(&Place { allocation: a.clone(), offset: 0 }, a.words());
        let mut watch = if shared.guards() { Some(Watch::start(&self.program, &m, &resolved, read)?) } else { None };
        if let Some(times) = &mut timed {
            times.resize(self.program.launches.len(), 0.0);
        }
        let mut engine = lock(&shared.engine);
        let mut dispatches = 0;
        for (l, launch) in self.program.launches.iter().enumerate() {
            let Some(grid) = m.grids[l] else { continue };
            dispatches += 1;
            let call = Call { row: rows as u32 + m.starts[l], bindings: bindings as u32, start: 0, end: pieces(&grid), scratch };
            let before = if timed.is_some() { engine.now() } else { 0.0 };
            let kernel = &self.kernels[launch.kernel];
            let done = match plan.shared[l] {
                Some(each) => engine.share(kernel, call, each, self.scratch_words as u32 * 4),
                None => engine.call(kernel, call),
            };
            done.map_err(|why| trapped(&launch.label, &why))?;
            if let Some(times) = &mut timed {
                times[l] = engine.now() - before;
            }
            if let Some(watch) = &mut watch {
                drop(engine);
                watch.check(l, read)?;
                engine = lock(&shared.engine);
            }
        }
        drop(engine);
        shared.counters.dispatches.fetch_add(dispatches, Ordering::Relaxed);
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
        bind::deliver(&mut *stream, shared, &self.program, &m, inputs, &mut resolved)
    }
}

impl Executable for WasmExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        self.issue(sizes, inputs, None)
    }

    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        let mut times = Vec::new();
        let out = self.issue(sizes, inputs, Some(&mut times))?;
        Ok((out, Box::pin(std::future::ready(Ok(times)))))
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.program)
    }
}
