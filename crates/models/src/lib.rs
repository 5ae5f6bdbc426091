//! The model zoo and the playground's presets, written with the public API only.

pub mod data;
mod gpt;
mod mlp;
pub mod presets;

pub use gpt::{Block, Gpt};
pub use mlp::Mlp;
