//! The server under load, for long, and killed; each prints its numbers. Ignored unless asked for, since they need minutes and a machine that
//! does nothing else:
//!
//!     cargo test --release -p aludel-native --test serve endurance -- --ignored --nocapture --test-threads 1
//!
//! `ALUDEL_ENDURANCE` scales them: 0.1 is a tenth of the sessions, the kills and the time.

use crate::common::*;
use aludel_protocol::remote::*;
use aludel_protocol::{Pane, encode};
use futures_util::SinkExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// So many, scaled.
fn scaled(n: f64) -> usize {
    let scale = std::env::var("ALUDEL_ENDURANCE").ok().and_then(|s| s.parse::<f64>().ok()).unwrap_or(1.0);
    (n * scale).ceil().max(1.0) as usize
}

const ROOM: [&str; 10] =
    ["--device", "cpu", "--max-sessions", "200", "--client-sessions", "200", "--client-connections", "2000", "--max-total-memory", "12000"];

/// Memory, descriptors, threads and mappings of a process: KiB and numbers.
fn held(id: u32) -> [u64; 4] {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
    let of = |name: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(name)).expect("a line");
        line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number")
    };
    let descriptors = std::fs::read_dir(format!("/proc/{id}/fd")).expect("descriptors").count() as u64;
    let maps = std::fs::read_to_string(format!("/proc/{id}/maps")).expect("mappings").lines().count() as u64;
    [of("VmRSS:"), descriptors, of("Threads:"), maps]
}

fn percentile(times: &mut [Duration], p: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * p) as usize]
}

/// Sends what nobody should, again and again, until the server hangs up. Takes the same session up again each time.
async fn hostile(server: std::net::SocketAddr, kind: usize, session: &mut Option<SessionKey>) {
    let nested = (0..12).fold(("%s = sum(%x) : f32[]\n".to_string(), "%s".to_string()), |(text, last), k| {
        (format!("{text}%g{k} = grad({last}, wrt=[%x]) : f32[2]\n%s{k} = sum(%g{k}) : f32[]\n"), format!("%s{k}"))
    });
    let bomb = graph_job(Pane::Compiled, &format!("graph g(%x: f32[2]) {{\n{}return {} }}", nested.0, nested.1));
    let frames = [ClientMessage::FetchState, ClientMessage::Inspect, ClientMessage::Create(Box::new(bomb))];
    let (mut client, _) = Client::hello(server, None, session.clone()).await;
    if kind == 3 {
        // Half of a message, and then nothing.
        use tokio::io::AsyncWriteExt;
        let mut bytes = vec![0x82, 0xff];
        bytes.extend((400u64 << 20).to_be_bytes());
        bytes.resize(1 << 20, 0);
        let _ = client.socket.get_mut().write_all(&bytes).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        return;
    }
    if kind < 2 {
        if session.is_none() {
            *session = Some(client.create(job(&digits(), Pane::Compiled, 1)).await);
        }
        client.send(&ClientMessage::Run { steps: None }).await;
    }
    for _ in 0..2000 {
        let sent = match frames.get(kind) {
            Some(message) => client.socket.send(Message::Binary(encode(message).expect("a message").into())).await,
            None => client.socket.send(Message::Ping(Bytes::from_static(&[b'p'; 125]))).await,
        };
        if sent.is_err() {
            return;
        }
    }
}

/// 64 sessions train beside a hostile client of each kind: pausing and fetching stay quick, memory stays within its budget, and nobody's
/// losses are others than alone.
#[cfg(feature = "cpu")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes and an idle machine"]
async fn endurance_sessions_beside_hostile_clients() {
    let server = Server::start(&ROOM);
    let known = Arc::new(Mutex::new(HashMap::<u64, u32>::new()));
    let mut alone = Client::connect(server.address).await;
    alone.create(job(&digits(), Pane::Compiled, 4)).await;
    for (k, loss) in alone.train(100).await.iter().enumerate() {
        known.lock().unwrap().insert(k as u64 + 1, loss.to_bits());
    }
    let (count, seconds) = (scaled(64.0), scaled(60.0) as u64);
    // Known when all have begun.
    let end = Arc::new(OnceLock::<Instant>::new());
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let mut client = Client::connect(server.address).await;
        client.create(job(&digits(), Pane::Compiled, 4)).await;
        let (known, end) = (known.clone(), end.clone());
        tasks.spawn(async move {
            client.send(&ClientMessage::Run { steps: None }).await;
            let (mut compared, mut last) = (0, 0);
            while end.get().is_none_or(|end| Instant::now() < *end) {
                match client.receive().await {
                    Some(ServerMessage::Progress(p)) => {
                        for (step, loss) in p.losses {
                            let before = *known.lock().unwrap().entry(step).or_insert(loss.to_bits());
                            assert_eq!(before, loss.to_bits(), "the loss of step {step}");
                            (compared, last) = (compared + 1, step);
                        }
                    }
                    Some(ServerMessage::Running { .. }) => {}
                    other => panic!("{other:?}"),
                }
            }
            (compared, last)
        });
    }
    let end = *end.get_or_init(|| Instant::now() + Duration::from_secs(seconds));
    let address = server.address;
    let attackers: Vec<_> = (0..5)
        .map(|kind| {
            tokio::spawn(async move {
                let mut session = None;
                while Instant::now() < end {
                    hostile(address, kind, &mut session).await;
                }
            })
        })
        .collect();
    let (mut pauses, mut fetches, mut most) = (Vec::new(), Vec::new(), 0.0f64);
    while Instant::now() < end {
        alone.send(&ClientMessage::Run { steps: None }).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let start = Instant::now();
        alone.send(&ClientMessage::Pause).await;
        while !matches!(alone.receive().await, Some(ServerMessage::Running { running: false, .. })) {}
        pauses.push(start.elapsed());
        let start = Instant::now();
        alone.state().await;
        fetches.push(start.elapsed());
        most = most.max(server.metric("aludel_workers_memory_bytes").unwrap_or_default());
    }
    let mut compared = 0;
    let mut least = u64::MAX;
    while let Some(done) = tasks.join_next().await {
        let (n, last) = done.expect("its losses are those alone");
        (compared, least) = (compared + n, least.min(last));
    }
    attackers.iter().for_each(tokio::task::JoinHandle::abort);
    println!(
        "{count} sessions, 5 hostile clients, {seconds} s: pause p50 {:?} p99 {:?}, fetch p50 {:?} p99 {:?}; {compared} losses compared, each session at step {least} at least; \
         workers {:.0} MiB at most, server {} MiB",
        percentile(&mut pauses, 0.5),
        percentile(&mut pauses, 0.99),
        percentile(&mut fetches, 0.5),
        percentile(&mut fetches, 0.99),
        most / 1048576.0,
        held(server.id())[0] / 1024,
    );
    assert!(least > 1 && most < 12e9);
}

/// Sessions of graphs that are all different leave nothing behind in the server.
#[cfg(feature = "cpu")]
#[tokio::test]
#[ignore = "needs minutes"]
async fn endurance_distinct_graphs() {
    let server = Server::start(&ROOM);
    let mut client = Client::connect(server.address).await;
    let (count, mut levels) = (scaled(5000.0), Vec::new());
    for k in 0..count {
        let text = format!("graph g(%x: f32[2]) {{\n%y = mul(%x, other={k}.5) : f32[2]\n%s = sum(%y) : f32[]\nreturn %s }}");
        client.create(graph_job(Pane::Compiled, &text)).await;
        client.train(1).await;
        client.send(&ClientMessage::Cancel).await;
        if (k + 1) % count.div_ceil(10) == 0 {
            levels.push(held(server.id()));
        }
    }
    println!("{count} distinct graphs; KiB, descriptors, threads, mappings of the server at each tenth: {levels:?}");
    let (first, last) = (levels[0], levels[levels.len() - 1]);
    // The allocator's own, not what grows with every graph.
    assert!(last[0] < first[0] + 16 * 1024 && last[1] <= first[1] + 8 && last[2] <= first[2] + 8 && last[3] <= first[3] + 32);
}

/// Five light sessions beside one whose steps take 400 ms: each has a sixth of the device.
#[cfg(feature = "cpu")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs an idle machine"]
async fn endurance_equal_time() {
    let server = Server::start(&ROOM);
    let mut clients = Vec::new();
    for k in 0..6 {
        let mut client = Client::connect(server.address).await;
        client.create(if k == 5 { heavy(1600) } else { job(&digits(), Pane::Compiled, 4) }).await;
        clients.push(client);
    }
    let mut tasks = Vec::new();
    let seconds = scaled(60.0) as f64;
    for mut client in clients {
        tasks.push(tokio::spawn(async move {
            client.send(&ClientMessage::Run { steps: None }).await;
            let (end, mut elapsed) = (Instant::now() + Duration::from_secs_f64(seconds), 0.0);
            while let Ok(message) = tokio::time::timeout_at(end.into(), client.receive()).await {
                if let Some(ServerMessage::Progress(p)) = message {
                    elapsed = p.elapsed_ms;
                }
            }
            elapsed / 1e3
        }));
    }
    let mut shares = Vec::new();
    for task in tasks {
        shares.push(task.await.expect("it trains"));
    }
    let all: f64 = shares.iter().sum();
    let shares: Vec<f64> = shares.iter().map(|s| s * 6.0 / all).collect();
    println!("sixths of the device, the last of who has long steps: {shares:.2?}; {:.0} % of {seconds} s", all / seconds * 100.0);
    assert!(shares.iter().all(|s| (s - 1.0).abs() < 0.2), "{shares:?}");
}

/// The server and workers are killed at random moments, on a disk that is full now and then: what was saved is never lost, and never goes back.
/// `ALUDEL_SMALL_DISK` is a directory on a disk of a few MiB that may be filled; elsewhere a file stands where saves are written.
#[tokio::test]
#[ignore = "needs minutes"]
async fn endurance_kills() {
    let small = std::env::var_os("ALUDEL_SMALL_DISK");
    let dir = small.as_ref().map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a directory");
    let state = dir.path().join("state");
    let args = ["--state-dir", state.to_str().unwrap(), "--save-every", "1"];
    let mut server = Server::start(&args);
    let mut client = Client::connect(server.address).await;
    let key = client.create(job(&digits(), Pane::Eager, 4)).await;
    let blocked = if small.is_some() { dir.path().join("full") } else { state.join(format!(".new-{}", key.0)) };
    let saved = || {
        let text = std::fs::read_to_string(state.join(&key.0).join("session.json")).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()?["step"].as_u64()
    };
    while saved().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Others with another seed, side by side.
    let seed = std::env::var("ALUDEL_SEED").ok().and_then(|s| s.parse::<u64>().ok()).unwrap_or(0);
    let (mut random, mut losses) = (0x9E37_79B9_7F4A_7C15u64 ^ seed << 32, HashMap::<u64, u32>::new());
    let (mut of_server, mut of_worker, mut full) = (0, 0, 0);
    for k in 0..scaled(500.0) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        client.send(&ClientMessage::Run { steps: None }).await;
        if random.is_multiple_of(4) {
            // Nothing can be written there for a while.
            full += 1;
            let size = if small.is_some() { 64 << 20 } else { 1 };
            let _ = std::fs::write(&blocked, vec![0; size]);
        }
        let end = Instant::now() + Duration::from_millis(200 + random % 1500);
        while let Ok(message) = tokio::time::timeout_at(end.into(), client.receive()).await {
            if let Some(ServerMessage::Progress(p)) = message {
                for (step, loss) in p.losses {
                    assert_eq!(*losses.entry(step).or_insert(loss.to_bits()), loss.to_bits(), "kill {k}: the loss of step {step}");
                }
            }
        }
        let promised = saved().expect("it was saved");
        if random % 3 == 0 {
            of_worker += 1;
            let [worker] = server.workers()[..] else { panic!("one worker") };
            assert!(std::process::Command::new("kill").args(["-9", &worker.to_string()]).status().expect("kill runs").success());
            while !matches!(client.receive().await, Some(ServerMessage::Failed { message }) if message.contains("taken up again")) {}
        } else {
            of_server += 1;
            server.kill();
            server = Server::start(&args);
        }
        let _ = std::fs::remove_file(&blocked);
        let (again, welcome) = Client::hello(server.address, None, Some(key.clone())).await;
        let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("kill {k}: the session is lost: {welcome:?}") };
        assert!(r.step >= promised, "kill {k}: saved at step {promised}, taken up at {}", r.step);
        client = again;
    }
    println!(
        "{of_server} kills of the server, {of_worker} of a worker, {full} times no room: the session went on from {:?} in the end",
        saved()
    );
}

/// Connections that ask nothing, or half, send no body, or do not read the answer, are let go; others are answered meanwhile.
#[tokio::test]
#[ignore = "needs a minute"]
async fn endurance_connections_that_stay() {
    use tokio::io::AsyncWriteExt;
    let site = tempfile::tempdir().expect("a directory");
    std::fs::write(site.path().join("index.html"), "<p>").expect("a file");
    std::fs::write(site.path().join("large.bin"), vec![0; 64 << 20]).expect("a file");
    let server = Server::start(&["--site", site.path().to_str().unwrap()]);
    assert_eq!(server.get("/healthz", &[]).0, 200);
    let before = held(server.id());
    let kinds = [
        "",
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/sessions/0a/end HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n",
    ];
    let (start, mut open) = (Instant::now(), Vec::new());
    for k in 0..20 * kinds.len() {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.expect("it listens");
        stream.write_all(kinds[k % kinds.len()].as_bytes()).await.expect("it is sent");
        open.push(stream);
    }
    let mut most = 0;
    loop {
        let now = held(server.id());
        most = most.max(now[1]);
        if start.elapsed() > Duration::from_secs(5) && now[1] <= before[1] + 2 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(90), "{} descriptors, {} before", now[1], before[1]);
        assert_eq!(server.get("/healthz", &[]).0, 200);
        // Who sends a byte now and then is no better.
        for stream in open.iter_mut().skip(2).step_by(kinds.len()) {
            let _ = stream.write_all(b"x").await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("{} connections took {} descriptors of the server's, and none after {:.0?}", open.len(), most - before[1], start.elapsed());
    assert!(most > before[1] + 60);
}

/// A message that takes longer than a connection may be silent is not cut as long as it arrives.
#[tokio::test]
#[ignore = "needs minutes"]
async fn endurance_slow_upload() {
    use tokio::io::AsyncWriteExt;
    let server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    let mut large = job(&digits(), Pane::Compiled, 1);
    large.columns.push(TensorData { dtype: aludel_ir::DType::F32, shape: vec![1 << 20], bytes: vec![0; 4 << 20] });
    let body = encode(&ClientMessage::Create(Box::new(large))).expect("a message");
    let mut frame = vec![0x82, 0xff];
    frame.extend((body.len() as u64).to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(&body);
    let start = Instant::now();
    // Longer than the silence after which a connection is given up, 90 s.
    for piece in frame.chunks(frame.len().div_ceil(130)) {
        client.socket.get_mut().write_all(piece).await.expect("the server reads");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(matches!(client.receive().await, Some(ServerMessage::Created { .. })));
    println!("{} bytes in {:.0?}: the session begins", frame.len(), start.elapsed());
}

/// What a session's own process costs a step of `aludel bench`'s tiny MLP, against the same steps in this process.
#[cfg(feature = "cpu")]
#[tokio::test]
#[ignore = "needs an idle machine"]
async fn endurance_isolation_costs() {
    let server = Server::start(&ROOM);
    let fields = [("layers", "128,128"), ("batch", "64"), ("optimizer", "adamw"), ("lr", "0.001")];
    let config = preset(aludel_models::presets::Preset::Digits, &fields);
    let steps = scaled(20_000.0) as u64;
    let mut times = Vec::new();
    // In turns, so that what else the machine does is in both.
    for _ in 0..5 {
        let mut client = Client::connect(server.address).await;
        client.create(job(&config, Pane::Compiled, 64)).await;
        client.train(2).await;
        let start = Instant::now();
        client.send(&ClientMessage::Run { steps: Some(steps) }).await;
        client.until_paused().await;
        let served = start.elapsed();
        client.send(&ClientMessage::Cancel).await;
        times.push((served, here(&config, steps)));
    }
    let mut ratios: Vec<f64> = times.iter().map(|(served, here)| served.as_secs_f64() / here.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let each = |d: Duration| d.as_secs_f64() * 1e6 / steps as f64;
    let text: Vec<String> = times.iter().map(|(s, h)| format!("{:.1}/{:.1}", each(*s), each(*h))).collect();
    println!("µs a step, in a worker / in one process: {}; median ratio {:.3}", text.join(" "), ratios[2]);
}

/// The steps of a job in this process, as a worker takes them, on the CPU.
#[cfg(feature = "cpu")]
fn here(config: &aludel_models::presets::Config, steps: u64) -> Duration {
    use aludel_ir::InputKind;
    use aludel_runtime::Argument;
    let job = job(config, Pane::Compiled, 64);
    let device = aludel::Device::cpu().expect("a C compiler");
    let (executor, target) = (device.executor(), device.target().expect("a target"));
    let graph = Arc::new(aludel_ir::text::parse_graph(&job.graph).expect("a graph"));
    let program = Arc::new(aludel_compiler::compile(&graph, target, &aludel_compiler::Options::default()).expect("a program"));
    let executable = executor.load(graph.clone(), Some(program)).expect("it is compiled");
    let host = |t: &TensorData| Argument::Host(aludel::words_from_le_bytes(&t.bytes, t.dtype).into());
    let fed = |i: &usize| match &job.feeds[*i] {
        Feed::State(t) | Feed::Constant(t) => Some((t.dtype, host(t))),
        Feed::Rows { .. } => None,
    };
    let states: Vec<usize> = (0..graph.inputs.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
    let block = executor.allocate_state(&states.iter().filter_map(fed).collect::<Vec<_>>()).expect("memory");
    let mut held: Vec<Option<Argument>> = (0..graph.inputs.len()).map(|i| fed(&i).map(|f| f.1)).collect();
    states.iter().zip(block).for_each(|(i, s)| held[*i] = Some(Argument::Device(s)));
    let columns: Vec<Vec<u32>> = job.columns.iter().map(|c| aludel::words_from_le_bytes(&c.bytes, c.dtype)).collect();
    let batch = job.batch as usize;
    let batches = job.order.len() / batch;
    let start = Instant::now();
    for step in 0..steps as usize {
        let arguments: Vec<Argument> = held
            .iter()
            .zip(&job.feeds)
            .map(|(held, feed)| match (held, feed) {
                (Some(a), _) => a.clone(),
                (None, Feed::Rows { column }) => {
                    let words = &columns[*column as usize];
                    let piece = words.len() / batches;
                    Argument::Host(words[step % batches * piece..][..piece].into())
                }
                (None, _) => panic!("an input that nothing feeds"),
            })
            .collect();
        let outputs = executable.run(&[], &arguments).expect("a step");
        drop(arguments);
        for (o, storage) in graph.outputs.iter().zip(&outputs) {
            if let Some(i) = o.updates {
                held[i] = Some(Argument::Device(storage.clone()));
            }
        }
        if step % 256 == 255 {
            pollster::block_on(executor.download(&outputs[job.loss as usize])).expect("the loss");
        }
    }
    start.elapsed()
}
