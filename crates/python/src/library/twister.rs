//! The Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), and what CPython's `_random` makes of it.

use num_bigint::{BigInt, BigUint, Sign};
use sha2::{Digest, Sha512};

pub const WORDS: usize = 624;
const SHIFT: usize = 397;

/// The generator: 624 words and the place of the next one.
#[derive(Clone, PartialEq, Eq)]
pub struct Twister {
    words: [u32; WORDS],
    next: usize,
}

impl std::fmt::Debug for Twister {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Twister(next: {})", self.next)
    }
}

impl Twister {
    /// `init_genrand`: one word as the seed, as NumPy and PyTorch take it.
    pub fn from_word(seed: u32) -> Twister {
        let mut words = [0; WORDS];
        words[0] = seed;
        for i in 1..WORDS {
            let previous: u32 = words[i - 1];
            words[i] = 1_812_433_253u32.wrapping_mul(previous ^ previous >> 30).wrapping_add(i as u32);
        }
        Twister { words, next: WORDS }
    }

    /// `init_by_array`.
    pub fn from_key(key: &[u32]) -> Twister {
        let mut words = Twister::from_word(19_650_218).words;
        let key = if key.is_empty() { &[0] } else { key };
        let (mut i, mut j) = (1, 0);
        for _ in 0..WORDS.max(key.len()) {
            let mixed = (words[i - 1] ^ words[i - 1] >> 30).wrapping_mul(1_664_525);
            words[i] = (words[i] ^ mixed).wrapping_add(key[j]).wrapping_add(j as u32);
            i += 1;
            j = (j + 1) % key.len();
            if i == WORDS {
                words[0] = words[WORDS - 1];
                i = 1;
            }
        }
        for _ in 1..WORDS {
            let mixed = (words[i - 1] ^ words[i - 1] >> 30).wrapping_mul(1_566_083_941);
            words[i] = (words[i] ^ mixed).wrapping_sub(i as u32);
            i += 1;
            if i == WORDS {
                words[0] = words[WORDS - 1];
                i = 1;
            }
        }
        words[0] = 0x8000_0000;
        Twister { words, next: WORDS }
    }

    /// `random.seed(n)`: the words of `abs(n)`.
    pub fn from_int(seed: &BigInt) -> Twister {
        Twister::from_key(&seed.magnitude().to_u32_digits())
    }

    /// `random.seed` of a float, by its hash.
    pub fn from_hash(hash: u64) -> Twister {
        Twister::from_int(&BigInt::from(hash))
    }

    /// `random.seed` of text or bytes: the number that they and their SHA-512 spell.
    pub fn from_bytes(bytes: &[u8]) -> Twister {
        let mut spelled = bytes.to_vec();
        spelled.extend_from_slice(&Sha512::digest(bytes));
        Twister::from_int(&BigInt::from_bytes_be(Sign::Plus, &spelled))
    }

    /// The words and the place of the next one.
    pub fn state(&self) -> (&[u32; WORDS], usize) {
        (&self.words, self.next)
    }

    /// A generator in a state that was asked for earlier; `None` where the place is none.
    pub fn from_state(words: [u32; WORDS], next: usize) -> Option<Twister> {
        (next <= WORDS).then_some(Twister { words, next })
    }

    fn renew(&mut self) {
        let w = &mut self.words;
        let mut mix = |i: usize, next: usize, far: usize| {
            let y = w[i] & 0x8000_0000 | w[next] & 0x7fff_ffff;
            // A branch on a random bit is mispredicted every second time.
            w[i] = w[far] ^ y >> 1 ^ (y & 1).wrapping_neg() & 0x9908_b0df;
        };
        (0..WORDS - SHIFT).for_each(|i| mix(i, i + 1, i + SHIFT));
        (WORDS - SHIFT..WORDS - 1).for_each(|i| mix(i, i + 1, i + SHIFT - WORDS));
        mix(WORDS - 1, 0, SHIFT - 1);
        self.next = 0;
    }

    /// 32 random bits.
    pub fn word(&mut self) -> u32 {
        if self.next >= WORDS {
            self.renew();
        }
        let mut y = self.words[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    /// `random.random()`: 53 bits of two words, in `[0, 1)`. NumPy's doubles are the same.
    pub fn double(&mut self) -> f64 {
        let high = f64::from(self.word() >> 5);
        let low = f64::from(self.word() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// `random.getrandbits(k)` of at most 64 bits.
    pub fn bits64(&mut self, k: u32) -> u64 {
        match k {
            0 => 0,
            1..=32 => u64::from(self.word() >> (32 - k)),
            _ => {
                let low = u64::from(self.word());
                low | u64::from(self.word() >> (64 - k.min(64))) << 32
            }
        }
    }

    /// `random.getrandbits(k)`.
    pub fn bits(&mut self, k: usize) -> BigInt {
        let mut words = Vec::with_capacity(k.div_ceil(32));
        let mut left = k;
        while left > 0 {
            let word = self.word();
            words.push(if left < 32 { word >> (32 - left) } else { word });
            left = left.saturating_sub(32);
        }
        BigInt::from(BigUint::new(words))
    }

    /// A number below `n`, which is not 0, as `random.randrange` draws it.
    pub fn below(&mut self, n: u64) -> u64 {
        let k = u64::BITS - n.leading_zeros();
        loop {
            let r = self.bits64(k);
            if r < n {
                return r;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpythons_sequences() {
        // random.Random(seed).random(), CPython 3.12.
        let mut t = Twister::from_int(&BigInt::from(42));
        assert_eq!(t.double(), 0.6394267984578837);
        assert_eq!(t.below(10), 0);
        assert_eq!(Twister::from_int(&BigInt::from(-5)).double(), 0.6229016948897019);
        assert_eq!(Twister::from_int(&BigInt::from(10).pow(30)).double(), 0.9341508484568806);
        assert_eq!(Twister::from_bytes(b"text").double(), 0.8711565613554825);
        assert_eq!(Twister::from_bytes(b"bytes").double(), 0.37075677971469856);
        // hash(1.5) == 1152921504606846977
        assert_eq!(Twister::from_hash(1_152_921_504_606_846_977).double(), 0.551763726942059);
    }

    #[test]
    fn a_state_goes_on_where_it_was() {
        let mut a = Twister::from_word(3);
        for _ in 0..1000 {
            a.word();
        }
        let (words, next) = a.state();
        let mut b = Twister::from_state(*words, next).expect("a state");
        assert_eq!(a.word(), b.word());
        assert_eq!(Twister::from_state([0; WORDS], 625), None);
    }

    #[test]
    fn bits_are_the_low_words_first() {
        let mut a = Twister::from_word(1);
        let mut b = a.clone();
        assert_eq!(BigInt::from(a.bits64(40)), b.bits(40));
        assert_eq!(a.bits(0), BigInt::from(0));
        assert!(a.bits(100).bits() <= 100);
    }
}
