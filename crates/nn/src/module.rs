//! What a module is, and the names of its parameters.

use aludel_tensor::{Device, Error, Result, Tensor, Tree, named_tensors};
use std::collections::BTreeMap;

/// A function of one tensor with parameters.
pub trait Module: Tree {
    fn forward(&self, x: &Tensor) -> Result<Tensor>;
}

/// The parameters and buffers of a tree, by name.
pub trait Parameters: Tree {
    /// The tensors that require a gradient, in the order of the tree, by PyTorch's names.
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        named_tensors(self).into_iter().filter(|(_, t)| t.is_requires_grad()).collect()
    }

    /// How many numbers are learned.
    fn parameter_count(&self) -> usize {
        self.named_parameters().iter().map(|(_, t)| t.numel()).sum()
    }

    /// Parameters and buffers by name.
    fn state_dict(&self) -> BTreeMap<String, Tensor> {
        named_tensors(self).into_iter().map(|(n, t)| (n, t.detach())).collect()
    }

    /// Takes values by name. Errors, and changes nothing, when names are missing or unknown, or values of another type or shape; the
    /// error lists them all. PyTorch: `load_state_dict` with `strict=True`.
    fn load_state_dict(&mut self, state: &BTreeMap<String, Tensor>) -> Result<()> {
        let present = named_tensors(self);
        let (mut missing, mut other) = (Vec::new(), Vec::new());
        for (name, t) in &present {
            match state.get(name) {
                None => missing.push(name.clone()),
                Some(s) if s.ty() != t.ty() => other.push(format!("{name} is {s} where the module has {t}")),
                Some(_) => {}
            }
        }
        let known: std::collections::BTreeSet<&String> = present.iter().map(|(n, _)| n).collect();
        let unexpected: Vec<String> = state.keys().filter(|n| !known.contains(n)).cloned().collect();
        let problems = [("missing", missing), ("unexpected", unexpected), ("of another type or shape", other)];
        let text: Vec<String> =
            problems.iter().filter(|(_, list)| !list.is_empty()).map(|(what, list)| format!("{what}: {}", list.join(", "))).collect();
        if !text.is_empty() {
            return Err(Error::invalid("load_state_dict", text.join("; "), "load the state of a module made alike"));
        }
        let mut names = present.into_iter().map(|(n, _)| n);
        let mut outcome = Ok(());
        self.visit_mut(&mut |t| {
            let Some(new) = names.next().and_then(|n| state.get(&n)) else { return };
            match new.detach().to_device(t.device()) {
                Ok(v) => *t = if t.is_requires_grad() { v.requires_grad() } else { v },
                Err(e) => outcome = Err(e),
            }
        });
        outcome
    }

    /// Lets modules behave as in training: batch normalization by the batch. PyTorch: `Module.train`.
    fn train(&mut self) {
        self.set_training(true);
    }

    /// Lets modules behave as in use: batch normalization by running statistics. PyTorch: `Module.eval`.
    fn eval(&mut self) {
        self.set_training(false);
    }

    /// Moves every tensor to a device; through the host.
    fn move_to(&mut self, device: &Device) -> Result<()> {
        let mut outcome = Ok(());
        self.visit_mut(&mut |t| match t.to_device(device) {
            Ok(v) => *t = v,
            Err(e) => outcome = Err(e),
        });
        outcome
    }
}

impl<T: Tree + ?Sized> Parameters for T {}
