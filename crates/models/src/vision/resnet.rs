//! Residual networks, as `torchvision.models.resnet`: its parameter names, its initial values, its place for the stride (the 3 by 3
//! convolution of a bottleneck). He et al., "Deep Residual Learning for Image Recognition", CVPR 2016.

use super::kaiming_conv;
use aludel_nn::{AdaptiveAvgPool2d, BatchNorm2d, Conv2d, Init, Linear, MaxPool2d, Module, Sequential};
use aludel_tensor::{ConvOptions, Error, Result, Tensor, Tree};

/// Which block the stages are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResNetKind {
    /// Two convolutions of 3 by 3.
    Basic,
    /// 1 by 1 down, 3 by 3, 1 by 1 up to four times the width.
    Bottleneck,
}

impl ResNetKind {
    /// Channels that a block gives for each of its width.
    fn expansion(self) -> usize {
        match self {
            ResNetKind::Basic => 1,
            ResNetKind::Bottleneck => 4,
        }
    }
}

/// Sizes of a [`ResNet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResNetConfig {
    pub kind: ResNetKind,
    /// How many blocks each stage has; every stage after the first halves the image and doubles the width.
    pub layers: Vec<usize>,
    /// Channels of the stem, and width of the first stage.
    pub width: usize,
    /// Channels of the images.
    pub channels: usize,
    pub classes: usize,
}

impl ResNetConfig {
    /// torchvision's `resnet18`: 11,689,512 parameters.
    pub fn resnet18() -> Self {
        ResNetConfig { kind: ResNetKind::Basic, layers: vec![2, 2, 2, 2], width: 64, channels: 3, classes: 1000 }
    }

    /// torchvision's `resnet50`: 25,557,032 parameters.
    pub fn resnet50() -> Self {
        ResNetConfig { kind: ResNetKind::Bottleneck, layers: vec![3, 4, 6, 3], ..Self::resnet18() }
    }
}

/// A convolution without bias that keeps the size of the image, up to the stride.
fn conv(init: &mut Init, inputs: usize, outputs: usize, kernel: usize, stride: i64) -> Result<Conv2d> {
    let options = ConvOptions::default().stride(stride).padding((kernel / 2) as i64);
    Ok(kaiming_conv(init, inputs, outputs, kernel, options)?.without_bias())
}

/// What the input goes through where a block changes its shape.
fn downsample(init: &mut Init, inputs: usize, outputs: usize, stride: i64) -> Result<Option<Sequential>> {
    if stride == 1 && inputs == outputs {
        return Ok(None);
    }
    Ok(Some(Sequential(vec![conv(init, inputs, outputs, 1, stride)?.into(), BatchNorm2d::new(init, outputs)?.into()])))
}

fn shortcut(downsample: &Option<Sequential>, x: &Tensor) -> Result<Tensor> {
    match downsample {
        Some(d) => d.forward(x),
        None => Ok(x.clone()),
    }
}

/// Two convolutions of 3 by 3 with a residual connection.
#[derive(Clone, Tree)]
pub struct BasicBlock {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    conv2: Conv2d,
    bn2: BatchNorm2d,
    downsample: Option<Sequential>,
}

impl BasicBlock {
    /// From `inputs` to `width` channels, with fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, inputs: usize, width: usize, stride: i64) -> Result<BasicBlock> {
        Ok(BasicBlock {
            conv1: conv(init, inputs, width, 3, stride)?,
            bn1: BatchNorm2d::new(init, width)?,
            conv2: conv(init, width, width, 3, 1)?,
            bn2: BatchNorm2d::new(init, width)?,
            downsample: downsample(init, inputs, width, stride)?,
        })
    }
}

impl Module for BasicBlock {
    /// `[N, inputs, H, W]` to `[N, width, H / stride, W / stride]`.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.bn1.forward(&self.conv1.forward(x)?)?.relu()?;
        let y = self.bn2.forward(&self.conv2.forward(&y)?)?;
        y.add(&shortcut(&self.downsample, x)?)?.relu()
    }
}

/// Convolutions of 1 by 1, 3 by 3 and 1 by 1 with a residual connection.
#[derive(Clone, Tree)]
pub struct Bottleneck {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    conv2: Conv2d,
    bn2: BatchNorm2d,
    conv3: Conv2d,
    bn3: BatchNorm2d,
    downsample: Option<Sequential>,
}

impl Bottleneck {
    /// From `inputs` to four times `width` channels, with fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, inputs: usize, width: usize, stride: i64) -> Result<Bottleneck> {
        let outputs = width * ResNetKind::Bottleneck.expansion();
        Ok(Bottleneck {
            conv1: conv(init, inputs, width, 1, 1)?,
            bn1: BatchNorm2d::new(init, width)?,
            conv2: conv(init, width, width, 3, stride)?,
            bn2: BatchNorm2d::new(init, width)?,
            conv3: conv(init, width, outputs, 1, 1)?,
            bn3: BatchNorm2d::new(init, outputs)?,
            downsample: downsample(init, inputs, outputs, stride)?,
        })
    }
}

impl Module for Bottleneck {
    /// `[N, inputs, H, W]` to `[N, 4 width, H / stride, W / stride]`.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.bn1.forward(&self.conv1.forward(x)?)?.relu()?;
        let y = self.bn2.forward(&self.conv2.forward(&y)?)?.relu()?;
        let y = self.bn3.forward(&self.conv3.forward(&y)?)?;
        y.add(&shortcut(&self.downsample, x)?)?.relu()
    }
}

/// A block of either kind. Its tensors are elsewhere: what the smaller one wastes is a few hundred bytes.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Tree)]
pub enum ResNetBlock {
    Basic(BasicBlock),
    Bottleneck(Bottleneck),
}

impl ResNetBlock {
    fn new(init: &mut Init, kind: ResNetKind, inputs: usize, width: usize, stride: i64) -> Result<ResNetBlock> {
        Ok(match kind {
            ResNetKind::Basic => ResNetBlock::Basic(BasicBlock::new(init, inputs, width, stride)?),
            ResNetKind::Bottleneck => ResNetBlock::Bottleneck(Bottleneck::new(init, inputs, width, stride)?),
        })
    }
}

impl Module for ResNetBlock {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            ResNetBlock::Basic(b) => b.forward(x),
            ResNetBlock::Bottleneck(b) => b.forward(x),
        }
    }
}

/// A residual network; parameters are `conv1.weight`, `bn1.weight`, .., `layer1.0.conv1.weight`, .., `layer2.0.downsample.0.weight`, ..,
/// `fc.weight`.
#[derive(Clone, Tree)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    maxpool: MaxPool2d,
    layer1: Vec<ResNetBlock>,
    layer2: Vec<ResNetBlock>,
    layer3: Vec<ResNetBlock>,
    layer4: Vec<ResNetBlock>,
    avgpool: AdaptiveAvgPool2d,
    fc: Linear,
}

impl ResNet {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When there are not four stages of at least one block, a size is zero, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &ResNetConfig) -> Result<ResNet> {
        let ResNetConfig { kind, ref layers, width, channels, classes } = *config;
        let [one, two, three, four] = *layers.as_slice() else {
            return Err(Error::invalid("ResNet", format!("{} stages", layers.len()), "give the number of blocks of four stages"));
        };
        if layers.contains(&0) {
            return Err(Error::invalid("ResNet", format!("stages of {layers:?} blocks"), "give every stage at least one block"));
        }
        let mut inputs = width;
        let mut stage = |init: &mut Init, blocks: usize, width: usize, stride: i64| -> Result<Vec<ResNetBlock>> {
            (0..blocks)
                .map(|i| {
                    let block = ResNetBlock::new(init, kind, inputs, width, if i == 0 { stride } else { 1 })?;
                    inputs = width * kind.expansion();
                    Ok(block)
                })
                .collect()
        };
        Ok(ResNet {
            conv1: conv(init, channels, width, 7, 2)?,
            bn1: BatchNorm2d::new(init, width)?,
            maxpool: MaxPool2d::new(3).stride(2).padding(1),
            layer1: stage(init, one, width, 1)?,
            layer2: stage(init, two, 2 * width, 2)?,
            layer3: stage(init, three, 4 * width, 2)?,
            layer4: stage(init, four, 8 * width, 2)?,
            avgpool: AdaptiveAvgPool2d::new(1),
            fc: Linear::new(init, 8 * width * kind.expansion(), classes)?,
        })
    }
}

impl Module for ResNet {
    /// `[N, channels, H, W]` to logits `[N, classes]`; height and width are at least 1, and 224 where weights were published.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = self.maxpool.forward(&self.bn1.forward(&self.conv1.forward(x)?)?.relu()?)?;
        for block in [&self.layer1, &self.layer2, &self.layer3, &self.layer4].into_iter().flatten() {
            x = block.forward(&x)?;
        }
        self.fc.forward(&self.avgpool.forward(&x)?.flatten(1, -1)?)
    }
}
