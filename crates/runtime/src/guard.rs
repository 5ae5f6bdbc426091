//! Guard bands: a mode for tests in which no kernel writes a word that is not its own unnoticed.
//!
//! A guarded executor gives every range of the arena, the state and the inputs memory of its own, with a band of known words
//! around it, and runs a program's launches one after another. After each it compares all memory that the program binds with what was
//! there before: whatever changed outside of [`Launch::writes`](aludel_ir::program::Launch) is an error that names the launch and the
//! place, be it in a band or in another tensor. Memory that nothing was written to holds [`pattern`], NaNs under every float
//! type, so that whoever reads outside of a tensor, or what no launch has written, computes NaN. Programs are those that other executors
//! run, word for word: only offsets differ.
//!
//! A test turns it on with `WgpuOptions { guard: true, .. }` or `CpuExecutor::guarded()`, and uses the executor as any other:
//! [`Executable::run`](crate::Executable::run) fails where a launch writes outside. Steps are slow then (all memory is read back after each
//! launch), so models should be small. The interpreter has no memory that a kernel could miss.

use crate::bind::{Mover, Resolved};
use crate::measure::Measure;
use crate::memory::{Allocation, Backing, Place};
use aludel_ir::program::{ALIGN, Program, Role};
use aludel_ir::{Error, Result};
use std::sync::Arc;

/// Words of a band: as many as a small tile has.
pub(crate) const BAND: u64 = 1024;

/// Words after the last range of an allocation: a workgroup that should not be there writes this far, and what a device
/// itself drops, beyond a binding's end, nobody could see.
pub(crate) const TAIL: u64 = 64 << 10;

/// What a word of an allocation holds that nobody has written: a NaN as f32, and twice as f16 or bf16; a large index as an integer. The
/// NaNs are signalling, so that arithmetic changes them, and words differ, so that a copy of one to the place of another shows.
pub(crate) fn pattern(word: u64) -> u32 {
    // Fibonacci hashing: ranges begin at multiples of a power of two.
    let mark = (word as u32).wrapping_mul(0x9e37_79b9) >> 26;
    0x7fa5_7f81 | mark << 1
}

/// The patterns of an allocation of so many words.
pub(crate) fn patterns(words: u64) -> Vec<u32> {
    (0..words).map(pattern).collect()
}

/// As [`Program::layout`], with no two slots of a step in the same words, and a band before the first and after each: what lies outside of
/// a binding, a device may drop.
pub(crate) fn layout(program: &Program, sizes: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
    // A tensor that is a binding by itself lies between its allocation's bands.
    let alone = |binding: usize| matches!(program.bindings[binding].role, Role::Input(_) | Role::Result(_));
    let mut used: Vec<i64> = (0..program.bindings.len()).map(|b| if alone(b) { 0 } else { BAND as i64 }).collect();
    let mut offsets = Vec::with_capacity(program.slots.len());
    for slot in &program.slots {
        let words = program.eval(&slot.words, sizes)?.max(1).checked_add(ALIGN - 1)? / ALIGN * ALIGN;
        let band = if alone(slot.binding) { 0 } else { BAND as i64 };
        let used = &mut used[slot.binding];
        offsets.push(*used);
        *used = used.checked_add(words)?.checked_add(band)?;
    }
    used.iter().all(|u| *u <= u32::MAX as i64).then_some((offsets, used))
}

/// Makes memory what it is before anybody writes it.
pub(crate) fn clear<M: Mover>(stream: &mut M, device: &Arc<M::Device>, memory: &Arc<Allocation<M::Device>>) -> Result<()> {
    let start = Place { allocation: memory.clone(), offset: 0 };
    stream.write(device, &start, &patterns(memory.words()))
}

/// What a placement of a program occupies.
struct Extent<'a> {
    name: &'a str,
    allocation: usize,
    start: u64,
    end: u64,
}

/// Looks at all memory that a run of a program binds.
pub(crate) struct Watch<'a, D: Backing> {
    program: &'a Program,
    /// Each allocation, with its words when it was last looked at.
    memory: Vec<(Arc<Allocation<D>>, Vec<u32>)>,
    /// For each placement.
    extents: Vec<Extent<'a>>,
}

impl<'a, D: Backing> Watch<'a, D> {
    /// `read` gives all words of an allocation once the work issued so far is done.
    pub fn start(
        program: &'a Program,
        m: &Measure,
        r: &Resolved<D>,
        mut read: impl FnMut(&Arc<Allocation<D>>) -> Result<Vec<u32>>,
    ) -> Result<Self> {
        let mut memory: Vec<(Arc<Allocation<D>>, Vec<u32>)> = Vec::new();
        let mut at = Vec::with_capacity(r.bound.len());
        for b in &r.bound {
            let a = &b.place.allocation;
            let known = memory.iter().position(|(known, _)| Arc::ptr_eq(known, a));
            at.push(known.unwrap_or(memory.len()));
            if known.is_none() {
                memory.push((a.clone(), read(a)?));
            }
        }
        let extent = |(i, p): (usize, &'a aludel_ir::program::Placement)| {
            let start = r.bound[p.binding].place.offset + r.moved[i].unwrap_or(m.offsets[i]);
            Extent { name: &p.name, allocation: at[p.binding], start, end: start + m.words[i] }
        };
        Ok(Watch { program, memory, extents: program.placements.iter().enumerate().map(extent).collect() })
    }

    /// An error where a launch, the last that ran, wrote what it does not say it writes.
    pub fn check(&mut self, launch: usize, mut read: impl FnMut(&Arc<Allocation<D>>) -> Result<Vec<u32>>) -> Result<()> {
        for a in 0..self.memory.len() {
            let now = read(&self.memory[a].0)?;
            let old = std::mem::replace(&mut self.memory[a].1, now);
            let now = &self.memory[a].1;
            // Equal stretches are passed over quickly: they are nearly all.
            for (c, (then, now)) in old.chunks(1024).zip(now.chunks(1024)).enumerate().filter(|(_, (then, now))| then != now) {
                let changed = (0..now.len()).filter(|i| then[*i] != now[*i]);
                if let Some(i) = changed.into_iter().find(|i| !self.may_write(launch, a, (c * 1024 + i) as u64)) {
                    let found = format!("{:#010x} became {:#010x}", then[i], now[i]);
                    return Err(self.wrote_outside(launch, a, (c * 1024 + i) as u64, &found));
                }
            }
        }
        Ok(())
    }

    fn may_write(&self, launch: usize, allocation: usize, word: u64) -> bool {
        let mut own = self.program.launches[launch].writes.iter().map(|p| &self.extents[*p]);
        own.any(|e| e.allocation == allocation && (e.start..e.end).contains(&word))
    }

    fn wrote_outside(&self, launch: usize, allocation: usize, word: u64, found: &str) -> Error {
        let here = || self.extents.iter().filter(|e| e.allocation == allocation);
        let place = match here().filter(|e| e.start <= word).max_by_key(|e| (e.start, e.end)) {
            Some(e) if word < e.end => format!("word {} of {}, which it does not write", word - e.start, e.name),
            Some(e) => format!("{} words after the end of {} ({} words)", word - e.end, e.name, e.end - e.start),
            None => match here().min_by_key(|e| e.start) {
                Some(e) => format!("{} words before {}", e.start - word, e.name),
                None => format!("word {word} of a binding without tensors"),
            },
        };
        let l = &self.program.launches[launch];
        Error::verify(format!("launch {launch} ({}) of {}", l.label, self.program.name), format!("wrote outside: {place}: {found}"))
    }
}
