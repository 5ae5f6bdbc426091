//! Attention with several heads, with PyTorch's parameter names and defaults.

use crate::call::one;
use crate::dropout::Dropout;
use crate::init::{Init, check_sizes};
use crate::linear::Linear;
use crate::module::Module;
use crate::ragged::RaggedLayout;
use aludel_tensor::{Attrs, DType, Dim, Error, Result, Tensor, Tree, cat};

/// The options of [`MultiheadAttention`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiheadAttentionOptions {
    /// Probability that a weight of the attention is dropped in training.
    pub dropout: f64,
    pub bias: bool,
    /// A learned key and value behind the given ones.
    pub add_bias_kv: bool,
    /// A key and value of zeros behind the given ones.
    pub add_zero_attn: bool,
    /// The width of keys, where it is not the queries'.
    pub kdim: Option<usize>,
    /// The width of values, where it is not the queries'.
    pub vdim: Option<usize>,
    /// Whether tensors are `[batch, length, width]` rather than `[length, batch, width]`.
    pub batch_first: bool,
}

impl Default for MultiheadAttentionOptions {
    fn default() -> Self {
        MultiheadAttentionOptions {
            dropout: 0.0,
            bias: true,
            add_bias_kv: false,
            add_zero_attn: false,
            kdim: None,
            vdim: None,
            batch_first: false,
        }
    }
}

/// The arguments of a call that may be left out, with PyTorch's defaults.
#[derive(Clone, Copy)]
pub struct AttentionArgs<'a> {
    /// `[batch, keys]`: bool, true for keys that are padding; or f32, added to the scores.
    pub key_padding_mask: Option<&'a Tensor>,
    /// `[queries, keys]` or `[batch * heads, queries, keys]`: bool, true for pairs that must not meet; or f32, added to the scores.
    pub attn_mask: Option<&'a Tensor>,
    /// Whether no query sees a later key. PyTorch wants the mask in `attn_mask` as well; here it may be left out.
    pub is_causal: bool,
    /// Whether the weights are given too. Without, attention needs no memory for them.
    pub need_weights: bool,
    /// Whether the weights are the mean over the heads.
    pub average_attn_weights: bool,
}

impl Default for AttentionArgs<'_> {
    fn default() -> Self {
        AttentionArgs { key_padding_mask: None, attn_mask: None, is_causal: false, need_weights: true, average_attn_weights: true }
    }
}

/// Attention with several heads. PyTorch: `torch.nn.MultiheadAttention`.
#[derive(Clone, Tree)]
pub struct MultiheadAttention {
    /// `[width, width]`, only where keys or values have a width of their own; else all three are in `in_proj_weight`.
    pub q_proj_weight: Option<Tensor>,
    /// `[width, kdim]`
    pub k_proj_weight: Option<Tensor>,
    /// `[width, vdim]`
    pub v_proj_weight: Option<Tensor>,
    /// `[3 * width, width]`
    pub in_proj_weight: Option<Tensor>,
    /// `[3 * width]`
    pub in_proj_bias: Option<Tensor>,
    /// `[1, 1, width]`
    pub bias_k: Option<Tensor>,
    /// `[1, 1, width]`
    pub bias_v: Option<Tensor>,
    pub out_proj: Linear,
    embed_dim: usize,
    num_heads: usize,
    add_zero_attn: bool,
    batch_first: bool,
    #[tree(flatten)]
    dropout: Dropout,
}

impl MultiheadAttention {
    /// `embed_dim` is the width of queries and results.
    ///
    /// # Errors
    ///
    /// When a size is zero, the heads do not divide the width, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, embed_dim: usize, num_heads: usize, options: MultiheadAttentionOptions) -> Result<MultiheadAttention> {
        let (kdim, vdim) = (options.kdim.unwrap_or(embed_dim), options.vdim.unwrap_or(embed_dim));
        check_sizes("MultiheadAttention", &[embed_dim, num_heads, kdim, vdim])?;
        if !embed_dim.is_multiple_of(num_heads) {
            return Err(Error::invalid(
                "MultiheadAttention",
                format!("{num_heads} heads do not divide a width of {embed_dim}"),
                "give a divisor of the width",
            ));
        }
        let e = embed_dim;
        let apart = kdim != e || vdim != e;
        let mut weight = |rows: usize, columns: usize, wanted: bool| wanted.then(|| init.xavier_uniform(&[rows, columns], 1.0)).transpose();
        let (q_proj_weight, k_proj_weight) = (weight(e, e, apart)?, weight(e, kdim, apart)?);
        let (v_proj_weight, in_proj_weight) = (weight(e, vdim, apart)?, weight(3 * e, e, !apart)?);
        let in_proj_bias = options.bias.then(|| init.zeros([3 * e])).transpose()?;
        let mut out_proj = Linear::without_bias(init, e, e)?;
        out_proj.bias = options.bias.then(|| init.zeros([e])).transpose()?;
        let mut extra = || options.add_bias_kv.then(|| init.xavier_normal(&[1, 1, e], 1.0)).transpose();
        let (bias_k, bias_v) = (extra()?, extra()?);
        Ok(MultiheadAttention {
            q_proj_weight,
            k_proj_weight,
            v_proj_weight,
            in_proj_weight,
            in_proj_bias,
            bias_k,
            bias_v,
            out_proj,
            embed_dim,
            num_heads,
            add_zero_attn: options.add_zero_attn,
            batch_first: options.batch_first,
            dropout: Dropout::new(options.dropout)?,
        })
    }

    pub fn num_heads(&self) -> usize {
        self.num_heads
    }

    pub fn embed_dim(&self) -> usize {
        self.embed_dim
    }

    /// Attends to `key` and `value`: `[length, batch, width]` (or `[batch, length, width]` with `batch_first`), or without a batch.
    /// Gives the result, and the weights `[batch, queries, keys]` (or `[batch, heads, queries, keys]`) where they are wanted.
    ///
    /// A query that may see no key gives zero weights, where PyTorch gives NaN.
    ///
    /// # Errors
    ///
    /// When query, key and value do not have two or three dimensions, all the same, or not the widths that the layer was made for; when a
    /// mask does not fit; in training with dropout, outside of a generator's scope.
    #[track_caller]
    pub fn forward(&self, query: &Tensor, key: &Tensor, value: &Tensor, args: &AttentionArgs) -> Result<(Tensor, Option<Tensor>)> {
        let rank = query.rank();
        if !(2..=3).contains(&rank) || key.rank() != rank || value.rank() != rank {
            return Err(Error::op(
                "MultiheadAttention",
                format!("{query}, {key}, {value}"),
                "query, key and value have two or three dimensions, all the same",
                "give [length, batch, width], [batch, length, width] with batch_first, or [length, width]",
            ));
        }
        // From here on [batch, length, width].
        let arrange = |x: &Tensor| match (rank, self.batch_first) {
            (2, _) => x.unsqueeze(0),
            (_, true) => Ok(x.clone()),
            (_, false) => x.transpose(0, 1),
        };
        let (q, k, v) = self.project(query, key, value, &arrange)?;
        let (batch, queries) = (q.size(0)?, q.size(1)?);
        let mut masks = Masks::new(args, rank)?;
        let (mut k, mut v) = (k, v);
        if let (Some(bias_k), Some(bias_v)) = (&self.bias_k, &self.bias_v) {
            let width = self.embed_dim;
            let row = |bias: &Tensor| bias.expand((&batch, 1, width));
            (k, v) = (cat(&[&k, &row(bias_k)?], 1)?, cat(&[&v, &row(bias_v)?], 1)?);
            masks.add_key()?;
        }
        if self.add_zero_attn {
            let zero = |t: &Tensor| t.narrow(1, 0, 1)?.zeros_like();
            (k, v) = (cat(&[&k, &zero(&k)?], 1)?, cat(&[&v, &zero(&v)?], 1)?);
            masks.add_key()?;
        }
        let head = self.embed_dim / self.num_heads;
        let heads = |x: &Tensor| x.reshape((&batch, &x.size(1)?, self.num_heads, head))?.transpose(1, 2);
        let (q, k, v) = (heads(&q)?, heads(&k)?, heads(&v)?);
        let (y, weights) = if args.need_weights {
            let weights = self.weights(&q, &k, &masks, args.is_causal)?;
            (weights.matmul(&v)?, args.need_weights.then_some(weights))
        } else {
            let mask = masks.combined(&batch, self.num_heads)?;
            (self.dropout.attention(&q, &k, &v, mask.as_ref(), args.is_causal)?, None)
        };
        let y = y.transpose(1, 2)?.reshape((&batch, &queries, self.embed_dim))?;
        let y = self.out_proj.forward(&y)?;
        let y = match (rank, self.batch_first) {
            (2, _) => y.squeeze(0)?,
            (_, true) => y,
            (_, false) => y.transpose(0, 1)?,
        };
        let weights = weights.map(|w| {
            let w = if args.average_attn_weights { w.mean(1)? } else { w };
            if rank == 2 { w.squeeze(0) } else { Ok(w) }
        });
        Ok((y, weights.transpose()?))
    }

    /// Attention of a sequence to itself: what encoders use; weights are not given.
    ///
    /// # Errors
    ///
    /// As [`MultiheadAttention::forward`].
    #[track_caller]
    pub fn self_attention(&self, x: &Tensor, args: &AttentionArgs) -> Result<Tensor> {
        Ok(self.forward(x, x, x, &AttentionArgs { need_weights: false, ..*args })?.0)
    }

    /// Attention of sequences to themselves whose rows lie one after the other, `[rows, width]`: the projections work on rows only, the
    /// attention itself on buckets of similar lengths.
    ///
    /// # Errors
    ///
    /// When the layer has kdim, vdim, add_bias_kv or add_zero_attn, or the rows are not those of the layout.
    #[track_caller]
    pub fn self_attention_ragged(&self, x: &Tensor, layout: &RaggedLayout) -> Result<Tensor> {
        let (Some(weight), None, false) = (&self.in_proj_weight, &self.bias_k, self.add_zero_attn) else {
            return Err(Error::unsupported(
                "ragged attention with kdim, vdim, add_bias_kv or add_zero_attn",
                "give a padded batch with a key_padding_mask",
            ));
        };
        let (e, head) = (self.embed_dim, self.embed_dim / self.num_heads);
        let qkv = x.linear(weight, self.in_proj_bias.as_ref())?;
        let y = layout.by_bucket(&qkv, &|qkv, keep| {
            let (sequences, longest) = (qkv.size(0)?, qkv.size(1)?);
            let heads = |i: usize| qkv.narrow(-1, i * e, e)?.reshape((&sequences, &longest, self.num_heads, head))?.transpose(1, 2);
            let mask = keep.unsqueeze(1)?.unsqueeze(1)?;
            let y = heads(0)?.scaled_dot_product_attention(&heads(1)?, &heads(2)?, Some(&mask), false)?;
            y.transpose(1, 2)?.reshape((&sequences, &longest, e))
        })?;
        self.out_proj.forward(&y)
    }

    /// Whether [`MultiheadAttention::self_attention_ragged`] can.
    pub(crate) fn takes_ragged(&self) -> bool {
        self.in_proj_weight.is_some() && self.bias_k.is_none() && !self.add_zero_attn
    }

    pub(crate) fn is_batch_first(&self) -> bool {
        self.batch_first
    }

    // Query, key and value, projected; one product where they are the same tensor.
    #[track_caller]
    fn project(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        arrange: &dyn Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let e = self.embed_dim;
        let bias = |i: usize| self.in_proj_bias.as_ref().map(|b| b.narrow(0, i * e, e)).transpose();
        let apart = [&self.q_proj_weight, &self.k_proj_weight, &self.v_proj_weight];
        if let [Some(wq), Some(wk), Some(wv)] = apart {
            let one = |x: &Tensor, w: &Tensor, i| arrange(x)?.linear(w, bias(i)?.as_ref());
            return Ok((one(query, wq, 0)?, one(key, wk, 1)?, one(value, wv, 2)?));
        }
        let Some(weight) = &self.in_proj_weight else {
            return Err(Error::invalid("MultiheadAttention", "it has no weights for its inputs", "make it with MultiheadAttention::new"));
        };
        let same = |a: &Tensor, b: &Tensor| std::ptr::eq(a, b);
        if same(query, key) && same(key, value) {
            let all = arrange(query)?.linear(weight, self.in_proj_bias.as_ref())?;
            return Ok((all.narrow(-1, 0, e)?, all.narrow(-1, e, e)?, all.narrow(-1, 2 * e, e)?));
        }
        let one = |x: &Tensor, i: usize| arrange(x)?.linear(&weight.narrow(0, i * e, e)?, bias(i)?.as_ref());
        Ok((one(query, 0)?, one(key, 1)?, one(value, 2)?))
    }

    // softmax of the masked scores [batch, heads, queries, keys], with dropout.
    #[track_caller]
    fn weights(&self, q: &Tensor, k: &Tensor, masks: &Masks, is_causal: bool) -> Result<Tensor> {
        let scale = 1.0 / ((self.embed_dim / self.num_heads) as f64).sqrt();
        let mut scores = q.mul(scale)?.matmul(&k.transpose(-2, -1)?)?;
        // Large enough to vanish in any softmax; targets may assume that infinities are absent.
        let low = if scores.dtype() == DType::F16 { -65504.0 } else { -1e30 };
        let mut hidden: Vec<Tensor> = Vec::new();
        if is_causal {
            let (l, s) = (scores.size(2)?, scores.size(3)?);
            let (row, column) = (Tensor::arange(q.device(), &l)?.unsqueeze(1)?, Tensor::arange(q.device(), &s)?.unsqueeze(0)?);
            hidden.push(column.gt(&row)?);
        }
        for mask in masks.parts(&q.size(0)?, self.num_heads)? {
            if mask.dtype() == DType::Bool {
                hidden.push(mask);
            } else {
                scores = scores.add(&one("to", &[(&mask).into()], Attrs::new().with("dtype", scores.dtype()))?)?;
            }
        }
        for mask in &hidden {
            scores = scores.masked_fill(mask, low)?;
        }
        let mut weights = scores.softmax(-1)?;
        for mask in &hidden {
            weights = weights.masked_fill(mask, 0.0)?;
        }
        self.dropout.forward(&weights)
    }
}

/// The two masks of a call, before they are shaped for the heads.
struct Masks {
    /// `[batch, keys]`
    padding: Option<Tensor>,
    /// `[queries, keys]` or `[batch * heads, queries, keys]`
    attn: Option<Tensor>,
}

impl Masks {
    #[track_caller]
    fn new(args: &AttentionArgs, rank: usize) -> Result<Masks> {
        let check = |mask: Option<&Tensor>, what: &str, ranks: &[usize]| match mask {
            Some(m) if !ranks.contains(&m.rank()) || m.dtype().is_int() => Err(Error::op(
                "MultiheadAttention",
                m.to_string(),
                format!("the {what} has other dimensions or elements"),
                "give bool (true hides) or float (added) of [batch, keys] for padding, [queries, keys] or [batch * heads, queries, keys] else",
            )),
            m => Ok(m.cloned()),
        };
        let padding = check(args.key_padding_mask, "key_padding_mask", if rank == 2 { &[1] } else { &[2] })?;
        let padding = padding.map(|p| if rank == 2 { p.unsqueeze(0) } else { Ok(p) }).transpose()?;
        Ok(Masks { padding, attn: check(args.attn_mask, "attn_mask", &[2, 3])? })
    }

    // One key more that nothing hides.
    fn add_key(&mut self) -> Result<()> {
        for mask in [&mut self.padding, &mut self.attn].into_iter().flatten() {
            let shown = mask.narrow(-1, 0, 1)?.zeros_like()?;
            *mask = cat(&[mask, &shown], -1)?;
        }
        Ok(())
    }

    /// Both, to be broadcast to `[batch, heads, queries, keys]`; bool hides where true.
    fn parts(&self, batch: &Dim, heads: usize) -> Result<Vec<Tensor>> {
        let mut parts = Vec::new();
        if let Some(p) = &self.padding {
            parts.push(p.unsqueeze(1)?.unsqueeze(1)?);
        }
        if let Some(m) = &self.attn {
            parts.push(if m.rank() == 3 { m.reshape((batch, heads, &m.size(1)?, &m.size(2)?))? } else { m.clone() });
        }
        Ok(parts)
    }

    /// One mask as the operator takes it: bool that keeps where true, or float that is added.
    fn combined(&self, batch: &Dim, heads: usize) -> Result<Option<Tensor>> {
        let parts = self.parts(batch, heads)?;
        if parts.iter().all(|m| m.dtype() == DType::Bool) {
            let keep = parts.iter().map(Tensor::logical_not).collect::<Result<Vec<_>>>()?;
            return keep.into_iter().map(Ok).reduce(|a, b: Result<Tensor>| a?.logical_and(&b?)).transpose();
        }
        let float = |m: Tensor| if m.dtype() == DType::Bool { m.to(DType::F32)?.mul(-1e30) } else { Ok(m) };
        parts.into_iter().map(float).reduce(|a, b| a?.add(&b?)).transpose()
    }
}
