//! Parquet, by the crate `parquet`.

use super::{Options, Position, Reader, chosen, damaged};
use crate::Result;
use crate::source::{Blob, BlobReader};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

/// How much is read for a page's header, which has some ten bytes, or hundreds where it holds statistics of long values.
const HEADER: usize = 4096;

/// A file as the crate reads it.
struct Chunks(Arc<dyn Blob>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

fn external(e: crate::Error) -> ParquetError {
    ParquetError::External(Box::new(e))
}

impl ChunkReader for Chunks {
    type T = BlobReader;

    fn get_read(&self, start: u64) -> parquet::errors::Result<BlobReader> {
        let mut reader = BlobReader::with_block(self.0.clone(), HEADER);
        reader.seek(SeekFrom::Start(start))?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        // Before memory is taken: what a damaged file says it holds may be anything.
        let end = start.checked_add(length as u64).filter(|end| *end <= self.0.len());
        let end = end.ok_or_else(|| ParquetError::EOF(format!("{length} bytes from byte {start} on are beyond the end")))?;
        let mut bytes = vec![0; length];
        match self.0.read_at(start, &mut bytes).map_err(external)? {
            n if n == length => Ok(bytes.into()),
            n => Err(ParquetError::EOF(format!("the file ends at byte {}, not {end}", start + n as u64))),
        }
    }
}

pub(super) fn open(
    blob: Arc<dyn Blob>,
    options: &Options,
    _schema: Option<&SchemaRef>,
    at: Position,
) -> Result<(SchemaRef, Box<dyn Reader>)> {
    let name = blob.name().to_string();
    let fail = |e: ParquetError| failed(&name, String::new(), e);
    let builder = ParquetRecordBatchReaderBuilder::try_new(Chunks(blob)).map_err(fail)?;
    let places = chosen(&name, builder.schema(), options)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), places.iter().copied());
    // The reader gives columns in the order of the file.
    let mut in_file = places.clone();
    in_file.sort_unstable();
    in_file.dedup();
    let order: Vec<usize> = places.iter().filter_map(|place| in_file.binary_search(place).ok()).collect();
    let schema = builder.schema().project(&places).map_err(|e| damaged(&name, String::new(), e))?;
    // Whole groups of rows that were given are not read again.
    let (mut skipped, mut groups) = (0, Vec::new());
    for (i, group) in builder.metadata().row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        if groups.is_empty() && skipped + rows <= at.rows {
            skipped += rows;
        } else {
            groups.push(i);
        }
    }
    let left = usize::try_from(at.rows - skipped).unwrap_or(usize::MAX);
    let reader = builder.with_batch_size(options.batch_size).with_projection(mask).with_row_groups(groups).with_offset(left);
    let reader = reader.build().map_err(fail)?;
    Ok((Arc::new(schema), Box::new(File { name, reader, order, rows: at.rows })))
}

struct File {
    name: String,
    reader: ParquetRecordBatchReader,
    order: Vec<usize>,
    rows: u64,
}

impl Reader for File {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.and_then(|batch| batch.project(&self.order));
        let batch = batch.map_err(|e| damaged(&self.name, format!("rows from {} on", self.rows), e))?;
        self.rows += batch.num_rows() as u64;
        Ok(Some(batch))
    }

    /// Groups of rows are found by the number of rows.
    fn offset(&self) -> u64 {
        0
    }
}

fn failed(name: &str, place: String, e: ParquetError) -> crate::Error {
    match e {
        ParquetError::External(e) => match e.downcast::<crate::Error>() {
            Ok(e) => *e,
            Err(e) => damaged(name, place, e),
        },
        e => damaged(name, place, format!("is no whole Parquet file: {e}")),
    }
}
