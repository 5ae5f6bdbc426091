//! The surroundings of a process of its own: what `aludel run` gives a script.

use super::{FileError, Host, Metadata, Stream};
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Files, clocks and streams of the process. Output is buffered: [`System::flush`] or dropping it writes it.
pub struct System {
    start: Instant,
    out: std::io::BufWriter<std::io::Stdout>,
    /// Whether somebody watches: then each line is written when it is complete.
    live: bool,
    input: Input,
}

/// Standard input, which a thread of its own waits for: an interruption must end a wait.
#[derive(Default)]
struct Input {
    /// Asks that thread for some bytes, and brings them: none at the end.
    reader: Option<(Sender<()>, Receiver<Vec<u8>>)>,
    asked: bool,
    bytes: Vec<u8>,
    /// What of them was read.
    at: usize,
}

impl Input {
    fn line(&mut self) -> String {
        let mut seen = self.at;
        loop {
            if let Some(end) = self.bytes[seen..].iter().position(|b| *b == b'\n') {
                return self.take(seen + end + 1);
            }
            seen = self.bytes.len();
            match self.more() {
                Some(bytes) if !bytes.is_empty() => {
                    self.bytes.drain(..self.at);
                    (seen, self.at) = (seen - self.at, 0);
                    self.bytes.extend(bytes);
                }
                Some(_) => return self.take(seen),
                None => return String::new(),
            }
        }
    }

    fn take(&mut self, end: usize) -> String {
        let line = String::from_utf8_lossy(&self.bytes[self.at..end]).into_owned();
        self.at = end;
        line
    }

    /// The next bytes; `None` where somebody interrupted: they are brought to who asks next.
    fn more(&mut self) -> Option<Vec<u8>> {
        let (ask, answers) = self.reader.get_or_insert_with(|| {
            let ((ask, asked), (answer, answers)) = (channel(), channel());
            std::thread::spawn(move || {
                while asked.recv().is_ok() {
                    let mut bytes = vec![0; 1 << 16];
                    let count = std::io::stdin().read(&mut bytes).unwrap_or(0);
                    bytes.truncate(count);
                    if answer.send(bytes).is_err() {
                        return;
                    }
                }
            });
            (ask, answers)
        });
        if !std::mem::replace(&mut self.asked, true) && ask.send(()).is_err() {
            return Some(Vec::new());
        }
        loop {
            match answers.recv_timeout(WAIT) {
                Err(RecvTimeoutError::Timeout) if super::interrupted() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                answer => {
                    self.asked = false;
                    return Some(answer.unwrap_or_default());
                }
            }
        }
    }
}

/// Between two looks whether a wait was interrupted.
const WAIT: Duration = Duration::from_millis(50);

impl Default for System {
    fn default() -> Self {
        let out = std::io::stdout();
        let live = out.is_terminal();
        System { start: Instant::now(), out: std::io::BufWriter::new(out), live, input: Input::default() }
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
        self.input.line()
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
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        while let Some(left) = end.checked_duration_since(Instant::now())
            && !super::interrupted()
        {
            std::thread::sleep(left.min(WAIT));
        }
    }
    fn interrupted(&mut self) -> bool {
        super::take_interrupt()
    }
    fn entropy(&mut self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        std::collections::hash_map::RandomState::new().build_hasher().finish()
    }
    fn environment(&mut self) -> Vec<(String, String)> {
        std::env::vars().collect()
    }
}
