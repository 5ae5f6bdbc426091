//! The U-Net as github.com/milesial/Pytorch-UNet: its parameter names and its padding of the way up. Ronneberger et al., "U-Net:
//! Convolutional Networks for Biomedical Image Segmentation", MICCAI 2015.

use aludel_nn::{Activation, BatchNorm2d, Conv2d, ConvTranspose2d, Init, MaxPool2d, Module, Sequential};
use aludel_tensor::{ConvOptions, Result, Tensor, Tree, cat};

/// Sizes of a [`UNet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UNetConfig {
    /// Channels of the images.
    pub channels: usize,
    pub classes: usize,
    /// Channels of the first level; each of the four below has twice as many.
    pub width: usize,
}

impl UNetConfig {
    /// For colour images and two classes: 31,037,698 parameters.
    pub fn standard() -> Self {
        UNetConfig { channels: 3, classes: 2, width: 64 }
    }
}

/// Two convolutions with batch normalization.
#[derive(Clone, Tree)]
struct DoubleConv {
    double_conv: Sequential,
}

impl DoubleConv {
    fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<DoubleConv> {
        let mut conv = |inputs| Conv2d::new(init, inputs, outputs, 3, ConvOptions::default().padding(1));
        let (first, second) = (conv(inputs)?.without_bias(), conv(outputs)?.without_bias());
        Ok(DoubleConv {
            double_conv: Sequential::new([
                first.into(),
                BatchNorm2d::new(init, outputs)?.into(),
                Activation::Relu.into(),
                second.into(),
                BatchNorm2d::new(init, outputs)?.into(),
                Activation::Relu.into(),
            ]),
        })
    }
}

impl Module for DoubleConv {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.double_conv.forward(x)
    }
}

/// Half the rows and columns, other channels.
#[derive(Clone, Tree)]
struct Down {
    maxpool_conv: Sequential,
}

impl Down {
    fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<Down> {
        Ok(Down { maxpool_conv: Sequential::new([MaxPool2d::new(2).into(), DoubleConv::new(init, inputs, outputs)?.into()]) })
    }
}

/// Twice the rows and columns, beside those of the way down.
#[derive(Clone, Tree)]
struct Up {
    up: ConvTranspose2d,
    conv: DoubleConv,
}

impl Up {
    fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<Up> {
        let up = ConvTranspose2d::new(init, inputs, inputs / 2, 2, ConvOptions::default().stride(2))?;
        Ok(Up { up, conv: DoubleConv::new(init, inputs, outputs)? })
    }

    #[track_caller]
    fn forward(&self, x: &Tensor, skip: &Tensor) -> Result<Tensor> {
        let x = self.up.forward(x)?;
        // A side that did not halve evenly lacks a row or column.
        let lacks = |dim: usize| skip.shape()[dim] as i64 - x.shape()[dim] as i64;
        let (rows, columns) = (lacks(2), lacks(3));
        let x = if rows == 0 && columns == 0 { x } else { x.pad([columns / 2, columns - columns / 2, rows / 2, rows - rows / 2], 0.0)? };
        self.conv.forward(&cat(&[skip, &x], 1)?)
    }
}

#[derive(Clone, Tree)]
struct OutConv {
    conv: Conv2d,
}

/// A class for every pixel; parameters are `inc.double_conv.0.weight`, `down1.maxpool_conv.1.double_conv.0.weight`, ..,
/// `up1.up.weight`, `up1.conv.double_conv.0.weight`, .., `outc.conv.weight`.
#[derive(Clone, Tree)]
pub struct UNet {
    inc: DoubleConv,
    down1: Down,
    down2: Down,
    down3: Down,
    down4: Down,
    up1: Up,
    up2: Up,
    up3: Up,
    up4: Up,
    outc: OutConv,
}

impl UNet {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, config: &UNetConfig) -> Result<UNet> {
        let &UNetConfig { channels, classes, width: w } = config;
        Ok(UNet {
            inc: DoubleConv::new(init, channels, w)?,
            down1: Down::new(init, w, 2 * w)?,
            down2: Down::new(init, 2 * w, 4 * w)?,
            down3: Down::new(init, 4 * w, 8 * w)?,
            down4: Down::new(init, 8 * w, 16 * w)?,
            up1: Up::new(init, 16 * w, 8 * w)?,
            up2: Up::new(init, 8 * w, 4 * w)?,
            up3: Up::new(init, 4 * w, 2 * w)?,
            up4: Up::new(init, 2 * w, w)?,
            outc: OutConv { conv: Conv2d::new(init, w, classes, 1, ConvOptions::default())? },
        })
    }
}

impl Module for UNet {
    /// `[N, channels, H, W]` to logits `[N, classes, H, W]`; height and width are at least 16.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let one = self.inc.forward(x)?;
        let two = self.down1.maxpool_conv.forward(&one)?;
        let three = self.down2.maxpool_conv.forward(&two)?;
        let four = self.down3.maxpool_conv.forward(&three)?;
        let five = self.down4.maxpool_conv.forward(&four)?;
        let x = self.up1.forward(&five, &four)?;
        let x = self.up2.forward(&x, &three)?;
        let x = self.up3.forward(&x, &two)?;
        let x = self.up4.forward(&x, &one)?;
        self.outc.conv.forward(&x)
    }
}
