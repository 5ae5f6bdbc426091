//! What the GPUs are doing, from NVML, which comes with the driver and is looked for when the program runs.

use nvml_wrapper::Nvml;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// A GPU at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuUsage {
    /// Its position as NVML counts, by bus; `CUDA_VISIBLE_DEVICES` does not change it.
    pub index: usize,
    pub name: String,
    /// The share of the last sample period in which a kernel ran, in percent.
    pub busy_percent: u32,
    /// Bytes of device memory that all processes use, and all there are.
    pub memory_used: u64,
    pub memory_total: u64,
}

/// All GPUs of the machine; none without a driver. Takes about a millisecond.
pub fn usage() -> Vec<GpuUsage> {
    let Some(nvml) = nvml() else { return Vec::new() };
    let count = nvml.device_count().unwrap_or(0);
    let look = |index: u32| {
        let device = nvml.device_by_index(index).ok()?;
        let memory = device.memory_info().ok()?;
        Some(GpuUsage {
            index: index as usize,
            name: device.name().unwrap_or_default(),
            busy_percent: device.utilization_rates().map_or(0, |u| u.gpu),
            memory_used: memory.used,
            memory_total: memory.total,
        })
    };
    (0..count).filter_map(look).collect()
}

/// The driver's version to the last digit, as `nvidia-smi` shows it.
pub(super) fn driver_build() -> Option<String> {
    nvml()?.sys_driver_version().ok()
}

fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(load).as_ref()
}

/// The library under its ordinary name, or the one by which a driver without development files installs it.
fn load() -> Option<Nvml> {
    Nvml::init().or_else(|_| Nvml::builder().lib_path(OsStr::new("libnvidia-ml.so.1")).init()).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn usage_is_plausible_or_absent() {
        for gpu in super::usage() {
            assert!(gpu.busy_percent <= 100 && gpu.memory_used <= gpu.memory_total, "{gpu:?}");
        }
    }
}
