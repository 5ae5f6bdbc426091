//! NCCL's functions, found when the program runs.
//!
//! Declared here, as cuBLASLt's are: its enumerations are plain numbers, so that a newer library may say what this build does not know, and
//! it is found under `libnccl.so.2`, which is the only name that most systems have it by. Source of the signatures and numbers: nccl.h of NCCL
//! 2.18 to 2.28, which agree in all that is used here.

use crate::cuda::functions::functions;
use cudarc::driver::sys::CUstream;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

/// A rank's place in a group.
pub type Raw = *mut c_void;
/// How a call ended; zero is well.
pub type Status = c_int;

pub const SUM: c_int = 0;
pub const PROD: c_int = 1;
pub const MAX: c_int = 2;
pub const MIN: c_int = 3;

pub const INT32: c_int = 2;
pub const UINT32: c_int = 3;
pub const FLOAT16: c_int = 6;
pub const FLOAT32: c_int = 7;
pub const BFLOAT16: c_int = 9;

/// The name of a group that is being made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UniqueId(pub [u8; 128]);

functions! {
    unique_id = b"ncclGetUniqueId\0": fn(*mut UniqueId) -> Status;
    init_rank = b"ncclCommInitRank\0": fn(*mut Raw, c_int, UniqueId, c_int) -> Status;
    destroy = b"ncclCommDestroy\0": fn(Raw) -> Status;
    error_string = b"ncclGetErrorString\0": fn(Status) -> *const c_char;
    last_error = b"ncclGetLastError\0": fn(Raw) -> *const c_char;
    device = b"ncclCommCuDevice\0": fn(Raw, *mut c_int) -> Status;
    all_reduce = b"ncclAllReduce\0": fn(*const c_void, *mut c_void, usize, c_int, c_int, Raw, CUstream) -> Status;
    reduce_scatter = b"ncclReduceScatter\0": fn(*const c_void, *mut c_void, usize, c_int, c_int, Raw, CUstream) -> Status;
    all_gather = b"ncclAllGather\0": fn(*const c_void, *mut c_void, usize, c_int, Raw, CUstream) -> Status;
    broadcast = b"ncclBroadcast\0": fn(*const c_void, *mut c_void, usize, c_int, c_int, Raw, CUstream) -> Status;
    send = b"ncclSend\0": fn(*const c_void, usize, c_int, c_int, Raw, CUstream) -> Status;
    receive = b"ncclRecv\0": fn(*mut c_void, usize, c_int, c_int, Raw, CUstream) -> Status;
    group_start = b"ncclGroupStart\0": fn() -> Status;
    group_end = b"ncclGroupEnd\0": fn() -> Status;
}

impl Library {
    /// The library, loaded once for the whole process; `None` where there is none.
    pub fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Library>> = OnceLock::new();
        FOUND.get_or_init(Self::load).as_ref()
    }

    fn load() -> Option<Self> {
        // What NCCL adds to each graph so that collectives of several graphs and streams may run at once takes longer than a small
        // collective (ResNet-50's step with synchronized statistics: 24.4 ms, 23.8 without, on two H100s). A device has one stream; in a graph
        // collectives are one sequence; and those outside of graphs wait for those in them (`Stream::before_exchange`). So all are one after
        // the other, which is what NCCL asks for without it.
        if std::env::var_os("NCCL_GRAPH_MIXING_SUPPORT").is_none() {
            // SAFETY: it adds a variable that only NCCL reads, which is not loaded yet. The standard library's own readers wait for it.
            unsafe { std::env::set_var("NCCL_GRAPH_MIXING_SUPPORT", "0") };
        }
        // SAFETY: loading runs the library's own initialisers only.
        let load = |name: &&str| unsafe { libloading::Library::new(*name) }.ok();
        ["libnccl.so.2", "libnccl.so"].iter().filter_map(load).find_map(Self::of)
    }
}
