//! The scripts of `tests/scripts` and of `examples`, held against what PyTorch printed for them: equal text, numbers within a tolerance.

use aludel_python::Vm;
use aludel_python::host::{FileError, Host, Metadata, Stream};
use aludel_tensor::Device;
use aludel_tensor::distributed::{LocalGroup, Member};
use aludel_torch::Finished;
use aludel_torch::capture::Options;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Sums in another order: PyTorch's own f32 and f64 results differ by as much after some steps of training.
const RELATIVE: f64 = 1e-4;
/// The last digit of a number that was printed with four decimals.
const ABSOLUTE: f64 = 1.01e-4;

/// What a script wrote: its output, and files in memory before those that ship with the scripts.
#[derive(Clone, Default)]
struct Output(Rc<RefCell<String>>, Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

fn shipped(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts").join(path)
}

impl Host for Output {
    fn write(&mut self, stream: Stream, text: &str) {
        if stream == Stream::Out {
            self.0.borrow_mut().push_str(text);
        }
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        let written = self.1.borrow().get(path).cloned();
        written.or_else(|| std::fs::read(shipped(path)).ok()).ok_or(FileError::NotFound)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.1.borrow_mut().insert(path.to_string(), bytes.to_vec());
        Ok(())
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        let start = format!("{}/", path.trim_end_matches('/'));
        let mut names: Vec<String> =
            self.1.borrow().keys().filter_map(|k| Some(k.strip_prefix(&start)?.split('/').next()?.into())).collect();
        names.dedup();
        if names.is_empty() { Err(FileError::NotFound) } else { Ok(names) }
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        let directory = self.list(path).is_ok();
        if !directory && self.read(path).is_err() {
            return Err(FileError::NotFound);
        }
        Ok(Metadata { directory, bytes: 0, modified: 0.0 })
    }
    fn make_dir(&mut self, _: &str) -> Result<(), FileError> {
        Ok(())
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.1.borrow_mut().remove(path).map(|_| ()).ok_or(FileError::NotFound)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        let bytes = self.1.borrow_mut().remove(from).ok_or(FileError::NotFound)?;
        self.store(to, &bytes)
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

/// How a script runs: operator by operator, or recorded and compiled.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Eager,
    Compiled,
}

fn run(name: &str, text: &str) -> String {
    run_with(name, text, &[], Mode::Eager)
}

fn run_with(name: &str, text: &str, arguments: &[&str], mode: Mode) -> String {
    run_on(Device::interpreter(), Member::alone(), name, text, arguments, mode)
}

fn run_on(device: Device, member: Member, name: &str, text: &str, arguments: &[&str], mode: Mode) -> String {
    let output = Output::default();
    let mut vm = Vm::new(Box::new(output.clone()));
    aludel_torch::install(&mut vm, device);
    if member.ranks() > 1 {
        assert!(aludel_torch::join(&mut vm, member).is_ok());
    }
    if mode == Mode::Compiled {
        aludel_torch::capture::compile(&mut vm, Options::default(), false);
    }
    vm.argv = std::iter::once(name).chain(arguments.iter().copied()).map(str::to_string).collect();
    let finished = match vm.load_main(name, text) {
        Ok(()) => pollster::block_on(aludel_torch::run(&mut vm, &mut |_| {})),
        Err(error) => Finished::Error(error),
    };
    let mut out = output.0.borrow().clone();
    if let Finished::Error(error) = finished {
        let trace = vm.format_exception(&error);
        let _ = writeln!(out, "{}", trace.trim_end().lines().last().unwrap_or_default());
    }
    out
}

/// Text and the numbers between its parts.
fn split(line: &str) -> Vec<Result<f64, String>> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let begin = if at > 0 && rest.as_bytes()[at - 1] == b'-' { at - 1 } else { at };
        let tail = &rest[at..];
        let mut end = tail.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tail.len());
        if tail[end..].starts_with("e-") || tail[end..].starts_with("e+") {
            let digits = &tail[end + 2..];
            end += 2 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        }
        let number = tail[..end].trim_end_matches('.');
        parts.push(Err(rest[..begin].to_string()));
        match rest[begin..at + number.len()].parse() {
            Ok(value) => parts.push(Ok(value)),
            Err(_) => parts.push(Err(rest[begin..at + number.len()].to_string())),
        }
        rest = &rest[at + number.len()..];
    }
    parts.push(Err(rest.to_string()));
    parts
}

fn same(have: &str, want: &str) -> bool {
    let (a, b) = (split(have), split(want));
    a.len() == b.len()
        && a.iter().zip(&b).all(|pair| match pair {
            (Ok(x), Ok(y)) => x == y || (x - y).abs() <= ABSOLUTE.max(RELATIVE * y.abs()),
            // A value near zero may print with either sign, which moves nothing else.
            (Err(x), Err(y)) => x.split_whitespace().eq(y.split_whitespace()),
            _ => false,
        })
}

/// The first line that is not PyTorch's, or nothing.
fn difference(name: &str, have: &str, want: &str) -> String {
    let (have, want): (Vec<&str>, Vec<&str>) = (have.lines().collect(), want.lines().collect());
    let wrong = (0..have.len().max(want.len())).find(|i| match (have.get(*i), want.get(*i)) {
        (Some(a), Some(b)) => !same(a, b),
        _ => true,
    });
    let at = |lines: &[&str], i: usize| lines.get(i).copied().unwrap_or("(nothing)").to_string();
    wrong.map_or(String::new(), |i| format!("{name}, line {}:\n  {}\n  {} is PyTorch's\n", i + 1, at(&have, i), at(&want, i)))
}

#[test]
fn the_first_example_of_the_readme_prints_what_pytorch_prints() {
    let readme = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let script = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a script in the README");
    for mode in [Mode::Eager, Mode::Compiled] {
        assert_eq!(difference("README", &run_with("train.py", script, &[], mode), "loss 0.0658\n"), "");
    }
}

#[test]
fn examples_print_what_pytorch_prints() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = std::fs::read_to_string(root.join("tests/scripts/examples.txt")).unwrap();
    let only = std::env::var("SCRIPT").ok();
    let mut failures = String::new();
    let mut listed: Vec<String> = Vec::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, arguments) = words.split_first().unwrap();
        listed.push(format!("{name}.py"));
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let script = std::fs::read_to_string(root.join(format!("examples/{name}.py"))).unwrap();
        let want = std::fs::read_to_string(root.join(format!("tests/scripts/examples/{name}.out"))).unwrap();
        for mode in [Mode::Eager, Mode::Compiled] {
            let have = run_with(&format!("{name}.py"), &script, arguments, mode);
            failures += &difference(&format!("{name}, {mode:?}"), &have, &want);
        }
    }
    let mut there: Vec<String> =
        std::fs::read_dir(root.join("examples")).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    there.retain(|name| name.ends_with(".py"));
    there.sort();
    listed.sort();
    assert_eq!(there, listed, "tests/scripts/examples.txt names every example");
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn scripts_print_what_pytorch_prints() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let only = std::env::var("SCRIPT").ok();
    let mut names: Vec<PathBuf> = std::fs::read_dir(&dir).unwrap().filter_map(|e| Some(e.ok()?.path())).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "out"));
    names.sort();
    assert!(names.len() > 3, "the scripts are missing");
    let mut failures = String::new();
    for path in names {
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        if only.as_ref().is_some_and(|o| *o != name) {
            continue;
        }
        let script = std::fs::read_to_string(path.with_extension("py")).unwrap();
        let want = std::fs::read_to_string(&path).unwrap();
        for mode in [Mode::Eager, Mode::Compiled] {
            failures += &difference(&format!("{name}, {mode:?}"), &run_with(&format!("{name}.py"), &script, &[], mode), &want);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Four ranks, which are threads here, print what PyTorch's four processes do.
#[test]
fn ranks_print_what_pytorch_prints() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts/ranks");
    let only = std::env::var("SCRIPT").ok();
    let mut failures = String::new();
    let mut names: Vec<PathBuf> = std::fs::read_dir(&dir).unwrap().filter_map(|e| Some(e.ok()?.path())).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "py"));
    names.sort();
    assert!(names.len() > 2, "the scripts are missing");
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        if only.as_ref().is_some_and(|o| format!("{o}.py") != name) {
            continue;
        }
        let (script, want) = (std::fs::read_to_string(&path).unwrap(), std::fs::read_to_string(path.with_extension("out")).unwrap());
        for mode in [Mode::Eager, Mode::Compiled] {
            let groups = LocalGroup::create("world", 4, Duration::from_secs(60)).unwrap();
            let outputs: Vec<String> = std::thread::scope(|s| {
                let rank = |group: Arc<LocalGroup>| {
                    let device = Device::interpreter();
                    let member = device.join(group).unwrap();
                    run_on(device, member, &name, &script, &[], mode)
                };
                let ranks: Vec<_> = groups.into_iter().map(|g| s.spawn(move || rank(g))).collect();
                ranks.into_iter().map(|r| r.join().unwrap()).collect()
            });
            let have: String = outputs.iter().enumerate().map(|(r, out)| format!("rank {r}\n{out}")).collect();
            failures += &difference(&format!("{name}, {mode:?}"), &have, &want);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What PyTorch refuses without such a device, and what is not there: never another meaning in silence.
#[test]
fn what_is_not_there_says_so() {
    let cuda = "AssertionError: Torch not compiled with CUDA enabled";
    for (line, want) in [
        ("torch.zeros(2).to('cuda')", cuda),
        ("torch.zeros(2, device=torch.device('cuda', 0))", cuda),
        ("torch.tensor([1.0]).cuda()", cuda),
        ("torch.nn.Linear(2, 2).to(torch.device('cuda'))", cuda),
        ("torch.nn.Sequential(torch.nn.ReLU()).cuda()", cuda),
        ("torch.nn.Conv2d(1, 1, 1, device='cuda')", cuda),
        ("torch.zeros(2).new_zeros(3, device='cuda')", cuda),
        ("torch.cuda.synchronize()", cuda),
        ("torch.zeros(2).to(device='mps')", "RuntimeError: PyTorch is not linked with support for mps devices"),
        ("torch.zeros(2)[:1].resize_(3)", "NotImplementedError: Tensor.resize_ of a view"),
        ("torch.zeros(2, requires_grad=True).resize_(3)", "RuntimeError: cannot resize variables that require grad"),
        ("torch.empty(2, dtype=torch.int64).random_()", "NotImplementedError: random_() of int64"),
        ("torch.tensor([2 ** 31])", "OverflowError: 2147483648 does not fit"),
        ("import torchvision; torchvision.datasets.MNIST('nowhere')", "RuntimeError: Dataset not found"),
        ("import numpy; numpy.einsumm", "NotImplementedError: numpy.einsumm is not there"),
        ("import torchvision; torchvision.models.resnet19()", "NotImplementedError: torchvision.models.resnet19"),
        ("from torch import distributions; distributions.Norml", "NotImplementedError: torch.distributions.Norml"),
        ("import pickle; pickle.loads(b'cos\\nsystem\\n(Vls\\ntR.')", "pickle.UnpicklingError: os.system is not called"),
        ("torch.ones(2, requires_grad=True).unsqueeze_(0)", "RuntimeError: a leaf Variable that requires grad"),
        ("torch.ones(2, 3).t().view(6)", "RuntimeError: view size is not compatible with input tensor's size and stride"),
    ] {
        let have = run("refused.py", &format!("import torch\n{line}\n"));
        assert!(have.starts_with(want), "{line}\n  {have}");
    }
    let ok = "import torch\ndev = 'cuda' if torch.cuda.is_available() else 'cpu'\n\
              print(dev, torch.zeros(2).to(dev).resize_(2), torch.nn.Linear(2, 1).to('cpu').weight.shape)\n";
    assert_eq!(run("accepted.py", ok), "cpu tensor([0., 0.]) torch.Size([1, 2])\n");
    let digits = "from torchvision import datasets, transforms\n\
                  d = datasets.UCIDigits(train=False, transform=transforms.ToTensor())\n\
                  print(len(d), d[0][0].shape, d[0][1], d.data.max())\n";
    assert_eq!(run("digits.py", digits), "359 torch.Size([1, 8, 8]) 4 tensor(255, dtype=torch.uint8)\n");
}

#[test]
fn the_comparison_sees_differences() {
    assert!(same("loss 0.12341 (1)", "loss 0.12342 (1)") && same("tensor([1.00e-05])", "tensor([1.00e-05])"));
    assert!(!same("loss 0.1234", "loss 0.1254") && !same("a 1", "b 1") && !same("[1, 2]", "[1, 2, 3]") && !same("1000.0", "1001.0"));
}
