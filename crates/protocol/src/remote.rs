//! What a page says to a companion server that lends it devices, over one WebSocket.
//!
//! A connection starts with [`ClientMessage::Hello`]. A *session* is one captured training step with its state and data on one
//! device of the server; it belongs to whoever holds its [`SessionKey`], outlives connections, and trains on while nobody
//! listens. Messages are postcard in binary frames; tensors are little-endian bytes, never numbers in text.

use crate::{Inspection, Pane, Progress};
use aludel_ir::DType;
use aludel_tensor::{Device, Error, Exported, ExportedInput, Result, Tensor};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// Both sides must agree on this; it changes whenever a message of this module or of [`crate::script`] does.
pub const REMOTE_VERSION: u32 = 4;

/// Names a session and is the right to use it: 128 random bits as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionKey(pub String);

/// From a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// First of all. `token` is the server's secret where it has one; `resume` takes up a session of an earlier connection.
    Hello {
        version: u32,
        token: Option<String>,
        resume: Option<SessionKey>,
    },
    /// Starts a session, paused at step 0; the connection's earlier one ends.
    Create(Box<Job>),
    /// Trains for so many steps, or until paused.
    Run {
        steps: Option<u64>,
    },
    Pause,
    /// Ends the session and frees what it holds.
    Cancel,
    /// Asks for the state as it is after the last finished step.
    FetchState,
    Inspect,
}

/// A captured training step and all it needs to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// For people and logs; at most 64 characters.
    pub name: String,
    /// The position of the device in [`ServerMessage::Welcome`].
    pub device: u32,
    /// Whether the graph is compiled whole or run operator by operator.
    pub pane: Pane,
    /// The captured graph in its text format.
    pub graph: String,
    /// For each input of the graph, in order, where its value comes from.
    #[serde(deserialize_with = "at_most::<_, _, MOST_FEEDS>")]
    pub feeds: Vec<Feed>,
    /// The output of the graph that is the loss.
    pub loss: u32,
    /// Tensors of examples, one in each row of the first dimension.
    #[serde(deserialize_with = "at_most::<_, _, MOST_COLUMNS>")]
    pub columns: Vec<TensorData>,
    /// Which rows each step takes, step after step, `batch` of them each; begins anew at its end.
    pub order: Vec<u32>,
    pub batch: u32,
}

/// Bounds of the format itself: a few bytes on the wire must not become many in memory.
const MOST_FEEDS: usize = 1 << 16;
const MOST_COLUMNS: usize = 64;
const MOST_DIMS: usize = 64;

/// A list that ends with an error where it grows too long.
pub(crate) fn at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(
    deserializer: D,
) -> std::result::Result<Vec<T>, D::Error> {
    struct Bounded<T, const MOST: usize>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Vec<T>, A::Error> {
            let mut out = Vec::new();
            while let Some(item) = list.next_element()? {
                if out.len() == MOST {
                    return Err(serde::de::Error::invalid_length(MOST + 1, &self));
                }
                out.push(item);
            }
            Ok(out)
        }
    }
    deserializer.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

/// Where an input of a step comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Feed {
    /// Starts as this and is updated by the step.
    State(TensorData),
    /// The same at every step.
    Constant(TensorData),
    /// Rows of a column, by [`Job::order`].
    Rows { column: u32 },
}

/// A tensor on the wire: row-major, little-endian, elements of [`DType::size`] bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorData {
    pub dtype: DType,
    #[serde(deserialize_with = "at_most::<_, _, MOST_DIMS>")]
    pub shape: Vec<u32>,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

impl Feed {
    /// What feeds an exported step: tensor `i` of its arguments takes rows of column `i`, and what a step does not update is constant.
    pub async fn of(exported: &Exported) -> Result<Vec<Feed>> {
        let mut feeds = Vec::with_capacity(exported.inputs.len());
        for input in &exported.inputs {
            feeds.push(match input {
                ExportedInput::Argument { position, .. } => Feed::Rows { column: *position as u32 },
                ExportedInput::State { tensor, updated: true, .. } => Feed::State(TensorData::of(tensor).await?),
                ExportedInput::State { tensor, .. } | ExportedInput::Constant(tensor) => Feed::Constant(TensorData::of(tensor).await?),
            });
        }
        Ok(feeds)
    }
}

impl TensorData {
    /// The value of a tensor; waits for its device.
    pub async fn of(tensor: &Tensor) -> Result<TensorData> {
        let too_large = |d: usize| {
            u32::try_from(d).map_err(|_| Error::invalid("sending a tensor", format!("a dimension of {d} elements"), "use fewer than 2^32"))
        };
        let shape = tensor.shape().into_iter().map(too_large).collect::<Result<_>>()?;
        Ok(TensorData { dtype: tensor.dtype(), shape, bytes: tensor.to_le_bytes_async().await? })
    }

    /// The tensor on a device. Errors when the bytes do not fill the shape.
    pub fn to_tensor(&self, device: &Device) -> Result<Tensor> {
        let shape: Vec<i64> = self.shape.iter().map(|d| i64::from(*d)).collect();
        Tensor::from_le_bytes(device, self.dtype, shape, &self.bytes)
    }
}

/// From a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ServerMessage {
    /// Answers `Hello`.
    Welcome { version: u32, server: String, devices: Vec<ServerDevice>, limits: Limits, resumed: Option<Resumed> },
    /// A session exists; training may start.
    Created { session: SessionKey, pane: Pane },
    /// Whether steps are being taken, and by nothing but a request when not.
    Running { running: bool, step: u64 },
    /// What the session did since its last report.
    Progress(Progress),
    /// Answers `FetchState`: the state feeds, in order, by the names of the graph's inputs.
    State { step: u64, tensors: Vec<(String, TensorData)> },
    /// Answers `Inspect`; `None` for a session that runs operator by operator, or has not run yet.
    Inspected(Option<Box<Inspection>>),
    /// The session could not go on; it is paused and keeps its state.
    Failed { message: String },
    /// A request that was not carried out, and why. The connection stays open unless the reason says otherwise.
    Refused(Refusal),
    /// Another connection has taken the session up; this one ends.
    TakenOver,
}

/// A session that a connection took up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    pub session: SessionKey,
    pub name: String,
    pub device: u32,
    pub pane: Pane,
    pub step: u64,
    pub running: bool,
    /// Losses so far, thinned out, by step.
    pub losses: Vec<(u64, f32)>,
}

/// A device that a server lends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerDevice {
    /// `cpu`, `cuda:0`.
    pub id: String,
    /// `CPU`, `CUDA`.
    pub backend: String,
    /// The device's own name.
    pub name: String,
}

/// What a server takes from one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub message_bytes: u64,
    pub graph_nodes: u64,
    /// Bytes of all tensors of a job, state and data.
    pub tensor_bytes: u64,
    pub steps: u64,
    pub sessions: u64,
    pub compile_seconds: u64,
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Refusal {
    /// The server speaks another version; the connection ends.
    Version {
        server: u32,
    },
    /// The token is missing or wrong; the connection ends.
    Token,
    /// A frame that is no message; the connection ends.
    Malformed {
        message: String,
    },
    /// No session of that key: it ended, or never was.
    NoSession,
    NoDevice {
        device: u32,
    },
    /// Beyond one of the [`Limits`].
    Limit {
        what: String,
        value: u64,
        limit: u64,
    },
    /// The server has as many sessions as it takes.
    Busy {
        message: String,
    },
    /// The graph or what feeds it does not hold together.
    Job {
        message: String,
    },
    /// The graph is right and could not be compiled for the device.
    Compile {
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode, encode};

    #[test]
    fn lists_are_bounded() {
        let job = |feeds: usize, dims: usize| Job {
            name: "j".into(),
            device: 0,
            pane: Pane::Eager,
            graph: String::new(),
            feeds: vec![Feed::Rows { column: 0 }; feeds],
            loss: 0,
            columns: vec![TensorData { dtype: DType::F32, shape: vec![1; dims], bytes: vec![0; 4] }],
            order: vec![0; 3],
            batch: 1,
        };
        let good = job(MOST_FEEDS, MOST_DIMS);
        assert_eq!(decode::<Job>(&encode(&good).unwrap()).unwrap(), good);
        for bad in [job(MOST_FEEDS + 1, 1), job(1, MOST_DIMS + 1)] {
            assert!(decode::<Job>(&encode(&bad).unwrap()).is_err());
        }
        // A length without the elements.
        let mut cut = encode(&good).unwrap();
        cut.truncate(10);
        assert!(decode::<Job>(&cut).is_err());
    }
}
