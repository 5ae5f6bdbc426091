//! The driver: its library, found when the program runs, its devices, and its errors.

use aludel_ir::{Error, Result};
use cudarc::driver::sys::{self, CUresult};
use std::ffi::CStr;
use std::sync::OnceLock;

/// What to do where there is no driver.
const INSTALL: &str = "install an NVIDIA driver (version 525 or later), or use --device cpu";

/// The oldest driver, as `cuDriverGetVersion` counts, that has all functions used here: CUDA 12.0.
const OLDEST: i32 = 12_000;

/// A GPU that CUDA can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaDevice {
    /// Its position, which [`super::CudaOptions::device`] names.
    pub index: usize,
    pub name: String,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Compute capability times ten: 90 for Hopper.
    pub compute_capability: u32,
    /// Units that run workgroups.
    pub multiprocessors: u32,
    /// The newest CUDA version that the driver knows: 13000 for 13.0.
    pub driver_version: u32,
}

/// A call of the driver that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure(pub CUresult);

/// A driver call's result.
pub(super) fn check(result: CUresult) -> Result<(), Failure> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Failure(result)) }
}

impl Failure {
    /// The driver's own words.
    pub fn reason(self) -> String {
        let mut text = std::ptr::null();
        // SAFETY: the driver is loaded, or there were no failure; it gives a pointer to static text, or fails.
        let found = unsafe { sys::cuGetErrorString(self.0, &mut text) };
        if found != CUresult::CUDA_SUCCESS || text.is_null() {
            return format!("CUDA error {}", self.0 as u32);
        }
        // SAFETY: a text of the driver ends with a zero and lives as long as the library, which is never unloaded.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} (CUDA error {})", text.to_string_lossy(), self.0 as u32)
    }

    pub fn is_out_of_memory(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// Whether every later call fails too: the context is lost, and by the driver's rules all others of the process with it.
    pub fn is_sticky(self) -> bool {
        use CUresult::*;
        matches!(
            self.0,
            CUDA_ERROR_ILLEGAL_ADDRESS
                | CUDA_ERROR_LAUNCH_FAILED
                | CUDA_ERROR_LAUNCH_TIMEOUT
                | CUDA_ERROR_MISALIGNED_ADDRESS
                | CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUDA_ERROR_INVALID_PC
                | CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUDA_ERROR_ASSERT
                | CUDA_ERROR_ECC_UNCORRECTABLE
                | CUDA_ERROR_NVLINK_UNCORRECTABLE
                | CUDA_ERROR_CONTEXT_IS_DESTROYED
                | CUDA_ERROR_DEVICE_UNAVAILABLE
                | CUDA_ERROR_EXTERNAL_DEVICE
                | CUDA_ERROR_DEINITIALIZED
                | CUDA_ERROR_UNKNOWN
        )
    }

    /// The error of a call that was made to `doing` something.
    pub fn error(self, doing: &str) -> Error {
        let remedy = match () {
            () if self.is_out_of_memory() => "use a smaller batch or model, or free tensors",
            () if self.is_sticky() => "restart the program and restore the last snapshot",
            () => "try again, or use another device",
        };
        Error::device(format!("{doing} failed: {}", self.reason()), remedy)
    }
}

/// Loads the driver once; the CUDA version it knows.
pub(super) fn version() -> Result<i32> {
    static VERSION: OnceLock<Result<i32>> = OnceLock::new();
    VERSION.get_or_init(load).clone()
}

fn load() -> Result<i32> {
    let missing = |problem: String| Err(Error::device(problem, INSTALL));
    // SAFETY: looks for the library under the names it is installed by; loading it runs the driver's own initialisers only.
    if !unsafe { sys::is_culib_present() } {
        return missing("no NVIDIA driver found".into());
    }
    // SAFETY: the library is there; the call takes no pointers.
    if let Err(e) = check(unsafe { sys::cuInit(0) }) {
        return missing(format!("the NVIDIA driver finds no GPU: {}", e.reason()));
    }
    let mut version = 0;
    // SAFETY: writes one integer.
    check(unsafe { sys::cuDriverGetVersion(&mut version) }).map_err(|e| e.error("asking for the driver's version"))?;
    if version < OLDEST {
        return Err(Error::device(
            format!("the NVIDIA driver knows CUDA {}.{} at most", version / 1000, version % 1000 / 10),
            "install version 525 or later, which knows CUDA 12.0",
        ));
    }
    Ok(version)
}

/// The GPUs that CUDA can use; none without a driver.
pub fn devices() -> Vec<CudaDevice> {
    let Ok(version) = version() else { return Vec::new() };
    let mut count = 0;
    // SAFETY: the driver is initialised; writes one integer.
    if check(unsafe { sys::cuDeviceGetCount(&mut count) }).is_err() {
        return Vec::new();
    }
    (0..count.max(0) as usize).filter_map(|index| describe(index, version).ok()).collect()
}

/// The driver's handle of a device.
pub(super) fn device(index: usize) -> Result<sys::CUdevice> {
    version()?;
    let mut device = 0;
    // SAFETY: the driver is initialised; writes one integer.
    let found = check(unsafe { sys::cuDeviceGet(&mut device, i32::try_from(index).unwrap_or(i32::MAX)) });
    found.map(|()| device).map_err(|_| {
        let names: Vec<String> = devices().iter().map(|d| format!("{} ({})", d.index, d.name)).collect();
        let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        Error::invalid(format!("CUDA device {index}"), format!("is not there; there are: {there}"), "name one of them, or use --device cpu")
    })
}

/// An attribute of a device.
pub(super) fn attribute(device: sys::CUdevice, attribute: sys::CUdevice_attribute) -> Result<i32, Failure> {
    let mut value = 0;
    // SAFETY: the device is one that the driver gave; writes one integer.
    check(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) })?;
    Ok(value)
}

/// What a device is.
pub(super) fn describe(index: usize, version: i32) -> Result<CudaDevice> {
    use sys::CUdevice_attribute::*;
    let handle = device(index)?;
    let failed = |e: Failure| e.error("describing a GPU");
    let mut name = [0 as std::ffi::c_char; 256];
    // SAFETY: the device is one that the driver gave; the name is cut to the buffer's size and ends with a zero.
    check(unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, handle) }).map_err(failed)?;
    let mut memory = 0;
    // SAFETY: as above; writes one integer.
    check(unsafe { sys::cuDeviceTotalMem_v2(&mut memory, handle) }).map_err(failed)?;
    let major = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).map_err(failed)?;
    let minor = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).map_err(failed)?;
    let multiprocessors = attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).map_err(failed)?;
    // SAFETY: the driver ended the name with a zero within the buffer.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    Ok(CudaDevice {
        index,
        name,
        memory_bytes: memory as u64,
        compute_capability: (major * 10 + minor).max(0) as u32,
        multiprocessors: multiprocessors.max(1) as u32,
        driver_version: version as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_is_told_what_to_install() {
        match version() {
            Ok(v) => assert!(v >= OLDEST),
            Err(e) => {
                assert!(devices().is_empty());
                assert!(e.to_string().contains("driver"), "{e}");
                assert!(device(0).is_err());
            }
        }
    }
}
