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

/// Columns of all images: the pixels, and the digit (`data/pack.py`).
static PACKED: &[u8] = include_bytes!("../../data/digits.deflate");

/// All images: pixels from 0 (paper) to 1 (ink), and their digits.
pub fn all() -> Labelled {
    let mut columns = Vec::new();
    // An error cannot depend on a user: the bytes are part of this build, and the test below reads them.
    if flate2::read::DeflateDecoder::new(PACKED).read_to_end(&mut columns).is_err() {
        columns.clear();
    }
    let mut data = Labelled { features: PIXELS, ..Labelled::default() };
    let (rows, digits) = (columns.len() / (PIXELS + 1), columns.len() / (PIXELS + 1) * PIXELS);
    for row in 0..rows {
        data.x.extend((0..PIXELS).map(|pixel| f32::from(columns[pixel * rows + row]) / 16.0));
        data.y.push(i32::from(columns[digits + row]));
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
