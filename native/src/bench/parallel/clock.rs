//! Times of what several ranks run together: each slice from when all have come until the slowest is done.
//!
//! Runs hold collectives, so every rank makes as many: how many is settled by the slowest.

use crate::bench::clock::wait;
use aludel::distributed::Member;
use aludel::{Device, Result, Tensor, no_grad};
use std::time::Instant;

/// Slices of one measurement, and about how long one is.
const SLICES: usize = 9;
const SLICE_SECONDS: f64 = 0.15;
/// So many at least; more only within about so long.
const LEAST: usize = 3;
const ENOUGH_SECONDS: f64 = 6.0;
/// How many submissions the host may be ahead.
const AHEAD: usize = 8;

/// The largest of all ranks' numbers, each by itself. Nobody has it before all have come.
pub fn slowest(device: &Device, member: &Member, own: &[f64]) -> Result<Vec<f64>> {
    if member.ranks() == 1 {
        return Ok(own.to_vec());
    }
    let own: Vec<f32> = own.iter().map(|v| *v as f32).collect();
    let all = no_grad(|| Tensor::from_slice(device, &own, [own.len()])?.all_reduce("max", &member.group))?;
    Ok(all.to_vec::<f32>()?.into_iter().map(f64::from).collect())
}

/// Milliseconds of one run on the slowest rank, the median over slices. The first runs warm up.
pub fn time(device: &Device, member: &Member, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut slice = |runs: usize| {
        wait(device)?;
        slowest(device, member, &[0.0])?;
        let clock = Instant::now();
        for _ in 0..runs {
            run()?;
            device.flush();
            pollster::block_on(device.throttle(AHEAD))?;
        }
        wait(device)?;
        Ok::<f64, aludel::Error>(clock.elapsed().as_secs_f64())
    };
    slice(1)?;
    let about = slice(1)?;
    let about = slowest(device, member, &[about])?[0].max(1e-6);
    let runs = ((SLICE_SECONDS / about) as usize).clamp(1, 5000);
    let count = ((ENOUGH_SECONDS / (about * runs as f64)) as usize).clamp(LEAST, SLICES);
    let own = (0..count).map(|_| Ok(slice(runs)? * 1e3 / runs as f64)).collect::<Result<Vec<f64>>>()?;
    let mut times = slowest(device, member, &own)?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
