//! Passes over graphs: derivatives, what the backward pass computes again, and prims that no template takes as they are.

pub(crate) mod attention;
pub mod autodiff;
pub mod partition;
pub(crate) mod scan;
