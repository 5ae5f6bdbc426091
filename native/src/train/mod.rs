//! `aludel train`: trains a preset, eager and compiled, and says what compiling bought.

mod among;
mod checkpoints;
mod examples;
mod held_out;
mod run;
mod table;

use crate::device::{Choice, Kind};
use crate::mlflow::{Status, Tracker};
use crate::output::Output;
use crate::ranks::Ranks;
use crate::{interrupt, settings};
use aludel::{Device, Error, Result, nn};
use aludel_compiler::MatmulPrecision;
use aludel_models::presets::Config;
use clap::ValueEnum;
use examples::Examples;
use run::{Outcome, Run};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `aludel train`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to train: points, digits, digits-cnn, digits-resnet, digits-vit, digits-gan, autoencoder, addition, addition-llama or
    /// addition-lstm.
    preset: String,
    /// Settings of the preset, such as lr=0.01 layers=64,64 batch=32 optimizer=sgd seed=1.
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Examples with classes to train on, in place of the preset's: a directory of MNIST's files, of directories of images, of tar archives
    /// or of tables, or one archive or table (Parquet, Arrow, CSV, JSON lines). For points and digits (rows), digits and digits-cnn (images).
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Mixed precision: bf16, or f16 with a scaled loss.
    #[arg(long, value_name = "TYPE", default_value_t = nn::Precision::F32, hide_default_value = true)]
    amp: nn::Precision,
    /// One kernel per operator, the whole step compiled, or one after the other.
    #[arg(long, value_enum, default_value_t = Mode::Both)]
    mode: Mode,
    /// Train until so many steps are made.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Keep checkpoints in this directory (with --mode both, in `eager` and `compiled` below it).
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Steps between checkpoints; the last step always has one. By default a tenth of the steps.
    #[arg(long, value_name = "N", requires = "checkpoint", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// How many checkpoints to keep.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "checkpoint")]
    keep: usize,
    /// Go on from the last checkpoint.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Write TensorBoard event files below this directory.
    #[arg(long, value_name = "DIR")]
    logdir: Option<PathBuf>,
    /// Send losses to the MLflow tracking server at this address, such as http://127.0.0.1:5000. MLflow's own variables name the experiment
    /// (MLFLOW_EXPERIMENT_NAME) and who asks (MLFLOW_TRACKING_TOKEN, or .._USERNAME and .._PASSWORD).
    #[arg(long, value_name = "URL")]
    mlflow: Option<String>,
    /// Steps between reports of the loss. Reading it waits for the device. By default a hundredth of the steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    log_every: Option<u64>,
    /// Nothing was asked for: say what could be.
    #[arg(skip)]
    demonstration: bool,
}

/// Which device, and how it computes.
#[derive(clap::Args, Clone, Debug)]
pub struct DeviceArgs {
    /// cpu, cuda, cuda:1, wgpu or interp. By default cpu, or wgpu where an adapter is named.
    #[arg(long)]
    device: Option<Kind>,
    /// A part of the adapter's name, for wgpu.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// What f32 matrix products may give up for speed, as PyTorch's set_float32_matmul_precision has it. CUDA only: the other devices
    /// compute in f32 and refuse less.
    #[arg(long, value_enum, default_value_t = Precision::Highest)]
    matmul_precision: Precision,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// In f32.
    Highest,
    /// Factors may be rounded to TF32.
    High,
    /// Factors may be rounded to bf16.
    Medium,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Eager,
    Compiled,
    Both,
}

impl DeviceArgs {
    /// The device that is asked for, or the usual one.
    #[cfg(feature = "jupyter")]
    pub fn kind(&self) -> Kind {
        match (self.device, &self.adapter) {
            (Some(kind), _) => kind,
            (None, Some(_)) => Kind::Wgpu,
            (None, None) => Kind::Cpu,
        }
    }

    /// The same as arguments of a command line. Errors as [`choice`](DeviceArgs::choice).
    #[cfg(feature = "jupyter")]
    pub fn to_args(&self) -> Result<Vec<String>> {
        let choice = self.choice()?;
        let mut args = vec!["--device".to_string(), choice.kind.to_string()];
        args.extend(choice.adapter.iter().flat_map(|name| ["--adapter".to_string(), name.clone()]));
        if self.matmul_precision != Precision::Highest {
            args.extend(["--matmul-precision".to_string(), choice.precision_name().to_string()]);
        }
        Ok(args)
    }

    /// Errors when an adapter is named for a device that has none, and less precision asked of one that always computes in full.
    pub fn choice(&self) -> Result<Choice> {
        let kind = match (self.device, &self.adapter) {
            (None, Some(_)) => Kind::Wgpu,
            (None, None) => Kind::Cpu,
            (Some(kind), Some(name)) if kind != Kind::Wgpu => {
                return Err(Error::invalid(format!("--adapter {name}"), format!("{kind} has no adapters"), "use it with --device wgpu"));
            }
            (Some(kind), _) => kind,
        };
        let choice = Choice { adapter: self.adapter.clone(), precision: self.matmul_precision.into(), ..Choice::new(kind) };
        if self.matmul_precision != Precision::Highest && !matches!(kind, Kind::Cuda(_)) {
            return Err(computes_in_full(choice.precision_name(), kind));
        }
        Ok(choice)
    }
}

/// Only CUDA has units that multiply f32 faster at less precision; whoever asks for it elsewhere would compare what is not there.
pub fn computes_in_full(precision: &str, what: impl fmt::Display) -> Error {
    Error::invalid(
        format!("--matmul-precision {precision}"),
        format!("{what} computes f32 matrix products in f32 whatever they may give up"),
        "leave it out, or use it with CUDA",
    )
}

impl From<Precision> for MatmulPrecision {
    fn from(p: Precision) -> MatmulPrecision {
        match p {
            Precision::Highest => MatmulPrecision::Highest,
            Precision::High => MatmulPrecision::High,
            Precision::Medium => MatmulPrecision::Medium,
        }
    }
}

impl Args {
    /// What `aludel` does when it is told nothing: digits on the CPU, both ways.
    pub fn demonstration() -> Args {
        Args {
            preset: "digits".into(),
            settings: Vec::new(),
            data: None,
            device: DeviceArgs { device: None, adapter: None, matmul_precision: Precision::Highest },
            amp: nn::Precision::F32,
            mode: Mode::Both,
            steps: 1000,
            checkpoint: None,
            checkpoint_every: None,
            keep: 2,
            resume: false,
            logdir: None,
            mlflow: None,
            log_every: None,
            demonstration: true,
        }
    }
}

/// Trains; 130 when a person interrupted it, after the table of what was done.
pub fn run(args: &Args, output: &Output) -> Result<ExitCode> {
    let preset = settings::preset(&args.preset)?;
    let mut config = settings::config(preset, &args.settings)?.with_precision(args.amp);
    let mut canonical = settings::canonical(preset, &args.settings);
    let data = args.data.as_deref().map(Examples::open).transpose()?;
    if let Some(data) = &data {
        config = data.configure(config)?;
        canonical.insert("data".into(), data.name.clone());
    }
    if args.amp != nn::Precision::F32 {
        canonical.insert("amp".into(), args.amp.to_string());
    }
    let ranks = among::ranks(&config)?;
    let choice = ranks.choice(args.device.choice()?);
    // Before anything slow: a device that is not there, a directory that is not free.
    let device = choice.open()?;
    let job = Job { args, config, data, canonical, ranks, choice, device };
    if job.ranks.is_alone() {
        interrupt::listen()?;
        return job.run(output);
    }
    let done = job.run(&job.ranks.output(output));
    if let Err(e) = &done {
        output.error(e);
        // At once: ending in good order would wait for the other ranks, which may be waiting for this one.
        std::process::exit(1);
    }
    done
}

/// What a command asks for.
struct Job<'a> {
    args: &'a Args,
    config: Config,
    /// In place of the preset's own.
    data: Option<Examples>,
    /// The settings in one spelling.
    canonical: BTreeMap<String, String>,
    ranks: Ranks,
    choice: Choice,
    device: Device,
}

impl Job<'_> {
    fn run(&self, output: &Output) -> Result<ExitCode> {
        let (args, config, ranks) = (self.args, &self.config, &self.ranks);
        let modes: &[&str] = match args.mode {
            Mode::Eager => &["eager"],
            Mode::Compiled => &["compiled"],
            Mode::Both => &["eager", "compiled"],
        };
        let of_mode = |d: &PathBuf, mode: &str| if modes.len() > 1 { d.join(mode) } else { d.clone() };
        let mut stores = Vec::new();
        for mode in modes {
            let directory = args.checkpoint.as_ref().filter(|_| ranks.is_first()).map(|d| of_mode(d, mode));
            stores.push(directory.map(|d| checkpoints::Store::open(&d, args.resume, args.keep, &self.canonical)).transpose()?);
        }
        if args.resume && ranks.is_first() && stores.iter().flatten().all(|s| s.last.is_none()) {
            return Err(Error::invalid("--resume", "there is no checkpoint to go on from", "leave --resume out to start"));
        }
        self.begin(modes, output);

        let member = ranks.join(&self.device)?;
        let tracker = args.mlflow.as_deref().filter(|_| ranks.is_first()).map(|url| Tracker::start(url, "aludel train")).transpose()?;
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (i, (mode, store)) in modes.iter().zip(stores).enumerate() {
            let name = format!("{} {mode}", config.preset().key());
            let run = Run {
                mode,
                config,
                data: self.data.as_ref(),
                member: member.clone(),
                // Each on a device of its own: counts and caches are of one run. What connects ranks is made once.
                device: if i == 0 || !ranks.is_alone() { self.device.clone() } else { self.choice.open()? },
                steps: args.steps,
                log_every: args.log_every,
                checkpoint_every: args.checkpoint_every,
                tracked: tracker.as_ref().map(|t| t.begin_now(&name, self.canonical.clone())).transpose()?,
                logdir: args.logdir.as_ref().filter(|_| ranks.is_first()).map(|d| of_mode(d, mode)),
            };
            outcomes.push(run.train(store, output)?);
            if let Some(tracked) = run.tracked {
                tracked.end(if interrupt::requested() { Status::Killed } else { Status::Finished });
            }
            if interrupt::requested() {
                break;
            }
        }
        tracker.iter().try_for_each(Tracker::stop)?;
        ranks.leave()?;
        table::print(&outcomes, config, output);
        if args.demonstration && !interrupt::requested() {
            output.line("`aludel --help` says what else there is; `cargo xtask serve` opens the playground in a browser.");
        }
        Ok(if interrupt::requested() { ExitCode::from(130) } else { ExitCode::SUCCESS })
    }

    /// Says what is trained, and on what.
    fn begin(&self, modes: &[&str], output: &Output) {
        let (config, preset, canonical, device) = (&self.config, self.config.preset(), &self.canonical, &self.device);
        let settings: Vec<String> = canonical.iter().filter(|(k, _)| *k != "preset").map(|(k, v)| format!("{k} {v}")).collect();
        output.line(format!("{}: {} numbers to learn on {device}", preset.title(), table::thousands(config.parameters() as u64)));
        output.line(format!("{}{}\n", settings.join(" · "), self.ranks.describe()));
        if let Some(data) = &self.data {
            output.line(format!("{data}\n"));
        }
        output.event(
            "start",
            json!({
                "preset": preset.key(), "config": canonical, "parameters": config.parameters(), "device": self.choice.kind.to_string(),
                "device_name": device.to_string(), "steps": self.args.steps, "modes": modes, "ranks": self.ranks.size(),
            }),
        );
    }
}
