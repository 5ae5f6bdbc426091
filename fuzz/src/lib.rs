//! What strangers send, as functions of bytes: each must end, soon, without a panic, whatever the bytes are, and what it takes it must give
//! back as it was. The fuzzers run them, and a test of `aludel serve` on their corpus and on changes of that.
//!
//!     cargo +nightly fuzz run graph        # or kernel, frames, safetensors, checkpoint, session

use aludel_compiler::{Options, Target, compile};
use aludel_ir::Graph;
use aludel_ir::graph::Op;
use aludel_ir::text::{parse_graph, parse_kernel, print_graph, print_kernel};
use aludel_protocol::remote::{ClientMessage, ServerMessage};
use aludel_protocol::{decode, encode};

#[path = "../../native/src/serve/store/files.rs"]
mod files;

/// Larger graphs are left to the tests of the compiler: a fuzzer wants many a second.
const MOST_COMPILED: usize = 24;

fn grads(graph: &Graph) -> usize {
    graph.nodes.iter().filter(|n| matches!(n.op, Op::Grad)).count()
}

/// The text of a graph: parsed, verified, printed, and compiled for the CPU.
pub fn graph(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(graph) = parse_graph(text) else { return };
    if graph.verify().is_err() {
        return;
    }
    let printed = print_graph(&graph);
    let again = parse_graph(&printed).unwrap_or_else(|e| panic!("{e}\nof what was printed:\n{printed}"));
    assert_eq!(print_graph(&again), printed);
    if graph.total_nodes() <= MOST_COMPILED && grads(&graph) <= 1 && graph.env.symbols.is_empty() {
        // A refusal is an answer.
        let _ = compile(&graph, &Target::cpu(), &Options::default());
    }
}

/// The text of a kernel: parsed, verified, printed.
pub fn kernel(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(kernel) = parse_kernel(text) else { return };
    if kernel.verify().is_err() {
        return;
    }
    let printed = print_kernel(&kernel);
    let again = parse_kernel(&printed).unwrap_or_else(|e| panic!("{e}\nof what was printed:\n{printed}"));
    assert_eq!(print_kernel(&again), printed);
}

/// Messages of a client and of a server.
pub fn frames(data: &[u8]) {
    if let Ok(message) = decode::<ClientMessage>(data) {
        let bytes = encode(&message).expect("what was a message is one");
        // Not its bytes: numbers may be written in more than they need, and NaN is not equal to itself.
        assert_eq!(encode(&decode::<ClientMessage>(&bytes).expect("it was written so")).expect("a message"), bytes);
        if let ClientMessage::Create(job) = message {
            graph(job.graph.as_bytes());
        }
    }
    if let Ok(message) = decode::<ServerMessage>(data) {
        let bytes = encode(&message).expect("what was a message is one");
        assert_eq!(encode(&decode::<ServerMessage>(&bytes).expect("it was written so")).expect("a message"), bytes);
    }
}

/// A file of tensors.
pub fn safetensors(data: &[u8]) {
    let Ok(state) = aludel_checkpoint::decode("a file", data) else { return };
    let bytes = aludel_checkpoint::encode(&state).expect("what was read can be written");
    let again = aludel_checkpoint::decode("a file", &bytes).expect("what was written can be read");
    assert_eq!(again, state);
}

/// A checkpoint: the model's tensors, the optimizer's and the description, with checksums that fit them. Parts are after their lengths.
pub fn checkpoint(data: &[u8]) {
    let [model, optimizer, training] = parts(data);
    let dir = tempfile::tempdir().expect("a directory");
    let mut sums = String::new();
    for (name, bytes) in [("model.safetensors", model), ("optimizer.safetensors", optimizer), ("training.json", training)] {
        std::fs::write(dir.path().join(name), bytes).expect("a file");
        sums += &format!("{:08x} {} {name}\n", crc32c::crc32c(bytes), bytes.len());
    }
    std::fs::write(dir.path().join("CHECKSUMS"), sums).expect("a file");
    let _ = aludel_checkpoint::read(dir.path());
}

/// A saved session: its description, graph and tensors, whose checksums fit. What can be taken up is saved as it was.
pub fn session(data: &[u8]) {
    let [json, text, tensors] = parts(data);
    // What a client could not send is no checksum either.
    let _ = files::sums(json).map(|sums| files::check(&sums, files::META, json));
    let Ok(meta) = files::meta(json) else { return };
    let Ok(job) = files::job(&meta, 0, text.to_vec(), tensors) else { return };
    let saved = files::encode(&meta, &job).expect("what was read can be written");
    let of = |name: &str| saved.iter().find(|(n, _)| *n == name).map(|(_, bytes)| &bytes[..]).expect("each file");
    let sums = files::sums(of(files::SUMS)).expect("checksums");
    assert!(files::NAMES.iter().filter(|n| **n != files::SUMS).all(|n| files::check(&sums, n, of(n)).is_ok()));
    let meta = files::meta(of(files::META)).expect("a description");
    assert_eq!(files::job(&meta, 0, of(files::GRAPH).to_vec(), of(files::TENSORS)).expect("a job"), job);
}

/// Three parts, the first two after their lengths, which may be more than there is.
fn parts(data: &[u8]) -> [&[u8]; 3] {
    let take = |data: &[u8]| -> usize {
        let length = data.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b) as usize);
        length.min(data.len().saturating_sub(4))
    };
    let first = take(data);
    let (a, rest) = data.get(4..).unwrap_or_default().split_at(first);
    let second = take(rest);
    let (b, c) = rest.get(4..).unwrap_or_default().split_at(second);
    [a, b, c]
}

/// The other way round.
pub fn join(parts: [&[u8]; 3]) -> Vec<u8> {
    let length = |b: &[u8]| (b.len() as u32).to_le_bytes();
    [&length(parts[0]), parts[0], &length(parts[1]), parts[1], parts[2]].concat()
}

/// A job for the corpora.
pub fn sample_session() -> Vec<u8> {
    use aludel::DType;
    use aludel_protocol::Pane;
    use aludel_protocol::remote::{Feed, Job, TensorData};
    let tensor = |shape: Vec<u32>| TensorData { dtype: DType::F32, bytes: vec![0; 4 * shape.iter().product::<u32>() as usize], shape };
    let feeds = vec![Feed::State(tensor(vec![2])), Feed::Constant(tensor(vec![])), Feed::Rows { column: 0 }];
    let graph = "graph g(state %w: f32[2], %c: f32[], %x: f32[1, 2]) {\n%s = sum(%x) : f32[]\n%u = mul(%w, %c) : f32[2]\nreturn %s, state %w <- %u }";
    let (columns, order) = (vec![tensor(vec![3, 2])], vec![0, 2, 1]);
    let job = Job { name: "s".into(), device: 0, pane: Pane::Compiled, graph: graph.into(), feeds, loss: 0, columns, order, batch: 1 };
    let meta = files::Meta {
        format: files::FORMAT,
        key: "0123456789abcdef0123456789abcdef".into(),
        client: std::net::IpAddr::from([127, 0, 0, 1]),
        name: "s".into(),
        device: "cpu".into(),
        pane: Pane::Compiled,
        step: 7,
        running: true,
        elapsed_ms: 1.5,
        losses: vec![(1, 0), (7, 1)],
        loss: 0,
        batch: 1,
        feeds: job.feeds.iter().map(files::FeedKind::of).collect(),
        columns: 1,
    };
    let saved = files::encode(&meta, &job).expect("a session");
    join([&saved[1].1, &saved[0].1, &saved[2].1])
}
