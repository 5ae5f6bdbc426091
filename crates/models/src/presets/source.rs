//! Where a preset's batches come from.

use super::{Batch, Config};
use crate::data::addition::Addition;
use crate::data::{Labelled, Sampler};
use aludel_tensor::{Device, Result, Tensor};

/// Where a preset's batches come from.
pub enum Source {
    Rows {
        data: Labelled,
        sampler: Sampler,
        /// Of one row.
        shape: Vec<usize>,
        target: Target,
    },
    Addition {
        problems: Addition,
        batch: usize,
    },
}

/// What comes beside a row.
pub enum Target {
    Class,
    /// The row itself.
    Same,
    /// So many numbers of a normal distribution, other ones at every step.
    Noise {
        width: usize,
        seed: u64,
    },
}

impl Source {
    /// Rows of data, in an order that the configuration's seed says.
    pub(super) fn rows(config: &Config, data: Labelled, target: Target) -> Source {
        let sampler = Sampler::new(data.rows(), config.batch, config.seed);
        Source::Rows { data, sampler, shape: config.example_shape(), target }
    }

    /// Rows whose class is learned.
    pub(super) fn classes(config: &Config, data: Labelled) -> Source {
        Self::rows(config, data, Target::Class)
    }

    /// The batch of step `step`, counted from 0: the same for every source of one configuration.
    ///
    /// # Errors
    ///
    /// When the device cannot hold the batch.
    pub fn batch(&mut self, step: u64, device: &Device) -> Result<Batch> {
        match self {
            Source::Rows { data, sampler, shape, target } => {
                let rows = data.select(sampler.indices(step));
                let n = rows.rows();
                let x = Tensor::from_vec(device, rows.x, stacked(n, shape))?;
                let y = match target {
                    Target::Class => Tensor::from_vec(device, rows.y, [n])?,
                    Target::Same => x.clone(),
                    Target::Noise { width, seed } => Tensor::randn(device, [n, *width], Tensor::fold_seed(*seed, step))?,
                };
                Ok((x, y))
            }
            Source::Addition { problems, batch } => {
                let rows = problems.batch(*batch, step);
                let shape = [*batch, rows.context];
                Ok((Tensor::from_vec(device, rows.x, shape)?, Tensor::from_vec(device, rows.y, shape)?))
            }
        }
    }
}

/// The shape of `n` examples.
pub(super) fn stacked(n: usize, shape: &[usize]) -> Vec<usize> {
    std::iter::once(n).chain(shape.iter().copied()).collect()
}
