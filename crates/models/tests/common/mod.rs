//! What several of these tests share.

use aludel_tensor::Device;

/// Every kind of device that this build and machine have; what is missing is said aloud.
pub fn devices() -> Vec<Device> {
    #[allow(unused_mut)]
    let mut devices = vec![Device::interpreter()];
    #[cfg(feature = "cpu")]
    devices.push(Device::cpu().unwrap());
    #[cfg(feature = "wgpu")]
    match pollster::block_on(Device::wgpu()) {
        Ok(d) => devices.push(d),
        Err(e) => eprintln!("SKIPPED, no WebGPU here: {e}"),
    }
    devices
}
