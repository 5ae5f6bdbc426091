//! What a run of a script took, and the closing table of `--mode both`.

use super::{Script, Tee};
use crate::output::Output;
use aludel::{Device, Error, Result};
use aludel_python::Vm;
use aludel_python::host::System;
use aludel_torch::Finished;
use aludel_torch::capture::{self, Region, Repeated};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// A run of a script.
pub struct Measured {
    mode: &'static str,
    steps: usize,
    /// Milliseconds of a step: the median over the turns of the training loops.
    ms: Option<f64>,
    launches: Option<u64>,
    /// Milliseconds from the start to the end of the first steps, in which kernels are compiled.
    first_ms: Option<f64>,
    peak_bytes: u64,
    total: Duration,
    /// Graphs that were compiled.
    graphs: u64,
    /// Turns that were done without running Python, and the loops.
    repeated: (u64, Vec<Repeated>),
}

impl Measured {
    pub fn new(mode: &'static str, vm: &mut Vm, device: &Device, start: f64, total: Duration) -> Measured {
        let pace = capture::pace(vm, usize::MAX);
        Measured {
            mode,
            steps: pace.steps,
            ms: pace.ms,
            launches: pace.launches,
            first_ms: pace.first.map(|at| (at - start) * 1e3),
            peak_bytes: device.stats().peak_bytes,
            total,
            graphs: capture::counts(vm).compiled,
            repeated: capture::repeated(vm),
        }
    }
}

/// Turns of a training loop after which `explain` has seen enough.
const SEEN: usize = 4;

/// The regions of a script: it runs on the interpreter, without printing, until its training loop has turned a few times.
pub fn regions(path: &Path, args: &[String]) -> Result<Vec<Region>> {
    let script = Script::read(path, args)?;
    let (host, _) = Tee::kept(System::default(), false);
    let (mut vm, loaded) = script.load(Box::new(host), Device::interpreter());
    capture::compile(&mut vm, capture::Options::default(), true);
    let finished = match loaded {
        Ok(()) => pollster::block_on(aludel_torch::run(&mut vm, &mut |vm| {
            let seen = capture::turns(vm).len() >= SEEN;
            vm.interrupt |= seen;
        })),
        Err(error) => Finished::Error(error),
    };
    match finished {
        Finished::Error(error) if capture::turns(&mut vm).len() < SEEN => {
            let trace = vm.format_exception(&error);
            Err(Error::invalid(&script.file, trace.trim_end().lines().last().unwrap_or_default(), "the script must run as far as its loop"))
        }
        _ => Ok(capture::regions(&mut vm)),
    }
}

/// The regions that were seen, in the order of their first runs.
pub fn list(regions: &[Region]) -> String {
    let mut out = String::new();
    for (i, r) in regions.iter().enumerate() {
        let span = r.span.as_ref().map_or(String::new(), |(a, b)| format!(", {a} to {b}"));
        let updates = r.graph.outputs.iter().filter(|o| o.updates.is_some()).count();
        let (nodes, results) = (r.graph.nodes.len(), r.graph.outputs.len());
        out += &format!("region {i}{span}: ran {} times, {nodes} operators, {results} results, {updates} of them in place\n", r.runs);
    }
    if out.is_empty() { out } else { out + "\nthe region that ran most:\n" }
}

/// How many turns were done without Python, and why others were not.
fn without_python(repeated: u64, loops: &[Repeated]) -> String {
    let mut out = format!("\nCompiled, {repeated} turns of training loops were done without running Python.");
    for l in loops {
        let all = l.repeated + l.ran;
        out += &match l.within {
            Some(body) => format!("\nThe loop whose body begins in line {body}, from line {} on: {} of {all} turns", l.line, l.repeated),
            None => format!("\nThe loop whose body begins in line {}: {} of {all} turns", l.line, l.repeated),
        };
        match (l.turns, &l.refused) {
            (0, Some(why)) => out += &format!("; they run in Python: {why}."),
            (0, None) => out += "; they run in Python.",
            (ways, why) => {
                out += &format!(", in {ways} ways, of which the last has {} guards.", l.guards);
                if let Some(why) = why {
                    out += &format!(" Others run in Python: {why}.");
                }
            }
        }
        for (why, n) in &l.misses {
            out += &format!("\n  {n} times a turn did not fit one that is known: {why}.");
        }
    }
    out
}

/// Prints what was measured, and what compiling bought; says so when it bought nothing.
pub fn table(eager: &Measured, compiled: &Measured, output: &Output) {
    let heads = ["", "steps", "ms/step", "kernels", "memory", "first 3", "total", "graphs"];
    let row = |cells: [String; 8]| {
        let [first, rest @ ..] = cells;
        format!("{first:<9}{}", rest.iter().map(|c| format!(" {c:>11}")).collect::<String>())
    };
    output.line(format!("\n{}", row(heads.map(str::to_string))));
    for m in [eager, compiled] {
        let number = |v: Option<f64>, digits: usize, unit: &str| v.map_or("-".to_string(), |v| format!("{v:.digits$}{unit}"));
        output.line(row([
            m.mode.to_string(),
            m.steps.to_string(),
            number(m.ms, 3, ""),
            m.launches.filter(|n| *n > 0).map_or("-".into(), |n| n.to_string()),
            format!("{:.1} MB", m.peak_bytes as f64 / 1e6),
            number(m.first_ms, 0, " ms"),
            format!("{:.2} s", m.total.as_secs_f64()),
            if m.graphs > 0 { m.graphs.to_string() } else { "-".into() },
        ]));
        output.event(
            "run",
            json!({
                "mode": m.mode, "steps": m.steps, "ms": m.ms, "kernels": m.launches, "peak_bytes": m.peak_bytes,
                "first_ms": m.first_ms, "seconds": m.total.as_secs_f64(), "graphs": m.graphs,
            }),
        );
    }
    output.line(without_python(compiled.repeated.0, &compiled.repeated.1));
    if let (Some(e), Some(c)) = (eager.ms, compiled.ms) {
        output.line(match e / c {
            t if t >= 1.0 => format!("\nCompiled, a step is {t:.1} times as fast as eager."),
            t => format!("\nCompiled is slower here: {t:.2} times as fast as eager."),
        });
        output.event("comparison", json!({ "eager_ms": e, "compiled_ms": c, "speed_up": e / c }));
    }
}
