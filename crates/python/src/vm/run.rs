//! The loop that runs instructions.

use super::frame::{After, Block};
use super::{Exit, Vm, compare};
use crate::bytecode::{Binary, Cache, Code, Compare, Op, Unary};
use crate::objects::generator::State;
use crate::objects::{Args, Cell, Dict, Exc, Function, Generator, Kind, Slice, Value, iterator::Iter, memory};
use num_traits::ToPrimitive;
use std::cell::{OnceCell, RefCell};
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
                Op::Nop => {}
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
                    drop(old);
                }
                Op::DeleteLocal(slot) => {
                    let old = std::mem::take(&mut self.stack[base + slot as usize]);
                    if matches!(old, Value::Unbound) {
                        raise!(unbound(code, slot));
                    }
                }
                Op::Clear(slot) => {
                    let old = std::mem::take(&mut self.stack[base + slot as usize]);
                    drop(old);
                }
                Op::MakeCell(slot) => {
                    let place = &mut self.stack[base + slot as usize];
                    let value = match std::mem::take(place) {
                        Value::Cell(_) => Value::Unbound,
                        value => value,
                    };
                    *place = Value::Cell(Cell::new(value));
                }
                Op::CellOf(slot) => self.stack.push(self.stack[base + slot as usize].clone()),
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
                Op::DeleteDeref(slot) => {
                    let old = match &self.stack[base + slot as usize] {
                        Value::Cell(cell) => cell.value.replace(Value::Unbound),
                        _ => Value::Unbound,
                    };
                    if matches!(old, Value::Unbound) {
                        raise!(unbound_cell(code, slot));
                    }
                }
                Op::ClassDeref(slot, name) => {
                    let names = self.frames.last().and_then(|f| f.names.clone());
                    let value = match names.and_then(|names| names.get_str(&code.names[name as usize])) {
                        Some(value) => value,
                        None => match &self.stack[base + slot as usize] {
                            Value::Cell(cell) => cell.value.borrow().clone(),
                            _ => Value::Unbound,
                        },
                    };
                    if matches!(value, Value::Unbound) {
                        raise!(unbound_cell(code, slot));
                    }
                    self.stack.push(value);
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
                    drop(old);
                }
                Op::DeleteGlobal(site) => {
                    let site = &code.sites[site as usize];
                    if function.globals.remove_str(&site.name).is_none() {
                        raise!(undefined(site.name.as_str()));
                    }
                }
                Op::Name(index) => {
                    let name = &code.names[index as usize];
                    let names = self.frames.last().and_then(|f| f.names.clone());
                    let value = names
                        .and_then(|names| names.get_str(name))
                        .or_else(|| function.globals.get_str(name))
                        .or_else(|| self.builtins.get_str(name));
                    push!(value.ok_or_else(|| undefined(name.as_str())));
                }
                Op::StoreName(index) => {
                    let value = pop!();
                    if let Some(names) = self.frames.last().and_then(|f| f.names.clone()) {
                        names.set_str(&code.names[index as usize], value);
                    }
                }
                Op::DeleteName(index) => {
                    let name = &code.names[index as usize];
                    let removed = self.frames.last().and_then(|f| f.names.clone()).and_then(|names| names.remove_str(name));
                    if removed.is_none() {
                        raise!(undefined(name.as_str()));
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
                Op::DeleteAttr(site) => {
                    let object = pop!();
                    done!(self.delete_attr(&object, &code.sites[site as usize].name));
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
                Op::SuperAttr(_) | Op::Len => {}
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
                Op::DeleteItem => {
                    let key = pop!();
                    let object = pop!();
                    done!(self.delete_item(&object, &key));
                }
                Op::Slice(stepped) => {
                    let step = if stepped { pop!() } else { Value::None };
                    let stop = pop!();
                    let start = pop!();
                    self.stack.push(Value::Slice(Rc::new(Slice { start, stop, step })));
                }
                Op::Binary(op) => {
                    let right = pop!();
                    let left = pop!();
                    let fast = match (op, &left, &right) {
                        (Binary::Add, Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int),
                        (Binary::Sub, Value::Int(a), Value::Int(b)) => a.checked_sub(*b).map(Value::Int),
                        (Binary::Mul, Value::Int(a), Value::Int(b)) => a.checked_mul(*b).map(Value::Int),
                        (Binary::Add, Value::Float(a), Value::Float(b)) => Some(Value::Float(a + b)),
                        (Binary::Sub, Value::Float(a), Value::Float(b)) => Some(Value::Float(a - b)),
                        (Binary::Mul, Value::Float(a), Value::Float(b)) => Some(Value::Float(a * b)),
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
                            *a += *b;
                            continue;
                        }
                        (Binary::Sub, Value::Float(a), Value::Float(b)) => {
                            *a -= *b;
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
                        Some(truth) => self.stack.push(Value::Bool(!truth)),
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
                            Some(a.partial_cmp(b).map_or(op == Compare::Ne, |ordering| op.holds(ordering)))
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
                    self.stack.push(Value::Bool(left.is(&right) == expected));
                }
                Op::In(expected) => {
                    let container = pop!();
                    let value = pop!();
                    match self.contains(&container, &value) {
                        Ok(found) => self.stack.push(Value::Bool(found == expected)),
                        Err(exc) => {
                            save!();
                            let exc =
                                exc.and_then(move |vm, value| vm.truth_then(value, move |_, truth| Ok(Value::Bool(truth == expected))));
                            return self.settle(Err(exc), After::Push);
                        }
                    }
                }
                Op::Pop => {
                    let value = self.stack.pop();
                    drop(value);
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
                Op::Rot4 => {
                    let len = self.stack.len();
                    self.stack[len - 4..].rotate_right(1);
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
                Op::Set(count) => {
                    let at = self.stack.len() - count as usize;
                    let values = self.stack.split_off(at);
                    push!(self.make_set(values, false));
                }
                Op::Dict(count) => {
                    let at = self.stack.len() - 2 * count as usize;
                    let values = self.stack.split_off(at);
                    push!(self.make_dict(values));
                }
                Op::Join(count) => {
                    let at = self.stack.len() - count as usize;
                    if count == 1 {
                        continue;
                    }
                    let mut text = String::with_capacity(self.stack[at..].iter().map(|v| v.as_str().map_or(0, str::len)).sum());
                    for value in self.stack.drain(at..) {
                        text.push_str(value.as_str().unwrap_or_default());
                    }
                    self.stack.push(Value::str(text));
                }
                Op::Append(depth) => {
                    let value = pop!();
                    let at = self.stack.len() - depth as usize;
                    if let Value::List(list) = &self.stack[at] {
                        list.push(value);
                    }
                }
                Op::AddSet(depth) => {
                    let value = pop!();
                    let at = self.stack.len() - depth as usize;
                    let set = self.stack[at].clone();
                    done!(self.add_to_set(&set, value));
                }
                Op::AddDict(depth) => {
                    let value = pop!();
                    let key = pop!();
                    let at = self.stack.len() - depth as usize;
                    let dict = self.stack[at].clone();
                    done!(self.set_item(&dict, &key, value));
                }
                Op::Extend => {
                    let value = pop!();
                    let list = self.stack.last().cloned().unwrap_or_default();
                    match self.extend(&list, &value) {
                        Ok(()) => {}
                        Err(exc) => done!(Err::<Value, Exc>(self.retry_with_list(exc, "extend", list, value))),
                    }
                }
                Op::UpdateSet => {
                    let value = pop!();
                    let set = self.stack.last().cloned().unwrap_or_default();
                    done!(Err::<Value, Exc>(self.slow_op("_set_update", vec![set, value])));
                }
                Op::UpdateDict => {
                    let value = pop!();
                    let dict = self.stack.last().cloned().unwrap_or_default();
                    if !matches!(value.plain(), Value::Dict(_)) && !self.has_attribute(&value, "keys") {
                        raise!(Exc::ty(format!("'{}' object is not a mapping", self.type_name(&value))));
                    }
                    done!(self.update_dict(&dict, &value));
                }
                Op::MergeDict => {
                    let value = pop!();
                    let dict = self.stack.last().cloned().unwrap_or_default();
                    done!(self.merge_keywords(&dict, &value));
                }
                Op::ListToTuple => {
                    let value = pop!();
                    let items = match &value {
                        Value::List(list) => list.borrow().clone(),
                        _ => Vec::new(),
                    };
                    self.stack.push(Value::tuple(items));
                }
                Op::Unpack(count) => {
                    let value = pop!();
                    match (&value, count) {
                        (Value::Tuple(items), _) if items.len() == count as usize => self.stack.extend(items.iter().rev().cloned()),
                        _ => done!(self.unpack(value, count as usize)),
                    }
                }
                Op::UnpackStar(before, after) => {
                    let value = pop!();
                    done!(self.unpack_star(value, before as usize, after as usize));
                }
                Op::Format(conversion, spec) => {
                    let spec = if spec { pop!() } else { Value::Unbound };
                    let value = pop!();
                    push!(self.format_value(value, conversion, spec));
                }
                Op::Function(flags) => {
                    let made = self.make_function(flags, &function.globals);
                    self.stack.push(made);
                }
                Op::Import(index) => {
                    let names = pop!();
                    let level = pop!();
                    let name = code.names[index as usize].clone();
                    push!(self.import(&function.globals, &name, level.to_i64().unwrap_or(0), names));
                }
                Op::ImportFrom(index) => {
                    let module = self.stack.last().cloned().unwrap_or_default();
                    push!(self.import_from(&module, &code.names[index as usize]));
                }
                Op::ImportStar => {
                    let module = pop!();
                    done!(self.import_star(&module, &function.globals));
                }
                Op::PushBlock(handler) => {
                    let depth = self.stack.len() as u32;
                    self.blocks.push(Block { handler, depth });
                }
                Op::PushBlockUnder(handler) => {
                    let depth = self.stack.len() as u32 - 1;
                    self.blocks.push(Block { handler, depth });
                }
                Op::PopBlock => {
                    self.blocks.pop();
                }
                Op::PopExcept => self.handled = pop!(),
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
                Op::MatchException => {
                    let class = pop!();
                    let exception = self.stack.last().cloned().unwrap_or_default();
                    push!(self.match_exception(&exception, &class).map(Value::Bool));
                }
                Op::Assert => {
                    let message = pop!();
                    let exception = self.new_exception(Kind::AssertionError, vec![message]);
                    raise!(Exc::raise(exception));
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
                    let traceback = crate::builtins::exceptions::traceback_of(&exception);
                    save!();
                    return self.settle(Err(Exc::call(exit, vec![class, exception, traceback])), After::Push);
                }
                Op::MatchSequence(_) | Op::MatchStar(_) | Op::MatchMapping | Op::MatchKeys | Op::MatchClass(..) => {
                    save!();
                    match self.match_op(op, code) {
                        Ok(()) => {}
                        Err(exc) => return self.settle(Err(exc), After::Push),
                    }
                }
                Op::Annotate(index) => {
                    let value = pop!();
                    self.annotate(&function.globals, &code.names[index as usize], value);
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

    /// A global, or a builtin; remembered at the site.
    #[cold]
    fn global(&mut self, globals: &Rc<Dict>, site: &crate::bytecode::Site) -> Result<Value, Exc> {
        let table = globals.borrow();
        if let Some(place) = table.find_str(&site.name) {
            if matches!(&table.slots()[place].key, Value::Str(key) if Rc::ptr_eq(key, &site.name)) {
                site.cache.set(Cache::Global { place: place as u32 });
            }
            return Ok(table.slots()[place].value.clone());
        }
        let builtins = self.builtins.borrow();
        if let Some(place) = builtins.find_str(&site.name) {
            site.cache.set(Cache::Builtin { keys: table.keys, place: place as u32 });
            return Ok(builtins.slots()[place].value.clone());
        }
        Err(undefined(site.name.as_str()))
    }

    /// Makes a function of the code on top of the stack.
    fn make_function(&mut self, flags: u8, globals: &Rc<Dict>) -> Value {
        let code = self.stack.pop().unwrap_or_default();
        let Value::Code(code) = code else { return Value::None };
        let closure = match if flags & 8 != 0 { self.stack.pop() } else { None } {
            Some(Value::Tuple(cells)) => cells.iter().filter_map(|c| if let Value::Cell(c) = c { Some(c.clone()) } else { None }).collect(),
            _ => Vec::new(),
        };
        let annotations = if flags & 4 != 0 { self.stack.pop().unwrap_or_default() } else { Value::None };
        let mut kwdefaults = Vec::new();
        if flags & 2 != 0
            && let Some(Value::Dict(dict)) = self.stack.pop()
        {
            for (key, value) in dict.borrow().iter() {
                if let Value::Str(key) = key {
                    kwdefaults.push((key.clone(), value.clone()));
                }
            }
        }
        let defaults = match if flags & 1 != 0 { self.stack.pop() } else { None } {
            Some(Value::Tuple(values)) => values.to_vec(),
            _ => Vec::new(),
        };
        Value::Function(Rc::new(Function {
            name: RefCell::new(code.name.clone()),
            qualname: RefCell::new(code.qualname.clone()),
            doc: RefCell::new(code.doc.clone()),
            code,
            globals: globals.clone(),
            defaults: RefCell::new(defaults),
            kwdefaults: RefCell::new(kwdefaults),
            closure,
            annotations: RefCell::new(annotations),
            attrs: OnceCell::new(),
        }))
    }

    fn annotate(&mut self, globals: &Rc<Dict>, name: &Rc<crate::objects::Str>, value: Value) {
        let names = self.frames.last().and_then(|f| f.names.clone()).unwrap_or_else(|| globals.clone());
        let annotations = match names.get_str(&self.names.annotations) {
            Some(Value::Dict(dict)) => dict,
            _ => {
                let dict = Dict::new();
                names.set_str(&self.names.annotations, Value::Dict(dict.clone()));
                dict
            }
        };
        annotations.set_str(name, value);
    }

    /// The statement `raise` with its operands on the stack.
    fn raise(&mut self, count: u8) -> Result<(), Exit> {
        let cause = if count == 2 { self.stack.pop() } else { None };
        let exc = match count {
            0 => {
                if matches!(self.handled, Value::Instance(_)) {
                    let exception = self.handled.clone();
                    return self.unwind_from(exception, false);
                }
                Exc::new(Kind::RuntimeError, "No active exception to reraise")
            }
            3 => Exc::new(Kind::AssertionError, ""),
            _ => {
                let raised = self.stack.pop().unwrap_or_default();
                self.raise_exc(raised, cause)
            }
        };
        self.settle(Err(exc), After::Push)
    }

    fn raise_exc(&mut self, raised: Value, cause: Option<Value>) -> Exc {
        match &raised {
            Value::Class(class) if class.is_subclass(&self.types.exception(Kind::BaseException)) => {
                Exc::call_then(raised, vec![], move |vm, exception| Err(vm.raise_exc(exception, cause)))
            }
            Value::Instance(instance) if instance.exception().is_some() => {
                match cause {
                    None => {}
                    Some(Value::Class(class)) if class.is_subclass(&self.types.exception(Kind::BaseException)) => {
                        let raised = raised.clone();
                        return Exc::call_then(Value::Class(class), vec![], move |vm, cause| Err(vm.raise_exc(raised, Some(cause))));
                    }
                    Some(cause) => {
                        let valid = matches!(cause, Value::None) || matches!(&cause, Value::Instance(i) if i.exception().is_some());
                        if !valid {
                            return Exc::ty("exception causes must derive from BaseException");
                        }
                        if let Some(data) = instance.exception() {
                            let mut data = data.borrow_mut();
                            data.suppress_context = true;
                            let old = std::mem::replace(&mut data.cause, cause);
                            drop(data);
                            drop(old);
                        }
                    }
                }
                Exc::raise(raised)
            }
            _ => Exc::ty("exceptions must derive from BaseException"),
        }
    }

    /// Whether an exception is of the class, or one of the classes, of an `except`.
    fn match_exception(&mut self, exception: &Value, class: &Value) -> Result<bool, Exc> {
        match class {
            Value::Class(class) if class.is_subclass(&self.types.exception(Kind::BaseException)) => Ok(self.is_instance(exception, class)),
            Value::Tuple(classes) => {
                for class in classes.iter() {
                    if self.match_exception(exception, class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Err(Exc::ty("catching classes that do not inherit from BaseException is not allowed")),
        }
    }

    /// `float(value)` of a number for natives.
    pub fn float_of(&self, value: &Value) -> Result<f64, Exc> {
        match value.plain() {
            Value::Big(b) => match b.to_f64() {
                Some(f) if f.is_finite() => Ok(f),
                _ => Err(Exc::new(Kind::OverflowError, "int too large to convert to float")),
            },
            other => other.to_f64().ok_or_else(|| Exc::ty(format!("must be real number, not {}", self.type_name(value)))),
        }
    }
}

#[cold]
fn unbound(code: &Code, slot: u32) -> Exc {
    let name = code.slots[slot as usize].as_str();
    Exc::new(Kind::UnboundLocalError, format!("cannot access local variable '{name}' where it is not associated with a value"))
}

#[cold]
fn unbound_cell(code: &Code, slot: u32) -> Exc {
    let name = code.slots[slot as usize].as_str();
    if (slot as usize) < code.free_start {
        return unbound(code, slot);
    }
    Exc::new(Kind::NameError, format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope"))
}

#[cold]
fn undefined(name: &str) -> Exc {
    Exc::new(Kind::NameError, format!("name '{name}' is not defined"))
}
