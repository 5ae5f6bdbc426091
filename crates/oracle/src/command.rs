//! The command line: `oracle --target interp|wgsl|c|ptx --dir DIR`.

use crate::{Counts, Suite, device};
use aludel_ir::interp::{self, HostTensor, Precision};
use aludel_ir::{Error, Graph, Result};
use std::path::PathBuf;

const USAGE: &str = "call it as oracle --target interp|wgsl|c|ptx --dir DIR [--adapter NAME]";

/// Runs every case of a directory on a target; prints a line for each that fails and, last, the counts. Whether all is well
/// is for the caller to say: nothing failed where `failed` is zero.
///
/// Errors: unknown arguments, an unreadable directory, no device to run the target's kernels on.
pub fn run(args: &[String], print: &mut dyn FnMut(&str)) -> Result<Counts> {
    let (mut target, mut dir) = ("interp".to_string(), PathBuf::from("tests/oracle"));
    let mut adapter: Option<String> = None;
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().ok_or_else(|| Error::invalid(flag, "has no value", USAGE))?;
        match flag.as_str() {
            "--target" => target = value.clone(),
            "--dir" => dir = PathBuf::from(value),
            "--adapter" => adapter = Some(value.clone()),
            _ => return Err(Error::invalid(flag, "no such argument", USAGE)),
        }
    }
    #[cfg(not(feature = "wgpu"))]
    drop(adapter);
    let suite = Suite::load(&dir)?;
    match target.as_str() {
        "interp" => {
            let runner = |graph: &Graph, inputs: &[HostTensor]| interp::run(graph, &[], inputs, Precision::F32);
            Ok(suite.run(&runner, print))
        }
        #[cfg(feature = "wgpu")]
        "wgsl" => {
            use aludel_runtime::{WgpuExecutor, WgpuOptions};
            let executor = pollster::block_on(WgpuExecutor::request(&WgpuOptions { adapter, ..Default::default() }))?;
            Ok(suite.run(&|graph, inputs| device::run(&executor, graph, inputs), print))
        }
        #[cfg(feature = "cpu")]
        "c" => {
            let executor = aludel_runtime::CpuExecutor::new()?;
            Ok(suite.run(&|graph, inputs| device::run(&executor, graph, inputs), print))
        }
        #[cfg(feature = "cuda")]
        "ptx" => {
            let executor = aludel_runtime::CudaExecutor::new(&Default::default())?;
            Ok(suite.run(&|graph, inputs| device::run(&executor, graph, inputs), print))
        }
        #[cfg(not(feature = "wgpu"))]
        "wgsl" => Err(absent(&target, "wgpu")),
        #[cfg(not(feature = "cpu"))]
        "c" => Err(absent(&target, "cpu")),
        #[cfg(not(feature = "cuda"))]
        "ptx" => Err(absent(&target, "cuda")),
        other => Err(Error::invalid(format!("target {other}"), "no such target", USAGE)),
    }
}

#[cfg(not(all(feature = "wgpu", feature = "cpu", feature = "cuda")))]
fn absent(target: &str, feature: &str) -> Error {
    Error::unsupported(format!("target {target} in this build"), format!("build with --features {feature}"))
}
