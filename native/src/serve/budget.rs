//! The memory that messages of all clients may take together.
//!
//! What is on its way, in or out, lies in memory, and clients decide how long. So everything large takes its share of one budget before it
//! is there and gives it back when it is gone; where nothing is left, the request is refused, or waits, and says so.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Shares are counted in KiB.
const UNIT: u64 = 1 << 10;
/// Who waits for a share waits for so long.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct Budget {
    free: Arc<Semaphore>,
    units: u64,
    /// Of which this is one client's part.
    whole: Option<Arc<Budget>>,
}

/// A part of the budget, given back when dropped.
pub struct Share {
    _permit: OwnedSemaphorePermit,
    _of_whole: Option<Box<Share>>,
}

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        // The last bound is the semaphore's own.
        let units = (bytes / UNIT).clamp(1, u64::from(u32::MAX)).min(Semaphore::MAX_PERMITS as u64);
        Budget { free: Arc::new(Semaphore::new(units as usize)), units, whole: None }
    }

    /// What one client may have of it: half, so that there is something for others.
    pub fn part(&self) -> Budget {
        Budget { whole: Some(Arc::new(self.clone())), ..Budget::new(self.units * UNIT / 2) }
    }

    /// What is larger than all of it gets all of it: there is one such at a time.
    fn units(&self, bytes: u64) -> u32 {
        bytes.div_ceil(UNIT).min(self.units) as u32
    }

    /// A share, if there is one now.
    pub fn take(&self, bytes: u64) -> Option<Share> {
        let units = self.units(bytes);
        let permit = self.free.clone().try_acquire_many_owned(units).ok()?;
        let of_whole = match &self.whole {
            Some(whole) => Some(Box::new(whole.take(u64::from(units) * UNIT)?)),
            None => None,
        };
        Some(Share { _permit: permit, _of_whole: of_whole })
    }

    /// A share, when there is one soon.
    pub async fn wait(&self, bytes: u64) -> Option<Share> {
        tokio::time::timeout(PATIENCE, self.acquire(bytes)).await.ok()?
    }

    async fn acquire(&self, bytes: u64) -> Option<Share> {
        let units = self.units(bytes);
        let permit = self.free.clone().acquire_many_owned(units).await.ok()?;
        let of_whole = match &self.whole {
            Some(whole) => Some(Box::new(Box::pin(whole.acquire(u64::from(units) * UNIT)).await?)),
            None => None,
        };
        Some(Share { _permit: permit, _of_whole: of_whole })
    }

    /// Bytes that are taken.
    pub fn taken(&self) -> u64 {
        self.units.saturating_sub(self.free.available_permits() as u64) * UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(budget.taken(), 1 << 19);
        drop(rest);
        // Who waits takes of both, too.
        let waited = futures_util::FutureExt::now_or_never(part.wait(1 << 19)).flatten().unwrap();
        assert_eq!(budget.taken(), 1 << 19);
        assert!(futures_util::FutureExt::now_or_never(part.wait(1)).is_none(), "the other half is for others");
        drop(waited);
        // More than there is: alone.
        let all = budget.take(1 << 40).unwrap();
        assert!(budget.take(1).is_none());
        drop(all);
        assert!(budget.take(1).is_some());
    }
}
