//! Functions of columns, by the names of `torcharrow.functional`, on arrow's kernels. Null stays null except where something else is said; of
//! lists, what is said of a value is done to each.

mod lists;
mod numbers;
mod text;
mod time;

pub use lists::{firstx, length, one_hot};
pub use numbers::{
    Arithmetic, Comparison, Unary, arithmetic, bucketize, cast, clamp, compare, fill_null, if_else, is_null, sigrid_hash, unary,
};
pub use text::{Letters, letters, lookup_indices, split, tokenize};
pub use time::{DatePart, date_part};

use super::Fault;
use arrow::array::{Array as _, ArrayRef, AsArray, ListArray};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

type Made = Result<ArrayRef, Fault>;

/// What a function makes of a column's values, or of the values of its lists.
fn each(column: &ArrayRef, function: impl Fn(&ArrayRef) -> Made) -> Made {
    let DataType::List(_) = column.data_type() else { return function(column) };
    let list: &ListArray = column.as_list();
    let values = function(list.values()).map_err(|fault| {
        let row = fault.row.map(|value| list.value_offsets().partition_point(|begin| *begin as usize <= value).saturating_sub(1));
        Fault { row, ..fault }
    })?;
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
}
