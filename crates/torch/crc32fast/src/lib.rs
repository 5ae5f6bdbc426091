//! CRC-32 (IEEE) sixteen bytes at a time, as archives and PNG have it, by the interface of the crate that this stands in for.

use std::sync::OnceLock;

const POLYNOMIAL: u32 = 0xedb8_8320;

/// What a byte does to a checksum when so many bytes follow it.
static TABLES: OnceLock<[[u32; 256]; 16]> = OnceLock::new();

/// A checksum one power of two lower.
const fn halved(crc: u32) -> u32 {
    if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ POLYNOMIAL }
}

fn tables() -> &'static [[u32; 256]; 16] {
    TABLES.get_or_init(|| {
        let mut tables = [[0; 256]; 16];
        tables[0] = std::array::from_fn(|byte| (0..8).fold(byte as u32, |crc, _| halved(crc)));
        for follow in 1..16 {
            tables[follow] = tables[follow - 1].map(|crc: u32| crc >> 8 ^ tables[0][crc as usize & 255]);
        }
        tables
    })
}

/// The checksum of bytes.
pub fn hash(bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finalize()
}

/// A checksum on its way.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    crc: u32,
    length: u64,
}

impl Hasher {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn new_with_initial(crc: u32) -> Self {
        Self::new_with_initial_len(crc, 0)
    }

    pub fn new_with_initial_len(crc: u32, length: u64) -> Self {
        Hasher { crc, length }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        let tables = tables();
        let (blocks, rest) = bytes.as_chunks::<16>();
        let mut crc = !self.crc;
        for block in blocks {
            let mut block = *block;
            block.iter_mut().zip(crc.to_le_bytes()).for_each(|(byte, of_crc)| *byte ^= of_crc);
            crc = block.iter().zip(tables.iter().rev()).fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)]);
        }
        crc = rest.iter().fold(crc, |crc, byte| crc >> 8 ^ tables[0][usize::from(crc as u8 ^ byte)]);
        self.crc = !crc;
        self.length += bytes.len() as u64;
    }

    pub fn finalize(self) -> u32 {
        self.crc
    }

    pub fn total_len(&self) -> u64 {
        self.length
    }

    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Goes on with bytes whose own checksum is known.
    pub fn combine(&mut self, other: &Self) {
        // Zeros, as many as there are bytes, multiply by a power of x^8; the highest bit is x^0.
        let (mut power, mut square, mut length) = (1 << 31, 1 << 23, other.length);
        while length > 0 {
            if length & 1 == 1 {
                power = product(square, power);
            }
            square = product(square, square);
            length >>= 1;
        }
        self.crc = product(power, self.crc) ^ other.crc;
        self.length += other.length;
    }
}

impl std::hash::Hasher for Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from(self.crc)
    }
}

/// Of two polynomials, modulo that of the checksum.
fn product(a: u32, b: u32) -> u32 {
    let mut shifted = b;
    (0..32).rev().fold(0, |sum, bit| {
        let sum = if a >> bit & 1 == 1 { sum ^ shifted } else { sum };
        shifted = halved(shifted);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn plain(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| halved(crc)))
    }

    #[test]
    fn checksums_are_those_of_the_polynomial_however_they_are_cut() {
        assert_eq!(hash(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..200_u32).map(|i| (i * i * 7 + 3) as u8).collect();
        for cut in 0..bytes.len() {
            let (mut first, mut second) = (Hasher::new(), Hasher::new());
            first.update(&bytes[..cut]);
            second.update(&bytes[cut..]);
            assert_eq!((first.crc, second.crc), (plain(&bytes[..cut]), plain(&bytes[cut..])));
            let mut both = first.clone();
            both.combine(&second);
            first.update(&bytes[cut..]);
            assert_eq!((both.total_len(), both.finalize(), first.finalize()), (200, plain(&bytes), plain(&bytes)));
        }
    }
}
