//! Statistics of columns, for all rows and for groups of them, fitted to training data.

use super::columns::primitive;
use super::{Fault, Table};
use crate::pipe::Pipe;
use crate::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Float64Type};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of the numbers of a column that are not null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    /// The sum of the squared differences to the mean.
    squares: f64,
    pub min: f64,
    pub max: f64,
}

impl Moments {
    /// B. P. Welford's update (1962), which loses no digits to a large mean.
    fn add(&mut self, x: f64) {
        (self.min, self.max) = if self.count == 0 { (x, x) } else { (self.min.min(x), self.max.max(x)) };
        self.count += 1;
        let difference = x - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (x - self.mean);
    }

    /// The standard deviation of these numbers, not of a population that they are drawn from.
    pub fn std(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }
}

/// Statistics of columns for each group of rows that have the same values in other columns; saved as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    by: Vec<String>,
    columns: Vec<String>,
    /// Of all rows, for each column.
    pub overall: Vec<Moments>,
    /// By the group's values as text.
    #[serde(with = "as_list")]
    groups: BTreeMap<Vec<String>, Vec<Moments>>,
}

/// JSON has no maps by lists.
mod as_list {
    use super::{BTreeMap, Moments};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Groups = BTreeMap<Vec<String>, Vec<Moments>>;

    pub fn serialize<S: Serializer>(groups: &Groups, serializer: S) -> Result<S::Ok, S::Error> {
        groups.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Groups, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

/// The most groups: a column of names or numbers of its own for every row makes no groups.
const MOST: usize = 1_000_000;

impl Statistics {
    /// Reads a pipe to its end. Without columns in `by` all rows are one group. A value of `by` that is null is a group, too.
    ///
    /// # Errors
    ///
    /// The pipe's first one; when a column is not there or not of numbers; when there are more than a million groups.
    pub fn fit(tables: &mut impl Pipe<Item = Table>, by: &[&str], columns: &[&str]) -> Result<Statistics> {
        let text = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let none = vec![Moments::default(); columns.len()];
        let mut fitted = Statistics { by: text(by), columns: text(columns), overall: none.clone(), groups: BTreeMap::new() };
        while let Some(table) = tables.next().transpose()? {
            let keys = fitted.keys(&table)?;
            let values = columns.iter().map(|name| numbers(&table, name)).collect::<Result<Vec<_>>>()?;
            for (row, key) in keys.into_iter().enumerate() {
                if !by.is_empty() && !fitted.groups.contains_key(&key) {
                    if fitted.groups.len() == MOST {
                        return Err(table.fail(&by.join(", "), Fault::at(row, format!("begins group {MOST}"), "group by fewer values")));
                    }
                    fitted.groups.insert(key.clone(), none.clone());
                }
                let mut group = fitted.groups.get_mut(&key);
                for (i, column) in values.iter().enumerate().filter(|(_, column)| !column.is_null(row)) {
                    fitted.overall[i].add(column.value(row));
                    if let Some(group) = &mut group {
                        group[i].add(column.value(row));
                    }
                }
            }
        }
        Ok(fitted)
    }

    /// Each row's group.
    fn keys(&self, table: &Table) -> Result<Vec<Vec<String>>> {
        let columns = self.by.iter().map(|name| {
            let column = super::columns::cast(table.column(name)?, &DataType::Utf8).map_err(|fault| table.fail(name, fault))?;
            Ok(column.as_string::<i32>().clone())
        });
        let columns = columns.collect::<Result<Vec<StringArray>>>()?;
        let value = |c: &StringArray, row| if c.is_null(row) { NULL.to_string() } else { c.value(row).to_string() };
        Ok((0..table.rows()).map(|row| columns.iter().map(|c| value(c, row)).collect()).collect())
    }

    /// The statistics of a column in a group; `None` of one that no row was in.
    pub fn of(&self, group: &[&str], column: &str) -> Option<Moments> {
        let place = self.columns.iter().position(|c| c == column)?;
        let key: Vec<String> = group.iter().map(|v| v.to_string()).collect();
        if self.by.is_empty() { self.overall.get(place).copied() } else { self.groups.get(&key)?.get(place).copied() }
    }

    /// The fitted columns less the mean of their row's group, divided by its standard deviation, as f32; those of a group that was not there
    /// when it was fitted, or had no number, by all rows' mean and deviation. Where all are equal, nothing is divided.
    ///
    /// # Errors
    ///
    /// When a column is not there, or not of numbers.
    pub fn standardize(&self, table: &Table) -> Result<Table> {
        let (keys, mut made) = (self.keys(table)?, table.clone());
        for (i, name) in self.columns.iter().enumerate() {
            let of = |row: usize| {
                let group = self.groups.get(&keys[row]).and_then(|moments| moments.get(i)).filter(|m| m.count > 0);
                let Some(m) = group.or(self.overall.get(i)) else { return (0.0, 1.0) };
                (m.mean, if m.std() > 0.0 { m.std() } else { 1.0 })
            };
            let values = numbers(table, name)?;
            let scaled = values.iter().enumerate().map(|(row, x)| {
                let (mean, std) = of(row);
                x.map(|x| ((x - mean) / std) as f32)
            });
            made = made.with_column(name, Arc::new(arrow::array::Float32Array::from_iter(scaled.collect::<Vec<_>>())))?;
        }
        Ok(made)
    }

    /// A row for each group: the columns that it is by, as text, and `x_count`, `x_mean`, `x_std`, `x_min` and `x_max` of each column `x`; to be
    /// joined by a [`Lookup`](super::Lookup).
    ///
    /// # Errors
    ///
    /// When it is fitted without groups.
    pub fn table(&self) -> Result<Table> {
        if self.by.is_empty() {
            return Err(Error::option("Statistics", "is fitted without groups", "name columns to group by"));
        }
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (i, name) in self.by.iter().enumerate() {
            let values = self.groups.keys().map(|key| Some(key[i].as_str()).filter(|v| *v != NULL));
            columns.push((name.clone(), Arc::new(values.collect::<StringArray>())));
        }
        for (i, name) in self.columns.iter().enumerate() {
            let kinds: [(&str, fn(&Moments) -> f64); 5] =
                [("count", |m| m.count as f64), ("mean", |m| m.mean), ("std", Moments::std), ("min", |m| m.min), ("max", |m| m.max)];
            for (kind, function) in kinds {
                let values = self.groups.values().map(|moments| moments.get(i).filter(|m| m.count > 0 || kind == "count").map(function));
                columns.push((format!("{name}_{kind}"), Arc::new(values.collect::<Float64Array>())));
            }
        }
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
        Ok(Table::new("statistics", batch.map_err(|e| Error::option("Statistics", e.to_string(), "fit them anew"))?))
    }
}

/// How a group of rows without a value is called; no text of a table has this character.
const NULL: &str = "\0null";

fn numbers(table: &Table, name: &str) -> Result<Float64Array> {
    let column = table.column(name)?;
    if !column.data_type().is_numeric() && *column.data_type() != DataType::Boolean {
        let fault = Fault::new(format!("is {}, not numbers", column.data_type()), "`cast` it, or choose another column");
        return Err(table.fail(name, fault));
    }
    primitive::<Float64Type>(column).map_err(|fault| table.fail(name, fault))
}
