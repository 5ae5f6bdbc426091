//! Compiled programs on the CPU against PyTorch.

#![cfg(feature = "cpu")]

use aludel_ir::Graph;
use aludel_ir::interp::HostTensor;
use aludel_oracle::{Suite, device, training::Runs};
use aludel_runtime::CpuExecutor;
use std::path::PathBuf;

/// A runner, where there is a C compiler.
fn cpu() -> Option<impl Fn(&Graph, &[HostTensor]) -> aludel_ir::Result<Vec<HostTensor>>> {
    let executor = CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()?;
    Some(move |graph: &Graph, inputs: &[HostTensor]| device::run(&executor, graph, inputs))
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

#[test]
fn operators_and_gradients() {
    let Some(cpu) = cpu() else { return };
    let counts = Suite::load(&dir()).unwrap().run(&cpu, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (278, 0), "{}", counts.summary());
}

#[test]
fn training_runs() {
    let Some(cpu) = cpu() else { return };
    let counts = Runs::load(&dir()).unwrap().run(&cpu, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
}
