//! The device as the rest of Aludel sees it.

use super::build::Compiler;
use super::deferred::Queue;
use super::executable::CpuExecutable;
use super::memory::{Allocation, Place, Pool, Range};
use super::queue::Builds;
use super::team;
use crate::bind::{self, Mover, Parts};
use crate::collective::{Groups, ProcessGroup, World};
use crate::counters::Counters;
use crate::memory::lock;
use crate::{Argument, DeviceInfo, Executable, Executor, Pending, Run, Stats, Storage};
use aludel_compiler::Target;
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// This machine's CPU. Each executor has memory and an order of its own; cores are shared by all.
pub struct CpuExecutor {
    shared: Arc<Shared>,
}

/// What the executor's parts share.
pub(super) struct Shared {
    pub info: DeviceInfo,
    pub target: Target,
    pub builds: Arc<Builds>,
    pub pool: Pool,
    pub counters: Counters,
    /// With whom programs exchange tensors.
    pub groups: Groups,
    /// Whether every launch is watched, see [`crate::guard`].
    pub guard: bool,
    /// Held while device memory is read or written: calls from several threads take turns.
    pub stream: Mutex<Stream>,
}

/// Memory that all runs use, one after another.
#[derive(Default)]
pub(super) struct Stream {
    arenas: Parts<Shared>,
    /// Runs that come before whatever else is done to memory.
    pub queue: Queue,
}

impl Mover for Stream {
    type Device = Shared;

    // Written is only what no noted run touches: new memory, and that of programs which run at once.
    fn write(&mut self, _: &Arc<Shared>, to: &Place, words: &[u32]) -> Result<()> {
        to.write(words)
    }

    fn write_all(&mut self, _: &Arc<Shared>, to: &Arc<Allocation>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()> {
        parts.iter().try_for_each(|(offset, words)| Place { allocation: to.clone(), offset: *offset }.write(words))
    }

    fn copy(&mut self, _: &Arc<Shared>, from: &Place, to: &Place, words: u64) -> Result<()> {
        self.queue.finish()?;
        to.copy(from, words)
    }

    fn arenas(&mut self) -> &mut Parts<Shared> {
        &mut self.arenas
    }
}

impl CpuExecutor {
    /// A device of its own memory and order. Errors where there is no C compiler, and names what to install.
    pub fn new() -> Result<Self> {
        Self::open(false)
    }

    /// As [`CpuExecutor::new`], for tests: a run fails where a kernel writes outside of its tensors, into a band of known words
    /// around each or into another. Launches run one by one, and all memory is compared after each.
    pub fn guarded() -> Result<Self> {
        Self::open(true)
    }

    fn open(guard: bool) -> Result<Self> {
        let compiler = Compiler::find()?;
        let target = target();
        let features = vec![format!("{} threads", team::threads()), format!("vectors of {} f32", target.vector_lanes)];
        let info = DeviceInfo { backend: "CPU".into(), name: name(), features };
        let (pool, counters, stream) = (Pool::default(), Counters::default(), Mutex::default());
        let groups = Groups::default();
        let builds = Builds::new(compiler);
        let shared = Shared { info, target, builds, pool, counters, groups, guard, stream };
        Ok(CpuExecutor { shared: Arc::new(shared) })
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for CpuExecutor {
    fn drop(&mut self) {
        self.shared.builds.abandon();
    }
}

/// What the compiler needs to know of this processor.
fn target() -> Target {
    #[cfg(target_arch = "x86_64")]
    let vector_lanes = match () {
        () if is_x86_feature_detected!("avx512f") => 16,
        () if is_x86_feature_detected!("avx2") => 8,
        () => 4,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let vector_lanes = 4;
    let cpu = Target::cpu();
    let cache_bytes = cache_bytes().unwrap_or(cpu.cache_bytes);
    let vector_registers = if vector_lanes == 16 || cfg!(target_arch = "aarch64") { 32 } else { 16 };
    Target { vector_lanes, vector_registers, cache_bytes, cores: team::threads().min(64) as u32, ..cpu }
}

/// The size of a second-level cache, as Linux tells it.
fn cache_bytes() -> Option<u32> {
    let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").ok()?;
    told.trim().strip_suffix('K')?.parse::<u32>().ok()?.checked_mul(1024)
}

/// The processor's own name.
fn name() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(':'));
    model.map_or_else(|| format!("CPU ({})", std::env::consts::ARCH), |(_, name)| name.trim().to_string())
}

impl Executor for CpuExecutor {
    fn info(&self) -> DeviceInfo {
        self.shared.info.clone()
    }

    fn target(&self) -> Option<Target> {
        Some(self.shared.target.clone())
    }

    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        let missing = || Error::invalid(format!("graph {}", graph.name), "has no program", "compile it for this device's target");
        Ok(Arc::new(CpuExecutable::new(self.shared.clone(), program.ok_or_else(missing)?)?))
    }

    fn ready(&self) -> Pending<()> {
        // What a run says of its kernels has their names.
        let done = lock(&self.shared.stream).queue.finish().and_then(|()| self.shared.builds.finish());
        Box::pin(std::future::ready(done))
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        let _stream = lock(&self.shared.stream);
        let place = Place::start(Pool::allocate(&self.shared, words.len() as u64)?);
        place.write(words)?;
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

    fn reads_at_once(&self) -> bool {
        true
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        let read = || {
            let range = bind::range(&self.shared, storage)?;
            let mut stream = lock(&self.shared.stream);
            stream.queue.finish()?;
            range.place().read(storage.words() as u64)
        };
        Box::pin(std::future::ready(read()))
    }

    fn flush(&self) {
        // Who reads a result hears why there is none.
        drop(lock(&self.shared.stream).queue.finish());
    }

    fn throttle(&self, depth: usize) -> Pending<()> {
        let done = if depth == 0 { lock(&self.shared.stream).queue.finish() } else { Ok(()) };
        Box::pin(std::future::ready(done))
    }

    fn reset_peak(&self) {
        // What temporaries of an earlier, larger program left; the next run takes what it needs.
        *lock(&self.shared.stream).arenas() = Parts::default();
        self.shared.pool.reset_peak();
    }

    fn join(&self, group: Arc<dyn ProcessGroup>) -> Result<()> {
        self.shared.groups.join(group);
        Ok(())
    }

    fn join_world(&self, name: &str, world: &World, timeout: Duration) -> Result<(usize, usize)> {
        self.shared.groups.join_world(name, world, timeout)
    }

    fn split(&self, of: &str, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
        // Behind what other threads run on the device: a collective of theirs is over before the ranks meet for this.
        let mut stream = lock(&self.shared.stream);
        stream.queue.finish()?;
        self.shared.groups.split(of, name, ranks)
    }

    fn stats(&self) -> Stats {
        self.shared.counters.stats(&self.shared.pool)
    }

    fn lost(&self) -> Option<String> {
        lock(&self.shared.stream).queue.failed().map(ToString::to_string)
    }
}
