//! A random order, within a bounded buffer.

use super::{Pipe, Saved, State, child, part, save};
use crate::{Random, Result};
use serde_json::json;

/// See [`Pipe::shuffle`].
pub struct Shuffle<P: Pipe> {
    source: P,
    size: usize,
    random: Random,
    buffer: Vec<P::Item>,
}

impl<P: Pipe> Shuffle<P> {
    pub(super) fn new(source: P, size: usize, seed: u64) -> Shuffle<P> {
        Shuffle { source, size: size.max(1), random: Random::new(seed), buffer: Vec::new() }
    }

    /// How many items are in the buffer.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }
}

impl<P: Pipe> Pipe for Shuffle<P>
where
    P::Item: Saved,
{
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        while self.buffer.len() < self.size {
            match self.source.next() {
                Some(Ok(item)) => self.buffer.push(item),
                Some(Err(e)) => return Some(Err(e)),
                None => break,
            }
        }
        let i = self.random.below(self.buffer.len());
        (!self.buffer.is_empty()).then(|| Ok(self.buffer.swap_remove(i)))
    }

    fn state(&self) -> Result<State> {
        let buffer = self.buffer.iter().map(save).collect::<Result<Vec<_>>>()?;
        Ok(json!({ "source": self.source.state()?, "random": save(&self.random)?, "buffer": buffer }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        (self.random, self.buffer) = (part(state, "random")?, part(state, "buffer")?);
        self.source.restore(child(state, "source")?)
    }
}
