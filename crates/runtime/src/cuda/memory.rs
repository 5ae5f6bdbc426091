//! Device memory from the driver.

use super::handles::DeviceMemory;
use super::shared::Shared;
use crate::memory::{self, Backing};
use aludel_ir::Result;
use cudarc::driver::sys::CUdeviceptr;
use std::sync::atomic::Ordering;

pub type Allocation = memory::Allocation<Shared>;
pub type Place = memory::Place<Shared>;
pub type Pool = memory::Pool<Shared>;
pub type Range = memory::Range<Shared>;

impl Backing for Shared {
    type Raw = DeviceMemory;
    const WHOLE: bool = false;

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn name(&self) -> &str {
        &self.info.name
    }

    fn largest(&self) -> u64 {
        self.device.memory_bytes
    }

    /// The context is current.
    fn create(&self, words: u64) -> Result<DeviceMemory> {
        self.counters.buffers.fetch_add(1, Ordering::Relaxed);
        let doing = || format!("allocating {} bytes ({} in use)", words * 4, self.pool.bytes_in_use());
        self.done(&doing(), DeviceMemory::new(words as usize * 4))
    }

    /// The context is current.
    fn create_on_host(&self, words: u64) -> Result<Option<DeviceMemory>> {
        self.counters.buffers.fetch_add(1, Ordering::Relaxed);
        let doing = || format!("allocating {} bytes of the host's memory", words * 4);
        self.done(&doing(), DeviceMemory::on_host(words as usize * 4)).map(Some)
    }

    fn free(&self, memory: Vec<DeviceMemory>) {
        // A broken context frees all by itself.
        if self.context.enter().is_ok() {
            memory.into_iter().for_each(DeviceMemory::free);
        }
    }
}

impl Allocation {
    pub fn address(&self) -> CUdeviceptr {
        self.raw().address()
    }
}

impl Place {
    pub fn address(&self) -> CUdeviceptr {
        self.allocation.address() + self.offset * 4
    }
}
