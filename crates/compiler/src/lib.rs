//! The compiler core: pure functions from a captured graph to a program.
//!
//! No I/O, no GPU API, no panic on user input; builds for wasm32. Same input, same output, byte for byte.

pub mod codegen;
mod device;
mod graph;
mod loops;
mod nest;
mod parts;
mod pipeline;
mod plan;
pub mod schedule;

pub use device::{Language, MatmulPrecision, Target};
pub use graph::{autodiff, partition};
pub use loops::{fuse, lower};
pub use parts::{Part, Parts};
pub mod scale;

pub use pipeline::{Compilation, Pass, compile};

/// How much of a graph becomes one program, and how its tensors are bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Style {
    /// A whole training step: arena, state and inputs are one binding each.
    Step,
    /// One operator run at once: every tensor is its own binding.
    Operator,
}

/// What a caller may ask of the compiler.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub style: Style,
    /// Fuse kernels; off only to compare.
    pub fuse: bool,
    /// The parts of the compiler that run; all of them but to compare.
    pub parts: Parts,
    /// The share of the activation memory that the default partition keeps which may be kept: below 1, more is recomputed.
    pub memory_budget: f64,
    /// Keep the text of every stage in the program, for an inspector.
    pub keep_stages: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { style: Style::Step, fuse: true, parts: Parts::ALL, memory_budget: 1.0, keep_stages: false }
    }
}
