//! What PyTorch refuses before it computes by ranks, dimensions, types and numbers, with the kinds of errors that scripts catch.

use aludel_ir::op::Attr;
use aludel_ir::{Attrs, OpDef};
use aludel_python::objects::Exc;
use aludel_tensor::Tensor;

use crate::explain::{at_dimension, out_of_range};
use crate::kind::Kind;

fn int(attrs: &Attrs, name: &str) -> Option<i64> {
    if let Some(Attr::Int(v)) = attrs.get(name) { Some(*v) } else { None }
}

fn float(attrs: &Attrs, name: &str) -> Option<f64> {
    match attrs.get(name) {
        Some(Attr::Float(v)) => Some(*v),
        Some(Attr::Int(v)) => Some(*v as f64),
        _ => None,
    }
}

/// The dimensions that an attribute names.
fn dims(attrs: &Attrs, name: &str) -> Vec<i64> {
    match attrs.get(name) {
        Some(Attr::Int(v)) => vec![*v],
        Some(Attr::Ints(v)) => v.clone(),
        _ => Vec::new(),
    }
}

/// The error that most refusals are.
pub(crate) fn refused(text: String) -> Result<(), Exc> {
    Err(Exc::runtime(text))
}

/// Refuses operands that the row would take, or would refuse by another kind of error.
pub(crate) fn refuse(def: &OpDef, operands: &[(Tensor, Kind)], attrs: &Attrs) -> Result<(), Exc> {
    let name = def.name;
    let Some((x, kind)) = operands.first() else { return Ok(()) };
    if x.rank() > MAX_DIMS && def.schema().param("keepdim").is_some() {
        return refused(format!("only tensors with up to {MAX_DIMS} dims are supported"));
    }
    match name {
        "amax" | "amin" => filled(name, x, attrs),
        "diagonal" => within(x, &[int(attrs, "dim1").unwrap_or(0), int(attrs, "dim2").unwrap_or(1)]),
        "roll" => within(x, &dims(attrs, "dims")),
        "unbind" => within(x, &[int(attrs, "dim").unwrap_or(0)]),
        "rfft" | "fft" | "ifft" | "irfft" if x.rank() == 0 => within(x, &[int(attrs, "dim").unwrap_or(-1)]),
        "narrow" => begins(x, attrs),
        "hardtanh" => match (float(attrs, "min_val"), float(attrs, "max_val")) {
            (Some(low), Some(high)) if low > high => Err(Exc::value("min_val cannot be greater than max_val")),
            _ => Ok(()),
        },
        "triplet_margin_loss" => match float(attrs, "margin") {
            Some(margin) if margin <= 0.0 => {
                Err(Exc::value(format!("margin must be greater than 0, got {}", aludel_python::text::float::repr(margin))))
            }
            _ => reduction(attrs),
        },
        "gaussian_nll_loss" => match attrs.get("reduction") {
            Some(Attr::Str(s)) if !REDUCTIONS.contains(&s.as_str()) => Err(Exc::value(format!("{s} is not valid"))),
            _ => Ok(()),
        },
        "multi_margin_loss" => margins(operands, attrs),
        "conv1d" | "conv2d" | "conv3d" => windows(operands, attrs),
        "avg_pool1d" | "avg_pool2d" | "avg_pool3d" | "max_pool1d" | "max_pool2d" | "max_pool3d" => padding(attrs),
        "dot" => vectors(operands),
        "gather" => ranks(operands, "input"),
        "index_add" => match operands.get(1) {
            Some((index, of)) if index.rank() > 1 => Err(Exc::index(format!(
                "index_add_(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {:?}",
                index.rank(),
                of.scalar_type(),
                index.shape()
            ))),
            _ => Ok(()),
        },
        "masked_scatter" => match operands.get(1) {
            Some((_, mask)) if *mask != Kind::Bool => {
                refused(format!("masked_scatter_ only supports boolean masks, but got mask with dtype {}", mask.scalar_type()))
            }
            _ => Ok(()),
        },
        "diff" if int(attrs, "n").is_some_and(|n| n < 0) => {
            refused(format!("order must be non-negative but got {}", int(attrs, "n").unwrap_or_default()))
        }
        "adaptive_avg_pool2d" | "adaptive_max_pool2d" => adaptive(name, x, 2, attrs),
        "adaptive_avg_pool3d" | "adaptive_max_pool3d" => adaptive(name, x, 3, attrs),
        "soft_margin_loss" => match operands.get(1).map(|(target, _)| crate::numpy::broadcast(&x.shape(), &target.shape())) {
            Some(Ok(both)) if both != x.shape() => {
                refused(format!("output with shape {:?} doesn't match the broadcast shape {both:?}", x.shape()))
            }
            _ => reduction(attrs),
        },
        "scatter" | "scatter_add" => match operands.get(2) {
            Some((source, of)) if source.rank() > 0 && of != kind => {
                refused("scatter(): Expected self.dtype to be equal to src.dtype".into())
            }
            _ => ranks(operands, "self"),
        },
        _ => reduction(attrs),
    }
}

/// A set of dimensions is a word of bits in PyTorch's reductions.
const MAX_DIMS: usize = 64;

/// Pooling to a size of `n` dimensions, which a tuple names each and a number all.
fn adaptive(name: &str, x: &Tensor, n: usize, attrs: &Attrs) -> Result<(), Exc> {
    let sizes = dims(attrs, "output_size").len();
    if sizes > 1 && x.rank() <= sizes {
        return Err(Exc::value(format!("Input dimension should be at least {}", sizes + 1)));
    }
    if (n + 1..=n + 2).contains(&x.rank()) {
        return Ok(());
    }
    let colon = if name.contains("max") { ":" } else { "" };
    refused(format!("{name}(): Expected {}D or {}D tensor, but got{colon} {:?}", n + 1, n + 2, x.shape()))
}

const REDUCTIONS: [&str; 4] = ["none", "mean", "sum", "batchmean"];

/// A loss is reduced in one of few ways.
fn reduction(attrs: &Attrs) -> Result<(), Exc> {
    match attrs.get("reduction") {
        Some(Attr::Str(s)) if !REDUCTIONS.contains(&s.as_str()) => Err(Exc::value(format!("{s} is not a valid value for reduction"))),
        _ => Ok(()),
    }
}

/// Dimensions that a tensor has.
fn within(x: &Tensor, dims: &[i64]) -> Result<(), Exc> {
    let rank = x.rank() as i64;
    let Some(wrong) = dims.iter().find(|d| !(-rank..rank).contains(*d)) else { return Ok(()) };
    Err(Exc::index(out_of_range(-rank, rank - 1, wrong)))
}

/// Dimensions with elements, of which one is the largest.
fn filled(name: &str, x: &Tensor, attrs: &Attrs) -> Result<(), Exc> {
    let shape = x.shape();
    let at = |d: &i64| usize::try_from(if *d < 0 { d.saturating_add(shape.len() as i64) } else { *d }).ok();
    match dims(attrs, "dim").iter().find(|d| at(d).and_then(|d| shape.get(d)) == Some(&0)) {
        Some(d) => Err(Exc::index(format!("{name}(): Expected reduction dim {d} to have non-zero size."))),
        None => Ok(()),
    }
}

/// A part that begins in its dimension, or right behind it.
fn begins(x: &Tensor, attrs: &Attrs) -> Result<(), Exc> {
    let (shape, Some(start)) = (x.shape(), int(attrs, "start")) else { return Ok(()) };
    let Some(size) = at_dimension(&shape, attrs).and_then(|d| shape.get(d)).map(|n| *n as i64) else { return Ok(()) };
    if (-size..=size).contains(&start) {
        return Ok(());
    }
    Err(Exc::index(format!("start out of range (expected to be in range of [{}, {size}], but got {start})", -size)))
}

/// An index of as many dimensions as what it indexes, and as what it brings there.
fn ranks(operands: &[(Tensor, Kind)], what: &str) -> Result<(), Exc> {
    let rank = |i: usize| operands.get(i).map(|(t, _)| t.rank());
    let (Some(x), Some(index)) = (rank(0), rank(1)) else { return Ok(()) };
    let empty = operands[1].0.numel() == 0;
    if index.max(1) != x.max(1) && !empty {
        return refused(format!("Index tensor must have the same number of dimensions as {what} tensor"));
    }
    match rank(2) {
        Some(source) if source.max(1) != index.max(1) && !empty => {
            refused("Index tensor must have the same number of dimensions as src tensor".into())
        }
        _ => Ok(()),
    }
}

fn vectors(operands: &[(Tensor, Kind)]) -> Result<(), Exc> {
    let [(a, kind), (b, of), ..] = operands else { return Ok(()) };
    if a.rank() != 1 || b.rank() != 1 {
        return refused(format!("1D tensors expected, but got {}D and {}D tensors", a.rank(), b.rank()));
    }
    if kind != of {
        return refused(format!(
            "dot : expected both vectors to have same dtype, but found {} and {}",
            kind.scalar_type(),
            of.scalar_type()
        ));
    }
    Ok(())
}

/// The numbers of a convolution.
fn windows(operands: &[(Tensor, Kind)], attrs: &Attrs) -> Result<(), Exc> {
    let any = |name: &str, wrong: fn(&i64) -> bool| dims(attrs, name).iter().any(wrong);
    let weight = operands.get(1).map(|(w, _)| w.shape().to_vec()).unwrap_or_default();
    let groups = int(attrs, "groups").unwrap_or(1);
    let text = match () {
        () if any("padding", |v| *v < 0) => "negative padding is not supported".into(),
        () if any("stride", |v| *v <= 0) => "non-positive stride is not supported".into(),
        () if any("dilation", |v| *v <= 0) => "dilation should be greater than zero".into(),
        () if groups <= 0 => "non-positive groups is not supported".into(),
        () if weight.first().is_some_and(|n| (*n as i64) < groups) => format!(
            "Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {weight:?} instead"
        ),
        () => return Ok(()),
    };
    refused(text)
}

/// Padding of a pool: none is missing, and no window lies in it alone.
fn padding(attrs: &Attrs) -> Result<(), Exc> {
    let (pads, kernel, dilation) = (dims(attrs, "padding"), dims(attrs, "kernel_size"), dims(attrs, "dilation"));
    let at = |list: &[i64], d: usize, default: i64| list.get(d).or(list.first()).copied().unwrap_or(default);
    for (d, p) in pads.iter().enumerate() {
        if *p < 0 {
            return refused(format!("pad must be non-negative, but got pad: {p}"));
        }
        let (k, apart) = (at(&kernel, d, 1), at(&dilation, d, 1));
        if *p > k.saturating_sub(1).saturating_mul(apart).saturating_add(1) / 2 {
            return refused(format!(
                "pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={apart}"
            ));
        }
    }
    Ok(())
}

fn margins(operands: &[(Tensor, Kind)], attrs: &Attrs) -> Result<(), Exc> {
    reduction(attrs)?;
    if int(attrs, "p").is_some_and(|p| p != 1 && p != 2) {
        return Err(Exc::value("only p == 1 and p == 2 supported"));
    }
    match operands.get(2) {
        Some((weight, _)) if weight.rank() != 1 => Err(Exc::value("weight must be one-dimensional")),
        _ => Ok(()),
    }
}
