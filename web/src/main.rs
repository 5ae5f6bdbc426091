//! The playground. One wasm module is both the page and the worker that trains: what it is depends on whether there is a
//! window. Everything heavy (models, compiler, GPU) runs in the worker; the page draws and never waits. With the feature `cpu` the module is
//! the worker alone, which then trains on the browser's CPU too: it is loaded where that is wanted.

#![warn(clippy::too_many_lines)]

mod channel;
#[cfg(not(feature = "cpu"))]
mod page;
mod worker;

fn main() {
    std::panic::set_hook(Box::new(|info| channel::log_error(&format!("panic: {info}"))));
    #[cfg(not(feature = "cpu"))]
    if web_sys::window().is_some() {
        return page::start();
    }
    worker::start();
}
