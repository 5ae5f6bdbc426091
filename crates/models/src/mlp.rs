//! The multilayer perceptron.

use aludel_nn::{Activation, Init, Linear, Module, Sequential};
use aludel_tensor::{Error, Result, Tensor, Tree};

/// Linear layers with an activation between each two; parameters are named as in a `torch.nn.Sequential` (`0.weight`, `2.weight`, ..).
#[derive(Clone, Tree)]
pub struct Mlp(Sequential);

impl Mlp {
    /// `sizes` are the widths from input to output: `[64, 128, 128, 10]` has three layers.
    ///
    /// # Errors
    ///
    /// When there are fewer than two sizes, or one is zero.
    pub fn new(init: &mut Init, sizes: &[usize], activation: Activation) -> Result<Mlp> {
        if sizes.len() < 2 {
            return Err(Error::invalid("Mlp", format!("{} sizes", sizes.len()), "give at least the input's and the output's"));
        }
        let mut layers = Vec::new();
        for (i, pair) in sizes.windows(2).enumerate() {
            if i > 0 {
                layers.push(activation.into());
            }
            layers.push(Linear::new(init, pair[0], pair[1])?.into());
        }
        Ok(Mlp(Sequential(layers)))
    }
}

impl Module for Mlp {
    /// `[batch, first size]` to `[batch, last size]`.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0.forward(x)
    }
}
