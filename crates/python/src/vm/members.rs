//! Operations of sets, of views of dictionaries, and of dictionaries whose keys compare by Python code.

use super::{Vm, compare};
use crate::bytecode::Binary;
use crate::objects::{Exc, Other, Set, Value, ViewKind, set::Members};

impl Vm {
    /// A dictionary with the items of another, some of whose keys may compare by Python code.
    pub(super) fn update_into(&mut self, dict: &Value, other: &Value) -> Result<Value, Exc> {
        let whole = dict.clone();
        match self.update_dict(dict, other) {
            Ok(_) => Ok(whole),
            Err(exc) => Err(exc.and_then(move |_, _| Ok(whole))),
        }
    }

    /// An operation of sets whose members compare by Python code.
    pub(super) fn members_by_python(&self, op: Binary, left: &Value, right: &Value) -> Exc {
        let views = is_view(left) || is_view(right);
        self.slow_op(if views { "_view_operation" } else { "_set_operation" }, vec![Value::str(op.sign()), left.clone(), right.clone()])
    }

    /// The members of a set or of a view of keys or items.
    pub(super) fn as_members(&self, value: &Value) -> Result<Option<Members>, Exc> {
        Ok(match value {
            Value::Set(set) => Some(set.borrow().copy()),
            Value::Other(other) => match &**other {
                Other::View(ViewKind::Keys, dict) => {
                    let mut members = Members::default();
                    for entry in dict.borrow().slots().iter().filter(|e| !matches!(e.key, Value::Unbound)) {
                        if members.find(entry.hash, &entry.key)?.is_none() {
                            members.insert_new(entry.hash, entry.key.clone());
                        }
                    }
                    Some(members)
                }
                Other::View(ViewKind::Items, dict) => {
                    let mut members = Members::default();
                    for (key, item) in dict.borrow().iter() {
                        let pair = Value::tuple(vec![key.clone(), item.clone()]);
                        let hash = compare::hash(&pair)?;
                        if members.find(hash, &pair)?.is_none() {
                            members.insert_new(hash, pair);
                        }
                    }
                    Some(members)
                }
                _ => None,
            },
            _ => None,
        })
    }
}

/// Whether it is keys or items of a dictionary, which are sets.
pub(super) fn is_view(value: &Value) -> bool {
    matches!(value, Value::Other(other) if matches!(&**other, Other::View(ViewKind::Keys | ViewKind::Items, _)))
}

/// Operators of sets.
pub(super) fn set_operation(op: Binary, a: &Members, b: &Members, frozen: bool) -> Result<Value, Exc> {
    let mut result;
    match op {
        Binary::BitOr => {
            result = a.copy();
            for (hash, value) in b.iter() {
                if result.find(hash, value)?.is_none() {
                    result.insert_new(hash, value.clone());
                }
            }
        }
        Binary::BitAnd => {
            result = Members::default();
            let (small, large) = if b.len() > a.len() { (a, b) } else { (b, a) };
            for (hash, value) in small.iter() {
                if large.find(hash, value)?.is_some() {
                    result.insert_new(hash, value.clone());
                }
            }
        }
        Binary::Sub => {
            result = Members::default();
            for (hash, value) in a.iter() {
                if b.find(hash, value)?.is_none() {
                    result.insert_new(hash, value.clone());
                }
            }
        }
        _ => {
            result = Members::default();
            for (hash, value) in a.iter() {
                if b.find(hash, value)?.is_none() {
                    result.insert_new(hash, value.clone());
                }
            }
            for (hash, value) in b.iter() {
                if a.find(hash, value)?.is_none() {
                    result.insert_new(hash, value.clone());
                }
            }
        }
    }
    Ok(Value::Set(Set::new(result, frozen)))
}
