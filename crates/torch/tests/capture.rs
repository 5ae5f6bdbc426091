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

const LOOP: &str = "
import torch, math
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
";

/// So many runs at the end of a script may be of graphs that are new.
const LAST: u64 = 4;

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

/// Each loop of `tests/loops` prints the same compiled as operator by operator, and compiles nothing once it is under way: no graph is new
/// in the second half of the runs, but in the last ones, which are the step whose gradients stay and what follows the loop.
#[test]
fn loops_compile_nothing_once_they_are_under_way() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops");
    let only = std::env::var("LOOP").ok();
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    assert!(paths.len() >= 40, "the loops are missing");
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
        let total = compiled.counts.run;
        if compiled.regions.iter().any(|r| r.first > total / 2 && r.first + LAST <= total) {
            failures += &format!("{name}: {} graphs in {total} runs\n", compiled.counts.compiled);
            for r in &compiled.regions {
                let state = r.graph.inputs.iter().filter(|i| i.kind == aludel_ir::InputKind::State).count();
                let updates = r.graph.outputs.iter().filter(|o| o.updates.is_some()).count();
                let (nodes, inputs, outputs) = (r.graph.nodes.len(), r.graph.inputs.len(), r.graph.outputs.len());
                let (first, runs) = (r.first, r.runs);
                failures += &format!(
                    "  from run {first}, {runs} times: {nodes} nodes, {inputs} inputs, {state} state, {outputs} results, {updates} in place\n"
                );
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What PyTorch's documentation says of `torch.compile` and `torch.compiler`, in both modes.
#[test]
fn compiled_functions_are_what_pytorch_says() {
    let script = "
import torch
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5))
compiled = torch.compile(model, mode='reduce-overhead')
print(type(compiled).__name__, isinstance(compiled, nn.Module), list(compiled.state_dict()), compiled[0].weight.shape)
compiled.eval()
print(model.training, compiled.training, torch.equal(compiled(torch.ones(1, 2)), model(torch.ones(1, 2))))
compiled.note = 5
print(model.note, torch.compile(compiled) is compiled, compiled._orig_mod is model)

@torch.compile(fullgraph=True, dynamic=False)
def whole(x, read):
    return x.sum().item() if read else x * 2 + float(torch.compiler.is_compiling())
print(whole(torch.ones(2), False), whole.__name__, torch.compiler.is_compiling())
try:
    whole(torch.ones(2), True)
except RuntimeError as error:
    print(type(error).__name__, str(error).splitlines()[0])
print(torch.ones(2).sum().item())

@torch.compiler.disable
def outside(x):
    return torch.compiler.is_compiling()
print(torch.compile(outside)(1), torch.compile(outside, disable=True) is outside)
for arguments in [dict(mode='default', options={}), dict(mode='fast'), dict(backend='slow')]:
    try:
        torch.compile(model, **arguments)
    except RuntimeError as error:
        print(type(error).__name__, error)
torch.compiler.reset()
torch.compiler.cudagraph_mark_step_begin()
torch._dynamo.config.suppress_errors = True
print(torch.compiler.allow_in_graph(outside) is outside, 'inductor' in torch.compiler.list_backends())
";
    let expected = "OptimizedModule True ['_orig_mod.0.weight', '_orig_mod.0.bias'] torch.Size([3, 2])
False False True
5 True True
tensor([3., 3.]) whole False
Unsupported Data-dependent operation
2.0
False True
RuntimeError Either mode or options can be specified, but both can't be specified at the same time.
RuntimeError Unrecognized mode=fast, should be one of: default, reduce-overhead, max-autotune-no-cudagraphs, max-autotune
InvalidBackend Invalid backend: 'slow', see `torch._dynamo.list_backends()` for available backends.
True True
";
    for compiled in [false, true] {
        assert_eq!(run(script, compiled).text, expected);
    }
}

/// A batch of samples, stacked: each is written by a branch of one launch, and no compiler of WGSL takes more than 127 of them inside one
/// another.
#[test]
fn many_pieces_are_no_deep_nesting() {
    let captured =
        run("import torch\nx = torch.randn(300, 4)\ny = torch.stack([x[i] * (i + 1.0) for i in range(300)])\nprint(y.sum())", true);
    let region = captured.regions.iter().max_by_key(|r| r.graph.nodes.len()).unwrap();
    let program = aludel_compiler::compile(&region.graph, &Target::webgpu_default(), &Options::default()).unwrap();
    for kernel in &program.kernels {
        let (mut depth, mut deepest) = (0, 0);
        for c in kernel.source.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            deepest = deepest.max(depth);
        }
        assert!(deepest < 40, "nested {deepest} deep");
    }
}
