//! A preset as something that trains: model, optimizer, the step that eager and compiled share, and batches.

#[cfg(feature = "zoo")]
use super::zoo::{Zoo, gan_step};
use super::{Activation, Config, Decoder, Optimizer, Task};
use crate::data::addition::{Addition, VOCABULARY_SIZE};
use crate::data::{Labelled, Sampler, digits};
use crate::{Autoencoder, Cnn, Gpt, Mlp};
use aludel_nn::{Adam, AdamConfig, AdamW, Init, MixedPrecision, Module, Optimizer as _, Sgd, SgdConfig};
use aludel_tensor::{Device, Error, Gradients, Result, Tensor, Tree};

/// What a preset trains.
#[derive(Clone, Tree)]
pub enum Model {
    Mlp(Mlp),
    Cnn(Cnn),
    Autoencoder(Autoencoder),
    Gpt(Gpt),
    #[cfg(feature = "zoo")]
    Zoo(Zoo),
}

impl Model {
    /// The model of a preset with fresh weights: the same for the same seed, on every device.
    ///
    /// # Errors
    ///
    /// When the model is no part of this build (see the feature `zoo`), or the device cannot hold its parameters.
    pub fn new(config: &Config, device: &Device) -> Result<Model> {
        let init = &mut Init::new(device, config.seed);
        #[cfg(feature = "zoo")]
        if let Some(model) = Zoo::new(init, config)? {
            return Ok(Model::Zoo(model));
        }
        match &config.task {
            Task::Addition { layers, width, heads, context, decoder: Decoder::Gpt, .. } => {
                Ok(Model::Gpt(Gpt::new(init, VOCABULARY_SIZE, *context, *width, *layers, *heads)?))
            }
            Task::Cnn { channels } => Ok(Model::Cnn(Cnn::new(init, 1, *channels, digits::CLASSES)?)),
            Task::Autoencoder { channels } => Ok(Model::Autoencoder(Autoencoder::new(init, 1, *channels)?)),
            task => {
                let activation = match task {
                    Task::Points { activation, .. } => (*activation).into(),
                    _ => aludel_nn::Activation::Relu,
                };
                let Some(sizes) = config.mlp_sizes() else {
                    let problem = "its model is not part of this build";
                    return Err(Error::invalid(config.preset().key(), problem, "build with the feature `zoo`"));
                };
                Ok(Model::Mlp(Mlp::new(init, &sizes, activation)?))
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
            #[cfg(feature = "zoo")]
            Model::Zoo(m) => m.forward(x),
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
    fn new<T: Tree + ?Sized>(config: &Config, model: &T) -> Result<AnyOptimizer> {
        let lr = config.learning_rate;
        let adam = AdamConfig { lr, ..AdamConfig::default() };
        Ok(match config.optimizer {
            Optimizer::Sgd => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, ..SgdConfig::default() })?),
            Optimizer::Momentum => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, momentum: 0.9, ..SgdConfig::default() })?),
            Optimizer::Adam => AnyOptimizer::Adam(Adam::new(model, adam)?),
            Optimizer::AdamW => AnyOptimizer::AdamW(AdamW::new(model, adam)?),
        })
    }

    pub(super) fn step<T: Tree + ?Sized>(&mut self, model: &mut T, gradients: &Gradients) -> Result<()> {
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
    /// Of the discriminator, where there is one: the other is the generator's then.
    #[cfg(feature = "zoo")]
    pub second_optimizer: Option<AnyOptimizer>,
    pub amp: MixedPrecision,
}

/// Inputs and targets of one step.
pub type Batch = (Tensor, Tensor);

impl Train {
    /// The model and its optimizer before the first step.
    ///
    /// # Errors
    ///
    /// As [`Model::new`], and when the device cannot hold the optimizer's state.
    pub fn new(config: &Config, device: &Device) -> Result<Train> {
        let model = Model::new(config, device)?;
        #[cfg(feature = "zoo")]
        let second_optimizer = match &model {
            Model::Zoo(Zoo::Gan(gan)) => Some(AnyOptimizer::new(config, &gan.discriminator)?),
            _ => None,
        };
        Ok(Train {
            optimizer: match &model {
                #[cfg(feature = "zoo")]
                Model::Zoo(Zoo::Gan(gan)) => AnyOptimizer::new(config, &gan.generator)?,
                model => AnyOptimizer::new(config, model)?,
            },
            model,
            #[cfg(feature = "zoo")]
            second_optimizer,
            amp: MixedPrecision::new(device, config.precision)?,
        })
    }

    /// One training step, forward, backward and update; gives the loss before the update. Run as it is, it is the eager step; given to
    /// `compile`, it is captured whole.
    ///
    /// # Errors
    ///
    /// When the batch is not one of the preset's [`Source`], and what the operators [say](aludel_tensor#when-an-operator-fails).
    pub fn step(&mut self, (x, y): &Batch) -> Result<Tensor> {
        #[cfg(feature = "zoo")]
        if let (Model::Zoo(Zoo::Gan(gan)), Some(second)) = (&mut self.model, &mut self.second_optimizer) {
            return gan_step(gan, (&mut self.optimizer, second), &mut self.amp, &(x.clone(), y.clone()));
        }
        let Train { model, optimizer, amp, .. } = self;
        let loss = amp.forward(|| {
            let logits = model.forward(x)?;
            // Images for images, classes for rows, or a token for each position.
            if logits.rank() == x.rank() && x.rank() > 2 {
                return logits.mse_loss(y);
            }
            let classes = logits.size(-1)?;
            // Positions without a target count for nothing: `IGNORE` is cross-entropy's own default.
            if logits.rank() == 3 { logits.reshape((-1, &classes))?.cross_entropy(&y.reshape([-1])?) } else { logits.cross_entropy(y) }
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
        target: Target,
    },
    Addition {
        problems: Addition,
        batch: usize,
    },
}

/// What comes beside a row.
pub enum Target {
    Class,
    /// The row itself.
    Same,
    /// So many numbers of a normal distribution, other ones at every step.
    Noise {
        width: usize,
        seed: u64,
    },
}

impl Source {
    pub fn new(config: &Config) -> Source {
        let rows = |data: Labelled| {
            let sampler = Sampler::new(data.rows(), config.batch, config.seed);
            let target = match config.task {
                Task::Autoencoder { .. } => Target::Same,
                Task::Gan { noise, .. } => Target::Noise { width: noise, seed: config.seed },
                _ => Target::Class,
            };
            Source::Rows { data, sampler, shape: config.example_shape(), target }
        };
        match &config.task {
            Task::Points { data, .. } => rows(data.generate(config.seed).0),
            Task::Digits { .. }
            | Task::Cnn { .. }
            | Task::Autoencoder { .. }
            | Task::ResNet { .. }
            | Task::Vit { .. }
            | Task::Gan { .. } => rows(digits::split().0),
            Task::Addition { digits, context, .. } => {
                Source::Addition { problems: Addition { digits: *digits, context: *context, seed: config.seed }, batch: config.batch }
            }
        }
    }

    /// The batch of step `step`, counted from 0: the same for every source of one configuration.
    ///
    /// # Errors
    ///
    /// When the device cannot hold the batch.
    pub fn batch(&mut self, step: u64, device: &Device) -> Result<Batch> {
        match self {
            Source::Rows { data, sampler, shape, target } => {
                let rows = data.select(sampler.indices(step));
                let n = rows.rows();
                let x = Tensor::from_vec(device, rows.x, stacked(n, shape))?;
                let y = match target {
                    Target::Class => Tensor::from_vec(device, rows.y, [n])?,
                    Target::Same => x.clone(),
                    Target::Noise { width, seed } => Tensor::randn(device, [n, *width], Tensor::fold_seed(*seed, step))?,
                };
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
                Preset::ResNet => fields.push(("width", "4")),
                Preset::Vit => fields.extend([("layers", "1"), ("width", "8"), ("heads", "2")]),
                Preset::Gan => fields.extend([("noise", "4"), ("hidden", "16")]),
                Preset::Lstm => fields.extend([("digits", "1"), ("context", "6"), ("width", "16")]),
                Preset::Addition | Preset::Llama => {
                    fields.extend([("digits", "1"), ("context", "6"), ("layers", "1"), ("width", "8"), ("heads", "2")])
                }
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
            (Preset::ResNet, "adamw", "0.01"),
            (Preset::Vit, "adamw", "0.003"),
            (Preset::Gan, "adam", "0.002"),
            (Preset::Llama, "adam", "0.02"),
            (Preset::Lstm, "adam", "0.02"),
        ];
        let cases = cases.into_iter().filter(|(p, ..)| Preset::ALL.contains(p));
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
        for &p in Preset::ALL {
            let config = Config::from_fields(p, &[]).unwrap();
            assert_eq!(Model::new(&config, &Device::interpreter()).unwrap().parameter_count(), config.parameters(), "{p:?}");
        }
    }
}
