//! Time in a worker.

use crate::channel::scope;
use js_sys::Promise;
use wasm_bindgen_futures::JsFuture;

/// Milliseconds since the worker started; monotonic.
pub fn now() -> f64 {
    scope().performance().map_or_else(js_sys::Date::now, |p| p.now())
}

/// Lets other tasks run, the one that takes messages included.
pub async fn breathe() {
    let promise = Promise::new(&mut |resolve, _| {
        // Without a timer there would be no worker either.
        let _ = scope().set_timeout_with_callback(&resolve);
    });
    // It is never rejected.
    let _ = JsFuture::from(promise).await;
}
