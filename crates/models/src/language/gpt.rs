//! The decoder-only transformer, as in GPT-2: normalization before each half of a block, GELU by tanh, learned positions.

use super::{head_width, sizes, token_loss};
use aludel_nn::{Embedding, Init, LayerNorm, Linear, Module};
use aludel_tensor::{Error, Result, Tensor, Tree};

/// One block: attention, then a perceptron of four times the width, each with a residual connection.
#[derive(Clone, Tree)]
pub struct Block {
    ln1: LayerNorm,
    qkv: Linear,
    proj: Linear,
    ln2: LayerNorm,
    up: Linear,
    down: Linear,
    heads: usize,
    width: usize,
}

impl Block {
    /// With fresh weights, for `[batch, time, width]`.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, width: usize, heads: usize) -> Result<Block> {
        head_width("Gpt", width, heads)?;
        Ok(Block {
            ln1: LayerNorm::new(init, width)?,
            qkv: Linear::new(init, width, 3 * width)?,
            proj: Linear::new(init, width, width)?,
            ln2: LayerNorm::new(init, width)?,
            up: Linear::new(init, width, 4 * width)?,
            down: Linear::new(init, 4 * width, width)?,
            heads,
            width,
        })
    }
}

impl Module for Block {
    /// `[batch, time, width]` to the same.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, time) = (x.size(0)?, x.size(1)?);
        let qkv = self.qkv.forward(&self.ln1.forward(x)?)?;
        let head = |part: &Tensor| part.reshape((&batch, &time, self.heads, self.width / self.heads))?.transpose(1, 2);
        let parts = qkv.split(self.width as i64, -1)?;
        let [q, k, v] = parts.as_slice() else {
            return Err(Error::op("split", qkv.to_string(), "not three parts", "report this"));
        };
        let y = head(q)?.scaled_dot_product_attention(&head(k)?, &head(v)?, None, true)?;
        let y = y.transpose(1, 2)?.reshape((&batch, &time, self.width))?;
        let x = x.add(&self.proj.forward(&y)?)?;
        let up = self.up.forward(&self.ln2.forward(&x)?)?.gelu("tanh")?;
        x.add(&self.down.forward(&up)?)
    }
}

/// A language model over small vocabularies; parameters are `tok.weight`, `pos.weight`, `blocks.0.ln1.weight`, .., `ln.weight`,
/// `head.weight`.
#[derive(Clone, Tree)]
pub struct Gpt {
    tok: Embedding,
    pos: Embedding,
    blocks: Vec<Block>,
    ln: LayerNorm,
    /// Not tied to `tok`, without bias.
    head: Linear,
}

impl Gpt {
    /// With fresh weights, for at most `context` positions.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, vocabulary: usize, context: usize, width: usize, layers: usize, heads: usize) -> Result<Gpt> {
        Ok(Gpt {
            tok: Embedding::new(init, vocabulary, width)?,
            pos: Embedding::new(init, context, width)?,
            blocks: (0..layers).map(|_| Block::new(init, width, heads)).collect::<Result<_>>()?,
            ln: LayerNorm::new(init, width)?,
            head: Linear::without_bias(init, width, vocabulary)?,
        })
    }

    /// Mean cross-entropy of the next token at every position; both `[batch, time]` of i32.
    ///
    /// # Errors
    ///
    /// As the model's `forward`, and when `next` is not integers of the tokens' shape.
    #[track_caller]
    pub fn loss(&self, tokens: &Tensor, next: &Tensor) -> Result<Tensor> {
        token_loss(&self.forward(tokens)?, next)
    }
}

impl Module for Gpt {
    /// `[batch, time]` of i32 to logits `[batch, time, vocabulary]`. Errors when there are more positions than the context has.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let (_, time) = sizes("Gpt", tokens)?;
        let positions = self.pos.weight.narrow(0, 0, &time)?;
        let mut x = self.tok.forward(tokens)?.add(&positions)?;
        for block in &self.blocks {
            x = block.forward(&x)?;
        }
        self.head.forward(&self.ln.forward(&x)?)
    }
}
