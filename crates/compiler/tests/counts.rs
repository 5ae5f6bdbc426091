//! How many kernels a step takes: exact on any machine, so pinned.

mod steps;

use aludel_compiler::{Options, Target, compile};
use steps::{Optimizer, gpt, mlp};

fn launches(graph: &aludel_ir::Graph) -> usize {
    on(graph, &Target::webgpu_default())
}

fn on(graph: &aludel_ir::Graph, target: &Target) -> usize {
    let p = compile(graph, target, &Options { keep_stages: true, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
    if std::env::var_os("SHOW").is_some() {
        if let Ok(f) = std::env::var("SHOW") {
            for (n, t) in &p.stages {
                std::fs::write(format!("{f}.{n}"), t).unwrap();
            }
        }
        for (i, l) in p.launches.iter().enumerate() {
            let k = &p.kernels[l.kernel];
            println!("{i:3} k{} {} grid {:?} lines {}", l.kernel, l.label, l.grid, k.source.lines().count());
        }
    }
    p.launches.len()
}

#[test]
fn mlp_sgd() {
    assert_eq!(launches(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::Sgd)), 7);
}

#[test]
fn mlp_sgd_symbolic_batch() {
    assert_eq!(launches(&mlp(&[64, 128, 128, 10], 64, true, Optimizer::Sgd)), 7);
}

#[test]
fn mlp_adamw() {
    assert_eq!(launches(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW)), 7);
}

#[test]
fn gpt_adamw() {
    assert_eq!(launches(&gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW)), 41);
}

/// Where the CPU plays the GPU, matrix products do not share launches.
#[test]
fn software() {
    let target = Target { software: true, ..Target::webgpu_default() };
    assert_eq!(on(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::Sgd), &target), 11);
    assert_eq!(on(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), &target), 11);
    assert_eq!(on(&gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW), &target), 45);
}

#[test]
fn long_sums_take_two_launches() {
    let sum = |shape: &str, call: &str| -> aludel_ir::Graph {
        format!("graph sums(%x: f32[{shape}]) {{\n  %y = {call}\n  return %y\n}}\n").parse().unwrap()
    };
    for target in [Target::webgpu_default(), Target { software: true, ..Target::webgpu_default() }] {
        assert_eq!(on(&sum("4096, 4096", "sum(%x)"), &target), 2);
        assert_eq!(on(&sum("512, 512", "mean(%x)"), &target), 2);
        assert_eq!(on(&sum("65536, 8", "sum(%x, dim=0)"), &target), 2);
        // One workgroup is soon done with little, and many rows fill a device by themselves.
        assert_eq!(on(&sum("64, 128", "sum(%x)"), &target), 1);
        assert_eq!(on(&sum("4096, 4096", "sum(%x, dim=1)"), &target), 1);
        assert_eq!(on(&sum("512, 4096", "sum(%x, dim=0)"), &target), 1);
    }
}
