//! The process's surroundings for a script, with what it prints kept: to compare two runs.

use aludel_python::host::{FileError, Host, Metadata, Stream, System};
use std::cell::RefCell;
use std::rc::Rc;

/// So many lines that differ are shown.
const SHOWN: usize = 5;

pub struct Tee {
    system: System,
    shows: bool,
    kept: Option<Rc<RefCell<String>>>,
}

impl Tee {
    /// Prints and keeps nothing.
    pub fn shown(system: System) -> Tee {
        Tee { system, shows: true, kept: None }
    }

    /// Keeps standard output, and prints it where it is to be shown.
    pub fn kept(system: System, shows: bool) -> (Tee, Rc<RefCell<String>>) {
        let kept = Rc::new(RefCell::new(String::new()));
        (Tee { system, shows, kept: Some(kept.clone()) }, kept)
    }
}

impl Host for Tee {
    fn write(&mut self, stream: Stream, text: &str) {
        if let (Some(kept), Stream::Out) = (&self.kept, stream) {
            kept.borrow_mut().push_str(text);
        }
        if self.shows || stream == Stream::Err {
            self.system.write(stream, text);
        }
    }
    fn flush(&mut self) {
        self.system.flush();
    }
    fn read_line(&mut self) -> String {
        self.system.read_line()
    }
    fn is_terminal(&self, stream: Stream) -> bool {
        (self.shows || stream == Stream::Err) && self.system.is_terminal(stream)
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        self.system.read(path)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.system.store(path, bytes)
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        self.system.list(path)
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        self.system.metadata(path)
    }
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.system.make_dir(path)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.system.remove(path)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.system.rename(from, to)
    }
    fn current_dir(&mut self) -> String {
        self.system.current_dir()
    }
    fn now(&mut self) -> f64 {
        self.system.now()
    }
    fn monotonic(&mut self) -> f64 {
        self.system.monotonic()
    }
    fn utc_offset(&mut self) -> i64 {
        self.system.utc_offset()
    }
    fn sleep(&mut self, seconds: f64) {
        self.system.sleep(seconds);
    }
    fn interrupted(&mut self) -> bool {
        self.system.interrupted()
    }
    fn entropy(&mut self) -> u64 {
        self.system.entropy()
    }
    fn environment(&mut self) -> Vec<(String, String)> {
        self.system.environment()
    }
}

/// What two runs printed, compared line by line.
pub fn comparison(eager: &str, compiled: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (eager.lines().collect(), compiled.lines().collect());
    let count = a.len().max(b.len());
    let differ: Vec<usize> = (0..count).filter(|i| a.get(*i) != b.get(*i)).collect();
    if differ.is_empty() {
        return format!("\nCompiled, the script printed the same {count} lines.");
    }
    let mut out = format!("\nCompiled, {} of {count} lines differ:", differ.len());
    for i in differ.iter().take(SHOWN) {
        let line = |list: &[&str]| list.get(*i).copied().unwrap_or("(nothing)").to_string();
        out.push_str(&format!("\n  line {}: {}\n  compiled: {}", i + 1, line(&a), line(&b)));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_that_differ_are_shown() {
        assert!(super::comparison("a\nb\n", "a\nb\n").contains("same 2 lines"));
        let text = super::comparison("a\nb\n", "a\nc\nd\n");
        assert!(text.contains("2 of 3 lines") && text.contains("line 2: b\n  compiled: c") && text.contains("line 3: (nothing)"), "{text}");
    }
}
