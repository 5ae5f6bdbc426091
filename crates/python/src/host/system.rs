//! The surroundings of a process of its own: what `aludel run` gives a script.

use super::{FileError, Host, Metadata, Stream};
use std::io::{ErrorKind, IsTerminal, Write};

/// Files, clocks and streams of the process. Output is buffered: [`System::flush`] or dropping it writes it.
pub struct System {
    start: std::time::Instant,
    out: std::io::BufWriter<std::io::Stdout>,
    /// Whether somebody watches: then each line is written when it is complete.
    live: bool,
}

impl Default for System {
    fn default() -> Self {
        let out = std::io::stdout();
        let live = out.is_terminal();
        System { start: std::time::Instant::now(), out: std::io::BufWriter::new(out), live }
    }
}

fn failure(error: std::io::Error) -> FileError {
    match error.kind() {
        ErrorKind::NotFound => FileError::NotFound,
        ErrorKind::AlreadyExists => FileError::Exists,
        ErrorKind::IsADirectory => FileError::IsDirectory,
        ErrorKind::NotADirectory => FileError::NotDirectory,
        ErrorKind::PermissionDenied => FileError::Permission,
        ErrorKind::DirectoryNotEmpty => FileError::NotEmpty,
        _ => FileError::Other,
    }
}

impl Host for System {
    fn write(&mut self, stream: Stream, text: &str) {
        let _ = match stream {
            Stream::Out if self.live => self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()),
            Stream::Out => self.out.write_all(text.as_bytes()),
            Stream::Err => self.out.flush().and_then(|()| std::io::stderr().write_all(text.as_bytes())),
        };
    }
    fn flush(&mut self) {
        let _ = self.out.flush();
    }
    fn read_line(&mut self) -> String {
        self.flush();
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        line
    }
    fn is_terminal(&self, stream: Stream) -> bool {
        match stream {
            Stream::Out => self.live,
            Stream::Err => std::io::stderr().is_terminal(),
        }
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        std::fs::read(path).map_err(failure)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        std::fs::write(path, bytes).map_err(failure)
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        let entries = std::fs::read_dir(path).map_err(failure)?;
        Ok(entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect())
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        let data = std::fs::metadata(path).map_err(failure)?;
        let modified = data.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        Ok(Metadata { directory: data.is_dir(), bytes: data.len(), modified: modified.map_or(0.0, |t| t.as_secs_f64()) })
    }
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        std::fs::create_dir(path).map_err(failure)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        let directory = std::fs::metadata(path).map_err(failure)?.is_dir();
        if directory { std::fs::remove_dir(path) } else { std::fs::remove_file(path) }.map_err(failure)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        std::fs::rename(from, to).map_err(failure)
    }
    fn current_dir(&mut self) -> String {
        std::env::current_dir().map_or_else(|_| "/".to_string(), |path| path.display().to_string())
    }
    fn now(&mut self) -> f64 {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
    }
    fn monotonic(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
    fn sleep(&mut self, seconds: f64) {
        self.flush();
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1e6)));
    }
    fn entropy(&mut self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        std::collections::hash_map::RandomState::new().build_hasher().finish()
    }
    fn environment(&mut self) -> Vec<(String, String)> {
        std::env::vars().collect()
    }
}
