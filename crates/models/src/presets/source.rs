//! Where a preset's batches come from.

use super::{Batch, Config};
use crate::data::addition::Addition;
use crate::data::{Labelled, Sampler};
use aludel_tensor::{Device, Error, Result, Tensor};

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
        self.part(step, device, 0, 1)
    }

    /// The part of the batch of step `step` that is rank `rank`'s of `ranks`: those of all ranks, one after another, are the batch.
    ///
    /// # Errors
    ///
    /// A batch that the ranks do not divide, and as [`Source::batch`].
    pub fn part(&mut self, step: u64, device: &Device, rank: usize, ranks: usize) -> Result<Batch> {
        let own = |samples: usize| match ranks {
            n if n > rank && samples.is_multiple_of(n) => Ok(rank * (samples / n)..(rank + 1) * (samples / n)),
            _ => {
                let problem = format!("{ranks} ranks do not divide it");
                Err(Error::invalid(format!("a batch of {samples}"), problem, "give each rank as many: batch=N"))
            }
        };
        match self {
            Source::Rows { data, sampler, shape, target } => {
                let all = sampler.indices(step);
                let own = own(all.len())?;
                let rows = data.select(&all[own.clone()]);
                let (n, all) = (rows.rows(), all.len());
                let x = Tensor::from_vec(device, rows.x, stacked(n, shape))?;
                let y = match target {
                    Target::Class => Tensor::from_vec(device, rows.y, [n])?,
                    Target::Same => x.clone(),
                    Target::Noise { width, seed } => {
                        let noise = Tensor::randn(device, [all, *width], Tensor::fold_seed(*seed, step))?;
                        if ranks > 1 { noise.narrow(0, own.start, n)? } else { noise }
                    }
                };
                Ok((x, y))
            }
            Source::Addition { problems, batch } => {
                let (rows, own) = (problems.batch(*batch, step), own(*batch)?);
                let shape = [own.len(), rows.context];
                let ids = |all: &[i32]| all[own.start * rows.context..own.end * rows.context].to_vec();
                Ok((Tensor::from_vec(device, ids(&rows.x), shape)?, Tensor::from_vec(device, ids(&rows.y), shape)?))
            }
        }
    }
}

/// The shape of `n` examples.
pub(super) fn stacked(n: usize, shape: &[usize]) -> Vec<usize> {
    std::iter::once(n).chain(shape.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;

    /// The parts of all ranks, one after another, are the batch.
    #[test]
    fn ranks_divide_a_batch() {
        let device = Device::interpreter();
        let values = |t: &Tensor| t.to_vec::<f32>().unwrap();
        for &preset in Preset::ALL {
            let config = Config::from_fields(preset, &[("batch".to_string(), "8".to_string())]).unwrap();
            let mut source = Source::new(&config);
            let (x, y) = source.batch(3, &device).unwrap();
            for ranks in [2, 4] {
                let parts: Vec<Batch> = (0..ranks).map(|r| source.part(3, &device, r, ranks).unwrap()).collect();
                assert_eq!(parts.iter().flat_map(|p| values(&p.0)).collect::<Vec<_>>(), values(&x), "{preset:?}");
                assert_eq!(parts.iter().flat_map(|p| values(&p.1)).collect::<Vec<_>>(), values(&y), "{preset:?}");
            }
            let e = source.part(3, &device, 0, 3).unwrap_err().to_string();
            assert!(e.contains("a batch of 8") && e.contains("3 ranks"), "{e}");
        }
    }
}
