//! Times compiled training steps and matrix products on one adapter: `steps [ADAPTER] [WORKLOAD,..]`.
//!
//! Prints, for each workload, the launches, compile time, and milliseconds a step: the median of several windows, each of
//! many steps that run ahead of the host and end with a read of the loss.

#[path = "../../compiler/tests/steps/mod.rs"]
mod steps;

use aludel_compiler::{Options, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Builder, DType, TensorType};
use aludel_runtime::{Argument, Executor, WgpuExecutor, WgpuOptions};
use std::sync::Arc;
use std::time::Instant;
use steps::{Optimizer, gpt, mlp};

fn matmul(n: i64) -> Graph {
    let mut b = Builder::new("matmul");
    let a = b.graph.add_input("a", InputKind::State, TensorType::new(DType::F32, [n, n]));
    let c = b.graph.add_input("b", InputKind::State, TensorType::new(DType::F32, [n, n]));
    let out = b.contract(a, c, &[], &[(1, 0)]).unwrap();
    b.graph.add_output("out", out, None);
    b.graph
}

fn random(count: usize, dtype: DType, seed: u32) -> Arc<[u32]> {
    let mut s = seed.wrapping_mul(2654435761) | 1;
    (0..count)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            match dtype {
                DType::F32 => ((s >> 8) as f32 / 16777216.0 * 0.2 - 0.1).to_bits(),
                _ => s % 10,
            }
        })
        .collect()
}

fn main() {
    let mut args = std::env::args().skip(1);
    let adapter = args.next().unwrap_or_default();
    let which = args.next().unwrap_or("tiny,tiny-adamw,mlp,gpt,matmul".into());
    let options = WgpuOptions { adapter: Some(adapter), ..WgpuOptions::default() };
    let device = pollster::block_on(WgpuExecutor::request(&options)).unwrap();
    println!("{:?}", device.info());
    println!("{:?}", device.target());
    let has = |w: &str| which.split(',').any(|x| x == w);
    if has("tiny") {
        time(&device, "tiny mlp 64-128-128-10 b64 sgd", &mlp(&[64, 128, 128, 10], 64, false, Optimizer::Sgd), 200);
    }
    if has("tiny-adamw") {
        time(&device, "tiny mlp 64-128-128-10 b64 adamw", &mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), 200);
    }
    if has("mlp") {
        time(&device, "mlp 784-1024-1024-10 b1024 sgd", &mlp(&[784, 1024, 1024, 10], 1024, false, Optimizer::Sgd), 50);
        time(&device, "mlp 784-1024-1024-10 b1024 adamw", &mlp(&[784, 1024, 1024, 10], 1024, false, Optimizer::AdamW), 50);
    }
    if has("gpt") {
        time(&device, "gpt 2x64 4 heads ctx 32 b8 adamw", &gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW), 50);
    }
    if has("chargpt") {
        time(&device, "chargpt 6x384 6 heads ctx 256 b16 adamw", &gpt(65, 256, 384, 6, 6, 16, Optimizer::AdamW), 5);
    }
    for n in [256, 1024, 2048, 4096] {
        if has("matmul") || has(&format!("matmul{n}")) {
            let ms = time(&device, &format!("matmul {n}"), &matmul(n), 10);
            println!("    {:.2} TFLOP/s", 2.0 * (n as f64).powi(3) / ms / 1e9);
        }
    }
}

fn time(device: &WgpuExecutor, name: &str, graph: &Graph, steps: usize) -> f64 {
    let sizes: Vec<i64> = graph.env.symbols.iter().map(|s| s.hint).collect();
    let t = Instant::now();
    let program = match compile(graph, &device.target().unwrap(), &Options::default()) {
        Ok(p) => Arc::new(p),
        Err(e) => {
            println!("{name}: {e}");
            return f64::NAN;
        }
    };
    let compiled = t.elapsed().as_secs_f64() * 1e3;
    let exe = device.load(Arc::new(graph.clone()), Some(program.clone())).unwrap();
    let loaded = t.elapsed().as_secs_f64() * 1e3;
    let count = |i: usize| program.eval(&graph.ty(graph.inputs[i].value).numel(), &sizes).unwrap() as usize;
    let data: Vec<Argument> =
        (0..graph.inputs.len()).map(|i| Argument::Host(random(count(i), graph.ty(graph.inputs[i].value).dtype, i as u32))).collect();
    let state: Vec<usize> = (0..data.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
    let block = device.allocate_block(&state.iter().map(|i| data[*i].clone()).collect::<Vec<_>>()).unwrap();
    let inputs: Vec<Argument> = (0..data.len())
        .map(|i| match state.iter().position(|s| *s == i) {
            Some(k) => Argument::Device(block[k].clone()),
            None => data[i].clone(),
        })
        .collect();
    let mut windows = Vec::new();
    let before = device.stats();
    for round in 0..9 {
        let t = Instant::now();
        for k in 0..steps {
            let out = exe.run(&sizes, &inputs).unwrap();
            pollster::block_on(device.throttle(4)).unwrap();
            if k + 1 == steps {
                pollster::block_on(device.throttle(0)).unwrap();
                drop(out);
            }
        }
        if round > 1 {
            windows.push(t.elapsed().as_secs_f64() * 1e3 / steps as f64);
        }
    }
    let after = device.stats();
    if std::env::var_os("LAUNCHES").is_some()
        && let Ok((_, times)) = exe.run_timed(&sizes, &inputs)
        && let Ok(times) = pollster::block_on(times)
    {
        for (l, ms) in program.launches.iter().zip(times) {
            println!("    {ms:8.3} ms  {}", l.label);
        }
    }
    windows.sort_by(f64::total_cmp);
    let ms = windows[windows.len() / 2];
    let total = (9 * steps) as f64;
    println!(
        "{name}: {ms:.3} ms/step (min {:.3}), launches {}, submits/step {:.2}, buffers/step {:.3}, compile {compiled:.1} ms, with pipelines {loaded:.0} ms",
        windows[0],
        program.launches.len(),
        (after.submits - before.submits) as f64 / total,
        (after.buffers_created - before.buffers_created) as f64 / total,
    );
    ms
}
