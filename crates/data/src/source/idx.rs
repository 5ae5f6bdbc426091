//! IDX, the format of MNIST's files: two zero bytes, the type of the elements, the number of dimensions, the sizes as big-endian u32, and
//! the elements, big-endian, row by row (Y. LeCun, C. Cortes and C. Burges, "The MNIST database").

use crate::array::count;
use crate::{Array, Error, Result, Values};
use std::path::Path;

/// The array in a file, packed by gzip or not.
///
/// # Errors
///
/// As [`idx`], and when the file cannot be read.
pub fn read_idx(path: impl AsRef<Path>) -> Result<Array> {
    idx(&path.as_ref().display().to_string(), &super::read_bytes(&path)?)
}

/// The array in the bytes of an IDX file, which `name` names in errors.
///
/// # Errors
///
/// When the bytes are no IDX file, or not a whole one.
pub fn idx(name: &str, bytes: &[u8]) -> Result<Array> {
    let fail = |problem: String| Error::file(name, "", problem, "fetch the file anew");
    let (&[zero, nil, kind, rank], rest) = bytes.split_first_chunk().ok_or_else(|| fail(format!("is cut short: {} bytes", bytes.len())))?;
    if (zero, nil) != (0, 0) {
        return Err(fail("is no IDX file: it does not begin with two zero bytes".into()));
    }
    let (sizes, data) = rest.split_at_checked(4 * usize::from(rank)).ok_or_else(|| fail("is cut short in the sizes".into()))?;
    let shape: Vec<usize> = sizes.as_chunks().0.iter().map(|b| u32::from_be_bytes(*b) as usize).collect();
    let width = match kind {
        0x08 | 0x09 => 1,
        0x0b => 2,
        0x0c | 0x0d => 4,
        0x0e => 8,
        _ => return Err(fail(format!("has elements of the unknown type {kind:#04x}"))),
    };
    let expected = count(&shape).and_then(|n| n.checked_mul(width));
    if expected != Some(data.len()) {
        let expected = expected.map_or("more than there can be".into(), |n| n.to_string());
        return Err(fail(format!("the shape {shape:?} has {expected} bytes of elements and the file {}", data.len())));
    }
    let values = match kind {
        0x08 => Values::U8(data.to_vec()),
        0x09 => Values::I32(data.iter().map(|b| i32::from(*b as i8)).collect()),
        0x0b => Values::I32(data.as_chunks().0.iter().map(|b| i32::from(i16::from_be_bytes(*b))).collect()),
        0x0c => Values::I32(data.as_chunks().0.iter().map(|b| i32::from_be_bytes(*b)).collect()),
        0x0d => Values::F32(data.as_chunks().0.iter().map(|b| f32::from_be_bytes(*b)).collect()),
        _ => Values::F64(data.as_chunks().0.iter().map(|b| f64::from_be_bytes(*b)).collect()),
    };
    Array::new(shape, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: u8, sizes: &[u32], data: &[u8]) -> Vec<u8> {
        [&[0, 0, kind, sizes.len() as u8], sizes.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<_>>().as_slice(), data].concat()
    }

    #[test]
    fn every_type() {
        let read = |kind, sizes: &[u32], data: &[u8]| idx("f", &file(kind, sizes, data)).unwrap();
        assert_eq!(read(8, &[2, 2], &[1, 2, 3, 255]), Array::new([2, 2], Values::U8(vec![1, 2, 3, 255])).unwrap());
        assert_eq!(read(9, &[1], &[0xff]).values(), &Values::I32(vec![-1]));
        assert_eq!(read(0xb, &[1], &[0xff, 0xfe]).values(), &Values::I32(vec![-2]));
        assert_eq!(read(0xc, &[1], &[0, 0, 1, 0]).values(), &Values::I32(vec![256]));
        assert_eq!(read(0xd, &[1], &[0x3f, 0x80, 0, 0]).values(), &Values::F32(vec![1.0]));
        assert_eq!(read(0xe, &[1], &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0]).values(), &Values::F64(vec![1.0]));
        assert_eq!(read(8, &[], &[7]).shape(), [0usize; 0]);
    }

    #[test]
    fn what_is_no_whole_file() {
        let whole = file(8, &[2, 3], &[0; 6]);
        for n in 0..whole.len() {
            assert!(idx("f", &whole[..n]).is_err(), "{n} bytes");
        }
        for (bytes, text) in [
            (file(8, &[2, 3], &[0; 7]), "the shape [2, 3] has 6 bytes of elements and the file 7"),
            (file(8, &[u32::MAX; 9], &[0; 7]), "more than there can be"),
            (file(7, &[1], &[0]), "unknown type 0x07"),
            (vec![1, 2, 3, 4], "no IDX file"),
        ] {
            let e = idx("a.idx", &bytes).unwrap_err().to_string();
            assert!(e.starts_with("a.idx: ") && e.contains(text), "{e}");
        }
    }
}
