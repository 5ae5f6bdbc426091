//! A preset as something that trains: model, optimizer, the step that eager and compiled share, and batches.

use super::{Activation, Config, Optimizer, Task};
use crate::data::addition::{Addition, VOCABULARY_SIZE};
use crate::data::{Labelled, Sampler, digits};
use crate::{Autoencoder, Cnn, Gpt, Mlp};
use aludel_nn::{Adam, AdamConfig, AdamW, Init, MixedPrecision, Module, Optimizer as _, Sgd, SgdConfig};
use aludel_tensor::{Device, Gradients, Result, Tensor, Tree};

/// What a preset trains.
#[derive(Clone, Tree)]
pub enum Model {
    Mlp(Mlp),
    Cnn(Cnn),
    Autoencoder(Autoencoder),
    Gpt(Gpt),
}

impl Model {
    /// The model of a preset with fresh weights: the same for the same seed, on every device.
    pub fn new(config: &Config, device: &Device) -> Result<Model> {
        let init = &mut Init::new(device, config.seed);
        match &config.task {
            Task::Addition { layers, width, heads, context, .. } => {
                Ok(Model::Gpt(Gpt::new(init, VOCABULARY_SIZE, *context, *width, *layers, *heads)?))
            }
            Task::Cnn { channels } => Ok(Model::Cnn(Cnn::new(init, 1, *channels, digits::CLASSES)?)),
            Task::Autoencoder { channels } => Ok(Model::Autoencoder(Autoencoder::new(init, 1, *channels)?)),
            task => {
                let activation = match task {
                    Task::Points { activation, .. } => (*activation).into(),
                    _ => aludel_nn::Activation::Relu,
                };
                Ok(Model::Mlp(Mlp::new(init, &config.mlp_sizes().unwrap_or_default(), activation)?))
            }
        }
    }
}

impl Module for Model {
    /// Examples of [`Config::example_shape`] behind the batch to logits `[batch, classes]`, to images, or to logits
    /// `[batch, time, vocabulary]`.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Model::Mlp(m) => m.forward(x),
            Model::Cnn(m) => m.forward(x),
            Model::Autoencoder(m) => m.forward(x),
            Model::Gpt(m) => m.forward(x),
        }
    }
}

impl From<Activation> for aludel_nn::Activation {
    fn from(a: Activation) -> Self {
        match a {
            Activation::Relu => Self::Relu,
            Activation::Tanh => Self::Tanh,
            Activation::Gelu => Self::Gelu,
            Activation::Silu => Self::Silu,
            Activation::Sigmoid => Self::Sigmoid,
        }
    }
}

/// Any of the presets' optimizers.
#[derive(Clone, Tree)]
pub enum AnyOptimizer {
    Sgd(Sgd),
    Adam(Adam),
    AdamW(AdamW),
}

impl AnyOptimizer {
    fn new(config: &Config, model: &Model) -> Result<AnyOptimizer> {
        let lr = config.learning_rate;
        let adam = AdamConfig { lr, ..AdamConfig::default() };
        Ok(match config.optimizer {
            Optimizer::Sgd => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, ..SgdConfig::default() })?),
            Optimizer::Momentum => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, momentum: 0.9, ..SgdConfig::default() })?),
            Optimizer::Adam => AnyOptimizer::Adam(Adam::new(model, adam)?),
            Optimizer::AdamW => AnyOptimizer::AdamW(AdamW::new(model, adam)?),
        })
    }

    fn step(&mut self, model: &mut Model, gradients: &Gradients) -> Result<()> {
        match self {
            AnyOptimizer::Sgd(o) => o.step(model, gradients),
            AnyOptimizer::Adam(o) => o.step(model, gradients),
            AnyOptimizer::AdamW(o) => o.step(model, gradients),
        }
    }
}

/// All that a step changes.
#[derive(Clone, Tree)]
pub struct Train {
    pub model: Model,
    pub optimizer: AnyOptimizer,
    pub amp: MixedPrecision,
}

/// Inputs and targets of one step.
pub type Batch = (Tensor, Tensor);

impl Train {
    pub fn new(config: &Config, device: &Device) -> Result<Train> {
        let model = Model::new(config, device)?;
        let optimizer = AnyOptimizer::new(config, &model)?;
        Ok(Train { model, optimizer, amp: MixedPrecision::new(device, config.precision)? })
    }

    /// One training step, forward, backward and update; gives the loss before the update. Run as it is, it is the eager step; given to
    /// `compile`, it is captured whole.
    pub fn step(&mut self, (x, y): &Batch) -> Result<Tensor> {
        let Train { model, optimizer, amp } = self;
        let loss = amp.forward(|| {
            let logits = model.forward(x)?;
            match &*model {
                Model::Mlp(_) | Model::Cnn(_) => logits.cross_entropy(y),
                Model::Autoencoder(_) => logits.mse_loss(y),
                Model::Gpt(_) => {
                    let classes = logits.size(-1)?;
                    // Positions without a target count for nothing: `IGNORE` is cross-entropy's own default.
                    logits.reshape((-1, &classes))?.cross_entropy(&y.reshape([-1])?)
                }
            }
        })?;
        amp.step(&loss, optimizer, model, AnyOptimizer::step)?;
        Ok(loss)
    }
}

/// Where a preset's batches come from.
pub enum Source {
    Rows {
        data: Labelled,
        sampler: Sampler,
        /// Of one row.
        shape: Vec<usize>,
        /// Whether the target of a row is the row itself, and not its class.
        same: bool,
    },
    Addition {
        problems: Addition,
        batch: usize,
    },
}

impl Source {
    pub fn new(config: &Config) -> Source {
        let rows = |data: Labelled| {
            let sampler = Sampler::new(data.rows(), config.batch, config.seed);
            let same = matches!(config.task, Task::Autoencoder { .. });
            Source::Rows { data, sampler, shape: config.example_shape(), same }
        };
        match &config.task {
            Task::Points { data, .. } => rows(data.generate(config.seed).0),
            Task::Digits { .. } | Task::Cnn { .. } | Task::Autoencoder { .. } => rows(digits::split().0),
            Task::Addition { digits, context, .. } => {
                Source::Addition { problems: Addition { digits: *digits, context: *context, seed: config.seed }, batch: config.batch }
            }
        }
    }

    /// The batch of step `step`, counted from 0: the same for every source of one configuration.
    pub fn batch(&mut self, step: u64, device: &Device) -> Result<Batch> {
        match self {
            Source::Rows { data, sampler, shape, same } => {
                let rows = data.select(sampler.indices(step));
                let n = rows.rows();
                let x = Tensor::from_vec(device, rows.x, stacked(n, shape))?;
                let y = if *same { x.clone() } else { Tensor::from_vec(device, rows.y, [n])? };
                Ok((x, y))
            }
            Source::Addition { problems, batch } => {
                let rows = problems.batch(*batch, step);
                let shape = [*batch, rows.context];
                Ok((Tensor::from_vec(device, rows.x, shape)?, Tensor::from_vec(device, rows.y, shape)?))
            }
        }
    }
}

/// The shape of `n` examples.
pub(super) fn stacked(n: usize, shape: &[usize]) -> Vec<usize> {
    std::iter::once(n).chain(shape.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;
    use aludel_tensor::compile;

    /// Every preset and optimizer learns on the interpreter, and eager and compiled agree step by step.
    #[test]
    fn presets_learn() {
        let small = |p: Preset, optimizer: &str, lr: &str| {
            let mut fields: Vec<(&str, &str)> = vec![("optimizer", optimizer), ("batch", "16"), ("lr", lr)];
            match p {
                Preset::Points => fields.extend([("layers", "8"), ("data", "circles")]),
                Preset::Digits => fields.push(("layers", "16")),
                Preset::Cnn | Preset::Autoencoder => fields.push(("channels", "4, 4")),
                Preset::Addition => fields.extend([("digits", "1"), ("context", "6"), ("layers", "1"), ("width", "8"), ("heads", "2")]),
            }
            let fields: Vec<_> = fields.into_iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            Config::from_fields(p, &fields).unwrap()
        };
        let device = Device::interpreter();
        let cases = [
            (Preset::Points, "adamw", "0.02"),
            (Preset::Digits, "sgd", "0.3"),
            (Preset::Digits, "momentum", "0.03"),
            (Preset::Cnn, "adamw", "0.02"),
            (Preset::Autoencoder, "adam", "0.02"),
            (Preset::Addition, "adam", "0.02"),
        ];
        for (preset, optimizer, lr) in cases {
            let config = small(preset, optimizer, lr);
            let (mut eager, mut compiled) = (Train::new(&config, &device).unwrap(), Train::new(&config, &device).unwrap());
            let step = compile(|s: &mut Train, b: &Batch| s.step(b)).fullgraph(true);
            let (mut a, mut b) = (Source::new(&config), Source::new(&config));
            let mut losses = Vec::new();
            for k in 0..24 {
                let one = eager.step(&a.batch(k, &device).unwrap()).unwrap().item().unwrap();
                let two = step.call(&mut compiled, &b.batch(k, &device).unwrap()).unwrap().item().unwrap();
                assert!((one - two).abs() < 1e-4 * one.abs().max(1.0), "{preset:?} step {k}: eager {one}, compiled {two}");
                losses.push(one);
            }
            let mean = |l: &[f64]| l.iter().sum::<f64>() / l.len() as f64;
            assert!(mean(&losses[18..]) < mean(&losses[..6]), "{preset:?} with {optimizer} does not learn: {losses:?}");
            assert_eq!(step.compilations(), 1);
        }
    }

    #[test]
    fn parameters_are_as_many_as_said() {
        use aludel_nn::Parameters;
        for p in Preset::ALL {
            let config = Config::from_fields(p, &[]).unwrap();
            assert_eq!(Model::new(&config, &Device::interpreter()).unwrap().parameter_count(), config.parameters(), "{p:?}");
        }
    }
}
