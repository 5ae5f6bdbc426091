//! The model zoo and the playground's presets, written with the public API only.

pub mod data;
pub mod presets;
