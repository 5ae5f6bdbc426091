//! What the server and the worker of a session say to each other over the worker's standard input and output.
//!
//! Each message is a frame: its length, the CRC-32C of its bytes, and postcard. The server asks, the worker answers, one thing at a time.
//! Neither side trusts the other's lengths: a frame is read piece by piece, and one that is longer than it may be ends the conversation.

use crate::serve::args::Bounds;
use aludel_protocol::remote::{Job, Refusal, TensorData};
use aludel_protocol::{Counts, Inspection, decode, encode_behind, script};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// From the server.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// First of all, once: a client's job as it came.
    Begin {
        job: Box<Job>,
        bounds: Bounds,
    },
    /// So many steps from step `from` on, fewer where they take longer than foreseen.
    Train {
        from: u64,
        steps: u64,
    },
    /// The state by the client's names.
    State,
    Inspect,
    /// The job as it would have to be sent to go on from here.
    Job,
    /// Instead of `Begin`: a script.
    Script {
        job: Box<script::Job>,
        bounds: Bounds,
    },
    /// A turn for the script, with lines that it may ask for; a single step of it, or its end by an interruption.
    Advance {
        lines: Vec<Option<String>>,
        steps: bool,
        stop: bool,
    },
}

/// From the worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    Begun(Result<Begun, Refusal>),
    Trained(Trained),
    State(Result<Vec<(String, TensorData)>, String>),
    Inspected(Option<Box<Inspection>>),
    Job(Result<Box<Job>, String>),
    Ran(Box<Ran>),
    Regions(Vec<script::Region>),
}

/// A turn of a script.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ran {
    pub report: Box<script::Report>,
    /// The single step is done.
    pub stepped: bool,
    pub memory: Memory,
}

/// A session is ready to train.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// Bytes of its state.
    pub state_bytes: u64,
    pub memory: Memory,
}

/// Steps that were taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trained {
    pub steps: u64,
    /// Some of their losses, the last one always, by the number of steps taken.
    pub losses: Vec<(u64, f32)>,
    /// What each step took of the device.
    pub counts: Counts,
    pub memory: Memory,
    /// Why the next one could not be taken.
    pub problem: Option<String>,
}

/// Bytes of tensors and arenas on the device.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pub in_use: u64,
    pub peak: u64,
}

/// Bytes of a frame before its message.
pub const HEAD: usize = 12;
/// So much is read at once: a length that is a lie costs no more memory.
pub const PIECE: usize = 1 << 20;

/// A message as a frame.
pub fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    // In one piece of memory: messages may be large.
    let mut out = encode_behind(message, vec![0; HEAD]).map_err(io::Error::other)?;
    let (head, body) = out.split_at_mut(HEAD);
    head[..8].copy_from_slice(&(body.len() as u64).to_le_bytes());
    head[8..].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
    Ok(out)
}

/// The length and the checksum that a frame begins with. Errors where it is longer than `most` bytes.
pub fn head(bytes: [u8; HEAD], most: u64) -> io::Result<(usize, u32)> {
    let [a, b, c, d, e, f, g, h, sum @ ..] = bytes;
    let length = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    match usize::try_from(length) {
        Ok(n) if length <= most => Ok((n, u32::from_le_bytes(sum))),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {length} bytes, {most} at most"))),
    }
}

/// The message of a frame's bytes.
pub fn message<T: DeserializeOwned>(body: &[u8], sum: u32) -> io::Result<T> {
    let damaged = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
    if crc32c::crc32c(body) != sum {
        return Err(damaged("a damaged message".into()));
    }
    decode(body).map_err(damaged)
}

/// The worker's side, which waits.
pub fn send<T: Serialize>(to: &mut impl Write, what: &T) -> io::Result<()> {
    to.write_all(&frame(what)?)?;
    to.flush()
}

pub fn receive<T: DeserializeOwned>(from: &mut impl Read, most: u64) -> io::Result<T> {
    let mut bytes = [0; HEAD];
    from.read_exact(&mut bytes)?;
    let (length, sum) = head(bytes, most)?;
    let mut body = Vec::new();
    // Grows with what arrives.
    if from.take(length as u64).read_to_end(&mut body)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    message(&body, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_whole_or_not_at_all() {
        let order = Order::Train { from: 7, steps: 300 };
        let bytes = frame(&order).unwrap();
        let back = |bytes: &[u8], most| receive::<Order>(&mut &*bytes, most);
        assert!(matches!(back(&bytes, 100), Ok(Order::Train { from: 7, steps: 300 })));
        assert!(back(&bytes, 2).unwrap_err().to_string().contains("2 at most"));
        for cut in 0..bytes.len() {
            assert!(back(&bytes[..cut], 100).is_err(), "{cut} bytes");
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x40;
            assert!(back(&other, 100).is_err(), "byte {at}");
        }
        // A length without the bytes takes no memory.
        let mut long = bytes;
        long[..8].copy_from_slice(&(1u64 << 60).to_le_bytes());
        assert_eq!(back(&long, u64::MAX).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
