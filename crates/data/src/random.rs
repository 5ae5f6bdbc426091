//! Random numbers of orders and augmentations: seeded, the same on every machine, and a state that can be saved.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

/// PCG-XSH-RR with 64 bits of state (M. E. O'Neill, 2014), whose output is fixed for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Random(Pcg32);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Pcg32::seed_from_u64(seed))
    }

    /// A stream for each combination of numbers (seed, epoch, index..), unrelated to those of others.
    pub fn of(parts: &[u64]) -> Random {
        // Each part is mixed in by SplitMix64's finalizer, a bijection: <https://prng.di.unimi.it/splitmix64.c>.
        let mix = |z: u64| {
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Random::new(parts.iter().fold(0, |seed, part| mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(*part))))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..n`; 0 when `n` is 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A random order, by Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
