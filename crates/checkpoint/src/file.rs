//! Arrays as safetensors files. f16 and bf16 take two bytes there, bool one, everything else four, little-endian.

use crate::{Array, State};
use aludel_ir::{DType, Error, Result};
use aludel_tensor::{words_from_le_bytes, words_to_le_bytes};
use safetensors::tensor::{Dtype, SafeTensors, View};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// An array as its bytes in the file.
struct Bytes<'a>(&'a Array);

impl View for Bytes<'_> {
    fn dtype(&self) -> Dtype {
        match self.0.dtype {
            DType::F32 => Dtype::F32,
            DType::F16 => Dtype::F16,
            DType::BF16 => Dtype::BF16,
            DType::I32 => Dtype::I32,
            DType::U32 => Dtype::U32,
            DType::Bool => Dtype::BOOL,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        words_to_le_bytes(&self.0.words, self.0.dtype).into()
    }

    fn data_len(&self) -> usize {
        self.0.words.len() * self.0.dtype.size()
    }
}

/// A safetensors file of the arrays, marked as PyTorch's (`format: pt`).
pub fn encode(state: &State) -> Result<Vec<u8>> {
    let views = state.iter().map(|(n, a)| (n, Bytes(a)));
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
        let words = |dtype: DType| (dtype, words_from_le_bytes(data, dtype).into());
        let (dtype, words): (DType, Arc<[u32]>) = match view.dtype() {
            Dtype::F32 => words(DType::F32),
            Dtype::I32 => words(DType::I32),
            Dtype::U32 => words(DType::U32),
            Dtype::F16 => words(DType::F16),
            Dtype::BF16 => words(DType::BF16),
            // PyTorch counts in 64 bits, as in `num_batches_tracked`.
            Dtype::I64 => (DType::I32, longs(what, name, data)?),
            Dtype::BOOL => words(DType::Bool),
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
