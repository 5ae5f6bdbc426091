//! What a convolutional step would cost on a GPU: kernels, memory and traffic of each launch, from the program alone.
//!
//! `cargo run -p aludel-compiler --example traffic [resnet50|vgg16|gpt2] [BATCH] [cuda|wgsl|c] [f32|bf16] [BUDGET]`; `SHOW=dir` writes every
//! stage and kernel, `WITHOUT=part` leaves a part of the compiler out.

#[path = "../tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{MatmulPrecision, Options, Part, Parts, Target, compile};
use aludel_ir::DType;
use aludel_ir::program::{Placement, Program, Role};
use steps::convolutional::{resnet50, vgg16};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let batch: i64 = arg(1, "128").parse().expect("a batch size");
    let products = if arg(3, "f32") == "bf16" { DType::BF16 } else { DType::F32 };
    let graph = match arg(0, "resnet50").as_str() {
        "vgg16" => vgg16(batch, 224, products),
        "resnet-stage1" => resnet50(batch, 224, 1, products),
        "resnet-stage2" => resnet50(batch, 224, 2, products),
        "gpt2" => steps::gpt(50304, 1024, 768, 12, 12, batch, steps::Optimizer::AdamW),
        _ => resnet50(batch, 224, 4, products),
    };
    let target = match arg(2, "cuda").as_str() {
        "wgsl" => Target { max_binding_bytes: 16 << 30, ..Target::webgpu_default() },
        "c" => Target::cpu(),
        _ => Target { library_products: true, ..Target::cuda(90, MatmulPrecision::High) },
    };
    let show = std::env::var("SHOW").ok();
    let without = std::env::var("WITHOUT").ok().and_then(|name| Part::from_name(&name));
    let parts = without.map_or(Parts::ALL, |part| Parts::ALL.without(part));
    let memory_budget = arg(4, "1").parse().expect("a share");
    let t = std::time::Instant::now();
    let p = compile(&graph, &target, &Options { keep_stages: show.is_some(), parts, memory_budget, ..Options::default() })
        .unwrap_or_else(|e| panic!("{e}"));
    let compiled = t.elapsed();
    let (mut bytes, mut flops) = (0, 0);
    for (i, l) in p.launches.iter().enumerate() {
        let (b, f) = (p.eval(&l.bytes, &[]).unwrap_or(0), p.eval(&l.flops, &[]).unwrap_or(0));
        (bytes, flops) = (bytes + b, flops + f);
        let how = if l.product.is_some() { "library" } else { "" };
        let groups: i64 = l.grid.iter().map(|g| p.eval(g, &[]).unwrap_or(0)).product();
        println!("{i:4} k{:<3} {:9.1} MB {:9.2} GFLOP {groups:8} groups {how:8} {}", l.kernel, b as f64 / 1e6, f as f64 / 1e9, l.label);
    }
    let (_, words) = p.layout(&[]).expect("sizes fit");
    println!(
        "{} launches, {} kernels, {:.2} GB moved, {:.2} TFLOP, compiled in {compiled:.2?}; MiB by binding {:?}",
        p.launches.len(),
        p.kernels.len(),
        bytes as f64 / 1e9,
        flops as f64 / 1e12,
        words.iter().map(|w| (w * 4) >> 20).collect::<Vec<_>>()
    );
    peak(&p);
    if let Some(dir) = show {
        std::fs::create_dir_all(&dir).expect("a directory");
        for (name, text) in &p.stages {
            std::fs::write(format!("{dir}/{name}.txt"), text).expect("written");
        }
        for (i, k) in p.kernels.iter().enumerate() {
            std::fs::write(format!("{dir}/k{i}.txt"), &k.source).expect("written");
        }
    }
}

/// Where the arena is fullest, and what lives there: the planned size beyond that is what packing loses.
fn peak(p: &Program) {
    let bytes = |b: &Placement| p.eval(&p.slots[b.slot].words, &[]).unwrap_or(0) * 4;
    let arena = || p.placements.iter().filter(|b| p.bindings[b.binding].role == Role::Arena);
    let Some((most, words)) = p.fullest(&[]) else { return };
    let mut there: Vec<&Placement> = arena().filter(|b| b.live.0 <= most && most <= b.live.1).collect();
    there.sort_by_key(|b| std::cmp::Reverse(bytes(b)));
    let total = words * 4;
    println!("most alive: {} MiB at launch {most}", total >> 20);
    for b in there.iter().take_while(|b| bytes(b) > total / 400) {
        println!(
            "{:8.1} MiB  {:4}..={:<4} {}{} {}",
            bytes(b) as f64 / 1048576.0,
            b.live.0,
            b.live.1,
            b.dtype,
            p.env.show_shape(&b.shape),
            b.name
        );
    }
}
