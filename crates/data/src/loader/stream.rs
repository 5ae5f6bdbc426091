//! Batches of streams: every worker reads one of its own, and batches are taken from the workers in turn.

use super::recipe::{Made, Meter, caught};
use super::{CollateFn, Options, WorkerInfo};
use crate::pipe::{State, skip};
use crate::{Error, IterableDataset, Pipe, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Where one worker's stream is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamState {
    /// A position of the stream; `None` for its beginning.
    source: Option<State>,
    /// How many batches came since.
    since: u64,
    ended: bool,
}

const BEGINNING: StreamState = StreamState { source: None, since: 0, ended: false };

/// How often workers save their position, in batches: positions of some streams are large, and at most so many batches are made again
/// when one is taken up.
const EVERY: u64 = 16;

/// How batches are made of streams, whatever their samples are.
pub(super) trait Recipe<B>: Send + Sync {
    fn open(&self, worker: &WorkerInfo, epoch: u64, meter: Arc<Meter>) -> Result<Box<dyn Pipe<Item = Made<B>>>>;
}

pub(super) struct Streamed<T, B> {
    pub dataset: Arc<dyn IterableDataset<Item = T>>,
    pub collate: CollateFn<T, B>,
    pub batch_size: usize,
    pub drop_last: bool,
}

impl<T: Send + 'static, B: Send + 'static> Recipe<B> for Streamed<T, B> {
    fn open(&self, worker: &WorkerInfo, epoch: u64, meter: Arc<Meter>) -> Result<Box<dyn Pipe<Item = Made<B>>>> {
        let (collate, counted) = (self.collate.clone(), meter.clone());
        let items = self.dataset.open(worker, epoch)?.map(move |item| {
            counted.add();
            Ok(item)
        });
        let made = items.batch(self.batch_size, self.drop_last).map(move |samples: Vec<T>| {
            let count = samples.len();
            let batch = collate(samples).inspect_err(|_| meter.remove(count))?;
            Ok(Made { batch, samples: count })
        });
        Ok(Box::new(made))
    }
}

/// A worker's answer: maybe its position before a batch, and the batch.
type Answer<B> = (Option<State>, Result<Made<B>>);

enum Stream<B> {
    Here(Box<dyn Pipe<Item = Made<B>>>),
    Thread(Receiver<Answer<B>>),
    /// It could not be opened, which is said once.
    Failed(Option<Error>),
}

/// The streams of an epoch.
pub(super) struct Streams<B> {
    streams: Vec<Stream<B>>,
    saved: Vec<StreamState>,
    /// Whose turn it is.
    turn: usize,
    timeout: Option<Duration>,
    epoch: u64,
}

impl<B: Send + 'static> Streams<B> {
    /// Opens the streams, each from its position; `states` is empty at the beginning.
    pub fn open(
        recipe: &Arc<dyn Recipe<B>>,
        o: &Options,
        epoch: u64,
        states: &[StreamState],
        turn: usize,
        meter: &Arc<Meter>,
    ) -> Result<Self> {
        let count = o.num_workers.max(1);
        let saved: Vec<StreamState> = (0..count).map(|i| states.get(i).cloned().unwrap_or(BEGINNING)).collect();
        let mut streams = Vec::new();
        for (id, state) in saved.iter().enumerate() {
            let (recipe, worker, state, meter) = (recipe.clone(), o.worker(id), state.clone(), meter.clone());
            let init = o.worker_init.clone();
            let open = move || -> Result<Box<dyn Pipe<Item = Made<B>>>> {
                caught(|| init.map_or(Ok(()), |init| init(&worker)), || format!("worker_init of worker {id}"))?;
                let mut pipe = caught(|| recipe.open(&worker, epoch, meter.clone()), || format!("the stream of worker {id}"))?;
                if let Some(state) = &state.source {
                    pipe.restore(state)?;
                }
                // What was given already is made again and forgotten.
                for _ in 0..state.since {
                    match pipe.next() {
                        Some(Ok(made)) => meter.remove(made.samples),
                        Some(Err(_)) => {}
                        None => return skip(&mut pipe, 1).map(|()| pipe),
                    }
                }
                Ok(pipe)
            };
            streams.push(match o.num_workers {
                0 => open().map_or_else(|e| Stream::Failed(Some(e)), Stream::Here),
                _ => Stream::Thread(start(id, o.prefetch_factor.unwrap_or(2), open)?),
            });
        }
        Ok(Streams { streams, saved, turn: turn % count, timeout: o.timeout, epoch })
    }

    pub fn state(&self) -> Result<(Vec<StreamState>, usize)> {
        let mut saved = self.saved.clone();
        match self.streams.first() {
            Some(Stream::Here(pipe)) if !saved[0].ended => {
                saved[0] = StreamState { source: Some(pipe.state()?), since: 0, ended: false };
            }
            _ => {}
        }
        Ok((saved, self.turn))
    }

    /// The next batch of the worker whose turn it is.
    pub fn next(&mut self) -> Option<Result<Made<B>>> {
        while !self.saved.iter().all(|s| s.ended) {
            let turn = self.turn;
            if self.saved[turn].ended {
                self.turn = (turn + 1) % self.streams.len();
                continue;
            }
            let item = self.of(turn);
            if matches!(item, Some(Err(Error::Timeout { .. }))) {
                return item;
            }
            self.turn = (turn + 1) % self.streams.len();
            match item {
                None => self.saved[turn].ended = true,
                item => return item,
            }
        }
        None
    }

    fn of(&mut self, worker: usize) -> Option<Result<Made<B>>> {
        let begin = Instant::now();
        let saved = &mut self.saved[worker];
        match &mut self.streams[worker] {
            Stream::Failed(e) => e.take().map(Err),
            Stream::Here(pipe) => match caught(|| Ok(pipe.next()), || "a batch of the stream".into()) {
                Ok(item) => item,
                Err(e) => {
                    // Nothing is known of a stream that panicked.
                    self.streams[worker] = Stream::Failed(None);
                    Some(Err(e))
                }
            },
            Stream::Thread(answers) => {
                let answer = match self.timeout {
                    None => answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(timeout) => answers.recv_timeout(timeout),
                };
                match answer {
                    Ok((before, item)) => {
                        match before {
                            Some(source) => (saved.source, saved.since) = (Some(source), 1),
                            None => saved.since += 1,
                        }
                        Some(item)
                    }
                    Err(RecvTimeoutError::Disconnected) => None,
                    Err(RecvTimeoutError::Timeout) => {
                        let batch = format!("a batch of worker {worker} in epoch {}", self.epoch);
                        Some(Err(Error::Timeout { batch, waited: begin.elapsed() }))
                    }
                }
            }
        }
    }
}

/// A thread that makes a stream's batches, so many ahead. It ends when nobody listens any more.
fn start<B, F>(id: usize, ahead: usize, open: F) -> Result<Receiver<Answer<B>>>
where
    B: Send + 'static,
    F: FnOnce() -> Result<Box<dyn Pipe<Item = Made<B>>>> + Send + 'static,
{
    let (sender, answers) = sync_channel(ahead);
    let work = move || run(id, open, &sender);
    let started = thread::Builder::new().name(format!("loader {id}")).spawn(work);
    started.map_err(|e| Error::Worker { worker: id, problem: format!("the thread cannot be started: {e}") })?;
    Ok(answers)
}

fn run<B: Send + 'static>(id: usize, open: impl FnOnce() -> Result<Box<dyn Pipe<Item = Made<B>>>>, sender: &SyncSender<Answer<B>>) {
    let mut pipe = match open() {
        Ok(pipe) => pipe,
        Err(e) => return drop(sender.send((None, Err(e)))),
    };
    for number in 0u64.. {
        let before = if number.is_multiple_of(EVERY) { pipe.state().ok() } else { None };
        let (item, last) = match caught(|| Ok(pipe.next()), || format!("batch {number} of worker {id}")) {
            Ok(Some(item)) => (item.map_err(|e| e.of_item(format!("batch {number} of worker {id}"))), false),
            Ok(None) => return,
            // Nothing is known of a stream that panicked.
            Err(e) => (Err(e), true),
        };
        if sender.send((before, item)).is_err() || last {
            return;
        }
    }
}
