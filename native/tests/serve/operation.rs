//! What the operator of a server sees and does: its sessions, whether its devices work, what its workers take.

use crate::common::*;
use aludel_protocol::Pane;
use aludel_protocol::remote::*;
use std::process::Command;
use std::time::{Duration, Instant};

/// `aludel sessions` with these arguments: whether it went well, and the lines of its output.
fn sessions(server: &Server, state: &std::path::Path, args: &[&str]) -> (bool, Vec<serde_json::Value>) {
    let url = format!("http://{}", server.address);
    let output = Command::new(env!("CARGO_BIN_EXE_aludel"))
        .args(["--json", "sessions", "--server", &url])
        .args(args)
        .env("XDG_STATE_HOME", state)
        .env_remove("ALUDEL_OPERATOR_TOKEN")
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    (output.status.success(), text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect())
}

#[tokio::test]
async fn the_operator_lists_pauses_and_ends_sessions() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start_with(&[], &[("XDG_STATE_HOME", dir.path().to_str().unwrap())]);
    let note = dir.path().join("aludel/servers").join(server.address.port().to_string());
    let secret = std::fs::read_to_string(&note).expect("the operator's secret");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&note).expect("it is there").permissions().mode() & 0o077, 0, "it is for the server's user alone");
    }
    assert_eq!(sessions(&server, dir.path(), &[]), (true, vec![]));
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = Client::connect(server.address).await;
        let key = client.create(job(&digits(), Pane::Compiled, 1)).await;
        client.send(&ClientMessage::Run { steps: None }).await;
        clients.push((client, key));
    }
    let (_, rows) = sessions(&server, dir.path(), &["list"]);
    assert!(rows.len() == 2 && rows.iter().all(|r| r["running"] == true && r["attended"] == true && r["device"] == "interp"), "{rows:?}");
    let told = format!("{rows:?}");
    assert!(clients.iter().all(|(_, key)| !told.contains(&key.0)), "keys are rights: {told}");

    let id = rows[0]["id"].as_str().expect("an id");
    assert!(sessions(&server, dir.path(), &["pause", id]).0);
    // One of them is told, after it has paused.
    let told = async |client: &mut Client| {
        let mut running = true;
        loop {
            match client.receive().await.expect("a message") {
                ServerMessage::Failed { message } => return (running, message),
                ServerMessage::Running { running: now, .. } => running = now,
                ServerMessage::Progress(_) => {}
                other => panic!("{other:?}"),
            }
        }
    };
    let [(a, _), (b, _)] = &mut clients[..] else { panic!("two clients") };
    let (which, (running, message)) = tokio::select! { m = told(a) => (0, m), m = told(b) => (1, m) };
    assert!(!running && message.contains("operator") && message.contains("paused"), "{message}");
    assert!(sessions(&server, dir.path(), &["end", id]).0);
    let (_, message) = told(&mut clients[which].0).await;
    assert!(message.contains("ended"), "{message}");
    clients[which].0.send(&ClientMessage::Run { steps: None }).await;
    assert_eq!(clients[which].0.refusal().await, Refusal::NoSession);
    assert_eq!(sessions(&server, dir.path(), &["list"]).1.len(), 1, "the other trains on");
    assert!(!sessions(&server, dir.path(), &["end", id]).0, "it is gone");
    assert!(!sessions(&server, dir.path(), &["end", "../../metrics"]).0);

    // Nobody else may: neither without the secret, nor with a session's key.
    for bearer in ["", "Bearer ", &format!("Bearer {}", clients[0].1.0), &format!("Bearer {secret}0")] {
        assert_eq!(server.get("/api/sessions", &[("Authorization", bearer)]).0, 401, "{bearer}");
    }
    assert_eq!(server.get("/api/sessions", &[("Authorization", &format!("Bearer {secret}"))]).0, 200);
    let elsewhere = tempfile::tempdir().expect("a directory");
    let (well, told) = sessions(&server, elsewhere.path(), &[]);
    assert!(!well && told[0]["message"].to_string().contains("ALUDEL_OPERATOR_TOKEN"), "{told:?}");
    server.terminate();
    assert!(!note.exists(), "it goes with the server");
}

/// A compiler that hangs makes every session on the CPU fail: the server says so, and takes it back when it works again.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn a_device_that_hangs_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let (compiler, hangs) = (dir.path().join("cc"), dir.path().join("hangs"));
    let script = format!("#!/bin/sh\ntest -e {} && sleep 1000\nexec cc \"$@\"\n", hangs.display());
    std::fs::write(&compiler, script).expect("a script");
    assert!(Command::new("chmod").arg("755").arg(&compiler).status().expect("chmod runs").success());
    let cache = dir.path().join("cache");
    let env = [("CC", compiler.to_str().unwrap()), ("ALUDEL_CACHE", cache.to_str().unwrap())];
    let server = Server::start_with(&["--device", "cpu", "--max-compile", "2"], &env);
    let ready = async |want: u16, word: &str| {
        let start = Instant::now();
        loop {
            let (status, _, body) = server.get("/readyz", &[]);
            if status == want && body.contains(word) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{status}: {body}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    ready(200, "ready").await;
    std::fs::write(&hangs, "").expect("a file");
    let mut client = Client::connect(server.address).await;
    client.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Compiled, 1)))).await;
    assert!(matches!(client.refusal().await, Refusal::Limit { .. }));
    ready(503, "cpu: a small step takes longer than 2 s").await;
    assert_eq!(server.metric("aludel_device_working{device=\"cpu\"}"), Some(0.0));
    assert_eq!(server.metric("aludel_ready"), Some(0.0));
    std::fs::remove_file(&hangs).expect("it was there");
    ready(200, "ready").await;
    assert_eq!(server.metric("aludel_device_working{device=\"cpu\"}"), Some(1.0));
}

/// What a tracking server was asked for, by what was asked.
type Asked = std::sync::Arc<std::sync::Mutex<Vec<(String, serde_json::Value)>>>;

/// One that takes everything but the first values.
async fn tracking_server(asked: Asked) -> String {
    use axum::extract::{Path, State};
    use axum::http::StatusCode;
    use serde_json::{Value, json};
    async fn answer(State(asked): State<Asked>, Path(what): Path<String>, axum::Json(body): axum::Json<Value>) -> (StatusCode, String) {
        let mut asked = asked.lock().expect("nobody panics");
        let first = body["metrics"].is_array() && !asked.iter().any(|(what, _)| what == "refused");
        let answer = match &what[..] {
            _ if first => {
                asked.push(("refused".into(), body));
                return (StatusCode::SERVICE_UNAVAILABLE, "{}".into());
            }
            "experiments/create" => json!({ "experiment_id": "7" }),
            "runs/create" => json!({ "run": { "info": { "run_id": format!("r{}", asked.len()) } } }),
            _ => json!({}),
        };
        asked.push((what, body));
        (StatusCode::OK, answer.to_string())
    }
    let app = axum::Router::new().route("/api/2.0/mlflow/{*what}", axum::routing::post(answer)).with_state(asked);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Losses of every session go to a tracking server, a run for each; what it does not take is sent again, and runs end with their sessions.
#[tokio::test(flavor = "multi_thread")]
async fn losses_go_to_a_tracking_server() {
    let asked = Asked::default();
    let url = tracking_server(asked.clone()).await;
    let server = Server::start(&["--mlflow", &url]);
    let mut want = Vec::new();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = Client::connect(server.address).await;
        client.create(job(&digits(), Pane::Compiled, 4)).await;
        want = client.train(4).await;
        clients.push(client);
    }
    clients[0].send(&ClientMessage::Cancel).await;
    while server.workers().len() > 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::task::block_in_place(|| server.terminate());
    let asked = asked.lock().expect("nobody panics");
    let of = |what: &str| asked.iter().filter(|(w, _)| w == what).map(|(_, b)| b).collect::<Vec<_>>();
    assert!(of("runs/create").iter().all(|b| b["experiment_id"] == "7" && b["run_name"] == "digits"), "{asked:?}");
    let mut ends: Vec<_> = of("runs/update").iter().map(|b| b["status"].to_string()).collect();
    ends.sort();
    assert_eq!(ends, ["\"FINISHED\"", "\"KILLED\""], "one ended, one ended with the server");
    for run in of("runs/update").iter().map(|b| &b["run_id"]) {
        let sent = of("runs/log-batch").into_iter().filter(|b| b["run_id"] == *run);
        let sent: Vec<_> = sent.flat_map(|b| b["metrics"].as_array().cloned().unwrap_or_default()).filter(|m| m["key"] == "loss").collect();
        let losses: Vec<_> = sent.iter().map(|m| (m["step"].as_u64(), m["value"].as_f64())).collect();
        let want: Vec<_> = want.iter().zip(1..).map(|(l, step)| (Some(step), Some(f64::from(*l)))).collect();
        assert_eq!(losses, want, "each once, in order");
    }
    drop(asked);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let refused = Command::new(env!("CARGO_BIN_EXE_aludel"))
        .args(["serve", "--port", "0", "--device", "interp", "--mlflow", &format!("http://{nobody}")])
        .output()
        .expect("it runs");
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("tracking server"));
}

/// Where no session can begin, the server says that it is not ready for any.
#[tokio::test]
async fn places_that_are_all_taken_are_told() {
    let server = Server::start(&["--max-sessions", "1"]);
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    let (status, _, body) = server.get("/readyz", &[]);
    assert!(status == 503 && body.contains("all 1 places for sessions are taken"), "{body}");
    assert_eq!(server.get("/healthz", &[]).0, 200);
    client.send(&ClientMessage::Cancel).await;
    let start = Instant::now();
    while server.get("/readyz", &[]).0 != 200 {
        assert!(start.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sums of sums of so many numbers, each of which is kept.
#[cfg(all(target_os = "linux", feature = "cpu"))]
fn greedy() -> Job {
    let n = 50_000_000;
    let mut text = format!("graph g(%x: f32[2]) {{\n%i = iota[i32[{n}], dim=0] : i32[{n}]\n%c0 = cast[f32] %i : f32[{n}]\n");
    for k in 1..4 {
        text += &format!("%c{k} = cumsum(%c{}, dim=0) : f32[{n}]\n", k - 1);
    }
    text += &format!("%m = mul(%c1, %c2) : f32[{n}]\n%q = mul(%m, %c3) : f32[{n}]\n%s = sum(%q) : f32[]\nreturn %s }}");
    graph_job(Pane::Compiled, &text)
}

/// Each is within its own limit, and together they would have more than there is: the largest ends, and the others train on.
#[cfg(all(target_os = "linux", feature = "cpu"))]
#[tokio::test]
async fn all_workers_together_have_a_limit() {
    const LIMIT: u64 = 400;
    let server = Server::start(&["--device", "cpu", "--max-total-memory", &LIMIT.to_string()]);
    let mut light = Client::connect(server.address).await;
    light.create(job(&digits(), Pane::Compiled, 2)).await;
    let mut heavy = Client::connect(server.address).await;
    heavy.create(greedy()).await;
    heavy.send(&ClientMessage::Run { steps: Some(1) }).await;
    let message = heavy.failure().await;
    assert!(message.contains("the memory for all sessions together, 400 MiB, is taken"), "{message}");
    light.train(2).await;
    let start = Instant::now();
    while server.metric("aludel_workers_memory_bytes").is_none_or(|b| b >= (LIMIT << 20) as f64) {
        assert!(start.elapsed() < PATIENCE, "it stays");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let taken = server.metric("aludel_workers_memory_bytes").expect("it is told");
    assert!(taken > 0.0 && taken < (LIMIT << 20) as f64, "{taken}");
}

/// Who is ended for the memory that it takes goes on from what was saved, now or later: no acknowledged session is lost for a moment's
/// want.
#[cfg(all(target_os = "linux", feature = "cpu"))]
#[tokio::test]
async fn who_is_ended_for_memory_is_taken_up_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["--device", "cpu", "--max-total-memory", "400", "--state-dir", dir.path().to_str().unwrap()];
    let server = Server::start(&args);
    let mut heavy = Client::connect(server.address).await;
    let key = heavy.create(greedy()).await;
    let start = Instant::now();
    while !dir.path().join(&key.0).join("session.json").exists() {
        assert!(start.elapsed() < PATIENCE, "it is not saved");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..2 {
        heavy.send(&ClientMessage::Run { steps: Some(1) }).await;
        let message = heavy.failure().await;
        assert!(message.contains("400 MiB, is taken") && message.contains("taken up again at step 0"), "{message}");
    }
    assert!(dir.path().join(&key.0).join("session.json").exists());
}
