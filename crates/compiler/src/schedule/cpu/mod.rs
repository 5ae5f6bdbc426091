//! Templates for CPUs: a workgroup is a piece of work that one thread does, its memory is that thread's scratch.
//!
//! Loops are written so that the C compiler vectorises the innermost one: along memory, without divisions, with choices instead
//! of branches (a choice evaluates only what it chooses). Pieces are large enough to hide what taking one costs, and many
//! enough for the cores; which piece runs where decides no result.

pub(super) mod attention;
mod cascade;
pub(super) mod contract;
pub(super) mod gather;
mod loops;
mod merge;
pub(super) mod pointwise;
mod registers;
pub(super) mod rows;
pub(super) mod scan;
pub(super) mod scatter;
mod tile;
pub(super) mod windows;
