//! Device memory: an allocation is a buffer by itself, not a part of a larger one.
//!
//! WebGPU forbids binding one buffer both for reading and for writing in one dispatch, even at disjoint ranges; only the ranges of a
//! state block share a buffer. Host writes overtake recorded commands: [`Allocation::touched`] says when that would matter.

use super::shared::Shared;
use crate::guard;
use crate::memory::{self, Backing, aligned};
use aludel_ir::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub type Allocation = memory::Allocation<Shared>;
pub type Place = memory::Place<Shared>;
pub type Pool = memory::Pool<Shared>;
pub type Range = memory::Range<Shared>;

/// A buffer and what has to be known of it.
pub struct Buffer {
    buffer: wgpu::Buffer,
    id: u64,
    /// The epoch (see [`super::stream::Stream`]) whose commands use it last.
    touched: AtomicU64,
}

impl Buffer {
    fn new(shared: &Shared, buffer: wgpu::Buffer) -> Buffer {
        Buffer { buffer, id: shared.counters.identities.fetch_add(1, Ordering::Relaxed) + 1, touched: AtomicU64::new(0) }
    }
}

impl Backing for Shared {
    type Raw = Buffer;
    const WHOLE: bool = true;

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn name(&self) -> &str {
        &self.info.name
    }

    fn largest(&self) -> u64 {
        self.target.max_binding_bytes
    }

    fn create(&self, words: u64) -> Result<Buffer> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create_buffer("tensor", words * 4, usage)?;
        if self.guard {
            self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&guard::patterns(words)));
        }
        Ok(Buffer::new(self, buffer))
    }

    fn guards(&self) -> bool {
        self.guard
    }

    fn free(&self, memory: Vec<Buffer>) {
        self.trimmed.fetch_or(!memory.is_empty(), Ordering::Relaxed);
    }
}

impl Allocation {
    /// A buffer for launch parameters; not one of the pool's.
    pub fn uniform(shared: &Shared, words: u64) -> Result<Arc<Allocation>> {
        let words = aligned(words);
        let buffer = shared.create_buffer("launch parameters", words * 4, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)?;
        Ok(Arc::new(Allocation::outside(Buffer::new(shared, buffer), words)))
    }

    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.raw().buffer
    }

    /// Names the buffer among all of its device, from 1.
    pub fn id(&self) -> u64 {
        self.raw().id
    }

    pub fn touch(&self, epoch: u64) {
        self.raw().touched.store(epoch, Ordering::Relaxed);
    }

    pub fn touched(&self) -> u64 {
        self.raw().touched.load(Ordering::Relaxed)
    }
}
