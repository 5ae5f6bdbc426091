//! Reading back: a staging buffer is mapped while work goes on, and awaited when its words are wanted.

use super::shared::Shared;
use crate::memory::lock;
use aludel_ir::{Error, Result};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// Whether a staging buffer has been mapped.
#[derive(Default)]
struct Arrival {
    state: Mutex<(Option<Result<(), String>>, Option<Waker>)>,
}

impl Arrival {
    fn arrive(&self, result: Result<(), String>) {
        let mut state = lock(&self.state);
        state.0 = Some(result);
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }

    fn poll(&self, waker: &Waker) -> Option<Result<(), String>> {
        let mut state = lock(&self.state);
        if state.0.is_none() {
            state.1 = Some(waker.clone());
        }
        state.0.take()
    }
}

/// A reading in progress.
pub struct Read {
    shared: Arc<Shared>,
    buffer: wgpu::Buffer,
    words: u64,
    arrival: Arc<Arrival>,
}

impl Read {
    /// Asks for the buffer's contents, which commands already submitted put there.
    pub fn start(shared: Arc<Shared>, buffer: wgpu::Buffer, words: u64) -> Read {
        let arrival = Arc::new(Arrival::default());
        let arriving = arrival.clone();
        buffer.map_async(wgpu::MapMode::Read, 0..words * 4, move |result| arriving.arrive(result.map_err(|e| e.to_string())));
        Read { shared, buffer, words, arrival }
    }

    /// The words, once they have arrived; the buffer goes back to the ring.
    pub async fn finish(self) -> Result<Vec<u32>> {
        let arrived = std::future::poll_fn(|context| {
            loop {
                if let Some(result) = self.arrival.poll(context.waker()) {
                    return std::task::Poll::Ready(result);
                }
                if let Some(reason) = self.shared.faults.lost() {
                    return std::task::Poll::Ready(Err(reason));
                }
                if !wait(&self.shared, None) {
                    self.shared.progress.watch(context.waker());
                    return std::task::Poll::Pending;
                }
            }
        })
        .await;
        let words = self.take(arrived)?;
        lock(&self.shared.stream).return_staging(self.buffer);
        Ok(words)
    }

    /// The words, waiting on this thread for them, and the buffer. Natively.
    pub fn wait(self) -> Result<(Vec<u32>, wgpu::Buffer)> {
        loop {
            if let Some(arrived) = self.arrival.poll(Waker::noop()).or_else(|| self.shared.faults.lost().map(Err)) {
                return Ok((self.take(arrived)?, self.buffer));
            }
            if !wait(&self.shared, None) {
                return Err(Error::unsupported("waiting for the device in a browser", "read back asynchronously"));
            }
        }
    }

    fn take(&self, arrived: Result<(), String>) -> Result<Vec<u32>> {
        self.shared.faults.check()?;
        let failed = |e: String| Error::device(format!("reading back failed: {e}"), "request a new device and restore the last snapshot");
        arrived.map_err(failed)?;
        let words = {
            let view = self.buffer.get_mapped_range(0..self.words * 4).map_err(|e| failed(e.to_string()))?;
            view.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
        };
        self.buffer.unmap();
        Ok(words)
    }
}

/// Waits a while for a submission (the last where none is named) on a native device; `false` in a browser, whose event loop
/// delivers what is awaited.
pub fn wait(shared: &Shared, submission: Option<wgpu::SubmissionIndex>) -> bool {
    if cfg!(target_arch = "wasm32") {
        return false;
    }
    // An error here is a timeout, after which the caller looks again, or a loss, which it sees in the faults.
    let second = std::time::Duration::from_secs(1);
    let _ = shared.device.poll(wgpu::PollType::Wait { submission_index: submission, timeout: Some(second) });
    true
}
