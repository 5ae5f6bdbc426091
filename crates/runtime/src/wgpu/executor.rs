//! The device as the rest of Aludel sees it: requesting one, transfers, and waiting.

#[cfg(not(target_arch = "wasm32"))]
use super::disk::Kept;
use super::executable::WgpuExecutable;
use super::memory::{Place, Pool, Range};
use super::shared::{Counters, Faults, Progress, Shared};
use super::transfer::{Read, wait};
use crate::bind::{self, Mover};
use crate::memory::lock;
use crate::{Argument, DeviceInfo, Executable, Executor, LoadingObserver, Pending, Stats, Storage};
use aludel_compiler::Target;
use aludel_ir::graph::Graph;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Which of several adapters to prefer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Power {
    /// The fast one: a discrete GPU before an integrated one.
    #[default]
    High,
    /// The frugal one.
    Low,
}

/// What to ask of an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WgpuOptions {
    pub power: Power,
    /// Only an adapter that runs on the CPU.
    pub software: bool,
    /// Without bindings of f16, also where the adapter has them: f16 then takes the words that it takes elsewhere.
    pub without_f16: bool,
    /// Only an adapter whose name contains this, in whatever case; natively.
    pub adapter: Option<String>,
    /// For tests, natively: a run fails where a kernel writes outside of its tensors, into a band of known words around each or
    /// into another. Launches run one by one, and all memory is read back and compared after each.
    pub guard: bool,
    /// As if the adapter bound no more bytes in one storage buffer: programs then use several.
    pub binding_bytes: Option<u64>,
    /// As if the adapter gave a kernel no more storage buffers.
    pub bindings: Option<u32>,
    /// As if the adapter had no more bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Where compiled pipelines are kept, natively and where the backend can; the user's cache directory (or `ALUDEL_CACHE`) where none
    /// is named.
    pub cache: Option<PathBuf>,
}

/// A WebGPU device.
pub struct WgpuExecutor {
    shared: Arc<Shared>,
}

fn no_adapter(problem: impl Into<String>) -> Error {
    let remedy = if cfg!(target_arch = "wasm32") {
        "use a browser with WebGPU enabled, or train on the CPU"
    } else {
        "install a Vulkan, Metal or DirectX 12 driver, or train on the interpreter"
    };
    Error::device(problem, remedy)
}

fn is_software(info: &wgpu::AdapterInfo) -> bool {
    info.device_type == wgpu::DeviceType::Cpu
}

/// The adapters that can compute, the preferred first.
#[cfg(not(target_arch = "wasm32"))]
async fn adapters(options: &WgpuOptions) -> Vec<wgpu::Adapter> {
    // One instance for the whole process: drivers are loaded once, and some load only so many times.
    static INSTANCE: std::sync::OnceLock<wgpu::Instance> = std::sync::OnceLock::new();
    let instance = INSTANCE.get_or_init(|| wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle()));
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut adapters = instance.enumerate_adapters(backends).await;
    adapters.retain(|a| {
        let info = a.get_info();
        let named = options.adapter.as_ref().is_none_or(|n| info.name.to_ascii_lowercase().contains(&n.to_ascii_lowercase()));
        named && (!options.software || is_software(&info))
    });
    let rank = |a: &wgpu::Adapter| match (a.get_info().device_type, options.power) {
        (wgpu::DeviceType::DiscreteGpu, Power::High) | (wgpu::DeviceType::IntegratedGpu, Power::Low) => 0,
        (wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::DiscreteGpu, _) => 1,
        (wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other, _) => 2,
        (wgpu::DeviceType::Cpu, _) => 3,
    };
    adapters.sort_by_key(rank);
    adapters
}

#[cfg(target_arch = "wasm32")]
async fn adapters(options: &WgpuOptions) -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let request = wgpu::RequestAdapterOptions {
        power_preference: match options.power {
            Power::High => wgpu::PowerPreference::HighPerformance,
            Power::Low => wgpu::PowerPreference::LowPower,
        },
        force_fallback_adapter: options.software,
        ..Default::default()
    };
    instance.request_adapter(&request).await.into_iter().collect()
}

impl WgpuExecutor {
    /// The names of the adapters that [`WgpuExecutor::request`] chooses from, the preferred first. A browser shows one.
    pub async fn available(options: &WgpuOptions) -> Vec<String> {
        adapters(options).await.iter().map(|a| a.get_info().name).collect()
    }

    /// A device of the preferred adapter that the options allow, with all its limits. Errors where there is none.
    pub async fn request(options: &WgpuOptions) -> Result<Self> {
        let wanted = || match &options.adapter {
            Some(name) => format!("no WebGPU adapter whose name contains '{name}'"),
            None => "no WebGPU adapter".to_string(),
        };
        let adapter = adapters(options).await.into_iter().next().ok_or_else(|| no_adapter(wanted()))?;
        let limits = adapter.limits();
        let mut wanted_features =
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SHADER_F16 | wgpu::Features::SUBGROUP | wgpu::Features::PIPELINE_CACHE;
        wanted_features.set(wgpu::Features::SHADER_F16, !options.without_f16);
        let features = adapter.features() & wanted_features;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("aludel"),
                required_features: features,
                required_limits: limits.clone(),
                // Tensors are few and long-lived; the pool does the rest.
                memory_hints: wgpu::MemoryHints::Performance,
                ..Default::default()
            })
            .await
            .map_err(|e| no_adapter(format!("the adapter gives no device: {e}")))?;
        let faults = Arc::new(Faults::default());
        let progress = Arc::new(Progress::default());
        let recorder = faults.clone();
        device.on_uncaptured_error(Arc::new(move |e| recorder.record(e)));
        let (loser, woken) = (faults.clone(), progress.clone());
        device.set_device_lost_callback(move |reason, message| {
            loser.lose(if message.is_empty() { format!("{reason:?}") } else { message });
            woken.wake();
        });
        let info = adapter.get_info();
        let name = adapter_name(&device, &info);
        let software = is_software(&info) || name.to_ascii_lowercase().contains("swiftshader");
        let target = Target {
            max_threads: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
            max_shared_bytes: limits.max_compute_workgroup_storage_size,
            max_bindings: limits.max_storage_buffers_per_shader_stage.min(options.bindings.unwrap_or(u32::MAX)),
            max_groups: limits.max_compute_workgroups_per_dimension,
            max_binding_bytes: binding_bytes(&limits, options),
            software,
            f16_storage: features.contains(wgpu::Features::SHADER_F16),
            ..Target::webgpu_default()
        };
        #[cfg(not(target_arch = "wasm32"))]
        let kept = Kept::open(&device, &info, options.cache.clone());
        let memory_bytes = options.memory_bytes.or_else(|| memory_bytes(&adapter));
        let backend = if info.backend == wgpu::Backend::BrowserWebGpu { "WebGPU".to_string() } else { format!("{:?}", info.backend) };
        let features =
            (features - wgpu::Features::PIPELINE_CACHE).iter_names().map(|(n, _)| n.to_ascii_lowercase().replace('_', "-")).collect();
        let info = DeviceInfo { backend, name, features };
        let shared = Shared {
            device,
            queue,
            limits,
            info,
            target,
            counters: Counters::default(),
            faults,
            progress,
            pool: Pool::default(),
            guard: options.guard,
            memory_bytes,
            observer: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            kept,
            #[cfg(target_arch = "wasm32")]
            unloaded: Mutex::default(),
            trimmed: AtomicBool::new(false),
            pipelines: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            unfinished: Arc::default(),
            stream: Mutex::default(),
        };
        Ok(WgpuExecutor { shared: Arc::new(shared) })
    }

    /// Destroys the device, as losing it would: what tests and the page use to rehearse recovery.
    pub fn destroy(&self) {
        self.shared.device.destroy();
        self.shared.faults.lose("destroyed".into());
        let _ = self.shared.device.poll(wgpu::PollType::Poll);
        self.shared.progress.wake();
    }

    /// Starts reading back; the ticket says when the words have arrived.
    fn read(&self, storage: &Storage) -> Result<Option<Read>> {
        let shared = &self.shared;
        shared.faults.check()?;
        let range = bind::range(shared, storage)?;
        let words = storage.words() as u64;
        if words == 0 {
            return Ok(None);
        }
        let mut stream = lock(&shared.stream);
        let buffer = stream.staging(shared, words)?;
        stream.copy_out(shared, &range.place(), &buffer, words);
        stream.submit(shared);
        drop(stream);
        Ok(Some(Read::start(shared.clone(), buffer, words)))
    }
}

/// A process that ends while a driver compiles on another thread may crash: nothing of the device is left there.
#[cfg(not(target_arch = "wasm32"))]
impl Drop for WgpuExecutor {
    fn drop(&mut self) {
        self.shared.unfinished.wait();
    }
}

/// Bytes of one storage binding. Offsets and indices are of 32 bits, naga has no array of 2^31 bytes or more, and sizes stay a multiple of
/// every alignment.
fn binding_bytes(limits: &wgpu::Limits, options: &WgpuOptions) -> u64 {
    let most = options.binding_bytes.unwrap_or(u64::MAX).min(i32::MAX as u64);
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(most) / 256 * 256
}

/// Bytes of the adapter's own memory, where it has any and the backend tells.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "windows"))]
fn memory_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`.
    const DEVICE_LOCAL: u32 = 1;
    // What shares the system's memory has no bound of its own.
    if adapter.get_info().device_type != wgpu::DeviceType::DiscreteGpu {
        return None;
    }
    // SAFETY: nothing is done with the adapter but to ask what it is.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the instance and its physical device live as long as the adapter, which is borrowed.
    let memory = unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
    let heaps = memory.memory_heaps.iter().take(memory.memory_heap_count as usize);
    heaps.filter(|h| h.flags.as_raw() & DEVICE_LOCAL != 0).map(|h| h.size).max()
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "windows")))]
fn memory_bytes(_: &wgpu::Adapter) -> Option<u64> {
    None
}

/// A browser often gives no description; then the vendor and architecture of its adapter have to do.
#[cfg(target_arch = "wasm32")]
fn adapter_name(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> String {
    let get = |o: &wasm_bindgen::JsValue, key: &str| js_sys::Reflect::get(o, &key.into()).unwrap_or_default();
    let fields = device.as_webgpu().map(|d| {
        let adapter = get(d.as_ref(), "adapterInfo");
        ["vendor", "architecture", "device"].map(|key| get(&adapter, key).as_string().unwrap_or_default())
    });
    let known: Vec<String> = fields.into_iter().flatten().filter(|f| !f.is_empty()).collect();
    match (info.name.is_empty(), known.is_empty()) {
        (false, _) => info.name.clone(),
        (true, false) => known.join(" "),
        (true, true) => "this browser's GPU".into(),
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn adapter_name(_: &wgpu::Device, info: &wgpu::AdapterInfo) -> String {
    info.name.clone()
}

impl Executor for WgpuExecutor {
    fn info(&self) -> DeviceInfo {
        self.shared.info.clone()
    }

    fn target(&self) -> Option<Target> {
        Some(self.shared.target.clone())
    }

    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        self.shared.faults.check()?;
        let missing = || Error::invalid(format!("graph {}", graph.name), "has no program", "compile it for this device's target");
        Ok(Arc::new(WgpuExecutable::new(self.shared.clone(), program.ok_or_else(missing)?)?))
    }

    fn observe_loading(&self, observer: Option<LoadingObserver>) {
        *lock(&self.shared.observer) = observer;
    }

    #[cfg(target_arch = "wasm32")]
    fn ready(&self) -> Pending<()> {
        Box::pin(super::browser::compile(self.shared.clone()))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn ready(&self) -> Pending<()> {
        let slots = lock(&self.shared.pipelines).slots();
        let failed = slots.iter().find_map(|slot| slot.wait().as_ref().err().cloned());
        Box::pin(std::future::ready(failed.map_or(Ok(()), Err)))
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        let shared = &self.shared;
        shared.faults.check()?;
        let mut stream = lock(&shared.stream);
        let place = Place::start(Pool::allocate(shared, words.len() as u64)?);
        stream.write(shared, &place, words)?;
        shared.faults.check()?;
        Ok(Arc::new(Range::new(place, words.len(), false)))
    }

    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        shared.faults.check()?;
        let out = bind::allocate_block(&mut *lock(&shared.stream), shared, contents)?;
        shared.faults.check()?;
        Ok(out)
    }

    fn evacuate(&self, range: &Storage) -> Result<Storage> {
        let shared = &self.shared;
        shared.faults.check()?;
        let out = bind::evacuate(&mut *lock(&shared.stream), shared, range)?;
        shared.faults.check()?;
        Ok(out)
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        match self.read(storage) {
            Ok(Some(read)) => Box::pin(read.finish()),
            Ok(None) => Box::pin(std::future::ready(Ok(Vec::new()))),
            Err(e) => Box::pin(std::future::ready(Err(e))),
        }
    }

    fn flush(&self) {
        lock(&self.shared.stream).submit(&self.shared);
    }

    fn throttle(&self, depth: usize) -> Pending<()> {
        self.flush();
        let shared = self.shared.clone();
        Box::pin(async move {
            std::future::poll_fn(|context| {
                loop {
                    if shared.faults.lost().is_some() || shared.progress.unfinished() <= depth as u64 {
                        return std::task::Poll::Ready(());
                    }
                    // Watch first: what completes in between still wakes.
                    if cfg!(target_arch = "wasm32") {
                        shared.progress.watch(context.waker());
                        if shared.progress.unfinished() > depth as u64 {
                            return std::task::Poll::Pending;
                        }
                        continue;
                    }
                    let first = lock(&shared.stream).awaited(depth);
                    wait(&shared, first);
                }
            })
            .await;
            shared.faults.check()
        })
    }

    fn reset_peak(&self) {
        self.shared.pool.reset_peak();
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn lost(&self) -> Option<String> {
        self.shared.faults.lost()
    }
}
