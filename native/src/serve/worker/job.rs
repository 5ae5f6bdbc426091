//! What a client sent, checked: from here on every index is in range and every tensor has the type and size that the graph says.
//!
//! Checks go from cheap to dear, and whatever could be large is bounded before it is looked at. Names are only for people: they are made
//! harmless before anything is compiled, so that nothing that a client wrote could reach a compiler even if a printer used one.

use super::cost;
use crate::serve::args::Bounds;
use crate::serve::limits::{job, within};
use aludel::{DType, words_from_le_bytes};
use aludel_ir::text::parse_graph;
use aludel_ir::{Dim, Graph, InputKind, TensorType};
use aludel_protocol::Pane;
use aludel_protocol::remote::{Feed, Job, Refusal, TensorData};
use std::sync::Arc;

/// Longer names are cut.
const MOST_NAME: usize = 64;
/// No line of a graph that is captured is nearly as long.
const TEXT_PER_NODE: u64 = 1024;

/// A checked job.
pub struct Plan {
    pub name: String,
    pub device: usize,
    pub pane: Pane,
    /// The graph as it was sent.
    pub text: String,
    pub graph: Arc<Graph>,
    /// One for each input of the graph.
    pub feeds: Vec<PlanFeed>,
    /// The names of the graph's inputs as they were sent.
    pub names: Vec<String>,
    pub loss: usize,
    pub columns: Vec<Column>,
    /// Not empty, all in range; without columns a single zero.
    pub order: Vec<u32>,
    /// At least one.
    pub batch: usize,
    /// Bytes of everything that a step computes, where every operator keeps its result.
    pub computed: u64,
}

/// Where an input comes from.
pub enum PlanFeed {
    /// Device words to begin with; replaced by each step.
    State(Vec<u32>),
    Constant(Vec<u32>),
    Rows(usize),
}

/// Examples, one in each row.
pub struct Column {
    pub dtype: DType,
    pub shape: Vec<u32>,
    /// Device words of a row.
    pub row: usize,
    pub words: Vec<u32>,
}

/// The number of elements; `None` where it does not fit.
fn elements(shape: &[u32]) -> Option<u64> {
    shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::from(*d)))
}

/// Errors where the bytes do not fill the shape.
fn check_size(what: &dyn Fn() -> String, t: &TensorData) -> Result<u64, Refusal> {
    let n = elements(&t.shape).and_then(|n| n.checked_mul(t.dtype.size() as u64));
    match n {
        Some(n) if n == t.bytes.len() as u64 => Ok(n / t.dtype.size() as u64),
        _ => Err(job(format!("{} is {}{:?} and comes with {} bytes", what(), t.dtype, t.shape, t.bytes.len()))),
    }
}

fn type_of(dtype: DType, shape: &[u32]) -> TensorType {
    TensorType { dtype, shape: shape.iter().map(|d| Dim::Const(i64::from(*d))).collect() }
}

/// Checks a job. Takes as long as the graph is large; call it where that may be.
pub fn check(sent: Job, bounds: &Bounds) -> Result<Plan, Refusal> {
    let Job { name, device, pane, graph: text, feeds, loss, columns, order, batch } = sent;
    let wire = &bounds.wire;
    within("bytes of the graph's text", text.len() as u64, wire.graph_nodes.saturating_mul(TEXT_PER_NODE).min(wire.message_bytes))?;
    // What a device makes of them: a word for each element.
    let mut total = (order.len() as u64).saturating_mul(4);
    let tensors = feeds.iter().filter_map(|f| match f {
        Feed::State(t) | Feed::Constant(t) => Some(t),
        Feed::Rows { .. } => None,
    });
    for t in tensors.chain(&columns) {
        total = total.saturating_add(elements(&t.shape).unwrap_or(u64::MAX).saturating_mul(4));
    }
    within("bytes of tensors", total, wire.tensor_bytes)?;

    let mut graph = parse_graph(&text).map_err(job)?;
    within("operators of the graph", graph.total_nodes() as u64, wire.graph_nodes)?;
    within("inputs of the graph", graph.inputs.len() as u64, wire.graph_nodes)?;
    within("outputs of the graph", graph.outputs.len() as u64, wire.graph_nodes)?;
    if !graph.env.symbols.is_empty() {
        return Err(job("the graph has sizes that vary; export it for the sizes of one call"));
    }
    graph.verify().map_err(job)?;
    cost::check(&graph, bounds)?;
    let names = graph.inputs.iter().map(|i| i.name.chars().take(4 * MOST_NAME).collect()).collect();
    tame(&mut graph);
    let computed = graph.types.iter().fold(0u64, |n, ty| n.saturating_add(bytes_of(ty)));

    let loss = usize::try_from(loss).ok().filter(|l| *l < graph.outputs.len());
    let loss = loss.ok_or_else(|| job(format!("there is no such output as the loss; the graph has {}", graph.outputs.len())))?;
    let ty = graph.ty(graph.outputs[loss].value);
    if !ty.dtype.is_float() || !ty.shape.iter().all(Dim::is_one) || graph.outputs[loss].updates.is_some() {
        return Err(job(format!("the loss is {ty}; it must be one floating-point number that updates no state")));
    }
    let columns = columns.into_iter().enumerate().map(|(k, c)| column(k, c)).collect::<Result<Vec<Column>, _>>()?;
    let batch = batch as usize;
    let feeds = check_feeds(&graph, feeds, &columns, batch)?;
    // What each step takes from the columns is gathered on the host.
    let gathered = feeds.iter().zip(&graph.inputs).filter(|(f, _)| matches!(f, PlanFeed::Rows(_)));
    let total = gathered.fold(total, |n, (_, input)| n.saturating_add(bytes_of(graph.ty(input.value))));
    within("bytes of tensors", total, wire.tensor_bytes)?;
    let uses_rows = feeds.iter().any(|f| matches!(f, PlanFeed::Rows(_)));
    let order = if uses_rows { order } else { vec![0] };
    let batch = if uses_rows { batch } else { 1 };
    if order.is_empty() || batch == 0 {
        return Err(job(format!("a step takes {batch} rows of an order of {}; both must be at least one", order.len())));
    }
    let rows = feeds.iter().filter_map(|f| if let PlanFeed::Rows(c) = f { Some(columns[*c].shape[0]) } else { None }).min();
    if let (Some(rows), Some(bad)) = (rows, order.iter().max())
        && *bad >= rows
    {
        return Err(job(format!("the order names row {bad} of {rows}")));
    }
    let name = plain_name(&name);
    Ok(Plan { name, device: device as usize, pane, text, graph: Arc::new(graph), feeds, names, loss, columns, order, batch, computed })
}

/// A session's name for people.
pub fn plain_name(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MOST_NAME).collect()
}

/// Bytes of a tensor on a device: a word for each element.
pub fn bytes_of(ty: &TensorType) -> u64 {
    let elements = ty.shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::try_from(d.as_const()?).ok()?));
    elements.unwrap_or(u64::MAX).saturating_mul(4)
}

fn column(k: usize, c: TensorData) -> Result<Column, Refusal> {
    let n = check_size(&|| format!("column {k}"), &c)?;
    match c.shape.first() {
        Some(rows) if *rows > 0 => {
            let row = (n / u64::from(*rows)) as usize;
            Ok(Column { words: words_from_le_bytes(&c.bytes, c.dtype), dtype: c.dtype, row, shape: c.shape })
        }
        _ => Err(job(format!("column {k} is {}{:?} and has no rows", c.dtype, c.shape))),
    }
}

fn check_feeds(graph: &Graph, feeds: Vec<Feed>, columns: &[Column], batch: usize) -> Result<Vec<PlanFeed>, Refusal> {
    if feeds.len() != graph.inputs.len() {
        return Err(job(format!("{} feeds for {} inputs of the graph", feeds.len(), graph.inputs.len())));
    }
    let mut out = Vec::with_capacity(feeds.len());
    for (i, (feed, input)) in feeds.into_iter().zip(&graph.inputs).enumerate() {
        let place = || format!("input {i} ({})", input.name);
        let (dtype, shape) = match &feed {
            Feed::State(t) | Feed::Constant(t) => {
                check_size(&place, t)?;
                (t.dtype, t.shape.clone())
            }
            Feed::Rows { column } => {
                let c = columns.get(*column as usize).ok_or_else(|| job(format!("{}: there is no column {column}", place())))?;
                let first = u32::try_from(batch).map_err(|_| job("the batch is too large"))?;
                (c.dtype, std::iter::once(first).chain(c.shape[1..].iter().copied()).collect())
            }
        };
        let (have, want) = (type_of(dtype, &shape), graph.ty(input.value));
        if have != *want {
            return Err(job(format!("{} is {want} and is fed {have}", place())));
        }
        let updated = graph.outputs.iter().any(|o| o.updates == Some(i));
        out.push(match feed {
            Feed::State(t) if updated => PlanFeed::State(words_from_le_bytes(&t.bytes, t.dtype)),
            Feed::Constant(t) if !updated => PlanFeed::Constant(words_from_le_bytes(&t.bytes, t.dtype)),
            Feed::Rows { column } if !updated && input.kind == InputKind::Arg => PlanFeed::Rows(column as usize),
            Feed::State(_) => return Err(job(format!("{} is fed state, and no output updates it", place()))),
            _ => return Err(job(format!("{} is state of the graph, and is not fed state", place()))),
        });
    }
    Ok(out)
}

/// Names and source locations without anything but letters, digits and `_ . : -`, and not long.
fn tame(graph: &mut Graph) {
    let plain = |text: &str| -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "_.:-".contains(c) { c } else { '_' };
        text.chars().take(MOST_NAME).map(safe).collect()
    };
    graph.name = "step".into();
    graph.names.iter_mut().flatten().for_each(|n| *n = plain(n));
    graph.inputs.iter_mut().for_each(|i| i.name = plain(&i.name));
    graph.outputs.iter_mut().for_each(|o| o.name = plain(&o.name));
    graph.nodes.iter_mut().filter_map(|n| n.location.as_mut()).for_each(|l| *l = plain(l));
}
