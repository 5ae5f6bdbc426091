//! A language model of recurrent layers, as the `word_language_model` of PyTorch's examples: its parameter names and initial values.
//! Zaremba et al., "Recurrent Neural Network Regularization", 2014, for the sizes.

use super::{sizes, token_loss};
use aludel_nn::{Dropout, Embedding, Init, Linear, Lstm, Module, RnnOptions};
use aludel_tensor::{Result, Tensor, Tree};

/// Sizes of an [`LstmLm`], by the options of PyTorch's example.
#[derive(Clone, Debug, PartialEq)]
pub struct LstmLmConfig {
    pub vocabulary: usize,
    /// Width of the embeddings.
    pub emsize: usize,
    /// Width of the recurrent layers.
    pub nhid: usize,
    pub nlayers: usize,
    /// Of embeddings, between layers, and before the last one.
    pub dropout: f64,
}

impl LstmLmConfig {
    /// The medium size of Zaremba et al. over their ten thousand words: 19,780,400 parameters.
    pub fn medium() -> Self {
        LstmLmConfig { vocabulary: 10_000, emsize: 650, nhid: 650, nlayers: 2, dropout: 0.5 }
    }
}

/// Parameters are `encoder.weight`, `rnn.weight_ih_l0`, `rnn.weight_hh_l0`, .., `decoder.weight`, `decoder.bias`.
#[derive(Clone, Tree)]
pub struct LstmLm {
    encoder: Embedding,
    rnn: Lstm,
    decoder: Linear,
    #[tree(flatten)]
    dropout: Dropout,
}

/// The states h and c of an [`LstmLm`] between two pieces of a text, `[layers, batch, nhid]` each.
pub type LstmState = (Tensor, Tensor);

impl LstmLm {
    /// With fresh weights, spread evenly over 0.1 to both sides.
    ///
    /// # Errors
    ///
    /// When a size is zero, the dropout is no probability, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &LstmLmConfig) -> Result<LstmLm> {
        let &LstmLmConfig { vocabulary, emsize, nhid, nlayers, dropout } = config;
        let mut encoder = Embedding::new(init, vocabulary, emsize)?;
        encoder.weight = init.uniform([vocabulary, emsize], 0.1)?;
        let mut decoder = Linear::new(init, nhid, vocabulary)?;
        decoder.weight = init.uniform([vocabulary, nhid], 0.1)?;
        decoder.bias = Some(init.zeros([vocabulary])?);
        let options = RnnOptions { num_layers: nlayers, batch_first: true, dropout, ..RnnOptions::default() };
        Ok(LstmLm { encoder, rnn: Lstm::new(init, emsize, nhid, options)?, decoder, dropout: Dropout::new(dropout)? })
    }

    /// `[batch, time]` of i32 to logits `[batch, time, vocabulary]` and the state behind them; from zeros, where no state is given.
    ///
    /// The steps are unrolled: a compiled function is for one number of them.
    ///
    /// # Errors
    ///
    /// When the tokens are not integers `[batch, time]`, the state not that of as many sequences; in training with dropout, outside of a
    /// generator's scope.
    #[track_caller]
    pub fn forward_from(&self, tokens: &Tensor, state: Option<&LstmState>) -> Result<(Tensor, LstmState)> {
        sizes("LstmLm", tokens)?;
        let x = self.dropout.forward(&self.encoder.forward(tokens)?)?;
        let (x, state) = self.rnn.forward(&x, state.map(|(h, c)| (h, c)))?;
        Ok((self.decoder.forward(&self.dropout.forward(&x)?)?, state))
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

impl Module for LstmLm {
    /// As [`LstmLm::forward_from`] zeros, without the state behind.
    #[track_caller]
    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        Ok(self.forward_from(tokens, None)?.0)
    }
}
