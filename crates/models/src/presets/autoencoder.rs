//! Handwritten digits through a narrow place and back.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Batch, Config, Exam, Source, Target, Task};
use crate::data::digits::{SIDE, TRAIN, split};
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Autoencoder {
    /// After the first and the second convolution.
    channels: [usize; 2],
}

impl Task for Autoencoder {
    const KEY: &'static str = "autoencoder";
    const TITLE: &'static str = "Autoencoder";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("channels", "Channels", "16, 4", Kind::Integers)], "0.01", "64");
    const MAX_BATCH: usize = TRAIN;
    type Model = crate::Autoencoder;

    fn read(r: &mut Reader) -> Autoencoder {
        Autoencoder { channels: r.channels("channels") }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![1, SIDE, SIDE]
    }

    fn parameters(&self) -> usize {
        let [a, b] = self.channels;
        (9 * a + a) + (9 * a * b + b) + (9 * b * a + a) + (9 * a + 1)
    }

    fn build(&self, init: &mut Init) -> Result<crate::Autoencoder> {
        crate::Autoencoder::new(init, 1, self.channels)
    }

    fn data(&self, config: &Config) -> Source {
        Source::rows(config, split().0, Target::Same)
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        Some(Exam::Images(split().1))
    }

    fn forward(model: &crate::Autoencoder, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }

    fn loss(model: &crate::Autoencoder, (x, y): &Batch) -> Result<Tensor> {
        model.forward(x)?.mse_loss(y)
    }
}
