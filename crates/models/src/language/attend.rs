//! Attention with heads, as the decoders and encoders here use it.

use aludel_nn::{Dropout, Module};
use aludel_tensor::{DType, Dim, Result, Tensor};

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
    if !dropout.is_active() {
        return q.scaled_dot_product_attention(k, v, mask, is_causal);
    }
    let width = q.shape().last().copied().unwrap_or(1) as f64;
    let mut scores = q.mul(width.powf(-0.5))?.matmul(&k.transpose(-2, -1)?)?;
    // Vanishes in any softmax; targets may assume that infinities are absent.
    let low = if scores.dtype() == DType::F16 { -65504.0 } else { -1e30 };
    let mut hide = |hidden: &Tensor| -> Result<()> {
        scores = scores.masked_fill(hidden, low)?;
        Ok(())
    };
    if is_causal {
        let positions = |dim| Tensor::arange(q.device(), &q.size(2)?)?.unsqueeze(dim);
        hide(&positions(0)?.gt(&positions(1)?)?)?;
    }
    if let Some(mask) = mask {
        hide(&mask.logical_not()?)?;
    }
    dropout.forward(&scores.softmax(-1)?)?.matmul(v)
}
