//! Modules as functions of their parameters.

use crate::module::Module;
use aludel_tensor::{Error, Result, Tensor, Tree, named_tensors};
use std::collections::BTreeMap;

/// Calls a module with other parameters and buffers, by name; those without a name in `parameters` are its own. PyTorch:
/// `torch.func.functional_call`.
///
/// The module itself does not change: buffers that the call updates, such as running statistics, are the copy's.
///
/// ```
/// use aludel_nn::{Init, Linear, Parameters, functional_call};
/// use aludel_tensor::{Device, Tensor, func};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let model = Linear::new(&mut Init::new(&device, 0), 3, 1)?;
/// let x = Tensor::ones(&device, [4, 3])?;
/// let gradient = func::grad(|p: &_| functional_call(&model, p, &x)?.square()?.mean(()))(&model.state_dict())?;
/// assert_eq!(gradient["weight"].shape(), [1, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a name is none of the module's or a value has another type or shape; all are listed. And the module's own.
#[track_caller]
pub fn functional_call<M: Module + Clone>(module: &M, parameters: &BTreeMap<String, Tensor>, input: &Tensor) -> Result<Tensor> {
    with_parameters(module, parameters)?.forward(input)
}

/// A copy of a tree with other tensors, by name: [`functional_call`] for what is called in another way.
///
/// # Errors
///
/// When a name is none of the tree's or a value has another type or shape; all are listed.
pub fn with_parameters<M: Tree + Clone>(module: &M, parameters: &BTreeMap<String, Tensor>) -> Result<M> {
    let present = named_tensors(module);
    let mut problems: Vec<String> =
        parameters.keys().filter(|n| !present.iter().any(|(p, _)| p == *n)).map(|n| format!("{n} is not a name of the module")).collect();
    for (name, own) in &present {
        if let Some(given) = parameters.get(name).filter(|g| g.ty() != own.ty()) {
            problems.push(format!("{name} is {given} where the module has {own}"));
        }
    }
    if !problems.is_empty() {
        return Err(Error::invalid("functional_call", problems.join("; "), "give parameters by the names of state_dict()"));
    }
    let mut copy = module.clone();
    let mut names = present.into_iter().map(|(n, _)| n);
    copy.visit_mut(&mut |t| {
        if let Some(new) = names.next().and_then(|n| parameters.get(&n)) {
            *t = new.clone();
        }
    });
    Ok(copy)
}
