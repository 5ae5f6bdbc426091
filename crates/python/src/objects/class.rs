//! Classes and their instances.

use super::{Dict, Function, Native, Str, Value, exception::ExcData, memory, watch};
use std::any::Any;
use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::rc::{Rc, Weak};

/// What an instance of a class holds besides attributes: decided by the builtin type it descends from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    Plain,
    /// Wraps a value of a builtin type (`int`, `str`, `list`, `dict`, …).
    Base,
    Exception,
    /// Descends from `type`.
    Type,
}

/// A class.
pub struct Class {
    pub name: RefCell<Rc<Str>>,
    pub qualname: RefCell<Rc<Str>>,
    pub bases: RefCell<Vec<Rc<Class>>>,
    /// Method resolution order without the class itself.
    pub mro: RefCell<Vec<Rc<Class>>>,
    pub attrs: Rc<Dict>,
    pub layout: Layout,
    /// The builtin type that an instance's wrapped value has.
    pub builtin: Option<Rc<Class>>,
    /// Its metaclass where that is not `type`.
    pub meta: RefCell<Option<Rc<Class>>>,
    subclasses: RefCell<Vec<Weak<Class>>>,
    version: Cell<u64>,
    /// Defined by a script or a module in Python, so that attributes may be set.
    pub mutable: bool,
    /// Whether some name was set on an instance although the class has it: methods may then be shadowed.
    pub shadowed: Cell<bool>,
    /// Names of `__slots__`, where every class up to `object` has them.
    pub slots: RefCell<Option<Vec<Rc<Str>>>>,
    /// How its instances are made, found at this version.
    pub make: RefCell<Option<(u64, Make)>>,
}

/// How a call of a class makes an instance.
#[derive(Clone)]
pub enum Make {
    /// By looking up `__call__`, `__new__` and `__init__`.
    General,
    /// A builtin: its `__new__` does everything.
    Native(Rc<Native>),
    /// A plain object, given to `__init__` in Python.
    Init(Rc<Function>),
}

impl Class {
    /// A class with a given order of resolution.
    pub fn new(name: &str, bases: Vec<Rc<Class>>, mro: Vec<Rc<Class>>, attrs: Rc<Dict>, layout: Layout, mutable: bool) -> Rc<Class> {
        Self::with_builtin(name, bases, mro, attrs, layout, mutable, None)
    }

    /// A class whose instances wrap a value of `builtin`.
    pub fn with_builtin(
        name: &str,
        bases: Vec<Rc<Class>>,
        mro: Vec<Rc<Class>>,
        attrs: Rc<Dict>,
        layout: Layout,
        mutable: bool,
        builtin: Option<Rc<Class>>,
    ) -> Rc<Class> {
        let name = Str::new(name.to_string());
        let class = Rc::new(Class {
            qualname: RefCell::new(name.clone()),
            name: RefCell::new(name),
            bases: RefCell::new(bases),
            mro: RefCell::new(mro),
            attrs,
            layout,
            builtin,
            meta: RefCell::new(None),
            subclasses: RefCell::default(),
            version: Cell::new(memory::fresh_version()),
            mutable,
            shadowed: Cell::new(false),
            slots: RefCell::new(None),
            make: RefCell::new(None),
        });
        memory::charge(400);
        for base in class.bases.borrow().iter() {
            base.subclasses.borrow_mut().push(Rc::downgrade(&class));
        }
        class
    }

    /// Its name.
    pub fn name(&self) -> Rc<Str> {
        self.name.borrow().clone()
    }

    /// A number that no other class has, and that changes when the class or one it inherits from changes.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.get()
    }

    /// Takes a new version, and so do all that inherit from it.
    pub fn touch(&self) {
        let mut queue: Vec<Weak<Class>> = self.subclasses.borrow().clone();
        self.version.set(memory::fresh_version());
        while let Some(next) = queue.pop() {
            if let Some(class) = next.upgrade() {
                class.version.set(memory::fresh_version());
                queue.extend(class.subclasses.borrow().iter().cloned());
            }
        }
    }

    /// Classes that name it as a base.
    pub fn subclasses(&self) -> Vec<Rc<Class>> {
        self.subclasses.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// An attribute of the class or of those it inherits from.
    #[inline]
    pub fn lookup(&self, name: &Rc<Str>) -> Option<Value> {
        if let Some(value) = self.attrs.peek(name) {
            return Some(value);
        }
        self.mro.borrow().iter().find_map(|class| class.attrs.peek(name))
    }

    /// Whether it is `other` or inherits from it.
    pub fn is_subclass(&self, other: &Rc<Class>) -> bool {
        std::ptr::eq(self, Rc::as_ptr(other)) || self.mro.borrow().iter().any(|class| Rc::ptr_eq(class, other))
    }

    /// Sets an attribute.
    pub fn set(&self, name: &Rc<Str>, value: Value) {
        self.attrs.set_str(name, value);
        self.touch();
    }

    /// The order of resolution by C3, without the class itself; `None` where there is none.
    pub fn linearize(bases: &[Rc<Class>]) -> Option<Vec<Rc<Class>>> {
        let mut sequences: Vec<Vec<Rc<Class>>> =
            bases.iter().map(|base| std::iter::once(base.clone()).chain(base.mro.borrow().iter().cloned()).collect()).collect();
        sequences.push(bases.to_vec());
        let mut order = Vec::new();
        loop {
            sequences.retain(|sequence| !sequence.is_empty());
            if sequences.is_empty() {
                return Some(order);
            }
            let next = sequences
                .iter()
                .map(|sequence| &sequence[0])
                .find(|candidate| !sequences.iter().any(|other| other[1..].iter().any(|class| Rc::ptr_eq(class, candidate))))?
                .clone();
            for sequence in &mut sequences {
                if Rc::ptr_eq(&sequence[0], &next) {
                    sequence.remove(0);
                }
            }
            order.push(next);
        }
    }
}

impl Drop for Class {
    fn drop(&mut self) {
        memory::release(400);
        let classes = std::mem::take(self.bases.get_mut()).into_iter().chain(std::mem::take(self.mro.get_mut()));
        memory::bury(classes.map(Value::Class));
    }
}

/// What an instance holds besides its attributes.
pub enum Inner {
    Nothing,
    /// A value of the builtin type that its class descends from.
    Base(Value),
    Exception(RefCell<ExcData>),
    /// A host's data.
    Host(Box<dyn Any>),
}

/// An instance of a class.
pub struct Instance {
    class: RefCell<Rc<Class>>,
    attrs: OnceCell<Rc<Dict>>,
    pub inner: Inner,
    /// Hash that `__hash__` gave; zero before.
    pub hash: Cell<u64>,
}

impl Instance {
    /// An instance without attributes.
    pub fn new(class: Rc<Class>, inner: Inner) -> Rc<Instance> {
        memory::charge(120);
        Rc::new(Instance { class: RefCell::new(class), attrs: OnceCell::new(), inner, hash: Cell::new(0) })
    }

    /// Its class.
    #[inline]
    pub fn class(&self) -> Ref<'_, Rc<Class>> {
        self.class.borrow()
    }

    /// Gives it another class; the version rises.
    pub fn set_class(&self, class: Rc<Class>) {
        *self.class.borrow_mut() = class;
        drop(self.attrs_mut().borrow_mut());
    }

    /// Its attributes, if any was ever set.
    #[inline]
    pub fn attrs(&self) -> Option<&Rc<Dict>> {
        self.attrs.get()
    }

    /// Its attributes.
    pub fn attrs_mut(&self) -> &Rc<Dict> {
        self.attrs.get_or_init(Dict::new)
    }

    /// Makes the dictionary that of its attributes, which both then change, where none was set before.
    pub fn share_attrs(&self, dict: &Rc<Dict>) -> bool {
        self.attrs.set(dict.clone()).is_ok()
    }

    /// Rises with every change of its attributes, of its class, and of the list or dictionary it wraps: zero before the first.
    pub fn version(&self) -> u64 {
        // Both parts only rise: the sum stands still only where both do.
        let base = self.base_value().and_then(Value::version).unwrap_or(0);
        base + self.attrs.get().map_or(0, |attrs| attrs.version.get())
    }

    /// The value it wraps.
    pub fn base_value(&self) -> Option<&Value> {
        match &self.inner {
            Inner::Base(value) => Some(value),
            _ => None,
        }
    }

    /// Its part as an exception.
    pub fn exception(&self) -> Option<&RefCell<ExcData>> {
        match &self.inner {
            Inner::Exception(data) => Some(data),
            _ => None,
        }
    }

    /// A host's data of type `T`, which may change without anybody knowing.
    pub fn host<T: 'static>(&self) -> Option<&T> {
        watch::refuse(|| format!("an object of the class {} takes part", self.class().name().as_str()));
        self.lasting()
    }

    /// A host's data of type `T` that never changes, or tells of itself who watches.
    pub fn lasting<T: 'static>(&self) -> Option<&T> {
        match &self.inner {
            Inner::Host(data) => data.downcast_ref(),
            _ => None,
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        memory::release(120);
        if let Inner::Base(value) = &mut self.inner {
            memory::bury([std::mem::take(value)]);
        }
    }
}
