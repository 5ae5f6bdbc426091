//! Times each pass: `cargo run --release -p aludel-compiler --example passes [gpt|gpt2|resnet50|lstm] [wgsl|cuda] [STEPS]`.
//!
//! The least of several rounds counts. `gpt` has two layers; `STEPS` are those of the unrolled LSTM.

#[path = "../tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{Compilation, MatmulPrecision, Options, Target};
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
    let options = Options::default();
    // Of each pass its name, and the least time of it in milliseconds.
    let mut least: Vec<(&str, f64)> = Vec::new();
    let mut program = None;
    for _ in 0..ROUNDS {
        let mut compilation = Compilation::new(&graph, &target, &options);
        let mut last = Instant::now();
        for at in 0.. {
            let Some(pass) = compilation.advance().expect("the steps compile") else { break };
            let ms = last.elapsed().as_secs_f64() * 1e3;
            match least.get_mut(at) {
                Some((_, best)) => *best = best.min(ms),
                None => least.push((pass.name(), ms)),
            }
            last = Instant::now();
        }
        program = Some(compilation.program);
    }
    let program = program.expect("a round ran");
    let text: usize = program.kernels.iter().map(|k| k.source.len()).sum();
    let (nodes, launches, kernels) = (graph.nodes.len(), program.launches.len(), program.kernels.len());
    println!("{nodes} nodes, {launches} launches, {kernels} kernels of {text} bytes");
    for (name, ms) in &least {
        println!("{name:10} {ms:7.2} ms");
    }
    println!("{:10} {:7.2} ms", "all", least.iter().map(|(_, ms)| ms).sum::<f64>());
}
