//! The losses that a script calls `backward()` on, for whoever draws them: of each line some of those that are computed, without a wait
//! and without another region. Holding one makes it a result of its region.

use aludel_python::Vm;
use aludel_python::objects::Exc;
use aludel_tensor::{Result, Tensor, record};
use std::collections::{BTreeMap, VecDeque};

use crate::state::state;

/// So many of a line are held at most: a region runs one late, and may have several.
const HELD: usize = 64;
/// So many that are computed are kept of a line between two looks.
const KNOWN: usize = 6;
/// So many lines of a script are followed.
const LINES: usize = 8;

/// Losses by the line that differentiates them.
#[derive(Default)]
pub(crate) struct Losses(BTreeMap<u32, Line>);

#[derive(Default)]
struct Line {
    count: u64,
    held: VecDeque<(u64, Tensor)>,
    /// Computed ones since they were last asked for, so many steps apart.
    known: Vec<(u64, Tensor)>,
    apart: u64,
}

/// A loss.
pub struct Loss {
    /// The script's line.
    pub line: u32,
    /// How many came before it in that line.
    pub step: u64,
    value: Tensor,
}

impl Loss {
    /// Its value.
    ///
    /// # Errors
    ///
    /// Of a device that is lost.
    pub async fn value(&self) -> Result<f64> {
        self.value.item_async().await
    }
}

/// Lets a machine keep losses for [`newest`].
pub fn keep(vm: &mut Vm) {
    if let Ok(state) = state(vm) {
        state.losses = Some(Losses::default());
    }
}

/// `backward()` is called on a scalar.
pub(crate) fn passed(vm: &mut Vm, loss: &Tensor) -> std::result::Result<(), Exc> {
    if state(vm)?.losses.is_none() {
        return Ok(());
    }
    let line = vm.place().map_or(0, |(_, line)| line);
    let Some(losses) = &mut state(vm)?.losses else { return Ok(()) };
    if losses.0.len() >= LINES && !losses.0.contains_key(&line) {
        return Ok(());
    }
    let of = losses.0.entry(line).or_default();
    // Of those that are computed the newest is enough. The others are held until they are, each time: a region whose results are others is
    // another graph.
    if let Some(known) = newest_known(&of.held) {
        of.held.drain(..known);
        of.sample();
    }
    if of.held.len() >= HELD {
        of.held.pop_front();
    }
    of.held.push_back((of.count, loss.detach()));
    of.count += 1;
    Ok(())
}

impl Line {
    /// Keeps the oldest that is held, which is computed, for the curve.
    fn sample(&mut self) {
        let Some((step, value)) = self.held.front() else { return };
        if self.known.last().is_some_and(|(last, _)| step < &(last + self.apart.max(1))) {
            return;
        }
        if self.known.len() >= KNOWN {
            let mut keep = false;
            self.known.retain(|_| {
                keep = !keep;
                keep
            });
            self.apart = 2 * self.apart.max(1);
        }
        self.known.push((*step, value.clone()));
    }
}

/// Losses that are computed, since the last call: of each line some, and the newest.
pub fn newest(vm: &mut Vm) -> Vec<Loss> {
    let Some(losses) = state(vm).ok().and_then(|s| s.losses.as_mut()) else { return Vec::new() };
    let mut out = Vec::new();
    for (line, of) in &mut losses.0 {
        let newest = newest_known(&of.held).and_then(|known| of.held.drain(..=known).next_back());
        let mut found = std::mem::take(&mut of.known);
        of.apart = 1;
        found.extend(newest.filter(|(step, _)| found.last().is_none_or(|(last, _)| step > last)));
        out.extend(found.into_iter().map(|(step, value)| Loss { line: *line, step, value }));
    }
    out
}

fn newest_known(held: &VecDeque<(u64, Tensor)>) -> Option<usize> {
    held.iter().rposition(|(_, t)| !record::is_pending(t))
}
