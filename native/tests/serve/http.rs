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
    // Only so may the page's threads share memory.
    assert!(
        head.contains("cross-origin-opener-policy: same-origin") && head.contains("cross-origin-embedder-policy: require-corp"),
        "{head}"
    );
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
    // On a busy machine they may be answered before anybody looks: then once more, and later.
    for _ in 0..5 {
        for k in 0..3 {
            let mut client = Client::open(server.address, None).await.expect("a handshake");
            let hello = ClientMessage::Hello { version: REMOTE_VERSION, token: Some(format!("guess number {k}")), resume: None };
            client.send(&hello).await;
        }
        // They are gone, and their places taken.
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        let (_, answer) = Client::hello(server.address, Some("one more guess"), None).await;
        if matches!(answer, ServerMessage::Refused(Refusal::Busy { .. })) {
            return;
        }
        assert_eq!(answer, ServerMessage::Refused(Refusal::Token));
    }
    panic!("who guesses gets on by not waiting");
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

/// Requests that are none, or none that a browser sends: each is answered or let go, nothing beyond the site is told, and others are served.
#[test]
fn requests_that_no_browser_sends() {
    use std::io::{Read, Write};
    let dir = tempfile::tempdir().expect("a directory");
    let site = dir.path().join("site");
    std::fs::create_dir(&site).expect("a directory");
    std::fs::write(site.join("index.html"), "<p>page").expect("a file");
    std::fs::write(dir.path().join("secret"), "of the server's user").expect("a file");
    let server = Server::start(&["--site", site.to_str().unwrap()]);
    let ask = |request: &[u8], half: bool| -> String {
        let mut stream = std::net::TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // It may hang up before all was said.
        let _ = stream.write_all(request);
        if half {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let (mut told, mut piece) = (String::new(), [0; 4096]);
        while half || !told.contains("\r\n\r\n") {
            match stream.read(&mut piece) {
                Ok(n) if n > 0 => told += &String::from_utf8_lossy(&piece[..n]),
                _ => break,
            }
        }
        told
    };
    let long = "x".repeat(100_000);
    let many: String = (0..5000).map(|k| format!("A{k}: b\r\n")).collect();
    let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let refused: Vec<(String, &str)> = vec![
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "4"),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), "4"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n".into(), "400"),
        ("GET /api/server HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n\r\n".into(), "400"),
        ("GET http://evil.example/api/server HTTP/1.1\r\nHost: localhost\r\n\r\n".into(), "421"),
        ("GET / HTTP/1.1\r\nHost: \u{e9}vil\r\n\r\n".into(), "4"),
        ("GET / HTTP/1.1\r\nHost localhost\r\n\r\n".into(), "400"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nA: b\0c\r\n\r\n".into(), "400"),
        ("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nGET /".into(), "400"),
        ("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n".into(), "400"),
        ("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n".into(), "400"),
        ("POST /ws HTTP/1.1\r\nHost: localhost\r\n".to_string() + upgrade + key + "\r\n", "405"),
        ("GET /ws HTTP/1.1\r\nHost: localhost\r\n".to_string() + upgrade + "Sec-WebSocket-Key: c2hvcnQ=\r\n\r\n", "426"),
        ("GET /ws/script HTTP/1.1\r\nHost: localhost\r\n".to_string() + &upgrade.replace("13", "12") + key + "\r\n", "426"),
        ("GET /ws HTTP/1.1\r\nHost: localhost\r\nOrigin: \r\n".to_string() + upgrade + key + "\r\n", "403"),
        ("GET /ws/other HTTP/1.1\r\nHost: localhost\r\n".to_string() + upgrade + key + "\r\n", "404"),
        ("POST /api/sessions/x/end HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n".into(), "401"),
        ("GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \u{7f}\r\n\r\n".into(), "4"),
        ("GET /index.html HTTP/1.1\r\nHost: localhost\r\nRange: bytes=99999999999999999999-\r\n\r\n".into(), "416"),
    ];
    for (request, want) in refused {
        let told = ask(request.as_bytes(), false);
        let status = told.split(' ').nth(1).unwrap_or_default();
        // Who hangs up on more than it reads may not be heard.
        let unheard = request.len() > 50_000 && told.is_empty();
        assert!(status.starts_with(want) || unheard, "{want} of {:?}: {told}", request.chars().take(300).collect::<String>());
    }
    // Whatever comes back, it is not from beyond the site.
    let paths =
        ["/../secret", "/..%2fsecret", "/%2e%2e/secret", "/.%2e/secret", "//secret", "/..%5csecret", "/%00", "/index.html/../../secret"];
    let odd = [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /\r\n",
        "\0\0\0\0",
        "\r\n\r\n\r\n",
        "CONNECT evil.example:80 HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\n\r\n",
    ];
    let asked = paths.iter().map(|p| format!("GET {p} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    for request in asked.chain(odd.iter().map(|o| o.to_string())) {
        let told = ask(request.as_bytes(), true);
        assert!(!told.contains("server's user") && !told.starts_with("HTTP/1.1 5"), "{request:?}: {told}");
    }
    assert_eq!(server.get("/healthz", &[]).0, 200);
}

/// Connections that say nothing leave file descriptors for sessions, where the system has few of them.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn few_file_descriptors_are_kept_for_sessions() {
    let server = Server::start_after("ulimit -n 200", &["--max-sessions", "8"]);
    let mut client = Client::connect(server.address).await;
    let mut held = Vec::new();
    for _ in 0..240 {
        held.push(tokio::net::TcpStream::connect(server.address).await.expect("it listens"));
    }
    client.create(job(&digits(), Pane::Compiled, 1)).await;
    client.train(1).await;
    drop(held);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(server.get("/healthz", &[]).0, 200);
}

/// The same server by its other family of addresses: its page, its name, and its clients.
#[tokio::test]
async fn by_ipv6_as_by_ipv4() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return eprintln!("SKIPPED: there is no IPv6");
    }
    let server = Server::start(&["--bind", "::1", "--client-connections", "2"]);
    assert!(server.address.is_ipv6() && server.url.starts_with("http://[::1]:"), "{}", server.url);
    assert_eq!(server.get("/api/server", &[("Host", "evil.example")]).0, 421);
    for (origin, may) in
        [(format!("http://{}", server.address), true), ("http://[::1]:8080".into(), true), ("http://[::2]:8080".into(), false)]
    {
        assert_eq!(Client::open(server.address, Some(&origin)).await.is_ok(), may, "{origin}");
    }
    let mut first = Client::connect(server.address).await;
    first.create(job(&digits(), Pane::Compiled, 1)).await;
    first.train(1).await;
}
