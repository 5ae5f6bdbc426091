//! The fuzz targets of `fuzz/` on their corpora, and on changes of these that are the same in every run. The fuzzers themselves, which
//! follow what a change reaches, are run by hand: `cargo +nightly fuzz run graph`.

#[path = "../../fuzz/src/lib.rs"]
#[allow(dead_code, reason = "what writes the corpora is not needed here")]
mod targets;

use std::path::Path;

/// A xorshift generator: the same changes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).map(|e| e.expect("an entry").path());
    let mut all: Vec<_> = entries.map(|p| (p.display().to_string(), std::fs::read(&p).expect("a file"))).collect();
    all.sort();
    assert!(!all.is_empty(), "{target} has no corpus");
    all
}

/// A few changes: bytes set, removed, repeated, and taken from elsewhere.
fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(5) {
            0 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at.min(end)..end)),
            3 => {
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let from = random.below(other.len());
                let piece = other[from..(from + 1 + random.below(24)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
}

fn run(name: &str, target: fn(&[u8]), times: usize) {
    let corpus = corpus(name);
    for (path, bytes) in &corpus {
        eprintln!("{path}");
        target(bytes);
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for k in 0..times {
        let (path, bytes) = &corpus[random.below(corpus.len())];
        let mut changed = bytes.clone();
        let other = random.below(corpus.len());
        change(&mut random, &mut changed, &corpus[other].1);
        // What a test prints is shown where it fails.
        if k % 64 == 0 {
            eprintln!("{k}: of {path}");
        }
        let told = std::panic::catch_unwind(|| target(&changed));
        assert!(told.is_ok(), "{name}, change {k} of {path}:\n{}", String::from_utf8_lossy(&changed));
    }
}

#[test]
fn texts_of_graphs() {
    run("graph", targets::graph, 1500);
}

#[test]
fn texts_of_kernels() {
    run("kernel", targets::kernel, 3000);
}

#[test]
fn frames_of_the_protocol() {
    run("frames", targets::frames, 5000);
}

#[test]
fn files_of_tensors() {
    run("safetensors", targets::safetensors, 5000);
}

#[test]
fn checkpoints() {
    run("checkpoint", targets::checkpoint, 1000);
}

#[test]
fn saved_sessions() {
    run("session", targets::session, 5000);
}
