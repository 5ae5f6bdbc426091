//! `tensor[...] = value` where it lies: parts of tensors that nobody else holds, in time that depends on the part alone.

use aludel_python::Vm;
use aludel_python::objects::{Exc, Value, watch};
use aludel_tensor::Tensor;

use crate::cell::{TensorCell, cell};
use crate::index::{Item, bounds, items};
use crate::places::Bound;
use crate::state::raise;

/// Writes where numbers and slices name the part. False, with nothing done, where that cannot be done.
pub(crate) fn set(vm: &mut Vm, target: &TensorCell, index: &Value, value: &Value) -> Result<bool, Exc> {
    // In a turn that is watched everything is an operator, so that it can be repeated.
    if watch::on() {
        return Ok(false);
    }
    // A mask, a list or a tensor says which elements only when it is read.
    let parts = match index.plain() {
        Value::Tuple(parts) => parts.to_vec(),
        _ => vec![index.clone()],
    };
    if parts.iter().any(|p| !matches!(p.plain(), Value::Int(_) | Value::Slice(_) | Value::Ellipsis)) || target.is_view() {
        return Ok(false);
    }
    let x = target.get()?;
    let (shape, dtype, device) = (x.shape(), x.dtype(), x.device().clone());
    drop(x);
    let Some((region, kept)) = region(&items(vm, index)?, &shape) else { return Ok(false) };
    let count: usize = region.iter().map(|r| r.1).product();
    let source = match (cell(value), value.plain()) {
        (Some(t), _) => {
            let (of_kind, t) = (t.kind(), t.get()?);
            let of = t.shape();
            let same = of.iter().skip_while(|n| **n == 1).eq(kept.iter().skip_while(|n| **n == 1));
            if t.is_requires_grad() || of_kind != target.kind() || t.dtype() != dtype || !same {
                return Ok(false);
            }
            t
        }
        (None, Value::Int(_) | Value::Float(_)) if dtype.is_float() && count <= MAX_NUMBERS => {
            let number = match value.plain() {
                Value::Int(v) => *v as f64,
                Value::Float(v) => v.get(),
                _ => return Ok(false),
            };
            Tensor::full(&device, [count], number, dtype).map_err(raise)?
        }
        _ => return Ok(false),
    };
    target.write_region(&region, &source)
}

/// A number is written so many times at most from the host.
const MAX_NUMBERS: usize = 1 << 12;

// The elements that numbers and slices name, and the sizes of what they show; `None` for other parts, and where something is out of range.
#[expect(clippy::type_complexity, reason = "a region, and a shape")]
fn region(items: &[Item], shape: &[usize]) -> Option<(Vec<(usize, usize, usize)>, Vec<usize>)> {
    let named = items.iter().filter(|i| matches!(i, Item::At(_) | Item::Slice { .. })).count();
    let (mut region, mut kept) = (Vec::with_capacity(shape.len()), Vec::new());
    for item in items {
        let n = *shape.get(region.len()).unwrap_or(&0) as i64;
        match item {
            Item::At(at) => {
                let i = at.get();
                (-n..n).contains(&i).then_some(())?;
                region.push(((if i < 0 { i + n } else { i }) as usize, 1, 1));
            }
            Item::Slice { start, stop, step } => {
                let (start, stop) = bounds(start.map(Bound::get), stop.map(Bound::get), n);
                let step = usize::try_from(*step).ok().filter(|s| *s > 0)?;
                let length = ((stop - start) as usize).div_ceil(step);
                region.push((start as usize, length, step));
                kept.push(length);
            }
            Item::Rest => {
                for n in shape.iter().skip(region.len()).take(shape.len().checked_sub(named)?) {
                    region.push((0, *n, 1));
                    kept.push(*n);
                }
            }
            _ => return None,
        }
    }
    let rest = shape.get(region.len()..)?;
    region.extend(rest.iter().map(|n| (0, *n, 1)));
    kept.extend(rest);
    (region.len() == shape.len()).then_some((region, kept))
}
