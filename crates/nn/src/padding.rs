//! Padding as modules. PyTorch: `torch.nn.ZeroPad2d` and its kin.

use crate::call::one;
use crate::module::Module;
use aludel_tensor::{Attrs, Error, IntoInts, Operand, Result, Tensor, Tree};

/// Pads the last dimensions; the operator checks that there are as many.
fn pad(name: &str, x: &Tensor, padding: &[i64], dims: usize, mode: &'static str, value: f64) -> Result<Tensor> {
    // One amount is for all sides.
    let sides = match padding {
        [all] => vec![*all; 2 * dims],
        some => some.to_vec(),
    };
    let batch = x.rank().checked_sub(dims);
    if sides.len() != 2 * dims || !(mode == "constant" && batch.is_some() || matches!(batch, Some(1 | 2))) {
        let problem = format!("{} amounts for {dims} dimensions", padding.len());
        return Err(Error::op(name, x.to_string(), problem, format!("give one or {}, and [N, C, ..] or [C, ..]", 2 * dims)));
    }
    one("pad", &[Operand::from(x)], Attrs::new().with("pad", sides).with("mode", mode).with("value", value))
}

macro_rules! paddings {
    ($($name:ident, $dims:literal, $mode:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, Tree)]
        pub struct $name {
            padding: Vec<i64>,
        }

        impl $name {
            /// One amount for all sides, or pairs of before and behind from the last dimension on. Negative amounts remove.
            pub fn new(padding: impl IntoInts) -> Self {
                $name { padding: padding.into_ints().unwrap_or_default() }
            }
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                pad(stringify!($name), x, &self.padding, $dims, $mode, 0.0)
            }
        }
    )*};
}
paddings! {
    ZeroPad1d, 1, "constant", "Zeros around `[.., L]`. PyTorch: `torch.nn.ZeroPad1d`.";
    ZeroPad2d, 2, "constant", "Zeros around `[.., H, W]`. PyTorch: `torch.nn.ZeroPad2d`.";
    ZeroPad3d, 3, "constant", "Zeros around `[.., D, H, W]`. PyTorch: `torch.nn.ZeroPad3d`.";
    ReflectionPad1d, 1, "reflect", "`[N, C, L]` mirrored at its ends. PyTorch: `torch.nn.ReflectionPad1d`.";
    ReflectionPad2d, 2, "reflect", "`[N, C, H, W]` mirrored at its edges. PyTorch: `torch.nn.ReflectionPad2d`.";
    ReflectionPad3d, 3, "reflect", "`[N, C, D, H, W]` mirrored at its edges. PyTorch: `torch.nn.ReflectionPad3d`.";
    ReplicationPad1d, 1, "replicate", "The ends of `[N, C, L]` repeated. PyTorch: `torch.nn.ReplicationPad1d`.";
    ReplicationPad2d, 2, "replicate", "The edges of `[N, C, H, W]` repeated. PyTorch: `torch.nn.ReplicationPad2d`.";
    ReplicationPad3d, 3, "replicate", "The edges of `[N, C, D, H, W]` repeated. PyTorch: `torch.nn.ReplicationPad3d`.";
    CircularPad1d, 1, "circular", "`[N, C, L]` going round. PyTorch: `torch.nn.CircularPad1d`.";
    CircularPad2d, 2, "circular", "`[N, C, H, W]` going round. PyTorch: `torch.nn.CircularPad2d`.";
    CircularPad3d, 3, "circular", "`[N, C, D, H, W]` going round. PyTorch: `torch.nn.CircularPad3d`.";
}

macro_rules! constant_paddings {
    ($($name:ident, $dims:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, Tree)]
        pub struct $name {
            padding: Vec<i64>,
            value: f64,
        }

        impl $name {
            /// One amount for all sides, or pairs of before and behind from the last dimension on. Negative amounts remove.
            pub fn new(padding: impl IntoInts, value: f64) -> Self {
                $name { padding: padding.into_ints().unwrap_or_default(), value }
            }
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                pad(stringify!($name), x, &self.padding, $dims, "constant", self.value)
            }
        }
    )*};
}
constant_paddings! {
    ConstantPad1d, 1, "A value around `[.., L]`. PyTorch: `torch.nn.ConstantPad1d`.";
    ConstantPad2d, 2, "A value around `[.., H, W]`. PyTorch: `torch.nn.ConstantPad2d`.";
    ConstantPad3d, 3, "A value around `[.., D, H, W]`. PyTorch: `torch.nn.ConstantPad3d`.";
}
