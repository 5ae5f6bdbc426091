//! Methods that choose elements by indices.

use super::one;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Result};
use std::panic::Location;

impl Tensor {
    /// Elements by an index of the same rank along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range, the index is not of integers, or it has another
    /// rank or a larger size in another dimension. An index out of range is no error: devices clamp it.
    #[track_caller]
    pub fn gather(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        one(row!("gather"), &[self.into(), index.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// This tensor with `src` added at an index along a dimension.
    ///
    /// # Errors
    ///
    /// As [`Tensor::gather`], and when `src` is smaller than the index in some dimension.
    #[track_caller]
    pub fn scatter_add(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        one(row!("scatter_add"), &[self.into(), index.into(), src.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Slices by a vector of indices along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range or the index is no vector of integers. An index
    /// out of range is no error: devices clamp it.
    #[track_caller]
    pub fn index_select(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        one(row!("index_select"), &[self.into(), index.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Rows of a table, `self`, at indices of integers.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `self` is no matrix or the indices are not integers. An index out of
    /// range is no error: devices clamp it.
    #[track_caller]
    pub fn embedding(&self, index: &Tensor) -> Result<Tensor> {
        one(row!("embedding"), &[self.into(), index.into()], Attrs::new(), Location::caller())
    }

    /// Zero with probability `p`, else `x / (1 - p)`; the key is two u32, and gives the same zeros each time.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `p` is not a probability or the key not two u32.
    #[track_caller]
    pub fn dropout(&self, key: &Tensor, p: f64) -> Result<Tensor> {
        one(row!("dropout"), &[self.into(), key.into()], Attrs::new().with("p", p), Location::caller())
    }

    /// i32 ones at each index of a new last dimension. With `classes` -1 there are as many as the largest index needs, which is read on the
    /// host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when these are not integers or `classes` is neither positive nor -1; with -1
    /// also a negative index, or none at all.
    #[track_caller]
    pub fn one_hot(&self, classes: i64) -> Result<Tensor> {
        let here = Location::caller();
        let classes = if classes == -1 { self.classes(here)? } else { classes };
        one(row!("one_hot"), &[self.into()], Attrs::new().with("num_classes", classes), here)
    }
}
