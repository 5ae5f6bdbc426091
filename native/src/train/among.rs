//! A run on several ranks: who this one is, and what differs for it.
//!
//! The batch of the settings is that of all ranks together, each of which takes its part, so the losses are those of one process, on any
//! number of ranks. Rank 0 speaks for all: it logs, and reads and writes checkpoints; what it goes on from, it gives the others.

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::distributed::{Member, TIMEOUT, World};
use aludel::nn::distributed::broadcast_tree;
use aludel::{Device, Error, Result, Tensor, no_grad};
use aludel_models::presets::{Config, Train};
use aludel_runtime::collective::destroy_process_group;

/// This process among those of a run.
pub struct Ranks(World);

impl Ranks {
    /// As the environment says.
    ///
    /// # Errors
    ///
    /// Variables that do not fit one another; a batch that the ranks do not divide.
    pub fn from_env(config: &Config) -> Result<Ranks> {
        let world = World::from_env()?;
        if !config.batch.is_multiple_of(world.size) {
            let problem = format!("is that of all ranks together, and {} do not divide it", world.size);
            let next = config.batch.next_multiple_of(world.size);
            return Err(Error::invalid(format!("batch={}", config.batch), problem, format!("give batch={next}")));
        }
        Ok(Ranks(world))
    }

    pub fn is_alone(&self) -> bool {
        self.0.size == 1
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

/// Gives all ranks what rank 0 begins with: all tensors of the run, and two numbers, its step and position.
pub fn begin(train: &mut Train, numbers: (u64, u64), member: &Member, device: &Device) -> Result<(u64, u64)> {
    if member.ranks() == 1 {
        return Ok(numbers);
    }
    train.amp.among(member);
    broadcast_tree(train, member)?;
    // In halves that no i32 is too narrow for.
    let halves = [numbers.0, numbers.1].into_iter().flat_map(|n| [(n >> 24) as i32, (n & 0xff_ffff) as i32]).collect::<Vec<i32>>();
    let all = no_grad(|| Tensor::from_vec(device, halves, [4])?.broadcast(0, &member.group))?.to_vec::<i32>()?;
    let number = |i: usize| (all[i] as u64) << 24 | all[i + 1] as u64;
    Ok((number(0), number(2)))
}

/// The mean of all ranks' losses. All ask for it where one does.
pub fn mean(loss: &Tensor, member: &Member) -> Result<f64> {
    match member.ranks() {
        1 => loss.item(),
        _ => no_grad(|| loss.detach().all_reduce("mean", &member.group))?.item(),
    }
}
