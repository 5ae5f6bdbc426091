//! What an operator is: one row gives its name, documentation, parameters, decomposition and, where it pays, its own
//! derivative. Types and shapes follow from the decomposition, so they cannot disagree with it.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::schema::Schema;
use crate::shape::{ShapeEnv, TensorType};
use std::fmt;

/// An argument of an operator, or what stands for an operand.
#[derive(Clone, PartialEq, Debug)]
pub enum Attr {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Ints(Vec<i64>),
    /// Sizes, which may be symbolic.
    Dims(Vec<Dim>),
    Floats(Vec<f64>),
    DType(DType),
    /// An argument or operand that is left out.
    None,
    /// In a bound call: the operand at this position. Never given by a caller.
    Operand(usize),
}

impl Eq for Attr {}

impl Attr {
    // No size, index or integer value of any operator is larger; refusing more keeps the arithmetic on sizes from overflowing.
    pub(crate) fn is_huge(&self) -> bool {
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
            Attr::Floats(v) => v.iter().for_each(|v| v.to_bits().hash(h)),
            Attr::DType(v) => v.hash(h),
            Attr::None => {}
            Attr::Operand(v) => v.hash(h),
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
    Vec<Dim> => Dims: |x| x, DType => DType: |x| x, Vec<f64> => Floats: |x| x,
}

impl<T: Into<Attr>> From<Option<T>> for Attr {
    fn from(x: Option<T>) -> Attr {
        x.map_or(Attr::None, Into::into)
    }
}

/// Arguments by PyTorch's parameter names, sorted by name. In a call as given, an absent one has its row's default; in a bound call, which
/// decompositions and derivatives read, all are there but those that are `None`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Attrs(pub Vec<(String, Attr)>);

impl Attrs {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces an argument.
    pub fn with(mut self, name: &str, value: impl Into<Attr>) -> Self {
        self.set(name, value.into());
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: Attr) {
        match self.0.binary_search_by(|(n, _)| n.as_str().cmp(name)) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (name.to_string(), value)),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.binary_search_by(|(n, _)| n.as_str().cmp(name)).ok().map(|i| &self.0[i].1)
    }

    /// Where an operand of a bound call stands among the others; `None` where it is left out.
    pub fn operand(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(Attr::Operand(i)) => Some(*i),
            _ => None,
        }
    }

    /// An operand of a bound call by its name; `None` where it is left out.
    pub fn tensor(&self, operands: &[ValueId], name: &str) -> Option<ValueId> {
        operands.get(self.operand(name)?).copied()
    }

    /// A bound call's arguments without its operands, for another operator.
    pub fn arguments(&self) -> Attrs {
        Attrs(self.0.iter().filter(|(_, a)| !matches!(a, Attr::Operand(_))).cloned().collect())
    }

    // What follows reads the arguments of a bound call: the row's signature has the defaults.

    fn required<T>(name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| Error::op("", "", format!("needs {name}"), format!("give {name}")))
    }

    fn wrong<T>(name: &str, attr: &Attr, want: &str) -> Result<T> {
        Err(Error::op("", "", format!("argument {name} = {attr} is not {want}"), ""))
    }

    pub fn bool(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            Some(Attr::Bool(v)) => Ok(*v),
            Some(a) => Self::wrong(name, a, "a bool"),
            None => Self::required(name, None),
        }
    }

    pub fn int(&self, name: &str) -> Result<i64> {
        Self::required(name, self.opt_int(name)?)
    }

    pub fn opt_int(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Int(v)) => Ok(Some(*v)),
            Some(a) => Self::wrong(name, a, "an integer"),
        }
    }

    /// A number, also of type `Scalar`.
    pub fn float(&self, name: &str) -> Result<f64> {
        Self::required(name, self.opt_float(name)?)
    }

    pub fn opt_float(&self, name: &str) -> Result<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Float(v)) => Ok(Some(*v)),
            Some(Attr::Int(v)) => Ok(Some(*v as f64)),
            Some(Attr::Bool(v)) => Ok(Some(*v as u8 as f64)),
            Some(a) => Self::wrong(name, a, "a number"),
        }
    }

    pub fn str<'a>(&'a self, name: &str) -> Result<&'a str> {
        Self::required(name, self.opt_str(name)?)
    }

    pub fn opt_str<'a>(&'a self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Str(v)) => Ok(Some(v)),
            Some(a) => Self::wrong(name, a, "a string"),
        }
    }

    pub fn ints(&self, name: &str) -> Result<Vec<i64>> {
        Self::required(name, self.opt_ints(name)?)
    }

    pub fn opt_ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Int(v)) => Ok(Some(vec![*v])),
            Some(Attr::Ints(v)) => Ok(Some(v.clone())),
            Some(a) => Self::wrong(name, a, "a list of integers"),
        }
    }

    /// Sizes, symbolic or not.
    pub fn dims(&self, name: &str) -> Result<Vec<Dim>> {
        Self::required(name, self.opt_dims(name)?)
    }

    pub fn opt_dims(&self, name: &str) -> Result<Option<Vec<Dim>>> {
        match self.get(name) {
            Some(Attr::Dims(v)) => Ok(Some(v.clone())),
            _ => Ok(self.opt_ints(name)?.map(|v| v.into_iter().map(Dim::Const).collect())),
        }
    }

    pub fn opt_floats(&self, name: &str) -> Result<Option<Vec<f64>>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::Floats(v)) => Ok(Some(v.clone())),
            Some(a) => Self::wrong(name, a, "a list of numbers"),
        }
    }

    pub fn dtype(&self, name: &str) -> Result<DType> {
        Self::required(name, self.opt_dtype(name)?)
    }

    pub fn opt_dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attr::DType(v)) => Ok(Some(*v)),
            Some(a) => Self::wrong(name, a, "an element type"),
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
            Attr::Floats(v) => write!(f, "{v:?}"),
            Attr::DType(v) => write!(f, "{v}"),
            Attr::None => f.write_str("None"),
            Attr::Operand(v) => write!(f, "operand {v}"),
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
    /// Parameters with their types and defaults, as [`crate::schema`] describes them: the only place that has them.
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

    /// The signature, parsed.
    pub fn schema(&self) -> &'static Schema {
        crate::ops::schema(self.name)
    }

    /// The default of a parameter that is a number.
    pub fn default_float(&self, name: &str) -> Option<f64> {
        match self.schema().param(name)?.default {
            Some(Attr::Float(v)) => Some(v),
            Some(Attr::Int(v)) => Some(v as f64),
            _ => None,
        }
    }

    /// A call as decompositions and derivatives read it: see [`Schema::bind`].
    pub fn bind(&self, operands: usize, attrs: &Attrs) -> Result<Attrs> {
        let remedy = || format!("call it as {}({})", self.name, self.signature);
        self.schema().bind(operands, attrs).map_err(|e| match e {
            Error::Operator { problem, .. } => Error::op(self.name, "", problem, remedy()),
            e => e,
        })
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
