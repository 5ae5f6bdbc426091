//! `aludel explain`: what the compiler makes of a training step.

use crate::output::Output;
use aludel::Result;

/// Arguments of `aludel explain`.
#[derive(clap::Args, Debug)]
pub struct Args {
    preset: String,
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    output.line(&args.preset);
    Ok(())
}
