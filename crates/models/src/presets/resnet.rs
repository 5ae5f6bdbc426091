//! Handwritten digits, by a ResNet-18.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Config, Exam, Source, Task};
use crate::ResNetConfig;
use crate::data::digits::{CLASSES, SIDE, TRAIN, split};
use aludel_nn::{Init, Module, Upsample, UpsampleMode};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ResNet {
    /// Channels of the first stage.
    width: usize,
}

/// How often the images are enlarged: the stages halve them five times.
const LARGER: f64 = 4.0;

impl Task for ResNet {
    const KEY: &'static str = "digits-resnet";
    const TITLE: &'static str = "ResNet-18";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("width", "Width", "16", Kind::Integer)], "0.002", "64");
    const MAX_BATCH: usize = TRAIN;
    /// Boxed: by far the largest.
    type Model = Box<crate::ResNet>;

    fn read(r: &mut Reader) -> ResNet {
        ResNet { width: r.integer("width", 1, 128) }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![1, SIDE, SIDE]
    }

    fn parameters(&self) -> usize {
        let width = self.width;
        let stage = |i: usize| {
            let (c, before) = (width << i, if i == 0 { width } else { width << (i - 1) });
            let shortcut = if i == 0 { 0 } else { before * c + 2 * c };
            9 * before * c + 3 * 9 * c * c + 4 * 2 * c + shortcut
        };
        49 * width + 2 * width + (0..4).map(stage).sum::<usize>() + 8 * width * CLASSES + CLASSES
    }

    fn build(&self, init: &mut Init) -> Result<Self::Model> {
        let config = ResNetConfig { width: self.width, channels: 1, classes: CLASSES, ..ResNetConfig::resnet18() };
        Ok(Box::new(crate::ResNet::new(init, &config)?))
    }

    fn data(&self, config: &Config) -> Source {
        Source::classes(config, split().0)
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        Some(Exam::Classes(split().1))
    }

    fn forward(model: &Self::Model, x: &Tensor) -> Result<Tensor> {
        model.forward(&Upsample::new(LARGER, UpsampleMode::Nearest)?.forward(x)?)
    }
}
