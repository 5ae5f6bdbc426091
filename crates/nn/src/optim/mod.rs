//! Optimizers, with PyTorch's update rules, options and defaults.
//!
//! Their state is made at construction, so that the tree of a training step does not change. Hyperparameters that schedules change
//! (learning rate, weight decay, momentum, betas) and the step count are tensors: changing them compiles nothing anew. Parameters may be
//! divided into groups that have numbers of their own, see [`ParamGroup`].

mod adam;
mod adaptive;
mod averaged;
mod group;
mod lbfgs;
mod muon;
mod other;
mod sgd;

pub use adam::{Adam, AdamConfig, AdamW};
pub use adaptive::{Adadelta, AdadeltaConfig, Adafactor, AdafactorConfig, Adamax, AdamaxConfig, NAdam, NAdamConfig, RAdam, RAdamConfig};
pub use averaged::{Asgd, AsgdConfig, Rprop, RpropConfig};
pub use group::{Groups, ParamGroup};
pub use lbfgs::{Lbfgs, LbfgsConfig, LineSearch};
pub use muon::{AdjustLr, Muon, MuonConfig};
pub use other::{Adagrad, AdagradConfig, Lion, LionConfig, RmsProp, RmsPropConfig};
pub use sgd::{Sgd, SgdConfig};

use aludel_tensor::{Error, Gradients, Result, Static, Tensor, Tree, Visitor, no_grad};

/// Updates the parameters of a tree.
pub trait Optimizer: Tree {
    /// Replaces each parameter for which there is a gradient by its update.
    ///
    /// # Errors
    ///
    /// When there is a gradient for none of them (then the gradients are of other values), or the tree has other parameters than the
    /// optimizer was made for.
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()>;

    /// The groups of parameters and their hyperparameters. PyTorch: `param_groups`.
    fn param_groups(&self) -> &Groups;

    fn param_groups_mut(&mut self) -> &mut Groups;

    /// The learning rate of every group from the next step on.
    fn set_lr(&mut self, lr: f64) {
        let groups = self.param_groups_mut();
        (0..groups.len()).for_each(|g| groups.set_lr(g, lr));
    }
}

/// What an optimizer keeps for each parameter that it updates: `exp_avg.3` is the fourth parameter's.
#[derive(Clone)]
pub(crate) struct PerParameter(Vec<Option<Tensor>>);

impl PerParameter {
    /// A tensor of one value, shaped as the parameter.
    pub fn filled(parameters: &[Option<Tensor>], value: f64) -> Result<PerParameter> {
        let fill = |t: &Tensor| no_grad(|| if value == 0.0 { t.detach().zeros_like() } else { t.detach().full_like(value) });
        Ok(PerParameter(parameters.iter().map(|t| t.as_ref().map(fill).transpose()).collect::<Result<_>>()?))
    }

    /// A scalar for each parameter, by its position.
    pub fn scalars(parameters: &[Option<Tensor>], value: impl Fn(usize) -> Result<f64>) -> Result<PerParameter> {
        let one = |(k, t): (usize, &Option<Tensor>)| t.as_ref().map(|t| Ok(Tensor::scalar(t.device(), value(k)? as f32))).transpose();
        Ok(PerParameter(parameters.iter().enumerate().map(one).collect::<Result<_>>()?))
    }

    /// Zeros, shaped as the parameter but for one dimension, counted from the end from 1 on, of size 1.
    pub fn reduced(parameters: &[Option<Tensor>], from_end: usize) -> Result<PerParameter> {
        let one = |t: &Tensor| {
            let mut shape = t.dims().to_vec();
            let at = shape.len().saturating_sub(from_end);
            if let Some(d) = shape.get_mut(at) {
                *d = aludel_tensor::Dim::ONE;
            }
            Tensor::full(t.device(), shape, 0.0, t.dtype())
        };
        Ok(PerParameter(parameters.iter().map(|t| t.as_ref().map(one).transpose()).collect::<Result<_>>()?))
    }

    /// For optimizers that have no use for it.
    pub fn none() -> PerParameter {
        PerParameter(Vec::new())
    }

    pub fn get(&self, k: usize) -> Option<&Tensor> {
        self.0.get(k)?.as_ref()
    }

    pub fn set(&mut self, k: usize, value: Tensor) {
        if let Some(slot) = self.0.get_mut(k) {
            *slot = Some(value);
        }
    }
}

impl Tree for PerParameter {
    // Which parameters have one is said by the groups.
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Len(self.0.len()));
        for (i, t) in self.0.iter().enumerate() {
            if let Some(t) = t {
                visitor.enter(aludel_tensor::Key::Index(i));
                visitor.tensor(t);
                visitor.exit();
            }
        }
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.0.iter_mut().flatten().for_each(visitor);
    }
}

/// The state of a parameter, in the order in which its operator takes and gives it.
fn state<const N: usize>(what: &str, k: usize, of: [&PerParameter; N]) -> Result<[Tensor; N]> {
    let found: Vec<Tensor> = of.iter().filter_map(|p| p.get(k).cloned()).collect();
    found.try_into().map_err(|_| Error::invalid(what, format!("has no state for parameter {k}"), "make a new optimizer for this model"))
}

fn check(what: &str, name: &str, value: f64, range: std::ops::Range<f64>) -> Result<()> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(what, format!("{name} is {value}"), format!("use a number from {} to below {}", range.start, range.end)))
}
