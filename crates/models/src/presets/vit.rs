//! Handwritten digits, by a vision transformer.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Config, Exam, Source, Task};
use crate::VitConfig;
use crate::data::digits::{CLASSES, SIDE, TRAIN, split};
use aludel_nn::{Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Vit {
    layers: usize,
    width: usize,
    heads: usize,
}

/// Rows and columns of a patch.
const PATCH: usize = 2;

impl Task for Vit {
    const KEY: &'static str = "digits-vit";
    const TITLE: &'static str = "ViT";
    const FIELDS: &'static [Field] = &with_training::<3, 7>(
        [
            field("layers", "Layers", "4", Kind::Integer),
            field("width", "Width", "64", Kind::Integer),
            field("heads", "Heads", "4", Kind::Integer),
        ],
        "0.003",
        "64",
    );
    const MAX_BATCH: usize = TRAIN;
    type Model = crate::Vit;

    fn read(r: &mut Reader) -> Vit {
        let (layers, width, heads) = r.transformer();
        Vit { layers, width, heads }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![1, SIDE, SIDE]
    }

    fn parameters(&self) -> usize {
        let d = self.width;
        let tokens = (SIDE / PATCH).pow(2) + 1;
        let block = (3 * d * d + 3 * d) + (d * d + d) + (4 * d * d + 4 * d) + (4 * d * d + d) + 4 * d;
        d + tokens * d + (PATCH * PATCH * d + d) + self.layers * block + 2 * d + d * CLASSES + CLASSES
    }

    fn build(&self, init: &mut Init) -> Result<crate::Vit> {
        let config = VitConfig {
            img_size: SIDE,
            patch_size: PATCH,
            in_chans: 1,
            num_classes: CLASSES,
            embed_dim: self.width,
            depth: self.layers,
            num_heads: self.heads,
            ..VitConfig::vit_tiny()
        };
        crate::Vit::new(init, &config)
    }

    fn data(&self, config: &Config) -> Source {
        Source::classes(config, split().0)
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        Some(Exam::Classes(split().1))
    }

    fn forward(model: &crate::Vit, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }
}
