//! The command itself, as a person or a script runs it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const ALUDEL: &str = env!("CARGO_BIN_EXE_aludel");

fn aludel(args: &[&str]) -> Output {
    Command::new(ALUDEL).args(args).env("RUST_LOG", "off").output().expect("the command starts")
}

fn out(o: &Output) -> String {
    String::from_utf8(o.stdout.clone()).expect("text")
}

fn err(o: &Output) -> String {
    String::from_utf8(o.stderr.clone()).expect("text")
}

/// Standard output of a run that succeeds.
fn succeeds(args: &[&str]) -> String {
    let o = aludel(args);
    assert!(o.status.success(), "{args:?}: {}\n{}", out(&o), err(&o));
    out(&o)
}

/// The events of a run with `--json` that succeeds.
fn events(args: &[&str]) -> Vec<Value> {
    let text = succeeds(&[args, &["--json"]].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

fn fails(args: &[&str], code: i32, say: &str) {
    let o = aludel(args);
    assert_eq!(o.status.code(), Some(code), "{args:?}: {}", err(&o));
    assert!(err(&o).contains(say), "{args:?} says: {}", err(&o));
    assert!(!err(&o).contains("panicked"), "{}", err(&o));
}

/// The losses of a run by step, as their bits.
fn losses(events: &[Value]) -> Vec<(u64, u64)> {
    let steps = events.iter().filter(|e| e["event"] == "step");
    steps.map(|e| (e["step"].as_u64().unwrap(), e["loss"].as_f64().unwrap().to_bits())).collect()
}

const SMALL: [&str; 4] = ["digits", "layers=8", "batch=8", "--log-every=1"];

#[test]
fn trains_both_ways_and_compares() {
    let text = succeeds(&["train", "digits", "--device", "interp", "--steps", "40", "layers=16", "batch=16"]);
    for part in ["numbers to learn", "eager     step", "compiled  step", "ms/step", "samples/s", "kernels", "first step", "held out"] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(text.contains("times as fast"), "{text}");
}

#[test]
fn json_has_what_the_table_has() {
    let events = events(&["train", "points", "--device", "interp", "--steps", "6", "layers=4", "batch=8", "--log-every", "2"]);
    let of = |name: &str| events.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    assert_eq!(of("start")[0]["config"]["layers"], "4");
    assert_eq!(of("step").len(), 6, "three of each mode");
    let results = of("result");
    assert_eq!(results.iter().map(|r| r["mode"].as_str().unwrap()).collect::<Vec<_>>(), ["eager", "compiled"]);
    // Both ways train the same model on the same batches.
    let loss = |i: usize| results[i]["loss"].as_f64().unwrap();
    assert!((loss(0) - loss(1)).abs() < 1e-4, "{results:?}");
    assert!(results.iter().all(|r| r["ms_per_step"].as_f64().unwrap() > 0.0 && r["kernels"].as_u64().unwrap() > 0));
    assert_eq!(of("comparison").len(), 1);
}

/// Twenty steps in one go, and ten and ten with a checkpoint between them: the same losses, bit by bit.
fn resumes(device: &str, mode: &str, settings: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let run = |extra: &[&str]| events(&[&["train"], settings, &["--log-every=1", "--device", device, "--mode", mode], extra].concat());
    let whole = losses(&run(&["--steps", "20"]));
    assert_eq!(whole.len(), 20);
    assert_ne!(whole[0].1, whole[19].1, "nothing is learned");
    let mut parts = losses(&run(&["--steps", "10", "--checkpoint", path]));
    parts.extend(losses(&run(&["--steps", "20", "--checkpoint", path, "--resume"])));
    assert_eq!(parts, whole, "{device} {mode} {settings:?}");
}

#[test]
fn resumed_runs_are_the_same_bit_by_bit() {
    for mode in ["eager", "compiled"] {
        resumes("interp", mode, &["digits", "layers=8", "batch=8"]);
    }
    // Adam, momentum, a transformer; batches from the middle of an epoch.
    resumes("interp", "compiled", &["points", "optimizer=adam", "batch=200", "layers=4"]);
    resumes("interp", "compiled", &["points", "optimizer=momentum", "layers=4"]);
    resumes("interp", "compiled", &["addition", "digits=1", "context=6", "width=8", "heads=2", "layers=1", "batch=4"]);
}

#[test]
fn resumed_runs_are_the_same_on_the_cpu() {
    if !available("cpu") {
        eprintln!("left out: no C compiler");
        return;
    }
    for mode in ["eager", "compiled"] {
        resumes("cpu", mode, &["digits", "layers=32", "batch=16"]);
    }
}

fn available(device: &str) -> bool {
    events(&["devices"]).iter().any(|e| e["device"] == device && e["available"] == true)
}

#[test]
fn a_resumed_run_must_be_the_same_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let train = |extra: &[&'static str]| -> Vec<String> {
        let base = ["train", "--device", "interp", "--mode", "compiled", "--steps", "2", "--checkpoint", path];
        base.iter().chain(&SMALL).chain(extra).map(|s| s.to_string()).collect()
    };
    let strs = |v: &[String]| -> Vec<String> { v.to_vec() };
    let call = |v: Vec<String>| aludel(&v.iter().map(|s| s.as_str()).collect::<Vec<_>>());
    let o = call(train(&["--resume"]));
    assert!(err(&o).contains("there is no checkpoint to go on from"), "{}", err(&o));
    assert!(call(strs(&train(&[]))).status.success());
    let o = call(train(&[]));
    assert!(err(&o).contains("add --resume"), "{}", err(&o));
    let o = call(train(&["--resume", "lr=0.5", "seed=3"]));
    assert!(err(&o).contains("lr is `0.001` there and `0.5` here") && err(&o).contains("seed is `0` there and `3` here"), "{}", err(&o));
    // Already there: nothing to do, and no error.
    assert!(call(train(&["--resume"])).status.success());
    // Damaged: said, with the way out.
    let model = dir.path().join("step-00000002/model.safetensors");
    let mut bytes = std::fs::read(&model).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&model, bytes).unwrap();
    let o = call(train(&["--resume"]));
    assert_eq!(o.status.code(), Some(1));
    assert!(err(&o).contains("model.safetensors is not what CHECKSUMS says") && err(&o).contains("remove this directory"), "{}", err(&o));
}

/// Killed at any moment, a run leaves complete checkpoints, and a new one goes on from them.
#[test]
#[cfg(unix)]
fn a_killed_run_loses_no_complete_checkpoint() {
    use std::time::{Duration, Instant};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let directory = aludel_checkpoint::Directory::new(dir.path());
    let mut reached = 0;
    for round in 0..30u64 {
        let mut args = vec!["train", "--device", "interp", "--mode", "compiled", "--steps", "100000000", "--checkpoint", path];
        args.extend(["--checkpoint-every=1", "digits", "layers=8", "batch=4", "--log-every=1000"]);
        if reached > 0 {
            args.push("--resume");
        }
        let mut child = Command::new(ALUDEL).args(&args).stdout(std::process::Stdio::null()).spawn().unwrap();
        // Until it writes, and then a moment that differs from round to round by less than a write takes.
        let begin = Instant::now();
        while directory.latest().map_or(0, |c| c.map_or(0, |c| c.meta.step)) <= reached {
            assert!(begin.elapsed() < Duration::from_secs(60), "no checkpoint after {reached}");
            assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        }
        std::thread::sleep(Duration::from_micros(round * 577 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = directory.latest().unwrap().expect("a checkpoint");
        assert!(last.meta.step > reached, "round {round}: {} after {reached}", last.meta.step);
        reached = last.meta.step;
        for complete in directory.list().unwrap() {
            aludel_checkpoint::read(&complete).unwrap();
        }
    }
}

/// Ctrl-C, and what a supervisor sends: a checkpoint, the table so far, and the exit code that shells expect.
#[test]
#[cfg(unix)]
fn an_interrupted_run_keeps_what_it_did() {
    ["-INT", "-TERM"].into_iter().for_each(keeps_what_it_did);
}

#[cfg(unix)]
fn keeps_what_it_did(signal: &str) {
    use std::io::{BufRead, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let mut args = vec!["train", "--device", "interp", "--mode", "compiled", "--steps", "100000000", "--checkpoint", path];
    args.extend(SMALL);
    let mut child = Command::new(ALUDEL).args(&args).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|l| l.contains("step      3")));
    let interrupted = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rest.iter().any(|l| l.contains("samples/s")), "no table: {rest:?}");
    let last = aludel_checkpoint::Directory::new(dir.path()).latest().unwrap().unwrap();
    assert!(last.meta.step >= 3);
}

#[test]
fn writes_event_files_for_each_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    succeeds(&[&["train", "--device", "interp", "--steps", "3", "--logdir", path], &SMALL[..]].concat());
    let size = |mode: &str| {
        let files: Vec<_> = std::fs::read_dir(Path::new(path).join(mode)).unwrap().flatten().collect();
        assert_eq!(files.len(), 1);
        assert!(files[0].file_name().to_str().unwrap().starts_with("events.out.tfevents."));
        files[0].metadata().unwrap().len()
    };
    assert!(size("eager") > 100 && size("compiled") > 100);
}

/// A tracking server that takes everything but every third request for metrics; gives what it was asked for, by what was asked.
fn tracking_server(listener: std::net::TcpListener, requests: usize) -> Vec<(String, Value)> {
    use std::io::{BufRead, BufReader, Read, Write};
    let (mut asked, mut batches) = (Vec::new(), 0);
    while asked.len() < requests {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        // One connection may carry several.
        while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
            let what = line.split(' ').nth(1).unwrap().rsplit("/mlflow/").next().unwrap().to_string();
            let (mut length, mut header) = (0, String::new());
            while reader.read_line(&mut header).unwrap() > 2 {
                let lower = header.to_ascii_lowercase();
                length = lower.strip_prefix("content-length:").map_or(length, |l| l.trim().parse().unwrap());
                header.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            batches += usize::from(body["metrics"].is_array());
            let (status, answer) = match &what[..] {
                "experiments/create" => (400, r#"{"error_code": "RESOURCE_ALREADY_EXISTS", "message": "it exists"}"#),
                "experiments/search" => (200, r#"{"experiments": [{"experiment_id": "7"}]}"#),
                "runs/create" => (200, r#"{"run": {"info": {"run_id": "r1"}}}"#),
                _ if body["metrics"].is_array() && batches == 1 => (503, r#"{"message": "not now"}"#),
                _ => (200, "{}"),
            };
            let head = format!("HTTP/1.1 {status} S\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", answer.len());
            reader.get_mut().write_all((head + answer).as_bytes()).unwrap();
            let ended = what == "runs/update";
            if status == 200 || what.starts_with("experiments") {
                asked.push((what, body));
            }
            line.clear();
            if ended {
                break;
            }
        }
    }
    asked
}

/// Every loss arrives once, also where the tracking server was away for a moment; without a server nothing begins.
#[test]
fn losses_go_to_a_tracking_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut all = tracking_server(listener.try_clone().unwrap(), 5);
        while all.last().unwrap().0 != "runs/update" {
            all.extend(tracking_server(listener.try_clone().unwrap(), 1));
        }
        all
    });
    let args = ["train", "--device", "interp", "--mode", "compiled", "--steps", "5", "--mlflow", &url];
    let told = events(&[&args[..], &SMALL].concat());
    let asked = server.join().unwrap();
    let names: Vec<&str> = asked.iter().map(|(what, _)| &what[..]).collect();
    assert!(names.starts_with(&["experiments/create", "experiments/search", "runs/create", "runs/log-batch"]), "{names:?}");
    assert_eq!(asked[2].1["experiment_id"], "7");
    assert!(asked[3].1["params"].as_array().unwrap().iter().any(|p| p["key"] == "layers" && p["value"] == "8"), "{}", asked[3].1);
    let metrics: Vec<&Value> = asked.iter().filter_map(|(_, b)| b["metrics"].as_array()).flatten().collect();
    let sent: Vec<(u64, u64)> = metrics
        .iter()
        .filter(|m| m["key"] == "loss")
        .map(|m| (m["step"].as_u64().unwrap(), m["value"].as_f64().unwrap().to_bits()))
        .collect();
    assert_eq!(sent, losses(&told));
    assert!(metrics.iter().any(|m| m["key"] == "accuracy") && metrics.iter().all(|m| m["timestamp"].as_u64() > Some(1_600_000_000_000)));
    assert_eq!(asked.last().unwrap().1["status"], "FINISHED");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    fails(&["train", "points", "--device", "interp", "--mlflow", &format!("http://{nobody}")], 1, "tracking server");
}

#[test]
fn explains_every_stage_without_a_device() {
    let summary = succeeds(&["explain", "digits"]);
    assert!(summary.contains("operators become 7 kernels in WGSL"), "{summary}");
    for (stage, part) in [
        ("graph", "cross_entropy"),
        ("joint", "graph"),
        ("loops", "loops"),
        ("kernels", "kernel"),
        ("source", "@compute"),
        ("memory", "binding 0: arena"),
        ("fusion", "not fused:"),
    ] {
        let text = succeeds(&["explain", "digits", "layers=16", "--stage", stage]);
        assert!(text.contains(part), "--stage {stage} has no `{part}`:\n{}", &text[..text.len().min(2000)]);
    }
    assert!(succeeds(&["explain", "tiny", "--target", "ptx", "--stage", "source"]).contains(".visible .entry"));
    let events = events(&["explain", "tinygpt", "--stage", "fusion"]);
    assert_eq!(events[0]["event"], "explanation");
    assert!(events[0]["text"].as_str().unwrap().contains("launch 0"));
}

#[test]
fn benches_what_is_asked_for() {
    let events = events(&["bench", "--device", "interp", "--only", "tiny"]);
    assert_eq!(events[0]["event"], "device");
    let steps: Vec<&Value> = events.iter().filter(|e| e["event"] == "step").collect();
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|e| e["workload"] == "tiny" && e["ms_per_step"].as_f64().unwrap() > 0.0));
    assert!(events.iter().all(|e| e["workload"] != "mlp"));
    let text = succeeds(&["bench", "--device", "interp", "--only", "matmul,copy"]);
    assert!(text.contains("skipped, the interpreter"), "{text}");
}

#[test]
fn lists_every_device() {
    let events = events(&["devices"]);
    let names: Vec<&str> = events.iter().map(|e| e["device"].as_str().unwrap()).collect();
    assert!(["cpu", "cuda", "wgpu", "interp"].iter().all(|n| names.contains(n)), "{names:?}");
    assert!(events.iter().all(|e| e["available"] == true || !e["problem"].as_str().unwrap().is_empty()));
    assert!(available("interp"));
}

#[test]
fn the_oracle_takes_its_arguments() {
    fails(&["oracle", "--target", "nothing", "--dir", "."], 1, "");
    fails(&["oracle", "--dir", "/nonexistent"], 1, "/nonexistent");
}

#[test]
fn wrong_arguments_are_explained() {
    fails(&["train"], 2, "<PRESET>");
    fails(
        &["train", "digitz", "--device", "interp"],
        1,
        "no such preset; use points, digits, digits-cnn, autoencoder, addition, digits-resnet,",
    );
    fails(&["train", "digits", "--device", "gpu"], 2, "use cpu, cuda, cuda:1, wgpu or interp");
    fails(&["train", "digits", "--device", "interp", "speed=1"], 1, "digits has layers, optimizer");
    fails(&["train", "digits", "--device", "interp", "batch=0"], 1, "batch: 0 is too small");
    fails(&["bench", "--device", "cpu", "--adapter", "x"], 1, "use it with --device wgpu");
    for device in ["cpu", "wgpu", "interp"] {
        fails(&["bench", "--device", device, "--matmul-precision", "high"], 1, "computes f32 matrix products in f32");
        fails(&["train", "points", "--device", device, "--matmul-precision", "medium"], 1, "use it with CUDA");
    }
    fails(&["explain", "points", "--matmul-precision", "high"], 1, "wgsl computes f32 matrix products in f32");
    fails(&["bench", "--adapter", "no adapter is called this"], 1, "no adapter is called this");
    fails(&["train", "digits", "--steps", "0"], 2, "0 is not in 1..");
    fails(&["train", "digits", "--resume"], 2, "--checkpoint");
    fails(&["bench", "--only", "everything"], 1, "there are tiny, mlp");
    fails(&["explain", "nothing"], 1, "no such preset or workload");
    fails(&["explain", "gpt3"], 1, "gpt2");
    fails(&["explain", "tiny", "batch=3"], 1, "a workload has none");
    fails(&["fly"], 2, "unrecognized subcommand");
    fails(&["--log", "=[", "devices"], 2, "--log");
    // The error is an event too.
    let o = aludel(&["train", "digitz", "--json"]);
    let value: Value = serde_json::from_str(out(&o).lines().last().unwrap()).unwrap();
    assert_eq!(value["event"], "error");
}
