//! The CPU executor: programs as C, built by the system's compiler, run on all cores.
//!
//! A program becomes one C file ([`aludel_compiler::codegen::c::unit`]), one shared object, one function for each kernel.
//! A launch is so many pieces of work; launches that touch nothing of one another form a wave, whose pieces the threads take in
//! any order. Work is done when a call returns.

mod build;
mod executable;
mod executor;
mod memory;
mod plan;
mod team;

pub use executor::CpuExecutor;
