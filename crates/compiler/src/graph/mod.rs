//! Passes over graphs: derivatives, what the backward pass computes again, and prims that no template takes as they are.

pub(crate) mod attention;
pub mod autodiff;
pub(crate) mod extremes;
pub mod partition;
pub(crate) mod scan;
