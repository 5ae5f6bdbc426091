//! Random graphs, compiled, against the reference interpreter: fused and unfused, constant and symbolic sizes, as a step and
//! with less memory, on every device of the machine that runs kernels.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime"))]

mod common;
#[path = "../../compiler/tests/common/mod.rs"]
mod random;

use aludel_compiler::autodiff::expand_grads;
use aludel_compiler::{Language, Options, Target, compile};
use aludel_ir::graph::InputKind;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::{DType, Graph};
use aludel_runtime::{Argument, Executor, decode, encode};
use random::Rng;
use random::generate::{Sizes, Style, graph};
use random::rounding;
use random::shrink::shrink;
use random::values::{hints, inputs};
use std::sync::Arc;

/// Compiles and runs a graph, state updated in place.
fn run(device: &dyn Executor, g: &Graph, sizes: &[i64], options: &Options, fold: bool) -> Result<Vec<HostTensor>, String> {
    let mut target = device.target().ok_or("the device has no target")?;
    if fold {
        // As for a GPU, with so few workgroups side by side that every grid has some too many.
        target = Target { max_groups: 7, software: false, ..target };
    }
    let program = Arc::new(compile(g, &target, options).map_err(|e| format!("compile: {e}"))?);
    let exe = device.load(Arc::new(g.clone()), Some(program)).map_err(|e| format!("load: {e}"))?;
    let host = inputs(g, sizes);
    let words = |t: &HostTensor| Argument::Host(device.device_words(&encode(&t.data, t.dtype), t.dtype).into());
    let state: Vec<usize> = (0..host.len()).filter(|i| g.inputs[*i].kind == InputKind::State).collect();
    let contents: Vec<(DType, Argument)> = state.iter().map(|i| (host[*i].dtype, words(&host[*i]))).collect();
    let block = device.allocate_state(&contents).map_err(|e| format!("state: {e}"))?;
    let arguments: Vec<Argument> = (0..host.len())
        .map(|i| match state.iter().position(|s| *s == i) {
            Some(k) => Argument::Device(block[k].clone()),
            None => words(&host[i]),
        })
        .collect();
    let outputs = exe.run(sizes, &arguments).map_err(|e| format!("run: {e}"))?;
    let symbol = |a: &aludel_ir::Atom| match a {
        aludel_ir::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
        _ => None,
    };
    g.outputs
        .iter()
        .zip(outputs)
        .map(|(o, storage)| {
            let ty = g.ty(o.value);
            let shape: Vec<usize> = ty.shape.iter().map(|d| d.eval(&symbol).unwrap_or(0) as usize).collect();
            let words = pollster::block_on(device.download(&storage)).map_err(|e| format!("download: {e}"))?;
            let data = decode(&device.host_words(words, ty.dtype, shape.iter().product()), ty.dtype);
            HostTensor::new(ty.dtype, shape, data).map_err(|e| format!("output {}: {e}", o.name))
        })
        .collect()
}

/// The reason why a device's results are not the interpreter's. How far float32 may be from float64 is measured: by `rounded`, what the
/// interpreter gives in float32, or where each result is moved by a step at random.
fn differ(g: &Graph, exact: &[HostTensor], rounded: &[Vec<HostTensor>], got: &[HostTensor]) -> Option<String> {
    // One step of the narrowest type, which a sum in another order may take: 2^-8 for bf16.
    let narrow = g.types.iter().any(|t| matches!(t.dtype, DType::F16 | DType::BF16));
    let step = if narrow { 0.02 } else { 1e-4 };
    for (k, (e, g)) in exact.iter().zip(got).enumerate() {
        if e.shape != g.shape {
            return Some(format!("output {k} is {:?}, should be {:?}", g.shape, e.shape));
        }
        let finite = |v: &&f64| v.is_finite();
        let scale = e.data.iter().filter(finite).fold(0.0, |m: f64, v| m.max(v.abs()));
        let off =
            |r: &Vec<HostTensor>| e.data.iter().zip(&r[k].data).map(|(a, b)| (a - b).abs()).filter(|d| d.is_finite()).fold(0.0, f64::max);
        let rounding = rounded.iter().map(off).fold(0.0, f64::max);
        let finite = |i: usize| rounded.iter().all(|r| r[k].data[i].is_finite());
        for (i, (want, have)) in e.data.iter().zip(&g.data).enumerate() {
            // Targets may take infinities and NaN for absent; such results are not compared.
            let close = !want.is_finite() || !finite(i) || (want - have).abs() <= step * scale.max(1e-2) + 30.0 * rounding;
            if !close {
                return Some(format!("output {k}{:?}, element {i}: {have}, should be {want}", e.shape));
            }
        }
    }
    None
}

fn fails(device: &dyn Executor, g: &Graph, options: &Options, fold: bool) -> Option<String> {
    let joint = match expand_grads(g) {
        Ok(j) => j,
        Err(e) => return Some(format!("autodiff: {e}")),
    };
    let reference = match Interpreter::new(&joint) {
        Ok(i) => i,
        Err(e) => return Some(format!("interpreter: {e}")),
    };
    let mut all = vec![hints(g)];
    let other: Vec<i64> = all[0].iter().map(|h| h + 2).collect();
    if !other.is_empty() && joint.env.broken_guard(&other).is_none() {
        all.push(other);
    }
    for sizes in all {
        let host = inputs(g, &sizes);
        let (exact, rounded) = match (reference.run(&sizes, &host, Precision::F64), reference.run(&sizes, &host, Precision::F32)) {
            (Ok(e), Ok(r)) => (e, r),
            (Err(e), _) | (_, Err(e)) => return Some(format!("interpreter: {e}")),
        };
        let mut rounded = vec![rounded];
        let reason = match run(device, g, &sizes, options, fold) {
            Ok(got) => differ(g, &exact, &rounded, &got).and_then(|reason| {
                // Rounding may happen to lose nothing where a cosine of 10^4 makes much of it, or a tie hangs by it.
                let Ok(noisy) = Interpreter::new(&rounding::noisy(reference.graph())) else { return Some(reason) };
                for seed in 0..4 {
                    let moved = rounding::noise(inputs(noisy.graph(), &sizes), host.len(), seed);
                    let Ok(near) = noisy.run(&sizes, &moved, Precision::F64) else { return Some(reason) };
                    rounded.push(near);
                }
                differ(g, &exact, &rounded, &got).map(|_| reason)
            }),
            // What is too large for a device is refused, and said.
            Err(e) if e.contains("the limit is") => None,
            Err(e) => Some(e),
        };
        if let Some(reason) = reason {
            return Some(format!("sizes {sizes:?}: {reason}"));
        }
    }
    None
}

fn check(name: &str, cases: u64, style: impl Fn(u64) -> Style, options: &[Options]) {
    let first = std::env::var("FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    for (guarded, step, devices) in [(false, 1, common::devices()), (true, 4, common::guarded())] {
        // Writes outside of tensors are looked for in a quarter, of which half fold.
        for (device, seed) in devices.iter().flat_map(|d| (first..first + cases).step_by(step).map(move |s| (d, s))) {
            let g = graph(&mut Rng::new(seed), style(seed));
            for o in options {
                // Only WebGPU folds.
                let fold = seed / step as u64 % 2 == 1 && device.target().is_some_and(|t| t.language == Language::Wgsl);
                if fails(&**device, &g, o, fold).is_some() {
                    let (small, reason) = shrink(&g, &|g| fails(&**device, g, o, fold));
                    panic!("{name}, seed {seed}, {}, folded {fold}, guarded {guarded}: {reason}\n{small}", device.info().name);
                }
            }
        }
    }
}

fn sizes(seed: u64) -> Sizes {
    [Sizes::Small, Sizes::Large, Sizes::Wild][seed as usize % 3]
}

fn fused(fuse: bool) -> Options {
    Options { fuse, ..Options::default() }
}

#[test]
fn forward_graphs() {
    let style =
        |seed| Style { symbolic: seed % 2 == 1, gradients: false, jumps: false, sizes: sizes(seed), length: 3 + (seed % 10) as usize };
    check("forward", 40, style, &[fused(true), fused(false)]);
}

/// As eager tensors run operators: every tensor a binding of its own.
#[test]
fn single_operators() {
    let style = |seed| Style {
        symbolic: false,
        gradients: false,
        jumps: false,
        sizes: if seed % 2 == 1 { Sizes::Wild } else { Sizes::Small },
        length: 1,
    };
    check("operators", 60, style, &[Options { style: aludel_compiler::Style::Operator, ..Options::default() }]);
}

#[test]
fn steps_with_gradients() {
    let style =
        |seed| Style { symbolic: seed % 2 == 1, gradients: true, jumps: false, sizes: sizes(seed), length: 2 + (seed % 8) as usize };
    check("steps", 25, style, &[fused(true), fused(false), Options { memory_budget: 0.3, ..fused(true) }]);
}

/// Graphs that random ones were shrunk to when they were wrong.
#[test]
fn graphs_that_were_wrong() {
    let graphs = [
        // A mean in one accumulator was off by 6e-4.
        "graph long(%x: i32[129, 1000]) {\n  %1 = to(%x, dtype=f32)\n  %2 = sin(%1)\n  %3 = mean(%2)\n  return %3\n}\n",
        "graph deep(%x: f32[16, 4099]) {\n  %1 = transpose(%x, dim0=-1, dim1=-2)\n  %2 = matmul(%x, %1)\n  %3 = cos(%2)\n  return %3\n}\n",
        "graph tall(%x: i32[70000, 43]) {\n  %1 = to(%x, dtype=f32)\n  %2 = cos(%1)\n  %3 = mean(%2, dim=0)\n  return %3\n}\n",
        // Nobody read the product, and the copy was fused with it.
        "graph empty(%x: f32[7, 3], %w: f32[0, 3], %b: f32[0]) {\n  %1 = prod(%x, dim=-2)\n  %2 = linear(%1, %w, %b)\n  %3 = unsqueeze(%x, dim=1)\n  return %3, %2\n}\n",
        // A row's first thread updated the bias while others still had to read it for their columns of the weight.
        "graph updated(%x: f32[300], state %w: f32[65, 300], state %b: f32[65]) {\n  %1 = linear(%x, %w, %b)\n  %2 = square(%1)\n  %3 = mean(%2)\n  %4, %5 = grad(%3, wrt=[%w, %b])\n  %6 = sub(%w, %4)\n  %7 = sub(%b, %5)\n  return state %w <- %6, state %b <- %7\n}\n",
        // Mesa's software driver ends a thread's loops after 65,535 turns of all of them.
        "graph turns(%x: f32[33, 40000]) {\n  %1 = softmax(%x, dim=1)\n  return %1\n}\n",
        "graph longest(%x: f32[33, 70000]) {\n  %1 = argmax(%x, dim=1)\n  %2 = cumsum(%x, dim=1)\n  return %1, %2\n}\n",
        // GCC's vectors of two stores that masked loads feed.
        "graph pooled(%x: f32[1, 1, 70]) {\n  %1 = max_pool1d(%x, kernel_size=2, padding=1, stride=2)\n  %2 = interpolate(%1, mode=nearest, scale_factor=2)\n  return %2\n}\n",
    ];
    for device in common::devices() {
        for text in graphs {
            let g: Graph = text.parse().unwrap();
            for options in [fused(true), fused(false)] {
                assert_eq!(fails(&*device, &g, &options, false), None, "{}\n{text}", device.info().name);
            }
        }
    }
}
