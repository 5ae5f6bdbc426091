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

/// Ctrl-C reaches a script wherever it is, once: what it does about it is not interrupted again.
#[test]
#[cfg(unix)]
fn an_interruption_is_an_exception_of_the_script() {
    use std::io::{BufRead, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("waits.py");
    for waits in [
        "while True: pass",
        "while True: ('a' * 10**7).count('ab')",
        "time.sleep(100)",
        "input()",
        "for line in sys.stdin: pass",
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "repr(deep)",
        "sum(itertools.count())",
        "while True: x = (x @ x).tanh()",
        "while True: step()",
    ] {
        let script = format!(
            "import itertools, re, sys, time, torch\nx = torch.randn(64, 64)\nm = torch.nn.Linear(4, 4)\no = torch.optim.SGD(m.parameters(), 0.1)\n\
             deep = [1]\nfor _ in range(60): deep = [deep, deep]\n\
             def step():\n    o.zero_grad()\n    m(x[:, :4]).pow(2).mean().backward()\n    o.step()\n\
             print('begun', flush=True)\ntry:\n    {waits}\nexcept KeyboardInterrupt:\n    for i in range(300000): pass\n    print('saved', i)\n    raise\n"
        );
        std::fs::write(&file, script).unwrap();
        for mode in ["eager", "compiled"] {
            let mut child = Command::new(ALUDEL)
                .args(["run", "--device", "interp", "--mode", mode, file.to_str().unwrap()])
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
            assert!(lines.any(|l| l == "begun"));
            std::thread::sleep(std::time::Duration::from_millis(300));
            let sent = std::time::Instant::now();
            assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
            assert_eq!(lines.collect::<Vec<_>>(), ["saved 299999"], "{waits}");
            assert_eq!(child.wait().unwrap().code(), Some(130), "{waits}");
            assert!(sent.elapsed().as_secs() < 10, "{waits}: {:?}", sent.elapsed());
        }
    }
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
fn predicts_a_step_on_many_ranks() {
    let args = ["explain", "points", "layers=64,64", "--target", "ptx", "--ranks", "64", "--bandwidth", "50", "--latency", "3"];
    let all = events(&args);
    let of = |way: &str, ranks: u64, what: &str| {
        let found = all.iter().find(|e| e["event"] == "prediction" && e["way"] == way && e["ranks"] == ranks);
        found.unwrap_or_else(|| panic!("{way} on {ranks}: {all:?}"))[what].as_f64().unwrap()
    };
    for way in ["data parallel", "fully sharded"] {
        assert_eq!(of(way, 1, "exchanges_ms"), 0.0, "{way}");
        assert!(of(way, 64, "exchanges_ms") > of(way, 2, "exchanges_ms"), "{way}");
        assert!(of(way, 64, "ms_per_step") >= of(way, 64, "kernels_ms"), "{way}");
    }
    // What is divided among ranks shrinks with their number; what every rank has does not.
    assert_eq!(of("data parallel", 64, "state_bytes"), of("data parallel", 2, "state_bytes"));
    assert!(of("fully sharded", 64, "state_bytes") < 0.2 * of("fully sharded", 1, "state_bytes"));
    fails(&["explain", "points", "--ranks", "5000"], 2, "5000");
    fails(&["explain", "points", "--bandwidth", "5"], 2, "--ranks");
    fails(&["explain", "points", "--ranks", "2", "--bandwidth=-1"], 1, "a network");
}

#[test]
fn a_roofline_bounds_each_launch() {
    fails(&["bench", "--device", "interp", "--roofline", "--only", "tiny"], 1, "which launches nothing");
    fails(&["bench", "--roofline", "--only", "everything"], 1, "there are tiny, mlp");
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no C compiler");
        return;
    }
    let events = events(&["bench", "--device", "cpu", "--roofline", "--only", "tiny"]);
    let of = |name: &str| events.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    let ceilings = of("ceilings")[0];
    for key in ["copy_gb_per_s", "product_tflop_per_s", "launch_ms"] {
        assert!(ceilings[key].as_f64().is_some_and(|v| v > 0.0), "{ceilings}");
    }
    let step = of("roofline")[0];
    let launches: u64 = of("roofline_launch").iter().filter_map(|l| l["times"].as_u64()).sum();
    assert_eq!(Some(launches), step["launches"].as_u64());
    let launch_ms = ceilings["launch_ms"].as_f64().expect("a number");
    for launch in of("roofline_launch") {
        let (ms, floor, times) = (launch["ms"].as_f64(), launch["floor_ms"].as_f64(), launch["times"].as_f64().expect("a count"));
        assert!(ms > Some(0.0) && floor >= Some(launch_ms * times * 0.999), "{launch}");
    }
}

#[test]
fn steps_are_compared_with_earlier_ones() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("before.jsonl");
    let before = succeeds(&["bench", "--device", "interp", "--only", "tiny", "--json", "--machine", "m"]);
    let now = |factor: f64| {
        let lines = before.lines().map(|l| {
            let mut event: serde_json::Value = serde_json::from_str(l).expect("JSON");
            if let Some(ms) = event["ms_per_step"].as_f64() {
                event["ms_per_step"] = (ms * factor).into();
            }
            event.to_string() + "\n"
        });
        std::fs::write(&file, lines.collect::<String>()).expect("it is written");
        file.to_str().expect("UTF-8").to_string()
    };
    let text = succeeds(&["bench", "--device", "interp", "--only", "tiny", "--compare", &now(100.0)]);
    assert!(text.contains("beside m, ") && text.contains("faster") && text.contains("geometric mean"), "{text}");
    fails(&["bench", "--device", "interp", "--only", "tiny", "--compare", &now(0.01)], 1, "became slower by more than 5 %: tiny eager");
    fails(&["bench", "--device", "cpu", "--only", "tiny", "--compare", &now(1.0)], 1, "compare results of one device");
    fails(&["bench", "--only", "tiny", "--compare", "no such file"], 1, "no such file");
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

/// Of two ranks that are threads; counts are exact, and the way changes no loss.
#[test]
fn measures_steps_of_several_ranks() {
    let bench = |more: &[&str]| events(&[&["bench", "--ranks", "2", "--only", "tiny", "--parallel", "fsdp,none,ddp"], more].concat());
    let of = |events: &[Value], way: &str| events.iter().find(|e| e["event"] == "parallel" && e["parallel"] == way).unwrap().clone();
    let loss = |events: &[Value], way: &str| of(events, way)["loss"].as_f64().unwrap();
    // 26122 parameters; of 2 ranks, a rank sends half of what all sum, twice.
    const ALL: u64 = 26_122 * 4;
    if available("cpu") {
        let measured = bench(&["--device", "cpu"]);
        let counts = |way: &str| ["exchanges", "operand_bytes", "sent_bytes"].map(|k| of(&measured, way)[k].as_u64().unwrap());
        assert_eq!(counts("none"), [0, 0, 0]);
        assert_eq!(counts("ddp"), [1, ALL, ALL]);
        // Three layers are gathered and scattered. For the backward pass all but the first are gathered again, whose input has no gradient.
        assert_eq!(counts("fsdp"), [8, 192_336, 140_092]);
        let state = |way: &str| of(&measured, way)["state_mib"].as_f64().unwrap();
        assert_eq!(state("none"), state("ddp"));
        assert!(state("fsdp") < 0.51 * state("none"), "{} of {}", state("fsdp"), state("none"));
        // Gathered in bf16, shards take half the way.
        assert_eq!(of(&bench(&["--amp", "bf16"]), "fsdp")["sent_bytes"], 70_046);
        let wire = events(&["bench", "--ranks", "2", "--only", "all_reduce"]);
        assert!(wire.iter().any(|e| e["event"] == "all_reduce" && e["bus_gb_per_s"].as_f64().unwrap() > 0.0), "{wire:?}");
    }
    let measured = bench(&["--device", "interp"]);
    // None first, however they are named: the others are compared with it.
    let ways: Vec<&Value> = measured.iter().filter(|e| e["event"] == "parallel").map(|e| &e["parallel"]).collect();
    assert_eq!(ways, ["none", "ddp", "fsdp"]);
    assert!(of(&measured, "fsdp")["of_none"].as_f64().unwrap() > 0.0);
    for way in ["ddp", "fsdp"] {
        let (a, b) = (loss(&measured, "none"), loss(&measured, way));
        assert!((a - b).abs() < 1e-6, "every rank has the same batch: {way} {b}, none {a}");
    }
}

#[test]
fn ranks_that_cannot_be_measured_are_told_what_to_do() {
    fails(&["bench", "--parallel", "ddp"], 1, "--ranks 2");
    fails(&["bench", "--parallel", "ddp", "--device", "cuda"], 1, "aludel launch --nproc 2 -- bench --device cuda");
    fails(&["bench", "--parallel", "ddp", "--device", "cuda", "--ranks", "2"], 1, "a process for each GPU");
    fails(&["bench", "--parallel", "ddp", "--device", "wgpu"], 1, "runs no collectives");
    fails(&["bench", "--ranks", "2", "--only", "tiny"], 1, "add --parallel");
    fails(&["bench", "--ranks", "2", "--parallel", "fsdp", "--amp", "f16", "--only", "tiny"], 1, "use --amp bf16");
    fails(&["bench", "--parallel", "ring"], 2, "fsdp");
    let started = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_aludel")).args(args).envs([("RANK", "0"), ("WORLD_SIZE", "2")]).output();
    let text = err(&started(&["bench", "--only", "tiny"]).unwrap());
    assert!(text.contains("add --parallel"), "{text}");
    let text = err(&started(&["bench", "--only", "tiny", "--parallel", "ddp", "--ranks", "2"]).unwrap());
    assert!(text.contains("is a rank that was started"), "{text}");
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

/// Rows of a table of somebody's own: it learns them, resumes in the middle of an epoch, and says what it cannot take.
#[test]
fn trains_on_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let rows: String = (0..100).map(|i| format!("{},{},{}\n", i % 7, ["red", "blue"][i % 2], ["no", "yes"][i % 2])).collect();
    std::fs::write(&path, format!("n,colour,label\n{rows}")).unwrap();
    let path = path.display().to_string();
    let train = |more: &[&str]| {
        let all = ["train", "points", "layers=8", "batch=16", "--data", &path, "--device", "interp", "--log-every=1"];
        events(&[&all[..], more].concat())
    };
    let whole = train(&["--mode=compiled", "--steps=40"]);
    let result = whole.iter().find(|e| e["event"] == "result").unwrap();
    assert_eq!(result["accuracy"], 1.0, "{result}");
    let to = folder.path().join("run").display().to_string();
    let first = train(&["--mode=compiled", "--steps=13", "--checkpoint", &to]);
    let rest = train(&["--mode=compiled", "--steps=40", "--checkpoint", &to, "--resume"]);
    assert_eq!([losses(&first), losses(&rest)].concat(), losses(&whole), "bit for bit");
    fails(&["train", "addition", "--data", &path, "--device", "interp"], 1, "does not take examples [4] of 2 classes");
    fails(&["train", "digits", "--data", "nowhere.csv", "--device", "interp"], 1, "nowhere.csv");
    std::fs::write(folder.path().join("rows.csv"), "n,label\n1,a\n2\n").unwrap();
    fails(&["train", "digits", "--data", &path, "--device", "interp"], 1, "row 1 (counted from 0): incorrect number of fields");
}

/// A picture of one shade, 8 pixels square, as BMP.
fn picture(shade: u8) -> Vec<u8> {
    let mut bytes = b"BM\0\0\0\0\0\0\0\0".to_vec();
    for word in [54u32, 40, 8, 8, 1 | 24 << 16, 0, 192, 0, 0, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([shade; 192]);
    bytes
}

/// Images in a folder for each class: learned by a convolutional network; one that cannot be read ends the run, and what was learned is kept.
#[test]
fn trains_on_folders_of_images() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("images");
    for (class, shade) in [("dark", 20), ("light", 200)] {
        std::fs::create_dir_all(images.join(class)).unwrap();
        (0..20u8).for_each(|i| std::fs::write(images.join(class).join(format!("{i:02}.bmp")), picture(shade + i)).unwrap());
    }
    let (data, to) = (images.display().to_string(), folder.path().join("run").display().to_string());
    let all =
        ["train", "digits-cnn", "channels=4,4", "batch=8", "lr=0.01", "seed=1", "--data", &data, "--device", "interp", "--log-every=1"];
    let args = |more: &[&'static str]| [&all[..], &["--mode=compiled"], more].concat();
    let whole = events(&args(&["--steps=12"]));
    let result = whole.iter().find(|e| e["event"] == "result").unwrap();
    assert_eq!(result["accuracy"], 1.0, "{result}");
    // By this seed it is not in the first batch.
    std::fs::write(images.join("dark/07.bmp"), b"no picture").unwrap();
    let o = aludel(&[&args(&["--steps=12", "--checkpoint-every=1000"])[..], &["--checkpoint", &to, "--json"]].concat());
    let text = out(&o);
    assert_eq!(o.status.code(), Some(1), "{text}{}", err(&o));
    assert!(text.contains("07.bmp: is no image that is read here"), "{text}");
    let made = text.lines().filter(|l| l.contains("\"step\"") && l.contains("\"loss\"")).count();
    // With a picture in its place it goes on where it was, and comes to the same.
    std::fs::write(images.join("dark/07.bmp"), picture(27)).unwrap();
    let rest = events(&[&args(&["--steps=12", "--resume"])[..], &["--checkpoint", &to]].concat());
    assert!((1..4).contains(&made) && losses(&rest) == losses(&whole)[made..], "{made} steps before: {text}");
    fails(&["train", "digits-cnn", "batch=64", "--data", &data, "--device", "interp"], 1, "give batch=32");
}

#[path = "../../crates/data/tests/serving/mod.rs"]
mod serving;

/// What lies in a bucket below an address, and files of a web server, are trained on as what is on disk, and who may not read it is told.
#[test]
fn trains_on_data_of_servers() {
    use serving::{Manner, Server};
    let table = |rows: std::ops::Range<u32>| {
        let rows: String = rows.map(|i| format!("{},{}\n", i % 7, ["no", "yes"][(i % 7 > 3) as usize])).collect();
        format!("n,label\n{rows}").into_bytes()
    };
    let server = Server::start([
        ("/bucket/rows/0.csv", Manner::Signed, table(0..60)),
        ("/bucket/rows/1.csv", Manner::Signed, table(60..100)),
        ("/other/2.csv", Manner::Torn, table(0..100)),
    ]);
    let train = |data: &str, secret: bool| {
        let args =
            ["train", "points", "layers=8", "batch=16", "--mode=compiled", "--steps=30", "--device", "interp", "--json", "--data", data];
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_aludel"));
        command.args(args).env("AWS_ENDPOINT", server.url("")).env("AWS_REGION", "here").env("AWS_SKIP_SIGNATURE", (!secret).to_string());
        if secret {
            command.envs([("AWS_ACCESS_KEY_ID", "someone"), ("AWS_SECRET_ACCESS_KEY", "secret")]);
        }
        command.output().unwrap()
    };
    for (data, secret) in [("s3://bucket/rows/", true), (&server.url("/other/2.csv"), false)] {
        let o = train(data, secret);
        assert!(o.status.success() && out(&o).contains("\"accuracy\":1.0"), "{data}: {}{}", out(&o), err(&o));
    }
    let told = out(&train("s3://bucket/rows/0.csv", false)).to_string();
    assert!(told.contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true"), "{told}");
}

#[test]
fn modules_are_found_along_pythonpath() {
    let folder = tempfile::tempdir().unwrap();
    let places = [folder.path().join("scripts"), folder.path().join("shared")];
    for place in &places {
        std::fs::create_dir(place).unwrap();
    }
    std::fs::write(places[1].join("elsewhere.py"), "value = 7\n").unwrap();
    let script = places[0].join("script.py");
    std::fs::write(&script, "import elsewhere\nprint(elsewhere.value)\n").unwrap();
    let run = |path: &Path| Command::new(ALUDEL).args(["run", "--device", "interp"]).arg(&script).env("PYTHONPATH", path).output().unwrap();
    assert_eq!(out(&run(&places[1])), "7\n");
    assert!(err(&run(&places[0])).contains("No module named 'elsewhere'"));
}
