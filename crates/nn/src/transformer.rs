//! Encoders of transformers, with PyTorch's parameter names and defaults.

use crate::activation::Activation;
use crate::attention::{AttentionArgs, MultiheadAttention, MultiheadAttentionOptions};
use crate::container::ModuleList;
use crate::dropout::Dropout;
use crate::init::{Init, check_sizes};
use crate::linear::Linear;
use crate::module::{Module, Parameters};
use crate::norm::LayerNorm;
use aludel_tensor::{Result, Tensor, Tree};

/// The options of [`TransformerEncoderLayer`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransformerEncoderLayerOptions {
    pub dim_feedforward: usize,
    pub dropout: f64,
    pub activation: Activation,
    pub layer_norm_eps: f64,
    /// Whether tensors are `[batch, length, width]` rather than `[length, batch, width]`.
    pub batch_first: bool,
    /// Whether normalization comes before attention and feed-forward, not after.
    pub norm_first: bool,
    pub bias: bool,
}

impl Default for TransformerEncoderLayerOptions {
    fn default() -> Self {
        TransformerEncoderLayerOptions {
            dim_feedforward: 2048,
            dropout: 0.1,
            activation: Activation::Relu,
            layer_norm_eps: 1e-5,
            batch_first: false,
            norm_first: false,
            bias: true,
        }
    }
}

/// The masks of a call of an encoder.
#[derive(Clone, Copy, Default)]
pub struct EncoderMasks<'a> {
    /// As [`AttentionArgs::attn_mask`].
    pub mask: Option<&'a Tensor>,
    /// As [`AttentionArgs::key_padding_mask`].
    pub src_key_padding_mask: Option<&'a Tensor>,
    pub is_causal: bool,
}

/// Attention of a sequence to itself, then two linear layers, each with normalization and a residual connection.
/// PyTorch: `torch.nn.TransformerEncoderLayer`.
#[derive(Clone, Tree)]
pub struct TransformerEncoderLayer {
    pub self_attn: MultiheadAttention,
    pub linear1: Linear,
    pub linear2: Linear,
    pub norm1: LayerNorm,
    pub norm2: LayerNorm,
    dropout: Dropout,
    activation: Activation,
    norm_first: bool,
}

impl TransformerEncoderLayer {
    /// Errors: heads that do not divide the width.
    pub fn new(init: &mut Init, d_model: usize, nhead: usize, options: TransformerEncoderLayerOptions) -> Result<TransformerEncoderLayer> {
        let TransformerEncoderLayerOptions { dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias } =
            options;
        check_sizes("TransformerEncoderLayer", &[d_model, nhead, dim_feedforward])?;
        let attention = MultiheadAttentionOptions { dropout, bias, batch_first, ..Default::default() };
        let linear = |init: &mut Init, i, o| if bias { Linear::new(init, i, o) } else { Linear::without_bias(init, i, o) };
        let norm = |init: &mut Init| {
            let n = LayerNorm::new(init, d_model)?.eps(layer_norm_eps);
            Ok(if bias { n } else { n.without_bias() })
        };
        Ok(TransformerEncoderLayer {
            self_attn: MultiheadAttention::new(init, d_model, nhead, attention)?,
            linear1: linear(init, d_model, dim_feedforward)?,
            linear2: linear(init, dim_feedforward, d_model)?,
            norm1: norm(init)?,
            norm2: norm(init)?,
            dropout: Dropout::new(dropout)?,
            activation,
            norm_first,
        })
    }

    /// `[length, batch, width]`, or `[batch, length, width]` with `batch_first`, to the same.
    #[track_caller]
    pub fn forward_masked(&self, src: &Tensor, masks: &EncoderMasks) -> Result<Tensor> {
        let args = AttentionArgs {
            key_padding_mask: masks.src_key_padding_mask,
            attn_mask: masks.mask,
            is_causal: masks.is_causal,
            need_weights: false,
            ..Default::default()
        };
        self.around(src, &|x| self.self_attn.self_attention(x, &args))
    }

    /// The layer around its attention.
    #[track_caller]
    pub(crate) fn around(&self, x: &Tensor, attention: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let attend = |x: &Tensor| self.dropout.forward(&attention(x)?);
        let feed = |x: &Tensor| {
            let up = self.dropout.forward(&self.activation.forward(&self.linear1.forward(x)?)?)?;
            self.dropout.forward(&self.linear2.forward(&up)?)
        };
        if self.norm_first {
            let x = x.add(&attend(&self.norm1.forward(x)?)?)?;
            x.add(&feed(&self.norm2.forward(&x)?)?)
        } else {
            let x = self.norm1.forward(&x.add(&attend(x)?)?)?;
            self.norm2.forward(&x.add(&feed(&x)?)?)
        }
    }
}

impl Module for TransformerEncoderLayer {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_masked(x, &EncoderMasks::default())
    }
}

/// Several layers. PyTorch: `torch.nn.TransformerEncoder`.
#[derive(Clone, Tree)]
pub struct TransformerEncoder {
    pub layers: ModuleList<TransformerEncoderLayer>,
    pub norm: Option<LayerNorm>,
}

impl TransformerEncoder {
    /// `num_layers` layers that start with the values of the given one, as in PyTorch; then `norm`.
    pub fn new(layer: &TransformerEncoderLayer, num_layers: usize, norm: Option<LayerNorm>) -> TransformerEncoder {
        TransformerEncoder { layers: (0..num_layers).map(|_| layer.duplicate()).collect(), norm }
    }

    /// `[length, batch, width]`, or `[batch, length, width]` with `batch_first`, to the same.
    #[track_caller]
    pub fn forward_masked(&self, src: &Tensor, masks: &EncoderMasks) -> Result<Tensor> {
        let mut x = src.clone();
        for layer in &self.layers {
            x = layer.forward_masked(&x, masks)?;
        }
        self.norm.as_ref().map_or(Ok(x.clone()), |n| n.forward(&x))
    }
}

impl Module for TransformerEncoder {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_masked(x, &EncoderMasks::default())
    }
}
