//! How much memory the arena of a step takes: exact on any machine, so bounded here.

mod steps;

use aludel_compiler::{MatmulPrecision, Options, Part, Parts, Target, compile};
use aludel_ir::program::{Program, Role};
use aludel_ir::{DType, Graph};
use steps::Optimizer::AdamW;
use steps::convolutional::{resnet50, vgg16};

const MIB: i64 = 1 << 20;

fn program(graph: &Graph, options: &Options) -> Program {
    let target = Target { library_products: true, ..Target::cuda(90, MatmulPrecision::High) };
    compile(graph, &target, options).unwrap_or_else(|e| panic!("{e}"))
}

/// MiB of the arena, and of all that is alive in it at once.
fn arena(p: &Program) -> (i64, i64) {
    let binding = p.bindings.iter().position(|b| b.role == Role::Arena).unwrap();
    let (_, words) = p.layout(&[]).unwrap();
    let (_, alive) = p.fullest(&[]).unwrap();
    (words[binding] * 4 / MIB, alive * 4 / MIB)
}

/// The first stage of ResNet-50 with 128 images in bf16: what the forward pass leaves for the backward pass, and no gradient of a
/// weight that waits for its update.
#[test]
fn a_residual_stage() {
    let (bytes, alive) = arena(&program(&resnet50(128, 224, 1, DType::BF16), &Options::default()));
    assert!((alive..=alive + alive / 50).contains(&bytes), "{bytes} MiB for {alive} alive");
    // 4 MiB of it are the zeros around the images (`layout/stripes.rs`).
    assert_eq!(bytes, 2458);
}

/// VGG-16 with 64 images in bf16. A convolution's weight is updated as soon as its gradient can be: the activation and the gradient that
/// it reads, 392 MiB each in the first block, live no longer. (Where all updates come last, 2871 MiB live at once.)
#[test]
fn updates_do_not_wait() {
    assert_eq!(arena(&program(&vgg16(64, 224, DType::BF16), &Options::default())).0, 2134);
}

/// Recomputation pays in memory.
#[test]
fn recomputation_takes_less_memory() {
    let graph = resnet50(32, 224, 1, DType::BF16);
    let without = Options { parts: Parts::ALL.without(Part::Recomputation), ..Options::default() };
    let (less, more) = (arena(&program(&graph, &Options::default())).0, arena(&program(&graph, &without)).0);
    assert!(less * 4 < more * 3, "{less} MiB with, {more} MiB without");
}

/// The program of an unrolled loop grows with its steps, not with their square: a concatenation of many pieces is written once, not chosen
/// from at every element.
#[test]
fn an_unrolled_loop_grows_with_its_steps() {
    let size = |steps: i64| {
        let p = compile(&steps::lstm(steps, 16, 64, AdamW), &Target::webgpu_default(), &Options::default()).unwrap();
        let touched: usize = p.launches.iter().map(|l| l.reads.len() + l.writes.len()).sum();
        let text: usize = p.kernels.iter().map(|k| k.source.len()).sum();
        (p.launches.len(), touched, text)
    };
    let (short, long) = (size(12), size(24));
    assert!(long.0 <= short.0 * 2 && long.1 <= short.1 * 2, "{short:?}, then {long:?}");
    // Equal steps share their kernels.
    assert!(long.2 * 4 <= short.2 * 5, "{short:?}, then {long:?}");
}
