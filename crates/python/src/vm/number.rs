//! Arithmetic of integers and floats as CPython defines it.

use super::Vm;
use crate::bytecode::Binary;
use crate::objects::{Exc, Kind, Value};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

fn zero_division(message: &str) -> Exc {
    Exc::new(Kind::ZeroDivisionError, message)
}

impl Vm {
    /// `a op b` of numbers; `None` where one is not a number, or the operator is not theirs.
    pub(crate) fn arithmetic(&self, op: Binary, a: &Value, b: &Value) -> Result<Option<Value>, Exc> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => {
                if let Some(value) = small(op, *x, *y)? {
                    return Ok(Some(value));
                }
                self.large(op, BigInt::from(*x), BigInt::from(*y)).map(Some)
            }
            (Value::Float(x), Value::Float(y)) => float(op, x.get(), y.get()),
            (Value::Bool(x), Value::Bool(y)) if matches!(op, Binary::BitAnd | Binary::BitOr | Binary::BitXor) => {
                Ok(Some(Value::bool(match op {
                    Binary::BitAnd => x.get() & y.get(),
                    Binary::BitOr => x.get() | y.get(),
                    _ => x.get() ^ y.get(),
                })))
            }
            (Value::Float(x), Value::Int(_) | Value::Big(_) | Value::Bool(_)) => float(op, x.get(), self.float_of(b)?),
            (Value::Int(_) | Value::Big(_) | Value::Bool(_), Value::Float(y)) => float(op, self.float_of(a)?, y.get()),
            (Value::Int(_) | Value::Bool(_), Value::Int(_) | Value::Bool(_)) => {
                let (x, y) = (a.to_i64().unwrap_or(0), b.to_i64().unwrap_or(0));
                self.arithmetic(op, &Value::Int(x), &Value::Int(y))
            }
            (Value::Big(_) | Value::Int(_) | Value::Bool(_), Value::Big(_) | Value::Int(_) | Value::Bool(_)) => {
                match (a.to_big(), b.to_big()) {
                    (Some(x), Some(y)) => self.large(op, x, y).map(Some),
                    _ => Ok(None),
                }
            }
            (Value::Other(_), _) | (_, Value::Other(_)) => complex(op, a, b),
            _ => Ok(None),
        }
    }

    fn large(&self, op: Binary, x: BigInt, y: BigInt) -> Result<Value, Exc> {
        if matches!(op, Binary::Mul | Binary::FloorDiv | Binary::Mod | Binary::Div) {
            bounded(x.bits(), y.bits(), 40)?;
        }
        Ok(Value::big(match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => {
                self.reserve((x.bits() + y.bits()) as usize / 8)?;
                x * y
            }
            Binary::FloorDiv | Binary::Mod if y.is_zero() => {
                return Err(zero_division(if op == Binary::Mod { "integer modulo by zero" } else { "integer division or modulo by zero" }));
            }
            Binary::FloorDiv => x.div_floor(&y),
            Binary::Mod => x.mod_floor(&y),
            Binary::Div => return divide(&x, &y),
            Binary::BitAnd => x & y,
            Binary::BitOr => x | y,
            Binary::BitXor => x ^ y,
            Binary::LShift => {
                if y.is_negative() {
                    return Err(Exc::value("negative shift count"));
                }
                if x.is_zero() {
                    return Ok(Value::Int(0));
                }
                let by = y
                    .to_usize()
                    .filter(|by| (*by as u64) < 1 << 33)
                    .ok_or_else(|| Exc::new(Kind::OverflowError, "too many digits in integer"))?;
                self.reserve(by / 8)?;
                x << by
            }
            Binary::RShift => {
                if y.is_negative() {
                    return Err(Exc::value("negative shift count"));
                }
                match y.to_usize() {
                    Some(by) => x >> by,
                    None => BigInt::from(if x.is_negative() { -1 } else { 0 }),
                }
            }
            Binary::Pow => return self.power(&x, &y),
            Binary::MatMul => return Err(Exc::ty("unsupported operand type(s) for @: 'int' and 'int'")),
        }))
    }

    fn power(&self, x: &BigInt, y: &BigInt) -> Result<Value, Exc> {
        if y.is_negative() {
            let (a, b) = (x.to_f64().unwrap_or(f64::INFINITY), y.to_f64().unwrap_or(f64::NEG_INFINITY));
            if x.is_zero() {
                return Err(zero_division("0.0 cannot be raised to a negative power"));
            }
            return Ok(Value::float(a.powf(b)));
        }
        if x.is_zero() || x.is_one() {
            return Ok(Value::big(if y.is_zero() { BigInt::one() } else { x.clone() }));
        }
        if x.bits() == 1 && x.is_negative() {
            return Ok(Value::Int(if y.is_even() { 1 } else { -1 }));
        }
        let exponent = y.to_u32().ok_or_else(|| Exc::new(Kind::MemoryError, ""))?;
        let bits = x.bits().saturating_mul(u64::from(exponent));
        self.reserve(bits as usize / 8)?;
        if bits > 1 << 24 {
            // Larger ones would take long without a chance to stop.
            return Err(Exc::new(Kind::OverflowError, "integer power too large"));
        }
        Ok(Value::big(x.pow(exponent)))
    }
}

/// Integers that fit 64 bits; `None` where the result does not.
fn small(op: Binary, x: i64, y: i64) -> Result<Option<Value>, Exc> {
    Ok(match op {
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Mul => x.checked_mul(y),
        Binary::FloorDiv => match y {
            0 => return Err(zero_division("integer division or modulo by zero")),
            -1 => x.checked_neg(),
            _ => Some(Integer::div_floor(&x, &y)),
        },
        Binary::Mod => match y {
            0 => return Err(zero_division("integer modulo by zero")),
            -1 => Some(0),
            _ => Some(x.mod_floor(&y)),
        },
        Binary::Div => {
            if y == 0 {
                return Err(zero_division("division by zero"));
            }
            if x.unsigned_abs() < 1 << 53 && y.unsigned_abs() < 1 << 53 {
                return Ok(Some(Value::float(x as f64 / y as f64)));
            }
            return divide(&BigInt::from(x), &BigInt::from(y)).map(Some);
        }
        Binary::BitAnd => Some(x & y),
        Binary::BitOr => Some(x | y),
        Binary::BitXor => Some(x ^ y),
        Binary::LShift => match u32::try_from(y) {
            Ok(by) if by < 63 && x.unsigned_abs().leading_zeros() > by + 1 => Some(x << by),
            _ => None,
        },
        Binary::RShift if y >= 0 => Some(if y > 63 { if x < 0 { -1 } else { 0 } } else { x >> y }),
        Binary::RShift => return Err(Exc::value("negative shift count")),
        Binary::Pow => match u32::try_from(y) {
            Ok(exponent) => x.checked_pow(exponent),
            Err(_) => None,
        },
        Binary::MatMul => return Err(Exc::ty("unsupported operand type(s) for @: 'int' and 'int'")),
    }
    .map(Value::Int))
}

/// What takes as long as the product of two lengths in bits, up to a power of two: a native cannot stop on its way.
pub(crate) fn bounded(x: u64, y: u64, power: u32) -> Result<(), Exc> {
    if x.saturating_mul(y) > 1 << power {
        return Err(Exc::new(Kind::MemoryError, "integer too large"));
    }
    Ok(())
}

/// True division of integers, correctly rounded.
fn divide(x: &BigInt, y: &BigInt) -> Result<Value, Exc> {
    if y.is_zero() {
        return Err(zero_division("division by zero"));
    }
    let negative = x.is_negative() != y.is_negative();
    let (a, b) = (x.abs(), y.abs());
    // A quotient of at least 66 bits with the remainder in its last bit rounds as the exact one does.
    let shift = (b.bits() as i64 - a.bits() as i64 + 66).max(0);
    let (quotient, rest) = (a << shift as usize).div_rem(&b);
    let quotient: BigInt = if rest.is_zero() { quotient } else { (quotient << 1) | BigInt::one() };
    let exponent = if rest.is_zero() { shift } else { shift + 1 };
    let float = scale(&quotient, -exponent);
    if !float.is_finite() {
        return Err(Exc::new(Kind::OverflowError, "integer division result too large for a float"));
    }
    Ok(Value::float(if negative { -float } else { float }))
}

/// `value * 2^exponent`, rounded once.
fn scale(value: &BigInt, exponent: i64) -> f64 {
    let bits = value.bits() as i64;
    let top = bits + exponent;
    if top > 1024 {
        return f64::INFINITY;
    }
    // How many bits the result can hold.
    let keep = if top < -1021 { (top + 1074).max(0) } else { 53 };
    let drop = (bits - keep).max(0);
    let mut mantissa = value >> drop as usize;
    if drop > 0 {
        let rest = value - (&mantissa << drop as usize);
        let half = BigInt::one() << (drop - 1) as usize;
        if rest > half || (rest == half && mantissa.is_odd()) {
            mantissa += 1;
        }
    }
    let float = mantissa.to_f64().unwrap_or(f64::INFINITY);
    let power = drop + exponent;
    if power < -1000 { float * 2f64.powi(-1000) * 2f64.powi((power + 1000) as i32) } else { float * 2f64.powi(power as i32) }
}

fn float(op: Binary, x: f64, y: f64) -> Result<Option<Value>, Exc> {
    Ok(Some(Value::float(match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div if y == 0.0 => return Err(zero_division("float division by zero")),
        Binary::Div => x / y,
        Binary::FloorDiv if y == 0.0 => return Err(zero_division("float floor division by zero")),
        Binary::Mod if y == 0.0 => return Err(zero_division("float modulo")),
        Binary::FloorDiv => float_divmod(x, y).0,
        Binary::Mod => float_divmod(x, y).1,
        Binary::Pow => return power(x, y).map(Some),
        _ => return Ok(None),
    })))
}

/// Quotient and remainder as CPython's `float_divmod` has them.
pub fn float_divmod(x: f64, y: f64) -> (f64, f64) {
    let mut rest = x % y;
    let mut div = (x - rest) / y;
    if rest != 0.0 {
        if (y < 0.0) != (rest < 0.0) {
            rest += y;
            div -= 1.0;
        }
    } else {
        rest = 0.0_f64.copysign(y);
    }
    let floor = if div != 0.0 {
        let floor = div.floor();
        if div - floor > 0.5 { floor + 1.0 } else { floor }
    } else {
        0.0_f64.copysign(x / y)
    };
    (floor, rest)
}

fn power(x: f64, y: f64) -> Result<Value, Exc> {
    if x == 0.0 && y < 0.0 {
        return Err(zero_division("0.0 cannot be raised to a negative power"));
    }
    if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 {
        let (size, angle) = ((-x).powf(y), std::f64::consts::PI * y);
        return Ok(Value::Other(std::rc::Rc::new(crate::objects::Other::Complex(size * angle.cos(), size * angle.sin()))));
    }
    let value = x.powf(y);
    if value.is_infinite() && x.is_finite() && y.is_finite() {
        return Err(Exc::new(Kind::OverflowError, "(34, 'Numerical result out of range')"));
    }
    Ok(Value::float(value))
}

fn complex(op: Binary, a: &Value, b: &Value) -> Result<Option<Value>, Exc> {
    let part = |value: &Value| match value {
        Value::Other(other) => match &**other {
            crate::objects::Other::Complex(re, im) => Some((*re, *im)),
            _ => None,
        },
        other => other.to_f64().map(|re| (re, 0.0)),
    };
    let (Some((a, b)), Some((c, d))) = (part(a), part(b)) else { return Ok(None) };
    let (re, im) = match op {
        Binary::Add => (a + c, b + d),
        Binary::Sub => (a - c, b - d),
        Binary::Mul => (a * c - b * d, a * d + b * c),
        Binary::Div => quotient(a, b, c, d)?,
        Binary::Pow => complex_power(a, b, c, d)?,
        _ => return Ok(None),
    };
    Ok(Some(Value::Other(std::rc::Rc::new(crate::objects::Other::Complex(re, im)))))
}

/// `(a + bi) / (c + di)`, by Smith's method as CPython does it.
fn quotient(a: f64, b: f64, c: f64, d: f64) -> Result<(f64, f64), Exc> {
    if c == 0.0 && d == 0.0 {
        return Err(zero_division("complex division by zero"));
    }
    Ok(if c.abs() >= d.abs() {
        let ratio = d / c;
        let size = c + d * ratio;
        ((a + b * ratio) / size, (b - a * ratio) / size)
    } else {
        let ratio = c / d;
        let size = c * ratio + d;
        ((a * ratio + b) / size, (b * ratio - a) / size)
    })
}

/// `(a + bi) ** (c + di)`: small whole powers by squaring, others by polar coordinates, as CPython does it.
fn complex_power(a: f64, b: f64, c: f64, d: f64) -> Result<(f64, f64), Exc> {
    if c == 0.0 && d == 0.0 {
        return Ok((1.0, 0.0));
    }
    if a == 0.0 && b == 0.0 {
        if d != 0.0 || c < 0.0 {
            return Err(zero_division("0.0 to a negative or complex power"));
        }
        return Ok((0.0, 0.0));
    }
    if d == 0.0 && c.fract() == 0.0 && c.abs() <= 100.0 {
        let mut result = (1.0, 0.0);
        let mut power = (a, b);
        let mut rest = c.abs() as u32;
        while rest > 0 {
            if rest & 1 == 1 {
                result = (result.0 * power.0 - result.1 * power.1, result.0 * power.1 + result.1 * power.0);
            }
            rest >>= 1;
            power = (power.0 * power.0 - power.1 * power.1, power.0 * power.1 + power.1 * power.0);
        }
        return if c < 0.0 { quotient(1.0, 0.0, result.0, result.1) } else { Ok(result) };
    }
    let size = libm::hypot(a, b);
    let angle = libm::atan2(b, a);
    let mut len = size.powf(c);
    let mut phase = angle * c;
    if d != 0.0 {
        len *= (-angle * d).exp();
        phase += d * size.ln();
    }
    Ok((len * phase.cos(), len * phase.sin()))
}
