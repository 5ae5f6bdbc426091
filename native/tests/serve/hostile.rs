//! What clients must not do: each is answered with its reason, nothing panics, and nobody else waits.

use crate::common::*;
use aludel_ir::DType;
use aludel_protocol::remote::*;
use aludel_protocol::{Pane, encode};
use futures_util::{SinkExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

/// The server is there for others, and soon.
async fn still_serves(server: &mut Server) {
    assert!(server.is_alive(), "the server died");
    let start = Instant::now();
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.train(1).await;
    client.send(&ClientMessage::Cancel).await;
    assert!(start.elapsed() < Duration::from_secs(60), "others wait");
}

/// A xorshift generator: the same bytes in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

#[tokio::test]
async fn greetings_that_are_none() {
    let mut server = Server::start(&[]);
    for version in [0, REMOTE_VERSION + 1, u32::MAX] {
        let mut client = Client::open(server.address, None).await.expect("a handshake");
        client.send(&ClientMessage::Hello { version, token: None, resume: None }).await;
        assert_eq!(client.refusal().await, Refusal::Version { server: REMOTE_VERSION });
        assert_eq!(client.receive().await, None, "the connection ends");
    }
    for message in [ClientMessage::Pause, ClientMessage::FetchState, ClientMessage::Create(Box::new(job(&digits(), Pane::Eager, 1)))] {
        let mut client = Client::open(server.address, None).await.expect("a handshake");
        // A large one is not even read before its sender is known.
        let large = matches!(message, ClientMessage::Create(_));
        client.send(&message).await;
        if !large {
            assert!(matches!(client.refusal().await, Refusal::Malformed { .. }));
        }
    }
    let mut client = Client::open(server.address, None).await.expect("a handshake");
    client.socket.send(Message::Text("hello".into())).await.expect("it is sent");
    assert!(matches!(client.refusal().await, Refusal::Malformed { .. }));
    // A key that is none.
    for key in ["", "../../etc/passwd", &"0".repeat(32), &"x".repeat(10_000)] {
        let (mut client, welcome) = Client::hello(server.address, None, Some(SessionKey(key.into()))).await;
        assert!(matches!(welcome, ServerMessage::Welcome { resumed: None, .. }));
        assert_eq!(client.refusal().await, Refusal::NoSession);
    }
    let mut client = Client::connect(server.address).await;
    client.send(&ClientMessage::Hello { version: REMOTE_VERSION, token: None, resume: None }).await;
    assert!(matches!(client.refusal().await, Refusal::Malformed { .. }));
    for message in [ClientMessage::Run { steps: None }, ClientMessage::Pause, ClientMessage::FetchState, ClientMessage::Inspect] {
        client.send(&message).await;
        assert_eq!(client.refusal().await, Refusal::NoSession);
    }
    still_serves(&mut server).await;
}

#[tokio::test]
async fn random_and_truncated_frames() {
    let mut server = Server::start(&[]);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let whole = encode(&ClientMessage::Create(Box::new(job(&digits(), Pane::Compiled, 1)))).expect("a message");
    for k in 0..600 {
        let mut client = Client::connect(server.address).await;
        let bytes = match k % 3 {
            0 => {
                let n = random.next() as usize % 400;
                random.bytes(n)
            }
            1 => whole[..random.next() as usize % whole.len()].to_vec(),
            _ => {
                let mut bytes = whole.clone();
                for _ in 0..1 + random.next() % 8 {
                    let at = random.next() as usize % bytes.len().min(12_000);
                    bytes[at] = random.next() as u8;
                }
                bytes
            }
        };
        client.send_bytes(bytes).await;
        match client.receive().await {
            // A changed byte may leave a job that is good, or a request for a session that is not there.
            Some(ServerMessage::Refused(_)) => {}
            Some(ServerMessage::Created { .. }) => client.send(&ClientMessage::Cancel).await,
            other => panic!("frame {k}: {other:?}"),
        }
    }
    // Below the messages: bytes that are no frames, and no HTTP.
    for k in 0..40 {
        let mut stream = TcpStream::connect(server.address).await.expect("it listens");
        if k % 2 == 0 {
            let head = format!(
                "GET /ws HTTP/1.1\r\nHost: {}\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                server.address
            );
            stream.write_all(head.as_bytes()).await.expect("it reads");
        }
        let bytes = random.bytes(300);
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("the connection ends");
    }
    assert!(server.metric("aludel_rejected_requests_total{reason=\"malformed\"}") > Some(100.0));
    still_serves(&mut server).await;
}

/// What is wrong with a job, and a word of the message that says so.
fn bad_jobs() -> Vec<(&'static str, Job)> {
    let good = || job(&digits(), Pane::Compiled, 2);
    let with = |change: &dyn Fn(&mut Job)| {
        let mut j = good();
        change(&mut j);
        j
    };
    let first_state = |j: &mut Job, change: &dyn Fn(&mut TensorData)| {
        let t = j.feeds.iter_mut().find_map(|f| if let Feed::State(t) = f { Some(t) } else { None });
        change(t.expect("state"));
    };
    vec![
        ("no row of that number", with(&|j| j.order[3] = 32)),
        ("a row far out", with(&|j| j.order[0] = u32::MAX)),
        ("no rows in a step", with(&|j| j.batch = 0)),
        ("a batch of another size", with(&|j| j.batch = 8)),
        ("a vast batch", with(&|j| j.batch = u32::MAX)),
        (
            "a vast batch that the graph has too",
            with(&|j| {
                j.graph = "graph g(%x: f32[2000000000]) { %s = sum(%x) : f32[] return %s }".into();
                j.feeds = vec![Feed::Rows { column: 0 }];
                j.columns = vec![TensorData { dtype: DType::F32, shape: vec![1], bytes: vec![0; 4] }];
                (j.order, j.batch, j.loss) = (vec![0], 2_000_000_000, 0);
            }),
        ),
        ("no order", with(&|j| j.order.clear())),
        ("no columns", with(&|j| j.columns.clear())),
        ("a column without rows", with(&|j| j.columns[0] = TensorData { dtype: DType::F32, shape: vec![0, 64], bytes: vec![] })),
        ("a column without dimensions", with(&|j| j.columns[0] = TensorData { dtype: DType::F32, shape: vec![], bytes: vec![0; 4] })),
        ("a column of another type", with(&|j| j.columns[0].dtype = DType::I32)),
        ("a column of another size", with(&|j| j.columns[0].shape[0] += 1)),
        ("a shape whose size overflows", with(&|j| j.columns[0].shape = vec![u32::MAX; 5])),
        ("columns exchanged", with(&|j| j.columns.reverse())),
        ("no loss of that number", with(&|j| j.loss = 99)),
        ("a loss that is a parameter", with(&|j| j.loss = 1)),
        ("a feed too few", with(&|j| drop(j.feeds.pop()))),
        ("a feed too many", with(&|j| j.feeds.push(Feed::Rows { column: 0 }))),
        (
            "a feed of no column",
            with(&|j| {
                j.feeds.iter_mut().for_each(|f| {
                    if let Feed::Rows { column } = f {
                        *column = 7
                    }
                })
            }),
        ),
        ("a state of another type", with(&|j| first_state(j, &|t| t.dtype = DType::I32))),
        ("a state of too few bytes", with(&|j| first_state(j, &|t| t.bytes.truncate(1)))),
        ("a state of another shape", with(&|j| first_state(j, &|t| t.shape.push(1)))),
        (
            "state that is said to be constant",
            with(&|j| {
                for f in &mut j.feeds {
                    if let Feed::State(t) = f {
                        *f = Feed::Constant(t.clone());
                    }
                }
            }),
        ),
        ("no graph", with(&|j| j.graph.clear())),
        ("half a graph", with(&|j| j.graph.truncate(j.graph.len() / 2))),
        ("an operator that is none", with(&|j| j.graph = j.graph.replace("relu(", "system("))),
        ("a graph that does not hold together", with(&|j| j.graph = j.graph.replacen("relu(", "sum(", 1))),
        (
            "a size that varies",
            with(&|j| j.graph = "graph g(%x: f32[n]) where n in 2..=8 (hint 4) { %s = sum(%x) : f32[] return %s }".into()),
        ),
        ("brackets without end", with(&|j| j.graph = format!("graph g(%x: f32[{}", "(".repeat(100_000)))),
    ]
}

#[tokio::test]
async fn jobs_that_do_not_hold_together() {
    let mut server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    for (what, job) in bad_jobs() {
        client.send(&ClientMessage::Create(Box::new(job))).await;
        match client.refusal().await {
            Refusal::Job { message } => assert!(!message.is_empty(), "{what}"),
            Refusal::Limit { .. } if what.contains("overflows") || what.contains("vast") => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    let mut elsewhere = job(&digits(), Pane::Eager, 1);
    elsewhere.device = 9;
    client.send(&ClientMessage::Create(Box::new(elsewhere))).await;
    assert_eq!(client.refusal().await, Refusal::NoDevice { device: 9 });
    // The connection is as good as new.
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    still_serves(&mut server).await;
}

#[tokio::test]
async fn more_than_the_server_takes() {
    let args = [
        "--max-message",
        "1",
        "--max-nodes",
        "200",
        "--max-tensors",
        "1",
        "--max-memory",
        "64",
        "--max-steps",
        "50",
        "--client-sessions",
        "2",
        "--max-compile",
        "20",
    ];
    let mut server = Server::start(&args);
    let mut client = Client::connect(server.address).await;
    let limit = |r: Refusal| match r {
        Refusal::Limit { what, value, limit } => {
            assert!(value > limit, "{what}: {value} of {limit}");
            what
        }
        other => panic!("{other:?}"),
    };
    // A chain of operators, and one as long as is allowed: some passes recurse along it.
    let chain = |n: usize| {
        let lines: String =
            (0..n).map(|i| format!("%h{i} = relu({}) : f32[2]\n", if i == 0 { "%x".into() } else { format!("%h{}", i - 1) })).collect();
        format!("graph g(%x: f32[2]) {{\n{lines}%s = sum(%h{}) : f32[]\nreturn %s }}", n - 1)
    };
    for pane in Pane::BOTH {
        client.send(&ClientMessage::Create(Box::new(graph_job(pane, &chain(1000))))).await;
        assert!(limit(client.refusal().await).contains("operators"));
        client.create(graph_job(pane, &chain(199))).await;
        client.train(2).await;
        client.send(&ClientMessage::Cancel).await;
    }
    // More memory than there is: each value is small to name.
    let vast = "graph g(%x: f32[2]) {\n%i = iota[i32[100000000], dim=0]\n%f = cast[f32] %i\n%s = sum(%f) : f32[]\nreturn %s }";
    client.send(&ClientMessage::Create(Box::new(graph_job(Pane::Eager, vast)))).await;
    assert!(limit(client.refusal().await).contains("bytes"));
    // No loss.
    let long = "graph g(%x: f32[2]) {\n%a = expand[f32[1, 2] -> 2] %x\nreturn %a }";
    client.send(&ClientMessage::Create(Box::new(graph_job(Pane::Compiled, long)))).await;
    assert!(matches!(client.refusal().await, Refusal::Job { .. }));
    let long = "graph g(%x: f32[2]) {\n%i = iota[i32[3000, 3000], dim=0]\n%f = cast[f32] %i\n%m = matmul(%f, %f) : f32[3000, 3000]\n%s = sum(%m) : f32[]\nreturn %s }";
    for pane in Pane::BOTH {
        client.send(&ClientMessage::Create(Box::new(graph_job(pane, long)))).await;
        assert!(limit(client.refusal().await).contains("bytes"));
    }
    // A recurrence over more steps than anybody could unroll.
    let mut large = job(&digits(), Pane::Compiled, 1);
    large.columns.push(TensorData { dtype: DType::U32, shape: vec![300_000], bytes: vec![0; 1_200_000] });
    client.send(&ClientMessage::Create(Box::new(large))).await;
    assert!(limit(client.refusal().await).contains("message"));
    assert_eq!(client.receive().await, None, "the connection ends");

    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.send(&ClientMessage::Run { steps: Some(51) }).await;
    assert_eq!(limit(client.refusal().await), "steps");
    client.send(&ClientMessage::Run { steps: None }).await;
    assert_eq!(client.until_paused().await.1.step, 50);
    assert!(matches!(client.receive().await, Some(ServerMessage::Failed { .. })));
    let mut second = Client::connect(server.address).await;
    second.create(job(&digits(), Pane::Compiled, 1)).await;
    let mut third = Client::connect(server.address).await;
    third.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Compiled, 1)))).await;
    assert!(limit(third.refusal().await).contains("sessions"));
    second.send(&ClientMessage::Cancel).await;
    second.send(&ClientMessage::Pause).await;
    second.refusal().await;
    still_serves(&mut server).await;
}

/// A kilobyte of text that nobody could compile is refused before anybody tries, and takes nobody's place.
#[tokio::test]
async fn graphs_that_grow_without_end() {
    let mut server = Server::start(&["--max-compile", "20"]);
    let mut nested = "graph g(%x: f32[2]) {\n%y = mul(%x, %x) : f32[2]\n%s0 = sum(%y) : f32[]\n".to_string();
    for k in 1..12 {
        nested += &format!("%g{k} = grad(%s{}, wrt=[%x]) : f32[2]\n%t{k} = tanh(%g{k}) : f32[2]\n%s{k} = sum(%t{k}) : f32[]\n", k - 1);
    }
    let nested = format!("{nested}return %s11 }}");
    // Pieces of pieces: each reader of the last chooses among all.
    let many = |n: usize| vec!["%x"; n].join(", ");
    let flat = format!("graph g(%x: f32[2]) {{\n%y = cat[0] {} : f32[12000]\n%s = sum(%y) : f32[]\nreturn %s }}", many(6000));
    let mut deep = "graph g(%x: f32[2]) {\n%y0 = mul(%x, %x) : f32[2]\n".to_string();
    let mut size = 2;
    for k in 1..6 {
        deep += &format!("%y{k} = cat[0] {} : f32[{}]\n", vec![format!("%y{}", k - 1); 12].join(", "), size * 12);
        size *= 12;
    }
    let deep = format!("{deep}%s = sum(%y5) : f32[]\nreturn %s }}");
    for pane in Pane::BOTH {
        let mut clients = Vec::new();
        for text in [&nested, &flat, &nested, &flat] {
            let mut client = Client::connect(server.address).await;
            client.send(&ClientMessage::Create(Box::new(graph_job(pane, text)))).await;
            clients.push(client);
        }
        let start = Instant::now();
        for (client, word) in clients.iter_mut().zip(["gradients", "pieces"].iter().cycle()) {
            match client.refusal().await {
                Refusal::Limit { what, value, limit } => assert!(what.contains(word) && value > limit, "{what}"),
                other => panic!("{other:?}"),
            }
        }
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        // Pieces of pieces are few, and as quick to compile as they are to write down.
        let mut client = Client::connect(server.address).await;
        client.create(graph_job(pane, &deep)).await;
        client.send(&ClientMessage::Cancel).await;
    }
    still_serves(&mut server).await;
}

/// A client that asks and never reads has its session, and nobody waits for it.
#[tokio::test]
async fn a_client_that_never_reads() {
    let mut server = Server::start(&[]);
    let mut slow = Client::connect(server.address).await;
    slow.create(job(&digits(), Pane::Compiled, 4)).await;
    slow.send(&ClientMessage::Run { steps: None }).await;
    // As many requests as it can send: the server stops reading them before they fill its memory.
    let state = encode(&ClientMessage::FetchState).expect("a message");
    let inspect = encode(&ClientMessage::Inspect).expect("a message");
    let flood = async {
        for _ in 0..200_000 {
            for m in [&state, &inspect] {
                if slow.socket.feed(Message::Binary(m.clone().into())).await.is_err() {
                    return;
                }
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(3), flood).await;
    // On a busy machine it may not have made its first step yet.
    let steps = |server: &Server| server.metric("aludel_steps_total{device=\"interp\",pane=\"compiled\"}").unwrap_or(0.0);
    let before = steps(&server);
    still_serves(&mut server).await;
    let end = Instant::now() + Duration::from_secs(30);
    while steps(&server) <= before + 1.0 {
        assert!(Instant::now() < end, "its session does not train on: {before} steps");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_thousand_connections() {
    let mut server = Server::start(&["--client-connections", "40"]);
    let mut open = Vec::new();
    // Those that say nothing at all, those that greet, and those that shake hands when there is no place for them.
    for _ in 0..400 {
        open.push(TcpStream::connect(server.address).await.expect("it listens"));
    }
    let mut sockets = Vec::new();
    let mut busy = 0;
    for k in 0..600 {
        let mut client = Client::open(server.address, None).await.expect("a handshake");
        if k < 40 {
            client.send(&ClientMessage::Hello { version: REMOTE_VERSION, token: None, resume: None }).await;
            assert!(matches!(client.receive().await, Some(ServerMessage::Welcome { .. })), "connection {k}");
        } else {
            assert!(matches!(client.refusal().await, Refusal::Busy { .. }), "connection {k}");
            busy += 1;
        }
        sockets.push(client);
    }
    assert_eq!(busy, 560);
    // Those that shake hands and then say nothing have a place until their time to greet is over.
    sockets.drain(30..40);
    for _ in 0..10 {
        sockets.push(Client::open(server.address, None).await.expect("a handshake"));
    }
    assert_eq!(server.get("/healthz", &[]).0, 200);
    // Who is in has what was promised.
    let first = &mut sockets[0];
    first.create(job(&digits(), Pane::Compiled, 1)).await;
    first.train(2).await;
    // Places come free as their holders go.
    drop((open, sockets));
    for _ in 0..200 {
        if server.metric("aludel_connections") == Some(0.0) {
            return still_serves(&mut server).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("connections stay: {:?}", server.metric("aludel_connections"));
}

/// Another's session cannot be named without its key, and a key says nothing about others.
#[tokio::test]
async fn keys_are_not_guessed() {
    let server = Server::start(&[]);
    let mut keys = std::collections::BTreeSet::new();
    for _ in 0..4 {
        let mut client = Client::connect(server.address).await;
        let key = client.create(job(&digits(), Pane::Eager, 1)).await;
        assert!(key.0.len() == 32 && key.0.bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(keys.insert(key.0.clone()));
        let mut near = key.0.into_bytes();
        near[31] = if near[31] == b'0' { b'1' } else { b'0' };
        let (mut other, _) = Client::hello(server.address, None, Some(SessionKey(String::from_utf8(near).expect("text")))).await;
        assert_eq!(other.refusal().await, Refusal::NoSession);
        drop(client.socket.next());
    }
}

/// Whatever a client calls things, no compiler hears of it.
#[test]
fn names_reach_no_source() {
    use aludel_compiler::{MatmulPrecision, Options, Target, compile};
    const EVIL: &str = "*/ INJECTED \\n#include \\\"/etc/passwd\\\" \\\\ ?>";
    let text = format!(
        "graph \"{EVIL}\"(%0 \"{EVIL}\": f32[8, 4], state %1 \"{EVIL}\": f32[4, 4]) {{
           %2 \"{EVIL}\" = matmul(%0, %1) : f32[8, 4]
           %3 \"{EVIL}\" = softmax(%2, dim=-1) : f32[8, 4]
           %4 \"{EVIL}\" = mean(%3) : f32[]
           %5 = grad(%4, wrt=[%1]) : f32[4, 4]
           %6 = sub(%1, %5) : f32[4, 4]
           return %4 as \"{EVIL}\", state %1 <- %6 as \"{EVIL}\"
         }}"
    );
    let mut graph = aludel_ir::text::parse_graph(&text).expect("names may be anything");
    graph.verify().expect("it is a graph");
    graph.nodes.iter_mut().for_each(|n| n.location = Some("x.rs:1 */ INJECTED".into()));
    assert!(graph.name.contains("INJECTED"));
    for target in [Target::webgpu_default(), Target::cpu(), Target::cuda(90, MatmulPrecision::Highest)] {
        let program = compile(&graph, &target, &Options::default()).expect("it compiles");
        assert!(!program.kernels.is_empty());
        for kernel in &program.kernels {
            for (what, part) in [("source", &kernel.source), ("name", &kernel.name), ("entry", &kernel.entry)] {
                assert!(!part.contains("INJECTED") && !part.contains("passwd"), "{:?}: the {what} of a kernel: {part}", target.language);
            }
        }
    }
}
