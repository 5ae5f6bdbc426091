//! Models of sequences of tokens, `[batch, time]` of i32.

mod bert;
mod gpt;
mod gpt2;
mod heads;
mod llama;
mod lstm;

pub use bert::{BertConfig, BertForMaskedLm, BertForSequenceClassification, BertInputs, BertModel};
pub use gpt::{Block, Gpt};
pub use gpt2::{Gpt2, Gpt2Config};
pub use llama::{Llama, LlamaConfig};
pub use lstm::{LstmLm, LstmLmConfig, LstmState};

use aludel_nn::{Init, Linear};
use aludel_tensor::{Dim, Error, Result, Tensor};

/// Mean cross-entropy of logits `[batch, time, vocabulary]` against tokens `[batch, time]`; positions of -100 count for nothing.
#[track_caller]
fn token_loss(logits: &Tensor, next: &Tensor) -> Result<Tensor> {
    let classes = logits.size(-1)?;
    logits.reshape((-1, &classes))?.cross_entropy(&next.reshape([-1])?)
}

/// Batch and time of `[batch, time]`.
fn sizes(model: &str, tokens: &Tensor) -> Result<(Dim, Dim)> {
    if tokens.rank() != 2 || tokens.dtype().is_float() {
        return Err(Error::op(model, tokens.to_string(), "tokens are integers of two dimensions", "give [batch, time]"));
    }
    Ok((tokens.size(0)?, tokens.size(1)?))
}

/// How many features a head has.
fn head_width(model: &str, width: usize, heads: usize) -> Result<usize> {
    if heads == 0 || !width.is_multiple_of(heads) {
        return Err(Error::invalid(model, format!("{heads} heads do not divide a width of {width}"), "give a divisor of the width"));
    }
    Ok(width / heads)
}

/// A linear layer whose weight starts normally distributed, and its bias at zero.
fn normal_linear(init: &mut Init, inputs: usize, outputs: usize, std: f64) -> Result<Linear> {
    let mut layer = Linear::new(init, inputs, outputs)?;
    layer.weight = init.normal_std([outputs, inputs], std)?;
    layer.bias = Some(init.zeros([outputs])?);
    Ok(layer)
}
