//! The engine that is linked in: wasmtime, whose compiler is Cranelift.

use super::{Call, outside};
use aludel_compiler::codegen::wasm::{ENTRY, MOST_PAGES};
use aludel_ir::{Error, Result};
use std::time::Instant;
use wasmtime::{Extern, Instance, Memory, MemoryType, Module, Store, TypedFunc};

pub(super) struct Engine {
    store: Store<()>,
    memory: Memory,
    since: Instant,
}

/// A kernel's function.
#[derive(Clone)]
pub(super) struct Kernel(TypedFunc<(u32, u32, u32, u32, u32), ()>);

/// What the engine is called.
pub(super) const NAME: &str = "wasmtime";

/// Threads that may run a kernel at once.
pub(super) fn threads() -> u32 {
    1
}

/// Whether a product and a sum of vectors are one instruction.
pub(super) fn fuses() -> bool {
    true
}

impl Engine {
    /// An engine for so many threads: there is one.
    pub fn new(_threads: u32) -> Result<Self> {
        let mut store = Store::<()>::default();
        let ty = MemoryType::new(0, None);
        let memory = Memory::new(&mut store, ty).map_err(|e| Error::device(format!("no memory for WebAssembly: {e}"), "free some"))?;
        Ok(Engine { store, memory, since: Instant::now() })
    }

    /// Bytes of memory there are.
    pub fn bytes(&self) -> u64 {
        self.memory.data_size(&self.store) as u64
    }

    /// Makes the memory larger.
    pub fn grow(&mut self, pages: u64) -> Result<()> {
        let total = self.memory.size(&self.store).saturating_add(pages);
        let grown = if total > MOST_PAGES { None } else { self.memory.grow(&mut self.store, pages).ok() };
        grown.map(drop).ok_or_else(|| Error::device("out of memory of WebAssembly", "use a smaller batch or model"))
    }

    pub fn write(&mut self, at: u64, words: &[u32]) -> Result<()> {
        let to = self.memory.data_mut(&mut self.store).get_mut(at as usize..).and_then(|d| d.get_mut(..words.len() * 4));
        to.ok_or_else(|| outside(at, words.len()))?.copy_from_slice(bytemuck::cast_slice(words));
        Ok(())
    }

    pub fn read(&mut self, at: u64, words: usize) -> Result<Vec<u32>> {
        let from = self.memory.data(&self.store).get(at as usize..).and_then(|d| d.get(..words.checked_mul(4)?));
        let mut out = vec![0u32; words];
        bytemuck::cast_slice_mut(&mut out).copy_from_slice(from.ok_or_else(|| outside(at, words))?);
        Ok(out)
    }

    pub fn copy(&mut self, from: u64, to: u64, words: usize) -> Result<()> {
        let data = self.memory.data_mut(&mut self.store);
        let holds = |at: u64| at.checked_add(words as u64 * 4).is_some_and(|end| end <= data.len() as u64);
        if !holds(from) || !holds(to) {
            return Err(outside(from.max(to), words));
        }
        data.copy_within(from as usize..from as usize + words * 4, to as usize);
        Ok(())
    }

    /// Compiles a module, or says what is wrong with it.
    pub fn load(&mut self, module: &[u8]) -> std::result::Result<Kernel, String> {
        let why = |e: wasmtime::Error| e.root_cause().to_string();
        let module = Module::new(self.store.engine(), module).map_err(why)?;
        let instance = Instance::new(&mut self.store, &module, &[Extern::Memory(self.memory)]).map_err(why)?;
        Ok(Kernel(instance.get_typed_func(&mut self.store, ENTRY).map_err(why)?))
    }

    /// Runs pieces of a kernel, or says why it trapped.
    pub fn call(&mut self, kernel: &Kernel, c: Call) -> std::result::Result<(), String> {
        let done = kernel.0.call(&mut self.store, (c.row, c.bindings, c.start, c.end, c.scratch));
        done.map_err(|e| e.root_cause().to_string())
    }

    /// Runs all of a kernel's pieces.
    pub fn share(&mut self, kernel: &Kernel, c: Call, _each: u32, _stride: u32) -> std::result::Result<(), String> {
        self.call(kernel, c)
    }

    /// Milliseconds since some time.
    pub fn now(&self) -> f64 {
        self.since.elapsed().as_secs_f64() * 1e3
    }
}
