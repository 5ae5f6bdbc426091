//! Which samples are a rank's.

use aludel_tensor::distributed::Member;
use aludel_tensor::{Error, Result};

/// Divides the samples of an epoch among the ranks: each has as many, in one order for all. PyTorch:
/// `torch.utils.data.distributed.DistributedSampler`.
#[derive(Clone, Debug)]
pub struct DistributedSampler {
    samples: usize,
    rank: usize,
    ranks: usize,
    seed: Option<u64>,
    drop_last: bool,
}

impl DistributedSampler {
    /// Over so many samples, in an order drawn anew for every epoch from the seed; without one as they lie.
    ///
    /// # Errors
    ///
    /// No samples.
    pub fn new(samples: usize, member: &Member, seed: Option<u64>) -> Result<DistributedSampler> {
        if samples == 0 {
            return Err(Error::invalid("DistributedSampler", "there are no samples", "give a data set with some"));
        }
        Ok(DistributedSampler { samples, rank: member.rank, ranks: member.ranks(), seed, drop_last: false })
    }

    /// Leaves out the last samples where the ranks do not divide them, rather than giving some twice.
    #[must_use]
    pub fn drop_last(mut self) -> Self {
        self.drop_last = true;
        self
    }

    /// Samples of a rank in an epoch.
    pub fn len(&self) -> usize {
        if self.drop_last { self.samples / self.ranks } else { self.samples.div_ceil(self.ranks) }
    }

    /// Whether there are fewer samples than ranks, and the rest is dropped.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The samples of this rank in an epoch, in order. PyTorch: `set_epoch` and iterating.
    pub fn indices(&self, epoch: u64) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.samples).collect();
        if let Some(seed) = self.seed {
            shuffle(&mut all, rank_seed(seed, epoch));
        }
        // Every rank takes each `ranks`-th; the first ones come again where the last round is short.
        (0..self.len()).map(|i| all[(i * self.ranks + self.rank) % self.samples]).collect()
    }
}

/// A seed of a rank's own: for dropout and for what is drawn while data is made. Ranks (or epochs) are told apart, and 0 is not the seed
/// itself.
pub fn rank_seed(seed: u64, rank: u64) -> u64 {
    // SplitMix64's finaliser. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    let mut z = seed.wrapping_add(rank.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fisher and Yates' shuffle.
fn shuffle(list: &mut [usize], seed: u64) {
    for i in (1..list.len()).rev() {
        let j = rank_seed(seed, i as u64) % (i as u64 + 1);
        list.swap(i, j as usize);
    }
}
