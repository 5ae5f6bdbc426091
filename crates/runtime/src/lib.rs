//! Program to running kernels: the [`Executor`] trait, and the executors behind it.
//!
//! Tensors are [`Storage`]: shared, immutable ranges of device memory. Everything is asynchronous on the device and ordered
//! as it was issued; only reading waits. Storage counts 32-bit words (see `aludel_ir::program`). On the host an element is a word of its
//! own ([`encode`], [`decode`]); [`Executor::device_words`] and [`Executor::host_words`] convert between the two.

use aludel_compiler::Target;
use aludel_ir::graph::Graph;
use aludel_ir::program::{Program, blocks};
use aludel_ir::{DType, Error, Result};
use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasm"))]
mod bind;
#[cfg(all(any(feature = "wgpu", feature = "cpu", feature = "cuda"), not(target_arch = "wasm32")))]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
mod cache;
#[cfg(not(target_arch = "wasm32"))]
pub mod collective;
#[cfg(any(all(feature = "cpu", not(target_arch = "wasm32")), feature = "wasmtime", all(feature = "wasm", target_arch = "wasm32")))]
mod counters;
#[cfg(all(feature = "cpu", not(target_arch = "wasm32")))]
pub mod cpu;
#[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
pub mod cuda;
#[cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasm"))]
#[cfg_attr(not(any(feature = "wgpu", feature = "cpu", feature = "wasm")), allow(dead_code))]
mod guard;
pub mod interp;
#[cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasm"))]
#[cfg_attr(not(any(feature = "wgpu", feature = "cuda")), allow(dead_code))]
mod measure;
#[cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasm"))]
mod memory;
#[cfg(any(feature = "wasmtime", all(feature = "wasm", target_arch = "wasm32")))]
pub mod wasm;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(all(any(feature = "wgpu", feature = "cpu", feature = "cuda"), not(target_arch = "wasm32")))]
pub use self::cache::directory as cache_directory;
#[cfg(all(feature = "cpu", not(target_arch = "wasm32")))]
pub use self::cpu::CpuExecutor;
#[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
pub use self::cuda::{CudaExecutor, CudaOptions};
#[cfg(any(feature = "wasmtime", all(feature = "wasm", target_arch = "wasm32")))]
pub use self::wasm::WasmExecutor;
#[cfg(feature = "wgpu")]
pub use self::wgpu::{Power, WgpuExecutor, WgpuOptions};
pub use interp::InterpExecutor;

/// A range of device memory that holds one tensor. Goes back to the executor's pool when the last clone is dropped.
pub trait Memory: Any + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    /// Size in 32-bit words.
    fn words(&self) -> usize;
}

pub type Storage = Arc<dyn Memory>;

/// Words to copy from one storage to another; all in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub to: usize,
    pub from: usize,
    pub words: usize,
}

/// An operand: words on the host as the device keeps them, uploaded with the call, or a tensor on the device.
#[derive(Clone)]
pub enum Argument {
    Host(Arc<[u32]>),
    Device(Storage),
}

impl Argument {
    /// Size in 32-bit words.
    pub fn words(&self) -> usize {
        match self {
            Argument::Host(words) => words.len(),
            Argument::Device(storage) => storage.words(),
        }
    }
}

/// Work that ends later. Not `Send`: on the web it is bound to its thread.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// What a device is, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// `WebGPU`, `Vulkan`, `Interpreter`.
    pub backend: String,
    /// The adapter's own name.
    pub name: String,
    pub features: Vec<String>,
}

/// Exact counts since the executor was made: what tests pin and the page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub dispatches: u64,
    pub submits: u64,
    pub buffers_created: u64,
    pub bind_groups_created: u64,
    pub pipelines_created: u64,
    /// Bytes that kernels read and write, each buffer of a launch counted once.
    pub bytes_moved: u64,
    /// Bytes of device memory now in use by tensors and arenas, and the most so far.
    pub bytes_in_use: u64,
    pub peak_bytes: u64,
}

/// How far a device is with compiling the kernels of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loading {
    pub program: String,
    /// Kernels that are compiled, of those that were not known.
    pub done: usize,
    pub total: usize,
}

/// Hears of it while it happens, on whichever thread compiles.
pub type LoadingObserver = Arc<dyn Fn(&Loading) + Send + Sync>;

/// A graph ready to run.
pub trait Executable: Send + Sync {
    /// Runs once. `sizes` has a value for each symbol of the graph; `inputs` are the graph's, in order.
    ///
    /// Gives one storage for each output of the graph. For an output that updates input `i`: when that input is a state of a
    /// block (see [`Executor::allocate_block`]) the update happens in place and the input's own storage comes back; otherwise
    /// the input keeps its value and the new one comes back. A program may use any part of a block, in any order, as long as
    /// all its state lies in that one block; else its state is copied in on every run.
    ///
    /// Returns before the device is done. A step is handed to the device at once; single operators wait for
    /// [`Executor::flush`], a download, or until enough have come together.
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>>;

    /// Runs once as [`Executable::run`] does, and times each launch of the program by itself, in milliseconds: slower than a
    /// run, since nothing overlaps. Browsers round what they measure. An error where the device cannot tell.
    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        let _ = (sizes, inputs);
        Err(Error::unsupported("timing kernels on this device", "time many steps instead"))
    }

    /// The compiled program; `None` on the interpreter.
    fn program(&self) -> Option<&Arc<Program>>;
}

/// One device.
pub trait Executor: Send + Sync {
    fn info(&self) -> DeviceInfo;

    /// What the compiler needs to know of the device; `None` when it interprets graphs and needs no program.
    fn target(&self) -> Option<Target>;

    /// Makes a graph ready: builds pipelines for its program, or keeps the graph for the interpreter. Equal kernels share a
    /// pipeline across programs.
    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>>;

    /// Whom to tell how far the kernels of a whole step are, where they are compiled one by one; `None`: nobody. Once before the first
    /// kernel, then after each, on whichever thread that is; not where all are known already.
    fn observe_loading(&self, observer: Option<LoadingObserver>) {
        let _ = observer;
    }

    /// Ends when the kernels of every step loaded so far are compiled. A step that runs before is right too: natively it waits by itself;
    /// a browser compiles beside the page only if somebody waits for this, else its GPU process compiles first.
    ///
    /// # Errors
    ///
    /// A kernel that the device refuses.
    fn ready(&self) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Puts words, as the device keeps them, on the device.
    fn upload(&self, words: &[u32]) -> Result<Storage>;

    /// Whether two elements of a type share a word on this device.
    fn is_narrow(&self, dtype: DType) -> bool {
        self.target().is_some_and(|t| t.element_bytes(dtype) == 2)
    }

    /// Words of one element each as the device keeps them.
    fn device_words<'a>(&self, words: &'a [u32], dtype: DType) -> Cow<'a, [u32]> {
        if self.is_narrow(dtype) { Cow::Owned(pack(words, dtype)) } else { Cow::Borrowed(words) }
    }

    /// So many elements that the device keeps, as words of one element each.
    fn host_words(&self, words: Vec<u32>, dtype: DType, count: usize) -> Vec<u32> {
        if self.is_narrow(dtype) { unpack(&words, dtype, count) } else { words }
    }

    /// One allocation with a range for each size (in words), laid out as a program lays out its state: the ranges can be
    /// bound as one and updated in place. Contents start as the arguments'.
    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>>;

    /// As [`Executor::allocate_block`], for the state of a program, given with its types in the order of its inputs: a block for each of the
    /// program's state bindings ([`Target::separates`], [`blocks`]). A range for each, in their order.
    fn allocate_state(&self, contents: &[(DType, Argument)]) -> Result<Vec<Storage>> {
        self.allocate_blocks(contents, &mut |block| self.allocate_block(block))
    }

    /// As [`Executor::allocate_state`], for state in the host's memory where the device's kernels read and write that
    /// ([`Target::offloads`]); elsewhere the same.
    fn allocate_offloaded(&self, contents: &[(DType, Argument)]) -> Result<Vec<Storage>> {
        self.allocate_state(contents)
    }

    /// The blocks of [`Executor::allocate_state`], each made by `allocate`.
    #[doc(hidden)]
    fn allocate_blocks(
        &self,
        contents: &[(DType, Argument)],
        allocate: &mut dyn FnMut(&[Argument]) -> Result<Vec<Storage>>,
    ) -> Result<Vec<Storage>> {
        let target = self.target();
        let apart = |d: DType| target.as_ref().is_some_and(|t| t.separates(d));
        let limit = target.as_ref().map_or(u64::MAX, |t| t.max_binding_bytes / 4);
        let mut out: Vec<Option<Storage>> = vec![None; contents.len()];
        for separate in [false, true] {
            let own: Vec<usize> = (0..contents.len()).filter(|i| apart(contents[*i].0) == separate).collect();
            let mut rest = &own[..];
            for block in blocks(own.iter().map(|i| contents[*i].1.words() as u64), limit).chunk_by(|a, b| a == b) {
                let (now, later) = rest.split_at(block.len());
                let ranges = allocate(&now.iter().map(|i| contents[*i].1.clone()).collect::<Vec<_>>())?;
                now.iter().zip(ranges).for_each(|(i, s)| out[*i] = Some(s));
                rest = later;
            }
        }
        Ok(out.into_iter().flatten().collect())
    }

    /// Moves the contents of a state range elsewhere, so that whoever still holds it keeps the value while the range is
    /// updated in place; gives a new handle for the range.
    fn evacuate(&self, range: &Storage) -> Result<Storage>;

    /// Copies runs of words of one storage into another, in the order of what was issued before and after: whoever holds the other one
    /// sees them. False where the device does not do that.
    fn copy_runs(&self, into: &Storage, from: &Storage, runs: &[Run]) -> Result<bool> {
        let _ = (into, from, runs);
        Ok(false)
    }

    /// Whether [`Executor::download`] is done when it returns: the device computes where its host does, before a run returns.
    fn reads_at_once(&self) -> bool {
        false
    }

    /// The words as the device keeps them, once all work issued before is done.
    fn download(&self, storage: &Storage) -> Pending<Vec<u32>>;

    /// Hands everything issued so far to the device.
    fn flush(&self);

    /// Ends when at most `depth` submissions are unfinished: bounds how far the host runs ahead.
    fn throttle(&self, depth: usize) -> Pending<()>;

    /// Lets programs of this device run the collectives of a group: those of its name and size.
    ///
    /// # Errors
    ///
    /// A device that runs no collectives.
    #[cfg(not(target_arch = "wasm32"))]
    fn join(&self, group: Arc<dyn collective::ProcessGroup>) -> Result<()> {
        let what = format!("collectives of group {} on {}", group.name(), self.info().name);
        Err(Error::unsupported(what, "train on the CPU"))
    }

    /// Joins the group of all processes of a run by the device's own engine; gives the rank and how many there are.
    ///
    /// # Errors
    ///
    /// A device that has none; a rank that is missing after the time-out, with its number.
    #[cfg(not(target_arch = "wasm32"))]
    fn join_world(&self, name: &str, world: &collective::World, timeout: std::time::Duration) -> Result<(usize, usize)> {
        let _ = timeout;
        if world.size == 1 {
            return Ok((0, 1));
        }
        let what = format!("rank {} of {} in group {name} on {}", world.rank, world.size, self.info().name);
        Err(Error::unsupported(what, "train on the CPU, or on CUDA in a build with the feature `nccl`"))
    }

    /// Makes a group of some ranks of one that the device has joined, by their numbers in that, and joins it; gives the rank in it, where this
    /// is one. All ranks of `of` come to this, in the same order.
    ///
    /// # Errors
    ///
    /// A device that runs no collectives; a name that is taken; ranks that are none, make another group, are missing or have ended.
    #[cfg(not(target_arch = "wasm32"))]
    fn split(&self, of: &str, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
        let _ = ranks;
        let what = format!("group {name} of some ranks of {of} on {}", self.info().name);
        Err(Error::unsupported(what, "train on the CPU, or on CUDA"))
    }

    fn stats(&self) -> Stats;

    /// From here on [`Stats::peak_bytes`] is the most since now.
    fn reset_peak(&self);

    /// `Some(reason)` once the device is lost: no later call succeeds, tensors on it are gone.
    fn lost(&self) -> Option<String>;
}

/// Two elements of f16 or bf16, given as f32, in each word, the first in its lower half.
fn pack(words: &[u32], dtype: DType) -> Vec<u32> {
    let half = |w: &u32| match dtype {
        DType::F16 => half::f16::from_f32(f32::from_bits(*w)).to_bits() as u32,
        _ => half::bf16::from_f32(f32::from_bits(*w)).to_bits() as u32,
    };
    words.chunks(2).map(|pair| half(&pair[0]) | pair.get(1).map_or(0, half) << 16).collect()
}

/// The f32 of so many elements of f16 or bf16, two in each word.
fn unpack(words: &[u32], dtype: DType, count: usize) -> Vec<u32> {
    let halves = words.iter().flat_map(|w| [*w as u16, (*w >> 16) as u16]).take(count);
    match dtype {
        DType::F16 => halves.map(|h| half::f16::from_bits(h).to_f32().to_bits()).collect(),
        _ => halves.map(|h| half::bf16::from_bits(h).to_f32().to_bits()).collect(),
    }
}

/// So many zeros, which take no memory until they are written to.
pub fn zeroed(words: usize) -> Arc<[u32]> {
    // SAFETY: the memory is zeroed, and four zero bytes are a `u32`.
    unsafe { Arc::new_zeroed_slice(words).assume_init() }
}

/// Host values as words of one element each.
pub fn encode(values: &[f64], dtype: DType) -> Vec<u32> {
    values
        .iter()
        .map(|v| match dtype {
            DType::F32 | DType::F16 | DType::BF16 => (dtype.round(*v) as f32).to_bits(),
            DType::I32 => dtype.round(*v) as i32 as u32,
            DType::U32 => dtype.round(*v) as u32,
            DType::Bool => (*v != 0.0) as u32,
        })
        .collect()
}

/// Words of one element each as host values.
pub fn decode(words: &[u32], dtype: DType) -> Vec<f64> {
    words
        .iter()
        .map(|w| match dtype {
            DType::F32 | DType::F16 | DType::BF16 => f32::from_bits(*w) as f64,
            DType::I32 => *w as i32 as f64,
            DType::U32 => *w as f64,
            DType::Bool => (*w != 0) as u8 as f64,
        })
        .collect()
}
