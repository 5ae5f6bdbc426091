//! Two classes of points in the plane, told apart by a multilayer perceptron.

use super::fields::{Field, Kind, Reader, field};
#[cfg(not(target_arch = "wasm32"))]
use super::digits::MAX_INPUT;
use super::{Config, Exam, Source, Task, mlp_parameters, mlp_sizes};
use crate::Mlp;
use crate::data::points::{Dataset, TRAIN};
use aludel_nn::{Activation, Init, Module};
use aludel_tensor::{Result, Tensor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Points {
    pub data: Dataset,
    layers: Vec<usize>,
    activation: Between,
    /// Numbers of an example and classes, of examples that are not this preset's own.
    #[serde(skip)]
    own: Option<(usize, usize)>,
}

/// The activations that the form offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Between {
    Relu,
    Tanh,
    Gelu,
    Silu,
    Sigmoid,
}

const DATASETS: Kind = Kind::Choice(&[("spirals", "Spirals"), ("circles", "Circles"), ("xor", "XOR"), ("moons", "Moons")]);
const ACTIVATIONS: Kind =
    Kind::Choice(&[("relu", "ReLU"), ("tanh", "tanh"), ("gelu", "GELU"), ("silu", "SiLU"), ("sigmoid", "sigmoid")]);

impl Points {
    fn sizes(&self) -> Vec<usize> {
        let (input, classes) = self.own.unwrap_or((2, 2));
        mlp_sizes(input, &self.layers, classes)
    }
}

impl Task for Points {
    const KEY: &'static str = "points";
    const TITLE: &'static str = "Points";
    const FIELDS: &'static [Field] = &super::fields::with_training::<3, 7>(
        [
            field("data", "Data", "spirals", DATASETS),
            field("layers", "Layers", "64, 64", Kind::Integers),
            field("activation", "Activation", "tanh", ACTIVATIONS),
        ],
        "0.01",
        "128",
    );
    const MAX_BATCH: usize = TRAIN;
    type Model = Mlp;

    fn read(r: &mut Reader) -> Points {
        let data = match r.choice("data") {
            "circles" => Dataset::Circles,
            "xor" => Dataset::Xor,
            "moons" => Dataset::Moons,
            _ => Dataset::Spirals,
        };
        let activation = match r.choice("activation") {
            "relu" => Between::Relu,
            "gelu" => Between::Gelu,
            "silu" => Between::Silu,
            "sigmoid" => Between::Sigmoid,
            _ => Between::Tanh,
        };
        Points { data, layers: r.widths("layers"), activation, own: None }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![self.own.map_or(2, |(input, _)| input)]
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
        let activation = match self.activation {
            Between::Relu => Activation::Relu,
            Between::Tanh => Activation::Tanh,
            Between::Gelu => Activation::Gelu,
            Between::Silu => Activation::Silu,
            Between::Sigmoid => Activation::Sigmoid,
        };
        Mlp::new(init, &self.sizes(), activation)
    }

    fn data(&self, config: &Config) -> Source {
        Source::classes(config, self.data.generate(config.seed).0)
    }

    fn exam(&self, seed: u64) -> Option<Exam> {
        Some(Exam::Classes(self.data.generate(seed).1))
    }

    fn forward(model: &Mlp, x: &Tensor) -> Result<Tensor> {
        model.forward(x)
    }
}
