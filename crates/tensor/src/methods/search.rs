//! Searching, selecting by values, writing at indices and taking apart as methods. What has as many elements as the values say (`nonzero`,
//! `masked_select`, `unique`, `bincount`, indexing by masks) reads that number on the host: in a compiled function this breaks the graph.

use super::one;
use crate::dispatch::{Operand, dispatch_at};
use crate::shape::IntoInts;
use crate::tensor::Tensor;
use aludel_ir::op::Attr;
use aludel_ir::{Attrs, DType, Error, OpDef, Result};
use std::panic::Location;

/// The results of [`Tensor::unique`].
#[derive(Clone, Debug)]
pub struct Unique {
    /// The different elements (or slices), sorted.
    pub values: Tensor,
    /// i32: for each element of the operand (or slice of its dimension) which of `values` it is.
    pub inverse: Tensor,
    /// i32: how often each of `values` is there.
    pub counts: Tensor,
}

/// A combination of [`Tensor::scatter_reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScatterReduce {
    Sum,
    Prod,
    Mean,
    Amax,
    Amin,
}

impl ScatterReduce {
    fn name(self) -> &'static str {
        match self {
            ScatterReduce::Sum => "sum",
            ScatterReduce::Prod => "prod",
            ScatterReduce::Mean => "mean",
            ScatterReduce::Amax => "amax",
            ScatterReduce::Amin => "amin",
        }
    }
}

fn at(dim: i64) -> Attrs {
    Attrs::new().with("dim", dim)
}

// ---- taking apart and putting together ----

impl Tensor {
    /// The slices of a dimension, which goes.
    ///
    /// # Errors
    ///
    /// A scalar, a dimension out of range.
    #[track_caller]
    pub fn unbind(&self, dim: i64) -> Result<Vec<Tensor>> {
        dispatch_at(None, row!("unbind"), &[self.into()], at(dim), Location::caller())
    }

    /// A dimension as several; one size may be -1.
    ///
    /// # Errors
    ///
    /// Sizes whose product is not the dimension's.
    #[track_caller]
    pub fn unflatten(&self, dim: i64, sizes: impl IntoInts) -> Result<Tensor> {
        one(row!("unflatten"), &[self.into()], at(dim).with("sizes", sizes.into_ints().unwrap_or_default()), Location::caller())
    }

    /// Dimensions moved to other places; the rest keep their order.
    ///
    /// # Errors
    ///
    /// A dimension or place named twice, or out of range.
    #[track_caller]
    pub fn movedim(&self, source: impl IntoInts, destination: impl IntoInts) -> Result<Tensor> {
        let list = |v: Option<Vec<i64>>| v.unwrap_or_default();
        let attrs = Attrs::new().with("source", list(source.into_ints())).with("destination", list(destination.into_ints()));
        one(row!("movedim"), &[self.into()], attrs, Location::caller())
    }

    /// A dimension in so many parts, the first ones larger by one where it does not divide.
    ///
    /// # Errors
    ///
    /// No parts, a dimension out of range.
    #[track_caller]
    pub fn tensor_split(&self, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        dispatch_at(None, row!("tensor_split"), &[self.into()], at(dim).with("indices_or_sections", sections), Location::caller())
    }

    /// The differences of neighbours along a dimension, n times over.
    ///
    /// # Errors
    ///
    /// A scalar, a negative n.
    #[track_caller]
    pub fn diff(&self, n: i64, dim: i64) -> Result<Tensor> {
        one(row!("diff"), &[self.into()], at(dim).with("n", n), Location::caller())
    }
}

/// Of each vector its values along a dimension of its own, expanded over the others; `indexing` is `"ij"` or `"xy"`, which exchanges the
/// first two dimensions.
///
/// # Errors
///
/// Tensors of more dimensions or several types.
#[track_caller]
pub fn meshgrid(tensors: &[&Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    let operands: Vec<Operand> = tensors.iter().map(|t| Operand::Tensor(t)).collect();
    dispatch_at(None, row!("meshgrid"), &operands, Attrs::new().with("indexing", indexing), Location::caller())
}

// ---- writing at indices ----

impl Tensor {
    /// This tensor with `src` at an index along a dimension; of several for one entry the last.
    ///
    /// # Errors
    ///
    /// Ranks or types that differ.
    #[track_caller]
    pub fn scatter(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        one(row!("scatter"), &[self.into(), index.into(), src.into()], at(dim), Location::caller())
    }

    /// This tensor with a number at an index along a dimension.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn scatter_value(&self, dim: i64, index: &Tensor, value: f64) -> Result<Tensor> {
        one(row!("scatter"), &[self.into(), index.into()], at(dim).with("value", value), Location::caller())
    }

    /// This tensor with what `src` has for each entry of a dimension combined; `include_self`: with the entry's own value.
    ///
    /// # Errors
    ///
    /// Ranks or types that differ.
    #[track_caller]
    pub fn scatter_reduce(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: ScatterReduce, include_self: bool) -> Result<Tensor> {
        let attrs = at(dim).with("reduce", reduce.name()).with("include_self", include_self);
        one(row!("scatter_reduce"), &[self.into(), index.into(), src.into()], attrs, Location::caller())
    }

    /// This tensor with `source` at the entries of a dimension that a vector of indices names.
    ///
    /// # Errors
    ///
    /// Shapes or types that do not fit.
    #[track_caller]
    pub fn index_copy(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        one(row!("index_copy"), &[self.into(), index.into(), source.into()], at(dim), Location::caller())
    }

    /// This tensor with a number at the entries of a dimension that a vector of indices names.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn index_fill(&self, dim: i64, index: &Tensor, value: f64) -> Result<Tensor> {
        one(row!("index_fill"), &[self.into(), index.into()], at(dim).with("value", value), Location::caller())
    }

    /// This tensor with the first elements of `source`, in order, where the mask holds.
    ///
    /// # Errors
    ///
    /// A mask that is not bool or does not broadcast, types that differ.
    #[track_caller]
    pub fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        one(row!("masked_scatter"), &[self.into(), mask.into(), source.into()], Attrs::new(), Location::caller())
    }

    /// As [`Tensor::gather`], with the other dimensions broadcast.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn take_along_dim(&self, indices: &Tensor, dim: i64) -> Result<Tensor> {
        one(row!("take_along_dim"), &[self.into(), indices.into()], at(dim), Location::caller())
    }
}

// ---- searching ----

impl Tensor {
    /// i32: where values would go into this sequence, sorted along its last dimension: before equals, or with `right` behind them.
    ///
    /// # Errors
    ///
    /// Rows that do not fit.
    #[track_caller]
    pub fn searchsorted<'a>(&'a self, values: impl Into<Operand<'a>>, right: bool) -> Result<Tensor> {
        one(row!("searchsorted"), &[self.into(), values.into()], Attrs::new().with("right", right), Location::caller())
    }

    /// i32: which interval between sorted boundaries each element lies in.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn bucketize(&self, boundaries: &Tensor, right: bool) -> Result<Tensor> {
        one(row!("bucketize"), &[self.into(), boundaries.into()], Attrs::new().with("right", right), Location::caller())
    }

    /// Whether each element is among the test elements.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn isin(&self, test_elements: &Tensor) -> Result<Tensor> {
        one(row!("isin"), &[self.into(), test_elements.into()], Attrs::new(), Location::caller())
    }

    /// The largest element so far along a dimension, and the i32 index of its last occurrence.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn cummax(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        two(row!("cummax"), self, dim, Location::caller())
    }

    /// The smallest element so far along a dimension, and the i32 index of its last occurrence.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn cummin(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        two(row!("cummin"), self, dim, Location::caller())
    }

    /// How many elements lie in each of equal intervals from `min` to `max`; where they are equal, from the smallest to the largest
    /// element.
    ///
    /// # Errors
    ///
    /// No intervals, min above max.
    #[track_caller]
    pub fn histc(&self, bins: i64, min: f64, max: f64) -> Result<Tensor> {
        one(row!("histc"), &[self.into()], Attrs::new().with("bins", bins).with("min", min).with("max", max), Location::caller())
    }

    /// The p-norms of the differences of each row from each row of the other: `[.., P, M]` and `[.., R, M]` give `[.., P, R]`.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn cdist(&self, other: &Tensor, p: f64) -> Result<Tensor> {
        one(row!("cdist"), &[self.into(), other.into()], Attrs::new().with("p", p), Location::caller())
    }

    /// i32: so many classes for each row of weights, drawn in proportion to them; the key is two u32.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn multinomial(&self, key: &Tensor, num_samples: i64, replacement: bool) -> Result<Tensor> {
        let attrs = Attrs::new().with("num_samples", num_samples).with("replacement", replacement);
        one(row!("multinomial"), &[self.into(), key.into()], attrs, Location::caller())
    }
}

fn two(def: &'static OpDef, x: &Tensor, dim: i64, here: &'static Location<'static>) -> Result<(Tensor, Tensor)> {
    let results = dispatch_at(None, def, &[x.into()], at(dim), here)?;
    match <[Tensor; 2]>::try_from(results) {
        Ok([values, indices]) => Ok((values, indices)),
        Err(r) => Err(Error::op(def.name, "", format!("{} results where two were expected", r.len()), "report this")),
    }
}

// ---- results as large as the values say ----

impl Tensor {
    // The one whole number in a tensor, read on the host.
    fn read_count(&self, reader: &str, here: &'static Location<'static>) -> Result<i64> {
        Ok(self.read_single(reader, here)? as i64)
    }

    /// As many classes as the largest label needs, read on the host.
    pub(super) fn classes(&self, here: &'static Location<'static>) -> Result<i64> {
        let wrong = |problem: &str, remedy: &str| Err(Error::op("one_hot", self.to_string(), problem, remedy));
        if self.numel() == 0 {
            return wrong("has no labels to count classes by", "give num_classes");
        }
        if !self.dtype().is_int() {
            return wrong("the labels are no integers", "convert them with to()");
        }
        if self.amin(())?.read_count("one_hot()", here)? < 0 {
            return wrong("a label is negative", "number classes from 0 on");
        }
        Ok(self.amax(())?.read_count("one_hot()", here)? + 1)
    }

    /// Each slice of a dimension as often as `repeats` says, a number or a count for each slice; without a dimension, each element of the
    /// flat tensor.
    ///
    /// The sum of counts is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// Counts that are negative, not integers, or not as many as slices; a dimension out of range.
    #[track_caller]
    pub fn repeat_interleave<'a>(&'a self, repeats: impl Into<Operand<'a>>, dim: Option<i64>) -> Result<Tensor> {
        let here = Location::caller();
        let counts = match repeats.into() {
            Operand::Tensor(counts) => counts,
            Operand::Int(n) => {
                let attrs = dim.map_or_else(Attrs::new, at).with("repeats", n);
                return one(row!("repeat_interleave"), &[self.into()], attrs, here);
            }
            Operand::Float(n) => {
                return Err(Error::op("repeat_interleave", self.to_string(), format!("repeats {n} times"), "give a whole number"));
            }
        };
        let (x, dim) = match dim {
            Some(dim) if self.rank() > 0 => (self.clone(), dim),
            _ => (self.reshape([-1])?, 0),
        };
        let wrong = |problem: String| {
            let remedy = "give one count of zero or more, as integers, for each slice";
            Err(Error::op("repeat_interleave", format!("{self}, {counts}"), problem, remedy))
        };
        let slices = x.size(dim)?;
        let each = counts.rank() == 1 && counts.dims()[0] == slices;
        if !counts.dtype().is_int() || counts.rank() > 1 || !(each || counts.numel() == 1) {
            return wrong(format!("counts of {counts} for {slices} slices"));
        }
        if slices.is_zero() {
            return Ok(x);
        }
        let counts = counts.to(DType::I32)?.reshape([-1])?.expand([slices])?;
        if counts.amin(())?.read_count("repeat_interleave()", here)? < 0 {
            return wrong("a count is negative".into());
        }
        let total = counts.sum(())?.read_count("repeat_interleave()", here)?;
        // What comes from a slice lies before the sum of counts up to it.
        let place = Tensor::arange(self.device(), total)?;
        x.index_select(dim, &counts.cumsum(0)?.searchsorted(&place, true)?)
    }

    /// The i32 indices of elements that are not zero, `[n, dimensions]` in row-major order.
    ///
    /// n is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn nonzero(&self) -> Result<Tensor> {
        self.nonzero_at("nonzero()", Location::caller())
    }

    fn nonzero_at(&self, reader: &str, here: &'static Location<'static>) -> Result<Tensor> {
        let size = self.to(DType::Bool)?.to(DType::I32)?.sum(())?.read_count(reader, here)?;
        one(row!("nonzero_static"), &[self.into()], Attrs::new().with("size", size), here)
    }

    /// The elements where a bool mask, broadcast with this tensor, holds, as a vector. PyTorch also: `self[mask]` for a mask of its shape.
    ///
    /// Their number is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// A mask that is not bool or does not broadcast.
    #[track_caller]
    pub fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        let here = Location::caller();
        if mask.dtype() != DType::Bool {
            return Err(Error::op("masked_select", format!("{self}, {mask}"), "the mask is not bool", "compare to get one"));
        }
        // Both in their common shape.
        let own = super::where_(mask, self, self)?;
        let mask = mask.expand(own.dims())?;
        let at = mask.reshape([-1])?.nonzero_at("masked_select()", here)?.reshape([-1])?;
        own.reshape([-1])?.index_select(0, &at)
    }

    /// The elements at index tensors in the first dimensions; `None` passes over a dimension, a bool mask stands for as many dimensions as
    /// it has. PyTorch: `self[i, :, j]`.
    ///
    /// How many a mask selects is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// More indices than dimensions, a mask of another shape, indices that do not broadcast.
    #[track_caller]
    pub fn index(&self, indices: &[Option<&Tensor>]) -> Result<Tensor> {
        let here = Location::caller();
        let (indices, attrs) = self.places("index", indices, here)?;
        if indices.is_empty() {
            return Ok(self.clone());
        }
        let operands: Vec<Operand> = [self].into_iter().chain(&indices).map(Operand::from).collect();
        one(row!("index"), &operands, attrs, here)
    }

    /// This tensor with values at the places that [`Tensor::index`] reads, or with `accumulate` added there. PyTorch: `self[i, :, j] =
    /// values`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::index`]; values of another type, or that do not broadcast.
    #[track_caller]
    pub fn index_put(&self, indices: &[Option<&Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
        let here = Location::caller();
        let (indices, attrs) = self.places("index_put", indices, here)?;
        if indices.is_empty() {
            return Err(Error::op("index_put", self.to_string(), "no indices", "give one at least"));
        }
        let operands: Vec<Operand> = [self, values].into_iter().chain(&indices).map(Operand::from).collect();
        one(row!("index_put"), &operands, attrs.with("accumulate", accumulate), here)
    }

    // Index tensors without masks, and the dimensions that they stand for.
    fn places(&self, what: &str, indices: &[Option<&Tensor>], here: &'static Location<'static>) -> Result<(Vec<Tensor>, Attrs)> {
        let (mut list, mut dims, mut dim) = (Vec::new(), Vec::new(), 0usize);
        for i in indices {
            match i {
                None => dim += 1,
                Some(mask) if mask.dtype() == DType::Bool => {
                    let (rank, end) = (mask.rank(), dim + mask.rank());
                    if rank == 0 || self.dims().get(dim..end) != Some(mask.dims()) {
                        let text = format!("a mask of {mask} in dimension {dim}");
                        return Err(Error::op(what, self.to_string(), text, "give a mask of the dimensions' sizes"));
                    }
                    list.extend(mask.nonzero_at("indexing by a mask", here)?.unbind(1)?);
                    dims.extend((dim..end).map(|d| d as i64));
                    dim = end;
                }
                Some(index) => {
                    list.push((*index).clone());
                    dims.push(dim as i64);
                    dim += 1;
                }
            }
        }
        Ok((list, Attrs::new().with("dims", Attr::Ints(dims))))
    }

    /// The different elements, sorted, which of them each element is, and how often each is there.
    ///
    /// Their number is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// Operands whose types or shapes do not fit, or that are on two devices.
    #[track_caller]
    pub fn unique(&self) -> Result<Unique> {
        let here = Location::caller();
        let flat = self.detach().reshape([-1])?;
        let (n, shape) = (flat.numel() as i64, self.dims().to_vec());
        if n == 0 {
            let none = flat.to(DType::I32)?;
            return Ok(Unique { values: flat, inverse: none.reshape(shape)?, counts: none });
        }
        let sorted = dispatch_at(None, row!("sort"), &[(&flat).into()], at(0), here)?;
        let [sorted, order] = <[Tensor; 2]>::try_from(sorted)
            .map_err(|r| Error::op("sort", "", format!("{} results where two were expected", r.len()), "report this"))?;
        // Where a new value begins.
        let new = sorted.narrow(0, 1, n - 1)?.ne(&sorted.narrow(0, 0, n - 1)?)?.to(DType::I32)?.pad([1, 0], 1.0)?;
        let number = new.cumsum(0)?.sub(1)?;
        let starts = new.nonzero_at("unique()", here)?.reshape([-1])?;
        let ends = starts.narrow(0, 1, starts.numel() as i64 - 1)?.pad([0, 1], n as f64)?;
        let inverse = order.zeros_like()?.scatter(0, &order, &number)?;
        Ok(Unique { values: sorted.index_select(0, &starts)?, inverse: inverse.reshape(shape)?, counts: ends.sub(&starts)? })
    }

    /// The different slices of a dimension in lexicographic order, which of them each slice is, and how often each is there.
    ///
    /// The values are read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// A dimension out of range.
    #[track_caller]
    pub fn unique_dim(&self, dim: i64) -> Result<Unique> {
        let rows = self.detach().transpose(dim, 0)?;
        let n = rows.size(0)?.as_const().unwrap_or(0) as usize;
        let values = rows.reshape((n, -1))?.to_vec::<f64>()?;
        let width = values.len() / n.max(1);
        let row = |i: usize| &values[i * width..(i + 1) * width];
        let order = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(p, q)| p.total_cmp(q)).find(|o| o.is_ne());
        let mut sorted: Vec<usize> = (0..n).collect();
        sorted.sort_by(|i, j| order(*i, *j).unwrap_or(std::cmp::Ordering::Equal));
        let (mut firsts, mut counts, mut inverse) = (Vec::<i32>::new(), Vec::<i32>::new(), vec![0i32; n]);
        for (k, i) in sorted.iter().enumerate() {
            let same = k > 0 && row(sorted[k - 1]) == row(*i);
            match counts.last_mut().filter(|_| same) {
                Some(c) => *c += 1,
                None => {
                    firsts.push(*i as i32);
                    counts.push(1);
                }
            }
            inverse[*i] = firsts.len() as i32 - 1;
        }
        let vector = |v: Vec<i32>| {
            let n = v.len();
            Tensor::from_vec(self.device(), v, [n])
        };
        Ok(Unique { values: self.detach().index_select(dim, &vector(firsts)?)?, inverse: vector(inverse)?, counts: vector(counts)? })
    }

    /// How often each whole number from 0 on is in a vector, or the sums of the weights that go with it; at least `minlength` numbers.
    ///
    /// The largest number is read on the host: in a compiled function this breaks the graph.
    ///
    /// # Errors
    ///
    /// Negative numbers, another rank or element type, weights of another shape.
    #[track_caller]
    pub fn bincount(&self, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
        let here = Location::caller();
        let wrong = |problem: String, remedy: &str| Err(Error::op("bincount", self.to_string(), problem, remedy));
        if self.rank() != 1 || self.dtype().is_float() || minlength < 0 {
            return wrong("needs a vector of whole numbers and a minlength of at least 0".into(), "flatten and convert it with to()");
        }
        if let Some(w) = weights.filter(|w| w.dims() != self.dims()) {
            return wrong(format!("the weights are {w}"), "give one for each number");
        }
        let (index, mut size) = (self.to(DType::I32)?, minlength);
        if index.numel() > 0 {
            let least = index.amin(())?.read_count("bincount()", here)?;
            if least < 0 {
                return wrong(format!("{least} is negative"), "count numbers from 0 on");
            }
            size = size.max(index.amax(())?.read_count("bincount()", here)? + 1);
        }
        let ones;
        let weights = match weights {
            Some(w) => w,
            None => {
                ones = index.ones_like()?;
                &ones
            }
        };
        Tensor::full(self.device(), [size], 0.0, weights.dtype())?.scatter_add(0, &index, weights)
    }
}
