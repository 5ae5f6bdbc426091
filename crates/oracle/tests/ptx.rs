//! Compiled programs on an NVIDIA GPU against PyTorch.

#![cfg(feature = "cuda")]

use aludel_ir::Graph;
use aludel_ir::interp::HostTensor;
use aludel_oracle::{Suite, device, training::Runs};
use aludel_runtime::{CudaExecutor, cuda};
use std::path::PathBuf;

fn is_absent() -> bool {
    let absent = cuda::devices().is_empty();
    if absent {
        eprintln!("SKIPPED: no NVIDIA GPU; docs/gpu-checks.md says how to run this on one");
    }
    absent
}

fn gpu() -> impl Fn(&Graph, &[HostTensor]) -> aludel_ir::Result<Vec<HostTensor>> {
    device::reopening(|| CudaExecutor::new(&Default::default())).unwrap()
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

#[test]
fn operators_and_gradients() {
    if is_absent() {
        return;
    }
    let counts = Suite::load(&dir()).unwrap().run(&gpu(), &mut |line| eprintln!("{line}"));
    assert_eq!(counts.failed, 0, "{}", counts.summary());
    assert!(counts.passed > 250, "{}", counts.summary());
}

#[test]
fn training_runs() {
    if is_absent() {
        return;
    }
    let counts = Runs::load(&dir()).unwrap().run(&gpu(), &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
}
