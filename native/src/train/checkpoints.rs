//! A training run to and from its checkpoints.

use aludel::nn::Parameters;
use aludel::{Device, Error, Result, named_tensors};
use aludel_checkpoint::{Checkpoint, Directory, FORMAT, Meta, State, Writer, from_pytorch, load, state_of, to_pytorch};
use aludel_models::presets::Train;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the names of the loss scale's state begin with, beside the optimizer's.
const SCALER: &str = "grad_scaler.";
/// And those of a second player's optimizer.
const SECOND: &str = "second_optimizer.";

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
        for (prefix, state) in [(SCALER, state_of(&train.amp.scaler)?), (SECOND, state_of(&train.second_optimizer)?)] {
            optimizer.extend(state.into_iter().map(|(name, array)| (format!("{prefix}{name}"), array)));
        }
        self.writer.save(&Checkpoint { meta, model: state_of(&train.model)?, optimizer })
    }
}

/// Puts a checkpoint's values into a fresh run; gives the step and the position in the data to go on from.
pub fn restore(checkpoint: &Checkpoint, train: &mut Train, device: &Device) -> Result<(u64, u64)> {
    let paths: Vec<String> = named_tensors(&train.optimizer).into_iter().map(|(n, _)| n).collect();
    let mut optimizer = checkpoint.optimizer.clone();
    let mut under = |prefix: &str| -> State {
        let names: Vec<String> = optimizer.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        names.iter().filter_map(|name| Some((name[prefix.len()..].to_string(), optimizer.remove(name)?))).collect()
    };
    let (scaler, second) = (under(SCALER), under(SECOND));
    let optimizer = from_pytorch(&names(train), &paths, optimizer)?;
    load(&checkpoint.model, &mut train.model, device)?;
    load(&optimizer, &mut train.optimizer, device)?;
    load(&scaler, &mut train.amp.scaler, device)?;
    load(&second, &mut train.second_optimizer, device)?;
    Ok((checkpoint.meta.step, checkpoint.meta.position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_models::presets::{Config, Preset, Source};

    /// Of a run of two players, both go on with the moments that they had.
    #[test]
    fn both_optimizers_go_on() {
        let device = Device::interpreter();
        let fields = [("noise", "4"), ("hidden", "8"), ("batch", "8")].map(|(k, v)| (k.to_string(), v.to_string()));
        let config = Config::from_fields(Preset::Gan, &fields).unwrap();
        let (mut run, mut source) = (Train::new(&config, &device).unwrap(), Source::new(&config));
        let mut step = |train: &mut Train, k: u64| train.step(&source.batch(k, &device).unwrap()).unwrap().item().unwrap();
        for k in 0..3 {
            step(&mut run, k);
        }
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path(), false, 1, &BTreeMap::new()).unwrap();
        store.save(&run, 3, BTreeMap::new()).unwrap();
        drop(store);
        let last = Store::open(directory.path(), true, 1, &BTreeMap::new()).unwrap().last.unwrap();
        let mut resumed = Train::new(&config, &device).unwrap();
        assert_eq!(restore(&last, &mut resumed, &device).unwrap(), (3, 3));
        for k in 3..6 {
            assert_eq!(step(&mut resumed, k), step(&mut run, k), "step {k}");
        }
    }
}
