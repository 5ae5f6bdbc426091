//! Tar archives of samples in WebDataset's layout: files of one sample lie next to each other and have one name up to the first dot of the
//! last part; what is behind it says what they are (`000012.png`, `000012.cls`).

use super::bare;
use super::blob::{BlobReader, open};
use crate::loader::WorkerInfo;
use crate::pipe::{Pipe, State, part, skip};
use crate::{Error, Random, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};

/// A tar archive's unit.
const BLOCK: usize = 512;
/// The largest file in a shard.
const LARGEST: u64 = 1 << 30;

/// The most that is read behind an archive's end: tar itself fills up 10 KiB.
const PADDING: u64 = 1 << 20;

/// The files of one sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The common part of the files' names.
    pub key: String,
    /// The archive that it is in.
    pub shard: String,
    /// The files by the other part of their names: `png`, `cls`, `left.jpg`.
    pub files: BTreeMap<String, Bytes>,
}

/// Bytes that are kept in a saved position as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        BASE64.decode(String::deserialize(deserializer)?).map(Bytes).map_err(de::Error::custom)
    }
}

impl Sample {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// When the sample has none of this name.
    pub fn file(&self, name: &str) -> Result<&[u8]> {
        self.files.get(name).map(|b| b.0.as_slice()).ok_or_else(|| {
            let has = self.files.keys().cloned().collect::<Vec<_>>().join(", ");
            Error::file(&self.shard, &self.key, format!("has no `{name}`, only {has}"), "name a file that every sample has")
        })
    }

    /// A file that holds a whole number, as classes are written (`cls`).
    ///
    /// # Errors
    ///
    /// When it holds anything else.
    pub fn integer(&self, name: &str) -> Result<i64> {
        let text = String::from_utf8_lossy(self.file(name)?);
        text.trim().parse().map_err(|_| {
            let shown: String = text.chars().take(20).collect();
            Error::file(
                &self.shard,
                format!("{}.{name}", self.key),
                format!("holds {shown:?}, not a whole number"),
                "write a class as digits",
            )
        })
    }

    /// A file that is an image; see [`image`](super::image).
    ///
    /// # Errors
    ///
    /// When it is none.
    #[cfg(feature = "images")]
    pub fn image(&self, name: &str) -> Result<crate::Array> {
        super::image(&format!("{}, {}.{name}", self.shard, self.key), self.file(name)?)
    }
}

/// The shards of one worker of one rank, in the order of an epoch: a random one where there is a seed.
///
/// # Errors
///
/// When there are fewer shards than workers of all ranks: some would have nothing to read.
pub fn shards_for(shards: &[String], worker: &WorkerInfo, order: Option<(u64, u64)>) -> Result<Vec<String>> {
    let (index, count) = worker.shard();
    if shards.len() < count {
        let problem = format!("there are {} for {count} workers of all ranks", shards.len());
        return Err(Error::option("shards", problem, "use fewer workers, or divide the samples (`Pipe::shard_for`)"));
    }
    let mut shards = shards.to_vec();
    if let Some((seed, epoch)) = order {
        Random::of(&[seed, epoch]).shuffle(&mut shards);
    }
    Ok(shards.into_iter().skip(index).step_by(count).collect())
}

/// The samples of tar archives (`.tar`, or packed: `.tar.gz`, `.tgz`), one archive after the other. An archive that is damaged is left at
/// its error; the next one follows.
pub fn tar_samples(shards: Vec<String>) -> TarSamples {
    TarSamples { shards, at: 0, samples: 0, open: None }
}

/// See [`tar_samples`].
pub struct TarSamples {
    shards: Vec<String>,
    /// The shard at hand, and how many samples of it were given.
    at: usize,
    samples: u64,
    open: Option<Shard>,
}

/// An archive at hand.
struct Shard {
    name: String,
    source: Source,
    /// The first file of the next sample, and the place where it begins.
    pending: Option<(Entry, u64)>,
    ended: bool,
}

enum Source {
    Plain(BlobReader),
    Packed(Box<flate2::read::MultiGzDecoder<BlobReader>>),
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Plain(r) => r.read(bytes),
            Source::Packed(r) => r.read(bytes),
        }
    }
}

impl Source {
    /// Behind the archive's end stands the checksum of what is packed, after some padding.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Source::Plain(_) => Ok(()),
            Source::Packed(r) => io::copy(&mut r.take(PADDING), &mut io::sink()).map(drop),
        }
    }

    /// Only known of a file that is not packed.
    fn position(&self) -> u64 {
        match self {
            Source::Plain(r) => r.position(),
            Source::Packed(_) => 0,
        }
    }
}

struct Entry {
    key: String,
    extension: String,
    bytes: Vec<u8>,
}

impl Shard {
    fn open(name: &str) -> Result<Shard> {
        let reader = BlobReader::new(open(name)?);
        let packed = [".gz", ".tgz"].iter().any(|e| bare(name).ends_with(e));
        let source = match packed {
            true => Source::Packed(Box::new(flate2::read::MultiGzDecoder::new(reader))),
            false => Source::Plain(reader),
        };
        Ok(Shard { name: name.to_string(), source, pending: None, ended: false })
    }

    fn fail(&self, place: &str, e: &io::Error) -> Error {
        match e.kind() {
            ErrorKind::UnexpectedEof => self.short(place),
            // The crate's own words for the same, of entries that hold long names.
            _ if ["unexpected EOF", "failed to read entire block", "no future member found"].iter().any(|t| e.to_string().contains(t)) => {
                self.short(place)
            }
            _ => Error::io(&self.name, place, e),
        }
    }

    fn short(&self, place: &str) -> Error {
        Error::file(&self.name, place, "the archive is cut short", "fetch the file anew")
    }

    /// The next file of the archive; `None` at its end.
    fn entry(&mut self) -> Result<Option<(Entry, u64)>> {
        loop {
            let begin = self.source.position();
            let mut head = [0; BLOCK];
            let n = fill(&mut self.source, &mut head).map_err(|e| self.fail("", &e))?;
            if n < BLOCK {
                // Not even the two empty blocks that end every archive.
                return Err(self.short(""));
            }
            if head == [0; BLOCK] {
                self.source.finish().map_err(|e| self.fail("", &e))?;
                return Ok(None);
            }
            let read = self.read(head)?;
            if let Some(entry) = read {
                return Ok(Some((entry, begin)));
            }
        }
    }

    /// The file whose header begins with this block; `None` of what is no file of a sample.
    fn read(&mut self, head: [u8; BLOCK]) -> Result<Option<Entry>> {
        let mut archive = tar::Archive::new(Cursor::new(head).chain(&mut self.source));
        let first = archive.entries().and_then(|mut entries| entries.next().transpose());
        let (mut bytes, mut path, mut size, mut is_file) = (Vec::new(), String::new(), 0, false);
        let read = match first {
            Ok(Some(mut entry)) => {
                (size, is_file) = (entry.size(), entry.header().entry_type().is_file());
                path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                if size > LARGEST {
                    let problem = format!("has {size} bytes; the largest file of a sample may have {LARGEST}");
                    return Err(Error::file(&self.name, path, problem, "keep large files outside of archives"));
                }
                entry.read_to_end(&mut bytes).map(|_| ())
            }
            Ok(None) => Err(ErrorKind::UnexpectedEof.into()),
            Err(e) => Err(e),
        };
        read.map_err(|e| self.fail(&path, &e))?;
        let padding = (BLOCK - bytes.len() % BLOCK) % BLOCK;
        let filled = fill(&mut self.source, &mut [0; BLOCK][..padding]).map_err(|e| self.fail(&path, &e))?;
        if bytes.len() as u64 != size || filled != padding {
            return Err(self.short(&path));
        }
        // WebDataset's own rule: the name is split at the first dot of its last part; hidden files and those without a dot are none.
        let name = path.rfind('/').map_or(0, |i| i + 1);
        let dot = path[name..].find('.').filter(|i| *i > 0);
        Ok(dot.filter(|_| is_file).map(|dot| {
            let (key, extension) = (path[..name + dot].to_string(), path[name + dot + 1..].to_lowercase());
            Entry { key, extension, bytes }
        }))
    }

    /// The next sample; `None` at the end.
    fn sample(&mut self) -> Result<Option<Sample>> {
        let mut sample: Option<Sample> = None;
        while !self.ended {
            let next = match self.pending.take() {
                Some(next) => Some(next),
                None => self.entry()?,
            };
            let Some((entry, begin)) = next else {
                self.ended = true;
                break;
            };
            match &mut sample {
                Some(s) if s.key != entry.key => {
                    self.pending = Some((entry, begin));
                    break;
                }
                Some(s) => drop(s.files.insert(entry.extension, Bytes(entry.bytes))),
                None => {
                    let files = BTreeMap::from([(entry.extension, Bytes(entry.bytes))]);
                    sample = Some(Sample { key: entry.key, shard: self.name.clone(), files });
                }
            }
        }
        Ok(sample)
    }

    /// Where the next sample begins; `None` in a packed archive.
    fn position(&self) -> Option<u64> {
        match (&self.source, &self.pending) {
            (Source::Packed(_), _) => None,
            (Source::Plain(_), Some((_, begin))) => Some(*begin),
            // At the end, in front of the mark: it is found again.
            (Source::Plain(r), None) => Some(r.position() - if self.ended { BLOCK as u64 } else { 0 }),
        }
    }
}

/// Reads until a buffer is full or the source ends.
fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match source.read(&mut bytes[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

impl Pipe for TarSamples {
    type Item = Sample;

    fn next(&mut self) -> Option<Result<Sample>> {
        loop {
            let name = self.shards.get(self.at)?;
            let read = match &mut self.open {
                Some(shard) => shard.sample(),
                None => Shard::open(name).and_then(|shard| self.open.insert(shard).sample()),
            };
            match read {
                Ok(Some(sample)) => {
                    self.samples += 1;
                    return Some(Ok(sample));
                }
                other => {
                    (self.at, self.samples, self.open) = (self.at + 1, 0, None);
                    if let Err(e) = other {
                        return Some(Err(e));
                    }
                }
            }
        }
    }

    fn state(&self) -> Result<State> {
        let offset = self.open.as_ref().and_then(Shard::position);
        Ok(json!({ "shard": self.at, "name": self.shards.get(self.at), "samples": self.samples, "offset": offset }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let (at, samples): (usize, u64) = (part(state, "shard")?, part(state, "samples")?);
        let (name, offset): (Option<String>, Option<u64>) = (part(state, "name")?, part(state, "offset")?);
        if self.shards.get(at) != name.as_ref() || at > self.shards.len() {
            let (there, here) = (name.unwrap_or("the end".into()), self.shards.get(at).map_or("the end", String::as_str));
            let problem = format!("is in {there}, which is shard {at}; here that is {here}");
            return Err(Error::state(problem, "give the same shards in the same order"));
        }
        (self.at, self.samples, self.open) = (at, 0, None);
        if samples == 0 {
            return Ok(());
        }
        match (offset, &name) {
            (Some(offset), Some(name)) => {
                let mut shard = Shard::open(name)?;
                if let Source::Plain(reader) = &mut shard.source {
                    reader.seek(SeekFrom::Start(offset)).map_err(|e| Error::io(name, "", &e))?;
                }
                (self.open, self.samples) = (Some(shard), samples);
            }
            // A packed archive is read up to there.
            _ => skip(self, samples)?,
        }
        Ok(())
    }
}
