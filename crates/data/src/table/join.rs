//! Joins with a table that is small enough for memory.

use super::columns::cast;
use super::{Fault, Table};
use crate::{Error, Result};
use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::row::{RowConverter, SortField};
use std::collections::HashMap;

/// Which rows of the table on the left stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Join {
    /// All; what is not found is null.
    Left,
    /// Those that are found.
    Inner,
}

/// A small table whose rows are found by a key of one or several columns.
pub struct Lookup {
    table: Table,
    key: Vec<String>,
    converter: RowConverter,
    /// The row of each key.
    rows: HashMap<Box<[u8]>, u64>,
}

impl Lookup {
    /// # Errors
    ///
    /// When a column of the key is not there, or two rows have the same key.
    pub fn new(table: Table, key: &[impl AsRef<str>]) -> Result<Lookup> {
        let key: Vec<String> = key.iter().map(|name| name.as_ref().to_string()).collect();
        if key.is_empty() {
            return Err(Error::option("Lookup", "the key has no columns", "name at least one"));
        }
        let columns = key.iter().map(|name| table.column(name).cloned()).collect::<Result<Vec<_>>>()?;
        let fail = |fault| table.fail(&key.join(", "), fault);
        let converter = RowConverter::new(columns.iter().map(|c| SortField::new(c.data_type().clone())).collect());
        let converter = converter.map_err(|e| fail(e.into()))?;
        let encoded = converter.convert_columns(&columns).map_err(|e| fail(e.into()))?;
        let mut rows = HashMap::with_capacity(table.rows());
        for (row, bytes) in encoded.iter().enumerate().filter(|(row, _)| columns.iter().all(|c| !c.is_null(*row))) {
            if let Some(first) = rows.insert(Box::from(bytes.as_ref()), row as u64) {
                return Err(fail(Fault::at(row, format!("has the same key as row {first}"), "give each key once")));
            }
        }
        Ok(Lookup { table, key, converter, rows })
    }

    /// A table's rows, each with the columns of the row here whose key is equal to its columns `on`. Null is equal to nothing.
    ///
    /// # Errors
    ///
    /// When a column is not there, cannot be of the key's type, or has the name of one that is added.
    pub fn join(&self, left: &Table, on: &[impl AsRef<str>], how: Join) -> Result<Table> {
        if on.len() != self.key.len() {
            let problem = format!("there are {} columns, and the key has {}", on.len(), self.key.len());
            return Err(Error::option("join", problem, "name one for each column of the key"));
        }
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (name, key) in on.iter().zip(&self.key) {
            let (name, to) = (name.as_ref(), self.table.column(key)?.data_type());
            columns.push(cast(left.column(name)?, to).map_err(|fault| left.fail(name, fault))?);
        }
        let encoded = self.converter.convert_columns(&columns).map_err(|e| left.fail(&self.key.join(", "), e.into()))?;
        let found: Vec<Option<u64>> = encoded.iter().map(|bytes| self.rows.get(bytes.as_ref()).copied()).collect();
        let (left, found) = match how {
            Join::Left => (left.clone(), found),
            Join::Inner => {
                let kept: Vec<usize> = found.iter().enumerate().filter(|(_, f)| f.is_some()).map(|(row, _)| row).collect();
                (left.take(&kept)?, found.into_iter().filter(Option::is_some).collect())
            }
        };
        let (indices, mut joined) = (UInt64Array::from(found), left.clone());
        for name in self.table.names().into_iter().filter(|name| !self.key.iter().any(|k| k == name)) {
            if left.names().contains(&name) {
                return Err(left.fail(name, Fault::new("is in both tables", "rename one of them")));
            }
            let column = arrow::compute::take(self.table.column(name)?, &indices, None).map_err(|e| left.fail(name, e.into()))?;
            joined = joined.with_column(name, column)?;
        }
        Ok(joined)
    }
}
