//! TensorBoard event files: scalars over steps.
//!
//! A file is a sequence of TFRecords (length, masked CRC-32C of the length, payload, masked CRC-32C of the payload; see
//! <https://www.tensorflow.org/tutorials/load_data/tfrecord>), each payload an `Event` of TensorFlow's `event.proto`, of which the
//! fields used here are declared below.

use aludel::{Error, Result};
use prost::Message;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    /// The first event of a file.
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, tag = "2")]
    simple_value: f32,
}

/// An event file that TensorBoard can read while it grows.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl EventFile {
    /// A new file in a directory, which is made where there is none. TensorBoard shows each directory as a run.
    pub fn create(directory: &Path) -> Result<EventFile> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let seconds = now() as u64;
        let name = format!("events.out.tfevents.{seconds}.aludel.{}.{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(name);
        let fail = |e: std::io::Error| failed(&path, &e);
        fs::create_dir_all(directory).map_err(fail)?;
        let file = BufWriter::new(File::create_new(&path).map_err(fail)?);
        let mut events = EventFile { path, file };
        events.write(&Event { wall_time: now(), step: 0, what: Some(What::FileVersion("brain.Event:2".into())) })?;
        events.flush()?;
        Ok(events)
    }

    /// Adds the values of some scalars, by tag, at a step.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f64)]) -> Result<()> {
        let value = values.iter().map(|(tag, v)| Scalar { tag: tag.to_string(), simple_value: *v as f32 }).collect();
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        self.write(&Event { wall_time: now(), step, what: Some(What::Summary(Summary { value })) })
    }

    /// Hands what was added to the operating system, for TensorBoard to see.
    pub fn flush(&mut self) -> Result<()> {
        self.file.flush().map_err(|e| failed(&self.path, &e))
    }

    fn write(&mut self, event: &Event) -> Result<()> {
        let record = record(&event.encode_to_vec());
        self.file.write_all(&record).map_err(|e| failed(&self.path, &e))
    }
}

fn failed(path: &Path, e: &std::io::Error) -> Error {
    Error::invalid(format!("--logdir: {}", path.display()), e.to_string(), "choose a directory that you may write to")
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

fn record(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), payload, &masked(payload)].concat()
}

/// TFRecord stores checksums rotated and offset, since data that holds its own plain CRC checks badly.
fn masked(bytes: &[u8]) -> [u8; 4] {
    let crc = crc32c::crc32c(bytes);
    crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a file, with every checksum checked.
    fn read(bytes: &[u8]) -> Vec<Event> {
        let (mut at, mut out) = (0, Vec::new());
        while at < bytes.len() {
            let length = &bytes[at..at + 8];
            assert_eq!(masked(length), bytes[at + 8..at + 12]);
            let n = u64::from_le_bytes(length.try_into().unwrap()) as usize;
            let payload = &bytes[at + 12..at + 12 + n];
            assert_eq!(masked(payload), bytes[at + 12 + n..at + 16 + n]);
            out.push(Event::decode(payload).unwrap());
            at += 16 + n;
        }
        out
    }

    #[test]
    fn files_hold_what_was_added() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = EventFile::create(&directory.path().join("run")).unwrap();
        file.scalars(1, &[("loss", 2.5), ("ms_per_step", 0.25)]).unwrap();
        file.scalars(7, &[("loss", 1.5)]).unwrap();
        file.flush().unwrap();
        let events = read(&fs::read(&file.path).unwrap());
        assert_eq!(events[0].what, Some(What::FileVersion("brain.Event:2".into())));
        let Some(What::Summary(s)) = &events[1].what else { panic!("{:?}", events[1]) };
        assert_eq!((events[1].step, s.value.len(), s.value[0].tag.as_str(), s.value[1].simple_value), (1, 2, "loss", 0.25));
        assert_eq!(events[2].step, 7);
        assert!(events[0].wall_time > 1e9);
    }

    /// The bytes that TensorFlow's own writer makes of the version record (`wall_time` 0).
    #[test]
    fn framing_is_tensorflows() {
        let event = Event { wall_time: 0.0, step: 0, what: Some(What::FileVersion("brain.Event:2".into())) };
        let bytes = record(&event.encode_to_vec());
        assert_eq!(&bytes[..8], &15u64.to_le_bytes());
        assert_eq!(&bytes[12..27], b"\x1a\x0dbrain.Event:2");
        // CRC-32C of "123456789" is e3069283 (RFC 3720, appendix B.4); masked as TensorFlow's crc32c.h does.
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(u32::from_le_bytes(masked(b"123456789")), 0xe306_9283u32.rotate_right(15).wrapping_add(0xa282_ead8));
    }
}
