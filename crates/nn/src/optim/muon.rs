//! Muon: momentum, made orthogonal.

use super::{Groups, Optimizer, ParamGroup, PerParameter, check, state};
use crate::call::results;
use aludel_tensor::{Attrs, DType, Error, Gradients, Operand, Result, Tree, no_grad};

/// How the learning rate follows from a matrix's shape. PyTorch: `adjust_lr_fn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Tree)]
pub enum AdjustLr {
    /// By `sqrt(max(1, rows / columns))`.
    Original,
    /// By `0.2 sqrt(max(rows, columns))`: updates as large as AdamW's.
    MatchRmsAdamW,
    /// By `sqrt(rows / columns)`.
    SpectralUnclamped,
}

/// Arguments of [`Muon`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuonConfig {
    pub lr: f64,
    pub weight_decay: f64,
    pub momentum: f64,
    pub nesterov: bool,
    /// Of the polynomial that each Newton-Schulz iteration applies.
    pub ns_coefficients: [f64; 3],
    pub eps: f64,
    pub ns_steps: i64,
    pub adjust_lr: AdjustLr,
    /// What the iterations compute in; PyTorch's is bf16.
    pub ns_dtype: DType,
}

impl Default for MuonConfig {
    fn default() -> Self {
        MuonConfig {
            lr: 1e-3,
            weight_decay: 0.1,
            momentum: 0.95,
            nesterov: true,
            ns_coefficients: [3.4445, -4.7750, 2.0315],
            eps: 1e-7,
            ns_steps: 5,
            adjust_lr: AdjustLr::Original,
            ns_dtype: DType::BF16,
        }
    }
}

/// Momentum made orthogonal by Newton-Schulz iterations, for the matrices of hidden layers. PyTorch: `torch.optim.Muon`.
///
/// Other parameters (biases, embeddings) are for another optimizer: both skip what is the other's.
///
/// ```
/// # use aludel_nn::{AdamConfig, AdamW, Init, Linear, Muon, MuonConfig, ParamGroup};
/// # use aludel_tensor::{Device, Result};
/// # fn main() -> Result<()> {
/// # let model = Linear::new(&mut Init::new(&Device::interpreter(), 0), 4, 2)?;
/// let muon = Muon::with_groups(&model, MuonConfig::default(), &[ParamGroup::skip(|_, t| t.rank() != 2)])?;
/// let adamw = AdamW::with_groups(&model, AdamConfig::default(), &[ParamGroup::skip(|_, t| t.rank() == 2)])?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Tree)]
pub struct Muon {
    param_groups: Groups,
    momentum_buffer: PerParameter,
    nesterov: bool,
    ns_coefficients: [f64; 3],
    eps: f64,
    ns_steps: i64,
    adjust_lr: AdjustLr,
    ns_dtype: &'static str,
}

impl Muon {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// When there is no parameter, one is not a matrix, or a number is out of its range.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: MuonConfig) -> Result<Muon> {
        Self::with_groups(parameters, config, &[])
    }

    /// As [`Muon::new`], with numbers of their own for groups of parameters, or without some.
    ///
    /// # Errors
    ///
    /// As [`Muon::new`], and when a group sets a number that the optimizer does not have, or the groups leave every parameter alone;
    /// parameters that a group leaves out may have any shape.
    pub fn with_groups<T: Tree + ?Sized>(parameters: &T, config: MuonConfig, groups: &[ParamGroup]) -> Result<Muon> {
        let MuonConfig { lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr, ns_dtype } = config;
        check("Muon", "eps", eps, 0.0..f64::MAX)?;
        check("Muon", "ns_steps", ns_steps as f64, 0.0..100.0)?;
        if !ns_dtype.is_float() {
            return Err(Error::invalid("Muon", format!("ns_dtype is {ns_dtype}"), "use f32, bf16 or f16"));
        }
        let numbers = [("lr", vec![lr]), ("weight_decay", vec![weight_decay]), ("momentum", vec![momentum])];
        let (param_groups, parameters) = Groups::new("Muon", parameters, &numbers, groups)?;
        if let Some(p) = parameters.iter().flatten().find(|p| p.rank() != 2) {
            return Err(Error::op(
                "Muon",
                p.to_string(),
                "it is for matrices",
                "leave other parameters to another optimizer: ParamGroup::skip(|_, t| t.rank() != 2)",
            ));
        }
        let momentum_buffer = PerParameter::filled(&parameters, 0.0)?;
        let ns_dtype = ns_dtype.name();
        Ok(Muon { param_groups, momentum_buffer, nesterov, ns_coefficients, eps, ns_steps, adjust_lr, ns_dtype })
    }

    fn attrs(&self) -> Attrs {
        let adjust = match self.adjust_lr {
            AdjustLr::Original => "original",
            AdjustLr::MatchRmsAdamW => "match_rms_adamw",
            AdjustLr::SpectralUnclamped => "spectral_unclamped",
        };
        let dtype = [DType::F32, DType::F16].into_iter().find(|d| d.name() == self.ns_dtype).unwrap_or(DType::BF16);
        let coefficients = self.ns_coefficients.map(|c| format!("{c:?}")).join(",");
        let attrs = Attrs::new().with("nesterov", self.nesterov).with("coefficients", coefficients).with("eps", self.eps);
        attrs.with("ns_steps", self.ns_steps).with("adjust_lr_fn", adjust).with("dtype", dtype)
    }
}

impl Optimizer for Muon {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let attrs = self.attrs();
        let Muon { param_groups, momentum_buffer, .. } = self;
        no_grad(|| {
            param_groups.update("Muon", parameters, gradients, |k, group, p, g| {
                let [buffer] = state("Muon", k, [momentum_buffer])?;
                let (lr, decay, momentum) = (group.get("lr")?, group.get("weight_decay")?, group.get("momentum")?);
                let [new, buffer] = results("muon_step", &[p, g, &buffer, lr, decay, momentum].map(Operand::from), attrs.clone())?;
                momentum_buffer.set(k, buffer);
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
