//! Device memory on the host: aligned blocks of words.
//!
//! Words are read and written under the device's lock only (see `Shared::stream` in the executor), never through references.

use super::executor::Shared;
use crate::guard;
use crate::memory::{self, Backing};
use aludel_ir::program::ALIGN;
use aludel_ir::{Error, Result};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

pub(super) type Allocation = memory::Allocation<Shared>;
pub(super) type Place = memory::Place<Shared>;
pub(super) type Pool = memory::Pool<Shared>;
pub(super) type Range = memory::Range<Shared>;

/// Every buffer starts at a multiple of so many bytes: planned offsets are multiples of it too.
const ALIGN_BYTES: usize = ALIGN as usize * 4;

/// The size of a huge page, on most systems. A product walks its operands' rows a page or more apart: with pages of 4 KiB a core finds
/// neither all of them in its buffer of translations nor the next line before it is asked for.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// A block of the system's memory. Fresh blocks hold zeros.
pub(super) struct Block {
    start: NonNull<u32>,
    words: u64,
}

// SAFETY: a block owns its memory; who may touch the words is decided by the device's lock, not by the thread.
unsafe impl Send for Block {}
unsafe impl Sync for Block {}

fn layout(words: u64) -> Option<Layout> {
    let size = usize::try_from(words.checked_mul(4)?).ok()?;
    Layout::from_size_align(size, if size < HUGE_PAGE { ALIGN_BYTES } else { HUGE_PAGE }).ok()
}

impl Block {
    pub fn new(words: u64) -> Option<Self> {
        let layout = layout(words).filter(|l| l.size() > 0)?;
        // SAFETY: the layout has a size above zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        // Said before a page is touched, which decides what it is.
        #[cfg(target_os = "linux")]
        if layout.size() >= HUGE_PAGE {
            use rustix::mm::{Advice, madvise};
            // SAFETY: these pages lie in the block, and the advice leaves what they hold as it is. A system without huge pages refuses.
            let _ = unsafe { madvise(start.as_ptr().cast(), layout.size() / HUGE_PAGE * HUGE_PAGE, Advice::LinuxHugepage) };
        }
        // SAFETY: the block has so many bytes, which belong to nobody else yet.
        unsafe { start.write_bytes(0, layout.size()) };
        Some(Block { start: start.cast(), words })
    }

    pub fn bytes(&self) -> usize {
        self.words as usize * 4
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr().cast()
    }

    fn fill(&mut self, word: impl Fn(u64) -> u32) {
        // SAFETY: a block owns its words, all of them initialised, and this borrow is the only one.
        let words = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words as usize) };
        words.iter_mut().zip(0..).for_each(|(w, i)| *w = word(i));
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

impl Backing for Shared {
    type Raw = Block;
    const WHOLE: bool = false;

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn name(&self) -> &str {
        &self.info.name
    }

    /// What there is shows when it is asked for.
    fn largest(&self) -> u64 {
        isize::MAX as u64
    }

    fn create(&self, words: u64) -> Result<Block> {
        self.counters.buffers.fetch_add(1, Ordering::Relaxed);
        let missing = || format!("out of memory: {} bytes are not to be had", words.saturating_mul(4));
        let mut block = Block::new(words).ok_or_else(|| Error::device(missing(), "use a smaller batch or model"))?;
        if self.guard {
            block.fill(guard::pattern);
        }
        Ok(block)
    }

    fn guards(&self) -> bool {
        self.guard
    }

    fn free(&self, memory: Vec<Block>) {
        drop(memory);
    }
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
        Ok(unsafe { self.allocation.raw().start.as_ptr().add(self.offset as usize) })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuExecutor;

    #[test]
    fn ranges_stay_in_their_memory() {
        let Ok(device) = CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
        let a = Place { allocation: Pool::allocate(device.shared(), 64).unwrap(), offset: 32 };
        assert!((a.allocation.raw().start.as_ptr() as usize).is_multiple_of(ALIGN_BYTES));
        a.write(&[7; 32]).unwrap();
        assert_eq!(a.read(32).unwrap(), vec![7; 32]);
        assert!(a.read(33).is_err() && a.write(&[0; 33]).is_err() && a.read(u64::MAX).is_err());
        let b = Place { offset: 0, ..a.clone() };
        b.copy(&a, 32).unwrap();
        assert_eq!(b.read(64).unwrap(), vec![7; 64]);
        assert!(b.copy(&a, 64).is_err());
    }
}
