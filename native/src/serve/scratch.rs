//! Where workers and their compilers keep temporary files: a directory for each, which goes with it, below one of the server's, which goes
//! with the server. A server that was killed leaves its own behind; the next one to start finds nobody holding its lock and removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const PREFIX: &str = "aludel-serve-";
const LOCK: &str = ".lock";
/// What was made so long ago and has no lock will not get one any more.
const UNFINISHED: Duration = Duration::from_secs(3600);
/// A compiler that was killed may still be making a file: removing is tried again.
const TRIES: u32 = 5;

pub struct Scratch {
    dir: TempDir,
    _lock: File,
}

impl Scratch {
    /// One of its own for a server, below the directory for temporary files; what dead servers left there goes.
    pub fn new() -> io::Result<Scratch> {
        Scratch::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> io::Result<Scratch> {
        sweep(parent);
        loop {
            let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let lock = File::create(dir.path().join(LOCK))?;
            match lock.try_lock() {
                Ok(()) => return Ok(Scratch { dir, _lock: lock }),
                // Another server found it before it was locked, and removes it.
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(e),
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn sweep(parent: &Path) {
    for path in fs::read_dir(parent).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(PREFIX)) && is_left(&path) {
            // Another's, or somebody else does the same.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether a server's directory has no server any more. Links are not followed.
fn is_left(path: &Path) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let old = || meta.modified().is_ok_and(|m| m.elapsed().is_ok_and(|e| e > UNFINISHED));
    meta.is_dir()
        && match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(e) => e.kind() == io::ErrorKind::NotFound && old(),
        }
}

/// Removes a worker's directory after the worker.
pub async fn remove(dir: PathBuf) {
    for _ in 0..TRIES {
        let path = dir.clone();
        match tokio::task::spawn_blocking(move || fs::remove_dir_all(path)).await {
            Ok(Err(e)) if e.kind() != io::ErrorKind::NotFound => tokio::time::sleep(Duration::from_millis(200)).await,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_servers_left_goes_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Scratch::below(parent.path()).unwrap();
        fs::create_dir(alive.path().join("worker")).unwrap();
        let left = parent.path().join("aludel-serve-left");
        let (young, other) = (parent.path().join("aludel-serve-young"), parent.path().join("other"));
        [&left, &young, &other].iter().for_each(|d| fs::create_dir(d).unwrap());
        fs::write(left.join(LOCK), "").unwrap();
        fs::write(left.join("cc1.s"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&other, parent.path().join("aludel-serve-link")).unwrap();
        let second = Scratch::below(parent.path()).unwrap();
        assert!(alive.path().join("worker").is_dir() && young.is_dir() && other.is_dir() && !left.exists());
        let path = second.path().to_path_buf();
        drop(second);
        assert!(!path.exists());
    }
}
