//! Passes over nests of loops: from prims to the nests that become kernels.

pub(crate) mod chain;
pub mod fuse;
pub(crate) mod layout;
pub mod lower;
mod slices;
pub(crate) mod split;
pub(crate) mod strength;
