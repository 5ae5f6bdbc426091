//! How scripts are captured: which graphs their loops become, how many launches these are, and when something is compiled anew.

use aludel_compiler::{Options, Target};
use aludel_python::Vm;
use aludel_python::host::{FileError, Host, Metadata, Stream};
use aludel_tensor::Device;
use aludel_tensor::record::{Counts, Region};
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

/// What a script printed, and how it was captured.
struct Captured {
    text: String,
    counts: Counts,
    regions: Vec<Region>,
}

fn run(script: &str, compiled: bool) -> Captured {
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
    Captured { text, counts: capture::counts(&mut vm), regions: capture::regions(&mut vm) }
}

/// Launches of the region that ran most often, as WebGPU's least device runs it.
fn launches(captured: &Captured) -> usize {
    let region = captured.regions.iter().max_by_key(|r| r.runs).unwrap();
    let program = aludel_compiler::compile(&region.graph, &Target::webgpu_default(), &Options::default()).unwrap();
    program.launches.len()
}

const MLP: &str = "
import torch
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
loss_fn = nn.CrossEntropyLoss()
";

/// The same steps as the Rust preset's take: `crates/compiler/tests/counts.rs`.
#[test]
fn a_step_of_an_mlp_takes_the_launches_of_the_preset() {
    for (optimizer, count) in [("SGD(model.parameters(), lr=0.1)", 7), ("AdamW(model.parameters(), lr=0.001)", 7)] {
        let script = format!(
            "{MLP}
opt = torch.optim.{optimizer}
for step in range(8):
    loss = loss_fn(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"
        );
        let captured = run(&script, true);
        assert_eq!(captured.counts.compiled, 2, "{optimizer}: the steps, and the last one, whose gradients are held");
        assert_eq!(launches(&captured), count, "{optimizer}");
    }
}
