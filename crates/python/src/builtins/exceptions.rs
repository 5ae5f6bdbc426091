//! Exceptions' methods and attributes.

use super::{Def, Types, fill};
use crate::objects::class::Inner;
use crate::objects::exception::{ExcData, TracePoint};
use crate::objects::{Args, Class, Exc, Instance, Kind, Other, Value};
use crate::vm::Vm;
use crate::vm::intern::intern;
use std::cell::RefCell;
use std::rc::Rc;

/// An exception of a class with arguments.
pub(crate) fn make(class: Rc<Class>, args: Vec<Value>) -> Rc<Instance> {
    let data = ExcData { args, cause: Value::None, context: Value::None, suppress_context: false, traceback: Vec::new(), hint: None };
    Instance::new(class, Inner::Exception(RefCell::new(data)))
}

/// The traceback of an exception as an object.
pub(crate) fn traceback_of(vm: &Vm, exception: &Value) -> Value {
    let Value::Instance(instance) = exception else { return Value::None };
    let Some(data) = instance.exception() else { return Value::None };
    let points: Vec<TracePoint> = data.borrow().traceback.iter().rev().cloned().collect();
    traceback(vm, points)
}

fn traceback(vm: &Vm, points: Vec<TracePoint>) -> Value {
    if points.is_empty() { Value::None } else { vm.host_instance(&vm.types.traceback, points) }
}

/// Sets the traceback of an exception to an object of such, or to none.
fn set_traceback(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [object, value] = args.exactly::<2>("with_traceback")?;
    let points = match &value {
        Value::None => Vec::new(),
        Value::Instance(instance) if let Some(points) = instance.lasting::<Vec<TracePoint>>() => points.iter().rev().cloned().collect(),
        _ => return Err(Exc::ty("__traceback__ must be a traceback or None")),
    };
    data(&object)?.borrow_mut().traceback = points;
    Ok(object)
}

fn points(args: &Args) -> Result<&[TracePoint], Exc> {
    match args.values.first() {
        Some(Value::Instance(instance)) => {
            instance.lasting::<Vec<TracePoint>>().map(Vec::as_slice).ok_or_else(|| Exc::ty("not a traceback"))
        }
        _ => Err(Exc::ty("not a traceback")),
    }
}

const TRACEBACK: &[Def] = &[
    Def::new("tb_lineno", |_, args| Ok(Value::Int(i64::from(crate::vm::traceback::line(&points(args)?[0]))))).get(),
    Def::new("tb_next", |vm, args| Ok(traceback(vm, points(args)?[1..].to_vec()))).get(),
    Def::new("tb_frame", |vm, args| Ok(vm.host_instance(&vm.types.frame, points(args)?[..1].to_vec()))).get(),
];

const FRAME: &[Def] = &[
    Def::new("f_code", |_, args| Ok(Value::Code(points(args)?[0].code.clone()))).get(),
    Def::new("f_lineno", |_, args| Ok(Value::Int(i64::from(crate::vm::traceback::line(&points(args)?[0]))))).get(),
];

fn data(value: &Value) -> Result<&RefCell<ExcData>, Exc> {
    match value {
        Value::Instance(instance) => instance.exception().ok_or_else(|| Exc::ty("not an exception")),
        _ => Err(Exc::ty("not an exception")),
    }
}

fn new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if args.values.is_empty() {
        return Err(Exc::ty("BaseException.__new__(): not enough arguments"));
    }
    let Value::Class(class) = args.values.remove(0) else { return Err(Exc::ty("BaseException.__new__(X): X is not a type object")) };
    let keywords = std::mem::take(&mut args.keywords);
    let values: Vec<Value> = args.values.drain(..).collect();
    // `OSError(2, ..)` is a `FileNotFoundError`.
    let class = match values.first().and_then(Value::to_i64) {
        Some(number) if values.len() > 1 && Rc::ptr_eq(&class, &vm.types.exception(Kind::OSError)) => vm.types.exception(match number {
            2 => Kind::FileNotFoundError,
            1 | 13 => Kind::PermissionError,
            17 => Kind::FileExistsError,
            20 => Kind::NotADirectoryError,
            21 => Kind::IsADirectoryError,
            _ => Kind::OSError,
        }),
        _ => class,
    };
    let made = make(class.clone(), values.clone());
    details(&class, &made, &values);
    for (name, value) in keywords {
        // `ImportError(.., name=.., path=..)`, `AttributeError(.., name=.., obj=..)`.
        if !matches!(name.as_str(), "name" | "path" | "obj") {
            return Err(Exc::ty(format!("{}() takes no keyword arguments", class.name().as_str())));
        }
        made.attrs_mut().set_str(&name, value);
    }
    Ok(Value::Instance(made))
}

/// Attributes that classes give their arguments.
pub(super) fn details(class: &Rc<Class>, made: &Rc<Instance>, values: &[Value]) {
    let is = |name: &str| class.name().as_str() == name || class.mro.borrow().iter().any(|c| c.name().as_str() == name);
    if is("SystemExit") {
        let code = match values {
            [] => Value::None,
            [one] => one.clone(),
            all => Value::tuple(all.to_vec()),
        };
        made.attrs_mut().set("code", code);
    }
    if is("UnicodeError") && values.len() == 5 {
        for (name, value) in UNICODE.iter().zip(values) {
            made.attrs_mut().set(name, value.clone());
        }
    }
    if is("SyntaxError")
        && let [message, Value::Tuple(place)] = values
    {
        let names = ["filename", "lineno", "offset", "text", "end_lineno", "end_offset"];
        made.attrs_mut().set("msg", message.clone());
        for (name, value) in names.iter().zip(place.iter()) {
            made.attrs_mut().set(name, value.clone());
        }
    }
    if is("ImportError") {
        made.attrs_mut().set(
            "msg",
            match values {
                [message] => message.clone(),
                _ => Value::None,
            },
        );
    }
    if is("OSError") && values.len() >= 2 {
        made.attrs_mut().set("errno", values[0].clone());
        made.attrs_mut().set("strerror", values[1].clone());
        made.attrs_mut().set("filename", values.get(2).cloned().unwrap_or(Value::None));
        if let Some(second) = values.get(4) {
            made.attrs_mut().set("filename2", second.clone());
        }
        if let (3..=5, Some(data)) = (values.len(), made.exception()) {
            data.borrow_mut().args.truncate(2);
        }
    }
}

fn init(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let Some(object) = args.values.first().cloned() else { return Err(Exc::ty("not enough arguments")) };
    let values: Vec<Value> = args.values.drain(..).skip(1).collect();
    let old = std::mem::replace(&mut data(&object)?.borrow_mut().args, values.clone());
    drop(old);
    if let Value::Instance(instance) = &object {
        let class = instance.class().clone();
        details(&class, instance, &values);
    }
    Ok(Value::None)
}

const UNICODE: [&str; 5] = ["encoding", "object", "start", "end", "reason"];

/// What could not be encoded or decoded, as CPython says it.
fn unicode_text(instance: &Instance) -> Option<String> {
    let attrs = instance.attrs()?;
    let [encoding, object, start, end, reason] = UNICODE.map(|name| attrs.get(name).unwrap_or_default());
    let (start, end) = (start.to_i64()?, end.to_i64()?);
    let at = usize::try_from(start).ok()?;
    let (does, what, one) = match object.plain() {
        Value::Str(text) => ("encode", "character", text.as_str().chars().nth(at).map(|c| crate::text::quote::ascii(&c.to_string()))),
        Value::Bytes(bytes) => ("decode", "byte", bytes.get(at).map(|byte| format!("{byte:#04x}"))),
        _ => return None,
    };
    let place = match one.filter(|_| end == start + 1) {
        Some(one) => format!("{what} {one} in position {start}"),
        None => format!("{what}s in position {start}-{}", end - 1),
    };
    Some(format!("'{}' codec can't {does} {place}: {}", encoding.as_str()?, reason.as_str()?))
}

/// What is wrong with a text, and where, as CPython says it in one line.
pub(crate) fn own_text(vm: &Vm, object: &Value) -> Option<String> {
    let Value::Instance(instance) = object else { return None };
    if vm.is_exception(object, Kind::UnicodeError) {
        return unicode_text(instance);
    }
    if !vm.is_exception(object, Kind::SyntaxError) {
        return None;
    }
    let attrs = instance.attrs()?;
    let (message, file, line) = (attrs.get("msg")?, attrs.get("filename")?, attrs.get("lineno")?.to_i64()?);
    let file = file.as_str()?;
    Some(format!("{} ({}, line {line})", message.as_str()?, file.rsplit('/').next().unwrap_or(file)))
}

const METHODS: &[Def] = &[
    Def::new("__new__", new).fixed(),
    Def::new("__init__", init),
    Def::new("__repr__", |vm, args| {
        let [object] = args.exactly::<1>("__repr__")?;
        repr(vm, &object)
    })
    .slow("_exception_repr"),
    Def::new("__str__", |vm, args| {
        let [object] = args.exactly::<1>("__str__")?;
        let values = data(&object)?.borrow().args.clone();
        match values.as_slice() {
            [] => Ok(Value::str("")),
            [one] if vm.is_exception(&object, Kind::KeyError) => vm.repr_value(one),
            [one] => vm.str_value(one),
            _ => vm.str_native(&object).map(Value::str),
        }
    }),
    Def::new("with_traceback", set_traceback),
    Def::new("add_note", |vm, args| {
        let [object, note] = args.exactly::<2>("add_note")?;
        if note.as_str().is_none() {
            return Err(Exc::ty(format!("note must be a str, not '{}'", vm.type_name(&note))));
        }
        if let Value::Instance(instance) = &object {
            let attrs = instance.attrs_mut();
            match attrs.get("__notes__") {
                Some(Value::List(list)) => list.push(note),
                _ => attrs.set("__notes__", Value::list(vec![note])),
            }
        }
        Ok(Value::None)
    }),
    Def::new("value", |_, args| {
        let [object] = args.exactly::<1>("value")?;
        Ok(data(&object)?.borrow().args.first().cloned().unwrap_or(Value::None))
    })
    .get(),
];

fn repr(vm: &mut Vm, object: &Value) -> Result<Value, Exc> {
    let values = data(object)?.borrow().args.clone();
    let name = vm.type_name(object);
    let inner = vm.repr_native(&Value::tuple(values.clone()))?;
    Ok(Value::str(match values.len() {
        1 => format!("{name}({})", inner.strip_prefix('(').and_then(|t| t.strip_suffix(",)")).unwrap_or(&inner)),
        _ => format!("{name}{inner}"),
    }))
}

/// An attribute of exceptions: how it is read and set.
fn attribute(types: &Types, name: &'static str, get: crate::objects::NativeFn, set: crate::objects::NativeFn) {
    let base = types.exception(Kind::BaseException);
    base.attrs.set_str(&intern(name), Value::Other(Rc::new(Other::GetSet { name, get, set: Some(set) })));
}

pub(super) fn install(types: &Types) {
    let base = types.exception(Kind::BaseException);
    fill(&base, "BaseException", &METHODS[..METHODS.len() - 1]);
    fill(&types.traceback, "traceback", TRACEBACK);
    fill(&types.frame, "frame", FRAME);
    fill(&types.exception(Kind::StopIteration), "StopIteration", &METHODS[METHODS.len() - 1..]);
    for (kind, names) in [
        (Kind::AttributeError, &["name", "obj"][..]),
        (Kind::NameError, &["name"]),
        (Kind::ImportError, &["name", "path"]),
        (Kind::OSError, &["errno", "strerror", "filename", "filename2"]),
    ] {
        for name in names {
            types.exception(kind).attrs.set_str(&intern(name), Value::None);
        }
    }
    attribute(
        types,
        "args",
        |_, args| Ok(Value::tuple(data(&args.values[0])?.borrow().args.clone())),
        |vm, args| {
            let [object, value] = args.exactly::<2>("args")?;
            let items = vm.items_of(&value)?;
            data(&object)?.borrow_mut().args = items;
            Ok(Value::None)
        },
    );
    attribute(
        types,
        "__cause__",
        |_, args| Ok(data(&args.values[0])?.borrow().cause.clone()),
        |_, args| {
            let [object, value] = args.exactly::<2>("__cause__")?;
            let mut data = data(&object)?.borrow_mut();
            data.suppress_context = true;
            data.cause = value;
            Ok(Value::None)
        },
    );
    attribute(
        types,
        "__context__",
        |_, args| Ok(data(&args.values[0])?.borrow().context.clone()),
        |_, args| {
            let [object, value] = args.exactly::<2>("__context__")?;
            data(&object)?.borrow_mut().context = value;
            Ok(Value::None)
        },
    );
    attribute(
        types,
        "__suppress_context__",
        |_, args| Ok(Value::bool(data(&args.values[0])?.borrow().suppress_context)),
        |_, args| {
            let [object, value] = args.exactly::<2>("__suppress_context__")?;
            data(&object)?.borrow_mut().suppress_context = value.is(&Value::bool(true));
            Ok(Value::None)
        },
    );
    attribute(types, "__traceback__", |vm, args| Ok(traceback_of(vm, &args.values[0])), set_traceback);
}
