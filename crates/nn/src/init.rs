//! Initial values of parameters: PyTorch's distributions, from one seed.

use aludel_tensor::{Device, Error, IntoDims, Result, Tensor};

/// Makes parameters on a device. Each has numbers of its own, which depend on the seed and on how many were made before.
#[derive(Clone, Debug)]
pub struct Init {
    device: Device,
    seed: u64,
    made: u64,
}

impl Init {
    pub fn new(device: &Device, seed: u64) -> Init {
        Init { device: device.clone(), seed, made: 0 }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    fn next_seed(&mut self) -> u64 {
        self.made += 1;
        Tensor::fold_seed(self.seed, self.made)
    }

    /// A parameter spread evenly over `[-bound, bound)`.
    pub fn uniform(&mut self, shape: impl IntoDims, bound: f64) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::uniform(&self.device, shape, -bound, bound, seed)?.requires_grad())
    }

    /// What `torch.nn.Linear` does: `kaiming_uniform_` with `a = sqrt(5)`, that is evenly over `1 / sqrt(fan_in)` to both sides.
    pub fn fan_in(&mut self, shape: impl IntoDims, fan_in: usize) -> Result<Tensor> {
        self.uniform(shape, 1.0 / (fan_in.max(1) as f64).sqrt())
    }

    /// A parameter of the standard normal distribution.
    pub fn normal(&mut self, shape: impl IntoDims) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::randn(&self.device, shape, seed)?.requires_grad())
    }

    /// A parameter of a normal distribution around zero. PyTorch: `torch.nn.init.normal_`.
    pub fn normal_std(&mut self, shape: impl IntoDims, std: f64) -> Result<Tensor> {
        let seed = self.next_seed();
        Ok(Tensor::normal(&self.device, shape, 0.0, std, seed)?.requires_grad())
    }

    pub fn zeros(&mut self, shape: impl IntoDims) -> Result<Tensor> {
        Ok(Tensor::zeros(&self.device, shape)?.requires_grad())
    }

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
