//! Normalization, with PyTorch's defaults.

use crate::call::{one, operands};
#[cfg(not(target_arch = "wasm32"))]
use crate::distributed::{Group, normalize_among, unbiased};
use crate::init::{Init, check_sizes};
use crate::mode::{Buffer, Training};
use crate::module::Module;
use aludel_tensor::{Attrs, DType, Error, Result, Tensor, Tree, no_grad};
#[cfg(not(target_arch = "wasm32"))]
use aludel_tensor::{Static, Visitor};

/// The sizes of the dimensions that a layer normalizes over: `512`, `[16, 16]`.
pub trait NormalizedShape {
    fn sizes(self) -> Vec<usize>;
}

impl NormalizedShape for usize {
    fn sizes(self) -> Vec<usize> {
        vec![self]
    }
}

impl<const N: usize> NormalizedShape for [usize; N] {
    fn sizes(self) -> Vec<usize> {
        self.to_vec()
    }
}

impl NormalizedShape for &[usize] {
    fn sizes(self) -> Vec<usize> {
        self.to_vec()
    }
}

/// Normalization over the last dimensions. PyTorch: `torch.nn.LayerNorm`.
#[derive(Clone, Tree)]
pub struct LayerNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    normalized_shape: Vec<usize>,
    eps: f64,
}

impl LayerNorm {
    /// Over last dimensions of these sizes, with a weight of ones and a bias of zeros.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, normalized_shape: impl NormalizedShape) -> Result<LayerNorm> {
        let normalized_shape = normalized_shape.sizes();
        check_sizes("LayerNorm", &normalized_shape)?;
        let (weight, bias) = (init.ones(&normalized_shape[..])?, init.zeros(&normalized_shape[..])?);
        Ok(LayerNorm { weight: Some(weight), bias: Some(bias), normalized_shape, eps: 1e-5 })
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }

    /// Without weight and bias: `elementwise_affine=False`.
    pub fn without_affine(mut self) -> Self {
        (self.weight, self.bias) = (None, None);
        self
    }
}

impl Module for LayerNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.layer_norm(&self.normalized_shape[..], self.weight.as_ref(), self.bias.as_ref(), self.eps)
    }
}

/// Division by the root of the mean square over the last dimensions. PyTorch: `torch.nn.RMSNorm`.
#[derive(Clone, Tree)]
pub struct RmsNorm {
    pub weight: Option<Tensor>,
    normalized_shape: Vec<usize>,
    eps: f64,
}

impl RmsNorm {
    /// Over last dimensions of these sizes, with a weight of ones.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, normalized_shape: impl NormalizedShape) -> Result<RmsNorm> {
        let normalized_shape = normalized_shape.sizes();
        check_sizes("RmsNorm", &normalized_shape)?;
        Ok(RmsNorm { weight: Some(init.ones(&normalized_shape[..])?), normalized_shape, eps: f32::EPSILON as f64 })
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    /// Without weight: `elementwise_affine=False`.
    pub fn without_affine(mut self) -> Self {
        self.weight = None;
        self
    }
}

impl Module for RmsNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.rms_norm(&self.normalized_shape[..], self.weight.as_ref(), self.eps)
    }
}

/// Normalizes groups of channels of each sample of `[N, C, ..]`. PyTorch: `torch.nn.GroupNorm`.
#[derive(Clone, Tree)]
pub struct GroupNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    num_groups: usize,
    eps: f64,
}

impl GroupNorm {
    /// With a weight of ones and a bias of zeros.
    ///
    /// # Errors
    ///
    /// When a size is zero, or the groups do not divide the channels.
    pub fn new(init: &mut Init, num_groups: usize, num_channels: usize) -> Result<GroupNorm> {
        check_sizes("GroupNorm", &[num_groups, num_channels])?;
        if !num_channels.is_multiple_of(num_groups) {
            return Err(Error::invalid(
                "GroupNorm",
                format!("{num_channels} channels do not divide into {num_groups} groups"),
                "use a divisor of the number of channels",
            ));
        }
        let (weight, bias) = (init.ones([num_channels])?, init.zeros([num_channels])?);
        Ok(GroupNorm { weight: Some(weight), bias: Some(bias), num_groups, eps: 1e-5 })
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    /// Without weight and bias: `affine=False`.
    pub fn without_affine(mut self) -> Self {
        (self.weight, self.bias) = (None, None);
        self
    }
}

impl Module for GroupNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let attrs = Attrs::new().with("num_groups", self.num_groups).with("eps", self.eps);
        one("group_norm", &operands(&[x], &[&self.weight, &self.bias]), attrs)
    }
}

/// Normalizes each channel of each sample of `[N, C, ..]`. PyTorch: `torch.nn.InstanceNorm1d`, `2d` and `3d`.
#[derive(Clone, Tree)]
pub struct InstanceNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    eps: f64,
}

pub type InstanceNorm1d = InstanceNorm;
pub type InstanceNorm2d = InstanceNorm;
pub type InstanceNorm3d = InstanceNorm;

impl InstanceNorm {
    /// Without parameters and running statistics, as PyTorch's default is.
    pub fn new() -> InstanceNorm {
        InstanceNorm { weight: None, bias: None, eps: 1e-5 }
    }

    /// With weight and bias: `affine=True`.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn affine(mut self, init: &mut Init, num_features: usize) -> Result<Self> {
        check_sizes("InstanceNorm", &[num_features])?;
        (self.weight, self.bias) = (Some(init.ones([num_features])?), Some(init.zeros([num_features])?));
        Ok(self)
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }
}

impl Default for InstanceNorm {
    fn default() -> Self {
        Self::new()
    }
}

impl Module for InstanceNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        one("instance_norm", &operands(&[x], &[&self.weight, &self.bias]), Attrs::new().with("eps", self.eps))
    }
}

/// What a [`BatchNorm`] knows of the batches it was trained on.
#[derive(Clone, Tree)]
struct RunningStatistics {
    running_mean: Buffer,
    running_var: Buffer,
    /// i32
    num_batches_tracked: Buffer,
}

/// Normalizes each channel of `[N, C, ..]`, over the batch in training, else by statistics that training gathered.
/// PyTorch: `torch.nn.BatchNorm1d`, `torch.nn.BatchNorm2d`, `torch.nn.BatchNorm3d`.
#[derive(Clone, Tree)]
pub struct BatchNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    #[tree(flatten)]
    statistics: Option<RunningStatistics>,
    eps: f64,
    momentum: Option<f64>,
    training: Training,
    #[cfg(not(target_arch = "wasm32"))]
    among: Among,
}

/// Over whose ranks a batch is normalized; nobody's but this one's where there is none. Part of what a compiled function is valid for.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone)]
struct Among(Option<Group>);

#[cfg(not(target_arch = "wasm32"))]
impl Tree for Among {
    fn visit(&self, visitor: &mut dyn Visitor) {
        if let Some(group) = &self.0 {
            visitor.value(Static::Str(&group.name));
            visitor.value(Static::Int(i64::from(group.ranks)));
        }
    }
    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Tensor)) {}
}

pub type BatchNorm1d = BatchNorm;
pub type BatchNorm2d = BatchNorm;
pub type BatchNorm3d = BatchNorm;

impl BatchNorm {
    /// With a weight of ones, a bias of zeros, and running statistics.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, channels: usize) -> Result<BatchNorm> {
        check_sizes("BatchNorm", &[channels])?;
        let device = init.device().clone();
        Ok(BatchNorm {
            weight: Some(init.ones([channels])?),
            bias: Some(init.zeros([channels])?),
            statistics: Some(RunningStatistics {
                running_mean: Buffer::new(Tensor::zeros(&device, [channels])?),
                running_var: Buffer::new(Tensor::ones(&device, [channels])?),
                num_batches_tracked: Buffer::new(Tensor::zeros(&device, ())?.to(DType::I32)?),
            }),
            eps: 1e-5,
            momentum: Some(0.1),
            training: Training::default(),
            #[cfg(not(target_arch = "wasm32"))]
            among: Among(init.among().cloned()),
        })
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    /// The share of the new batch in the running statistics; `None` for the mean over all batches.
    pub fn momentum(mut self, momentum: Option<f64>) -> Self {
        self.momentum = momentum;
        self
    }

    /// Without weight and bias: `affine=False`.
    pub fn without_affine(mut self) -> Self {
        (self.weight, self.bias) = (None, None);
        self
    }

    /// By the batch also in evaluation: `track_running_stats=False`.
    pub fn without_running_stats(mut self) -> Self {
        self.statistics = None;
        self
    }

    /// The running mean, `[C]`.
    pub fn running_mean(&self) -> Option<Tensor> {
        self.statistics.as_ref().map(|s| s.running_mean.get())
    }

    /// The running variance, `[C]`.
    pub fn running_var(&self) -> Option<Tensor> {
        self.statistics.as_ref().map(|s| s.running_var.get())
    }
}

impl BatchNorm {
    /// What is normalized, and the new running statistics.
    #[track_caller]
    fn apply(
        &self,
        x: &Tensor,
        (mean, var): (&Tensor, &Tensor),
        affine: Option<(&Tensor, &Tensor)>,
        training: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let momentum = self.momentum.unwrap_or(1.0);
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(group) = self.among.0.as_ref().filter(|_| training) {
            let (y, [new_mean, new_var, count]) = normalize_among(x, affine, self.eps, group)?;
            return no_grad(|| {
                let blend = |old: &Tensor, new: &Tensor| old.mul(1.0 - momentum)?.add(&new.mul(momentum)?);
                Ok((y, blend(mean, &new_mean)?, blend(var, &unbiased(&new_var, &count)?)?))
            });
        }
        x.batch_norm(mean, var, affine, training, momentum, self.eps)
    }
}

impl Module for BatchNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let affine = self.weight.as_ref().zip(self.bias.as_ref());
        let Some(s) = &self.statistics else {
            // The operator wants statistics to update; nobody reads them.
            let none = Tensor::zeros(x.device(), [x.size(1)?])?;
            return Ok(x.batch_norm(&none, &none, affine, true, 0.0, self.eps)?.0);
        };
        let (mean, var, training) = (s.running_mean.get(), s.running_var.get(), self.training.is_on());
        // Without momentum the statistics are those of the batch alone.
        let (y, new_mean, new_var) = self.apply(x, (&mean, &var), affine, training)?;
        if training {
            no_grad(|| {
                let count = s.num_batches_tracked.get().add(1)?;
                let (new_mean, new_var) = match self.momentum {
                    Some(_) => (new_mean, new_var),
                    None => {
                        let n = count.to(DType::F32)?;
                        let blend = |old: &Tensor, new: &Tensor| old.add(&new.sub(old)?.div(&n)?);
                        (blend(&mean, &new_mean)?, blend(&var, &new_var)?)
                    }
                };
                s.running_mean.set(&new_mean);
                s.running_var.set(&new_var);
                s.num_batches_tracked.set(&count);
                Ok::<(), Error>(())
            })?;
        }
        Ok(y)
    }
}
