//! What a notebook has around it: the process's files and clocks, output and displays that go to whoever listens.

use super::channels::Out;
use aludel_python::host::{FileError, Host, Metadata, Stream, System};
use base64::Engine;
use jupyter_zmq_client::{
    ClearOutput, DisplayData, ExecuteResult, ExecutionCount, InputReply, JupyterMessage, JupyterMessageContent, Media, StreamContent,
    Transient, UpdateDisplayData,
};
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// What `notebook.py` hands over beside plain media: bundles of them, and requests.
const BUNDLE: &str = "application/vnd.aludel.bundle+json";
const CLEAR: &str = "application/vnd.aludel.clear";

/// Where the output of the present request goes.
pub struct Listener {
    out: mpsc::Sender<Out>,
    /// The request that is being answered.
    pub parent: RefCell<Option<JupyterMessage>>,
    pub count: Cell<usize>,
    /// The request is to be answered without its results being shown.
    pub is_silent: Cell<bool>,
}

impl Listener {
    pub fn new(out: mpsc::Sender<Out>) -> Rc<Listener> {
        Rc::new(Listener { out, parent: RefCell::default(), count: Cell::new(0), is_silent: Cell::new(false) })
    }

    /// Tells all that listen.
    pub fn publish(&self, content: impl Into<JupyterMessageContent>) {
        let message = JupyterMessage::new(content, self.parent.borrow().as_ref());
        // Without anybody to send it the process is about to end.
        let _ = self.out.blocking_send(Out::IoPub(JupyterMessage { zmq_identities: Vec::new(), ..message }));
    }

    /// Answers the request of the shell channel.
    pub fn reply(&self, content: impl Into<JupyterMessageContent>) {
        let message = JupyterMessage::new(content, self.parent.borrow().as_ref());
        let _ = self.out.blocking_send(Out::Shell(message));
    }

    /// Says something to the front end that sent the request alone.
    pub fn ask(&self, content: impl Into<JupyterMessageContent>) {
        let message = JupyterMessage::new(content, self.parent.borrow().as_ref());
        let _ = self.out.blocking_send(Out::Stdin(message));
    }

    /// Shows a bundle of `notebook.py`: `{kind, data, metadata, id}`.
    fn show(&self, bundle: &Value) -> bool {
        let Some(data) = media(&bundle["data"]) else { return false };
        let metadata = bundle["metadata"].as_object().cloned().unwrap_or_default();
        let id = bundle["id"].as_str();
        match (bundle["kind"].as_str(), id) {
            (Some("result"), _) if self.is_silent.get() => {}
            (Some("result"), _) => {
                let count = ExecutionCount::new(self.count.get());
                self.publish(ExecuteResult { execution_count: count, data, metadata, transient: None });
            }
            (Some("update"), Some(id)) => {
                let transient = Transient { display_id: Some(id.to_string()) };
                self.publish(UpdateDisplayData { data, metadata, transient });
            }
            _ => {
                let transient = id.map(|id| Transient { display_id: Some(id.to_string()) });
                self.publish(DisplayData { data, metadata, transient });
            }
        }
        true
    }
}

/// Media types with what they hold: text, or bytes as `{"hex": ..}`, which notebooks have in base64.
pub fn media(data: &Value) -> Option<Media> {
    let content: Map<String, Value> = data
        .as_object()?
        .iter()
        .map(|(kind, value)| {
            let bytes = value["hex"].as_str().map(|hex| base64::engine::general_purpose::STANDARD.encode(bytes(hex)));
            (kind.clone(), bytes.map_or_else(|| value.clone(), Value::String))
        })
        .collect();
    serde_json::from_value(Value::Object(content)).ok()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).unwrap_or(0) as u8;
    hex.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The surroundings of a notebook.
pub struct NotebookHost {
    system: System,
    listener: Rc<Listener>,
    /// Asks whoever sits at the notebook for a line; nothing where nobody does.
    line: Box<dyn Fn() -> Option<InputReply>>,
    interrupt: Arc<AtomicBool>,
}

impl NotebookHost {
    pub fn new(listener: Rc<Listener>, line: Box<dyn Fn() -> Option<InputReply>>, interrupt: Arc<AtomicBool>) -> NotebookHost {
        NotebookHost { system: System::default(), listener, line, interrupt }
    }
}

impl Host for NotebookHost {
    fn write(&mut self, stream: Stream, text: &str) {
        if text.is_empty() {
            return;
        }
        self.listener.publish(match stream {
            Stream::Out => StreamContent::stdout(text),
            Stream::Err => StreamContent::stderr(text),
        });
    }
    fn read_line(&mut self) -> String {
        (self.line)().map_or(String::new(), |reply| reply.value + "\n")
    }
    fn asks(&self) -> bool {
        true
    }
    /// A progress bar is written anew in its line.
    fn is_terminal(&self, stream: Stream) -> bool {
        stream == Stream::Err
    }
    fn display(&mut self, _name: &str, kind: &str, bytes: &[u8]) -> bool {
        if kind == CLEAR {
            self.listener.publish(ClearOutput { wait: bytes == b"wait" });
            return true;
        }
        if kind == BUNDLE {
            return serde_json::from_slice(bytes).is_ok_and(|bundle| self.listener.show(&bundle));
        }
        let text = match kind.starts_with("text/") || kind == "image/svg+xml" {
            true => String::from_utf8_lossy(bytes).into_owned(),
            false => base64::engine::general_purpose::STANDARD.encode(bytes),
        };
        self.listener.show(&json!({ "data": { kind: text } }))
    }
    fn read(&mut self, path: &str) -> Result<Vec<u8>, FileError> {
        self.system.read(path)
    }
    fn store(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.system.store(path, bytes)
    }
    fn list(&mut self, path: &str) -> Result<Vec<String>, FileError> {
        self.system.list(path)
    }
    fn metadata(&mut self, path: &str) -> Result<Metadata, FileError> {
        self.system.metadata(path)
    }
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.system.make_dir(path)
    }
    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        self.system.remove(path)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        self.system.rename(from, to)
    }
    fn current_dir(&mut self) -> String {
        self.system.current_dir()
    }
    fn now(&mut self) -> f64 {
        self.system.now()
    }
    fn monotonic(&mut self) -> f64 {
        self.system.monotonic()
    }
    /// Until somebody interrupts.
    fn sleep(&mut self, seconds: f64) {
        let end = self.system.monotonic() + seconds;
        loop {
            let left = end - self.system.monotonic();
            if left <= 0.0 || self.interrupt.load(Ordering::SeqCst) {
                return;
            }
            self.system.sleep(left.min(0.05));
        }
    }
    fn interrupted(&mut self) -> bool {
        self.interrupt.swap(false, Ordering::SeqCst)
    }
    fn entropy(&mut self) -> u64 {
        self.system.entropy()
    }
    fn environment(&mut self) -> Vec<(String, String)> {
        self.system.environment()
    }
}
