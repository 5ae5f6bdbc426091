//! `object`, `type`, functions, descriptors, generators.

use super::{Def, Types, fill};
use crate::objects::exception::{Signal, TracePoint};
use crate::objects::generator::State;
use crate::objects::{Args, Class, Dict, Exc, Function, Kind, Method, Other, Value};
use crate::vm::Vm;
use crate::vm::intern::intern;
use std::rc::Rc;

fn class_arg(args: &mut Args) -> Result<Rc<Class>, Exc> {
    if args.values.is_empty() {
        return Err(Exc::ty("__new__(): not enough arguments"));
    }
    match args.values.remove(0) {
        Value::Class(class) => Ok(class),
        _ => Err(Exc::ty("__new__(X): X is not a type object")),
    }
}

const OBJECT: &[Def] = &[
    Def::new("__new__", |vm, args| {
        let class = class_arg(args)?;
        // What a class's own `__new__` hands on is one too many.
        if (!args.values.is_empty() || !args.keywords.is_empty())
            && matches!(class.lookup(&vm.names.new), Some(Value::Function(_) | Value::Other(_)))
            && !matches!(class.lookup(&vm.names.new), Some(Value::Other(other)) if matches!(&*other, Other::StaticMethod(Value::Native(_))))
        {
            return Err(Exc::ty("object.__new__() takes exactly one argument (the type to instantiate)"));
        }
        vm.make_instance(&class)
    })
    .fixed(),
    Def::new("__init__", |vm, args| {
        if args.values.len() > 1 || !args.keywords.is_empty() {
            let class = vm.class_of(&args.values[0]);
            if class.lookup(&vm.names.init).is_some_and(|init| !matches!(&init, Value::Native(native) if native.owner == "object")) {
                return Err(Exc::ty("object.__init__() takes exactly one argument (the instance to initialize)"));
            }
            if matches!(class.lookup(&vm.names.new), Some(Value::Other(other)) if matches!(&*other, Other::StaticMethod(Value::Native(_))))
            {
                return Err(Exc::ty(format!("{}() takes no arguments", class.name().as_str())));
            }
        }
        Ok(Value::None)
    }),
    Def::new("__repr__", |vm, args| {
        let [object] = args.exactly::<1>("__repr__")?;
        match &object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                Ok(Value::str(format!("<{} object at {:#x}>", vm.full_name(&class), object.address())))
            }
            _ => vm.repr_value(&object),
        }
    }),
    Def::new("__str__", |vm, args| {
        let [object] = args.exactly::<1>("__str__")?;
        if let Value::Instance(_) = &object
            && let Some(repr) = vm.special(&object, &vm.names.repr.clone())
        {
            return Err(Exc::call(repr, vec![]));
        }
        vm.str_value(&object)
    }),
    Def::new("__format__", |vm, args| {
        let [object, spec] = args.exactly::<2>("__format__")?;
        if !object.plain().is(&object) {
            return vm.format(&object.plain().clone(), &spec);
        }
        vm.format(&object, &spec)
    }),
    Def::new("__eq__", |_, args| {
        let [a, b] = args.exactly::<2>("__eq__")?;
        Ok(if a.is(&b) { Value::bool(true) } else { Value::NotImplemented })
    }),
    Def::new("__ne__", |vm, args| {
        let [a, b] = args.exactly::<2>("__ne__")?;
        let equal = vm.special(&a, &vm.names.eq.clone()).unwrap_or_default();
        if crate::vm::index::is_native_method(&equal) || matches!(equal, Value::Unbound) {
            return Ok(if a.is(&b) { Value::bool(false) } else { Value::NotImplemented });
        }
        Err(Exc::call_then(equal, vec![b], |vm, answer| match answer {
            Value::NotImplemented => Ok(answer),
            other => vm.truth_then(other, |_, truth| Ok(Value::bool(!truth))),
        }))
    }),
    Def::new("__hash__", |_, args| {
        let [object] = args.exactly::<1>("__hash__")?;
        Ok(Value::Int((object.address() >> 4) as i64))
    }),
    Def::new("__getattribute__", |vm, args| {
        let [object, name] = args.exactly::<2>("__getattribute__")?;
        let name = intern(name.as_str().unwrap_or_default());
        vm.get_plain(&object, &name)
    }),
    Def::new("__setattr__", |vm, args| {
        let [object, name, value] = args.exactly::<3>("__setattr__")?;
        let name = intern(name.as_str().ok_or_else(|| Exc::ty("attribute name must be string"))?);
        match &object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                vm.set_plain(&object, instance, &class, &name, value)
            }
            Value::Class(class) => vm.set_on_class(class, &name, value),
            _ => vm.set_attr(&object, &name, value),
        }
    }),
    Def::new("__delattr__", |vm, args| {
        let [object, name] = args.exactly::<2>("__delattr__")?;
        let name = intern(name.as_str().unwrap_or_default());
        match &object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                vm.delete_plain(&object, instance, &class, &name)
            }
            _ => vm.delete_attr(&object, &name),
        }
    }),
    Def::new("__init_subclass__", |_, args| {
        if let (Some(Value::Class(class)), false) = (args.values.first(), args.keywords.is_empty()) {
            return Err(Exc::ty(format!("{}.__init_subclass__() takes no keyword arguments", class.name().as_str())));
        }
        Ok(Value::None)
    })
    .class_method(),
    Def::new("__subclasshook__", |_, _| Ok(Value::NotImplemented)).class_method(),
    Def::new("__dir__", |vm, args| {
        let [object] = args.exactly::<1>("__dir__")?;
        Err(Exc::call(vm.builtins.get("dir").unwrap_or_default(), vec![object]))
    }),
    Def::new("__reduce_ex__", |_, _| Err(Exc::ty("cannot pickle objects here"))),
];

const TYPE: &[Def] = &[
    Def::new("__new__", |vm, args| {
        let meta = class_arg(args)?;
        let keywords = std::mem::take(&mut args.keywords);
        let [name, bases, names] = args.exactly::<3>("type.__new__")?;
        let bases = vm.items_of(&bases)?;
        let Value::Dict(names) = names.plain() else { return Err(Exc::ty("type.__new__() argument 3 must be dict")) };
        let Some(name) = name.as_str() else { return Err(Exc::ty("type.__new__() argument 1 must be str")) };
        if names.get_str(&vm.names.module).is_none()
            && let Some(frame) = vm.frames.iter().rev().find(|f| !f.function.code.source.internal)
            && let Some(module) = frame.function.globals.get_str(&vm.names.name)
        {
            names.set_str(&vm.names.module, module);
        }
        // The metaclass of a base may make it, as in a class statement.
        if let Some(Value::Class(winner)) = vm.winner(Some(Value::Class(meta.clone())), &bases)?
            && !Rc::ptr_eq(&winner, &meta)
            && let Some(made) = winner.lookup(&vm.names.new)
            && !matches!(made, Value::Native(_))
        {
            let mut args =
                Args::from(vec![Value::Class(winner.clone()), Value::str(name), Value::tuple(bases), Value::Dict(names.clone())]);
            args.keywords = keywords;
            let made = vm.bind_now(made, &Value::Class(winner.clone()), &winner);
            return Err(Exc::call_args(made, args));
        }
        let class = vm.new_class(name, &bases, names, Some(meta))?;
        vm.class_hooks(&class, keywords, Value::Class(class.clone()))
    })
    .fixed(),
    Def::new("__init__", |_, _| Ok(Value::None)),
    Def::new("__call__", |vm, args| {
        if args.values.is_empty() {
            return Err(Exc::ty("type.__call__() needs an argument"));
        }
        let Value::Class(class) = args.values.remove(0) else { return Err(Exc::ty("not a class")) };
        vm.construct(&class, std::mem::take(args))
    }),
    Def::new("mro", |_, args| {
        let [class] = args.exactly::<1>("mro")?;
        Ok(Value::list(mro_of(&class)))
    }),
    Def::new("__subclasses__", |_, args| {
        let [class] = args.exactly::<1>("__subclasses__")?;
        let Value::Class(class) = class else { return Err(Exc::ty("not a class")) };
        Ok(Value::list(class.subclasses().into_iter().map(Value::Class).collect()))
    }),
    Def::new("__instancecheck__", |vm, args| {
        let [class, object] = args.exactly::<2>("__instancecheck__")?;
        match &class {
            Value::Class(class) => Ok(Value::bool(vm.is_instance(&object, class))),
            _ => Err(Exc::ty("not a class")),
        }
    }),
    Def::new("__subclasscheck__", |_, args| {
        let [class, sub] = args.exactly::<2>("__subclasscheck__")?;
        match (&class, &sub) {
            (Value::Class(class), Value::Class(sub)) => Ok(Value::bool(sub.is_subclass(class))),
            _ => Err(Exc::ty("issubclass() arg 1 must be a class")),
        }
    }),
    Def::new("__prepare__", |_, _| Ok(Value::Dict(Dict::new()))).class_method(),
    Def::new("__or__", |vm, args| {
        let [a, b] = args.exactly::<2>("__or__")?;
        vm.binary(crate::bytecode::Binary::BitOr, a, b)
    }),
    Def::new("__name__", |_, args| Ok(Value::Str(class_of_args(args)?.name()))).get(),
    Def::new("__qualname__", |_, args| Ok(Value::Str(class_of_args(args)?.qualname.borrow().clone()))).get(),
    Def::new("__mro__", |_, args| Ok(Value::tuple(mro_of(&args.values[0])))).get(),
    Def::new("__bases__", |_, args| Ok(Value::tuple(class_of_args(args)?.bases.borrow().iter().cloned().map(Value::Class).collect())))
        .get(),
    Def::new("__base__", |_, args| Ok(class_of_args(args)?.bases.borrow().first().cloned().map_or(Value::None, Value::Class))).get(),
    Def::new("__dict__", |_, args| Ok(Value::Other(Rc::new(Other::MappingProxy(class_of_args(args)?.attrs.clone()))))).get(),
    Def::new("__class__", |vm, args| Ok(Value::Class(vm.class_of(&args.values[0])))).get(),
];

fn class_of_args(args: &Args) -> Result<Rc<Class>, Exc> {
    match args.values.first() {
        Some(Value::Class(class)) => Ok(class.clone()),
        _ => Err(Exc::ty("not a class")),
    }
}

fn mro_of(class: &Value) -> Vec<Value> {
    match class {
        Value::Class(inner) => std::iter::once(class.clone()).chain(inner.mro.borrow().iter().cloned().map(Value::Class)).collect(),
        _ => Vec::new(),
    }
}

fn function(args: &Args) -> Result<Rc<Function>, Exc> {
    match args.values.first() {
        Some(Value::Function(function)) => Ok(function.clone()),
        _ => Err(Exc::ty("not a function")),
    }
}

const FUNCTION: &[Def] = &[
    Def::new("__name__", |_, args| Ok(Value::Str(function(args)?.name.borrow().clone()))).get(),
    Def::new("__qualname__", |_, args| Ok(Value::Str(function(args)?.qualname.borrow().clone()))).get(),
    Def::new("__doc__", |_, args| Ok(function(args)?.doc.borrow().clone())).get(),
    Def::new("__module__", |vm, args| Ok(function(args)?.globals.get_str(&vm.names.name).unwrap_or(Value::None))).get(),
    Def::new("__dict__", |_, args| Ok(Value::Dict(function(args)?.attrs.get_or_init(Dict::new).clone()))).get(),
    Def::new("__globals__", |_, args| Ok(Value::Dict(function(args)?.globals.clone()))).get(),
    Def::new("__code__", |_, args| Ok(Value::Code(function(args)?.code.clone()))).get(),
    Def::new("__closure__", |_, args| {
        let function = function(args)?;
        Ok(if function.closure.is_empty() {
            Value::None
        } else {
            Value::tuple(function.closure.iter().cloned().map(Value::Cell).collect())
        })
    })
    .get(),
    Def::new("__defaults__", |_, args| {
        let function = function(args)?;
        let defaults = function.defaults.borrow();
        Ok(if defaults.is_empty() { Value::None } else { Value::tuple(defaults.clone()) })
    })
    .get(),
    Def::new("__kwdefaults__", |_, args| {
        let function = function(args)?;
        let defaults = function.kwdefaults.borrow();
        if defaults.is_empty() {
            return Ok(Value::None);
        }
        let dict = Dict::new();
        for (name, value) in defaults.iter() {
            dict.set_str(name, value.clone());
        }
        Ok(Value::Dict(dict))
    })
    .get(),
    Def::new("__annotations__", |_, args| {
        let function = function(args)?;
        let known = function.annotations.borrow().clone();
        if let Value::Dict(_) = known {
            return Ok(known);
        }
        let dict = Value::Dict(Dict::new());
        *function.annotations.borrow_mut() = dict.clone();
        Ok(dict)
    })
    .get(),
    Def::new("__get__", |_, args| {
        let [function, object, _] = args.bind("__get__", &["function", "instance", "owner"], 2)?;
        Ok(match object {
            Value::None => function,
            object => Value::Method(Rc::new(Method { function, object })),
        })
    }),
    Def::new("__call__", |_, args| {
        let function = args.values.remove(0);
        Err(Exc::call_args(function, std::mem::take(args)))
    }),
];

const NATIVE: &[Def] = &[
    Def::new("__name__", |_, args| match &args.values[0] {
        Value::Native(native) => Ok(Value::Str(native.name.clone())),
        Value::Method(method) => match &method.function {
            Value::Native(native) => Ok(Value::Str(native.name.clone())),
            _ => Ok(Value::None),
        },
        _ => Ok(Value::None),
    })
    .get(),
    Def::new("__qualname__", |_, args| match &args.values[0] {
        Value::Native(native) => Ok(Value::Str(native.name.clone())),
        _ => Ok(Value::None),
    })
    .get(),
    Def::new("__doc__", |_, _| Ok(Value::None)).get(),
    Def::new("__module__", |_, _| Ok(Value::str("builtins"))).get(),
    Def::new("__call__", |_, args| {
        let function = args.values.remove(0);
        Err(Exc::call_args(function, std::mem::take(args)))
    }),
    Def::new("__self__", |_, args| match &args.values[0] {
        Value::Method(method) => Ok(method.object.clone()),
        _ => Ok(Value::None),
    })
    .get(),
];

const METHOD: &[Def] = &[
    Def::new("__new__", |_, args| {
        class_arg(args)?;
        let [function, object] = args.exactly::<2>("method")?;
        Ok(Value::Method(Rc::new(Method { function, object })))
    })
    .fixed(),
    Def::new("__self__", |_, args| match &args.values[0] {
        Value::Method(method) => Ok(method.object.clone()),
        _ => Ok(Value::None),
    })
    .get(),
    Def::new("__func__", |_, args| match &args.values[0] {
        Value::Method(method) => Ok(method.function.clone()),
        _ => Ok(Value::None),
    })
    .get(),
    Def::new("__doc__", |vm, args| match args.values[0].clone() {
        Value::Method(method) => vm.get_attr(&method.function, &vm.names.doc.clone()),
        _ => Ok(Value::None),
    })
    .get(),
    Def::new("__call__", |_, args| {
        let function = args.values.remove(0);
        Err(Exc::call_args(function, std::mem::take(args)))
    }),
];

const CODE: &[Def] = &[
    Def::new("co_name", |_, args| code(args).map(|c| Value::Str(c.name.clone()))).get(),
    Def::new("co_filename", |_, args| code(args).map(|c| Value::str(&*c.source.file))).get(),
    Def::new("co_firstlineno", |_, args| code(args).map(|c| Value::Int(i64::from(c.line)))).get(),
    Def::new("co_argcount", |_, args| code(args).map(|c| Value::from(c.positional))).get(),
    Def::new("co_posonlyargcount", |_, args| code(args).map(|c| Value::from(c.positional_only))).get(),
    Def::new("co_kwonlyargcount", |_, args| code(args).map(|c| Value::from(c.keyword_only))).get(),
    Def::new("co_varnames", |_, args| code(args).map(|c| Value::tuple(c.slots[..c.free_start].iter().cloned().map(Value::Str).collect())))
        .get(),
    Def::new("co_freevars", |_, args| code(args).map(|c| Value::tuple(c.slots[c.free_start..].iter().cloned().map(Value::Str).collect())))
        .get(),
    Def::new("co_names", |_, args| code(args).map(|c| Value::tuple(c.sites.iter().map(|s| Value::Str(s.name.clone())).collect()))).get(),
    Def::new("co_consts", |_, args| code(args).map(|c| Value::tuple(c.consts.clone()))).get(),
    Def::new("co_flags", |_, args| {
        code(args).map(|c| Value::Int(i64::from(c.star) * 4 + i64::from(c.star_star) * 8 + i64::from(c.generator) * 32 + 3))
    })
    .get(),
];

fn code(args: &Args) -> Result<Rc<crate::bytecode::Code>, Exc> {
    match args.values.first() {
        Some(Value::Code(code)) => Ok(code.clone()),
        _ => Err(Exc::ty("not a code object")),
    }
}

fn property_with(args: &mut Args, which: usize) -> Result<Value, Exc> {
    let [property, function] = args.exactly::<2>("property")?;
    let Value::Other(other) = &property else { return Err(Exc::ty("not a property")) };
    let Other::Property { get, set, delete, doc } = &**other else { return Err(Exc::ty("not a property")) };
    let mut parts = [get.clone(), set.clone(), delete.clone()];
    parts[which] = function;
    let [get, set, delete] = parts;
    Ok(Value::Other(Rc::new(Other::Property { get, set, delete, doc: doc.clone() })))
}

fn property_part(args: &Args, which: usize) -> Result<Value, Exc> {
    match args.values.first() {
        Some(Value::Other(other)) => match &**other {
            Other::Property { get, set, delete, doc } => Ok([get, set, delete, doc][which].clone()),
            _ => Ok(Value::None),
        },
        _ => Ok(Value::None),
    }
}

const PROPERTY: &[Def] = &[
    Def::new("__new__", |_, args| {
        class_arg(args)?;
        let [get, set, delete, doc] = args.bind("property", &["fget", "fset", "fdel", "doc"], 0)?;
        let or_none = |value: Value| if matches!(value, Value::Unbound) { Value::None } else { value };
        let doc = match (&doc, &get) {
            (Value::Unbound, Value::Function(function)) => function.doc.borrow().clone(),
            _ => or_none(doc),
        };
        Ok(Value::Other(Rc::new(Other::Property { get: or_none(get), set: or_none(set), delete: or_none(delete), doc })))
    })
    .fixed(),
    Def::new("getter", |_, args| property_with(args, 0)),
    Def::new("setter", |_, args| property_with(args, 1)),
    Def::new("deleter", |_, args| property_with(args, 2)),
    Def::new("fget", |_, args| property_part(args, 0)).get(),
    Def::new("fset", |_, args| property_part(args, 1)).get(),
    Def::new("fdel", |_, args| property_part(args, 2)).get(),
    Def::new("__doc__", |_, args| property_part(args, 3)).get(),
    Def::new("__get__", |_, args| {
        let [property, object, _] = args.bind("__get__", &["property", "instance", "owner"], 2)?;
        if matches!(object, Value::None) {
            return Ok(property);
        }
        let get = property_part(&Args::from(vec![property]), 0)?;
        Err(Exc::call(get, vec![object]))
    }),
];

fn inner_of(args: &Args) -> Result<Value, Exc> {
    match args.values.first() {
        Some(Value::Other(other)) => match &**other {
            Other::StaticMethod(inner) | Other::ClassMethod(inner) => Ok(inner.clone()),
            _ => Ok(Value::None),
        },
        _ => Ok(Value::None),
    }
}

const STATIC_METHOD: &[Def] = &[
    Def::new("__new__", |_, args| {
        class_arg(args)?;
        let [function] = args.exactly::<1>("staticmethod")?;
        Ok(Value::Other(Rc::new(Other::StaticMethod(function))))
    })
    .fixed(),
    Def::new("__func__", |_, args| inner_of(args)).get(),
    Def::new("__wrapped__", |_, args| inner_of(args)).get(),
    Def::new("__get__", |_, args| inner_of(args)),
];

const CLASS_METHOD: &[Def] = &[
    Def::new("__new__", |_, args| {
        class_arg(args)?;
        let [function] = args.exactly::<1>("classmethod")?;
        Ok(Value::Other(Rc::new(Other::ClassMethod(function))))
    })
    .fixed(),
    Def::new("__func__", |_, args| inner_of(args)).get(),
    Def::new("__wrapped__", |_, args| inner_of(args)).get(),
    Def::new("__get__", |vm, args| {
        let [method, object, owner] = args.bind("__get__", &["method", "instance", "owner"], 2)?;
        let function = inner_of(&Args::from(vec![method]))?;
        let owner = if matches!(owner, Value::Unbound | Value::None) { Value::Class(vm.class_of(&object)) } else { owner };
        Ok(Value::Method(Rc::new(Method { function, object: owner })))
    }),
];

const SUPER: &[Def] = &[Def::new("__new__", |vm, args| {
    class_arg(args)?;
    if args.values.is_empty() {
        return Err(Exc::new(Kind::RuntimeError, "super(): no arguments"));
    }
    if args.values.len() == 1 {
        // Bound to nothing it has what every object has: `super(C).__init__()` does nothing.
        let [class] = args.exactly::<1>("super")?;
        let Value::Class(class) = class else { return Err(Exc::ty("super() argument 1 must be a type")) };
        return Ok(Value::Other(Rc::new(Other::Super { class, object: Value::None, kind: vm.types.super_.clone() })));
    }
    let [class, object] = args.exactly::<2>("super")?;
    let Value::Class(class) = class else { return Err(Exc::ty("super() argument 1 must be a type")) };
    let kind = match &object {
        Value::Class(object) if object.is_subclass(&class) => object.clone(),
        other => vm.class_of(other),
    };
    if !kind.is_subclass(&class) {
        return Err(Exc::ty("super(type, obj): obj must be an instance or subtype of type"));
    }
    Ok(Value::Other(Rc::new(Other::Super { class, object, kind })))
})
.fixed()];

fn generator(args: &Args) -> Result<Rc<crate::objects::Generator>, Exc> {
    match args.values.first() {
        Some(Value::Generator(generator)) => Ok(generator.clone()),
        _ => Err(Exc::ty("not a generator")),
    }
}

/// Where the frame of a generator waits.
fn waiting(args: &Args) -> Result<Option<TracePoint>, Exc> {
    let generator = generator(args)?;
    let saved = generator.saved.borrow();
    let frame = saved.as_ref().and_then(|saved| saved.frame.as_ref());
    Ok(frame.map(|frame| TracePoint { code: frame.function.code.clone(), at: frame.ip.saturating_sub(1) as usize }))
}

const GENERATOR: &[Def] = &[
    Def::new("__iter__", |_, args| Ok(args.values[0].clone())),
    Def::new("__next__", |_, args| Err(Exc(Box::new(Signal::Resume(generator(args)?, Some(Value::None)))))),
    Def::new("send", |_, args| {
        let generator = generator(args)?;
        let [_, value] = args.exactly::<2>("send")?;
        Err(Exc(Box::new(Signal::Resume(generator, Some(value)))))
    }),
    Def::new("throw", |vm, args| {
        let generator = generator(args)?;
        let [_, class, value, _] = args.bind("throw", &["self", "type", "value", "traceback"], 2)?;
        match (&class, value) {
            (Value::Class(_), value) => {
                let args = if matches!(value, Value::Unbound | Value::None) { vec![] } else { vec![value] };
                let known = class.clone();
                Err(Exc::call_then(class, args, move |vm, made| {
                    // What is no exception is an error where the generator waits, as if it had raised it.
                    let kind = Value::str(vm.type_name(&made));
                    let made = match vm.made_exception(&known, made, kind) {
                        Ok(made) => made,
                        Err(exc) => vm.exception_of(exc),
                    };
                    Err(Exc(Box::new(Signal::Throw(generator, made))))
                }))
            }
            (Value::Instance(instance), _) if instance.exception().is_some() => Err(Exc(Box::new(Signal::Throw(generator, class)))),
            _ => {
                let kind = vm.type_name(&class);
                Err(Exc::ty(format!("exceptions must be classes or instances deriving from BaseException, not {kind}")))
            }
        }
    }),
    Def::new("close", |vm, args| {
        let generator = generator(args)?;
        match generator.state.get() {
            State::Finished => Ok(Value::None),
            State::Created => {
                generator.state.set(State::Finished);
                let saved = generator.saved.borrow_mut().take();
                drop(saved);
                Ok(Value::None)
            }
            _ => Err(vm.by_prelude("_close", vec![Value::Generator(generator)])),
        }
    }),
    Def::new("__name__", |_, args| Ok(Value::Str(generator(args)?.name.clone()))).get(),
    Def::new("__qualname__", |_, args| Ok(Value::Str(generator(args)?.qualname.clone()))).get(),
    Def::new("gi_code", |_, args| Ok(waiting(args)?.map_or(Value::None, |point| Value::Code(point.code)))).get(),
    Def::new("gi_frame", |vm, args| Ok(waiting(args)?.map_or(Value::None, |point| vm.host_instance(&vm.types.frame, vec![point])))).get(),
    Def::new("gi_suspended", |_, args| Ok(Value::bool(generator(args)?.state.get() == State::Suspended))).get(),
    Def::new("gi_yieldfrom", |_, args| {
        let generator = generator(args)?;
        let saved = generator.saved.borrow();
        let waits = |saved: &crate::objects::generator::Saved| {
            let frame = saved.frame.as_ref()?;
            let delegates = frame.function.code.ops.get(frame.ip as usize) == Some(&crate::bytecode::Op::YieldFrom);
            if delegates { saved.values.last().cloned() } else { None }
        };
        Ok(saved.as_deref().and_then(waits).unwrap_or(Value::None))
    })
    .get(),
    Def::new("gi_running", |_, args| Ok(Value::bool(generator(args)?.state.get() == State::Running))).get(),
];

const ITERATOR: &[Def] = &[
    Def::new("__iter__", |_, args| Ok(args.values[0].clone())),
    Def::new("__next__", |vm, args| {
        let [iterator] = args.exactly::<1>("__next__")?;
        vm.step(&iterator)?.ok_or_else(|| Exc::new(Kind::StopIteration, ""))
    }),
];

const CELL: &[Def] = &[Def::new("cell_contents", |_, args| match &args.values[0] {
    Value::Cell(cell) => match cell.value.borrow().clone() {
        Value::Unbound => Err(Exc::value("Cell is empty")),
        value => Ok(value),
    },
    _ => Ok(Value::None),
})
.get()];

const MODULE: &[Def] = &[Def::new("__new__", |_, args| {
    class_arg(args)?;
    let [name, doc] = args.bind("module", &["name", "doc"], 1)?;
    let attrs = Dict::new();
    attrs.set("__name__", name.clone());
    attrs.set("__doc__", if matches!(doc, Value::Unbound) { Value::None } else { doc });
    Ok(Value::Module(Rc::new(crate::objects::Module { name: intern(name.as_str().unwrap_or_default()), attrs })))
})
.fixed()];

impl Vm {
    /// `object.__getattribute__`: without the class's own.
    pub(crate) fn get_plain(&mut self, object: &Value, name: &Rc<crate::objects::Str>) -> Result<Value, Exc> {
        let Value::Instance(instance) = object else { return self.get_attr(object, name) };
        let class = instance.class().clone();
        let found = class.lookup(name);
        if let Some(found) = &found
            && self.is_data_descriptor(found)
        {
            return self.bind(found.clone(), object, &class);
        }
        if let Some(value) = instance.attrs().and_then(|attrs| attrs.get_str(name)) {
            return Ok(value);
        }
        match found {
            Some(found) => self.bind(found, object, &class),
            None if name.as_str() == "__dict__" => Ok(Value::Dict(instance.attrs_mut().clone())),
            None if name.as_str() == "__class__" => Ok(Value::Class(class)),
            None => Err(self.no_attribute(object, name)),
        }
    }
}

pub(super) fn install(types: &Types) {
    fill(&types.object, "object", OBJECT);
    types.object.attrs.set("__doc__", Value::None);
    fill(&types.type_, "type", TYPE);
    fill(&types.function, "function", FUNCTION);
    fill(&types.native, "builtin_function_or_method", NATIVE);
    fill(&types.method, "method", METHOD);
    fill(&types.code, "code", CODE);
    fill(&types.property, "property", PROPERTY);
    fill(&types.static_method, "staticmethod", STATIC_METHOD);
    fill(&types.class_method, "classmethod", CLASS_METHOD);
    fill(&types.super_, "super", SUPER);
    fill(&types.generator, "generator", GENERATOR);
    for class in [&types.map, &types.filter, &types.zip, &types.enumerate] {
        fill(class, "generator", GENERATOR);
    }
    fill(&types.iterator, "iterator", ITERATOR);
    for class in [
        &types.list_iterator,
        &types.list_reverse_iterator,
        &types.tuple_iterator,
        &types.range_iterator,
        &types.str_iterator,
        &types.bytes_iterator,
        &types.dict_key_iterator,
        &types.dict_value_iterator,
        &types.dict_item_iterator,
        &types.dict_reverse_iterator,
        &types.set_iterator,
    ] {
        fill(class, "iterator", ITERATOR);
    }
    for class in [&types.zip, &types.enumerate] {
        fill(
            class,
            "iterator",
            &[Def::new("__next__", |_, args| {
                let iterator = args.values[0].clone();
                match iterator {
                    Value::Generator(generator) => Err(Exc(Box::new(Signal::Resume(generator, Some(Value::None))))),
                    _ => Err(Exc::call(Value::Native(step_native()), vec![iterator])),
                }
            })],
        );
    }
    fill(&types.cell, "cell", CELL);
    fill(&types.module, "module", MODULE);
}

fn step_native() -> Rc<crate::objects::Native> {
    Rc::new(crate::objects::Native {
        name: intern("__next__"),
        run: crate::objects::function::Run::Fn(|vm, args| {
            let [iterator] = args.exactly::<1>("__next__")?;
            vm.step(&iterator)?.ok_or_else(|| Exc::new(Kind::StopIteration, ""))
        }),
        slow: None,
        quick: None,
        method: false,
        of_number: false,
        owner: "",
        doc: "",
    })
}
