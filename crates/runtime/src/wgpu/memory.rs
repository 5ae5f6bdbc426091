//! Device memory: allocations from a pool of buffers, and the ranges of them that are tensors.
//!
//! An allocation is a buffer by itself, not a part of a larger one: WebGPU forbids binding one buffer both for reading and
//! for writing in one dispatch, even at disjoint ranges. Only the ranges of a state block share a buffer. A buffer goes back
//! to the pool with its last range and may be handed out at once, although the device still works with it: whatever uses it
//! next is ordered after. Only host writes overtake recorded commands; [`Allocation::touched`] says when that would matter.

use super::shared::{Shared, lock};
use crate::Memory;
use aludel_ir::program::ALIGN;
use aludel_ir::{Error, Result};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// A buffer and what has to be known of it.
pub struct Raw {
    pub buffer: wgpu::Buffer,
    pub id: u64,
    /// Size in words, of its size class.
    pub words: u64,
    /// The epoch (see [`super::stream::Stream`]) whose commands use it last.
    touched: AtomicU64,
}

/// A buffer in use; goes back to the pool when dropped.
pub struct Allocation {
    raw: Option<Raw>,
    home: Weak<Shared>,
}

impl Allocation {
    pub fn raw(&self) -> &Raw {
        // Taken only by `drop`.
        self.raw.as_ref().unwrap_or_else(|| unreachable!("an allocation has its buffer until it is dropped"))
    }

    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.raw().buffer
    }

    pub fn is_of(&self, shared: &Arc<Shared>) -> bool {
        std::ptr::eq(self.home.as_ptr(), Arc::as_ptr(shared))
    }

    pub fn touch(&self, epoch: u64) {
        self.raw().touched.store(epoch, Ordering::Relaxed);
    }

    pub fn touched(&self) -> u64 {
        self.raw().touched.load(Ordering::Relaxed)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let (Some(raw), Some(home)) = (self.raw.take(), self.home.upgrade()) {
            home.counters.in_use.fetch_sub(raw.words * 4, Ordering::Relaxed);
            home.pool.release(raw, home.counters.peak.load(Ordering::Relaxed));
        }
    }
}

/// Where a tensor lies.
#[derive(Clone)]
pub struct Place {
    pub allocation: Arc<Allocation>,
    /// In words.
    pub offset: u64,
}

/// A tensor: a range of an allocation.
pub struct Range {
    /// Changes when the range is evacuated.
    place: Mutex<Place>,
    words: usize,
    /// A part of a state block, which programs update in place.
    in_block: AtomicBool,
}

impl Range {
    pub fn new(place: Place, words: usize, in_block: bool) -> Self {
        Range { place: Mutex::new(place), words, in_block: in_block.into() }
    }

    pub fn place(&self) -> Place {
        lock(&self.place).clone()
    }

    pub fn in_block(&self) -> bool {
        self.in_block.load(Ordering::Relaxed)
    }

    /// Puts the tensor elsewhere, out of its block; gives its old place.
    pub fn relocate(&self, to: Place) -> Place {
        self.in_block.store(false, Ordering::Relaxed);
        std::mem::replace(&mut *lock(&self.place), to)
    }
}

impl Memory for Range {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn words(&self) -> usize {
        self.words
    }
}

/// Rounds up to a multiple of the alignment of ranges.
pub fn aligned(words: u64) -> u64 {
    words.max(1).next_multiple_of(ALIGN as u64)
}

/// The size that is allocated for a request, in words: eight classes for each power of two, so at most a quarter is wasted.
fn size_class(words: u64) -> u64 {
    let words = aligned(words);
    let step = (words.next_power_of_two() / 8).max(ALIGN as u64);
    words.next_multiple_of(step)
}

/// Buffers that are free, by size class, the last freed last.
#[derive(Default)]
pub struct Pool {
    free: Mutex<Free>,
    trimmed: AtomicBool,
}

#[derive(Default)]
struct Free {
    classes: BTreeMap<u64, Vec<Raw>>,
    words: u64,
    next_id: u64,
}

impl Pool {
    /// A buffer of at least `words`; its contents are anything.
    pub fn allocate(&self, shared: &Arc<Shared>, words: u64) -> Result<Arc<Allocation>> {
        let class = size_class(words);
        let limit = shared.target.max_binding_bytes;
        // The class may overshoot a limit that the request keeps to.
        let class = if class * 4 > limit { aligned(words) } else { class };
        if class * 4 > limit {
            return Err(Error::Limit {
                what: "a tensor on this device".into(),
                value: format!("{} bytes", words * 4),
                limit: format!("{limit} bytes"),
                remedy: "use a smaller batch or layer, or another device".into(),
            });
        }
        let reused = {
            let mut free = lock(&self.free);
            let raw = free.classes.get_mut(&class).and_then(Vec::pop);
            free.words -= raw.as_ref().map_or(0, |r| r.words);
            raw
        };
        let raw = match reused {
            Some(raw) => raw,
            None => self.create(shared, class)?,
        };
        let in_use = shared.counters.in_use.fetch_add(class * 4, Ordering::Relaxed) + class * 4;
        shared.counters.peak.fetch_max(in_use, Ordering::Relaxed);
        Ok(Arc::new(Allocation { raw: Some(raw), home: Arc::downgrade(shared) }))
    }

    /// A buffer for launch parameters; not one of the pool's.
    pub fn uniform(&self, shared: &Shared, words: u64) -> Result<Arc<Allocation>> {
        let words = aligned(words);
        let buffer = shared.create_buffer("launch parameters", words * 4, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)?;
        Ok(Arc::new(Allocation { raw: Some(self.raw(buffer, words)), home: Weak::new() }))
    }

    fn raw(&self, buffer: wgpu::Buffer, words: u64) -> Raw {
        let mut free = lock(&self.free);
        free.next_id += 1;
        Raw { buffer, id: free.next_id, words, touched: AtomicU64::new(0) }
    }

    fn create(&self, shared: &Shared, words: u64) -> Result<Raw> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let make = || shared.create_buffer("tensor", words * 4, usage);
        let buffer = match make() {
            Ok(buffer) => buffer,
            // Out of memory: what lies idle in the pool may be just what is missing.
            Err(_) if self.trim(0) > 0 => make()?,
            Err(e) => return Err(e),
        };
        Ok(self.raw(buffer, words))
    }

    fn release(&self, raw: Raw, peak_bytes: u64) {
        let idle = {
            let mut free = lock(&self.free);
            free.words += raw.words;
            free.classes.entry(raw.words).or_default().push(raw);
            free.words * 4
        };
        // Keep what a step needs again, not what a larger model once needed.
        let keep = peak_bytes.max(128 << 20);
        if idle > keep {
            self.trim(keep / 2);
        }
    }

    /// Gives idle buffers back to the device, the largest first, until at most `keep` bytes are idle; how many went.
    fn trim(&self, keep: u64) -> usize {
        let mut free = lock(&self.free);
        let mut dropped = 0;
        while free.words * 4 > keep {
            let Some(mut last) = free.classes.last_entry() else { break };
            let raw = last.get_mut().pop();
            if last.get().is_empty() {
                last.remove();
            }
            free.words -= raw.map_or(0, |r| r.words);
            dropped += 1;
        }
        self.trimmed.fetch_or(dropped > 0, Ordering::Relaxed);
        dropped
    }

    /// Whether buffers were given back to the device since the last call.
    pub fn was_trimmed(&self) -> bool {
        self.trimmed.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_waste_at_most_a_quarter() {
        for words in (1..5000u64).chain([1 << 20, (1 << 20) + 1, 123_456_789]) {
            let class = size_class(words);
            assert!(class >= words && class.is_multiple_of(ALIGN as u64), "{words}: {class}");
            assert!(class <= (words + words / 4).max(aligned(words)), "{words}: {class}");
        }
    }
}
