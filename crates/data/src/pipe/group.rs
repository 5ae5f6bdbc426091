//! Lists of items, and items of lists.

use super::{Pipe, Saved, State, child, part, save};
use crate::{Error, Result};
use serde_json::json;
use std::collections::VecDeque;

/// See [`Pipe::batch`].
pub struct Batch<P: Pipe> {
    source: P,
    size: usize,
    drop_last: bool,
    /// Items that came before an error, for the batch that comes after it.
    held: Vec<P::Item>,
}

impl<P: Pipe> Batch<P> {
    pub(super) fn new(source: P, size: usize, drop_last: bool) -> Batch<P> {
        Batch { source, size: size.max(1), drop_last, held: Vec::new() }
    }
}

impl<P: Pipe> Pipe for Batch<P> {
    type Item = Vec<P::Item>;

    fn next(&mut self) -> Option<Result<Vec<P::Item>>> {
        while self.held.len() < self.size {
            match self.source.next() {
                Some(Ok(item)) => self.held.push(item),
                Some(Err(e)) => return Some(Err(e)),
                None if self.drop_last || self.held.is_empty() => {
                    self.held.clear();
                    return None;
                }
                None => break,
            }
        }
        Some(Ok(std::mem::take(&mut self.held)))
    }

    fn state(&self) -> Result<State> {
        if !self.held.is_empty() {
            return Err(Error::state("an error interrupted a batch", "take the next batch before the position is saved"));
        }
        self.source.state()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.held.clear();
        self.source.restore(state)
    }
}

/// See [`Pipe::unbatch`].
pub struct Unbatch<P, T> {
    source: P,
    /// What is left of the list at hand.
    rest: VecDeque<T>,
}

impl<P, T> Unbatch<P, T> {
    pub(super) fn new(source: P) -> Unbatch<P, T> {
        Unbatch { source, rest: VecDeque::new() }
    }
}

impl<T: Saved + Send + 'static, P: Pipe<Item = Vec<T>>> Pipe for Unbatch<P, T> {
    type Item = T;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(item) = self.rest.pop_front() {
                return Some(Ok(item));
            }
            match self.source.next()? {
                Ok(list) => self.rest = list.into(),
                Err(e) => return Some(Err(e)),
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "source": self.source.state()?, "rest": self.rest.iter().map(save).collect::<Result<Vec<_>>>()? }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.rest = part::<Vec<T>>(state, "rest")?.into();
        self.source.restore(child(state, "source")?)
    }
}
