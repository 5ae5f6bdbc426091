//! Compiled programs on an NVIDIA GPU against PyTorch.

#![cfg(feature = "cuda")]

use aludel_ir::Graph;
use aludel_ir::interp::HostTensor;
use aludel_oracle::{Suite, device, training::Runs};
use aludel_runtime::{CudaExecutor, cuda};
use std::path::PathBuf;

fn gpu() -> Option<CudaExecutor> {
    if cuda::devices().is_empty() {
        eprintln!("SKIPPED: no NVIDIA GPU; docs/gpu-checks.md says how to run this on one");
        return None;
    }
    Some(CudaExecutor::new(&Default::default()).unwrap())
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

#[test]
fn operators_and_gradients() {
    let Some(gpu) = gpu() else { return };
    let runner = |graph: &Graph, inputs: &[HostTensor]| device::run(&gpu, graph, inputs);
    let counts = Suite::load(&dir()).unwrap().run(&runner, &mut |line| eprintln!("{line}"));
    assert_eq!(counts.failed, 0, "{}", counts.summary());
    assert!(counts.passed > 250, "{}", counts.summary());
}

#[test]
fn training_runs() {
    let Some(gpu) = gpu() else { return };
    let runner = |graph: &Graph, inputs: &[HostTensor]| device::run(&gpu, graph, inputs);
    let counts = Runs::load(&dir()).unwrap().run(&runner, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
}
