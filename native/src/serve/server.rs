//! What the connections of a server share: its devices, the sessions by their keys, and the counts that limits are compared with.

use super::args::{Args, Bounds};
use super::budget::{Budget, Share};
use super::dialect::Work;
use super::memory::Roster;
use super::metrics::{Metrics, pane_label};
use super::operator::Row;
use super::origin::Origins;
use super::places::Places;
use super::process::{Process, Terms};
use super::scripting::Scripting;
use super::secret::{self, Secret};
use super::session::{Session, lock};
use super::store::{self, Entry, Saved};
use super::training::{Command, Context, Gone, Snapshot, Training};
use super::turns::Turns;
use super::worker::job::plain_name;
use super::worker::wire::{Begun, Order, Report};
use crate::mlflow::Tracker;
use aludel::Result;
use aludel_protocol::remote::{Refusal, ServerDevice, ServerMessage, SessionKey};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// A session that is asked for its state to be saved answers in this time, or is saved later.
const SAVING: Duration = Duration::from_secs(20);
/// A session that there is no room for is taken up so often, after so long each time; then with the next start.
const REVIVALS: u32 = 5;
const AGAIN: Duration = Duration::from_secs(2);
/// So many are asked and written at a time: one's worker packs while another's state is brought to the disk.
const SAVED_AT_ONCE: usize = 4;

/// A device that is lent, and the turns on it.
pub struct Offer {
    pub device: ServerDevice,
    turns: Arc<Turns>,
    context: Arc<Context>,
    /// Why no worker can use it.
    pub trouble: Mutex<Option<String>>,
    /// It is being looked into.
    pub suspected: AtomicBool,
}

pub struct Server {
    pub bounds: Bounds,
    pub origins: Origins,
    pub offers: Vec<Offer>,
    pub metrics: Arc<Metrics>,
    /// What messages on their way may take.
    pub budget: Budget,
    terms: Terms,
    logdir: Option<PathBuf>,
    pub tracker: Option<Tracker>,
    pub secret: Secret,
    /// The operator's.
    pub operator: String,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Sessions that exist or are being made, and connections, by client.
    counts: Arc<Counts>,
    compilers: Arc<Places>,
    /// What is one client's of the budget, while it has connections.
    client_budgets: Mutex<HashMap<IpAddr, Weak<Budget>>>,
    /// Sessions of an earlier run are restored.
    ready: watch::Sender<bool>,
    /// Where sessions are saved.
    pub state_dir: Option<PathBuf>,
    /// So few sessions are brought to the disk at a time: their state is in memory meanwhile.
    saving: tokio::sync::Semaphore,
    /// The server ends.
    pub stopping: watch::Sender<bool>,
}

/// Who holds how many of what is limited.
#[derive(Default)]
pub struct Counts {
    sessions: Mutex<HashMap<IpAddr, usize>>,
    connections: Mutex<HashMap<IpAddr, usize>>,
    /// Those that are no WebSockets, or not yet.
    accepted: Mutex<HashMap<IpAddr, usize>>,
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
        let client = share_of(client);
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

/// Whose connection it is, as far as limits go: an address; of IPv6 a whole network, of which one person has all; and this machine, whose
/// addresses are many.
pub fn share_of(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        ip if ip.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

/// A worker that is ready to train.
struct Ready {
    process: Process,
    begun: Begun,
    took: Duration,
}

impl Server {
    pub fn new(
        args: &Args,
        terms: Terms,
        (secret, operator): (Secret, String),
        origins: Origins,
        devices: Vec<ServerDevice>,
        metrics: Arc<Metrics>,
        tracker: Option<Tracker>,
    ) -> Server {
        let bounds = args.limits.bounds();
        let budget = Budget::new(bounds.messages_bytes);
        let offer = |device: ServerDevice| {
            let context =
                Arc::new(Context { device: device.id.clone(), metrics: metrics.clone(), most_steps: bounds.wire.steps, step: bounds.step });
            Offer { device, turns: Arc::default(), context, trouble: Mutex::default(), suspected: AtomicBool::new(false) }
        };
        Server {
            bounds,
            origins,
            offers: devices.into_iter().map(offer).collect(),
            budget,
            terms,
            logdir: args.logdir.clone(),
            tracker,
            metrics,
            secret,
            operator,
            sessions: Mutex::default(),
            counts: Arc::default(),
            compilers: Arc::default(),
            client_budgets: Mutex::default(),
            ready: watch::Sender::new(false),
            state_dir: args.state_dir.clone(),
            saving: tokio::sync::Semaphore::new(SAVED_AT_ONCE),
            stopping: watch::Sender::new(false),
        }
    }

    /// Which places are all taken.
    pub fn taken_places(&self) -> Vec<String> {
        let taken = |held: &Mutex<HashMap<IpAddr, usize>>| lock(held).values().sum::<usize>();
        let lots = [
            (taken(&self.counts.sessions), self.bounds.all_sessions, "places for sessions"),
            (taken(&self.counts.connections), self.bounds.connections, "places for connections"),
        ];
        lots.iter().filter(|(taken, all, _)| taken >= all).map(|(_, all, what)| format!("all {all} {what} are taken")).collect()
    }

    /// How many sessions could not be saved when that was tried last.
    pub fn unsaved(&self) -> usize {
        lock(&self.sessions).values().filter(|s| s.is_unsaved()).count()
    }

    /// Bytes on each device, in use and at most, of the sessions there are.
    pub fn memory(&self) -> Vec<(u64, u64)> {
        let mut all = vec![(0, 0); self.offers.len()];
        for session in lock(&self.sessions).values() {
            let memory = session.memory();
            all[session.device].0 += memory.in_use;
            all[session.device].1 += memory.peak;
        }
        all
    }

    /// Whether sessions of an earlier run are restored.
    pub fn is_restored(&self) -> bool {
        *self.ready.borrow()
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

    /// A place for a connection that is no WebSocket yet: a quarter of all for one client.
    pub fn accept(&self, client: IpAddr, all: usize) -> Option<Slot> {
        Slot::take(&self.counts, |c| &c.accepted, client, all.div_ceil(4), all).ok()
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

    /// Ends a session and frees what it holds.
    pub fn end(&self, session: &Session) {
        session.forget();
        lock(&self.sessions).remove(&session.key.0);
        if let Some(dir) = &self.state_dir {
            store::forget(dir, &session.key);
        }
    }

    /// The same for one that cannot go on now; what is saved of it stays.
    fn lose(&self, session: &Session) {
        session.cancel();
        lock(&self.sessions).remove(&session.key.0);
    }

    /// Ends sessions that nobody has listened to for long.
    pub fn sweep(&self) {
        let idle: Vec<_> = lock(&self.sessions).values().filter(|s| s.is_idle(self.bounds.idle)).cloned().collect();
        for session in idle {
            tracing::info!(name = %session.name, "a session that nobody listens to ends");
            self.end(&session);
        }
    }

    pub fn sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.sessions).values().cloned().collect()
    }

    /// The sessions for the operator, those of a client together.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self
            .sessions()
            .iter()
            .map(|s| Row {
                id: secret::digest(&s.key.0),
                name: s.name.clone(),
                client: s.client,
                device: self.offers[s.device].device.id.clone(),
                pane: pane_label(s.pane).into(),
                step: s.step(),
                running: s.is_running(),
                attended: s.is_attended(),
                memory: s.memory().in_use,
                unsaved: s.is_unsaved(),
            })
            .collect();
        rows.sort_by(|a, b| (a.client, &a.id).cmp(&(b.client, &b.id)));
        rows
    }

    /// How many sessions train and how many pause.
    pub fn census(&self) -> (usize, usize) {
        let sessions = lock(&self.sessions);
        let running = sessions.values().filter(|s| s.is_running()).count();
        (running, sessions.len() - running)
    }

    /// Makes a session of what a client sent: checked and compiled in a process of its own, which then trains. Dropped before it is done,
    /// nothing is left of it.
    pub async fn create(self: &Arc<Self>, work: Work, shares: Vec<Share>, client: IpAddr) -> Result<Arc<Session>, Refusal> {
        let slot = self.session_slot(client)?;
        let key = new_key()?;
        let (pane, name, is_script) = match &work {
            Work::Graph(job) => (job.pane, plain_name(&job.name), false),
            Work::Script(job) => (job.pane, plain_name(&job.name), true),
        };
        let device = work.device() as usize;
        let ready = self.begin(work, client).await?;
        // The job is with its worker.
        drop(shares);
        let (session, asked) = Session::new(key, client, name, device, pane);
        let session = if is_script { session.of_script() } else { session };
        let session = Arc::new(session.holding(slot));
        self.metrics.sessions_begun.inc();
        tracing::info!(name = %session.name, %client, device = self.offers[device].device.id, pane = pane_label(pane), compile_ms = ready.took.as_millis() as u64, "a session begins");
        let labels = [self.offers[device].device.id.as_str(), pane_label(pane)];
        if is_script {
            self.conduct_script(&session, ready, asked);
            return Ok(session);
        }
        self.metrics.compile_seconds.with_label_values(&labels).observe(ready.took.as_secs_f64());
        let training = self.training(&session, ready);
        self.conduct(&session, training, asked);
        if let Some(dir) = self.state_dir.clone() {
            // From here on it survives its worker.
            let (server, session) = (self.clone(), session.clone());
            tokio::spawn(async move { server.save_one(&dir, &session).await });
        }
        Ok(session)
    }

    /// A place for a session of an earlier run, whatever the limits are now: they are kept before others are let in.
    pub fn keep_place(&self, client: IpAddr) -> Option<Slot> {
        Slot::take(&self.counts, |c| &c.sessions, client, usize::MAX, usize::MAX).ok()
    }

    /// Takes up a session of an earlier run.
    pub async fn restore(self: &Arc<Self>, entry: Entry, slot: Option<Slot>) -> Result<u64, String> {
        let (was_starting, path) = (entry.was_starting(), entry.path().to_path_buf());
        if !self.device_ids().iter().any(|d| d == entry.device()) {
            return Err(format!("it trained on {}, which is not here", entry.device()));
        }
        let devices = self.device_ids();
        let read = tokio::task::block_in_place(|| entry.read(&devices));
        let Saved { session, asked, job, step, running, elapsed_ms } = read.map_err(|e| {
            store::set_aside(&path, &e);
            e.to_string()
        })?;
        let ready = self.begin(Work::Graph(job), session.client).await.map_err(|r| format!("{r:?}"))?;
        let session = match slot {
            Some(slot) => session.holding(slot),
            None => session,
        };
        let session = Arc::new(session);
        let mut training = self.training(&session, ready).at(step, elapsed_ms);
        self.metrics.sessions_restored.inc();
        if running && !was_starting {
            self.mark_start(&session);
            training.run(None);
        } else if was_starting {
            session.warn("the server ended when this session took its first steps: it was taken up again, and pauses".into());
        }
        // It is as it was saved.
        session.begin_save();
        self.conduct(&session, training, asked);
        Ok(step)
    }

    fn device_ids(&self) -> Vec<String> {
        self.offers.iter().map(|o| o.device.id.clone()).collect()
    }

    fn mark_start(&self, session: &Arc<Session>) {
        let Some(dir) = self.state_dir.clone() else { return };
        if let Err(e) = store::begin_start(&dir, &session.key) {
            return tracing::warn!(error = %e, "that a session starts cannot be noted");
        }
        let session = session.clone();
        tokio::spawn(async move {
            let step = session.step();
            // Its first steps are behind it, or it pauses or is gone.
            while session.step() == step && session.is_running() && !session.is_cancelled() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            store::end_start(&dir, &session.key);
        });
    }

    fn training(&self, session: &Arc<Session>, ready: Ready) -> Training {
        let offer = &self.offers[session.device];
        let Ready { process, begun, took } = ready;
        let budget = self.budget_of(session.client);
        let mut training = Training::new(session.clone(), process, begun, took, offer.turns.place(), offer.context.clone(), budget);
        if let Some(dir) = &self.logdir {
            training.log_to(dir);
        }
        if let Some(tracker) = &self.tracker {
            training.track(tracker);
        }
        training
    }

    /// Gives a session a task of its own, until it ends.
    fn conduct(self: &Arc<Self>, session: &Arc<Session>, training: Training, mut asked: mpsc::Receiver<Command>) {
        lock(&self.sessions).insert(session.key.0.clone(), session.clone());
        let (server, session) = (self.clone(), session.clone());
        tokio::spawn(async move {
            let mut training = training;
            while let Gone::Died(why) = training.serve(&mut asked).await {
                tracing::error!(name = %session.name, why, "a session's worker is gone");
                server.metrics.workers_lost.inc();
                server.suspect(session.device);
                match server.revive(&session).await {
                    Ok(again) => {
                        training = again;
                        training.set_running(false);
                        let step = session.step();
                        session.post(ServerMessage::Failed { message: format!("{why}; it is taken up again at step {step}, and pauses") });
                    }
                    Err(problem) => {
                        // Before anybody hears of it, so that nobody asks it for more. What is saved stays: the next start may take it up.
                        server.lose(&session);
                        session.post(ServerMessage::Running { running: false, step: session.step() });
                        session.post(ServerMessage::Failed { message: format!("{why}; the session is lost: {problem}") });
                        return;
                    }
                }
            }
        });
    }

    /// The same for a session that runs a script: it is lost with its worker.
    fn conduct_script(self: &Arc<Self>, session: &Arc<Session>, ready: Ready, mut asked: mpsc::Receiver<Command>) {
        lock(&self.sessions).insert(session.key.0.clone(), session.clone());
        let offer = &self.offers[session.device];
        let budget = self.budget_of(session.client);
        let scripting = Scripting::new(session.clone(), ready.process, ready.begun, offer.turns.place(), offer.context.clone(), budget);
        let (server, session) = (self.clone(), session.clone());
        tokio::spawn(async move {
            if let Gone::Died(why) = scripting.serve(&mut asked).await {
                tracing::error!(name = %session.name, why, "a script's worker is gone");
                server.metrics.workers_lost.inc();
                server.suspect(session.device);
                // Before anybody hears of it, so that nobody asks it for more.
                server.end(&session);
                session.post(ServerMessage::Failed { message: format!("{why}; the script and its values are lost") });
                session.post(ServerMessage::Running { running: false, step: session.step() });
            }
        });
    }

    /// A new worker for a session, from what was saved last. Where there is no room for it now, that is tried again for a while.
    async fn revive(self: &Arc<Self>, session: &Arc<Session>) -> Result<Training, String> {
        let dir = self.state_dir.as_ref().ok_or("its state was not saved")?;
        let devices = self.device_ids();
        let mut tries = 1;
        // What is being written is waited for, what is not yet is of a life that is over.
        *session.lives.lock().await += 1;
        loop {
            let saved = tokio::task::block_in_place(|| Entry::of(dir, &session.key).and_then(|e| e.read(&devices)));
            let saved = saved.map_err(|e| e.to_string())?;
            match self.begin(Work::Graph(saved.job), session.client).await {
                Ok(ready) => {
                    session.rewind(saved.step, saved.session.losses());
                    return Ok(self.training(session, ready).at(saved.step, saved.elapsed_ms));
                }
                Err(Refusal::Busy { .. }) if tries < REVIVALS && !session.is_cancelled() => {
                    tries += 1;
                    tokio::time::sleep(AGAIN).await;
                }
                Err(refusal) => return Err(format!("it cannot be taken up again now ({refusal:?}); what was saved of it stays")),
            }
        }
    }

    /// A client's part of the memory for messages, for all its connections.
    pub fn budget_of(&self, client: IpAddr) -> Arc<Budget> {
        let mut all = lock(&self.client_budgets);
        all.retain(|_, b| b.strong_count() > 0);
        let client = share_of(client);
        all.get(&client).and_then(Weak::upgrade).unwrap_or_else(|| {
            let part = Arc::new(self.budget.part());
            all.insert(client, Arc::downgrade(&part));
            part
        })
    }

    /// The workers there are, and their memory.
    pub fn roster(&self) -> Arc<Roster> {
        self.terms.roster.clone()
    }

    /// Starts a worker and has it compile a job. When that takes too long, or nobody waits any more, the worker and its compilers are killed
    /// and their place is free.
    async fn begin(self: &Arc<Self>, work: Work, client: IpAddr) -> Result<Ready, Refusal> {
        let device = work.device();
        let Some(offer) = self.offers.get(device as usize) else {
            return Err(Refusal::NoDevice { device });
        };
        let limit = self.bounds.wire.compile_seconds;
        let patience = Duration::from_secs(limit);
        // As long as those who compile now may take, and a little.
        let _place = match tokio::time::timeout(patience + Duration::from_secs(5), self.compilers.wait(client)).await {
            Ok(Ok(place)) => place,
            _ => return Err(Refusal::Busy { message: "other graphs are being compiled; try again".into() }),
        };
        if !self.terms.roster.room_for(client).await {
            let budget = self.terms.roster.budget() >> 20;
            return Err(Refusal::Busy {
                message: format!("the memory for all sessions together, {budget} MiB, is taken; try again later"),
            });
        }
        let start = Instant::now();
        let trouble = |e: std::io::Error| {
            *lock(&offer.trouble) = Some(e.to_string());
            self.suspect(device as usize);
            Refusal::Busy { message: format!("no process for a session: {e}") }
        };
        let is_script = matches!(work, Work::Script(_));
        let mut process = Process::start(&offer.device.id, client, &self.terms, is_script).map_err(trouble)?;
        let bounds = self.bounds;
        let order = match work {
            Work::Graph(job) => Order::Begin { job: Box::new(job), bounds },
            Work::Script(job) => Order::Script { job: Box::new(job), bounds },
        };
        let begin = async {
            // Its end says more than that it does not listen.
            let _ = process.send(&order).await;
            drop(order);
            process.receive().await
        };
        let begun = match tokio::time::timeout(patience, begin).await {
            Ok(Ok(Report::Begun(begun))) => begun?,
            Ok(Ok(_)) => return Err(Refusal::Compile { message: "the worker answered something else".into() }),
            Ok(Err(why)) => {
                tracing::error!(why, "a worker is gone before its session began");
                self.metrics.workers_lost.inc();
                self.suspect(device as usize);
                return Err(Refusal::Compile {
                    message: format!("{} {why}", if is_script { "this script was not begun:" } else { "this graph was not compiled:" }),
                });
            }
            Err(_) => {
                self.suspect(device as usize);
                return Err(Refusal::Limit { what: "seconds to compile".into(), value: limit + 1, limit });
            }
        };
        *lock(&offer.trouble) = None;
        let took = start.elapsed();
        Ok(Ready { process, begun, took })
    }

    /// Brings sessions to the disk that changed since they were; gives how many could not be in that time.
    pub async fn save(self: &Arc<Self>, dir: &Path, within: Duration) -> usize {
        let end = tokio::time::Instant::now() + within;
        let changed: Vec<_> = lock(&self.sessions).values().filter(|s| s.is_dirty()).cloned().collect();
        let mut saves = tokio::task::JoinSet::new();
        for session in changed {
            let (server, dir) = (self.clone(), dir.to_path_buf());
            saves.spawn(async move { tokio::time::timeout_at(end, server.save_one(&dir, &session)).await });
        }
        let mut failed = 0;
        while let Some(saved) = saves.join_next().await {
            failed += usize::from(!matches!(saved, Ok(Ok(true))));
        }
        failed
    }

    /// Nothing trains any more: what is saved from now on is saved as it is, and has the processors for itself.
    pub fn rest(&self) {
        self.offers.iter().for_each(|offer| offer.turns.close());
    }

    /// Brings a session to the disk. What could not be written is told of once and tried again.
    async fn save_one(&self, dir: &Path, session: &Arc<Session>) -> bool {
        // It may be asked for while an earlier save is still written.
        let _alone = session.saving.lock().await;
        // It is never closed.
        let _one_of_few = self.saving.acquire().await;
        session.begin_save();
        let saved = loop {
            let life = *session.lives.lock().await;
            let Some(snapshot) = self.snapshot(session).await else {
                if session.is_cancelled() {
                    return true;
                }
                break Err("it is in the middle of a long step".into());
            };
            let lives = session.lives.lock().await;
            // A worker that died after it gave this was taken up from what was there: what is written now must not be of before.
            if *lives == life {
                break tokio::task::block_in_place(|| {
                    store::save(dir, &self.offers[session.device].device.id, session, &snapshot).map_err(|e| e.to_string())
                });
            }
        };
        if session.is_forgotten() {
            // It ended meanwhile.
            store::forget(dir, &session.key);
            return true;
        }
        let problem = saved.err();
        if problem.is_some() {
            self.metrics.saves_failed.inc();
        }
        let news = session.end_save(problem.clone());
        match &problem {
            None => tracing::info!(name = %session.name, step = session.step(), "a session is saved"),
            Some(e) if news => {
                tracing::error!(name = %session.name, error = %e, "a session cannot be saved; it is tried again");
                session.warn(format!("the server cannot save this session, and tries again: {e}"));
            }
            Some(_) => {}
        }
        problem.is_none()
    }

    /// A session as it is, where it answers soon.
    async fn snapshot(&self, session: &Session) -> Option<Snapshot> {
        let (done, wait) = oneshot::channel();
        tokio::time::timeout(SAVING, async {
            session.ask_in_turn(Command::Save(done)).await;
            wait.await.ok()
        })
        .await
        .ok()
        .flatten()
    }

    /// Sessions that go on end: their workers are killed. What was saved of them stays.
    pub fn stop(&self) -> usize {
        let all: Vec<_> = lock(&self.sessions).drain().map(|(_, s)| s).collect();
        all.iter().for_each(|s| s.cancel());
        all.len()
    }
}

/// 128 random bits from the system.
fn new_key() -> Result<SessionKey, Refusal> {
    secret::random().map(SessionKey).map_err(|e| Refusal::Busy { message: e.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_an_address_a_network_or_this_machine() {
        let of = |text: &str| share_of(text.parse().unwrap());
        assert_eq!(of("127.0.0.1"), of("127.9.8.7"));
        assert_eq!(of("127.0.0.1"), of("::1"));
        assert_eq!(of("127.0.0.1"), of("::ffff:127.0.0.2"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_eq!(of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff:ffff:ffff:ffff"));
        assert_ne!(of("2001:db8:0:1::1"), of("2001:db8:0:2::1"));
    }

    #[test]
    fn places_are_shares_and_come_back() {
        let counts = Arc::default();
        let take = |client: &str| Slot::take(&counts, |c| &c.accepted, client.parse().unwrap(), 2, 3).map_err(|(own, _)| own);
        let first = [take("192.0.2.1").unwrap(), take("192.0.2.1").unwrap()];
        assert_eq!(take("192.0.2.1").err(), Some(true), "its share is taken");
        let _other = take("2001:db8::1").unwrap();
        assert_eq!(take("192.0.2.2").err(), Some(false), "all are taken");
        drop(first);
        assert!(take("192.0.2.1").is_ok() && lock(&counts.accepted).len() == 1);
    }
}
