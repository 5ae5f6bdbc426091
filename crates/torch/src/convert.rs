//! Values of Python as arguments of operators: numbers, sizes, element types, nested lists of numbers.

use aludel_ir::op::Attr;
use aludel_ir::schema::{Param, Type};
use aludel_python::Vm;
use aludel_python::objects::{Exc, Value};

use crate::cell::{cell, type_text};
use crate::kind::Kind;

/// The element type that an object of `torch.dtype` is.
pub(crate) fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Instance(instance) => instance.lasting::<Kind>().copied(),
        // `dtype=float`, `dtype=int`, `dtype=bool`.
        Value::Class(class) => match class.name().as_str() {
            "float" => Some(Kind::Float64),
            "int" => Some(Kind::Int64),
            "bool" => Some(Kind::Bool),
            _ => None,
        },
        _ => None,
    }
}

/// An optional element type.
pub(crate) fn opt_kind(value: &Value, what: &str) -> Result<Option<Kind>, Exc> {
    match value {
        Value::Unbound | Value::None => Ok(None),
        value => match kind_of(value) {
            Some(kind @ (Kind::UInt32 | Kind::UInt64)) => Err(Exc::new(
                aludel_python::objects::Kind::NotImplementedError,
                format!("{what}(): integers have a sign and 32 bits here, no tensor is of torch.{}; use torch.int64", kind.name()),
            )),
            Some(kind) => Ok(Some(kind)),
            None => Err(Exc::ty(format!("{what}(): argument 'dtype' must be torch.dtype, not {}", type_text(value)))),
        },
    }
}

/// Of how many numbers a list is made.
const LONGEST_RANGE: usize = 1 << 28;

/// Whether there is room for the numbers of a range.
pub(crate) fn fits(vm: &Vm, value: &Value) -> Result<(), Exc> {
    match value {
        Value::Range(range) if range.len() > LONGEST_RANGE => Err(Exc::new(aludel_python::objects::Kind::MemoryError, "")),
        Value::Range(range) => vm.reserve(range.len() * size_of::<Value>()),
        _ => Ok(()),
    }
}

/// The items of a list or tuple, or of a class derived from one.
pub(crate) fn sequence(value: &Value) -> Option<Vec<Value>> {
    match value.plain() {
        Value::List(list) => Some(list.borrow().clone()),
        Value::Tuple(items) => Some(items.to_vec()),
        // Longer ones do not fit anyway: [`fits`] says so.
        Value::Range(range) if range.len() <= LONGEST_RANGE => Some((0..range.len()).map(|i| Value::Int(range.get(i))).collect()),
        _ => None,
    }
}

/// A list of integers.
pub(crate) fn ints(value: &Value) -> Option<Vec<i64>> {
    match value.plain() {
        Value::Bool(_) => None,
        plain if plain.is_int() => plain.to_i64().map(|v| vec![v]),
        _ => sequence(value)?.iter().map(int).collect(),
    }
}

/// An integer; of a tensor of one element on the host, its value.
pub(crate) fn int(value: &Value) -> Option<i64> {
    if let Some(t) = cell(value) {
        let value = t.get().ok()?;
        return if t.kind().is_float() || value.numel() != 1 {
            None
        } else {
            crate::replay::log::values(&value)?.first().map(|v| *v as i64)
        };
    }
    value.to_i64()
}

/// Sizes, given as numbers or as one list of them.
pub(crate) fn sizes(values: &[Value], what: &str) -> Result<Vec<i64>, Exc> {
    let found = match values {
        [one] => ints(one),
        many => many.iter().map(int).collect(),
    };
    let sizes = found.ok_or_else(|| Exc::ty(format!("{what}(): argument 'size' must be tuple of ints")))?;
    match sizes.iter().find(|n| **n < 0) {
        Some(n) => Err(Exc::new(
            aludel_python::objects::Kind::RuntimeError,
            format!("Trying to create tensor with negative dimension {n}: {sizes:?}"),
        )),
        None => Ok(sizes),
    }
}

/// An argument of an operator, of one of the types that its parameter takes.
pub(crate) fn attr(value: &Value, param: &Param) -> Option<Attr> {
    if matches!(value, Value::None) {
        return param.optional.then_some(Attr::None);
    }
    param.types.iter().find_map(|t| attr_of(value, *t))
}

fn attr_of(value: &Value, t: Type) -> Option<Attr> {
    let plain = value.plain();
    Some(match t {
        Type::Bool => match plain {
            Value::Bool(b) => Attr::Bool(b.get()),
            _ => return None,
        },
        Type::Scalar => match plain {
            Value::Bool(b) => Attr::Bool(b.get()),
            Value::Float(v) => Attr::Float(v.get()),
            Value::Big(_) => Attr::Float(plain.to_f64()?),
            _ => match int(value) {
                Some(v) => Attr::Int(v),
                None => Attr::Float(host_number(value)?),
            },
        },
        Type::Int | Type::SymInt => match plain {
            Value::Bool(_) => return None,
            _ => Attr::Int(int(value)?),
        },
        Type::Float => match plain {
            Value::Bool(_) => return None,
            _ => Attr::Float(plain.to_f64().or_else(|| host_number(value))?),
        },
        Type::Str => Attr::Str(value.as_str()?.to_string()),
        Type::Ints(_) | Type::SymInts => Attr::Ints(ints(value)?),
        Type::Floats if plain.to_f64().is_some() => Attr::Floats(vec![plain.to_f64()?]),
        Type::Floats => Attr::Floats(sequence(value)?.iter().map(Value::to_f64).collect::<Option<_>>()?),
        Type::DType => Attr::DType(kind_of(value)?.dtype()),
        Type::Tensor | Type::Tensors => return None,
    })
}

/// The number in a tensor of one element whose value is on the host.
pub(crate) fn host_number(value: &Value) -> Option<f64> {
    let t = cell(value)?.get().ok()?;
    if t.numel() == 1 { crate::replay::log::values(&t)?.first().copied() } else { None }
}

/// Nested lists of numbers, flattened.
pub(crate) struct Nested {
    pub values: Vec<f64>,
    pub shape: Vec<usize>,
    /// The type that PyTorch infers; `None` of no numbers.
    pub kind: Option<Kind>,
}

/// Reads nested lists of numbers and of tensors on the host. Tensors elsewhere have to be stacked instead.
pub(crate) fn nested(vm: &mut Vm, value: &Value) -> Result<Nested, Exc> {
    let mut out = Nested { values: Vec::new(), shape: Vec::new(), kind: None };
    let default = crate::state::state(vm)?.default_kind;
    collect(value, 0, &mut out, default)?;
    Ok(out)
}

fn collect(value: &Value, depth: usize, out: &mut Nested, default: Kind) -> Result<(), Exc> {
    if depth > 64 {
        return Err(Exc::value("too many dimensions: lists are nested more than 64 deep"));
    }
    let mut scalar = |v: f64, kind: Kind| {
        out.values.push(v);
        out.kind = Some(out.kind.map_or(kind, |k| k.promote(kind)));
    };
    match value.plain() {
        Value::Bool(b) => scalar(f64::from(u8::from(b.get())), Kind::Bool),
        Value::Int(v) => scalar(*v as f64, Kind::Int64),
        Value::Float(v) => scalar(v.get(), default),
        Value::Big(_) => return Err(Exc::new(aludel_python::objects::Kind::RuntimeError, "Overflow when unpacking long")),
        plain => {
            if let Some(t) = cell(value) {
                let x = t.get()?;
                let Some(values) = crate::replay::log::values(&x) else {
                    return Err(Exc::new(
                        aludel_python::objects::Kind::NotImplementedError,
                        "torch.tensor of tensors that are on a device; use torch.stack",
                    ));
                };
                fit(&x.shape(), depth, out)?;
                out.values.extend(values);
                out.kind = Some(out.kind.map_or(t.kind(), |k| k.promote(t.kind())));
                return Ok(());
            }
            let Some(items) = sequence(plain) else {
                if matches!(value, Value::None) {
                    return Err(Exc::new(aludel_python::objects::Kind::RuntimeError, "Could not infer dtype of NoneType"));
                }
                return Err(match plain {
                    Value::Str(_) => Exc::ty("new(): invalid data type 'str'"),
                    _ => Exc::new(aludel_python::objects::Kind::RuntimeError, format!("Could not infer dtype of {}", type_text(value))),
                });
            };
            if out.shape.len() == depth {
                if out.values.is_empty() || depth == 0 {
                    out.shape.push(items.len());
                } else {
                    return Err(Exc::value(format!("expected a number at dim {depth}, not a list")));
                }
            } else if out.shape[depth] != items.len() {
                return Err(Exc::value(format!("expected sequence of length {} at dim {depth} (got {})", out.shape[depth], items.len())));
            }
            for item in &items {
                collect(item, depth + 1, out, default)?;
            }
            return Ok(());
        }
    }
    if out.shape.len() > depth {
        return Err(Exc::ty(format!("expected a list at dim {depth}, not a number")));
    }
    Ok(())
}

fn fit(shape: &[usize], depth: usize, out: &mut Nested) -> Result<(), Exc> {
    if out.values.is_empty() && out.shape.len() == depth {
        out.shape.extend(shape);
    }
    if out.shape.get(depth..) == Some(shape) {
        Ok(())
    } else {
        Err(Exc::value("only one element tensors can be converted to Python scalars"))
    }
}
