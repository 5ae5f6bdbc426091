//! What the natives that are called most do with the arguments that they get most: read where they lie on the stack, without an error
//! and without Python code. Where one gives nothing, the native itself is called.

use crate::objects::{Dict, Iter, Other, Range, Step, Value, ViewKind};
use crate::text;
use crate::vm::{Vm, compare};
use std::cmp::Ordering;
use std::rc::Rc;

pub(super) fn len(_: &Vm, args: &[Value]) -> Option<Value> {
    let [value] = args else { return None };
    super::functions::native_len(value).and_then(|n| i64::try_from(n).ok()).map(Value::Int)
}

pub(super) fn is_instance(vm: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [value, Value::Class(class)] if class.meta.borrow().is_none() => {
            let is = vm.is_instance(value, class);
            (is || !vm.tells_class(value)).then(|| Value::bool(is))
        }
        _ => None,
    }
}

pub(super) fn abs(_: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [Value::Int(i)] => i.checked_abs().map(Value::Int),
        [Value::Float(f)] => Some(Value::float(f.get().abs())),
        _ => None,
    }
}

pub(super) fn min(_: &Vm, args: &[Value]) -> Option<Value> {
    extreme(args, Ordering::Less)
}

pub(super) fn max(_: &Vm, args: &[Value]) -> Option<Value> {
    extreme(args, Ordering::Greater)
}

fn extreme(args: &[Value], wanted: Ordering) -> Option<Value> {
    match args {
        [a @ Value::Int(x), b @ Value::Int(y)] => Some(if y.cmp(x) == wanted { b.clone() } else { a.clone() }),
        [a @ Value::Float(x), b @ Value::Float(y)] => {
            Some(if y.get().partial_cmp(&x.get()) == Some(wanted) { b.clone() } else { a.clone() })
        }
        _ => None,
    }
}

pub(super) fn ord(_: &Vm, args: &[Value]) -> Option<Value> {
    let [Value::Str(text)] = args else { return None };
    let mut chars = text.as_str().chars();
    let first = chars.next()?;
    chars.next().is_none().then(|| Value::Int(i64::from(u32::from(first))))
}

pub(super) fn enumerate(vm: &Vm, args: &[Value]) -> Option<Value> {
    let [iterable] = args else { return None };
    Some(Iter::value(Step::Enumerate(vm.native_iter(iterable)?, 0)))
}

pub(super) fn zip(vm: &Vm, args: &[Value]) -> Option<Value> {
    let iterators: Option<Vec<Value>> = args.iter().map(|value| vm.native_iter(value)).collect();
    Some(Iter::value(Step::Zip(iterators?)))
}

/// `list.append`.
pub(super) fn append(_: &Vm, args: &[Value]) -> Option<Value> {
    let [Value::List(list), value] = args else { return None };
    list.push(value.clone());
    Some(Value::None)
}

/// `list.pop` of the last item.
pub(super) fn pop(_: &Vm, args: &[Value]) -> Option<Value> {
    let [Value::List(list)] = args else { return None };
    if list.is_empty() { None } else { list.borrow_mut().pop() }
}

fn look_up(dict: &std::rc::Rc<Dict>, key: &Value) -> Option<Option<Value>> {
    if !matches!(key, Value::Int(_) | Value::Str(_)) {
        return None;
    }
    let table = dict.borrow();
    let place = table.find(compare::hash(key).ok()?, key).ok()?;
    Some(place.and_then(|place| table.slot(place)).map(|entry| entry.value.clone()))
}

/// `dict.get`.
pub(super) fn get(_: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [Value::Dict(dict), key] => Some(look_up(dict, key)?.unwrap_or(Value::None)),
        [Value::Dict(dict), key, default] => Some(look_up(dict, key)?.unwrap_or_else(|| default.clone())),
        _ => None,
    }
}

fn view(args: &[Value], kind: ViewKind) -> Option<Value> {
    let [Value::Dict(dict)] = args else { return None };
    Some(Value::Other(Rc::new(Other::View(kind, dict.clone()))))
}

pub(super) fn keys(_: &Vm, args: &[Value]) -> Option<Value> {
    view(args, ViewKind::Keys)
}

pub(super) fn values(_: &Vm, args: &[Value]) -> Option<Value> {
    view(args, ViewKind::Values)
}

pub(super) fn items(_: &Vm, args: &[Value]) -> Option<Value> {
    view(args, ViewKind::Items)
}

/// `str(x)`.
pub(super) fn str_new(_: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [Value::Class(class), Value::Int(i)] if !class.mutable => Some(Value::str(compact_str::ToCompactString::to_compact_string(i))),
        [Value::Class(class), text @ Value::Str(_)] if !class.mutable => Some(text.clone()),
        _ => None,
    }
}

/// `int(x)`.
pub(super) fn int_new(_: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [Value::Class(class), number @ Value::Int(_)] if !class.mutable => Some(number.clone()),
        [Value::Class(class), Value::Float(f)] if !class.mutable && f.get().abs() < 9e15 => Some(Value::Int(f.get() as i64)),
        _ => None,
    }
}

/// `float(x)`.
pub(super) fn float_new(_: &Vm, args: &[Value]) -> Option<Value> {
    match args {
        [Value::Class(class), number @ Value::Float(_)] if !class.mutable => Some(number.clone()),
        [Value::Class(class), Value::Int(i)] if !class.mutable => Some(Value::float(*i as f64)),
        _ => None,
    }
}

/// `range(stop)`, `range(start, stop)`.
pub(super) fn range_new(_: &Vm, args: &[Value]) -> Option<Value> {
    let (start, stop) = match args {
        [_, Value::Int(stop)] => (0, *stop),
        [_, Value::Int(start), Value::Int(stop)] => (*start, *stop),
        _ => return None,
    };
    Some(Value::Range(Rc::new(Range { start, stop, step: 1 })))
}

fn ascii(args: &[Value]) -> Option<&str> {
    let [Value::Str(text)] = args else { return None };
    text.is_ascii().then(|| text.as_str())
}

/// `str.upper`.
pub(super) fn upper(_: &Vm, args: &[Value]) -> Option<Value> {
    let mut text = compact_str::CompactString::from(ascii(args)?);
    text.make_ascii_uppercase();
    Some(Value::str(text))
}

/// `str.lower`.
pub(super) fn lower(_: &Vm, args: &[Value]) -> Option<Value> {
    let mut text = compact_str::CompactString::from(ascii(args)?);
    text.make_ascii_lowercase();
    Some(Value::str(text))
}

/// `str.strip`.
pub(super) fn strip(_: &Vm, args: &[Value]) -> Option<Value> {
    let whole = ascii(args)?;
    let text = text::strings::strip(whole, None, text::strings::Ends::Both);
    Some(if text.len() == whole.len() { args[0].clone() } else { Value::str(text) })
}

/// `str.startswith`.
pub(super) fn starts_with(_: &Vm, args: &[Value]) -> Option<Value> {
    let [Value::Str(text), Value::Str(part)] = args else { return None };
    Some(Value::bool(text.as_str().starts_with(part.as_str())))
}

/// `str.replace` of one character.
pub(super) fn replace(vm: &Vm, args: &[Value]) -> Option<Value> {
    let [Value::Str(text), Value::Str(old), Value::Str(new)] = args else { return None };
    let [byte] = old.as_str().as_bytes() else { return None };
    let pieces = text.as_str().split(char::from(*byte));
    vm.reserve(text.as_str().len().saturating_mul(new.as_str().len().max(1))).ok()?;
    let mut out = compact_str::CompactString::with_capacity(text.as_str().len());
    for (i, piece) in pieces.enumerate() {
        if i > 0 {
            out.push_str(new.as_str());
        }
        out.push_str(piece);
    }
    Some(Value::str(out))
}

/// `str.split` by a text.
pub(super) fn split(vm: &Vm, args: &[Value]) -> Option<Value> {
    let (text, separator) = match args {
        [Value::Str(text)] => (text, None),
        [Value::Str(text), Value::Str(separator)] => (text, Some(separator.as_str())),
        _ => return None,
    };
    let parts = text::split::split(text.as_str(), separator, None).ok()?;
    vm.reserve(parts.len() * 64).ok()?;
    Some(Value::list(parts.into_iter().map(Value::from).collect()))
}

/// `str.join` of a list or a tuple.
pub(super) fn join(vm: &Vm, args: &[Value]) -> Option<Value> {
    fn joined(vm: &Vm, separator: &str, items: &[Value]) -> Option<Value> {
        let mut size = 0;
        for item in items {
            let Value::Str(item) = item else { return None };
            size += item.as_str().len() + separator.len();
        }
        vm.reserve(size).ok()?;
        let mut out = compact_str::CompactString::with_capacity(size);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(separator);
            }
            out.push_str(item.as_str().unwrap_or_default());
        }
        Some(Value::str(out))
    }
    match args {
        [Value::Str(separator), Value::List(list)] => joined(vm, separator.as_str(), &list.borrow()),
        [Value::Str(separator), Value::Tuple(items)] => joined(vm, separator.as_str(), items),
        _ => None,
    }
}
