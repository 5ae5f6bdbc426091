//! Dates and times.

use super::super::Fault;
use super::super::columns::cast;
use super::Made;
use arrow::array::ArrayRef;
use arrow::compute::DatePart as Part;
use arrow::datatypes::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

/// A part of a date or a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// Of ISO 8601, 1 to 53.
    Week,
    /// 1 to 31.
    Day,
    /// 0 is Monday.
    Weekday,
    /// From 1 on.
    DayOfYear,
    Hour,
    Minute,
    Second,
}

/// A part of each date, as i32. Text is read as ISO 8601.
///
/// # Errors
///
/// When the column is of neither dates nor text, or a text is no date; the error says in which row.
pub fn date_part(part: DatePart, column: &ArrayRef) -> Made {
    let part = match part {
        DatePart::Year => Part::Year,
        DatePart::Quarter => Part::Quarter,
        DatePart::Month => Part::Month,
        DatePart::Week => Part::Week,
        DatePart::Day => Part::Day,
        DatePart::Weekday => Part::DayOfWeekMonday0,
        DatePart::DayOfYear => Part::DayOfYear,
        DatePart::Hour => Part::Hour,
        DatePart::Minute => Part::Minute,
        DatePart::Second => Part::Second,
    };
    let dates = match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => cast(column, &DataType::Timestamp(TimeUnit::Millisecond, None))?,
        t if t.is_temporal() => column.clone(),
        t => return Err(Fault::new(format!("is {t}, neither dates nor text"), "choose another column")),
    };
    Ok(arrow::compute::date_part(&dates, part)?)
}
