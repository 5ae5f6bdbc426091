//! `numpy.random.RandomState`: the generator behind `numpy.random.seed`, `rand`, `randn` and their like, whose state scripts read and set
//! (numpy/random/src/legacy, and the masked rejection of numpy/random/src/distributions).

use aludel_python::library::twister::Twister;

/// The twister and the second normal number of the last pair.
pub(crate) struct Legacy {
    pub twister: Twister,
    pub gauss: Option<f64>,
}

impl Legacy {
    pub fn new(twister: Twister) -> Legacy {
        Legacy { twister, gauss: None }
    }

    /// `standard_normal`, `randn`: the polar method, two numbers at a time.
    pub fn gauss(&mut self) -> f64 {
        if let Some(kept) = self.gauss.take() {
            return kept;
        }
        loop {
            let x1 = 2.0 * self.twister.double() - 1.0;
            let x2 = 2.0 * self.twister.double() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let f = (-2.0 * r2.ln() / r2).sqrt();
                self.gauss = Some(f * x1);
                return f * x2;
            }
        }
    }

    /// A number of `0..=most`: words (two for more than 32 bits) are masked and drawn again until one fits.
    pub fn at_most(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let mask = u64::MAX >> most.leading_zeros();
        loop {
            let word = u64::from(self.twister.word());
            let word = if most <= u64::from(u32::MAX) { word } else { word << 32 | u64::from(self.twister.word()) };
            if word & mask <= most {
                return word & mask;
            }
        }
    }

    /// `permutation(n)`, and the order that `shuffle` gives.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let j = self.at_most(i as u64) as usize;
            order.swap(i, j);
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values of NumPy 2.5: numpy.random.seed(0), then the function.
    #[test]
    fn numpys_sequences() {
        let seeded = |seed| Legacy::new(Twister::from_word(seed));
        let mut r = seeded(0);
        assert_eq!([r.gauss(), r.gauss(), r.gauss()], [1.764052345967664, 0.4001572083672233, 0.9787379841057392]);
        let mut r = seeded(0);
        assert_eq!([5, 0, 3, 3, 7, 9], [(); 6].map(|()| r.at_most(9)));
        assert_eq!(seeded(0).permutation(8), [6, 2, 1, 7, 3, 0, 5, 4]);
        assert_eq!(seeded(0).choice(10, 4, false), [2, 8, 4, 9]);
        assert_eq!(seeded(1).at_most((1 << 40) + 4), 163_196_666_091);
    }
}
