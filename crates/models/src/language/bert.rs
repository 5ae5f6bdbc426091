//! BERT as Hugging Face's `BertModel` and its heads: its parameter names and initial values. Devlin et al., "BERT: Pre-training of Deep
//! Bidirectional Transformers for Language Understanding", NAACL 2019.

use super::heads::{join_heads, split_heads};
use super::{head_width, normal_linear, sizes};
use crate::published::Published;
use aludel_nn::{Dropout, Embedding, Init, LayerNorm, Linear, Module};
use aludel_tensor::{DType, Dim, Result, Tensor, Tree};

/// Sizes of a BERT, by the names of Hugging Face's `BertConfig`.
#[derive(Clone, Debug, PartialEq)]
pub struct BertConfig {
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub max_position_embeddings: usize,
    pub type_vocab_size: usize,
    pub hidden_dropout_prob: f64,
    pub attention_probs_dropout_prob: f64,
    pub layer_norm_eps: f64,
}

impl BertConfig {
    /// `bert-base-uncased`: 109,482,240 parameters without a head.
    pub fn bert_base() -> Self {
        BertConfig {
            vocab_size: 30522,
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            hidden_dropout_prob: 0.1,
            attention_probs_dropout_prob: 0.1,
            layer_norm_eps: 1e-12,
        }
    }
}

/// The standard deviation that weights start with.
const STD: f64 = 0.02;

#[derive(Clone, Tree)]
struct Dense {
    dense: Linear,
}

impl Dense {
    fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<Dense> {
        Ok(Dense { dense: normal_linear(init, inputs, outputs, STD)? })
    }
}

/// The end of a branch: a linear layer, dropout, the residual connection, normalization.
#[derive(Clone, Tree)]
struct Output {
    dense: Linear,
    #[tree(name = "LayerNorm")]
    norm: LayerNorm,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Output {
    fn new(init: &mut Init, inputs: usize, config: &BertConfig) -> Result<Output> {
        Ok(Output {
            dense: normal_linear(init, inputs, config.hidden_size, STD)?,
            norm: LayerNorm::new(init, config.hidden_size)?.eps(config.layer_norm_eps),
            dropout: Dropout::new(config.hidden_dropout_prob)?,
        })
    }

    #[track_caller]
    fn forward(&self, x: &Tensor, residual: &Tensor) -> Result<Tensor> {
        self.norm.forward(&self.dropout.forward(&self.dense.forward(x)?)?.add(residual)?)
    }
}

#[derive(Clone, Tree)]
struct SelfAttention {
    query: Linear,
    key: Linear,
    value: Linear,
    heads: usize,
    width: usize,
    #[tree(flatten)]
    dropout: Dropout,
}

impl SelfAttention {
    #[track_caller]
    fn forward(&self, x: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let (batch, time) = (x.size(0)?, x.size(1)?);
        let part = |layer: &Linear| split_heads(&layer.forward(x)?, &batch, &time, self.heads, self.width);
        let y = self.dropout.attention(&part(&self.query)?, &part(&self.key)?, &part(&self.value)?, mask, false)?;
        join_heads(&y, &batch, &time, self.heads, self.width)
    }
}

#[derive(Clone, Tree)]
struct Attention {
    #[tree(name = "self")]
    inner: SelfAttention,
    output: Output,
}

#[derive(Clone, Tree)]
struct BertLayer {
    attention: Attention,
    intermediate: Dense,
    output: Output,
}

impl BertLayer {
    fn new(init: &mut Init, config: &BertConfig) -> Result<BertLayer> {
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        let mut square = || normal_linear(init, hidden, hidden, STD);
        let inner = SelfAttention {
            query: square()?,
            key: square()?,
            value: square()?,
            heads,
            width: head_width("Bert", hidden, heads)?,
            dropout: Dropout::new(config.attention_probs_dropout_prob)?,
        };
        Ok(BertLayer {
            attention: Attention { inner, output: Output::new(init, hidden, config)? },
            intermediate: Dense::new(init, hidden, config.intermediate_size)?,
            output: Output::new(init, config.intermediate_size, config)?,
        })
    }

    #[track_caller]
    fn forward(&self, x: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let x = self.attention.output.forward(&self.attention.inner.forward(x, mask)?, x)?;
        self.output.forward(&self.intermediate.dense.forward(&x)?.gelu("none")?, &x)
    }
}

#[derive(Clone, Tree)]
struct Embeddings {
    word_embeddings: Embedding,
    position_embeddings: Embedding,
    token_type_embeddings: Embedding,
    #[tree(name = "LayerNorm")]
    norm: LayerNorm,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Embeddings {
    fn new(init: &mut Init, config: &BertConfig) -> Result<Embeddings> {
        let hidden = config.hidden_size;
        let mut table = |count| -> Result<Embedding> {
            let mut table = Embedding::new(init, count, hidden)?;
            table.weight = init.normal_std([count, hidden], STD)?;
            Ok(table)
        };
        Ok(Embeddings {
            // The token of number 0 is padding.
            word_embeddings: table(config.vocab_size)?.padding_idx(0)?,
            position_embeddings: table(config.max_position_embeddings)?,
            token_type_embeddings: table(config.type_vocab_size)?,
            norm: LayerNorm::new(init, hidden)?.eps(config.layer_norm_eps),
            dropout: Dropout::new(config.hidden_dropout_prob)?,
        })
    }

    #[track_caller]
    fn forward(&self, tokens: &Tensor, kinds: Option<&Tensor>, time: &Dim) -> Result<Tensor> {
        let kinds = match kinds {
            Some(kinds) => self.token_type_embeddings.forward(kinds)?,
            None => self.token_type_embeddings.weight.narrow(0, 0, 1)?,
        };
        let positions = self.position_embeddings.weight.narrow(0, 0, time)?;
        let x = self.word_embeddings.forward(tokens)?.add(&kinds)?.add(&positions)?;
        self.dropout.forward(&self.norm.forward(&x)?)
    }
}

#[derive(Clone, Tree)]
struct Encoder {
    layer: Vec<BertLayer>,
}

/// What a BERT may be told beside its tokens.
#[derive(Clone, Copy, Default)]
pub struct BertInputs<'a> {
    /// `[batch, time]`, of integers or bool: zero where a token is padding that nobody sees.
    pub attention_mask: Option<&'a Tensor>,
    /// `[batch, time]` of i32: which sentence a token is of; the first, where it is left out.
    pub token_type_ids: Option<&'a Tensor>,
}

/// The body; parameters are `embeddings.word_embeddings.weight`, .., `encoder.layer.0.attention.self.query.weight`, ..,
/// `pooler.dense.weight`.
#[derive(Clone, Tree)]
pub struct BertModel {
    embeddings: Embeddings,
    encoder: Encoder,
    pooler: Option<Dense>,
}

impl BertModel {
    /// With fresh weights, with the pooler.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &BertConfig) -> Result<BertModel> {
        let mut body = Self::without_pooler(init, config)?;
        body.pooler = Some(Dense::new(init, config.hidden_size, config.hidden_size)?);
        Ok(body)
    }

    /// Without the layer that [`BertModel::pooled`] needs.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn without_pooler(init: &mut Init, config: &BertConfig) -> Result<BertModel> {
        Ok(BertModel {
            embeddings: Embeddings::new(init, config)?,
            encoder: Encoder { layer: (0..config.num_hidden_layers).map(|_| BertLayer::new(init, config)).collect::<Result<_>>()? },
            pooler: None,
        })
    }

    /// Tokens `[batch, time]` of i32 to the last hidden states `[batch, time, hidden]`.
    ///
    /// # Errors
    ///
    /// When the tokens are not integers `[batch, time]`, there are more of them than positions, or mask or kinds have another shape.
    #[track_caller]
    pub fn hidden(&self, tokens: &Tensor, inputs: BertInputs) -> Result<Tensor> {
        let (batch, time) = sizes("Bert", tokens)?;
        let mask = match inputs.attention_mask {
            Some(mask) => Some(mask.to(DType::Bool)?.reshape((&batch, 1, 1, &time))?),
            None => None,
        };
        let mut x = self.embeddings.forward(tokens, inputs.token_type_ids, &time)?;
        for layer in &self.encoder.layer {
            x = layer.forward(&x, mask.as_ref())?;
        }
        Ok(x)
    }

    /// Hidden states to what stands for the whole sequence, `[batch, hidden]`: tanh of a linear layer of the first position.
    ///
    /// # Errors
    ///
    /// When the hidden states are not `[batch, time, hidden]` with at least one position.
    #[track_caller]
    pub fn pooled(&self, hidden: &Tensor) -> Result<Tensor> {
        let first = hidden.narrow(1, 0, 1)?.squeeze(1)?;
        match &self.pooler {
            Some(pooler) => pooler.dense.forward(&first)?.tanh(),
            None => Ok(first),
        }
    }
}

/// Classes of sequences; parameters are those of `bert.` and `classifier.weight`, `classifier.bias`.
#[derive(Clone, Tree)]
pub struct BertForSequenceClassification {
    bert: BertModel,
    classifier: Linear,
    #[tree(flatten)]
    dropout: Dropout,
}

impl BertForSequenceClassification {
    /// With fresh weights and a classifier of `classes` logits.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &BertConfig, classes: usize) -> Result<BertForSequenceClassification> {
        Ok(BertForSequenceClassification {
            bert: BertModel::new(init, config)?,
            classifier: normal_linear(init, config.hidden_size, classes, STD)?,
            dropout: Dropout::new(config.hidden_dropout_prob)?,
        })
    }

    /// Tokens `[batch, time]` of i32 to logits `[batch, classes]`.
    ///
    /// # Errors
    ///
    /// As [`BertModel::hidden`]; in training with dropout, outside of a generator's scope.
    #[track_caller]
    pub fn logits(&self, tokens: &Tensor, inputs: BertInputs) -> Result<Tensor> {
        let pooled = self.bert.pooled(&self.bert.hidden(tokens, inputs)?)?;
        self.classifier.forward(&self.dropout.forward(&pooled)?)
    }
}

impl Module for BertForSequenceClassification {
    /// As [`BertForSequenceClassification::logits`] of whole sequences of one sentence.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        self.logits(tokens, BertInputs::default())
    }
}

#[derive(Clone, Tree)]
struct Transform {
    dense: Linear,
    #[tree(name = "LayerNorm")]
    norm: LayerNorm,
}

#[derive(Clone, Tree)]
struct Predictions {
    bias: Tensor,
    transform: Transform,
}

#[derive(Clone, Tree)]
struct Heads {
    predictions: Predictions,
}

/// Tokens behind masks; parameters are those of `bert.`, without the pooler, and `cls.predictions.bias`,
/// `cls.predictions.transform.dense.weight`, ..; the last layer's weight is the table of word embeddings.
#[derive(Clone, Tree)]
pub struct BertForMaskedLm {
    bert: BertModel,
    cls: Heads,
}

impl BertForMaskedLm {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero, heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &BertConfig) -> Result<BertForMaskedLm> {
        let hidden = config.hidden_size;
        Ok(BertForMaskedLm {
            bert: BertModel::without_pooler(init, config)?,
            cls: Heads {
                predictions: Predictions {
                    bias: init.zeros([config.vocab_size])?,
                    transform: Transform {
                        dense: normal_linear(init, hidden, hidden, STD)?,
                        norm: LayerNorm::new(init, hidden)?.eps(config.layer_norm_eps),
                    },
                },
            },
        })
    }

    /// Tokens `[batch, time]` of i32 to logits `[batch, time, vocabulary]`.
    ///
    /// # Errors
    ///
    /// As [`BertModel::hidden`].
    #[track_caller]
    pub fn logits(&self, tokens: &Tensor, inputs: BertInputs) -> Result<Tensor> {
        let Predictions { bias, transform } = &self.cls.predictions;
        let x = self.bert.hidden(tokens, inputs)?;
        let x = transform.norm.forward(&transform.dense.forward(&x)?.gelu("none")?)?;
        x.linear(&self.bert.embeddings.word_embeddings.weight, Some(bias))
    }

    /// Mean cross-entropy of the logits against tokens `[batch, time]`; positions of -100 count for nothing.
    ///
    /// # Errors
    ///
    /// As [`BertModel::hidden`], and when `wanted` is not integers of the tokens' shape.
    #[track_caller]
    pub fn loss(&self, tokens: &Tensor, wanted: &Tensor, inputs: BertInputs) -> Result<Tensor> {
        super::token_loss(&self.logits(tokens, inputs)?, wanted)
    }
}

impl Module for BertForMaskedLm {
    /// As [`BertForMaskedLm::logits`] of whole sequences of one sentence.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        self.logits(tokens, BertInputs::default())
    }
}

impl Published for BertForSequenceClassification {
    const BASE: &str = "bert.";

    fn says_nothing_new(&self, name: &str) -> bool {
        name.ends_with("embeddings.position_ids")
    }
}

impl Published for BertForMaskedLm {
    const BASE: &str = "bert.";

    fn says_nothing_new(&self, name: &str) -> bool {
        // The tied layer, and what the other task of pre-training left behind.
        name.starts_with("cls.predictions.decoder.")
            || name.starts_with("cls.seq_relationship.")
            || name.starts_with("bert.pooler.")
            || name.ends_with("embeddings.position_ids")
    }
}
