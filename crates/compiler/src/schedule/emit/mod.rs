//! What templates write kernels with: the builder, a nest's operations on demand, four elements at a time, accumulators.

pub(super) mod accumulate;
pub(super) mod attention;
mod kernel;
mod nest;
pub(super) mod quad;

pub(super) use kernel::{KernelBuilder, Placed, groups_of, zero};
pub(super) use nest::{Emitter, of_data};
