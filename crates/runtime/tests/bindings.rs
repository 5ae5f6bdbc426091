//! Steps larger than one storage binding may be: split over several, they compute what they compute in one, bit for bit.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "wasmtime"))]

mod common;
#[path = "../../compiler/tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{Options, Target, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::program::Program;
use aludel_runtime::{Argument, Executor, Stats};
use common::{inputs, words};
use std::sync::Arc;
use steps::{Optimizer, gpt, mlp};

/// A step and sizes for its symbols, bytes of a binding so few that it takes several, and how many of them a kernel may see.
struct Case {
    name: &'static str,
    graph: Graph,
    sizes: Vec<i64>,
    bytes: u64,
    bindings: Option<u32>,
}

fn cases() -> Vec<Case> {
    let case = |name, graph, sizes: &[i64], kib: u64, bindings| Case { name, graph, sizes: sizes.to_vec(), bytes: kib << 10, bindings };
    vec![
        case("mlp", mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), &[], 64, Some(8)),
        case("mlp of any batch", mlp(&[64, 128, 128, 10], 64, true, Optimizer::AdamW), &[37], 64, None),
        case("gpt", gpt(13, 16, 32, 2, 4, 4, Optimizer::AdamW), &[], 32, Some(8)),
    ]
}

/// The words of all outputs of three steps, and what the device counted before the last of them and after.
fn train(device: &dyn Executor, target: &Target, graph: &Graph, sizes: &[i64]) -> (Arc<Program>, Vec<Vec<u32>>, [Stats; 2]) {
    let program = Arc::new(compile(graph, target, &Options::default()).unwrap());
    let exe = device.load(Arc::new(graph.clone()), Some(program.clone())).unwrap();
    let host = inputs(graph, sizes);
    let of = |i: usize| Argument::Host(words(&host[i]));
    let state: Vec<usize> = (0..host.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
    let contents: Vec<_> = state.iter().map(|i| (host[*i].dtype, of(*i))).collect();
    let block = device.allocate_state(&contents).unwrap();
    let at = |i: usize| state.iter().position(|s| *s == i);
    let args: Vec<Argument> = (0..host.len()).map(|i| at(i).map_or_else(|| of(i), |k| Argument::Device(block[k].clone()))).collect();
    let mut out = Vec::new();
    let mut stats = [device.stats(); 2];
    for _ in 0..3 {
        stats[0] = device.stats();
        let results = exe.run(sizes, &args).unwrap();
        stats[1] = device.stats();
        for (result, output) in results.iter().zip(&graph.outputs) {
            let in_place = output.updates.is_some_and(|i| matches!(&args[i], Argument::Device(s) if Arc::ptr_eq(s, result)));
            assert_eq!(in_place, output.updates.is_some(), "state is updated where it lies");
            out.push(pollster::block_on(device.download(result)).unwrap());
        }
    }
    (program, out, stats)
}

/// How many bindings there are, each within its limit.
fn count(program: &Program, sizes: &[i64], limit: u64) -> usize {
    let (_, words) = program.layout(sizes).unwrap();
    assert!(words.iter().all(|w| *w as u64 * 4 <= limit), "{words:?} words");
    program.bindings.len()
}

#[cfg(feature = "wgpu")]
mod wgpu {
    use super::*;
    use aludel_runtime::WgpuOptions;

    /// One bind group serves the step still, where the device binds so many buffers; a few serve it where not.
    #[test]
    fn split_steps_compute_the_same() {
        for Case { name, graph, sizes, bytes, bindings } in cases() {
            let small = WgpuOptions { binding_bytes: Some(bytes), bindings, ..Default::default() };
            for (whole, split) in common::adapters().into_iter().zip(common::adapters_with(&small)) {
                let (one, expected, _) = train(&whole, &whole.target().unwrap(), &graph, &sizes);
                let target = split.target().unwrap();
                assert_eq!(target.max_binding_bytes, bytes);
                let (several, got, [before, after]) = train(&split, &target, &graph, &sizes);
                assert!(expected == got, "{name} on {}", split.info().name);
                let parts = count(&several, &sizes, bytes);
                assert!(parts > count(&one, &sizes, u64::MAX), "{name} is split");
                let made = |count: fn(&Stats) -> u64| count(&after) - count(&before);
                assert_eq!((made(|s| s.bind_groups_created), made(|s| s.pipelines_created), made(|s| s.submits)), (0, 0, 1), "{name}");
                let few = if bindings.is_some_and(|most| parts > most as usize) { 2..=several.kernels.len() as u64 } else { 1..=1 };
                assert!(few.contains(&after.bind_groups_created), "{name}: {} bind groups", after.bind_groups_created);
            }
        }
    }

    /// What fits is what it was: limits show in the text of no program that keeps to them.
    #[test]
    fn what_fits_is_not_split() {
        for Case { name, graph, .. } in cases() {
            let program =
                |bytes: u64| compile(&graph, &Target { max_binding_bytes: bytes, ..Target::webgpu_default() }, &Options::default());
            assert!(program(8 << 20).unwrap() == program(1 << 30).unwrap(), "{name}");
            assert_eq!(program(8 << 20).unwrap().bindings.len(), 3);
        }
    }

    #[test]
    fn what_no_buffer_holds_is_refused_by_name() {
        let graph = mlp(&[64, 256, 128, 10], 32, false, Optimizer::Sgd);
        let fails = |options: WgpuOptions, texts: &[&str]| {
            for d in common::adapters_with(&options) {
                let program = compile(&graph, &d.target().unwrap(), &Options::default()).unwrap();
                let e = d.load(Arc::new(graph.clone()), Some(Arc::new(program))).map(drop).unwrap_err().to_string();
                assert!(texts.iter().all(|t| e.contains(t)) && e.contains(&d.info().name) && e.contains("smaller batch"), "{e}");
            }
        };
        fails(
            WgpuOptions { binding_bytes: Some(64 << 10), ..Default::default() },
            &["[128, 256]", "131072 bytes", "65536 bytes in one buffer"],
        );
        let memory = WgpuOptions { memory_bytes: Some(100 << 10), ..Default::default() };
        fails(memory, &["temporaries", "parameters and optimizer state", "arguments", "102400 bytes in all"]);
    }

    /// Compiling is reported while it happens: all kernels of a step, each once, and nothing where they are known.
    #[test]
    fn compiling_is_reported() {
        use std::sync::Mutex;
        let graph = mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW);
        for d in common::adapters() {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let ear = heard.clone();
            d.observe_loading(Some(Arc::new(move |l| ear.lock().unwrap().push(l.clone()))));
            let program = Arc::new(compile(&graph, &d.target().unwrap(), &Options::default()).unwrap());
            let load = || {
                d.load(Arc::new(graph.clone()), Some(program.clone())).map(drop).unwrap();
                pollster::block_on(d.ready()).unwrap();
            };
            load();
            let total = d.stats().pipelines_created as usize;
            assert!(total > 1 && total <= program.kernels.len());
            let mut reports = std::mem::take(&mut *heard.lock().unwrap());
            assert_eq!(reports[0].done, 0, "before the first kernel");
            reports.sort_by_key(|l| l.done);
            assert_eq!(reports.iter().map(|l| l.done).collect::<Vec<_>>(), (0..=total).collect::<Vec<_>>());
            assert!(reports.iter().all(|l| l.total == total && l.program == program.name));
            load();
            assert!(heard.lock().unwrap().is_empty());
            assert_eq!(d.stats().pipelines_created as usize, total, "equal kernels are compiled once");
        }
    }
}

#[cfg(feature = "cpu")]
#[test]
fn split_steps_compute_the_same_on_the_cpu() {
    let Some(d) = common::processor() else { return };
    for Case { name, graph, sizes, bytes, .. } in cases() {
        let target = d.target().unwrap();
        let (_, expected, _) = train(&d, &target, &graph, &sizes);
        let (several, got, _) = train(&d, &Target { max_binding_bytes: bytes, ..target }, &graph, &sizes);
        assert!(expected == got, "{name}");
        assert!(count(&several, &sizes, bytes) > 3, "{name} is split");
    }
}
