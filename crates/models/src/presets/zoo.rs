//! The presets that the page leaves out: published architectures at sizes that train on the data that comes along.

use super::train::AnyOptimizer;
use super::{Config, Decoder, LLAMA_HIDDEN, RESNET_SIDE, Task, VIT_PATCH, llama_key_heads};
use crate::data::{addition, digits};
use crate::{Gan, GanConfig, Llama, LlamaConfig, LstmLm, LstmLmConfig, ResNet, ResNetConfig, Vit, VitConfig};
use aludel_nn::{Init, MixedPrecision, Module, Upsample, UpsampleMode};
use aludel_tensor::{Result, Tensor, Tree};

// A preset has one of them: its size costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Tree)]
pub enum Zoo {
    /// Boxed: by far the largest.
    ResNet(Box<ResNet>),
    Vit(Vit),
    Gan(Gan),
    Llama(Llama),
    Lstm(LstmLm),
}

impl Zoo {
    /// The model of a task with fresh weights; `None` for a task of another model.
    pub fn new(init: &mut Init, config: &Config) -> Result<Option<Zoo>> {
        Ok(Some(match config.task {
            Task::ResNet { width } => {
                let config = ResNetConfig { width, channels: 1, classes: digits::CLASSES, ..ResNetConfig::resnet18() };
                Zoo::ResNet(Box::new(ResNet::new(init, &config)?))
            }
            Task::Vit { layers, width, heads } => Zoo::Vit(Vit::new(
                init,
                &VitConfig {
                    img_size: digits::SIDE,
                    patch_size: VIT_PATCH,
                    in_chans: 1,
                    num_classes: digits::CLASSES,
                    embed_dim: width,
                    depth: layers,
                    num_heads: heads,
                    ..VitConfig::vit_tiny()
                },
            )?),
            Task::Gan { noise, hidden } => Zoo::Gan(Gan::new(init, &GanConfig { noise, hidden, sample: digits::PIXELS })?),
            Task::Addition { decoder: Decoder::Llama, layers, width, heads, .. } => Zoo::Llama(Llama::new(
                init,
                &LlamaConfig {
                    vocab_size: addition::VOCABULARY_SIZE,
                    hidden_size: width,
                    intermediate_size: LLAMA_HIDDEN * width,
                    num_hidden_layers: layers,
                    num_attention_heads: heads,
                    num_key_value_heads: llama_key_heads(heads),
                    tie_word_embeddings: false,
                    ..LlamaConfig::smol()
                },
            )?),
            Task::Addition { decoder: Decoder::Lstm, layers, width, .. } => {
                let vocabulary = addition::VOCABULARY_SIZE;
                Zoo::Lstm(LstmLm::new(init, &LstmLmConfig { vocabulary, emsize: width, nhid: width, nlayers: layers, dropout: 0.0 })?)
            }
            _ => return Ok(None),
        }))
    }
}

impl Module for Zoo {
    /// As [`super::Model`]'s; the GAN gives how real each sample looks to it.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Zoo::ResNet(m) => {
                let larger = (RESNET_SIDE / digits::SIDE) as f64;
                m.forward(&Upsample::new(larger, UpsampleMode::Nearest)?.forward(x)?)
            }
            Zoo::Vit(m) => m.forward(x),
            Zoo::Gan(m) => m.discriminator.forward(x),
            Zoo::Llama(m) => m.forward(x),
            Zoo::Lstm(m) => m.forward(x),
        }
    }
}

/// One update of each player, the discriminator first; gives its loss. `optimizers` are the generator's and the discriminator's.
pub fn gan_step(
    gan: &mut Gan,
    optimizers: (&mut AnyOptimizer, &mut AnyOptimizer),
    amp: &mut MixedPrecision,
    (real, noise): &super::Batch,
) -> Result<Tensor> {
    let fake = amp.forward(|| gan.generator.forward(noise))?;
    let loss = amp.forward(|| gan.discriminator_loss(real, &fake))?;
    amp.step(&loss, optimizers.1, &mut gan.discriminator, AnyOptimizer::step)?;
    let passes = amp.forward(|| gan.generator_loss(&fake))?;
    amp.step(&passes, optimizers.0, &mut gan.generator, AnyOptimizer::step)?;
    Ok(loss)
}
