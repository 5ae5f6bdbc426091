//! The playground's presets: what is trained, with which hyperparameters, as text that people write and links carry.
//!
//! Every preset is a file here, whose [`Task`] says its fields, its model, its data and what the model is examined on. A form shows the
//! fields, a link holds `key=value` of each, and [`Config::from_fields`] turns the text into a checked [`Config`], or says for each field
//! what is wrong with it. To add a preset, write its file and name it in the list below.

mod exam;
mod fields;
mod optimizer;
mod source;
mod table;
mod train;

pub use crate::data::points::Dataset;
pub use aludel_nn::Precision;
pub use exam::{Answers, Exam, probabilities};
pub use fields::{Field, FieldError, Kind};
pub use optimizer::{AnyOptimizer, Optimizer};
pub use source::{Source, Target};
pub use table::{Column, Table, Values};
pub use train::{Batch, Train};

use aludel_nn::{Init, MixedPrecision, Module};
#[cfg(not(target_arch = "wasm32"))]
use aludel_tensor::Error;
use aludel_tensor::{Device, Result, Tensor, Tree};
use fields::Reader;
use serde::{Deserialize, Serialize};

/// One preset's hyperparameters, and what they make.
trait Task: Sized {
    /// The name in links: `points`.
    const KEY: &'static str;
    const TITLE: &'static str;
    /// The hyperparameters, in the order in which a form shows them.
    const FIELDS: &'static [Field];
    /// The most examples in a batch.
    const MAX_BATCH: usize;
    type Model: Tree + Clone;

    /// The fields that are the preset's own.
    fn read(r: &mut Reader) -> Self;

    /// The shape of one example as the model takes it.
    fn example_shape(&self) -> Vec<usize>;

    /// Becomes a task of other examples, of this shape and so many classes; false where it cannot.
    #[cfg(not(target_arch = "wasm32"))]
    fn take_examples(&mut self, _shape: &[usize], _classes: usize) -> bool {
        false
    }

    /// How many numbers the model learns.
    fn parameters(&self) -> usize;

    /// The model with fresh weights.
    fn build(&self, init: &mut Init) -> Result<Self::Model>;

    /// What it trains on.
    fn data(&self, config: &Config) -> Source;

    /// What it is examined on.
    fn exam(&self, seed: u64) -> Option<Exam>;

    /// Logits `[batch, classes]` or `[batch, time, vocabulary]`, or images.
    fn forward(model: &Self::Model, x: &Tensor) -> Result<Tensor>;

    /// A scalar to make small.
    fn loss(model: &Self::Model, (x, y): &Batch) -> Result<Tensor> {
        Self::forward(model, x)?.cross_entropy(y)
    }

    /// The optimizer, and a second one for a second player.
    fn optimizers(config: &Config, model: &Self::Model) -> Result<(AnyOptimizer, Option<AnyOptimizer>)> {
        Ok((config.optimizer_of(model)?, None))
    }

    /// One update; gives the loss before it.
    fn step(
        model: &mut Self::Model,
        optimizers: (&mut AnyOptimizer, Option<&mut AnyOptimizer>),
        amp: &mut MixedPrecision,
        batch: &Batch,
    ) -> Result<Tensor> {
        let loss = amp.forward(|| Self::loss(model, batch))?;
        amp.step(&loss, optimizers.0, model, AnyOptimizer::step)?;
        Ok(loss)
    }
}

// The list of presets, and the enums that stand for one of them; each variant calls its file.
macro_rules! presets {
    ($($(#[$attribute:meta])* $file:ident::$name:ident($model:ty): $doc:literal),* $(,)?) => {
        $($(#[$attribute])* mod $file;)*

        /// What is trained.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Preset {
            $(#[doc = $doc] $(#[$attribute])* $name,)*
        }

        impl Preset {
            /// Those that this build can train: the page is built without the feature `zoo`.
            pub const ALL: &[Preset] = &[$($(#[$attribute])* Preset::$name,)*];

            /// The name in links: `points`.
            pub fn key(self) -> &'static str {
                match self { $($(#[$attribute])* Preset::$name => $file::$name::KEY,)* }
            }

            pub fn title(self) -> &'static str {
                match self { $($(#[$attribute])* Preset::$name => $file::$name::TITLE,)* }
            }

            /// The hyperparameters, in the order in which a form shows them.
            pub fn fields(self) -> &'static [Field] {
                match self { $($(#[$attribute])* Preset::$name => $file::$name::FIELDS,)* }
            }

            fn read(self, r: &mut Reader) -> (AnyTask, usize) {
                match self {
                    $($(#[$attribute])* Preset::$name => (AnyTask::$name($file::$name::read(r)), $file::$name::MAX_BATCH),)*
                }
            }
        }

        /// A preset with its hyperparameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        enum AnyTask {
            $($(#[$attribute])* $name($file::$name),)*
        }

        /// What a preset trains.
        // A preset has one of them: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Tree)]
        pub enum Model {
            $(#[doc = $doc] $(#[$attribute])* $name($model),)*
        }

        impl Model {
            /// The model of a preset with fresh weights: the same for the same seed, on every device.
            ///
            /// # Errors
            ///
            /// When the device cannot hold its parameters.
            pub fn new(config: &Config, device: &Device) -> Result<Model> {
                let init = &mut Init::new(device, config.seed);
                Ok(match &config.task { $($(#[$attribute])* AnyTask::$name(t) => Model::$name(t.build(init)?),)* })
            }

            fn optimizers(&self, config: &Config) -> Result<(AnyOptimizer, Option<AnyOptimizer>)> {
                match self { $($(#[$attribute])* Model::$name(m) => <$file::$name as Task>::optimizers(config, m),)* }
            }

            /// A scalar to make small, of a batch. A preset of two players has losses of its own.
            ///
            /// # Errors
            ///
            /// When the batch is not one of the preset's [`Source`], and what the operators [say](aludel_tensor#when-an-operator-fails).
            #[cfg(not(target_arch = "wasm32"))]
            pub fn loss(&self, batch: &Batch) -> Result<Tensor> {
                match self { $($(#[$attribute])* Model::$name(m) => <$file::$name as Task>::loss(m, batch),)* }
            }

            fn step(
                &mut self,
                optimizers: (&mut AnyOptimizer, Option<&mut AnyOptimizer>),
                amp: &mut MixedPrecision,
                batch: &Batch,
            ) -> Result<Tensor> {
                match self { $($(#[$attribute])* Model::$name(m) => <$file::$name as Task>::step(m, optimizers, amp, batch),)* }
            }
        }

        impl Module for Model {
            /// Examples of [`Config::example_shape`] behind the batch to logits `[batch, classes]`, to images, or to logits
            /// `[batch, time, vocabulary]`.
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                match self { $($(#[$attribute])* Model::$name(m) => <$file::$name as Task>::forward(m, x),)* }
            }
        }

        impl Source {
            /// The batches of a preset: the same for the same configuration.
            pub fn new(config: &Config) -> Source {
                match &config.task { $($(#[$attribute])* AnyTask::$name(t) => t.data(config),)* }
            }
        }

        impl Config {
            pub fn preset(&self) -> Preset {
                match &self.task { $($(#[$attribute])* AnyTask::$name(_) => Preset::$name,)* }
            }

            /// The shape of one example as the model takes it.
            pub fn example_shape(&self) -> Vec<usize> {
                match &self.task { $($(#[$attribute])* AnyTask::$name(t) => t.example_shape(),)* }
            }

            /// The same for examples of somebody's own, of a shape and with so many classes, which take the place of those of the preset's
            /// [`Source`] and [`Exam`].
            ///
            /// # Errors
            ///
            /// When the preset is not one of such examples, or its model would be too large.
            #[cfg(not(target_arch = "wasm32"))]
            pub fn with_examples(mut self, shape: &[usize], classes: usize) -> Result<Config> {
                let takes = match &mut self.task { $($(#[$attribute])* AnyTask::$name(t) => t.take_examples(shape, classes),)* };
                self.fitting(takes, shape, classes)
            }

            /// How many numbers the model learns.
            pub fn parameters(&self) -> usize {
                match &self.task { $($(#[$attribute])* AnyTask::$name(t) => t.parameters(),)* }
            }

            /// What the model is examined on; `None` for a preset whose model answers no question.
            pub fn exam(&self) -> Option<Exam> {
                match &self.task { $($(#[$attribute])* AnyTask::$name(t) => t.exam(self.seed),)* }
            }
        }
    };
}

presets! {
    points::Points(crate::Mlp): "Two classes of points in the plane.",
    digits::Digits(crate::Mlp): "Handwritten digits, by a multilayer perceptron.",
    cnn::Cnn(crate::Cnn): "Handwritten digits, by a convolutional network.",
    autoencoder::Autoencoder(crate::Autoencoder): "Handwritten digits through a narrow place and back.",
    addition::Addition(crate::Gpt): "A decoder transformer that learns to add.",
    #[cfg(feature = "zoo")]
    resnet::ResNet(Box<crate::ResNet>): "Handwritten digits, by a ResNet-18.",
    #[cfg(feature = "zoo")]
    vit::Vit(crate::Vit): "Handwritten digits, by a vision transformer.",
    #[cfg(feature = "zoo")]
    gan::Gan(crate::Gan): "Two models, of which one makes digits and the other tells them from real ones.",
    #[cfg(feature = "zoo")]
    llama::Llama(crate::Llama): "A decoder as Llama's that learns to add.",
    #[cfg(feature = "zoo")]
    lstm::Lstm(crate::LstmLm): "A recurrent network that learns to add.",
}

impl Preset {
    pub fn from_key(key: &str) -> Option<Preset> {
        Preset::ALL.iter().copied().find(|p| p.key() == key)
    }

    /// The values a form starts with.
    pub fn defaults(self) -> Vec<(String, String)> {
        self.fields().iter().map(|f| (f.key.to_string(), f.default.to_string())).collect()
    }
}

/// A checked preset: every number in it is usable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    task: AnyTask,
    pub optimizer: Optimizer,
    pub learning_rate: f64,
    pub batch: usize,
    pub seed: u64,
    /// That of matrix products; f32 unless [`Config::with_precision`] says otherwise, since what a device can do is no field of a preset.
    #[serde(default)]
    pub precision: Precision,
}

/// The most numbers to learn: what a browser's GPU memory holds with ease, twice.
const MAX_PARAMETERS: usize = 20_000_000;
const MAX_SEED: usize = u32::MAX as usize;

impl Config {
    /// Reads and checks a preset's fields; a missing one takes its default, an unknown one is ignored.
    ///
    /// # Errors
    ///
    /// One message for each field that is wrong, or one for all when they make a model that is too large.
    pub fn from_fields(preset: Preset, fields: &[(String, String)]) -> Result<Config, Vec<FieldError>> {
        let mut r = Reader { fields: preset.fields(), given: fields, errors: Vec::new() };
        let (task, max_batch) = preset.read(&mut r);
        let optimizer = Optimizer::read(&mut r);
        let learning_rate = r.number("lr", 10.0);
        let batch = r.integer("batch", 1, max_batch);
        let seed = r.integer("seed", 0, MAX_SEED) as u64;
        let config = Config { task, optimizer, learning_rate, batch, seed, precision: Precision::F32 };
        if r.errors.is_empty() && config.parameters() > MAX_PARAMETERS {
            r.fail("layers", format!("{} numbers to learn; at most {MAX_PARAMETERS} fit here", config.parameters()));
        }
        if r.errors.is_empty() { Ok(config) } else { Err(r.errors) }
    }

    /// The same with mixed precision.
    pub fn with_precision(self, precision: Precision) -> Config {
        Config { precision, ..self }
    }

    /// Which points are classified, where they are.
    pub fn dataset(&self) -> Option<Dataset> {
        match &self.task {
            AnyTask::Points(p) => Some(p.data),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn fitting(self, takes: bool, shape: &[usize], classes: usize) -> Result<Config> {
        let examples = format!("examples {shape:?} of {classes} classes");
        if !takes {
            let remedy = "use points or digits for rows, digits or digits-cnn for images, and at least two classes";
            return Err(Error::invalid(self.preset().key(), format!("does not take {examples}"), remedy));
        }
        match self.parameters() {
            n if n > MAX_PARAMETERS => {
                let problem = format!("would have {n} numbers to learn for {examples}; at most {MAX_PARAMETERS} fit here");
                Err(Error::invalid(self.preset().key(), problem, "give smaller examples, or fewer units"))
            }
            _ => Ok(self),
        }
    }

    fn optimizer_of<T: Tree + ?Sized>(&self, model: &T) -> Result<AnyOptimizer> {
        AnyOptimizer::new(self.optimizer, self.learning_rate, model)
    }
}

/// How many numbers an MLP of these widths learns.
fn mlp_parameters(sizes: &[usize]) -> usize {
    sizes.windows(2).map(|w| w[0] * w[1] + w[1]).sum()
}

/// An MLP's widths from input to output.
fn mlp_sizes(input: usize, hidden: &[usize], output: usize) -> Vec<usize> {
    [&[input], hidden, &[output]].concat()
}
