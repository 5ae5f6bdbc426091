//! The machine of a notebook: answers the requests of the shell channel, one after the other.

use super::cell::{self, Whole};
use super::channels::Wire;
use super::host::{Listener, NotebookHost, media};
use aludel::{Device, Error, Result};
use aludel_python::host::Asked;
use aludel_python::objects::{Kind, Value};
use aludel_python::{Outcome, Vm};
use aludel_torch::capture;
use jupyter_zmq_client::{
    CodeMirrorMode, CommClose, CommInfoReply, CompleteReply, ErrorOutput, ExecuteInput, ExecuteReply, ExecuteRequest, ExecutionCount,
    ExpressionResult, HistoryEntry, HistoryReply, HistoryRequest, InputReply, InputRequest, InspectReply, IsCompleteReply, JupyterMessage,
    JupyterMessageContent as Content, KernelInfoReply, LanguageInfo, ReplyError, ReplyStatus, ShutdownReply, Status,
};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Turns of loops and calls between two looks at whether somebody interrupts: some milliseconds.
const FUEL: u64 = 20_000;
/// How long a wait for input goes on before the same look.
const LOOK: Duration = Duration::from_millis(50);
/// Python's part: what values look like, completion, `IPython.display`.
const NOTEBOOK: &str = include_str!("notebook.py");
/// The modules that scripts import it by.
const MODULES: [(&str, &str); 3] =
    [("_notebook", NOTEBOOK), ("IPython", "from _notebook import get_ipython\n"), ("IPython.display", "from _notebook import *\n")];

/// What this kernel is.
pub fn about() -> KernelInfoReply {
    KernelInfoReply {
        status: ReplyStatus::Ok,
        protocol_version: "5.3".into(),
        implementation: "aludel".into(),
        implementation_version: env!("CARGO_PKG_VERSION").into(),
        language_info: LanguageInfo {
            name: "python".into(),
            version: "3.12.0".into(),
            mimetype: Some("text/x-python".into()),
            file_extension: Some(".py".into()),
            pygments_lexer: Some("ipython3".into()),
            codemirror_mode: Some(CodeMirrorMode::ipython_code_mirror_mode()),
            nbconvert_exporter: Some("python".into()),
        },
        banner: format!("Aludel {}: PyTorch scripts without Python", env!("CARGO_PKG_VERSION")),
        help_links: Vec::new(),
        debugger: false,
        error: None,
    }
}

/// Lines that somebody types, or that nobody will.
struct Keyboard {
    lines: Receiver<InputReply>,
    interrupt: std::sync::Arc<AtomicBool>,
}

impl Keyboard {
    /// `None` where somebody interrupts first.
    fn line(&self) -> Option<InputReply> {
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(reply) => return Some(reply),
                Err(RecvTimeoutError::Timeout) if self.interrupt.load(Ordering::SeqCst) => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// One notebook.
pub struct Session {
    vm: Vm,
    is_compiled: bool,
    wire: Wire,
    keyboard: Rc<Keyboard>,
    listener: Rc<Listener>,
    /// The cells so far.
    history: Vec<(usize, String)>,
    /// What came before it was its turn.
    waiting: VecDeque<JupyterMessage>,
    /// Whether the present request may ask for input.
    may_ask: Rc<std::cell::Cell<bool>>,
}

impl Session {
    /// A machine on a device.
    ///
    /// # Errors
    ///
    /// A fault in Python's part.
    pub fn new(device: Device, is_compiled: bool, mut wire: Wire) -> Result<Session> {
        let listener = Listener::new(wire.out.clone());
        let lines = std::mem::replace(&mut wire.lines, std::sync::mpsc::channel().1);
        let keyboard = Rc::new(Keyboard { lines, interrupt: wire.interrupt.clone() });
        let may_ask = Rc::new(std::cell::Cell::new(false));
        let (asks, types, speaks) = (may_ask.clone(), keyboard.clone(), listener.clone());
        let line = Box::new(move || {
            if !asks.get() {
                return None;
            }
            speaks.ask(InputRequest { prompt: String::new(), password: false });
            types.line()
        });
        let mut vm = Vm::new(Box::new(NotebookHost::new(listener.clone(), line, wire.interrupt.clone())));
        vm.path.extend(crate::script::python_path());
        aludel_torch::install(&mut vm, device);
        for (name, text) in MODULES {
            vm.add_python_module(name, text);
        }
        if is_compiled {
            capture::compile(&mut vm, capture::Options::default(), false);
        }
        let mut session = Session { vm, is_compiled, wire, keyboard, listener, history: Vec::new(), waiting: VecDeque::new(), may_ask };
        let begun = session.vm.load_main("<notebook>", "import _notebook\ndel _notebook\n");
        let begun = begun.and_then(|()| session.drive());
        begun.map_err(|e| Error::invalid("the notebook's module", session.vm.format_exception(&e), "report this"))?;
        Ok(session)
    }

    /// Answers until it is told to end.
    pub fn serve(mut self) {
        self.listener.publish(Status::starting());
        while let Some(message) = self.waiting.pop_front().or_else(|| self.wire.requests.recv().ok()) {
            *self.listener.parent.borrow_mut() = Some(message.clone());
            self.listener.publish(Status::busy());
            let is_last = self.answer(message);
            self.listener.publish(Status::idle());
            if is_last {
                break;
            }
        }
        self.wire.flush();
    }

    /// Answers a request; whether it was the last one.
    fn answer(&mut self, message: JupyterMessage) -> bool {
        match message.content {
            Content::ExecuteRequest(request) => self.execute(&request),
            Content::KernelInfoRequest(_) => self.listener.reply(about()),
            Content::IsCompleteRequest(request) => self.listener.reply(match cell::is_whole(&request.code) {
                Whole::Complete => IsCompleteReply::complete(),
                Whole::Incomplete(indent) => IsCompleteReply::incomplete(indent),
                Whole::Invalid => IsCompleteReply::invalid(),
            }),
            Content::CompleteRequest(request) => {
                let reply = self.complete(&request.code, request.cursor_pos);
                self.listener.reply(reply);
            }
            Content::InspectRequest(request) => {
                let reply = self.inspect(&request.code, request.cursor_pos);
                self.listener.reply(reply);
            }
            Content::HistoryRequest(request) => self.listener.reply(HistoryReply::new(self.past(&request))),
            Content::CommInfoRequest(_) => {
                self.listener.reply(CommInfoReply { status: ReplyStatus::Ok, comms: HashMap::new(), error: None });
            }
            // There are no widgets here.
            Content::CommOpen(open) => self.listener.publish(CommClose { comm_id: open.comm_id, data: Default::default() }),
            Content::ShutdownRequest(request) => {
                let reply = ShutdownReply { restart: request.restart, status: ReplyStatus::Ok, error: None };
                self.listener.reply(reply.clone());
                self.listener.publish(reply);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Runs a cell, shows what came of it, and answers.
    fn execute(&mut self, request: &ExecuteRequest) {
        // What was interrupted before is over.
        self.wire.interrupt.store(false, Ordering::SeqCst);
        self.vm.interrupt = false;
        self.may_ask.set(request.allow_stdin);
        self.listener.is_silent.set(request.silent);
        if request.store_history && !request.silent {
            self.listener.count.set(self.listener.count.get() + 1);
            self.history.push((self.listener.count.get(), request.code.clone()));
        }
        let count = ExecutionCount::new(self.listener.count.get());
        if !request.silent {
            self.listener.publish(ExecuteInput { code: request.code.clone(), execution_count: count });
        }
        let outcome = self.run_cell(&request.code);
        // Figures that are open are shown, also after an error; one in showing them is told if the cell itself had none.
        let shown = self.call("_close", Vec::new()).map(drop).map_err(|e| self.told(&e));
        let outcome = outcome.and(shown);
        self.may_ask.set(false);
        match outcome {
            Ok(()) => {
                let expressions = request.user_expressions.iter().flatten();
                let values = expressions.map(|(name, text)| (name.clone(), self.evaluate(text))).collect();
                self.listener.reply(ExecuteReply { execution_count: count, user_expressions: Some(values), ..ExecuteReply::default() });
            }
            Err(error) => {
                let ReplyError { ename, evalue, traceback } = error.clone();
                self.listener.publish(ErrorOutput { ename, evalue, traceback });
                let error = Some(Box::new(error));
                self.listener.reply(ExecuteReply { status: ReplyStatus::Error, execution_count: count, error, ..ExecuteReply::default() });
                if request.stop_on_error {
                    self.abort();
                }
            }
        }
    }

    fn run_cell(&mut self, code: &str) -> std::result::Result<(), ReplyError> {
        let cell = cell::read(code).map_err(|why| {
            let (ename, evalue) = why.split_once(": ").unwrap_or(("UsageError", &why));
            ReplyError { ename: ename.into(), evalue: evalue.into(), traceback: vec![why.clone()] }
        })?;
        let file = format!("<cell {}>", self.listener.count.get());
        let start = Instant::now();
        let value = self.vm.load_cell(&file, &cell.text).and_then(|()| self.drive()).map_err(|e| self.told(&e))?;
        if self.is_compiled {
            capture::finish(&mut self.vm).map_err(|e| ReplyError {
                ename: "RuntimeError".into(),
                evalue: e.to_string(),
                traceback: vec![format!("RuntimeError: {e}")],
            })?;
        }
        if !matches!(value, Value::None) && !cell.is_quiet {
            self.call("_result", vec![value]).map_err(|e| self.told(&e))?;
        }
        if cell.is_timed {
            let text = format!("Wall time: {:.3} s\n", start.elapsed().as_secs_f64());
            self.vm.write(aludel_python::host::Stream::Out, &text);
        }
        Ok(())
    }

    /// Runs what is loaded to its end, and gives its value.
    fn drive(&mut self) -> std::result::Result<Value, Value> {
        let mut outcome = aludel_torch::advance(&mut self.vm, FUEL);
        loop {
            self.vm.interrupt |= self.wire.interrupt.swap(false, Ordering::SeqCst);
            outcome = match outcome {
                Outcome::Done(value) => return Ok(value),
                Outcome::Error(error) => return Err(error),
                Outcome::OutOfFuel => aludel_torch::advance(&mut self.vm, FUEL),
                Outcome::Await(token) if token.is::<Asked>() => self.input(),
                Outcome::Await(token) => pollster::block_on(aludel_torch::resume(&mut self.vm, token, FUEL)),
            };
        }
    }

    /// Gives `input()` its line.
    fn input(&mut self) -> Outcome {
        if !self.may_ask.get() {
            let why = "input() was called, but this front end takes none";
            return aludel_torch::raise(&mut self.vm, Kind::RuntimeError, why, FUEL);
        }
        self.listener.ask(InputRequest { prompt: String::new(), password: false });
        match self.keyboard.line() {
            Some(reply) => aludel_torch::answer(&mut self.vm, Some(&reply.value), FUEL),
            None => {
                self.wire.interrupt.store(false, Ordering::SeqCst);
                aludel_torch::raise(&mut self.vm, Kind::KeyboardInterrupt, "", FUEL)
            }
        }
    }

    /// An exception as Jupyter has it.
    fn told(&mut self, error: &Value) -> ReplyError {
        let text = self.vm.format_exception(error);
        let ename = self.vm.type_name(error);
        // Of the last line, or the last lines, that begin with the exception's name.
        let said = text.rmatch_indices(&format!("{ename}: ")).find(|(at, _)| *at == 0 || text[..*at].ends_with(['\n', '.']));
        let evalue = said.map_or(String::new(), |(at, found)| text[at + found.len()..].trim_end().to_string());
        ReplyError { ename, evalue, traceback: text.trim_end().lines().map(str::to_string).collect() }
    }

    /// Calls a function of `notebook.py`.
    fn call(&mut self, name: &str, args: Vec<Value>) -> std::result::Result<Value, Value> {
        let function = match self.vm.modules.get("_notebook") {
            Some(Value::Module(module)) => module.attrs.get(name).unwrap_or(Value::None),
            _ => Value::None,
        };
        self.vm.start_call(function, args);
        self.drive()
    }

    /// What waits behind a cell that failed is not run.
    fn abort(&mut self) {
        let held = std::mem::take(&mut self.waiting);
        let waiting: Vec<JupyterMessage> = held.into_iter().chain(self.wire.requests.try_iter()).collect();
        let parent = self.listener.parent.borrow().clone();
        for message in waiting {
            if !matches!(message.content, Content::ExecuteRequest(_)) {
                self.waiting.push_back(message);
                continue;
            }
            *self.listener.parent.borrow_mut() = Some(message);
            self.listener.publish(Status::busy());
            let count = ExecutionCount::new(self.listener.count.get());
            self.listener.reply(ExecuteReply { status: ReplyStatus::Aborted, execution_count: count, ..ExecuteReply::default() });
            self.listener.publish(Status::idle());
        }
        *self.listener.parent.borrow_mut() = parent;
    }

    /// The value of an expression that a front end wants beside the cell's.
    fn evaluate(&mut self, text: &str) -> ExpressionResult {
        let outcome = self.vm.load_cell("<expression>", text).and_then(|()| self.drive());
        let shown = outcome.and_then(|value| self.call("_plain", vec![value]));
        match shown {
            Ok(text) => {
                let text = text.as_str().unwrap_or_default();
                let data = media(&serde_json::json!({ "text/plain": text })).unwrap_or_default();
                ExpressionResult::Ok { data, metadata: Default::default() }
            }
            Err(error) => {
                let ReplyError { ename, evalue, traceback } = self.told(&error);
                ExpressionResult::Error { ename, evalue, traceback }
            }
        }
    }

    /// Names that what stands before the cursor may go on with. `cursor` counts characters.
    fn complete(&mut self, code: &str, cursor: usize) -> CompleteReply {
        let before: String = code.chars().take(cursor).collect();
        let found = self.call("_complete", vec![Value::str(before)]).unwrap_or_default();
        let found = self.vm.items_of(&found).unwrap_or_default();
        let typed = found.first().and_then(Value::to_i64).unwrap_or(0).max(0) as usize;
        let matches = found.iter().skip(1).filter_map(|name| name.as_str().map(str::to_string)).collect();
        let cursor_start = cursor.saturating_sub(typed);
        CompleteReply { matches, cursor_start, cursor_end: cursor, metadata: Default::default(), status: ReplyStatus::Ok, error: None }
    }

    /// What is known of the name at the cursor.
    fn inspect(&mut self, code: &str, cursor: usize) -> InspectReply {
        let place = Value::from(code.chars().take(cursor).count());
        let found = self.call("_inspect", vec![Value::str(code), place]).unwrap_or_default();
        let data = found.as_str().and_then(|text| media(&serde_json::json!({ "text/plain": text })));
        InspectReply {
            found: data.is_some(),
            data: data.unwrap_or_default(),
            metadata: Default::default(),
            status: ReplyStatus::Ok,
            error: None,
        }
    }

    fn past(&self, request: &HistoryRequest) -> Vec<HistoryEntry> {
        let entry = |(n, code): &(usize, String)| HistoryEntry::Input(0, *n, code.clone());
        match request {
            HistoryRequest::Tail { n, .. } => {
                let kept = usize::try_from(*n).unwrap_or(0);
                self.history[self.history.len().saturating_sub(kept)..].iter().map(entry).collect()
            }
            HistoryRequest::Range { start, stop, .. } => {
                let within = |n: usize| n as i64 >= i64::from(*start) && (*stop <= 0 || (n as i64) < i64::from(*stop));
                self.history.iter().filter(|(n, _)| within(*n)).map(entry).collect()
            }
            HistoryRequest::Search { pattern, n, .. } => {
                let wanted = pattern.trim_matches('*');
                let found: Vec<_> = self.history.iter().filter(|(_, code)| code.contains(wanted)).collect();
                let kept = usize::try_from(*n).unwrap_or(0);
                found[found.len().saturating_sub(kept)..].iter().map(|e| entry(e)).collect()
            }
        }
    }
}
