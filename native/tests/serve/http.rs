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
    assert!(run(&["--bind", "0.0.0.0"]).contains("ALUDEL_TOKEN"));
    assert!(run(&["--token", "short"]).contains("at least"));
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
