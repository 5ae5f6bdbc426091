//! Making classes and instances; `with`; `match`.

use super::Vm;
use super::intern::intern;
use crate::bytecode::{Code, Op};
use crate::objects::class::Inner;
use crate::objects::{Args, Class, Dict, Exc, Instance, Layout, Str, Value};
use crate::order::Order;
use std::cell::RefCell;
use std::rc::Rc;

impl Vm {
    /// A bare instance of a class.
    pub fn make_instance(&mut self, class: &Rc<Class>) -> Result<Value, Exc> {
        if let Some(Value::Set(names)) = class.attrs.get_str(&self.names.abstract_methods)
            && !names.is_empty()
        {
            let mut names: Vec<String> = names.borrow().iter().filter_map(|(_, name)| name.as_str().map(|n| format!("'{n}'"))).collect();
            names.order();
            let plural = if names.len() == 1 { "" } else { "s" };
            return Err(Exc::ty(format!(
                "Can't instantiate abstract class {} without an implementation for abstract method{plural} {}",
                class.name().as_str(),
                names.join(", ")
            )));
        }
        let inner = match class.layout {
            Layout::Plain => Inner::Nothing,
            Layout::Exception => Inner::Exception(RefCell::default()),
            Layout::Base | Layout::Type => {
                return Err(Exc::ty(format!("object.__new__({0}) is not safe, use the builtin type's __new__()", class.name().as_str())));
            }
        };
        Ok(Value::Instance(Instance::new(class.clone(), inner)))
    }

    /// The class that the statement `class` makes: runs the body, then makes the class of its namespace.
    pub(crate) fn build_class(&mut self, mut args: Args) -> Result<Value, Exc> {
        if args.values.len() < 2 {
            return Err(Exc::ty("__build_class__: not enough arguments"));
        }
        let body = args.values.remove(0);
        let name = args.values.remove(0);
        let bases: Vec<Value> = args.values.drain(..).collect();
        let mut keywords = std::mem::take(&mut args.keywords);
        let meta = keywords.iter().position(|(k, _)| k.as_str() == "metaclass").map(|at| keywords.remove(at).1);
        // Bases that are no classes stand for others.
        let mut resolved = Vec::new();
        for base in &bases {
            match base {
                Value::Class(_) => resolved.push(base.clone()),
                Value::Other(other) if let crate::objects::Other::Alias { origin, .. } = &**other => resolved.push(origin.clone()),
                Value::Instance(_) if self.special(base, &self.names.mro_entries.clone()).is_some() => {
                    let (base, rest) = (base.clone(), (bases.clone(), body.clone(), name.clone(), keywords.clone(), meta.clone()));
                    let method = self.special(&base, &self.names.mro_entries.clone()).unwrap_or_default();
                    return Err(Exc::call_then(method, vec![Value::tuple(bases.clone())], move |vm, entries| {
                        let (bases, body, name, mut keywords, meta) = rest;
                        let entries = vm.items_of(&entries)?;
                        let bases = bases.into_iter().flat_map(|b| if b.is(&base) { entries.clone() } else { vec![b] });
                        let mut args = Args::from([body, name].into_iter().chain(bases).collect::<Vec<_>>());
                        if let Some(meta) = meta {
                            keywords.push((intern("metaclass"), meta));
                        }
                        args.keywords = keywords;
                        vm.build_class(args)
                    }));
                }
                other => return Err(Exc::ty(format!("bases must be classes, not '{}'", self.type_name(other)))),
            }
        }
        let meta = match meta {
            Some(Value::Class(class)) if Rc::ptr_eq(&class, &self.types.type_) => None,
            Some(meta) => Some(meta),
            None => None,
        };
        let meta = self.winner(meta, &resolved)?;
        let names = Dict::new();
        let aliased = bases.iter().any(|base| matches!(base, Value::Other(_)));
        let keep_bases = move |names: &Rc<Dict>| {
            if aliased {
                names.set("__orig_bases__", Value::tuple(bases));
            }
        };
        if let Some(Value::Class(meta)) = &meta
            && let Some(prepare) = meta.lookup(&self.names.prepare)
            && !matches!(prepare, Value::Native(_))
        {
            let prepare = self.bind_now(prepare, &Value::Class(meta.clone()), meta);
            let args = Args { values: [name.clone(), Value::tuple(resolved.clone())].into_iter().collect(), keywords: keywords.clone() };
            let meta = Some(Value::Class(meta.clone()));
            return Err(Exc::call_args(prepare, args).and_then(move |vm, given| match given.plain() {
                Value::Dict(names) => {
                    keep_bases(names);
                    vm.run_body(body, name, resolved, meta, keywords, given.clone())
                }
                _ => Err(Exc::ty(format!("__prepare__() must return a mapping, not {}", vm.type_name(&given)))),
            }));
        }
        keep_bases(&names);
        self.run_body(body, name, resolved, meta, keywords, Value::Dict(names))
    }

    /// The metaclass that is below those of all bases.
    pub(crate) fn winner(&self, meta: Option<Value>, bases: &[Value]) -> Result<Option<Value>, Exc> {
        let mut winner = match meta {
            Some(Value::Class(class)) => Some(class),
            None => None,
            other => return Ok(other),
        };
        for base in bases {
            let Value::Class(base) = base else { continue };
            let Some(meta) = base.meta.borrow().clone() else { continue };
            match &winner {
                Some(winner) if winner.is_subclass(&meta) => {}
                Some(winner) if !meta.is_subclass(winner) => {
                    return Err(Exc::ty(
                        "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases",
                    ));
                }
                _ => winner = Some(meta),
            }
        }
        Ok(winner.map(Value::Class))
    }

    fn run_body(
        &mut self,
        body: Value,
        name: Value,
        bases: Vec<Value>,
        meta: Option<Value>,
        keywords: Vec<(Rc<Str>, Value)>,
        names: Value,
    ) -> Result<Value, Exc> {
        let namespace = names.clone();
        let mut call = Exc::call_then(body, vec![], move |vm, cell| {
            let made = vm.class_of_namespace(name, bases, meta, keywords, namespace);
            let set = move |_: &mut Vm, class: Value| {
                if let Value::Cell(cell) = cell {
                    cell.set(class.clone());
                }
                Ok(class)
            };
            // The cell is set before hooks run: methods that they call may use `super()`.
            match made {
                Ok((class, hooks)) => {
                    let class = set(vm, class)?;
                    hooks(vm, class)
                }
                Err(exc) => Err(exc.and_then(set)),
            }
        });
        if let crate::objects::exception::Signal::Call(call) = &mut *call.0 {
            call.names = Some(names);
        }
        Err(call)
    }

    fn class_of_namespace(
        &mut self,
        name: Value,
        bases: Vec<Value>,
        meta: Option<Value>,
        keywords: Vec<(Rc<Str>, Value)>,
        names: Value,
    ) -> Result<(Value, Hooks), Exc> {
        if let Some(meta) = meta {
            let mut args = Args::from(vec![name, Value::tuple(bases), names]);
            args.keywords = keywords;
            return Err(Exc::call_args(meta, args));
        }
        let Value::Dict(names) = names.plain() else { return Err(Exc::ty("a class's names are a dictionary")) };
        let class = self.new_class(name.as_str().unwrap_or_default(), &bases, names, None)?;
        Ok((Value::Class(class.clone()), Box::new(move |vm, value| vm.class_hooks(&class, keywords, value))))
    }

    /// `type(name, bases, namespace)` without hooks.
    pub fn new_class(&mut self, name: &str, bases: &[Value], names: &Rc<Dict>, meta: Option<Rc<Class>>) -> Result<Rc<Class>, Exc> {
        let mut classes: Vec<Rc<Class>> = Vec::new();
        for base in bases {
            match base {
                Value::Class(class) => classes.push(class.clone()),
                _ => return Err(Exc::ty("bases must be types")),
            }
        }
        if classes.is_empty() {
            classes.push(self.types.object.clone());
        }
        for final_type in [&self.types.bool, &self.types.none, &self.types.function, &self.types.range, &self.types.slice] {
            if classes.iter().any(|class| Rc::ptr_eq(class, final_type)) {
                return Err(Exc::ty(format!("type '{}' is not an acceptable base type", final_type.name().as_str())));
            }
        }
        let Some(mro) = Class::linearize(&classes) else {
            let names: Vec<String> = classes.iter().map(|c| c.name().as_str().to_string()).collect();
            return Err(Exc::ty(format!("Cannot create a consistent method resolution\norder (MRO) for bases {}", names.join(", "))));
        };
        if mro.len() > 500 {
            return Err(Exc::ty("class inherits from too many classes"));
        }
        let mut layout = Layout::Plain;
        let mut builtin: Option<Rc<Class>> = None;
        for class in &mro {
            if class.layout == Layout::Plain || !classes.iter().any(|base| base.is_subclass(class)) {
                continue;
            }
            if layout == Layout::Plain {
                layout = class.layout;
                builtin = class.builtin.clone().or_else(|| (!class.mutable).then(|| class.clone()));
            } else if layout != class.layout || (layout == Layout::Base && builtin.as_ref().is_some_and(|known| !fits(class, known))) {
                return Err(Exc::ty("multiple bases have instance lay-out conflict"));
            }
        }
        let attrs = Dict::from_table(names.borrow().copy());
        let class = Class::with_builtin(name, classes.clone(), mro, attrs.clone(), layout, true, builtin);
        if let Some(Value::Str(qualname)) = attrs.remove_str(&self.names.qualname) {
            *class.qualname.borrow_mut() = qualname;
        }
        // A class that defines equality has no hash unless it defines that too.
        if attrs.get_str(&self.names.eq).is_some() && attrs.get_str(&self.names.hash).is_none() {
            attrs.set_str(&self.names.hash, Value::None);
        }
        for implicit in [&self.names.new, &self.names.init_subclass, &self.names.class_getitem] {
            if let Some(function @ Value::Function(_)) = attrs.get_str(implicit) {
                let wrapped = if Rc::ptr_eq(implicit, &self.names.new) {
                    crate::objects::Other::StaticMethod(function)
                } else {
                    crate::objects::Other::ClassMethod(function)
                };
                attrs.set_str(implicit, Value::Other(Rc::new(wrapped)));
            }
        }
        if attrs.get_str(&self.names.doc).is_none() {
            attrs.set_str(&self.names.doc, Value::None);
        }
        self.class_slots(&class, &attrs)?;
        let inherited = || classes.iter().find_map(|base| base.meta.borrow().clone());
        *class.meta.borrow_mut() = meta.filter(|meta| !Rc::ptr_eq(meta, &self.types.type_)).or_else(inherited);
        Ok(class)
    }

    fn class_slots(&mut self, class: &Rc<Class>, attrs: &Rc<Dict>) -> Result<(), Exc> {
        let Some(slots) = attrs.get_str(&self.names.slots) else { return Ok(()) };
        let names = match &slots {
            Value::Str(_) => vec![slots],
            other => self.items_of(other)?,
        };
        let mut all: Vec<Rc<Str>> = names.iter().filter_map(|n| n.as_str().map(intern)).collect();
        for base in class.mro.borrow().iter() {
            if Rc::ptr_eq(base, &self.types.object) {
                continue;
            }
            match &*base.slots.borrow() {
                Some(slots) => all.extend(slots.iter().cloned()),
                None => return Ok(()),
            }
        }
        if !all.iter().any(|name| name.as_str() == "__dict__") {
            *class.slots.borrow_mut() = Some(all);
        }
        Ok(())
    }

    /// `__set_name__` of its attributes, then `__init_subclass__` of its bases.
    pub(crate) fn class_hooks(&mut self, class: &Rc<Class>, keywords: Vec<(Rc<Str>, Value)>, value: Value) -> Result<Value, Exc> {
        let mut calls = Vec::new();
        for (key, attribute) in class.attrs.borrow().iter() {
            if let Value::Instance(instance) = attribute
                && instance.class().lookup(&self.names.set_name).is_some()
            {
                calls.push(Value::tuple(vec![key.clone(), attribute.clone()]));
            }
        }
        if let Some((name, watcher)) = &self.class_watch
            && name.as_str().is_some_and(|name| class.attrs.get(name).is_some())
        {
            calls.push(Value::tuple(vec![name.clone(), watcher.clone()]));
        }
        let hook = class.mro.borrow().iter().find_map(|base| base.attrs.get_str(&self.names.init_subclass));
        let custom = hook.is_some_and(
            |hook| !matches!(&hook, Value::Other(other) if matches!(&**other, crate::objects::Other::ClassMethod(Value::Native(_)))),
        );
        if calls.is_empty() && !custom {
            if !keywords.is_empty() {
                return Err(Exc::ty(format!("{}.__init_subclass__() takes no keyword arguments", class.name().as_str())));
            }
            return Ok(value);
        }
        let table = Dict::new();
        for (name, value) in keywords {
            table.set_str(&name, value);
        }
        Err(self.by_prelude("_class_hooks", vec![value, Value::list(calls), Value::Dict(table), Value::bool(custom)]))
    }

    /// `__enter__` and `__exit__` of a context manager, bound.
    pub(crate) fn with_methods(&mut self, manager: &Value) -> Result<(Value, Value), Exc> {
        let class = self.class_of(manager);
        let missing = |vm: &Vm, what: &str| {
            Exc::ty(format!("'{}' object does not support the context manager protocol{what}", vm.type_name(manager)))
        };
        let enter = class.lookup(&self.names.enter).ok_or_else(|| missing(self, ""))?;
        let exit = class.lookup(&self.names.exit).ok_or_else(|| missing(self, " (missed __exit__ method)"))?;
        Ok((self.bind_now(enter, manager, &class), self.bind_now(exit, manager, &class)))
    }

    /// The tests of `match`.
    pub(crate) fn match_op(&mut self, op: Op, code: &Code) -> Result<(), Exc> {
        match op {
            Op::MatchSequence(_) | Op::MatchStar(_) => {
                let subject = self.stack.last().cloned().unwrap_or_default();
                let len = match subject.plain() {
                    Value::List(list) => Some(list.len()),
                    Value::Tuple(items) => Some(items.len()),
                    Value::Range(range) => Some(range.len()),
                    _ => None,
                };
                if let (None, Value::Instance(_)) = (len, &subject) {
                    return Err(self.match_other(subject, op));
                }
                let matches = match op {
                    Op::MatchSequence(count) => len == Some(count as usize),
                    Op::MatchStar(count) => len.is_some_and(|len| len >= count as usize),
                    _ => false,
                };
                if !matches {
                    self.stack.pop();
                }
                self.stack.push(Value::bool(matches));
            }
            Op::MatchMapping => {
                let matches = matches!(self.stack.last().map(Value::plain), Some(Value::Dict(_)));
                if !matches {
                    self.stack.pop();
                }
                self.stack.push(Value::bool(matches));
            }
            Op::MatchKeys => {
                let keys = self.stack.pop().unwrap_or_default();
                let subject = self.stack.pop().unwrap_or_default();
                let (Value::Dict(dict), Value::Tuple(keys)) = (subject.plain(), &keys) else { return Err(Exc::ty("not a mapping")) };
                let rest = Dict::from_table(dict.borrow().copy());
                let mut values = Vec::new();
                for key in keys.iter() {
                    match self.builtin_item(&Value::Dict(rest.clone()), key) {
                        Ok(value) => values.push(value),
                        Err(_) => {
                            self.stack.push(Value::bool(false));
                            return Ok(());
                        }
                    }
                    self.builtin_delete_item(&Value::Dict(rest.clone()), key)?;
                }
                self.stack.push(Value::Dict(rest));
                self.stack.push(Value::tuple(values));
                self.stack.push(Value::bool(true));
            }
            Op::MatchClass(positional, names) => {
                let class = self.stack.pop().unwrap_or_default();
                let subject = self.stack.pop().unwrap_or_default();
                let names = code.consts[names as usize].clone();
                return Err(self.by_prelude("_match_class", vec![subject, class, Value::Int(i64::from(positional)), names]));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether an instance is a sequence, and as long as a pattern: what `collections.abc` knows.
    fn match_other(&mut self, subject: Value, op: Op) -> Exc {
        let (count, star) = match op {
            Op::MatchStar(count) => (count, true),
            Op::MatchSequence(count) => (count, false),
            _ => (0, true),
        };
        let args = vec![subject, Value::Int(i64::from(count)), Value::bool(star)];
        self.by_prelude("_match_sequence", args).and_then(|vm, matches| {
            if !matches.is(&Value::bool(true)) {
                vm.stack.pop();
            }
            Ok(matches)
        })
    }

    /// `isinstance(value, class)` where that needs no Python code.
    pub fn instance_of(&mut self, value: &Value, class: &Value) -> Result<bool, Exc> {
        match class {
            Value::Class(class) => {
                let meta = class.meta.borrow().clone();
                if let Some(meta) = meta
                    && matches!(meta.lookup(&self.names.instancecheck), Some(Value::Function(_)))
                {
                    return Err(Exc::slow());
                }
                let is = self.is_instance(value, class);
                if is || !self.tells_class(value) { Ok(is) } else { Err(Exc::slow()) }
            }
            Value::Tuple(classes) => {
                // Tuples within tuples are walked, not recursed into: they may be nested as deep as a script likes.
                let mut pending: Vec<Value> = classes.iter().rev().cloned().collect();
                while let Some(class) = pending.pop() {
                    if let Value::Tuple(inner) = &class {
                        pending.extend(inner.iter().rev().cloned());
                    } else if self.instance_of(value, &class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Other(other) => match &**other {
                crate::objects::Other::Alias { origin: Value::Str(_), args: Value::Tuple(parts) } => {
                    for part in parts.iter() {
                        let matches = match part {
                            Value::None => matches!(value, Value::None),
                            part => self.instance_of(value, part)?,
                        };
                        if matches {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                }
                crate::objects::Other::Alias { origin: Value::Class(class), .. } => Err(Exc::ty(if class.mutable {
                    "Subscripted generics cannot be used with class and instance checks"
                } else {
                    "isinstance() argument 2 cannot be a parameterized generic"
                })),
                _ => Err(Exc::ty("isinstance() arg 2 must be a type, a tuple of types, or a union")),
            },
            Value::Instance(_) if self.special(class, &self.names.instancecheck.clone()).is_some() => Err(Exc::slow()),
            _ => Err(Exc::ty("isinstance() arg 2 must be a type, a tuple of types, or a union")),
        }
    }

    /// Whether the class of a value says by a property of what class it is.
    pub(crate) fn tells_class(&self, value: &Value) -> bool {
        let Value::Instance(object) = value else { return false };
        object.class().lookup(&self.names.class).is_some_and(|found| match found {
            Value::Other(other) => matches!(&*other, crate::objects::Other::Property { .. }),
            _ => false,
        })
    }

    /// Whether a class takes the place of `type`.
    pub fn is_metaclass(&self, class: &Rc<Class>) -> bool {
        class.is_subclass(&self.types.type_)
    }
}

/// Whether a class wraps values of a builtin type.
fn fits(class: &Rc<Class>, builtin: &Rc<Class>) -> bool {
    let own = class.builtin.as_ref().unwrap_or(class);
    own.mutable || own.is_subclass(builtin) || builtin.is_subclass(own)
}

type Hooks = Box<dyn FnOnce(&mut Vm, Value) -> Result<Value, Exc>>;
