//! Counts and times of training steps, eager and compiled, side by side on one device.
//!
//! Counts are exact and the same everywhere; times are of this machine, medians over slices of steps until the device is done.

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::models::{Gpt, Mlp};
use aludel::nn::{Activation, AdamConfig, AdamW, Init, Module, Optimizer, Sgd, SgdConfig};
use aludel::{Device, Result, Stats, Tensor, Tree, compile};
use std::time::Instant;

/// Slices of each measurement, and about how long one is.
const SLICES: usize = 9;
const SLICE_SECONDS: f64 = 0.15;

#[derive(Clone, Tree)]
struct Train<M: Tree, O: Tree> {
    model: M,
    optimizer: O,
}

type Batch = (Tensor, Tensor);

struct Measured {
    /// Of one steady step.
    counts: Stats,
    ms: f64,
    /// The first step, in milliseconds: capture, compilation and pipelines.
    first: f64,
}

/// Arguments of `aludel bench`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A part of the adapter's name, for wgpu.
    #[arg(long)]
    adapter: Option<String>,
}

fn gpu(adapter: Option<String>) -> Result<Device> {
    Choice { adapter, ..Choice::new(Kind::Wgpu) }.open()
}

pub fn run(args: &Args, _: &Output) -> Result<()> {
    let adapter = args.adapter.clone();
    println!("device: {}", gpu(adapter.clone())?);
    println!("{:<34} {:>9} {:>9} {:>8} {:>10} {:>9} {:>9}", "step", "ms", "launches", "submits", "moved kB", "peak kB", "first ms");
    let make = || gpu(adapter.clone());
    mlp(&make, "mlp-sgd 64-128-128-10 x64", &[64, 128, 128, 10], 64, &|m| Sgd::new(m, SgdConfig { lr: 0.1, ..SgdConfig::default() }))?;
    mlp(&make, "mlp-adamw 64-128-128-10 x64", &[64, 128, 128, 10], 64, &|m| AdamW::new(m, AdamConfig::default()))?;
    mlp(&make, "mlp-sgd 784-1024-1024-10 x1024", &[784, 1024, 1024, 10], 1024, &|m| {
        Sgd::new(m, SgdConfig { lr: 0.1, ..SgdConfig::default() })
    })?;
    gpt(&make, "gpt 2x64, 4 heads, 8x32, adamw")
}

fn mlp<O: Optimizer + Clone>(
    make: &dyn Fn() -> Result<Device>,
    name: &str,
    sizes: &[usize],
    batch: usize,
    optimizer: &dyn Fn(&Mlp) -> Result<O>,
) -> Result<()> {
    let (inputs, classes) = (sizes[0], sizes[sizes.len() - 1]);
    let start = |d: &Device| {
        let model = Mlp::new(&mut Init::new(d, 0), sizes, Activation::Relu)?;
        Ok(Train { optimizer: optimizer(&model)?, model })
    };
    let labels: Vec<i32> = (0..batch).map(|i| (i % classes) as i32).collect();
    let data = |d: &Device| Ok((Tensor::randn(d, [batch, inputs], 1)?, Tensor::from_slice(d, &labels, [batch])?));
    compare(make, name, &start, &data, |s, (x, y)| {
        let loss = s.model.forward(x)?.cross_entropy(y)?;
        s.optimizer.step(&mut s.model, &loss.backward()?)?;
        Ok(loss)
    })
}

fn gpt(make: &dyn Fn() -> Result<Device>, name: &str) -> Result<()> {
    const VOCABULARY: usize = 64;
    let (batch, context) = (8, 32);
    let start = |d: &Device| {
        let model = Gpt::new(&mut Init::new(d, 0), VOCABULARY, context, 64, 2, 4)?;
        Ok(Train { optimizer: AdamW::new(&model, AdamConfig::default())?, model })
    };
    let ids: Vec<i32> = (0..batch * context + 1).map(|i| (i * 7 % VOCABULARY) as i32).collect();
    let data = |d: &Device| {
        let shape = [batch, context];
        Ok((Tensor::from_slice(d, &ids[..batch * context], shape)?, Tensor::from_slice(d, &ids[1..], shape)?))
    };
    compare(make, name, &start, &data, |s, (x, y)| {
        let loss = s.model.loss(x, y)?;
        s.optimizer.step(&mut s.model, &loss.backward()?)?;
        Ok(loss)
    })
}

/// Measures one step both ways, each on a device of its own, and prints a row for each.
fn compare<S: Tree + Clone>(
    make: &dyn Fn() -> Result<Device>,
    name: &str,
    start: &dyn Fn(&Device) -> Result<S>,
    data: &dyn Fn(&Device) -> Result<Batch>,
    step: impl Fn(&mut S, &Batch) -> Result<Tensor> + Copy,
) -> Result<()> {
    let device = make()?;
    let (mut state, batch) = (start(&device)?, data(&device)?);
    let eager = measure(&device, || step(&mut state, &batch))?;
    let device = make()?;
    let (mut state, batch) = (start(&device)?, data(&device)?);
    let compiled_step = compile(step);
    let compiled = measure(&device, || compiled_step.call(&mut state, &batch))?;
    for (how, m) in [("eager", &eager), ("compiled", &compiled)] {
        let c = &m.counts;
        let label = format!("{name} {how}");
        println!(
            "{label:<44} {:>7.3} {:>9} {:>8} {:>10.0} {:>9.0} {:>9.1}",
            m.ms,
            c.dispatches,
            c.submits,
            c.bytes_moved as f64 / 1e3,
            c.peak_bytes as f64 / 1e3,
            m.first
        );
    }
    println!("{name:<44} compiled is {:.2} times as fast", eager.ms / compiled.ms);
    Ok(())
}

fn measure(device: &Device, mut step: impl FnMut() -> Result<Tensor>) -> Result<Measured> {
    let wait = |loss: Tensor| loss.item().map(|_| ());
    let clock = Instant::now();
    wait(step()?)?;
    let first = clock.elapsed().as_secs_f64() * 1e3;
    let clock = Instant::now();
    wait(step()?)?;
    wait(step()?)?;
    let about = clock.elapsed().as_secs_f64() / 2.0;
    let before = device.stats();
    step()?;
    device.flush();
    let after = device.stats();
    let steps = ((SLICE_SECONDS / about.max(1e-6)) as usize).clamp(1, 2000);
    let mut times = Vec::with_capacity(SLICES);
    for _ in 0..SLICES {
        let clock = Instant::now();
        let mut last = None;
        for _ in 0..steps {
            last = Some(step()?);
            device.flush();
            // The host runs ahead, but not without bound.
            pollster::block_on(device.throttle(8))?;
        }
        last.map_or(Ok(()), wait)?;
        times.push(clock.elapsed().as_secs_f64() * 1e3 / steps as f64);
    }
    times.sort_by(f64::total_cmp);
    let counts = Stats {
        dispatches: after.dispatches - before.dispatches,
        submits: after.submits - before.submits,
        bytes_moved: after.bytes_moved - before.bytes_moved,
        ..after
    };
    Ok(Measured { counts, ms: times[SLICES / 2], first })
}
