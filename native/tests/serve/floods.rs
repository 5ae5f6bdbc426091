//! Clients that send too much, too slowly, or do not read: memory stays within the budget, and others do not wait.

use crate::common::*;
use aludel_ir::DType;
use aludel_protocol::remote::*;
use aludel_protocol::{Pane, encode};
use futures_util::{SinkExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// MiB of memory that a server has.
fn resident(server: &Server) -> u64 {
    server.memory("VmRSS:")
}

/// Others are served at once.
async fn others_train(server: &mut Server) {
    assert!(server.is_alive());
    let start = Instant::now();
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.train(1).await;
    client.send(&ClientMessage::Cancel).await;
    assert!(start.elapsed() < Duration::from_secs(20), "others wait");
}

#[tokio::test]
async fn pings_of_a_client_that_does_not_read() {
    let mut server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    let ping = Message::Ping(Bytes::from_static(&[b'p'; 125]));
    let flood = async { while client.socket.feed(ping.clone()).await.is_ok() {} };
    assert!(tokio::time::timeout(Duration::from_secs(20), flood).await.is_ok(), "the connection ends");
    assert!(resident(&server) < 300, "{} MiB", resident(&server));
    // A few are nothing.
    let mut client = Client::connect(server.address).await;
    for _ in 0..20 {
        client.socket.send(Message::Ping(Bytes::new())).await.expect("it is sent");
    }
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    others_train(&mut server).await;
}

/// As many inspections as a socket takes: one answer is on its way at a time.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn inspections_of_a_client_that_does_not_read() {
    let mut server = Server::start(&["--device", "cpu"]);
    let lines: String =
        (0..600).map(|i| format!("%h{i} = sin({}) : f32[2]\n", if i == 0 { "%x".into() } else { format!("%h{}", i - 1) })).collect();
    let graph = format!("graph g(%x: f32[2]) {{\n{lines}%s = sum(%h599) : f32[]\nreturn %s }}");
    let mut client = Client::connect(server.address).await;
    client.create(graph_job(Pane::Compiled, &graph)).await;
    client.train(1).await;
    let before = resident(&server);
    let inspect = encode(&ClientMessage::Inspect).expect("a message");
    let flood = async {
        for _ in 0..8000 {
            if client.socket.send(Message::Binary(inspect.clone().into())).await.is_err() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(3), flood).await;
    others_train(&mut server).await;
    let after = resident(&server);
    assert!(after < before + 100, "{before} MiB, then {after}");
}

/// A graph with so many MiB of state.
fn stateful(mib: u32) -> Job {
    let n = mib << 18;
    let text = format!(
        "graph g(state %w: f32[{n}], %x: f32[2]) {{\n%u = mul(%w, other=1.0) : f32[{n}]\n%s = sum(%x) : f32[]\nreturn %s, state %w <- %u }}"
    );
    let mut job = graph_job(Pane::Compiled, &text);
    job.feeds.insert(0, Feed::State(TensorData { dtype: DType::F32, shape: vec![n], bytes: vec![0; 4 * n as usize] }));
    job
}

/// States that nobody reads do not keep the memory that others' states need.
#[tokio::test]
async fn states_that_nobody_reads() {
    let mut server = Server::start(&["--max-messages", "128"]);
    let mut honest = Client::connect(server.address).await;
    honest.create(stateful(16)).await;
    // More than a system takes for a connection.
    let mut silent = Vec::new();
    for _ in 0..3 {
        let mut client = Client::connect(server.address).await;
        client.create(stateful(16)).await;
        silent.push(client);
    }
    for client in &mut silent {
        client.send(&ClientMessage::FetchState).await;
    }
    let (start, all) = (Instant::now(), f64::from(64 << 20));
    while server.metric("aludel_messages_bytes") != Some(all) {
        assert!(start.elapsed() < Duration::from_secs(2), "two of them have what one client may have");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // What weighs little does not wait.
    let mut light = Client::connect(server.address).await;
    light.create(job(&digits(), Pane::Compiled, 1)).await;
    let start = Instant::now();
    light.state().await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let start = Instant::now();
    honest.state().await;
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    others_train(&mut server).await;
}

/// Those who take a session over, ask for its state and do not read it leave nothing behind.
#[tokio::test]
async fn takeovers_that_do_not_read() {
    let mut server = Server::start(&["--max-messages", "64"]);
    let mut client = Client::connect(server.address).await;
    let key = client.create(stateful(16)).await;
    let before = resident(&server);
    let mut others = Vec::new();
    for _ in 0..12 {
        let (mut other, _) = Client::hello(server.address, None, Some(key.clone())).await;
        other.send(&ClientMessage::FetchState).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        others.push(other);
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let after = resident(&server);
    assert!(after < before + 128, "{before} MiB, then {after}");
    // The last one has it, and what it asked for.
    let last = others.last_mut().expect("the last");
    let answer = last.receive().await;
    assert!(matches!(answer, Some(ServerMessage::State { .. })), "{answer:?}");
    others_train(&mut server).await;
}

/// Large messages that are announced and never come take no more than their client's part of the budget, and not for long where others wait.
#[tokio::test]
async fn half_sent_messages() {
    let mut server = Server::start(&["--max-messages", "64"]);
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut client = Client::connect(server.address).await;
        // The head of a frame of 8 MiB, and a part of it: 32 MiB are one client's, and a message is there three times.
        let mut bytes = vec![0x82, 0xff];
        bytes.extend((8u64 << 20).to_be_bytes());
        bytes.extend([0; 4]);
        bytes.resize(bytes.len() + (1 << 20), 0);
        let half = tokio::time::timeout(Duration::from_millis(20), client.socket.get_mut().write_all(&bytes)).await;
        assert!(!matches!(half, Ok(Err(_))), "it may say so much");
        open.push(client);
    }
    assert!(server.metric("aludel_messages_bytes").is_some_and(|b| b <= f64::from(32 << 20)));
    others_train(&mut server).await;
    let (start, mut refused) = (Instant::now(), [0; 2]);
    for client in &mut open {
        // The last one is in nobody's way.
        let answer =
            tokio::time::timeout(Duration::from_secs(if refused.iter().sum::<i32>() < 19 { 15 } else { 1 }), client.receive()).await;
        match answer {
            Ok(Some(ServerMessage::Refused(Refusal::Busy { message }))) => {
                let waited = message.contains("the memory for messages is taken");
                assert!(waited || message.contains("hardly arrives"), "{message}");
                refused[usize::from(waited)] += 1;
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => {}
        }
    }
    assert!(refused[0] > 0 && refused[1] > 0 && refused[0] + refused[1] >= 19, "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(30));
    others_train(&mut server).await;
    drop(open);
    for _ in 0..100 {
        if server.metric("aludel_messages_bytes") == Some(0.0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?} bytes stay taken", server.metric("aludel_messages_bytes"));
}

/// Connections that ask and do not read, or keep still, are a quarter of all at most for one client.
#[tokio::test]
async fn plain_connections_that_stay() {
    let server = Server::start(&["--max-connections", "1"]);
    let mut held = Vec::new();
    for k in 0..257 {
        let mut stream = TcpStream::connect(server.address).await.expect("it listens");
        if k % 2 == 0 {
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        }
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut ended = 0;
    for stream in &mut held {
        let mut byte = [0; 256];
        // What was answered, then the end, or nothing.
        while let Ok(read) = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await {
            if !matches!(read, Ok(n) if n > 0) {
                ended += 1;
                break;
            }
        }
    }
    assert!((185..=200).contains(&ended), "{ended} of 257 were let go");
    drop(held);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.get("/healthz", &[]).0, 200);
}

/// What compiles without an end lets nobody fill the memory with jobs that wait for it.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn jobs_that_wait_for_a_compiler() {
    let dir = tempfile::tempdir().expect("a directory");
    let compiler = dir.path().join("cc");
    std::fs::write(&compiler, "#!/bin/sh\nexec sleep 1000\n").expect("a script");
    assert!(std::process::Command::new("chmod").arg("755").arg(&compiler).status().expect("chmod runs").success());
    let env = [("CC", compiler.to_str().unwrap()), ("ALUDEL_CACHE", dir.path().to_str().unwrap())];
    let mut server = Server::start_with(&["--device", "cpu", "--client-sessions", "64"], &env);
    // Few bytes on the wire, many in memory.
    let mut fed = graph_job(Pane::Compiled, "");
    fed.feeds = vec![Feed::Rows { column: 0 }; 30_000];
    let fed = encode(&ClientMessage::Create(Box::new(fed))).expect("a message");
    let before = resident(&server);
    let mut clients = Vec::new();
    for _ in 0..24 {
        let mut client = Client::connect(server.address).await;
        client.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Compiled, 1)))).await;
        for _ in 0..16 {
            client.send_bytes(fed.clone()).await;
        }
        clients.push(client);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let after = resident(&server);
    assert!(after < before + 200, "{before} MiB, then {after}");
    assert!(server.is_alive());
}

/// Numbers that are short on the wire are counted as what they are in memory.
#[tokio::test]
async fn orders_of_many_small_numbers() {
    let mut server = Server::start(&["--max-messages", "128"]);
    let mut long = graph_job(Pane::Compiled, "");
    (long.device, long.order) = (9, vec![1; 18 << 20]);
    let bytes = encode(&ClientMessage::Create(Box::new(long))).expect("a message");
    let mut client = Client::connect(server.address).await;
    client.send_bytes(bytes).await;
    match client.refusal().await {
        Refusal::Busy { message } => assert!(message.contains("memory"), "{message}"),
        other => panic!("{other:?}"),
    }
    others_train(&mut server).await;
}

/// Asking to train and to pause, as fast as a socket takes it, keeps nobody else from training.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_contradict_each_other() {
    let mut server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    let (mut sink, mut stream) = client.socket.split();
    let reads = tokio::spawn(async move { while let Some(Ok(_)) = stream.next().await {} });
    let floods = tokio::spawn(async move {
        let both = [ClientMessage::Run { steps: None }, ClientMessage::Pause].map(|m| encode(&m).expect("a message"));
        for m in both.iter().cycle() {
            if sink.send(Message::Binary(m.clone().into())).await.is_err() {
                return;
            }
        }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = resident(&server);
    others_train(&mut server).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    others_train(&mut server).await;
    let after = resident(&server);
    assert!(after < before + 50, "{before} MiB, then {after}");
    floods.abort();
    reads.abort();
}

/// Those who take a session over, ask what the compiler made and do not read it leave nothing behind.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn takeovers_that_inspect() {
    let mut server = Server::start(&["--device", "cpu"]);
    let lines: String = (1..1500).map(|i| format!("%h{i} = sin(%h{}) : f32[2]\n", i - 1)).collect();
    let graph = format!("graph g(%x: f32[2]) {{\n%h0 = sin(%x) : f32[2]\n{lines}%s = sum(%h1499) : f32[]\nreturn %s }}");
    let mut client = Client::connect(server.address).await;
    let key = client.create(graph_job(Pane::Compiled, &graph)).await;
    let before = resident(&server);
    let (mut others, mut most) = (Vec::new(), 0);
    for _ in 0..50 {
        let (mut other, _) = Client::hello(server.address, None, Some(key.clone())).await;
        other.send(&ClientMessage::Inspect).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        most = most.max(resident(&server));
        others.push(other);
    }
    assert!(most < before + 100, "{before} MiB, then {most}");
    others_train(&mut server).await;
}
