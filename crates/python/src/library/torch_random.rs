//! PyTorch's generator for the CPU: MT19937 behind `torch.manual_seed`, and the distributions that fill tensors from it.
//!
//! Follows ATen/core/MT19937RNGEngine.h, TransformationHelper.h, DistributionsHelper.h and
//! ATen/native/cpu/DistributionTemplates.h. `f32` tensors of 16 and more normal numbers take the blocked Box-Muller method,
//! whose logarithm and cosine are vectorised in PyTorch: the last bits of a number may differ.

use super::twister::{Twister, WORDS};
use crate::order::Order;

/// The bytes of `torch.get_rng_state()`: the struct of ATen/CPUGeneratorImpl.cpp.
pub const STATE_BYTES: usize = 5056;
/// Where its words, the kept normal number and the flag of that begin.
const WORDS_AT: usize = 24;
const NORMAL_AT: usize = WORDS_AT + 8 * WORDS + 8;
const VALID_AT: usize = NORMAL_AT + 16;

/// `torch.Generator` on the CPU.
#[derive(Debug, Clone)]
pub struct Generator {
    twister: Twister,
    seed: u64,
    /// The second number of the last pair of normal numbers that was drawn alone.
    kept: Option<f64>,
}

impl Generator {
    /// `torch.manual_seed(seed)`: of the seed's 64 bits the engine takes the low 32.
    pub fn new(seed: u64) -> Generator {
        Generator { twister: Twister::from_word(seed as u32), seed, kept: None }
    }

    /// `get_state()`, as PyTorch lays it out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (words, next) = self.twister.state();
        let mut out = Vec::with_capacity(STATE_BYTES);
        out.extend(self.seed.to_le_bytes());
        // How many words are left, counted to one, and that there was a seed.
        out.extend(((WORDS + 1 - next.max(1)) as i32).to_le_bytes());
        out.extend(1i32.to_le_bytes());
        out.extend((next as u64).to_le_bytes());
        words.iter().for_each(|w| out.extend(u64::from(*w).to_le_bytes()));
        out.resize(NORMAL_AT, 0);
        out.extend(self.kept.unwrap_or(0.0).to_le_bytes());
        out.resize(VALID_AT, 0);
        out.extend(i32::from(self.kept.is_some()).to_le_bytes());
        out.resize(STATE_BYTES, 0);
        out
    }

    /// `set_state()`; `None` of bytes that are no state.
    pub fn from_bytes(bytes: &[u8]) -> Option<Generator> {
        if bytes.len() != STATE_BYTES {
            return None;
        }
        let long = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
        let flag = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(i32::from_le_bytes);
        let mut words = [0; WORDS];
        for (i, w) in words.iter_mut().enumerate() {
            *w = u32::try_from(long(WORDS_AT + 8 * i)?).ok()?;
        }
        let next = if flag(8)? == 1 { WORDS } else { usize::try_from(long(16)?).ok()? };
        let kept = if flag(VALID_AT)? != 0 { Some(f64::from_bits(long(NORMAL_AT)?)) } else { None };
        Some(Generator { twister: Twister::from_state(words, next)?, seed: long(0)?, kept })
    }

    /// `torch.initial_seed()`.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// 32 random bits.
    pub fn word(&mut self) -> u32 {
        self.twister.word()
    }

    /// 64 random bits: the first word is the high one.
    pub fn word64(&mut self) -> u64 {
        u64::from(self.twister.word()) << 32 | u64::from(self.twister.word())
    }

    /// An `f32` in `[0, 1)`, of 24 bits.
    pub fn unit_f32(&mut self) -> f32 {
        (self.word() & 0xff_ffff) as f32 / 16_777_216.0
    }

    /// An `f64` in `[0, 1)`, of 53 bits.
    pub fn unit_f64(&mut self) -> f64 {
        (self.word64() & ((1 << 53) - 1)) as f64 / 9_007_199_254_740_992.0
    }

    /// `uniform_(low, high)` of an `f32` tensor; `rand` is from 0 to 1.
    pub fn uniform_f32(&mut self, out: &mut [f32], low: f32, high: f32) {
        for x in out {
            *x = self.unit_f32() * (high - low) + low;
        }
    }

    /// `uniform_(low, high)` of an `f64` tensor.
    pub fn uniform_f64(&mut self, out: &mut [f64], low: f64, high: f64) {
        for x in out {
            *x = self.unit_f64() * (high - low) + low;
        }
    }

    /// One normal number: pairs by Box and Muller, the second kept for the next call.
    fn normal_alone(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let u1 = self.unit_f64();
        let u2 = self.unit_f64();
        let radius = (-2.0 * (-u2).ln_1p()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * u1;
        self.kept = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// `normal_(mean, deviation)` of a contiguous `f32` tensor; `randn` is of 0 and 1.
    pub fn normal_f32(&mut self, out: &mut [f32], mean: f32, deviation: f32) {
        let length = out.len();
        if length < 16 {
            for x in out {
                *x = (self.normal_alone() * f64::from(deviation) + f64::from(mean)) as f32;
            }
            return;
        }
        self.uniform_f32(out, 0.0, 1.0);
        for block in out.chunks_exact_mut(16) {
            normal_block(block, mean, deviation);
        }
        if !length.is_multiple_of(16) {
            // The last 16 are drawn anew.
            let tail = &mut out[length - 16..];
            self.uniform_f32(tail, 0.0, 1.0);
            normal_block(tail, mean, deviation);
        }
    }

    /// `normal_(mean, deviation)` of a contiguous `f64` tensor.
    pub fn normal_f64(&mut self, out: &mut [f64], mean: f64, deviation: f64) {
        let length = out.len();
        if length < 16 {
            for x in out {
                *x = self.normal_alone() * deviation + mean;
            }
            return;
        }
        self.uniform_f64(out, 0.0, 1.0);
        for block in out.chunks_exact_mut(16) {
            normal_block_f64(block, mean, deviation);
        }
        if !length.is_multiple_of(16) {
            let tail = &mut out[length - 16..];
            self.uniform_f64(tail, 0.0, 1.0);
            normal_block_f64(tail, mean, deviation);
        }
    }

    /// One number of `randint(low, high)`; `None` where no number lies between.
    pub fn randint(&mut self, low: i64, high: i64) -> Option<i64> {
        let range = high.checked_sub(low).filter(|&range| range > 0)? as u64;
        let drawn = if range >= WIDE { self.word64() } else { u64::from(self.word()) };
        Some(low.wrapping_add((drawn % range) as i64))
    }

    /// `randperm(n)`.
    pub fn randperm(&mut self, n: usize) -> Vec<i64> {
        let mut order: Vec<i64> = (0..n as i64).collect();
        for i in 0..n.saturating_sub(1) {
            let j = i + (u64::from(self.word()) % (n - i) as u64) as usize;
            order.swap(i, j);
        }
        order
    }

    /// `torch.bernoulli(p)` of one element of a tensor of `f32` probabilities.
    pub fn bernoulli_f32(&mut self, p: f32) -> bool {
        self.unit_f32() < p
    }

    /// One element of `bernoulli_(p)` with one probability for all, as dropout's masks are drawn.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.unit_f64() < p
    }

    /// One element of `exponential_(rate)`.
    pub fn exponential(&mut self, rate: f64) -> f64 {
        -(-self.unit_f64()).ln_1p() / rate
    }

    /// `multinomial` of one row of weights; without replacement, and of one sample, by the largest `weight / exponential`.
    pub fn multinomial(&mut self, weights: &[f32], count: usize, replacement: bool) -> Vec<i64> {
        if !replacement || count == 1 {
            let mut order: Vec<(f32, i64)> = weights.iter().zip(0..).map(|(&w, i)| (w / self.exponential(1.0) as f32, i)).collect();
            order.order_by(|a, b| b.0.total_cmp(&a.0));
            return order.into_iter().take(count).map(|(_, i)| i).collect();
        }
        let mut sum = 0.0f32;
        let mut sums: Vec<f32> = weights
            .iter()
            .map(|w| {
                sum += w;
                sum
            })
            .collect();
        if sum > 0.0 {
            for s in &mut sums {
                *s /= sum;
            }
        }
        if let Some(last) = sums.last_mut() {
            *last = 1.0;
        }
        (0..count)
            .map(|_| {
                let u = self.unit_f64();
                sums.partition_point(|&s| f64::from(s) < u) as i64
            })
            .collect()
    }
}

/// From this many numbers on, `randint` draws 64 bits for each.
const WIDE: u64 = 1 << 28;

fn normal_block(block: &mut [f32], mean: f32, deviation: f32) {
    for j in 0..8 {
        let u1 = 1.0 - block[j];
        let radius = (-2.0 * u1.ln()).sqrt();
        let angle = 2.0 * std::f32::consts::PI * block[j + 8];
        block[j] = radius * angle.cos() * deviation + mean;
        block[j + 8] = radius * angle.sin() * deviation + mean;
    }
}

fn normal_block_f64(block: &mut [f64], mean: f64, deviation: f64) {
    for j in 0..8 {
        let u1 = 1.0 - block[j];
        let radius = (-2.0 * u1.ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * block[j + 8];
        block[j] = radius * angle.cos() * deviation + mean;
        block[j + 8] = radius * angle.sin() * deviation + mean;
    }
}

// Literals are as PyTorch prints them.
#[cfg(test)]
#[allow(clippy::excessive_precision)]
mod tests {
    use super::*;

    fn near(got: &[f32], want: &[f32]) {
        // PyTorch's vectorised logarithm and cosine differ from the ones here in the last bits.
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= 2e-6 * w.abs().max(1.0), "{got:?}, not {want:?}");
        }
    }

    // Values of PyTorch 2.15 on x86-64: torch.manual_seed(0), then the function.
    #[test]
    fn uniform_and_normal_numbers() {
        let mut out = [0.0; 3];
        Generator::new(0).uniform_f32(&mut out, 0.0, 1.0);
        assert_eq!(out, [0.496_256_6, 0.768_221_8, 0.088_477_43]);
        let mut out = [0.0; 2];
        Generator::new(0).uniform_f32(&mut out, -2.0, 3.0);
        assert_eq!(out, [0.481_282_95, 1.841_109]);
        let mut out = [0.0; 5];
        Generator::new(0).normal_f32(&mut out, 0.0, 1.0);
        near(&out, &[1.540_996, -0.293_428_9, -2.178_789_4, 0.568_431_26, -1.084_522_4]);
        let mut out = [0.0; 18];
        Generator::new(0).normal_f32(&mut out, 0.0, 1.0);
        near(&out[..4], &[-1.125_839_8, -1.152_360_2, 0.566_650_63, 0.793_508_35]);
        near(&out[14..], &[0.946_298_36, -0.843_676_75, 0.931_826_6, 1.259_009_2]);
        let mut out = [0.0; 17];
        Generator::new(0).normal_f64(&mut out, 0.0, 1.0);
        assert!((out[0] - -2.310411800234176).abs() < 1e-12 && (out[16] - 0.6748575435940039).abs() < 1e-9);
    }

    #[test]
    fn the_second_of_a_pair_is_kept_between_calls() {
        let mut g = Generator::new(0);
        let (mut a, mut b, mut c) = ([0.0; 3], [0.0; 2], [0.0; 1]);
        g.normal_f32(&mut a, 0.0, 1.0);
        g.uniform_f32(&mut b, 0.0, 1.0);
        g.normal_f32(&mut c, 0.0, 1.0);
        near(&a, &[1.540_996, -0.293_428_9, -2.178_789_4]);
        assert_eq!(b, [0.455_627_98, 0.632_306_3]);
        near(&c, &[0.568_431_26]);
    }

    #[test]
    fn integers_and_choices() {
        let ints = |low, high, n: usize| {
            let mut g = Generator::new(0);
            (0..n).filter_map(|_| g.randint(low, high)).collect::<Vec<_>>()
        };
        assert_eq!(ints(0, 10, 6), [4, 9, 3, 0, 3, 9]);
        assert_eq!(ints(0, (1 << 28) - 1, 2), [209_652_404, 130_329_144]);
        assert_eq!(ints(0, 1 << 28, 2), [130_329_135, 136_432_832]);
        assert_eq!(ints(0, 1 << 40, 2), [741_280_623_151, 506_137_267_392]);
        assert_eq!(ints(5, 5, 1), []);
        assert_eq!(Generator::new(0).randperm(10), [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]);
        let mut g = Generator::new(0);
        let drawn: Vec<u8> = (0..20).map(|_| u8::from(g.bernoulli(0.3))).collect();
        assert_eq!(drawn, [0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]);
        let mut g = Generator::new(0);
        let drawn: Vec<u8> = (0..20).map(|_| u8::from(g.bernoulli_f32(0.3))).collect();
        assert_eq!(drawn, [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1]);
        let weights = [0.1, 0.2, 0.3, 0.4];
        assert_eq!(Generator::new(0).multinomial(&weights, 10, true), [3, 3, 2, 3, 3, 3, 1, 2, 2, 1]);
        let first: Vec<i64> = (0..6).map(|s| Generator::new(s).multinomial(&weights, 1, false)[0]).collect();
        assert_eq!(first, [2, 3, 1, 0, 2, 3]);
    }
}
