//! The session against servers that do what servers do: answer, go away, forget, refuse.

use super::*;
use aludel_ir::DType;
use aludel_protocol::{Counts, Pane};

fn floats(values: &[f32]) -> TensorData {
    TensorData { dtype: DType::F32, shape: vec![values.len() as u32], bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect() }
}

/// A model of one weight on five examples, two at a time.
fn job() -> Job {
    Job {
        name: "test".into(),
        device: 9,
        pane: Pane::Compiled,
        graph: "graph".into(),
        feeds: vec![Feed::Rows { column: 0 }, Feed::State(floats(&[1.0]))],
        loss: 0,
        columns: vec![floats(&[0.0, 1.0, 2.0, 3.0, 4.0])],
        order: vec![0, 1, 2, 3, 4, 0],
        batch: 2,
    }
}

fn session(key: Option<SessionKey>) -> Session {
    Session::new("cpu".into(), job(), vec!["w".into()], key)
}

fn key(name: &str) -> SessionKey {
    SessionKey(name.into())
}

fn welcome(resumed: Option<Resumed>) -> Signal {
    let device = |id: &str| ServerDevice { id: id.into(), backend: id.to_uppercase(), name: String::new() };
    let limits =
        Limits { message_bytes: 10_000, graph_nodes: 100, tensor_bytes: 10_000, steps: 1_000_000, sessions: 4, compile_seconds: 30 };
    let devices = vec![device("cuda:0"), device("cpu")];
    Signal::Message(ServerMessage::Welcome { version: REMOTE_VERSION, server: "test".into(), devices, limits, resumed })
}

fn created(name: &str) -> Signal {
    Signal::Message(ServerMessage::Created { session: key(name), pane: Pane::Compiled })
}

fn resumed(step: u64, running: bool) -> Option<Resumed> {
    let losses = (1..=step).map(|s| (s, 1.0 / s as f32)).collect();
    Some(Resumed { session: key("k"), name: "test".into(), device: 1, pane: Pane::Compiled, step, running, losses })
}

fn progress(step: u64, losses: &[(u64, f32)]) -> Signal {
    Signal::Message(ServerMessage::Progress(Progress {
        pane: Pane::Compiled,
        step,
        losses: losses.to_vec(),
        elapsed_ms: step as f64,
        ms_per_step: Some(1.0),
        counts: Counts::default(),
        first_ms: Some(5.0),
        scaling: None,
    }))
}

fn sent(effects: &[Effect]) -> Vec<&ClientMessage> {
    effects.iter().filter_map(|e| if let Effect::Send(m) = e { Some(m) } else { None }).collect()
}

fn told(effects: &[Effect]) -> Option<&Connection> {
    effects.iter().rev().find_map(|e| if let Effect::Connection(c) = e { Some(c) } else { None })
}

/// Connects, and lets the server make the session.
fn begun(s: &mut Session) -> Vec<Effect> {
    let mut all = s.begin(Some("secret".into()), 0.0);
    for signal in [Signal::Opened, welcome(None), created("k")] {
        all.extend(s.on(signal, 1.0));
    }
    all
}

#[test]
fn a_session_is_created_and_run() {
    let mut s = session(None);
    assert_eq!(s.set_running(true, 0.0), []);
    let effects = begun(&mut s);
    let hello = ClientMessage::Hello { version: REMOTE_VERSION, token: Some("secret".into()), resume: None };
    let create = ClientMessage::Create(Box::new(Job { device: 1, ..job() }));
    assert_eq!(sent(&effects), [&hello, &create, &ClientMessage::Run { steps: None }]);
    assert_eq!(told(&effects), Some(&Connection::Ready));
    assert!(effects.contains(&Effect::Remember(key("k"))));
    assert!(matches!(s.on(progress(3, &[(3, 0.5)]), 2.0)[..], [Effect::Progress(_)]));
    assert_eq!((s.step(), sent(&s.set_running(false, 3.0))), (3, vec![&ClientMessage::Pause]));
}

#[test]
fn a_step_waits_for_its_session() {
    let mut s = session(None);
    assert_eq!(s.take_step(), []);
    let effects = begun(&mut s);
    assert_eq!(sent(&effects).last(), Some(&&ClientMessage::Run { steps: Some(1) }));
    assert_eq!(sent(&s.take_step()), [&ClientMessage::Run { steps: Some(1) }]);
}

#[test]
fn a_dropped_connection_is_taken_up_again() {
    let mut s = session(None);
    begun(&mut s);
    s.set_running(true, 1.0);
    s.on(progress(10, &[(10, 0.5)]), 2.0);
    let effects = s.on(Signal::Closed("gone".into()), 3.0);
    assert!(matches!(told(&effects), Some(Connection::Waiting { seconds: 1, .. })));
    assert_eq!(s.tick(100.0), [], "the pause is not over, and its last second has been told");
    assert!(s.tick(600.0).contains(&Effect::Open));
    let hello = s.on(Signal::Opened, 601.0);
    assert!(matches!(sent(&hello)[..], [ClientMessage::Hello { resume: Some(_), .. }]));
    // It trained on, and is still wanted to: nothing is asked for again.
    let effects = s.on(welcome(resumed(40, true)), 602.0);
    assert_eq!((sent(&effects), s.step()), (vec![], 40));
    // The losses in between come with the next report, which says how long they took.
    let Effect::Progress(p) = &s.on(progress(42, &[(41, 0.1), (42, 0.2)]), 603.0)[0] else { panic!("no progress") };
    let steps: Vec<u64> = p.losses.iter().map(|l| l.0).collect();
    assert_eq!(steps, (11..=42).collect::<Vec<_>>());
}

#[test]
fn what_was_wanted_meanwhile_is_said_on_return() {
    let mut s = session(None);
    begun(&mut s);
    s.set_running(true, 1.0);
    s.on(Signal::Closed(String::new()), 2.0);
    assert_eq!(s.set_running(false, 3.0), [], "nobody is there to be told");
    s.tick(1000.0);
    s.on(Signal::Opened, 1000.0);
    let effects = s.on(welcome(resumed(7, true)), 1001.0);
    assert_eq!(sent(&effects), [&ClientMessage::Pause]);
}

#[test]
fn pauses_grow_and_a_person_ends_them() {
    let mut s = session(None);
    s.connect(0.0);
    let mut pauses = Vec::new();
    let mut now = 0.0;
    for _ in 0..9 {
        let effects = s.on(Signal::Closed(String::new()), now);
        let Some(Connection::Waiting { seconds, .. }) = told(&effects) else { panic!("{effects:?}") };
        pauses.push(*seconds);
        now += 60_000.0;
        assert!(s.tick(now).contains(&Effect::Open));
    }
    assert_eq!(pauses, [1, 1, 2, 4, 8, 16, 30, 30, 30]);
    s.on(Signal::Closed(String::new()), now);
    assert!(s.connect(now + 1.0).contains(&Effect::Open));
}

#[test]
fn a_lost_session_goes_on_from_the_last_state() {
    let mut s = session(None);
    begun(&mut s);
    s.set_running(true, 1.0);
    s.on(progress(4, &[(4, 0.5)]), 2.0);
    assert_eq!(sent(&s.fetch(2.0)), [&ClientMessage::FetchState]);
    assert_eq!(s.fetch(2.5), [], "once is enough");
    let state = Signal::Message(ServerMessage::State { step: 4, tensors: vec![("w".into(), floats(&[2.0]))] });
    assert!(matches!(s.on(state, 3.0)[..], [Effect::State { step: 4, .. }]));
    s.on(progress(9, &[(9, 0.4)]), 4.0);
    // Killed and started again: it knows nothing.
    s.on(Signal::Closed(String::new()), 5.0);
    s.tick(1000.0);
    s.on(Signal::Opened, 1000.0);
    let effects = s.on(Signal::Message(ServerMessage::Refused(Refusal::NoSession)), 1001.0);
    assert!(effects.contains(&Effect::Open));
    let hello = s.on(Signal::Opened, 1002.0);
    assert!(matches!(sent(&hello)[..], [ClientMessage::Hello { resume: None, .. }]));
    let effects = s.on(welcome(None), 1003.0);
    let [ClientMessage::Create(job)] = sent(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(job.feeds[1], Feed::State(floats(&[2.0])));
    // Step 4 is the second of three: its rows come first now.
    assert_eq!(job.order, [2, 3, 4, 0, 0, 1]);
    let effects = s.on(created("new"), 1004.0);
    assert_eq!(told(&effects), Some(&Connection::Restored { step: 4 }));
    assert_eq!(sent(&effects), [&ClientMessage::Run { steps: None }]);
    let Effect::Progress(p) = &s.on(progress(1, &[(1, 0.3)]), 1005.0)[0] else { panic!("no progress") };
    assert_eq!((p.step, p.losses[0].0), (5, 5));
}

/// As `aludel serve` says it: welcome first, then that there is no such session.
#[test]
fn a_session_missed_after_the_welcome_is_made_once() {
    let mut s = session(Some(key("gone")));
    s.connect(0.0);
    s.on(Signal::Opened, 1.0);
    assert!(matches!(sent(&s.on(welcome(None), 2.0))[..], [ClientMessage::Create(_)]));
    assert_eq!(s.on(Signal::Message(ServerMessage::Refused(Refusal::NoSession)), 3.0), []);
    assert_eq!(told(&s.on(created("new"), 4.0)), Some(&Connection::Ready));
}

#[test]
fn a_failure_pauses_unless_it_is_a_farewell() {
    let failed = |message: &str| Signal::Message(ServerMessage::Failed { message: message.into() });
    let mut s = session(None);
    begun(&mut s);
    s.set_running(true, 1.0);
    assert!(matches!(told(&s.on(failed("out of memory"), 2.0)), Some(Connection::Failed { .. })));
    assert_eq!(s.tick(3.0), []);
    assert_eq!(s.tick(3.0 + PARTING_MS), [Effect::Stopped]);
    // A person asks again.
    s.connect(5000.0);
    assert_eq!(sent(&s.set_running(true, 5000.0)), [&ClientMessage::Run { steps: None }]);
    // The server ends, and is expected back.
    s.on(failed("the server is ending"), 6000.0);
    assert!(matches!(told(&s.on(Signal::Closed(String::new()), 6001.0)), Some(Connection::Waiting { .. })));
    s.tick(8000.0);
    s.on(Signal::Opened, 8000.0);
    assert_eq!(sent(&s.on(welcome(resumed(5, false)), 8001.0)), [&ClientMessage::Run { steps: None }]);
    // Another page has the session: it is not fought over.
    assert!(s.on(Signal::Message(ServerMessage::TakenOver), 9000.0).contains(&Effect::Stopped) && s.failed());
    s.on(Signal::Closed(String::new()), 9001.0);
    assert!(s.failed());
}

#[test]
fn a_reloaded_page_adopts_what_the_server_does() {
    let mut s = session(Some(key("k")));
    s.connect(0.0);
    s.on(Signal::Opened, 1.0);
    let effects = s.on(welcome(resumed(3, true)), 2.0);
    assert!(effects.contains(&Effect::Adopted) && sent(&effects).is_empty());
    assert_eq!(told(&effects), Some(&Connection::Resumed { step: 3 }));
    // One that rests brings its losses at once: no report would follow.
    let mut s = session(Some(key("k")));
    s.connect(0.0);
    s.on(Signal::Opened, 1.0);
    let effects = s.on(welcome(resumed(3, false)), 2.0);
    assert!(effects.iter().any(|e| matches!(e, Effect::Progress(p) if p.step == 3 && p.losses.len() == 3)));
    assert!(!effects.contains(&Effect::Adopted));
}

#[test]
fn refusals_end_it_and_say_why() {
    for (refusal, word) in [
        (Refusal::Version { server: 99 }, "protocol 99"),
        (Refusal::Token, "token"),
        (Refusal::Limit { what: "graph nodes".into(), value: 5, limit: 2 }, "limit of 2"),
        (Refusal::Compile { message: "no compiler".into() }, "no compiler"),
    ] {
        let mut s = session(None);
        s.set_running(true, 0.0);
        s.connect(0.0);
        s.on(Signal::Opened, 1.0);
        let effects = s.on(Signal::Message(ServerMessage::Refused(refusal)), 2.0);
        assert!(matches!(told(&effects), Some(Connection::Failed { message }) if message.contains(word)), "{effects:?}");
        assert!(effects.contains(&Effect::Stopped) && s.failed());
        // The end of the connection that follows is no news, and nothing is tried by itself.
        assert_eq!((s.on(Signal::Closed(String::new()), 3.0), s.tick(1e9)), (vec![], vec![]));
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let mut s = session(None);
    s.connect(0.0);
    s.on(Signal::Opened, 1.0);
    s.on(welcome(None), 2.0);
    let effects = s.on(Signal::Message(ServerMessage::Refused(Refusal::Busy { message: "full".into() })), 3.0);
    assert!(matches!(told(&effects), Some(Connection::Waiting { message, .. }) if message.contains("full")));
    assert!(s.tick(5000.0).contains(&Effect::Open));
}

#[test]
fn a_job_too_large_is_not_sent() {
    let mut s = session(None);
    s.job.columns = vec![floats(&[0.0; 4000])];
    s.connect(0.0);
    s.on(Signal::Opened, 1.0);
    let effects = s.on(welcome(None), 2.0);
    assert!(matches!(told(&effects), Some(Connection::Failed { message }) if message.contains("accepts")), "{effects:?}");
    assert!(sent(&effects).is_empty());
}

#[test]
fn a_server_that_hangs_up_on_the_job_is_not_asked_for_ever() {
    let mut s = session(None);
    let mut now = 0.0;
    s.connect(now);
    for _ in 0..OFFERS {
        assert!(!s.failed());
        s.on(Signal::Opened, now);
        s.on(welcome(None), now);
        s.on(Signal::Closed("too big".into()), now);
        now += 60_000.0;
        s.tick(now);
    }
    assert!(s.failed());
}

#[test]
fn silence_ends_a_connection() {
    let mut s = session(None);
    s.connect(0.0);
    assert_eq!(s.tick(GREETING_MS), []);
    assert!(s.tick(GREETING_MS + 1.0).contains(&Effect::Close));
    let mut s = session(None);
    begun(&mut s);
    s.fetch(10.0);
    assert!(s.tick(10.0 + ANSWER_MS + 30_001.0).contains(&Effect::Close), "the limits allow 30 s of compiling");
}

#[test]
fn the_size_of_a_job_is_not_underestimated() {
    let wire = aludel_protocol::encode(&ClientMessage::Create(Box::new(job()))).unwrap().len() as u64;
    assert!((wire..wire + 400).contains(&size(&job())), "{wire} bytes, taken for {}", size(&job()));
}
