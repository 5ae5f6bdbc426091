//! `%` and `format` of strings.

pub(super) use super::strmethods::install;
use crate::objects::{Args, Exc, Value};
use crate::text::fields::{self, First, Numbering, Step};
use crate::text::percent::{Amount, Conversion, Piece, Template};
use crate::text::quote;
use crate::vm::Vm;
use num_bigint::BigInt;
use num_traits::FromPrimitive;

/// What `template % values` takes its values from.
struct Values {
    all: Vec<Value>,
    next: usize,
    mapping: Option<Value>,
}

impl Values {
    fn take(&mut self) -> Result<Value, Exc> {
        self.next += 1;
        self.all.get(self.next - 1).cloned().ok_or_else(|| Exc::ty("not enough arguments for format string"))
    }
}

/// `template % values` without Python code.
pub(crate) fn percent(vm: &mut Vm, template: &Value, values: &Value) -> Result<Value, Exc> {
    let text = template.as_str().unwrap_or_default();
    let (all, mapping) = match values {
        Value::Tuple(items) => (items.to_vec(), None),
        Value::Dict(_) => (vec![values.clone()], Some(values.clone())),
        Value::Instance(instance) => match instance.base_value() {
            Some(Value::Tuple(items)) => (items.to_vec(), None),
            Some(Value::Str(_)) => (vec![values.clone()], None),
            _ => (vec![values.clone()], vm.special(values, &vm.names.getitem.clone()).map(|_| values.clone())),
        },
        other => (vec![other.clone()], None),
    };
    let mut values = Values { all, next: 0, mapping };
    let mut out = String::new();
    let mut keyed = false;
    for piece in Template::new(text) {
        match piece? {
            Piece::Literal(text) => out.push_str(&text),
            Piece::Conversion(mut conversion) => {
                keyed |= conversion.key.is_some();
                let value = argument(vm, &mut conversion, &mut values)?;
                out.push_str(&convert(vm, &conversion, &value)?);
            }
        }
    }
    // What has items may be a mapping, which says nothing of how many are used.
    let maybe = matches!(values.all.as_slice(), [Value::List(_)]) && values.next == 0;
    if !keyed && !maybe && values.mapping.is_none() && values.next < values.all.len() {
        return Err(Exc::ty("not all arguments converted during string formatting"));
    }
    vm.reserve(out.len())?;
    Ok(Value::str(out))
}

fn argument(vm: &mut Vm, conversion: &mut Conversion, values: &mut Values) -> Result<Value, Exc> {
    if let Some(key) = &conversion.key {
        let Some(mapping) = values.mapping.clone() else { return Err(Exc::ty("format requires a mapping")) };
        if let Value::Instance(_) = mapping {
            // Its class may say what its items are, and what stands for missing ones.
            return Err(Exc::slow());
        }
        return vm.builtin_item(&mapping, &Value::str(key.as_str()));
    }
    if conversion.width == Amount::Taken {
        let width = values.take()?.to_i64().ok_or_else(|| Exc::ty("* wants int"))?;
        conversion.set_width(width)?;
    }
    if conversion.precision == Amount::Taken {
        let precision = values.take()?.to_i64().ok_or_else(|| Exc::ty("* wants int"))?;
        conversion.set_precision(precision);
    }
    values.take()
}

fn convert(vm: &mut Vm, conversion: &Conversion, value: &Value) -> Result<String, Exc> {
    if let ('d' | 'i' | 's' | 'r', Value::Int(number), true) = (conversion.code, value, conversion.is_plain()) {
        return Ok(number.to_string());
    }
    Ok(match conversion.code {
        's' => conversion.text(&vm.str_native(value)?)?,
        'r' => conversion.text(&vm.repr_native(value)?)?,
        'a' => conversion.text(&quote::to_ascii(&vm.repr_native(value)?))?,
        'd' | 'i' | 'u' | 'o' | 'x' | 'X' => {
            let number = match value.plain() {
                Value::Float(f) if matches!(conversion.code, 'd' | 'i' | 'u') => {
                    if !f.get().is_finite() {
                        super::numbers::int_of_float(f.get())?;
                    }
                    BigInt::from_f64(f.get().trunc()).unwrap_or_default()
                }
                Value::Instance(_) => return Err(Exc::slow()),
                other => other.to_big().ok_or_else(|| Exc::from(conversion.wrong_type(&vm.type_name(value))))?,
            };
            conversion.int(&number)?
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            if let Value::Instance(_) = value.plain() {
                return Err(Exc::slow());
            }
            let number = vm.float_of(value)?;
            conversion.float(number)?
        }
        'c' => match value.plain() {
            Value::Str(text) if text.len() == 1 => conversion.text(text.as_str())?,
            other => match other.to_i64().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32) {
                Some(c) => conversion.text(&c.to_string())?,
                None => return Err(Exc::ty("%c requires int or char")),
            },
        },
        _ => return Err(conversion.unsupported().into()),
    })
}

/// For each conversion of a template: its code, and its key or None. For the prelude, which renders values of classes in Python.
pub(super) fn percent_kinds(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [template] = args.exactly::<1>("_percent_kinds")?;
    let mut kinds = Vec::new();
    for piece in Template::new(template.as_str().unwrap_or_default()) {
        if let Piece::Conversion(conversion) = piece? {
            for amount in [conversion.width, conversion.precision] {
                if amount == Amount::Taken {
                    kinds.push(Value::tuple(vec![Value::str("*"), Value::None]));
                }
            }
            let key = conversion.key.map_or(Value::None, Value::str);
            kinds.push(Value::tuple(vec![Value::str(conversion.code.to_string()), key]));
        }
    }
    Ok(Value::list(kinds))
}

/// A template of `format` as (literal, field name or None, specification, conversion or None).
pub(super) fn format_parts(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [template] = args.exactly::<1>("_format_parts")?;
    let mut parts = Vec::new();
    for segment in fields::segments(template.as_str().unwrap_or_default()) {
        let segment = segment?;
        let (name, spec, conversion) = match segment.field {
            Some(field) => {
                (Value::str(field.name), Value::str(field.spec), field.conversion.map_or(Value::None, |c| Value::str(c.to_string())))
            }
            None => (Value::None, Value::str(""), Value::None),
        };
        parts.push(Value::tuple(vec![Value::str(segment.literal), name, spec, conversion]));
    }
    Ok(Value::list(parts))
}

/// A field name as (first, steps): a step is (is attribute, name or index).
pub(super) fn format_name(_vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name] = args.exactly::<1>("_format_name")?;
    let mut numbering = Numbering::default();
    let (first, steps) = fields::parse_name(name.as_str().unwrap_or_default(), &mut numbering)?;
    let first = match first {
        First::Index(index) => Value::from(index),
        First::Name(name) => Value::str(name),
    };
    let steps = steps
        .into_iter()
        .map(|step| {
            let (attribute, value) = match step {
                Step::Attribute(name) => (true, Value::str(name)),
                Step::Index(index) => (false, Value::from(index)),
                Step::Key(key) => (false, Value::str(key)),
            };
            Value::tuple(vec![Value::bool(attribute), value])
        })
        .collect();
    Ok(Value::tuple(vec![first, Value::list(steps)]))
}
