//! Sets, iterated in the order in which CPython iterates them: its table, its probing, its growth (`Objects/setobject.c`).

use super::{Value, memory, watch};
use crate::vm::compare::{self, Unknown};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;

/// The table of a set.
pub struct Members {
    slots: Vec<(u64, Value)>,
    /// Places in use, with those of members that were removed.
    fill: usize,
    used: usize,
}

const LINEAR_PROBES: usize = 9;
/// Stands where a member was removed.
const DUMMY: u64 = u64::MAX;

impl Default for Members {
    fn default() -> Self {
        Members { slots: vec![(0, Value::Unbound); 8], fill: 0, used: 0 }
    }
}

impl Members {
    /// How many members.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// All places; a free one has no value.
    pub fn slots(&self) -> &[(u64, Value)] {
        &self.slots
    }

    /// All members with their hashes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Value)> {
        self.slots.iter().filter(|(_, v)| !matches!(v, Value::Unbound)).map(|(h, v)| (*h, v))
    }

    /// Where `key` stands.
    pub fn find(&self, hash: u64, key: &Value) -> Result<Option<usize>, Unknown> {
        let mask = self.slots.len() - 1;
        let mut perturb = hash;
        let mut i = hash as usize & mask;
        loop {
            let probes = if i + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for at in i..=i + probes {
                let (h, value) = &self.slots[at];
                if matches!(value, Value::Unbound) {
                    if *h != DUMMY {
                        return Ok(None);
                    }
                } else if *h == hash && compare::key_equal(value, key)? {
                    return Ok(Some(at));
                }
            }
            perturb >>= 5;
            i = i.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb as usize) & mask;
        }
    }

    /// Adds a key that is not there.
    pub fn insert_new(&mut self, hash: u64, key: Value) {
        if self.place(hash, key) {
            self.fill += 1;
        }
        self.used += 1;
        let mask = self.slots.len() - 1;
        if self.fill * 5 >= mask * 3 {
            self.resize(if self.used > 50_000 { self.used * 2 } else { self.used * 4 });
        }
    }

    /// Writes into the first free place; whether it was never used before.
    fn place(&mut self, hash: u64, key: Value) -> bool {
        let mask = self.slots.len() - 1;
        let mut perturb = hash;
        let mut i = hash as usize & mask;
        loop {
            let probes = if i + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for at in i..=i + probes {
                if matches!(self.slots[at].1, Value::Unbound) {
                    let fresh = self.slots[at].0 != DUMMY;
                    self.slots[at] = (hash, key);
                    return fresh;
                }
            }
            perturb >>= 5;
            i = i.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb as usize) & mask;
        }
    }

    fn resize(&mut self, minimum: usize) {
        let mut size = 8;
        while size <= minimum {
            size *= 2;
        }
        memory::charge(size * size_of::<(u64, Value)>());
        memory::release(self.slots.len() * size_of::<(u64, Value)>());
        let old = std::mem::replace(&mut self.slots, vec![(0, Value::Unbound); size]);
        for (hash, value) in old {
            if !matches!(value, Value::Unbound) {
                self.place(hash, value);
            }
        }
        self.fill = self.used;
    }

    /// Takes out the member at a place.
    pub fn remove(&mut self, place: usize) -> Value {
        self.used -= 1;
        self.slots[place].0 = DUMMY;
        std::mem::take(&mut self.slots[place].1)
    }

    /// A copy, laid out as CPython lays out a copy.
    pub fn copy(&self) -> Members {
        let mut copy = Members::default();
        if self.used * 5 >= (copy.slots.len() - 1) * 3 {
            copy.resize(self.used * 2);
        }
        for (hash, value) in self.iter() {
            copy.place(hash, value.clone());
        }
        (copy.fill, copy.used) = (self.used, self.used);
        copy
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if self.slots.len() > 8 {
            memory::release(self.slots.len() * size_of::<(u64, Value)>());
        }
        memory::bury(std::mem::take(&mut self.slots).into_iter().map(|(_, v)| v));
    }
}

/// A `set` or a `frozenset`.
pub struct Set {
    members: RefCell<Members>,
    pub version: Cell<u64>,
    pub frozen: bool,
}

impl Set {
    /// A set of these members.
    pub fn new(members: Members, frozen: bool) -> Rc<Set> {
        Rc::new(Set { members: RefCell::new(members), version: Cell::new(watch::birth()), frozen })
    }

    /// Its members, to read.
    pub fn borrow(self: &Rc<Self>) -> Ref<'_, Members> {
        if watch::on() {
            watch::set(self);
        }
        self.members.borrow()
    }

    /// Its members, to change; the version rises.
    pub fn borrow_mut(self: &Rc<Self>) -> RefMut<'_, Members> {
        if watch::on() {
            watch::set(self);
        }
        self.version.set(self.version.get() + 1);
        self.members.borrow_mut()
    }

    /// How many members.
    pub fn len(self: &Rc<Self>) -> usize {
        self.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(self: &Rc<Self>) -> bool {
        self.len() == 0
    }
}
