//! The text of a [`crate::graph::Graph`].

mod parse;
mod print;

pub use parse::parse_graph;
pub use print::print_graph;
