//! Aludel: tensors, modules and optimizers as in PyTorch, and [`compile()`], which makes a whole training step (forward, backward, update)
//! one graph of few kernels. It runs on WebGPU in the browser and natively, and on an interpreter everywhere.
//!
//! ```
//! use aludel::prelude::*;
//!
//! #[derive(Clone, Tree)]
//! struct Train {
//!     model: Mlp,
//!     optimizer: AdamW,
//! }
//!
//! # fn main() -> aludel::Result<()> {
//! # let device = Device::interpreter();
//! # let model = Mlp::new(&mut Init::new(&device, 0), &[2, 16, 2], Activation::Tanh)?;
//! # let optimizer = AdamW::new(&model, AdamConfig { lr: 0.05, ..Default::default() })?;
//! # let mut train = Train { model, optimizer };
//! # let x = Tensor::randn(&device, [32, 2], 1)?;
//! # let y = x.prod(1)?.gt(0.0)?.to(DType::I32)?;
//! # let batch = (x, y);
//! let step = compile(|s: &mut Train, (x, y): &(Tensor, Tensor)| {
//!     let loss = s.model.forward(x)?.cross_entropy(y)?;
//!     s.optimizer.step(&mut s.model, &loss.backward()?)?;
//!     Ok(loss)
//! });
//! # let first = step.call(&mut train, &batch)?.item()?;
//! # let mut loss = first;
//! # for _ in 0..60 {
//! #     loss = step.call(&mut train, &batch)?.item()?;
//! # }
//! # assert!(loss < 0.7 * first, "{first} {loss}");
//! # assert_eq!(step.compilations(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! Without `compile` the closure is an eager step: one kernel for each operator, as PyTorch runs by default.

// The derive macro names this crate by its full name, here too.
extern crate self as aludel;

#[cfg(feature = "data")]
pub use aludel_data as data;
pub use aludel_models as models;
pub use aludel_nn as nn;
pub use aludel_tensor::*;

// The guides' examples are tests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../docs/modules.md")]
    struct Modules;
    #[doc = include_str!("../../../docs/optimizers.md")]
    struct Optimizers;
    #[doc = include_str!("../../../docs/transforms.md")]
    struct Transforms;
    #[doc = include_str!("../../../docs/complex.md")]
    struct Complex;
    #[cfg(feature = "data")]
    #[doc = include_str!("../../../docs/data.md")]
    struct Data;
}

/// What a training program needs.
pub mod prelude {
    pub use aludel_models::{Gpt, Mlp};
    pub use aludel_nn::{
        Activation, Adam, AdamConfig, AdamW, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, ConvTranspose2d, Dropout, Embedding, Flatten,
        Generator, GradScaler, GradScalerConfig, GroupNorm, Gru, Init, Layer, LayerNorm, Linear, Lstm, MaxPool2d, MixedPrecision, Module,
        ModuleList, MultiheadAttention, Optimizer, ParamGroup, Parameters, Precision, RmsNorm, RnnOptions, RotaryEmbedding, Scheduler,
        Sequential, Sgd, SgdConfig, TransformerEncoder, TransformerEncoderLayer, clip_grad_norm,
    };
    pub use aludel_tensor::{DType, Device, Gradients, Result, Snapshot, Tensor, Tree, autocast, compile, no_grad};
}
