//! A session as everybody but its device's thread sees it, and the mailbox of the connection that listens to it.

use super::server::Slot;
use aludel_protocol::remote::{Resumed, ServerMessage, SessionKey};
use aludel_protocol::{Pane, Progress};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Locks, also after a panic elsewhere: every critical section of the server leaves its data whole.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most losses that one report carries, and that a session remembers; beyond that every other one is dropped.
const MOST_REPORTED: usize = 1024;
const MOST_REMEMBERED: usize = 4096;

/// What is on its way to a client. Never longer than its client asks for: reports of progress melt into one.
#[derive(Default)]
pub struct Mailbox {
    queue: Mutex<VecDeque<ServerMessage>>,
    arrived: Notify,
    closed: AtomicBool,
}

impl Mailbox {
    pub fn post(&self, message: ServerMessage) {
        let mut queue = lock(&self.queue);
        match (queue.back_mut(), message) {
            (Some(ServerMessage::Progress(old)), ServerMessage::Progress(new)) => merge(old, new),
            (_, message) => queue.push_back(message),
        }
        self.arrived.notify_one();
    }

    /// Before all that waits.
    pub fn post_first(&self, message: ServerMessage) {
        lock(&self.queue).push_front(message);
        self.arrived.notify_one();
    }

    pub fn take(&self) -> Option<ServerMessage> {
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
        self.closed.store(true, Ordering::Release);
        self.arrived.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
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
    log: Mutex<Log>,
    /// It ends: its device's thread lets go of it at the next opportunity.
    cancelled: AtomicBool,
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
    fetching: bool,
}

static LISTENERS: AtomicU64 = AtomicU64::new(1);

impl Session {
    pub fn new(key: SessionKey, client: IpAddr, name: String, device: usize, pane: Pane) -> Session {
        let log = Log { step: 0, running: false, losses: Vec::new(), listener: None, left: Instant::now(), fetching: false };
        Session { key, client, name, device, pane, log: Mutex::new(log), cancelled: AtomicBool::new(false), _slot: None }
    }

    /// Counts against its client's limit as long as anybody holds it.
    pub fn holding(self, slot: Slot) -> Session {
        Session { _slot: Some(slot), ..self }
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
    pub fn attach(&self, mailbox: &Arc<Mailbox>) -> (u64, Resumed) {
        let id = LISTENERS.fetch_add(1, Ordering::Relaxed);
        let mut log = lock(&self.log);
        if let Some((_, earlier)) = log.listener.replace((id, mailbox.clone())) {
            earlier.post(ServerMessage::TakenOver);
            earlier.close();
        }
        log.fetching = false;
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
        (id, resumed)
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

    pub fn post(&self, message: ServerMessage) {
        let mut log = lock(&self.log);
        match &message {
            ServerMessage::Progress(p) => {
                log.step = p.step;
                log.losses.extend(&p.losses);
                thin(&mut log.losses, MOST_REMEMBERED);
            }
            ServerMessage::Running { running, step } => (log.running, log.step) = (*running, *step),
            ServerMessage::State { .. } | ServerMessage::Failed { .. } => log.fetching = false,
            _ => {}
        }
        if let Some((_, mailbox)) = &log.listener {
            mailbox.post(message);
        }
    }

    /// Whether the state may be asked for: not while an answer is on its way, which may be large.
    pub fn begin_fetch(&self) -> bool {
        !std::mem::replace(&mut lock(&self.log).fetching, true)
    }

    pub fn is_running(&self) -> bool {
        lock(&self.log).running
    }

    pub fn losses(&self) -> Vec<(u64, f32)> {
        lock(&self.log).losses.clone()
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
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
        let Some(ServerMessage::Progress(p)) = mailbox.take() else { panic!("no report") };
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
    fn the_later_listener_has_the_session() {
        let session = Session::new(SessionKey("k".into()), IpAddr::from([127, 0, 0, 1]), "s".into(), 0, Pane::Eager);
        let (one, two) = (Arc::new(Mailbox::default()), Arc::new(Mailbox::default()));
        let (first, _) = session.attach(&one);
        session.post(progress(1));
        let (_, resumed) = session.attach(&two);
        assert_eq!((resumed.step, resumed.losses), (1, vec![(1, 1.0)]));
        assert!(one.is_closed());
        session.detach(first);
        session.post(progress(2));
        assert_eq!(two.len(), 1, "who left before does not take the listener away");
        assert!(!session.is_idle(Duration::ZERO));
    }
}
