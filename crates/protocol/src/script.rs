//! What a code view says to a companion server that runs its script: text frames of JSON, over a WebSocket of its own (`/ws/script`).
//!
//! The code view is plain JavaScript, which has JSON at hand and no postcard. A connection starts with [`Ask::Hello`]; a session is a script
//! with its files on one device of the server, and belongs to whoever holds its key, as those of [`crate::remote`]. Numbers that are not
//! finite are `null`, and bytes are in base64.

use crate::Pane;
use crate::remote::{Limits, Refusal, ServerDevice, SessionKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes: base64 in JSON, themselves where the format has bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { STANDARD.encode(&self.0).serialize(serializer) } else { serializer.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(Bytes(serde_bytes::ByteBuf::deserialize(deserializer)?.into_vec()));
        }
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes).map_err(serde::de::Error::custom)
    }
}

/// From a code view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// First of all, as [`crate::remote::ClientMessage::Hello`].
    Hello {
        version: u32,
        token: Option<String>,
        resume: Option<SessionKey>,
    },
    /// Starts a session, paused; the connection's earlier one ends.
    Create(Box<Job>),
    /// Lets the script run: for so many turns of its training loop or printed lines, or until paused.
    Run {
        steps: Option<u64>,
    },
    Pause,
    /// The line that `input()` waits for; without it there is none.
    Answer {
        line: Option<String>,
    },
    /// Raises `KeyboardInterrupt`; a script that takes no notice is given up.
    Stop,
    /// What the compiler made of it.
    Inspect,
    /// Ends the session and frees what it holds.
    Cancel,
}

/// A script and all that it may read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The position of the device in [`Tell::Welcome`].
    pub device: u32,
    pub pane: Pane,
    /// The script's file.
    pub name: String,
    pub text: String,
    #[serde(default)]
    pub args: Vec<String>,
    /// What runs before it in the same session, without being shown.
    #[serde(default)]
    pub before: Vec<String>,
    /// Paths and bytes.
    #[serde(default)]
    pub files: Vec<(String, Bytes)>,
}

/// From a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tell {
    /// Answers `Hello`. What a session that was taken up again made so far comes in a report of its own.
    Welcome {
        version: u32,
        server: String,
        devices: Vec<ServerDevice>,
        limits: Limits,
        resumed: Option<SessionKey>,
    },
    /// A session exists; the script may run.
    Created {
        session: SessionKey,
    },
    Running {
        running: bool,
    },
    Report(Box<Report>),
    Inspected {
        regions: Vec<Region>,
    },
    /// The session could not go on.
    Failed {
        message: String,
    },
    /// A request that was not carried out, and why in words.
    Refused {
        refusal: Refusal,
        message: String,
    },
    /// Another connection has taken the session up; this one ends.
    TakenOver,
}

/// What a script made since the last report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Everything since the script began: to be shown instead of what was told before.
    pub whole: bool,
    /// Whether it is error output, and the text.
    pub output: Vec<(bool, String)>,
    /// Paths that were written, and what is there.
    pub files: Vec<(String, Bytes)>,
    /// Names, media types and bytes.
    pub figures: Vec<(String, String, Bytes)>,
    /// Names, steps and values.
    pub logged: Vec<(String, Option<f64>, f64)>,
    /// Lines that call `backward()`, steps and values.
    pub losses: Vec<(u32, u64, f64)>,
    /// What the script's lines became, where that has changed.
    pub lines: Option<Vec<Line>>,
    /// The line of the script that comes next.
    pub at: Option<u32>,
    pub numbers: Numbers,
    /// The line of input that it waits for, by its number.
    pub asks: Option<u64>,
    /// It has ended: why, empty where it did by itself.
    pub ended: Option<String>,
}

/// What the training loop takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    pub steps: u64,
    pub ms: Option<f64>,
    pub kernels: Option<u64>,
    pub submits: Option<u64>,
    pub peak: Option<u64>,
    pub first: Option<f64>,
    pub graphs: u64,
    pub pipelines: Option<u64>,
    pub seconds: f64,
}

/// A line of the script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub line: u32,
    pub operators: u64,
    pub kernels: u64,
    pub share: f64,
    pub breaks: u64,
    pub again: Vec<String>,
}

/// A graph that was compiled, for the inspector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    pub runs: u64,
    pub nodes: Vec<Node>,
    pub kernels: Vec<Kernel>,
    pub loops: String,
}

/// An operator, and the script's line that it stands at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub text: String,
    pub line: Option<u32>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    pub label: String,
    pub phase: String,
    pub operators: Vec<u32>,
    pub bytes: u64,
    pub flops: u64,
    pub source: String,
}

/// Bytes of figures and files that are kept together, and numbers of curves; then the oldest go, and every other number.
const KEPT: usize = 16 << 20;
const CURVES: usize = 1 << 14;

impl Report {
    /// What came after it, melted in.
    pub fn merge(&mut self, new: Report) {
        for (error, text) in new.output {
            match self.output.last_mut() {
                Some((last, kept)) if *last == error => kept.push_str(&text),
                _ => self.output.push((error, text)),
            }
        }
        self.files.retain(|(path, _)| !new.files.iter().any(|(p, _)| p == path));
        self.files.extend(new.files);
        self.figures.retain(|(name, ..)| !new.figures.iter().any(|(n, ..)| n == name));
        self.figures.extend(new.figures);
        self.bound();
        self.logged.extend(new.logged);
        self.losses.extend(new.losses);
        halve(&mut self.logged);
        halve(&mut self.losses);
        self.lines = new.lines.or(self.lines.take());
        (self.at, self.numbers, self.asks) = (new.at, new.numbers, new.asks);
        self.ended = new.ended.or(self.ended.take());
        self.whole |= new.whole;
    }

    /// Lets go of the oldest figures and files where they are too much together.
    pub fn bound(&mut self) {
        let mut held = self.weight();
        while held > KEPT && !(self.figures.is_empty() && self.files.is_empty()) {
            let gone = if self.figures.is_empty() { self.files.remove(0).1 } else { self.figures.remove(0).2 };
            held -= gone.0.len();
        }
    }

    /// Bytes of figures and files.
    pub fn weight(&self) -> usize {
        self.figures.iter().map(|(.., b)| b.0.len()).chain(self.files.iter().map(|(_, b)| b.0.len())).sum()
    }
}

/// Drops every other number, the last excepted, while there are too many.
fn halve<T>(numbers: &mut Vec<T>) {
    while numbers.len() > CURVES {
        let last = numbers.len() - 1;
        let mut i = 0;
        numbers.retain(|_| {
            i += 1;
            i % 2 == 1 || i - 1 == last
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_melt_and_stay_small() {
        let mut all = Report::default();
        for step in 0..100_000_u64 {
            let figures = vec![(format!("figure {}", step % 40), "image/png".to_string(), Bytes(vec![0; 1 << 20]))];
            let output = vec![(false, "x\n".to_string())];
            let figures = if step < 100 { figures } else { Vec::new() };
            all.merge(Report { output, figures, losses: vec![(1, step, 0.0)], ..Report::default() });
        }
        assert_eq!(all.output, [(false, "x\n".repeat(100_000))]);
        assert!(all.weight() <= KEPT && all.figures.last().unwrap().0 == "figure 19");
        assert!(all.losses.len() <= CURVES && all.losses.last().unwrap().1 == 99_999);
        all.merge(Report { ended: Some("Stopped.\n".into()), ..Report::default() });
        all.merge(Report::default());
        assert_eq!(all.ended.as_deref(), Some("Stopped.\n"));
    }
}
