//! What is at a place that changes: into how much of it a turn may look, and what of it is found again when the turn is repeated.

use super::{Objects, is_number};
use crate::objects::class::Inner;
use crate::objects::watch::{self, Held, NodeOp, Touched};
use crate::objects::{Class, Value};
use std::mem::discriminant;
use std::rc::Rc;

/// Longer lists and dictionaries at changing places are not looked into.
const MAX_ITEMS: usize = 32;

/// What is at a changing place.
pub(super) enum Shape {
    /// A number or text: the input of this number.
    Number(u32),
    /// An object of the host, of this class.
    Object(Rc<Class>),
    Tuple(Vec<Shape>),
    List(Vec<Shape>),
    /// Of these keys, which are texts.
    Dict(Vec<(Value, Shape)>),
    /// Whatever of this kind: nothing looked into it, which it would have told.
    Any(std::mem::Discriminant<Value>),
    /// An object of this class with attributes, into which nothing looked.
    Like(Rc<Class>),
    Same(Held),
}

/// An object within what is at a changing place, by the way to it: positions in tuples, lists and dictionaries.
pub(super) struct Inside {
    pub place: usize,
    pub path: Vec<u32>,
    pub held: Held,
    /// Whether its items have shapes of their own, and marks: what may be read, but not changed.
    pub open: bool,
}

/// Makes shapes, and marks the numbers in what they are of.
pub(super) struct Shapes<'s> {
    pub objects: &'s mut dyn Objects,
    pub inputs: u32,
    pub inside: Vec<Inside>,
    /// Where it is.
    pub place: usize,
    path: Vec<u32>,
}

impl<'s> Shapes<'s> {
    pub fn new(objects: &'s mut dyn Objects) -> Self {
        Shapes { objects, inputs: 0, inside: Vec::new(), place: 0, path: Vec::new() }
    }

    /// What a value looks like, and the same with its numbers marked, where it has some and is another value then.
    pub fn of(&mut self, value: &Value) -> (Shape, Option<Value>) {
        match value {
            v if is_number(v) => {
                let at = self.inputs;
                self.inputs += 1;
                (Shape::Number(at), Some(watch::mark(NodeOp::Input(at), Vec::new(), v)))
            }
            Value::Tuple(items) => {
                let (shapes, marked) = self.each(items);
                (Shape::Tuple(shapes), marked.map(Value::tuple))
            }
            // Found at another place already: its numbers have their marks, and by which way it is reached cannot be told.
            Value::List(_) | Value::Dict(_) if self.inside.iter().any(|i| i.held.is(value)) => {
                self.note(value, false);
                (Shape::Any(discriminant(value)), None)
            }
            Value::List(list) if list.borrow().len() <= MAX_ITEMS => {
                self.note(value, true);
                let items = list.borrow().clone();
                let (shapes, marked) = self.each(&items);
                if let Some(marked) = marked {
                    *list.borrow_mut() = marked;
                }
                (Shape::List(shapes), None)
            }
            Value::Dict(dict) if dict.borrow().len() <= MAX_ITEMS && dict.borrow().iter().all(|(k, _)| matches!(k, Value::Str(_))) => {
                self.note(value, true);
                let (keys, items): (Vec<Value>, Vec<Value>) = dict.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).unzip();
                let (shapes, marked) = self.each(&items);
                for (key, value) in keys.iter().zip(marked.into_iter().flatten()) {
                    if let Value::Str(name) = key {
                        dict.set_str(name, value);
                    }
                }
                (Shape::Dict(keys.into_iter().zip(shapes).collect()), None)
            }
            Value::Instance(instance) => match self.objects.found(value) {
                Some(_) => (Shape::Object(instance.class().clone()), None),
                None if instance.attrs().is_some() && matches!(instance.inner, Inner::Nothing) => {
                    self.note(value, false);
                    (Shape::Like(instance.class().clone()), None)
                }
                None => (Shape::Same(Held::of(value)), None),
            },
            // These tell when they are looked into; a function, a class or a constant does not.
            Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Iterator(_) | Value::Generator(_) => {
                self.note(value, false);
                (Shape::Any(discriminant(value)), None)
            }
            v => (Shape::Same(Held::of(v)), None),
        }
    }

    fn each(&mut self, items: &[Value]) -> (Vec<Shape>, Option<Vec<Value>>) {
        let (mut shapes, mut all, mut any) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()), false);
        for (at, item) in items.iter().enumerate() {
            self.path.push(at as u32);
            let (shape, marked) = self.of(item);
            self.path.pop();
            any |= marked.is_some();
            shapes.push(shape);
            all.push(marked.unwrap_or_else(|| item.clone()));
        }
        (shapes, any.then_some(all))
    }

    fn note(&mut self, value: &Value, open: bool) {
        self.inside.push(Inside { place: self.place, path: self.path.clone(), held: Held::of(value), open });
    }
}

impl Shape {
    /// Takes apart what is at a place, if it looks as it did.
    pub fn take(&self, value: &Value, inputs: &mut Vec<Value>, found: &mut Vec<Value>) -> bool {
        match (self, value) {
            (Shape::Number(_), _) => {
                inputs.push(value.clone());
                is_number(value)
            }
            (Shape::Object(class), Value::Instance(i)) => {
                found.push(value.clone());
                Rc::ptr_eq(&i.class(), class)
            }
            (Shape::Tuple(shapes), Value::Tuple(items)) => {
                items.len() == shapes.len() && shapes.iter().zip(items.iter()).all(|(s, v)| s.take(v, inputs, found))
            }
            (Shape::List(shapes), Value::List(list)) => {
                let items = list.borrow().clone();
                items.len() == shapes.len() && shapes.iter().zip(&items).all(|(s, v)| s.take(v, inputs, found))
            }
            (Shape::Dict(shapes), Value::Dict(dict)) => {
                let items: Vec<(Value, Value)> = dict.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                let each = |((key, shape), (k, v)): (&(Value, Shape), &(Value, Value))| super::same(key, k) && shape.take(v, inputs, found);
                items.len() == shapes.len() && shapes.iter().zip(&items).all(each)
            }
            (Shape::Any(kind), _) => discriminant(value) == *kind,
            (Shape::Like(class), Value::Instance(i)) => Rc::ptr_eq(&i.class(), class),
            (Shape::Same(held), _) => held.is(value),
            _ => false,
        }
    }
}

impl Inside {
    /// What stands there in another value of the same shape.
    pub fn within(path: &[u32], value: &Value) -> Option<Value> {
        let Some((first, rest)) = path.split_first() else { return Some(value.clone()) };
        let at = *first as usize;
        let part = match value {
            Value::Tuple(items) => items.get(at).cloned(),
            Value::List(list) => list.borrow().get(at).cloned(),
            Value::Dict(dict) => dict.borrow().iter().nth(at).map(|(_, v)| v.clone()),
            _ => None,
        };
        Inside::within(rest, &part?)
    }
}

/// Whether what may only be read is another than it was, marks and all.
pub(super) fn is_changed(touched: &Touched) -> bool {
    match &touched.container {
        Value::List(list) => {
            let items = list.borrow();
            items.len() != touched.before.len() || items.iter().zip(&touched.before).any(|(v, (_, b))| !b.is(v))
        }
        Value::Dict(dict) => {
            let items = dict.borrow();
            let other = |((k, v), (key, b)): ((&Value, &Value), &(Value, Held))| !super::same(k, key) || !b.is(v);
            items.len() != touched.before.len() || items.iter().zip(&touched.before).any(other)
        }
        _ => true,
    }
}

/// The attributes of an object, which tell when they are looked into.
pub(super) fn attributes(held: &Held) -> Option<Held> {
    match held {
        Held::Instance(instance) => instance.upgrade()?.attrs().map(|d| Held::of(&Value::Dict(d.clone()))),
        _ => None,
    }
}
