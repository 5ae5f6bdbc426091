//! Dictionaries in order of insertion.

use super::{Str, Value, memory, watch};
use crate::vm::compare::{self, Unknown};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;

/// One pair. A deleted one has no key.
pub struct Entry {
    pub hash: u64,
    pub key: Value,
    pub value: Value,
}

/// Pairs in order, found by hash: up to eight by looking at each, more through an index of their places.
#[derive(Default)]
pub struct Table {
    entries: Vec<Entry>,
    index: Vec<u32>,
    live: usize,
    charged: usize,
    /// Raised when a key is added or removed, not when a value is replaced.
    pub keys: u64,
}

const SMALL: usize = 8;
const FREE: u32 = u32::MAX;

impl Table {
    /// How many pairs.
    #[inline]
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The places, deleted ones too: what iteration walks over.
    #[inline]
    pub fn slots(&self) -> &[Entry] {
        &self.entries
    }

    /// The pair at a place.
    #[inline]
    pub fn slot(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place)
    }

    /// The value at a place, if its key is this very name.
    #[inline(always)]
    pub fn named(&self, place: u32, name: &Rc<Str>) -> Option<Value> {
        match self.entries.get(place as usize) {
            Some(Entry { key: Value::Str(key), value, .. }) if Rc::ptr_eq(key, name) => Some(value.clone()),
            _ => None,
        }
    }

    /// Replaces the value at a place that [`find`](Self::find) gave.
    #[inline]
    pub fn replace(&mut self, place: usize, value: Value) -> Value {
        std::mem::replace(&mut self.entries[place].value, value)
    }

    /// All pairs in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &Value)> {
        self.entries.iter().filter(|e| !matches!(e.key, Value::Unbound)).map(|e| (&e.key, &e.value))
    }

    /// Where `key` stands. [`Unknown`] where only Python code could compare it with a key of the same hash.
    #[inline]
    pub fn find(&self, hash: u64, key: &Value) -> Result<Option<usize>, Unknown> {
        self.probe(hash, |entry| compare::key_equal(&entry.key, key))
    }

    /// Where a string stands.
    #[inline]
    pub fn find_str(&self, name: &Rc<Str>) -> Option<usize> {
        let hash = name.hash();
        self.probe(hash, |entry| match &entry.key {
            Value::Str(key) => Ok(Rc::ptr_eq(key, name) || key.as_str() == name.as_str()),
            _ => Ok(false),
        })
        .unwrap_or(None)
    }

    /// Where a text stands.
    pub fn find_text(&self, text: &str) -> Option<usize> {
        self.find_str(&Str::new(text.to_string()))
    }

    #[inline]
    fn probe(&self, hash: u64, equal: impl Fn(&Entry) -> Result<bool, Unknown>) -> Result<Option<usize>, Unknown> {
        if self.index.is_empty() {
            for (place, entry) in self.entries.iter().enumerate() {
                if entry.hash == hash && !matches!(entry.key, Value::Unbound) && equal(entry)? {
                    return Ok(Some(place));
                }
            }
            return Ok(None);
        }
        let mask = self.index.len() - 1;
        let mut at = spread(hash) & mask;
        loop {
            let place = self.index[at];
            if place == FREE {
                return Ok(None);
            }
            let entry = &self.entries[place as usize];
            if entry.hash == hash && !matches!(entry.key, Value::Unbound) && equal(entry)? {
                return Ok(Some(place as usize));
            }
            at = (at + 1) & mask;
        }
    }

    /// Appends a key that is not there.
    pub fn insert_new(&mut self, hash: u64, key: Value, value: Value) {
        self.keys += 1;
        if self.entries.len() == self.entries.capacity() && self.live < self.entries.len() * 3 / 4 {
            self.compact();
        }
        self.entries.push(Entry { hash, key, value });
        self.live += 1;
        if self.entries.len() > SMALL {
            if self.index.len() < self.entries.len() * 3 / 2 {
                self.reindex();
            } else {
                self.link(self.entries.len() - 1);
            }
        }
        self.recharge();
    }

    /// Takes out the pair at a place.
    pub fn remove(&mut self, place: usize) -> (Value, Value) {
        self.keys += 1;
        self.live -= 1;
        let entry = &mut self.entries[place];
        let pair = (std::mem::take(&mut entry.key), std::mem::take(&mut entry.value));
        if self.live == 0 {
            self.entries.clear();
            self.index.clear();
        } else if place + 1 == self.entries.len() && self.index.is_empty() {
            self.entries.pop();
        }
        pair
    }

    /// The place of the last pair.
    pub fn last(&self) -> Option<usize> {
        self.entries.iter().rposition(|e| !matches!(e.key, Value::Unbound))
    }

    /// The place of the first pair.
    pub fn first(&self) -> Option<usize> {
        self.entries.iter().position(|e| !matches!(e.key, Value::Unbound))
    }

    fn compact(&mut self) {
        self.entries.retain(|e| !matches!(e.key, Value::Unbound));
        self.reindex();
    }

    fn reindex(&mut self) {
        if self.entries.len() <= SMALL {
            self.index.clear();
            return;
        }
        let size = (self.entries.len() * 2).next_power_of_two().max(16);
        self.index.clear();
        self.index.resize(size, FREE);
        for place in 0..self.entries.len() {
            self.link(place);
        }
    }

    fn link(&mut self, place: usize) {
        let mask = self.index.len() - 1;
        let mut at = spread(self.entries[place].hash) & mask;
        while self.index[at] != FREE {
            at = (at + 1) & mask;
        }
        self.index[at] = place as u32;
    }

    fn recharge(&mut self) {
        let bytes = self.entries.capacity() * size_of::<Entry>() + self.index.capacity() * 4;
        if bytes != self.charged {
            memory::charge(bytes.wrapping_sub(self.charged));
            self.charged = bytes;
        }
    }

    /// A copy of all pairs.
    pub fn copy(&self) -> Table {
        let mut table = Table::default();
        for entry in &self.entries {
            if !matches!(entry.key, Value::Unbound) {
                table.insert_new(entry.hash, entry.key.clone(), entry.value.clone());
            }
        }
        table
    }
}

/// Hashes of integers are the integers themselves: the high bits must count too.
#[inline]
fn spread(hash: u64) -> usize {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl Drop for Table {
    fn drop(&mut self) {
        memory::release(self.charged);
        if !self.entries.is_empty() {
            memory::bury(std::mem::take(&mut self.entries).into_iter().flat_map(|e| [e.key, e.value]));
        }
    }
}

/// A dictionary. Borrows of its table end before any Python code runs.
pub struct Dict {
    table: RefCell<Table>,
    pub version: Cell<u64>,
    /// Whether it is an `OrderedDict`, whose views say so.
    pub ordered: Cell<bool>,
}

impl Dict {
    /// An empty one.
    pub fn new() -> Rc<Dict> {
        Self::from_table(Table::default())
    }

    /// One with this table.
    pub fn from_table(table: Table) -> Rc<Dict> {
        Rc::new(Dict { table: RefCell::new(table), version: Cell::new(watch::birth()), ordered: Cell::new(false) })
    }

    /// Its table, to read.
    #[inline]
    pub fn borrow(self: &Rc<Self>) -> Ref<'_, Table> {
        self.told();
        self.table.borrow()
    }

    /// Its table, to change; the version rises.
    #[inline]
    pub fn borrow_mut(self: &Rc<Self>) -> RefMut<'_, Table> {
        self.told();
        self.version.set(self.version.get() + 1);
        self.table.borrow_mut()
    }

    // Whoever watches the run knows of it.
    #[inline(always)]
    fn told(self: &Rc<Self>) {
        if watch::on() {
            watch::dict(self, &self.table.borrow());
        }
    }

    /// The value of a name, of a dictionary that nobody watches: a class's, whose version tells of changes.
    #[inline]
    pub(super) fn peek(&self, name: &Rc<Str>) -> Option<Value> {
        let table = self.table.borrow();
        table.find_str(name).map(|place| table.slots()[place].value.clone())
    }

    /// How many pairs.
    pub fn len(self: &Rc<Self>) -> usize {
        self.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(self: &Rc<Self>) -> bool {
        self.len() == 0
    }

    /// The value of a name.
    #[inline]
    pub fn get_str(self: &Rc<Self>, name: &Rc<Str>) -> Option<Value> {
        let table = self.borrow();
        table.find_str(name).map(|place| table.slots()[place].value.clone())
    }

    /// The value of a name given as text.
    pub fn get(self: &Rc<Self>, name: &str) -> Option<Value> {
        self.get_str(&Str::new(name.to_string()))
    }

    /// Sets the value of a name.
    pub fn set_str(self: &Rc<Self>, name: &Rc<Str>, value: Value) {
        let old = {
            let mut table = self.borrow_mut();
            match table.find_str(name) {
                Some(place) => Some(table.replace(place, value)),
                None => {
                    table.insert_new(name.hash(), Value::Str(name.clone()), value);
                    None
                }
            }
        };
        drop(old);
    }

    /// Sets the value of a name given as text.
    pub fn set(self: &Rc<Self>, name: &str, value: Value) {
        self.set_str(&crate::vm::intern::intern(name), value);
    }

    /// Removes a name.
    pub fn remove_str(self: &Rc<Self>, name: &Rc<Str>) -> Option<Value> {
        let mut table = self.borrow_mut();
        let place = table.find_str(name)?;
        Some(table.remove(place).1)
    }
}
