//! Zeroing at random.

use crate::init::check_probability;
use crate::mode::Training;
use crate::module::Module;
use crate::random::Generator;
use aludel_tensor::{AttentionOptions, Result, Tensor, Tree};

/// Zeroes elements at random while training and scales the others up. PyTorch: `torch.nn.Dropout`.
///
/// Keys come from the [`Generator::scope`] that the forward pass runs in.
#[derive(Clone, Copy, Tree)]
pub struct Dropout {
    p: f64,
    training: Training,
}

impl Dropout {
    /// `p` is the probability of a zero.
    ///
    /// # Errors
    ///
    /// When `p` is no probability.
    pub fn new(p: f64) -> Result<Dropout> {
        check_probability("Dropout", p)?;
        Ok(Dropout { p, training: Training::default() })
    }

    /// Whether it does anything now.
    pub fn is_active(&self) -> bool {
        self.training.is_on() && self.p > 0.0
    }

    /// Attention whose weights this drops while training: see [`Tensor::scaled_dot_product_attention`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::scaled_dot_product_attention`]; in training, outside of a generator's scope.
    #[track_caller]
    pub fn attention(&self, q: &Tensor, k: &Tensor, v: &Tensor, mask: Option<&Tensor>, is_causal: bool) -> Result<Tensor> {
        if !self.is_active() {
            return q.scaled_dot_product_attention(k, v, mask, is_causal);
        }
        let key = Generator::scoped_key("Dropout")?;
        let options = AttentionOptions { is_causal, dropout_p: self.p, ..AttentionOptions::default() };
        q.scaled_dot_product_attention_with(k, v, mask, Some(&key), options)
    }
}

impl Module for Dropout {
    /// Errors in training outside of a generator's scope.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        if self.is_active() { x.dropout(&Generator::scoped_key("Dropout")?, self.p) } else { Ok(x.clone()) }
    }
}

/// Zeroes whole channels of `[N, C, ..]` at random while training. PyTorch: `torch.nn.Dropout2d`.
#[derive(Clone, Copy, Tree)]
pub struct Dropout2d {
    p: f64,
    training: Training,
}

impl Dropout2d {
    /// `p` is the probability of a zero.
    ///
    /// # Errors
    ///
    /// When `p` is no probability.
    pub fn new(p: f64) -> Result<Dropout2d> {
        check_probability("Dropout2d", p)?;
        Ok(Dropout2d { p, training: Training::default() })
    }
}

impl Module for Dropout2d {
    /// Errors in training outside of a generator's scope.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        if !self.training.is_on() || self.p == 0.0 {
            return Ok(x.clone());
        }
        let mut mask = x.detach();
        for dim in 2..x.rank() as i64 {
            mask = mask.narrow(dim, 0, 1)?;
        }
        x.mul(&mask.ones_like()?.dropout(&Generator::scoped_key("Dropout2d")?, self.p)?)
    }
}
