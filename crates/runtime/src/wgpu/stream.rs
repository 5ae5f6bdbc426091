//! The stream: commands recorded into one open encoder, and their submission.
//!
//! Operators that run by themselves are recorded here and submitted [`BATCH`] at a time, since a submission costs more than
//! many dispatches. An *epoch* is what is recorded between two submissions. Host writes take effect before all commands of
//! the open epoch, so memory that those commands use is not written before they are submitted.
//!
//! A launch whose pipeline is still being compiled waits, and all that follow it wait behind it; whoever submits or copies
//! waits for them. So a first step's kernels are compiled side by side, although its operators run one after the other.

use super::memory::{Allocation, Place, Pool};
use super::pipeline::{Layout, Slot};
use super::shared::Shared;
use super::transfer::Read;
use crate::bind::{Bound, Mover, Parts};
use crate::guard;
use aludel_ir::Result;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Dispatches recorded before they are submitted.
const BATCH: usize = 32;
/// As many where some wait for their pipelines: the more, the more pipelines are compiled side by side.
const AHEAD: usize = 512;
/// Bytes of the ring of launch parameters.
const RING: u64 = 256 << 10;
/// Alignment of rows of launch parameters in bytes: the largest that a device may ask of dynamic uniform offsets.
pub const ROW: u64 = 256;
/// Bind groups kept for operators that run again on the same memory.
const BIND_GROUPS: usize = 4096;
/// Words that are kept for putting host arguments together.
const SCRATCH: usize = 4 << 20;
/// The longest piece of an upload, in words: each takes as much memory of the host's until it has arrived.
const PIECE: usize = 4 << 20;
/// From so many words on it pays to look whether all are zero, and to write by itself.
const LONG: usize = 1 << 16;

/// What identifies a bind group: its layout, the uniform buffer with the size of a row, and the storage ranges.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GroupKey {
    pub layout: u64,
    pub uniform: (u64, u64),
    /// Allocation, offset and size in words.
    pub storage: Vec<(u64, u64, u64)>,
}

/// One dispatch.
pub struct Dispatch {
    pub pipeline: Slot,
    pub group: wgpu::BindGroup,
    /// Where its launch parameters begin in the uniform buffer, in bytes.
    pub offset: u32,
    pub grid: [u32; 3],
}

pub struct Stream {
    encoder: Option<wgpu::CommandEncoder>,
    pass: Option<wgpu::ComputePass<'static>>,
    /// The pipeline that is set in the open pass.
    current: Option<Slot>,
    /// Launches of the open epoch that are not in the encoder yet, for the first one's pipeline is not there.
    waiting: VecDeque<Dispatch>,
    /// Dispatches and copies of the open epoch.
    recorded: usize,
    /// Counts submissions, from 1.
    epoch: u64,
    ring: Option<wgpu::Buffer>,
    /// Where the open epoch's rows begin in the ring, and the rows.
    ring_start: u64,
    rows: Vec<u32>,
    groups: HashMap<GroupKey, (wgpu::BindGroup, u64)>,
    group_clock: u64,
    /// Temporaries of all programs: they run one after the other.
    arenas: Parts<Shared>,
    /// Reused to put host arguments together.
    scratch: Vec<u32>,
    /// Idle buffers for reading back.
    staging: Vec<wgpu::Buffer>,
    /// Submissions that may not be finished, for waiting on a native device.
    submissions: VecDeque<wgpu::SubmissionIndex>,
}

impl Default for Stream {
    fn default() -> Self {
        Stream {
            encoder: None,
            pass: None,
            current: None,
            waiting: VecDeque::new(),
            recorded: 0,
            epoch: 1,
            ring: None,
            ring_start: 0,
            rows: Vec::new(),
            groups: HashMap::new(),
            group_clock: 0,
            arenas: Parts::default(),
            scratch: Vec::new(),
            staging: Vec::new(),
            submissions: VecDeque::new(),
        }
    }
}

impl Stream {
    /// The uniform buffer's identity in [`GroupKey`]; allocations count from 1.
    pub const RING_ID: u64 = 0;

    /// The open encoder, outside of a pass and after all launches so far.
    fn encoder(&mut self, shared: &Shared) -> &mut wgpu::CommandEncoder {
        self.settle(shared);
        self.pass = None;
        self.open(shared)
    }

    fn open(&mut self, shared: &Shared) -> &mut wgpu::CommandEncoder {
        self.encoder.get_or_insert_with(|| shared.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None }))
    }

    /// Records a launch, now or once its pipeline is there.
    pub fn launch(&mut self, shared: &Shared, dispatch: Dispatch) {
        if self.waiting.is_empty() && dispatch.pipeline.get().is_some() {
            self.encode(shared, dispatch);
        } else {
            self.waiting.push_back(dispatch);
        }
    }

    /// Records what waits, and waits for it. What a pipeline failed of is a fault of the device.
    fn settle(&mut self, shared: &Shared) {
        while let Some(dispatch) = self.waiting.pop_front() {
            self.encode(shared, dispatch);
        }
    }

    /// Puts a launch into the open pass; waits for its pipeline.
    fn encode(&mut self, shared: &Shared, dispatch: Dispatch) {
        let slot = dispatch.pipeline;
        let pipeline = match made(&slot) {
            Ok(pipeline) => pipeline,
            Err(e) => return shared.faults.fail(e.clone()),
        };
        if self.pass.is_none() {
            let pass = self.open(shared).begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes: None });
            self.pass = Some(pass.forget_lifetime());
            self.current = None;
        }
        let Some(pass) = &mut self.pass else { return };
        if self.current.as_ref().is_none_or(|c| !Arc::ptr_eq(c, &slot)) {
            pass.set_pipeline(pipeline);
        }
        pass.set_bind_group(0, &dispatch.group, &[dispatch.offset]);
        let [x, y, z] = dispatch.grid;
        pass.dispatch_workgroups(x, y, z);
        self.current = Some(slot);
    }

    /// Records a dispatch; submits when enough are waiting and the caller does not submit by itself.
    pub fn dispatched(&mut self, allocations: &[Arc<Allocation>]) {
        self.recorded += 1;
        allocations.iter().for_each(|a| a.touch(self.epoch));
    }

    pub fn submit_if_full(&mut self, shared: &Shared) {
        while let Some(dispatch) = self.waiting.pop_front_if(|d| d.pipeline.get().is_some()) {
            self.encode(shared, dispatch);
        }
        if self.recorded >= if self.waiting.is_empty() { BATCH } else { AHEAD } {
            self.submit(shared);
        }
    }

    /// Copies words into a buffer for reading back.
    pub fn copy_out(&mut self, shared: &Shared, from: &Place, to: &wgpu::Buffer, words: u64) {
        let source = from.allocation.buffer().clone();
        self.encoder(shared).copy_buffer_to_buffer(&source, from.offset * 4, to, 0, words * 4);
        self.dispatched(std::slice::from_ref(&from.allocation));
    }

    /// All words of an allocation, once everything recorded so far is done. Not in a browser, where nobody may wait.
    pub fn read_now(&mut self, shared: &Arc<Shared>, from: &Arc<Allocation>) -> Result<Vec<u32>> {
        let words = from.words();
        let buffer = self.staging(shared, words)?;
        self.copy_out(shared, &Place { allocation: from.clone(), offset: 0 }, &buffer, words);
        self.submit(shared);
        let (words, buffer) = Read::start(shared.clone(), buffer, words).wait()?;
        self.return_staging(buffer);
        Ok(words)
    }

    /// A buffer to read words back through: an idle one of the right size, or a new one.
    pub fn staging(&mut self, shared: &Shared, words: u64) -> Result<wgpu::Buffer> {
        let size = (words * 4).next_power_of_two().max(256).min(shared.limits.max_buffer_size);
        match self.staging.iter().position(|b| b.size() == size) {
            Some(i) => Ok(self.staging.swap_remove(i)),
            None => shared.create_buffer("staging", size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
        }
    }

    /// Takes back an unmapped staging buffer; a few of each size serve any steady use, what exceeds that is dropped.
    pub fn return_staging(&mut self, buffer: wgpu::Buffer) {
        if self.staging.len() < 64 {
            self.staging.push(buffer);
        }
    }

    /// Opens a pass of its own for one dispatch, timed by queries `first` and `first + 1` of a set.
    pub fn timed_pass(&mut self, shared: &Shared, queries: &wgpu::QuerySet, first: u32) {
        let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
            query_set: queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        });
        let pass = self.encoder(shared).begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        self.pass = Some(pass.forget_lifetime());
        self.current = None;
    }

    /// Copies the first `count` queries of a set into a staging buffer, by way of `between`.
    pub fn copy_queries(&mut self, shared: &Shared, queries: &wgpu::QuerySet, count: u32, between: &wgpu::Buffer, to: &wgpu::Buffer) {
        let encoder = self.encoder(shared);
        encoder.resolve_query_set(queries, 0..count, between, 0);
        encoder.copy_buffer_to_buffer(between, 0, to, 0, count as u64 * 8);
    }

    /// A place in the ring for rows of launch parameters that the open epoch uses; the offset of the first in bytes.
    /// `rows` is a multiple of [`ROW`] long.
    pub fn ring(&mut self, shared: &Shared, rows: &[u32]) -> Result<(wgpu::Buffer, u64)> {
        let ring = match &self.ring {
            Some(ring) => ring.clone(),
            None => {
                let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
                let ring = shared.create_buffer("launch parameters", RING, usage)?;
                self.ring.insert(ring).clone()
            }
        };
        let bytes = rows.len() as u64 * 4;
        if self.ring_start + self.rows.len() as u64 * 4 + bytes > RING {
            // The next epoch's rows start over: those before are written and submitted.
            self.submit(shared);
            self.ring_start = 0;
        }
        let at = self.ring_start + self.rows.len() as u64 * 4;
        self.rows.extend_from_slice(rows);
        Ok((ring, at))
    }

    /// Whether a program's rows go through the ring at all.
    pub fn fits_ring(bytes: u64) -> bool {
        bytes <= RING / 2
    }

    /// The bind group of a layout with these bindings, kept for the next time.
    pub fn group(
        &mut self,
        shared: &Shared,
        layout: &Layout,
        uniform: (&wgpu::Buffer, u64, u64),
        bound: &[Bound<Shared>],
    ) -> Result<wgpu::BindGroup> {
        let (buffer, id, row) = uniform;
        let bound = || layout.bindings.iter().map(|k| (*k, &bound[*k]));
        let storage = bound().map(|(_, b)| (b.place.allocation.id(), b.place.offset, b.words)).collect();
        let key = GroupKey { layout: layout.id, uniform: (id, row), storage };
        self.group_clock += 1;
        // Bind groups keep buffers alive that the pool has given back.
        if shared.trimmed.swap(false, Ordering::Relaxed) {
            self.groups.clear();
        }
        if let Some((group, used)) = self.groups.get_mut(&key) {
            *used = self.group_clock;
            return Ok(group.clone());
        }
        if self.groups.len() >= BIND_GROUPS {
            let oldest = self.group_clock.saturating_sub(BIND_GROUPS as u64 / 2);
            self.groups.retain(|_, (_, used)| *used > oldest);
        }
        let size = |words: u64| wgpu::BufferSize::new(words * 4);
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size: wgpu::BufferSize::new(row) }),
        }];
        for (k, b) in bound() {
            let binding = wgpu::BufferBinding { buffer: b.place.allocation.buffer(), offset: b.place.offset * 4, size: size(b.words) };
            entries.push(wgpu::BindGroupEntry { binding: k as u32 + 1, resource: wgpu::BindingResource::Buffer(binding) });
        }
        let group = shared.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout.group, entries: &entries });
        shared.counters.bind_groups.fetch_add(1, Ordering::Relaxed);
        shared.faults.check()?;
        self.groups.insert(key, (group.clone(), self.group_clock));
        Ok(group)
    }

    /// The submission after which at most `depth` are unfinished.
    pub fn awaited(&self, depth: usize) -> Option<wgpu::SubmissionIndex> {
        let last = self.submissions.len().checked_sub(depth + 1)?;
        self.submissions.get(last).cloned()
    }

    /// Hands everything recorded to the device; gives the submission's number, or `None` when nothing was waiting.
    pub fn submit(&mut self, shared: &Shared) -> Option<u64> {
        self.settle(shared);
        self.pass = None;
        let encoder = self.encoder.take()?;
        if let (Some(ring), false) = (&self.ring, self.rows.is_empty()) {
            shared.queue.write_buffer(ring, self.ring_start, bytemuck::cast_slice(&self.rows));
            self.ring_start += self.rows.len() as u64 * 4;
            self.rows.clear();
        }
        let index = shared.queue.submit([encoder.finish()]);
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        self.recorded = 0;
        self.epoch += 1;
        let number = shared.progress.submit();
        let progress = shared.progress.clone();
        shared.queue.on_submitted_work_done(move || progress.complete(number));
        self.submissions.push_back(index);
        // Waiting ever concerns the last few only.
        while self.submissions.len() > 64 {
            self.submissions.pop_front();
        }
        Some(number)
    }
}

/// A pipeline, once it is there.
#[cfg(not(target_arch = "wasm32"))]
fn made(slot: &Slot) -> &Result<wgpu::ComputePipeline> {
    slot.wait()
}

/// A browser's are made where they are asked for.
#[cfg(target_arch = "wasm32")]
fn made(slot: &Slot) -> &Result<wgpu::ComputePipeline> {
    slot.get().unwrap_or_else(|| unreachable!("a pipeline was not made"))
}

impl Stream {
    /// Parts in one write, with what lies between them.
    fn write_together(&mut self, shared: &Arc<Shared>, to: &Arc<Allocation>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()> {
        let (Some((start, _)), Some((last, words))) = (parts.first(), parts.last()) else { return Ok(()) };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.resize((last + words.len() as u64 - start) as usize, 0);
        if shared.guard {
            scratch.iter_mut().zip(*start..).for_each(|(word, i)| *word = guard::pattern(i));
        }
        for (offset, words) in parts {
            scratch[(offset - start) as usize..][..words.len()].copy_from_slice(words);
        }
        self.write(shared, &Place { allocation: to.clone(), offset: *start }, &scratch)?;
        self.scratch = scratch;
        Ok(())
    }
}

impl Mover for Stream {
    type Device = Shared;

    /// Comes after everything recorded so far.
    fn write(&mut self, shared: &Arc<Shared>, to: &Place, words: &[u32]) -> Result<()> {
        for (k, piece) in words.chunks(PIECE).enumerate() {
            let (buffer, start) = (to.allocation.buffer(), (to.offset + (k * PIECE) as u64) * 4);
            if piece.len() >= LONG && piece.iter().all(|w| *w == 0) {
                // An optimizer's moments at the start: twice the model.
                self.encoder(shared).clear_buffer(buffer, start, Some(piece.len() as u64 * 4));
                self.dispatched(std::slice::from_ref(&to.allocation));
                continue;
            }
            if to.allocation.touched() == self.epoch {
                self.submit(shared);
            }
            shared.queue.write_buffer(buffer, start, bytemuck::cast_slice(piece));
        }
        Ok(())
    }

    /// Neighbours in one write, for each costs as much as a thousand words; long ones by themselves, from where they lie.
    fn write_all(&mut self, shared: &Arc<Shared>, to: &Arc<Allocation>, parts: &[(u64, &Arc<[u32]>)]) -> Result<()> {
        let (long, short): (Vec<_>, Vec<_>) =
            parts.iter().map(|(offset, words)| (*offset, *words)).partition(|(_, words)| words.len() >= LONG);
        let mut rest = &short[..];
        while let Some((first, _)) = rest.first() {
            let end = |(offset, words): &(u64, &Arc<[u32]>)| (offset + words.len() as u64 - first) as usize;
            let count = rest.iter().take_while(|part| end(part) <= SCRATCH).count().max(1);
            let (together, others) = rest.split_at(count);
            self.write_together(shared, to, together)?;
            rest = others;
        }
        long.into_iter().try_for_each(|(offset, words)| self.write(shared, &Place { allocation: to.clone(), offset }, words))
    }

    fn copy(&mut self, shared: &Arc<Shared>, from: &Place, to: &Place, words: u64) -> Result<()> {
        if words == 0 {
            return Ok(());
        }
        if Arc::ptr_eq(&from.allocation, &to.allocation) {
            if from.offset == to.offset {
                return Ok(());
            }
            // WebGPU does not copy within a buffer.
            let between = Place::start(Pool::allocate(shared, words)?);
            self.copy(shared, from, &between, words)?;
            return self.copy(shared, &between, to, words);
        }
        let (source, target) = (from.allocation.buffer().clone(), to.allocation.buffer().clone());
        self.encoder(shared).copy_buffer_to_buffer(&source, from.offset * 4, &target, to.offset * 4, words * 4);
        self.dispatched(&[from.allocation.clone(), to.allocation.clone()]);
        Ok(())
    }

    fn arenas(&mut self) -> &mut Parts<Shared> {
        &mut self.arenas
    }
}
