//! Time in a worker.

use crate::message::scope;
use js_sys::Promise;
use std::cell::Cell;
use wasm_bindgen_futures::JsFuture;

/// Milliseconds since the worker started; monotonic.
pub fn now() -> f64 {
    scope().performance().map_or_else(js_sys::Date::now, |p| p.now())
}

/// Lets messages in.
pub async fn breathe() {
    let promise = Promise::new(&mut |resolve, _| {
        // Without a timer there would be no worker either.
        let _ = scope().set_timeout_with_callback(&resolve);
    });
    // It is never rejected.
    let _ = JsFuture::from(promise).await;
}

/// The clock of one lane, which stands still while another lane runs: what a script measures is its own time.
#[derive(Default)]
pub struct Clock {
    /// Milliseconds of the slices before this one.
    before: Cell<f64>,
    /// When the present slice began.
    since: Cell<Option<f64>>,
}

impl Clock {
    pub fn start(&self) {
        self.since.set(Some(now()));
    }

    pub fn stop(&self) {
        self.before.set(self.elapsed());
        self.since.set(None);
    }

    /// Milliseconds of all slices.
    pub fn elapsed(&self) -> f64 {
        self.before.get() + self.slice()
    }

    /// Milliseconds of the present slice.
    pub fn slice(&self) -> f64 {
        self.since.get().map_or(0.0, |since| now() - since)
    }

    /// Lets time pass that nobody waited for.
    pub fn skip(&self, ms: f64) {
        self.before.set(self.before.get() + ms);
    }
}
