//! The devices of a session: one for each pane, so that each one's counts and memory are its own.

use aludel::Device;
use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
use std::sync::Arc;

#[derive(Default)]
pub struct Devices {
    gpu: bool,
    made: Vec<Arc<WgpuExecutor>>,
}

impl Devices {
    /// What there is to train on: the GPU if it is wanted and works, else the interpreter, with the reason.
    pub async fn survey(&mut self, gpu: bool) -> aludel_protocol::Device {
        self.gpu = gpu;
        let mut fallback = None;
        if gpu {
            match WgpuExecutor::request(&WgpuOptions::default()).await {
                Ok(executor) => {
                    let executor = Arc::new(executor);
                    let info = Device::new(executor.clone()).info().clone();
                    executor.destroy();
                    return aludel_protocol::Device { backend: info.backend, name: info.name, features: info.features, fallback };
                }
                Err(e) => fallback = Some(format!("{e}.")),
            }
        }
        self.gpu = false;
        aludel_protocol::Device { backend: "Interpreter".into(), name: "on the CPU".into(), features: Vec::new(), fallback }
    }

    pub async fn make(&mut self) -> Result<Device, String> {
        if !self.gpu {
            return Ok(Device::interpreter());
        }
        let executor = Arc::new(WgpuExecutor::request(&WgpuOptions::default()).await.map_err(|e| e.to_string())?);
        self.made.push(executor.clone());
        Ok(Device::new(executor))
    }

    /// Gives all devices back, with their memory.
    pub fn release(&mut self) {
        self.made.drain(..).for_each(|e| e.destroy());
    }

    /// As if the GPU had gone away.
    pub fn lose(&self) {
        self.made.iter().for_each(|e| e.destroy());
    }
}
