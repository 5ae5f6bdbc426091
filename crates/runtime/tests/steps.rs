//! Whole training steps, compiled, against the reference interpreter, on every device of the machine that runs kernels.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime"))]

mod common;
#[path = "../../compiler/tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{Options, Part, Parts, Target, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::interp::{Interpreter, Precision};
use aludel_runtime::{Argument, Executor, Storage, decode};
use common::{inputs, words};
use std::sync::Arc;
use steps::{Optimizer, cnn, convolution, gpt, mlp};

/// Runs a step twice on every device, in place, and compares every output with the interpreter in float64.
fn check(name: &str, graph: &Graph, sizes: &[i64], options: &Options) {
    // Software adapters get schedules of their own; those for GPUs must be right on any adapter.
    for software in [false, true] {
        let targets = common::devices().into_iter().map(|d| (Target { software, ..d.target().unwrap() }, d));
        check_schedules(name, graph, sizes, options, targets);
    }
}

fn check_schedules(
    name: &str,
    graph: &Graph,
    sizes: &[i64],
    options: &Options,
    targets: impl Iterator<Item = (Target, Box<dyn Executor>)>,
) {
    let reference = Interpreter::new(&aludel_compiler::autodiff::expand_grads(graph).unwrap()).unwrap();
    for (target, device) in targets {
        let program = Arc::new(compile(graph, &target, options).unwrap());
        let exe = device.load(Arc::new(graph.clone()), Some(program.clone())).unwrap();
        let mut host = inputs(graph, sizes);
        let state: Vec<usize> = (0..host.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
        let contents: Vec<Argument> = state.iter().map(|i| Argument::Host(words(&host[*i]))).collect();
        let block = device.allocate_block(&contents).unwrap();
        for round in 0..2 {
            let args: Vec<Argument> = (0..host.len())
                .map(|i| match state.iter().position(|s| *s == i) {
                    Some(k) => Argument::Device(block[k].clone()),
                    None => Argument::Host(words(&host[i])),
                })
                .collect();
            let expected = reference.run(sizes, &host, Precision::F64).unwrap();
            let got: Vec<Storage> = exe.run(sizes, &args).unwrap();
            for (o, (e, g)) in expected.iter().zip(&got).enumerate() {
                let values = decode(&device.host_words(pollster::block_on(device.download(g)).unwrap(), e.dtype, e.data.len()), e.dtype);
                assert_eq!(values.len(), e.data.len());
                // AdamW divides by the root of a second moment: tiny gradients magnify float32's rounding.
                for (k, (a, b)) in values.iter().zip(&e.data).enumerate() {
                    let close = (a - b).abs() <= 2e-4 + 2e-3 * b.abs();
                    assert!(close, "{name} on {}: round {round}, {}[{k}]: {a} instead of {b}", device.info().name, graph.outputs[o].name);
                }
                if let Some(i) = graph.outputs[o].updates {
                    host[i] = e.clone();
                }
            }
        }
    }
}

#[test]
fn mlp_steps() {
    for optimizer in [Optimizer::Sgd, Optimizer::AdamW] {
        for fuse in [true, false] {
            let options = Options { fuse, ..Options::default() };
            check("mlp", &mlp(&[64, 128, 128, 10], 64, false, optimizer), &[], &options);
            check("mlp, odd sizes", &mlp(&[7, 33, 5, 3], 13, false, optimizer), &[], &options);
            check("mlp, symbolic batch", &mlp(&[64, 128, 128, 10], 64, true, optimizer), &[37], &options);
        }
    }
}

#[test]
fn wide_mlp_step() {
    check("wide mlp", &mlp(&[96, 256, 300, 10], 200, false, Optimizer::Sgd), &[], &Options::default());
}

#[test]
fn convolution_steps() {
    for (stride, dilation, groups) in [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 2, 2)] {
        let name = format!("convolution, stride {stride}, dilation {dilation}, {groups} groups");
        check(&name, &convolution(stride, dilation, groups), &[], &Options::default());
    }
}

#[test]
fn cnn_step() {
    check("cnn", &cnn(2, Optimizer::AdamW), &[], &Options::default());
}

#[test]
fn gpt_step() {
    for fuse in [true, false] {
        check("gpt", &gpt(13, 16, 32, 2, 4, 4, Optimizer::AdamW), &[], &Options { fuse, ..Options::default() });
    }
}

#[test]
fn gpt_step_with_little_memory() {
    check("gpt, budget", &gpt(13, 16, 32, 2, 4, 4, Optimizer::AdamW), &[], &Options { memory_budget: 0.3, ..Options::default() });
}

/// Whatever part of the compiler is left out, results are the same.
#[test]
fn steps_without_a_part() {
    for part in Part::ALL {
        let options = Options { parts: Parts::ALL.without(part), ..Options::default() };
        check(&format!("gpt without {}", part.name()), &gpt(13, 8, 16, 1, 2, 2, Optimizer::AdamW), &[], &options);
    }
}
