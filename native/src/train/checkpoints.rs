//! A training run to and from its checkpoints.

use aludel::nn::Parameters;
use aludel::{Device, Error, Result, named_tensors};
use aludel_checkpoint::{Checkpoint, Directory, FORMAT, Meta, State, Writer, from_pytorch, load, state_of, to_pytorch};
use aludel_models::presets::Train;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the names of the loss scale's state begin with, beside the optimizer's.
const SCALER: &str = "grad_scaler.";

/// The directory of one run, taken for writing.
pub struct Store {
    writer: Writer,
    config: BTreeMap<String, String>,
    /// The checkpoint to go on from.
    pub last: Option<Checkpoint>,
}

fn names(train: &Train) -> Vec<String> {
    train.model.named_parameters().into_iter().map(|(n, _)| n).collect()
}

impl Store {
    /// Takes the directory and, to resume, reads its last checkpoint.
    ///
    /// Errors when it holds checkpoints and the run starts anew: nothing is ever overwritten by mistake.
    pub fn open(path: &Path, resume: bool, keep: usize, config: &BTreeMap<String, String>) -> Result<Store> {
        let directory = Directory::new(path);
        let writer = directory.writer(keep)?;
        if !resume && !directory.list()?.is_empty() {
            return Err(Error::invalid(
                format!("--checkpoint {}", path.display()),
                "holds the checkpoints of a run",
                "add --resume to go on with it, or choose another directory",
            ));
        }
        let last = if resume { directory.latest()? } else { None };
        if let Some(c) = &last {
            c.meta.check_config(config)?;
        }
        Ok(Store { writer, config: config.clone(), last })
    }

    /// Writes the run as it is after `step` steps.
    pub fn save(&mut self, train: &Train, step: u64, written_by: BTreeMap<String, String>) -> Result<PathBuf> {
        let seed = self.config.get("seed").and_then(|s| s.parse().ok()).unwrap_or(0);
        // A batch for each step, taken in the order that the seed says.
        let meta = Meta { format: FORMAT, step, position: step, seed, config: self.config.clone(), written_by };
        let mut optimizer = to_pytorch(&names(train), state_of(&train.optimizer)?);
        optimizer.extend(state_of(&train.amp.scaler)?.into_iter().map(|(name, array)| (format!("{SCALER}{name}"), array)));
        self.writer.save(&Checkpoint { meta, model: state_of(&train.model)?, optimizer })
    }
}

/// Puts a checkpoint's values into a fresh run; gives the step and the position in the data to go on from.
pub fn restore(checkpoint: &Checkpoint, train: &mut Train, device: &Device) -> Result<(u64, u64)> {
    let paths: Vec<String> = named_tensors(&train.optimizer).into_iter().map(|(n, _)| n).collect();
    let (scaler, optimizer): (State, State) = checkpoint.optimizer.clone().into_iter().partition(|(name, _)| name.starts_with(SCALER));
    let scaler: State = scaler.into_iter().map(|(name, array)| (name[SCALER.len()..].to_string(), array)).collect();
    let optimizer = from_pytorch(&names(train), &paths, optimizer)?;
    load(&checkpoint.model, &mut train.model, device)?;
    load(&optimizer, &mut train.optimizer, device)?;
    load(&scaler, &mut train.amp.scaler, device)?;
    Ok((checkpoint.meta.step, checkpoint.meta.position))
}
