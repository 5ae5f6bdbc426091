//! `aludel bench --ablate`: training steps without one part of the compiler at a time. A part that changes nothing anywhere does not pay.
//!
//! Counts are exact. Times are taken in turns with the whole compiler's, slice by slice, and the least of each counts, so that what
//! else runs on the machine does not decide.

use super::clock::wait;
use crate::device::Choice;
use crate::output::Output;
use crate::workload::{Batch, Train, Workload};
use aludel::nn::Precision;
use aludel::runtime::Part;
use aludel::{Device, Error, Result, Stats, Tensor, compile};
use aludel_compiler::{Options, Parts};
use aludel_ir::program::Program;
use serde_json::json;
use std::time::Instant;

/// How often the two are timed in turns, and about how long a slice is.
const TURNS: usize = 7;
const SLICE_SECONDS: f64 = 0.06;

/// Less than this is noise, of times and of bytes.
const NOISE: f64 = 0.02;

/// A compiled step, ready to run on a device of its own.
struct Subject {
    device: Device,
    run: Box<dyn FnMut() -> Result<Tensor>>,
    /// Of one steady step; `peak_bytes` since the device was opened.
    counts: Stats,
}

impl Subject {
    fn new(workload: &Workload, precision: Precision, choice: &Choice, without: Option<Part>) -> Result<Subject> {
        let device = choice.open()?;
        let mut train = workload.train(&device, precision)?;
        let batch = super::steps::resident(workload.data(&device)?)?;
        let step = compile(|s: &mut Train, b: &Batch| s.step(b)).named(workload.name);
        let step = match without {
            Some(part) => step.without(part),
            None => step,
        };
        let mut run: Box<dyn FnMut() -> Result<Tensor>> = Box::new(move || step.call(&mut train, &batch));
        run()?.item()?;
        // The second may still move state into its place.
        run()?;
        let counts = super::steps::counts(&device, &mut run)?;
        let counts = Stats { peak_bytes: device.stats().peak_bytes, ..counts };
        Ok(Subject { device, run, counts })
    }

    /// Milliseconds of a step, over so many.
    fn slice(&mut self, steps: usize) -> Result<f64> {
        let clock = Instant::now();
        for _ in 0..steps {
            (self.run)()?;
            self.device.flush();
            pollster::block_on(self.device.throttle(8))?;
        }
        wait(&self.device)?;
        Ok(clock.elapsed().as_secs_f64() * 1e3 / steps as f64)
    }
}

/// The least milliseconds of a step of each, in turns.
fn in_turns(a: &mut Subject, b: &mut Subject) -> Result<(f64, f64)> {
    let about = a.slice(1)?.max(b.slice(1)?) / 1e3;
    let steps = ((SLICE_SECONDS / about.max(1e-6)) as usize).clamp(1, 1000);
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        least = (least.0.min(a.slice(steps)?), least.1.min(b.slice(steps)?));
    }
    Ok(least)
}

/// The program of a workload's step for a device, by some parts of the compiler; `None` where none is made.
fn program(workload: &Workload, precision: Precision, choice: &Choice, parts: Parts) -> Result<Option<Program>> {
    let device = choice.open()?;
    let (mut train, batch) = (workload.train(&device, precision)?, workload.data(&device)?);
    let graph = compile(|s: &mut Train, b: &Batch| s.step(b)).named(workload.name).export(&mut train, &batch)?.graph;
    let Some(target) = device.target() else { return Ok(None) };
    aludel_compiler::compile(&graph, target, &Options { parts, ..Options::default() }).map(Some)
}

/// What leaving a part out did, over all workloads.
#[derive(Default)]
struct Verdict {
    /// The products of the ratios of times and of peaks of memory, and of how many.
    times: f64,
    memory: f64,
    measured: usize,
    pays: bool,
}

/// Measures the workloads without each part and prints a table for each, then which parts did nothing.
pub fn run(workloads: &[Workload], precision: Precision, parts: &[Part], choice: &Choice, output: &Output) -> Result<()> {
    let mut verdicts: Vec<(Part, Verdict)> =
        parts.iter().map(|p| (*p, Verdict { times: 1.0, memory: 1.0, ..Verdict::default() })).collect();
    for workload in workloads {
        output.line(format!("\n{}: {}", workload.name, workload.describe()));
        output.line(format!(
            "{:<18} {:>10} {:>8} {:>9} {:>8} {:>10} {:>9} {:>9}",
            "without", "ms/step", "times", "launches", "more", "MB moved", "peak MB", "more"
        ));
        let usual = program(workload, precision, choice, Parts::ALL)?;
        let mut whole = Subject::new(workload, precision, choice, None)?;
        let base = whole.counts;
        let ms = whole.slice(1)?.min(whole.slice(1)?);
        line("(nothing)", ms, 1.0, &base, &base, output);
        for (part, verdict) in &mut verdicts {
            // Nothing to measure where a part does nothing.
            if program(workload, precision, choice, Parts::ALL.without(*part)).is_ok_and(|p| p == usual) {
                output.line(format!("{:<18} {:>10}", part.name(), "the same program"));
                output.event("ablation_same", json!({ "workload": workload.name, "without": part.name() }));
                continue;
            }
            let mut without = match Subject::new(workload, precision, choice, Some(*part)) {
                Ok(s) => s,
                Err(e) => {
                    output.line(format!("{:<18} fails: {e}", part.name()));
                    output.event("ablation_failed", json!({ "workload": workload.name, "without": part.name(), "problem": e.to_string() }));
                    // What runs only with a part needs it.
                    verdict.pays = true;
                    continue;
                }
            };
            let (with, alone) = in_turns(&mut whole, &mut without)?;
            let times = alone / with;
            line(part.name(), alone, times, &without.counts, &base, output);
            let c = &without.counts;
            output.event(
                "ablation",
                json!({
                    "workload": workload.name, "without": part.name(), "ms_per_step": alone, "whole_ms_per_step": with, "times": times,
                    "launches": c.dispatches, "bytes_moved": c.bytes_moved, "peak_bytes": c.peak_bytes,
                    "whole_launches": base.dispatches, "whole_bytes_moved": base.bytes_moved, "whole_peak_bytes": base.peak_bytes,
                }),
            );
            verdict.times *= times;
            verdict.memory *= c.peak_bytes as f64 / base.peak_bytes.max(1) as f64;
            verdict.measured += 1;
            let more = |a: u64, b: u64| a as f64 > b as f64 * (1.0 + NOISE);
            verdict.pays |= times > 1.0 + NOISE || more(c.bytes_moved, base.bytes_moved) || more(c.peak_bytes, base.peak_bytes);
        }
    }
    output.line("\nof all workloads");
    for (part, v) in &verdicts {
        let mean = |product: f64| if v.measured == 0 { 1.0 } else { product.powf(1.0 / v.measured as f64) };
        let (times, memory) = (mean(v.times), mean(v.memory));
        let says = match (v.pays, v.measured) {
            (true, _) => "pays",
            (false, 0) => "changes no program here",
            (false, _) => "does not pay here",
        };
        output.line(format!("{:<18} {times:>8.3} times as long, {memory:>6.3} times the memory without: {says}", part.name()));
        output.event("ablation_verdict", json!({ "part": part.name(), "times": times, "memory": memory, "pays": v.pays }));
    }
    Ok(())
}

fn line(what: &str, ms: f64, times: f64, c: &Stats, base: &Stats, output: &Output) {
    output.line(format!(
        "{what:<18} {ms:>10.3} {times:>8.2} {:>9} {:>8} {:>10.2} {:>9.1} {:>9.1}",
        c.dispatches,
        c.dispatches as i64 - base.dispatches as i64,
        c.bytes_moved as f64 / 1e6,
        c.peak_bytes as f64 / 1e6,
        (c.peak_bytes as f64 - base.peak_bytes as f64) / 1e6,
    ));
}

/// The parts of these names; all where there are none.
pub fn parts(names: &[String]) -> Result<Vec<Part>> {
    if names.is_empty() {
        return Ok(Part::ALL.to_vec());
    }
    let known = || Part::ALL.map(Part::name).join(", ");
    let find = |n: &String| {
        Part::from_name(n)
            .ok_or_else(|| Error::invalid(format!("--parts {n}"), "no such part of the compiler", format!("there are {}", known())))
    };
    names.iter().map(find).collect()
}
