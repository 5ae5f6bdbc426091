//! Nests of one graph that differ in a size or two: on CPUs they run by one kernel, inside their tensors.

use aludel_compiler::{Options, compile};
use aludel_ir::DType;
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::scalar::threefry2x32;
use aludel_runtime::{Argument, CpuExecutor, Executor, decode, encode};
use std::fmt::Write;
use std::sync::Arc;

/// For each of the sizes, what `body` says of it, as results.
fn graph(sizes: &[usize], body: impl Fn(usize, usize) -> String) -> Graph {
    let mut text = String::from("graph ragged(%x: f32[64, 24], %w: f32[24, 40]) {\n");
    let mut results = Vec::new();
    for (i, n) in sizes.iter().enumerate() {
        let _ = writeln!(text, "{}", body(i, *n));
        results.push(format!("%y{i}"));
    }
    let _ = write!(text, "  return {}\n}}\n", results.join(", "));
    text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// How many kernels the graph has; its results are the interpreter's.
fn kernels(device: &CpuExecutor, graph: Graph) -> usize {
    let value = |seed: u32, k: usize| (threefry2x32(seed, 3, 0, k as u32) as f64 / 4294967296.0 - 0.5) as f32 as f64;
    let tensor =
        |shape: [usize; 2], seed| HostTensor::new(DType::F32, shape.to_vec(), (0..shape[0] * shape[1]).map(|k| value(seed, k)).collect());
    let host = [tensor([64, 24], 1).unwrap(), tensor([24, 40], 2).unwrap()];
    let want = Interpreter::new(&graph).unwrap().run(&[], &host, Precision::F64).unwrap();
    let program = Arc::new(compile(&graph, &device.target().unwrap(), &Options::default()).unwrap());
    let count = program.kernels.len();
    let exe = device.load(Arc::new(graph), Some(program)).unwrap();
    let arguments: Vec<Argument> = host.iter().map(|t| Argument::Host(encode(&t.data, t.dtype).into())).collect();
    for (i, (got, want)) in exe.run(&[], &arguments).unwrap().iter().zip(&want).enumerate() {
        let got = decode(&pollster::block_on(device.download(got)).unwrap(), DType::F32);
        assert_eq!(got.len(), want.data.len());
        // Sums of 64 terms of size one quarter, in another order.
        let wrong = got.iter().zip(&want.data).position(|(a, b)| a.is_nan() || (a - b).abs() > 1e-5 * b.abs().max(1.0));
        assert_eq!(wrong, None, "result {i}");
    }
    count
}

#[test]
fn one_kernel_runs_them_all() {
    let Some(device) = CpuExecutor::guarded().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok() else { return };
    let rows = [2usize, 3, 5, 7, 11, 17, 24, 31, 40, 64];
    let product =
        |i: usize, n: usize| format!("  %a{i} = slice(%x, dim=0, start=0, end={n})\n  %b{i} = matmul(%a{i}, %w)\n  %y{i} = gelu(%b{i})");
    assert_eq!(kernels(&device, graph(&rows, product)), 1);
    // Fewer keep their sizes.
    assert!(kernels(&device, graph(&rows[..4], product)) > 1);
    // Squares of the size, and rows as long as it.
    let square = |i: usize, n: usize| {
        format!(
            "  %a{i} = slice(%x, dim=0, start=0, end={n})\n  %t{i} = transpose(%a{i}, dim0=0, dim1=1)\n  %b{i} = matmul(%a{i}, %t{i})\n  %y{i} = softmax(%b{i}, dim=1)"
        )
    };
    assert!(kernels(&device, graph(&rows, square)) <= 4);
    // Two sizes.
    let padded = |i: usize, n: usize| {
        format!("  %a{i} = slice(%x, dim=0, start=0, end={n})\n  %y{i} = pad(%a{i}, pad=[0, 0, 0, {}])", 3 + n * n % 7)
    };
    assert_eq!(kernels(&device, graph(&rows, padded)), 1);
    // Columns from places of their own are one text without a size that varies.
    let columns = |i: usize, _: usize| format!("  %a{i} = slice(%w, dim=1, start={}, end={})\n  %y{i} = exp(%a{i})", 4 * i, 4 * i + 3);
    assert_eq!(kernels(&device, graph(&rows[..4], columns)), 1);
}
