//! Templates for GPUs of any make: threads of a workgroup share its memory and wait for one another at barriers.

pub(super) mod attention;
pub(super) mod chain;
pub(super) mod contract;
pub(super) mod pointwise;
pub(super) mod rows;
pub(super) mod scan;
pub(super) mod transpose;
