//! Whole training steps, eager and compiled.

use super::clock;
use super::compile_time::{self, CompileTime};
use crate::device::Choice;
use crate::workload::{Batch, Train, Workload};
use aludel::nn::Precision;
use aludel::{Device, Result, Stats, Tensor, compile};
use std::time::Instant;

/// What was measured of one step.
pub struct Measured {
    pub mode: &'static str,
    /// Milliseconds of a steady step.
    pub ms: f64,
    /// Milliseconds of the first one: capture, compilation, loading, running.
    pub first_ms: f64,
    /// Of one steady step; `peak_bytes` since the device was opened.
    pub counts: Stats,
    /// From the captured graph to loaded kernels; of the compiled step.
    pub compile: Option<CompileTime>,
}

/// Measures one mode on a device of its own.
pub fn measure(workload: &Workload, mode: &'static str, precision: Precision, choice: &Choice, compile_times: bool) -> Result<Measured> {
    let device = choice.open()?;
    let mut train = workload.train(&device, precision)?;
    let batch = resident(workload.data(&device)?)?;
    let step = compile(|s: &mut Train, b: &Batch| s.step(b)).named(workload.name);
    let compile = match mode {
        "compiled" if compile_times => compile_time::measure(choice, &step.export(&mut train, &batch)?.graph)?,
        _ => None,
    };
    let mut run = || if mode == "eager" { train.step(&batch) } else { step.call(&mut train, &batch) };
    let clock = Instant::now();
    run()?.item()?;
    let first_ms = clock.elapsed().as_secs_f64() * 1e3;
    // The second may still move state into its place.
    run()?;
    let counts = counts(&device, &mut run)?;
    let ms = clock::time(&device, || run().map(drop))?;
    let counts = Stats { peak_bytes: device.stats().peak_bytes, ..counts };
    Ok(Measured { mode, ms, first_ms, counts, compile })
}

/// The batch in device memory, as it is where the next one is fetched while a step runs: what a step costs is measured here, not
/// what an upload does.
pub fn resident((x, y): Batch) -> Result<Batch> {
    // Operators give their results on the device.
    let on_device = |t: Tensor| t.neg()?.neg();
    Ok((on_device(x)?, on_device(y)?))
}

pub fn counts(device: &Device, run: &mut dyn FnMut() -> Result<Tensor>) -> Result<Stats> {
    clock::wait(device)?;
    let before = device.stats();
    run()?;
    clock::wait(device)?;
    let after = device.stats();
    Ok(Stats {
        dispatches: after.dispatches - before.dispatches,
        submits: after.submits - before.submits,
        buffers_created: after.buffers_created - before.buffers_created,
        bytes_moved: after.bytes_moved - before.bytes_moved,
        ..after
    })
}
