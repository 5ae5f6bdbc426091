//! Adaptors that keep no items.

use super::{Pipe, State, child, part};
use crate::Result;
use serde_json::json;

/// See [`Pipe::map`].
pub struct Map<P, F> {
    pub(super) source: P,
    pub(super) function: F,
}

impl<P: Pipe, T: Send + 'static, F: FnMut(P::Item) -> Result<T> + Send> Pipe for Map<P, F> {
    type Item = T;

    fn next(&mut self) -> Option<Result<T>> {
        Some(self.source.next()?.and_then(&mut self.function))
    }

    fn state(&self) -> Result<State> {
        self.source.state()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.source.restore(state)
    }
}

/// See [`Pipe::filter`].
pub struct Filter<P, F> {
    pub(super) source: P,
    pub(super) keep: F,
}

impl<P: Pipe, F: FnMut(&P::Item) -> bool + Send> Pipe for Filter<P, F> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        loop {
            match self.source.next()? {
                Ok(item) if !(self.keep)(&item) => {}
                item => return Some(item),
            }
        }
    }

    fn state(&self) -> Result<State> {
        self.source.state()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.source.restore(state)
    }
}

/// See [`Pipe::shard`].
pub struct Shard<P> {
    pub(super) source: P,
    pub(super) index: usize,
    pub(super) count: usize,
    /// The number of the source's next item, in turns of `count`.
    pub(super) at: usize,
}

impl<P: Pipe> Pipe for Shard<P> {
    type Item = P::Item;

    /// An error is everybody's: nobody can tell whose item it would have been.
    fn next(&mut self) -> Option<Result<P::Item>> {
        loop {
            let item = self.source.next()?;
            let mine = self.at == self.index;
            self.at = (self.at + 1) % self.count;
            if mine || item.is_err() {
                return Some(item);
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "source": self.source.state()?, "at": self.at }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.at = part(state, "at")?;
        self.source.restore(child(state, "source")?)
    }
}

/// See [`Pipe::limit`].
pub struct Limit<P> {
    pub(super) source: P,
    pub(super) items: u64,
    pub(super) taken: u64,
}

impl<P: Pipe> Pipe for Limit<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        if self.taken == self.items {
            return None;
        }
        let item = self.source.next()?;
        self.taken += 1;
        Some(item)
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "source": self.source.state()?, "taken": self.taken }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.taken = part::<u64>(state, "taken")?.min(self.items);
        self.source.restore(child(state, "source")?)
    }
}

/// See [`Pipe::cycle`].
pub struct Cycle<P> {
    source: P,
    beginning: State,
    /// Whether this round gave anything: an empty stream is no endless one.
    any: bool,
}

impl<P: Pipe> Cycle<P> {
    pub(super) fn new(source: P) -> Result<Cycle<P>> {
        let beginning = source.state()?;
        Ok(Cycle { source, beginning, any: false })
    }
}

impl<P: Pipe> Pipe for Cycle<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        loop {
            match self.source.next() {
                Some(item) => {
                    // A round of nothing but errors would be one for ever.
                    self.any |= item.is_ok();
                    return Some(item);
                }
                None if !self.any => return None,
                None => {
                    self.any = false;
                    if let Err(e) = self.source.restore(&self.beginning) {
                        return Some(Err(e));
                    }
                }
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "source": self.source.state()?, "beginning": self.beginning, "any": self.any }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.any = part(state, "any")?;
        self.beginning = child(state, "beginning")?.clone();
        self.source.restore(child(state, "source")?)
    }
}
