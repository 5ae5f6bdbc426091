//! Time in a worker.

use crate::channel::scope;
use js_sys::Promise;
use wasm_bindgen::prelude::*;
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

/// Calls back again and again, until it is dropped.
pub struct Interval {
    id: i32,
    _callback: Closure<dyn Fn()>,
}

impl Interval {
    pub fn new(ms: i32, callback: impl Fn() + 'static) -> Interval {
        let callback = Closure::<dyn Fn()>::new(callback);
        let set = scope().set_interval_with_callback_and_timeout_and_arguments_0(callback.as_ref().unchecked_ref(), ms);
        // A worker has timers; 0 names none.
        Interval { id: set.unwrap_or(0), _callback: callback }
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        scope().clear_interval_with_handle(self.id);
    }
}
