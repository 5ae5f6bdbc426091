//! Models of images, `[batch, channels, height, width]`.

mod cnn;
mod resnet;
mod unet;
mod vgg;
mod vit;

pub use cnn::{Autoencoder, Cnn, LeNet};
pub use resnet::{BasicBlock, Bottleneck, ResNet, ResNetBlock, ResNetConfig, ResNetKind};
pub use unet::{UNet, UNetConfig};
pub use vgg::{Vgg, VggConfig};
pub use vit::{Vit, VitConfig};

use aludel_nn::{Conv2d, Init};
use aludel_tensor::{ConvOptions, Result};

/// A convolution whose weight starts normally distributed, with variance `2 / (outputs * kernel^2)`.
/// PyTorch: `kaiming_normal_(mode="fan_out", nonlinearity="relu")`.
fn kaiming_conv(init: &mut Init, inputs: usize, outputs: usize, kernel: usize, options: ConvOptions) -> Result<Conv2d> {
    let mut conv = Conv2d::new(init, inputs, outputs, kernel as i64, options)?;
    let fan_out = (outputs * kernel * kernel) as f64;
    conv.weight = init.normal_std(conv.weight.shape(), (2.0 / fan_out).sqrt())?;
    Ok(conv)
}
