//! Signatures of operators, in the manner of PyTorch's `native_functions.yaml`:
//! `Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-5`.
//!
//! A row's signature is the only place that knows a parameter's name, type and default. Calls are bound to it once, before they are
//! decomposed: operands by position, arguments by name, and what is left out has its default. An operand may be given by name too:
//! `None` for one that is left out before others, a number where the type says `Tensor|Scalar`.
//!
//! Types: `Tensor`, `Tensor[]` (all operands from there on), `Scalar` (any number), `bool`, `int`, `float`, `str`, `ScalarType`, `SymInt`
//! (a size, which may be symbolic), lists `int[]`, `SymInt[]`, `float[]` and `int[2]` (two, or one number for both). A bar is "or", a
//! question mark allows `None`, and what follows `*` is given by name only.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::expr::Dim;
use crate::op::{Attr, Attrs};
use std::fmt;

/// What a parameter takes; see the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Tensor,
    Tensors,
    Scalar,
    Bool,
    Int,
    SymInt,
    Float,
    Str,
    /// The number of elements where it is fixed, else zero.
    Ints(usize),
    SymInts,
    Floats,
    DType,
}

const NAMES: &[(&str, Type)] = &[
    ("Tensor", Type::Tensor),
    ("Tensor[]", Type::Tensors),
    ("Scalar", Type::Scalar),
    ("bool", Type::Bool),
    ("int", Type::Int),
    ("SymInt", Type::SymInt),
    ("float", Type::Float),
    ("str", Type::Str),
    ("int[]", Type::Ints(0)),
    ("int[1]", Type::Ints(1)),
    ("int[2]", Type::Ints(2)),
    ("int[3]", Type::Ints(3)),
    ("SymInt[]", Type::SymInts),
    ("float[]", Type::Floats),
    ("ScalarType", Type::DType),
];

/// One parameter of an operator.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    pub name: &'static str,
    /// Any of these will do.
    pub types: Vec<Type>,
    /// Whether `None` will do as well.
    pub optional: bool,
    /// Whether it is given by name only.
    pub keyword: bool,
    /// What it is where it is left out; a parameter without one has to be given.
    pub default: Option<Attr>,
}

impl Param {
    /// Whether it is an operand, or a list of them.
    pub fn is_operand(&self) -> bool {
        matches!(self.types[0], Type::Tensor | Type::Tensors)
    }

    /// Whether operands may be fewer than those that have to be there without it.
    fn may_be_absent(&self) -> bool {
        self.default.is_some() || self.types.len() > 1
    }

    // A value in the form in which decompositions read it; `None` where the type is another.
    fn accept(&self, value: &Attr) -> Option<Attr> {
        if *value == Attr::None {
            return self.optional.then_some(Attr::None);
        }
        // Of several types the one that takes the value as it is: a list of one is not a number where both will do.
        let as_is = self.types.iter().find_map(|t| t.accept(value).filter(|v| v == value));
        as_is.or_else(|| self.types.iter().find_map(|t| t.accept(value)))
    }
}

impl Type {
    fn accept(self, value: &Attr) -> Option<Attr> {
        Some(match (self, value) {
            (Type::Bool, Attr::Bool(_)) | (Type::Int | Type::SymInt, Attr::Int(_)) | (Type::Float, Attr::Float(_)) => value.clone(),
            (Type::Scalar, Attr::Bool(_) | Attr::Int(_) | Attr::Float(_)) | (Type::Str, Attr::Str(_)) => value.clone(),
            (Type::SymInts, Attr::Ints(_) | Attr::Dims(_)) | (Type::DType, Attr::DType(_)) | (Type::Floats, Attr::Floats(_)) => {
                value.clone()
            }
            (Type::Float, Attr::Int(v)) => Attr::Float(*v as f64),
            // As in PyTorch a truth value is a number, though no size or dimension.
            (Type::Float, Attr::Bool(v)) => Attr::Float(f64::from(u8::from(*v))),
            (Type::Int | Type::SymInt, Attr::Ints(v)) if v.len() == 1 => Attr::Int(v[0]),
            (Type::SymInt, Attr::Dims(v)) if v.len() == 1 => value.clone(),
            (Type::Ints(_) | Type::SymInts, Attr::Int(v)) => Attr::Ints(vec![*v]),
            (Type::Ints(n), Attr::Ints(v)) if n == 0 || v.len() == 1 || v.len() == n => value.clone(),
            (Type::Ints(0), Attr::Dims(v)) => Attr::Ints(v.iter().map(Dim::as_const).collect::<Option<_>>()?),
            (Type::Floats, Attr::Float(v)) => Attr::Floats(vec![*v]),
            (Type::Floats, Attr::Int(v)) => Attr::Floats(vec![*v as f64]),
            (Type::Floats, Attr::Ints(v)) => Attr::Floats(v.iter().map(|v| *v as f64).collect()),
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(_, t)| t == self).map_or("", |(n, _)| n))
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.types.iter().map(Type::to_string).collect();
        write!(f, "{}{} {}", types.join("|"), if self.optional { "?" } else { "" }, self.name)
    }
}

/// A parsed signature.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schema {
    pub params: Vec<Param>,
}

impl Schema {
    /// Reads a signature; the error says which part is wrong.
    pub fn parse(signature: &'static str) -> std::result::Result<Schema, String> {
        let (mut params, mut keyword) = (Vec::<Param>::new(), false);
        for part in split(signature) {
            if part == "*" {
                keyword = true;
                continue;
            }
            let param = parse_param(part, keyword).ok_or_else(|| format!("`{part}` is not a parameter"))?;
            if params.iter().any(|p| p.name == param.name) {
                return Err(format!("{} is there twice", param.name));
            }
            if params.iter().any(|p| p.types[0] == Type::Tensors) && param.is_operand() {
                return Err(format!("{} follows a list of tensors", param.name));
            }
            params.push(param);
        }
        Ok(Schema { params })
    }

    /// The operands.
    pub fn operands(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.is_operand())
    }

    /// The other parameters.
    pub fn arguments(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| !p.is_operand())
    }

    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// The fewest and the most operands.
    pub fn arity(&self) -> (usize, usize) {
        self.operands().fold((0, 0), |(lo, hi), p| match p.types[0] {
            Type::Tensors => (lo + 1, usize::MAX),
            _ => (lo + !p.may_be_absent() as usize, hi.saturating_add(1)),
        })
    }

    /// All parameters of a call: arguments as given or by default, operands as [`Attr::Operand`] or as the number that stands for one.
    /// Parameters that are `None` are left out.
    ///
    /// Errors: operands too few or too many, an argument that is unknown, missing, of another type, or beyond 32 bits. They do not name
    /// the operator.
    pub fn bind(&self, operands: usize, given: &Attrs) -> Result<Attrs> {
        let wrong = |problem: String| Err(Error::op("", "", problem, ""));
        if let Some((name, _)) = given.0.iter().find(|(n, _)| self.param(n).is_none()) {
            return wrong(format!("has no argument {name}"));
        }
        // Operands that are given by name take no place.
        let open = |p: &&Param| given.get(p.name).is_none();
        let must = |p: &&Param| !p.may_be_absent();
        let required = self.operands().filter(open).filter(must).count();
        let Some(mut spare) = operands.checked_sub(required) else { return wrong(format!("got {operands} operands")) };
        let (mut bound, mut next) = (Attrs::new(), 0);
        for p in &self.params {
            let value = match given.get(p.name) {
                Some(v) => match p.accept(v) {
                    Some(v) if v.is_huge() => return wrong(format!("argument {} = {v} is beyond 32 bits", p.name)),
                    Some(v) => v,
                    None => return wrong(format!("argument {} = {v} is not {}", p.name, p.wanted())),
                },
                None if p.types[0] == Type::Tensors => {
                    next = operands;
                    spare = 0;
                    continue;
                }
                None if p.is_operand() && (!p.may_be_absent() || spare > 0) => {
                    spare -= p.may_be_absent() as usize;
                    next += 1;
                    Attr::Operand(next - 1)
                }
                None => match &p.default {
                    Some(v) => v.clone(),
                    None => return wrong(format!("needs {}", p.name)),
                },
            };
            if value != Attr::None {
                bound.set(p.name, value);
            }
        }
        if next != operands { wrong(format!("got {operands} operands")) } else { Ok(bound) }
    }
}

impl Param {
    fn wanted(&self) -> String {
        let one = |t: &Type| match t {
            Type::Tensor => "a tensor".into(),
            Type::Tensors => "a list of tensors".into(),
            Type::Scalar | Type::Float => "a number".into(),
            Type::Bool => "a bool".into(),
            Type::Int | Type::SymInt => "an integer".into(),
            Type::Str => "a string".into(),
            Type::Ints(0) | Type::SymInts => "a list of integers".into(),
            Type::Ints(n) => format!("an integer or a list of {n}"),
            Type::Floats => "a list of numbers".into(),
            Type::DType => "an element type".to_string(),
        };
        let mut all: Vec<String> = self.types.iter().map(one).collect();
        if self.optional {
            all.push("None".into());
        }
        all.join(" or ")
    }
}

// The parts between commas that are not within brackets or quotes.
fn split(signature: &'static str) -> Vec<&'static str> {
    let (mut out, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    for (i, c) in signature.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 && !quoted => {
                out.push(signature[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(signature[start..].trim());
    out.retain(|p| !p.is_empty());
    out
}

fn parse_param(part: &'static str, keyword: bool) -> Option<Param> {
    let (head, default) = match part.split_once('=') {
        Some((head, default)) => (head.trim(), Some(default.trim())),
        None => (part, None),
    };
    let (ty, name) = head.rsplit_once(' ')?;
    let (ty, optional) = match ty.trim().strip_suffix('?') {
        Some(ty) => (ty, true),
        None => (ty.trim(), false),
    };
    let types = ty.split('|').map(|t| NAMES.iter().find(|(n, _)| *n == t).map(|(_, t)| *t)).collect::<Option<Vec<_>>>()?;
    let mut param = Param { name, types, optional, keyword, default: None };
    if let Some(text) = default {
        let value = parse_default(text, &param.types)?;
        param.default = Some(param.accept(&value)?);
    }
    Some(param)
}

fn parse_default(text: &str, types: &[Type]) -> Option<Attr> {
    let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    Some(match text {
        "None" => Attr::None,
        "True" | "False" => Attr::Bool(text == "True"),
        t if t.starts_with('"') => Attr::Str(t.trim_matches('"').to_string()),
        t if types.contains(&Type::DType) => Attr::DType(t.parse::<DType>().ok()?),
        _ if list.is_some() => {
            let items: Vec<&str> = list?.split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
            match items.iter().map(|t| t.parse().ok()).collect::<Option<Vec<i64>>>() {
                Some(v) => Attr::Ints(v),
                None => Attr::Floats(items.iter().map(|t| t.parse().ok()).collect::<Option<_>>()?),
            }
        }
        t => match t.parse::<i64>() {
            Ok(v) => Attr::Int(v),
            Err(_) => Attr::Float(t.parse().ok()?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(signature: &'static str, operands: usize, given: Attrs) -> std::result::Result<Attrs, String> {
        Schema::parse(signature).unwrap().bind(operands, &given).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_the_rows() {
        let a = bind("Tensor input, int[2] dim=[-2, -1], *, float eps=1e-5, str norm=\"a, b\", bool keep=False", 1, Attrs::new()).unwrap();
        assert_eq!((a.ints("dim").unwrap(), a.float("eps").unwrap()), (vec![-2, -1], 1e-5));
        assert_eq!((a.str("norm").unwrap(), a.bool("keep").unwrap()), ("a, b", false));
        assert!(a.float("other").is_err());
    }

    #[test]
    fn operands_take_their_places() {
        let at = |a: &Attrs, name: &str| a.operand(name);
        let sgd = "Tensor param, Tensor? buffer=None, Tensor lr, Tensor? decay=None";
        let a = bind(sgd, 2, Attrs::new()).unwrap();
        assert_eq!((at(&a, "param"), at(&a, "buffer"), at(&a, "lr")), (Some(0), None, Some(1)));
        let a = bind(sgd, 3, Attrs::new()).unwrap();
        assert_eq!((at(&a, "buffer"), at(&a, "lr"), at(&a, "decay")), (Some(1), Some(2), None));
        let a = bind(sgd, 3, Attrs::new().with("buffer", Attr::None)).unwrap();
        assert_eq!((at(&a, "buffer"), at(&a, "lr"), at(&a, "decay")), (None, Some(1), Some(2)));
        assert!(bind(sgd, 1, Attrs::new()).is_err() && bind(sgd, 5, Attrs::new()).is_err());
        let add = "Tensor|Scalar input, Tensor|Scalar other, *, Scalar alpha=1";
        let a = bind(add, 1, Attrs::new().with("input", 2)).unwrap();
        assert_eq!((a.get("input"), at(&a, "other")), (Some(&Attr::Int(2)), Some(0)));
        assert!(bind(add, 1, Attrs::new()).unwrap_err().contains("needs other"));
        assert!(bind("Tensor[] tensors, int dim=0", 0, Attrs::new()).is_err());
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let row = "Tensor input, int dim, int[2] stride=1, ScalarType? dtype=None";
        let text = |a: Attrs| bind(row, 1, a).unwrap_err();
        assert!(text(Attrs::new()).contains("needs dim"));
        assert!(text(Attrs::new().with("dim", 1.5)).contains("dim = 1.5 is not an integer"));
        assert!(text(Attrs::new().with("dim", true)).contains("dim = true is not an integer"));
        assert!(text(Attrs::new().with("dim", 1).with("stride", vec![1i64, 2, 3])).contains("an integer or a list of 2"));
        assert!(text(Attrs::new().with("dim", 1).with("dtype", "f32")).contains("an element type or None"));
        assert!(text(Attrs::new().with("dim", 1).with("input", Attr::Operand(7))).contains("is not a tensor"));
        assert!(text(Attrs::new().with("dim", i64::MAX)).contains("beyond 32 bits"));
        assert!(text(Attrs::new().with("axis", 1)).contains("has no argument axis"));
    }

    #[test]
    fn signatures_that_do_not_parse_are_noticed() {
        for text in ["x", "Tensr x", "int n=", "int n=a", "Tensor x, Tensor x", "float f=None", "Tensor[] xs, Tensor y"] {
            assert!(Schema::parse(text).is_err(), "{text}");
        }
    }
}
