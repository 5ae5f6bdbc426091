//! Adadelta, Adafactor, Adamax, NAdam and RAdam.

use super::{Groups, Optimizer, ParamGroup, PerParameter, check, state};
use crate::call::{apply, results};
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, Tree, no_grad};

/// What every optimizer has beside its constructor and its step.
macro_rules! optimizer {
    ($name:ident, $config:ident, $step:item) => {
        impl $name {
            /// For the parameters of a tree.
            ///
            /// # Errors
            ///
            /// A number out of range.
            pub fn new<T: Tree + ?Sized>(parameters: &T, config: $config) -> Result<$name> {
                Self::with_groups(parameters, config, &[])
            }
        }

        impl Optimizer for $name {
            #[track_caller]
            $step

            fn param_groups(&self) -> &Groups {
                &self.param_groups
            }

            fn param_groups_mut(&mut self) -> &mut Groups {
                &mut self.param_groups
            }
        }
    };
}
pub(super) use optimizer;

/// The count of steps, zero so far.
pub(super) fn no_steps(what: &str, parameters: &[Option<Tensor>]) -> Result<Tensor> {
    let first = parameters.iter().flatten().next();
    let first = first.ok_or_else(|| Error::invalid(what, "there are no parameters", "give it some"))?;
    Ok(Tensor::scalar(first.device(), 0.0f32))
}

/// Arguments of [`Adadelta`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdadeltaConfig {
    pub lr: f64,
    pub rho: f64,
    pub eps: f64,
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for AdadeltaConfig {
    fn default() -> Self {
        AdadeltaConfig { lr: 1.0, rho: 0.9, eps: 1e-6, weight_decay: 0.0, maximize: false }
    }
}

/// Steps in proportion to a running mean of earlier ones over that of the gradient. PyTorch: `torch.optim.Adadelta`.
#[derive(Clone, Tree)]
pub struct Adadelta {
    param_groups: Groups,
    square_avg: PerParameter,
    acc_delta: PerParameter,
    rho: f64,
    eps: f64,
    maximize: bool,
}

impl Adadelta {
    /// As [`Adadelta::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AdadeltaConfig, groups: &[ParamGroup]) -> Result<Adadelta> {
        let AdadeltaConfig { lr, rho, eps, weight_decay, maximize } = config;
        check("Adadelta", "rho", rho, 0.0..1.0 + f64::EPSILON)?;
        check("Adadelta", "eps", eps, 0.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Adadelta", parameters, &numbers, groups)?;
        let zeros = || PerParameter::filled(&parameters, 0.0);
        Ok(Adadelta { param_groups, square_avg: zeros()?, acc_delta: zeros()?, rho, eps, maximize })
    }
}

optimizer!(
    Adadelta,
    AdadeltaConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Adadelta { param_groups, square_avg, acc_delta, rho, eps, maximize } = self;
        let attrs = Attrs::new().with("rho", *rho).with("eps", *eps).with("maximize", *maximize);
        no_grad(|| {
            param_groups.update("Adadelta", parameters, gradients, |k, group, p, g| {
                let [square, acc] = state("Adadelta", k, [square_avg, acc_delta])?;
                let operands = [p, g, &square, &acc, group.get("lr")?, group.get("weight_decay")?].map(Operand::from);
                let [new, square, acc] = results("adadelta_step", &operands, attrs.clone())?;
                square_avg.set(k, square);
                acc_delta.set(k, acc);
                Ok(new)
            })
        })
    }
);

/// Arguments of [`Adafactor`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdafactorConfig {
    pub lr: f64,
    pub beta2_decay: f64,
    /// What variances and steps are at least; the first is the parameter type's precision where it is `None`.
    pub eps: (Option<f64>, f64),
    /// The root mean square of an update that is not cut.
    pub d: f64,
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for AdafactorConfig {
    fn default() -> Self {
        AdafactorConfig { lr: 1e-2, beta2_decay: -0.8, eps: (None, 1e-3), d: 1.0, weight_decay: 0.0, maximize: false }
    }
}

/// Division by the root of a variance that is kept as a row and a column. PyTorch: `torch.optim.Adafactor`.
#[derive(Clone, Tree)]
pub struct Adafactor {
    param_groups: Groups,
    step: Tensor,
    /// Of parameters of two dimensions or more.
    row_var: PerParameter,
    col_var: PerParameter,
    /// Of the others.
    variance: PerParameter,
    beta2_decay: f64,
    eps1: Option<f64>,
    eps2: f64,
    d: f64,
    maximize: bool,
}

impl Adafactor {
    /// As [`Adafactor::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AdafactorConfig, groups: &[ParamGroup]) -> Result<Adafactor> {
        let AdafactorConfig { lr, beta2_decay, eps: (eps1, eps2), d, weight_decay, maximize } = config;
        check("Adafactor", "minus beta2_decay", -beta2_decay, 0.0..f64::MAX)?;
        check("Adafactor", "eps[0]", eps1.unwrap_or(0.0), 0.0..f64::MAX)?;
        check("Adafactor", "eps[1]", eps2, 0.0..f64::MAX)?;
        check("Adafactor", "d", d, 1.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Adafactor", parameters, &numbers, groups)?;
        let of = |wide: bool| parameters.iter().map(|p| p.clone().filter(|t| (t.rank() > 1) == wide)).collect::<Vec<_>>();
        let (matrices, vectors) = (of(true), of(false));
        let zeros = |from_end| PerParameter::reduced(&matrices, from_end);
        Ok(Adafactor {
            step: no_steps("Adafactor", &parameters)?,
            row_var: zeros(1)?,
            col_var: zeros(2)?,
            variance: PerParameter::filled(&vectors, 0.0)?,
            param_groups,
            beta2_decay,
            eps1,
            eps2,
            d,
            maximize,
        })
    }
}

optimizer!(
    Adafactor,
    AdafactorConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Adafactor { param_groups, step, row_var, col_var, variance, beta2_decay, eps1, eps2, d, maximize } = self;
        let mut attrs = Attrs::new().with("beta2_decay", *beta2_decay).with("eps2", *eps2).with("d", *d).with("maximize", *maximize);
        if let Some(eps) = eps1 {
            attrs = attrs.with("eps1", *eps);
        }
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("Adafactor", parameters, gradients, |k, group, p, g| {
                let kept: &mut [&mut PerParameter] = if p.rank() > 1 { &mut [row_var, col_var] } else { &mut [variance] };
                let old = kept.iter().filter_map(|v| v.get(k).cloned()).collect::<Vec<_>>();
                let rest = [&next, group.get("lr")?, group.get("weight_decay")?];
                let operands: Vec<Operand> = [p, g].into_iter().chain(&old).chain(rest).map(Operand::from).collect();
                let mut results = apply("adafactor_step", &operands, attrs.clone())?.into_iter();
                let new = results.next().ok_or_else(|| Error::op("adafactor_step", "", "no result", "report this"))?;
                kept.iter_mut().zip(results).for_each(|(v, t)| v.set(k, t));
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
);

/// Arguments of [`Adamax`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamaxConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for AdamaxConfig {
    fn default() -> Self {
        AdamaxConfig { lr: 2e-3, betas: (0.9, 0.999), eps: 1e-8, weight_decay: 0.0, maximize: false }
    }
}

/// Adam with the largest gradient so far, decayed, in place of the mean of squares. PyTorch: `torch.optim.Adamax`.
#[derive(Clone, Tree)]
pub struct Adamax {
    param_groups: Groups,
    step: Tensor,
    exp_avg: PerParameter,
    exp_inf: PerParameter,
    eps: f64,
    maximize: bool,
}

impl Adamax {
    /// As [`Adamax::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AdamaxConfig, groups: &[ParamGroup]) -> Result<Adamax> {
        let AdamaxConfig { lr, betas, eps, weight_decay, maximize } = config;
        check("Adamax", "eps", eps, 0.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("betas", vec![betas.0, betas.1]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("Adamax", parameters, &numbers, groups)?;
        let zeros = || PerParameter::filled(&parameters, 0.0);
        Ok(Adamax { step: no_steps("Adamax", &parameters)?, exp_avg: zeros()?, exp_inf: zeros()?, param_groups, eps, maximize })
    }
}

optimizer!(
    Adamax,
    AdamaxConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Adamax { param_groups, step, exp_avg, exp_inf, eps, maximize } = self;
        let attrs = Attrs::new().with("eps", *eps).with("maximize", *maximize);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("Adamax", parameters, gradients, |k, group, p, g| {
                let [m, largest] = state("Adamax", k, [exp_avg, exp_inf])?;
                let operands = [p, g, &m, &largest, &next, group.get("lr")?, group.get("weight_decay")?, group.get("betas")?];
                let [new, m, largest] = results("adamax_step", &operands.map(Operand::from), attrs.clone())?;
                exp_avg.set(k, m);
                exp_inf.set(k, largest);
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
);

/// Arguments of [`NAdam`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NAdamConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    pub weight_decay: f64,
    pub momentum_decay: f64,
    /// Whether the parameter is shrunk, as AdamW does it, in place of adding to the gradient.
    pub decoupled_weight_decay: bool,
    pub maximize: bool,
}

impl Default for NAdamConfig {
    fn default() -> Self {
        NAdamConfig {
            lr: 2e-3,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            momentum_decay: 4e-3,
            decoupled_weight_decay: false,
            maximize: false,
        }
    }
}

/// Adam with Nesterov momentum. PyTorch: `torch.optim.NAdam`.
#[derive(Clone, Tree)]
pub struct NAdam {
    param_groups: Groups,
    step: Tensor,
    exp_avg: PerParameter,
    exp_avg_sq: PerParameter,
    mu_product: PerParameter,
    eps: f64,
    momentum_decay: f64,
    decoupled_weight_decay: bool,
    maximize: bool,
}

impl NAdam {
    /// As [`NAdam::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: NAdamConfig, groups: &[ParamGroup]) -> Result<NAdam> {
        let NAdamConfig { lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize } = config;
        check("NAdam", "eps", eps, 0.0..f64::MAX)?;
        check("NAdam", "momentum_decay", momentum_decay, 0.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("betas", vec![betas.0, betas.1]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("NAdam", parameters, &numbers, groups)?;
        let zeros = || PerParameter::filled(&parameters, 0.0);
        Ok(NAdam {
            step: no_steps("NAdam", &parameters)?,
            exp_avg: zeros()?,
            exp_avg_sq: zeros()?,
            mu_product: PerParameter::scalars(&parameters, |_| Ok(1.0))?,
            param_groups,
            eps,
            momentum_decay,
            decoupled_weight_decay,
            maximize,
        })
    }
}

optimizer!(
    NAdam,
    NAdamConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let NAdam { param_groups, step, exp_avg, exp_avg_sq, mu_product, eps, momentum_decay, decoupled_weight_decay, maximize } = self;
        let attrs = Attrs::new().with("eps", *eps).with("momentum_decay", *momentum_decay);
        let attrs = attrs.with("decoupled_weight_decay", *decoupled_weight_decay).with("maximize", *maximize);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("NAdam", parameters, gradients, |k, group, p, g| {
                let [m, v, mu] = state("NAdam", k, [exp_avg, exp_avg_sq, mu_product])?;
                let operands = [p, g, &m, &v, &mu, &next, group.get("lr")?, group.get("weight_decay")?, group.get("betas")?];
                let [new, m, v, mu] = results("nadam_step", &operands.map(Operand::from), attrs.clone())?;
                exp_avg.set(k, m);
                exp_avg_sq.set(k, v);
                mu_product.set(k, mu);
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
);

/// Arguments of [`RAdam`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RAdamConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    pub weight_decay: f64,
    /// Whether the parameter is shrunk, as AdamW does it, in place of adding to the gradient.
    pub decoupled_weight_decay: bool,
    pub maximize: bool,
}

impl Default for RAdamConfig {
    fn default() -> Self {
        let (lr, betas, eps) = (1e-3, (0.9, 0.999), 1e-8);
        RAdamConfig { lr, betas, eps, weight_decay: 0.0, decoupled_weight_decay: false, maximize: false }
    }
}

/// Adam that divides by the mean of squares only once there are enough of them. PyTorch: `torch.optim.RAdam`.
#[derive(Clone, Tree)]
pub struct RAdam {
    param_groups: Groups,
    step: Tensor,
    exp_avg: PerParameter,
    exp_avg_sq: PerParameter,
    eps: f64,
    decoupled_weight_decay: bool,
    maximize: bool,
}

impl RAdam {
    /// As [`RAdam::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// A number out of range, a tree without parameters.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: RAdamConfig, groups: &[ParamGroup]) -> Result<RAdam> {
        let RAdamConfig { lr, betas, eps, weight_decay, decoupled_weight_decay, maximize } = config;
        check("RAdam", "eps", eps, 0.0..f64::MAX)?;
        let numbers = [("lr", vec![lr]), ("betas", vec![betas.0, betas.1]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new("RAdam", parameters, &numbers, groups)?;
        let (step, zeros) = (no_steps("RAdam", &parameters)?, || PerParameter::filled(&parameters, 0.0));
        Ok(RAdam { step, exp_avg: zeros()?, exp_avg_sq: zeros()?, param_groups, eps, decoupled_weight_decay, maximize })
    }
}

optimizer!(
    RAdam,
    RAdamConfig,
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let RAdam { param_groups, step, exp_avg, exp_avg_sq, eps, decoupled_weight_decay, maximize } = self;
        let attrs = Attrs::new().with("eps", *eps).with("maximize", *maximize);
        let attrs = attrs.with("decoupled_weight_decay", *decoupled_weight_decay);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update("RAdam", parameters, gradients, |k, group, p, g| {
                let [m, v] = state("RAdam", k, [exp_avg, exp_avg_sq])?;
                let operands = [p, g, &m, &v, &next, group.get("lr")?, group.get("weight_decay")?, group.get("betas")?];
                let [new, m, v] = results("radam_step", &operands.map(Operand::from), attrs.clone())?;
                exp_avg.set(k, m);
                exp_avg_sq.set(k, v);
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
);
