//! Modules, initialisers and optimizers, by PyTorch's names and with PyTorch's defaults.
//!
//! A module is a tree of tensors with a `forward`. Parameters are the tensors that require a gradient; their names are the paths of the
//! tree, which are PyTorch's `state_dict` names for modules that name their fields as PyTorch does.

pub mod clip;
pub mod conv;
pub mod init;
pub mod layer;
pub mod mode;
pub mod module;
pub mod norm;
pub mod optim;
pub mod random;

pub use clip::clip_grad_norm;
pub use conv::{AdaptiveAvgPool2d, AvgPool2d, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, Flatten, MaxPool2d};
pub use init::Init;
pub use layer::{Activation, Dropout, Embedding, Identity, Layer, LayerNorm, Linear, RmsNorm, Sequential};
pub use mode::{Buffer, Training};
pub use module::{Module, Parameters};
pub use norm::{BatchNorm, BatchNorm1d, BatchNorm2d};
pub use optim::{Adam, AdamConfig, AdamW, Optimizer, Sgd, SgdConfig};
pub use random::Generator;
