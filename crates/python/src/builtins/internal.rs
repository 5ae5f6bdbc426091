//! Natives that only the prelude calls.

use super::Def;
use crate::host::Stream;
use crate::objects::{Args, Exc, List, Value};
use crate::vm::Vm;
use crate::vm::compare;
use crate::vm::intern::intern;
use std::rc::Rc;

/// What the prelude alone may call.
pub(super) const INTERNAL: &[Def] = &[
    Def::new("_load", |vm, args| {
        let [name] = args.exactly::<1>("_load")?;
        let name = name.as_str().unwrap_or_default().to_string();
        vm.load_module(&name)
    }),
    Def::new("_modules", |vm, _| Ok(Value::Dict(vm.modules.clone()))),
    Def::new("_type_of", |vm, args| {
        let [value] = args.exactly::<1>("type")?;
        Ok(Value::Class(vm.class_of(&value)))
    }),
    Def::new("_keyed", keyed),
    Def::new("_same_hash", same_hash),
    Def::new("_set_hash", |_, args| {
        let [object, hash] = args.exactly::<2>("_set_hash")?;
        if let Value::Instance(instance) = &object {
            instance.hash.set(hash.to_i64().unwrap_or(1) as u64);
        }
        Ok(Value::None)
    }),
    Def::new("_write", |vm, args| {
        let [text] = args.exactly::<1>("_write")?;
        vm.write(Stream::Out, text.as_str().unwrap_or_default());
        Ok(Value::None)
    }),
    Def::new("_throw", |vm, args| {
        let [generator, exception] = args.exactly::<2>("throw")?;
        let _ = vm;
        match generator {
            Value::Generator(generator) => Err(Exc(Box::new(crate::objects::exception::Signal::Throw(generator, exception)))),
            _ => Err(Exc::ty("not a generator")),
        }
    }),
    Def::new("_sort_pairs", |vm, args| {
        let [list, keys, reverse] = args.exactly::<3>("_sort_pairs")?;
        super::lists::sort_by_keys(vm, &list, &keys, compare::truth(&reverse) == Some(true))
    })
    .slow("_sort_pairs_slow"),
    Def::new("_plain", |_, args| {
        let [value] = args.exactly::<1>("_plain")?;
        Ok(value.plain().clone())
    }),
    Def::new("_is_plain", |vm, args| {
        // Whether an object's repr or str is native.
        let [value, name] = args.exactly::<2>("_is_plain")?;
        let name = intern(name.as_str().unwrap_or_default());
        Ok(Value::bool(match &value {
            Value::Instance(instance) => matches!(instance.class().lookup(&name), Some(Value::Native(native)) if native.owner != "host"),
            _ => !matches!(&value, Value::Class(class) if class.meta.borrow().is_some()) || !vm.has_attribute(&value, "x"),
        }))
    }),
    Def::new("_lookup", |vm, args| {
        // A method of the type, bound, or None.
        let [value, name] = args.exactly::<2>("_lookup")?;
        let name = intern(name.as_str().unwrap_or_default());
        Ok(vm.special(&value, &name).unwrap_or(Value::None))
    }),
    Def::new("_percent_kinds", super::strings::percent_kinds),
    Def::new("_format_parts", super::strings::format_parts),
    Def::new("_format_name", super::strings::format_name),
    Def::new("_make_bare_set", |vm, args| {
        let [list, frozen] = args.exactly::<2>("set")?;
        let items = vm.items_of(&list)?;
        compare::by_identity(|| vm.make_set(items, compare::truth(&frozen) == Some(true)))
    }),
    Def::new("_native_dict_update", |vm, args| {
        let [dict, other] = args.exactly::<2>("update")?;
        compare::by_identity(|| vm.update_dict(&dict, &other))
    }),
];

/// One operation of a dictionary or set with a key that was resolved by Python code: it is found by identity.
fn keyed(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [operation, container, key, value] = args.exactly::<4>("_keyed")?;
    let operation = operation.as_str().unwrap_or_default().to_string();
    compare::by_identity(|| match (operation.as_str(), container.plain()) {
        ("get", plain) => vm.builtin_item(plain, &key),
        ("set", plain) => vm.builtin_set_item(plain, &key, value).map(|()| Value::None),
        ("del", plain @ Value::Dict(_)) => vm.builtin_delete_item(plain, &key),
        ("in", plain) => vm.contains(plain, &key).map(Value::bool),
        ("add", plain) => vm.add_to_set(plain, key),
        ("del", Value::Set(set)) => {
            let hash = compare::hash(&key)?;
            let mut members = set.borrow_mut();
            match members.find(hash, &key)? {
                Some(place) => {
                    let old = members.remove(place);
                    drop(members);
                    drop(old);
                    Ok(Value::None)
                }
                None => Err(Exc::key(key)),
            }
        }
        _ => Err(Exc::ty("unknown operation")),
    })
}

/// Keys of a dictionary or set with a given hash.
fn same_hash(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [container, key] = args.exactly::<2>("_same_hash")?;
    let hash = compare::hash(&key)?;
    let keys: Vec<Value> = match container.plain() {
        Value::Dict(dict) => {
            dict.borrow().slots().iter().filter(|e| e.hash == hash && !matches!(e.key, Value::Unbound)).map(|e| e.key.clone()).collect()
        }
        Value::Set(set) => set.borrow().iter().filter(|(h, _)| *h == hash).map(|(_, v)| v.clone()).collect(),
        _ => Vec::new(),
    };
    Ok(Value::List(Rc::new(List::new(keys))))
}
