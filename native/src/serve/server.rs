//! What the connections of a server share: its devices, the sessions by their keys, and the counts that limits are compared with.

use super::args::{Args, Bounds};
use super::job::{self, Plan};
use super::learner::Learner;
use super::metrics::{Metrics, pane_label};
use super::origin::Origins;
use super::programs::Programs;
use super::session::{Session, lock};
use super::store;
use super::training::Training;
use super::worker::{Command, DeviceWorker, Snapshot};
use aludel::Result;
use aludel_protocol::remote::{Job, Refusal, SessionKey};
use std::collections::HashMap;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::sync::{Semaphore, oneshot, watch};

/// Graphs are compiled on so many threads at once, and those of one client on fewer: who sends graphs that take long waits for themselves.
const COMPILERS: usize = 4;
const CLIENT_COMPILERS: usize = 2;
/// Some passes recurse along chains of operators, which a client may make as long as the limit on operators allows. The memory is only
/// reserved.
const COMPILER_STACK: usize = 1 << 30;

pub struct Server {
    pub bounds: Bounds,
    pub origins: Origins,
    pub workers: Vec<DeviceWorker>,
    pub metrics: Arc<Metrics>,
    token: Option<String>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Sessions that exist or are being made, and connections, by client.
    counts: Arc<Counts>,
    programs: Arc<Programs>,
    compilers: Arc<Semaphore>,
    client_compilers: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
    /// Sessions of an earlier run are restored.
    ready: watch::Sender<bool>,
    /// Where sessions are saved.
    state_dir: Option<PathBuf>,
    /// The server ends.
    pub stopping: watch::Sender<bool>,
}

/// Who holds how many of what is limited.
#[derive(Default)]
pub struct Counts {
    sessions: Mutex<HashMap<IpAddr, usize>>,
    connections: Mutex<HashMap<IpAddr, usize>>,
}

/// One place among a limited number; given back when dropped.
pub struct Slot {
    counts: Arc<Counts>,
    of: fn(&Counts) -> &Mutex<HashMap<IpAddr, usize>>,
    client: IpAddr,
}

impl Slot {
    fn take(
        counts: &Arc<Counts>,
        of: fn(&Counts) -> &Mutex<HashMap<IpAddr, usize>>,
        client: IpAddr,
        each: usize,
        all: usize,
    ) -> Result<Slot, (bool, usize)> {
        let mut held = lock(of(counts));
        if held.values().sum::<usize>() >= all {
            return Err((false, all));
        }
        let mine = held.entry(client).or_default();
        if *mine >= each {
            return Err((true, *mine));
        }
        *mine += 1;
        Ok(Slot { counts: counts.clone(), of, client })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut held = lock((self.of)(&self.counts));
        if let Some(n) = held.get_mut(&self.client) {
            *n -= 1;
            if *n == 0 {
                held.remove(&self.client);
            }
        }
    }
}

/// What compiling gave: a session that no thread has yet.
struct Prepared {
    plan_name: String,
    learner: Learner,
    took: Duration,
}

impl Server {
    pub fn new(args: &Args, origins: Origins, workers: Vec<DeviceWorker>, metrics: Arc<Metrics>) -> Server {
        Server {
            bounds: args.limits.bounds(),
            origins,
            workers,
            metrics,
            token: args.token.clone(),
            sessions: Mutex::default(),
            counts: Arc::default(),
            programs: Arc::default(),
            compilers: Arc::new(Semaphore::new(COMPILERS)),
            client_compilers: Mutex::default(),
            ready: watch::Sender::new(false),
            state_dir: args.state_dir.clone(),
            stopping: watch::Sender::new(false),
        }
    }

    pub fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether a client may use the server; takes as long for a wrong token as for the right one.
    pub fn admits(&self, token: Option<&str>) -> bool {
        match (&self.token, token) {
            (None, _) => true,
            (Some(want), Some(given)) => bool::from(want.as_bytes().ct_eq(given.as_bytes())),
            (Some(_), None) => false,
        }
    }

    pub fn is_ready(&self) -> bool {
        *self.ready.borrow() && self.workers.iter().all(|w| w.device().lost().is_none())
    }

    pub fn set_ready(&self) {
        self.ready.send_replace(true);
    }

    /// Waits until the sessions of an earlier run are restored.
    pub async fn ready(&self) {
        // The sender is as old as the server.
        let _ = self.ready.subscribe().wait_for(|r| *r).await;
    }

    pub fn refused(&self, reason: &str) {
        self.metrics.rejected.with_label_values(&[reason]).inc();
    }

    /// A place for a connection of a client.
    pub fn connect(&self, client: IpAddr) -> Result<Slot, Refusal> {
        let b = &self.bounds;
        Slot::take(&self.counts, |c| &c.connections, client, b.client_connections, b.connections).map_err(|(own, n)| Refusal::Busy {
            message: format!("{n} connections {}; close some and try again", if own { "of this client are open" } else { "are open" }),
        })
    }

    fn session_slot(&self, client: IpAddr) -> Result<Slot, Refusal> {
        let each = usize::try_from(self.bounds.wire.sessions).unwrap_or(usize::MAX);
        Slot::take(&self.counts, |c| &c.sessions, client, each, self.bounds.all_sessions).map_err(|(own, n)| {
            if own {
                Refusal::Limit { what: "sessions of one client".into(), value: n as u64 + 1, limit: n as u64 }
            } else {
                Refusal::Busy { message: format!("the server has {n} sessions, as many as it takes; try again later") }
            }
        })
    }

    /// The session of a key.
    pub fn session(&self, key: &SessionKey) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&key.0).cloned().filter(|s| !s.is_cancelled())
    }

    /// Sends a request to the thread of a session's device.
    pub fn ask(&self, session: &Session, command: Command) {
        if !self.workers[session.device].send(command) {
            session.post(aludel_protocol::remote::ServerMessage::Failed { message: "the server is ending".into() });
        }
    }

    /// Ends a session and frees what it holds.
    pub fn end(&self, session: &Session) {
        session.cancel();
        lock(&self.sessions).remove(&session.key.0);
        self.workers[session.device].send(Command::Sweep);
        if let Some(dir) = &self.state_dir {
            store::forget(dir, &session.key);
        }
    }

    /// Ends sessions that nobody has listened to for long.
    pub fn sweep(&self) {
        let idle: Vec<_> = lock(&self.sessions).values().filter(|s| s.is_idle(self.bounds.idle)).cloned().collect();
        for session in idle {
            tracing::info!(name = %session.name, "a session that nobody listens to ends");
            self.end(&session);
        }
    }

    /// How many sessions train and how many pause.
    pub fn census(&self) -> (usize, usize) {
        let sessions = lock(&self.sessions);
        let running = sessions.values().filter(|s| s.is_running()).count();
        (running, sessions.len() - running)
    }

    /// Makes a session of what a client sent: checked and compiled on a thread of its own, then given to its device's thread.
    pub async fn create(&self, job: Job, client: IpAddr, cancelled: Arc<AtomicBool>) -> Result<Arc<Session>, Refusal> {
        let slot = self.session_slot(client)?;
        let key = new_key()?;
        let (device, pane) = (job.device as usize, job.pane);
        let prepared = self.prepare(job, client, cancelled).await?;
        let session = Session::new(key, client, prepared.plan_name.clone(), device, pane).holding(slot);
        let session = Arc::new(session);
        self.metrics.sessions_begun.inc();
        tracing::info!(name = %session.name, %client, device = self.workers[device].id(), pane = pane_label(pane), compile_ms = prepared.took.as_millis() as u64, "a session begins");
        self.adopt(&session, Training::new(session.clone(), prepared.learner, prepared.took, self.bounds.wire.steps));
        Ok(session)
    }

    /// Takes up a session of an earlier run.
    pub async fn restore(&self, session: Session, job: Job, step: u64, running: bool, elapsed_ms: f64) -> Result<(), Refusal> {
        let slot = self.session_slot(session.client)?;
        let prepared = self.prepare(job, session.client, Arc::default()).await?;
        let session = Arc::new(session.holding(slot));
        self.adopt(&session, Training::new(session.clone(), prepared.learner, prepared.took, self.bounds.wire.steps).at(step, elapsed_ms));
        if running {
            self.ask(&session, Command::Run { key: session.key.clone(), steps: None });
        }
        self.metrics.sessions_restored.inc();
        Ok(())
    }

    fn client_compilers(&self, client: IpAddr) -> Arc<Semaphore> {
        let mut all = lock(&self.client_compilers);
        all.retain(|_, s| Arc::strong_count(s) > 1);
        all.entry(client).or_insert_with(|| Arc::new(Semaphore::new(CLIENT_COMPILERS))).clone()
    }

    fn adopt(&self, session: &Arc<Session>, training: Training) {
        lock(&self.sessions).insert(session.key.0.clone(), session.clone());
        self.ask(session, Command::Add(Box::new(training)));
    }

    async fn prepare(&self, job: Job, client: IpAddr, cancelled: Arc<AtomicBool>) -> Result<Prepared, Refusal> {
        let Some(worker) = self.workers.get(job.device as usize) else {
            return Err(Refusal::NoDevice { device: job.device });
        };
        if let Some(reason) = worker.device().lost() {
            return Err(Refusal::Compile { message: format!("the device is gone: {reason}") });
        }
        let limit = self.bounds.wire.compile_seconds;
        let deadline = tokio::time::Instant::now() + Duration::from_secs(limit);
        let own = self.client_compilers(client);
        let permits =
            async { Ok::<_, tokio::sync::AcquireError>((own.acquire_owned().await?, self.compilers.clone().acquire_owned().await?)) };
        let permits = match tokio::time::timeout_at(deadline, permits).await {
            Ok(Ok(permits)) => permits,
            _ => return Err(Refusal::Busy { message: "other graphs are being compiled; try again".into() }),
        };
        let (done, result) = oneshot::channel();
        let (bounds, programs, device, stop) = (self.bounds, self.programs.clone(), worker.device().clone(), cancelled.clone());
        let (metrics, id) = (self.metrics.clone(), worker.id().to_string());
        let work = move || {
            // Nothing that a client sends makes the compiler panic, as far as is known; if it does, only they are told.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let plan = job::check(job, &bounds)?;
                compile(plan, &device, &id, &programs, &bounds, &metrics, &stop)
            }));
            let outcome = outcome.unwrap_or_else(|_| {
                tracing::error!("compiling a client's graph panicked; please report this");
                Err(Refusal::Compile { message: "the compiler failed on this graph".into() })
            });
            // Nobody waits any more when it took too long.
            let _ = done.send(outcome);
            drop(permits);
        };
        let thread = std::thread::Builder::new().name("compile".into()).stack_size(COMPILER_STACK).spawn(work);
        if let Err(e) = thread {
            return Err(Refusal::Busy { message: format!("no thread to compile on: {e}") });
        }
        match tokio::time::timeout_at(deadline, result).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Refusal::Compile { message: "the compiler failed on this graph".into() }),
            Err(_) => {
                // It ends at the next opportunity, and takes up a compiler's place until then.
                cancelled.store(true, Ordering::Release);
                Err(Refusal::Limit { what: "seconds to compile".into(), value: limit + 1, limit })
            }
        }
    }

    /// Sessions that trained since they were saved last, as they are now.
    pub async fn changed(&self) -> Vec<Snapshot> {
        self.gather(Command::Save).await
    }

    /// Every session as it is now; the devices' threads end.
    pub async fn stop(&self) -> Vec<Snapshot> {
        self.gather(Command::Stop).await
    }

    async fn gather(&self, command: fn(oneshot::Sender<Vec<Snapshot>>) -> Command) -> Vec<Snapshot> {
        let mut waits = Vec::new();
        for worker in &self.workers {
            let (done, wait) = oneshot::channel();
            if worker.send(command(done)) {
                waits.push(wait);
            }
        }
        let mut all = Vec::new();
        for wait in waits {
            all.extend(wait.await.unwrap_or_default());
        }
        all.retain(|s| !s.session.is_cancelled());
        all
    }
}

fn compile(
    plan: Plan,
    device: &aludel::Device,
    id: &str,
    programs: &Programs,
    bounds: &Bounds,
    metrics: &Metrics,
    stop: &AtomicBool,
) -> Result<Prepared, Refusal> {
    let start = Instant::now();
    let (name, pane) = (plan.name.clone(), plan.pane);
    let learner = Learner::new(plan, device, programs, bounds, stop, &mut |hit| {
        metrics.cache.with_label_values(&[if hit { "hit" } else { "miss" }]).inc();
    })?;
    let took = start.elapsed();
    metrics.compile_seconds.with_label_values(&[id, pane_label(pane)]).observe(took.as_secs_f64());
    Ok(Prepared { plan_name: name, learner, took })
}

/// 128 random bits from the system.
fn new_key() -> Result<SessionKey, Refusal> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| Refusal::Busy { message: format!("no random numbers: {e}") })?;
    Ok(SessionKey(bytes.iter().map(|b| format!("{b:02x}")).collect()))
}
