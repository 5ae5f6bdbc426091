//! The devices of a session: one for each pane, so that each one's counts and memory are its own.

use aludel::Device;
use aludel_protocol::Place;
use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
use std::sync::Arc;

#[derive(Default)]
pub struct Devices {
    gpu: bool,
    made: Vec<Arc<WgpuExecutor>>,
}

fn told(device: &Device, fallback: Option<String>) -> aludel_protocol::Device {
    let info = device.info().clone();
    aludel_protocol::Device { backend: info.backend, name: info.name, features: info.features, fallback }
}

/// This browser's CPU.
#[cfg(feature = "cpu")]
fn cpu() -> Result<Device, String> {
    Device::wasm().map_err(|e| e.to_string())
}

/// The page starts the worker that has it instead.
#[cfg(not(feature = "cpu"))]
fn cpu() -> Result<Device, String> {
    Err("this worker trains on GPUs only: reload the page".into())
}

impl Devices {
    /// What there is to train on: the GPU if it is wanted and works, else this browser's CPU, with the reason. Where this worker does not
    /// have that one, a device without a backend: another worker is to be asked.
    pub async fn survey(&mut self, gpu: bool) -> Result<aludel_protocol::Device, String> {
        self.gpu = gpu;
        let mut fallback = None;
        if gpu {
            match WgpuExecutor::request(&WgpuOptions::default()).await {
                Ok(executor) => {
                    let executor = Arc::new(executor);
                    let device = told(&Device::new(executor.clone()), None);
                    executor.destroy();
                    return Ok(device);
                }
                Err(e) => fallback = Some(format!("{e}.")),
            }
        }
        self.gpu = false;
        if cfg!(feature = "cpu") { Ok(told(&cpu()?, fallback)) } else { Ok(aludel_protocol::Device { fallback, ..Default::default() }) }
    }

    /// A device for what trains in this browser, or is examined here.
    pub async fn make(&mut self, place: &Place) -> Result<Device, String> {
        if !self.gpu || *place == Place::WebAssembly {
            return cpu();
        }
        let executor = Arc::new(WgpuExecutor::request(&WgpuOptions::default()).await.map_err(|e| e.to_string())?);
        self.made.push(executor.clone());
        Ok(Device::new(executor))
    }

    /// Gives all GPU devices back, with their memory. That of a CPU goes with its last tensor.
    pub fn release(&mut self) {
        self.made.drain(..).for_each(|e| e.destroy());
    }

    /// As if the GPU had gone away.
    pub fn lose(&self) {
        self.made.iter().for_each(|e| e.destroy());
    }
}
