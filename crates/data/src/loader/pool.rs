//! Worker threads that make batches.

use super::Options;
use super::recipe::{Made, Meter, Order, Recipe, caught};
use crate::Result;
use crate::threads;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

/// A batch to make, and where to send it.
pub(super) struct Task<B> {
    /// Its number in the epoch.
    pub number: u64,
    pub order: Order,
    pub meter: Arc<Meter>,
    pub cancelled: Arc<AtomicBool>,
    pub reply: Sender<(u64, Result<Made<B>>)>,
}

pub(super) type Pool<B> = threads::Pool<Task<B>>;

/// # Errors
///
/// When the system gives no thread.
pub(super) fn start<B: Send + 'static>(recipe: &Arc<dyn Recipe<B>>, options: &Options) -> Result<Pool<B>> {
    let (recipe, threads, options) = (recipe.clone(), options.num_workers, options.clone());
    Pool::start(threads, move |id| {
        let (info, recipe) = (options.worker(id), recipe.clone());
        let init = || options.worker_init.as_ref().map_or(Ok(()), |init| init(&info));
        let ready = caught(init, || format!("worker_init of worker {id}"));
        move |task: Task<B>| {
            let made = match &ready {
                Ok(()) => recipe.make(&task.order, &task.meter, &task.cancelled),
                Err(e) => Some(Err(e.clone())),
            };
            // Nobody hears it where the iteration was given up.
            if let Some(made) = made {
                let _ = task.reply.send((task.number, made));
            }
        }
    })
}
