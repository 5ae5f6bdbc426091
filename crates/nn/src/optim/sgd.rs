//! Stochastic gradient descent.

use super::{Groups, Optimizer, ParamGroup, PerParameter};
use crate::call::apply;
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, Tree, no_grad};

/// Arguments of [`Sgd`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdConfig {
    pub lr: f64,
    pub momentum: f64,
    /// What the momentum takes less of each gradient; the first is taken whole, as in PyTorch.
    pub dampening: f64,
    pub nesterov: bool,
    pub weight_decay: f64,
    pub maximize: bool,
}

impl Default for SgdConfig {
    fn default() -> Self {
        SgdConfig { lr: 1e-3, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0, maximize: false }
    }
}

/// Stochastic gradient descent. PyTorch: `torch.optim.SGD`.
#[derive(Clone, Tree)]
pub struct Sgd {
    param_groups: Groups,
    momentum_buffer: PerParameter,
    /// The count of steps, which dampening alone asks for.
    step: Option<Tensor>,
    dampening: f64,
    nesterov: bool,
    maximize: bool,
}

impl Sgd {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// When there is no parameter, a number is out of its range, or `nesterov` comes without momentum or with dampening.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: SgdConfig) -> Result<Sgd> {
        Self::with_groups(parameters, config, &[])
    }

    /// As [`Sgd::new`], with numbers of their own for groups of parameters.
    ///
    /// # Errors
    ///
    /// As [`Sgd::new`], and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: SgdConfig, groups: &[ParamGroup]) -> Result<Sgd> {
        let SgdConfig { lr, momentum, dampening, nesterov, weight_decay, maximize } = config;
        if nesterov && (momentum == 0.0 || dampening != 0.0) {
            let problem = "nesterov without momentum or with dampening";
            return Err(Error::invalid("Sgd", problem, "give a momentum, such as 0.9, and no dampening"));
        }
        if !dampening.is_finite() {
            return Err(Error::invalid("Sgd", format!("dampening is {dampening}"), "use a finite number"));
        }
        let mut numbers = vec![("lr", vec![lr]), ("weight_decay", vec![weight_decay])];
        if momentum != 0.0 {
            numbers.push(("momentum", vec![momentum]));
        }
        let (param_groups, parameters) = Groups::new("Sgd", parameters, &numbers, groups)?;
        let keeps = momentum != 0.0;
        let momentum_buffer = if keeps { PerParameter::filled(&parameters, 0.0)? } else { PerParameter::none() };
        let step = match parameters.iter().flatten().next() {
            Some(p) if keeps && dampening != 0.0 => Some(Tensor::scalar(p.device(), 0.0f32)),
            _ => None,
        };
        Ok(Sgd { param_groups, momentum_buffer, step, dampening, nesterov, maximize })
    }
}

impl Optimizer for Sgd {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Sgd { param_groups, momentum_buffer, step, dampening, nesterov, maximize } = self;
        let attrs = Attrs::new().with("tensors", true).with("nesterov", *nesterov).with("maximize", *maximize);
        let attrs = attrs.with("dampening", *dampening);
        no_grad(|| {
            let next = step.as_ref().map(|s| s.add(1.0)).transpose()?;
            param_groups.update("Sgd", parameters, gradients, |k, group, p, g| {
                let buffer = momentum_buffer.get(k);
                let mut operands: Vec<Operand> = vec![p.into(), g.into()];
                operands.extend(buffer.map(Operand::from));
                operands.extend([group.get("lr")?, group.get("weight_decay")?].map(Operand::from));
                if buffer.is_some() {
                    operands.push(group.get("momentum")?.into());
                }
                operands.extend(next.as_ref().map(Operand::from));
                let mut results = apply("sgd_step", &operands, attrs.clone())?.into_iter();
                let new = results.next();
                if let Some(b) = results.next() {
                    momentum_buffer.set(k, b);
                }
                new.ok_or_else(|| Error::op("sgd_step", "", "no result", "report this"))
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
