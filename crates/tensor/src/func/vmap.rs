//! Batching: a function of one sample made a function of many.

use super::Applied;
use super::apply::transformed;
use super::capture::{capture, tensors};
use crate::tensor::Tensor;
use crate::trace;
use crate::tree::{Tree, named_tensors};
use aludel_compiler::autodiff::{self, Randomness};
use aludel_ir::{Dim, Error, Result, TensorType};
use std::panic::Location;

/// Along which dimension of each tensor the samples lie: one for all, or one for each element of a tuple, where `None` is shared by all
/// samples. Negative ones count from the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Dims {
    All(i64),
    Each(Vec<Option<i64>>),
}

impl From<i64> for Dims {
    fn from(dim: i64) -> Dims {
        Dims::All(dim)
    }
}

impl<const N: usize> From<[Option<i64>; N]> for Dims {
    fn from(dims: [Option<i64>; N]) -> Dims {
        Dims::Each(dims.to_vec())
    }
}

impl Dims {
    // For each tensor of a tree: its element's dimension, from 0 to `rank` of the tensor less one.
    fn of(&self, what: &str, tree: &impl Tree, extra: usize) -> Result<Vec<Option<usize>>> {
        let invalid =
            |problem: String| Error::invalid(format!("vmap: {what}"), problem, "give one dimension for all, or one for each element");
        named_tensors(tree)
            .into_iter()
            .map(|(path, t)| {
                let dim = match self {
                    Dims::All(d) => Some(*d),
                    Dims::Each(list) => {
                        // A tensor by itself is its only element.
                        let element = path.split('.').next().filter(|p| !p.is_empty()).map_or(Some(0), |p| p.parse::<usize>().ok());
                        let found = element.and_then(|e| list.get(e));
                        *found.ok_or_else(|| invalid(format!("{} dimensions do not say that of {path}", list.len())))?
                    }
                };
                let Some(d) = dim else { return Ok(None) };
                let rank = (t.rank() + extra) as i64;
                let at = if d < 0 { d + rank } else { d };
                if !(0..rank).contains(&at) {
                    return Err(invalid(format!("{t} has no dimension {d} for the samples")));
                }
                Ok(Some(at as usize))
            })
            .collect()
    }
}

/// The options of [`vmap_with`]; the defaults are PyTorch's.
#[derive(Clone, Debug)]
pub struct VmapOptions {
    pub in_dims: Dims,
    pub out_dims: Dims,
    /// What random operators do whose key the samples share.
    pub randomness: Randomness,
}

impl Default for VmapOptions {
    fn default() -> Self {
        VmapOptions { in_dims: Dims::All(0), out_dims: Dims::All(0), randomness: Randomness::Error }
    }
}

/// The function over a batch: `function` sees one sample, the whole runs at once. PyTorch: `torch.func.vmap`.
///
/// ```
/// use aludel_tensor::{Device, Tensor, func};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let w = Tensor::from_slice(&device, &[1.0f32, -1.0], [2])?;
/// let samples = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// // Per-sample gradients: the weights are shared, the samples are not.
/// let loss = |w: &Tensor, x: &Tensor| w.mul(x)?.sum(())?.square();
/// let gradients = func::vmap(|(w, x): &(Tensor, Tensor)| func::grad(|w: &Tensor| loss(w, x))(w), [None, Some(0)], 0);
/// assert_eq!(gradients(&(w, samples))?.to_vec::<f32>()?, [-2.0, -4.0, -6.0, -8.0]);
/// # Ok(())
/// # }
/// ```
///
/// Errors: samples of different number, a dimension out of range, a random operator whose key the samples share, a tensor that the
/// function leaves behind (running statistics: there is one of them and many samples).
#[track_caller]
pub fn vmap<A: Tree + Clone, R: Tree + Clone>(
    function: impl Fn(&A) -> Result<R>,
    in_dims: impl Into<Dims>,
    out_dims: impl Into<Dims>,
) -> impl Fn(&A) -> Result<R> {
    vmap_with(function, VmapOptions { in_dims: in_dims.into(), out_dims: out_dims.into(), ..VmapOptions::default() })
}

/// As [`vmap`], with all options.
#[track_caller]
pub fn vmap_with<A: Tree + Clone, R: Tree + Clone>(function: impl Fn(&A) -> Result<R>, options: VmapOptions) -> impl Fn(&A) -> Result<R> {
    let at = Location::caller();
    move |args| {
        let given = tensors(args);
        let mut dims = options.in_dims.of("in_dims", args, 0)?;
        let size = batch_size(&given, &dims)?;
        let sample = |i: usize| -> TensorType {
            let mut ty = given[i].ty().clone();
            if let Some(d) = dims[i] {
                ty.shape.remove(d);
            }
            ty
        };
        let c = capture("vmap", &function, args, Some(&sample))?;
        if c.leaves_behind() {
            let problem = "the function leaves a tensor behind, such as running statistics, and would for each sample";
            return Err(Error::invalid("vmap", problem, "call eval() on the model, or return the tensor"));
        }
        dims.resize(c.graph.inputs.len(), None);
        let out: Vec<usize> = {
            let found = options.out_dims.of("out_dims", &c.stand_ins(), 1)?;
            let none = || Error::invalid("vmap: out_dims", "None for a result", "results have the samples along some dimension");
            found.into_iter().map(|d| d.ok_or_else(none)).collect::<Result<_>>()?
        };
        let what = format!("vmap {dims:?} {out:?} {:?} {size:?}", options.randomness);
        let applied = transformed(&c.device, &what, &c.graph, |g| {
            Ok(vec![Applied::plain(&c.device, autodiff::vmap(g, &dims, &out, &size, options.randomness)?)?])
        })?;
        c.result(&applied[0].call(&c.device, &c.inputs(args), at)?)
    }
}

fn batch_size(given: &[Tensor], dims: &[Option<usize>]) -> Result<Dim> {
    let mut sizes = given.iter().zip(dims).filter_map(|(t, d)| t.dims().get((*d)?));
    let first = sizes.next().cloned();
    let first = first.ok_or_else(|| Error::invalid("vmap", "no argument has samples", "give a dimension in in_dims for at least one"))?;
    for other in sizes {
        if !trace::sizes_agree(&first, other) {
            let text = |d: &Dim| trace::show_size(d);
            let problem = format!("{} samples of one argument, {} of another", text(&first), text(other));
            return Err(Error::invalid("vmap", problem, "batch arguments of as many samples"));
        }
    }
    Ok(first)
}
