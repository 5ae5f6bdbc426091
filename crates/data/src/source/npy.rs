//! NumPy's arrays: npy, and npz archives of them (NEP 1, "A Simple File Format for NumPy Arrays").

use crate::array::count;
use crate::{Array, Error, Result, Values};
use std::path::Path;

/// The array in an npy file, packed by gzip or not.
///
/// # Errors
///
/// As [`npy`], and when the file cannot be read.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
    npy(&path.as_ref().display().to_string(), &super::read_bytes(&path)?)
}

/// The arrays of an npz file by name. The archive's checksums are checked.
///
/// # Errors
///
/// When one of them is no array of numbers, or the archive is damaged.
#[cfg(feature = "archives")]
pub fn read_npz(path: impl AsRef<Path>) -> Result<std::collections::BTreeMap<String, Array>> {
    use std::io::Read;
    let name = path.as_ref().display().to_string();
    let bytes = super::read_bytes(&path)?;
    let fail = |place: &str, e: zip::result::ZipError| Error::file(&name, place, e.to_string(), "fetch the file anew");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(|e| fail("", e))?;
    let mut arrays = std::collections::BTreeMap::new();
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).map_err(|e| fail(&format!("entry {i}"), e))?;
        let entry = file.name().map_err(|e| fail(&format!("entry {i}"), e))?.into_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| Error::io(&name, &entry, &e))?;
        let key = entry.strip_suffix(".npy").unwrap_or(&entry).to_string();
        arrays.insert(key, npy(&format!("{name}, {entry}"), &bytes)?);
    }
    Ok(arrays)
}

/// The array in the bytes of an npy file, which `name` names in errors: bool, integers (unsigned 64-bit ones below 2^63) and floats, of
/// either byte order, in C's or Fortran's.
///
/// # Errors
///
/// When the bytes are no npy file, or not a whole one, or hold other types.
pub fn npy(name: &str, bytes: &[u8]) -> Result<Array> {
    let fail = |problem: String, remedy: &str| Error::file(name, "", problem, remedy);
    let short = || fail("is cut short in its header".into(), "fetch the file anew");
    if bytes.get(..6) != Some(b"\x93NUMPY") {
        return Err(fail("is no npy file".into(), "write it by numpy.save"));
    }
    let (size, at) = match bytes.get(6).ok_or_else(short)? {
        1 => (bytes.get(8..10).ok_or_else(short)?.iter().rev().fold(0, |n, b| n << 8 | *b as usize), 10usize),
        _ => (bytes.get(8..12).ok_or_else(short)?.iter().rev().fold(0, |n, b| n << 8 | *b as usize), 12),
    };
    let header = at.checked_add(size).and_then(|end| bytes.get(at..end)).ok_or_else(short)?;
    let data = &bytes[at + size..];
    let header =
        Header::parse(&String::from_utf8_lossy(header)).ok_or_else(|| fail("has a header that is none".into(), "fetch the file anew"))?;
    let (order, kind) = header.descr.split_at_checked(1).unwrap_or_default();
    let width: usize = kind.get(1..).and_then(|w| w.parse().ok()).unwrap_or(0);
    let total = count(&header.shape).and_then(|n| n.checked_mul(width));
    if width > 0 && total != Some(data.len()) {
        let total = total.map_or("more than there can be".into(), |n| n.to_string());
        return Err(fail(
            format!("the shape {:?} has {total} bytes of elements and the file {}", header.shape, data.len()),
            "fetch the file anew",
        ));
    }
    let values = elements(kind, order == ">", data).ok_or_else(|| {
        let remedy = "convert it to bool, integers or floats before it is saved";
        fail(format!("has elements of the type {:?}, or integers beyond 63 bits", header.descr), remedy)
    })?;
    let array = Array::new(header.shape, values)?;
    if header.fortran { array.transposed() } else { Ok(array) }
}

/// Elements of a type as NumPy writes it without the byte order: `f4`.
fn elements(kind: &str, big: bool, data: &[u8]) -> Option<Values> {
    macro_rules! read {
        ($t:ty) => {
            data.as_chunks().0.iter().map(|b| if big { <$t>::from_be_bytes(*b) } else { <$t>::from_le_bytes(*b) })
        };
    }
    Some(match kind {
        "b1" => Values::Bool(data.iter().map(|b| *b != 0).collect()),
        "u1" => Values::U8(data.to_vec()),
        "i1" => Values::I32(data.iter().map(|b| i32::from(*b as i8)).collect()),
        "i2" => Values::I32(read!(i16).map(i32::from).collect()),
        "u2" => Values::I32(read!(u16).map(i32::from).collect()),
        "i4" => Values::I32(read!(i32).collect()),
        "u4" => Values::I64(read!(u32).map(i64::from).collect()),
        "i8" => Values::I64(read!(i64).collect()),
        "u8" => Values::I64(read!(u64).map(|x| i64::try_from(x).ok()).collect::<Option<_>>()?),
        "f2" => Values::F32(read!(u16).map(|x| half::f16::from_bits(x).to_f32()).collect()),
        "f4" => Values::F32(read!(f32).collect()),
        "f8" => Values::F64(read!(f64).collect()),
        _ => return None,
    })
}

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Option<Header> {
        let after = |key: &str| {
            let at = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|k| Some(text.find(k.as_str())? + k.len()))?;
            text[at..].trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = after("descr")?;
        let quote = descr.chars().next().filter(|c| *c == '\'' || *c == '"');
        // A list is a type of several parts, which `elements` does not know.
        let descr = quote.and_then(|q| descr[1..].split_once(q)).map_or(descr.get(..8).unwrap_or(descr), |(d, _)| d).to_string();
        let order = after("fortran_order")?;
        let (shape, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
        let sizes = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
        let shape = sizes.map(|s| s.trim_end_matches('L').parse().ok()).collect::<Option<Vec<usize>>>()?;
        Some(Header { descr, fortran: order.starts_with("True"), shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `numpy.save` writes it.
    fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        [b"\x93NUMPY\x01\x00", (header.len() as u16).to_le_bytes().as_slice(), header.as_bytes(), data].concat()
    }

    #[test]
    fn types_and_orders() {
        let read = |descr, shape, data: &[u8]| npy("f", &file(descr, "False", shape, data)).unwrap();
        assert_eq!(read("|b1", "(2,)", &[0, 1]).values(), &Values::Bool(vec![false, true]));
        assert_eq!(read("<i2", "(1,)", &[0xff, 0xff]).values(), &Values::I32(vec![-1]));
        assert_eq!(read(">u2", "(1,)", &[0xff, 0xfe]).values(), &Values::I32(vec![0xfffe]));
        assert_eq!(read("<f2", "(1,)", &[0, 0x3c]).values(), &Values::F32(vec![1.0]));
        assert_eq!(read(">f8", "()", &1.5f64.to_be_bytes()), Array::new([], Values::F64(vec![1.5])).unwrap());
        let fortran = npy("f", &file("|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6])).unwrap();
        assert_eq!(fortran, Array::new([2, 3], Values::U8(vec![1, 2, 3, 4, 5, 6])).unwrap());
    }

    #[test]
    fn what_is_no_whole_file() {
        let whole = file("<f4", "False", "(2, 2)", &[0; 16]);
        for n in 0..whole.len() {
            assert!(npy("f", &whole[..n]).is_err(), "{n} bytes");
        }
        for (bytes, text) in [
            (file("<f4", "False", "(2, 9)", &[0; 16]), "the shape [2, 9] has 72 bytes of elements and the file 16"),
            (file("<f4", "False", "(99999999999, 99999999999)", &[0; 16]), "more than there can be"),
            (file("<U4", "False", "(1,)", &[0; 4]), "elements of the type \"<U4\""),
            (file("<u8", "False", "(1,)", &[0xff; 8]), "beyond 63 bits"),
            (file("<f4", "False", "(-1,)", &[]), "a header that is none"),
            (b"PK\x03\x04".to_vec(), "is no npy file"),
        ] {
            let e = npy("a.npy", &bytes).unwrap_err().to_string();
            assert!(e.starts_with("a.npy: ") && e.contains(text), "{e}");
        }
    }
}
