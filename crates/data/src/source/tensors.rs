//! safetensors: arrays by name.

use crate::{Array, Error, Result, Values};
use safetensors::tensor::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::Path;

/// The arrays of a safetensors file.
///
/// # Errors
///
/// When it is no whole, consistent file, or holds types that data does not come in.
pub fn read_safetensors(path: impl AsRef<Path>) -> Result<BTreeMap<String, Array>> {
    safetensors(&path.as_ref().display().to_string(), &super::read_bytes(&path)?)
}

/// The arrays in the bytes of a safetensors file, which `name` names in errors.
///
/// # Errors
///
/// As [`read_safetensors`].
pub fn safetensors(name: &str, bytes: &[u8]) -> Result<BTreeMap<String, Array>> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| Error::file(name, "", format!("is not a safetensors file: {e}"), "fetch the file anew"))?;
    let mut arrays = BTreeMap::new();
    for (key, view) in file.iter() {
        let values = elements(view.dtype(), view.data()).ok_or_else(|| {
            let problem = format!("has elements of the type {:?}, or integers beyond 63 bits", view.dtype());
            Error::file(name, key, problem, "convert it to bool, integers or floats before it is saved")
        })?;
        arrays.insert(key.to_string(), Array::new(view.shape(), values)?);
    }
    Ok(arrays)
}

fn elements(dtype: Dtype, data: &[u8]) -> Option<Values> {
    macro_rules! read {
        ($t:ty) => {
            data.as_chunks().0.iter().map(|b| <$t>::from_le_bytes(*b))
        };
    }
    Some(match dtype {
        Dtype::BOOL => Values::Bool(data.iter().map(|b| *b != 0).collect()),
        Dtype::U8 => Values::U8(data.to_vec()),
        Dtype::I8 => Values::I32(data.iter().map(|b| i32::from(*b as i8)).collect()),
        Dtype::I16 => Values::I32(read!(i16).map(i32::from).collect()),
        Dtype::U16 => Values::I32(read!(u16).map(i32::from).collect()),
        Dtype::I32 => Values::I32(read!(i32).collect()),
        Dtype::U32 => Values::I64(read!(u32).map(i64::from).collect()),
        Dtype::I64 => Values::I64(read!(i64).collect()),
        Dtype::U64 => Values::I64(read!(u64).map(|x| i64::try_from(x).ok()).collect::<Option<_>>()?),
        Dtype::F16 => Values::F32(read!(u16).map(|x| half::f16::from_bits(x).to_f32()).collect()),
        Dtype::BF16 => Values::F32(read!(u16).map(|x| half::bf16::from_bits(x).to_f32()).collect()),
        Dtype::F32 => Values::F32(read!(f32).collect()),
        Dtype::F64 => Values::F64(read!(f64).collect()),
        _ => return None,
    })
}
