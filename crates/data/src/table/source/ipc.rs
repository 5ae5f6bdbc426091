//! Arrow IPC, by the crate `arrow-ipc`: files, whose footer says where each batch lies, and streams, which are read from their beginning.

use super::{Options, Position, Reader, chosen, damaged};
use crate::source::{Blob, BlobReader};
use crate::{Error, Result};
use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::convert::try_fb_to_schema;
use arrow::ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow::ipc::{Block, root_as_footer};
use std::io::Read;
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";
/// A footer's length and the magic behind it.
const TRAILER: u64 = 10;
/// How much of a stream is read at once.
const PIECE: usize = 256 << 10;
/// Where a position's number of a row begins; below it is that of its batch. Batches have fewer than 2^31 rows.
const ROW: u32 = 32;

pub(super) fn open(blob: Arc<dyn Blob>, options: &Options, _: Option<&SchemaRef>, at: Position) -> Result<(SchemaRef, Box<dyn Reader>)> {
    let mut begin = [0; MAGIC.len()];
    let n = blob.read_at(0, &mut begin)?;
    let name = blob.name().to_string();
    let (batch, given) = (at.offset & ((1 << ROW) - 1), (at.offset >> ROW) as usize);
    let batches: Box<dyn Batches> = match &begin[..n] == MAGIC {
        true => Box::new(File::open(blob, batch as usize)?),
        false => Box::new(Stream::open(blob, batch)?),
    };
    let schema = batches.schema();
    let places = chosen(&name, &schema, options)?;
    let projected = Arc::new(schema.project(&places).map_err(|e| damaged(&name, String::new(), e))?);
    Ok((projected, Box::new(Sliced { name, batches, places, size: options.batch_size, pending: None, given, batch })))
}

trait Batches: Send {
    fn schema(&self) -> SchemaRef;

    fn next(&mut self) -> Result<Option<RecordBatch>>;
}

/// Batches in pieces of no more rows than were asked for.
struct Sliced {
    name: String,
    batches: Box<dyn Batches>,
    places: Vec<usize>,
    size: usize,
    pending: Option<RecordBatch>,
    /// Rows that were given of the batch that comes next, and its number.
    given: usize,
    batch: u64,
}

impl Reader for Sliced {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let batch = match self.pending.take() {
                Some(batch) => batch,
                None => match self.batches.next()? {
                    Some(batch) => batch.project(&self.places).map_err(|e| damaged(&self.name, String::new(), e))?,
                    None => return Ok(None),
                },
            };
            let (from, rows) = (self.given.min(batch.num_rows()), batch.num_rows());
            let to = rows.min(from.saturating_add(self.size));
            let piece = batch.slice(from, to - from);
            if to == rows {
                (self.given, self.batch) = (0, self.batch + 1);
            } else {
                (self.given, self.pending) = (to, Some(batch));
            }
            if from < to {
                return Ok(Some(piece));
            }
        }
    }

    fn offset(&self) -> u64 {
        self.batch | (self.given as u64) << ROW
    }
}

struct File {
    blob: Arc<dyn Blob>,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    at: usize,
}

fn broken(blob: &dyn Blob, place: String, e: impl std::fmt::Display) -> Error {
    damaged(blob.name(), place, format!("is no whole Arrow file: {e}"))
}

/// Bytes of a file, if it has them: checked before memory is taken.
fn bytes(blob: &dyn Blob, offset: u64, length: u64) -> Result<Buffer> {
    let short = || damaged(blob.name(), format!("byte {offset}"), "the file is cut short");
    if offset.checked_add(length).is_none_or(|end| end > blob.len()) {
        return Err(short());
    }
    let mut bytes = vec![0; length as usize];
    if blob.read_at(offset, &mut bytes)? != bytes.len() {
        return Err(short());
    }
    Ok(Buffer::from_vec(bytes))
}

fn block(blob: &dyn Blob, block: &Block) -> Result<Buffer> {
    let (offset, head, body) = (block.offset(), i64::from(block.metaDataLength()), block.bodyLength());
    match (u64::try_from(offset), head.checked_add(body).and_then(|n| u64::try_from(n).ok())) {
        (Ok(offset), Some(length)) if head >= 0 && body >= 0 => bytes(blob, offset, length),
        _ => Err(broken(blob, String::new(), "a block of a negative size")),
    }
}

impl File {
    fn open(blob: Arc<dyn Blob>, at: usize) -> Result<File> {
        let fail = |e: &dyn std::fmt::Display| broken(&*blob, String::new(), e);
        let end = blob.len().checked_sub(TRAILER).ok_or_else(|| fail(&"it has no footer"))?;
        let trailer: [u8; TRAILER as usize] = bytes(&*blob, end, TRAILER)?.as_slice().try_into().map_err(|_| fail(&"it has no footer"))?;
        let length = read_footer_length(trailer).map_err(|e| fail(&e))? as u64;
        let begin = end.checked_sub(length).ok_or_else(|| fail(&"its footer is larger than the file"))?;
        let footer = bytes(&*blob, begin, length)?;
        let footer = root_as_footer(&footer).map_err(|e| fail(&format!("its footer cannot be read: {e}")))?;
        let schema = footer.schema().ok_or_else(|| fail(&"its footer has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(fail(&"its numbers have the bytes of another kind of machine"));
        }
        let schema = Arc::new(try_fb_to_schema(schema).map_err(|e| fail(&e))?);
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for dictionary in footer.dictionaries().iter().flatten() {
            decoder.read_dictionary(dictionary, &block(&*blob, dictionary)?).map_err(|e| fail(&e))?;
        }
        let blocks = footer.recordBatches().iter().flatten().copied().collect();
        Ok(File { blob, schema, decoder, blocks, at })
    }
}

impl Batches for File {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(at) = self.blocks.get(self.at) {
            let place = || format!("batch {}", self.at);
            let read = self.decoder.read_record_batch(at, &block(&*self.blob, at)?);
            let batch = read.map_err(|e| broken(&*self.blob, place(), e))?;
            self.at += 1;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }
}

struct Stream {
    blob: Arc<dyn Blob>,
    reader: BlobReader,
    decoder: StreamDecoder,
    buffer: Buffer,
    schema: Option<SchemaRef>,
    /// A batch that was read to learn the schema.
    first: Option<RecordBatch>,
}

impl Stream {
    /// At a batch: the dictionaries of those before it are needed, so they are read.
    fn open(blob: Arc<dyn Blob>, batch: u64) -> Result<Stream> {
        let (reader, buffer) = (BlobReader::new(blob.clone()), Buffer::from_vec(Vec::<u8>::new()));
        let mut stream = Stream { blob, reader, decoder: StreamDecoder::new(), buffer, schema: None, first: None };
        stream.first = stream.read()?;
        stream.schema = stream.decoder.schema();
        if stream.schema.is_none() {
            return Err(broken(&*stream.blob, String::new(), "it has no schema"));
        }
        for _ in 0..batch {
            stream.next()?;
        }
        Ok(stream)
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.buffer.is_empty() {
                let mut bytes = Vec::with_capacity(PIECE);
                let read = self.reader.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
                read.map_err(|e| Error::io(self.blob.name(), "", &e))?;
                if bytes.is_empty() {
                    let ended: Result<(), ArrowError> = self.decoder.finish();
                    return ended.map(|()| None).map_err(|e| broken(&*self.blob, "the end".into(), e));
                }
                self.buffer = Buffer::from_vec(bytes);
            }
            let batch = self.decoder.decode(&mut self.buffer);
            if let Some(batch) = batch.map_err(|e| broken(&*self.blob, format!("before byte {}", self.reader.position()), e))? {
                return Ok(Some(batch));
            }
        }
    }
}

impl Batches for Stream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone().unwrap_or_else(|| Arc::new(arrow::datatypes::Schema::empty()))
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.read(),
        }
    }
}
