//! What the playground's page and the place that trains say to each other.
//!
//! The page sends [`Request`]s, the trainer answers with [`Event`]s; both are plain data, encoded with postcard, whether they
//! cross to a worker or to a server. Losses may be NaN, which rules out JSON.
//!
//! Training belongs to a *session*: each [`Request::Configure`] starts one, and every event about training carries its number,
//! so that what is still on its way from an earlier session is told apart and dropped.

#![warn(clippy::too_many_lines)]

mod inspect;
mod inspection;
mod outline;
pub mod remote;
pub mod script;

pub use aludel_models::presets::{Config, Precision, Preset};
pub use inspection::*;
pub use outline::unpacked;
pub use remote::{ServerDevice, SessionKey};
use serde::{Deserialize, Serialize};

/// Both sides must agree on this; it changes whenever a message does.
pub const VERSION: u32 = 4;

/// How a training step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pane {
    /// Operator by operator.
    Eager,
    /// Captured once, replayed.
    Compiled,
}

impl Pane {
    pub const BOTH: [Pane; 2] = [Pane::Eager, Pane::Compiled];

    pub fn title(self) -> &'static str {
        match self {
            Pane::Eager => "Eager",
            Pane::Compiled => "Compiled",
        }
    }
}

/// One of the two that race: a model of its own, on a device of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Lane {
    Left,
    Right,
}

impl Lane {
    pub const BOTH: [Lane; 2] = [Lane::Left, Lane::Right];

    /// The name in links and in the page's elements.
    pub fn key(self) -> &'static str {
        match self {
            Lane::Left => "left",
            Lane::Right => "right",
        }
    }

    pub fn other(self) -> Lane {
        match self {
            Lane::Left => Lane::Right,
            Lane::Right => Lane::Left,
        }
    }
}

/// Which lanes train.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    #[default]
    Race,
    Only(Lane),
}

impl Mode {
    pub fn has(self, lane: Lane) -> bool {
        match self {
            Mode::Race => true,
            Mode::Only(only) => lane == only,
        }
    }
}

/// Where a lane trains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// On the browser's own device: its GPU or, without one, its CPU.
    #[default]
    Browser,
    /// On the browser's CPU, through its engine of WebAssembly, GPU or not.
    WebAssembly,
    /// On the companion server's device of that [`id`](remote::ServerDevice::id).
    Server(String),
}

/// What a lane runs, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    pub pane: Pane,
    pub place: Place,
    pub precision: Precision,
}

impl Setup {
    /// What a lane runs until told otherwise: the left one eager, the right one compiled, both in the browser and in f32.
    pub fn of(lane: Lane) -> Setup {
        let pane = if lane == Lane::Left { Pane::Eager } else { Pane::Compiled };
        Setup { pane, place: Place::Browser, precision: Precision::F32 }
    }
}

/// From the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// First of all. `gpu` false asks for the CPU, whether there is a GPU or not.
    Hello {
        version: u32,
        gpu: bool,
    },
    /// Looks for a companion server: at an address that a person wrote or, where that is `None`, at the page's own.
    Connect {
        address: Option<String>,
        token: Option<String>,
    },
    /// Ends the session there is and starts `session`, paused at step 0. A lane on a server takes up the server's session of its
    /// key in `resume`, where it still is.
    Configure {
        session: u32,
        config: Config,
        lanes: [Setup; 2],
        resume: [Option<SessionKey>; 2],
        mode: Mode,
    },
    /// Ends a session that an earlier life of the page left on the server: nobody will ask for it any more.
    Abandon(SessionKey),
    /// Which lanes train from now on; the others keep what they have.
    SetMode(Mode),
    Start,
    Pause,
    /// One step in each lane of the mode.
    Step,
    /// What digit is this? 64 pixels from 0 (paper) to 1 (ink).
    Classify {
        pixels: Vec<f32>,
    },
    /// What does the compiled step of a lane look like inside?
    Inspect(Lane),
    /// Connects at once instead of waiting for the next attempt.
    Retry,
    /// Rehearses the loss of the device.
    LoseDevice,
}

/// To the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The trainer hears requests from now on; one sent earlier is lost.
    Listening,
    /// Answers `Hello`. A device without a backend: this trainer has none, the one with the browser's CPU is to be asked.
    Ready { version: u32, device: Device },
    /// Answers `Connect`, and tells whatever becomes of it.
    Companion(Companion),
    /// A session exists; training may start.
    Configured { session: u32, parameters: u64 },
    /// Whether steps are being taken, and by nothing but a request when not.
    Running { session: u32, running: bool },
    /// What a lane did since its last report.
    Progress { session: u32, lane: Lane, progress: Progress },
    /// How good a lane's model is now.
    Evaluated { session: u32, lane: Lane, step: u64, evaluation: Evaluation },
    /// Answers `Classify`: a probability for each digit, by the model furthest on.
    Classified { session: u32, probabilities: Vec<f32> },
    /// Answers `Inspect`; `None` until a compiled step has run.
    Inspected { session: u32, lane: Lane, inspection: Option<Box<Inspection>> },
    /// How a lane stands with the server that trains it.
    Connection { session: u32, lane: Lane, connection: Connection },
    /// The server's session that a lane trains in, to be taken up again after the page is loaded anew.
    Remember { session: u32, lane: Lane, key: SessionKey },
    /// Something went wrong; training is paused and nothing is lost.
    Failed { session: u32, message: String },
    /// The device went away and training goes on from a snapshot, on a new one.
    Recovered { session: u32, reason: String, step: u64 },
    /// How many kernels of a lane's step are compiled, of those that were not known: while its first step is made.
    Compiling { session: u32, lane: Lane, done: u32, total: u32 },
}

/// The companion server, as far as the page knows of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Companion {
    /// This page does not come from one, and nobody named another.
    #[default]
    Absent,
    Connecting {
        address: String,
    },
    /// It answers to whoever has its token; `wrong`: the one given is not it.
    Locked {
        address: String,
        wrong: bool,
    },
    Connected {
        address: String,
        name: String,
        devices: Vec<ServerDevice>,
    },
    Unreachable {
        address: String,
        message: String,
    },
}

impl Companion {
    /// The devices it lends.
    pub fn devices(&self) -> &[ServerDevice] {
        match self {
            Companion::Connected { devices, .. } => devices,
            _ => &[],
        }
    }
}

/// How a lane stands with its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connection {
    /// There is no server to ask: none was named, it wants a token, or it has no such device.
    Missing {
        message: String,
    },
    Connecting,
    /// The session exists.
    Ready,
    /// The server is out of reach; another attempt follows.
    Waiting {
        message: String,
        seconds: u32,
    },
    /// The server will not or cannot go on with this session; the lane is paused.
    Failed {
        message: String,
    },
    /// The server had lost the session; it was set up again as it was at `step`.
    Restored {
        step: u64,
    },
    /// The session trained on while nobody listened; it is at `step`.
    Resumed {
        step: u64,
    },
}

/// What trains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// `WebGPU`, `WebAssembly`.
    pub backend: String,
    /// The adapter's own name.
    pub name: String,
    pub features: Vec<String>,
    /// Why this is not the GPU that was asked for.
    pub fallback: Option<String>,
}

/// Steps of one lane, as counted and timed around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub pane: Pane,
    /// Steps taken since the session began.
    pub step: u64,
    /// Losses since the last report, by step; when steps are many, of some of them, and always of the last.
    pub losses: Vec<(u64, f32)>,
    /// Time this pane has spent on steps, in milliseconds; the first, which compiles, is told apart in `first_ms`.
    pub elapsed_ms: f64,
    /// Median over the last window of the time for a step, until the device had finished it.
    pub ms_per_step: Option<f64>,
    pub counts: Counts,
    /// Time of the first step, in milliseconds: capture, compilation and pipelines, or in the eager pane those of each operator.
    pub first_ms: Option<f64>,
    /// How the loss is scaled, in f16, as of the last step; of what a server trains, as of the state fetched last.
    pub scaling: Option<Scaling>,
}

/// The loss scale of mixed precision in f16.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    pub scale: f32,
    /// Steps that were skipped since some gradient was not finite.
    pub skipped: u64,
}

/// Exact counts of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Kernels launched; 0 where there are none, on the interpreter.
    pub kernels: u64,
    pub submits: u64,
    /// Bytes that kernels read and write.
    pub bytes_moved: u64,
    /// The most device memory in use at once, in bytes.
    pub peak_bytes: u64,
}

/// How good a model is on data it was not trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Evaluation {
    Points {
        accuracy: f32,
        /// Probability of class 1 over [-1.2, 1.2]², `size × size`, top row first, as 0 to 255.
        field: Vec<u8>,
        size: u32,
    },
    Digits {
        accuracy: f32,
        /// For each held-out image, the digit seen and how surely, from 0 to 1.
        predictions: Vec<(u8, f32)>,
    },
    Autoencoder {
        /// The share of the held-out images' variance that the reconstructions keep: one less the mean squared error over it; below
        /// zero where the mean image would be nearer.
        kept: f32,
        /// The reconstructions of the first held-out images, one after the other: a byte for each pixel, 0 for paper.
        images: Vec<u8>,
    },
    Addition {
        /// The share of held-out problems answered exactly.
        exact: f32,
        problems: u32,
        /// Some of them.
        samples: Vec<Sample>,
    },
}

impl Evaluation {
    /// The share that is right.
    pub fn score(&self) -> f32 {
        match self {
            Evaluation::Points { accuracy, .. } | Evaluation::Digits { accuracy, .. } => *accuracy,
            Evaluation::Autoencoder { kept, .. } => kept.max(0.0),
            Evaluation::Addition { exact, .. } => *exact,
        }
    }
}

/// A question, and what the model made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub question: String,
    pub answer: String,
    pub expected: String,
}

/// A message as bytes.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, String> {
    postcard::to_allocvec(message).map_err(|e| format!("cannot encode a message: {e}"))
}

/// A message behind bytes that are there already.
pub fn encode_behind<T: Serialize>(message: &T, before: Vec<u8>) -> Result<Vec<u8>, String> {
    postcard::to_extend(message, before).map_err(|e| format!("cannot encode a message: {e}"))
}

/// A message from bytes.
pub fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes).map_err(|e| format!("this is no message of protocol {VERSION}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let progress = Progress {
            pane: Pane::Compiled,
            step: 7,
            losses: vec![(6, 1.5), (7, f32::INFINITY)],
            elapsed_ms: 12.5,
            ms_per_step: Some(1.25),
            counts: Counts { kernels: 10, submits: 1, bytes_moved: 5, peak_bytes: 6 },
            first_ms: None,
            scaling: Some(Scaling { scale: 65536.0, skipped: 2 }),
        };
        let event = Event::Progress { session: 3, lane: Lane::Right, progress };
        assert_eq!(decode::<Event>(&encode(&event).unwrap()).unwrap(), event);
        for &preset in Preset::ALL {
            let config = Config::from_fields(preset, &[]).unwrap();
            let lanes =
                [Setup::of(Lane::Left), Setup { pane: Pane::Compiled, place: Place::Server("cuda:0".into()), precision: Precision::BF16 }];
            let resume = [None, Some(SessionKey("0".repeat(32)))];
            let request = Request::Configure { session: 1, config, lanes, resume, mode: Mode::Only(Lane::Right) };
            assert_eq!(decode::<Request>(&encode(&request).unwrap()).unwrap(), request);
        }
    }

    #[test]
    fn a_loss_may_be_nan() {
        let back: f32 = decode(&encode(&f32::NAN).unwrap()).unwrap();
        assert!(back.is_nan());
    }

    #[test]
    fn garbage_is_an_error() {
        assert!(decode::<Event>(&[250, 1, 2]).is_err());
        assert!(decode::<Event>(&[]).is_err());
    }
}
