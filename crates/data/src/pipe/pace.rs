//! When the position of a stream that is read ahead is worth keeping.

use super::{Pipe, State};
use std::time::Instant;

/// Positions may take no more than one in so many parts of the time: that of a shuffle holds all items of its buffer. Who goes on from one
/// reads again what came since, which is as little as this times what the position cost.
const SHARE: u32 = 32;

/// Takes positions of a pipe, now and then.
#[derive(Default)]
pub(super) struct Pace {
    /// Not before.
    next: Option<Instant>,
}

impl Pace {
    /// The position, if it is time; always at first.
    pub fn state(&mut self, source: &impl Pipe) -> Option<State> {
        let begin = Instant::now();
        if self.next.is_some_and(|next| begin < next) {
            return None;
        }
        let state = source.state().ok()?;
        let end = Instant::now();
        self.next = end.checked_add((end - begin) * SHARE);
        Some(state)
    }
}
