//! Loops whose turns are done without running Python: they print what they print when they run, and most do so in every steady step.

use aludel_compiler::Options;
use aludel_python::Vm;
use aludel_python::host::{FileError, Host, Metadata, Stream};
use aludel_tensor::Device;
use aludel_torch::{Finished, capture};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Default)]
struct Output(Rc<RefCell<String>>);

impl Host for Output {
    fn write(&mut self, stream: Stream, text: &str) {
        if stream == Stream::Out {
            self.0.borrow_mut().push_str(text);
        }
    }
    fn read(&mut self, _: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::NotFound)
    }
    fn store(&mut self, _: &str, _: &[u8]) -> Result<(), FileError> {
        Err(FileError::Permission)
    }
    fn list(&mut self, _: &str) -> Result<Vec<String>, FileError> {
        Err(FileError::NotFound)
    }
    fn metadata(&mut self, _: &str) -> Result<Metadata, FileError> {
        Err(FileError::NotFound)
    }
    fn make_dir(&mut self, _: &str) -> Result<(), FileError> {
        Err(FileError::Permission)
    }
    fn remove(&mut self, _: &str) -> Result<(), FileError> {
        Err(FileError::NotFound)
    }
    fn rename(&mut self, _: &str, _: &str) -> Result<(), FileError> {
        Err(FileError::NotFound)
    }
    fn now(&mut self) -> f64 {
        0.0
    }
    fn monotonic(&mut self) -> f64 {
        0.0
    }
    fn entropy(&mut self) -> u64 {
        7
    }
}

struct Ran {
    text: String,
    turns: usize,
    repeated: u64,
    why: String,
    graphs: u64,
}

fn run(script: &str, compiled: bool) -> Ran {
    let output = Output::default();
    let mut vm = Vm::new(Box::new(output.clone()));
    aludel_torch::install(&mut vm, Device::interpreter());
    if compiled {
        capture::compile(&mut vm, Options::default(), true);
    }
    let finished = match vm.load_main("script.py", script) {
        Ok(()) => pollster::block_on(aludel_torch::run(&mut vm, &mut |_| {})),
        Err(error) => Finished::Error(error),
    };
    if let Finished::Error(error) = finished {
        panic!("{}\n{script}", vm.format_exception(&error));
    }
    capture::finish(&mut vm).unwrap();
    let text = output.0.borrow().clone();
    let (repeated, loops) = capture::repeated(&mut vm);
    let why = loops.iter().filter_map(|l| Some(format!("line {}: {}", l.line, l.refused.as_ref()?))).collect::<Vec<_>>().join("; ");
    Ran { text, turns: capture::turns(&mut vm).len(), repeated, why, graphs: capture::counts(&mut vm).compiled }
}

const LOOP: &str = "
import torch, math
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
";

/// Sums in another order move the last of four decimals.
fn same(a: &str, b: &str) -> bool {
    let words = |t: &str| t.split(|c: char| c.is_whitespace() || "[]',".contains(c)).map(str::to_string).collect::<Vec<_>>();
    let (a, b) = (words(a), words(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => (x - y).abs() <= 2.1e-4 * y.abs().max(1.0),
            _ => a == b,
        })
}

#[test]
fn loops_are_repeated() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops");
    let only = std::env::var("LOOP").ok();
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let mut failures = String::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        if only.as_ref().is_some_and(|o| *o != name) {
            continue;
        }
        let body = std::fs::read_to_string(&path).unwrap();
        let script = format!("{LOOP}N = 24\n{body}");
        let (eager, compiled) = (run(&script, false), run(&script, true));
        if !same(&compiled.text, &eager.text) {
            failures += &format!("{name}: compiled\n{}eager\n{}", compiled.text, eager.text);
        }
        println!("{name:28} {:3} of {:3} turns, {} graphs  {}", compiled.repeated, compiled.turns, compiled.graphs, compiled.why);
    }
    assert!(failures.is_empty(), "\n{failures}");
}
