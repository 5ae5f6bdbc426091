//! Modules, initialisers and optimizers, by PyTorch's names and with PyTorch's defaults.
//!
//! A module is a tree of tensors with a `forward`. Parameters are the tensors that require a gradient; their names are the paths of the
//! tree, which are PyTorch's `state_dict` names for modules that name their fields as PyTorch does.

pub mod clip;
pub mod init;
pub mod layer;
pub mod module;
pub mod optim;
pub mod random;

pub use clip::clip_grad_norm;
pub use init::Init;
pub use layer::{Activation, Dropout, Embedding, Layer, LayerNorm, Linear, RmsNorm, Sequential};
pub use module::{Module, Parameters};
pub use optim::{Adam, AdamConfig, AdamW, Optimizer, Sgd, SgdConfig};
pub use random::Generator;
