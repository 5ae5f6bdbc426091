//! Items: indexing, slices, deletion.

use super::{Vm, compare};
use crate::objects::{Class, Dict, Exc, Kind, Octets, Other, Slice, Value};
use crate::order::InOrder;
use num_traits::Signed;
use std::rc::Rc;

/// A slice applied to a length: first index, step, and how many.
pub struct Picked {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
    pub count: usize,
}

impl Picked {
    /// The indices.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let (start, step) = (self.start, self.step);
        (0..self.count as i64).map(move |i| (start + i * step) as usize)
    }
}

/// The library's classes that take parameters, by their modules.
const GENERIC: &[(&str, &str)] = &[
    ("array", "array"),
    ("collections", "ChainMap Counter OrderedDict UserDict UserList defaultdict deque"),
    ("concurrent.futures", "Future"),
    ("contextlib", "AbstractContextManager"),
    ("contextvars", "ContextVar Token"),
    ("dataclasses", "Field"),
    ("difflib", "SequenceMatcher"),
    ("functools", "cached_property partial partialmethod"),
    ("itertools", "chain"),
    ("logging", "LoggerAdapter StreamHandler"),
    ("os", "DirEntry"),
    ("queue", "Queue"),
    ("re", "Match Pattern"),
    ("tempfile", "TemporaryDirectory"),
    ("types", "MappingProxyType"),
    ("weakref", "WeakKeyDictionary WeakSet WeakValueDictionary ref"),
];

impl Vm {
    /// An integer that indexes: of an instance by what it wraps; `__index__` in Python is [`Exc::slow`].
    pub fn index_of(&self, value: &Value) -> Result<i64, Exc> {
        match value.plain() {
            Value::Int(i) => Ok(*i),
            Value::Bool(b) => Ok(i64::from(b.get())),
            Value::Big(b) => Ok(if b.is_negative() { i64::MIN } else { i64::MAX }),
            Value::Instance(_) if self.special(value, &self.names.index).is_some() => Err(Exc::slow()),
            other => Err(Exc::ty(format!("'{}' object cannot be interpreted as an integer", self.type_name(other)))),
        }
    }

    /// What a slice picks from `len` items (`PySlice_AdjustIndices`).
    pub fn pick(&self, slice: &Slice, len: usize) -> Result<Picked, Exc> {
        let part = |value: &Value| -> Result<Option<i64>, Exc> {
            match value {
                Value::None => Ok(None),
                other => match self.index_of(other) {
                    Ok(index) => Ok(Some(index)),
                    Err(exc) if exc.is_slow() => Err(exc),
                    Err(_) => Err(Exc::ty("slice indices must be integers or None or have an __index__ method")),
                },
            }
        };
        let len = len as i64;
        let step = part(&slice.step)?.unwrap_or(1);
        if step == 0 {
            return Err(Exc::value("slice step cannot be zero"));
        }
        let step = step.max(-i64::MAX);
        let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
        let clamp = |value: i64| (if value < 0 { value.saturating_add(len) } else { value }).clamp(low, high);
        let start = part(&slice.start)?.map_or(if step < 0 { high } else { low }, clamp);
        let stop = part(&slice.stop)?.map_or(if step < 0 { low } else { high }, clamp);
        let span = if step > 0 { stop - start } else { start - stop };
        let count = if span <= 0 { 0 } else { ((span - 1) / step.abs() + 1) as usize };
        Ok(Picked { start, stop, step, count })
    }

    /// `object[key]`.
    pub fn get_item(&mut self, object: &Value, key: &Value) -> Result<Value, Exc> {
        if let Value::Instance(_) = object {
            if let Some(method) = self.special(object, &self.names.getitem.clone()) {
                return Err(Exc::call(method, vec![key.clone()]));
            }
            let kind = self.type_name(object);
            return Err(Exc::ty(format!("'{kind}' object is not subscriptable")));
        }
        match self.builtin_item(object, key) {
            Err(exc) if exc.is_slow() => Err(self.slow_op("_getitem", vec![object.clone(), key.clone()])),
            other => other,
        }
    }

    /// `object[key]` of a builtin value.
    pub fn builtin_item(&mut self, object: &Value, key: &Value) -> Result<Value, Exc> {
        match object {
            Value::Dict(dict) => {
                let hash = compare::hash(key)?;
                let table = dict.borrow();
                match table.find(hash, key)? {
                    Some(place) => Ok(table.slots()[place].value.clone()),
                    None => Err(Exc::key(key.clone())),
                }
            }
            Value::List(list) => {
                let items = list.borrow();
                match key {
                    Value::Slice(slice) => {
                        let picked = self.pick(slice, items.len())?;
                        Ok(Value::list(picked.indices().map(|i| items[i].clone()).collect()))
                    }
                    _ => Ok(items[self.position(key, items.len(), "list")?].clone()),
                }
            }
            Value::Tuple(items) => match key {
                Value::Slice(slice) => {
                    let picked = self.pick(slice, items.len())?;
                    Ok(Value::tuple(picked.indices().map(|i| items[i].clone()).collect()))
                }
                _ => Ok(items[self.position(key, items.len(), "tuple")?].clone()),
            },
            Value::Str(text) => match key {
                Value::Slice(slice) => {
                    let picked = self.pick(slice, text.len())?;
                    if picked.step == 1 {
                        let start = picked.start as usize;
                        return Ok(Value::str(text.slice(start, start + picked.count)));
                    }
                    let chars: Vec<char> = text.as_str().chars().collect();
                    Ok(Value::str(picked.indices().map(|i| chars[i]).collect::<String>()))
                }
                _ => {
                    let at = self.position(key, text.len(), "string")?;
                    let c = text.slice(at, at + 1).chars().next().unwrap_or_default();
                    Ok(self.char_value(c))
                }
            },
            Value::Bytes(bytes) => match key {
                Value::Slice(slice) => {
                    let picked = self.pick(slice, bytes.len())?;
                    self.reserve(picked.count)?;
                    if picked.step == 1 {
                        let start = picked.start as usize;
                        return Ok(Value::Bytes(Octets::new(bytes[start..start + picked.count].to_vec())));
                    }
                    Ok(Value::Bytes(Octets::new(picked.indices().map(|i| bytes[i]).collect())))
                }
                _ => Ok(Value::Int(i64::from(bytes[self.position(key, bytes.len(), "")?]))),
            },
            Value::Range(range) => match key {
                Value::Slice(slice) => {
                    let picked = self.pick(slice, range.len())?;
                    let start = range.start.wrapping_add(picked.start.wrapping_mul(range.step));
                    let step = range.step.wrapping_mul(picked.step);
                    let stop = range.start.wrapping_add(picked.stop.wrapping_mul(range.step));
                    Ok(Value::Range(Rc::new(crate::objects::Range { start, stop, step })))
                }
                _ => Ok(Value::Int(range.get(self.position(key, range.len(), "range object")?))),
            },
            Value::Other(other) => match &**other {
                Other::MappingProxy(dict) => self.builtin_item(&Value::Dict(dict.clone()), key),
                Other::Alias { origin, .. } => Ok(Value::Other(Rc::new(Other::Alias { origin: origin.clone(), args: as_tuple(key) }))),
                // A text of which a part is taken is a constant of the turn.
                Other::Marked(..) => self.builtin_item(&object.plain().clone(), key),
                _ => Err(Exc::ty(format!("'{}' object is not subscriptable", self.type_name(object)))),
            },
            Value::Class(class) => {
                let meta = class.meta.borrow().clone();
                if let Some(method) = meta.as_ref().and_then(|meta| meta.lookup(&self.names.getitem)) {
                    let method = self.bind_now(method, object, class);
                    return Err(Exc::call(method, vec![key.clone()]));
                }
                if let Some(found) = class.lookup(&self.names.class_getitem) {
                    let function = match &found {
                        Value::Other(other) => match &**other {
                            Other::ClassMethod(inner) | Other::StaticMethod(inner) => inner.clone(),
                            _ => found,
                        },
                        _ => found,
                    };
                    return Err(Exc::call(function, vec![object.clone(), key.clone()]));
                }
                if !class.mutable || self.is_generic(class) {
                    return Ok(Value::Other(Rc::new(Other::Alias { origin: object.clone(), args: as_tuple(key) })));
                }
                Err(Exc::ty(format!("type '{}' is not subscriptable", class.name().as_str())))
            }
            _ => Err(Exc::ty(format!("'{}' object is not subscriptable", self.type_name(object)))),
        }
    }

    /// Whether a class is one of the library's that take parameters (`deque[int]`), or inherits from one.
    fn is_generic(&self, class: &Rc<Class>) -> bool {
        let named = |class: &Rc<Class>| {
            let module = class.attrs.get_str(&self.names.module);
            let Some(module) = module.as_ref().and_then(|m| m.as_str()) else { return false };
            let name = class.name();
            GENERIC.iter().any(|(of, names)| *of == module && names.split(' ').any(|n| n == name.as_str()))
        };
        named(class) || class.mro.borrow().iter().any(named)
    }

    fn position(&self, key: &Value, len: usize, kind: &str) -> Result<usize, Exc> {
        let index = match self.index_of(key) {
            Ok(index) => index,
            Err(exc) if exc.is_slow() => return Err(exc),
            Err(_) => {
                let (owner, integers) = match kind {
                    "list" => ("list indices", "integers or slices"),
                    "tuple" => ("tuple indices", "integers or slices"),
                    "string" => ("string indices", "integers"),
                    "" => ("byte indices", "integers or slices"),
                    _ => ("range indices", "integers or slices"),
                };
                let not = if kind == "string" { format!("'{}'", self.type_name(key)) } else { self.type_name(key) };
                return Err(Exc::ty(format!("{owner} must be {integers}, not {not}")));
            }
        };
        let at = if index < 0 { index.saturating_add(len as i64) } else { index };
        if at < 0 || at as usize >= len {
            return Err(Exc::new(Kind::IndexError, format!("{kind}{}index out of range", if kind.is_empty() { "" } else { " " })));
        }
        Ok(at as usize)
    }

    /// `object[key] = value`.
    pub fn set_item(&mut self, object: &Value, key: &Value, value: Value) -> Result<Value, Exc> {
        if let Value::Instance(_) = object {
            if let Some(method) = self.special(object, &self.names.setitem.clone()) {
                return Err(Exc::call(method, vec![key.clone(), value]));
            }
            return Err(Exc::ty(format!("'{}' object does not support item assignment", self.type_name(object))));
        }
        match self.builtin_set_item(object, key, value.clone()) {
            Err(exc) if exc.is_slow() => Err(self.slow_op("_setitem", vec![object.clone(), key.clone(), value])),
            Err(exc) => Err(self.retry_set_slice(exc, object, key)),
            Ok(()) => Ok(Value::None),
        }
    }

    fn retry_set_slice(&mut self, exc: Exc, object: &Value, key: &Value) -> Exc {
        use crate::objects::exception::Signal;
        match *exc.0 {
            Signal::Collect(iterable) => {
                let (object, key) = (object.clone(), key.clone());
                Exc::call_then(self.prelude_function("_collect"), vec![iterable], move |vm, list| vm.set_item(&object, &key, list))
            }
            other => Exc(Box::new(other)),
        }
    }

    /// `object[key] = value` of a builtin value.
    pub fn builtin_set_item(&mut self, object: &Value, key: &Value, value: Value) -> Result<(), Exc> {
        match object {
            Value::Dict(dict) => set_in(dict, key, value),
            Value::List(list) => {
                if let Value::Slice(slice) = key {
                    let new = self.items_of(&value)?;
                    let len = list.len();
                    let picked = self.pick(slice, len)?;
                    let mut items = list.borrow_mut();
                    if picked.step == 1 {
                        let start = picked.start as usize;
                        let old: Vec<Value> = items.splice(start..start + picked.count, new).collect();
                        drop(items);
                        list.recharge();
                        drop(old);
                        return Ok(());
                    }
                    if new.len() != picked.count {
                        return Err(Exc::value(format!(
                            "attempt to assign sequence of size {} to extended slice of size {}",
                            new.len(),
                            picked.count
                        )));
                    }
                    for (index, value) in picked.indices().zip(new) {
                        items[index] = value;
                    }
                    return Ok(());
                }
                let len = list.len();
                let at = self.position(key, len, "list").map_err(assignment_message)?;
                let old = std::mem::replace(&mut list.borrow_mut()[at], value);
                drop(old);
                Ok(())
            }
            Value::Class(class) => {
                let meta = class.meta.borrow().clone();
                match meta.and_then(|meta| meta.lookup(&self.names.setitem)) {
                    Some(method) => Err(Exc::call(method, vec![object.clone(), key.clone(), value])),
                    None => Err(Exc::ty("'type' object does not support item assignment")),
                }
            }
            _ => Err(Exc::ty(format!("'{}' object does not support item assignment", self.type_name(object)))),
        }
    }

    /// `del object[key]`.
    pub fn delete_item(&mut self, object: &Value, key: &Value) -> Result<Value, Exc> {
        if let Value::Instance(_) = object {
            if let Some(method) = self.special(object, &self.names.delitem.clone()) {
                return Err(Exc::call(method, vec![key.clone()]));
            }
            return Err(Exc::ty(format!("'{}' object does not support item deletion", self.type_name(object))));
        }
        match self.builtin_delete_item(object, key) {
            Err(exc) if exc.is_slow() => Err(self.slow_op("_delitem", vec![object.clone(), key.clone()])),
            other => other,
        }
    }

    /// `del object[key]` of a builtin value.
    pub fn builtin_delete_item(&mut self, object: &Value, key: &Value) -> Result<Value, Exc> {
        match object {
            Value::Dict(dict) => {
                let hash = compare::hash(key)?;
                let mut table = dict.borrow_mut();
                match table.find(hash, key)? {
                    Some(place) => {
                        let old = table.remove(place);
                        drop(table);
                        drop(old);
                        Ok(Value::None)
                    }
                    None => Err(Exc::key(key.clone())),
                }
            }
            Value::List(list) => {
                let len = list.len();
                if let Value::Slice(slice) = key {
                    let picked = self.pick(slice, len)?;
                    let gone: std::collections::BTreeSet<usize> = picked.indices().in_order();
                    let mut items = list.borrow_mut();
                    let old = std::mem::take(&mut *items);
                    let (mut kept, mut removed) = (Vec::with_capacity(old.len()), Vec::new());
                    for (index, value) in old.into_iter().enumerate() {
                        if gone.contains(&index) { removed.push(value) } else { kept.push(value) }
                    }
                    *items = kept;
                    drop(items);
                    drop(removed);
                    return Ok(Value::None);
                }
                let at = self.position(key, len, "list").map_err(assignment_message)?;
                let old = list.borrow_mut().remove(at);
                drop(old);
                Ok(Value::None)
            }
            _ => Err(Exc::ty(format!("'{}' object doesn't support item deletion", self.type_name(object)))),
        }
    }

    /// A set of these values.
    pub fn make_set(&mut self, values: Vec<Value>, frozen: bool) -> Result<Value, Exc> {
        let mut members = crate::objects::set::Members::default();
        for value in &values {
            let added = compare::hash(value).and_then(|hash| {
                if members.find(hash, value)?.is_none() {
                    members.insert_new(hash, value.clone());
                }
                Ok(())
            });
            match added {
                Ok(()) => {}
                Err(exc) if exc.is_slow() => {
                    drop(members);
                    return Err(self.slow_op("_make_set", vec![Value::list(values), Value::bool(frozen)]));
                }
                Err(exc) => return Err(exc),
            }
        }
        Ok(Value::Set(crate::objects::Set::new(members, frozen)))
    }

    /// A dictionary of keys and values that alternate.
    pub(crate) fn make_dict(&mut self, values: Vec<Value>) -> Result<Value, Exc> {
        let dict = Dict::new();
        let mut pairs = values.clone().into_iter();
        while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
            match set_in(&dict, &key, value) {
                Ok(()) => {}
                Err(exc) if exc.is_slow() => return Err(self.slow_op("_make_dict", vec![Value::list(values)])),
                Err(exc) => return Err(exc),
            }
        }
        Ok(Value::Dict(dict))
    }

    pub(crate) fn add_to_set(&mut self, set: &Value, value: Value) -> Result<Value, Exc> {
        let Value::Set(members) = set.plain() else { return Err(Exc::ty("not a set")) };
        let added = compare::hash(&value).and_then(|hash| {
            let mut members = members.borrow_mut();
            if members.find(hash, &value)?.is_none() {
                members.insert_new(hash, value.clone());
            }
            Ok(())
        });
        match added {
            Ok(()) => Ok(Value::None),
            Err(exc) if exc.is_slow() => Err(self.slow_op("_set_add", vec![set.clone(), value])),
            Err(exc) => Err(exc),
        }
    }

    /// `dict.update(other)`, the other a mapping or pairs.
    pub fn update_dict(&mut self, dict: &Value, other: &Value) -> Result<Value, Exc> {
        let Value::Dict(target) = dict.plain() else { return Err(Exc::ty("not a dictionary")) };
        let plain_other = match other {
            Value::Instance(_) if self.special(other, &self.names.iter).is_some_and(|m| !is_native_method(&m)) => other,
            other => other.plain(),
        };
        if let Value::Dict(source) = plain_other {
            if Rc::ptr_eq(target, source) {
                return Ok(Value::None);
            }
            let pairs: Vec<(u64, Value, Value)> = source
                .borrow()
                .slots()
                .iter()
                .filter(|e| !matches!(e.key, Value::Unbound))
                .map(|e| (e.hash, e.key.clone(), e.value.clone()))
                .collect();
            for (hash, key, value) in pairs {
                let mut table = target.borrow_mut();
                let found = match table.find(hash, &key) {
                    Ok(found) => found,
                    Err(_) => {
                        drop(table);
                        return Err(self.slow_op("_dict_update", vec![dict.clone(), other.clone()]));
                    }
                };
                match found {
                    Some(place) => {
                        let old = table.replace(place, value);
                        drop(table);
                        drop(old);
                    }
                    None => table.insert_new(hash, key, value),
                }
            }
            return Ok(Value::None);
        }
        Err(self.slow_op("_dict_update", vec![dict.clone(), other.clone()]))
    }

    /// Keyword arguments `**other`: keys are strings, none twice.
    pub(crate) fn merge_keywords(&mut self, dict: &Value, other: &Value, function: &Value) -> Result<Value, Exc> {
        let (Value::Dict(target), Value::Dict(source)) = (dict.plain(), other.plain()) else {
            if self.has_attribute(other, "keys") {
                let (dict, function) = (dict.clone(), function.clone());
                return Err(Exc::call_then(self.prelude_function("_as_dict"), vec![other.clone()], move |vm, other| {
                    vm.merge_keywords(&dict, &other, &function)
                }));
            }
            let name = self.function_name(function);
            return Err(Exc::ty(format!("{name} argument after ** must be a mapping, not {}", self.type_name(other))));
        };
        let pairs: Vec<(Value, Value)> = source.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        for (key, value) in pairs {
            let Some(name) = super::operator::as_string(&key) else { return Err(Exc::ty("keywords must be strings")) };
            let known = target.borrow().find_str(name).is_some();
            if known {
                let function = self.function_name(function);
                return Err(Exc::ty(format!("{function} got multiple values for keyword argument '{}'", name.as_str())));
            }
            let name = super::intern::intern_short(name.as_str());
            target.set_str(&name, value);
        }
        Ok(Value::None)
    }
}

pub(crate) fn is_native_method(method: &Value) -> bool {
    match method {
        Value::Method(method) => matches!(method.function, Value::Native(_)),
        Value::Native(_) => true,
        _ => false,
    }
}

/// Sets a pair of a dictionary.
pub fn set_in(dict: &Rc<Dict>, key: &Value, value: Value) -> Result<(), Exc> {
    let hash = compare::hash(key)?;
    let mut table = dict.borrow_mut();
    match table.find(hash, key)? {
        Some(place) => {
            let old = table.replace(place, value);
            drop(table);
            drop(old);
        }
        None => table.insert_new(hash, key.clone(), value),
    }
    Ok(())
}

fn as_tuple(key: &Value) -> Value {
    match key {
        Value::Tuple(_) => key.clone(),
        other => Value::tuple(vec![other.clone()]),
    }
}

fn assignment_message(exc: Exc) -> Exc {
    if exc.is_new(Kind::IndexError) { Exc::new(Kind::IndexError, "list assignment index out of range") } else { exc }
}
