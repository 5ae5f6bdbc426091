//! Lists: rows of different lengths, padded to one length or one after the other.

use super::columns::{cast, numbers};
use super::{Fault, Table};
use crate::{Array, Result, ToDevice, Values};
use aludel_tensor::{Device, Tensor};
use arrow::array::{Array as _, ArrayRef, AsArray, ListArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// Lists of one length; what is behind the end of one is padding.
#[derive(Clone, Debug, PartialEq)]
pub struct Padded {
    /// `[rows, longest]`.
    pub values: Array,
    /// i32 `[rows]`.
    pub lengths: Array,
}

/// Lists one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged {
    /// `[the sum of all lengths]`.
    pub values: Array,
    /// Of each row: what `RaggedLayout::new` of `aludel::nn` takes.
    pub lengths: Vec<usize>,
}

impl ToDevice for Padded {
    /// Values and lengths.
    type Tensors = (Tensor, Tensor);

    fn to_device(&self, device: &Device) -> Result<(Tensor, Tensor)> {
        Ok((self.values.to_device(device)?, self.lengths.to_device(device)?))
    }
}

impl ToDevice for Ragged {
    type Tensors = (Tensor, Vec<usize>);

    /// Lengths stay on the host.
    fn to_device(&self, device: &Device) -> Result<(Tensor, Vec<usize>)> {
        Ok((self.values.to_device(device)?, self.lengths.clone()))
    }
}

impl Table {
    /// A column of lists of numbers, all of the length of the longest, or of `length`: what is behind it is left out. Shorter ones end in
    /// `fill`. A list that is null has the length 0.
    ///
    /// # Errors
    ///
    /// When there is no such column, it is not of lists of numbers, a number in one is null, or `fill` is none of its type.
    pub fn padded(&self, name: &str, length: Option<usize>, fill: f64) -> Result<Padded> {
        let ragged = self.ragged(name)?;
        let rows = ragged.lengths.len();
        let width = length.unwrap_or(ragged.lengths.iter().copied().max().unwrap_or(0));
        let kept: Vec<usize> = ragged.lengths.iter().map(|n| *n.min(&width)).collect();
        let too_large =
            || self.fail(name, Fault::new(format!("{rows} rows of {width} are more than memory holds"), "give a smaller length"));
        let size = rows.checked_mul(width).filter(|n| n.checked_mul(8).is_some_and(|n| n < isize::MAX as usize)).ok_or_else(too_large)?;
        macro_rules! pad {
            ($kind:ident, $values:expr, $fill:expr) => {{
                let mut out = Vec::new();
                out.try_reserve_exact(size).map_err(|_| too_large())?;
                out.resize(size, $fill);
                let mut at = 0;
                for (row, (all, kept)) in ragged.lengths.iter().zip(&kept).enumerate() {
                    out[row * width..row * width + kept].copy_from_slice(&$values[at..at + kept]);
                    at += all;
                }
                Values::$kind(out)
            }};
        }
        let whole = |low: f64, high: f64| {
            let problem = || format!("the padding {fill} is none of {}", ragged.values.values().type_name());
            let fits = fill.fract() == 0.0 && fill >= low && fill <= high;
            if fits { Ok(fill) } else { Err(self.fail(name, Fault::new(problem(), "give a value of the column's type"))) }
        };
        let values = match ragged.values.values() {
            Values::Bool(v) => pad!(Bool, v, whole(0.0, 1.0)? != 0.0),
            Values::U8(v) => pad!(U8, v, whole(0.0, 255.0)? as u8),
            Values::I32(v) => pad!(I32, v, whole(f64::from(i32::MIN), f64::from(i32::MAX))? as i32),
            Values::I64(v) => pad!(I64, v, whole(-9007199254740992.0, 9007199254740992.0)? as i64),
            Values::F32(v) => pad!(F32, v, fill as f32),
            Values::F64(v) => pad!(F64, v, fill),
        };
        let lengths = Array::row(Values::I32(kept.into_iter().map(|n| n as i32).collect()));
        Ok(Padded { values: Array::new([rows, width], values)?, lengths })
    }

    /// A column of lists of numbers, one after the other, without padding. A list that is null has the length 0.
    ///
    /// # Errors
    ///
    /// As [`Table::padded`].
    pub fn ragged(&self, name: &str) -> Result<Ragged> {
        let column = self.column(name)?;
        ragged(column).map_err(|fault| self.fail(name, fault))
    }
}

fn ragged(column: &ArrayRef) -> Result<Ragged, Fault> {
    let list = lists(column)?;
    let lengths: Vec<usize> = list.offsets().lengths().zip(0..).map(|(n, row)| if list.is_null(row) { 0 } else { n }).collect();
    let (first, last) = (list.value_offsets()[0] as usize, list.value_offsets()[list.len()] as usize);
    let mut values = list.values().slice(first, last - first);
    if lengths.iter().sum::<usize>() != values.len() {
        // Lists that are null and have values all the same.
        let kept: Vec<usize> = (0..list.len()).filter(|row| !list.is_null(*row)).flat_map(|row| range(&list, row)).collect();
        let indices = arrow::array::UInt64Array::from_iter_values(kept.iter().map(|i| *i as u64));
        values = arrow::compute::take(list.values(), &indices, None)?;
    }
    let row_of = |value: usize| {
        let mut end = 0;
        lengths.iter().position(|n| {
            end += n;
            value < end
        })
    };
    let values = numbers(&values).map_err(|fault| Fault { row: fault.row.and_then(row_of), ..fault })?;
    Ok(Ragged { values: Array::row(values), lengths })
}

/// The values of a row.
pub(super) fn range(list: &ListArray, row: usize) -> std::ops::Range<usize> {
    list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize
}

/// A column of lists, whatever kind of them it has.
pub(super) fn lists(column: &ArrayRef) -> Result<ListArray, Fault> {
    match column.data_type() {
        DataType::List(_) => Ok(column.as_list::<i32>().clone()),
        DataType::LargeList(f) | DataType::FixedSizeList(f, _) | DataType::ListView(f) | DataType::LargeListView(f) => {
            let to = DataType::List(Arc::clone(f));
            Ok(cast(column, &to)?.as_list::<i32>().clone())
        }
        other => Err(Fault::new(format!("is {other}, not lists"), "choose a column of lists")),
    }
}
