//! Random tensors made on the host: the same bits as the random operators give on a device.
//!
//! Bits of element `i` are Threefry-2x32 (20 rounds) of the counter `(0, i)` under the key made of the seed's two halves, as JAX's
//! partitionable generator has it; floats and normals are made from bits as `jax.random` makes them.

use aludel_ir::{DType, ScalarOp, scalar::threefry2x32};

fn bits(seed: u64, i: usize) -> u32 {
    threefry2x32((seed >> 32) as u32, seed as u32, (i as u64 >> 32) as u32, i as u32)
}

/// In `[0, 1)`: the high 23 bits as the mantissa of a float in `[1, 2)`, less one.
fn unit(bits: u32) -> f32 {
    f32::from_bits((bits >> 9) | 0x3f80_0000) - 1.0
}

/// Words of values spread evenly over `[low, high)`.
pub fn uniform(seed: u64, words: &mut [u32], low: f64, high: f64) {
    generate(words, |i| (low as f32 + unit(bits(seed, i)) * (high - low) as f32).clamp(low as f32, high as f32).to_bits())
}

/// Words of values of a normal distribution.
pub fn normal(seed: u64, words: &mut [u32], mean: f64, std: f64) {
    // The open interval (-1, 1): its ends have no finite quantile.
    let low = -1.0f32 + f32::EPSILON / 2.0;
    generate(words, |i| {
        let u = (low + unit(bits(seed, i)) * (1.0 - low)).max(low);
        let normal = std::f64::consts::SQRT_2 * ScalarOp::Erfinv.eval(&[u as f64], DType::F32, DType::F32);
        ((normal as f32) * std as f32 + mean as f32).to_bits()
    })
}

/// Words of values of the normal distribution around zero between two standard deviations to both sides.
pub fn truncated_normal(seed: u64, words: &mut [u32], std: f64) {
    // The inverse of the distribution function, of numbers between its values at -2 and 2.
    let bound = ScalarOp::Erf.eval(&[std::f64::consts::SQRT_2], DType::F32, DType::F32) as f32;
    generate(words, |i| {
        let u = (-bound + unit(bits(seed, i)) * 2.0 * bound).clamp(-bound, bound);
        let normal = std::f64::consts::SQRT_2 * ScalarOp::Erfinv.eval(&[u as f64], DType::F32, DType::F32);
        ((normal * std).clamp(-2.0 * std, 2.0 * std) as f32).to_bits()
    })
}

/// From so many on, values are made by several threads: a large model has a hundred million.
const MANY: usize = 1 << 16;

/// The words of the elements from the first on. Each depends on its index alone, so that who makes it does not matter.
fn generate(words: &mut [u32], word: impl Fn(usize) -> u32 + Sync) {
    // The web has one thread.
    let alone = cfg!(target_arch = "wasm32") || words.len() < MANY;
    let threads = if alone { 1 } else { std::thread::available_parallelism().map_or(1, |t| t.get()) };
    if threads == 1 {
        words.iter_mut().enumerate().for_each(|(i, w)| *w = word(i));
        return;
    }
    let chunk = words.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (k, part) in words.chunks_mut(chunk).enumerate() {
            let word = &word;
            scope.spawn(move || part.iter_mut().enumerate().for_each(|(i, w)| *w = word(k * chunk + i)));
        }
    });
}

/// A seed for the `i`-th part of something that has one seed.
pub fn fold(seed: u64, i: u64) -> u64 {
    let (k0, k1) = ((seed >> 32) as u32, seed as u32);
    let hi = threefry2x32(k0, k1, i as u32, (i >> 32) as u32);
    let lo = threefry2x32(k1 ^ 0x9e37_79b9, k0, (i >> 32) as u32, i as u32);
    ((hi as u64) << 32) | lo as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(n: usize, fill: impl Fn(&mut [u32])) -> Vec<u32> {
        let mut words = vec![0; n];
        fill(&mut words);
        words
    }

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let n = 20_000;
        let floats = |words: Vec<u32>| words.into_iter().map(|w| f32::from_bits(w) as f64).collect::<Vec<f64>>();
        let u = floats(made(n, |w| uniform(3, w, -1.0, 1.0)));
        assert!(u.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = u.iter().sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.02, "{mean}");
        let z = floats(made(n, |w| normal(4, w, 0.0, 1.0)));
        assert!(z.iter().all(|x| x.is_finite()));
        let mean = z.iter().sum::<f64>() / n as f64;
        let var = z.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.03 && (var - 1.0).abs() < 0.05, "{mean} {var}");
    }

    #[test]
    fn threads_do_not_change_a_value() {
        let n = MANY + 7;
        let even = |n| made(n, |w| uniform(5, w, 0.0, 1.0));
        assert_eq!(even(n)[..9], even(9));
        assert_eq!(even(n)[n - 1], unit(bits(5, n - 1)).to_bits());
        let bell = |n| made(n, |w| normal(5, w, 0.0, 1.0));
        assert_eq!(bell(n)[..9], bell(9));
    }

    #[test]
    fn folded_seeds_differ() {
        let seeds: std::collections::BTreeSet<u64> = (0..1000).map(|i| fold(7, i)).collect();
        assert_eq!(seeds.len(), 1000);
    }
}
