//! Lists.

use super::super::Fault;
use super::super::columns::{ABSENT, FILL, primitive};
use super::super::nested::{lists, range};
use super::Made;
use arrow::array::{Array, ArrayRef, FixedSizeListArray, Float32Array, Int32Array, ListArray, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int64Type};
use std::sync::Arc;

/// The first `num_to_copy` values of each list.
///
/// # Errors
///
/// When the column is not of lists.
pub fn firstx(column: &ArrayRef, num_to_copy: usize) -> Made {
    let list = lists(column)?;
    let (mut kept, mut lengths) = (Vec::new(), Vec::new());
    for row in 0..list.len() {
        let all = if list.is_null(row) { 0..0 } else { range(&list, row) };
        let n = all.len().min(num_to_copy);
        kept.extend(all.take(n).map(|i| i as u64));
        lengths.push(n);
    }
    let values = arrow::compute::take(list.values(), &UInt64Array::from(kept), None)?;
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, list.nulls().cloned())?))
}

/// How many values each list has, as i32.
///
/// # Errors
///
/// When the column is not of lists.
pub fn length(column: &ArrayRef) -> Made {
    let list = lists(column)?;
    let lengths = (0..list.len()).map(|row| (!list.is_null(row)).then(|| range(&list, row).len() as i32));
    Ok(Arc::new(Int32Array::from_iter(lengths)))
}

/// For each class a list of `classes` numbers, of which that of the class is 1 and all others 0.
///
/// # Errors
///
/// When the column is not of integers, one is null, or is not below `classes`.
pub fn one_hot(column: &ArrayRef, classes: usize) -> Made {
    if !column.data_type().is_integer() {
        return Err(Fault::new(format!("is {}, not classes", column.data_type()), "number them first (`lookup_indices`, `bucketize`)"));
    }
    let of = primitive::<Int64Type>(column)?;
    let too_large = || Fault::new(format!("{} rows of {classes} classes are more than memory holds", of.len()), "ask for fewer");
    let (width, size) = (i32::try_from(classes).map_err(|_| too_large())?, of.len().checked_mul(classes).ok_or_else(too_large)?);
    let mut values: Vec<f32> = Vec::new();
    values.try_reserve_exact(size).map_err(|_| too_large())?;
    values.resize(size, 0.0);
    for (row, class) in of.iter().enumerate() {
        let class = class.ok_or_else(|| Fault::at(row, ABSENT, FILL))?;
        let place = usize::try_from(class).ok().filter(|class| *class < classes);
        let place =
            place.ok_or_else(|| Fault::at(row, format!("is the class {class} of {classes}"), "count classes from 0, or allow more"))?;
        values[row * classes + place] = 1.0;
    }
    let field = Arc::new(Field::new_list_field(DataType::Float32, true));
    Ok(Arc::new(FixedSizeListArray::try_new_with_length(field, width, Arc::new(Float32Array::from(values)), None, of.len())?))
}
