//! Handwritten digits, by a convolutional network.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Config, Exam, Source, Task};
use crate::data::digits::{CLASSES, SIDE, TRAIN, split};
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cnn {
    /// After the first and the second convolution.
    channels: [usize; 2],
}

impl Task for Cnn {
    const KEY: &'static str = "digits-cnn";
    const TITLE: &'static str = "CNN";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("channels", "Channels", "16, 32", Kind::Integers)], "0.01", "64");
    const MAX_BATCH: usize = TRAIN;
    type Model = crate::Cnn;

    fn read(r: &mut Reader) -> Cnn {
        Cnn { channels: r.channels("channels") }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![1, SIDE, SIDE]
    }

    fn parameters(&self) -> usize {
        let [a, b] = self.channels;
        9 * a + 3 * a + (9 * a * b + 3 * b) + (b * CLASSES + CLASSES)
    }

    fn build(&self, init: &mut Init) -> Result<crate::Cnn> {
        crate::Cnn::new(init, 1, self.channels, CLASSES)
    }

    fn data(&self, config: &Config) -> Source {
        Source::classes(config, split().0)
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        Some(Exam::Classes(split().1))
    }

    fn forward(model: &crate::Cnn, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }
}
