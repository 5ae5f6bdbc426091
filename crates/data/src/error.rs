//! What can be wrong with data, and where.

use std::fmt;
use std::time::Duration;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error names what it is about: an option, an item, a file and the place in it, a column and its row.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Options that do not go together, or a value that an option does not take.
    Option { option: String, problem: String, remedy: String },
    /// An item of a data set could not be made.
    Item { item: String, source: Box<Error> },
    /// The code that makes an item panicked.
    Panic { item: String, message: String },
    /// A batch did not come in time.
    Timeout { batch: String, waited: Duration },
    /// A worker thread could not start, or ended.
    Worker { worker: usize, problem: String },
    /// A file, or one place in it (`line 7`, `entry 000012.png`, `row group 3`).
    File { path: String, place: String, problem: String, remedy: String },
    /// Bytes that are not those that were written.
    Checksum { path: String, place: String, expected: String, found: String },
    /// A value of a table; rows are counted from 0.
    Column { column: String, row: Option<u64>, problem: String, remedy: String },
    /// A saved position that does not fit.
    State { problem: String, remedy: String },
    /// From tensors and devices.
    Tensor(aludel_ir::Error),
}

impl Error {
    pub fn option(option: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Option { option: option.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub fn file(path: impl Into<String>, place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::File { path: path.into(), place: place.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub fn column(column: impl Into<String>, row: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Column { column: column.into(), row, problem: problem.into(), remedy: remedy.into() }
    }

    pub fn state(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::State { problem: problem.into(), remedy: remedy.into() }
    }

    /// What the system says of a file.
    pub fn io(path: impl Into<String>, place: impl Into<String>, e: &std::io::Error) -> Error {
        use std::io::ErrorKind;
        // What reads by the system's interface hands on an error of our own, which says more.
        if let Some(own) = e.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
            return own.clone();
        }
        let remedy = match e.kind() {
            ErrorKind::NotFound => "check the path",
            ErrorKind::PermissionDenied => "choose a file that you may read",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space",
            ErrorKind::UnexpectedEof => "the file is cut short: fetch it anew",
            _ => "check the file and the disk",
        };
        Error::file(path, place, e.to_string(), remedy)
    }

    /// The same error, as one of this item.
    pub fn of_item(self, item: impl Into<String>) -> Error {
        Error::Item { item: item.into(), source: Box::new(self) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // "problem: remedy", without the second half where nobody can do anything.
        let tail = |remedy: &str| if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        match self {
            Error::Option { option, problem, remedy } => write!(f, "{option}: {problem}{}", tail(remedy)),
            Error::Item { item, source } => write!(f, "{item}: {source}"),
            Error::Panic { item, message } => write!(f, "{item}: the code that makes it panicked: {message}"),
            Error::Timeout { batch, waited } => {
                write!(f, "{batch} did not come within {} s; raise the timeout, or look at what its items wait for", waited.as_secs_f64())
            }
            Error::Worker { worker, problem } => write!(f, "worker {worker}: {problem}"),
            Error::File { path, place, problem, remedy } => {
                let place = if place.is_empty() { String::new() } else { format!(", {place}") };
                write!(f, "{path}{place}: {problem}{}", tail(remedy))
            }
            Error::Checksum { path, place, expected, found } => {
                let place = if place.is_empty() { String::new() } else { format!(", {place}") };
                write!(f, "{path}{place}: the checksum is {found} and should be {expected}; the file is damaged: fetch it anew")
            }
            Error::Column { column, row, problem, remedy } => {
                let row = row.map_or(String::new(), |r| format!(", row {r} (counted from 0)"));
                write!(f, "column `{column}`{row}: {problem}{}", tail(remedy))
            }
            Error::State { problem, remedy } => write!(f, "saved position: {problem}{}", tail(remedy)),
            Error::Tensor(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Item { source, .. } => Some(source),
            Error::Tensor(e) => Some(e),
            _ => None,
        }
    }
}

impl From<aludel_ir::Error> for Error {
    fn from(e: aludel_ir::Error) -> Error {
        Error::Tensor(e)
    }
}

/// For whoever reports errors of tensors only.
impl From<Error> for aludel_ir::Error {
    fn from(e: Error) -> aludel_ir::Error {
        match e {
            Error::Tensor(e) => e,
            e => aludel_ir::Error::invalid("data", e.to_string(), ""),
        }
    }
}
