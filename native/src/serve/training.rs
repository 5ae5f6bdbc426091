//! One session on its device's thread: its learner, how far it is to go, and how long its steps take.

use super::learner::Learner;
use super::metrics::{Metrics, pane_label};
use super::session::Session;
use super::worker::SLICE;
use crate::tensorboard::EventFile;
use aludel::Result;
use aludel_protocol::remote::ServerMessage;
use aludel_protocol::{Counts, Progress};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most steps of a slice, and the most losses read in it: as in the page's worker.
const MOST_STEPS: u64 = 256;
const MOST_LOSSES: u64 = 8;
/// How many slices the median is taken over.
const WINDOW: usize = 15;

pub struct Training {
    pub session: Arc<Session>,
    pub learner: Learner,
    /// Steps taken.
    pub step: u64,
    running: bool,
    /// Where to pause.
    goal: u64,
    most_steps: u64,
    pub elapsed_ms: f64,
    first_ms: Option<f64>,
    /// The step at which it was saved last.
    pub saved: Option<u64>,
    /// Time to compile, which counts as part of the first step.
    compile: Duration,
    /// Milliseconds per step of the last slices, newest last.
    window: VecDeque<f64>,
    events: Option<EventFile>,
}

impl Training {
    pub fn new(session: Arc<Session>, learner: Learner, compile: Duration, most_steps: u64) -> Training {
        Training {
            session,
            learner,
            step: 0,
            running: false,
            goal: most_steps,
            most_steps,
            elapsed_ms: 0.0,
            first_ms: None,
            saved: None,
            compile,
            window: VecDeque::new(),
            events: None,
        }
    }

    /// As it was when the server ended.
    pub fn at(mut self, step: u64, elapsed_ms: f64) -> Training {
        (self.step, self.elapsed_ms) = (step, elapsed_ms);
        self
    }

    /// Writes losses and speed for TensorBoard. The directory is named by the session's name and the beginning of its key, of which it
    /// gives nothing useful away.
    pub fn log_to(&mut self, logdir: &Path) {
        let name: String = self.session.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let key: String = self.session.key.0.chars().take(8).collect();
        match EventFile::create(&logdir.join(format!("{name}-{key}"))) {
            Ok(file) => self.events = Some(file),
            Err(e) => tracing::warn!(error = %e, "no event file for a session"),
        }
    }

    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Trains for so many steps, or until paused.
    pub fn run(&mut self, steps: Option<u64>) {
        self.goal = steps.map_or(self.most_steps, |n| self.step.saturating_add(n).min(self.most_steps));
        self.set_running(self.step < self.goal);
    }

    pub fn set_running(&mut self, running: bool) {
        self.running = running;
        self.session.post(ServerMessage::Running { running, step: self.step });
    }

    /// Pauses and says why.
    pub fn fail(&mut self, message: String) {
        self.set_running(false);
        self.session.post(ServerMessage::Failed { message });
    }

    /// Trains for one turn.
    pub fn turn(&mut self, metrics: &Metrics, device: &str) {
        match self.slice(metrics, device) {
            Err(e) => self.fail(match self.learner.device().lost() {
                Some(reason) => format!("the device is gone: {reason}"),
                None => e.to_string(),
            }),
            Ok(Some(bad)) => {
                let pane = self.session.pane.title();
                self.fail(format!("{pane}: the loss of step {bad} is not a number. Lower the learning rate, then reset."));
            }
            Ok(None) if self.step >= self.goal => {
                self.set_running(false);
                if self.step >= self.most_steps {
                    let message = format!("{} steps are all that this server takes in one session", self.most_steps);
                    self.session.post(ServerMessage::Failed { message });
                }
            }
            Ok(None) => {}
        }
    }

    // Gives the step whose loss is not a number.
    fn slice(&mut self, metrics: &Metrics, device: &str) -> Result<Option<u64>> {
        let steps = self.steps_for_slice().min(self.goal - self.step);
        let every = steps.div_ceil(MOST_LOSSES).max(1);
        let before = self.learner.totals();
        let (start, mut done, mut kept) = (Instant::now(), 0, Vec::new());
        while done < steps {
            let loss = self.learner.step(self.step)?;
            self.step += 1;
            done += 1;
            if done % every == 0 || done == steps {
                kept.push((self.step, loss));
                // Issuing takes longer than foreseen, or nobody wants this any more: the rest waits for the next turn.
                if start.elapsed() > 2 * SLICE || self.session.is_cancelled() {
                    break;
                }
            }
        }
        let after = self.learner.totals();
        let losses = kept.iter().map(|(step, loss)| Ok((*step, self.learner.read(loss)?))).collect::<Result<Vec<_>>>()?;
        drop(kept);
        self.learner.finish()?;
        let took = start.elapsed();
        self.time(took, done);
        let labels = [device, pane_label(self.session.pane)];
        metrics.steps.with_label_values(&labels).inc_by(done);
        let histogram = metrics.step_seconds.with_label_values(&labels);
        (0..done).for_each(|_| histogram.observe(took.as_secs_f64() / done as f64));
        let progress = Progress {
            pane: self.session.pane,
            step: self.step,
            losses,
            elapsed_ms: self.elapsed_ms,
            ms_per_step: self.median(),
            counts: counts(&before, &after, done),
            first_ms: self.first_ms,
            scaling: None,
        };
        self.log(&progress);
        let bad = progress.losses.iter().find(|(_, l)| !l.is_finite()).map(|(step, _)| *step);
        self.session.post(ServerMessage::Progress(progress));
        Ok(bad)
    }

    fn time(&mut self, took: Duration, steps: u64) {
        let ms = took.as_secs_f64() * 1e3;
        match self.first_ms {
            None => self.first_ms = Some(ms + self.compile.as_secs_f64() * 1e3),
            Some(_) => {
                self.elapsed_ms += ms;
                self.window.push_back(ms / steps.max(1) as f64);
                if self.window.len() > WINDOW {
                    self.window.pop_front();
                }
            }
        }
    }

    fn log(&mut self, progress: &Progress) {
        let Some(events) = &mut self.events else { return };
        let speed = progress.ms_per_step.map(|ms| (progress.step, "ms_per_step", ms));
        let losses = progress.losses.iter().map(|(step, loss)| (*step, "loss", f64::from(*loss)));
        let written =
            losses.chain(speed).try_for_each(|(step, tag, value)| events.scalars(step, &[(tag, value)])).and_then(|()| events.flush());
        if let Err(e) = written {
            tracing::warn!(error = %e, "an event file can no longer be written");
            self.events = None;
        }
    }

    fn steps_for_slice(&self) -> u64 {
        // The second step says how long steps take.
        match self.window.back() {
            Some(ms) => ((SLICE.as_secs_f64() * 1e3 / ms.max(1e-3)) as u64).clamp(1, MOST_STEPS),
            None => 1,
        }
    }

    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.window.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

fn counts(before: &Counts, after: &Counts, steps: u64) -> Counts {
    let each = |a: u64, b: u64| a.saturating_sub(b) / steps.max(1);
    Counts {
        kernels: each(after.kernels, before.kernels),
        submits: each(after.submits, before.submits),
        bytes_moved: each(after.bytes_moved, before.bytes_moved),
        peak_bytes: after.peak_bytes,
    }
}
