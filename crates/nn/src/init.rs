//! Initial values of parameters: PyTorch's distributions, from one seed.

use aludel_tensor::{Device, Error, IntoDims, Result, Tensor};

/// Makes parameters on a device. Each has numbers of its own, which depend on the seed and on how many were made before.
#[derive(Clone, Debug)]
pub struct Init {
    device: Device,
    seed: u64,
    made: u64,
    /// Over whose ranks batches are normalized.
    #[cfg(not(target_arch = "wasm32"))]
    among: Option<crate::distributed::Group>,
}

/// Which side of a layer keeps its variance. PyTorch: the `mode` of `kaiming_normal_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fan {
    /// The forward pass's.
    In,
    /// The backward pass's.
    Out,
}

impl Fan {
    fn of(self, shape: &[usize]) -> Result<f64> {
        let (inputs, outputs) = fans(shape)?;
        Ok(if self == Fan::In { inputs } else { outputs }.max(1) as f64)
    }
}

/// How many inputs and outputs a weight `[out, in, *kernel]` connects. PyTorch: `_calculate_fan_in_and_fan_out`.
fn fans(shape: &[usize]) -> Result<(usize, usize)> {
    match shape {
        [out, inputs, kernel @ ..] => {
            let field: usize = kernel.iter().product();
            Ok((inputs * field, out * field))
        }
        _ => Err(Error::invalid("Init", format!("a weight of shape {shape:?} has no fan"), "give it two dimensions or more")),
    }
}

impl Init {
    pub fn new(device: &Device, seed: u64) -> Init {
        Init {
            device: device.clone(),
            seed,
            made: 0,
            #[cfg(not(target_arch = "wasm32"))]
            among: None,
        }
    }

    /// Lets every [`BatchNorm`](crate::BatchNorm) that is made of this normalize over the batches of all ranks. PyTorch:
    /// `SyncBatchNorm.convert_sync_batchnorm`.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn synchronized(self, member: &crate::distributed::Member) -> Init {
        Init { among: (member.ranks() > 1).then(|| member.group.clone()), ..self }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn among(&self) -> Option<&crate::distributed::Group> {
        self.among.as_ref()
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    fn next_seed(&mut self) -> u64 {
        self.made += 1;
        Tensor::fold_seed(self.seed, self.made)
    }

    /// A parameter spread evenly over `[-bound, bound)`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::uniform`].
    pub fn uniform(&mut self, shape: impl IntoDims, bound: f64) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::uniform(&self.device, shape, -bound, bound, seed)?.requires_grad())
    }

    /// What `torch.nn.Linear` does: `kaiming_uniform_` with `a = sqrt(5)`, that is evenly over `1 / sqrt(fan_in)` to both sides.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn fan_in(&mut self, shape: impl IntoDims, fan_in: usize) -> Result<Tensor> {
        self.uniform(shape, 1.0 / (fan_in.max(1) as f64).sqrt())
    }

    /// A parameter of the standard normal distribution.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn normal(&mut self, shape: impl IntoDims) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::randn(&self.device, shape, seed)?.requires_grad())
    }

    /// A parameter of a normal distribution around zero. PyTorch: `torch.nn.init.normal_`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::normal`].
    pub fn normal_std(&mut self, shape: impl IntoDims, std: f64) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::normal(&self.device, shape, 0.0, std, seed)?.requires_grad())
    }

    /// As [`Init::normal_std`], without what lies beyond two standard deviations. PyTorch: `trunc_normal_(std=std, a=-2 * std, b=2 * std)`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::truncated_normal`].
    pub fn trunc_normal(&mut self, shape: impl IntoDims, std: f64) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::truncated_normal(&self.device, shape, std, seed)?.requires_grad())
    }

    /// Evenly so that a linear layer keeps the variance of values and gradients. PyTorch: `xavier_uniform_`.
    ///
    /// # Errors
    ///
    /// When the shape has fewer than two dimensions; else as [`Tensor::uniform`].
    pub fn xavier_uniform(&mut self, shape: &[usize], gain: f64) -> Result<Tensor> {
        let (inputs, outputs) = fans(shape)?;
        self.uniform(shape, gain * (6.0 / (inputs + outputs).max(1) as f64).sqrt())
    }

    /// As [`Init::xavier_uniform`], normally distributed. PyTorch: `xavier_normal_`.
    ///
    /// # Errors
    ///
    /// When the shape has fewer than two dimensions; else as [`Tensor::normal`].
    pub fn xavier_normal(&mut self, shape: &[usize], gain: f64) -> Result<Tensor> {
        let (inputs, outputs) = fans(shape)?;
        self.normal_std(shape, gain * (2.0 / (inputs + outputs).max(1) as f64).sqrt())
    }

    /// Evenly so that a layer before a ReLU keeps the variance. PyTorch: `kaiming_uniform_(mode=fan, nonlinearity="relu")`.
    ///
    /// # Errors
    ///
    /// When the shape has fewer than two dimensions; else as [`Tensor::uniform`].
    pub fn kaiming_uniform(&mut self, shape: &[usize], fan: Fan) -> Result<Tensor> {
        self.uniform(shape, (6.0 / fan.of(shape)?).sqrt())
    }

    /// As [`Init::kaiming_uniform`], normally distributed. PyTorch: `kaiming_normal_(mode=fan, nonlinearity="relu")`.
    ///
    /// # Errors
    ///
    /// When the shape has fewer than two dimensions; else as [`Tensor::normal`].
    pub fn kaiming_normal(&mut self, shape: &[usize], fan: Fan) -> Result<Tensor> {
        self.normal_std(shape, (2.0 / fan.of(shape)?).sqrt())
    }

    /// A parameter of zeros.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn zeros(&mut self, shape: impl IntoDims) -> Result<Tensor> {
        Ok(Tensor::zeros(&self.device, shape)?.requires_grad())
    }

    /// A parameter of ones.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn ones(&mut self, shape: impl IntoDims) -> Result<Tensor> {
        Ok(Tensor::ones(&self.device, shape)?.requires_grad())
    }
}

/// A layer's size must be at least one.
pub(crate) fn check_sizes(layer: &str, sizes: &[usize]) -> Result<()> {
    if sizes.contains(&0) {
        return Err(Error::invalid(layer, format!("a size of {sizes:?} is 0"), "give sizes of at least 1"));
    }
    Ok(())
}

/// A probability from 0 to 1.
pub(crate) fn check_probability(layer: &str, p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Error::invalid(layer, format!("p is {p}"), "use a probability from 0 to 1"))
}
