//! What all parts of one device share: the device and its queue, counts, faults and the progress of submissions.

#[cfg(not(target_arch = "wasm32"))]
use super::disk::Kept;
use super::memory::Pool;
use super::pipeline::Pipelines;
use super::stream::Stream;
use crate::memory::lock;
use crate::{DeviceInfo, Loading, LoadingObserver, Stats};
use aludel_compiler::Target;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

pub struct Shared {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: wgpu::Limits,
    pub info: DeviceInfo,
    pub target: Target,
    pub counters: Counters,
    pub faults: Arc<Faults>,
    pub progress: Arc<Progress>,
    pub pool: Pool,
    /// Whether every launch is watched, see [`crate::guard`].
    pub guard: bool,
    /// Bytes of the adapter's own memory, where they are known.
    pub memory_bytes: Option<u64>,
    /// Hears of kernels being compiled.
    pub observer: Mutex<Option<LoadingObserver>>,
    #[cfg(not(target_arch = "wasm32"))]
    pub kept: Option<Kept>,
    /// Steps whose kernels nobody has asked for yet: see [`super::browser`].
    #[cfg(target_arch = "wasm32")]
    pub unloaded: Mutex<Vec<Arc<Program>>>,
    /// Buffers were given back to the device since bind groups were last looked for.
    pub trimmed: AtomicBool,
    pub pipelines: Mutex<Pipelines>,
    /// Pipelines that are being compiled beside the callers.
    #[cfg(not(target_arch = "wasm32"))]
    pub unfinished: Arc<Unfinished>,
    /// Locked before the pool and the pipelines, never after.
    pub stream: Mutex<Stream>,
}

impl Shared {
    /// A new buffer; counted.
    pub fn create_buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        if size > self.limits.max_buffer_size {
            return Err(Error::Limit {
                what: format!("a buffer ({label})"),
                value: format!("{size} bytes"),
                limit: format!("{} bytes on {}", self.limits.max_buffer_size, self.info.name),
                remedy: "use a smaller batch or model".into(),
            });
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false });
        self.counters.buffers.fetch_add(1, Ordering::Relaxed);
        self.faults.check()?;
        Ok(buffer)
    }

    /// Tells whoever listens how many kernels of a program are compiled.
    pub fn report(&self, program: &Program, done: usize, total: usize) {
        // Not called under the lock: it may end with listening to something else.
        let observer = lock(&self.observer).clone();
        if let Some(observer) = observer {
            observer(&Loading { program: program.name.clone(), done, total });
        }
    }

    pub fn stats(&self) -> Stats {
        let c = &self.counters;
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        Stats {
            dispatches: get(&c.dispatches),
            submits: get(&c.submits),
            buffers_created: get(&c.buffers),
            bind_groups_created: get(&c.bind_groups),
            pipelines_created: get(&c.pipelines),
            bytes_moved: get(&c.bytes_moved),
            bytes_in_use: self.pool.bytes_in_use(),
            peak_bytes: self.pool.peak_bytes(),
        }
    }
}

#[derive(Default)]
pub struct Counters {
    pub dispatches: AtomicU64,
    pub submits: AtomicU64,
    pub buffers: AtomicU64,
    pub bind_groups: AtomicU64,
    pub pipelines: AtomicU64,
    pub bytes_moved: AtomicU64,
    /// Buffers that have a name of their own.
    pub identities: AtomicU64,
}

/// How many jobs are under way on other threads.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Default)]
pub struct Unfinished(Mutex<usize>, std::sync::Condvar);

#[cfg(not(target_arch = "wasm32"))]
impl Unfinished {
    pub fn begin(&self) {
        *lock(&self.0) += 1;
    }

    pub fn end(&self) {
        *lock(&self.0) -= 1;
        self.1.notify_all();
    }

    /// Ends when none is left.
    pub fn wait(&self) {
        let mut count = lock(&self.0);
        while *count > 0 {
            count = self.1.wait(count).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}

/// The problem of an error for want of memory.
pub const OUT_OF_MEMORY: &str = "out of memory";

/// Errors that arrive beside the calls that cause them: at once on native, later in a browser.
#[derive(Default)]
pub struct Faults {
    lost: Mutex<Option<String>>,
    error: Mutex<Option<Error>>,
}

impl Faults {
    pub fn lose(&self, reason: String) {
        lock(&self.lost).get_or_insert(reason);
    }

    pub fn lost(&self) -> Option<String> {
        lock(&self.lost).clone()
    }

    /// Keeps the first error until a call can return it; those that follow are its consequences.
    pub fn record(&self, error: wgpu::Error) {
        self.fail(Self::describe(error));
    }

    /// See [`Faults::record`].
    pub fn fail(&self, error: Error) {
        lock(&self.error).get_or_insert(error);
    }

    pub fn describe(error: wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { .. } => Error::device(OUT_OF_MEMORY, "use a smaller batch or model, or free tensors"),
            wgpu::Error::Validation { description, .. } => {
                Error::device(description, "report this: the program is not valid on this device")
            }
            wgpu::Error::Internal { description, .. } => Error::device(description, "try again, or use another device"),
        }
    }

    /// An error if the device is lost, or the recorded one, which is then forgotten.
    pub fn check(&self) -> Result<()> {
        if let Some(reason) = self.lost() {
            return Err(Error::device(format!("the device was lost ({reason})"), "request a new device and restore the last snapshot"));
        }
        lock(&self.error).take().map_or(Ok(()), Err)
    }
}

/// How far the device has come with what was submitted.
#[derive(Default)]
pub struct Progress {
    submitted: AtomicU64,
    done: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

impl Progress {
    /// Counts a submission; gives its number, the first being 1.
    pub fn submit(&self) -> u64 {
        self.submitted.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub fn complete(&self, submission: u64) {
        self.done.fetch_max(submission, Ordering::Relaxed);
        self.wake();
    }

    pub fn wake(&self) {
        lock(&self.wakers).drain(..).for_each(Waker::wake);
    }

    pub fn unfinished(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed).saturating_sub(self.done.load(Ordering::Relaxed))
    }

    /// Asks to be woken when anything completes.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
    pub fn watch(&self, waker: &Waker) {
        lock(&self.wakers).push(waker.clone());
    }
}
