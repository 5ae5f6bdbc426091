//! Printed modules are valid: training steps and random graphs, every kernel checked by the specification's algorithm. What they
//! compute, the runtime's tests and the oracle say.

mod common;
mod steps;

use aludel_compiler::{Options, Style, Target, compile};
use aludel_ir::graph::Graph;
use aludel_ir::kernel::{KExpr, Kernel, KernelBuffer, Stmt, Ty, Var, int};
use aludel_ir::{DType, ScalarOp};
use common::{Rng, generate};
use steps::convolutional::digits;
use steps::{Optimizer, cnn, convolution, gpt, mlp};
use wasmparser::{Operator, Parser, Payload, Validator, WasmFeatures};

fn targets() -> [Target; 2] {
    [true, false].map(|fused_vectors| Target { fused_vectors, ..Target::wasm() })
}

/// Errors where a module uses more than the target has.
fn validate(module: &[u8], target: &Target) -> Result<(), String> {
    let mut features = WasmFeatures::default();
    features.set(WasmFeatures::RELAXED_SIMD, target.fused_vectors);
    Validator::new_with_features(features).validate_all(module).map(drop).map_err(|e| e.to_string())
}

/// The number of kernels, all of them valid.
fn check(name: &str, g: &Graph, target: &Target, options: &Options) -> usize {
    let program = compile(g, target, options).unwrap_or_else(|e| panic!("{name}: {e}"));
    for k in &program.kernels {
        validate(&k.binary, target).unwrap_or_else(|e| panic!("{name}, {}: {e}\n{}", k.name, k.source));
    }
    program.kernels.len()
}

#[test]
fn training_steps_are_valid() {
    for target in &targets() {
        let all = [
            ("mlp", mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW)),
            ("symbolic_mlp", mlp(&[24, 40, 10], 64, true, Optimizer::AdamW)),
            ("convolution", convolution(2, 1, 2)),
            ("cnn", cnn(3, Optimizer::AdamW)),
            ("digits", digits(4)),
            ("gpt", gpt(13, 16, 32, 2, 4, 4, Optimizer::AdamW)),
        ];
        for (name, g) in &all {
            assert!(check(name, g, target, &Options::default()) > 1, "{name}");
        }
    }
}

#[test]
fn random_graphs_are_valid() {
    let mut kernels = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(7000 + seed);
        let style = generate::Style {
            symbolic: seed % 4 == 3,
            gradients: seed % 2 == 0,
            jumps: true,
            sizes: [generate::Sizes::Small, generate::Sizes::Large, generate::Sizes::Wild][seed as usize % 3],
            length: 2 + (seed % 7) as usize,
        };
        let g = generate::graph(&mut rng, style);
        let options = Options { style: if seed % 5 == 0 { Style::Operator } else { Style::Step }, ..Options::default() };
        kernels += check(&format!("random {seed}"), &g, &targets()[seed as usize % 2], &options);
    }
    assert!(kernels > 80, "only {kernels} kernels");
}

/// `out[i] = f(in[i])` over a loop of 100.
fn loop_of(op: ScalarOp, dtype: DType) -> Option<Kernel> {
    let result = op.result_dtype(&vec![dtype; op.def().arity]).ok()?;
    let buffer = |name: &str, dtype, binding| KernelBuffer { name: name.into(), dtype, binding, offset: None };
    let (i, x) = (Var(0), Var(1));
    let load = KExpr::Load { buffer: 0, index: Box::new(KExpr::Var(i)), ty: Ty::scalar(dtype) };
    let body = vec![
        Stmt::Let(x, load),
        Stmt::Store { buffer: 1, index: KExpr::Var(i), value: KExpr::Scalar(op, vec![KExpr::Var(x); op.def().arity]) },
    ];
    Some(Kernel {
        name: op.name().into(),
        workgroup_size: [1, 1, 1],
        params: vec![],
        buffers: vec![buffer("in", dtype, 0), buffer("out", result, 1)],
        shared: vec![],
        maps: vec![],
        vars: vec![Ty::scalar(DType::I32), Ty::scalar(dtype)],
        body: vec![Stmt::For { var: i, start: int(0), end: int(100), step: int(1), body }],
    })
}

/// How many instructions of a module's functions some property has.
fn count(module: &[u8], is: impl Fn(&Operator) -> bool) -> usize {
    let bodies = Parser::new(0).parse_all(module).filter_map(|p| match p {
        Ok(Payload::CodeSectionEntry(body)) => body.get_operators_reader().ok(),
        _ => None,
    });
    bodies.map(|ops| ops.into_iter().filter(|op| op.as_ref().is_ok_and(&is)).count()).sum()
}

#[test]
fn every_operation_of_every_type_is_printed_and_runs_four_at_a_time() {
    for def in ScalarOp::all() {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::U32, DType::Bool] {
            let Some(kernel) = loop_of(def.op, dtype) else { continue };
            let target = Target::wasm();
            let what = format!("{} of {dtype}", def.name);
            let module = aludel_compiler::codegen::wasm::print(&kernel, &target).unwrap_or_else(|e| panic!("{what}: {e}"));
            validate(&module, &target).unwrap_or_else(|e| panic!("{what}: {e}"));
            let vectors = count(&module, |op| matches!(op, Operator::V128Load { .. } | Operator::V128Load16x4U { .. }));
            assert_eq!(vectors, 1, "{what} is not vectorised");
        }
    }
}

/// Helpers that training calls for every element wait for no lane.
#[test]
fn common_functions_have_no_branches() {
    use ScalarOp::{Erf, Exp, Expm1, Log, Log1p, Ndtr, Rsqrt, Sigmoid, Sqrt, Tanh};
    for op in [Exp, Expm1, Log, Log1p, Tanh, Sigmoid, Erf, Ndtr, Sqrt, Rsqrt] {
        let module = aludel_compiler::codegen::wasm::print(&loop_of(op, DType::F32).unwrap(), &Target::wasm()).unwrap();
        let lanes = count(&module, |op| matches!(op, Operator::F32x4ExtractLane { .. } | Operator::V128AnyTrue));
        assert_eq!(lanes, 0, "{}", op.name());
    }
}
