//! `aludel kernel install`: a kernel's description where Jupyter looks for it.

use super::Mode;
use crate::output::Output;
use crate::train::DeviceArgs;
use aludel::{Error, Result};
use clap::ValueEnum;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    device: DeviceArgs,
    /// How the notebooks' operators run.
    #[arg(long, value_enum, default_value_t = Mode::Eager)]
    mode: Mode,
    /// For this user, which is the default.
    #[arg(long, conflicts_with = "prefix")]
    user: bool,
    /// Below a directory, as a Python environment's (`sys.prefix`): in its `share/jupyter`.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// The kernel's name, for more than one device.
    #[arg(long, default_value = "aludel", value_parser = name)]
    name: String,
    /// What notebooks show, otherwise made of the device.
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
}

/// Jupyter takes no other characters in names of kernels.
fn name(text: &str) -> std::result::Result<String, String> {
    let fits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    // It is a directory's too.
    if fits && !text.starts_with('.') { Ok(text.to_string()) } else { Err("use letters, digits, `-`, `_` and `.`".into()) }
}

pub fn run(args: &Args, output: &Output) -> Result<ExitCode> {
    let failed = |what: String, why: String| Error::invalid(what, why, "name another directory with --prefix");
    let data = match &args.prefix {
        Some(prefix) => prefix.join("share/jupyter"),
        None => jupyter_zmq_client::user_data_dir().map_err(|e| failed("--user".into(), e.to_string()))?,
    };
    let program = std::env::current_exe().map_err(|e| failed("this command".into(), e.to_string()))?;
    let device = args.device.to_args()?;
    let mode = args.mode.to_possible_value().map(|m| m.get_name().to_string()).unwrap_or_default();
    let shown = args.display_name.clone().unwrap_or_else(|| format!("Aludel ({}, {mode})", args.device.kind()));
    let mut argv = vec![program.display().to_string(), "kernel".into(), "run".into(), "--mode".into(), mode];
    argv.extend(device);
    argv.push("{connection_file}".into());
    let spec = json!({
        "argv": argv, "display_name": shown, "language": "python", "interrupt_mode": "message",
        "metadata": { "debugger": false },
    });
    let directory = data.join("kernels").join(&args.name);
    let file = directory.join("kernel.json");
    let text = serde_json::to_string_pretty(&spec).map_err(|e| failed(file.display().to_string(), e.to_string()))?;
    std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&file, text + "\n"))
        .map_err(|e| failed(file.display().to_string(), e.to_string()))?;
    output.line(format!("{} is now a kernel of Jupyter: {}", args.name, file.display()));
    output.event("installed", json!({ "name": args.name, "file": file.display().to_string() }));
    Ok(ExitCode::SUCCESS)
}
