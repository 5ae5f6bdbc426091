//! Writes what the corpora begin with: `cargo run --example seeds` in `fuzz/`. What fuzzing adds lies beside these.

use aludel_fuzz::{join, sample_session};
use aludel_protocol::encode;
use aludel_protocol::remote::{ClientMessage, Feed, Job, Limits, REMOTE_VERSION, Refusal, ServerMessage, SessionKey, TensorData};
use std::path::Path;

const GRAPHS: [(&str, &str); 5] = [
    ("division", "graph g(%x: i32[2], %a: i32[2]) {\n%o = const[1: i32] : i32[]\n%e = expand[2] %o : i32[2]\n%m = maximum %x, %e : i32[2]\n%q = div %a, %m : i32[2]\n%f = cast[f32] %q : f32[2]\n%s = sum(%f) : f32[]\nreturn %s }"),
    ("empty_gather", "graph g(%x: i32[0, 8], %i: i32[1, 8], %l: f32[2], state %t: i32[1, 8]) {\n%q = gather[0] %x, %i : i32[1, 8]\n%m = mul(%q, other=1) : i32[1, 8]\n%s = sum(%l) : f32[]\nreturn %s, state %t <- %m }"),
    ("gradient", "graph g(%x: f32[3, 4], state %w: f32[4, 2]) {\n%y = matmul(%x, %w) : f32[3, 2]\n%z = softmax(%y, dim=-1) : f32[3, 2]\n%s = mean(%z) : f32[]\n%d = grad(%s, wrt=[%w]) : f32[4, 2]\n%u = sub(%w, %d) : f32[4, 2]\nreturn %s, state %w <- %u }"),
    ("pieces", "graph g(%x: f32[2]) {\n%y = cat[0] %x, %x, %x : f32[6]\n%z = flip[0] %y : f32[6]\n%s = sum(%z) : f32[]\nreturn %s }"),
    ("windows", "graph g(%x: f32[1, 2, 9], %w: f32[3, 2, 3]) {\n%y = conv1d(%x, %w, padding=[1], stride=[2], dilation=[1]) : f32[1, 3, 5]\n%m = max_pool1d(%y, kernel_size=[2]) : f32[1, 3, 2]\n%s = sum(%m) : f32[]\nreturn %s }"),
];

fn main() {
    let (fuzz, golden) = (Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let dir = fuzz.join("corpus").join(target);
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join(name), bytes).expect("a file");
    };
    GRAPHS.iter().for_each(|(name, text)| write("graph", name, text.as_bytes()));
    for (folder, target, beginning) in [("text", "graph", "graph"), ("text", "kernel", "kernel"), ("kernels", "kernel", "")] {
        for path in std::fs::read_dir(golden.join(folder)).expect("golden texts").map(|e| e.expect("an entry").path()) {
            let name = path.file_stem().and_then(|n| n.to_str()).expect("a name");
            if name.starts_with(beginning) {
                write(target, name, &std::fs::read(&path).expect("a text"));
            }
        }
    }
    let tensor = TensorData { dtype: aludel::DType::F32, shape: vec![2], bytes: vec![0; 8] };
    let job = Job {
        name: "g".into(),
        device: 0,
        pane: aludel_protocol::Pane::Compiled,
        graph: GRAPHS[3].1.into(),
        feeds: vec![Feed::Constant(tensor.clone()), Feed::State(tensor.clone()), Feed::Rows { column: 0 }],
        loss: 0,
        columns: vec![tensor.clone()],
        order: vec![0, 1],
        batch: 1,
    };
    let key = SessionKey("0123456789abcdef0123456789abcdef".into());
    let from_clients = [
        ("hello", ClientMessage::Hello { version: REMOTE_VERSION, token: Some("token".into()), resume: Some(key.clone()) }),
        ("create", ClientMessage::Create(Box::new(job))),
        ("run", ClientMessage::Run { steps: Some(3) }),
    ];
    from_clients.iter().for_each(|(name, m)| write("frames", name, &encode(m).expect("a message")));
    let limits = Limits { message_bytes: 1, graph_nodes: 2, tensor_bytes: 3, steps: 4, sessions: 5, compile_seconds: 6 };
    let welcome = ServerMessage::Welcome { version: REMOTE_VERSION, server: "aludel".into(), devices: vec![], limits, resumed: None };
    let from_servers = [
        ("welcome", welcome),
        ("state", ServerMessage::State { step: 1, tensors: vec![("w".into(), tensor)] }),
        ("refused", ServerMessage::Refused(Refusal::Limit { what: "steps".into(), value: 2, limit: 1 })),
    ];
    from_servers.iter().for_each(|(name, m)| write("frames", name, &encode(m).expect("a message")));
    let array = |shape: Vec<usize>| {
        let words = vec![0; shape.iter().product()].into();
        aludel_checkpoint::Array { dtype: aludel::DType::F32, shape, words }
    };
    let state = [("weight", array(vec![2, 3])), ("bias", array(vec![3]))].map(|(n, a)| (n.to_string(), a));
    let tensors = aludel_checkpoint::encode(&state.into_iter().collect()).expect("a file");
    write("safetensors", "two", &tensors);
    let training = br#"{"format": 1, "step": 3, "position": 3, "seed": 1, "config": {"preset": "points"}, "written_by": {}}"#;
    write("checkpoint", "whole", &join([&tensors, &tensors, training]));
    write("session", "whole", &sample_session());
}
