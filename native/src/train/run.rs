//! One run of one mode: the loop, its clock and its reports.

use super::checkpoints::{self, Store};
use super::examples::{Examples, Feed};
use super::{among, held_out};
use crate::interrupt;
use crate::mlflow;
use crate::output::Output;
use crate::tensorboard::EventFile;
use aludel::distributed::Member;
use aludel::nn::GradScaler;
use aludel::{Device, Result, compile};
use aludel_models::presets::{Batch, Config, Train};
use aludel_runtime::Loading;
use indicatif::ProgressBar;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// How many steps the host may be ahead of the device.
const AHEAD: usize = 8;

/// What to train, and how to report it.
pub struct Run<'a> {
    /// `eager` or `compiled`.
    pub mode: &'static str,
    pub config: &'a Config,
    /// In place of the preset's own data.
    pub data: Option<&'a Examples>,
    pub device: Device,
    /// With whom gradients are averaged.
    pub member: Member,
    /// Train until so many are made, those before a checkpoint included.
    pub steps: u64,
    pub log_every: Option<u64>,
    pub checkpoint_every: Option<u64>,
    pub logdir: Option<PathBuf>,
    pub tracked: Option<mlflow::Run>,
}

/// What came of it.
pub struct Outcome {
    pub mode: &'static str,
    /// Steps made in this run.
    pub made: u64,
    /// Milliseconds of a step: the median over the stretches between reports. `None` when fewer than two steps were made.
    pub ms: Option<f64>,
    /// Milliseconds of the first step: kernels are compiled in it.
    pub first_ms: Option<f64>,
    /// Kernels launched by a step.
    pub kernels: u64,
    pub loss: Option<f64>,
    /// Of f16.
    pub scaling: Option<Scaling>,
    /// On held-out data, and how many examples that is.
    pub accuracy: Option<(f64, usize)>,
}

/// How the loss is scaled.
#[derive(Clone, Copy)]
pub struct Scaling {
    pub scale: f64,
    pub skipped: u64,
}

impl Scaling {
    /// `None` unless the loss is scaled. Reading it waits for the device.
    fn of(train: &Train) -> Result<Option<Scaling>> {
        let read = |s: &GradScaler| Ok(Scaling { scale: s.get_scale().item()?, skipped: s.skipped().item()? as u64 });
        train.amp.scaler.as_ref().map(read).transpose()
    }
}

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss scale {}, {} steps skipped", self.scale, self.skipped)
    }
}

/// The time of steps, in stretches: from when the device was last waited for to when it is again.
struct Clock {
    begin: Instant,
    steps: u64,
    /// Milliseconds of a step in each.
    stretches: Vec<f64>,
}

impl Clock {
    fn start() -> Clock {
        Clock { begin: Instant::now(), steps: 0, stretches: Vec::new() }
    }

    /// Ends a stretch; gives the milliseconds of one of its steps.
    fn stop(&mut self) -> Option<f64> {
        let ms = (self.steps > 0).then(|| self.begin.elapsed().as_secs_f64() * 1e3 / self.steps as f64);
        self.stretches.extend(ms);
        ms
    }

    fn restart(&mut self) {
        (self.begin, self.steps) = (Instant::now(), 0);
    }

    fn median(mut self) -> Option<f64> {
        self.stretches.sort_by(f64::total_cmp);
        self.stretches.get(self.stretches.len() / 2).copied()
    }
}

/// Says in the bar how far the first step is compiled.
fn show_loading(device: &Device, bar: &ProgressBar) {
    let bar = bar.clone();
    device.executor().observe_loading(Some(Arc::new(move |l: &Loading| {
        bar.set_message(format!("compiling kernel {} of {}", (l.done + 1).min(l.total), l.total));
    })));
}

impl Run<'_> {
    pub fn train(&self, mut store: Option<Store>, output: &Output) -> Result<Outcome> {
        let (mode, device) = (self.mode, &self.device);
        let (mut train, mut source) = (Train::new(self.config, device)?, Feed::new(self.config, self.data, &self.member)?);
        let (mut start, mut position) = (0, 0);
        if let Some(last) = store.as_mut().and_then(|s| s.last.take()) {
            (start, position) = checkpoints::restore(&last, &mut train, device)?;
            output.line(format!("{mode:<9} goes on after step {start}"));
            output.event("resumed", json!({ "mode": mode, "step": start }));
        }
        (start, position) = among::begin(&mut train, (start, position), &self.member, device)?;
        if start >= self.steps {
            output.line(format!("{mode:<9} is at step {start} already: ask for more with --steps"));
        }
        let mut events = self.logdir.as_ref().map(|d| EventFile::create(d)).transpose()?;
        let compiled = compile(|s: &mut Train, b: &Batch| s.step(b));
        let step = |train: &mut Train, batch: &Batch| if mode == "eager" { train.step(batch) } else { compiled.call(train, batch) };

        let log_every = self.log_every.unwrap_or((self.steps / 100).max(1));
        let line_every = self.log_every.unwrap_or((self.steps / 5).max(1));
        let save_every = self.checkpoint_every.unwrap_or((self.steps / 10).max(1));
        let bar = output.bar(mode, self.steps);
        bar.set_position(start);
        show_loading(device, &bar);

        let mut clock = Clock::start();
        let (mut first_ms, mut loss, mut scaling, mut saved, mut launched) = (None, None, None, None, 0);
        let mut done = start;
        while done < self.steps && !interrupt::requested() {
            let batch = source.batch(position, device);
            if batch.is_err() {
                // What was learned before a file that cannot be read is kept.
                self.save(store.as_mut().filter(|_| done > start), &train, done, output)?;
            }
            let result = step(&mut train, &batch?)?;
            position += 1;
            done += 1;
            clock.steps += 1;
            if first_ms.is_none() {
                // Everything is compiled in it: it is no stretch of the others.
                loss = Some(among::mean(&result, &self.member)?);
                first_ms = Some(clock.begin.elapsed().as_secs_f64() * 1e3);
                launched = device.stats().dispatches;
                clock.restart();
            } else {
                device.flush();
                pollster::block_on(device.throttle(AHEAD))?;
            }
            let last = done == self.steps;
            let (report, save) = (done.is_multiple_of(log_every) || last, done.is_multiple_of(save_every) || last);
            if report {
                // Reading waits for the device.
                loss = Some(among::mean(&result, &self.member)?);
                scaling = Scaling::of(&train)?;
                let ms = clock.stop();
                self.report(done, loss.unwrap_or(f64::NAN), ms, scaling, &bar, output);
                self.log(events.as_mut(), done, loss.unwrap_or(f64::NAN), ms)?;
                if done.is_multiple_of(line_every) || last {
                    let ms = ms.map_or(String::new(), |ms| format!("{ms:>9.3} ms/step"));
                    let scaling = scaling.map_or(String::new(), |s| format!("  {s}"));
                    output.progress(format!("{mode:<9} step {done:>6}  loss {:<8.4} {ms}{scaling}", loss.unwrap_or(f64::NAN)).trim_end());
                }
            }
            if save {
                saved = self.save(store.as_mut(), &train, done, output)?;
            }
            if report || save {
                // Neither reading the loss nor writing a checkpoint is a part of training.
                clock.restart();
            }
        }
        bar.finish_and_clear();
        device.executor().observe_loading(None);
        if done > start && saved != Some(done) {
            self.save(store.as_mut(), &train, done, output)?;
        }
        let made = done - start;
        let kernels = (device.stats().dispatches - launched).checked_div(made.saturating_sub(1)).unwrap_or(0);
        let accuracy = match (self.member.is_first(), self.data) {
            (false, _) => None,
            (true, Some(data)) => Some(data.accuracy(self.config, &train.model, device)?),
            (true, None) => held_out::accuracy(self.config, &train.model, device)?,
        };
        let outcome = Outcome { mode, made, ms: clock.median(), first_ms, kernels, loss, scaling, accuracy };
        self.conclude(&outcome, done, output);
        Ok(outcome)
    }

    /// Says what came of a run that ends at a step.
    fn conclude(&self, o: &Outcome, step: u64, output: &Output) {
        output.event(
            "result",
            json!({
                "mode": o.mode, "steps": o.made, "step": step, "ms_per_step": o.ms, "first_ms": o.first_ms, "kernels": o.kernels,
                "samples_per_s": o.ms.map(|ms| self.config.batch as f64 * 1e3 / ms), "loss": o.loss,
                "accuracy": o.accuracy.map(|a| a.0), "loss_scale": o.scaling.map(|s| s.scale),
                "skipped_steps": o.scaling.map(|s| s.skipped), "interrupted": interrupt::requested(),
            }),
        );
        if let (Some(tracked), Some((accuracy, _))) = (&self.tracked, o.accuracy) {
            tracked.log(vec![("accuracy", step, accuracy)]);
        }
    }

    fn report(&self, done: u64, loss: f64, ms: Option<f64>, scaling: Option<Scaling>, bar: &ProgressBar, output: &Output) {
        let (scale, skipped) = (scaling.map(|s| s.scale), scaling.map(|s| s.skipped));
        output.event(
            "step",
            json!({ "mode": self.mode, "step": done, "loss": loss, "ms_per_step": ms, "loss_scale": scale, "skipped_steps": skipped }),
        );
        bar.set_position(done);
        bar.set_message(format!("loss {loss:.4}  {}", ms.map_or(String::new(), |ms| format!("{ms:.3} ms/step"))));
    }

    // For TensorBoard and MLflow, where these are asked for.
    fn log(&self, events: Option<&mut EventFile>, step: u64, loss: f64, ms: Option<f64>) -> Result<()> {
        let mut values = vec![("loss", loss)];
        values.extend(ms.map(|ms| ("ms_per_step", ms)));
        if let Some(tracked) = &self.tracked {
            tracked.log(values.iter().map(|(key, value)| (*key, step, *value)).collect());
        }
        let Some(events) = events else { return Ok(()) };
        events.scalars(step, &values)?;
        events.flush()
    }

    // Writes a checkpoint where they are asked for; gives the step.
    fn save(&self, store: Option<&mut Store>, train: &Train, step: u64, output: &Output) -> Result<Option<u64>> {
        let Some(store) = store else { return Ok(None) };
        let of = |k: &str, v: String| (k.to_string(), v);
        let written_by = BTreeMap::from([
            of("device", self.device.to_string()),
            of("mode", self.mode.to_string()),
            of("version", env!("CARGO_PKG_VERSION").to_string()),
        ]);
        let path = store.save(train, step, written_by)?;
        tracing::info!(step, path = %path.display(), "checkpoint");
        output.event("checkpoint", json!({ "mode": self.mode, "step": step, "path": path }));
        Ok(Some(step))
    }
}
