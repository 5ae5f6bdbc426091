//! `aludel explain --ranks`: what a step takes on many ranks, on paper.
//!
//! The step is captured with its collectives for a group that nobody runs, planned for the target, and played on a network of the given
//! numbers by [`aludel_compiler::scale`]. Every rank has the whole batch of the settings: what grows is the batch over all ranks.

use crate::output::Output;
use crate::settings;
use crate::workload::sharded::{Parts, Sharded, two_players};
use crate::workload::{self, Workload};
use aludel::distributed::{Member, PaperGroup};
use aludel::models::presets::{Config, Preset, Source};
use aludel::nn::Precision;
use aludel::nn::distributed::FullyShardedConfig;
use aludel::{Device, Error, Result, Tensor, Tree, compile};
use aludel_compiler::scale::{self, Network, Prediction};
use aludel_compiler::{Compilation, Language, Options, Pass, Target};
use aludel_ir::Graph;
use aludel_ir::program::Program;
use aludel_models::presets::{Batch, Model, Train};
use serde_json::json;
use std::sync::Arc;

/// What connects the ranks, and what one of them does.
#[derive(clap::Args, Clone, Debug)]
pub struct Rates {
    /// GB/s that a rank sends, while it receives as many.
    #[arg(long, value_name = "GB/s", default_value_t = 25.0, requires = "ranks")]
    bandwidth: f64,
    /// Microseconds until a message begins to arrive.
    #[arg(long, value_name = "µs", default_value_t = 5.0, requires = "ranks")]
    latency: f64,
    /// TFLOP/s of a rank's device. By default about those of an H200 (ptx), of some laptop's GPU (wgsl), or of four cores (c, wasm).
    #[arg(long, value_name = "TFLOP/s", requires = "ranks")]
    flops: Option<f64>,
    /// GB/s of a rank's own memory; by default as for --flops.
    #[arg(long, value_name = "GB/s", requires = "ranks")]
    memory_bandwidth: Option<f64>,
}

/// What is trained.
pub struct Step<'a> {
    pub name: &'a str,
    pub settings: &'a [String],
    pub amp: Precision,
}

impl Rates {
    fn of(&self, target: &Target, amp: Precision) -> scale::Rates {
        let (flops, gigabytes, launch) = match target.language {
            // Products in bf16 run on matrix units.
            Language::Ptx if amp != Precision::F32 => (400.0, 4000.0, 2e-6),
            Language::Ptx => (40.0, 4000.0, 2e-6),
            Language::Wgsl => (5.0, 200.0, 5e-6),
            Language::C | Language::Wasm => (0.2, 20.0, 2e-6),
        };
        scale::Rates {
            flops: self.flops.unwrap_or(flops) * 1e12,
            bytes: self.memory_bandwidth.unwrap_or(gigabytes) * 1e9,
            launch,
            // Elsewhere a collective waits for the kernels before it, and holds up those behind it.
            overlaps: target.language == Language::Ptx,
        }
    }
}

/// How the ranks share the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    DataParallel,
    FullySharded,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::DataParallel => "data parallel",
            Way::FullySharded => "fully sharded",
        }
    }
}

pub fn run(step: &Step, ranks: u32, rates: &Rates, target: &Target, output: &Output) -> Result<()> {
    let device_rates = rates.of(target, step.amp);
    output.line(format!(
        "{} on up to {ranks} ranks of {:.1} TFLOP/s and {:.0} GB/s, connected at {} GB/s and {} µs; every rank has a whole batch\n",
        step.name,
        device_rates.flops / 1e12,
        device_rates.bytes / 1e9,
        rates.bandwidth,
        rates.latency
    ));
    output.line(format!(
        "{:<14} {:>6} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "", "ranks", "ms/step", "kernels", "exchanges", "waiting", "state MB", "others MB"
    ));
    for way in [Way::DataParallel, Way::FullySharded] {
        // Shapes of what data-parallel ranks exchange do not depend on how many there are: one plan serves all.
        let mut shared: Option<Arc<Program>> = None;
        for n in counts(ranks) {
            let program = match &shared {
                Some(program) if n > 1 => program.clone(),
                _ => Arc::new(plan(&capture(step, way, if way == Way::DataParallel { n.min(2) } else { n })?, target)?),
            };
            if way == Way::DataParallel && n > 1 {
                shared = Some(program.clone());
            }
            let network = Network { ranks: n, bandwidth: rates.bandwidth * 1e9, latency: rates.latency * 1e-6 };
            show(step, way, n, &scale::predict(&program, &network, &device_rates)?, output);
        }
    }
    Ok(())
}

/// One, some between, and all.
fn counts(ranks: u32) -> Vec<u32> {
    let mut out: Vec<u32> = [1, 2, 8, 64, 512].into_iter().filter(|n| *n < ranks).collect();
    out.push(ranks);
    out
}

fn show(step: &Step, way: Way, ranks: u32, p: &Prediction, output: &Output) {
    let (ms, mb) = (|s: f64| s * 1e3, |bytes: i64| bytes as f64 / 1e6);
    output.line(format!(
        "{:<14} {ranks:>6} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>12.2} {:>12.2}",
        way.name(),
        ms(p.step),
        ms(p.compute),
        ms(p.exchange),
        ms(p.exposed),
        mb(p.state),
        mb(p.arena)
    ));
    output.event(
        "prediction",
        json!({
            "preset": step.name, "way": way.name(), "ranks": ranks, "ms_per_step": ms(p.step), "kernels_ms": ms(p.compute),
            "exchanges_ms": ms(p.exchange), "waiting_ms": ms(p.exposed), "state_bytes": p.state, "other_bytes": p.arena,
        }),
    );
}

fn plan(graph: &Graph, target: &Target) -> Result<Program> {
    let options = Options::default();
    let mut made = Compilation::new(graph, target, &options);
    made.until(Pass::Plan)?;
    Ok(made.program)
}

/// The step of the first of so many ranks. Nothing of it is run.
fn capture(step: &Step, way: Way, ranks: u32) -> Result<Graph> {
    let device = Device::interpreter();
    let member = device.join(Arc::new(PaperGroup::new("world", ranks as usize)))?;
    if let Some(w) = Workload::find(step.name, false) {
        if let Some(setting) = step.settings.first() {
            let remedy = format!("leave it out: {} is {}", w.name, w.describe());
            return Err(Error::invalid(setting, "is a setting, and a workload has none", remedy));
        }
        let (mut train, batch) = (w.train_among(&member, &device, step.amp)?, w.data(&device)?);
        if way == Way::DataParallel {
            train.amp.among(&member);
            return Ok(compile(|s: &mut workload::Train, b: &Batch| s.step(b)).named(w.name).export(&mut train, &batch)?.graph);
        }
        return sharded(w.name, Parts::of(&w, train)?, workload::LEARNING_RATE, &member, &batch, |m, (x, y)| m.loss(x, y));
    }
    let preset = Preset::from_key(step.name).ok_or_else(|| {
        let known = Preset::ALL.iter().map(|p| p.key()).chain(workload::ALL.iter().map(|w| w.name));
        Error::invalid(step.name, "no such preset or workload", format!("use {}", known.collect::<Vec<_>>().join(", ")))
    })?;
    let config: Config = settings::config(preset, step.settings)?.with_precision(step.amp);
    let (mut train, batch) = (Train::new(&config, &device)?, Source::new(&config).batch(0, &device)?);
    if way == Way::DataParallel {
        train.amp.among(&member);
        return Ok(compile(|s: &mut Train, b: &Batch| s.step(b)).named(step.name).export(&mut train, &batch)?.graph);
    }
    if train.second_optimizer.is_some() {
        return Err(two_players(step.name));
    }
    let parts = Parts { model: train.model, amp: train.amp, generator: None };
    sharded(step.name, parts, config.learning_rate, &member, &batch, Model::loss)
}

/// The graph of a step of a model whose parameters are divided among the ranks.
fn sharded<M: Tree + Clone>(
    name: &str,
    parts: Parts<M>,
    lr: f64,
    member: &Member,
    batch: &Batch,
    loss: impl Fn(&M, &Batch) -> Result<Tensor>,
) -> Result<Graph> {
    let mut state = Sharded::new(parts, lr, member, FullyShardedConfig::default())?;
    Ok(compile(|s: &mut Sharded<M>, b: &Batch| s.step(b, &loss)).named(name).export(&mut state, batch)?.graph)
}
