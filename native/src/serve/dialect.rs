//! The two languages of clients: pages that train graphs speak in binary frames of postcard, code views in text frames of JSON. Their address
//! says which.

use super::session::Say;
use super::training::Command;
use aludel_protocol::remote::{ClientMessage, Job, Refusal, ServerMessage, SessionKey};
use aludel_protocol::script::{self, Ask, Tell};
use aludel_protocol::{decode, encode, unpacked};
use tokio_tungstenite::tungstenite::Message;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// [`aludel_protocol::remote`].
    Graphs,
    /// [`aludel_protocol::script`].
    Scripts,
}

/// What a session is made of.
pub enum Work {
    Graph(Job),
    Script(script::Job),
}

impl Work {
    /// The position of its device.
    pub fn device(&self) -> u32 {
        match self {
            Work::Graph(job) => job.device,
            Work::Script(job) => job.device,
        }
    }
}

/// What a client said.
pub enum Heard {
    Hello {
        version: u32,
        token: Option<String>,
        resume: Option<SessionKey>,
    },
    Create(Box<Work>),
    Cancel,
    /// The state of its session.
    Fetch,
    /// What the compiler made of it.
    Inspect,
    /// For its session.
    Command(Command),
}

impl From<ClientMessage> for Heard {
    fn from(message: ClientMessage) -> Heard {
        match message {
            ClientMessage::Hello { version, token, resume } => Heard::Hello { version, token, resume },
            ClientMessage::Create(job) => Heard::Create(Box::new(Work::Graph(*job))),
            ClientMessage::Run { steps } => Heard::Command(Command::Run { steps }),
            ClientMessage::Pause => Heard::Command(Command::Pause),
            ClientMessage::Cancel => Heard::Cancel,
            ClientMessage::FetchState => Heard::Fetch,
            ClientMessage::Inspect => Heard::Inspect,
        }
    }
}

impl From<Ask> for Heard {
    fn from(ask: Ask) -> Heard {
        match ask {
            Ask::Hello { version, token, resume } => Heard::Hello { version, token, resume },
            Ask::Create(job) => Heard::Create(Box::new(Work::Script(*job))),
            Ask::Run { steps } => Heard::Command(Command::Run { steps }),
            Ask::Pause => Heard::Command(Command::Pause),
            Ask::Answer { line } => Heard::Command(Command::Answer(line)),
            Ask::Stop => Heard::Command(Command::Stop),
            Ask::Inspect => Heard::Inspect,
            Ask::Cancel => Heard::Cancel,
        }
    }
}

impl Dialect {
    /// A frame's message; `None` for a frame of the other language.
    pub fn read(self, frame: &Message) -> Option<Result<Heard, String>> {
        match (self, frame) {
            (Dialect::Graphs, Message::Binary(bytes)) => Some(decode::<ClientMessage>(bytes).map(Heard::from)),
            (Dialect::Scripts, Message::Text(text)) => Some(serde_json::from_str::<Ask>(text).map(Heard::from).map_err(|e| e.to_string())),
            _ => None,
        }
    }

    /// Bytes that a frame's message takes beside those that it came in.
    pub fn unpacked(self, frame: &Message) -> u64 {
        match (self, frame) {
            (Dialect::Graphs, Message::Binary(bytes)) => unpacked(bytes),
            _ => 0,
        }
    }

    /// What the frames of this language are.
    pub fn frames(self) -> &'static str {
        match self {
            Dialect::Graphs => "messages are binary frames",
            Dialect::Scripts => "messages are text frames of JSON",
        }
    }

    /// A frame that says it; `None` for what this language has no words for.
    pub fn write(self, what: Say) -> Option<Message> {
        match (self, what) {
            (Dialect::Graphs, Say::Session(message)) => encode(&message).ok().map(|bytes| Message::Binary(bytes.into())),
            (Dialect::Graphs, _) => None,
            (Dialect::Scripts, what) => serde_json::to_string(&tell(what)?).ok().map(|text| Message::Text(text.into())),
        }
    }
}

/// What is said to a code view.
fn tell(what: Say) -> Option<Tell> {
    Some(match what {
        Say::Report(report) => Tell::Report(report),
        Say::Regions(regions) => Tell::Inspected { regions },
        Say::Session(message) => match message {
            ServerMessage::Welcome { version, server, devices, limits, resumed } => {
                Tell::Welcome { version, server, devices, limits, resumed: resumed.map(|r| r.session) }
            }
            ServerMessage::Created { session, .. } => Tell::Created { session },
            ServerMessage::Running { running, .. } => Tell::Running { running },
            ServerMessage::Failed { message } => Tell::Failed { message },
            ServerMessage::Refused(refusal) => Tell::Refused { message: words(&refusal), refusal },
            ServerMessage::TakenOver => Tell::TakenOver,
            // Only graphs have these.
            ServerMessage::Progress(_) | ServerMessage::State { .. } | ServerMessage::Inspected(_) => return None,
        },
    })
}

/// A refusal for whoever wrote the script.
fn words(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Version { server } => format!("the server speaks version {server} of the protocol, this page another; reload it"),
        Refusal::Token => "the server wants its token".into(),
        Refusal::Malformed { message } => format!("the server did not understand this page: {message}"),
        Refusal::NoSession => "the server knows no such session".into(),
        Refusal::NoDevice { device } => format!("the server has no device {device}"),
        Refusal::Limit { what, value, limit } => format!("{what}: {value} is beyond the server's limit of {limit}"),
        Refusal::Busy { message } => format!("the server is busy: {message}"),
        Refusal::Job { message } | Refusal::Compile { message } => format!("the server does not take this script: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_frames() {
        let text = Message::Text(r#"{"Hello":{"version":4,"token":null,"resume":null}}"#.into());
        assert!(matches!(Dialect::Scripts.read(&text), Some(Ok(Heard::Hello { version: 4, .. }))));
        assert!(Dialect::Graphs.read(&text).is_none());
        assert!(matches!(Dialect::Scripts.read(&Message::Text("\"Stop\"".into())), Some(Ok(Heard::Command(Command::Stop)))));
        assert!(matches!(Dialect::Scripts.read(&Message::Text("{".into())), Some(Err(_))));
        let said = Dialect::Scripts.write(ServerMessage::TakenOver.into());
        assert_eq!(said, Some(Message::Text("\"TakenOver\"".into())));
        // What is not finite is nothing.
        let report = script::Report { losses: vec![(1, 2, f64::NAN)], ..Default::default() };
        let Some(Message::Text(text)) = Dialect::Scripts.write(Say::Report(Box::new(report))) else { panic!("no text") };
        assert!(text.contains(r#""losses":[[1,2,null]]"#), "{text}");
    }
}
