//! Published parameters: files whose names differ a little from a model's own.

use aludel_nn::Parameters;
use aludel_tensor::{Result, Tensor, Tree};
use std::collections::BTreeMap;

/// A model that takes the files which its library publishes.
///
/// Libraries leave out tied tensors or repeat them, keep constants beside parameters, and publish a model with or without the head that
/// names its body (`h.0.ln_1.weight` and `transformer.h.0.ln_1.weight`).
pub trait Published: Tree {
    /// What stands before the names of the body's parameters in a model with a head, with the dot: `"bert."`.
    const BASE: &str;

    /// Whether a file's tensor of this name repeats another or is a constant.
    fn says_nothing_new(&self, _name: &str) -> bool {
        false
    }

    /// Takes the values of a file by name.
    ///
    /// # Errors
    ///
    /// When names are missing or unknown or shapes differ; the error lists them all, and nothing is changed.
    fn load_published(&mut self, state: &BTreeMap<String, Tensor>) -> Result<()> {
        let body = !state.keys().any(|name| name.starts_with(Self::BASE));
        let named = state.iter().map(|(name, t)| (if body { format!("{}{name}", Self::BASE) } else { name.clone() }, t.clone()));
        let new: BTreeMap<String, Tensor> = named.filter(|(name, _)| !self.says_nothing_new(name)).collect();
        self.load_state_dict(&new)
    }
}
