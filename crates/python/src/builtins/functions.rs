//! Builtin functions.

use super::arithmetic::{abs, base, divmod, pow, round, sum};
use super::{Def, quick};
use crate::host::{Asked, Stream};
use crate::objects::{Args, Dict, Exc, Iter, Kind, Other, Step, Value, ViewKind};
use crate::text;
use crate::vm::Vm;
use crate::vm::compare;
use crate::vm::intern::intern;
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Def] = &[
    Def::new("__build_class__", |vm, args| vm.build_class(std::mem::take(args))),
    Def::new("__type_parameter__", |vm, args| Err(vm.by_prelude("_type_parameter", args.values.drain(..).collect()))),
    Def::new("__star__", |vm, args| Err(vm.by_prelude("_Star", args.values.drain(..).collect()))),
    Def::new("print", print).slow("_print"),
    Def::new("len", len).quick(quick::len),
    Def::new("repr", |vm, args| {
        let [value] = args.exactly::<1>("repr")?;
        vm.repr_value(&value)
    }),
    Def::new("ascii", |vm, args| {
        let [value] = args.exactly::<1>("ascii")?;
        Ok(Value::str(text::quote::to_ascii(&vm.repr_native(&value)?)))
    })
    .slow("_ascii"),
    Def::new("hash", |_, args| {
        let [value] = args.exactly::<1>("hash")?;
        Ok(Value::Int(compare::hash(&value)? as i64))
    })
    .slow("_hash"),
    Def::new("id", |_, args| {
        let [value] = args.exactly::<1>("id")?;
        Ok(Value::Int(value.address() as i64))
    }),
    Def::new("isinstance", |vm, args| {
        let [value, class] = args.exactly::<2>("isinstance")?;
        vm.instance_of(&value, &class).map(Value::bool)
    })
    .slow("_isinstance")
    .quick(quick::is_instance),
    Def::new("issubclass", issubclass).slow("_issubclass"),
    Def::new("callable", |vm, args| {
        let [value] = args.exactly::<1>("callable")?;
        Ok(Value::bool(match &value {
            Value::Function(_) | Value::Native(_) | Value::Method(_) | Value::Class(_) => true,
            Value::Instance(instance) => instance.class().lookup(&vm.names.call).is_some(),
            Value::Other(other) => matches!(&**other, Other::Alias { .. } | Other::StaticMethod(_)),
            _ => false,
        }))
    }),
    Def::new("iter", |vm, args| {
        if args.values.len() == 2 {
            let values = args.values.to_vec();
            return Err(vm.by_prelude("_iter_sentinel", values));
        }
        let [value] = args.exactly::<1>("iter")?;
        vm.iter(&value)
    }),
    Def::new("next", next),
    Def::new("getattr", getattr),
    Def::new("hasattr", hasattr),
    Def::new("setattr", |vm, args| {
        let [object, name, value] = args.exactly::<3>("setattr")?;
        let name = attribute_name(vm, &name)?;
        vm.set_attr(&object, &name, value)
    }),
    Def::new("delattr", |vm, args| {
        let [object, name] = args.exactly::<2>("delattr")?;
        let name = attribute_name(vm, &name)?;
        vm.delete_attr(&object, &name)
    }),
    Def::new("abs", abs).quick(quick::abs),
    Def::new("min", |vm, args| extreme(vm, args, "min", std::cmp::Ordering::Less)).slow("_min").quick(quick::min),
    Def::new("max", |vm, args| extreme(vm, args, "max", std::cmp::Ordering::Greater)).slow("_max").quick(quick::max),
    Def::new("sum", sum).slow("_sum"),
    Def::new("any", |vm, args| any_all(vm, args, "any", true)).slow("_any"),
    Def::new("all", |vm, args| any_all(vm, args, "all", false)).slow("_all"),
    Def::new("sorted", sorted).slow("_sorted"),
    Def::new("reversed", reversed),
    Def::new("enumerate", enumerate).slow("_enumerate").quick(quick::enumerate),
    Def::new("zip", zip).slow("_zip").quick(quick::zip),
    Def::new("chr", |vm, args| {
        let [code] = args.exactly::<1>("chr")?;
        match u32::try_from(vm.index_of(&code)?).ok().filter(|c| *c < 0x11_0000) {
            Some(code) => char::from_u32(code).map(|c| vm.char_value(c)).ok_or_else(|| Exc::value("surrogates are not supported here")),
            None => Err(Exc::value("chr() arg not in range(0x110000)")),
        }
    }),
    Def::new("ord", ord).quick(quick::ord),
    Def::new("hex", |vm, args| base(vm, args, "hex", 16)),
    Def::new("oct", |vm, args| base(vm, args, "oct", 8)),
    Def::new("bin", |vm, args| base(vm, args, "bin", 2)),
    Def::new("round", round).slow("_round"),
    Def::new("divmod", divmod).slow("_divmod"),
    Def::new("pow", pow),
    Def::new("format", |vm, args| {
        let [value, spec] = args.bind("format", &["value", "format_spec"], 1)?;
        vm.format(&value, &spec)
    }),
    Def::new("vars", |vm, args| {
        if args.values.is_empty() {
            return Ok(locals(vm));
        }
        let [object] = args.exactly::<1>("vars")?;
        let name = vm.names.dict.clone();
        vm.get_attr(&object, &name).map_err(|_| Exc::ty("vars() argument must have __dict__ attribute"))
    }),
    Def::new("globals", |vm, _| {
        // The prelude's functions do a builtin's work for whoever called it.
        let frame = vm.frames.iter().rev().find(|frame| !Rc::ptr_eq(&frame.function.globals, &vm.prelude));
        Ok(frame.map_or(Value::None, |frame| Value::Dict(frame.function.globals.clone())))
    }),
    Def::new("locals", |vm, _| Ok(locals(vm))),
    Def::new("dir", dir).slow(""),
    Def::new("input", |vm, args| {
        let [prompt] = args.bind("input", &["prompt"], 0)?;
        if !matches!(prompt, Value::Unbound) {
            let text = vm.str_native(&prompt)?;
            vm.write(Stream::Out, &text);
        }
        if vm.outside().asks() {
            return Err(Exc::pending(Box::new(Asked)));
        }
        let line = vm.read_line()?;
        if line.is_empty() {
            return Err(Exc::new(Kind::EOFError, "EOF when reading a line"));
        }
        Ok(Value::str(line.strip_suffix('\n').unwrap_or(&line)))
    })
    .slow("_input"),
    Def::new("__import__", |vm, args| {
        let name = args.values.first().cloned().unwrap_or_default();
        let names = args.keyword("fromlist").or_else(|| args.values.get(3).cloned()).unwrap_or(Value::None);
        let names = if crate::vm::compare::truth(&names) == Some(true) { names } else { Value::None };
        let root = name.as_str().unwrap_or_default().split('.').next().unwrap_or_default().to_string();
        Err(vm.by_prelude("_import", vec![name, names, Value::str(root)]))
    }),
];

fn locals(vm: &mut Vm) -> Value {
    let Some(frame) = vm.frames.iter().rev().find(|frame| !frame.function.code.source.internal) else { return Value::None };
    if let Some(names) = frame.names() {
        return frame.prepared().cloned().unwrap_or_else(|| Value::Dict(names.clone()));
    }
    if frame.function.code.name.as_str() == "<module>" {
        return Value::Dict(frame.function.globals.clone());
    }
    let dict = Dict::new();
    for (i, name) in frame.function.code.slots.iter().enumerate() {
        let value = match &vm.stack[frame.base as usize + i] {
            Value::Cell(cell) => cell.value.borrow().clone(),
            other => other.clone(),
        };
        if !matches!(value, Value::Unbound) && !name.as_str().starts_with('.') {
            dict.set_str(name, value);
        }
    }
    Value::Dict(dict)
}

fn print(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let sep = args.keyword("sep").unwrap_or(Value::None);
    let end = args.keyword("end").unwrap_or(Value::None);
    let file = args.keyword("file").unwrap_or(Value::None);
    let flush = args.keyword("flush");
    if let Some((name, _)) = args.keywords.first() {
        return Err(Exc::ty(format!("'{}' is an invalid keyword argument for print()", name.as_str())));
    }
    let separator = |value: Value, default: &str, name: &str| match &value {
        Value::None => Ok(default.to_string()),
        other => match other.as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(Exc::ty(format!("{name} must be None or a string, not {}", vm.type_name(other)))),
        },
    };
    let (sep, end) = (separator(sep, " ", "sep")?, separator(end, "\n", "end")?);
    let mut out = String::new();
    for (i, value) in args.values.iter().enumerate() {
        if i > 0 {
            out.push_str(&sep);
        }
        match value {
            Value::Str(text) => out.push_str(text.as_str()),
            other => out.push_str(&vm.str_native(other)?),
        }
    }
    out.push_str(&end);
    let flush = match flush {
        Some(flush) => vm.truth(&flush)?,
        None => false,
    };
    if matches!(file, Value::None) {
        // A script may have put another object in place of sys.stdout.
        if let Some(Value::Module(sys)) = vm.modules.get("sys")
            && let Some(out_file) = sys.attrs.get("stdout")
            && !sys.attrs.get("__stdout__").is_some_and(|original| original.is(&out_file))
        {
            if matches!(out_file, Value::None) {
                return Ok(Value::None);
            }
            return print_to(vm, out_file, out, flush);
        }
        vm.write(Stream::Out, &out);
        if flush {
            vm.flush();
        }
        return Ok(Value::None);
    }
    print_to(vm, file, out, flush)
}

/// Calls `write` of an object, and `flush` after it where that is asked.
fn print_to(vm: &mut Vm, stream: Value, out: String, flush: bool) -> Result<Value, Exc> {
    let found = vm.get_attr(&stream, &intern("write"));
    let then = move |_: &mut Vm, write: Value| {
        Err(Exc::call_then(write, vec![Value::str(out)], move |vm, _| match flush {
            true => Err(vm.by_prelude("_flush", vec![stream])),
            false => Ok(Value::None),
        }))
    };
    match found {
        Ok(write) => then(vm, write),
        Err(exc) => Err(exc.and_then(then)),
    }
}

/// The length of a builtin value.
pub(super) fn native_len(value: &Value) -> Option<usize> {
    Some(match value {
        Value::Str(text) => text.len(),
        Value::List(list) => list.len(),
        Value::Tuple(items) => items.len(),
        Value::Dict(dict) => dict.len(),
        Value::Set(set) => set.len(),
        Value::Range(range) => range.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Other(other) => match &**other {
            Other::View(_, dict) | Other::MappingProxy(dict) => dict.len(),
            _ => return None,
        },
        _ => return None,
    })
}

fn len(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("len")?;
    let too_large = |what: &str| Exc::new(Kind::OverflowError, what);
    if let Some(len) = native_len(&value) {
        let len = i64::try_from(len).map_err(|_| too_large("Python int too large to convert to C ssize_t"))?;
        return Ok(Value::Int(len));
    }
    if let Some(method) = vm.special(&value, &vm.names.len.clone()) {
        return Err(Exc::call_then(method, vec![], move |vm, len| match len.plain() {
            Value::Int(i) if *i >= 0 => Ok(Value::Int(*i)),
            Value::Int(_) => Err(Exc::value("__len__() should return >= 0")),
            Value::Bool(b) => Ok(Value::Int(i64::from(b.get()))),
            Value::Big(_) => Err(too_large("cannot fit 'int' into an index-sized integer")),
            other => Err(Exc::ty(format!("'{}' object cannot be interpreted as an integer", vm.type_name(other)))),
        }));
    }
    Err(Exc::ty(format!("object of type '{}' has no len()", vm.type_name(&value))))
}

fn issubclass(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [class, of] = args.exactly::<2>("issubclass")?;
    let Value::Class(class) = &class else { return Err(Exc::ty("issubclass() arg 1 must be a class")) };
    fn check(vm: &mut Vm, class: &Rc<crate::objects::Class>, of: &Value) -> Result<bool, Exc> {
        let sub = class;
        match of {
            Value::Class(of) => {
                let meta = of.meta.borrow().clone();
                if meta.is_some_and(|meta| matches!(meta.lookup(&vm.names.subclasscheck), Some(Value::Function(_)))) {
                    return Err(Exc::slow());
                }
                Ok(class.is_subclass(of))
            }
            Value::Tuple(classes) => {
                // Tuples within tuples are walked, not recursed into: they may be nested as deep as a script likes.
                let mut pending: Vec<Value> = classes.iter().rev().cloned().collect();
                while let Some(class) = pending.pop() {
                    if let Value::Tuple(inner) = &class {
                        pending.extend(inner.iter().rev().cloned());
                    } else if check(vm, sub, &class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Other(other) if let Other::Alias { origin: Value::Str(_), args: Value::Tuple(parts) } = &**other => {
                for part in parts.iter() {
                    let none = vm.class_of(&Value::None);
                    if if matches!(part, Value::None) { class.is_subclass(&none) } else { check(vm, class, part)? } {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Instance(_) if vm.special(of, &vm.names.subclasscheck.clone()).is_some() => Err(Exc::slow()),
            _ => Err(Exc::ty("issubclass() arg 2 must be a class, a tuple of classes, or a union")),
        }
    }
    check(vm, class, &of).map(Value::bool)
}

fn next(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [iterator, default] = args.bind("next", &["/iterator", "/default"], 1)?;
    let call = match &iterator {
        Value::Iterator(native) => match native.clone().next(vm)? {
            Some(value) => return Ok(value),
            None => Exc::new(Kind::StopIteration, ""),
        },
        Value::Generator(generator) => Exc(Box::new(crate::objects::exception::Signal::Resume(generator.clone(), Some(Value::None)))),
        Value::Instance(instance) => {
            let method = instance.class().lookup(&vm.names.next);
            match method {
                Some(method) => Exc::call(method, vec![iterator.clone()]),
                None => return Err(Exc::ty(format!("'{}' object is not an iterator", vm.type_name(&iterator)))),
            }
        }
        other => return Err(Exc::ty(format!("'{}' object is not an iterator", vm.type_name(other)))),
    };
    if matches!(default, Value::Unbound) {
        return Err(call);
    }
    if call.is_new(Kind::StopIteration) {
        return Ok(default);
    }
    // The default takes the place of the end.
    let step = vm.native("next", |_, args| {
        let [iterator] = args.exactly::<1>("next")?;
        match iterator {
            Value::Generator(generator) => Err(Exc(Box::new(crate::objects::exception::Signal::Resume(generator, Some(Value::None))))),
            _ => Err(Exc::ty("not a generator")),
        }
    });
    match iterator {
        Value::Generator(_) => Err(Exc::call_catch(step, vec![iterator], Kind::StopIteration, move |_, _| Ok(default), None)),
        _ => match Vm::call_of(call) {
            Ok(mut call) => {
                call.catch = Some((Kind::StopIteration, Box::new(move |_, _| Ok(default))));
                Err(Exc(Box::new(crate::objects::exception::Signal::Call(call))))
            }
            Err(exc) => Err(exc),
        },
    }
}

fn attribute_name(vm: &Vm, name: &Value) -> Result<Rc<crate::objects::Str>, Exc> {
    match name.as_str() {
        Some(text) => Ok(intern(text)),
        None => Err(Exc::ty(format!("attribute name must be string, not '{}'", vm.type_name(name)))),
    }
}

fn getattr(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [object, name, default] = args.bind("getattr", &["/object", "/name", "/default"], 2)?;
    let name = attribute_name(vm, &name)?;
    let result = vm.get_attr(&object, &name);
    if matches!(default, Value::Unbound) {
        return result;
    }
    attribute_or(result, move || Ok(default))
}

/// A value found, or another where there is no such attribute.
fn attribute_or(result: Result<Value, Exc>, otherwise: impl FnOnce() -> Result<Value, Exc> + 'static) -> Result<Value, Exc> {
    let Err(exc) = result else { return result };
    if exc.is_new(Kind::AttributeError) {
        return otherwise();
    }
    match Vm::call_of(exc) {
        Ok(call) if call.catch.is_none() => {
            let mut call = call;
            call.catch = Some((Kind::AttributeError, Box::new(move |_, _| otherwise())));
            Err(Exc(Box::new(crate::objects::exception::Signal::Call(call))))
        }
        Ok(call) => {
            // It catches the error itself first (a property with `__getattr__`): around that goes another.
            let run = std::cell::RefCell::new(Some(call));
            let native = Value::Native(Rc::new(crate::objects::Native {
                name: intern("getattr"),
                run: crate::objects::function::Run::Closure(Box::new(move |_, _| match run.borrow_mut().take() {
                    Some(call) => Err(Exc(Box::new(crate::objects::exception::Signal::Call(call)))),
                    None => Ok(Value::None),
                })),
                slow: None,
                quick: None,
                method: false,
                of_number: false,
                owner: "",
                doc: "",
            }));
            Err(Exc::call_catch(native, vec![], Kind::AttributeError, move |_, _| otherwise(), None))
        }
        Err(exc) => Err(exc),
    }
}

fn hasattr(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [object, name] = args.exactly::<2>("hasattr")?;
    let name = attribute_name(vm, &name)?;
    let result = match vm.get_attr(&object, &name) {
        Ok(_) => Ok(Value::bool(true)),
        Err(exc) => Err(exc.and_then(|_, _| Ok(Value::bool(true)))),
    };
    attribute_or(result, || Ok(Value::bool(false)))
}

fn extreme(vm: &mut Vm, args: &mut Args, name: &str, wanted: std::cmp::Ordering) -> Result<Value, Exc> {
    if !args.keywords.is_empty() {
        return Err(Exc::slow());
    }
    let slow = if wanted.is_lt() { "_min" } else { "_max" };
    let (items, rest) = match args.values.len() {
        0 => return Err(Exc::ty(format!("{name} expected at least 1 argument, got 0"))),
        1 => some_items(vm, &args.values[0])?,
        _ => (args.values.to_vec(), Value::None),
    };
    if items.is_empty() {
        return Err(Exc::value(format!("{name}() iterable argument is empty")));
    }
    match best_of(vm, &items, wanted) {
        Ok(best) if matches!(rest, Value::None) => Ok(best),
        Ok(best) => Err(go_on(vm, slow, vec![best], rest, Value::Unbound)),
        Err(exc) if exc.is_slow() && args.values.len() == 1 => Err(go_on(vm, slow, items, rest, Value::Unbound)),
        Err(exc) => Err(exc),
    }
}

/// As many items as a native takes at a time, so that a run can be stopped between.
const AT_ONCE: usize = 1 << 20;

/// The first items of what is iterated without Python code, and the iterator where there may be more. What Python code gives is left to
/// the prelude, which takes one item at a time: it may never end.
pub(super) fn some_items(vm: &mut Vm, iterable: &Value) -> Result<(Vec<Value>, Value), Exc> {
    let iterator = match iterable {
        Value::Iterator(_) | Value::Range(_) => vm.native_iter(iterable).unwrap_or_default(),
        _ => {
            return match vm.items_of(iterable) {
                Ok(items) => Ok((items, Value::None)),
                Err(exc) if matches!(&*exc.0, crate::objects::exception::Signal::Collect(_)) => Err(Exc::slow()),
                Err(exc) => Err(exc),
            };
        }
    };
    let mut items = Vec::new();
    while items.len() < AT_ONCE {
        match vm.step(&iterator)? {
            Some(item) => items.push(item),
            None => return Ok((items, Value::None)),
        }
    }
    Ok((items, iterator))
}

/// Goes on by a function of the prelude with items taken already, those to come, and one more argument.
pub(super) fn go_on(vm: &Vm, function: &str, items: Vec<Value>, rest: Value, more: Value) -> Exc {
    let mut args = vec![vm.prelude_function(function), Value::list(items), rest];
    args.extend((!matches!(more, Value::Unbound)).then_some(more));
    vm.by_prelude("_go_on", args)
}

fn best_of(vm: &mut Vm, items: &[Value], wanted: std::cmp::Ordering) -> Result<Value, Exc> {
    let op = if wanted.is_lt() { crate::bytecode::Compare::Lt } else { crate::bytecode::Compare::Gt };
    let mut best = items.first().cloned().unwrap_or_default();
    for item in items.iter().skip(1) {
        if matches!(item, Value::Instance(_)) || matches!(best, Value::Instance(_)) {
            return Err(Exc::slow());
        }
        match vm.compare(op, item, &best) {
            Ok(Value::Bool(better)) if better.get() => best = item.clone(),
            Ok(_) => {}
            Err(exc) if matches!(&*exc.0, crate::objects::exception::Signal::Call(_)) => return Err(Exc::slow()),
            Err(exc) => return Err(exc),
        }
    }
    Ok(best)
}

fn any_all(vm: &mut Vm, args: &mut Args, name: &str, wanted: bool) -> Result<Value, Exc> {
    let [iterable] = args.exactly::<1>(name)?;
    if matches!(iterable, Value::Generator(_) | Value::Instance(_)) {
        return Err(Exc::slow());
    }
    let function = if wanted { "_any" } else { "_all" };
    let (items, rest) = some_items(vm, &iterable)?;
    for (at, item) in items.iter().enumerate() {
        match compare::truth(item) {
            Some(truth) if truth == wanted => return Ok(Value::bool(wanted)),
            Some(_) => {}
            None => return Err(go_on(vm, function, items[at..].to_vec(), rest, Value::Unbound)),
        }
    }
    if matches!(rest, Value::None) { Ok(Value::bool(!wanted)) } else { Err(go_on(vm, function, Vec::new(), rest, Value::Unbound)) }
}

fn sorted(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if args.values.len() != 1 {
        return Err(Exc::ty(format!("sorted expected 1 argument, got {}", args.values.len())));
    }
    let key = args.keywords.iter().find(|(name, _)| name.as_str() == "key");
    if key.is_some_and(|(_, key)| !matches!(key, Value::None)) {
        return Err(Exc::slow());
    }
    let items = vm.items_of(&args.values[0].clone())?;
    let list = Value::list(items);
    let reverse = args.keyword("reverse").unwrap_or(Value::bool(false));
    super::lists::sort_by_keys(vm, &list, &Value::None, compare::truth(&reverse) == Some(true))?;
    Ok(list)
}

fn reversed(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("reversed")?;
    if let Some(method) = vm.special(&value, &intern("__reversed__"))
        && !crate::vm::index::is_native_method(&method)
    {
        return Err(Exc::call(method, vec![]));
    }
    Ok(Iter::value(match value.plain() {
        Value::List(list) => Step::ListReversed(list.clone(), list.len()),
        Value::Tuple(items) => Step::Values(items.iter().rev().cloned().collect::<Vec<_>>().into_iter()),
        Value::Str(text) => Step::Values(text.as_str().chars().rev().map(|c| vm.char_value(c)).collect::<Vec<_>>().into_iter()),
        Value::Range(range) => {
            let len = range.len();
            let last = if len == 0 { range.start } else { range.get(len - 1) };
            Step::Range { next: last, left: len, step: range.step.wrapping_neg() }
        }
        Value::Dict(dict) => Step::DictReversed { kind: ViewKind::Keys, dict: dict.clone(), place: dict.borrow().slots().len() },
        Value::Other(other) if let Other::View(kind, dict) = &**other => {
            Step::DictReversed { kind: *kind, dict: dict.clone(), place: dict.borrow().slots().len() }
        }
        _ => {
            if vm.special(&value, &vm.names.getitem.clone()).is_some() && vm.special(&value, &vm.names.len.clone()).is_some() {
                return Err(vm.by_prelude("_reversed", vec![value]));
            }
            return Err(Exc::ty(format!("'{}' object is not reversible", vm.type_name(&value))));
        }
    }))
}

fn enumerate(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [iterable, start] = args.bind("enumerate", &["iterable", "start"], 1)?;
    let start = if matches!(start, Value::Unbound) { 0 } else { vm.index_of(&start)? };
    match vm.iter(&iterable) {
        Ok(iterator @ Value::Iterator(_)) => Ok(Iter::value(Step::Enumerate(iterator, start))),
        Ok(_) => Err(Exc::slow()),
        Err(exc) if matches!(&*exc.0, crate::objects::exception::Signal::Call(_)) => Err(Exc::slow()),
        Err(exc) => Err(exc),
    }
}

fn zip(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if args.keywords.iter().any(|(name, value)| name.as_str() == "strict" && compare::truth(value) != Some(false)) {
        return Err(Exc::slow());
    }
    let mut iterators = Vec::new();
    for value in args.values.drain(..) {
        match vm.iter(&value) {
            Ok(iterator @ Value::Iterator(_)) => iterators.push(iterator),
            Ok(_) => return Err(Exc::slow()),
            Err(exc) if matches!(&*exc.0, crate::objects::exception::Signal::Call(_)) => return Err(Exc::slow()),
            Err(exc) => return Err(exc),
        }
    }
    Ok(Iter::value(Step::Zip(iterators)))
}

fn ord(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("ord")?;
    match value.plain() {
        Value::Str(text) if text.len() == 1 => Ok(Value::Int(i64::from(u32::from(text.as_str().chars().next().unwrap_or_default())))),
        Value::Str(text) => Err(Exc::ty(format!("ord() expected a character, but string of length {} found", text.len()))),
        Value::Bytes(bytes) if bytes.len() == 1 => Ok(Value::Int(i64::from(bytes[0]))),
        other => Err(Exc::ty(format!("ord() expected string of length 1, but {} found", vm.type_name(other)))),
    }
}

fn dir(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let mut names: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
    let mut add = |dict: &Rc<Dict>| {
        for (key, _) in dict.borrow().iter() {
            if let Some(name) = key.as_str() {
                names.insert(name.to_string());
            }
        }
    };
    let object = match args.values.first() {
        Some(object) => object.clone(),
        None => {
            if let Value::Dict(dict) = locals(vm) {
                add(&dict);
            }
            return Ok(Value::list(names.into_iter().map(Value::str).collect()));
        }
    };
    if let Some(method) = vm.special(&object, &intern("__dir__"))
        && !crate::vm::index::is_native_method(&method)
    {
        return Err(Exc::call_then(method, vec![], |vm, names| Err(vm.by_prelude("_sorted", vec![names]))));
    }
    vm.attribute_names(&object, &mut add);
    Ok(Value::list(names.into_iter().map(Value::str).collect()))
}
