//! A decoder transformer that learns to add, and what other models that add have in common with it.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Batch, Config, Exam, Source, Task};
use crate::Gpt;
use crate::data::addition::{self, VOCABULARY_SIZE, context_for};
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

/// The sums that a model learns, and how many characters it sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    digits: usize,
    pub context: usize,
}

/// How many held-out sums are asked.
const ASKED: usize = 64;

impl Sums {
    /// The most sums in a batch.
    pub const MAX_BATCH: usize = 1024;

    pub fn digits(r: &mut Reader) -> usize {
        r.integer("digits", 1, 3)
    }

    pub fn read(r: &mut Reader, digits: usize) -> Sums {
        let context = r.integer("context", 1, 256);
        let need = context_for(digits);
        if r.errors.is_empty() && context < need {
            r.fail("context", format!("sums of {digits} digits take {need}"));
        }
        Sums { digits, context }
    }

    fn problems(&self, seed: u64) -> addition::Addition {
        addition::Addition { digits: self.digits, context: self.context, seed }
    }

    pub fn source(&self, config: &Config) -> Source {
        Source::Addition { problems: self.problems(config.seed), batch: config.batch }
    }

    pub fn exam(&self, seed: u64) -> Exam {
        Exam::Sums { problems: self.problems(seed).held_out(ASKED), context: self.context }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Addition {
    sums: Sums,
    layers: usize,
    width: usize,
    heads: usize,
}

/// Shared by the transformers that add.
pub(super) const FIELDS: [Field; 9] = with_training(
    [
        field("digits", "Digits", "2", Kind::Integer),
        field("layers", "Layers", "2", Kind::Integer),
        field("width", "Width", "64", Kind::Integer),
        field("heads", "Heads", "4", Kind::Integer),
        field("context", "Context", "12", Kind::Integer),
    ],
    "0.003",
    "64",
);

impl Task for Addition {
    const KEY: &'static str = "addition";
    const TITLE: &'static str = "Addition GPT";
    const FIELDS: &'static [Field] = &FIELDS;
    const MAX_BATCH: usize = Sums::MAX_BATCH;
    type Model = Gpt;

    fn read(r: &mut Reader) -> Addition {
        let digits = Sums::digits(r);
        let (layers, width, heads) = r.transformer();
        Addition { sums: Sums::read(r, digits), layers, width, heads }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![self.sums.context]
    }

    fn parameters(&self) -> usize {
        let (d, vocabulary) = (self.width, VOCABULARY_SIZE);
        let block = (d * 3 * d + 3 * d) + (d * d + d) + (d * 4 * d + 4 * d) + (4 * d * d + d) + 4 * d;
        vocabulary * d + self.sums.context * d + self.layers * block + 2 * d + d * vocabulary
    }

    fn build(&self, init: &mut Init) -> Result<Gpt> {
        Gpt::new(init, VOCABULARY_SIZE, self.sums.context, self.width, self.layers, self.heads)
    }

    fn data(&self, config: &Config) -> Source {
        self.sums.source(config)
    }

    fn exam(&self, seed: u64) -> Option<Exam> {
        Some(self.sums.exam(seed))
    }

    fn forward(model: &Gpt, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }

    fn loss(model: &Gpt, (x, y): &Batch) -> Result<Tensor> {
        model.loss(x, y)
    }
}
