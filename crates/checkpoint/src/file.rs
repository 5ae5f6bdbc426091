//! Arrays as safetensors files. f16 and bf16 take two bytes there, bool one, everything else four, little-endian.

use crate::{Array, State};
use aludel_ir::{DType, Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, View};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// An array as its bytes in the file.
struct Bytes<'a> {
    array: &'a Array,
    width: usize,
}

impl<'a> View for Bytes<'a> {
    fn dtype(&self) -> Dtype {
        match self.array.dtype {
            DType::F32 => Dtype::F32,
            DType::F16 => Dtype::F16,
            DType::BF16 => Dtype::BF16,
            DType::I32 => Dtype::I32,
            DType::U32 => Dtype::U32,
            DType::Bool => Dtype::BOOL,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let words = &self.array.words;
        let float = |w: &u32| f32::from_bits(*w);
        match self.array.dtype {
            DType::F32 | DType::I32 | DType::U32 => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
            DType::F16 => words.iter().flat_map(|w| half::f16::from_f32(float(w)).to_le_bytes()).collect(),
            DType::BF16 => words.iter().flat_map(|w| half::bf16::from_f32(float(w)).to_le_bytes()).collect(),
            DType::Bool => words.iter().map(|w| (*w != 0) as u8).collect(),
        }
    }

    fn data_len(&self) -> usize {
        self.array.words.len() * self.width
    }
}

/// A safetensors file of the arrays, marked as PyTorch's (`format: pt`).
pub fn encode(state: &State) -> Result<Vec<u8>> {
    let width = |a: &Array| match a.dtype {
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::BF16 => 2,
        DType::Bool => 1,
    };
    let views = state.iter().map(|(n, a)| (n, Bytes { array: a, width: width(a) }));
    let metadata = HashMap::from([("format".to_string(), "pt".to_string())]);
    safetensors::serialize(views, Some(metadata)).map_err(|e| Error::invalid("safetensors", e.to_string(), "report this"))
}

/// The arrays of a safetensors file. `what` names the file in errors.
///
/// Errors on anything that is not a whole, consistent file, and on element types that tensors here do not have.
pub fn decode(what: &str, bytes: &[u8]) -> Result<State> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| Error::invalid(what, format!("is not a safetensors file: {e}"), "the file is damaged: use another checkpoint"))?;
    let mut state = State::new();
    for (name, view) in file.iter() {
        let data = view.data();
        let quads = || data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let pairs = || data.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        let (dtype, words): (DType, Arc<[u32]>) = match view.dtype() {
            Dtype::F32 => (DType::F32, quads().collect()),
            Dtype::I32 => (DType::I32, quads().collect()),
            Dtype::U32 => (DType::U32, quads().collect()),
            Dtype::F16 => (DType::F16, pairs().map(|h| half::f16::from_bits(h).to_f32().to_bits()).collect()),
            Dtype::BF16 => (DType::BF16, pairs().map(|h| half::bf16::from_bits(h).to_f32().to_bits()).collect()),
            // PyTorch counts in 64 bits, as in `num_batches_tracked`.
            Dtype::I64 => (DType::I32, longs(what, name, data)?),
            Dtype::BOOL => (DType::Bool, data.iter().map(|b| (*b != 0) as u32).collect()),
            other => {
                return Err(Error::unsupported(
                    format!("{what}: {name} has elements of type {other:?}"),
                    "convert them to float32, float16, bfloat16, int32, int64, uint32 or bool",
                ));
            }
        };
        state.insert(name.to_string(), Array { dtype, shape: view.shape().to_vec(), words });
    }
    Ok(state)
}

/// 64-bit integers in 32 bits. Errors when one needs more.
fn longs(what: &str, name: &str, data: &[u8]) -> Result<Arc<[u32]>> {
    data.as_chunks::<8>()
        .0
        .iter()
        .map(|b| {
            let value = i64::from_le_bytes(*b);
            let narrow = i32::try_from(value).map(|v| v as u32);
            narrow.map_err(|_| Error::unsupported(format!("{what}: {name} has {value}"), "integers have 32 bits here"))
        })
        .collect()
}
