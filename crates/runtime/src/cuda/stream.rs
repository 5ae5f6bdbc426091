//! The order of work: one stream, uploads through pinned memory, and how far the device has come.
//!
//! Work is counted in submissions: a step is one, single operators are gathered. An event ends each, so that waiting for "all
//! but the last few" never waits for more, and so that pinned memory is written again only after its copy is done.
//!
//! Long uploads cross the bus on a stream of their own ([`Ahead`]), beside kernels that were issued before: a loader's next batch while the
//! step before it runs. So there is nothing that page-locked batches of the caller's (PyTorch's `pin_memory`) would add.

use super::driver::{Failure, check};
use super::handles::{DeviceMemory, Event, Pinned, StreamHandle};
use super::memory::{Allocation, Place};
use super::shared::Shared;
use crate::bind::{Mover, Parts};
use aludel_ir::Result;
use cudarc::driver::sys;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Launches and copies of a submission, where the caller does not end it.
const BATCH: usize = 32;
/// Words of the ring that uploads go through.
const RING: usize = 8 << 20;
/// The longest piece of an upload, in words: while one is copied to the device, the next is written.
const PIECE: usize = RING / 8;
/// From so many words on it pays to look whether all are zero, and to cross the bus beside kernels.
const LONG: usize = 1 << 16;
/// Words of pinned memory that are kept for reading back.
const IDLE: usize = 64 << 20;

pub struct Stream {
    pub raw: StreamHandle,
    /// Launches and copies since the last submission.
    issued: usize,
    /// The number of the open submission, from 1.
    open: u64,
    /// Submissions that may not be finished, the oldest first.
    pending: VecDeque<(u64, Arc<Event>)>,
    /// Events that may be recorded again.
    idle: Vec<Arc<Event>>,
    ring: Option<Ring>,
    ahead: Option<Ahead>,
    /// Idle memory for reading back.
    readback: Vec<Pinned>,
    /// Whether a graph with collectives may be running: see [`Stream::before_exchange`].
    pub exchanges_in_graph: bool,
    /// Temporaries of all programs: they run one after the other.
    arenas: Parts<Shared>,
}

/// Pinned memory, written round and round.
struct Ring {
    memory: Pinned,
    next: usize,
    /// Pieces that a submission may still read: start, end, the submission. The oldest first.
    used: VecDeque<(usize, usize, u64)>,
}

/// What long uploads cross the bus with. Their targets may still be read by work that was issued before, so they go to memory that nothing
/// else uses, at the place that they have in the ring, and from there to their targets in the order of the stream, which is quick.
struct Ahead {
    copies: StreamHandle,
    /// As long as the ring; `None` once it is freed.
    landing: Option<DeviceMemory>,
    /// When the last upload has landed.
    landed: Event,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The context is current, as for all that a stream has. The driver waits for copies that use the memory.
        self.landing.take().into_iter().for_each(DeviceMemory::free);
    }
}

impl Ahead {
    fn new() -> Result<Self, Failure> {
        let (copies, landed) = (StreamHandle::new()?, Event::new(false)?);
        Ok(Ahead { copies, landing: Some(DeviceMemory::new(RING * 4)?), landed })
    }

    /// Copies words of the ring that begin at a place; `stream` waits for that. Where they land.
    fn copy(&self, ring: &Ring, start: usize, words: usize, stream: &StreamHandle) -> Result<sys::CUdeviceptr, Failure> {
        let to = self.landing.as_ref().map_or(0, DeviceMemory::address) + start as u64 * 4;
        // SAFETY: both places hold so many words, and neither is used again before the submission that reads the second is done.
        check(unsafe { sys::cuMemcpyHtoDAsync_v2(to, ring.memory.at(start), words * 4, self.copies.0) })?;
        self.landed.record(&self.copies)?;
        self.landed.hold(stream)?;
        Ok(to)
    }
}

impl Stream {
    pub fn new(raw: StreamHandle) -> Self {
        Stream {
            raw,
            issued: 0,
            open: 1,
            pending: VecDeque::new(),
            idle: Vec::new(),
            ring: None,
            ahead: None,
            readback: Vec::new(),
            exchanges_in_graph: false,
            arenas: Parts::default(),
        }
    }

    /// Counts a launch or a copy.
    pub fn issue(&mut self) {
        self.issued += 1;
    }

    pub fn submit_if_full(&mut self, shared: &Shared) -> Result<()> {
        if self.issued >= BATCH { self.submit(shared) } else { Ok(()) }
    }

    /// Ends the open submission, if anything is in it.
    pub fn submit(&mut self, shared: &Shared) -> Result<()> {
        if self.issued == 0 {
            return Ok(());
        }
        self.retire(shared)?;
        let event = self.event(shared)?;
        shared.done("recording an event", event.record(&self.raw))?;
        self.pending.push_back((self.open, event));
        self.open += 1;
        self.issued = 0;
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn event(&mut self, shared: &Shared) -> Result<Arc<Event>> {
        // Somebody may still wait for one.
        match self.idle.iter().position(|e| Arc::strong_count(e) == 1) {
            Some(i) => Ok(self.idle.swap_remove(i)),
            None => Ok(Arc::new(shared.done("creating an event", Event::new(false))?)),
        }
    }

    /// Forgets the submissions that are done.
    fn retire(&mut self, shared: &Shared) -> Result<()> {
        while let Some((_, event)) = self.pending.front() {
            if !shared.done("running kernels", event.is_done())? {
                break;
            }
            self.idle.extend(self.pending.pop_front().map(|(_, e)| e));
        }
        Ok(())
    }

    /// The event after which at most `depth` submissions are unfinished; `None` where that is so already.
    pub fn awaited(&mut self, shared: &Shared, depth: usize) -> Result<Option<Arc<Event>>> {
        self.retire(shared)?;
        let last = self.pending.len().checked_sub(depth + 1);
        Ok(last.and_then(|i| self.pending.get(i)).map(|(_, e)| e.clone()))
    }

    /// Waits until a submission is done.
    fn finish(&mut self, shared: &Shared, submission: u64) -> Result<()> {
        if submission >= self.open {
            self.submit(shared)?;
        }
        if let Some((_, event)) = self.pending.iter().find(|(n, _)| *n >= submission) {
            shared.done("running kernels", event.wait())?;
        }
        self.retire(shared)
    }

    /// Waits for everything issued so far.
    pub fn wait_all(&self) -> Result<(), Failure> {
        // SAFETY: the handle is valid.
        check(unsafe { sys::cuStreamSynchronize(self.raw.0) })
    }

    /// Waits for graphs with collectives, before one outside of any: NCCL, with `NCCL_GRAPH_MIXING_SUPPORT=0`, does not see that it follows.
    pub fn before_exchange(&mut self) -> Result<(), Failure> {
        match std::mem::take(&mut self.exchanges_in_graph) {
            true => self.wait_all(),
            false => Ok(()),
        }
    }

    /// Uploads at most [`PIECE`] words that `fill` writes.
    fn upload(&mut self, shared: &Shared, to: &Place, words: usize, fill: impl FnOnce(&mut [u32])) -> Result<()> {
        if words == 0 {
            return Ok(());
        }
        let start = self.reserve(shared, words)?;
        if words >= LONG && self.ahead.is_none() {
            shared.counters.buffers.fetch_add(1, Ordering::Relaxed);
            self.ahead = Some(shared.done("allocating memory for uploads", Ahead::new())?);
        }
        let Some(ring) = &mut self.ring else { unreachable!("reserving made the ring") };
        fill(ring.memory.write(start, words));
        let copied = match self.ahead.as_ref().filter(|_| words >= LONG) {
            // SAFETY: what has landed stays until this submission is done, and the target is a live allocation's, see `copy`.
            Some(ahead) => ahead.copy(ring, start, words, &self.raw).and_then(|from| unsafe { move_words(to, from, words, &self.raw) }),
            // SAFETY: as for one on the device.
            None if to.allocation.is_on_host() => unsafe { move_words(to, ring.memory.at(start) as u64, words, &self.raw) },
            // SAFETY: the source lies in the ring, and is not written again before this submission is done; the target is a live
            // allocation's, see `copy`.
            None => check(unsafe { sys::cuMemcpyHtoDAsync_v2(to.address(), ring.memory.at(start), words * 4, self.raw.0) }),
        };
        shared.done("copying to the device", copied)?;
        ring.used.push_back((start, start + words, self.open));
        self.issue();
        Ok(())
    }

    /// Zeros: an optimizer's moments at the start, twice the model.
    fn clear(&mut self, shared: &Shared, to: &Place, words: usize) -> Result<()> {
        // SAFETY: the target is a live allocation's that holds so many words, as for `upload`.
        let cleared = check(unsafe { sys::cuMemsetD32Async(to.address(), 0, words, self.raw.0) });
        shared.done("clearing memory", cleared)?;
        self.issue();
        Ok(())
    }

    /// A place in the ring that no copy reads any more.
    fn reserve(&mut self, shared: &Shared, words: usize) -> Result<usize> {
        debug_assert!(words <= PIECE);
        if self.ring.is_none() {
            shared.counters.buffers.fetch_add(1, Ordering::Relaxed);
            let memory = shared.done("allocating pinned memory", Pinned::new(RING))?;
            self.ring = Some(Ring { memory, next: 0, used: VecDeque::new() });
        }
        let Some(ring) = &mut self.ring else { unreachable!("the ring was just made") };
        let start = if ring.next + words > RING { 0 } else { ring.next };
        ring.next = (start + words).next_multiple_of(32);
        loop {
            let Some(ring) = &mut self.ring else { unreachable!("the ring stays") };
            // Pieces are used in order, so what overlaps is at the front, behind pieces that are older still.
            let Some(last) = ring.used.iter().rposition(|(s, e, _)| *s < start + words && start < *e) else { return Ok(start) };
            let submission = ring.used[last].2;
            let finished = self.pending.front().map_or(self.open, |(n, _)| *n);
            if submission < finished {
                ring.used.drain(..=last);
            } else {
                self.finish(shared, submission)?;
            }
        }
    }

    /// Memory to read words back through: an idle piece that is not much too long, or a new one.
    pub fn readback(&mut self, shared: &Shared, words: usize) -> Result<Pinned> {
        let size = words.next_power_of_two().max(64);
        match self.readback.iter().position(|p| p.words() == size) {
            Some(i) => Ok(self.readback.swap_remove(i)),
            None => {
                shared.counters.buffers.fetch_add(1, Ordering::Relaxed);
                shared.done("allocating pinned memory", Pinned::new(size))
            }
        }
    }

    /// Takes back memory that no copy writes any more. The context is current.
    pub fn return_readback(&mut self, memory: Pinned) {
        let held: usize = self.readback.iter().map(Pinned::words).sum();
        if self.readback.len() < 64 && held + memory.words() <= IDLE {
            self.readback.push(memory);
        }
    }

    /// Copies words into pinned memory; the event says when they are there.
    pub fn copy_out(&mut self, shared: &Shared, from: &Place, to: &Pinned, words: usize) -> Result<Event> {
        debug_assert!(words <= to.words());
        // SAFETY: the source is a live allocation's, see `copy`; the target is pinned memory that its owner keeps until the
        // event has happened.
        let copied = check(unsafe {
            match from.allocation.is_on_host() {
                true => sys::cuMemcpyAsync(to.pointer() as u64, from.address(), words * 4, self.raw.0),
                false => sys::cuMemcpyDtoHAsync_v2(to.pointer(), from.address(), words * 4, self.raw.0),
            }
        });
        shared.done("copying to the host", copied)?;
        self.issue();
        let event = shared.done("creating an event", Event::new(false))?;
        shared.done("recording an event", event.record(&self.raw))?;
        Ok(event)
    }
}

/// Copies words to a place from an address, which is one of the device, unless the place is in the host's memory: then it may be one of
/// any memory of the driver's, which tells by both addresses.
///
/// # Safety
///
/// Both hold so many words, and neither is used by anything else until the stream has come to what follows.
unsafe fn move_words(to: &Place, from: sys::CUdeviceptr, words: usize, stream: &StreamHandle) -> Result<(), Failure> {
    // SAFETY: what the caller says; addresses are unified on every 64-bit system.
    check(unsafe {
        match to.allocation.is_on_host() {
            true => sys::cuMemcpyAsync(to.address(), from, words * 4, stream.0),
            false => sys::cuMemcpyDtoDAsync_v2(to.address(), from, words * 4, stream.0),
        }
    })
}

impl Mover for Stream {
    type Device = Shared;

    fn write(&mut self, shared: &Arc<Shared>, to: &Place, words: &[u32]) -> Result<()> {
        for (k, piece) in words.chunks(PIECE).enumerate() {
            let place = to.after((k * PIECE) as u64);
            if piece.len() >= LONG && piece.iter().all(|w| *w == 0) {
                self.clear(shared, &place, piece.len())?;
            } else {
                self.upload(shared, &place, piece.len(), |memory| memory.copy_from_slice(piece))?;
            }
        }
        Ok(())
    }

    /// In one upload where they lie near one another.
    fn write_all(&mut self, shared: &Arc<Shared>, to: &Arc<Allocation>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
        let (start, place) = (first.0, |offset| Place { allocation: to.clone(), offset });
        let span = (last.0 + last.1.len() as u64 - start) as usize;
        if span > PIECE {
            return parts.iter().try_for_each(|(offset, words)| self.write(shared, &place(*offset), words));
        }
        self.upload(shared, &place(start), span, |memory| {
            for (offset, words) in parts {
                memory[(offset - start) as usize..][..words.len()].copy_from_slice(words);
            }
        })
    }

    /// The places do not overlap.
    fn copy(&mut self, shared: &Arc<Shared>, from: &Place, to: &Place, words: u64) -> Result<()> {
        if words == 0 || from.address() == to.address() {
            return Ok(());
        }
        // SAFETY: both ranges lie in live allocations, which go back to the pool at the earliest now, and what uses them then
        // comes after this copy on the stream.
        let copied = check(unsafe {
            match from.allocation.is_on_host() || to.allocation.is_on_host() {
                true => sys::cuMemcpyAsync(to.address(), from.address(), words as usize * 4, self.raw.0),
                false => sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), words as usize * 4, self.raw.0),
            }
        });
        shared.done("copying on the device", copied)?;
        self.issue();
        Ok(())
    }

    fn arenas(&mut self) -> &mut Parts<Shared> {
        &mut self.arenas
    }
}
