//! The worker: takes requests, trains, reports. One task owns everything; requests wait in a queue while it trains a slice.

mod clock;
mod devices;
mod engine;
mod learner;
mod side;

use crate::channel;
use aludel_protocol::Event;
use futures_channel::mpsc;

pub fn start() {
    let (sender, requests) = mpsc::unbounded();
    // The engine lives as long as the worker; a send that fails means that it has ended with an error it has reported.
    channel::listen(move |request| drop(sender.unbounded_send(request)));
    wasm_bindgen_futures::spawn_local(engine::run(requests));
    channel::post(&Event::Listening);
}
