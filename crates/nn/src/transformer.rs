//! Encoders of transformers, with PyTorch's parameter names and defaults.

use crate::activation::Activation;
use crate::attention::{AttentionArgs, MultiheadAttention, MultiheadAttentionOptions};
use crate::container::ModuleList;
use crate::dropout::Dropout;
use crate::init::{Init, check_sizes};
use crate::linear::Linear;
use crate::mode::Training;
use crate::module::{Module, Parameters};
use crate::norm::LayerNorm;
use crate::ragged::RaggedLayout;
use aludel_tensor::{DType, Result, Tensor, Tree, cat, note};

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
    /// With fresh weights, for sequences of width `d_model`.
    ///
    /// # Errors
    ///
    /// When a size is zero, the heads do not divide the width, the dropout is no probability, or the parameters are more than the device
    /// can hold.
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
    ///
    /// # Errors
    ///
    /// As [`MultiheadAttention::forward`].
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
///
/// In evaluation a batch with padding takes a *fast path*: padding is skipped, see [`TransformerEncoder::forward_masked`].
#[derive(Clone, Tree)]
pub struct TransformerEncoder {
    pub layers: ModuleList<TransformerEncoderLayer>,
    pub norm: Option<LayerNorm>,
    enable_nested_tensor: bool,
    training: Training,
}

/// So many buckets of similar lengths when lengths are read from a mask.
const BUCKETS: usize = 4;

impl TransformerEncoder {
    /// `num_layers` layers that start with the values of the given one, as in PyTorch; then `norm`.
    pub fn new(layer: &TransformerEncoderLayer, num_layers: usize, norm: Option<LayerNorm>) -> TransformerEncoder {
        let layers = (0..num_layers).map(|_| layer.duplicate()).collect();
        TransformerEncoder { layers, norm, enable_nested_tensor: true, training: Training::default() }
    }

    /// Whether [`TransformerEncoder::forward_masked`] may skip padding.
    pub fn enable_nested_tensor(mut self, on: bool) -> Self {
        self.enable_nested_tensor = on;
        self
    }

    /// `[length, batch, width]`, or `[batch, length, width]` with `batch_first`, to the same.
    ///
    /// In evaluation, with a `src_key_padding_mask`, rows that are padding are skipped: all sequences' rows are packed into one matrix
    /// that the layers work on (PyTorch's nested tensors). Results at padding are zero then. The mask is read on the host for it, so a
    /// function that is being compiled goes the padded way, and says so in `explain()`: give it a [`RaggedLayout`] and
    /// [`TransformerEncoder::forward_ragged`] instead. [`TransformerEncoder::why_not_fast`] tells what else prevents it.
    ///
    /// # Errors
    ///
    /// As [`MultiheadAttention::forward`].
    #[track_caller]
    pub fn forward_masked(&self, src: &Tensor, masks: &EncoderMasks) -> Result<Tensor> {
        match self.fast(src, masks)? {
            Ok(layout) => {
                let batch_first = self.layers.first().is_some_and(|l| l.self_attn.is_batch_first());
                let turn = |x: &Tensor| if batch_first { Ok(x.clone()) } else { x.transpose(0, 1) };
                let padded = turn(src)?;
                let rows = self.forward_ragged(&layout.pack(&padded)?, &layout)?;
                let y = layout.unpack(&rows)?;
                // The longest sequence may be shorter than the batch was padded to.
                let missing = padded.shape()[1] - y.shape()[1];
                let y = if missing == 0 {
                    y
                } else {
                    let none = Tensor::zeros(y.device(), (&y.size(0)?, missing, &y.size(2)?))?.to(y.dtype())?;
                    cat(&[&y, &none], 1)?
                };
                turn(&y)
            }
            Err(reason) => {
                note(format!("TransformerEncoder: padding is not skipped: {reason}"));
                let mut x = src.clone();
                for layer in &self.layers {
                    x = layer.forward_masked(&x, masks)?;
                }
                self.norm.as_ref().map_or(Ok(x.clone()), |n| n.forward(&x))
            }
        }
    }

    /// The layers on sequences without padding: `rows` are `[rows, width]`, packed as `layout` says; gives the same.
    ///
    /// This is the fast path of compiled functions: the layout is an argument, and batches of other lengths run the same program.
    ///
    /// # Errors
    ///
    /// As [`MultiheadAttention::self_attention_ragged`].
    #[track_caller]
    pub fn forward_ragged(&self, rows: &Tensor, layout: &RaggedLayout) -> Result<Tensor> {
        let mut x = rows.clone();
        for layer in &self.layers {
            x = layer.around(&x, &|x| layer.self_attn.self_attention_ragged(x, layout))?;
        }
        self.norm.as_ref().map_or(Ok(x.clone()), |n| n.forward(&x))
    }

    /// Why [`TransformerEncoder::forward_masked`] would not skip padding; `None` where it would.
    ///
    /// # Errors
    ///
    /// When the mask cannot be read, as its device failed.
    pub fn why_not_fast(&self, src: &Tensor, masks: &EncoderMasks) -> Result<Option<String>> {
        Ok(self.fast(src, masks)?.err())
    }

    // The layout of a batch without padding, or why there is none.
    #[track_caller]
    fn fast(&self, src: &Tensor, masks: &EncoderMasks) -> Result<std::result::Result<RaggedLayout, String>> {
        let no = |reason: &str| Ok(Err(reason.to_string()));
        if self.training.is_on() {
            return no("the module is in training mode");
        }
        if !self.enable_nested_tensor {
            return no("enable_nested_tensor is off");
        }
        let Some(padding) = masks.src_key_padding_mask else { return no("there is no src_key_padding_mask") };
        if masks.mask.is_some() || masks.is_causal {
            return no("a mask or is_causal was given besides src_key_padding_mask");
        }
        if src.rank() != 3 || padding.rank() != 2 || padding.dtype() != DType::Bool {
            return no("it wants a batch of three dimensions and a src_key_padding_mask of bool");
        }
        if !self.layers.iter().all(|l| l.self_attn.takes_ragged()) {
            return no("an attention has keys or values of its own width, or extra ones");
        }
        if padding.is_traced() || src.is_traced() {
            return no("the lengths are not known on the host while a function is compiled: use forward_ragged");
        }
        let shape = padding.shape();
        let hidden = padding.to_vec::<bool>()?;
        let mut lengths = Vec::with_capacity(shape[0]);
        for row in hidden.chunks(shape[1].max(1)) {
            let length = row.iter().position(|h| *h).unwrap_or(row.len());
            if row[length..].iter().any(|h| !h) {
                return no("src_key_padding_mask hides something before the end of a sequence");
            }
            if length == 0 {
                return no("a sequence is all padding");
            }
            lengths.push(length);
        }
        if lengths.iter().all(|l| *l == shape[1]) {
            return no("nothing is padding");
        }
        RaggedLayout::new(src.device(), &lengths, BUCKETS).map(Ok)
    }
}

impl Module for TransformerEncoder {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_masked(x, &EncoderMasks::default())
    }
}
