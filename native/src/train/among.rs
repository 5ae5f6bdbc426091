//! A run on several ranks: who this one is, and what differs for it.
//!
//! The batch of the settings is that of all ranks together, each of which takes its part, so the losses are those of one process, on any
//! number of ranks. Rank 0 speaks for all: it logs, and reads and writes checkpoints; what it goes on from, it gives the others.

use crate::ranks::Ranks;
use aludel::distributed::Member;
use aludel::nn::distributed::broadcast_tree;
use aludel::{Device, Error, Result, Tensor, no_grad};
use aludel_models::presets::{Config, Train};

/// This process among those of a run.
///
/// # Errors
///
/// Variables of the environment that do not fit one another; a batch that the ranks do not divide.
pub fn ranks(config: &Config) -> Result<Ranks> {
    let ranks = Ranks::from_env()?;
    if !config.batch.is_multiple_of(ranks.size()) {
        let problem = format!("is that of all ranks together, and {} do not divide it", ranks.size());
        let next = config.batch.next_multiple_of(ranks.size());
        return Err(Error::invalid(format!("batch={}", config.batch), problem, format!("give batch={next}")));
    }
    Ok(ranks)
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
