//! PTX to loaded kernels. The driver compiles; its machine code is kept on disk, with all that it depends on in the name, but for
//! kernels that the driver keeps itself.

use super::driver::{Failure, check};
use super::handles::{Function, Module};
use super::shared::Shared;
use crate::cache::{self, Cache};
use crate::memory::lock;
use aludel_ir::program::{KernelSource, Program};
use aludel_ir::{Error, Result};
use cudarc::driver::sys::{self, CUfunction_attribute, CUjit_option};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes of workgroup memory up to which a kernel declares it itself; all of a larger one's is given at launch.
pub const STATIC_SHARED: u32 = 48 << 10;
/// Counts changes of what a cubin is made of besides the key's other parts.
const FORMAT: &[u8] = b"cubin 1";
/// Bytes that the driver may write about an error.
const LOG: usize = 8 << 10;

/// A kernel ready to launch.
pub struct Kernel {
    pub name: String,
    /// What tells its code from all others, on disk and in this process.
    pub key: String,
    pub id: u64,
    pub function: Function,
    pub block: [u32; 3],
    /// Bytes of workgroup memory to give at launch.
    pub dynamic_shared: u32,
    /// Whether it waits itself for the launches before it.
    pub waits: bool,
    /// Holds the code.
    _module: Option<Module>,
}

impl Kernel {
    /// A kernel without code, for tests of what orders kernels.
    #[cfg(test)]
    pub fn absent() -> Self {
        Kernel {
            name: String::new(),
            key: String::new(),
            id: 0,
            function: Function(null_mut()),
            block: [1; 3],
            dynamic_shared: 0,
            waits: false,
            _module: None,
        }
    }
}

/// The kernels of a device, by their text.
pub struct Kernels {
    loaded: Mutex<HashMap<String, Arc<Kernel>>>,
    disk: Cache,
}

impl Kernels {
    pub fn new(cache: Option<PathBuf>) -> Self {
        Kernels { loaded: Mutex::default(), disk: Cache::new(cache, "cuda") }
    }

    /// The kernels of a program, in its order; those that are new are compiled now, several at once.
    pub fn load(&self, shared: &Shared, program: &Program) -> Result<Vec<Arc<Kernel>>> {
        let keys: Vec<String> = program.kernels.iter().map(|k| key(shared, k)).collect();
        let mut new: Vec<usize> = {
            let loaded = lock(&self.loaded);
            (0..keys.len()).filter(|i| !loaded.contains_key(&keys[*i])).collect()
        };
        new.sort_by_key(|i| &keys[*i]);
        new.dedup_by_key(|i| &keys[*i]);
        // The longest texts first: they take longest, and the last thread to end decides.
        new.sort_by_key(|i| std::cmp::Reverse(program.kernels[*i].source.len()));
        let next = AtomicUsize::new(0);
        let made: Mutex<Vec<(usize, Result<Kernel>)>> = Mutex::default();
        let work = || {
            while let Some(i) = new.get(next.fetch_add(1, Ordering::Relaxed)) {
                let kernel = shared.enter().and_then(|()| self.make(shared, &program.kernels[*i], &keys[*i]));
                lock(&made).push((*i, kernel));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(new.len());
        if threads <= 1 {
            work();
        } else {
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        }
        let mut made = made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Of several errors always the same one.
        made.sort_by_key(|(i, _)| *i);
        let mut loaded = lock(&self.loaded);
        for (i, kernel) in made {
            loaded.insert(keys[i].clone(), Arc::new(kernel?));
        }
        let missing = |i: usize| Error::device(format!("kernel {} was not loaded", program.kernels[i].name), "try again");
        keys.iter().enumerate().map(|(i, k)| loaded.get(k).cloned().ok_or_else(|| missing(i))).collect()
    }

    fn make(&self, shared: &Shared, source: &KernelSource, key: &str) -> Result<Kernel> {
        // An entry that the driver refuses is made again, like one that is broken.
        let known = self.disk.get(key).and_then(|cubin| Module::new(&cubin).ok());
        let module = match known {
            Some(module) => module,
            // Compiled as a whole program. The linker, which alone gives machine code to keep, compiles for further units to call: it then
            // ignores how warpgroups share out registers. Of a whole program, the driver keeps the machine code in a cache of its own.
            None if source.shares_out_registers => said(shared, source, |options, values| {
                let text = CString::new(source.source.as_bytes()).map_err(|_| Failure(sys::CUresult::CUDA_ERROR_INVALID_PTX))?;
                // Compiled once more for what the assembler says, if it fails.
                Module::new(text.to_bytes_with_nul()).or_else(|_| Module::compile(&text, options, values))
            })?,
            None => {
                let cubin = said(shared, source, |options, values| link(source, options, values))?;
                let module = shared.done(&format!("loading {}", source.name), Module::new(&cubin))?;
                self.disk.put(key, &cubin);
                module
            }
        };
        let function = module.function(&source.entry).map_err(|e| e.error(&format!("finding {} in {}", source.entry, source.name)))?;
        let dynamic_shared = if source.shared_bytes > STATIC_SHARED { source.shared_bytes } else { 0 };
        if dynamic_shared > 0 {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is one of a loaded module.
            check(unsafe { sys::cuFuncSetAttribute(function.0, attribute, dynamic_shared as i32) }).map_err(|_| Error::Limit {
                what: format!("workgroup memory of {}", source.name),
                value: format!("{dynamic_shared} bytes"),
                limit: format!("less on {}", shared.device.name),
                remedy: "compile for this device's compute capability".into(),
            })?;
        }
        let id = shared.counters.kernels.fetch_add(1, Ordering::Relaxed);
        Ok(Kernel {
            name: source.name.clone(),
            key: key.to_string(),
            id,
            function,
            waits: source.waits,
            block: source.workgroup_size,
            dynamic_shared,
            _module: Some(module),
        })
    }
}

/// What decides a kernel's machine code. The block and the shared memory are the kernel's, not the code's, but a kernel is
/// kept under this name too.
fn key(shared: &Shared, source: &KernelSource) -> String {
    let device = &shared.device;
    let [x, y, z] = source.workgroup_size;
    let numbers: Vec<u8> =
        [device.driver_version, device.compute_capability, source.shared_bytes, x, y, z].iter().flat_map(|n| n.to_le_bytes()).collect();
    cache::key(&[
        FORMAT,
        device.name.as_bytes(),
        shared.driver_build.as_bytes(),
        &numbers,
        source.entry.as_bytes(),
        source.source.as_bytes(),
    ])
}

/// Keeps the text of a kernel that failed in the directory that `ALUDEL_DUMP` names, if it does.
pub fn dump(source: &KernelSource) {
    if let Some(dir) = std::env::var_os("ALUDEL_DUMP") {
        let file = PathBuf::from(dir).join(format!("{}.ptx", cache::key(&[source.source.as_bytes()])));
        // The failure itself is reported all the same.
        let _ = cache::write_whole(&file, format!("// {}\n{}", source.name, source.source).as_bytes());
    }
}

/// The driver's linker at work; its memory goes when it does.
struct Linker(sys::CUlinkState);

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the state is valid and not used again.
        unsafe { sys::cuLinkDestroy(self.0) };
    }
}

/// Runs the driver's assembler with options. Errors carry what it says.
fn said<T>(
    shared: &Shared,
    source: &KernelSource,
    run: impl FnOnce(&mut [CUjit_option], &mut [*mut c_void]) -> Result<T, Failure>,
) -> Result<T> {
    let mut log = vec![0u8; LOG];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes numbers in the place of pointers.
    let mut values = [log.as_mut_ptr() as *mut c_void, LOG as *mut c_void];
    run(&mut options, &mut values).map_err(|e| {
        let said = String::from_utf8_lossy(&log);
        let said = said.trim_end_matches('\0').trim();
        if e.is_sticky() || e.is_out_of_memory() {
            return shared.done::<()>("compiling a kernel", Err(e)).err().unwrap_or_else(|| e.error("compiling a kernel"));
        }
        dump(source);
        let problem = format!("kernel {} does not assemble on {}: {} {said}", source.name, shared.device.name, e.reason());
        Error::device(problem, "report this, or use another device")
    })
}

fn link(source: &KernelSource, options: &mut [CUjit_option], values: &mut [*mut c_void]) -> Result<Vec<u8>, Failure> {
    let mut text = source.source.clone().into_bytes();
    text.push(0);
    let mut state = null_mut();
    // SAFETY: a context is current; as many values as options; the log that the values name outlives the linker, which is
    // dropped here.
    check(unsafe { sys::cuLinkCreate_v2(options.len() as u32, options.as_mut_ptr(), values.as_mut_ptr(), &mut state) })?;
    let linker = Linker(state);
    let input = sys::CUjitInputType::CU_JIT_INPUT_PTX;
    // SAFETY: the text ends with a zero, which its size counts, and the driver copies it; name and options may be absent.
    check(unsafe {
        sys::cuLinkAddData_v2(linker.0, input, text.as_mut_ptr() as *mut c_void, text.len(), c"kernel".as_ptr(), 0, null_mut(), null_mut())
    })?;
    let (mut cubin, mut size) = (null_mut(), 0);
    // SAFETY: writes a pointer and a size.
    check(unsafe { sys::cuLinkComplete(linker.0, &mut cubin, &mut size) })?;
    // SAFETY: the driver gave so many bytes, which live until the linker is dropped.
    Ok(unsafe { std::slice::from_raw_parts(cubin as *const u8, size) }.to_vec())
}
