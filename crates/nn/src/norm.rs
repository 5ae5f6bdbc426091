//! Normalization with running statistics.

use crate::init::{Init, check_sizes};
use crate::mode::{Buffer, Training};
use crate::module::Module;
use aludel_tensor::{DType, Result, Tensor, Tree, no_grad};

/// Normalizes each channel of `[N, C, ..]`, over the batch in training, else by statistics that training gathered.
/// PyTorch: `torch.nn.BatchNorm1d`, `torch.nn.BatchNorm2d`.
#[derive(Clone, Tree)]
pub struct BatchNorm {
    pub weight: Tensor,
    pub bias: Tensor,
    pub running_mean: Buffer,
    pub running_var: Buffer,
    /// i32
    pub num_batches_tracked: Buffer,
    eps: f64,
    momentum: f64,
    training: Training,
}

pub type BatchNorm1d = BatchNorm;
pub type BatchNorm2d = BatchNorm;

impl BatchNorm {
    pub fn new(init: &mut Init, channels: usize) -> Result<BatchNorm> {
        check_sizes("BatchNorm", &[channels])?;
        let device = init.device().clone();
        Ok(BatchNorm {
            weight: init.ones([channels])?,
            bias: init.zeros([channels])?,
            running_mean: Buffer::new(Tensor::zeros(&device, [channels])?),
            running_var: Buffer::new(Tensor::ones(&device, [channels])?),
            num_batches_tracked: Buffer::new(Tensor::zeros(&device, ())?.to(DType::I32)?),
            eps: 1e-5,
            momentum: 0.1,
            training: Training::default(),
        })
    }
}

impl Module for BatchNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (mean, var) = (self.running_mean.get(), self.running_var.get());
        let affine = Some((&self.weight, &self.bias));
        let (y, mean, var) = x.batch_norm(&mean, &var, affine, self.training.is_on(), self.momentum, self.eps)?;
        if self.training.is_on() {
            self.running_mean.set(&mean);
            self.running_var.set(&var);
            self.num_batches_tracked.set(&no_grad(|| self.num_batches_tracked.get().add(1))?);
        }
        Ok(y)
    }
}
