//! What a client's program does to its worker stays there: the server lives, other sessions train on, and the client is told.

use crate::common::*;
use aludel::Device;
use aludel_ir::DType;
use aludel_protocol::Pane;
use aludel_protocol::remote::*;
use std::time::{Duration, Instant};

/// A session that trains beside what is tested: its losses are compared with those alone.
struct Witness {
    client: Client,
    want: Vec<f32>,
    got: Vec<f32>,
}

impl Witness {
    async fn start(server: &Server) -> Witness {
        let config = digits();
        let want = local(&config, Pane::Compiled, &Device::interpreter(), 9);
        let mut client = Client::connect(server.address).await;
        client.create(job(&config, Pane::Compiled, 9)).await;
        Witness { client, want, got: Vec::new() }
    }

    /// Takes a few steps, soon.
    async fn trains(&mut self) {
        let start = Instant::now();
        self.got.extend(self.client.train(3).await);
        assert!(start.elapsed() < Duration::from_secs(10), "others wait");
        assert_eq!(self.got, self.want[..self.got.len()]);
    }
}

/// The message of a session that cannot go on.
async fn failure(client: &mut Client) -> String {
    loop {
        match client.receive().await.expect("a message") {
            ServerMessage::Failed { message } => return message,
            ServerMessage::Running { .. } | ServerMessage::Progress(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn kill(id: u32, signal: &str) {
    assert!(std::process::Command::new("kill").args([signal, &id.to_string()]).status().expect("kill runs").success());
}

fn tensor(dtype: DType, shape: &[u32], words: &[u32]) -> TensorData {
    TensorData { dtype, shape: shape.into(), bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() }
}

/// Whatever ends a worker: other sessions are not hurt, and its own is told why.
#[tokio::test]
async fn a_worker_that_dies_hurts_nobody_else() {
    let server = Server::start(&[]);
    let mut witness = Witness::start(&server).await;
    let before = server.workers();
    assert_eq!(before.len(), 1, "a process for each session");
    for (signal, word) in [("-FPE", "arithmetic"), ("-KILL", "killed"), ("-ABRT", "memory runs out")] {
        let mut client = Client::connect(server.address).await;
        client.create(job(&digits(), Pane::Eager, 4)).await;
        client.send(&ClientMessage::Run { steps: None }).await;
        let worker = server.workers().into_iter().find(|w| !before.contains(w)).expect("its worker");
        kill(worker, signal);
        let message = failure(&mut client).await;
        assert!(message.contains(word) && message.contains("is lost"), "{signal}: {message}");
        client.send(&ClientMessage::Run { steps: None }).await;
        assert_eq!(client.refusal().await, Refusal::NoSession);
    }
    witness.trains().await;
    assert_eq!(server.metric("aludel_workers_lost_total"), Some(3.0));
    assert_eq!(server.get("/healthz", &[]).0, 200);
    drop(server);
}

/// With a state directory it goes on from what was saved, paused: no saved session can make the server die again and again.
#[tokio::test]
async fn a_session_whose_worker_died_is_restored_paused() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["--state-dir", dir.path().to_str().unwrap(), "--save-every", "1"];
    let server = Server::start(&args);
    let config = digits();
    let want = local(&config, Pane::Eager, &Device::interpreter(), 6);
    let mut client = Client::connect(server.address).await;
    let key = client.create(job(&config, Pane::Eager, 6)).await;
    assert_eq!(client.train(3).await, want[..3]);
    for _ in 0..200 {
        let saved = std::fs::read_to_string(dir.path().join(&key.0).join("session.json")).unwrap_or_default();
        if saved.contains("\"step\": 3") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    client.send(&ClientMessage::Run { steps: None }).await;
    let [worker] = server.workers()[..] else { panic!("one worker") };
    kill(worker, "-FPE");
    let message = failure(&mut client).await;
    assert!(message.contains("arithmetic fault") && message.contains("taken up again at step") && message.contains("pauses"), "{message}");
    let (step, tensors) = client.state().await;
    assert!(step >= 3 && !tensors.is_empty());
    if step == 3 {
        assert_eq!(client.train(3).await, want[3..], "as if it had never ended");
    }
}

/// A server that dies while a session takes its first steps takes it up paused the next time, and says so: a saved session cannot end it again
/// and again.
#[tokio::test]
async fn a_session_that_the_server_died_of_pauses() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["--state-dir", dir.path().to_str().unwrap(), "--save-every", "1"];
    let wait = async |what: &str, done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < PATIENCE, "{what} never happens");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let server = Server::start(&args);
    let mut client = Client::connect(server.address).await;
    // Steps that are long enough to be seen.
    let key = client.create(heavy(300)).await;
    client.send(&ClientMessage::Run { steps: None }).await;
    let place = dir.path().join(&key.0);
    let saved = || std::fs::read_to_string(place.join("session.json")).is_ok_and(|s| s.contains("\"running\": true"));
    wait("saving", &saved).await;
    server.kill();
    let server = Server::start(&args);
    wait("the mark", &|| place.join("starting").exists()).await;
    server.kill();
    let server = Server::start(&args);
    let (mut client, welcome) = Client::hello(server.address, None, Some(key)).await;
    let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("{welcome:?}") };
    assert!(!r.running);
    assert!(failure(&mut client).await.contains("pauses"));
    // Nobody is kept from starting it again.
    client.send(&ClientMessage::Run { steps: Some(1) }).await;
    client.until_paused().await;
    wait("the end of the mark", &|| !place.join("starting").exists()).await;
}

/// The server is killed: its workers and their compilers go too, also those that are stopped.
#[tokio::test]
async fn workers_do_not_outlive_the_server() {
    let server = Server::start(&[]);
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = Client::connect(server.address).await;
        client.create(heavy(300)).await;
        client.send(&ClientMessage::Run { steps: None }).await;
        clients.push(client);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let workers = server.workers();
    assert_eq!(workers.len(), 3);
    server.kill();
    for _ in 0..600 {
        // A zombie has no memory map.
        if workers.iter().all(|w| std::fs::read_link(format!("/proc/{w}/exe")).is_err()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("workers are left behind");
}

/// What a worker leaves in the directory for temporary files goes with it, what a server leaves with the next server.
#[tokio::test]
async fn temporary_files_go_with_their_processes() {
    let temporary = tempfile::tempdir().expect("a directory");
    let left = || -> Vec<Vec<String>> {
        let names = |p: &std::path::Path| -> Vec<_> {
            std::fs::read_dir(p).expect("a directory").flatten().map(|e| (e.path(), e.file_name().to_string_lossy().into_owned())).collect()
        };
        names(temporary.path())
            .iter()
            .map(|(p, _)| names(p).into_iter().map(|n| n.1).filter(|n| n.starts_with("worker-")).collect())
            .collect()
    };
    let env = [("TMPDIR", temporary.path().to_str().unwrap())];
    let server = Server::start_with(&[], &env);
    for signal in ["-KILL", "-FPE"] {
        let mut client = Client::connect(server.address).await;
        client.create(job(&digits(), Pane::Eager, 1)).await;
        assert_eq!(left().concat().len(), 1);
        kill(server.workers()[0], signal);
        let start = Instant::now();
        while !left().concat().is_empty() {
            assert!(start.elapsed() < PATIENCE, "{:?} stays", left());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Eager, 1)).await;
    server.kill();
    assert_eq!(left().concat().len(), 1, "nobody is there to remove it");
    let server = Server::start_with(&[], &env);
    assert_eq!(left(), [[""; 0]], "the next server removes it");
    server.terminate();
    assert!(left().is_empty(), "a server that ends leaves nothing");
}

/// An integer divisor that wraps to zero once brought the server down, and a saved session with it for good.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn a_division_by_zero_and_a_read_from_nothing() {
    let mut server = Server::start(&["--device", "cpu"]);
    let divides = "graph g(%x: i32[2], %a: i32[2]) {\n%o0 = const[1: i32] : i32[]\n%o1 = reshape[1] %o0 : i32[1]\n%o = expand[2] %o1 : i32[2]\n\
        %m = maximum %x, %o : i32[2]\n%d = mul %m, %m : i32[2]\n%q = div %a, %d : i32[2]\n%f = cast[f32] %q : f32[2]\n%s = sum(%f) : f32[]\nreturn %s }";
    let mut divide = graph_job(Pane::Compiled, divides);
    divide.feeds = vec![Feed::Constant(tensor(DType::I32, &[2], &[65536; 2])), Feed::Constant(tensor(DType::I32, &[2], &[7, 8]))];
    // Every index of an empty dimension is out of range.
    let k = 1 << 16;
    let gathers = format!(
        "graph g(%x: i32[0, {k}], %i: i32[1, {k}], %l: f32[2], state %t: i32[1, {k}]) {{\n%q = gather[0] %x, %i : i32[1, {k}]\n\
         %m = mul(%q, other=1) : i32[1, {k}]\n%s = sum(%l) : f32[]\nreturn %s, state %t <- %m }}"
    );
    let mut gather = graph_job(Pane::Compiled, &gathers);
    let zeros = || tensor(DType::I32, &[1, k], &vec![0; k as usize]);
    gather.feeds.splice(0..0, [Feed::Constant(tensor(DType::I32, &[0, k], &[])), Feed::Constant(zeros())]);
    gather.feeds.push(Feed::State(zeros()));
    for bad in [divide, gather] {
        let mut client = Client::connect(server.address).await;
        client.send(&ClientMessage::Create(Box::new(bad))).await;
        match client.receive().await {
            Some(ServerMessage::Created { .. }) => {
                client.send(&ClientMessage::Run { steps: Some(1) }).await;
                // It may end well or badly: for itself.
                while !matches!(client.receive().await, Some(ServerMessage::Failed { .. } | ServerMessage::Running { running: false, .. }))
                {
                }
                client.send(&ClientMessage::FetchState).await;
                if let Some(ServerMessage::State { tensors, .. }) = client.receive().await {
                    assert!(tensors.iter().all(|(_, t)| t.bytes.iter().all(|b| *b == 0)), "memory that is not the client's own");
                }
            }
            Some(ServerMessage::Refused(Refusal::Compile { .. } | Refusal::Job { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(server.is_alive());
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.train(1).await;
}

/// A step of any length neither keeps others waiting nor the server from ending.
#[tokio::test]
async fn a_long_step_is_interrupted() {
    let mut server = Server::start(&["--max-step-seconds", "4"]);
    let mut witness = Witness::start(&server).await;
    let mut long = Client::connect(server.address).await;
    long.create(heavy(3000)).await;
    long.send(&ClientMessage::Run { steps: Some(1) }).await;
    assert!(matches!(long.receive().await, Some(ServerMessage::Running { running: true, .. })));
    witness.trains().await;
    // Ended: it goes at once, in the middle of its step.
    let start = Instant::now();
    long.send(&ClientMessage::Cancel).await;
    while server.workers().len() > 1 {
        assert!(start.elapsed() < Duration::from_secs(5), "a step that nobody wants goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Beyond the limit it is ended, and says so.
    long.create(heavy(3000)).await;
    long.send(&ClientMessage::Run { steps: Some(1) }).await;
    let message = failure(&mut long).await;
    assert!(message.contains("longer than this server's 4 s"), "{message}");
    witness.trains().await;
    long.create(heavy(3000)).await;
    long.send(&ClientMessage::Run { steps: Some(1) }).await;
    assert!(matches!(long.receive().await, Some(ServerMessage::Running { running: true, .. })));
    let (took, _) = server.end(&[Duration::ZERO]);
    assert!(took < Duration::from_secs(8), "it ended after {took:?}");
}

/// A session in the middle of a step holds up the server's end for as long as saving waits for it; a second signal ends the server at once.
#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut server = Server::start(&["--state-dir", dir.path().to_str().unwrap()]);
    let mut long = Client::connect(server.address).await;
    let key = long.create(heavy(3000)).await;
    // As it began, it is on the disk.
    let start = Instant::now();
    while !dir.path().join(&key.0).join("session.json").exists() {
        assert!(start.elapsed() < PATIENCE, "it is not saved");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    long.send(&ClientMessage::Run { steps: Some(1) }).await;
    assert!(matches!(long.receive().await, Some(ServerMessage::Running { running: true, .. })));
    // By now it has begun.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (took, well) = server.end(&[Duration::ZERO, Duration::from_secs(4)]);
    assert!(took >= Duration::from_secs(4) && took < Duration::from_secs(8) && !well, "it ended after {took:?}, and well: {well}");
    let server = Server::start(&["--state-dir", dir.path().to_str().unwrap()]);
    let (_, welcome) = Client::hello(server.address, None, Some(key)).await;
    assert!(matches!(welcome, ServerMessage::Welcome { resumed: Some(r), .. } if r.step == 0), "what was saved stays");
}

/// A compiler that does not end is ended with all that it started, and its place is free.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn compiling_ends_at_its_deadline() {
    let dir = tempfile::tempdir().expect("a directory");
    let marker = dir.path().join("cc");
    std::fs::write(&marker, "#!/bin/sh\nsleep 1000 & wait\n").expect("a script");
    let made = std::process::Command::new("chmod").arg("755").arg(&marker).status().expect("chmod runs");
    assert!(made.success());
    let env = [("CC", marker.to_str().unwrap()), ("ALUDEL_CACHE", dir.path().to_str().unwrap())];
    let server = Server::start_with(&["--device", "cpu", "--max-compile", "2", "--client-sessions", "16"], &env);
    let mut clients = Vec::new();
    for _ in 0..6 {
        let mut client = Client::connect(server.address).await;
        client.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Compiled, 1)))).await;
        clients.push(client);
    }
    // Two at a time, each for two seconds.
    let start = Instant::now();
    for client in &mut clients {
        match client.refusal().await {
            Refusal::Limit { what, limit: 2, .. } => assert!(what.contains("compile"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    for _ in 0..100 {
        let told = std::process::Command::new("ps").args(["-eo", "args="]).output().expect("ps runs");
        if server.workers().is_empty() && !String::from_utf8_lossy(&told.stdout).contains(marker.to_str().unwrap()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("compilers are left behind");
}
