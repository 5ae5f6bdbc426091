//! A decoder as Llama's that learns to add.

use super::addition::{FIELDS, Sums};
use super::fields::{Field, Reader};
use super::{Batch, Config, Exam, Source, Task};
use crate::LlamaConfig;
use crate::data::addition::VOCABULARY_SIZE;
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Llama {
    sums: Sums,
    layers: usize,
    width: usize,
    heads: usize,
}

/// Width of the blocks' hidden layer in multiples of theirs.
const HIDDEN: usize = 3;

impl Llama {
    /// Heads of keys: one for two heads of queries, where they are even.
    fn key_heads(&self) -> usize {
        if self.heads.is_multiple_of(2) { self.heads / 2 } else { self.heads }
    }
}

impl Task for Llama {
    const KEY: &'static str = "addition-llama";
    const TITLE: &'static str = "Addition Llama";
    const FIELDS: &'static [Field] = &FIELDS;
    const MAX_BATCH: usize = Sums::MAX_BATCH;
    type Model = crate::Llama;

    fn read(r: &mut Reader) -> Llama {
        let digits = Sums::digits(r);
        let (layers, width, heads) = r.transformer();
        // Rotary positions turn pairs of numbers.
        if r.errors.is_empty() && !(width / heads).is_multiple_of(2) {
            r.fail("heads", format!("{} numbers for each head: use an even number", width / heads));
        }
        Llama { sums: Sums::read(r, digits), layers, width, heads }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![self.sums.context]
    }

    fn parameters(&self) -> usize {
        let (d, tokens) = (self.width, VOCABULARY_SIZE * self.width);
        let (kv, hidden) = (self.key_heads() * (d / self.heads), HIDDEN * d);
        tokens + self.layers * (2 * d * d + 2 * d * kv + 3 * d * hidden + 2 * d) + d + tokens
    }

    fn build(&self, init: &mut Init) -> Result<crate::Llama> {
        let config = LlamaConfig {
            vocab_size: VOCABULARY_SIZE,
            hidden_size: self.width,
            intermediate_size: HIDDEN * self.width,
            num_hidden_layers: self.layers,
            num_attention_heads: self.heads,
            num_key_value_heads: self.key_heads(),
            tie_word_embeddings: false,
            ..LlamaConfig::smol()
        };
        crate::Llama::new(init, &config)
    }

    fn data(&self, config: &Config) -> Source {
        self.sums.source(config)
    }

    fn exam(&self, seed: u64) -> Option<Exam> {
        Some(self.sums.exam(seed))
    }

    fn forward(model: &crate::Llama, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }

    fn loss(model: &crate::Llama, (x, y): &Batch) -> Result<Tensor> {
        model.loss(x, y)
    }
}
