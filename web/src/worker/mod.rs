//! The worker: takes requests, trains, reports. One task owns everything; requests, and what servers say, wait in a queue while it
//! trains a slice.

mod clock;
mod companion;
mod devices;
mod engine;
mod job;
mod learner;
mod remote;
mod session;
mod side;
mod socket;

use crate::channel;
use aludel_protocol::Event;
use futures_channel::mpsc;

pub fn start() {
    let (sender, queue) = mpsc::unbounded();
    let requests = sender.clone();
    // The engine lives as long as the worker; a send that fails means that it has ended with an error it has reported.
    channel::listen(move |request| drop(requests.unbounded_send(engine::Input::Request(request))));
    wasm_bindgen_futures::spawn_local(engine::run(sender, queue));
    channel::post(&Event::Listening);
}
