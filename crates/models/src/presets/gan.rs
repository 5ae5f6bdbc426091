//! Two models, of which one makes digits and the other tells them from real ones.

use super::fields::{Field, Kind, MAX_WIDTH, Reader, field, with_training};
use super::{AnyOptimizer, Batch, Config, Exam, Source, Target, Task};
use crate::GanConfig;
use crate::data::digits::{PIXELS, TRAIN, split};
use aludel_nn::{Init, MixedPrecision, Module};
use aludel_tensor::{Error, Result, Tensor};
use serde::{Deserialize, Serialize};

/// Two layers each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Gan {
    noise: usize,
    hidden: usize,
}

impl Task for Gan {
    const KEY: &'static str = "digits-gan";
    const TITLE: &'static str = "GAN";
    const FIELDS: &'static [Field] = &with_training::<2, 6>(
        [field("noise", "Noise", "16", Kind::Integer), field("hidden", "Hidden units", "128", Kind::Integer)],
        "0.0005",
        "64",
    );
    const MAX_BATCH: usize = TRAIN;
    type Model = crate::Gan;

    fn read(r: &mut Reader) -> Gan {
        Gan { noise: r.integer("noise", 1, MAX_WIDTH), hidden: r.integer("hidden", 1, MAX_WIDTH) }
    }

    fn example_shape(&self) -> Vec<usize> {
        vec![PIXELS]
    }

    fn parameters(&self) -> usize {
        let (noise, h) = (self.noise, self.hidden);
        (noise * h + h) + (h * PIXELS + PIXELS) + (PIXELS * h + h) + (h + 1)
    }

    fn build(&self, init: &mut Init) -> Result<crate::Gan> {
        crate::Gan::new(init, &GanConfig { noise: self.noise, hidden: self.hidden, sample: PIXELS })
    }

    fn data(&self, config: &Config) -> Source {
        Source::rows(config, split().0, Target::Noise { width: self.noise, seed: config.seed })
    }

    fn exam(&self, _seed: u64) -> Option<Exam> {
        None
    }

    /// How real each sample looks to the discriminator.
    fn forward(model: &crate::Gan, x: &Tensor) -> Result<Tensor> {
        model.discriminator.forward(x)
    }

    /// The generator's and the discriminator's.
    fn optimizers(config: &Config, model: &crate::Gan) -> Result<(AnyOptimizer, Option<AnyOptimizer>)> {
        Ok((config.optimizer_of(&model.generator)?, Some(config.optimizer_of(&model.discriminator)?)))
    }

    /// One update of each player, the discriminator first; gives its loss.
    fn step(
        gan: &mut crate::Gan,
        optimizers: (&mut AnyOptimizer, Option<&mut AnyOptimizer>),
        amp: &mut MixedPrecision,
        (real, noise): &Batch,
    ) -> Result<Tensor> {
        let (of_generator, Some(of_discriminator)) = optimizers else {
            return Err(Error::invalid("digits-gan", "the discriminator has no optimizer", "make the run by Train::new"));
        };
        let fake = amp.forward(|| gan.generator.forward(noise))?;
        let loss = amp.forward(|| gan.discriminator_loss(real, &fake))?;
        amp.step(&loss, of_discriminator, &mut gan.discriminator, AnyOptimizer::step)?;
        let passes = amp.forward(|| gan.generator_loss(&fake))?;
        amp.step(&passes, of_generator, &mut gan.generator, AnyOptimizer::step)?;
        Ok(loss)
    }
}
