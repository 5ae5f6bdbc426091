//! Streams of samples whose position can be saved: iterators that fail, with the adaptors that PyTorch's users know.
//!
//! ```
//! use aludel_data::Pipe;
//! use aludel_data::pipe;
//!
//! # fn main() -> aludel_data::Result<()> {
//! let stream = || pipe::items((0..1000).collect()).filter(|i| i % 3 == 0).shuffle(100, 7).batch(32, false);
//! let mut running = stream();
//! running.next().transpose()?;
//! let position = running.state()?;                     // JSON: to be kept with a checkpoint
//! let mut resumed = stream();
//! resumed.restore(&position)?;
//! assert_eq!(resumed.next(), running.next());          // bit for bit
//! # Ok(())
//! # }
//! ```
//!
//! A pipe's state holds what cannot be read again cheaply: positions, the state of random numbers, the items of a shuffle's buffer. An error
//! is an item of the stream: the next call goes on behind it, or says that there is nothing more.

mod cache;
mod combine;
mod from;
mod group;
mod pace;
mod parallel;
mod prefetch;
mod shuffle;
mod simple;

pub use cache::Cache;
pub use combine::{Concat, Mix, Zip, concat, mix};
pub use from::{FromIter, Items, from_iter, items};
pub use group::{Batch, Unbatch};
pub use parallel::ParallelMap;
pub use prefetch::Prefetch;
pub use shuffle::Shuffle;
pub use simple::{Cycle, Filter, Limit, Map, Shard};

use crate::loader::WorkerInfo;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a pipe is.
pub type State = serde_json::Value;

/// An item as a state holds it.
pub trait Saved: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> Saved for T {}

/// See the [module](self).
pub trait Pipe: Send {
    type Item: Send + 'static;

    /// The next item. After `None` there is nothing more. An error does not end a stream by itself, but none goes on with errors for ever.
    fn next(&mut self) -> Option<Result<Self::Item>>;

    /// The position before the item that comes next.
    ///
    /// # Errors
    ///
    /// When the position cannot be told.
    fn state(&self) -> Result<State>;

    /// Goes to a position, from wherever it is, forwards or back.
    ///
    /// # Errors
    ///
    /// When it is no position of this pipe.
    fn restore(&mut self, state: &State) -> Result<()>;

    /// Each item as a function makes it.
    fn map<T, F>(self, function: F) -> Map<Self, F>
    where
        Self: Sized,
        T: Send + 'static,
        F: FnMut(Self::Item) -> Result<T> + Send,
    {
        Map { source: self, function }
    }

    /// As [`Pipe::map`] on several threads; items keep their order.
    fn map_parallel<T, F>(self, threads: usize, function: F) -> ParallelMap<Self, F, T>
    where
        Self: Sized,
        T: Send + 'static,
        F: Fn(Self::Item) -> Result<T> + Send + Sync + 'static,
    {
        ParallelMap::new(self, threads, function)
    }

    /// The items for which a function says true.
    fn filter<F: FnMut(&Self::Item) -> bool + Send>(self, keep: F) -> Filter<Self, F>
    where
        Self: Sized,
    {
        Filter { source: self, keep }
    }

    /// Lists of so many items; a last one that is shorter is dropped with `drop_last`.
    fn batch(self, size: usize, drop_last: bool) -> Batch<Self>
    where
        Self: Sized,
    {
        Batch::new(self, size, drop_last)
    }

    /// The items of lists.
    fn unbatch<T: Saved + Send + 'static>(self) -> Unbatch<Self, T>
    where
        Self: Pipe<Item = Vec<T>> + Sized,
    {
        Unbatch::new(self)
    }

    /// Each item is drawn from a buffer of so many: a random order, as far as the buffer reaches.
    fn shuffle(self, buffer: usize, seed: u64) -> Shuffle<Self>
    where
        Self: Sized,
        Self::Item: Saved,
    {
        Shuffle::new(self, buffer, seed)
    }

    /// Every `count`th item, from number `index` on: a share that no other has.
    fn shard(self, index: usize, count: usize) -> Shard<Self>
    where
        Self: Sized,
    {
        Shard { source: self, index, count: count.max(1), at: 0 }
    }

    /// The share of a worker of a rank.
    fn shard_for(self, worker: &WorkerInfo) -> Shard<Self>
    where
        Self: Sized,
    {
        let (index, count) = worker.shard();
        self.shard(index, count)
    }

    /// Pairs with another pipe's items; ends with the shorter one.
    fn zip<P: Pipe>(self, other: P) -> Zip<Self, P>
    where
        Self: Sized,
    {
        Zip { a: self, b: other }
    }

    /// The first so many items.
    fn limit(self, items: u64) -> Limit<Self>
    where
        Self: Sized,
    {
        Limit { source: self, items, taken: 0 }
    }

    /// From the beginning again when it ends, without end. What is random before it repeats itself; shuffle behind it.
    ///
    /// # Errors
    ///
    /// When the pipe cannot tell its position.
    fn cycle(self) -> Result<Cycle<Self>>
    where
        Self: Sized,
    {
        Cycle::new(self)
    }

    /// Keeps the items of the first round in memory, at most so many, for the rounds after it ([`Pipe::cycle`]).
    ///
    /// # Errors
    ///
    /// When the pipe cannot tell its position.
    fn cache(self, at_most: usize) -> Result<Cache<Self>>
    where
        Self: Sized,
        Self::Item: Clone,
    {
        Cache::new(self, at_most)
    }

    /// Reads so many items ahead on a thread of its own.
    fn prefetch(self, items: usize) -> Prefetch<Self>
    where
        Self: Sized + 'static,
    {
        Prefetch::new(self, items)
    }

    /// As an iterator.
    fn iter(&mut self) -> impl Iterator<Item = Result<Self::Item>>
    where
        Self: Sized,
    {
        std::iter::from_fn(move || self.next())
    }

    /// Any pipe of such items.
    fn boxed(self) -> BoxedPipe<Self::Item>
    where
        Self: Sized + 'static,
    {
        Box::new(self)
    }
}

pub type BoxedPipe<T> = Box<dyn Pipe<Item = T>>;

impl<P: Pipe + ?Sized> Pipe for Box<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        (**self).next()
    }

    fn state(&self) -> Result<State> {
        (**self).state()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        (**self).restore(state)
    }
}

/// Samples one after the other. Every worker of a loader reads a stream of its own, which has to give that worker's share
/// ([`Pipe::shard_for`]): else every worker gives every sample, as in PyTorch.
pub trait IterableDataset: Send + Sync + 'static {
    type Item: Send + 'static;

    /// The stream of one worker in one epoch, from its beginning.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    fn open(&self, worker: &WorkerInfo, epoch: u64) -> Result<BoxedPipe<Self::Item>>;
}

impl<T, F> IterableDataset for F
where
    T: Send + 'static,
    F: Fn(&WorkerInfo, u64) -> Result<BoxedPipe<T>> + Send + Sync + 'static,
{
    type Item = T;

    fn open(&self, worker: &WorkerInfo, epoch: u64) -> Result<BoxedPipe<T>> {
        self(worker, epoch)
    }
}

/// A part of a state.
pub(crate) fn part<T: DeserializeOwned>(state: &State, name: &str) -> Result<T> {
    let value = state.get(name).ok_or_else(|| other(&format!("has no `{name}`")))?;
    serde::Deserialize::deserialize(value).map_err(|e: serde_json::Error| other(&format!("`{name}` cannot be read: {e}")))
}

pub(crate) fn child<'a>(state: &'a State, name: &str) -> Result<&'a State> {
    state.get(name).ok_or_else(|| other(&format!("has no `{name}`")))
}

pub(crate) fn other(problem: &str) -> Error {
    Error::state(problem, "it is one of another pipe: build the same pipe, or start anew")
}

/// An item for a state.
pub(crate) fn save<T: Serialize>(value: &T) -> Result<State> {
    serde_json::to_value(value).map_err(|e| Error::state(format!("an item cannot be saved: {e}"), "give items that JSON can hold"))
}

/// Goes over so many items.
pub(crate) fn skip<P: Pipe>(pipe: &mut P, items: u64) -> Result<()> {
    for _ in 0..items {
        if pipe.next().is_none() {
            return Err(other("is behind the end of the data"));
        }
    }
    Ok(())
}
