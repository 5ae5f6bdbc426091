//! The wire alone: one all-reduction of a long tensor.

use super::clock;
use crate::output::Output;
use aludel::distributed::Member;
use aludel::{Device, Error, Result, Tensor, no_grad};
use serde_json::json;

/// Bytes of f32 that every rank has: 1 GiB where a GPU computes, less where memory is the host's.
const BYTES: usize = 1 << 30;
const BYTES_OF_HOST: usize = 1 << 22;

/// Measures it and says its bus bandwidth: what a rank sends, as nccl-tests counts it, twice (n - 1) / n of the operand.
///
/// # Errors
///
/// A rank alone; no memory for two such tensors.
pub fn run(device: &Device, member: &Member, output: &Output) -> Result<()> {
    let ranks = member.ranks();
    if ranks == 1 {
        return Err(Error::invalid("--only all_reduce", "there is one rank, which reduces nothing", "start two or more"));
    }
    let bytes = if device.info().backend == "CUDA" { BYTES } else { BYTES_OF_HOST };
    // An operator by itself: its result takes memory that the one before gave back, and nothing is copied.
    let x = Tensor::ones(device, [bytes / 4])?.neg()?;
    let ms = clock::time(device, member, || no_grad(|| x.all_reduce("sum", &member.group)).map(drop))?;
    let bus = 2.0 * (ranks - 1) as f64 / ranks as f64 * bytes as f64 / ms / 1e6;
    output.line(format!("\nall_reduce of {} MiB f32 over {ranks} ranks: {ms:.3} ms, bus bandwidth {bus:.1} GB/s", bytes >> 20));
    output.event("all_reduce", json!({ "bytes": bytes, "ranks": ranks, "ms": ms, "bus_gb_per_s": bus }));
    Ok(())
}
