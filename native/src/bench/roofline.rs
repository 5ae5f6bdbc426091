//! `aludel bench --roofline`: every launch of a compiled step beside what the device's memory and arithmetic allow (the roofline model of
//! Williams, Waterman and Patterson, CACM 52(4), 2009).
//!
//! The ceilings are measured in the same run, by a copy of 256 MiB, a large matrix product and a launch of one element. A launch cannot take
//! less than the largest of its bytes at the copy's rate, its operations at the product's, and a launch; what it takes beyond that is what
//! could be gained. Operands that a cache still holds are read faster than the copy reads: such a launch may take less.

use super::{clock, micro, steps};
use crate::device::Choice;
use crate::output::Output;
use crate::workload::{Batch, Train, Workload, rough_rate};
use aludel::nn::Precision;
use aludel::{DType, Error, Result, Tensor, Tree, compile};
use aludel_ir::program::Program;
use aludel_runtime::Pending;
use serde_json::json;
use std::time::Instant;

/// How many kinds of launches are listed, those that lose most first.
const LISTED: usize = 15;
/// Each launch is timed so often at most, and the least counts: other work on the machine only adds. After so many seconds no further
/// round begins.
const ROUNDS: usize = 10;
const ENOUGH_SECONDS: f64 = 3.0;
/// A product that measures the arithmetic takes about so long at most.
const PRODUCT_SECONDS: f64 = 0.3;

/// What a device does at most.
pub struct Ceilings {
    /// Bytes read and written in a millisecond.
    copy: f64,
    /// Floating-point operations in a millisecond.
    product: f64,
    /// Milliseconds of a launch.
    launch: f64,
}

impl Ceilings {
    /// Measures them, and says them.
    ///
    /// # Errors
    ///
    /// An interpreter; a device that cannot time a launch.
    pub fn measure(choice: &Choice, precision: Precision, output: &Output) -> Result<Ceilings> {
        let device = choice.open()?;
        let Some(target) = device.target() else {
            return Err(Error::unsupported("--roofline on the interpreter, which launches nothing", "use --device cpu, cuda or wgpu"));
        };
        let fits = |n: &&usize| 2.0 * (**n as f64).powi(3) / rough_rate(choice.kind, target.software) < PRODUCT_SECONDS;
        let side = micro::PRODUCTS.iter().filter(fits).max().copied().unwrap_or(micro::PRODUCTS[0]);
        let dtype = match precision {
            Precision::F32 => DType::F32,
            Precision::BF16 => DType::BF16,
            Precision::F16 => DType::F16,
        };
        let operand = |shape: &[usize], seed| Tensor::randn(&device, shape, seed)?.to(dtype)?.neg();
        let factors = (operand(&[side, side], 1)?, operand(&[side, side], 2)?);
        let product = 2.0 * (side as f64).powi(3) / least_ms(|x: &(Tensor, Tensor)| x.0.matmul(&x.1), &factors)?;
        let square = Tensor::zeros(&device, [micro::SIDE, micro::SIDE])?.neg()?;
        let copy = 8.0 * (micro::SIDE * micro::SIDE) as f64 / least_ms(Tensor::neg, &square)?;
        drop((factors, square));
        let launch = least_ms(Tensor::neg, &Tensor::zeros(&device, [1])?.neg()?)?;
        let name = if dtype == DType::F32 { format!("f32, precision {}", choice.precision_name()) } else { dtype.to_string() };
        output.line(format!(
            "ceilings: copying {:.0} GB/s, products of {side} ({name}) {:.2} TFLOP/s, a launch {:.1} µs",
            copy / 1e6,
            product / 1e9,
            launch * 1e3
        ));
        output.event(
            "ceilings",
            json!({ "copy_gb_per_s": copy / 1e6, "product_tflop_per_s": product / 1e9, "product_side": side, "product_type": name, "launch_ms": launch }),
        );
        Ok(Ceilings { copy, product, launch })
    }

    /// The least milliseconds of a launch, and what bounds it.
    fn floor(&self, bytes: f64, flops: f64) -> (f64, &'static str) {
        let bounds = [(self.launch, "launch"), (bytes / self.copy, "memory"), (flops / self.product, "arithmetic")];
        bounds.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((self.launch, "launch"))
    }
}

/// The least milliseconds of what a function launches, timed as the launches of a step are.
fn least_ms<A: Tree + Clone>(function: impl Fn(&A) -> Result<Tensor>, operands: &A) -> Result<f64> {
    let function = compile(move |_: &mut (), x: &A| function(x));
    function.call(&mut (), operands)?;
    least(|| Ok(function.call_timed(&mut (), operands)?.1)).map(|times| times.iter().sum())
}

/// The least of each time, over rounds.
fn least(mut round: impl FnMut() -> Result<Pending<Vec<f64>>>) -> Result<Vec<f64>> {
    let clock = Instant::now();
    let mut times = pollster::block_on(round()?)?;
    for _ in 1..ROUNDS {
        if clock.elapsed().as_secs_f64() > ENOUGH_SECONDS {
            break;
        }
        let again = pollster::block_on(round()?)?;
        times.iter_mut().zip(again).for_each(|(least, ms)| *least = least.min(ms));
    }
    Ok(times)
}

/// Equal launches of a step.
struct Row {
    label: String,
    kernel: usize,
    bytes: f64,
    flops: f64,
    count: usize,
    /// Milliseconds of all of them, and the least they could take.
    ms: f64,
    floor: f64,
    bound: &'static str,
}

impl Row {
    fn lost(&self) -> f64 {
        self.ms - self.floor
    }
}

/// Measures the compiled step of a workload and prints its launches beside the ceilings.
///
/// # Errors
///
/// What compiling and running the step refuse; a device that cannot time a launch.
pub fn run(workload: &Workload, precision: Precision, choice: &Choice, ceilings: &Ceilings, output: &Output) -> Result<()> {
    let device = choice.open()?;
    let mut train = workload.train(&device, precision)?;
    let batch = steps::resident(workload.data(&device)?)?;
    let step = compile(|s: &mut Train, b: &Batch| s.step(b)).named(workload.name);
    step.call(&mut train, &batch)?.item()?;
    // The second may still move state into its place.
    step.call(&mut train, &batch)?;
    let ms = clock::time(&device, || step.call(&mut train, &batch).map(drop))?;
    let times = least(|| Ok(step.call_timed(&mut train, &batch)?.1))?;
    let specialization = step.specializations().pop();
    let program = specialization.and_then(|s| s.program).ok_or_else(|| Error::device("the step has no program", "report this"))?;
    print(workload, precision, ms, rows(&program, &times, ceilings), output);
    Ok(())
}

/// Launches of one kernel on operands of one size count together; those that lose most come first.
fn rows(program: &Program, times: &[f64], ceilings: &Ceilings) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (launch, ms) in program.launches.iter().zip(times) {
        let value = |e| program.eval(e, &[]).unwrap_or(0) as f64;
        let (bytes, flops) = (value(&launch.bytes), value(&launch.flops));
        let (floor, bound) = ceilings.floor(bytes, flops);
        let equal = |r: &&mut Row| r.kernel == launch.kernel && r.bytes == bytes && r.flops == flops && r.label == launch.label;
        match rows.iter_mut().find(equal) {
            Some(row) => {
                row.count += 1;
                row.ms += ms;
                row.floor += floor;
            }
            None => rows.push(Row { label: launch.label.clone(), kernel: launch.kernel, bytes, flops, count: 1, ms: *ms, floor, bound }),
        }
    }
    rows.sort_by(|a, b| b.lost().total_cmp(&a.lost()));
    rows
}

fn print(workload: &Workload, precision: Precision, ms: f64, rows: Vec<Row>, output: &Output) {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let (launches, alone, floor) = (rows.iter().map(|r| r.count).sum::<usize>(), sum(|r| r.ms), sum(|r| r.floor));
    let amp = if precision == Precision::F32 { String::new() } else { format!(", mixed precision {precision}") };
    output.line(format!("\n{}: {}{amp}", workload.name, workload.describe()));
    output.line(format!("a step {ms:.3} ms; its {launches} launches one by one {alone:.3} ms, at the ceilings {floor:.3} ms"));
    output.event(
        "roofline",
        json!({
            "workload": workload.name, "amp": precision.name(), "ms_per_step": ms, "launches": launches, "launches_ms": alone, "floor_ms": floor,
        }),
    );
    output.line(format!(
        "{:>9} {:>9} {:>9} {:>6} {:>8} {:>9}  {:<10}  launch",
        "lost ms", "ms", "least ms", "times", "GB/s", "TFLOP/s", "bound by"
    ));
    for (k, r) in rows.iter().enumerate() {
        let (bytes, flops) = (r.bytes * r.count as f64 / r.ms / 1e6, r.flops * r.count as f64 / r.ms / 1e9);
        if k < LISTED {
            output.line(format!(
                "{:>9.4} {:>9.4} {:>9.4} {:>6} {bytes:>8.1} {flops:>9.3}  {:<10}  {}",
                r.lost(),
                r.ms,
                r.floor,
                r.count,
                r.bound,
                r.label
            ));
        }
        output.event(
            "roofline_launch",
            json!({
                "workload": workload.name, "launch": r.label, "kernel": r.kernel, "times": r.count, "ms": r.ms, "floor_ms": r.floor, "bound": r.bound,
                "bytes": r.bytes, "flops": r.flops,
            }),
        );
    }
    if rows.len() > LISTED {
        let rest = &rows[LISTED..];
        let (count, lost) = (rest.iter().map(|r| r.count).sum::<usize>(), rest.iter().map(Row::lost).sum::<f64>());
        output.line(format!("{lost:>9.4} ms in {count} other launches"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_bound_decides() {
        let ceilings = Ceilings { copy: 1e6, product: 1e9, launch: 0.002 };
        assert_eq!(ceilings.floor(1e3, 1e3), (0.002, "launch"));
        assert_eq!(ceilings.floor(3e6, 1e9), (3.0, "memory"));
        assert_eq!(ceilings.floor(3e6, 5e9), (5.0, "arithmetic"));
    }
}
