//! Sends runs to a tracking server while they go on.
//!
//! Who trains hands over what happened and waits for nothing; one thread sends it in batches, for all runs of this process. What the server
//! does not take is tried again, and what becomes too much is given up and told of.

use super::api::{Api, MOST, Status, metric};
use aludel::{Error, Result};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What has come together in this time is sent.
const PERIOD: Duration = Duration::from_secs(1);
/// So many reports wait for the thread.
const WAITING: usize = 4096;
/// So many values of all runs wait for the tracking server.
const VALUES: usize = 400_000;
/// What is said of a run that ended is given up when it failed so often.
const TRIES: u32 = 60;
/// When all ends it is tried for so long to say so.
const PARTING: Duration = Duration::from_secs(5);

enum Event {
    Begin {
        run: u64,
        name: String,
        config: BTreeMap<String, String>,
        /// Its name in the API, where it has begun there.
        id: Option<String>,
    },
    Values {
        run: u64,
        values: Vec<(&'static str, u64, f64)>,
    },
    End {
        run: u64,
        status: Status,
    },
    /// All runs end.
    Stop,
}

/// A tracking server that hears of runs.
pub struct Tracker {
    api: Api,
    experiment: String,
    source: &'static str,
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
    next: AtomicU64,
}

struct Queue {
    events: SyncSender<Event>,
    /// Some were given up, which was told.
    full: AtomicBool,
    /// All ends, and what ends now ends with it.
    ending: AtomicBool,
}

impl Queue {
    fn put(&self, event: Event) {
        if self.events.try_send(event).is_err() && !self.full.swap(true, Ordering::Relaxed) {
            tracing::warn!("the tracking server is slower than training: some of the losses do not reach it");
        }
    }
}

/// A run; it ends when this is dropped.
pub struct Run {
    queue: Arc<Queue>,
    run: u64,
    /// How it ends.
    status: Status,
}

impl Tracker {
    /// `source` is the command that trains. Errors where the tracking server cannot be reached, or refuses.
    pub fn start(url: &str, source: &'static str) -> Result<Tracker> {
        let api = Api::new(url);
        let experiment = api.experiment()?;
        let (events, inbox) = sync_channel(WAITING);
        let follower = Follower { api: api.clone(), experiment: experiment.clone(), source, runs: VecDeque::new(), lost: 0 };
        let thread = std::thread::Builder::new().name("mlflow".into()).spawn(move || follower.follow(&inbox));
        let thread = thread.map_err(|e| Error::device(format!("no thread: {e}"), "end other programs"))?;
        let queue = Arc::new(Queue { events, full: AtomicBool::new(false), ending: AtomicBool::new(false) });
        Ok(Tracker { api, experiment, source, queue, thread: Mutex::new(Some(thread)), next: AtomicU64::new(0) })
    }

    fn put(&self, name: &str, config: BTreeMap<String, String>, id: Option<String>) -> Run {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        self.queue.put(Event::Begin { run, name: name.into(), config, id });
        Run { queue: self.queue.clone(), run, status: Status::Finished }
    }

    /// A run, which begins on the server when that is there.
    pub fn begin(&self, name: &str, config: BTreeMap<String, String>) -> Run {
        self.put(name, config, None)
    }

    /// A run that has begun on the server, and failed unless it is [ended](Run::end). Errors where the server refuses.
    pub fn begin_now(&self, name: &str, config: BTreeMap<String, String>) -> Result<Run> {
        let id = self.api.begin(&self.experiment, name, self.source, &config)?;
        let mut run = self.put(name, config, Some(id));
        run.fail();
        Ok(run)
    }

    /// All is about to end: runs that end from now on did not by themselves.
    pub fn prepare_stop(&self) {
        self.queue.ending.store(true, Ordering::Relaxed);
    }

    /// Ends all runs, and waits until that is told. Errors where the server did not take all of it.
    pub fn stop(&self) -> Result<()> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // What waits is sent first.
        let (Some(thread), Ok(())) = (thread, self.queue.events.send(Event::Stop)) else { return Ok(()) };
        thread.join().unwrap_or_else(|_| Err(Error::device("the thread for MLflow died", "report this")))?;
        match self.queue.full.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Error::invalid("--mlflow", "values were not taken in time", "look at the tracking server's log")),
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        // Not stopped: an error is on its way out, which is told already.
        let _ = self.stop();
    }
}

impl Run {
    /// Takes values with their steps.
    pub fn log(&self, values: Vec<(&'static str, u64, f64)>) {
        self.queue.put(Event::Values { run: self.run, values });
    }

    /// Ends it.
    pub fn end(mut self, status: Status) {
        self.status = status;
    }

    /// It ends by a fault.
    pub fn fail(&mut self) {
        self.status = Status::Failed;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let status = match self.status {
            Status::Finished if self.queue.ending.load(Ordering::Relaxed) => Status::Killed,
            status => status,
        };
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
    fn send(&mut self, api: &Api, experiment: &str, source: &str) -> Result<bool> {
        let id = match &self.id {
            Some(id) => id,
            None => self.id.insert(api.begin(experiment, &self.name, source, &self.config)?),
        };
        while !self.waiting.is_empty() {
            let batch = self.waiting.len().min(MOST);
            api.log(id, &self.waiting[..batch])?;
            self.waiting.drain(..batch);
        }
        self.ended.map_or(Ok(false), |status| api.end(id, status).map(|()| true))
    }
}

/// The thread that sends.
struct Follower {
    api: Api,
    experiment: String,
    source: &'static str,
    runs: VecDeque<Open>,
    /// Values that were given up.
    lost: usize,
}

impl Follower {
    /// Sends what is handed over, until all ends. Errors where the server did not take all of it.
    fn follow(mut self, inbox: &Receiver<Event>) -> Result<()> {
        let mut well = true;
        while self.gather(inbox) {
            let sent = self.send_all();
            if let (Err(error), true) = (&sent, well) {
                tracing::warn!(%error, "the tracking server does not take what is said; it is tried again");
            }
            well = sent.is_ok();
        }
        // Of sessions that are saved, too: they begin others when they are taken up.
        self.runs.iter_mut().for_each(|r| r.ended = r.ended.or(Some(Status::Killed)));
        let end = Instant::now() + PARTING;
        while let Err(error) = self.send_all() {
            if Instant::now() > end {
                tracing::warn!(%error, runs = self.runs.len(), "the tracking server does not take the last of what was said");
                return Err(error);
            }
            std::thread::sleep(PERIOD / 4);
        }
        match self.lost {
            0 => Ok(()),
            n => Err(Error::invalid("--mlflow", format!("{n} values were not taken in time"), "look at the tracking server's log")),
        }
    }

    /// Hears what happens for a while, so that it is sent together; false when all ends.
    fn gather(&mut self, inbox: &Receiver<Event>) -> bool {
        let end = Instant::now() + PERIOD;
        loop {
            let event = match inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            };
            match event {
                Event::Stop => return false,
                Event::Begin { run, name, config, id } => {
                    self.runs.push_back(Open { number: run, name, config, id, waiting: Vec::new(), ended: None, failures: 0 });
                }
                Event::End { run, status } => {
                    if let Some(run) = self.of(run) {
                        run.ended = Some(status);
                    }
                }
                Event::Values { run, values } => {
                    let most = VALUES / self.runs.len().max(1);
                    let Some(run) = self.of(run) else { continue };
                    run.waiting.extend(values.into_iter().map(|(key, step, value)| metric(key, step, value)));
                    let over = run.waiting.len().saturating_sub(most);
                    run.waiting.drain(..over);
                    self.lost += over;
                }
            }
        }
    }

    fn of(&mut self, number: u64) -> Option<&mut Open> {
        self.runs.iter_mut().find(|r| r.number == number)
    }

    /// Sends what there is of all runs, until one fails: that is tried last the next time.
    fn send_all(&mut self) -> Result<()> {
        for _ in 0..self.runs.len() {
            let Some(mut run) = self.runs.pop_front() else { break };
            match run.send(&self.api, &self.experiment, self.source) {
                Ok(true) => {}
                Ok(false) => self.runs.push_back(run),
                Err(e) => {
                    run.failures += 1;
                    if run.ended.is_none() || run.failures < TRIES {
                        self.runs.push_back(run);
                    }
                    return Err(e);
                }
            }
        }
        Ok(())
    }
}
