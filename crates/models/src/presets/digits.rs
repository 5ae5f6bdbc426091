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
    /// Numbers of an example and classes, of examples that are not this preset's own.
    #[serde(skip)]
    own: Option<(usize, usize)>,
}

/// The most numbers of an example: more would be products that overflow.
#[cfg(not(target_arch = "wasm32"))]
pub(super) const MAX_INPUT: usize = 1 << 24;

impl Digits {
    fn sizes(&self) -> Vec<usize> {
        let (input, classes) = self.own.unwrap_or((PIXELS, CLASSES));
        mlp_sizes(input, &self.layers, classes)
    }
}

impl Task for Digits {
    const KEY: &'static str = "digits";
    const TITLE: &'static str = "Digits";
    const FIELDS: &'static [Field] = &with_training::<1, 5>([field("layers", "Layers", "128, 128", Kind::Integers)], "0.001", "64");
    const MAX_BATCH: usize = TRAIN;
    type Model = Mlp;

    fn read(r: &mut Reader) -> Digits {
        Digits { layers: r.widths("layers"), own: None }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![self.own.map_or(PIXELS, |(input, _)| input)]
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn take_examples(&mut self, shape: &[usize], classes: usize) -> bool {
        let input = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(|n| (1..=MAX_INPUT).contains(n));
        self.own = input.map(|input| (input, classes));
        input.is_some() && classes >= 2
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
