//! Sessions on disk: each a directory named by its key, complete or not there.
//!
//! A directory holds the graph, its tensors, the rest and checksums ([`files`]); while a session that was taken up has not taken its first steps there is a file `starting`
//! beside them. It is written under another name, brought to the disk and then renamed; the one before is renamed out of the way first and put back by the
//! next start where the new one is missing, so that at every moment one of them is whole. What does not hold together is set aside and told
//! of, and keeps nobody else from going on. Whoever reads a key could use the session, so nobody but the server's user may look into the
//! state directory; and one server has it at a time.

mod files;

use super::secret;
use super::session::Session;
use super::training::{Command, Snapshot};
use aludel::{Error, Result};
use aludel_protocol::remote::{Job, SessionKey};
use files::{FORMAT, FeedKind, GRAPH, META, Meta, SUMS, TENSORS};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// A session as it was saved.
pub struct Saved {
    pub session: Session,
    pub asked: mpsc::Receiver<Command>,
    pub job: Job,
    pub step: u64,
    pub running: bool,
    pub elapsed_ms: f64,
}

/// A saved session of which only the description was read.
pub struct Entry {
    path: PathBuf,
    meta: Meta,
}

/// A path for people and logs: keys in it are rights, and are left out.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let parts = text.split('/').map(|part| match part.len().checked_sub(KEY_DIGITS).and_then(|at| part.split_at_checked(at)) {
        Some((head, key)) if is_key(key) => format!("{head}{}", secret::digest(key)),
        _ => part.to_string(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Digits of a key.
const KEY_DIGITS: usize = 32;

fn is_key(name: &str) -> bool {
    name.len() == KEY_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit())
}

fn io(path: &Path, doing: &str) -> impl FnOnce(std::io::Error) -> Error {
    let what = shown(path);
    let problem = doing.to_string();
    move |e| Error::invalid(what, format!("{problem}: {e}"), "check the path, the permissions and the disk")
}

/// The directory, made where there is none, for its user alone. It is this server's until what this gives is dropped; errors where
/// another server has it.
pub fn open(dir: &Path) -> Result<File> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(io(dir, "cannot be made"))?;
    own(dir, 0o700).map_err(io(dir, "cannot be kept from others"))?;
    let path = dir.join(LOCK);
    let lock = options().truncate(false).open(&path).map_err(io(&path, "cannot be written"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::invalid(
            dir.display().to_string(),
            "belongs to another server",
            "end that one, or name another directory with --state-dir",
        )),
        Err(TryLockError::Error(e)) => Err(io(&path, "cannot be locked")(e)),
    }
}

/// The secret that a server of this directory made for its clients, or a new one.
pub fn token(dir: &Path, new: impl FnOnce() -> Result<String>) -> Result<String> {
    let path = dir.join(TOKEN);
    own(&path, 0o600).ok();
    match fs::read_to_string(&path) {
        Ok(token) if secret::check(&token).is_ok() => Ok(token),
        _ => {
            let token = new()?;
            write(&path, token.as_bytes())?;
            sync(dir)?;
            Ok(token)
        }
    }
}

/// For the server's user alone.
fn own(path: &Path, mode: u32) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(path)?.permissions().mode() & 0o777 != mode {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
    }
    let _ = (path, mode);
    Ok(())
}

/// For writing files that nobody else reads.
fn options() -> fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

const LOCK: &str = ".lock";
const TOKEN: &str = ".token";
const STARTING: &str = "starting";

/// Beginnings of the names of what is being written, was replaced, and is being deleted.
const NEW: &str = ".new-";
const OLD: &str = ".old-";
const GONE: &str = ".gone-";
/// And of what does not hold together.
const BAD: &str = ".bad-";

/// Deletes a session that ended.
pub fn forget(dir: &Path, key: &SessionKey) {
    // By one renaming it is no longer there, however long deleting takes.
    let gone = dir.join(format!("{GONE}{}", key.0));
    if let Err(e) = fs::rename(dir.join(&key.0), &gone).and_then(|()| fs::remove_dir_all(&gone))
        && e.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(error = %e, "a session that ended cannot be deleted");
    }
}

/// A session that was taken up is about to take its first steps: a server that dies of them takes it up paused.
pub fn begin_start(dir: &Path, key: &SessionKey) -> Result<()> {
    let path = dir.join(&key.0).join(STARTING);
    options().open(&path).and_then(|f| f.sync_all()).map_err(io(&path, "cannot be written"))?;
    sync(&dir.join(&key.0))
}

/// It took them.
pub fn end_start(dir: &Path, key: &SessionKey) {
    // It ended, or was saved meanwhile.
    let _ = fs::remove_file(dir.join(&key.0).join(STARTING));
}

/// Puts right what a server that was killed left behind: what it was writing or deleting goes, what it was replacing comes back.
fn tidy(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let done = match name.strip_prefix(OLD) {
            Some(key) if !dir.join(key).exists() && path.is_dir() => fs::rename(&path, dir.join(key)),
            Some(_) => remove(&path),
            None if name.starts_with(NEW) || name.starts_with(GONE) => remove(&path),
            None => Ok(()),
        };
        if let Err(e) = done {
            tracing::warn!(path = %shown(&path), error = %e, "what an earlier server left behind stays");
        }
    }
    Ok(())
}

/// Removes a directory, or whatever else has its name; links are not followed.
fn remove(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Saves a session. When this returns it is on the disk; what could not be written leaves nothing behind.
pub fn save(dir: &Path, device: &str, session: &Session, snapshot: &Snapshot) -> Result<()> {
    let broken = |e: &String| Error::invalid("a session's state", e, "look at its device");
    let job = snapshot.job.as_ref().map_err(broken)?;
    let new = dir.join(format!("{NEW}{}", session.key.0));
    let old = dir.join(format!("{OLD}{}", session.key.0));
    let place = dir.join(&session.key.0);
    let _ = fs::remove_dir_all(&new);
    let written = write_all(&new, device, session, snapshot, job);
    if written.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    written?;
    let replaces = place.exists();
    if replaces {
        let _ = fs::remove_dir_all(&old);
        fs::rename(&place, &old).map_err(io(&place, "cannot be moved out of the way"))?;
    }
    if let Err(e) = fs::rename(&new, &place) {
        if replaces {
            // What was saved before stays where it is looked for. Where not even that can be done, the next start puts it back.
            let _ = fs::rename(&old, &place);
        }
        let _ = fs::remove_dir_all(&new);
        return Err(io(&place, "cannot be put in place")(e));
    }
    sync(dir)?;
    if replaces {
        let _ = fs::remove_dir_all(&old);
    }
    Ok(())
}

fn write_all(new: &Path, device: &str, session: &Session, snapshot: &Snapshot, job: &Job) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(new).map_err(io(new, "cannot be made"))?;
    let meta = Meta {
        format: FORMAT,
        key: session.key.0.clone(),
        client: session.client,
        name: session.name.clone(),
        device: device.to_string(),
        pane: session.pane,
        step: snapshot.step,
        running: snapshot.running,
        elapsed_ms: snapshot.elapsed_ms,
        losses: session.losses().iter().map(|(s, l)| (*s, l.to_bits())).collect(),
        loss: job.loss,
        batch: job.batch,
        feeds: job.feeds.iter().map(FeedKind::of).collect(),
        columns: job.columns.len(),
    };
    for (name, bytes) in files::encode(&meta, job)? {
        write(&new.join(name), &bytes)?;
    }
    sync(new)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = options().open(path).map_err(io(path, "cannot be made"))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(io(path, "cannot be written"))
}

fn sync(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(io(dir, "cannot be brought to the disk"))
}

/// The saved sessions, by their descriptions; what does not hold together is set aside and told of. Gives how many that were, too.
pub fn list(dir: &Path) -> Result<(Vec<Entry>, usize)> {
    tidy(dir).map_err(io(dir, "cannot be tidied"))?;
    let (mut found, mut bad) = (Vec::new(), 0);
    for entry in fs::read_dir(dir).map_err(io(dir, "cannot be listed"))? {
        let path = entry.map_err(io(dir, "cannot be listed"))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if name.starts_with(BAD) || name == LOCK || name == TOKEN {
            continue;
        }
        if !is_key(name) {
            tracing::warn!(path = %shown(&path), "this is no session; it is left alone");
            continue;
        }
        match describe(&path) {
            Ok(meta) => found.push(Entry { path, meta }),
            Err(e) => {
                bad += 1;
                set_aside(&path, &e);
            }
        }
    }
    Ok((found, bad))
}

/// Out of the way, for people to look at.
pub fn set_aside(path: &Path, problem: &dyn std::fmt::Display) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = path.with_file_name(format!("{BAD}{name}"));
    let _ = remove(&aside);
    match fs::rename(path, &aside) {
        Ok(()) => tracing::error!(error = %problem, now = %shown(&aside), "a saved session does not hold together and is set aside"),
        Err(e) => tracing::error!(error = %problem, aside = %e, "a saved session does not hold together"),
    }
}

/// A file of a session, as it was written.
fn file(path: &Path, sums: &BTreeMap<String, u32>, name: &str) -> Result<Vec<u8>> {
    let bytes = contents(&path.join(name))?;
    files::check(sums, name, &bytes).map_err(|e| damaged(path, e))?;
    Ok(bytes)
}

/// What a file holds. Nothing else is opened: a pipe would be waited for, a device would never end.
fn contents(path: &Path) -> Result<Vec<u8>> {
    let plain = fs::symlink_metadata(path).and_then(|m| if m.is_file() { Ok(()) } else { Err(std::io::Error::other("it is no file")) });
    plain.and_then(|()| fs::read(path)).map_err(io(path, "cannot be read"))
}

fn damaged(path: &Path, what: String) -> Error {
    Error::invalid(shown(path), what, "delete the directory, or put back what it was")
}

fn sums(path: &Path) -> Result<BTreeMap<String, u32>> {
    let bytes = contents(&path.join(SUMS))?;
    files::sums(&bytes).map_err(|e| damaged(&path.join(SUMS), e))
}

fn describe(path: &Path) -> Result<Meta> {
    let meta = files::meta(&file(path, &sums(path)?, META)?).map_err(|e| damaged(path, e))?;
    if path.file_name().and_then(|n| n.to_str()) != Some(&meta.key) {
        return Err(damaged(path, "holds another session's key".into()));
    }
    // Of a server that kept them less carefully.
    let kept = own(path, 0o700).and_then(|()| files::NAMES.iter().try_for_each(|f| own(&path.join(f), 0o600)));
    kept.map_err(io(path, "cannot be kept from others"))?;
    Ok(meta)
}

impl Entry {
    pub fn client(&self) -> IpAddr {
        self.meta.client
    }

    pub fn name(&self) -> &str {
        &self.meta.name
    }

    /// The id of its device.
    pub fn device(&self) -> &str {
        &self.meta.device
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session of this key.
    pub fn of(dir: &Path, key: &SessionKey) -> Result<Entry> {
        let path = dir.join(&key.0);
        Ok(Entry { meta: describe(&path)?, path })
    }

    /// A server died of its first steps.
    pub fn was_starting(&self) -> bool {
        self.path.join(STARTING).exists()
    }

    /// All of it. Errors where it is damaged, or its device is not here.
    pub fn read(self, devices: &[String]) -> Result<Saved> {
        read(&self.path, self.meta, devices)
    }
}

fn read(path: &Path, meta: Meta, devices: &[String]) -> Result<Saved> {
    let wrong = |what: String| damaged(path, what);
    let sums = sums(path)?;
    let file = |name: &str| file(path, &sums, name);
    let device =
        devices.iter().position(|d| *d == meta.device).ok_or_else(|| wrong(format!("trained on {}, which is not here", meta.device)))?;
    let job = files::job(&meta, device as u32, file(GRAPH)?, &file(TENSORS)?).map_err(wrong)?;
    let losses = meta.losses.iter().map(|(s, l)| (*s, f32::from_bits(*l))).collect();
    let (session, asked) = Session::new(SessionKey(meta.key), meta.client, meta.name, device, meta.pane);
    let session = session.with_history(meta.step, losses);
    Ok(Saved { session, asked, job, step: meta.step, running: meta.running, elapsed_ms: meta.elapsed_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel::DType;
    use aludel_protocol::Pane;
    use aludel_protocol::remote::{Feed, TensorData};

    fn snapshot(key: &str, step: u64) -> (Session, Snapshot) {
        let (session, _) = Session::new(SessionKey(key.into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
        let tensor = |v: f32| TensorData { dtype: DType::F32, shape: vec![1], bytes: v.to_le_bytes().to_vec() };
        let job = Job {
            name: "s".into(),
            device: 0,
            pane: Pane::Eager,
            graph: "graph".into(),
            feeds: vec![Feed::State(tensor(step as f32)), Feed::Rows { column: 0 }, Feed::Constant(tensor(2.0))],
            loss: 1,
            columns: vec![tensor(3.0)],
            order: vec![0, 0],
            batch: 1,
        };
        let session = session.with_history(step, vec![(1, f32::NAN), (2, 0.5)]);
        (session, Snapshot { job: Ok(job), step, running: true, elapsed_ms: 1.5 })
    }

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn put(dir: &Path, key: &str, step: u64) -> Snapshot {
        let (session, snapshot) = snapshot(key, step);
        save(dir, "cpu", &session, &snapshot).unwrap();
        snapshot
    }

    /// What comes back: all that can be read, set aside where it cannot.
    fn load(dir: &Path, devices: &[String]) -> Vec<Saved> {
        let (entries, _) = list(dir).unwrap();
        entries.into_iter().filter_map(|e| e.read(devices).ok()).collect()
    }

    #[test]
    fn comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let before = put(dir.path(), KEY, 7);
        assert!(load(dir.path(), &["cuda:0".into()]).is_empty(), "its device is not here");
        let [after] = <[Saved; 1]>::try_from(load(dir.path(), &["interp".into(), "cpu".into()])).ok().unwrap();
        assert_eq!(after.job, Job { device: 1, ..before.job.clone().unwrap() });
        assert_eq!((after.step, after.running, after.elapsed_ms, &after.session.key.0[..]), (7, true, 1.5, KEY));
        let losses = after.session.losses();
        assert!(losses[0].1.is_nan() && losses[1] == (2, 0.5));
    }

    #[test]
    fn one_server_has_it_and_nobody_else_looks_in() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let first = open(&state).unwrap();
        assert!(open(&state).unwrap_err().to_string().contains("another server"));
        drop(first);
        let _lock = open(&state).unwrap();
        put(&state, KEY, 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
            let files = ["graph.txt", "session.json", "tensors.safetensors", SUMS];
            // Of a server that kept it less carefully.
            fs::set_permissions(state.join(KEY), fs::Permissions::from_mode(0o755)).unwrap();
            fs::set_permissions(state.join(KEY).join(SUMS), fs::Permissions::from_mode(0o644)).unwrap();
            assert_eq!(load(&state, &["cpu".into()]).len(), 1);
            assert_eq!((mode(&state), mode(&state.join(KEY))), (0o700, 0o700));
            assert!(files.iter().all(|f| mode(&state.join(KEY).join(f)) == 0o600));
        }
    }

    /// Whatever one entry is, the others come back, and it is there for people to look at.
    #[test]
    fn what_is_damaged_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let good = "00000000000000000000000000000000";
        put(dir.path(), good, 1);
        let devices = ["cpu".to_string()];
        type Harm = fn(&Path);
        let harms: [(&str, Harm); 10] = [
            ("a bit of the tensors", |p| {
                let path = p.join("tensors.safetensors");
                let mut bytes = fs::read(&path).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(path, bytes).unwrap();
            }),
            ("half of the tensors", |p| fs::write(p.join("tensors.safetensors"), [0; 8]).unwrap()),
            ("another graph", |p| fs::write(p.join("graph.txt"), "graph2").unwrap()),
            ("another step", |p| {
                let text = fs::read_to_string(p.join("session.json")).unwrap().replace("\"step\": 5", "\"step\": 6");
                fs::write(p.join("session.json"), text).unwrap();
            }),
            ("no description", |p| fs::remove_file(p.join("session.json")).unwrap()),
            ("no sums", |p| fs::remove_file(p.join(SUMS)).unwrap()),
            ("a file", |p| {
                fs::remove_dir_all(p).unwrap();
                fs::write(p, "x").unwrap();
            }),
            ("another's key", |p| {
                fs::remove_dir_all(p).unwrap();
                let (session, snapshot) = snapshot("ffffffffffffffffffffffffffffffff", 5);
                let dir = p.parent().unwrap();
                save(dir, "cpu", &session, &snapshot).unwrap();
                fs::rename(dir.join("ffffffffffffffffffffffffffffffff"), p).unwrap();
            }),
            ("a pipe", |p| {
                fs::remove_file(p.join("graph.txt")).unwrap();
                #[cfg(unix)]
                assert!(std::process::Command::new("mkfifo").arg(p.join("graph.txt")).status().unwrap().success());
            }),
            ("a stray link", |p| {
                fs::remove_dir_all(p).unwrap();
                #[cfg(unix)]
                for name in [".old-x", ".new-y", ".gone-z"] {
                    std::os::unix::fs::symlink("/nonexistent", p.with_file_name(name)).unwrap();
                }
            }),
        ];
        for (what, harm) in harms {
            put(dir.path(), KEY, 5);
            harm(&dir.path().join(KEY));
            let (entries, bad) = list(dir.path()).unwrap();
            let steps: Vec<u64> = entries
                .into_iter()
                .filter_map(|e| {
                    let path = e.path().to_path_buf();
                    e.read(&devices).map_err(|e| set_aside(&path, &e)).ok().map(|s| s.step)
                })
                .collect();
            assert_eq!(steps, [1], "{what}: {bad} were bad");
            assert!(!dir.path().join(KEY).exists(), "{what}");
            assert_eq!(dir.path().join(format!("{BAD}{KEY}")).exists(), !what.contains("stray"), "{what}");
            let _ = remove(&dir.path().join(format!("{BAD}{KEY}")));
        }
    }

    /// Whenever the process is killed, one of the old and the new session is there.
    #[test]
    fn is_whole_at_every_moment() {
        let dir = tempfile::tempdir().unwrap();
        let key = KEY;
        let steps = |dir: &Path| load(dir, &["cpu".into()]).iter().map(|s| s.step).collect::<Vec<_>>();
        put(dir.path(), key, 1);
        // While it was writing.
        fs::create_dir(dir.path().join(format!("{NEW}{key}"))).unwrap();
        assert_eq!(steps(dir.path()), [1]);
        // Between the two renamings.
        fs::rename(dir.path().join(key), dir.path().join(format!("{OLD}{key}"))).unwrap();
        assert_eq!(steps(dir.path()), [1]);
        // Before the old one was deleted.
        fs::create_dir(dir.path().join(format!("{OLD}{key}"))).unwrap();
        put(dir.path(), key, 2);
        assert_eq!(steps(dir.path()), [2]);
        // While it was deleting.
        fs::rename(dir.path().join(key), dir.path().join(format!("{GONE}{key}"))).unwrap();
        assert!(steps(dir.path()).is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
        // What cannot be written leaves nothing behind.
        let (session, broken) = snapshot(key, 3);
        let broken = Snapshot { job: Err("the device is gone".into()), ..broken };
        assert!(save(dir.path(), "cpu", &session, &broken).is_err());
        put(dir.path(), key, 3);
        forget(dir.path(), &SessionKey(key.into()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
