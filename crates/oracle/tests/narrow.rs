//! Operators of bf16 and f16 against PyTorch's own results (tests/narrow/generate.py), on every target.

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_oracle::Suite;
use std::path::PathBuf;

const CASES: usize = 495;

fn suite() -> Suite {
    Suite::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/narrow")).unwrap()
}

fn check(runner: aludel_oracle::Runner) {
    let counts = suite().run(runner, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (CASES, 0), "{}: {:?}", counts.summary(), counts.unsupported);
}

#[test]
fn interpreter() {
    check(&|graph: &Graph, inputs: &[HostTensor]| run(graph, &[], inputs, Precision::F32));
}

#[cfg(feature = "cpu")]
#[test]
fn cpu() {
    let Ok(executor) = aludel_runtime::CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    check(&|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
}

#[cfg(feature = "cuda")]
#[test]
fn cuda() {
    let Ok(executor) = aludel_runtime::CudaExecutor::new(&Default::default()).inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    check(&|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
}

#[cfg(feature = "wgpu")]
#[test]
fn webgpu() {
    let options = Default::default();
    let request = aludel_runtime::WgpuExecutor::request(&options);
    let Ok(executor) = pollster::block_on(request).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")) else { return };
    check(&|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
}

/// A comparison that cannot fail would prove nothing: one part in thirty is four units in the last place of bf16.
#[test]
fn wrong_results_are_noticed() {
    let off = |graph: &Graph, inputs: &[HostTensor]| {
        let mut out = run(graph, &[], inputs, Precision::F32)?;
        out.iter_mut().flat_map(|t| t.data.iter_mut()).for_each(|v| *v *= 31.0 / 30.0);
        Ok(out)
    };
    let counts = suite().run(&off, &mut |_| {});
    assert!(counts.passed < CASES / 4, "{}", counts.summary());
}
