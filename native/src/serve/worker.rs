//! The thread of a device: the sessions on it train in turns of equal time, and requests are answered between turns.

use super::learner::Learner;
use super::metrics::Metrics;
use super::session::Session;
use super::training::Training;
use aludel::Device;
use aludel_protocol::remote::{Job, ServerDevice, ServerMessage, SessionKey};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a session trains before it is another's turn. Short, so that every curve grows at once and requests are answered soon; long
/// against the wait for the device that ends it.
pub const SLICE: Duration = Duration::from_millis(60);

/// What a device's thread is asked for.
pub enum Command {
    Add(Box<Training>),
    Run {
        key: SessionKey,
        steps: Option<u64>,
    },
    Pause(SessionKey),
    Fetch(SessionKey),
    Inspect(SessionKey),
    /// Lets go of sessions that were cancelled.
    Sweep,
    /// Gives sessions as they are now: those that trained since the last time.
    Save(oneshot::Sender<Vec<Snapshot>>),
    /// Gives every session as it is now and ends the thread.
    Stop(oneshot::Sender<Vec<Snapshot>>),
}

/// A session as it is between two turns, to be saved.
pub struct Snapshot {
    pub session: Arc<Session>,
    pub job: aludel::Result<Job>,
    pub step: u64,
    pub running: bool,
    pub elapsed_ms: f64,
}

/// A device and its thread.
pub struct DeviceWorker {
    id: String,
    device: Device,
    commands: Sender<Command>,
}

impl DeviceWorker {
    pub fn start(
        id: String,
        device: Device,
        metrics: Arc<Metrics>,
        logdir: Option<PathBuf>,
    ) -> std::io::Result<(DeviceWorker, JoinHandle<()>)> {
        let (commands, inbox) = channel();
        let name = id.clone();
        let thread = std::thread::Builder::new()
            .name(format!("device {id}"))
            .spawn(move || Loop { id: name, metrics, logdir, all: Vec::new() }.run(&inbox))?;
        Ok((DeviceWorker { id, device, commands }, thread))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// False when the thread has ended.
    pub fn send(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    pub fn describe(&self) -> ServerDevice {
        let info = self.device.info();
        ServerDevice { id: self.id.clone(), backend: info.backend.clone(), name: info.name.clone() }
    }
}

struct Loop {
    id: String,
    metrics: Arc<Metrics>,
    logdir: Option<PathBuf>,
    /// In the order of their turns: the first is next.
    all: Vec<Training>,
}

impl Loop {
    fn run(mut self, inbox: &Receiver<Command>) {
        loop {
            self.all.retain(|t| !t.session.is_cancelled());
            let next = self.all.iter().position(Training::is_running);
            let wait = if next.is_some() { Duration::ZERO } else { Duration::from_secs(3600) };
            match inbox.recv_timeout(wait) {
                Ok(Command::Stop(done)) => {
                    // Nobody waits for the answer when the server is being killed.
                    let _ = done.send(self.all.iter().map(snapshot).collect());
                    return;
                }
                Ok(command) => self.answer(command),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(i) = next {
                        let mut training = self.all.remove(i);
                        let id = &self.id;
                        let turn = catch_unwind(AssertUnwindSafe(|| training.turn(&self.metrics, id)));
                        match turn {
                            Ok(()) => self.all.push(training),
                            // Its memory may be in any state: it is not touched again.
                            Err(_) => {
                                tracing::error!(device = %self.id, name = %training.session.name, "a session panicked and is ended; please report this");
                                training.session.post(ServerMessage::Failed { message: "the server failed; the session is lost".into() });
                                training.session.cancel();
                                drop(catch_unwind(AssertUnwindSafe(|| drop(training))));
                            }
                        }
                    }
                }
            }
        }
    }

    fn answer(&mut self, command: Command) {
        match command {
            Command::Add(mut training) => {
                if let Some(dir) = &self.logdir {
                    training.log_to(dir);
                }
                self.all.push(*training);
            }
            Command::Run { key, steps } => self.with(&key, |t| t.run(steps)),
            Command::Pause(key) => self.with(&key, |t| t.set_running(false)),
            Command::Fetch(key) => self.with(&key, |t| match t.learner.state() {
                Ok(tensors) => t.session.post(ServerMessage::State { step: t.step, tensors }),
                Err(e) => t.fail(e.to_string()),
            }),
            Command::Inspect(key) => self.with(&key, |t| {
                let inspection = catch_unwind(AssertUnwindSafe(|| Learner::inspect(&t.learner))).unwrap_or(None);
                t.session.post(ServerMessage::Inspected(inspection.map(Box::new)));
            }),
            Command::Save(done) => {
                let mut taken = Vec::new();
                for t in self.all.iter_mut().filter(|t| t.saved != Some(t.step)) {
                    taken.push(snapshot(t));
                    t.saved = Some(t.step);
                }
                // Nobody waits for the answer when the server ends meanwhile.
                let _ = done.send(taken);
            }
            Command::Sweep | Command::Stop(_) => {}
        }
    }

    fn with(&mut self, key: &SessionKey, f: impl FnOnce(&mut Training)) {
        if let Some(t) = self.all.iter_mut().find(|t| t.session.key == *key && !t.session.is_cancelled()) {
            f(t);
        }
    }
}

fn snapshot(t: &Training) -> Snapshot {
    Snapshot { job: t.learner.job(), step: t.step, running: t.is_running(), elapsed_ms: t.elapsed_ms, session: t.session.clone() }
}
