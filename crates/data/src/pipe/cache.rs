//! Items kept in memory from the first round on.

use super::{Pipe, State, part, skip};
use crate::{Error, Result};
use serde_json::json;

/// See [`Pipe::cache`].
pub struct Cache<P: Pipe> {
    source: P,
    beginning: State,
    at_most: usize,
    kept: Vec<P::Item>,
    /// Whether all items are kept.
    complete: bool,
    /// The number of the next item.
    at: u64,
}

impl<P: Pipe> Cache<P>
where
    P::Item: Clone,
{
    pub(super) fn new(source: P, at_most: usize) -> Result<Cache<P>> {
        let beginning = source.state()?;
        Ok(Cache { source, beginning, at_most, kept: Vec::new(), complete: false, at: 0 })
    }

    /// The source's next item, kept.
    fn read(&mut self) -> Option<Result<P::Item>> {
        match self.source.next() {
            None => {
                self.complete = true;
                None
            }
            Some(Ok(_)) if self.kept.len() == self.at_most => {
                self.complete = true;
                let problem = format!("there are more than {} items", self.at_most);
                Some(Err(Error::option("cache", problem, "let it keep more, or leave it out")))
            }
            Some(Ok(item)) => {
                self.kept.push(item.clone());
                Some(Ok(item))
            }
            e => e,
        }
    }
}

impl<P: Pipe> Pipe for Cache<P>
where
    P::Item: Clone,
{
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        let item = match self.kept.get(self.at as usize) {
            Some(item) => Ok(item.clone()),
            None if self.complete => return None,
            // An error has no place among the items.
            None => match self.read()? {
                Ok(item) => Ok(item),
                e => return Some(e),
            },
        };
        self.at += 1;
        Some(item)
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "at": self.at }))
    }

    /// What is not kept yet is read, from the beginning.
    fn restore(&mut self, state: &State) -> Result<()> {
        let at: u64 = part(state, "at")?;
        if self.complete || at <= self.kept.len() as u64 {
            self.at = at;
            return Ok(());
        }
        self.source.restore(&self.beginning)?;
        (self.kept, self.at) = (Vec::new(), 0);
        skip(self, at)
    }
}
