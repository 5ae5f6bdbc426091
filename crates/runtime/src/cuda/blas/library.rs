//! cuBLASLt's functions, found when the program runs.
//!
//! Declared here and not taken from a binding: its enumerations are plain numbers, so that a newer library may say what this build
//! does not know. Source of the signatures and numbers: cublasLt.h of CUDA 12 and 13, which agree in all that is used here.

use crate::cuda::functions::functions;
use cudarc::driver::sys::CUstream;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// An object of the library.
pub type Object = *mut c_void;
/// How a call ended; zero is well.
pub type Status = c_int;

pub const R_32F: c_int = 0;
pub const R_16F: c_int = 2;
pub const R_16BF: c_int = 14;
pub const COMPUTE_32F: c_int = 68;
pub const COMPUTE_32F_FAST_16BF: c_int = 75;
pub const COMPUTE_32F_FAST_TF32: c_int = 77;
pub const OP_T: i32 = 1;
pub const EPILOGUE_BIAS: i32 = 4;

pub const DESC_TRANSA: c_int = 3;
pub const DESC_TRANSB: c_int = 4;
pub const DESC_EPILOGUE: c_int = 7;
pub const DESC_BIAS_POINTER: c_int = 8;
pub const LAYOUT_BATCH_COUNT: c_int = 5;
pub const LAYOUT_STRIDED_BATCH_OFFSET: c_int = 6;
pub const PREFERENCE_MAX_WORKSPACE_BYTES: c_int = 1;
/// For the first factor; the second's, the addend's and the result's follow.
pub const PREFERENCE_MIN_ALIGNMENT_A_BYTES: c_int = 5;

/// An algorithm with its settings: plain data, valid for one version of the library on one kind of GPU.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Algorithm {
    pub data: [u64; 8],
}

/// What the library proposes for a product.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Proposal {
    pub algorithm: Algorithm,
    pub workspace: usize,
    pub state: Status,
    pub waves: f32,
    pub reserved: [c_int; 4],
}

functions! {
    create = b"cublasLtCreate\0": fn(*mut Object) -> Status;
    destroy = b"cublasLtDestroy\0": fn(Object) -> Status;
    version = b"cublasLtGetVersion\0": fn() -> usize;
    desc_create = b"cublasLtMatmulDescCreate\0": fn(*mut Object, c_int, c_int) -> Status;
    desc_destroy = b"cublasLtMatmulDescDestroy\0": fn(Object) -> Status;
    desc_set = b"cublasLtMatmulDescSetAttribute\0": fn(Object, c_int, *const c_void, usize) -> Status;
    layout_create = b"cublasLtMatrixLayoutCreate\0": fn(*mut Object, c_int, u64, u64, i64) -> Status;
    layout_destroy = b"cublasLtMatrixLayoutDestroy\0": fn(Object) -> Status;
    layout_set = b"cublasLtMatrixLayoutSetAttribute\0": fn(Object, c_int, *const c_void, usize) -> Status;
    preference_create = b"cublasLtMatmulPreferenceCreate\0": fn(*mut Object) -> Status;
    preference_destroy = b"cublasLtMatmulPreferenceDestroy\0": fn(Object) -> Status;
    preference_set = b"cublasLtMatmulPreferenceSetAttribute\0": fn(Object, c_int, *const c_void, usize) -> Status;
    propose = b"cublasLtMatmulAlgoGetHeuristic\0":
        fn(Object, Object, Object, Object, Object, Object, Object, c_int, *mut Proposal, *mut c_int) -> Status;
    matmul = b"cublasLtMatmul\0":
        fn(
            Object, Object, *const c_void, *const c_void, Object, *const c_void, Object, *const c_void, *const c_void, Object,
            *mut c_void, Object, *const Algorithm, *mut c_void, usize, CUstream
        ) -> Status;
}

impl Library {
    /// The library, loaded once for the whole process; `None` where there is none.
    pub fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Library>> = OnceLock::new();
        FOUND.get_or_init(Self::load).as_ref()
    }

    /// The library under the names it is installed by, the newest first.
    fn load() -> Option<Self> {
        let names: &[&str] = if cfg!(windows) {
            &["cublasLt64_13.dll", "cublasLt64_12.dll"]
        } else {
            &["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"]
        };
        // SAFETY: loading runs the library's own initialisers only.
        let load = |name: &&str| unsafe { libloading::Library::new(*name) }.ok();
        names.iter().filter_map(load).find_map(Self::of)
    }
}
