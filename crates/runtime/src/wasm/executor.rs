//! The device as the rest of Aludel sees it.

use super::engine::{self, Engine, Kernel};
use super::executable::WasmExecutable;
use super::heap::{Block, Heap};
use super::{PAGE, refused};
use crate::bind::{self, Mover, Parts};
use crate::counters::Counters;
use crate::guard;
use crate::memory::{self, Backing, lock};
use crate::{Argument, DeviceInfo, Executable, Executor, Pending, Run, Stats, Storage};
use aludel_compiler::Target;
use aludel_compiler::codegen::wasm::MOST_PAGES;
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Bytes after the last tensor: vectors of which only some elements are used are read there.
const SLACK: u64 = 64;

/// The CPU through WebAssembly. Each executor has memory and an order of its own.
pub struct WasmExecutor {
    shared: Arc<Shared>,
}

pub(super) type Allocation = memory::Allocation<Shared>;
pub(super) type Place = memory::Place<Shared>;
pub(super) type Pool = memory::Pool<Shared>;
type Range = memory::Range<Shared>;

/// What the executor's parts share. Locks are taken in the order of the fields.
pub(super) struct Shared {
    pub info: DeviceInfo,
    pub target: Target,
    pub pool: Pool,
    pub counters: Counters,
    /// Whether every launch is watched, see [`crate::guard`].
    pub guard: bool,
    /// Held while device memory is read or written: calls from several threads take turns.
    pub stream: Mutex<Stream>,
    heap: Mutex<Heap>,
    pub engine: Mutex<Engine>,
}

/// Memory that all runs use, one after another, and the kernels that are compiled.
#[derive(Default)]
pub(super) struct Stream {
    arenas: Parts<Shared>,
    pub scratch: Option<Arc<Allocation>>,
    kernels: HashMap<Vec<u8>, Kernel>,
}

impl Stream {
    /// A kernel from its module; equal ones are one.
    pub fn kernel(&mut self, shared: &Shared, name: &str, module: &[u8]) -> Result<Kernel> {
        if let Some(known) = self.kernels.get(module) {
            return Ok(known.clone());
        }
        let kernel = lock(&shared.engine).load(module).map_err(|why| refused(name, &why))?;
        shared.counters.pipelines.fetch_add(1, Ordering::Relaxed);
        self.kernels.insert(module.to_vec(), kernel.clone());
        Ok(kernel)
    }
}

impl Shared {
    /// The byte at which a place begins, where its allocation holds so many words from there.
    pub fn address(place: &Place, words: u64) -> Result<u64> {
        let end = place.offset.checked_add(words);
        if end.is_none_or(|end| end > place.allocation.words()) {
            let what = format!("{words} words at {} of an allocation of {}", place.offset, place.allocation.words());
            return Err(Error::device(format!("a tensor leaves its memory: {what}"), "report this"));
        }
        Ok(place.allocation.raw().address() + place.offset * 4)
    }

    pub fn read(&self, place: &Place, words: u64) -> Result<Vec<u32>> {
        lock(&self.engine).read(Self::address(place, words)?, words as usize)
    }

    pub fn write(&self, place: &Place, words: &[u32]) -> Result<()> {
        lock(&self.engine).write(Self::address(place, words.len() as u64)?, words)
    }
}

impl Backing for Shared {
    type Raw = Block;
    const WHOLE: bool = false;

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn name(&self) -> &str {
        &self.info.name
    }

    fn largest(&self) -> u64 {
        self.target.max_binding_bytes
    }

    fn create(&self, words: u64) -> Result<Block> {
        self.counters.buffers.fetch_add(1, Ordering::Relaxed);
        let mut heap = lock(&self.heap);
        let missing =
            || Error::device(format!("out of memory: {} bytes are not to be had", words.saturating_mul(4)), "use a smaller batch or model");
        let block = heap.take(words).ok_or_else(missing)?;
        let mut engine = lock(&self.engine);
        let (there, needed) = (engine.bytes(), block.address() + block.words * 4 + SLACK);
        if needed > there {
            // By at least an eighth: growing may move all there is.
            let least = (needed - there).div_ceil(PAGE);
            let more = least.max(there / PAGE / 8);
            let room = MOST_PAGES.saturating_sub(there / PAGE);
            if let Err(e) = engine.grow(more.min(room)).or_else(|_| engine.grow(least)) {
                heap.give(block);
                return Err(e);
            }
        }
        if self.guard {
            engine.write(block.address(), &guard::patterns(block.words))?;
        }
        Ok(block)
    }

    fn guards(&self) -> bool {
        self.guard
    }

    fn free(&self, memory: Vec<Block>) {
        let mut heap = lock(&self.heap);
        memory.into_iter().for_each(|b| heap.give(b));
    }
}

impl Mover for Stream {
    type Device = Shared;

    fn write(&mut self, device: &Arc<Shared>, to: &Place, words: &[u32]) -> Result<()> {
        device.write(to, words)
    }

    fn write_all(&mut self, device: &Arc<Shared>, to: &Arc<Allocation>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()> {
        parts.iter().try_for_each(|(offset, words)| device.write(&Place { allocation: to.clone(), offset: *offset }, words))
    }

    fn copy(&mut self, device: &Arc<Shared>, from: &Place, to: &Place, words: u64) -> Result<()> {
        let (from, to) = (Shared::address(from, words)?, Shared::address(to, words)?);
        if from == to { Ok(()) } else { lock(&device.engine).copy(from, to, words as usize) }
    }

    fn arenas(&mut self) -> &mut Parts<Shared> {
        &mut self.arenas
    }
}

impl WasmExecutor {
    /// A device of its own memory and order.
    ///
    /// # Errors
    ///
    /// Where the engine has no vectors, or gives no memory.
    pub fn new() -> Result<Self> {
        Self::open(false)
    }

    /// As [`WasmExecutor::new`], for tests: a run fails where a kernel writes outside of its tensors.
    pub fn guarded() -> Result<Self> {
        Self::open(true)
    }

    fn open(guard: bool) -> Result<Self> {
        let threads = engine::threads();
        let engine = Engine::new(threads)?;
        let target = Target { fused_vectors: engine::fuses(), shared_memory: threads > 1, cores: threads, ..Target::wasm() };
        let mut features = vec!["vectors of 4 f32".to_string()];
        if target.fused_vectors {
            features.push("fused multiply-add".into());
        }
        features.push(if threads > 1 { format!("{threads} threads") } else { "one thread".into() });
        let info = DeviceInfo { backend: "WebAssembly".into(), name: engine::NAME.into(), features };
        let heap = Mutex::new(Heap::new((MOST_PAGES * PAGE - SLACK) / 4));
        let (pool, counters, stream) = (Pool::default(), Counters::default(), Mutex::default());
        let shared = Shared { info, target, pool, counters, guard, stream, heap, engine: Mutex::new(engine) };
        Ok(WasmExecutor { shared: Arc::new(shared) })
    }
}

impl Executor for WasmExecutor {
    fn info(&self) -> DeviceInfo {
        self.shared.info.clone()
    }

    fn target(&self) -> Option<Target> {
        Some(self.shared.target.clone())
    }

    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        let missing = || Error::invalid(format!("graph {}", graph.name), "has no program", "compile it for this device's target");
        Ok(Arc::new(WasmExecutable::new(self.shared.clone(), program.ok_or_else(missing)?)?))
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        let _stream = lock(&self.shared.stream);
        let place = Place::start(Pool::allocate(&self.shared, words.len() as u64)?);
        self.shared.write(&place, words)?;
        Ok(Arc::new(Range::new(place, words.len(), false)))
    }

    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        bind::allocate_block(&mut *lock(&self.shared.stream), &self.shared, contents)
    }

    fn copy_runs(&self, into: &Storage, from: &Storage, runs: &[Run]) -> Result<bool> {
        bind::copy_runs(&mut *lock(&self.shared.stream), &self.shared, into, from, runs).map(|()| true)
    }

    fn evacuate(&self, range: &Storage) -> Result<Storage> {
        bind::evacuate(&mut *lock(&self.shared.stream), &self.shared, range)
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        let read = || {
            let range = bind::range(&self.shared, storage)?;
            let _stream = lock(&self.shared.stream);
            self.shared.read(&range.place(), storage.words() as u64)
        };
        Box::pin(std::future::ready(read()))
    }

    fn flush(&self) {}

    fn throttle(&self, _: usize) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn reset_peak(&self) {
        self.shared.pool.reset_peak();
    }

    fn stats(&self) -> Stats {
        self.shared.counters.stats(&self.shared.pool)
    }

    fn lost(&self) -> Option<String> {
        None
    }
}
