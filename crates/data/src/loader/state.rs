//! A position in the data.

use super::StreamState;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Where a loader is: all that a checkpoint has to keep of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoaderState {
    pub epoch: u64,
    /// How many batches of the epoch were taken.
    pub batches: u64,
    /// What the order of samples depends on.
    pub order: String,
    /// Of a stream: where each worker's is, and whose turn it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamState>,
    #[serde(default)]
    pub turn: usize,
}

impl LoaderState {
    /// Errors when this is a position in another order.
    pub(super) fn check(&self, order: &str) -> Result<()> {
        if self.order == order {
            return Ok(());
        }
        let problem = format!("is of another order of samples: there {}, here {order}", self.order);
        Err(Error::state(problem, "give the same data set, sampler, batch_size, drop_last and seed, or start anew"))
    }
}

/// The longest description that is kept as it is.
const LONGEST: usize = 240;

/// A description short enough for a checkpoint: the end of a long one (the indices of a subset, weights) is told by its checksum.
pub(super) fn describe(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_string();
    }
    let cut = (0..=LONGEST).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}.. ({} characters, CRC-32C {:08x})", &text[..cut], text.len(), crc32c::crc32c(text.as_bytes()))
}
