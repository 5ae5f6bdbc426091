//! A device: where tensors live and operators run, with its caches of compiled operators.

use crate::dispatch::cache::OperatorCache;
use crate::func::FunctionCache;
use aludel_compiler::Target;
use aludel_ir::Result;
use aludel_runtime::{DeviceInfo, Executor, Stats};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that nobody else in the process has.
pub(crate) fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Where tensors live. Cheap to clone; clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    executor: Arc<dyn Executor>,
    target: Option<Target>,
    info: DeviceInfo,
    operators: OperatorCache,
    functions: FunctionCache,
}

impl Device {
    /// The reference interpreter: slow, exact, everywhere.
    pub fn interpreter() -> Device {
        Device::new(Arc::new(aludel_runtime::interp::InterpExecutor::default()))
    }

    /// The GPU through WebGPU (in a browser) or Vulkan, Metal or Direct3D (natively).
    ///
    /// # Errors
    ///
    /// When there is no adapter, or it does not give a device with the limits that kernels need; the error says what to try.
    #[cfg(feature = "wgpu")]
    pub async fn wgpu() -> Result<Device> {
        Ok(Device::new(Arc::new(aludel_runtime::wgpu::WgpuExecutor::request(&aludel_runtime::wgpu::WgpuOptions::default()).await?)))
    }

    /// This machine's CPU, through the system's C compiler.
    ///
    /// # Errors
    ///
    /// When there is no C compiler, which the error says how to install, or the one there is cannot build for this machine.
    #[cfg(all(feature = "cpu", not(target_arch = "wasm32")))]
    pub fn cpu() -> Result<Device> {
        Ok(Device::new(Arc::new(aludel_runtime::cpu::CpuExecutor::new()?)))
    }

    /// The CPU through WebAssembly: the browser's own engine, or natively one that is linked in with the feature `wasmtime`.
    ///
    /// # Errors
    ///
    /// When the engine knows no vectors or gives no memory, or there is none in this build.
    #[cfg(feature = "wasm")]
    pub fn wasm() -> Result<Device> {
        #[cfg(any(feature = "wasmtime", target_arch = "wasm32"))]
        return Ok(Device::new(Arc::new(aludel_runtime::wasm::WasmExecutor::new()?)));
        #[cfg(not(any(feature = "wasmtime", target_arch = "wasm32")))]
        Err(aludel_ir::Error::unsupported("WebAssembly in this build", "build with --features wasmtime"))
    }

    /// An NVIDIA GPU through its driver.
    ///
    /// # Errors
    ///
    /// When there is no driver or GPU, the options name one that there is not, or the driver refuses a context.
    #[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
    pub fn cuda(options: &aludel_runtime::cuda::CudaOptions) -> Result<Device> {
        Ok(Device::new(Arc::new(aludel_runtime::cuda::CudaExecutor::new(options)?)))
    }

    /// A device of any executor.
    pub fn new(executor: Arc<dyn Executor>) -> Device {
        let (target, info) = (executor.target(), executor.info());
        Device(Arc::new(Inner { executor, target, info, operators: OperatorCache::default(), functions: FunctionCache::default() }))
    }

    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// What the compiler knows of the device; `None` for the interpreter.
    pub fn target(&self) -> Option<&Target> {
        self.0.target.as_ref()
    }

    pub fn executor(&self) -> &Arc<dyn Executor> {
        &self.0.executor
    }

    pub(crate) fn functions(&self) -> &FunctionCache {
        &self.0.functions
    }

    /// From here on, an eager operator that comes with many sizes, positions or numbers is compiled once for any, after a few forms that
    /// were compiled as they are: for programs whose sizes are not known beforehand.
    pub fn allow_any_size(&self) {
        self.0.operators.allow_any_size();
    }

    pub(crate) fn operators(&self) -> &OperatorCache {
        &self.0.operators
    }

    /// Exact counts of what the device did so far.
    pub fn stats(&self) -> Stats {
        self.0.executor.stats()
    }

    /// From here on the peak of [`Self::stats`] is the most since now.
    pub fn reset_peak(&self) {
        self.0.executor.reset_peak();
    }

    /// Hands everything issued so far to the device.
    pub fn flush(&self) {
        self.0.executor.flush();
    }

    /// Waits until the kernels of every compiled step are ready to run: see [`aludel_runtime::Executor::ready`].
    ///
    /// # Errors
    ///
    /// A kernel that the device refuses.
    pub async fn ready(&self) -> Result<()> {
        self.0.executor.ready().await
    }

    /// Waits until at most `depth` submissions are unfinished: bounds how far the host runs ahead.
    ///
    /// # Errors
    ///
    /// When the device failed.
    pub async fn throttle(&self, depth: usize) -> Result<()> {
        self.0.executor.throttle(depth).await
    }

    /// The reason, once the device is lost.
    pub fn lost(&self) -> Option<String> {
        self.0.executor.lost()
    }

    /// How many operators (with their types) were compiled for eager use.
    pub fn compiled_operators(&self) -> usize {
        self.0.operators.len()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceInfo { backend, name, .. } = &self.0.info;
        if name.is_empty() || name == backend { f.write_str(backend) } else { write!(f, "{name} ({backend})") }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}
