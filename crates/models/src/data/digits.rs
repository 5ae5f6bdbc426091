//! The UCI handwritten digits; `data/README.md` states source and licence.

use super::Labelled;
use std::io::Read;

/// Rows and columns of an image.
pub const SIDE: usize = 8;
pub const PIXELS: usize = SIDE * SIDE;
pub const CLASSES: usize = 10;

/// How many images there are to train on, and how many are held out.
pub const TRAIN: usize = 1438;
pub const TEST: usize = 359;

/// Where the name of a gzip file starts.
const NAME: usize = 10;

static CSV: &[u8] = include_bytes!("../../data/digits.csv.gz");

/// All images: pixels from 0 (paper) to 1 (ink), and their digits.
pub fn all() -> Labelled {
    let mut text = String::new();
    // A gzip file is ten bytes, a name that ends with zero, then deflated data (RFC 1952). The checksum at its end is left alone: the
    // bytes are part of this build and the test below reads them, and its tables would be 16 kB of the page.
    let start = NAME + CSV[NAME..].iter().position(|b| *b == 0).unwrap_or(0) + 1;
    // An error cannot depend on a user.
    if flate2::read::DeflateDecoder::new(&CSV[start..]).read_to_string(&mut text).is_err() {
        text.clear();
    }
    let mut data = Labelled { features: PIXELS, ..Labelled::default() };
    for line in text.lines() {
        let mut fields = line.split(',').filter_map(|f| f.trim().parse::<u8>().ok());
        data.x.extend(fields.by_ref().take(PIXELS).map(|p| p as f32 / 16.0));
        data.y.extend(fields.next().map(i32::from));
    }
    data
}

/// Images to train on, and every fifth, held out.
pub fn split() -> (Labelled, Labelled) {
    let data = all();
    let (test, train): (Vec<usize>, Vec<usize>) = (0..data.rows()).partition(|i| i % 5 == 4);
    (data.select(&train), data.select(&test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_images_are_there() {
        assert_eq!(CSV[3], 8, "the header has a name and nothing else");
        let data = all();
        assert_eq!(data.rows(), 1797);
        assert_eq!(data.x.len(), 1797 * PIXELS);
        assert!(data.x.iter().all(|p| (0.0..=1.0).contains(p)));
        assert_eq!(data.y[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let (train, test) = split();
        assert_eq!((train.rows(), test.rows()), (TRAIN, TEST));
        assert!((0..10).all(|d| test.y.iter().filter(|y| **y == d).count() > 20), "every digit is held out too");
    }
}
