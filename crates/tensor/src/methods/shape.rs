//! Methods that arrange elements anew.

use super::{one, size, sizes, with};
use crate::dispatch::dispatch_at;
use crate::shape::{IntoDim, IntoDims, IntoInts};
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Result};
use std::panic::Location;

impl Tensor {
    /// The same elements in another shape; one size may be -1.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the new shape does not have as many elements, or leaves more than one
    /// size open.
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoDims) -> Result<Tensor> {
        one(row!("reshape"), &[self.into()], with(Attrs::new(), "shape", sizes(shape.into_dims())), Location::caller())
    }

    /// Sizes of one grow; -1 keeps a size.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a size other than one would change, or there are fewer dimensions than
    /// before.
    #[track_caller]
    pub fn expand(&self, shape: impl IntoDims) -> Result<Tensor> {
        one(row!("expand"), &[self.into()], with(Attrs::new(), "shape", sizes(shape.into_dims())), Location::caller())
    }

    /// Reorders dimensions.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dims` does not name every dimension once.
    #[track_caller]
    pub fn permute(&self, dims: impl IntoInts) -> Result<Tensor> {
        let dims = dims.into_ints().unwrap_or_default();
        one(row!("permute"), &[self.into()], Attrs::new().with("dims", dims), Location::caller())
    }

    /// Swaps two dimensions.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range.
    #[track_caller]
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        one(row!("transpose"), &[self.into()], Attrs::new().with("dim0", dim0).with("dim1", dim1), Location::caller())
    }

    /// Adds a dimension of size one.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is beyond the new rank.
    #[track_caller]
    pub fn unsqueeze(&self, dim: i64) -> Result<Tensor> {
        one(row!("unsqueeze"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Removes a dimension of size one.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn squeeze(&self, dim: i64) -> Result<Tensor> {
        one(row!("squeeze"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Makes one dimension of those from `start` to `end`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `start` or `end` is out of range or `end` lies before `start`.
    #[track_caller]
    pub fn flatten(&self, start: i64, end: i64) -> Result<Tensor> {
        one(row!("flatten"), &[self.into()], Attrs::new().with("start_dim", start).with("end_dim", end), Location::caller())
    }

    /// `length` elements from `start` along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range or the elements are not all there.
    #[track_caller]
    pub fn narrow(&self, dim: i64, start: impl IntoDim, length: impl IntoDim) -> Result<Tensor> {
        let attrs = with(Attrs::new().with("dim", dim), "start", size(start.into_dim()));
        one(row!("narrow"), &[self.into()], with(attrs, "length", size(length.into_dim())), Location::caller())
    }

    /// Pieces of `size` elements along a dimension, the last one smaller where it does not divide.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range or `size` not positive.
    #[track_caller]
    pub fn split(&self, size: i64, dim: i64) -> Result<Vec<Tensor>> {
        let attrs = Attrs::new().with("split_size_or_sections", size).with("dim", dim);
        dispatch_at(None, row!("split"), &[self.into()], attrs, Location::caller())
    }

    /// A number added around the last dimensions, by pairs of how often before and after, the last dimension's pair first; a negative
    /// amount removes elements.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `pad` holds half a pair, more pairs than there are dimensions, or
    /// removes more than there is.
    #[track_caller]
    pub fn pad(&self, pad: impl IntoInts, value: f64) -> Result<Tensor> {
        let attrs = Attrs::new().with("pad", pad.into_ints().unwrap_or_default()).with("value", value);
        one(row!("pad"), &[self.into()], attrs, Location::caller())
    }

    /// Reverses the order along dimensions.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or named twice.
    #[track_caller]
    pub fn flip(&self, dims: impl IntoInts) -> Result<Tensor> {
        one(row!("flip"), &[self.into()], Attrs::new().with("dims", dims.into_ints().unwrap_or_default()), Location::caller())
    }

    /// The lower triangle, up to a diagonal.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when there are fewer than two dimensions.
    #[track_caller]
    pub fn tril(&self, diagonal: i64) -> Result<Tensor> {
        one(row!("tril"), &[self.into()], Attrs::new().with("diagonal", diagonal), Location::caller())
    }

    /// The upper triangle, from a diagonal.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when there are fewer than two dimensions.
    #[track_caller]
    pub fn triu(&self, diagonal: i64) -> Result<Tensor> {
        one(row!("triu"), &[self.into()], Attrs::new().with("diagonal", diagonal), Location::caller())
    }
}
