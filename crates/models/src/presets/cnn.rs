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
    /// The shape of an image and the classes, of images that are not this preset's own.
    #[serde(skip)]
    own: Option<([usize; 3], usize)>,
}

impl Cnn {
    fn images(&self) -> ([usize; 3], usize) {
        self.own.unwrap_or(([1, SIDE, SIDE], CLASSES))
    }
}

impl Task for Cnn {
    const KEY: &'static str = "digits-cnn";
    const TITLE: &'static str = "CNN";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("channels", "Channels", "16, 32", Kind::Integers)], "0.01", "64");
    const MAX_BATCH: usize = TRAIN;
    type Model = crate::Cnn;

    fn read(r: &mut Reader) -> Cnn {
        Cnn { channels: r.channels("channels"), own: None }
    }

    fn example_shape(&self) -> Vec<usize> {
        self.images().0.to_vec()
    }

    /// Images that can be halved once.
    #[cfg(not(target_arch = "wasm32"))]
    fn take_examples(&mut self, shape: &[usize], classes: usize) -> bool {
        let image = <[usize; 3]>::try_from(shape).ok().filter(|[c, h, w]| (1..=1024).contains(c) && (2..=4096).contains(h) && (2..=4096).contains(w));
        self.own = image.map(|image| (image, classes));
        image.is_some() && classes >= 2
    }

    fn parameters(&self) -> usize {
        let ([a, b], ([channels, ..], classes)) = (self.channels, self.images());
        9 * channels * a + 3 * a + (9 * a * b + 3 * b) + (b * classes + classes)
    }

    fn build(&self, init: &mut Init) -> Result<crate::Cnn> {
        let ([channels, ..], classes) = self.images();
        crate::Cnn::new(init, channels, self.channels, classes)
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
