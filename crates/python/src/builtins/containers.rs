//! `tuple`, `range`, `slice`, `bytes`.

use super::lists::{SEQUENCE, find};
use super::numbers::{COMPARISONS, HASH, class_and, wrapped};
use super::{Def, Types, codecs, fill, quick};
use crate::objects::{Args, Exc, Kind, Octets, Other, Range, Slice, Tuple, Value};
use crate::text;
use crate::vm::Vm;
use crate::vm::compare;
use std::rc::Rc;

/// The length of a container.
pub(super) fn length(value: &Value) -> usize {
    super::functions::native_len(value.plain()).unwrap_or(0)
}

fn tuple(args: &Args) -> Result<Rc<Tuple>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::Tuple(items)) => Ok(items.clone()),
        _ => Err(Exc::ty("descriptor requires a 'tuple' object")),
    }
}

const TUPLE: &[Def] = &[
    Def::new("__new__", |vm, args| {
        let class = class_and(args)?;
        let [iterable] = args.bind("tuple", &["/iterable"], 0)?;
        let value = match &iterable {
            Value::Unbound => Value::tuple(Vec::new()),
            Value::Tuple(_) => iterable.clone(),
            other => Value::tuple(vm.items_of(other)?),
        };
        Ok(wrapped(&class, value))
    })
    .fixed()
    .slow(""),
    Def::new("index", |vm, args| {
        let items = tuple(args)?;
        let [_, value, start, stop] = args.bind("index", &["self", "/value", "/start", "/stop"], 2)?;
        match find(vm, &items, &value, &start, &stop)? {
            Some(at) => Ok(Value::from(at)),
            None => Err(Exc::value("tuple.index(x): x not in tuple")),
        }
    })
    .slow("_index"),
    Def::new("count", |_, args| {
        let items = tuple(args)?;
        let [_, value] = args.exactly::<2>("count")?;
        let mut count = 0;
        for item in items.iter() {
            count += i64::from(item.is(&value) || compare::equal(item, &value, 0)?);
        }
        Ok(Value::Int(count))
    })
    .slow("_count"),
];

fn range(args: &Args) -> Result<Rc<Range>, Exc> {
    match args.values.first() {
        Some(Value::Range(range)) => Ok(range.clone()),
        _ => Err(Exc::ty("descriptor requires a 'range' object")),
    }
}

const RANGE: &[Def] = &[
    Def::new("__new__", |vm, args| {
        class_and(args)?;
        let [a, b, c] = args.bind("range", &["/start", "/stop", "/step"], 1)?;
        if [&a, &b, &c].iter().any(|v| matches!(v.plain(), Value::Big(_))) {
            return Err(Exc::new(Kind::OverflowError, "range() of integers beyond 64 bits is not there: count in a while loop"));
        }
        let (start, stop) = if matches!(b, Value::Unbound) { (0, vm.index_of(&a)?) } else { (vm.index_of(&a)?, vm.index_of(&b)?) };
        let step = if matches!(c, Value::Unbound) { 1 } else { vm.index_of(&c)? };
        if step == 0 {
            return Err(Exc::value("range() arg 3 must not be zero"));
        }
        Ok(Value::Range(Rc::new(Range { start, stop, step })))
    })
    .fixed()
    .slow("_range")
    .quick(quick::range_new),
    Def::new("start", |_, args| Ok(Value::Int(range(args)?.start))).get(),
    Def::new("stop", |_, args| Ok(Value::Int(range(args)?.stop))).get(),
    Def::new("step", |_, args| Ok(Value::Int(range(args)?.step))).get(),
    Def::new("index", |vm, args| {
        let range = range(args)?;
        let [_, value] = args.exactly::<2>("index")?;
        match value.to_i64().and_then(|v| range.position(v)) {
            Some(at) => Ok(Value::from(at)),
            None => Err(Exc::value(format!("{} is not in range", vm.repr_native(&value)?))),
        }
    }),
    Def::new("count", |_, args| {
        let range = range(args)?;
        let [_, value] = args.exactly::<2>("count")?;
        Ok(Value::Int(i64::from(value.to_i64().is_some_and(|v| range.position(v).is_some()))))
    }),
];

fn slice_part(args: &Args, which: usize) -> Result<Value, Exc> {
    match args.values.first() {
        Some(Value::Slice(slice)) => Ok([&slice.start, &slice.stop, &slice.step][which].clone()),
        _ => Err(Exc::ty("descriptor requires a 'slice' object")),
    }
}

const SLICE: &[Def] = &[
    Def::new("__new__", |_, args| {
        class_and(args)?;
        let [a, b, c] = args.bind("slice", &["/start", "/stop", "/step"], 1)?;
        let or_none = |value: Value| if matches!(value, Value::Unbound) { Value::None } else { value };
        let (start, stop) = if matches!(b, Value::Unbound) { (Value::None, a) } else { (a, b) };
        Ok(Value::Slice(Rc::new(Slice { start, stop, step: or_none(c) })))
    })
    .fixed(),
    Def::new("start", |_, args| slice_part(args, 0)).get(),
    Def::new("stop", |_, args| slice_part(args, 1)).get(),
    Def::new("step", |_, args| slice_part(args, 2)).get(),
    Def::new("indices", |vm, args| {
        let [slice, len] = args.exactly::<2>("indices")?;
        let len = vm.index_of(&len)?;
        if len < 0 {
            return Err(Exc::value("length should not be negative"));
        }
        let Value::Slice(slice) = &slice else { return Err(Exc::ty("not a slice")) };
        let picked = vm.pick(slice, len as usize)?;
        let stop = match (&slice.stop, picked.step < 0) {
            (Value::None, true) => -1,
            (Value::None, false) => len,
            (stop, down) => {
                let stop = vm.index_of(stop)?;
                let stop = if stop < 0 { stop.saturating_add(len) } else { stop };
                if down { stop.clamp(-1, len - 1) } else { stop.clamp(0, len) }
            }
        };
        Ok(Value::tuple(vec![Value::Int(picked.start), Value::Int(stop), Value::Int(picked.step)]))
    }),
];

fn bytes(args: &Args) -> Result<Rc<Octets>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::Bytes(bytes)) => Ok(bytes.clone()),
        _ => Err(Exc::ty("descriptor requires a 'bytes' object")),
    }
}

fn made(bytes: Vec<u8>) -> Value {
    Value::Bytes(Octets::new(bytes))
}

/// Methods that bytes share with text: each byte is the character of its number.
macro_rules! as_text {
    ($($name:literal)*) => {
        const TEXTUAL: &[Def] = &[$(Def::new($name, |vm, args| textual(vm, args, $name))),*];
    };
}

as_text! {
    "lower" "upper" "title" "capitalize" "swapcase" "lstrip" "rstrip" "strip" "count" "find" "rfind" "index" "rindex" "replace"
    "partition" "rpartition" "split" "rsplit" "splitlines" "ljust" "rjust" "center" "zfill" "isdigit" "isalpha" "isalnum" "isspace" "isascii"
    "isupper" "islower" "istitle" "removeprefix" "removesuffix" "expandtabs" "startswith" "endswith"
}

fn textual(vm: &mut Vm, args: &mut Args, name: &'static str) -> Result<Value, Exc> {
    let subject = bytes(args)?;
    if matches!(name, "lower" | "upper") {
        args.exactly::<1>(name)?;
        return Ok(made(if name == "lower" { subject.to_ascii_lowercase() } else { subject.to_ascii_uppercase() }));
    }
    let searching = matches!(name, "count" | "find" | "rfind" | "index" | "rindex");
    for (place, value) in args.values.iter_mut().enumerate() {
        if let (1, Value::Str(_)) = (place, value.plain()) {
            match name {
                "startswith" | "endswith" => return Err(Exc::ty(format!("{name} first arg must be bytes or a tuple of bytes, not str"))),
                _ if searching => return Err(Exc::ty("argument should be integer or bytes-like object, not 'str'")),
                _ => {}
            }
        }
        *value = as_characters(value, searching && place == 1)?;
    }
    let Some(Value::Native(native)) = vm.types.str.lookup(&vm.intern(name)) else { return Err(Exc::ty("no such method")) };
    match vm.run_native(&native, std::mem::take(args)) {
        Err(exc) if name.ends_with("index") && exc.is_new(Kind::ValueError) => Err(Exc::value("subsection not found")),
        found => found.map(as_bytes),
    }
}

fn as_characters(value: &Value, needle: bool) -> Result<Value, Exc> {
    Ok(match value.plain() {
        Value::Bytes(bytes) => Value::str(bytes.iter().map(|b| char::from(*b)).collect::<String>()),
        Value::Str(_) => return Err(Exc::ty("a bytes-like object is required, not 'str'")),
        Value::Tuple(items) => Value::tuple(items.iter().map(|item| as_characters(item, false)).collect::<Result<_, _>>()?),
        Value::Int(byte) if needle => match u8::try_from(*byte) {
            Ok(byte) => Value::str(char::from(byte).to_string()),
            Err(_) => return Err(Exc::value("byte must be in range(0, 256)")),
        },
        _ => value.clone(),
    })
}

fn as_bytes(value: Value) -> Value {
    match &value {
        Value::Str(text) => made(text.as_str().chars().map(|c| c as u8).collect()),
        Value::Tuple(items) => Value::tuple(items.iter().cloned().map(as_bytes).collect()),
        Value::List(items) => Value::list(items.borrow().iter().cloned().map(as_bytes).collect()),
        _ => value,
    }
}

const ALIAS: &[Def] = &[Def::new("__new__", |_, args| {
    let [_, origin, given] = args.exactly::<3>("GenericAlias")?;
    let args = if matches!(given, Value::Tuple(_)) { given } else { Value::tuple(vec![given]) };
    Ok(Value::Other(Rc::new(Other::Alias { origin, args })))
})];

const BYTES: &[Def] = &[
    Def::new("__new__", |vm, args| {
        let class = class_and(args)?;
        let [source, encoding, errors] = args.bind("bytes", &["source", "encoding", "errors"], 0)?;
        if !matches!(encoding, Value::Unbound) && source.as_str().is_none() {
            return Err(Exc::ty("encoding without a string argument"));
        }
        if let Some(text) = source.as_str()
            && !matches!(encoding, Value::Unbound)
        {
            return codecs::encode(vm, text, &encoding, &errors).map(|bytes| wrapped(&class, bytes));
        }
        let value = match source.plain() {
            Value::Unbound => Vec::new(),
            Value::Bytes(bytes) => (**bytes).clone(),
            Value::Str(_) => return Err(Exc::ty("string argument without an encoding")),
            Value::Int(count) => {
                let count = usize::try_from(*count).map_err(|_| Exc::value("negative count"))?;
                vm.reserve(count)?;
                vec![0; count]
            }
            _ => {
                if let Some(method) = vm.special(&source, &vm.intern("__bytes__")) {
                    return Err(Exc::call_then(method, vec![], move |_, value| Ok(wrapped(&class, value))));
                }
                let items = match vm.items_of(&source) {
                    Err(exc) if exc.is_new(Kind::TypeError) => {
                        return Err(Exc::ty(format!("cannot convert '{}' object to bytes", vm.type_name(&source))));
                    }
                    other => other?,
                };
                let byte = |v: &Value| {
                    let number = vm.index_of(v)?;
                    u8::try_from(number).map_err(|_| Exc::value("bytes must be in range(0, 256)"))
                };
                items.iter().map(byte).collect::<Result<_, _>>()?
            }
        };
        Ok(wrapped(&class, made(value)))
    })
    .fixed()
    .slow(""),
    Def::new("decode", |vm, args| {
        let bytes = bytes(args)?;
        let [_, encoding, errors] = args.bind("decode", &["self", "encoding", "errors"], 1)?;
        codecs::decode(vm, &bytes, &encoding, &errors).map(Value::str)
    }),
    Def::new("hex", |_, args| match (args.len(), args.keywords.len()) {
        (0 | 1, 0) => Ok(Value::str(bytes(args)?.iter().map(|b| format!("{b:02x}")).collect::<String>())),
        _ => Err(Exc::slow()),
    })
    .slow("_bytes_hex"),
    Def::new("fromhex", |vm, args| {
        let [_, text] = args.exactly::<2>("fromhex")?;
        let text = text.as_str().ok_or_else(|| Exc::ty(format!("fromhex() argument must be str, not {}", vm.type_name(&text))))?;
        let digits: Vec<(usize, char)> = text.chars().enumerate().filter(|(_, c)| !c.is_ascii_whitespace()).collect();
        let mut out = Vec::with_capacity(digits.len() / 2);
        for pair in digits.chunks(2) {
            let digit = |at: usize| pair.get(at).and_then(|(_, c)| c.to_digit(16));
            let wrong = if digit(0).is_none() { pair[0].0 } else { pair[0].0 + 1 };
            let (Some(a), Some(b)) = (digit(0), digit(1)) else {
                return Err(Exc::value(format!("non-hexadecimal number found in fromhex() arg at position {wrong}")));
            };
            out.push((a * 16 + b) as u8);
        }
        Ok(made(out))
    })
    .class_method(),
    Def::new("join", |vm, args| {
        let separator = bytes(args)?;
        let [_, iterable] = args.exactly::<2>("join")?;
        let mut out = Vec::new();
        for (i, item) in vm.items_of(&iterable)?.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(&separator);
            }
            match item.plain() {
                Value::Bytes(part) => out.extend_from_slice(part),
                Value::Instance(_) => return Err(Exc::slow()),
                other => {
                    let kind = vm.type_name(other);
                    return Err(Exc::ty(format!("sequence item {i}: expected a bytes-like object, {kind} found")));
                }
            }
        }
        Ok(made(out))
    })
    .slow("_bytes_join"),
    Def::new("__repr__", |_, args| Ok(Value::str(text::quote::bytes(&bytes(args)?)))),
];

pub(super) fn install(types: &Types) {
    fill(&types.tuple, "tuple", COMPARISONS);
    fill(&types.tuple, "tuple", HASH);
    fill(&types.tuple, "tuple", SEQUENCE);
    fill(&types.tuple, "tuple", TUPLE);
    fill(&types.range, "range", COMPARISONS);
    fill(&types.range, "range", HASH);
    fill(&types.range, "range", SEQUENCE);
    fill(&types.range, "range", RANGE);
    fill(&types.slice, "slice", SLICE);
    fill(&types.alias, "GenericAlias", ALIAS);
    fill(&types.bytes, "bytes", COMPARISONS);
    fill(&types.bytes, "bytes", HASH);
    fill(&types.bytes, "bytes", SEQUENCE);
    fill(&types.bytes, "bytes", BYTES);
    fill(&types.bytes, "bytes", TEXTUAL);
}
