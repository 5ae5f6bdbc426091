//! Tensor maps: what a kernel's bulk copies take boxes of, as the driver encodes it for one place and given sizes.

use super::driver::{Failure, check};
use aludel_ir::expr::Expr;
use aludel_ir::program::TensorMap;
use aludel_ir::{DType, Error, Result};
use cudarc::driver::sys::{self, CUdeviceptr, CUtensorMap, CUtensorMapDataType};
use std::ffi::c_void;

/// Bytes that the hardware wants addresses and strides to be multiples of.
const ALIGNMENT: i64 = 16;

/// The map of a tensor whose placement starts at an address, under given sizes. Errors: a size that cannot be, a driver that refuses.
pub fn encode(map: &TensorMap, placement: CUdeviceptr, eval: &dyn Fn(&Expr) -> Option<i64>) -> Result<CUtensorMap> {
    let size = |e: &Expr| eval(e).ok_or_else(|| Error::verify("a tensor map", "has a size that is none"));
    let (kind, bytes) = match map.dtype {
        DType::F16 => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2),
        DType::BF16 => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2),
        _ => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4),
    };
    let rank = map.extents.len();
    if rank == 0 || rank > 5 || map.sizes.len() != rank || map.strides.len() + 1 != rank {
        return Err(Error::verify(
            "a tensor map",
            format!("has {rank} extents, {} strides and {} sizes", map.strides.len(), map.sizes.len()),
        ));
    }
    let address = placement.wrapping_add_signed(size(&map.offset)? * bytes);
    // Of a tensor without elements no box is taken; the driver wants to know some all the same.
    let (mut extents, mut strides, steps) = ([1u64; 5], [ALIGNMENT as u64; 5], [1u32; 5]);
    for (out, e) in extents.iter_mut().zip(&map.extents) {
        *out = size(e)?.max(1) as u64;
    }
    for (out, e) in strides.iter_mut().zip(&map.strides) {
        *out = (size(e)? * bytes).max(ALIGNMENT) as u64;
    }
    let mut out = CUtensorMap { opaque: [0; 16] };
    // SAFETY: the driver is loaded and writes one map; the arrays have as many numbers as there are dimensions, at least. It reads
    // no device memory.
    let encoded = check(unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut out,
            kind,
            rank as u32,
            address as *mut c_void,
            extents.as_ptr(),
            strides.as_ptr(),
            map.sizes.as_ptr(),
            steps.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            // Longer lines cost a seventh of a large product's speed on an H200.
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    });
    encoded.map(|()| out).map_err(|e: Failure| {
        let what = format!("describing a tensor of {:?} with strides of {:?} bytes", &extents[..rank], &strides[..rank - 1]);
        e.error(&what)
    })
}
