//! `tensor[...]`, read and written: numbers, slices, `None`, `...`, tensors of integers, masks and lists.

use aludel_ir::{Attrs, op::Attr};
use aludel_python::Vm;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use aludel_tensor::{Operand, Tensor, dispatch, record};

use crate::binder::row;
use crate::cell::{Step, TensorCell, cell, expect, host, one};
use crate::convert;
use crate::create::host_tensor;
use crate::kind::Kind;
use crate::places::{Bound, Moving};
use crate::read::read;
use crate::state::{raise, state, wrap};

/// One part of an index.
pub(crate) enum Item {
    At(Bound),
    Slice {
        start: Option<Bound>,
        stop: Option<Bound>,
        step: i64,
    },
    New,
    Rest,
    /// A new dimension, all of it for `True`, nothing of it for `False`.
    Flag(bool),
    /// Integers; a mask is as many of these as it has dimensions.
    List(Tensor),
    Mask(Tensor),
}

pub(crate) fn items(vm: &mut Vm, index: &Value) -> Result<Vec<Item>, Exc> {
    parts_of(index).iter().map(|part| item(vm, part)).collect()
}

fn parts_of(index: &Value) -> Vec<Value> {
    if index.marked().is_some() {
        return vec![index.clone()];
    }
    match index.plain() {
        Value::Tuple(parts) => parts.to_vec(),
        Value::List(list) if is_tuple_in_disguise(&list.borrow()) => list.borrow().to_vec(),
        _ => vec![index.clone()],
    }
}

/// As PyTorch reads a list: one that holds anything but numbers is an index for each dimension.
fn is_tuple_in_disguise(parts: &[Value]) -> bool {
    parts.len() < 32
        && parts.iter().any(|part| {
            cell(part).is_some()
                || matches!(part.plain(), Value::None | Value::Ellipsis | Value::Slice(_))
                || convert::sequence(part.plain()).is_some()
                || crate::numpy::as_index(part).is_some()
        })
}

fn item(vm: &mut Vm, part: &Value) -> Result<Item, Exc> {
    if let Some(t) = cell(part) {
        let x = t.get()?.detach();
        return match t.kind() {
            Kind::Bool | Kind::UInt8 => Ok(Item::Mask(x)),
            // Only a single number is a place: a turn that is repeated may have others in a list.
            k if k.is_int() && x.rank() == 0 => Ok(match crate::replay::log::values(&x).as_deref() {
                Some([v]) => Item::At(Bound::fixed(*v as i64)),
                _ => Item::List(x),
            }),
            k if k.is_int() => Ok(Item::List(x)),
            _ => Err(Exc::index("tensors used as indices must be long, int, byte or bool tensors")),
        };
    }
    if let Some((values, shape, mask)) = crate::numpy::as_index(part) {
        let device = state(vm)?.device.clone();
        let made = host_tensor(&device, &values, shape, if mask { Kind::Bool } else { Kind::Int64 })?;
        return Ok(if mask { Item::Mask(made) } else { Item::List(made) });
    }
    if let Some(bound) = Bound::marked(part) {
        return Ok(Item::At(bound));
    }
    match part.plain() {
        Value::None => Ok(Item::New),
        Value::Ellipsis => Ok(Item::Rest),
        Value::Bool(b) => Ok(Item::Flag(b.get())),
        Value::Slice(slice) => {
            let bound = |v: &Value| match v {
                Value::None => Ok(None),
                v => Bound::marked(v)
                    .or_else(|| convert::int(v).map(Bound::fixed))
                    .map(Some)
                    .ok_or_else(|| Exc::ty("slice indices must be integers or None or have an __index__ method")),
            };
            let step = bound(&slice.step)?.map_or(1, Bound::get);
            if step <= 0 {
                return Err(Exc::value("step must be greater than zero"));
            }
            Ok(Item::Slice { start: bound(&slice.start)?, stop: bound(&slice.stop)?, step })
        }
        plain => match convert::int(plain) {
            Some(i) => Ok(Item::At(Bound::fixed(i))),
            None if convert::sequence(plain).is_some() => {
                let nested = convert::nested(vm, plain)?;
                let kind = nested.kind.unwrap_or(Kind::Int64);
                let device = state(vm)?.device.clone();
                let t = host_tensor(&device, &nested.values, nested.shape, kind)?;
                Ok(if kind == Kind::Bool { Item::Mask(t) } else { Item::List(t) })
            }
            None if plain.as_str().is_some() => Err(Exc::ty("new(): invalid data type 'str'")),
            None => Err(Exc::index(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ".to_string()
                    + &crate::cell::type_text(part)
                    + ")",
            )),
        },
    }
}

/// Masks become positions, which takes their values; then `go_on` has none.
fn without_masks(
    vm: &mut Vm,
    of: &[usize],
    items: Vec<Item>,
    go_on: impl FnOnce(&mut Vm, Vec<Item>) -> Result<Value, Exc> + 'static,
) -> Result<Value, Exc> {
    let masks: Vec<Tensor> = items
        .iter()
        .filter_map(|i| match i {
            Item::Mask(t) => Some(t.clone()),
            _ => None,
        })
        .collect();
    if masks.is_empty() {
        return go_on(vm, items);
    }
    fitting_masks(of, &items)?;
    read(vm, masks, move |vm, values| {
        let device = state(vm)?.device.clone();
        let mut values = values.into_iter();
        let mut out = Vec::new();
        for item in items {
            let Item::Mask(mask) = &item else {
                out.push(item);
                continue;
            };
            let (shape, values) = (mask.shape(), values.next().unwrap_or_default());
            if shape.is_empty() {
                out.push(Item::Flag(values.first().is_some_and(|v| *v != 0.0)));
            }
            for places in positions(&shape, &values) {
                let n = places.len();
                out.push(Item::List(host_tensor(&device, &places, vec![n], Kind::Int64)?));
            }
        }
        go_on(vm, out)
    })
}

/// Refuses masks of other sizes than the dimensions that they choose from.
fn fitting_masks(of: &[usize], items: &[Item]) -> Result<(), Exc> {
    let width = |item: &Item| match item {
        Item::New | Item::Rest | Item::Flag(_) => 0,
        Item::Mask(mask) => mask.rank(),
        _ => 1,
    };
    let used: usize = items.iter().map(width).sum();
    let mut dim = 0;
    for item in items {
        if let Item::Mask(mask) = item {
            let have = mask.shape();
            if let Some(k) = (0..have.len()).find(|k| of.get(dim + k) != Some(&have[*k]) && dim + k < of.len()) {
                let text = format!(
                    "The shape of the mask {have:?} at index {k} does not match the shape of the indexed tensor {of:?} at index {}",
                    dim + k
                );
                return Err(Exc::index(text));
            }
        }
        dim += if matches!(item, Item::Rest) { of.len().saturating_sub(used) } else { width(item) };
    }
    Ok(())
}

/// For each dimension, where the elements are that are not zero.
pub(crate) fn positions(shape: &[usize], values: &[f64]) -> Vec<Vec<f64>> {
    let mut out = vec![Vec::new(); shape.len()];
    for (i, _) in values.iter().enumerate().filter(|(_, v)| **v != 0.0) {
        let mut rest = i;
        for d in (0..shape.len()).rev() {
            out[d].push((rest % shape[d]) as f64);
            rest /= shape[d];
        }
    }
    out
}

/// Where a slice of a dimension of `n` elements begins and ends.
pub(crate) fn bounds(start: Option<i64>, stop: Option<i64>, n: i64) -> (i64, i64) {
    let clip = |v: i64| if v < 0 { (v + n).max(0) } else { v.min(n) };
    let start = clip(start.unwrap_or(0));
    (start, clip(stop.unwrap_or(n)).max(start))
}

/// What is left for `index` after the parts that are views.
struct Planned {
    steps: Vec<Step>,
    value: Tensor,
    lists: Vec<Tensor>,
    dims: Vec<i64>,
}

fn plan(x: Tensor, items: Vec<Item>) -> Result<Planned, Exc> {
    let used = |i: &Item| !matches!(i, Item::New | Item::Rest | Item::Flag(_)) as usize;
    let count: usize = items.iter().map(used).sum();
    let rank = x.rank();
    if count > rank {
        return Err(Exc::index(if rank == 0 {
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
                .to_string()
        } else {
            format!("too many indices for tensor of dimension {rank}")
        }));
    }
    let mut planned = Planned { steps: Vec::new(), value: x, lists: Vec::new(), dims: Vec::new() };
    let mut dim = 0i64;
    // Dimensions that went and came before, for messages, which count the tensor's own.
    let mut gone = 0i64;
    for item in items {
        match item {
            Item::At(at) => {
                let n = planned.value.shape()[dim as usize] as i64;
                let i = at.value;
                if !(-n..n).contains(&i) {
                    return Err(Exc::index(format!("index {i} is out of bounds for dimension {} with size {n}", dim + gone)));
                }
                gone += 1;
                let attrs = Attrs::new().with("dim", dim).with("index", if i < 0 { i + n } else { i });
                planned.push("select", attrs, Moving::one(at, n))?;
            }
            Item::Slice { start: None, stop: None, step: 1 } => dim += 1,
            Item::Slice { start, stop, step } => {
                let n = planned.value.shape()[dim as usize] as i64;
                let moving = Moving::slice(start, stop, n);
                let (start, stop) = bounds(start.map(|b| b.value), stop.map(|b| b.value), n);
                if (start, stop, step) != (0, n, 1) {
                    let attrs = Attrs::new().with("dim", dim).with("start", start).with("end", stop).with("step", step);
                    planned.push("slice", attrs, moving)?;
                } else {
                    moving.observe();
                }
                dim += 1;
            }
            Item::New | Item::Flag(_) => {
                planned.push("unsqueeze", Attrs::new().with("dim", dim), Moving::default())?;
                // A truth value chooses the new dimension's one place, or none, and joins the other lists.
                if let Item::Flag(chosen) = item {
                    let places: &[f64] = if chosen { &[0.0] } else { &[] };
                    planned.lists.push(host_tensor(planned.value.device(), places, vec![places.len()], Kind::Int64)?);
                    planned.dims.push(dim);
                }
                (dim, gone) = (dim + 1, gone - 1);
            }
            Item::Rest => dim += rank as i64 - count as i64,
            Item::List(t) => {
                let n = planned.value.shape()[dim as usize] as i64;
                if let Some((_, wrong)) = crate::bounds::outside(&t, -n..n, None) {
                    // PyTorch counts what is indexed by tensors.
                    let which = planned.lists.len();
                    return Err(Exc::index(format!("index {wrong} is out of bounds for dimension {which} with size {n}")));
                }
                planned.lists.push(t);
                planned.dims.push(dim);
                dim += 1;
            }
            Item::Mask(_) => return Err(Exc::new(ExcKind::SystemError, "a mask was not resolved")),
        }
    }
    planned.joined()?;
    Ok(planned)
}

impl Planned {
    fn push(&mut self, name: &str, attrs: Attrs, moving: Moving) -> Result<(), Exc> {
        let def = row(name)?;
        record::operator(name);
        if let Some((value, moves)) = crate::places::taken(&self.value, name, &attrs, &moving)? {
            self.value = value;
            self.steps.push(Step { moves, ..Step::new(def, attrs, 0) });
            return Ok(());
        }
        moving.observe();
        let mut results = dispatch(def, &[Operand::Tensor(&self.value)], attrs.clone()).map_err(raise)?;
        self.value = results.pop().ok_or_else(|| Exc::new(ExcKind::SystemError, "a view gave nothing"))?;
        self.steps.push(Step::new(def, attrs, 0));
        Ok(())
    }

    /// The shape of the lists together.
    fn joined(&self) -> Result<Vec<usize>, Exc> {
        self.lists.iter().try_fold(Vec::new(), |shape, list| crate::numpy::broadcast(&shape, &list.shape())).map_err(|_| {
            let shapes: Vec<String> = self.lists.iter().map(|l| format!("{:?}", l.shape())).collect();
            let text = "shape mismatch: indexing tensors could not be broadcast together with shapes ".to_string();
            Exc::index(text + &shapes.join(", "))
        })
    }

    /// What is written, without leading dimensions of one that the place has not.
    fn fitted(&self, given: Tensor) -> Result<Tensor, Exc> {
        let lists = self.joined()?;
        let (first, last) = (self.dims[0] as usize, self.dims[self.dims.len() - 1] as usize);
        let at = if last + 1 - first == self.dims.len() { first } else { 0 };
        let mut want: Vec<usize> = self.value.shape();
        for dim in self.dims.iter().rev() {
            want.remove(*dim as usize);
        }
        want.splice(at..at, lists);
        let have = given.shape();
        let given = crate::inplace::without_leading_ones(given, want.len())?;
        let kept = given.shape();
        if kept.len() > want.len() || kept.iter().rev().zip(want.iter().rev()).any(|(h, w)| h != w && *h != 1) {
            let text = format!("shape mismatch: value tensor of shape {have:?} cannot be broadcast to indexing result of shape {want:?}");
            return Err(Exc::new(ExcKind::RuntimeError, text));
        }
        Ok(given)
    }

    fn dims(&self) -> Attr {
        Attr::Ints(self.dims.clone())
    }
}

/// Single numbers on a device that an index names, as slices' bounds or places: they are read first.
fn numbers(index: &Value) -> Result<Vec<Value>, Exc> {
    let mut out = Vec::new();
    for part in parts_of(index) {
        let bounds = match part.bare() {
            Value::Slice(s) => vec![s.start.clone(), s.stop.clone(), s.step.clone()],
            _ => vec![part.clone()],
        };
        for bound in bounds {
            if let Some(t) = cell(&bound)
                && t.kind().is_int()
                && t.get()?.rank() == 0
                && crate::replay::log::values(&t.get()?).is_none()
            {
                out.push(bound);
            }
        }
    }
    Ok(out)
}

/// The index with those numbers in it.
fn with_numbers(index: &Value, known: &[(Value, Value)]) -> Value {
    let number = |v: &Value| known.iter().find(|(t, _)| t.is(v)).map_or_else(|| v.clone(), |(_, n)| n.clone());
    match index.plain() {
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|p| with_numbers(p, known)).collect()),
        Value::Slice(s) => Value::Slice(std::rc::Rc::new(aludel_python::objects::Slice {
            start: number(&s.start),
            stop: number(&s.stop),
            step: number(&s.step),
        })),
        _ => number(index),
    }
}

/// Goes on with an index whose single numbers are known.
fn with_known(vm: &mut Vm, index: Value, go_on: impl FnOnce(&mut Vm, Value) -> Result<Value, Exc> + 'static) -> Result<Value, Exc> {
    let found = numbers(&index)?;
    if found.is_empty() {
        return go_on(vm, index);
    }
    // A turn that may be repeated follows them.
    let marked = |v: &Value| crate::replay::log::item(&expect(v, "index")?.get()?, Kind::Int64);
    let followed = found.iter().map(marked).collect::<Result<Option<Vec<Value>>, Exc>>()?;
    if let Some(numbers) = followed {
        let known: Vec<(Value, Value)> = found.into_iter().zip(numbers).collect();
        return go_on(vm, with_numbers(&index, &known));
    }
    let tensors = found.iter().map(|v| expect(v, "index")?.get()).collect::<Result<Vec<_>, Exc>>()?;
    read(vm, tensors, move |vm, values| {
        let known: Vec<(Value, Value)> = found.into_iter().zip(values).map(|(t, v)| (t, Value::Int(v[0] as i64))).collect();
        go_on(vm, with_numbers(&index, &known))
    })
}

/// `x[index]`.
pub(crate) fn get(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, "__getitem__", args));
    }
    let [object, index] = args.exactly::<2>("__getitem__")?;
    if expect(&object, "__getitem__")?.is_meta() {
        // The view of elements that are not there has none either.
        let made = with_known(vm, index, move |vm, index| get_known(vm, object, &index))?;
        expect(&made, "__getitem__")?.set_meta(true);
        return Ok(made);
    }
    with_known(vm, index, move |vm, index| get_known(vm, object, &index))
}

fn get_known(vm: &mut Vm, object: Value, index: &Value) -> Result<Value, Exc> {
    let x = expect(&object, "__getitem__")?.get()?;
    let parts = items(vm, index)?;
    without_masks(vm, &x.shape(), parts, move |vm, parts| {
        let kind = expect(&object, "__getitem__")?.kind();
        let planned = plan(x, parts)?;
        if planned.lists.is_empty() {
            return view(vm, &object, planned, kind);
        }
        let mut operands = vec![Operand::Tensor(&planned.value)];
        operands.extend(planned.lists.iter().map(Operand::Tensor));
        let attrs = with(Attrs::new(), "dims", planned.dims());
        let mut results = dispatch(row("index")?, &operands, attrs).map_err(raise)?;
        let made = results.pop().ok_or_else(|| Exc::new(ExcKind::SystemError, "index gave nothing"))?;
        wrap(vm, made, kind)
    })
}

fn with(attrs: Attrs, name: &str, value: Attr) -> Attrs {
    match value {
        Attr::Ints(v) => attrs.with(name, v),
        _ => attrs,
    }
}

/// The object of a chain of views.
fn view(vm: &mut Vm, object: &Value, planned: Planned, kind: Kind) -> Result<Value, Exc> {
    let value = wrap(vm, planned.value, kind)?;
    let (Value::Instance(base), Value::Instance(made)) = (object, &value) else { return Ok(value) };
    let mut from = base.clone();
    let steps = planned.steps;
    let count = steps.len();
    if count == 0 {
        host(made)?.set_view(&from, Step::new(row("reshape")?, Attrs::new().with("shape", shape_of(made)?), 0))?;
    }
    for (i, step) in steps.into_iter().enumerate() {
        if i + 1 == count {
            host(made)?.set_view(&from, step)?;
        } else {
            // A link of the chain; its value is made where it is asked for.
            let link = TensorCell::new(host(&from)?.get()?, kind);
            let link =
                aludel_python::objects::Instance::new(made.class().clone(), aludel_python::objects::class::Inner::Host(Box::new(link)));
            host(&link)?.set_view(&from, step)?;
            from = link;
        }
    }
    Ok(value)
}

fn shape_of(made: &std::rc::Rc<aludel_python::objects::Instance>) -> Result<Vec<i64>, Exc> {
    Ok(host(made)?.get()?.shape().iter().map(|n| *n as i64).collect())
}

/// `x[index] = value`.
pub(crate) fn set(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, "__setitem__", args));
    }
    let [object, index, value] = args.exactly::<3>("__setitem__")?;
    with_known(vm, index, move |vm, index| set_known(vm, object, &index, value))
}

fn set_known(vm: &mut Vm, object: Value, index: &Value, value: Value) -> Result<Value, Exc> {
    let target = expect(&object, "__setitem__")?;
    crate::inplace::check_part(target)?;
    if crate::part::set(vm, target, index, &value)? {
        return Ok(Value::None);
    }
    let (x, kind) = (target.get()?, target.kind());
    let given = match cell(&value) {
        Some(t) if kind.is_int() && t.kind() != kind && t.kind().is_int() => crate::kind::narrow(t.get()?, kind)?,
        Some(t) => t.get()?,
        None => {
            let nested = convert::nested(vm, &value)?;
            let device = x.device().clone();
            let of = nested.kind.unwrap_or(kind);
            let of = if of.category() > kind.category() && kind != Kind::Bool { kind } else { of };
            host_tensor(&device, &nested.values, nested.shape, of)?
        }
    };
    let parts = items(vm, index)?;
    // One number under a mask of the whole needs no positions.
    if let [Item::Mask(mask)] = &parts[..]
        && given.numel() == 1
        && mask.rank() <= x.rank()
    {
        return fill_masked(target, &x, mask, &given);
    }
    without_masks(vm, &x.shape(), parts, move |vm, parts| {
        let planned = plan(x, parts)?;
        if planned.lists.is_empty() {
            let shown = view(vm, &object, planned, kind)?;
            let into = expect(&shown, "__setitem__")?;
            let old = into.get()?;
            check_fits(&given.shape(), &old.shape())?;
            crate::inplace::copy(into, &old, given)?;
            return Ok(Value::None);
        }
        let given = planned.fitted(given)?;
        let (lists, dims, old) = (planned.lists.clone(), planned.dims(), planned.value.clone());
        let given = if given.dtype() == old.dtype() { given } else { one("to", &[&given], Attrs::new().with("dtype", old.dtype()))? };
        let mut operands = vec![Operand::Tensor(&old), Operand::Tensor(&given)];
        operands.extend(lists.iter().map(Operand::Tensor));
        let mut results = dispatch(row("index_put")?, &operands, with(Attrs::new(), "dims", dims)).map_err(raise)?;
        let made = results.pop().ok_or_else(|| Exc::new(ExcKind::SystemError, "index_put gave nothing"))?;
        if planned.steps.is_empty() {
            expect(&object, "__setitem__")?.write(made)?;
        } else {
            let shown = view(vm, &object, planned, kind)?;
            expect(&shown, "__setitem__")?.write(made)?;
        }
        Ok(Value::None)
    })
}

// Whether a value can be expanded to the part that it replaces.
fn check_fits(have: &[usize], want: &[usize]) -> Result<(), Exc> {
    let differs = |(h, w): (&usize, &usize)| h != w && *h != 1;
    let at = have.iter().rev().zip(want.iter().rev()).position(differs);
    let Some(at) = at.filter(|_| have.len() <= want.len()) else { return Ok(()) };
    let (size, is) = (want[want.len() - 1 - at], have[have.len() - 1 - at]);
    let text = format!(
        "The expanded size of the tensor ({size}) must match the existing size ({is}) at non-singleton dimension {}.  \
         Target sizes: {want:?}.  Tensor sizes: {have:?}",
        want.len() - 1 - at
    );
    Err(Exc::new(ExcKind::RuntimeError, text))
}

fn fill_masked(target: &TensorCell, x: &Tensor, mask: &Tensor, given: &Tensor) -> Result<Value, Exc> {
    let (have, want) = (mask.shape(), x.shape());
    if have != want[..have.len()] {
        let text = format!("The shape of the mask {have:?} at index 0 does not match the shape of the indexed tensor {want:?} at index 0");
        return Err(Exc::index(text));
    }
    let mut shape: Vec<i64> = have.iter().map(|n| *n as i64).collect();
    shape.resize(want.len(), 1);
    let mask = one("to", &[mask], Attrs::new().with("dtype", aludel_ir::DType::Bool))?;
    let mask = one("reshape", &[&mask], Attrs::new().with("shape", shape))?;
    let given = one("to", &[given], Attrs::new().with("dtype", x.dtype()))?;
    let given = one("reshape", &[&given], Attrs::new().with("shape", Vec::<i64>::new()))?;
    target.write(one("where", &[&mask, &given, x], Attrs::new())?)?;
    Ok(Value::None)
}
