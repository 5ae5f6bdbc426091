//! Native iterators.

use super::{Dict, Exc, Kind, List, Range, Set, Str, Tuple, Value, ViewKind, memory, watch};
use crate::vm::Vm;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// A closure that gives the next value, or `None` at the end.
pub type Next = Box<dyn FnMut(&mut Vm) -> Result<Option<Value>, Exc>>;

/// How a native iterator proceeds.
pub enum Step {
    Done,
    List(Rc<List>, usize),
    ListReversed(Rc<List>, usize),
    Tuple(Rc<Tuple>, usize),
    Range { next: i64, left: usize, step: i64 },
    Str(Rc<Str>, usize),
    Bytes(Rc<super::Octets>, usize),
    Dict { kind: ViewKind, dict: Rc<Dict>, place: usize, len: usize, left: usize },
    DictReversed { kind: ViewKind, dict: Rc<Dict>, place: usize },
    Set { set: Rc<Set>, place: usize, len: usize },
    Enumerate(Value, i64),
    Zip(Vec<Value>),
    Values(std::vec::IntoIter<Value>),
    Native(&'static str, Next),
}

/// A native iterator.
pub struct Iter {
    pub step: RefCell<Step>,
    /// The stretch in which it was made ([`watch`]).
    born: u64,
}

impl Iter {
    /// A value of it.
    pub fn value(step: Step) -> Value {
        Value::Iterator(Rc::new(Iter { step: RefCell::new(step), born: watch::birth() }))
    }

    /// One over a range.
    pub fn range(range: &Range) -> Value {
        Iter::value(Step::Range { next: range.start, left: range.len(), step: range.step })
    }

    /// Where a stretch is watched, an iterator from before must not go on in it.
    #[inline]
    pub fn told(&self) {
        if watch::on() && !watch::is_born(self.born) {
            watch::refuse(|| format!("a {} that was begun before goes on", self.type_name()));
        }
    }

    /// Its type's name.
    pub fn type_name(&self) -> &'static str {
        let Ok(step) = self.step.try_borrow() else { return "iterator" };
        match &*step {
            Step::List(..) | Step::Done => "list_iterator",
            Step::ListReversed(..) => "list_reverseiterator",
            Step::Tuple(..) => "tuple_iterator",
            Step::Range { .. } => "range_iterator",
            Step::Str(..) => "str_ascii_iterator",
            Step::Bytes(..) => "bytes_iterator",
            Step::Dict { kind: ViewKind::Keys, .. } => "dict_keyiterator",
            Step::Dict { kind: ViewKind::Values, .. } => "dict_valueiterator",
            Step::Dict { kind: ViewKind::Items, .. } => "dict_itemiterator",
            Step::DictReversed { .. } => "dict_reversekeyiterator",
            Step::Set { .. } => "set_iterator",
            Step::Enumerate(..) => "enumerate",
            Step::Zip(_) => "zip",
            Step::Values(_) => "list_iterator",
            Step::Native(name, _) => name,
        }
    }

    /// The next value, or `None` at the end, where that takes no more than reading it: otherwise no answer.
    #[inline(always)]
    pub fn quick(&self) -> Option<Option<Value>> {
        match &mut *self.step.try_borrow_mut().ok()? {
            Step::Range { next, left, step } => {
                if *left == 0 {
                    return Some(None);
                }
                let value = *next;
                *left -= 1;
                *next = next.wrapping_add(*step);
                Some(Some(Value::Int(value)))
            }
            Step::List(list, at) => {
                // At the end the iterator forgets the list: `next` does that.
                let value = list.borrow().get(*at)?.clone();
                *at += 1;
                Some(Some(value))
            }
            Step::Tuple(tuple, at) => {
                let value = tuple.get(*at)?.clone();
                *at += 1;
                Some(Some(value))
            }
            _ => None,
        }
    }

    /// The next value, or `None` at the end.
    #[inline]
    pub fn next(&self, vm: &mut Vm) -> Result<Option<Value>, Exc> {
        let Ok(mut step) = self.step.try_borrow_mut() else { return Err(Exc::value("iterator already executing")) };
        if let Step::Range { next, left, step } = &mut *step {
            if *left == 0 {
                return Ok(None);
            }
            let value = *next;
            *left -= 1;
            *next = next.wrapping_add(*step);
            return Ok(Some(Value::Int(value)));
        }
        if let Step::List(list, at) = &mut *step {
            let value = list.borrow().get(*at).cloned();
            *at += 1;
            if value.is_none() {
                *step = Step::Done;
            }
            return Ok(value);
        }
        let result = advance(&mut step, vm);
        if let Ok(None) = result {
            let old = std::mem::replace(&mut *step, Step::Done);
            drop(step);
            drop(old);
        }
        result
    }
}

fn pair(kind: ViewKind, key: &Value, value: &Value) -> Value {
    match kind {
        ViewKind::Keys => key.clone(),
        ViewKind::Values => value.clone(),
        ViewKind::Items => Value::Tuple(Rc::new([key.clone(), value.clone()].into_iter().collect())),
    }
}

fn advance(step: &mut Step, vm: &mut Vm) -> Result<Option<Value>, Exc> {
    Ok(match step {
        Step::Done | Step::List(..) | Step::Range { .. } => None,
        Step::ListReversed(list, left) => {
            let items = list.borrow();
            if *left == 0 || *left > items.len() {
                None
            } else {
                *left -= 1;
                Some(items[*left].clone())
            }
        }
        Step::Tuple(tuple, at) => {
            *at += 1;
            tuple.get(*at - 1).cloned()
        }
        Step::Str(text, byte) => text.as_str()[*byte..].chars().next().map(|c| {
            *byte += c.len_utf8();
            vm.char_value(c)
        }),
        Step::Bytes(bytes, at) => {
            *at += 1;
            bytes.get(*at - 1).map(|b| Value::Int(i64::from(*b)))
        }
        Step::Dict { kind, dict, place, len, left } => {
            let table = dict.borrow();
            if table.len() != *len {
                return Err(Exc::new(Kind::RuntimeError, "dictionary changed size during iteration"));
            }
            loop {
                match table.slot(*place) {
                    None => break None,
                    Some(entry) => {
                        *place += 1;
                        if !matches!(entry.key, Value::Unbound) {
                            if *left == 0 {
                                return Err(Exc::new(Kind::RuntimeError, "dictionary keys changed during iteration"));
                            }
                            *left -= 1;
                            break Some(pair(*kind, &entry.key, &entry.value));
                        }
                    }
                }
            }
        }
        Step::DictReversed { kind, dict, place } => {
            let table = dict.borrow();
            loop {
                if *place == 0 {
                    break None;
                }
                *place -= 1;
                if let Some(entry) = table.slot(*place)
                    && !matches!(entry.key, Value::Unbound)
                {
                    break Some(pair(*kind, &entry.key, &entry.value));
                }
            }
        }
        Step::Set { set, place, len } => {
            let members = set.borrow();
            if members.len() != *len {
                return Err(Exc::new(Kind::RuntimeError, "Set changed size during iteration"));
            }
            loop {
                match members.slots().get(*place) {
                    None => break None,
                    Some((_, value)) => {
                        *place += 1;
                        if !matches!(value, Value::Unbound) {
                            break Some(value.clone());
                        }
                    }
                }
            }
        }
        Step::Enumerate(inner, count) => match vm.step_within(inner)? {
            None => None,
            Some(value) => {
                *count += 1;
                Some(Value::Tuple(Rc::new([Value::Int(*count - 1), value].into_iter().collect())))
            }
        },
        Step::Zip(inner) => {
            let mut values: SmallVec<[Value; 3]> = SmallVec::new();
            for iterator in inner.iter() {
                match vm.step_within(iterator)? {
                    Some(value) => values.push(value),
                    None => return Ok(None),
                }
            }
            if inner.is_empty() { None } else { Some(Value::Tuple(Rc::new(values.into_iter().collect()))) }
        }
        Step::Values(values) => values.next(),
        Step::Native(_, next) => next(vm)?,
    })
}

impl Drop for Iter {
    fn drop(&mut self) {
        match std::mem::replace(self.step.get_mut(), Step::Done) {
            Step::List(list, _) | Step::ListReversed(list, _) => memory::bury([Value::List(list)]),
            Step::Tuple(tuple, _) => memory::bury([Value::Tuple(tuple)]),
            Step::Dict { dict, .. } | Step::DictReversed { dict, .. } => memory::bury([Value::Dict(dict)]),
            Step::Set { set, .. } => memory::bury([Value::Set(set)]),
            Step::Enumerate(inner, _) => memory::bury([inner]),
            Step::Zip(inner) => memory::bury(inner),
            Step::Values(values) => memory::bury(values),
            _ => {}
        }
    }
}
