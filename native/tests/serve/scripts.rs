//! Scripts on the server: a code view's session from its first word to its end, and hostile scripts.

use crate::common::{Client, PATIENCE, Server};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A code view's connection.
pub struct View {
    socket: WebSocketStream<TcpStream>,
}

/// What a script made until it ended, paused or asked.
#[derive(Default, Debug)]
pub struct Seen {
    pub out: String,
    err: String,
    pub ended: Option<String>,
    asks: bool,
    figures: Vec<String>,
    files: Vec<(String, String)>,
    losses: Vec<Value>,
    logged: Vec<Value>,
    lines: Value,
    numbers: Value,
    pub failed: Option<String>,
}

impl Seen {
    fn take(&mut self, report: &Value) {
        if report["whole"] == true {
            *self = Seen::default();
        }
        for part in report["output"].as_array().expect("output") {
            let to = if part[0] == true { &mut self.err } else { &mut self.out };
            to.push_str(part[1].as_str().expect("text"));
        }
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
        self.figures.extend(list("figures").iter().map(|f| text(&f[0])));
        self.files.extend(list("files").iter().map(|f| (text(&f[0]), text(&f[1]))));
        self.losses.extend(list("losses"));
        self.logged.extend(list("logged"));
        if !report["lines"].is_null() {
            self.lines = report["lines"].clone();
        }
        self.numbers = report["numbers"].clone();
        self.asks = !report["asks"].is_null();
        self.ended = report["ended"].as_str().map(str::to_string).or(self.ended.take());
    }
}

impl View {
    pub async fn open(address: SocketAddr, resume: Option<&str>) -> (View, Value) {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let (socket, _) = client_async(format!("ws://{address}/ws/script"), stream).await.expect("a handshake");
        let mut view = View { socket };
        view.say(json!({ "Hello": { "version": aludel_protocol::remote::REMOTE_VERSION, "token": null, "resume": resume } })).await;
        let welcome = view.hear().await.expect("an answer");
        (view, welcome)
    }

    pub async fn say(&mut self, what: Value) {
        // The other side may have hung up: what it said last is still to be read.
        let _ = self.socket.send(Message::Text(what.to_string().into())).await;
    }

    pub async fn hear(&mut self) -> Option<Value> {
        loop {
            match tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("the server does not hang") {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).expect("JSON")),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn create(&mut self, text: &str, pane: &str, more: Value) -> String {
        let mut job = json!({ "device": 0, "pane": pane, "name": "test.py", "text": text });
        for (key, value) in more.as_object().expect("fields") {
            job[key] = value.clone();
        }
        self.say(json!({ "Create": job })).await;
        let made = self.hear_of("Created").await;
        made["session"].as_str().unwrap_or_else(|| panic!("{made}")).to_string()
    }

    /// The next message of a kind; what an earlier session said before it is left out.
    pub async fn hear_of(&mut self, kind: &str) -> Value {
        loop {
            let told = self.hear().await.expect("an answer");
            match told.get(kind) {
                Some(what) => return what.clone(),
                None => assert!(told.get("Report").or(told.get("Running")).is_some(), "{told} instead of {kind}"),
            }
        }
    }

    pub async fn run(&mut self) {
        self.say(json!({ "Run": { "steps": null } })).await;
    }

    /// What is told until the script does not go on: it has ended, asks, or pauses after having run.
    pub async fn watch(&mut self, seen: &mut Seen) {
        self.watch_for(seen, Duration::from_secs(3600)).await;
    }

    /// As [`View::watch`]; one that runs for so long is stopped.
    pub async fn watch_for(&mut self, seen: &mut Seen, patience: Duration) {
        let (end, mut stopped, mut ran) = (Instant::now() + patience, false, false);
        loop {
            if Instant::now() > end && !stopped {
                stopped = true;
                self.say(json!("Stop")).await;
            }
            let Ok(told) = tokio::time::timeout(Duration::from_millis(100), self.hear()).await else { continue };
            let told = told.expect("the connection stays");
            if let Some(report) = told.get("Report") {
                seen.take(report);
                if seen.ended.is_some() || seen.asks {
                    return;
                }
            } else if let Some(running) = told.get("Running") {
                let on = running["running"] == true;
                if ran && !on {
                    return;
                }
                ran |= on;
            } else if let Some(failed) = told.get("Failed") {
                seen.failed = failed["message"].as_str().map(str::to_string);
                return;
            } else {
                panic!("{told}");
            }
        }
    }

    /// Runs a script to its end.
    pub async fn whole(&mut self, text: &str, pane: &str, more: Value) -> Seen {
        self.create(text, pane, more).await;
        self.run().await;
        let mut seen = Seen::default();
        self.watch(&mut seen).await;
        seen
    }
}

const TRAINS: &str = "\
import torch
import torch.nn as nn
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 4)
for step in range(40):
    loss = (model(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f'loss {loss.item():.6f}')
";

#[tokio::test(flavor = "multi_thread")]
async fn a_script_runs_and_tells_all_that_a_page_shows() {
    let server = Server::start(&[]);
    let (mut view, welcome) = View::open(server.address, None).await;
    assert_eq!(welcome["Welcome"]["devices"][0]["id"], "interp", "{welcome}");
    let eager = view.whole(TRAINS, "Eager", json!({})).await;
    let compiled = view.whole(TRAINS, "Compiled", json!({})).await;
    assert!(eager.out.starts_with("loss 0.") && eager.out == compiled.out, "{eager:?} {compiled:?}");
    assert_eq!((eager.ended.as_deref(), eager.numbers["steps"].as_u64()), (Some(""), Some(40)));
    // Curves, lines and regions.
    let losses: Vec<f64> = compiled.losses.iter().filter(|l| l[0] == 10).filter_map(|l| l[2].as_f64()).collect();
    assert!(losses.len() > 1 && losses.last() < losses.first(), "{:?}", compiled.losses);
    let marked = compiled.lines.as_array().expect("lines");
    let of = |n: u64| marked.iter().find(|l| l["line"] == n).unwrap_or_else(|| panic!("no line {n}: {marked:?}"));
    assert!(of(8)["operators"].as_u64() > Some(2) && of(1)["operators"] == 0, "{marked:?}");
    // Files, arguments, figures, logged numbers, input.
    let files = json!([["/helper.py", "YSA9IDQy"], ["/data.txt", "aGVsbG8="]]);
    let text = "import sys, helper\nprint(helper.a, sys.argv[1:], open('data.txt').read())\nwith open('out.txt', 'w') as f: f.write('made')\n\
                import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('hi', input('name? '))";
    view.create(text, "Eager", json!({ "files": files, "args": ["--n", "3"], "before": ["b = 1"] })).await;
    view.run().await;
    let mut seen = Seen::default();
    view.watch(&mut seen).await;
    assert!(seen.asks && seen.out.ends_with("name? "), "{seen:?}");
    view.say(json!({ "Answer": { "line": "Ada" } })).await;
    view.watch(&mut seen).await;
    assert_eq!(seen.out, "42 ['--n', '3'] hello\nname? Ada\nhi Ada\n", "{seen:?}");
    assert_eq!((seen.figures.len(), seen.files.last()), (1, Some(&("out.txt".to_string(), "bWFkZQ==".to_string()))), "{seen:?}");
    // An error comes with its traceback.
    let failed = view.whole("def f():\n    return 1 / 0\nf()", "Eager", json!({})).await;
    let trace = failed.ended.expect("it ends");
    assert!(trace.contains("File \"test.py\", line 3") && trace.ends_with("ZeroDivisionError: division by zero\n"), "{trace}");
    assert!(server.workers().len() <= 1, "sessions that were replaced are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_pauses_steps_and_is_taken_up_again() {
    let mut server = Server::start(&[]);
    let (mut view, _) = View::open(server.address, None).await;
    let key = view.create("print('begun')\ni = 0\nwhile i < 10**9:\n    i += 1\n    if i % 1000 == 0: print(i)", "Eager", json!({})).await;
    view.say(json!({ "Run": { "steps": 2 } })).await;
    let mut seen = Seen::default();
    view.watch(&mut seen).await;
    // Each printed line is a step; a paused script stands.
    assert!(seen.out.starts_with("begun\n1000\n") && seen.out.lines().count() < 5, "{seen:?}");
    drop(view);
    // Whoever has the key takes it up, with all that was told before; it goes on meanwhile where it runs.
    let (mut again, welcome) = View::open(server.address, Some(&key)).await;
    assert_eq!(welcome["Welcome"]["resumed"], key.as_str(), "{welcome}");
    again.run().await;
    let mut more = Seen::default();
    let deadline = Instant::now() + PATIENCE;
    while !more.out.contains("3000\n") {
        assert!(Instant::now() < deadline, "{more:?}");
        if let Some(report) = again.hear().await.expect("a report").get("Report") {
            more.take(report);
        }
    }
    assert!(more.out.starts_with(&seen.out), "{more:?}");
    drop(again);
    let (mut third, _) = View::open(server.address, Some(&key)).await;
    let mut last = Seen::default();
    third.watch_for(&mut last, Duration::ZERO).await;
    assert_eq!(last.ended.as_deref(), Some("Stopped.\n"), "{last:?}");
    assert!(last.out.len() > more.out.len(), "it went on while nobody listened");
    third.say(json!("Cancel")).await;
    // Nothing answers a Cancel: the session is gone when its worker is.
    let deadline = Instant::now() + PATIENCE;
    while !server.workers().is_empty() {
        assert!(Instant::now() < deadline, "a cancelled session's worker goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (_, gone) = View::open(server.address, Some(&key)).await;
    assert!(gone["Welcome"]["resumed"].is_null(), "{gone}");
    // A page that trains graphs has no business with it, and frames of the other language end the connection.
    let (mut view, _) = View::open(server.address, None).await;
    let key = view.create("x = 1", "Eager", json!({})).await;
    let (mut client, _) = Client::hello(server.address, None, Some(aludel_protocol::SessionKey(key))).await;
    assert!(matches!(client.refusal().await, aludel_protocol::remote::Refusal::NoSession));
    let _ = view.socket.send(Message::Binary(vec![1, 2, 3].into())).await;
    let mut refused = Value::Null;
    while let Some(told) = view.hear().await {
        refused = told;
    }
    assert!(refused["Refused"]["message"].as_str().is_some_and(|m| m.contains("text frames")), "{refused}");
    assert!(server.is_alive());
}

/// The worker's own compiler: a script compiles while it runs, with no file of its user's in reach and nothing of it left behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_compiles_on_the_cpu() {
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no C compiler");
        return;
    }
    let server = Server::start(&["--device", "cpu"]);
    let (mut view, _) = View::open(server.address, None).await;
    let seen = view.whole(TRAINS, "Compiled", json!({})).await;
    assert_eq!((seen.ended.as_deref(), seen.out.starts_with("loss 0.")), (Some(""), true), "{seen:?}");
    assert!(seen.numbers["kernels"].as_u64() > Some(0), "{seen:?}");
    let kernels = seen.lines.as_array().and_then(|l| l.iter().find(|l| l["line"] == 8)).map(|l| l["kernels"].clone());
    assert!(kernels.as_ref().and_then(Value::as_u64) > Some(0), "{kernels:?}");
    view.say(json!("Inspect")).await;
    let region = view.hear_of("Inspected").await["regions"][0].clone();
    let nodes = region["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|n| n["line"] == 8), "{region}");
    assert!(!region["kernels"].as_array().expect("kernels").is_empty() && !region["loops"].as_str().expect("text").is_empty(), "{region}");
}

/// Limits are the server's, and refusals say which.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_brings_is_bounded() {
    let server = Server::start(&["--max-tensors", "1", "--client-sessions", "1", "--max-step-seconds", "1"]);
    let (mut view, _) = View::open(server.address, None).await;
    let large = "A".repeat(4 << 20);
    let job = json!({ "device": 0, "pane": "Eager", "name": "t.py", "text": "", "files": [["/f", large]] });
    view.say(json!({ "Create": job })).await;
    let refused = view.hear().await.expect("an answer");
    assert_eq!(refused["Refused"]["refusal"]["Limit"]["what"], "bytes of a script's files", "{refused}");
    view.say(json!({ "Create": { "device": 7, "pane": "Eager", "name": "t.py", "text": "" } })).await;
    assert!(view.hear().await.expect("an answer")["Refused"]["message"].as_str().is_some_and(|m| m.contains("no device 7")));
    view.create("x = 1", "Eager", json!({})).await;
    let (mut second, _) = View::open(server.address, None).await;
    second.say(json!({ "Create": { "device": 0, "pane": "Eager", "name": "t.py", "text": "" } })).await;
    let refused = second.hear().await.expect("an answer");
    assert_eq!(refused["Refused"]["refusal"]["Limit"]["what"], "sessions of one client", "{refused}");
    // One operation that takes longer than a step may ends the session, and it is said why.
    view.say(json!("Cancel")).await;
    while !server.workers().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let slow = "import torch\nx = torch.ones(1200, 1200)\nfor i in range(100): x = x @ x";
    let seen = view.whole(slow, "Eager", json!({})).await;
    let why = seen.failed.or(seen.ended).expect("it ends");
    assert!(why.contains("an operation of the script takes longer than this server's 1 s") || why.contains("MemoryError"), "{why}");
}

/// Each of them ends, or is stopped, and it is said why; the server lives, and another's script goes on.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_scripts_end_and_say_why() {
    let mut server = Server::start(&["--max-tensors", "24", "--max-memory", "64", "--max-step-seconds", "30"]);
    let (mut other, _) = View::open(server.address, None).await;
    let key = other.create("i = 0\nwhile True: i += 1", "Eager", json!({})).await;
    other.run().await;
    // Nobody listens to it meanwhile.
    drop(other);
    let table = include_str!("../../../tests/hostile/scripts.py");
    let scripts: Vec<_> = table.split("\n### ").skip(1).collect();
    assert!(scripts.len() >= 50, "{}", scripts.len());
    let mut wrong = Vec::new();
    for script in scripts {
        let (head, text) = script.split_once('\n').expect("a head");
        let (name, says) = head.rsplit_once(": ").expect("what is said");
        let (mut view, _) = View::open(server.address, None).await;
        view.create(text, "Eager", json!({})).await;
        view.run().await;
        let mut seen = Seen::default();
        let patience = if says == "Stopped." { Duration::from_millis(300) } else { Duration::from_secs(50) };
        let start = Instant::now();
        view.watch_for(&mut seen, patience).await;
        let said = [seen.out.as_str(), &seen.err, seen.ended.as_deref().unwrap_or_default(), seen.failed.as_deref().unwrap_or_default()]
            .join("\n");
        println!("{name}: {:.1} s: {}", start.elapsed().as_secs_f64(), said.trim_end().lines().last().unwrap_or_default());
        if !said.contains(says) {
            let tail: String = said.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
            wrong.push(format!("{name}: {says} is not in: {tail}"));
        }
        view.say(json!("Cancel")).await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(server.is_alive());
    let mut seen = Seen::default();
    let (mut other, _) = View::open(server.address, Some(&key)).await;
    other.watch_for(&mut seen, Duration::ZERO).await;
    assert_eq!(seen.ended.as_deref(), Some("Stopped.\n"), "{seen:?}");
    let (mut view, _) = View::open(server.address, None).await;
    assert_eq!(view.whole("print(6 * 7)", "Compiled", json!({})).await.out, "42\n");
}
