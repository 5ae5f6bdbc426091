//! Threads that take tasks from one queue.

use crate::{Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// The threads end by themselves when the pool is dropped, after the task at hand: nobody waits for one that hangs.
pub(crate) struct Pool<T> {
    tasks: Mutex<Sender<T>>,
}

impl<T: Send + 'static> Pool<T> {
    /// `worker` is called on each thread, with the thread's number, and gives what works on tasks there.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start<W: FnMut(T)>(threads: usize, worker: impl Fn(usize) -> W + Send + Sync + 'static) -> Result<Pool<T>> {
        let (tasks, queue) = channel();
        let (queue, worker) = (Arc::new(Mutex::new(queue)), Arc::new(worker));
        for id in 0..threads {
            let (queue, worker) = (queue.clone(), worker.clone());
            let work = move || {
                let mut work = worker(id);
                while let Some(task) = next(&queue) {
                    work(task);
                }
            };
            let started = thread::Builder::new().name(format!("data {id}")).spawn(work);
            started.map_err(|e| Error::Worker { worker: id, problem: format!("the thread cannot be started: {e}") })?;
        }
        Ok(Pool { tasks: Mutex::new(tasks) })
    }

    /// Errors when no thread is left.
    pub fn hand(&self, task: T) -> Result<()> {
        let sent = self.tasks.lock().unwrap_or_else(|e| e.into_inner()).send(task);
        sent.map_err(|_| Error::Worker { worker: 0, problem: "all workers have ended".into() })
    }
}

/// One thread waits for a task, the others for it: the lock is given up before the task is worked on.
fn next<T>(queue: &Mutex<Receiver<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(|e| e.into_inner()).recv().ok()
}
