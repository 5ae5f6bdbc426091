//! Images as columns of windows, and back.

use crate::call::one;
use crate::module::Module;
use aludel_tensor::{Attrs, IntoInts, Operand, Result, Tensor, Tree};

/// Where windows lie: PyTorch's arguments and defaults. A number is for both dimensions.
#[derive(Clone, Debug, Tree)]
struct Windows {
    kernel_size: Vec<i64>,
    dilation: Vec<i64>,
    padding: Vec<i64>,
    stride: Vec<i64>,
}

impl Windows {
    fn new(kernel_size: impl IntoInts) -> Windows {
        Windows { kernel_size: kernel_size.into_ints().unwrap_or_default(), dilation: vec![1], padding: vec![0], stride: vec![1] }
    }

    fn attrs(&self) -> Attrs {
        let attrs = Attrs::new().with("kernel_size", self.kernel_size.clone()).with("dilation", self.dilation.clone());
        attrs.with("padding", self.padding.clone()).with("stride", self.stride.clone())
    }
}

macro_rules! of_windows {
    ($($name:ident)*) => {$(
        impl $name {
            /// How far apart the elements of a window lie.
            pub fn dilation(mut self, dilation: impl IntoInts) -> Self {
                self.windows.dilation = dilation.into_ints().unwrap_or(vec![1]);
                self
            }

            /// Zeros around the image.
            pub fn padding(mut self, padding: impl IntoInts) -> Self {
                self.windows.padding = padding.into_ints().unwrap_or(vec![0]);
                self
            }

            /// How far apart windows lie.
            pub fn stride(mut self, stride: impl IntoInts) -> Self {
                self.windows.stride = stride.into_ints().unwrap_or(vec![1]);
                self
            }
        }
    )*};
}
of_windows!(Unfold Fold);

/// The windows of `[N, C, H, W]` as columns `[N, C * kernel, windows]`. PyTorch: `torch.nn.Unfold`.
#[derive(Clone, Debug, Tree)]
pub struct Unfold {
    windows: Windows,
}

impl Unfold {
    pub fn new(kernel_size: impl IntoInts) -> Unfold {
        Unfold { windows: Windows::new(kernel_size) }
    }
}

impl Module for Unfold {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        one("im2col", &[Operand::from(x)], self.windows.attrs())
    }
}

/// Columns `[N, C * kernel, windows]` as images `[N, C, *output_size]`, where windows overlap their sum. PyTorch: `torch.nn.Fold`.
#[derive(Clone, Debug, Tree)]
pub struct Fold {
    output_size: Vec<i64>,
    windows: Windows,
}

impl Fold {
    pub fn new(output_size: impl IntoInts, kernel_size: impl IntoInts) -> Fold {
        Fold { output_size: output_size.into_ints().unwrap_or_default(), windows: Windows::new(kernel_size) }
    }
}

impl Module for Fold {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        one("col2im", &[Operand::from(x)], self.windows.attrs().with("output_size", self.output_size.clone()))
    }
}
