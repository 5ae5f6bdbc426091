//! `aludel devices`: what this machine can train on.

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::Result;
use serde_json::{Value, json};

pub fn run(output: &Output) -> Result<()> {
    show(Kind::Cpu, None, output);
    #[cfg(feature = "cuda")]
    for g in aludel_runtime::cuda::devices() {
        let (major, minor) = (g.compute_capability / 10, g.compute_capability % 10);
        let cuda = format!("{}.{}", g.driver_version / 1000, g.driver_version % 1000 / 10);
        let text = format!("{:.0} GB, compute capability {major}.{minor}, CUDA {cuda}", g.memory_bytes as f64 / 1e9);
        let fields = json!({
            "memory_bytes": g.memory_bytes, "compute_capability": format!("{major}.{minor}"), "cuda_version": cuda,
        });
        show(Kind::Cuda(g.index), Some((text, fields)), output);
    }
    #[cfg(feature = "cuda")]
    if aludel_runtime::cuda::devices().is_empty() {
        // Opening one says why there is none.
        show(Kind::Cuda(0), None, output);
    }
    show(Kind::Wgpu, None, output);
    show(Kind::Interp, None, output);
    Ok(())
}

/// Opens a device, to see whether it works, and says what it is.
fn show(kind: Kind, more: Option<(String, Value)>, output: &Output) {
    let device = match Choice::new(kind).open() {
        Ok(device) => device,
        Err(e) => return missing(kind, &e.to_string(), output),
    };
    let info = device.info();
    let (text, fields) = more.unwrap_or_else(|| (info.features.join(", "), json!({})));
    output.line(format!("{:<8} {device}  {text}", kind.to_string()).trim_end());
    let mut value = json!({
        "device": kind.to_string(), "available": true, "name": info.name, "backend": info.backend, "features": info.features,
    });
    if let (Some(value), Value::Object(fields)) = (value.as_object_mut(), fields) {
        value.extend(fields);
    }
    output.event("device", value);
}

fn missing(kind: Kind, problem: &str, output: &Output) {
    output.line(format!("{:<8} not here: {problem}", kind.to_string()));
    output.event("device", json!({ "device": kind.to_string(), "available": false, "problem": problem }));
}
