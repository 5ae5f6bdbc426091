//! Attention with heads, as the decoders and encoders here use it.

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
