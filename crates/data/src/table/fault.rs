//! What is wrong with a column, before it is known which one it is.

use arrow::error::ArrowError;
use std::fmt;

/// An error of a function of columns; whoever knows the column makes an [`Error`](crate::Error) of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The row of the column, where it is one.
    pub row: Option<usize>,
    pub problem: String,
    pub remedy: String,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault { row: None, problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn at(row: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault { row: Some(row), problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row.map_or(String::new(), |row| format!("row {row}: "));
        write!(f, "{row}{}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for Fault {}

/// What arrow's kernels say.
impl From<ArrowError> for Fault {
    fn from(e: ArrowError) -> Fault {
        Fault::new(e.to_string(), "check the column's type")
    }
}
