//! Indices against the sizes that they index, as far as their values are known without waiting for a device: those on the host, those that a
//! device of the host's has computed, and those that follow from such by a few operators.

use crate::cell::expect;
use crate::convert;
use crate::kind::Kind;
use crate::replay::log;
use aludel_ir::Attrs;
use aludel_ir::op::Attr;
use aludel_python::Vm;
use aludel_python::objects::{Args, Exc, Value};
use aludel_tensor::Tensor;
#[cfg(not(target_arch = "wasm32"))]
use aludel_tensor::record;
use std::ops::Range;

/// The first whole number of a tensor that does not lie in the range and is not `but`, and its place. Turns that are repeated look again at
/// what was looked at.
pub(crate) fn outside(x: &Tensor, range: Range<i64>, but: Option<i64>) -> Option<(usize, i64)> {
    beyond(x, &range, but, &mut |t| log::range(t, &range, but))
}

/// As [`outside`]; `seen` is told of the tensors that were looked at.
pub(crate) fn beyond(x: &Tensor, range: &Range<i64>, but: Option<i64>, seen: &mut dyn FnMut(&Tensor)) -> Option<(usize, i64)> {
    let is_wrong = |(_, v): &(usize, i64)| !range.contains(v) && Some(*v) != but;
    let wrong = |values: Vec<f64>| values.into_iter().map(|v| v as i64).enumerate().find(is_wrong);
    let within = |(low, high): (f64, f64)| low > high || range.start as f64 <= low && high < range.end as f64;
    if x.host_bounds().is_some_and(within) {
        seen(x);
        return None;
    }
    if let Some(values) = x.values_at_once() {
        seen(x);
        return wrong(values);
    }
    wrong(followed(x, range, but, seen)?)
}

/// The values of a recorded tensor, worked out from those that are there; `None` also where all of these lie in the range.
#[cfg(not(target_arch = "wasm32"))]
fn followed(x: &Tensor, range: &Range<i64>, but: Option<i64>, seen: &mut dyn FnMut(&Tensor)) -> Option<Vec<f64>> {
    let deduced = record::deduce(x)?;
    // Of a large tensor that is not on the host a small part is looked at itself.
    let known = |t: &&Tensor| t.host_bounds().is_some() || t.numel() <= 16 * x.numel() && t.is_at_once();
    if let Some(leaves) = deduced.among().map(Iterator::collect::<Vec<_>>)
        && leaves.iter().all(|t| known(t) && beyond(t, range, but, &mut |_| ()).is_none())
    {
        leaves.into_iter().for_each(seen);
        return None;
    }
    deduced.values()
}

#[cfg(target_arch = "wasm32")]
fn followed(_: &Tensor, _: &Range<i64>, _: Option<i64>, _: &mut dyn FnMut(&Tensor)) -> Option<Vec<f64>> {
    None
}

/// `outside(tensor, low, high)`: the place and the value of an element that is not in `[low, high)`, or `None`.
pub(crate) fn find(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, low, high] = args.exactly::<3>("outside")?;
    let x = expect(&x, "outside")?.get()?;
    let bound = |v: &Value| convert::int(v).ok_or_else(|| Exc::ty("outside(): bounds must be int"));
    let wrong = outside(&x, bound(&low)?..bound(&high)?, None);
    Ok(wrong.map_or(Value::None, |(at, v)| Value::tuple(vec![Value::from(at), Value::Int(v)])))
}

/// Refuses a source that is shorter than what a mask asks of it.
pub(crate) fn enough(mask: &Tensor, source: &Tensor) -> Result<(), Exc> {
    let count = source.numel();
    if count >= mask.numel() {
        return Ok(());
    }
    match mask.values_at_once().or_else(|| followed(mask, &(0..0), None, &mut |_| ())) {
        Some(values) if values.iter().filter(|v| **v != 0.0).count() > count => {
            Err(Exc::runtime("Number of elements of source < number of ones in mask"))
        }
        _ => Ok(()),
    }
}

/// Refuses an index along a dimension that is of no whole numbers, or beyond the dimension's size.
pub(crate) fn along(name: &str, x: &Tensor, index: &Tensor, kind: Kind, attrs: &Attrs) -> Result<(), Exc> {
    if !kind.is_int() {
        return Err(Exc::runtime(format!("{name}(): Expected dtype int32/int64 for index")));
    }
    let shape = x.shape();
    let Some(Attr::Int(dim)) = attrs.get("dim") else { return Ok(()) };
    let at = if *dim < 0 { *dim + shape.len() as i64 } else { *dim };
    let Some(n) = usize::try_from(at).ok().and_then(|d| shape.get(d)) else { return Ok(()) };
    let n = *n as i64;
    let from = if name == "index_fill" { -n } else { 0 };
    let Some((_, v)) = outside(index, from..n, None) else { return Ok(()) };
    let beyond = format!("index {v} is out of bounds for dimension {at} with size {n}");
    Err(match name {
        "index_select" | "index_add" => Exc::index("index out of range in self"),
        "index_copy" => Exc::index(format!("index_copy_(): {beyond}")),
        "index_fill" => Exc::index(beyond),
        _ => Exc::runtime(beyond),
    })
}

/// Refuses rows of an embedding that are not there.
pub(crate) fn rows(weight: &Tensor, index: &Tensor, kind: Kind) -> Result<(), Exc> {
    if !kind.is_int() {
        return Err(Exc::runtime(format!(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got \
             torch.{}Tensor instead (while checking arguments for embedding)",
            kind.scalar_type()
        )));
    }
    let rows = weight.shape().first().copied().unwrap_or(0) as i64;
    outside(index, 0..rows, None).map_or(Ok(()), |_| Err(Exc::index("index out of range in self")))
}

/// Refuses labels beyond the number of classes.
pub(crate) fn labels(target: &Tensor, count: usize, attrs: &Attrs) -> Result<(), Exc> {
    let ignored = match attrs.get("ignore_index") {
        Some(Attr::Int(v)) => *v,
        _ => -100,
    };
    let wrong = outside(target, 0..count as i64, Some(ignored));
    wrong.map_or(Ok(()), |(_, v)| Err(Exc::index(format!("Target {v} is out of bounds."))))
}
