//! The CPU executor: programs as C, built by the system's compiler, run on all cores.

mod executor;

pub use executor::CpuExecutor;
