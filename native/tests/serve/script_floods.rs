//! Scripts that make too much, and code views that send too much: what the server keeps of them is bounded.

use crate::common::Server;
use crate::scripts::{Seen, View};
use serde_json::{Value, json};
use std::time::Duration;

/// Another's script runs, soon.
async fn others_run(server: &mut Server) {
    assert!(server.is_alive());
    let (mut view, _) = View::open(server.address, None).await;
    let seen = tokio::time::timeout(Duration::from_secs(20), view.whole("print(6 * 7)", "Eager", json!({}))).await.expect("others wait");
    assert_eq!(seen.out, "42\n");
    view.say(json!("Cancel")).await;
}

/// Lines of input, long or many, that a script does not ask for.
#[tokio::test(flavor = "multi_thread")]
async fn lines_that_nobody_asks_for() {
    let mut server = Server::start(&[]);
    let (mut view, _) = View::open(server.address, None).await;
    view.create("x = 1", "Eager", json!({})).await;
    let before = server.memory("VmRSS:");
    let long = json!({ "Answer": { "line": "x".repeat(16 << 20) } });
    for _ in 0..12 {
        view.say(long.clone()).await;
        let refused = view.hear_of("Refused").await;
        assert_eq!(refused["refusal"]["Limit"]["what"], "bytes of a line of input", "{refused}");
    }
    let short = json!({ "Answer": { "line": "x".repeat(60 << 10) } });
    let mut refused = 0;
    for _ in 0..100 {
        view.say(short.clone()).await;
        if let Ok(told) = tokio::time::timeout(Duration::from_millis(20), view.hear()).await {
            let message = told.as_ref().and_then(|t| t["Refused"]["message"].as_str()).unwrap_or_else(|| panic!("{told:?}")).to_string();
            assert!(message.contains("lines"), "{message}");
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused} of 100 lines of 60 KiB");
    assert!(server.memory("VmHWM:") < before + 250, "{before} MiB, then {}", server.memory("VmHWM:"));
    others_run(&mut server).await;
}

/// What a script says of itself stays small, whatever it is made of, and so does what it costs the server.
#[tokio::test(flavor = "multi_thread")]
async fn reports_of_every_kind_are_bounded() {
    let mut server = Server::start(&[]);
    let scripts = [
        ("an error's text", "raise ValueError('x' * 20_000_000)"),
        ("names of numbers", "import wandb\nwandb.init()\nfor i in range(200): wandb.log({'n' * 400_000 + str(i): 1.0})"),
        ("files written again and again", "for k in range(4):\n    with open('f', 'wb') as f: f.write(bytes(100_000_000))\n    print(k)"),
        ("a file's path", "open('p' * 60_000_000, 'w').close()"),
        ("streams in turns", "import sys\nfor i in range(60_000):\n    sys.stdout.write('a')\n    sys.stderr.write('b')"),
    ];
    let before = server.memory("VmRSS:");
    for (what, text) in scripts {
        let (mut view, _) = View::open(server.address, None).await;
        let seen = view.whole(text, "Eager", json!({})).await;
        assert!(seen.ended.is_some() || seen.failed.is_some(), "{what}");
        assert!(seen.ended.as_ref().is_none_or(|e| e.len() < 1 << 20), "{what}");
        let most = server.memory("VmHWM:");
        assert!(most < before + 100, "{what}: {before} MiB, then {most}");
        view.say(json!("Cancel")).await;
    }
    others_run(&mut server).await;
}

/// Those who take a script over get all that it made, and who does not read it leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn takeovers_of_a_script_with_large_files() {
    let mut server = Server::start(&["--max-messages", "128"]);
    let (mut view, _) = View::open(server.address, None).await;
    let key = view.create("with open('f', 'wb') as f: f.write(bytes(10 << 20))", "Eager", json!({})).await;
    view.run().await;
    let mut seen = Seen::default();
    view.watch(&mut seen).await;
    assert_eq!(seen.ended.as_deref(), Some(""), "{:?}", seen.failed);
    let before = server.memory("VmRSS:");
    let mut others = Vec::new();
    for _ in 0..16 {
        let (other, welcome) = View::open(server.address, Some(&key)).await;
        assert!(welcome["Welcome"]["resumed"].is_string(), "{welcome}");
        others.push(other);
    }
    // Each share stands for about half of what its report takes at most: as it is, as text, and in buffers.
    let most = server.memory("VmHWM:");
    assert!(most < before + 400, "{before} MiB, then {most}");
    // The last one has it all.
    let last = others.last_mut().expect("the last");
    let report = last.hear_of("Report").await;
    assert!(report["whole"] == true && report["files"][0][1].as_str().is_some_and(|b| b.len() > 13 << 20), "it is not whole");
    others_run(&mut server).await;
}

/// Lists in a script's job that are short on the wire and long in memory.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_many_empty_parts() {
    let mut server = Server::start(&[]);
    let before = server.memory("VmRSS:");
    for field in ["args", "before", "files"] {
        let (mut view, _) = View::open(server.address, None).await;
        let part = if field == "files" { json!(["", ""]) } else { json!("") };
        let mut job = json!({ "device": 0, "pane": "Eager", "name": "t.py", "text": "" });
        job[field] = Value::Array(vec![part; 2_000_000]);
        view.say(json!({ "Create": job })).await;
        let refused = view.hear().await.expect("an answer");
        assert!(refused["Refused"]["message"].as_str().is_some_and(|m| m.contains("4096")), "{field}: {refused}");
    }
    let most = server.memory("VmHWM:");
    assert!(most < before + 100, "{before} MiB, then {most}");
    others_run(&mut server).await;
}
