//! GPT-2 as Hugging Face's `GPT2LMHeadModel`: its parameter names, its `Conv1D` layers, whose weights are `[in, out]`, and its head, which
//! is the table of token embeddings. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.

use super::heads::{join_heads, split_heads};
use super::{head_width, sizes, token_loss};
use crate::published::Published;
use aludel_nn::{Dropout, Embedding, Init, LayerNorm, Module};
use aludel_tensor::{Result, Tensor, Tree};

/// Sizes of a [`Gpt2`], by the names of Hugging Face's `GPT2Config`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpt2Config {
    pub vocab_size: usize,
    pub n_positions: usize,
    pub n_embd: usize,
    pub n_layer: usize,
    pub n_head: usize,
    /// Of embeddings, attention weights and residual branches alike: `embd_pdrop`, `attn_pdrop`, `resid_pdrop`.
    pub dropout: f64,
}

impl Gpt2Config {
    /// `gpt2`, the smallest that was published: 124,439,808 parameters.
    pub fn gpt2_small() -> Self {
        Gpt2Config { vocab_size: 50257, n_positions: 1024, n_embd: 768, n_layer: 12, n_head: 12, dropout: 0.1 }
    }
}

/// `y = x W + b` with the weight `[in, out]`, as GPT-2 was published. Hugging Face: `transformers.pytorch_utils.Conv1D`.
#[derive(Clone, Tree)]
struct Conv1D {
    weight: Tensor,
    bias: Tensor,
}

impl Conv1D {
    fn new(init: &mut Init, inputs: usize, outputs: usize, std: f64) -> Result<Conv1D> {
        Ok(Conv1D { weight: init.normal_std([inputs, outputs], std)?, bias: init.zeros([outputs])? })
    }
}

impl Module for Conv1D {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.linear(&self.weight.transpose(0, 1)?, Some(&self.bias))
    }
}

#[derive(Clone, Tree)]
struct Attention {
    c_attn: Conv1D,
    c_proj: Conv1D,
    heads: usize,
    width: usize,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Module for Attention {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, time) = (x.size(0)?, x.size(1)?);
        let (all, each) = (self.heads * self.width, self.width);
        let qkv = self.c_attn.forward(x)?;
        let part = |i: usize| split_heads(&qkv.narrow(-1, i * all, all)?, &batch, &time, self.heads, each);
        let y = self.dropout.attention(&part(0)?, &part(1)?, &part(2)?, None, true)?;
        self.dropout.forward(&self.c_proj.forward(&join_heads(&y, &batch, &time, self.heads, each)?)?)
    }
}

#[derive(Clone, Tree)]
struct FeedForward {
    c_fc: Conv1D,
    c_proj: Conv1D,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Module for FeedForward {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.dropout.forward(&self.c_proj.forward(&self.c_fc.forward(x)?.gelu("tanh")?)?)
    }
}

#[derive(Clone, Tree)]
struct Gpt2Block {
    ln_1: LayerNorm,
    attn: Attention,
    ln_2: LayerNorm,
    mlp: FeedForward,
}

impl Gpt2Block {
    fn new(init: &mut Init, config: &Gpt2Config) -> Result<Gpt2Block> {
        let &Gpt2Config { n_embd, n_layer, n_head, dropout, .. } = config;
        // Branches that end on the residual stream start smaller, the deeper it is.
        let last = STD / (2.0 * n_layer as f64).sqrt();
        let dropout = Dropout::new(dropout)?;
        Ok(Gpt2Block {
            ln_1: LayerNorm::new(init, n_embd)?,
            attn: Attention {
                c_attn: Conv1D::new(init, n_embd, 3 * n_embd, STD)?,
                c_proj: Conv1D::new(init, n_embd, n_embd, last)?,
                heads: n_head,
                width: head_width("Gpt2", n_embd, n_head)?,
                dropout,
            },
            ln_2: LayerNorm::new(init, n_embd)?,
            mlp: FeedForward {
                c_fc: Conv1D::new(init, n_embd, 4 * n_embd, STD)?,
                c_proj: Conv1D::new(init, 4 * n_embd, n_embd, last)?,
                dropout,
            },
        })
    }
}

impl Module for Gpt2Block {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = x.add(&self.attn.forward(&self.ln_1.forward(x)?)?)?;
        x.add(&self.mlp.forward(&self.ln_2.forward(&x)?)?)
    }
}

/// The standard deviation that weights start with.
const STD: f64 = 0.02;

#[derive(Clone, Tree)]
struct Transformer {
    wte: Embedding,
    wpe: Embedding,
    h: Vec<Gpt2Block>,
    ln_f: LayerNorm,
    #[tree(flatten)]
    dropout: Dropout,
}

/// A decoder of tokens; parameters are `transformer.wte.weight`, `transformer.h.0.attn.c_attn.weight`, .., `transformer.ln_f.bias`.
#[derive(Clone, Tree)]
pub struct Gpt2 {
    transformer: Transformer,
}

impl Gpt2 {
    /// With fresh weights, as GPT-2 starts.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &Gpt2Config) -> Result<Gpt2> {
        let &Gpt2Config { vocab_size, n_positions, n_embd, n_layer, dropout, .. } = config;
        let mut table = |count| -> Result<Embedding> {
            let mut table = Embedding::new(init, count, n_embd)?;
            table.weight = init.normal_std([count, n_embd], STD)?;
            Ok(table)
        };
        let (wte, wpe) = (table(vocab_size)?, table(n_positions)?);
        let h = (0..n_layer).map(|_| Gpt2Block::new(init, config)).collect::<Result<_>>()?;
        Ok(Gpt2 { transformer: Transformer { wte, wpe, h, ln_f: LayerNorm::new(init, n_embd)?, dropout: Dropout::new(dropout)? } })
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

impl Module for Gpt2 {
    /// `[batch, time]` of i32 to logits `[batch, time, vocabulary]`. Errors when there are more positions than the model has, and in
    /// training with dropout outside of a generator's scope.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let t = &self.transformer;
        let (_, time) = sizes("Gpt2", tokens)?;
        let mut x = t.dropout.forward(&t.wte.forward(tokens)?.add(&t.wpe.weight.narrow(0, 0, &time)?)?)?;
        for block in &t.h {
            x = block.forward(&x)?;
        }
        t.ln_f.forward(&x)?.linear(&t.wte.weight, None)
    }
}

impl Published for Gpt2 {
    const BASE: &str = "transformer.";

    fn says_nothing_new(&self, name: &str) -> bool {
        // The tied head, and masks that older files carry.
        name == "lm_head.weight" || name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")
    }
}
