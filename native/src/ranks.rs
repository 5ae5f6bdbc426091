//! This process among the ranks of a run: who it is, its device, and who speaks.

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::distributed::{Member, TIMEOUT, World};
use aludel::{Device, Result};
use aludel_runtime::collective::destroy_process_group;

/// One of the processes that `aludel launch`, torchrun, mpirun or srun started; or one alone.
#[derive(Clone, Debug)]
pub struct Ranks(World);

impl Ranks {
    /// As the environment says.
    ///
    /// # Errors
    ///
    /// Variables that do not fit one another.
    pub fn from_env() -> Result<Ranks> {
        World::from_env().map(Ranks)
    }

    pub fn is_alone(&self) -> bool {
        self.0.size == 1
    }

    /// Whether somebody started this process as a rank, be it the only one.
    pub fn is_started(&self) -> bool {
        !self.is_alone() || self.0.master.is_some()
    }

    /// Whether this one speaks for all.
    pub fn is_first(&self) -> bool {
        self.0.is_first()
    }

    pub fn size(&self) -> usize {
        self.0.size
    }

    /// The device of this rank: of several GPUs its own.
    pub fn choice(&self, choice: Choice) -> Choice {
        match choice.kind {
            Kind::Cuda(0) if !self.is_alone() => Choice { kind: Kind::Cuda(self.0.local_rank), among: true, ..choice },
            _ => Choice { among: !self.is_alone(), ..choice },
        }
    }

    /// Where results go: nowhere, but rank 0's.
    pub fn output(&self, output: &Output) -> Output {
        if self.is_first() { output.clone() } else { output.mute() }
    }

    pub fn describe(&self) -> String {
        if self.is_alone() { String::new() } else { format!(" · {} ranks", self.size()) }
    }

    /// The device's place among all ranks.
    pub fn join(&self, device: &Device) -> Result<Member> {
        if self.is_alone() { Ok(Member::alone()) } else { device.join_world(&self.0, TIMEOUT) }
    }

    /// The last that a rank does.
    pub fn leave(&self) -> Result<()> {
        if self.is_alone() { Ok(()) } else { destroy_process_group() }
    }
}
