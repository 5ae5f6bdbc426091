//! How a batch is made of indices, whatever its samples are, on whichever thread.

use super::CollateFn;
use crate::{Dataset, Draw, Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Samples that were made and are not handed out yet.
#[derive(Debug, Default)]
pub(super) struct Meter {
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Meter {
    pub fn add(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    pub fn remove(&self, samples: usize) {
        self.now.fetch_sub(samples, Ordering::Relaxed);
    }

    pub fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}

/// Which batch to make.
pub(super) struct Order {
    pub epoch: u64,
    pub indices: Vec<usize>,
}

/// A batch with the number of its samples.
pub(super) struct Made<B> {
    pub batch: B,
    pub samples: usize,
}

pub(super) trait Recipe<B>: Send + Sync {
    /// How many samples there are.
    fn len(&self) -> usize;

    /// Makes a batch; `None` when nobody wants it any more.
    fn make(&self, order: &Order, meter: &Meter, cancelled: &AtomicBool) -> Option<Result<Made<B>>>;
}

pub(super) struct Indexed<T, B> {
    pub dataset: Arc<dyn Dataset<Item = T>>,
    pub collate: CollateFn<T, B>,
    pub seed: u64,
}

impl<T: Send + 'static, B> Recipe<B> for Indexed<T, B> {
    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn make(&self, order: &Order, meter: &Meter, cancelled: &AtomicBool) -> Option<Result<Made<B>>> {
        let (len, mut samples) = (self.dataset.len(), Vec::with_capacity(order.indices.len()));
        for &index in &order.indices {
            if cancelled.load(Ordering::Relaxed) {
                meter.remove(samples.len());
                return None;
            }
            let item = || format!("item {index}");
            let get = || match index < len {
                true => self.dataset.get(Draw { index, epoch: order.epoch, seed: self.seed }),
                false => Err(Error::option("sampler", format!("gave the index {index} of {len} samples"), "indices are counted from 0")),
            };
            match caught(get, item) {
                Ok(sample) => samples.push(sample),
                Err(e) => {
                    meter.remove(samples.len());
                    return Some(Err(e));
                }
            }
            meter.add();
        }
        let count = samples.len();
        let made = caught(|| (self.collate)(samples), || format!("the batch of the items {}", listed(&order.indices)));
        if made.is_err() {
            meter.remove(count);
        }
        Some(made.map(|batch| Made { batch, samples: count }))
    }
}

/// What a user's function gives; its panic and its error name the item.
pub(crate) fn caught<T>(function: impl FnOnce() -> Result<T>, item: impl Fn() -> String) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(e.of_item(item())),
        Err(panic) => Err(Error::Panic { item: item(), message: message(panic.as_ref()) }),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("(no message)").to_string()
}

/// The first few of a list of indices.
pub(super) fn listed(indices: &[usize]) -> String {
    let shown: Vec<String> = indices.iter().take(8).map(usize::to_string).collect();
    format!("{}{}", shown.join(", "), if indices.len() > 8 { ".." } else { "" })
}
