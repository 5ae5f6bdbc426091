//! What a run does, in order: waves of launches that touch nothing of one another, and between some the collectives.

use super::team::{self, Function, Task, Wave};
use crate::measure::Measure;
use aludel_ir::program::Program;
use std::sync::Arc;

/// The waves of a program for given sizes and a given place of its state.
pub(super) struct Plan {
    pub measure: Arc<Measure>,
    /// Where the placements of the state lie, where that differs from the measure's.
    pub moved: Vec<Option<u64>>,
    pub rows: Arc<Vec<u32>>,
    /// Waves, and the launch that is a collective and comes after them, if any.
    pub legs: Vec<(Arc<Vec<Wave>>, Option<usize>)>,
    /// Each launch by itself, for timing.
    pub dispatches: u64,
    /// Too little work to share.
    pub alone: bool,
}

/// A stretch of a binding that a launch reads or writes.
#[derive(Clone, Copy)]
struct Touch {
    binding: usize,
    start: u64,
    end: u64,
    write: bool,
}

impl Touch {
    fn hinders(&self, other: &Touch) -> bool {
        (self.write || other.write) && self.binding == other.binding && self.start < other.end && other.start < self.end
    }
}

/// Work that takes one thread less than this many nanoseconds, about, is not shared: moving its data between the cores' caches takes
/// as long.
const SHARE_NANOSECONDS: f64 = 150_000.0;

impl Plan {
    pub fn new(program: &Program, measure: Arc<Measure>, moved: Vec<Option<u64>>, sizes: &[i64], functions: &[Function]) -> Self {
        let mut rows = measure.rows(program, &moved);
        // Kernels may read a parameter even where a program has no rows.
        rows.push(0);
        let place = |p: usize, write: bool| {
            let start = moved[p].unwrap_or(measure.offsets[p]);
            Touch { binding: program.placements[p].binding, start, end: start + measure.words[p], write }
        };
        let mut legs: Vec<(Vec<Vec<Task>>, Option<usize>)> = Vec::new();
        let mut waves: Vec<Vec<Task>> = vec![Vec::new()];
        let mut touched: Vec<Touch> = Vec::new();
        let (mut dispatches, mut nanoseconds) = (0, 0.0);
        for (l, launch) in program.launches.iter().enumerate() {
            let Some(grid) = measure.grids[l] else { continue };
            dispatches += 1;
            if launch.exchange.is_some() {
                legs.push((std::mem::replace(&mut waves, vec![Vec::new()]), Some(l)));
                touched.clear();
                continue;
            }
            let eval = |e| program.eval(e, sizes).unwrap_or(0).max(0) as f64;
            nanoseconds += eval(&launch.bytes) / 30.0 + eval(&launch.flops) / 150.0;
            let pieces = grid.iter().fold(1u64, |n, g| n.saturating_mul(*g as u64)).min(u32::MAX as u64) as u32;
            let own: Vec<Touch> =
                launch.reads.iter().map(|p| place(*p, false)).chain(launch.writes.iter().map(|p| place(*p, true))).collect();
            if own.iter().any(|t| touched.iter().any(|u| t.hinders(u))) {
                waves.push(Vec::new());
                touched.clear();
            }
            touched.extend(own);
            if let Some(w) = waves.last_mut() {
                w.push(Task { function: functions[launch.kernel], row: measure.starts[l] as usize / 4, pieces, launch: l });
            }
        }
        legs.push((waves, None));
        let wave = |tasks| Wave::new(tasks, team::threads());
        let legs: Vec<(Arc<Vec<Wave>>, Option<usize>)> =
            legs.into_iter().map(|(waves, then)| (Arc::new(waves.into_iter().map(wave).collect()), then)).collect();
        let alone = nanoseconds < SHARE_NANOSECONDS || legs.iter().flat_map(|(w, _)| w.iter()).all(|w| w.pieces <= 1);
        Plan { measure, moved, rows: Arc::new(rows), legs, dispatches, alone }
    }
}
