//! JSON lines, by the crate `arrow-json`.

use super::{Options, Position, Reader, chosen, damaged, typed, wrong};
use crate::source::{Blob, BlobReader, read_line};
use crate::table::Fault;
use crate::{Error, Result};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder;
use arrow::json::reader::{Decoder, infer_json_schema};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The most bytes that the rows of a table may have.
const LARGEST: usize = 256 << 20;

pub(super) fn open(
    blob: Arc<dyn Blob>,
    options: &Options,
    schema: Option<&SchemaRef>,
    at: Position,
) -> Result<(SchemaRef, Box<dyn Reader>)> {
    let name = blob.name().to_string();
    let schema = match schema {
        Some(first) => first.clone(),
        None => {
            let reader = BufReader::new(BlobReader::new(blob.clone()).take(LARGEST as u64));
            let inferred = infer_json_schema(reader, Some(options.infer_rows));
            let (found, _) = inferred.map_err(|e| damaged(&name, format!("the first {} rows", options.infer_rows), e))?;
            // A column that is given need not be among the first rows.
            let mut fields: Vec<_> = found.fields().iter().cloned().collect();
            let given = options.types.iter().filter(|(column, _)| found.index_of(column).is_err());
            fields.extend(given.map(|(column, t)| Arc::new(arrow::datatypes::Field::new(column, t.clone(), true))));
            let whole = typed(&name, &arrow::datatypes::Schema::new(fields), options)?;
            let places = chosen(&name, &whole, options)?;
            Arc::new(whole.project(&places).map_err(|e| damaged(&name, String::new(), e))?)
        }
    };
    let decoder = decoder(&name, &schema, options.batch_size)?;
    let mut reader = BlobReader::new(blob);
    reader.seek(SeekFrom::Start(at.offset)).map_err(|e| Error::io(&name, "", &e))?;
    let (size, lines) = (options.batch_size, (Vec::new(), Vec::new()));
    let file = File { name, schema: schema.clone(), reader: BufReader::new(reader), decoder, size, offset: at.offset, row: at.rows, lines };
    Ok((schema, Box::new(file)))
}

fn decoder(name: &str, schema: &SchemaRef, rows: usize) -> Result<Decoder> {
    // Numbers that are written for a column of text are text.
    let coerce = schema.fields().iter().any(|f| *f.data_type() == DataType::Utf8);
    let builder = ReaderBuilder::new(schema.clone()).with_batch_size(rows).with_coerce_primitive(coerce);
    builder.build_decoder().map_err(|e| damaged(name, String::new(), e))
}

struct File {
    name: String,
    schema: SchemaRef,
    reader: BufReader<BlobReader>,
    decoder: Decoder,
    size: usize,
    /// Where the next line begins, and its row.
    offset: u64,
    row: u64,
    /// The lines of the table at hand and where each ends: for the error of one of them.
    lines: (Vec<u8>, Vec<usize>),
}

impl Reader for File {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let (mut line, mut rows) = (Vec::new(), 0);
        self.lines = (Vec::new(), Vec::new());
        while rows < self.size {
            let place = || format!("row {} (counted from 0)", self.row + rows as u64);
            if !read_line(&mut self.reader, &mut line).map_err(|e| Error::io(&self.name, place(), &e))? {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            line.push(b'\n');
            let read = self.decoder.decode(&line);
            let whole = read.is_ok_and(|n| n == line.len()) && !self.decoder.has_partial_record() && self.decoder.len() == rows + 1;
            if !whole {
                return Err(Error::file(&self.name, place(), "the line is no JSON object", "write one object in each line"));
            }
            rows += 1;
            self.lines.0.extend_from_slice(&line);
            self.lines.1.push(self.lines.0.len());
            if self.lines.0.len() > LARGEST {
                break;
            }
        }
        let batch = self.decoder.flush().map_err(|e| self.find(&e))?;
        self.row += rows as u64;
        self.offset = self.reader.get_ref().position() - self.reader.buffer().len() as u64;
        Ok(batch)
    }

    fn offset(&self) -> u64 {
        self.offset
    }
}

impl File {
    /// The decoder's error with its row, which it does not tell: the lines are read again, each by itself.
    fn find(&self, e: &ArrowError) -> Error {
        let mut begin = 0;
        for (row, end) in (self.row..).zip(&self.lines.1) {
            let line = &self.lines.0[begin..*end];
            begin = *end;
            let Ok(mut one) = decoder(&self.name, &self.schema, 1) else { break };
            if let Err(e) = one.decode(line).and_then(|_| one.flush()) {
                return self.fail(Some(row), &e);
            }
        }
        self.fail(None, e)
    }

    fn fail(&self, row: Option<u64>, e: &ArrowError) -> Error {
        let text = e.to_string();
        let text = text.strip_prefix("Json error: ").unwrap_or(&text);
        // "whilst decoding field 'a': whilst decoding field 'b': expected .."
        let (mut column, mut problem) = (String::new(), text);
        while let Some((name, rest)) = problem.strip_prefix("whilst decoding field '").and_then(|t| t.split_once("': ")) {
            column = if column.is_empty() { name.to_string() } else { format!("{column}.{name}") };
            problem = rest;
        }
        wrong(&self.name, &column, row, Fault::new(problem, "correct it, or give the column's type (`column_type`)"))
    }
}
