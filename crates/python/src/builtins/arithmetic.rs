//! Builtin functions of numbers.

use super::functions::{go_on, some_items};
use crate::objects::{Args, Exc, Kind, Other, Value, watch};
use crate::text;
use crate::vm::Vm;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

/// `sum`, with CPython's compensated addition of floats (3.12).
pub(crate) fn sum(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [iterable, start] = args.bind("sum", &["/iterable", "start"], 1)?;
    let start = if matches!(start, Value::Unbound) { Value::Int(0) } else { start };
    if let Value::Str(_) = start {
        return Err(Exc::ty("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    let (items, rest) = some_items(vm, &iterable)?;
    let total = match watch::on() {
        true => vm.marked_sum(&items, &start)?,
        false => None,
    };
    match total.map_or_else(|| total_of(vm, &items, start.clone()), Ok) {
        Ok(total) if matches!(rest, Value::None) => Ok(total),
        Ok(total) => Err(go_on(vm, "_sum", Vec::new(), rest, total)),
        Err(exc) if exc.is_slow() && matches!(iterable, Value::Iterator(_)) => Err(go_on(vm, "_sum", items, rest, start)),
        Err(exc) => Err(exc),
    }
}

fn total_of(vm: &mut Vm, items: &[Value], start: Value) -> Result<Value, Exc> {
    let mut total = start;
    let mut at = 0;
    while at < items.len() {
        if let Value::Float(first) = total {
            // Neumaier's sum as long as numbers come.
            let (mut sum, mut rest) = (first.get(), 0.0);
            while let Some(item) = items.get(at) {
                let x = match item {
                    Value::Float(x) => x.get(),
                    Value::Int(i) => {
                        sum += *i as f64;
                        at += 1;
                        continue;
                    }
                    _ => break,
                };
                let next = sum + x;
                rest += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
                sum = next;
                at += 1;
            }
            if rest != 0.0 && rest.is_finite() {
                sum += rest;
            }
            total = Value::float(sum);
            let Some(item) = items.get(at) else { break };
            total = add(vm, total, item.clone())?;
            at += 1;
            continue;
        }
        total = add(vm, total, items[at].clone())?;
        at += 1;
    }
    Ok(total)
}

fn add(vm: &mut Vm, a: Value, b: Value) -> Result<Value, Exc> {
    // A sum of lists takes the square of their length: in Python it can be stopped.
    if let (Value::List(_), Value::List(_)) | (Value::Tuple(_), Value::Tuple(_)) = (&a, &b) {
        return Err(Exc::slow());
    }
    match vm.binary(crate::bytecode::Binary::Add, a, b) {
        Err(exc) if matches!(&*exc.0, crate::objects::exception::Signal::Call(_)) => Err(Exc::slow()),
        other => other,
    }
}

pub(super) fn abs(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("abs")?;
    if let Some(method) = vm.overridden(&value, &vm.names.abs) {
        return Err(Exc::call(method, vec![]));
    }
    Ok(match value.plain() {
        Value::Int(i) => i.checked_abs().map_or_else(|| Value::big(BigInt::from(*i).abs()), Value::Int),
        Value::Bool(b) => Value::Int(i64::from(b.get())),
        Value::Float(f) => Value::float(f.get().abs()),
        Value::Big(b) => Value::big(b.abs()),
        Value::Other(other) if let Other::Complex(re, im) = &**other => Value::float(re.hypot(*im)),
        _ => match vm.special(&value, &vm.names.abs.clone()) {
            Some(method) => return Err(Exc::call(method, vec![])),
            None => return Err(Exc::ty(format!("bad operand type for abs(): '{}'", vm.type_name(&value)))),
        },
    })
}

pub(super) fn base(vm: &mut Vm, args: &mut Args, name: &'static str, radix: u32) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>(name)?;
    if let Some(number) = value.to_big() {
        return Ok(Value::str(text::int::to_base(&number, radix, true)));
    }
    match vm.special(&value, &vm.names.index.clone()) {
        Some(method) => Err(Exc::call_then(method, vec![], move |vm, number| base(vm, &mut vec![number].into(), name, radix))),
        None => Err(Exc::ty(format!("'{}' object cannot be interpreted as an integer", vm.type_name(&value)))),
    }
}

pub(super) fn round(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value, digits] = args.bind("round", &["number", "ndigits"], 1)?;
    // A class may have its own, also where it is a number.
    if matches!(value, Value::Instance(_)) {
        return Err(Exc::slow());
    }
    let digits = if matches!(digits, Value::Unbound | Value::None) { None } else { Some(vm.index_of(&digits)?) };
    match (value.plain(), digits) {
        (Value::Float(f), None) => {
            if !f.get().is_finite() {
                let what = if f.get().is_nan() { "NaN" } else { "infinity" };
                let kind = if f.get().is_nan() { Kind::ValueError } else { Kind::OverflowError };
                return Err(Exc::new(kind, format!("cannot convert float {what} to integer")));
            }
            super::numbers::int_of_float(f.get().round_ties_even())
        }
        (Value::Float(f), Some(digits)) => {
            if !f.get().is_finite() || digits > 330 {
                return Ok(Value::float(f.get()));
            }
            if digits < -330 {
                return Ok(Value::float(0.0_f64.copysign(f.get())));
            }
            if digits >= 0 {
                // As many digits exactly, rounded half to even, read back.
                let text = format!("{:.*}", digits as usize, f.get());
                return Ok(Value::float(text.parse().unwrap_or(f.get())));
            }
            let scale = 10f64.powi(-digits as i32);
            Ok(Value::float((f.get() / scale).round_ties_even() * scale))
        }
        (Value::Int(_) | Value::Bool(_) | Value::Big(_), None) => Ok(Value::big(value.to_big().unwrap_or_default())),
        (Value::Int(_) | Value::Bool(_) | Value::Big(_), Some(digits)) => {
            let number = value.to_big().unwrap_or_default();
            if digits >= 0 {
                return Ok(Value::big(number));
            }
            let Some(power) = u32::try_from(digits.unsigned_abs()).ok().filter(|p| *p < 10_000) else { return Ok(Value::Int(0)) };
            let unit = BigInt::from(10).pow(power);
            let (quotient, rest) = number.div_mod_floor(&unit);
            let twice = &rest * 2;
            let up = twice > unit || (twice == unit && quotient.is_odd());
            Ok(Value::big((quotient + i32::from(up)) * unit))
        }
        _ => Err(Exc::slow()),
    }
}

pub(super) fn divmod(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("divmod")?;
    if matches!(a, Value::Instance(_)) || matches!(b, Value::Instance(_)) {
        return Err(Exc::slow());
    }
    if let (Value::Float(_), _) | (_, Value::Float(_)) = (&a, &b) {
        let (x, y) = (vm.float_of(&a)?, vm.float_of(&b)?);
        if y == 0.0 {
            return Err(Exc::new(Kind::ZeroDivisionError, "float divmod()"));
        }
        let (quotient, rest) = crate::vm::number::float_divmod(x, y);
        return Ok(Value::tuple(vec![Value::float(quotient), Value::float(rest)]));
    }
    let (Some(x), Some(y)) = (a.to_big(), b.to_big()) else {
        let (a, b) = (vm.type_name(&a), vm.type_name(&b));
        return Err(Exc::ty(format!("unsupported operand type(s) for divmod(): '{a}' and '{b}'")));
    };
    if y.is_zero() {
        return Err(Exc::new(Kind::ZeroDivisionError, "integer division or modulo by zero"));
    }
    let (quotient, rest) = x.div_mod_floor(&y);
    Ok(Value::tuple(vec![Value::big(quotient), Value::big(rest)]))
}

pub(super) fn pow(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [base, exponent, modulus] = args.bind("pow", &["base", "exp", "mod"], 2)?;
    if matches!(modulus, Value::Unbound | Value::None) {
        return vm.binary(crate::bytecode::Binary::Pow, base, exponent);
    }
    let name = vm.intern("__pow__");
    if let Some(own) = vm.overridden(&base, &name) {
        return Err(Exc::call(own, vec![exponent, modulus]));
    }
    let numbers = (base.to_big(), exponent.to_big(), modulus.to_big());
    let (Some(base), Some(exponent), Some(modulus)) = numbers else {
        if let Some(call) = vm.power_by_method(&base, exponent, modulus) {
            return Err(call);
        }
        return Err(Exc::ty("pow() 3rd argument not allowed unless all arguments are integers"));
    };
    if modulus.is_zero() {
        return Err(Exc::value("pow() 3rd argument cannot be 0"));
    }
    crate::vm::number::bounded(base.bits().max(modulus.bits()), modulus.bits(), 38)?;
    if exponent.is_negative() {
        return match base.modinv(&modulus) {
            Some(inverse) => Ok(Value::big(inverse.modpow(&-exponent, &modulus))),
            None => Err(Exc::value("base is not invertible for the given modulus")),
        };
    }
    if exponent.bits().saturating_mul(modulus.bits()).saturating_mul(modulus.bits()) > 1 << 36 {
        return Err(Exc::new(Kind::OverflowError, "pow() of integers that large is not supported"));
    }
    Ok(Value::big(base.modpow(&exponent, &modulus)))
}
