//! PyTorch's own test samples (`tests/opinfo`) on the interpreter.

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_oracle::Suite;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/opinfo")
}

const DIRECTORIES: &[&str] = &["main", "edge", "ext", "modules", "modules_edge", "optim", "repro", "errors", "errors2", "repro_errors"];

/// The cases that may fail, by `known.txt`.
struct Known(Vec<String>);

impl Known {
    fn load() -> Known {
        let text = std::fs::read_to_string(root().join("known.txt")).unwrap();
        let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
        Known(lines.filter_map(|l| l.split_whitespace().next()).map(str::to_string).collect())
    }

    fn has(&self, case: &str) -> bool {
        self.0.iter().any(|k| k.strip_suffix('*').map_or(case == k, |start| case.starts_with(start)))
    }
}

/// All but those pass.
#[test]
fn interpreter() {
    let known = Known::load();
    let mut wrong = Vec::new();
    for directory in DIRECTORIES {
        let mut suite = Suite::load(&root().join(directory)).unwrap();
        let all = suite.cases.len();
        suite.cases.retain(|c| !known.has(&format!("{directory}/{}", c.name)));
        let ran = suite.cases.len();
        let runner = |graph: &Graph, inputs: &[HostTensor]| run(graph, &[], inputs, Precision::F32);
        let counts = suite.run(&runner, &mut |line| eprintln!("{directory}: {line}"));
        assert!(all > 20 && ran * 2 > all && counts.passed + counts.failed == ran, "{directory}: {all} cases: {}", counts.summary());
        if counts.failed > 0 {
            wrong.push(format!("{directory}: {}", counts.summary()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
