//! Losses and speed of every session for an MLflow tracking server: a run for each, and another when it is taken up again.
//!
//! Sessions hand over what happened and wait for nothing; one thread of the server's sends it. What the tracking server does not take is
//! tried again, and what becomes too much is given up and told of in the log.

use super::session::lock;
use crate::mlflow::{Api, MOST, PERIOD, Status, metric};
use aludel::{Error, Result};
use aludel_protocol::Progress;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many reports wait for the thread.
const WAITING: usize = 4096;
/// So many values of a run wait for the tracking server.
const VALUES: usize = 10_000;
/// What is said of a session that ended is given up when it failed so often.
const TRIES: u32 = 60;
/// When the server ends it is tried for so long to say so.
const PARTING: Duration = Duration::from_secs(5);

enum Event {
    Begin {
        run: u64,
        name: String,
        config: BTreeMap<String, String>,
    },
    Values {
        run: u64,
        values: Vec<(&'static str, u64, f64)>,
    },
    End {
        run: u64,
        status: Status,
    },
    /// The server ends, and all runs with it.
    Stop,
}

/// The tracking server of a companion server.
pub struct Tracker {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
    next: AtomicU64,
}

struct Queue {
    events: SyncSender<Event>,
    /// Some were given up, which was told.
    full: AtomicBool,
    /// The server ends, and what ends now ends with it.
    ending: AtomicBool,
}

impl Queue {
    fn put(&self, event: Event) {
        if self.events.try_send(event).is_err() && !self.full.swap(true, Ordering::Relaxed) {
            tracing::warn!("the tracking server is slower than sessions train: some of their losses do not reach it");
        }
    }
}

/// A session's run; it ends when this is dropped.
pub struct Run {
    queue: Arc<Queue>,
    run: u64,
}

impl Tracker {
    /// Errors where the tracking server cannot be reached, or refuses.
    pub fn start(url: &str) -> Result<Tracker> {
        let api = Api::new(url);
        let experiment = api.experiment()?;
        let (events, inbox) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("mlflow".into()).spawn(move || follow(&api, &experiment, &inbox));
        let thread = thread.map_err(|e| Error::device(format!("no thread: {e}"), "end other programs"))?;
        let queue = Arc::new(Queue { events, full: AtomicBool::new(false), ending: AtomicBool::new(false) });
        Ok(Tracker { queue, thread: Mutex::new(Some(thread)), next: AtomicU64::new(0) })
    }

    /// A run of a session's.
    pub fn begin(&self, name: &str, config: BTreeMap<String, String>) -> Run {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        self.queue.put(Event::Begin { run, name: name.into(), config });
        Run { queue: self.queue.clone(), run }
    }

    /// The server is about to end: sessions that end from now on did not by themselves.
    pub fn prepare_stop(&self) {
        self.queue.ending.store(true, Ordering::Relaxed);
    }

    /// Ends all runs, and waits until that is told.
    pub fn stop(&self) {
        // What waits is sent first.
        if let (Some(thread), Ok(())) = (lock(&self.thread).take(), self.queue.events.send(Event::Stop)) {
            let _ = thread.join();
        }
    }
}

impl Run {
    pub fn log(&self, progress: &Progress) {
        let losses = progress.losses.iter().map(|(step, loss)| ("loss", *step, f64::from(*loss)));
        let values = losses.chain(progress.ms_per_step.map(|ms| ("ms_per_step", progress.step, ms))).collect();
        self.queue.put(Event::Values { run: self.run, values });
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let status = if self.queue.ending.load(Ordering::Relaxed) { Status::Killed } else { Status::Finished };
        self.queue.put(Event::End { run: self.run, status });
    }
}

/// A run as the thread knows it.
struct Open {
    number: u64,
    name: String,
    config: BTreeMap<String, String>,
    /// Its name in the API, once it has begun there.
    id: Option<String>,
    waiting: Vec<Value>,
    ended: Option<Status>,
    /// How often it could not be sent.
    failures: u32,
}

impl Open {
    /// Sends what there is; gives whether the run is over.
    fn send(&mut self, api: &Api, experiment: &str) -> Result<bool> {
        let id = match &self.id {
            Some(id) => id,
            None => self.id.insert(api.begin(experiment, &self.name, "aludel serve", &self.config)?),
        };
        while !self.waiting.is_empty() {
            let batch = self.waiting.len().min(MOST);
            api.log(id, &self.waiting[..batch])?;
            self.waiting.drain(..batch);
        }
        self.ended.map_or(Ok(false), |status| api.end(id, status).map(|()| true))
    }
}

/// Sends what sessions say, until the server ends.
fn follow(api: &Api, experiment: &str, inbox: &Receiver<Event>) {
    let (mut runs, mut well) = (VecDeque::new(), true);
    while gather(&mut runs, inbox) {
        let sent = send_all(&mut runs, api, experiment);
        if let (Err(error), true) = (&sent, well) {
            tracing::warn!(%error, "the tracking server does not take what sessions say; it is tried again");
        }
        well = sent.is_ok();
    }
    // Of sessions that are saved, too: they begin others when they are taken up.
    runs.iter_mut().for_each(|r: &mut Open| r.ended = r.ended.or(Some(Status::Killed)));
    let end = Instant::now() + PARTING;
    while let Err(error) = send_all(&mut runs, api, experiment) {
        if Instant::now() > end {
            return tracing::warn!(%error, runs = runs.len(), "the tracking server does not take the last of what sessions said");
        }
        std::thread::sleep(PERIOD / 4);
    }
}

/// Hears what sessions say for a while, so that it is sent together; false when the server ends.
fn gather(runs: &mut VecDeque<Open>, inbox: &Receiver<Event>) -> bool {
    let end = Instant::now() + PERIOD;
    loop {
        let event = match inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        };
        match event {
            Event::Stop => return false,
            Event::Begin { run, name, config } => {
                runs.push_back(Open { number: run, name, config, id: None, waiting: Vec::new(), ended: None, failures: 0 });
            }
            Event::End { run, status } => {
                if let Some(run) = of(runs, run) {
                    run.ended = Some(status);
                }
            }
            Event::Values { run, values } => {
                if let Some(run) = of(runs, run) {
                    run.waiting.extend(values.into_iter().map(|(key, step, value)| metric(key, step, value)));
                    run.waiting.drain(..run.waiting.len().saturating_sub(VALUES));
                }
            }
        }
    }
}

fn of(runs: &mut VecDeque<Open>, number: u64) -> Option<&mut Open> {
    runs.iter_mut().find(|r| r.number == number)
}

/// Sends what there is of all runs, until one fails: that is tried last the next time.
fn send_all(runs: &mut VecDeque<Open>, api: &Api, experiment: &str) -> Result<()> {
    for _ in 0..runs.len() {
        let Some(mut run) = runs.pop_front() else { break };
        match run.send(api, experiment) {
            Ok(true) => {}
            Ok(false) => runs.push_back(run),
            Err(e) => {
                run.failures += 1;
                if run.ended.is_none() || run.failures < TRIES {
                    runs.push_back(run);
                }
                return Err(e);
            }
        }
    }
    Ok(())
}
