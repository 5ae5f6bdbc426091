//! The command line: `oracle --target interp|wgsl|c|wasm|ptx|sm_80|sm_90 --dir DIR`.

use crate::{Counts, Runner, Suite, device};
use aludel_compiler::{MatmulPrecision, Options, Target, compile};
use aludel_ir::interp::{self, HostTensor, Precision};
use aludel_ir::{Error, Graph, Result};
use std::path::{Path, PathBuf};
use std::time::Instant;

const USAGE: &str =
    "call it as oracle --target interp|wgsl|c|wasm|ptx|sm_80|sm_90 --dir DIR [--dir DIR].. [--adapter NAME] [--every N] [--only TEXT]";

struct Arguments {
    target: String,
    dirs: Vec<PathBuf>,
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    adapter: Option<String>,
    /// Runs the first of so many cases of each operator.
    every: usize,
    /// Runs cases whose names contain this.
    only: String,
}

impl Arguments {
    fn parse(args: &[String]) -> Result<Arguments> {
        let mut out = Arguments { target: "interp".into(), dirs: Vec::new(), adapter: None, every: 1, only: String::new() };
        let mut rest = args.iter();
        while let Some(flag) = rest.next() {
            let value = rest.next().ok_or_else(|| Error::invalid(flag, "has no value", USAGE))?;
            match flag.as_str() {
                "--target" => out.target = value.clone(),
                "--dir" => out.dirs.extend(suites(Path::new(value))?),
                "--adapter" => out.adapter = Some(value.clone()),
                "--every" => out.every = value.parse().map_err(|_| Error::invalid("--every", format!("{value:?} is no number"), USAGE))?,
                "--only" => out.only = value.clone(),
                _ => return Err(Error::invalid(flag, "no such argument", USAGE)),
            }
        }
        if out.dirs.is_empty() {
            out.dirs.push("tests/oracle".into());
        }
        Ok(out)
    }
}

/// The directory, or all in it that hold cases, by name.
fn suites(dir: &Path) -> Result<Vec<PathBuf>> {
    if dir.join("ops.json").exists() {
        return Ok(vec![dir.into()]);
    }
    let entries = std::fs::read_dir(dir).map_err(|e| crate::invalid(dir.display(), e))?;
    let mut out: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|d| d.join("ops.json").exists()).collect();
    out.sort();
    if out.is_empty() { Err(Error::invalid(dir.display().to_string(), "holds no ops.json", USAGE)) } else { Ok(out) }
}

/// Runs every case of one directory or several on a target; prints a line for each that fails and, last, the counts. `sm_80` and `sm_90` need no
/// GPU: programs are compiled to PTX of that compute capability, the interpreter runs the graphs. Whether all is well is for the caller to say:
/// nothing failed where `failed` is zero.
///
/// Errors: unknown arguments, an unreadable directory, no device to run the target's kernels on.
pub fn run(args: &[String], print: &mut dyn FnMut(&str)) -> Result<Counts> {
    let arguments = Arguments::parse(args)?;
    let interpret = |graph: &Graph, inputs: &[HostTensor]| interp::run(graph, &[], inputs, Precision::F32);
    match arguments.target.as_str() {
        "interp" => run_all(&arguments, &interpret, print),
        #[cfg(feature = "wgpu")]
        "wgsl" => {
            use aludel_runtime::{WgpuExecutor, WgpuOptions};
            let options = WgpuOptions { adapter: arguments.adapter.clone(), ..Default::default() };
            let executor = pollster::block_on(WgpuExecutor::request(&options))?;
            run_all(&arguments, &|graph, inputs| device::run(&executor, graph, inputs), print)
        }
        #[cfg(feature = "cpu")]
        "c" => {
            let executor = aludel_runtime::CpuExecutor::new()?;
            run_all(&arguments, &|graph, inputs| device::run(&executor, graph, inputs), print)
        }
        #[cfg(feature = "wasmtime")]
        "wasm" => {
            let executor = aludel_runtime::WasmExecutor::new()?;
            run_all(&arguments, &|graph, inputs| device::run(&executor, graph, inputs), print)
        }
        #[cfg(feature = "cuda")]
        "ptx" => {
            let executor = aludel_runtime::CudaExecutor::new(&Default::default())?;
            run_all(&arguments, &|graph, inputs| device::run(&executor, graph, inputs), print)
        }
        "sm_80" | "sm_90" => {
            let target = Target::cuda(if arguments.target == "sm_80" { 80 } else { 90 }, MatmulPrecision::Highest);
            let compiled = |graph: &Graph, inputs: &[HostTensor]| {
                compile(graph, &target, &Options::default())?;
                interpret(graph, inputs)
            };
            run_all(&arguments, &compiled, print)
        }
        #[cfg(not(feature = "wgpu"))]
        "wgsl" => Err(absent("wgsl", "wgpu")),
        #[cfg(not(feature = "cpu"))]
        "c" => Err(absent("c", "cpu")),
        #[cfg(not(feature = "wasmtime"))]
        "wasm" => Err(absent("wasm", "wasmtime")),
        #[cfg(not(feature = "cuda"))]
        "ptx" => Err(absent("ptx", "cuda")),
        other => Err(Error::invalid(format!("target {other}"), "no such target", USAGE)),
    }
}

fn run_all(arguments: &Arguments, runner: Runner, print: &mut dyn FnMut(&str)) -> Result<Counts> {
    let mut counts = Counts::default();
    for dir in &arguments.dirs {
        let started = Instant::now();
        let mut suite = Suite::load(dir)?;
        suite.cases.retain(|c| c.name.contains(&arguments.only));
        suite.keep_every(arguments.every);
        if arguments.dirs.len() == 1 {
            return Ok(suite.run(runner, print));
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        counts.add(suite.run(runner, &mut |line| print(&format!("{name}: {line}"))));
        print(&format!("{name}: {:.1} s", started.elapsed().as_secs_f64()));
    }
    print(&counts.summary());
    Ok(counts)
}

#[cfg(not(all(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime")))]
fn absent(target: &str, feature: &str) -> Error {
    Error::unsupported(format!("target {target} in this build"), format!("build with --features {feature}"))
}
