//! The CUDA executor: NVIDIA GPUs through the driver alone, which is looked for when the program runs.
//!
//! Everything happens on one stream, so memory that is given back may be handed out at once: whatever uses it next is ordered
//! after. A compiled step is one CUDA graph, built once and replayed; single operators are launched one by one.
//!
//! - `driver`: the driver's library, its devices and its errors
//! - `handles`: contexts, streams, events, modules, graphs and pinned memory that free themselves
//! - `shared`: what all parts of one device share
//! - `memory`: the pool of device memory and the ranges that are tensors
//! - `stream`: the order of work, uploads through pinned memory, progress
//! - `kernels`: PTX to loaded kernels, cached on disk
//! - `blas`: plain matrix products by cuBLASLt, where it is there and faster
//! - `nccl`: collectives between GPUs, by NCCL, where it is there
//! - `functions`: libraries that are found when the program runs
//! - `graph`: the launches of a step as a CUDA graph
//! - `executable`: one program, run after run
//! - `executor`: the device as the rest of Aludel sees it
//! - `monitor`: utilisation and memory, from NVML

mod blas;
mod driver;
mod executable;
mod executor;
mod functions;
mod graph;
mod handles;
mod kernels;
mod maps;
mod memory;
mod monitor;
mod nccl;
mod shared;
mod stream;

pub use driver::{CudaDevice, devices};
pub use executor::{CudaExecutor, CudaOptions};
pub use monitor::{GpuUsage, usage};
