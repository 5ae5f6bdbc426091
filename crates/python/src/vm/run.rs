//! The loop that runs instructions.

// Long: one loop, with an arm for each instruction that is run often. What an arm does seldom stands outside (`rare`, `transfer`,
// `apply`), so that the loop's own state stays in registers.

use super::frame::{After, Frame};
use super::{Exit, Vm, compare, quick};
use crate::bytecode::{Cache, Code, Op, Unary};
use crate::host;
use crate::objects::{Exc, Kind, Tuple, Value, iterator::Iter, memory};
use std::rc::Rc;

/// How many units of fuel are granted at once: between two looks at the memory taken.
const GRANT: u64 = 256;

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
    #[inline(always)]
    pub(super) fn tick(&mut self) -> Result<bool, Exc> {
        if self.steps > 0 && !host::interrupted() {
            self.steps -= 1;
            return Ok(true);
        }
        self.grant()
    }

    /// Whether more may run before the machine has to look around.
    pub(super) fn has_fuel(&self) -> bool {
        self.steps > 0 || self.fuel > 0
    }

    #[cold]
    fn grant(&mut self) -> Result<bool, Exc> {
        if host::take_interrupt() {
            return Err(Exc::new(Kind::KeyboardInterrupt, ""));
        }
        if self.fuel == 0 {
            return Ok(false);
        }
        let granted = self.fuel.min(GRANT);
        self.fuel -= granted;
        self.steps = granted as u32 - 1;
        if memory::used() > self.limits.memory {
            return Err(Exc::new(Kind::MemoryError, ""));
        }
        if std::mem::take(&mut self.interrupt) {
            return Err(Exc::new(Kind::KeyboardInterrupt, ""));
        }
        Ok(true)
    }

    /// Runs frames until the machine must look around: an exception, fuel, a value of the host.
    fn burst(&mut self) -> Result<(), Exit> {
        'frame: loop {
            if memory::abandoned() {
                self.close_abandoned()?;
                continue 'frame;
            }
            let Some(frame) = self.frames.last() else { return Err(Exit::Done(Value::None)) };
            let function = frame.function.clone();
            let code: &Code = &function.code;
            let base = frame.base as usize;
            let mut ip = frame.ip as usize;
            macro_rules! save {
                () => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.ip = ip as u32;
                    }
                };
            }
            // What the top frame is may have changed.
            macro_rules! settle {
                ($exc:expr, $after:expr) => {{
                    save!();
                    let exc = $exc;
                    self.settle(Err(exc), $after)?;
                    continue 'frame;
                }};
            }
            // An operation whose value goes on the stack.
            macro_rules! push {
                ($result:expr) => {
                    match $result {
                        Ok(value) => self.stack.push(value),
                        Err(exc) => settle!(exc, After::Push),
                    }
                };
            }
            // An operation whose value does not matter.
            macro_rules! done {
                ($result:expr) => {
                    if let Err(exc) = $result {
                        settle!(exc, After::Discard);
                    }
                };
            }
            macro_rules! raise {
                ($exc:expr) => {
                    settle!($exc, After::Push)
                };
            }
            macro_rules! pop {
                () => {
                    self.stack.pop().unwrap_or_default()
                };
            }
            macro_rules! local {
                ($slot:expr) => {{
                    let value = self.stack[base + $slot as usize].clone();
                    if matches!(value, Value::Unbound) {
                        raise!(unbound(code, u32::from($slot)));
                    }
                    self.stack.push(value);
                }};
            }
            // A value that is not needed any more: a generator that waits in a block must be closed first.
            macro_rules! discard {
                ($value:expr) => {{
                    let value = $value;
                    if value.is_word() {
                        std::mem::forget(value);
                    } else {
                        let generator = matches!(value, Value::Generator(_));
                        drop(value);
                        if generator && memory::abandoned() {
                            save!();
                            continue 'frame;
                        }
                    }
                }};
            }
            // The two topmost values, of which the upper is taken away and the lower replaced where `quick` gives a value of both.
            macro_rules! combine {
                ($quick:expr) => {{
                    match &mut self.stack[..] {
                        [.., left, right] => match $quick(&*left, &*right) {
                            Some(value) => {
                                std::mem::replace(left, value).release();
                                pop!().release();
                                true
                            }
                            None => false,
                        },
                        _ => false,
                    }
                }};
            }
            if self.steps == 0 && self.fuel == 0 {
                return Err(Exit::Fuel);
            }
            loop {
                let op = code.ops[ip];
                ip += 1;
                match op {
                    Op::Const(index) => self.stack.push(code.consts[index as usize].clone()),
                    Op::None => self.stack.push(Value::None),
                    Op::Local(slot) => local!(slot),
                    Op::Locals(a, b) => {
                        local!(a);
                        ip += 1;
                        local!(b);
                    }
                    Op::LocalConst(slot, index) => {
                        local!(slot);
                        ip += 1;
                        self.stack.push(code.consts[index as usize].clone());
                    }
                    Op::LocalAttr(slot, site) => {
                        match self.quick_attr(&self.stack[base + slot as usize], &code.sites[site as usize]) {
                            Some(value) => {
                                self.stack.push(value);
                                ip += 1;
                            }
                            // The instruction that follows does it.
                            None => local!(slot),
                        }
                    }
                    Op::LocalMethod(slot, site) => {
                        let object = &self.stack[base + slot as usize];
                        match self.quick_method(object, &code.sites[site as usize]) {
                            Some(function) => {
                                let object = object.clone();
                                self.stack.push(function);
                                self.stack.push(object);
                                ip += 1;
                            }
                            None => local!(slot),
                        }
                    }
                    Op::CheckLocal(slot) => {
                        if matches!(self.stack[base + slot as usize], Value::Unbound) {
                            raise!(unbound(code, slot));
                        }
                    }
                    Op::StoreLocal(slot) => {
                        let value = pop!();
                        discard!(std::mem::replace(&mut self.stack[base + slot as usize], value));
                    }
                    Op::Deref(slot) => {
                        let value = match &self.stack[base + slot as usize] {
                            Value::Cell(cell) => {
                                cell.told();
                                cell.value.borrow().clone()
                            }
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
                            Cache::Global { place } => globals.named(place, &site.name),
                            Cache::Builtin { keys, place } if keys == globals.keys => self.builtins.borrow().named(place, &site.name),
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
                        discard!(self.store_global(&function.globals, &code.sites[site as usize], value));
                    }
                    Op::Attr(site) => {
                        let object = pop!();
                        match self.quick_attr(&object, &code.sites[site as usize]) {
                            Some(value) => self.stack.push(value),
                            None => push!(self.load_attr(&object, &code.sites[site as usize])),
                        }
                    }
                    Op::StoreAttr(site) => {
                        let object = pop!();
                        let value = pop!();
                        done!(self.store_attr(&object, &code.sites[site as usize], value));
                    }
                    Op::LoadMethod(site) => {
                        let object = pop!();
                        let site = &code.sites[site as usize];
                        let found = match self.quick_method(&object, site) {
                            None => self.load_method(&object, site),
                            found => found,
                        };
                        match found {
                            Some(function) => {
                                self.stack.push(function);
                                self.stack.push(object);
                            }
                            None => {
                                self.stack.push(Value::Unbound);
                                push!(self.load_attr(&object, site));
                            }
                        }
                    }
                    Op::Item => {
                        let found = match &self.stack[..] {
                            [.., object, key] => quick_item(object, key),
                            _ => None,
                        };
                        let key = pop!();
                        let object = pop!();
                        match found {
                            Some(value) => {
                                self.stack.push(value);
                                key.release();
                            }
                            None => push!(self.get_item(&object, &key)),
                        }
                    }
                    Op::StoreItem => {
                        let key = pop!();
                        let object = pop!();
                        let value = pop!();
                        if let Err(value) = quick_store(&object, &key, value) {
                            done!(self.set_item(&object, &key, value));
                        }
                    }
                    Op::Binary(op) => {
                        if !combine!(|left, right| quick::binary(op, left, right)) {
                            let right = pop!();
                            let left = pop!();
                            push!(self.binary(op, left, right));
                        }
                    }
                    Op::BinaryLocals(op, a, b) => match quick::binary(op, &self.stack[base + a as usize], &self.stack[base + b as usize]) {
                        Some(value) => {
                            self.stack.push(value);
                            ip += 2;
                        }
                        None => {
                            local!(a);
                            ip += 1;
                            local!(b);
                        }
                    },
                    Op::BinaryLocalConst(op, slot, index) => {
                        match quick::binary(op, &self.stack[base + slot as usize], &code.consts[index as usize]) {
                            Some(value) => {
                                self.stack.push(value);
                                ip += 2;
                            }
                            None => {
                                local!(slot);
                                ip += 1;
                                self.stack.push(code.consts[index as usize].clone());
                            }
                        }
                    }
                    Op::BinaryLocal(op, slot) => {
                        let right = &self.stack[base + slot as usize];
                        match self.stack.last().and_then(|left| quick::binary(op, left, right)) {
                            Some(value) => {
                                if let Some(left) = self.stack.last_mut() {
                                    *left = value;
                                }
                                ip += 1;
                            }
                            None => local!(slot),
                        }
                    }
                    Op::BinaryConst(op, index) => {
                        let right = &code.consts[index as usize];
                        match self.stack.last().and_then(|left| quick::binary(op, left, right)) {
                            Some(value) => {
                                if let Some(left) = self.stack.last_mut() {
                                    *left = value;
                                }
                                ip += 1;
                            }
                            None => self.stack.push(right.clone()),
                        }
                    }
                    Op::Inplace(op) => {
                        if !combine!(|left, right| quick::binary(op, left, right)) {
                            let right = pop!();
                            let left = pop!();
                            push!(self.inplace(op, left, right));
                        }
                    }
                    Op::InplaceLocal(op, slot) => {
                        let right = pop!();
                        let place = base + slot as usize;
                        match quick::binary(op, &self.stack[place], &right) {
                            Some(value) => {
                                std::mem::replace(&mut self.stack[place], value).release();
                                right.release();
                            }
                            None => {
                                if matches!(self.stack[place], Value::Unbound) {
                                    raise!(unbound(code, slot));
                                }
                                if let Err(exc) = self.inplace_local(op, place, right) {
                                    settle!(exc, After::Discard);
                                }
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
                    Op::Compare(op) => {
                        if !combine!(|left, right| quick::compare(op, left, right).map(Value::bool)) {
                            let right = pop!();
                            let left = pop!();
                            push!(self.compare(op, &left, &right));
                        }
                    }
                    Op::CompareJump(op, target) => {
                        let right = pop!();
                        let left = pop!();
                        match quick::compare(op, &left, &right) {
                            Some(holds) => {
                                ip = if holds { ip + 1 } else { target as usize };
                                right.release();
                                left.release();
                            }
                            // The jump that follows decides.
                            None => push!(self.compare(op, &left, &right)),
                        }
                    }
                    Op::CompareLocalConst(op, slot, index) => {
                        match quick::compare(op, &self.stack[base + slot as usize], &code.consts[index as usize]) {
                            Some(holds) => {
                                // Over the constant and the comparison: the jump that it holds is next.
                                ip += 2;
                                match code.ops[ip] {
                                    Op::JumpIfFalse(target) => ip = if holds { ip + 1 } else { target as usize },
                                    _ => self.stack.push(Value::bool(holds)),
                                }
                            }
                            None => {
                                local!(slot);
                                ip += 1;
                                self.stack.push(code.consts[index as usize].clone());
                            }
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
                            Err(exc) => settle!(
                                exc.and_then(move |vm, value| vm.truth_then(value, move |_, truth| Ok(Value::bool(truth == expected)))),
                                After::Push
                            ),
                        }
                    }
                    Op::Pop => discard!(pop!()),
                    Op::Dup => {
                        let value = self.stack.last().cloned().unwrap_or_default();
                        self.stack.push(value);
                    }
                    Op::Swap => {
                        let len = self.stack.len();
                        self.stack.swap(len - 1, len - 2);
                    }
                    Op::Jump(target) => ip = target as usize,
                    Op::Point => {
                        if crate::objects::watch::CAN && self.points {
                            save!();
                            self.point(ip)?;
                            continue 'frame;
                        }
                    }
                    Op::Loop(target) => {
                        let from = std::mem::replace(&mut ip, target as usize);
                        if !self.watched.is_empty() || self.again {
                            save!();
                            self.turn(from, ip)?;
                            match self.tick() {
                                Ok(true) => continue 'frame,
                                Ok(false) => return Err(Exit::Fuel),
                                Err(exc) => raise!(exc),
                            }
                        }
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
                        let truth = match compare::truth(&value) {
                            Some(truth) => {
                                value.release();
                                truth
                            }
                            None => match self.truth(&value) {
                                Ok(truth) => truth,
                                Err(exc) => {
                                    // The instruction runs again, with the truth.
                                    ip -= 1;
                                    raise!(exc);
                                }
                            },
                        };
                        if truth == matches!(op, Op::JumpIfTrue(_)) {
                            ip = target as usize;
                        }
                    }
                    Op::JumpIfFalseOrPop(target) | Op::JumpIfTrueOrPop(target) => {
                        let wanted = matches!(op, Op::JumpIfTrueOrPop(_));
                        match self.stack.last().and_then(compare::truth) {
                            Some(truth) if truth == wanted => ip = target as usize,
                            Some(_) => discard!(pop!()),
                            None => {
                                save!();
                                self.truth_or_pop(wanted, target)?;
                                continue 'frame;
                            }
                        }
                    }
                    Op::JumpIfNone(target) => {
                        if matches!(pop!(), Value::None) {
                            ip = target as usize;
                        }
                    }
                    Op::Iter => {
                        let value = pop!();
                        let known = !self.known_loops.is_empty() && self.arrives(ip);
                        match &value {
                            Value::Range(range) => self.stack.push(Iter::range(range)),
                            _ => push!(self.iter(&value)),
                        }
                        if known {
                            save!();
                            self.first_turn()?;
                            continue 'frame;
                        }
                    }
                    Op::For(target) | Op::ForLocal(target, _) => {
                        let quick = match self.stack.last() {
                            Some(Value::Iterator(iterator)) => iterator.quick(),
                            _ => None,
                        };
                        let next = match quick {
                            Some(next) => Ok(next),
                            None => match self.stack.last().cloned() {
                                Some(Value::Iterator(iterator)) => iterator.next(self),
                                Some(other) => {
                                    save!();
                                    self.advance(&other, target)?;
                                    continue 'frame;
                                }
                                None => Ok(None),
                            },
                        };
                        match next {
                            Ok(Some(value)) => {
                                if let Op::ForLocal(_, slot) = op {
                                    ip += 1;
                                    discard!(std::mem::replace(&mut self.stack[base + slot as usize], value));
                                } else {
                                    self.stack.push(value);
                                }
                            }
                            Ok(None) => {
                                self.stack.pop();
                                ip = target as usize;
                            }
                            Err(exc) => settle!(exc, After::For(target)),
                        }
                    }
                    Op::Call(count) => {
                        let at = self.stack.len() - count as usize - 1;
                        save!();
                        if self.call_quickly(at, at) || !self.call_at(at, at)? {
                            continue 'frame;
                        }
                    }
                    Op::CallMethod(count) => {
                        let floor = self.stack.len() - count as usize - 2;
                        let at = floor + usize::from(matches!(self.stack[floor], Value::Unbound));
                        save!();
                        if self.call_quickly(at, floor) || !self.call_at(at, floor)? {
                            continue 'frame;
                        }
                    }
                    Op::Return => {
                        let value = pop!();
                        match self.frames.pop() {
                            Some(Frame { function, after: After::Push, extra: None, floor, blocks, .. }) => {
                                drop(function);
                                while self.stack.len() > floor as usize {
                                    pop!().release();
                                }
                                if self.blocks.len() > blocks as usize {
                                    self.blocks.truncate(blocks as usize);
                                }
                                self.stack.push(value);
                            }
                            frame => {
                                self.frames.extend(frame);
                                self.finish_frame(value)?;
                            }
                        }
                        continue 'frame;
                    }
                    Op::Tuple(count) => {
                        let at = self.stack.len() - count as usize;
                        let tuple = Tuple::from_iter(self.stack.drain(at..));
                        self.stack.push(Value::Tuple(Rc::new(tuple)));
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
                        match &value {
                            Value::Tuple(items) if items.len() == count as usize => self.stack.extend(items.iter().rev().cloned()),
                            _ => done!(self.unpack(value, count as usize)),
                        }
                    }
                    op if op.transfers() => {
                        save!();
                        self.transfer(op, &function)?;
                        continue 'frame;
                    }
                    op => {
                        save!();
                        if let Err((exc, after)) = self.rare(op, &function, base) {
                            self.settle(Err(exc), after)?;
                            continue 'frame;
                        }
                        if memory::abandoned() {
                            continue 'frame;
                        }
                    }
                }
            }
        }
    }
}

/// `object[key]` of what is met most.
#[inline(always)]
fn quick_item(object: &Value, key: &Value) -> Option<Value> {
    match (object, key) {
        (Value::List(list), Value::Int(index)) => at(&list.borrow(), *index),
        (Value::Tuple(items), Value::Int(index)) => at(items, *index),
        (Value::Dict(dict), Value::Int(_) | Value::Str(_)) => {
            let table = dict.borrow();
            let place = table.find(compare::hash(key).ok()?, key).ok()??;
            table.slot(place).map(|entry| entry.value.clone())
        }
        _ => None,
    }
}

fn at(items: &[Value], index: i64) -> Option<Value> {
    let index = if index < 0 { index + items.len() as i64 } else { index };
    items.get(usize::try_from(index).ok()?).cloned()
}

/// `object[key] = value` of what is met most; the value comes back where it is something else.
#[inline(always)]
fn quick_store(object: &Value, key: &Value, value: Value) -> Result<(), Value> {
    match (object, key) {
        (Value::List(list), Value::Int(index)) if *index >= 0 && (*index as usize) < list.len() => {
            let old = std::mem::replace(&mut list.borrow_mut()[*index as usize], value);
            drop(old);
            Ok(())
        }
        (Value::Dict(dict), Value::Int(_) | Value::Str(_)) => {
            let Ok(hash) = compare::hash(key) else { return Err(value) };
            let mut table = dict.borrow_mut();
            let old = match table.find(hash, key) {
                Ok(Some(place)) => table.replace(place, value),
                Ok(None) => {
                    table.insert_new(hash, key.clone(), value);
                    return Ok(());
                }
                Err(_) => return Err(value),
            };
            drop(table);
            drop(old);
            Ok(())
        }
        _ => Err(value),
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
