//! A step of a model whose parameters are divided among the ranks.

use super::{Batch, Train, Workload};
use aludel::distributed::Member;
use aludel::nn::distributed::{FullyShardedConfig, FullyShardedDataParallel, Offloaded};
use aludel::nn::{AdamConfig, AdamW, Generator, MixedPrecision, Optimizer};
use aludel::{Error, Result, Tensor, Tree};

/// What a step is made of, before it is divided.
pub struct Parts<M> {
    pub model: M,
    pub amp: MixedPrecision,
    /// Of models with dropout.
    pub generator: Option<Generator>,
}

impl Parts<super::Model> {
    /// Of a workload.
    ///
    /// # Errors
    ///
    /// One with two players, whose losses are their own.
    pub fn of(workload: &Workload, train: Train) -> Result<Self> {
        match train.adversary {
            None => Ok(Parts { model: train.model, amp: train.amp, generator: train.generator }),
            Some(_) => Err(two_players(workload.name)),
        }
    }
}

/// Why a GAN is not sharded.
pub fn two_players(name: &str) -> Error {
    Error::unsupported(format!("{name} fully sharded: its two players have losses of their own"), "train it data parallel")
}

/// All that a sharded step changes: AdamW's state is of shards alone.
#[derive(Clone, Tree)]
pub struct Sharded<M> {
    model: FullyShardedDataParallel<M>,
    optimizer: Offloaded<AdamW>,
    amp: MixedPrecision,
    generator: Option<Generator>,
}

impl<M: Tree + Clone> Sharded<M> {
    /// Divides a model's parameters; `lr` is the optimizer's learning rate.
    ///
    /// # Errors
    ///
    /// Ranks that are missing or have ended.
    pub fn new(parts: Parts<M>, lr: f64, member: &Member, config: FullyShardedConfig) -> Result<Self> {
        let model = FullyShardedDataParallel::with(parts.model, member, config)?;
        let optimizer = model.optimizer(AdamW::new(&model, AdamConfig { lr, ..AdamConfig::default() })?)?;
        Ok(Sharded { model, optimizer, amp: parts.amp, generator: parts.generator })
    }

    /// Forward, backward and update; gives this rank's loss before the update.
    ///
    /// # Errors
    ///
    /// What the model and the optimizer refuse; ranks that are missing or have ended.
    pub fn step(&mut self, batch: &Batch, loss: impl Fn(&M, &Batch) -> Result<Tensor>) -> Result<Tensor> {
        let Sharded { model, optimizer, amp, generator } = self;
        let all = || loss(&model.gathered()?, batch);
        let value = amp.forward(|| match generator {
            Some(generator) => generator.scope(all),
            None => all(),
        })?;
        // The mean over the ranks: scattering sums.
        let mean = 1.0 / model.member().ranks() as f64;
        amp.step(&value.mul(mean)?, optimizer, model, |o, m, g| o.step(m, g))?;
        Ok(value)
    }
}
