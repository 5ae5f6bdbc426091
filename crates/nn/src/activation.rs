//! Activation functions as modules.

use crate::call::one;
use crate::init::{Init, check_sizes};
use crate::module::Module;
use aludel_tensor::{Attrs, Operand, Result, Tensor, Tree};

macro_rules! activations {
    ($($name:ident, $doc:literal, |$x:ident| $value:expr;)*) => {
        /// An activation function with PyTorch's default arguments.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Tree)]
        pub enum Activation {
            $(#[doc = $doc] $name,)*
        }

        impl Activation {
            pub const ALL: &[Activation] = &[$(Activation::$name),*];
        }

        impl Module for Activation {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                match self {
                    $(Activation::$name => { let $x = x; $value })*
                }
            }
        }
    };
}
activations! {
    Relu, "`max(x, 0)`. PyTorch: `torch.nn.ReLU`.", |x| x.relu();
    Tanh, "Hyperbolic tangent. PyTorch: `torch.nn.Tanh`.", |x| x.tanh();
    Sigmoid, "`1 / (1 + e^-x)`. PyTorch: `torch.nn.Sigmoid`.", |x| x.sigmoid();
    Gelu, "By the exact normal distribution function. PyTorch: `torch.nn.GELU`.", |x| x.gelu("none");
    GeluTanh, "By tanh, as GPT-2 has it. PyTorch: `torch.nn.GELU(approximate='tanh')`.", |x| x.gelu("tanh");
    Silu, "`x sigmoid(x)`. PyTorch: `torch.nn.SiLU`.", |x| x.silu();
    Elu, "`x` where positive, else `e^x - 1`. PyTorch: `torch.nn.ELU`.", |x| x.elu(1.0);
    LeakyRelu, "`x` where positive, else `0.01 x`. PyTorch: `torch.nn.LeakyReLU`.", |x| x.leaky_relu(0.01);
    Relu6, "`min(max(x, 0), 6)`. PyTorch: `torch.nn.ReLU6`.", |x| x.relu6();
    Hardtanh, "`min(max(x, -1), 1)`. PyTorch: `torch.nn.Hardtanh`.", |x| x.clamp(-1.0, 1.0);
    Hardsigmoid, "`min(max(x + 3, 0), 6) / 6`. PyTorch: `torch.nn.Hardsigmoid`.", |x| x.hardsigmoid();
    Hardswish, "`x hardsigmoid(x)`. PyTorch: `torch.nn.Hardswish`.", |x| x.hardswish();
    Selu, "Scaled ELU. PyTorch: `torch.nn.SELU`.", |x| x.selu();
    Celu, "Continuously differentiable ELU. PyTorch: `torch.nn.CELU`.", |x| plain("celu", x);
    Mish, "`x tanh(softplus(x))`. PyTorch: `torch.nn.Mish`.", |x| plain("mish", x);
    Softplus, "`log(1 + e^x)`. PyTorch: `torch.nn.Softplus`.", |x| x.softplus();
    Softsign, "`x / (1 + |x|)`. PyTorch: `torch.nn.Softsign`.", |x| x.softsign();
    LogSigmoid, "Logarithm of the sigmoid. PyTorch: `torch.nn.LogSigmoid`.", |x| plain("logsigmoid", x);
    Tanhshrink, "`x - tanh(x)`. PyTorch: `torch.nn.Tanhshrink`.", |x| x.tanhshrink();
}

#[track_caller]
fn plain(name: &'static str, x: &Tensor) -> Result<Tensor> {
    one(name, &[Operand::from(x)], Attrs::new())
}

macro_rules! of_one_number {
    ($($name:ident, $field:ident: $ty:ty, $doc:literal, |$x:ident, $n:ident| $value:expr;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Debug, Tree)]
        pub struct $name {
            pub $field: $ty,
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                let $n = self.$field;
                $value
            }
        }
    )*};
}
of_one_number! {
    Elu, alpha: f64, "`x` where positive, else `alpha (e^x - 1)`. PyTorch: `torch.nn.ELU`.", |x, n| x.elu(n);
    LeakyRelu, negative_slope: f64, "`x` where positive, else `negative_slope x`. PyTorch: `torch.nn.LeakyReLU`.", |x, n| x.leaky_relu(n);
    Softmax, dim: i64, "`e^x` over its sum along `dim`. PyTorch: `torch.nn.Softmax`.", |x, n| x.softmax(n);
    LogSoftmax, dim: i64, "Logarithm of the softmax along `dim`. PyTorch: `torch.nn.LogSoftmax`.", |x, n| x.log_softmax(n);
    Glu, dim: i64, "`a sigmoid(b)` of the two halves along `dim`. PyTorch: `torch.nn.GLU`.",
        |x, n| one("glu", &[Operand::from(x)], Attrs::new().with("dim", n));
}

/// `x` where positive, else `weight x`, the weight learned. PyTorch: `torch.nn.PReLU`.
#[derive(Clone, Tree)]
pub struct PRelu {
    /// `[1]`, or one for each channel.
    pub weight: Tensor,
}

impl PRelu {
    /// One weight for all, or as many as there are channels. They start at 0.25.
    ///
    /// # Errors
    ///
    /// When `num_parameters` is zero or more than the device can hold.
    pub fn new(init: &mut Init, num_parameters: usize) -> Result<PRelu> {
        check_sizes("PRelu", &[num_parameters])?;
        let weight = Tensor::full(init.device(), [num_parameters], 0.25, aludel_tensor::DType::F32)?;
        Ok(PRelu { weight: weight.requires_grad() })
    }
}

impl Module for PRelu {
    /// Channels are dimension 1.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        one("prelu", &[Operand::from(x), Operand::from(&self.weight)], Attrs::new())
    }
}
