//! The `aludel` command: trains, measures and explains on this machine's devices, and serves them to the page.
//!
//! Results go to standard output, for people or (with `--json`) as one JSON object per line; everything else goes to standard error.
//! Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted.

#![warn(clippy::too_many_lines)]

mod bench;
mod device;
mod devices;
mod explain;
mod interrupt;
#[cfg(feature = "jupyter")]
mod jupyter;
mod launch;
mod mlflow;
mod output;
mod predict;
mod ranks;
mod script;
mod serve;
mod sessions;
mod settings;
mod tensorboard;
mod train;
mod workload;

use aludel::{Error, Result};
use clap::{Parser, Subcommand};
use output::Output;
use std::process::ExitCode;

/// Compiling and running scripts make many small things that live shortly: with this allocator a script that compiles much takes about three
/// quarters of the time that it takes with glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Trains real models through a compiler of its own: eager and compiled, on the CPU, on CUDA, on WebGPU.
///
/// Without a command, trains the handwritten digits on the CPU, eager and compiled, and prints the comparison.
#[derive(Parser, Debug)]
#[command(name = "aludel", version)]
struct Cli {
    /// Print one JSON object per line, for machines.
    #[arg(long, global = true)]
    json: bool,
    /// What to log to standard error: a level (error, warn, info, debug) or a filter as RUST_LOG has it.
    #[arg(long, global = true, value_name = "FILTER")]
    log: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a PyTorch script, without Python.
    Run(script::Args),
    /// Train a preset and compare eager with compiled.
    Train(train::Args),
    /// Start several ranks of a command, here or on several machines, and end all when one ends badly.
    Launch(launch::Args),
    /// One rank that mpirun has started for `launch`.
    #[command(hide = true)]
    Rank(launch::RankArgs),
    /// Measure training steps and single operations.
    Bench(bench::Args),
    /// Show what the compiler makes of a training step; needs no device.
    Explain(explain::Args),
    /// List the devices of this machine.
    Devices,
    /// Serve the playground and this machine's devices to it.
    Serve(serve::Args),
    /// Run PyTorch scripts as notebooks: the kernel for Jupyter.
    #[cfg(feature = "jupyter")]
    #[command(subcommand)]
    Kernel(jupyter::Args),
    /// Show, pause and end the sessions of a server, for who runs it.
    Sessions(sessions::Args),
    /// One session of a server, which starts this itself.
    #[command(hide = true)]
    Worker(serve::worker::Args),
    /// Run every case of directories of PyTorch results.
    #[command(disable_help_flag = true)]
    Oracle {
        /// `--target interp|wgsl|c|ptx|sm_80|sm_90 --dir tests/opinfo [--adapter NAME] [--every N] [--only TEXT]`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A server tells what it does; its format is its own.
    match &cli.command {
        Some(Command::Serve(args)) => log(cli.log.as_deref(), "info", args.logs_json()),
        _ => log(cli.log.as_deref(), "warn", cli.json),
    }
    let output = Output::new(cli.json);
    match run(&cli, &output) {
        Ok(code) => code,
        Err(e) => {
            output.error(&e);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli, output: &Output) -> Result<ExitCode> {
    match &cli.command {
        None => train::run(&train::Args::demonstration(), output),
        Some(Command::Run(args)) => script::run(args, output),
        Some(Command::Train(args)) => train::run(args, output),
        Some(Command::Launch(args)) => launch::run(args, output).map(|()| ExitCode::SUCCESS),
        Some(Command::Rank(args)) => launch::become_rank(args).map(|()| ExitCode::SUCCESS),
        Some(Command::Bench(args)) => bench::run(args, output).map(|()| ExitCode::SUCCESS),
        Some(Command::Explain(args)) => explain::run(args, output).map(|()| ExitCode::SUCCESS),
        Some(Command::Devices) => devices::run(output).map(|()| ExitCode::SUCCESS),
        Some(Command::Serve(args)) => serve::run(args, output).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "jupyter")]
        Some(Command::Kernel(args)) => jupyter::run(args, output),
        Some(Command::Sessions(args)) => sessions::run(args, output).map(|()| ExitCode::SUCCESS),
        Some(Command::Worker(args)) => serve::worker::run(args),
        Some(Command::Oracle { args }) => oracle(args, output).map(|()| ExitCode::SUCCESS),
    }
}

fn oracle(args: &[String], output: &Output) -> Result<()> {
    let counts = aludel_oracle::command::run(args, &mut |line| output.line(line))?;
    if counts.failed > 0 { Err(Error::invalid("oracle", counts.summary(), "the lines above say which")) } else { Ok(()) }
}

/// Structured logs to standard error, of a level unless `--log` or `RUST_LOG` asks for another.
fn log(filter: Option<&str>, level: &str, json: bool) {
    use tracing_subscriber::EnvFilter;
    let filter = match filter {
        Some(f) => EnvFilter::try_new(f).unwrap_or_else(|e| {
            eprintln!("error: --log {f}: {e}; give a level such as info, or a filter such as aludel=debug");
            std::process::exit(2);
        }),
        None => EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level)),
    };
    // At their finest these write down whole messages, with tokens and keys in them.
    let discreet = ["tungstenite=info", "tokio_tungstenite=info", "hyper=info"].into_iter().filter_map(|d| d.parse().ok());
    let filter = discreet.fold(filter, EnvFilter::add_directive);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json { builder.json().init() } else { builder.init() }
}
