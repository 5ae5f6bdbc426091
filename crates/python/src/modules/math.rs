//! `math`.

use crate::builtins::{Def, namespace};
use crate::library::math;
use crate::objects::{Args, Dict, Exc, Kind, Value};
use crate::text::Failure;
use crate::vm::Vm;
use crate::vm::number::bounded;
use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};
use std::rc::Rc;

/// A function of one number whose errors show in its result; the flag says whether an infinite one is an overflow.
macro_rules! real {
    ($name:literal, $overflows:literal, $f:expr) => {
        Def::new($name, |vm, args| {
            let [x] = args.exactly::<1>(concat!("math.", $name))?;
            let x = number(vm, &x)?;
            Ok(Value::float(math::checked(x, $overflows, $f)?))
        })
        .quick(|_, args| {
            let [Value::Float(x)] = args else { return None };
            Some($f(x.get())).filter(|y: &f64| y.is_finite()).map(Value::float)
        })
    };
}

/// A function of one number that tells something of it.
macro_rules! test {
    ($name:literal, $f:expr) => {
        Def::new($name, |vm, args| {
            let [x] = args.exactly::<1>(concat!("math.", $name))?;
            Ok(Value::bool($f(number(vm, &x)?)))
        })
    };
}

/// A function of two numbers.
macro_rules! pair {
    ($name:literal, $f:expr) => {
        Def::new($name, |vm, args| {
            let [x, y] = args.exactly::<2>($name)?;
            let f: fn(f64, f64) -> Result<f64, Failure> = $f;
            Ok(Value::float(f(number(vm, &x)?, number(vm, &y)?)?))
        })
    };
}

const FUNCTIONS: &[Def] = &[
    real!("sqrt", false, f64::sqrt),
    real!("cbrt", false, f64::cbrt),
    real!("exp", true, f64::exp),
    real!("exp2", true, f64::exp2),
    real!("expm1", true, f64::exp_m1),
    real!("log1p", false, f64::ln_1p),
    real!("sin", false, f64::sin),
    real!("cos", false, f64::cos),
    real!("tan", false, f64::tan),
    real!("asin", false, f64::asin),
    real!("acos", false, f64::acos),
    real!("atan", false, f64::atan),
    real!("sinh", true, f64::sinh),
    real!("cosh", true, f64::cosh),
    real!("tanh", false, f64::tanh),
    real!("asinh", false, libm::asinh),
    real!("acosh", false, libm::acosh),
    real!("atanh", false, libm::atanh),
    real!("fabs", false, f64::abs),
    real!("degrees", false, |x| x * (180.0 / std::f64::consts::PI)),
    real!("radians", false, |x| x * (std::f64::consts::PI / 180.0)),
    real!("erf", false, libm::erf),
    real!("erfc", false, libm::erfc),
    real!("ulp", false, math::ulp),
    test!("isnan", f64::is_nan),
    test!("isinf", f64::is_infinite),
    test!("isfinite", f64::is_finite),
    pair!("atan2", |y, x| Ok(y.atan2(x))),
    pair!("copysign", |x, y| Ok(x.copysign(y))),
    pair!("remainder", math::remainder),
    pair!("nextafter", |x, y| Ok(math::next_after(x, y))),
    pair!("fmod", |x, y| {
        let r = if y.is_infinite() && x.is_finite() { x } else { x % y };
        if r.is_nan() && !x.is_nan() && !y.is_nan() { Err(math::domain()) } else { Ok(r) }
    }),
    pair!("pow", pow),
    Def::new("gamma", |vm, args| {
        let [x] = args.exactly::<1>("math.gamma")?;
        Ok(Value::float(math::gamma(number(vm, &x)?)?))
    }),
    Def::new("lgamma", |vm, args| {
        let [x] = args.exactly::<1>("math.lgamma")?;
        Ok(Value::float(math::lgamma(number(vm, &x)?)?))
    }),
    Def::new("log", log),
    Def::new("log2", |vm, args| {
        let [x] = args.exactly::<1>("math.log2")?;
        logarithm(vm, &x, f64::log2)
    }),
    Def::new("log10", |vm, args| {
        let [x] = args.exactly::<1>("math.log10")?;
        logarithm(vm, &x, f64::log10)
    }),
    Def::new("floor", |vm, args| whole(vm, args, "floor", f64::floor)),
    Def::new("ceil", |vm, args| whole(vm, args, "ceil", f64::ceil)),
    Def::new("trunc", |vm, args| whole(vm, args, "trunc", f64::trunc)),
    Def::new("modf", |vm, args| {
        let [x] = args.exactly::<1>("math.modf")?;
        let x = number(vm, &x)?;
        let rest = if x.is_infinite() { 0f64.copysign(x) } else { x.fract().copysign(x) };
        Ok(Value::tuple(vec![Value::float(rest), Value::float(x.trunc())]))
    }),
    Def::new("frexp", |vm, args| {
        let [x] = args.exactly::<1>("math.frexp")?;
        let (mantissa, exponent) = math::frexp(number(vm, &x)?);
        Ok(Value::tuple(vec![Value::float(mantissa), Value::Int(i64::from(exponent))]))
    }),
    Def::new("ldexp", |vm, args| {
        let [x, exponent] = args.exactly::<2>("ldexp")?;
        let exponent = integer(vm, &exponent)?;
        let clamped = exponent.to_i64().unwrap_or(if exponent.sign() == num_bigint::Sign::Minus { i64::MIN } else { i64::MAX });
        Ok(Value::float(math::ldexp(number(vm, &x)?, clamped)?))
    }),
    Def::new("isclose", |vm, args| {
        let [a, b, relative, absolute] = args.bind("isclose", &["a", "b", "*rel_tol", "*abs_tol"], 2)?;
        let or = |value: &Value, default: f64| if matches!(value, Value::Unbound) { Ok(default) } else { number(vm, value) };
        let (relative, absolute) = (or(&relative, 1e-9)?, or(&absolute, 0.0)?);
        Ok(Value::bool(math::isclose(number(vm, &a)?, number(vm, &b)?, relative, absolute)?))
    }),
    Def::new("hypot", |vm, args| {
        args.no_keywords("math.hypot")?;
        let numbers: Result<Vec<f64>, Exc> = args.values.iter().map(|v| number(vm, v)).collect();
        Ok(Value::float(math::norm(&numbers?)))
    }),
    Def::new("dist", |vm, args| {
        let [p, q] = args.exactly::<2>("dist")?;
        let (p, q) = (floats(vm, &p)?, floats(vm, &q)?);
        if p.len() != q.len() {
            return Err(Exc::value("both points must have the same number of dimensions"));
        }
        let differences: Vec<f64> = p.iter().zip(&q).map(|(a, b)| a - b).collect();
        Ok(Value::float(math::norm(&differences)))
    })
    .slow(""),
    Def::new("fsum", |vm, args| {
        let [items] = args.exactly::<1>("math.fsum")?;
        Ok(Value::float(math::fsum(&floats(vm, &items)?)?))
    })
    .slow(""),
    Def::new("prod", |vm, args| {
        let [items, start] = args.bind("prod", &["iterable", "*start"], 1)?;
        let start = if matches!(start, Value::Unbound) { Value::Int(1) } else { start };
        let items = vm.items_of(&items)?;
        if items.iter().chain([&start]).any(is_object) {
            return Err(Exc::slow());
        }
        items.into_iter().try_fold(start, |product, item| vm.binary(crate::bytecode::Binary::Mul, product, item))
    })
    .slow("_prod"),
    Def::new("sumprod", |vm, args| {
        let [p, q] = args.exactly::<2>("sumprod")?;
        let (p, q) = (vm.items_of(&p)?, vm.items_of(&q)?);
        if p.len() != q.len() {
            return Err(Exc::value("Inputs are not the same length"));
        }
        if p.iter().chain(&q).any(is_object) {
            return Err(Exc::slow());
        }
        let mut sum = Value::Int(0);
        for (a, b) in p.into_iter().zip(q) {
            let term = vm.binary(crate::bytecode::Binary::Mul, a, b)?;
            sum = vm.binary(crate::bytecode::Binary::Add, sum, term)?;
        }
        Ok(sum)
    })
    .slow("_sumprod"),
    Def::new("gcd", |vm, args| Ok(Value::big(math::gcd(&bounded_integers(vm, args)?)))),
    Def::new("lcm", |vm, args| Ok(Value::big(math::lcm(&bounded_integers(vm, args)?)))),
    Def::new("factorial", |vm, args| {
        let [n] = args.exactly::<1>("math.factorial")?;
        Ok(Value::big(math::factorial(&integer(vm, &n)?)?))
    }),
    Def::new("isqrt", |vm, args| {
        let [n] = args.exactly::<1>("math.isqrt")?;
        let n = integer(vm, &n)?;
        bounded(n.bits(), n.bits(), 44)?;
        Ok(Value::big(math::isqrt(&n)?))
    }),
    Def::new("comb", |vm, args| {
        let [n, k] = args.exactly::<2>("comb")?;
        Ok(Value::big(math::comb(&integer(vm, &n)?, &integer(vm, &k)?)?))
    }),
    Def::new("perm", |vm, args| {
        let [n, k] = args.bind("perm", &["/n", "/k"], 1)?;
        let n = integer(vm, &n)?;
        if matches!(k, Value::Unbound | Value::None) {
            return Ok(Value::big(math::factorial(&n)?));
        }
        Ok(Value::big(math::perm(&n, &integer(vm, &k)?)?))
    }),
];

/// They take what has `__index__`, as methods of builtin types do.
pub(crate) const INTEGERS: &[&str] = &["gcd", "lcm", "factorial", "isqrt", "comb", "perm"];

/// The module's namespace.
pub fn init(vm: &mut Vm) -> Rc<Dict> {
    // All of them run again once an object has become a number.
    let functions: Vec<Def> =
        FUNCTIONS.iter().map(|f| Def { slow: f.slow.or(if INTEGERS.contains(&f.name) { None } else { Some("") }), ..*f }).collect();
    let module = namespace(vm, &functions);
    module.set("pi", Value::float(std::f64::consts::PI));
    module.set("e", Value::float(std::f64::consts::E));
    module.set("tau", Value::float(std::f64::consts::TAU));
    module.set("inf", Value::float(f64::INFINITY));
    module.set("nan", Value::float(f64::NAN));
    module
}

/// Its arithmetic is Python code.
fn is_object(value: &Value) -> bool {
    matches!(value, Value::Instance(_))
}

/// `float(value)` of a number, or of an object that has one.
fn number(vm: &Vm, value: &Value) -> Result<f64, Exc> {
    vm.float_of(value).map_err(|error| {
        let has = |name| vm.special(value, name).is_some();
        if has(&vm.names.float) || has(&vm.names.index) { Exc::number(value.clone()) } else { error }
    })
}

fn pow(x: f64, y: f64) -> Result<f64, Failure> {
    let r = x.powf(y);
    if !x.is_finite() || !y.is_finite() {
        return Ok(r);
    }
    if r.is_nan() || r.is_infinite() && x == 0.0 {
        return Err(math::domain());
    }
    if r.is_infinite() { Err(math::range()) } else { Ok(r) }
}

fn integer(vm: &Vm, value: &Value) -> Result<BigInt, Exc> {
    if let Some(n) = value.plain().to_big().filter(|_| !matches!(value.plain(), Value::Float(_))) {
        return Ok(n);
    }
    vm.index_of(value).map(BigInt::from)
}

fn bounded_integers(vm: &Vm, args: &Args) -> Result<Vec<BigInt>, Exc> {
    let numbers: Vec<BigInt> = args.values.iter().map(|value| integer(vm, value)).collect::<Result<_, _>>()?;
    let bits = numbers.iter().map(BigInt::bits).fold(0, u64::saturating_add);
    bounded(bits, bits, 36)?;
    Ok(numbers)
}

fn floats(vm: &mut Vm, items: &Value) -> Result<Vec<f64>, Exc> {
    let items = vm.items_of(items)?;
    items.iter().map(|value| number(vm, value)).collect()
}

fn logarithm(vm: &Vm, x: &Value, log: fn(f64) -> f64) -> Result<Value, Exc> {
    if let Some(n) = x.plain().to_big().filter(|_| !matches!(x.plain(), Value::Float(_))) {
        return Ok(Value::float(math::log_int(&n, log)?));
    }
    let x = number(vm, x)?;
    if x <= 0.0 {
        return Err(math::domain().into());
    }
    Ok(Value::float(log(x)))
}

fn log(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, base] = args.bind("log", &["/x", "/base"], 1)?;
    let top = logarithm(vm, &x, f64::ln)?;
    if matches!(base, Value::Unbound) {
        return Ok(top);
    }
    let (Value::Float(top), Value::Float(bottom)) = (top, logarithm(vm, &base, f64::ln)?) else {
        return Err(math::domain().into());
    };
    if bottom.get() == 0.0 {
        return Err(Exc::new(Kind::ZeroDivisionError, "division by zero"));
    }
    Ok(Value::float(top.get() / bottom.get()))
}

/// `floor`, `ceil`, `trunc`: integers stay, floats are rounded, other objects have a method.
fn whole(vm: &mut Vm, args: &mut Args, name: &'static str, round: fn(f64) -> f64) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>(name)?;
    let method = vm.intern(&format!("__{name}__"));
    if let Some(own) = vm.overridden(&x, &method) {
        return Err(Exc::call(own, vec![]));
    }
    match x.plain() {
        Value::Int(_) | Value::Big(_) => Ok(x.plain().clone()),
        Value::Bool(b) => Ok(Value::Int(i64::from(b.get()))),
        Value::Float(f) if f.get().is_nan() => Err(Exc::value("cannot convert float NaN to integer")),
        Value::Float(f) if f.get().is_infinite() => Err(Exc::new(Kind::OverflowError, "cannot convert float infinity to integer")),
        Value::Float(f) => Ok(Value::big(BigInt::from_f64(round(f.get())).unwrap_or_default())),
        _ => match vm.special(&x, &method) {
            Some(method) => Err(Exc::call(method, vec![])),
            None if vm.special(&x, &vm.names.float).is_some() && name != "trunc" => Err(Exc::number(x)),
            None if name == "trunc" => Err(Exc::ty(format!("type {} doesn't define __trunc__ method", vm.type_name(&x)))),
            None => Err(Exc::ty(format!("must be real number, not {}", vm.type_name(&x)))),
        },
    }
}
