//! Published models as workloads: their configurations, and what a step multiplies.

use aludel::models::{
    Autoencoder, BertConfig, BertForSequenceClassification, Gan, GanConfig, Llama, LlamaConfig, LstmLm, LstmLmConfig, ResNet, ResNetConfig,
    UNet, UNetConfig, Vgg, VggConfig, Vit, VitConfig,
};
use aludel::nn::{Init, Module};
use aludel::{Result, Tensor, Tree};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Zoo {
    Autoencoder,
    /// On small images.
    ResNet18,
    ResNet50,
    Vgg16,
    UNet,
    VitTiny,
    /// Two classes of sequences.
    Bert,
    /// A decoder with grouped queries.
    Llama,
    /// A recurrent language model.
    Lstm,
    /// Two models with an optimizer each.
    Gan,
}

/// What a model is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
    /// Images `[channels, height, width]` in so many classes.
    Images([usize; 3], usize),
    /// Images whose every pixel has a class.
    Pixels([usize; 3], usize),
    /// Images that are to be given back.
    Same([usize; 3]),
    /// So many tokens of so many, in so many classes.
    Sequences { vocabulary: usize, time: usize, classes: usize },
    /// The next token of each.
    Next { vocabulary: usize, time: usize },
    /// Samples, and noise to make others of.
    Samples { sample: usize, noise: usize },
}

/// Vectors as large as MNIST's images.
const GAN: GanConfig = GanConfig { noise: 100, hidden: 256, sample: 784 };

const IMAGENET: Data = Data::Images([3, 224, 224], 1000);

impl Zoo {
    pub fn describe(self) -> String {
        match self {
            Zoo::Autoencoder => "convolutional autoencoder of 1x28x28, 16 and 32 channels".into(),
            Zoo::ResNet18 => "ResNet-18 on 3x64x64, 1000 classes".into(),
            Zoo::ResNet50 => "ResNet-50 on 3x224x224, 1000 classes".into(),
            Zoo::Vgg16 => "VGG-16 with dropout on 3x224x224, 1000 classes".into(),
            Zoo::UNet => "U-Net from 64 channels on 3x128x128, 2 classes".into(),
            Zoo::VitTiny => "ViT-tiny with patches of 16 on 3x224x224, 1000 classes".into(),
            Zoo::Bert => "BERT-base with dropout, 128 tokens, 2 classes".into(),
            Zoo::Llama => "Llama of 135 million (SmolLM's sizes), 512 tokens".into(),
            Zoo::Lstm => "LSTM language model of 2 layers, width 650, with dropout, vocabulary 10000, 35 tokens".into(),
            Zoo::Gan => format!("GAN of two layers each, {} to {}, two optimizers", GAN.noise, GAN.sample),
        }
    }

    pub fn data(self) -> Data {
        match self {
            Zoo::Autoencoder => Data::Same([1, 28, 28]),
            Zoo::ResNet18 => Data::Images([3, 64, 64], 1000),
            Zoo::ResNet50 | Zoo::Vgg16 | Zoo::VitTiny => IMAGENET,
            Zoo::UNet => Data::Pixels([3, 128, 128], 2),
            Zoo::Bert => Data::Sequences { vocabulary: 30522, time: 128, classes: 2 },
            Zoo::Llama => Data::Next { vocabulary: 49152, time: 512 },
            Zoo::Lstm => Data::Next { vocabulary: 10_000, time: 35 },
            Zoo::Gan => Data::Samples { sample: GAN.sample, noise: GAN.noise },
        }
    }

    /// Multiplications of one example's forward pass.
    pub fn multiplications(self) -> f64 {
        match self {
            // 9 for each output of two convolutions and two transposed ones, as often as there are input channels.
            Zoo::Autoencoder => 9.0 * (14.0 * 14.0 * 16.0 + 7.0 * 7.0 * 32.0 * 16.0 + 7.0 * 7.0 * 32.0 * 16.0 + 14.0 * 14.0 * 16.0),
            // As torchvision's and timm's documentation lists them.
            // 1.81e9 at 224 by 224.
            Zoo::ResNet18 => 0.148e9,
            Zoo::ResNet50 => 4.09e9,
            Zoo::Vgg16 => 15.47e9,
            Zoo::VitTiny => 1.26e9,
            // 48.3e9 at 256 by 256.
            Zoo::UNet => 12.1e9,
            Zoo::Bert => 128.0 * 12.0 * (12.0 * 768.0 * 768.0 + 2.0 * 128.0 * 768.0),
            Zoo::Llama => 512.0 * (134.5e6 + 30.0 * 512.0 * 576.0),
            // All parameters but the embeddings.
            Zoo::Lstm => 35.0 * (19.78e6 - 6.5e6),
            // The generator once; the discriminator on what is real, and twice on what is not, once of that for the generator's sake.
            Zoo::Gan => (GAN.hidden * (GAN.noise + GAN.sample) + 3 * GAN.hidden * (GAN.sample + 1)) as f64,
        }
    }

    pub fn model(self, init: &mut Init) -> Result<Model> {
        Ok(match self {
            Zoo::Autoencoder => Model::Autoencoder(Autoencoder::new(init, 1, [16, 32])?),
            Zoo::ResNet18 => Model::ResNet(ResNet::new(init, &ResNetConfig::resnet18())?),
            Zoo::ResNet50 => Model::ResNet(ResNet::new(init, &ResNetConfig::resnet50())?),
            Zoo::Vgg16 => Model::Vgg(Vgg::new(init, &VggConfig::vgg16())?),
            Zoo::UNet => Model::UNet(UNet::new(init, &UNetConfig::standard())?),
            Zoo::VitTiny => Model::Vit(Vit::new(init, &VitConfig::vit_tiny())?),
            Zoo::Bert => Model::Bert(BertForSequenceClassification::new(init, &BertConfig::bert_base(), 2)?),
            Zoo::Llama => Model::Llama(Llama::new(init, &LlamaConfig::smol())?),
            Zoo::Lstm => Model::Lstm(LstmLm::new(init, &LstmLmConfig::medium())?),
            Zoo::Gan => Model::Gan(Gan::new(init, &GAN)?),
        })
    }

    pub fn drops(self) -> bool {
        matches!(self, Zoo::Vgg16 | Zoo::Bert | Zoo::Lstm)
    }
}

// One is made for a workload: its size costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Tree)]
pub enum Model {
    Autoencoder(Autoencoder),
    ResNet(ResNet),
    Vgg(Vgg),
    UNet(UNet),
    Vit(Vit),
    Bert(BertForSequenceClassification),
    Llama(Llama),
    Lstm(LstmLm),
    Gan(Gan),
}

impl Model {
    /// Of a GAN, the generator's: a step trains its two players in turn, and asks each for its own.
    pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        match self {
            Model::Autoencoder(m) => m.forward(x)?.mse_loss(y),
            Model::ResNet(m) => m.forward(x)?.cross_entropy(y),
            Model::Vgg(m) => m.forward(x)?.cross_entropy(y),
            Model::UNet(m) => m.forward(x)?.cross_entropy(y),
            Model::Vit(m) => m.forward(x)?.cross_entropy(y),
            Model::Bert(m) => m.forward(x)?.cross_entropy(y),
            Model::Llama(m) => m.loss(x, y),
            Model::Lstm(m) => m.loss(x, y),
            Model::Gan(m) => m.generator_loss(&m.generator.forward(y)?),
        }
    }
}
