//! Times on a device: medians over slices of runs, each slice until the device is done.

use aludel::{Device, Result};
use std::time::Instant;

/// Slices of one measurement, and about how long one is.
#[derive(Clone, Copy)]
struct Slices {
    count: usize,
    seconds: f64,
}

const STEPS: Slices = Slices { count: 9, seconds: 0.15 };
/// Of many short measurements; as PyTorch's script has it.
const OPERATORS: Slices = Slices { count: 5, seconds: 0.02 };
/// After how long no further slice begins.
const ENOUGH_SECONDS: f64 = 6.0;
/// How many submissions the host may be ahead.
const AHEAD: usize = 8;

/// Waits until the device is done.
pub fn wait(device: &Device) -> Result<()> {
    device.flush();
    pollster::block_on(device.throttle(0))
}

/// Milliseconds of one run. The first runs warm up; a run longer than a slice is timed by itself.
pub fn time(device: &Device, run: impl FnMut() -> Result<()>) -> Result<f64> {
    slices(device, STEPS, run, || {
        device.flush();
        pollster::block_on(device.throttle(AHEAD))
    })
}

/// As [`time`], in a tenth of a second: for many measurements. Calls follow one another without a wait, as in the peers' loops: when
/// they are submitted is the device's own affair.
pub fn time_briefly(device: &Device, run: impl FnMut() -> Result<()>) -> Result<f64> {
    slices(device, OPERATORS, run, || Ok(()))
}

/// `between` follows each run of a slice.
fn slices(device: &Device, slices: Slices, mut run: impl FnMut() -> Result<()>, between: impl Fn() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    run()?;
    wait(device)?;
    let clock = Instant::now();
    run()?;
    wait(device)?;
    let about = clock.elapsed().as_secs_f64();
    let runs = ((slices.seconds / about.max(1e-6)) as usize).clamp(1, 5000);
    let mut times = Vec::with_capacity(slices.count);
    while times.len() < slices.count && (times.len() < 3 || begin.elapsed().as_secs_f64() < ENOUGH_SECONDS) {
        let clock = Instant::now();
        for _ in 0..runs {
            run()?;
            between()?;
        }
        wait(device)?;
        times.push(clock.elapsed().as_secs_f64() * 1e3 / runs as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
