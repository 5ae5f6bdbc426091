//! Plain deep convolutional networks, as `torchvision.models.vgg`: its parameter names and initial values. Simonyan and Zisserman, "Very
//! Deep Convolutional Networks for Large-Scale Image Recognition", ICLR 2015.

use super::kaiming_conv;
use aludel_nn::{Activation, AdaptiveAvgPool2d, Dropout, Init, Layer, Linear, MaxPool2d, Module, Sequential};
use aludel_tensor::{ConvOptions, Error, Result, Tensor, Tree};

/// Sizes of a [`Vgg`].
#[derive(Clone, Debug, PartialEq)]
pub struct VggConfig {
    /// The channels after each convolution of each stage; a stage ends with pooling.
    pub stages: Vec<Vec<usize>>,
    /// Rows and columns of the image that the classifier sees.
    pub pooled: usize,
    /// Width of the classifier's two hidden layers.
    pub hidden: usize,
    /// Probability of a zero after each of them, while training.
    pub dropout: f64,
    /// Channels of the images.
    pub channels: usize,
    pub classes: usize,
}

impl VggConfig {
    /// torchvision's `vgg16`: 138,357,544 parameters.
    pub fn vgg16() -> Self {
        let stages = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)];
        let stages = stages.into_iter().map(|(n, width)| vec![width; n]).collect();
        VggConfig { stages, pooled: 7, hidden: 4096, dropout: 0.5, channels: 3, classes: 1000 }
    }
}

/// Parameters are `features.0.weight`, `features.2.weight`, .., `classifier.0.weight`, `classifier.3.weight`, `classifier.6.weight`.
#[derive(Clone, Tree)]
pub struct Vgg {
    features: Sequential,
    avgpool: AdaptiveAvgPool2d,
    classifier: Sequential,
}

impl Vgg {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero, the dropout is no probability, or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &VggConfig) -> Result<Vgg> {
        let &VggConfig { ref stages, pooled, hidden, dropout, channels, classes } = config;
        let mut features: Vec<Layer> = Vec::new();
        let mut inputs = channels;
        for stage in stages {
            for &outputs in stage {
                let mut conv = kaiming_conv(init, inputs, outputs, 3, ConvOptions::default().padding(1))?;
                conv.bias = Some(init.zeros([outputs])?);
                features.extend([conv.into(), Activation::Relu.into()]);
                inputs = outputs;
            }
            features.push(MaxPool2d::new(2).into());
        }
        let size = i64::try_from(pooled).unwrap_or(i64::MAX);
        let mut linear = |inputs: usize, outputs: usize| -> Result<Layer> {
            let mut layer = Linear::new(init, inputs, outputs)?;
            layer.weight = init.normal_std([outputs, inputs], 0.01)?;
            layer.bias = Some(init.zeros([outputs])?);
            Ok(layer.into())
        };
        let flat = pooled.checked_mul(pooled).and_then(|n| n.checked_mul(inputs));
        let flat =
            flat.ok_or_else(|| Error::invalid("Vgg", format!("pooled is {pooled}"), "give the rows of the pooled image, such as 7"))?;
        let classifier = vec![
            linear(flat, hidden)?,
            Activation::Relu.into(),
            Dropout::new(dropout)?.into(),
            linear(hidden, hidden)?,
            Activation::Relu.into(),
            Dropout::new(dropout)?.into(),
            linear(hidden, classes)?,
        ];
        Ok(Vgg { features: Sequential(features), avgpool: AdaptiveAvgPool2d::new(size), classifier: Sequential(classifier) })
    }
}

impl Module for Vgg {
    /// `[N, channels, H, W]` to logits `[N, classes]`. Errors in training with dropout outside of a generator's scope.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.avgpool.forward(&self.features.forward(x)?)?;
        self.classifier.forward(&x.flatten(1, -1)?)
    }
}
