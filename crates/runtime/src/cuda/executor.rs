//! The device as the rest of Aludel sees it: requesting one, transfers, and waiting.

use super::blas::Blas;
use super::driver::{self, Failure};
use super::executable::CudaExecutable;
use super::handles::{Context, Event, Pinned, StreamHandle};
use super::kernels::Kernels;
use super::memory::{Place, Pool, Range};
use super::monitor;
use super::nccl::{Communicator, Communicators};
use super::shared::{Counters, Faults, Shared};
use super::stream::Stream;
use crate::bind::{self, Mover, Parts};
use crate::collective::World;
use crate::memory::lock;
use crate::{Argument, DeviceInfo, Executable, Executor, Pending, Run, Stats, Storage};
use aludel_compiler::{MatmulPrecision, Target};
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{DType, Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The oldest compute capability, times ten, that the generated kernels run on: they copy asynchronously and multiply bf16.
const OLDEST: u32 = 80;

/// Which GPU, and how it computes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CudaOptions {
    /// The position of the GPU among [`super::devices`].
    pub device: usize,
    /// What matrix products of f32 may give up for speed; as PyTorch, nothing unless asked.
    pub matmul_precision: MatmulPrecision,
    /// Where compiled kernels are kept; the user's cache directory (or `ALUDEL_CACHE`) where none is named.
    pub cache: Option<PathBuf>,
    /// Compute in the GPU's primary context, which NCCL wants: for ranks that other GPUs are to be connected with. Devices of one process
    /// share it, and what one has taken of the GPU's memory is free when all have gone.
    pub primary_context: bool,
}

/// An NVIDIA GPU. `CUDA_LAUNCH_BLOCKING=1` launches kernel by kernel and waits for each, so that a fault names its kernel.
pub struct CudaExecutor {
    shared: Arc<Shared>,
}

impl CudaExecutor {
    /// A device in a context of its own. Errors: no driver, one that is too old, no such GPU, one below compute capability 8.0.
    pub fn new(options: &CudaOptions) -> Result<Self> {
        let device = driver::describe(options.device, driver::version()?)?;
        if device.compute_capability < OLDEST {
            let capability = device.compute_capability;
            return Err(Error::unsupported(
                format!("{}, of compute capability {}.{}", device.name, capability / 10, capability % 10),
                "use a GPU of compute capability 8.0 or later (Ampere), or --device cpu",
            ));
        }
        let failed = |e: Failure| e.error("making a context");
        let gpu = driver::device(options.device)?;
        let context = if options.primary_context { Context::primary(gpu) } else { Context::new(gpu) }.map_err(failed)?;
        context.enter().map_err(failed)?;
        let stream = Stream::new(StreamHandle::new().map_err(failed)?);
        let library_products = super::blas::is_available();
        let target =
            Target { library_products, units: device.multiprocessors, ..Target::cuda(device.compute_capability, options.matmul_precision) };
        let (version, capability) = (device.driver_version, device.compute_capability);
        let features = vec![format!("cuda-{}.{}", version / 1000, version % 1000 / 10), format!("sm_{capability}")];
        let info = DeviceInfo { backend: "CUDA".into(), name: device.name.clone(), features };
        let shared = Shared {
            info,
            target,
            device,
            driver_build: monitor::driver_build().unwrap_or_default(),
            blocking: std::env::var("CUDA_LAUNCH_BLOCKING").is_ok_and(|v| v == "1"),
            counters: Counters::default(),
            faults: Faults::default(),
            pool: Pool::default(),
            kernels: Kernels::new(options.cache.clone()),
            blas: Blas::new(options.cache.clone()),
            communicators: Communicators::default(),
            stream: Mutex::new(stream),
            context,
        };
        Ok(CudaExecutor { shared: Arc::new(shared) })
    }

    /// Loses the device, as a kernel that faults would: what tests use to rehearse recovery.
    pub fn destroy(&self) {
        self.shared.faults.lose("destroyed".into());
    }

    /// Starts reading back.
    fn read(&self, storage: &Storage) -> Result<Option<Read>> {
        let shared = &self.shared;
        shared.enter()?;
        let range = bind::range(shared, storage)?;
        let words = storage.words();
        if words == 0 {
            return Ok(None);
        }
        let mut stream = lock(&shared.stream);
        let memory = stream.readback(shared, words)?;
        let event = stream.copy_out(shared, &range.place(), &memory, words)?;
        stream.submit(shared)?;
        Ok(Some(Read { memory: Some(memory), event, words, shared: shared.clone() }))
    }
}

/// Words on their way to the host.
struct Read {
    memory: Option<Pinned>,
    event: Event,
    words: usize,
    shared: Arc<Shared>,
}

impl Read {
    /// The words, once the work issued before is done. Only this waits: others go on issuing work.
    fn finish(mut self) -> Result<Vec<u32>> {
        self.shared.enter()?;
        self.shared.done("running kernels", self.event.wait())?;
        let words = self.memory.as_ref().map(|m| m.read(self.words).to_vec()).unwrap_or_default();
        if let Some(memory) = self.memory.take() {
            lock(&self.shared.stream).return_readback(memory);
        }
        Ok(words)
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        // Memory that the device still writes must not go.
        if self.memory.is_some() && self.shared.context.enter().is_ok() {
            let _ = self.event.wait();
        }
    }
}

impl Executor for CudaExecutor {
    fn info(&self) -> DeviceInfo {
        self.shared.info.clone()
    }

    fn target(&self) -> Option<Target> {
        Some(self.shared.target.clone())
    }

    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        self.shared.enter()?;
        let missing = || Error::invalid(format!("graph {}", graph.name), "has no program", "compile it for this device's target");
        Ok(Arc::new(CudaExecutable::new(self.shared.clone(), program.ok_or_else(missing)?)?))
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        let shared = &self.shared;
        shared.enter()?;
        let mut stream = lock(&shared.stream);
        let place = Place::start(Pool::allocate(shared, words.len() as u64)?);
        stream.write(shared, &place, words)?;
        stream.submit_if_full(shared)?;
        Ok(Arc::new(Range::new(place, words.len(), false)))
    }

    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        shared.enter()?;
        let mut stream = lock(&shared.stream);
        let out = bind::allocate_block(&mut *stream, shared, contents)?;
        stream.submit(shared)?;
        Ok(out)
    }

    fn allocate_offloaded(&self, contents: &[(DType, Argument)]) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        shared.enter()?;
        let mut stream = lock(&shared.stream);
        let out = self.allocate_blocks(contents, &mut |block| bind::allocate_in(&mut *stream, shared, block, Pool::allocate_on_host))?;
        stream.submit(shared)?;
        Ok(out)
    }

    fn copy_runs(&self, into: &Storage, from: &Storage, runs: &[Run]) -> Result<bool> {
        let shared = &self.shared;
        shared.enter()?;
        bind::copy_runs(&mut *lock(&shared.stream), shared, into, from, runs).map(|()| true)
    }

    fn evacuate(&self, range: &Storage) -> Result<Storage> {
        let shared = &self.shared;
        shared.enter()?;
        let mut stream = lock(&shared.stream);
        let out = bind::evacuate(&mut *stream, shared, range)?;
        stream.submit_if_full(shared)?;
        Ok(out)
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        match self.read(storage) {
            Ok(Some(read)) => Box::pin(async move { read.finish() }),
            Ok(None) => Box::pin(std::future::ready(Ok(Vec::new()))),
            Err(e) => Box::pin(std::future::ready(Err(e))),
        }
    }

    fn flush(&self) {
        // What fails here fails again in the next call, which can say so.
        if self.shared.enter().is_ok() {
            let _ = lock(&self.shared.stream).submit(&self.shared);
        }
    }

    fn throttle(&self, depth: usize) -> Pending<()> {
        self.flush();
        let shared = self.shared.clone();
        Box::pin(async move {
            shared.enter()?;
            // The lock is held to find the event, not to wait for it.
            let awaited = lock(&shared.stream).awaited(&shared, depth)?;
            match awaited {
                Some(event) => shared.done("running kernels", event.wait()),
                None => Ok(()),
            }
        })
    }

    fn join_world(&self, name: &str, world: &World, timeout: Duration) -> Result<(usize, usize)> {
        let shared = &self.shared;
        if world.size == 1 && world.master.is_none() {
            return Ok((0, 1));
        }
        shared.enter()?;
        if !shared.context.is_primary() {
            let remedy = "open it with CudaOptions::primary_context";
            return Err(Error::invalid(format!("group {name}"), "the device has a context of its own, which NCCL does not know", remedy));
        }
        let communicator = Communicator::connect(name, world, shared.device.index, timeout)?;
        // NCCL has made the primary context current, which is this one.
        shared.communicators.join(communicator);
        Ok((world.rank, world.size))
    }

    fn split(&self, of: &str, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
        let shared = &self.shared;
        shared.enter()?;
        // What was issued so far, its collectives too, is on its way before the ranks meet: NCCL may wait for it.
        lock(&shared.stream).submit(shared)?;
        shared.communicators.split(of, name, ranks, shared.device.index)
    }

    fn reset_peak(&self) {
        // What temporaries of an earlier, larger program left; the next run takes what it needs.
        *lock(&self.shared.stream).arenas() = Parts::default();
        self.shared.pool.reset_peak();
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn lost(&self) -> Option<String> {
        self.shared.faults.lost()
    }
}
