//! Tensors as bytes and back, archives and numbers as bytes: what reading and writing PyTorch's and safetensors' files needs of Rust.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Octets, Value};
use half::{bf16, f16};
use std::io::{Cursor, Read, Write};
use std::rc::Rc;

use crate::cell::expect;
use crate::convert;
use crate::create;
use crate::kind::Kind;
use crate::read::read;

/// Functions of `torch._C` about bytes.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("to_bytes", to_bytes),
    Def::new("from_bytes", from_bytes),
    Def::new("pack_double", pack_double),
    Def::new("unpack_double", unpack_double),
    Def::new("pack_float", pack_float),
    Def::new("zip_read", zip_read),
    Def::new("zip_write", zip_write),
    Def::new("unpack", unpack),
    Def::new("pack", pack),
    Def::new("digits", digits),
    Def::new("crc32c", crc32c),
];

/// Most elements of one tensor in a file.
const MOST: usize = 1 << 31;

pub(crate) fn bytes_of<'v>(value: &'v Value, what: &str) -> Result<&'v Rc<Octets>, Exc> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(Exc::ty(format!("{what}() needs bytes"))),
    }
}

fn number(value: &Value, what: &str) -> Result<f64, Exc> {
    value.to_f64().ok_or_else(|| Exc::ty(format!("{what}() needs a number")))
}

fn given(bytes: Vec<u8>) -> Value {
    Value::Bytes(Octets::new(bytes))
}

/// Numbers as little-endian elements of a type.
pub(crate) fn encode(values: &[f64], kind: Kind) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * kind.bytes());
    for v in values {
        match kind {
            Kind::Bool => out.push(u8::from(*v != 0.0)),
            Kind::UInt8 | Kind::Int8 => out.push(*v as i64 as u8),
            Kind::UInt16 => out.extend((*v as i64 as u16).to_le_bytes()),
            Kind::Int16 => out.extend((*v as i64 as i16).to_le_bytes()),
            Kind::Int32 => out.extend((*v as i64 as i32).to_le_bytes()),
            Kind::UInt32 => out.extend((*v as u32).to_le_bytes()),
            Kind::UInt64 => out.extend((*v as u64).to_le_bytes()),
            Kind::Int64 => out.extend((*v as i64).to_le_bytes()),
            Kind::Float16 => out.extend(f16::from_f64(*v).to_le_bytes()),
            Kind::BFloat16 => out.extend(bf16::from_f64(*v).to_le_bytes()),
            Kind::Float32 | Kind::Complex64 => out.extend((*v as f32).to_le_bytes()),
            Kind::Float64 => out.extend(v.to_le_bytes()),
        }
    }
    out
}

/// The element of a type that begins at a byte; `None` past the end.
pub(crate) fn decode(bytes: &[u8], at: usize, kind: Kind) -> Option<f64> {
    let b = bytes.get(at..at.checked_add(kind.bytes())?)?;
    Some(match (kind, b) {
        (Kind::Bool, [x]) => f64::from(u8::from(*x != 0)),
        (Kind::UInt8, [x]) => f64::from(*x),
        (Kind::Int8, [x]) => f64::from(*x as i8),
        (Kind::UInt16, [x, y]) => f64::from(u16::from_le_bytes([*x, *y])),
        (Kind::Int16, [x, y]) => f64::from(i16::from_le_bytes([*x, *y])),
        (Kind::Float16, [x, y]) => f16::from_le_bytes([*x, *y]).to_f64(),
        (Kind::BFloat16, [x, y]) => bf16::from_le_bytes([*x, *y]).to_f64(),
        (Kind::Int32, _) => f64::from(i32::from_le_bytes(b.try_into().ok()?)),
        (Kind::UInt32, _) => f64::from(u32::from_le_bytes(b.try_into().ok()?)),
        (Kind::UInt64, _) => u64::from_le_bytes(b.try_into().ok()?) as f64,
        (Kind::Float32, _) => f64::from(f32::from_le_bytes(b.try_into().ok()?)),
        (Kind::Int64, _) => i64::from_le_bytes(b.try_into().ok()?) as f64,
        (Kind::Float64, _) => f64::from_le_bytes(b.try_into().ok()?),
        _ => return None,
    })
}

/// `to_bytes(tensor)`: its elements in order, as PyTorch's memory has them.
fn to_bytes(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("to_bytes")?;
    let from = expect(&x, "to_bytes")?;
    from.check_elements()?;
    let (value, kind) = (from.get()?.detach(), from.kind());
    vm.reserve(value.numel() * kind.bytes())?;
    read(vm, vec![value], move |_, values| Ok(given(encode(&values[0], kind))))
}

fn damaged() -> Exc {
    Exc::new(ExcKind::RuntimeError, "a tensor of the file lies outside of its storage")
}

fn sizes(value: &Value) -> Result<Vec<usize>, Exc> {
    let list = convert::ints(value).ok_or_else(damaged)?;
    list.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>().ok_or_else(damaged)
}

/// `from_bytes(bytes, dtype, shape, strides, offset)`: a tensor of elements of a storage. Strides and the offset count elements;
/// `None` are those of a dense tensor.
fn from_bytes(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data, dtype, shape, strides, offset] = args.bind("from_bytes", &["data", "dtype", "shape", "strides", "offset"], 3)?;
    let bytes = bytes_of(&data, "from_bytes")?.clone();
    let kind = convert::kind_of(&dtype).ok_or_else(|| Exc::ty("from_bytes() needs a torch.dtype"))?;
    let shape = sizes(&shape)?;
    let count = shape.iter().try_fold(1usize, |n, s| n.checked_mul(*s)).filter(|n| *n < MOST).ok_or_else(damaged)?;
    let strides = match &strides {
        Value::None | Value::Unbound => dense(&shape),
        given => sizes(given)?,
    };
    let offset = match &offset {
        Value::None | Value::Unbound => 0,
        given => convert::int(given).and_then(|v| usize::try_from(v).ok()).ok_or_else(damaged)?,
    };
    if strides.len() != shape.len() {
        return Err(damaged());
    }
    // The last element is the furthest one: nothing is taken before all is known to be there.
    if count > 0 {
        let reach = shape.iter().zip(&strides).try_fold(offset, |at, (n, s)| at.checked_add((n - 1).checked_mul(*s)?));
        let end = reach.and_then(|at| at.checked_add(1)?.checked_mul(kind.bytes()));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(damaged());
        }
    }
    vm.reserve(count * 8)?;
    let mut values = Vec::with_capacity(count);
    let mut place = vec![0usize; shape.len()];
    for _ in 0..count {
        let at = offset + place.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>();
        values.push(decode(&bytes, at * kind.bytes(), kind).ok_or_else(damaged)?);
        for d in (0..shape.len()).rev() {
            place[d] += 1;
            if place[d] < shape[d] {
                break;
            }
            place[d] = 0;
        }
    }
    create::from_values(vm, &values, shape, kind)
}

fn dense(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1usize; shape.len()];
    for d in (1..shape.len()).rev() {
        out[d - 1] = out[d].saturating_mul(shape[d].max(1));
    }
    out
}

/// A number as eight bytes, the highest first: pickle's BINFLOAT.
fn pack_double(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("pack_double")?;
    Ok(given(number(&value, "pack_double")?.to_be_bytes().to_vec()))
}

fn unpack_double(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data] = args.exactly::<1>("unpack_double")?;
    let bytes: [u8; 8] =
        bytes_of(&data, "unpack_double")?.as_slice().try_into().map_err(|_| Exc::value("unpack_double() needs eight bytes"))?;
    Ok(Value::float(f64::from_be_bytes(bytes)))
}

/// `pack_float(value, bytes)`: a number as four or eight bytes, the lowest first.
fn pack_float(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value, bytes] = args.exactly::<2>("pack_float")?;
    let value = number(&value, "pack_float")?;
    Ok(given(if bytes.to_i64() == Some(4) { (value as f32).to_le_bytes().to_vec() } else { value.to_le_bytes().to_vec() }))
}

/// `zip_read(bytes)`: pairs of a name and the bytes of an archive's files.
fn zip_read(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data] = args.exactly::<1>("zip_read")?;
    let bytes = bytes_of(&data, "zip_read")?.clone();
    let failed = |e: zip::result::ZipError| Exc::value(e.to_string());
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes.as_slice())).map_err(failed)?;
    let mut out = Vec::new();
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).map_err(failed)?;
        vm.reserve(usize::try_from(file.size()).unwrap_or(usize::MAX))?;
        // An archive may lie about sizes: no more is read than was reserved.
        let (name, limit) = (file.name().map_err(failed)?.into_owned(), file.size());
        let mut content = Vec::new();
        (&mut file).take(limit).read_to_end(&mut content).map_err(|e| Exc::value(e.to_string()))?;
        out.push(Value::tuple(vec![Value::str(name), given(content)]));
    }
    Ok(Value::list(out))
}

/// `zip_write(files)`: an archive of pairs of a name and bytes, not compressed, each file's bytes at a multiple of 64, as PyTorch's.
fn zip_write(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [files] = args.exactly::<1>("zip_write")?;
    let files = convert::sequence(&files).ok_or_else(|| Exc::ty("zip_write() needs a list"))?;
    let failed = |e: &dyn std::fmt::Display| Exc::value(e.to_string());
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in &files {
        let Some([name, content]) = convert::sequence(file).and_then(|f| <[Value; 2]>::try_from(f).ok()) else {
            return Err(Exc::ty("zip_write() needs pairs of a name and bytes"));
        };
        let content = bytes_of(&content, "zip_write")?;
        vm.reserve(content.len())?;
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).with_alignment(64);
        archive.start_file(name.as_str().unwrap_or_default(), options).map_err(|e| failed(&e))?;
        archive.write_all(content).map_err(|e| failed(&e))?;
    }
    Ok(given(archive.finish().map_err(|e| failed(&e))?.into_inner()))
}

/// `unpack(bytes, wrapper)`: what deflated bytes hold, at most a GiB; the wrapper around them is "gzip", "zlib" or "".
fn unpack(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    const LIMIT: u64 = 1 << 30;
    let [data, wrapper] = args.exactly::<2>("unpack")?;
    let bytes = bytes_of(&data, "unpack")?.clone();
    let mut out = Vec::new();
    match wrapper.as_str() {
        Some("gzip") => flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(LIMIT).read_to_end(&mut out),
        Some("zlib") => flate2::read::ZlibDecoder::new(bytes.as_slice()).take(LIMIT).read_to_end(&mut out),
        _ => flate2::read::DeflateDecoder::new(bytes.as_slice()).take(LIMIT).read_to_end(&mut out),
    }
    .map_err(|e| Exc::new(ExcKind::OSError, e.to_string()))?;
    vm.reserve(out.len())?;
    Ok(given(out))
}

/// `pack(bytes, wrapper, level)`: the reverse of [`unpack`].
fn pack(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data, wrapper, level] = args.exactly::<3>("pack")?;
    let bytes = bytes_of(&data, "pack")?.clone();
    vm.reserve(bytes.len())?;
    let level = convert::int(&level).and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= 9);
    let level = level.map_or_else(flate2::Compression::default, flate2::Compression::new);
    let mut out = Vec::new();
    match wrapper.as_str() {
        Some("gzip") => flate2::read::GzEncoder::new(bytes.as_slice(), level).read_to_end(&mut out),
        Some("zlib") => flate2::read::ZlibEncoder::new(bytes.as_slice(), level).read_to_end(&mut out),
        _ => flate2::read::DeflateEncoder::new(bytes.as_slice(), level).read_to_end(&mut out),
    }
    .map_err(|e| Exc::new(ExcKind::OSError, e.to_string()))?;
    Ok(given(out))
}

/// The UCI digits, columns of 64 shades and the digit, out of the text of `_digits`: six bits a character.
fn digits(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [text] = args.exactly::<1>("digits")?;
    let (mut packed, mut bits) = (Vec::new(), 0);
    for (at, c) in text.as_str().unwrap_or_default().bytes().enumerate() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(six);
        if at % 4 > 0 {
            packed.push((bits >> (6 - at % 4 * 2)) as u8);
        }
    }
    let mut out = Vec::new();
    flate2::read::DeflateDecoder::new(packed.as_slice()).read_to_end(&mut out).map_err(|e| Exc::new(ExcKind::OSError, e.to_string()))?;
    vm.reserve(out.len())?;
    Ok(given(out))
}

/// CRC-32C (Castagnoli) of bytes: what TensorBoard's records carry.
fn crc32c(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data] = args.exactly::<1>("crc32c")?;
    let step = |crc: u32| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0x82f6_3b78 };
    let crc = bytes_of(&data, "crc32c")?.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)));
    Ok(Value::Int(i64::from(!crc)))
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::kind::Kind;

    #[test]
    fn elements_survive() {
        for kind in Kind::ALL.into_iter().filter(|k| !k.is_complex()) {
            let values = [0.0, 1.0, if kind == Kind::Bool { 1.0 } else { 3.0 }];
            let bytes = encode(&values, kind);
            assert_eq!(bytes.len(), 3 * kind.bytes());
            let back: Vec<f64> = (0..3).filter_map(|i| decode(&bytes, i * kind.bytes(), kind)).collect();
            assert_eq!(back, values);
            assert_eq!(decode(&bytes, bytes.len(), kind), None);
        }
    }
}
