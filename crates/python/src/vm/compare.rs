//! Equality, order and hashes of values without running Python code.

use super::intern::intern;
use crate::bytecode::Compare;
use crate::objects::{Class, Exc, Other, Str, Value, ViewKind, watch};
use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

/// Why two values cannot be compared here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// A class defines it in Python.
    Python,
    /// They are nested too deeply.
    Deep,
    /// They hold one another so often that it would take too long.
    Long,
}

const DEPTH: usize = 300;

/// The most items that one comparison or hash looks at: about a second. A list of a list twice, of that twice and so on has as many at a
/// depth of 26.
const MOST_WORK: u64 = 1 << 26;

thread_local! {
    static WORK: Cell<u64> = const { Cell::new(0) };
    static IDENTITY: Cell<bool> = const { Cell::new(false) };
    static DUNDER: [Rc<Str>; 2] = [intern("__eq__"), intern("__hash__")];
}

/// Begins to count items anew where a comparison begins.
fn begin(depth: usize) {
    if depth == 0 {
        WORK.with(|done| done.set(0));
    }
}

fn work(items: usize) -> Result<(), Unknown> {
    WORK.with(|done| {
        done.set(done.get() + items as u64 + 1);
        if done.get() > MOST_WORK { Err(Unknown::Long) } else { Ok(()) }
    })
}

/// Runs `work` while values that only Python code could compare count as different unless they are the same object: after it was
/// found out by Python code which key equals the one looked for.
pub fn by_identity<T>(work: impl FnOnce() -> T) -> T {
    let before = IDENTITY.with(|flag| flag.replace(true));
    let result = work();
    IDENTITY.with(|flag| flag.set(before));
    result
}

/// Whether two keys are the same.
#[inline]
pub fn key_equal(a: &Value, b: &Value) -> Result<bool, Unknown> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Ok(Rc::ptr_eq(a, b) || a.as_str() == b.as_str()),
        (Value::Int(a), Value::Int(b)) => Ok(a == b),
        _ => {
            if a.is(b) {
                return Ok(true);
            }
            // Within another comparison, perhaps: its count goes on.
            match equal(a, b, 1) {
                Err(Unknown::Python) if IDENTITY.with(Cell::get) => Ok(false),
                other => other,
            }
        }
    }
}

/// Whether a class's instances compare as objects do, by identity; `Err` where Python code decides.
fn plain_eq(class: &Class) -> Result<(), Unknown> {
    match DUNDER.with(|names| class.lookup(&names[0])) {
        Some(Value::Native(_)) | None => Ok(()),
        Some(_) => Err(Unknown::Python),
    }
}

fn native_owner(class: &Class) -> Option<&'static str> {
    match DUNDER.with(|names| class.lookup(&names[0])) {
        Some(Value::Native(native)) => Some(native.owner),
        _ => None,
    }
}

/// `a == b`.
pub fn equal(a: &Value, b: &Value, depth: usize) -> Result<bool, Unknown> {
    if depth > DEPTH {
        return Err(Unknown::Deep);
    }
    begin(depth);
    use Value::*;
    if a.marked().is_some() || b.marked().is_some() {
        return equal(a.plain(), b.plain(), depth + 1);
    }
    Ok(match (a, b) {
        (Int(a), Int(b)) => a == b,
        (Str(a), Str(b)) => Rc::ptr_eq(a, b) || a.as_str() == b.as_str(),
        (Int(_) | Float(_) | Bool(_) | Big(_), Int(_) | Float(_) | Bool(_) | Big(_)) => order_numbers(a, b) == Some(Ordering::Equal),
        (Bytes(a), Bytes(b)) => a == b,
        (List(a), List(b)) => {
            if Rc::ptr_eq(a, b) {
                return Ok(true);
            }
            let (a, b) = (a.borrow(), b.borrow());
            return sequences_equal(&a, &b, depth);
        }
        (Tuple(a), Tuple(b)) => return sequences_equal(a, b, depth),
        (Dict(a), Dict(b)) => {
            if Rc::ptr_eq(a, b) {
                return Ok(true);
            }
            let (a, b) = (a.borrow(), b.borrow());
            if a.len() != b.len() {
                return Ok(false);
            }
            for entry in a.slots().iter().filter(|e| !matches!(e.key, Unbound)) {
                match b.find(entry.hash, &entry.key)? {
                    Option::None => return Ok(false),
                    Some(place) => {
                        let other = &b.slots()[place].value;
                        if !entry.value.is(other) && !equal(&entry.value, other, depth + 1)? {
                            return Ok(false);
                        }
                    }
                }
            }
            true
        }
        (Set(a), Set(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            if a.len() != b.len() {
                return Ok(false);
            }
            for (hash, value) in a.iter() {
                if b.find(hash, value)?.is_none() {
                    return Ok(false);
                }
            }
            true
        }
        (Range(a), Range(b)) => {
            let len = a.len();
            len == b.len() && (len == 0 || a.start == b.start && (len == 1 || a.step == b.step))
        }
        (Slice(a), Slice(b)) => {
            equal(&a.start, &b.start, depth + 1)? && equal(&a.stop, &b.stop, depth + 1)? && equal(&a.step, &b.step, depth + 1)?
        }
        (Method(a), Method(b)) => a.object.is(&b.object) && equal(&a.function, &b.function, depth + 1)?,
        // One complex number may differ from itself: it may hold NaN.
        (Other(a), Other(b)) if !Rc::ptr_eq(a, b) || matches!(**a, crate::objects::Other::Complex(..)) => return others_equal(a, b, depth),
        (Other(other), number) | (number, Other(other)) if matches!(**other, crate::objects::Other::Complex(..)) => {
            let crate::objects::Other::Complex(real, imaginary) = **other else { return Ok(false) };
            imaginary == 0.0 && number.to_f64() == Some(real)
        }
        (Class(a), Class(b)) => Rc::ptr_eq(a, b),
        (Instance(_), _) | (_, Instance(_)) => {
            for side in [a, b] {
                if let Instance(instance) = side {
                    plain_eq(&instance.class())?;
                    // A host's type decides itself.
                    if instance.base_value().is_none() && native_owner(&instance.class()).is_some_and(|owner| owner != "object") {
                        return Err(Unknown::Python);
                    }
                }
            }
            match (a.plain(), b.plain()) {
                (Instance(a), Instance(b)) => Rc::ptr_eq(a, b),
                (Instance(_), _) | (_, Instance(_)) => false,
                (a, b) => return equal(a, b, depth + 1),
            }
        }
        _ => a.is(b),
    })
}

fn others_equal(a: &Other, b: &Other, depth: usize) -> Result<bool, Unknown> {
    Ok(match (a, b) {
        (Other::Complex(a, b), Other::Complex(c, d)) => a == c && b == d,
        (Other::Alias { origin: Value::Str(_), args: Value::Tuple(a) }, Other::Alias { origin: Value::Str(_), args: Value::Tuple(b) }) => {
            // The order of a union's types is nothing.
            for (some, all) in [(a, b), (b, a)] {
                for part in some.iter() {
                    let mut found = false;
                    for other in all.iter() {
                        found = found || equal(part, other, depth + 1)?;
                    }
                    if !found {
                        return Ok(false);
                    }
                }
            }
            true
        }
        (Other::Alias { origin: a, args: b }, Other::Alias { origin: c, args: d }) => a.is(c) && equal(b, d, depth + 1)?,
        (Other::View(ViewKind::Keys, a), Other::View(ViewKind::Keys, b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            if a.len() != b.len() {
                return Ok(false);
            }
            for entry in a.slots().iter().filter(|e| !matches!(e.key, Value::Unbound)) {
                if b.find(entry.hash, &entry.key)?.is_none() {
                    return Ok(false);
                }
            }
            true
        }
        (Other::View(ViewKind::Items, a), Other::View(ViewKind::Items, b)) | (Other::MappingProxy(a), Other::MappingProxy(b)) => {
            equal(&Value::Dict(a.clone()), &Value::Dict(b.clone()), depth + 1)?
        }
        _ => false,
    })
}

fn sequences_equal(a: &[Value], b: &[Value], depth: usize) -> Result<bool, Unknown> {
    if a.len() != b.len() {
        return Ok(false);
    }
    work(a.len())?;
    for (a, b) in a.iter().zip(b) {
        if !(is_same(a, b) || equal(a, b, depth + 1)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Identity as containers use it: a NaN equals itself there only if it is the same object, which numbers here do not tell.
fn is_same(a: &Value, b: &Value) -> bool {
    a.is(b)
}

/// How two numbers stand to one another; `None` where one is not a number or is NaN.
pub fn order_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.get().partial_cmp(&b.get()),
        (Value::Float(a), b) => order_float(a.get(), b),
        (a, Value::Float(b)) => order_float(b.get(), a).map(Ordering::reverse),
        _ => Some(a.to_big()?.cmp(&b.to_big()?)),
    }
}

fn order_float(a: f64, b: &Value) -> Option<Ordering> {
    if a.is_nan() {
        return None;
    }
    if let Some(b) = b.to_i64()
        && b.unsigned_abs() < 1 << 53
    {
        return a.partial_cmp(&(b as f64));
    }
    if a.is_infinite() {
        return Some(if a > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let b = b.to_big()?;
    let whole = BigInt::from_f64(a.trunc())?;
    Some(whole.cmp(&b).then_with(|| a.fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal)))
}

/// `a < b` and the like where both are builtin values that have an order; `Ok(None)` where they have none.
pub fn order(op: Compare, a: &Value, b: &Value, depth: usize) -> Result<Option<bool>, Unknown> {
    if depth > DEPTH {
        return Err(Unknown::Deep);
    }
    begin(depth);
    use Value::*;
    Ok(match (a.plain(), b.plain()) {
        (Int(_) | Float(_) | Bool(_) | Big(_), Int(_) | Float(_) | Bool(_) | Big(_)) => {
            Some(order_numbers(a.plain(), b.plain()).is_some_and(|ordering| op.holds(ordering)))
        }
        (Str(a), Str(b)) => Some(op.holds(a.as_str().cmp(b.as_str()))),
        (Bytes(a), Bytes(b)) => Some(op.holds(a.cmp(b))),
        (List(a), List(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            return order_sequences(op, &a, &b, depth);
        }
        (Tuple(a), Tuple(b)) => return order_sequences(op, a, b, depth),
        (Set(a), Set(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            let within = |small: &crate::objects::set::Members, large: &crate::objects::set::Members| -> Result<bool, Unknown> {
                for (hash, value) in small.iter() {
                    if large.find(hash, value)?.is_none() {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            Some(match op {
                Compare::Lt => a.len() < b.len() && within(&a, &b)?,
                Compare::Le => a.len() <= b.len() && within(&a, &b)?,
                Compare::Gt => b.len() < a.len() && within(&b, &a)?,
                _ => b.len() <= a.len() && within(&b, &a)?,
            })
        }
        _ => Option::None,
    })
}

fn order_sequences(op: Compare, a: &[Value], b: &[Value], depth: usize) -> Result<Option<bool>, Unknown> {
    for (a, b) in a.iter().zip(b) {
        work(1)?;
        if is_same(a, b) || equal(a, b, depth + 1)? {
            continue;
        }
        if needs_python_order(a) || needs_python_order(b) {
            return Err(Unknown::Python);
        }
        return order(op, a, b, depth + 1);
    }
    Ok(Some(op.holds(a.len().cmp(&b.len()))))
}

/// Whether an order of this value may be defined by its class.
pub fn needs_python_order(value: &Value) -> bool {
    matches!(value, Value::Instance(_))
}

const MODULUS: u64 = (1 << 61) - 1;

/// CPython's hash of a float (`_Py_HashDouble`).
fn hash_float(value: f64) -> i64 {
    if !value.is_finite() {
        return if value.is_nan() {
            0
        } else if value > 0.0 {
            314_159
        } else {
            -314_159
        };
    }
    if value == 0.0 {
        return 0;
    }
    if value.fract() == 0.0 && value.abs() < 9e18 {
        return hash_int(value as i64);
    }
    let bits = value.abs().to_bits();
    let (mut exponent, mut mantissa) = (((bits >> 52) & 0x7ff) as i64 - 1075, bits & ((1 << 52) - 1));
    if exponent == -1075 {
        exponent += 1;
    } else {
        mantissa |= 1 << 52;
    }
    let turn = exponent.rem_euclid(61) as u32;
    let reduced = mantissa % MODULUS;
    let rotated = ((reduced << turn) & MODULUS) | (if turn == 0 { 0 } else { reduced >> (61 - turn) });
    let hash = rotated as i64;
    let hash = if value < 0.0 { -hash } else { hash };
    if hash == -1 { -2 } else { hash }
}

fn hash_int(value: i64) -> i64 {
    let hash = (value.unsigned_abs() % MODULUS) as i64;
    let hash = if value < 0 { -hash } else { hash };
    if hash == -1 { -2 } else { hash }
}

/// `hash(value)`. Slow where a class defines it in Python and it was not asked before.
pub fn hash(value: &Value) -> Result<u64, Exc> {
    hash_at(value, 0)
}

fn unhashable(kind: &str) -> Exc {
    Exc::ty(format!("unhashable type: '{kind}'"))
}

fn hash_at(value: &Value, depth: usize) -> Result<u64, Exc> {
    if depth > DEPTH {
        return Err(Unknown::Deep.into());
    }
    Ok(match value {
        Value::Int(i) => hash_int(*i) as u64,
        Value::Str(text) => text.hash(),
        Value::Bool(b) => u64::from(b.get()),
        Value::Float(f) => hash_float(f.get()) as u64,
        Value::Big(b) => {
            let rest = (b.magnitude() % MODULUS).to_i64().unwrap_or(0);
            let hash = if b.sign() == Sign::Minus { -rest } else { rest };
            (if hash == -1 { -2 } else { hash }) as u64
        }
        Value::Bytes(bytes) => Str::new(format!("b{bytes:?}")).hash(),
        Value::None => 0xfca_86420,
        Value::Tuple(items) => {
            begin(depth);
            work(items.len())?;
            hash_tuple(items.iter().map(|item| hash_at(item, depth + 1)))?
        }
        Value::Set(set) if set.frozen => {
            let mut mixed: u64 = 0;
            for (hash, _) in set.borrow().iter() {
                mixed ^= (hash ^ 89_869_747 ^ (hash << 16)).wrapping_mul(3_644_798_167);
            }
            mixed ^= (set.len() as u64 + 1).wrapping_mul(1_927_868_237);
            mixed ^= (mixed >> 11) ^ (mixed >> 25);
            mixed.wrapping_mul(69_069).wrapping_add(907_133_923)
        }
        Value::Range(r) => hash_tuple([r.len() as i64, r.start, r.step].into_iter().map(|v| Ok(hash_int(v) as u64)))?,
        Value::List(_) => return Err(unhashable("list")),
        Value::Dict(_) => return Err(unhashable("dict")),
        Value::Set(_) => return Err(unhashable("set")),
        Value::Slice(_) => return Err(unhashable("slice")),
        Value::Method(method) => hash_at(&method.function, depth + 1)? ^ (method.object.address() as u64 >> 4),
        Value::Other(other) => match &**other {
            Other::Alias { origin: Value::Str(_), args: Value::Tuple(parts) } => {
                let mut hash = 0;
                for part in parts.iter() {
                    hash ^= hash_at(part, depth + 1)?;
                }
                hash
            }
            Other::Alias { origin, args } => hash_at(origin, depth + 1)? ^ hash_at(args, depth + 1)?,
            Other::Complex(re, im) => (hash_float(*re) as u64).wrapping_add((hash_float(*im) as u64).wrapping_mul(1_000_003)),
            Other::Marked(..) => hash_at(value.plain(), depth)?,
            Other::View(..) => return Err(unhashable("dict_keys")),
            Other::MappingProxy(_) => return Err(unhashable("mappingproxy")),
            _ => value.address() as u64 >> 4,
        },
        Value::Instance(instance) => {
            let class = instance.class();
            match DUNDER.with(|names| class.lookup(&names[1])) {
                Some(Value::None) => return Err(unhashable(class.name().as_str())),
                Some(Value::Native(native)) if native.owner == "object" => value.address() as u64 >> 4,
                Some(Value::Native(native)) if native.owner != "host" => match instance.base_value() {
                    Some(base) => hash_at(base, depth + 1)?,
                    None => value.address() as u64 >> 4,
                },
                None => value.address() as u64 >> 4,
                Some(_) if instance.hash.get() != 0 => instance.hash.get(),
                Some(_) => return Err(Exc::slow()),
            }
        }
        other => other.address() as u64 >> 4,
    })
}

/// CPython's hash of a tuple (xxHash's mixing).
fn hash_tuple(hashes: impl ExactSizeIterator<Item = Result<u64, Exc>>) -> Result<u64, Exc> {
    const P1: u64 = 11_400_714_785_074_694_791;
    const P2: u64 = 14_029_467_366_897_019_727;
    const P5: u64 = 2_870_177_450_012_600_261;
    let len = hashes.len() as u64;
    let mut acc = P5;
    for lane in hashes {
        acc = acc.wrapping_add(lane?.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1);
    }
    acc = acc.wrapping_add(len ^ (P5 ^ 3_527_539));
    Ok(if acc == u64::MAX { 1_546_275_796 } else { acc })
}

/// Whether a value is true; `None` where its class decides in Python.
#[inline]
pub fn truth(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Bool(b) => b.get(),
        Value::None => false,
        Value::Int(i) => *i != 0,
        Value::Float(f) => f.get() != 0.0,
        Value::Str(text) => !text.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Tuple(tuple) => !tuple.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        Value::Set(set) => !set.is_empty(),
        Value::Range(range) => !range.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::Big(b) => !b.is_zero(),
        Value::Other(other) => match &**other {
            Other::View(_, dict) | Other::MappingProxy(dict) => !dict.is_empty(),
            Other::Complex(re, im) => *re != 0.0 || *im != 0.0,
            Other::Marked(value, node) => {
                let truth = truth(value)?;
                watch::decide(*node, truth);
                truth
            }
            _ => true,
        },
        Value::Instance(_) | Value::Class(_) => return None,
        _ => true,
    })
}
