//! Templates for NVIDIA GPUs: asynchronous copies, subgroup shuffles, matrix units, warpgroups.

pub(super) mod attention;
mod bulk;
pub(super) mod columns;
pub(super) mod product;
pub(super) mod resident;
