//! A preset as something that trains: model, optimizer, and the step that eager and compiled share.

use super::{AnyOptimizer, Config, Model};
use aludel_nn::MixedPrecision;
use aludel_tensor::{Device, Result, Tensor, Tree};

/// All that a step changes.
#[derive(Clone, Tree)]
pub struct Train {
    pub model: Model,
    pub optimizer: AnyOptimizer,
    /// Of the second player, where there are two.
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
        let (optimizer, second_optimizer) = model.optimizers(config)?;
        Ok(Train { model, optimizer, second_optimizer, amp: MixedPrecision::new(device, config.precision)? })
    }

    /// One training step, forward, backward and update; gives the loss before the update. Run as it is, it is the eager step; given to
    /// `compile`, it is captured whole.
    ///
    /// # Errors
    ///
    /// When the batch is not one of the preset's [`Source`](super::Source), and what the operators
    /// [say](aludel_tensor#when-an-operator-fails).
    pub fn step(&mut self, batch: &Batch) -> Result<Tensor> {
        self.model.step((&mut self.optimizer, self.second_optimizer.as_mut()), &mut self.amp, batch)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Preset, Source};
    use super::*;
    use aludel_tensor::compile;

    /// Every preset and optimizer learns on the interpreter, and eager and compiled agree step by step.
    #[test]
    fn presets_learn() {
        let small = |p: Preset, optimizer: &str, lr: &str| {
            let mut fields: Vec<(&str, &str)> = vec![("optimizer", optimizer), ("batch", "16"), ("lr", lr)];
            fields.extend_from_slice(match p.key() {
                "points" => &[("layers", "8"), ("data", "circles")],
                "digits" => &[("layers", "16")],
                "digits-cnn" | "autoencoder" => &[("channels", "4, 4")],
                "digits-resnet" => &[("width", "4")],
                "digits-vit" => &[("layers", "1"), ("width", "8"), ("heads", "2")],
                "digits-gan" => &[("noise", "4"), ("hidden", "16")],
                "addition-lstm" => &[("digits", "1"), ("context", "6"), ("width", "16")],
                _ => &[("digits", "1"), ("context", "6"), ("layers", "1"), ("width", "8"), ("heads", "2")],
            });
            let fields: Vec<_> = fields.into_iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            Config::from_fields(p, &fields).unwrap()
        };
        let device = Device::interpreter();
        let cases = [
            ("points", "adamw", "0.02"),
            ("digits", "sgd", "0.3"),
            ("digits", "momentum", "0.03"),
            ("digits-cnn", "adamw", "0.02"),
            ("autoencoder", "adam", "0.02"),
            ("addition", "adam", "0.02"),
            ("digits-resnet", "adamw", "0.01"),
            ("digits-vit", "adamw", "0.003"),
            ("digits-gan", "adam", "0.002"),
            ("addition-llama", "adam", "0.02"),
            ("addition-lstm", "adam", "0.02"),
        ];
        // Those of the feature `zoo` are absent without it.
        let cases = cases.into_iter().filter_map(|(key, o, lr)| Some((Preset::from_key(key)?, o, lr)));
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
