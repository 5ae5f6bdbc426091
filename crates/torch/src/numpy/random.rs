//! `numpy.random`: NumPy's own sequences of `RandomState` and of `default_rng`.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::library::twister::{Twister, WORDS};
use aludel_python::objects::{Args, Class, Exc, Kind as ExcKind, Value};
use std::cell::RefCell;
use std::rc::Rc;

use super::array::{Array, Type, count, wrap};
use super::generator::Generator;
use super::legacy::Legacy;
use crate::convert;

/// Where numbers come from.
enum Source {
    Legacy(Box<Legacy>),
    Generator(Generator),
}

impl Source {
    fn double(&mut self) -> f64 {
        match self {
            Source::Legacy(r) => r.twister.double(),
            Source::Generator(r) => r.double(),
        }
    }

    fn gauss(&mut self) -> f64 {
        match self {
            Source::Legacy(r) => r.gauss(),
            Source::Generator(r) => r.gauss(),
        }
    }

    fn exponential(&mut self) -> f64 {
        match self {
            Source::Legacy(r) => -(1.0 - r.twister.double()).ln(),
            Source::Generator(r) => r.exponential(),
        }
    }

    fn at_most(&mut self, most: u64) -> u64 {
        match self {
            Source::Legacy(r) => r.at_most(most),
            Source::Generator(r) => r.at_most(most),
        }
    }

    fn permutation(&mut self, n: usize) -> Vec<usize> {
        match self {
            Source::Legacy(r) => r.permutation(n),
            Source::Generator(r) => r.permutation(n),
        }
    }

    fn choice(&mut self, n: usize, count: usize, replace: bool) -> Vec<usize> {
        match self {
            Source::Legacy(r) => r.choice(n, count, replace),
            Source::Generator(r) if !replace => r.choose(n, count),
            Source::Generator(r) => (0..count).map(|_| r.at_most(n as u64 - 1) as usize).collect(),
        }
    }
}

type Shared = RefCell<Source>;

pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("seed_words", seed_words),
    Def::new("state", make),
    Def::new("generator", generator),
    Def::new("state_of", state_of),
    Def::new("set_state", set_state),
    Def::new("draw", draw),
    Def::new("randint", randint),
    Def::new("permutation", permutation),
    Def::new("choice", choice),
];

fn state(value: &Value) -> Result<&Shared, Exc> {
    match value {
        Value::Instance(instance) => instance.host().ok_or_else(|| Exc::ty("expected a RandomState")),
        _ => Err(Exc::ty("expected a RandomState")),
    }
}

/// `state(seed)`: of a number below 2^32 or a list of them; `None` draws one.
fn make(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [seed] = args.exactly::<1>("seed")?;
    let made = match &seed {
        Value::None => Twister::from_word(vm.outside().entropy() as u32),
        seed => {
            let words: Option<Vec<u32>> = convert::ints(seed).and_then(|v| v.iter().map(|v| u32::try_from(*v).ok()).collect());
            let single = seed.to_i64().is_some();
            match words.as_deref() {
                Some([one]) if single => Twister::from_word(*one),
                Some(words) => Twister::from_key(words),
                None => return Err(Exc::value("Seed must be between 0 and 2**32 - 1")),
            }
        }
    };
    source(vm, Source::Legacy(Box::new(Legacy::new(made))))
}

/// `seed_words(entropy)`: four words of `SeedSequence(entropy)`.
fn seed_words(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [entropy] = args.exactly::<1>("seed_words")?;
    let entropy: Vec<u32> = convert::ints(&entropy).unwrap_or_default().iter().map(|v| *v as u32).collect();
    let [first, second, ..] = super::generator::seed_sequence(&entropy);
    Ok(Value::tuple([first, first >> 32, second, second >> 32].iter().map(|w| Value::Int((w & 0xffff_ffff) as i64)).collect()))
}

fn source(vm: &mut Vm, made: Source) -> Result<Value, Exc> {
    let class = vm.state.get("numpy.random").and_then(|s| s.downcast_ref::<Rc<Class>>()).cloned();
    let class = class.ok_or_else(|| Exc::new(ExcKind::ImportError, "numpy is not imported"))?;
    Ok(vm.host_instance(&class, RefCell::new(made)))
}

/// `generator(words)`: of the seed's words of 32 bits, the low one first; `None` draws them.
fn generator(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [seed] = args.exactly::<1>("default_rng")?;
    let words: Vec<u32> = match &seed {
        Value::None => vec![vm.outside().entropy() as u32],
        seed => convert::ints(seed)
            .and_then(|v| v.iter().map(|v| u32::try_from(*v).ok()).collect())
            .ok_or_else(|| Exc::value("expected non-negative integer"))?,
    };
    source(vm, Source::Generator(Generator::new(&words)))
}

/// `state_of(state)`: its words of 32 bits, and the normal number that waits. Words of the twister are followed by the next one's place;
/// of PCG64 by its increment, whether half of a word waits, and that half; numbers come low words first.
fn state_of(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of] = args.exactly::<1>("get_state")?;
    let (words, gauss) = match &*state(&of)?.borrow() {
        Source::Legacy(r) => {
            let (words, next) = r.twister.state();
            (words.iter().copied().chain([next as u32]).collect(), r.gauss)
        }
        Source::Generator(r) => (r.state(), None),
    };
    let words = words.into_iter().map(|w| Value::Int(i64::from(w))).collect();
    Ok(Value::tuple(vec![Value::list(words), gauss.map_or(Value::None, Value::float)]))
}

/// `set_state(state, words, gauss)`: what `state_of` gave.
fn set_state(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, words, gauss] = args.exactly::<3>("set_state")?;
    let words: Option<Vec<u32>> = convert::ints(&words).and_then(|v| v.iter().map(|v| u32::try_from(*v).ok()).collect());
    let made = words.and_then(|words| match &*state(&of).ok()?.borrow() {
        Source::Legacy(_) => {
            let (words, next) = words.split_first_chunk::<WORDS>().and_then(|(w, rest)| Some((*w, *rest.first()? as usize)))?;
            Some(Source::Legacy(Box::new(Legacy { twister: Twister::from_state(words, next)?, gauss: gauss.to_f64() })))
        }
        Source::Generator(r) => r.in_state(&words).map(Source::Generator),
    });
    *state(&of)?.borrow_mut() = made.ok_or_else(|| Exc::value("state is not a legacy MT19937 state"))?;
    Ok(Value::None)
}

fn shape_of(value: &Value) -> Result<Vec<usize>, Exc> {
    match value {
        Value::None => Ok(Vec::new()),
        value => {
            let list = convert::ints(value).ok_or_else(|| Exc::ty("a size must be an integer or a tuple of integers"))?;
            list.iter().map(|n| usize::try_from(*n).map_err(|_| Exc::value("negative dimensions are not allowed"))).collect()
        }
    }
}

fn filled(vm: &mut Vm, size: &Value, kind: Type, mut next: impl FnMut() -> f64) -> Result<Value, Exc> {
    let shape = shape_of(size)?;
    let n = count(&shape)?;
    vm.reserve(n * 8)?;
    if matches!(size, Value::None) {
        return Ok(kind.python(next()));
    }
    let values = (0..n).map(|_| next()).collect();
    wrap(vm, Array::new(values, shape, kind))
}

/// `draw(state, name, size)`: `random`, `normal` or `exponential`.
fn draw(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, name, size] = args.exactly::<3>("draw")?;
    let state = state(&of)?;
    let name = name.as_str().unwrap_or_default();
    filled(vm, &size, Type::F64, || match name {
        "normal" => state.borrow_mut().gauss(),
        "exponential" => state.borrow_mut().exponential(),
        _ => state.borrow_mut().double(),
    })
}

fn randint(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, low, high, size] = args.exactly::<4>("randint")?;
    let state = state(&of)?;
    let (Some(low), Some(high)) = (low.to_i64(), high.to_i64()) else { return Err(Exc::ty("randint() needs integers")) };
    if low >= high {
        return Err(Exc::value("low >= high"));
    }
    let most = high.wrapping_sub(1).wrapping_sub(low) as u64;
    filled(vm, &size, Type::I64, || low.wrapping_add(state.borrow_mut().at_most(most) as i64) as f64)
}

/// The order of `n` things.
fn permutation(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, n] = args.exactly::<2>("permutation")?;
    let n = n.to_i64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Exc::ty("permutation() needs a count"))?;
    vm.reserve(n * 16)?;
    let order = state(&of)?.borrow_mut().permutation(n);
    wrap(vm, Array::new(order.into_iter().map(|i| i as f64).collect(), vec![n], Type::I64))
}

/// `choice(state, n, count, replace)`: which of `n` things.
fn choice(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, n, size, replace] = args.exactly::<4>("choice")?;
    let shape = shape_of(&size)?;
    let (count, replace) = (count(&shape)?, matches!(replace, Value::Bool(b) if b.get()));
    let n = n.to_i64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).ok_or_else(|| Exc::value("a must be greater than 0"))?;
    if !replace && count > n {
        return Err(Exc::value("Cannot take a larger sample than population when 'replace=False'"));
    }
    let state = state(&of)?;
    let made = state.borrow_mut().choice(n, count, replace);
    if matches!(size, Value::None) {
        return Ok(Value::from(made[0]));
    }
    wrap(vm, Array::new(made.into_iter().map(|i| i as f64).collect(), shape, Type::I64))
}
