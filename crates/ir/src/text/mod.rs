//! The text formats of the three IRs: printing, and parsing what was printed or written by hand.
//!
//! ```text
//! graph step(%x: f32[B, 64], %y: i32[B], state %w: f32[10, 64])
//! where B in 2..=65536 = hint 64 from arg0.dim0,
//!       guard B - 64 == 0 "operands agree"
//! {
//!   %z = linear(%x, %w) : f32[B, 10]                          # model.rs:12 [0]
//!   %loss = cross_entropy(%z, %y, reduction=mean) : f32[]     # model.rs:13 [1]
//!   %3 = permute[1, 0] %w : f32[64, 10]                       # [0] backward
//!   return %loss, state %w <- %4
//! }
//! ```
//!
//! Rules that hold for all three:
//! - An operator of the table is a call, `linear(%x, %w, eps=1e-5)`; a prim is an instruction, `add %a, %b` or
//!   `reduce.sum[1] %a` with its static arguments in brackets.
//! - A name that is not an identifier, or not the only one of its kind, is replaced by a number (`%12`, `$3`, `p4`) and kept
//!   as a string where the thing is declared: `%12 "a name"`. Names are never lost.
//! - A function is `%y = function name(%x) checkpoint { body(%a: f32[2]) {..} vjp(..) {..} jvp(..) {..} } : f32[2]`, where
//!   `checkpoint`, `vjp` and `jvp` are there as they apply. Its graphs use the sizes of the graph that they are in.
//! - `#` starts an annotation that belongs to the node: source location, indices of captured operators, phase. `//` starts
//!   a comment, which is skipped.
//! - The type after `:` may be left out in a graph; it is then inferred.
//! - Unnamed values are numbered in order of definition, so equal graphs have equal texts whatever ids they were built with:
//!   `parse(print(g)) == g.compact()` and `print(parse(t)) == t` for printed `t`.
//!
//! Parsing never panics and ends on any input: it reads tokens left to right once, nesting is limited to [`MAX_DEPTH`], and
//! numbers that do not fit are errors. Each error says line and column.

mod collective;
mod expr;
mod graph;
mod kernel;
mod lexer;
mod loops;
mod shape;

pub use graph::{parse_graph, print_graph};
pub use kernel::{parse_kernel, print_kernel};
pub use loops::{parse_loops, print_loops};

/// How deep expressions and statements of a text may nest.
pub const MAX_DEPTH: usize = 100;

macro_rules! text_traits {
    ($($ty:path, $parse:path, $print:path;)*) => {$(
        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$print(self))
            }
        }
        impl std::str::FromStr for $ty {
            type Err = crate::error::Error;
            fn from_str(text: &str) -> crate::error::Result<Self> {
                $parse(text)
            }
        }
    )*};
}
text_traits! {
    crate::graph::Graph, parse_graph, print_graph;
    crate::loops::LoopProgram, parse_loops, print_loops;
    crate::kernel::Kernel, parse_kernel, print_kernel;
}
