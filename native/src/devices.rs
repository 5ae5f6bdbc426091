//! `aludel devices`: what this machine can train on.

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::Result;
use serde_json::json;

pub fn run(output: &Output) -> Result<()> {
    for kind in [Kind::Cpu, Kind::Cuda(0), Kind::Wgpu, Kind::Interp] {
        match Choice::new(kind).open() {
            Ok(device) => {
                let info = device.info();
                output.line(format!("{:<8} {device}  {}", kind.to_string(), info.features.join(" ")).trim_end());
                output.event(
                    "device",
                    json!({ "device": kind.to_string(), "available": true, "name": info.name, "backend": info.backend, "features": info.features }),
                );
            }
            Err(e) => {
                output.line(format!("{:<8} not here: {e}", kind.to_string()));
                output.event("device", json!({ "device": kind.to_string(), "available": false, "problem": e.to_string() }));
            }
        }
    }
    Ok(())
}
