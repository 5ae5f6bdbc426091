//! `str`.

use super::numbers::{COMMON, COMPARISONS, HASH, class_and, wrapped};
use super::{Def, Types, codecs, fill, quick};
use crate::objects::{Args, Exc, Str, Value, watch};
use crate::text::{split, strings, unicode};
use crate::vm::Vm;
use crate::vm::compare;
use std::rc::Rc;

fn new(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let class = class_and(args)?;
    let [object, encoding, errors] = args.bind("str", &["object", "encoding", "errors"], 0)?;
    if !matches!((&encoding, &errors), (Value::Unbound, Value::Unbound)) {
        let Value::Bytes(bytes) = object.plain() else {
            if let Some(bytes) = vm.special(&object, &vm.intern("decode")) {
                return Err(Exc::call(bytes, vec![or_strict(encoding, "utf-8"), or_strict(errors, "strict")]));
            }
            return Err(Exc::ty(match object.as_str() {
                Some(_) => "decoding str is not supported".to_string(),
                None => format!("decoding to str: need a bytes-like object, {} found", vm.type_name(&object)),
            }));
        };
        return codecs::decode(vm, bytes, &encoding, &errors).map(|text| wrapped(&class, Value::str(text)));
    }
    if matches!(object, Value::Unbound) {
        return Ok(wrapped(&class, Value::str("")));
    }
    match vm.str_value(&object) {
        Ok(text) => Ok(wrapped(&class, text)),
        Err(exc) => Err(exc.and_then(move |_, text| Ok(wrapped(&class, text)))),
    }
}

fn or_strict(value: Value, default: &str) -> Value {
    if matches!(value, Value::Unbound) { Value::str(default) } else { value }
}

/// The string that a method is called on.
fn this(args: &Args) -> Result<Rc<Str>, Exc> {
    match args.values.first().map(Value::plain) {
        Some(Value::Str(text)) => Ok(text.clone()),
        _ => Err(Exc::ty("descriptor requires a 'str' object")),
    }
}

fn text_of<'a>(vm: &Vm, value: &'a Value, name: &str) -> Result<&'a str, Exc> {
    value.as_str().ok_or_else(|| Exc::ty(format!("{name} must be str, not {}", vm.type_name(value))))
}

fn simple(args: &mut Args, name: &str, work: impl FnOnce(&str) -> String) -> Result<Value, Exc> {
    let text = this(args)?;
    args.exactly::<1>(name)?;
    Ok(Value::str(work(text.as_str())))
}

fn test(args: &mut Args, name: &str, work: impl FnOnce(&str) -> bool) -> Result<Value, Exc> {
    let text = this(args)?;
    args.exactly::<1>(name)?;
    Ok(Value::bool(work(text.as_str())))
}

fn every(text: &str, work: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(work)
}

fn splitting(vm: &mut Vm, args: &mut Args, right: bool) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, separator, most] = args.bind(if right { "rsplit" } else { "split" }, &["self", "sep", "maxsplit"], 1)?;
    let separator = match &separator {
        Value::Unbound | Value::None => None,
        other => Some(other.as_str().ok_or_else(|| Exc::ty(format!("must be str or None, not {}", vm.type_name(other))))?),
    };
    let most = match &most {
        Value::Unbound => None,
        other => usize::try_from(vm.index_of(other)?).ok(),
    };
    let parts = if right { split::rsplit(text.as_str(), separator, most)? } else { split::split(text.as_str(), separator, most)? };
    vm.reserve(parts.len() * 64)?;
    Ok(Value::list(parts.into_iter().map(Value::from).collect()))
}

fn stripping(args: &mut Args, name: &str, ends: strings::Ends) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, characters] = args.bind(name, &["self", "/chars"], 1)?;
    let characters = match &characters {
        Value::Unbound | Value::None => None,
        other => Some(other.as_str().ok_or_else(|| Exc::ty("strip arg must be None or str"))?),
    };
    Ok(Value::str(strings::strip(text.as_str(), characters, ends)))
}

/// The part between optional positions, with the byte where it begins; `None` where it begins beyond the end.
fn part<'a>(vm: &Vm, text: &'a Str, start: &Value, stop: &Value) -> Result<Option<(&'a str, usize)>, Exc> {
    let len = text.len() as i64;
    let place = |value: &Value, default: i64| -> Result<i64, Exc> {
        Ok(match value {
            Value::Unbound | Value::None => default,
            other => {
                let at = vm.index_of(other)?;
                if at < 0 { (at + len).max(0) } else { at }
            }
        })
    };
    let (start, stop) = (place(start, 0)?, place(stop, len)?.min(len));
    if start > len || start > stop {
        return Ok(None);
    }
    Ok(Some((text.slice(start as usize, stop as usize), text.byte(start as usize))))
}

fn finding(vm: &mut Vm, args: &mut Args, name: &'static str, right: bool) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, needle, start, stop] = args.bind(name, &["self", "/sub", "/start", "/end"], 2)?;
    let needle = text_of(vm, &needle, "argument")?;
    let found = part(vm, &text, &start, &stop)?.and_then(|(inside, byte)| {
        let at = if right { inside.rfind(needle) } else { inside.find(needle) };
        at.map(|at| text.position(byte + at))
    });
    match found {
        Some(at) => Ok(Value::from(at)),
        None if name.ends_with("index") => Err(Exc::value("substring not found")),
        None => Ok(Value::Int(-1)),
    }
}

fn begins(vm: &mut Vm, args: &mut Args, name: &'static str, end: bool) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, prefix, start, stop] = args.bind(name, &["self", "/prefix", "/start", "/end"], 2)?;
    let prefixes = match prefix.plain() {
        Value::Tuple(items) => items.to_vec(),
        other => vec![other.clone()],
    };
    let Some((inside, _)) = part(vm, &text, &start, &stop)? else { return Ok(Value::bool(false)) };
    let prefix_is_tuple = matches!(prefix.plain(), Value::Tuple(_));
    for prefix in &prefixes {
        let Some(prefix) = prefix.as_str() else {
            let kind = vm.type_name(prefix);
            return Err(Exc::ty(match prefix_is_tuple {
                true => format!("tuple for {name} must only contain str, not {kind}"),
                false => format!("{name} first arg must be str or a tuple of str, not {kind}"),
            }));
        };
        if if end { inside.ends_with(prefix) } else { inside.starts_with(prefix) } {
            return Ok(Value::bool(true));
        }
    }
    Ok(Value::bool(false))
}

fn padding(
    vm: &mut Vm,
    args: &mut Args,
    name: &str,
    work: fn(&str, usize, char) -> Result<String, crate::text::Failure>,
) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, width, fill] = args.bind(name, &["self", "/width", "/fillchar"], 2)?;
    let fill = match &fill {
        Value::Unbound => ' ',
        other => {
            let mut chars = text_of(vm, other, "The fill character")?.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => c,
                _ => return Err(Exc::ty("The fill character must be exactly one character long")),
            }
        }
    };
    let width = vm.index_of(&width)?.max(0) as usize;
    vm.reserve(width)?;
    Ok(Value::str(work(text.as_str(), width, fill)?))
}

fn join(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, iterable] = args.exactly::<2>("join")?;
    let items = match vm.items_of(&iterable) {
        Err(exc) if exc.is_new(crate::objects::Kind::TypeError) => return Err(Exc::ty("can only join an iterable")),
        other => other?,
    };
    if watch::on()
        && let Some(joined) = vm.marked_text(&Value::Str(text.clone()), &items)
    {
        return Ok(joined);
    }
    let mut size = 0;
    for (i, item) in items.iter().enumerate() {
        match item.as_str() {
            Some(part) => size += part.len() + text.as_str().len(),
            None => return Err(Exc::ty(format!("sequence item {i}: expected str instance, {} found", vm.type_name(item)))),
        }
    }
    vm.reserve(size)?;
    let mut out = String::with_capacity(size);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(text.as_str());
        }
        out.push_str(item.as_str().unwrap_or_default());
    }
    Ok(Value::str(out))
}

fn parted(vm: &mut Vm, args: &mut Args, right: bool) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, separator] = args.exactly::<2>("partition")?;
    let separator = text_of(vm, &separator, "argument")?.to_string();
    let (a, b, c) = if right { strings::rpartition(text.as_str(), &separator)? } else { strings::partition(text.as_str(), &separator)? };
    Ok(Value::tuple(vec![a.into(), b.into(), c.into()]))
}

fn replace(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, old, new, count] = args.bind("replace", &["self", "/old", "/new", "/count"], 3)?;
    let most = match &count {
        Value::Unbound => None,
        other => usize::try_from(vm.index_of(other)?).ok(),
    };
    let (old, new) = (text_of(vm, &old, "replace() argument 1")?, text_of(vm, &new, "replace() argument 2")?);
    let times = if old.is_empty() { text.len() + 1 } else { text.as_str().len() / old.len() };
    vm.reserve(times.min(most.unwrap_or(times)).saturating_mul(new.len()))?;
    Ok(Value::str(strings::replace(text.as_str(), old, new, most)?))
}

fn encode(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, encoding, errors] = args.bind("encode", &["self", "encoding", "errors"], 1)?;
    codecs::encode(vm, text.as_str(), &encoding, &errors)
}

fn translate(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let text = this(args)?;
    let [_, table] = args.exactly::<2>("translate")?;
    let mut out = String::new();
    for (i, c) in text.as_str().chars().enumerate() {
        if i % 1024 == 0 {
            vm.reserve(out.len().saturating_mul(2))?;
        }
        match vm.builtin_item(table.plain(), &Value::Int(i64::from(u32::from(c)))) {
            Ok(Value::None) => {}
            Ok(value) => match (value.as_str(), value.to_i64().and_then(|v| u32::try_from(v).ok()).and_then(char::from_u32)) {
                (Some(text), _) => {
                    if text.len() > 64 {
                        vm.reserve(out.len().saturating_mul(2).saturating_add(text.len()))?;
                    }
                    out.push_str(text);
                }
                (None, Some(c)) => out.push(c),
                _ => return Err(Exc::ty("character mapping must return integer, None or str")),
            },
            Err(exc) if exc.is_new(crate::objects::Kind::KeyError) => out.push(c),
            Err(exc) => return Err(exc),
        }
    }
    Ok(Value::str(out))
}

fn maketrans(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, y, z] = args.bind("maketrans", &["/x", "/y", "/z"], 1)?;
    let dict = crate::objects::Dict::new();
    let code = |c: char| Value::Int(i64::from(u32::from(c)));
    if let Value::Dict(table) = &x {
        let pairs: Vec<(Value, Value)> = table.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        for (key, value) in pairs {
            let mut characters = key.as_str().unwrap_or_default().chars();
            let key = match (characters.next(), characters.next()) {
                (Some(c), None) => code(c),
                (None, _) if key.as_str().is_none() => key,
                _ => return Err(Exc::value("string keys in translate table must be of length 1")),
            };
            crate::vm::index::set_in(&dict, &key, value)?;
        }
        return Ok(Value::Dict(dict));
    }
    if matches!(y, Value::Unbound) {
        return Err(Exc::ty("if you give only one argument to maketrans it must be a dict"));
    }
    let (from, to) = (text_of(vm, &x, "maketrans() argument 1")?, text_of(vm, &y, "maketrans() argument 2")?);
    if from.chars().count() != to.chars().count() {
        return Err(Exc::value("the first two maketrans arguments must have equal length"));
    }
    for (a, b) in from.chars().zip(to.chars()) {
        crate::vm::index::set_in(&dict, &code(a), code(b))?;
    }
    for c in z.as_str().unwrap_or_default().chars() {
        crate::vm::index::set_in(&dict, &code(c), Value::None)?;
    }
    Ok(Value::Dict(dict))
}

const METHODS: &[Def] = &[
    Def::new("__new__", new).fixed().quick(quick::str_new),
    Def::new("__str__", |_, args| this(args).map(Value::Str)),
    Def::new("__len__", |_, args| this(args).map(|t| Value::from(t.len()))),
    Def::new("__iter__", |vm, args| {
        let text = Value::Str(this(args)?);
        vm.iter(&text)
    }),
    Def::new("__contains__", |vm, args| {
        let [text, part] = args.exactly::<2>("__contains__")?;
        vm.contains(&text.plain().clone(), &part).map(Value::bool)
    }),
    Def::new("__getitem__", |vm, args| {
        let [text, key] = args.exactly::<2>("__getitem__")?;
        vm.builtin_item(&text.plain().clone(), &key)
    }),
    Def::new("__add__", |vm, args| {
        let [a, b] = args.exactly::<2>("__add__")?;
        vm.binary(crate::bytecode::Binary::Add, a.plain().clone(), b.plain().clone())
    }),
    Def::new("__mul__", |vm, args| {
        let [a, b] = args.exactly::<2>("__mul__")?;
        vm.binary(crate::bytecode::Binary::Mul, a.plain().clone(), b)
    }),
    Def::new("__mod__", |vm, args| {
        let [a, b] = args.exactly::<2>("__mod__")?;
        vm.binary(crate::bytecode::Binary::Mod, a.plain().clone(), b)
    }),
    Def::new("lower", |_, args| simple(args, "lower", unicode::lower)).quick(quick::lower),
    Def::new("upper", |_, args| simple(args, "upper", unicode::upper)).quick(quick::upper),
    Def::new("casefold", |_, args| simple(args, "casefold", unicode::casefold)),
    Def::new("capitalize", |_, args| simple(args, "capitalize", unicode::capitalize)),
    Def::new("title", |_, args| simple(args, "title", unicode::title)),
    Def::new("swapcase", |_, args| simple(args, "swapcase", unicode::swap_case)),
    Def::new("isalpha", |_, args| test(args, "isalpha", |t| every(t, unicode::is_alpha))),
    Def::new("isdigit", |_, args| test(args, "isdigit", |t| every(t, unicode::is_digit))),
    Def::new("isdecimal", |_, args| test(args, "isdecimal", |t| every(t, |c| unicode::decimal(c).is_some()))),
    Def::new("isnumeric", |_, args| test(args, "isnumeric", |t| every(t, unicode::is_numeric))),
    Def::new("isalnum", |_, args| test(args, "isalnum", |t| every(t, unicode::is_alnum))),
    Def::new("isspace", |_, args| test(args, "isspace", |t| every(t, unicode::is_space))),
    Def::new("isprintable", |_, args| test(args, "isprintable", |t| t.chars().all(unicode::is_printable))),
    Def::new("isascii", |_, args| test(args, "isascii", str::is_ascii)),
    Def::new("isidentifier", |_, args| test(args, "isidentifier", unicode::is_identifier)),
    Def::new("islower", |_, args| test(args, "islower", unicode::all_lower)),
    Def::new("isupper", |_, args| test(args, "isupper", unicode::all_upper)),
    Def::new("istitle", |_, args| test(args, "istitle", unicode::is_title)),
    Def::new("split", |vm, args| splitting(vm, args, false)).quick(quick::split),
    Def::new("rsplit", |vm, args| splitting(vm, args, true)),
    Def::new("splitlines", |_, args| {
        let text = this(args)?;
        let [_, keep] = args.bind("splitlines", &["self", "keepends"], 1)?;
        let keep = !matches!(keep, Value::Unbound) && compare::truth(&keep) == Some(true);
        Ok(Value::list(split::splitlines(text.as_str(), keep).into_iter().map(Value::from).collect()))
    }),
    Def::new("strip", |_, args| stripping(args, "strip", strings::Ends::Both)).quick(quick::strip),
    Def::new("lstrip", |_, args| stripping(args, "lstrip", strings::Ends::Left)),
    Def::new("rstrip", |_, args| stripping(args, "rstrip", strings::Ends::Right)),
    Def::new("find", |vm, args| finding(vm, args, "find", false)),
    Def::new("rfind", |vm, args| finding(vm, args, "rfind", true)),
    Def::new("index", |vm, args| finding(vm, args, "index", false)),
    Def::new("rindex", |vm, args| finding(vm, args, "rindex", true)),
    Def::new("count", |vm, args| {
        let text = this(args)?;
        let [_, needle, start, stop] = args.bind("count", &["self", "/sub", "/start", "/end"], 2)?;
        let needle = text_of(vm, &needle, "argument")?;
        Ok(Value::from(part(vm, &text, &start, &stop)?.map_or(0, |(inside, _)| strings::count(inside, needle))))
    }),
    Def::new("startswith", |vm, args| begins(vm, args, "startswith", false)).quick(quick::starts_with),
    Def::new("endswith", |vm, args| begins(vm, args, "endswith", true)),
    Def::new("removeprefix", |vm, args| {
        let text = this(args)?;
        let [_, prefix] = args.exactly::<2>("removeprefix")?;
        let prefix = text_of(vm, &prefix, "removeprefix() argument")?;
        Ok(Value::str(text.as_str().strip_prefix(prefix).unwrap_or(text.as_str())))
    }),
    Def::new("removesuffix", |vm, args| {
        let text = this(args)?;
        let [_, suffix] = args.exactly::<2>("removesuffix")?;
        let suffix = text_of(vm, &suffix, "removesuffix() argument")?;
        Ok(Value::str(text.as_str().strip_suffix(suffix).unwrap_or(text.as_str())))
    }),
    Def::new("replace", replace).quick(quick::replace),
    Def::new("join", join).slow("").quick(quick::join),
    Def::new("partition", |vm, args| parted(vm, args, false)),
    Def::new("rpartition", |vm, args| parted(vm, args, true)),
    Def::new("ljust", |vm, args| padding(vm, args, "ljust", strings::ljust)),
    Def::new("rjust", |vm, args| padding(vm, args, "rjust", strings::rjust)),
    Def::new("center", |vm, args| padding(vm, args, "center", strings::center)),
    Def::new("zfill", |vm, args| {
        let text = this(args)?;
        let [_, width] = args.exactly::<2>("zfill")?;
        Ok(Value::str(strings::zfill(text.as_str(), vm.index_of(&width)?.max(0) as usize)?))
    }),
    Def::new("expandtabs", |vm, args| {
        let text = this(args)?;
        let [_, size] = args.bind("expandtabs", &["self", "tabsize"], 1)?;
        let size = if matches!(size, Value::Unbound) { 8 } else { vm.index_of(&size)?.max(0) as usize };
        Ok(Value::str(strings::expandtabs(text.as_str(), size)?))
    }),
    Def::new("encode", encode),
    Def::new("translate", translate),
    Def::new("maketrans", maketrans).fixed(),
    Def::new("format", |vm, args| {
        let template = args.values.remove(0);
        let values: Vec<Value> = args.values.drain(..).collect();
        let keywords = crate::objects::Dict::new();
        for (name, value) in args.keywords.drain(..) {
            keywords.set_str(&name, value);
        }
        Err(vm.by_prelude("_format", vec![template, Value::tuple(values), Value::Dict(keywords)]))
    }),
    Def::new("format_map", |vm, args| {
        let [template, mapping] = args.exactly::<2>("format_map")?;
        Err(vm.by_prelude("_format", vec![template, Value::tuple(vec![]), mapping]))
    }),
];

pub(in crate::builtins) fn install(types: &Types) {
    fill(&types.str, "str", COMPARISONS);
    fill(&types.str, "str", COMMON);
    fill(&types.str, "str", HASH);
    fill(&types.str, "str", METHODS);
}
