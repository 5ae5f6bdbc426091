//! Runs tests on every device of this machine.

use aludel_tensor::Device;

/// The GPU of this machine, or its software stand-in; `None`, aloud, where there is neither.
#[cfg(feature = "wgpu")]
pub fn gpu() -> Option<&'static Device> {
    static GPU: std::sync::OnceLock<Option<Device>> = std::sync::OnceLock::new();
    GPU.get_or_init(|| pollster::block_on(Device::wgpu()).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")).ok()).as_ref()
}

#[cfg(not(feature = "wgpu"))]
pub fn gpu() -> Option<&'static Device> {
    None
}

/// Makes of each `fn(&Device) -> Result<()>` a test on the interpreter and one on WebGPU.
macro_rules! on_every_device {
    ($($name:ident),* $(,)?) => {
        mod interpreter {
            $(#[test] fn $name() -> aludel_tensor::Result<()> { super::$name(&aludel_tensor::Device::interpreter()) })*
        }
        mod webgpu {
            $(#[test] fn $name() -> aludel_tensor::Result<()> { super::common::gpu().map_or(Ok(()), super::$name) })*
        }
    };
}
pub(crate) use on_every_device;
