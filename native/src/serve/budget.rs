//! The memory that messages of all clients may take together.
//!
//! What is on its way, in or out, lies in memory, and clients decide how long. So everything large takes its share of one budget before it
//! is there and gives it back when it is gone; where nothing is left, it waits a while for some, or is refused and says so. A client has
//! half of it at most, and whoever holds some while others wait has to go on ([`Pace`]): nobody takes it from others by standing still.

use super::session::{Ticket, lock};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Answers up to this size are not counted: a session has one on its way at most, and they are not to wait for large ones.
const LIGHT: u64 = 256 << 10;
/// Who waits for a share waits for so long.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// While others wait, whoever holds a share moves so many bytes, and this part of its message, in that time.
const LEAST: u64 = 64 << 10;
const PART: u64 = 64;
const STANDING: Duration = Duration::from_secs(2);

/// A level of the budget: all of it, or one client's part.
struct Pool {
    size: u64,
    free: AtomicU64,
    /// How many wait for some of it.
    wanted: AtomicUsize,
    returned: Notify,
}

impl Pool {
    fn new(size: u64) -> Arc<Pool> {
        Arc::new(Pool { size, free: AtomicU64::new(size), wanted: AtomicUsize::new(0), returned: Notify::new() })
    }
}

struct Taken {
    pool: Arc<Pool>,
    bytes: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.pool.free.fetch_add(self.bytes, Ordering::AcqRel);
        self.pool.returned.notify_waiters();
    }
}

/// A part of the budget, given back when dropped.
pub struct Share {
    bytes: u64,
    _of: Vec<Taken>,
    /// Goes with it.
    _ticket: Option<Ticket>,
}

impl Share {
    pub fn with(self, ticket: Ticket) -> Share {
        Share { _ticket: Some(ticket), ..self }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[derive(Clone)]
pub struct Budget {
    /// The innermost first: each share is one of all of them.
    pools: Arc<[Arc<Pool>]>,
    /// Whoever takes takes of all pools or of none; giving back needs no turn.
    turn: Arc<Mutex<()>>,
}

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget { pools: Arc::new([Pool::new(bytes.max(1))]), turn: Arc::default() }
    }

    /// What one client may have of it: half, so that there is something for others.
    pub fn part(&self) -> Budget {
        let half = Pool::new((self.pools[0].size / 2).max(1));
        Budget { pools: std::iter::once(half).chain(self.pools.iter().cloned()).collect(), turn: self.turn.clone() }
    }

    /// A share, if there is one now; which pool has none, if there is not.
    fn attempt(&self, bytes: u64) -> Result<Share, &Arc<Pool>> {
        // What is larger than all of it gets all of it: there is one such at a time.
        let bytes = bytes.min(self.pools[0].size);
        let _turn = lock(&self.turn);
        if let Some(pool) = self.pools.iter().find(|p| p.free.load(Ordering::Acquire) < bytes) {
            return Err(pool);
        }
        let take = |pool: &Arc<Pool>| {
            pool.free.fetch_sub(bytes, Ordering::AcqRel);
            Taken { pool: pool.clone(), bytes }
        };
        Ok(Share { bytes, _of: self.pools.iter().map(take).collect(), _ticket: None })
    }

    /// A share, if there is one now.
    pub fn take(&self, bytes: u64) -> Option<Share> {
        self.attempt(bytes).ok()
    }

    /// A share, when there is one soon. The first that fits gets it: what is small does not wait behind what is large.
    pub async fn wait(&self, bytes: u64) -> Option<Share> {
        tokio::time::timeout(PATIENCE, self.acquire(bytes)).await.ok()
    }

    /// A share for an answer, when there is one soon.
    pub async fn wait_for_answer(&self, bytes: u64) -> Option<Share> {
        self.wait(if bytes <= LIGHT { 0 } else { bytes }).await
    }

    async fn acquire(&self, bytes: u64) -> Share {
        loop {
            let mut returned: Vec<_> = self.pools.iter().map(|p| Box::pin(p.returned.notified())).collect();
            // What is returned from here on is heard of.
            returned.iter_mut().for_each(|n| _ = n.as_mut().enable());
            let _wants = match self.attempt(bytes) {
                Ok(share) => return share,
                Err(pool) => Wants::new(pool),
            };
            futures_util::future::select_all(returned).await;
        }
    }

    /// Whether others wait for what one who has a share of it holds.
    fn is_wanted(&self) -> bool {
        self.pools.iter().any(|p| p.wanted.load(Ordering::Relaxed) > 0)
    }

    /// Bytes that are taken.
    pub fn taken(&self) -> u64 {
        self.pools[0].size - self.pools[0].free.load(Ordering::Acquire)
    }
}

/// Waits for some of a pool.
struct Wants(Arc<Pool>);

impl Wants {
    fn new(pool: &Arc<Pool>) -> Wants {
        pool.wanted.fetch_add(1, Ordering::Relaxed);
        Wants(pool.clone())
    }
}

impl Drop for Wants {
    fn drop(&mut self) {
        self.0.wanted.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How fast a message goes on while others wait for its memory.
pub struct Pace {
    budget: Budget,
    since: Instant,
    /// Bytes that had moved by then.
    before: u64,
}

/// How often to look.
pub const LOOK: Duration = Duration::from_millis(250);

impl Pace {
    pub fn new(budget: Budget) -> Pace {
        Pace { budget, since: Instant::now(), before: 0 }
    }

    /// Whether a message that holds so many bytes, and has moved so many in all by now, stands still while others wait.
    pub fn stands(&mut self, held: u64, moved: u64, now: Instant) -> bool {
        let least = LEAST.max(held / PART);
        let goes_on = held == 0 || moved >= self.before.saturating_add(least) || !self.budget.is_wanted();
        if goes_on {
            (self.since, self.before) = (now, moved);
        }
        now.duration_since(self.since) >= STANDING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn shares_are_given_back() {
        let budget = Budget::new(1 << 20);
        let half = budget.take(1 << 19).unwrap();
        assert!(budget.take((1 << 19) + 1).is_none());
        let rest = budget.take(1 << 19).unwrap();
        assert_eq!(budget.taken(), 1 << 20);
        drop((half, rest));
        assert_eq!(budget.taken(), 0);
        // One client has half at most.
        let part = budget.part();
        let half = part.take(1 << 19).unwrap();
        assert!(part.take(1).is_none() && budget.taken() == 1 << 19);
        let rest = budget.take(1 << 19).unwrap();
        drop(half);
        assert!(part.take(1 << 19).is_some(), "what is given back is there again");
        assert_eq!((budget.taken(), part.taken()), (1 << 19, 0));
        // Of the part nothing is gone where the whole has nothing.
        let other = budget.take(1 << 19).unwrap();
        assert!(part.take(1).is_none());
        assert_eq!(part.taken(), 0);
        drop((rest, other));
        // Who waits takes of both, too.
        let waited = part.wait(1 << 19).now_or_never().flatten().unwrap();
        assert_eq!(budget.taken(), 1 << 19);
        assert!(part.wait(1).now_or_never().is_none(), "the other half is for others");
        drop(waited);
        // More than there is: alone.
        let all = budget.take(1 << 40).unwrap();
        assert!(budget.take(1).is_none());
        drop(all);
        assert!(budget.take(1).is_some());
    }

    /// A small one passes a large one that waits, and a large one gets its share when it is there, by whichever pool it waited for.
    #[tokio::test]
    async fn the_first_that_fits() {
        let budget = Budget::new(1 << 20);
        let (part, other) = (budget.part(), budget.part());
        let some = part.take(1 << 18).unwrap();
        let large = tokio::spawn({
            let part = part.clone();
            async move { part.wait(1 << 19).await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(part.is_wanted() && !other.is_wanted() && !budget.is_wanted());
        drop(part.wait(1 << 17).now_or_never().flatten().expect("there is room for it"));
        let others = (budget.take(1 << 19).unwrap(), budget.take(1 << 18).unwrap());
        drop(some);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(budget.is_wanted() && !large.is_finished(), "now the whole has too little");
        drop(others);
        assert_eq!(large.await.unwrap().expect("it waited").bytes(), 1 << 19);
        assert!(!part.is_wanted() && !budget.is_wanted());
        assert_eq!((part.taken(), budget.taken()), (0, 0));
    }

    #[tokio::test]
    async fn who_holds_what_others_want_goes_on() {
        let budget = Budget::new(64 << 20);
        let (mut pace, start) = (Pace::new(budget.clone()), Instant::now());
        let mut stands = |held: u64, moved: u64, ms: u64| pace.stands(held, moved, start + Duration::from_millis(ms));
        let held = budget.take(64 << 20).unwrap();
        assert!(!stands(held.bytes(), 0, 60_000), "nobody wants it");
        let waits = tokio::spawn({
            let budget = budget.clone();
            async move { budget.wait(1).await.is_some() }
        });
        while !budget.is_wanted() {
            tokio::task::yield_now().await;
        }
        for second in 1..5 {
            assert!(!stands(held.bytes(), second << 20, 60_000 + second * 1000), "a megabyte a second is enough of these");
        }
        assert!(!stands(held.bytes(), 4 << 20, 65_900));
        assert!(stands(held.bytes(), (4 << 20) + LEAST, 66_000));
        assert!(!stands(0, 4 << 20, 67_000), "it holds nothing");
        drop(held);
        assert!(waits.await.unwrap());
    }
}
