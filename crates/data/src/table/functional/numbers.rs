//! Numbers.

use super::super::columns::{cast as cast_column, primitive};
use super::super::{Fault, Literal};
use super::{Made, each};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Datum, Float32Array, Float64Array, Int32Array, Int64Array, Scalar};
use arrow::compute::kernels::{boolean, cmp, numeric, zip::zip};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Functions of one number. Integers become f64, f32 stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unary {
    Abs,
    Ceil,
    Exp,
    Floor,
    /// The natural logarithm; that of 0 is minus infinity, that of less is no number.
    Log,
    /// `log(1 + x)`.
    Log1p,
    Neg,
    /// Halves away from zero.
    Round,
    Sigmoid,
    Sqrt,
}

/// See [`Unary`].
///
/// # Errors
///
/// When the column is not of numbers.
pub fn unary(function: Unary, column: &ArrayRef) -> Made {
    macro_rules! of {
        ($t:ty) => {
            match function {
                Unary::Abs => <$t>::abs,
                Unary::Ceil => <$t>::ceil,
                Unary::Exp => <$t>::exp,
                Unary::Floor => <$t>::floor,
                Unary::Log => <$t>::ln,
                Unary::Log1p => <$t>::ln_1p,
                Unary::Neg => |x: $t| -x,
                Unary::Round => <$t>::round,
                Unary::Sigmoid => |x: $t| 1.0 / (1.0 + (-x).exp()),
                Unary::Sqrt => <$t>::sqrt,
            }
        };
    }
    each(column, |column| {
        Ok(match column.data_type() {
            DataType::Float32 => {
                let made: Float32Array = column.as_primitive::<Float32Type>().unary(of!(f32));
                Arc::new(made)
            }
            _ => {
                let made: Float64Array = number(column)?.unary(of!(f64));
                Arc::new(made)
            }
        })
    })
}

/// As f64; text is not taken for numbers.
fn number(column: &ArrayRef) -> Result<Float64Array, Fault> {
    match column.data_type() {
        t if t.is_numeric() || matches!(t, DataType::Boolean) => primitive::<Float64Type>(column),
        t => Err(Fault::new(format!("is {t}, not numbers"), "`cast` it, or choose another column")),
    }
}

/// `value` in place of null.
///
/// # Errors
///
/// When the value is none of the column's type.
pub fn fill_null(column: &ArrayRef, value: &Literal) -> Made {
    each(column, |column| {
        if column.logical_null_count() == 0 {
            return Ok(column.clone());
        }
        let mask = arrow::compute::is_not_null(column)?;
        Ok(zip(&mask, column, &Scalar::new(value.array(column.data_type())?))?)
    })
}

/// Not less than `min` and not more than `max`. Types stay; of integers narrower or wider than i32 and i64 f64 is made.
///
/// # Errors
///
/// When the column is not of numbers, or `min` is more than `max`.
pub fn clamp(column: &ArrayRef, min: f64, max: f64) -> Made {
    if min > max || min.is_nan() || max.is_nan() {
        return Err(Fault::new(format!("the least value {min} is not below the largest {max}"), "give them in order"));
    }
    each(column, |column| {
        Ok(match column.data_type() {
            DataType::Float32 => {
                let made: Float32Array = column.as_primitive::<Float32Type>().unary(|x| x.clamp(min as f32, max as f32));
                Arc::new(made)
            }
            DataType::Int32 => {
                let (min, max) = (min.ceil() as i32, max.floor() as i32);
                let made: Int32Array = column.as_primitive::<Int32Type>().unary(|x| x.min(max).max(min));
                Arc::new(made)
            }
            DataType::Int64 => {
                let (min, max) = (min.ceil() as i64, max.floor() as i64);
                let made: Int64Array = column.as_primitive::<Int64Type>().unary(|x| x.min(max).max(min));
                Arc::new(made)
            }
            _ => {
                let made: Float64Array = number(column)?.unary(|x| x.clamp(min, max));
                Arc::new(made)
            }
        })
    })
}

/// Which of the buckets between borders a value is in, as i32: values up to the first border are in bucket 0.
///
/// # Errors
///
/// When there are no borders, they are not in order, or the column is not of numbers.
pub fn bucketize(column: &ArrayRef, borders: &[f64]) -> Made {
    if borders.is_empty() || !borders.is_sorted() {
        return Err(Fault::new(format!("the borders are {borders:?}"), "give at least one, in order"));
    }
    each(column, |column| {
        let made: Int32Array = number(column)?.unary(|x| borders.partition_point(|border| *border < x || x.is_nan()) as i32);
        Ok(Arc::new(made))
    })
}

/// A number from 0 to `max_value` for each integer, the same as TorchArrow's: for tables of embeddings that are smaller than the numbers.
///
/// # Errors
///
/// When `max_value` is not above 0, or the column is not of integers.
pub fn sigrid_hash(column: &ArrayRef, salt: i64, max_value: i64) -> Made {
    if max_value <= 0 {
        return Err(Fault::new(format!("the largest value is {max_value}"), "give one above 0"));
    }
    each(column, |column| {
        if !column.data_type().is_integer() {
            return Err(Fault::new(format!("is {}, not integers", column.data_type()), "`cast` it, or look its values up"));
        }
        let hash = |x: i64| (combine(salt as u64, mix(x as u64)) as i64).rem_euclid(max_value);
        let made: Int64Array = primitive::<Int64Type>(column)?.unary(hash);
        Ok(Arc::new(made))
    })
}

/// T. Wang's mix of 64 bits, as folly has it.
fn mix(mut key: u64) -> u64 {
    key = (!key).wrapping_add(key << 21);
    key ^= key >> 24;
    key = key.wrapping_mul(265);
    key ^= key >> 14;
    key = key.wrapping_mul(21);
    key ^= key >> 28;
    key.wrapping_add(key << 31)
}

/// CityHash's `Hash128to64`, as folly has it.
fn combine(upper: u64, lower: u64) -> u64 {
    const MUL: u64 = 0x9ddf_ea08_eb38_2d69;
    let mut a = (lower ^ upper).wrapping_mul(MUL);
    a ^= a >> 47;
    let mut b = (upper ^ a).wrapping_mul(MUL);
    b ^= b >> 47;
    b.wrapping_mul(MUL)
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    /// Of floats, also where integers are given.
    Div,
}

/// The common type of two columns of numbers.
fn common(a: &ArrayRef, b: &ArrayRef) -> Result<(ArrayRef, ArrayRef), Fault> {
    let to = match (a.data_type(), b.data_type()) {
        (x, y) if x == y => return Ok((a.clone(), b.clone())),
        (x, y) if x.is_integer() && y.is_integer() => DataType::Int64,
        (DataType::Float32, y) if y.is_integer() => DataType::Float32,
        (x, DataType::Float32) if x.is_integer() => DataType::Float32,
        (x, y) if x.is_numeric() && y.is_numeric() => DataType::Float64,
        (x, y) => return Err(Fault::new(format!("is {x}, beside {y}"), "give two columns of the same kind, or `cast` one")),
    };
    Ok((cast_column(a, &to)?, cast_column(b, &to)?))
}

/// See [`Arithmetic`].
///
/// # Errors
///
/// When the columns are not of numbers, or integers overflow.
pub fn arithmetic(operation: Arithmetic, a: &ArrayRef, b: &ArrayRef) -> Made {
    let (a, b) = common(a, b)?;
    for column in [&a, &b] {
        if !column.data_type().is_numeric() {
            return Err(Fault::new(format!("is {}, not numbers", column.data_type()), "`cast` it, or choose another column"));
        }
    }
    let floats =
        |column: &ArrayRef| if column.data_type().is_integer() { cast_column(column, &DataType::Float64) } else { Ok(column.clone()) };
    Ok(match operation {
        Arithmetic::Add => numeric::add(&a, &b)?,
        Arithmetic::Sub => numeric::sub(&a, &b)?,
        Arithmetic::Mul => numeric::mul(&a, &b)?,
        Arithmetic::Div => numeric::div(&floats(&a)?, &floats(&b)?)?,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// See [`Comparison`]; booleans.
///
/// # Errors
///
/// When the columns are of different kinds.
pub fn compare(comparison: Comparison, a: &ArrayRef, b: &ArrayRef) -> Made {
    let (a, b) = common(a, b)?;
    let (a, b): (&dyn Datum, &dyn Datum) = (&a, &b);
    Ok(Arc::new(match comparison {
        Comparison::Eq => cmp::eq(a, b)?,
        Comparison::Ne => cmp::neq(a, b)?,
        Comparison::Lt => cmp::lt(a, b)?,
        Comparison::Le => cmp::lt_eq(a, b)?,
        Comparison::Gt => cmp::gt(a, b)?,
        Comparison::Ge => cmp::gt_eq(a, b)?,
    }))
}

/// Whether a value is null.
///
/// # Errors
///
/// None that is known of.
pub fn is_null(column: &ArrayRef) -> Made {
    Ok(Arc::new(boolean::is_null(column)?))
}

/// Of each row the first column's value where the condition is true, and the second's where it is false or null.
///
/// # Errors
///
/// When the condition is not of booleans, or the columns are of different kinds.
pub fn if_else(condition: &ArrayRef, yes: &ArrayRef, no: &ArrayRef) -> Made {
    let Some(mask) = condition.as_any().downcast_ref::<BooleanArray>() else {
        return Err(Fault::new(format!("is {}, not a condition", condition.data_type()), "compare it with something"));
    };
    let (yes, no) = common(yes, no)?;
    Ok(zip(mask, &yes, &no)?)
}

/// The values as another type.
///
/// # Errors
///
/// When one cannot be; the error says in which row.
pub fn cast(column: &ArrayRef, to: &DataType) -> Made {
    each(column, |column| cast_column(column, to))
}
