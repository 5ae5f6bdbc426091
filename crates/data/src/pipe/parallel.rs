//! A function on several threads, in order.

use super::pace::Pace;
use super::{Pipe, State, child, part, skip};
use crate::loader::caught;
use crate::threads::Pool;
use crate::{Error, Result};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// See [`Pipe::map_parallel`].
pub struct ParallelMap<P: Pipe, F, T> {
    source: P,
    function: Arc<F>,
    threads: usize,
    pool: Option<Pool<Task<P::Item, T>>>,
    /// The number of the next item to hand out, and to give.
    handed: u64,
    given: u64,
    ready: BTreeMap<u64, Result<T>>,
    channel: (Sender<(u64, Result<T>)>, Receiver<(u64, Result<T>)>),
    /// Positions of the source before some items that were handed out.
    saved: VecDeque<(u64, State)>,
    pace: Pace,
    ended: bool,
}

struct Task<I, T> {
    number: u64,
    item: I,
    reply: Sender<(u64, Result<T>)>,
}

impl<P: Pipe, F, T> ParallelMap<P, F, T>
where
    T: Send + 'static,
    F: Fn(P::Item) -> Result<T> + Send + Sync + 'static,
{
    pub(super) fn new(source: P, threads: usize, function: F) -> Self {
        let (function, threads) = (Arc::new(function), threads.max(1));
        let (ready, saved, pace) = (BTreeMap::new(), VecDeque::new(), Pace::default());
        ParallelMap { source, function, threads, pool: None, handed: 0, given: 0, ready, channel: channel(), saved, pace, ended: false }
    }

    /// The most items that are underway or ready.
    fn ahead(&self) -> u64 {
        2 * self.threads as u64
    }

    /// Keeps the threads busy.
    fn hand(&mut self) -> Result<()> {
        if self.pool.is_none() {
            let function = self.function.clone();
            let work = move |_| {
                let function = function.clone();
                move |task: Task<P::Item, T>| {
                    let made = caught(|| function(task.item), || format!("item {}", task.number));
                    // Nobody hears it where the stream went elsewhere.
                    let _ = task.reply.send((task.number, made));
                }
            };
            self.pool = Some(Pool::start(self.threads, work)?);
        }
        let Some(pool) = &self.pool else { return Ok(()) };
        while !self.ended && self.handed < self.given + self.ahead() {
            if self.handed.is_multiple_of(self.ahead())
                && let Some(state) = self.pace.state(&self.source)
            {
                self.saved.push_back((self.handed, state));
            }
            let (number, reply) = (self.handed, self.channel.0.clone());
            match self.source.next() {
                Some(Ok(item)) => pool.hand(Task { number, item, reply })?,
                Some(Err(e)) => drop(self.ready.insert(number, Err(e))),
                None => {
                    self.ended = true;
                    break;
                }
            }
            self.handed += 1;
        }
        Ok(())
    }
}

impl<P: Pipe, F, T> Pipe for ParallelMap<P, F, T>
where
    T: Send + 'static,
    F: Fn(P::Item) -> Result<T> + Send + Sync + 'static,
{
    type Item = T;

    fn next(&mut self) -> Option<Result<T>> {
        if let Err(e) = self.hand() {
            self.ended = true;
            return Some(Err(e));
        }
        if self.given == self.handed {
            return None;
        }
        loop {
            if let Some(item) = self.ready.remove(&self.given) {
                self.given += 1;
                while self.saved.get(1).is_some_and(|(at, _)| *at <= self.given) {
                    self.saved.pop_front();
                }
                return Some(item);
            }
            match self.channel.1.recv() {
                Ok((number, item)) => self.ready.insert(number, item),
                Err(_) => return Some(Err(Error::Worker { worker: 0, problem: "all workers have ended".into() })),
            };
        }
    }

    fn state(&self) -> Result<State> {
        let (source, since) = match self.saved.iter().rev().find(|(at, _)| *at <= self.given) {
            Some((at, state)) => (state.clone(), self.given - at),
            None if self.handed == 0 => (self.source.state()?, 0),
            None => return Err(Error::state("what is read from could not tell its position", "take the next items first")),
        };
        Ok(json!({ "source": source, "since": since }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.source.restore(child(state, "source")?)?;
        skip(&mut self.source, part(state, "since")?)?;
        // Answers to what was handed out before come to a channel that nobody reads.
        (self.handed, self.given, self.ended, self.channel) = (0, 0, false, channel());
        self.ready.clear();
        self.saved.clear();
        self.pace = Pace::default();
        Ok(())
    }
}
