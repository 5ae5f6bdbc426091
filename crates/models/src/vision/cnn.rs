//! Small convolutional networks for small images.

use aludel_nn::{
    Activation, AdaptiveAvgPool2d, BatchNorm2d, Conv2d, ConvTranspose2d, Flatten, Init, Linear, MaxPool2d, Module, Sequential,
};
use aludel_tensor::{ConvOptions, Result, Tensor, Tree};

/// Two convolutions with batch normalization, pooled to one pixel, and a linear layer; parameters are named as in a
/// `torch.nn.Sequential` (`0.weight`, `1.running_mean`, ..).
#[derive(Clone, Tree)]
pub struct Cnn(Sequential);

impl Cnn {
    /// `widths` are the channels after the first and the second convolution.
    ///
    /// # Errors
    ///
    /// When a size is zero.
    pub fn new(init: &mut Init, channels: usize, widths: [usize; 2], classes: usize) -> Result<Cnn> {
        let same = || ConvOptions::default().padding(1);
        Ok(Cnn(Sequential(vec![
            Conv2d::new(init, channels, widths[0], 3, same())?.into(),
            BatchNorm2d::new(init, widths[0])?.into(),
            Activation::Relu.into(),
            MaxPool2d::new(2).into(),
            Conv2d::new(init, widths[0], widths[1], 3, same())?.into(),
            BatchNorm2d::new(init, widths[1])?.into(),
            Activation::Relu.into(),
            AdaptiveAvgPool2d::new(1).into(),
            Flatten::default().into(),
            Linear::new(init, widths[1], classes)?.into(),
        ])))
    }
}

impl Module for Cnn {
    /// `[batch, channels, height, width]` to `[batch, classes]`.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0.forward(x)
    }
}

/// The classic shape of LeNet for images of 28 by 28: two convolutions, each halved by pooling, and two linear layers.
#[derive(Clone, Tree)]
pub struct LeNet(Sequential);

impl LeNet {
    /// With fresh weights, for images `[N, 1, 28, 28]`.
    ///
    /// # Errors
    ///
    /// When there are no classes.
    pub fn new(init: &mut Init, classes: usize) -> Result<LeNet> {
        let same = || ConvOptions::default().padding(1);
        Ok(LeNet(Sequential(vec![
            Conv2d::new(init, 1, 32, 3, same())?.into(),
            Activation::Relu.into(),
            MaxPool2d::new(2).into(),
            Conv2d::new(init, 32, 64, 3, same())?.into(),
            Activation::Relu.into(),
            MaxPool2d::new(2).into(),
            Flatten::default().into(),
            Linear::new(init, 64 * 7 * 7, 128)?.into(),
            Activation::Relu.into(),
            Linear::new(init, 128, classes)?.into(),
        ])))
    }
}

impl Module for LeNet {
    /// `[batch, 1, 28, 28]` to `[batch, classes]`.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0.forward(x)
    }
}

/// A convolutional autoencoder: two convolutions of stride 2 down, two transposed ones up, values from 0 to 1 out.
#[derive(Clone, Tree)]
pub struct Autoencoder(Sequential);

impl Autoencoder {
    /// `widths` are the channels after the first and the second convolution.
    ///
    /// # Errors
    ///
    /// When a size is zero.
    pub fn new(init: &mut Init, channels: usize, widths: [usize; 2]) -> Result<Autoencoder> {
        let halve = || ConvOptions::default().stride(2).padding(1);
        let double = || halve().output_padding(1);
        Ok(Autoencoder(Sequential(vec![
            Conv2d::new(init, channels, widths[0], 3, halve())?.into(),
            Activation::Gelu.into(),
            Conv2d::new(init, widths[0], widths[1], 3, halve())?.into(),
            Activation::Gelu.into(),
            ConvTranspose2d::new(init, widths[1], widths[0], 3, double())?.into(),
            Activation::Gelu.into(),
            ConvTranspose2d::new(init, widths[0], channels, 3, double())?.into(),
            Activation::Sigmoid.into(),
        ])))
    }
}

impl Module for Autoencoder {
    /// `[batch, channels, height, width]` to the same shape; height and width are multiples of 4.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0.forward(x)
    }
}
