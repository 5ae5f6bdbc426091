//! `aludel bench`: training steps eager and compiled, and single operations, measured on one device.
//!
//! Counts are exact and the same everywhere; times are of this machine, medians over slices until the device is done.

mod ablate;
mod clock;
mod compare;
mod compile_time;
mod micro;
mod operators;
mod parallel;
mod peer;
mod roofline;
mod steps;

use crate::device::Choice;
use crate::output::Output;
use crate::ranks::Ranks;
use crate::train::{DeviceArgs, Mode};
use crate::workload::{self, Workload, rough_rate};
use aludel::nn::Precision;
use aludel::{Error, Result};
use compare::Earlier;
use peer::OperatorPeer;
use serde_json::json;
use std::path::PathBuf;

/// A step that would take longer is left out, unless it is named.
const MOST_SECONDS: f64 = 8.0;

/// Arguments of `aludel bench`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    device: DeviceArgs,
    /// What to measure, separated by commas: tiny, mlp, cnn, tinygpt, chargpt, gpt2, autoenc, gan, lstm, resnet18, vit, unet, bert, llama,
    /// resnet50, vgg16; steps for all of these; matmul, copy, gelu, softmax, layer_norm, sum_rows, sum_columns; operations for all of these;
    /// operators, one by one as eager mode runs them, only where they are named; all_reduce, on several ranks.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    only: Vec<String>,
    /// Which of --only operators, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    operators: Vec<String>,
    /// Mixed precision of training steps: bf16, or f16 with a scaled loss.
    #[arg(long, value_name = "TYPE", default_value_t = Precision::F32, hide_default_value = true)]
    amp: Precision,
    /// Which way to run training steps.
    #[arg(long, value_enum, default_value_t = Mode::Both)]
    mode: Mode,
    /// Also run a peer on the same machine and print its times: torch, burn on a CPU, or tfjs (TensorFlow.js, single operators) on wgpu.
    #[arg(long, value_parser = ["torch", "burn", "tfjs"])]
    peer: Option<String>,
    /// The Node that has TensorFlow.js, from the current directory on.
    #[arg(long, default_value = "node")]
    node: String,
    /// The program built of tests/peers/burn.
    #[arg(long, default_value = "aludel-peer-burn")]
    burn: PathBuf,
    /// The Python that has PyTorch.
    #[arg(long, default_value = "python3")]
    python: String,
    /// Measure compiled steps without one part of the compiler at a time, of these workloads, separated by commas; of the small ones,
    /// where none is named.
    #[arg(long, value_delimiter = ',', value_name = "WORKLOAD,..", num_args = 0..=1, conflicts_with_all = ["only", "peer"])]
    ablate: Option<Vec<String>>,
    /// The parts that --ablate leaves out, separated by commas; each of them, where none is named.
    #[arg(long, value_delimiter = ',', value_name = "PART,..", requires = "ablate")]
    parts: Vec<String>,
    /// Measure each launch of the compiled steps beside what the device's memory and arithmetic allow, of the workloads that --only names;
    /// of the small ones, where none is named.
    #[arg(long, conflicts_with_all = ["ablate", "peer", "mode"])]
    roofline: bool,
    /// Measure compiled training steps on several ranks, each with the workload's whole batch: what `aludel launch` has started, or
    /// threads. Ways to share the work, separated by commas; of the workloads that --only names, or the small ones.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WAY,..", conflicts_with_all = ["ablate", "peer", "mode", "roofline", "compare"])]
    parallel: Vec<parallel::Way>,
    /// So many ranks that are threads of this process, on cpu or interp.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    ranks: Option<u64>,
    /// Compare training steps with those of a file that an earlier run with --json printed on the same device; fails where one became
    /// slower by more than 5 %.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ablate", "roofline"])]
    compare: Option<PathBuf>,
    /// What to call this machine in the results of --json.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Of which commit the results of --json are; `cargo xtask bench` gives it.
    #[arg(long, value_name = "HASH", env = "ALUDEL_COMMIT")]
    commit: Option<String>,
    /// Do not measure compile times, which run in processes of their own.
    #[arg(long)]
    no_compile_time: bool,
    /// Compile the graph on standard input and say how long that took: what measuring compile times runs.
    #[arg(long, hide = true)]
    compile_time: bool,
}

impl Args {
    /// Whether several ranks are measured together. Errors where this is one of several that would all measure the same.
    fn is_parallel(&self) -> Result<bool> {
        if !self.parallel.is_empty() || self.ranks.is_some() || self.only.iter().any(|n| n == parallel::ALL_REDUCE) {
            return Ok(true);
        }
        match Ranks::from_env()? {
            ranks if ranks.is_alone() => Ok(false),
            ranks => {
                let problem = format!("{} ranks would each measure the same device", ranks.size());
                Err(Error::invalid("bench", problem, "add --parallel none,ddp,fsdp, or run it without `launch`"))
            }
        }
    }
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    let choice = args.device.choice()?;
    if args.compile_time {
        return compile_time::report(&choice, output);
    }
    if let Some(names) = &args.ablate {
        return ablation(names, args, &choice, output);
    }
    if args.roofline {
        return rooflines(args, &choice, output);
    }
    if args.is_parallel()? {
        let (threads, ways) = (args.ranks.map(|n| n as usize), &args.parallel);
        return parallel::run(&parallel::Request { names: &args.only, ways, amp: args.amp, threads, choice: &choice }, output);
    }
    let earlier = args.compare.as_deref().map(Earlier::read).transpose()?;
    let steps: Vec<&str> = workload::ALL.iter().map(|w| w.name).collect();
    let micros = micro::names();
    for name in &args.only {
        if !steps.iter().chain(&micros).chain(&["steps", "operations", "operators"]).any(|n| n == name) {
            let known = [steps.join(", "), "steps".into(), micros.join(", "), "operations".into(), "operators".into()].join(", ");
            return Err(Error::invalid(format!("--only {name}"), "there is no such measurement", format!("there are {known}")));
        }
    }
    let named = |name: &str| args.only.iter().any(|n| n == name);
    let wanted = |name: &str, group: &str| args.only.is_empty() || named(name) || named(group);

    let device = choice.open()?;
    let software = device.target().is_none_or(|t| t.software);
    if let Some(earlier) = &earlier {
        earlier.is_of(&device.to_string(), choice.precision_name())?;
    }
    about(&device, args, &choice, output);
    let on_cpu = software || choice.kind == crate::device::Kind::Cpu;
    drop(device);

    let mut failed = 0;
    let mut measured = Vec::new();
    for name in steps.iter().filter(|n| wanted(n, "steps")) {
        let Some(workload) = Workload::find(name, on_cpu) else { continue };
        let seconds = workload.flops() / rough_rate(choice.kind, software);
        if seconds > MOST_SECONDS && !named(name) {
            let reason = format!("about {seconds:.0} s for each step on this device; --only {name} runs it all the same");
            skipped(name, &reason, output);
            continue;
        }
        match step(&workload, args, &choice, output) {
            Ok(steps) => measured.extend(steps),
            Err(e) => failed += left_out(name, &e, output),
        }
    }
    if micros.iter().any(|n| wanted(n, "operations")) {
        failed += micro::run(&choice, &|n| wanted(n, "operations"), output)?;
    }
    if named("operators") {
        let peer = match args.peer.as_deref() {
            Some("torch") => Some(OperatorPeer::Torch(&args.python)),
            Some("tfjs") => Some(OperatorPeer::Tfjs(&args.node)),
            _ => None,
        };
        failed += operators::run(&choice, &args.operators, peer, output)?;
    }
    if args.peer.is_some() && !measured.is_empty() {
        beside(args, &choice, &measured, output)?;
    }
    let slower = earlier.map(|e| e.beside(&measured, output)).unwrap_or_default();
    match (failed, slower.len()) {
        (0, 0) => Ok(()),
        (0, n) => {
            let problem = format!("{n} became slower by more than 5 %: {}", slower.join(", "));
            Err(Error::device(problem, "measure once more on an idle machine; --roofline says where a step's time goes"))
        }
        (n, _) => Err(Error::device(format!("{n} measurement(s) failed"), "the lines above say why")),
    }
}

/// Says what is measured, of what and when: what a file of results begins with.
fn about(device: &aludel::Device, args: &Args, choice: &Choice, output: &Output) {
    output.line(format!("{device}, f32 matrix products {}", choice.precision_name()));
    let info = device.info();
    let date = chrono::Utc::now().date_naive().to_string();
    output.event(
        "device",
        json!({
            "device": choice.kind.to_string(), "name": device.to_string(), "features": info.features, "precision": choice.precision_name(),
            "cores": std::thread::available_parallelism().map_or(0, |n| n.get()), "machine": args.machine, "commit": args.commit, "date": date,
            "version": env!("CARGO_PKG_VERSION"),
        }),
    );
}

/// `--roofline`, one workload after another.
fn rooflines(args: &Args, choice: &Choice, output: &Output) -> Result<()> {
    let device = choice.open()?;
    let on_cpu = device.target().is_none_or(|t| t.software) || choice.kind == crate::device::Kind::Cpu;
    about(&device, args, choice, output);
    drop(device);
    let every: Vec<&str> = workload::ALL.iter().map(|w| w.name).collect();
    let names: Vec<&str> = match &args.only[..] {
        [] => ABLATED.to_vec(),
        [all] if all == "steps" => every,
        names => names.iter().map(String::as_str).collect(),
    };
    let workloads = names.iter().map(|n| named_workload("--only", n, on_cpu)).collect::<Result<Vec<_>>>()?;
    let ceilings = roofline::Ceilings::measure(choice, args.amp, output)?;
    let mut failed = 0;
    for workload in &workloads {
        if let Err(e) = roofline::run(workload, args.amp, choice, &ceilings, output) {
            failed += left_out(workload.name, &e, output);
        }
    }
    match failed {
        0 => Ok(()),
        n => Err(Error::device(format!("{n} measurement(s) failed"), "the lines above say why")),
    }
}

/// The workload that an option names.
fn named_workload(option: &str, name: &str, on_cpu: bool) -> Result<Workload> {
    Workload::find(name, on_cpu).ok_or_else(|| {
        let known = workload::ALL.iter().map(|w| w.name).collect::<Vec<_>>().join(", ");
        Error::invalid(format!("{option} {name}"), "there is no such workload", format!("there are {known}"))
    })
}

/// What `--ablate` measures where no workload is named: each kind of model, small.
const ABLATED: [&str; 5] = ["tiny", "mlp", "cnn", "tinygpt", "autoenc"];

fn ablation(names: &[String], args: &Args, choice: &Choice, output: &Output) -> Result<()> {
    if choice.kind == crate::device::Kind::Interp {
        return Err(Error::unsupported("--ablate on the interpreter, which compiles nothing", "use --device cpu, cuda or wgpu"));
    }
    let parts = ablate::parts(&args.parts)?;
    let device = choice.open()?;
    let on_cpu = device.target().is_none_or(|t| t.software) || choice.kind == crate::device::Kind::Cpu;
    output.line(format!("{device}, f32 matrix products {}", choice.precision_name()));
    drop(device);
    let find = |name: &str| named_workload("--ablate", name, on_cpu);
    let workloads = match names {
        [] => ABLATED.iter().map(|n| find(n)).collect::<Result<Vec<_>>>()?,
        names => names.iter().map(|n| find(n)).collect::<Result<Vec<_>>>()?,
    };
    ablate::run(&workloads, args.amp, &parts, choice, output)
}

/// Measures one workload and prints a row for each mode.
fn step(workload: &Workload, args: &Args, choice: &Choice, output: &Output) -> Result<Vec<compare::Step>> {
    let modes: &[&'static str] = match args.mode {
        Mode::Eager => &["eager"],
        Mode::Compiled => &["compiled"],
        Mode::Both => &["eager", "compiled"],
    };
    let amp = if args.amp == Precision::F32 { String::new() } else { format!(", mixed precision {}", args.amp) };
    output.line(format!("\n{}: {}{amp}", workload.name, workload.describe()));
    output.line(format!(
        "{:<10} {:>10} {:>12} {:>9} {:>8} {:>11} {:>10} {:>10} {:>12} {:>12}",
        "", "ms/step", "samples/s", "kernels", "submits", "MB moved", "peak MB", "first ms", "compile cold", "warm ms"
    ));
    let mut steps = Vec::new();
    for mode in modes {
        let m = steps::measure(workload, mode, args.amp, choice, !args.no_compile_time)?;
        let samples = workload.batch as f64 * 1e3 / m.ms;
        let c = &m.counts;
        let compile = |ms: Option<f64>| ms.map_or("-".to_string(), |ms| format!("{ms:.0}"));
        output.line(format!(
            "{:<10} {:>10.3} {samples:>12.0} {:>9} {:>8} {:>11.2} {:>10.1} {:>10.0} {:>12} {:>12}",
            m.mode,
            m.ms,
            c.dispatches,
            c.submits,
            c.bytes_moved as f64 / 1e6,
            c.peak_bytes as f64 / 1e6,
            m.first_ms,
            compile(m.compile.map(|c| c.cold)),
            compile(m.compile.map(|c| c.warm)),
        ));
        output.event(
            "step",
            json!({
                "workload": workload.name, "batch": workload.batch, "amp": args.amp.name(), "mode": m.mode, "ms_per_step": m.ms, "samples_per_s": samples,
                "kernels": c.dispatches, "submits": c.submits, "buffers_created": c.buffers_created, "bytes_moved": c.bytes_moved,
                "peak_bytes": c.peak_bytes, "first_ms": m.first_ms, "compile_cold_ms": m.compile.map(|c| c.cold),
                "compile_warm_ms": m.compile.map(|c| c.warm), "flops": workload.flops(),
                "tflop_per_s": workload.flops() / m.ms / 1e9,
            }),
        );
        steps.push(compare::Step {
            workload: workload.name.into(),
            amp: args.amp.name().into(),
            mode: m.mode.into(),
            batch: workload.batch,
            ms: m.ms,
        });
    }
    if let [eager, compiled] = &steps[..] {
        output.line(format!("compiled is {:.2} times as fast", eager.ms / compiled.ms));
    }
    Ok(steps)
}

/// Ours beside the peer's best, in one table.
fn beside(args: &Args, choice: &Choice, measured: &[compare::Step], output: &Output) -> Result<()> {
    // The faster mode of each workload.
    let mut faster: Vec<(&str, f64)> = Vec::new();
    for step in measured {
        match faster.iter_mut().find(|(n, _)| *n == step.workload) {
            Some((_, ms)) => *ms = ms.min(step.ms),
            None => faster.push((&step.workload, step.ms)),
        }
    }
    let names: Vec<&str> = faster.iter().map(|(n, _)| *n).collect();
    let (title, key, peers) = match args.peer.as_deref() {
        Some("burn") => ("burn", "burn", peer::burn(&args.burn, choice.kind, &names)?),
        Some("tfjs") => return Err(Error::unsupported("--peer tfjs for training steps", "compare single operators: --only operators")),
        _ => ("PyTorch", "torch", peer::torch(&args.python, choice.kind, choice.precision_name(), &names)?),
    };
    output.line(format!("\n{:<10} {:>12} {title:>12}   {:<16} {:>9}", "ms/step", "Aludel", "its best mode", "times"));
    for (name, ours) in &faster {
        let best = peers.iter().filter(|p| p.workload == *name).min_by(|a, b| a.ms.total_cmp(&b.ms));
        match best {
            Some(p) => {
                output.line(format!("{name:<10} {ours:>12.3} {:>12.3}   {:<16} {:>9.2}", p.ms, p.how, p.ms / ours));
                let mut row = json!({ "workload": name, "ms": ours, "times": p.ms / ours });
                (row[format!("{key}_ms")], row[format!("{key}_mode")]) = (json!(p.ms), json!(p.how));
                output.event("peer", row);
            }
            None => skipped(&format!("{key} {name}"), "it printed no time", output),
        }
    }
    Ok(())
}

/// Says what is not measured and why.
fn skipped(name: &str, reason: &str, output: &Output) {
    output.line(format!("{name}: skipped, {reason}"));
    output.event("skipped", json!({ "name": name, "reason": reason }));
}

/// A size beyond the device's limits is skipped; anything else is a failure, of which this gives the count.
fn left_out(name: &str, error: &Error, output: &Output) -> usize {
    if matches!(error, Error::Limit { .. }) {
        skipped(name, &error.to_string(), output);
        return 0;
    }
    output.line(format!("{name}: failed: {error}"));
    output.event("failed", json!({ "name": name, "problem": error.to_string() }));
    1
}
