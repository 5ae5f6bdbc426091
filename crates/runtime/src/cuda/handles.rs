//! The driver's objects, each freed when dropped. Dropping one needs its context to be current: see [`Context::enter`].

use super::driver::{Failure, check};
use cudarc::driver::sys::{self, CUdeviceptr, CUevent_flags, CUstream_flags};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

type Done<T> = Result<T, Failure>;

/// A context on one device.
pub struct Context {
    raw: sys::CUcontext,
    /// The device whose primary context this is: that is shared by all in the process who ask for it. Otherwise it is one of its own, and
    /// its memory, code and stream go when it goes.
    primary: Option<sys::CUdevice>,
}

// SAFETY: a context may be current on several threads at once; the driver locks what they share.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Context {
    pub fn new(device: sys::CUdevice) -> Done<Self> {
        let mut raw = null_mut();
        // SAFETY: the device is one that the driver gave; writes one handle, and makes the context current on this thread.
        check(unsafe { sys::cuCtxCreate_v2(&mut raw, 0, device) })?;
        let mut popped = null_mut();
        // SAFETY: undoes the push of the call before, so that this thread's stack of contexts does not grow.
        check(unsafe { sys::cuCtxPopCurrent_v2(&mut popped) })?;
        Ok(Context { raw, primary: None })
    }

    /// The device's primary context, which is what CUDA's libraries compute in.
    pub fn primary(device: sys::CUdevice) -> Done<Self> {
        let mut raw = null_mut();
        // SAFETY: the device is one that the driver gave; writes one handle.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&mut raw, device) })?;
        Ok(Context { raw, primary: Some(device) })
    }

    pub fn is_primary(&self) -> bool {
        self.primary.is_some()
    }

    /// Makes the context current on this thread.
    pub fn enter(&self) -> Done<()> {
        // SAFETY: the handle is valid until this value is dropped.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nothing uses the context any more: whoever holds something of it holds this value. What it still has goes
        // with it. A context that a fault has broken refuses; there is nothing else to do with it.
        match self.primary {
            None => unsafe { sys::cuCtxDestroy_v2(self.raw) },
            // SAFETY: it was retained for this value, once.
            Some(device) => unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) },
        };
    }
}

/// The one stream.
pub struct StreamHandle(pub sys::CUstream);

// SAFETY: the driver takes a stream from any thread.
unsafe impl Send for StreamHandle {}

impl StreamHandle {
    pub fn new() -> Done<Self> {
        let mut raw = null_mut();
        // SAFETY: a context is current; writes one handle. Work of the default stream is none of this stream's.
        check(unsafe { sys::cuStreamCreate(&mut raw, CUstream_flags::CU_STREAM_NON_BLOCKING as u32) })?;
        Ok(StreamHandle(raw))
    }
}

impl Drop for StreamHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and not used again; the driver lets issued work finish.
        unsafe { sys::cuStreamDestroy_v2(self.0) };
    }
}

/// A point in the stream.
pub struct Event(sys::CUevent);

// SAFETY: the driver takes an event from any thread.
unsafe impl Send for Event {}
unsafe impl Sync for Event {}

impl Event {
    /// `timed` events know when they happened and cost more.
    pub fn new(timed: bool) -> Done<Self> {
        let flags = if timed { CUevent_flags::CU_EVENT_DEFAULT } else { CUevent_flags::CU_EVENT_DISABLE_TIMING };
        let mut raw = null_mut();
        // SAFETY: a context is current; writes one handle.
        check(unsafe { sys::cuEventCreate(&mut raw, flags as u32) })?;
        Ok(Event(raw))
    }

    pub fn record(&self, stream: &StreamHandle) -> Done<()> {
        // SAFETY: both handles are valid and of one context.
        check(unsafe { sys::cuEventRecord(self.0, stream.0) })
    }

    /// Lets what a stream is told from here on wait for the work before it.
    pub fn hold(&self, stream: &StreamHandle) -> Done<()> {
        // SAFETY: both handles are valid and of one context.
        check(unsafe { sys::cuStreamWaitEvent(stream.0, self.0, 0) })
    }

    /// Whether the work before it is done.
    pub fn is_done(&self) -> Done<bool> {
        // SAFETY: the handle is valid.
        match check(unsafe { sys::cuEventQuery(self.0) }) {
            Ok(()) => Ok(true),
            Err(Failure(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Waits until the work before it is done.
    pub fn wait(&self) -> Done<()> {
        // SAFETY: the handle is valid.
        check(unsafe { sys::cuEventSynchronize(self.0) })
    }

    /// Milliseconds from an earlier event to this one; both timed and done.
    pub fn since(&self, earlier: &Event) -> Done<f64> {
        let mut ms = 0f32;
        // SAFETY: both handles are valid; writes one float.
        check(unsafe { sys::cuEventElapsedTime(&mut ms, earlier.0, self.0) })?;
        Ok(ms as f64)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and not used again; the driver keeps what it still needs of it.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// Host memory that the device reads and writes directly.
pub struct Pinned {
    raw: *mut u32,
    words: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn new(words: usize) -> Done<Self> {
        let mut raw = null_mut();
        // SAFETY: a context is current; writes one pointer.
        check(unsafe { sys::cuMemHostAlloc(&mut raw, words.max(1) * 4, 0) })?;
        // The device may not write all of it, and no word may be read that nobody wrote.
        // SAFETY: the driver gave so many bytes.
        unsafe { std::ptr::write_bytes(raw as *mut u8, 0, words * 4) };
        Ok(Pinned { raw: raw as *mut u32, words })
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// The first `count` words. Only for memory that no copy in flight writes.
    pub fn read(&self, count: usize) -> &[u32] {
        // SAFETY: the memory is `words` long, initialised, aligned to pages, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.raw, count.min(self.words)) }
    }

    /// Words to fill, from `start`. Only where no copy in flight reads.
    pub fn write(&mut self, start: usize, count: usize) -> &mut [u32] {
        let start = start.min(self.words);
        let count = count.min(self.words - start);
        // SAFETY: within the memory, initialised, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.raw.add(start), count) }
    }

    pub fn pointer(&self) -> *mut c_void {
        self.raw as *mut c_void
    }

    pub fn at(&self, word: usize) -> *const c_void {
        debug_assert!(word <= self.words);
        self.raw.wrapping_add(word) as *const c_void
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the memory is the driver's and not used again; the driver waits for copies that use it.
        unsafe { sys::cuMemFreeHost(self.raw as *mut c_void) };
    }
}

/// Memory that kernels read and write.
pub struct DeviceMemory {
    address: CUdeviceptr,
    /// Where the host has it, of the host's own memory.
    host: Option<*mut c_void>,
}

// SAFETY: addresses; what they name is read and written through the driver alone, in the order of a stream.
unsafe impl Send for DeviceMemory {}
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    pub fn new(bytes: usize) -> Done<Self> {
        let mut raw = 0;
        // SAFETY: a context is current; writes one address.
        check(unsafe { sys::cuMemAlloc_v2(&mut raw, bytes.max(4)) })?;
        Ok(DeviceMemory { address: raw, host: None })
    }

    /// Memory of the host that stays where it is, and is mapped for the device: kernels and copies reach it over the bus, those of a graph
    /// too.
    pub fn on_host(bytes: usize) -> Done<Self> {
        let (mut host, mut address) = (null_mut(), 0);
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: a context is current; writes one pointer.
        check(unsafe { sys::cuMemHostAlloc(&mut host, bytes.max(4), flags) })?;
        // SAFETY: the driver gave and mapped the memory; writes one address.
        let found = check(unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) });
        let memory = DeviceMemory { address, host: Some(host) };
        match found {
            Ok(()) => Ok(memory),
            Err(e) => {
                memory.free();
                Err(e)
            }
        }
    }

    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Frees the memory; its context is current. Not done on drop: memory may outlive its context, which frees it.
    pub fn free(self) {
        // SAFETY: the driver gave this memory, nobody names it any more, and the driver waits for work that uses it.
        unsafe {
            match self.host {
                None => sys::cuMemFree_v2(self.address),
                Some(host) => sys::cuMemFreeHost(host),
            }
        };
    }
}

/// Loaded machine code.
pub struct Module(sys::CUmodule);

// SAFETY: the driver takes a module from any thread.
unsafe impl Send for Module {}
unsafe impl Sync for Module {}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Function(pub sys::CUfunction);

// SAFETY: the driver takes a function from any thread.
unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Module {
    /// Loads a cubin, or PTX that ends with a zero: the driver compiles that, or takes it from its own cache.
    pub fn new(image: &[u8]) -> Done<Self> {
        let mut raw = null_mut();
        // SAFETY: a context is current; the image is whole (its checksum was compared, the driver just made it, or it is text with
        // its zero), and the driver copies what it needs.
        check(unsafe { sys::cuModuleLoadData(&mut raw, image.as_ptr() as *const c_void) })?;
        Ok(Module(raw))
    }

    /// Compiles and loads PTX with options, such as where to write what the assembler says.
    pub fn compile(text: &CStr, options: &mut [sys::CUjit_option], values: &mut [*mut c_void]) -> Done<Self> {
        let mut raw = null_mut();
        // There are as many values as options.
        let count = options.len().min(values.len()) as u32;
        // SAFETY: a context is current; the text ends with its zero; what the values name outlives the call, by the caller's borrow.
        check(unsafe {
            sys::cuModuleLoadDataEx(&mut raw, text.as_ptr() as *const c_void, count, options.as_mut_ptr(), values.as_mut_ptr())
        })?;
        Ok(Module(raw))
    }

    pub fn function(&self, name: &str) -> Done<Function> {
        let name = CString::new(name).map_err(|_| Failure(sys::CUresult::CUDA_ERROR_NOT_FOUND))?;
        let mut raw = null_mut();
        // SAFETY: the module is valid; the name ends with a zero; writes one handle.
        check(unsafe { sys::cuModuleGetFunction(&mut raw, self.0, name.as_ptr()) })?;
        Ok(Function(raw))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the handle is valid; whoever runs its kernels holds it.
        unsafe { sys::cuModuleUnload(self.0) };
    }
}
