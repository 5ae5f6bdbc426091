//! Handwritten digits, by a multilayer perceptron.

use super::fields::{Field, Kind, Reader, field, with_training};
use super::{Config, Exam, Source, Task, mlp_parameters, mlp_sizes};
use crate::Mlp;
use crate::data::digits::{CLASSES, PIXELS, TRAIN, split};
use aludel_nn::{Activation, Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Digits {
    layers: Vec<usize>,
}

impl Digits {
    fn sizes(&self) -> Vec<usize> {
        mlp_sizes(PIXELS, &self.layers, CLASSES)
    }
}

impl Task for Digits {
    const KEY: &'static str = "digits";
    const TITLE: &'static str = "Digits";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("layers", "Layers", "128, 128", Kind::Integers)], "0.001", "64");
    const MAX_BATCH: usize = TRAIN;
    type Model = Mlp;

    fn read(r: &mut Reader) -> Digits {
        Digits { layers: r.widths("layers") }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![PIXELS]
    }

    fn parameters(&self) -> usize {
        mlp_parameters(&self.sizes())
    }

    fn build(&self, init: &mut Init) -> Result<Mlp> {
        Mlp::new(init, &self.sizes(), Activation::Relu)
    }

    fn data(&self, config: &Config) -> Source {
        Source::classes(config, split().0)
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        Some(Exam::Classes(split().1))
    }

    fn forward(model: &Mlp, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }
}
