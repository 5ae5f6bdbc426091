//! Attention as a method.

use super::one;
use crate::dispatch::Operand;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Result};
use std::panic::Location;

/// The static arguments of attention beside its mask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentionOptions {
    /// Row i sees the keys up to i.
    pub is_causal: bool,
    /// What scores are multiplied by; 1 / sqrt(E) by default.
    pub scale: Option<f64>,
    /// The query has a multiple of the key's heads; neighbouring ones share a key head.
    pub enable_gqa: bool,
    /// The probability that a weight is dropped; above zero a random key is needed.
    pub dropout_p: f64,
}

impl Tensor {
    /// `softmax(self @ key^T / sqrt(E) + mask) @ value` over the last two dimensions: self is `[.., L, E]`, key `[.., S, E]`, value
    /// `[.., S, Ev]`, the mask (bool, true is seen; or floats that are added) broadcasts to `[.., L, S]`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when widths, lengths or batches do not fit each other, or `is_causal` comes
    /// with a mask.
    #[track_caller]
    pub fn scaled_dot_product_attention(&self, key: &Tensor, value: &Tensor, mask: Option<&Tensor>, is_causal: bool) -> Result<Tensor> {
        self.attention(key, value, mask, None, AttentionOptions { is_causal, ..AttentionOptions::default() }, Location::caller())
    }

    /// [`Tensor::scaled_dot_product_attention`] with all its arguments; `dropout_key` are two u32.
    ///
    /// # Errors
    ///
    /// As [`Tensor::scaled_dot_product_attention`], and when there is a `dropout_p` without a key or it is no probability.
    #[track_caller]
    pub fn scaled_dot_product_attention_with(
        &self,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
        dropout_key: Option<&Tensor>,
        options: AttentionOptions,
    ) -> Result<Tensor> {
        self.attention(key, value, mask, dropout_key, options, Location::caller())
    }

    fn attention(
        &self,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
        dropout_key: Option<&Tensor>,
        o: AttentionOptions,
        at: &'static Location<'static>,
    ) -> Result<Tensor> {
        let operands: Vec<Operand> =
            [Some(self), Some(key), Some(value), mask, dropout_key].into_iter().flatten().map(Operand::from).collect();
        let mut attrs = Attrs::new().with("is_causal", o.is_causal);
        if let Some(scale) = o.scale {
            attrs = attrs.with("scale", scale);
        }
        if o.enable_gqa {
            attrs = attrs.with("enable_gqa", true);
        }
        if o.dropout_p != 0.0 {
            attrs = attrs.with("dropout_p", o.dropout_p);
        }
        one(row!("scaled_dot_product_attention"), &operands, attrs, at)
    }
}
