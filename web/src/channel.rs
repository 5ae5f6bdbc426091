//! Messages between page and worker as bytes over `postMessage`.

use aludel_protocol::{Event, Request, decode, encode};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};
#[cfg(not(feature = "cpu"))]
use web_sys::{ErrorEvent, Worker, WorkerOptions, WorkerType};

pub fn log_error(text: &str) {
    web_sys::console::error_1(&text.into());
}

fn bytes(event: &MessageEvent) -> Vec<u8> {
    event.data().dyn_into::<Uint8Array>().map(|a| a.to_vec()).unwrap_or_default()
}

/// The page's end.
#[cfg(not(feature = "cpu"))]
pub struct Trainer {
    worker: Worker,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(ErrorEvent)>,
}

#[cfg(not(feature = "cpu"))]
impl Trainer {
    /// Starts the worker, with `cpu` the one that trains on the browser's CPU too. `on_event` is called with each event, or with what went
    /// wrong.
    pub fn spawn(cpu: bool, on_event: impl Fn(Result<Event, String>) + Clone + 'static) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let script = if cpu { "worker.js?cpu" } else { "worker.js" };
        let worker =
            Worker::new_with_options(script, &options).map_err(|e| format!("this browser does not start module workers: {e:?}"))?;
        let report = on_event.clone();
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| on_event(decode(&bytes(&e))));
        let on_error = Closure::<dyn Fn(ErrorEvent)>::new(move |e: ErrorEvent| {
            report(Err(format!("the worker that trains has failed: {}", e.message())))
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Trainer { worker, _on_message: on_message, _on_error: on_error })
    }

    pub fn send(&self, request: &Request) {
        let sent = encode(request).and_then(|b| self.worker.post_message(&Uint8Array::from(&b[..])).map_err(|e| format!("{e:?}")));
        if let Err(e) = sent {
            log_error(&e);
        }
    }
}

#[cfg(not(feature = "cpu"))]
impl Drop for Trainer {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// The worker's end: calls `handle` with each request.
pub fn listen(handle: impl Fn(Request) + 'static) {
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| match decode::<Request>(&bytes(&e)) {
        Ok(request) => handle(request),
        Err(e) => log_error(&e),
    });
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The worker listens for as long as it lives.
    on_message.forget();
}

/// To the page.
pub fn post(event: &Event) {
    let sent = encode(event).and_then(|b| scope().post_message(&Uint8Array::from(&b[..])).map_err(|e| format!("{e:?}")));
    if let Err(e) = sent {
        log_error(&e);
    }
}

pub fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}
