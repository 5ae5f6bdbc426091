//! Pooling and changes of shape, with PyTorch's defaults. None of these has parameters.

use crate::call::one;
use crate::module::Module;
use aludel_tensor::{Attrs, Error, IntoInts, Operand, Result, Tensor, Tree};

/// Numbers of windows: `3`, `[3, 5]`; the operator checks how many there are.
fn numbers(n: impl IntoInts, default: &[i64]) -> Vec<i64> {
    n.into_ints().unwrap_or(default.to_vec())
}

macro_rules! pooling {
    ($about:literal, $own:ident: $type:ty = $default:expr, set by $given:ty => $set:expr;
     $($name:ident, $op:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Tree)]
        pub struct $name {
            kernel_size: Vec<i64>,
            stride: Vec<i64>,
            padding: Vec<i64>,
            ceil_mode: bool,
            $own: $type,
        }

        impl $name {
            /// Windows that do not overlap.
            pub fn new(kernel_size: impl IntoInts) -> Self {
                let kernel_size = numbers(kernel_size, &[]);
                $name { stride: kernel_size.clone(), kernel_size, padding: vec![0], ceil_mode: false, $own: $default }
            }

            pub fn stride(mut self, stride: impl IntoInts) -> Self {
                self.stride = numbers(stride, &self.kernel_size);
                self
            }

            /// What is added around is never the largest, and zeros for a mean.
            pub fn padding(mut self, padding: impl IntoInts) -> Self {
                self.padding = numbers(padding, &[0]);
                self
            }

            /// Whether a window may reach beyond the end.
            pub fn ceil_mode(mut self, on: bool) -> Self {
                self.ceil_mode = on;
                self
            }

            #[doc = $about]
            pub fn $own(mut self, $own: $given) -> Self {
                self.$own = ($set)($own);
                self
            }
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let attrs = Attrs::new().with("kernel_size", self.kernel_size.clone()).with("stride", self.stride.clone());
                let attrs = attrs.with("padding", self.padding.clone()).with("ceil_mode", self.ceil_mode);
                one($op, &[Operand::from(x)], attrs.with(stringify!($own), self.$own.clone()))
            }
        }
    )*};
}
pooling! {
    "How far apart the elements of a window lie.", dilation: Vec<i64> = vec![1], set by impl IntoInts => |d| numbers(d, &[1]);
    MaxPool1d, "max_pool1d", "The largest of each window of `[N, C, L]`. PyTorch: `torch.nn.MaxPool1d`.";
    MaxPool2d, "max_pool2d", "The largest of each window of `[N, C, H, W]`. PyTorch: `torch.nn.MaxPool2d`.";
    MaxPool3d, "max_pool3d", "The largest of each window of `[N, C, D, H, W]`. PyTorch: `torch.nn.MaxPool3d`.";
}
pooling! {
    "Whether zeros that were added around count.", count_include_pad: bool = true, set by bool => |on| on;
    AvgPool1d, "avg_pool1d", "The mean of each window of `[N, C, L]`. PyTorch: `torch.nn.AvgPool1d`.";
    AvgPool2d, "avg_pool2d", "The mean of each window of `[N, C, H, W]`. PyTorch: `torch.nn.AvgPool2d`.";
    AvgPool3d, "avg_pool3d", "The mean of each window of `[N, C, D, H, W]`. PyTorch: `torch.nn.AvgPool3d`.";
}

macro_rules! adaptive_pooling {
    ($($name:ident, $op:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Tree)]
        pub struct $name {
            output_size: Vec<i64>,
        }

        impl $name {
            pub fn new(output_size: impl IntoInts) -> Self {
                $name { output_size: numbers(output_size, &[1]) }
            }
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                one($op, &[Operand::from(x)], Attrs::new().with("output_size", self.output_size.clone()))
            }
        }
    )*};
}
adaptive_pooling! {
    AdaptiveAvgPool1d, "adaptive_avg_pool1d", "Means of as many windows of `[N, C, L]` as asked. PyTorch: `torch.nn.AdaptiveAvgPool1d`.";
    AdaptiveAvgPool2d, "adaptive_avg_pool2d",
        "`[N, C, H, W]` to `[N, C, *output_size]`, by means of windows. PyTorch: `torch.nn.AdaptiveAvgPool2d`.";
    AdaptiveAvgPool3d, "adaptive_avg_pool3d",
        "`[N, C, D, H, W]` to `[N, C, *output_size]`, by means of windows. PyTorch: `torch.nn.AdaptiveAvgPool3d`.";
    AdaptiveMaxPool1d, "adaptive_max_pool1d", "The largest of as many windows of `[N, C, L]` as asked. PyTorch: `torch.nn.AdaptiveMaxPool1d`.";
    AdaptiveMaxPool2d, "adaptive_max_pool2d",
        "`[N, C, H, W]` to `[N, C, *output_size]`, by the largest of windows. PyTorch: `torch.nn.AdaptiveMaxPool2d`.";
    AdaptiveMaxPool3d, "adaptive_max_pool3d",
        "`[N, C, D, H, W]` to `[N, C, *output_size]`, by the largest of windows. PyTorch: `torch.nn.AdaptiveMaxPool3d`.";
}

/// A range of dimensions as one. PyTorch: `torch.nn.Flatten`.
#[derive(Clone, Copy, Debug, Tree)]
pub struct Flatten {
    start_dim: i64,
    end_dim: i64,
}

impl Flatten {
    /// `Flatten::default()` is `Flatten::new(1, -1)`: all but the batch.
    pub fn new(start_dim: i64, end_dim: i64) -> Flatten {
        Flatten { start_dim, end_dim }
    }
}

impl Default for Flatten {
    fn default() -> Self {
        Flatten::new(1, -1)
    }
}

impl Module for Flatten {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.flatten(self.start_dim, self.end_dim)
    }
}

/// A dimension as several. PyTorch: `torch.nn.Unflatten`.
#[derive(Clone, Debug, Tree)]
pub struct Unflatten {
    dim: i64,
    sizes: Vec<i64>,
}

impl Unflatten {
    /// One of the sizes may be -1.
    pub fn new(dim: i64, sizes: impl IntoInts) -> Unflatten {
        Unflatten { dim, sizes: numbers(sizes, &[-1]) }
    }
}

impl Module for Unflatten {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.size(self.dim)?;
        let at = if self.dim < 0 { self.dim + x.rank() as i64 } else { self.dim } as usize;
        let mut shape = x.dims().to_vec();
        shape.splice(at..at + 1, self.sizes.iter().map(|s| aludel_tensor::Dim::Const(*s)));
        x.reshape(shape)
    }
}

/// Gives what it is given. PyTorch: `torch.nn.Identity`.
#[derive(Clone, Copy, Debug, Default, Tree)]
pub struct Identity {}

impl Module for Identity {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }
}

/// How [`Upsample`] finds values between those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Tree)]
pub enum UpsampleMode {
    Nearest,
    /// Of `[N, C, L]`.
    Linear,
    /// Of `[N, C, H, W]`.
    Bilinear,
}

/// Larger images, by a whole or fractional factor. PyTorch: `torch.nn.Upsample`.
#[derive(Clone, Copy, Debug, Tree)]
pub struct Upsample {
    scale_factor: f64,
    mode: UpsampleMode,
    align_corners: bool,
}

impl Upsample {
    /// Images that are `scale_factor` times as high and wide.
    ///
    /// # Errors
    ///
    /// When the factor is not positive and finite.
    pub fn new(scale_factor: f64, mode: UpsampleMode) -> Result<Upsample> {
        if !(scale_factor.is_finite() && scale_factor > 0.0) {
            return Err(Error::invalid("Upsample", format!("the factor is {scale_factor}"), "use a positive number"));
        }
        Ok(Upsample { scale_factor, mode, align_corners: false })
    }

    /// Whether the centres of the corners stay in place, rather than their outer edges.
    pub fn align_corners(mut self, on: bool) -> Self {
        self.align_corners = on;
        self
    }
}

impl Module for Upsample {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let attrs = Attrs::new().with("scale_factor", self.scale_factor);
        let attrs = match self.mode {
            UpsampleMode::Nearest => attrs.with("mode", "nearest"),
            UpsampleMode::Linear => attrs.with("mode", "linear").with("align_corners", self.align_corners),
            UpsampleMode::Bilinear => attrs.with("mode", "bilinear").with("align_corners", self.align_corners),
        };
        one("interpolate", &[Operand::from(x)], attrs)
    }
}

/// `[*, C r^2, H, W]` to `[*, C, H r, W r]`. PyTorch: `torch.nn.PixelShuffle`.
#[derive(Clone, Copy, Debug, Tree)]
pub struct PixelShuffle {
    upscale_factor: i64,
}

impl PixelShuffle {
    pub fn new(upscale_factor: i64) -> PixelShuffle {
        PixelShuffle { upscale_factor }
    }
}

impl Module for PixelShuffle {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        one("pixel_shuffle", &[Operand::from(x)], Attrs::new().with("upscale_factor", self.upscale_factor))
    }
}
