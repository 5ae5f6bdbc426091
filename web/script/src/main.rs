//! The playground's second module: Python scripts in a worker of their own, which the code view loads (`web/code`; with the
//! feature `cpu` it runs them on the browser's CPU too, and is a third module). It has every operator,
//! the machine and the library of scripts, and no page: what the page draws it is told by messages (`message.rs`).

#![warn(clippy::too_many_lines)]

mod clock;
mod engine;
mod host;
mod inspect;
mod lane;
mod message;

fn main() {
    std::panic::set_hook(Box::new(|info| {
        web_sys::console::error_1(&format!("panic: {info}").into());
        message::post("died", &[("why", info.to_string().into())]);
    }));
    engine::start();
}
