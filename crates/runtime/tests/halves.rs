//! f16 on WebGPU: where an adapter has `shader-f16` it takes two bytes, elsewhere the word of an f32, and the values are the same.

#![cfg(feature = "wgpu")]

mod common;

use aludel_compiler::{Options, Style, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::program::Program;
use aludel_ir::scalar::threefry2x32;
use aludel_ir::text::parse_graph;
use aludel_ir::{DType, Expr};
use aludel_runtime::{Argument, Executor, WgpuExecutor, WgpuOptions, decode, encode};
use std::sync::Arc;

/// Products, reductions and pointwise operations on f16; state of both widths that is updated in place; odd numbers of elements.
const STEP: &str = "graph step(state %w: f16[65, 33], state %m: f32[65, 33], %x: f16[17, 65], %lr: f32[]) {
  %y = matmul(%x, %w)
  %h = gelu(%y)
  %s = softmax(%h, dim=-1)
  %c = cumsum(%s, dim=0)
  %g = to(%w, dtype=f32)
  %nm = add(%m, %g)
  %d = mul(%nm, %lr)
  %dl = to(%d, dtype=f16)
  %nw = sub(%w, %dl)
  %wide = to(%c, dtype=f32)
  return %h, %s, %wide, state %w <- %nw, state %m <- %nm
}";

const OPERATORS: [&str; 4] = [
    "graph add(%x: f16[7, 33], %y: f16[33]) { %z = add(%x, %y) return %z }",
    "graph cast(%x: f32[7, 33]) { %z = to(%x, dtype=f16) return %z }",
    "graph layer_norm(%x: f16[9, 64], %w: f16[64], %b: f16[64]) { %z = layer_norm(%x, %w, %b, normalized_shape=[64]) return %z }",
    "graph conv2d(%x: f16[2, 3, 9, 9], %w: f16[5, 3, 3, 3]) { %z = conv2d(%x, %w, padding=1) return %z }",
];

fn inputs(graph: &Graph) -> Vec<HostTensor> {
    let size = |e: &Expr| e.as_const().unwrap() as usize;
    let tensor = |(n, input): (usize, &aludel_ir::graph::Input)| {
        let ty = graph.ty(input.value);
        let shape: Vec<usize> = ty.shape.iter().map(size).collect();
        let value = |k: usize| ty.dtype.round(threefry2x32(3, n as u32, 0, k as u32) as f64 / 4294967296.0 - 0.5);
        HostTensor::new(ty.dtype, shape.clone(), (0..shape.iter().product()).map(value).collect()).unwrap()
    };
    graph.inputs.iter().enumerate().map(tensor).collect()
}

/// Three runs, each on the state that the last one left, with the program and the words that the device moved in a run.
fn run(device: &dyn Executor, graph: &Graph, style: Style) -> (Vec<Vec<f64>>, Arc<Program>, u64) {
    let options = Options { style, ..Options::default() };
    let program = Arc::new(compile(graph, &device.target().unwrap(), &options).unwrap());
    let exe = device.load(Arc::new(graph.clone()), Some(program.clone())).unwrap();
    let host = inputs(graph);
    let words = |t: &HostTensor| Argument::Host(device.device_words(&encode(&t.data, t.dtype), t.dtype).into());
    let state: Vec<usize> = (0..host.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
    let contents: Vec<(DType, Argument)> = state.iter().map(|i| (host[*i].dtype, words(&host[*i]))).collect();
    let block = device.allocate_state(&contents).unwrap();
    let argument = |i: usize| match state.iter().position(|s| *s == i) {
        Some(k) => Argument::Device(block[k].clone()),
        None => words(&host[i]),
    };
    let arguments: Vec<Argument> = (0..host.len()).map(argument).collect();
    let before = device.stats();
    let mut results = Vec::new();
    for _ in 0..3 {
        results = exe.run(&[], &arguments).unwrap();
    }
    let moved = (device.stats().bytes_moved - before.bytes_moved) / 3;
    let values = |(output, storage): (&aludel_ir::graph::Output, &aludel_runtime::Storage)| {
        let ty = graph.ty(output.value);
        let count = ty.shape.iter().map(|e| e.as_const().unwrap() as usize).product();
        let words = pollster::block_on(device.download(storage)).unwrap();
        decode(&device.host_words(words, ty.dtype, count), ty.dtype)
    };
    (graph.outputs.iter().zip(&results).map(values).collect(), program, moved)
}

/// As [`run`], by the interpreter.
fn reference(graph: &Graph) -> Vec<HostTensor> {
    let interpreter = Interpreter::new(graph).unwrap();
    let mut host = inputs(graph);
    let mut results = Vec::new();
    for _ in 0..3 {
        results = interpreter.run(&[], &host, Precision::F32).unwrap();
        for (output, value) in graph.outputs.iter().zip(&results) {
            if let Some(i) = output.updates {
                host[i] = value.clone();
            }
        }
    }
    results
}

#[test]
fn two_bytes_hold_what_a_word_does() {
    for name in pollster::block_on(WgpuExecutor::available(&WgpuOptions::default())) {
        let request = |without_f16| {
            let options = WgpuOptions { without_f16, adapter: Some(name.clone()), ..WgpuOptions::default() };
            pollster::block_on(WgpuExecutor::request(&options)).unwrap()
        };
        let (halves, words) = (request(false), request(true));
        assert!(!words.target().unwrap().f16_storage);
        if !halves.target().unwrap().f16_storage {
            eprintln!("SKIPPED: {name} has no shader-f16");
            continue;
        }
        let cases = OPERATORS.iter().map(|text| (*text, Style::Operator)).chain([(STEP, Style::Step)]);
        for (text, style) in cases {
            let graph = parse_graph(text).unwrap();
            let (ours, program, moved) = run(&halves, &graph, style);
            let (theirs, plain, moved_plain) = run(&words, &graph, style);
            assert_eq!(ours, theirs, "{} on {name}", graph.name);
            assert!(moved < moved_plain, "{}: {moved} bytes of {moved_plain}", graph.name);
            for p in &program.placements {
                let narrow = p.dtype == DType::F16;
                assert_eq!((p.element_bytes == 2, program.bindings[p.binding].halves), (narrow, narrow), "{} of {}", p.name, graph.name);
            }
            assert!(plain.placements.iter().all(|p| p.element_bytes == 4));
            assert_eq!(program.launches.len(), plain.launches.len());
            for (o, (ours, right)) in ours.iter().zip(reference(&graph)).enumerate() {
                // A sum in another order may round to a neighbour: 2^-10 of a value, which sums then carry on.
                let scale = right.data.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                let worst = ours.iter().zip(&right.data).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= 2e-3 * scale, "{} on {name}: output {o} is {worst:e} off", graph.name);
            }
        }
    }
}
