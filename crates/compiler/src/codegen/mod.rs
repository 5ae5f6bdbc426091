//! Code generation: a [`aludel_ir::kernel::Kernel`] as the text of a target's language.

mod binding;
mod fold;
pub mod prelude;
pub mod spell;
mod text;
pub mod wgsl;
