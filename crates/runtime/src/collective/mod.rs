//! Collectives of running programs: who connects the ranks.
//!
//! A [`ProcessGroup`] is one rank's place in a named group, given by the engine that connects them: [`local`] (threads of this
//! process), `mpi` (processes that MPI started; a feature). A device joins groups ([`crate::Executor::join`]); a program's collectives are then those of the group of their name.
//!
//! The whole flow of one collective on the host is [`Groups::run`]: the group is found, the call is described ([`Call`]), and the engine
//! gives the result. Whatever the engine, all ranks are compared before any of them waits for data: ranks that disagree on the operation,
//! the shape or the order are told so, with the number of the one that differs; one that is missing is named after [`Timeout`].

mod groups;
pub mod local;
#[cfg(feature = "mpi")]
pub mod mpi;
mod paper;
mod some;
pub mod store;
mod world;

pub use groups::Groups;
pub use local::LocalGroup;
#[cfg(feature = "mpi")]
pub use mpi::MpiGroup;
pub use paper::PaperGroup;
#[cfg(feature = "cuda")]
pub(crate) use some::{apart, not_among, not_joined, plan, taken};
pub(crate) use some::{place_among, some_of};
pub use world::World;

use aludel_ir::collective::combine;
use aludel_ir::{Collective, CollectiveOp, DType, ReduceOp, Result};
use std::sync::Arc;
use std::time::Duration;

/// How long a rank waits for the others before it says who is missing; PyTorch's default for its process groups.
pub const TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How the elements of a call lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// 64-bit floats that stand for elements of any type: the interpreter's.
    Wide,
    /// A 32-bit word each: f32, i32, u32, bool; or two bytes each: f16, bf16.
    Plain,
}

/// What a rank says of a collective that it comes to: all ranks have to say the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub collective: Collective,
    pub dtype: DType,
    pub format: Format,
    /// Of this rank's operand.
    pub elements: usize,
    /// The program that it is part of.
    pub program: String,
}

impl Call {
    /// Bytes of an element in memory.
    pub fn element_bytes(&self) -> usize {
        match (self.format, self.dtype) {
            (Format::Wide, _) => 8,
            (_, DType::F16 | DType::BF16) => 2,
            _ => 4,
        }
    }

    /// Whether two ranks may meet so. Programs may be named differently.
    pub fn agrees(&self, other: &Call) -> bool {
        (&self.collective, self.dtype, self.format, self.elements) == (&other.collective, other.dtype, other.format, other.elements)
    }

    /// Bytes of the result on every rank.
    ///
    /// # Errors
    ///
    /// Elements that the ranks do not divide.
    pub fn result_bytes(&self) -> Result<usize> {
        Ok(self.collective.result_len(self.elements)? * self.element_bytes())
    }

    fn read(&self, bytes: &[u8]) -> f64 {
        let word = || u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match (self.format, self.dtype) {
            (Format::Wide, _) => f64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]),
            (_, DType::F16) => half::f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
            (_, DType::BF16) => half::bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
            (_, DType::F32) => f64::from(f32::from_bits(word())),
            (_, DType::I32) => f64::from(word() as i32),
            (_, DType::U32 | DType::Bool) => f64::from(word()),
        }
    }

    fn write(&self, value: f64, to: &mut [u8]) {
        match (self.format, self.dtype) {
            (Format::Wide, _) => to.copy_from_slice(&value.to_le_bytes()),
            (_, DType::F16) => to.copy_from_slice(&half::f16::from_f64(value).to_le_bytes()),
            (_, DType::BF16) => to.copy_from_slice(&half::bf16::from_f64(value).to_le_bytes()),
            (_, DType::F32) => to.copy_from_slice(&(value as f32).to_le_bytes()),
            (_, DType::I32) => to.copy_from_slice(&(value as i32).to_le_bytes()),
            (_, DType::U32 | DType::Bool) => to.copy_from_slice(&(value as u32).to_le_bytes()),
        }
    }

    /// The combination of ranks' elements, in the order of the ranks. `parts` are of one length.
    pub fn reduce(&self, op: ReduceOp, parts: &[&[u8]], out: &mut [u8]) {
        if self.format == Format::Plain && self.dtype == DType::F32 && op == ReduceOp::Sum {
            return sum_f32(parts, out);
        }
        let size = self.element_bytes();
        // The interpreter keeps the digits of f64 where it checks derivatives, and rounds what comes back otherwise.
        let wide = self.format == Format::Wide && self.dtype.is_float();
        for (i, to) in out.chunks_exact_mut(size).enumerate() {
            let values = parts.iter().map(|p| self.read(&p[i * size..(i + 1) * size]));
            let value = match op {
                ReduceOp::Sum if wide => values.sum(),
                ReduceOp::Prod if wide => values.product(),
                _ => combine(op, if wide { DType::F32 } else { self.dtype }, values),
            };
            self.write(value, to);
        }
    }
}

// The common case, in a loop that vectorises.
fn sum_f32(parts: &[&[u8]], out: &mut [u8]) {
    let word = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let Some((first, rest)) = parts.split_first() else { return };
    out.copy_from_slice(first);
    for part in rest {
        for (to, from) in out.chunks_exact_mut(4).zip(part.chunks_exact(4)) {
            let sum = word(to) + word(from);
            to.copy_from_slice(&sum.to_le_bytes());
        }
    }
}

/// One rank's place in a group of processes or threads that exchange host memory.
pub trait ProcessGroup: Send + Sync {
    fn name(&self) -> &str;

    /// From 0 on.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Makes a group of some of the ranks, by their numbers in this one, in the order of the new one's. All ranks of this group come to it, with
    /// the same; those that are not named get none.
    ///
    /// # Errors
    ///
    /// Numbers that are no ranks of this group, or are named twice; ranks that have come to something else, are missing or have ended.
    fn split(&self, name: &str, ranks: &[usize]) -> Result<Option<Arc<dyn ProcessGroup>>>;

    /// Meets the others: all give their operands, and each gets its result, of [`Call::result_bytes`].
    ///
    /// # Errors
    ///
    /// [`aludel_ir::Error::Collective`] where ranks disagree on the call, are missing for longer than the time-out, or have ended. The group is then
    /// of no further use.
    fn run(&self, call: &Call, operand: &[u8]) -> Result<Vec<u8>>;
}

/// This process's place among all of a run, for devices that exchange host memory: by MPI, where this build has it.
///
/// # Errors
///
/// A build without it; processes that MPI did not start.
pub fn connect(name: &str, world: &World, timeout: Duration) -> Result<Arc<dyn ProcessGroup>> {
    #[cfg(feature = "mpi")]
    return Ok(MpiGroup::world(name, world, timeout)?);
    #[cfg(not(feature = "mpi"))]
    {
        let _ = timeout;
        let what = format!("rank {} of {} processes in group {name}", world.rank, world.size);
        Err(aludel_ir::Error::unsupported(what, "build with the feature `mpi`, or make ranks threads of one process: LocalGroup"))
    }
}

/// The last thing that a rank does: ends what connects processes, once all ranks have come to this. Where nothing does, nothing. PyTorch:
/// `torch.distributed.destroy_process_group`.
///
/// # Errors
///
/// Ranks that have come to a collective instead, or are missing.
pub fn destroy_process_group() -> Result<()> {
    #[cfg(feature = "mpi")]
    mpi::destroy_process_group()?;
    Ok(())
}

/// All ranks' results of all ranks' operands, in the order of the ranks: for rank `rank`. What engines do that see all operands.
pub(crate) fn result(call: &Call, rank: usize, operands: &[&[u8]]) -> Result<Vec<u8>> {
    let bytes = call.result_bytes()?;
    let part = call.elements * call.element_bytes() / operands.len().max(1);
    Ok(match call.collective.op {
        CollectiveOp::AllReduce(op) => {
            let mut out = vec![0; bytes];
            call.reduce(op, operands, &mut out);
            out
        }
        CollectiveOp::ReduceScatter(op) => {
            let parts: Vec<&[u8]> = operands.iter().map(|x| &x[rank * part..(rank + 1) * part]).collect();
            let mut out = vec![0; bytes];
            call.reduce(op, &parts, &mut out);
            out
        }
        CollectiveOp::AllGather { .. } => operands.concat(),
        CollectiveOp::Broadcast { root } => operands.get(root as usize).map_or_else(Vec::new, |x| x.to_vec()),
        CollectiveOp::AllToAll => operands.iter().flat_map(|x| &x[rank * part..(rank + 1) * part]).copied().collect(),
    })
}

/// FNV-1a: ranks may run different builds of the standard library.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
