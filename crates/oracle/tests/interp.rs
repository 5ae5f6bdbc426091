//! The interpreter against PyTorch.

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_oracle::{Suite, training::Runs};
use std::path::PathBuf;

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

fn interpret(graph: &Graph, inputs: &[HostTensor]) -> aludel_ir::Result<Vec<HostTensor>> {
    run(graph, &[], inputs, Precision::F32)
}

#[test]
fn operators_and_gradients() {
    let suite = Suite::load(&dir()).unwrap();
    let counts = suite.run(&interpret, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (278, 0), "{}: {:?}", counts.summary(), counts.unsupported);
}

#[test]
fn training_runs() {
    let runs = Runs::load(&dir()).unwrap();
    let counts = runs.run(&interpret, &mut |line| eprintln!("{line}"));
    assert_eq!((counts.passed, counts.failed), (4, 0), "{}", counts.summary());
}

/// A comparison that cannot fail would prove nothing.
#[test]
fn wrong_results_are_noticed() {
    let suite = Suite::load(&dir()).unwrap();
    let off = |graph: &Graph, inputs: &[HostTensor]| {
        let mut out = interpret(graph, inputs)?;
        out.iter_mut().flat_map(|t| t.data.iter_mut()).for_each(|v| *v += 1.0);
        Ok(out)
    };
    let counts = suite.run(&off, &mut |_| {});
    assert!(counts.passed < 5, "{}", counts.summary());
}

#[test]
fn the_command_line_says_what_is_wrong() {
    let run = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|a| a.to_string()).collect();
        aludel_oracle::command::run(&args, &mut |_| {}).unwrap_err().to_string()
    };
    assert!(run(&["--target"]).contains("has no value"));
    assert!(run(&["--speed", "9"]).contains("no such argument"));
    assert!(run(&["--dir", "nowhere"]).contains("nowhere: "));
    let dir = dir();
    assert!(run(&["--target", "abacus", "--dir", dir.to_str().unwrap()]).contains("target abacus"));
}
