//! Compiled programs on every adapter of the machine against PyTorch.

#![cfg(feature = "wgpu")]

use aludel_ir::Graph;
use aludel_ir::interp::HostTensor;
use aludel_oracle::{Suite, device, training::Runs};
use aludel_runtime::{WgpuExecutor, WgpuOptions};
use std::path::PathBuf;

fn adapters() -> Vec<WgpuExecutor> {
    let mut names = pollster::block_on(WgpuExecutor::available(&WgpuOptions::default()));
    names.dedup();
    if names.is_empty() {
        eprintln!("SKIPPED: no Vulkan, Metal or DirectX 12 adapter; install mesa-vulkan-drivers to run this in software");
    }
    let request = |name| pollster::block_on(WgpuExecutor::request(&WgpuOptions { adapter: Some(name), ..Default::default() })).unwrap();
    names.into_iter().map(request).collect()
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

#[test]
fn operators_and_gradients() {
    let suite = Suite::load(&dir()).unwrap();
    for adapter in adapters() {
        let runner = |graph: &Graph, inputs: &[HostTensor]| device::run(&adapter, graph, inputs);
        let counts = suite.run(&runner, &mut |line| eprintln!("{line}"));
        assert_eq!((counts.passed, counts.failed), (278, 0), "{}", counts.summary());
    }
}

#[test]
fn training_runs() {
    let runs = Runs::load(&dir()).unwrap();
    for adapter in adapters() {
        let runner = |graph: &Graph, inputs: &[HostTensor]| device::run(&adapter, graph, inputs);
        let counts = runs.run(&runner, &mut |line| eprintln!("{line}"));
        assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
    }
}
