//! Sessions: training, pausing, resuming, sharing, and going on after the server ended.

use crate::common::*;
use aludel::Device;
use aludel_models::presets::Preset;
use aludel_protocol::Pane;
use aludel_protocol::remote::*;

#[tokio::test]
async fn losses_are_those_of_a_local_run() {
    let server = Server::start(&[]);
    let config = digits();
    for pane in Pane::BOTH {
        let want = local(&config, pane, &Device::interpreter(), 6);
        let mut client = Client::connect(server.address).await;
        client.create(job(&config, pane, 6)).await;
        assert_eq!(client.train(6).await, want, "{pane:?}");
        // The order begins anew: the data of step 0, another model.
        assert_ne!(client.train(1).await[0], want[0]);
        let (step, tensors) = client.state().await;
        assert_eq!(step, 7);
        let names: Vec<&str> = tensors.iter().map(|(n, _)| n.as_str()).collect();
        assert!(names.iter().any(|n| n.contains("model")) && names.iter().any(|n| n.contains("exp_avg")), "{names:?}");
        client.send(&ClientMessage::Inspect).await;
        assert_eq!(client.receive().await, Some(ServerMessage::Inspected(None)), "the interpreter has no program");
    }
    assert_eq!(server.metric("aludel_steps_total{device=\"interp\",pane=\"eager\"}"), Some(7.0));
    assert_eq!(server.metric("aludel_step_seconds_count{device=\"interp\",pane=\"compiled\"}"), Some(7.0));
    assert_eq!(server.metric("aludel_sessions_begun_total"), Some(2.0));
}

/// Examples of integers, and a graph of a transformer.
#[tokio::test]
async fn a_transformer_trains_too() {
    let server = Server::start(&[]);
    let fields = [("digits", "1"), ("context", "6"), ("layers", "1"), ("width", "8"), ("heads", "2"), ("batch", "4")];
    let config = preset(Preset::Addition, &fields);
    for pane in Pane::BOTH {
        let mut client = Client::connect(server.address).await;
        client.create(job(&config, pane, 3)).await;
        assert_eq!(client.train(3).await, local(&config, pane, &Device::interpreter(), 3), "{pane:?}");
    }
}

/// Through C, as the server's CPU runs it.
#[cfg(feature = "cpu")]
#[tokio::test]
async fn the_cpu_trains_as_the_interpreter_does() {
    trains_as_the_interpreter_does("cpu").await;
}

/// Through PTX, as a GPU of the server's runs it.
#[cfg(feature = "cuda")]
#[tokio::test]
async fn a_gpu_trains_as_the_interpreter_does() {
    let Some(gpu) = aludel_runtime::cuda::usage().into_iter().next() else {
        return eprintln!("SKIPPED: no NVIDIA GPU; docs/gpu-checks.md says how to run this on one");
    };
    let server = trains_as_the_interpreter_does("cuda").await;
    let label = format!("aludel_gpu_memory_used_bytes{{gpu=\"{}\",name=\"{}\"}}", gpu.index, gpu.name);
    assert!(server.metric(&label) > Some(0.0), "{label}");
}

async fn trains_as_the_interpreter_does(device: &str) -> Server {
    let server = Server::start(&["--device", device]);
    let config = digits();
    let want = local(&config, Pane::Compiled, &Device::interpreter(), 6);
    for pane in Pane::BOTH {
        let mut client = Client::connect(server.address).await;
        client.create(job(&config, pane, 6)).await;
        for (k, (got, want)) in client.train(6).await.into_iter().zip(&want).enumerate() {
            // Sums in another order: a few ulps a step, which AdamW's division by small moments enlarges.
            assert!((got - want).abs() < 1e-3 * want.abs().max(1.0), "{pane:?} step {k}: {got} and {want}");
        }
        client.send(&ClientMessage::Inspect).await;
        match (client.receive().await, pane) {
            (Some(ServerMessage::Inspected(Some(i))), Pane::Compiled) => {
                assert!(!i.kernels.is_empty() && i.kernels.iter().all(|k| !k.source.is_empty()) && i.memory.state > 0);
            }
            (Some(ServerMessage::Inspected(None)), Pane::Eager) => {}
            other => panic!("{other:?}"),
        }
    }
    server
}

#[tokio::test]
async fn a_session_goes_on_while_nobody_listens() {
    let server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    let key = client.create(job(&digits(), Pane::Compiled, 4)).await;
    client.send(&ClientMessage::Run { steps: None }).await;
    assert_eq!(client.receive().await, Some(ServerMessage::Running { running: true, step: 0 }));
    drop(client);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;

    let (mut again, welcome) = Client::hello(server.address, None, Some(key.clone())).await;
    let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("{welcome:?}") };
    assert!(r.running && r.step > 0 && !r.losses.is_empty() && r.session == key && r.pane == Pane::Compiled, "{r:?}");
    again.send(&ClientMessage::Pause).await;
    let (_, last) = again.until_paused().await;
    assert!(last.step > r.step);

    // Another page takes it up: the first is told, and the session is not its any more.
    let (mut other, welcome) = Client::hello(server.address, None, Some(key.clone())).await;
    assert!(matches!(welcome, ServerMessage::Welcome { resumed: Some(_), .. }));
    assert_eq!(again.receive().await, Some(ServerMessage::TakenOver));
    assert_eq!(again.receive().await, None);
    other.send(&ClientMessage::Cancel).await;
    other.send(&ClientMessage::Run { steps: Some(1) }).await;
    assert_eq!(other.refusal().await, Refusal::NoSession);
    let (mut late, welcome) = Client::hello(server.address, None, Some(key)).await;
    assert!(matches!(welcome, ServerMessage::Welcome { resumed: None, .. }));
    assert_eq!(late.refusal().await, Refusal::NoSession);
    // Its place is free, its memory too.
    for _ in 0..100 {
        if server.metric("aludel_sessions{state=\"running\"}") == Some(0.0)
            && server.metric("aludel_device_memory_in_use_bytes{device=\"interp\"}") == Some(0.0)
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("a cancelled session holds memory: {:?}", server.metric("aludel_device_memory_in_use_bytes{device=\"interp\"}"));
}

#[tokio::test]
async fn two_clients_share_a_device() {
    let server = Server::start(&[]);
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut c = Client::connect(server.address).await;
        c.create(job(&digits(), Pane::Compiled, 4)).await;
        c.send(&ClientMessage::Run { steps: None }).await;
        clients.push(c);
    }
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let mut steps = Vec::new();
    for c in &mut clients {
        c.send(&ClientMessage::Pause).await;
        steps.push(c.until_paused().await.1.step);
    }
    let (few, many) = (steps[0].min(steps[1]), steps[0].max(steps[1]));
    // Equal turns, on a machine that does other things too.
    assert!(few * 3 > many, "{steps:?}");
    assert!(server.metric("aludel_sessions{state=\"paused\"}") == Some(2.0));
}

#[tokio::test]
async fn requests_may_come_before_their_turn() {
    let server = Server::start(&[]);
    let mut client = Client::connect(server.address).await;
    // Without waiting for the session: they are answered in order once it is there.
    client.send(&ClientMessage::Create(Box::new(job(&digits(), Pane::Eager, 2)))).await;
    client.send(&ClientMessage::Run { steps: Some(2) }).await;
    client.send(&ClientMessage::FetchState).await;
    assert!(matches!(client.receive().await, Some(ServerMessage::Created { .. })));
    let (mut paused, mut fetched) = (false, false);
    while !(paused && fetched) {
        match client.receive().await.expect("an answer") {
            ServerMessage::Running { running: false, step } => {
                assert_eq!(step, 2);
                paused = true;
            }
            ServerMessage::State { step, .. } => {
                assert!(step <= 2);
                fetched = true;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_loss_that_is_no_number_pauses() {
    let server = Server::start(&[]);
    let mut config = digits();
    config.learning_rate = 1e38;
    config.optimizer = aludel_models::presets::Optimizer::Sgd;
    let mut client = Client::connect(server.address).await;
    client.create(job(&config, Pane::Compiled, 4)).await;
    client.send(&ClientMessage::Run { steps: None }).await;
    client.until_paused().await;
    let Some(ServerMessage::Failed { message }) = client.receive().await else { panic!("no message") };
    assert!(message.contains("is not a number. Lower the learning rate"), "{message}");
    // Nothing is lost.
    assert!(!client.state().await.1.is_empty());
}

#[tokio::test]
async fn sessions_survive_the_server() {
    let dir = tempfile::tempdir().expect("a directory");
    let state = dir.path().join("state");
    let logs = dir.path().join("logs");
    let args = ["--state-dir", state.to_str().unwrap(), "--logdir", logs.to_str().unwrap()];
    let config = digits();
    let want = local(&config, Pane::Eager, &Device::interpreter(), 6);
    let mut keys = Vec::new();
    let mut paused = Vec::new();
    let server = Server::start(&args);
    for pane in Pane::BOTH {
        let mut client = Client::connect(server.address).await;
        keys.push(client.create(job(&config, pane, 6)).await);
        client.train(3).await;
        paused.push(client);
    }
    // One that is ended is not kept.
    let mut client = Client::connect(server.address).await;
    let ended = client.create(job(&config, Pane::Eager, 6)).await;
    client.send(&ClientMessage::Cancel).await;
    // One trains on.
    let mut client = Client::connect(server.address).await;
    let running = client.create(job(&config, Pane::Compiled, 6)).await;
    client.send(&ClientMessage::Run { steps: None }).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    server.terminate();
    let kept = std::fs::read_dir(&state).expect("it is there").flatten().filter(|e| e.path().is_dir()).count();
    assert_eq!(kept, 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&state).expect("it is there").permissions().mode() & 0o077, 0, "keys are for the server's user alone");
    }
    let events = std::fs::read_dir(&logs).expect("event files").count();
    assert_eq!(events, 4);

    let server = Server::start(&args);
    for (key, pane) in keys.iter().zip(Pane::BOTH) {
        let (mut client, welcome) = Client::hello(server.address, None, Some(key.clone())).await;
        let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("{welcome:?}") };
        assert_eq!((r.step, r.running, r.pane, r.losses.len()), (3, false, pane, 3));
        let got = client.train(3).await;
        for (got, want) in got.iter().zip(&want[3..]) {
            assert!((got - want).abs() < 1e-4 * want.abs(), "{pane:?}: {got} and {want}");
        }
        if pane == Pane::Eager {
            assert_eq!(got, want[3..], "as if it had never ended");
        }
    }
    let (mut client, welcome) = Client::hello(server.address, None, Some(running)).await;
    let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("{welcome:?}") };
    assert!(r.running && r.step > 0);
    client.send(&ClientMessage::Cancel).await;
    let (mut client, _) = Client::hello(server.address, None, Some(ended)).await;
    assert_eq!(client.refusal().await, Refusal::NoSession);
    assert_eq!(server.metric("aludel_sessions_restored_total"), Some(3.0));
    // Killed, what was saved last is still there.
    server.kill();
    let server = Server::start(&args);
    let (_, welcome) = Client::hello(server.address, None, Some(keys[0].clone())).await;
    let ServerMessage::Welcome { resumed: Some(r), .. } = welcome else { panic!("{welcome:?}") };
    assert_eq!(r.step, 3);
}

/// Who has as many sessions as there may be can have another in the place of one.
#[tokio::test]
async fn a_session_takes_the_place_of_the_one_before() {
    let server = Server::start(&["--client-sessions", "1", "--max-sessions", "1"]);
    let mut client = Client::connect(server.address).await;
    for k in 0..6 {
        client.create(job(&digits(), Pane::Compiled, 1)).await;
        if k % 2 == 0 {
            client.send(&ClientMessage::Run { steps: None }).await;
            while !matches!(client.receive().await, Some(ServerMessage::Running { running: true, .. })) {}
            client.send(&ClientMessage::Pause).await;
            while !matches!(client.receive().await, Some(ServerMessage::Running { running: false, .. })) {}
        }
    }
    assert_eq!(server.metric("aludel_sessions_begun_total"), Some(6.0));
}

/// Sessions that train at once compute what each computes alone, to the last bit of its state.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_at_once_compute_what_they_do_alone() {
    let server = Server::start(&[]);
    let jobs: Vec<Job> = Pane::BOTH
        .into_iter()
        .flat_map(|pane| {
            ["16", "8,8", "32"].map(|layers| {
                let fields = [("layers", layers), ("batch", "8"), ("optimizer", "adamw"), ("lr", "0.01")];
                job(&preset(Preset::Digits, &fields), pane, 4)
            })
        })
        .collect();
    let train = async |job: Job| {
        let mut client = Client::connect(server.address).await;
        client.create(job).await;
        client.send(&ClientMessage::Run { steps: Some(12) }).await;
        let (losses, _) = client.until_paused().await;
        let state = client.state().await;
        client.send(&ClientMessage::Cancel).await;
        (losses.last().map(|(step, loss)| (*step, loss.to_bits())), state)
    };
    let mut alone = Vec::new();
    for job in &jobs {
        alone.push(train(job.clone()).await);
    }
    let at_once = futures_util::future::join_all(jobs.into_iter().map(train)).await;
    for (k, (one, other)) in alone.iter().zip(&at_once).enumerate() {
        assert_eq!(one.0, other.0, "session {k}");
        assert!(one.1 == other.1, "the state of session {k}");
    }
}

/// Sessions that end, however they do, leave neither processes, descriptors, threads nor mappings behind; those whose page only went away
/// stay, and have a place.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn sessions_that_end_leave_nothing_behind() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start(&["--logdir", dir.path().to_str().unwrap()]);
    let held = || {
        let of = |what: &str| std::fs::read_dir(format!("/proc/{}/{what}", server.id())).expect("a server").count();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.id())).expect("mappings").lines().count();
        (of("fd"), of("task"), maps)
    };
    let whole = job(&digits(), Pane::Compiled, 1);
    let mut first = None;
    for k in 0..24 {
        let mut client = Client::connect(server.address).await;
        // A graph of its own each time.
        let text = format!("graph g(%x: f32[2]) {{\n%y = mul(%x, other={k}.5) : f32[2]\n%s = sum(%y) : f32[]\nreturn %s }}");
        client.create(if k % 2 == 0 { graph_job(Pane::Compiled, &text) } else { whole.clone() }).await;
        client.train(1).await;
        client.send(&ClientMessage::Cancel).await;
        drop(client);
        if k == 7 {
            first = Some(settled(&server, &held).await);
        }
    }
    let (first, last) = (first.expect("it was looked at"), settled(&server, &held).await);
    assert!(
        last.0 <= first.0 + 2 && last.1 <= first.1 + 4 && last.2 <= first.2 + 24,
        "descriptors, threads, mappings: {first:?}, then {last:?}"
    );
    // Pages that hang up.
    for _ in 0..8 {
        let mut client = Client::connect(server.address).await;
        client.create(whole.clone()).await;
    }
    let mut client = Client::connect(server.address).await;
    client.send(&ClientMessage::Create(Box::new(whole))).await;
    assert!(matches!(client.refusal().await, Refusal::Limit { what, .. } if what == "sessions of one client"));
}

/// What the server has when sessions have gone.
#[cfg(target_os = "linux")]
async fn settled<T>(server: &Server, held: &dyn Fn() -> T) -> T {
    for _ in 0..200 {
        if server.workers().is_empty() && server.metric("aludel_connections") == Some(0.0) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    held()
}
