//! The training steps that are measured and explained: models of fixed sizes on random data, all with AdamW.

pub mod sharded;
mod zoo;

use crate::device::Kind;
use aludel::distributed::Member;
use aludel::models::{Gpt, LeNet, Mlp};
use aludel::nn::{Activation, AdamConfig, AdamW, Generator, Init, MixedPrecision, Module, Optimizer, Precision};
use aludel::{Device, Result, Tensor, Tree};
use zoo::{Data, Zoo};

/// One of the workloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    pub name: &'static str,
    shape: Shape,
    /// Examples of one step.
    pub batch: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// Sizes of the layers from input to output, ReLU between them.
    Mlp(&'static [usize]),
    /// Two convolutions on images of 28 by 28, each pooled, and two linear layers.
    Cnn,
    /// A decoder of pre-LN blocks with GELU by tanh.
    Gpt { vocabulary: usize, context: usize, width: usize, layers: usize, heads: usize },
    /// A published model.
    Zoo(Zoo),
}

const fn gpt(name: &'static str, batch: usize, [vocabulary, context, width, layers, heads]: [usize; 5]) -> Workload {
    Workload { name, shape: Shape::Gpt { vocabulary, context, width, layers, heads }, batch }
}

const fn zoo(name: &'static str, batch: usize, model: Zoo) -> Workload {
    Workload { name, shape: Shape::Zoo(model), batch }
}

/// Digits.
const CLASSES: usize = 10;

/// All workloads, the small first.
pub const ALL: [Workload; 16] = [
    Workload { name: "tiny", shape: Shape::Mlp(&[64, 128, 128, 10]), batch: 64 },
    Workload { name: "mlp", shape: Shape::Mlp(&[784, 1024, 1024, 10]), batch: 1024 },
    Workload { name: "cnn", shape: Shape::Cnn, batch: 256 },
    gpt("tinygpt", 8, [64, 32, 64, 2, 4]),
    gpt("chargpt", 64, [65, 256, 384, 6, 6]),
    gpt("gpt2", 8, [50304, 1024, 768, 12, 12]),
    zoo("autoenc", 256, Zoo::Autoencoder),
    zoo("gan", 128, Zoo::Gan),
    zoo("lstm", 20, Zoo::Lstm),
    zoo("resnet18", 32, Zoo::ResNet18),
    zoo("vit", 64, Zoo::VitTiny),
    zoo("unet", 8, Zoo::UNet),
    zoo("bert", 64, Zoo::Bert),
    zoo("llama", 8, Zoo::Llama),
    zoo("resnet50", 128, Zoo::ResNet50),
    zoo("vgg16", 64, Zoo::Vgg16),
];

/// PyTorch's scripts train with this; it changes no time.
pub const LEARNING_RATE: f64 = 1e-4;

/// Any of the workloads' models.
#[derive(Clone, Tree)]
pub enum Model {
    Mlp(Mlp),
    Cnn(LeNet),
    Gpt(Gpt),
    Zoo(Box<zoo::Model>),
}

impl Model {
    /// A scalar to make small.
    pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        match self {
            Model::Mlp(m) => m.forward(x)?.cross_entropy(y),
            Model::Cnn(m) => m.forward(x)?.cross_entropy(y),
            Model::Gpt(m) => m.loss(x, y),
            Model::Zoo(m) => m.loss(x, y),
        }
    }
}

/// All that a step changes.
#[derive(Clone, Tree)]
pub struct Train {
    pub model: Model,
    optimizer: AdamW,
    /// Of a GAN's discriminator; the other one is its generator's.
    pub adversary: Option<AdamW>,
    pub amp: MixedPrecision,
    /// Of models with dropout.
    pub generator: Option<Generator>,
}

/// Inputs and targets.
pub type Batch = (Tensor, Tensor);

impl Train {
    /// Forward, backward and update; gives the loss before the update.
    pub fn step(&mut self, (x, y): &Batch) -> Result<Tensor> {
        let Train { model, optimizer, adversary, amp, generator } = self;
        if let (Model::Zoo(model), Some(adversary)) = (&mut *model, adversary)
            && let zoo::Model::Gan(gan) = &mut **model
        {
            let fake = amp.forward(|| gan.generator.forward(y))?;
            let loss = amp.forward(|| gan.discriminator_loss(x, &fake))?;
            amp.step(&loss, adversary, &mut gan.discriminator, |o, m, g| o.step(m, g))?;
            let passed = amp.forward(|| gan.generator_loss(&fake))?;
            amp.step(&passed, optimizer, &mut gan.generator, |o, m, g| o.step(m, g))?;
            return loss.add(&passed);
        }
        let loss = || model.loss(x, y);
        let loss = amp.forward(|| match generator {
            Some(generator) => generator.scope(loss),
            None => loss(),
        })?;
        amp.step(&loss, optimizer, model, |o, m, g| o.step(m, g))?;
        Ok(loss)
    }
}

impl Workload {
    /// The workload of a name as it is run on a kind of device: `chargpt` takes a batch of 4 where a CPU computes.
    pub fn find(name: &str, on_cpu: bool) -> Option<Workload> {
        let found = ALL.into_iter().find(|w| w.name == name)?;
        Some(if on_cpu && name == "chargpt" { Workload { batch: 4, ..found } } else { found })
    }

    /// What is trained: `784-1024-1024-10, batch 1024`.
    pub fn describe(&self) -> String {
        match self.shape {
            Shape::Mlp(sizes) => {
                let sizes: Vec<_> = sizes.iter().map(|s| s.to_string()).collect();
                format!("MLP {}, batch {}", sizes.join("-"), self.batch)
            }
            Shape::Cnn => format!("CNN 1x28x28, 32 and 64 channels, 128, {CLASSES}, batch {}", self.batch),
            Shape::Gpt { vocabulary, context, width, layers, heads } => {
                format!(
                    "GPT of {layers} layers, width {width}, {heads} heads, vocabulary {vocabulary}, context {context}, batch {}",
                    self.batch
                )
            }
            Shape::Zoo(zoo) => format!("{}, batch {}", zoo.describe(), self.batch),
        }
    }

    /// About how many floating-point operations a step takes: two for each parameter and example forward, twice that backward.
    pub fn flops(&self) -> f64 {
        match self.shape {
            Shape::Mlp(sizes) => 6.0 * self.batch as f64 * sizes.windows(2).map(|w| (w[0] * w[1]) as f64).sum::<f64>(),
            Shape::Cnn => {
                let (first, second) = ((28 * 28 * 32 * 9) as f64, (14 * 14 * 64 * 9 * 32) as f64);
                6.0 * self.batch as f64 * (first + second + (64 * 7 * 7 * 128 + 128 * CLASSES) as f64)
            }
            Shape::Gpt { vocabulary, context, width, layers, .. } => {
                let (v, t, d, l) = (vocabulary as f64, context as f64, width as f64, layers as f64);
                let per_token = l * 12.0 * d * d + v * d + l * 2.0 * t * d;
                6.0 * self.batch as f64 * t * per_token
            }
            Shape::Zoo(zoo) => 6.0 * self.batch as f64 * zoo.multiplications(),
        }
    }

    /// The model with fresh weights, and its optimizer.
    pub fn train(&self, device: &Device, precision: Precision) -> Result<Train> {
        self.train_of(&mut Init::new(device, 0), precision)
    }

    /// As [`Workload::train`], on one of several ranks: batches are normalized over all of them.
    pub fn train_among(&self, member: &Member, device: &Device, precision: Precision) -> Result<Train> {
        self.train_of(&mut Init::new(device, 0).synchronized(member), precision)
    }

    fn train_of(&self, init: &mut Init, precision: Precision) -> Result<Train> {
        let device = &init.device().clone();
        let model = match self.shape {
            Shape::Mlp(sizes) => Model::Mlp(Mlp::new(init, sizes, Activation::Relu)?),
            Shape::Cnn => Model::Cnn(LeNet::new(init, CLASSES)?),
            Shape::Gpt { vocabulary, context, width, layers, heads } => {
                Model::Gpt(Gpt::new(init, vocabulary, context, width, layers, heads)?)
            }
            Shape::Zoo(zoo) => Model::Zoo(Box::new(zoo.model(init)?)),
        };
        let generator = match self.shape {
            Shape::Zoo(zoo) if zoo.drops() => Some(Generator::new(device, 0)?),
            _ => None,
        };
        let config = AdamConfig { lr: LEARNING_RATE, ..AdamConfig::default() };
        let (optimizer, adversary) = match &model {
            Model::Zoo(m) => match &**m {
                zoo::Model::Gan(gan) => (AdamW::new(&gan.generator, config)?, Some(AdamW::new(&gan.discriminator, config)?)),
                other => (AdamW::new(other, config)?, None),
            },
            other => (AdamW::new(other, config)?, None),
        };
        Ok(Train { optimizer, adversary, amp: MixedPrecision::new(device, precision)?, model, generator })
    }

    /// A batch of random data.
    pub fn data(&self, device: &Device) -> Result<Batch> {
        let ids = |n: usize, below: usize| (0..n).map(|i| ((i * 2_654_435_761) >> 7) % below).map(|i| i as i32).collect::<Vec<i32>>();
        let b = self.batch;
        match self.shape {
            Shape::Mlp(sizes) => {
                let (inputs, classes) = (sizes[0], sizes[sizes.len() - 1]);
                Ok((Tensor::randn(device, [b, inputs], 1)?, Tensor::from_vec(device, ids(b, classes), [b])?))
            }
            Shape::Cnn => Ok((Tensor::randn(device, [b, 1, 28, 28], 1)?, Tensor::from_vec(device, ids(b, CLASSES), [b])?)),
            Shape::Gpt { vocabulary, context, .. } => {
                let ids = ids(b * context + 1, vocabulary);
                let shape = [b, context];
                Ok((Tensor::from_slice(device, &ids[..b * context], shape)?, Tensor::from_slice(device, &ids[1..], shape)?))
            }
            Shape::Zoo(zoo) => {
                let images = |[c, h, w]: [usize; 3], seed| Tensor::randn(device, [b, c, h, w], seed);
                let whole = |n: usize, below: usize, shape: &[usize]| Tensor::from_vec(device, ids(n, below), shape);
                Ok(match zoo.data() {
                    Data::Images(shape, classes) => (images(shape, 1)?, whole(b, classes, &[b])?),
                    Data::Pixels([c, h, w], classes) => (images([c, h, w], 1)?, whole(b * h * w, classes, &[b, h, w])?),
                    Data::Samples { sample, noise } => (Tensor::randn(device, [b, sample], 1)?, Tensor::randn(device, [b, noise], 2)?),
                    Data::Same(shape) => (images(shape, 1)?, images(shape, 1)?),
                    Data::Sequences { vocabulary, time, classes } => (whole(b * time, vocabulary, &[b, time])?, whole(b, classes, &[b])?),
                    Data::Next { vocabulary, time } => {
                        let ids = ids(b * time + 1, vocabulary);
                        let shape = [b, time];
                        (Tensor::from_slice(device, &ids[..b * time], shape)?, Tensor::from_slice(device, &ids[1..], shape)?)
                    }
                })
            }
        }
    }
}

/// Floating-point operations per second that may be expected of a device, to tell what would take minutes there.
pub fn rough_rate(kind: Kind, software: bool) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
    match kind {
        Kind::Interp => 1e9,
        Kind::Cpu => 20e9 * cores,
        Kind::Wgpu if software => 1.5e9 * cores,
        Kind::Wgpu | Kind::Cuda(_) => 5e12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_published_ones() {
        use aludel::nn::Parameters;
        let device = Device::interpreter();
        let count = |name: &str| Workload::find(name, false).unwrap().train(&device, Precision::F32).unwrap().model.parameter_count();
        assert_eq!(count("tiny"), 26_122);
        assert_eq!(count("mlp"), 1_863_690);
        assert_eq!(count("cnn"), 421_642);
        // PyTorch's and torchvision's; no number of them is made here.
        assert_eq!(count("resnet18"), 11_689_512);
        assert_eq!(count("resnet50"), 25_557_032);
        assert_eq!(count("vgg16"), 138_357_544);
        assert_eq!(count("bert"), 109_483_778);
        assert_eq!(count("llama"), 134_515_008);
        assert_eq!(count("vit"), 5_717_416);
        assert_eq!(count("unet"), 31_037_698);
        assert_eq!(count("lstm"), 19_780_400);
        assert_eq!(count("gan"), 100 * 256 + 256 + 256 * 784 + 784 + 784 * 256 + 256 + 256 + 1);
        assert_eq!(Workload::find("chargpt", true).unwrap().batch, 4);
        // 6 flops for each of the parameters of the products, and example.
        let tiny = Workload::find("tiny", false).unwrap();
        assert_eq!(tiny.flops(), 6.0 * 64.0 * (64.0 * 128.0 + 128.0 * 128.0 + 1280.0));
    }
}
