//! Refusals, and their names in the metrics.

use aludel_protocol::remote::Refusal;

/// Every reason that a request may be refused for, as the metrics name it.
pub const REASONS: [&str; 11] =
    ["version", "token", "origin", "malformed", "no_session", "no_device", "limit", "busy", "job", "compile", "timeout"];

/// The reason of a refusal.
pub fn reason(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Version { .. } => "version",
        Refusal::Token => "token",
        Refusal::Malformed { .. } => "malformed",
        Refusal::NoSession => "no_session",
        Refusal::NoDevice { .. } => "no_device",
        Refusal::Limit { .. } => "limit",
        Refusal::Busy { .. } => "busy",
        Refusal::Job { .. } => "job",
        Refusal::Compile { .. } => "compile",
    }
}

/// A refusal when a value is beyond its limit.
pub fn within(what: &str, value: u64, limit: u64) -> Result<(), Refusal> {
    if value <= limit { Ok(()) } else { Err(Refusal::Limit { what: what.into(), value, limit }) }
}

pub fn job(message: impl ToString) -> Refusal {
    Refusal::Job { message: message.to_string() }
}
