//! Surroundings for scripts that run for somebody else, in a page or on a server: files in memory, and everything that a script makes kept,
//! within bounds, until it is told.

use super::{FileError, Host, Memory, Metadata, Stream};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most output of a run, in bytes.
const OUTPUT: usize = 4 << 20;
/// The most that files may hold, in bytes.
const FILES: usize = 256 << 20;
/// What a file takes beside its bytes: a script may make many empty ones.
const FILE: usize = 1 << 10;
/// The most that a figure may have, in bytes, and figures that are told of at once.
const FIGURE: usize = 8 << 20;
const FIGURES: usize = 64;
/// Logged numbers that are told of at once.
const LOGGED: usize = 4096;

/// Something to be looked at.
pub struct Figure {
    pub name: String,
    pub media: String,
    pub bytes: Vec<u8>,
}

/// What a script made since it was told last.
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
        self.written = self.written.saturating_add(text.len());
        let (stream, text) = match self.written > OUTPUT {
            true => (Stream::Err, "\n… the script goes on, but writes more than is kept\n"),
            false => (stream, text),
        };
        match self.output.last_mut() {
            Some((last, kept)) if *last == stream => kept.push_str(text),
            _ => self.output.push((stream, text.to_string())),
        }
    }

    fn display(&mut self, name: &str, media: &str, bytes: &[u8]) {
        self.figures.retain(|f| f.name != name);
        if self.is_shown && bytes.len() <= FIGURE && self.figures.len() < FIGURES {
            self.figures.push(Figure { name: name.to_string(), media: media.to_string(), bytes: bytes.to_vec() });
        }
    }
}

/// The time that a script has.
pub trait Time {
    /// Seconds since 1970.
    fn now(&self) -> f64;
    /// Seconds of the script's own clock.
    fn elapsed(&self) -> f64;
    /// Lets seconds pass that nobody waits for.
    fn skip(&self, seconds: f64);
    /// How many seconds the local time is ahead of UTC.
    fn utc_offset(&self) -> i64 {
        0
    }
    /// A random number.
    fn entropy(&mut self) -> u64;
}

/// Such surroundings.
pub struct Kept<T> {
    memory: Memory,
    made: Rc<RefCell<Made>>,
    time: T,
}

impl<T: Time> Kept<T> {
    pub fn new(files: BTreeMap<String, Vec<u8>>, made: Rc<RefCell<Made>>, time: T) -> Kept<T> {
        Kept { memory: Memory { files, ..Memory::default() }, made, time }
    }

    /// Whether so many bytes more find room.
    fn has_room(&self, bytes: usize) -> bool {
        let Memory { files, dirs, .. } = &self.memory;
        let held = files.iter().map(|(path, bytes)| path.len() + bytes.len() + FILE).chain(dirs.iter().map(|d| d.len() + FILE));
        held.sum::<usize>().saturating_add(bytes) <= FILES
    }
}

impl<T: Time> Host for Kept<T> {
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
        self.made.borrow_mut().display(name, media, bytes);
        true
    }
    fn logs(&self) -> bool {
        true
    }
    fn log(&mut self, name: &str, step: Option<f64>, value: f64) {
        let made = &mut *self.made.borrow_mut();
        if made.is_shown && made.logged.len() < LOGGED {
            made.logged.push((name.to_string(), step, value));
        }
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        self.memory.read(path)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        if !self.has_room(path.len() + bytes.len() + FILE) {
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
        if !self.has_room(path.len() + FILE) {
            return Err(FileError::Other);
        }
        self.memory.make_dir(path)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.memory.remove(path)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.memory.rename(from, to)
    }
    fn now(&mut self) -> f64 {
        self.time.now()
    }
    fn monotonic(&mut self) -> f64 {
        self.time.elapsed()
    }
    fn utc_offset(&mut self) -> i64 {
        self.time.utc_offset()
    }
    /// Nobody waits: the script's clock goes on by itself.
    fn sleep(&mut self, seconds: f64) {
        self.time.skip(seconds.clamp(0.0, 1e6));
    }
    fn entropy(&mut self) -> u64 {
        self.time.entropy()
    }
}
