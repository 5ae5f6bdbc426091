//! One connection: a greeting, then requests in order, each answered or refused, while reports flow the other way.
//!
//! Reading and writing are two tasks. What is to be written waits in a [`Mailbox`], where reports melt into one; when as many answers wait
//! as a client may leave unread, no more requests are read. So a client that never reads costs a connection and, until others want it, the
//! memory of what it was to read.

use super::budget::{Budget, LOOK, Pace, Share};
use super::dialect::{Dialect, Heard, Work};
use super::gate::{Gate, Key};
use super::limits::reason;
use super::server::Server;
use super::session::{Letter, Mailbox, Say, Session};
use super::training::Command;
use aludel_protocol::remote::{REMOTE_VERSION, Refusal, ServerMessage};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::collections::VecDeque;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, interval, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error as SocketError};
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// Who does not introduce itself in this time is let go.
const GREETING: Duration = Duration::from_secs(10);
/// A connection is asked this often whether it is still there, and given up when nothing was heard, or could be sent, for so long.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 90 });
/// Bytes that arrive at least in that time of a message that goes on.
const SLOWEST: u64 = 64 << 10;
/// The last message has so long to be read.
const PARTING: Duration = Duration::from_secs(2);
/// A client may send so many pings at once, and one more each [`PING_PERIOD`]: each is answered, whether it reads or not.
const MOST_PINGS: f64 = 100.0;
const PING_PERIOD: Duration = Duration::from_millis(100);
/// So many answers may wait to be read.
const MOST_UNREAD: usize = 32;
/// So many requests wait while a graph is compiled.
const MOST_WAITING: usize = 16;

/// A session that was ended is gone in this time, with its process.
const LEAVING: Duration = Duration::from_secs(5);
/// Bytes of a line of input for a script.
const LINE: usize = 64 << 10;
/// A script's report is there as it is, as text, and on its way.
pub const REPORT_COPIES: u64 = 3;
/// Bytes of a frame that is sent.
const FRAGMENT: usize = 64 << 10;
/// Bytes of a message that is not decoded in passing.
const LARGE: usize = 1 << 20;

type Creating = Pin<Box<dyn Future<Output = Result<Arc<Session>, Refusal>> + Send>>;

struct Connection {
    server: Arc<Server>,
    client: IpAddr,
    /// Its client's part of the memory for messages.
    budget: Arc<Budget>,
    dialect: Dialect,
    mailbox: Arc<Mailbox>,
    session: Option<(Arc<Session>, u64)>,
    /// The one before, which may not have gone yet.
    ending: Weak<Session>,
    /// Dropped, nothing is left of the session that was to be.
    creating: Option<Creating>,
    /// Requests that came while a session was being made, and what they take of the memory.
    waiting: VecDeque<(Heard, Vec<Share>)>,
}

/// Serves a connection until it ends.
pub async fn serve<S>(server: Arc<Server>, dialect: Dialect, client: IpAddr, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    server.metrics.connections.inc();
    let budget = server.budget_of(client);
    let (gate, key) = Gate::new(stream, (*budget).clone(), server.bounds.wire.message_bytes);
    let most = usize::try_from(server.bounds.wire.message_bytes).unwrap_or(usize::MAX);
    let config = WebSocketConfig::default().read_buffer_size(16 << 10).max_message_size(Some(most)).max_frame_size(Some(most));
    let socket = WebSocketStream::from_raw_socket(gate, Role::Server, Some(config)).await;
    let (sink, mut stream) = socket.split();
    let mailbox = Arc::new(Mailbox::default());
    let writer = tokio::spawn(write(sink, dialect, mailbox.clone(), budget.clone()));
    let mut connection = Connection {
        server: server.clone(),
        client,
        budget,
        dialect,
        mailbox: mailbox.clone(),
        session: None,
        ending: Weak::new(),
        creating: None,
        waiting: VecDeque::new(),
    };
    let slot = server.connect(client);
    let outcome = match &slot {
        Ok(_) => connection.talk(&mut stream, &key).await,
        Err(refusal) => Err(Some(refusal.clone())),
    };
    if let Err(Some(refusal)) = outcome {
        connection.refuse(refusal);
    }
    connection.leave();
    mailbox.close();
    // The last words get out, or not; what the client still says is not heard.
    key.discard();
    let abort = writer.abort_handle();
    let parting = async { tokio::join!(writer, timeout(PARTING, async { while stream.next().await.is_some() {} })) };
    if timeout(GREETING, parting).await.is_err() {
        abort.abort();
    }
    drop(slot);
    server.metrics.connections.dec();
}

/// Sends what lies in the mailbox, and asks now and then whether anybody is there.
async fn write<S>(mut sink: SplitSink<WebSocketStream<S>, Message>, dialect: Dialect, mailbox: Arc<Mailbox>, budget: Arc<Budget>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut ping = interval(PING);
    loop {
        // The shares are given back when the message is gone.
        while let Some(Letter { message, shares }) = mailbox.take() {
            let is_large = matches!(
                message,
                Say::Session(ServerMessage::State { .. } | ServerMessage::Inspected(_)) | Say::Report(_) | Say::Regions(_)
            );
            let Some(message) = unhurried(is_large, || dialect.write(message)) else { continue };
            if !send(&mut sink, message, &shares, &mailbox, &budget).await {
                mailbox.close();
                return;
            }
        }
        if mailbox.is_closed() {
            let _ = timeout(GREETING, sink.close()).await;
            return;
        }
        tokio::select! {
            () = mailbox.arrived() => {}
            _ = ping.tick() => {
                if !matches!(timeout(SILENCE, sink.send(Message::Ping(Bytes::new()))).await, Ok(Ok(()))) {
                    mailbox.close();
                    return;
                }
            }
        }
    }
}

/// Sends a message; false where nobody reads it, or too slowly for others who wait for its memory.
async fn send<S>(
    sink: &mut SplitSink<WebSocketStream<S>, Message>,
    message: Message,
    shares: &[Share],
    mailbox: &Mailbox,
    budget: &Arc<Budget>,
) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let held = shares.iter().map(Share::bytes).sum();
    let (mut pace, mut moved) = (Pace::new((**budget).clone()), 0);
    // Another has taken its place: what this one does not read does not stay.
    let taken_over = async {
        mailbox.closed().await;
        tokio::time::sleep(PARTING).await
    };
    tokio::pin!(taken_over);
    for frame in frames(message) {
        let length = frame.len() as u64;
        let end = Instant::now() + SILENCE;
        let sending = sink.send(frame);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                biased;
                sent = &mut sending => match sent {
                    Ok(()) => break,
                    Err(_) => return false,
                },
                () = &mut taken_over => return false,
                () = tokio::time::sleep(LOOK) => {
                    if Instant::now() >= end || pace.stands(held, moved, Instant::now()) {
                        return false;
                    }
                }
            }
        }
        moved += length;
        if pace.stands(held, moved, Instant::now()) {
            return false;
        }
    }
    true
}

/// The frames that a message is sent as. Large ones are several: the socket keeps a buffer as large as the largest frame that it sent.
fn frames(message: Message) -> impl Iterator<Item = Message> {
    let (first, data) = match &message {
        Message::Binary(bytes) if bytes.len() > FRAGMENT => (Data::Binary, bytes.clone()),
        Message::Text(text) if text.len() > FRAGMENT => (Data::Text, text.clone().into()),
        _ => (Data::Continue, Bytes::new()),
    };
    let pieces = (0..data.len()).step_by(FRAGMENT).map(move |at| {
        let end = data.len().min(at + FRAGMENT);
        let code = if at == 0 { first } else { Data::Continue };
        Message::Frame(Frame::message(data.slice(at..end), OpCode::Data(code), end == data.len()))
    });
    let whole = matches!(first, Data::Continue).then_some(message);
    whole.into_iter().chain(pieces)
}

fn starved() -> Refusal {
    Refusal::Busy { message: "the memory for messages is taken; send it later, or less of it".into() }
}

fn overtaken() -> Refusal {
    Refusal::Busy { message: "this message hardly arrives, and others wait for its memory; send it later, or faster".into() }
}

/// What ends a connection: a refusal to be sent first, or nothing to be said.
type End = Option<Refusal>;

impl Connection {
    async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut SplitStream<WebSocketStream<S>>,
        key: &Key,
    ) -> Result<(), End> {
        let greeting = timeout(GREETING, next(self.dialect, stream)).await.map_err(|_| {
            self.server.refused("timeout");
            None
        })??;
        self.greet(greeting).await?;
        key.open();
        let mut stopping = self.server.stopping.subscribe();
        let (mut heard, mut read, mut pings) = (Instant::now(), key.read(), 0.0);
        let mut pace = Pace::new((*self.budget).clone());
        loop {
            let holds = key.held();
            if pace.stands(holds, key.read(), Instant::now()) {
                return Err(Some(overtaken()));
            }
            while self.creating.is_none()
                && self.session.as_ref().is_none_or(|(s, _)| s.takes_requests())
                && let Some((message, shares)) = self.waiting.pop_front()
            {
                self.answer(message, shares);
            }
            let unread = self.mailbox.len();
            let asks = self.session.as_ref().is_none_or(|(s, _)| s.takes_requests());
            // One job that waits is as many as anybody needs.
            let room = self.waiting.len() < MOST_WAITING && !self.waiting.iter().any(|(m, _)| matches!(m, Heard::Create(_)));
            let reads = unread < MOST_UNREAD && room && asks;
            tokio::select! {
                frame = stream.next(), if reads => {
                    if matches!(frame, Some(Ok(Message::Ping(_)))) {
                        pings = (pings - heard.elapsed().div_duration_f64(PING_PERIOD)).max(0.0) + 1.0;
                        if pings > MOST_PINGS {
                            return Err(Some(Refusal::Malformed { message: "too many pings".into() }));
                        }
                    }
                    heard = Instant::now();
                    let unpacked = match self.room(&frame) {
                        Ok(share) => share,
                        Err(refusal) => {
                            drop(key.taken());
                            self.refuse(refusal);
                            continue;
                        }
                    };
                    match frame_message(self.dialect, frame)? {
                        None => {}
                        Some(message) => match (message, key.taken().into_iter().chain(unpacked).collect()) {
                            (Heard::Cancel, _) => self.cancel(),
                            (message, shares) if self.creating.is_some() => self.waiting.push_back((message, shares)),
                            (message, shares) => self.answer(message, shares),
                        },
                    }
                }
                made = async { match &mut self.creating { Some(c) => c.await, None => std::future::pending().await } } => {
                    self.creating = None;
                    self.created(made);
                }
                // Answers are read meanwhile, or this connection ends.
                () = tokio::time::sleep(Duration::from_millis(50)), if !reads && heard.elapsed() < SILENCE => {}
                () = key.weighed(), if holds == 0 => {}
                () = tokio::time::sleep(LOOK), if reads && holds > 0 => {}
                // A large message may take long, as long as it arrives.
                () = sleep_until(heard + SILENCE) => {
                    if key.read() < read + SLOWEST {
                        return Err(None);
                    }
                    (heard, read) = (Instant::now(), key.read());
                }
                () = self.mailbox.closed() => return Ok(()),
                () = key.starved() => {
                    return Err(Some(starved()));
                }
                _ = stopping.wait_for(|s| *s) => {
                    self.mailbox.post(ServerMessage::Failed { message: "the server is ending".into() });
                    return Ok(());
                }
            }
            if self.mailbox.is_closed() {
                return Ok(());
            }
        }
    }

    async fn greet(&mut self, message: Heard) -> Result<(), End> {
        let Heard::Hello { version, token, resume } = message else {
            return Err(Some(Refusal::Malformed { message: "a connection begins with Hello".into() }));
        };
        if version != REMOTE_VERSION {
            return Err(Some(Refusal::Version { server: REMOTE_VERSION }));
        }
        if !self.server.secret.admits(token.as_deref()) {
            if token.is_some() {
                tokio::time::sleep(self.server.secret.penalty(self.client)).await;
            }
            return Err(Some(Refusal::Token));
        }
        let session = match &resume {
            Some(key) => {
                self.server.ready().await;
                // Of the other language it says nothing that this client understands.
                self.server.session(key).filter(|s| s.is_script == (self.dialect == Dialect::Scripts))
            }
            None => None,
        };
        let missing = resume.is_some() && session.is_none();
        let welcome = |resumed| ServerMessage::Welcome {
            version: REMOTE_VERSION,
            server: format!("aludel {}", env!("CARGO_PKG_VERSION")),
            devices: self.server.offers.iter().map(|o| o.device.clone()).collect(),
            limits: self.server.bounds.wire,
            resumed,
        };
        match session {
            Some(session) => {
                let share = match session.is_script {
                    // Once here, once as text, and once more on its way.
                    true => self.budget.wait_for_answer(session.made().saturating_mul(REPORT_COPIES)).await,
                    false => None,
                };
                let told = !session.is_script || share.is_some();
                let id = session.attach(&self.mailbox, share, |resumed| welcome(Some(resumed)));
                if !told {
                    let message = "other messages are on their way: figures and files of this script are left out".into();
                    self.refuse(Refusal::Busy { message });
                }
                self.session = Some((session, id));
            }
            None => self.mailbox.post(welcome(None)),
        }
        if missing {
            self.refuse(Refusal::NoSession);
        }
        Ok(())
    }

    /// Of the memory for messages, what this one takes beside the bytes that it came in, before it takes it.
    fn room(&self, frame: &Option<Result<Message, SocketError>>) -> Result<Option<Share>, Refusal> {
        let Some(Ok(frame)) = frame else { return Ok(None) };
        if frame.len() <= LARGE {
            return Ok(None);
        }
        match unhurried(true, || self.dialect.unpacked(frame)) {
            0 => Ok(None),
            bytes => self.budget.take(bytes).map(Some).ok_or_else(starved),
        }
    }

    fn answer(&mut self, message: Heard, shares: Vec<Share>) {
        let message = match message {
            Heard::Hello { .. } => return self.refuse(Refusal::Malformed { message: "a second Hello".into() }),
            Heard::Create(work) => {
                if self.session.is_some() {
                    self.cancel();
                }
                return self.create(*work, shares);
            }
            Heard::Cancel if self.session.is_some() => return self.cancel(),
            message => message,
        };
        let Some((session, _)) = &self.session else { return self.refuse(Refusal::NoSession) };
        let command = match message {
            // Answers may be large, and long in coming: there is one of each on its way at most.
            Heard::Fetch => session.begin_fetch().map(Command::Fetch),
            Heard::Inspect => session.begin_inspection().map(Command::Inspect),
            Heard::Command(command) => Some(command),
            Heard::Hello { .. } | Heard::Create(_) | Heard::Cancel => None,
        };
        let Some(command) = command else { return };
        match &command {
            Command::Answer(Some(line)) if line.len() > LINE => {
                let (value, limit) = (line.len() as u64, LINE as u64);
                return self.refuse(Refusal::Limit { what: "bytes of a line of input".into(), value, limit });
            }
            Command::Run { steps: Some(n) } if *n > self.server.bounds.wire.steps => {
                return self.refuse(Refusal::Limit { what: "steps".into(), value: *n, limit: self.server.bounds.wire.steps });
            }
            _ => {}
        }
        if session.is_cancelled() {
            return self.refuse(Refusal::NoSession);
        }
        if !session.ask(command) {
            self.refuse(Refusal::Busy { message: "this session has more requests than it can answer".into() });
        }
    }

    fn create(&mut self, work: Work, shares: Vec<Share>) {
        let (server, client, before) = (self.server.clone(), self.client, std::mem::take(&mut self.ending));
        self.creating = Some(Box::pin(async move {
            // The place of the one before is this one's.
            let gone = async {
                while before.strong_count() > 0 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let _ = timeout(LEAVING, gone).await;
            server.create(work, shares, client).await
        }));
    }

    fn created(&mut self, made: Result<Arc<Session>, Refusal>) {
        match made {
            Ok(session) => {
                let id = session.attach(&self.mailbox, None, |r| ServerMessage::Created { session: r.session, pane: r.pane });
                self.session = Some((session, id));
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Ends the session, or what was to become one.
    fn cancel(&mut self) {
        self.waiting.clear();
        self.creating = None;
        if let Some((session, _)) = self.session.take() {
            self.server.end(&session);
            self.ending = Arc::downgrade(&session);
        }
    }

    /// The connection is gone; its session trains on.
    fn leave(&mut self) {
        self.creating = None;
        if let Some((session, id)) = self.session.take() {
            session.detach(id);
        }
    }

    fn refuse(&self, refusal: Refusal) {
        let reason = reason(&refusal);
        self.server.refused(reason);
        tracing::info!(client = %self.client, reason, "a request is refused");
        self.mailbox.post(ServerMessage::Refused(refusal));
    }
}

async fn next<S: AsyncRead + AsyncWrite + Unpin>(dialect: Dialect, stream: &mut SplitStream<WebSocketStream<S>>) -> Result<Heard, End> {
    loop {
        if let Some(message) = frame_message(dialect, stream.next().await)? {
            return Ok(message);
        }
    }
}

/// Work that may take a while is moved out of the way of other connections.
fn unhurried<T>(long: bool, work: impl FnOnce() -> T) -> T {
    if long { tokio::task::block_in_place(work) } else { work() }
}

/// The message of a frame; `None` for what the protocol below sends for itself.
fn frame_message(dialect: Dialect, frame: Option<Result<Message, SocketError>>) -> Result<Option<Heard>, End> {
    match frame {
        Some(Ok(frame @ (Message::Binary(_) | Message::Text(_)))) => {
            let read = unhurried(frame.len() > LARGE, || dialect.read(&frame)).unwrap_or_else(|| Err(dialect.frames().into()));
            read.map(Some).map_err(|message| Some(Refusal::Malformed { message }))
        }
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(None),
        Some(Ok(Message::Close(_))) | None => Err(None),
        Some(Err(SocketError::Capacity(CapacityError::MessageTooLong { size, max_size }))) => {
            Err(Some(Refusal::Limit { what: "bytes of a message".into(), value: size as u64, limit: max_size as u64 }))
        }
        Some(Err(SocketError::Protocol(e))) => Err(Some(Refusal::Malformed { message: e.to_string() })),
        Some(Err(SocketError::Utf8(e))) => Err(Some(Refusal::Malformed { message: e })),
        Some(Err(_)) => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Args;
    use crate::serve::metrics::Metrics;
    use crate::serve::origin::Origins;
    use crate::serve::secret::Secret;
    use aludel_protocol::Pane;
    use aludel_protocol::remote::{ClientMessage, Job, TensorData};
    use aludel_protocol::{decode, encode};
    use tokio::io::{AsyncWriteExt, DuplexStream};
    use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn server(dir: &std::path::Path) -> Arc<Server> {
        let Line { args } = clap::Parser::parse_from(["serve", "--no-token"]);
        let metrics = Arc::new(Metrics::new().expect("metrics"));
        let origins = Origins::new(&[], false).expect("no origins");
        let server = Server::new(&args, args.terms(dir), (Secret::default(), String::new()), origins, vec![], metrics, None);
        server.set_ready();
        Arc::new(server)
    }

    /// A connection that has greeted, and a job of so many KiB as a frame.
    async fn greeted(server: &Arc<Server>, kib: usize) -> (WebSocketStream<DuplexStream>, Vec<u8>) {
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(serve(server.clone(), Dialect::Graphs, IpAddr::from([127, 0, 0, 1]), far));
        let mut socket = WebSocketStream::from_raw_socket(near, Role::Client, None).await;
        let hello = encode(&ClientMessage::Hello { version: REMOTE_VERSION, token: None, resume: None }).expect("a message");
        socket.send(Message::Binary(hello.into())).await.expect("it is sent");
        assert!(matches!(said(&mut socket).await, Some(ServerMessage::Welcome { .. })));
        let column = TensorData { dtype: aludel::DType::F32, shape: vec![kib as u32, 256], bytes: vec![0; kib << 10] };
        let job = Job {
            name: "slow".into(),
            device: 9,
            pane: Pane::Compiled,
            graph: String::new(),
            feeds: vec![],
            loss: 0,
            columns: vec![column],
            order: vec![],
            batch: 1,
        };
        let job = encode(&ClientMessage::Create(Box::new(job))).expect("a message");
        let header = FrameHeader { opcode: OpCode::Data(Data::Binary), mask: Some([0; 4]), ..FrameHeader::default() };
        let mut bytes = Vec::new();
        Frame::from_payload(header, job.into()).format(&mut bytes).expect("a frame");
        (socket, bytes)
    }

    async fn said(socket: &mut WebSocketStream<DuplexStream>) -> Option<ServerMessage> {
        loop {
            match socket.next().await {
                Some(Ok(Message::Binary(bytes))) => return Some(decode(&bytes).expect("a message")),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Sends pieces with so long between them; false where the connection ends first.
    async fn trickle(socket: &mut WebSocketStream<DuplexStream>, bytes: &[u8], piece: usize, pause: Duration) -> bool {
        for piece in bytes.chunks(piece) {
            tokio::time::sleep(pause).await;
            if socket.get_mut().write_all(piece).await.is_err() {
                return false;
            }
        }
        true
    }

    /// As long as it arrives, a message may take longer than a connection may be silent.
    #[tokio::test]
    async fn a_slow_upload_arrives() {
        let dir = tempfile::tempdir().expect("a directory");
        let server = server(dir.path());
        let (mut socket, bytes) = greeted(&server, 512).await;
        let start = Instant::now();
        assert!(trickle(&mut socket, &bytes, 72 << 10, SILENCE / 3).await);
        assert!(start.elapsed() > 2 * SILENCE);
        assert_eq!(said(&mut socket).await, Some(ServerMessage::Refused(Refusal::NoDevice { device: 9 })));
        assert_eq!(server.budget.taken(), 0);
    }

    /// One that hardly arrives does not keep its part of the memory.
    #[tokio::test]
    async fn an_upload_that_hardly_arrives_ends() {
        let dir = tempfile::tempdir().expect("a directory");
        let server = server(dir.path());
        let (mut socket, bytes) = greeted(&server, 512).await;
        let start = Instant::now();
        assert!(!trickle(&mut socket, &bytes, 1 << 10, SILENCE / 30).await, "it may go on");
        assert!(start.elapsed() < 10 * SILENCE, "{:?}", start.elapsed());
        while server.budget.taken() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(start.elapsed() < 20 * SILENCE, "its memory stays taken");
        }
    }
}
