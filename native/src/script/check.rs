//! `aludel run --check`: which names a script uses that are not there, before it runs.

use super::Script;
use crate::output::Output;
use aludel::{Device, Error, Result};
use aludel_python::host::System;
use aludel_python::parse::imports;
use aludel_torch::check;
use serde_json::json;
use std::process::ExitCode;

/// Lists the names; the exit code is 1 where there is one.
pub fn run(script: &Script, device: Device, output: &Output) -> Result<ExitCode> {
    let names = imports::names(&script.text)
        .map_err(|e| Error::invalid(&script.file, format!("{}: {}", e.kind, e.message), "run it to see where"))?;
    let own = |module: &str| {
        let file = std::path::Path::new(&script.directory).join(module);
        file.with_extension("py").exists() || file.is_dir()
    };
    // Modules of the script's own would have to be run to be looked into.
    let names: Vec<_> = names.into_iter().filter(|n| !own(n.path.split('.').next().unwrap_or_default())).collect();
    let empty = Script { file: script.file.clone(), text: String::new(), args: Vec::new(), directory: script.directory.clone() };
    let (mut vm, _) = empty.load(Box::new(System::default()), device);
    let missing = pollster::block_on(check::missing(&mut vm, &names));
    for (name, why) in &missing {
        output.line(format!("{}:{}: {}: {why}", script.file, name.line, name.path));
        output.event("missing", json!({ "file": script.file, "line": name.line, "name": name.path, "problem": why }));
    }
    if missing.is_empty() {
        output.line(format!("{}: all {} names of imported modules are there", script.file, names.len()));
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
