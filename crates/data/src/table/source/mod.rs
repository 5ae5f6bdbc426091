//! Files of tables as pipes: one batch of rows in memory at a time, from whatever place a file was left at.

mod csv;
mod ipc;
mod json;
mod parquet;

use super::origin::Origin;
use super::{Fault, Table, describe};
use crate::loader::caught;
use crate::pipe::{Pipe, State, part};
use crate::source::{Blob, open};
use crate::{Error, Result};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where reading begins in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Position {
    /// Rows that were given.
    rows: u64,
    /// What the format finds the next one by: a byte, or the number of a batch.
    offset: u64,
}

/// How files are read.
#[derive(Clone, Debug)]
struct Options {
    columns: Option<Vec<String>>,
    batch_size: usize,
    types: BTreeMap<String, DataType>,
    header: bool,
    delimiter: u8,
    infer_rows: usize,
}

/// A file at hand.
trait Reader: Send {
    /// The next rows; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>>;

    /// What finds the row behind those given; see [`Position::offset`].
    fn offset(&self) -> u64;
}

/// Opens a file of a format at a position. `schema` is that of the files before it: text is read by it, and others have to have it.
type Open = fn(Arc<dyn Blob>, &Options, Option<&SchemaRef>, Position) -> Result<(SchemaRef, Box<dyn Reader>)>;

/// The rows of Parquet files, one file after the other. Pages are read as their rows are asked for, and those of columns that are not
/// [chosen](Tables::columns) never; their checksums are verified where the file has them.
pub fn parquet(files: Vec<String>) -> Tables {
    Tables::new(files, parquet::open)
}

/// The rows of Arrow IPC files (also called Feather), or of streams of them, packed by LZ4, Zstandard or not at all.
pub fn arrow_ipc(files: Vec<String>) -> Tables {
    Tables::new(files, ipc::open)
}

/// The rows of CSV files. Types are those that the first rows of the first file suggest, unless they are [given](Tables::column_type); empty
/// fields are null.
pub fn csv(files: Vec<String>) -> Tables {
    Tables::new(files, csv::open)
}

/// The rows of files with a JSON object in each line. Types are those that the first rows of the first file suggest, unless they are
/// [given](Tables::column_type); what an object lacks is null.
pub fn json_lines(files: Vec<String>) -> Tables {
    Tables::new(files, json::open)
}

/// A pipe of [`Table`]s from files; see [`parquet`], [`arrow_ipc`], [`csv`] and [`json_lines`]. A file that is damaged is left at its error;
/// the next one follows.
pub struct Tables {
    files: Vec<String>,
    format: Open,
    options: Options,
    /// Of the first file that was opened.
    schema: Option<SchemaRef>,
    /// The file at hand.
    at: usize,
    position: Position,
    open: Option<Box<dyn Reader>>,
    /// Whether it goes on from a saved position.
    restored: bool,
}

impl Tables {
    fn new(files: Vec<String>, format: Open) -> Tables {
        let options = Options { columns: None, batch_size: 8192, types: BTreeMap::new(), header: true, delimiter: b',', infer_rows: 1000 };
        Tables { files, format, options, schema: None, at: 0, position: Position::default(), open: None, restored: false }
    }

    /// Only these columns, in this order.
    pub fn columns(mut self, names: &[impl AsRef<str>]) -> Tables {
        self.options.columns = Some(names.iter().map(|n| n.as_ref().to_string()).collect());
        self
    }

    /// The most rows of a table; 8192 unless it is said.
    pub fn batch_size(mut self, rows: usize) -> Tables {
        self.options.batch_size = rows.max(1);
        self
    }

    /// The type of a column of CSV or JSON, in place of what the first rows suggest.
    pub fn column_type(mut self, name: &str, data_type: DataType) -> Tables {
        self.options.types.insert(name.to_string(), data_type);
        self
    }

    /// From how many rows of CSV or JSON the columns' types are told; 1000 unless it is said.
    pub fn infer_rows(mut self, rows: usize) -> Tables {
        self.options.infer_rows = rows.max(1);
        self
    }

    /// Whether the first line of CSV has the columns' names, as it does unless this says otherwise: then they are `column_1` and so on.
    pub fn header(mut self, header: bool) -> Tables {
        self.options.header = header;
        self
    }

    /// What is between the fields of CSV; a comma unless it is said.
    pub fn delimiter(mut self, delimiter: u8) -> Tables {
        self.options.delimiter = delimiter;
        self
    }

    /// The columns that tables will have: those of the first file that can be read.
    ///
    /// # Errors
    ///
    /// When no file can be read: what is wrong with the first one.
    pub fn schema(&mut self) -> Result<SchemaRef> {
        if let Some(schema) = &self.schema {
            return Ok(schema.clone());
        }
        let mut problem = Error::option("files", "there is none", "name at least one");
        for (i, name) in self.files.iter().enumerate() {
            match self.open_file(name, Position::default()) {
                Ok((schema, _)) => {
                    self.schema = Some(schema.clone());
                    return Ok(schema);
                }
                Err(e) if i == 0 => problem = e,
                Err(_) => {}
            }
        }
        Err(problem)
    }

    /// Errors also when a file has other columns than the first one.
    fn open_file(&self, name: &str, position: Position) -> Result<(SchemaRef, Box<dyn Reader>)> {
        let blob = open(name)?;
        let opened = guarded(name, || (self.format)(blob, &self.options, self.schema.as_ref(), position))?;
        if let Some(first) = &self.schema {
            agree(name, first, &opened.0)?;
        }
        Ok(opened)
    }

    fn read(&mut self, name: &str) -> Result<Option<Table>> {
        if self.open.is_none() {
            // Where reading goes on from a saved position, a file before says how it is read. Whether one can be read shows again below.
            if std::mem::take(&mut self.restored) {
                self.schema().ok();
            }
            let (schema, reader) = self.open_file(name, self.position)?;
            self.schema.get_or_insert(schema);
            self.open = Some(reader);
        }
        let Some(reader) = &mut self.open else { return Ok(None) };
        let Some(batch) = guarded(name, || reader.next())? else { return Ok(None) };
        let (first, rows) = (self.position.rows, batch.num_rows());
        self.position = Position { rows: first + rows as u64, offset: reader.offset() };
        Ok(Some(Table { batch, origin: Origin::new(name, first, rows) }))
    }
}

impl Pipe for Tables {
    type Item = Table;

    fn next(&mut self) -> Option<Result<Table>> {
        loop {
            let name = self.files.get(self.at)?.clone();
            match self.read(&name) {
                Ok(Some(table)) if table.rows() == 0 => {}
                Ok(Some(table)) => return Some(Ok(table)),
                other => {
                    (self.at, self.position, self.open) = (self.at + 1, Position::default(), None);
                    if let Err(e) = other {
                        return Some(Err(e));
                    }
                }
            }
        }
    }

    fn state(&self) -> Result<State> {
        let Position { rows, offset } = self.position;
        Ok(json!({ "file": self.at, "name": self.files.get(self.at), "rows": rows, "offset": offset }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let (at, name): (usize, Option<String>) = (part(state, "file")?, part(state, "name")?);
        if self.files.get(at) != name.as_ref() || at > self.files.len() {
            let (there, here) = (name.unwrap_or("the end".into()), self.files.get(at).map_or("the end", String::as_str));
            let problem = format!("is in {there}, which is file {at}; here that is {here}");
            return Err(Error::state(problem, "give the same files in the same order"));
        }
        self.position = Position { rows: part(state, "rows")?, offset: part(state, "offset")? };
        (self.at, self.open, self.restored) = (at, None, true);
        Ok(())
    }
}

/// A reader that panics over what a file holds is an error of the file.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(|| Ok(read()), || name.to_string())?
}

/// Errors when a later file has not the columns of the first one.
fn agree(name: &str, first: &SchemaRef, here: &SchemaRef) -> Result<()> {
    for field in first.fields() {
        let column = field.name();
        let Ok(other) = here.field_with_name(column) else { return Err(no_column(name, column, here)) };
        if other.data_type() != field.data_type() {
            let problem = format!("is {} here and {} in the first file", other.data_type(), field.data_type());
            return Err(Error::column(column, None, problem, "write all files with the same types").of_item(name));
        }
    }
    Ok(())
}

fn no_column(file: &str, column: &str, schema: &Schema) -> Error {
    let problem = format!("there is none; there are {}", describe(schema));
    Error::column(column, None, problem, "name one of them").of_item(file)
}

/// The places of the chosen columns in a file, in the order in which they were chosen.
fn chosen(file: &str, schema: &Schema, options: &Options) -> Result<Vec<usize>> {
    let Some(names) = &options.columns else { return Ok((0..schema.fields().len()).collect()) };
    names.iter().map(|name| schema.index_of(name).map_err(|_| no_column(file, name, schema))).collect()
}

/// A file's columns with the types that were given for some. Nothing is said of nulls before they are met.
fn typed(file: &str, schema: &Schema, options: &Options) -> Result<SchemaRef> {
    if let Some(name) = options.types.keys().find(|name| schema.index_of(name).is_err()) {
        return Err(no_column(file, name, schema));
    }
    let field = |f: &Arc<Field>| {
        let given = options.types.get(f.name()).cloned();
        // A column without any value among the first rows.
        let found = if f.data_type().is_null() { DataType::Utf8 } else { f.data_type().clone() };
        Field::new(f.name(), given.unwrap_or(found), true)
    };
    Ok(Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())))
}

/// An error of a file that is not what it should be.
fn damaged(file: &str, place: String, problem: impl std::fmt::Display) -> Error {
    Error::file(file, place, problem.to_string(), "fetch the file anew")
}

/// An error of a row that text holds, which was counted from 0 in the file.
fn wrong(file: &str, column: &str, row: Option<u64>, fault: Fault) -> Error {
    Error::column(column, row, fault.problem, fault.remedy).of_item(file)
}
