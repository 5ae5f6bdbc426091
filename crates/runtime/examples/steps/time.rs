//! Timing a graph as a training step, or as an operator run again and again.

use aludel_compiler::{Options, Style, compile};
use aludel_ir::graph::{Graph, InputKind, ValueId};
use aludel_ir::program::Program;
use aludel_ir::{DType, Error, Result};
use aludel_runtime::{Argument, Executable, Executor, Storage};
use std::sync::Arc;
use std::time::Instant;

/// Words that are no special case of anything: small floats, small numbers.
fn random(count: usize, dtype: DType, seed: u32) -> Arc<[u32]> {
    let mut s = seed.wrapping_mul(2654435761) | 1;
    (0..count)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            match dtype {
                d if d.is_float() => ((s >> 8) as f32 / 16777216.0 * 0.2 - 0.1).to_bits(),
                _ => s % 10,
            }
        })
        .collect()
}

/// A graph ready to run, with arguments: state in a block, small arguments on the host as a training loop gives them.
struct Ready {
    program: Arc<Program>,
    executable: Arc<dyn Executable>,
    sizes: Vec<i64>,
    inputs: Vec<Argument>,
    /// Milliseconds to compile, and until the kernels were loaded too.
    compiled: f64,
    loaded: f64,
}

fn prepare(device: &dyn Executor, graph: &Graph, style: Style) -> Result<Ready> {
    let sizes: Vec<i64> = graph.env.symbols.iter().map(|s| s.hint).collect();
    let t = Instant::now();
    let stage = std::env::var("STAGE").ok();
    let fuse = std::env::var("FUSE").as_deref() != Ok("0");
    let options = Options { style, fuse, keep_stages: stage.is_some(), ..Options::default() };
    let mut target = device.target().ok_or_else(|| aludel_ir::Error::unsupported("an interpreter", "name a device that runs kernels"))?;
    if let Some(capability) = std::env::var("CAPABILITY").ok().and_then(|c| c.parse().ok()) {
        target.compute_capability = capability;
    }
    let program = Arc::new(compile(graph, &target, &options)?);
    let compiled = t.elapsed().as_secs_f64() * 1e3;
    if let Some((name, text)) = program.stages.iter().find(|(name, _)| Some(name) == stage.as_ref()) {
        println!("{name}:\n{text}");
    }
    let executable = device.load(Arc::new(graph.clone()), Some(program.clone()))?;
    let loaded = t.elapsed().as_secs_f64() * 1e3;
    let count = |i: usize| program.eval(&graph.ty(graph.inputs[i].value).numel(), &sizes).unwrap_or(0) as usize;
    let data = |i: usize| -> Arc<[u32]> {
        let dtype = graph.ty(graph.inputs[i].value).dtype;
        device.device_words(&random(count(i), dtype, i as u32), dtype).into()
    };
    let state: Vec<usize> = (0..graph.inputs.len()).filter(|i| graph.inputs[*i].kind == InputKind::State).collect();
    let block = device
        .allocate_state(&state.iter().map(|i| (graph.ty(graph.inputs[*i].value).dtype, Argument::Host(data(*i)))).collect::<Vec<_>>())?;
    let argument = |i: usize| match state.iter().position(|s| *s == i) {
        Some(k) => Ok(Argument::Device(block[k].clone())),
        // Images are there already, as where a loader runs ahead.
        None if style == Style::Operator || count(i) > 1 << 20 => Ok(Argument::Device(device.upload(&data(i))?)),
        None => Ok(Argument::Host(data(i))),
    };
    let inputs = (0..graph.inputs.len()).map(argument).collect::<Result<_>>()?;
    Ok(Ready { program, executable, sizes, inputs, compiled, loaded })
}

/// The median of several windows of runs that go ahead of the host, in milliseconds a run; and the fastest window.
fn windows(device: &dyn Executor, runs: usize, mut run: impl FnMut() -> Result<Vec<Storage>>) -> Result<(f64, f64)> {
    let mut times = Vec::new();
    for round in 0..9 {
        let t = Instant::now();
        for _ in 0..runs {
            // Results go as soon as they are made, as in a loop that reads its loss now and then.
            drop(run()?);
            pollster::block_on(device.throttle(4))?;
        }
        pollster::block_on(device.throttle(0))?;
        if round > 1 {
            times.push(t.elapsed().as_secs_f64() * 1e3 / runs as f64);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[0]))
}

/// Times a training step and prints what it costs.
pub fn step(device: &dyn Executor, name: &str, graph: &Graph, steps: usize) {
    if let Err(e) = try_step(device, name, graph, steps) {
        println!("{name}: {e}");
    }
}

fn try_step(device: &dyn Executor, name: &str, graph: &Graph, steps: usize) -> Result<()> {
    let r = prepare(device, graph, Style::Step)?;
    let before = device.stats();
    // Who asks for launches wants those.
    let steps = if std::env::var_os("LAUNCHES").is_some() { 1 } else { steps };
    let (ms, least) = windows(device, steps, || r.executable.run(&r.sizes, &r.inputs))?;
    let after = device.stats();
    let total = (9 * steps) as f64;
    println!(
        "{name}: {ms:.4} ms/step (min {least:.4}), launches {}, kernels {}, submits/step {:.2}, buffers/step {:.3}, compile {:.0} ms, \
         with kernels {:.0} ms, peak {:.0} MiB",
        r.program.launches.len(),
        r.program.kernels.len(),
        (after.submits - before.submits) as f64 / total,
        (after.buffers_created - before.buffers_created) as f64 / total,
        r.compiled,
        r.loaded,
        after.peak_bytes as f64 / (1 << 20) as f64,
    );
    if std::env::var_os("LAUNCHES").is_some() {
        launches(&r)?;
    }
    Ok(())
}

/// Prints what each launch takes by itself, and how fast it moves bytes and computes.
fn launches(r: &Ready) -> Result<()> {
    // The least of several runs: other work on the machine only adds.
    let mut times = pollster::block_on(r.executable.run_timed(&r.sizes, &r.inputs)?.1)?;
    for _ in 0..9 {
        let again = pollster::block_on(r.executable.run_timed(&r.sizes, &r.inputs)?.1)?;
        times.iter_mut().zip(again).for_each(|(least, ms)| *least = least.min(ms));
    }
    for (l, ms) in r.program.launches.iter().zip(&times) {
        let per_second = |e| r.program.eval(e, &r.sizes).unwrap_or(0) as f64 / ms / 1e6;
        let grid: Vec<i64> = l.grid.iter().map(|g| r.program.eval(g, &r.sizes).unwrap_or(0)).collect();
        let (gb, gflop) = (per_second(&l.bytes), per_second(&l.flops));
        println!("    {ms:8.4} ms {gb:7.0} GB/s {gflop:8.0} GFLOP/s  k{:<3} grid {grid:?}  {}", l.kernel, l.label);
    }
    println!("    {:8.4} ms in all", times.iter().sum::<f64>());
    Ok(())
}

/// What a graph made of one operator took and gave.
pub struct Ran {
    pub ms: f64,
    /// The values of its inputs and outputs.
    pub inputs: Vec<Vec<f64>>,
    pub outputs: Vec<Vec<f64>>,
}

/// Times a graph as one operator, and runs it once more to see what it gives.
pub fn run_once(device: &dyn Executor, graph: &Graph) -> Result<Ran> {
    let r = prepare(device, graph, Style::Operator)?;
    let ms = repeat(device, &r)?;
    let read = |s: &Storage, v: ValueId| {
        let ty = graph.ty(v);
        let count = r.program.eval(&ty.numel(), &r.sizes).unwrap_or(0) as usize;
        let words = device.host_words(pollster::block_on(device.download(s))?, ty.dtype, count);
        Ok(words.into_iter().map(|w| f32::from_bits(w) as f64).collect())
    };
    let inputs = r.inputs.iter().zip(&graph.inputs).map(|(i, input)| match i {
        Argument::Device(s) => read(s, input.value),
        Argument::Host(_) => Err(Error::invalid(&input.name, "is on the host", "time operators on tensors of the device")),
    });
    let inputs = inputs.collect::<Result<_>>()?;
    let outputs = r.executable.run(&r.sizes, &r.inputs)?;
    let outputs = outputs.iter().zip(&graph.outputs).map(|(s, o)| read(s, o.value)).collect::<Result<_>>()?;
    Ok(Ran { ms, inputs, outputs })
}

/// Milliseconds a run of a graph as one operator on tensors of the device.
pub fn operator(device: &dyn Executor, graph: &Graph) -> Result<f64> {
    repeat(device, &prepare(device, graph, Style::Operator)?)
}

fn repeat(device: &dyn Executor, r: &Ready) -> Result<f64> {
    // About 50 ms a window.
    let t = Instant::now();
    for _ in 0..3 {
        drop(r.executable.run(&r.sizes, &r.inputs)?);
    }
    pollster::block_on(device.throttle(0))?;
    let runs = (0.05 / (t.elapsed().as_secs_f64() / 3.0)).clamp(3.0, 500.0) as usize;
    let (ms, _) = windows(device, runs, || r.executable.run(&r.sizes, &r.inputs))?;
    if std::env::var_os("LAUNCHES").is_some() {
        launches(r)?;
    }
    Ok(ms)
}

/// Milliseconds to copy so many words on the device.
pub fn copy(device: &dyn Executor, words: usize) -> Result<f64> {
    let source = [Argument::Device(device.upload(&random(words, DType::F32, 1))?)];
    windows(device, 20, || device.allocate_block(&source)).map(|(ms, _)| ms)
}
