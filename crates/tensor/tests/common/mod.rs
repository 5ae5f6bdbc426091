//! Runs tests on every device of this machine.

use aludel_tensor::Device;

/// The GPU of this machine, or its software stand-in; `None`, aloud, where there is neither.
///
/// Tests that run at once share it. It goes with the last of them: drivers do not like to be left open when the process ends.
#[cfg(feature = "wgpu")]
pub fn gpu() -> Option<Device> {
    use aludel_tensor::runtime::Executor;
    use std::sync::{Mutex, Weak};
    static SHARED: Mutex<Option<Weak<dyn Executor>>> = Mutex::new(None);
    let mut shared = SHARED.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(executor) = shared.as_ref().and_then(Weak::upgrade) {
        return Some(Device::new(executor));
    }
    let device = pollster::block_on(Device::wgpu()).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")).ok()?;
    *shared = Some(std::sync::Arc::downgrade(device.executor()));
    Some(device)
}

#[cfg(not(feature = "wgpu"))]
pub fn gpu() -> Option<Device> {
    None
}

/// This machine's CPU; `None`, aloud, where there is no C compiler.
#[cfg(all(feature = "cpu", not(target_arch = "wasm32")))]
pub fn cpu() -> Option<Device> {
    Device::cpu().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()
}

#[cfg(not(all(feature = "cpu", not(target_arch = "wasm32"))))]
pub fn cpu() -> Option<Device> {
    None
}

/// Makes of each `fn(&Device) -> Result<()>` a test on the interpreter, one on WebGPU and one on the CPU.
macro_rules! on_every_device {
    ($($name:ident),* $(,)?) => {
        mod interpreter {
            $(#[test] fn $name() -> aludel_tensor::Result<()> { super::$name(&aludel_tensor::Device::interpreter()) })*
        }
        mod webgpu {
            $(#[test] fn $name() -> aludel_tensor::Result<()> { super::common::gpu().map_or(Ok(()), |d| super::$name(&d)) })*
        }
        mod cpu {
            $(#[test] fn $name() -> aludel_tensor::Result<()> { super::common::cpu().map_or(Ok(()), |d| super::$name(&d)) })*
        }
    };
}
pub(crate) use on_every_device;
