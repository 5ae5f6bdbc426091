//! RMSprop, Adagrad and Lion.

use super::{Groups, Optimizer, ParamGroup, PerParameter, check, state};
use crate::call::{apply, results};
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, Tree, no_grad};

/// Arguments of [`RmsProp`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsPropConfig {
    pub lr: f64,
    pub alpha: f64,
    pub eps: f64,
    pub weight_decay: f64,
    pub momentum: f64,
    /// Whether the variance of the gradient is divided by, not its mean square.
    pub centered: bool,
    pub maximize: bool,
}

impl Default for RmsPropConfig {
    fn default() -> Self {
        RmsPropConfig { lr: 1e-2, alpha: 0.99, eps: 1e-8, weight_decay: 0.0, momentum: 0.0, centered: false, maximize: false }
    }
}

/// Division by a running root mean square of the gradient. PyTorch: `torch.optim.RMSprop`.
#[derive(Clone, Tree)]
pub struct RmsProp {
    param_groups: Groups,
    square_avg: PerParameter,
    grad_avg: PerParameter,
    momentum_buffer: PerParameter,
    alpha: f64,
    eps: f64,
    centered: bool,
    maximize: bool,
}

impl RmsProp {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// When there is no parameter, or a number is out of its range.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: RmsPropConfig) -> Result<RmsProp> {
        Self::with_groups(parameters, config, &[])
    }

    /// As [`RmsProp::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// As [`RmsProp::new`], and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: RmsPropConfig, groups: &[ParamGroup]) -> Result<RmsProp> {
        let RmsPropConfig { lr, alpha, eps, weight_decay, momentum, centered, maximize } = config;
        check("RmsProp", "alpha", alpha, 0.0..f64::MAX)?;
        check("RmsProp", "eps", eps, 0.0..f64::MAX)?;
        let mut numbers = vec![("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        if momentum != 0.0 {
            numbers.push(("momentum", vec![momentum]));
        }
        let (param_groups, parameters) = Groups::new("RmsProp", parameters, &numbers, groups)?;
        let zeros = |wanted: bool| if wanted { PerParameter::filled(&parameters, 0.0) } else { Ok(PerParameter::none()) };
        let (square_avg, grad_avg, momentum_buffer) = (zeros(true)?, zeros(centered)?, zeros(momentum != 0.0)?);
        Ok(RmsProp { param_groups, square_avg, grad_avg, momentum_buffer, alpha, eps, centered, maximize })
    }
}

impl Optimizer for RmsProp {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let RmsProp { param_groups, square_avg, grad_avg, momentum_buffer, alpha, eps, centered, maximize } = self;
        let attrs = Attrs::new().with("alpha", *alpha).with("eps", *eps).with("centered", *centered).with("maximize", *maximize);
        no_grad(|| {
            param_groups.update("RmsProp", parameters, gradients, |k, group, p, g| {
                let [square] = state("RmsProp", k, [square_avg])?;
                let mut operands: Vec<Operand> =
                    [p, g, &square, group.get("lr")?, group.get("weight_decay")?].into_iter().map(Operand::from).collect();
                operands.extend(grad_avg.get(k).map(Operand::from));
                if let Some(buffer) = momentum_buffer.get(k) {
                    operands.extend([buffer, group.get("momentum")?].map(Operand::from));
                }
                let (mean, buffer) = (grad_avg.get(k).is_some(), momentum_buffer.get(k).is_some());
                let mut results = apply("rmsprop_step", &operands, attrs.clone())?.into_iter();
                let (Some(new), Some(square)) = (results.next(), results.next()) else {
                    return Err(Error::op("rmsprop_step", "", "fewer than two results", "report this"));
                };
                square_avg.set(k, square);
                for (kept, wanted) in [(&mut *grad_avg, mean), (&mut *momentum_buffer, buffer)] {
                    if let (true, Some(t)) = (wanted, if wanted { results.next() } else { None }) {
                        kept.set(k, t);
                    }
                }
                Ok(new)
            })
        })
    }

    fn param_groups(&self) -> &Groups {
        &self.param_groups
    }

    fn param_groups_mut(&mut self) -> &mut Groups {
        &mut self.param_groups
    }
}

/// Arguments of [`Adagrad`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdagradConfig {
    pub lr: f64,
    pub lr_decay: f64,
    pub weight_decay: f64,
    pub initial_accumulator_value: f64,
    pub eps: f64,
    pub maximize: bool,
}

impl Default for AdagradConfig {
    fn default() -> Self {
        AdagradConfig { lr: 1e-2, lr_decay: 0.0, weight_decay: 0.0, initial_accumulator_value: 0.0, eps: 1e-10, maximize: false }
    }
}

/// Division by the root of the sum of squares so far. PyTorch: `torch.optim.Adagrad`.
#[derive(Clone, Tree)]
pub struct Adagrad {
    param_groups: Groups,
    step: Tensor,
    sum: PerParameter,
    lr_decay: f64,
    eps: f64,
    maximize: bool,
}

impl Adagrad {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// When there is no parameter, or a number is out of its range.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: AdagradConfig) -> Result<Adagrad> {
        Self::with_groups(parameters, config, &[])
    }

    /// As [`Adagrad::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// As [`Adagrad::new`], and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AdagradConfig, groups: &[ParamGroup]) -> Result<Adagrad> {
        let AdagradConfig { lr, lr_decay, weight_decay, initial_accumulator_value, eps, maximize } = config;
        check("Adagrad", "lr_decay", lr_decay, 0.0..f64::MAX)?;
        check("Adagrad", "initial_accumulator_value", initial_accumulator_value, 0.0..f64::MAX)?;
        check("Adagrad", "eps", eps, 0.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Adagrad", parameters, &numbers, groups)?;
        let device = parameters.iter().flatten().next().map(Tensor::device);
        let device = device.ok_or_else(|| Error::invalid("Adagrad", "there are no parameters", "give it some"))?;
        let step = Tensor::scalar(device, 0.0f32);
        let sum = PerParameter::filled(&parameters, initial_accumulator_value)?;
        Ok(Adagrad { param_groups, step, sum, lr_decay, eps, maximize })
    }
}

impl Optimizer for Adagrad {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Adagrad { param_groups, step, sum, lr_decay, eps, maximize } = self;
        let attrs = Attrs::new().with("lr_decay", *lr_decay).with("eps", *eps).with("maximize", *maximize);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("Adagrad", parameters, gradients, |k, group, p, g| {
                let [old] = state("Adagrad", k, [sum])?;
                let operands = [p, g, &old, &next, group.get("lr")?, group.get("weight_decay")?].map(Operand::from);
                let [new, total] = results("adagrad_step", &operands, attrs.clone())?;
                sum.set(k, total);
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }

    fn param_groups(&self) -> &Groups {
        &self.param_groups
    }

    fn param_groups_mut(&mut self) -> &mut Groups {
        &mut self.param_groups
    }
}

/// Arguments of [`Lion`], with the paper's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LionConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for LionConfig {
    fn default() -> Self {
        LionConfig { lr: 1e-4, betas: (0.9, 0.99), weight_decay: 0.0, maximize: false }
    }
}

/// Steps by the sign of a blend of momentum and gradient, with decoupled weight decay. Chen et al., "Symbolic discovery of optimization
/// algorithms", NeurIPS 2023.
#[derive(Clone, Tree)]
pub struct Lion {
    param_groups: Groups,
    exp_avg: PerParameter,
    maximize: bool,
}

impl Lion {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// When there is no parameter, or a number is out of its range.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: LionConfig) -> Result<Lion> {
        Self::with_groups(parameters, config, &[])
    }

    /// As [`Lion::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// As [`Lion::new`], and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: LionConfig, groups: &[ParamGroup]) -> Result<Lion> {
        let LionConfig { lr, betas, weight_decay, maximize } = config;
        let numbers = [("lr", vec![lr]), ("betas", vec![betas.0, betas.1]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Lion", parameters, &numbers, groups)?;
        Ok(Lion { param_groups, exp_avg: PerParameter::filled(&parameters, 0.0)?, maximize })
    }
}

impl Optimizer for Lion {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Lion { param_groups, exp_avg, maximize } = self;
        let attrs = Attrs::new().with("maximize", *maximize);
        no_grad(|| {
            param_groups.update("Lion", parameters, gradients, |k, group, p, g| {
                let [m] = state("Lion", k, [exp_avg])?;
                let operands = [p, g, &m, group.get("lr")?, group.get("weight_decay")?, group.get("betas")?].map(Operand::from);
                let [new, m] = results("lion_step", &operands, attrs.clone())?;
                exp_avg.set(k, m);
                Ok(new)
            })
        })
    }

    fn param_groups(&self) -> &Groups {
        &self.param_groups
    }

    fn param_groups_mut(&mut self) -> &mut Groups {
        &mut self.param_groups
    }
}
