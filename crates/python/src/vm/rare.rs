//! Instructions that are run less often than those of the loop (`run`).

use super::Vm;
use super::frame::{After, Block};
use super::run::{unbound, unbound_cell, undefined};
use crate::bytecode::{Binary, Cache, Code, Op};
use crate::objects::{Cell, Dict, Exc, Function, Kind, Slice, Value};
use num_traits::ToPrimitive;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

impl Vm {
    /// Runs one instruction. An error comes with what is to be done with the value of a call that it asks for.
    pub(super) fn rare(&mut self, op: Op, function: &Rc<Function>, base: usize) -> Result<(), (Exc, After)> {
        let code: &Code = &function.code;
        macro_rules! push {
            ($result:expr) => {
                match $result {
                    Ok(value) => self.stack.push(value),
                    Err(exc) => return Err((exc, After::Push)),
                }
            };
        }
        macro_rules! done {
            ($result:expr) => {
                if let Err(exc) = $result {
                    return Err((exc, After::Discard));
                }
            };
        }
        macro_rules! raise {
            ($exc:expr) => {
                return Err(($exc, After::Push))
            };
        }
        macro_rules! pop {
            () => {
                self.stack.pop().unwrap_or_default()
            };
        }
        match op {
            Op::Unary(op) => {
                let value = pop!();
                push!(self.unary(op, value));
            }
            Op::Dup2 => {
                let len = self.stack.len();
                let (a, b) = (self.stack[len - 2].clone(), self.stack[len - 1].clone());
                self.stack.push(a);
                self.stack.push(b);
            }
            Op::Rot3 => {
                let len = self.stack.len();
                self.stack[len - 3..].rotate_right(1);
            }
            Op::YieldIter => {
                let value = pop!();
                push!(self.iter(&value));
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
            Op::DeleteDeref(slot) => {
                let old = match &self.stack[base + slot as usize] {
                    Value::Cell(cell) => cell.take(),
                    _ => Value::Unbound,
                };
                if matches!(old, Value::Unbound) {
                    raise!(unbound_cell(code, slot));
                }
            }
            Op::ClassDeref(slot, name) => {
                let names = self.frames.last().and_then(|f| f.names().cloned());
                let value = match names.and_then(|names| names.get_str(&code.names[name as usize])) {
                    Some(value) => value,
                    None => match &self.stack[base + slot as usize] {
                        Value::Cell(cell) => {
                            cell.told();
                            cell.value.borrow().clone()
                        }
                        _ => Value::Unbound,
                    },
                };
                if matches!(value, Value::Unbound) {
                    raise!(unbound_cell(code, slot));
                }
                self.stack.push(value);
            }
            Op::DeleteGlobal(site) => {
                let site = &code.sites[site as usize];
                if function.globals.remove_str(&site.name).is_none() {
                    raise!(undefined(site.name.as_str()));
                }
            }
            Op::Name(index) => {
                let name = &code.names[index as usize];
                let names = self.frames.last().and_then(|f| f.names().cloned());
                let value = names
                    .and_then(|names| names.get_str(name))
                    .or_else(|| function.globals.get_str(name))
                    .or_else(|| self.builtins.get_str(name));
                push!(value.ok_or_else(|| undefined(name.as_str())));
            }
            Op::StoreName(index) => {
                let value = pop!();
                if let Some(prepared) = self.frames.last().and_then(|f| f.prepared().cloned()) {
                    done!(self.set_item(&prepared, &Value::str(code.names[index as usize].as_str()), value));
                } else if let Some(names) = self.frames.last().and_then(|f| f.names().cloned()) {
                    names.set_str(&code.names[index as usize], value);
                }
            }
            Op::DeleteName(index) => {
                let name = &code.names[index as usize];
                let removed = self.frames.last().and_then(|f| f.names().cloned()).and_then(|names| names.remove_str(name));
                if removed.is_none() {
                    raise!(undefined(name.as_str()));
                }
            }
            Op::DeleteAttr(site) => {
                let object = pop!();
                done!(self.delete_attr(&object, &code.sites[site as usize].name));
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
                    return Ok(());
                }
                if let Some(text) = self.marked_join(at) {
                    self.stack.truncate(at);
                    self.stack.push(text);
                    return Ok(());
                }
                let mut text = String::with_capacity(self.stack[at..].iter().map(|v| v.as_str().map_or(0, str::len)).sum());
                for value in self.stack.drain(at..) {
                    text.push_str(value.as_str().unwrap_or_default());
                }
                self.stack.push(Value::str(text));
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
                    Err(exc) if exc.is_new(Kind::TypeError) && self.native_iter(&value).is_none() => {
                        let kind = self.type_name(&value);
                        let sole = matches!(&list, Value::List(list) if list.borrow().is_empty())
                            && matches!(code.ops.get(self.frames.last().map_or(0, |f| f.ip as usize)), Some(Op::ListToTuple));
                        // Below the list.
                        let function = self.stack.len().checked_sub(2).and_then(|at| self.stack.get(at)).cloned();
                        raise!(match function {
                            Some(function) if sole => {
                                let name = self.function_name(&function);
                                Exc::ty(format!("{name} argument after * must be an iterable, not {kind}"))
                            }
                            _ => Exc::ty(format!("Value after * must be an iterable, not {kind}")),
                        });
                    }
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
                let function = self.stack.len().checked_sub(3).and_then(|at| self.stack.get(at)).cloned().unwrap_or_default();
                done!(self.merge_keywords(&dict, &value, &function));
            }
            Op::ListToTuple => {
                let value = pop!();
                let items = match &value {
                    Value::List(list) => list.borrow().clone(),
                    _ => Vec::new(),
                };
                self.stack.push(Value::tuple(items));
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
            Op::MatchException => {
                let class = pop!();
                let exception = self.stack.last().cloned().unwrap_or_default();
                push!(self.match_exception(&exception, &class).map(Value::bool));
            }
            Op::Assert => {
                let message = pop!();
                let exception = self.new_exception(Kind::AssertionError, vec![message]);
                raise!(Exc::raise(exception));
            }
            Op::MatchSequence(_) | Op::MatchStar(_) | Op::MatchMapping | Op::MatchKeys | Op::MatchClass(..) => {
                if let Err(exc) = self.match_op(op, code) {
                    return Err((exc, After::Push));
                }
            }
            Op::Annotate(index) => {
                let value = pop!();
                self.annotate(&function.globals, &code.names[index as usize], value);
            }
            _ => {}
        }
        Ok(())
    }

    /// A function as errors of calls name it.
    pub(super) fn function_name(&self, function: &Value) -> String {
        let (module, name) = match function {
            Value::Function(function) => (function.globals.get_str(&self.names.name), function.qualname.borrow().as_str().to_string()),
            Value::Method(method) => return self.function_name(&method.function),
            Value::Native(native) if native.method => (None, format!("{}.{}", native.owner, native.name.as_str())),
            Value::Native(native) => (None, native.name.as_str().to_string()),
            Value::Class(class) => (class.attrs.get_str(&self.names.module), class.qualname.borrow().as_str().to_string()),
            other => return format!("{} object", self.type_name(other)),
        };
        match module.as_ref().and_then(Value::as_str) {
            Some(module) if module != "builtins" => format!("{module}.{name}()"),
            _ => format!("{name}()"),
        }
    }

    /// A global, or a builtin; remembered at the site.
    #[cold]
    pub(super) fn global(&mut self, globals: &Rc<Dict>, site: &crate::bytecode::Site) -> Result<Value, Exc> {
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

    /// Sets a global; gives what it was.
    pub(super) fn store_global(&mut self, globals: &Rc<Dict>, site: &crate::bytecode::Site, value: Value) -> Value {
        let mut table = globals.borrow_mut();
        let place = match site.cache.get() {
            Cache::Global { place } if table.named(place, &site.name).is_some() => Some(place as usize),
            _ => table.find_str(&site.name),
        };
        match place {
            Some(place) => {
                site.cache.set(Cache::Global { place: place as u32 });
                table.replace(place, value)
            }
            None => {
                table.insert_new(site.name.hash(), Value::Str(site.name.clone()), value);
                Value::Unbound
            }
        }
    }

    /// `local op= right`: a string that nothing else refers to grows in place; after an error the local still has its value.
    pub(super) fn inplace_local(&mut self, op: Binary, place: usize, right: Value) -> Result<(), Exc> {
        if let (Binary::Add, Value::Str(_), Value::Str(more)) = (op, &self.stack[place], &right) {
            self.reserve(more.as_str().len())?;
            if let Value::Str(text) = &mut self.stack[place]
                && let Some(text) = Rc::get_mut(text)
            {
                text.push_str(more.as_str());
                return Ok(());
            }
        }
        let left = self.stack[place].clone();
        match self.inplace(op, left, right) {
            Ok(value) => {
                self.stack[place] = value;
                Ok(())
            }
            Err(exc) => Err(exc.and_then(move |vm, value| {
                vm.stack[place] = value;
                Ok(Value::None)
            })),
        }
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
        let names = self.frames.last().and_then(|f| f.names().cloned()).unwrap_or_else(|| globals.clone());
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
