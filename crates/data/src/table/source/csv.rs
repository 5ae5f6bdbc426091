//! CSV, by the crate `arrow-csv`.

use super::{Options, Position, Reader, chosen, damaged, typed, wrong};
use crate::source::{Blob, BlobReader};
use crate::table::Fault;
use crate::{Error, Result};
use arrow::array::RecordBatch;
use arrow::csv::ReaderBuilder;
use arrow::csv::reader::{Decoder, Format};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The most bytes that the rows of a table may have: a quote that is never closed would take the whole file.
const LARGEST: u64 = 256 << 20;

pub(super) fn open(
    blob: Arc<dyn Blob>,
    options: &Options,
    schema: Option<&SchemaRef>,
    at: Position,
) -> Result<(SchemaRef, Box<dyn Reader>)> {
    let name = blob.name().to_string();
    let format = Format::default().with_header(options.header).with_delimiter(options.delimiter);
    // The names are those of this file's header, the types those of the first file.
    let infer = |rows: usize| {
        let reader = BufReader::new(BlobReader::new(blob.clone())).take(LARGEST);
        let inferred = format.infer_schema(reader, Some(rows)).map_err(|e| uneven(&name, options.header, &e));
        inferred.map(|(schema, _)| schema)
    };
    let found = infer(if schema.is_some() { 1 } else { options.infer_rows })?;
    let mut whole = typed(&name, &found, options)?;
    if let Some(first) = schema {
        let fields = whole.fields().iter().map(|f| first.field_with_name(f.name()).cloned().unwrap_or_else(|_| f.as_ref().clone()));
        whole = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
    }
    let places = chosen(&name, &whole, options)?;
    let projected = Arc::new(whole.project(&places).map_err(|e| damaged(&name, String::new(), e))?);
    // Behind the header there is none.
    let header = options.header && at.offset == 0;
    let decoder = ReaderBuilder::new(whole.clone())
        .with_format(format.clone().with_header(header))
        .with_batch_size(options.batch_size)
        .with_projection(places)
        .build_decoder();
    let mut reader = BlobReader::new(blob);
    reader.seek(SeekFrom::Start(at.offset)).map_err(|e| Error::io(&name, "", &e))?;
    let reader = BufReader::with_capacity(256 << 10, reader);
    Ok((projected, Box::new(File { name, schema: whole, header, reader, decoder, offset: at.offset, first: at.rows })))
}

/// The error of telling the types of columns, with its row where one has fields more or less: it has the line in its text only.
fn uneven(name: &str, header: bool, e: &ArrowError) -> Error {
    let text = e.to_string();
    let number = |before: &str| digits(&text[text.find(before)? + before.len()..]).map(|(n, _)| n);
    match (number(" at line "), number("Expected "), number("found ")) {
        (Some(line), Some(expected), Some(found)) => {
            let row = line.saturating_sub(1 + u64::from(header));
            fields(name, row, format!("incorrect number of fields, expected {expected} got {found}"))
        }
        _ => damaged(name, String::new(), text),
    }
}

fn fields(name: &str, row: u64, problem: String) -> Error {
    Error::file(name, format!("row {row} (counted from 0)"), problem, "write the same fields in every row, and text in UTF-8")
}

struct File {
    name: String,
    /// Of all columns.
    schema: SchemaRef,
    header: bool,
    reader: BufReader<BlobReader>,
    decoder: Decoder,
    /// Where the next row begins.
    offset: u64,
    /// The number of the row that the decoder began with.
    first: u64,
}

impl Reader for File {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let begin = self.offset;
        loop {
            let bytes = self.reader.fill_buf().map_err(|e| Error::io(&self.name, "", &e))?;
            let (read, ended) = (self.decoder.decode(bytes), bytes.is_empty());
            let read = read.map_err(|e| self.fail(&e))?;
            self.reader.consume(read);
            self.offset += read as u64;
            if ended || self.decoder.capacity() == 0 {
                break;
            }
            if self.offset - begin > LARGEST {
                let problem = format!("the rows of a table have more than {LARGEST} bytes");
                let remedy = "close the quotes, or ask for fewer rows with `batch_size`";
                return Err(Error::file(&self.name, format!("byte {begin}"), problem, remedy));
            }
        }
        self.decoder.flush().map_err(|e| self.fail(&e))
    }

    fn offset(&self) -> u64 {
        self.offset
    }
}

impl File {
    /// The decoder's error with its column and row: it has them in its text only.
    fn fail(&self, e: &ArrowError) -> Error {
        let text = e.to_string();
        let header = u64::from(self.header);
        if let Some((problem, column, line)) = matches!(e, ArrowError::ParseError(_)).then(|| value(&text)).flatten() {
            let name = self.schema.fields().get(column).map_or(column.to_string(), |f| f.name().clone());
            let problem = problem.replacen("Parser error: Error while parsing value", "the value", 1);
            let remedy = "correct it, or give the column's type (`column_type`)";
            return wrong(&self.name, &name, Some(self.first + line.saturating_sub(header)), Fault::new(problem, remedy));
        }
        let number = |before: &str| digits(&text[text.rfind(before)? + before.len()..]).map(|(n, _)| n);
        match number(" for line ") {
            // Lines are counted from 1 here, and the header is one of them.
            Some(line) => {
                let row = self.first + line.saturating_sub(1 + header);
                let problem = text.replacen("Csv error: ", "", 1).replacen(&format!(" for line {line}"), "", 1);
                fields(&self.name, row, problem)
            }
            None => damaged(&self.name, String::new(), text),
        }
    }
}

/// The number that a text begins with, and what is behind it.
fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// What is wrong with a value, its column and its line: `.. value 'x' as type 'Int64' for column 2 at line 17. Row data: ..`.
fn value(text: &str) -> Option<(&str, usize, u64)> {
    text.match_indices(" for column ").find_map(|(at, before)| {
        let (column, rest) = digits(&text[at + before.len()..])?;
        let (line, rest) = digits(rest.strip_prefix(" at line ")?)?;
        rest.starts_with(". Row data: '").then_some((&text[..at], column as usize, line))
    })
}
