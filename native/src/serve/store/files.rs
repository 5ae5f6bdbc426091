//! What the files of a saved session hold: the graph (`graph.txt`), its feeds, columns and order (`tensors.safetensors`), the rest
//! (`session.json`), and checksums of all three (`sums.json`). Bytes in, bytes out: nothing here touches the disk.

use aludel::{DType, Error, Result};
use aludel_protocol::Pane;
use aludel_protocol::remote::{Feed, Job, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;

pub const FORMAT: u32 = 2;
pub const META: &str = "session.json";
pub const GRAPH: &str = "graph.txt";
pub const TENSORS: &str = "tensors.safetensors";
pub const SUMS: &str = "sums.json";
pub const NAMES: [&str; 4] = [GRAPH, META, TENSORS, SUMS];

/// `session.json`.
#[derive(Serialize, Deserialize)]
pub struct Meta {
    pub format: u32,
    pub key: String,
    pub client: IpAddr,
    pub name: String,
    /// The id of its device.
    pub device: String,
    pub pane: Pane,
    pub step: u64,
    pub running: bool,
    pub elapsed_ms: f64,
    /// As bits: JSON has no NaN.
    pub losses: Vec<(u64, u32)>,
    pub loss: u32,
    pub batch: u32,
    /// What each input is: `state`, `constant`, or the number of a column.
    pub feeds: Vec<FeedKind>,
    pub columns: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedKind {
    State,
    Constant,
    Rows(u32),
}

impl FeedKind {
    pub fn of(feed: &Feed) -> FeedKind {
        match feed {
            Feed::State(_) => FeedKind::State,
            Feed::Constant(_) => FeedKind::Constant,
            Feed::Rows { column } => FeedKind::Rows(*column),
        }
    }
}

const DTYPES: [(DType, Dtype); 6] = [
    (DType::F32, Dtype::F32),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::Bool, Dtype::BOOL),
];

/// A session's files, the checksums last.
pub fn encode(meta: &Meta, job: &Job) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let unwritable = |e: serde_json::Error| Error::invalid("a session", e.to_string(), "report this");
    let mut files = vec![
        (GRAPH, job.graph.clone().into_bytes()),
        (META, serde_json::to_vec_pretty(meta).map_err(unwritable)?),
        (TENSORS, tensors(job)?),
    ];
    let sums: BTreeMap<&str, u32> = files.iter().map(|(name, bytes)| (*name, crc32c::crc32c(bytes))).collect();
    files.push((SUMS, serde_json::to_vec_pretty(&sums).map_err(unwritable)?));
    Ok(files)
}

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

/// What each file's checksum is. Errors, as those below, say what is wrong with the bytes.
pub fn sums(bytes: &[u8]) -> std::result::Result<BTreeMap<String, u32>, String> {
    serde_json::from_slice(bytes).map_err(|e| e.to_string())
}

/// Errors where a file is not as it was written.
pub fn check(sums: &BTreeMap<String, u32>, name: &str, bytes: &[u8]) -> std::result::Result<(), String> {
    match sums.get(name) {
        Some(sum) if *sum == crc32c::crc32c(bytes) => Ok(()),
        _ => Err(format!("{name} is not what was written")),
    }
}

pub fn meta(bytes: &[u8]) -> std::result::Result<Meta, String> {
    let meta: Meta = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    match meta.format {
        FORMAT => Ok(meta),
        other => Err(format!("is of format {other}, this server writes {FORMAT}")),
    }
}

/// The job that a session goes on with, on the device at a position.
pub fn job(meta: &Meta, device: u32, graph: Vec<u8>, tensors: &[u8]) -> std::result::Result<Job, String> {
    let tensors = SafeTensors::deserialize(tensors).map_err(|e| e.to_string())?;
    let tensor = |name: &str| -> std::result::Result<TensorData, String> {
        let view = tensors.tensor(name).map_err(|e| e.to_string())?;
        let (dtype, _) =
            DTYPES.iter().find(|(_, d)| *d == view.dtype()).ok_or_else(|| format!("{name} is of a type that no tensor has"))?;
        let shape = view.shape().iter().map(|d| u32::try_from(*d)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        Ok(TensorData { dtype: *dtype, shape, bytes: view.data().to_vec() })
    };
    let mut feeds = Vec::new();
    for (i, kind) in meta.feeds.iter().enumerate() {
        feeds.push(match kind {
            FeedKind::State => Feed::State(tensor(&format!("feed.{i}"))?),
            FeedKind::Constant => Feed::Constant(tensor(&format!("feed.{i}"))?),
            FeedKind::Rows(column) => Feed::Rows { column: *column },
        });
    }
    let columns = (0..meta.columns).map(|i| tensor(&format!("column.{i}"))).collect::<Result<_, _>>()?;
    let order = tensor("order")?.bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let graph = String::from_utf8(graph).map_err(|e| e.to_string())?;
    let (name, pane) = (meta.name.clone(), meta.pane);
    Ok(Job { name, device, pane, graph, feeds, loss: meta.loss, columns, order, batch: meta.batch })
}
