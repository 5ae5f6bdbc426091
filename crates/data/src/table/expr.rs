//! Expressions over columns: data, which can be saved and is computed table by table.

use super::functional::{self as f, Arithmetic, Comparison, DatePart, Letters, Unary};
use super::{Fault, Table};
use crate::Result;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::compute::kernels::boolean;
use arrow::datatypes::DataType;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A value that is written in an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

macro_rules! literals {
    ($($t:ty: $kind:ident),*) => {$(
        impl From<$t> for Literal {
            fn from(value: $t) -> Literal {
                Literal::$kind(value.into())
            }
        }
    )*};
}
literals!(bool: Bool, i32: Int, i64: Int, f32: Float, f64: Float, &str: Text, String: Text);

impl Literal {
    /// One value of a type.
    pub(super) fn array(&self, to: &DataType) -> Result<ArrayRef, Fault> {
        let value: ArrayRef = match self {
            Literal::Bool(v) => Arc::new(BooleanArray::from(vec![*v])),
            Literal::Int(v) => Arc::new(Int64Array::from(vec![*v])),
            // What is no integer is none of a column of integers.
            Literal::Float(v) if to.is_integer() && v.fract() != 0.0 => {
                return Err(Fault::new(format!("{v} is no {to}"), "give a whole number, or `cast` the column"));
            }
            Literal::Float(v) => Arc::new(Float64Array::from(vec![*v])),
            Literal::Text(v) => Arc::new(StringArray::from(vec![v.as_str()])),
        };
        super::columns::cast(&value, to).map_err(|_| Fault::new(format!("{self} is no {to}"), "give a value of the column's type"))
    }

    fn natural(&self) -> DataType {
        match self {
            Literal::Bool(_) => DataType::Boolean,
            Literal::Int(_) => DataType::Int64,
            Literal::Float(_) => DataType::Float64,
            Literal::Text(_) => DataType::Utf8,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(v) => write!(f, "{v}"),
            Literal::Int(v) => write!(f, "{v}"),
            Literal::Float(v) => write!(f, "{v:?}"),
            Literal::Text(v) => write!(f, "{v:?}"),
        }
    }
}

/// What an expression does with its operands: the functions of [`functional`](super::functional).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Function {
    Unary(Unary),
    Arithmetic(Arithmetic),
    Compare(Comparison),
    Letters(Letters),
    FillNull(Literal),
    Clamp {
        min: f64,
        max: f64,
    },
    Bucketize(Vec<f64>),
    SigridHash {
        salt: i64,
        max_value: i64,
    },
    Firstx(usize),
    OneHot(usize),
    Length,
    Split(String),
    Tokenize,
    LookupIndices {
        vocabulary: Vec<String>,
        default: i64,
    },
    DatePart(DatePart),
    /// The type as arrow writes it: `Float32`, `Timestamp(ms)`.
    Cast(String),
    IsNull,
    Not,
    And,
    Or,
    IfElse,
}

/// A column computed from others; see [`col`] and [`lit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(Node);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Node {
    Col(String),
    Lit(Literal),
    Call(Function, Vec<Expr>),
}

/// A column of the table.
pub fn col(name: &str) -> Expr {
    Expr(Node::Col(name.into()))
}

/// The same value in every row; beside a column it has that column's type, where that can hold it.
pub fn lit(value: impl Into<Literal>) -> Expr {
    Expr(Node::Lit(value.into()))
}

impl From<Literal> for Expr {
    fn from(value: Literal) -> Expr {
        Expr(Node::Lit(value))
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $t:ty),*) => $function:expr;)*) => {
        impl Expr {$(
            $(#[$doc])*
            pub fn $name(self $(, $arg: $t)*) -> Expr {
                Expr(Node::Call($function, vec![self]))
            }
        )*}
    };
}

methods! {
    /// [`Unary::Abs`].
    abs() => Function::Unary(Unary::Abs);
    /// [`Unary::Ceil`].
    ceil() => Function::Unary(Unary::Ceil);
    /// [`Unary::Exp`].
    exp() => Function::Unary(Unary::Exp);
    /// [`Unary::Floor`].
    floor() => Function::Unary(Unary::Floor);
    /// [`Unary::Log`].
    log() => Function::Unary(Unary::Log);
    /// [`Unary::Log1p`].
    log1p() => Function::Unary(Unary::Log1p);
    /// [`Unary::Round`].
    round() => Function::Unary(Unary::Round);
    /// [`Unary::Sigmoid`].
    sigmoid() => Function::Unary(Unary::Sigmoid);
    /// [`Unary::Sqrt`].
    sqrt() => Function::Unary(Unary::Sqrt);
    /// [`functional::fill_null`](f::fill_null).
    fill_null(value: impl Into<Literal>) => Function::FillNull(value.into());
    /// [`functional::clamp`](f::clamp).
    clamp(min: f64, max: f64) => Function::Clamp { min, max };
    /// [`functional::bucketize`](f::bucketize).
    bucketize(borders: impl Into<Vec<f64>>) => Function::Bucketize(borders.into());
    /// [`functional::sigrid_hash`](f::sigrid_hash).
    sigrid_hash(salt: i64, max_value: i64) => Function::SigridHash { salt, max_value };
    /// [`functional::firstx`](f::firstx).
    firstx(num_to_copy: usize) => Function::Firstx(num_to_copy);
    /// [`functional::one_hot`](f::one_hot).
    one_hot(classes: usize) => Function::OneHot(classes);
    /// [`functional::length`](f::length).
    length() => Function::Length;
    /// [`Letters::Lower`].
    lower() => Function::Letters(Letters::Lower);
    /// [`Letters::Upper`].
    upper() => Function::Letters(Letters::Upper);
    /// [`Letters::Strip`].
    strip() => Function::Letters(Letters::Strip);
    /// [`functional::split`](f::split).
    split(separator: &str) => Function::Split(separator.into());
    /// [`functional::tokenize`](f::tokenize).
    tokenize() => Function::Tokenize;
    /// [`functional::date_part`](f::date_part).
    date_part(part: DatePart) => Function::DatePart(part);
    /// [`functional::cast`](f::cast).
    cast(to: DataType) => Function::Cast(to.to_string());
    /// [`functional::is_null`](f::is_null).
    is_null() => Function::IsNull;
}

impl Expr {
    /// [`functional::lookup_indices`](f::lookup_indices).
    pub fn lookup_indices(self, vocabulary: impl IntoIterator<Item = impl Into<String>>, default: i64) -> Expr {
        let vocabulary = vocabulary.into_iter().map(Into::into).collect();
        Expr(Node::Call(Function::LookupIndices { vocabulary, default }, vec![self]))
    }

    fn with(self, function: Function, other: Expr) -> Expr {
        Expr(Node::Call(function, vec![self, other]))
    }

    /// Whether values are equal. Null is equal to nothing: then the result is null.
    pub fn eq(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Eq), other.into())
    }

    pub fn ne(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Ne), other.into())
    }

    pub fn lt(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Lt), other.into())
    }

    pub fn le(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Le), other.into())
    }

    pub fn gt(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Gt), other.into())
    }

    pub fn ge(self, other: impl Into<Expr>) -> Expr {
        self.with(Function::Compare(Comparison::Ge), other.into())
    }

    /// Whether both are true.
    pub fn and(self, other: Expr) -> Expr {
        self.with(Function::And, other)
    }

    /// Whether one is true.
    pub fn or(self, other: Expr) -> Expr {
        self.with(Function::Or, other)
    }

    /// Of a condition: [`functional::if_else`](f::if_else).
    pub fn if_else(self, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
        Expr(Node::Call(Function::IfElse, vec![self, yes.into(), no.into()]))
    }

    /// The values for a table's rows.
    ///
    /// # Errors
    ///
    /// When a column is not there, is of another kind, or holds a value that cannot be taken; the error says column and row.
    pub fn evaluate(&self, table: &Table) -> Result<ArrayRef> {
        let arguments = match &self.0 {
            Node::Col(name) => return table.column(name).cloned(),
            Node::Lit(value) => return self.spread(value, &value.natural(), table),
            Node::Call(_, arguments) => arguments,
        };
        // A literal beside a column has the column's type, unless that is too narrow for it; integers beside a float become floats.
        let mut values: Vec<Option<ArrayRef>> = Vec::new();
        for argument in arguments {
            values.push(match &argument.0 {
                Node::Lit(_) => None,
                _ => Some(argument.evaluate(table)?),
            });
        }
        // A condition is not beside what it chooses from.
        let condition = usize::from(matches!(self.0, Node::Call(Function::IfElse, _)));
        let beside = values.iter().skip(condition).flatten().last().map(|column| column.data_type().clone());
        let mut operands = Vec::new();
        for (argument, value) in arguments.iter().zip(values) {
            operands.push(match (value, &argument.0) {
                (Some(value), _) => value,
                (None, Node::Lit(value)) => {
                    let widens = |t: &DataType| matches!(value, Literal::Float(_)) && t.is_integer();
                    let fits = beside.as_ref().filter(|t| !widens(t) && value.array(t).is_ok());
                    self.spread(value, &fits.cloned().unwrap_or_else(|| value.natural()), table)?
                }
                (None, _) => argument.evaluate(table)?,
            });
        }
        self.call(&operands).map_err(|fault| {
            let problem = format!("{}: {}", self.name(), fault.problem);
            table.fail(&self.column().unwrap_or_else(|| self.to_string()), Fault { problem, ..fault })
        })
    }

    fn spread(&self, value: &Literal, to: &DataType, table: &Table) -> Result<ArrayRef> {
        let one = value.array(to).map_err(|fault| table.fail(&self.to_string(), fault))?;
        let indices = arrow::array::UInt64Array::from_value(0, table.rows());
        arrow::compute::take(&one, &indices, None).map_err(|e| table.fail(&self.to_string(), e.into()))
    }

    fn call(&self, operands: &[ArrayRef]) -> Result<ArrayRef, Fault> {
        let Node::Call(function, _) = &self.0 else { return Err(Fault::new("is no function", "")) };
        let condition = |column: &ArrayRef| {
            let found = column.as_any().downcast_ref::<BooleanArray>().cloned();
            found.ok_or_else(|| Fault::new(format!("is {}, not a condition", column.data_type()), "compare it with something"))
        };
        match (function, operands) {
            (Function::Unary(u), [x]) => f::unary(*u, x),
            (Function::Letters(l), [x]) => f::letters(*l, x),
            (Function::FillNull(value), [x]) => f::fill_null(x, value),
            (Function::Clamp { min, max }, [x]) => f::clamp(x, *min, *max),
            (Function::Bucketize(borders), [x]) => f::bucketize(x, borders),
            (Function::SigridHash { salt, max_value }, [x]) => f::sigrid_hash(x, *salt, *max_value),
            (Function::Firstx(n), [x]) => f::firstx(x, *n),
            (Function::OneHot(n), [x]) => f::one_hot(x, *n),
            (Function::Length, [x]) => f::length(x),
            (Function::Split(separator), [x]) => f::split(x, separator),
            (Function::Tokenize, [x]) => f::tokenize(x),
            (Function::LookupIndices { vocabulary, default }, [x]) => f::lookup_indices(x, vocabulary, *default),
            (Function::DatePart(part), [x]) => f::date_part(*part, x),
            (Function::Cast(to), [x]) => {
                let to = to.parse().map_err(|e| Fault::new(format!("{to} is no type: {e}"), "name one of arrow's types"))?;
                f::cast(x, &to)
            }
            (Function::IsNull, [x]) => f::is_null(x),
            (Function::Not, [x]) => Ok(Arc::new(boolean::not(&condition(x)?)?)),
            (Function::And, [a, b]) => Ok(Arc::new(boolean::and_kleene(&condition(a)?, &condition(b)?)?)),
            (Function::Or, [a, b]) => Ok(Arc::new(boolean::or_kleene(&condition(a)?, &condition(b)?)?)),
            (Function::Arithmetic(op), [a, b]) => f::arithmetic(*op, a, b),
            (Function::Compare(op), [a, b]) => f::compare(*op, a, b),
            (Function::IfElse, [condition, yes, no]) => f::if_else(condition, yes, no),
            (_, operands) => Err(Fault::new(format!("takes another number of operands than {}", operands.len()), "build it with `col`")),
        }
    }

    /// The first column that it reads.
    fn column(&self) -> Option<String> {
        match &self.0 {
            Node::Col(name) => Some(name.clone()),
            Node::Lit(_) => None,
            Node::Call(_, arguments) => arguments.iter().find_map(Expr::column),
        }
    }

    /// The function's name, as it is saved.
    fn name(&self) -> String {
        let Node::Call(function, _) = &self.0 else { return String::new() };
        // `"length"`, `{"unary": "log"}`, `{"clamp": {"min": 0.0, "max": 1.0}}`.
        match serde_json::to_value(function).unwrap_or_default() {
            serde_json::Value::String(name) => name,
            serde_json::Value::Object(map) => map.into_iter().next().map_or(String::new(), |(name, value)| match (name.as_str(), value) {
                ("unary" | "arithmetic" | "compare" | "letters", serde_json::Value::String(name)) => name,
                _ => name,
            }),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Node::Col(name) => write!(f, "{name}"),
            Node::Lit(value) => write!(f, "{value}"),
            Node::Call(_, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Expr::to_string).collect();
                write!(f, "{}({})", self.name(), arguments.join(", "))
            }
        }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: Into<Expr>> std::ops::$trait<T> for Expr {
            type Output = Expr;

            fn $method(self, other: T) -> Expr {
                self.with(Function::Arithmetic(Arithmetic::$trait), other.into())
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

macro_rules! values {
    ($($t:ty),*) => {$(
        impl From<$t> for Expr {
            fn from(value: $t) -> Expr {
                lit(value)
            }
        }
    )*};
}
values!(bool, i32, i64, f32, f64, &str, String);

impl std::ops::Neg for Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        Expr(Node::Call(Function::Unary(Unary::Neg), vec![self]))
    }
}

impl std::ops::Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        Expr(Node::Call(Function::Not, vec![self]))
    }
}

/// Columns computed one after the other, each of those before it too: what prepares a table, to be saved as JSON with what was trained on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    columns: Vec<(String, Expr)>,
    keep: Option<Vec<String>>,
}

impl Transform {
    pub fn new() -> Transform {
        Transform::default()
    }

    /// A column more, or another one in place of one of that name.
    pub fn with(mut self, name: &str, column: Expr) -> Transform {
        self.columns.push((name.into(), column));
        self
    }

    /// Only these columns in the end, in this order.
    pub fn keep(mut self, names: &[impl AsRef<str>]) -> Transform {
        self.keep = Some(names.iter().map(|n| n.as_ref().to_string()).collect());
        self
    }

    /// # Errors
    ///
    /// As [`Expr::evaluate`]; when a column to keep is not there.
    pub fn apply(&self, table: &Table) -> Result<Table> {
        let mut table = table.clone();
        for (name, column) in &self.columns {
            table = table.with_column(name, column.evaluate(&table)?)?;
        }
        self.keep.as_ref().map_or(Ok(table.clone()), |names| table.select(names))
    }
}
