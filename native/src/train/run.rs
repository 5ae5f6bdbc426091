//! One run of one mode: the loop, its clock and its reports.

use super::checkpoints::{self, Store};
use super::held_out;
use crate::interrupt;
use crate::output::Output;
use crate::tensorboard::EventFile;
use aludel::{Device, Result, Tensor, compile};
use aludel_models::presets::{Batch, Config, Source, Train};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// How many steps the host may be ahead of the device.
const AHEAD: usize = 8;

/// What to train, and how to report it.
pub struct Run<'a> {
    /// `eager` or `compiled`.
    pub mode: &'static str,
    pub config: &'a Config,
    pub device: Device,
    /// Train until so many are made, those before a checkpoint included.
    pub steps: u64,
    pub log_every: Option<u64>,
    pub checkpoint_every: Option<u64>,
    pub logdir: Option<PathBuf>,
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
    /// On held-out data, and how many examples that is.
    pub accuracy: Option<(f64, usize)>,
}

impl Run<'_> {
    pub fn train(&self, mut store: Option<Store>, output: &Output) -> Result<Outcome> {
        let (mode, device) = (self.mode, &self.device);
        let (mut train, mut source) = (Train::new(self.config, device)?, Source::new(self.config));
        let (mut start, mut position) = (0, 0);
        if let Some(last) = store.as_mut().and_then(|s| s.last.take()) {
            (start, position) = checkpoints::restore(&last, &mut train, device)?;
            output.line(format!("{mode:<9} goes on after step {start}"));
            output.event("resumed", json!({ "mode": mode, "step": start }));
        }
        let mut events = self.logdir.as_ref().map(|d| EventFile::create(d)).transpose()?;
        let compiled = compile(|s: &mut Train, b: &Batch| s.step(b));
        let step = |train: &mut Train, batch: &Batch| if mode == "eager" { train.step(batch) } else { compiled.call(train, batch) };

        let log_every = self.log_every.unwrap_or((self.steps / 100).max(1));
        let line_every = self.log_every.unwrap_or((self.steps / 5).max(1));
        let save_every = self.checkpoint_every.unwrap_or((self.steps / 10).max(1));
        let bar = output.bar(mode, self.steps);
        bar.set_position(start);

        let (mut first_ms, mut loss, mut stretches) = (None, None, Vec::new());
        let (mut launched, mut made, mut saved) = (0, 0, None);
        let (mut clock, mut since) = (Instant::now(), 0u64);
        for k in start..self.steps {
            if interrupt::requested() {
                break;
            }
            let batch = source.batch(position, device)?;
            let result = step(&mut train, &batch)?;
            position += 1;
            made += 1;
            since += 1;
            if made == 1 {
                loss = Some(result.item()?);
                first_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
                launched = device.stats().dispatches;
                (clock, since) = (Instant::now(), 0);
            } else {
                device.flush();
                pollster::block_on(device.throttle(AHEAD))?;
            }
            let done = k + 1;
            let last = done == self.steps;
            let report = done.is_multiple_of(log_every) || last;
            if report {
                loss = Some(self.report(done, &result, &clock, since, &mut stretches, events.as_mut(), &bar, output)?);
                if done.is_multiple_of(line_every) || last {
                    let ms = stretches.last().map_or(String::new(), |ms| format!("{ms:>9.3} ms/step"));
                    bar.suspend(|| output.progress(format!("{mode:<9} step {done:>6}  loss {:<8.4} {ms}", loss.unwrap_or(f64::NAN))));
                }
            }
            if done.is_multiple_of(save_every) || last {
                saved = self.save(store.as_mut(), &train, done, output)?;
            }
            if report || saved == Some(done) {
                // Neither reading the loss nor writing a checkpoint is a part of training.
                (clock, since) = (Instant::now(), 0);
            }
        }
        bar.finish_and_clear();
        let done = start + made;
        if made > 0 && saved != Some(done) {
            self.save(store.as_mut(), &train, done, output)?;
        }
        let kernels = (device.stats().dispatches - launched).checked_div(made.saturating_sub(1)).unwrap_or(0);
        if made == 0 && !interrupt::requested() {
            output.line(format!("{mode:<9} is at step {start} already: ask for more with --steps"));
        }
        let outcome = Outcome {
            mode,
            made,
            ms: median(&mut stretches),
            first_ms,
            kernels,
            loss,
            accuracy: held_out::accuracy(self.config, &train.model, device)?,
        };
        output.event(
            "result",
            json!({
                "mode": mode, "steps": made, "step": done, "ms_per_step": outcome.ms, "first_ms": first_ms, "kernels": kernels,
                "samples_per_s": outcome.ms.map(|ms| self.config.batch as f64 * 1e3 / ms), "loss": loss,
                "accuracy": outcome.accuracy.map(|a| a.0), "interrupted": interrupt::requested(),
            }),
        );
        Ok(outcome)
    }

    // Reads the loss, which waits for the device, and with it ends a stretch of the clock.
    fn report(
        &self,
        done: u64,
        result: &Tensor,
        clock: &Instant,
        since: u64,
        stretches: &mut Vec<f64>,
        events: Option<&mut EventFile>,
        bar: &indicatif::ProgressBar,
        output: &Output,
    ) -> Result<f64> {
        let loss = result.item()?;
        let ms = (since > 0).then(|| clock.elapsed().as_secs_f64() * 1e3 / since as f64);
        stretches.extend(ms);
        if let Some(events) = events {
            let mut values = vec![("loss", loss)];
            values.extend(ms.map(|ms| ("ms_per_step", ms)));
            events.scalars(done, &values)?;
            events.flush()?;
        }
        output.event("step", json!({ "mode": self.mode, "step": done, "loss": loss, "ms_per_step": ms }));
        bar.set_position(done);
        bar.set_message(format!("loss {loss:.4}  {}", ms.map_or(String::new(), |ms| format!("{ms:.3} ms/step"))));
        Ok(loss)
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

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
