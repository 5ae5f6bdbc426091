//! `aludel bench --parallel`: what a training step takes where several ranks train together, each the workload's whole batch.
//!
//! Every rank measures the same steps: alone (`none`), data parallel and fully sharded, each compiled whole, its collectives among its
//! launches. Times are those of the slowest rank ([`clock`]); the bytes that a rank exchanges are read off the planned program.

mod all_reduce;
mod clock;
mod ranks;
mod step;

pub use ranks::run;

use crate::device::Choice;
use crate::output::Output;
use crate::workload::{self, Workload};
use aludel::distributed::Member;
use aludel::nn::Precision;
use aludel::{Device, Error, Result};
use clap::ValueEnum;
use serde_json::json;
use step::Measured;

/// How the ranks share the work.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// Not at all: the step of one rank, on each.
    None,
    /// Gradients are averaged, as DistributedDataParallel does, and batches are normalized over all ranks.
    Ddp,
    /// Parameters, gradients and the optimizer's state are divided, as FullyShardedDataParallel does.
    Fsdp,
    /// The same, with the optimizer's state in the host's memory: on a CPU that is where it is anyway.
    FsdpOffload,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::None => "none",
            Way::Ddp => "ddp",
            Way::Fsdp => "fsdp",
            Way::FsdpOffload => "fsdp-offload",
        }
    }
}

/// What is to be measured.
pub struct Request<'a> {
    /// Workloads, and `all_reduce`.
    pub names: &'a [String],
    pub ways: &'a [Way],
    pub amp: Precision,
    /// Ranks that are threads of this process.
    pub threads: Option<usize>,
    pub choice: &'a Choice,
}

/// The name of what measures the wire alone.
pub const ALL_REDUCE: &str = "all_reduce";

impl Request<'_> {
    /// The workloads; those of `--ablate` where none is named.
    fn workloads(&self, on_cpu: bool) -> Result<Vec<Workload>> {
        let named: Vec<&str> = self.names.iter().map(String::as_str).filter(|n| *n != ALL_REDUCE).collect();
        let names: Vec<&str> = match &named[..] {
            [] if self.names.is_empty() => super::ABLATED.to_vec(),
            ["steps"] => workload::ALL.iter().map(|w| w.name).collect(),
            _ => named,
        };
        names.iter().map(|n| super::named_workload("--only", n, on_cpu)).collect()
    }

    /// In the order in which they are measured: what others are compared with comes first.
    fn ways(&self) -> Vec<Way> {
        let mut ways = self.ways.to_vec();
        ways.sort();
        ways.dedup();
        ways
    }

    /// Measures all of it on one rank; all ranks do the same in one order.
    ///
    /// # Errors
    ///
    /// Names that there are not, what a step refuses; ranks that are missing or have ended.
    fn measure(&self, device: &Device, member: &Member, output: &Output) -> Result<()> {
        let on_cpu = device.target().is_none_or(|t| t.software) || self.choice.kind == crate::device::Kind::Cpu;
        let (workloads, ways) = (self.workloads(on_cpu)?, self.ways());
        if let (Some(w), Precision::F16) = (ways.iter().find(|w| **w == Way::Fsdp), self.amp) {
            // Whether a gradient is finite would be known of the rank's own shards alone.
            return Err(Error::unsupported(format!("--parallel {} with --amp f16", w.name()), "use --amp bf16"));
        }
        if ways.is_empty() && !workloads.is_empty() {
            let what = format!("--only {}", workloads[0].name);
            return Err(Error::invalid(what, "it is not said how ranks share it", "add --parallel none,ddp,fsdp"));
        }
        about(device, member, self, output);
        if self.names.iter().any(|n| n == ALL_REDUCE) {
            all_reduce::run(device, member, output)?;
        }
        for workload in &workloads {
            begin(workload, self.amp, output);
            let mut alone = None;
            for way in &ways {
                match step::measure(workload, *way, self.amp, device, member) {
                    Ok(m) => {
                        alone = if *way == Way::None { Some(m.ms) } else { alone };
                        print(workload, *way, self.amp, member, &m, alone, output);
                    }
                    // All ranks refuse it alike, before they exchange anything.
                    Err(e @ Error::Unsupported { .. }) => {
                        super::skipped(&format!("{} {}", workload.name, way.name()), &e.to_string(), output)
                    }
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }
}

fn about(device: &Device, member: &Member, request: &Request, output: &Output) {
    let (ranks, choice) = (member.ranks(), request.choice);
    output.line(format!("{ranks} ranks, each on {device}, f32 matrix products {}", choice.precision_name()));
    output.event(
        "device",
        json!({
            "device": choice.kind.to_string(), "name": device.to_string(), "features": device.info().features, "precision": choice.precision_name(),
            "ranks": ranks, "version": env!("CARGO_PKG_VERSION"),
        }),
    );
}

fn begin(workload: &Workload, amp: Precision, output: &Output) {
    let amp = if amp == Precision::F32 { String::new() } else { format!(", mixed precision {amp}") };
    output.line(format!("\n{}: {} on each rank{amp}", workload.name, workload.describe()));
    output.line(format!(
        "{:<12} {:>10} {:>8} {:>12} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "", "ms/step", "of none", "samples/s", "kernels", "peak MiB", "state MiB", "host MiB", "exchanges", "MB sent"
    ));
}

fn print(workload: &Workload, way: Way, amp: Precision, member: &Member, m: &Measured, alone: Option<f64>, output: &Output) {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let ratio = alone.map(|alone| m.ms / alone);
    let samples = (workload.batch * member.ranks()) as f64 * 1e3 / m.ms;
    // The interpreter plans nothing.
    let of_plan = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    output.line(format!(
        "{:<12} {:>10.3} {:>8} {samples:>12.0} {:>10} {:>10.1} {:>10} {:>10} {:>12} {:>12}",
        way.name(),
        m.ms,
        of_plan(ratio.map(|r| format!("{r:.3}"))),
        m.dispatches,
        mib(m.peak_bytes),
        of_plan(m.state_bytes.map(|b| format!("{:.1}", mib(b)))),
        of_plan(m.offloaded_bytes.map(|b| format!("{:.1}", mib(b)))),
        of_plan(m.traffic.map(|t| t.collectives.to_string())),
        of_plan(m.traffic.map(|t| format!("{:.3}", t.sent as f64 / 1e6))),
    ));
    output.event(
        "parallel",
        json!({
            "workload": workload.name, "batch": workload.batch, "amp": amp.name(), "parallel": way.name(), "ranks": member.ranks(),
            "ms_per_step": m.ms, "of_none": ratio, "samples_per_s": samples, "first_ms": m.first_ms, "kernels": m.dispatches,
            "peak_mib": mib(m.peak_bytes), "state_mib": m.state_bytes.map(mib), "host_mib": m.offloaded_bytes.map(mib), "exchanges": m.traffic.map(|t| t.collectives),
            "operand_bytes": m.traffic.map(|t| t.operands), "sent_bytes": m.traffic.map(|t| t.sent), "loss": m.loss,
        }),
    );
}
