//! Which launches are plain matrix products, for executors that have a library for them.

mod steps;

use aludel_compiler::{MatmulPrecision, Options, Target, compile};
use aludel_ir::expr::Expr;
use aludel_ir::program::{Matrix, MatrixProduct};
use aludel_ir::{Attrs, DType, Graph};
use steps::Step;

/// The products of a graph's launches.
fn products(graph: &Graph, target: &Target) -> Vec<Option<MatrixProduct>> {
    let program = compile(graph, target, &Options::default()).unwrap();
    program.launches.into_iter().map(|l| l.product).collect()
}

fn dims(sizes: &[i64]) -> Vec<Expr> {
    sizes.iter().copied().map(Expr::Const).collect()
}

fn cuda() -> Target {
    Target::cuda(90, MatmulPrecision::Highest)
}

fn numbers(m: &Matrix) -> [Option<i64>; 4] {
    [m.offset.as_const(), m.strides[0].as_const(), m.strides[1].as_const(), m.strides[2].as_const()]
}

fn strided(batch: i64, row: i64, column: i64) -> [Option<i64>; 4] {
    [Some(0), Some(batch), Some(row), Some(column)]
}

#[test]
fn a_linear_layer_with_a_residual_is_one() {
    let mut s = Step::new("linear");
    let x = s.arg("x", DType::F32, &dims(&[40, 48]));
    let residual = s.arg("residual", DType::F32, &dims(&[40, 56]));
    let y = s.linear("layer", x, 48, 56);
    let y = s.op("add", &[y, residual], Attrs::new());
    let graph = s.forward(y);
    let found = products(&graph, &cuda());
    let [Some(p)] = &found[..] else { panic!("{found:?}") };
    assert_eq!([&p.batch, &p.m, &p.n, &p.k].map(Expr::as_const), [1, 40, 56, 48].map(Some));
    assert_eq!(numbers(&p.lhs), strided(0, 48, 1));
    // The weight is stored by outputs.
    assert_eq!(numbers(&p.rhs), strided(0, 1, 48));
    assert_eq!(numbers(&p.out), strided(0, 56, 1));
    assert_eq!(p.bias.as_ref().map(numbers), Some(strided(0, 0, 1)));
    assert_eq!(p.add.as_ref().map(numbers), Some(strided(0, 56, 1)));
    assert!(products(&graph, &Target::webgpu_default()).iter().all(Option::is_none), "only where there may be a library");
}

#[test]
fn batches_have_a_stride() {
    let mut s = Step::new("matmul");
    let a = s.arg("a", DType::F32, &dims(&[3, 32, 64]));
    let b = s.arg("b", DType::F32, &dims(&[3, 64, 40]));
    let y = s.op("matmul", &[a, b], Attrs::new());
    let found = products(&s.forward(y), &cuda());
    let [Some(p)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(p.batch.as_const(), Some(3));
    assert_eq!(numbers(&p.lhs), strided(32 * 64, 64, 1));
    assert_eq!(numbers(&p.rhs), strided(64 * 40, 40, 1));
    assert_eq!(numbers(&p.out), strided(32 * 40, 40, 1));
}

#[test]
fn whatever_else_a_kernel_computes_keeps_it_a_kernel() {
    let mut s = Step::new("linear_relu");
    let x = s.arg("x", DType::F32, &dims(&[40, 48]));
    let y = s.linear("layer", x, 48, 56);
    let y = s.op("relu", &[y], Attrs::new());
    assert!(products(&s.forward(y), &cuda()).iter().all(Option::is_none));
    // A prologue too.
    let mut s = Step::new("relu_matmul");
    let x = s.arg("x", DType::F32, &dims(&[40, 48]));
    let w = s.arg("w", DType::F32, &dims(&[48, 56]));
    let scaled = s.op("mul", &[x, x], Attrs::new());
    let y = s.op("matmul", &[scaled, w], Attrs::new());
    let found = products(&s.forward(y), &cuda());
    assert!(found.len() > 1 || found[0].is_none(), "{found:?}");
    // Integers are no floats.
    let mut s = Step::new("integers");
    let a = s.arg("a", DType::I32, &dims(&[32, 32]));
    let y = s.op("matmul", &[a, a], Attrs::new());
    assert!(products(&s.forward(y), &cuda()).iter().all(Option::is_none));
}

/// Where a library is faster, every linear layer of a transformer and both its gradients are left to it: what follows them is fused
/// elsewhere, and what attention permuted is written as a matrix.
#[test]
fn a_transformers_linear_layers_are_left_to_a_library() {
    let layers = 2;
    let graph = steps::gpt(512, 256, 256, layers, 4, 16, steps::Optimizer::AdamW);
    let count = |target: &Target| products(&graph, target).iter().flatten().filter(|p| p.k.as_const() >= Some(256)).count();
    let library = Target { library_products: true, ..cuda() };
    // Four linear layers in each block and the head, each with two gradients; one attention product sums over 256 positions.
    assert!(count(&library) >= 3 * (4 * layers + 1), "{}", count(&library));
    assert!(count(&cuda()) < count(&library));
    let program = compile(&graph, &library, &Options::default()).unwrap();
    assert!(program.not_fused.iter().any(|n| n.reason.contains("library")), "explain says why they stay apart");
}
