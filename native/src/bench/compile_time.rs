//! How long compiling takes, from a captured graph to loaded kernels: cold, with empty caches on disk, and warm, in a new process
//! that finds them filled.
//!
//! Each is a process of its own, so that nothing is left in memory: `aludel bench --compile-time` reads the graph's text.

use crate::device::{Choice, Kind};
use aludel::{Error, Result};
use aludel_compiler::Options;
use aludel_ir::Graph;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// Milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct CompileTime {
    pub cold: f64,
    pub warm: f64,
}

/// Measures both; `None` where graphs are interpreted.
pub fn measure(choice: &Choice, graph: &Graph) -> Result<Option<CompileTime>> {
    if choice.kind == Kind::Interp {
        return Ok(None);
    }
    let cache = tempfile::tempdir().map_err(|e| Error::invalid("a temporary directory", e.to_string(), "set TMPDIR"))?;
    let text = graph.to_string();
    let cold = child(choice, &text, cache.path())?;
    let warm = child(choice, &text, cache.path())?;
    Ok(Some(CompileTime { cold, warm }))
}

fn child(choice: &Choice, graph: &str, cache: &Path) -> Result<f64> {
    let failed = |problem: String| Error::device(format!("measuring the compile time: {problem}"), "leave it out with --no-compile-time");
    let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let mut command = Command::new(program);
    command.args([
        "bench",
        "--compile-time",
        "--json",
        "--device",
        &choice.kind.to_string(),
        "--matmul-precision",
        choice.precision_name(),
    ]);
    if let Some(adapter) = &choice.adapter {
        command.args(["--adapter", adapter]);
    }
    // Our cache, and those that drivers keep.
    command.env("ALUDEL_CACHE", cache).env("CUDA_CACHE_PATH", cache.join("driver"));
    command.env("MESA_SHADER_CACHE_DIR", cache).env("__GL_SHADER_DISK_CACHE_PATH", cache);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ended early says why below.
        let _ = input.write_all(graph.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| failed(e.to_string()))?;
    let value: Option<Value> = output.stdout.split(|b| *b == b'\n').find_map(|line| serde_json::from_slice(line).ok());
    let ms = value.as_ref().filter(|v| v["event"] == "compile_time").and_then(|v| v["ms"].as_f64());
    ms.ok_or_else(|| failed(String::from_utf8_lossy(&output.stderr).trim().to_string()))
}

/// The child: compiles the graph on standard input for the device and loads it.
pub fn report(choice: &Choice, output: &crate::output::Output) -> Result<()> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|e| Error::invalid("standard input", e.to_string(), "give the text of a graph"))?;
    let graph: Graph = text.parse()?;
    let device = choice.open()?;
    let Some(target) = device.target() else {
        return Err(Error::unsupported(format!("compiling on {device}"), "it interprets graphs"));
    };
    let clock = Instant::now();
    let program = aludel_compiler::compile(&graph, target, &Options::default())?;
    let passes = clock.elapsed().as_secs_f64() * 1e3;
    let kernels = program.kernels.len();
    let _loaded = device.executor().load(Arc::new(graph), Some(Arc::new(program)))?;
    pollster::block_on(device.ready())?;
    let ms = clock.elapsed().as_secs_f64() * 1e3;
    output.line(format!("{ms:.0} ms, of which the compiler's passes {passes:.0} ms, for {kernels} kernels"));
    output.event("compile_time", json!({ "ms": ms, "passes_ms": passes, "kernels": kernels }));
    Ok(())
}
