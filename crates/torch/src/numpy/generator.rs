//! `numpy.random.default_rng`: PCG64 behind a SeedSequence, and the distributions of `numpy.random.Generator`
//! (numpy/random/bit_generator.pyx and numpy/random/src/distributions).

use std::cell::OnceCell;

/// The end of the last layer of the ziggurat for normal numbers, and the area of each of its 256 layers (Marsaglia and Tsang, 2000;
/// the constants are those of numpy/random/src/distributions/ziggurat_constants.h and of the program that its tables come from).
const NORMAL_END: f64 = 3.654_152_885_361_009;
const NORMAL_AREA: f64 = 0.004_928_673_233_99;
/// The same of exponential numbers.
const EXPONENTIAL_END: f64 = 7.697_117_470_131_05;
const EXPONENTIAL_AREA: f64 = 0.003_949_659_822_581_572;
/// So many bits of a word are the place within a layer: a normal number's sign takes one.
const NORMAL_PLACES: f64 = (1u64 << 52) as f64;
const EXPONENTIAL_PLACES: f64 = (1u64 << 53) as f64;

/// PCG64 (O'Neill, 2014): a linear congruence of 128 bits whose words are its halves, one laid on the other and turned.
#[derive(Debug, Clone)]
struct Pcg64 {
    state: u128,
    increment: u128,
}

impl Pcg64 {
    fn new(seed: u128, stream: u128) -> Pcg64 {
        let mut made = Pcg64 { state: 0, increment: stream << 1 | 1 };
        made.step();
        made.state = made.state.wrapping_add(seed);
        made.step();
        made
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        ((self.state >> 64) as u64 ^ self.state as u64).rotate_right((self.state >> 122) as u32)
    }
}

/// The generator and the half of a word that no one has asked for yet.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    words: Pcg64,
    half: Option<u32>,
    normal: Box<Layers>,
    /// Made when first asked for.
    exponential: OnceCell<Box<Layers>>,
}

/// The ziggurat's layers: their width, how much of it is surely inside, and the density at its end.
#[derive(Debug, Clone)]
struct Layers {
    width: [f64; 256],
    inside: [u64; 256],
    density: [f64; 256],
}

impl Layers {
    fn normal() -> Layers {
        Layers::new(NORMAL_END, NORMAL_AREA, NORMAL_PLACES, |x| (-0.5 * x * x).exp(), |y| (-2.0 * y.ln()).sqrt())
    }

    fn exponential() -> Layers {
        Layers::new(EXPONENTIAL_END, EXPONENTIAL_AREA, EXPONENTIAL_PLACES, |x| (-x).exp(), |y| -y.ln())
    }

    /// Of a density, and where it has a value.
    fn new(mut end: f64, area: f64, places: f64, density: fn(f64) -> f64, place: fn(f64) -> f64) -> Layers {
        let mut made = Layers { width: [0.0; 256], inside: [0; 256], density: [1.0; 256] };
        made.width[255] = end / places;
        made.density[255] = density(end);
        made.inside[0] = (end * density(end) / area * places) as u64;
        made.width[0] = area / density(end) / places;
        for i in (1..255).rev() {
            let x = place(area / end + made.density[i + 1]);
            made.inside[i + 1] = (x / end * places) as u64;
            made.width[i] = x / places;
            made.density[i] = density(x);
            end = x;
        }
        made.inside[1] = 0;
        made
    }
}

/// Four 64-bit words of `numpy.random.SeedSequence(entropy)`, after M. O'Neill's seed_seq_fe.
pub(super) fn seed_sequence(entropy: &[u32]) -> [u64; 4] {
    let mut constant: u32 = 0x43b0_d7e5;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ value >> 16
    };
    let mix = |x: u32, y: u32| {
        let made = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
        made ^ made >> 16
    };
    let mut pool = [0u32; 4];
    for (i, word) in pool.iter_mut().enumerate() {
        *word = hash(entropy.get(i).copied().unwrap_or(0));
    }
    for from in 0..4 {
        for to in 0..4 {
            if from != to {
                pool[to] = mix(pool[to], hash(pool[from]));
            }
        }
    }
    for word in entropy.iter().skip(4) {
        for place in &mut pool {
            *place = mix(*place, hash(*word));
        }
    }
    let mut constant: u32 = 0x8b51_f9dd;
    let mut words = [0u64; 4];
    for i in 0..8 {
        let value = pool[i % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        words[i / 2] |= u64::from(value ^ value >> 16) << (32 * (i % 2));
    }
    words
}

impl Generator {
    /// `default_rng(seed)`; the seed as words of 32 bits, the low one first.
    pub fn new(entropy: &[u32]) -> Generator {
        let [a, b, c, d] = seed_sequence(entropy);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        Generator {
            words: Pcg64::new(wide(a, b), wide(c, d)),
            half: None,
            normal: Box::new(Layers::normal()),
            exponential: OnceCell::new(),
        }
    }

    /// State and increment as four words each, low ones first, then whether half of a word waits, and it.
    pub fn state(&self) -> Vec<u32> {
        let parts = [self.words.state, self.words.increment].into_iter().flat_map(|v| (0..4).map(move |i| (v >> (32 * i)) as u32));
        parts.chain([u32::from(self.half.is_some()), self.half.unwrap_or(0)]).collect()
    }

    /// A generator in a state that was asked for earlier.
    pub fn in_state(&self, words: &[u32]) -> Option<Generator> {
        let whole = |w: &[u32]| w.iter().rev().fold(0u128, |v, w| v << 32 | u128::from(*w));
        let (&[has, half], words) =
            (words.get(8..10)?.first_chunk::<2>()?, Pcg64 { state: whole(&words[..4]), increment: whole(&words[4..8]) });
        Some(Generator { words, half: (has != 0).then_some(half), ..self.clone() })
    }

    fn word(&mut self) -> u32 {
        if let Some(kept) = self.half.take() {
            return kept;
        }
        let word = self.words.next_u64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }

    /// `random()`: in `[0, 1)`, of 53 bits.
    pub fn double(&mut self) -> f64 {
        (self.words.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `standard_normal()`.
    pub fn gauss(&mut self) -> f64 {
        loop {
            let word = self.words.next_u64();
            let layer = (word & 0xff) as usize;
            let negative = word >> 8 & 1 == 1;
            let place = word >> 9 & 0x000f_ffff_ffff_ffff;
            let x = place as f64 * self.normal.width[layer];
            let x = if negative { -x } else { x };
            if place < self.normal.inside[layer] {
                return x;
            }
            if layer == 0 {
                loop {
                    let beyond = -(-self.double()).ln_1p() / NORMAL_END;
                    let y = -(-self.double()).ln_1p();
                    if y + y > beyond * beyond {
                        let x = NORMAL_END + beyond;
                        return if place >> 8 & 1 == 1 { -x } else { x };
                    }
                }
            }
            let (high, low) = (self.normal.density[layer - 1], self.normal.density[layer]);
            if (high - low) * self.double() + low < (-0.5 * x * x).exp() {
                return x;
            }
        }
    }

    /// `standard_exponential()`.
    pub fn exponential(&mut self) -> f64 {
        loop {
            let word = self.words.next_u64() >> 3;
            let (layer, place) = ((word & 0xff) as usize, word >> 8);
            let layers = self.exponential.get_or_init(|| Box::new(Layers::exponential()));
            let x = place as f64 * layers.width[layer];
            if place < layers.inside[layer] {
                return x;
            }
            if layer == 0 {
                return EXPONENTIAL_END - (-self.double()).ln_1p();
            }
            let (high, low) = (layers.density[layer - 1], layers.density[layer]);
            if (high - low) * self.double() + low < (-x).exp() {
                return x;
            }
        }
    }

    /// A number of `0..=most`, by Lemire's method (2019): a word is scaled, and drawn again where the scale would be uneven.
    pub fn at_most(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        if let Ok(most) = u32::try_from(most) {
            let Some(n) = most.checked_add(1) else { return u64::from(self.word()) };
            let mut m = u64::from(self.word()) * u64::from(n);
            if (m as u32) < n {
                let threshold = (u32::MAX - most) % n;
                while (m as u32) < threshold {
                    m = u64::from(self.word()) * u64::from(n);
                }
            }
            return m >> 32;
        }
        let Some(n) = most.checked_add(1) else { return self.words.next_u64() };
        let mut m = u128::from(self.words.next_u64()) * u128::from(n);
        if (m as u64) < n {
            let threshold = (u64::MAX - most) % n;
            while (m as u64) < threshold {
                m = u128::from(self.words.next_u64()) * u128::from(n);
            }
        }
        (m >> 64) as u64
    }

    /// `permutation(n)`, and the order that `shuffle` gives: words are masked and drawn again until one fits.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let mask = u64::MAX >> (i as u64).leading_zeros();
            let j = loop {
                let word = if i as u64 <= u64::from(u32::MAX) { u64::from(self.word()) } else { self.words.next_u64() };
                if word & mask <= i as u64 {
                    break word & mask;
                }
            };
            order.swap(i, j as usize);
        }
        order
    }

    /// The places from `first` on in another order, as `choice` takes it.
    fn shuffle(&mut self, items: &mut [usize], first: usize) {
        for i in (first.max(1)..items.len()).rev() {
            let j = self.at_most(i as u64) as usize;
            items.swap(i, j);
        }
    }

    /// `choice(n, count, replace=False)`; `count` is at most `n`. Large shares of many things are the end of a shuffle, others Floyd's
    /// algorithm, as in NumPy.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        if n > 10_000 && count > n / 50 {
            let mut order: Vec<usize> = (0..n).collect();
            self.shuffle(&mut order, (n - count).max(1));
            return order.split_off(n - count);
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut made = Vec::with_capacity(count);
        for j in n - count..n {
            let value = self.at_most(j as u64) as usize;
            let value = if seen.insert(value) { value } else { j };
            seen.insert(value);
            made.push(value);
        }
        self.shuffle(&mut made, 1);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::Generator;

    // Values of NumPy 2.4.
    #[test]
    fn numpys_sequences() {
        let mut r = Generator::new(&[0]);
        assert_eq!([r.double(), r.double()], [0.6369616873214543, 0.2697867137638703]);
        let mut r = Generator::new(&[42]);
        for want in [0.30471707975443135, -1.0399841062404955, 0.7504511958064572, 0.9405647163912139] {
            // The tables' constants have eleven digits.
            assert!((r.gauss() - want).abs() < 1e-10);
        }
        let mut r = Generator::new(&[42]);
        assert_eq!([0, 7, 6, 4, 4, 8, 0, 6], [(); 8].map(|()| r.at_most(9)));
        let mut r = Generator::new(&[1]);
        assert_eq!([562753827705, 1045045885889], [(); 2].map(|()| r.at_most((1 << 40) - 1)));
        assert_eq!(Generator::new(&[5, 1 << 8]).double(), 0.004739459374490829);
        assert_eq!(Generator::new(&[1]).permutation(8), [5, 0, 1, 4, 2, 6, 3, 7]);
        assert_eq!(Generator::new(&[1]).choose(10, 4), [6, 4, 9, 3]);
        assert_eq!(Generator::new(&[1]).choose(20_000, 3), [10235, 9462, 15103]);
        assert_eq!(Generator::new(&[1]).choose(20_000, 5000)[..4], [3660, 19468, 8507, 5900]);
        // The tail, beyond the last layer.
        let mut r = Generator::new(&[3]);
        let far: Vec<f64> = (0..20_000).map(|_| r.gauss()).filter(|x| x.abs() > 3.66).take(3).collect();
        for (x, want) in far.iter().zip([3.8864552710410796, 4.036861678844423, -3.7411627382527723]) {
            assert!((x - want).abs() < 1e-9);
        }
    }
}
