//! The model zoo and the playground's presets, written with the public API only.

pub mod data;
mod gpt;
mod mlp;
pub mod presets;
mod vision;

pub use gpt::{Block, Gpt};
pub use mlp::Mlp;
pub use vision::{Autoencoder, BasicBlock, Bottleneck, Cnn, LeNet, ResNet, ResNetBlock, ResNetConfig, ResNetKind, Vgg, VggConfig};
