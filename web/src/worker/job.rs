//! From what a pane would train here to what a companion server needs to train it there.

use super::learner::Learner;
use aludel::{Device, Error, ExportedInput, Result, Snapshot, Tensor};
use aludel_ir::text::print_graph;
use aludel_models::presets::{Table, Values};
use aludel_protocol::Pane;
use aludel_protocol::remote::{Feed, Job, TensorData};

/// How many rows the steps of a job take before their order begins anew: two million, a few megabytes.
const PLACES: usize = 1 << 21;
/// How many of them are different: problems of three digits never end, and each takes a hundred bytes.
const DISTINCT: usize = 1 << 17;

/// The captured step of a learner with its state and data, and the names of its state in the order of the feeds.
pub async fn job(learner: &mut Learner, name: &str, pane: Pane) -> Result<(Job, Vec<String>)> {
    let exported = learner.export()?;
    let loss = match exported.results[..] {
        [Some(loss)] => loss as u32,
        _ => return Err(Error::invalid("export", "the step's result is not one loss", "report this")),
    };
    let feeds = Feed::of(&exported).await?;
    let state = exported.inputs.iter().filter_map(|i| match i {
        ExportedInput::State { path, updated: true, .. } => Some(path.clone()),
        _ => None,
    });
    let names = state.collect();
    // A batch's inputs and targets are the table's columns, in that order.
    let Table { columns: [x, y], order, batch } = learner.table(PLACES, DISTINCT).await?;
    let mut columns = Vec::with_capacity(2);
    for column in [x, y] {
        let tensor = match column.values {
            Values::F32(v) => Tensor::from_vec(learner.device(), v, column.shape)?,
            Values::I32(v) => Tensor::from_vec(learner.device(), v, column.shape)?,
        };
        columns.push(TensorData::of(&tensor).await?);
    }
    let graph = print_graph(&exported.graph);
    Ok((Job { name: name.into(), device: 0, pane, graph, feeds, loss, columns, order, batch: batch as u32 }, names))
}

/// A snapshot with the values that came from a server in place of its own. What the step does not update stays as it is.
pub async fn updated(snapshot: &Snapshot, tensors: &[(String, TensorData)], device: &Device) -> Result<Snapshot> {
    let mut snapshot = snapshot.clone();
    for (name, new) in tensors {
        let wrong = |problem: String| Error::invalid(format!("the server's state: {name}"), problem, "reset the pane");
        let old = snapshot.tensors.iter_mut().find(|t| t.path == *name).ok_or_else(|| wrong("the model has no such tensor".into()))?;
        let new = Snapshot::take(&new.to_tensor(device)?).await?.tensors.pop().ok_or_else(|| wrong("it is empty".into()))?;
        if new.ty != old.ty {
            return Err(wrong(format!("it is {}, the model has {}", new.ty, old.ty)));
        }
        old.words = new.words;
    }
    Ok(snapshot)
}
