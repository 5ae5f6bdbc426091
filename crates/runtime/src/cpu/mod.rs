//! The CPU executor: programs as C, built by the system's compiler, run on all cores.
//!
//! A program's kernels become C files that are compiled side by side ([`queue`]), as many shared objects, and one
//! function for each kernel. A launch is so many pieces of work; launches that touch nothing of one another form a wave, whose pieces the
//! threads take in any order. Work is done when a call returns, but for operators whose kernels are still being compiled ([`deferred`]).

mod build;
mod deferred;
mod executable;
mod executor;
mod memory;
mod plan;
mod queue;
mod team;

pub use executor::CpuExecutor;
