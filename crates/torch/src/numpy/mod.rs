//! The module `_numpy`: arrays on the host for `lib/numpy`. They compute in f64; the device takes no part.

mod array;
mod compute;
mod generator;
mod index;
mod legacy;
mod random;

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::builtins::{Def, class, namespace};
use aludel_python::objects::{Args, Dict, Exc, Kind as ExcKind, Octets, Value};
pub(crate) use array::broadcast;
use array::{Array, Type, array, axis, count, dense, wrap};
use std::rc::Rc;

use crate::bytes::{bytes_of, decode, encode};
use crate::cell::{cell, expect, type_text};
use crate::convert;
use crate::kind::Kind;
use crate::read::read;

const FUNCTIONS: &[Def] = &[
    Def::new("array", new).slow(""),
    Def::new("full", full),
    Def::new("counted", counted),
    Def::new("unary", unary),
    Def::new("binary", binary),
    Def::new("select", select),
    Def::new("reduce", reduce),
    Def::new("along", along),
    Def::new("matmul", matmul),
    Def::new("getitem", getitem),
    Def::new("setitem", setitem),
    Def::new("reshape", reshape),
    Def::new("transpose", transpose),
    Def::new("broadcast_to", broadcast_to),
    Def::new("astype", astype),
    Def::new("cat", cat),
    Def::new("tolist", tolist),
    Def::new("shape", shape),
    Def::new("strides", strides),
    Def::new("kind", kind),
    Def::new("from_tensor", from_tensor),
    Def::new("to_tensor", to_tensor),
    Def::new("frombuffer", frombuffer),
    Def::new("tobytes", tobytes),
    Def::new("shares", shares),
    Def::new("strided", strided),
    Def::new("matrices", matrices),
];

pub(crate) fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, FUNCTIONS);
    let names = namespace(vm, random::FUNCTIONS);
    for (name, value) in names.borrow().iter() {
        if let Value::Str(name) = name {
            module.set_str(name, value.clone());
        }
    }
    let ndarray = class(vm, "ndarray", &[]);
    ndarray.attrs.set("__module__", Value::str("numpy"));
    module.set("ndarray", Value::Class(ndarray.clone()));
    let state = class(vm, "RandomState", &[]);
    module.set("State", Value::Class(state.clone()));
    vm.state.insert("numpy", Box::new(ndarray));
    vm.state.insert("numpy.random", Box::new(state));
    module
}

/// `matrices(name, a, b)`: what a decomposition gives of every matrix of a batch; `None` where one of them has none.
fn matrices(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a, b] = args.bind("matrices", &["name", "a", "b"], 2)?;
    let a = need(&a, "linalg")?;
    let b = array(&b).map(|b| (b.values(), b.shape.clone()));
    let right = b.as_ref().map(|(v, s)| (v.as_slice(), s.as_slice()));
    let found = crate::linalg::batched(name.as_str().unwrap_or_default(), &a.values(), &a.shape, right, f64::EPSILON)?;
    let Some(parts) = found else { return Ok(Value::None) };
    let kind = if a.kind == Type::F32 { Type::F32 } else { Type::F64 };
    let made: Result<Vec<Value>, Exc> = parts.into_iter().map(|(v, shape)| wrap(vm, Array::new(v, shape, kind))).collect();
    Ok(Value::tuple(made?))
}

/// An array as an index of a tensor: its values and shape, and whether it is a mask; `None` of anything else.
pub(crate) fn as_index(value: &Value) -> Option<(Vec<f64>, Vec<usize>, bool)> {
    array(value).filter(|a| !a.kind.is_float()).map(|a| (a.values(), a.shape.clone(), a.kind == Type::Bool))
}

fn need<'v>(value: &'v Value, what: &str) -> Result<&'v Array, Exc> {
    array(value).ok_or_else(|| Exc::ty(format!("{what}() needs an array, not {}", type_text(value))))
}

fn type_of(value: &Value) -> Result<Option<Type>, Exc> {
    match value {
        Value::None | Value::Unbound => Ok(None),
        value => match value.as_str().and_then(Type::named) {
            Some(kind) => Ok(Some(kind)),
            None => Err(Exc::ty(format!("data type '{}' not understood", value.as_str().unwrap_or("?")))),
        },
    }
}

/// A nested list of numbers and arrays.
pub(crate) fn from_nested(vm: &mut Vm, value: &Value, kind: Option<Type>) -> Result<Array, Exc> {
    if let Some(a) = array(value) {
        let kind = kind.unwrap_or(a.kind);
        return Ok(Array::rounded(a.values(), a.shape.clone(), kind));
    }
    let mut out = Nested { values: Vec::new(), shape: Vec::new(), kind: None };
    collect(value, 0, &mut out)?;
    vm.reserve(out.values.len() * 8)?;
    let kind = kind.or(out.kind).unwrap_or(Type::F64);
    Ok(Array::rounded(out.values, out.shape, kind))
}

struct Nested {
    values: Vec<f64>,
    shape: Vec<usize>,
    kind: Option<Type>,
}

fn collect(value: &Value, depth: usize, out: &mut Nested) -> Result<(), Exc> {
    let uneven = || {
        Exc::value(format!(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after {depth} dimensions."
        ))
    };
    let mut leaf = |values: Vec<f64>, shape: &[usize], kind: Type| {
        if out.values.is_empty() && out.shape.len() == depth {
            out.shape.extend(shape);
        }
        if out.shape.get(depth..) != Some(shape) {
            return Err(uneven());
        }
        out.values.extend(values);
        out.kind = Some(out.kind.map_or(kind, |k| k.promote(kind)));
        Ok(())
    };
    if depth > 32 {
        return Err(Exc::value("setting an array element with a sequence: lists are nested more than 32 deep"));
    }
    if let Some(a) = array(value) {
        return leaf(a.values(), &a.shape, a.kind);
    }
    if let Some(t) = cell(value) {
        let (x, kind) = (t.get()?, of_kind(t.kind()));
        let values = crate::replay::log::values(&x).ok_or_else(|| {
            Exc::new(ExcKind::NotImplementedError, "numpy.array of lists of tensors that are on a device; use torch.stack(..).numpy()")
        })?;
        return leaf(values, &x.shape(), kind);
    }
    match value.plain() {
        Value::Bool(b) => leaf(vec![f64::from(u8::from(b.get()))], &[], Type::Bool),
        Value::Int(v) => leaf(vec![*v as f64], &[], Type::I64),
        Value::Float(v) => leaf(vec![v.get()], &[], Type::F64),
        Value::Big(_) => Err(Exc::new(ExcKind::OverflowError, "Python integer does not fit into int64")),
        plain => {
            let items = convert::sequence(plain).ok_or_else(|| Exc::ty(format!("numpy arrays of {} are not there", type_text(value))))?;
            if out.shape.len() == depth {
                if !out.values.is_empty() {
                    return Err(uneven());
                }
                out.shape.push(items.len());
            } else if out.shape[depth] != items.len() {
                return Err(uneven());
            }
            items.iter().try_for_each(|item| collect(item, depth + 1, out))
        }
    }
}

fn new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data, dtype] = args.bind("array", &["object", "dtype"], 1)?;
    let data = match data {
        Value::Generator(_) | Value::Iterator(_) | Value::Set(_) => Value::list(vm.items_of(&data)?),
        // A deque, a user's sequence.
        Value::Instance(_) if matches!(data.plain(), Value::Instance(_)) && array(&data).is_none() && cell(&data).is_none() => {
            Value::list(vm.items_of(&data)?)
        }
        data => data,
    };
    convert::fits(vm, &data)?;
    let made = from_nested(vm, &data, type_of(&dtype)?)?;
    wrap(vm, made)
}

fn sizes(value: &Value) -> Result<Vec<usize>, Exc> {
    // A tensor of one whole number has it too, where its value is on the host.
    let list = convert::ints(value).or_else(|| convert::int(value).map(|n| vec![n]));
    let list = list.ok_or_else(|| Exc::ty("a shape must be an integer or a tuple of integers"))?;
    list.iter().map(|n| usize::try_from(*n).map_err(|_| Exc::value("negative dimensions are not allowed"))).collect()
}

fn full(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [shape, value, dtype] = args.exactly::<3>("full")?;
    let shape = sizes(&shape)?;
    let kind = type_of(&dtype)?.unwrap_or(Type::F64);
    let n = count(&shape)?;
    vm.reserve(n * 8)?;
    let value = kind.round(value.to_f64().ok_or_else(|| Exc::ty("full() needs a number"))?);
    wrap(vm, Array::new(vec![value; n], shape, kind))
}

/// The whole numbers below `n`.
fn counted(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [n, kind] = args.exactly::<2>("counted")?;
    let shape = sizes(&n)?;
    let n = count(&shape)?;
    vm.reserve(n.saturating_mul(8))?;
    wrap(vm, Array::new((0..n).map(|i| i as f64).collect(), shape, type_of(&kind)?.unwrap_or(Type::I64)))
}

/// An operand: an array, or a number, whose type counts only by its category.
fn operand(value: &Value) -> Result<(Array, bool), Exc> {
    if let Some(a) = array(value) {
        return Ok((a.clone(), false));
    }
    let (v, kind) = match value.plain() {
        Value::Bool(b) => (f64::from(u8::from(b.get())), Type::Bool),
        Value::Float(v) => (v.get(), Type::F64),
        plain => (plain.to_f64().ok_or_else(|| Exc::ty(format!("unsupported operand for an array: {}", type_text(value))))?, Type::I64),
    };
    Ok((Array::new(vec![v], Vec::new(), kind), true))
}

/// The common type of two operands, of which numbers of Python are weak.
fn common(a: &(Array, bool), b: &(Array, bool)) -> Type {
    match (a.1, b.1) {
        (false, true) => weak(a.0.kind, b.0.kind),
        (true, false) => weak(b.0.kind, a.0.kind),
        _ => a.0.kind.promote(b.0.kind),
    }
}

fn weak(strong: Type, number: Type) -> Type {
    if number.category() > strong.category() { number } else { strong }
}

fn unary(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a] = args.exactly::<2>("unary")?;
    let (a, number) = operand(&a)?;
    let made = compute::unary(name.as_str().unwrap_or_default(), &a)?;
    scalar_or(vm, made, number)
}

/// A number where only numbers went in.
fn scalar_or(vm: &mut Vm, made: Array, number: bool) -> Result<Value, Exc> {
    if number && made.shape.is_empty() { Ok(made.kind.python(made.values()[0])) } else { wrap(vm, made) }
}

fn binary(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a, b] = args.exactly::<3>("binary")?;
    let (mut a, mut b) = (operand(&a)?, operand(&b)?);
    let kind = common(&a, &b);
    // A number of Python takes the array's precision before anything is done with it.
    if a.1 != b.1 && kind.is_float() {
        let number = if a.1 { &mut a.0 } else { &mut b.0 };
        *number = Array::rounded(number.values(), Vec::new(), kind);
    }
    let made = compute::binary(name.as_str().unwrap_or_default(), &a.0, &b.0, kind)?;
    vm.reserve(made.len() * 8)?;
    scalar_or(vm, made, a.1 && b.1)
}

fn select(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [c, a, b] = args.exactly::<3>("where")?;
    let (c, a, b) = (operand(&c)?, operand(&a)?, operand(&b)?);
    let made = compute::select(&c.0, &a.0, &b.0, common(&a, &b))?;
    wrap(vm, made)
}

fn reduce(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a, axis, keep, ddof] = args.exactly::<5>("reduce")?;
    let a = need(&a, "reduce")?;
    let axes = index::axes(&axis, a.shape.len())?;
    let keep = matches!(keep, Value::Bool(b) if b.get());
    let made = compute::reduce(name.as_str().unwrap_or_default(), a, &axes, keep, ddof.to_f64().unwrap_or(0.0))?;
    element_or(vm, made)
}

/// An element of a Python type as a number; of another one as an array without dimensions, which prints as NumPy's scalars do.
fn element_or(vm: &mut Vm, made: Array) -> Result<Value, Exc> {
    if made.shape.is_empty() && matches!(made.kind, Type::Bool | Type::I64 | Type::F64) {
        return Ok(made.kind.python(made.values()[0]));
    }
    wrap(vm, made)
}

fn along(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a, axis] = args.exactly::<3>("along")?;
    let made = compute::along(name.as_str().unwrap_or_default(), need(&a, "along")?, axis.to_i64().unwrap_or(-1))?;
    wrap(vm, made)
}

fn matmul(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("matmul")?;
    let (a, b) = (need(&a, "matmul")?, need(&b, "matmul")?);
    let made = compute::matmul(a, b, a.kind.promote(b.kind))?;
    element_or(vm, made)
}

fn getitem(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, at] = args.exactly::<2>("getitem")?;
    index::settled(vm, at, move |vm, at| {
        let made = index::index(vm, need(&a, "getitem")?, at)?.read()?;
        element_or(vm, made)
    })
}

fn setitem(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, at, value] = args.exactly::<3>("setitem")?;
    index::settled(vm, at, move |vm, at| {
        let place = index::index(vm, need(&a, "setitem")?, at)?;
        let value = from_nested(vm, &value, None)?;
        place.write(&value)?;
        Ok(Value::None)
    })
}

fn reshape(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, shape] = args.exactly::<2>("reshape")?;
    let a = need(&a, "reshape")?;
    let given = convert::ints(&shape).ok_or_else(|| Exc::ty("a shape must be an integer or a tuple of integers"))?;
    let known: i64 = given.iter().filter(|n| **n >= 0).product();
    let n = a.len();
    let shape: Vec<usize> =
        given.iter().map(|s| if *s < 0 && known > 0 { n / known as usize } else { usize::try_from(*s).unwrap_or(0) }).collect();
    if given.iter().filter(|s| **s < 0).count() > 1 || count(&shape)? != n {
        let text: Vec<String> = given.iter().map(i64::to_string).collect();
        let text = if let [one] = &text[..] { format!("({one},)") } else { format!("({})", text.join(",")) };
        return Err(Exc::value(format!("cannot reshape array of size {n} into shape {text}")));
    }
    // A dense array is seen in another shape, others are copied, as in NumPy.
    let made = if a.is_dense() { Array { strides: dense(&shape), shape, ..a.clone() } } else { Array::new(a.values(), shape, a.kind) };
    wrap(vm, made)
}

fn transpose(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, axes] = args.exactly::<2>("transpose")?;
    let a = need(&a, "transpose")?;
    let rank = a.shape.len();
    let order = match &axes {
        Value::None => (0..rank).rev().collect(),
        axes => {
            let list = convert::ints(axes).unwrap_or_default();
            list.into_iter().map(|d| axis(d, rank)).collect::<Result<Vec<_>, Exc>>()?
        }
    };
    let mut seen = order.clone();
    seen.order();
    if !seen.into_iter().eq(0..rank) {
        return Err(Exc::value("axes don't match array"));
    }
    let made =
        Array { shape: order.iter().map(|d| a.shape[*d]).collect(), strides: order.iter().map(|d| a.strides[*d]).collect(), ..a.clone() };
    wrap(vm, made)
}

fn broadcast_to(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, shape] = args.exactly::<2>("broadcast_to")?;
    let shape = sizes(&shape)?;
    count(&shape)?;
    let made = need(&a, "broadcast_to")?.broadcast(&shape)?;
    wrap(vm, made)
}

fn astype(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, dtype] = args.exactly::<2>("astype")?;
    let a = need(&a, "astype")?;
    let kind = type_of(&dtype)?.unwrap_or(a.kind);
    vm.reserve(a.len() * 8)?;
    wrap(vm, Array::rounded(a.values(), a.shape.clone(), kind))
}

fn cat(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [list, dim] = args.exactly::<2>("concatenate")?;
    let list = convert::sequence(&list).ok_or_else(|| Exc::ty("concatenate() needs a list of arrays"))?;
    let parts = list.iter().map(|v| from_nested(vm, v, None)).collect::<Result<Vec<_>, Exc>>()?;
    let first = parts.first().ok_or_else(|| Exc::value("need at least one array to concatenate"))?;
    let d = axis(dim.to_i64().unwrap_or(0), first.shape.len()).map_err(|_| Exc::value("zero-dimensional arrays cannot be concatenated"))?;
    let mut shape = first.shape.clone();
    shape[d] = 0;
    let mut kind = first.kind;
    for p in &parts {
        let at = parts.iter().position(|q| std::ptr::eq(p, q)).unwrap_or(0);
        if p.shape.len() != shape.len() {
            let (a, b) = (shape.len(), p.shape.len());
            return Err(Exc::value(format!(
                "all the input arrays must have same number of dimensions, but the array at index 0 has {a} dimension(s) and the array at index {at} has {b} dimension(s)"
            )));
        }
        if let Some(i) = (0..shape.len()).find(|i| *i != d && p.shape[*i] != shape[*i]) {
            let (a, b) = (shape[i], p.shape[i]);
            return Err(Exc::value(format!(
                "all the input array dimensions except for the concatenation axis must match exactly, but along dimension {i}, the array at index 0 has size {a} and the array at index {at} has size {b}"
            )));
        }
        shape[d] += p.shape[d];
        kind = kind.promote(p.kind);
    }
    let n = count(&shape)?;
    vm.reserve(n * 8)?;
    let outer: usize = shape[..d].iter().product();
    let mut values = Vec::with_capacity(n);
    let read: Vec<Vec<f64>> = parts.iter().map(Array::values).collect();
    for i in 0..outer {
        for v in &read {
            let each = v.len() / outer.max(1);
            values.extend(&v[i * each..(i + 1) * each]);
        }
    }
    wrap(vm, Array::rounded(values, shape, kind))
}

fn tolist(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("tolist")?;
    let a = need(&a, "tolist")?;
    vm.reserve(a.len() * 16)?;
    let mut numbers = a.values().into_iter().map(|v| a.kind.python(v));
    Ok(crate::create::nest(&a.shape, &mut numbers))
}

fn shape(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("shape")?;
    Ok(Value::tuple(need(&a, "shape")?.shape.iter().map(|n| Value::from(*n)).collect()))
}

/// In elements.
fn strides(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("strides")?;
    Ok(Value::tuple(need(&a, "strides")?.strides.iter().map(|n| Value::Int(*n as i64)).collect()))
}

/// `strided(a, shape, strides)`: its elements in another shape, with steps counted in elements; all of them have to be there.
fn strided(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, shape, strides] = args.exactly::<3>("as_strided")?;
    let (a, shape) = (need(&a, "as_strided")?, sizes(&shape)?);
    let strides: Vec<isize> = convert::ints(&strides).unwrap_or_default().iter().map(|n| *n as isize).collect();
    if count(&shape)? > 0 {
        let reach = |end: fn(isize) -> isize| -> isize {
            let parts = shape.iter().zip(&strides).map(|(n, s)| end((*n as isize - 1).saturating_mul(*s)));
            parts.fold(a.offset as isize, isize::saturating_add)
        };
        if strides.len() != shape.len() || reach(|v| v.min(0)) < 0 || reach(|v| v.max(0)) >= a.data.borrow().len() as isize {
            return Err(Exc::value("given strides are out of bounds for the array's elements"));
        }
    }
    wrap(vm, Array { shape, strides, ..a.clone() })
}

fn kind(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("dtype")?;
    Ok(Value::str(need(&a, "dtype")?.kind.name()))
}

fn shares(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("shares_memory")?;
    Ok(Value::bool(Rc::ptr_eq(&need(&a, "shares_memory")?.data, &need(&b, "shares_memory")?.data)))
}

fn of_kind(kind: Kind) -> Type {
    match kind {
        Kind::BFloat16 => Type::F32,
        kind => Type::named(kind.name()).unwrap_or(Type::F64),
    }
}

fn to_kind(kind: Type) -> Result<Kind, Exc> {
    Kind::ALL.into_iter().find(|k| k.name() == kind.name()).ok_or_else(|| {
        let text = format!("can't convert np.ndarray of type numpy.{}. The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.", kind.name());
        Exc::ty(text)
    })
}

fn from_tensor(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("numpy")?;
    let from = expect(&x, "numpy")?;
    if from.kind() == Kind::BFloat16 {
        return Err(Exc::ty("Got unsupported ScalarType BFloat16"));
    }
    let (value, kind) = (from.get()?.detach(), of_kind(from.kind()));
    let shape = value.shape();
    vm.reserve(value.numel() * 8)?;
    read(vm, vec![value], move |vm, mut values| wrap(vm, Array::new(values.swap_remove(0), shape, kind)))
}

pub(crate) fn is_array(value: &Value) -> bool {
    array(value).is_some()
}

pub(crate) fn to_tensor(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("from_numpy")?;
    let a = need(&a, "from_numpy")?;
    let kind = to_kind(a.kind)?;
    crate::create::from_values(vm, &a.values(), a.shape.clone(), kind)
}

fn frombuffer(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data, dtype] = args.exactly::<2>("frombuffer")?;
    let bytes = bytes_of(&data, "frombuffer")?.clone();
    let kind = type_of(&dtype)?.unwrap_or(Type::F64);
    let n = bytes.len() / kind.bytes();
    if n * kind.bytes() != bytes.len() {
        return Err(Exc::value("buffer size must be a multiple of element size"));
    }
    vm.reserve(n * 8)?;
    let values = match kind {
        Type::U16 => bytes.chunks_exact(2).map(|b| f64::from(u16::from_le_bytes([b[0], b[1]]))).collect(),
        Type::U32 => bytes.chunks_exact(4).map(|b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect(),
        kind => {
            let kind = to_kind(kind)?;
            (0..n).filter_map(|i| decode(&bytes, i * kind.bytes(), kind)).collect()
        }
    };
    wrap(vm, Array::new(values, vec![n], kind))
}

fn tobytes(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("tobytes")?;
    let a = need(&a, "tobytes")?;
    vm.reserve(a.len() * a.kind.bytes())?;
    let bytes = match a.kind {
        Type::U16 => a.values().iter().flat_map(|v| (*v as u16).to_le_bytes()).collect(),
        Type::U32 => a.values().iter().flat_map(|v| (*v as u32).to_le_bytes()).collect(),
        kind => encode(&a.values(), to_kind(kind)?),
    };
    Ok(Value::Bytes(Octets::new(bytes)))
}
