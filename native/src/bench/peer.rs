//! PyTorch, burn and TensorFlow.js on the same machine, in the same run.

use crate::device::{Choice, Kind};
use aludel::{Error, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const MODELS: &str = include_str!("../../../tests/peers/torch_models.py");
const CPU: &str = include_str!("../../../tests/peers/torch_cpu.py");
const GPU: &str = include_str!("../../../tests/peers/torch_gpu.py");
const OPERATORS: &str = include_str!("../../../tests/peers/torch_operators.py");
const TFJS: [(&str, &str); 2] = [
    ("tfjs.mjs", include_str!("../../../tests/peers/tfjs.mjs")),
    ("tfjs_operators.mjs", include_str!("../../../tests/peers/tfjs_operators.mjs")),
];

/// One line of a peer's program.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    pub workload: String,
    /// `eager`, `compile`, or with its precision: `tf32 graphs`.
    pub how: String,
    pub ms: f64,
    /// What it computed, where it says so.
    pub digest: Option<[f64; 3]>,
}

/// Who runs single operators beside ours.
pub enum OperatorPeer<'a> {
    /// PyTorch, in this Python.
    Torch(&'a str),
    /// TensorFlow.js on Dawn, in this Node.
    Tfjs(&'a str),
}

impl OperatorPeer<'_> {
    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            OperatorPeer::Torch(_) => "PyTorch",
            OperatorPeer::Tfjs(_) => "TensorFlow.js",
        }
    }

    /// Runs operators one by one; `requests` is what the scripts read. A time's `workload` is the operator, its `how` the size.
    pub fn run(&self, choice: &Choice, requests: &str) -> Result<Vec<Peer>> {
        match self {
            OperatorPeer::Torch(python) => torch_operators(python, choice.kind, choice.precision_name(), requests),
            OperatorPeer::Tfjs(node) => tfjs_operators(node, choice.kind, requests),
        }
    }
}

/// Runs PyTorch's script for the device on these workloads. `python` is the interpreter that has PyTorch.
pub fn torch(python: &str, kind: Kind, precision: &str, workloads: &[&str]) -> Result<Vec<Peer>> {
    let names = workloads.join(",");
    let (script, arguments) = match kind {
        Kind::Cpu => {
            let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).to_string();
            (CPU, vec![names, threads])
        }
        Kind::Cuda(_) | Kind::Wgpu => {
            let precision = if precision == "highest" { "fp32" } else { "tf32" };
            (GPU, vec![names, precision.to_string(), "eager,compile,graphs".to_string()])
        }
        Kind::Interp => return Err(Error::unsupported("a peer of the interpreter", "compare with --device cpu")),
    };
    let failed =
        |problem: String| Error::invalid(format!("--peer torch: {python}"), problem, "name a Python that has PyTorch with --python");
    let directory = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
    for (name, text) in [("torch_models.py", MODELS), ("peer.py", script)] {
        std::fs::write(directory.path().join(name), text).map_err(|e| failed(e.to_string()))?;
    }
    let mut command = Command::new(python);
    command.arg(directory.path().join("peer.py")).args(arguments);
    times(command, "").map_err(failed)
}

fn torch_operators(python: &str, kind: Kind, precision: &str, requests: &str) -> Result<Vec<Peer>> {
    let failed =
        |problem: String| Error::invalid(format!("--peer torch: {python}"), problem, "name a Python that has PyTorch with --python");
    let device = if matches!(kind, Kind::Cuda(_) | Kind::Wgpu) { "cuda" } else { "cpu" };
    let directory = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
    let script = directory.path().join("torch_operators.py");
    std::fs::write(&script, OPERATORS).map_err(|e| failed(e.to_string()))?;
    let mut command = Command::new(python);
    command.arg(script).args([device, precision]);
    times(command, requests).map_err(failed)
}

fn tfjs_operators(node: &str, kind: Kind, requests: &str) -> Result<Vec<Peer>> {
    if kind != Kind::Wgpu {
        return Err(Error::unsupported("--peer tfjs on this device", "compare with --device wgpu"));
    }
    let failed = |problem: String| {
        let remedy =
            "name a Node with --node, and run where npm has installed webgpu, @tensorflow/tfjs and @tensorflow/tfjs-backend-webgpu";
        Error::invalid(format!("--peer tfjs: {node}"), problem, remedy)
    };
    let directory = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
    for (name, text) in TFJS {
        std::fs::write(directory.path().join(name), text).map_err(|e| failed(e.to_string()))?;
    }
    let mut command = Command::new(node);
    command.arg(directory.path().join("tfjs_operators.mjs"));
    times(command, requests).map_err(failed)
}

/// Runs burn's program (`tests/peers/burn`, built beforehand) on these workloads; it has some of them.
pub fn burn(program: &Path, kind: Kind, workloads: &[&str]) -> Result<Vec<Peer>> {
    if kind != Kind::Cpu {
        return Err(Error::unsupported("--peer burn on this device", "compare with --device cpu"));
    }
    let mut command = Command::new(program);
    command.arg(workloads.join(","));
    times(command, "").map_err(|problem| {
        let remedy = "build it (cargo build --release --manifest-path tests/peers/burn/Cargo.toml) and name it with --burn";
        Error::invalid(format!("--peer burn: {}", program.display()), problem, remedy)
    })
}

/// The times that a peer's program prints, given `input`; what else it says goes to our own standard error.
fn times(mut command: Command, input: &str) -> std::result::Result<Vec<Peer>, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let run = |mut child: Child| {
        // It reads all of it before it prints; one that reads nothing may end first.
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
        match written {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e),
            _ => child.wait_with_output(),
        }
    };
    let output = command.spawn().and_then(run).map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let peers: Vec<Peer> = text.lines().filter_map(parse).collect();
    if peers.is_empty() { Err("it printed no times (what it said is above)".into()) } else { Ok(peers) }
}

/// `peer WORKLOAD HOW.. ms NUMBER ..`, as all scripts under `tests/peers` print.
fn parse(line: &str) -> Option<Peer> {
    let mut words = line.split_whitespace();
    if words.next()? != "peer" {
        return None;
    }
    let workload = words.next()?.to_string();
    let how: Vec<&str> = words.by_ref().take_while(|w| *w != "ms").collect();
    let ms = words.next()?.parse().ok()?;
    let digest = words.skip_while(|w| *w != "digest").nth(1).and_then(|numbers| {
        let numbers: Vec<f64> = numbers.split(',').filter_map(|n| n.parse().ok()).collect();
        numbers.try_into().ok()
    });
    Some(Peer { workload, how: how.join(" "), ms, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_scripts_print() {
        let line = "peer tiny tf32 graphs ms 0.931 samples/s 68743.3 cold_s 4.10";
        assert_eq!(parse(line), Some(Peer { workload: "tiny".into(), how: "tf32 graphs".into(), ms: 0.931, digest: None }));
        let line = "peer add small ms 0.021 kernels 1 digest 0.5,1.25,-2e-3";
        assert_eq!(parse(line).and_then(|p| p.digest), Some([0.5, 1.25, -0.002]));
        assert_eq!(parse("peer tiny eager failed ms"), None);
        assert_eq!(parse("torch 2.11"), None);
    }
}
