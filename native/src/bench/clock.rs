//! Times on a device: medians over slices of runs, each slice until the device is done.

use aludel::{Device, Result};
use std::time::Instant;

/// Slices of one measurement, about how long one is, and after how long no further one begins.
const SLICES: usize = 9;
const SLICE_SECONDS: f64 = 0.15;
const ENOUGH_SECONDS: f64 = 6.0;
/// How many submissions the host may be ahead.
const AHEAD: usize = 8;

/// Waits until the device is done.
pub fn wait(device: &Device) -> Result<()> {
    device.flush();
    pollster::block_on(device.throttle(0))
}

/// Milliseconds of one run. The first runs warm up; a run longer than a slice is timed by itself.
pub fn time(device: &Device, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    run()?;
    wait(device)?;
    let clock = Instant::now();
    run()?;
    wait(device)?;
    let about = clock.elapsed().as_secs_f64();
    let runs = ((SLICE_SECONDS / about.max(1e-6)) as usize).clamp(1, 5000);
    let mut times = Vec::with_capacity(SLICES);
    while times.len() < SLICES && (times.len() < 3 || begin.elapsed().as_secs_f64() < ENOUGH_SECONDS) {
        let clock = Instant::now();
        for _ in 0..runs {
            run()?;
            device.flush();
            pollster::block_on(device.throttle(AHEAD))?;
        }
        wait(device)?;
        times.push(clock.elapsed().as_secs_f64() * 1e3 / runs as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
