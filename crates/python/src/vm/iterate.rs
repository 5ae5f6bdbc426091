//! Iteration: natives step at once, generators and classes in Python by frames.

use super::frame::After;
use super::intern::intern;
use super::{Exit, Vm};
use crate::objects::exception::Signal;
use crate::objects::generator::State;
use crate::objects::{Exc, Iter, Kind, Other, Step, Value, ViewKind};

/// Native iterators made of one another: each takes some of the thread's stack.
const DEEPEST: usize = 500;

impl Vm {
    /// `iter(value)` of a builtin value; `None` where it is none.
    pub fn native_iter(&self, value: &Value) -> Option<Value> {
        Some(Iter::value(match value {
            Value::List(list) => Step::List(list.clone(), 0),
            Value::Tuple(items) => Step::Tuple(items.clone(), 0),
            Value::Str(text) => Step::Str(text.clone(), 0),
            Value::Bytes(bytes) => Step::Bytes(bytes.clone(), 0),
            Value::Dict(dict) => Step::Dict { kind: ViewKind::Keys, dict: dict.clone(), place: 0, len: dict.len(), left: dict.len() },
            Value::Set(set) => Step::Set { set: set.clone(), place: 0, len: set.len() },
            Value::Range(range) => return Some(Iter::range(range)),
            Value::Iterator(_) => return Some(value.clone()),
            Value::Other(other) => match &**other {
                Other::View(kind, dict) => Step::Dict { kind: *kind, dict: dict.clone(), place: 0, len: dict.len(), left: dict.len() },
                Other::MappingProxy(dict) => {
                    Step::Dict { kind: ViewKind::Keys, dict: dict.clone(), place: 0, len: dict.len(), left: dict.len() }
                }
                // A text that is taken apart is a constant of the turn.
                Other::Marked(..) => return self.native_iter(value.plain()),
                _ => return None,
            },
            _ => return None,
        }))
    }

    /// `iter(value)`.
    pub fn iter(&mut self, value: &Value) -> Result<Value, Exc> {
        if let Value::Iterator(iterator) = value {
            iterator.told();
        }
        if let Some(iterator) = self.native_iter(value) {
            return Ok(iterator);
        }
        match value {
            Value::Generator(_) => Ok(value.clone()),
            Value::Instance(_) | Value::Class(_) => {
                if let Some(method) = self.special(value, &self.names.iter.clone()) {
                    if super::index::is_native_method(&method)
                        && let Some(iterator) = self.native_iter(&value.plain().clone())
                    {
                        return Ok(iterator);
                    }
                    return Err(Exc::call_then(method, vec![], |vm, iterator| {
                        let fine = match &iterator {
                            Value::Iterator(_) | Value::Generator(_) => true,
                            Value::Instance(instance) => instance.class().lookup(&vm.names.next).is_some(),
                            _ => false,
                        };
                        if !fine {
                            return Err(Exc::ty(format!("iter() returned non-iterator of type '{}'", vm.type_name(&iterator))));
                        }
                        Ok(iterator)
                    }));
                }
                if matches!(value, Value::Instance(_)) && self.special(value, &self.names.getitem.clone()).is_some() {
                    return Err(self.slow_op("_iter_items", vec![value.clone()]));
                }
                Err(self.not_iterable(value))
            }
            _ => Err(self.not_iterable(value)),
        }
    }

    fn not_iterable(&self, value: &Value) -> Exc {
        Exc::ty(format!("'{}' object is not iterable", self.type_name(value)))
    }

    /// The next value of a native iterator. Only for iterators that [`native_iter`](Self::native_iter) gave.
    pub fn step(&mut self, iterator: &Value) -> Result<Option<Value>, Exc> {
        match iterator {
            Value::Iterator(iterator) => {
                iterator.told();
                iterator.clone().next(self)
            }
            _ => Err(Exc::slow()),
        }
    }

    /// The next value of a native iterator for another one that is made of it.
    pub(crate) fn step_within(&mut self, iterator: &Value) -> Result<Option<Value>, Exc> {
        if self.within >= DEEPEST {
            return Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded"));
        }
        self.within += 1;
        let next = self.step(iterator);
        self.within -= 1;
        next
    }

    /// All items of an iterable. Where Python code gives them, the error asks for a list of them first.
    pub fn items_of(&mut self, value: &Value) -> Result<Vec<Value>, Exc> {
        match value {
            Value::List(list) => Ok(list.borrow().clone()),
            Value::Tuple(items) => Ok(items.to_vec()),
            Value::Generator(_) => Err(Exc(Box::new(Signal::Collect(value.clone())))),
            Value::Instance(_) | Value::Class(_) => {
                if let Some(method) = self.special(value, &self.names.iter.clone())
                    && super::index::is_native_method(&method)
                    && !matches!(value.plain(), Value::Instance(_) | Value::Class(_))
                {
                    let plain = value.plain().clone();
                    return self.items_of(&plain);
                }
                Err(Exc(Box::new(Signal::Collect(value.clone()))))
            }
            _ => {
                let Some(iterator) = self.native_iter(value) else { return Err(self.not_iterable(value)) };
                if let Value::Range(range) = value {
                    self.reserve(range.len().saturating_mul(16))?;
                }
                let mut items = Vec::new();
                while let Some(item) = self.step(&iterator)? {
                    items.push(item);
                    if items.len() % 65_536 == 0 {
                        self.reserve(items.len() * 32)?;
                    }
                }
                Ok(items)
            }
        }
    }

    /// The next turn of a `for` over an iterator that is no native one; the instruction pointer is saved.
    pub(crate) fn advance(&mut self, iterator: &Value, target: u32) -> Result<(), Exit> {
        let result = match iterator {
            Value::Generator(generator) => {
                if generator.state.get() == State::Finished {
                    self.stack.pop();
                    if let Some(frame) = self.frames.last_mut() {
                        frame.ip = target;
                    }
                    return Ok(());
                }
                match self.resume_generator(generator, Some(Value::None)) {
                    Ok(()) => {
                        self.set_after(After::For(target));
                        return Ok(());
                    }
                    Err(exc) => Err(exc),
                }
            }
            Value::Instance(instance) => {
                let method = instance.class().lookup(&self.names.next);
                match method {
                    Some(method) => Err(Exc::call(method, vec![iterator.clone()])),
                    None => Err(Exc::ty(format!("'{}' object is not an iterator", self.type_name(iterator)))),
                }
            }
            other => Err(Exc::ty(format!("'{}' object is not an iterator", self.type_name(other)))),
        };
        self.settle(result, After::For(target))
    }

    /// `yield from` with the iterator on the stack and a value to send to it.
    pub(crate) fn yield_from(&mut self, value: Value) -> Result<(), Exit> {
        let iterator = self.stack.last().cloned().unwrap_or_default();
        match &iterator {
            Value::Generator(generator) => {
                if generator.state.get() == State::Finished {
                    self.stack.pop();
                    self.stack.push(Value::None);
                    return Ok(());
                }
                match self.resume_generator(generator, Some(value)) {
                    Ok(()) => {
                        self.set_after(After::Send);
                        Ok(())
                    }
                    Err(exc) => self.settle(Err(exc), After::Push),
                }
            }
            Value::Iterator(_) if !matches!(value, Value::None) => {
                let missing = self.no_attribute(&iterator, &intern("send"));
                self.settle(Err(missing), After::Push)
            }
            Value::Iterator(native) => match native.clone().next(self) {
                Ok(Some(value)) => {
                    self.stack.push(value);
                    self.yield_on()
                }
                Ok(None) => {
                    self.stack.pop();
                    self.stack.push(Value::None);
                    Ok(())
                }
                Err(exc) => self.settle(Err(exc), After::Push),
            },
            Value::Instance(instance) => {
                let method = match value {
                    Value::None => instance.class().lookup(&self.names.next),
                    _ => instance.class().lookup(&self.intern("send")),
                };
                let args = if matches!(value, Value::None) { vec![iterator.clone()] } else { vec![iterator.clone(), value] };
                match method {
                    Some(method) => self.settle(Err(Exc::call(method, args)), After::Send),
                    None => {
                        let missing = self.no_attribute(&iterator, &intern(if args.len() > 1 { "send" } else { "__next__" }));
                        self.settle(Err(missing), After::Push)
                    }
                }
            }
            _ => self.settle(Err(Exc::ty("not an iterator")), After::Push),
        }
    }

    /// Adds all items of an iterable to a list.
    pub(crate) fn extend(&mut self, list: &Value, iterable: &Value) -> Result<(), Exc> {
        let items = self.items_of(iterable)?;
        self.reserve(items.len() * 16)?;
        if let Value::List(list) = list.plain() {
            list.borrow_mut().extend(items);
            list.recharge();
        }
        Ok(())
    }

    /// Where an operation asked for a list of an iterable: makes it by Python code, then does the operation of that name.
    pub(crate) fn retry_with_list(&mut self, exc: Exc, operation: &'static str, target: Value, _iterable: Value) -> Exc {
        match *exc.0 {
            Signal::Collect(iterable) => Exc::call_then(self.prelude_function("_collect"), vec![iterable], move |vm, list| {
                if operation == "extend" {
                    vm.extend(&target, &list)?;
                }
                Ok(Value::None)
            }),
            other => Exc(Box::new(other)),
        }
    }

    /// Spreads a value over the stack, the first item on top.
    pub(crate) fn unpack(&mut self, value: Value, count: usize) -> Result<Value, Exc> {
        let items = match self.items_of(&value) {
            Ok(items) => items,
            Err(exc) => {
                return Err(match *exc.0 {
                    // One more than needed tells too many from enough, without running an endless iterator to its end.
                    Signal::Collect(iterable) => Exc::call_then(
                        self.prelude_function("_collect_some"),
                        vec![iterable, Value::Int(count as i64 + 1)],
                        move |vm, list| vm.unpack(list, count),
                    ),
                    other => self.not_unpacked(Exc(Box::new(other)), &value),
                });
            }
        };
        if items.len() < count {
            return Err(Exc::value(format!("not enough values to unpack (expected {count}, got {})", items.len())));
        }
        if items.len() > count {
            return Err(Exc::value(format!("too many values to unpack (expected {count})")));
        }
        self.stack.extend(items.into_iter().rev());
        Ok(Value::None)
    }

    /// What is said of a value that has no items to spread.
    fn not_unpacked(&mut self, exc: Exc, value: &Value) -> Exc {
        if exc.is_new(crate::objects::Kind::TypeError) && self.native_iter(value).is_none() {
            return Exc::ty(format!("cannot unpack non-iterable {} object", self.type_name(value)));
        }
        exc
    }

    pub(crate) fn unpack_star(&mut self, value: Value, before: usize, after: usize) -> Result<Value, Exc> {
        let mut items = match self.items_of(&value) {
            Ok(items) => items,
            Err(exc) => {
                return Err(match *exc.0 {
                    Signal::Collect(iterable) => Exc::call_then(self.prelude_function("_collect"), vec![iterable], move |vm, list| {
                        vm.unpack_star(list, before, after)
                    }),
                    other => self.not_unpacked(Exc(Box::new(other)), &value),
                });
            }
        };
        if items.len() < before + after {
            return Err(Exc::value(format!("not enough values to unpack (expected at least {}, got {})", before + after, items.len())));
        }
        let tail = items.split_off(items.len() - after);
        let middle = items.split_off(before);
        self.stack.extend(tail.into_iter().rev());
        self.stack.push(Value::list(middle));
        self.stack.extend(items.into_iter().rev());
        Ok(Value::None)
    }
}
