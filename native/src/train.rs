//! `aludel train`: trains a preset, eager and compiled.

use crate::output::Output;
use aludel::Result;
use std::process::ExitCode;

/// Arguments of `aludel train`.
#[derive(clap::Args, Debug, Default)]
pub struct Args {
    preset: String,
}

impl Args {
    pub fn demonstration() -> Args {
        Args::default()
    }
}

pub fn run(args: &Args, output: &Output) -> Result<ExitCode> {
    output.line(&args.preset);
    Ok(ExitCode::SUCCESS)
}
