//! In which order samples are taken. Every sampler is a function of its settings and the epoch: nothing else changes an order, so a
//! position is the epoch and how many came before.

use crate::{Error, Random, Result};
use std::fmt::Debug;

/// Indices of an epoch, by PyTorch's names.
///
/// `Debug` is the sampler's settings: a position is only taken up by a loader whose sampler says the same.
pub trait Sampler: Debug + Send + Sync {
    /// How many indices an epoch has.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send>;
}

/// Batches of indices of an epoch; `Debug` as for [`Sampler`].
pub trait BatchSampler: Debug + Send + Sync {
    /// How many batches an epoch has.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn batches(&self, epoch: u64) -> Box<dyn Iterator<Item = Vec<usize>> + Send>;
}

/// 0, 1, 2, ..
#[derive(Clone, Debug)]
pub struct SequentialSampler {
    pub len: usize,
}

impl Sampler for SequentialSampler {
    fn len(&self) -> usize {
        self.len
    }

    fn indices(&self, _epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        Box::new(0..self.len)
    }
}

/// A random order, another one each epoch.
#[derive(Clone, Debug)]
pub struct RandomSampler {
    pub len: usize,
    /// Draws each index from all, instead of each once.
    pub replacement: bool,
    /// How many an epoch has; more than there are go round again.
    pub num_samples: usize,
    pub seed: u64,
}

impl RandomSampler {
    /// Each of `0..len` once an epoch.
    pub fn new(len: usize, seed: u64) -> RandomSampler {
        RandomSampler { len, replacement: false, num_samples: len, seed }
    }
}

impl Sampler for RandomSampler {
    fn len(&self) -> usize {
        if self.len == 0 { 0 } else { self.num_samples }
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        let (n, mut random) = (self.len, Random::of(&[self.seed, epoch]));
        if n == 0 {
            return Box::new(std::iter::empty());
        }
        if self.replacement {
            return Box::new((0..self.num_samples).map(move |_| random.below(n)));
        }
        let order = std::iter::repeat_with(move || permutation(n, &mut random));
        Box::new(order.flatten().take(self.num_samples))
    }
}

fn permutation(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    order
}

/// Some indices, in a random order.
#[derive(Clone, Debug)]
pub struct SubsetRandomSampler {
    pub indices: Vec<usize>,
    pub seed: u64,
}

impl Sampler for SubsetRandomSampler {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        let mut order = self.indices.clone();
        Random::of(&[self.seed, epoch]).shuffle(&mut order);
        Box::new(order.into_iter())
    }
}

/// Indices by their weights.
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Vec<f64>,
    num_samples: usize,
    replacement: bool,
    seed: u64,
}

impl WeightedRandomSampler {
    /// `num_samples` of `0..weights.len()`, each with a probability in proportion to its weight; with or without replacement.
    ///
    /// # Errors
    ///
    /// When a weight is negative or not finite, or without replacement fewer weights are above zero than samples are drawn.
    pub fn new(weights: Vec<f64>, num_samples: usize, replacement: bool, seed: u64) -> Result<WeightedRandomSampler> {
        if let Some(i) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(Error::option("weights", format!("weight {i} is {}", weights[i]), "weights are finite and not negative"));
        }
        let usable = weights.iter().filter(|w| **w > 0.0).count();
        if (num_samples > 0 && usable == 0) || (!replacement && usable < num_samples) {
            let problem = format!("{usable} weights are above zero and {num_samples} samples are drawn");
            return Err(Error::option("num_samples", problem, "draw fewer, or with replacement"));
        }
        Ok(WeightedRandomSampler { weights, num_samples, replacement, seed })
    }
}

impl Sampler for WeightedRandomSampler {
    fn len(&self) -> usize {
        self.num_samples
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        let mut random = Random::of(&[self.seed, epoch]);
        if !self.replacement {
            // The largest of u^(1/w) are a weighted sample (P. S. Efraimidis and P. G. Spirakis, 2006); here by their logarithms.
            let mut keys: Vec<(f64, usize)> =
                self.weights.iter().enumerate().map(|(i, w)| ((1.0 - random.uniform()).ln() / w, i)).collect();
            keys.retain(|(_, i)| self.weights[*i] > 0.0);
            keys.sort_by(|a, b| b.0.total_cmp(&a.0));
            return Box::new(keys.into_iter().take(self.num_samples).map(|(_, i)| i));
        }
        let sums: Vec<f64> = self.weights.iter().scan(0.0, |sum, w| Some((*sum += w, *sum).1)).collect();
        let total = sums.last().copied().unwrap_or(0.0);
        let last = self.weights.iter().rposition(|w| *w > 0.0).unwrap_or(0);
        Box::new((0..self.num_samples).map(move |_| {
            let at = random.uniform() * total;
            // Rounding may bring `at` to the total.
            sums.partition_point(|s| *s <= at).min(last)
        }))
    }
}

/// One of several equal shares of another sampler's indices: those of one rank.
#[derive(Debug)]
pub struct DistributedSampler<S> {
    sampler: S,
    rank: usize,
    num_replicas: usize,
    drop_last: bool,
}

impl<S: Sampler> DistributedSampler<S> {
    /// Every rank has as many: the first ones are taken again to fill up, or with `drop_last` what is left over is dropped.
    ///
    /// # Errors
    ///
    /// When there is no such rank.
    pub fn new(sampler: S, rank: usize, num_replicas: usize, drop_last: bool) -> Result<DistributedSampler<S>> {
        if rank >= num_replicas {
            return Err(Error::option("rank", format!("is {rank} of {num_replicas}"), "ranks are counted from 0"));
        }
        Ok(DistributedSampler { sampler, rank, num_replicas, drop_last })
    }
}

impl<S: Sampler> Sampler for DistributedSampler<S> {
    fn len(&self) -> usize {
        let n = self.sampler.len();
        if self.drop_last { n / self.num_replicas } else { n.div_ceil(self.num_replicas) }
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        let order: Vec<usize> = self.sampler.indices(epoch).collect();
        let (rank, step) = (self.rank, self.num_replicas);
        Box::new((0..self.len()).map(move |i| order[(rank + i * step) % order.len()]))
    }
}

impl Sampler for Box<dyn Sampler> {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn indices(&self, epoch: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        (**self).indices(epoch)
    }
}

/// Batches of another sampler's indices (PyTorch's `BatchSampler`).
#[derive(Debug)]
pub struct Batched<S> {
    pub sampler: S,
    pub batch_size: usize,
    pub drop_last: bool,
}

impl<S: Sampler> BatchSampler for Batched<S> {
    fn len(&self) -> usize {
        let n = self.sampler.len();
        if self.drop_last { n / self.batch_size } else { n.div_ceil(self.batch_size) }
    }

    fn batches(&self, epoch: u64) -> Box<dyn Iterator<Item = Vec<usize>> + Send> {
        let (mut indices, size, drop_last) = (self.sampler.indices(epoch), self.batch_size, self.drop_last);
        Box::new(std::iter::from_fn(move || {
            let batch: Vec<usize> = indices.by_ref().take(size).collect();
            let ends = batch.is_empty() || (drop_last && batch.len() < size);
            (!ends).then_some(batch)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(s: &dyn Sampler, epoch: u64) -> Vec<usize> {
        let mut v: Vec<usize> = s.indices(epoch).collect();
        v.sort_unstable();
        v
    }

    #[test]
    fn each_once_in_another_order_each_epoch() {
        let s = RandomSampler::new(50, 3);
        assert_eq!(sorted(&s, 0), (0..50).collect::<Vec<_>>());
        assert_eq!(s.indices(4).collect::<Vec<_>>(), s.indices(4).collect::<Vec<_>>());
        assert_ne!(s.indices(0).collect::<Vec<_>>(), s.indices(1).collect::<Vec<_>>());
        let twice = RandomSampler { num_samples: 100, ..s };
        assert_eq!(sorted(&twice, 0), (0..100).map(|i| i / 2).collect::<Vec<_>>());
        assert_eq!(RandomSampler::new(0, 0).indices(0).count(), 0);
    }

    #[test]
    fn shares_of_ranks_are_equal_and_everything() {
        for (n, drop_last, each) in [(10, false, 4), (10, true, 3), (2, false, 1), (0, false, 0)] {
            let share = |r| DistributedSampler::new(RandomSampler::new(n, 1), r, 3, drop_last).unwrap();
            let mut all: Vec<usize> = (0..3).flat_map(|r| share(r).indices(2).collect::<Vec<_>>()).collect();
            assert!((0..3).all(|r| share(r).len() == each && share(r).indices(2).count() == each));
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), if drop_last { 3 * each } else { n });
        }
        assert!(DistributedSampler::new(SequentialSampler { len: 1 }, 3, 3, false).is_err());
    }

    #[test]
    fn weights_are_kept() {
        let s = WeightedRandomSampler::new(vec![1.0, 0.0, 3.0], 40_000, true, 9).unwrap();
        let mut counts = [0usize; 3];
        s.indices(0).for_each(|i| counts[i] += 1);
        // Five standard deviations of a binomial of 40,000 draws.
        assert!(counts[1] == 0 && counts[2].abs_diff(30_000) < 5 * 87, "{counts:?}");
        let s = WeightedRandomSampler::new(vec![1.0, 0.0, 3.0], 2, false, 9).unwrap();
        assert_eq!(sorted(&s, 0), [0, 2]);
        let first = (0..20_000).filter(|e| s.indices(*e).next() == Some(2)).count();
        assert!(first.abs_diff(15_000) < 5 * 62, "{first}");
        assert!(WeightedRandomSampler::new(vec![1.0, f64::NAN], 1, true, 0).is_err());
        assert!(WeightedRandomSampler::new(vec![1.0, 0.0], 2, false, 0).is_err());
    }
}
