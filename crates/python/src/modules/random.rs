//! `_random`: the generator under `random`.

use crate::builtins::{self, Def};
use crate::library::twister::{Twister, WORDS};
use crate::objects::watch::{self, NodeOp};
use crate::objects::{Args, Dict, Exc, Value};
use crate::vm::{Vm, compare};
use std::cell::RefCell;
use std::rc::Rc;

type Cell = RefCell<Twister>;

const METHODS: &[Def] = &[
    Def::new("seed", seed),
    Def::new("random", |_, args| {
        let [this] = args.exactly::<1>("random")?;
        draw(this, Method::Random, &[])
    }),
    Def::new("below", |_, args| {
        let [this, n] = args.exactly::<2>("below")?;
        draw(this, Method::Below, &[n])
    }),
    Def::new("getrandbits", |vm, args| {
        let [this, k] = args.exactly::<2>("getrandbits")?;
        let k = vm.index_of(&k)?;
        let k = usize::try_from(k).map_err(|_| Exc::value("number of bits must be non-negative"))?;
        vm.reserve(k / 8)?;
        with(&this, |t| if k < 64 { Value::Int(t.bits64(k as u32) as i64) } else { Value::big(t.bits(k)) })
    }),
    Def::new("getstate", |_, args| {
        let [this] = args.exactly::<1>("getstate")?;
        with(&this, |t| {
            let (words, next) = t.state();
            let mut state: Vec<Value> = words.iter().map(|&w| Value::Int(i64::from(w))).collect();
            state.push(Value::Int(next as i64));
            Value::tuple(state)
        })
    }),
    Def::new("setstate", setstate),
];

/// How a number is drawn where a stretch of the program that draws it may be repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A float of `[0, 1)`.
    Random,
    /// An integer of `[0, n)`.
    Below,
}

/// A generator as it was.
pub struct Saved(Value, Twister);

impl Saved {
    /// `None` of what is no generator.
    pub fn of(generator: &Value) -> Option<Saved> {
        twister(generator).map(|t| Saved(generator.clone(), t.borrow().clone()))
    }

    /// As if nothing had been drawn since.
    pub fn restore(self) {
        if let Some(t) = twister(&self.0) {
            *t.borrow_mut() = self.1;
        }
    }
}

fn twister(generator: &Value) -> Option<&Cell> {
    match generator {
        Value::Instance(instance) => instance.lasting(),
        _ => None,
    }
}

/// Draws a number.
///
/// # Errors
///
/// A bound that is not positive, or has more than 63 bits.
pub fn next(generator: &Value, method: Method, args: &[Value]) -> Result<Value, Exc> {
    let t = twister(generator).ok_or_else(|| Exc::ty("not a generator"))?;
    let mut t = t.borrow_mut();
    Ok(match method {
        Method::Random => Value::float(t.double()),
        Method::Below => {
            let n = args.first().and_then(Value::to_i64).filter(|n| *n > 0).ok_or_else(|| Exc::value("empty range for randrange()"))?;
            Value::Int(t.below(n as u64) as i64)
        }
    })
}

// Draws a number, and tells who watches.
fn draw(generator: Value, method: Method, args: &[Value]) -> Result<Value, Exc> {
    let value = next(&generator, method, args)?;
    Ok(if watch::on() { watch::mark(NodeOp::Draw(generator, method), args.iter().map(watch::arg).collect(), &value) } else { value })
}

/// The module's namespace: `Random()` makes a generator.
pub fn init(vm: &mut Vm) -> Rc<Dict> {
    let class = builtins::class(vm, "Random", METHODS);
    vm.state.insert("_random", Box::new(class));
    builtins::namespace(vm, &[Def::new("Random", make)])
}

fn make(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [] = args.exactly::<0>("Random")?;
    let class = vm.state.get("_random").and_then(|class| class.downcast_ref::<Rc<crate::objects::Class>>()).cloned();
    let class = class.ok_or_else(|| Exc::ty("_random is not initialised"))?;
    let twister = Twister::from_hash(vm.outside().entropy());
    Ok(vm.host_instance(&class, Cell::new(twister)))
}

fn with(this: &Value, act: impl FnOnce(&mut Twister) -> Value) -> Result<Value, Exc> {
    match this {
        Value::Instance(instance) => match instance.host::<Cell>() {
            Some(cell) => Ok(act(&mut cell.borrow_mut())),
            None => Err(Exc::ty("not a generator")),
        },
        _ => Err(Exc::ty("not a generator")),
    }
}

fn seed(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, value] = args.exactly::<2>("seed")?;
    let seeded = match value.plain() {
        Value::None => Twister::from_hash(vm.outside().entropy()),
        Value::Str(text) => Twister::from_bytes(text.as_str().as_bytes()),
        Value::Bytes(bytes) => Twister::from_bytes(bytes),
        plain @ (Value::Int(_) | Value::Big(_) | Value::Bool(_)) => Twister::from_int(&plain.to_big().unwrap_or_default()),
        plain => Twister::from_hash(compare::hash(plain)?),
    };
    with(&this, |t| {
        *t = seeded;
        Value::None
    })
}

fn setstate(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, state] = args.exactly::<2>("setstate")?;
    let Value::Tuple(state) = &state else { return Err(Exc::ty("state vector must be a tuple")) };
    if state.len() != WORDS + 1 {
        return Err(Exc::value("state vector is the wrong size"));
    }
    let mut words = [0; WORDS];
    for (word, value) in words.iter_mut().zip(state.iter()) {
        *word = vm.index_of(value)? as u32;
    }
    let next = usize::try_from(vm.index_of(&state[WORDS])?).ok();
    let restored = next.and_then(|next| Twister::from_state(words, next)).ok_or_else(|| Exc::value("invalid state"))?;
    with(&this, |t| {
        *t = restored;
        Value::None
    })
}
