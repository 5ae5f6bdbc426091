//! Natives that only the prelude calls.

use super::Def;
use crate::bytecode::Code;
use crate::compile::Wanted;
use crate::host::Stream;
use crate::objects::{Args, Exc, List, Value};
use crate::vm::Vm;
use crate::vm::compare;
use crate::vm::intern::intern;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What the prelude alone may call.
pub(super) const INTERNAL: &[Def] = &[
    Def::new("_want", |vm, args| {
        let [name] = args.exactly::<1>("_want")?;
        vm.want_module(name.as_str().unwrap_or_default())?;
        Ok(Value::None)
    }),
    Def::new("_load", |vm, args| {
        let [name] = args.exactly::<1>("_load")?;
        let name = name.as_str().unwrap_or_default().to_string();
        vm.load_module(&name)
    }),
    Def::new("_run_text", |vm, args| {
        // The value of a text, as an expression or as statements, whose names are in a dictionary.
        let [text, file, names, is_expression] = args.exactly::<4>("_run_text")?;
        let (Some(text), Some(file), Value::Dict(names)) = (text.as_str(), file.as_str(), &names) else {
            return Err(Exc::ty("_run_text() needs two strings and a dict"));
        };
        let code = code_of(vm, text, file, compare::truth(&is_expression) == Some(true))?;
        let function = vm.module_function(code, names.clone());
        Err(Exc::call(Value::Function(function), vec![]))
    }),
    Def::new("_check_text", |vm, args| {
        let [text, file, is_expression] = args.exactly::<3>("_check_text")?;
        let (Some(text), Some(file)) = (text.as_str(), file.as_str()) else { return Err(Exc::ty("_check_text() needs two strings")) };
        code_of(vm, text, file, compare::truth(&is_expression) == Some(true))?;
        Ok(Value::None)
    }),
    Def::new("_modules", |vm, _| Ok(Value::Dict(vm.modules.clone()))),
    Def::new("_type_of", |vm, args| {
        let [value] = args.exactly::<1>("type")?;
        Ok(Value::Class(vm.class_of(&value)))
    }),
    Def::new("_keyed", keyed),
    Def::new("_int_digits", |_, args| {
        let most = &crate::text::int::MOST_DIGITS;
        if let Some(new) = args.values.first().and_then(Value::to_i64) {
            most.set(new as usize);
        }
        Ok(Value::from(most.get()))
    }),
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
    Def::new("_is_plain", |_, args| {
        // Whether an object's repr or str is native.
        let [value, name] = args.exactly::<2>("_is_plain")?;
        let name = intern(name.as_str().unwrap_or_default());
        Ok(Value::bool(match &value {
            Value::Instance(instance) => matches!(instance.class().lookup(&name), Some(Value::Native(native)) if native.owner != "host"),
            Value::Class(class) => class.meta.borrow().as_ref().is_none_or(|meta| !matches!(meta.lookup(&name), Some(Value::Function(_)))),
            _ => true,
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

/// What texts became, by text, file and whether each is an expression: loops are known by the addresses of their code, which therefore stays.
type Texts = FxHashMap<(String, String, bool), Rc<Code>>;

fn code_of(vm: &mut Vm, text: &str, file: &str, is_expression: bool) -> Result<Rc<Code>, Exc> {
    let key = (text.to_string(), file.to_string(), is_expression);
    if let Some(code) = vm.state.get("texts").and_then(|texts| texts.downcast_ref::<Texts>()?.get(&key)) {
        return Ok(code.clone());
    }
    let wanted = if is_expression { Wanted::Expression } else { Wanted::Nothing };
    let code = vm.compile_as(file, text, false, wanted).map_err(Exc::raise)?;
    let texts = vm.state.entry("texts").or_insert_with(|| Box::new(Texts::default()));
    if let Some(texts) = texts.downcast_mut::<Texts>() {
        texts.insert(key, code.clone());
    }
    Ok(code)
}

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
