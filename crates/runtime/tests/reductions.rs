//! Reductions and transposes on every adapter, scheduled for it and, where it is a CPU, also as for a GPU: lanes that share rows,
//! columns side by side, long sums in two launches, tiles, folded grids.

#![cfg(feature = "wgpu")]

mod common;

use aludel_compiler::{Options, Style, Target, compile};
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::scalar::threefry2x32;
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

const CASES: [(&str, &str); 13] = [
    ("600, 150", "sum(%x, dim=0)"),
    ("300, 250", "amax(%x, dim=0)"),
    ("300, 260", "argmax(%x, dim=0)"),
    ("2, 300, 130", "mean(%x, dim=1)"),
    ("4096, 24", "sum(%x, dim=0)"),
    ("7, 300, 90", "var(%x, dim=[0, 1])"),
    ("5, 30000", "sum(%x, dim=1)"),
    ("130, 512", "mean(%x)"),
    ("300007", "sum(%x)"),
    ("20011, 3", "amax(%x, dim=0)"),
    ("100, 700", "softmax(%x, dim=0)"),
    ("301, 260", "transpose(%x, dim0=0, dim1=1)"),
    ("5, 130, 40, 70", "permute(%x, dims=[0, 3, 1, 2])"),
];

#[test]
fn they_agree_with_the_interpreter() {
    let devices = common::adapters();
    for (i, (shape, call)) in CASES.iter().enumerate() {
        let text = format!("graph reduce(%x: f32[{shape}]) {{\n  %y = {call}\n  return %y\n}}\n");
        let graph: Graph = text.parse().unwrap();
        let sizes: Vec<usize> = shape.split(", ").map(|s| s.parse().unwrap()).collect();
        let value = |k: usize| (threefry2x32(1, i as u32, 0, k as u32) as f64 / 4294967296.0 - 0.5) as f32 as f64;
        let x = HostTensor::new(aludel_ir::DType::F32, sizes.clone(), (0..sizes.iter().product()).map(value).collect()).unwrap();
        let want = Interpreter::new(&graph).unwrap().run(&[], std::slice::from_ref(&x), Precision::F64).unwrap().remove(0).data;
        for device in &devices {
            let own = device.target().unwrap();
            let as_gpu = Target { software: false, ..own.clone() };
            // Few workgroups side by side fold every grid.
            for target in [Target { max_groups: 7, ..as_gpu.clone() }, as_gpu, own] {
                let program = compile(&graph, &target, &Options { style: Style::Operator, ..Options::default() }).unwrap();
                let (kernels, software) = (program.launches.len(), target.software);
                let exe = device.load(Arc::new(graph.clone()), Some(Arc::new(program))).unwrap();
                let argument = Argument::Host(device.device_words(&encode(&x.data, x.dtype), x.dtype).into());
                let storage = exe.run(&[], &[argument]).unwrap().remove(0);
                let words = pollster::block_on(device.download(&storage)).unwrap();
                let integers = call.starts_with("argmax");
                let got = words.iter().map(|w| if integers { *w as i32 as f64 } else { f32::from_bits(*w) as f64 });
                for (j, (g, w)) in got.zip(&want).enumerate() {
                    // Thousands of f32 terms of size one half, in another order.
                    assert!(
                        (g - w).abs() <= 2e-3 + 1e-4 * w.abs(),
                        "{call} of [{shape}], {kernels} kernels, software {software}: {j}: {g}, not {w}"
                    );
                }
                assert_eq!(words.len(), want.len());
            }
        }
    }
}

/// A thread has several groups of four elements, with the same place in their rows: what depends on that alone it reads and computes once.
/// Where rows are longer than a workgroup is wide, or no whole share of it, the places differ.
#[test]
fn rows_share_what_their_places_have() {
    for device in &common::adapters() {
        let own = device.target().unwrap();
        for columns in [64usize, 96, 1024, 2048] {
            let rows = (1 << 20) / columns + 3 * usize::from(columns == 96);
            let text = format!(
                "graph rows(%x: f32[{rows}, {columns}], %w: f32[{columns}]) {{\n  %e = exp(%w)\n  %m = mul(%x, %e)\n  %y = add(%m, %w)\n  return %y\n}}\n"
            );
            let graph: Graph = text.parse().unwrap();
            let value = |seed: u32| move |k: usize| (threefry2x32(seed, 5, 0, k as u32) as f64 / 4294967296.0 - 0.5) as f32 as f64;
            let tensor = |shape: Vec<usize>, seed: u32| {
                let data = (0..shape.iter().product()).map(value(seed)).collect();
                HostTensor::new(aludel_ir::DType::F32, shape, data).unwrap()
            };
            let host = [tensor(vec![rows, columns], 1), tensor(vec![columns], 2)];
            let want = Interpreter::new(&graph).unwrap().run(&[], &host, Precision::F64).unwrap().remove(0).data;
            let target = Target { software: false, ..own.clone() };
            let program = Arc::new(compile(&graph, &target, &Options::default()).unwrap());
            let exe = device.load(Arc::new(graph.clone()), Some(program)).unwrap();
            let args: Vec<Argument> =
                host.iter().map(|t| Argument::Host(device.device_words(&encode(&t.data, t.dtype), t.dtype).into())).collect();
            let got = exe.run(&[], &args).unwrap().remove(0);
            let words = pollster::block_on(device.download(&got)).unwrap();
            let got = decode(&device.host_words(words, aludel_ir::DType::F32, want.len()), aludel_ir::DType::F32);
            let wrong = got.iter().zip(&want).position(|(a, b)| a.is_nan() || (a - b).abs() > 1e-5 * b.abs().max(1.0));
            assert_eq!(wrong, None, "{columns} columns on {}", device.info().name);
        }
    }
}

/// Few long sums of elements that are stored too: the parts of the sums store them.
#[test]
fn sums_are_split_beside_the_elements_that_they_sum() {
    let graph: Graph = "graph bias(%x: f32[64, 40, 10, 30], %y: f32[64, 40, 10, 30]) {
  %z = full(size=[], fill_value=0.0)
  %0 = gt(%x, other=0.0)
  %1 = where(%0, %y, %z)
  %2 = sum(%1, dim=[0, 2, 3])
  return %1, %2
}
"
    .parse()
    .unwrap();
    let shape = vec![64, 40, 10, 30];
    let random = |seed: u32| {
        let value = |k: usize| (threefry2x32(2, seed, 0, k as u32) as f64 / 4294967296.0 - 0.5) as f32 as f64;
        HostTensor::new(aludel_ir::DType::F32, shape.clone(), (0..shape.iter().product()).map(value).collect()).unwrap()
    };
    let inputs = [random(0), random(1)];
    let want = Interpreter::new(&graph).unwrap().run(&[], &inputs, Precision::F64).unwrap();
    for device in common::adapters() {
        let target = Target { software: false, ..device.target().unwrap() };
        for target in [Target { max_groups: 7, ..target.clone() }, target] {
            let program = compile(&graph, &target, &Options::default()).unwrap();
            assert_eq!(program.launches.len(), 2, "the elements with the parts of the sums, and the sums");
            let exe = device.load(Arc::new(graph.clone()), Some(Arc::new(program))).unwrap();
            let arguments = inputs.each_ref().map(|x| Argument::Host(device.device_words(&encode(&x.data, x.dtype), x.dtype).into()));
            for (got, want) in exe.run(&[], &arguments).unwrap().iter().zip(&want) {
                let words = pollster::block_on(device.download(got)).unwrap();
                assert_eq!(words.len(), want.data.len());
                // Sums of 19,200 terms of size one half in f32.
                let far = words.iter().zip(&want.data).map(|(g, w)| (f32::from_bits(*g) as f64 - w).abs()).fold(0.0, f64::max);
                assert!(far <= 2e-2, "{far} apart");
            }
        }
    }
}

/// What is reduced in two orders of the same elements: sums in one kernel, since the order says nothing there, positions not, since it says
/// which is which.
#[test]
fn elements_reduced_in_two_orders_have_their_own_positions() {
    let texts = [
        // The place of the largest, in row-major order and in that of a sum beside it.
        "graph places(%x: f32[8, 5, 2]) {
  %p = permute(%x, dims=[0, 2, 1]) : f32[8, 2, 5]
  %e = exp(%p) : f32[8, 2, 5]
  %s = sum(%e) : f32[]
  %q = reshape(%p, shape=[80]) : f32[80]
  %m = argmax(%q, dim=0) : i32[]
  %f = flatten(%x) : f32[80]
  %n = argmax(%f, dim=0) : i32[]
  return %s, %m, %n
}
",
        // A maximum, how many elements have it, and a sum in another order.
        "graph shares(%x: f32[8, 5, 2], %y: f32[8, 2, 5]) {
  %m = amax(%x, keepdim=true) : f32[1, 1, 1]
  %p = permute(%x, dims=[0, 2, 1]) : f32[8, 2, 5]
  %q = mul(%p, %y) : f32[8, 2, 5]
  %a = mean(%q) : f32[]
  %b = mean(%m) : f32[]
  %l = add(%a, %b) : f32[]
  %d = grad(%l, wrt=[%x]) : f32[8, 5, 2]
  return %l, %d
}
",
    ];
    for text in texts {
        let graph: Graph = text.parse().unwrap();
        let input = |n: usize| {
            let value = |k: usize| (threefry2x32(3, n as u32, 0, k as u32) as f64 / 4294967296.0 - 0.5) as f32 as f64;
            let shape: Vec<usize> = graph.ty(graph.inputs[n].value).shape.iter().map(|d| d.as_const().unwrap() as usize).collect();
            HostTensor::new(aludel_ir::DType::F32, shape, (0..80).map(value).collect()).unwrap()
        };
        let inputs: Vec<HostTensor> = (0..graph.inputs.len()).map(input).collect();
        let joint = aludel_compiler::autodiff::expand_grads(&graph).unwrap();
        let want = Interpreter::new(&joint).unwrap().run(&[], &inputs, Precision::F64).unwrap();
        for device in common::devices() {
            let program = compile(&graph, &device.target().unwrap(), &Options::default()).unwrap();
            let exe = device.load(Arc::new(graph.clone()), Some(Arc::new(program))).unwrap();
            let arguments: Vec<Argument> =
                inputs.iter().map(|x| Argument::Host(device.device_words(&encode(&x.data, x.dtype), x.dtype).into())).collect();
            for (got, want) in exe.run(&[], &arguments).unwrap().iter().zip(&want) {
                let words = pollster::block_on(device.download(got)).unwrap();
                let got = decode(&device.host_words(words, want.dtype, want.data.len()), want.dtype);
                for (g, w) in got.iter().zip(&want.data) {
                    assert!((g - w).abs() <= 1e-4 * w.abs().max(1.0), "{g}, not {w}, on {}\n{text}", device.info().name);
                }
            }
        }
    }
}
