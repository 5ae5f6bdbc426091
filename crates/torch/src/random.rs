//! Random tensors as PyTorch's generator on a CPU gives them, whatever the device.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::library::torch_random::Generator;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use std::cell::RefCell;
use std::rc::Rc;

use crate::cell::expect;
use crate::convert;
use crate::create::from_values;
use crate::kind::Kind;
use crate::read::{read, sized, with_numbers};
use crate::replay::log;
use crate::state::{classes, state};

pub(crate) type Shared = Rc<RefCell<Generator>>;

/// Functions of `torch._C` that draw numbers.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("manual_seed", |vm, args| sized(vm, args, |vm, args| log::refused(vm, args, "manual_seed", manual_seed))),
    Def::new("initial_seed", initial_seed),
    Def::new("default_generator", default_generator),
    Def::new("uniform", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, uniform))),
    Def::new("normal", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, normal))),
    Def::new("normal_in_order", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, normal_in_order))),
    Def::new("randint", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, randint))),
    Def::new("random64", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, random64))),
    Def::new("uniform64", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, uniform64))),
    Def::new("normal64", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, normal64))),
    Def::new("random", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, random))),
    Def::new("randperm", |vm, args| sized(vm, args, |vm, args| log::draw(vm, args, randperm))),
    Def::new("bernoulli", |vm, args| log::draw(vm, args, bernoulli)),
    Def::new("bernoulli_of", |vm, args| log::refused(vm, args, "bernoulli_of", bernoulli_of)),
    Def::new("exponential", |vm, args| log::draw(vm, args, exponential)),
    Def::new("multinomial", |vm, args| with_numbers(vm, args, |at| at != Ok(0), |vm, args| log::draw_by(vm, args, multinomial))),
    Def::new("swap_generator", |vm, args| log::refused(vm, args, "swap_generator", swap)),
    Def::new("generator", |vm, args| log::refused(vm, args, "generator", generator)),
];

/// Methods of `torch.Generator`.
pub(crate) const METHODS: &[Def] = &[
    Def::new("manual_seed", |vm, args| log::refused(vm, args, "manual_seed", seed_one)),
    Def::new("initial_seed", initial_of),
    Def::new("get_state", |vm, args| log::refused(vm, args, "get_state", state_of)),
    Def::new("set_state", |vm, args| log::refused(vm, args, "set_state", restore)),
    Def::new("clone_state", |vm, args| log::refused(vm, args, "clone_state", clone_of)),
];

fn seed_of(value: &Value) -> Result<u64, Exc> {
    match value.to_i64() {
        Some(seed) => Ok(seed as u64),
        None => match value.to_big() {
            Some(big) => Ok(u64::try_from(big).unwrap_or(0)),
            None => match value.to_f64() {
                Some(v) => Ok(v as i64 as u64),
                None => Err(Exc::ty("manual_seed expected a long")),
            },
        },
    }
}

fn manual_seed(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [seed] = args.exactly::<1>("manual_seed")?;
    let seed = seed_of(&seed)?;
    *state(vm)?.generator.borrow_mut() = Generator::new(seed);
    default_generator(vm, args)
}

fn initial_seed(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let seed = state(vm)?.generator.borrow().seed();
    Ok(Value::Int(seed as i64))
}

fn default_generator(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let (class, shared) = (classes(vm)?.generator.clone(), state(vm)?.generator.clone());
    Ok(vm.host_instance(&class, shared))
}

/// `swap_generator(other)`: the default one's sequence and another's take each other's place.
fn swap(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [other] = args.exactly::<1>("swap_generator")?;
    let (one, other) = (state(vm)?.generator.clone(), shared(&other)?);
    if !Rc::ptr_eq(&one, &other) {
        std::mem::swap(&mut *one.borrow_mut(), &mut *other.borrow_mut());
    }
    Ok(Value::None)
}

fn generator(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let class = classes(vm)?.generator.clone();
    let shared: Shared = Rc::new(RefCell::new(Generator::new(67_280_421_310_721)));
    Ok(vm.host_instance(&class, shared))
}

fn shared(value: &Value) -> Result<Shared, Exc> {
    match value {
        Value::Instance(instance) => instance.lasting::<Shared>().cloned(),
        _ => None,
    }
    .ok_or_else(|| Exc::ty("expected a torch.Generator"))
}

fn seed_one(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, seed] = args.exactly::<2>("manual_seed")?;
    *shared(&this)?.borrow_mut() = Generator::new(seed_of(&seed)?);
    Ok(this)
}

fn initial_of(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("initial_seed")?;
    let seed = shared(&this)?.borrow().seed();
    Ok(Value::Int(seed as i64))
}

fn clone_of(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("clone_state")?;
    let copy: Shared = Rc::new(RefCell::new(shared(&this)?.borrow().clone()));
    let class = classes(vm)?.generator.clone();
    Ok(vm.host_instance(&class, copy))
}

/// `get_state()`: a tensor of bytes, which PyTorch reads too.
fn state_of(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("get_state")?;
    let bytes: Vec<f64> = shared(&this)?.borrow().to_bytes().into_iter().map(f64::from).collect();
    let n = bytes.len();
    from_values(vm, &bytes, vec![n], Kind::UInt8)
}

fn restore(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, from] = args.exactly::<2>("set_state")?;
    let given = expect(&from, "set_state")?;
    if given.kind() != Kind::UInt8 {
        return Err(Exc::ty("RNG state must be a torch.ByteTensor"));
    }
    let (value, generator) = (given.get()?.detach(), shared(&this)?);
    read(vm, vec![value], move |_, values| {
        let bytes: Vec<u8> = values[0].iter().map(|v| *v as u8).collect();
        let state = Generator::from_bytes(&bytes).ok_or_else(|| Exc::new(ExcKind::RuntimeError, "RNG state is wrong size"))?;
        *generator.borrow_mut() = state;
        Ok(this)
    })
}

/// The states of the generators that draws with some arguments use.
pub(crate) fn save<'v>(vm: &mut Vm, arguments: impl Iterator<Item = &'v Value>) -> Result<Vec<(Shared, Generator)>, Exc> {
    let mut all: Vec<Shared> = arguments.filter_map(|v| shared(v).ok()).collect();
    all.push(state(vm)?.generator.clone());
    Ok(all.into_iter().map(|g| (g.clone(), g.borrow().clone())).collect())
}

fn source(vm: &mut Vm, given: &Value) -> Result<Shared, Exc> {
    match given {
        Value::Unbound | Value::None => Ok(state(vm)?.generator.clone()),
        given => shared(given),
    }
}

/// Draws `n` numbers, as doubles are drawn or as floats are.
fn draw(
    vm: &mut Vm,
    name: &'static str,
    args: &mut Args,
    singles: fn(&mut Generator, &mut [f32], f32, f32),
    doubles: fn(&mut Generator, &mut [f64], f64, f64),
) -> Result<Value, Exc> {
    let [size, a, b, dtype, given] = args.bind(name, &["size", "a", "b", "dtype", "generator"], 3)?;
    let size = convert::sizes(&[size], name)?;
    let kind = match convert::opt_kind(&dtype, name)? {
        Some(kind) => kind,
        None => state(vm)?.default_kind,
    };
    if !kind.is_float() {
        return Err(Exc::new(ExcKind::RuntimeError, format!("\"{name}\" not implemented for '{}'", kind.name())));
    }
    let number = |v: &Value| v.to_f64().or_else(|| convert::host_number(v)).ok_or_else(|| Exc::ty(format!("{name}(): expected numbers")));
    let (a, b) = (number(&a)?, number(&b)?);
    let shape: Vec<usize> = size.iter().map(|n| *n as usize).collect();
    if state(vm)?.meta {
        // Nothing is drawn for tensors without elements.
        let device = state(vm)?.device.clone();
        return crate::state::wrap(vm, aludel_tensor::Tensor::full(&device, size, 0.0, kind.dtype()).map_err(crate::state::raise)?, kind);
    }
    let n: usize = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).unwrap_or(usize::MAX);
    vm.reserve(n.saturating_mul(8))?;
    let source = source(vm, &given)?;
    let mut source = source.borrow_mut();
    let values: Vec<f64> = if kind == Kind::Float64 {
        let mut out = vec![0.0f64; n];
        doubles(&mut source, &mut out, a, b);
        out
    } else {
        let mut out = vec![0.0f32; n];
        singles(&mut source, &mut out, a as f32, b as f32);
        out.into_iter().map(f64::from).collect()
    };
    drop(source);
    from_values(vm, &values, shape, kind)
}

fn uniform(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    draw(vm, "uniform_", args, Generator::uniform_f32, Generator::uniform_f64)
}

/// As `normal`, of a tensor that does not lie in the order of its dimensions: PyTorch draws one number after another there.
fn normal_in_order(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    draw(
        vm,
        "normal_",
        args,
        |source, out, a, b| out.chunks_mut(8).for_each(|part| source.normal_f32(part, a, b)),
        |source, out, a, b| out.chunks_mut(8).for_each(|part| source.normal_f64(part, a, b)),
    )
}

fn normal(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    draw(vm, "normal_", args, Generator::normal_f32, Generator::normal_f64)
}

/// `draws(size, generator, f)`: one number after another.
fn each(vm: &mut Vm, size: &Value, given: &Value, kind: Kind, mut f: impl FnMut(&mut Generator) -> f64) -> Result<Value, Exc> {
    let shape: Vec<usize> = convert::sizes(std::slice::from_ref(size), "size")?.iter().map(|n| *n as usize).collect();
    let n = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).unwrap_or(usize::MAX);
    vm.reserve(n.saturating_mul(8))?;
    let source = source(vm, given)?;
    let values: Vec<f64> = {
        let mut source = source.borrow_mut();
        (0..n).map(|_| f(&mut source)).collect()
    };
    from_values(vm, &values, shape, kind)
}

fn randint(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size, low, high, dtype, given] = args.bind("randint", &["size", "low", "high", "dtype", "generator"], 3)?;
    let kind = convert::opt_kind(&dtype, "randint")?.unwrap_or(Kind::Int64);
    let bound = |v: &Value| convert::int(v).ok_or_else(|| Exc::ty("randint(): low and high must be int"));
    let (low, high) = (bound(&low)?, bound(&high)?);
    if low >= high {
        return Err(Exc::new(
            ExcKind::RuntimeError,
            format!("random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"),
        ));
    }
    each(vm, &size, &given, kind, |g| g.randint(low, high).unwrap_or(low) as f64)
}

/// One number from 0 to 1 as a double, which distributions draw with on the host: no tensor is made of it.
fn uniform64(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    double(vm, "uniform_", args, |source, out| source.uniform_f64(out, 0.0, 1.0))
}

/// As `uniform64`, of the standard normal distribution.
fn normal64(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    double(vm, "normal_", args, |source, out| source.normal_f64(out, 0.0, 1.0))
}

fn double(vm: &mut Vm, name: &'static str, args: &mut Args, draw: fn(&mut Generator, &mut [f64])) -> Result<Value, Exc> {
    let [given] = args.bind(name, &["generator"], 0)?;
    let mut out = [0.0];
    draw(&mut source(vm, &given)?.borrow_mut(), &mut out);
    Ok(out[0].into())
}

/// One number of 63 bits, as `torch.empty((), dtype=torch.int64).random_()` draws it.
fn random64(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [given] = args.bind("random_", &["generator"], 0)?;
    let word = source(vm, &given)?.borrow_mut().word64();
    Ok(Value::Int((word & (i64::MAX as u64)) as i64))
}

/// `random(size, dtype, generator)`: `Tensor.random_()` over all whole numbers that a type holds exactly.
fn random(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size, dtype, given] = args.bind("random_", &["size", "dtype", "generator"], 2)?;
    let kind = convert::opt_kind(&dtype, "random_")?.unwrap_or(Kind::Float32);
    let numbers: u64 = match kind {
        Kind::UInt32 | Kind::UInt64 | Kind::Int64 => {
            let text = "random_() of int64 draws 63 bits, and integers have 32 here; draw torch.randint(2**31 - 1, shape)";
            return Err(Exc::new(ExcKind::NotImplementedError, text));
        }
        Kind::Bool => 2,
        Kind::UInt8 => 1 << 8,
        Kind::Int8 => 1 << 7,
        Kind::UInt16 => 1 << 16,
        Kind::Int16 => 1 << 15,
        Kind::Int32 => 1 << 31,
        Kind::BFloat16 => (1 << 8) + 1,
        Kind::Float16 => (1 << 11) + 1,
        Kind::Float32 => (1 << 24) + 1,
        Kind::Complex64 => return Err(Exc::new(ExcKind::RuntimeError, "\"random_\" not implemented for 'ComplexFloat'")),
        Kind::Float64 => {
            return each(vm, &size, &given, kind, |g| (g.word64() % ((1 << 53) + 1)) as f64);
        }
    };
    each(vm, &size, &given, kind, |g| (u64::from(g.word()) % numbers) as f64)
}

fn randperm(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [n, given] = args.bind("randperm", &["n", "generator"], 1)?;
    let n = convert::int(&n).and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Exc::ty("randperm(): n must be a non-negative int"))?;
    vm.reserve(n.saturating_mul(16))?;
    let order = source(vm, &given)?.borrow_mut().randperm(n);
    let values: Vec<f64> = order.into_iter().map(|v| v as f64).collect();
    from_values(vm, &values, vec![n], Kind::Int64)
}

fn bernoulli(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size, p, dtype, given] = args.bind("bernoulli_", &["size", "p", "dtype", "generator"], 2)?;
    let kind = convert::opt_kind(&dtype, "bernoulli_")?.unwrap_or(Kind::Float32);
    let p = p.to_f64().ok_or_else(|| Exc::ty("bernoulli_(): p must be a number"))?;
    each(vm, &size, &given, kind, |g| f64::from(u8::from(g.bernoulli(p))))
}

/// `bernoulli_of(x, generator)`: of each probability in a tensor.
fn bernoulli_of(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, given] = args.bind("bernoulli", &["input", "generator"], 1)?;
    let from = expect(&x, "bernoulli")?;
    let (value, kind) = (from.get()?, from.kind());
    let (shape, source) = (value.shape(), source(vm, &given)?);
    read(vm, vec![value], move |vm, values| {
        let drawn: Vec<f64> = {
            let mut source = source.borrow_mut();
            values[0].iter().map(|p| f64::from(u8::from(source.bernoulli_f32(*p as f32)))).collect()
        };
        from_values(vm, &drawn, shape, kind)
    })
}

fn exponential(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size, rate, given] = args.bind("exponential_", &["size", "lambd", "generator"], 2)?;
    let rate = rate.to_f64().ok_or_else(|| Exc::ty("exponential_(): lambd must be a number"))?;
    each(vm, &size, &given, Kind::Float32, |g| g.exponential(rate))
}

/// `multinomial(weights, count, replacement, generator)` of the rows of a tensor.
fn multinomial(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, count, replacement, given] = args.bind("multinomial", &["input", "num_samples", "replacement", "generator"], 2)?;
    let value = expect(&x, "multinomial")?.get()?;
    let count = convert::int(&count)
        .filter(|n| *n > 0)
        .ok_or_else(|| Exc::new(ExcKind::RuntimeError, "cannot sample n_sample <= 0 samples"))? as usize;
    let replacement = replacement.is(&Value::bool(true));
    let shape = value.shape();
    let Some(width) = shape.last().copied().filter(|n| *n > 0 && shape.len() <= 2) else {
        return Err(Exc::new(ExcKind::RuntimeError, "prob_dist must be 1 or 2 dim"));
    };
    if !replacement && count > width {
        return Err(Exc::new(ExcKind::RuntimeError, "cannot sample n_sample > prob_dist.size(-1) samples without replacement"));
    }
    let rows = shape[..shape.len() - 1].iter().product::<usize>();
    vm.reserve(rows.saturating_mul(count).saturating_mul(size_of::<f64>()))?;
    let source = source(vm, &given)?;
    read(vm, vec![value], move |vm, values| {
        if values[0].iter().any(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Exc::new(ExcKind::RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0"));
        }
        let weights: Vec<f32> = values[0].iter().map(|w| *w as f32).collect();
        let mut drawn = Vec::new();
        for row in weights.chunks(width) {
            if row.iter().all(|w| *w == 0.0) {
                return Err(Exc::new(ExcKind::RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)"));
            }
            drawn.extend(source.borrow_mut().multinomial(row, count, replacement).into_iter().map(|i| i as f64));
        }
        let mut out = shape[..shape.len() - 1].to_vec();
        out.push(count);
        from_values(vm, &drawn, out, Kind::Int64)
    })
}
