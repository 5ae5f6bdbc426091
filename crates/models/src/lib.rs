//! The model zoo and the playground's presets, written with the public API only.

mod cnn;
pub mod data;
mod gpt;
mod mlp;
pub mod presets;

pub use cnn::{Autoencoder, Cnn, LeNet};
pub use gpt::{Block, Gpt};
pub use mlp::Mlp;
