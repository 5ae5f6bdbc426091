//! `array[...]`: numbers, slices, `None`, `...`, arrays of integers and masks.

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::objects::{Exc, Kind as ExcKind, Value};

use super::array::{Array, Type, array, axis, broadcast, count, text, wrap};
use super::{from_nested, of_kind};
use crate::cell::cell;
use crate::read::read;
use aludel_python::objects::Slice;
use aludel_tensor::Tensor;
use std::rc::Rc;

fn error(text: String) -> Exc {
    Exc::new(ExcKind::IndexError, text)
}

/// A view by numbers and slices, and the arrays that pick elements of it, each with its dimension.
pub(crate) struct Indexed {
    view: Array,
    lists: Vec<(usize, Array)>,
}

/// Goes on with an index whose tensors have become numbers and arrays: their values are read first.
pub(crate) fn settled(vm: &mut Vm, index: Value, then: impl FnOnce(&mut Vm, &Value) -> Result<Value, Exc> + 'static) -> Result<Value, Exc> {
    let mut tensors = Vec::new();
    tensors_of(&index, &mut tensors)?;
    if tensors.is_empty() {
        return then(vm, &index);
    }
    read(vm, tensors, move |vm, values| {
        let index = replaced(vm, &index, &mut values.into_iter())?;
        then(vm, &index)
    })
}

fn tensors_of(index: &Value, out: &mut Vec<Tensor>) -> Result<(), Exc> {
    if let Some(t) = cell(index) {
        out.push(t.get()?);
        return Ok(());
    }
    match index.plain() {
        Value::Tuple(parts) => parts.iter().try_for_each(|part| tensors_of(part, out)),
        Value::Slice(slice) => [&slice.start, &slice.stop, &slice.step].into_iter().try_for_each(|bound| tensors_of(bound, out)),
        _ => Ok(()),
    }
}

fn replaced(vm: &mut Vm, index: &Value, values: &mut std::vec::IntoIter<Vec<f64>>) -> Result<Value, Exc> {
    if let Some(t) = cell(index) {
        let (shape, kind) = (t.shape()?, of_kind(t.kind()));
        let values = values.next().unwrap_or_default();
        return match values[..] {
            [one] if shape.is_empty() && !t.kind().is_float() => Ok(Value::Int(one as i64)),
            _ => wrap(vm, Array::new(values, shape, kind)),
        };
    }
    match index.plain() {
        Value::Tuple(parts) => {
            let parts = parts.iter().map(|part| replaced(vm, part, values)).collect::<Result<Vec<_>, Exc>>()?;
            Ok(Value::tuple(parts))
        }
        Value::Slice(slice) => {
            let [start, stop, step] = [&slice.start, &slice.stop, &slice.step].map(|bound| replaced(vm, bound, values));
            Ok(Value::Slice(Rc::new(Slice { start: start?, stop: stop?, step: step? })))
        }
        _ => Ok(index.clone()),
    }
}

pub(crate) fn index(vm: &mut Vm, a: &Array, index: &Value) -> Result<Indexed, Exc> {
    let parts = match index.plain() {
        Value::Tuple(parts) => parts.to_vec(),
        _ => vec![index.clone()],
    };
    let mut items = Vec::new();
    let mut used = 0;
    for part in parts {
        let list = match (array(&part), part.plain()) {
            (Some(list), _) => Some(list.clone()),
            (None, Value::List(_)) => Some(from_nested(vm, &part, None)?),
            _ => None,
        };
        used += match (&list, part.plain()) {
            (Some(l), _) if l.kind == Type::Bool => l.shape.len(),
            (None, Value::None | Value::Ellipsis) => 0,
            _ => 1,
        };
        items.push((part, list));
    }
    let rank = a.shape.len();
    if used > rank {
        return Err(error(format!("too many indices for array: array is {rank}-dimensional, but {used} were indexed")));
    }
    let mut out = Indexed { view: Array { shape: Vec::new(), strides: Vec::new(), ..a.clone() }, lists: Vec::new() };
    let mut dim = 0;
    for (part, list) in items {
        if let Some(list) = list {
            dim = take_list(a, &mut out, list, dim)?;
            continue;
        }
        match part.plain() {
            Value::None => {
                out.view.shape.push(1);
                out.view.strides.push(0);
            }
            Value::Ellipsis => {
                for _ in 0..rank - used {
                    keep(a, &mut out.view, dim);
                    dim += 1;
                }
            }
            Value::Slice(slice) => {
                let bound = |v: &Value| match v {
                    Value::None | Value::Unbound => Ok(None),
                    v => v.to_i64().map(Some).ok_or_else(|| Exc::ty("slice indices must be integers or None or have an __index__ method")),
                };
                let (start, stop, step) = (bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?.unwrap_or(1));
                cut(a, &mut out.view, dim, start, stop, step)?;
                dim += 1;
            }
            plain => {
                let n = a.shape[dim];
                let Some(i) = plain.to_i64().filter(|_| plain.is_int()) else {
                    return Err(error(
                        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid \
                         indices"
                            .into(),
                    ));
                };
                let at = if i < 0 { i + n as i64 } else { i };
                if at < 0 || at >= n as i64 {
                    return Err(error(format!("index {i} is out of bounds for axis {dim} with size {n}")));
                }
                out.view.offset = (out.view.offset as isize + a.strides[dim] * at as isize) as usize;
                dim += 1;
            }
        }
    }
    for d in dim..rank {
        keep(a, &mut out.view, d);
    }
    Ok(out)
}

fn keep(a: &Array, view: &mut Array, dim: usize) {
    view.shape.push(a.shape[dim]);
    view.strides.push(a.strides[dim]);
}

fn cut(a: &Array, view: &mut Array, dim: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<(), Exc> {
    if step == 0 {
        return Err(Exc::value("slice step cannot be zero"));
    }
    let n = a.shape[dim] as i64;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |v: i64| (if v < 0 { v + n } else { v }).clamp(low, high);
    let start = start.map_or(if step > 0 { 0 } else { n - 1 }, clamp);
    let stop = stop.map_or(if step > 0 { n } else { -1 }, clamp);
    let span = if step > 0 { stop - start } else { start - stop };
    let count = if span <= 0 { 0 } else { (span - 1) / step.abs() + 1 };
    if count > 0 {
        view.offset = (view.offset as isize + a.strides[dim] * start as isize) as usize;
    }
    view.shape.push(count as usize);
    view.strides.push(a.strides[dim] * step as isize);
    Ok(())
}

/// A mask is as many lists as it has dimensions. Gives the next dimension of `a`.
fn take_list(a: &Array, out: &mut Indexed, list: Array, dim: usize) -> Result<usize, Exc> {
    if list.kind != Type::Bool {
        if list.kind.is_float() && list.len() > 0 {
            return Err(error("arrays used as indices must be of integer (or boolean) type".into()));
        }
        keep(a, &mut out.view, dim);
        out.lists.push((out.view.shape.len() - 1, list));
        return Ok(dim + 1);
    }
    for (d, n) in list.shape.iter().enumerate() {
        if a.shape[dim + d] != *n {
            let (have, want) = (n, a.shape[dim + d]);
            let text = format!(
                "boolean index did not match indexed array along axis {}; size of axis is {want} but size of corresponding boolean axis is {have}",
                dim + d
            );
            return Err(error(text));
        }
    }
    let places = crate::index::positions(&list.shape, &list.values());
    for (d, column) in places.into_iter().enumerate() {
        keep(a, &mut out.view, dim + d);
        let n = column.len();
        out.lists.push((out.view.shape.len() - 1, Array::new(column, vec![n], Type::I64)));
    }
    Ok(dim + list.shape.len())
}

impl Indexed {
    /// The elements as an array: a view where nothing was picked, else their places and shape.
    fn places(&self) -> Result<(Vec<usize>, Vec<usize>), Exc> {
        let mut picked: Vec<usize> = Vec::new();
        for (_, list) in &self.lists {
            picked = broadcast(&picked, &list.shape)?;
        }
        let n = count(&picked)?;
        let mut offsets = vec![0isize; n];
        for (d, list) in &self.lists {
            let size = self.view.shape[*d] as i64;
            for (at, v) in offsets.iter_mut().zip(list.broadcast(&picked)?.values()) {
                let i = if v < 0.0 { v as i64 + size } else { v as i64 };
                if i < 0 || i >= size {
                    return Err(error(format!("index {} is out of bounds for axis {d} with size {size}", v as i64)));
                }
                *at += self.view.strides[*d] * i as isize;
            }
        }
        let dims: Vec<usize> = self.lists.iter().map(|(d, _)| *d).collect();
        let together = dims.windows(2).all(|w| w[1] == w[0] + 1);
        let first = if together { dims[0] } else { 0 };
        let rest: Vec<usize> = (0..self.view.shape.len()).filter(|d| !dims.contains(d)).collect();
        let split = rest.iter().filter(|d| **d < first).count();
        let part = |dims: &[usize]| {
            let view = Array {
                shape: dims.iter().map(|d| self.view.shape[*d]).collect(),
                strides: dims.iter().map(|d| self.view.strides[*d]).collect(),
                offset: self.view.offset,
                ..self.view.clone()
            };
            let offset = view.offset as isize;
            view.places().into_iter().map(|p| p as isize - offset).collect::<Vec<isize>>()
        };
        let (before, after) = (part(&rest[..split]), part(&rest[split..]));
        let mut shape: Vec<usize> = rest[..split].iter().map(|d| self.view.shape[*d]).collect();
        shape.extend(&picked);
        shape.extend(rest[split..].iter().map(|d| self.view.shape[*d]));
        let mut out = Vec::with_capacity(count(&shape)?);
        for b in &before {
            for p in &offsets {
                for a in &after {
                    out.push((self.view.offset as isize + b + p + a) as usize);
                }
            }
        }
        Ok((out, shape))
    }

    pub fn read(self) -> Result<Array, Exc> {
        if self.lists.is_empty() {
            return Ok(self.view);
        }
        let (places, shape) = self.places()?;
        let data = self.view.data.borrow();
        Ok(Array::new(places.into_iter().map(|p| data[p]).collect(), shape, self.view.kind))
    }

    pub fn write(self, value: &Array) -> Result<(), Exc> {
        let (places, shape) = if self.lists.is_empty() { (self.view.places(), self.view.shape.clone()) } else { self.places()? };
        // Leading dimensions of one are let go.
        let extra = value.shape.len().saturating_sub(shape.len());
        if value.shape[..extra].iter().any(|n| *n != 1) {
            return Err(Exc::value(format!(
                "could not broadcast input array from shape {} into shape {}",
                text(&value.shape),
                text(&shape)
            )));
        }
        let value = Array { shape: value.shape[extra..].to_vec(), strides: value.strides[extra..].to_vec(), ..value.clone() };
        let values = value.broadcast(&shape)?.values();
        let mut data = self.view.data.borrow_mut();
        for (place, v) in places.into_iter().zip(values) {
            data[place] = self.view.kind.round(v);
        }
        Ok(())
    }
}

/// The axes of a reduction: all where none is given.
pub(crate) fn axes(value: &Value, rank: usize) -> Result<Vec<usize>, Exc> {
    let list = match value {
        Value::None | Value::Unbound => return Ok((0..rank).collect()),
        value => crate::convert::ints(value).ok_or_else(|| Exc::ty("an axis must be an integer or a tuple of integers"))?,
    };
    let mut out = list.into_iter().map(|d| axis(d, rank)).collect::<Result<Vec<_>, Exc>>()?;
    out.order();
    out.dedup();
    Ok(out)
}
