//! `int`, `float`, `bool`, `complex`.

use super::{Def, Types, fill, quick};
use crate::bytecode::{Binary, Compare, Unary};
use crate::objects::class::Inner;
use crate::objects::{Args, Class, Exc, Instance, Kind, Octets, Other, Value};
use crate::text;
use crate::vm::Vm;
use crate::vm::compare;
use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, Signed};
use std::rc::Rc;

/// The value, or an instance of a subclass that wraps it.
pub(super) fn wrapped(class: &Rc<Class>, value: Value) -> Value {
    if class.mutable { Value::Instance(Instance::new(class.clone(), Inner::Base(value))) } else { value }
}

/// `int` of a float that is whole.
pub(super) fn int_of_float(value: f64) -> Result<Value, Exc> {
    if value.is_nan() {
        return Err(Exc::value("cannot convert float NaN to integer"));
    }
    if value.is_infinite() {
        return Err(Exc::new(Kind::OverflowError, "cannot convert float infinity to integer"));
    }
    if value.abs() < 9e18 {
        return Ok(Value::Int(value as i64));
    }
    Ok(Value::big(BigInt::from_f64(value.trunc()).unwrap_or_default()))
}

pub(super) fn class_and(args: &mut Args) -> Result<Rc<Class>, Exc> {
    if args.values.is_empty() {
        return Err(Exc::ty("__new__(): not enough arguments"));
    }
    match args.values.remove(0) {
        Value::Class(class) => Ok(class),
        _ => Err(Exc::ty("__new__(X): X is not a type object")),
    }
}

/// Whether a class is `int` or `float` itself, whose numbers are no instances.
fn is_own(vm: &Vm, class: &Rc<Class>) -> bool {
    [&vm.types.int, &vm.types.float].iter().any(|c| Rc::ptr_eq(c, class))
}

fn int_new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let class = class_and(args)?;
    let [value, base] = args.bind("int", &["/x", "base"], 0)?;
    let own = vm.overridden(&value, &vm.names.int).is_some();
    let number = match (if own { &value } else { value.plain() }, &base) {
        (Value::Unbound, _) => Value::Int(0),
        (Value::Str(text), Value::Unbound) => Value::big(text::int::parse(text.as_str(), 10, &text::quote::text(text.as_str()))?),
        (Value::Str(text), base) => {
            let base = u32::try_from(vm.index_of(base)?).map_err(|_| Exc::value("int() base must be >= 2 and <= 36, or 0"))?;
            Value::big(text::int::parse(text.as_str(), base, &text::quote::text(text.as_str()))?)
        }
        (_, base) if !matches!(base, Value::Unbound) => return Err(Exc::ty("int() can't convert non-string with explicit base")),
        (Value::Int(_) | Value::Big(_), _) => value.plain().clone(),
        (Value::Bool(b), _) => Value::Int(i64::from(b.get())),
        (Value::Float(f), _) => int_of_float(f.get().trunc())?,
        (Value::Bytes(bytes), _) => {
            let shown = String::from_utf8_lossy(bytes).to_string();
            Value::big(text::int::parse(&shown, 10, &text::quote::bytes(bytes))?)
        }
        _ => {
            for name in [vm.names.int.clone(), vm.names.index.clone(), vm.intern("__trunc__")] {
                if let Some(method) = vm.special(&value, &name) {
                    return Err(Exc::call_then(method, vec![], move |vm, number| {
                        if matches!(number.marked(), Some((Value::Int(_), _))) && is_own(vm, &class) {
                            return Ok(number);
                        }
                        if !number.is_int() {
                            return Err(Exc::ty(format!("__int__ returned non-int (type {})", vm.type_name(&number))));
                        }
                        Ok(wrapped(&class, number.plain().clone()))
                    }));
                }
            }
            return Err(Exc::ty(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                vm.type_name(&value)
            )));
        }
    };
    Ok(wrapped(&class, number))
}

fn float_new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let class = class_and(args)?;
    let [value] = args.bind("float", &["/x"], 0)?;
    let own = vm.overridden(&value, &vm.names.float).is_some();
    let number = match if own { &value } else { value.plain() } {
        Value::Unbound => 0.0,
        Value::Str(text) => text::float::parse(text.as_str(), &text::quote::text(text.as_str()))?,
        Value::Int(_) | Value::Big(_) | Value::Bool(_) | Value::Float(_) => vm.float_of(&value)?,
        _ => {
            for (indexed, name) in [(false, vm.names.float.clone()), (true, vm.names.index.clone())] {
                let owner = vm.type_name(&value);
                if let Some(method) = vm.special(&value, &name) {
                    return Err(Exc::call_then(method, vec![], move |vm, number| {
                        if matches!(number.marked(), Some((Value::Float(_), _))) && is_own(vm, &class) {
                            return Ok(number);
                        }
                        if !(matches!(number.plain(), Value::Float(_)) || indexed && number.is_int()) {
                            return Err(Exc::ty(format!("{owner}.__float__ returned non-float (type {})", vm.type_name(&number))));
                        }
                        let number = vm.float_of(&number)?;
                        Ok(wrapped(&class, Value::float(number)))
                    }));
                }
            }
            return Err(Exc::ty(format!("float() argument must be a string or a real number, not '{}'", vm.type_name(&value))));
        }
    };
    Ok(wrapped(&class, Value::float(number)))
}

fn bool_new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    class_and(args)?;
    let [value] = args.bind("bool", &["/x"], 0)?;
    if matches!(value, Value::Unbound) {
        return Ok(Value::bool(false));
    }
    vm.truth_then(value, |_, truth| Ok(Value::bool(truth)))
}

macro_rules! operator {
    ($plain:literal, $reflected:literal, $op:ident) => {
        [
            Def::new($plain, |vm, args| operate(vm, args, Binary::$op, false)),
            Def::new($reflected, |vm, args| operate(vm, args, Binary::$op, true)),
        ]
    };
}

fn operate(vm: &mut Vm, args: &mut Args, op: Binary, reflected: bool) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("operator")?;
    let (a, b) = if reflected { (b, a) } else { (a, b) };
    let (a, b) = (a.plain().clone(), b.plain().clone());
    if matches!(a, Value::Instance(_)) || matches!(b, Value::Instance(_)) {
        return Ok(Value::NotImplemented);
    }
    match vm.binary(op, a, b) {
        Err(exc) if exc.is_new(Kind::TypeError) => Ok(Value::NotImplemented),
        other => other,
    }
}

/// Comparison methods: of any builtin type.
pub(super) const COMPARISONS: &[Def] = &[
    Def::new("__lt__", |vm, args| compare_plain(vm, args, Compare::Lt)),
    Def::new("__le__", |vm, args| compare_plain(vm, args, Compare::Le)),
    Def::new("__eq__", |vm, args| compare_plain(vm, args, Compare::Eq)),
    Def::new("__ne__", |vm, args| compare_plain(vm, args, Compare::Ne)),
    Def::new("__gt__", |vm, args| compare_plain(vm, args, Compare::Gt)),
    Def::new("__ge__", |vm, args| compare_plain(vm, args, Compare::Ge)),
];

fn compare_plain(vm: &mut Vm, args: &mut Args, op: Compare) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("comparison")?;
    let (a, b) = (a.plain().clone(), b.plain().clone());
    if matches!(b, Value::Instance(_)) {
        return Ok(Value::NotImplemented);
    }
    if matches!(op, Compare::Eq | Compare::Ne) && vm.type_name(&a) != vm.type_name(&b) && !(a.to_f64().is_some() && b.to_f64().is_some()) {
        return Ok(Value::NotImplemented);
    }
    match vm.compare(op, &a, &b) {
        Err(exc) if exc.is_new(Kind::TypeError) => Ok(Value::NotImplemented),
        other => other,
    }
}

/// `__hash__`, `__repr__`, `__format__`, … of values that instances wrap.
pub(super) const COMMON: &[Def] = &[
    Def::new("__repr__", |vm, args| {
        let [value] = args.exactly::<1>("__repr__")?;
        vm.repr_value(&value.plain().clone())
    }),
    Def::new("__format__", |vm, args| {
        let [value, spec] = args.exactly::<2>("__format__")?;
        vm.format(&value.plain().clone(), &spec)
    }),
];

pub(super) const HASH: &[Def] = &[Def::new("__hash__", |_, args| {
    let [value] = args.exactly::<1>("__hash__")?;
    Ok(Value::Int(compare::hash(value.plain())? as i64))
})
.slow("_hash")];

const NUMBER: &[Def] = &[
    Def::new("__neg__", |vm, args| vm.unary(Unary::Neg, args.values[0].plain().clone())),
    Def::new("__pos__", |vm, args| vm.unary(Unary::Pos, args.values[0].plain().clone())),
    Def::new("__abs__", |vm, args| {
        let value = args.values[0].plain().clone();
        Err(Exc::call(vm.builtins.get("abs").unwrap_or_default(), vec![value]))
    }),
    Def::new("__bool__", |_, args| Ok(Value::bool(compare::truth(args.values[0].plain()).unwrap_or(true)))),
    Def::new("__int__", |_, args| match args.values[0].plain() {
        Value::Float(f) => int_of_float(f.get().trunc()),
        other => Ok(Value::big(other.to_big().unwrap_or_default())),
    }),
    Def::new("__trunc__", |_, args| match args.values[0].plain() {
        Value::Float(f) => int_of_float(f.get().trunc()),
        other => Ok(Value::big(other.to_big().unwrap_or_default())),
    }),
    Def::new("__float__", |vm, args| vm.float_of(&args.values[0]).map(Value::float)),
    Def::new("__round__", |vm, args| {
        let mut values: Vec<Value> = args.values.drain(..).collect();
        values[0] = values[0].plain().clone();
        Err(Exc::call(vm.builtins.get("round").unwrap_or_default(), values))
    }),
    Def::new("conjugate", |_, args| Ok(number(&args.values[0]))),
    Def::new("real", |_, args| Ok(number(&args.values[0]))).get(),
    Def::new("imag", |_, args| Ok(if matches!(args.values[0].plain(), Value::Float(_)) { Value::float(0.0) } else { Value::Int(0) })).get(),
];

fn check_order(order: &Value) -> Result<(), Exc> {
    match order {
        Value::Unbound => Ok(()),
        order if matches!(order.as_str(), Some("little" | "big")) => Ok(()),
        _ => Err(Exc::value("byteorder must be either 'little' or 'big'")),
    }
}

/// What `real`, `numerator` and the like give: of `bool` the number.
fn number(value: &Value) -> Value {
    match value.plain() {
        Value::Bool(b) => Value::Int(i64::from(b.get())),
        other => other.clone(),
    }
}

const INT: &[Def] = &[
    Def::new("__new__", int_new).fixed().quick(quick::int_new),
    Def::new("__index__", |_, args| Ok(Value::big(args.values[0].to_big().unwrap_or_default()))),
    Def::new("__invert__", |vm, args| vm.unary(Unary::Invert, args.values[0].plain().clone())),
    Def::new("__ceil__", |_, args| Ok(args.values[0].plain().clone())),
    Def::new("__floor__", |_, args| Ok(args.values[0].plain().clone())),
    Def::new("bit_length", |_, args| Ok(Value::Int(args.values[0].to_big().unwrap_or_default().bits() as i64))),
    Def::new("bit_count", |_, args| {
        let digits = args.values[0].to_big().unwrap_or_default().magnitude().to_u64_digits();
        Ok(Value::Int(digits.iter().map(|d| i64::from(d.count_ones())).sum()))
    }),
    Def::new("is_integer", |_, _| Ok(Value::bool(true))),
    Def::new("as_integer_ratio", |_, args| Ok(Value::tuple(vec![number(&args.values[0]), Value::Int(1)]))),
    Def::new("numerator", |_, args| Ok(number(&args.values[0]))).get(),
    Def::new("denominator", |_, _| Ok(Value::Int(1))).get(),
    Def::new("to_bytes", |vm, args| {
        let [value, length, order, signed] = args.bind("to_bytes", &["self", "length", "byteorder", "*signed"], 1)?;
        let length = if matches!(length, Value::Unbound) { 1 } else { vm.index_of(&length)? };
        let length = usize::try_from(length).map_err(|_| Exc::value("length argument must be non-negative"))?;
        vm.reserve(length)?;
        check_order(&order)?;
        let number = value.to_big().unwrap_or_default();
        let signed = compare::truth(&signed) == Some(true) && !matches!(signed, Value::Unbound);
        if number.is_negative() && !signed {
            return Err(Exc::new(Kind::OverflowError, "can't convert negative int to unsigned"));
        }
        let mut bytes = if signed { number.to_signed_bytes_le() } else { number.to_bytes_le().1 };
        while bytes.len() > length && bytes.last() == Some(&if number.is_negative() { 0xff } else { 0 }) {
            bytes.pop();
        }
        if bytes.len() > length {
            return Err(Exc::new(Kind::OverflowError, "int too big to convert"));
        }
        bytes.resize(length, if number.is_negative() { 0xff } else { 0 });
        if order.as_str() != Some("little") {
            bytes.reverse();
        }
        Ok(Value::Bytes(Octets::new(bytes)))
    }),
    Def::new("from_bytes", |vm, args| {
        let [_, bytes, order, signed] = args.bind("from_bytes", &["cls", "bytes", "byteorder", "*signed"], 2)?;
        check_order(&order)?;
        let mut bytes: Vec<u8> = match &bytes {
            Value::Bytes(bytes) => (**bytes).clone(),
            Value::Str(_) => return Err(Exc::ty("cannot convert 'str' object to bytes")),
            other => {
                let items = vm.items_of(other)?;
                let byte = |v: &Value| u8::try_from(vm.index_of(v)?).map_err(|_| Exc::value("bytes must be in range(0, 256)"));
                items.iter().map(byte).collect::<Result<_, _>>()?
            }
        };
        if order.as_str() != Some("little") {
            bytes.reverse();
        }
        let signed = !matches!(signed, Value::Unbound) && compare::truth(&signed) == Some(true);
        Ok(Value::big(if signed { BigInt::from_signed_bytes_le(&bytes) } else { BigInt::from_bytes_le(Sign::Plus, &bytes) }))
    })
    .slow("")
    .class_method(),
];

const FLOAT: &[Def] = &[
    Def::new("__new__", float_new).fixed().quick(quick::float_new),
    Def::new("is_integer", |vm, args| Ok(Value::bool(vm.float_of(&args.values[0])?.fract() == 0.0))),
    Def::new("fromhex", |_, args| {
        let [_, text] = args.exactly::<2>("fromhex")?;
        let text = text.as_str().ok_or_else(|| Exc::ty("fromhex() argument must be str"))?;
        text::float::from_hex(text).map(Value::float).ok_or_else(|| Exc::value("invalid hexadecimal floating-point string"))
    })
    .class_method(),
    Def::new("hex", |vm, args| Ok(Value::str(text::float::hex(vm.float_of(&args.values[0])?)))),
    Def::new("__ceil__", |vm, args| int_of_float(vm.float_of(&args.values[0])?.ceil())),
    Def::new("__floor__", |vm, args| int_of_float(vm.float_of(&args.values[0])?.floor())),
    Def::new("as_integer_ratio", |vm, args| {
        let value = vm.float_of(&args.values[0])?;
        if value.is_nan() {
            return Err(Exc::value("cannot convert NaN to integer ratio"));
        }
        if value.is_infinite() {
            return Err(Exc::new(Kind::OverflowError, "cannot convert Infinity to integer ratio"));
        }
        let (mut x, mut power) = (value, 0_u32);
        while x.fract() != 0.0 && power < 1100 {
            x *= 2.0;
            power += 1;
        }
        let numerator = BigInt::from_f64(x).unwrap_or_default();
        Ok(Value::tuple(vec![Value::big(numerator), Value::big(BigInt::from(1) << power as usize)]))
    }),
];

const COMPLEX: &[Def] = &[
    Def::new("__new__", |vm, args| {
        class_and(args)?;
        let [real, imaginary] = args.bind("complex", &["real", "imag"], 0)?;
        if let Value::Str(text) = real.plain() {
            if !matches!(imaginary, Value::Unbound) {
                return Err(Exc::ty("complex() can't take second arg if first is a string"));
            }
            let (re, im) = text::float::parse_complex(text.as_str()).ok_or_else(|| Exc::value("complex() arg is a malformed string"))?;
            return Ok(Value::Other(Rc::new(Other::Complex(re, im))));
        }
        if imaginary.as_str().is_some() {
            return Err(Exc::ty("complex() second arg can't be a string"));
        }
        let part = |vm: &mut Vm, value: &Value, place: &str| match value {
            Value::Unbound => Ok((0.0, 0.0)),
            Value::Other(other) if matches!(**other, Other::Complex(..)) => Ok(complex(value)),
            Value::Instance(_) if value.plain().is(value) => Err(Exc::slow()),
            _ => match vm.float_of(value) {
                Ok(number) => Ok((number, 0.0)),
                Err(exc) if exc.is_new(Kind::TypeError) => {
                    let kind = vm.type_name(value);
                    let words = if place == "first" { "a string or a number" } else { "a number" };
                    Err(Exc::ty(format!("complex() {place} argument must be {words}, not '{kind}'")))
                }
                Err(exc) => Err(exc),
            },
        };
        let ((a, b), (c, d)) = (part(vm, &real, "first")?, part(vm, &imaginary, "second")?);
        // What is not given is not added: the sign of zero stays.
        let joined = |x: f64, y: f64| if y == 0.0 { x } else { x + y };
        let imaginary = if matches!(imaginary, Value::Unbound) { b } else { joined(c, b) };
        Ok(Value::Other(Rc::new(Other::Complex(joined(a, -d), imaginary))))
    })
    .fixed()
    .slow("_complex"),
    Def::new("real", |_, args| Ok(Value::float(complex(&args.values[0]).0))).get(),
    Def::new("imag", |_, args| Ok(Value::float(complex(&args.values[0]).1))).get(),
    Def::new("conjugate", |_, args| {
        let (re, im) = complex(&args.values[0]);
        Ok(Value::Other(Rc::new(Other::Complex(re, -im))))
    }),
];

fn complex(value: &Value) -> (f64, f64) {
    match value {
        Value::Other(other) => match &**other {
            Other::Complex(re, im) => (*re, *im),
            _ => (0.0, 0.0),
        },
        other => (other.to_f64().unwrap_or(0.0), 0.0),
    }
}

pub(super) fn install(types: &Types) {
    let operators = [
        operator!("__add__", "__radd__", Add),
        operator!("__sub__", "__rsub__", Sub),
        operator!("__mul__", "__rmul__", Mul),
        operator!("__truediv__", "__rtruediv__", Div),
        operator!("__floordiv__", "__rfloordiv__", FloorDiv),
        operator!("__mod__", "__rmod__", Mod),
        operator!("__pow__", "__rpow__", Pow),
    ];
    let integers = [
        operator!("__lshift__", "__rlshift__", LShift),
        operator!("__rshift__", "__rrshift__", RShift),
        operator!("__and__", "__rand__", BitAnd),
        operator!("__or__", "__ror__", BitOr),
        operator!("__xor__", "__rxor__", BitXor),
    ];
    for (class, owner) in [(&types.int, "int"), (&types.float, "float"), (&types.complex, "complex")] {
        for pair in &operators {
            fill(class, owner, pair);
        }
        fill(class, owner, COMPARISONS);
        fill(class, owner, COMMON);
        fill(class, owner, HASH);
        fill(class, owner, NUMBER);
    }
    for pair in &integers {
        fill(&types.int, "int", pair);
    }
    fill(&types.int, "int", INT);
    fill(&types.float, "float", FLOAT);
    fill(&types.complex, "complex", COMPLEX);
    fill(&types.bool, "bool", &[Def::new("__new__", bool_new).fixed()]);
}
