//! `numpy.random.RandomState`: the legacy generator behind `numpy.random.seed`, `rand`, `randn` and their like
//! (numpy/random/src/legacy, and the masked rejection of numpy/random/src/distributions).

use super::twister::Twister;

/// The state: the twister and the second normal number of the last pair.
#[derive(Debug, Clone)]
pub struct RandomState {
    twister: Twister,
    gauss: Option<f64>,
}

impl RandomState {
    /// `numpy.random.seed(seed)` of one number below 2^32.
    pub fn new(seed: u32) -> RandomState {
        RandomState { twister: Twister::from_word(seed), gauss: None }
    }

    /// `numpy.random.seed([..])`.
    pub fn from_key(key: &[u32]) -> RandomState {
        RandomState { twister: Twister::from_key(key), gauss: None }
    }

    /// `random_sample`, `rand`: in `[0, 1)`.
    pub fn double(&mut self) -> f64 {
        self.twister.double()
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }

    /// `standard_normal`, `randn`: the polar method, two numbers at a time.
    pub fn gauss(&mut self) -> f64 {
        if let Some(kept) = self.gauss.take() {
            return kept;
        }
        loop {
            let x1 = 2.0 * self.double() - 1.0;
            let x2 = 2.0 * self.double() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let f = (-2.0 * r2.ln() / r2).sqrt();
                self.gauss = Some(f * x1);
                return f * x2;
            }
        }
    }

    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        mean + deviation * self.gauss()
    }

    pub fn exponential(&mut self, scale: f64) -> f64 {
        -(1.0 - self.double()).ln() * scale
    }

    /// A number of `0..=most`: words (two for more than 32 bits) are masked and drawn again until one fits.
    pub fn at_most(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let mask = u64::MAX >> most.leading_zeros();
        loop {
            let word = if most <= u64::from(u32::MAX) {
                u64::from(self.twister.word())
            } else {
                u64::from(self.twister.word()) << 32 | u64::from(self.twister.word())
            };
            if word & mask <= most {
                return word & mask;
            }
        }
    }

    /// `randint(low, high)` of the default type; `None` where no number lies between.
    pub fn randint(&mut self, low: i64, high: i64) -> Option<i64> {
        let most = high.checked_sub(1)?.checked_sub(low).filter(|&span| span >= 0)?;
        Some(low + self.at_most(most as u64) as i64)
    }

    /// `shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.at_most(i as u64) as usize;
            items.swap(i, j);
        }
    }

    /// `permutation(n)`.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// `choice(n, count, replace)`; without replacement `count` is at most `n`.
    pub fn choice(&mut self, n: usize, count: usize, replace: bool) -> Vec<usize> {
        if replace {
            return (0..count).map(|_| self.at_most(n.saturating_sub(1) as u64) as usize).collect();
        }
        let mut order = self.permutation(n);
        order.truncate(count);
        order
    }

    /// `choice` with probabilities, with replacement.
    pub fn weighted_choice(&mut self, weights: &[f64], count: usize) -> Vec<usize> {
        let mut sums: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, w| {
                *sum += w;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(1.0);
        for sum in &mut sums {
            *sum /= total;
        }
        (0..count)
            .map(|_| {
                let u = self.double();
                sums.partition_point(|&sum| sum <= u).min(weights.len().saturating_sub(1))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values of NumPy 2.5: numpy.random.seed(0), then the function.
    #[test]
    fn numpys_sequences() {
        let mut r = RandomState::new(0);
        assert_eq!([r.double(), r.double()], [0.5488135039273248, 0.7151893663724195]);
        let mut r = RandomState::new(0);
        assert_eq!([r.gauss(), r.gauss(), r.gauss()], [1.764052345967664, 0.4001572083672233, 0.9787379841057392]);
        let mut r = RandomState::new(0);
        let drawn: Vec<i64> = (0..6).filter_map(|_| r.randint(0, 10)).collect();
        assert_eq!(drawn, [5, 0, 3, 3, 7, 9]);
        assert_eq!(RandomState::new(0).permutation(8), [6, 2, 1, 7, 3, 0, 5, 4]);
        assert_eq!(RandomState::new(0).choice(10, 4, false), [2, 8, 4, 9]);
        assert_eq!(RandomState::new(0).weighted_choice(&[0.1, 0.2, 0.7], 5), [2, 2, 2, 2, 2]);
        assert_eq!(RandomState::new(1).randint(-5, 1 << 40), Some(163_196_666_086));
        assert_eq!(RandomState::new(0).randint(3, 3), None);
    }
}
