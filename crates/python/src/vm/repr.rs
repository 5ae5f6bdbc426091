//! `repr`, `str` and formatting of values.

use super::Vm;
use crate::bytecode::Code;
use crate::host;
use crate::objects::{Exc, Kind, Other, Value, ViewKind, watch};
use crate::text::{self, Failure};
use std::rc::Rc;

const DEPTH: usize = 200;

impl From<Failure> for Exc {
    fn from(failure: Failure) -> Exc {
        let kind = Kind::ALL.iter().find(|(_, name, _)| *name == failure.kind).map_or(Kind::ValueError, |(kind, _, _)| *kind);
        Exc::new(kind, failure.message)
    }
}

impl Vm {
    /// `repr(value)` without Python code; [`Exc::slow`] where a class defines it in Python.
    pub fn repr_native(&mut self, value: &Value) -> Result<String, Exc> {
        let mut out = String::new();
        let mut around = Vec::new();
        self.write_repr(value, &mut out, &mut around)?;
        Ok(out)
    }

    fn write_items(&mut self, items: &[Value], out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write_repr(item, out, around)?;
        }
        if host::take_interrupt() {
            return Err(Exc::new(Kind::KeyboardInterrupt, ""));
        }
        if out.len() > 1 << 20 {
            self.reserve(out.len() * 2)?;
        }
        Ok(())
    }

    fn write_pairs(&mut self, pairs: &[(Value, Value)], out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        for (i, (key, item)) in pairs.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write_repr(key, out, around)?;
            out.push_str(": ");
            self.write_repr(item, out, around)?;
        }
        Ok(())
    }

    fn write_repr(&mut self, value: &Value, out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        if around.len() > DEPTH {
            return Err(Exc::new(Kind::RecursionError, "maximum recursion depth exceeded while getting the repr of an object"));
        }
        match value {
            Value::Unbound => out.push_str("<unbound>"),
            Value::None => out.push_str("None"),
            Value::NotImplemented => out.push_str("NotImplemented"),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::Bool(b) => out.push_str(if b.get() { "True" } else { "False" }),
            Value::Int(i) => {
                use std::fmt::Write;
                let _ = write!(out, "{i}");
            }
            Value::Big(b) => out.push_str(&text::int::to_decimal(b)?),
            Value::Float(f) => out.push_str(&text::float::repr(f.get())),
            Value::Str(s) => out.push_str(&text::quote::text(s.as_str())),
            Value::Bytes(b) => out.push_str(&text::quote::bytes(b)),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Set(_) => {
                let address = value.address();
                if around.contains(&address) {
                    out.push_str(match value {
                        Value::List(_) => "[...]",
                        Value::Tuple(_) => "(...)",
                        Value::Dict(_) => "{...}",
                        Value::Set(set) if set.frozen => "frozenset(...)",
                        _ => "set(...)",
                    });
                    return Ok(());
                }
                around.push(address);
                self.write_container(value, out, around)?;
                around.pop();
            }
            Value::Range(r) if r.step == 1 => out.push_str(&format!("range({}, {})", r.start, r.stop)),
            Value::Range(r) => out.push_str(&format!("range({}, {}, {})", r.start, r.stop, r.step)),
            Value::Slice(s) => {
                around.push(value.address());
                out.push_str("slice(");
                self.write_items(&[s.start.clone(), s.stop.clone(), s.step.clone()], out, around)?;
                out.push(')');
                around.pop();
            }
            Value::Function(f) => out.push_str(&format!("<function {} at {}>", f.qualname.borrow().as_str(), address(value))),
            Value::Native(n) if n.method => out.push_str(&format!("<method '{}' of '{}' objects>", n.name.as_str(), n.owner)),
            Value::Native(n) => out.push_str(&format!("<built-in function {}>", n.name.as_str())),
            Value::Method(m) => match &m.function {
                Value::Function(f) => {
                    out.push_str(&format!("<bound method {} of ", f.qualname.borrow().as_str()));
                    around.push(value.address());
                    self.write_repr(&m.object, out, around)?;
                    around.pop();
                    out.push('>');
                }
                Value::Native(n) => {
                    let kind = self.type_name(&m.object);
                    out.push_str(&format!("<built-in method {} of {kind} object at {}>", n.name.as_str(), address(&m.object)));
                }
                _ => out.push_str(&format!("<bound method at {}>", address(value))),
            },
            Value::Class(class) => {
                if class.meta.borrow().as_ref().is_some_and(|meta| matches!(meta.lookup(&self.names.repr), Some(Value::Function(_)))) {
                    return Err(Exc::slow());
                }
                out.push_str(&format!("<class '{}'>", self.full_name(class)));
            }
            Value::Module(module) => match module.attrs.get_str(&self.names.file) {
                Some(Value::Str(file)) => out.push_str(&format!("<module '{}' from '{}'>", module.name.as_str(), file.as_str())),
                _ => out.push_str(&format!("<module '{}' (built-in)>", module.name.as_str())),
            },
            Value::Generator(g) => out.push_str(&format!("<generator object {} at {}>", g.qualname.as_str(), address(value))),
            Value::Iterator(i) => out.push_str(&format!("<{} object at {}>", i.type_name(), address(value))),
            Value::Cell(_) => out.push_str(&format!("<cell at {}>", address(value))),
            Value::Code(code) => out.push_str(&code_repr(code, value)),
            Value::Other(other) => self.write_other(other, value, out, around)?,
            Value::Instance(_) => self.write_instance(value, out, around)?,
        }
        Ok(())
    }

    fn write_container(&mut self, value: &Value, out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        match value {
            Value::List(list) => {
                out.push('[');
                let items = list.borrow().clone();
                self.write_items(&items, out, around)?;
                out.push(']');
            }
            Value::Tuple(items) => {
                out.push('(');
                self.write_items(items, out, around)?;
                out.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            Value::Dict(dict) => {
                out.push('{');
                let pairs: Vec<(Value, Value)> = dict.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                self.write_pairs(&pairs, out, around)?;
                out.push('}');
            }
            Value::Set(set) => {
                let items: Vec<Value> = set.borrow().iter().map(|(_, v)| v.clone()).collect();
                match (set.frozen, items.is_empty()) {
                    (false, true) => out.push_str("set()"),
                    (true, true) => out.push_str("frozenset()"),
                    (frozen, false) => {
                        out.push_str(if frozen { "frozenset({" } else { "{" });
                        self.write_items(&items, out, around)?;
                        out.push_str(if frozen { "})" } else { "}" });
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn write_other(&mut self, other: &Rc<Other>, value: &Value, out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        match &**other {
            Other::View(kind, dict) => {
                let dict = dict.clone();
                around.push(value.address());
                let pairs: Vec<(Value, Value)> = dict.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                let (name, items): (&str, Vec<Value>) = match kind {
                    ViewKind::Keys => ("dict_keys", pairs.into_iter().map(|(k, _)| k).collect()),
                    ViewKind::Values => ("dict_values", pairs.into_iter().map(|(_, v)| v).collect()),
                    ViewKind::Items => ("dict_items", pairs.into_iter().map(|(k, v)| Value::tuple(vec![k, v])).collect()),
                };
                if dict.ordered.get() {
                    out.push('o');
                }
                out.push_str(name);
                out.push_str("([");
                self.write_items(&items, out, around)?;
                out.push_str("])");
                around.pop();
            }
            Other::MappingProxy(dict) => {
                out.push_str("mappingproxy(");
                self.write_repr(&Value::Dict(dict.clone()), out, around)?;
                out.push(')');
            }
            Other::Alias { origin: Value::Str(sign), args: Value::Tuple(parts) } if sign.as_str() == "|" => {
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        out.push_str(" | ");
                    }
                    self.write_type(part, out, around)?;
                }
            }
            Other::Alias { origin, args } => {
                self.write_type(origin, out, around)?;
                out.push('[');
                if let Value::Tuple(args) = args {
                    for (i, arg) in args.iter().enumerate() {
                        if i > 0 {
                            out.push_str(", ");
                        }
                        self.write_type(arg, out, around)?;
                    }
                }
                out.push(']');
            }
            Other::Super { class, object, .. } => {
                let kind = self.type_name(object);
                out.push_str(&format!("<super: <class '{}'>, <{kind} object>>", class.name().as_str()));
            }
            Other::Complex(re, im) => out.push_str(&text::float::complex_repr(*re, *im)),
            Other::GetSet { name, .. } => out.push_str(&format!("<attribute '{name}'>")),
            Other::Property { .. } => out.push_str(&format!("<property object at {}>", address(value))),
            Other::StaticMethod(_) => out.push_str(&format!("<staticmethod object at {}>", address(value))),
            Other::ClassMethod(_) => out.push_str(&format!("<classmethod object at {}>", address(value))),
            Other::Host(_) => out.push_str("<host object>"),
            Other::Marked(..) => return self.write_repr(value.plain(), out, around),
        }
        Ok(())
    }

    fn write_type(&mut self, value: &Value, out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        match value {
            Value::Class(class) => out.push_str(&self.full_name(class)),
            Value::Ellipsis => out.push_str("..."),
            other => {
                around.push(0);
                self.write_repr(other, out, around)?;
                around.pop();
            }
        }
        Ok(())
    }

    /// A class's name with its module, as `repr` shows it.
    pub fn full_name(&self, class: &crate::objects::Class) -> String {
        let qualname = class.qualname.borrow().clone();
        match class.attrs.get_str(&self.names.module) {
            Some(Value::Str(module)) if module.as_str() != "builtins" => format!("{}.{}", module.as_str(), qualname.as_str()),
            _ => qualname.as_str().to_string(),
        }
    }

    fn write_instance(&mut self, value: &Value, out: &mut String, around: &mut Vec<usize>) -> Result<(), Exc> {
        let Value::Instance(instance) = value else { return Ok(()) };
        let class = instance.class().clone();
        match class.lookup(&self.names.repr) {
            Some(Value::Native(native)) if matches!(native.owner, "set" | "frozenset") => {
                let address = value.address();
                let name = class.name().as_str().to_string();
                let members: Vec<Value> = match value.plain() {
                    Value::Set(set) => set.borrow().iter().map(|(_, v)| v.clone()).collect(),
                    _ => Vec::new(),
                };
                if around.contains(&address) {
                    out.push_str(&format!("{name}(...)"));
                } else if members.is_empty() {
                    out.push_str(&format!("{name}()"));
                } else {
                    around.push(address);
                    out.push_str(&format!("{name}({{"));
                    self.write_items(&members, out, around)?;
                    out.push_str("})");
                    around.pop();
                }
                Ok(())
            }
            Some(Value::Native(native)) if native.owner == "object" => {
                out.push_str(&format!("<{} object at {}>", self.full_name(&class), address(value)));
                Ok(())
            }
            Some(Value::Native(native)) if native.owner == "BaseException" => {
                let args = instance.exception().map(|data| data.borrow().args.clone()).unwrap_or_default();
                out.push_str(class.name().as_str());
                out.push('(');
                around.push(value.address());
                self.write_items(&args, out, around)?;
                around.pop();
                out.push(')');
                Ok(())
            }
            Some(Value::Native(native)) if native.owner != "host" && instance.base_value().is_some() => {
                let base = instance.base_value().cloned().unwrap_or_default();
                self.write_repr(&base, out, around)
            }
            _ => Err(Exc::slow()),
        }
    }

    /// `str(value)` without Python code.
    pub fn str_native(&mut self, value: &Value) -> Result<String, Exc> {
        match value {
            Value::Str(text) => Ok(text.as_str().to_string()),
            Value::Other(other) if matches!(**other, Other::Marked(..)) => self.str_native(&value.plain().clone()),
            Value::Other(other) if let Other::MappingProxy(dict) = &**other => self.str_native(&Value::Dict(dict.clone())),
            Value::Instance(instance) => {
                let class = instance.class().clone();
                match class.lookup(&self.names.str) {
                    Some(Value::Native(native)) if native.owner == "BaseException" => {
                        let args = instance.exception().map(|data| data.borrow().args.clone()).unwrap_or_default();
                        if let Some(text) = crate::builtins::exceptions::own_text(self, value) {
                            return Ok(text);
                        }
                        if class.is_subclass(&self.types.exception(Kind::KeyError)) && args.len() == 1 {
                            return self.repr_native(&args[0]);
                        }
                        match args.as_slice() {
                            [] => Ok(String::new()),
                            [one] => self.str_native(one),
                            all => {
                                if class.is_subclass(&self.types.exception(Kind::OSError)) && (all.len() == 2 || all.len() == 3) {
                                    let mut text = format!("[Errno {}] {}", self.str_native(&all[0])?, self.str_native(&all[1])?);
                                    let named = all.get(2).cloned().or_else(|| instance.attrs()?.get("filename"));
                                    if let Some(file) = named.filter(|file| !matches!(file, Value::None)) {
                                        text.push_str(": ");
                                        text.push_str(&self.repr_native(&file)?);
                                        if let Some(second) = instance.attrs().and_then(|attrs| attrs.get("filename2")) {
                                            text.push_str(" -> ");
                                            text.push_str(&self.repr_native(&second)?);
                                        }
                                    }
                                    return Ok(text);
                                }
                                self.repr_native(&Value::tuple(all.to_vec()))
                            }
                        }
                    }
                    Some(Value::Native(native)) if native.owner == "object" => match instance.base_value() {
                        Some(Value::Str(text)) if matches!(class.lookup(&self.names.repr), Some(Value::Native(_))) => {
                            Ok(text.as_str().to_string())
                        }
                        _ => self.repr_native(value),
                    },
                    Some(Value::Native(native)) if native.owner == "str" => match instance.base_value() {
                        Some(Value::Str(text)) => Ok(text.as_str().to_string()),
                        _ => Err(Exc::slow()),
                    },
                    _ => Err(Exc::slow()),
                }
            }
            other => self.repr_native(other),
        }
    }

    /// A field of an f-string.
    pub(crate) fn format_value(&mut self, value: Value, conversion: u8, spec: Value) -> Result<Value, Exc> {
        if value.marked().is_some() || spec.marked().is_some() {
            let text = self.format_value(value.bare().clone(), conversion, spec.bare().clone())?;
            return Ok(watch::mark(watch::NodeOp::Format(conversion), vec![watch::arg(&value), watch::arg(&spec)], &text));
        }
        let value = match conversion {
            0 => value,
            _ => {
                let converted = match conversion {
                    1 => self.str_value(&value),
                    _ => self.repr_value(&value),
                };
                let ascii = conversion == 3;
                match converted {
                    Ok(text) => {
                        if ascii {
                            to_ascii(&text)
                        } else {
                            text
                        }
                    }
                    Err(exc) => {
                        return Err(exc.and_then(move |vm, text| vm.format_value(if ascii { to_ascii(&text) } else { text }, 0, spec)));
                    }
                }
            }
        };
        self.format(&value, &spec)
    }

    /// `str(value)`.
    pub fn str_value(&mut self, value: &Value) -> Result<Value, Exc> {
        if let Value::Str(_) = value {
            return Ok(value.clone());
        }
        match self.str_native(value) {
            Ok(text) => Ok(Value::str(text)),
            Err(exc) if exc.is_slow() => Err(self.slow_op("_str", vec![value.clone()])),
            Err(exc) => Err(exc),
        }
    }

    /// `repr(value)`.
    pub fn repr_value(&mut self, value: &Value) -> Result<Value, Exc> {
        match self.repr_native(value) {
            Ok(text) => Ok(Value::str(text)),
            Err(exc) if exc.is_slow() => Err(self.slow_op("_repr", vec![value.clone()])),
            Err(exc) => Err(exc),
        }
    }

    /// `format(value, spec)`; no specification where `spec` is unbound.
    pub fn format(&mut self, value: &Value, spec: &Value) -> Result<Value, Exc> {
        let text = match spec {
            Value::Unbound => "",
            other => other.as_str().ok_or_else(|| Exc::ty("format() argument 2 must be str"))?,
        };
        if let Value::Instance(instance) = value {
            let method = instance.class().lookup(&self.names.format);
            match method {
                Some(Value::Native(native)) if native.owner != "host" => {}
                Some(method) => {
                    return Err(Exc::call_then(method, vec![value.clone(), Value::str(text)], |vm, text| match text {
                        text if matches!(text.bare(), Value::Str(_)) => Ok(text),
                        other => Err(Exc::ty(format!("__format__ must return a str, not {}", vm.type_name(&other)))),
                    }));
                }
                None => {}
            }
            let base = instance.base_value().cloned();
            if !text.is_empty() {
                return match base {
                    Some(base @ (Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Big(_) | Value::Bool(_))) => {
                        self.format(&base, spec)
                    }
                    _ => Err(Exc::ty(format!("unsupported format string passed to {}.__format__", self.type_name(value)))),
                };
            }
        }
        if text.is_empty() {
            return self.str_value(value);
        }
        Ok(Value::str(match value {
            Value::Int(_) | Value::Bool(_) | Value::Big(_) => {
                let number = value.to_big().unwrap_or_default();
                text::spec::format_int(&number, text)?
            }
            Value::Float(f) => text::spec::format_float(f.get(), text)?,
            Value::Str(s) => text::spec::format_str(s.as_str(), text)?,
            Value::Other(other) if let Other::Complex(re, im) = &**other => text::spec::format_complex(*re, *im, text)?,
            other => return Err(Exc::ty(format!("unsupported format string passed to {}.__format__", self.type_name(other)))),
        }))
    }
}

fn to_ascii(value: &Value) -> Value {
    Value::str(text::quote::to_ascii(value.as_str().unwrap_or_default()))
}

fn address(value: &Value) -> String {
    format!("{:#x}", value.address())
}

fn code_repr(code: &Code, value: &Value) -> String {
    format!("<code object {} at {}, file \"{}\", line {}>", code.name.as_str(), address(value), code.source.file, code.line)
}
