//! Programs of `tests/programs` print what CPython 3.12 printed: `NAME.out` is standard output, then, if the program fails, its traceback.
//! `known.txt` names those that still differ. A name that is missing from it fails, and so does one that need not be there.
//! `PROGRAM=part` runs those whose names contain it and shows where they differ.

use aludel_python::host::{FileError, Host, Memory, Metadata, Stream};
use aludel_python::objects::Kind;
use aludel_python::{Outcome, Vm};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// A memory host whose output can be read from outside.
struct Shared(Rc<RefCell<Memory>>);

impl Host for Shared {
    fn write(&mut self, stream: Stream, text: &str) {
        self.0.borrow_mut().write(stream, text);
    }
    fn read_line(&mut self) -> String {
        self.0.borrow_mut().read_line()
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        self.0.borrow_mut().read(path)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.0.borrow_mut().store(path, bytes)
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        self.0.borrow_mut().list(path)
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        self.0.borrow_mut().metadata(path)
    }
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.0.borrow_mut().make_dir(path)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.0.borrow_mut().remove(path)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.0.borrow_mut().rename(from, to)
    }
    fn now(&mut self) -> f64 {
        // Some day in 2024.
        1.71e9 + self.0.borrow_mut().now()
    }
    fn monotonic(&mut self) -> f64 {
        self.0.borrow_mut().monotonic()
    }
    fn entropy(&mut self) -> u64 {
        self.0.borrow_mut().entropy()
    }
    fn environment(&mut self) -> Vec<(String, String)> {
        [("HOME", "/home/user"), ("COLUMNS", "80")].map(|(name, value)| (name.to_string(), value.to_string())).to_vec()
    }
}

fn output(name: &str, text: &str) -> String {
    let memory = Rc::new(RefCell::new(Memory::default()));
    memory.borrow_mut().files.insert(format!("/{name}"), text.as_bytes().to_vec());
    let mut vm = Vm::new(Box::new(Shared(memory.clone())));
    let arguments = text.lines().next().and_then(|line| line.strip_prefix("# argv:")).unwrap_or_default();
    vm.argv = std::iter::once(name).chain(arguments.split_whitespace()).map(str::to_string).collect();
    let error = match vm.load_main(name, text) {
        Err(error) => Some(error),
        Ok(()) => match vm.run(20_000_000) {
            Outcome::Done(_) => None,
            Outcome::Error(error) => Some(error),
            Outcome::OutOfFuel | Outcome::Await(_) => {
                memory.borrow_mut().out.push_str("<still running>\n");
                None
            }
        },
    };
    if let Some(error) = error {
        if vm.is_exception(&error, Kind::SystemExit) {
            vm.exit_status(&error);
        } else {
            let text = vm.format_exception(&error);
            vm.write(Stream::Err, &text);
        }
    }
    let memory = memory.borrow();
    format!("{}{}", memory.out, memory.err)
}

/// Every program by `folder/name`, in order.
fn programs(folder: &Path) -> Vec<String> {
    let entries = |at: &Path| std::fs::read_dir(at).expect("the corpus is there").map(|e| e.expect("an entry").path()).collect::<Vec<_>>();
    let mut names: Vec<String> = entries(folder)
        .into_iter()
        .filter(|p| p.is_dir())
        .flat_map(|p| entries(&p))
        .filter(|p| p.extension().is_some_and(|e| e == "py") && p.with_extension("out").exists())
        .filter_map(|p| Some(p.with_extension("").strip_prefix(folder).ok()?.to_str()?.to_string()))
        .collect();
    names.sort();
    names
}

/// Where a program's output is not CPython's.
fn difference(folder: &Path, name: &str) -> Option<String> {
    let read = |extension: &str| std::fs::read_to_string(folder.join(format!("{name}.{extension}"))).expect("a file of the corpus");
    let (text, expected) = (read("py"), read("out"));
    let file = name.rsplit('/').next().unwrap_or(name);
    let actual = output(&format!("{file}.py"), &text);
    if actual == expected {
        return None;
    }
    let same = actual.lines().zip(expected.lines()).position(|(a, b)| a != b);
    let line = same.unwrap_or(actual.lines().count().min(expected.lines().count()));
    let show = |text: &str| text.lines().nth(line).unwrap_or("<end>").to_string();
    Some(format!("{name}: line {}\n  here:    {}\n  CPython: {}", line + 1, show(&actual), show(&expected)))
}

#[test]
fn programs_print_what_cpython_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let known = std::fs::read_to_string(folder.join("known.txt")).expect("the list of programs that differ");
    let mut known: Vec<&str> = known.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let only = std::env::var("PROGRAM").ok();
    let mut failures = Vec::new();
    for name in programs(&folder).iter().filter(|n| only.as_ref().is_none_or(|o| n.contains(o.as_str()))) {
        let listed = known.iter().position(|k| k == name).map(|i| known.remove(i)).is_some();
        match difference(&folder, name) {
            Some(reason) if !listed || only.is_some() => failures.push(reason),
            None if listed => failures.push(format!("{name} prints what CPython prints: take it off known.txt")),
            _ => {}
        }
    }
    if only.is_none() {
        failures.extend(known.iter().map(|k| format!("{k} is on known.txt and no program")));
    }
    assert!(failures.is_empty(), "{} programs:\n{}", failures.len(), failures.join("\n"));
}
