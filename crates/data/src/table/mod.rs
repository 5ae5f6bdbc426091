//! Tables: record batches of Arrow, read from files in bounded memory, prepared by expressions, and handed to devices as tensors.
//!
//! ```
//! use aludel_data::Pipe;
//! use aludel_data::table::{TablePipe, col, csv};
//!
//! # fn main() -> aludel_data::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("people.csv").display().to_string();
//! # std::fs::write(&path, "age,city,pays\n31,Bern,1\n,Basel,0\n58,Bern,1\n").unwrap();
//! let mut tables = csv(vec![path])                                       // a `Pipe` of `Table`s
//!     .with("age", col("age").fill_null(40.0).clamp(0.0, 90.0))
//!     .with("city", col("city").lower().lookup_indices(["bern", "basel"], -1))
//!     .rebatch(2, false);
//! let table = tables.next().transpose()?.unwrap();
//! assert_eq!(table.matrix(&["age", "city"])?.to_f32(), [31.0, 0.0, 40.0, 1.0]);
//! assert_eq!(table.array("pays")?.to_i32()?, [1, 0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`parquet`], [`arrow_ipc`], [`csv`] and [`json_lines`] are pipes of [`Table`]s; [`TablePipe`] has what only pipes of tables can do.
//! - [`Expr`]s compute columns ([`col`]), by the functions of [`functional`], which has TorchArrow's names; [`Transform`] is a list of them
//!   that can be saved with a checkpoint.
//! - [`Lookup`] joins a small table; [`Statistics`] are fitted to training data, for each group of rows where one is asked for.
//! - [`Table::tensor`] hands a column's own buffer to a device; [`Table::padded`] and [`Table::ragged`] are for lists.

mod columns;
mod examples;
mod expr;
mod fault;
pub mod functional;
mod group;
mod join;
mod nested;
mod origin;
mod pipes;
mod source;

pub use arrow;
pub(crate) use examples::{labelled, reads};
pub use expr::{Expr, Literal, Transform, col, lit};
pub use fault::Fault;
pub use functional::DatePart;
pub use group::{Moments, Statistics};
pub use join::{Join, Lookup};
pub use nested::{Padded, Ragged};
pub use pipes::{Rebatch, ShuffleRows, TablePipe, collect};
pub use source::{Tables, arrow_ipc, csv, json_lines, parquet};

use crate::loader::Builder;
use crate::{DataLoader, Dataset, Draw, Error, Result};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow::datatypes::{Field, Schema};
use origin::Origin;
use std::sync::Arc;

/// Rows of a table: a record batch, which knows the files and rows that it was read from. Copies share their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    batch: RecordBatch,
    origin: Origin,
}

impl Table {
    /// Rows that were in no file; `name` stands for it in errors.
    pub fn new(name: &str, batch: RecordBatch) -> Table {
        let origin = Origin::new(name, 0, batch.num_rows());
        Table { batch, origin }
    }

    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns' names.
    pub fn names(&self) -> Vec<&str> {
        self.batch.schema_ref().fields().iter().map(|f| f.name().as_str()).collect()
    }

    /// The file that a row was read from, and its number there, counted from 0.
    pub fn place(&self, row: usize) -> Option<(&str, u64)> {
        self.origin.place(row)
    }

    /// # Errors
    ///
    /// When there is no such column.
    pub fn column(&self, name: &str) -> Result<&ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| {
            let problem = format!("there is none; there are {}", self.names().join(", "));
            self.fail(name, Fault::new(problem, "name one of them"))
        })
    }

    /// An error of a column here, with the file and the row in it.
    pub(crate) fn fail(&self, column: &str, fault: Fault) -> Error {
        let place = self.origin.place(fault.row.unwrap_or(0));
        let row = fault.row.and_then(|_| place.map(|(_, row)| row));
        Error::column(column, row, fault.problem, fault.remedy).of_item(place.map_or("an empty table", |(file, _)| file))
    }

    /// The same rows with a column more, or another one in place of one of that name.
    ///
    /// # Errors
    ///
    /// When the column has another number of rows.
    pub fn with_column(&self, name: &str, column: ArrayRef) -> Result<Table> {
        if column.len() != self.rows() {
            let problem = format!("has {} rows, and the table {}", column.len(), self.rows());
            return Err(self.fail(name, Fault::new(problem, "give one value for each row")));
        }
        let mut fields: Vec<_> = self.batch.schema_ref().fields().iter().cloned().collect();
        let mut columns = self.batch.columns().to_vec();
        let field = Arc::new(Field::new(name, column.data_type().clone(), true));
        match fields.iter().position(|f| f.name() == name) {
            Some(i) => (fields[i], columns[i]) = (field, column),
            None => {
                fields.push(field);
                columns.push(column);
            }
        }
        self.of(fields, columns)
    }

    /// Only these columns, in this order.
    ///
    /// # Errors
    ///
    /// When one of them is not there.
    pub fn select(&self, names: &[impl AsRef<str>]) -> Result<Table> {
        let mut fields = Vec::new();
        let columns = names.iter().map(|name| {
            let column = self.column(name.as_ref())?.clone();
            fields.push(Arc::new(Field::new(name.as_ref(), column.data_type().clone(), true)));
            Ok(column)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        self.of(fields, columns)
    }

    fn of(&self, fields: Vec<Arc<Field>>, columns: Vec<ArrayRef>) -> Result<Table> {
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(self.rows()));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
        Ok(Table { batch: batch.map_err(|e| self.whole(&e.to_string()))?, origin: self.origin.clone() })
    }

    /// Rows `from..to`, without a copy; fewer where the table ends before.
    pub fn slice(&self, from: usize, to: usize) -> Table {
        let to = to.min(self.rows());
        let from = from.min(to);
        Table { batch: self.batch.slice(from, to - from), origin: self.origin.slice(from, to) }
    }

    /// These rows, in this order.
    ///
    /// # Errors
    ///
    /// When there is no such row.
    pub fn take(&self, rows: &[usize]) -> Result<Table> {
        if let Some(row) = rows.iter().find(|row| **row >= self.rows()) {
            return Err(crate::dataset::out_of_range(*row, self.rows()));
        }
        let indices = UInt64Array::from_iter_values(rows.iter().map(|row| *row as u64));
        let batch = arrow::compute::take_record_batch(&self.batch, &indices).map_err(|e| self.whole(&e.to_string()))?;
        Ok(Table { batch, origin: self.origin.take(rows) })
    }

    /// The rows for which an expression is true; not those for which it is null.
    ///
    /// # Errors
    ///
    /// When the expression cannot be computed, or is not of booleans.
    pub fn filter(&self, keep: &Expr) -> Result<Table> {
        let mask = keep.evaluate(self)?;
        let Some(mask) = mask.as_any().downcast_ref::<BooleanArray>() else {
            let problem = format!("is {}, not a condition", mask.data_type());
            return Err(self.fail(&keep.to_string(), Fault::new(problem, "compare it: `.gt(0.0)`, `.eq(..)`, `.is_null()`")));
        };
        let rows: Vec<usize> = mask.iter().enumerate().filter(|(_, keep)| *keep == Some(true)).map(|(row, _)| row).collect();
        self.take(&rows)
    }

    /// The rows of several tables of the same columns, one after the other.
    ///
    /// # Errors
    ///
    /// When their columns differ, or there is no table.
    pub fn concat(tables: &[Table]) -> Result<Table> {
        let Some(first) = tables.first() else {
            return Err(Error::option("Table::concat", "there is no table", "give at least one"));
        };
        if let [one] = tables {
            return Ok(one.clone());
        }
        let types = |t: &Table| t.batch.schema_ref().fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect::<Vec<_>>();
        if let Some(other) = tables.iter().find(|t| types(t) != types(first)) {
            let (here, there) = (describe(other.batch.schema_ref()), describe(first.batch.schema_ref()));
            return Err(other.whole(&format!("has the columns {here}, and the table before {there}")));
        }
        let batches = tables.iter().map(|t| &t.batch);
        let batch = arrow::compute::concat_batches(first.batch.schema_ref(), batches).map_err(|e| first.whole(&e.to_string()))?;
        Ok(Table { batch, origin: Origin::concat(tables.iter().map(|t| &t.origin)) })
    }

    /// An error of all columns together.
    fn whole(&self, problem: &str) -> Error {
        let (file, row) = self.origin.place(0).unwrap_or(("an empty table", 0));
        Error::file(file, format!("rows from {row} on"), problem, "give tables of the same columns")
    }

    /// A loader of these rows, which are in memory; batches are tables.
    pub fn loader(self) -> Builder<usize, Table> {
        let rows = Rows(self.rows());
        DataLoader::with_collate(rows, move |rows| self.take(&rows))
    }
}

/// `a: Int64, b: Utf8`.
fn describe(schema: &Schema) -> String {
    let fields: Vec<String> = schema.fields().iter().map(|f| format!("{}: {}", f.name(), f.data_type())).collect();
    fields.join(", ")
}

/// The numbers of a table's rows.
struct Rows(usize);

impl Dataset for Rows {
    type Item = usize;

    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, draw: Draw) -> Result<usize> {
        Ok(draw.index)
    }
}
