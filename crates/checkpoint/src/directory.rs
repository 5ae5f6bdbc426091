//! The directory of a run's checkpoints, and how one is written and found.
//!
//! A checkpoint is written under a name that nobody looks for, every file and the directory are brought to the disk, and then it
//! is renamed to `step-00000100`: a directory of such a name is complete at every moment, whenever the process ends. The last one
//! is the one of the greatest step; there is no pointer to it that could lag behind. Older ones are renamed away before they are
//! deleted, only after the new one is complete.

use crate::{Checkpoint, FORMAT, Meta, decode, encode};
use aludel_ir::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const MODEL: &str = "model.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
const TRAINING: &str = "training.json";
const CHECKSUMS: &str = "CHECKSUMS";
const LOCK: &str = ".lock";

/// How often a reader starts anew because the checkpoint that it was reading was replaced by a newer one.
const ATTEMPTS: usize = 16;

/// Where a run keeps its checkpoints.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

/// Writes checkpoints. Only one process at a time can for one directory; it ends with the value, and with the process.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    keep: usize,
    serial: u64,
    _lock: File,
}

pub(crate) fn io(what: &Path, doing: &str, e: &std::io::Error) -> Error {
    let remedy = match e.kind() {
        ErrorKind::PermissionDenied => "choose a directory that you may write to",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space; earlier checkpoints are whole",
        _ => "check the path and the disk",
    };
    Error::invalid(what.display().to_string(), format!("{doing}: {e}"), remedy)
}

/// The step and the revision (several runs may reach the same step) that a directory's name says.
fn position(name: &str) -> Option<(u64, u64)> {
    let digits = |t: &str| (!t.is_empty() && t.bytes().all(|b| b.is_ascii_digit())).then(|| t.parse().ok()).flatten();
    let rest = name.strip_prefix("step-")?;
    match rest.split_once('.') {
        None => Some((digits(rest)?, 0)),
        Some((step, revision)) => Some((digits(step)?, digits(revision)?)),
    }
}

impl Directory {
    pub fn new(path: impl Into<PathBuf>) -> Directory {
        Directory { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The complete checkpoints, the last first. Empty where there is no such directory.
    pub fn list(&self) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(&self.path, "cannot be listed", &e)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| io(&self.path, "cannot be listed", &e))?;
            if let Some(position) = entry.file_name().to_str().and_then(position) {
                found.push((position, entry.path()));
            }
        }
        found.sort();
        Ok(found.into_iter().rev().map(|(_, path)| path).collect())
    }

    /// The last checkpoint; `None` where there is none. A writer may be at work meanwhile.
    ///
    /// Errors when it is damaged. It is never skipped in silence: the error says how to go back to the one before.
    pub fn latest(&self) -> Result<Option<Checkpoint>> {
        for _ in 0..ATTEMPTS {
            let Some(path) = self.list()?.into_iter().next() else { return Ok(None) };
            match read(&path) {
                // It was replaced by a newer one while it was read.
                Err(_) if self.list()?.first() != Some(&path) => continue,
                other => return other.map(Some),
            }
        }
        Err(Error::invalid(self.path.display().to_string(), "checkpoints are replaced faster than they can be read", "stop the writer"))
    }

    /// Takes the directory for writing; makes it where there is none. The newest `keep` checkpoints (at least one) are kept.
    ///
    /// Errors when another process writes to it.
    pub fn writer(&self, keep: usize) -> Result<Writer> {
        fs::create_dir_all(&self.path).map_err(|e| io(&self.path, "cannot be made", &e))?;
        let lock_path = self.path.join(LOCK);
        let lock = File::create(&lock_path).map_err(|e| io(&lock_path, "cannot be made", &e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::invalid(
                    self.path.display().to_string(),
                    "another process writes its checkpoints there",
                    "wait for it or choose another directory",
                ));
            }
            Err(TryLockError::Error(e)) => return Err(io(&lock_path, "cannot be locked", &e)),
        }
        // What a process that was killed left behind; nobody else can be writing.
        for entry in fs::read_dir(&self.path).map_err(|e| io(&self.path, "cannot be listed", &e))?.flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|n| n.starts_with(".new-") || n.starts_with(".old-")) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(Writer { path: self.path.clone(), keep: keep.max(1), serial: 0, _lock: lock })
    }
}

impl Writer {
    /// Writes a checkpoint; when this returns it is complete and on the disk. Gives its path.
    pub fn save(&mut self, checkpoint: &Checkpoint) -> Result<PathBuf> {
        self.serial += 1;
        let new = self.path.join(format!(".new-{}", self.serial));
        fs::create_dir(&new).map_err(|e| io(&new, "cannot be made", &e))?;
        let saved = self.fill(&new, checkpoint).and_then(|()| self.publish(&new, checkpoint.meta.step));
        if saved.is_err() {
            let _ = fs::remove_dir_all(&new);
        }
        let saved = saved?;
        self.prune()?;
        Ok(saved)
    }

    fn fill(&self, new: &Path, checkpoint: &Checkpoint) -> Result<()> {
        let training = serde_json::to_vec_pretty(&checkpoint.meta).map_err(|e| Error::invalid(TRAINING, e.to_string(), "report this"))?;
        let files = [(MODEL, encode(&checkpoint.model)?), (OPTIMIZER, encode(&checkpoint.optimizer)?), (TRAINING, training)];
        let mut sums = String::new();
        for (name, bytes) in &files {
            sums.push_str(&checksum(name, bytes));
            write(&new.join(name), bytes)?;
        }
        write(&new.join(CHECKSUMS), sums.as_bytes())?;
        sync_directory(new)
    }

    fn publish(&self, new: &Path, step: u64) -> Result<PathBuf> {
        let taken = Directory::new(&self.path).list()?;
        let mut revision = 0;
        let name = loop {
            let name = match revision {
                0 => format!("step-{step:08}"),
                r => format!("step-{step:08}.{r}"),
            };
            let path = self.path.join(name);
            if !taken.contains(&path) {
                break path;
            }
            revision += 1;
        };
        fs::rename(new, &name).map_err(|e| io(&name, "cannot be put in place", &e))?;
        sync_directory(&self.path)?;
        Ok(name)
    }

    fn prune(&mut self) -> Result<()> {
        for path in Directory::new(&self.path).list()?.into_iter().skip(self.keep) {
            self.serial += 1;
            let old = self.path.join(format!(".old-{}", self.serial));
            fs::rename(&path, &old).map_err(|e| io(&path, "cannot be removed", &e))?;
            fs::remove_dir_all(&old).map_err(|e| io(&old, "cannot be removed", &e))?;
        }
        Ok(())
    }
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |e| io(path, "cannot be written", &e);
    let mut file = File::create(path).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.sync_all().map_err(fail)
}

/// Brings a directory's entries to the disk. Only Unix can and needs to be told.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    #[cfg(unix)]
    File::open(path).and_then(|f| f.sync_all()).map_err(|e| io(path, "cannot be brought to the disk", &e))?;
    let _ = path;
    Ok(())
}

pub(crate) fn checksum(name: &str, bytes: &[u8]) -> String {
    format!("{:08x} {} {name}\n", crc32c::crc32c(bytes), bytes.len())
}

/// Reads the checkpoint in a directory `step-..`.
///
/// Errors when a file is missing, or is not bit by bit what was written.
pub fn read(path: &Path) -> Result<Checkpoint> {
    let damaged = |problem: String| {
        Error::invalid(
            format!("checkpoint {}", path.display()),
            problem,
            "it was damaged after it was written: remove this directory to go back to the one before",
        )
    };
    let file = |name: &str| fs::read(path.join(name)).map_err(|e| damaged(format!("{name} cannot be read: {e}")));
    let sums = file(CHECKSUMS)?;
    let (model, optimizer, training) = (file(MODEL)?, file(OPTIMIZER)?, file(TRAINING)?);
    let mut expected = sums.split_inclusive(|b| *b == b'\n');
    for (name, bytes) in [(MODEL, &model), (OPTIMIZER, &optimizer), (TRAINING, &training)] {
        if expected.next() != Some(checksum(name, bytes).as_bytes()) {
            return Err(damaged(format!("{name} is not what {CHECKSUMS} says")));
        }
    }
    let meta: Meta = serde_json::from_slice(&training).map_err(|e| damaged(format!("{TRAINING}: {e}")))?;
    if meta.format != FORMAT {
        return Err(Error::unsupported(
            format!("checkpoint {}: format {} (this build reads {FORMAT})", path.display(), meta.format),
            "use the version that wrote it",
        ));
    }
    let name = |n: &str| path.join(n).display().to_string();
    Ok(Checkpoint { meta, model: decode(&name(MODEL), &model)?, optimizer: decode(&name(OPTIMIZER), &optimizer)? })
}
