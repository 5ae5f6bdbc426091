//! One suite on every target.

use aludel_oracle::{Runner, Suite};
use std::path::PathBuf;

/// The suite in a folder of `tests`.
pub fn suite(folder: &str) -> Suite {
    Suite::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder)).unwrap()
}

/// All `cases` of a suite pass.
pub fn check(folder: &str, cases: usize, runner: Runner) {
    let counts = suite(folder).run(runner, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (cases, 0), "{}: {:?}", counts.summary(), counts.unsupported);
}

/// A test for each target; those that are not on this machine are skipped, and say so.
macro_rules! on_every_target {
    ($folder:literal, $cases:expr) => {
        #[test]
        fn interpreter() {
            common::check($folder, $cases, &|graph: &Graph, inputs: &[HostTensor]| run(graph, &[], inputs, Precision::F32));
        }

        #[cfg(feature = "cpu")]
        #[test]
        fn cpu() {
            let Ok(executor) = aludel_runtime::CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
            common::check($folder, $cases, &|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
        }

        #[cfg(feature = "wasmtime")]
        #[test]
        fn wasm() {
            let executor = aludel_runtime::WasmExecutor::new().unwrap();
            common::check($folder, $cases, &|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
        }

        #[cfg(feature = "cuda")]
        #[test]
        fn cuda() {
            let executor = aludel_runtime::CudaExecutor::new(&Default::default());
            let Ok(executor) = executor.inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
            common::check($folder, $cases, &|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
        }

        #[cfg(feature = "wgpu")]
        #[test]
        fn webgpu() {
            let options = Default::default();
            let request = aludel_runtime::WgpuExecutor::request(&options);
            let Ok(executor) = pollster::block_on(request).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")) else { return };
            common::check($folder, $cases, &|graph: &Graph, inputs: &[HostTensor]| aludel_oracle::device::run(&executor, graph, inputs));
        }
    };
}
pub(crate) use on_every_target;
