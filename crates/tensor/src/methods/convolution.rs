//! Convolutions, pooling and batch normalization as methods.

use super::one;
use crate::dispatch::{Operand, dispatch_at};
use crate::shape::IntoInts;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Error, Result};
use std::panic::Location;

/// The static arguments of a convolution; each list has one number for every spatial dimension, or one for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvOptions {
    pub stride: Vec<i64>,
    pub padding: Vec<i64>,
    pub dilation: Vec<i64>,
    pub groups: i64,
    /// Of transposed convolutions: elements added to one side of the result.
    pub output_padding: Vec<i64>,
}

impl Default for ConvOptions {
    fn default() -> Self {
        ConvOptions { stride: vec![1], padding: vec![0], dilation: vec![1], groups: 1, output_padding: vec![0] }
    }
}

impl ConvOptions {
    pub fn stride(mut self, stride: impl IntoInts) -> Self {
        self.stride = stride.into_ints().unwrap_or(vec![1]);
        self
    }

    pub fn padding(mut self, padding: impl IntoInts) -> Self {
        self.padding = padding.into_ints().unwrap_or(vec![0]);
        self
    }

    pub fn dilation(mut self, dilation: impl IntoInts) -> Self {
        self.dilation = dilation.into_ints().unwrap_or(vec![1]);
        self
    }

    pub fn groups(mut self, groups: i64) -> Self {
        self.groups = groups;
        self
    }

    pub fn output_padding(mut self, padding: impl IntoInts) -> Self {
        self.output_padding = padding.into_ints().unwrap_or(vec![0]);
        self
    }

    pub(super) fn attrs(&self) -> Attrs {
        let list = |v: &[i64]| v.to_vec();
        Attrs::new()
            .with("stride", list(&self.stride))
            .with("padding", list(&self.padding))
            .with("dilation", list(&self.dilation))
            .with("groups", self.groups)
    }
}

macro_rules! convolutions {
    ($($name:ident, $transposed:literal, $doc:literal);* $(;)?) => {
        impl Tensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails), when ranks, channels or groups do not fit each
            /// other, or `options` names another number of dimensions.
            #[track_caller]
            pub fn $name(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
                let mut operands: Vec<Operand> = vec![self.into(), weight.into()];
                operands.extend(bias.map(Operand::from));
                let attrs = options.attrs();
                let attrs = if $transposed { attrs.with("output_padding", options.output_padding.clone()) } else { attrs };
                one(row!(stringify!($name)), &operands, attrs, Location::caller())
            }
        )*}
    };
}
convolutions! {
    conv1d, false, "Convolution of `[N, C, L]` with a weight `[O, C / groups, K]`.";
    conv2d, false, "Convolution of `[N, C, H, W]` with a weight `[O, C / groups, KH, KW]`.";
    conv3d, false, "Convolution of `[N, C, D, H, W]` with a weight `[O, C / groups, KD, KH, KW]`.";
    conv_transpose1d, true, "Transposed convolution of `[N, C, L]` with a weight `[C, O / groups, K]`.";
    conv_transpose2d, true, "Transposed convolution of `[N, C, H, W]` with a weight `[C, O / groups, KH, KW]`.";
    conv_transpose3d, true, "Transposed convolution of `[N, C, D, H, W]` with a weight `[C, O / groups, KD, KH, KW]`.";
}

/// The arguments of pooling; `stride` is the kernel's size where it is `()`.
fn pooling(kernel: impl IntoInts, stride: impl IntoInts, padding: impl IntoInts) -> Attrs {
    let attrs = Attrs::new().with("kernel_size", kernel.into_ints().unwrap_or_default());
    let attrs = attrs.with("padding", padding.into_ints().unwrap_or(vec![0]));
    match stride.into_ints() {
        Some(s) => attrs.with("stride", s),
        None => attrs,
    }
}

impl Tensor {
    /// The largest element of each window of the last two dimensions. A stride of `()` is the kernel's size.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when there are fewer than three dimensions, a window is empty or larger than the
    /// padded image, or the padding is more than half of it.
    #[track_caller]
    pub fn max_pool2d(&self, kernel: impl IntoInts, stride: impl IntoInts, padding: impl IntoInts) -> Result<Tensor> {
        one(row!("max_pool2d"), &[self.into()], pooling(kernel, stride, padding), Location::caller())
    }

    /// The mean of each window of the last two dimensions, padding included. A stride of `()` is the kernel's size.
    ///
    /// # Errors
    ///
    /// As [`Tensor::max_pool2d`].
    #[track_caller]
    pub fn avg_pool2d(&self, kernel: impl IntoInts, stride: impl IntoInts, padding: impl IntoInts) -> Result<Tensor> {
        one(row!("avg_pool2d"), &[self.into()], pooling(kernel, stride, padding), Location::caller())
    }

    /// Means of as many windows as asked in each of the last two dimensions.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when there are fewer than three dimensions, or the sizes are not one or two
    /// positive numbers.
    #[track_caller]
    pub fn adaptive_avg_pool2d(&self, output_size: impl IntoInts) -> Result<Tensor> {
        let attrs = Attrs::new().with("output_size", output_size.into_ints().unwrap_or(vec![1]));
        one(row!("adaptive_avg_pool2d"), &[self.into()], attrs, Location::caller())
    }

    /// Normalizes each channel of `[N, C, ..]`, over the batch when training, else by the running statistics, then scales and
    /// shifts. Gives the result and the new running mean and variance.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the statistics, weight or bias do not have one number for each channel.
    #[track_caller]
    pub fn batch_norm(
        &self,
        running_mean: &Tensor,
        running_var: &Tensor,
        affine: Option<(&Tensor, &Tensor)>,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let mut operands: Vec<Operand> = vec![self.into(), running_mean.into(), running_var.into()];
        operands.extend(affine.into_iter().flat_map(|(w, b)| [Operand::from(w), Operand::from(b)]));
        let attrs = Attrs::new().with("training", training).with("momentum", momentum).with("eps", eps);
        let results = dispatch_at(None, row!("batch_norm"), &operands, attrs, Location::caller())?;
        let results: [Tensor; 3] = results.try_into().map_err(|_| Error::op("batch_norm", "", "not three results", "report this"))?;
        Ok(results.into())
    }
}
