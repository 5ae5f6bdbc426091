//! What several tests use; each test crate uses a part of it.
#![allow(dead_code)]

pub mod generate;
pub mod shrink;

/// A small generator of repeatable random numbers (Marsaglia, "Xorshift RNGs", 2003).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        // Near seeds give unlike sequences: one step of splitmix64.
        let z = (seed.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Rng((z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
