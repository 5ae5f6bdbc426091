//! Batch normalization by the batch of all ranks.

use crate::init::{Init, check_sizes};
use crate::mode::{Buffer, Training};
use crate::module::Module;
use aludel_tensor::distributed::{Group, Member};
use aludel_tensor::func::Function;
use aludel_tensor::{DType, Dim, Error, Result, Tensor, Tree, cat, no_grad};

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

/// A batch normalized over all ranks: `[x]` or `[x, weight, bias]` to what is normalized, of the input's type, and the mean, the variance
/// and how many numbers they are of, which have no gradient.
///
/// All is computed in f32. The derivative is its own, as the operator's of one rank is: both sums of the backward pass come from one pass
/// over `x` and `dy`, which are read again in their own types, and are summed over the ranks by one exchange.
struct Normalized {
    group: Group,
    eps: f64,
}

/// Every dimension but the channels'.
fn but_channels(x: &Tensor) -> Vec<i64> {
    (0..x.dims().len() as i64).filter(|d| *d != 1).collect()
}

/// One number for each channel, shaped to broadcast against `like`.
fn column(t: &Tensor, like: &Tensor) -> Result<Tensor> {
    let shape: Vec<i64> = (0..like.dims().len()).map(|d| if d == 1 { -1 } else { 1 }).collect();
    t.to(DType::F32)?.reshape(&shape[..])
}

impl Normalized {
    /// Mean and variance of each channel over all ranks, and how many numbers they are of.
    ///
    /// Both sums of a rank come from one pass: squares are of differences from one element of the channel, as
    /// [`BatchNorm`](crate::BatchNorm)'s are.
    fn statistics(&self, x: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
        let (channels, over) = (x.size(1)?, but_channels(x));
        let mut shift = x.clone();
        for d in &over {
            shift = shift.narrow(*d, 0, 1)?;
        }
        let apart = x.sub(&shift)?;
        let (sum, squares) = (apart.sum(&over[..])?, apart.mul(&apart)?.sum(&over[..])?);
        // Ranks may have batches of different sizes.
        let count = x.narrow(1, 0, 1)?.zeros_like()?.add(1.0)?.sum(())?.reshape([1])?;
        let off = sum.div(&count)?;
        let (mean, squares) = (off.add(&shift.reshape([-1])?)?, squares.sub(&off.mul(&sum)?)?);
        let all = cat(&[&mean, &squares, &count], 0)?.reshape([1, -1])?.all_gather(0, &self.group)?;
        let (means, squares) = (all.narrow(1, 0, channels.clone())?, all.narrow(1, channels.clone(), channels)?);
        let counts = all.narrow(1, -1, 1)?;
        let total = counts.sum(())?;
        let mean = means.mul(&counts)?.sum(0)?.div(&total)?;
        let between = means.sub(&mean)?;
        let between = between.mul(&between)?.mul(&counts)?.sum(0)?;
        let var = squares.sum(0)?.add(&between)?.div(&total)?.clamp(0.0, None)?;
        Ok((mean, var, total))
    }
}

impl Function for Normalized {
    type Input = Vec<Tensor>;
    type Output = (Tensor, Vec<Tensor>);
    /// The input, and mean, scale and count.
    type Saved = (Vec<Tensor>, Vec<Tensor>);

    fn forward(&self, input: &Vec<Tensor>) -> Result<(Self::Output, Self::Saved)> {
        let wide = input[0].to(DType::F32)?;
        let (mean, var, count) = self.statistics(&wide)?;
        let scale = var.add(self.eps)?.rsqrt()?;
        let mut y = wide.sub(&column(&mean, &wide)?)?.mul(&column(&scale, &wide)?)?;
        if let [_, weight, bias] = &input[..] {
            y = y.mul(&column(weight, &wide)?)?.add(&column(bias, &wide)?)?;
        }
        let y = y.to(input[0].dtype())?;
        Ok(((y, vec![mean.clone(), var, count.clone()]), (input.clone(), vec![mean, scale, count])))
    }

    // With n = (x - mean) r and N elements a channel on all ranks: db = sum(dy), dw = sum(dy n), dx = w r (dy - DB / N - n DW / N), where
    // DB and DW are summed over the ranks. (S. Ioffe, C. Szegedy, "Batch normalization", 2015, section 3.)
    fn backward(&self, (input, statistics): &Self::Saved, (dy, _): &Self::Output) -> Result<Vec<Tensor>> {
        let [mean, scale, count] = &statistics[..] else { return Err(Error::op("SyncBatchNorm", "", "nothing was kept", "report this")) };
        let (x, dy) = (input[0].to(DType::F32)?, dy.to(DType::F32)?);
        let (channels, over) = (x.size(1)?, but_channels(&x));
        let n = x.sub(&column(mean, &x)?)?.mul(&column(scale, &x)?)?;
        let (db, dw) = (dy.sum(&over[..])?, dy.mul(&n)?.sum(&over[..])?);
        let all = cat(&[&db, &dw], 0)?.all_reduce("sum", &self.group)?.div(count)?;
        let of_all = |start: Dim| column(&all.narrow(0, start, channels.clone())?, &x);
        let factor = match input.get(1) {
            Some(weight) => scale.mul(&weight.to(DType::F32)?)?,
            None => scale.clone(),
        };
        let dx = dy.sub(&of_all(Dim::from(0i64))?)?.sub(&n.mul(&of_all(channels.clone())?)?)?.mul(&column(&factor, &x)?)?;
        let mut out = vec![dx.to(input[0].dtype())?];
        if let [_, weight, bias] = &input[..] {
            out.extend([dw.to(weight.dtype())?, db.to(bias.dtype())?]);
        }
        Ok(out)
    }
}

/// What is normalized over the batches of all ranks, and the mean, the variance and how many numbers they are of.
pub(crate) fn normalize_among(x: &Tensor, affine: Option<(&Tensor, &Tensor)>, eps: f64, group: &Group) -> Result<(Tensor, [Tensor; 3])> {
    let input: Vec<Tensor> = std::iter::once(x).chain(affine.into_iter().flat_map(|(w, b)| [w, b])).cloned().collect();
    let (y, statistics) = Normalized { group: group.clone(), eps }.apply(&input)?;
    let statistics = statistics.into_iter().map(|t| t.detach()).collect::<Vec<_>>();
    let wrong = |_| Error::op("SyncBatchNorm", x.to_string(), "there are no statistics", "report this");
    Ok((y, <[Tensor; 3]>::try_from(statistics).map_err(wrong)?))
}

/// The variance of a sample of so many numbers, of that of a population.
pub(crate) fn unbiased(var: &Tensor, count: &Tensor) -> Result<Tensor> {
    var.mul(&count.div(&count.sub(1.0)?)?)
}

impl Module for SyncBatchNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let rank = x.dims().len();
        if rank < 2 {
            return Err(Error::op("SyncBatchNorm", x.to_string(), "there are no channels", "give [N, C, ..]"));
        }
        let affine = self.weight.as_ref().zip(self.bias.as_ref());
        if !self.training.is_on() {
            let (mean, var) = (self.running_mean.get(), self.running_var.get());
            return Ok(x.batch_norm(&mean, &var, affine, false, self.momentum, self.eps)?.0);
        }
        let (y, [mean, var, count]) = normalize_among(x, affine, self.eps, &self.group)?;
        no_grad(|| {
            let blend = |old: Tensor, new: &Tensor| old.mul(1.0 - self.momentum)?.add(&new.mul(self.momentum)?);
            self.running_mean.set(&blend(self.running_mean.get(), &mean)?);
            self.running_var.set(&blend(self.running_var.get(), &unbiased(&var, &count)?)?);
            self.num_batches_tracked.set(&self.num_batches_tracked.get().add(1)?);
            Ok::<(), Error>(())
        })?;
        Ok(y)
    }
}
