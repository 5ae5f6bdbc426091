//! `aludel serve`: the page, and this machine's devices for it.

use crate::output::Output;
use aludel::{Error, Result};

/// Arguments of `aludel serve`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The port to listen on.
    #[arg(long, default_value_t = 7878)]
    pub port: u16,
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    let _ = (args, output);
    Err(Error::unsupported("aludel serve in this build", "use `cargo xtask serve`"))
}
