//! A session as everybody but the task that conducts it sees it, and the mailbox of the connection that listens to it.

use super::budget::Share;
use super::server::Slot;
use super::training::Command;
use super::worker::wire::Memory;
use aludel_protocol::remote::{Resumed, ServerMessage, SessionKey};
use aludel_protocol::script::{Region, Report};
use aludel_protocol::{Pane, Progress};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, watch};

/// Locks, also after a panic elsewhere: every critical section of the server leaves its data whole.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most losses that one report carries, and that a session remembers; beyond that every other one is dropped.
const MOST_REPORTED: usize = 1024;
const MOST_REMEMBERED: usize = 4096;

/// So many requests of a client wait for its session's task; then no more of them are read.
pub const MOST_ASKED: usize = 8;

/// Reports that melt into one hold no more than a few of them: further shares stand for nothing.
const MOST_SHARES: usize = 4;

/// That something was asked for: while it lives the answer is on its way, and the same is not asked for again.
pub struct Ticket(Arc<()>);

impl Ticket {
    fn new(last: &mut Weak<()>) -> Option<Ticket> {
        if last.strong_count() > 0 {
            return None;
        }
        let ticket = Arc::new(());
        *last = Arc::downgrade(&ticket);
        Some(Ticket(ticket))
    }
}

/// What is said to a client: what all sessions say, and what only those say that run scripts.
#[derive(Debug)]
pub enum Say {
    Session(ServerMessage),
    Report(Box<Report>),
    Regions(Vec<Region>),
}

impl From<ServerMessage> for Say {
    fn from(message: ServerMessage) -> Say {
        Say::Session(message)
    }
}

/// A message, and its part of the memory that messages may take.
pub struct Letter {
    pub message: Say,
    /// Of all that melted into it.
    pub shares: Vec<Share>,
}

/// What is on its way to a client. Never longer than its client asks for: reports of progress melt into one.
#[derive(Default)]
pub struct Mailbox {
    queue: Mutex<VecDeque<Letter>>,
    arrived: Notify,
    closed: watch::Sender<bool>,
}

impl Mailbox {
    pub fn post(&self, message: impl Into<Say>) {
        self.post_with(message.into(), None);
    }

    pub fn post_with(&self, message: Say, share: Option<Share>) {
        use ServerMessage::Progress;
        let mut queue = lock(&self.queue);
        match (queue.back_mut().map(|l| (&mut l.message, &mut l.shares)), message) {
            (Some((Say::Session(Progress(old)), _)), Say::Session(Progress(new))) => merge(old, new),
            // What they hold together is bounded, and so are their shares.
            (Some((Say::Report(old), shares)), Say::Report(new)) => {
                old.merge(*new);
                shares.extend(share.filter(|_| shares.len() < MOST_SHARES));
            }
            (_, message) => queue.push_back(Letter { message, shares: share.into_iter().collect() }),
        }
        self.arrived.notify_one();
    }

    pub fn take(&self) -> Option<Letter> {
        lock(&self.queue).pop_front()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        lock(&self.queue).len()
    }

    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// What waits is still delivered; then the connection ends.
    pub fn close(&self) {
        self.closed.send_replace(true);
        self.arrived.notify_one();
    }

    /// Nothing but this is delivered any more; then the connection ends.
    pub fn close_with(&self, message: ServerMessage) {
        let mut queue = lock(&self.queue);
        queue.clear();
        queue.push_back(Letter { message: message.into(), shares: Vec::new() });
        drop(queue);
        self.close();
    }

    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits until it is closed.
    pub async fn closed(&self) {
        // The sender is as old as the mailbox.
        let _ = self.closed.subscribe().wait_for(|c| *c).await;
    }
}

fn merge(old: &mut Progress, new: Progress) {
    let mut losses = std::mem::take(&mut old.losses);
    losses.extend(&new.losses);
    *old = Progress { losses, ..new };
    thin(&mut old.losses, MOST_REPORTED);
}

/// Drops every other element, the last excepted, while there are more than `most`.
fn thin(losses: &mut Vec<(u64, f32)>, most: usize) {
    while losses.len() > most.max(2) {
        let last = losses.len() - 1;
        let mut i = 0;
        losses.retain(|_| {
            i += 1;
            i % 2 == 1 || i - 1 == last
        });
    }
}

/// One session.
pub struct Session {
    pub key: SessionKey,
    /// Whose it is, as far as limits go.
    pub client: IpAddr,
    pub name: String,
    /// The position of its device.
    pub device: usize,
    pub pane: Pane,
    /// It runs a script: it is not saved, and listeners speak of scripts.
    pub is_script: bool,
    /// Held while it is brought to the disk: one file at a time is written for it.
    pub saving: tokio::sync::Mutex<()>,
    /// How often it got a new worker; held while its files are replaced.
    pub lives: tokio::sync::Mutex<u64>,
    log: Mutex<Log>,
    inbox: mpsc::Sender<Command>,
    /// It ends: its task lets go of it at the next opportunity.
    cancelled: watch::Sender<bool>,
    /// Nobody wants it any more: what is saved of it goes, too.
    forgotten: AtomicBool,
    in_use: AtomicU64,
    peak: AtomicU64,
    /// Its place among the sessions of its client.
    _slot: Option<Slot>,
}

struct Log {
    step: u64,
    running: bool,
    losses: Vec<(u64, f32)>,
    listener: Option<(u64, Arc<Mailbox>)>,
    /// When the last listener left.
    left: Instant,
    /// The state was asked for and has not been delivered.
    fetching: Weak<()>,
    /// The same of what the compiler made.
    inspecting: Weak<()>,
    /// Something happened that has not been saved.
    dirty: bool,
    /// Why it could not be saved.
    unsaved: Option<String>,
    /// To be told to the next listener.
    warning: Option<String>,
    /// All that a script made so far, for those that listen later.
    total: Box<Report>,
}

impl Log {
    /// What a message says of the session.
    fn hear(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Progress(p) => {
                self.step = p.step;
                self.losses.extend(&p.losses);
                thin(&mut self.losses, MOST_REMEMBERED);
                self.dirty = true;
            }
            ServerMessage::Running { running, step } => {
                self.dirty |= (self.running, self.step) != (*running, *step);
                (self.running, self.step) = (*running, *step);
            }
            _ => {}
        }
    }
}

static LISTENERS: AtomicU64 = AtomicU64::new(1);

impl Session {
    /// A session, and what it is asked for.
    pub fn new(key: SessionKey, client: IpAddr, name: String, device: usize, pane: Pane) -> (Session, mpsc::Receiver<Command>) {
        let (inbox, asked) = mpsc::channel(MOST_ASKED);
        let log = Log {
            step: 0,
            running: false,
            losses: Vec::new(),
            listener: None,
            left: Instant::now(),
            fetching: Weak::new(),
            inspecting: Weak::new(),
            dirty: true,
            unsaved: None,
            warning: None,
            total: Box::default(),
        };
        let session = Session {
            key,
            client,
            name,
            device,
            pane,
            is_script: false,
            saving: tokio::sync::Mutex::new(()),
            lives: tokio::sync::Mutex::new(0),
            log: Mutex::new(log),
            inbox,
            cancelled: watch::Sender::new(false),
            forgotten: AtomicBool::new(false),
            in_use: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            _slot: None,
        };
        (session, asked)
    }

    /// Counts against its client's limit as long as anybody holds it.
    pub fn holding(self, slot: Slot) -> Session {
        Session { _slot: Some(slot), ..self }
    }

    /// Of a script.
    pub fn of_script(self) -> Session {
        Session { is_script: true, ..self }
    }

    /// As it was when the server ended.
    pub fn with_history(self, step: u64, losses: Vec<(u64, f32)>) -> Session {
        {
            let mut log = lock(&self.log);
            (log.step, log.losses) = (step, losses);
        }
        self
    }

    /// The mailbox hears of the session from now on; an earlier listener is told that another took its place. Gives the listener's name.
    ///
    /// `greeting` says what the listener hears before all else: a session that trains posts from another thread as soon as the lock is free.
    ///
    /// What a script made so far is told with it, if there is a share of the memory for that.
    pub fn attach(&self, mailbox: &Arc<Mailbox>, share: Option<Share>, greeting: impl FnOnce(Resumed) -> ServerMessage) -> u64 {
        let id = LISTENERS.fetch_add(1, Ordering::Relaxed);
        let mut log = lock(&self.log);
        if let Some((_, earlier)) = log.listener.replace((id, mailbox.clone())) {
            // What it has not read goes: it may be large, and takeovers many.
            earlier.close_with(ServerMessage::TakenOver);
        }
        (log.fetching, log.inspecting) = Default::default();
        let Session { key, name, device, pane, .. } = self;
        let resumed = Resumed {
            session: key.clone(),
            name: name.clone(),
            device: *device as u32,
            pane: *pane,
            step: log.step,
            running: log.running,
            losses: log.losses.clone(),
        };
        mailbox.post(greeting(resumed));
        if self.is_script {
            mailbox.post(ServerMessage::Running { running: log.running, step: log.step });
            let mut whole = Report { whole: true, ..(*log.total).clone() };
            if share.is_none() {
                (whole.figures, whole.files) = Default::default();
            }
            mailbox.post_with(Say::Report(Box::new(whole)), share);
        }
        if let Some(message) = log.warning.take() {
            mailbox.post(ServerMessage::Failed { message });
        }
        id
    }

    /// Bytes of what a script made so far.
    pub fn made(&self) -> u64 {
        lock(&self.log).total.weight() as u64
    }

    /// The listener of that name is gone.
    pub fn detach(&self, id: u64) {
        let mut log = lock(&self.log);
        if log.listener.as_ref().is_some_and(|(l, _)| *l == id) {
            log.listener = None;
            log.left = Instant::now();
        }
    }

    /// Nobody has listened for so long.
    pub fn is_idle(&self, for_: Duration) -> bool {
        let log = lock(&self.log);
        log.listener.is_none() && log.left.elapsed() > for_
    }

    pub fn post(&self, message: impl Into<Say>) {
        self.post_with(message.into(), None);
    }

    pub fn post_with(&self, message: Say, share: Option<Share>) {
        let mut log = lock(&self.log);
        match &message {
            Say::Report(report) => {
                log.step = report.numbers.steps;
                log.total.merge((**report).clone());
            }
            Say::Regions(_) => {}
            Say::Session(message) => log.hear(message),
        }
        match (&log.listener, message) {
            (Some((_, mailbox)), message) => mailbox.post_with(message, share),
            (None, Say::Session(ServerMessage::Failed { message })) => log.warning = Some(message),
            (None, _) => {}
        }
    }

    /// Says something to whoever listens, now or when they come.
    pub fn warn(&self, message: String) {
        let mut log = lock(&self.log);
        match &log.listener {
            Some((_, mailbox)) => mailbox.post(ServerMessage::Failed { message }),
            None => log.warning = Some(message),
        }
    }

    /// It goes on from an earlier step.
    pub fn rewind(&self, step: u64, losses: Vec<(u64, f32)>) {
        let mut log = lock(&self.log);
        (log.step, log.losses) = (step, losses);
    }

    /// To ask for the state: not while an answer is on its way, which may be large.
    pub fn begin_fetch(&self) -> Option<Ticket> {
        Ticket::new(&mut lock(&self.log).fetching)
    }

    /// The same for what the compiler made.
    pub fn begin_inspection(&self) -> Option<Ticket> {
        Ticket::new(&mut lock(&self.log).inspecting)
    }

    /// Whether the one who asked still listens.
    pub fn awaits(&self, ticket: &Ticket) -> bool {
        let log = lock(&self.log);
        [&log.fetching, &log.inspecting].into_iter().any(|w| std::ptr::eq(w.as_ptr(), Arc::as_ptr(&ticket.0)))
    }

    /// Somebody listens.
    pub fn is_attended(&self) -> bool {
        lock(&self.log).listener.is_some()
    }

    pub fn is_running(&self) -> bool {
        lock(&self.log).running
    }

    pub fn step(&self) -> u64 {
        lock(&self.log).step
    }

    pub fn losses(&self) -> Vec<(u64, f32)> {
        lock(&self.log).losses.clone()
    }

    /// Hands a request to the session's task; false where too many wait already.
    pub fn ask(&self, command: Command) -> bool {
        self.inbox.try_send(command).is_ok()
    }

    /// Whether the session's task takes more requests.
    pub fn takes_requests(&self) -> bool {
        // Saving asks too.
        self.inbox.capacity() > 1
    }

    /// Hands a request of the server's own to the session's task.
    pub async fn ask_in_turn(&self, command: Command) {
        // The task is gone where the session is.
        let _ = self.inbox.send(command).await;
    }

    /// Whether something happened since it was saved. A script is not saved: nothing could take its machine up again.
    pub fn is_dirty(&self) -> bool {
        !self.is_script && lock(&self.log).dirty
    }

    /// It is being saved: what happens from now on is not part of it.
    pub fn begin_save(&self) {
        lock(&self.log).dirty = false;
    }

    /// How saving went; gives whether that is news.
    pub fn end_save(&self, problem: Option<String>) -> bool {
        let mut log = lock(&self.log);
        log.dirty |= problem.is_some();
        let news = problem.is_some() != log.unsaved.is_some();
        log.unsaved = problem;
        news
    }

    pub fn is_unsaved(&self) -> bool {
        lock(&self.log).unsaved.is_some()
    }

    pub fn set_memory(&self, memory: Memory) {
        self.in_use.store(memory.in_use, Ordering::Relaxed);
        self.peak.fetch_max(memory.peak, Ordering::Relaxed);
    }

    /// Bytes on its device, now and at most.
    pub fn memory(&self) -> Memory {
        Memory { in_use: self.in_use.load(Ordering::Relaxed), peak: self.peak.load(Ordering::Relaxed) }
    }

    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Ends it for good.
    pub fn forget(&self) {
        self.forgotten.store(true, Ordering::Relaxed);
        self.cancel();
    }

    pub fn is_forgotten(&self) -> bool {
        self.forgotten.load(Ordering::Relaxed)
    }

    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        // The sender is as old as the session.
        let _ = self.cancelled.subscribe().wait_for(|c| *c).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_protocol::Counts;

    fn progress(step: u64) -> ServerMessage {
        ServerMessage::Progress(Progress {
            pane: Pane::Compiled,
            step,
            losses: vec![(step, step as f32)],
            elapsed_ms: 0.0,
            ms_per_step: None,
            counts: Counts::default(),
            first_ms: None,
            scaling: None,
        })
    }

    #[test]
    fn reports_melt_and_keep_the_last_loss() {
        let mailbox = Mailbox::default();
        for step in 1..=100_000 {
            mailbox.post(progress(step));
        }
        assert_eq!(mailbox.len(), 1);
        let Some(Say::Session(ServerMessage::Progress(p))) = mailbox.take().map(|l| l.message) else { panic!("no report") };
        assert_eq!((p.step, p.losses.last()), (100_000, Some(&(100_000, 100_000.0))));
        assert!(p.losses.len() <= MOST_REPORTED && p.losses.len() > MOST_REPORTED / 4);
        assert!(p.losses.is_sorted_by_key(|l| l.0));
        // What lies between reports keeps its place.
        mailbox.post(progress(1));
        mailbox.post(ServerMessage::Running { running: false, step: 1 });
        mailbox.post(progress(2));
        assert_eq!(mailbox.len(), 3);
    }

    #[test]
    fn a_save_that_fails_is_news_once() {
        let (session, _asked) = Session::new(SessionKey("k".into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
        let save = |problem: Option<&str>| {
            session.begin_save();
            let news = session.end_save(problem.map(str::to_string));
            (news, session.is_dirty(), session.is_unsaved())
        };
        assert_eq!(save(None), (false, false, false));
        assert_eq!(save(Some("the disk is full")), (true, true, true));
        assert_eq!(save(Some("the disk is full")), (false, true, true));
        assert_eq!(save(None), (true, false, false));
    }

    #[test]
    fn the_later_listener_has_the_session() {
        let (session, _asked) = Session::new(SessionKey("k".into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
        let (one, two) = (Arc::new(Mailbox::default()), Arc::new(Mailbox::default()));
        let greeting = |resumed: Resumed| ServerMessage::Created { session: resumed.session, pane: resumed.pane };
        let first = session.attach(&one, None, greeting);
        session.post(progress(1));
        session.attach(&two, None, |resumed| {
            assert_eq!((resumed.step, &resumed.losses[..]), (1, &[(1, 1.0)][..]));
            greeting(resumed)
        });
        assert!(one.is_closed());
        session.detach(first);
        session.post(progress(2));
        assert_eq!(two.len(), 2, "who left before does not take the listener away");
        assert!(!session.is_idle(Duration::ZERO));
    }

    #[test]
    fn the_greeting_comes_before_what_waited() {
        let (session, _asked) = Session::new(SessionKey("k".into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
        session.warn("the disk is full".into());
        let mailbox = Arc::new(Mailbox::default());
        session.attach(&mailbox, None, |resumed| ServerMessage::Created { session: resumed.session, pane: resumed.pane });
        let messages: Vec<_> = std::iter::from_fn(|| mailbox.take()).map(|letter| letter.message).collect();
        assert!(
            matches!(&messages[..], [Say::Session(ServerMessage::Created { .. }), Say::Session(ServerMessage::Failed { .. })]),
            "{messages:?}"
        );
    }
}
