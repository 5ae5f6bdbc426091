//! Operators of bf16 and f16 against PyTorch's own results (tests/narrow/generate.py), on every target.

mod common;

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};

const CASES: usize = 495;

common::on_every_target!("narrow", CASES);

/// A comparison that cannot fail would prove nothing: one part in thirty is four units in the last place of bf16.
#[test]
fn wrong_results_are_noticed() {
    let off = |graph: &Graph, inputs: &[HostTensor]| {
        let mut out = run(graph, &[], inputs, Precision::F32)?;
        out.iter_mut().flat_map(|t| t.data.iter_mut()).for_each(|v| *v *= 31.0 / 30.0);
        Ok(out)
    };
    let counts = common::suite("narrow").run(&off, &mut |_| {});
    assert!(counts.passed < CASES / 4, "{}", counts.summary());
}
