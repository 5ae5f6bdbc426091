//! What several tests use; each test crate uses a part of it.
#![allow(dead_code)]

pub mod generate;
pub mod rounding;
pub mod shrink;
pub mod values;

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

/// Changes a text in a place or two: pieces of it are dropped, doubled, moved, and pieces of the format put in.
pub fn mutate(text: &str, rng: &mut Rng) -> String {
    const PIECES: [&str; 24] = [
        "0",
        "1",
        "-1",
        "2",
        "7",
        "2147483647",
        "9223372036854775807",
        "[",
        "]",
        "[]",
        ", ",
        "%x",
        "%y",
        "B",
        "f16",
        "i32",
        "bool",
        "u32",
        "dim=",
        "keepdim=true",
        "floordiv(B, 2)",
        "state ",
        "softmax",
        "sum",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + rng.below(2) {
        let at = rng.below(chars.len().max(1)).min(chars.len());
        let len = (1 + rng.below(6)).min(chars.len() - at);
        match rng.below(5) {
            0 => drop(chars.drain(at..at + len)),
            1 => drop(chars.splice(at..at + len, rng.pick(&PIECES).chars().collect::<Vec<_>>())),
            2 => {
                let copy: Vec<char> = chars[at..at + len].to_vec();
                let to = rng.below(chars.len() + 1);
                drop(chars.splice(to..to, copy));
            }
            // Numbers matter most.
            _ => {
                let digit = *rng.pick(&['0', '1', '2', '3', '5', '9']);
                chars.iter_mut().skip(at).filter(|c| c.is_ascii_digit()).take(1).for_each(|c| *c = digit);
            }
        }
    }
    chars.into_iter().collect()
}
