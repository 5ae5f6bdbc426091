//! The playground's presets: what is trained, with which hyperparameters, as text that people write and links carry.
//!
//! A preset is described by [`Field`]s. A form shows them, a link holds `key=value` of each, and [`Config::from_fields`] turns
//! the text into a checked [`Config`], or says for each field what is wrong with it.

mod parse;
mod table;
mod train;
#[cfg(feature = "zoo")]
mod zoo;

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
    /// Handwritten digits, by a ResNet-18.
    ResNet,
    /// Handwritten digits, by a vision transformer.
    Vit,
    /// Two models, of which one makes digits and the other tells them from real ones.
    Gan,
    /// A decoder as Llama's that learns to add.
    Llama,
    /// A recurrent network that learns to add.
    Lstm,
}

impl Preset {
    /// Those that this build can train: without the feature `zoo`, which the page is built without, the first five.
    pub const ALL: &[Preset] = {
        let all = &[
            Preset::Points,
            Preset::Digits,
            Preset::Cnn,
            Preset::Autoencoder,
            Preset::Addition,
            Preset::ResNet,
            Preset::Vit,
            Preset::Gan,
            Preset::Llama,
            Preset::Lstm,
        ];
        if cfg!(feature = "zoo") { all } else { all.split_at(5).0 }
    };

    /// The name in links: `points`.
    pub fn key(self) -> &'static str {
        match self {
            Preset::Points => "points",
            Preset::Digits => "digits",
            Preset::Cnn => "digits-cnn",
            Preset::Autoencoder => "autoencoder",
            Preset::Addition => "addition",
            Preset::ResNet => "digits-resnet",
            Preset::Vit => "digits-vit",
            Preset::Gan => "digits-gan",
            Preset::Llama => "addition-llama",
            Preset::Lstm => "addition-lstm",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Preset::Points => "Points",
            Preset::Digits => "Digits",
            Preset::Cnn => "CNN",
            Preset::Autoencoder => "Autoencoder",
            Preset::Addition => "Addition GPT",
            Preset::ResNet => "ResNet-18",
            Preset::Vit => "ViT",
            Preset::Gan => "GAN",
            Preset::Llama => "Addition Llama",
            Preset::Lstm => "Addition LSTM",
        }
    }

    pub fn from_key(key: &str) -> Option<Preset> {
        Preset::ALL.iter().copied().find(|p| p.key() == key)
    }

    /// The hyperparameters, in the order in which a form shows them.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Preset::Points => &POINTS,
            Preset::Digits => &DIGITS,
            Preset::Cnn => &CNN,
            Preset::Autoencoder => &AUTOENCODER,
            Preset::Addition | Preset::Llama => &ADDITION,
            Preset::ResNet => &RESNET,
            Preset::Vit => &VIT,
            Preset::Gan => &GAN,
            Preset::Lstm => &LSTM,
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

/// The fields of a preset on digits: those of its model, and how it is trained.
const fn on_digits<const OWN: usize, const ALL: usize>(own: [Field; OWN], lr: &'static str) -> [Field; ALL] {
    let mut all = [field("seed", "Seed", "0", Kind::Integer); ALL];
    let mut i = 0;
    while i < OWN {
        all[i] = own[i];
        i += 1;
    }
    all[OWN] = field("optimizer", "Optimizer", "adamw", OPTIMIZERS);
    all[OWN + 1] = field("lr", "Learning rate", lr, Kind::Number);
    all[OWN + 2] = field("batch", "Batch", "64", Kind::Integer);
    all
}

const DIGITS: [Field; 5] = on_digits([field("layers", "Layers", "128, 128", Kind::Integers)], "0.001");
const CNN: [Field; 5] = on_digits([field("channels", "Channels", "16, 32", Kind::Integers)], "0.01");
const AUTOENCODER: [Field; 5] = on_digits([field("channels", "Channels", "16, 4", Kind::Integers)], "0.01");
const RESNET: [Field; 5] = on_digits([field("width", "Width", "16", Kind::Integer)], "0.002");
const VIT: [Field; 7] = on_digits(
    [
        field("layers", "Layers", "4", Kind::Integer),
        field("width", "Width", "64", Kind::Integer),
        field("heads", "Heads", "4", Kind::Integer),
    ],
    "0.003",
);
const GAN: [Field; 6] =
    on_digits([field("noise", "Noise", "16", Kind::Integer), field("hidden", "Hidden units", "128", Kind::Integer)], "0.0005");

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

const LSTM: [Field; 8] = [
    field("digits", "Digits", "2", Kind::Integer),
    field("layers", "Layers", "1", Kind::Integer),
    field("width", "Width", "128", Kind::Integer),
    field("context", "Context", "12", Kind::Integer),
    field("optimizer", "Optimizer", "adamw", OPTIMIZERS),
    field("lr", "Learning rate", "0.005", Kind::Number),
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
        #[serde(default)]
        decoder: Decoder,
    },
    /// A ResNet-18 with so many channels in its first stage, on digits that are enlarged to [`RESNET_SIDE`].
    ResNet {
        width: usize,
    },
    /// On patches of two by two.
    Vit {
        layers: usize,
        width: usize,
        heads: usize,
    },
    /// Two layers each.
    Gan {
        noise: usize,
        hidden: usize,
    },
}

/// The model that adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decoder {
    #[default]
    Gpt,
    Llama,
    Lstm,
}

/// Rows and columns of a patch of [`Task::Vit`].
pub const VIT_PATCH: usize = 2;

/// Width of the hidden layer of [`Decoder::Llama`]'s blocks in multiples of theirs.
const LLAMA_HIDDEN: usize = 3;

/// Heads of keys in [`Decoder::Llama`]: one for two heads of queries, where they are even.
const fn llama_key_heads(heads: usize) -> usize {
    if heads.is_multiple_of(2) { heads / 2 } else { heads }
}

/// Rows and columns of the images of [`Task::ResNet`], whose stages halve them five times.
pub const RESNET_SIDE: usize = 4 * digits::SIDE;

impl Config {
    pub fn preset(&self) -> Preset {
        match self.task {
            Task::Points { .. } => Preset::Points,
            Task::Digits { .. } => Preset::Digits,
            Task::Cnn { .. } => Preset::Cnn,
            Task::Autoencoder { .. } => Preset::Autoencoder,
            Task::Addition { decoder: Decoder::Gpt, .. } => Preset::Addition,
            Task::Addition { decoder: Decoder::Llama, .. } => Preset::Llama,
            Task::Addition { decoder: Decoder::Lstm, .. } => Preset::Lstm,
            Task::ResNet { .. } => Preset::ResNet,
            Task::Vit { .. } => Preset::Vit,
            Task::Gan { .. } => Preset::Gan,
        }
    }

    /// The shape of one example as the model takes it.
    pub fn example_shape(&self) -> Vec<usize> {
        match &self.task {
            Task::Points { .. } => vec![2],
            Task::Digits { .. } | Task::Gan { .. } => vec![digits::PIXELS],
            Task::Cnn { .. } | Task::Autoencoder { .. } | Task::ResNet { .. } | Task::Vit { .. } => vec![1, digits::SIDE, digits::SIDE],
            Task::Addition { context, .. } => vec![*context],
        }
    }

    /// Sizes of the MLP's layers from input to output; `None` for other models.
    pub fn mlp_sizes(&self) -> Option<Vec<usize>> {
        let (input, hidden, output) = match &self.task {
            Task::Points { layers, .. } => (2, layers, 2),
            Task::Digits { layers } => (digits::PIXELS, layers, digits::CLASSES),
            _ => return None,
        };
        Some(std::iter::once(input).chain(hidden.iter().copied()).chain(std::iter::once(output)).collect())
    }

    /// How many numbers the model learns.
    pub fn parameters(&self) -> usize {
        let (classes, side) = (digits::CLASSES, digits::SIDE);
        match self.task {
            Task::Addition { layers, width: d, context, heads, decoder, .. } => {
                let vocabulary = addition::VOCABULARY_SIZE;
                let (tokens, head) = (vocabulary * d, d * vocabulary);
                match decoder {
                    Decoder::Gpt => {
                        let block = (d * 3 * d + 3 * d) + (d * d + d) + (d * 4 * d + 4 * d) + (4 * d * d + d) + 4 * d;
                        tokens + context * d + layers * block + 2 * d + head
                    }
                    Decoder::Llama => {
                        let (kv, hidden) = (llama_key_heads(heads) * (d / heads), LLAMA_HIDDEN * d);
                        tokens + layers * (2 * d * d + 2 * d * kv + 3 * d * hidden + 2 * d) + d + head
                    }
                    Decoder::Lstm => tokens + layers * 4 * (2 * d * d + 2 * d) + head + vocabulary,
                }
            }
            Task::ResNet { width } => {
                let stage = |i: usize| {
                    let (c, before) = (width << i, if i == 0 { width } else { width << (i - 1) });
                    let shortcut = if i == 0 { 0 } else { before * c + 2 * c };
                    9 * before * c + 3 * 9 * c * c + 4 * 2 * c + shortcut
                };
                49 * width + 2 * width + (0..4).map(stage).sum::<usize>() + 8 * width * classes + classes
            }
            Task::Vit { layers, width: d, .. } => {
                let tokens = (side / VIT_PATCH).pow(2) + 1;
                let block = (3 * d * d + 3 * d) + (d * d + d) + (4 * d * d + 4 * d) + (4 * d * d + d) + 4 * d;
                d + tokens * d + (VIT_PATCH * VIT_PATCH * d + d) + layers * block + 2 * d + d * classes + classes
            }
            Task::Gan { noise, hidden: h } => (noise * h + h) + (h * digits::PIXELS + digits::PIXELS) + (digits::PIXELS * h + h) + (h + 1),
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
    /// # Errors
    ///
    /// One message for each field that is wrong, or one for all when they make a model that is too large.
    pub fn from_fields(preset: Preset, fields: &[(String, String)]) -> Result<Config, Vec<FieldError>> {
        parse::config(preset, fields)
    }
}
