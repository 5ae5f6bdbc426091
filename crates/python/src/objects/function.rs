//! Functions in Python, natives, bound methods, and arguments.

use super::{Cell, Dict, Exc, Str, Value, memory};
use crate::bytecode::Code;
use crate::vm::Vm;
use smallvec::SmallVec;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// A function in Python.
pub struct Function {
    pub code: Rc<Code>,
    pub globals: Rc<Dict>,
    pub defaults: RefCell<Vec<Value>>,
    pub kwdefaults: RefCell<Vec<(Rc<Str>, Value)>>,
    pub closure: Vec<Rc<Cell>>,
    pub name: RefCell<Rc<Str>>,
    pub qualname: RefCell<Rc<Str>>,
    pub annotations: RefCell<Value>,
    pub doc: RefCell<Value>,
    pub attrs: OnceCell<Rc<Dict>>,
}

impl Drop for Function {
    fn drop(&mut self) {
        let cells = std::mem::take(&mut self.closure).into_iter().map(Value::Cell);
        memory::bury(std::mem::take(self.defaults.get_mut()).into_iter().chain(cells));
    }
}

/// Positional and keyword arguments.
#[derive(Default)]
pub struct Args {
    pub values: SmallVec<[Value; 4]>,
    pub keywords: Vec<(Rc<Str>, Value)>,
}

impl From<Vec<Value>> for Args {
    fn from(values: Vec<Value>) -> Args {
        Args { values: SmallVec::from_vec(values), keywords: Vec::new() }
    }
}

impl Args {
    /// How many positional ones.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.keywords.is_empty()
    }

    /// Takes a keyword argument.
    pub fn keyword(&mut self, name: &str) -> Option<Value> {
        let place = self.keywords.iter().position(|(key, _)| key.as_str() == name)?;
        Some(self.keywords.remove(place).1)
    }

    /// Raises `TypeError` where keyword arguments are left.
    pub fn no_keywords(&self, function: &str) -> Result<(), Exc> {
        match self.keywords.first() {
            None => Ok(()),
            Some(_) => Err(Exc::ty(format!("{function}() takes no keyword arguments"))),
        }
    }

    /// Exactly `N` positional arguments.
    pub fn exactly<const N: usize>(&mut self, function: &str) -> Result<[Value; N], Exc> {
        self.counted(function, N)?;
        let mut values = self.values.drain(..);
        Ok(std::array::from_fn(|_| values.next().unwrap_or_default()))
    }

    /// Raises `TypeError` for other than so many positional arguments.
    fn counted(&self, function: &str, wanted: usize) -> Result<(), Exc> {
        self.no_keywords(function)?;
        let given = self.values.len();
        if given == wanted {
            return Ok(());
        }
        Err(Exc::ty(match wanted {
            0 => format!("{function}() takes no arguments ({given} given)"),
            1 => format!("{function}() takes exactly one argument ({given} given)"),
            _ => format!("{function} expected {wanted} arguments, got {given}"),
        }))
    }

    /// Binds positional and keyword arguments to `names`; those left out are `Unbound`, which only those after the first
    /// `required` may be. A name that begins with `/` is positional only, one that begins with `*` keyword only.
    pub fn bind<const N: usize>(&mut self, function: &str, names: &[&str; N], required: usize) -> Result<[Value; N], Exc> {
        let mut bound: [Value; N] = std::array::from_fn(|_| Value::Unbound);
        self.bind_all(function, names, required, &mut bound)?;
        Ok(bound)
    }

    /// As [`Args::bind`], once for any number of names.
    fn bind_all(&mut self, function: &str, names: &[&str], required: usize, bound: &mut [Value]) -> Result<(), Exc> {
        let positional = names.iter().filter(|name| !name.starts_with('*')).count();
        // Messages do not count the object that a method is of.
        let object = usize::from(names.first() == Some(&"self"));
        let by_place = names[object..].iter().all(|name| name.starts_with('/'));
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if self.values.len() > positional {
            let (most, given) = (positional - object, self.values.len() - object);
            let least = required.max(object) - object;
            return Err(Exc::ty(match most {
                0 if by_place => format!("{function}() takes no arguments ({given} given)"),
                0 => format!("{function}() takes no positional arguments"),
                _ if by_place && least == most => format!("{function} expected {most} argument{}, got {given}", plural(most)),
                _ if by_place => format!("{function} expected at most {most} argument{}, got {given}", plural(most)),
                _ if names.len() == positional => format!("{function}() takes at most {most} argument{} ({given} given)", plural(most)),
                _ => {
                    let bound = if required == positional { "exactly" } else { "at most" };
                    format!("{function}() takes {bound} {most} positional argument{} ({given} given)", plural(most))
                }
            }));
        }
        if by_place && !self.keywords.is_empty() {
            return Err(Exc::ty(format!("{function}() takes no keyword arguments")));
        }
        let given = self.values.len();
        for (place, value) in self.values.drain(..).enumerate() {
            bound[place] = value;
        }
        for (key, value) in self.keywords.drain(..) {
            let Some(place) = names.iter().position(|name| name.strip_prefix('*').unwrap_or(name) == key.as_str()) else {
                let function = function.rsplit('.').next().unwrap_or(function);
                return Err(Exc::ty(format!("'{}' is an invalid keyword argument for {function}()", key.as_str())));
            };
            if !matches!(bound[place], Value::Unbound) {
                return Err(Exc::ty(format!("argument for {function}() given by name ('{}') and position ({})", key.as_str(), place + 1)));
            }
            bound[place] = value;
        }
        for (place, name) in names.iter().enumerate().take(required) {
            if matches!(bound[place], Value::Unbound) {
                if name.starts_with('/') && given >= object {
                    let (least, given) = (required - object, given - object);
                    let bound = if by_place && required == names.len() { "" } else { "at least " };
                    return Err(Exc::ty(format!("{function} expected {bound}{least} argument{}, got {given}", plural(least))));
                }
                let name = name.trim_start_matches(['/', '*']);
                return Err(Exc::ty(format!("{function}() missing required argument '{name}' (pos {})", place + 1 - object)));
            }
        }
        Ok(())
    }
}

/// A native function.
pub type NativeFn = fn(&mut Vm, &mut Args) -> Result<Value, Exc>;

/// A native's answer to positional arguments where they lie, if it has one at once.
pub type Quick = fn(&Vm, &[Value]) -> Option<Value>;

/// How a native is run.
pub enum Run {
    Fn(NativeFn),
    Closure(Box<dyn Fn(&mut Vm, &mut Args) -> Result<Value, Exc>>),
}

/// A native function with its name.
pub struct Native {
    pub name: Rc<Str>,
    pub run: Run,
    /// The function of the prelude that does what the native cannot ([`super::exception::Signal::Slow`]).
    pub slow: Option<&'static str>,
    /// Asked first: what it does with the arguments it gets most, without an error and without Python code. Where it gives nothing,
    /// and has changed nothing, `run` does all.
    pub quick: Option<Quick>,
    /// Whether it binds to instances when found on a class.
    pub method: bool,
    /// Whether it is a method of a type of numbers, which looks at its object as one.
    pub of_number: bool,
    /// The type it is a method of, for messages; empty for functions.
    pub owner: &'static str,
    pub doc: &'static str,
}

/// A callable bound to its first argument.
pub struct Method {
    pub function: Value,
    pub object: Value,
}

impl Drop for Method {
    fn drop(&mut self) {
        memory::bury([std::mem::take(&mut self.function), std::mem::take(&mut self.object)]);
    }
}
