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

/// Where the CPU plays the GPU, matrix products do not share launches, and attention is products and a softmax: its kernel waits at
/// barriers.
#[test]
fn software() {
    let target = Target { software: true, ..Target::webgpu_default() };
    assert_eq!(on(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::Sgd), &target), 11);
    assert_eq!(on(&mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), &target), 11);
    assert_eq!(on(&gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW), &target), 55);
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

/// A GPU whose workgroups have what most hardware offers beyond WebGPU's least.
fn large_gpu() -> Target {
    Target { max_threads: 1024, max_shared_bytes: 48 << 10, ..Target::webgpu_default() }
}

/// Workgroups of each launch.
fn groups(text: &str) -> Vec<i64> {
    let graph: aludel_ir::Graph = text.parse().unwrap();
    let p = compile(&graph, &large_gpu(), &Options::default()).unwrap();
    p.launches.iter().map(|l| l.grid.iter().map(|e| e.as_const().unwrap()).product()).collect()
}

/// Neither a normalisation of an operand nor what follows the sum takes a large product its large tiles (128 by 128): on an H200 that made
/// BERT's layers two to three times slower than a plain product.
#[test]
fn large_products_keep_large_tiles() {
    let product = |before: &str, after: &str| {
        let text = format!(
            "graph linear(%x: f32[64, 128, 768], %w: f32[3072, 768], %b: f32[3072], %s: f32[768], %g: f32[64, 128, 3072]) {{\n{before}  %y = linear(%h, %w, %b)\n{after}  return %z\n}}\n"
        );
        groups(&text)
    };
    let norm = "  %h = layer_norm(%x, %s, %s, normalized_shape=[768])\n";
    let none = "  %h = neg(%x)\n";
    for before in [norm, none] {
        for after in ["  %z = gelu(%y)\n", "  %t = gelu(%y)\n  %u = tanh(%t)\n  %v = mul(%u, %g)\n  %a = sigmoid(%v)\n  %z = silu(%a)\n"] {
            let groups = product(before, after);
            assert!(groups.contains(&(64 * 24)), "{groups:?}: {before}{after}");
        }
    }
}

/// What follows a long product is a kernel of its own where it would take the registers that the tiles need: after large tiles more of it
/// fits than after small ones.
#[test]
fn long_epilogues_leave_tiles_alone() {
    let once = |x: &str, y: &str| {
        format!("  %t{y} = gelu({x})\n  %u{y} = tanh(%t{y})\n  %v{y} = mul(%u{y}, %g)\n  %a{y} = sigmoid(%v{y})\n  %{y} = silu(%a{y})\n")
    };
    let long = &format!("{}{}{}", once("%y", "p"), once("%p", "q"), once("%q", "z"));
    let launches = |m: i64, n: i64, k: i64, after: &str| {
        let (x, w, g) = (format!("f32[{m}, {k}]"), format!("f32[{k}, {n}]"), format!("f32[{m}, {n}]"));
        groups(&format!("graph product(%x: {x}, %w: {w}, %g: {g}) {{\n  %y = matmul(%x, %w)\n{after}  return %z\n}}\n")).len()
    };
    assert_eq!(launches(768, 3072, 8192, long), 2, "144 large tiles are few, 576 small ones are not");
    assert_eq!(launches(768, 3072, 8192, "  %z = relu(%y)\n"), 1, "a short epilogue");
    assert_eq!(launches(8192, 3072, 768, long), 2, "large tiles");
    assert_eq!(launches(8192, 3072, 768, "  %t = gelu(%y)\n  %v = mul(%t, %g)\n  %z = sigmoid(%v)\n"), 1, "large tiles have room for this");
    assert_eq!(launches(768, 3072, 64, long), 1, "short sums");
}

/// Attention whose weights are few beside its operands is products and a softmax where there are no matrix units; long or small attention is
/// one kernel.
#[test]
fn attention_is_taken_apart_where_products_are_faster() {
    let of = |batch: i64, length: i64| {
        let shape = format!("f32[{batch}, 12, {length}, 64]");
        let text = format!(
            "graph attention(%q: {shape}, %k: {shape}, %v: {shape}) {{\n  %y = scaled_dot_product_attention(%q, %k, %v)\n  return %y\n}}\n"
        );
        groups(&text).len()
    };
    assert_eq!(of(64, 128), 3);
    assert_eq!(of(2, 128), 1, "small");
    assert_eq!(of(8, 1024), 1, "long");
}

/// On a CPU a convolution's results come in vectors of channels and lie along its windows: an exponential of them is a kernel of its own,
/// the update of its weights is not.
#[test]
fn functions_of_convolutions_are_vectors_on_a_cpu() {
    let step = |after: &str| {
        let text = format!(
            "graph conv(%x: f32[8, 16, 14, 14], %w: f32[32, 16, 3, 3], %b: f32[32]) {{\n  %y = conv2d(%x, %w, %b)\n{after}  return %z\n}}\n"
        );
        on(&text.parse().unwrap(), &Target::cpu())
    };
    assert_eq!(step("  %z = relu(%y)\n"), 1);
    assert_eq!(step("  %z = gelu(%y)\n"), 2);
}

/// A stack of thousands of tensors is some launches of equal copies: none has more parameters than a kernel may.
#[test]
fn launches_of_many_copies_are_bounded() {
    let inputs: Vec<String> = (0..5000).map(|i| format!("%x{i}: f32[3]")).collect();
    let names: Vec<String> = (0..5000).map(|i| format!("%x{i}")).collect();
    let text = format!("graph stack({}) {{\n  %y = cat({}, dim=0)\n  return %y\n}}\n", inputs.join(", "), names.join(", "));
    let graph: aludel_ir::Graph = text.parse().unwrap();
    for target in [Target::webgpu_default(), Target::cuda(90, aludel_compiler::MatmulPrecision::Highest)] {
        let program = compile(&graph, &target, &Options::default()).unwrap();
        assert!(program.launches.iter().all(|l| l.params.len() <= 4200), "{:?}", program.launches.iter().map(|l| l.params.len()).max());
        assert!(program.launches.len() <= 8 && program.kernels.len() <= 8, "{} launches", program.launches.len());
    }
}
