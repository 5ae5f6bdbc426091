//! What the machine asks of its surroundings: output, files, clocks, randomness. It does no I/O of its own.

use std::sync::atomic::{AtomicBool, Ordering};

pub mod kept;
#[cfg(not(target_arch = "wasm32"))]
mod system;

#[cfg(not(target_arch = "wasm32"))]
pub use system::System;

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    Out,
    Err,
}

/// What a run waits for where its host [asks](Host::asks): a line of input, as a string without its newline.
#[derive(Debug)]
pub struct Asked;

/// Why a file operation failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileError {
    NotFound,
    Exists,
    IsDirectory,
    NotDirectory,
    Permission,
    NotEmpty,
    Other,
}

/// What is known of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metadata {
    pub directory: bool,
    pub bytes: u64,
    /// Seconds since 1970.
    pub modified: f64,
}

/// The surroundings of a run. Paths are as the script gives them; [`current_dir`](Host::current_dir) is what relative ones start from.
pub trait Host {
    /// Takes output.
    fn write(&mut self, stream: Stream, text: &str);
    /// Hands on what output it still keeps, for whoever reads it now.
    fn flush(&mut self) {}
    /// A line of input with its newline; empty at the end.
    fn read_line(&mut self) -> String {
        String::new()
    }
    /// Whether somebody has to be asked for a line of input, which takes time: `input()` then stops the run with [`Asked`].
    fn asks(&self) -> bool {
        false
    }
    /// Whether a stream goes to a terminal, where a line is written anew after a carriage return.
    fn is_terminal(&self, _stream: Stream) -> bool {
        false
    }
    /// Shows something by its media type: a figure, say. What has the same name takes its place. False where nobody can see it.
    fn display(&mut self, _name: &str, _media: &str, _bytes: &[u8]) -> bool {
        false
    }
    /// Whether [`log`](Host::log) does anything.
    fn logs(&self) -> bool {
        false
    }
    /// Takes a number that the script logs under a name, at a step where it counts them.
    fn log(&mut self, _name: &str, _step: Option<f64>, _value: f64) {}
    /// The bytes of a file.
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError>;
    /// Replaces or makes a file.
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError>;
    /// Names in a directory.
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError>;
    /// What is at a path.
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError>;
    /// Makes one directory.
    fn make_dir(&mut self, path: &str) -> Result<(), FileError>;
    /// Removes a file, or an empty directory.
    fn remove(&mut self, path: &str) -> Result<(), FileError>;
    /// Renames, replacing a file.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError>;
    /// The directory that relative paths start from.
    fn current_dir(&mut self) -> String {
        "/".to_string()
    }
    /// Seconds since 1970.
    fn now(&mut self) -> f64;
    /// Seconds of a clock that never goes back.
    fn monotonic(&mut self) -> f64;
    /// How many seconds the local time is ahead of UTC.
    fn utc_offset(&mut self) -> i64 {
        0
    }
    /// Waits, where that is possible.
    fn sleep(&mut self, _seconds: f64) {}
    /// Whether somebody interrupted such a wait; asked once after each.
    fn interrupted(&mut self) -> bool {
        false
    }
    /// A random number.
    fn entropy(&mut self) -> u64;
    /// The value of an environment variable.
    fn environment(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
}

static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Raises `KeyboardInterrupt` in this process's machine at its next chance: for a signal's handler.
pub fn interrupt() {
    INTERRUPT.store(true, Ordering::SeqCst);
}

/// Whether that waits to be raised.
#[inline(always)]
pub fn interrupted() -> bool {
    INTERRUPT.load(Ordering::Relaxed)
}

/// Whether it is to be raised now: who asks raises it.
pub fn take_interrupt() -> bool {
    interrupted() && INTERRUPT.swap(false, Ordering::SeqCst)
}

/// A host with files in memory, a clock that stands, and output kept as text: for tests, and a start for a page's host.
#[derive(Default)]
pub struct Memory {
    pub out: String,
    pub err: String,
    pub files: std::collections::BTreeMap<String, Vec<u8>>,
    pub dirs: std::collections::BTreeSet<String>,
    pub input: std::collections::VecDeque<String>,
    ticks: u64,
}

impl Memory {
    fn path(path: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    }

    fn is_dir(&self, path: &str) -> bool {
        let prefix = if path == "/" { "/".to_string() } else { format!("{path}/") };
        path == "/" || self.dirs.contains(path) || self.files.keys().any(|file| file.starts_with(&prefix))
    }
}

impl Host for Memory {
    fn write(&mut self, stream: Stream, text: &str) {
        match stream {
            Stream::Out => self.out.push_str(text),
            Stream::Err => self.err.push_str(text),
        }
    }

    fn read_line(&mut self) -> String {
        self.input.pop_front().unwrap_or_default()
    }

    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        if path.is_empty() {
            return Err(FileError::NotFound);
        }
        let path = Self::path(path);
        match self.files.get(&path) {
            Some(bytes) => Ok(bytes.clone()),
            None if self.is_dir(&path) => Err(FileError::IsDirectory),
            None => Err(FileError::NotFound),
        }
    }

    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        let path = Self::path(path);
        if self.is_dir(&path) {
            return Err(FileError::IsDirectory);
        }
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        if !self.is_dir(parent) {
            return Err(FileError::NotFound);
        }
        self.files.insert(path, bytes.to_vec());
        Ok(())
    }

    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        let path = Self::path(path);
        if !self.is_dir(&path) {
            return Err(if self.files.contains_key(&path) { FileError::NotDirectory } else { FileError::NotFound });
        }
        let prefix = if path == "/" { "/".to_string() } else { format!("{path}/") };
        let names: std::collections::BTreeSet<String> = self
            .files
            .keys()
            .chain(self.dirs.iter())
            .filter_map(|file| file.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .map(str::to_string)
            .collect();
        Ok(names.into_iter().collect())
    }

    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        let path = Self::path(path);
        match self.files.get(&path) {
            Some(bytes) => Ok(Metadata { directory: false, bytes: bytes.len() as u64, modified: 0.0 }),
            None if self.is_dir(&path) => Ok(Metadata { directory: true, bytes: 0, modified: 0.0 }),
            None => Err(FileError::NotFound),
        }
    }

    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        let path = Self::path(path);
        if self.files.contains_key(&path) || self.is_dir(&path) {
            return Err(FileError::Exists);
        }
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        if !self.is_dir(parent) {
            return Err(FileError::NotFound);
        }
        self.dirs.insert(path);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        let path = Self::path(path);
        if self.files.remove(&path).is_some() {
            return Ok(());
        }
        if !self.is_dir(&path) {
            return Err(FileError::NotFound);
        }
        if !self.list(&path)?.is_empty() {
            return Err(FileError::NotEmpty);
        }
        self.dirs.remove(&path);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        let bytes = self.read(from)?;
        self.store(to, &bytes)?;
        self.remove(from)
    }

    fn now(&mut self) -> f64 {
        self.monotonic()
    }

    fn monotonic(&mut self) -> f64 {
        self.ticks += 1;
        self.ticks as f64 * 1e-3
    }

    fn entropy(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}
