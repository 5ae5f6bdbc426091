//! Attention with heads, as the decoders and encoders here use it.

use aludel_nn::Dropout;
use aludel_tensor::{Dim, Result, Tensor};

/// `[batch, time, heads * width]` as `[batch, heads, time, width]`.
#[track_caller]
pub fn split_heads(x: &Tensor, batch: &Dim, time: &Dim, heads: usize, width: usize) -> Result<Tensor> {
    x.reshape((batch, time, heads, width))?.transpose(1, 2)
}

/// `[batch, heads, time, width]` as `[batch, time, heads * width]`.
#[track_caller]
pub fn join_heads(x: &Tensor, batch: &Dim, time: &Dim, heads: usize, width: usize) -> Result<Tensor> {
    x.transpose(1, 2)?.reshape((batch, time, heads * width))
}

/// `softmax(q k^T / sqrt(width) + mask) v` of `[batch, heads, time, width]`, with dropout of the weights while training. A bool mask,
/// broadcast to `[batch, heads, time, time]`, keeps where it is true.
#[track_caller]
pub fn attend(q: &Tensor, k: &Tensor, v: &Tensor, mask: Option<&Tensor>, is_causal: bool, dropout: &Dropout) -> Result<Tensor> {
    dropout.attention(q, k, v, mask, is_causal)
}
