//! Text, line by line.

use super::blob::{BlobReader, open};
use crate::pipe::{Pipe, State, part};
use crate::{Error, Result};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// The longest line that is read.
const LONGEST: u64 = 64 << 20;

/// The next line without its end, into a buffer; false at the end of the text. Longer lines than 64 MiB are errors, for text without
/// lines.
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    if reader.by_ref().take(LONGEST).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 == LONGEST {
        return Err(std::io::Error::other("a line has more than 64 MiB"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(true)
}

/// The lines of text files, one file after the other, without their ends.
pub fn lines(files: Vec<String>) -> Lines {
    Lines { files, at: 0, line: 0, offset: 0, open: None }
}

/// See [`lines`].
pub struct Lines {
    files: Vec<String>,
    /// The file at hand, how many lines of it were given, and where the next one begins.
    at: usize,
    line: u64,
    offset: u64,
    open: Option<BufReader<BlobReader>>,
}

impl Lines {
    fn read(&mut self, name: &str) -> Result<Option<String>> {
        let reader = match &mut self.open {
            Some(reader) => reader,
            None => {
                let mut reader = BlobReader::new(open(name)?);
                reader.seek(SeekFrom::Start(self.offset)).map_err(|e| Error::io(name, "", &e))?;
                self.open.insert(BufReader::new(reader))
            }
        };
        let place = format!("line {}", self.line + 1);
        let mut line = Vec::new();
        if !read_line(reader, &mut line).map_err(|e| Error::io(name, &place, &e))? {
            return Ok(None);
        }
        self.line += 1;
        let buffered = reader.buffer().len() as u64;
        self.offset = reader.get_ref().position() - buffered;
        String::from_utf8(line).map(Some).map_err(|_| Error::file(name, place, "is no UTF-8", "convert the text"))
    }
}

impl Pipe for Lines {
    type Item = String;

    fn next(&mut self) -> Option<Result<String>> {
        loop {
            let name = self.files.get(self.at)?.clone();
            let read = self.read(&name);
            let damaged = matches!(&read, Err(e) if !e.to_string().contains("no UTF-8"));
            match read {
                Ok(Some(line)) => return Some(Ok(line)),
                Err(e) if !damaged => return Some(Err(e)),
                other => {
                    (self.at, self.line, self.offset, self.open) = (self.at + 1, 0, 0, None);
                    if let Err(e) = other {
                        return Some(Err(e));
                    }
                }
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "file": self.at, "line": self.line, "offset": self.offset }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        (self.at, self.line, self.offset) = (part(state, "file")?, part(state, "line")?, part(state, "offset")?);
        self.open = None;
        Ok(())
    }
}
