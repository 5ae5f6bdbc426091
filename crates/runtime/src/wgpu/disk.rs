//! Compiled pipelines kept on disk between processes, where the backend gives them out (Vulkan).

use crate::cache::{self, Cache};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is larger is kept no longer: a driver's cache only grows.
const MOST: usize = 256 << 20;

/// The driver's cache of pipelines, and where it lies on disk.
pub struct Kept {
    pipelines: wgpu::PipelineCache,
    entries: Cache,
    key: String,
    /// Pipelines were made since it was written.
    is_new: AtomicBool,
}

impl Kept {
    /// The pipelines that earlier processes left for this adapter and driver, below a directory of the caller's or the user's cache;
    /// `None` where the device cannot keep any.
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo, root: Option<PathBuf>) -> Option<Kept> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = wgpu::util::pipeline_cache_key(info)?;
        let key = cache::key(&[adapter.as_bytes(), info.name.as_bytes(), info.driver.as_bytes(), info.driver_info.as_bytes()]);
        let entries = Cache::new(root, "wgpu");
        let data = entries.get(&key);
        let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: data.as_deref(), fallback: true };
        // SAFETY: the data is what `get_data` gave for an adapter and driver of this name: entries carry a checksum, and only `save` writes
        // them. wgpu looks at its header and begins anew where that does not fit.
        let pipelines = unsafe { device.create_pipeline_cache(&descriptor) };
        Some(Kept { pipelines, entries, key, is_new: AtomicBool::new(false) })
    }

    pub fn pipelines(&self) -> &wgpu::PipelineCache {
        &self.pipelines
    }

    /// Notes that pipelines were made.
    pub fn grow(&self) {
        self.is_new.store(true, Ordering::Relaxed);
    }

    /// Writes what was made since the last time. What cannot be written is compiled again by the next process.
    pub fn save(&self) {
        if !self.is_new.swap(false, Ordering::Relaxed) {
            return;
        }
        if let Some(data) = self.pipelines.get_data().filter(|d| d.len() <= MOST) {
            self.entries.put(&self.key, &data);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.save();
    }
}
