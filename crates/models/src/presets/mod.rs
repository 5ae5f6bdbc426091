//! The playground's presets: what is trained, with which hyperparameters, as text that people write and links carry.
//!
//! A preset is described by [`Field`]s. A form shows them, a link holds `key=value` of each, and [`Config::from_fields`] turns
//! the text into a checked [`Config`], or says for each field what is wrong with it.

mod parse;
mod table;
mod train;

pub use parse::FieldError;
pub use table::{Column, Table, Values};
pub use train::{AnyOptimizer, Batch, Model, Source, Train};

use crate::data::{addition, digits, points};
pub use aludel_nn::Precision;
pub use points::Dataset;
use serde::{Deserialize, Serialize};

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Preset {
    /// Two classes of points in the plane.
    Points,
    /// Handwritten digits, by a multilayer perceptron.
    Digits,
    /// Handwritten digits, by a convolutional network.
    Cnn,
    /// Handwritten digits through a narrow place and back.
    Autoencoder,
    /// A decoder transformer that learns to add.
    Addition,
}

impl Preset {
    pub const ALL: [Preset; 5] = [Preset::Points, Preset::Digits, Preset::Cnn, Preset::Autoencoder, Preset::Addition];

    /// The name in links: `points`.
    pub fn key(self) -> &'static str {
        match self {
            Preset::Points => "points",
            Preset::Digits => "digits",
            Preset::Cnn => "digits-cnn",
            Preset::Autoencoder => "autoencoder",
            Preset::Addition => "addition",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Preset::Points => "Points",
            Preset::Digits => "Digits",
            Preset::Cnn => "CNN",
            Preset::Autoencoder => "Autoencoder",
            Preset::Addition => "Addition GPT",
        }
    }

    pub fn from_key(key: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|p| p.key() == key)
    }

    /// The hyperparameters, in the order in which a form shows them.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Preset::Points => &POINTS,
            Preset::Digits => &DIGITS,
            Preset::Cnn => &CNN,
            Preset::Autoencoder => &AUTOENCODER,
            Preset::Addition => &ADDITION,
        }
    }

    /// The values a form starts with.
    pub fn defaults(self) -> Vec<(String, String)> {
        self.fields().iter().map(|f| (f.key.to_string(), f.default.to_string())).collect()
    }
}

/// One hyperparameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The name in links.
    pub key: &'static str,
    pub label: &'static str,
    pub default: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Integer,
    Number,
    /// Whole numbers, separated by commas.
    Integers,
    /// `(value, label)`.
    Choice(&'static [(&'static str, &'static str)]),
}

const fn field(key: &'static str, label: &'static str, default: &'static str, kind: Kind) -> Field {
    Field { key, label, default, kind }
}

const DATASETS: Kind = Kind::Choice(&[("spirals", "Spirals"), ("circles", "Circles"), ("xor", "XOR"), ("moons", "Moons")]);
const ACTIVATIONS: Kind = Kind::Choice(&[("relu", "ReLU"), ("tanh", "tanh"), ("gelu", "GELU"), ("silu", "SiLU"), ("sigmoid", "sigmoid")]);
const OPTIMIZERS: Kind = Kind::Choice(&[("sgd", "SGD"), ("momentum", "SGD, momentum 0.9"), ("adam", "Adam"), ("adamw", "AdamW")]);

const POINTS: [Field; 7] = [
    field("data", "Data", "spirals", DATASETS),
    field("layers", "Layers", "64, 64", Kind::Integers),
    field("activation", "Activation", "tanh", ACTIVATIONS),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.01", Kind::Number),
    field("batch", "Batch", "128", Kind::Integer),
    field("seed", "Seed", "0", Kind::Integer),
];

const DIGITS: [Field; 5] = [
    field("layers", "Layers", "128, 128", Kind::Integers),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.001", Kind::Number),
    field("batch", "Batch", "64", Kind::Integer),
    field("seed", "Seed", "0", Kind::Integer),
];

const CNN: [Field; 5] = [
    field("channels", "Channels", "16, 32", Kind::Integers),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.01", Kind::Number),
    field("batch", "Batch", "64", Kind::Integer),
    field("seed", "Seed", "0", Kind::Integer),
];

const AUTOENCODER: [Field; 5] = [
    field("channels", "Channels", "16, 4", Kind::Integers),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.01", Kind::Number),
    field("batch", "Batch", "64", Kind::Integer),
    field("seed", "Seed", "0", Kind::Integer),
];

const ADDITION: [Field; 9] = [
    field("digits", "Digits", "2", Kind::Integer),
    field("layers", "Layers", "2", Kind::Integer),
    field("width", "Width", "64", Kind::Integer),
    field("heads", "Heads", "4", Kind::Integer),
    field("context", "Context", "12", Kind::Integer),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.003", Kind::Number),
    field("batch", "Batch", "64", Kind::Integer),
    field("seed", "Seed", "0", Kind::Integer),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activation {
    Relu,
    Tanh,
    Gelu,
    Silu,
    Sigmoid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Optimizer {
    Sgd,
    /// SGD with momentum 0.9.
    Momentum,
    Adam,
    AdamW,
}

/// A checked preset: every number in it is usable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub task: Task,
    pub optimizer: Optimizer,
    pub learning_rate: f64,
    pub batch: usize,
    pub seed: u64,
    /// That of matrix products; f32 unless [`Config::with_precision`] says otherwise, since what a device can do is no field of a preset.
    #[serde(default)]
    pub precision: Precision,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    Points {
        data: Dataset,
        layers: Vec<usize>,
        activation: Activation,
    },
    Digits {
        layers: Vec<usize>,
    },
    /// Channels after the first and the second convolution.
    Cnn {
        channels: [usize; 2],
    },
    Autoencoder {
        channels: [usize; 2],
    },
    Addition {
        digits: usize,
        layers: usize,
        width: usize,
        heads: usize,
        context: usize,
    },
}

impl Config {
    pub fn preset(&self) -> Preset {
        match self.task {
            Task::Points { .. } => Preset::Points,
            Task::Digits { .. } => Preset::Digits,
            Task::Cnn { .. } => Preset::Cnn,
            Task::Autoencoder { .. } => Preset::Autoencoder,
            Task::Addition { .. } => Preset::Addition,
        }
    }

    /// The shape of one example as the model takes it.
    pub fn example_shape(&self) -> Vec<usize> {
        match &self.task {
            Task::Points { .. } => vec![2],
            Task::Digits { .. } => vec![digits::PIXELS],
            Task::Cnn { .. } | Task::Autoencoder { .. } => vec![1, digits::SIDE, digits::SIDE],
            Task::Addition { context, .. } => vec![*context],
        }
    }

    /// Sizes of the MLP's layers from input to output; `None` for other models.
    pub fn mlp_sizes(&self) -> Option<Vec<usize>> {
        let (input, hidden, output) = match &self.task {
            Task::Points { layers, .. } => (2, layers, 2),
            Task::Digits { layers } => (digits::PIXELS, layers, digits::CLASSES),
            Task::Cnn { .. } | Task::Autoencoder { .. } | Task::Addition { .. } => return None,
        };
        Some(std::iter::once(input).chain(hidden.iter().copied()).chain(std::iter::once(output)).collect())
    }

    /// How many numbers the model learns.
    pub fn parameters(&self) -> usize {
        match &self.task {
            Task::Addition { layers, width: d, context, .. } => {
                let vocabulary = addition::VOCABULARY_SIZE;
                let block = (d * 3 * d + 3 * d) + (d * d + d) + (d * 4 * d + 4 * d) + (4 * d * d + d) + 4 * d;
                vocabulary * d + context * d + layers * block + 2 * d + d * vocabulary
            }
            Task::Cnn { channels: [a, b] } => 9 * a + 3 * a + (9 * a * b + 3 * b) + (b * digits::CLASSES + digits::CLASSES),
            Task::Autoencoder { channels: [a, b] } => (9 * a + a) + (9 * a * b + b) + (9 * b * a + a) + (9 * a + 1),
            _ => self.mlp_sizes().map_or(0, |s| s.windows(2).map(|w| w[0] * w[1] + w[1]).sum()),
        }
    }

    /// The same with mixed precision.
    pub fn with_precision(self, precision: Precision) -> Config {
        Config { precision, ..self }
    }

    /// Reads and checks a preset's fields; a missing one takes its default, an unknown one is ignored.
    ///
    /// The error holds one message for each field that is wrong.
    pub fn from_fields(preset: Preset, fields: &[(String, String)]) -> Result<Config, Vec<FieldError>> {
        parse::config(preset, fields)
    }
}
