//! What executors that run kernels on the host's processor count.

use crate::Stats;
use crate::memory::{Backing, Pool};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub(crate) struct Counters {
    pub dispatches: AtomicU64,
    pub submits: AtomicU64,
    pub buffers: AtomicU64,
    pub pipelines: AtomicU64,
    pub bytes_moved: AtomicU64,
}

impl Counters {
    /// With what the pool counts. Nothing binds programs to memory there.
    pub fn stats<D: Backing>(&self, pool: &Pool<D>) -> Stats {
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        Stats {
            dispatches: get(&self.dispatches),
            submits: get(&self.submits),
            buffers_created: get(&self.buffers),
            bind_groups_created: 0,
            pipelines_created: get(&self.pipelines),
            bytes_moved: get(&self.bytes_moved),
            bytes_in_use: pool.bytes_in_use(),
            peak_bytes: pool.peak_bytes(),
        }
    }
}
