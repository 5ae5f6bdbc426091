//! A server in a process of its own, and a client of it.

use aludel::{Device, Tensor, compile};
use aludel_models::presets::{Batch, Config, Preset, Source, Train};
use aludel_protocol::remote::*;
use aludel_protocol::{Pane, Progress, decode, encode};
use futures_util::{SinkExt, StreamExt};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Nothing here takes nearly as long; what does hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// For [`Server::start`]: the server makes a token, as it does when nobody tells it otherwise.
pub const WITH_TOKEN: &str = "with a token";

/// A server; killed when dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// What it printed to open.
    pub url: String,
    /// Its directory for temporary files: what it leaves there goes with this.
    _scratch: tempfile::TempDir,
}

impl Server {
    /// On the interpreter unless the arguments name a device, and open unless they say how to get in.
    pub fn start(args: &[&str]) -> Server {
        Server::start_with(args, &[])
    }

    /// Of these arguments and no others, its logs in a file.
    pub fn spawn(args: &[&str], paths: &[(&str, &Path)], log: std::fs::File) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aludel"));
        command.args(args).env_remove("ALUDEL_TOKEN").stderr(log);
        for (name, path) in paths {
            command.arg(name).arg(path);
        }
        Server::run(command)
    }

    pub fn start_with(args: &[&str], env: &[(&str, &str)]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aludel"));
        command.args(["--json", "serve", "--port", "0"]).args(args.iter().filter(|a| **a != WITH_TOKEN));
        if !args.contains(&"--device") {
            command.args(["--device", "interp"]);
        }
        if !args.contains(&"--token") && !args.contains(&WITH_TOKEN) {
            command.arg("--no-token");
        }
        command.env_remove("ALUDEL_TOKEN").env("RUST_LOG", "error").envs(env.iter().copied());
        Server::run(command)
    }

    /// On the interpreter and open, started by a shell that says something first, such as what its processes may have.
    pub fn start_after(shell: &str, args: &[&str]) -> Server {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_aludel")]);
        command.args(["--json", "serve", "--port", "0", "--device", "interp", "--no-token"]).args(args);
        command.env_remove("ALUDEL_TOKEN").env("RUST_LOG", "error");
        Server::run(command)
    }

    fn run(mut command: Command) -> Server {
        let scratch = tempfile::tempdir().expect("a directory");
        if !command.get_envs().any(|(name, _)| name == "TMPDIR") {
            command.env("TMPDIR", scratch.path());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"));
        assert_eq!(event["event"], "listening", "{line}");
        let address = event["address"].as_str().and_then(|a| a.parse().ok()).expect("an address");
        let url = event["url"].as_str().expect("what to open").to_string();
        Server { child, address, url, _scratch: scratch }
    }

    /// Asks it to end, as a person or a supervisor would, and waits.
    pub fn terminate(mut self) {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(ended.success());
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// MiB of memory that it has; with `VmHWM:`, that it had at most.
    pub fn memory(&self, of: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("a server");
        let line = status.lines().find_map(|l| l.strip_prefix(of)).expect("its memory");
        line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") / 1024
    }

    /// The processes of its sessions.
    pub fn workers(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else { continue };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // After the name, in brackets: its state and its parent.
            let mut after = stat.rsplit(')').next().unwrap_or("").split_whitespace();
            if after.next() != Some("Z") && after.next() == Some(&self.id().to_string()) {
                found.push(id);
            }
        }
        found
    }

    /// Asks it to end and gives how long that took, and whether it said that all was well.
    pub fn end(&mut self, signals: &[Duration]) -> (Duration, bool) {
        let start = std::time::Instant::now();
        let mut signals = signals.iter();
        let mut next = signals.next();
        loop {
            if let Some(status) = self.child.try_wait().expect("its status") {
                return (start.elapsed(), status.success());
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            if next.is_some_and(|n| start.elapsed() >= *n) {
                next = signals.next();
                let sent = Command::new("kill").args(["-TERM", &self.id().to_string()]).status().expect("kill runs");
                assert!(sent.success());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// As if the power went.
    pub fn kill(mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("its status").is_none()
    }

    /// The answer to a GET request: the status, the headers and the body.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
        self.request("GET", path, headers)
    }

    /// The answer to a request without a body.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
        let mut stream = std::net::TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(n, _)| *n == "Host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(n, v)| request += &format!("{n}: {v}\r\n"));
        stream.write_all((request + "\r\n").as_bytes()).expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        (status, head.to_ascii_lowercase(), body.to_string())
    }

    /// A metric's value.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let (status, _, body) = self.get("/metrics", &[]);
        assert_eq!(status, 200);
        body.lines().find_map(|l| l.strip_prefix(name)?.trim().parse().ok())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub struct Client {
    pub socket: WebSocketStream<TcpStream>,
}

impl Client {
    pub async fn open(address: SocketAddr, origin: Option<&str>) -> Result<Client, SocketError> {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let mut request = format!("ws://{address}/ws").into_client_request().expect("a request");
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().expect("a header"));
        }
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = client_async_with_config(request, stream, Some(config)).await?;
        Ok(Client { socket })
    }

    /// A connection that has said hello, and what the server answered.
    pub async fn hello(address: SocketAddr, token: Option<&str>, resume: Option<SessionKey>) -> (Client, ServerMessage) {
        let mut client = Client::open(address, None).await.expect("a handshake");
        client.send(&ClientMessage::Hello { version: REMOTE_VERSION, token: token.map(str::to_string), resume }).await;
        let answer = client.receive().await.expect("an answer");
        (client, answer)
    }

    pub async fn connect(address: SocketAddr) -> Client {
        let (client, answer) = Client::hello(address, None, None).await;
        assert!(matches!(answer, ServerMessage::Welcome { version: REMOTE_VERSION, .. }), "{answer:?}");
        client
    }

    pub async fn send(&mut self, message: &ClientMessage) {
        self.send_bytes(encode(message).expect("a message")).await;
    }

    pub async fn send_bytes(&mut self, bytes: Vec<u8>) {
        // The other side may have hung up: what it said last is still to be read.
        let _ = self.socket.send(Message::Binary(bytes.into())).await;
    }

    /// The next message; `None` when the connection ends.
    pub async fn receive(&mut self) -> Option<ServerMessage> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("the server does not hang");
            match frame {
                Some(Ok(Message::Binary(bytes))) => return Some(decode(&bytes).expect("a message")),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn refusal(&mut self) -> Refusal {
        match self.receive().await {
            Some(ServerMessage::Refused(r)) => r,
            other => panic!("a refusal was expected, not {other:?}"),
        }
    }

    /// Why the session failed, after whatever it says until then.
    pub async fn failure(&mut self) -> String {
        loop {
            match self.receive().await.expect("a message") {
                ServerMessage::Failed { message } => return message,
                ServerMessage::Running { .. } | ServerMessage::Progress(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub async fn create(&mut self, job: Job) -> SessionKey {
        self.send(&ClientMessage::Create(Box::new(job))).await;
        match self.receive().await {
            Some(ServerMessage::Created { session, .. }) => session,
            other => panic!("a session was expected, not {other:?}"),
        }
    }

    /// Reports until training pauses: all losses, and the last report.
    pub async fn until_paused(&mut self) -> (Vec<(u64, f32)>, Progress) {
        let (mut losses, mut last) = (Vec::new(), None);
        loop {
            match self.receive().await.expect("a report") {
                ServerMessage::Progress(p) => {
                    losses.extend(&p.losses);
                    last = Some(p);
                }
                ServerMessage::Running { running: false, .. } => return (losses, last.expect("steps were taken")),
                ServerMessage::Running { running: true, .. } => {}
                other => panic!("{} while it trains", kind(&other)),
            }
        }
    }

    /// Takes so many steps, one after another so that every loss is told.
    pub async fn train(&mut self, steps: u64) -> Vec<f32> {
        let mut all = Vec::new();
        for _ in 0..steps {
            self.send(&ClientMessage::Run { steps: Some(1) }).await;
            let (losses, _) = self.until_paused().await;
            assert_eq!(losses.len(), 1);
            all.push(losses[0].1);
        }
        all
    }

    pub async fn state(&mut self) -> (u64, Vec<(String, TensorData)>) {
        self.send(&ClientMessage::FetchState).await;
        loop {
            match self.receive().await.expect("a state") {
                ServerMessage::State { step, tensors } => return (step, tensors),
                ServerMessage::Progress(_) | ServerMessage::Running { .. } => {}
                other => panic!("{} instead of a state", kind(&other)),
            }
        }
    }
}

/// A message without its tensors.
fn kind(message: &ServerMessage) -> String {
    format!("{message:?}").chars().take(200).collect()
}

pub fn digits() -> Config {
    preset(Preset::Digits, &[("layers", "16"), ("batch", "16"), ("optimizer", "adamw"), ("lr", "0.01")])
}

/// A preset with some of its fields set.
pub fn preset(preset: Preset, fields: &[(&str, &str)]) -> Config {
    let fields: Vec<(String, String)> = fields.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Config::from_fields(preset, &fields).expect("a preset")
}

/// What a page would send for a preset: some steps' worth of data, its order beginning anew after that.
pub fn job(config: &Config, pane: Pane, steps: u64) -> Job {
    let device = Device::interpreter();
    let mut train = Train::new(config, &device).expect("a model");
    let mut source = Source::new(config);
    let exported = compile(|s: &mut Train, b: &Batch| s.step(b))
        .named("step")
        .export(&mut train, &source.batch(0, &device).expect("a batch"))
        .expect("a graph");
    let mut columns: [Vec<u8>; 2] = Default::default();
    let mut shapes = [Vec::new(), Vec::new()];
    let mut dtypes = [aludel_ir::DType::F32; 2];
    let mut rows = 0;
    for k in 0..steps {
        let (x, y) = source.batch(k, &device).expect("a batch");
        rows += x.shape()[0];
        for (i, t) in [x, y].iter().enumerate() {
            columns[i].extend(pollster::block_on(t.to_le_bytes_async()).expect("bytes"));
            (shapes[i], dtypes[i]) = (t.shape(), t.dtype());
        }
    }
    let column = |i: usize| TensorData {
        dtype: dtypes[i],
        shape: std::iter::once(rows).chain(shapes[i][1..].iter().copied()).map(|d| d as u32).collect(),
        bytes: columns[i].clone(),
    };
    Job {
        name: "digits".into(),
        device: 0,
        pane,
        graph: aludel_ir::text::print_graph(&exported.graph),
        feeds: pollster::block_on(Feed::of(&exported)).expect("feeds"),
        loss: exported.results[0].expect("a loss") as u32,
        columns: vec![column(0), column(1)],
        order: (0..rows as u32).collect(),
        batch: config.batch as u32,
    }
}

/// The losses of the same steps here, and the parameters' first tensor afterwards.
pub fn local(config: &Config, pane: Pane, device: &Device, steps: u64) -> Vec<f32> {
    let mut train = Train::new(config, device).expect("a model");
    let mut source = Source::new(config);
    let step = compile(|s: &mut Train, b: &Batch| s.step(b)).named("step");
    (0..steps)
        .map(|k| {
            let batch = source.batch(k, device).expect("a batch");
            let loss: Tensor = match pane {
                Pane::Eager => train.step(&batch).expect("a step"),
                Pane::Compiled => step.call(&mut train, &batch).expect("a step"),
            };
            loss.item().expect("a loss") as f32
        })
        .collect()
}

/// A job of one graph that takes `x` of a type and gives a loss.
pub fn graph_job(pane: Pane, graph: &str) -> Job {
    Job {
        name: "g".into(),
        device: 0,
        pane,
        graph: graph.into(),
        feeds: vec![Feed::Constant(TensorData { dtype: aludel_ir::DType::F32, shape: vec![2], bytes: vec![0; 8] })],
        loss: 0,
        columns: vec![],
        order: vec![],
        batch: 0,
    }
}

/// A product of squares of this size at every step, whose result the loss does not read: steps as long as one likes.
pub fn heavy(n: usize) -> Job {
    let text = format!(
        "graph g(state %m: f32[{n}, {n}], %x: f32[2]) {{\n%p = matmul(%m, %m) : f32[{n}, {n}]\n%q = mul(%p, other=0.5) : f32[{n}, {n}]\n\
         %s = sum(%x) : f32[]\nreturn %s, state %m <- %q }}"
    );
    let mut job = graph_job(Pane::Compiled, &text);
    job.feeds.insert(0, Feed::State(TensorData { dtype: aludel_ir::DType::F32, shape: vec![n as u32; 2], bytes: vec![0; 4 * n * n] }));
    job
}
