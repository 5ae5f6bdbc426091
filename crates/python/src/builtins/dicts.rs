//! `dict` and its views.

use super::numbers::{COMPARISONS, class_and, wrapped};
use super::{Def, Types, fill, quick};
use crate::bytecode::Binary;
use crate::objects::{Args, Dict, Exc, Other, Table, Value, ViewKind};
use crate::vm::Vm;
use crate::vm::compare;
use crate::vm::index::set_in;
use std::rc::Rc;

fn this(args: &Args) -> Result<Rc<Dict>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::Dict(dict)) => Ok(dict.clone()),
        Some(Value::Other(other)) => match &**other {
            Other::MappingProxy(dict) | Other::View(_, dict) => Ok(dict.clone()),
            _ => Err(Exc::ty("descriptor requires a 'dict' object")),
        },
        _ => Err(Exc::ty("descriptor requires a 'dict' object")),
    }
}

fn new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let class = class_and(args)?;
    if class.mutable {
        let dict = Dict::new();
        dict.ordered.set(class.mro.borrow().iter().chain([&class]).any(|c| c.name().as_str() == "OrderedDict"));
        return Ok(wrapped(&class, Value::Dict(dict)));
    }
    let dict = Value::Dict(Dict::new());
    args.values.insert(0, dict.clone());
    match update(vm, args) {
        Ok(_) => Ok(dict),
        Err(exc) => Err(exc.and_then(move |_, _| Ok(dict))),
    }
}

/// `update`, and `__init__`: a mapping or pairs, then keyword arguments.
fn update(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let keywords = std::mem::take(&mut args.keywords);
    let [dict, other] = args.bind("dict", &["/self", "/iterable"], 1)?;
    let Value::Dict(target) = dict.plain().clone() else { return Err(Exc::ty("descriptor requires a 'dict' object")) };
    let add = move |target: &Rc<Dict>| {
        for (name, value) in keywords {
            target.set_str(&name, value);
        }
        Ok(Value::None)
    };
    if matches!(other, Value::Unbound) {
        return add(&target);
    }
    match vm.update_dict(&Value::Dict(target.clone()), &other) {
        Ok(_) => add(&target),
        Err(exc) => Err(exc.and_then(move |_, _| add(&target))),
    }
}

fn view(args: &mut Args, kind: ViewKind) -> Result<Value, Exc> {
    let dict = this(args)?;
    args.exactly::<1>("view")?;
    Ok(Value::Other(Rc::new(Other::View(kind, dict))))
}

fn get(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let dict = this(args)?;
    let [_, key, default] = args.bind("get", &["self", "/key", "/default"], 2)?;
    let hash = compare::hash(&key)?;
    let table = dict.borrow();
    Ok(match table.find(hash, &key)? {
        Some(place) => table.slots()[place].value.clone(),
        None if matches!(default, Value::Unbound) => Value::None,
        None => default,
    })
}

fn pop(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let dict = this(args)?;
    let [_, key, default] = args.bind("pop", &["self", "/key", "/default"], 2)?;
    let hash = compare::hash(&key)?;
    let mut table = dict.borrow_mut();
    match table.find(hash, &key)? {
        Some(place) => Ok(table.remove(place).1),
        None if matches!(default, Value::Unbound) => Err(Exc::key(key)),
        None => Ok(default),
    }
}

const METHODS: &[Def] = &[
    Def::new("__new__", new).fixed(),
    Def::new("__init__", update),
    Def::new("update", update),
    Def::new("__len__", |_, args| Ok(Value::from(this(args)?.len()))),
    Def::new("__iter__", |vm, args| {
        let dict = Value::Dict(this(args)?);
        vm.iter(&dict)
    }),
    Def::new("__contains__", |vm, args| {
        let [dict, key] = args.exactly::<2>("__contains__")?;
        vm.contains(&dict.plain().clone(), &key).map(Value::bool)
    }),
    Def::new("__getitem__", |vm, args| {
        let [dict, key] = args.exactly::<2>("__getitem__")?;
        let result = vm.get_item(&dict.plain().clone(), &key);
        if let (Err(exc), Value::Instance(_)) = (&result, &dict)
            && exc.is_new(crate::objects::Kind::KeyError)
            && let Some(missing) = vm.special(&dict, &vm.names.missing.clone())
        {
            return Err(Exc::call(missing, vec![key]));
        }
        result
    }),
    Def::new("__setitem__", |vm, args| {
        let [dict, key, value] = args.exactly::<3>("__setitem__")?;
        vm.set_item(&dict.plain().clone(), &key, value)
    }),
    Def::new("__delitem__", |vm, args| {
        let [dict, key] = args.exactly::<2>("__delitem__")?;
        vm.delete_item(&dict.plain().clone(), &key)
    }),
    Def::new("__or__", |vm, args| {
        let [a, b] = args.exactly::<2>("__or__")?;
        vm.binary(Binary::BitOr, a.plain().clone(), b.plain().clone())
    }),
    Def::new("__ior__", |vm, args| {
        let [a, b] = args.exactly::<2>("__ior__")?;
        match vm.update_dict(&a, &b) {
            Ok(_) => Ok(a),
            Err(exc) => Err(exc.and_then(move |_, _| Ok(a))),
        }
    }),
    Def::new("__repr__", |vm, args| {
        let value = args.values[0].plain().clone();
        vm.repr_value(&value)
    }),
    Def::new("__reversed__", |vm, args| {
        let dict = Value::Dict(this(args)?);
        Err(Exc::call(vm.builtins.get("reversed").unwrap_or_default(), vec![dict]))
    }),
    Def::new("get", get).slow("_dict_get").quick(quick::get),
    Def::new("pop", pop).slow("_dict_pop"),
    Def::new("setdefault", |_, args| {
        let dict = this(args)?;
        let [_, key, default] = args.bind("setdefault", &["self", "/key", "/default"], 2)?;
        let hash = compare::hash(&key)?;
        let mut table = dict.borrow_mut();
        if let Some(place) = table.find(hash, &key)? {
            return Ok(table.slots()[place].value.clone());
        }
        let default = if matches!(default, Value::Unbound) { Value::None } else { default };
        table.insert_new(hash, key, default.clone());
        Ok(default)
    })
    .slow("_dict_setdefault"),
    Def::new("popitem", |_, args| {
        let dict = this(args)?;
        let mut table = dict.borrow_mut();
        match table.last() {
            Some(place) => {
                let (key, value) = table.remove(place);
                Ok(Value::tuple(vec![key, value]))
            }
            None => Err(Exc::key(Value::str("popitem(): dictionary is empty"))),
        }
    }),
    Def::new("keys", |_, args| view(args, ViewKind::Keys)).quick(quick::keys),
    Def::new("values", |_, args| view(args, ViewKind::Values)).quick(quick::values),
    Def::new("items", |_, args| view(args, ViewKind::Items)).quick(quick::items),
    Def::new("clear", |_, args| {
        let dict = this(args)?;
        let old = std::mem::take(&mut *dict.borrow_mut());
        drop(old);
        Ok(Value::None)
    }),
    Def::new("copy", |_, args| Ok(Value::Dict(Dict::from_table(this(args)?.borrow().copy())))),
    Def::new("__copy__", |_, args| Ok(Value::Dict(Dict::from_table(this(args)?.borrow().copy())))),
    Def::new("_move_to_end", |_, args| {
        let [dict, key, last] = args.bind("move_to_end", &["self", "key", "last"], 2)?;
        let Value::Dict(dict) = dict.plain() else { return Err(Exc::ty("not a dictionary")) };
        let hash = compare::hash(&key)?;
        let mut table = dict.borrow_mut();
        let Some(place) = table.find(hash, &key)? else { return Err(Exc::key(key)) };
        let (key, value) = table.remove(place);
        if last.is(&Value::bool(false)) {
            let rest = table.copy();
            let mut moved = Table::default();
            moved.insert_new(hash, key, value);
            for entry in rest.slots() {
                moved.insert_new(entry.hash, entry.key.clone(), entry.value.clone());
            }
            *table = moved;
        } else {
            table.insert_new(hash, key, value);
        }
        Ok(Value::None)
    }),
    Def::new("fromkeys", |vm, args| {
        let [class, iterable, value] = match args.len() {
            1 if args.keywords.is_empty() => return Err(Exc::ty("fromkeys expected at least 1 argument, got 0")),
            _ => args.bind("fromkeys", &["cls", "/iterable", "/value"], 2)?,
        };
        let value = if matches!(value, Value::Unbound) { Value::None } else { value };
        let items = vm.items_of(&iterable)?;
        if matches!(&class, Value::Class(class) if class.mutable) {
            return Err(vm.by_prelude("_fromkeys", vec![class, Value::list(items), value]));
        }
        let dict = Dict::new();
        for key in items {
            set_in(&dict, &key, value.clone())?;
        }
        Ok(Value::Dict(dict))
    })
    .slow("_fromkeys")
    .class_method(),
];

const VIEW: &[Def] = &[
    Def::new("__len__", |_, args| Ok(Value::from(this(args)?.len()))),
    Def::new("__iter__", |vm, args| {
        let view = args.values[0].clone();
        vm.iter(&view)
    }),
    Def::new("isdisjoint", |vm, args| {
        let [a, b] = args.exactly::<2>("isdisjoint")?;
        Err(vm.by_prelude("_isdisjoint", vec![a, b]))
    }),
    Def::new("mapping", |_, args| Ok(Value::Other(Rc::new(Other::MappingProxy(this(args)?))))).get(),
];

pub(super) fn install(types: &Types) {
    fill(&types.dict, "dict", COMPARISONS);
    fill(&types.dict, "dict", METHODS);
    types.dict.attrs.set("__hash__", Value::None);
    types.dict.touch();
    for class in [&types.dict_keys, &types.dict_values, &types.dict_items] {
        fill(class, "dict_view", VIEW);
    }
    let read: Vec<Def> = METHODS
        .iter()
        .filter(|def| matches!(def.name, "get" | "keys" | "values" | "items" | "copy" | "__len__" | "__iter__" | "__contains__"))
        .copied()
        .collect();
    fill(&types.mapping_proxy, "mappingproxy", &read);
}
