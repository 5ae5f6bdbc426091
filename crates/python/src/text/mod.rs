//! Text as CPython writes it: numbers, format specifications, algorithms of `str`. Pure functions, no values of the machine.
//!
//! Positions and widths count code points, as Python's do. Errors carry the exception's class by name and CPython's message.

pub mod fields;
pub mod float;
pub mod int;
pub mod percent;
pub mod quote;
pub mod spec;
pub mod split;
pub mod strings;
#[rustfmt::skip]
mod tables;
pub mod unicode;

/// An exception to raise: the built-in class by name, and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: &'static str,
    pub message: String,
}

impl Failure {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }

    pub fn value(message: impl Into<String>) -> Failure {
        Failure::new("ValueError", message)
    }

    pub fn type_error(message: impl Into<String>) -> Failure {
        Failure::new("TypeError", message)
    }

    pub fn overflow(message: impl Into<String>) -> Failure {
        Failure::new("OverflowError", message)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Failure {}

/// The longest text that padding alone may make; beyond it is a `MemoryError`, as an allocation that fails would be.
pub const LONGEST: usize = 1 << 28;

/// The number of code points of `s`.
pub fn length(s: &str) -> usize {
    if s.is_ascii() { s.len() } else { s.chars().count() }
}

/// Refuses a text of `characters` that would be larger than [`LONGEST`].
pub fn check_length(characters: usize) -> Result<(), Failure> {
    if characters > LONGEST { Err(Failure::new("MemoryError", "")) } else { Ok(()) }
}
