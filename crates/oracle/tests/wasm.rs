//! Compiled programs as WebAssembly against PyTorch.

#![cfg(feature = "wasmtime")]

use aludel_ir::Graph;
use aludel_ir::interp::HostTensor;
use aludel_oracle::{Suite, device, training::Runs};
use aludel_runtime::WasmExecutor;
use std::path::PathBuf;

fn wasm() -> impl Fn(&Graph, &[HostTensor]) -> aludel_ir::Result<Vec<HostTensor>> {
    let executor = WasmExecutor::new().unwrap();
    move |graph: &Graph, inputs: &[HostTensor]| device::run(&executor, graph, inputs)
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

#[test]
fn operators_and_gradients() {
    let counts = Suite::load(&dir()).unwrap().run(&wasm(), &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (278, 0), "{}", counts.summary());
}

#[test]
fn training_runs() {
    let counts = Runs::load(&dir()).unwrap().run(&wasm(), &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
}
