//! Attention on matrix units: [`units`] by subgroups, [`warpgroup`] by warpgroups. Both keep sums and weights as [`fragments`].

mod fragments;
mod operands;
pub(in crate::schedule) mod units;
pub(in crate::schedule) mod warpgroup;
