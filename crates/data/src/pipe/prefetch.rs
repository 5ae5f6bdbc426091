//! Reading ahead on another thread.

use super::pace::Pace;
use super::{Pipe, State, child, part, skip};
use crate::Result;
use crate::loader::caught;
use serde_json::json;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// See [`Pipe::prefetch`].
pub struct Prefetch<P: Pipe> {
    items: usize,
    at: Place<P>,
    /// A position that the source had, and how many items came since.
    saved: (State, u64),
}

enum Place<P: Pipe> {
    /// Nobody has asked yet.
    Here(P),
    Reading(Reading<P>),
    /// The thread could not be started, or panicked.
    Lost,
}

struct Reading<P: Pipe> {
    thread: JoinHandle<P>,
    /// Items, some with the position before them.
    items: Receiver<(Option<State>, Result<P::Item>)>,
}

impl<P: Pipe + 'static> Prefetch<P> {
    pub(super) fn new(source: P, items: usize) -> Prefetch<P> {
        Prefetch { items: items.max(1), at: Place::Here(source), saved: (State::Null, 0) }
    }

    /// Starts the thread where it does not run.
    fn reading(&mut self) -> Result<Option<&Reading<P>>> {
        if let Place::Here(_) = self.at {
            let Place::Here(mut source) = std::mem::replace(&mut self.at, Place::Lost) else { return Ok(None) };
            self.saved = (source.state()?, 0);
            let (sender, items) = sync_channel(self.items);
            let (every, mut pace) = (self.items as u64, Pace::default());
            let read = move || {
                for number in 0u64.. {
                    // Positions of some pipes are large: not one for each item.
                    let before = if number % every == 0 { pace.state(&source) } else { None };
                    let item = match caught(|| Ok(source.next()), || format!("item {number} that is read ahead")) {
                        Ok(Some(item)) => (before, item),
                        Ok(None) => break,
                        Err(e) => {
                            let _ = sender.send((before, Err(e)));
                            break;
                        }
                    };
                    if sender.send(item).is_err() {
                        break;
                    }
                }
                source
            };
            let started = thread::Builder::new().name("data prefetch".into()).spawn(read);
            let thread = started.map_err(|e| crate::Error::Worker { worker: 0, problem: format!("the thread cannot be started: {e}") })?;
            self.at = Place::Reading(Reading { thread, items });
        }
        Ok(match &self.at {
            Place::Reading(reading) => Some(reading),
            _ => None,
        })
    }
}

impl<P: Pipe + 'static> Pipe for Prefetch<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        let received = match self.reading() {
            Ok(reading) => reading?.items.recv().ok()?,
            Err(e) => return Some(Err(e)),
        };
        match received.0 {
            Some(before) => self.saved = (before, 1),
            None => self.saved.1 += 1,
        }
        Some(received.1)
    }

    fn state(&self) -> Result<State> {
        let (source, since) = match &self.at {
            Place::Here(source) => (source.state()?, 0),
            _ => self.saved.clone(),
        };
        Ok(json!({ "source": source, "since": since }))
    }

    /// Waits for the thread's item at hand.
    fn restore(&mut self, state: &State) -> Result<()> {
        let mut source = match std::mem::replace(&mut self.at, Place::Lost) {
            Place::Here(source) => source,
            Place::Reading(Reading { thread, items }) => {
                drop(items);
                thread.join().map_err(|_| super::other("cannot be taken up: reading ahead has panicked"))?
            }
            Place::Lost => return Err(super::other("cannot be taken up: reading ahead has failed")),
        };
        source.restore(child(state, "source")?)?;
        skip(&mut source, part(state, "since")?)?;
        self.at = Place::Here(source);
        Ok(())
    }
}
