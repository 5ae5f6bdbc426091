//! Operators on small integers and floats, and comparisons of what is met most: no allocation, no error, or no answer.

use crate::bytecode::{Binary, Compare};
use crate::objects::{Str, Value};
use std::rc::Rc;

/// Integers up to here are floats exactly.
const EXACT: u64 = 1 << 53;

/// `left op right` of numbers where that is a small number again; `None` sends everything else to the general operator.
#[inline(always)]
pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => match op {
            Binary::Add => a.checked_add(*b).map(Value::Int),
            Binary::Sub => a.checked_sub(*b).map(Value::Int),
            Binary::Mul => a.checked_mul(*b).map(Value::Int),
            _ => integers(op, *a, *b),
        },
        (Value::Float(a), Value::Float(b)) => floats(op, a.get(), b.get()),
        (Value::Int(a), Value::Float(b)) => floats(op, *a as f64, b.get()),
        (Value::Float(a), Value::Int(b)) => floats(op, a.get(), *b as f64),
        _ => None,
    }
}

#[inline(always)]
fn floats(op: Binary, a: f64, b: f64) -> Option<Value> {
    Some(Value::float(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div if b != 0.0 => a / b,
        _ => return None,
    }))
}

#[inline(never)]
fn integers(op: Binary, a: i64, b: i64) -> Option<Value> {
    Some(match op {
        Binary::FloorDiv if b != 0 => {
            let quotient = a.checked_div(b)?;
            Value::Int(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
        }
        Binary::Mod if b != 0 => {
            let rest = a.checked_rem(b)?;
            Value::Int(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        Binary::Div if b != 0 && a.unsigned_abs() <= EXACT && b.unsigned_abs() <= EXACT => Value::float(a as f64 / b as f64),
        Binary::BitAnd => Value::Int(a & b),
        Binary::BitOr => Value::Int(a | b),
        Binary::BitXor => Value::Int(a ^ b),
        Binary::RShift if b >= 0 => Value::Int(a >> b.min(63)),
        Binary::LShift if (0..62).contains(&b) => Value::Int(a.checked_mul(1 << b)?),
        _ => return None,
    })
}

/// `left op right` of numbers and strings.
#[inline(always)]
pub(super) fn compare(op: Compare, left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(match op {
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }),
        (Value::Float(a), Value::Float(b)) => Some(ordered(op, a.get(), b.get())),
        (Value::Int(a), Value::Float(b)) if a.unsigned_abs() <= EXACT => Some(ordered(op, *a as f64, b.get())),
        (Value::Float(a), Value::Int(b)) if b.unsigned_abs() <= EXACT => Some(ordered(op, a.get(), *b as f64)),
        (Value::Str(a), Value::Str(b)) => texts(op, a, b),
        _ => None,
    }
}

#[inline(always)]
fn ordered(op: Compare, a: f64, b: f64) -> bool {
    match op {
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
    }
}

#[inline(never)]
fn texts(op: Compare, a: &Rc<Str>, b: &Rc<Str>) -> Option<bool> {
    match op {
        Compare::Eq => Some(Rc::ptr_eq(a, b) || a.as_str() == b.as_str()),
        Compare::Ne => Some(!Rc::ptr_eq(a, b) && a.as_str() != b.as_str()),
        // UTF-8 is ordered as its code points are.
        _ => Some(op.holds(a.as_str().cmp(b.as_str()))),
    }
}
