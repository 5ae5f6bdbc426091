//! The values of the machine.
//!
//! A [`Value`] is two words: small things lie in it, everything else is counted by reference. Containers carry a version that every
//! change raises, so that what was read from them can be guarded by one comparison.

pub mod class;
pub mod dict;
pub mod exception;
pub mod function;
pub mod generator;
pub mod iterator;
pub mod list;
pub mod memory;
pub mod octets;
pub mod set;
pub mod string;
pub mod watch;

pub use class::{Class, Instance, Layout};
pub use dict::{Dict, Table};
pub use exception::{Exc, Kind};
pub use function::{Args, Function, Method, Native, NativeFn};
pub use generator::Generator;
pub use iterator::{Iter, Step};
pub use list::{List, Tuple};
pub use octets::Octets;
pub use set::Set;
pub use string::Str;

use crate::bytecode::Code;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::cell::{Cell as StdCell, RefCell};
use std::rc::Rc;

/// A Python value.
#[derive(Default)]
pub enum Value {
    /// Not a value of Python: an unset local, a deleted entry.
    #[default]
    Unbound,
    None,
    NotImplemented,
    Ellipsis,
    Bool(Truth),
    Int(i64),
    Float(Real),
    /// An integer that needs more than 64 bits: never one that would fit [`Value::Int`].
    Big(Rc<BigInt>),
    Str(Rc<Str>),
    Bytes(Rc<Octets>),
    List(Rc<List>),
    Tuple(Rc<Tuple>),
    Dict(Rc<Dict>),
    Set(Rc<Set>),
    Range(Rc<Range>),
    Slice(Rc<Slice>),
    Function(Rc<Function>),
    Native(Rc<Native>),
    Method(Rc<Method>),
    Class(Rc<Class>),
    Instance(Rc<Instance>),
    Module(Rc<Module>),
    Generator(Rc<Generator>),
    Iterator(Rc<Iter>),
    Cell(Rc<Cell>),
    Code(Rc<Code>),
    Other(Rc<Other>),
}

/// A float, by its bits: when the payload of every kind of value is an integer or a pointer of eight bytes, a [`Value`] is passed
/// in two registers and copied word by word (`f64` and `bool` as payloads would send it through memory, and reading sixteen bytes
/// that were just written as eight and eight waits until they have reached the cache).
#[derive(Clone, Copy)]
pub struct Real(u64);

impl Real {
    /// Of a float.
    #[inline(always)]
    pub fn new(value: f64) -> Real {
        Real(value.to_bits())
    }

    /// The float.
    #[inline(always)]
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A boolean in eight bytes: see [`Real`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Truth {
    False,
    True,
}

impl Truth {
    /// The boolean.
    #[inline(always)]
    pub fn get(self) -> bool {
        self == Truth::True
    }
}

/// `range(start, stop, step)`; the step is not zero.
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    /// How many numbers it has.
    pub fn len(&self) -> usize {
        let (start, stop, step) = (i128::from(self.start), i128::from(self.stop), i128::from(self.step));
        let span = if step > 0 { stop - start } else { start - stop };
        if span <= 0 { 0 } else { ((span - 1) / step.abs() + 1) as usize }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at `index`, which is within its length.
    pub fn get(&self, index: usize) -> i64 {
        self.start.wrapping_add((index as i64).wrapping_mul(self.step))
    }

    /// Where `value` stands.
    pub fn position(&self, value: i64) -> Option<usize> {
        let offset = i128::from(value) - i128::from(self.start);
        let step = i128::from(self.step);
        (offset % step == 0 && offset / step >= 0 && offset / step < self.len() as i128).then(|| (offset / step) as usize)
    }
}

/// `slice(start, stop, step)`.
pub struct Slice {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
}

impl Drop for Slice {
    fn drop(&mut self) {
        memory::bury([std::mem::take(&mut self.start), std::mem::take(&mut self.stop), std::mem::take(&mut self.step)]);
    }
}

/// A variable that closures share.
pub struct Cell {
    pub value: RefCell<Value>,
    pub version: StdCell<u64>,
}

impl Cell {
    /// A cell that holds `value`.
    pub fn new(value: Value) -> Rc<Cell> {
        Rc::new(Cell { value: RefCell::new(value), version: StdCell::new(watch::birth()) })
    }

    /// Whoever watches the run knows that it is read or changed.
    #[inline(always)]
    pub fn told(self: &Rc<Self>) {
        if watch::on() {
            watch::cell(self);
        }
    }

    /// Replaces what it holds.
    pub fn set(self: &Rc<Self>, value: Value) {
        self.told();
        self.version.set(self.version.get() + 1);
        let old = self.value.replace(value);
        drop(old);
    }

    /// Empties it, and gives what it held.
    pub fn take(self: &Rc<Self>) -> Value {
        self.told();
        self.version.set(self.version.get() + 1);
        self.value.replace(Value::Unbound)
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        memory::bury([std::mem::take(self.value.get_mut())]);
    }
}

/// A module: its namespace, whose version is the module's.
pub struct Module {
    pub name: Rc<Str>,
    pub attrs: Rc<Dict>,
}

/// Which part of a dictionary a view shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewKind {
    Keys,
    Values,
    Items,
}

/// Kinds of values that are met rarely.
pub enum Other {
    Property {
        get: Value,
        set: Value,
        delete: Value,
        doc: Value,
    },
    /// An attribute computed by natives.
    GetSet {
        name: &'static str,
        get: NativeFn,
        set: Option<NativeFn>,
    },
    StaticMethod(Value),
    ClassMethod(Value),
    /// `super(class, object)`: `object` may be a class. `kind` is the type of the object, or the class itself.
    Super {
        class: Rc<Class>,
        object: Value,
        kind: Rc<Class>,
    },
    View(ViewKind, Rc<Dict>),
    /// A read-only view of a class's namespace.
    MappingProxy(Rc<Dict>),
    /// `list[int]` and the like.
    Alias {
        origin: Value,
        args: Value,
    },
    /// What a host keeps in a variable.
    Host(Box<dyn std::any::Any>),
    /// `a + bj`.
    Complex(f64, f64),
    /// A number or text that may be another one the next time, with the expression that it comes from ([`watch`]).
    Marked(Value, u32),
}

impl Drop for Other {
    fn drop(&mut self) {
        use std::mem::take;
        match self {
            Other::Property { get, set, delete, doc } => memory::bury([take(get), take(set), take(delete), take(doc)]),
            Other::StaticMethod(value) | Other::ClassMethod(value) => memory::bury([take(value)]),
            Other::Super { object, .. } => memory::bury([take(object)]),
            Other::Alias { origin, args } => memory::bury([take(origin), take(args)]),
            _ => {}
        }
    }
}

impl Clone for Value {
    /// A word by copying it, here; the rest by one more reference, elsewhere.
    #[inline(always)]
    fn clone(&self) -> Value {
        match self {
            Value::Unbound => Value::Unbound,
            Value::None => Value::None,
            Value::NotImplemented => Value::NotImplemented,
            Value::Ellipsis => Value::Ellipsis,
            Value::Bool(value) => Value::Bool(*value),
            Value::Int(value) => Value::Int(*value),
            Value::Float(value) => Value::Float(*value),
            counted => counted.share(),
        }
    }
}

impl Value {
    /// One more reference to what is counted.
    fn share(&self) -> Value {
        match self {
            Value::Big(value) => Value::Big(Rc::clone(value)),
            Value::Str(value) => Value::Str(Rc::clone(value)),
            Value::Bytes(value) => Value::Bytes(Rc::clone(value)),
            Value::List(value) => Value::List(Rc::clone(value)),
            Value::Tuple(value) => Value::Tuple(Rc::clone(value)),
            Value::Dict(value) => Value::Dict(Rc::clone(value)),
            Value::Set(value) => Value::Set(Rc::clone(value)),
            Value::Range(value) => Value::Range(Rc::clone(value)),
            Value::Slice(value) => Value::Slice(Rc::clone(value)),
            Value::Function(value) => Value::Function(Rc::clone(value)),
            Value::Native(value) => Value::Native(Rc::clone(value)),
            Value::Method(value) => Value::Method(Rc::clone(value)),
            Value::Class(value) => Value::Class(Rc::clone(value)),
            Value::Instance(value) => Value::Instance(Rc::clone(value)),
            Value::Module(value) => Value::Module(Rc::clone(value)),
            Value::Generator(value) => Value::Generator(Rc::clone(value)),
            Value::Iterator(value) => Value::Iterator(Rc::clone(value)),
            Value::Cell(value) => Value::Cell(Rc::clone(value)),
            Value::Code(value) => Value::Code(Rc::clone(value)),
            Value::Other(value) => Value::Other(Rc::clone(value)),
            word => word.clone(),
        }
    }

    /// Drops it: a word here, by forgetting it, the rest elsewhere.
    #[inline(always)]
    pub fn release(self) {
        if self.is_word() { std::mem::forget(self) } else { drop(self) }
    }

    /// A float.
    #[inline(always)]
    pub fn float(value: f64) -> Value {
        Value::Float(Real::new(value))
    }

    /// A boolean.
    #[inline(always)]
    pub fn bool(value: bool) -> Value {
        Value::Bool(if value { Truth::True } else { Truth::False })
    }

    /// A string.
    pub fn str(text: impl Into<compact_str::CompactString>) -> Value {
        Value::Str(Str::new(text))
    }

    /// A tuple.
    pub fn tuple(values: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(Tuple::new(values)))
    }

    /// A list.
    pub fn list(values: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(values)))
    }

    /// An integer, as small as it goes.
    pub fn big(value: BigInt) -> Value {
        match value.to_i64() {
            Some(small) => Value::Int(small),
            None => {
                memory::charge(value.bits() as usize / 8);
                Value::Big(Rc::new(value))
            }
        }
    }

    /// Whether it lies in its two words: nothing happens when it is dropped.
    #[inline(always)]
    pub fn is_word(&self) -> bool {
        use Value::*;
        matches!(self, Unbound | None | NotImplemented | Ellipsis | Bool(_) | Int(_) | Float(_))
    }

    /// Whether dropping it may drop others.
    pub fn is_heap(&self) -> bool {
        !self.is_word() && !matches!(self, Value::Str(_))
    }

    /// `a is b`.
    pub fn is(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (Unbound, Unbound) | (None, None) | (NotImplemented, NotImplemented) | (Ellipsis, Ellipsis) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.0 == b.0,
            (Big(a), Big(b)) => Rc::ptr_eq(a, b),
            (Str(a), Str(b)) => Rc::ptr_eq(a, b) || (a.as_str().len() <= 1 && a.as_str() == b.as_str()),
            (Bytes(a), Bytes(b)) => Rc::ptr_eq(a, b),
            (List(a), List(b)) => Rc::ptr_eq(a, b),
            (Tuple(a), Tuple(b)) => Rc::ptr_eq(a, b) || (a.is_empty() && b.is_empty()),
            (Dict(a), Dict(b)) => Rc::ptr_eq(a, b),
            (Set(a), Set(b)) => Rc::ptr_eq(a, b),
            (Range(a), Range(b)) => Rc::ptr_eq(a, b),
            (Slice(a), Slice(b)) => Rc::ptr_eq(a, b),
            (Function(a), Function(b)) => Rc::ptr_eq(a, b),
            (Native(a), Native(b)) => Rc::ptr_eq(a, b),
            (Method(a), Method(b)) => Rc::ptr_eq(a, b),
            (Class(a), Class(b)) => Rc::ptr_eq(a, b),
            (Instance(a), Instance(b)) => Rc::ptr_eq(a, b),
            (Module(a), Module(b)) => Rc::ptr_eq(a, b),
            (Generator(a), Generator(b)) => Rc::ptr_eq(a, b),
            (Iterator(a), Iterator(b)) => Rc::ptr_eq(a, b),
            (Cell(a), Cell(b)) => Rc::ptr_eq(a, b),
            (Code(a), Code(b)) => Rc::ptr_eq(a, b),
            (Other(a), Other(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// A number that rises with every change of a list, dictionary, set, instance, class, cell or module; `None` for the rest.
    ///
    /// What was read from an object still holds while it is the same object ([`Value::is`], so a guard keeps it alive) with the
    /// same version. It tells nothing of the objects inside, which have versions of their own, nor, for an instance, of its class.
    /// A class's version changes with the classes it inherits from too, and no two classes ever have the same.
    pub fn version(&self) -> Option<u64> {
        match self {
            Value::List(list) => Some(list.version.get()),
            Value::Dict(dict) => Some(dict.version.get()),
            Value::Set(set) => Some(set.version.get()),
            Value::Instance(instance) => Some(instance.version()),
            Value::Class(class) => Some(class.version()),
            Value::Cell(cell) => Some(cell.version.get()),
            Value::Module(module) => Some(module.attrs.version.get()),
            _ => None,
        }
    }

    /// A number that tells it from every other value alive: `id()`.
    pub fn address(&self) -> usize {
        fn of<T: ?Sized>(rc: &Rc<T>) -> usize {
            Rc::as_ptr(rc).cast::<u8>() as usize
        }
        match self {
            Value::Unbound => 0,
            Value::None => 0x100,
            Value::NotImplemented => 0x110,
            Value::Ellipsis => 0x120,
            Value::Bool(b) => 0x130 + 0x10 * usize::from(b.get()),
            Value::Int(i) => 0x1000_0000_usize.wrapping_add((*i as usize).wrapping_mul(32)),
            Value::Float(f) => f.get().to_bits() as usize,
            Value::Big(v) => of(v),
            Value::Str(v) => of(v),
            Value::Bytes(v) => of(v),
            Value::List(v) => of(v),
            Value::Tuple(v) => of(v),
            Value::Dict(v) => of(v),
            Value::Set(v) => of(v),
            Value::Range(v) => of(v),
            Value::Slice(v) => of(v),
            Value::Function(v) => of(v),
            Value::Native(v) => of(v),
            Value::Method(v) => of(v),
            Value::Class(v) => of(v),
            Value::Instance(v) => of(v),
            Value::Module(v) => of(v),
            Value::Generator(v) => of(v),
            Value::Iterator(v) => of(v),
            Value::Cell(v) => of(v),
            Value::Code(v) => of(v),
            Value::Other(v) => of(v),
        }
    }

    /// The text of a string, of a subclass's instance too.
    pub fn as_str(&self) -> Option<&str> {
        match self.plain() {
            Value::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The value that an instance of a builtin type's subclass wraps, else the value itself.
    pub fn plain(&self) -> &Value {
        match self {
            Value::Instance(instance) => instance.base_value().unwrap_or(self),
            Value::Other(other) => match &**other {
                Other::Marked(value, node) => {
                    watch::observe(*node, value);
                    value
                }
                _ => self,
            },
            other => other,
        }
    }

    /// What lies under a mark, and its expression.
    #[inline]
    pub fn marked(&self) -> Option<(&Value, u32)> {
        match self {
            Value::Other(other) if watch::CAN => match &**other {
                Other::Marked(value, node) => Some((value, *node)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value without its mark, which decides nothing.
    #[inline]
    pub fn bare(&self) -> &Value {
        self.marked().map_or(self, |(value, _)| value)
    }

    /// As an integer, where it is one (`bool` included).
    pub fn to_big(&self) -> Option<BigInt> {
        match self.plain() {
            Value::Bool(b) => Some(BigInt::from(u8::from(b.get()))),
            Value::Int(i) => Some(BigInt::from(*i)),
            Value::Big(b) => Some((**b).clone()),
            _ => None,
        }
    }

    /// As an `i64`, where it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        match self.plain() {
            Value::Bool(b) => Some(i64::from(b.get())),
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// As a float, where it is a number.
    pub fn to_f64(&self) -> Option<f64> {
        match self.plain() {
            Value::Float(f) => Some(f.get()),
            Value::Bool(b) => Some(f64::from(u8::from(b.get()))),
            Value::Int(i) => Some(*i as f64),
            Value::Big(b) => b.to_f64(),
            _ => None,
        }
    }

    /// Whether it is an integer.
    pub fn is_int(&self) -> bool {
        matches!(self.plain(), Value::Bool(_) | Value::Int(_) | Value::Big(_))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::Int(value as i64)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::str(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::str(value)
    }
}
