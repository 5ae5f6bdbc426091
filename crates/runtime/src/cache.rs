//! Compiled code kept on disk, by what it was made of: the same sources for the same device are compiled once.
//!
//! Entries are written to a file of another name and then renamed, so a process that dies leaves no half of one; each carries
//! its checksum, and one that does not match is made again. A cache that cannot be written is no error: the next run compiles.
//!
//! What is found here runs with the user's rights, so nobody else may have put it there: the directories are the user's alone
//! ([`own`]), and a shared object of another user, or that others may write, is not loaded ([`trusted`]).
//!
//! The size is limited: after an entry was added, those that were used longest ago go ([`prune`]). Any number of processes may add, use
//! and remove entries at once: one that is gone is compiled again, one that is loaded stays usable without its file, and what is
//! younger than a compilation takes is left alone.

use aludel_ir::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The most bytes of one kind of entries, unless `ALUDEL_CACHE_LIMIT` says otherwise.
const LIMIT: u64 = 1 << 30;
/// Entries younger than this are not removed: another process may be about to rename or to load them.
const GRACE: Duration = Duration::from_secs(600);

/// The directory of the cache: `ALUDEL_CACHE`, or the user's cache directory; `None` where the system has none.
pub fn directory() -> Option<PathBuf> {
    match std::env::var_os("ALUDEL_CACHE").filter(|d| !d.is_empty()) {
        Some(dir) => Some(dir.into()),
        None => directories::ProjectDirs::from("", "", "aludel").map(|d| d.cache_dir().to_path_buf()),
    }
}

/// The most bytes of one kind of entries: `ALUDEL_CACHE_LIMIT` in MiB, where 0 is no limit; 1 GiB where it is not set.
pub fn limit() -> Result<u64> {
    let Some(value) = std::env::var_os("ALUDEL_CACHE_LIMIT").filter(|v| !v.is_empty()) else { return Ok(LIMIT) };
    match value.to_str().and_then(|v| v.trim().parse::<u64>().ok()?.checked_mul(1 << 20)) {
        Some(0) => Ok(u64::MAX),
        Some(bytes) => Ok(bytes),
        None => Err(Error::invalid(
            format!("ALUDEL_CACHE_LIMIT={}", value.display()),
            "is no number of MiB",
            "give one, such as 512, or 0 for no limit",
        )),
    }
}

/// Makes a directory of the cache, for its user alone. Errors where it belongs to somebody else: they could plant code that runs here.
pub fn own(dir: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let about = std::fs::metadata(dir)?;
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(std::io::Error::other("it belongs to another user"));
        }
        if about.mode() & 0o077 != 0 {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    std::fs::create_dir_all(dir)
}

/// Whether nobody but this user (or the system's) can have written a file.
pub fn trusted(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Of the file itself: what a link names is not what was put here.
        std::fs::symlink_metadata(path)
            .is_ok_and(|m| m.is_file() && m.mode() & 0o022 == 0 && [0, rustix::process::geteuid().as_raw()].contains(&m.uid()))
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Says that a file of the cache is used, so that it is not among the first to go.
pub fn touch(path: &Path) {
    // Where the file may only be read, its age is that of its making.
    let _ = std::fs::File::open(path).and_then(|f| f.set_modified(SystemTime::now()));
}

/// Removes the entries of a directory that were used longest ago, where all take more than `limit` bytes, until they take three
/// quarters of it. An entry is all files of one name up to the first dot.
pub fn prune(dir: &Path, limit: u64) {
    let Ok(files) = std::fs::read_dir(dir) else { return };
    let mut entries: BTreeMap<String, (SystemTime, u64, Vec<PathBuf>)> = BTreeMap::new();
    let mut total = 0u64;
    for file in files.flatten() {
        let Ok(about) = file.metadata() else { continue };
        if !about.is_file() {
            continue;
        }
        let (used, path) = (about.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.path());
        let name = file.file_name().to_string_lossy().into_owned();
        // A name that starts with the dot is a file on its way.
        let key = if name.starts_with('.') { name } else { name.split('.').next().unwrap_or_default().to_string() };
        let entry = entries.entry(key).or_insert((used, 0, Vec::new()));
        *entry = (entry.0.max(used), entry.1 + about.len(), std::mem::take(&mut entry.2));
        entry.2.push(path);
        total += about.len();
    }
    if total <= limit {
        return;
    }
    let mut oldest: Vec<_> = entries.into_values().collect();
    oldest.sort();
    for (used, bytes, paths) in oldest {
        if total <= limit / 4 * 3 || used.elapsed().unwrap_or_default() < GRACE {
            break;
        }
        // Another process may have removed it already.
        paths.iter().for_each(|p| drop(std::fs::remove_file(p)));
        total -= bytes;
    }
}

/// [`prune`], unless that was done a short while ago: looking through a large directory takes longer than finding what is in it.
pub fn prune_sometimes(dir: &Path, limit: u64) {
    let mark = dir.join(".pruned");
    let age = std::fs::metadata(&mark).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    // Nothing younger than that would go.
    if age.is_some_and(|a| a < GRACE / 2) {
        return;
    }
    // Where it cannot be written nothing can be removed either.
    if std::fs::write(&mark, b"").is_ok() {
        prune(dir, limit);
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
    // Of a process of the same number that was killed; never through a link that somebody put there.
    let _ = std::fs::remove_file(&temporary);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let written = written.and_then(|()| std::fs::rename(&temporary, path));
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
        let path = self.dir.as_ref()?.join(key);
        let bytes = unsealed(std::fs::read(&path).ok()?)?;
        touch(&path);
        Some(bytes)
    }

    pub fn put(&self, key: &str, content: &[u8]) {
        let Some(dir) = &self.dir else { return };
        // See above: without it the next run compiles.
        let _ = write_whole(&dir.join(key), &sealed(content.to_vec()));
        if let Ok(limit) = limit() {
            prune_sometimes(dir, limit);
        }
    }
}

/// Bytes of the checksum at an entry's end.
const SUM: usize = 32;

/// Bytes with their checksum at the end.
pub fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

/// What was sealed, if nothing of it has changed.
pub fn unsealed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let content = bytes.len().checked_sub(SUM)?;
    let sum = Sha256::digest(&bytes[..content]);
    if sum[..] != bytes[content..] {
        return None;
    }
    bytes.truncate(content);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let dir = std::env::temp_dir().join(format!("aludel-prune-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = |name: &str, hours: u64| {
            std::fs::write(dir.join(name), [0; 100]).unwrap();
            let used = SystemTime::now() - Duration::from_secs(3600 * hours);
            std::fs::File::open(dir.join(name)).unwrap().set_modified(used).unwrap();
        };
        let left = || {
            let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        // An object and its text are one entry, as old as the one that was used last.
        for (name, hours) in [("a.so", 9), ("a.c", 9), ("b.so", 1), ("b.c", 8), ("c.so", 5), ("c.c", 7), (".77-1", 6), ("d.1-1.so", 0)] {
            file(name, hours);
        }
        prune(&dir, 800);
        assert_eq!(left().len(), 8, "all fits");
        prune(&dir, 700);
        assert_eq!(left(), ["b.c", "b.so", "c.c", "c.so", "d.1-1.so"]);
        touch(&dir.join("c.so"));
        prune(&dir, 400);
        assert_eq!(left(), ["c.c", "c.so", "d.1-1.so"]);
        prune(&dir, 0);
        assert_eq!(left(), ["c.c", "c.so", "d.1-1.so"], "what is young stays");
        prune(&dir.join("nowhere"), 0);
        std::fs::remove_dir_all(dir).unwrap();
    }

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
        let mut left: Vec<_> =
            std::fs::read_dir(root.join("test")).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [".pruned", name.as_str()], "no temporary file stays");
        std::fs::remove_dir_all(root).unwrap();
    }
}
