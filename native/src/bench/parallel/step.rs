//! One training step of a rank among others.

use super::{Way, clock};
use crate::bench::steps::{counts, resident};
use crate::workload::sharded::{Parts, Sharded, two_players};
use crate::workload::{Batch, LEARNING_RATE, Model, Train, Workload};
use aludel::distributed::Member;
use aludel::nn::Precision;
use aludel::nn::distributed::FullyShardedConfig;
use aludel::{DType, Device, Error, Result, Tensor, Tree, compile};
use aludel_compiler::scale::{Traffic, offloaded_bytes, state_bytes, traffic};
use std::time::Instant;

/// Steps whose loss is given: the way must not change it.
const LOSS_AFTER: usize = 3;

/// What was measured of one way: times and memory of the rank that has most.
pub struct Measured {
    pub ms: f64,
    /// Capture, compilation, loading and running.
    pub first_ms: f64,
    /// Launches of a steady step.
    pub dispatches: u64,
    /// The most memory in use while steady steps run.
    pub peak_bytes: u64,
    /// Of it, parameters (or shards), the optimizer's state and buffers: what lives between steps. Gradients are temporaries.
    pub state_bytes: Option<u64>,
    /// What lives between steps in the host's memory instead.
    pub offloaded_bytes: Option<u64>,
    /// What a rank exchanges in a step.
    pub traffic: Option<Traffic>,
    /// The third step's, averaged over the ranks.
    pub loss: f64,
}

/// Measures one way on this rank, while all others do.
///
/// # Errors
///
/// A workload that cannot be shared out so; what capturing, compiling and running the step give; ranks that are missing or have ended.
pub fn measure(workload: &Workload, way: Way, amp: Precision, device: &Device, member: &Member) -> Result<Measured> {
    let batch = resident(workload.data(device)?)?;
    match way {
        Way::None => steady(workload, workload.train(device, amp)?, &batch, device, member, Train::step),
        Way::Ddp => {
            let mut train = workload.train_among(member, device, amp)?;
            // What DistributedDataParallel does, for each of a step's optimizers: gradients are averaged in its buckets. All ranks begin
            // alike, of one seed, so nothing is broadcast first: hundreds of operators would be compiled for that.
            train.amp.among(member);
            steady(workload, train, &batch, device, member, Train::step)
        }
        Way::Fsdp | Way::FsdpOffload => {
            let train = workload.train_among(member, device, amp)?;
            if train.adversary.is_some() {
                return Err(two_players(workload.name));
            }
            // Shards are f32; what is gathered is what the step computes in.
            let low = (amp == Precision::BF16).then_some(DType::BF16);
            let config =
                FullyShardedConfig { param_dtype: low, offload_optimizer: way == Way::FsdpOffload, ..FullyShardedConfig::default() };
            let state = Sharded::new(Parts::of(workload, train)?, LEARNING_RATE, member, config)?;
            steady(workload, state, &batch, device, member, |s: &mut Sharded<Model>, b| s.step(b, |m, (x, y)| m.loss(x, y)))
        }
    }
}

/// Runs the compiled step until it is steady, and measures it.
fn steady<S: Tree + Clone>(
    workload: &Workload,
    mut state: S,
    batch: &Batch,
    device: &Device,
    member: &Member,
    step: fn(&mut S, &Batch) -> Result<Tensor>,
) -> Result<Measured> {
    let step = compile(step).named(workload.name);
    let clock = Instant::now();
    step.call(&mut state, batch)?.item()?;
    let first_ms = clock.elapsed().as_secs_f64() * 1e3;
    // The second may still move state into its place.
    let mut loss = 0.0;
    for _ in 1..LOSS_AFTER {
        loss = step.call(&mut state, batch)?.item()?;
    }
    // Beginning took more memory than going on does.
    device.reset_peak();
    let mut run = || step.call(&mut state, batch);
    run()?;
    let dispatches = counts(device, &mut run)?.dispatches;
    let ms = clock::time(device, member, || run().map(drop))?;
    let peak = device.stats().peak_bytes;
    let program = step.specializations().pop().and_then(|s| s.program);
    let symbolic = || Error::unsupported("a step of symbolic sizes", "report this");
    let (traffic, state_bytes, offloaded_bytes) = match &program {
        Some(p) => (
            Some(traffic(p).ok_or_else(symbolic)?),
            Some(state_bytes(p).ok_or_else(symbolic)?),
            Some(offloaded_bytes(p).ok_or_else(symbolic)?),
        ),
        None => (None, None, None),
    };
    let most = clock::slowest(device, member, &[first_ms, peak as f64 / f64::from(1 << 20)])?;
    let loss = match member.ranks() {
        1 => loss,
        ranks => Tensor::scalar(device, loss as f32).reshape([1])?.all_reduce("sum", &member.group)?.reshape(())?.item()? / ranks as f64,
    };
    let peak_bytes = (most[1] * f64::from(1 << 20)) as u64;
    Ok(Measured { ms, first_ms: most[0], dispatches, peak_bytes, state_bytes, offloaded_bytes, traffic, loss })
}
