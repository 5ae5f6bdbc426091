//! The WebGPU executor: Vulkan, Metal or DirectX 12 natively, the browser's WebGPU on the web.
//!
//! - `shared`: the device, counts, faults, progress
//! - `memory`: the pool of buffers and the ranges that are tensors
//! - `pipeline`: layouts and pipelines, made once; `disk` keeps compiled ones between processes, `browser` has
//!   them compiled beside the page
//! - `stream`: recording and submission
//! - `transfer`: reading back
//! - `executable`: one program, run after run
//! - `executor`: the device as the rest of Aludel sees it

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod disk;
mod executable;
mod executor;
mod memory;
mod pipeline;
mod shared;
mod stream;
mod transfer;

pub use executor::{Power, WgpuExecutor, WgpuOptions};
