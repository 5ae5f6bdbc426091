//! Files, read in ranges: a reader holds one block of a file, not the file.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

/// Bytes that can be read from any place on.
pub trait Blob: Send + Sync {
    /// For errors.
    fn name(&self) -> &str;

    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes to ask for at once.
    fn block(&self) -> usize;

    /// Fills `bytes` from a place on, as far as the file goes; gives how many were read.
    ///
    /// # Errors
    ///
    /// When the file cannot be read there.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize>;
}

/// A file by its path, or by its address: `file://`, and in builds with the feature `remote` `https://`, `http://` and `s3://bucket/..`,
/// the latter with the options that the environment has (`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT`; `AWS_SKIP_SIGNATURE=true`
/// where everybody may read).
///
/// # Errors
///
/// When there is none, or it may not be read.
pub fn open(location: &str) -> Result<Arc<dyn Blob>> {
    match location.split_once("://") {
        None => Ok(Arc::new(Local::open(location)?)),
        Some(("file", path)) => Ok(Arc::new(Local::open(path)?)),
        #[cfg(feature = "remote")]
        Some(("http" | "https" | "s3", _)) => super::remote::open(location),
        Some((scheme, _)) => {
            let problem = format!("`{scheme}` is no kind of address that this build reads");
            Err(Error::file(location, "", problem, "give a path, or an address of https, http or s3"))
        }
    }
}

struct Local {
    name: String,
    file: Mutex<File>,
    len: u64,
}

impl Local {
    fn open(path: &str) -> Result<Local> {
        let fail = |e| Error::io(path, "", &e);
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(Error::file(path, "", "is a directory", "name the files in it"));
        }
        Ok(Local { name: path.to_string(), file: Mutex::new(file), len: metadata.len() })
    }
}

impl Blob for Local {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn block(&self) -> usize {
        256 << 10
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        let mut done = 0;
        let mut read = || -> io::Result<usize> {
            file.seek(SeekFrom::Start(offset))?;
            while done < bytes.len() {
                match file.read(&mut bytes[done..]) {
                    Ok(0) => break,
                    Ok(n) => done += n,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
            Ok(done)
        };
        read().map_err(|e| Error::io(&self.name, format!("byte {offset}"), &e))
    }
}

/// Reads a [`Blob`] from beginning to end, or from elsewhere on, through a buffer of one block.
pub struct BlobReader {
    blob: Arc<dyn Blob>,
    block: usize,
    at: u64,
    /// Bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
}

impl BlobReader {
    pub fn new(blob: Arc<dyn Blob>) -> BlobReader {
        BlobReader { block: blob.block(), blob, at: 0, buffer: Vec::new(), start: 0 }
    }

    /// One that asks for so many bytes at once, for places that lie far from each other.
    #[cfg(feature = "arrow")]
    pub(crate) fn with_block(blob: Arc<dyn Blob>, block: usize) -> BlobReader {
        BlobReader { block, ..BlobReader::new(blob) }
    }

    /// Where it is.
    pub fn position(&self) -> u64 {
        self.at
    }
}

impl Read for BlobReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let held = |r: &Self| r.at.checked_sub(r.start).filter(|skip| *skip < r.buffer.len() as u64);
        if held(self).is_none() {
            let left = self.blob.len().saturating_sub(self.at);
            self.buffer.resize(left.min(self.block as u64) as usize, 0);
            self.start = self.at;
            let read = self.blob.read_at(self.at, &mut self.buffer);
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            read.map_err(io::Error::other)?;
        }
        let Some(skip) = held(self) else { return Ok(0) };
        let from = &self.buffer[skip as usize..];
        let n = from.len().min(bytes.len());
        bytes[..n].copy_from_slice(&from[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for BlobReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.blob.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "a place before the beginning"))?;
        Ok(self.at)
    }
}
