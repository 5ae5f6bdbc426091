//! Rprop and ASGD.

use super::adaptive::{no_steps, optimizer};
use super::{Groups, Optimizer, ParamGroup, PerParameter, check, state};
use crate::call::results;
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, Tree, no_grad};

/// Arguments of [`Rprop`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RpropConfig {
    /// The first size of a step; later ones follow from the signs of the gradient.
    pub lr: f64,
    /// What a size is multiplied with where the sign changes, and where it stays.
    pub etas: (f64, f64),
    /// The smallest and the largest size.
    pub step_sizes: (f64, f64),
    pub maximize: bool,
}

impl Default for RpropConfig {
    fn default() -> Self {
        RpropConfig { lr: 1e-2, etas: (0.5, 1.2), step_sizes: (1e-6, 50.0), maximize: false }
    }
}

/// Steps by the sign of the gradient, each element with a size of its own. PyTorch: `torch.optim.Rprop`.
#[derive(Clone, Tree)]
pub struct Rprop {
    param_groups: Groups,
    prev: PerParameter,
    step_size: PerParameter,
    etaminus: f64,
    etaplus: f64,
    step_size_min: f64,
    step_size_max: f64,
    maximize: bool,
}

impl Rprop {
    /// As [`Rprop::new`], with a learning rate of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: RpropConfig, groups: &[ParamGroup]) -> Result<Rprop> {
        let RpropConfig { lr, etas: (etaminus, etaplus), step_sizes: (step_size_min, step_size_max), maximize } = config;
        if !(0.0 < etaminus && etaminus < 1.0 && 1.0 < etaplus && etaplus.is_finite()) {
            return Err(Error::invalid("Rprop", format!("etas are {etaminus} and {etaplus}"), "use a number below 1 and one above"));
        }
        check("Rprop", "the smallest step size", step_size_min, 0.0..f64::MAX)?;
        check("Rprop", "the largest step size", step_size_max, step_size_min..f64::MAX)?;
        let (param_groups, parameters) = Groups::new("Rprop", parameters, &[("lr", vec![lr])], groups)?;
        let mut step_size = PerParameter::filled(&parameters, lr)?;
        let of: Vec<Option<usize>> = param_groups.assignment().to_vec();
        for (k, (p, group)) in parameters.iter().zip(of).enumerate() {
            if let (Some(p), Some(group)) = (p, group) {
                step_size.set(k, p.detach().full_like(param_groups.lr(group)?)?);
            }
        }
        let prev = PerParameter::filled(&parameters, 0.0)?;
        Ok(Rprop { param_groups, prev, step_size, etaminus, etaplus, step_size_min, step_size_max, maximize })
    }
}

optimizer!(
    Rprop,
    RpropConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Rprop { param_groups, prev, step_size, etaminus, etaplus, step_size_min, step_size_max, maximize } = self;
        let attrs = Attrs::new().with("etaminus", *etaminus).with("etaplus", *etaplus).with("maximize", *maximize);
        let attrs = attrs.with("step_size_min", *step_size_min).with("step_size_max", *step_size_max);
        no_grad(|| {
            param_groups.update("Rprop", parameters, gradients, |k, _, p, g| {
                let [old, size] = state("Rprop", k, [prev, step_size])?;
                let [new, old, size] = results("rprop_step", &[p, g, &old, &size].map(Operand::from), attrs.clone())?;
                prev.set(k, old);
                step_size.set(k, size);
                Ok(new)
            })
        })
    }
);

/// Arguments of [`Asgd`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsgdConfig {
    pub lr: f64,
    /// How fast parameters decay.
    pub lambd: f64,
    /// The power by which the step size falls.
    pub alpha: f64,
    /// The step at which averaging starts.
    pub t0: f64,
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for AsgdConfig {
    fn default() -> Self {
        AsgdConfig { lr: 1e-2, lambd: 1e-4, alpha: 0.75, t0: 1e6, weight_decay: 0.0, maximize: false }
    }
}

/// Averaged stochastic gradient descent: the averages are [`Asgd::averages`]. PyTorch: `torch.optim.ASGD`.
#[derive(Clone, Tree)]
pub struct Asgd {
    param_groups: Groups,
    step: Tensor,
    ax: PerParameter,
    mu: PerParameter,
    eta: PerParameter,
    lambd: f64,
    alpha: f64,
    t0: f64,
    maximize: bool,
}

impl Asgd {
    /// As [`Asgd::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AsgdConfig, groups: &[ParamGroup]) -> Result<Asgd> {
        let AsgdConfig { lr, lambd, alpha, t0, weight_decay, maximize } = config;
        check("Asgd", "lambd", lambd, 0.0..f64::MAX)?;
        check("Asgd", "alpha", alpha, 0.0..f64::MAX)?;
        check("Asgd", "t0", t0, f64::MIN..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Asgd", parameters, &numbers, groups)?;
        let of: Vec<Option<usize>> = param_groups.assignment().to_vec();
        let lr_of = |k: usize| of.get(k).copied().flatten().map_or(Ok(lr), |g| param_groups.lr(g));
        let eta = PerParameter::scalars(&parameters, lr_of)?;
        let (step, mu) = (no_steps("Asgd", &parameters)?, PerParameter::scalars(&parameters, |_| Ok(1.0))?);
        Ok(Asgd { step, ax: PerParameter::filled(&parameters, 0.0)?, mu, eta, param_groups, lambd, alpha, t0, maximize })
    }

    /// The average of each parameter of the tree, in order; `None` where it is left alone. PyTorch: `state["ax"]`.
    pub fn averages(&self) -> Vec<Option<Tensor>> {
        (0..self.param_groups.assignment().len()).map(|k| self.ax.get(k).cloned()).collect()
    }
}

optimizer!(
    Asgd,
    AsgdConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Asgd { param_groups, step, ax, mu, eta, lambd, alpha, t0, maximize } = self;
        let attrs = Attrs::new().with("lambd", *lambd).with("alpha", *alpha).with("t0", *t0).with("maximize", *maximize);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("Asgd", parameters, gradients, |k, group, p, g| {
                let [average, m, e] = state("Asgd", k, [ax, mu, eta])?;
                let operands = [p, g, &average, &m, &e, &next, group.get("lr")?, group.get("weight_decay")?].map(Operand::from);
                let [new, average, m, e] = results("asgd_step", &operands, attrs.clone())?;
                ax.set(k, average);
                mu.set(k, m);
                eta.set(k, e);
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
);
