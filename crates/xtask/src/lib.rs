//! Everything that a developer or CI runs, as ordinary Rust: no make, no shell scripts, no tool that cargo cannot fetch.

#![warn(clippy::too_many_lines)]

pub mod benchmarks;
pub mod cdp;
pub mod command;
pub mod examples;
pub mod locals;
pub mod order;
pub mod packages;
pub mod serve;
pub mod site;
pub mod sizes;
pub mod test;
pub mod wasm;

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(PathBuf::from).unwrap_or(here)
}

/// Where cargo builds: `CARGO_TARGET_DIR`, else `target`.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Says what is being done, in a form that stands out between the output of tools.
pub fn say(text: impl AsRef<str>) {
    eprintln!("\x1b[1m· {}\x1b[0m", text.as_ref());
}
