//! The loop that runs instructions.

// Long: one loop, with an arm for each instruction that is run often.

use super::frame::After;
use super::{Exit, Vm, compare};
use crate::bytecode::{Binary, Cache, Code, Compare, Op, Unary};
use crate::objects::generator::State;
use crate::objects::{Args, Exc, Function, Generator, Kind, Real, Value, iterator::Iter, memory};
use std::cell::RefCell;
use std::rc::Rc;

/// How many units of fuel pass between two looks at the memory taken.
const CHECK: u32 = 256;

impl Vm {
    /// Runs until there is a reason to stop.
    pub(crate) fn execute(&mut self) -> Exit {
        loop {
            match self.burst() {
                Ok(()) => {}
                Err(exit) => return exit,
            }
        }
    }

    /// At each turn of a loop and each call: fuel, memory, an interrupt.
    fn tick(&mut self) -> Result<bool, Exc> {
        if self.fuel == 0 {
            return Ok(false);
        }
        self.fuel -= 1;
        self.steps_until_check -= 1;
        if self.steps_until_check == 0 {
            self.steps_until_check = CHECK;
            if memory::used() > self.limits.memory {
                return Err(Exc::new(Kind::MemoryError, ""));
            }
            if std::mem::take(&mut self.interrupt) {
                return Err(Exc::new(Kind::KeyboardInterrupt, ""));
            }
        }
        Ok(true)
    }

    /// Runs the topmost frame until another is topmost.
    fn burst(&mut self) -> Result<(), Exit> {
        if memory::abandoned() {
            return self.close_abandoned();
        }
        let Some(frame) = self.frames.last() else { return Err(Exit::Done(Value::None)) };
        let function = frame.function.clone();
        let code: &Code = &function.code;
        let base = frame.base;
        let mut ip = frame.ip;
        macro_rules! save {
            () => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.ip = ip;
                }
            };
        }
        // An operation whose value goes on the stack.
        macro_rules! push {
            ($result:expr) => {
                match $result {
                    Ok(value) => self.stack.push(value),
                    Err(exc) => {
                        save!();
                        return self.settle(Err(exc), After::Push);
                    }
                }
            };
        }
        // An operation whose value does not matter.
        macro_rules! done {
            ($result:expr) => {
                if let Err(exc) = $result {
                    save!();
                    return self.settle(Err(exc), After::Discard);
                }
            };
        }
        macro_rules! raise {
            ($exc:expr) => {{
                save!();
                return self.settle(Err($exc), After::Push);
            }};
        }
        macro_rules! pop {
            () => {
                self.stack.pop().unwrap_or_default()
            };
        }
        if self.fuel == 0 {
            return Err(Exit::Fuel);
        }
        loop {
            let op = code.ops[ip];
            ip += 1;
            match op {
                Op::Const(index) => self.stack.push(code.consts[index as usize].clone()),
                Op::None => self.stack.push(Value::None),
                Op::Local(slot) => {
                    let value = self.stack[base + slot as usize].clone();
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code, slot));
                    }
                    self.stack.push(value);
                }
                Op::Locals(a, b) => {
                    for slot in [a, b] {
                        let value = self.stack[base + slot as usize].clone();
                        if matches!(value, Value::Unbound) {
                            raise!(unbound(code, u32::from(slot)));
                        }
                        self.stack.push(value);
                    }
                    ip += 1;
                }
                Op::LocalConst(slot, index) => {
                    let value = self.stack[base + slot as usize].clone();
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code, u32::from(slot)));
                    }
                    self.stack.push(value);
                    self.stack.push(code.consts[index as usize].clone());
                    ip += 1;
                }
                Op::StoreLocal(slot) => {
                    let value = pop!();
                    let old = std::mem::replace(&mut self.stack[base + slot as usize], value);
                    let generator = matches!(old, Value::Generator(_));
                    drop(old);
                    if generator && memory::abandoned() {
                        save!();
                        return Ok(());
                    }
                }
                Op::Deref(slot) => {
                    let value = match &self.stack[base + slot as usize] {
                        Value::Cell(cell) => cell.value.borrow().clone(),
                        _ => Value::Unbound,
                    };
                    if matches!(value, Value::Unbound) {
                        raise!(unbound_cell(code, slot));
                    }
                    self.stack.push(value);
                }
                Op::StoreDeref(slot) => {
                    let value = pop!();
                    if let Value::Cell(cell) = &self.stack[base + slot as usize] {
                        cell.set(value);
                    }
                }
                Op::Global(site) => {
                    let site = &code.sites[site as usize];
                    let globals = function.globals.borrow();
                    let found = match site.cache.get() {
                        Cache::Global { place } => match globals.slot(place as usize) {
                            Some(entry) if matches!(&entry.key, Value::Str(key) if Rc::ptr_eq(key, &site.name)) => {
                                Some(entry.value.clone())
                            }
                            _ => None,
                        },
                        Cache::Builtin { keys, place } if keys == globals.keys => match self.builtins.borrow().slot(place as usize) {
                            Some(entry) if matches!(&entry.key, Value::Str(key) if Rc::ptr_eq(key, &site.name)) => {
                                Some(entry.value.clone())
                            }
                            _ => None,
                        },
                        _ => None,
                    };
                    drop(globals);
                    match found {
                        Some(value) => self.stack.push(value),
                        None => push!(self.global(&function.globals, site)),
                    }
                }
                Op::StoreGlobal(site) => {
                    let value = pop!();
                    let site = &code.sites[site as usize];
                    let mut globals = function.globals.borrow_mut();
                    let known = match site.cache.get() {
                        Cache::Global { place } => match globals.slot(place as usize) {
                            Some(entry) if matches!(&entry.key, Value::Str(key) if Rc::ptr_eq(key, &site.name)) => Some(place as usize),
                            _ => None,
                        },
                        _ => None,
                    };
                    let place = known.or_else(|| globals.find_str(&site.name));
                    let old = match place {
                        Some(place) => {
                            site.cache.set(Cache::Global { place: place as u32 });
                            Some(globals.replace(place, value))
                        }
                        None => {
                            globals.insert_new(site.name.hash(), Value::Str(site.name.clone()), value);
                            None
                        }
                    };
                    drop(globals);
                    let generator = matches!(old, Some(Value::Generator(_)));
                    drop(old);
                    if generator && memory::abandoned() {
                        save!();
                        return Ok(());
                    }
                }
                Op::Attr(site) => {
                    let object = pop!();
                    push!(self.load_attr(&object, &code.sites[site as usize]));
                }
                Op::StoreAttr(site) => {
                    let object = pop!();
                    let value = pop!();
                    done!(self.store_attr(&object, &code.sites[site as usize], value));
                }
                Op::LoadMethod(site) => {
                    let object = pop!();
                    match self.load_method(&object, &code.sites[site as usize]) {
                        Some(function) => {
                            self.stack.push(function);
                            self.stack.push(object);
                        }
                        None => {
                            self.stack.push(Value::Unbound);
                            push!(self.load_attr(&object, &code.sites[site as usize]));
                        }
                    }
                }
                Op::Item => {
                    let key = pop!();
                    let object = pop!();
                    if let (Value::List(list), Value::Int(index)) = (&object, &key) {
                        let items = list.borrow();
                        let at = if *index < 0 { *index + items.len() as i64 } else { *index };
                        if at >= 0 && (at as usize) < items.len() {
                            let value = items[at as usize].clone();
                            drop(items);
                            self.stack.push(value);
                            continue;
                        }
                    }
                    push!(self.get_item(&object, &key));
                }
                Op::StoreItem => {
                    let key = pop!();
                    let object = pop!();
                    let value = pop!();
                    done!(self.set_item(&object, &key, value));
                }
                Op::Binary(op) => {
                    let right = pop!();
                    let left = pop!();
                    let fast = match (op, &left, &right) {
                        (Binary::Add, Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int),
                        (Binary::Sub, Value::Int(a), Value::Int(b)) => a.checked_sub(*b).map(Value::Int),
                        (Binary::Mul, Value::Int(a), Value::Int(b)) => a.checked_mul(*b).map(Value::Int),
                        (Binary::Add, Value::Float(a), Value::Float(b)) => Some(Value::float(a.get() + b.get())),
                        (Binary::Sub, Value::Float(a), Value::Float(b)) => Some(Value::float(a.get() - b.get())),
                        (Binary::Mul, Value::Float(a), Value::Float(b)) => Some(Value::float(a.get() * b.get())),
                        _ => None,
                    };
                    match fast {
                        Some(value) => self.stack.push(value),
                        None => push!(self.binary(op, left, right)),
                    }
                }
                Op::Inplace(op) => {
                    let right = pop!();
                    let left = pop!();
                    push!(self.inplace(op, left, right));
                }
                Op::InplaceLocal(op, slot) => {
                    let right = pop!();
                    let place = base + slot as usize;
                    match (op, &mut self.stack[place], &right) {
                        (Binary::Add, Value::Int(a), Value::Int(b)) if a.checked_add(*b).is_some() => {
                            *a += *b;
                            continue;
                        }
                        (Binary::Sub, Value::Int(a), Value::Int(b)) if a.checked_sub(*b).is_some() => {
                            *a -= *b;
                            continue;
                        }
                        (Binary::Add, Value::Float(a), Value::Float(b)) => {
                            *a = Real::new(a.get() + b.get());
                            continue;
                        }
                        (Binary::Sub, Value::Float(a), Value::Float(b)) => {
                            *a = Real::new(a.get() - b.get());
                            continue;
                        }
                        (_, Value::Unbound, _) => raise!(unbound(code, slot)),
                        _ => {}
                    }
                    // A string with no other reference grows in place; after an error the local must still have its value.
                    let grows = match (op, &mut self.stack[place], &right) {
                        (Binary::Add, Value::Str(text), Value::Str(more)) => match Rc::get_mut(text) {
                            Some(text) => {
                                text.push_str(more.as_str());
                                true
                            }
                            None => false,
                        },
                        _ => false,
                    };
                    if grows {
                        continue;
                    }
                    let left = self.stack[place].clone();
                    match self.inplace(op, left, right) {
                        Ok(value) => {
                            let old = std::mem::replace(&mut self.stack[place], value);
                            drop(old);
                        }
                        Err(exc) => {
                            save!();
                            let exc = exc.and_then(move |vm, value| {
                                vm.stack[place] = value;
                                Ok(Value::None)
                            });
                            return self.settle(Err(exc), After::Discard);
                        }
                    }
                }
                Op::Unary(Unary::Not) => {
                    let value = pop!();
                    match compare::truth(&value) {
                        Some(truth) => self.stack.push(Value::bool(!truth)),
                        None => push!(self.not(&value)),
                    }
                }
                Op::Unary(op) => {
                    let value = pop!();
                    push!(self.unary(op, value));
                }
                Op::Compare(op) => {
                    let right = pop!();
                    let left = pop!();
                    push!(self.compare(op, &left, &right));
                }
                Op::CompareJump(op, target) => {
                    let right = pop!();
                    let left = pop!();
                    let fast = match (&left, &right) {
                        (Value::Int(a), Value::Int(b)) => Some(op.holds(a.cmp(b))),
                        (Value::Float(a), Value::Float(b)) => {
                            Some(a.get().partial_cmp(&b.get()).map_or(op == Compare::Ne, |ordering| op.holds(ordering)))
                        }
                        _ => None,
                    };
                    match fast {
                        Some(true) => ip += 1,
                        Some(false) => ip = target as usize,
                        // The jump that follows decides.
                        None => push!(self.compare(op, &left, &right)),
                    }
                }
                Op::Is(expected) => {
                    let right = pop!();
                    let left = pop!();
                    self.stack.push(Value::bool(left.is(&right) == expected));
                }
                Op::In(expected) => {
                    let container = pop!();
                    let value = pop!();
                    match self.contains(&container, &value) {
                        Ok(found) => self.stack.push(Value::bool(found == expected)),
                        Err(exc) => {
                            save!();
                            let exc =
                                exc.and_then(move |vm, value| vm.truth_then(value, move |_, truth| Ok(Value::bool(truth == expected))));
                            return self.settle(Err(exc), After::Push);
                        }
                    }
                }
                Op::Pop => {
                    let value = self.stack.pop();
                    let generator = matches!(value, Some(Value::Generator(_)));
                    drop(value);
                    if generator && memory::abandoned() {
                        save!();
                        return Ok(());
                    }
                }
                Op::Dup => {
                    let value = self.stack.last().cloned().unwrap_or_default();
                    self.stack.push(value);
                }
                Op::Dup2 => {
                    let len = self.stack.len();
                    let (a, b) = (self.stack[len - 2].clone(), self.stack[len - 1].clone());
                    self.stack.push(a);
                    self.stack.push(b);
                }
                Op::Swap => {
                    let len = self.stack.len();
                    self.stack.swap(len - 1, len - 2);
                }
                Op::Rot3 => {
                    let len = self.stack.len();
                    self.stack[len - 3..].rotate_right(1);
                }
                Op::Jump(target) => ip = target as usize,
                Op::Loop(target) => {
                    ip = target as usize;
                    match self.tick() {
                        Ok(true) => {}
                        Ok(false) => {
                            save!();
                            return Err(Exit::Fuel);
                        }
                        Err(exc) => raise!(exc),
                    }
                }
                Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => {
                    let value = pop!();
                    let wanted = matches!(op, Op::JumpIfTrue(_));
                    match compare::truth(&value) {
                        Some(truth) => {
                            if truth == wanted {
                                ip = target as usize;
                            }
                        }
                        None => match self.truth(&value) {
                            Ok(truth) => {
                                if truth == wanted {
                                    ip = target as usize;
                                }
                            }
                            Err(exc) => {
                                // The instruction runs again, with the truth.
                                ip -= 1;
                                raise!(exc);
                            }
                        },
                    }
                }
                Op::JumpIfFalseOrPop(target) | Op::JumpIfTrueOrPop(target) => {
                    let value = self.stack.last().cloned().unwrap_or_default();
                    let wanted = matches!(op, Op::JumpIfTrueOrPop(_));
                    let truth = match compare::truth(&value) {
                        Some(truth) => truth,
                        None => match self.truth(&value) {
                            Ok(truth) => truth,
                            Err(exc) => {
                                let frame = self.frames.len() - 1;
                                save!();
                                let exc = exc.and_then(move |vm, answer| {
                                    vm.truth_then(answer, move |vm, truth| {
                                        if truth == wanted {
                                            vm.frames[frame].ip = target as usize;
                                        } else {
                                            vm.stack.pop();
                                        }
                                        Ok(Value::None)
                                    })
                                });
                                return self.settle(Err(exc), After::Discard);
                            }
                        },
                    };
                    if truth == wanted {
                        ip = target as usize;
                    } else {
                        self.stack.pop();
                    }
                }
                Op::JumpIfNone(target) => {
                    if matches!(pop!(), Value::None) {
                        ip = target as usize;
                    }
                }
                Op::Iter => {
                    let value = pop!();
                    match &value {
                        Value::Range(range) => self.stack.push(Iter::range(range)),
                        _ => push!(self.iter(&value)),
                    }
                }
                Op::For(target) => {
                    let next = match self.stack.last() {
                        Some(Value::Iterator(iterator)) => {
                            let iterator = iterator.clone();
                            iterator.next(self)
                        }
                        Some(other) => {
                            let other = other.clone();
                            save!();
                            return self.advance(&other, target);
                        }
                        None => Ok(None),
                    };
                    match next {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => {
                            self.stack.pop();
                            ip = target as usize;
                        }
                        Err(exc) => {
                            save!();
                            return self.settle(Err(exc), After::For(target));
                        }
                    }
                }
                Op::ForLocal(target, slot) => {
                    let next = match self.stack.last() {
                        Some(Value::Iterator(iterator)) => {
                            let iterator = iterator.clone();
                            iterator.next(self)
                        }
                        Some(other) => {
                            let other = other.clone();
                            save!();
                            return self.advance(&other, target);
                        }
                        None => Ok(None),
                    };
                    match next {
                        Ok(Some(value)) => {
                            let old = std::mem::replace(&mut self.stack[base + slot as usize], value);
                            drop(old);
                            ip += 1;
                        }
                        Ok(None) => {
                            self.stack.pop();
                            ip = target as usize;
                        }
                        Err(exc) => {
                            save!();
                            return self.settle(Err(exc), After::For(target));
                        }
                    }
                }
                Op::Call(count) => {
                    let at = self.stack.len() - count as usize - 1;
                    if let Value::Function(callee) = &self.stack[at] {
                        let callee = callee.clone();
                        save!();
                        return self.call_function(callee, at + 1, at, count as usize);
                    }
                    let args = Args { values: self.stack.drain(at + 1..).collect(), keywords: Vec::new() };
                    let callable = pop!();
                    save!();
                    match self.invoke(&callable, args) {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => return Ok(()),
                        Err(exc) => return self.settle(Err(exc), After::Push),
                    }
                }
                Op::CallMethod(count) => {
                    let mut at = self.stack.len() - count as usize - 2;
                    let mut floor = at;
                    if matches!(self.stack[at], Value::Unbound) {
                        at += 1;
                    }
                    if let Value::Function(callee) = &self.stack[at] {
                        let callee = callee.clone();
                        save!();
                        let given = self.stack.len() - at - 1;
                        return self.call_function(callee, at + 1, floor, given);
                    }
                    let args = Args { values: self.stack.drain(at + 1..).collect(), keywords: Vec::new() };
                    let callable = pop!();
                    if floor < at {
                        self.stack.pop();
                        floor += 1;
                    }
                    let _ = floor;
                    save!();
                    match self.invoke(&callable, args) {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => return Ok(()),
                        Err(exc) => return self.settle(Err(exc), After::Push),
                    }
                }
                Op::CallKeywords(count, names) => {
                    let at = self.stack.len() - count as usize;
                    let mut values: smallvec::SmallVec<[Value; 4]> = self.stack.drain(at..).collect();
                    let mut keywords = Vec::new();
                    if let Value::Tuple(names) = &code.consts[names as usize] {
                        let first = values.len() - names.len();
                        for (name, value) in names.iter().zip(values.drain(first..)) {
                            if let Value::Str(name) = name {
                                keywords.push((name.clone(), value));
                            }
                        }
                    }
                    let callable = pop!();
                    save!();
                    match self.invoke(&callable, Args { values, keywords }) {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => return Ok(()),
                        Err(exc) => return self.settle(Err(exc), After::Push),
                    }
                }
                Op::CallSpread(keyword) => {
                    let keywords = if keyword { pop!() } else { Value::None };
                    let positional = pop!();
                    let callable = pop!();
                    let mut args = Args::default();
                    if let Value::Tuple(values) = &positional {
                        args.values = values.iter().cloned().collect();
                    }
                    if let Value::Dict(dict) = &keywords {
                        for (key, value) in dict.borrow().iter() {
                            if let Value::Str(key) = key {
                                args.keywords.push((key.clone(), value.clone()));
                            }
                        }
                    }
                    save!();
                    match self.invoke(&callable, args) {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => return Ok(()),
                        Err(exc) => return self.settle(Err(exc), After::Push),
                    }
                }
                Op::Return => {
                    let value = pop!();
                    return self.finish_frame(value);
                }
                Op::Yield => {
                    let value = pop!();
                    save!();
                    return self.suspend(value);
                }
                Op::YieldIter => {
                    let value = pop!();
                    push!(self.iter(&value));
                }
                Op::YieldFrom => {
                    let value = pop!();
                    save!();
                    return self.yield_from(value);
                }
                Op::MakeGenerator => {
                    let Some(mut frame) = self.frames.pop() else { return Err(Exit::Done(Value::None)) };
                    frame.ip = ip;
                    let after = std::mem::take(&mut frame.after);
                    let floor = frame.floor;
                    frame.floor = base;
                    let generator = Rc::new(Generator {
                        name: function.name.borrow().clone(),
                        qualname: function.qualname.borrow().clone(),
                        state: std::cell::Cell::new(State::Created),
                        saved: RefCell::new(None),
                        closed: std::cell::Cell::new(false),
                    });
                    let handled = self.handled.clone();
                    self.save(&generator, frame, handled);
                    self.stack.truncate(floor);
                    return self.settle(Ok(Value::Generator(generator)), after);
                }
                Op::Tuple(count) => {
                    let at = self.stack.len() - count as usize;
                    let values = self.stack.split_off(at);
                    self.stack.push(Value::tuple(values));
                }
                Op::List(count) => {
                    let at = self.stack.len() - count as usize;
                    let values = self.stack.split_off(at);
                    self.stack.push(Value::list(values));
                }
                Op::Append(depth) => {
                    let value = pop!();
                    let at = self.stack.len() - depth as usize;
                    if let Value::List(list) = &self.stack[at] {
                        list.push(value);
                    }
                }
                Op::Unpack(count) => {
                    let value = pop!();
                    match (&value, count) {
                        (Value::Tuple(items), _) if items.len() == count as usize => self.stack.extend(items.iter().rev().cloned()),
                        _ => done!(self.unpack(value, count as usize)),
                    }
                }
                Op::Reraise => {
                    let exception = pop!();
                    self.handled = pop!();
                    save!();
                    return self.unwind_from(exception, false);
                }
                Op::Raise(count) => {
                    save!();
                    return self.raise(count);
                }
                Op::Enter => {
                    let manager = pop!();
                    match self.with_methods(&manager) {
                        Ok((enter, exit)) => {
                            self.stack.push(exit);
                            save!();
                            return self.settle(Err(Exc::call(enter, vec![])), After::Push);
                        }
                        Err(exc) => raise!(exc),
                    }
                }
                Op::Exit => {
                    let exit = pop!();
                    save!();
                    return self.settle(Err(Exc::call(exit, vec![Value::None, Value::None, Value::None])), After::Discard);
                }
                Op::ExitException => {
                    let len = self.stack.len();
                    let (exit, exception) = (self.stack[len - 3].clone(), self.stack[len - 1].clone());
                    let class = Value::Class(self.class_of(&exception));
                    let traceback = crate::builtins::exceptions::traceback_of(self, &exception);
                    save!();
                    return self.settle(Err(Exc::call(exit, vec![class, exception, traceback])), After::Push);
                }
                op => {
                    save!();
                    if let Err((exc, after)) = self.rare(op, &function, base) {
                        return self.settle(Err(exc), after);
                    }
                    if memory::abandoned() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Calls a function in Python whose arguments lie on the stack from `base` on.
    #[inline]
    fn call_function(&mut self, callee: Rc<Function>, base: usize, floor: usize, given: usize) -> Result<(), Exit> {
        match self.tick() {
            Ok(_) => {}
            Err(exc) => return self.settle(Err(exc), After::Push),
        }
        if self.frames.len() >= self.limits.recursion {
            self.stack.truncate(floor);
            return self.settle(Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded")), After::Push);
        }
        if callee.code.is_simple() && given == callee.code.positional {
            self.open_frame(callee, base, floor);
            return Ok(());
        }
        let args = Args { values: self.stack.drain(base..).collect(), keywords: Vec::new() };
        match self.bind_arguments(&callee, &callee.code, args) {
            Ok(()) => {
                self.open_frame(callee, base, floor);
                Ok(())
            }
            Err(exc) => {
                self.stack.truncate(floor);
                self.settle(Err(exc), After::Push)
            }
        }
    }
}

#[cold]
pub(super) fn unbound(code: &Code, slot: u32) -> Exc {
    let name = code.slots[slot as usize].as_str();
    Exc::named(
        Kind::UnboundLocalError,
        format!("cannot access local variable '{name}' where it is not associated with a value"),
        name,
        Value::None,
    )
}

#[cold]
pub(super) fn unbound_cell(code: &Code, slot: u32) -> Exc {
    let name = code.slots[slot as usize].as_str();
    if (slot as usize) < code.free_start {
        return unbound(code, slot);
    }
    let message = format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
    Exc::named(Kind::NameError, message, name, Value::None)
}

#[cold]
pub(super) fn undefined(name: &str) -> Exc {
    Exc::named(Kind::NameError, format!("name '{name}' is not defined"), name, Value::None)
}
