//! Convolutional layers, with PyTorch's parameter names, initial values and defaults.

use crate::init::{Init, check_sizes};
use crate::module::Module;
use aludel_tensor::{ConvOptions, Error, IntoInts, Result, Tensor, Tree};

/// The kernel's sizes, one for each of `n` dimensions.
fn kernel_sizes(layer: &str, kernel: impl IntoInts, n: usize) -> Result<Vec<usize>> {
    let given = kernel.into_ints().unwrap_or_default();
    let all = if given.len() == 1 { vec![given[0]; n] } else { given };
    match all.iter().map(|k| usize::try_from(*k)).collect::<std::result::Result<Vec<_>, _>>() {
        Ok(k) if k.len() == n => check_sizes(layer, &k).map(|()| k),
        _ => Err(Error::invalid(layer, format!("the kernel sizes are {all:?}"), format!("give one positive number, or {n}"))),
    }
}

/// What a convolution keeps beside its tensors.
#[derive(Clone, Tree)]
struct Settings {
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
    output_padding: Vec<i64>,
}

impl From<ConvOptions> for Settings {
    fn from(o: ConvOptions) -> Settings {
        Settings { stride: o.stride, padding: o.padding, dilation: o.dilation, groups: o.groups, output_padding: o.output_padding }
    }
}

impl From<&Settings> for ConvOptions {
    fn from(s: &Settings) -> ConvOptions {
        let Settings { stride, padding, dilation, groups, output_padding } = s.clone();
        ConvOptions { stride, padding, dilation, groups, output_padding }
    }
}

/// The channels of one group.
fn per_group(layer: &str, channels: usize, groups: i64) -> Result<usize> {
    match usize::try_from(groups) {
        Ok(g) if g > 0 && channels.is_multiple_of(g) => Ok(channels / g),
        _ => Err(Error::invalid(
            layer,
            format!("{channels} channels in {groups} groups"),
            "use a number of groups that divides the channels",
        )),
    }
}

macro_rules! convolution {
    ($name:ident, $method:ident, $n:literal, $transposed:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Tree)]
        pub struct $name {
            pub weight: Tensor,
            /// `[output channels]`
            pub bias: Option<Tensor>,
            settings: Settings,
        }

        impl $name {
            /// A layer from `inputs` to `outputs` channels. Weight and bias start evenly over `1 / sqrt(fan_in)` to both sides.
            ///
            /// # Errors
            ///
            /// When a size is zero, the groups do not divide the channels, the kernel has another number of dimensions, or the weight is
            /// more than the device can hold.
            pub fn new(init: &mut Init, inputs: usize, outputs: usize, kernel: impl IntoInts, options: ConvOptions) -> Result<Self> {
                let layer = stringify!($name);
                check_sizes(layer, &[inputs, outputs])?;
                let kernel = kernel_sizes(layer, kernel, $n)?;
                let (of_input, of_output) = (per_group(layer, inputs, options.groups)?, per_group(layer, outputs, options.groups)?);
                let [first, second] = if $transposed { [inputs, of_output] } else { [outputs, of_input] };
                let shape: Vec<usize> = [first, second].into_iter().chain(kernel.iter().copied()).collect();
                // As PyTorch counts it: the second dimension of the weight, also where the convolution is transposed.
                let fan_in = second * kernel.iter().product::<usize>();
                let weight = init.fan_in(shape, fan_in)?;
                let bias = Some(init.fan_in([outputs], fan_in)?);
                Ok($name { weight, bias, settings: options.into() })
            }

            pub fn without_bias(mut self) -> Self {
                self.bias = None;
                self
            }
        }

        impl Module for $name {
            #[track_caller]
            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                x.$method(&self.weight, self.bias.as_ref(), &(&self.settings).into())
            }
        }
    };
}
convolution!(Conv1d, conv1d, 1, false, "`[N, C, L]` to `[N, O, L']`. PyTorch: `torch.nn.Conv1d`.");
convolution!(Conv2d, conv2d, 2, false, "`[N, C, H, W]` to `[N, O, H', W']`. PyTorch: `torch.nn.Conv2d`.");
convolution!(Conv3d, conv3d, 3, false, "`[N, C, D, H, W]` to `[N, O, D', H', W']`. PyTorch: `torch.nn.Conv3d`.");
convolution!(ConvTranspose1d, conv_transpose1d, 1, true, "`[N, C, L]` to `[N, O, L']`. PyTorch: `torch.nn.ConvTranspose1d`.");
convolution!(ConvTranspose2d, conv_transpose2d, 2, true, "`[N, C, H, W]` to `[N, O, H', W']`. PyTorch: `torch.nn.ConvTranspose2d`.");
convolution!(ConvTranspose3d, conv_transpose3d, 3, true, "`[N, C, D, H, W]` to `[N, O, D', H', W']`. PyTorch: `torch.nn.ConvTranspose3d`.");
