//! Tensor maps: what a kernel's bulk copies take boxes of, as the driver encodes it for one place and given sizes.

use super::driver::{Failure, check};
use aludel_ir::expr::Expr;
use aludel_ir::program::{TensorMap, Windows};
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
    let space = |w: &Windows| rank >= 3 && [w.first.len(), w.last.len(), w.steps.len()] == [rank - 2; 3];
    if rank == 0 || rank > 5 || map.sizes.len() != rank || map.strides.len() + 1 != rank || !map.windows.as_ref().is_none_or(space) {
        return Err(Error::verify(
            "a tensor map",
            format!("has {rank} extents, {} strides and {} sizes", map.strides.len(), map.sizes.len()),
        ));
    }
    let address = placement.wrapping_add_signed(size(&map.offset)? * bytes);
    // Of a tensor without elements no box is taken; the driver wants to know some all the same.
    let (mut extents, mut strides, mut steps) = ([1u64; 5], [ALIGNMENT as u64; 5], [1u32; 5]);
    for (out, e) in extents.iter_mut().zip(&map.extents) {
        *out = size(e)?.max(1) as u64;
    }
    for (out, e) in strides.iter_mut().zip(&map.strides) {
        *out = (size(e)? * bytes).max(ALIGNMENT) as u64;
    }
    let mut out = CUtensorMap { opaque: [0; 16] };
    let address = address as *mut c_void;
    let (interleave, swizzle) =
        (sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE, sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B);
    // Longer lines cost a seventh of a large product's speed on an H200.
    let lines = sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    let outside = sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    let (counts, apart) = (extents.as_ptr(), strides.as_ptr());
    let encoded = match &map.windows {
        // SAFETY: the driver is loaded and writes one map; the arrays have as many numbers as there are dimensions, at least. It
        // reads no device memory.
        None => check(unsafe {
            let (sizes, steps) = (map.sizes.as_ptr(), steps.as_ptr());
            sys::cuTensorMapEncodeTiled(
                &mut out,
                kind,
                rank as u32,
                address,
                counts,
                apart,
                sizes,
                steps,
                interleave,
                swizzle,
                lines,
                outside,
            )
        }),
        Some(w) => {
            // The first and the last dimension have no steps.
            for (out, s) in steps[1..].iter_mut().zip(&w.steps) {
                *out = *s;
            }
            let (first, last, steps) = (w.first.as_ptr(), w.last.as_ptr(), steps.as_ptr());
            let (channels, pixels) = (map.sizes[0], map.sizes[1]);
            // SAFETY: as above; corners have a number for each dimension of space, as was checked.
            check(unsafe {
                sys::cuTensorMapEncodeIm2col(
                    &mut out,
                    kind,
                    rank as u32,
                    address,
                    counts,
                    apart,
                    first,
                    last,
                    channels,
                    pixels,
                    steps,
                    interleave,
                    swizzle,
                    lines,
                    outside,
                )
            })
        }
    };
    encoded.map(|()| out).map_err(|e: Failure| {
        let what = format!("describing a tensor of {:?} with strides of {:?} bytes", &extents[..rank], &strides[..rank - 1]);
        e.error(&what)
    })
}
