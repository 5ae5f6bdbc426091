//! Columns as arrays on the host and tensors on devices.

use super::{Fault, Table};
use crate::{Array, Result, ToDevice, Values};
use aludel_tensor::{Device, Tensor};
use arrow::array::{Array as _, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

/// What is said of a value that is not there.
pub(super) const ABSENT: &str = "is null or missing";
pub(super) const FILL: &str = "fill it (`fill_null`) or leave its row out (`filter`)";

/// How many rows of a matrix are written at a time: those of a wide table stay in the cache meanwhile.
const ROWS: usize = 256;

impl Table {
    /// A column of numbers on the host, `[rows]`, or `[rows, n]` of lists of a fixed size. Narrow integers are widened to i32, u32 and u64 to
    /// i64, half floats to f32; dates are i32 (days since 1970), times i64 in their own unit, decimals f64.
    ///
    /// # Errors
    ///
    /// When there is no such column, it is not of numbers, or a value of it is null; the error says in which row of which file.
    pub fn array(&self, name: &str) -> Result<Array> {
        let column = self.column(name)?;
        to_array(column).map_err(|fault| self.fail(name, fault))
    }

    /// The column on a device, as [`Array::to_device`] has it. Of f32 and i32 the column's own buffer is handed over, without a copy on the
    /// host.
    ///
    /// # Errors
    ///
    /// As [`Table::array`], when an integer needs more than 32 bits, and when the device cannot hold so many.
    pub fn tensor(&self, name: &str, device: &Device) -> Result<Tensor> {
        let column = self.column(name)?;
        let whole = |column: &ArrayRef| column.null_count() == 0;
        match column.data_type() {
            DataType::Float32 if whole(column) => {
                Ok(Tensor::from_slice(device, column.as_primitive::<Float32Type>().values().as_ref(), [self.rows()])?)
            }
            DataType::Int32 if whole(column) => {
                Ok(Tensor::from_slice(device, column.as_primitive::<Int32Type>().values().as_ref(), [self.rows()])?)
            }
            _ => {
                let array = to_array(column).map_err(|fault| self.fail(name, fault))?;
                if let (Values::I64(v), [rows]) = (array.values(), array.shape())
                    && let Some(row) = v.iter().position(|x| i32::try_from(*x).is_err()).filter(|_| *rows == v.len())
                {
                    let problem = format!("is {}, and integers on devices have 32 bits", v[row]);
                    return Err(self.fail(name, Fault::at(row, problem, "hash it (`sigrid_hash`) or cast it to a float")));
                }
                array.to_device(device)
            }
        }
    }

    /// Columns of numbers side by side: f32 `[rows, columns]`, as a model takes features. Lists of a fixed size are as many columns as they
    /// have numbers.
    ///
    /// # Errors
    ///
    /// As [`Table::array`].
    pub fn matrix(&self, names: &[impl AsRef<str>]) -> Result<Array> {
        let mut columns = Vec::new();
        for name in names {
            let name = name.as_ref();
            let column = self.column(name)?;
            let width = if let DataType::FixedSizeList(_, n) = column.data_type() { *n as usize } else { 1 };
            columns.push((floats(column).map_err(|fault| self.fail(name, fault))?, width));
        }
        let (rows, width) = (self.rows(), columns.iter().map(|(_, w)| w).sum::<usize>());
        let mut matrix = vec![0.0; rows * width];
        for (block, out) in matrix.chunks_mut((ROWS * width).max(1)).enumerate() {
            let mut at = 0;
            for (column, w) in &columns {
                let column = &column.as_slice()[block * ROWS * w..];
                for (row, values) in out.chunks_exact_mut(width).zip(column.chunks_exact((*w).max(1))) {
                    row[at..at + w].copy_from_slice(&values[..*w]);
                }
                at += w;
            }
        }
        Array::new([rows, width], Values::F32(matrix))
    }
}

impl ToDevice for Table {
    type Tensors = std::collections::BTreeMap<String, Tensor>;

    /// Every column, by its name.
    fn to_device(&self, device: &Device) -> Result<Self::Tensors> {
        self.names().into_iter().map(|name| Ok((name.to_string(), self.tensor(name, device)?))).collect()
    }
}

/// A column's numbers as f32: its own where it is of f32.
enum Floats {
    Own(arrow::buffer::ScalarBuffer<f32>),
    Made(Vec<f32>),
}

impl Floats {
    fn as_slice(&self) -> &[f32] {
        match self {
            Floats::Own(v) => v,
            Floats::Made(v) => v,
        }
    }
}

fn floats(column: &ArrayRef) -> Result<Floats, Fault> {
    match column.data_type() {
        DataType::Float32 => present(column).map(|()| Floats::Own(column.as_primitive::<Float32Type>().values().clone())),
        _ => Ok(Floats::Made(match to_array(column)?.into_values() {
            Values::F32(v) => v,
            values => Array::row(values).to_f32(),
        })),
    }
}

/// Errors when a value is null, with the first row of such.
pub(super) fn present(column: &ArrayRef) -> Result<(), Fault> {
    let nulls = column.nulls().filter(|n| n.null_count() > 0);
    let first = nulls.and_then(|n| n.iter().position(|valid| !valid));
    first.map_or(Ok(()), |row| Err(Fault::at(row, ABSENT, FILL)))
}

/// The numbers of a column without nulls.
pub(super) fn to_array(column: &ArrayRef) -> Result<Array, Fault> {
    if let DataType::FixedSizeList(_, n) = column.data_type() {
        present(column)?;
        let (list, n) = (column.as_fixed_size_list(), *n as usize);
        // A slice's values are those of its rows.
        let values = list.values().slice(list.offset() * n, list.len() * n);
        let values = numbers(&values).map_err(|fault| Fault { row: fault.row.map(|i| i / n.max(1)), ..fault })?;
        return Array::new([list.len(), n], values).map_err(|e| Fault::new(e.to_string(), ""));
    }
    numbers(column).map(Array::row)
}

/// Of a column of numbers that are not in lists.
pub(super) fn numbers(column: &ArrayRef) -> Result<Values, Fault> {
    present(column)?;
    fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> &[T::Native] {
        column.as_primitive::<T>().values().as_ref()
    }
    Ok(match column.data_type() {
        DataType::Boolean => Values::Bool(column.as_boolean().values().iter().collect()),
        DataType::UInt8 => Values::U8(values::<UInt8Type>(column).to_vec()),
        DataType::Int8 => Values::I32(values::<Int8Type>(column).iter().map(|x| i32::from(*x)).collect()),
        DataType::Int16 => Values::I32(values::<Int16Type>(column).iter().map(|x| i32::from(*x)).collect()),
        DataType::UInt16 => Values::I32(values::<UInt16Type>(column).iter().map(|x| i32::from(*x)).collect()),
        DataType::Int32 => Values::I32(values::<Int32Type>(column).to_vec()),
        DataType::Date32 => Values::I32(values::<Date32Type>(column).to_vec()),
        DataType::UInt32 => Values::I64(values::<UInt32Type>(column).iter().map(|x| i64::from(*x)).collect()),
        DataType::Int64 => Values::I64(values::<Int64Type>(column).to_vec()),
        DataType::Date64 => Values::I64(values::<Date64Type>(column).to_vec()),
        DataType::UInt64 => {
            let whole = |(row, x): (usize, &u64)| {
                i64::try_from(*x)
                    .map_err(|_| Fault::at(row, format!("is {x}"), "integers of tensors have 63 bits: hash it or cast it to a float"))
            };
            Values::I64(values::<UInt64Type>(column).iter().enumerate().map(whole).collect::<Result<_, _>>()?)
        }
        DataType::Float16 => Values::F32(values::<Float16Type>(column).iter().map(|x| x.to_f32()).collect()),
        DataType::Float32 => Values::F32(values::<Float32Type>(column).to_vec()),
        DataType::Float64 => Values::F64(values::<Float64Type>(column).to_vec()),
        DataType::Timestamp(..) | DataType::Time64(_) | DataType::Duration(_) => numbers(&cast(column, &DataType::Int64)?)?,
        DataType::Time32(_) => numbers(&cast(column, &DataType::Int32)?)?,
        t if t.is_decimal() => numbers(&cast(column, &DataType::Float64)?)?,
        DataType::Dictionary(_, inner) if inner.is_numeric() => numbers(&cast(column, inner)?)?,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            let remedy = "make numbers of it: `lookup_indices`, `cast`, `tokenize`";
            return Err(Fault::new(format!("is {}, not numbers", column.data_type()), remedy));
        }
        DataType::List(_) | DataType::LargeList(_) => {
            return Err(Fault::new("is of lists of different lengths", "ask for it with `Table::padded` or `Table::ragged`"));
        }
        other => return Err(Fault::new(format!("is {other}, not numbers"), "choose another column, or `cast` it")),
    })
}

/// A column as another type. Values that cannot be are errors.
pub(super) fn cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, Fault> {
    if column.data_type() == to {
        return Ok(column.clone());
    }
    let safe = CastOptions { safe: true, ..CastOptions::default() };
    let made = cast_with_options(column, to, &safe)
        .map_err(|_| Fault::new(format!("is {}, which cannot become {to}", column.data_type()), "choose another type"))?;
    if made.null_count() > column.logical_null_count() {
        // What was there and is not any more.
        let lost = |row: &usize| made.is_null(*row) && !column.is_null(*row);
        let row = (0..column.len()).find(lost).unwrap_or(0);
        let shown = arrow::util::display::array_value_to_string(column, row).unwrap_or_default();
        let problem = format!("{:?} cannot become {to}", shown.chars().take(40).collect::<String>());
        return Err(Fault::at(row, problem, "correct it, or give the column another type"));
    }
    Ok(made)
}

/// As numbers of one type.
pub(super) fn primitive<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<PrimitiveArray<T>, Fault> {
    Ok(cast(column, &T::DATA_TYPE)?.as_primitive::<T>().clone())
}
