//! What an operator is: one row gives its name, documentation, parameters, decomposition and, where it pays, its own
//! derivative. Types and shapes follow from the decomposition, so they cannot disagree with it.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::shape::{ShapeEnv, TensorType};
use std::fmt;

/// A static argument of an operator.
#[derive(Clone, PartialEq, Debug)]
pub enum Attr {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Ints(Vec<i64>),
    /// Sizes, which may be symbolic.
    Dims(Vec<Dim>),
    DType(DType),
}

impl Eq for Attr {}

impl Attr {
    // No size, index or integer value of any operator is larger; refusing more keeps the arithmetic on sizes from overflowing.
    fn is_huge(&self) -> bool {
        let huge = |v: &i64| v.unsigned_abs() > u32::MAX as u64;
        match self {
            Attr::Int(v) => huge(v),
            Attr::Ints(v) => v.iter().any(huge),
            Attr::Dims(v) => v.iter().filter_map(Dim::as_const).any(|d| huge(&d)),
            _ => false,
        }
    }
}

impl std::hash::Hash for Attr {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        std::mem::discriminant(self).hash(h);
        match self {
            Attr::Bool(v) => v.hash(h),
            Attr::Int(v) => v.hash(h),
            Attr::Float(v) => v.to_bits().hash(h),
            Attr::Str(v) => v.hash(h),
            Attr::Ints(v) => v.hash(h),
            Attr::Dims(v) => v.hash(h),
            Attr::DType(v) => v.hash(h),
        }
    }
}

macro_rules! attr_from {
    ($($t:ty => $v:ident: $e:expr),* $(,)?) => {$(
        impl From<$t> for Attr {
            fn from(x: $t) -> Attr { let f: fn($t) -> _ = $e; Attr::$v(f(x)) }
        }
    )*};
}
attr_from! {
    bool => Bool: |x| x, i64 => Int: |x| x, i32 => Int: |x| x as i64, usize => Int: |x| x as i64, f64 => Float: |x| x, f32 => Float: |x| x as f64,
    &str => Str: |x| x.to_string(), String => Str: |x| x, Vec<i64> => Ints: |x| x, &[i64] => Ints: |x| x.to_vec(),
    Vec<Dim> => Dims: |x| x, DType => DType: |x| x,
}

/// Static arguments by PyTorch's parameter names, sorted by name; an absent one has its default.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Attrs(pub Vec<(String, Attr)>);

impl Attrs {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces an argument.
    pub fn with(mut self, name: &str, value: impl Into<Attr>) -> Self {
        match self.0.binary_search_by(|(n, _)| n.as_str().cmp(name)) {
            Ok(i) => self.0[i].1 = value.into(),
            Err(i) => self.0.insert(i, (name.to_string(), value.into())),
        }
        self
    }

    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.binary_search_by(|(n, _)| n.as_str().cmp(name)).ok().map(|i| &self.0[i].1)
    }

    fn wrong(name: &str, attr: &Attr, want: &str) -> Error {
        Error::op("", "", format!("argument {name} = {attr} is not {want}"), "")
    }

    pub fn bool(&self, name: &str, default: bool) -> Result<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(Attr::Bool(v)) => Ok(*v),
            Some(Attr::Int(v)) => Ok(*v != 0),
            Some(a) => Err(Self::wrong(name, a, "a bool")),
        }
    }

    pub fn int(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.opt_int(name)?.unwrap_or(default))
    }

    pub fn opt_int(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Int(v)) => Ok(Some(*v)),
            Some(Attr::Ints(v)) if v.len() == 1 => Ok(Some(v[0])),
            Some(a) => Err(Self::wrong(name, a, "an integer")),
        }
    }

    pub fn float(&self, name: &str, default: f64) -> Result<f64> {
        Ok(self.opt_float(name)?.unwrap_or(default))
    }

    pub fn opt_float(&self, name: &str) -> Result<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Float(v)) => Ok(Some(*v)),
            Some(Attr::Int(v)) => Ok(Some(*v as f64)),
            Some(Attr::Str(s)) if s == "inf" => Ok(Some(f64::INFINITY)),
            Some(Attr::Str(s)) if s == "-inf" => Ok(Some(f64::NEG_INFINITY)),
            Some(a) => Err(Self::wrong(name, a, "a number")),
        }
    }

    pub fn str<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str> {
        match self.get(name) {
            None => Ok(default),
            Some(Attr::Str(v)) => Ok(v),
            Some(a) => Err(Self::wrong(name, a, "a string")),
        }
    }

    /// A list of integers; a single integer is a list of one.
    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Int(v)) => Ok(Some(vec![*v])),
            Some(Attr::Ints(v)) => Ok(Some(v.clone())),
            Some(a) => Err(Self::wrong(name, a, "a list of integers")),
        }
    }

    /// Sizes, symbolic or not.
    pub fn dims(&self, name: &str) -> Result<Option<Vec<Dim>>> {
        match self.get(name) {
            Some(Attr::Dims(v)) => Ok(Some(v.clone())),
            _ => Ok(self.ints(name)?.map(|v| v.into_iter().map(Dim::Const).collect())),
        }
    }

    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::DType(v)) => Ok(Some(*v)),
            Some(a) => Err(Self::wrong(name, a, "an element type")),
        }
    }
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::Bool(v) => write!(f, "{v}"),
            Attr::Int(v) => write!(f, "{v}"),
            Attr::Float(v) => write!(f, "{v:?}"),
            Attr::Str(v) => write!(f, "{v:?}"),
            Attr::Ints(v) => write!(f, "{v:?}"),
            Attr::Dims(v) => write!(f, "{v:?}"),
            Attr::DType(v) => write!(f, "{v}"),
        }
    }
}

pub type Decompose = fn(&mut Builder, &[ValueId], &Attrs) -> Result<Vec<ValueId>>;

/// What a derivative may use: the operator's own operands and results, and the gradient of each result.
pub struct VjpArgs<'a> {
    pub inputs: &'a [ValueId],
    pub outputs: &'a [ValueId],
    /// `None` where a result does not reach the loss.
    pub grads: &'a [Option<ValueId>],
    pub attrs: &'a Attrs,
}

pub type Vjp = fn(&mut Builder, &VjpArgs) -> Result<Vec<Option<ValueId>>>;

/// What mixed precision makes of an operator's operands of float type. Source: PyTorch, `torch.amp`, "CUDA Ops that can autocast".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Autocast {
    /// They stay as they are; operands of several types promote as always.
    #[default]
    AsIs,
    /// They become the low type: matrix products and convolutions, which matrix units compute.
    Low,
    /// They become f32: sums, powers and exponentials, norms and losses, whose range or accuracy the low type does not have.
    Full,
    /// They become the widest type among them.
    Widest,
    /// The operator is refused, since its derivative leaves the range of f16.
    Refused,
}

/// An operator: one row of the table in [`crate::ops`].
pub struct OpDef {
    /// PyTorch's name.
    pub name: &'static str,
    /// Shown in the docs page's list; states the formula and PyTorch's name where it is a method or a submodule's function.
    pub doc: &'static str,
    /// Tensors, then after a semicolon the static arguments with their defaults: `x, weight, [bias]; eps=1e-5`. Brackets
    /// mark an operand that may be left out, `xs..` any number of operands.
    pub signature: &'static str,
    pub decompose: Decompose,
    /// The reverse-mode rule, where it is better than the one that follows from the decomposition.
    pub vjp: Option<Vjp>,
    pub autocast: Autocast,
    /// The row that eager mode runs in its place, where its derivative reads more than the result: that row's first result is this one's.
    pub eager: Option<&'static str>,
}

impl OpDef {
    /// The row of an operator in whose place eager mode runs another.
    pub(crate) const fn eagerly(self, row: &'static str) -> OpDef {
        OpDef { eager: Some(row), ..self }
    }

    const fn autocast(self, autocast: Autocast) -> OpDef {
        OpDef { autocast, ..self }
    }

    /// The row of an operator that runs in the low type under autocast.
    pub(crate) const fn low(self) -> OpDef {
        self.autocast(Autocast::Low)
    }

    /// The row of an operator that runs in f32 under autocast.
    pub(crate) const fn full(self) -> OpDef {
        self.autocast(Autocast::Full)
    }

    /// The row of an operator that runs in its operands' widest type under autocast.
    pub(crate) const fn widest(self) -> OpDef {
        self.autocast(Autocast::Widest)
    }

    /// The row of an operator that autocast refuses.
    pub(crate) const fn refused(self) -> OpDef {
        self.autocast(Autocast::Refused)
    }

    /// The fewest and the most operands that the signature allows.
    pub fn arity(&self) -> (usize, usize) {
        let operands = self.signature.split(';').next().unwrap_or("");
        operands.split(',').map(str::trim).filter(|p| !p.is_empty()).fold((0, 0), |(lo, hi), p| {
            if p.ends_with("..") { (lo + 1, usize::MAX) } else { (lo + !p.starts_with('[') as usize, hi.saturating_add(1)) }
        })
    }

    /// The names of the static arguments.
    pub fn attr_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.signature.split_once(';').map_or("", |(_, attrs)| attrs);
        names.split(',').filter_map(|p| p.split('=').next()).map(str::trim).filter(|n| !n.is_empty())
    }

    /// Whether a call has as many operands as the signature says and no argument that it does not know.
    pub fn check_call(&self, operands: usize, attrs: &Attrs) -> Result<()> {
        let (lo, hi) = self.arity();
        let problem = if !(lo..=hi).contains(&operands) {
            format!("got {operands} operands")
        } else if let Some((name, _)) = attrs.0.iter().find(|(n, _)| self.attr_names().all(|k| k != n)) {
            format!("has no argument {name}")
        } else if let Some((name, a)) = attrs.0.iter().find(|(_, a)| a.is_huge()) {
            format!("argument {name} = {a} is beyond 32 bits")
        } else {
            return Ok(());
        };
        Err(Error::op(self.name, "", problem, format!("call it as {}({})", self.name, self.signature)))
    }

    /// The types of the results: the decomposition's.
    pub fn infer(&self, args: &[&TensorType], attrs: &Attrs, env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
        let mut b = Builder::new(self.name);
        b.graph.env = env.clone();
        let inputs: Vec<ValueId> =
            args.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), crate::graph::InputKind::Arg, (*t).clone())).collect();
        let outs = b.call(self, &inputs, attrs)?;
        let types = outs.iter().map(|v| b.graph.ty(*v).clone()).collect();
        *env = b.graph.env;
        Ok(types)
    }
}

impl PartialEq for OpDef {
    fn eq(&self, other: &OpDef) -> bool {
        self.name == other.name
    }
}

impl Eq for OpDef {}

impl std::hash::Hash for OpDef {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        self.name.hash(h);
    }
}

impl fmt::Debug for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
