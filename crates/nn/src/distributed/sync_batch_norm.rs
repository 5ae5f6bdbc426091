//! Batch normalization by the batch of all ranks.

use crate::init::{Init, check_sizes};
use crate::mode::{Buffer, Training};
use crate::module::Module;
use aludel_tensor::distributed::{Group, Member};
use aludel_tensor::{DType, Error, Result, Tensor, Tree, cat, no_grad};

/// Normalizes each channel of `[N, C, ..]` over the batches of all ranks in training, else by running statistics. PyTorch:
/// `torch.nn.SyncBatchNorm`.
///
/// Ranks exchange once: the mean, the sum of squares about it and the count of each, which are combined as Chan, Golub and LeVeque
/// ("Updating formulae and a pairwise algorithm for computing sample variances", 1979) have it.
#[derive(Clone, Tree)]
pub struct SyncBatchNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    running_mean: Buffer,
    running_var: Buffer,
    /// i32
    num_batches_tracked: Buffer,
    #[tree(skip)]
    group: Group,
    eps: f64,
    momentum: f64,
    training: Training,
}

impl SyncBatchNorm {
    /// With a weight of ones, a bias of zeros, and running statistics.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, channels: usize, member: &Member) -> Result<SyncBatchNorm> {
        check_sizes("SyncBatchNorm", &[channels])?;
        let device = init.device().clone();
        Ok(SyncBatchNorm {
            weight: Some(init.ones([channels])?),
            bias: Some(init.zeros([channels])?),
            running_mean: Buffer::new(Tensor::zeros(&device, [channels])?),
            running_var: Buffer::new(Tensor::ones(&device, [channels])?),
            num_batches_tracked: Buffer::new(Tensor::zeros(&device, ())?.to(DType::I32)?),
            group: member.group.clone(),
            eps: 1e-5,
            momentum: 0.1,
            training: Training::default(),
        })
    }

    pub fn eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    /// The share of the new batch in the running statistics.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.momentum = momentum;
        self
    }

    /// The running mean, `[C]`.
    pub fn running_mean(&self) -> Tensor {
        self.running_mean.get()
    }

    /// The running variance, `[C]`.
    pub fn running_var(&self) -> Tensor {
        self.running_var.get()
    }
}

/// Mean and variance of each channel over all ranks, and how many numbers they are of; in f32, whatever the input is.
///
/// Both sums of a rank come from one pass: squares are of differences from one element of the channel, as
/// [`BatchNorm`](crate::BatchNorm)'s are. Nothing of the backward pass but the small exchange depends on the other ranks.
pub(crate) fn statistics(x: &Tensor, group: &Group) -> Result<(Tensor, Tensor, Tensor)> {
    let x = x.to(DType::F32)?;
    let channels = x.size(1)?;
    let over: Vec<i64> = (0..x.dims().len() as i64).filter(|d| *d != 1).collect();
    let mut shift = x.detach();
    for d in &over {
        shift = shift.narrow(*d, 0, 1)?;
    }
    let apart = x.sub(&shift)?;
    let (sum, squares) = (apart.sum(&over[..])?, apart.mul(&apart)?.sum(&over[..])?);
    // Ranks may have batches of different sizes, which only running programs know.
    let count = x.detach().narrow(1, 0, 1)?.zeros_like()?.add(1.0)?.sum(())?.reshape([1])?;
    let off = sum.div(&count)?;
    let (mean, squares) = (off.add(&shift.reshape([-1])?)?, squares.sub(&off.mul(&sum)?)?);
    let own = cat(&[&mean, &squares, &count], 0)?.reshape([1, -1])?;
    let all = own.all_gather(0, group)?;
    let (means, squares) = (all.narrow(1, 0, channels.clone())?, all.narrow(1, channels.clone(), channels)?);
    let counts = all.narrow(1, -1, 1)?.detach();
    let total = counts.sum(())?;
    let mean = means.mul(&counts)?.sum(0)?.div(&total)?;
    let between = means.sub(&mean)?;
    let between = between.mul(&between)?.mul(&counts)?.sum(0)?;
    let var = squares.sum(0)?.add(&between)?.div(&total)?.clamp(0.0, None)?;
    Ok((mean, var, total))
}

/// Normalizes each channel by statistics, in f32; gives what the input was.
pub(crate) fn normalize(x: &Tensor, mean: &Tensor, var: &Tensor, affine: Option<(&Tensor, &Tensor)>, eps: f64) -> Result<Tensor> {
    let column: Vec<i64> = (0..x.dims().len()).map(|d| if d == 1 { -1 } else { 1 }).collect();
    let shaped = |t: &Tensor| t.to(DType::F32)?.reshape(&column[..]);
    let mut y = x.to(DType::F32)?.sub(&shaped(mean)?)?.mul(&shaped(&var.add(eps)?.rsqrt()?)?)?;
    if let Some((weight, bias)) = affine {
        y = y.mul(&shaped(weight)?)?.add(&shaped(bias)?)?;
    }
    y.to(x.dtype())
}

/// The variance of a sample of so many numbers, of that of a population.
pub(crate) fn unbiased(var: &Tensor, count: &Tensor) -> Result<Tensor> {
    var.detach().mul(&count.div(&count.sub(1.0)?)?)
}

impl Module for SyncBatchNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let rank = x.dims().len();
        if rank < 2 {
            return Err(Error::op("SyncBatchNorm", x.to_string(), "there are no channels", "give [N, C, ..]"));
        }
        let (mean, var) = if self.training.is_on() {
            let (mean, var, count) = statistics(x, &self.group)?;
            no_grad(|| {
                let blend = |old: Tensor, new: &Tensor| old.mul(1.0 - self.momentum)?.add(&new.mul(self.momentum)?);
                self.running_mean.set(&blend(self.running_mean.get(), &mean.detach())?);
                self.running_var.set(&blend(self.running_var.get(), &unbiased(&var, &count)?)?);
                self.num_batches_tracked.set(&self.num_batches_tracked.get().add(1)?);
                Ok::<(), Error>(())
            })?;
            (mean, var)
        } else {
            (self.running_mean.get(), self.running_var.get())
        };
        normalize(x, &mean, &var, self.weight.as_ref().zip(self.bias.as_ref()), self.eps)
    }
}
