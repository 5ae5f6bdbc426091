//! The CPU through an engine of WebAssembly: the browser's own on a page, wasmtime in tests and on the command line.
//!
//! ```text
//! Executor::load(program)    compiles each kernel that is new: a module (compiler/codegen/wasm) that imports the executor's memory
//! Executable::run(inputs)    brings arguments into the memory ([`bind`](crate::bind)), calls kernel after kernel, hands out results
//! ```
//!
//! All tensors lie in one memory of the executor's own, apart from that of the program that runs it: `heap.rs` shares it out, `engine.rs` says
//! what an engine does, `browser.rs` and `native.rs` are the two there are. What a kernel reads or writes beyond the memory is a trap, and an
//! error of the run.

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(target_arch = "wasm32")]
use browser as engine;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(not(target_arch = "wasm32"))]
use native as engine;

mod executable;
mod executor;
mod heap;

pub use executor::WasmExecutor;

use aludel_ir::Error;

/// Bytes of a page of memory.
const PAGE: u64 = 64 << 10;

/// What a call of a kernel is given: addresses in bytes, and which pieces of work it does.
#[derive(Clone, Copy)]
struct Call {
    row: u32,
    bindings: u32,
    start: u32,
    end: u32,
    scratch: u32,
}

/// A kernel that an engine does not take.
fn refused(kernel: &str, why: &str) -> Error {
    Error::device(format!("the engine refuses kernel {kernel}: {why}"), "report this")
}

/// A launch that ended with a trap.
fn trapped(launch: &str, why: &str) -> Error {
    Error::device(format!("launch {launch} trapped: {why}"), "report this; what it wrote is lost")
}

/// A range that is not in the memory.
fn outside(at: u64, words: usize) -> Error {
    Error::device(format!("{words} words at byte {at} are not in the memory"), "report this")
}
