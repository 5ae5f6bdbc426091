//! What all parts of one device share: its context, counts, faults, memory, kernels and stream.

use super::blas::Blas;
use super::driver::{CudaDevice, Failure};
use super::handles::Context;
use super::kernels::Kernels;
use super::memory::Pool;
use super::nccl::Communicators;
use super::stream::Stream;
use crate::memory::lock;
use crate::{DeviceInfo, Stats};
use aludel_compiler::Target;
use aludel_ir::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Shared {
    pub info: DeviceInfo,
    pub target: Target,
    pub device: CudaDevice,
    /// The driver's version to the last digit, where NVML tells it.
    pub driver_build: String,
    /// Launch kernel by kernel, so that a fault names its kernel.
    pub blocking: bool,
    pub counters: Counters,
    pub faults: Faults,
    pub pool: Pool,
    pub kernels: Kernels,
    pub blas: Blas,
    /// With whom programs exchange tensors.
    pub communicators: Communicators,
    /// Locked before the pool, never after.
    pub stream: Mutex<Stream>,
    /// The last field: all the others' objects are in it.
    pub context: Context,
}

impl Shared {
    /// Makes the context current on this thread, unless the device is lost.
    pub fn enter(&self) -> Result<()> {
        self.faults.check()?;
        self.done("entering the context", self.context.enter())
    }

    /// The result of a driver call that was made to `doing` something. A fault that breaks the context is remembered.
    pub fn done<T>(&self, doing: &str, result: Result<T, Failure>) -> Result<T> {
        result.map_err(|e| {
            if e.is_sticky() {
                self.faults.lose(format!("{doing}: {}", e.reason()));
                return self.faults.check().err().unwrap_or_else(|| e.error(doing));
            }
            e.error(doing)
        })
    }

    pub fn stats(&self) -> Stats {
        let c = &self.counters;
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        Stats {
            dispatches: get(&c.dispatches),
            submits: get(&c.submits),
            buffers_created: get(&c.buffers),
            bind_groups_created: get(&c.graphs),
            pipelines_created: get(&c.kernels),
            bytes_moved: get(&c.bytes_moved),
            bytes_in_use: self.pool.bytes_in_use(),
            peak_bytes: self.pool.peak_bytes(),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // What the fields free, they free in this context. One that is broken frees all by itself when it is destroyed.
        let _ = self.context.enter();
    }
}

#[derive(Default)]
pub struct Counters {
    pub dispatches: AtomicU64,
    pub submits: AtomicU64,
    /// Allocations of device and pinned memory.
    pub buffers: AtomicU64,
    /// Steps made into graphs: what binds a step to its memory, as a bind group does on WebGPU.
    pub graphs: AtomicU64,
    pub kernels: AtomicU64,
    pub bytes_moved: AtomicU64,
}

/// A context that a fault has broken stays broken.
#[derive(Default)]
pub struct Faults(Mutex<Option<String>>);

impl Faults {
    pub fn lose(&self, reason: String) {
        lock(&self.0).get_or_insert(reason);
    }

    pub fn lost(&self) -> Option<String> {
        lock(&self.0).clone()
    }

    pub fn check(&self) -> Result<()> {
        match self.lost() {
            Some(reason) => {
                Err(Error::device(format!("the device was lost ({reason})"), "restart the program and restore the last snapshot"))
            }
            None => Ok(()),
        }
    }
}
