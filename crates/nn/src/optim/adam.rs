//! Adam and AdamW.

use super::{Groups, Optimizer, ParamGroup, PerParameter, check, state};
use crate::call::apply;
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, Tree, no_grad};

/// Arguments of [`Adam`] and [`AdamW`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    /// `None`: the optimizer's default, 0 for Adam and 0.01 for AdamW.
    pub weight_decay: Option<f64>,
    /// Whether the largest mean of squares so far is divided by.
    pub amsgrad: bool,
    pub maximize: bool,
}

impl Default for AdamConfig {
    fn default() -> Self {
        AdamConfig { lr: 1e-3, betas: (0.9, 0.999), eps: 1e-8, weight_decay: None, amsgrad: false, maximize: false }
    }
}

/// The state that Adam and AdamW share.
#[derive(Clone, Tree)]
struct Moments {
    param_groups: Groups,
    /// How many steps were made, as f32.
    step: Tensor,
    exp_avg: PerParameter,
    exp_avg_sq: PerParameter,
    /// With amsgrad.
    max_exp_avg_sq: PerParameter,
    eps: f64,
    amsgrad: bool,
    maximize: bool,
}

impl Moments {
    fn new<T: Tree + ?Sized>(what: &str, parameters: &T, config: AdamConfig, default_decay: f64, groups: &[ParamGroup]) -> Result<Moments> {
        let AdamConfig { lr, betas, eps, weight_decay, amsgrad, maximize } = config;
        check(what, "eps", eps, 0.0..f64::MAX)?;
        let weight_decay = weight_decay.unwrap_or(default_decay);
        let numbers = [("lr", vec![lr]), ("betas", vec![betas.0, betas.1]), ("weight_decay", vec![weight_decay])];
        let (param_groups, parameters) = Groups::new(what, parameters, &numbers, groups)?;
        let zeros = || PerParameter::filled(&parameters, 0.0);
        let device = parameters.iter().flatten().next().map(Tensor::device);
        let device = device.ok_or_else(|| Error::invalid(what, "there are no parameters", "give it some"))?;
        Ok(Moments {
            step: Tensor::scalar(device, 0.0f32),
            exp_avg: zeros()?,
            exp_avg_sq: zeros()?,
            max_exp_avg_sq: if amsgrad { zeros()? } else { PerParameter::none() },
            param_groups,
            eps,
            amsgrad,
            maximize,
        })
    }

    #[track_caller]
    fn update<T: Tree + ?Sized>(&mut self, what: &str, name: &'static str, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let Moments { param_groups, step, exp_avg, exp_avg_sq, max_exp_avg_sq, eps, amsgrad, maximize } = self;
        let attrs = Attrs::new().with("eps", *eps).with("maximize", *maximize);
        no_grad(|| {
            let next = step.add(1.0)?;
            param_groups.update(what, parameters, gradients, |k, group, p, g| {
                let [m, v] = state(what, k, [exp_avg, exp_avg_sq])?;
                let (lr, decay, betas) = (group.get("lr")?, group.get("weight_decay")?, group.get("betas")?);
                let mut operands: Vec<Operand> = [p, g, &m, &v, &next, lr, decay, betas].into_iter().map(Operand::from).collect();
                operands.extend(max_exp_avg_sq.get(k).filter(|_| *amsgrad).map(Operand::from));
                let mut results = apply(name, &operands, attrs.clone())?.into_iter();
                let (Some(new), Some(m), Some(v)) = (results.next(), results.next(), results.next()) else {
                    return Err(Error::op(name, "", "fewer than three results", "report this"));
                };
                exp_avg.set(k, m);
                exp_avg_sq.set(k, v);
                if let Some(max) = results.next() {
                    max_exp_avg_sq.set(k, max);
                }
                Ok(new)
            })?;
            *step = next;
            Ok(())
        })
    }
}

macro_rules! adam {
    ($name:ident, $text:literal, $row:literal, $decay:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Tree)]
        pub struct $name {
            #[tree(flatten)]
            moments: Moments,
        }

        impl $name {
            /// For the parameters of a tree.
            ///
            /// # Errors
            ///
            /// When there is no parameter, or a number is negative, not finite or, of the betas, one or more.
            pub fn new<T: Tree + ?Sized>(parameters: &T, config: AdamConfig) -> Result<$name> {
                Self::with_groups(parameters, config, &[])
            }

            /// As `new`, with numbers of their own for groups of parameters.
            ///
            /// # Errors
            ///
            /// As `new`, and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone.
            pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: AdamConfig, groups: &[ParamGroup]) -> Result<$name> {
                Ok($name { moments: Moments::new($text, parameters, config, $decay, groups)? })
            }
        }

        impl Optimizer for $name {
            #[track_caller]
            fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
                self.moments.update($text, $row, parameters, gradients)
            }

            fn param_groups(&self) -> &Groups {
                &self.moments.param_groups
            }

            fn param_groups_mut(&mut self) -> &mut Groups {
                &mut self.moments.param_groups
            }
        }
    };
}

adam!(Adam, "Adam", "adam_step", 0.0, "Adam; weight decay is added to the gradient. PyTorch: `torch.optim.Adam`.");
adam!(AdamW, "AdamW", "adamw_step", 0.01, "Adam with decoupled weight decay. PyTorch: `torch.optim.AdamW`.");
