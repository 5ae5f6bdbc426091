//! What a turn leaves behind: as it is known after it was watched, and made anew when it is repeated.

use super::{Objects, Out, Watching, is_marked_input};
use crate::objects::class::Inner;
use crate::objects::{Dict, Instance, Value, watch};
use std::rc::Rc;

/// Makes [`Out`]s.
pub(super) struct Outs<'w> {
    pub watching: &'w Watching,
    pub objects: &'w mut dyn Objects,
    /// Containers made in the turn that are kept already.
    pub seen: Vec<Value>,
    /// The parts of what is at changing places that are kept elsewhere.
    pub parts: Vec<(usize, Vec<u32>)>,
}

impl Outs<'_> {
    pub fn of(&mut self, value: &Value) -> Result<Out, String> {
        if let Some((_, node)) = value.marked() {
            return Ok(Out::Node(node));
        }
        match value {
            v if v.is_word() => Ok(Out::Const(v.clone())),
            Value::Str(_) | Value::Class(_) | Value::Module(_) | Value::Native(_) | Value::Big(_) | Value::Bytes(_) | Value::Range(_) => {
                Ok(Out::Const(value.clone()))
            }
            Value::Tuple(items) => {
                let outs = items.iter().map(|v| self.of(v)).collect::<Result<Vec<Out>, String>>()?;
                Ok(if outs.iter().all(|o| matches!(o, Out::Const(_))) { Out::Const(value.clone()) } else { Out::Tuple(outs) })
            }
            Value::List(list) if watch::is_born(list.version.get()) => {
                self.once(value)?;
                let items = list.borrow().clone();
                Ok(Out::List(items.iter().map(|v| self.of(v)).collect::<Result<Vec<Out>, String>>()?))
            }
            Value::Dict(dict) if watch::is_born(dict.version.get()) => {
                self.once(value)?;
                Ok(Out::Dict(self.entries(dict)?))
            }
            Value::List(_) | Value::Dict(_) => self.lasting(value),
            Value::Instance(instance) => self.instance(value, instance),
            Value::Function(f) => {
                let constant = |v: &Value| (v.is_word() || matches!(v, Value::Str(_))) && v.marked().is_none();
                if f.closure.iter().any(|c| watch::is_born(c.version.get())) || !f.defaults.borrow().iter().all(constant) {
                    return Err("a function that is made in each turn is kept".into());
                }
                Ok(Out::Const(value.clone()))
            }
            _ => Err("an object is kept of a kind that is not made again".into()),
        }
    }

    fn once(&mut self, value: &Value) -> Result<(), String> {
        if self.seen.iter().any(|v| v.is(value)) {
            return Err("an object that is made in each turn is kept twice".into());
        }
        self.seen.push(value.clone());
        Ok(())
    }

    // An object from before: one that is another one each time is found where it is then.
    fn lasting(&mut self, value: &Value) -> Result<Out, String> {
        let mut ways = self.watching.inside.iter().filter(|i| i.held.is(value));
        let Some(way) = ways.next() else {
            let other = self.watching.before.iter().any(|h| h.is(value));
            return if other {
                Err("an object that is another one in each turn is kept elsewhere".into())
            } else {
                Ok(Out::Const(value.clone()))
            };
        };
        if ways.next().is_some() {
            return Err("an object that was found at two places is kept elsewhere".into());
        }
        let at = self.parts.iter().position(|(place, path)| *place == way.place && *path == way.path).unwrap_or_else(|| {
            self.parts.push((way.place, way.path.clone()));
            self.parts.len() - 1
        });
        Ok(Out::Part(at as u32))
    }

    fn entries(&mut self, dict: &Rc<Dict>) -> Result<Vec<(Value, Out)>, String> {
        let pairs: Vec<(Value, Value)> = dict.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        pairs.into_iter().map(|(k, v)| Ok((k, self.of(&v)?))).collect()
    }

    fn instance(&mut self, value: &Value, instance: &Rc<Instance>) -> Result<Out, String> {
        if let Some(kept) = self.objects.kept(value) {
            return kept.map(Out::Object);
        }
        if let Some(at) = self.objects.found(value) {
            return Ok(Out::Found(at));
        }
        match (instance.attrs(), &instance.inner) {
            (Some(attrs), Inner::Nothing) if watch::is_born(attrs.version.get()) => {
                self.once(value)?;
                let class = instance.class().clone();
                Ok(Out::Instance(class, self.entries(attrs)?))
            }
            (Some(attrs), _) if !watch::is_born(attrs.version.get()) => self.lasting(value),
            (_, Inner::Host(_)) => self.lasting(value),
            _ => Err(format!("an object of the class {} is kept", instance.class().name().as_str())),
        }
    }
}

impl Out {
    /// Whether something holds of it or of a part of it.
    pub(super) fn any(&self, holds: &dyn Fn(&Out) -> bool) -> bool {
        holds(self)
            || match self {
                Out::Tuple(outs) | Out::List(outs) => outs.iter().any(|o| o.any(holds)),
                Out::Dict(entries) | Out::Instance(_, entries) => entries.iter().any(|(_, o)| o.any(holds)),
                Out::Const(_) | Out::Node(_) | Out::Object(_) | Out::Found(_) | Out::Part(_) => false,
            }
    }
}

/// What a turn's results are made of.
pub(super) struct Given<'g> {
    pub values: &'g [Value],
    pub made: &'g [Value],
    pub found: &'g [Value],
    pub parts: &'g [Value],
}

impl Given<'_> {
    pub fn value_of(&self, out: &Out) -> Value {
        let each = |outs: &[Out]| outs.iter().map(|o| self.value_of(o)).collect::<Vec<Value>>();
        let dict = |entries: &[(Value, Out)]| {
            let dict = Dict::new();
            for (key, out) in entries {
                if let Ok(hash) = super::super::compare::hash(key) {
                    dict.borrow_mut().insert_new(hash, key.clone(), self.value_of(out));
                }
            }
            dict
        };
        match out {
            Out::Const(value) => value.clone(),
            Out::Node(n) => self.values[*n as usize].clone(),
            Out::Object(i) => self.made[*i as usize].clone(),
            Out::Found(i) => self.found[*i as usize].clone(),
            Out::Part(i) => self.parts[*i as usize].clone(),
            Out::Tuple(outs) => Value::tuple(each(outs)),
            Out::List(outs) => Value::list(each(outs)),
            Out::Dict(entries) => Value::Dict(dict(entries)),
            Out::Instance(class, entries) => {
                let made = Instance::new(class.clone(), Inner::Nothing);
                let attrs = dict(entries);
                let pairs: Vec<(Value, Value)> = attrs.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                for (key, value) in pairs {
                    if let Value::Str(name) = &key {
                        made.attrs_mut().set_str(name, value);
                    }
                }
                Value::Instance(made)
            }
        }
    }
}

// Takes marks away, in lists, dictionaries and tuples too.
pub(super) fn bare(value: &mut Value, depth: usize) {
    if depth > 4 {
        return;
    }
    if value.marked().is_some() {
        *value = value.bare().clone();
        return;
    }
    match value {
        Value::Tuple(items) if is_marked_input(&Value::Tuple(items.clone())) => {
            let mut plain: Vec<Value> = items.to_vec();
            plain.iter_mut().for_each(|v| bare(v, depth + 1));
            *value = Value::tuple(plain);
        }
        Value::List(list) if list.borrow().iter().any(|v| v.marked().is_some() || is_marked_input(v)) => {
            let mut items = std::mem::take(&mut *list.borrow_mut());
            items.iter_mut().for_each(|v| bare(v, depth + 1));
            *list.borrow_mut() = items;
        }
        Value::Dict(dict) => {
            let mut todo: Vec<(usize, Value)> = Vec::new();
            for (place, entry) in dict.borrow().slots().iter().enumerate() {
                let mut now = entry.value.clone();
                let other = matches!(&now, Value::Instance(i) if i.attrs().is_none_or(|a| !watch::is_born(a.version.get())));
                if other {
                    continue;
                }
                bare(&mut now, depth + 1);
                if !now.is(&entry.value) {
                    todo.push((place, now));
                }
            }
            for (place, now) in todo {
                let old = dict.borrow_mut().replace(place, now);
                drop(old);
            }
        }
        Value::Cell(cell) => {
            let mut now = cell.value.borrow().clone();
            if now.marked().is_some() {
                bare(&mut now, depth + 1);
                cell.set(now);
            }
        }
        Value::Instance(instance) => {
            if let Some(attrs) = instance.attrs() {
                bare(&mut Value::Dict(attrs.clone()), depth + 1);
            }
        }
        _ => {}
    }
}
