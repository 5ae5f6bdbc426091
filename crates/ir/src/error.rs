//! The one error type: each variant names what was asked, of what, and what to do about it.

use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// An operator was given operands or attributes that it does not take.
    Operator { op: String, operands: String, problem: String, remedy: String },
    /// Text that is not the format it should be.
    Parse { line: usize, column: usize, problem: String },
    /// An IR that breaks its own rules; `node` says which part.
    Verify { node: String, problem: String },
    /// A size beyond what the target, the format or this build can hold.
    Limit { what: String, value: String, limit: String, remedy: String },
    /// Something that this target or build does not do.
    Unsupported { what: String, remedy: String },
    /// The device failed, ran out of memory or went away.
    Device { problem: String, remedy: String },
    /// Ranks of a group that disagree, are missing or have ended; `ranks` are those.
    Collective { what: String, ranks: Vec<usize>, problem: String, remedy: String },
    /// A value given by the user that is not usable (a shape that does not match its data, an unknown name).
    Invalid { what: String, problem: String, remedy: String },
}

impl Error {
    pub fn op(op: impl Into<String>, operands: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Operator { op: op.into(), operands: operands.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub fn invalid(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Invalid { what: what.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub fn verify(node: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Verify { node: node.into(), problem: problem.into() }
    }

    pub fn device(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Device { problem: problem.into(), remedy: remedy.into() }
    }

    pub fn unsupported(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Unsupported { what: what.into(), remedy: remedy.into() }
    }

    /// The same error seen from the operator that the user called: an inner operator's name would mean nothing to them.
    pub fn within(self, name: &str, shapes: &str) -> Self {
        match self {
            Error::Operator { problem, remedy, .. } => Error::op(name, shapes, problem, remedy),
            // What is too large is a part of the innermost operator, which the limit names; the call is what the user wrote.
            Error::Limit { what, value, limit, remedy } => {
                let what = what.rsplit_once("): ").map_or(what.as_str(), |(_, what)| what);
                Error::Limit { what: format!("{name}({shapes}): {what}"), value, limit, remedy }
            }
            e => e,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Operator { op, operands, problem, remedy } => {
                write!(f, "{op}({operands}): {problem}")?;
                tail(f, remedy)
            }
            Error::Parse { line, column, problem } => write!(f, "line {line}, column {column}: {problem}"),
            Error::Verify { node, problem } => write!(f, "invalid IR at {node}: {problem}"),
            Error::Limit { what, value, limit, remedy } => {
                write!(f, "{what} is {value}, the limit is {limit}")?;
                tail(f, remedy)
            }
            Error::Collective { what, ranks, problem, remedy } => {
                let list = ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                write!(f, "{what}: {} {list}: {problem}", if ranks.len() == 1 { "rank" } else { "ranks" })?;
                tail(f, remedy)
            }
            Error::Unsupported { what, remedy } => {
                write!(f, "not supported: {what}")?;
                tail(f, remedy)
            }
            Error::Device { problem, remedy } => {
                write!(f, "device: {problem}")?;
                tail(f, remedy)
            }
            Error::Invalid { what, problem, remedy } => {
                write!(f, "{what}: {problem}")?;
                tail(f, remedy)
            }
        }
    }
}

fn tail(f: &mut fmt::Formatter<'_>, remedy: &str) -> fmt::Result {
    if remedy.is_empty() { Ok(()) } else { write!(f, "; {remedy}") }
}

impl std::error::Error for Error {}
