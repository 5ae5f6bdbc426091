//! PyTorch's own test samples (`tests/opinfo`): all of them on the interpreter, a share of each operator's where each is a program to compile.

use aludel_compiler::{MatmulPrecision, Options, Target, compile};
use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_oracle::{Counts, Runner, Suite};
use std::path::PathBuf;

const DIRECTORIES: &[&str] = &["main", "edge", "ext", "modules", "modules_edge", "optim", "repro", "errors", "errors2", "repro_errors"];

/// Each case is a program to compile, several a second; with every n-th of each operator's, all operators occur.
const SHARE: usize = 20;

/// The first of every `step` cases of each operator pass, or may fail by `known.txt`.
fn check(step: usize, runner: Runner) -> Counts {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/opinfo");
    let mut counts = Counts::default();
    for directory in DIRECTORIES {
        let mut suite = Suite::load(&root.join(directory)).unwrap();
        suite.keep_every(step);
        assert!(!suite.cases.is_empty(), "{directory} has no cases");
        counts.add(suite.run(runner, &mut |line| eprintln!("{directory}: {line}")));
    }
    assert_eq!((counts.failed, counts.unsupported.len()), (0, 0), "{}", counts.summary());
    counts
}

fn interpret(graph: &Graph, inputs: &[HostTensor]) -> aludel_ir::Result<Vec<HostTensor>> {
    run(graph, &[], inputs, Precision::F32)
}

#[test]
fn interpreter() {
    let counts = check(1, &interpret);
    assert!(counts.stale.is_empty(), "known.txt excuses what passes: {:?}", counts.stale);
}

/// No case is refused by the compiler for a GPU; `tests/ptx.rs` of the compiler assembles kernels, and a GPU runs them (`aludel oracle --target ptx`).
#[test]
fn compiles_to_ptx() {
    for capability in [80, 90] {
        let target = Target::cuda(capability, MatmulPrecision::Highest);
        check(SHARE, &|graph, inputs| {
            compile(graph, &target, &Options::default())?;
            interpret(graph, inputs)
        });
    }
}

#[cfg(feature = "cpu")]
#[test]
fn c() {
    let Ok(executor) = aludel_runtime::CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    check(SHARE, &|graph, inputs| aludel_oracle::device::run(&executor, graph, inputs));
}

#[cfg(feature = "wasmtime")]
#[test]
fn wasm() {
    let executor = aludel_runtime::WasmExecutor::new().unwrap();
    check(SHARE, &|graph, inputs| aludel_oracle::device::run(&executor, graph, inputs));
}

#[cfg(feature = "wgpu")]
#[test]
fn wgsl() {
    let request = pollster::block_on(aludel_runtime::WgpuExecutor::request(&Default::default()));
    let Ok(executor) = request.inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    check(SHARE, &|graph, inputs| aludel_oracle::device::run(&executor, graph, inputs));
}
