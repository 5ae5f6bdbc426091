//! A Jupyter kernel: the machine of `aludel run` in notebooks.
//!
//! The machine runs on the process's main thread (`session`), the sockets on a thread of their own (`channels`); what passes between them
//! is queues and a flag that asks for an interruption. `jupyter_zmq_client` frames and signs the messages, whose meaning is
//! [Jupyter's](https://jupyter-client.readthedocs.io/en/stable/messaging.html).

mod cell;
mod channels;
mod host;
mod install;
mod session;

use crate::output::Output;
use crate::train::DeviceArgs;
use aludel::{Error, Result};
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// What `aludel kernel` is told.
#[derive(Subcommand, Debug)]
pub enum Args {
    /// Let Jupyter find this command as a kernel for notebooks.
    Install(install::Args),
    /// Serve one notebook; Jupyter starts this itself.
    Run(RunArgs),
}

#[derive(clap::Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Operators one by one, or recorded and compiled together.
    #[arg(long, value_enum, default_value_t = Mode::Eager)]
    mode: Mode,
    /// Where Jupyter wrote the ports to listen on.
    connection_file: PathBuf,
}

/// How a notebook's operators run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// One by one, a kernel each.
    Eager,
    /// Recorded, and run together as compiled graphs.
    Compiled,
}

/// Installs or runs the kernel.
///
/// # Errors
///
/// A connection file that is none, ports that are taken, a device that is not here, or a directory that cannot be written to.
pub fn run(args: &Args, output: &Output) -> Result<ExitCode> {
    match args {
        Args::Install(args) => install::run(args, output),
        Args::Run(args) => {
            let file = args.connection_file.display().to_string();
            let text = std::fs::read_to_string(&args.connection_file).map_err(|e| unusable(&file, e))?;
            let connection = serde_json::from_str(&text).map_err(|e| unusable(&file, e))?;
            let device = args.device.choice()?.open()?;
            let wire = channels::open(connection)?;
            session::Session::new(device, args.mode == Mode::Compiled, wire)?.serve();
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn unusable(file: &str, why: impl std::fmt::Display) -> Error {
    Error::invalid(file, why.to_string(), "Jupyter writes this file, and starts the kernel with its name")
}
