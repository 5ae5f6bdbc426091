//! Times each pass: `cargo run --release -p aludel-compiler --example passes [gpt|gpt2|resnet50|lstm] [wgsl|cuda] [STEPS]`.
//!
//! The least of several rounds counts. `gpt` has two layers; `STEPS` are those of the unrolled LSTM.

#[path = "../tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{MatmulPrecision, Options, Target, autodiff, compile, fuse, lower, partition, schedule};
use aludel_ir::DType;
use std::time::Instant;
use steps::Optimizer::AdamW;

const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let graph = match arg(0, "gpt").as_str() {
        "gpt2" => steps::gpt(50304, 1024, 768, 12, 12, 8, AdamW),
        "resnet50" => steps::convolutional::resnet50(128, 224, 4, DType::BF16),
        "lstm" => steps::lstm(arg(2, "32").parse().expect("a number of steps"), 16, 64, AdamW),
        _ => steps::gpt(64, 32, 64, 2, 4, 8, AdamW),
    };
    let target = match arg(1, "wgsl").as_str() {
        "cuda" => Target { library_products: true, ..Target::cuda(90, MatmulPrecision::High) },
        _ => Target::webgpu_default(),
    };
    let mut least: Vec<(&str, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        let mut last = Instant::now();
        let mut lap = |name: &'static str| {
            let ms = last.elapsed().as_secs_f64() * 1e3;
            match least.iter_mut().find(|(n, _)| *n == name) {
                Some((_, best)) => *best = best.min(ms),
                None => least.push((name, ms)),
            }
            last = Instant::now();
        };
        graph.verify().unwrap();
        lap("verify");
        let joint = autodiff::expand_grads(&graph).unwrap();
        lap("autodiff");
        let prims = autodiff::decompose(&joint).unwrap();
        lap("decompose");
        let (prims, _) = partition::partition(&prims, 1.0).unwrap();
        lap("partition");
        let mut loops = lower::lower(&prims, &target).unwrap();
        lap("lower");
        fuse::fuse(&mut loops, &target, true);
        lap("fuse");
        schedule::schedule(&loops, &target).unwrap();
        lap("schedule");
        compile(&graph, &target, &Options::default()).unwrap();
        lap("all");
    }
    let program = compile(&graph, &target, &Options::default()).unwrap();
    let text: usize = program.kernels.iter().map(|k| k.source.len()).sum();
    let (nodes, launches, kernels) = (graph.nodes.len(), program.launches.len(), program.kernels.len());
    println!("{nodes} nodes, {launches} launches, {kernels} kernels of {text} bytes");
    for (name, ms) in least {
        println!("{name:10} {ms:7.2} ms");
    }
}
