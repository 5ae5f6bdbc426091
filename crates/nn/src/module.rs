//! What a module is, and the names of its parameters.

use aludel_tensor::{Device, Error, Result, Tensor, Tree, named_tensors, no_grad};
use std::collections::BTreeMap;

/// A function of one tensor with parameters.
pub trait Module: Tree {
    /// What the module makes of `x`, whose shape is said at the module.
    ///
    /// # Errors
    ///
    /// When `x` has another shape or element type, as the operators [say](aludel_tensor#when-an-operator-fails); what draws random numbers
    /// in training, such as dropout, also outside of a [generator's](crate::Generator) scope.
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

    /// Takes values by name. Other floating-point types, and other integer types, are converted. PyTorch: `load_state_dict` with
    /// `strict=True`.
    ///
    /// # Errors
    ///
    /// When names are missing or unknown, or values have another shape; the error lists them all, and nothing is changed.
    fn load_state_dict(&mut self, state: &BTreeMap<String, Tensor>) -> Result<()> {
        load(self, state, true).map(|_| ())
    }

    /// Takes the values whose names it has, and says which names did not fit. PyTorch: `load_state_dict` with `strict=False`.
    ///
    /// # Errors
    ///
    /// When values have another shape; the error lists them all, and nothing is changed.
    fn load_state_dict_partially(&mut self, state: &BTreeMap<String, Tensor>) -> Result<IncompatibleKeys> {
        load(self, state, false)
    }

    /// The same with parameters of its own: updates of one do not change the other. A plain clone has the same parameters under the
    /// same names for `backward()`. PyTorch: `copy.deepcopy`.
    fn duplicate(&self) -> Self
    where
        Self: Clone,
    {
        let mut copy = self.clone();
        copy.visit_mut(&mut |t| {
            if t.is_requires_grad() {
                *t = t.detach().requires_grad();
            }
        });
        copy
    }

    /// Makes every parameter a constant: `backward()` gives no gradient for it. PyTorch: `requires_grad_(False)`.
    fn freeze(&mut self) {
        self.visit_mut(&mut |t| *t = t.detach());
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
    ///
    /// # Errors
    ///
    /// When a tensor cannot be read, as [`Tensor::to_device`]: that one stays where it is, the others move.
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

/// Names that did not fit when a state was loaded in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncompatibleKeys {
    /// What the module has and the state has not.
    pub missing: Vec<String>,
    /// What the state has and the module has not.
    pub unexpected: Vec<String>,
}

fn load<T: Tree + ?Sized>(tree: &mut T, state: &BTreeMap<String, Tensor>, strict: bool) -> Result<IncompatibleKeys> {
    let present = named_tensors(tree);
    let mut keys = IncompatibleKeys::default();
    let (mut other, mut new) = (Vec::new(), Vec::with_capacity(present.len()));
    for (name, t) in &present {
        let value = state.get(name);
        match value {
            None => keys.missing.push(name.clone()),
            Some(s) if s.dims() != t.dims() || s.dtype().is_float() != t.dtype().is_float() => {
                other.push(format!("{name} is {s} where the module has {t}"));
            }
            Some(_) => {}
        }
        new.push(value);
    }
    let known: std::collections::BTreeSet<&String> = present.iter().map(|(n, _)| n).collect();
    keys.unexpected = state.keys().filter(|n| !known.contains(n)).cloned().collect();
    let none = Vec::new();
    let names = |list| if strict { list } else { &none };
    let problems = [("missing", names(&keys.missing)), ("unexpected", names(&keys.unexpected)), ("of another type or shape", &other)];
    let text: Vec<String> =
        problems.iter().filter(|(_, list)| !list.is_empty()).map(|(what, list)| format!("{what}: {}", list.join(", "))).collect();
    if !text.is_empty() {
        return Err(Error::invalid("load_state_dict", text.join("; "), "load the state of a module made alike"));
    }
    // All are ready before the first is put in place.
    let ready = present
        .iter()
        .zip(new)
        .map(|((_, t), value)| match value {
            Some(v) => {
                let v = v.detach().to_device(t.device())?;
                let v = if v.dtype() == t.dtype() { v } else { no_grad(|| v.to(t.dtype()))?.detach() };
                Ok(Some(if t.is_requires_grad() { v.requires_grad() } else { v }))
            }
            None => Ok(None),
        })
        .collect::<Result<Vec<_>>>()?;
    let mut ready = ready.into_iter();
    tree.visit_mut(&mut |t| {
        if let Some(Some(v)) = ready.next() {
            *t = v;
        }
    });
    Ok(keys)
}
