//! Layers, with PyTorch's parameter names and defaults.

use crate::conv::{AdaptiveAvgPool2d, AvgPool2d, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, Flatten, MaxPool2d};
use crate::init::{Init, check_sizes};
use crate::module::Module;
use crate::norm::BatchNorm;
use crate::random::Generator;
use aludel_tensor::{Error, Result, Tensor, Tree};

/// `y = x W^T + b`. PyTorch: `torch.nn.Linear`.
#[derive(Clone, Tree)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Tensor,
    /// `[out]`
    pub bias: Option<Tensor>,
}

impl Linear {
    pub fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
        let mut layer = Self::without_bias(init, inputs, outputs)?;
        layer.bias = Some(init.fan_in([outputs], inputs)?);
        Ok(layer)
    }

    pub fn without_bias(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
        check_sizes("Linear", &[inputs, outputs])?;
        Ok(Linear { weight: init.fan_in([outputs, inputs], inputs)?, bias: None })
    }
}

impl Module for Linear {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.linear(&self.weight, self.bias.as_ref())
    }
}

/// Rows of a table by index. PyTorch: `torch.nn.Embedding`.
#[derive(Clone, Tree)]
pub struct Embedding {
    /// `[count, width]`
    pub weight: Tensor,
}

impl Embedding {
    pub fn new(init: &mut Init, count: usize, width: usize) -> Result<Embedding> {
        check_sizes("Embedding", &[count, width])?;
        Ok(Embedding { weight: init.normal([count, width])? })
    }
}

impl Module for Embedding {
    /// `x` has integers of any shape; the result has one dimension more.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.weight.embedding(x)
    }
}

/// Normalization over the last dimension. PyTorch: `torch.nn.LayerNorm`.
#[derive(Clone, Tree)]
pub struct LayerNorm {
    pub weight: Tensor,
    pub bias: Tensor,
    width: usize,
    eps: f64,
}

impl LayerNorm {
    pub fn new(init: &mut Init, width: usize) -> Result<LayerNorm> {
        check_sizes("LayerNorm", &[width])?;
        Ok(LayerNorm { weight: init.ones([width])?, bias: init.zeros([width])?, width, eps: 1e-5 })
    }
}

impl Module for LayerNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.layer_norm([self.width], Some(&self.weight), Some(&self.bias), self.eps)
    }
}

/// Division by the root of the mean square over the last dimension. PyTorch: `torch.nn.RMSNorm`.
#[derive(Clone, Tree)]
pub struct RmsNorm {
    pub weight: Tensor,
    width: usize,
    eps: f64,
}

impl RmsNorm {
    pub fn new(init: &mut Init, width: usize) -> Result<RmsNorm> {
        check_sizes("RmsNorm", &[width])?;
        Ok(RmsNorm { weight: init.ones([width])?, width, eps: f32::EPSILON as f64 })
    }
}

impl Module for RmsNorm {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.rms_norm([self.width], Some(&self.weight), self.eps)
    }
}

/// Zeroes elements at random while training. PyTorch: `torch.nn.Dropout`.
#[derive(Clone, Tree)]
pub struct Dropout {
    p: f64,
}

impl Dropout {
    /// `p` is the probability of a zero.
    pub fn new(p: f64) -> Result<Dropout> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::invalid("Dropout", format!("p is {p}"), "use a probability from 0 to 1"));
        }
        Ok(Dropout { p })
    }

    /// With a generator (training) drops and advances the generator; without one is the identity.
    #[track_caller]
    pub fn forward(&self, x: &Tensor, generator: Option<&mut Generator>) -> Result<Tensor> {
        match generator {
            Some(g) if self.p > 0.0 => x.dropout(&g.next_key()?, self.p),
            _ => Ok(x.clone()),
        }
    }
}

/// Its input. PyTorch: `torch.nn.Identity`.
#[derive(Clone, Copy, Tree)]
pub struct Identity {}

impl Module for Identity {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }
}

/// An activation function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Tree)]
pub enum Activation {
    Relu,
    Tanh,
    Sigmoid,
    /// By the exact normal distribution function.
    Gelu,
    /// By tanh, as GPT-2 has it.
    GeluTanh,
    Silu,
    Elu,
    LeakyRelu,
}

impl Activation {
    pub const ALL: [Activation; 8] = [
        Activation::Relu,
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Elu,
        Activation::LeakyRelu,
    ];
}

impl Module for Activation {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Activation::Relu => x.relu(),
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => x.sigmoid(),
            Activation::Gelu => x.gelu("none"),
            Activation::GeluTanh => x.gelu("tanh"),
            Activation::Silu => x.silu(),
            Activation::Elu => x.elu(1.0),
            Activation::LeakyRelu => x.leaky_relu(0.01),
        }
    }
}

macro_rules! layers {
    ($($name:ident),* $(,)?) => {
        /// One of the layers that [`Sequential`] holds.
        #[derive(Clone, Tree)]
        pub enum Layer {
            $($name($name),)*
        }

        impl Module for Layer {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                match self {
                    $(Layer::$name(l) => l.forward(x),)*
                }
            }
        }

        $(impl From<$name> for Layer {
            fn from(l: $name) -> Layer {
                Layer::$name(l)
            }
        })*
    };
}
layers!(
    Linear,
    Embedding,
    LayerNorm,
    RmsNorm,
    Activation,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    BatchNorm,
    MaxPool2d,
    AvgPool2d,
    AdaptiveAvgPool2d,
    Flatten,
    Identity,
);

/// Layers one after the other; parameters are named `0.weight`, `2.weight`, as in `torch.nn.Sequential`.
#[derive(Clone, Tree)]
pub struct Sequential(pub Vec<Layer>);

impl Module for Sequential {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = x.clone();
        for layer in &self.0 {
            x = layer.forward(&x)?;
        }
        Ok(x)
    }
}
