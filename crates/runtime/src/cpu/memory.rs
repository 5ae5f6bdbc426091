//! Device memory on the host: aligned blocks of words, a pool of those no longer used, and the tensors in them.
//!
//! Words are read and written under the device's lock only (see `Shared::stream` in the executor), never through references.

use super::lock;
use crate::Memory;
use aludel_ir::program::ALIGN;
use aludel_ir::{Error, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Every buffer starts at a multiple of so many bytes: planned offsets are multiples of it too.
const ALIGN_BYTES: usize = ALIGN as usize * 4;
/// Unused memory that is kept for later, at least.
const KEEP_BYTES: u64 = 256 << 20;

/// Words rounded up to the alignment of buffers.
pub(super) fn aligned(words: u64) -> u64 {
    words.max(1).next_multiple_of(ALIGN as u64)
}

/// A block of the system's memory. Fresh blocks hold zeros.
struct Block {
    start: NonNull<u32>,
    words: u64,
}

// SAFETY: a block owns its memory; who may touch the words is decided by the device's lock, not by the thread.
unsafe impl Send for Block {}
unsafe impl Sync for Block {}

fn layout(words: u64) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(words.checked_mul(4)?).ok()?, ALIGN_BYTES).ok()
}

impl Block {
    fn new(words: u64) -> Option<Self> {
        let layout = layout(words).filter(|l| l.size() > 0)?;
        // SAFETY: the layout has a size above zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Block { start: start.cast(), words })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = layout(self.words) {
            // SAFETY: `start` was allocated with this very layout, and nothing points into it any more.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) }
        }
    }
}

/// Blocks that nobody uses, by size, and the counts of all.
#[derive(Default)]
pub(super) struct Pool {
    free: Mutex<Free>,
    pub in_use: AtomicU64,
    pub peak: AtomicU64,
    pub created: AtomicU64,
}

#[derive(Default)]
struct Free {
    by_words: BTreeMap<u64, Vec<Block>>,
    bytes: u64,
}

impl Pool {
    /// Sizes come in eighths of powers of two, so that sizes that differ a little share blocks.
    fn class(words: u64) -> u64 {
        let words = aligned(words);
        let step = (words.next_power_of_two() / 16).max(ALIGN as u64);
        words.next_multiple_of(step)
    }

    /// A block of at least so many words; old contents, or zeros.
    pub fn allocate(self: &Arc<Self>, words: u64) -> Result<Arc<Allocation>> {
        let words = Self::class(words);
        let reused = {
            let mut free = lock(&self.free);
            let block = free.by_words.get_mut(&words).and_then(Vec::pop);
            if block.is_some() {
                free.bytes -= words * 4;
            }
            block
        };
        let block = match reused {
            Some(b) => b,
            None => {
                self.created.fetch_add(1, Ordering::Relaxed);
                Block::new(words).ok_or_else(|| {
                    Error::device(
                        format!("out of memory: {} bytes are not to be had", words.saturating_mul(4)),
                        "use a smaller batch or model",
                    )
                })?
            }
        };
        let in_use = self.in_use.fetch_add(words * 4, Ordering::Relaxed) + words * 4;
        self.peak.fetch_max(in_use, Ordering::Relaxed);
        Ok(Arc::new(Allocation { block: Some(block), pool: self.clone() }))
    }

    fn give_back(&self, block: Block) {
        let bytes = block.words * 4;
        let in_use = self.in_use.fetch_sub(bytes, Ordering::Relaxed) - bytes;
        let mut free = lock(&self.free);
        if free.bytes + bytes <= KEEP_BYTES.max(in_use) {
            free.bytes += bytes;
            free.by_words.entry(block.words).or_default().push(block);
        }
    }
}

/// A block in use; goes back to the pool with its last owner.
pub(super) struct Allocation {
    block: Option<Block>,
    pool: Arc<Pool>,
}

impl Allocation {
    pub fn words(&self) -> u64 {
        self.block.as_ref().map_or(0, |b| b.words)
    }

    /// The first word, for as long as the allocation lives.
    pub fn start(&self) -> *mut u32 {
        self.block.as_ref().map_or(std::ptr::null_mut(), |b| b.start.as_ptr())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(b) = self.block.take() {
            self.pool.give_back(b);
        }
    }
}

/// Where a tensor lies: an allocation and an offset in words.
#[derive(Clone)]
pub(super) struct Place {
    pub allocation: Arc<Allocation>,
    pub offset: u64,
}

impl Place {
    /// An error where the allocation does not hold so many words at a distance from the place.
    pub fn holds(&self, from: u64, words: u64) -> Result<()> {
        let end = self.offset.checked_add(from).and_then(|o| o.checked_add(words));
        if end.is_none_or(|end| end > self.allocation.words()) {
            let what = format!("{words} words at {} + {from} of an allocation of {}", self.offset, self.allocation.words());
            return Err(Error::device(format!("a tensor leaves its memory: {what}"), "report this"));
        }
        Ok(())
    }

    /// The first word of a range of so many; an error where the allocation does not hold it.
    pub fn range(&self, words: u64) -> Result<*mut u32> {
        self.holds(0, words)?;
        // SAFETY: the offset lies in the allocation.
        Ok(unsafe { self.allocation.start().add(self.offset as usize) })
    }

    /// Writes words from the host. Under the device's lock.
    pub fn write(&self, words: &[u32]) -> Result<()> {
        let to = self.range(words.len() as u64)?;
        // SAFETY: `to` has room for the words (checked), and the lock keeps all others away; the host's slice is elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), to, words.len()) };
        Ok(())
    }

    /// Copies words from another place. Under the device's lock.
    pub fn copy(&self, from: &Place, words: u64) -> Result<()> {
        let (from, to) = (from.range(words)?, self.range(words)?);
        if from == to {
            return Ok(());
        }
        // SAFETY: both ranges are in their allocations (checked); `copy` allows that they overlap.
        unsafe { std::ptr::copy(from, to, words as usize) };
        Ok(())
    }

    /// Reads words to the host. Under the device's lock.
    pub fn read(&self, words: u64) -> Result<Vec<u32>> {
        let from = self.range(words)?;
        // SAFETY: the range is in its allocation, whose every word was initialised when it was made; the lock keeps writers away.
        Ok(unsafe { std::slice::from_raw_parts(from, words as usize) }.to_vec())
    }
}

/// A tensor on the device.
pub(super) struct Range {
    place: Mutex<Place>,
    pool: Arc<Pool>,
    words: usize,
    in_block: AtomicBool,
}

impl Range {
    pub fn new(place: Place, words: usize, in_block: bool) -> Self {
        let pool = place.allocation.pool.clone();
        Range { place: Mutex::new(place), pool, words, in_block: in_block.into() }
    }

    pub fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    pub fn place(&self) -> Place {
        lock(&self.place).clone()
    }

    /// Whether it is a range of a state block, which programs update in place.
    pub fn in_block(&self) -> bool {
        self.in_block.load(Ordering::Relaxed)
    }

    /// Moves the tensor out of its block and gives the place that it had.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_reused_and_counted() {
        let pool = Arc::new(Pool::default());
        let a = pool.allocate(100).unwrap();
        assert!(a.words() >= 100 && (a.start() as usize).is_multiple_of(ALIGN_BYTES));
        let start = a.start();
        drop(a);
        assert_eq!(pool.in_use.load(Ordering::Relaxed), 0);
        assert_eq!(pool.allocate(100).unwrap().start(), start);
        assert_eq!(pool.created.load(Ordering::Relaxed), 1);
        assert!(pool.allocate(u64::MAX / 64).is_err(), "too large is an error");
        for words in [1, 63, 64, 65, 1000, 4097, 1 << 20, (1 << 20) + 1] {
            let class = Pool::class(words);
            assert!(class >= words && class <= words + words / 7 + 2 * ALIGN as u64, "{words} {class}");
        }
    }

    #[test]
    fn ranges_stay_in_their_memory() {
        let pool = Arc::new(Pool::default());
        let a = Place { allocation: pool.allocate(64).unwrap(), offset: 32 };
        a.write(&[7; 32]).unwrap();
        assert_eq!(a.read(32).unwrap(), vec![7; 32]);
        assert!(a.read(33).is_err() && a.write(&[0; 33]).is_err() && a.read(u64::MAX).is_err());
        let b = Place { offset: 0, ..a.clone() };
        b.copy(&a, 32).unwrap();
        assert_eq!(b.read(64).unwrap(), vec![7; 64]);
        assert!(b.copy(&a, 64).is_err());
    }
}
