//! Algorithms of the standard library without types of the machine: random numbers, regular expressions, mathematics.
//!
//! Errors carry the exception's class by name and CPython's message ([`crate::text::Failure`]).

pub mod math;
pub mod regex;
pub mod torch_random;
pub mod twister;
