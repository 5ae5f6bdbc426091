//! Compiled code kept on disk, by what it was made of: the same sources for the same device are compiled once.
//!
//! Entries are written to a file of another name and then renamed, so a process that dies leaves no half of one; each carries
//! its checksum, and one that does not match is made again. A cache that cannot be written is no error: the next run compiles.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The directory of the cache: `ALUDEL_CACHE`, or the user's cache directory; `None` where the system has none.
pub fn directory() -> Option<PathBuf> {
    match std::env::var_os("ALUDEL_CACHE").filter(|d| !d.is_empty()) {
        Some(dir) => Some(dir.into()),
        None => directories::ProjectDirs::from("", "", "aludel").map(|d| d.cache_dir().to_path_buf()),
    }
}

/// The name of an entry: a checksum of the parts that decide its contents.
pub fn key(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps the parts apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Puts a file in its place whole, or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let dir = path.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(dir)?;
    let temporary = dir.join(format!(".{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Entries of one kind.
pub struct Cache {
    dir: Option<PathBuf>,
}

impl Cache {
    /// Below a directory of the caller's, or below [`directory`].
    pub fn new(root: Option<PathBuf>, kind: &str) -> Self {
        Cache { dir: root.or_else(directory).map(|d| d.join(kind)) }
    }

    /// The entry, if it is there and whole.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut bytes = std::fs::read(self.dir.as_ref()?.join(key)).ok()?;
        let content = bytes.len().checked_sub(SUM)?;
        let sum = Sha256::digest(&bytes[..content]);
        if sum[..] != bytes[content..] {
            return None;
        }
        bytes.truncate(content);
        Some(bytes)
    }

    pub fn put(&self, key: &str, content: &[u8]) {
        let Some(dir) = &self.dir else { return };
        let mut bytes = content.to_vec();
        bytes.extend_from_slice(&Sha256::digest(content));
        // See above: without it the next run compiles.
        let _ = write_whole(&dir.join(key), &bytes);
    }
}

/// Bytes of the checksum at an entry's end.
const SUM: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_whole_or_not_at_all() {
        let root = std::env::temp_dir().join(format!("aludel-cache-{}", std::process::id()));
        let cache = Cache::new(Some(root.clone()), "test");
        let name = key(&[b"source", b"device"]);
        assert_ne!(name, key(&[b"sourced", b"evice"]));
        assert_eq!(cache.get(&name), None);
        cache.put(&name, b"machine code");
        assert_eq!(cache.get(&name).as_deref(), Some(&b"machine code"[..]));
        // Cut short, or changed: made again.
        let path = root.join("test").join(&name);
        let whole = std::fs::read(&path).unwrap();
        for broken in [&whole[..20], &whole[..whole.len() - 1], &[]] {
            std::fs::write(&path, broken).unwrap();
            assert_eq!(cache.get(&name), None);
        }
        let mut flipped = whole.clone();
        flipped[3] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        assert_eq!(cache.get(&name), None);
        cache.put(&name, b"again");
        assert_eq!(cache.get(&name).as_deref(), Some(&b"again"[..]));
        assert_eq!(std::fs::read_dir(root.join("test")).unwrap().count(), 1, "no temporary file stays");
        std::fs::remove_dir_all(root).unwrap();
    }
}
