//! Sessions on disk: each a directory named by its key, complete or not there.
//!
//! A directory holds the graph (`graph.txt`), its feeds, columns and order (`tensors.safetensors`), and the rest (`session.json`). It is
//! written under another name, brought to the disk and then renamed; the one before is renamed out of the way first and put back by the
//! next start where the new one is missing, so that at every moment one of them is whole. Whoever reads a key could use the session, so nobody but the server's
//! user may look into the state directory.

use super::session::Session;
use super::worker::Snapshot;
use aludel::{DType, Error, Result};
use aludel_protocol::Pane;
use aludel_protocol::remote::{Feed, Job, SessionKey, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

const FORMAT: u32 = 1;

/// `session.json`.
#[derive(Serialize, Deserialize)]
struct Meta {
    format: u32,
    key: String,
    client: IpAddr,
    name: String,
    /// The id of its device.
    device: String,
    pane: Pane,
    step: u64,
    running: bool,
    elapsed_ms: f64,
    /// As bits: JSON has no NaN.
    losses: Vec<(u64, u32)>,
    loss: u32,
    batch: u32,
    /// What each input is: `state`, `constant`, or the number of a column.
    feeds: Vec<FeedKind>,
    columns: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FeedKind {
    State,
    Constant,
    Rows(u32),
}

/// A session as it was saved.
pub struct Saved {
    pub session: Session,
    pub job: Job,
    pub step: u64,
    pub running: bool,
    pub elapsed_ms: f64,
}

fn io(path: &Path, doing: &str) -> impl FnOnce(std::io::Error) -> Error {
    let what = path.display().to_string();
    let problem = doing.to_string();
    move |e| Error::invalid(what, format!("{problem}: {e}"), "check the path, the permissions and the disk")
}

/// The directory, made where there is none, for its user alone.
pub fn open(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(io(dir, "cannot be made"))
}

/// Beginnings of the names of what is being written, was replaced, and is being deleted.
const NEW: &str = ".new-";
const OLD: &str = ".old-";
const GONE: &str = ".gone-";

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

/// Puts right what a server that was killed left behind: what it was writing or deleting goes, what it was replacing comes back.
fn tidy(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        match name.strip_prefix(OLD) {
            Some(key) if !dir.join(key).exists() => fs::rename(&path, dir.join(key))?,
            Some(_) => fs::remove_dir_all(&path)?,
            None if name.starts_with(NEW) || name.starts_with(GONE) => fs::remove_dir_all(&path)?,
            None => {}
        }
    }
    Ok(())
}

/// Saves a session. When this returns it is on the disk.
pub fn save(dir: &Path, device: &str, snapshot: &Snapshot) -> Result<()> {
    let job = snapshot.job.as_ref().map_err(Clone::clone)?;
    let session = &snapshot.session;
    let new = dir.join(format!("{NEW}{}", session.key.0));
    let old = dir.join(format!("{OLD}{}", session.key.0));
    let place = dir.join(&session.key.0);
    let _ = fs::remove_dir_all(&new);
    fs::create_dir(&new).map_err(io(&new, "cannot be made"))?;
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
        feeds: job.feeds.iter().map(kind).collect(),
        columns: job.columns.len(),
    };
    let json = serde_json::to_vec_pretty(&meta).map_err(|e| Error::invalid("a session", e.to_string(), "report this"))?;
    write(&new.join("graph.txt"), job.graph.as_bytes())?;
    write(&new.join("session.json"), &json)?;
    write(&new.join("tensors.safetensors"), &tensors(job)?)?;
    sync(&new)?;
    let replaces = place.exists();
    if replaces {
        let _ = fs::remove_dir_all(&old);
        fs::rename(&place, &old).map_err(io(&place, "cannot be moved out of the way"))?;
    }
    fs::rename(&new, &place).map_err(io(&place, "cannot be put in place"))?;
    sync(dir)?;
    if replaces {
        let _ = fs::remove_dir_all(&old);
    }
    Ok(())
}

fn kind(feed: &Feed) -> FeedKind {
    match feed {
        Feed::State(_) => FeedKind::State,
        Feed::Constant(_) => FeedKind::Constant,
        Feed::Rows { column } => FeedKind::Rows(*column),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path).map_err(io(path, "cannot be made"))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(io(path, "cannot be written"))
}

fn sync(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(io(dir, "cannot be brought to the disk"))
}

const DTYPES: [(DType, Dtype); 6] = [
    (DType::F32, Dtype::F32),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::Bool, Dtype::BOOL),
];

fn tensors(job: &Job) -> Result<Vec<u8>> {
    let broken = |e: safetensors::SafeTensorError| Error::invalid("a session's tensors", e.to_string(), "report this");
    let order: Vec<u8> = job.order.iter().flat_map(|i| i.to_le_bytes()).collect();
    let view = |t: &TensorData| -> Result<(Dtype, Vec<usize>)> {
        let (_, dtype) =
            DTYPES.iter().find(|(d, _)| *d == t.dtype).ok_or_else(|| Error::invalid("a session", "an unknown type", "report this"))?;
        Ok((*dtype, t.shape.iter().map(|d| *d as usize).collect()))
    };
    let mut views = vec![("order".to_string(), TensorView::new(Dtype::U32, vec![job.order.len()], &order).map_err(broken)?)];
    let named = job.feeds.iter().enumerate().filter_map(|(i, f)| match f {
        Feed::State(t) | Feed::Constant(t) => Some((format!("feed.{i}"), t)),
        Feed::Rows { .. } => None,
    });
    let columns = job.columns.iter().enumerate().map(|(i, t)| (format!("column.{i}"), t));
    for (name, t) in named.chain(columns) {
        let (dtype, shape) = view(t)?;
        views.push((name, TensorView::new(dtype, shape, &t.bytes).map_err(broken)?));
    }
    safetensors::serialize(views, None).map_err(broken)
}

/// The saved sessions; what cannot be read stays where it is and is told of.
pub fn load(dir: &Path, devices: &[String]) -> Result<Vec<Saved>> {
    tidy(dir).map_err(io(dir, "cannot be tidied"))?;
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(io(dir, "cannot be listed"))? {
        let path = entry.map_err(io(dir, "cannot be listed"))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if name.len() != 32 || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
            continue;
        }
        match read(&path, devices) {
            Ok(saved) => found.push(saved),
            Err(e) => tracing::error!(error = %e, "a saved session cannot be taken up again"),
        }
    }
    Ok(found)
}

fn read(path: &Path, devices: &[String]) -> Result<Saved> {
    let wrong = |what: String| Error::invalid(path.display().to_string(), what, "delete the directory, or put back what it was");
    let file = |name: &str| fs::read(path.join(name)).map_err(io(&path.join(name), "cannot be read"));
    let meta: Meta = serde_json::from_slice(&file("session.json")?).map_err(|e| wrong(e.to_string()))?;
    if meta.format != FORMAT {
        return Err(wrong(format!("is of format {}, this server writes {FORMAT}", meta.format)));
    }
    let device =
        devices.iter().position(|d| *d == meta.device).ok_or_else(|| wrong(format!("trained on {}, which is not here", meta.device)))?;
    let bytes = file("tensors.safetensors")?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| wrong(e.to_string()))?;
    let tensor = |name: &str| -> Result<TensorData> {
        let view = tensors.tensor(name).map_err(|e| wrong(e.to_string()))?;
        let (dtype, _) =
            DTYPES.iter().find(|(_, d)| *d == view.dtype()).ok_or_else(|| wrong(format!("{name} is of a type that no tensor has")))?;
        let shape = view.shape().iter().map(|d| u32::try_from(*d)).collect::<Result<_, _>>().map_err(|e| wrong(e.to_string()))?;
        Ok(TensorData { dtype: *dtype, shape, bytes: view.data().to_vec() })
    };
    let mut feeds = Vec::with_capacity(meta.feeds.len());
    for (i, kind) in meta.feeds.iter().enumerate() {
        feeds.push(match kind {
            FeedKind::State => Feed::State(tensor(&format!("feed.{i}"))?),
            FeedKind::Constant => Feed::Constant(tensor(&format!("feed.{i}"))?),
            FeedKind::Rows(column) => Feed::Rows { column: *column },
        });
    }
    let columns = (0..meta.columns).map(|i| tensor(&format!("column.{i}"))).collect::<Result<_>>()?;
    let order = tensor("order")?.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let graph = String::from_utf8(file("graph.txt")?).map_err(|e| wrong(e.to_string()))?;
    let job = Job {
        name: meta.name.clone(),
        device: device as u32,
        pane: meta.pane,
        graph,
        feeds,
        loss: meta.loss,
        columns,
        order,
        batch: meta.batch,
    };
    let losses = meta.losses.iter().map(|(s, l)| (*s, f32::from_bits(*l))).collect();
    let session = Session::new(SessionKey(meta.key), meta.client, meta.name, device, meta.pane).with_history(meta.step, losses);
    Ok(Saved { session, job, step: meta.step, running: meta.running, elapsed_ms: meta.elapsed_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn snapshot(key: &str, step: u64) -> Snapshot {
        let session = Session::new(SessionKey(key.into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
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
        Snapshot { session: Arc::new(session), job: Ok(job), step, running: true, elapsed_ms: 1.5 }
    }

    #[test]
    fn comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let key = "0123456789abcdef0123456789abcdef";
        let before = snapshot(key, 7);
        save(dir.path(), "cpu", &before).unwrap();
        assert!(load(dir.path(), &["cuda:0".into()]).unwrap().is_empty(), "its device is not here");
        let [after] = <[Saved; 1]>::try_from(load(dir.path(), &["interp".into(), "cpu".into()]).unwrap()).ok().unwrap();
        assert_eq!(after.job, Job { device: 1, ..before.job.clone().unwrap() });
        assert_eq!((after.step, after.running, after.elapsed_ms, &after.session.key.0[..]), (7, true, 1.5, key));
        let losses = after.session.losses();
        assert!(losses[0].1.is_nan() && losses[1] == (2, 0.5));
    }

    /// Whenever the process is killed, one of the old and the new session is there.
    #[test]
    fn is_whole_at_every_moment() {
        let dir = tempfile::tempdir().unwrap();
        let key = "0123456789abcdef0123456789abcdef";
        let steps = |dir: &Path| load(dir, &["cpu".into()]).unwrap().iter().map(|s| s.step).collect::<Vec<_>>();
        save(dir.path(), "cpu", &snapshot(key, 1)).unwrap();
        // While it was writing.
        fs::create_dir(dir.path().join(format!("{NEW}{key}"))).unwrap();
        assert_eq!(steps(dir.path()), [1]);
        // Between the two renamings.
        fs::rename(dir.path().join(key), dir.path().join(format!("{OLD}{key}"))).unwrap();
        assert_eq!(steps(dir.path()), [1]);
        // Before the old one was deleted.
        fs::create_dir(dir.path().join(format!("{OLD}{key}"))).unwrap();
        save(dir.path(), "cpu", &snapshot(key, 2)).unwrap();
        assert_eq!(steps(dir.path()), [2]);
        // While it was deleting.
        fs::rename(dir.path().join(key), dir.path().join(format!("{GONE}{key}"))).unwrap();
        assert!(steps(dir.path()).is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
        // Damaged, it is told of and stays for people to look at.
        save(dir.path(), "cpu", &snapshot(key, 3)).unwrap();
        fs::write(dir.path().join(key).join("tensors.safetensors"), b"x").unwrap();
        assert!(steps(dir.path()).is_empty());
        assert!(dir.path().join(key).exists());
        forget(dir.path(), &SessionKey(key.into()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
