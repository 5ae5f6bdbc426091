//! Times each pass on the two-layer GPT step: `cargo run --release -p aludel-compiler --example passes`.

#[path = "../tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{Options, Target, autodiff, compile, fuse, lower, partition, schedule};
use std::time::Instant;

fn main() {
    let graph = steps::gpt(64, 32, 64, 2, 4, 8, steps::Optimizer::AdamW);
    let target = Target::webgpu_default();
    for round in 0..3 {
        let mut last = Instant::now();
        let mut lap = |name: &str| {
            let now = Instant::now();
            if round == 2 {
                println!("{name:10} {:7.2} ms", (now - last).as_secs_f64() * 1e3);
            }
            last = Instant::now();
        };
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
}
