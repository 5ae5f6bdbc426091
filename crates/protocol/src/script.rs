//! What a code view says to a companion server that runs its script: text frames of JSON, over a WebSocket of its own (`/ws/script`).
//!
//! The code view is plain JavaScript, which has JSON at hand and no postcard. A connection starts with [`Ask::Hello`]; a session is a script
//! with its files on one device of the server, and belongs to whoever holds its key, as those of [`crate::remote`]. Numbers that are not
//! finite are `null`, and bytes are in base64.

use crate::Pane;
use crate::remote::{Limits, Refusal, ServerDevice, SessionKey, at_most};
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

/// The most arguments, earlier listings and files of a script: a few bytes on the wire must not become many in memory.
pub const MOST_PARTS: usize = 4096;

/// A script and all that it may read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The position of the device in [`Tell::Welcome`].
    pub device: u32,
    pub pane: Pane,
    /// The script's file.
    pub name: String,
    pub text: String,
    #[serde(default, deserialize_with = "at_most::<_, _, MOST_PARTS>")]
    pub args: Vec<String>,
    /// What runs before it in the same session, without being shown.
    #[serde(default, deserialize_with = "at_most::<_, _, MOST_PARTS>")]
    pub before: Vec<String>,
    /// Paths and bytes.
    #[serde(default, deserialize_with = "at_most::<_, _, MOST_PARTS>")]
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

/// Bytes of figures and files that are kept together, with their names, and numbers of curves; then the oldest go, and every other number.
const KEPT: usize = 16 << 20;
const CURVES: usize = 1 << 14;
/// Bytes of output; then the oldest goes. More than a script writes before it is told that the rest is not kept.
const OUTPUT: usize = 5 << 20;
/// What a piece of output, a file or a figure takes beside its bytes.
const PIECE: usize = 64;
/// Bytes of what a script ends with, of a number's name, and of a line's reasons to be compiled again.
const ENDING: usize = 64 << 10;
const NAME: usize = 256;
const REASONS: usize = 4096;

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
        self.logged.extend(new.logged);
        self.losses.extend(new.losses);
        self.lines = new.lines.or(self.lines.take());
        (self.at, self.numbers, self.asks) = (new.at, new.numbers, new.asks);
        self.ended = new.ended.or(self.ended.take());
        self.whole |= new.whole;
        self.bound();
    }

    /// Lets go of the oldest of everything that is too much together, and of the ends of texts that are too long.
    pub fn bound(&mut self) {
        let mut held = self.attached();
        while held > KEPT {
            held -= match (self.figures.is_empty(), self.files.is_empty()) {
                (false, _) => figure_bytes(&self.figures.remove(0)),
                (true, false) => file_bytes(&self.files.remove(0)),
                (true, true) => break,
            };
        }
        let mut held: usize = self.output.iter().map(|(_, text)| text.len() + PIECE).sum();
        let gone = self.output.iter().take_while(|(_, text)| {
            let goes = held > OUTPUT;
            held -= if goes { text.len() + PIECE } else { 0 };
            goes
        });
        let gone = gone.count();
        self.output.drain(..gone);
        halve(&mut self.logged);
        halve(&mut self.losses);
        self.logged.iter_mut().for_each(|(name, ..)| cut(name, NAME));
        self.ended.iter_mut().for_each(|why| cut(why, ENDING));
        for line in self.lines.iter_mut().flatten() {
            let mut held = 0;
            line.again.retain_mut(|why| {
                cut(why, REASONS);
                held += why.len() + PIECE;
                held <= REASONS
            });
        }
    }

    /// Bytes of figures and files.
    fn attached(&self) -> usize {
        self.figures.iter().map(figure_bytes).chain(self.files.iter().map(file_bytes)).sum()
    }

    /// Bytes that it takes, about.
    pub fn weight(&self) -> usize {
        let output: usize = self.output.iter().map(|(_, text)| text.len() + PIECE).sum();
        let logged: usize = self.logged.iter().map(|(name, ..)| name.len() + PIECE).sum();
        self.attached() + output + logged + self.losses.len() * PIECE + self.ended.as_ref().map_or(0, String::len)
    }
}

fn figure_bytes((name, media, bytes): &(String, String, Bytes)) -> usize {
    name.len() + media.len() + bytes.0.len() + PIECE
}

fn file_bytes((path, bytes): &(String, Bytes)) -> usize {
    path.len() + bytes.0.len() + PIECE
}

/// The beginning and the end of a text that is too long: an error says at its end what it is.
fn cut(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let head = (0..=most / 4).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - most / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.replace_range(head..tail, " … ");
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
        assert!(all.attached() <= KEPT && all.figures.last().unwrap().0 == "figure 19");
        assert!(all.losses.len() <= CURVES && all.losses.last().unwrap().1 == 99_999);
        all.merge(Report { ended: Some("Stopped.\n".into()), ..Report::default() });
        all.merge(Report::default());
        assert_eq!(all.ended.as_deref(), Some("Stopped.\n"));
    }

    #[test]
    fn whatever_is_long_is_cut() {
        let long = |n: usize| "é".repeat(n);
        let mut all = Report::default();
        for k in 0..100 {
            all.merge(Report {
                output: vec![(false, long(50_000)), (true, "x".into())],
                logged: vec![(long(1_000_000), None, 0.0)],
                files: vec![(format!("{k}{}", "p".repeat(1 << 20)), Bytes::default())],
                lines: Some(vec![Line { line: 1, operators: 1, kernels: 1, share: 0.0, breaks: 0, again: vec![long(10_000); 9] }]),
                ended: Some(format!("{}the reason", long(1_000_000))),
                ..Report::default()
            });
        }
        assert!(all.attached() <= KEPT && all.files.len() < 17 && all.files.last().unwrap().0.starts_with("99p"));
        assert!(all.output.iter().map(|(_, text)| text.len()).sum::<usize>() <= OUTPUT && all.output.len() > 60);
        assert!(all.logged.iter().all(|(name, ..)| name.len() < 2 * NAME));
        assert!(all.ended.as_ref().is_some_and(|e| e.len() < ENDING && e.ends_with("the reason")));
        let again = &all.lines.as_ref().unwrap()[0].again;
        assert!(again.iter().map(String::len).sum::<usize>() <= REASONS);
        assert!(all.weight() < 32 << 20);
    }
}
