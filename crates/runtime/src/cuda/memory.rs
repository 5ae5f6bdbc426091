//! Device memory: a caching allocator, and the ranges that are tensors.
//!
//! Memory goes back to the pool with its last range and may be handed out at once, although the device still works with it:
//! all work is on one stream, so whatever uses it next comes after.

use super::handles::DeviceMemory;
use super::shared::{Shared, lock};
use crate::Memory;
use aludel_ir::program::ALIGN;
use aludel_ir::{Error, Result};
use cudarc::driver::sys::CUdeviceptr;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Memory and its size in words, of its size class.
struct Raw {
    memory: DeviceMemory,
    words: u64,
}

/// Memory in use; goes back to the pool when dropped.
pub struct Allocation {
    address: CUdeviceptr,
    words: u64,
    home: Weak<Shared>,
}

impl Allocation {
    pub fn words(&self) -> u64 {
        self.words
    }

    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    pub fn is_of(&self, shared: &Arc<Shared>) -> bool {
        std::ptr::eq(self.home.as_ptr(), Arc::as_ptr(shared))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // Where the device is gone, so is its memory.
        if let Some(home) = self.home.upgrade() {
            home.counters.in_use.fetch_sub(self.words * 4, Ordering::Relaxed);
            home.pool.release(&home, Raw { memory: DeviceMemory(self.address), words: self.words });
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

impl Place {
    pub fn start(allocation: Arc<Allocation>) -> Place {
        Place { allocation, offset: 0 }
    }

    pub fn address(&self) -> CUdeviceptr {
        self.allocation.address + self.offset * 4
    }
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

/// Memory that is free, by size class, the last freed last.
#[derive(Default)]
pub struct Pool(Mutex<Free>);

#[derive(Default)]
struct Free {
    classes: BTreeMap<u64, Vec<Raw>>,
    words: u64,
}

impl Pool {
    /// At least `words` words, which hold anything. The context is current.
    pub fn allocate(&self, shared: &Arc<Shared>, words: u64) -> Result<Arc<Allocation>> {
        let class = size_class(words);
        if class * 4 > shared.device.memory_bytes {
            return Err(Error::Limit {
                what: "a tensor on this device".into(),
                value: format!("{} bytes", words * 4),
                limit: format!("{} bytes", shared.device.memory_bytes),
                remedy: "use a smaller batch or layer, or another device".into(),
            });
        }
        let reused = {
            let mut free = lock(&self.0);
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
        Ok(Arc::new(Allocation { address: raw.memory.0, words: class, home: Arc::downgrade(shared) }))
    }

    fn create(&self, shared: &Shared, words: u64) -> Result<Raw> {
        shared.counters.buffers.fetch_add(1, Ordering::Relaxed);
        let memory = match DeviceMemory::new(words as usize * 4) {
            // What lies idle in the pool may be just what is missing.
            Err(e) if e.is_out_of_memory() && self.trim(0) > 0 => DeviceMemory::new(words as usize * 4),
            other => other,
        };
        let doing = || format!("allocating {} bytes ({} in use)", words * 4, shared.counters.in_use.load(Ordering::Relaxed));
        Ok(Raw { memory: shared.done(&doing(), memory)?, words })
    }

    fn release(&self, shared: &Shared, raw: Raw) {
        let idle = {
            let mut free = lock(&self.0);
            free.words += raw.words;
            free.classes.entry(raw.words).or_default().push(raw);
            free.words * 4
        };
        // Keep what a step needs again, not what a larger model once needed.
        let keep = shared.counters.peak.load(Ordering::Relaxed).max(128 << 20);
        if idle > keep && shared.context.enter().is_ok() {
            self.trim(keep / 2);
        }
    }

    /// Gives idle memory back to the device, the largest first, until at most `keep` bytes are idle; how many pieces went. The
    /// context is current.
    fn trim(&self, keep: u64) -> usize {
        let mut free = lock(&self.0);
        let mut dropped = 0;
        while free.words * 4 > keep {
            let Some(mut last) = free.classes.last_entry() else { break };
            let raw = last.get_mut().pop();
            if last.get().is_empty() {
                last.remove();
            }
            if let Some(raw) = raw {
                free.words -= raw.words;
                raw.memory.free();
                dropped += 1;
            }
        }
        dropped
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
