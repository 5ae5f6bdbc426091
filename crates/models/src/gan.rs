//! Generative adversarial networks: two models with an optimizer each, in one training step. Goodfellow et al., "Generative Adversarial
//! Nets", NIPS 2014, with the generator's loss that does not saturate.

use aludel_nn::{Activation, Init, Linear, Module, Optimizer, Sequential};
use aludel_tensor::{Result, Tensor, Tree};

/// Sizes of a [`Gan`] of two layers each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanConfig {
    /// Numbers of noise that a sample is made of.
    pub noise: usize,
    /// Width of the hidden layer of both models.
    pub hidden: usize,
    /// Numbers of a sample.
    pub sample: usize,
}

/// Both players; parameters are `generator.0.weight`, .., `discriminator.2.bias`.
#[derive(Clone, Tree)]
pub struct Gan {
    /// `[batch, noise]` to samples `[batch, sample]`.
    pub generator: Sequential,
    /// Samples to logits `[batch, 1]` of being real.
    pub discriminator: Sequential,
}

impl Gan {
    /// Both players, of two layers each, with fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero.
    pub fn new(init: &mut Init, config: &GanConfig) -> Result<Gan> {
        let &GanConfig { noise, hidden, sample } = config;
        let mut two = |sizes: [usize; 3], activation: Activation| -> Result<Sequential> {
            let (first, second) = (Linear::new(init, sizes[0], sizes[1])?, Linear::new(init, sizes[1], sizes[2])?);
            Ok(Sequential::new([first.into(), activation.into(), second.into()]))
        };
        Ok(Gan {
            generator: two([noise, hidden, sample], Activation::Relu)?,
            discriminator: two([sample, hidden, 1], Activation::LeakyRelu)?,
        })
    }

    /// The discriminator's loss: real samples are real, and those made of the noise are not. The generator is held fixed.
    ///
    /// # Errors
    ///
    /// When a sample does not have the discriminator's width.
    #[track_caller]
    pub fn discriminator_loss(&self, real: &Tensor, fake: &Tensor) -> Result<Tensor> {
        let (real, fake) = (self.discriminator.forward(real)?, self.discriminator.forward(&fake.detach())?);
        real.binary_cross_entropy_with_logits(&real.ones_like()?)?.add(&fake.binary_cross_entropy_with_logits(&fake.zeros_like()?)?)
    }

    /// The generator's loss: what it makes passes for real.
    ///
    /// # Errors
    ///
    /// When a sample does not have the discriminator's width.
    #[track_caller]
    pub fn generator_loss(&self, fake: &Tensor) -> Result<Tensor> {
        let logits = self.discriminator.forward(fake)?;
        logits.binary_cross_entropy_with_logits(&logits.ones_like()?)
    }
}

/// All that a step changes.
#[derive(Clone, Tree)]
pub struct GanTrain<O: Optimizer> {
    pub gan: Gan,
    /// Of the generator.
    pub generator: O,
    /// Of the discriminator.
    pub discriminator: O,
}

impl<O: Optimizer> GanTrain<O> {
    /// Makes an optimizer for each player: `GanTrain::new(gan, |m| AdamW::new(m, AdamConfig::default()))`.
    ///
    /// # Errors
    ///
    /// The optimizer's own.
    pub fn new(gan: Gan, optimizer: impl Fn(&Sequential) -> Result<O>) -> Result<GanTrain<O>> {
        Ok(GanTrain { generator: optimizer(&gan.generator)?, discriminator: optimizer(&gan.discriminator)?, gan })
    }

    /// One update of the discriminator, then one of the generator against the new discriminator; gives both losses, each before its
    /// update. Run as it is, it is the eager step; given to `compile`, both players are one graph.
    ///
    /// # Errors
    ///
    /// When samples or noise do not have the players' widths, and the optimizers' own.
    #[track_caller]
    pub fn step(&mut self, real: &Tensor, noise: &Tensor) -> Result<(Tensor, Tensor)> {
        let fake = self.gan.generator.forward(noise)?;
        let d = self.gan.discriminator_loss(real, &fake)?;
        self.discriminator.step(&mut self.gan.discriminator, &d.backward()?)?;
        let g = self.gan.generator_loss(&fake)?;
        self.generator.step(&mut self.gan.generator, &g.backward()?)?;
        Ok((d, g))
    }
}
