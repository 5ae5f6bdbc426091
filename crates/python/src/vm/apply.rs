//! Calls of what lies on the stack, without copying arguments where that can be.

use super::frame::{After, Frame};
use super::{Exit, Vm};
use crate::objects::class::{Inner, Make};
use crate::objects::function::Run;
use crate::objects::{Args, Class, Exc, Function, Instance, Kind, Native, Other, Value, watch};
use smallvec::SmallVec;
use std::rc::Rc;

impl Vm {
    /// Calls what lies at `at` on the stack with what lies above it; the stack is cut to `floor`. Whether the value is there at once:
    /// otherwise another frame may be topmost.
    pub(super) fn call_at(&mut self, at: usize, floor: usize) -> Result<bool, Exit> {
        match &self.stack[at] {
            Value::Function(_) => {
                let Value::Function(callee) = std::mem::take(&mut self.stack[at]) else { return Ok(true) };
                self.call_function(callee, at + 1, floor, After::Push)?;
                Ok(false)
            }
            Value::Native(native) => {
                if let Some(value) = native.quick.and_then(|quick| quick(self, &self.stack[at + 1..])) {
                    return Ok(self.give(floor, value));
                }
                let native = native.clone();
                self.call_native(&native, at + 1, floor)
            }
            Value::Method(method) => {
                let (function, object) = (method.function.clone(), method.object.clone());
                self.stack[at] = function;
                self.stack.insert(at + 1, object);
                self.call_at(at, floor)
            }
            Value::Class(class) => {
                let mut known_value = None;
                if let Some((version, Make::Native(new))) = &*class.make.borrow()
                    && *version == class.version()
                    && let Some(value) = new.quick.and_then(|quick| quick(self, &self.stack[at..]))
                {
                    known_value = Some(value);
                }
                if let Some(value) = known_value {
                    return Ok(self.give(floor, value));
                }
                let class = class.clone();
                let known = match &*class.make.borrow() {
                    Some((version, make)) if *version == class.version() => Some(make.clone()),
                    _ => None,
                };
                let make = known.unwrap_or_else(|| self.way_to_make(&class));
                match make {
                    Make::Native(new) => self.call_native(&new, at, floor),
                    Make::Init(init) => {
                        let object = Value::Instance(Instance::new(class, Inner::Nothing));
                        self.stack[at] = object.clone();
                        self.call_function(init, at, floor, After::Init(object))?;
                        Ok(false)
                    }
                    Make::General => self.call_general(at, floor),
                }
            }
            _ => self.call_general(at, floor),
        }
    }

    /// Calls a function in Python with exactly its positional parameters; whether it is that.
    #[inline(always)]
    pub(super) fn call_quickly(&mut self, at: usize, floor: usize) -> bool {
        let Some(Value::Function(callee)) = self.stack.get(at) else { return false };
        let code = &callee.code;
        if self.steps == 0 || self.frames.len() >= self.limits.recursion || code.exact != Some(self.stack.len() - at - 1) {
            return false;
        }
        self.steps -= 1;
        let locals = code.locals;
        let (base, floor, blocks) = (at as u32 + 1, floor as u32, self.blocks.len() as u32);
        // A frame that is pushed is put together elsewhere first and copied in pieces other than it was written in, for which processors
        // wait; this one is written where it stays.
        let frame = || Frame { function: callee.clone(), ip: 0, base, floor, blocks, after: After::Push, extra: None };
        self.frames.resize_with(self.frames.len() + 1, frame);
        for _ in 0..locals {
            self.stack.push(Value::Unbound);
        }
        true
    }

    /// The value of a call: in place of the callable and its arguments.
    #[inline(always)]
    fn give(&mut self, floor: usize, value: Value) -> bool {
        self.steps = self.steps.saturating_sub(1);
        while self.stack.len() > floor {
            self.pop().release();
        }
        self.stack.push(value);
        true
    }

    fn call_general(&mut self, at: usize, floor: usize) -> Result<bool, Exit> {
        let args = Args { values: self.stack.drain(at + 1..).collect(), keywords: Vec::new() };
        let callable = self.pop();
        self.stack.truncate(floor);
        self.invoke_settled(&callable, args)?;
        Ok(false)
    }

    /// How a class makes its instances, in the cases that are met most; remembered at the class.
    #[cold]
    fn way_to_make(&mut self, class: &Rc<Class>) -> Make {
        let make = self.find_way_to_make(class);
        *class.make.borrow_mut() = Some((class.version(), make.clone()));
        make
    }

    fn find_way_to_make(&mut self, class: &Rc<Class>) -> Make {
        if class.meta.borrow().is_some() || Rc::ptr_eq(class, &self.types.type_) {
            return Make::General;
        }
        let new = match class.lookup(&self.names.new) {
            Some(Value::Other(other)) => match &*other {
                Other::StaticMethod(Value::Native(native)) => native.clone(),
                _ => return Make::General,
            },
            Some(Value::Native(native)) => native,
            _ => return Make::General,
        };
        if new.owner != "object" {
            return if class.mutable { Make::General } else { Make::Native(new) };
        }
        let concrete = match class.attrs.get_str(&self.names.abstract_methods) {
            None => true,
            Some(Value::Set(names)) => names.is_empty(),
            Some(_) => false,
        };
        match class.lookup(&self.names.init) {
            Some(Value::Function(init)) if concrete && class.layout == crate::objects::Layout::Plain => Make::Init(init),
            _ => Make::General,
        }
    }

    /// Calls a native whose arguments lie on the stack from `first` on.
    #[inline]
    fn call_native(&mut self, native: &Rc<Native>, first: usize, floor: usize) -> Result<bool, Exit> {
        self.steps = self.steps.saturating_sub(1);
        let retried = native.slow.is_some() || self.may_index(native, &self.stack[first..]);
        // One that may have to be done over in Python leaves its arguments where they are.
        let mut values = SmallVec::new();
        if retried {
            values.extend(self.stack[first..].iter().cloned());
        } else {
            values.extend(self.stack.drain(first..));
        }
        let mut args = Args { values, keywords: Vec::new() };
        let refused = self.check_receiver(native, &args).err();
        let watched = if refused.is_none() && watch::on() { self.watched_call(native, &mut args) } else { None };
        let given = args.len();
        let result = match &native.run {
            _ if watched.is_some() => watched.unwrap_or(Ok(Value::None)),
            _ if let Some(exc) = refused => Err(exc),
            Run::Fn(run) => run(self, &mut args),
            Run::Closure(run) => run(self, &mut args),
        };
        match result {
            Ok(value) => {
                self.stack.truncate(floor);
                self.stack.push(value);
                Ok(true)
            }
            Err(exc) => {
                let kept =
                    if retried { Args { values: self.stack.drain(first..).collect(), keywords: Vec::new() } } else { Args::default() };
                self.stack.truncate(floor);
                let exc = self.reword(native, exc, given, &args);
                let result = self.hand_over(native, exc, kept);
                self.settle(result, After::Push)?;
                Ok(false)
            }
        }
    }

    /// Calls a function in Python whose arguments lie on the stack from `base` on.
    #[inline]
    fn call_function(&mut self, callee: Rc<Function>, base: usize, floor: usize, after: After) -> Result<(), Exit> {
        if let Err(exc) = self.tick() {
            return self.settle(Err(exc), After::Push);
        }
        if self.frames.len() >= self.limits.recursion {
            self.stack.truncate(floor);
            return self.settle(Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded")), After::Push);
        }
        if !(callee.code.is_simple() && self.stack.len() - base == callee.code.positional) {
            let args = Args { values: self.stack.drain(base..).collect(), keywords: Vec::new() };
            if let Err(exc) = self.bind_arguments(&callee, &callee.code, args) {
                self.stack.truncate(floor);
                return self.settle(Err(exc), After::Push);
            }
        }
        self.open_frame(callee, base, floor, after);
        Ok(())
    }
}
