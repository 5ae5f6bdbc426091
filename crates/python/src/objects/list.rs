//! Lists and tuples.

use super::{Value, memory, watch};
use smallvec::SmallVec;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::ops::Deref;
use std::rc::Rc;

/// A list. Borrows of its items end before any Python code runs.
pub struct List {
    items: RefCell<Vec<Value>>,
    pub version: Cell<u64>,
    charged: Cell<usize>,
}

impl List {
    /// A list of these values.
    pub fn new(items: Vec<Value>) -> List {
        let bytes = items.capacity() * size_of::<Value>() + 64;
        memory::charge(bytes);
        List { items: RefCell::new(items), version: Cell::new(watch::birth()), charged: Cell::new(bytes) }
    }

    /// Its items, to read.
    #[inline]
    pub fn borrow(self: &Rc<Self>) -> Ref<'_, Vec<Value>> {
        self.told();
        self.items.borrow()
    }

    /// Its items, to change; the version rises.
    #[inline]
    pub fn borrow_mut(self: &Rc<Self>) -> RefMut<'_, Vec<Value>> {
        self.told();
        self.version.set(self.version.get() + 1);
        self.items.borrow_mut()
    }

    /// Adds one at the end.
    #[inline]
    pub fn push(self: &Rc<Self>, value: Value) {
        if watch::on() {
            watch::list(self, &self.items.borrow(), false);
        }
        self.version.set(self.version.get() + 1);
        let mut items = self.items.borrow_mut();
        if items.len() == items.capacity() {
            items.push(value);
            let bytes = items.capacity() * size_of::<Value>() + 64;
            memory::charge(bytes.wrapping_sub(self.charged.get()));
            self.charged.set(bytes);
        } else {
            items.push(value);
        }
    }

    // Whoever watches the run knows of it.
    #[inline(always)]
    fn told(self: &Rc<Self>) {
        if watch::on() {
            watch::list(self, &self.items.borrow(), true);
        }
    }

    /// Counts its memory again after a change of its capacity.
    pub fn recharge(&self) {
        let bytes = self.items.borrow().capacity() * size_of::<Value>() + 64;
        memory::charge(bytes.wrapping_sub(self.charged.get()));
        self.charged.set(bytes);
    }

    /// How many items it has.
    #[inline]
    pub fn len(self: &Rc<Self>) -> usize {
        self.borrow().len()
    }

    /// Whether it has none.
    pub fn is_empty(self: &Rc<Self>) -> bool {
        self.len() == 0
    }
}

impl Drop for List {
    fn drop(&mut self) {
        memory::release(self.charged.get());
        let items = std::mem::take(self.items.get_mut());
        memory::bury(items);
    }
}

/// A tuple; up to three items lie in it.
pub struct Tuple(SmallVec<[Value; 3]>);

impl Tuple {
    /// A tuple of these values.
    pub fn new(items: Vec<Value>) -> Tuple {
        items.into_iter().collect()
    }

    fn bytes(&self) -> usize {
        size_of::<Tuple>() + 16 + if self.0.spilled() { self.0.capacity() * size_of::<Value>() } else { 0 }
    }
}

impl FromIterator<Value> for Tuple {
    fn from_iter<T: IntoIterator<Item = Value>>(items: T) -> Tuple {
        let tuple = Tuple(items.into_iter().collect());
        memory::charge(tuple.bytes());
        tuple
    }
}

impl Deref for Tuple {
    type Target = [Value];
    #[inline]
    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        memory::release(self.bytes());
        memory::bury(self.0.drain(..));
    }
}
