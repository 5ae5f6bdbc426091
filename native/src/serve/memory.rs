//! What the workers of all sessions take of the machine's memory together.
//!
//! The limit of one process bounds no sum, and what a session needs is known only when it trains. So the sum is watched: where it is
//! beyond what workers may have, the largest worker of the client who has most ends, and its session is told; and near it no new ones
//! begin. Who has more than half while another client waits for room makes it: else one could keep everybody out by holding what it has.

use super::server::share_of;
use super::session::lock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How often it is looked at: memory grows by some GB a second at most.
const PERIOD: Duration = Duration::from_millis(100);
/// Who waits for room looks so often.
const LOOKS: u32 = 20;
/// Parts in eight of the budget beyond which no session begins.
const FULL: u64 = 7;

/// The workers there are.
pub struct Roster {
    budget: u64,
    workers: Mutex<HashMap<u32, Entry>>,
    taken: AtomicU64,
}

struct Entry {
    client: IpAddr,
    verdict: Verdict,
}

/// Why a worker was ended, where it was.
pub type Verdict = Arc<OnceLock<String>>;

/// A worker on the roster, until this is dropped.
pub struct Listed {
    roster: Arc<Roster>,
    id: u32,
}

impl Roster {
    pub fn new(budget: u64) -> Roster {
        Roster { budget, workers: Mutex::default(), taken: AtomicU64::new(0) }
    }

    pub fn list(self: &Arc<Self>, id: u32, client: IpAddr, verdict: Verdict) -> Listed {
        lock(&self.workers).insert(id, Entry { client: share_of(client), verdict });
        Listed { roster: self.clone(), id }
    }

    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes that all of them had when that was looked at last.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether there is none left for another.
    pub fn is_full(&self) -> bool {
        self.taken() / FULL >= self.budget / 8
    }

    /// Waits a moment until there is room for a session of a client; another's largest worker ends where that one has more than half.
    pub async fn room_for(&self, client: IpAddr) -> bool {
        for _ in 0..LOOKS {
            if !self.is_full() {
                return true;
            }
            self.make_room(client);
            tokio::time::sleep(PERIOD).await;
        }
        !self.is_full()
    }

    fn make_room(&self, client: IpAddr) {
        let workers = lock(&self.workers);
        let sizes = self.sizes(&workers);
        // What was looked at last may be gone by now.
        self.taken.store(sizes.iter().map(|s| s.2).sum(), Ordering::Relaxed);
        if self.is_full()
            && let Some(at) = greedy(&sizes, share_of(client), self.budget)
        {
            let (id, _, size) = sizes[at];
            let size = size >> 20;
            end(
                id,
                &workers,
                format!("its client has more than half of the memory for all sessions, others wait, and this one had {size} MiB"),
            );
        }
    }

    fn sizes(&self, workers: &HashMap<u32, Entry>) -> Vec<(u32, IpAddr, u64)> {
        // Those that were ended take a moment to go: what they have is as good as free, and nobody else ends for it.
        let stay = workers.iter().filter(|(_, e)| e.verdict.get().is_none());
        stay.map(|(id, e)| (*id, e.client, resident(*id))).collect()
    }

    pub async fn watch(self: Arc<Self>) {
        let mut tick = tokio::time::interval(PERIOD);
        loop {
            tick.tick().await;
            self.look();
        }
    }

    fn look(&self) {
        let workers = lock(&self.workers);
        let mut sizes = self.sizes(&workers);
        let mut sum: u64 = sizes.iter().map(|s| s.2).sum();
        self.taken.store(sum, Ordering::Relaxed);
        while sum > self.budget {
            let Some(at) = largest(&sizes) else { return };
            let (id, _, size) = sizes.swap_remove(at);
            sum -= size;
            let why = format!("the memory for all sessions together, {} MiB, is taken, and this one had {}", self.budget >> 20, size >> 20);
            end(id, &workers, why);
        }
    }
}

/// Ends a worker, whose client is told why.
fn end(id: u32, workers: &HashMap<u32, Entry>, why: String) {
    tracing::error!(why, "a worker ends");
    if let Some(entry) = workers.get(&id) {
        let _ = entry.verdict.set(why);
    }
    // It is on the roster, so nobody waited for it yet and its number is its own.
    #[cfg(unix)]
    if let Ok(id) = i32::try_from(id) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGKILL);
    }
}

/// The largest worker of another client who has more than half of the budget.
fn greedy(sizes: &[(u32, IpAddr, u64)], client: IpAddr, budget: u64) -> Option<usize> {
    let at = largest(sizes)?;
    let owner = sizes[at].1;
    let held: u64 = sizes.iter().filter(|s| s.1 == owner).map(|s| s.2).sum();
    (owner != client && held > budget / 2).then_some(at)
}

/// The largest of the client who has most.
fn largest(sizes: &[(u32, IpAddr, u64)]) -> Option<usize> {
    let mut sums = HashMap::<IpAddr, u64>::new();
    sizes.iter().for_each(|(_, client, size)| *sums.entry(*client).or_default() += size);
    let most = sizes.iter().map(|s| (sums[&s.1], s.1)).max()?.1;
    let own = sizes.iter().enumerate().filter(|(_, s)| s.1 == most);
    own.max_by_key(|(_, s)| s.2).map(|(at, _)| at)
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.roster.workers).remove(&self.id);
    }
}

/// Bytes of memory that a process and those that it started keep for themselves, swapped or not; 0 where it is gone or the system does
/// not tell.
fn resident(id: u32) -> u64 {
    let (mut sum, mut open) = (0, vec![id]);
    while let Some(id) = open.pop() {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else { continue };
        let kib = |line: &str| line.trim().strip_suffix("kB").and_then(|n| n.trim().parse::<u64>().ok());
        let own = status.lines().filter_map(|l| l.split_once(':')).filter(|(name, _)| ["RssAnon", "RssShmem", "VmSwap"].contains(name));
        sum += own.filter_map(|(_, value)| kib(value)).sum::<u64>() << 10;
        for thread in std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|c| c.parse::<u32>().ok()));
        }
    }
    sum
}

/// Bytes of memory that this machine, or the container that this runs in, has.
pub fn of_machine() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok();
    let total = told.as_ref().and_then(|t| t.lines().find_map(|l| l.strip_prefix("MemTotal:")));
    let total = total.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024));
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.iter().filter_map(|p| std::fs::read_to_string(p).ok()?.trim().parse::<u64>().ok());
    limits.chain(total).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_who_has_most_goes() {
        let client = |n| IpAddr::from([192, 0, 2, n]);
        let sizes = [(1, client(1), 50), (2, client(2), 30), (3, client(2), 40), (4, client(3), 60)];
        assert_eq!(largest(&sizes), Some(2), "70 of one client are more than 60 of another");
        assert_eq!(largest(&[]), None);
        // Who has more than half makes room for another client, and for nobody else.
        let sizes = [(1, client(1), 50), (2, client(1), 30), (3, client(2), 20)];
        assert_eq!(greedy(&sizes, client(3), 100), Some(0));
        assert_eq!(greedy(&sizes, client(2), 100), Some(0));
        assert_eq!(greedy(&sizes, client(1), 100), None, "not for its own");
        assert_eq!(greedy(&sizes, client(3), 200), None, "it has its part");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_process_has_is_told_with_what_it_started() {
        let before = resident(std::process::id());
        let held = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = resident(std::process::id());
        assert!(after >= before + (60 << 20), "{before}, then {after}");
        assert!(of_machine() > Some(after));
        drop(held);
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        assert!(resident(child.id()) > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
