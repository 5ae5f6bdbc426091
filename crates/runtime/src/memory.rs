//! Device memory as executors keep it: allocations from a pool, and the ranges of them that are tensors.
//!
//! Memory goes back to the pool with its last range and may be handed out at once, although the device still works with it:
//! a device works in the order in which it is told, so whatever uses the memory next comes after.

use crate::{Memory, guard};
use aludel_ir::program::ALIGN;
use aludel_ir::{Error, Result};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Words of 2 MiB, a large page of a GPU.
const GRAIN: u64 = 1 << 19;

/// Idle memory that a pool keeps at least, in bytes.
const KEEP: u64 = 128 << 20;

/// Locks whatever became of other holders: every critical section leaves its data usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all parts of a device share, as far as its memory goes.
pub(crate) trait Backing: Send + Sync + Sized + 'static {
    /// A piece of the device's memory.
    type Raw: Send + Sync;

    /// Memory that one binding writes is in no binding that is only read, not even at another place.
    const WHOLE: bool;

    fn pool(&self) -> &Pool<Self>;

    /// The device's own name.
    fn name(&self) -> &str;

    /// Bytes that one allocation may have.
    fn largest(&self) -> u64;

    /// New memory of so many words, which hold anything.
    fn create(&self, words: u64) -> Result<Self::Raw>;

    /// As [`Backing::create`], in the host's memory, which kernels read and write over the bus; nothing where the device has no such way, or
    /// where its memory is the host's.
    fn create_on_host(&self, words: u64) -> Result<Option<Self::Raw>> {
        let _ = words;
        Ok(None)
    }

    /// Gives memory back to the system.
    fn free(&self, memory: Vec<Self::Raw>);

    /// Whether memory is laid out with bands between tensors and watched, see [`crate::guard`]. Then new memory holds
    /// [`guard::pattern`].
    fn guards(&self) -> bool {
        false
    }
}

/// Memory in use; goes back to the pool when dropped.
pub(crate) struct Allocation<D: Backing> {
    raw: Option<D::Raw>,
    words: u64,
    /// Words of it before the first that is used, and after the last.
    bands: (u64, u64),
    /// The host's memory, which is none of the pool's.
    on_host: bool,
    home: Weak<D>,
}

impl<D: Backing> Allocation<D> {
    /// Memory that is not the pool's.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    pub fn outside(raw: D::Raw, words: u64) -> Self {
        Allocation { raw: Some(raw), words, bands: (0, 0), on_host: false, home: Weak::new() }
    }

    pub fn raw(&self) -> &D::Raw {
        self.raw.as_ref().unwrap_or_else(|| unreachable!("taken by `drop` only"))
    }

    /// Whether it is the host's memory: see [`Pool::allocate_on_host`].
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub fn is_on_host(&self) -> bool {
        self.on_host
    }

    /// Its size, which is at least what was asked for.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// Where what was asked for begins.
    pub fn lead(&self) -> u64 {
        self.bands.0
    }

    /// How much may be used of it.
    pub fn room(&self) -> u64 {
        self.words - self.bands.0 - self.bands.1
    }
}

impl<D: Backing> Drop for Allocation<D> {
    fn drop(&mut self) {
        // Where the device is gone, memory that does not free itself is gone with it.
        if let (Some(raw), Some(home)) = (self.raw.take(), self.home.upgrade()) {
            match self.on_host {
                false => home.pool().release(&home, raw, self.words),
                true => home.free(vec![raw]),
            }
        }
    }
}

/// Where a tensor lies.
pub(crate) struct Place<D: Backing> {
    pub allocation: Arc<Allocation<D>>,
    /// In words.
    pub offset: u64,
}

impl<D: Backing> Clone for Place<D> {
    fn clone(&self) -> Self {
        Place { allocation: self.allocation.clone(), offset: self.offset }
    }
}

impl<D: Backing> Place<D> {
    pub fn start(allocation: Arc<Allocation<D>>) -> Self {
        Place { offset: allocation.lead(), allocation }
    }

    /// So many words further on.
    pub fn after(&self, words: u64) -> Self {
        Place { allocation: self.allocation.clone(), offset: self.offset + words }
    }
}

/// A tensor: a range of an allocation.
pub(crate) struct Range<D: Backing> {
    /// Changes when the range is evacuated.
    place: Mutex<Place<D>>,
    words: usize,
    /// A part of a state block, which programs update in place.
    in_block: AtomicBool,
}

impl<D: Backing> Range<D> {
    pub fn new(place: Place<D>, words: usize, in_block: bool) -> Self {
        Range { place: Mutex::new(place), words, in_block: in_block.into() }
    }

    pub fn place(&self) -> Place<D> {
        lock(&self.place).clone()
    }

    pub fn in_block(&self) -> bool {
        self.in_block.load(Ordering::Relaxed)
    }

    pub fn is_of(&self, device: &Arc<D>) -> bool {
        std::ptr::eq(lock(&self.place).allocation.home.as_ptr(), Arc::as_ptr(device))
    }

    /// Puts the tensor elsewhere, out of its block; gives its old place.
    pub fn relocate(&self, to: Place<D>) -> Place<D> {
        self.in_block.store(false, Ordering::Relaxed);
        std::mem::replace(&mut *lock(&self.place), to)
    }
}

impl<D: Backing> Memory for Range<D> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn words(&self) -> usize {
        self.words
    }
}

/// Rounds up to a multiple of the alignment of ranges.
pub(crate) fn aligned(words: u64) -> u64 {
    words.max(1).next_multiple_of(ALIGN as u64)
}

/// The size that is allocated for a request, in words: eight classes for each power of two, so at most an eighth is wasted, but never
/// more than [`GRAIN`] words, which matters for the arena and the state of a large model.
fn size_class(words: u64) -> u64 {
    let words = aligned(words);
    let step = (words.next_power_of_two() / 16).clamp(ALIGN as u64, GRAIN);
    words.next_multiple_of(step)
}

/// Memory that is free, and counts of all there is.
pub(crate) struct Pool<D: Backing> {
    free: Mutex<Free<D::Raw>>,
    /// Bytes in use, and the most so far.
    in_use: AtomicU64,
    peak: AtomicU64,
}

struct Free<R> {
    /// By size class, the last freed last; with each piece, how many were freed before it.
    classes: BTreeMap<u64, VecDeque<(u64, R)>>,
    words: u64,
    freed: u64,
}

impl<D: Backing> Default for Pool<D> {
    fn default() -> Self {
        Pool { free: Mutex::new(Free { classes: BTreeMap::new(), words: 0, freed: 0 }), in_use: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }
}

impl<D: Backing> Pool<D> {
    pub fn bytes_in_use(&self) -> u64 {
        self.in_use.load(Ordering::Relaxed)
    }

    pub fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub fn reset_peak(&self) {
        self.peak.store(self.bytes_in_use(), Ordering::Relaxed);
    }

    /// At least `words` words of a device's memory; they hold anything.
    pub fn allocate(device: &Arc<D>, words: u64) -> Result<Arc<Allocation<D>>> {
        let (pool, limit) = (device.pool(), device.largest());
        let too_large = || Error::Limit {
            what: format!("a tensor on {}", device.name()),
            value: format!("{} bytes", words.saturating_mul(4)),
            limit: format!("{limit} bytes"),
            remedy: "use a smaller batch or layer, or another device".into(),
        };
        if device.guards() {
            return Self::guarded(device, words);
        }
        if words > limit / 4 {
            return Err(too_large());
        }
        // The class may overshoot a limit that the request keeps to.
        let class = if size_class(words) * 4 > limit { aligned(words) } else { size_class(words) };
        if class * 4 > limit {
            return Err(too_large());
        }
        let reused = {
            let mut free = lock(&pool.free);
            let piece = free.classes.get_mut(&class).and_then(VecDeque::pop_back);
            free.words -= if piece.is_some() { class } else { 0 };
            piece.map(|(_, raw)| raw)
        };
        let raw = match reused {
            Some(raw) => raw,
            None => match device.create(class) {
                // What lies idle in the pool may be just what is missing.
                Err(_) if pool.trim(device, 0) > 0 => device.create(class)?,
                other => other?,
            },
        };
        let in_use = pool.in_use.fetch_add(class * 4, Ordering::Relaxed) + class * 4;
        pool.peak.fetch_max(in_use, Ordering::Relaxed);
        Ok(Arc::new(Allocation { raw: Some(raw), words: class, bands: (0, 0), on_host: false, home: Arc::downgrade(device) }))
    }

    /// At least `words` words of the host's memory, where the device has a way to it, else of the device's. They hold anything, and are
    /// none of what is in use on the device.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub fn allocate_on_host(device: &Arc<D>, words: u64) -> Result<Arc<Allocation<D>>> {
        let words = aligned(words);
        match device.create_on_host(words)? {
            None => Self::allocate(device, words),
            Some(raw) => Ok(Arc::new(Allocation { raw: Some(raw), words, bands: (0, 0), on_host: true, home: Arc::downgrade(device) })),
        }
    }

    /// New memory between bands: none that was used before, whose words a test could take for its own.
    fn guarded(device: &Arc<D>, words: u64) -> Result<Arc<Allocation<D>>> {
        let bands = (guard::BAND, guard::TAIL);
        let words = words.checked_next_multiple_of(ALIGN as u64).unwrap_or(u64::MAX / 8).max(ALIGN as u64) + bands.0 + bands.1;
        let raw = device.create(words)?;
        let in_use = device.pool().in_use.fetch_add(words * 4, Ordering::Relaxed) + words * 4;
        device.pool().peak.fetch_max(in_use, Ordering::Relaxed);
        Ok(Arc::new(Allocation { raw: Some(raw), words, bands, on_host: false, home: Arc::downgrade(device) }))
    }

    fn release(&self, device: &D, raw: D::Raw, words: u64) {
        self.in_use.fetch_sub(words * 4, Ordering::Relaxed);
        if device.guards() {
            return device.free(vec![raw]);
        }
        let idle = {
            let mut free = lock(&self.free);
            free.words += words;
            free.freed += 1;
            let at = free.freed;
            free.classes.entry(words).or_default().push_back((at, raw));
            free.words * 4
        };
        // Keep what a step needs again, not what a larger model once needed.
        let keep = self.peak_bytes().max(KEEP);
        if idle > keep {
            self.trim(device, keep);
        }
    }

    /// Gives idle memory back to the system, what has been idle longest first, until at most `keep` bytes are idle; how many pieces
    /// went. (The largest first would be just what an operator on large tensors frees and asks for again.)
    fn trim(&self, device: &D, keep: u64) -> usize {
        let mut gone = Vec::new();
        {
            let mut free = lock(&self.free);
            while free.words * 4 > keep {
                let oldest = free.classes.iter().filter_map(|(words, pieces)| Some((pieces.front()?.0, *words))).min();
                let Some((_, words)) = oldest else { break };
                if let Some((_, raw)) = free.classes.get_mut(&words).and_then(VecDeque::pop_front) {
                    free.words -= words;
                    gone.push(raw);
                }
            }
            free.classes.retain(|_, pieces| !pieces.is_empty());
        }
        let count = gone.len();
        device.free(gone);
        count
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A device whose memory is the host's.
    #[derive(Default)]
    pub(crate) struct Heap {
        pool: Pool<Heap>,
        created: AtomicU64,
        /// Whether there is room for new pieces beside idle ones.
        roomy: bool,
        /// Words of the host that it reaches, if it does.
        on_host: Option<AtomicU64>,
    }

    impl Backing for Heap {
        type Raw = Vec<u32>;
        const WHOLE: bool = false;

        fn pool(&self) -> &Pool<Heap> {
            &self.pool
        }
        fn name(&self) -> &str {
            "the heap"
        }
        fn largest(&self) -> u64 {
            1 << 30
        }
        fn create(&self, words: u64) -> Result<Vec<u32>> {
            if !self.roomy && lock(&self.pool.free).words > 0 {
                return Err(Error::device("out of memory", "free some"));
            }
            self.created.fetch_add(1, Ordering::Relaxed);
            Ok(vec![0; words as usize])
        }
        fn create_on_host(&self, words: u64) -> Result<Option<Vec<u32>>> {
            let Some(count) = &self.on_host else { return Ok(None) };
            count.fetch_add(words, Ordering::Relaxed);
            // Marked, so that it is told from the device's own.
            Ok(Some(vec![1; words as usize]))
        }
        fn free(&self, memory: Vec<Vec<u32>>) {
            let gone = |m: &Vec<u32>| if m.first() == Some(&1) { m.len() as u64 } else { 0 };
            if let Some(count) = &self.on_host {
                count.fetch_sub(memory.iter().map(gone).sum(), Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn size_classes_waste_at_most_an_eighth() {
        for words in (1..5000u64).chain([1 << 20, (1 << 20) + 1, 123_456_789, (1 << 31) + 1]) {
            let class = size_class(words);
            assert!(class >= words && class.is_multiple_of(ALIGN as u64), "{words}: {class}");
            assert!(class <= (words + words / 8).max(aligned(words)), "{words}: {class}");
            assert!(class < words + GRAIN, "{words}: {class}");
        }
    }

    #[test]
    fn memory_is_reused_counted_and_given_back_when_it_is_missing() {
        let heap = Arc::new(Heap::default());
        let created = || heap.created.load(Ordering::Relaxed);
        let a = Pool::allocate(&heap, 100).unwrap();
        let start = a.raw().as_ptr();
        assert!(a.words() >= 100 && heap.pool.bytes_in_use() == a.words() * 4);
        drop(a);
        assert_eq!((heap.pool.bytes_in_use(), heap.pool.peak_bytes(), created()), (0, 512, 1));
        assert_eq!(Pool::allocate(&heap, 128).unwrap().raw().as_ptr(), start);
        // Another class finds no memory until the idle piece is given back.
        let b = Pool::allocate(&heap, 1000).unwrap();
        assert_eq!((created(), lock(&heap.pool.free).words), (2, 0));
        for words in [(1 << 28) + 1, u64::MAX / 64, u64::MAX] {
            assert!(matches!(Pool::allocate(&heap, words).map(drop), Err(Error::Limit { .. })), "{words}");
        }
        // What outlives its device frees itself.
        drop(heap);
        drop(b);
    }

    #[test]
    fn memory_of_the_host_is_none_of_the_devices() {
        let heap = Arc::new(Heap { on_host: Some(AtomicU64::new(0)), ..Heap::default() });
        let count = || heap.on_host.as_ref().map_or(0, |c| c.load(Ordering::Relaxed));
        let own = Pool::allocate(&heap, 100).unwrap();
        let in_use = heap.pool.bytes_in_use();
        let away = Pool::allocate_on_host(&heap, 1000).unwrap();
        assert_eq!((away.words(), count(), away.lead(), away.room()), (1024, 1024, 0, 1024));
        assert_eq!((heap.pool.bytes_in_use(), heap.pool.peak_bytes(), heap.created.load(Ordering::Relaxed)), (in_use, in_use, 1));
        // It goes back to the host at once, and is no memory for the device's tensors.
        drop(away);
        assert_eq!((count(), lock(&heap.pool.free).words), (0, 0));
        drop(own);
        // A device that has no such way has it among its own.
        let plain = Arc::new(Heap::default());
        let away = Pool::allocate_on_host(&plain, 1000).unwrap();
        assert_eq!(plain.pool.bytes_in_use(), away.words() * 4);
    }

    /// A large result that is made, freed and made again comes from the pool, whatever else lies idle there.
    #[test]
    fn what_was_idle_longest_goes_first() {
        let heap = Arc::new(Heap { roomy: true, ..Heap::default() });
        let megabytes = |n: u64| drop(Pool::allocate(&heap, n << 18).unwrap());
        for n in [30, 35, 40, 100, 100, 100] {
            megabytes(n);
        }
        assert_eq!((heap.created.load(Ordering::Relaxed), lock(&heap.pool.free).words), (4, 100 << 18));
        megabytes(20);
        assert_eq!(lock(&heap.pool.free).words, 120 << 18);
    }
}
