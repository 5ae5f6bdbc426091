//! Rows of a table as examples with a class for each.

use super::{Fault, Statistics, Table, Tables, Transform, arrow_ipc, col, collect, csv, json_lines, parquet};
use crate::source::{Labelled, bare};
use crate::{Array, Dataset, Draw, Error, Result, pipe};
use arrow::array::{Array as _, AsArray};
use arrow::datatypes::DataType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most rows that are held.
const MOST: usize = 20_000_000;
/// The most values of a column of text, and the most classes: more are names or measurements.
const CATEGORIES: usize = 64;
const CLASSES: usize = 1000;
/// What a column of classes is called; without such a one it is the last.
const LABELS: [&str; 4] = ["label", "class", "target", "y"];

/// Opens files of a format.
type Format = fn(Vec<String>) -> Tables;

/// How files of this name are read; `None` of what is no table.
fn format(name: &str) -> Option<Format> {
    match bare(name).rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "parquet" => Some(parquet),
        "arrow" | "feather" | "arrows" => Some(arrow_ipc),
        "csv" => Some(csv),
        "jsonl" | "ndjson" => Some(json_lines),
        _ => None,
    }
}

/// Whether a name is one of a table.
pub(crate) fn reads(name: &str) -> bool {
    format(name).is_some()
}

/// The rows of files of one format. The column of the classes is called `label`, `class`, `target` or `y`, or is the last one; its values
/// are numbered in their order. Of the others, numbers are scaled to mean 0 and deviation 1 on the rows that are trained on, where 0 stands
/// for null; text of few values becomes one-hot, with a place for what was not among these rows.
///
/// # Errors
///
/// When the files differ, there are too many rows, a class is null, or a column is of another kind.
pub(crate) fn labelled(files: Vec<String>) -> Result<Labelled> {
    let Some(format) = files.first().and_then(|name| format(name)) else {
        return Err(Error::option("files", "there is no table among them", "name Parquet, Arrow, CSV or JSON lines"));
    };
    let table = collect(&mut format(files), MOST)?;
    let label = LABELS.into_iter().find(|l| table.names().contains(l)).or(table.names().last().copied()).unwrap_or("label").to_string();
    let (y, classes) = classes(&table, &label)?;
    let train: Vec<usize> = (0..table.rows()).filter(|row| !Labelled::held_out(*row)).collect();
    let (train, mut names) = (table.take(&train)?, Vec::new());
    let (mut numbers, mut text) = (Vec::new(), Transform::new());
    for name in table.names().into_iter().filter(|name| *name != label) {
        let column = train.column(name)?;
        let categories = match column.data_type() {
            t if t.is_numeric() || *t == DataType::Boolean => {
                numbers.push(name);
                names.push(name);
                continue;
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => values(&train, name, CATEGORIES)?,
            other => {
                let fault = Fault::new(format!("is {other}, which is no feature"), "make numbers or text of it, or leave it out");
                return Err(table.fail(name, fault));
            }
        };
        let unseen = categories.len() as i64;
        let place = col(name).cast(DataType::Utf8).lookup_indices(categories, unseen).fill_null(unseen);
        text = text.with(name, place.one_hot(unseen as usize + 1));
        names.push(name);
    }
    if names.is_empty() {
        return Err(table.fail(&label, Fault::new("is the only column", "give features beside the classes")));
    }
    let scaled = Statistics::fit(&mut pipe::items(vec![train]), &[], &numbers)?.standardize(&table)?;
    let filled = numbers.iter().fold(text, |t, name| t.with(name, col(name).fill_null(0.0)));
    let x = filled.apply(&scaled)?.matrix(&names)?;
    let shape = x.shape()[1..].to_vec();
    Ok(Labelled::split(Arc::new(Rows { x, y }), shape, classes))
}

/// Each row's class, and how many there are.
fn classes(table: &Table, label: &str) -> Result<(Vec<i32>, usize)> {
    let mut known = values(table, label, CLASSES)?;
    // Numbers in their order, not as text.
    if let Ok(mut numbers) = known.iter().map(|v| v.parse::<i64>().map(|n| (n, v.clone()))).collect::<Result<Vec<_>, _>>() {
        numbers.sort_unstable();
        known = numbers.into_iter().map(|(_, v)| v).collect();
    }
    let count = known.len();
    let places = table.with_column(label, col(label).cast(DataType::Utf8).lookup_indices(known, -1).evaluate(table)?)?;
    Ok((places.array(label)?.to_i32()?, count))
}

/// The values of a column as text, in order.
fn values(table: &Table, name: &str, most: usize) -> Result<Vec<String>> {
    let column = col(name).cast(DataType::Utf8).evaluate(table)?;
    let mut found = BTreeSet::new();
    for (row, value) in column.as_string::<i32>().iter().enumerate() {
        found.extend(value.map(str::to_string));
        if found.len() > most {
            let fault =
                Fault::at(row, format!("brings value number {}", most + 1), "make numbers of it, or classes, or leave the column out");
            return Err(table.fail(name, fault));
        }
    }
    Ok(found.into_iter().collect())
}

struct Rows {
    /// `[rows, features]`.
    x: Array,
    y: Vec<i32>,
}

impl Dataset for Rows {
    type Item = (Array, i32);

    fn len(&self) -> usize {
        self.y.len()
    }

    fn get(&self, draw: Draw) -> Result<(Array, i32)> {
        Ok((self.x.at(draw.index)?, self.y[draw.index]))
    }
}
