//! Operators of indexing, searching, sampling, distances, margins and the like against PyTorch, on every target;
//! `tests/opinfo/new/generate.py` made the cases.

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_oracle::{Runner, Suite};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `few`: two samples of PyTorch's tests and two of the others for each operator. Targets that compile take a second for several cases.
fn check(runner: Runner, few: bool) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/opinfo/new");
    let mut suite = Suite::load(&dir).unwrap();
    if few {
        let mut seen = BTreeMap::new();
        suite.cases.retain(|c| {
            let n = seen.entry((c.op.clone(), c.name.contains("/own"))).or_insert(0);
            *n += usize::from(c.error.is_none());
            c.error.is_none() && *n <= 2
        });
    }
    assert!(suite.cases.len() > 150);
    let counts = suite.run(runner, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (suite.cases.len(), 0), "{}", counts.summary());
}

#[test]
fn interpreted() {
    check(&|graph: &Graph, inputs: &[HostTensor]| run(graph, &[], inputs, Precision::F32), false);
}

#[cfg(feature = "cpu")]
#[test]
fn c() {
    let Ok(executor) = aludel_runtime::CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    check(&|graph, inputs| aludel_oracle::device::run(&executor, graph, inputs), true);
}

#[cfg(feature = "wgpu")]
#[test]
fn wgsl() {
    use aludel_runtime::{WgpuExecutor, WgpuOptions};
    let Ok(executor) = pollster::block_on(WgpuExecutor::request(&WgpuOptions::default())).inspect_err(|e| eprintln!("SKIPPED: {e}")) else {
        return;
    };
    check(&|graph, inputs| aludel_oracle::device::run(&executor, graph, inputs), true);
}
