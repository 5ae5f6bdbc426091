//! The device as the rest of Aludel sees it: requesting one, transfers, and waiting.

use super::driver;
use crate::{Argument, DeviceInfo, Executable, Executor, Pending, Stats, Storage};
use aludel_compiler::{MatmulPrecision, Target};
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// Which GPU, and how it computes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CudaOptions {
    /// The position of the GPU among [`super::devices`].
    pub device: usize,
    /// What matrix products of f32 may give up for speed; as PyTorch, nothing unless asked.
    pub matmul_precision: MatmulPrecision,
    /// Where compiled kernels are kept; the user's cache directory (or `ALUDEL_CACHE`) where none is named.
    pub cache: Option<PathBuf>,
}

/// An NVIDIA GPU.
pub struct CudaExecutor {
    info: DeviceInfo,
    target: Target,
}

impl CudaExecutor {
    /// A device of its own context. Errors: no driver, one that is too old, no such GPU, one below compute capability 8.0.
    pub fn new(options: &CudaOptions) -> Result<Self> {
        let device = driver::describe(options.device, driver::version()?)?;
        let target = Target::cuda(device.compute_capability, options.matmul_precision);
        let info = DeviceInfo { backend: "CUDA".into(), name: device.name, features: Vec::new() };
        Ok(CudaExecutor { info, target })
    }
}

impl Executor for CudaExecutor {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn target(&self) -> Option<Target> {
        Some(self.target.clone())
    }

    fn load(&self, _: Arc<Graph>, _: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        Err(Error::unsupported("CUDA", "use --device cpu"))
    }
    fn upload(&self, _: &[u32]) -> Result<Storage> {
        Err(Error::unsupported("CUDA", "use --device cpu"))
    }
    fn allocate_block(&self, _: &[Argument]) -> Result<Vec<Storage>> {
        Err(Error::unsupported("CUDA", "use --device cpu"))
    }
    fn evacuate(&self, _: &Storage) -> Result<Storage> {
        Err(Error::unsupported("CUDA", "use --device cpu"))
    }
    fn download(&self, _: &Storage) -> Pending<Vec<u32>> {
        Box::pin(std::future::ready(Err(Error::unsupported("CUDA", "use --device cpu"))))
    }
    fn flush(&self) {}
    fn throttle(&self, _: usize) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }
    fn stats(&self) -> Stats {
        Stats::default()
    }
    fn lost(&self) -> Option<String> {
        None
    }
}
