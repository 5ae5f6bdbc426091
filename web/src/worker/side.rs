//! One side of the race that trains here: a learner, and how long its steps take.

use super::clock::{breathe, now};
use super::learner::Learner;
use aludel::{Result, Snapshot};
use aludel_protocol::{Counts, Lane, Pane, Progress};
use std::collections::VecDeque;

/// How long a side trains before it is the other's turn. Short, so that both curves grow at once and requests are answered
/// soon; long against the wait for the device that ends it.
const SLICE_MS: f64 = 60.0;
/// The most steps of a slice, and the most losses read in it.
const MOST_STEPS: u64 = 256;
const MOST_LOSSES: u64 = 8;
/// How often state is saved for the case that the device goes away.
const SAVE_MS: f64 = 3000.0;
/// How many slices the median is taken over.
const WINDOW: usize = 15;

pub struct Side {
    pub lane: Lane,
    pub pane: Pane,
    pub learner: Learner,
    /// Steps taken.
    pub step: u64,
    elapsed_ms: f64,
    first_ms: Option<f64>,
    /// Milliseconds per step of the last slices, newest last.
    window: VecDeque<f64>,
    counts: Counts,
    /// When the model was last evaluated, how long that took, and at which step it was.
    pub evaluated: Option<(f64, f64, u64)>,
    saved: Option<Saved>,
}

/// What a lost device does not take away.
struct Saved {
    when: f64,
    step: u64,
    elapsed_ms: f64,
    snapshot: Snapshot,
}

impl Side {
    pub fn new(lane: Lane, pane: Pane, learner: Learner) -> Self {
        Side {
            lane,
            pane,
            learner,
            step: 0,
            elapsed_ms: 0.0,
            first_ms: None,
            window: VecDeque::new(),
            counts: Counts::default(),
            evaluated: None,
            saved: None,
        }
    }

    /// Trains for a slice, or for `limit` steps if that is shorter, until the device is done.
    pub async fn train(&mut self, limit: Option<u64>) -> Result<Progress> {
        let steps = self.steps_for_slice().min(limit.unwrap_or(u64::MAX));
        let every = steps.div_ceil(MOST_LOSSES);
        let before = self.learner.totals();
        let (start, mut done, mut kept) = (now(), 0, Vec::new());
        if self.first_ms.is_none() {
            self.learner.prepare(self.step).await?;
        }
        while done < steps {
            let keep = (done + 1) % every == 0 || done + 1 == steps;
            self.learner.step(self.step, keep)?;
            self.step += 1;
            done += 1;
            if keep {
                kept.push(self.step);
                // Issuing takes longer than foreseen: the rest waits for the next turn.
                if now() - start > 2.0 * SLICE_MS {
                    break;
                }
            }
        }
        let after = self.learner.totals();
        let losses = self.learner.finish().await?;
        let took = now() - start;
        let scaling = self.learner.scaling().await?;
        match self.first_ms {
            None => self.first_ms = Some(took),
            Some(_) => {
                self.elapsed_ms += took;
                self.window.push_back(took / done as f64);
                if self.window.len() > WINDOW {
                    self.window.pop_front();
                }
            }
        }
        self.count(&before, &after, done);
        let report = Progress {
            pane: self.pane,
            step: self.step,
            losses: kept.into_iter().zip(losses).collect(),
            elapsed_ms: self.elapsed_ms,
            ms_per_step: self.median(),
            counts: self.counts,
            first_ms: self.first_ms,
            scaling,
        };
        // On the CPU nothing above gave way to the messages that may have come.
        breathe().await;
        Ok(report)
    }

    fn count(&mut self, before: &Counts, after: &Counts, steps: u64) {
        let each = |a: u64, b: u64| (a - b) / steps.max(1);
        self.counts = Counts {
            kernels: each(after.kernels, before.kernels),
            submits: each(after.submits, before.submits),
            bytes_moved: each(after.bytes_moved, before.bytes_moved),
            // Evaluating takes memory too, which is not training's.
            peak_bytes: if self.evaluated.is_none() { after.peak_bytes } else { self.counts.peak_bytes },
        };
    }

    fn steps_for_slice(&self) -> u64 {
        // The first step compiles; the second says how long steps take.
        match self.window.back() {
            Some(ms) => ((SLICE_MS / ms.max(1e-3)) as u64).clamp(1, MOST_STEPS),
            None => 1,
        }
    }

    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.window.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// It is time to evaluate: now and then, and never so often that training stands in its shadow.
    pub fn wants_evaluation(&self) -> bool {
        match self.evaluated {
            None => true,
            Some((when, took, step)) => step != self.step && now() - when > (8.0 * took).max(400.0),
        }
    }

    pub async fn save_if_due(&mut self) -> Result<()> {
        if self.saved.as_ref().is_none_or(|s| now() - s.when > SAVE_MS && s.step != self.step) {
            let snapshot = self.learner.snapshot().await?;
            self.saved = Some(Saved { when: now(), step: self.step, elapsed_ms: self.elapsed_ms, snapshot });
        }
        Ok(())
    }

    /// Goes on with a new learner from the last snapshot, or from the start where there is none.
    pub fn resume(&mut self, mut learner: Learner) -> Result<()> {
        (self.step, self.elapsed_ms) = match &self.saved {
            Some(s) => {
                learner.restore(&s.snapshot)?;
                (s.step, s.elapsed_ms)
            }
            None => (0, 0.0),
        };
        self.learner = learner;
        // The new device compiles anew: its first step says nothing of the others.
        self.window.clear();
        self.first_ms = None;
        self.evaluated = None;
        Ok(())
    }
}
