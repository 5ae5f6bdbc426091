//! Tensors as bytes, for files and wires: row-major, little-endian, elements of [`DType::size`] bytes.

use crate::device::Device;
use crate::shape::IntoDims;
use crate::tensor::{Tensor, numel};
use aludel_ir::{DType, Error, Result, TensorType};
use half::{bf16, f16};

/// The device words (see `aludel_ir::program`) of elements stored one after another; a trailing part of an element is left out.
pub fn words_from_le_bytes(bytes: &[u8], dtype: DType) -> Vec<u32> {
    let pairs = || bytes.chunks_exact(2).map(|b| [b[0], b[1]]);
    match dtype {
        DType::F32 | DType::I32 | DType::U32 => bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
        DType::F16 => pairs().map(|b| f16::from_le_bytes(b).to_f32().to_bits()).collect(),
        DType::BF16 => pairs().map(|b| bf16::from_le_bytes(b).to_f32().to_bits()).collect(),
        DType::Bool => bytes.iter().map(|b| (*b != 0) as u32).collect(),
    }
}

/// The bytes of elements that are given as device words.
pub fn words_to_le_bytes(words: &[u32], dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 | DType::I32 | DType::U32 => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        DType::F16 => words.iter().flat_map(|w| f16::from_f32(f32::from_bits(*w)).to_le_bytes()).collect(),
        DType::BF16 => words.iter().flat_map(|w| bf16::from_f32(f32::from_bits(*w)).to_le_bytes()).collect(),
        DType::Bool => words.iter().map(|w| (*w != 0) as u8).collect(),
    }
}

impl Tensor {
    /// A tensor of any element type from its bytes.
    ///
    /// # Errors
    ///
    /// When there are not as many bytes as the shape's elements take, or the shape is none that [`Tensor::full`] takes.
    pub fn from_le_bytes(device: &Device, dtype: DType, shape: impl IntoDims, data: &[u8]) -> Result<Tensor> {
        let shape = shape.into_dims();
        let n = numel("from_le_bytes", &shape, device)?;
        let ty = TensorType { dtype, shape };
        if n.checked_mul(dtype.size()) != Some(data.len()) {
            return Err(Error::invalid(
                "from_le_bytes",
                format!("{} bytes are not {ty}", data.len()),
                format!("give {} bytes for each of {n} elements", dtype.size()),
            ));
        }
        Ok(Tensor::host(device, ty, words_from_le_bytes(data, dtype)))
    }

    /// The bytes of the elements; waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_vec_async`].
    pub async fn to_le_bytes_async(&self) -> Result<Vec<u8>> {
        Ok(words_to_le_bytes(&self.words_async().await?, self.dtype()))
    }
}
