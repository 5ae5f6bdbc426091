//! `aludel explain`: what the compiler makes of a training step, stage by stage. It compiles for a target and needs no device.

use crate::output::Output;
use crate::script::recorded;
use crate::workload::{self, Workload};
use crate::{predict, settings, train};
use aludel::nn::Precision;
use aludel::{Device, Error, MixedGraph, Result, compile};
use aludel_compiler::{Compilation, Language, Options, Pass, Target};
use aludel_ir::Graph;
use aludel_ir::program::{Param, Program, Role};
use aludel_models::presets::{Batch, Preset, Source, Train};
use clap::ValueEnum;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Arguments of `aludel explain`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A preset of `aludel train` (points, digits, digits-cnn, ..), a training step that `aludel bench --only` names (tiny, gpt2, ..), or a
    /// PyTorch script (train.py), of which the training loop's first steps are run.
    preset: String,
    /// Settings of a preset, such as layers=64,64 batch=32; a script's arguments, after `--`.
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// The language to compile to.
    #[arg(long, value_enum, default_value_t = To::Wgsl)]
    target: To,
    /// What to show; without it, a summary.
    #[arg(long, value_enum)]
    stage: Option<Stage>,
    /// What f32 matrix products may give up for speed, with --target ptx.
    #[arg(long, value_enum, default_value_t = train::Precision::Highest)]
    matmul_precision: train::Precision,
    /// Mixed precision of the step: bf16, or f16 with a scaled loss.
    #[arg(long, value_name = "TYPE", default_value_t = Precision::F32, hide_default_value = true)]
    amp: Precision,
    /// Predict the step on up to so many ranks instead, data parallel and fully sharded.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "stage")]
    ranks: Option<u32>,
    #[command(flatten)]
    rates: predict::Rates,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    /// WebGPU, with the limits that every implementation guarantees.
    Wgsl,
    /// NVIDIA GPUs, compute capability 9.0.
    Ptx,
    /// The CPU.
    C,
    /// The CPU behind a browser's engine; its source is the kernels' own text.
    Wasm,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The captured graph: operators, gradients and updates.
    Graph,
    /// Forward and backward as one graph, differentiated ahead of time.
    Joint,
    /// The nests of loops after fusion.
    Loops,
    /// The kernels before they are printed.
    Kernels,
    /// The text of the kernels.
    Source,
    /// Where every buffer lies and when it lives.
    Memory,
    /// What was fused, and what was not and why.
    Fusion,
}

impl Stage {
    /// The pass that it shows the work of.
    fn pass(self) -> Pass {
        match self {
            Stage::Graph => Pass::Verify,
            Stage::Joint => Pass::Autodiff,
            Stage::Loops => Pass::Chain,
            Stage::Kernels => Pass::Schedule,
            Stage::Source | Stage::Memory | Stage::Fusion => Pass::Plan,
        }
    }
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    if args.matmul_precision != train::Precision::Highest && !matches!(args.target, To::Ptx) {
        let name = |v: Option<clap::builder::PossibleValue>| v.map_or_else(String::new, |v| v.get_name().to_string());
        let (precision, target) = (name(args.matmul_precision.to_possible_value()), name(args.target.to_possible_value()));
        return Err(train::computes_in_full(&precision, target));
    }
    let script = args.preset.ends_with(".py");
    if let Some(ranks) = args.ranks {
        if script {
            return Err(Error::invalid("--ranks", "a script's collectives are its own", "give a preset or a training step"));
        }
        let step = predict::Step { name: &args.preset, settings: &args.settings, amp: args.amp };
        return predict::run(&step, ranks, &args.rates, &target(args), output);
    }
    if script && args.amp != Precision::F32 {
        return Err(Error::invalid("--amp", "a script says itself what it computes in", "use torch.autocast in the script"));
    }
    let regions = if script { recorded::regions(std::path::Path::new(&args.preset), &args.settings)? } else { Vec::new() };
    let graph = match regions.iter().max_by_key(|r| (r.runs, r.graph.nodes.len())) {
        Some(region) => (*region.graph).clone(),
        None if script => return Err(Error::invalid(&args.preset, "runs no operators", "give a script that trains")),
        None => capture(&args.preset, &args.settings, args.amp)?,
    };
    let target = target(args);
    let options = Options::default();
    let mut made = Compilation::new(&graph, &target, &options);
    made.until(args.stage.map_or(Pass::Plan, Stage::pass))?;
    let text = match args.stage {
        None => recorded::list(&regions) + &summary(&graph, &made.program, &target),
        Some(Stage::Graph) => graph.to_string(),
        Some(Stage::Joint) => made.joint.to_string(),
        Some(Stage::Loops) => made.loops.to_string(),
        Some(Stage::Kernels) => made.scheduled.iter().map(|s| s.kernel.to_string()).collect::<Vec<_>>().join("\n"),
        Some(Stage::Source) => source(&made.program),
        Some(Stage::Memory) => memory(&made.program),
        Some(Stage::Fusion) => fusion(&made.program),
    };
    output.line(text.trim_end());
    let value = |v: Option<clap::builder::PossibleValue>| v.map(|v| v.get_name().to_string());
    output.event(
        "explanation",
        json!({
            "preset": args.preset, "target": value(args.target.to_possible_value()),
            "stage": args.stage.and_then(|s| value(s.to_possible_value())), "text": text,
        }),
    );
    Ok(())
}

fn target(args: &Args) -> Target {
    match args.target {
        // With shader-f16: without it f16 takes words, and nothing else is different.
        To::Wgsl => Target { f16_storage: true, ..Target::webgpu_default() },
        To::Ptx => Target::cuda(90, args.matmul_precision.into()),
        To::C => Target::cpu(),
        To::Wasm => Target::wasm(),
    }
}

/// The graph of one training step. Nothing of it is run: the interpreter only lends its types.
fn capture(name: &str, given: &[String], amp: Precision) -> Result<Graph> {
    let device = Device::interpreter();
    if let Some(w) = Workload::find(name, false) {
        if let Some(setting) = given.first() {
            let remedy = format!("leave it out: {} is {}", w.name, w.describe());
            return Err(Error::invalid(setting, "is a setting, and a workload has none", remedy));
        }
        let (mut train, batch) = (w.train(&device, amp)?, w.data(&device)?);
        return Ok(compile(|s: &mut workload::Train, b: &Batch| s.step(b)).named(name).export(&mut train, &batch)?.graph);
    }
    let preset = Preset::from_key(name).ok_or_else(|| {
        let known = Preset::ALL.iter().map(|p| p.key()).chain(workload::ALL.iter().map(|w| w.name));
        Error::invalid(name, "no such preset or workload", format!("use {}", known.collect::<Vec<_>>().join(", ")))
    })?;
    let config = settings::config(preset, given)?.with_precision(amp);
    let (mut train, batch) = (Train::new(&config, &device)?, Source::new(&config).batch(0, &device)?);
    Ok(compile(|s: &mut Train, b: &Batch| s.step(b)).named(name).export(&mut train, &batch)?.graph)
}

fn megabytes(words: i64) -> String {
    format!("{:.2} MB", words as f64 * 4.0 / 1e6)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Arena => "arena",
        Role::State => "state",
        Role::Offloaded => "state on the host",
        Role::Inputs => "inputs",
        Role::Input(_) => "input",
        Role::Result(_) => "result",
    }
}

fn summary(graph: &Graph, p: &Program, target: &Target) -> String {
    let mut out = String::new();
    let language = match target.language {
        Language::Wgsl => "WGSL",
        Language::C => "C",
        Language::Ptx => "PTX",
        Language::Wasm => "WebAssembly",
    };
    let _ = writeln!(
        out,
        "{}: {} operators become {} kernels in {language}, {} launches",
        p.name,
        graph.nodes.len(),
        p.kernels.len(),
        p.launches.len()
    );
    if let Some(mixed) = MixedGraph::of(graph) {
        let _ = writeln!(out, "{mixed}");
    }
    if let Some((_, sizes)) = p.layout(&[]) {
        let parts: Vec<String> = p.bindings.iter().zip(sizes).map(|(b, n)| format!("{} {}", role(b.role), megabytes(n))).collect();
        let _ = writeln!(out, "memory: {}", parts.join(", "));
    }
    let (mut bytes, mut flops) = (0, 0);
    for l in &p.launches {
        bytes += p.eval(&l.bytes, &[]).unwrap_or(0);
        flops += p.eval(&l.flops, &[]).unwrap_or(0);
    }
    let _ = writeln!(out, "a step moves {} and takes {:.1} MFLOP\n", megabytes(bytes / 4), flops as f64 / 1e6);
    for (i, l) in p.launches.iter().enumerate() {
        let _ = writeln!(out, "launch {i:<4} {}", l.label);
    }
    let _ = writeln!(out, "\n--stage graph, joint, loops, kernels, source, memory or fusion shows more");
    out
}

fn source(p: &Program) -> String {
    let mut out = String::new();
    for (i, k) in p.kernels.iter().enumerate() {
        let launches: Vec<&str> = p.launches.iter().filter(|l| l.kernel == i).map(|l| l.label.as_str()).collect();
        let _ =
            writeln!(out, "// kernel {i}, {} launch(es): {}\n{}\n", launches.len(), launches.first().unwrap_or(&""), k.source.trim_end());
    }
    out
}

fn memory(p: &Program) -> String {
    let mut out = String::new();
    let layout = p.layout(&[]);
    for (i, b) in p.bindings.iter().enumerate() {
        let size = layout.as_ref().map_or("of a size known at run time".to_string(), |(_, sizes)| megabytes(sizes[i]));
        let _ = writeln!(out, "binding {i}: {}, {size}", role(b.role));
    }
    if let Some((at, words)) = p.fullest(&[]) {
        let during = p.launches.get(at).map_or("", |l| l.label.as_str());
        let _ = writeln!(out, "most of the arena is in use at launch {at} ({during}): {}", megabytes(words));
    }
    let _ = writeln!(out, "\n{:<32} {:<24} {:>8} {:>12} {:>11}  live", "buffer", "type", "binding", "offset", "words");
    for b in &p.placements {
        let offset = layout.as_ref().and_then(|(offsets, _)| offsets.get(b.slot)).map_or("-".to_string(), |o| o.to_string());
        let ty = format!("{}{}", b.dtype, p.env.show_shape(&b.shape));
        let words = p.slots.get(b.slot).map_or("-".to_string(), |s| p.env.show(&s.words));
        let _ = writeln!(out, "{:<32} {ty:<24} {:>8} {offset:>12} {words:>11}  {}..={}", b.name, b.binding, b.live.0, b.live.1);
    }
    out
}

fn fusion(p: &Program) -> String {
    let mut out = String::new();
    for (i, l) in p.launches.iter().enumerate() {
        let grid: Vec<String> = l.grid.iter().map(|e| p.env.show(e)).collect();
        let sizes = l.params.iter().filter(|x| matches!(x, Param::Size(_))).count();
        let _ = writeln!(out, "launch {i}: {} (kernel {}, grid {}, {sizes} sizes)", l.label, l.kernel, grid.join(" x "));
    }
    // Layers repeat: each thing is said once.
    let mut said = BTreeSet::new();
    for n in &p.not_fused {
        let label = |k: usize| p.launches.get(k).map_or("?", |l| l.label.as_str());
        let line = format!("not fused: {} with {}: {}", label(n.first), label(n.second), n.reason);
        if said.insert(line.clone()) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}
