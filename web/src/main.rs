//! The playground. One wasm module is both the page and the worker that trains: what it is depends on whether there is a
//! window. Everything heavy (models, compiler, GPU) runs in the worker; the page draws and never waits.

#![warn(clippy::too_many_lines)]

mod channel;
mod page;
mod worker;

fn main() {
    std::panic::set_hook(Box::new(|info| channel::log_error(&format!("panic: {info}"))));
    if web_sys::window().is_some() { page::start() } else { worker::start() }
}
