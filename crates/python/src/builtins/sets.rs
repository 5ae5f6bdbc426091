//! `set` and `frozenset`.

use super::numbers::{COMPARISONS, class_and, wrapped};
use super::{Def, Types, fill};
use crate::bytecode::Binary;
use crate::objects::set::Members;
use crate::objects::{Args, Exc, Set, Value};
use crate::vm::Vm;
use crate::vm::compare;
use std::rc::Rc;

fn this(args: &Args) -> Result<Rc<Set>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::Set(set)) => Ok(set.clone()),
        _ => Err(Exc::ty("descriptor requires a 'set' object")),
    }
}

fn new(vm: &mut Vm, args: &mut Args, frozen: bool) -> Result<Value, Exc> {
    let class = class_and(args)?;
    let [iterable] = args.bind("set", &["/iterable"], 0)?;
    if class.mutable && !frozen || matches!(iterable, Value::Unbound) {
        return Ok(wrapped(&class, Value::Set(Set::new(Members::default(), frozen))));
    }
    if let Value::Set(set) = iterable.plain() {
        return Ok(wrapped(&class, Value::Set(Set::new(set.borrow().copy(), frozen))));
    }
    let items = vm.items_of(&iterable)?;
    match vm.make_set(items, frozen) {
        Ok(set) => Ok(wrapped(&class, set)),
        Err(exc) => Err(exc.and_then(move |_, set| Ok(wrapped(&class, set)))),
    }
}

/// The members of an iterable as a set.
fn as_set(vm: &mut Vm, value: &Value) -> Result<Value, Exc> {
    match value.plain() {
        set @ Value::Set(_) => Ok(set.clone()),
        _ => {
            let items = vm.items_of(value)?;
            match vm.make_set(items, false) {
                Err(exc) if exc.is_call() => Err(Exc::slow()),
                other => other,
            }
        }
    }
}

fn combined(vm: &mut Vm, args: &mut Args, op: Binary) -> Result<Value, Exc> {
    let values: Vec<Value> = args.values.drain(..).collect();
    let set = this(&Args::from(values.clone()))?;
    let mut result = Value::Set(Set::new(set.borrow().copy(), set.frozen));
    for other in &values[1..] {
        let other = as_set(vm, other)?;
        // Members that compare by Python code are the slow function's from the beginning: nothing has changed yet.
        result = vm.binary(op, result, other).map_err(|exc| if exc.is_call() { Exc::slow() } else { exc })?;
    }
    Ok(result)
}

fn updated(vm: &mut Vm, args: &mut Args, op: Binary) -> Result<Value, Exc> {
    let set = this(args)?;
    let result = combined(vm, args, op)?;
    if let Value::Set(result) = result {
        let members = std::mem::take(&mut *result.borrow_mut());
        let old = std::mem::replace(&mut *set.borrow_mut(), members);
        drop(old);
    }
    Ok(Value::None)
}

fn tested(vm: &mut Vm, args: &mut Args, test: fn(&Members, &Members) -> Result<bool, Exc>) -> Result<Value, Exc> {
    let set = this(args)?;
    let [_, other] = args.exactly::<2>("set method")?;
    let Value::Set(other) = as_set(vm, &other)? else { return Ok(Value::bool(false)) };
    let answer = test(&set.borrow(), &other.borrow());
    answer.map(Value::bool)
}

fn within(a: &Members, b: &Members) -> Result<bool, Exc> {
    for (hash, value) in a.iter() {
        if b.find(hash, value)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn discard(args: &mut Args) -> Result<Option<Value>, Exc> {
    let set = this(args)?;
    let [_, value] = args.exactly::<2>("remove")?;
    let hash = compare::hash(&value)?;
    let mut members = set.borrow_mut();
    match members.find(hash, &value)? {
        Some(place) => {
            let old = members.remove(place);
            drop(members);
            drop(old);
            Ok(None)
        }
        None => Ok(Some(value)),
    }
}

macro_rules! operator {
    ($name:literal, $reflected:literal, $op:ident) => {
        [
            Def::new($name, |vm, args| {
                let [a, b] = args.exactly::<2>($name)?;
                if !matches!(b.plain(), Value::Set(_)) {
                    return Ok(Value::NotImplemented);
                }
                vm.binary(Binary::$op, a.plain().clone(), b.plain().clone())
            }),
            Def::new($reflected, |vm, args| {
                let [a, b] = args.exactly::<2>($name)?;
                if !matches!(b.plain(), Value::Set(_)) {
                    return Ok(Value::NotImplemented);
                }
                vm.binary(Binary::$op, b.plain().clone(), a.plain().clone())
            }),
        ]
    };
}

const SHARED: &[Def] = &[
    Def::new("__len__", |_, args| Ok(Value::from(this(args)?.len()))),
    Def::new("__iter__", |vm, args| {
        let set = Value::Set(this(args)?);
        vm.iter(&set)
    }),
    Def::new("__contains__", |vm, args| {
        let [set, key] = args.exactly::<2>("__contains__")?;
        vm.contains(&set.plain().clone(), &key).map(Value::bool)
    }),
    Def::new("__repr__", |vm, args| {
        let value = args.values[0].plain().clone();
        vm.repr_value(&value)
    }),
    Def::new("copy", |_, args| {
        let set = this(args)?;
        Ok(Value::Set(Set::new(set.borrow().copy(), set.frozen)))
    }),
    Def::new("union", |vm, args| combined(vm, args, Binary::BitOr)).slow("_set_union"),
    Def::new("intersection", |vm, args| combined(vm, args, Binary::BitAnd)).slow("_set_intersection"),
    Def::new("difference", |vm, args| combined(vm, args, Binary::Sub)).slow("_set_difference"),
    Def::new("symmetric_difference", |vm, args| combined(vm, args, Binary::BitXor)).slow("_set_symmetric_difference"),
    Def::new("issubset", |vm, args| tested(vm, args, within)).slow("_set_issubset"),
    Def::new("issuperset", |vm, args| tested(vm, args, |a, b| within(b, a))).slow("_set_issuperset"),
    Def::new("isdisjoint", |vm, args| {
        tested(vm, args, |a, b| {
            for (hash, value) in a.iter() {
                if b.find(hash, value)?.is_some() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    })
    .slow("_isdisjoint"),
];

const METHODS: &[Def] = &[
    Def::new("__new__", |vm, args| new(vm, args, false)).fixed().slow(""),
    Def::new("__init__", |vm, args| {
        let set = this(args)?;
        let [_, iterable] = args.bind("set", &["/self", "/iterable"], 1)?;
        if let (false, Value::Set(made)) =
            (matches!(iterable, Value::Unbound), if matches!(iterable, Value::Unbound) { Value::None } else { as_set(vm, &iterable)? })
        {
            let members = made.borrow().copy();
            *set.borrow_mut() = members;
        }
        Ok(Value::None)
    })
    .slow("_set_update"),
    Def::new("add", |vm, args| {
        let [set, value] = args.exactly::<2>("add")?;
        vm.add_to_set(&set, value)
    }),
    Def::new("remove", |_, args| match discard(args)? {
        Some(value) => Err(Exc::key(value)),
        None => Ok(Value::None),
    })
    .slow("_set_remove"),
    Def::new("discard", |_, args| discard(args).map(|_| Value::None)).slow("_set_discard"),
    Def::new("pop", |_, args| {
        let set = this(args)?;
        let mut members = set.borrow_mut();
        let place = members.slots().iter().position(|(_, v)| !matches!(v, Value::Unbound));
        match place {
            Some(place) => Ok(members.remove(place)),
            None => Err(Exc::key(Value::str("pop from an empty set"))),
        }
    }),
    Def::new("clear", |_, args| {
        let old = std::mem::take(&mut *this(args)?.borrow_mut());
        drop(old);
        Ok(Value::None)
    }),
    Def::new("update", |vm, args| updated(vm, args, Binary::BitOr)).slow("_set_update"),
    Def::new("intersection_update", |vm, args| updated(vm, args, Binary::BitAnd)).slow("_set_intersection_update"),
    Def::new("difference_update", |vm, args| updated(vm, args, Binary::Sub)).slow("_set_difference_update"),
    Def::new("symmetric_difference_update", |vm, args| updated(vm, args, Binary::BitXor)).slow("_set_symmetric_difference_update"),
];

/// `__ior__` and the like, for subclasses and `operator`.
fn inplace(vm: &mut Vm, args: &mut Args, op: Binary) -> Result<Value, Exc> {
    let [set, other] = args.exactly::<2>("descriptor")?;
    let Value::Set(_) = other.plain() else { return Ok(Value::NotImplemented) };
    match vm.inplace(op, set.plain().clone(), other.plain().clone()) {
        Ok(_) => Ok(set),
        Err(exc) => Err(exc.and_then(|_, _| Ok(set))),
    }
}

const INPLACE: &[Def] = &[
    Def::new("__ior__", |vm, args| inplace(vm, args, Binary::BitOr)),
    Def::new("__iand__", |vm, args| inplace(vm, args, Binary::BitAnd)),
    Def::new("__isub__", |vm, args| inplace(vm, args, Binary::Sub)),
    Def::new("__ixor__", |vm, args| inplace(vm, args, Binary::BitXor)),
];

pub(super) fn install(types: &Types) {
    for (class, owner) in [(&types.set, "set"), (&types.frozenset, "frozenset")] {
        fill(class, owner, COMPARISONS);
        fill(class, owner, SHARED);
        fill(class, owner, &operator!("__or__", "__ror__", BitOr));
        fill(class, owner, &operator!("__and__", "__rand__", BitAnd));
        fill(class, owner, &operator!("__sub__", "__rsub__", Sub));
        fill(class, owner, &operator!("__xor__", "__rxor__", BitXor));
    }
    fill(&types.set, "set", METHODS);
    fill(&types.set, "set", INPLACE);
    types.set.attrs.set("__hash__", Value::None);
    fill(&types.frozenset, "frozenset", &[Def::new("__new__", |vm, args| new(vm, args, true)).fixed().slow("")]);
    fill(&types.frozenset, "frozenset", super::numbers::HASH);
    types.set.touch();
}
