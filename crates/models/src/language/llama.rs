//! Llama as Hugging Face's `LlamaForCausalLM`: its parameter names and initial values; root-mean-square normalization, rotary positions,
//! SwiGLU, and key heads that several query heads share. Touvron et al., "Llama 2: Open Foundation and Fine-Tuned Chat Models", 2023.

use super::heads::{join_heads, split_heads};
use super::{head_width, sizes, token_loss};
use crate::published::Published;
use aludel_nn::{Embedding, Init, Linear, Module, RmsNorm, RotaryEmbedding};
use aludel_tensor::{AttentionOptions, Error, Result, Tensor, Tree};

/// Sizes of a [`Llama`], by the names of Hugging Face's `LlamaConfig`.
#[derive(Clone, Debug, PartialEq)]
pub struct LlamaConfig {
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub intermediate_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    /// Heads of keys and values; a divisor of the query's.
    pub num_key_value_heads: usize,
    pub rope_theta: f64,
    pub rms_norm_eps: f64,
    /// Whether the head is the table of token embeddings.
    pub tie_word_embeddings: bool,
}

impl LlamaConfig {
    /// `HuggingFaceTB/SmolLM-135M`, a small one that was published: 134,515,008 parameters.
    pub fn smol() -> Self {
        LlamaConfig {
            vocab_size: 49152,
            hidden_size: 576,
            intermediate_size: 1536,
            num_hidden_layers: 30,
            num_attention_heads: 9,
            num_key_value_heads: 3,
            rope_theta: 10_000.0,
            rms_norm_eps: 1e-5,
            tie_word_embeddings: true,
        }
    }
}

/// The standard deviation that weights start with.
const STD: f64 = 0.02;

fn linear(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
    let mut layer = Linear::without_bias(init, inputs, outputs)?;
    layer.weight = init.normal_std([outputs, inputs], STD)?;
    Ok(layer)
}

#[derive(Clone, Tree)]
struct SelfAttention {
    q_proj: Linear,
    k_proj: Linear,
    v_proj: Linear,
    o_proj: Linear,
    heads: usize,
    key_heads: usize,
    width: usize,
    rotary: RotaryEmbedding,
}

impl SelfAttention {
    fn new(init: &mut Init, config: &LlamaConfig) -> Result<SelfAttention> {
        let &LlamaConfig { hidden_size: hidden, num_attention_heads: heads, num_key_value_heads: key_heads, .. } = config;
        let width = head_width("Llama", hidden, heads)?;
        if key_heads == 0 || !heads.is_multiple_of(key_heads) {
            let problem = format!("{heads} query heads cannot share {key_heads} key heads");
            return Err(Error::invalid("Llama", problem, "give a number of key heads that divides the query heads"));
        }
        Ok(SelfAttention {
            q_proj: linear(init, hidden, hidden)?,
            k_proj: linear(init, hidden, key_heads * width)?,
            v_proj: linear(init, hidden, key_heads * width)?,
            o_proj: linear(init, hidden, hidden)?,
            heads,
            key_heads,
            width,
            rotary: RotaryEmbedding::new(width)?.base(config.rope_theta),
        })
    }
}

impl Module for SelfAttention {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, time) = (x.size(0)?, x.size(1)?);
        let part = |layer: &Linear, heads| split_heads(&layer.forward(x)?, &batch, &time, heads, self.width);
        let q = self.rotary.forward(&part(&self.q_proj, self.heads)?, 0)?;
        let k = self.rotary.forward(&part(&self.k_proj, self.key_heads)?, 0)?;
        let v = part(&self.v_proj, self.key_heads)?;
        let options = AttentionOptions { is_causal: true, enable_gqa: self.key_heads < self.heads, ..AttentionOptions::default() };
        let y = q.scaled_dot_product_attention_with(&k, &v, None, None, options)?;
        self.o_proj.forward(&join_heads(&y, &batch, &time, self.heads, self.width)?)
    }
}

#[derive(Clone, Tree)]
struct FeedForward {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
}

impl Module for FeedForward {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.down_proj.forward(&self.gate_proj.forward(x)?.silu()?.mul(&self.up_proj.forward(x)?)?)
    }
}

#[derive(Clone, Tree)]
struct LlamaLayer {
    self_attn: SelfAttention,
    mlp: FeedForward,
    input_layernorm: RmsNorm,
    post_attention_layernorm: RmsNorm,
}

impl LlamaLayer {
    fn new(init: &mut Init, config: &LlamaConfig) -> Result<LlamaLayer> {
        let &LlamaConfig { hidden_size: hidden, intermediate_size: wide, rms_norm_eps: eps, .. } = config;
        Ok(LlamaLayer {
            self_attn: SelfAttention::new(init, config)?,
            mlp: FeedForward {
                gate_proj: linear(init, hidden, wide)?,
                up_proj: linear(init, hidden, wide)?,
                down_proj: linear(init, wide, hidden)?,
            },
            input_layernorm: RmsNorm::new(init, hidden)?.eps(eps),
            post_attention_layernorm: RmsNorm::new(init, hidden)?.eps(eps),
        })
    }
}

impl Module for LlamaLayer {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = x.add(&self.self_attn.forward(&self.input_layernorm.forward(x)?)?)?;
        x.add(&self.mlp.forward(&self.post_attention_layernorm.forward(&x)?)?)
    }
}

#[derive(Clone, Tree)]
struct Body {
    embed_tokens: Embedding,
    layers: Vec<LlamaLayer>,
    norm: RmsNorm,
}

/// A decoder of tokens; parameters are `model.embed_tokens.weight`, `model.layers.0.self_attn.q_proj.weight`, .., `model.norm.weight`, and
/// `lm_head.weight` where it is not tied.
#[derive(Clone, Tree)]
pub struct Llama {
    model: Body,
    lm_head: Option<Linear>,
}

impl Llama {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width or keys' heads the heads, a head's width is odd, or the parameters are more than
    /// the device can hold.
    pub fn new(init: &mut Init, config: &LlamaConfig) -> Result<Llama> {
        let &LlamaConfig { vocab_size, hidden_size: hidden, num_hidden_layers, rms_norm_eps, tie_word_embeddings, .. } = config;
        let mut embed_tokens = Embedding::new(init, vocab_size, hidden)?;
        embed_tokens.weight = init.normal_std([vocab_size, hidden], STD)?;
        let layers = (0..num_hidden_layers).map(|_| LlamaLayer::new(init, config)).collect::<Result<_>>()?;
        let norm = RmsNorm::new(init, hidden)?.eps(rms_norm_eps);
        let lm_head = if tie_word_embeddings { None } else { Some(linear(init, hidden, vocab_size)?) };
        Ok(Llama { model: Body { embed_tokens, layers, norm }, lm_head })
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

impl Module for Llama {
    /// `[batch, time]` of i32 to logits `[batch, time, vocabulary]`.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        sizes("Llama", tokens)?;
        let mut x = self.model.embed_tokens.forward(tokens)?;
        for layer in &self.model.layers {
            x = layer.forward(&x)?;
        }
        let head = self.lm_head.as_ref().map_or(&self.model.embed_tokens.weight, |head| &head.weight);
        self.model.norm.forward(&x)?.linear(head, None)
    }
}

impl Published for Llama {
    const BASE: &str = "model.";

    fn says_nothing_new(&self, name: &str) -> bool {
        // Constants that older files carry, and a tied head.
        name.ends_with(".rotary_emb.inv_freq") || self.lm_head.is_none() && name == "lm_head.weight"
    }
}
