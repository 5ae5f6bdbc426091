//! An epoch's batches, in order.

use super::pool::{Pool, Task};
use super::recipe::{Made, Meter, Order, Recipe, listed};
use super::stream::{self, Streams};
use super::{LoaderState, Options};
use crate::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The batches of an epoch. An error is of one batch: the next call goes on with the one after, except for [`Error::Timeout`], after which
/// it waits again for the same one.
pub struct Batches<B> {
    feed: Feed<B>,
    /// Where it began; streams know themselves how far they are.
    at: LoaderState,
    meter: Arc<Meter>,
    waited: Duration,
}

/// Indices of batches that were not handed out yet.
type Orders = Box<dyn Iterator<Item = Vec<usize>> + Send>;

enum Feed<B> {
    /// The caller's thread makes batches.
    Here(Orders, Arc<dyn Recipe<B>>),
    Workers(Orders, Workers<B>),
    Streams(Streams<B>),
}

/// What was handed to the workers, and what came back.
struct Workers<B> {
    pool: Arc<Pool<B>>,
    /// The most batches that are underway or ready.
    ahead: u64,
    timeout: Option<Duration>,
    /// The indices of those, from the one at the iterator's position on.
    underway: VecDeque<Vec<usize>>,
    ready: BTreeMap<u64, Result<Made<B>>>,
    replies: Receiver<(u64, Result<Made<B>>)>,
    reply: Sender<(u64, Result<Made<B>>)>,
    cancelled: Arc<AtomicBool>,
}

impl<B: Send + 'static> Batches<B> {
    pub(super) fn indexed(
        recipe: Arc<dyn Recipe<B>>,
        mut orders: Orders,
        pool: Option<Arc<Pool<B>>>,
        options: &Options,
        at: &LoaderState,
    ) -> Batches<B> {
        (0..at.batches).all(|_| orders.next().is_some());
        let feed = match pool {
            None => Feed::Here(orders, recipe),
            Some(pool) => {
                let (reply, replies) = channel();
                let (underway, ready, cancelled) = (VecDeque::new(), BTreeMap::new(), Arc::new(AtomicBool::new(false)));
                let (ahead, timeout) = (options.ahead(), options.timeout);
                Feed::Workers(orders, Workers { pool, ahead, timeout, underway, ready, replies, reply, cancelled })
            }
        };
        Batches { feed, at: at.clone(), meter: Arc::default(), waited: Duration::ZERO }
    }

    pub(super) fn streamed(recipe: &Arc<dyn stream::Recipe<B>>, options: &Options, at: &LoaderState) -> Result<Batches<B>> {
        let meter = Arc::default();
        let streams = Streams::open(recipe, options, at.epoch, &at.streams, at.turn, &meter)?;
        Ok(Batches { feed: Feed::Streams(streams), at: at.clone(), meter, waited: Duration::ZERO })
    }

    /// The position behind the batches taken so far: [`DataLoader::resume`](super::DataLoader::resume) goes on from there.
    ///
    /// # Errors
    ///
    /// When a stream cannot tell its position.
    pub fn state(&self) -> Result<LoaderState> {
        let mut state = self.at.clone();
        if let Feed::Streams(streams) = &self.feed {
            (state.streams, state.turn) = streams.state()?;
        }
        Ok(state)
    }

    /// How long the caller has waited for batches, all together: what a loader costs a training loop.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// How many samples are made and not handed out, and the most that were at one moment.
    pub fn buffered(&self) -> (usize, usize) {
        (self.meter.now(), self.meter.peak())
    }
}

/// Keeps the workers busy, and waits for the next batch.
fn from_workers<B: Send + 'static>(
    orders: &mut Orders,
    workers: &mut Workers<B>,
    at: &LoaderState,
    meter: &Arc<Meter>,
) -> Option<Result<Made<B>>> {
    while (workers.underway.len() as u64) < workers.ahead {
        let Some(indices) = orders.next() else { break };
        let number = at.batches + workers.underway.len() as u64;
        workers.underway.push_back(indices.clone());
        if let Err(e) = workers.hand(number, Order { epoch: at.epoch, indices }, meter) {
            // Nobody is left to make the others either.
            (*orders, workers.underway) = (Box::new(std::iter::empty()), VecDeque::new());
            return Some(Err(e));
        }
    }
    workers.underway.front()?;
    match workers.wait(at.batches) {
        Ok(made) => {
            workers.underway.pop_front();
            Some(made)
        }
        Err(waited) => {
            let items = workers.underway.front().map_or(String::new(), |wanted| listed(wanted));
            let batch = format!("batch {} of epoch {} (items {items})", at.batches, at.epoch);
            // Not handed out: the position stays.
            Some(Err(Error::Timeout { batch, waited }))
        }
    }
}

impl<B: Send + 'static> Workers<B> {
    fn hand(&self, number: u64, order: Order, meter: &Arc<Meter>) -> Result<()> {
        let (meter, cancelled, reply) = (meter.clone(), self.cancelled.clone(), self.reply.clone());
        self.pool.hand(Task { number, order, meter, cancelled, reply })
    }

    /// The batch of this number, or how long it did not come.
    fn wait(&mut self, number: u64) -> Result<Result<Made<B>>, Duration> {
        let begin = Instant::now();
        loop {
            if let Some(made) = self.ready.remove(&number) {
                return Ok(made);
            }
            let reply = match self.timeout {
                None => self.replies.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(timeout) => self.replies.recv_timeout(timeout.saturating_sub(begin.elapsed())),
            };
            match reply {
                Ok((number, made)) => self.ready.insert(number, made),
                Err(_) => return Err(begin.elapsed()),
            };
        }
    }
}

impl<B: Send + 'static> Iterator for Batches<B> {
    type Item = Result<B>;

    fn next(&mut self) -> Option<Result<B>> {
        let begin = Instant::now();
        let made = match &mut self.feed {
            Feed::Streams(streams) => streams.next(),
            Feed::Workers(orders, workers) => from_workers(orders, workers, &self.at, &self.meter),
            Feed::Here(orders, recipe) => {
                let indices = orders.next()?;
                recipe.make(&Order { epoch: self.at.epoch, indices }, &self.meter, &AtomicBool::new(false))
            }
        }?;
        self.waited += begin.elapsed();
        if !matches!(made, Err(Error::Timeout { .. })) {
            self.at.batches += 1;
        }
        Some(made.map(|made| {
            self.meter.remove(made.samples);
            made.batch
        }))
    }
}

impl<B> Drop for Batches<B> {
    fn drop(&mut self) {
        if let Feed::Workers(_, workers) = &self.feed {
            workers.cancelled.store(true, Ordering::Relaxed);
        }
    }
}
