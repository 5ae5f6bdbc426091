//! `numpy.random`: NumPy's own sequences of `RandomState`.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::library::numpy_random::RandomState;
use aludel_python::objects::{Args, Class, Exc, Kind as ExcKind, Value};
use std::cell::RefCell;
use std::rc::Rc;

use super::array::{Array, Type, count, wrap};
use crate::convert;

type Shared = RefCell<RandomState>;

pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("state", make),
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
        Value::None => RandomState::new(vm.host.entropy() as u32),
        seed => {
            let words: Option<Vec<u32>> = convert::ints(seed).and_then(|v| v.iter().map(|v| u32::try_from(*v).ok()).collect());
            let single = seed.to_i64().is_some();
            match words.as_deref() {
                Some([one]) if single => RandomState::new(*one),
                Some(words) => RandomState::from_key(words),
                None => return Err(Exc::value("Seed must be between 0 and 2**32 - 1")),
            }
        }
    };
    let class = vm.state.get("numpy.random").and_then(|s| s.downcast_ref::<Rc<Class>>()).cloned();
    let class = class.ok_or_else(|| Exc::new(ExcKind::ImportError, "numpy is not imported"))?;
    Ok(vm.host_instance(&class, RefCell::new(made)))
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
        "exponential" => state.borrow_mut().exponential(1.0),
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
    filled(vm, &size, Type::I64, || state.borrow_mut().randint(low, high).unwrap_or(low) as f64)
}

/// The order of `n` things.
fn permutation(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, n, shuffle] = args.exactly::<3>("permutation")?;
    let n = n.to_i64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Exc::ty("permutation() needs a count"))?;
    vm.reserve(n * 16)?;
    let mut state = state(&of)?.borrow_mut();
    let order = if matches!(shuffle, Value::Bool(b) if b.get()) {
        let mut order: Vec<usize> = (0..n).collect();
        state.shuffle(&mut order);
        order
    } else {
        state.permutation(n)
    };
    drop(state);
    wrap(vm, Array::new(order.into_iter().map(|i| i as f64).collect(), vec![n], Type::I64))
}

/// `choice(state, n, count, replace, weights)`: which of `n` things.
fn choice(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [of, n, size, replace, weights] = args.exactly::<5>("choice")?;
    let shape = shape_of(&size)?;
    let (count, replace) = (count(&shape)?, matches!(replace, Value::Bool(b) if b.get()));
    let n = n.to_i64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).ok_or_else(|| Exc::value("a must be greater than 0"))?;
    if !replace && count > n {
        return Err(Exc::value("Cannot take a larger sample than population when 'replace=False'"));
    }
    let state = state(&of)?;
    let made = match convert::sequence(&weights) {
        Some(weights) => {
            let weights: Vec<f64> = weights.iter().filter_map(Value::to_f64).collect();
            if weights.len() != n {
                return Err(Exc::value("'a' and 'p' must have same size"));
            }
            if !replace {
                return Err(Exc::new(ExcKind::NotImplementedError, "numpy.random.choice with probabilities and without replacement"));
            }
            state.borrow_mut().weighted_choice(&weights, count)
        }
        None => state.borrow_mut().choice(n, count, replace),
    };
    if matches!(size, Value::None) {
        return Ok(Value::from(made[0]));
    }
    wrap(vm, Array::new(made.into_iter().map(|i| i as f64).collect(), shape, Type::I64))
}
