//! What the server keeps on the disk: told when it cannot, kept from others, taken up again in its place.

use crate::common::*;
use aludel_protocol::Pane;
use aludel_protocol::remote::*;
use std::time::Duration;

/// A disk that cannot be written loses nothing in silence, and what could not be saved is saved when it can.
#[tokio::test]
async fn saves_that_fail_are_told_and_tried_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let state = dir.path().join("state");
    let mut server = Server::start(&["--state-dir", state.to_str().unwrap(), "--save-every", "1"]);
    let mut client = Client::connect(server.address).await;
    let key = client.create(job(&digits(), Pane::Eager, 4)).await;
    let saved = |step: u64| {
        let text = std::fs::read_to_string(state.join(&key.0).join("session.json")).unwrap_or_default();
        text.contains(&format!("\"step\": {step},"))
    };
    let wait = async |what: &str, done: &dyn Fn() -> bool| {
        for _ in 0..600 {
            if done() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what} never happens");
    };
    client.train(1).await;
    wait("saving", &|| saved(1)).await;
    // A file in the way of what is written, which also root cannot pass.
    let blocked = state.join(format!(".new-{}", key.0));
    std::fs::write(&blocked, "x").expect("a file");
    client.train(1).await;
    let Some(ServerMessage::Failed { message }) = client.receive().await else { panic!("nothing is told") };
    assert!(message.contains("cannot save"), "{message}");
    let (status, _, body) = server.get("/readyz", &[]);
    assert!(status == 503 && body.contains("1 sessions cannot be saved"), "{body}");
    assert_eq!(server.metric("aludel_unsaved_sessions"), Some(1.0));
    assert!(server.metric("aludel_saves_failed_total") >= Some(1.0));
    assert!(saved(1), "what was saved before stays");
    std::fs::remove_file(&blocked).expect("it was there");
    wait("saving again", &|| saved(2)).await;
    wait("being ready", &|| server.get("/readyz", &[]).0 == 200).await;
    let (_, well) = server.end(&[Duration::ZERO]);
    assert!(well);
}

/// A directory has one server; the second says so.
#[test]
fn a_state_directory_has_one_server() {
    let dir = tempfile::tempdir().expect("a directory");
    let state = dir.path().to_str().unwrap();
    let _first = Server::start(&["--state-dir", state]);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_aludel"))
        .args(["serve", "--port", "0", "--device", "interp", "--state-dir", state])
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success() && told.contains("another server"), "{told}");
}

/// New clients do not take the places of sessions that are not restored yet, and a damaged one keeps nobody else away.
#[tokio::test]
async fn places_are_kept_for_those_who_come_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let state = dir.path().to_str().unwrap();
    let args = ["--state-dir", state, "--client-sessions", "3"];
    let server = Server::start(&args);
    let mut keys = Vec::new();
    for _ in 0..3 {
        let mut client = Client::connect(server.address).await;
        keys.push(client.create(job(&digits(), Pane::Eager, 1)).await);
        client.train(1).await;
    }
    server.terminate();
    let damaged = dir.path().join(&keys[0].0).join("tensors.safetensors");
    let mut bytes = std::fs::read(&damaged).expect("it was saved");
    *bytes.last_mut().expect("bytes") ^= 1;
    std::fs::write(&damaged, bytes).expect("it is damaged");
    std::fs::write(dir.path().join(".old-stray"), "x").expect("a file");
    let server = Server::start(&args);
    let mut newcomer = Client::connect(server.address).await;
    newcomer.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Eager, 1)))).await;
    let answer = newcomer.receive().await.expect("an answer");
    for (i, key) in keys.iter().enumerate() {
        let (_, welcome) = Client::hello(server.address, None, Some(key.clone())).await;
        let ServerMessage::Welcome { resumed, .. } = welcome else { panic!("{welcome:?}") };
        assert_eq!(resumed.map(|r| r.step), (i > 0).then_some(1), "session {i}");
    }
    // Refused unless the damaged one had already given its place up.
    let late = matches!(answer, ServerMessage::Created { .. });
    assert!(late || matches!(answer, ServerMessage::Refused(Refusal::Limit { .. })), "{answer:?}");
    assert!(dir.path().join(format!(".bad-{}", keys[0].0)).exists());
    assert_eq!(server.metric("aludel_restores_failed_total"), Some(1.0));
    let (_, _, ready) = server.get("/readyz", &[]);
    assert!(ready.contains("1 saved sessions could not be taken up again"), "{ready}");
    assert_eq!(server.metric("aludel_sessions_restored_total"), Some(2.0));
}

/// A disk without room for one session's state loses neither that session nor another in silence, keeps no half-written file, and what did not
/// fit is saved when there is room. A limit on the size of files stands for the disk: it needs no rights.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_keeps_what_it_has() {
    use aludel_ir::DType;
    if std::process::Command::new("prlimit").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: there is no prlimit");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["--state-dir", dir.path().to_str().unwrap(), "--save-every", "1"];
    // Blocks of 512 or 1024 bytes, as the shell has it.
    let mut server = Server::start_after("trap '' XFSZ; ulimit -S -f 1000", &args);
    let counter = |n: u32| {
        let text = format!(
            "graph g(state %w: f32[{n}], %x: f32[2]) {{\n%u = add(%w, other=1.0) : f32[{n}]\n%s = sum(%x) : f32[]\nreturn %s, state %w <- %u }}"
        );
        let mut job = graph_job(Pane::Eager, &text);
        job.feeds.insert(0, Feed::State(TensorData { dtype: DType::F32, shape: vec![n], bytes: vec![0; 4 * n as usize] }));
        job
    };
    let saved = |key: &SessionKey, step: u64| {
        let text = std::fs::read_to_string(dir.path().join(&key.0).join("session.json")).unwrap_or_default();
        text.contains(&format!("\"step\": {step},"))
    };
    let wait = async |what: &str, done: &dyn Fn() -> bool| {
        let start = std::time::Instant::now();
        while !done() {
            assert!(start.elapsed() < PATIENCE, "{what} never happens");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut small = Client::connect(server.address).await;
    let a = small.create(counter(1000)).await;
    small.train(2).await;
    wait("saving", &|| saved(&a, 2)).await;
    let mut large = Client::connect(server.address).await;
    let b = large.create(counter(1_000_000)).await;
    let message = large.failure().await;
    assert!(message.contains("cannot save"), "{message}");
    let (status, _, body) = server.get("/readyz", &[]);
    assert!(status == 503 && body.contains("1 sessions cannot be saved"), "{body}");
    // The other is saved as ever, and nothing is half there.
    small.train(1).await;
    wait("saving the small one", &|| saved(&a, 3)).await;
    wait("tidying", &|| !dir.path().join(format!(".new-{}", b.0)).exists()).await;
    assert!(!dir.path().join(&b.0).exists() && server.is_alive());
    // There is room again.
    let freed = std::process::Command::new("prlimit").args(["--fsize=unlimited", "--pid", &server.id().to_string()]).status();
    assert!(freed.expect("prlimit runs").success());
    wait("saving the large one", &|| saved(&b, 0)).await;
    wait("being ready", &|| server.get("/readyz", &[]).0 == 200).await;
    server.kill();
    let server = Server::start(&args);
    for (key, step) in [(a, 3), (b, 0)] {
        let (_, welcome) = Client::hello(server.address, None, Some(key)).await;
        assert!(matches!(&welcome, ServerMessage::Welcome { resumed: Some(r), .. } if r.step == step), "{welcome:?}");
    }
}

/// A state directory that cannot be one is told of before anybody is let in.
#[test]
fn a_state_directory_that_cannot_be_one() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("file"), "x").expect("a file");
    for path in [dir.path().join("file"), "/proc/nope".into()] {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_aludel"))
            .args(["serve", "--port", "0", "--device", "interp", "--state-dir"])
            .arg(&path)
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(1) && told.contains(path.to_str().unwrap()), "{:?}: {told}", run.status);
    }
}
