//! Checkpoints of training runs.
//!
//! A checkpoint is a directory `step-00000100` with
//!
//! - `model.safetensors`: parameters and buffers by the names of PyTorch's `state_dict` (`layers.0.weight`), so that
//!   `load_state_dict(safetensors.torch.load_file(..))` takes it;
//! - `optimizer.safetensors`: for each parameter `NAME.exp_avg`, `NAME.exp_avg_sq`, `NAME.step` (or what the optimizer keeps), and
//!   `param_groups.0.lr`;
//! - `training.json`: the step, the position in the data, the seed and the configuration that a run which resumes must share;
//! - `CHECKSUMS`: size and CRC-32C of the three.
//!
//! Runs whose parameters are divided among ranks write a file each: [`sharded`].
//!
//! A directory of that name is complete: it is written under another name, brought to the disk, and renamed. See [`Directory`].

#![warn(clippy::too_many_lines)]

mod directory;
mod file;
mod optimizer;
pub mod sharded;
mod state;

pub use directory::{Directory, Writer, read};
pub use file::{decode, encode};
pub use optimizer::{from_pytorch, to_pytorch};
pub use state::{Array, State, load, state_of};

use aludel_ir::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the layout on disk.
pub const FORMAT: u32 = 1;

/// What `training.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    pub format: u32,
    /// How many steps were made.
    pub step: u64,
    /// How many batches were taken from the data.
    pub position: u64,
    /// The seed of parameters and data.
    pub seed: u64,
    /// What a run that resumes must have in common: the preset and its hyperparameters.
    pub config: BTreeMap<String, String>,
    /// What wrote it, for people: device, mode, version.
    #[serde(default)]
    pub written_by: BTreeMap<String, String>,
}

impl Meta {
    /// Errors, naming every key that differs, when a run of this configuration cannot go on from here.
    pub fn check_config(&self, config: &BTreeMap<String, String>) -> Result<()> {
        let show = |v: Option<&String>| v.map_or("nothing".to_string(), |v| format!("`{v}`"));
        let keys: std::collections::BTreeSet<&String> = self.config.keys().chain(config.keys()).collect();
        let differ: Vec<String> = keys
            .into_iter()
            .filter(|k| self.config.get(*k) != config.get(*k))
            .map(|k| format!("{k} is {} there and {} here", show(self.config.get(k)), show(config.get(k))))
            .collect();
        if differ.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(
            "resume",
            format!("the checkpoint is of another run: {}", differ.join(", ")),
            "give the same settings, or another directory to start anew",
        ))
    }
}

/// A training run at one step, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub meta: Meta,
    /// By PyTorch's `state_dict` names.
    pub model: State,
    /// By PyTorch's names: see [`to_pytorch`].
    pub optimizer: State,
}
