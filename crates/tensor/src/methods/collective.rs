//! Collectives over the ranks of a group (`aludel_ir::collective`): every rank calls the same ones in the same order.

use super::one;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Group, Result};
use std::panic::Location;

fn over(group: &Group) -> Attrs {
    Attrs::new().with("group", group.name.as_str()).with("ranks", i64::from(group.ranks))
}

impl Tensor {
    /// The `sum`, `mean`, `prod`, `max` or `min` of all ranks' tensors, in the order of the ranks. PyTorch: `torch.distributed.all_reduce`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails); ranks that disagree, are missing or have ended.
    #[track_caller]
    pub fn all_reduce(&self, op: &str, group: &Group) -> Result<Tensor> {
        one(row!("all_reduce"), &[self.into()], over(group).with("op", op), Location::caller())
    }

    /// All ranks' tensors, joined along a dimension. PyTorch: `torch.distributed.all_gather_into_tensor`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_reduce`]; a scalar.
    #[track_caller]
    pub fn all_gather(&self, dim: i64, group: &Group) -> Result<Tensor> {
        one(row!("all_gather"), &[self.into()], over(group).with("dim", dim), Location::caller())
    }

    /// As [`Tensor::all_gather`], for what a compiled step's backward pass gathers again instead of keeping.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_gather`].
    #[track_caller]
    pub fn all_gather_released(&self, dim: i64, group: &Group) -> Result<Tensor> {
        one(row!("all_gather"), &[self.into()], over(group).with("dim", dim).with("release", true), Location::caller())
    }

    /// This rank's part, along a dimension, of the sum (or the like) of all ranks' tensors. PyTorch:
    /// `torch.distributed.reduce_scatter_tensor`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_reduce`]; a dimension that the ranks do not divide.
    #[track_caller]
    pub fn reduce_scatter(&self, op: &str, dim: i64, group: &Group) -> Result<Tensor> {
        one(row!("reduce_scatter"), &[self.into()], over(group).with("op", op).with("dim", dim), Location::caller())
    }

    /// The tensor of rank `src`. PyTorch: `torch.distributed.broadcast`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_reduce`]; a rank that the group does not have.
    #[track_caller]
    pub fn broadcast(&self, src: usize, group: &Group) -> Result<Tensor> {
        one(row!("broadcast"), &[self.into()], over(group).with("src", src), Location::caller())
    }

    /// The parts of all ranks' tensors, along a dimension, that are this rank's. PyTorch: `torch.distributed.all_to_all_single`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_reduce`]; a dimension that the ranks do not divide.
    #[track_caller]
    pub fn all_to_all(&self, dim: i64, group: &Group) -> Result<Tensor> {
        one(row!("all_to_all"), &[self.into()], over(group).with("dim", dim), Location::caller())
    }
}
