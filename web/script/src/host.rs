//! What a script in the page has around it: files in memory, output that is collected for the page, the lane's clock.

use crate::clock::Clock;
use aludel_python::host::{FileError, Host, Memory, Metadata, Stream};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most output of a run, in bytes.
const OUTPUT: usize = 4 << 20;
/// The most that files may hold, in bytes.
const FILES: usize = 256 << 20;

/// The most that a figure may have, in bytes, and figures that the page is told of at once.
const FIGURE: usize = 8 << 20;
const FIGURES: usize = 64;
/// Logged numbers that the page is told of at once.
const LOGGED: usize = 4096;

/// Something to be looked at.
pub struct Figure {
    pub name: String,
    pub media: String,
    pub bytes: Vec<u8>,
}

/// What a script made since the page was told last.
#[derive(Default)]
pub struct Made {
    /// Output in its order; texts of one stream that follow one another are one.
    pub output: Vec<(Stream, String)>,
    /// Paths that were written.
    pub files: Vec<String>,
    pub figures: Vec<Figure>,
    /// Names, steps and values.
    pub logged: Vec<(String, Option<f64>, f64)>,
    /// Lines of output so far, of a single step.
    pub lines: usize,
    /// Whether anybody is to see what is made now.
    pub is_shown: bool,
    /// Bytes of output so far.
    written: usize,
}

impl Made {
    pub fn write(&mut self, stream: Stream, text: &str) {
        self.lines += text.bytes().filter(|b| *b == b'\n').count();
        if self.written > OUTPUT || !self.is_shown {
            return;
        }
        self.written += text.len();
        let (stream, text) = match self.written > OUTPUT {
            true => (Stream::Err, "\n… the script goes on, but writes more than the page keeps\n"),
            false => (stream, text),
        };
        match self.output.last_mut() {
            Some((last, kept)) if *last == stream => kept.push_str(text),
            _ => self.output.push((stream, text.to_string())),
        }
    }
}

/// The surroundings of one lane.
pub struct PageHost {
    memory: Memory,
    made: Rc<RefCell<Made>>,
    clock: Rc<Clock>,
}

impl PageHost {
    pub fn new(files: BTreeMap<String, Vec<u8>>, made: Rc<RefCell<Made>>, clock: Rc<Clock>) -> PageHost {
        let mut memory = Memory::default();
        memory.files = files;
        PageHost { memory, made, clock }
    }

    fn held(&self) -> usize {
        self.memory.files.values().map(Vec::len).sum()
    }
}

impl Host for PageHost {
    fn write(&mut self, stream: Stream, text: &str) {
        self.made.borrow_mut().write(stream, text);
    }
    fn asks(&self) -> bool {
        true
    }
    /// A progress bar is written anew in its line.
    fn is_terminal(&self, stream: Stream) -> bool {
        stream == Stream::Err
    }
    fn display(&mut self, name: &str, media: &str, bytes: &[u8]) -> bool {
        let made = &mut *self.made.borrow_mut();
        let figures = &mut made.figures;
        figures.retain(|f| f.name != name);
        if made.is_shown && bytes.len() <= FIGURE && figures.len() < FIGURES {
            figures.push(Figure { name: name.to_string(), media: media.to_string(), bytes: bytes.to_vec() });
        }
        true
    }
    fn logs(&self) -> bool {
        true
    }
    fn log(&mut self, name: &str, step: Option<f64>, value: f64) {
        let made = &mut *self.made.borrow_mut();
        let logged = &mut made.logged;
        if made.is_shown && logged.len() < LOGGED {
            logged.push((name.to_string(), step, value));
        }
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        self.memory.read(path)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        if self.held() + bytes.len() > FILES {
            return Err(FileError::Other);
        }
        self.memory.store(path, bytes)?;
        let files = &mut self.made.borrow_mut().files;
        if !files.iter().any(|f| f == path) {
            files.push(path.to_string());
        }
        Ok(())
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        self.memory.list(path)
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        self.memory.metadata(path)
    }
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.memory.make_dir(path)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.memory.remove(path)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.memory.rename(from, to)
    }
    fn now(&mut self) -> f64 {
        js_sys::Date::now() / 1e3
    }
    fn monotonic(&mut self) -> f64 {
        self.clock.elapsed() / 1e3
    }
    fn utc_offset(&mut self) -> i64 {
        -(js_sys::Date::new_0().get_timezone_offset() * 60.0) as i64
    }
    /// Nobody waits: the script's clock goes on by itself.
    fn sleep(&mut self, seconds: f64) {
        self.clock.skip(seconds.clamp(0.0, 1e6) * 1e3);
    }
    fn entropy(&mut self) -> u64 {
        let half = || (js_sys::Math::random() * 4_294_967_296.0) as u64;
        (half() << 32) | half()
    }
}
