//! Pipes of what is in memory, or of any iterator.

use super::{Pipe, State, other, part};
use crate::Result;
use serde_json::json;

/// The items of a list.
pub fn items<T: Clone + Send + 'static>(items: Vec<T>) -> Items<T> {
    Items { items, at: 0 }
}

/// See [`items`].
pub struct Items<T> {
    items: Vec<T>,
    at: usize,
}

impl<T: Clone + Send + 'static> Pipe for Items<T> {
    type Item = T;

    fn next(&mut self) -> Option<Result<T>> {
        let item = self.items.get(self.at)?.clone();
        self.at += 1;
        Some(Ok(item))
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "at": self.at }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let at: usize = part(state, "at")?;
        if at > self.items.len() {
            return Err(other("is behind the end of the data"));
        }
        self.at = at;
        Ok(())
    }
}

/// The items of an iterator, which `make` begins anew; positions are found by going through it again.
pub fn from_iter<I, F>(make: F) -> FromIter<I::IntoIter, F>
where
    I: IntoIterator,
    F: Fn() -> I,
{
    FromIter { iterator: make().into_iter(), make, at: 0 }
}

/// See [`from_iter`].
pub struct FromIter<I, F> {
    iterator: I,
    make: F,
    at: u64,
}

impl<T, I, J, F> Pipe for FromIter<I, F>
where
    T: Send + 'static,
    I: Iterator<Item = Result<T>> + Send,
    J: IntoIterator<IntoIter = I>,
    F: Fn() -> J + Send,
{
    type Item = T;

    fn next(&mut self) -> Option<Result<T>> {
        let item = self.iterator.next()?;
        self.at += 1;
        Some(item)
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "at": self.at }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let at: u64 = part(state, "at")?;
        (self.iterator, self.at) = ((self.make)().into_iter(), at);
        for _ in 0..at {
            if self.iterator.next().is_none() {
                return Err(other("is behind the end of the data"));
            }
        }
        Ok(())
    }
}
