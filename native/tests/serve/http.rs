//! The server over HTTP: the page, its description, health, metrics, origins.

use crate::common::*;
use aludel_protocol::Pane;
use aludel_protocol::remote::*;

const TOKEN: &str = "a secret of some length";

#[tokio::test]
async fn says_who_it_is_and_serves_the_page() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start(&["--site", dir.path().to_str().unwrap()]);
    let (status, head, body) = server.get("/", &[]);
    assert!(status == 503 && head.contains("text/html") && body.contains("cargo xtask web"), "{head}\n{body}");
    std::fs::write(dir.path().join("index.html"), "<p>page").expect("a file");
    std::fs::write(dir.path().join("a.wasm"), "\0asm").expect("a file");
    std::fs::write(dir.path().parent().unwrap().join("aludel-secret"), "secret").expect("a file");
    let server = Server::start(&["--site", dir.path().to_str().unwrap()]);
    let (status, head, body) = server.get("/", &[]);
    assert!(status == 200 && head.contains("nosniff") && body == "<p>page", "{head}\n{body}");
    assert!(server.get("/a.wasm", &[]).1.contains("application/wasm"));
    for path in ["/../aludel-secret", "/..%2faludel-secret", "/%2e%2e/aludel-secret", "/absent"] {
        assert_eq!(server.get(path, &[]).0, 404, "{path}");
    }
    let _ = std::fs::remove_file(dir.path().parent().unwrap().join("aludel-secret"));

    let (status, head, body) = server.get("/api/server", &[("Origin", "http://localhost:8080")]);
    assert!(status == 200 && head.contains("access-control-allow-origin: http://localhost:8080"), "{head}");
    let value: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((&value["server"], &value["token"]), (&"aludel".into(), &false.into()));
    assert_eq!(value["protocol"], REMOTE_VERSION);
    assert_eq!(server.get("/healthz", &[]).2, "ok\n");
    for _ in 0..100 {
        if server.get("/readyz", &[]).0 == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it never is ready");
}

#[tokio::test]
async fn strangers_pages_may_not_connect() {
    let server = Server::start(&["--allow-origin", "https://aludel.example"]);
    for origin in ["https://evil.example", "null", "https://aludel.example.evil.example"] {
        assert!(Client::open(server.address, Some(origin)).await.is_err(), "{origin}");
        assert!(!server.get("/api/server", &[("Origin", origin)]).1.contains("access-control-allow-origin"), "{origin}");
    }
    // A name that a stranger made resolve to this machine.
    assert_eq!(server.get("/api/server", &[("Host", "evil.example:7878")]).0, 421);
    for origin in ["https://aludel.example", "http://localhost:8080", &format!("http://{}", server.address)] {
        assert!(Client::open(server.address, Some(origin)).await.is_ok(), "{origin}");
    }
    // Before a page of another network asks a server of this machine, its browser asks whether it may.
    for (origin, may) in [("https://aludel.example", true), ("http://localhost:8080", true), ("https://evil.example", false)] {
        let asked = [("Origin", origin), ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Private-Network", "true")];
        let (_, head, _) = server.request("OPTIONS", "/api/server", &asked);
        for name in ["access-control-allow-private-network: true", &format!("access-control-allow-origin: {origin}")] {
            assert_eq!(head.contains(name), may, "{origin}: {head}");
        }
    }
    assert_eq!(server.metric("aludel_rejected_requests_total{reason=\"origin\"}"), Some(4.0));
    assert_eq!(server.get("/ws", &[]).0, 426);
}

#[tokio::test]
async fn a_token_is_needed_where_there_is_one() {
    let server = Server::start(&["--token", TOKEN, "--bind", "0.0.0.0"]);
    let address = (std::net::Ipv4Addr::LOCALHOST, server.address.port()).into();
    for wrong in [None, Some(""), Some("a secret of some lengtH"), Some("a secret of some length ")] {
        let (mut client, answer) = Client::hello(address, wrong, None).await;
        assert_eq!(answer, ServerMessage::Refused(Refusal::Token), "{wrong:?}");
        assert_eq!(client.receive().await, None, "the connection ends");
    }
    let (mut client, answer) = Client::hello(address, Some(TOKEN), None).await;
    assert!(matches!(answer, ServerMessage::Welcome { .. }));
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    // Nor are metrics for everybody.
    assert_eq!(server.get("/metrics", &[]).0, 401);
    assert_eq!(server.get("/metrics", &[("Authorization", &format!("Bearer {TOKEN}"))]).0, 200);
    assert_eq!(server.get("/healthz", &[]).0, 200);
    assert!(server.get("/api/server", &[]).2.contains("\"token\":true"));
}

/// Who is told nothing is not let in: the printed address has a token, which is the same when the server starts again with its sessions.
#[tokio::test]
async fn the_printed_address_has_a_token() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = [WITH_TOKEN, "--state-dir", dir.path().to_str().unwrap()];
    let server = Server::start(&args);
    let token = server.url.split_once("/#token=").expect("a token").1.to_string();
    assert!(token.len() == 32 && server.url.starts_with(&format!("http://{}", server.address)), "{}", server.url);
    assert!(server.get("/api/server", &[]).2.contains("\"token\":true"));
    let (_, answer) = Client::hello(server.address, None, None).await;
    assert_eq!(answer, ServerMessage::Refused(Refusal::Token));
    let (mut client, answer) = Client::hello(server.address, Some(&token), None).await;
    assert!(matches!(answer, ServerMessage::Welcome { .. }));
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    assert_eq!(server.get("/metrics", &[]).0, 401);
    // On this machine's address, made by the server, it is no reason to answer under any name.
    assert_eq!(server.get("/api/server", &[("Host", "evil.example:7878")]).0, 421);
    let url = server.url.clone();
    server.terminate();
    let again = Server::start(&args);
    assert!(again.url.ends_with(&token) && again.url != url);
    // A token that a person gave is theirs to tell.
    assert!(!Server::start(&["--token", TOKEN]).url.contains(TOKEN));
}

/// Each wrong token of a client waits longer for its answer, and leaving early gains nothing.
#[tokio::test]
async fn wrong_tokens_slow_down() {
    let server = Server::start(&["--token", TOKEN, "--client-connections", "3"]);
    let start = std::time::Instant::now();
    for k in 0..4 {
        let (_, answer) = Client::hello(server.address, Some(&format!("guess number {k}")), None).await;
        assert_eq!(answer, ServerMessage::Refused(Refusal::Token));
    }
    // 100, 200, 400 and 800 ms.
    assert!(start.elapsed() >= std::time::Duration::from_millis(1500), "{:?}", start.elapsed());
    for k in 0..3 {
        let mut client = Client::open(server.address, None).await.expect("a handshake");
        let hello = ClientMessage::Hello { version: REMOTE_VERSION, token: Some(format!("guess number {k}")), resume: None };
        client.send(&hello).await;
    }
    // They are gone, and their places taken.
    let metrics = || server.get("/metrics", &[("Authorization", &format!("Bearer {TOKEN}"))]).2;
    while !metrics().lines().any(|l| l == "aludel_connections 3") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let (_, answer) = Client::hello(server.address, Some("one more guess"), None).await;
    assert!(matches!(answer, ServerMessage::Refused(Refusal::Busy { .. })), "{answer:?}");
}

/// Neither tokens nor keys of sessions, whatever happens to these.
#[tokio::test]
async fn logs_have_no_secrets() {
    let dir = tempfile::tempdir().expect("a directory");
    let (state, log) = (dir.path().join("state"), dir.path().join("log"));
    let args = ["--log", "trace", "--json", "serve", "--port", "0", "--device", "interp", "--token", TOKEN, "--save-every", "1"];
    let start = || {
        let file = std::fs::File::options().create(true).append(true).open(&log).expect("a file");
        let logdir = dir.path().join("events");
        Server::spawn(&args, &[("--state-dir", &state), ("--logdir", &logdir)], file)
    };
    let server = start();
    let mut keys = Vec::new();
    for _ in 0..2 {
        let (mut client, _) = Client::hello(server.address, Some(TOKEN), None).await;
        keys.push(client.create(job(&digits(), Pane::Eager, 1)).await.0);
        client.train(1).await;
        // A save that fails names its files.
        let _ = std::fs::write(state.join(format!(".new-{}", keys[0])), "x");
    }
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    server.kill();
    let _ = std::fs::remove_file(state.join(&keys[1]).join("sums.json"));
    let server = start();
    let (mut client, _) = Client::hello(server.address, Some(TOKEN), Some(SessionKey(keys[1].clone()))).await;
    client.refusal().await;
    server.kill();
    let told = std::fs::read_to_string(&log).expect("logs");
    assert!(told.contains("does not hold together") && told.contains("a session begins"), "{told}");
    let named = std::fs::read_dir(dir.path().join("events")).expect("event files").flatten().map(|e| e.file_name().into_string());
    let told = named.map(|n| n.expect("text")).fold(told, |all, n| all + &n);
    for secret in keys.iter().map(|k| &k[..8]).chain([TOKEN]) {
        assert!(!told.contains(secret), "{secret} is told: {}", told.lines().find(|l| l.contains(secret)).unwrap_or_default());
    }
}

/// The page runs its own scripts only, and is shown by those who may use the server.
#[test]
fn the_page_has_a_policy() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("index.html"), "<script>alert(1)</script>").expect("a file");
    let server = Server::start(&["--site", dir.path().to_str().unwrap(), "--allow-origin", "https://docs.example"]);
    let (_, head, _) = server.get("/", &[]);
    let policy = head.lines().find_map(|l| l.strip_prefix("content-security-policy: ")).expect("a policy");
    for part in ["default-src 'self'", "'wasm-unsafe-eval' 'sha256-", "object-src 'none'", "base-uri 'none'"] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(policy.ends_with("frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://docs.example"), "{policy}");
    assert!(!policy.contains("script-src 'self' 'unsafe"), "{policy}");
}

#[test]
fn does_not_start_open_to_everybody() {
    let run = |args: &[&str]| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_aludel"))
            .args(["serve", "--port", "0", "--device", "interp"])
            .args(args)
            .env_remove("ALUDEL_TOKEN")
            .output()
            .expect("it runs");
        assert!(!out.status.success(), "{args:?}");
        String::from_utf8_lossy(&out.stderr).to_string()
    };
    assert!(run(&["--bind", "0.0.0.0", "--no-token"]).contains("ALUDEL_TOKEN"));
    assert!(run(&["--no-token", "--token", TOKEN]).contains("contradict"));
    assert!(run(&["--token", "short"]).contains("at least"));
    assert!(run(&["--token", "password1234"]).contains("must not be guessed"));
    assert!(run(&["--allow-origin", "*"]).contains("is no origin"));
    assert!(run(&["--device", "tpu"]).contains("is no device"));
}

/// Every line of the metrics is one of the format's, and every family says what it is.
#[tokio::test]
async fn metrics_are_in_the_format() {
    let server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.train(2).await;
    let (_, head, body) = server.get("/metrics", &[]);
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let mut families = std::collections::BTreeMap::new();
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            families.insert(name.to_string(), 0);
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let name = series.split('{').next().expect("a name");
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
            let known = families.get_mut(family).or(None);
            *known.unwrap_or_else(|| panic!("{line} belongs to no family")) += 1;
        }
    }
    for name in [
        "steps_total",
        "step_seconds",
        "compile_seconds",
        "workers_lost_total",
        "unsaved_sessions",
        "sessions",
        "device_memory_in_use_bytes",
        "rejected_requests_total",
    ] {
        assert!(families.get(&format!("aludel_{name}")).is_some_and(|n| *n > 0), "{name} is not told: {families:?}");
    }
}
