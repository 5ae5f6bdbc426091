//! The device as the rest of Aludel sees it.

use crate::{Argument, DeviceInfo, Executable, Executor, Pending, Stats, Storage};
use aludel_compiler::Target;
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::sync::Arc;

/// This machine's CPU.
pub struct CpuExecutor {
    info: DeviceInfo,
    target: Target,
}

impl CpuExecutor {
    /// A device of its own memory and order. Errors where there is no C compiler, and names what to install.
    pub fn new() -> Result<Self> {
        Ok(CpuExecutor { info: DeviceInfo { backend: "CPU".into(), name: "CPU".into(), features: Vec::new() }, target: Target::cpu() })
    }
}

fn unfinished<T>() -> Result<T> {
    Err(Error::unsupported("CPU", "use the interpreter"))
}

impl Executor for CpuExecutor {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }
    fn target(&self) -> Option<Target> {
        Some(self.target.clone())
    }
    fn load(&self, _: Arc<Graph>, _: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        unfinished()
    }
    fn upload(&self, _: &[u32]) -> Result<Storage> {
        unfinished()
    }
    fn allocate_block(&self, _: &[Argument]) -> Result<Vec<Storage>> {
        unfinished()
    }
    fn evacuate(&self, _: &Storage) -> Result<Storage> {
        unfinished()
    }
    fn download(&self, _: &Storage) -> Pending<Vec<u32>> {
        Box::pin(std::future::ready(unfinished()))
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
