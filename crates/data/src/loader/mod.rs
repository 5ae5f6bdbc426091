//! Batches of a data set, made ahead by worker threads (PyTorch's `DataLoader`).
//!
//! An epoch is a list of batches of indices that a [`BatchSampler`] says. Workers take them in order from one queue and make the batches;
//! [`Batches`] hands them out in order again. So which thread made what shows nowhere, and a position is the epoch and how many batches
//! were taken. Of an [`IterableDataset`] every worker reads a stream of its own, and batches come from the workers in turn. At most
//! `prefetch_factor` batches for each worker are underway or ready: nothing else holds samples.

mod batches;
mod pool;
mod recipe;
mod state;
mod stream;

pub use batches::Batches;
pub(crate) use recipe::caught;
pub use state::LoaderState;
pub use stream::StreamState;

use crate::{
    BatchSampler, Batched, Collate, Dataset, DistributedSampler, Error, IterableDataset, RandomSampler, Result, Sampler, SequentialSampler,
};
use pool::Pool;
use recipe::Recipe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Which worker a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    pub id: usize,
    /// 0 where there are no workers, and the loader's own thread makes the batches.
    pub num_workers: usize,
    pub seed: u64,
    /// Which process of a distributed run this is, and of how many.
    pub rank: usize,
    pub num_replicas: usize,
}

impl WorkerInfo {
    /// Which share of a stream is this worker's, and of how many.
    pub fn shard(&self) -> (usize, usize) {
        let workers = self.num_workers.max(1);
        (self.rank * workers + self.id, self.num_replicas * workers)
    }
}

pub(crate) type WorkerInit = Arc<dyn Fn(&WorkerInfo) -> Result<()> + Send + Sync>;
pub(crate) type CollateFn<T, B> = Arc<dyn Fn(Vec<T>) -> Result<B> + Send + Sync>;

/// What a loader was told, as PyTorch's `DataLoader` is.
#[derive(Clone)]
pub(crate) struct Options {
    batch_size: Option<usize>,
    shuffle: bool,
    seed: u64,
    num_workers: usize,
    prefetch_factor: Option<usize>,
    persistent_workers: bool,
    drop_last: bool,
    timeout: Option<Duration>,
    worker_init: Option<WorkerInit>,
    rank: (usize, usize),
}

/// A loader to be. Names and meanings of the options are PyTorch's.
pub struct Builder<T, B> {
    data: Data<T>,
    collate: CollateFn<T, B>,
    options: Options,
    sampler: Option<Box<dyn Sampler>>,
    batch_sampler: Option<Box<dyn BatchSampler>>,
}

enum Data<T> {
    Indexed(Arc<dyn Dataset<Item = T>>),
    Stream(Arc<dyn IterableDataset<Item = T>>),
}

/// See the [module](self). Made by [`DataLoader::new`], or of a stream by [`DataLoader::iterable`].
pub struct DataLoader<B> {
    kind: Kind<B>,
    options: Options,
    /// The epoch that the next iteration is.
    epoch: AtomicU64,
}

enum Kind<B> {
    Indexed {
        recipe: Arc<dyn Recipe<B>>,
        order: Arc<dyn BatchSampler>,
        /// Workers that are kept from epoch to epoch.
        pool: Mutex<Option<Arc<Pool<B>>>>,
    },
    Stream(Arc<dyn stream::Recipe<B>>),
}

impl<B: Send + 'static> DataLoader<B> {
    /// A loader of a data set: one sample a batch, in order, on the caller's thread, until the options say otherwise.
    // Options are given before there is a loader.
    #[allow(clippy::new_ret_no_self)]
    pub fn new<D>(dataset: D) -> Builder<D::Item, B>
    where
        D: Dataset,
        D::Item: Collate<Batch = B>,
    {
        Self::with_collate(dataset, D::Item::collate)
    }

    /// The same for samples that [`Collate`] does not know.
    pub fn with_collate<D: Dataset>(
        dataset: D,
        collate: impl Fn(Vec<D::Item>) -> Result<B> + Send + Sync + 'static,
    ) -> Builder<D::Item, B> {
        Builder::of(Data::Indexed(Arc::new(dataset)), Arc::new(collate))
    }

    /// A loader of a stream. The options that choose samples (`shuffle`, `sampler`, `batch_sampler`) are not for streams: shuffle the
    /// stream itself ([`Pipe::shuffle`](crate::Pipe::shuffle)).
    pub fn iterable<D>(dataset: D) -> Builder<D::Item, B>
    where
        D: IterableDataset,
        D::Item: Collate<Batch = B>,
    {
        Self::iterable_with_collate(dataset, D::Item::collate)
    }

    /// The same for samples that [`Collate`] does not know.
    pub fn iterable_with_collate<D: IterableDataset>(
        dataset: D,
        collate: impl Fn(Vec<D::Item>) -> Result<B> + Send + Sync + 'static,
    ) -> Builder<D::Item, B> {
        Builder::of(Data::Stream(Arc::new(dataset)), Arc::new(collate))
    }
}

impl<T: Send + 'static, B: Send + 'static> Builder<T, B> {
    fn of(data: Data<T>, collate: CollateFn<T, B>) -> Self {
        let options = Options {
            batch_size: None,
            shuffle: false,
            seed: 0,
            num_workers: 0,
            prefetch_factor: None,
            persistent_workers: false,
            drop_last: false,
            timeout: None,
            worker_init: None,
            rank: (0, 1),
        };
        Builder { data, collate, options, sampler: None, batch_sampler: None }
    }

    /// Samples in a batch.
    pub fn batch_size(mut self, samples: usize) -> Self {
        self.options.batch_size = Some(samples);
        self
    }

    /// A random order, another one each epoch, which `seed` alone says.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.options.shuffle = shuffle;
        self
    }

    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// In place of `shuffle`: which samples an epoch takes.
    pub fn sampler(mut self, sampler: impl Sampler + 'static) -> Self {
        self.sampler = Some(Box::new(sampler));
        self
    }

    /// In place of `batch_size`, `shuffle`, `sampler` and `drop_last`: which batches an epoch takes.
    pub fn batch_sampler(mut self, sampler: impl BatchSampler + 'static) -> Self {
        self.batch_sampler = Some(Box::new(sampler));
        self
    }

    /// Threads that make batches; with 0 the caller's thread does, when it asks for one.
    pub fn num_workers(mut self, threads: usize) -> Self {
        self.options.num_workers = threads;
        self
    }

    /// How many batches are made ahead for each worker; 2 unless it is said.
    pub fn prefetch_factor(mut self, batches: usize) -> Self {
        self.options.prefetch_factor = Some(batches);
        self
    }

    /// Keeps the threads from epoch to epoch.
    pub fn persistent_workers(mut self, keep: bool) -> Self {
        self.options.persistent_workers = keep;
        self
    }

    /// Drops a last batch that would be smaller.
    pub fn drop_last(mut self, drop: bool) -> Self {
        self.options.drop_last = drop;
        self
    }

    /// How long to wait for a batch of the workers; without end unless it is said.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Called on each worker's thread before its first batch.
    pub fn worker_init(mut self, init: impl Fn(&WorkerInfo) -> Result<()> + Send + Sync + 'static) -> Self {
        self.options.worker_init = Some(Arc::new(init));
        self
    }

    /// The share of one of several processes: batches of `batch_size` from a [`DistributedSampler`].
    pub fn rank(mut self, rank: usize, num_replicas: usize) -> Self {
        self.options.rank = (rank, num_replicas);
        self
    }

    /// How samples become a batch, in place of [`Collate`]. It runs on the worker's thread.
    pub fn collate<C: Send + 'static>(self, collate: impl Fn(Vec<T>) -> Result<C> + Send + Sync + 'static) -> Builder<T, C> {
        let Builder { data, options, sampler, batch_sampler, .. } = self;
        Builder { data, collate: Arc::new(collate), options, sampler, batch_sampler }
    }

    /// # Errors
    ///
    /// When options do not go together.
    pub fn build(self) -> Result<DataLoader<B>> {
        let Builder { data, collate, options, sampler, batch_sampler } = self;
        options.check()?;
        let kind = match data {
            Data::Indexed(dataset) => {
                let order = order(&options, dataset.len(), sampler, batch_sampler)?;
                let recipe = Arc::new(recipe::Indexed { dataset, collate, seed: options.seed });
                Kind::Indexed { recipe, order, pool: Mutex::new(None) }
            }
            Data::Stream(dataset) => {
                let given = [
                    ("shuffle", options.shuffle),
                    ("sampler", sampler.is_some()),
                    ("batch_sampler", batch_sampler.is_some()),
                    ("persistent_workers", options.persistent_workers),
                ];
                if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
                    let remedy = "leave it out; a stream is shuffled by its own adaptor, and opened anew each epoch";
                    return Err(Error::option(*option, "is not for streams", remedy));
                }
                let (batch_size, drop_last) = (options.batch_size.unwrap_or(1), options.drop_last);
                Kind::Stream(Arc::new(stream::Streamed { dataset, collate, batch_size, drop_last }))
            }
        };
        Ok(DataLoader { kind, options, epoch: AtomicU64::new(0) })
    }
}

impl Options {
    fn check(&self) -> Result<()> {
        let wrong = |option: &str, problem: &str, remedy: &str| Err(Error::option(option, problem, remedy));
        if self.batch_size == Some(0) {
            return wrong("batch_size", "is 0", "a batch has at least one sample");
        }
        if self.prefetch_factor == Some(0) {
            return wrong("prefetch_factor", "is 0", "give at least 1");
        }
        if self.num_workers == 0 {
            if self.prefetch_factor.is_some() {
                return wrong("prefetch_factor", "there are no workers to make batches ahead", "give num_workers too");
            }
            if self.persistent_workers {
                return wrong("persistent_workers", "there are no workers to keep", "give num_workers too");
            }
            if self.timeout.is_some() {
                return wrong("timeout", "there are no workers to wait for", "give num_workers too");
            }
        } else if cfg!(target_arch = "wasm32") {
            return wrong("num_workers", "there are no threads here", "leave it at 0");
        }
        if self.timeout == Some(Duration::ZERO) {
            return wrong("timeout", "is 0", "give the longest time that a batch may take, or no timeout");
        }
        Ok(())
    }

    /// How many batches may be underway or ready.
    fn ahead(&self) -> u64 {
        (self.num_workers * self.prefetch_factor.unwrap_or(2)) as u64
    }

    fn worker(&self, id: usize) -> WorkerInfo {
        let (rank, num_replicas) = self.rank;
        WorkerInfo { id, num_workers: self.num_workers, seed: self.seed, rank, num_replicas }
    }
}

/// The batches that the options say, of `len` samples.
fn order(
    o: &Options,
    len: usize,
    sampler: Option<Box<dyn Sampler>>,
    batch_sampler: Option<Box<dyn BatchSampler>>,
) -> Result<Arc<dyn BatchSampler>> {
    if let Some(batches) = batch_sampler {
        if o.batch_size.is_some() || o.shuffle || sampler.is_some() || o.drop_last || o.rank != (0, 1) {
            let problem = "is mutually exclusive with batch_size, shuffle, sampler, drop_last and rank";
            return Err(Error::option("batch_sampler", problem, "give one or the other"));
        }
        return Ok(Arc::from(batches));
    }
    let sampler: Box<dyn Sampler> = match sampler {
        Some(_) if o.shuffle => {
            return Err(Error::option("sampler", "is mutually exclusive with shuffle", "give one or the other"));
        }
        Some(sampler) => sampler,
        None if o.shuffle => Box::new(RandomSampler::new(len, o.seed)),
        None => Box::new(SequentialSampler { len }),
    };
    let sampler: Box<dyn Sampler> = match o.rank {
        (0, 1) => sampler,
        (rank, replicas) => Box::new(DistributedSampler::new(sampler, rank, replicas, o.drop_last)?),
    };
    Ok(Arc::new(Batched { sampler, batch_size: o.batch_size.unwrap_or(1), drop_last: o.drop_last }))
}

impl<B: Send + 'static> DataLoader<B> {
    /// How many batches an epoch has; `None` of a stream, which nobody knows before its end.
    pub fn batches_per_epoch(&self) -> Option<usize> {
        match &self.kind {
            Kind::Indexed { order, .. } => Some(order.len()),
            Kind::Stream(_) => None,
        }
    }

    /// The batches of the next epoch: the first call is epoch 0, the second epoch 1.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn iter(&self) -> Result<Batches<B>> {
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed);
        self.batches(&LoaderState { epoch, order: self.describe(), ..LoaderState::default() })
    }

    /// The next call of [`DataLoader::iter`] gives this epoch.
    pub fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// The rest of an epoch, from a position that [`Batches::state`] gave: bit for bit what would have come. The next iteration is the
    /// epoch after.
    ///
    /// # Errors
    ///
    /// When the position is one in another order of samples, or no thread can be started.
    pub fn resume(&self, state: &LoaderState) -> Result<Batches<B>> {
        state.check(&self.describe())?;
        self.set_epoch(state.epoch.saturating_add(1));
        self.batches(state)
    }

    /// The position after so many batches of all epochs, counted from the first batch of epoch 0; `None` of a stream.
    pub fn state_after(&self, batches: u64) -> Option<LoaderState> {
        let n = self.batches_per_epoch()?.max(1) as u64;
        Some(LoaderState { epoch: batches / n, batches: batches % n, order: self.describe(), ..LoaderState::default() })
    }

    /// What an order of samples depends on.
    fn describe(&self) -> String {
        let o = &self.options;
        match &self.kind {
            Kind::Indexed { recipe, order, .. } => state::describe(&format!("{} samples, seed {}, {order:?}", recipe.len(), o.seed)),
            Kind::Stream(_) => {
                let (size, (rank, ranks)) = (o.batch_size.unwrap_or(1), o.rank);
                let drop = if o.drop_last { ", the last dropped" } else { "" };
                format!("streams of {} workers, rank {rank} of {ranks}, seed {}, batches of {size}{drop}", o.num_workers, o.seed)
            }
        }
    }

    fn batches(&self, at: &LoaderState) -> Result<Batches<B>> {
        match &self.kind {
            Kind::Stream(recipe) => Batches::streamed(recipe, &self.options, at),
            Kind::Indexed { recipe, order, pool } => {
                let pool = match self.options.num_workers {
                    0 => None,
                    _ => Some(self.workers(recipe, pool)?),
                };
                Ok(Batches::indexed(recipe.clone(), order.batches(at.epoch), pool, &self.options, at))
            }
        }
    }

    fn workers(&self, recipe: &Arc<dyn Recipe<B>>, kept: &Mutex<Option<Arc<Pool<B>>>>) -> Result<Arc<Pool<B>>> {
        let start = || pool::start(recipe, &self.options).map(Arc::new);
        if !self.options.persistent_workers {
            return start();
        }
        let mut kept = kept.lock().unwrap_or_else(|e| e.into_inner());
        match &*kept {
            Some(pool) => Ok(pool.clone()),
            None => Ok(kept.insert(start()?).clone()),
        }
    }
}
