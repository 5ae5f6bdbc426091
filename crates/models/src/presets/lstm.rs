//! A recurrent network that learns to add.

use super::addition::Sums;
use super::fields::{Field, Kind, MAX_LAYERS, Reader, field, with_training};
use super::{Batch, Config, Exam, Source, Task};
use crate::data::addition::VOCABULARY_SIZE;
use crate::{LstmLm, LstmLmConfig};
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Lstm {
    sums: Sums,
    layers: usize,
    width: usize,
}

impl Task for Lstm {
    const KEY: &'static str = "addition-lstm";
    const TITLE: &'static str = "Addition LSTM";
    const FIELDS: &'static [Field] = &with_training::<4, 8>(
        [
            field("digits", "Digits", "2", Kind::Integer),
            field("layers", "Layers", "1", Kind::Integer),
            field("width", "Width", "128", Kind::Integer),
            field("context", "Context", "12", Kind::Integer),
        ],
        "0.005",
        "64",
    );
    const MAX_BATCH: usize = Sums::MAX_BATCH;
    type Model = LstmLm;

    fn read(r: &mut Reader) -> Lstm {
        let digits = Sums::digits(r);
        let (layers, width) = (r.integer("layers", 1, MAX_LAYERS), r.integer("width", 1, 512));
        Lstm { sums: Sums::read(r, digits), layers, width }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![self.sums.context]
    }

    fn parameters(&self) -> usize {
        let (d, tokens) = (self.width, VOCABULARY_SIZE * self.width);
        tokens + self.layers * 4 * (2 * d * d + 2 * d) + tokens + VOCABULARY_SIZE
    }

    fn build(&self, init: &mut Init) -> Result<LstmLm> {
        let (emsize, nhid) = (self.width, self.width);
        LstmLm::new(init, &LstmLmConfig { vocabulary: VOCABULARY_SIZE, emsize, nhid, nlayers: self.layers, dropout: 0.0 })
    }

    fn data(&self, config: &Config) -> Source {
        self.sums.source(config)
    }

    fn exam(&self, seed: u64) -> Option<Exam> {
        Some(self.sums.exam(seed))
    }

    fn forward(model: &LstmLm, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }

    fn loss(model: &LstmLm, (x, y): &Batch) -> Result<Tensor> {
        model.loss(x, y)
    }
}
