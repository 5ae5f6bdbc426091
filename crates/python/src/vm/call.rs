//! Calls: of functions in Python by pushing a frame, of natives at once, of classes by way of `__new__` and `__init__`.

use super::frame::{After, Frame, Waiting};
use super::{Exit, Vm};
use crate::bytecode::Code;
use crate::objects::exception::{Call, Signal};
use crate::objects::function::Run;
use crate::objects::generator::State;
use crate::objects::{Args, Class, Dict, Exc, Function, Generator, Kind, Method, Native, Str, Value, watch};
use std::cell::RefCell;
use std::rc::Rc;

impl Vm {
    /// Calls `callable`. A value where it was done at once; otherwise a frame was pushed, whose `after` the caller sets.
    pub(crate) fn invoke(&mut self, callable: &Value, mut args: Args) -> Result<Option<Value>, Exc> {
        match callable {
            Value::Function(function) => {
                self.push_function(function, args, None)?;
                Ok(None)
            }
            Value::Native(native) => {
                self.steps = self.steps.saturating_sub(1);
                self.run_native(native, args).map(Some)
            }
            Value::Method(method) => {
                args.values.insert(0, method.object.clone());
                self.invoke(&method.function, args)
            }
            Value::Class(class) => self.call_class(class, args).map(Some),
            Value::Other(other) => match &**other {
                crate::objects::Other::StaticMethod(inner) => self.invoke(inner, args),
                crate::objects::Other::Alias { origin, .. } => self.invoke(origin, args),
                _ => Err(self.not_callable(callable)),
            },
            Value::Instance(instance) => {
                let class = instance.class().clone();
                match class.lookup(&self.names.call) {
                    Some(function) => {
                        let bound = self.bind_now(function, callable, &class);
                        if bound.is(callable) {
                            return Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded"));
                        }
                        match bound {
                            Value::Instance(_) => Err(Exc::call_args(bound, args)),
                            bound => self.invoke(&bound, args),
                        }
                    }
                    None => Err(self.not_callable(callable)),
                }
            }
            _ => Err(self.not_callable(callable)),
        }
    }

    fn not_callable(&self, value: &Value) -> Exc {
        Exc::ty(format!("'{}' object is not callable", self.type_name(value)))
    }

    /// Binds a function found on a class to an object, where that needs no Python code.
    pub(crate) fn bind_now(&self, function: Value, object: &Value, class: &Rc<Class>) -> Value {
        match &function {
            Value::Function(_) => Value::Method(Rc::new(Method { function, object: object.clone() })),
            Value::Native(native) if native.method => Value::Method(Rc::new(Method { function, object: object.clone() })),
            Value::Other(other) => match &**other {
                crate::objects::Other::StaticMethod(inner) => inner.clone(),
                crate::objects::Other::ClassMethod(inner) => {
                    Value::Method(Rc::new(Method { function: inner.clone(), object: Value::Class(class.clone()) }))
                }
                _ => function,
            },
            _ => function,
        }
    }

    /// Runs a native. What it cannot do itself becomes a call of Python code.
    pub(crate) fn run_native(&mut self, native: &Rc<Native>, mut args: Args) -> Result<Value, Exc> {
        self.check_receiver(native, &args)?;
        if watch::on()
            && let Some(result) = self.watched_call(native, &mut args)
        {
            return result;
        }
        let given = args.len();
        if native.slow.is_none() {
            let kept = self.may_index(native, &args.values).then(|| Args { values: args.values.clone(), keywords: args.keywords.clone() });
            let result = match &native.run {
                Run::Fn(run) => run(self, &mut args),
                Run::Closure(run) => run(self, &mut args),
            };
            if let (Err(exc), Some(kept)) = (&result, kept)
                && exc.is_slow()
            {
                return self.hand_over(native, Exc::slow(), kept);
            }
            return result.map_err(|exc| self.reword(native, exc, given, &args));
        }
        let kept = Args { values: args.values.clone(), keywords: args.keywords.clone() };
        let result = match &native.run {
            Run::Fn(run) => run(self, &mut args),
            Run::Closure(run) => run(self, &mut args),
        };
        result.or_else(|exc| self.hand_over(native, exc, kept)).map_err(|exc| self.reword(native, exc, given, &args))
    }

    /// A method of the table of a type is called with an object, and those of numbers look at it as one.
    #[inline(always)]
    pub(super) fn check_receiver(&self, native: &Native, args: &Args) -> Result<(), Exc> {
        match native.method && (native.of_number || args.values.is_empty()) {
            true => self.check_number(native, args),
            false => Ok(()),
        }
    }

    fn check_number(&self, native: &Native, args: &Args) -> Result<(), Exc> {
        let fits = args.values.first().is_some_and(|first| match native.owner {
            "int" => first.is_int(),
            "float" => matches!(first.plain(), Value::Float(_)),
            "complex" => matches!(first.plain(), Value::Other(other) if matches!(**other, crate::objects::Other::Complex(..))),
            _ => true,
        });
        if fits { Ok(()) } else { Err(self.reword(native, Exc::ty("descriptor requires a number"), args.len(), args)) }
    }

    /// What is wrong with a method's arguments, in CPython's words, which do not count the object.
    #[cold]
    pub(super) fn reword(&self, native: &Native, exc: Exc, given: usize, args: &Args) -> Exc {
        let Signal::New(Kind::TypeError, message) = &*exc.0 else { return exc };
        if !native.method || (native.owner == "host" && given > 0) {
            return exc;
        }
        let (owner, name) = (native.owner, native.name.as_str());
        if message.starts_with("descriptor requires a ") {
            return Exc::ty(match args.values.first() {
                None => format!("unbound method {owner}.{name}() needs an argument"),
                Some(first) => {
                    format!("descriptor '{name}' for '{owner}' objects doesn't apply to a '{}' object", self.type_name(first))
                }
            });
        }
        let Some(rest) = message.strip_prefix(name) else { return exc };
        if rest == "() takes no keyword arguments" {
            return Exc::ty(format!("{owner}.{message}"));
        }
        if rest.starts_with("() takes exactly one argument (") && given > 0 {
            return Exc::ty(format!("{owner}.{name}() takes no arguments ({} given)", given - 1));
        }
        let Some(wanted) = rest.strip_prefix(" expected ").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok()) else {
            return exc;
        };
        Exc::ty(match (wanted, given) {
            (_, 0) => format!("unbound method {owner}.{name}() needs an argument"),
            (2, _) => format!("{owner}.{name}() takes exactly one argument ({} given)", given - 1),
            _ => format!("{name} expected {} arguments, got {}", wanted - 1, given - 1),
        })
    }

    /// Whether an object that is no number may stand for one, by its `__index__`, among the arguments of a native that takes places and counts.
    #[inline]
    pub(super) fn may_index(&self, native: &Native, values: &[Value]) -> bool {
        values.iter().skip(usize::from(native.method)).any(|value| matches!(value, Value::Instance(_)))
            && match native.owner {
                "str" | "bytes" | "int" | "slice" | "tuple" => true,
                "list" => matches!(native.name.as_str(), "pop" | "insert"),
                _ => native.name.as_str() == "chr" || crate::modules::math::INTEGERS.contains(&native.name.as_str()),
            }
    }

    /// What a native could not do itself, with its arguments as they were.
    #[cold]
    pub(crate) fn hand_over(&mut self, native: &Rc<Native>, exc: Exc, kept: Args) -> Result<Value, Exc> {
        let Some(slow) = native.slow else {
            let has_index = |value: &&Value| matches!(value, Value::Instance(_)) && self.special(value, &self.names.index).is_some();
            let object = kept.values.iter().skip(usize::from(native.method)).find(has_index).cloned();
            return Err(match object {
                Some(object) if exc.is_slow() => self.again(native, kept, "_index_of", object),
                _ => exc,
            });
        };
        match *exc.0 {
            Signal::Slow if !slow.is_empty() => {
                let function = self.prelude_function(slow);
                Err(Exc::call_args(function, kept))
            }
            Signal::Slow => Err(Exc::ty(format!("{}() does not take objects of classes defined in Python here", native.name.as_str()))),
            Signal::Collect(iterable) => Err(self.again(native, kept, "_collect", iterable)),
            Signal::Number(object) => Err(self.again(native, kept, "float", object)),
            other => Err(Exc(Box::new(other))),
        }
    }

    /// Calls a native again with what a function makes of one of its arguments, or of an item of a list that it was given.
    fn again(&mut self, native: &Rc<Native>, kept: Args, function: &str, object: Value) -> Exc {
        let (native, before) = (native.clone(), object.clone());
        Exc::call_then(self.prelude_function(function), vec![object], move |vm, made| {
            let mut args = kept;
            let put = |value: &mut Value| {
                if value.is(&before) {
                    *value = made.clone();
                }
            };
            for value in args.values.iter_mut().chain(args.keywords.iter_mut().map(|(_, v)| v)) {
                // What was made of an object may hold the object: it stays there.
                if value.is(&before) {
                    put(value);
                } else if let Value::List(list) = &*value
                    && list.borrow().iter().any(|item| item.is(&before))
                {
                    let mut items = list.borrow().clone();
                    items.iter_mut().for_each(put);
                    *value = Value::list(items.into_iter().collect());
                }
            }
            vm.run_native(&native, args)
        })
    }

    /// Pushes the frame of a function in Python.
    pub(crate) fn push_function(&mut self, function: &Rc<Function>, args: Args, names: Option<Value>) -> Result<(), Exc> {
        self.enter()?;
        let floor = self.stack.len();
        let code = function.code.clone();
        let exact = args.keywords.is_empty() && code.is_simple() && args.values.len() == code.positional;
        if exact {
            self.stack.extend(args.values);
        } else if let Err(exc) = self.bind_arguments(function, &code, args) {
            self.stack.truncate(floor);
            return Err(exc);
        }
        self.open_frame(function.clone(), floor, floor, After::Push);
        if let Some(names) = names
            && let Value::Dict(plain) = names.plain().clone()
            && let Some(frame) = self.frames.last_mut()
        {
            let extra = frame.extra.get_or_insert_default();
            extra.names = Some(plain);
            extra.prepared = Some(names).filter(|names| matches!(names, Value::Instance(_)));
        }
        Ok(())
    }

    /// Counts a call against fuel, recursion and memory.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), Exc> {
        self.steps = self.steps.saturating_sub(1);
        if self.frames.len() >= self.limits.recursion {
            return Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded"));
        }
        Ok(())
    }

    /// A frame whose parameters lie on the stack from `base` on.
    #[inline]
    pub(crate) fn open_frame(&mut self, function: Rc<Function>, base: usize, floor: usize, after: After) {
        let code = &function.code;
        let slots = code.slots.len();
        let free = code.free_start;
        while self.stack.len() < base + free {
            self.stack.push(Value::Unbound);
        }
        if slots > free {
            for cell in &function.closure {
                self.stack.push(Value::Cell(cell.clone()));
            }
            self.stack.resize(base + slots, Value::Unbound);
        }
        let (base, floor, blocks) = (base as u32, floor as u32, self.blocks.len() as u32);
        self.frames.push(Frame { function, ip: 0, base, floor, blocks, after, extra: None });
    }

    /// Pushes the values of a function's parameters.
    pub(crate) fn bind_arguments(&mut self, function: &Function, code: &Code, args: Args) -> Result<(), Exc> {
        let start = self.stack.len();
        let given = args.values.len();
        let mut rest = Vec::new();
        for (i, value) in args.values.into_iter().enumerate() {
            if i < code.positional {
                self.stack.push(value);
            } else {
                rest.push(value);
            }
        }
        self.stack.resize(start + code.positional + code.keyword_only, Value::Unbound);
        let mut others: Option<Rc<Dict>> = code.star_star.then(Dict::new);
        let mut positional_only = Vec::new();
        for (name, value) in args.keywords {
            let named = &code.slots[code.positional_only..code.positional + code.keyword_only];
            let called = |other: &str| named.iter().position(|slot| slot.as_str() == other);
            let other = || self.other_names.filter(|_| code.source.internal).and_then(|other| called(other(name.as_str())));
            let slot = named.iter().position(|slot| Rc::ptr_eq(slot, &name)).or_else(|| called(name.as_str())).or_else(other);
            let slot = slot.map(|i| i + code.positional_only);
            match (slot, &mut others) {
                (Some(slot), _) => {
                    if !matches!(self.stack[start + slot], Value::Unbound) {
                        let function = function.qualname.borrow().clone();
                        return Err(Exc::ty(format!("{}() got multiple values for argument '{}'", function.as_str(), name.as_str())));
                    }
                    self.stack[start + slot] = value;
                }
                (None, Some(others)) => others.set_str(&name, value),
                (None, None) => {
                    if code.slots[..code.positional_only].iter().any(|slot| slot.as_str() == name.as_str()) {
                        positional_only.push(name);
                        continue;
                    }
                    let function = function.qualname.borrow().clone();
                    return Err(Exc::ty(format!("{}() got an unexpected keyword argument '{}'", function.as_str(), name.as_str())));
                }
            }
        }
        if !positional_only.is_empty() {
            let names: Vec<&str> = positional_only.iter().map(|n| n.as_str()).collect();
            return Err(Exc::ty(format!(
                "{}() got some positional-only arguments passed as keyword arguments: '{}'",
                function.qualname.borrow().as_str(),
                names.join(", ")
            )));
        }
        if !rest.is_empty() && !code.star {
            return Err(self.too_many(function, code, given, start));
        }
        let defaults = function.defaults.borrow();
        let mut missing = Vec::new();
        for slot in given.min(code.positional)..code.positional {
            if matches!(self.stack[start + slot], Value::Unbound) {
                match (slot + defaults.len()).checked_sub(code.positional).and_then(|i| defaults.get(i)) {
                    Some(default) => self.stack[start + slot] = default.clone(),
                    None => missing.push(code.slots[slot].clone()),
                }
            }
        }
        if !missing.is_empty() {
            return Err(missing_arguments(function, "positional", &missing));
        }
        for slot in code.positional..code.positional + code.keyword_only {
            if matches!(self.stack[start + slot], Value::Unbound) {
                let name = &code.slots[slot];
                let defaults = function.kwdefaults.borrow();
                match defaults.iter().find(|(key, _)| key.as_str() == name.as_str()) {
                    Some((_, default)) => self.stack[start + slot] = default.clone(),
                    None => missing.push(name.clone()),
                }
            }
        }
        if !missing.is_empty() {
            return Err(missing_arguments(function, "keyword-only", &missing));
        }
        if code.star {
            self.stack.push(Value::tuple(rest));
        }
        if let Some(others) = others {
            self.stack.push(Value::Dict(others));
        }
        Ok(())
    }

    fn too_many(&self, function: &Function, code: &Code, given: usize, start: usize) -> Exc {
        let defaults = function.defaults.borrow().len();
        let most = code.positional;
        let takes = if defaults > 0 { format!("from {} to {most}", most as i64 - defaults as i64) } else { most.to_string() };
        let plural = if most == 1 && defaults == 0 { "" } else { "s" };
        let keyword_only = (code.positional..code.positional + code.keyword_only)
            .filter(|slot| !matches!(self.stack[start + slot], Value::Unbound))
            .count();
        let (extra, verb) = match keyword_only {
            0 => (String::new(), if given == 1 { "was" } else { "were" }),
            n => (
                format!(
                    " positional argument{} (and {n} keyword-only argument{})",
                    if given == 1 { "" } else { "s" },
                    if n == 1 { "" } else { "s" }
                ),
                "were",
            ),
        };
        Exc::ty(format!(
            "{}() takes {takes} positional argument{plural} but {given}{extra} {verb} given",
            function.qualname.borrow().as_str()
        ))
    }

    /// Calls a class.
    pub(crate) fn call_class(&mut self, class: &Rc<Class>, args: Args) -> Result<Value, Exc> {
        let meta = class.meta.borrow().clone();
        if let Some(meta) = meta
            && let Some(call @ Value::Function(_)) = meta.lookup(&self.names.call)
        {
            let mut args = args;
            args.values.insert(0, Value::Class(class.clone()));
            return Err(Exc::call_args(call, args));
        }
        self.construct(class, args)
    }

    /// `type.__call__`: `__new__`, then `__init__`.
    pub fn construct(&mut self, class: &Rc<Class>, mut args: Args) -> Result<Value, Exc> {
        if Rc::ptr_eq(class, &self.types.type_) && args.values.len() == 1 && args.keywords.is_empty() {
            return Ok(Value::Class(self.class_of(&args.values[0])));
        }
        let new = class.lookup(&self.names.new).unwrap_or_default();
        let new = match &new {
            Value::Other(other) => match &**other {
                crate::objects::Other::StaticMethod(inner) => inner.clone(),
                _ => new,
            },
            _ => new,
        };
        let init = class.lookup(&self.names.init).unwrap_or_default();
        let plain_init = matches!(&init, Value::Native(native) if native.owner == "object");
        match &new {
            Value::Native(native) if native.owner == "object" => {
                if plain_init && !args.is_empty() {
                    return Err(Exc::ty(format!("{}() takes no arguments", class.name().as_str())));
                }
                let object = self.make_instance(class)?;
                if plain_init {
                    return Ok(object);
                }
                args.values.insert(0, object.clone());
                Err(Exc::init(init, args, object))
            }
            Value::Native(native) => {
                if !class.mutable {
                    // A builtin: its `__new__` does everything.
                    args.values.insert(0, Value::Class(class.clone()));
                    return self.run_native(native, args);
                }
                let mut to_new = Args { values: args.values.clone(), keywords: args.keywords.clone() };
                if matches!(native.owner, "list" | "dict" | "set") || (native.owner == "BaseException" && !plain_init) {
                    to_new.keywords.clear();
                }
                to_new.values.insert(0, Value::Class(class.clone()));
                let class = class.clone();
                let continued = move |vm: &mut Vm, object: Value| vm.initialize(&class, object, args);
                match self.run_native(native, to_new) {
                    Ok(object) => continued(self, object),
                    Err(exc) => Err(exc.and_then(continued)),
                }
            }
            Value::Function(_) => {
                let mut to_new = Args { values: args.values.clone(), keywords: args.keywords.clone() };
                to_new.values.insert(0, Value::Class(class.clone()));
                let class = class.clone();
                let mut call = Exc::call_args(new.clone(), to_new);
                call = call.and_then(move |vm, object| vm.initialize(&class, object, args));
                Err(call)
            }
            _ => Err(Exc::ty(format!("cannot create '{}' instances", class.name().as_str()))),
        }
    }

    /// The second half of a construction, by the class of what was made: `__new__` may give an instance of a subclass.
    fn initialize(&mut self, class: &Rc<Class>, object: Value, mut args: Args) -> Result<Value, Exc> {
        if !self.is_instance(&object, class) {
            return Ok(object);
        }
        let init = self.class_of(&object).lookup(&self.names.init).unwrap_or_default();
        match &init {
            Value::Native(native) if native.owner == "object" => Ok(object),
            _ => {
                args.values.insert(0, object.clone());
                Err(Exc::init(init, args, object))
            }
        }
    }

    /// Runs or pushes what a native asked to be called, until a value or a frame is there. `after` takes the value.
    pub(crate) fn settle(&mut self, result: Result<Value, Exc>, after: After) -> Result<(), Exit> {
        let mut result = result;
        let mut after = after;
        loop {
            match result {
                Ok(value) => match after {
                    After::Push => {
                        self.stack.push(value);
                        return Ok(());
                    }
                    After::Discard => return Ok(()),
                    After::For(_) => {
                        self.stack.push(value);
                        return self.fetched();
                    }
                    After::Send => {
                        // The iterator of `yield from` gave a value without a frame of its own: yielded on.
                        self.stack.push(value);
                        return self.yield_on();
                    }
                    After::Init(object) => {
                        if matches!(value, Value::None) {
                            self.stack.push(object);
                            return Ok(());
                        }
                        let kind = self.type_name(&value);
                        result = Err(Exc::ty(format!("__init__() should return None, not '{kind}'")));
                        after = After::Push;
                    }
                    After::Finish => return Err(Exit::Done(value)),
                    After::Call(waiting) => {
                        result = match waiting.then {
                            Some(then) => then(self, value),
                            None => Ok(value),
                        };
                        after = waiting.outer;
                    }
                },
                Err(exc) => match *exc.0 {
                    Signal::Call(Call { callable, args, then, catch, names }) => {
                        if then.is_some() || catch.is_some() {
                            after = After::Call(Box::new(Waiting { then, catch, outer: after }));
                        }
                        if let (Some(names), Value::Function(function)) = (names, &callable) {
                            match self.push_function(function, args, Some(names)) {
                                Ok(()) => {
                                    self.set_after(after);
                                    return Ok(());
                                }
                                Err(exc) => result = Err(exc),
                            }
                            continue;
                        }
                        match self.invoke(&callable, args) {
                            Ok(Some(value)) => result = Ok(value),
                            Ok(None) => {
                                self.set_after(after);
                                return Ok(());
                            }
                            Err(exc) => result = Err(exc),
                        }
                    }
                    Signal::Resume(generator, value) => match self.resume_generator(&generator, value) {
                        Ok(()) => {
                            self.set_after(after);
                            return Ok(());
                        }
                        Err(exc) => result = Err(exc),
                    },
                    Signal::Throw(generator, exception) => return self.throw(generator, exception, after),
                    Signal::Await(token) => {
                        self.waiting = Some(after);
                        return Err(Exit::Await(token));
                    }
                    other => {
                        let exception = self.exception_of(Exc(Box::new(other)));
                        self.add_context(&exception);
                        match self.fail(after, exception)? {
                            None => return Ok(()),
                            Some(exception) => return self.unwind(exception),
                        }
                    }
                },
            }
        }
    }

    pub(crate) fn set_after(&mut self, after: After) {
        if let Some(frame) = self.frames.last_mut() {
            frame.after = after;
        }
    }

    /// Goes on in a generator: pushes its frame, whose `after` the caller sets. `value` is what its `yield` gives.
    pub(crate) fn resume_generator(&mut self, generator: &Rc<Generator>, value: Option<Value>) -> Result<(), Exc> {
        match generator.state.get() {
            State::Running => return Err(Exc::value("generator already executing")),
            State::Created if !matches!(value, None | Some(Value::None)) => {
                return Err(Exc::ty("can't send non-None value to a just-started generator"));
            }
            _ => {}
        }
        if watch::on() && !watch::is_born(generator.born) {
            watch::refuse(|| format!("the generator {}() that was begun before goes on", generator.name.as_str()));
        }
        self.enter()?;
        let Some(mut saved) = generator.saved.borrow_mut().take() else { return Err(Exc::new(Kind::StopIteration, "")) };
        let Some(mut frame) = saved.frame.take() else { return Err(Exc::new(Kind::StopIteration, "")) };
        let floor = self.stack.len();
        self.stack.append(&mut saved.values);
        let blocks = self.blocks.len() as u32;
        for block in saved.blocks.drain(..) {
            self.blocks.push(super::frame::Block { handler: block.handler, depth: block.depth + floor as u32 });
        }
        (frame.base, frame.floor, frame.blocks) = (floor as u32, floor as u32, blocks);
        if generator.state.get() != State::Created {
            self.stack.push(value.unwrap_or(Value::None));
        }
        generator.state.set(State::Running);
        // What the caller handles waits in the generator, and the other way round.
        let inner = std::mem::take(&mut saved.handled);
        let extra = frame.extra.get_or_insert_default();
        extra.generator = Some(generator.clone());
        extra.spare = Some(saved);
        extra.outer_handled = self.handled.clone();
        if !matches!(inner, Value::None | Value::Unbound) {
            self.handled = inner;
        }
        self.frames.push(frame);
        Ok(())
    }
}

fn missing_arguments(function: &Function, kind: &str, missing: &[Rc<Str>]) -> Exc {
    let names: Vec<String> = missing.iter().map(|name| format!("'{}'", name.as_str())).collect();
    let list = match names.as_slice() {
        [one] => one.clone(),
        [a, b] => format!("{a} and {b}"),
        [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
        [] => String::new(),
    };
    let plural = if names.len() == 1 { "" } else { "s" };
    Exc::ty(format!("{}() missing {} required {kind} argument{plural}: {list}", function.qualname.borrow().as_str(), names.len()))
}

impl Exc {
    /// The native's value is the call's.
    pub fn call_args(callable: Value, args: Args) -> Exc {
        Exc(Box::new(Signal::Call(Call { callable, args, then: None, catch: None, names: None })))
    }

    /// Calls `__init__`, which must give `None`; the value is the object.
    fn init(init: Value, args: Args, object: Value) -> Exc {
        Exc::call_args(init, args).and_then(move |vm, value| match value {
            Value::None => Ok(object),
            other => Err(Exc::ty(format!("__init__() should return None, not '{}'", vm.type_name(&other)))),
        })
    }

    /// Where this is a call: goes on with its value.
    pub fn and_then(self, next: impl FnOnce(&mut Vm, Value) -> Result<Value, Exc> + 'static) -> Exc {
        match *self.0 {
            Signal::Call(mut call) => {
                // What the call gives goes on, and what is made of its exception: one of both happens.
                let next: Rc<RefCell<Option<crate::objects::exception::Then>>> = Rc::new(RefCell::new(Some(Box::new(next))));
                let go_on = |first: Option<crate::objects::exception::Then>| -> crate::objects::exception::Then {
                    let next = next.clone();
                    Box::new(move |vm: &mut Vm, value: Value| {
                        let result = match first {
                            None => Ok(value),
                            Some(first) => first(vm, value),
                        };
                        let Some(next) = next.borrow_mut().take() else { return result };
                        match result {
                            Ok(value) => next(vm, value),
                            Err(exc) => Err(exc.and_then(next)),
                        }
                    })
                };
                call.then = Some(go_on(call.then.take()));
                call.catch = call.catch.take().map(|(kind, catch)| (kind, go_on(Some(catch))));
                Exc(Box::new(Signal::Call(call)))
            }
            other => Exc(Box::new(other)),
        }
    }
}
