//! `list` and sorting.

use super::numbers::{COMPARISONS, class_and, wrapped};
use super::{Def, Types, fill, quick};
use crate::bytecode::{Binary, Compare};
use crate::objects::{Args, Exc, Iter, Kind, List, Step, Value};
use crate::vm::Vm;
use crate::vm::compare;
use std::cmp::Ordering;
use std::rc::Rc;

/// The list that a method is called on.
pub(super) fn this(args: &Args) -> Result<Rc<List>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::List(list)) => Ok(list.clone()),
        _ => Err(Exc::ty("descriptor requires a 'list' object")),
    }
}

fn new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let class = class_and(args)?;
    if class.mutable {
        return Ok(wrapped(&class, Value::list(Vec::new())));
    }
    if args.len() > 1 {
        return Err(Exc::ty(format!("list expected at most 1 argument, got {}", args.len())));
    }
    let [iterable] = args.bind("list", &["/iterable"], 0)?;
    let items = if matches!(iterable, Value::Unbound) { Vec::new() } else { vm.items_of(&iterable)? };
    Ok(Value::list(items))
}

fn init(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let list = this(args)?;
    let [_, iterable] = args.bind("list", &["/self", "/iterable"], 1)?;
    let items = if matches!(iterable, Value::Unbound) { Vec::new() } else { vm.items_of(&iterable)? };
    let old = std::mem::replace(&mut *list.borrow_mut(), items);
    list.recharge();
    drop(old);
    Ok(Value::None)
}

/// Sorts a list by its own values, or by keys of the same length. Stable, as CPython's; a list changed meanwhile cannot be.
pub(super) fn sort_by_keys(vm: &mut Vm, list: &Value, keys: &Value, reverse: bool) -> Result<Value, Exc> {
    let Value::List(list) = list.plain() else { return Err(Exc::ty("not a list")) };
    let order = {
        let items = list.borrow();
        match keys {
            Value::List(keys) => order_of(vm, &keys.borrow(), reverse)?,
            _ => order_of(vm, &items, reverse)?,
        }
    };
    vm.reserve(order.len() * size_of::<Value>())?;
    let mut items = list.borrow_mut();
    let sorted: Vec<Value> = order.iter().map(|i| std::mem::take(&mut items[*i as usize])).collect();
    *items = sorted;
    Ok(Value::None)
}

/// The places of keys in their order.
fn order_of(vm: &mut Vm, keys: &[Value], reverse: bool) -> Result<Vec<u32>, Exc> {
    fn by<K>(keys: &[Value], reverse: bool, key: impl Fn(&Value) -> Option<K>, order: impl Fn(&K, &K) -> Ordering) -> Option<Vec<u32>> {
        let mut pairs = keys.iter().zip(0..).map(|(value, place)| Some((key(value)?, place))).collect::<Option<Vec<(K, u32)>>>()?;
        if reverse {
            pairs.sort_by(|a, b| order(&b.0, &a.0));
        } else {
            pairs.sort_by(|a, b| order(&a.0, &b.0));
        }
        Some(pairs.into_iter().map(|(_, place)| place).collect())
    }
    // Keys of one kind with a total order; a NaN has no place in one.
    let known = match keys.first() {
        Some(Value::Int(_)) => by(keys, reverse, |k| if let Value::Int(k) = k { Some(*k) } else { None }, i64::cmp),
        Some(Value::Float(_)) => by(
            keys,
            reverse,
            |k| if let Value::Float(k) = k { Some(k.get()).filter(|k| !k.is_nan()) } else { None },
            |a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal),
        ),
        Some(Value::Str(_)) => {
            by(keys, reverse, |k| if let Value::Str(k) = k { Some(k.clone()) } else { None }, |a, b| a.as_str().cmp(b.as_str()))
        }
        _ => None,
    };
    match known {
        Some(order) => Ok(order),
        None => merge_sort(vm, keys, reverse),
    }
}

fn merge_sort(vm: &mut Vm, keys: &[Value], reverse: bool) -> Result<Vec<u32>, Exc> {
    if keys.iter().any(compare::needs_python_order) {
        return Err(Exc::slow());
    }
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let mut failed: Option<Exc> = None;
    let less = |a: &Value, b: &Value, failed: &mut Option<Exc>, vm: &mut Vm| -> bool {
        match compare::order(Compare::Lt, a, b, 0) {
            Ok(Some(less)) => less,
            Ok(None) => {
                *failed = match vm.compare(Compare::Lt, a, b) {
                    Err(exc) if !matches!(&*exc.0, crate::objects::exception::Signal::Call(_)) => Some(exc),
                    _ => Some(Exc::slow()),
                };
                false
            }
            Err(unknown) => {
                *failed = Some(unknown.into());
                false
            }
        }
    };
    // A NaN has no place in an order: Rust's sort would notice, this merge does as CPython's does with any answers.
    if reverse {
        order.reverse();
    }
    let mut other = order.clone();
    let mut width = 1;
    while width < order.len() {
        let mut start = 0;
        while start < order.len() {
            let (middle, end) = ((start + width).min(order.len()), (start + 2 * width).min(order.len()));
            let (mut a, mut b) = (start, middle);
            for out in start..end {
                let right = b < end && (a >= middle || less(&keys[order[b] as usize], &keys[order[a] as usize], &mut failed, vm));
                if let Some(exc) = failed.take() {
                    return Err(exc);
                }
                other[out] = order[if right { b } else { a }];
                if right { b += 1 } else { a += 1 }
            }
            start = end;
        }
        std::mem::swap(&mut order, &mut other);
        width *= 2;
    }
    if reverse {
        order.reverse();
    }
    Ok(order)
}

/// Where an item equal to a value is, between optional bounds.
pub(super) fn find(vm: &Vm, items: &[Value], value: &Value, start: &Value, stop: &Value) -> Result<Option<usize>, Exc> {
    let len = items.len() as i64;
    let place = |value: &Value, default: i64| -> Result<i64, Exc> {
        Ok(match value {
            Value::Unbound => default,
            other => {
                let at = vm.index_of(other)?;
                (if at < 0 { at.saturating_add(len) } else { at }).clamp(0, len)
            }
        })
    };
    let (start, stop) = (place(start, 0)?, place(stop, len)?);
    for at in start..stop {
        let item = &items[at as usize];
        if item.is(value) || compare::equal(item, value, 0)? {
            return Ok(Some(at as usize));
        }
    }
    Ok(None)
}

/// Methods that lists and tuples share.
pub(super) const SEQUENCE: &[Def] = &[
    Def::new("__len__", |_, args| Ok(Value::from(super::containers::length(&args.values[0])))),
    Def::new("__iter__", |vm, args| {
        let value = args.values[0].plain().clone();
        vm.iter(&value)
    }),
    Def::new("__contains__", |vm, args| {
        let [container, value] = args.exactly::<2>("__contains__")?;
        vm.contains(&container.plain().clone(), &value).map(Value::bool)
    }),
    Def::new("__getitem__", |vm, args| {
        let [container, key] = args.exactly::<2>("__getitem__")?;
        vm.get_item(&container.plain().clone(), &key)
    }),
    Def::new("__add__", |vm, args| {
        let [a, b] = args.exactly::<2>("__add__")?;
        vm.binary(Binary::Add, a.plain().clone(), b.plain().clone())
    }),
    Def::new("__mul__", |vm, args| {
        let [a, b] = args.exactly::<2>("__mul__")?;
        vm.binary(Binary::Mul, a.plain().clone(), b)
    }),
    Def::new("__rmul__", |vm, args| {
        let [a, b] = args.exactly::<2>("__rmul__")?;
        vm.binary(Binary::Mul, a.plain().clone(), b)
    }),
    Def::new("__repr__", |vm, args| {
        let value = args.values[0].plain().clone();
        vm.repr_value(&value)
    }),
];

const METHODS: &[Def] = &[
    Def::new("__new__", new).fixed().slow(""),
    Def::new("__init__", init).slow(""),
    Def::new("__setitem__", |vm, args| {
        let [list, key, value] = args.exactly::<3>("__setitem__")?;
        vm.set_item(&list.plain().clone(), &key, value)
    }),
    Def::new("__delitem__", |vm, args| {
        let [list, key] = args.exactly::<2>("__delitem__")?;
        vm.delete_item(&list.plain().clone(), &key)
    }),
    Def::new("__iadd__", |vm, args| {
        let [list, other] = args.exactly::<2>("__iadd__")?;
        vm.extend(&list, &other)?;
        Ok(list)
    })
    .slow(""),
    Def::new("__reversed__", |_, args| {
        let list = this(args)?;
        let len = list.len();
        Ok(Iter::value(Step::ListReversed(list, len)))
    }),
    Def::new("append", |_, args| {
        let list = this(args)?;
        if args.len() != 2 {
            return Err(Exc::ty(format!("list.append() takes exactly one argument ({} given)", args.len().saturating_sub(1))));
        }
        let [_, value] = args.exactly::<2>("list.append")?;
        list.push(value);
        Ok(Value::None)
    })
    .quick(quick::append),
    Def::new("extend", |vm, args| {
        let [list, iterable] = args.exactly::<2>("list.extend")?;
        vm.extend(&list, &iterable)?;
        Ok(Value::None)
    })
    .slow(""),
    Def::new("insert", |vm, args| {
        let list = this(args)?;
        let [_, index, value] = args.exactly::<3>("insert")?;
        let (len, index) = (list.len() as i64, vm.index_of(&index)?);
        let at = (if index < 0 { index.saturating_add(len) } else { index }).clamp(0, len);
        list.borrow_mut().insert(at as usize, value);
        list.recharge();
        Ok(Value::None)
    }),
    Def::new("pop", |vm, args| {
        let list = this(args)?;
        let [_, index] = args.bind("pop", &["self", "/index"], 1)?;
        if list.is_empty() {
            return Err(Exc::new(Kind::IndexError, "pop from empty list"));
        }
        let index = if matches!(index, Value::Unbound) { -1 } else { vm.index_of(&index)? };
        let at = if index < 0 { index.saturating_add(list.len() as i64) } else { index };
        if at < 0 || at as usize >= list.len() {
            return Err(Exc::new(Kind::IndexError, "pop index out of range"));
        }
        Ok(list.borrow_mut().remove(at as usize))
    })
    .quick(quick::pop),
    Def::new("remove", |vm, args| {
        let list = this(args)?;
        let [_, value] = args.exactly::<2>("remove")?;
        let found = find(vm, &list.borrow(), &value, &Value::Unbound, &Value::Unbound)?;
        let Some(at) = found else { return Err(Exc::value("list.remove(x): x not in list")) };
        let old = list.borrow_mut().remove(at);
        drop(old);
        Ok(Value::None)
    })
    .slow("_list_remove"),
    Def::new("index", |vm, args| {
        let list = this(args)?;
        let [_, value, start, stop] = args.bind("index", &["self", "/value", "/start", "/stop"], 2)?;
        let found = find(vm, &list.borrow(), &value, &start, &stop)?;
        match found {
            Some(at) => Ok(Value::from(at)),
            None => Err(Exc::value(format!("{} is not in list", vm.repr_native(&value)?))),
        }
    })
    .slow("_index"),
    Def::new("count", |_, args| {
        let list = this(args)?;
        let [_, value] = args.exactly::<2>("count")?;
        let mut count = 0;
        for item in list.borrow().iter() {
            count += i64::from(item.is(&value) || compare::equal(item, &value, 0)?);
        }
        Ok(Value::Int(count))
    })
    .slow("_count"),
    Def::new("clear", |_, args| {
        let list = this(args)?;
        let old = std::mem::take(&mut *list.borrow_mut());
        list.recharge();
        drop(old);
        Ok(Value::None)
    }),
    Def::new("copy", |_, args| Ok(Value::list(this(args)?.borrow().clone()))),
    Def::new("__copy__", |_, args| Ok(Value::list(this(args)?.borrow().clone()))),
    Def::new("reverse", |_, args| {
        this(args)?.borrow_mut().reverse();
        Ok(Value::None)
    }),
    Def::new("sort", |vm, args| {
        let [list, key, reverse] = args.bind("sort", &["self", "*key", "*reverse"], 1)?;
        if !matches!(key, Value::Unbound | Value::None) {
            return Err(Exc::slow());
        }
        let reverse = !matches!(reverse, Value::Unbound) && compare::truth(&reverse) == Some(true);
        sort_by_keys(vm, &list, &Value::None, reverse)
    })
    .slow("_list_sort"),
];

pub(super) fn install(types: &Types) {
    fill(&types.list, "list", COMPARISONS);
    fill(&types.list, "list", SEQUENCE);
    fill(&types.list, "list", METHODS);
    types.list.attrs.set("__hash__", Value::None);
    types.list.touch();
}
